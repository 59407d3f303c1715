"""Published test sets on the command line: -t instead of REF, filters, and @SYSTEM."""

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
SECOND_REFERENCE = [f"{line[:-1]} heute." for line in REFERENCE]
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
PAIR = ("-t", "harbour", "-l", "en-de", "--registry", "sets.json")


@pytest.fixture(autouse=True)
def test_set_folder(tmp_path, monkeypatch):
    """Write a test set with its description, and a system output, to the working directory."""
    monkeypatch.chdir(tmp_path)
    for name in ("TRUEBLEU_CACHE", "XDG_CONFIG_HOME", "SACREBLEU"):
        monkeypatch.setenv(name, str(tmp_path / name))

    def write(name, lines):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")
        return name

    fields = {
        "src": write("src.en", SOURCE),
        "ref:A": write("a.de", REFERENCE),
        "ref:B": write("b.de", SECOND_REFERENCE),
        "docid": write("docid", DOCUMENTS),
        "domain": write("domain", DOMAINS),
        "origlang": write("origlang", LANGUAGES),
        "Online-X": write("x.de", SYSTEM),
    }
    entry = {"name": "harbour", "files": {"en-de": fields}, "refs": ["A"]}
    (tmp_path / "sets.json").write_text(json.dumps(entry), "utf-8")
    write("out.de", SYSTEM)
    write("short.de", SYSTEM[:4])
    # A test set without a description.
    (tmp_path / "own").mkdir()
    write("own/en-de.src", SOURCE)
    write("own/en-de.ref", REFERENCE)
    return tmp_path


@pytest.fixture
def run(truebleu_command):
    """Return a function that runs a command with the test set and returns its output."""

    def run(command, words):
        done = truebleu_command(command, *PAIR, *words.split())
        assert done.status == 0, done.error
        return done.output

    return run


@pytest.fixture
def run_json(run):
    return lambda command, words: json.loads(run(command, f"{words} -f json"))


@pytest.fixture
def score_test_set(run_json):
    """Return a function that returns the scores of `truebleu score` with the test set."""
    return lambda words: run_json("score", words)["scores"]


def test_test_set_gives_same_score_as_files(score_test_set):
    (entry,) = score_test_set("-i out.de")
    assert entry["score"] == tb.bleu(SYSTEM, REFERENCE).value
    assert entry["signature"].startswith("nrefs:1|test:harbour|lang:en-de|refs:A|case:mixed|")
    assert tb.metric(entry["signature"]) == tb.BLEU(effective_order=False)


def test_json_describes_test_set(run_json):
    lines = "".join(f"{line}\n" for line in REFERENCE[4:]).encode()
    assert run_json("score", "-i out.de --domain social")["test_set"] == {
        "test": "harbour",
        "lang": "en-de",
        "refs": "A",
        "domain": "social",
        "segments": 2,
        "sha256": {"A": hashlib.sha256(lines).hexdigest()},
    }


def test_source_metric_reads_source_of_test_set(score_test_set):
    (entry,) = score_test_set("-i out.de -m ibleu")
    assert entry["score"] == tb.metric("ibleu").score(SYSTEM, REFERENCE, SOURCE).value


def test_check_compares_selected_segments_with_earlier_output(
    run_json, truebleu_command, test_set_folder
):
    words = "-i out.de --against @Online-X --max-drop 1"
    content = run_json("check", f"{words} --domain social")
    assert content["segments"] == 2
    assert content["earlier"]["output"] == "Online-X"
    (test_set_folder / "out.de").write_text("Der Hafen\n" * len(SYSTEM), "utf-8")
    done = truebleu_command("check", *PAIR, *words.split())
    assert done.status == 3
    assert "port" in done.output.partition("Documents that got worse")[2]


def test_output_of_another_length_is_divided(run, score_test_set, read_error, test_set_folder):
    text = " ".join(SYSTEM)
    (test_set_folder / "talk.de").write_text(f"{text[:90]}\n{text[90:]}\n", "utf-8")
    (test_set_folder / "talk.docs").write_text("port\nport\n", "utf-8")
    words = "-i talk.de --hyp-docs talk.docs"
    assert run("resegment", f"{words} -q").count("\n") == len(SYSTEM)
    (entry,) = score_test_set(f"{words} --resegment")
    assert "|reseg:soft-words+docs|" in entry["signature"]
    error = read_error(1, "score", *PAIR, *words.split(), "--resegment", "--domain", "news")
    assert "expected 6 lines for harbour en-de, found 2" in error


def test_family_which_finds_variant_for_test_set(read_json):
    words = ("which", f"{tb.bleu(SYSTEM, REFERENCE):.2f}", "-i", "out.de", "-f", "json")
    assert "sacrebleu" in read_json("family", *PAIR, *words)["answer"]


def test_unknown_output_of_test_set_without_outputs(run_testset, read_error):
    run_testset("add own --name mine")
    error = read_error(2, "score", "-t", "mine", "-l", "en-de", "-i", "@x")
    assert "unknown output '@x' of mine en-de (see" in error


def test_ref_option_selects_references(score_test_set):
    (entry,) = score_test_set("-i out.de --ref A B")
    reference_pairs = [list(pair) for pair in zip(REFERENCE, SECOND_REFERENCE, strict=True)]
    assert entry["score"] == tb.bleu(SYSTEM, reference_pairs).value
    assert "refs:A,B" in entry["signature"]
    (entry,) = score_test_set("-i out.de --ref B")
    assert entry["score"] == tb.bleu(SYSTEM, SECOND_REFERENCE).value


@pytest.mark.parametrize(
    ("option", "kept_rows", "field"),
    [
        ("--origlang en", [0, 1, 4, 5], "origlang:en"),
        ("--origlang non-en", [2, 3], "origlang:non-en"),
        ("--domain social", [4, 5], "domain:social"),
        ("--subset ^so", [4, 5], "subset:^so"),
        ("--documents port music", [0, 1, 4, 5], "documents:music,port"),
    ],
)
def test_filters_select_documents(score_test_set, option, kept_rows, field):
    expected = tb.bleu([SYSTEM[i] for i in kept_rows], [REFERENCE[i] for i in kept_rows]).value
    results = score_test_set(f"-i out.de @Online-X {option}")
    assert [entry["score"] for entry in results] == [expected, expected]
    assert f"|{field}|" in results[0]["signature"]


def test_by_groups_segments_by_label(run, score_test_set):
    corpus_score, *groups = score_test_set("-i out.de --by domain")
    assert corpus_score["score"] == tb.bleu(SYSTEM, REFERENCE).value
    assert [(entry["group"]["domain"], entry["segments"]) for entry in groups] == [
        ("news", 4),
        ("social", 2),
    ]
    assert groups[0]["score"] == tb.bleu(SYSTEM[:4], REFERENCE[:4]).value
    assert "social" in run("score", "-i out.de --by domain -f text")


def test_all_commands_accept_test_set(run, run_json):
    (metric,) = run_json("compare", "-i out.de @Online-X")["metrics"]
    assert metric["signature"].startswith("nrefs:1|")
    assert "|test:harbour|lang:en-de|" in metric["signature"]
    segments = run_json("segments", "-i @Online-X")
    assert segments["rows"][1]["BLEU"] == pytest.approx(100)
    (signature,) = segments["signatures"].values()
    assert signature.startswith("test:harbour|lang:en-de|refs:A|case:mixed|")
    assert "Möwen" in run("explain", "-i @Online-X --segment 2")


@pytest.mark.parametrize("options", ["", "--segment 2", "--resegment"])
def test_signatures_of_explain_and_family_name_the_test_set(
    run_json, score_test_set, read_json, test_set_folder, options
):
    words = "-i @Online-X"
    if options == "--resegment":  # one line per document
        lines = (f"{SYSTEM[i]} {SYSTEM[i + 1]}\n" for i in (0, 2, 4))
        (test_set_folder / "divided.de").write_text("".join(lines), "utf-8")
        words = "-i divided.de --resegment"
    (entry,) = score_test_set(words)
    family = ("family", "score", *PAIR, *words.split(), "-m", "sacrebleu", "-f", "json")
    (member,) = read_json(*family)["scores"]
    assert "test:harbour|lang:en-de|refs:A|" in entry["signature"]
    assert member["signature"] == entry["signature"]
    is_segment = options == "--segment 2"
    content = run_json("explain", f"{words} {options}" if is_segment else words)
    signature = entry["signature"].replace("eff:no", "eff:yes" if is_segment else "eff:no")
    assert content["metric"]["signature"] == content["systems"][0]["signature"] == signature


def test_report_has_source_documents_and_domains(run):
    page = Page(run("report", "-i out.de -o -"))
    assert b"piano by ear" in b"".join(page.blocks.values())
    assert all(" -t harbour " in f"{line} " for line in page.manifest["commands"])
    content = json.dumps(page.manifest)
    for text in ("music", "social", "|test:harbour|lang:en-de|"):
        assert text in content


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        ("-i short.de", 1, "short.de: expected 6 lines for harbour en-de, found 4"),
        ("-i @Online-Y", 2, "unknown output '@Online-Y' of harbour en-de; did you mean"),
        ("-i out.de --ref C", 1, "C"),
        ("-i out.de --domain sport", 1, "sport"),
        ("-i out.de --by weather", 2, "harbour en-de has no label 'weather' (expected document, "),
        ("-i out.de --join id", 2, "--join has no effect with -t"),
        ("a.de -i out.de", 2, "-t/--test-set and REF are mutually exclusive"),
        ("-i out.de -nr 2", 2, "-nr/--num-refs"),
    ],
)
def test_wrong_test_set_options_give_error(read_error, words, status, message):
    assert message in read_error(status, "score", *PAIR, *words.split())


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        ("-t wmt22 -i x", 2, "-l en-de"),
        ("ref -i x --origlang de", 2, "use it with -t"),
        ("-t wmt22 -l en-de --offline -i x", 4, "testset get wmt22"),
    ],
    ids=["missing language pair", "filter without test set", "missing test set offline"],
)
def test_unusable_test_set_gives_error(read_error, words, status, message):
    assert message in read_error(status, "score", *words.split())


FLORES = ("-tok", "flores200")


@pytest.mark.parametrize(
    "arguments",
    [
        ("score", *FLORES),
        ("segments", *FLORES),
        ("compare", *FLORES),
        ("check", *FLORES, "--min", "30"),
        ("explain", *FLORES),
        ("report", *FLORES),
        ("matrix", *FLORES),
        ("resegment", "--resegment", "mweralign-spm32k"),
    ],
)
def test_missing_tokenizer_model_offline_gives_status_4(read_error, monkeypatch, arguments):
    monkeypatch.delenv("TRUEBLEU_OFFLINE", raising=False)
    command, *options = arguments
    systems = ["out.de", "x.de"] if command in ("compare", "report") else ["out.de"]
    error = read_error(4, command, "a.de", "-i", *systems, *options, "--offline")
    assert "downloads are disabled (--offline" in error


def test_failed_model_download_names_manual_steps_in_sentences(read_error, monkeypatch):
    monkeypatch.delenv("TRUEBLEU_OFFLINE", raising=False)
    # No server listens at the discard port.
    for name in ("HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    mirror = ("--mirror", "http://127.0.0.1:9/m")
    error = read_error(1, "score", "a.de", "-i", "out.de", *FLORES, *mirror)
    assert "http://127.0.0.1:9/m/dl.fbaipublicfiles.com/" in error
    assert "mirror with TRUEBLEU_MIRROR. Or download https://" in error


# ---- truebleu testset ----


@pytest.fixture
def run_testset(truebleu_command):
    """Return a function that runs `truebleu testset` and returns its output, or its error."""

    def run(words, status=0):
        done = truebleu_command("testset", *words.split())
        assert done.status == status, done.error
        return done.error if status else done.output

    return run


def test_list_shows_test_sets(run_testset):
    text = run_testset("list wmt2* -l en-ja")
    assert "wmt22" in text
    assert "wmt19" not in text
    (entry,) = json.loads(run_testset("list harbour --registry sets.json -f json"))["list"]
    assert entry["here"]
    assert "no test set matches nothing-such" in run_testset("list nothing-such", status=1)


def test_info_describes_test_set(run_testset):
    text = run_testset("info wmt22")
    assert "0840978b9b50b9ac3b2b081e37d620b9" in text
    assert "cs-en: B" in text
    text = run_testset("info harbour -l en-de --registry sets.json")
    assert "Online-X" in text
    assert "news 4, social 2" in text


def test_show_prints_fields(run_testset):
    options = "-l en-de --registry sets.json"
    expected = [f"{source}\t{ref}\n" for source, ref in zip(SOURCE, REFERENCE, strict=True)]
    assert run_testset(f"show harbour {options}") == "".join(expected)
    assert run_testset(f"show harbour docid {options} --domain social") == "music\nmusic\n"
    assert "-l en-de" in run_testset("show harbour", status=2)


def test_add_installs_folder(run_testset, test_set_folder, truebleu_command):
    assert "mine" in run_testset("add own --name mine")
    assert run_testset("path mine").count("\n") == 1
    assert "valid" in run_testset("verify mine")
    assert "mine" in run_testset("get mine")
    done = truebleu_command("score", "-t", "mine", "-l", "en-de", "-i", "out.de", "-b")
    assert float(done.output) == pytest.approx(tb.bleu(SYSTEM, REFERENCE).value)
    (test_set_folder / "own" / "en-de.ref").write_text("too short\n")
    assert "invalid files" in run_testset("verify mine", status=1)
    assert "mine" in run_testset("remove mine")
    assert "unknown test set 'mine'" in run_testset("info mine", status=1)


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        ("get", 2, "get: missing name"),
        ("info wmt22 wmt23", 2, "info: expected 1 name, found 2"),
        ("list --name x", 2, "--name has no effect with list"),
        ("get wmt22 --origlang de", 2, "--origlang has no effect with get"),
        ("info wmt2", 1, "did you mean wmt2"),
        ("get wmt22 --offline", 4, "testset get wmt22"),
        ("add no.tar.gz", 1, "no.tar.gz cannot be read"),
        ("wash", 2, "wash"),
    ],
)
def test_wrong_testset_command_gives_error(read_error, words, status, message):
    assert message in read_error(status, "testset", *words.split())
