"""Tests that statistics do not depend on input types, batches, threads or instruction sets."""

import bz2
import collections
import gzip
import lzma
import os
import subprocess
import sys
import threading

import pytest
from strategies import TOKENIZERS

import truebleu

ARROW_TYPES = ["string", "large_string", "string_view"]
COMPRESSIONS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def compress_zstandard(data: bytes) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        zstd = pytest.importorskip("backports.zstd")
    return zstd.compress(data)


COMPRESSIONS[".zst"] = compress_zstandard


@pytest.fixture(scope="module")
def expected(corpus):
    """Return the statistics of lists of strings, which other tests compare with sacreBLEU."""
    return truebleu.BLEU().statistics(*corpus)


@pytest.fixture(scope="module")
def pa():
    return pytest.importorskip("pyarrow")


# Sequences.


class Text(str):
    __slots__ = ()


def make_object_array(texts):
    return pytest.importorskip("numpy").array(texts, dtype=object)


def make_subclass_instances(texts):
    return list(map(Text, texts))


@pytest.mark.parametrize(
    "sequence",
    [
        *(list, tuple, collections.deque, collections.UserList),
        *(make_object_array, make_subclass_instances),
    ],
)
def test_python_sequences_give_equal_statistics(corpus, expected, sequence):
    hypotheses, references = map(sequence, corpus)
    assert truebleu.BLEU().statistics(hypotheses, references) == expected


def test_reference_equals_sequence_of_one_reference(corpus, expected):
    hypotheses, references = corpus
    for equivalent in ([[ref] for ref in references], [(ref, None) for ref in references]):
        assert truebleu.BLEU().statistics(hypotheses, equivalent) == expected


class SequenceOfNewStrings(collections.UserList):
    """Sequence that creates new strings on each access, like NumPy's arrays."""

    def __iter__(self):
        return (text if text is None else "".join([*text]) for text in self.data)

    def __getitem__(self, index):
        return "".join([*self.data[index]])


@pytest.mark.parametrize("workers", [1, 2])
def test_strings_created_on_access_give_equal_statistics(corpus, workers):
    hypotheses, references = corpus
    groups = list(zip(references, [None, *references[1:]], references[::-1], strict=True))
    expected = truebleu.BLEU().statistics(hypotheses, groups)
    fresh = SequenceOfNewStrings(hypotheses), list(map(SequenceOfNewStrings, groups))
    assert truebleu.BLEU().statistics(*fresh, workers=workers) == expected


def test_numpy_string_arrays_give_equal_statistics():
    np = pytest.importorskip("numpy")
    hypotheses, references = ["é a", "b", "c"], [["é b", "é a"], ["c", "d"], ["e", "c"]]
    table = truebleu.BLEU(max_order=2).statistics(np.array(hypotheses), np.array(references))
    assert table == truebleu.BLEU(max_order=2).statistics(hypotheses, references)
    assert table.column("matches_1") == [2, 0, 1]


# Arrow columns.


@pytest.mark.parametrize("kind", ARROW_TYPES)
@pytest.mark.parametrize(
    "layout",
    {
        "whole": lambda pa, array: array,
        "sliced": lambda pa, array: pa.concat_arrays([array[3:8], array, array[:9]])[
            5 : 5 + len(array)
        ],
        "chunked": lambda pa, array: pa.chunked_array([array[:7], array[7:7], array[7:]]),
        "dictionary": lambda pa, array: pa.DictionaryArray.from_arrays(
            pa.array(reversed(range(len(array))), pa.int16()),
            pa.array(array.to_pylist()[::-1], array.type),
        ),
        "sliced dictionary": lambda pa, array: pa.DictionaryArray.from_arrays(
            pa.array([0, *range(len(array))], pa.uint32()), array
        )[1:],
    }.items(),
    ids=lambda layout: layout[0],
)
def test_arrow_columns_give_equal_statistics(pa, corpus, expected, kind, layout):
    _, arrange = layout
    hypotheses, references = (arrange(pa, pa.array(side, getattr(pa, kind)())) for side in corpus)
    assert len(hypotheses) == len(references) == len(expected)
    assert truebleu.BLEU().statistics(hypotheses, references) == expected


@pytest.mark.parametrize("kind", ["list_", "large_list", "fixed"])
@pytest.mark.parametrize("text", ARROW_TYPES)
def test_arrow_reference_lists_give_equal_statistics(pa, corpus, kind, text):
    hypotheses, references = corpus
    lists = list(zip(references, [None, *references[1:]], references[::-1], strict=True))
    text = getattr(pa, text)()
    kind = pa.list_(text, 3) if kind == "fixed" else getattr(pa, kind)(text)
    column = pa.array([lists[0], *lists], kind)[1:]
    expected = truebleu.BLEU().statistics(hypotheses, lists)
    assert expected.references == "var"
    assert truebleu.BLEU().statistics(hypotheses, column) == expected
    assert truebleu.BLEU().statistics(hypotheses, pa.chunked_array([column])) == expected


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "with nulls"])
def test_one_arrow_column_per_reference(pa, corpus, missing):
    """Nulls are missing references."""
    hypotheses, references = corpus
    second = [None if missing and i % 3 else ref for i, ref in enumerate(references[::-1])]
    expected = truebleu.BLEU().statistics(hypotheses, list(zip(references, second, strict=True)))
    columns = [pa.array(references), pa.array(second)]
    assert truebleu.BLEU().statistics(hypotheses, columns) == expected


@pytest.mark.parametrize("dtype", ["String", "Categorical"])
def test_polars_series_give_equal_statistics(corpus, expected, dtype):
    pl = pytest.importorskip("polars")
    hypotheses, references = (pl.Series(side, dtype=getattr(pl, dtype)) for side in corpus)
    assert truebleu.BLEU().statistics(hypotheses, references) == expected
    frame = pl.DataFrame({"hypothesis": hypotheses, "reference": references})
    assert truebleu.BLEU().statistics(frame["hypothesis"], frame["reference"]) == expected


# Files.


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_files_give_equal_statistics(corpus, expected, tmp_path, suffix):
    paths = [tmp_path / f"{name}.txt{suffix}" for name in ("hypothesis", "reference")]
    for path, lines in zip(paths, corpus, strict=True):
        path.write_bytes(COMPRESSIONS[suffix]("".join(f"{line}\n" for line in lines).encode()))
    for workers in (1, 2):
        assert truebleu.BLEU().statistics(*paths, workers=workers) == expected


def test_final_newline_adds_no_segment(corpus, expected, tmp_path):
    hypotheses, references = corpus
    path = tmp_path / "hypothesis"
    path.write_text("\n".join(hypotheses), encoding="utf-8", newline="\n")
    assert truebleu.BLEU().statistics(path, references) == expected


def test_carriage_return_does_not_end_line(tmp_path):
    path = tmp_path / "hypothesis"
    path.write_bytes(b"the cat\rsat\r\non the mat\r\n")
    table = truebleu.BLEU().statistics(path, ["the cat sat", "on the mat"])
    assert table.column("matches_1") == [3, 3]


def test_trailing_white_space_in_files_gives_equal_statistics(write):
    lines = [f"the cat{space}" for space in "\r\t\v\f\x1c\x1f\x85\xa0\u2028\u3000"]
    table = truebleu.BLEU().statistics(write("hypothesis", lines), ["the cat"] * len(lines))
    assert table.column("matches_2") == [1] * len(lines)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-le", "gb18030", "utf-8-sig"])
def test_encodings_give_equal_statistics(write, encoding):
    lines = ["Où est le chat ?", "Il était à l'hôtel."] * 50
    path = truebleu.File(write("hypothesis", lines, encoding), encoding=encoding)
    assert truebleu.BLEU().statistics(path, lines) == truebleu.BLEU().statistics(lines, lines)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_named_pipes_give_equal_statistics(corpus, expected, tmp_path):
    hypotheses, references = corpus
    path = tmp_path / "pipe"
    os.mkfifo(path)
    content = "\n".join(hypotheses)
    writer = threading.Thread(target=path.write_text, args=(content, "utf-8"), daemon=True)
    writer.start()
    assert truebleu.BLEU().statistics(path, references) == expected
    writer.join()


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_table_columns_give_equal_statistics(tmp_path, suffix):
    rows = [("1", "the cat sat", "The cat sat."), ("2", "", "a mat"), ("3", "on a mat", "on a mat")]
    path = tmp_path / f"table.tsv{suffix}"
    path.write_bytes(COMPRESSIONS[suffix]("".join("\t".join(row) + "\n" for row in rows).encode()))
    _, hypotheses, references = map(list, zip(*rows, strict=True))
    columns = (truebleu.File(path, column=2), truebleu.File(path, column=3))
    expected = truebleu.BLEU().statistics(hypotheses, references)
    assert truebleu.BLEU().statistics(*columns) == expected


def test_reference_files_with_hypothesis_list(corpus, write):
    hypotheses, references = corpus
    second = references[::-1]
    expected = truebleu.BLEU().statistics(hypotheses, list(zip(references, second, strict=True)))
    paths = [write("one", references), truebleu.File(write("two", second))]
    assert truebleu.BLEU().statistics(hypotheses, paths) == expected
    assert truebleu.BLEU().statistics(hypotheses, tuple(paths)) == expected


@pytest.mark.thorough
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_large_files_give_equal_statistics(corpus, expected, tmp_path, suffix):
    """The file has ten thousand segments, followed by a line of six megabytes."""
    long = "un éléphant se balançait " * 240_000
    hypotheses, references = (side * 25 + [long] for side in corpus)
    paths = [tmp_path / f"{name}{suffix}" for name in ("hypothesis", "reference")]
    for path, lines in zip(paths, (hypotheses, references), strict=True):
        path.write_bytes(COMPRESSIONS[suffix]("\n".join(lines).encode()))
    for workers in (1, 3):
        table = truebleu.BLEU().statistics(*paths, workers=workers)
        assert len(table) == 25 * len(expected) + 1
        for start in range(0, len(table) - 1, len(expected)):
            assert table[start : start + len(expected)] == expected
        words = 4 * 240_000
        matches, totals = [words - n for n in range(4)], [words - n for n in range(4)]
        assert table[len(table) - 1].tolist() == [[words, words, *matches, *totals]]


# Tokens instead of text.


def test_tokens_equal_text():
    metric = truebleu.BLEU(tokenize="none")
    expected = metric.statistics(["a b c d", "c d"], [("a b d", "c d"), ("c c d", None)])
    words = [["a", "b", "c", "d"], ["c", "d"]]
    assert metric.statistics(words, [(list("abd"), list("cd")), (list("ccd"), None)]) == expected
    numbers = [[1, 2, 3, 4], [3, 4]]
    assert metric.statistics(numbers, [([1, 2, 4], [3, 4]), ([3, 3, 4], None)]) == expected
    single = metric.statistics(words, [list("abd"), list("ccd")])
    assert single == metric.statistics(["a b c d", "c d"], ["a b d", "c c d"])


@pytest.mark.parametrize("size", [1, 2, 3])
def test_token_lists_are_not_transposed_references(size):
    """Token sequences are not read as sacreBLEU's transposed references."""
    segments = [[f"{row}{column}" for column in range(size)] for row in range(size)]
    table = truebleu.BLEU("none", max_order=1).statistics(segments, segments)
    assert table.tolist() == [[size] * 4] * size


def test_tokens_are_compared_completely():
    """Tokens may contain white space, be empty, or be large numbers."""
    metric = truebleu.BLEU(tokenize="none", max_order=1)
    table = metric.statistics([["New York", "", "a"]], [[["New York", "", "New", "York"]]])
    assert table.tolist() == [[3, 4, 2, 3]]
    numbers = [[0, -1, 2**31, 2**62]]
    assert metric.statistics(numbers, numbers).tolist() == [[4, 4, 4, 4]]


@pytest.mark.parametrize("join", [list, " ".join])
def test_callable_equals_named_tokenizer(corpus, expected, join):
    metric = truebleu.BLEU(tokenize=lambda text: join(truebleu.tokenize(text, "13a")))
    assert metric.statistics(*corpus).tolist() == expected.tolist()


# Threads and instruction sets.


@pytest.mark.thorough
@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@pytest.mark.parametrize("workers", [2, 3, 64])
def test_statistics_are_independent_of_workers(corpus, tokenizer, workers):
    metric = truebleu.BLEU(tokenize=tokenizer)
    hypotheses, references = corpus[0] * 20, corpus[1] * 20
    single_reference = metric.statistics(hypotheses, references)
    assert metric.statistics(hypotheses, references, workers=workers) == single_reference
    reference_pairs = list(zip(references, references[::-1], strict=True))
    assert metric.statistics(hypotheses, reference_pairs, workers=workers) == metric.statistics(
        hypotheses, reference_pairs
    )
    assert metric.score(hypotheses, references, workers=workers) == metric.from_statistics(
        single_reference
    )
    segments = metric.segments(hypotheses, references, workers=workers)
    assert segments == metric.segments(hypotheses, references)


def test_more_workers_than_segments_give_equal_statistics():
    assert truebleu.bleu(["a b c d"], ["a b c d"], workers=10**6).value == 100.00000000000004


DIGEST = """
import hashlib, itertools, sys
from pathlib import Path
import truebleu
for pair in zip(sys.argv[1::2], sys.argv[2::2]):
    for tokenizer, lowercase in itertools.product(["none", "13a", "intl", "zh", "char"], [0, 1]):
        metric = truebleu.BLEU(tokenize=tokenizer, lowercase=bool(lowercase))
        for workers in (1, 2):
            table = metric.statistics(*map(Path, pair), workers=workers)
            print(len(table), hashlib.sha256(memoryview(table)).hexdigest())
"""


def hash_tables(instructions: str | None, pairs: list) -> str:
    """Return hashes of each tokenizer's tables from a process limited to these instructions."""
    environment = {name: value for name, value in os.environ.items() if name != "TRUEBLEU_SIMD"}
    if instructions:
        environment["TRUEBLEU_SIMD"] = instructions
    done = subprocess.run(
        [sys.executable, "-c", DIGEST, *[str(path) for pair in pairs for path in pair]],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and "TRUEBLEU_SIMD" in done.stderr:
        pytest.skip(f"this processor has no {instructions}: {done.stderr.splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    return done.stdout


INSTRUCTIONS = ["scalar", "portable", "neon", "avx2", "avx512"]


@pytest.mark.parametrize("instructions", INSTRUCTIONS)
def test_instruction_sets_agree_on_adversarial_text(corpus, write, instructions):
    pairs = [[write("hypothesis", corpus[0]), write("reference", corpus[1])]]
    assert hash_tables(instructions, pairs) == hash_tables(None, pairs)
