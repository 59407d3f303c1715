"""`truebleu report` writes a self-contained page from files."""

import gzip
import shlex
from pathlib import Path

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


FILES = ("reference.en", "-i", "good.en", "poor.en")


@pytest.fixture(autouse=True)
def report_folder(write, monkeypatch, tmp_path):
    """Write a small test set to the working directory."""
    monkeypatch.chdir(tmp_path)
    write("reference.en", REFERENCES)
    write("good.en", GOOD)
    write("poor.en", POOR)
    write("source.de", SOURCE)
    write("documents.txt", ["one"] * 6 + ["two"] * 6)
    return tmp_path


@pytest.fixture
def make_page(truebleu_command):
    """Return a function that writes a report and returns its page."""

    def make(*options, files=FILES):
        result = truebleu_command("report", *files, *options, "-o", "report.html")
        assert (result.status, result.output) == (0, ""), result
        return Page(Path("report.html").read_bytes())

    return make


def test_report_contains_inputs(make_page):
    page = make_page(
        *("-src", "source.de", "--docs", "documents.txt", "-m", "bleu", "chrf"),
        *("--also", "tokenize=intl", "lowercase", "--title", "Cats"),
    )
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
    ("options", "languages"),
    [
        ("", (None, "en")),
        ("-l de-en", ("de", "en")),
        ("-l eng_Latn-fra -src source.de", ("en", "fr")),
        ("-l fr", (None, "fr")),
        ("-l fr -src source.de", ("de", "fr")),
    ],
)
def test_language_option_names_the_languages(make_page, options, languages):
    manifest = make_page(*options.split()).manifest
    assert tuple(manifest["languages"].values()) == languages


def test_report_equals_python_report(make_page):
    words = ("--seed", "7", "--test", "bs", "-pbsn", "200", "--level", "0.9", "-lc")
    page = make_page(*words)
    systems = {"good": Path("good.en"), "poor": Path("poor.en")}
    options = {"seed": 7, "test": "bs", "samples": 200, "confidence": 200, "level": 0.9}
    metrics = [tb.BLEU(lowercase=True)]
    python_report = tb.report(systems, Path("reference.en"), metrics=metrics, **options)
    assert {**page.manifest, "commands": []} == python_report.to_dict()


def test_report_reads_standard_input_and_writes_standard_output(truebleu_command):
    text = "\n".join(GOOD).encode()
    result = truebleu_command("report", "reference.en", "-o", "-", input=text)
    assert (result.status, result.error) == (0, "")
    page = Page(result.output)
    assert page.texts("system0") == GOOD
    assert page.manifest["systems"] == [{"name": "standard input", "letter": "A"}]


def test_report_without_file_name_writes_new_file_and_prints_result(truebleu_command):
    result = truebleu_command("report", *FILES, "-m", "ter", "bleu")
    assert (result.status, result.error) == (0, "")
    content = Page(Path("report.html").read_bytes()).manifest["comparison"]
    *sentences, empty, name = result.output.splitlines()
    assert " ".join(sentences) == overview.format_headline(content)
    assert (empty, name) == ("", "Report: report.html")
    assert max(map(len, sentences)) <= 80


def test_open_shows_written_report(report_folder, monkeypatch):
    opened_urls = []
    monkeypatch.setattr("webbrowser.open", opened_urls.append)
    path = report_folder / "my report.html"
    assert main(["report", *FILES, "-o", str(path), "--open"]) == 0
    assert opened_urls == [path.as_uri()]
    assert path.exists()


@pytest.mark.parametrize("command", ["report", "lab"])
def test_only_explicit_name_replaces_existing_page(command, truebleu_command, read_error):
    if command == "lab" and not browser_kernel.load_kernel_blocks():
        pytest.skip("built without the browser kernel")
    words = FILES if command == "report" else []
    path = Path(f"{command}.html")
    path.write_text("mine")
    error = read_error(2, command, *words)
    assert f"{path.name}: the file exists. Replace it with -o {path.name}, or" in error
    assert path.read_text() == "mine"
    assert truebleu_command(command, *words, "-o", path.name).status == 0
    assert path.read_bytes().startswith(b"<!doctype html>")


def test_same_command_gives_identical_bytes(truebleu_command):
    options = ("-m", "bleu", "ter", "-o", "-")
    first, second, with_threads = (
        truebleu_command("report", *FILES, *extra_options, *options).output
        for extra_options in ((), (), ("--threads", "3"))
    )
    assert Page(first).texts("system0") == GOOD
    assert first == second == with_threads


def test_commands_in_report_reproduce_scores(make_page, truebleu_command):
    files = ("reference.en", "-i", "x y=good.en", "z=poor.en")
    options = ["-m", "bleu", "chrf", "-tok", "intl", "-lc", "-src", "source.de"]
    options += ["--paired-bs", "--also", "tokenize=char", "--correction", "holm"]
    page = make_page(*options, files=files)
    before = Path("report.html").read_bytes()
    first, second = map(shlex.split, page.manifest["commands"])
    assert first[:3] == ["truebleu", "report", "reference.en"]
    assert truebleu_command(*first[1:]).status == 0
    assert Path("report.html").read_bytes() == before
    result = truebleu_command(*second[1:], "-f", "json")
    manifest = tb.Comparison.from_json(result.output).to_dict()
    for system in manifest["systems"]:
        system["letter"] = {"x y": "A", "z": "B"}[system["name"]]
    assert manifest == page.manifest["comparison"]


def test_commands_in_report_omit_the_common_folder(report_folder, make_page, write):
    human = write(
        "human.tsv", [f"{one}\t{score}" for one in ("good", "poor") for score in range(12)]
    )
    files = [word if word == "-i" else report_folder / word for word in FILES]
    labels = f"d={report_folder / 'documents.txt'}"
    page = make_page("--labels", labels, "--human", human, files=files)
    assert str(report_folder) not in Path("report.html").read_text()
    assert "d=documents.txt --human human.tsv" in page.manifest["commands"][0]


def test_labels_are_read_from_table_or_files(make_page, write):
    write("labels.tsv", ["domain\tkind", *["news\tx", "chat\ty"] * 6])
    labels = make_page("--labels", "labels.tsv").manifest["labels"]
    assert [label["name"] for label in labels] == ["domain", "kind"]
    labels = make_page("--labels", "a=documents.txt", "b=documents.txt").manifest["labels"]
    assert [(label["name"], label["values"]) for label in labels] == [
        *(("a", ["one", "two"]), ("b", ["one", "two"]))
    ]


def test_reference_columns_and_compressed_files_are_read(write, truebleu_command):
    write("references.tsv", [f"{a}\t{b}" for a, b in zip(REFERENCES, POOR, strict=True)])
    Path("source.de.gz").write_bytes(gzip.compress(Path("source.de").read_bytes()))
    words = ("references.tsv", "-nr", "2", *FILES[1:], "-src", "source.de.gz", "-o", "-")
    result = truebleu_command("report", *words)
    assert "all 12 hypotheses are identical to the reference in references.tsv" in result.error
    page = Page(result.output)
    assert page.texts("reference0") == REFERENCES
    assert page.texts("reference1") == POOR
    assert page.texts("source") == SOURCE
    assert list(page.manifest["data_hash"])[2:4] == ["references.tsv#1", "references.tsv#2"]


def test_external_scores_are_included(write, make_page):
    write("comet.tsv", ["good\tpoor", *["0.9\t0.5"] * 12])
    page = make_page("--scores", "COMET=comet.tsv")
    assert [m["name"] for m in page.manifest["comparison"]["metrics"]] == ["BLEU", "COMET"]
    assert "A good, the baseline, is" in page.text
    assert "COMET" in page.text


def test_redact_text_omits_texts(make_page):
    page = make_page("-src", "source.de", "--redact-text")
    numbers = ["s0.0", "s0.1", "h.0", "h.1", "h.2", "h.3", "lengths", "frequency"]
    assert list(page.blocks) == [*numbers, *browser_kernel.load_kernel_blocks()]
    assert page.manifest["ngrams"] is None
    for word in ("nobody", "niemand"):
        assert word not in Path("report.html").read_text()


def test_report_prints_warnings_unless_quiet(truebleu_command):
    words = ("report", "reference.en", "-i", "reference.en", "-o", "report.html")
    result = truebleu_command(*words)
    assert result.status == 0
    assert "all 12 hypotheses are identical to the reference" in result.error
    assert truebleu_command(*words, "-q").error == ""


# ---- errors ----


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        ("-i short.txt", 1, "different numbers of segments"),
        ("-src short.txt", 1, "different numbers of segments: sources (short.txt) 2"),
        ("--docs short.txt", 1, "documents (short.txt) has 2 segments"),
        ("--labels bad.tsv", 1, "labels (bad.tsv), line 3: expected 2 columns, as in line 1, foun"),
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
def test_error_is_one_line_and_writes_nothing(write, read_error, options, status, message):
    write("short.txt", ["a", "b"])
    write("bad.tsv", ["a\tb", "1\t2", "1"])
    Path("latin.txt").write_bytes(b"a\ncaf\xe9\n" + b"x\n" * 10)
    path = write("report.html", ["as it was"])
    assert message in read_error(status, "report", *FILES, *options.split(), "-o", path)
    assert path.read_text() == "as it was\n"
    assert not list(path.parent.glob(".truebleu*"))


@pytest.mark.parametrize("role", ["-src", "--docs", "--labels"])
def test_input_file_is_not_overwritten(read_error, role):
    path = Path("documents.txt")
    before = path.read_bytes()
    error = read_error(2, "report", *FILES, role, path, "-o", path)
    assert "is also an input file" in error
    assert path.read_bytes() == before


# ---- size ----


def test_report_size_is_close_to_gzip_size(write, make_page):
    lines = [f"{line} {i * 7919 % 10007}" for i, line in enumerate(REFERENCES * 400)]
    reference, system = write("r.en", lines), write("s.en", lines[1:] + lines[:1])
    page = make_page(files=(reference, "-i", system))
    texts = [
        text
        for of, text in page.scripts
        if of.get("data-block", "kernel") not in browser_kernel.KERNEL_BLOCKS
    ]
    text_size = sum(map(len, texts))
    assert text_size < 0.5 * 2 * reference.stat().st_size
    assert Path("report.html").stat().st_size < text_size + 880_000
