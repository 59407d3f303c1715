"""Subtitles: readers of SRT and WebVTT, and the methods `suber` and `time`, equal to SubER."""

import gzip
import json
import random
import string
import unicodedata
from dataclasses import asdict
from itertools import product

import pytest

import truebleu as tb
from truebleu._kernel import InputError
from truebleu.resegmentation.methods import align_words
from truebleu.resegmentation.subtitles import read_subtitles

REFERENCE = """\
1
00:00:01,000 --> 00:00:03,500
The ferry leaves at nine,
so we should hurry.

2
00:00:04,000 --> 00:00:06,000
It rains.
"""
WORDS = ["rain", "Rain.", "the", "boat", "-", "…", "it's", "its", "<b>up</b>", "&amp;", "é", "!"]

# ---- readers ----


def write_text(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def write_srt(path, lines):
    """Write a subtitle per line, of less than a second each."""
    block = "{0}\n00:00:0{0},000 --> 00:00:0{0},900\n{1}\n\n"
    blocks = [block.format(number, line) for number, line in enumerate(lines, 1)]
    return write_text(path.parent, path.name, "".join(blocks))


def read_texts(subtitles, *options):
    return list(read_subtitles(subtitles, *options).read_lines())


def test_srt_gives_texts_times_and_breaks(tmp_path):
    subtitles = read_subtitles(write_text(tmp_path, "a.srt", REFERENCE))
    texts = ["The ferry leaves at nine, so we should hurry.", "It rains."]
    assert list(subtitles.read_lines()) == texts
    assert subtitles.times == [(1.0, 3.5), (4.0, 6.0)]
    with_breaks = ["The ferry leaves at nine, eol so we should hurry. eob", "It rains. eob"]
    assert read_texts(subtitles, "words") == with_breaks
    first, second, last = (" ".join(["<mask>"] * n) for n in (5, 4, 2))
    assert read_texts(subtitles, "only") == [f"{first} eol {second} eob", f"{last} eob"]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: f"\ufeff{text}",
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace(",000", ".000").replace(",500", ".500"),
        lambda text: text.replace("\n00:00:01", "\n\n00:00:01"),
        lambda text: f"\n\n{text}\n\n",
        lambda text: text.replace("It rains.", "<i>It</i>   rains."),
        lambda text: text.replace("06,000", "06,000  X1:10 X2:20"),
    ],
)
def test_variants_of_srt_give_equal_blocks(tmp_path, change):
    path = write_text(tmp_path, "a.srt", change(REFERENCE))
    expected = read_subtitles(write_text(tmp_path, "b.srt", REFERENCE)).blocks
    assert read_subtitles(path).blocks == expected


def test_compressed_srt_is_read(tmp_path):
    path = tmp_path / "a.SRT.gz"
    path.write_bytes(gzip.compress(REFERENCE.encode()))
    assert len(read_subtitles(path).blocks) == 2


def test_srt_entities_and_long_tags_stay(tmp_path):
    text = "1\n00:00:01,0 --> 00:00:02,5\n<font>A &amp; b</font> <b>c</b>\n"
    subtitles = read_subtitles(write_text(tmp_path, "a.srt", text))
    assert list(subtitles.read_lines()) == ["<font>A &amp; b</font> c"]
    assert subtitles.times == [(1.0, 2.5)]


def test_block_without_words_is_an_empty_text(tmp_path):
    text = REFERENCE.replace("It rains.", "<i></i>")
    assert read_texts(write_text(tmp_path, "a.srt", text))[1] == ""


def test_webvtt_is_read_without_names_settings_notes_and_styles(tmp_path):
    text = """\
WEBVTT - a talk
Kind: captions

NOTE nothing to
score --> here

STYLE
::cue { color: red }

first cue
00:01.000 --> 00:03.500 align:start
<v Anna>The ferry leaves at nine,</v>
so we <00:02.500><c.loud>should</c> hurry.

01:00:04.000 --> 01:00:06.000
Rain &amp; wind
"""
    subtitles = read_subtitles(write_text(tmp_path, "a.vtt", text))
    texts = ["The ferry leaves at nine, so we should hurry.", "Rain & wind"]
    assert list(subtitles.read_lines()) == texts
    assert subtitles.times == [(1.0, 3.5), (3604.0, 3606.0)]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.srt", "It rains.\n", "a.srt, line 1: expected the number of a subtitle"),
        ("a.srt", REFERENCE.replace("2\n00", "00"), "line 6: expected the number of a subtitle"),
        ("a.srt", "1\nIt rains.\n", "a.srt, line 2: expected times such as"),
        ("a.srt", f"{REFERENCE}\n3\n", "a.srt, line 10: expected times such as"),
        ("a.srt", REFERENCE.replace("04,000 -->", "04,000 ->"), "line 7: expected times such as"),
        ("a.srt", REFERENCE.replace("00:00:04,000", "00:00:00,000"), "line 7: .*previous one"),
        ("a.srt", REFERENCE.replace("03,500", "00,500"), "line 2: .*ends before it starts"),
        ("a.vtt", REFERENCE, "a.vtt, line 1: expected 'WEBVTT'"),
        ("a.vtt", "WEBVTT\n\ncue\nIt rains.\n", "a.vtt, line 4: expected times such as"),
        ("a.txt", REFERENCE, "a.txt: unknown subtitle format"),
    ],
)
def test_invalid_file_is_an_error_with_file_and_line(tmp_path, name, text, message):
    with pytest.raises(InputError, match=message):
        read_subtitles(write_text(tmp_path, name, text))


# ---- equality with SubER ----

SIDES = ("hypothesis", "reference")


def test_suber_golden_cases_are_equal(golden_cases):
    cases = golden_cases("suber-levenshtein")
    for case in cases:
        result = tb.resegment(case["hyp"], case["refs"], "suber")
        assert (case["id"], result.segments) == (case["id"], case["output"])
    assert len(cases) == 97


def normalize_like_jiwer(text):
    words = text.lower().split()
    kept = ["".join(c for c in word if unicodedata.category(c)[0] != "P") for word in words]
    return " ".join(word for word in kept if word)


def normalize_like_cer(text):
    """SubER also counts the spaces that punctuation leaves at the beginning; our CER does not."""
    text = text.replace(" ", "\N{OPEN BOX}")
    return "".join(c for c in text if unicodedata.category(c)[0] != "P").lower()


def tokenize_like_ter(text):
    sacrebleu = pytest.importorskip("sacrebleu.tokenizers.tokenizer_ter")
    return sacrebleu.TercomTokenizer(normalized=True, case_sensitive=True)(text)


# The metric, and what SubER does to the text before scoring.
SCORES = {
    "BLEU": (tb.BLEU(), str),
    "TER": (tb.TER(), str),
    "chrF": (tb.CHRF(), str),
    "WER": (tb.WER(), normalize_like_jiwer),
    "CER": (tb.CER(), normalize_like_cer),
    "WER-cased": (tb.WER(), tokenize_like_ter),
}
BREAKS = {"seg": "words", "br": "only"}


def test_subtitle_golden_cases_are_equal(golden_cases, tmp_path):
    compared = set()
    for case in golden_cases("subtitles"):
        hypothesis, reference = (write_text(tmp_path, f"{side}.srt", case[side]) for side in SIDES)
        for method, key in (("suber", "levenshtein"), ("time", "time")):
            result = tb.resegment(hypothesis, reference, method)
            assert "".join(f"{text}\n" for text in result) == case["aligned"][key], case["id"]
        for name, expected in case["scores"].items():
            prefix, _, score_name = name.partition("-")
            if prefix not in ("AS", "t"):
                continue
            score_name, _, end = score_name.partition("-")
            method = "suber" if prefix == "AS" else "time"
            if end in BREAKS:
                method = f"{method}-{end}"
            else:
                score_name = f"{score_name}-{end}" if end else score_name
            metric, normalize = SCORES[score_name]
            result = tb.resegment(hypothesis, reference, method)
            references = read_subtitles(reference, BREAKS.get(end, "none")).read_lines()
            score = metric.score(list(map(normalize, result)), list(map(normalize, references)))
            assert round(score.value, 3) == expected, (case["id"], name)
            compared.add(name)
    assert len(compared) == 15


def draw_srt(dice, words=WORDS):
    """Return random subtitles; some are empty, some overlap or leave gaps."""
    blocks, start = [], dice.randrange(2000)
    for number in range(1, dice.randrange(1, 8)):
        end = start + dice.randrange(1, 3000)
        lines = [
            " ".join(dice.choices(words, k=dice.randrange(1, 5)))
            for _ in range(dice.choice([0, 1, 1, 2]))
        ]
        times = [f"00:00:{time // 1000:02},{time % 1000:03}" for time in (start, end)]
        blocks.append("\n".join([str(number), " --> ".join(times), *lines]))
        start = max(start, end + dice.choice([-500, 0, 0, 800]))
    return "\n\n".join(blocks) + "\n"


@pytest.fixture
def suber_methods():
    alignment = pytest.importorskip("suber.hyp_to_ref_alignment")
    return {
        "suber": alignment.levenshtein_align_hypothesis_to_reference,
        "time": alignment.time_align_hypothesis_to_reference,
    }


def read_with_suber(paths):
    readers = pytest.importorskip("suber.file_readers")
    return [readers.SRTFileReader(str(path)).read() for path in paths]


def format_like_suber(segments, **options):
    to_text = pytest.importorskip("suber.utilities").segment_to_string
    texts = (to_text(segment, **options) for segment in segments)
    return [text.replace("<eol>", "eol").replace("<eob>", "eob") for text in texts]


def test_random_subtitles_equal_live_program(suber_methods, tmp_path):
    ends = {
        "": {},
        "-seg": {"include_line_breaks": True},
        "-br": {"include_line_breaks": True, "mask_all_words": True},
    }
    dice = random.Random(11)
    lost = 0
    for _ in range(600):
        paths = [write_text(tmp_path, f"{side}.srt", draw_srt(dice)) for side in SIDES]
        ours = [read_subtitles(path) for path in paths]
        theirs = read_with_suber(paths)
        for subtitles, blocks in zip(ours, theirs, strict=True):
            assert list(subtitles.read_lines()) == format_like_suber(blocks)
            assert subtitles.times == [(block.start_time, block.end_time) for block in blocks]
            assert [time for block in subtitles.blocks for time in block.get_word_times()] == [
                word.approximate_word_time for block in blocks for word in block.word_list
            ]
        if not ours[1].blocks:
            continue
        for (method, align), (end, options) in product(suber_methods.items(), ends.items()):
            aligned = align(*theirs)
            result = tb.resegment(*ours, f"{method}{end}")
            assert result.segments == format_like_suber(aligned, **options)
            count = sum(len(segment.word_list) for segment in aligned)
            words = sum(len(segment.word_list) for segment in theirs[0])
            assert result.lost == words - count
            lost += result.lost
    assert lost


EAST_ASIAN_WORDS = {
    "zh": ["我们今天去公园。", "你好，世界", "ABC公司", "“好”", "3.5公里…", "—", "天气", "no!"],
    "ja": ["今日は天気がいい。", "公園に行きましょう", "「はい」", "ABC社の", "3.5", "…", "ねえ、"],
    "ko": ["오늘은", "날씨가", "좋네요.", "“네”", "공원에", "가자!", "-", "ABC사의", "3.5"],
}


@pytest.mark.parametrize("language", EAST_ASIAN_WORDS)
def test_random_east_asian_subtitles_equal_live_program(language, suber_methods, tmp_path):
    count_edits = pytest.importorskip("suber.metrics.suber").calculate_SubER
    dice = random.Random(13)
    divided_words = 0
    for _ in range(100):
        words = EAST_ASIAN_WORDS[language]
        paths = [write_text(tmp_path, f"{side}.srt", draw_srt(dice, words)) for side in SIDES]
        theirs = read_with_suber(paths)
        if not theirs[1]:
            continue
        for (method, align), is_seg in product(suber_methods.items(), (False, True)):
            aligned = align(*theirs, language)
            expected = format_like_suber(aligned, include_line_breaks=is_seg)
            name = f"{method}-seg-{language}" if is_seg else f"{method}-{language}"
            result = tb.resegment(*paths, name)
            assert result.segments == expected
            assert result.signature == f"{name}-0.4.0"
            word_count = sum(
                len(segment.text.split()) for segment in read_subtitles(paths[0]).blocks
            )
            divided_words += len(" ".join(expected).split()) > word_count
        for cased in (False, True):
            metric = "SubER-cased" if cased else "SubER"
            score = tb.suber(*paths, cased=cased, language=language)
            assert round(score.value, 3) == count_edits(*theirs, metric, language=language)
    assert divided_words


def test_chinese_words_are_divided_as_in_suber(tmp_path):
    """Expected values: SubER 0.4.0 with --language zh."""
    files = [
        write_srt(tmp_path / "hyp.srt", ["我们今天去公园。你好，", "世界！"]),
        write_srt(tmp_path / "ref.srt", ["我们今天去公园。", "你们好，世界！"]),
    ]
    assert tb.resegment(*files, "suber-zh").segments == ["我们今天去公园。", "你好， 世界！"]
    assert tb.resegment(*files, "suber").segments == ["我们今天去公园。你好，", "世界！"]
    score = tb.suber(*files, language="zh")
    assert (score.edits, score.reference_length) == (5, 14)
    with pytest.raises(ValueError, match="unknown language 'de'; available: zh, ja, ko"):
        tb.suber(*files, language="de")


@pytest.mark.parametrize(("options", "method"), [(["-l", "en-zh"], "suber-zh"), ([], "suber")])
def test_language_option_divides_words_as_in_suber(options, method, tmp_path, truebleu_command):
    """The last subtitle has no counterpart, so the numbers of subtitles differ."""
    hypothesis = write_srt(tmp_path / "hyp.srt", ["你好，世界！我们去"])
    reference = write_srt(tmp_path / "ref.srt", ["你好，世界！", "我们去"])
    words = ["score", reference, "-i", hypothesis, "--resegment", "suber", *options, "-f", "text"]
    assert f"reseg:{method}-0.4.0|" in truebleu_command(*words).output


@pytest.mark.parametrize("alphabet", [2, 3, 6, 40])
@pytest.mark.parametrize("length", [3, 12, 40, 64, 65, 129, 400])
def test_random_words_equal_live_program(alphabet, length):
    library = pytest.importorskip("suber.lib_levenshtein")
    dice = random.Random(alphabet)
    letters = string.printable[:alphabet]
    for _ in range(20_000 // length**2 + 20):
        reference = "".join(dice.choices(letters, k=length))
        kept = [letter for letter in reference if dice.random() < 0.9]
        hypothesis = "".join(
            dice.choice(letters) if dice.random() < 0.3 else letter for letter in kept
        )
        if dice.random() < 0.3:
            hypothesis = "".join(dice.choices(letters, k=dice.randrange(length)))
        pairs = [None] * len(hypothesis)
        before = [0] * len(hypothesis)
        edits = library.editops(reference, hypothesis)
        for tag, row, row_end, column, column_end in library.opcodes(reference, hypothesis):
            for index in range(column, column_end):
                is_pair = tag in ("equal", "replace")
                pairs[index] = row + index - column if is_pair else None
                before[index] = pairs[index] + 1 if is_pair else row_end
        assert align_words(reference, hypothesis) == (pairs, before, len(edits))


# ---- SubER ----


def test_suber_scores_and_edits_equal_golden_cases(golden_cases, tmp_path):
    for case in golden_cases("subtitles"):
        paths = [write_text(tmp_path, f"{side}.srt", case[side]) for side in SIDES]
        for name, cased in (("SubER", False), ("SubER-cased", True)):
            score = tb.suber(*paths, cased=cased)
            counts = {f"num_{key}": count for key, count in asdict(score).items()}
            assert counts == case["scores"]["#info"][name], (case["id"], name)
            assert round(score.value, 3) == case["scores"][name]


def test_suber_of_random_subtitles_equals_live_program(tmp_path):
    program = pytest.importorskip("suber.metrics.suber")
    collect = pytest.importorskip("suber.metrics.suber_statistics").SubERStatisticsCollector
    dice = random.Random(12)
    shifts = 0
    for number in range(300):
        # SubER-cased stops with an assertion if a word is an entity.
        texts = {side: draw_srt(dice).replace("&amp;", "and") for side in SIDES}
        paths = [write_text(tmp_path, f"{side}.srt", text) for side, text in texts.items()]
        theirs = read_with_suber(paths)
        cased, statistics = number % 2 == 1, collect()
        value = program.calculate_SubER(*theirs, "SubER-cased" if cased else "SubER", statistics)
        score = tb.suber(*paths, cased=cased)
        counts = {f"num_{key}": count for key, count in asdict(score).items()}
        assert counts == statistics.get_statistics()
        assert round(score.value, 3) == value
        shifts += score.shifts
    assert shifts


@pytest.mark.parametrize(("text", "expected"), [(REFERENCE, 100), ("", 0)])
def test_suber_without_reference_words_is_0_or_100(tmp_path, text, expected):
    empty = write_text(tmp_path, "empty.srt", "")
    assert tb.suber(write_text(tmp_path, "a.srt", text), empty).value == expected


# ---- methods ----


def test_leading_words_go_to_the_first_segment_and_others_to_the_segment_before():
    result = tb.resegment("x a y b z", ["", "a", "", "b"], "suber")
    assert result.segments == ["x", "a y", "", "b z"]
    assert result.errors == 3


def test_suber_selects_the_references_with_the_fewest_edits():
    references = [("a b", "c d"), ("e f", "g h")]
    assert tb.resegment("c d x g h", references, "suber").errors == 1


def test_breaks_in_plain_texts_are_no_words():
    text = "It rains <eol> here <eob> Go <eob>"
    references = ["it rains here <eob>", "go <eob>"]
    assert tb.resegment(text, references, "suber").segments == ["It rains here", "Go"]
    with_breaks = ["It rains eol here eob", "Go eob"]
    assert tb.resegment(text, references, "suber-seg").segments == with_breaks


def test_words_outside_all_subtitles_are_counted_as_lost(tmp_path):
    reference = write_text(tmp_path, "reference.srt", REFERENCE)
    text = REFERENCE.replace("00:00:04,000", "00:00:03,600").replace("06,000", "03,900")
    result = tb.resegment(write_text(tmp_path, "late.srt", text), reference, "time")
    assert result.segments == ["The ferry leaves at nine, so we should hurry.", ""]
    assert result.lost == 2
    assert "2 units lost" in str(result)
    assert result.to_dict()["lost"] == 2
    assert result.signature == "time-0.4.0"


@pytest.mark.parametrize("method", ["soft", "as-wer", "suber"])
def test_subtitles_are_texts_for_every_method(tmp_path, method):
    path = write_text(tmp_path, "reference.srt", REFERENCE)
    result = tb.resegment(["The ferry leaves at nine, so we", "hurry. It rains."], path, method)
    assert result.segments == ["The ferry leaves at nine, so we hurry.", "It rains."]
    result = tb.resegment(path, ["The ferry leaves at nine,", "so we hurry. It rains."], method)
    assert result.segments == ["The ferry leaves at nine,", "so we should hurry. It rains."]
    assert result.lines == 2


def test_time_needs_subtitles_on_both_sides(tmp_path):
    path = write_text(tmp_path, "a.srt", REFERENCE)
    for texts in ((path, ["It rains."]), ("It rains.", path), (path, [path, path])):
        with pytest.raises(InputError, match=r"method 'time' needs times"):
            tb.resegment(*texts, "time")
    with pytest.raises(InputError, match="documents have no effect"):
        tb.resegment(path, path, "time", documents=["a", "a"])


def test_references_of_different_lengths_are_an_error(tmp_path):
    path = write_text(tmp_path, "a.srt", REFERENCE)
    shorter = write_text(tmp_path, "b.srt", REFERENCE.partition("\n\n")[0])
    with pytest.raises(InputError, match="files have different numbers of segments: 2, 1"):
        tb.resegment(path, [path, shorter], "suber")


# ---- command line ----


def test_command_line_scores_subtitles(truebleu_command, tmp_path):
    write_text(tmp_path, "reference.srt", REFERENCE)
    other_blocks = REFERENCE.replace("nine,\n", "nine,\n\n2\n00:00:02,200 --> 00:00:03,500\n")
    write_text(tmp_path, "system.srt", other_blocks.replace("2\n00:00:04", "3\n00:00:04"))

    def run(command, *options):
        arguments = (command, "reference.srt", "-i", "system.srt", *options, "-q")
        return truebleu_command(*arguments, cwd=tmp_path).output

    score = json.loads(run("score", "--resegment", "suber"))["scores"][0]
    assert score["score"] == pytest.approx(100)
    assert "reseg:suber-0.4.0" in score["signature"]
    output = run("score", "-m", "ter", "--resegment", "time-br")
    assert json.loads(output)["scores"][0]["score"] > 0
    segments = ["The ferry leaves at nine, eob so we should hurry. eob", "It rains. eob"]
    assert run("resegment", "--resegment", "suber-seg").splitlines() == segments


def test_equal_times_are_left_alone_and_other_times_are_divided(truebleu_command, tmp_path):
    write_text(tmp_path, "reference.srt", REFERENCE)
    write_text(tmp_path, "equal.srt", REFERENCE.replace("It rains.", "It pours."))
    write_text(tmp_path, "later.srt", REFERENCE.replace("00:00:04,000", "00:00:05,000"))
    for name, message in (("equal", "no output was divided"), ("later", "later: 2 lines")):
        words = ("score", "reference.srt", "-i", f"{name}.srt", "--resegment", "time")
        assert message in truebleu_command(*words, cwd=tmp_path).error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("reference.srt -i bad.srt", "bad.srt, line 1: expected the number"),
        ("reference.srt -i text.de --resegment time", "method 'time' needs times"),
        ("text.de -nr 2 -i text.de --resegment suber-seg", "and -nr/--num-refs are mutually excl"),
    ],
)
def test_wrong_use_gives_one_line_error(truebleu_command, tmp_path, arguments, message):
    write_text(tmp_path, "reference.srt", REFERENCE)
    write_text(tmp_path, "bad.srt", "It rains.\n")
    write_text(tmp_path, "text.de", "It rains.\n")
    done = truebleu_command("score", *arguments.split(), cwd=tmp_path)
    assert done.status
    assert message in done.error
    assert len(done.error.splitlines()) == 1
