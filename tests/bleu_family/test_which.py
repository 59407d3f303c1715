"""`which`: from a printed number to the members and settings that give it."""

import json
import math

import pytest
from test_family import GOLDEN, counted, pair  # noqa: F401

import truebleu as tb
from truebleu import BLEU, family
from truebleu.bleu_family import identify
from truebleu.cli import main


@pytest.fixture(scope="module")
def tried(counted):  # noqa: F811
    """Everything that is computed of the two texts."""
    return [identify._tried(text, None, None)[0] for text in counted]


def found(number, tried):
    """The matches of a number, as `which` finds them."""
    return identify.identified(identify.number(number)[1], tried, {})


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "changes", "one", "two"), GOLDEN)
def test_finds_each_member_by_its_number(name, changes, one, two, tried, counted):  # noqa: F811
    wanted = family[name].metric
    wanted = type(wanted)(**{**wanted.parameters, **changes})
    for number, matches, text in zip((one, two), tried, counted, strict=True):
        if not number:
            continue
        answer = found(number, matches)
        assert answer, f"{number}: {answer.nearest}"
        if not changes:
            assert name in [match.member.name for match in answer.members]
            continue
        # The setting, or one that is the same to the last bit but two on this text.
        value = text.score(wanted).value
        assert any(math.isclose(match.value, value, rel_tol=1e-6) for match in answer)


HYPOTHESES = ["the cat sat on the mat", "a dog barked at the other dog"]
REFERENCES = [("the cat sat on a mat", "a cat sat there"), ("a dog barked at another dog", "woof")]
REFERENCES_FIRST = [first for first, _ in REFERENCES]


def test_digits_of_a_string_count():
    score = family["sacrebleu"].score(HYPOTHESES, REFERENCES).value
    for digits in range(1, 6):
        answer = tb.which(f"{score:.{digits}f}", HYPOTHESES, REFERENCES)
        assert "sacrebleu" in [match.member.name for match in answer.members]
    assert len(tb.which(f"{score:.0f}", HYPOTHESES, REFERENCES).matches) >= len(answer.matches)


def test_both_scales():
    score = family["nmt"].score(HYPOTHESES, REFERENCES)
    for number in (f"{score.value:.3f}", f"{score.fraction:.5f}", round(score.fraction, 5)):
        answer = tb.which(number, HYPOTHESES, REFERENCES)
        assert "nmt" in [match.member.name for match in answer.members]


def test_a_setting_is_found_and_named():
    metric = BLEU(max_order=2, lowercase=True)
    hypotheses = ["The cat sat on the Mat", "A dog barked at the Other dog"]
    number = f"{metric.score(hypotheses, REFERENCES).value:.6f}"
    answer = tb.which(number, hypotheses, REFERENCES)
    assert ("sacrebleu-lc", ("order 2",)) in [
        (match.member.name, match.changes) for match in answer
    ]


def test_no_match_says_what_was_tried_and_the_nearest():
    answer = tb.which("99.99", HYPOTHESES, REFERENCES)
    assert not answer
    assert len(answer.nearest) == 5
    assert answer.to_dict()["different_scores"] == 0
    assert "none of" in answer.ambiguity
    text = str(answer)
    assert "Tried: every member" in text
    assert "nearest" in text
    distances = [abs(match.value - 99.99) for match in answer.nearest]
    assert distances == sorted(distances)


def test_says_how_ambiguous_it_is():
    number = f"{family['sacrebleu'].score(HYPOTHESES, REFERENCES).value:.4f}"
    answer = tb.which(number, HYPOTHESES, REFERENCES)
    assert "members as published" in answer.ambiguity
    assert answer.different >= 1
    assert json.loads(json.dumps(answer.to_dict()))["members"]


@pytest.mark.parametrize("number", ["x", "", "nan", "inf", "-3", "1e3"])
def test_what_is_no_score_is_refused(number):
    with pytest.raises(ValueError, match="not a score"):
        tb.which(number, HYPOTHESES, REFERENCES)


def test_bad_text_is_refused():
    with pytest.raises(tb.InputError, match="segments"):
        tb.which("1", ["a", "b"], ["a"])


# On the command line.


@pytest.fixture
def files(write):
    columns = list(zip(*REFERENCES, strict=True))
    return [write("hyp", HYPOTHESES), write("a", columns[0]), write("b", columns[1])]


def run(capfd, *arguments):
    status = main(["family", *map(str, arguments)])
    output, error = capfd.readouterr()
    return status, output, error


def test_command_which(files, capfd):
    hypotheses, a, b = files
    number = f"{family['sacrebleu'].score(HYPOTHESES, REFERENCES).value:.3f}"
    status, output, _ = run(capfd, "which", number, a, b, "-i", hypotheses)
    assert status == 0
    assert "sacrebleu " in output
    status, output, _ = run(capfd, "which", number, a, b, "-i", hypotheses, "-f", "json")
    told = json.loads(output)
    assert (told["truebleu_family"], told["given"]) == (1, number)
    assert " at 0x" not in output


def test_which_tells_how_far_it_is():
    told = []
    tb.which("12", HYPOTHESES, REFERENCES, progress=lambda done, total: told.append((done, total)))
    ((total,), done) = {total for _, total in told}, [done for done, _ in told]
    assert done == list(range(total))


def test_command_score(files, capfd):
    hypotheses, a, b = files
    status, output, _ = run(capfd, "score", a, b, "-i", hypotheses, "-f", "json")
    assert status == 0
    rows = {row["member"]: row for row in json.loads(output)["scores"]}
    assert rows["fairseq"]["problem"]
    assert rows["sacrebleu"]["score"] == family["sacrebleu"].score(HYPOTHESES, REFERENCES).value
    _, output, _ = run(capfd, "score", a, "-i", hypotheses, "-m", "nmt", "codenn", "-f", "markdown")
    assert output.count("\n") == 4


def test_command_scores_several_systems(files, write, capfd):
    hypotheses, a, b = files
    other = write("other", REFERENCES_FIRST)
    status, output, _ = run(capfd, "score", a, b, "-i", hypotheses, other, "-f", "json")
    assert status == 0
    rows = {(row["system"], row["member"]): row for row in json.loads(output)["scores"]}
    assert rows["hyp", "nmt"]["score"] == family["nmt"].score(HYPOTHESES, REFERENCES).value
    assert rows["other", "nmt"]["score"] == pytest.approx(100)
    assert len(rows) == 2 * len(family.score(HYPOTHESES, REFERENCES))
    _, output, _ = run(capfd, "score", a, b, "-i", hypotheses, other, "-m", "nmt", "nltk-corpus-7")
    assert output.split()[:3] == ["member", "hyp", "other"]
    bounded, apart = output.split("On scales of their own")
    assert "nmt" in bounded
    assert "nltk-corpus-7 !" in apart


def test_command_list_and_show(capfd):
    status, output, _ = run(capfd, "list", "-f", "text")
    assert status == 0
    assert output.count("\n") == len(family) + 2
    status, output, _ = run(capfd, "show", "mteval-v13a", "nist", "-f", "text")
    assert status == 0
    assert "NIST evaluations" in output
    nist = " ".join(output.partition("nist:")[2].split())
    assert "prints 0 or more, without an upper bound, 4 digits" in nist
    status, output, _ = run(capfd, "list", "-f", "json")
    assert len(json.loads(output)["members"]) == len(family)
    assert " at 0x" not in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "mteval-13a"], "did you mean 'mteval-v13a'"),
        (["show"], "show what"),
        (["lst"], "did you mean 'list'"),
        (["list", "x"], "takes no names"),
        (["which"], "which score"),
        (["which", "abc", "a", "-i", "b"], "not a score"),
    ],
)
def test_command_line_mistakes(arguments, message, capfd):
    status, output, error = run(capfd, *arguments)
    assert (status, output) == (2, "")
    assert message in error
