"""`which` finds the members and settings that produce a printed score."""

import json
import math
import re
from decimal import Decimal

import pytest
from test_family import RECORDED_SCORES, change_parameters, pair, shared_corpora  # noqa: F401

import truebleu as tb
from truebleu import BLEU, family
from truebleu.bleu_family import identify
from truebleu.bleu_family.family_catalogue import COMMON_MEMBERS
from truebleu.bleu_family.published_members import RELATED_METRICS
from truebleu.cli import main


@pytest.fixture(scope="module")
def candidates_by_corpus(shared_corpora):  # noqa: F811
    """Return all candidates for each of the two corpora."""
    return [identify._compute_candidates(text, Decimal(1), None)[0] for text in shared_corpora]


def identify_number(number, candidates):
    """Return the answer of `which` without computing the candidates again."""
    return identify.identify_score(identify.parse_printed_score(number)[1], candidates, {})


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "changes", "score_a", "score_ab"), RECORDED_SCORES)
def test_score_identifies_each_member(
    name, changes, score_a, score_ab, candidates_by_corpus, request
):
    metric = change_parameters(family[name].metric, changes)
    corpora = request.getfixturevalue("shared_corpora")
    numbers = (score_a, score_ab)
    for number, candidates, corpus in zip(numbers, candidates_by_corpus, corpora, strict=True):
        # NLTK's method 6 can exceed 100, which `which` refuses.
        if not number or float(number) > 100:
            continue
        answer = identify_number(number, candidates)
        assert answer, f"{number}: {answer.nearest}"
        if not changes:
            assert name in [match.member.name for match in answer.members]
            continue
        # Another setting may differ from this one only in the last bits.
        value = corpus.score(metric).value
        assert any(math.isclose(match.value, value, rel_tol=1e-6) for match in answer)


HYPOTHESES = ["the cat sat on the mat", "a dog barked at the other dog"]
REFERENCES = [("the cat sat on a mat", "a cat sat there"), ("a dog barked at another dog", "woof")]
REFERENCES_FIRST = [first for first, _ in REFERENCES]


@pytest.mark.parametrize(
    "name",
    [
        *("multiwoz", "neuralmonkey", "neuralmonkey-dedup", "xnmt", "xnmt-gleu", "texar"),
        *("texar-smooth", "texar-transformer", "texar-transformer-no-bp", "ignite"),
    ],
)
def test_score_identifies_program_of_one_task(name):
    hypotheses = ["the cat sat on the mat today", "a dog barked at the the other dog"]
    references = ["yes the cat sat on the mat now", "a dog barked at the other dog there"]
    score = family[name].score(hypotheses, references)
    answer = tb.which(f"{score.value:.9f}", hypotheses, references)
    assert name in [match.member.name for match in answer.members]


def test_digits_of_string_score_limit_matches():
    score = family["sacrebleu"].score(HYPOTHESES, REFERENCES).value
    for digits in range(1, 6):
        answer = tb.which(f"{score:.{digits}f}", HYPOTHESES, REFERENCES)
        assert "sacrebleu" in [match.member.name for match in answer.members]
    assert len(tb.which(f"{score:.0f}", HYPOTHESES, REFERENCES).matches) >= len(answer.matches)


def test_score_matches_on_both_scales():
    score = family["nmt"].score(HYPOTHESES, REFERENCES)
    for number in (f"{score.value:.3f}", f"{score.fraction:.5f}", round(score.fraction, 5)):
        answer = tb.which(number, HYPOTHESES, REFERENCES)
        assert "nmt" in [match.member.name for match in answer.members]


def test_score_without_decimals_is_on_the_larger_scale():
    assert not tb.which("1", HYPOTHESES, REFERENCES).matches
    assert not tb.which("0", HYPOTHESES, HYPOTHESES).matches


def test_changed_setting_is_identified_and_described():
    metric = BLEU(max_order=2, lowercase=True)
    hypotheses = ["The cat sat on the Mat", "A dog barked at the Other dog"]
    number = f"{metric.score(hypotheses, REFERENCES).value:.6f}"
    matches = [(one.member.name, one.changes) for one in tb.which(number, hypotheses, REFERENCES)]
    assert ("sacrebleu-lc", ("order 2",)) in matches


def test_no_match_gives_closest_scores_and_search_summary():
    answer = tb.which("99.99", HYPOTHESES, REFERENCES)
    assert not answer
    assert len(answer.nearest) == 5
    assert not any(isinstance(match.metric, RELATED_METRICS) for match in answer.nearest)
    assert answer.to_dict()["different_scores"] == 0
    assert answer.likeliest is None
    text = " ".join(str(answer).split())
    nearest = answer.nearest[0]
    assert text.startswith(
        f"No variant of BLEU gives 99.99 on this text (nearest: {nearest.value:.2f}, from "
        f"{nearest.member.name}"
    )
    assert "Papers may use other references, or score another version of the text" in text
    answer = tb.which("99.99", HYPOTHESES, REFERENCES_FIRST)
    assert "Papers may use other references (sometimes several)" in answer.headline
    assert "Tried: every member" in text
    distances = [abs(match.value - 99.99) for match in answer.nearest]
    assert distances == sorted(distances)


def test_answer_states_its_ambiguity():
    number = f"{family['sacrebleu'].score(HYPOTHESES, REFERENCES).value:.4f}"
    answer = tb.which(number, HYPOTHESES, REFERENCES)
    assert answer.headline == (
        f"{number} is most likely sacrebleu ({COMMON_MEMBERS['sacrebleu']})."
    )
    assert re.match(r"\d+ other members( and \d+ changed settings)? also give it", answer.ambiguity)
    assert answer.distinct_score_count >= 1
    assert json.loads(json.dumps(answer.to_dict()))["members"]


def test_common_members_exist_and_lead_the_matches():
    assert set(COMMON_MEMBERS) <= set(family)
    score = family["sacrebleu"].score(["the cat sat on the mat"], ["the cat sat on a mat"])
    answer = tb.which(f"{score.value:.2f}", ["the cat sat on the mat"], ["the cat sat on a mat"])
    names = [match.member.name for match in answer.members]
    usual = [match.member.name for match in answer.matches if match.is_usual]
    assert names[: len(usual)] == usual == [name for name in COMMON_MEMBERS if name in usual]
    assert usual[:2] == ["sacrebleu", "multi-bleu"]
    assert "nltk-sentence-1" in set(names) - set(usual)
    assert answer.to_dict()["likeliest"]["member"] == "sacrebleu"
    assert all(not match.changes for match in answer.matches[: len(names)])


def find_unusual_match(references):
    """Return the printed score of an unusual computation, and the answer for it."""
    metric = BLEU("char", max_order=3)
    number = f"{metric.score(HYPOTHESES, references).value:.4f}"
    return number, tb.which(number, HYPOTHESES, references)


def test_unusual_match_is_reported_as_possible_chance():
    number, answer = find_unusual_match(REFERENCES_FIRST)
    assert answer.matches
    assert answer.likeliest is None
    assert answer.to_dict()["likeliest"] is None
    assert answer.headline.startswith(
        f"{number} may be {answer.matches[0].description}, which papers rarely report; "
        f"{len(answer.matches)} of {answer.tried} computations match"
    )
    assert "Papers may use other references (sometimes several)" in answer.headline
    assert "signature" in answer.headline
    assert " is " not in answer.headline.partition(";")[0]
    assert "is unlikely to be chance" in answer.headline
    answer = tb.which(number[:4], HYPOTHESES, REFERENCES_FIRST)
    assert answer.likeliest is None
    assert "which may be chance (matches expected by chance: about" in answer.headline
    corpus = identify.SharedCorpus(HYPOTHESES, REFERENCES_FIRST)
    candidates = identify._compute_candidates(corpus, Decimal(1), None)[0]
    near_count = sum(abs(one.value - float(number[:4])) <= 1 for one in candidates)
    assert answer.expected_matches == pytest.approx(near_count * 0.1 / 2, abs=0.2)


def test_mean_of_segments_is_never_the_likeliest():
    score = family["nltk-sentence-0"].score(HYPOTHESES, REFERENCES_FIRST)
    answer = tb.which(f"{score.value:.5f}", HYPOTHESES, REFERENCES_FIRST)
    assert answer.likeliest is None
    assert answer.ambiguity.startswith("nltk-sentence-0 (")


@pytest.mark.parametrize(
    ("hypotheses", "references", "is_usual"),
    [
        (["他今天去了学校"], ["他昨天去了学校"], True),
        (["the cat sat on a mat"], ["the cat sat on the mat"], False),
    ],
)
def test_chinese_tokenizer_is_usual_only_for_chinese(hypotheses, references, is_usual):
    usual = identify._list_usual_members(identify.SharedCorpus(hypotheses, references))
    assert ("sacrebleu-zh" in usual, "sacrebleu-char" in usual) == (is_usual, is_usual)
    assert "sacrebleu" in usual


def test_usual_members_are_tried_with_each_reference_alone(run_family, write):
    second = ["the dog sat on the mat", "a dog barked at the other cat"]
    write("b", second)
    number = f"{family['sacrebleu'].score(HYPOTHESES, REFERENCES_FIRST).value:.3f}"
    answer = tb.which(number, HYPOTHESES, list(zip(REFERENCES_FIRST, second, strict=True)))
    assert answer.headline.startswith(
        f"{number} is most likely sacrebleu with reference 1 alone (sacreBLEU"
    )
    assert answer.to_dict()["likeliest"]["reference"] == "1"
    output = run_family(f"which {number} a b -i hyp")
    assert output.startswith(f"{number} is most likely sacrebleu with reference a alone")
    assert "reference a alone" in output.partition("members\n")[2]


def test_missing_references_are_not_tried_alone():
    references = [("the cat sat on a mat", None), REFERENCES[1]]
    number = f"{family['sacrebleu'].score(HYPOTHESES, references).value:.3f}"
    answer = tb.which(number, HYPOTHESES, references)
    assert {match.reference for match in answer} <= {None, "1"}


def test_members_with_equal_scores_share_a_row():
    score = family["sacrebleu"].score(["the cat sat on the mat"], ["the cat sat on a mat"])
    answer = tb.which(f"{score.value:.2f}", ["the cat sat on the mat"], ["the cat sat on a mat"])
    header, *rows = answer.format_rows()
    assert header == ["0-100", "changes", "members"]
    assert len({(number, changes) for number, changes, _ in rows}) == len(rows)
    names = [name for _, _, members in rows for name in members.split(", ")]
    assert sorted(names) == sorted(match.member.name for match in answer)
    number, changes, members = rows[0]
    assert members.startswith("sacrebleu, multi-bleu")
    assert f"{number}  {changes}: sacrebleu, multi-bleu" in str(answer)


@pytest.mark.parametrize("number", ["x", "", "nan", "inf", "-3", "1e3", "100.01", "154"])
def test_invalid_score_is_refused(number):
    with pytest.raises(ValueError, match="invalid score"):
        tb.which(number, HYPOTHESES, REFERENCES)


def test_invalid_text_is_refused():
    with pytest.raises(tb.InputError, match="segments"):
        tb.which("1", ["a", "b"], ["a"])


# Command line


@pytest.fixture
def run_family(write, capfd):
    """Return a function that runs `truebleu family` on files and returns its output."""
    columns = zip(*REFERENCES, strict=True)
    files = {"hyp": write("hyp", HYPOTHESES)}
    files |= {name: write(name, column) for name, column in zip("ab", columns, strict=True)}

    def run(words):
        assert main(["family", *(str(files.get(word, word)) for word in words.split())]) == 0
        return capfd.readouterr().out

    return run


def test_command_which(run_family):
    number = f"{family['sacrebleu'].score(HYPOTHESES, REFERENCES).value:.3f}"
    assert run_family(f"which {number} a b -i hyp").startswith(f"{number} is most likely sacrebleu")
    content = json.loads(run_family(f"which {number} a b -i hyp -f json"))
    assert (content["truebleu_family"], content["target_score"]) == (1, number)


def test_which_reports_progress():
    calls = []
    tb.which("12", HYPOTHESES, REFERENCES, progress=lambda *call: calls.append(call))
    (total,) = {total for _, total in calls}
    assert [finished for finished, _ in calls] == list(range(total))


def test_command_score(run_family, write):
    rows = json.loads(run_family("score a b -i hyp -f json"))["scores"]
    rows = {row["member"]: row for row in rows}
    assert rows["fairseq"]["problem"]
    assert rows["sacrebleu"]["score"] == family["sacrebleu"].score(HYPOTHESES, REFERENCES).value
    assert run_family("score a -i hyp -m nmt codenn -f markdown").count("\n") == 4
    second_system = write("other", REFERENCES_FIRST)
    output = run_family(f"score a b -i hyp {second_system} -m nmt nltk-corpus-7")
    assert output.split()[:3] == ["member", "hyp", "other"]


def test_command_list_and_show(run_family):
    table, _, note = run_family("list -f text").rpartition("\n\n")
    assert len(re.findall(r"^\S", table, re.MULTILINE)) == len(family) + 2
    assert "Use truebleu score REF -i HYP -tok flores200" in " ".join(note.split())
    output = run_family("show mteval-v13a nist -f text")
    assert "NIST evaluations" in output
    nist = " ".join(output.partition("nist:")[2].split())
    assert "prints 0 or more, without an upper bound, 4 digits" in nist
    assert len(json.loads(run_family("list -f json"))["members"]) == len(family)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("show mteval-13a", "did you mean 'mteval-v13a'"),
        ("show", "missing member names"),
        ("lst", "did you mean 'list'"),
        ("list x", "unexpected argument 'x'"),
        ("which", "expected a score"),
        ("which abc a -i b", "invalid score"),
        ("which 154 a -i b", "'154' (BLEU is between 0 and 100, or 0 and 1)"),
        ("which -5 a -i b", "'-5' (BLEU is between 0 and 100, or 0 and 1)"),
        ("which 54 a -i b -m chrf", "use truebleu score -m chrf"),
    ],
)
def test_wrong_command_line_gives_usage_error(words, message, capfd):
    assert main(["family", *words.split()]) == 2
    output, error = capfd.readouterr()
    assert output == ""
    assert message in error
