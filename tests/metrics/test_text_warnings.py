"""Warnings about texts in Python: what raises `TextWarning`, what does not, and the messages."""

import json
import re
import sys
import unicodedata
import warnings
from functools import partial
from pathlib import Path

import pytest

import truebleu as tb
import truebleu.compat
from truebleu import TextWarning, integrations
from truebleu.metrics import text_warnings
from truebleu.text.segments import File

REFERENCES = ["The cat sat on the mat today.", "It rains a lot here in spring."] * 15
HYPOTHESES = ["The cat is on the mat today.", "It rains much here in spring."] * 15
JAPANESE = ["猫がマットの上に座っていたよ。今日は天気がいいですね。"] * 3


def replace_in_hypotheses(old, new):
    return [text.replace(old, new) for text in HYPOTHESES]


# Hypotheses and references that cause a warning of a kind.
SUSPICIOUS = {
    "tokenized": (replace_in_hypotheses(".", " ."), REFERENCES),
    "tokenized references": (HYPOTHESES, [text.replace(".", " .") for text in REFERENCES]),
    "script": (["猫坐在垫子上。今天天气很好。"] * 30, REFERENCES),
    "subword marks": (replace_in_hypotheses("cat", "c@@ at"), REFERENCES),
    "special tokens": (replace_in_hypotheses("cat", "<unk>"), REFERENCES),
    "HTML entities": (replace_in_hypotheses("cat", "&quot;cat&quot;"), REFERENCES),
    "spaces between characters": ([" ".join(text) for text in HYPOTHESES], REFERENCES),
    "unsplit": (JAPANESE, [text + "はい" for text in JAPANESE]),
    "empty": (["", *HYPOTHESES[1:]], REFERENCES),
    "unicode form": (
        [unicodedata.normalize("NFD", text.replace("a", "ä")) for text in HYPOTHESES],
        [text.replace("a", "ä") for text in REFERENCES],
    ),
    "identical": (REFERENCES, REFERENCES),
    "tabs": ([text.replace(" ", "\t", 1) for text in HYPOTHESES], REFERENCES),
    "byte-order mark": (["\ufeff" + HYPOTHESES[0], *HYPOTHESES[1:]], REFERENCES),
}
# Words of each warning.
EXPECTED = {
    "tokenized": "30 of 30 lines look tokenized",
    "tokenized references": 'the references look tokenized, ending in " ." in 30 of the first 30',
    "script": r"is mostly Han, but the references are mostly Latin\. Is this the wrong file\?",
    "subword marks": r"15 of the first 30 lines have subword marks such as @@ \(lines 1, 3 and 5\)",
    "special tokens": "have special tokens such as <unk>",
    "HTML entities": "have HTML entities such as &quot; .*; the references have 0",
    "spaces between characters": "30 of .* spaces between characters such as .* Remove the spaces",
    "unsplit": "they look like Japanese.* Use tokenize='ja-mecab'",
    "empty": r"1 of 30 hypotheses is empty \(line 1\)",
    "unicode form": r"separate accents \(NFD\).* unicode_form='nfc' composes them",
    "identical": "all 30 hypotheses are identical to the reference",
    "tabs": r"every line has a tab.* use File\(path, N\)",
    "byte-order mark": "byte-order mark.* File.path, encoding='utf-8-sig'. removes it",
}
# Functions that check the text of a corpus.
FUNCTIONS = {
    "bleu": tb.bleu,
    "chrf": tb.chrf,
    "ter": tb.ter,
    "compare": lambda hypotheses, references, **options: tb.compare(
        {"a": hypotheses, "b": replace_in_hypotheses("cat", "dog")},
        references,
        samples=9,
        **options,
    ),
    "report": lambda hypotheses, references, **options: tb.report(
        {"a": hypotheses}, references, samples=9, **options
    ),
    "check": partial(tb.check, minimum=1),
    "explain": tb.explain,
    "BLEU.score": tb.BLEU().score,
    "GLEU.score": tb.GLEU().score,
    "document_bleu": partial(tb.document_bleu, documents=list(range(30))),
    "mean_document_bleu": partial(tb.mean_document_bleu, documents=[i // 10 for i in range(30)]),
}


@pytest.fixture
def recorded():
    """Record all warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


@pytest.mark.parametrize("kind", SUSPICIOUS)
def test_suspicious_text_raises_one_warning_with_python_names(recorded, kind):
    tb.bleu(*SUSPICIOUS[kind])
    matching = [one for one in recorded if re.search(EXPECTED[kind], str(one.message))]
    assert len(matching) == 1
    assert matching[0].category is TextWarning
    messages = " ".join(str(one.message) for one in recorded)
    assert not re.search(r"(?<!\w)--?[a-z]|in Python\)|FILE", messages)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_on_corpora_warns_at_the_line_of_the_caller(recorded, name):
    line = sys._getframe().f_lineno + 1
    FUNCTIONS[name](*SUSPICIOUS["subword marks"])
    (warning,) = recorded
    assert issubclass(warning.category, UserWarning)
    assert "subword marks" in str(warning.message)
    # Some functions above are lambdas in this file.
    assert Path(warning.filename) == Path(__file__)
    assert name not in ("bleu", "chrf", "ter", "explain", "BLEU.score") or warning.lineno == line


@pytest.mark.parametrize("name", FUNCTIONS)
def test_normal_text_raises_no_warning(recorded, name):
    FUNCTIONS[name](HYPOTHESES, REFERENCES)
    assert recorded == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_check_text_turns_warnings_off(recorded, name):
    FUNCTIONS[name](*SUSPICIOUS["subword marks"], check_text=False)
    assert recorded == []


def test_loops_accumulators_and_single_segments_do_not_warn(recorded):
    hypotheses, references = SUSPICIOUS["subword marks"]
    metric = tb.BLEU()
    metric.score(hypotheses, references, check_text=False)
    metric.segments(hypotheses, references)
    metric.statistics(hypotheses, references)
    metric.sentence(hypotheses[0], references[0])
    tb.explain(hypotheses[0], references[0])
    total = tb.Accumulator()
    total.update(hypotheses, references)
    total.compute()
    assert recorded == []


@pytest.mark.parametrize("kind", ["subword marks", "tokenized", "identical", "empty"])
@pytest.mark.parametrize("name", ["bleu", "wer", "nist", "cdec-bleu", "gleu"])
def test_score_of_every_metric_warns_like_a_comparison(recorded, name, kind):
    hypotheses, references = SUSPICIOUS[kind]
    line = sys._getframe().f_lineno + 1
    tb.metric(name).score(hypotheses, references)
    assert {(one.category, one.lineno) for one in recorded} == {(TextWarning, line)}
    found = [str(one.message).partition(": ")[2] for one in recorded]
    recorded.clear()
    tb.compare({"hypotheses": hypotheses}, references, metrics=[name], samples=9)
    expected = [str(one.message).partition(": ")[2] for one in recorded]
    assert found == [one.replace(" and not reported as significant", "") for one in expected]


def test_score_of_a_family_member_warns(recorded):
    tb.family["mteval-v13a"].score(*SUSPICIOUS["subword marks"])
    assert len(recorded) == 1


def score_with_sacrebleu(hypotheses, references):
    sacrebleu = pytest.importorskip("sacrebleu")
    truebleu.compat.install("sacrebleu")
    try:
        return sacrebleu.corpus_bleu(hypotheses, [references], force=True)
    finally:
        truebleu.compat.uninstall("sacrebleu")


def score_with_polars(hypotheses, references):
    polars = pytest.importorskip("polars")
    from truebleu.engines import polars as engine

    return engine.score(polars.DataFrame({"hyp": hypotheses, "ref": references}))


@pytest.mark.parametrize(
    "score",
    [
        score_with_sacrebleu,
        score_with_polars,
        lambda hypotheses, references: integrations.score_corpus(tb.BLEU(), hypotheses, references),
        tb.reward(),
    ],
    ids=["compat", "engine", "integration", "reward"],
)
def test_hosts_do_not_warn(recorded, score):
    assert score(*SUSPICIOUS["subword marks"]) is not None
    assert [one for one in recorded if one.category is TextWarning] == []


def test_systems_share_a_warning(recorded):
    hypotheses, references = SUSPICIOUS["special tokens"]
    systems = {"a": hypotheses, "b": hypotheses, "c": ["", *HYPOTHESES[1:]], "d": HYPOTHESES}
    tb.compare(systems, references, samples=9)
    messages = [str(one.message) for one in recorded]
    assert len(messages) == 3
    assert messages[0].startswith("a and b: 15 of the first 30 lines have special tokens")
    assert messages[1].startswith("c: 1 of 30 hypotheses is empty")
    assert messages[2] == "a and b: these outputs are identical"


def test_warnings_of_one_kind_share_a_message(recorded):
    first, second = SUSPICIOUS["special tokens"][0], SUSPICIOUS["special tokens"][0][:4]
    tb.compare({"a": first, "b": [*second, *HYPOTHESES[4:]]}, REFERENCES, samples=9)
    (warning,) = recorded
    lines = str(warning.message).splitlines()
    assert [line.partition(" of")[0] for line in lines] == ["a: 15", "b: 2"]


def test_report_on_a_comparison_does_not_repeat_warnings(recorded):
    compared = tb.compare({"a": SUSPICIOUS["empty"][0]}, REFERENCES, samples=9)
    assert len(recorded) == 1
    tb.report(compared)
    assert len(recorded) == 1


def test_zero_score_is_explained_with_parameter_names(recorded):
    tb.bleu(["yes"], ["yes"])
    (warning,) = recorded
    assert "BLEU is 0 because no hypothesis has 4 tokens" in str(warning.message)
    assert "; effective_order=True leaves out orders" in str(warning.message)


def test_score_of_subwords_in_a_file_names_the_file(recorded, tmp_path):
    path = tmp_path / "system.en"
    path.write_text("\n".join(SUSPICIOUS["subword marks"][0]), "utf-8")
    tb.bleu(path, REFERENCES)
    assert str(recorded[0].message).startswith("system: 15 of the first 30 lines have subword")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("c@@ at", "subword marks"),
        ("well @-@ known", "subword marks"),
        ("▁the ▁cat", "subword marks"),
        ("play ##ing", "subword marks"),
        ("a <unk> cat", "special tokens"),
        ("a cat</s>", "special tokens"),
        ("[UNK] cat", "special tokens"),
        ("a cat<|endoftext|>", "special tokens"),
        ("cats &amp; dogs", "HTML entities"),
        ("it&#39;s", "HTML entities"),
    ],
)
def test_marks_are_recognized(recorded, text, kind):
    tb.chrf([text], ["something"])
    assert f"has {kind} such as" in str(recorded[0].message)


@pytest.mark.parametrize(
    "text", ["me@example.org", "#hashtag ##", "R&D; a < b", "[1] <b>x</b>", "@@ -1 +1 @@x", "&c;"]
)
def test_similar_text_is_not_marked(recorded, text):
    tb.chrf([text], ["something"])
    assert recorded == []


def test_entities_in_both_texts_match(recorded):
    tb.chrf(["cats &amp; dogs"], ["cat &amp; dog"])
    assert recorded == []


@pytest.mark.parametrize("form", ["lists", "columns", "files", "arrow"])
def test_marks_in_references_are_found_in_every_form(recorded, form, tmp_path):
    marked = replace_in_hypotheses("cat", "▁cat")
    references = {
        "lists": lambda: list(zip(REFERENCES, marked, strict=True)),
        "columns": lambda: [File(tmp_path / "a"), tmp_path / "b"],
        "files": lambda: tmp_path / "b",
        "arrow": lambda: pytest.importorskip("pyarrow").array(marked),
    }[form]
    for name, texts in (("a", REFERENCES), ("b", marked)):
        (tmp_path / name).write_text("\n".join(texts), "utf-8")
    tb.chrf(HYPOTHESES, references())
    assert "15 of the first 30 lines have subword marks such as ▁" in str(recorded[0].message)


def test_tokens_have_no_marks(recorded):
    tb.bleu([["c@@", "at"]] * 4, [["c@@", "at", "a", "b"]] * 4, tokenize="none", max_order=1)
    assert recorded == []


# Text whose scores change if spaces surround its punctuation, and the same text with spaces.
NATURAL = ["It's 3.5 km to the town, isn't it.", "The cat (of course) sat on the mat."] * 15
SPACED = [" ".join(re.findall(r"\w+|[^\w\s]", text)) for text in NATURAL]
OTHERS = [text.replace("town", "city").replace("cat", "dog") for text in NATURAL]


def list_tokenized_kinds(metric, hypotheses, references):
    compared = tb.compare({"a": hypotheses}, references, metrics=[metric], samples=9)
    return [one["kind"] for one in compared.warnings if one["kind"].startswith("tokenized")]


@pytest.mark.parametrize("end", ["", " ", "  "])
@pytest.mark.parametrize(
    "metric",
    [
        *(tb.BLEU(), tb.BLEU("intl"), tb.BLEU("char"), tb.BLEU("none"), tb.BLEU(str.split)),
        *(tb.CHRF(), tb.CHRF(word_order=2), tb.CHRF(word_order=1), tb.CHRF(whitespace=True)),
        *(tb.TER(), tb.TER(normalized=True), tb.TER(no_punct=True)),
        *("wer", "cer", "nist", "gleu", "ngram-f", "nltk-bleu", "cdec-bleu", "mteval-v13a"),
        *("rouge-l", "meteor", "meteor-nltk", "multi-bleu"),
    ],
    ids=str,
)
def test_spaces_before_punctuation_warn_if_the_score_changes(metric, end):
    resolved = tb.metric(metric)
    try:
        changes = resolved.score(SPACED, OTHERS).value != resolved.score(NATURAL, OTHERS).value
    except tb.InputError as error:  # its program is not installed
        pytest.skip(str(error))
    kinds = list_tokenized_kinds(metric, [text + end for text in SPACED], OTHERS)
    assert kinds == ["tokenized"] * changes


@pytest.mark.parametrize("metric", ["nltk-bleu", "cdec-bleu", tb.BLEU("none")], ids=str)
def test_metrics_of_tokens_warn_only_if_one_input_is_tokenized(metric):
    spaced_references = [text.replace("cat", "dog") for text in SPACED]
    assert list_tokenized_kinds(metric, SPACED, spaced_references) == []
    assert list_tokenized_kinds(metric, SPACED, OTHERS) == ["tokenized"]
    assert list_tokenized_kinds(metric, NATURAL, spaced_references) == ["tokenized references"]


def test_command_line_prints_the_same_marks(truebleu_command, tmp_path):
    (tmp_path / "ref").write_text("\n".join(REFERENCES), "utf-8")
    (tmp_path / "sys").write_text("\n".join(SUSPICIOUS["subword marks"][0]), "utf-8")
    for command in ("score", "compare"):
        done = truebleu_command(command, tmp_path / "ref", "-i", tmp_path / "sys", "-f", "json")
        (warning,) = json.loads(done.output)["warnings"]
        assert warning["kind"] == "subword marks"
        assert warning["systems"] == ["sys"]
    done = truebleu_command("segments", tmp_path / "ref", "-i", tmp_path / "sys", "-f", "tsv")
    assert "have subword marks such as @@" in done.error


def test_start_of_a_stream_is_examined(recorded, tmp_path, monkeypatch):
    text = "\n".join(SUSPICIOUS["subword marks"][0]).encode()
    path = tmp_path / "text"
    path.write_bytes(text)
    with path.open("rb") as stream:
        monkeypatch.setattr("sys.stdin", type("Stdin", (), {"buffer": stream}))
        tb.bleu(File("-"), REFERENCES)
    assert "subword marks" in str(recorded[0].message)


def test_messages_for_python_keep_text_without_options():
    text = "a (b) - c; use -tok zh (pip install x) or -tok char (tokenize='zh' in Python). Fine."
    assert text_warnings.replace_options_with_parameters("a - b (c), -d.") == "a - b (c), -d."
    assert text_warnings.replace_options_with_parameters(text).endswith("tokenize='zh'. Fine.")
