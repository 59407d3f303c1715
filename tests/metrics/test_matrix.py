"""Tests of scores of all pairs, compared with `sentence`, and of their memory use."""

import itertools
import math
import pickle
import random
import signal
import subprocess
import sys
import threading
from functools import partial

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from strategies import parameters, texts

import truebleu
from truebleu import BLEU, CHRF, TER, InputError
from truebleu.metrics.pairwise_scores import Matrix, Triangle

CANDIDATES = [
    "The cat sat on the mat.",
    "The cat sat on the mat .",
    "A cat sat on a mat, on a mat.",
    "the cat sat on the mat",
    "",
    "Die Katze saß auf der Matte.",
    "mat mat mat the the the",
    "cat",
]

# Metrics with a formula or tokenizer in Python.
UNUSUAL = [
    BLEU("none", smoothing="floor", missing_order="at-least-one", arithmetic="nltk"),
    BLEU("none", arithmetic="nltk", published_scale=1.0),
    BLEU("none", arithmetic="float32", smoothing="add-k", missing_order="one"),
    BLEU("none", reference_length="average", smoothing="none"),
    BLEU(str.split),
    BLEU(str.split, lowercase="ascii", smoothing="add-k", arithmetic="nltk"),
    BLEU("13a", lowercase="after", max_order=2),
    BLEU("13a", lowercase="after", no_match="smoothed", smoothing="epsilon"),
    BLEU("none", reference_length="single", brevity_penalty="plus-one"),
]


def assert_equals_sentence_scores(metric, hypotheses, references, **options):
    """Assert that each score of the matrix equals the score from `sentence`."""
    matrix = metric.matrix(hypotheses, references, **options)
    assert matrix == [
        [float(metric.sentence(hypothesis, [reference])) for reference in references]
        for hypothesis in hypotheses
    ]


def mix_outputs(lines, count, seed=7):
    """Return candidates like samples from one model: outputs with some words exchanged."""
    dice = random.Random(seed)
    systems = [line.split() for line in lines]
    pool = list(itertools.chain(*systems))
    candidates = []
    for _ in range(count):
        words = [dice.choice(pool) if dice.random() < 0.1 else w for w in dice.choice(systems)]
        if len(words) > 3 and dice.random() < 1 / 3:
            del words[dice.randrange(len(words))]
        candidates.append(" ".join(words))
    return candidates


@pytest.fixture(scope="module")
def outputs(wmt22):
    """Return all WMT22 systems' outputs for each of ten German segments."""
    files = sorted((wmt22 / "system-outputs").rglob("*de-en*.en"))
    assert len(files) > 5
    lines = [file.read_text(encoding="utf-8").split("\n") for file in files]
    return [[line[segment] for line in lines] for segment in range(40, 1940, 190)]


# ---- the numbers ----


TEXTS = st.lists(texts(), min_size=1, max_size=5)


@given(TEXTS, TEXTS, parameters())
def test_bleu_matrix_equals_sentence_scores(hypotheses, references, parameters):
    assert_equals_sentence_scores(BLEU(**parameters), hypotheses, references)


@st.composite
def draw_weights(draw):
    order = draw(st.integers(1, 16))
    numbers = st.lists(st.floats(0, 4), min_size=order, max_size=order)
    return {"max_order": order, "weights": draw(numbers.filter(any))}


@given(
    st.lists(texts(12), min_size=1, max_size=5), draw_weights(), st.sampled_from(["exp", "floor"])
)
def test_bleu_matrix_with_weights_equals_sentence_scores(candidates, weights, smoothing):
    repeated = [text * 3 for text in candidates]
    assert_equals_sentence_scores(
        BLEU("char", smoothing=smoothing, **weights), candidates + repeated, candidates
    )


@given(
    TEXTS,
    TEXTS,
    st.fixed_dictionaries(
        {
            "char_order": st.integers(0, 9),
            "word_order": st.integers(0, 4),
            "beta": st.sampled_from([0, 1, 2, 0.5]),
            "lowercase": st.booleans(),
            "whitespace": st.booleans(),
            "eps_smoothing": st.booleans(),
        }
    ).filter(lambda values: values["char_order"] + values["word_order"]),
)
@example(["\udcff\U0010ffff"], ["\udcff", "x\U0010ffff"], {"lowercase": True})
def test_chrf_matrix_equals_sentence_scores(hypotheses, references, parameters):
    assert_equals_sentence_scores(CHRF(**parameters), hypotheses, references)


@given(st.lists(texts(), min_size=1, max_size=4), st.booleans(), st.booleans())
def test_ter_matrix_equals_sentence_scores(candidates, normalized, case_sensitive):
    metric = TER(normalized=normalized, case_sensitive=case_sensitive)
    assert_equals_sentence_scores(metric, candidates, candidates[:2])


@pytest.mark.parametrize("metric", UNUSUAL, ids=str)
def test_matrix_of_metrics_in_python_equals_sentence_scores(metric):
    assert_equals_sentence_scores(metric, CANDIDATES, [*CANDIDATES[::-1], "a b c d e"])
    assert metric.triangle(CANDIDATES).tolist() == [
        float(metric.sentence(a, [b])) for a, b in itertools.combinations(CANDIDATES, 2)
    ]
    means = [sum(row) / len(CANDIDATES) for row in metric.matrix(CANDIDATES)]
    assert metric.expected(CANDIDATES) == means
    assert metric.top_k(CANDIDATES, CANDIDATES, 3) == select_best(metric.matrix(CANDIDATES), 3)


def test_python_tokenizer_splits_each_text_once():
    seen = []

    def split(text):
        seen.append(text)
        return text.split()

    for metric in (BLEU(split), BLEU(split, arithmetic="nltk")):
        seen.clear()
        metric.matrix(["a b", "c"], ["a", "b", "c"])
        assert seen == ["a b", "c", "a", "b", "c"]


@pytest.mark.parametrize("length", [63, 64, 65, 127, 129, 255, 256, 257, 300, 700])
@pytest.mark.parametrize(
    "metric", [BLEU("none"), BLEU("none", max_order=9), CHRF(), CHRF(word_order=2)], ids=str
)
def test_texts_of_all_lengths_equal_sentence_scores(metric, length):
    dice = random.Random(length)
    words = ["a", "b", "c", "the", "of", "international", "standardization"]
    long = [" ".join(dice.choices(words, k=length + more)) for more in (-1, 0, 1)]
    short = [" ".join(dice.choices(words, k=k)) for k in (0, 1, 5, 60)]
    assert_equals_sentence_scores(metric, long + short, long + short)
    assert_equals_sentence_scores(metric, short, long + short)


def test_ngram_counts_above_255():
    candidates = ["e" * 300, "e" * 255, "e" * 256, "e" * 254, "e e " * 200, "", "e" * 66_000]
    for metric in (CHRF(), CHRF(word_order=2, whitespace=True), BLEU("char")):
        assert_equals_sentence_scores(metric, candidates, candidates[:6])
        assert_equals_sentence_scores(metric, candidates[:6], candidates)


@pytest.mark.parametrize(
    "metric",
    [
        BLEU(),
        BLEU("char", smoothing="add-k", lowercase=True),
        BLEU("intl", max_order=2, smoothing="none", effective_order=False),
        CHRF(),
        CHRF(char_order=3, word_order=2, lowercase=True),
        TER(),
    ],
    ids=str,
)
def test_hundreds_of_candidates_equal_sentence_scores(outputs, metric):
    """Candidates are near-duplicates, more than the block size, with unrelated texts between."""
    if isinstance(metric, TER):
        assert_equals_sentence_scores(
            metric, mix_outputs(outputs[1], 20), mix_outputs(outputs[1], 40, seed=8)
        )
        return
    references = mix_outputs(outputs[0], 300) + [line for lines in outputs for line in lines]
    hypotheses = references[::9]
    matrix = metric.matrix(hypotheses, references, workers=2)
    flat = metric.segments(
        [hypothesis for hypothesis in hypotheses for _ in references], references * len(hypotheses)
    )
    assert list(itertools.chain(*matrix)) == flat.tolist()


@pytest.mark.parametrize("instructions", truebleu._kernel.available_instructions())
def test_instruction_sets_give_equal_matrices(outputs, instructions):
    references = mix_outputs(outputs[2], 80) + outputs[3] + [outputs[4][0] * 5]
    before = truebleu._kernel.instructions()
    expected = [metric.matrix(references) for metric in (BLEU(), CHRF(word_order=1))]
    try:
        truebleu._kernel.use_instructions(instructions)
        assert [metric.matrix(references) for metric in (BLEU(), CHRF(word_order=1))] == expected
    finally:
        truebleu._kernel.use_instructions(before)


# ---- methods ----


def select_best(matrix, k, *, lowest=False):
    sign = 1 if lowest else -1
    return [
        sorted(enumerate(row), key=lambda pair: (sign * pair[1], pair[0]))[:k] for row in matrix
    ]


@pytest.mark.parametrize(
    "metric", [BLEU(), CHRF(), TER(), BLEU("none", arithmetic="nltk")], ids=str
)
@pytest.mark.parametrize("workers", [1, 2, 3])
def test_matrix_triangle_top_k_and_expected_agree(metric, workers):
    dice = random.Random(5)
    hypotheses = [" ".join(dice.choices("abcde", k=dice.randrange(9))) for _ in range(45)]
    references = [" ".join(dice.choices("abcde", k=dice.randrange(9))) for _ in range(70)]
    if not isinstance(metric, TER):
        references *= 5
    matrix = metric.matrix(hypotheses, references)
    assert metric.matrix(hypotheses, references, workers=workers) == matrix
    for k in (1, 2, 7, len(references), len(references) + 1):
        best_references = metric.top_k(hypotheses, references, k, workers=workers)
        assert best_references == select_best(matrix, k, lowest=isinstance(metric, TER))
    assert metric.expected(hypotheses, references, workers=workers).tolist() == [
        sum(row) / len(references) for row in matrix
    ]
    weights = [dice.choice([0, 1, 0.1, 1e-9, 3]) for _ in references]
    assert metric.expected(hypotheses, references, weights=weights, workers=workers).tolist() == [
        sum(w * score for w, score in zip(weights, row, strict=True)) / sum(map(float, weights))
        for row in matrix
    ]


@pytest.mark.parametrize("count", [1, 2, 3, 16, 17, 40, 300])
def test_triangle_is_upper_part_of_matrix(count):
    dice = random.Random(count)
    texts = [" ".join(dice.choices("abcd", k=dice.randrange(9))) for _ in range(count)]
    metrics = [BLEU(), CHRF()] + ([TER()] if count < 50 else [])
    for metric, workers in itertools.product(metrics, (1, 2)):
        matrix = metric.matrix(texts, texts)
        assert metric.matrix(texts) == matrix
        triangle = metric.triangle(texts, workers=workers)
        pairs = list(itertools.combinations(range(count), 2))
        assert triangle.tolist() == list(triangle) == [matrix[pair] for pair in pairs]
        assert len(triangle) == count * (count - 1) // 2
        assert triangle.texts == count
        assert all(triangle[i, j] == matrix[i, j] for i, j in pairs[:50])
        assert np.asarray(triangle).tolist() == triangle.tolist()


def test_single_precision_is_rounded_once_and_takes_half_the_memory():
    double = BLEU().matrix(CANDIDATES)
    for dtype in ("float32", np.float32, np.dtype("float32")):
        single = BLEU().matrix(CANDIDATES, dtype=dtype)
        assert single.dtype == "float32"
        assert memoryview(single).nbytes * 2 == memoryview(double).nbytes
        assert np.array_equal(np.asarray(single), np.asarray(double).astype(np.float32))
        assert single.tolist() == np.asarray(double).astype(np.float32).tolist()
        assert single != double
    triangle = CHRF().triangle(CANDIDATES, dtype="float32")
    expected = np.asarray(CHRF().triangle(CANDIDATES)).astype(np.float32)
    assert np.array_equal(np.asarray(triangle), expected)
    nltk = BLEU("none", arithmetic="nltk")
    assert np.asarray(nltk.matrix(CANDIDATES, dtype="float32")).dtype == np.float32


def test_columns_files_and_tokens_give_equal_matrices(write):
    expected = BLEU("none").matrix(CANDIDATES, CANDIDATES[:3])
    arrow = pa.array(CANDIDATES)
    assert BLEU("none").matrix(arrow, arrow[:3]) == expected
    path = write("candidates.txt", CANDIDATES)
    assert BLEU("none").matrix(path, CANDIDATES[:3]) == expected
    assert BLEU("none").expected(path) == [sum(row) / 8 for row in BLEU("none").matrix(CANDIDATES)]
    tokens = [text.split() for text in CANDIDATES]
    assert BLEU("none").matrix(tokens, tokens[:3]) == expected
    assert TER().matrix(arrow, path) == TER().matrix(CANDIDATES)
    nltk = BLEU("none", arithmetic="nltk")
    assert nltk.matrix(path, arrow) == nltk.matrix(CANDIDATES)


# ---- results ----


def test_matrix_is_readable_by_index_and_by_other_libraries():
    matrix = CHRF().matrix(CANDIDATES, CANDIDATES[:3])
    assert isinstance(matrix, Matrix)
    assert matrix.shape == (8, 3)
    assert len(matrix) == 8
    assert matrix[1].tolist() == matrix.tolist()[1] == matrix[-7].tolist()
    assert matrix[1, 2] == matrix.tolist()[1][2] == matrix[-7, -1]
    assert [row.tolist() for row in matrix] == matrix.tolist()
    array = np.asarray(matrix)
    assert array.shape == (8, 3)
    assert array.dtype == np.float64
    assert not array.flags.writeable
    assert array.tolist() == matrix.tolist()
    assert np.shares_memory(array, np.asarray(matrix))
    view = memoryview(matrix)
    assert (view.format, view.shape, view.strides) == ("d", (8, 3), (24, 8))
    assert pa.array(matrix).to_pylist() == matrix.tolist()
    assert pa.chunked_array(matrix).to_pylist() == matrix.tolist()
    assert str(pa.array(matrix).type) == "fixed_size_list<item: double not null>[3]"
    assert pa.array(CHRF().triangle(CANDIDATES)).type == pa.float64()
    assert repr(matrix).startswith("Matrix(8 x 3, float64)\n[")
    assert pickle.loads(pickle.dumps(matrix)) == matrix
    with pytest.raises(IndexError, match="reference 3 is out of range for 3"):
        matrix[0, 3]
    with pytest.raises(IndexError, match="hypothesis -9 is out of range for 8"):
        matrix[-9]
    with pytest.raises(TypeError):
        hash(matrix)


SLICES = [slice(None), slice(1, 3), slice(None, None, -1), slice(6, 1, -2), slice(-2, None)]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_matrix_slices_equal_array_slices(dtype):
    matrix = CHRF().matrix(CANDIDATES, CANDIDATES[:3], dtype=dtype)
    array = np.asarray(matrix)
    for rows in [0, -8, np.int64(7), *SLICES, slice(2, 2), slice(90, 99)]:
        assert np.array_equal(np.asarray(matrix[rows]), array[rows])
        for columns in [0, -3, *SLICES]:
            selected = matrix[rows, columns]
            assert np.array_equal(np.asarray(selected), array[rows, columns])
            is_matrix = isinstance(rows, slice) and isinstance(columns, slice)
            assert isinstance(selected, Matrix) == is_matrix
            assert not is_matrix or selected.dtype == dtype
    for index in ("a", 0.5, None, ..., [0, 1], (0, "a"), ("a", slice(None))):
        with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
            matrix[index]
    with pytest.raises(IndexError, match="3 indices"):
        matrix[0, 1, 2]
    with pytest.raises(IndexError, match="reference 3 is out of range for 3"):
        matrix[1:, 3]


def test_triangle_rejects_invalid_indices():
    triangle = BLEU().triangle(CANDIDATES, dtype="float32")
    assert isinstance(triangle, Triangle)
    assert repr(triangle).startswith("Triangle(8 texts, 28 pairs, float32: [")
    assert triangle.shape == (28,)
    assert pickle.loads(pickle.dumps(triangle)) == triangle
    assert triangle[-1] == triangle[6, 7]
    assert triangle[5:20:3].tolist() == triangle.tolist()[5:20:3]
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        triangle[0.5]
    with pytest.raises(IndexError, match="expected an earlier and a later text"):
        triangle[2, 1]
    with pytest.raises(IndexError, match="text 8 is out of range for 8"):
        triangle[0, 8]


# ---- invalid input ----

METRICS = [BLEU(), CHRF(), TER(), BLEU(str.split), BLEU("none", arithmetic="nltk")]


@pytest.mark.parametrize("metric", METRICS, ids=str)
@pytest.mark.parametrize(
    ("hypotheses", "references", "error", "message"),
    [
        ([], ["a"], InputError, r"^hypotheses: no texts"),
        (["a"], [], InputError, r"^references: no texts"),
        (["a"], ["a", None], InputError, r"^references: segment 2 is missing"),
        ([None], ["a"], InputError, r"^hypotheses: segment 1 is missing"),
        (["a"], ["a", 1], TypeError, r"^references: segment 2 is .*int"),
        (["a b"], [["a b", "c"]], TypeError, r"^references: segment 1 .*list.*A pair has one ref"),
        (["a b"], ["a b", ["c"]], TypeError, r"^references: segment 2 is .*list"),
        (["a"], "a", TypeError, r"^references: .*a single str"),
        (b"a", ["a"], TypeError, r"^hypotheses: .*found bytes"),
        ({"a"}, ["a"], TypeError, r"^hypotheses: set is unordered"),
    ],
)
def test_invalid_texts_are_named_in_error(metric, hypotheses, references, error, message):
    for verb in (metric.matrix, partial(metric.top_k, k=1), metric.expected):
        with pytest.raises(error, match=message):
            verb(hypotheses, references)


def test_invalid_utf8_is_named_in_error(tmp_path):
    path = tmp_path / "bad.txt"
    path.write_bytes(b"good\nb\xe4d\n")
    for metric in (BLEU(), CHRF(), TER()):
        with pytest.raises(InputError, match=r"bad.txt\), line 2: byte 0xe4 at offset 6"):
            metric.matrix(["a"], path)


@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_invalid_options_raise_error(metric):
    for verb in (metric.matrix, metric.triangle):
        with pytest.raises(ValueError, match="expected 'float64' or 'float32'"):
            verb(["a"], dtype="float16")
    for verb in (metric.matrix, partial(metric.top_k, k=1), metric.expected):
        with pytest.raises(ValueError, match="workers=0"):
            verb(["a"], ["a"], workers=0)
    for k in (0, -1, True, 1.5):
        with pytest.raises(ValueError, match="k="):
            metric.top_k(["a"], ["b"], k)


@pytest.mark.parametrize("metric", METRICS, ids=str)
@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ([1], InputError, "weights: expected one per reference"),
        ([1, -1], InputError, r"weights: weight 2 is -1.0"),
        ([1, math.nan], InputError, "nan"),
        ([0, 0], InputError, "sum must be positive"),
        (["x", 1], TypeError, "one per reference"),
    ],
)
def test_invalid_weights_raise_error(metric, weights, error, message):
    with pytest.raises(error, match=message):
        metric.expected(["a"], ["b", "c"], weights=weights)


def test_too_large_matrix_raises_memory_error_before_scoring():
    code = """
import resource, truebleu
texts = ["a b c"] * 60_000
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
try:
    truebleu.BLEU().matrix(texts)
except MemoryError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=True)
    assert done.stdout.decode() == (
        "cannot allocate 26.8 GiB for the scores of 60000 hypotheses × 60000 references. "
        'Use dtype="float32" to halve the size, or top_k() or expected() to avoid the matrix\n'
    )


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's /proc")
def test_memory_of_top_k_does_not_grow_with_pairs():
    """12,000 × 12,000 scores would be 1.1 GB."""
    code = """
import resource, truebleu
texts = [f"the {i % 997} cats and {i % 89} dogs of number {i}" for i in range(12_000)]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
metric = truebleu.BLEU("none")
means = metric.expected(texts)
assert len(means) == len(texts)
assert metric.top_k(texts, texts, 2)[7][0] == (7, 100.00000000000004)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, timeout=300, check=True
    )
    assert int(done.stdout) < 40 << 10  # KiB


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("metric", [CHRF(), TER()], ids=str)
def test_interrupt_stops_scoring(metric):
    texts = [" ".join(map(str, range(i % 7, i % 7 + 40))) + f" {i}" for i in range(20_000)]
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        metric.expected(texts, workers=2)
    timer.join()
