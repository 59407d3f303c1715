"""Published test sets on the command line: -t wherever REF may stand, filters, and @SYSTEM."""

import hashlib
import json

import pytest
from page_parser import Page

import truebleu as tb

SOURCE = [
    "The harbour was quiet before sunrise.",
    "Two gulls argued over a piece of bread.",
    "Prices rose by three percent in May.",
    "The committee will meet again on Friday.",
    "He tuned the old piano by ear.",
    "Nobody had expected so many guests.",
]
REFERENCE = [
    "Der Hafen war vor Sonnenaufgang still.",
    "Zwei Möwen stritten um ein Stück Brot.",
    "Die Preise stiegen im Mai um drei Prozent.",
    "Der Ausschuss tritt am Freitag wieder zusammen.",
    "Er stimmte das alte Klavier nach Gehör.",
    "Niemand hatte mit so vielen Gästen gerechnet.",
]
OTHER = [f"{line[:-1]} heute." for line in REFERENCE]
SYSTEM = [
    "Der Hafen war vor Sonnenaufgang ruhig.",
    "Zwei Möwen stritten um ein Stück Brot.",
    "Die Preise stiegen um drei Prozent im Mai.",
    "Das Komitee trifft sich am Freitag wieder.",
    "Er stimmte das alte Klavier nach Gehör.",
    "Niemand hat so viele Gäste erwartet.",
]
DOCUMENTS = ["port", "port", "money", "money", "music", "music"]
DOMAINS = ["news", "news", "news", "news", "social", "social"]
LANGUAGES = ["en", "en", "de", "de", "en", "en"]
PAIR = ("-t", "harbour", "-l", "en-de")


@pytest.fixture
def here(tmp_path):
    """A test set of one's own, an output, and the options that name the set's description."""

    def write(name, lines):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")
        return name

    fields = {
        "src": write("src.en", SOURCE),
        "ref:A": write("a.de", REFERENCE),
        "ref:B": write("b.de", OTHER),
        "docid": write("docid", DOCUMENTS),
        "domain": write("domain", DOMAINS),
        "origlang": write("origlang", LANGUAGES),
        "Online-X": write("x.de", SYSTEM),
    }
    entry = {"name": "harbour", "files": {"en-de": fields}, "refs": ["A"]}
    registry = tmp_path / "sets.json"
    registry.write_text(json.dumps(entry), "utf-8")
    write("out.de", SYSTEM)
    write("short.de", SYSTEM[:4])
    return tmp_path


@pytest.fixture
def run(truebleu_command, here):
    def run(command, *options, status=0):
        done = truebleu_command(command, *PAIR, "--registry", here / "sets.json", *options)
        assert done.status == status, done.error
        return done if status else done.output

    return run


def score(run, *options):
    return json.loads(run("score", *options, "-f", "json"))["scores"]


def test_a_score_is_that_of_the_files(run, here):
    (one,) = score(run, "-i", here / "out.de")
    expected = tb.bleu(SYSTEM, REFERENCE)
    assert one["score"] == expected.value
    assert one["signature"].startswith("nrefs:1|test:harbour|lang:en-de|refs:A|case:mixed|")
    assert tb.metric(one["signature"]) == tb.BLEU(effective_order=False)


def test_json_says_what_was_scored(run, here):
    told = json.loads(run("score", "-i", here / "out.de", "--domain", "social", "-f", "json"))
    lines = "".join(f"{line}\n" for line in REFERENCE[4:]).encode()
    assert told["test_set"] == {
        "test": "harbour",
        "lang": "en-de",
        "refs": "A",
        "domain": "social",
        "segments": 2,
        "sha256": {"A": hashlib.sha256(lines).hexdigest()},
    }


def test_metrics_of_the_source_read_that_of_the_set(run, here):
    (one,) = score(run, "-i", here / "out.de", "-m", "ibleu")
    ibleu = tb.metric("ibleu")
    assert one["score"] == ibleu.score(SYSTEM, REFERENCE, SOURCE).value


def test_an_output_that_comes_with_it(run):
    (one,) = score(run, "-i", "@Online-X")
    assert one["score"] == tb.bleu(SYSTEM, REFERENCE).value
    assert one["system"] == "Online-X"


def test_references_can_be_chosen(run, here):
    both = [list(pair) for pair in zip(REFERENCE, OTHER, strict=True)]
    (one,) = score(run, "-i", here / "out.de", "--ref", "A", "B")
    assert one["score"] == tb.bleu(SYSTEM, both).value
    assert "refs:A,B" in one["signature"]
    (one,) = score(run, "-i", here / "out.de", "--ref", "B")
    assert one["score"] == tb.bleu(SYSTEM, OTHER).value


@pytest.mark.parametrize(
    ("option", "kept", "field"),
    [
        (("--origlang", "en"), [0, 1, 4, 5], "origlang:en"),
        (("--origlang", "non-en"), [2, 3], "origlang:non-en"),
        (("--domain", "social"), [4, 5], "domain:social"),
        (("--subset", "^so"), [4, 5], "subset:^so"),
        (("--documents", "port", "music"), [0, 1, 4, 5], "documents:music,port"),
    ],
)
def test_parts(run, here, option, kept, field):
    expected = tb.bleu([SYSTEM[i] for i in kept], [REFERENCE[i] for i in kept]).value
    results = score(run, "-i", here / "out.de", "@Online-X", *option)
    assert [one["score"] for one in results] == [expected, expected]
    assert f"|{field}|" in results[0]["signature"]


def test_groups_come_from_the_same_table(run, here):
    whole, *groups = score(run, "-i", here / "out.de", "--by", "domain")
    assert whole["score"] == tb.bleu(SYSTEM, REFERENCE).value
    assert [one["group"] for one in groups] == [
        {"system": "out.de", "domain": "news"},
        {"system": "out.de", "domain": "social"},
    ]
    assert groups[0]["score"] == tb.bleu(SYSTEM[:4], REFERENCE[:4]).value
    assert groups[0]["segments"] == 4
    text = run("score", "-i", here / "out.de", "--by", "domain", "-f", "text")
    assert "social" in text


def test_every_command_takes_it(run, here):
    table = json.loads(run("compare", "-i", here / "out.de", "@Online-X", "-f", "json"))
    (metric,) = table["metrics"]
    assert metric["signature"].startswith("nrefs:1|")
    assert "|test:harbour|lang:en-de|" in metric["signature"]
    rows = [json.loads(line) for line in run("segments", "-i", "@Online-X").splitlines()]
    assert [row["BLEU"] for row in rows][1] == pytest.approx(100)
    (signature,) = json.loads(run("segments", "-i", "@Online-X", "-f", "json"))[
        "signatures"
    ].values()
    assert signature.startswith("test:harbour|lang:en-de|refs:A|case:mixed|")
    assert "Möwen" in run("explain", "-i", "@Online-X", "--segment", 2)
    assert "mteval-v13a" in run("family", "score", "-i", "@Online-X")


def test_the_report_has_source_documents_and_domains(run, here):
    page = here / "page.html"
    run("report", "-i", here / "out.de", "-o", page, "-q")
    read = Page(page.read_text("utf-8"))
    text = b"".join(read.blocks.values())
    assert b"piano by ear" in text
    assert all(" -t harbour " in f"{line} " for line in read.manifest["commands"])
    told = json.dumps(read.manifest)
    assert "music" in told
    assert "social" in told
    assert "|test:harbour|lang:en-de|" in told


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        (("-i", "short.de"), 1, "short.de has 4 lines, and harbour en-de 6"),
        (("-i", "@Online-Y"), 2, "@Online-Y: harbour en-de has no such output; did you mean"),
        (("-i", "out.de", "--ref", "C"), 1, "C"),
        (("-i", "out.de", "--domain", "sport"), 1, "sport"),
        (("-i", "out.de", "--by", "weather"), 2, "of harbour en-de are known document, origlang"),
        (("-i", "out.de", "--join", "id"), 2, "--join is for tables, and -t names a test set"),
        (("a.de", "-i", "out.de"), 2, "leave out REF"),
        (("-i", "out.de", "-nr", "2"), 2, "-nr/--num-refs"),
    ],
)
def test_errors(run, here, monkeypatch, options, status, message):
    monkeypatch.chdir(here)
    error = run("score", *options, status=status).error
    assert message in error
    assert "Traceback" not in error
    assert error.count("\n") == 1


def test_without_a_pair(truebleu_command):
    done = truebleu_command("score", "-t", "wmt22", "-i", "x")
    assert (done.status, done.output) == (2, "")
    assert "-l en-de" in done.error


def test_filters_need_a_test_set(truebleu_command):
    done = truebleu_command("score", "ref", "-i", "x", "--origlang", "de")
    assert (done.status, done.output) == (2, "")
    assert "which -t names" in done.error


def test_what_is_not_here_is_said_offline(truebleu_command, tmp_path, monkeypatch):
    monkeypatch.setenv("TRUEBLEU_CACHE", str(tmp_path))
    monkeypatch.setenv("SACREBLEU", str(tmp_path / "theirs"))
    done = truebleu_command("score", "-t", "wmt22", "-l", "en-de", "--offline", "-i", "x")
    assert done.status == 4
    assert "testset get wmt22" in done.error
    assert done.error.count("\n") == 1


# ---- truebleu testset ----


@pytest.fixture
def testset(truebleu_command, here, monkeypatch):
    for name in ("TRUEBLEU_CACHE", "XDG_CONFIG_HOME", "SACREBLEU"):
        monkeypatch.setenv(name, str(here / name))

    def run(*words, status=0):
        done = truebleu_command("testset", *words)
        assert done.status == status, done.error
        assert "Traceback" not in done.error
        return done.error if status else done.output

    return run


def test_what_is_listed(testset, here):
    text = testset("list", "wmt2*", "-l", "en-ja")
    assert "wmt22" in text
    assert "wmt19" not in text
    own = testset("list", "harbour", "--registry", here / "sets.json", "-f", "json")
    (one,) = json.loads(own)["list"]
    assert one["here"]
    assert "no test set is like nothing-such" in testset("list", "nothing-such", status=1)


def test_what_is_described(testset, here):
    text = testset("info", "wmt22")
    assert "0840978b9b50b9ac3b2b081e37d620b9" in text
    assert "cs-en: B" in text
    text = testset("info", "harbour", "-l", "en-de", "--registry", here / "sets.json")
    assert "Online-X" in text
    assert "news 4, social 2" in text


def test_what_is_shown(testset, here):
    words = ("harbour", "-l", "en-de", "--registry", here / "sets.json")
    expected = [f"{source}\t{ref}\n" for source, ref in zip(SOURCE, REFERENCE, strict=True)]
    assert testset("show", *words) == "".join(expected)
    name, *rest = words
    assert testset("show", name, "docid", *rest, "--domain", "social") == "music\nmusic\n"
    assert "-l en-de" in testset("show", "harbour", status=2)


def test_a_folder_of_one_s_own(testset, here, truebleu_command):
    folder = here / "own"
    folder.mkdir()
    for name, lines in {"en-de.src": SOURCE, "en-de.ref": REFERENCE}.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    assert "mine" in testset("add", folder, "--name", "mine")
    assert testset("path", "mine").count("\n") == 1
    assert "as it should be" in testset("verify", "mine")
    assert "mine" in testset("get", "mine")
    done = truebleu_command("score", "-t", "mine", "-l", "en-de", "-i", here / "out.de", "-b")
    assert float(done.output) == pytest.approx(tb.bleu(SYSTEM, REFERENCE).value)
    (folder / "en-de.ref").write_text("too short\n")
    assert "not everything is as it should be" in testset("verify", "mine", status=1)
    assert "mine" in testset("remove", "mine")
    assert "there is no test set mine" in testset("info", "mine", status=1)


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("get",), 2, "get what? Give a name"),
        (("info", "wmt22", "wmt23"), 2, "info takes 1 name, not 2"),
        (("list", "--name", "x"), 2, "--name is for truebleu testset add"),
        (("get", "wmt22", "--origlang", "de"), 2, "--origlang is for truebleu testset show"),
        (("info", "wmt2"), 1, "did you mean wmt2"),
        (("get", "wmt22", "--offline"), 4, "testset get wmt22"),
        (("add", "no.tar.gz"), 1, "no.tar.gz cannot be read"),
        (("wash",), 2, "wash"),
    ],
)
def test_what_is_wrong_with_a_test_set(testset, words, status, message):
    error = testset(*words, status=status)
    assert message in error
    assert error.count("\n") == 1
