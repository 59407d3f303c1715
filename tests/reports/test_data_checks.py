"""Each flag is set for the right texts and for no others."""

import struct

import pytest
from encoded_texts import encode_texts
from hypothesis import given
from hypothesis import strategies as st
from strategies import corpora, texts

import truebleu as tb
from truebleu import _kernel
from truebleu.reports import data_checks
from truebleu.text import segments

PLAIN_TEXT = "The weather was fine that day."


def find_flags_by_role(systems, references, source=None, tokenize="13a", language=None):
    """Return the set of flag names of each segment, by role."""
    entry, blocks, _ = data_checks.find_flags(
        list(map(encode_texts, systems)),
        list(map(encode_texts, references)),
        None if source is None else encode_texts(source),
        tokenize,
        language,
    )
    assert set(blocks) == set(entry["blocks"].values())
    names = dict(enumerate(data_checks.FLAGS))
    flags_by_role = {}
    for role, block in entry["blocks"].items():
        column = struct.unpack(f"<{len(systems[0])}I", blocks[block])
        flags_by_role[role] = [{names[bit] for bit in names if bits >> bit & 1} for bits in column]
        counts = {
            name: sum(name in flags for flags in flags_by_role[role]) for name in names.values()
        }
        assert entry["counts"].get(role, {}) == {name: n for name, n in counts.items() if n}
    assert set(entry["counts"]) <= set(entry["blocks"])
    bits_by_name = {flag["id"]: flag["bit"] for flag in entry["flags"]}
    assert all(names[bit] == name for name, bit in bits_by_name.items())
    assert set().union(
        *(flags for column in flags_by_role.values() for flags in column), set()
    ) <= set(bits_by_name)
    return flags_by_role


def find_flags(hypothesis, *references, source=None, **options):
    """Return the flags of a hypothesis."""
    references = [[reference] for reference in references or (PLAIN_TEXT,)]
    sources = None if source is None else [source]
    flags_by_role = find_flags_by_role([[hypothesis]], references, sources, **options)
    return flags_by_role.get("system0", [set()])[0]


def find_preservation_flags(hypothesis, reference, source, language="en"):
    """Return the flags for numbers, names, untranslated words and negation of a hypothesis."""
    flags = find_flags(hypothesis, reference, source=source, language=language)
    return flags & {"numbers-differ", "name-missing", "partly-untranslated", "negation-differs"}


@pytest.mark.parametrize(
    ("flags", "hypothesis", "reference", "source"),
    [
        ({"numbers-differ"}, "It cost 1,400 euros.", "It cost 1,500 euros.", "Es kostete 1.500 €."),
        (set(), "It cost 1 500 euros.", "It cost 1,500 euros.", "Es kostete 1.500 €."),
        # Numbers that equal the source, or that may be written as words, are correct.
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
def test_preservation_flags(flags, hypothesis, reference, source):
    assert find_preservation_flags(hypothesis, reference, source) == flags


def test_negation_needs_known_language():
    assert find_preservation_flags("He came.", "He did not come.", "x", "xx") == set()
    assert find_preservation_flags("Er kam.", "Er kam nicht.", "x", "de") == {"negation-differs"}
    assert find_preservation_flags("Да", "Не знаю", "x", "ru") == {"negation-differs"}


@pytest.mark.parametrize(
    ("flag", "text"),
    [
        ("empty", ""),
        ("empty", " \t\u3000"),
        ("identical-reference", PLAIN_TEXT),
        ("much-shorter", "The weather"),
        ("much-longer", "The weather of that day, as far as I can say, was fine, fine all day."),
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
        ("tokenized", "The wea ##ther was fine that day."),
        ("special-tokens", "The <unk> was fine that day."),
        ("special-tokens", "The weather was fine that day.</s>"),
        ("special-tokens", "The weather was [UNK] that day. <|endoftext|>"),
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
def test_problem_sets_flag(flag, text):
    assert flag in find_flags(text)


@pytest.mark.parametrize(
    ("flag", "text", "reference"),
    [
        ("empty", ".", PLAIN_TEXT),
        # Ratios of short texts are not reliable.
        ("much-shorter", "No.", "No, thank you."),
        ("much-longer", "It was that.", "That."),
        ("loop", "- - - - - - - - - -", PLAIN_TEXT),
        ("loop", "no no no no", "No no no no no"),
        ("loop", "very, very, very fine", PLAIN_TEXT),
        ("other-script", "Москва: that day the weather was fine.", PLAIN_TEXT),
        ("other-script", "OK", "Погода в тот день была хорошей."),
        ("unsplit-script", "The word 天气 means weather.", PLAIN_TEXT),
        ("tokenized", "10, 20 ,30 ... @@", PLAIN_TEXT),
        ("tokenized", "Quelle heure est-il ?", PLAIN_TEXT),
        ("tokenized", "Write to me@example.org @ home", PLAIN_TEXT),
        ("tokenized", "Issue #12 and C## and ## 3", PLAIN_TEXT),
        ("special-tokens", "a < b, <b>bold</b>, [sic], x <|> y", PLAIN_TEXT),
        ("mojibake", "Elle va à\xa0« Paris », puis à\xa0« Rome ».", PLAIN_TEXT),
        ("mojibake", "„Spaß“ und „Fuß“ und „Gruß…“", PLAIN_TEXT),
        ("mojibake", "A MANHÃ” e a IRMÃ”", PLAIN_TEXT),
        ("mojibake", "Ça, c'était déjà à l'âge d'or: «É», «À»…", PLAIN_TEXT),
        ("mojibake", "naïve façade – Ångström’s", PLAIN_TEXT),
        ("control-character", "a\tb", PLAIN_TEXT),
        ("invisible-character", "نمی\u200cخواهم 👩\u200d🚀", PLAIN_TEXT),
        ("html-entities", "AT&T; R&D", PLAIN_TEXT),
        ("unbalanced-brackets", "Fine :)", "Good :)"),
        ("unbalanced-brackets", "(fine) [that] {day}", PLAIN_TEXT),
    ],
)
def test_correct_text_does_not_set_flag(flag, text, reference):
    assert flag not in find_flags(text, reference)


def test_sources_and_pretokenized_text_may_have_subword_marks():
    flags_by_role = find_flags_by_role([["The wea ##ther"]], [["a@@ b"]], ["c ##d <unk>"], "none")
    assert flags_by_role["reference0"] == [set()]
    flags_by_role = find_flags_by_role([["The wea ##ther"]], [["a@@ b"]], ["c ##d <unk>"])
    assert flags_by_role["reference0"] == [{"tokenized"}]
    assert flags_by_role["source"] == [{"special-tokens"}]


def test_marks_are_found_in_lines_of_a_file():
    lines = ["a@@ b <s> <s>", "", "a < b, [sic]", "x", "the ##re [PAD]", "y", "<unk> z ▁"]
    references = [encode_texts([PLAIN_TEXT] * len(lines))]
    in_file = segments.FileText("\n".join(lines).encode())
    entry, blocks, _ = data_checks.find_flags([in_file], references, None)
    assert (entry, blocks) == data_checks.find_flags([encode_texts(lines)], references, None)[:2]
    counts = entry["counts"]["system0"]
    assert counts["tokenized"] == counts["special-tokens"] == 3
    names = [*data_checks.FLAGS]
    mask = 1 << names.index("tokenized") | 1 << names.index("special-tokens")
    all_bits = struct.unpack(f"<{len(lines)}I", blocks[entry["blocks"]["system0"]])
    assert [i for i, bits in enumerate(all_bits) if bits & mask == mask] == [0, 4, 6]


@pytest.mark.thorough
def test_special_tokens_are_counted_in_all_lines(wmt22):
    systems = {
        name: tb.File(wmt22 / f"system-outputs/generaltest2022.en-de.hyp.{name}.de")
        for name in ("Lan-Bridge", "Online-W")
    }
    reference = tb.File(wmt22 / "references/generaltest2022.en-de.ref.A.de")
    manifest = tb.report(systems, reference).to_dict()
    roles = {system["name"]: f"system{i}" for i, system in enumerate(manifest["systems"])}
    counts = manifest["health"]["counts"]
    counts = {name: counts[role].get("special-tokens", 0) for name, role in roles.items()}
    # As `grep -c "<unk>"` counts the lines.
    assert counts == {"Lan-Bridge": 229, "Online-W": 0}
    links = [one["state"] for one in manifest["findings"] if "special tokens" in one["text"]]
    assert [link["flag"] for link in links] == [f"special-tokens@{roles['Lan-Bridge']}"]


UNSPACED_TEXTS = {
    "zh": "那天天气很好，我们去了公园。",
    "ja": "その日はとてもよかったです。",
    "ko": "그날은 날씨가 아주 좋았습니다.",
    "bo": "ཉིན་དེར་གནམ་གཤིས་ཡག་པོ་རེད།",
}


@pytest.mark.parametrize(
    ("tokenize", "unsplit"),
    [
        *(("13a", "zh ja ko bo"), ("intl", "zh ja ko"), ("zh", "ja ko bo"), ("char", "")),
        *(("ko-mecab", ""), ("none", ""), (str.split, "")),
    ],
)
def test_unsplit_script_depends_on_tokenizer(tokenize, unsplit):
    texts = UNSPACED_TEXTS.items()
    flags = {name: find_flags(text, tokenize=tokenize) for name, text in texts}
    assert [name for name in flags if "unsplit-script" in flags[name]] == unsplit.split()


def test_japanese_and_chinese_share_a_script():
    kanji, kana = "東京都大阪府京都府北海道", "これはひらがなだけのぶんです。"
    assert "other-script" not in find_flags(kanji, kana)
    assert "other-script" in find_flags(kanji, "그날은 날씨가 아주 좋았습니다.")


def test_copied_source_needs_equal_text():
    assert "copied-source" in find_flags("Das Wetter war gut.", source="Das Wetter war gut.")
    assert "copied-source" not in find_flags("Das Wetter war gut.", source="Das Wetter war gut")
    assert "copied-source" not in find_flags("", source="")


def test_single_matching_reference_is_enough():
    assert "identical-reference" in find_flags("a b", PLAIN_TEXT, "a b")
    assert "much-shorter" not in find_flags("The weather", PLAIN_TEXT, "The weather was")
    assert "unbalanced-brackets" not in find_flags("The (weather", PLAIN_TEXT, "The (weather was")


def test_missing_reference_sets_flag():
    flags_by_role = find_flags_by_role([["a", "b"]], [["x", "x"], [None, "y"]])
    assert flags_by_role["reference1"] == [{"missing-reference"}, set()]


def test_duplicate_hypotheses_need_different_sources():
    same = "I do not know what to say."
    hypotheses = [same, same, "Something else altogether."]
    references = ["I don't know what I should say.", "I would not say so.", "Anything but that."]

    def find_duplicates(hypotheses, references, sources=None):
        flag_sets = find_flags_by_role([hypotheses], [references], sources)["system0"]
        return [i for i, flags in enumerate(flag_sets) if "duplicate-hypothesis" in flags]

    assert find_duplicates(hypotheses, references, ["x", "y", "z"]) == [0, 1]
    assert not find_duplicates(hypotheses, references, ["x", "x", "z"])
    # Short duplicates are usually correct.
    assert not find_duplicates(["Yes."] * 3, references, ["x", "y", "z"])
    # Without sources, the references distinguish the segments.
    assert find_duplicates([same, same], references[:2]) == [0, 1]
    assert not find_duplicates([same, same], references[:1] * 2)


def test_repeated_segments_exclude_first():
    expected = [set(), {"repeated-segment"}, set(), {"repeated-segment"}]
    for role, *columns in (
        ("reference0", [list("xxzx")]),
        ("source", [list("xxxx")], list("ssts")),
        ("reference0", [list("xxxx"), list("1121")]),
    ):
        assert find_flags_by_role([["a"] * 4], *columns)[role] == expected


def test_inapplicable_flags_are_not_listed():
    entry, _, _ = data_checks.find_flags([[b"a"]], [[b"b"]], None)
    names = {flag["id"] for flag in entry["flags"]}
    assert not names & {"copied-source", "missing-reference"}
    assert {"empty", "mojibake", "unsplit-script"} <= names


def test_flags_follow_kernel_bit_order():
    """The flags follow the order of the kernel's constants."""
    assert list(data_checks.FLAGS)[:3] == ["empty", "missing-reference", "copied-source"]
    # No flag is duplicated.
    assert len(data_checks.FLAGS) == 24
    assert {flag.severity for flag in data_checks.FLAGS.values()} == {"warning", "note"}


@given(corpora(), st.data())
def test_simple_flags_equal_definition(corpus, data):
    hypotheses, references = corpus
    sources = [data.draw(st.sampled_from(hypotheses) | texts(4)) for _ in hypotheses]
    width = max(map(len, references))
    streams = [[row[i] if i < len(row) else None for row in references] for i in range(width)]
    flags_by_role = find_flags_by_role([hypotheses], streams, sources)
    flag_sets = flags_by_role.get("system0", [set()] * len(hypotheses))
    rows = zip(hypotheses, references, sources, flag_sets, strict=True)
    for hypothesis, row, source, flags in rows:
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


# Texts around multiples of 64 bytes that contain all checked patterns.
pieces = st.lists(
    st.sampled_from(["word ", "ß", "→", "😀", "(", "}", "&amp;", " , ", "@@ ", "\x07", "1,000 "])
    | texts(8),
    max_size=40,
).map("".join)


@given(st.lists(st.tuples(pieces, pieces, pieces), min_size=1, max_size=3))
def test_instruction_sets_give_same_flags(rows):
    columns = [*map(encode_texts, zip(*rows, strict=True))]
    texts_by_role = columns[:1], columns[1:2], columns[2]
    before = _kernel.instructions()
    results = []
    try:
        for name in _kernel.available_instructions():
            _kernel.use_instructions(name)
            results.append(data_checks.find_flags(*texts_by_role, language="en"))
    finally:
        _kernel.use_instructions(before)
    assert all(column == results[0] for column in results)


def test_file_lines_equal_texts():
    texts = [b"  two ", b"", "ein Satz, ü".encode(), b"a" * 70 + b")", b"two"]
    text = b"".join(text + b"\n" for text in texts)
    assert segments.FileText(text[:-1]).text == text
    for file_text in (segments.FileText(text), segments.FileText(b"")):
        lines = list(file_text)
        assert len(file_text) == len(lines) == text.count(b"\n") * bool(lines)
        for column in (file_text, lines):
            references = [lines, lines[::-1]]
            assert data_checks.find_flags([column], references, column) == data_checks.find_flags(
                [lines], references, lines
            )
            assert _kernel.count_same(
                segments.to_kernel_texts(column), segments.to_kernel_texts(lines)
            ) == len(lines)
    assert segments.to_kernel_texts(segments.FileText(text), 3) == tuple(texts[:3])
    assert _kernel.count_same(tuple(texts), (None, *texts[1:])) == len(texts) - 1
    with pytest.raises(ValueError, match="columns have different lengths"):
        _kernel.count_same(text, text + b"\n")


@pytest.mark.parametrize("size", [0, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20])
def test_line_count_and_utf8_check_work_for_any_size(size):
    text = ("é" * (size // 2) + "\n" * (size % 2)).encode()
    assert _kernel.count_lines(text + b"\n\nend") == 2 + size % 2
    assert _kernel.is_utf8(text)
    assert not _kernel.is_utf8(text + b"\xc3\n\xa9")


def test_wrongly_decoded_text_is_mojibake():
    for text in ["Ça déjà vu.", "Größe für Übung", "naïve café", "Это проверка", "żółć źdźbło"]:
        wrong = text.encode().decode("cp1252", "replace").replace("\ufffd", "\x81")
        assert "mojibake" in find_flags(wrong), wrong
        assert "mojibake" not in find_flags(text)


def test_files_keep_carriage_returns(tmp_path):
    (tmp_path / "ref").write_bytes(b"a b\r\nc d\r\n")
    (tmp_path / "hyp").write_bytes(b"a b\nc\n")
    manifest = tb.report({"A": tb.File(tmp_path / "hyp")}, tb.File(tmp_path / "ref")).to_dict()
    assert manifest["health"]["counts"]["reference0"] == {"outer-space": 2}
