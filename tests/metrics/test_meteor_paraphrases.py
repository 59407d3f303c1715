"""Tests of the part of METEOR's paraphrases that it loads, compared with the whole table."""

import gzip
import shutil
import subprocess
import sys
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import example, given
from optional_tools import lacking

from truebleu.metrics import meteor_paraphrases, meteor_process
from truebleu.metrics.meteor import METEOR

pytestmark = pytest.mark.thorough

LACKING = lacking("meteor")
with_program = pytest.mark.skipif(bool(LACKING), reason=LACKING)

# Paraphrases with letters, digits, other characters, repeated entries and several lengths.
PARAPHRASES = [
    ("big house", "large home"),
    ("big house", "mansion"),
    ("big house", "large home"),
    ("car", "automobile"),
    ("car", "the u.s. car"),
    ("us army", "american forces"),
    ("google com", "search engine"),
    ("end", "the end of the day"),
    ("1,000", "a thousand"),
    ("5 k", "five kilo"),
    ("café", "coffee house"),
    ("straße", "street"),
    ("the man 's", "his"),
    ("Big", "large"),
    ("i̇stanbul", "city"),
    ("stanbul", "city"),
    ("wait what", "hold on"),
    ("в доме", "дома"),
    ("old", "aged"),
]
WORDS = sorted({word for pair in PARAPHRASES for phrase in pair for word in phrase.split()})
PIECES = [
    *("U.S.", "U.S", "DOT", "MULTI", "DOTMULTI", "İstanbul", "ẞ", "Å", "ǅ", "ſ", "n't", "5", "é"),
    *(" ", " ", " ", ".", "..", "...", ",", "-", "--", "–", "'", "’", "''", "“", "`", "%", "😀"),
    *("\u00a0", "\u2028", "\u0301", "\u3000", "\x0b", "\x1c", "&quot;", "|", "K", "\ufeff"),
]
TEXTS = st.lists(
    st.sampled_from([*WORDS, *map(str.upper, WORDS), *PIECES]) | st.characters(codec="utf-8"),
    max_size=12,
).map("".join)


def write_table(path: Path, pairs=PARAPHRASES) -> str:
    lines = "".join(f"0.5\n{first}\n{second}\n" for first, second in pairs)
    path.write_bytes(gzip.compress(lines.encode("utf-8", "surrogateescape")))
    return str(path)


def select_pairs(table: str, *texts: str) -> list[tuple[str, str]] | None:
    """Return the selected paraphrases for one request, or None for the whole table."""
    selected = meteor_paraphrases.select_paraphrases(table, [" ||| ".join(["", *texts]).encode()])
    if selected is None:
        return None
    lines = gzip.decompress(selected).decode("utf-8", "surrogateescape").split("\n")
    return list(zip(lines[1::3], lines[2::3], strict=True))


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch) -> Path:
    """Use an empty cache."""
    monkeypatch.setenv("TRUEBLEU_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "meteor"


@pytest.fixture(scope="module")
def index_folder(tmp_path_factory) -> Path:
    """Return a cache for tests with METEOR's own table, whose index takes ten seconds."""
    return tmp_path_factory.mktemp("index")


@pytest.fixture(scope="module")
def program_folder(tmp_path_factory) -> Path:
    """Copy the program next to the table of this module."""
    folder = tmp_path_factory.mktemp("program")
    shutil.copy(meteor_process.find_jar(), folder / "meteor-1.5.jar")
    (folder / "data").mkdir()
    for language in ("en", "ru"):
        write_table(folder / "data" / f"paraphrase-{language}.gz")
    return folder


@pytest.fixture
def small_program(program_folder, monkeypatch) -> Path:
    """Use the program with the table of this module, and no processes of other tests."""
    monkeypatch.setenv("METEOR_JAR", str(program_folder / "meteor-1.5.jar"))
    meteor_process.end_all_processes()
    yield program_folder
    meteor_process.end_all_processes()


# ---- selected paraphrases ----


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("A BIG house.", "a large home"), [("big house", "large home")] * 2),
        (("a house, big", "a large home"), []),
        (("The U.S. Army", "American-forces"), [("us army", "american forces")]),
        (("google.com", "search engine"), []),
        (("wait...what?", "Hold on"), [("wait what", "hold on")]),
        (("A.", "The end of the day: end"), [("end", "the end of the day")]),
    ],
)
def test_paraphrases_are_selected_if_both_phrases_occur(texts, expected, tmp_path):
    pairs = select_pairs(write_table(tmp_path / "p.gz"), *texts)
    other = {one for pair in PARAPHRASES for one in pair if not meteor_paraphrases.is_plain(one)}
    assert other == {"the u.s. car", "1,000", "the man 's", "Big", "i̇stanbul"}
    assert [pair for pair in pairs if not other.intersection(pair)] == expected


@pytest.mark.parametrize(
    "text", ["DOTMULTI", "a DOT.MULTI. b", "5\u212a", "\u212b", "\u1e9e", "a " * 500_001]
)
def test_uncertain_or_long_text_needs_whole_table(text, tmp_path):
    assert select_pairs(write_table(tmp_path / "p.gz"), text, "a") is None


def test_only_listed_characters_become_letters_in_lower_case():
    letters, uncertain = meteor_paraphrases.WORD, meteor_paraphrases.UNCERTAIN_TEXT
    for character in map(chr, range(sys.maxunicode + 1)):
        if not letters.match(character) and letters.search(character.lower()):
            assert uncertain.match(character), hex(ord(character))


@pytest.fixture(scope="module")
def tokenize():
    """Return a function that tokenizes a text with METEOR's own class."""
    options = ["-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8", "-Dsun.stdout.encoding=UTF-8"]
    words = [*options, "-cp", meteor_process.find_jar(), "edu.cmu.meteor.util.Normalizer"]
    with subprocess.Popen(
        [meteor_process.find_java(), *words, "en", "true"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:

        def tokenize_text(text: str) -> list[str]:
            process.stdin.write(f"{text}\n".encode())
            process.stdin.flush()
            line = process.stdout.readline().decode().lower()
            return [token for token in line.replace("\n", " ").split(" ") if token]

        yield tokenize_text
        process.kill()


@with_program
@given(TEXTS)
@example("Then the U.S.-based U.N.'s e.g. x.y.z. said: wait...what, at google.com. OK.")
@example("1,000.5 a,b,c İstanbul's 'quoted' ''double'' in-depth--and–more “quotes” rock'n'roll 5's")
def test_phrases_of_any_text_include_phrases_of_its_tokens(tokenize, text):
    text = text.replace("\r", " ").replace("\n", " ").replace("|", " ")
    phrases = meteor_paraphrases.list_phrases([text])
    if phrases is None:
        return
    tokens = tokenize(text)
    for i in range(len(tokens)):
        for n in range(1, meteor_paraphrases.MAX_WORDS + 1):
            phrase = " ".join(tokens[i : i + n])
            assert not meteor_paraphrases.is_plain(phrase) or phrase in phrases


# ---- counts ----


@with_program
@pytest.mark.parametrize(
    "metric",
    [
        METEOR(modules=["exact", "paraphrase"]),
        METEOR(modules=["paraphrase", "exact"], normalize="lower"),
        METEOR(modules=["exact", "paraphrase"], normalize=False),
        METEOR("ru", modules=["exact", "paraphrase"]),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ("hypothesis", "references"),
    [
        ("It's a BIG house.", ["It is a large home.", "a mansion"]),
        ("the U.S. car's end; 1,000 Straßen: STRASSE straße", ["The man's automobile, U.S. car"]),
        ("İSTANBUL stanbul city – 5 \u212a, five kilo", ["a city: İstanbul, i̇stanbul 5 k"]),
        ("café😀old wait…what wait..what", ["coffee house aged hold on", "Coffee-house Aged"]),
        ("в ДОМЕ Big large", ["Дома large Big big"]),
    ],
)
def test_counts_equal_counts_with_whole_table(
    metric, hypothesis, references, small_program, monkeypatch
):
    row = metric.statistics([hypothesis], [references]).tolist()
    meteor_process.end_all_processes()
    monkeypatch.setattr(meteor_paraphrases, "select_paraphrases", lambda *_: None)
    assert metric.statistics([hypothesis], [references]).tolist() == row
    assert not any("-a" in process.process.args for process in meteor_process._PROCESSES.values())


@with_program
@pytest.mark.parametrize(
    ("parameters", "pair", "system"),
    [
        ({}, "zh-en", "Online-A"),
        ({"normalize": "lower"}, "ru-en", "JDExploreAcademy"),
        ({"normalize": False, "characters": True}, "de-en", "Lan-Bridge"),
    ],
)
def test_wmt22_counts_equal_counts_with_whole_table(
    parameters, pair, system, wmt22, index_folder, monkeypatch
):
    """500 segments, with two references for zh-en and de-en."""
    monkeypatch.setenv("TRUEBLEU_CACHE", str(index_folder))
    paths = sorted((wmt22 / "references").glob(f"generaltest2022.{pair}.ref.*.en"))
    paths.append(wmt22 / "system-outputs" / f"generaltest2022.{pair}.hyp.{system}.en")
    *reference_lists, hypotheses = (
        path.read_text(encoding="utf-8").split("\n")[1000:1500] for path in paths
    )
    references = list(zip(*reference_lists, strict=True))
    metric = METEOR(**parameters)
    meteor_process.end_all_processes()
    rows = metric.statistics(hypotheses, references).tolist()
    meteor_process.end_all_processes()
    monkeypatch.setattr(meteor_paraphrases, "select_paraphrases", lambda *_: None)
    assert metric.statistics(hypotheses, references).tolist() == rows


# ---- the index ----


def test_index_is_written_once(tmp_path, cache_folder, capfd):
    table = write_table(tmp_path / "p.gz")
    texts = "a big house", "a mansion"
    first = select_pairs(table, *texts)
    message = "truebleu: preparing METEOR's p.gz for quicker starts (once)\n"
    assert capfd.readouterr().err == message
    assert ("big house", "mansion") in first
    assert select_pairs(table, *texts) == first
    assert capfd.readouterr().err == ""
    # A changed table has another index.
    write_table(tmp_path / "p.gz", [("big house", "a mansion")])
    assert select_pairs(table, *texts) == [("big house", "a mansion")]
    assert len(list(cache_folder.iterdir())) == 2


@pytest.mark.parametrize("damage", ["empty", "shorter", "other bytes", "folder"])
def test_damaged_index_is_replaced(damage, tmp_path, cache_folder):
    table = write_table(tmp_path / "p.gz")
    expected = select_pairs(table, "car", "automobile")
    (path,) = cache_folder.iterdir()
    content = path.read_bytes()
    if damage == "folder":
        path.unlink()
        path.mkdir()
        assert select_pairs(table, "car", "automobile") is None
        return
    damaged = {"empty": b"", "shorter": content[:-20], "other bytes": b"\0" * len(content)}
    path.write_bytes(damaged[damage])
    assert select_pairs(table, "big house", "large home") is not None
    assert select_pairs(table, "car", "automobile") == expected
    for i in range(len(content)):
        path.write_bytes(content[:i] + bytes([content[i] ^ 4]) + content[i + 1 :])
        assert select_pairs(table, "car", "automobile") == expected


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no gzip file at all",
        gzip.compress(b"0\na\nb\n")[:-6],
        gzip.compress(b"0\na\nb\n0\nc\n"),
        gzip.compress(b"0\na\rb\nc\n"),
    ],
)
def test_unreadable_table_has_no_part(content, tmp_path, cache_folder):
    table = tmp_path / "p.gz"
    table.write_bytes(content)
    assert select_pairs(str(table), "a", "b") is None
    assert select_pairs(str(tmp_path / "missing"), "a", "b") is None
    assert not cache_folder.exists() or not list(cache_folder.iterdir())


def test_invalid_utf8_is_kept(tmp_path):
    pairs = [("a", "\udcff"), ("\udcff", "b"), ("a", "b"), ("a", "")]
    assert select_pairs(write_table(tmp_path / "p.gz", pairs), "a", "b") == pairs


def test_unwritable_cache_needs_whole_table(tmp_path, monkeypatch, capfd):
    (tmp_path / "file").touch()
    monkeypatch.setenv("TRUEBLEU_CACHE", str(tmp_path / "file"))
    assert select_pairs(write_table(tmp_path / "p.gz"), "car", "automobile") is None
    assert capfd.readouterr().err == ""


def test_concurrent_processes_write_one_index(tmp_path, cache_folder):
    pairs = [(f"car {i}", f"automobile {j}") for i in range(2000) for j in range(20)]
    table = write_table(tmp_path / "p.gz", pairs)
    code = """
    import sys, zlib
    from truebleu.metrics.meteor_paraphrases import select_paraphrases
    print(zlib.crc32(select_paraphrases(sys.argv[1], [b"|||car 7|||automobile 1"])))
    """
    command = [sys.executable, "-c", "\n".join(line[4:] for line in code.split("\n")), table]
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    outputs, errors = zip(*(process.communicate() for process in processes), strict=True)
    assert len(set(outputs)) == 1
    assert outputs[0].strip().isdigit()
    assert sum(error.count("preparing") for error in errors) == 1
    assert len(list(cache_folder.iterdir())) == 1


# ---- processes ----


@with_program
def test_new_text_starts_new_process_until_whole_table_is_loaded(
    small_program, monkeypatch, tmp_path
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    metric = METEOR(modules=["exact", "paraphrase"])
    texts = ["big house", "large home", "mansion", "car", "automobile", "old", "aged"]
    started = []
    for text in texts:
        metric.score([text], [text])
        metric.score([text], [text])
        (process,) = meteor_process._PROCESSES.values()
        started.append((process.process.pid, "-a" in process.process.args))
        assert not [path for path in tmp_path.iterdir() if path.name.startswith("truebleu-")]
    assert [is_part for _, is_part in started] == [True] * 4 + [False] * 3
    assert len({pid for pid, _ in started}) == 5
    # A process knows all earlier texts.
    meteor_process.end_all_processes()
    for pair in (("big house", "large home"), ("car", "old"), ("big house", "large home")):
        score = metric.sentence(*pair)
    (process,) = meteor_process._PROCESSES.values()
    assert process.number == 2
    assert score > 0


@with_program
def test_punctuation_removal_loads_whole_table(small_program):
    metric = METEOR(modules=["exact", "paraphrase"], no_punct=True)
    assert metric.sentence("google.com", "search engine") > 0
    (process,) = meteor_process._PROCESSES.values()
    assert "-a" not in process.process.args
