"""`truebleu latency`, and latency metrics in `truebleu compare`."""

import json
import re
from pathlib import Path

import pytest
from paths import ROOT

import truebleu as tb

SEGMENTS = [
    {"wav": "talk.wav", "offset": 1.0, "duration": 2.5},
    {"wav": "talk.wav", "offset": 4.0, "duration": 2.0},
    {"wav": "talk.wav", "offset": 6.5, "duration": 2.25},
]
REFERENCES = ["the ferry leaves at nine", "we take the first train", "it rains on the harbour"]
WORDS = " ".join(REFERENCES).split()


def make_short_lines(shift=0):
    """Return a log in which every word lags 400 ms, or more by `shift`."""
    return [
        {
            "prediction": text,
            "delays": [500 * i - 100 + shift for i in range(1, 6)],
            "elapsed": [520 * i - 100 + shift for i in range(1, 6)],
            "reference": text,
            "source": [f"{text[:3]}.wav"],
            "source_length": 2500,
        }
        for text in REFERENCES
    ]


def make_recording(shift=0, count=15):
    delays = [1500 + 450 * i + shift for i in range(count)]
    return [
        {
            "prediction": " ".join(WORDS[:count]),
            "delays": delays,
            "elapsed": [delay + 50 for delay in delays],
            "source": ["folder/talk.wav"],
        }
    ]


def write_log(write, name, lines):
    return write(name, map(json.dumps, lines))


@pytest.fixture(autouse=True)
def folder(write, monkeypatch, tmp_path):
    """Write logs of two systems, a segmentation and references to the working directory."""
    monkeypatch.chdir(tmp_path)
    write_log(write, "fast.log", make_short_lines())
    write_log(write, "slow.log", make_short_lines(500))
    write_log(write, "bare.log", [{**one, "elapsed": []} for one in make_short_lines()])
    write_log(write, "long.log", make_recording())
    write_log(write, "late.log", make_recording(900, 12))
    write_log(write, "talk.json", [SEGMENTS])
    for name in ("reference.en", "fast.en", "slow.en"):
        write(name, REFERENCES)


@pytest.fixture
def run_latency(truebleu_command):
    """Return a function that runs `truebleu latency` and returns its output."""

    def run(words, command="latency"):
        result = truebleu_command(command, *words.split())
        assert (result.status, result.error) == (0, ""), result
        return result.output

    return run


def test_text_begins_with_verdict_and_fits_80_columns(run_latency):
    output = run_latency("fast.log slow.log reference.en")
    verdict = " ".join(output.partition("\n\n")[0].split())
    # Shifting every delay by 500 ms shifts LAAL by 500 ms.
    assert verdict.startswith(
        "fast has the smallest lag behind the source, 400 ms (LAAL), but not significantly: "
        "−500 ms against slow, p = "
    )
    assert "BLEU: fast 100.0, slow 100.0." in verdict
    tables = [line for line in output.splitlines() if not line.startswith("BLEU|")]
    assert max(map(len, tables)) <= 80


@pytest.mark.parametrize("form", ["json", "tsv", "csv", "markdown", "latex", "html"])
def test_every_format_has_one_row_per_log(form, run_latency):
    output = run_latency(f"fast.log slow.log -f {form}")
    if form == "json":
        assert [system["name"] for system in json.loads(output)["systems"]] == ["fast", "slow"]
    elif form in ("tsv", "csv"):
        header, *rows = [line.split("\t" if form == "tsv" else ",") for line in output.splitlines()]
        records = [dict(zip(header, row, strict=True)) for row in rows]
        assert [(one["system"], one["LAAL"], one["LAAL_skipped"]) for one in records] == [
            *(("fast", "400.0", "0"), ("slow", "900.0", "0"))
        ]
        assert {"LAAL_low", "AP_CA_high", "DSPTV"} <= set(header)
    else:
        assert output.count("fast") >= 3
        assert "400" in output


def test_html_plots_quality_and_latency_with_pareto_line(run_latency):
    page = run_latency("fast.log slow.log reference.en -f html")
    (picture,) = re.findall("<svg.*?</svg>", page, re.DOTALL)
    # Both have the same BLEU, so the slow system is not on the line.
    assert re.findall("<text[^>]*>(fast|slow)</text>", picture) == ["fast", "slow"]
    assert picture.count("<circle") == 2
    (line,) = re.findall('<polyline[^>]* points="([^"]*)"', picture)
    assert line.count(",") == 1
    assert "without being worse in the other: fast." in page
    assert "LAAL (ms, lower is better)" in picture


@pytest.mark.parametrize("words", ["fast.log slow.log", "fast.log reference.en"])
def test_html_has_no_plot_without_quality_or_second_system(words, run_latency):
    assert "<svg" not in run_latency(f"{words} -f html")


def test_scale_and_width_apply_to_text(run_latency):
    text = run_latency("fast.log reference.en --scale 1 -w 2")
    assert "; BLEU is 1.000." in " ".join(text.split())
    assert "0/3  400.00 ± 0.00  1.00 ± 0.00" in text


def test_python_returns_the_output_of_the_command(run_latency):
    result = tb.latency(["fast.log", "slow.log"], Path("reference.en"))
    content = json.loads(run_latency("fast.log slow.log reference.en -f json"))
    assert content == result.to_dict()
    assert result.scores["slow"]["LAAL"] == 900
    assert tb.Latency.from_json(result.to_json()) == result
    assert repr(result) == result.text(80).rstrip("\n")


def test_recordings_are_divided_into_segments(run_latency):
    content = json.loads(run_latency("long.log --segments talk.json reference.en -f json"))
    (system,) = content["systems"]
    assert content["form"] == "long"
    assert (system["segments"], system["empty"]) == (3, 0)
    assert list(system["scores"])[:2] == ["LongYAAL", "StreamLAAL"]
    assert system["scores"]["BLEU"]["score"] == pytest.approx(100)
    assert "|reseg:soft-words+docs|" in content["signatures"]["BLEU"]
    assert system["resegmentation"]["StreamLAAL"]["method"] == "mweralign-none-1.4.1+docs"
    # The same segments, so StreamLAAL in seconds is LAAL in milliseconds.
    stream, laal = (system["scores"][name]["score"] for name in ("StreamLAAL", "LAAL"))
    assert stream * 1000 == pytest.approx(laal)


def test_segments_without_output_are_counted(run_latency):
    output = run_latency("late.log --segments talk.json reference.en -f json")
    scores = json.loads(output)["systems"][0]["scores"]
    # Two words of the last segment are missing; the others come before the recording ends.
    assert scores["LongYAAL"]["skipped"] == 0
    text = run_latency("fast.log -ci 0")
    assert "skipped" in text
    assert "0/3" in text


def test_empty_segments_are_left_out_of_the_mean_and_noted(run_latency, write):
    *lines, last = make_short_lines()
    lines.append({**last, "prediction": "", "delays": [], "elapsed": []})
    write_log(write, "gap.log", lines)
    text = " ".join(run_latency("gap.log").split())
    assert "gap: 1 of 3 segments has no output; latency leaves it out." in text
    assert "gap 1/3 400 ± 0" in text


def test_language_without_spaces_measures_characters(run_latency, write):
    line = {"prediction": "天气好", "delays": [1, 2, 3]}
    write_log(write, "zh.log", [{**line, "reference": "天气很好", "source_length": 9}])
    by_language = json.loads(run_latency("zh.log -l zh -f json"))
    assert by_language == json.loads(run_latency("zh.log --unit char -f json"))
    assert by_language["unit"] == "char"
    assert by_language["systems"][0]["scores"]["AP"]["score"] == 6 / (9 * 4)


def test_accumulated_computation_is_removed_on_request(run_latency):
    plain, fixed = (
        json.loads(run_latency(f"fast.log -f json {option}"))["systems"][0]["scores"]
        for option in ("", "--fix-elapsed")
    )
    assert plain["LAAL"] == fixed["LAAL"]
    # 20 ms per word, instead of 20, 40, 60, 80 and 100 ms.
    assert plain["LAAL_CA"]["score"] - plain["LAAL"]["score"] == pytest.approx(60)
    assert fixed["LAAL_CA"]["score"] - fixed["LAAL"]["score"] == pytest.approx(20)


def test_empty_references_of_a_log_are_reported(run_latency, write):
    write_log(write, "empty.log", [{**one, "reference": ""} for one in make_short_lines()])
    note = "the references of 3 of 3 segments in the log are empty"
    assert note in " ".join(run_latency("empty.log").split())
    assert note not in " ".join(run_latency("empty.log reference.en").split())


def test_waiting_for_the_source_is_reported_as_degenerate(run_latency, write):
    lines = [{**one, "delays": [100] * 2 + [2500] * 3, "elapsed": []} for one in make_short_lines()]
    write_log(write, "wait.log", lines)
    text = " ".join(run_latency("wait.log").split())
    assert "wait: the policy is probably degenerate: DSPTV is +" in text


def test_standard_input_is_a_log(truebleu_command):
    data = Path("fast.log").read_bytes()
    output = truebleu_command("latency", "-", "reference.en", input=data).output
    assert "400 ms behind the source" in output


@pytest.mark.parametrize(
    ("logs", "options", "error", "problem"),
    [
        (3, {}, TypeError, "logs: expected one or more paths, found int"),
        ([3], {}, TypeError, "logs: 3: expected a path, found int"),
        ([], {}, tb.InputError, "logs: expected at least one log"),
        ("x.log", {"unit": "line"}, ValueError, "unknown unit 'line'"),
        ("x.log", {"tokens": "bpe"}, ValueError, "unknown tokens 'bpe'"),
        ("x.log", {"confidence": 0}, ValueError, "confidence=0: expected a whole number"),
        ("x.log", {"method": "nope"}, ValueError, "unknown re-segmentation method 'nope'"),
        ("x.log", {"method": "as-wer"}, ValueError, "method has no effect without segments"),
        ("x.log", {"samples": 3}, TypeError, "has no parameter 'samples'"),
        ("x.log", {"segments": "x.json"}, tb.InputError, "segments: missing references"),
        ("x.log", {"references": ["a", 3]}, tb.InputError, "references, segment 2: expected text"),
    ],
)
def test_invalid_argument_in_python_raises_error(logs, options, error, problem):
    with pytest.raises(error, match=problem):
        tb.latency(logs, **options)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("", "missing LOG"),
        ("reference.en", "reference.en, line 1, column 1: not JSON"),
        ("missing.log", "missing.log: No such file or directory"),
        ("fast.log --segments talk.json", "--segments: missing REF"),
        ("fast.log late.log", "late.log, line 1: missing field 'reference'"),
        ("late.log reference.en", "late.log: 1 segment for 3 references. If the lines are"),
        ("fast.log --resegment sofft", "--resegment: unknown re-segmentation method"),
        ("fast.log --unit char", "'prediction' has 20 characters, but 'delays' has 5 times"),
        ("fast.log --resegment as-wer", "--resegment has no effect without --segments"),
        ("fast.log --tokens spm", "fast.log: SimulEval logs have no tokens to join"),
        ("bare.log --fix-elapsed", "bare.log: only SimulEval logs with 'elapsed'"),
        ("fast.log -l xx", "-l/--language: unknown language 'xx'"),
        ("fast.log --segments talk.json reference.en", "fast.log, line 1: no recording 'the.w"),
    ],
)
def test_invalid_command_gives_one_error(words, problem, read_error):
    assert problem in read_error((1, 2), "latency", *words.split())


def test_compare_tests_latency_next_to_quality(run_latency):
    scores = "LAAL=fast.log slow.log LAAL_CA=fast.log slow.log"
    words = f"reference.en -i fast.en slow.en -f json -q --scores {scores}"
    content = json.loads(run_latency(words, command="compare"))
    metrics = {metric["name"]: metric for metric in content["metrics"]}
    directions = [metrics[name]["higher_is_better"] for name in ("BLEU", "LAAL", "LAAL_CA")]
    assert directions == [True, False, False]
    assert {system["scores"]["LAAL"]["score"] for system in content["systems"]} == {400, 900}


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("COMET=fast.log slow.log", "fast.log: a log of a simultaneous system has no COMET"),
        ("LAAL=fast.log", "a log contains only one system"),
        ("YAAL=fast.log end.log", "end.log, line 1: cannot compute YAAL, because the segment has"),
    ],
)
def test_compare_rejects_logs_without_the_scores(words, problem, read_error, write):
    lines = [{**one, "delays": [2500] * 5, "elapsed": []} for one in make_short_lines()]
    write_log(write, "end.log", lines)
    command = ("compare", "reference.en", "-i", "fast.en", "slow.en", "--scores", *words.split())
    assert problem in read_error(1, *command)


def test_how_to_page_shows_current_output(truebleu_command):
    """On the example logs, in the terminal of the page."""
    page = (ROOT / "docs" / "how-to" / "simultaneous-translation.md").read_text("utf-8")
    example = page.partition("```console\n$ truebleu ")[2].partition("```")[0]
    command, _, output = example.partition("\n")
    assert truebleu_command(*command.split(), cwd=ROOT).output == output


def test_latency_metrics_refuse_text(read_error):
    error = read_error(2, "score", "reference.en", "-i", "fast.en", "-m", "laal")
    assert "metric 'laal' needs delays, which text does not have. Use truebleu" in error
