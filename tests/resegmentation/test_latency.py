"""Latency equals SimulEval, OmniSTEval and simulstream, in stored cases and on random logs."""

import json
import math
import random
from types import SimpleNamespace

import pytest
from paths import ROOT

import truebleu as tb
from truebleu._kernel import InputError
from truebleu.resegmentation.latency import (
    COMPUTATION_AWARE,
    METRICS,
    TimedSegment,
    count_reference_units,
    divide_log,
    list_segments,
    measure_simultaneity,
    score_latency,
)
from truebleu.resegmentation.logs import (
    SourceSegment,
    match_recordings,
    read_log,
    read_segmentation,
)

OMNISTEVAL_NAMES = {"YAAL": "LongYAAL"}


@pytest.fixture
def write_log(tmp_path):
    """Write the lines of a log, and return its path."""

    def write(records, name="instances.log"):
        path = tmp_path / name
        lines = (record if isinstance(record, str) else json.dumps(record) for record in records)
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path

    return write


# ---- stored cases ----


def parse_score_name(name):
    """Return the metric of a score of SimulEval or OmniSTEval, and whether it has computation."""
    is_aware = name.startswith("ca_") or name.endswith(COMPUTATION_AWARE)
    metric = name.removeprefix("ca_").removesuffix(COMPUTATION_AWARE)
    if metric.startswith("long_"):
        metric = metric.removeprefix("long_").upper()
        metric = OMNISTEVAL_NAMES.get(metric, metric)
    return metric.upper() if metric.islower() else metric, is_aware


def test_stored_short_form_cases_are_equal(golden_cases, write_log):
    lines, compared = {}, 0
    for case in golden_cases("latency"):
        if case["kind"] != "short-form":
            continue
        lines |= {case["id"]: (case["lines"], case["unit"])} if "lines" in case else {}
        records, unit = lines[case["id"]]
        segments = list_segments(read_log(write_log(records), unit))
        for name, score in case["scores"].items():
            metric, is_aware = parse_score_name(name)
            if metric not in METRICS:
                continue
            result = score_latency(metric, segments, computation_aware=is_aware)
            # A log without output has no mean, which is an error in SimulEval.
            mean = None if isinstance(score, str) else score
            assert (case["id"], name, result.value) == (case["id"], name, mean)
            if case.get("segments"):
                assert result.segment_scores == case["segments"][name]
            compared += 1
        if "yaal" in case:
            assert score_latency("YAAL", segments).segment_scores == case["yaal"]
        if "swf" in case["scores"]:
            result = measure_simultaneity(segments)
            expected = [case["scores"][name] for name in ("swf", "efsw", "dsptv")]
            assert list(result.values()) == expected
    assert compared == 188


def test_stored_long_form_cases_are_equal(golden_cases, write_log):
    stored, compared = {}, 0
    for case in golden_cases("latency"):
        if case["kind"] != "long-form":
            continue
        stored = case if "line" in case else stored
        source = [
            SourceSegment(one["wav"], one["offset"], one["duration"])
            for one in stored["segmentation"]
        ]
        references = [(text,) for text in stored["references"]]
        path = write_log([stored["line"]])
        if "simulstream" in case["tool"]:
            segments, _ = divide_log(
                read_log(path), source, references, "mweralign-none", in_seconds=True
            )
            for name, is_aware in (("ideal", False), ("computation_aware", True)):
                result = score_latency("StreamLAAL", segments, computation_aware=is_aware)
                assert result.value == case["scores"][name]
                compared += 1
            continue
        log = read_log(path, fix_elapsed=case["options"]["fix_simuleval_emission_ca"])
        segments, _ = divide_log(log, source, references, "omnisteval")
        for result, expected in zip(segments, case["resegmented"], strict=True):
            assert result.text == expected["prediction"]
            assert result.delays == expected.get("emission_cu", [])
            assert result.elapsed == expected.get("emission_ca", [])
            assert result.source_length == expected["source_length"]
            end = expected.get("time_to_recording_end", result.recording_end)
            assert result.recording_end == end
        assert score_latency("LongYAAL", segments).segment_scores == case["yaal"]
        reread = read_log(write_log(case["resegmented"], "instances.resegmented.jsonl"))
        assert (reread.program, reread.is_long) == ("OmniSTEval", True)
        for name, score in case["scores"].items():
            metric, is_aware = parse_score_name(name)
            if metric in METRICS:
                for one in (segments, list_segments(reread)):
                    result = score_latency(metric, one, computation_aware=is_aware)
                    assert (case["id"], name, result.value) == (case["id"], name, score)
                    compared += 1
    assert compared == 168


# ---- live programs ----


def draw_log(dice, *, unit="word", lines=None):
    """Return lines of a log of SimulEval, some without output."""
    records = []
    for index in range(lines or dice.randint(1, 5)):
        count = dice.choice([0, 1, 2, 5, 12])
        words = dice.choices(["a", "bb", "ccc", "dd", "e", ",", "fg"], k=count)
        delays = sorted(dice.choice([dice.randint(0, 9000), dice.uniform(0, 9000)]) for _ in words)
        elapsed, spent = [], 0.0
        for delay in delays:
            spent += dice.uniform(0, 300)
            elapsed.append(delay + spent)
        joiner = "" if unit == "char" else " "
        words = [word[0] for word in words] if unit == "char" else words
        record = {"index": index, "source": [f"talk{index}.wav"]}
        record |= {"prediction": joiner.join(words), "delays": delays, "elapsed": elapsed}
        reference_words = dice.choices("abc", k=dice.randint(1, 9))
        record["reference"] = dice.choice([" ", "  "]).join(reference_words)
        record["source_length"] = dice.choice([3000, 4500.5, 8000])
        records.append(record)
    return records


CASES = [pytest.param(100, id="100"), pytest.param(3000, id="3000", marks=pytest.mark.thorough)]


@pytest.mark.parametrize("cases", CASES)
@pytest.mark.parametrize("unit", ["word", "char"])
@pytest.mark.filterwarnings("ignore:The 'warn' method is deprecated")
def test_random_logs_equal_simuleval(cases, unit, write_log):
    scorers = pytest.importorskip("simuleval.evaluator.scorers.latency_scorer")
    instance = pytest.importorskip("simuleval.evaluator.instance")
    dice = random.Random(41)
    for _ in range(cases):
        records = draw_log(dice, unit=unit)
        if not any(record["delays"] for record in records):
            continue
        segments = list_segments(read_log(write_log(records), unit))
        expected = {i: instance.LogInstance(json.dumps(r), unit) for i, r in enumerate(records)}
        for metric in ("AL", "LAAL", "AP", "DAL"):
            for is_aware in (False, True):
                scorer = scorers.LATENCY_SCORERS_DICT[metric](computation_aware=is_aware)
                result = score_latency(metric, segments, computation_aware=is_aware)
                assert result.value == scorer(expected)


@pytest.mark.parametrize("cases", CASES)
@pytest.mark.parametrize("unit", ["word", "char"])
def test_random_logs_equal_omnisteval(cases, unit, write_log):
    scoring = pytest.importorskip("omnisteval.scoring")
    loader = pytest.importorskip("omnisteval.io").load_shortform_instances
    dice = random.Random(42)
    for _ in range(cases):
        path = write_log(draw_log(dice, unit=unit))
        segments = list_segments(read_log(path, unit))
        expected, _, _ = scoring.evaluate_instances(
            loader(str(path), None, "delays", "elapsed", char_level=unit == "char"),
            is_longform=False,
            compute_quality=False,
        )
        result = measure_simultaneity(segments)
        values = {name.lower(): value for name, value in result.items()}
        for name, score in expected.items():
            metric, is_aware = parse_score_name(name)
            if metric in METRICS:
                value = score_latency(metric, segments, computation_aware=is_aware).value
            elif name in values:
                value = values[name]
            else:
                continue
            assert value == (None if math.isnan(score) else score), name


LONG_CASES = [pytest.param(5, id="5"), pytest.param(150, id="150", marks=pytest.mark.thorough)]


def draw_recordings(dice, write_log, *, unit="word"):
    """Write a log with one line per recording, its segmentation and references."""
    joiner = "" if unit == "char" else " "
    source, references, records = [], [], []
    for recording in range(dice.randint(1, 3)):
        texts = [dice.choices("abcdefgh", k=dice.randint(1, 6)) for _ in range(dice.randint(1, 4))]
        words = [word for text in texts for word in text if dice.random() > 0.2] or ["a"]
        start = 0.0
        for text in texts:
            offset, duration = start + dice.randint(0, 9) / 8, dice.randint(1, 30) / 10
            source.append({"wav": f"t{recording}.wav", "offset": offset, "duration": duration})
            start = offset + duration
            references.append(joiner.join(text))
        delays = sorted(dice.uniform(0, 1000 * start + 500) for _ in words)
        elapsed = [delay + 40 * i for i, delay in enumerate(delays)]
        times = {"delays": delays, "elapsed": elapsed}
        name = f"folder/t{recording}.wav"
        records.append({"prediction": joiner.join(words), **times, "source": [name]})
    segmentation = write_log(["[", ",\n".join(map(json.dumps, source)), "]"], "segments.json")
    return write_log(records), segmentation, write_log(references, "reference.txt"), references


@pytest.mark.parametrize("cases", LONG_CASES)
@pytest.mark.parametrize("unit", ["word", "char"])
@pytest.mark.parametrize("fixed", [False, True])
def test_random_recordings_equal_omnisteval(cases, unit, fixed, write_log):
    scoring = pytest.importorskip("omnisteval.scoring")
    loading = pytest.importorskip("omnisteval.io")
    divide = pytest.importorskip("omnisteval.resegment").resegment
    dice = random.Random(43)
    method = "omnisteval-char" if unit == "char" else "omnisteval"
    for _ in range(cases):
        path, segmentation, texts, references = draw_recordings(dice, write_log, unit=unit)
        files, is_char = (str(segmentation), None, str(texts), str(path)), unit == "char"
        inputs = loading.load_resegmentation_inputs(
            *files, char_level=is_char, fix_emission_ca_flag=fixed
        )
        instances, _ = divide(*inputs, char_level=is_char)
        expected, _, _ = scoring.evaluate_instances(instances, compute_quality=False)
        segments, _ = divide_log(
            read_log(path, unit, fix_elapsed=fixed),
            read_segmentation(segmentation),
            [(text,) for text in references],
            method,
        )
        assert [one.text for one in segments] == [one.prediction for one in instances]
        for name, score in expected.items():
            metric, is_aware = parse_score_name(name)
            value = score_latency(metric, segments, computation_aware=is_aware).value
            assert value == (None if math.isnan(score) else score), name


def draw_stream(dice, kind):
    """Return the lines of a log of simulstream, in which tokens are replaced later."""
    records, tokens, now = [{"model_loading_time": 3.5}], [], 0.0
    pieces = {"word": "a bb c", "char": "你 好 a", "spm": "\u2581a bb \u2581c \u2581"}
    pieces = pieces[kind].split()
    for recording in range(2):
        records.append({"id": recording, "metadata": {"wav_name": f"folder/t{recording}.wav"}})
        tokens, now = [], 0.0
        for _ in range(dice.randint(1, 8)):
            now += dice.choice([0.5, 1.25])
            deleted = tokens[len(tokens) - dice.choice([0, 0, 1, 2]) :] if len(tokens) > 1 else []
            generated = dice.choices(pieces, k=dice.choice([0, 1, 3]))
            tokens = tokens[: len(tokens) - len(deleted)] + generated
            record = {"id": recording, "total_audio_processed": now}
            record |= {"generated_tokens": generated, "deleted_tokens": deleted}
            records.append(record | {"computation_time": dice.choice([0.1, 0.7])})
    return records


@pytest.mark.parametrize("cases", CASES)
@pytest.mark.parametrize("kind", ["word", "char", "spm"])
def test_random_streams_equal_simulstream(cases, kind, write_log):
    readers = pytest.importorskip("simulstream.metrics.readers")
    dice = random.Random(44)
    unit = "char" if kind == "char" else "word"
    config = SimpleNamespace(detokenizer_type="simuleval", latency_unit=kind)
    for _ in range(cases):
        path = write_log(draw_stream(dice, kind))
        expected = readers.LogReader(config, str(path), unit).final_outputs_and_latencies()
        log = read_log(path, unit, tokens=kind)
        assert [entry.name for entry in log.entries] == list(expected)
        for entry in log.entries:
            output = expected[entry.name]
            assert entry.text == output.final_text
            assert entry.delays == output.ideal_delays
            assert entry.elapsed == output.computational_aware_delays
            assert len(entry.spans) == len(entry.delays)


@pytest.mark.parametrize("cases", LONG_CASES)
@pytest.mark.parametrize("unit", ["word", "char"])
def test_random_recordings_equal_stream_laal(cases, unit, write_log, capfd):
    readers = pytest.importorskip("simulstream.metrics.readers")
    latency = pytest.importorskip("simulstream.metrics.scorers.latency")
    scorer = pytest.importorskip("simulstream.metrics.scorers.latency.stream_laal")
    dice = random.Random(45)
    method = "mweralign-cj" if unit == "char" else "mweralign-none"
    for _ in range(cases):
        path, segmentation, _, references = draw_recordings(dice, write_log, unit=unit)
        log, source = read_log(path, unit), read_segmentation(segmentation)
        segments, _ = divide_log(
            log, source, [(text,) for text in references], method, in_seconds=True
        )
        samples = []
        for recording in dict.fromkeys(one.recording for one in source):
            entry = match_recordings(log.entries, [one.recording for one in source], "s")[recording]
            seconds = ([time / 1000 for time in times] for times in (entry.delays, entry.elapsed))
            output = readers.OutputWithDelays(entry.text, *seconds)
            definitions = [
                readers.ReferenceSentenceDefinition(text, one.offset, one.duration)
                for text, one in zip(references, source, strict=True)
                if one.recording == recording
            ]
            samples.append(latency.LatencyScoringSample(recording, output, definitions))
        expected = scorer.StreamLaal(SimpleNamespace(latency_unit=unit)).score(samples)
        assert score_latency("StreamLAAL", segments).value == expected.ideal_latency
        aware = score_latency("StreamLAAL", segments, computation_aware=True)
        assert aware.value == expected.computational_aware_latency


# ---- definitions ----


def make_segment(delays, *, source_length=4000, reference_length=4, **fields):
    return TimedSegment("", delays, None, source_length, reference_length, **fields)


@pytest.mark.parametrize(
    ("metric", "delays", "score"),
    [
        # Four words, each written when its quarter of the source has been heard: no lag beyond it.
        ("AL", [1000, 2000, 3000, 4000], 1000),
        ("LAAL", [1000, 2000, 3000, 4000], 1000),
        ("DAL", [1000, 2000, 3000, 4000], 1000),
        ("AP", [1000, 2000, 3000, 4000], 0.625),
        # The last word is written at the end of the source, where a system may always write.
        ("YAAL", [1000, 2000, 3000, 4000], 1000),
        # Twice as many words as the reference: AL rewards them, LAAL does not.
        ("AL", [500 * i for i in range(1, 9)], -1250),
        ("LAAL", [500 * i for i in range(1, 9)], 500),
        ("AP", [4000] * 8, 2),
        # Everything is written after the source.
        ("LAAL", [4500, 4500], 4500),
        ("YAAL", [4500, 4500], None),
        ("LAAL", [], None),
    ],
)
def test_latency_of_simple_policies(metric, delays, score):
    assert score_latency(metric, [make_segment(delays)]).value == score


def test_long_yaal_counts_units_until_the_recording_ends():
    segment = make_segment([3000, 5000, 9000], reference_length=3, recording_end=8000)
    assert score_latency("YAAL", [segment]).value == 3000
    assert score_latency("LongYAAL", [segment]).value == (3000 + 5000 - 4000 / 3) / 2


def test_segments_without_output_or_duration_are_skipped_and_counted():
    segments = [make_segment([1000]), make_segment([]), make_segment([1], source_length=0)]
    for metric in METRICS:
        assert score_latency(metric, segments).skipped == 2


def test_undefined_scores_are_skipped_for_empty_character_references():
    segment = make_segment([1000], reference_length=count_reference_units(" ", "char"))
    scores = {metric: score_latency(metric, [segment]).value for metric in METRICS}
    assert [metric for metric, score in scores.items() if score is None] == ["AL", "AP"]


# ---- logs ----

LINE = {"prediction": "a b", "delays": [1, 2], "elapsed": [3, 4], "reference": "a b"}
LINE |= {"source": ["folder/talk.wav", "other line"], "source_length": 5}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "line 2, column 2: not JSON"),
        ("[1]", "line 2: expected a JSON object, found [1]"),
        ('{"prediction": "a"}', "line 2: missing field 'delays'"),
        ('{"delays": [1]}', "line 2: missing field 'prediction'"),
        ({"prediction": None}, "'prediction': expected text, found None"),
        ({"delays": [1]}, "'prediction' has 2 words, but 'delays' has 1 time"),
        ({"delays": [1, 2, 3]}, "has 3 times. The log has one time per character. Use --unit char"),
        ({"delays": [2, 1]}, "'delays' decreases from 2 to 1 at item 2"),
        ({"elapsed": [4, 3]}, "'elapsed' decreases from 4 to 3 at item 2"),
        ({"delays": [1, "2"]}, "'delays', item 2: expected a number, found '2'"),
        ({"delays": [1, math.nan]}, "'delays', item 2: expected a number, found nan"),
        ({"delays": [1, 10**400]}, "'delays', item 2: expected a number, found 1000"),
        ({"delays": 1}, "'delays': expected a list, found 1"),
        ({"elapsed": [3]}, "'delays' has 2 times, but 'elapsed' has 1 time"),
        ({"elapsed": []}, "missing field 'elapsed', which other lines have"),
        ({"source_length": -1}, "'source_length' is negative: -1"),
        ({"source_length": True}, "'source_length': expected a number, found True"),
        ({"durations": [1, 2]}, "speech output is not supported"),
    ],
)
def test_invalid_line_raises_error_with_file_and_line(line, problem, write_log):
    path = write_log([LINE, line if isinstance(line, str) else {**LINE, **line}])
    with pytest.raises(InputError) as error:
        read_log(path)
    assert str(error.value).startswith(f"{path}, line 2")
    assert problem in str(error.value)


@pytest.mark.parametrize("field", ["reference", "source_length"])
def test_missing_field_is_needed_only_without_segmentation(field, write_log):
    path = write_log([{key: value for key, value in LINE.items() if key != field}])
    with pytest.raises(InputError, match=f"line 1: missing field '{field}'"):
        list_segments(read_log(path))
    source = [SourceSegment("talk.wav", 0, 1)]
    assert divide_log(read_log(path), source, [("a b",)], "soft")[0][0].text == "a b"


def test_times_of_text_input_have_no_computation(write_log):
    """SimulEval writes zeros if the source is text."""
    assert read_log(write_log([{**LINE, "elapsed": [0, 0]}])).entries[0].elapsed is None


@pytest.mark.parametrize(
    ("text", "delays"), [("a b", [1, 1, 2]), ("a b", [1, 2]), ("你好", [1, 2])]
)
def test_spaces_may_have_times_of_their_own(text, delays, write_log):
    record = {**LINE, "prediction": text, "delays": delays, "elapsed": delays}
    (entry,) = read_log(write_log([record]), "char").entries
    spans = ["".join(text[slice(*span)]) for span in entry.spans]
    assert spans == [one for one in text if one != " " or len(delays) == 3]


@pytest.mark.parametrize(
    ("records", "problem"),
    [
        ([{"id": 1}], "line 2: no earlier line names the recording with id 1"),
        (
            [{}, {"deleted_tokens": ["x"]}],
            "line 3: 'deleted_tokens' are not the last tokens of the output",
        ),
        (
            [{}, {"total_audio_processed": 0.5}],
            "line 3: 'total_audio_processed' decreases from 1 to 0.5",
        ),
        ([{"deleted_tokens": "b"}], "line 2: 'deleted_tokens': expected a list, found 'b'"),
        ([{"deleted_tokens": [3]}], "line 2: 'deleted_tokens': expected a list of strings"),
    ],
)
def test_invalid_simulstream_log_raises_error_with_line(records, problem, write_log):
    line = {"id": 7, "total_audio_processed": 1, "computation_time": 0.5}
    line |= {"generated_tokens": ["a"], "deleted_tokens": []}
    recording = {"id": 7, "metadata": {"wav_name": "t.wav"}}
    with pytest.raises(InputError) as error:
        read_log(write_log([recording, *(line | record for record in records)]))
    assert problem in str(error.value)


# ---- segmentations ----


def test_yaml_and_json_segmentations_are_equal(write_log):
    pytest.importorskip("yaml")
    lines = [
        "# comment",
        "- {duration: 2.5, offset: 1, speaker_id: s, wav: talk.wav}",
        "- wav: talk.wav",
        "  offset: 4.0",
        "  duration: 1",
    ]
    expected = [SourceSegment("talk.wav", 1, 2.5), SourceSegment("talk.wav", 4.0, 1)]
    assert read_segmentation(write_log(lines, "talk.yaml")) == expected
    items = [{"wav": s.recording, "offset": s.offset, "duration": s.duration} for s in expected]
    assert read_segmentation(write_log([items], "talk.json")) == expected


@pytest.mark.parametrize(
    ("name", "lines", "problem"),
    [
        ("s.yaml", ["- {wav: a, offset: 1}"], "s.yaml, line 1: missing field 'duration'"),
        ("s.yaml", ["- {wav: a, offset: [}"], "s.yaml, line 1: not YAML"),
        ("s.yaml", ["- {wav: a, offset: x, duration: 1}"], "'offset': expected a number"),
        ("s.yaml", ["- {wav: \x01}"], "s.yaml: not YAML: "),
        ("s.yaml", ["- !!python/name:os.system"], "s.yaml, line 1: not YAML"),
        ("s.yaml", ["a: 1"], "s.yaml: expected a list of wav, offset and duration"),
        ("s.yaml", ["-", "- 3"], "s.yaml, line 1: expected an item with wav, offset"),
        ("s.json", ["[1"], "s.json, line 1, column 3: not JSON"),
        ("s.json", ["{}"], "s.json: expected a list of wav, offset and duration"),
        ("s.json", ["[]"], "s.json: no segments"),
        ("s.json", ['[{"wav": "a", "offset": 1, "duration": -1}]'], "segment 1: 'duration' is neg"),
        ("s.json", ['[{"wav": 3, "offset": 1, "duration": 1}]'], "segment 1: 'wav': expected a na"),
    ],
)
def test_invalid_segmentation_raises_error_with_place(name, lines, problem, write_log):
    if name == "s.yaml":
        pytest.importorskip("yaml")
    with pytest.raises(InputError) as error:
        read_segmentation(write_log(lines, name))
    assert problem in str(error.value)


def test_yaml_without_library_suggests_json(write_log, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "yaml", None)
    with pytest.raises(InputError, match=r"PyYAML.*convert the file to JSON"):
        read_segmentation(write_log(["- {wav: a, offset: 1, duration: 2}"], "s.yaml"))


@pytest.mark.parametrize(
    ("name", "recordings", "match"),
    [
        ("folder/talk.wav", ["folder/talk.wav", "talk.wav"], "folder/talk.wav"),
        ("folder/talk.wav", ["talk.wav", "talk"], "talk.wav"),
        ("folder/talk.wav", ["other", "talk"], "talk"),
        ("talk.flac", ["audio/talk.wav"], "audio/talk.wav"),
        ("talk.v1", ["talk.v1.wav", "talk.v2.wav"], "talk.v1.wav"),
    ],
)
def test_recordings_match_by_name_base_name_and_stem(name, recordings, match, write_log):
    names = [name, *(one for one in recordings if one != match)]
    entries = read_log(write_log([{**LINE, "source": name} for name in names])).entries
    assert match_recordings(entries, recordings, "s.yaml")[match] is entries[0]


@pytest.mark.parametrize(
    ("names", "recordings", "problem"),
    [
        (["tolk"], ["talk"], "line 1: no recording 'tolk' in s.yaml; did you mean 'talk'?"),
        (["c/talk"], ["a/talk", "b/talk"], "line 1: several recordings match 'c/talk'"),
        (["talk", "x/talk"], ["talk"], "line 2: duplicate output for recording 'talk'"),
        (["talk"], ["talk", "next"], "s.yaml: the log has no output for recording 'next'"),
        ([[]], ["talk"], "line 1: the line does not name a recording ('source')"),
    ],
)
def test_unknown_and_missing_recordings_raise_error(names, recordings, problem, write_log):
    log = read_log(write_log([{**LINE, "source": name} for name in names]))
    with pytest.raises(InputError) as error:
        match_recordings(log.entries, recordings, "s.yaml")
    assert problem in str(error.value)


# ---- segments with delays ----

TALKS_FOLDER = ROOT / "examples" / "talks"


@pytest.mark.parametrize("method", ["soft", "omnisteval", "as-wer"])
def test_resegmented_log_has_the_delays_of_each_segment(method, truebleu_command):
    """The delays are those from which `truebleu latency` computes scores."""
    references = (TALKS_FOLDER / "reference.en").read_text("utf-8").splitlines()
    log_path, segmentation = TALKS_FOLDER / "birch.log", TALKS_FOLDER / "segments.json"
    source = read_segmentation(segmentation)
    rows = [(text,) for text in references]
    expected, _ = divide_log(read_log(log_path), source, rows, method)
    result = tb.resegment(log_path, references, method, times=segmentation)
    assert result.delays == [segment.delays for segment in expected]
    assert result.elapsed == [segment.elapsed for segment in expected]
    assert result.segments == [segment.text for segment in expected]
    assert [len(times) for times in result.delays] == [len(text.split()) for text in result]
    options = ["--segments", segmentation, "--resegment", method, "-q"]
    command = ["resegment", TALKS_FOLDER / "reference.en", "-i", log_path, *options]
    lines = truebleu_command(*command, "-f", "jsonl").output.splitlines()
    assert [json.loads(line)["delays"] for line in lines] == result.delays
    _, *lines = truebleu_command(*command, "-f", "tsv").output.splitlines()
    delays = [" ".join(map(str, times)) for times in result.delays]
    assert [line.split("\t")[-2] for line in lines] == delays


def test_units_of_a_log_are_found_without_an_option(write_log, write):
    log = write_log([{"prediction": "你好世界", "delays": [1, 2, 3, 4], "source": ["a"]}])
    segments = json.dumps([{"wav": "a", "offset": 0, "duration": 1}] * 2)
    result = tb.resegment(log, ["你好", "世界"], times=write("segments.json", [segments]))
    assert (result.segments, result.delays) == (["你好", "世界"], [[1, 2], [3, 4]])
    assert result.elapsed is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--docs", "REF"], "--docs and --segments are mutually exclusive"),
        (["--hyp-docs", "REF"], "--hyp-docs and --segments are mutually exclusive"),
        (["--unit", "char"], "The log has one time per word. Use --unit word."),
        (["--tokens", "spm"], "SimulEval logs have no tokens to join"),
    ],
)
def test_option_that_does_not_fit_the_log_is_refused(options, message, truebleu_command):
    reference = TALKS_FOLDER / "reference.en"
    options = [reference if word == "REF" else word for word in options]
    command = ["resegment", reference, "-i", TALKS_FOLDER / "cedar.log", *options]
    result = truebleu_command(*command, "--segments", TALKS_FOLDER / "segments.json")
    assert message in result.error
    assert result.output == ""


def test_segments_out_of_order_are_refused_and_overlaps_are_not(write):
    def read(*offsets):
        rows = [{"wav": wav, "offset": offset, "duration": 3} for wav, offset in offsets]
        return read_segmentation(write("segments.json", [json.dumps(rows)]))

    assert len(read(("a", 0), ("a", 2), ("b", 0), ("a", 2))) == 4
    message = r"segment 3: 'offset' goes back from 5 to 2 \(expected .* of a in order"
    with pytest.raises(InputError, match=message):
        read(("a", 5), ("b", 0), ("a", 2))


def test_repeated_words_have_their_own_times(write_log, write):
    """SLTev gives a repeated word the time of its first occurrence."""
    words = "no no no yes no"
    log = write_log([{"prediction": words, "delays": [1, 2, 3, 4, 5], "source": ["a"]}])
    rows = [{"wav": "a", "offset": offset, "duration": 0.001} for offset in (0, 0.002)]
    segmentation = write("segments.json", [json.dumps(rows)])
    result = tb.resegment(log, ["no no no", "yes no"], times=segmentation)
    assert (result.segments, result.delays) == (["no no no", "yes no"], [[1, 2, 3], [2, 3]])
