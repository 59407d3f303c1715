"""Suspicious text gives a warning that names the cause and the remedy."""

import json
import os
import unicodedata

import pytest

ACCENTED = ["Où est le café ici ?", "Elle était là hier soir.", "Le garçon a été très gentil."]
PLAIN = ["the cat sat on the mat", "nobody was there at all", "this is a third line"]


@pytest.fixture
def checked_folder(write, monkeypatch, tmp_path):
    """Return the working directory, with files that have one peculiarity each."""
    monkeypatch.chdir(tmp_path)
    write("nfc", ACCENTED)
    write("nfd", [unicodedata.normalize("NFD", text) for text in ACCENTED])
    write("plain", PLAIN)
    write("tabs", [f"{text}\t{text}" for text in PLAIN])
    write("empty", [PLAIN[0], "", " "])
    write("short", ["yes", "not now", "so be it"])
    write("words", ["yes", "no", "maybe"])
    (tmp_path / "mac").write_bytes(b"one line\rand another\r")
    os.symlink("plain", "link")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "kind", "parts"),
    [
        ("score nfc -i nfd", "unicode form", ("nfd: 3 of the first 3", "--unicode-form nfc")),
        ("score nfd -i nfc", "unicode form", ("nfd: 3 of the first 3", "--unicode-form nfc")),
        ("score plain -i empty", "empty", ("empty: 2 of 3 hypotheses are empty (lines 2 and 3)",)),
        ("score empty -i plain", "empty", ("empty: 2 of 3 references are empty (lines 2 and 3)",)),
        ("score tabs -i plain", "tabs", ("tabs: every line has a tab", "-nr/--num-refs")),
        ("score short -i short", "zero", ("no hypothesis has 4 tokens", "--effective-order yes")),
        ("compare short -i short words", "zero", ("no hypothesis has 4 tokens", "-m chrf")),
        ("segments short -i short --effective-order no", "zero", ("3 of 3 segments",)),
        ("score words -i words -m rouge-2", "zero", ("ROUGE-2 is 0", "no sequence of 2 words")),
        ("check plain -i empty --min 1", "empty", ("lines 2 and 3",)),
    ],
)
def test_suspicious_text_gives_warning(checked_folder, truebleu_command, command, kind, parts):
    result = truebleu_command(*command.split(), "-f", "json")
    warnings = [
        entry["text"] for entry in json.loads(result.output)["warnings"] if entry["kind"] == kind
    ]
    assert len(warnings) == 1, result
    assert all(part in warnings[0] for part in parts)
    assert warnings[0] in result.error


@pytest.mark.parametrize(
    "command",
    [
        "score nfc -i nfd --unicode-form nfc",
        "score tabs -i plain -nr 2",
        "score tabs#1 -i plain",
        "score short -i short --effective-order yes",
        "score short -i short --max-order 1",
        "score short -i short -m chrf",
        "score nfd -i nfd",
    ],
)
def test_remedy_ends_warning(checked_folder, read_json, command):
    content = read_json(*command.split(), "-f", "json")
    assert {entry["kind"] for entry in content["warnings"]} == {"identical"}
    assert round(content["scores"][0]["score"]) == 100


@pytest.mark.parametrize(("options", "form"), [("", "nfc"), ("--unicode-form nfkc", "nfkc")])
def test_strip_diacritics_is_in_signature(checked_folder, read_json, options, form):
    words = "nfc -i nfd -m bleu chrf --strip-diacritics"
    scores = read_json("score", *words.split(), *options.split())["scores"]
    assert [entry["unicode"] for entry in scores] == [f"{form}-strip"] * 2
    assert [round(entry["score"]) for entry in scores] == [100, 100]


def test_zero_score_warning_has_remedy(checked_folder, truebleu_command):
    result = truebleu_command("explain", "short", "-i", "short")
    text = " ".join(result.output.split())
    assert "too short to have any 4-grams, so the product is 0; --effective-order" in text


@pytest.mark.parametrize("words", ["plain -i nfc plain ./plain link", "plain link -i nfc plain"])
def test_repeated_file_is_used_once(checked_folder, truebleu_command, words):
    result = truebleu_command("score", *words.split(), "-f", "json")
    assert result.error.count("is the same file as plain; it is used only once") == 1
    scores = json.loads(result.output)["scores"]
    assert [(entry["system"], entry["nrefs"]) for entry in scores] == [("nfc", "1"), ("plain", "1")]
    named_result = truebleu_command("score", "plain", "-i", "a=plain", "b=link", "-f", "tsv")
    assert len(named_result.output.splitlines()) == 3


@pytest.mark.parametrize("options", [[], ["-e", "latin-1"]])
def test_old_mac_line_ends_are_refused(checked_folder, read_error, options):
    error = read_error(1, "score", "mac", "-i", "mac", *options)
    assert "mac has CR-only line endings" in error


@pytest.mark.parametrize(
    ("reference", "outputs", "is_swapped"),
    [
        ("t.en-de.hyp.B.de", ["t.en-de.ref.A.de"], True),
        ("system-outputs/t.B.de", ["references/t.A.de"], True),
        ("t.hyp.B.de", ["t.ref.A.de", "t.hyp.C.de"], True),
        ("sys.de", ["reference.a.de"], True),
        ("t.en-de.ref.A.de", ["t.en-de.hyp.B.de"], False),
        ("references/t.A.de", ["system-outputs/t.B.de"], False),
        ("t.ref.A.de", ["t.ref.B.de", "t.hyp.C.de"], False),
        ("t.hyp.A.de", ["t.hyp.B.de"], False),
        ("prefix.de", ["reference.de"], False),
        ("outputs/a.de", ["outputs/reference.de"], False),
        ("system.ref.de", ["t.ref.B.de"], False),
    ],
)
@pytest.mark.parametrize("command", ["score", "compare", "segments"])
def test_names_of_swapped_files_are_noticed(
    truebleu_command, write, tmp_path, monkeypatch, command, reference, outputs, is_swapped
):
    monkeypatch.chdir(tmp_path)
    for name in (reference, *outputs):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write(name, PLAIN)
    result = truebleu_command(command, reference, "-i", *outputs)
    assert ("swapped?" in result.output + result.error) == is_swapped
    result = truebleu_command(command, reference, "-i", *outputs, "-q")
    assert "swapped" not in result.error


@pytest.mark.parametrize(
    ("words", "name"), [("full -i nothing", "hypothesis"), ("nothing -i full", "reference")]
)
def test_single_empty_segment_names_its_input(read_json, write, words, name):
    folder = write("full", ["the cat sat"]).parent
    write("nothing", [""])
    warnings = read_json("score", *words.split(), cwd=folder)["warnings"]
    (text,) = (one["text"] for one in warnings if one["kind"] == "empty")
    assert text.endswith(f"nothing: the {name} is empty; it is scored as text without words")


@pytest.mark.parametrize("command", ["score", "compare"])
@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_quiet_silences_standard_error_but_not_results(command, form, truebleu_command, write):
    reference = write("ref", ["the dog sat on the mat"])
    systems = [write(name, ["the c@@ at sat on the mat"]) for name in ("a", "b")]
    words = (command, reference, "-i", *systems, "-f", form)
    usual, quiet = truebleu_command(*words), truebleu_command(*words, "-q")
    assert quiet.error == ""
    assert quiet.output == usual.output
    assert "the line has subword marks" in " ".join(quiet.output.split())
