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
PAIR = ("-t", "harbour", "-l", "en-de")


@pytest.fixture
def test_set_folder(tmp_path):
    """Write a test set with its description, and a system output; return their folder."""

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
    registry = tmp_path / "sets.json"
    registry.write_text(json.dumps(entry), "utf-8")
    write("out.de", SYSTEM)
    write("short.de", SYSTEM[:4])
    return tmp_path


@pytest.fixture
def run_with_test_set(truebleu_command, test_set_folder):
    def run_with_test_set(command, *options, status=0):
        done = truebleu_command(
            command, *PAIR, "--registry", test_set_folder / "sets.json", *options
        )
        assert done.status == status, done.error
        return done if status else done.output

    return run_with_test_set


def run_score(run_with_test_set, *options):
    return json.loads(run_with_test_set("score", *options, "-f", "json"))["scores"]


def test_test_set_gives_same_score_as_files(run_with_test_set, test_set_folder):
    (score_entry,) = run_score(run_with_test_set, "-i", test_set_folder / "out.de")
    expected = tb.bleu(SYSTEM, REFERENCE)
    assert score_entry["score"] == expected.value
    assert score_entry["signature"].startswith("nrefs:1|test:harbour|lang:en-de|refs:A|case:mixed|")
    assert tb.metric(score_entry["signature"]) == tb.BLEU(effective_order=False)


def test_json_describes_test_set(run_with_test_set, test_set_folder):
    content = json.loads(
        run_with_test_set(
            "score", "-i", test_set_folder / "out.de", "--domain", "social", "-f", "json"
        )
    )
    lines = "".join(f"{line}\n" for line in REFERENCE[4:]).encode()
    assert content["test_set"] == {
        "test": "harbour",
        "lang": "en-de",
        "refs": "A",
        "domain": "social",
        "segments": 2,
        "sha256": {"A": hashlib.sha256(lines).hexdigest()},
    }


def test_source_metric_reads_source_of_test_set(run_with_test_set, test_set_folder):
    (score_entry,) = run_score(run_with_test_set, "-i", test_set_folder / "out.de", "-m", "ibleu")
    ibleu = tb.metric("ibleu")
    assert score_entry["score"] == ibleu.score(SYSTEM, REFERENCE, SOURCE).value


def test_check_compares_selected_segments_with_earlier_output(run_with_test_set, test_set_folder):
    words = ("-i", test_set_folder / "out.de", "--against", "@Online-X", "--max-drop", 1)
    output = run_with_test_set("check", *words, "--domain", "social", "-f", "json")
    content = json.loads(output)
    assert content["segments"] == 2
    assert content["earlier"]["output"] == "Online-X"
    (test_set_folder / "out.de").write_text("Der Hafen\n" * len(SYSTEM), "utf-8")
    output = run_with_test_set("check", *words, status=3).output
    assert "port" in output.partition("Documents that got worse")[2]


def test_output_of_another_length_is_divided(run_with_test_set, test_set_folder):
    text = " ".join(SYSTEM)
    (test_set_folder / "talk.de").write_text(f"{text[:90]}\n{text[90:]}\n", "utf-8")
    (test_set_folder / "talk.docs").write_text("port\nport\n", "utf-8")
    options = ("-i", test_set_folder / "talk.de", "--hyp-docs", test_set_folder / "talk.docs")
    assert run_with_test_set("resegment", *options, "-q").count("\n") == len(SYSTEM)
    (score_entry,) = run_score(run_with_test_set, *options, "--resegment")
    assert "|reseg:soft-words+docs|" in score_entry["signature"]
    error = run_with_test_set("score", *options, "--resegment", "--domain", "news", status=1).error
    assert "expected 6 lines for harbour en-de, found 2" in error


def test_family_which_finds_variant_for_test_set(run_with_test_set, test_set_folder):
    words = ("family", "which", f"{tb.bleu(SYSTEM, REFERENCE):.2f}")
    output = run_with_test_set(*words, "-i", test_set_folder / "out.de", "-f", "json")
    assert "sacrebleu" in json.loads(output)["answer"]


def test_unknown_output_of_test_set_without_outputs(run_testset, test_set_folder, truebleu_command):
    for name, lines in {"en-de.src": SOURCE, "en-de.ref": REFERENCE}.items():
        (test_set_folder / "own").mkdir(exist_ok=True)
        (test_set_folder / "own" / name).write_text("".join(f"{x}\n" for x in lines), "utf-8")
    run_testset("add", test_set_folder / "own", "--name", "mine")
    result = truebleu_command("score", "-t", "mine", "-l", "en-de", "-i", "@x")
    assert "unknown output '@x' of mine en-de (see" in result.error


def test_ref_option_selects_references(run_with_test_set, test_set_folder):
    reference_pairs = [list(pair) for pair in zip(REFERENCE, SECOND_REFERENCE, strict=True)]
    (score_entry,) = run_score(
        run_with_test_set, "-i", test_set_folder / "out.de", "--ref", "A", "B"
    )
    assert score_entry["score"] == tb.bleu(SYSTEM, reference_pairs).value
    assert "refs:A,B" in score_entry["signature"]
    (score_entry,) = run_score(run_with_test_set, "-i", test_set_folder / "out.de", "--ref", "B")
    assert score_entry["score"] == tb.bleu(SYSTEM, SECOND_REFERENCE).value


@pytest.mark.parametrize(
    ("option", "kept_rows", "field"),
    [
        (("--origlang", "en"), [0, 1, 4, 5], "origlang:en"),
        (("--origlang", "non-en"), [2, 3], "origlang:non-en"),
        (("--domain", "social"), [4, 5], "domain:social"),
        (("--subset", "^so"), [4, 5], "subset:^so"),
        (("--documents", "port", "music"), [0, 1, 4, 5], "documents:music,port"),
    ],
)
def test_filters_select_documents(run_with_test_set, test_set_folder, option, kept_rows, field):
    expected = tb.bleu([SYSTEM[i] for i in kept_rows], [REFERENCE[i] for i in kept_rows]).value
    results = run_score(run_with_test_set, "-i", test_set_folder / "out.de", "@Online-X", *option)
    assert [score_entry["score"] for score_entry in results] == [expected, expected]
    assert f"|{field}|" in results[0]["signature"]


def test_by_groups_segments_by_label(run_with_test_set, test_set_folder):
    corpus_score, *groups = run_score(
        run_with_test_set, "-i", test_set_folder / "out.de", "--by", "domain"
    )
    assert corpus_score["score"] == tb.bleu(SYSTEM, REFERENCE).value
    assert [score_entry["group"] for score_entry in groups] == [
        {"system": "out", "domain": "news"},
        {"system": "out", "domain": "social"},
    ]
    assert groups[0]["score"] == tb.bleu(SYSTEM[:4], REFERENCE[:4]).value
    assert groups[0]["segments"] == 4
    text = run_with_test_set(
        "score", "-i", test_set_folder / "out.de", "--by", "domain", "-f", "text"
    )
    assert "social" in text


def test_all_commands_accept_test_set(run_with_test_set, test_set_folder):
    table = json.loads(
        run_with_test_set("compare", "-i", test_set_folder / "out.de", "@Online-X", "-f", "json")
    )
    (metric,) = table["metrics"]
    assert metric["signature"].startswith("nrefs:1|")
    assert "|test:harbour|lang:en-de|" in metric["signature"]
    rows = [
        json.loads(line) for line in run_with_test_set("segments", "-i", "@Online-X").splitlines()
    ]
    assert [row["BLEU"] for row in rows][1] == pytest.approx(100)
    (signature,) = json.loads(run_with_test_set("segments", "-i", "@Online-X", "-f", "json"))[
        "signatures"
    ].values()
    assert signature.startswith("test:harbour|lang:en-de|refs:A|case:mixed|")
    assert "Möwen" in run_with_test_set("explain", "-i", "@Online-X", "--segment", 2)
    assert "mteval-v13a" in run_with_test_set("family", "score", "-i", "@Online-X")


@pytest.mark.parametrize("options", [(), ("--segment", 2), ("--resegment",)])
def test_signatures_of_explain_and_family_name_the_test_set(
    run_with_test_set, test_set_folder, options
):
    output = "@Online-X"
    if "--resegment" in options:  # one line per document
        output = test_set_folder / "divided.de"
        lines = (f"{SYSTEM[i]} {SYSTEM[i + 1]}\n" for i in (0, 2, 4))
        output.write_text("".join(lines), "utf-8")
    words = ("-i", output, "-f", "json")
    segment = options if "--segment" in options else ()
    options = () if segment else options
    (score,) = json.loads(run_with_test_set("score", *words, *options))["scores"]
    (member,) = json.loads(
        run_with_test_set("family", "score", *words, *options, "-m", "sacrebleu")
    )["scores"]
    assert "test:harbour|lang:en-de|refs:A|" in score["signature"]
    assert member["signature"] == score["signature"]
    content = json.loads(run_with_test_set("explain", *words, *options, *segment))
    signature = score["signature"].replace("eff:no", "eff:yes" if segment else "eff:no")
    assert content["metric"]["signature"] == content["systems"][0]["signature"] == signature


def test_report_has_source_documents_and_domains(run_with_test_set, test_set_folder):
    page = test_set_folder / "page.html"
    run_with_test_set("report", "-i", test_set_folder / "out.de", "-o", page, "-q")
    read = Page(page.read_text("utf-8"))
    text = b"".join(read.blocks.values())
    assert b"piano by ear" in text
    assert all(" -t harbour " in f"{line} " for line in read.manifest["commands"])
    content = json.dumps(read.manifest)
    assert "music" in content
    assert "social" in content
    assert "|test:harbour|lang:en-de|" in content


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        (("-i", "short.de"), 1, "short.de: expected 6 lines for harbour en-de, found 4"),
        (("-i", "@Online-Y"), 2, "unknown output '@Online-Y' of harbour en-de; did you mean"),
        (("-i", "out.de", "--ref", "C"), 1, "C"),
        (("-i", "out.de", "--domain", "sport"), 1, "sport"),
        (
            ("-i", "out.de", "--by", "weather"),
            2,
            "harbour en-de has no label 'weather' (expected document, origlang",
        ),
        (("-i", "out.de", "--join", "id"), 2, "--join has no effect with -t"),
        (("a.de", "-i", "out.de"), 2, "-t/--test-set and REF are mutually exclusive"),
        (("-i", "out.de", "-nr", "2"), 2, "-nr/--num-refs"),
    ],
)
def test_wrong_test_set_options_give_error(
    run_with_test_set, test_set_folder, monkeypatch, options, status, message
):
    monkeypatch.chdir(test_set_folder)
    error = run_with_test_set("score", *options, status=status).error
    assert message in error
    assert "Traceback" not in error
    assert error.count("\n") == 1


def test_missing_language_pair_is_refused(truebleu_command):
    done = truebleu_command("score", "-t", "wmt22", "-i", "x")
    assert (done.status, done.output) == (2, "")
    assert "-l en-de" in done.error


def test_filters_need_test_set(truebleu_command):
    done = truebleu_command("score", "ref", "-i", "x", "--origlang", "de")
    assert (done.status, done.output) == (2, "")
    assert "use it with -t" in done.error


def test_missing_test_set_offline_gives_status_4(truebleu_command, tmp_path, monkeypatch):
    monkeypatch.setenv("TRUEBLEU_CACHE", str(tmp_path))
    monkeypatch.setenv("SACREBLEU", str(tmp_path / "theirs"))
    done = truebleu_command("score", "-t", "wmt22", "-l", "en-de", "--offline", "-i", "x")
    assert done.status == 4
    assert "testset get wmt22" in done.error
    assert done.error.count("\n") == 1


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
def test_missing_tokenizer_model_offline_gives_status_4(
    truebleu_command, write, tmp_path, monkeypatch, arguments
):
    monkeypatch.setenv("TRUEBLEU_CACHE", str(tmp_path))
    monkeypatch.setenv("SACREBLEU", str(tmp_path / "theirs"))
    monkeypatch.delenv("TRUEBLEU_OFFLINE", raising=False)
    texts = [write(name, ["a cat", "a dog"]) for name in ("ref", "old", "new")]
    files = [texts[0], "-i", *texts[1 : 3 if arguments[0] in ("compare", "report") else 2]]
    done = truebleu_command(*arguments[:1], *files, *arguments[1:], "--offline", cwd=tmp_path)
    assert done.status == 4, done
    assert "downloads are disabled (--offline" in done.error


def test_failed_model_download_names_manual_steps_in_sentences(
    truebleu_command, write, tmp_path, monkeypatch
):
    for name in ("TRUEBLEU_CACHE", "SACREBLEU"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.delenv("TRUEBLEU_OFFLINE", raising=False)
    # No server listens at the discard port.
    for name in ("HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    text = write("ref", ["a cat"])
    done = truebleu_command("score", text, "-i", text, *FLORES, "--mirror", "http://127.0.0.1:9/m")
    assert done.status == 1
    assert "http://127.0.0.1:9/m/dl.fbaipublicfiles.com/" in done.error
    assert "mirror with TRUEBLEU_MIRROR. Or download https://" in done.error


# ---- truebleu testset ----


@pytest.fixture
def run_testset(truebleu_command, test_set_folder, monkeypatch):
    for name in ("TRUEBLEU_CACHE", "XDG_CONFIG_HOME", "SACREBLEU"):
        monkeypatch.setenv(name, str(test_set_folder / name))

    def run_with_test_set(*words, status=0):
        done = truebleu_command("testset", *words)
        assert done.status == status, done.error
        assert "Traceback" not in done.error
        return done.error if status else done.output

    return run_with_test_set


def test_list_shows_test_sets(run_testset, test_set_folder):
    text = run_testset("list", "wmt2*", "-l", "en-ja")
    assert "wmt22" in text
    assert "wmt19" not in text
    output = run_testset(
        "list", "harbour", "--registry", test_set_folder / "sets.json", "-f", "json"
    )
    (entry,) = json.loads(output)["list"]
    assert entry["here"]
    assert "no test set matches nothing-such" in run_testset("list", "nothing-such", status=1)


def test_info_describes_test_set(run_testset, test_set_folder):
    text = run_testset("info", "wmt22")
    assert "0840978b9b50b9ac3b2b081e37d620b9" in text
    assert "cs-en: B" in text
    text = run_testset(
        "info", "harbour", "-l", "en-de", "--registry", test_set_folder / "sets.json"
    )
    assert "Online-X" in text
    assert "news 4, social 2" in text


def test_show_prints_fields(run_testset, test_set_folder):
    words = ("harbour", "-l", "en-de", "--registry", test_set_folder / "sets.json")
    expected = [f"{source}\t{ref}\n" for source, ref in zip(SOURCE, REFERENCE, strict=True)]
    assert run_testset("show", *words) == "".join(expected)
    name, *rest = words
    assert run_testset("show", name, "docid", *rest, "--domain", "social") == "music\nmusic\n"
    assert "-l en-de" in run_testset("show", "harbour", status=2)


def test_add_installs_folder(run_testset, test_set_folder, truebleu_command):
    folder = test_set_folder / "own"
    folder.mkdir()
    for name, lines in {"en-de.src": SOURCE, "en-de.ref": REFERENCE}.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    assert "mine" in run_testset("add", folder, "--name", "mine")
    assert run_testset("path", "mine").count("\n") == 1
    assert "valid" in run_testset("verify", "mine")
    assert "mine" in run_testset("get", "mine")
    done = truebleu_command(
        "score", "-t", "mine", "-l", "en-de", "-i", test_set_folder / "out.de", "-b"
    )
    assert float(done.output) == pytest.approx(tb.bleu(SYSTEM, REFERENCE).value)
    (folder / "en-de.ref").write_text("too short\n")
    assert "invalid files" in run_testset("verify", "mine", status=1)
    assert "mine" in run_testset("remove", "mine")
    assert "unknown test set 'mine'" in run_testset("info", "mine", status=1)


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("get",), 2, "get: missing name"),
        (("info", "wmt22", "wmt23"), 2, "info: expected 1 name, found 2"),
        (("list", "--name", "x"), 2, "--name has no effect with list"),
        (("get", "wmt22", "--origlang", "de"), 2, "--origlang has no effect with get"),
        (("info", "wmt2"), 1, "did you mean wmt2"),
        (("get", "wmt22", "--offline"), 4, "testset get wmt22"),
        (("add", "no.tar.gz"), 1, "no.tar.gz cannot be read"),
        (("wash",), 2, "wash"),
    ],
)
def test_wrong_testset_command_gives_error(run_testset, words, status, message):
    error = run_testset(*words, status=status)
    assert message in error
    assert error.count("\n") == 1
