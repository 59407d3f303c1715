"""`Sums`: rows of any Arrow table to totals of groups, the same bits however the rows come."""

import datetime as dt
import pickle
import random
import textwrap
import threading
from decimal import Decimal

import hypothesis.strategies as st
import pytest
from contract import CASES, LAYOUTS, LISTS, METRICS, Rows, expected, oracle, rows, run_python, split
from hypothesis import given
from strategies import texts

from truebleu import BLEU, CHRF, TER, InputError, _kernel, metric
from truebleu.engines import Sums, bucket_of
from truebleu.engines.aggregates import STATE_COLUMNS
from truebleu.metrics.nist import NIST
from truebleu.metrics.python_metric import SegmentMeanMetric

pa = pytest.importorskip("pyarrow")

# Arrow's strings have no lone surrogates.
UNTIDY = texts(8).map(lambda text: text.encode("utf-8", "replace").decode())

TEXT = {"hyp": ["a b c", "a b", "c d e f"], "ref": ["a b d", "a c", "c d e g"]}


def merged(batches, metrics, **options):
    """Each batch on its own, in a process that pickles what it found; then all together."""
    parts = [pickle.loads(pickle.dumps(Sums(metrics, **options).update(b))) for b in batches]
    total = parts[-1].spawn()
    for part in parts:
        total.merge(part)
    return total


def updated(batches, metrics, **options):
    """One after the other, by two threads."""
    sums = Sums(metrics, workers=2, **options)
    for batch in batches:
        sums.update(batch)
    return sums


def streamed(batches, metrics, **options):
    """All batches as one stream."""
    return Sums(metrics, workers=3, **options).update(pa.Table.from_batches(batches))


def through_tables(batches, metrics, **options):
    """Tables of sums, which somebody else adds up."""
    tables = [pa.table(Sums(metrics, **options).update(batch)) for batch in batches]
    return Sums(metrics, **options).merge_state(pa.concat_tables(tables))


@pytest.mark.parametrize("run", [merged, updated, streamed, through_tables])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_contract(run, case):
    case(run)


# ---- other tables than pyarrow's ----


class Capsules:
    """A table that has nothing but `__arrow_c_array__`."""

    def __init__(self, batch):
        self.batch = batch

    def __arrow_c_array__(self, requested_schema=None):
        return self.batch.__arrow_c_array__(requested_schema)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_contract_with_plain_arrow_arrays(case):
    def run(batches, metrics, **options):
        return merged(map(Capsules, batches), metrics, **options)

    case(run)


# ---- any rows ----


@given(
    st.lists(
        st.tuples(
            UNTIDY | st.none(),
            st.lists(UNTIDY | st.none(), max_size=3) | st.none(),
            st.sampled_from([None, "", "a", "b", "\0"]),
        ),
        max_size=30,
    ),
    st.integers(0, 99),
)
def test_any_rows_in_any_partition(items, seed):
    hyp, ref, group = map(list, zip(*items, strict=True)) if items else ([], [], [])
    ref = [refs or [None] for refs in ref]
    table = Rows(hyp, ref, group)
    batches = [table.of(part, _lists, {}) for part in split(len(hyp), seed)]
    sums = merged(batches, METRICS, by="group", nulls="skip")
    whole = Sums(METRICS, by="group", nulls="skip").update(table.of(range(len(hyp)), _lists, {}))
    assert sums.to_bytes() == whole.to_bytes()
    for one in METRICS:
        totals = dict(zip(sums.keys, sums.statistics(one).tolist(), strict=True))
        assert {key: totals[key] for key in expected(table, one)} == expected(table, one)
    assert sums.nulls == {
        "hyp": hyp.count(None),
        "ref": sum(all(one is None for one in refs) for refs in ref),
    }


def _lists(columns, layouts):
    types = {"ref": pa.list_(pa.string())}
    return pa.record_batch(
        {name: pa.array(values, types.get(name, pa.string())) for name, values in columns.items()}
    )


# ---- where rows come from ----


@pytest.mark.parametrize("layout", [*LAYOUTS, *LISTS, "fixed"])
def test_slices_of_every_layout(layout):
    """An offset in the table, in the column, in the child of a list; with nulls and without."""
    table = rows(20, 90)
    for missing in (False, True):
        hyp = [None if missing and i % 9 == 4 else text for i, text in enumerate(table.hyp)]
        ref = list(table.ref)
        if layout in (*LISTS, "fixed"):
            ref = [[text, None if missing else text[:3]] for text in ref]
            form = pa.list_(pa.string(), 2)
            if layout != "fixed":
                form = getattr(pa, {"list": "list_"}.get(layout, layout))(pa.string())
            column = pa.array(ref, form)
            texts = pa.array(hyp)
        else:
            make = "dictionary" if layout == "dictionary" else None
            column, texts = (
                pa.array(values).dictionary_encode()
                if make
                else pa.array(values, getattr(pa, layout)())
                for values in (ref, hyp)
            )
        batch = pa.record_batch({"hyp": texts, "ref": column, "by": pa.array(table.group)})
        for start, stop in [(0, 90), (1, 90), (7, 63), (8, 64), (89, 90), (40, 40)]:
            sliced = Rows(hyp[start:stop], ref[start:stop], table.group[start:stop])
            for piece in (
                batch.slice(start, stop - start),
                # The columns have the offset, and the table has none.
                pa.record_batch(
                    {name: batch[name].slice(start, stop - start) for name in batch.schema.names}
                ),
                pa.table(
                    [pa.chunked_array([column]) for column in batch.columns], batch.schema.names
                ).slice(start, stop - start),
                _struct(batch).slice(start, stop - start),
            ):
                sums = Sums(METRICS, by="by", nulls="skip").update(piece)
                assert sums.segments == sum(text is not None for text in sliced.hyp)
                for one in METRICS:
                    known = expected(sliced, one)
                    totals = dict(zip(sums.keys, sums.statistics(one).tolist(), strict=True))
                    assert {key: totals[key] for key in known} == known


def _struct(batch):
    """The rows as an array of structures, in which an offset is the structure's own."""
    return pa.StructArray.from_arrays(batch.columns, batch.schema.names)


def test_rows_that_are_null_as_a_whole_have_no_text():
    table = pa.StructArray.from_arrays(
        [pa.array(values) for values in TEXT.values()],
        list(TEXT),
        mask=pa.array([False, True, False]),
    )
    sums = Sums(nulls="skip", by="hyp").update(table)
    assert (sums.segments, sums.nulls, sums.keys) == (
        2,
        {"hyp": 1, "ref": 1},
        [None, "a b c", "c d e f"],
    )
    with_offset = Sums(nulls="skip").update(table.slice(1))
    assert (with_offset.segments, with_offset.nulls) == (1, {"hyp": 1, "ref": 1})


def test_columns_chunked_differently_and_streams_of_no_batches():
    table = pa.table(
        {
            "hyp": pa.chunked_array([TEXT["hyp"][:1], TEXT["hyp"][1:]]),
            "ref": pa.chunked_array([TEXT["ref"][:2], [], TEXT["ref"][2:]]),
        }
    )
    assert Sums().update(table).score() == BLEU().score(*TEXT.values())
    empty = pa.RecordBatchReader.from_batches(table.schema, [])
    assert Sums().update(empty).update(table).score() == BLEU().score(*TEXT.values())


@pytest.mark.parametrize(
    "index", [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64()]
)
def test_dictionaries_of_any_index_and_value(index):
    for value in (pa.string(), pa.large_string(), pa.string_view()):
        texts = {
            name: pa.DictionaryArray.from_arrays(
                pa.array([2, None, 0, 1], index), pa.array([values[0], values[1], None], value)
            )
            for name, values in TEXT.items()
        }
        sums = Sums(nulls="skip").update(pa.record_batch(texts))
        assert (sums.segments, sums.nulls) == (2, {"hyp": 2, "ref": 2})
        assert sums.score() == BLEU().score(TEXT["hyp"][:2], TEXT["ref"][:2])


def test_references_in_several_columns_of_which_some_are_missing_or_lists():
    table = pa.table(
        {
            "hyp": TEXT["hyp"],
            "one": [None, *TEXT["ref"][1:]],
            "two": pa.array([["a b d", None], [], None], pa.list_(pa.string())),
            "three": ["x y", None, "c d"],
        }
    )
    sums = Sums(METRICS, ref=("one", "two", "three")).update(table)
    references = [("a b d", "x y"), ("a c",), ("c d e g", "c d")]
    assert sums.scores()[()] == {one.name: one.score(TEXT["hyp"], references) for one in METRICS}
    assert "nrefs:var" in str(sums.score()["BLEU"].signature)


def test_a_python_producer_runs_beside_threads_and_its_errors_come_through():
    def batches(failing):
        for number in range(40):
            if failing and number == 20:
                raise OSError("the disk is gone")
            yield pa.record_batch(TEXT)

    schema = pa.record_batch(TEXT).schema
    reader = pa.RecordBatchReader.from_batches(schema, batches(failing=False))
    assert Sums(workers=4).update(reader).segments == 120
    sums = Sums(workers=4).update(pa.table(TEXT))
    before = sums.to_bytes()
    reader = pa.RecordBatchReader.from_batches(schema, batches(failing=True))
    with pytest.raises(InputError, match="the disk is gone"):
        sums.update(reader)
    assert sums.to_bytes() == before  # all rows of a table, or none


def test_a_stream_can_be_interrupted():
    script = """
        import itertools, os, signal, threading, pyarrow as pa
        from truebleu.engines import Sums

        batch = pa.record_batch({"hyp": ["a b c"] * 1000, "ref": ["a b d"] * 1000})
        reader = pa.RecordBatchReader.from_batches(batch.schema, itertools.repeat(batch))
        try:
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
            Sums(workers=2).update(reader)
        except KeyboardInterrupt:
            print("interrupted")
    """
    done = run_python(textwrap.dedent(script))
    assert done.stdout == "interrupted\n", done.stderr


@pytest.mark.parametrize("workers", [1, 4])
def test_what_others_wrote_runs_in_the_thread_that_called(workers):
    seen = set()

    class Numbers(SegmentMeanMetric):
        """The length of each text."""

        NAME = "Length"
        BOUND = None
        NUMBER_NAMES = ("length",)

        def __init__(self):
            self._store_parameters({})

        def _compute_numbers(self, corpus, texts):
            seen.add(threading.get_ident())
            return [len(text) for text, _ in texts]

    def batches():
        for _ in range(20):
            seen.add(threading.get_ident())
            yield batch

    batch = pa.record_batch({"hyp": ["a b c"] * 3000, "ref": ["a b d"] * 3000})
    reader = pa.RecordBatchReader.from_batches(batch.schema, batches())
    sums = Sums([BLEU(), Numbers()], workers=workers).update(reader)
    assert sums.segments == 60_000
    assert seen == {threading.get_ident()}


# ---- groups ----

UTC = dt.timezone.utc  # noqa: UP017  (as pyarrow gives it)
KEYS = {
    "bool": (pa.bool_(), [False, True]),
    **{
        f"int{bits}": (getattr(pa, f"int{bits}")(), [-(2 ** (bits - 1)), -1, 0, 7])
        for bits in (8, 16, 32, 64)
    },
    **{
        f"uint{bits}": (getattr(pa, f"uint{bits}")(), [0, 9, 2**bits - 1])
        for bits in (8, 16, 32, 64)
    },
    "float32": (pa.float32(), [float("-inf"), -1.5, 0.0, 2.5]),
    "float64": (pa.float64(), [-1e300, -0.1, 0.0, 1e-300]),
    "string": (pa.string(), ["", "a", "ab", "b", "é", "北京"]),
    "binary": (pa.binary(), [b"", b"\0", b"\0\0", b"\xff"]),
    "fixed": (pa.binary(2), [b"\0\0", b"ab", b"\xff\xff"]),
    "date32": (pa.date32(), [dt.date(1969, 12, 31), dt.date(2022, 12, 7)]),
    "date64": (pa.date64(), [dt.date(1969, 12, 31), dt.date(2022, 12, 7)]),
    "time32": (pa.time32("ms"), [dt.time(0, 0), dt.time(23, 59, 59, 999000)]),
    "time64": (pa.time64("us"), [dt.time(0, 0), dt.time(23, 59, 59, 999999)]),
    "timestamp": (
        pa.timestamp("us"),
        [dt.datetime(1900, 1, 1), dt.datetime(2022, 12, 7, 1, 2, 3, 4)],
    ),
    "timestamp_tz": (
        pa.timestamp("s", "UTC"),
        [dt.datetime(1970, 1, 1, tzinfo=UTC), dt.datetime(2022, 12, 7, tzinfo=UTC)],
    ),
    "duration": (pa.duration("ms"), [dt.timedelta(days=-1), dt.timedelta(milliseconds=5)]),
    "decimal128": (pa.decimal128(20, 2), [Decimal("-3.14"), Decimal("0.00"), Decimal("99.90")]),
    "decimal256": (pa.decimal256(60, 1), [Decimal("-1e30"), Decimal("0.5"), Decimal("1e30")]),
}
# Dates, times and decimals have one type each, whichever they came as.
COME_OUT_AS = {
    "date64": pa.date32(),
    "time32": pa.time64("us"),
    "timestamp_tz": pa.timestamp("us", "UTC"),
    "duration": pa.duration("us"),
    "decimal128": pa.decimal128(38, 2),
    "decimal256": pa.decimal128(38, 1),
}


@pytest.mark.parametrize("name", KEYS)
def test_keys_of_every_type_come_out_in_order_and_as_they_went_in(name):
    form, values = KEYS[name]
    keys = [None, *values] * 3
    random.Random(1).shuffle(keys)
    columns = {"hyp": pa.array(["a b"] * len(keys)), "ref": pa.array(["a c"] * len(keys))}
    plain = pa.array(keys, form)
    whole = Sums(by="key").update(pa.table({**columns, "key": plain}))
    assert whole.keys == [None, *values]
    table = pa.table(whole)
    table.validate(full=True)
    assert table.schema.field("key").type == COME_OUT_AS.get(name, form)
    assert table["key"].to_pylist() == [None, *values]
    assert table["segments"].to_pylist() == [3] * (len(values) + 1)
    # From a table, from bytes, from dictionaries and slices: the same bytes.
    assert Sums(by="key").merge_state(table).to_bytes() == whole.to_bytes()
    assert pickle.loads(pickle.dumps(whole)) == whole
    parts = Sums(by="key")
    for start in range(0, len(keys), 4):
        parts.update(pa.table({**columns, "key": plain}).slice(start, 4))
    assert parts.to_bytes() == whole.to_bytes()
    if not pa.types.is_boolean(form):
        encoded = pa.table({**columns, "key": plain.dictionary_encode()})
        assert Sums(by="key").update(encoded.slice(1)).update(encoded.slice(0, 1)) == whole


@pytest.mark.parametrize(
    ("one", "other", "joined"),
    [
        (pa.int32(), pa.int64(), pa.int64()),
        (pa.int8(), pa.uint16(), pa.int64()),
        (pa.uint8(), pa.uint32(), pa.uint32()),
        (pa.float32(), pa.float64(), pa.float64()),
        (pa.null(), pa.date32(), pa.date32()),
        (pa.string_view(), pa.large_string(), pa.string()),
        (pa.large_binary(), pa.binary_view(), pa.binary()),
    ],
)
def test_keys_that_are_the_same_in_other_types_are_one_group(one, other, joined):
    values = {pa.date32(): dt.date(2020, 1, 1), pa.string(): "x", pa.binary(): b"x"}.get(joined, 1)
    tables = [
        pa.table({"hyp": ["a"], "ref": ["a"], "key": pa.array([key], form)})
        for form, key in ((one, None if one == pa.null() else values), (other, values))
    ]
    sums = [Sums(by="key").update(table) for table in tables]
    there, back = Sums(by="key"), Sums(by="key")
    there.merge(sums[0]).merge(sums[1])
    back.merge(sums[1]).merge(sums[0])
    assert there.to_bytes() == back.to_bytes()
    assert pa.table(there).schema.field("key").type == joined
    assert len(there) == (2 if one == pa.null() else 1)


def test_floats_that_are_equal_are_one_group_and_so_are_those_that_are_no_number():
    keys = pa.array([0.0, -0.0, float("nan"), -float("nan"), None], pa.float64())
    table = pa.table({"hyp": ["a"] * 5, "ref": ["a"] * 5, "key": keys})
    sums = Sums(by="key").update(table)
    none, zero, nan = sums.keys
    assert (none, str(zero), nan != nan) == (None, "0.0", True)
    assert sums.group_segments() == [1, 2, 2]


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (pa.array([1_000, 1_001]).cast(pa.timestamp("ns")), "row 2 is no whole number of micro"),
        (pa.array([0, 2**62]).cast(pa.timestamp("s")), "row 2 is no whole number of micro"),
        (pa.array([0, 86_400_001]).view(pa.date64()), "row 2 is a date with a time of day"),
        (pa.array([1, Decimal("1e40")], pa.decimal256(60, 0)), "row 2 is a decimal of more than"),
    ],
    ids=["nanoseconds", "far away", "date with a time", "256 bits"],
)
def test_keys_that_have_no_meaning_everywhere_are_refused(values, told):
    table = pa.table({"hyp": ["a"] * 2, "ref": ["a"] * 2, "key": values})
    with pytest.raises(InputError, match=f"^key: {told}"):
        Sums(by="key").update(table)


def test_times_that_python_cannot_say_are_numbers():
    far = pa.array([2**62], pa.int64()).cast(pa.timestamp("us"))
    sums = Sums(by="key").update(pa.table({"hyp": ["a"], "ref": ["a"], "key": far}))
    assert sums.keys == [2**62]
    assert pa.table(sums)["key"].equals(pa.chunked_array([far]))


ALIKE = {
    "moments": [
        pa.array([0, 86_400], pa.int64()).cast(pa.timestamp("s", "Europe/Berlin")),
        pa.array([0, 86_400_000_000_000], pa.int64()).cast(pa.timestamp("ns", "UTC")),
        pa.array([0, 86_400_000], pa.int64()).cast(pa.timestamp("ms", "+05:00")),
    ],
    "clocks": [
        pa.array([0, 1], pa.int64()).cast(pa.timestamp("s")),
        pa.array([0, 1_000_000_000], pa.int64()).cast(pa.timestamp("ns")),
    ],
    "dates": [
        pa.array([0, 1], pa.int32()).cast(pa.date32()),
        pa.array([0, 86_400_000], pa.int64()).view(pa.date64()),
    ],
    "times of day": [
        pa.array([0, 1], pa.int32()).cast(pa.time32("s")),
        pa.array([0, 1_000_000_000], pa.int64()).cast(pa.time64("ns")),
    ],
    "decimals": [
        pa.array([Decimal("1.50"), Decimal(-100)], pa.decimal128(9, 2)),
        pa.array([Decimal("1.5"), Decimal(-100)], pa.decimal128(38, 3)),
        pa.array([Decimal("1.5"), Decimal(-100)], pa.decimal256(70, 20)),
    ],
    "strings": [
        pa.array(["a", None]),
        pa.array(["a", None]).dictionary_encode(),
        pa.array(["a", None], pa.string_view()),
    ],
    "floats": [pa.array([0.0, float("nan")]), pa.array([-0.0, -float("nan")])],
}


@pytest.mark.parametrize("columns", ALIKE.values(), ids=ALIKE)
def test_equal_keys_are_one_key_whatever_engine_wrote_them(columns):
    made = [
        Sums(by="key").update(pa.table({"hyp": ["a", "b"], "ref": ["a", "c"], "key": column}))
        for column in columns
    ]
    assert all(one == made[0] for one in made)
    for one in made[1:]:
        made[0].merge(one)
    assert made[0].group_segments() == [len(columns)] * 2
    again = Sums(by="key").merge_state(pa.table(made[0]))
    assert again == made[0]


def test_decimals_sort_by_value():
    values = list(map(Decimal, ["-1.01", "-1", "-0.5", "0", "0.25", "0.3", "1", "10", "1e35"]))
    table = pa.table(
        {"hyp": ["a"] * 9, "ref": ["a"] * 9, "key": pa.array(values[::-1], pa.decimal128(38, 2))}
    )
    assert Sums(by="key").update(table).keys == values
    fine = table.slice(0, 1).set_column(2, "key", pa.array([Decimal("1e-9")]))
    sums = Sums(by="key").update(table).update(fine)
    with pytest.raises(InputError, match="key: no decimal of 38 digits holds all of these keys"):
        pa.table(sums)


def test_several_columns_of_keys_sort_by_the_first_then_the_second():
    table = pa.table(
        {
            "hyp": ["a"] * 5,
            "ref": ["a"] * 5,
            "x": ["b", "a", None, "a", "ab"],
            "y": [1, 10, 3, -2, None],
        }
    )
    sums = Sums(by=("x", "y")).update(table)
    assert sums.keys == [(None, 3), ("a", -2), ("a", 10), ("ab", None), ("b", 1)]
    assert Sums(by=["x"]).update(table).keys == [(None,), ("a",), ("ab",), ("b",)]
    assert set(sums.scores()) == set(sums.keys)
    assert sums.score(("ab", None)) == BLEU().score(["a"], ["a"])
    numbers = Sums(by="x").update(table.set_column(2, "x", pa.array([float("nan")] * 5)))
    assert numbers.score(float("nan")) == numbers.score()
    with pytest.raises(KeyError, match="no group 'a' with segments"):
        sums.score("a")


# ---- buckets ----


def test_buckets_are_those_that_anybody_can_compute():
    """FNV-1a 64 has published test vectors; the finisher is splitmix64's."""

    def mixed(value):
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            value = (value ^ value >> shift) * factor % 2**64
        return value ^ value >> 31

    vectors = {"": 0xCBF29CE484222325, "a": 0xAF63DC4C8601EC8C, "foobar": 0x85944171F73967E8}
    for text, hashed in vectors.items():
        for identity in (text, text.encode()):
            assert bucket_of(identity, 2**63 - 1) == mixed(hashed) % (2**63 - 1)
    known = [("seg-17", 79), ("北京", 746), (0, 883), (17, 245), (-1, 373), (2**63 - 1, 955)]
    assert [(identity, bucket_of(identity, 1000)) for identity, _ in known] == known


def test_ids_of_any_width_and_layout_come_into_the_same_bucket():
    for values, forms in (
        (list(range(50)), [pa.int8(), pa.uint16(), pa.int32(), pa.int64(), pa.uint64()]),
        (
            [f"é{i}" for i in range(50)],
            [pa.string(), pa.large_string(), pa.string_view(), pa.binary()],
        ),
    ):
        found = []
        for form in forms:
            for column in (pa.array(values, form), pa.array(values, form).dictionary_encode()):
                table = pa.table({"hyp": ["a"] * 50, "ref": ["a"] * 50, "id": column})
                found.append(Sums(bucket=("id", 7)).update(table))
        assert all(sums.to_bytes() == found[0].to_bytes() for sums in found)
        counts = dict(zip(found[0].keys, found[0].group_segments(), strict=True))
        buckets = [bucket_of(value, 7) for value in values]
        assert counts == {(bucket,): buckets.count(bucket) for bucket in sorted(set(buckets))}


def test_buckets_are_spread_evenly():
    for identities in (range(100_000), [f"doc{i // 30}-{i % 30}" for i in range(100_000)]):
        counts = [0] * 64
        for identity in identities:
            counts[bucket_of(identity, 64)] += 1
        expected_count = 100_000 / 64
        chi = sum((count - expected_count) ** 2 / expected_count for count in counts)
        assert 30 < chi < 110  # 63 degrees of freedom: mean 63, deviation 11


def test_rows_without_an_id_and_ids_of_another_type_are_refused():
    table = pa.table({**TEXT, "id": ["a", None, "c"], "x": [1.5, 2.5, 3.5]})
    with pytest.raises(InputError, match="id: row 2 is null; every row needs an id"):
        Sums(bucket=("id", 5)).update(table)
    with pytest.raises(InputError, match=r"x: expected ids to be strings, .*, not float64"):
        Sums(bucket=("x", 5)).update(table)
    for wrong in ("id", ("id",), ("id", 1), ("id", "5"), (5, "id")):
        with pytest.raises(ValueError, match="bucket="):
            Sums(bucket=wrong)


def test_scores_of_buckets_are_those_of_their_systems():
    table = rows(21)
    batch = table.of(range(300), _with_ids, {})
    plain = Sums(METRICS, by="group").update(batch)
    bucketed = Sums(METRICS, by="group", bucket=("id", 8)).update(batch)
    assert bucketed.scores() == plain.scores()
    assert bucketed.score() == plain.score()
    assert bucketed.score("chat") == plain.score("chat")
    assert bucketed.keys[0] == (None, 0)
    assert len(bucketed) == 40


def _with_ids(columns, layouts):
    columns = {**columns, "id": list(range(len(columns["hyp"])))}
    return pa.record_batch({name: pa.array(values) for name, values in columns.items()})


# ---- metrics ----


def test_metrics_by_name_by_signature_and_as_they_are():
    table = pa.table(TEXT)
    names = ("bleu", "chrf", "chrf+", "chrf++", "ter", "mteval-v13a")
    for name, score in Sums(names).update(table).score().items():
        same = {"bleu": BLEU(), "chrf": CHRF(), "chrf+": CHRF(word_order=1), "ter": TER()}
        if name in same:
            assert score == same[name].score(*TEXT.values())
    signature = str(BLEU("intl").signature(1))
    assert Sums(signature).metrics == (metric(signature),)
    assert Sums(CHRF()).update(table).score() == CHRF().score(*TEXT.values())
    assert Sums([CHRF(), "bleu", CHRF()]).labels == ("chrF2", "bleu")
    assert Sums((BLEU(), BLEU("intl"))).labels == ("BLEU", "BLEU(tokenize='intl')")


def test_metrics_that_differ_in_their_formula_alone_share_what_is_counted():
    both = (BLEU(), BLEU(smoothing="none"))
    sums = Sums(both).update(pa.table(TEXT))
    assert len(pa.table(sums)) == 1
    scores = [one.score(*TEXT.values()) for one in both]
    assert list(sums.score().values()) == scores
    assert list(pickle.loads(pickle.dumps(sums)).score().values()) == scores


def _split(text):
    return text.split()


def test_tokenizers_of_ones_own_count_the_same_rows():
    table = rows(22)
    own = Sums((BLEU(tokenize=_split), CHRF()), by="group", workers=2)
    for part in split(300, 22):
        own.update(table.of(part, _strings, {}))
    named = Sums((BLEU(tokenize="none"), CHRF()), by="group")
    named.update(table.of(range(300), _strings, {}))
    assert own.statistics(BLEU(tokenize=_split)).tolist() == named.statistics("BLEU").tolist()
    assert own.statistics("chrF2") == named.statistics("chrF2")
    assert pickle.loads(pickle.dumps(own)).to_bytes() == own.to_bytes()


def _strings(columns, layouts):
    return pa.record_batch({name: pa.array(values) for name, values in columns.items()})


def test_errors_in_a_tokenizer_come_through():
    def failing(text):
        raise RuntimeError(f"no tokens of {text}")

    with pytest.raises(RuntimeError, match="no tokens of a b c"):
        Sums(BLEU(tokenize=failing)).update(pa.table(TEXT))


def test_what_is_no_formula_of_sums_is_refused():
    with pytest.raises(ValueError, match=r"NIST .* the sums of parts do not add up"):
        Sums(NIST())
    with pytest.raises(ValueError, match="a mean of segment scores"):
        Sums(BLEU(aggregate="segments"))
    with pytest.raises(ValueError, match=r"unknown metric 'blue'; did you mean 'bleu'\?"):
        Sums("blue")
    with pytest.raises(ValueError, match="metrics: expected at least one metric"):
        Sums(())
    single = Sums(BLEU(reference_length="single"), ref=("ref", "hyp")).update(pa.table(TEXT))
    with pytest.raises(InputError, match="more than one for a segment"):
        single.score()


# ---- bad input ----


def test_columns_of_other_types_are_named():
    def refused(told, sums, **columns):
        with pytest.raises(InputError) as raised:
            sums.update(pa.table({**TEXT, **columns}))
        assert told in str(raised.value)

    lists = [["a"], ["b"], []]
    refused("ref: an Arrow column of int64 holds no text", Sums(), ref=[1, 2, 3])
    refused("hyp: an Arrow column of boolean holds no text", Sums(), hyp=[True] * 3)
    refused("hyp: expected one string per row, not a column of lists", Sums(), hyp=lists)
    refused(
        "ref: expected strings or lists of strings, not lists of lists",
        Sums(),
        ref=[[one] for one in lists],
    )
    refused("dictionaries of them, not list", Sums(by="key"), key=lists)
    refused(
        "key: expected keys to be strings, integers, floats, booleans, dates, times",
        Sums(by="key"),
        key=[{"a": 1}] * 3,
    )
    encoded = pa.RunEndEncodedArray.from_arrays([1, 3], ["a", "b"])
    refused("ref: an Arrow column of run-end encoded values", Sums(), ref=encoded)
    refused("dictionaries of them, not run-end encoded values", Sums(by="key"), key=encoded)
    with pytest.raises(InputError, match="key: int64, and string before; cast one of them"):
        Sums(by="key").update(pa.table({**TEXT, "key": ["a"] * 3})).update(
            pa.table({**TEXT, "key": [1] * 3})
        )


def test_columns_that_there_are_not_and_columns_of_the_same_name():
    with pytest.raises(
        InputError, match=r"no column 'hyp'; did you mean 'hyps'\? There are hyps, ref"
    ):
        Sums().update(pa.table({"hyps": ["a"], "ref": ["a"]}))
    twice = pa.Table.from_arrays([pa.array(["a"])] * 3, ["hyp", "ref", "ref"])
    with pytest.raises(InputError, match="several columns are called 'ref'"):
        Sums().update(twice)
    with pytest.raises(
        InputError, match=r"rows: expected a table with named columns.*, not an Arrow column"
    ):
        Sums().update(pa.array(["a"]))


@pytest.mark.parametrize("what", [[1, 2], {"hyp": ["a"]}, "file.parquet", None])
def test_what_does_not_speak_arrow_is_refused(what):
    with pytest.raises(TypeError, match="any object with __arrow_c_stream__"):
        Sums().update(what)


def test_nulls_are_counted_with_the_first_row_that_has_one():
    table = pa.table({"hyp": ["a", "b", None], "ref": ["a", None, None]})
    sums = Sums().update(pa.table(TEXT)).update(table)
    assert sums.nulls == {"hyp": 1, "ref": 2}
    told = r"'hyp' is null in 1 row, 'ref' is null in 2 rows \(first known: row 5\)"
    for ask in (sums.check, sums.score, sums.scores):
        with pytest.raises(InputError, match=told):
            ask()
    assert Sums(nulls="skip").update(table).score() == BLEU().score(["a"], ["a"])
    with pytest.raises(InputError, match=r"no segments to score.*all rows are null"):
        Sums(nulls="skip").update(table.slice(1)).score()


def test_a_group_of_nulls_alone_has_no_score_and_is_counted():
    table = pa.table({**TEXT, "key": ["x", "x", "y"], "hyp": ["a b c", "a b", None]})
    sums = Sums(by="key", nulls="skip").update(table)
    assert sums.keys == ["x", "y"]
    assert list(sums.scores()) == ["x"]
    table = pa.table(sums)
    assert table["fewest_references"].to_pylist() == [1, None]
    assert Sums(by="key", nulls="skip").merge_state(table) == sums


def test_bytes_that_are_not_utf8_are_named_by_row():
    offsets = pa.py_buffer(b"".join(i.to_bytes(4, "little") for i in (0, 2, 4, 6)))
    bad = pa.StringArray.from_buffers(3, offsets, pa.py_buffer(b"ab\xffcde"))
    told = "{}: row 2 has a byte 0xff that is not UTF-8"
    for name in ("hyp", "ref"):
        for one in (BLEU(), BLEU(tokenize=_split)):
            with pytest.raises(InputError, match=told.format(name)):
                Sums(one).update(pa.table({**TEXT, name: bad}))
    with pytest.raises(InputError, match="key: row 2 is not UTF-8"):
        Sums(by="key").update(pa.table({**TEXT, "key": bad}))
    # Rows that are left out are counted as rows.
    hyp = pa.array([None, "a", "b"])
    with pytest.raises(InputError, match=told.format("ref")):
        Sums(nulls="skip").update(pa.table({"hyp": hyp, "ref": bad}))


def test_options_that_cannot_be():
    with pytest.raises(ValueError, match="unknown nulls 'drop'; there are raise, skip"):
        Sums(nulls="drop")
    with pytest.raises(ValueError, match="workers=0"):
        Sums(workers=0)
    with pytest.raises(ValueError, match="'segments' is a column of the sums"):
        Sums(by="segments")
    with pytest.raises(ValueError, match="'x' is given twice"):
        Sums(by=("x", "x"))
    with pytest.raises(ValueError, match="ref: expected at least one reference column"):
        Sums(ref=())
    with pytest.raises(TypeError, match="expected column names"):
        Sums(by=(1,))


# ---- tables of sums ----


def test_tables_of_sums_as_other_engines_give_them():
    """Other widths of integers, layouts of strings and lists, orders of rows and columns."""
    sums = oracle(rows(23), by="group")
    table = pa.table(sums)
    pl = pytest.importorskip("polars")
    casts = {
        "fingerprint": pa.dictionary(pa.int8(), pa.large_string()),
        "segments": pa.int32(),
        "null_hypotheses": pa.decimal128(38, 0),  # what DuckDB's sum gives
        "null_references": pa.uint16(),
        "fewest_references": pa.int64(),
        "most_references": pa.int8(),
        "statistics": pa.large_list(pa.int32()),
        "group": pa.string_view(),
    }
    shuffled = table.take(random.Random(1).sample(range(len(table)), len(table)))
    other = pa.table(
        {name: shuffled[name].cast(form) for name, form in reversed(casts.items())}
        | {"more": table["segments"]}
    )
    assert set(casts) == {"group", *STATE_COLUMNS}
    for same in (table, other, pl.DataFrame(table), pl.DataFrame(sums)):
        assert sums.spawn().merge_state(same).to_bytes() == sums.to_bytes()
    # Added up by whoever: sums, the fewest, the most.
    twice = sums.spawn().merge_state(pa.concat_tables([table, table]))
    assert twice == sums.spawn().merge(sums).merge(sums)
    assert twice.segments == 2 * sums.segments


def test_sums_that_do_not_belong_together_are_refused():
    table = pa.table(TEXT)
    sums = Sums("bleu").update(table)
    for other, told in (
        (Sums("chrf"), r"sums with different metrics cannot be merged \(expected BLEU"),
        (
            Sums("bleu", by="hyp"),
            r"different keys .* \(expected none, found hyp\)",
        ),
        (Sums("bleu", bucket=("hyp", 5)), "sums with different keys"),
    ):
        with pytest.raises(InputError, match=told):
            sums.merge(other)
    with pytest.raises(InputError, match=r"different buckets .* \(expected 5, found 6\)"):
        Sums(bucket=("hyp", 5)).merge(Sums(bucket=("hyp", 6)))
    with pytest.raises(InputError, match=r"made with chrF2.*these sums are of BLEU"):
        sums.merge_state(pa.table(Sums("chrf").update(table)))
    with pytest.raises(TypeError, match="use merge_state for tables"):
        sums.merge(pa.table(sums))
    assert sums.merge(sums).segments == 6


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("segments", pa.array([None], pa.int64()), "segments: row 1 of the state is null"),
        ("segments", [-1], "segments: row 1 of the state is below 0"),
        ("segments", [0], "does not fit the numbers of references"),
        ("segments", [1.0], "segments: expected 64-bit integers, not float64"),
        ("most_references", [0], "is not a valid number of references"),
        ("statistics", [[1] * 9], "is not a list of 10 integers"),
        ("statistics", [[*[1] * 9, None]], "is not a list of 10 integers"),
        ("statistics", ["1 2 3"], "statistics: expected lists of integers, not string"),
        ("fingerprint", [None], "made with"),
    ],
)
def test_tables_that_are_no_sums_are_refused(name, value, told):
    sums = Sums().update(pa.table(TEXT))
    table = pa.table(sums)
    wrong = table.set_column(table.schema.get_field_index(name), name, [value])
    before = sums.to_bytes()
    with pytest.raises(InputError, match=told):
        sums.merge_state(wrong)
    assert sums.to_bytes() == before


def test_a_state_without_a_metrics_row_is_refused():
    sums = Sums(METRICS, by="ref").update(pa.table(TEXT))
    table = pa.table(sums)
    with pytest.raises(InputError, match=r"not whole.*rows of other metrics and none of"):
        sums.spawn().merge_state(table.slice(1))
    with pytest.raises(InputError, match=r"not whole.*counts other segments"):
        sums.spawn().merge_state(pa.concat_tables([table, table.slice(0, 1)]))


def test_a_sums_describes_itself():
    sums = Sums(("bleu", "ter"), by="ref").update(pa.table(TEXT))
    assert repr(sums) == "<Sums of bleu, ter: 3 segments, 3 groups by ref>"
    assert sums.columns == ("hyp", "ref")
    assert len(sums) == 3
    assert sums != sums.spawn()
    assert _kernel.bucket("a", 1) == 0
