"""Tests of the score log and of the history built from it."""

import base64
import gzip
import hashlib
import json
import os
import re
import sys
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_parser import Page
from strategies import HOSTILE_NAMES

import truebleu as tb
from truebleu.comparison import score_log as log
from truebleu.comparison.history import Entry, History, Input

REFERENCE = ["The cat sat on the mat.", "Nobody was there.", "It is late."]
FIRST = ["The cat sat on a mat.", "Nobody was here.", "It is late."]
SECOND = ["The cat sat on the mat.", "Nobody was here.", "It is late."]

EPOCH = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}


def to_bytes(lines) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def sha256(lines) -> str:
    return hashlib.sha256(to_bytes(lines)).hexdigest()


def entry(score=20.0, **changes) -> Entry:
    """Return a log entry with some values changed."""
    default_values = {
        "time": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        "system": "system.en",
        "metric": "BLEU",
        "score": score,
        "signature": "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0",
        "segments": 3,
        "hypothesis": Input("system.en", sha256(FIRST)),
        "references": (Input("ref.en", sha256(REFERENCE)),),
        "version": "0.1.0",
    }
    return Entry(**{**default_values, **changes})


@pytest.fixture
def log_folder(write, monkeypatch, tmp_path):
    """Return a folder, made the current one, with a reference and the outputs of two systems."""
    monkeypatch.chdir(tmp_path)
    write("ref", REFERENCE)
    write("one", FIRST)
    write("two", SECOND)
    return tmp_path


# ---- output of score --log ----


@pytest.fixture
def score_one(log_folder, truebleu_command):
    """Score the first system with options, and log the score."""
    return lambda *options: truebleu_command("score", "ref", "-i", "one", "--log", "log", *options)


def test_log_has_one_line_per_score_and_system(log_folder, truebleu_command):
    words = ["score", "ref", "-i", "one", "two", "-m", "bleu", "ter", "--log", "log.jsonl"]
    done = truebleu_command(*words, "--log-note", "first", env=EPOCH)
    assert done.status == 0, done
    lines = [json.loads(line) for line in (log_folder / "log.jsonl").read_text().splitlines()]
    assert [(line["system"], line["metric"]) for line in lines] == [
        *(("one", "BLEU"), ("one", "TER"), ("two", "BLEU"), ("two", "TER"))
    ]
    score = tb.bleu(FIRST, REFERENCE)
    assert lines[0] == {
        "time": "2023-11-14T22:13:20Z",
        "system": "one",
        "metric": "BLEU",
        "score": score.value,
        "signature": str(score.signature),
        "segments": 3,
        "hypothesis": {"file": "one", "sha256": sha256(FIRST)},
        "references": [{"file": "ref", "sha256": sha256(REFERENCE)}],
        "version": tb.__version__,
        "note": "first",
    }
    assert lines[3]["score"] == tb.ter(SECOND, REFERENCE).value


def test_log_does_not_change_output(log_folder, truebleu_command):
    words = ["score", "ref", "-i", "one", "two", "-m", "bleu", "chrf"]
    assert truebleu_command(*words, "--log", "log.jsonl").output == truebleu_command(*words).output


def test_hash_does_not_depend_on_storage_format(log_folder, truebleu_command):
    """The hash is equal for compressed, decoded, column, stdin and side-by-side inputs."""
    (log_folder / "one.gz").write_bytes(gzip.compress(to_bytes(FIRST)))
    (log_folder / "one.latin").write_bytes("\n".join(FIRST).encode("latin-1"))
    rows = [f"{i}\t{a}\t{b}" for i, (a, b) in enumerate(zip(FIRST, REFERENCE, strict=True))]
    (log_folder / "table").write_text("\n".join(rows))
    pairs = zip(REFERENCE, SECOND, strict=True)
    (log_folder / "refs").write_text("".join(f"{a}\t{b}\n" for a, b in pairs))
    for words in (
        ["ref", "-i", "one.gz"],
        ["ref", "-i", "one.latin", "-e", "latin-1"],
        ["table#3", "-i", "table#2"],
        ["ref"],
        ["refs", "-nr", "2", "-i", "one", "two"],
    ):
        done = truebleu_command("score", *words, "--log", "log", input=to_bytes(FIRST))
        assert done.status == 0, done
    *entries, side_one, side_two = log.read_log_entries("log")
    for log_entry in entries:
        assert log_entry.hypothesis.sha256 == sha256(FIRST), log_entry
        assert [text.sha256 for text in log_entry.references] == [sha256(REFERENCE)]
    assert entries[-1].hypothesis.file == "standard input"
    for log_entry in (side_one, side_two):
        assert [text.sha256 for text in log_entry.references] == [sha256(REFERENCE), sha256(SECOND)]


def test_intervals_are_logged_within_same_series(score_one):
    assert (score_one().status, score_one("-ci").status) == (0, 0)
    plain, estimated = log.read_log_entries("log")
    assert plain.low is None
    assert estimated.low <= estimated.score <= estimated.high
    (series,) = tb.history("log").series
    assert len(series.entries) == 2
    assert series.to_dict()["scores"][1]["same_output"]


def test_log_names_need_one_per_system(log_folder, truebleu_command):
    words = ["score", "ref", "-i", "one", "two", "--log", "log", "--log-name"]
    assert truebleu_command(*words, "base", "new").status == 0
    assert [one.name for one in log.read_log_entries("log")] == ["base", "new"]
    done = truebleu_command(*words, "base")
    assert (done.status, "expected one per system" in done.error) == (2, True)


@pytest.mark.parametrize("option", ["--log-name=a", "--log-note=a", "--log-report=a"])
def test_log_options_without_log_are_refused(log_folder, truebleu_command, option):
    done = truebleu_command("score", "ref", "-i", "one", option)
    assert (done.status, "has no effect without --log" in done.error) == (2, True)


def test_failed_scoring_appends_nothing(log_folder, truebleu_command, write):
    write("short", REFERENCE[:1])
    done = truebleu_command("score", "ref", "-i", "one", "short", "--log", "log")
    assert done.status == 1
    assert not (log_folder / "log").exists()


def test_log_cannot_be_output_or_input(log_folder, score_one, truebleu_command):
    assert score_one("-o", "./log").status == 2
    done = truebleu_command("score", "ref", "-i", "one", "--log", "ref")
    assert done.status == 2
    assert "--log: ref is also an input file" in done.error
    assert (log_folder / "ref").read_bytes() == to_bytes(REFERENCE)


def test_file_name_with_invalid_utf8_is_logged(log_folder, truebleu_command):
    name = os.fsdecode(b"one\xff\n")
    try:
        os.rename("one", name)
    except OSError:
        pytest.skip("this file system has no such names")
    assert truebleu_command("score", "ref", "-i", name, "--log", "log").status == 0
    (log_entry,) = log.read_log_entries("log")
    assert log_entry.system == name
    assert truebleu_command("history", "log", "-f", "text").status == 0
    assert "one\\udcff" in truebleu_command("history", "log", "-f", "html").output


# ---- appending ----


def test_appended_entries_are_read_back(tmp_path):
    path = tmp_path / "log"
    full = entry(low=19.5, high=20.5, name="Naïve\u2028 \ud800", note='"\n\\', score=0.1 + 0.2)
    log.append_log_entries(path, [entry(), full])
    log.append_log_entries(path, [entry(30.0)])
    assert log.read_log_entries(path) == [entry(), full, entry(30.0)]


@given(
    st.text(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30)),
)
def test_any_entry_survives_json_round_trip(text, score, time):
    log_entry = entry(score, system=text, note=text, time=time.replace(tzinfo=UTC, microsecond=0))
    line = log_entry.to_line()
    assert line.count(b"\n") == 1
    assert Entry.from_dict(json.loads(line)) == log_entry


@pytest.mark.parametrize("kept_bytes", [10, 200, -1])
def test_incomplete_last_line_prevents_appending(tmp_path, kept_bytes):
    path = tmp_path / "log"
    log.append_log_entries(path, [entry(), entry()])
    complete_log = path.read_bytes()
    path.write_bytes(complete_log + complete_log[: len(complete_log) // 2][:kept_bytes])
    before = path.read_bytes()
    append = partial(log.append_log_entries, entries=[entry()])
    for attempt in (append, log.check_log_is_appendable, log.read_log_entries):
        with pytest.raises(tb.InputError, match=r"log, line 3: (incomplete line|missing newline)"):
            attempt(path)
    assert path.read_bytes() == before


def test_concurrent_appends_do_not_mix(tmp_path):
    path = tmp_path / "log"

    def append_entries(number):
        for i in range(20):
            log.append_log_entries(path, [entry(float(i), system=str(number)) for _ in range(3)])

    threads = [threading.Thread(target=append_entries, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    entries = log.read_log_entries(path)
    assert len(entries) == 4 * 20 * 3
    # Entries of one call are adjacent.
    for i in range(0, len(entries), 3):
        assert len({(one.system, one.score) for one in entries[i : i + 3]}) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX only")
def test_failed_write_leaves_log_unchanged(tmp_path, monkeypatch):
    path = tmp_path / "log"
    log.append_log_entries(path, [entry()])
    before = path.read_bytes()
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:50]))
    with pytest.raises(OSError, match="No space left"):
        log.append_log_entries(path, [entry()])
    assert path.read_bytes() == before


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="no /dev/null")
def test_device_is_refused_as_log():
    with pytest.raises(tb.InputError, match="must be a regular file"):
        log.append_log_entries("/dev/null", [entry()])


# ---- reading ----


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"x", "invalid JSON"),
        (b"[]", "expected a JSON object"),
        (b"\xff", "invalid JSON"),
        (b"[" * 100_000, "invalid JSON"),
        ({"score": None}, "'score': expected a finite number, found None"),
        ({"score": True}, "'score': expected a finite number, found True"),
        ({"score": "20"}, "'score': expected a finite number, found '20'"),
        ({"score": float("nan")}, ""),
        ({"time": "2026-01-02"}, "'time': expected a time with a zone"),
        ({"segments": 0}, "'segments': expected an integer of 1 or more, found 0"),
        ({"hypothesis": {"file": "a", "sha256": "12"}}, "'hypothesis': expected a file with its"),
        ({"references": []}, "'references': expected a list of files"),
        ({"note": 3}, "'note': expected a string, found 3"),
        ({"signature": ...}, "missing key 'signature'"),
    ],
)
def test_invalid_line_is_named(tmp_path, line, problem):
    path = tmp_path / "log"
    if isinstance(line, dict):
        content = {**entry().to_dict(), **line}
        line = json.dumps({k: v for k, v in content.items() if v is not ...}).encode()
    path.write_bytes(entry().to_line() + b"\n" + line + b"\n" + entry().to_line())
    with pytest.raises(tb.InputError, match=f"log, line 3: {problem}"):
        log.read_log_entries(path)


def test_unknown_keys_are_ignored(tmp_path):
    path = tmp_path / "log"
    path.write_text(json.dumps({**entry().to_dict(), "host": "a"}) + "\n")
    assert log.read_log_entries(path) == [entry()]


# ---- series ----


def test_comparable_scores_form_one_series():
    scores = [20.0, 22.5, 21.0]
    history = History([entry(score) for score in scores])
    ((series,), (group,)) = history.series, history.groups
    assert group.warning is None
    assert series.scores == scores
    score_entries = series.to_dict()["scores"]
    assert [one["since_previous"] for one in score_entries] == [None, 2.5, -1.5]
    assert [one["since_first"] for one in score_entries] == [None, 2.5, 1.0]


@pytest.mark.parametrize(
    ("change", "labels", "differ"),
    [
        (
            {"signature": "nrefs:1|case:lc|eff:no|tok:13a|smooth:exp|version:2.6.0"},
            ["case:mixed", "case:lc"],
            "signatures differ",
        ),
        (
            {"references": (Input("ref.en", "0" * 64),)},
            [f"reference ref.en ({sha256(REFERENCE)[:8]})", "reference ref.en (00000000)"],
            "references differ",
        ),
        (
            {"signature": entry().signature + "|by:truebleu-9"},
            ["no by", "by:truebleu-9"],
            "signatures differ",
        ),
    ],
)
def test_incomparable_scores_form_separate_series(change, labels, differ):
    history = History([entry(), entry(30.0, **change), entry(21.0)])
    (group,) = history.groups
    assert [series.scores for series in group.series] == [[20.0, 21.0], [30.0]]
    assert [", ".join(series.differs) for series in group.series] == labels
    assert f"2 separate series: {differ}" in group.warning
    # All formats contain the warning.
    for rendering in (history.text(1000), history.markdown(), history.html(), history.to_json()):
        assert f"separate series: {differ}" in rendering
    assert history.html().count("<svg") == 1


def test_systems_metrics_and_names_form_separate_groups():
    changes = {}, {"system": "other"}, {"metric": "TER"}, {"system": "x", "name": "system.en"}
    groups = History([entry(**change) for change in changes]).groups
    assert [(group.tracked_name, group.metric, group.lower_is_better) for group in groups] == [
        *(("system.en", "BLEU", False), ("other", "BLEU", False), ("system.en", "TER", True))
    ]
    assert len(groups[0].series[0].entries) == 2


def test_reference_order_and_interval_settings_keep_series():
    references = Input("a", "1" * 64), Input("b", "2" * 64)
    bs = "nrefs:1|bs:1000|seed:12345|" + entry().signature.partition("|")[2]
    reordered = entry(references=references[::-1])
    entries = [entry(references=references), reordered, replace(reordered, signature=bs)]
    assert len(History(entries).series) == 1


def test_scores_are_sorted_by_time():
    late = entry(1.0, time=datetime(2027, 1, 1, tzinfo=UTC))
    assert History([late, entry(2.0)]).series[0].scores == [2.0, 1.0]


def test_history_filters_metrics_and_systems(tmp_path):
    path = tmp_path / "log"
    log.append_log_entries(path, [entry(), entry(metric="TER"), entry(system="b", name="c")])
    assert len(tb.history(path, metric="bleu")) == 2
    assert len(tb.history(path, system=["C"])) == 1
    assert len(tb.history(path, system="b", metric=["BLEU"])) == 1
    with pytest.raises(tb.InputError, match=r"no metric 'chrF2' \(found: BLEU, TER\)"):
        tb.history(path, metric="chrF2")


def test_json_contains_complete_entries():
    history = History([entry(), entry(0.1 + 0.2)])
    content = json.loads(history.to_json())
    assert content == history.to_dict()
    (group,) = content["groups"]
    (series,) = group["series"]
    assert series["scores"][1]["score"] == 0.1 + 0.2
    assert Entry.from_dict(series["scores"][0]) == entry()


# ---- charts ----


def test_text_shows_chart_and_table():
    text = History([entry(score, note=f"run {score:.0f}") for score in (20, 24, 22, 27)]).text()
    assert "20.00 ▁▅▃█ 27.00" in text
    assert "22.00       −2.00    +2.00  yes          run 22" in text


def test_long_history_is_drawn_completely():
    text = History([entry(float(i)) for i in range(300)]).text(80)
    chart_lines = [line for line in text.splitlines() if set(line) & set("▁▂▃▄▅▆▇█")]
    assert sum(line.count(bar) for line in chart_lines for bar in "▁▂▃▄▅▆▇█") == 300
    assert max(map(len, chart_lines)) <= 80


def test_empty_log_gives_empty_history(tmp_path):
    (tmp_path / "log").write_bytes(b"")
    history = tb.history(tmp_path / "log")
    for rendering in (history.text(), history.markdown(), history.html()):
        assert "No scores yet." in rendering
    assert history.csv().count("\n") == 1


def read_x_positions(page: str) -> list[float]:
    """Return the horizontal positions of the points in a page's charts."""
    return [float(x) for x in re.findall(r'<circle cx="([\d.]+)" cy="[\d.]+" r="4"><title>', page)]


def test_chart_positions_are_proportional_to_time():
    start = entry().time
    days = [0, 1, 10]
    entries = [replace(entry(20.0 + day), time=start + timedelta(days=day)) for day in days]
    page = History(entries).html()
    first, second, last = read_x_positions(page)
    assert (second - first) / (last - first) == pytest.approx(0.1, abs=0.001)
    assert "time (UTC)" in page
    assert ">BLEU</text>" in page
    # Entries with equal times are spread out.
    assert len(set(read_x_positions(History([entry(), entry(21.0), entry(22.0)]).html()))) == 3


def test_legend_mentions_intervals_only_if_present():
    entry_with_interval = replace(entry(), low=19.0, high=21.0)
    assert ">interval</text>" in History([entry_with_interval, entry_with_interval]).html()
    assert ">interval</text>" not in History([entry(), entry(21.0)]).html()


@pytest.mark.parametrize(
    ("address", "linked"),
    [
        ("report.html", True),
        ("runs/a:b.html", True),
        ("https://example.org/r?a=1&b=2", True),
        ("javascript:alert(1)", False),
        ("data:text/html,x", False),
        ("JavaScript:alert(1)//", False),
    ],
)
def test_only_safe_report_urls_become_links(address, linked):
    page = Page(History([replace(entry(), report=address), entry(21.0)]).html())
    links = [attributes["href"] for _, attributes in page.elements if "href" in attributes]
    # In the chart and in the table.
    assert links == ([address] * 2 if linked else [])
    assert address in page.text


def test_report_location_is_logged(log_folder, score_one, truebleu_command):
    assert score_one("--log-report", "r.html").status == 0
    assert json.loads((log_folder / "log").read_text())["report"] == "r.html"
    assert "r.html" in truebleu_command("history", "log", "-f", "text").output
    assert truebleu_command("history", "log", "-f", "csv").output.splitlines()[1].endswith("r.html")


@pytest.mark.parametrize("attack", HOSTILE_NAMES)
def test_html_escapes_all_text(attack):
    names = dict.fromkeys(("system", "metric", "note"), attack)
    references = (Input(attack, "0" * 64),)
    hostile_entry = entry(**names, signature=f"tok:{attack}", references=references)
    plain_page = Page(History([entry(), entry()]).html())
    history = History([hostile_entry, hostile_entry, replace(hostile_entry, signature="tok:13a")])
    page = Page(history.html())
    assert page.tags <= plain_page.tags | {"h3", "wbr"}
    assert not [name for name in page.attributes if name.startswith("on") or name == "src"]
    assert "tok:13a" in page.text
    history.html().encode()


def test_page_has_no_external_resources():
    page = History([entry(), entry(21.0)]).html()
    style = page.partition("<style>")[2].partition("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'" in page
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")
    assert " style=" not in page
    assert "<svg" in History([entry(), entry()])._repr_html_()


# ---- the command ----


def test_command_writes_all_formats(log_folder, truebleu_command):
    for note in ("a", "b"):
        words = ["score", "ref", "-i", "one", "--log", "log", "--log-note", note]
        assert truebleu_command(*words, env=EPOCH).status == 0
    history = tb.history("log")
    for form, content in {
        "json": history.to_json() + "\n",
        "csv": history.csv(),
        "markdown": history.markdown(digits=2),
        "html": history.html(digits=2),
    }.items():
        assert truebleu_command("history", "log", "-f", form).output == content
    done = truebleu_command("history", "log", "-f", "text", "-w", "4")
    assert f"{tb.bleu(FIRST, REFERENCE).value:.4f}" in done.output
    assert truebleu_command("history", "log", "-o", "page.html").status == 0
    assert (log_folder / "page.html").read_text() == history.html()
    assert truebleu_command("history", "log", "-o", "log").status == 2
    assert truebleu_command("history", "log", "-f", "json", "-w", "1").status == 2


def test_command_explains_separate_series(score_one, truebleu_command):
    assert (score_one().status, score_one("-lc").status) == (0, 0)
    assert "2 separate series" in truebleu_command("history", "log", "-f", "text").output
    done = truebleu_command("history", "log", "-o", "page.html")
    assert "note: one, BLEU: 2 separate series: signatures differ" in done.error
    assert not truebleu_command("history", "log", "-o", "page.html", "-q").error


def test_invalid_log_gives_one_line_error(log_folder, truebleu_command):
    for words in (["history", "ref"], ["history", "missing"], ["history", "ref", "x"]):
        done = truebleu_command(*words)
        assert done.status in (1, 2)
        assert done.error.count("\n") == 1
        assert "Traceback" not in done.error
