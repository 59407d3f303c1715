"""Tests of the parameter `unicode_form`: scores equal the scores of converted text."""

import unicodedata

import pytest

import truebleu
from truebleu.metrics import registry
from truebleu.text.segments import File

TEXTS = ["Où est le café ｆｕｌｌ ?", "Der Bär lief über die Straße nach Köln."]
DECOMPOSED = [unicodedata.normalize("NFD", text) for text in TEXTS]
METRICS = sorted({*registry.METRICS} - {"codebleu", "meteor", "meteor-nltk"})
LETTERS = {"nfc-strip": ("NFD", "NFC"), "nfkc-strip": ("NFKD", "NFKC")}


def convert_text(form: str, text: str) -> str:
    """Return the text in a Unicode form, following its definition."""
    if form not in LETTERS:
        return unicodedata.normalize(form.upper(), text)
    decomposed, composed = LETTERS[form]
    letters = unicodedata.normalize(decomposed, text)
    letters_without_marks = "".join(c for c in letters if unicodedata.category(c) != "Mn")
    return unicodedata.normalize(composed, letters_without_marks)


@pytest.mark.parametrize("form", ["nfc", "nfkc", *LETTERS])
@pytest.mark.parametrize("name", METRICS)
def test_unicode_form_gives_scores_of_converted_text(name, form):
    plain = registry.metric(name)
    metric = plain.with_parameters(unicode_form=form)
    pairs = [*zip(DECOMPOSED, TEXTS[::-1], strict=True)], [*zip(DECOMPOSED, TEXTS, strict=True)]
    for rows in pairs:
        texts = [list(column) for column in zip(*rows, strict=True)]
        converted_texts = [[convert_text(form, text) for text in column] for column in texts]
        if plain.NEEDS_SOURCE:
            texts, converted_texts = [*texts, texts[0]], [*converted_texts, converted_texts[0]]
        assert metric.score(*texts).value == plain.score(*converted_texts).value
        assert metric.segments(*texts).tolist() == plain.segments(*converted_texts).tolist()
        first_segments = [[column[0] for column in columns] for columns in (texts, converted_texts)]
        assert metric.sentence(*first_segments[0]).value == plain.sentence(*first_segments[1]).value
        if not plain.NEEDS_SOURCE and "df" not in plain.parameters:
            assert metric.matrix(*texts).tolist() == plain.matrix(*converted_texts).tolist()
    signature = str(metric)
    assert f"|unicode:{form}|" in signature
    assert truebleu.metric(signature) == metric != plain


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter"])
def test_unicode_form_converts_every_kind_of_input(name, write):
    metric = registry.metric(name).with_parameters(unicode_form="nfc")
    perfect = metric.score(TEXTS, TEXTS).value
    hypotheses = write("hypotheses", DECOMPOSED)
    references = write("references", [f"{i}\t{text}" for i, text in enumerate(TEXTS)])
    assert metric.score(hypotheses, File(references, column=2)).value == perfect
    assert metric.score(hypotheses, [hypotheses, File(references, column=2)]).value == perfect
    assert metric.score(DECOMPOSED, [(text, None) for text in TEXTS]).value == perfect
    pyarrow = pytest.importorskip("pyarrow")
    column = pyarrow.array(TEXTS)
    assert metric.score(pyarrow.array(DECOMPOSED), [column, column]).value == perfect
    assert metric.score(DECOMPOSED, pyarrow.array([[text] for text in TEXTS])).value == perfect


def test_unicode_form_changes_fingerprint():
    statistics = truebleu.BLEU(unicode_form="nfc").statistics(DECOMPOSED, TEXTS)
    with pytest.raises(truebleu.InputError, match="unicode:nfc"):
        truebleu.BLEU().from_statistics(statistics)
    accumulator = truebleu.Accumulator(truebleu.CHRF(unicode_form="nfc"))
    accumulator.update(DECOMPOSED, TEXTS)
    assert accumulator.compute().value == 100


def test_alignment_uses_converted_text():
    for metric in (truebleu.TER(unicode_form="nfc"), truebleu.CER(unicode_form="nfc")):
        assert metric.alignment(DECOMPOSED[1], [TEXTS[1]]).edits == 0
    explanation = truebleu.explain(DECOMPOSED[1], TEXTS[1], truebleu.BLEU(unicode_form="nfc"))
    assert explanation.to_dict()["systems"][0]["text"] == TEXTS[1]


def test_report_shows_converted_text_without_recounting():
    systems = {"a": DECOMPOSED * 10, "b": TEXTS[::-1] * 10}
    metric = truebleu.BLEU(unicode_form="nfc")
    page = truebleu.report(systems, TEXTS * 10, metrics=[metric], also=["chrf"]).to_dict()
    assert [setting["countable"] for setting in page["settings"]] == [False, False]
    assert all("unicode:nfc" in setting["signature"] for setting in page["settings"])
    with pytest.raises(ValueError, match="unicode_form differs between the metrics"):
        truebleu.report(systems, TEXTS * 10, metrics=[metric, truebleu.CHRF()])
