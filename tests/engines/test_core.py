"""`Sums`: rows of any Arrow table give the same bytes, however the rows are partitioned."""

import datetime as dt
import pickle
import random
import textwrap
import threading
from decimal import Decimal

import hypothesis.strategies as st
import pytest
from contract import (
    CASES,
    LAYOUTS,
    LISTS,
    METRICS,
    Rows,
    check_totals,
    compute_oracle_sums,
    make_pyarrow_batch,
    make_rows,
    partition_rows,
    run_script,
)
from hypothesis import given
from strategies import texts

from truebleu import BLEU, CHRF, InputError, _kernel, metric
from truebleu.engines import Sums, bucket_of
from truebleu.engines.aggregates import STATE_COLUMNS
from truebleu.metrics.nist import NIST
from truebleu.metrics.python_metric import SegmentMeanMetric

pa = pytest.importorskip("pyarrow")

# Arrow strings cannot contain lone surrogates.
MESSY_TEXTS = texts(8).map(lambda text: text.encode("utf-8", "replace").decode())

TEXT = {"hyp": ["a b c", "a b", "c d e f"], "ref": ["a b d", "a c", "c d e g"]}


def run_merged(batches, metrics, **options):
    """Sum each batch separately, pickle the sums, and merge them."""
    parts = [pickle.loads(pickle.dumps(Sums(metrics, **options).update(b))) for b in batches]
    total = parts[-1].spawn()
    for part in parts:
        total.merge(part)
    return total


def run_updated(batches, metrics, **options):
    """Update with one batch after another, with two threads."""
    sums = Sums(metrics, workers=2, **options)
    for batch in batches:
        sums.update(batch)
    return sums


def run_streamed(batches, metrics, **options):
    """Update with all batches as one stream."""
    return Sums(metrics, workers=3, **options).update(pa.Table.from_batches(batches))


def run_through_tables(batches, metrics, **options):
    """Merge state tables that are concatenated outside of truebleu."""
    tables = [pa.table(Sums(metrics, **options).update(batch)) for batch in batches]
    return Sums(metrics, **options).merge_state(pa.concat_tables(tables))


class ArrowArrayOnly:
    """A table that only has `__arrow_c_array__`."""

    def __init__(self, batch):
        self.batch = batch

    def __arrow_c_array__(self, requested_schema=None):
        return self.batch.__arrow_c_array__(requested_schema)


def run_plain_arrays(batches, metrics, **options):
    """Merge sums of tables of other packages."""
    return run_merged(map(ArrowArrayOnly, batches), metrics, **options)


RUNS = [run_merged, run_updated, run_streamed, run_through_tables, run_plain_arrays]


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_contract(run, case):
    case(run)


def make_keyed_table(keys, **columns):
    """Return a table of equal texts with a column of keys."""
    texts = {"hyp": ["a"] * len(keys), "ref": ["a"] * len(keys)}
    return pa.table({**texts, **columns, "key": keys})


# ---- random rows ----


@given(
    st.lists(
        st.tuples(
            MESSY_TEXTS | st.none(),
            st.lists(MESSY_TEXTS | st.none(), max_size=3) | st.none(),
            st.sampled_from([None, "", "a", "b", "\0"]),
        ),
        max_size=30,
    ),
    st.integers(0, 99),
)
def test_random_rows_in_random_partitions(items, seed):
    hyp, ref, group = map(list, zip(*items, strict=True)) if items else ([], [], [])
    ref = [refs or [None] for refs in ref]
    table = Rows(hyp, ref, group)
    parts = [*partition_rows(len(hyp), seed), range(len(hyp))]
    *batches, batch = (table.make_batch(i, make_pyarrow_batch, {"ref": "list"}) for i in parts)
    sums = run_merged(batches, METRICS, by="group", nulls="skip")
    sums_of_all = Sums(METRICS, by="group", nulls="skip").update(batch)
    assert sums.to_bytes() == sums_of_all.to_bytes()
    check_totals(sums, table)
    assert sums.nulls == {
        "hyp": hyp.count(None),
        "ref": sum(all(one is None for one in refs) for refs in ref),
    }


# ---- layouts and sources ----


@pytest.mark.parametrize("layout", [*LAYOUTS, *LISTS, "fixed"])
def test_slices_of_every_layout(layout):
    """Use offsets in the table, the column and the child of a list, with and without nulls."""
    table = make_rows(20, 90)
    for has_nulls in (False, True):
        hyp = [None if has_nulls and i % 9 == 4 else text for i, text in enumerate(table.hyp)]
        ref = list(table.ref)
        if layout in (*LISTS, "fixed"):
            ref = [[text, None if has_nulls else text[:3]] for text in ref]
            list_type = pa.list_(pa.string(), 2)
            if layout != "fixed":
                list_type = getattr(pa, {"list": "list_"}.get(layout, layout))(pa.string())
            column = pa.array(ref, list_type)
            texts = pa.array(hyp)
        else:
            texts, column = make_pyarrow_batch(
                {"hyp": hyp, "ref": ref}, dict.fromkeys(("hyp", "ref"), layout)
            ).columns
        batch = pa.record_batch({"hyp": texts, "ref": column, "by": pa.array(table.group)})
        for start, stop in [(0, 90), (1, 90), (7, 63), (8, 64), (89, 90), (40, 40)]:
            sliced = Rows(hyp[start:stop], ref[start:stop], table.group[start:stop])
            for piece in (
                batch.slice(start, stop - start),
                # The columns have an offset, but the table does not.
                pa.record_batch(
                    {name: batch[name].slice(start, stop - start) for name in batch.schema.names}
                ),
                pa.table(
                    [pa.chunked_array([column]) for column in batch.columns], batch.schema.names
                ).slice(start, stop - start),
                # The offset belongs to the struct.
                pa.StructArray.from_arrays(batch.columns, batch.schema.names).slice(
                    start, stop - start
                ),
            ):
                sums = Sums(METRICS, by="by", nulls="skip").update(piece)
                assert sums.segments == sum(text is not None for text in sliced.hyp)
                check_totals(sums, sliced)


def test_null_struct_rows_have_no_text():
    table = pa.StructArray.from_arrays(
        [pa.array(values) for values in TEXT.values()],
        list(TEXT),
        mask=pa.array([False, True, False]),
    )
    sums = Sums(nulls="skip", by="hyp").update(table)
    assert (sums.segments, sums.nulls) == (2, {"hyp": 1, "ref": 1})
    assert sums.keys == [None, "a b c", "c d e f"]
    with_offset = Sums(nulls="skip").update(table.slice(1))
    assert (with_offset.segments, with_offset.nulls) == (1, {"hyp": 1, "ref": 1})


def test_different_chunks_and_empty_streams():
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
def test_dictionaries_of_any_index_and_value_type(index):
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


def test_several_reference_columns_with_nulls_and_lists():
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
    assert sums.scores()[()] == {
        metric.name: metric.score(TEXT["hyp"], references) for metric in METRICS
    }
    assert "nrefs:var" in str(sums.score()["BLEU"].signature)


def test_python_producer_with_threads_propagates_errors():
    def batches(should_fail):
        for number in range(40):
            if should_fail and number == 20:
                raise OSError("the disk is gone")
            yield pa.record_batch(TEXT)

    schema = pa.record_batch(TEXT).schema
    reader = pa.RecordBatchReader.from_batches(schema, batches(should_fail=False))
    assert Sums(workers=4).update(reader).segments == 120
    sums = Sums(workers=4).update(pa.table(TEXT))
    before = sums.to_bytes()
    reader = pa.RecordBatchReader.from_batches(schema, batches(should_fail=True))
    with pytest.raises(InputError, match="the disk is gone"):
        sums.update(reader)
    assert sums.to_bytes() == before  # a failed update adds no rows


def test_stream_can_be_interrupted():
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
    done = run_script(textwrap.dedent(script))
    assert done.stdout == "interrupted\n", done.stderr


@pytest.mark.parametrize("workers", [1, 4])
def test_user_code_runs_in_calling_thread(workers):
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
KEY_VALUES = {
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
# Dates, times and decimals are normalized to one type each.
RESULT_TYPES = {
    "date64": pa.date32(),
    "time32": pa.time64("us"),
    "timestamp_tz": pa.timestamp("us", "UTC"),
    "duration": pa.duration("us"),
    "decimal128": pa.decimal128(38, 2),
    "decimal256": pa.decimal128(38, 1),
}


@pytest.mark.parametrize("name", KEY_VALUES)
def test_keys_of_every_type_are_sorted_and_unchanged(name):
    key_type, values = KEY_VALUES[name]
    keys = [None, *values] * 3
    random.Random(1).shuffle(keys)
    key_array = pa.array(keys, key_type)
    rows = make_keyed_table(key_array)
    sums_of_all = Sums(by="key").update(rows)
    assert sums_of_all.keys == [None, *values]
    table = pa.table(sums_of_all)
    table.validate(full=True)
    assert table.schema.field("key").type == RESULT_TYPES.get(name, key_type)
    assert table["key"].to_pylist() == [None, *values]
    assert table["segments"].to_pylist() == [3] * (len(values) + 1)
    # Tables, bytes, dictionaries and slices give equal bytes.
    assert Sums(by="key").merge_state(table).to_bytes() == sums_of_all.to_bytes()
    assert pickle.loads(pickle.dumps(sums_of_all)) == sums_of_all
    parts = Sums(by="key")
    for start in range(0, len(keys), 4):
        parts.update(rows.slice(start, 4))
    assert parts.to_bytes() == sums_of_all.to_bytes()
    if not pa.types.is_boolean(key_type):
        encoded = make_keyed_table(key_array.dictionary_encode())
        assert Sums(by="key").update(encoded.slice(1)).update(encoded.slice(0, 1)) == sums_of_all


@pytest.mark.parametrize(
    ("key", "first_type", "second_type", "common_type"),
    [
        (1, pa.int32(), pa.int64(), pa.int64()),
        (1, pa.int8(), pa.uint16(), pa.int64()),
        (1, pa.uint8(), pa.uint32(), pa.uint32()),
        (1, pa.float32(), pa.float64(), pa.float64()),
        (dt.date(2020, 1, 1), pa.null(), pa.date32(), pa.date32()),
        ("x", pa.string_view(), pa.large_string(), pa.string()),
        (b"x", pa.large_binary(), pa.binary_view(), pa.binary()),
    ],
)
def test_equal_keys_of_different_types_form_one_group(key, first_type, second_type, common_type):
    keys = [None if first_type == pa.null() else key, key]
    first, second = (
        Sums(by="key").update(make_keyed_table(pa.array([key], key_type)))
        for key, key_type in zip(keys, (first_type, second_type), strict=True)
    )
    forward = Sums(by="key").merge(first).merge(second)
    assert forward.to_bytes() == Sums(by="key").merge(second).merge(first).to_bytes()
    assert pa.table(forward).schema.field("key").type == common_type
    assert forward.keys == list(dict.fromkeys(keys))


def test_equal_floats_and_nans_form_one_group_each():
    keys = pa.array([0.0, -0.0, float("nan"), -float("nan"), None], pa.float64())
    sums = Sums(by="key").update(make_keyed_table(keys))
    none, zero, nan = sums.keys
    assert (none, str(zero), nan != nan) == (None, "0.0", True)
    assert sums.group_segments() == [1, 2, 2]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (pa.array([1_000, 1_001]).cast(pa.timestamp("ns")), "row 2 is not a whole number of micro"),
        (pa.array([0, 2**62]).cast(pa.timestamp("s")), "row 2 is not a whole number of micro"),
        (pa.array([0, 86_400_001]).view(pa.date64()), "row 2 is a date with a time of day"),
        (pa.array([1, Decimal("1e40")], pa.decimal256(60, 0)), "row 2 is a decimal of more than"),
    ],
    ids=["nanoseconds", "far away", "date with a time", "256 bits"],
)
def test_keys_outside_common_range_raise_error(values, message):
    with pytest.raises(InputError, match=f"^key: {message}"):
        Sums(by="key").update(make_keyed_table(values))


def test_times_outside_python_range_are_integers():
    far = pa.array([2**62], pa.int64()).cast(pa.timestamp("us"))
    sums = Sums(by="key").update(make_keyed_table(far))
    assert sums.keys == [2**62]
    assert pa.table(sums)["key"].equals(pa.chunked_array([far]))


def make_time_keys(unit_count, key_type):
    """Return the keys zero and one, given the number of units in one."""
    is_64_bit = key_type.bit_width == 64
    return pa.array([0, unit_count], pa.int64() if is_64_bit else pa.int32()).view(key_type)


EQUAL_KEYS = {
    "moments": [
        make_time_keys(86_400, pa.timestamp("s", "Europe/Berlin")),
        make_time_keys(86_400_000_000_000, pa.timestamp("ns", "UTC")),
        make_time_keys(86_400_000, pa.timestamp("ms", "+05:00")),
    ],
    "clocks": [
        make_time_keys(1, pa.timestamp("s")),
        make_time_keys(10**9, pa.timestamp("ns")),
    ],
    "dates": [make_time_keys(1, pa.date32()), make_time_keys(86_400_000, pa.date64())],
    "times of day": [make_time_keys(1, pa.time32("s")), make_time_keys(10**9, pa.time64("ns"))],
    "decimals": [
        pa.array([Decimal("1.50"), Decimal(-100)], key_type)
        for key_type in (pa.decimal128(9, 2), pa.decimal128(38, 3), pa.decimal256(70, 20))
    ],
    "strings": [
        pa.array(["a", None]),
        pa.array(["a", None]).dictionary_encode(),
        pa.array(["a", None], pa.string_view()),
    ],
    "floats": [pa.array([0.0, float("nan")]), pa.array([-0.0, -float("nan")])],
}


@pytest.mark.parametrize("columns", EQUAL_KEYS.values(), ids=EQUAL_KEYS)
def test_equal_keys_of_different_engines_are_one_key(columns):
    texts = {"hyp": ["a", "b"], "ref": ["a", "c"]}
    sums_list = [Sums(by="key").update(make_keyed_table(column, **texts)) for column in columns]
    assert all(other_sums == sums_list[0] for other_sums in sums_list)
    for sums in sums_list[1:]:
        sums_list[0].merge(sums)
    assert sums_list[0].group_segments() == [len(columns)] * 2
    restored = Sums(by="key").merge_state(pa.table(sums_list[0]))
    assert restored == sums_list[0]


def test_decimals_sort_by_value():
    values = list(map(Decimal, ["-1.01", "-1", "-0.5", "0", "0.25", "0.3", "1", "10", "1e35"]))
    table = make_keyed_table(pa.array(values[::-1], pa.decimal128(38, 2)))
    assert Sums(by="key").update(table).keys == values
    fine = table.slice(0, 1).set_column(2, "key", pa.array([Decimal("1e-9")]))
    sums = Sums(by="key").update(table).update(fine)
    with pytest.raises(InputError, match="key: the keys do not fit a decimal type of 38 digits"):
        pa.table(sums)


def test_key_columns_sort_in_order():
    table = make_keyed_table([1, 10, 3, -2, None], x=["b", "a", None, "a", "ab"])
    sums = Sums(by=("x", "key")).update(table)
    assert sums.keys == [(None, 3), ("a", -2), ("a", 10), ("ab", None), ("b", 1)]
    assert Sums(by=["x"]).update(table).keys == [(None,), ("a",), ("ab",), ("b",)]
    assert set(sums.scores()) == set(sums.keys)
    assert sums.score(("ab", None)) == BLEU().score(["a"], ["a"])
    numbers = Sums(by="x").update(table.set_column(2, "x", pa.array([float("nan")] * 5)))
    assert numbers.score(float("nan")) == numbers.score()
    with pytest.raises(KeyError, match="no group 'a' with segments"):
        sums.score("a")


# ---- buckets ----


def test_buckets_equal_documented_hash():
    """Compare with published FNV-1a 64 test vectors and the finalizer of splitmix64."""

    def finalize_hash(value):
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            value = (value ^ value >> shift) * factor % 2**64
        return value ^ value >> 31

    vectors = {"": 0xCBF29CE484222325, "a": 0xAF63DC4C8601EC8C, "foobar": 0x85944171F73967E8}
    for text, fnv_hash in vectors.items():
        for identity in (text, text.encode()):
            assert bucket_of(identity, 2**63 - 1) == finalize_hash(fnv_hash) % (2**63 - 1)
    buckets = {"seg-17": 79, "北京": 746, 0: 883, 17: 245, -1: 373, 2**63 - 1: 955}
    assert {identity: bucket_of(identity, 1000) for identity in buckets} == buckets


@pytest.mark.parametrize(
    ("values", "id_types"),
    [
        (range(50), [pa.int8(), pa.uint16(), pa.int32(), pa.int64(), pa.uint64()]),
        (list("éabcd"), [pa.string(), pa.large_string(), pa.string_view(), pa.binary()]),
    ],
    ids=["integers", "strings"],
)
def test_bucket_does_not_depend_on_id_layout(values, id_types):
    buckets = [bucket_of(value, 7) for value in values]
    expected_counts = {(bucket,): buckets.count(bucket) for bucket in sorted(set(buckets))}
    arrays = [pa.array(values, id_type) for id_type in id_types]
    sums_list = [
        Sums(bucket=("key", 7)).update(make_keyed_table(column))
        for column in (*arrays, *(array.dictionary_encode() for array in arrays))
    ]
    assert all(sums.to_bytes() == sums_list[0].to_bytes() for sums in sums_list)
    counts = dict(zip(sums_list[0].keys, sums_list[0].group_segments(), strict=True))
    assert counts == expected_counts


def test_buckets_are_spread_evenly():
    for identities in (range(100_000), [f"doc{i // 30}-{i % 30}" for i in range(100_000)]):
        counts = [0] * 64
        for identity in identities:
            counts[bucket_of(identity, 64)] += 1
        expected_count = 100_000 / 64
        chi = sum((count - expected_count) ** 2 / expected_count for count in counts)
        assert 30 < chi < 110  # 63 degrees of freedom: mean 63, deviation 11


def test_null_ids_and_unsupported_id_types_raise_error():
    table = pa.table({**TEXT, "id": ["a", None, "c"], "x": [1.5, 2.5, 3.5]})
    with pytest.raises(InputError, match=r"id: row 2 is null \(every row needs an id\)"):
        Sums(bucket=("id", 5)).update(table)
    with pytest.raises(InputError, match=r"x: expected ids to be strings, .*, found float64"):
        Sums(bucket=("x", 5)).update(table)


def test_bucketed_sums_have_equal_system_scores():
    batch = make_rows(21).make_batch(range(300), make_pyarrow_batch, {})
    batch = batch.append_column("id", pa.array(range(300)))
    plain = Sums(METRICS, by="group").update(batch)
    bucketed = Sums(METRICS, by="group", bucket=("id", 8)).update(batch)
    assert bucketed.scores() == plain.scores()
    assert bucketed.score() == plain.score()
    assert bucketed.score("chat") == plain.score("chat")
    assert bucketed.keys[0] == (None, 0)
    assert len(bucketed) == 40


# ---- metrics ----


def test_metrics_by_name_signature_and_object():
    table = pa.table(TEXT)
    scores = Sums(("bleu", "chrf", "chrf+", "ter", "mteval-v13a")).update(table).score()
    for name, score in scores.items():
        assert score == metric(name).score(*TEXT.values())
    signature = str(BLEU("intl").signature(1))
    assert Sums(signature).metrics == (metric(signature),)
    assert Sums(CHRF()).update(table).score() == CHRF().score(*TEXT.values())
    assert Sums([CHRF(), "bleu", CHRF()]).labels == ("chrF2", "bleu")
    assert Sums((BLEU(), BLEU("intl"))).labels == ("BLEU", "BLEU(tokenize='intl')")


def test_metrics_with_equal_fingerprints_share_statistics():
    metrics = (BLEU(), BLEU(smoothing="none"))
    sums = Sums(metrics).update(pa.table(TEXT))
    assert len(pa.table(sums)) == 1
    scores = [metric_object.score(*TEXT.values()) for metric_object in metrics]
    assert list(sums.score().values()) == scores
    assert list(pickle.loads(pickle.dumps(sums)).score().values()) == scores


def _split_words(text):
    return text.split()


def test_custom_tokenizer_gives_equal_statistics():
    table, custom_metric = make_rows(22), BLEU(tokenize=_split_words)
    custom_sums = Sums((custom_metric, CHRF()), by="group", workers=2)
    for part in partition_rows(300, 22):
        custom_sums.update(table.make_batch(part, make_pyarrow_batch, {}))
    builtin_sums = Sums((BLEU(tokenize="none"), CHRF()), by="group")
    builtin_sums.update(table.make_batch(range(300), make_pyarrow_batch, {}))
    builtin_statistics = builtin_sums.statistics("BLEU")
    assert custom_sums.statistics(custom_metric).tolist() == builtin_statistics.tolist()
    assert custom_sums.statistics("chrF2") == builtin_sums.statistics("chrF2")
    assert pickle.loads(pickle.dumps(custom_sums)).to_bytes() == custom_sums.to_bytes()


def test_tokenizer_errors_propagate():
    def failing(text):
        raise RuntimeError(f"no tokens of {text}")

    with pytest.raises(RuntimeError, match="no tokens of a b c"):
        Sums(BLEU(tokenize=failing)).update(pa.table(TEXT))


def test_metric_of_one_reference_raises_error_for_several():
    single = Sums(BLEU(reference_length="single"), ref=("ref", "hyp")).update(pa.table(TEXT))
    with pytest.raises(InputError, match="a segment has several"):
        single.score()


# ---- bad input ----

LISTS_OF_TEXT = [["a"], ["b"], []]
ENCODED = pa.RunEndEncodedArray.from_arrays([1, 3], ["a", "b"])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"ref": [1, 2, 3]}, "lists of strings, found an Arrow column of int64"),
        ({"hyp": [True] * 3}, "found an Arrow column of boolean"),
        ({"hyp": LISTS_OF_TEXT}, "hyp: expected one string per row, found a column of lists"),
        ({"ref": [LISTS_OF_TEXT] * 3}, "ref: expected strings or lists .*, found lists of lists"),
        ({"key": LISTS_OF_TEXT}, "dictionaries of them, found list"),
        ({"key": [{"a": 1}] * 3}, "key: expected keys to be strings, integers, .*, dates, times"),
        ({"ref": ENCODED}, "found an Arrow column of run-end encoded values"),
        ({"key": ENCODED}, "dictionaries of them, found run-end encoded values"),
        ({"key": [1] * 3}, "key: incompatible types"),
    ],
)
def test_unsupported_column_types_raise_error(columns, message):
    sums = Sums(by="key" if "key" in columns else None)
    if "incompatible" in message:
        sums.update(pa.table({**TEXT, "key": ["a"] * 3}))
    with pytest.raises(InputError, match=message):
        sums.update(pa.table({**TEXT, **columns}))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pa.table({"hyps": ["a"], "ref": ["a"]}), r"no column 'hyp'; .* 'hyps'\? Available: hyps,"),
        (pa.table([["a"]] * 3, ["hyp", "ref", "ref"]), "duplicate column 'ref'"),
        (pa.array(["a"]), r"rows: expected a table with named columns.*, found an Arrow column"),
    ],
    ids=["missing", "duplicate", "no columns"],
)
def test_missing_and_duplicate_columns_raise_error(table, message):
    with pytest.raises(InputError, match=message):
        Sums().update(table)


@pytest.mark.parametrize("value", [[1, 2], {"hyp": ["a"]}, "file.parquet", None])
def test_objects_without_arrow_support_raise_error(value):
    with pytest.raises(TypeError, match="any object with __arrow_c_stream__"):
        Sums().update(value)


def test_null_error_names_counts_and_first_row():
    table = pa.table({"hyp": ["a", "b", None], "ref": ["a", None, None]})
    sums = Sums().update(pa.table(TEXT)).update(table)
    assert sums.nulls == {"hyp": 1, "ref": 2}
    message = r"'hyp' is null in 1 row, 'ref' is null in 2 rows \(first known: row 5\)"
    for method in (sums.check, sums.score, sums.scores):
        with pytest.raises(InputError, match=message):
            method()
    assert Sums(nulls="skip").update(table).score() == BLEU().score(["a"], ["a"])
    with pytest.raises(InputError, match=r"no segments to score.*all rows are null"):
        Sums(nulls="skip").update(table.slice(1)).score()


def test_all_null_group_is_counted_without_score():
    table = pa.table({**TEXT, "key": ["x", "x", "y"], "hyp": ["a b c", "a b", None]})
    sums = Sums(by="key", nulls="skip").update(table)
    assert sums.keys == ["x", "y"]
    assert list(sums.scores()) == ["x"]
    table = pa.table(sums)
    assert table["fewest_references"].to_pylist() == [1, None]
    assert Sums(by="key", nulls="skip").merge_state(table) == sums


def test_invalid_utf8_error_names_row():
    offsets = pa.py_buffer(b"".join(i.to_bytes(4, "little") for i in (0, 2, 4, 6)))
    bad = pa.StringArray.from_buffers(3, offsets, pa.py_buffer(b"ab\xffcde"))
    message = "{}, row 2: byte 0xff is not valid UTF-8"
    for name in ("hyp", "ref"):
        for metric_object in (BLEU(), BLEU(tokenize=_split_words)):
            with pytest.raises(InputError, match=message.format(name)):
                Sums(metric_object).update(pa.table({**TEXT, name: bad}))
    with pytest.raises(InputError, match="key: row 2 is not valid UTF-8"):
        Sums(by="key").update(pa.table({**TEXT, "key": bad}))
    # Row numbers include omitted rows.
    hyp = pa.array([None, "a", "b"])
    with pytest.raises(InputError, match=message.format("ref")):
        Sums(nulls="skip").update(pa.table({"hyp": hyp, "ref": bad}))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": NIST()}, "NIST .* partial results cannot be combined"),
        ({"metrics": BLEU(aggregate="segments")}, "averages segment scores"),
        ({"metrics": "blue"}, r"unknown metric 'blue'; did you mean 'bleu'\?"),
        ({"metrics": ()}, "metrics: expected at least one metric"),
        ({"nulls": "drop"}, "unknown nulls 'drop'; available: raise, skip"),
        ({"workers": 0}, "workers=0"),
        ({"by": "segments"}, "'segments' is the name of a result column"),
        ({"by": ("x", "x")}, "duplicate column 'x'"),
        ({"by": (1,)}, "expected column names"),
        ({"ref": ()}, "ref: expected at least one reference column"),
        *(
            ({"bucket": wrong}, "bucket=")
            for wrong in ("id", ("id",), ("id", 1), ("id", "5"), (5, "id"))
        ),
    ],
    ids=str,
)
def test_invalid_options_raise_error(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Sums(**options)


# ---- tables of sums ----


def test_state_tables_with_other_layouts_are_read():
    """Use other integer widths, layouts of strings and lists, and orders of rows and columns."""
    sums = compute_oracle_sums(make_rows(23), by="group")
    table = pa.table(sums)
    pl = pytest.importorskip("polars")
    casts = {
        "fingerprint": pa.dictionary(pa.int8(), pa.large_string()),
        "segments": pa.int32(),
        "null_hypotheses": pa.decimal128(38, 0),  # the type of DuckDB's sums
        "null_references": pa.uint16(),
        "fewest_references": pa.int64(),
        "most_references": pa.int8(),
        "statistics": pa.large_list(pa.int32()),
        "group": pa.string_view(),
    }
    shuffled = table.take(random.Random(1).sample(range(len(table)), len(table)))
    converted = pa.table(
        {name: shuffled[name].cast(arrow_type) for name, arrow_type in reversed(casts.items())}
        | {"more": table["segments"]}
    )
    assert set(casts) == {"group", *STATE_COLUMNS}
    for same in (table, converted, pl.DataFrame(table), pl.DataFrame(sums)):
        assert sums.spawn().merge_state(same).to_bytes() == sums.to_bytes()
    # Tables can be concatenated without merging: sums, minima and maxima are merged on reading.
    twice = sums.spawn().merge_state(pa.concat_tables([table, table]))
    assert twice == sums.spawn().merge(sums).merge(sums)
    assert twice.segments == 2 * sums.segments


def test_merging_incompatible_sums_raises_error():
    table = pa.table(TEXT)
    sums, bucketed = Sums("bleu").update(table), Sums("bleu", bucket=("hyp", 5))
    for first, incompatible, message in (
        (sums, Sums("chrf"), r"sums with different metrics cannot be merged \(expected BLEU"),
        (sums, Sums("bleu", by="hyp"), r"different keys .* \(expected none, found hyp\)"),
        (sums, bucketed, "sums with different keys"),
        (bucketed, Sums("bleu", bucket=("hyp", 6)), r"buckets .* \(expected 5, found 6\)"),
    ):
        with pytest.raises(InputError, match=message):
            first.merge(incompatible)
    with pytest.raises(InputError, match=r"cannot add statistics of chrF2.* to sums of BLEU"):
        sums.merge_state(pa.table(Sums("chrf").update(table)))
    with pytest.raises(TypeError, match="use merge_state for tables"):
        sums.merge(pa.table(sums))
    assert sums.merge(sums).segments == 6


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("segments", pa.array([None], pa.int64()), "segments: row 1 of the state is null"),
        ("segments", [-1], "segments: row 1 of the state is negative"),
        ("segments", [0], "contradicts the numbers of references"),
        ("segments", [1.0], "segments: expected 64-bit integers, found float64"),
        ("most_references", [0], "is not a positive 32-bit integer"),
        ("statistics", [[1] * 9], "is not a list of 10 integers"),
        ("statistics", [[*[1] * 9, None]], "is not a list of 10 integers"),
        ("statistics", ["1 2 3"], "statistics: expected lists of integers, found string"),
        ("fingerprint", [None], "cannot add statistics of"),
    ],
)
def test_invalid_state_tables_raise_error(name, value, message):
    sums = Sums().update(pa.table(TEXT))
    table = pa.table(sums)
    wrong = table.set_column(table.schema.get_field_index(name), name, [value])
    before = sums.to_bytes()
    with pytest.raises(InputError, match=message):
        sums.merge_state(wrong)
    assert sums.to_bytes() == before


def test_state_without_metric_row_raises_error():
    sums = Sums(METRICS, by="ref").update(pa.table(TEXT))
    table = pa.table(sums)
    with pytest.raises(InputError, match=r"incomplete.*rows for other metrics, but not for"):
        sums.spawn().merge_state(table.slice(1))
    with pytest.raises(InputError, match=r"incomplete.*different counts"):
        sums.spawn().merge_state(pa.concat_tables([table, table.slice(0, 1)]))


def test_repr_columns_and_length():
    sums = Sums(("bleu", "ter"), by="ref").update(pa.table(TEXT))
    assert repr(sums) == "<Sums of bleu, ter: 3 segments, 3 groups by ref>"
    assert sums.columns == ("hyp", "ref")
    assert len(sums) == 3
    assert sums != sums.spawn()
    assert _kernel.bucket("a", 1) == 0
