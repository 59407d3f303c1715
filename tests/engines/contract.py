"""Test cases for every engine: its sums must equal the sums of one process, byte for byte.

The bytes do not depend on how rows are partitioned, ordered and laid out.

An engine's test file defines `run(batches, **options) -> Sums`. `batches` is a list of tables in
any order, some of them empty; `options` are the options of `Sums`. `CASES` contains the cases by
name:

    @pytest.mark.parametrize("case", CASES.values(), ids=CASES)
    def test_contract(case):
        case(run)

`run` receives pyarrow record batches. An engine that needs other tables converts them, or passes a
function `make` that creates a batch (`case(run, make=...)`) from a dict of values by column name
and a dict of layouts by column name (see `LAYOUTS`).
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest

import truebleu
from truebleu import BLEU, CHRF, SARI, InputError, Metric
from truebleu.engines import Sums
from truebleu.metrics import registry

RunFunction = Callable[..., Sums]
MakeBatch = Callable[[Mapping[str, list], Mapping[str, str]], Any]

# Layouts of string columns, named after pyarrow's types. "dictionary" has 32-bit indices.
LAYOUTS = ("string", "large_string", "string_view", "dictionary")
LISTS = ("list", "large_list", "list_view", "large_list_view")

METRICS = (BLEU(), CHRF(word_order=2))

WORDS = "the a cat on mat , dogs' naïve 北京 ran . it's 3.5 %".split()  # noqa: SIM905
GROUPS = ("news", "chat", "Ä", "", None)


@dataclass(frozen=True)
class Rows:
    """Rows of a table: hypotheses, references and groups."""

    hyp: list[str | None]
    ref: list[Any]
    group: list[Any]

    def make_batch(
        self, indices: Sequence[int], make: MakeBatch, layouts: Mapping[str, str]
    ) -> Any:
        """Create a batch of some of the rows."""
        columns = {
            name: [values[i] for i in indices]
            for name, values in (("hyp", self.hyp), ("ref", self.ref), ("group", self.group))
        }
        # Additional columns, and another column order, must have no effect.
        columns = {"unasked": [str(i) for i in indices], **dict(reversed(columns.items()))}
        return make(columns, layouts)


def make_rows(seed: int, count: int = 300) -> Rows:
    """Create random rows from few words, so that n-grams match; some segments are empty."""
    dice = random.Random(seed)

    def segment() -> str:
        return " ".join(dice.choices(WORDS, k=dice.choice((0, 1, 3, 8, 8, 30))))

    ref = [segment() for _ in range(count)]
    hyp = [dice.choice((text, segment(), f"{text} {segment()}")) for text in ref]
    return Rows(hyp, ref, [dice.choice(GROUPS) for _ in range(count)])


def partition_rows(count: int, seed: int) -> list[list[int]]:
    """Return a random partition of shuffled row indices, with some empty parts."""
    dice = random.Random(seed)
    order = list(range(count))
    dice.shuffle(order)
    cuts = sorted(dice.randint(0, count) for _ in range(dice.randint(1, 12)))
    # A repeated cut creates an empty part.
    edges = sorted([0, *cuts, *cuts[-2:], count])
    return [order[start:stop] for start, stop in pairwise(edges)]


def make_pyarrow_batch(columns: Mapping[str, list], layouts: Mapping[str, str]) -> Any:
    """Create a pyarrow record batch."""
    import pyarrow as pa

    def array(name: str, values: list) -> Any:
        layout = layouts.get(name, "string")
        if layout in LISTS:
            return pa.array(values, getattr(pa, {"list": "list_"}.get(layout, layout))(pa.string()))
        if layout == "dictionary":
            return pa.array(values, pa.string()).dictionary_encode()
        return pa.array(values, getattr(pa, layout)())

    return pa.record_batch({name: array(name, values) for name, values in columns.items()})


def compute_expected_totals(table: Rows, metric: Metric) -> dict[Any, list[int]]:
    """Return the totals of each group, computed from segment statistics in one process."""
    rows = [
        (hyp, _to_tuple(ref), group)
        for hyp, ref, group in zip(table.hyp, table.ref, table.group, strict=True)
        if hyp is not None and _has_reference(ref)
    ]
    if not rows:
        return {}
    hypotheses, references, keys = map(list, zip(*rows, strict=True))
    statistics = metric.statistics(hypotheses, references)  # type: ignore[attr-defined]
    return {key: total.tolist()[0] for key, total in statistics.groups(keys).items()}


def check_totals(sums: Sums, table: Rows) -> None:
    """Check that the totals of each group equal the totals of its segments."""
    for metric in METRICS:
        totals = zip(sums.keys, sums.statistics(metric).tolist(), strict=True)
        expected_totals = compute_expected_totals(table, metric)
        assert {key: total for key, total in totals if key in expected_totals} == expected_totals


def compute_oracle_sums(table: Rows, **options: Any) -> Sums:
    """Return the sums of all rows, computed at once in one process."""
    lists = any(isinstance(ref, list) for ref in table.ref)
    layouts = {"ref": "list"} if lists else {}
    sums = Sums(METRICS, **options)
    return sums.update(table.make_batch(range(len(table.hyp)), make_pyarrow_batch, layouts))


def check_agreement(
    run: RunFunction, table: Rows, layouts: Mapping[str, str], seed: int, make: MakeBatch
) -> Sums:
    """Run an engine on a random partition, and compare its sums with both oracles."""
    options = {"metrics": METRICS, "by": "group", "nulls": "skip"}
    batches = [
        table.make_batch(part, make, layouts) for part in partition_rows(len(table.hyp), seed)
    ]
    sums = run(batches, **options)
    check_totals(sums, table)
    assert sums.to_bytes() == compute_oracle_sums(table, by="group", nulls="skip").to_bytes()
    return sums


# ---- the cases ----


def partitions(run: RunFunction, make: MakeBatch = make_pyarrow_batch) -> None:
    """Check random partitions in any order, with repeated groups and empty parts."""
    for seed in range(4):
        check_agreement(run, make_rows(seed), {}, seed, make)


def layouts_of_strings(run: RunFunction, make: MakeBatch = make_pyarrow_batch) -> None:
    """Check that string columns of every layout give equal bytes."""
    table = make_rows(5)
    for seed, layout in enumerate(LAYOUTS):
        check_agreement(run, table, dict.fromkeys(("hyp", "ref", "group"), layout), seed, make)
    check_agreement(run, table, dict(zip(("hyp", "ref", "group"), LAYOUTS, strict=False)), 9, make)


def lists_of_references(run: RunFunction, make: MakeBatch = make_pyarrow_batch) -> None:
    """Check lists of references of any layout and length, with missing references."""
    dice = random.Random(6)
    table = make_rows(6)
    reference_lists = [
        [ref, *dice.choices([*table.ref, None], k=dice.randint(0, 3))] for ref in table.ref
    ]
    reference_lists = [[None, *refs] if dice.random() < 0.2 else refs for refs in reference_lists]
    table = Rows(table.hyp, reference_lists, table.group)
    for seed, layout in enumerate(LISTS):
        check_agreement(run, table, {"ref": layout}, seed, make)


def nulls_skipped(run: RunFunction, make: MakeBatch = make_pyarrow_batch) -> None:
    """Check that rows without a hypothesis or a reference are skipped, and counted by column."""
    table = add_nulls(make_rows(7))
    sums = check_agreement(run, table, {}, 7, make)
    assert sums.nulls == {
        "hyp": sum(text is None for text in table.hyp),
        "ref": sum(not _has_reference(ref) for ref in table.ref),
    }
    for metric in METRICS:
        score = sums.score()[metric.name]
        pairs = zip(table.hyp, table.ref, strict=True)
        complete_pairs = [pair for pair in pairs if None not in pair]
        assert score == metric.score(*map(list, zip(*complete_pairs, strict=True)))


def nulls_raised(run: RunFunction, make: MakeBatch = make_pyarrow_batch) -> None:
    """Check that nulls raise an error by default, with the counts of all batches."""
    table = add_nulls(make_rows(8))
    batches = [table.make_batch(part, make, {}) for part in partition_rows(len(table.hyp), 8)]
    hypotheses = sum(text is None for text in table.hyp)
    references = sum(ref is None for ref in table.ref)
    with pytest.raises(Exception, match="nulls='skip'") as raised:
        run(batches, metrics=METRICS, by="group").scores()
    # Engines may wrap the error, but must keep its message.
    assert f"'hyp' is null in {hypotheses} rows" in str(raised.value)
    assert f"'ref' is null in {references} rows" in str(raised.value)


def no_groups(run: RunFunction, make: MakeBatch = make_pyarrow_batch) -> None:
    """Check that sums without groups have a single score."""
    table = make_rows(9)
    batches = [table.make_batch(part, make, {}) for part in partition_rows(len(table.hyp), 9)]
    sums = run(batches, metrics=METRICS)
    for metric in METRICS:
        assert sums.score()[metric.name] == metric.score(table.hyp, table.ref)
    assert sums.to_bytes() == compute_oracle_sums(table).to_bytes()


def several_reference_columns(run: RunFunction, make: MakeBatch = make_pyarrow_batch) -> None:
    """Check two columns of references, one of which has nulls."""
    table = make_rows(14)
    batches = [table.make_batch(part, make, {}) for part in partition_rows(len(table.hyp), 14)]
    sums = run(batches, metrics=METRICS, ref=["ref", "group"])
    references = list(zip(table.ref, table.group, strict=True))
    for metric in METRICS:
        assert sums.score()[metric.name] == metric.score(table.hyp, references)


def many_groups(run: RunFunction, make: MakeBatch = make_pyarrow_batch) -> None:
    """Check a table in which each row is a separate group."""
    table = make_rows(10, 2000)
    table = Rows(table.hyp, table.ref, [f"id{i}" for i in range(len(table.hyp))])
    check_agreement(run, table, {}, 10, make)


def buckets(run: RunFunction, make: MakeBatch = make_pyarrow_batch) -> None:
    """Check that the hash buckets of ids are equal in every engine."""
    table = make_rows(11)
    table = Rows(table.hyp, table.ref, [f"seg-{i % 97}" for i in range(len(table.hyp))])
    batches = [table.make_batch(part, make, {}) for part in partition_rows(len(table.hyp), 11)]
    options = {"by": (), "bucket": ("group", 10)}
    sums = run(batches, metrics=METRICS, **options)
    assert sums.to_bytes() == compute_oracle_sums(table, **options).to_bytes()


def sources(run: RunFunction, make: MakeBatch = make_pyarrow_batch) -> None:
    """Check that metrics read the source column, and that rows without a source are counted."""
    table, texts = make_rows(14), make_rows(15).hyp
    table = Rows(table.hyp, table.ref, [*texts[:-1], None])
    batches = [table.make_batch(part, make, {}) for part in partition_rows(len(texts), 14)]
    sums = run(batches, metrics=SARI(), source="group", nulls="skip")
    expected = SARI().score(table.hyp[:-1], table.ref[:-1], sources=texts[:-1])  # type: ignore[arg-type]
    assert sums.score() == expected
    assert type(sums).from_bytes(sums.to_bytes()) == sums
    assert sums.nulls == {"hyp, group": 1, "ref": 0}


def no_rows(run: RunFunction, make: MakeBatch = make_pyarrow_batch) -> None:
    """Check that a table without rows raises an error."""
    table = make_rows(12, 3)
    for batches in ([table.make_batch([], make, {})], [table.make_batch([], make, {})] * 3):
        with pytest.raises(Exception, match="no segments to score"):
            run(batches, metrics=METRICS, by="group").scores()


def missing_column(run: RunFunction, make: MakeBatch = make_pyarrow_batch) -> None:
    """Check that a missing column is named, with the nearest name."""
    check_rejected(run, make, "did you mean 'hyp'", hyp="hypp")
    check_rejected(run, make, "no column 'sytem'", by="sytem")


def check_rejected(run: RunFunction, make: MakeBatch, message: str, **options: Any) -> None:
    """Check that the engine raises an error with this message."""
    table = make_rows(13, 20)
    with pytest.raises(Exception, match=message):
        run([table.make_batch(range(20), make, {})], metrics=METRICS, **options).check()


CASES: dict[str, Callable[..., None]] = {
    case.__name__: case
    for case in (
        partitions,
        layouts_of_strings,
        lists_of_references,
        nulls_skipped,
        nulls_raised,
        no_groups,
        several_reference_columns,
        many_groups,
        buckets,
        sources,
        no_rows,
        missing_column,
    )
}


# ---- every metric ----

# Arguments of `truebleu.metric`: all registered names, family members, a signature and a metric.
EVERY_METRIC: tuple[str | Metric, ...] = (
    *registry.METRICS,
    *("mteval-v13a", "nltk-sentence-4", "nltk-corpus-5", "fairseq", "coco-bleu-4-item"),
    "nrefs:1|case:lc|eff:no|tok:intl|smooth:exp|version:2.6.0",
    BLEU(max_order=2),
)
TRANSLATIONS = {
    "the train to Brest does not go today .": "the train to Brest does not run today .",
    "She has read the letter in the evening .": "She read the letter in the evening .",
    "three boats lie in the old port .": "three boats lie in the old harbour .",
    "the cook salts the soup two times .": "the cook salts the soup twice .",
}
SECOND = ["today no train goes", "in the evening", "there are three boats", "twice"]

# Function of hypotheses, references and a metric that returns a score, or a score per row.
ScoreFunction = Callable[[list[str], list[Any], Any], Any]


def describe_support(metric: str | Metric, run: ScoreFunction, *, by_row: bool = False) -> str:
    """Return "works", or the message with which an engine rejects a metric.

    Raises AssertionError if the engine's score differs from the metric's score.

    run: the engine's `score`, or with `by_row` its `sentence` as a list of numbers.
    """
    resolved_metric: Any = truebleu.metric(metric)
    hyp, first = list(TRANSLATIONS), list(TRANSLATIONS.values())
    ref: list[Any] = list(map(list, zip(first, SECOND, strict=True)))
    try:
        resolved_metric.count(hyp, list(map(tuple, ref)))
    except ValueError:  # supports one reference only, or is rejected below
        ref = first
    ref = first if by_row else ref
    try:
        result = run(hyp, ref, metric)
    except (ValueError, TypeError) as refusal:
        return str(refusal)
    texts = list(map(_to_tuple, ref))
    if by_row:
        assert result == list(resolved_metric.segments(hyp, texts))
    else:
        assert result.value == resolved_metric.score(hyp, texts).value
    return "works"


def check_every_metric(run: ScoreFunction, *, by_row: bool = False) -> None:
    """Check that each argument of `truebleu.metric` works, or raises the usual error."""
    from truebleu.engines.common_api import resolve_row_metric

    for metric in filter(_is_installed, EVERY_METRIC):
        try:
            resolve_row_metric(metric) if by_row else Sums(metric)
            expected = "works"
        except ValueError as refusal:
            expected = str(refusal)
        assert "\n" not in expected
        assert describe_support(metric, run, by_row=by_row) == expected


def check_every_function(
    engine: Any,
    from_arrow: Callable[[Any], Any],
    to_arrow: Callable[[Any], Any],
    **required_options: Any,
) -> None:
    """Check each function of an engine's module with each additive metric.

    from_arrow: converts a pyarrow table to the engine's data. to_arrow: converts the engine's table
        to pyarrow. required_options: options that every function of the engine needs.
    """
    import pyarrow as pa

    table = make_rows(14, 40)
    columns = {
        "hyp": [text or "a" for text in table.hyp],
        "ref": [text or "a" for text in table.ref],
        "group": [name or "none" for name in table.group],
        "id": [i // 2 for i in range(40)],
        "system": ["A", "B"] * 20,
        "domain": ["chat", "chat", "news", "news"] * 10,
    }
    arrow_table = pa.table(columns)
    data = from_arrow(arrow_table)
    metric_by_key = {}
    for metric in filter(_is_installed, EVERY_METRIC):
        try:
            expected_sums = Sums(metric, by="group")
        except ValueError:  # not additive; covered by `check_every_metric`
            continue
        expected_sums.update(arrow_table)
        metric_by_key[expected_sums.metrics] = metric
        assert engine.sums(data, by="group", metrics=metric, **required_options) == expected_sums
        score_table = to_arrow(engine.score(data, by="group", metric=metric, **required_options))
        assert score_table.column_names == ["group", "score", "segments", "signature"]
        expected = [
            (key, score.value, size, str(score.signature))
            for (key, score), size in zip(
                expected_sums.scores().items(), expected_sums.group_segments(), strict=True
            )
        ]
        assert list(zip(*score_table.to_pydict().values(), strict=True)) == expected
    assert engine.score(data, **required_options) == BLEU().score(columns["hyp"], columns["ref"])
    metrics = list(metric_by_key.values())  # all distinct metrics in one pass
    states = engine.stats(data, by=["group", "system"], metrics=metrics, **required_options)
    sums = Sums(metrics, by=["group", "system"])
    assert sums.spawn().merge_state(to_arrow(states)) == sums.update(arrow_table)
    options: dict[str, Any] = {"bucket": ("id", 5), "randomizations": 20, "resamples": 20}
    compared = engine.compare(data, metrics=metrics, **options, **required_options)
    assert list(compared) == list(sums.labels)
    assert [list(one.intervals) for one in compared.values()] == [["A", "B"]] * len(metrics)
    within = engine.compare(data, metrics=BLEU(), within="domain", **options, **required_options)
    assert list(within) == ["chat", "news"]


def _is_installed(metric: str | Metric) -> bool:
    """Return False for a metric that requires an external program which is not installed."""
    resolved_metric: Any = truebleu.metric(metric)
    if not resolved_metric.FALLIBLE:
        return True
    try:
        resolved_metric.sentence("a", "a", *(["a"] if resolved_metric.NEEDS_SOURCE else []))
    except ImportError:
        return False
    return True


def run_script(script: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a new Python process."""
    command = [sys.executable, "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def add_nulls(table: Rows) -> Rows:
    """Remove every seventh hypothesis and every fifth reference."""
    hyp = [None if i % 7 == 3 else text for i, text in enumerate(table.hyp)]
    ref = [None if i % 5 == 1 else text for i, text in enumerate(table.ref)]
    return Rows(hyp, ref, table.group)


def _has_reference(ref: Any) -> bool:
    return any(text is not None for text in ref) if isinstance(ref, list) else ref is not None


def _to_tuple(ref: Any) -> Any:
    return tuple(ref) if isinstance(ref, list) else ref


__all__ = [
    "CASES",
    "METRICS",
    "InputError",
    "Rows",
    "check_agreement",
    "compute_expected_totals",
    "compute_oracle_sums",
    "make_rows",
    "partition_rows",
]
