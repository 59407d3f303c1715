"""SentencePiece's pieces, as the library finds them; and how models are found."""

import hashlib
import os
import pickle
import random
import struct
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from archive_fixtures import Archives
from hypothesis import given
from hypothesis import strategies as st
from paths import EXAMPLES, SHARED

import truebleu as tb
from truebleu._kernel import InputError, LoadedTokenizer
from truebleu.text import download, http_transfer, sentencepiece

library = pytest.importorskip("sentencepiece")

SPACES = " \t\n\r\v\f\x1c\x1f\x85\xa0\u1680\u2000\u2028\u202f\u205f\u3000\u180e\u200b\u2060\ufeff"
MARKS = f"{SPACES}\u2581\0"
ODD = ["", " ", "  ", "\u2581", "\u2581\u2581 ", "\0", "a\0b", "\ufdfa", "Ａ１½", "é", "e\u0301"]
ODD += ["....", "!!!!!", "\u2026.", "\ud800", "a\udfff b", "\uffff", "\U0010ffff", "ｶﾞ", "<unk>"]
ODD += ["<s>", "</s>", "<0x41>", "<sep>", "foofoo", "a" * 3000, "no space " * 500, *SPACES]

# ---- the models ----

OWN_MODELS = "<sep>,foo,in,ing,Ａ,\u2581the,abcdefghijkl"
KINDS = {
    f"{algorithm}-{size}{'-bytes' * fallback}{'-own' * bool(own)}": {
        "model_type": algorithm,
        "vocab_size": size,
        "byte_fallback": fallback,
        **({"user_defined_symbols": own, "control_symbols": "<ctl>"} if own else {}),
    }
    for algorithm in ("bpe", "unigram")
    for size in (560, 800, 1200)
    for fallback in (False, True)
    for own in ("", OWN_MODELS)
}
for _algorithm in ("bpe", "unigram"):
    for _name, _options in {
        "nfkc_cf": {"normalization_rule_name": "nfkc_cf"},
        "identity": {"normalization_rule_name": "identity"},
        "all-spaces": {"remove_extra_whitespaces": False},
        "no-prefix": {"add_dummy_prefix": False},
        "suffix": {"treat_whitespace_as_suffix": True},
        "space-pieces": {"allow_whitespace_only_pieces": True, "remove_extra_whitespaces": False},
        "phrases": {"split_by_whitespace": False},
    }.items():
        KINDS[f"{_algorithm}-{_name}"] = {"model_type": _algorithm, "vocab_size": 800, **_options}
KINDS["char"] = {"model_type": "char", "vocab_size": 300}
KINDS["word"] = {"model_type": "word", "vocab_size": 500}

# The same models with some bytes changed: unused pieces, equal scores, spaces that stay.
CHANGED = [
    f"{kind}+{change}"
    for kind in ("bpe-800", "bpe-800-bytes-own", "unigram-800", "unigram-800-bytes-own")
    for change in ("unused", "ties", "spaces")
]
ALL = [*KINDS, *CHANGED]


@cache
def lines() -> list[str]:
    """Return the examples' text, and some that has every kind of character."""
    files = sorted(file for file in EXAMPLES.glob("*/*.*") if file.suffix != ".txt")
    text = [line for file in files for line in file.read_text("utf-8").splitlines()]
    text += ["Ｆｕｌｌ ｗｉｄｔｈ １２３ ½ ﷺ e\u0301 …", "नमस्ते दुनिया।", "これは、ペンです。"]
    text += ["안녕하세요 세계", "foo <sep> barfoo, in the thing"]
    return [*text, "A....B!!! 10000 -- «x» 😀😀"]


@pytest.fixture(scope="session")
def spm_folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("models")
    (place / "text").write_text("\n".join(lines()), encoding="utf-8")
    return place


@pytest.fixture(scope="session")
def model(spm_folder):
    """Return the path of a model, by its name in `ALL`."""

    def path(name: str) -> Path:
        file = spm_folder / f"{name}.model"
        if file.exists():
            return file
        kind, _, change = name.partition("+")
        if change:
            file.write_bytes(changed(path(kind).read_bytes(), change))
            return file
        library.SentencePieceTrainer.train(
            input=str(spm_folder / "text"),
            model_prefix=str(file.with_suffix("")),
            hard_vocab_limit=False,
            character_coverage=0.99,
            num_threads=1,
            minloglevel=2,
            **KINDS[name],
        )
        return file

    return path


def number(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[position] & 127) << shift
        shift += 7
        position += 1
        if data[position - 1] < 128:
            return value, position


def write_field(value: int) -> bytes:
    head = bytearray()
    while value > 127:
        head.append(value & 127 | 128)
        value >>= 7
    return bytes([*head, value])


def changed(data: bytes, change: str) -> bytes:
    """Return a model with a second value of a field, which overrides the first."""
    dice = random.Random(change)
    out, position, pieces = b"", 0, 0
    while position < len(data):
        key, position = number(data, position)
        size, position = number(data, position)
        message, position = data[position : position + size], position + size
        if key >> 3 == 1:
            pieces += 1
            is_normal = message[-2:-1] != b"\x18"
            if is_normal and change == "ties":
                message += b"\x15" + struct.pack("<f", dice.choice([-1, -1.5, -2.25, -3, 0.0]))
            if is_normal and change == "unused" and dice.random() < 0.4:
                message += b"\x18\x05"
        if key >> 3 == 3 and change == "spaces":
            message += b"\x28\x00"
        out += write_field(key) + write_field(len(message)) + message
    assert pieces > 100
    return out


class Tokenizers:
    """A model in the kernel and in the library."""

    def __init__(self, path: Path) -> None:
        self.kernel = LoadedTokenizer.sentencepiece(path.read_bytes())
        self.library = library.SentencePieceProcessor(model_file=str(path))
        self.pieces = [self.library.IdToPiece(i) for i in range(self.library.GetPieceSize())]
        self.pieces += [piece.replace("\u2581", " ") for piece in self.pieces]

    def same(self, text: str) -> None:
        # The library takes bytes, too, and gives bytes for them. (Its `str` has no surrogates.)
        pieces = self.library.EncodeAsPieces(text.encode("utf-8", "surrogatepass"))
        pieces = [one if isinstance(one, str) else one.decode() for one in pieces]
        assert self.kernel.pieces(text) == pieces, ascii(text)


@pytest.fixture(scope="session")
def load_pair(model):
    return cache(lambda name: Tokenizers(model(name)))


# ---- what the library finds ----


@pytest.mark.parametrize("name", ALL)
def test_text(load_pair, name):
    for text in [*lines()[:120], *lines()[-6:], " ".join(lines()[:20]), *ODD]:
        load_pair(name).same(text)


def random_text(pieces: list[str], dice: random.Random) -> str:
    kind, size = dice.randrange(5), dice.randint(1, 12)
    if kind == 0:
        return "".join(dice.choices(pieces, k=size))
    if kind == 1:
        line = dice.choice(lines())
        start = dice.randrange(len(line) + 1)
        return line[start : start + dice.randint(0, 60)]
    if kind == 2:
        tops = (0x80, 0x800, 0x10000, 0x110000)
        return "".join(chr(dice.randrange(dice.choice(tops))) for _ in range(size))
    if kind == 3:
        return "".join(dice.choice([dice.choice(MARKS), dice.choice(pieces)]) for _ in range(size))
    return "".join(dice.choices([*ODD[:24], *"abe.!x", "\u0300", "\u0301", "ﾞ"], k=size))


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    "count",
    [150, pytest.param(int(os.environ.get("SPM_CASES", "25000")), marks=pytest.mark.thorough)],
)
def test_random_text(load_pair, name, count):
    """`SPM_CASES` says how many in the thorough run."""
    dice = random.Random(f"{name} {count}")
    for _ in range(count):
        load_pair(name).same(random_text(load_pair(name).pieces, dice))


@pytest.mark.parametrize("name", ["bpe-800-bytes-own", "unigram-800-own"])
@given(texts=st.lists(st.text(max_size=20) | st.sampled_from(ODD)))
def test_any_text(load_pair, name, texts):
    load_pair(name).same("".join(texts))


@pytest.mark.parametrize("name", ["bpe-800", "unigram-800", "bpe-nfkc_cf"])
def test_every_character(load_pair, name):
    points = [*range(0xD800), *range(0xE000, 0x10000), *range(0x1F100, 0x1F300)]
    for first in range(0, len(points), 61):
        load_pair(name).same("a".join(map(chr, points[first : first + 61])))


@pytest.mark.parametrize("name", ["bpe-1200", "unigram-1200", "bpe-800+unused"])
def test_long_lines(load_pair, name):
    for text in ("a", "ab ", "the thing ", "\u2581", "é", "....", lines()[0]):
        load_pair(name).same(text * (100_000 // len(text)))


@pytest.mark.parametrize("name", ["bpe-1200", "unigram-1200-bytes", "bpe-1200-own"])
def test_wmt22(load_pair, name, wmt22):
    files = sorted(wmt22.glob("references/*"))
    assert files
    for file in files:
        for line in file.read_text("utf-8").split("\n")[:200]:
            load_pair(name).same(line)


# ---- tokens and scores ----


@pytest.mark.parametrize("name", ["bpe-800", "unigram-identity", "bpe-800+spaces", "word", "char"])
def test_tokens_are_what_sacrebleu_makes_of_pieces(model, load_pair, name):
    tokenizer = f"spm:{model(name)}"
    odd = [text for text in ODD if not any("\ud800" <= c <= "\udfff" for c in text)]
    for text in [*lines()[:50], *odd, f"a{SPACES}b", " \u2581 "]:
        pieces = " ".join(load_pair(name).library.EncodeAsPieces(text.rstrip())).split()
        assert tb.tokenize(text, tokenizer) == pieces, ascii(text)


@pytest.fixture
def model_cache(tmp_path, monkeypatch):
    """Return a process without models: its cache folder."""
    for variable in list(os.environ):
        if variable.startswith("TRUEBLEU_"):
            monkeypatch.delenv(variable)
    monkeypatch.setenv("TRUEBLEU_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SACREBLEU", str(tmp_path / "sacrebleu"))
    monkeypatch.setenv("TRUEBLEU_OFFLINE", "1")
    monkeypatch.setattr(http_transfer, "RETRY_WAIT_SECONDS", ())
    for spm_folder in (download._find_writable_folder, download._make_process_folder):
        spm_folder.cache_clear()
    return tmp_path / "cache" / "models"


def test_signatures(model, model_cache, tmp_path):
    path = model("unigram-800")
    label = f"spm-{hashlib.sha256(path.read_bytes()).hexdigest()[:8]}"
    metric = tb.BLEU(f"spm:{path}")
    score = metric.score(lines()[:3], lines()[1:4])
    assert score.signature["tok"] == label
    assert score.signature.metric() == tb.BLEU(f"spm:{path}", effective_order=False)
    assert pickle.loads(pickle.dumps(metric)) == metric
    code = (
        "import sys, truebleu as tb; print(tb.metric(sys.argv[1]).sentence('a b c d', 'a b c e'))"
    )
    command = [sys.executable, "-c", code, str(score.signature)]
    for variable in ("", str(path)):
        environment = {**os.environ, "TRUEBLEU_SPM": os.pathsep.join(["", variable])}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        message = f"tok:{label} is a SentencePiece model with an unknown path"
        assert (done.returncode == 0) == bool(variable) == (message not in done.stderr)
    assert tb.metric(f"tok:spm:{path}").tokenize == f"spm:{path}"
    for name in sentencepiece.MODELS:
        assert f"|tok:{name}|" in str(tb.BLEU(name).signature(1))


# ---- where models are ----


def test_model_locations_are_searched_in_order(model, model_cache, tmp_path, monkeypatch):
    name, file = "spBLEU-1K", "spbleu-1k_tokenizer_spm.model"
    text = lines()[0]

    def is_by(kind: str) -> bool:
        return tb.tokenize(text, name) == tb.tokenize(text, f"spm:{model(kind)}")

    with pytest.raises(InputError, match=r"TRUEBLEU_OFFLINE is set: download https://"):
        tb.tokenize(text, name)
    sacrebleu_folder = tmp_path / "sacrebleu" / "models"
    sacrebleu_folder.mkdir(parents=True)
    (sacrebleu_folder / file).write_bytes(model("bpe-800").read_bytes())
    assert is_by("bpe-800")
    model_cache.mkdir(parents=True)
    (model_cache / f"{name}.model").write_bytes(model("unigram-800").read_bytes())
    assert is_by("unigram-800")
    monkeypatch.setenv("TRUEBLEU_SPM_SPBLEU_1K", str(model("word")))
    assert is_by("word")
    monkeypatch.setenv("TRUEBLEU_SPM_SPBLEU_1K", str(tmp_path / "none"))
    with pytest.raises(InputError, match=r"variable TRUEBLEU_SPM_SPBLEU_1K: file not found: "):
        tb.tokenize(text, name)


def test_unexpected_model_is_refused(model, model_cache, monkeypatch):
    monkeypatch.setenv("TRUEBLEU_SPM_FLORES200", str(model("bpe-800")))
    path = hashlib.sha256(model("bpe-800").read_bytes()).hexdigest()
    expected = f"SHA-256 {path}, expected {sentencepiece.MODELS['flores200'].sha256}"
    with pytest.raises(InputError, match=expected):
        tb.tokenize("a", "flores200")


@pytest.fixture
def archives(spm_folder):
    archives = Archives(spm_folder)
    yield archives
    archives.server.shutdown()
    archives.server.server_close()


def published(monkeypatch, archives, name: str, files: list[str], sha256: str | None) -> None:
    """Publish a model at the addresses of files on the server."""
    port = archives.server.server_port
    addresses = tuple(f"http://127.0.0.1:{port}/{file}" for file in files)
    model_source = replace(sentencepiece.MODELS[name], urls=addresses, sha256=sha256)
    monkeypatch.setitem(sentencepiece.MODELS, name, model_source)


def test_model_is_downloaded_from_mirrors_and_verified(model, archives, model_cache, monkeypatch):
    content = model("bpe-800").read_bytes()
    sha256 = hashlib.sha256(content).hexdigest()
    mirrors = ["none.model", "text", "bpe-800.model"]
    published(monkeypatch, archives, "flores200", mirrors, "0" * 64)
    monkeypatch.delenv("TRUEBLEU_OFFLINE")
    with pytest.raises(InputError, match=rf"404.*expected {'0' * 64}.*TRUEBLEU_SPM_FLORES200"):
        tb.tokenize("a", "flores200")
    assert list(model_cache.iterdir()) == []
    published(monkeypatch, archives, "flores200", mirrors, sha256)
    expected = tb.tokenize(lines()[0], f"spm:{model('bpe-800')}")
    assert tb.tokenize(lines()[0], "flores200") == expected
    assert archives.requests == 6
    assert (model_cache / "flores200.model").read_bytes() == content
    assert [file.name for file in model_cache.iterdir()] == ["flores200.model"]
    monkeypatch.setenv("TRUEBLEU_OFFLINE", "1")
    assert tb.BLEU("flores200").sentence("a b", "a b").value > 0
    (model_cache / "flores200.model").write_bytes(content[:-1])
    with pytest.raises(InputError, match=f"expected {sha256}"):
        tb.tokenize("a", "flores200")


def test_first_valid_model_is_trusted(model, archives, spm_folder, model_cache, monkeypatch):
    """A page that asks for a password is not a model."""
    (spm_folder / "page.html").write_text("<html>Please log in")
    content = model("unigram-800").read_bytes()
    monkeypatch.delenv("TRUEBLEU_OFFLINE")
    mirrors = ["page.html", "unigram-800.model"]
    published(monkeypatch, archives, "flores101", mirrors[:1], None)
    with pytest.raises(InputError, match=r"page.html returned the wrong file, .* also wrong: "):
        tb.tokenize(lines()[0], "flores101")
    assert list(model_cache.iterdir()) == []
    published(monkeypatch, archives, "flores101", mirrors, None)
    assert tb.tokenize(lines()[0], "spm")
    path = model_cache / "flores101.model"
    assert download.read_recorded_checksum(str(path)) == hashlib.sha256(content).hexdigest()
    path.write_bytes(model("bpe-800").read_bytes())
    with pytest.raises(InputError, match=r"not the model of flores101: SHA-256"):
        tb.tokenize("a", "flores101")


# ---- damage ----


@pytest.mark.parametrize("name", ["bpe-800", "unigram-800-bytes-own"])
def test_damaged_models(model, name):
    content = model(name).read_bytes()
    dice = random.Random(name)
    files = [b"", b"\x0a", content[:-1], content + b"\xff", os.urandom(1000)]
    files += [content[: dice.randrange(len(content))] for _ in range(40)]
    for _ in range(150):
        file = bytearray(content)
        for _ in range(dice.choice([1, 1, 20])):
            file[dice.randrange(len(file))] = dice.randrange(256)
        files.append(bytes(file))
    # The rules of normalization lie at the end.
    for _ in range(60):
        file = bytearray(content)
        for _ in range(2000):
            file[-dice.randrange(100, 200_000)] = dice.randrange(256)
        files.append(bytes(file))
    for file in files:
        try:
            tokenizer = LoadedTokenizer.sentencepiece(file)
        except InputError as error:
            assert str(error).startswith("not a SentencePiece model: ")  # noqa: PT017
        else:
            for text in (*lines()[:3], "Ｆé\0 …" * 50):
                assert sum(map(len, tokenizer.pieces(text))) < 1000 * len(text)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("text", "text: not a SentencePiece model: "),
        ("none", "file not found: .*none"),
        ("", "Is a directory"),
    ],
)
def test_invalid_model_file_is_refused(tmp_path, name, message):
    (tmp_path / "text").write_text("not a model")
    with pytest.raises(InputError, match=message):
        tb.tokenize("a", f"spm:{tmp_path / name}")


# ---- published scores ----


@pytest.mark.skipif(not SHARED.is_dir(), reason="no reference data")
def test_the_scores_of_wmt23(shared):
    try:
        here = sentencepiece.find_model("flores200")
    except InputError as error:
        pytest.skip(str(error))
    if here is None:
        pytest.skip("no model of flores200: TRUEBLEU_SPM_FLORES200 names one")
    data = shared / "data" / "wmt23-metrics"
    metric = tb.BLEU("flores200")
    systems = segments = 0
    for file in sorted(data.glob("metric-scores/*/f200spBLEU*.seg.score")):
        pair, reference = file.parent.name, file.name.removesuffix(".seg.score").split("-", 1)[1]
        references = read(data / "references" / f"{pair}.{reference}.txt")
        expected: dict[str, list[float]] = {}
        for line in read(file):
            system, value = line.split("\t")
            expected.setdefault(system, []).append(float(value))
        system_scores = file.with_name(file.name.replace(".seg.", ".sys."))
        for line in read(system_scores):
            system, value = line.split("\t")
            texts = read(data / "system-outputs" / pair / f"{system}.txt")
            assert metric.score(texts, references).value == pytest.approx(float(value), abs=1e-9)
            scores = list(metric.segments(texts, references))
            assert scores == pytest.approx(expected.pop(system), abs=1e-9)
            systems, segments = systems + 1, segments + len(scores)
        assert not expected
    assert (systems, segments) == (84, 127_374)


def read(path: Path) -> list[str]:
    return path.read_text("utf-8").split("\n")[:-1]
