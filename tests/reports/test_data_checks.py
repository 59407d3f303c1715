"""Each flag is there where it should be, and nowhere else."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import corpora, texts

import truebleu as tb
from truebleu import _kernel
from truebleu.reports import data_checks
from truebleu.text import segments

PLAIN = "The weather was fine that day."


def flagged(systems, references, source=None, tokenize="13a"):
    """The flags of each text: by role, for each segment a set of names."""

    def encoded(column):
        return [None if text is None else text.encode("utf-8", "surrogatepass") for text in column]

    told, blocks, _ = data_checks.find_flags(
        [encoded(one) for one in systems],
        [encoded(one) for one in references],
        None if source is None else encoded(source),
        tokenize,
    )
    assert set(blocks) == set(told["blocks"].values())
    names = dict(enumerate(data_checks.FLAGS))
    found = {}
    for role, block in told["blocks"].items():
        column = struct.unpack(f"<{len(systems[0])}I", blocks[block])
        found[role] = [{names[bit] for bit in names if bits >> bit & 1} for bits in column]
        counts = {name: sum(name in one for one in found[role]) for name in names.values()}
        assert told["counts"].get(role, {}) == {name: n for name, n in counts.items() if n}
    assert set(told["counts"]) <= set(told["blocks"])
    known = {flag["id"]: flag["bit"] for flag in told["flags"]}
    assert all(names[bit] == name for name, bit in known.items())
    assert set().union(*(one for column in found.values() for one in column), set()) <= set(known)
    return found


def flags_of(hypothesis, *references, source=None, tokenize="13a"):
    """The flags of a hypothesis."""
    references = references or (PLAIN,)
    found = flagged(
        [[hypothesis]],
        [[one] for one in references],
        None if source is None else [source],
        tokenize,
    )
    return found.get("system0", [set()])[0]


def kept_of(hypothesis, reference, source, language="en"):
    """The flags of what should be kept."""

    def one(text):
        return [text.encode("utf-8", "surrogatepass")]

    told, blocks, _ = data_checks.find_flags(
        [one(hypothesis)], [one(reference)], one(source), "13a", language
    )
    (bits,) = struct.unpack("<I", blocks[told["blocks"]["system0"]])
    names = ("numbers-differ", "name-missing", "partly-untranslated", "negation-differs")
    return {name for bit, name in enumerate(data_checks.FLAGS) if bits >> bit & 1 and name in names}


@pytest.mark.parametrize(
    ("flags", "hypothesis", "reference", "source"),
    [
        ({"numbers-differ"}, "It cost 1,400 euros.", "It cost 1,500 euros.", "Es kostete 1.500 €."),
        (set(), "It cost 1 500 euros.", "It cost 1,500 euros.", "Es kostete 1.500 €."),
        # As in the source, though not in the reference; and what may be a word.
        (set(), "At 15:30.", "At half past three in the afternoon.", "Um 15:30 Uhr."),
        (set(), "3 men", "three men", "drei Männer"),
        ({"numbers-differ"}, "Nobody knows.", "Nobody knew in 1984.", "1984 wusste es niemand."),
        ({"name-missing"}, "We met him.", "We met Ostrow.", "Wir trafen Ostrow."),
        (
            {"partly-untranslated"},
            "The train der nach Hamburg fährt is late.",
            "The train to Hamburg is late.",
            "Der Zug der nach Hamburg fährt ist spät.",
        ),
        ({"negation-differs"}, "He came.", "He didn’t come.", "Er kam nicht."),
        ({"negation-differs"}, "He never came.", "He came.", "Er kam."),
        (set(), "He failed to come, not once.", "He did not come.", "Er kam nicht."),
    ],
)
def test_what_a_translation_should_keep(flags, hypothesis, reference, source):
    assert kept_of(hypothesis, reference, source) == flags


def test_negation_is_looked_for_in_languages_whose_words_are_known():
    assert kept_of("He came.", "He did not come.", "x", "xx") == set()
    assert kept_of("Er kam.", "Er kam nicht.", "x", "de") == {"negation-differs"}
    assert kept_of("Да", "Не знаю", "x", "ru") == {"negation-differs"}


def test_fine_text_has_no_flags():
    assert flags_of("That day the weather was nice (mostly).") == set()


@pytest.mark.parametrize(
    ("flag", "text"),
    [
        ("empty", ""),
        ("empty", " \t\u3000"),
        ("identical-reference", PLAIN),
        ("much-shorter", "The weather"),
        (
            "much-longer",
            "The weather of that day, as far as I can say, was fine, fine all day long.",
        ),
        ("loop", "The weather was was was was fine"),
        ("loop", "So it was, so it was, so it was, so it was, so"),
        ("other-script", "Погода в тот день была хорошей."),
        ("unsplit-script", "那天天气很好，我们去了公园。"),
        ("unsplit-script", "その日は天気がよかったです。"),
        ("unsplit-script", "วันนั้นอากาศดี"),
        ("unsplit-script", "그날은 날씨가 아주 좋았습니다."),
        ("unsplit-script", "ཉིན་དེར་གནམ་གཤིས་ཡག་པོ་རེད།"),
        ("unsplit-script", "ꦢꦶꦤꦆꦏꦸꦲꦮꦤꦺꦧꦼꦕꦶꦏ꧀"),
        ("tokenized", "The weather was fine that day ."),
        ("tokenized", "That day , the weather was fine."),
        ("tokenized", "The wea@@ ther was fine that day."),
        ("tokenized", "The weather was well @-@ behaved."),
        ("tokenized", "▁The ▁weather ▁was ▁fine"),
        ("mojibake", "The cafÃ© was open that day."),
        ("mojibake", "It wasnâ€™t a fine day at all."),
        ("mojibake", "The weather was 20 Â°C that day."),
        ("mojibake", "ÐŸÐ¾Ð³Ð¾Ð´Ð° that day."),
        ("replacement-character", "The caf\ufffd was open that day."),
        ("replacement-character", "The caf\udfff was closed that day."),
        ("control-character", "The weather\0was fine that day."),
        ("control-character", "The weather\nwas fine that day."),
        ("control-character", "The weather\x85was fine that day."),
        ("invisible-character", "The weather\u200bwas fine that day."),
        ("invisible-character", "\ufeffThe weather was fine."),
        ("outer-space", " The weather was fine."),
        ("outer-space", "The weather was fine.\r"),
        ("html-entities", "The weather &amp; the day."),
        ("html-entities", "The weather&#39;s fine."),
        ("unbalanced-brackets", "The weather (fine that day."),
    ],
)
def test_what_has_a_flag(flag, text):
    assert flag in flags_of(text)


@pytest.mark.parametrize(
    ("flag", "text", "reference"),
    [
        ("empty", ".", PLAIN),
        # Short references are too short to say.
        ("much-shorter", "No.", "No, thank you."),
        ("much-longer", "It was that.", "That."),
        ("loop", "- - - - - - - - - -", PLAIN),
        ("loop", "no no no no", "No no no no no"),
        ("loop", "very, very, very fine", PLAIN),
        ("other-script", "Москва: that day the weather was fine.", PLAIN),
        ("other-script", "OK", "Погода в тот день была хорошей."),
        ("unsplit-script", "The word 天气 means weather.", PLAIN),
        ("tokenized", "10, 20 ,30 ... @@", PLAIN),
        ("tokenized", "Quelle heure est-il ?", PLAIN),
        ("tokenized", "Write to me@example.org @ home", PLAIN),
        ("mojibake", "«Elle va à « Paris », puis à « Rome »."[1:].replace(" «", "\xa0«"), PLAIN),
        ("mojibake", "„Spaß“ und „Fuß“ und „Gruß…“", PLAIN),
        ("mojibake", "A MANHÃ” e a IRMÃ”", PLAIN),
        ("mojibake", "Ça, c'était déjà à l'âge d'or: «É», «À»…", PLAIN),
        ("mojibake", "naïve façade – Ångström’s", PLAIN),
        ("control-character", "a\tb", PLAIN),
        ("invisible-character", "نمی\u200cخواهم 👩\u200d🚀", PLAIN),
        ("html-entities", "AT&T; R&D", PLAIN),
        ("unbalanced-brackets", "Fine :)", "Good :)"),
        ("unbalanced-brackets", "(fine) [that] {day}", PLAIN),
    ],
)
def test_what_has_not(flag, text, reference):
    assert flag not in flags_of(text, reference)


def test_text_that_is_meant_to_be_tokenized_is_not_told_of():
    assert "tokenized" not in flags_of("The weather was fine .", tokenize="none")


@pytest.mark.parametrize(
    ("tokenize", "chinese", "japanese"),
    [("13a", True, True), ("zh", False, True), ("char", False, False), (str.split, False, False)],
)
def test_scripts_that_a_tokenizer_splits(tokenize, chinese, japanese):
    found = flags_of("那天天气很好，我们去了公园。", tokenize=tokenize)
    assert ("unsplit-script" in found) is chinese
    found = flags_of("その日はとてもよかったです。", tokenize=tokenize)
    assert ("unsplit-script" in found) is japanese


@pytest.mark.parametrize(
    ("tokenize", "korean", "tibetan"),
    [
        ("13a", True, True),
        ("intl", True, False),
        ("char", False, False),
        ("ko-mecab", False, False),
        ("none", False, False),
    ],
)
def test_korean_and_tibetan(tokenize, korean, tibetan):
    found = flags_of("그날은 날씨가 아주 좋았습니다.", tokenize=tokenize)
    assert ("unsplit-script" in found) is korean
    found = flags_of("ཉིན་དེར་གནམ་གཤིས་ཡག་པོ་རེད།", tokenize=tokenize)
    assert ("unsplit-script" in found) is tibetan


def test_japanese_and_chinese_share_a_script():
    assert "other-script" not in flags_of(
        "東京都大阪府京都府北海道", "これはひらがなだけのぶんです。"
    )
    assert "other-script" in flags_of("東京都大阪府京都府北海道", "그날은 날씨가 아주 좋았습니다.")


def test_copies_of_the_source():
    assert "copied-source" in flags_of("Das Wetter war gut.", source="Das Wetter war gut.")
    assert "copied-source" not in flags_of("Das Wetter war gut.", source="Das Wetter war gut")
    assert "copied-source" not in flags_of("", source="")


def test_one_of_several_references_is_enough():
    assert "identical-reference" in flags_of("a b", PLAIN, "a b")
    assert "much-shorter" not in flags_of("The weather", PLAIN, "The weather was")
    assert "unbalanced-brackets" not in flags_of("The (weather", PLAIN, "The (weather was")


def test_missing_references():
    found = flagged([["a", "b"]], [["x", "x"], [None, "y"]])
    assert found["reference1"] == [{"missing-reference"}, set()]


def test_duplicates_are_of_different_sources():
    text, other = "I do not know what to say.", "Something else altogether."
    one, two, three = "I don't know what I should say.", "I would not say so.", "Anything but that."

    def duplicates(*arguments):
        found = flagged(*arguments)["system0"]
        return ["duplicate-hypothesis" in flags for flags in found]

    references = [[one, two, three]]
    assert duplicates([[text, text, other]], references, ["x", "y", "z"]) == [True, True, False]
    assert not any(duplicates([[text, text, other]], references, ["x", "x", "z"]))
    # Short ones are right more often than not.
    assert not any(duplicates([["Yes."] * 3], references, ["x", "y", "z"]))
    # Without sources the references tell segments apart.
    assert duplicates([[text, text]], [[one, two]]) == [True, True]
    assert not any(duplicates([[text, text]], [[one, one]]))


def test_repeated_segments_are_those_after_the_first():
    again = [set(), {"repeated-segment"}, set(), {"repeated-segment"}]
    assert flagged([["a"] * 4], [["x", "x", "z", "x"]])["reference0"] == again
    assert flagged([["a"] * 4], [["x", "x", "x", "x"]], ["s", "s", "t", "s"])["source"] == again
    found = flagged([["a"] * 4], [["x"] * 4, ["1", "1", "2", "1"]])
    assert found["reference0"] == again


def test_flags_that_cannot_be_are_not_told_of():
    told, _, _ = data_checks.find_flags([[b"a"]], [[b"b"]], None)
    names = {flag["id"] for flag in told["flags"]}
    assert not names & {"copied-source", "missing-reference"}
    assert {"empty", "mojibake", "unsplit-script"} <= names


def test_bits_are_those_of_the_kernel():
    """A flag of each bit, in the order of the kernel's constants."""
    assert list(data_checks.FLAGS)[:3] == ["empty", "missing-reference", "copied-source"]
    # None is there twice.
    assert len(data_checks.FLAGS) == 23
    assert {flag.severity for flag in data_checks.FLAGS.values()} == {"warning", "note"}


@given(corpora(), st.data())
def test_simple_flags_are_those_of_the_definition(corpus, data):
    hypotheses, references = corpus
    sources = [data.draw(st.sampled_from(hypotheses) | texts(4)) for _ in hypotheses]
    width = max(map(len, references))
    streams = [[row[i] if i < len(row) else None for row in references] for i in range(width)]
    found = flagged([hypotheses], streams, sources).get("system0", [set()] * len(hypotheses))
    for hypothesis, row, source, flags in zip(hypotheses, references, sources, found, strict=True):
        stripped = hypothesis.strip()
        assert ("empty" in flags) is not stripped
        assert ("outer-space" in flags) is bool(stripped and stripped != hypothesis)
        assert ("copied-source" in flags) is bool(stripped and hypothesis == source)
        assert ("identical-reference" in flags) is bool(stripped and hypothesis in row)
        control = {chr(code) for code in [*range(32), *range(0x7F, 0xA0)]} - {"\t"}
        assert ("control-character" in flags) is bool(control & set(stripped))
        assert ("replacement-character" in flags) is any(
            c == "\ufffd" or "\ud800" <= c <= "\udfff" for c in stripped
        )


# Around the edges of 64 bytes, and with everything that is looked at.
pieces = st.lists(
    st.sampled_from(["word ", "ß", "→", "😀", "(", "}", "&amp;", " , ", "@@ ", "\x07", "1,000 "])
    | texts(8),
    max_size=40,
).map("".join)


@given(st.lists(st.tuples(pieces, pieces, pieces), min_size=1, max_size=3))
def test_every_instruction_set_looks_alike(rows):
    columns = [
        [text.encode("utf-8", "surrogatepass") for text in one] for one in zip(*rows, strict=True)
    ]
    before = _kernel.instructions()
    found = []
    try:
        for name in _kernel.available_instructions():
            _kernel.use_instructions(name)
            found.append(
                data_checks.find_flags(columns[:1], columns[1:2], columns[2], language="en")
            )
    finally:
        _kernel.use_instructions(before)
    assert all(one == found[0] for one in found)


def test_lines_are_looked_at_as_texts_are():
    texts = [b"  two ", b"", "ein Satz, ü".encode(), b"a" * 70 + b")", b"two"]
    text = b"".join(text + b"\n" for text in texts)
    assert segments.FileText(text[:-1]).text == text
    for whole in (segments.FileText(text), segments.FileText(b"")):
        lines = list(whole)
        assert len(whole) == len(lines) == text.count(b"\n") * bool(lines)
        for column in (whole, lines):
            others = [lines, lines[::-1]]
            assert data_checks.find_flags([column], others, column) == data_checks.find_flags(
                [lines], others, lines
            )
            assert _kernel.count_same(
                segments.to_kernel_texts(column), segments.to_kernel_texts(lines)
            ) == len(lines)
    assert segments.to_kernel_texts(segments.FileText(text), 3) == tuple(texts[:3])
    assert _kernel.count_same(tuple(texts), (None, *texts[1:])) == len(texts) - 1
    with pytest.raises(ValueError, match="columns of different lengths"):
        _kernel.count_same(text, text + b"\n")


@pytest.mark.parametrize("size", [0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20])
def test_lines_are_counted_and_utf8_is_seen_in_texts_of_all_sizes(size):
    text = ("é" * (size // 2) + "\n" * (size % 2)).encode()
    assert _kernel.count_lines(text + b"\n\nend") == 2 + size % 2
    assert _kernel.is_utf8(text)
    assert not _kernel.is_utf8(text + b"\xc3\n\xa9")


def test_a_file_that_was_decoded_wrongly_is_found():
    for text in ["Ça déjà vu.", "Größe für Übung", "naïve café", "Это проверка", "żółć źdźbło"]:
        wrong = text.encode().decode("cp1252", "replace").replace("\ufffd", "\x81")
        assert "mojibake" in flags_of(wrong), wrong
        assert "mojibake" not in flags_of(text)


def test_the_reading_of_files_is_that_of_the_report(tmp_path):
    (tmp_path / "ref").write_bytes(b"a b\r\nc d\r\n")
    (tmp_path / "hyp").write_bytes(b"a b\nc\n")
    told = tb.report({"A": tb.File(tmp_path / "hyp")}, tb.File(tmp_path / "ref")).to_dict()
    assert told["health"]["counts"]["reference0"] == {"outer-space": 2}
