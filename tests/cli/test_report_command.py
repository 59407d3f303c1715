"""`truebleu report` writes a self-contained page from files."""

import re

import pytest
from page_parser import Page

import truebleu as tb
from truebleu.cli import main
from truebleu.comparison import overview
from truebleu.reports import browser_kernel

REFERENCES = ["the cat is on the mat", "nobody was there at all", "it rains again today"] * 4
GOOD = ["the cat is on a mat", "nobody was there at all", "it rains again today"] * 4
POOR = ["a cat is at the mat", "nobody were here at all", "it rains again today"] * 4
SOURCE = ["die Katze", "niemand", "Regen"] * 4


@pytest.fixture
def report_files(write):
    """Write a small test set; return its folder and the words that name its files."""
    write("good.en", GOOD)
    write("poor.en", POOR)
    write("source.de", SOURCE)
    write("documents.txt", ["one"] * 6 + ["two"] * 6)
    reference = write("reference.en", REFERENCES)
    folder = reference.parent
    return folder, [reference, "-i", folder / "good.en", folder / "poor.en"]


def test_report_contains_inputs(report_files, truebleu_command):
    folder, words = report_files
    path = folder / "report.html"
    result = truebleu_command(
        *("report", *words, "-src", folder / "source.de", "--docs", folder / "documents.txt"),
        *("-m", "bleu", "chrf", "--also", "tokenize=intl", "lowercase", "--title", "Cats"),
        *("-o", path),
    )
    assert (result.status, result.output, result.error) == (0, "", "")
    page = Page(path.read_bytes())
    manifest = page.manifest
    assert page.title == "Cats"
    assert [system["name"] for system in manifest["systems"]] == ["good", "poor"]
    assert page.texts("system1") == POOR
    assert page.texts("source") == SOURCE
    assert manifest["documents"]["names"] == ["one", "two"]
    assert manifest["languages"] == {"source": "de", "target": "en"}
    assert [s["label"] for s in manifest["settings"]] == [
        *("BLEU", "chrF2", "BLEU tok:intl", "BLEU case:lc", "chrF2 case:lc")
    ]


@pytest.mark.parametrize(
    ("tag", "has_source", "languages"),
    [
        (None, False, (None, "en")),
        ("de-en", False, ("de", "en")),
        ("eng_Latn-fra", True, ("en", "fr")),
        ("fr", False, (None, "fr")),
        ("fr", True, ("de", "fr")),
    ],
)
def test_language_option_names_the_languages(
    report_files, truebleu_command, tag, has_source, languages
):
    folder, words = report_files
    path = folder / "report.html"
    options = [*(["-l", tag] if tag else []), *(["-src", folder / "source.de"] * has_source)]
    assert truebleu_command("report", *words, *options, "-o", path).status == 0
    manifest = Page(path.read_bytes()).manifest
    assert manifest["languages"] == dict(zip(("source", "target"), languages, strict=True))


def test_report_equals_python_report(report_files, truebleu_command):
    folder, words = report_files
    path = folder / "report.html"
    options = ["--seed", "7", "--test", "bs", "-pbsn", "200", "--level", "0.9", "-lc"]
    assert truebleu_command("report", *words, *options, "-o", path).status == 0
    systems = {name: folder / f"{name}.en" for name in ("good", "poor")}
    python_report = tb.report(
        *(systems, folder / "reference.en"),
        metrics=[tb.BLEU(lowercase=True)],
        seed=7,
        test="bs",
        samples=200,
        confidence=200,
        level=0.9,
    )
    manifest = Page(path.read_bytes()).manifest
    assert {**manifest, "commands": []} == python_report.to_dict()


def test_report_reads_standard_input_and_writes_standard_output(report_files, truebleu_command):
    _, (reference, *_) = report_files
    result = truebleu_command("report", reference, "-o", "-", input="\n".join(GOOD).encode())
    assert (result.status, result.error) == (0, "")
    page = Page(result.output)
    assert page.texts("system0") == GOOD
    assert page.manifest["systems"] == [{"name": "standard input", "letter": "A"}]


def test_report_without_file_name_writes_new_file_and_prints_result(report_files, truebleu_command):
    folder, words = report_files
    result = truebleu_command("report", *words, "-m", "ter", "bleu", cwd=folder)
    assert (result.status, result.error) == (0, "")
    content = Page((folder / "report.html").read_bytes()).manifest["comparison"]
    *sentences, empty, name = result.output.splitlines()
    assert " ".join(sentences) == overview.format_headline(content)
    assert (empty, name) == ("", "Report: report.html")
    assert max(map(len, sentences)) <= 80


def test_open_shows_written_report(report_files, monkeypatch):
    folder, words = report_files
    opened_urls = []
    monkeypatch.setattr("webbrowser.open", opened_urls.append)
    path = folder / "my report.html"
    assert main(["report", *map(str, words), "-o", str(path), "--open"]) == 0
    assert opened_urls == [path.as_uri()]
    assert path.exists()


@pytest.mark.parametrize("command", ["report", "lab"])
def test_only_explicit_name_replaces_existing_page(command, report_files, truebleu_command):
    if command == "lab" and not browser_kernel.load_kernel_blocks():
        pytest.skip("built without the browser kernel")
    folder, words = report_files
    words = words if command == "report" else []
    path = folder / f"{command}.html"
    path.write_text("mine")
    result = truebleu_command(command, *words, cwd=folder)
    assert (result.status, result.output) == (2, "")
    assert f"{path.name}: the file exists. Replace it with -o {path.name}, or" in result.error
    assert path.read_text() == "mine"
    assert truebleu_command(command, *words, "-o", path.name, cwd=folder).status == 0
    assert path.read_bytes().startswith(b"<!doctype html>")


def test_same_command_gives_identical_bytes(report_files, truebleu_command):
    folder, words = report_files
    for name, extra_options in (("1", ()), ("2", ()), ("3", ("--threads", "3"))):
        result = truebleu_command(
            "report", *words, "-m", "bleu", "ter", *extra_options, "-o", folder / name
        )
        assert result.status == 0
    assert (folder / "1").read_bytes() == (folder / "2").read_bytes()
    assert (folder / "1").read_bytes() == (folder / "3").read_bytes()


def test_commands_in_report_reproduce_scores(report_files, truebleu_command, tmp_path):
    import shlex

    folder, (reference, flag, *systems) = report_files
    path = folder / "report.html"
    named_systems = [f"{name}={system}" for name, system in zip(("x y", "z"), systems, strict=True)]
    words = [reference, flag, *named_systems]
    options = ["-m", "bleu", "chrf", "-tok", "intl", "-lc", "-src", folder / "source.de"]
    options += ["--paired-bs", "--also", "tokenize=char", "--correction", "holm"]
    assert truebleu_command("report", *words, *options, "-o", path).status == 0
    page = Page(path.read_bytes())
    first, second = map(shlex.split, page.manifest["commands"])
    assert first[:3] == ["truebleu", "report", "reference.en"]
    assert truebleu_command(*first[1:], cwd=folder).status == 0
    assert (folder / "report.html").read_bytes() == path.read_bytes()
    result = truebleu_command(*second[1:], "-f", "json", cwd=folder)
    manifest = tb.Comparison.from_json(result.output).to_dict()
    for system in manifest["systems"]:
        system["letter"] = {"x y": "A", "z": "B"}[system["name"]]
    assert manifest == page.manifest["comparison"]


def test_commands_in_report_omit_the_common_folder(report_files, truebleu_command):
    folder, words = report_files
    path = folder / "report.html"
    lines = [f"{system}\t{score}\n" for system in ("good", "poor") for score in range(12)]
    (folder / "human.tsv").write_text("".join(lines))
    options = ["--labels", f"d={folder / 'documents.txt'}", "--human", folder / "human.tsv"]
    result = truebleu_command("report", *words, *options, "-o", path)
    assert result.status == 0, result
    assert str(folder) not in path.read_text()
    command = Page(path.read_bytes()).manifest["commands"][0]
    assert "d=documents.txt --human human.tsv" in command


def test_labels_are_read_from_table_or_files(report_files, write, truebleu_command):
    folder, words = report_files
    table = write("labels.tsv", ["domain\tkind", *["news\tx", "chat\ty"] * 6])
    path = folder / "report.html"
    truebleu_command("report", *words, "--labels", table, "-o", path)
    assert [label["name"] for label in Page(path.read_bytes()).manifest["labels"]] == [
        *("domain", "kind")
    ]
    label_files = [f"{name}={folder / 'documents.txt'}" for name in ("a", "b")]
    truebleu_command("report", *words, "--labels", *label_files, "-o", path)
    labels = Page(path.read_bytes()).manifest["labels"]
    assert [(label["name"], label["values"]) for label in labels] == [
        *(("a", ["one", "two"]), ("b", ["one", "two"]))
    ]


def test_reference_columns_and_compressed_files_are_read(report_files, write, truebleu_command):
    import gzip

    folder, (_, *systems) = report_files
    lines = [f"{a}\t{b}" for a, b in zip(REFERENCES, POOR, strict=True)]
    table = write("references.tsv", lines)
    (folder / "source.de.gz").write_bytes(gzip.compress((folder / "source.de").read_bytes()))
    path = folder / "report.html"
    result = truebleu_command(
        *("report", table, "-nr", "2", *systems, "-src", folder / "source.de.gz", "-o", path)
    )
    assert result.status == 0
    assert "all 12 hypotheses are identical to the reference in references.tsv" in result.error
    page = Page(path.read_bytes())
    assert page.texts("reference0") == REFERENCES
    assert page.texts("reference1") == POOR
    assert page.texts("source") == SOURCE
    assert list(page.manifest["data_hash"])[2:4] == ["references.tsv#1", "references.tsv#2"]


def test_external_scores_are_included(report_files, write, truebleu_command):
    folder, words = report_files
    scores = write("comet.tsv", ["good\tpoor", *["0.9\t0.5"] * 12])
    path = folder / "report.html"
    truebleu_command("report", *words, "--scores", f"COMET={scores}", "-o", path)
    page = Page(path.read_bytes())
    assert [m["name"] for m in page.manifest["comparison"]["metrics"]] == ["BLEU", "COMET"]
    assert "A good, the baseline, is" in page.text
    assert "COMET" in page.text


def test_redact_text_omits_texts(report_files, truebleu_command):
    folder, words = report_files
    path = folder / "report.html"
    extra_options = ["-src", folder / "source.de", "--redact-text", "-o", path]
    assert truebleu_command("report", *words, *extra_options).status == 0
    page = Page(path.read_bytes())
    numbers = ["s0.0", "s0.1", "h.0", "h.1", "h.2", "h.3", "lengths", "frequency"]
    assert list(page.blocks) == [*numbers, *browser_kernel.load_kernel_blocks()]
    assert page.manifest["ngrams"] is None
    for word in ("nobody", "niemand"):
        assert word not in path.read_text()


def test_report_prints_warnings(report_files, write, truebleu_command):
    folder, (reference, *_) = report_files
    result = truebleu_command("report", reference, "-i", reference, "-o", folder / "report.html")
    assert result.status == 0
    assert "all 12 hypotheses are identical to the reference" in result.error
    quiet = ["-q", "-o", folder / "report.html"]
    assert truebleu_command("report", reference, "-i", reference, *quiet).error == ""


# ---- errors ----


@pytest.mark.parametrize(
    ("extra_options", "status", "message"),
    [
        ("-i short.txt", 1, "different numbers of segments"),
        ("-src short.txt", 1, "different numbers of segments: sources (short.txt) 2"),
        ("--docs short.txt", 1, "documents (short.txt) has 2 segments"),
        (
            "--labels bad.tsv",
            1,
            "labels (bad.tsv), line 3: expected 2 columns, as in line 1, found 1",
        ),
        ("--labels a=short.txt", 1, "labels: a (short.txt) has 2 segments"),
        ("--labels a=short.txt a=bad.tsv", 2, "--labels: duplicate name 'a'"),
        ("--labels bad.tsv short.txt", 2, "--labels: several files need names (expected NAME=FILE"),
        ("-src missing.txt", 1, "missing.txt: No such file or directory"),
        ("-src latin.txt", 1, "latin.txt), line 2: byte 0xe9 is not valid UTF-8. If the text"),
        ("--also tokenise=intl", 2, "--also: unknown parameter 'tokenise'; did you mean 'tok"),
        ("--also tokenize=x", 2, "--also: tokenize=x: unknown tokenizer 'x'"),
        ("--also nope", 2, "--also: unknown metric 'nope'"),
        ("--embed-text -1", 2, "--embed-text: "),
        ("--baseline god", 2, "--baseline: no system 'god'"),
        ("-src - --docs -", 2, "standard input can be read only once"),
        ("--format json", 2, "option --format is not available here"),
    ],
)
def test_error_is_one_line_and_writes_nothing(
    report_files, write, truebleu_command, extra_options, status, message
):
    folder, words = report_files
    write("short.txt", ["a", "b"])
    write("bad.tsv", ["a\tb", "1\t2", "1"])
    (folder / "latin.txt").write_bytes(b"a\ncaf\xe9\n" + b"x\n" * 10)
    path = folder / "report.html"
    path.write_text("as it was")
    result = truebleu_command("report", *words, *extra_options.split(), "-o", path, cwd=folder)
    assert result.status == status, result
    assert message in result.error
    assert re.fullmatch(r"truebleu: error: [^\n]*\n", result.error)
    assert path.read_text() == "as it was"
    assert not [left.name for left in folder.iterdir() if left.name.startswith(".truebleu")]


@pytest.mark.parametrize("role", ["-src", "--docs", "--labels"])
def test_input_file_is_not_overwritten(report_files, truebleu_command, role):
    folder, words = report_files
    path = folder / "documents.txt"
    before = path.read_bytes()
    result = truebleu_command("report", *words, role, path, "-o", path)
    assert result.status == 2
    assert "is also an input file" in result.error
    assert path.read_bytes() == before


# ---- size ----


def test_report_size_is_close_to_gzip_size(write, truebleu_command):
    lines = [f"{line} {i * 7919 % 10007}" for i, line in enumerate(REFERENCES * 400)]
    reference, system = write("r.en", lines), write("s.en", lines[1:] + lines[:1])
    path = reference.parent / "report.html"
    assert truebleu_command("report", reference, "-i", system, "-o", path).status == 0
    page = Page(path.read_bytes())
    own_size = [
        text
        for of, text in page.scripts
        if of.get("data-block", "kernel") not in browser_kernel.KERNEL_BLOCKS
    ]
    blocks = sum(map(len, own_size))
    assert blocks < 0.5 * 2 * reference.stat().st_size
    assert path.stat().st_size < blocks + 880_000
