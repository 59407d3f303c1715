"""`truebleu report`: files in, one page out."""

import re

import pytest
from page_parser import Page

import truebleu as tb
from truebleu.reports import browser_kernel

REFERENCES = ["the cat is on the mat", "nobody was there at all", "it rains again today"] * 4
GOOD = ["the cat is on a mat", "nobody was there at all", "it rains again today"] * 4
POOR = ["a cat is at the mat", "nobody were here at all", "it rains again today"] * 4
SOURCE = ["die Katze", "niemand", "Regen"] * 4


@pytest.fixture
def files(write):
    """A folder with a small test set, and the words that name its systems and its reference."""
    write("good.en", GOOD)
    write("poor.en", POOR)
    write("source.de", SOURCE)
    write("documents.txt", ["one"] * 6 + ["two"] * 6)
    reference = write("reference.en", REFERENCES)
    folder = reference.parent
    return folder, [reference, "-i", folder / "good.en", folder / "poor.en"]


def test_a_page_from_files(files, truebleu_command):
    folder, words = files
    path = folder / "report.html"
    done = truebleu_command(
        *("report", *words, "-src", folder / "source.de", "--docs", folder / "documents.txt"),
        *("-m", "bleu", "chrf", "--also", "tokenize=intl", "lowercase", "--title", "Cats"),
        *("-o", path),
    )
    assert (done.status, done.output, done.error) == (0, "", "")
    page = Page(path.read_bytes())
    told = page.manifest
    assert page.title == "Cats"
    assert [system["name"] for system in told["systems"]] == ["good", "poor"]
    assert page.texts("system1") == POOR
    assert page.texts("source") == SOURCE
    assert told["documents"]["names"] == ["one", "two"]
    assert told["languages"] == {"source": "de", "target": "en"}
    assert [s["label"] for s in told["settings"]] == [
        *("BLEU", "chrF2", "BLEU tok:intl", "BLEU case:lc", "chrF2 case:lc")
    ]


def test_it_is_the_page_that_python_makes(files, truebleu_command):
    folder, words = files
    path = folder / "report.html"
    options = ["--seed", "7", "--test", "bs", "-pbsn", "200", "--level", "0.9", "-lc"]
    assert truebleu_command("report", *words, *options, "-o", path).status == 0
    systems = {name: folder / f"{name}.en" for name in ("good", "poor")}
    made = tb.report(
        *(systems, folder / "reference.en"),
        metrics=[tb.BLEU(lowercase=True)],
        seed=7,
        test="bs",
        samples=200,
        confidence=200,
        level=0.9,
    )
    told = Page(path.read_bytes()).manifest
    assert {**told, "commands": []} == made.to_dict()


def test_one_system_on_standard_input_to_standard_output(files, truebleu_command):
    _, (reference, *_) = files
    done = truebleu_command("report", reference, input="\n".join(GOOD).encode())
    assert (done.status, done.error) == (0, "")
    page = Page(done.output)
    assert page.texts("system0") == GOOD
    assert page.manifest["systems"] == [{"name": "standard input", "letter": "A"}]


def test_the_same_command_gives_the_same_bytes(files, truebleu_command):
    folder, words = files
    for name, more in (("1", ()), ("2", ()), ("3", ("--threads", "3"))):
        done = truebleu_command("report", *words, "-m", "bleu", "ter", *more, "-o", folder / name)
        assert done.status == 0
    assert (folder / "1").read_bytes() == (folder / "2").read_bytes()
    assert (folder / "1").read_bytes() == (folder / "3").read_bytes()


def test_commands_of_the_page_make_its_numbers_again(files, truebleu_command, tmp_path):
    import shlex

    folder, words = files
    path = folder / "report.html"
    options = ["-m", "bleu", "chrf", "-tok", "intl", "-lc", "-src", folder / "source.de"]
    options += [
        "--paired-bs",
        "--also",
        "tokenize=char",
        "--correction",
        "holm",
        "--names",
        "x y,z",
    ]
    assert truebleu_command("report", *words, *options, "-o", path).status == 0
    page = Page(path.read_bytes())
    first, second = map(shlex.split, page.manifest["commands"])
    assert first[:3] == ["truebleu", "report", "reference.en"]
    assert truebleu_command(*first[1:], cwd=folder).status == 0
    assert (folder / "report.html").read_bytes() == path.read_bytes()
    done = truebleu_command(*second[1:], "-f", "json", cwd=folder)
    told = tb.Comparison.from_json(done.output).to_dict()
    for system in told["systems"]:
        system["letter"] = {"x y": "A", "z": "B"}[system["name"]]
    assert told == page.manifest["comparison"]


def test_commands_name_files_without_their_folders(files, truebleu_command):
    folder, words = files
    path = folder / "report.html"
    truebleu_command("report", *words, "--labels", f"d={folder / 'documents.txt'}", "-o", path)
    assert str(folder) not in path.read_text()
    assert "d=documents.txt" in Page(path.read_bytes()).manifest["commands"][0]


def test_labels_from_a_table_and_from_files(files, write, truebleu_command):
    folder, words = files
    table = write("labels.tsv", ["domain\tkind", *["news\tx", "chat\ty"] * 6])
    path = folder / "report.html"
    truebleu_command("report", *words, "--labels", table, "-o", path)
    assert [label["name"] for label in Page(path.read_bytes()).manifest["labels"]] == [
        *("domain", "kind")
    ]
    named = [f"{name}={folder / 'documents.txt'}" for name in ("a", "b")]
    truebleu_command("report", *words, "--labels", *named, "-o", path)
    labels = Page(path.read_bytes()).manifest["labels"]
    assert [(label["name"], label["values"]) for label in labels] == [
        *(("a", ["one", "two"]), ("b", ["one", "two"]))
    ]


def test_references_side_by_side_and_compressed_files(files, write, truebleu_command):
    import gzip

    folder, (_, *systems) = files
    lines = [f"{a}\t{b}" for a, b in zip(REFERENCES, POOR, strict=True)]
    table = write("references.tsv", lines)
    (folder / "source.de.gz").write_bytes(gzip.compress((folder / "source.de").read_bytes()))
    path = folder / "report.html"
    done = truebleu_command(
        *("report", table, "-nr", "2", *systems, "-src", folder / "source.de.gz", "-o", path)
    )
    assert done.status == 0
    assert "which system is best depends on the reference" in done.error
    page = Page(path.read_bytes())
    assert page.texts("reference0") == REFERENCES
    assert page.texts("reference1") == POOR
    assert page.texts("source") == SOURCE
    assert list(page.manifest["data_hash"])[2:4] == ["references.tsv#1", "references.tsv#2"]


def test_scores_from_elsewhere(files, write, truebleu_command):
    folder, words = files
    scores = write("comet.tsv", ["good\tpoor", *["0.9\t0.5"] * 12])
    path = folder / "report.html"
    truebleu_command("report", *words, "--scores", f"COMET={scores}", "-o", path)
    page = Page(path.read_bytes())
    assert [m["name"] for m in page.manifest["comparison"]["metrics"]] == ["BLEU", "COMET"]
    assert "A good, the baseline, is" in page.text
    assert "COMET" in page.text


def test_without_text(files, truebleu_command):
    folder, words = files
    path = folder / "report.html"
    more = ["-src", folder / "source.de", "--redact-text", "-o", path]
    assert truebleu_command("report", *words, *more).status == 0
    page = Page(path.read_bytes())
    numbers = ["s0.0", "s0.1", "h.0", "h.1", "h.2", "h.3", "lengths", "frequency"]
    assert list(page.blocks) == [*numbers, *browser_kernel.load_kernel_blocks()]
    assert page.manifest["ngrams"] is None
    for word in ("nobody", "niemand"):
        assert word not in path.read_text()


def test_warnings_are_those_of_other_commands(files, write, truebleu_command):
    folder, (reference, *_) = files
    done = truebleu_command("report", reference, "-i", reference, "-o", folder / "report.html")
    assert done.status == 0
    assert "all 12 hypotheses are identical to the reference" in done.error
    quiet = ["-q", "-o", folder / "report.html"]
    assert truebleu_command("report", reference, "-i", reference, *quiet).error == ""


# ---- what is wrong ----


@pytest.mark.parametrize(
    ("more", "status", "message"),
    [
        (["-i", "short.txt"], 1, "different numbers of segments"),
        (["-src", "short.txt"], 1, "source (short.txt) has 2 segments, and the systems have 12"),
        (["--docs", "short.txt"], 1, "documents (short.txt) has 2 segments"),
        (["--labels", "bad.tsv"], 1, "labels (bad.tsv), line 3: 1 tab-separated column, and"),
        (["--labels", "a=short.txt"], 1, "labels: a (short.txt) has 2 segments"),
        (["--labels", "a=short.txt", "a=bad.tsv"], 2, "--labels: a is there twice"),
        (["--labels", "bad.tsv", "short.txt"], 2, "'bad.tsv': with several, expected NAME=FILE"),
        (["-src", "missing.txt"], 1, "missing.txt: No such file or directory"),
        (["-src", "latin.txt"], 1, "latin.txt), line 2: byte 0xe9 is not UTF-8; if the text is in"),
        (["--also", "tokenise=intl"], 2, "--also: unknown parameter 'tokenise'; did you mean 'tok"),
        (["--also", "tokenize=x"], 2, "--also: tokenize=x: unknown tokenizer 'x'"),
        (["--also", "nope"], 2, "--also: unknown metric 'nope'"),
        (["--embed-text", "-1"], 2, "--embed-text: "),
        (["--baseline", "god"], 2, "--baseline: no system 'god'"),
        (["--names", "a"], 2, "--names: 1 name for 2 systems"),
        (["-src", "-", "--docs", "-"], 2, "standard input is named twice"),
        (["--format", "json"], 2, "unknown option --format"),
    ],
)
def test_mistakes_are_said_in_a_line_and_nothing_is_written(
    files, write, truebleu_command, more, status, message
):
    folder, words = files
    write("short.txt", ["a", "b"])
    write("bad.tsv", ["a\tb", "1\t2", "1"])
    (folder / "latin.txt").write_bytes(b"a\ncaf\xe9\n" + b"x\n" * 10)
    path = folder / "report.html"
    path.write_text("as it was")
    done = truebleu_command("report", *words, *more, "-o", path, cwd=folder)
    assert done.status == status, done
    assert message in done.error
    assert re.fullmatch(r"truebleu: error: [^\n]*\n", done.error)
    assert path.read_text() == "as it was"
    assert not [left.name for left in folder.iterdir() if left.name.startswith(".truebleu")]


@pytest.mark.parametrize("role", ["-src", "--docs", "--labels"])
def test_an_input_is_not_written_over(files, truebleu_command, role):
    folder, words = files
    path = folder / "documents.txt"
    before = path.read_bytes()
    done = truebleu_command("report", *words, role, path, "-o", path)
    assert done.status == 2
    assert "is an input as well" in done.error
    assert path.read_bytes() == before


# ---- size ----


def test_text_takes_little_more_than_its_gzip(write, truebleu_command):
    lines = [f"{line} {i * 7919 % 10007}" for i, line in enumerate(REFERENCES * 400)]
    reference, system = write("r.en", lines), write("s.en", lines[1:] + lines[:1])
    path = reference.parent / "report.html"
    assert truebleu_command("report", reference, "-i", system, "-o", path).status == 0
    page = Page(path.read_bytes())
    own = [
        text
        for of, text in page.scripts
        if of.get("data-block", "kernel") not in browser_kernel.KERNEL_BLOCKS
    ]
    blocks = sum(map(len, own))
    assert blocks < 0.5 * 2 * reference.stat().st_size
    assert path.stat().st_size < blocks + 800_000
