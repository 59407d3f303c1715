"""The majority of letters determines the direction of sources, references and outputs."""

import pytest

import truebleu as tb

HEBREW = ["Windows הוא מערכת הפעלה", "שלום עולם", "IBM", "GNU/Linux גם כן הוא כזה"]
ENGLISH = ["Windows is an operating system", "hello world", "IBM", "so is Linux"]


@pytest.mark.parametrize(
    ("texts", "direction"),
    [
        (HEBREW, "rtl"),
        (["مرحبا بالعالم", "Google"], "rtl"),
        (["The word שלום is Hebrew"], "ltr"),
        (["東京へようこそ"], "ltr"),
        (["Привет, мир", "Καλημέρα", "नमस्ते", "안녕"], "ltr"),
        (["Բարեւ աշխարհ ուրախ օր"], "ltr"),
        (["1 2 3 …", "«»“”", ""], None),
    ],
)
def test_direction_follows_majority_of_letters(texts, direction):
    manifest = tb.report({"a": texts}, texts, confidence=None).to_dict()
    assert manifest["directions"] == {"source": None, "reference": direction, "system": direction}


def test_sources_and_references_have_separate_directions():
    manifest = tb.report({"a": HEBREW}, HEBREW, source=ENGLISH, confidence=None).to_dict()
    assert manifest["directions"] == {"source": "ltr", "reference": "rtl", "system": "rtl"}
    redacted = tb.report({"a": HEBREW}, HEBREW, confidence=None, redact_text=True).to_dict()
    assert set(redacted["directions"].values()) == {None}
