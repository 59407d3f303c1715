"""Bad input is refused at once, by an error that says which input, which segment and what to do."""

import contextlib
import gzip
import pickle
import threading
from collections import deque

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import truebleu
from truebleu import BLEU, File, InputError

VERBS = [truebleu.bleu, BLEU().score, BLEU().statistics, BLEU().segments]
verbs = pytest.mark.parametrize("verb", VERBS, ids=["bleu", "score", "statistics", "segments"])


def test_an_input_error_has_its_public_name_and_can_be_pickled():
    """Worker processes hand their exceptions back as pickles."""
    error = pickle.loads(pickle.dumps(InputError("segment 3 is missing")))
    assert (type(error), error.args) == (InputError, ("segment 3 is missing",))
    assert (InputError.__module__, InputError.__qualname__) == ("truebleu", "InputError")
    assert repr(InputError) == "<class 'truebleu.InputError'>"
    assert issubclass(InputError, ValueError)


# Shapes.

THREE = ["a", "b", "c"]
WRONG_SHAPES = {
    "fewer references": (THREE, ["a", "b"], "(?s)3.*2"),
    "fewer hypotheses": (["a"], ["a", "b"], "(?s)1.*2"),
    "no segments": ([], [], "no segments"),
    "no segments, transposed": ((), [[]], "(?s)0|no segments"),
    "None hypothesis": (["a", None], ["a", "b"], "(?s)hypothes.*2"),
    "None reference": (THREE, ["a", "b", None], "(?s)reference.*3"),
    "all references None": (THREE, [["a"], [None, None], ["c"]], "(?s)reference.*2"),
    "empty references": (THREE, [["a"], ["b"], []], "(?s)reference.*3"),
    "transposed, one stream": (THREE, [THREE], "(?s)1.*3"),
    "transposed, two streams": (THREE, [THREE, THREE], "(?s)reference.*2.*3.*segment.*zip"),
    "ambiguous square": (["a", "b"], [["a", "b"], ["c", "d"]], "(?s)2.*tuple"),
}


@verbs
@pytest.mark.parametrize(
    ("hypotheses", "references", "message"), WRONG_SHAPES.values(), ids=WRONG_SHAPES
)
def test_wrong_shape_is_refused(verb, hypotheses, references, message):
    with pytest.raises(InputError, match=message):
        verb(hypotheses, references)


SQUARE = ["the cat sat on the mat", "nobody was there", "it rains again today"]
TRANSLATED = ["a cat is on the mat", "no one was there", "today it rains again"]


def test_text_decides_square_shape(write):
    """As many segments as references: streams are refused, and references of segments are taken."""
    pa = pytest.importorskip("pyarrow")
    streams = [SQUARE, TRANSLATED, SQUARE[::-1]]
    per_segment = [list(one) for one in zip(*streams, strict=True)]
    for hypotheses in (SQUARE, tuple(SQUARE), write("hypotheses", SQUARE), pa.array(SQUARE)):
        with pytest.raises(InputError, match="tuple"):
            truebleu.bleu(hypotheses, streams)
        assert truebleu.bleu(hypotheses, per_segment).value == 100.00000000000004


@pytest.mark.parametrize(
    ("hypotheses", "references"),
    [
        (["a b c d", "e f g h"], [["a b c d", "x"], ["e f g h", "y"]]),
        (["a", "b"], [["a", "c"], ["b", "d"]]),
        (["", ""], [["", "x"], ["x", ""]]),
        (["a"], [["a"]]),
    ],
)
@verbs
def test_square_references_follow_documentation(verb, hypotheses, references):
    for result in (
        verb(hypotheses, references),
        truebleu.compare({"x": hypotheses}, references),
        truebleu.explain(hypotheses, references),
        truebleu.metric("nist").score(hypotheses, references),
    ):
        assert result is not None


def test_accumulator_does_not_guess_shape():
    """A batch may have any size; even these, which look like streams, are per segment."""
    total = truebleu.Accumulator()
    total.update(SQUARE, [SQUARE, TRANSLATED, SQUARE[::-1]])
    assert total.segments == 3


def test_tuples_decide_square_shape():
    score = truebleu.bleu(["a", "b"], [("a", "b"), ("c", "b")])
    assert score.matches[0] == 2
    assert score.signature["nrefs"] == "2"


# Types.


@verbs
@pytest.mark.parametrize(
    ("hypotheses", "references", "message"),
    [
        ("the cat", ["the cat"], "(?s)hypotheses.*list.*Path"),
        (["the cat"], "the cat", "(?s)references.*list.*Path"),
        (b"the cat", ["the cat"], "(?s)hypotheses.*bytes"),
        (["the cat"], b"the cat", "(?s)references.*bytes"),
        ([b"a"], ["a"], "(?s)hypothes.*1.*bytes"),
        (["a", "b"], ["a", b"b"], "(?s)reference.*2.*bytes"),
        (["a", "b"], [("a",), ("b", b"b")], "(?s)reference.*2.*bytes"),
        (["a", 2.5], ["a", "b"], "(?s)hypothes.*2.*float"),
        (["a", "b"], ["a", 7], "(?s)reference.*2.*int"),
        (None, ["a"], "(?s)hypotheses.*None"),
        (["a"], None, "(?s)references.*None"),
        (3, ["a"], "(?s)hypotheses.*int"),
        (["a"], {"a": "b"}, "(?s)references.*dict"),
        ({"a"}, ["a"], "(?s)hypotheses.*set"),
        ((text for text in "ab"), ["a", "b"], "(?s)hypotheses.*generator"),
        (["a"], [{"a": "b"}], "(?s)reference.*1.*dict"),
        (["a"], [{"a"}], "references, segment 1 is of type set "),
        (["a"], [frozenset("a")], "references, segment 1 is of type frozenset "),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "__next__") else str(value),
)
def test_wrong_type_is_refused(verb, hypotheses, references, message):
    with pytest.raises(TypeError, match=message):
        verb(hypotheses, references)


@pytest.mark.parametrize(
    ("hypothesis", "references", "message"),
    [
        (["a"], ["a"], "hypothes.*str"),
        (None, ["a"], "hypothesis.*None"),
        (b"a", ["a"], "hypothesis.*bytes"),
        ("a", b"a", "reference.*bytes"),
        ("a", ["a", 1], "(?s)reference.*int"),
        ("a", [["a"]], "(?s)reference.*list"),
        *(("a", missing, "reference") for missing in (None, [], [None], (None, None))),
    ],
    ids=str,
)
def test_wrong_type_of_one_segment_is_refused(hypothesis, references, message):
    with pytest.raises((TypeError, InputError), match=message):
        BLEU().sentence(hypothesis, references)


class NAType:  # noqa: PLW1641
    """pandas.NA, as far as messages know it."""

    def __eq__(self, _):
        raise TypeError("boolean value of NA is ambiguous")


@pytest.mark.parametrize(
    "metric",
    [BLEU(), BLEU("none", unicode_form="nfc"), BLEU(str.split), truebleu.NIST(), truebleu.CHRF()],
    ids=repr,
)
@pytest.mark.parametrize(
    "value", [float("nan"), np.float64("nan"), NAType()], ids=["float", "numpy", "pandas"]
)
def test_missing_values_of_tables_are_named(metric, value):
    name = "pandas.NA" if isinstance(value, NAType) else "NaN"
    message = f'{name}, a missing value \\(replace it with "" or remove the segment\\)'
    for hypotheses, references, place in (
        (["a", value], ["a", "b"], "hypotheses[:,] segment 2"),
        (["a", "b"], ["a", value], "references[:,] segment 2"),
        (["a", "b"], ["a", ("b", value)], "references[:,] segment 2, reference 2"),
    ):
        with pytest.raises(TypeError, match=f"{place}.*{message}"):
            metric.score(hypotheses, references)
    with pytest.raises(TypeError, match=f"hypothesis: expected .*str, .*{message}"):
        metric.sentence(value, "a")


@verbs
def test_tokens_need_the_tokenizer_none(verb):
    with pytest.raises((TypeError, InputError), match="none"):
        verb([["a", "b"]], [["a", "b"]])


def test_mixed_token_types_are_refused():
    with pytest.raises((TypeError, InputError), match="1"):
        BLEU("none").score([["a", 1]], [["a", 1]])


# Arrow columns.


@verbs
def test_unsuitable_arrow_columns_are_refused(verb):
    pa = pytest.importorskip("pyarrow")
    texts, empty = ["a", "b"], pa.array([], pa.string())
    for hypotheses, references, message in (
        (pa.array([1, 2]), texts, "(?s)hypotheses.*expected strings"),
        (texts, pa.array([1.0, 2.0]), "(?s)references.*expected strings"),
        (pa.array(["a", None]), texts, "(?s)hypothes.*2"),
        (texts, pa.array(["a", None]), "(?s)reference.*2"),
        (texts, pa.array([["a"], None]), "(?s)reference.*2"),
        (pa.array(texts), pa.array(THREE), "(?s)2.*3|3.*2"),
        (empty, empty, "no segments"),
        (pa.table({"text": ["a"]}), ["a"], "(?s)hypotheses.*table"),
    ):
        with pytest.raises((TypeError, InputError), match=message):
            verb(hypotheses, references)


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view"])
@pytest.mark.parametrize("damage", [b"\xff", b"\xed\xa0\x80", b"long enough to lie elsewhere\xc3"])
def test_arrow_columns_that_are_not_utf8(kind, damage):
    """The libraries that make Arrow columns do not check them, so truebleu must."""
    pa = pytest.importorskip("pyarrow")
    binary = {"string": "binary", "large_string": "large_binary", "string_view": "binary_view"}
    column = pa.array([b"a", damage], getattr(pa, binary[kind])())
    column = pa.Array.from_buffers(getattr(pa, kind)(), 2, column.buffers())
    indices = pa.array([0, 1], pa.int32())
    for broken in (column, pa.DictionaryArray.from_arrays(indices, column)):
        with pytest.raises(InputError, match=r"(?s)hypotheses.*2"):
            truebleu.bleu(broken, ["a", "b"])
        with pytest.raises(InputError, match=r"(?s)references.*2"):
            truebleu.bleu(["a", "b"], broken)


def test_exception_in_arrow_stream_propagates():
    class Broken:
        def __arrow_c_stream__(self, requested_schema=None):
            raise RuntimeError("gone")

    with pytest.raises(RuntimeError, match="gone"):
        truebleu.bleu(Broken(), ["a"])


# Parameters.


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"tokenize": "int"}, "(?s)int.*did you mean 'intl'"),
        ({"tokenize": "13"}, "(?s)13.*did you mean '13a'"),
        ({"tokenize": "mecab"}, "(?s)mecab.*char"),
        ({"smoothing": "add_k"}, "(?s)add_k.*did you mean 'add-k'"),
        ({"smoothing": "laplace"}, "(?s)laplace.*floor"),
        ({"smoothing_value": 0.5}, "(?s)exp.*value|value.*exp"),
        ({"smoothing": "none", "smoothing_value": 1}, "(?s)none.*value|value.*none"),
        ({"max_order": 17}, "(?s)16"),
        ({"weights": (1, 1, 1, -1)}, "-1"),
        ({"weights": (0, 0, 0, 0)}, "0"),
        ({"tokenize": 13}, "tokenize"),
        ({"weights": 5}, "weights"),
        ({"max_order": 2.5}, "max_order"),
        ({"smoothing_value": "a", "smoothing": "floor"}, "smoothing_value"),
    ],
    ids=str,
)
def test_wrong_parameter_is_refused(parameters, message):
    with pytest.raises((TypeError, ValueError), match=message):
        BLEU(**parameters)


TEXTS = ["the cat sat", "it rains"]


class Frame:
    values = np.zeros(2)  # an attribute, as in pandas, not a method


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: truebleu.autorank([1]), "scores: expected a mapping from systems to scores"),
        (lambda: truebleu.compare({"A": TEXTS}, TEXTS, scores=3), "scores: expected a mapping su"),
        (lambda: truebleu.compare({"A": TEXTS}, TEXTS, lower_is_better=3), "lower_is_better=3: "),
        (lambda: truebleu.autorank(Frame()), "scores: expected a mapping from systems"),
        (lambda: truebleu.cite("bleu", test_sets="wmt24"), "test_sets='wmt24': expected a"),
        (lambda: truebleu.cite("bleu", test_sets=[1]), "name=1: expected the name of a test set"),
        (
            lambda: truebleu.compare({"A": TEXTS}, TEXTS, source={"a": 1}),
            "source: dict is unordered",
        ),
        (lambda: truebleu.document_bleu(TEXTS, TEXTS, [["a"], ["b"]]), "documents: expected keys"),
        (lambda: truebleu.document_frequencies({"a": "b"}), "references: dict is unordered"),
        (lambda: truebleu.document_frequencies(None), "references: NoneType is unordered"),
        (lambda: File(None), "path: expected a str or an os.PathLike"),
        (lambda: truebleu.history(1), "expected str, bytes or os.PathLike object"),
        (lambda: truebleu.language(1), "language=1: expected a code"),
        (lambda: truebleu.meta_evaluate(5), "human scores=5: expected a sequence of scores"),
        (lambda: truebleu.meta_evaluate(tree="x"), r"tree: expected TaskFolder\(...\), not 'x'"),
        (
            lambda: truebleu.meta_evaluate({"A": 1}, text=TEXTS),
            r"text: expected EvaluatedText\(...\)",
        ),
        (
            lambda: truebleu.report({"A": TEXTS}, TEXTS, source=iter(TEXTS)),
            "source: list_iterator is unordered",
        ),
        (lambda: truebleu.resegment(TEXTS, TEXTS, None), "method=None: expected the name"),
        (lambda: truebleu.reward(["bleu", "chrf"]), "metric: expected a metric such as"),
        (lambda: truebleu.testset("wmt22", 1), "langpair=1: expected a language pair"),
    ],
)
def test_wrong_type_of_another_argument_is_refused(call, message):
    with pytest.raises(TypeError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: truebleu.ngrams("a b", 1, lowercase="upper"), "unknown lowercase 'upper'"),
        (lambda: truebleu.distinct_n(TEXTS, 10**30), "expected a whole number of 1 or more"),
        (lambda: truebleu.self_bleu(TEXTS, sample=10**30), "expected a whole number of 2 or more"),
        (
            lambda: truebleu.metric("gec-gleu").sentence("a", None, "a"),
            "segment 1 has no reference",
        ),
        (
            lambda: truebleu.metric("sari").score(TEXTS, TEXTS, sources=[np.array([1, 2]), None]),
            r"sources: segment 2 is missing \(None\)",
        ),
        (lambda: truebleu.read_spans("spans.tsv", first=2), "first=2: expected a whole number"),
        (lambda: truebleu.compare({"A": TEXTS}, TEXTS, baseline=0), "baseline: no system '0'"),
        (lambda: truebleu.report({"A": TEXTS}, TEXTS, languages="en-de"), "expected a pair"),
        (
            lambda: truebleu.Accumulator("sari"),
            r"stats and compare of an engine read \(source=COLUMN\)",
        ),
        (lambda: BLEU().score([None, ["a"]], TEXTS), "segment 2 is a list, not a str"),
        (lambda: BLEU().matrix(np.array([[1, 2]]), TEXTS), "segment 1 is a ndarray, not a str"),
    ],
)
def test_wrong_value_of_another_argument_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_sequence_without_slices_is_scored_with_checks():
    texts = ["a b c d e f"] * 3
    assert truebleu.bleu(deque(texts), deque(texts)) == truebleu.bleu(texts, texts)


def test_order_above_the_length_of_all_texts_takes_no_time():
    assert not truebleu.ngrams("a b", 10**30)
    with pytest.raises(InputError, match="a 1000000000000-gram; the longest has 3 tokens"):
        truebleu.distinct_n(TEXTS, 10**12)


@verbs
@pytest.mark.parametrize("workers", [0, -1])
def test_workers(verb, workers):
    with pytest.raises(ValueError, match="workers"):
        verb(["a"], ["a"], workers=workers)


@pytest.mark.parametrize("integers", [[1, 2, 3], range(11), [[1] * 10], ["1"] * 10, [1.5] * 10])
def test_invalid_statistics_are_refused(integers):
    with pytest.raises((InputError, TypeError), match=r"10|integer|str|float"):
        BLEU().from_statistics(integers)


# Files.


@verbs
def test_missing_and_unreadable_files(verb, tmp_path):
    with pytest.raises((InputError, OSError), match=r"missing\.txt"):
        verb(tmp_path / "missing.txt", ["a"])
    with pytest.raises((InputError, OSError), match=tmp_path.name):
        verb(["a"], tmp_path)


@verbs
@pytest.mark.parametrize("workers", [1, 2])
def test_bytes_that_are_not_utf8(verb, tmp_path, workers):
    """Line 3 of the file, at byte 11: 'é' in Latin-1."""
    path = tmp_path / "latin.txt"
    path.write_bytes("a b\ncd ef\ncafé g\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"(?s)latin\.txt.*line 3.*encoding") as error:
        verb(path, ["a", "b", "c"], workers=workers)
    assert "13" in str(error.value), "the byte offset in the file"
    with pytest.raises(InputError, match=r"(?s)latin\.txt.*line 3"):
        verb(["a", "b", "c"], path, workers=workers)


@pytest.mark.parametrize(
    "damage", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80", b"\xe2\x28\xa1"]
)
@pytest.mark.parametrize("place", ["start", "middle", "end", "behind a long line"])
def test_every_kind_of_bad_utf8(tmp_path, damage, place):
    """A lone byte, a cut or overlong sequence, a surrogate, a code point too high."""
    lines = [b"the cat sat on the mat" * 50] * 20
    index = {"start": 0, "middle": 10, "end": 19, "behind a long line": 19}[place]
    if place == "behind a long line":
        lines[3] = b"x" * 1_000_000
    lines[index] += damage
    path = tmp_path / "broken"
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(InputError, match=f"(?s)broken.*line {index + 1}"):
        truebleu.bleu(path, ["a"] * 20)


def test_custom_tokenizer_reports_bad_utf8(tmp_path):
    path = tmp_path / "broken"
    path.write_bytes(b"a b\n\xed\xa0\x80 c\n")
    with pytest.raises(InputError, match=r"(?s)broken.*line 2"):
        BLEU(tokenize=str.split).score(path, ["a", "b"])


@verbs
@pytest.mark.parametrize(
    ("hypotheses", "references", "message"),
    [("abc", "ab", "(?s)hyp.*3.*ref.*2|ref.*2.*hyp.*3"), ("", "", "no segments")],
)
def test_files_of_different_lengths_and_empty_files_are_refused(
    verb, write, hypotheses, references, message
):
    with pytest.raises(InputError, match=message):
        verb(write("hyp", hypotheses), write("ref", references))


def test_missing_column_is_refused(write):
    table = write("table.tsv", ["a\tb", "c"])
    message = r"(?s)table\.tsv.*line 2.*at least 2 tab-separated columns"
    with pytest.raises(InputError, match=message):
        truebleu.bleu(File(table, column=2), ["b", "d"])


@pytest.mark.parametrize("column", [0, -1])
def test_columns_count_from_one(column):
    with pytest.raises(ValueError, match="1"):
        File("table.tsv", column=column)


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_damaged_compressed_files(tmp_path, suffix):
    path = tmp_path / f"text{suffix}"
    for content in (b"this is no compressed file", gzip.compress(b"a\n" * 1000)[:30]):
        path.write_bytes(content)
        with pytest.raises(InputError, match=f"text{suffix}"):
            truebleu.bleu(path, ["a"])


def test_an_unknown_encoding(write):
    for encoding in ("utf-9", "rot13", "base64"):
        with pytest.raises(ValueError, match=encoding):
            truebleu.bleu(File(write("text", ["a"]), encoding=encoding), ["a"])


# Callables, and sequences that misbehave.


def test_exception_in_tokenizer_propagates():
    def broken(text):
        raise RuntimeError("no such word")

    with pytest.raises(RuntimeError, match="no such word"):
        BLEU(tokenize=broken).score(["a"], ["a"])


@pytest.mark.parametrize("tokens", [None, 5, b"a", [b"a"], [None]], ids=str)
def test_a_tokenizer_that_returns_no_tokens(tokens):
    with pytest.raises(TypeError, match="token"):
        BLEU(tokenize=lambda text: tokens).score(["a"], ["a"])


def test_exception_in_sequence_propagates():
    class Broken(list):
        def __getitem__(self, index):
            raise LookupError("gone")

        def __iter__(self):
            raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"):
        truebleu.bleu(Broken(["a", "b"]), ["a", "b"])


def test_a_list_that_changes_while_it_is_read():
    """All of it is scored as it was when the call began, or an error says so; nothing worse."""
    texts = ["the cat sat"] * 1000

    def emptying(text):
        texts.clear()
        return text.split()

    with contextlib.suppress(InputError):
        assert BLEU(tokenize=emptying).score(texts, list(texts)).totals[0] == 3000


def test_a_list_that_another_thread_changes():
    for _ in range(5):
        texts = [f"the cat sat on mat {number}" for number in range(50_000)]
        references = list(texts)
        thread = threading.Thread(target=texts.clear)
        thread.start()
        with contextlib.suppress(InputError):
            assert truebleu.bleu(texts, references, workers=2).totals[0] == 300_000
        thread.join()


JUNK = st.recursive(
    st.none() | st.text(max_size=3) | st.binary(max_size=3) | st.integers() | st.floats(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=1), inner, max_size=2)
    ),
    max_leaves=8,
)


@given(JUNK, JUNK)
def test_other_values_give_clean_error(hypotheses, references):
    """No panic of the kernel comes to light (it would be a BaseException), whatever is passed."""
    for metric in (BLEU(), BLEU("none"), BLEU(tokenize=str.split)):
        for verb in (metric.score, metric.segments, metric.sentence):
            with contextlib.suppress(TypeError, ValueError, OverflowError):
                assert verb(hypotheses, references) is not None


def split_file(content: bytes) -> list[str]:
    """Return the lines of a file as Python reads them, ended by newlines only."""
    lines = content.decode().split("\n")
    return lines[:-1] if lines[-1] == "" else lines


@given(hypothesis=st.binary(max_size=200), reference=st.binary(max_size=200))
def test_any_bytes_in_files_are_scored_or_refused(tmp_path_factory, hypothesis, reference):
    contents = hypothesis, reference
    paths = [tmp_path_factory.getbasetemp() / name for name in ("any.hypothesis", "any.reference")]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    try:
        hypotheses, references = map(split_file, contents)
    except UnicodeDecodeError:
        hypotheses, references = [], []
    if len(hypotheses) == len(references) > 0:
        expected = BLEU().statistics(hypotheses, references)
        assert BLEU().statistics(*paths) == expected
    else:
        with pytest.raises(InputError):
            BLEU().statistics(*paths)
