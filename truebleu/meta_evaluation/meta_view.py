"""Meta-evaluation: how well metrics agree with human scores, as tables and charts.

`MetaEvaluation.to_dict` defines the contents; every output format is built from that dict.

meta_layout.py  the dict as tables and sentences
charts.py       the dict as charts: systems by human and metric score, agreement by difference
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from truebleu._kernel import InputError
from truebleu.meta_evaluation import charts, meta_layout
from truebleu.meta_evaluation.human_scores import (
    ALL_SYSTEMS,
    NO_TEXT,
    EvaluatedText,
    JudgedSystems,
    Scores,
    SystemSelection,
    Tree,
    build_judged_systems,
    load_scores,
    read_judged_systems,
    resolve_metric,
)
from truebleu.meta_evaluation.meta_results import build_results
from truebleu.meta_evaluation.score_files import warn_about_misspelt_names
from truebleu.meta_evaluation.tasks import (
    DEFAULT_STATISTICS,
    NO_TESTS,
    PRESETS,
    SEGMENTS,
    AgreementTests,
    Preset,
    StatisticOptions,
    TaskFolder,
    list_levels,
    list_tasks,
)
from truebleu.metrics import registry, text_warnings
from truebleu.metrics.base import Metric
from truebleu.rendering.elements import Block
from truebleu.rendering.view import RecordView
from truebleu.text import argument_checks, corpus_inputs, languages
from truebleu.text.terminal_layout import join_words


class MetricValues:
    """The values of one metric for one set, with one attribute per statistic.

    Each value has the attribute `.value` and, if applicable, `.epsilon`, `.pairs`, `.hits`,
    `.rows`, `.left_out` and `.interval`. If a statistic exists at several levels, name the level,
    too: `table["en-de", "BLEU", "seg"].pearson`.
    """

    def __init__(self, values: Mapping[str, Mapping[str, Any]]) -> None:
        self._values = values

    def __getattr__(self, name: str) -> Any:
        key = name.replace("_", "-")
        matches = {task: one for task, one in self._values.items() if task.split(":")[1] == key}
        if not matches:
            available = dict.fromkeys(task.split(":")[1] for task in self._values)
            hint = argument_checks.suggest_names(key, available)
            raise AttributeError(f"no statistic '{key}'{hint}")
        if len(matches) > 1:
            levels = ", ".join(task.partition(":")[0] for task in matches)
            raise AttributeError(f"{key} exists at several levels ({levels}). Specify one.")
        return ValueFields(next(iter(matches.values())))

    def __repr__(self) -> str:
        words = [f"{name} {one['value']:.6f}" for name, one in self._values.items() if one["value"]]
        return f"<{', '.join(words)}>"


class ValueFields:
    """A value with its details as attributes. Missing details are None."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._values.get(name)

    def __float__(self) -> float:
        value = self._values["value"]
        return float("nan") if value is None else float(value)

    def __repr__(self) -> str:
        return f"<{', '.join(f'{name} {value}' for name, value in self._values.items())}>"


class MetaEvaluation(RecordView):
    """Agreement of metrics with human scores. `print` shows a table, and a notebook shows HTML.

    Iterating yields the metric names, best first. Indexing by a set and a metric returns the
    values: `table["en-de", "BLEU"].spa.value`. Add a level if a statistic exists at several levels.
    The set name "all" combines all sets.
    """

    __slots__ = ()

    KIND = "meta_evaluation"
    COLUMNS = (
        *("metric", "reference_free", "rank", "cluster", "average", "task", "value", "low", "high"),
        *("epsilon", "tied", "at_zero", "pairs", "hits", "cells", "rows", "left_out"),
        *("task_cluster", "recipe", "signature"),
    )

    def to_dict(self) -> dict[str, Any]:
        """Return the contents as JSON-compatible values, with all numbers at full precision.

        preset: the year of the official tasks, or None. reading: a summary in one sentence.
        sets: name, gold (name of the human scores), systems, items, rated, left_out.
        tasks: name (set:level:statistic), sets, level, statistic, average, weight, recipe.
        metrics: best first; name, reference_free, lower_is_better, signature, average, rank,
            cluster, and `scores` by task: value (None if undefined) and its details (epsilon, tied,
            at_zero, pairs, hits, cells, rows, left_out, interval, cluster).
        tests: task, first, second, difference, p, corrected_p, significant, test, samples, seed for
            each pair of metrics; None without tests.
        systems: set, system, human, and `scores` by metric.
        agreement: metric, low, high, pairs, agree for each range of differences between systems.
        """
        return super().to_dict()

    def _build_blocks(self, *, digits: int | None, short: bool) -> Iterator[Block]:
        return meta_layout.lay_out_meta_evaluation(self._content, digits, short=short)

    def _format_title(self) -> str:
        sets = ", ".join(one["name"] for one in self._content["sets"])
        return f"Agreement of metrics with human scores: {sets}"

    def _build_records(self) -> Iterator[Mapping[str, Any]]:
        return meta_layout.build_meta_records(self._content)

    _rescale = staticmethod(meta_layout.rescale_thresholds)

    def html(self, *, scale: int | None = None, **display: Any) -> str:
        """Return a complete HTML page with charts, without scripts, for light and dark mode."""
        page = super().html(scale=scale, **display)
        content = self._prepare_for_readers(scale).to_dict()
        if not content["systems"]:
            return page
        pictures = f"<h2>Charts</h2>\n{charts.render_charts(content)}\n</main>"
        return pictures.join(page.rsplit("</main>", 1))

    def svg(self, picture: str = "scatter", metric: str | None = None) -> str:
        """Draw a chart as SVG: "scatter" (systems by human and metric score) or "agreement".

        metric: the metric to draw (default: the best). Raises ValueError for unknown metrics.
        """
        argument_checks.check_choice("picture", picture, charts.PICTURES)
        names = list(self)
        if metric is not None and metric not in names:
            raise ValueError(f"no metric '{metric}'{argument_checks.suggest_names(metric, names)}")
        return charts.PICTURES[picture](self._content, metric or names[0])

    def __iter__(self) -> Iterator[str]:
        return (metric["name"] for metric in self._content["metrics"])

    def __len__(self) -> int:
        return len(self._content["metrics"])

    def __getitem__(self, key: tuple[str, ...]) -> MetricValues:
        if not isinstance(key, tuple) or len(key) not in (2, 3):
            raise KeyError(
                f"expected a set and a metric, as in table['en-de', 'BLEU'], found {key!r}"
            )
        set_name, metric, *level = key
        for row in self._content["metrics"]:
            if row["name"] == metric:
                values = {
                    task.partition(":")[2]: value
                    for task, value in row["scores"].items()
                    if task.partition(":")[0] == set_name
                }
                if not values:
                    sets = dict.fromkeys(task.partition(":")[0] for task in row["scores"])
                    raise KeyError(f"no set '{set_name}'; available: {', '.join(sets)}")
                if level:
                    values = {k: v for k, v in values.items() if k.split(":")[0] == level[0]}
                return MetricValues(values)
        raise KeyError(f"no metric '{metric}'; available: {', '.join(self)}")


def meta_evaluate(
    human: Any = None,
    metrics: Mapping[str, Any] | Sequence[Any] | None = None,
    *,
    text: EvaluatedText = NO_TEXT,
    tree: TaskFolder | None = None,
    gold: str | None = None,
    selection: SystemSelection = ALL_SYSTEMS,
    statistics: StatisticOptions = DEFAULT_STATISTICS,
    tests: AgreementTests = NO_TESTS,
    workers: int = 1,
    check_text: bool = True,
) -> MetaEvaluation:
    """Measure how well metrics agree with human scores.

    human: mapping from system names to a score, or to a score per segment (None for unrated
        segments); or a score file. Omit it with `tree`.
    metrics: mapping from metric names to scores of the same shape, score files, or truebleu
        metrics, which need `text`. With `tree`, a list of names: stored metrics, or (in lower case)
        metrics that truebleu computes from the texts in the folder.
    text: the texts of systems and references, and the document and the domain of each segment.
    tree: an mt-metrics-eval folder, instead of `human` and `text`.
    gold: the name of the human scores; with `tree`, the stored human scores to use (such as mqm).
    selection: the systems to compare. statistics: the statistics to compute.
    tests: the tests between metrics, and the intervals. workers: number of threads.
    check_text: issue `TextWarning` if a metric does not split the language of the references.

    Raises InputError for inconsistent scores, and ValueError for an unknown name.

    >>> people = {"A": [3, 5, 4, None], "B": [2, 4, 4, 1], "C": [1, 2, 2, 2]}
    >>> metric = {"A": [.8, .9, .7, .4], "B": [.7, .8, .7, .4], "C": [.3, .4, .2, .3]}
    >>> options = StatisticOptions(["pearson", "acc-eq"])
    >>> table = meta_evaluate(people, {"ours": metric}, statistics=options)
    >>> round(table["human", "ours", "seg"].pearson.value, 4), table["human", "ours", "sys"].acc_eq
    (0.811, <value 1.0, statistic acc-eq, average none, cells 3, rows 1, left_out 0, pairs 3, \
hits 3, epsilon 0.0>)
    """
    for name, value, expected in (
        ("text", text, EvaluatedText),
        ("selection", selection, SystemSelection),
        ("statistics", statistics, StatisticOptions),
        ("tests", tests, AgreementTests),
        *([] if tree is None else [("tree", tree, TaskFolder)]),
    ):
        if not isinstance(value, expected):
            raise TypeError(f"{name}: expected {expected.__name__}(...), not {value!r:.40}")
    year = None if tree is None else tree.preset
    judged: list[JudgedSystems]
    if tree is not None:
        if human is not None:
            raise ValueError(
                "human: the tree already contains human scores. Pass either human or tree."
            )
        # Splitting a set and computing intervals require segment scores.
        needs_segments = statistics.by is not None or tests.confidence is not None
        judged = _read_tree(tree, metrics, gold, selection, statistics, workers, needs_segments)
    elif human is None:
        raise ValueError("human: no human scores were passed. Pass either human or tree.")
    elif isinstance(human, Mapping) and any(isinstance(one, Metric) for one in human.values()):
        raise TypeError(
            "human: expected scores of systems, found metrics. Are human and metrics swapped? "
            "Human scores come first."
        )
    else:
        judged = [build_judged_systems(human, metrics, text, selection, gold or "human", workers)]
    if statistics.by is not None:
        judged = [part for one in judged for part in one.split_by_group(statistics.by)]
    tasks = list_tasks([one.name for one in judged], statistics, PRESETS.get(year or ""))
    if tree is None and statistics.by is None:
        tasks = [task for task in tasks if judged[0].supports_statistic(task.level, task.statistic)]
    if not tasks:
        raise InputError(
            f"no statistic can be computed: human scores exist for {', '.join(judged[0].gold)}, "
            f"but the requested levels are {', '.join(statistics.levels)}"
        )
    content = build_results(
        judged, tasks, statistics, tests, year, argument_checks.check_workers(workers)
    )
    warnings = [one for of_set in judged for one in _collect_warnings(of_set)]
    if warnings:
        content["warnings"] = warnings
    if check_text:
        text_warnings.raise_text_warnings(warnings)
    return MetaEvaluation({f"truebleu_{MetaEvaluation.KIND}": MetaEvaluation.VERSION, **content})


def _collect_warnings(judged: JudgedSystems) -> list[Any]:
    """Return the warnings about system names, and about the texts that truebleu scored."""
    warnings: list[Any] = []
    seen: dict[str, Any] = {}
    metrics = {}
    for name, scores in judged.metrics.items():
        if SEGMENTS in scores.levels:
            counts = scores.levels[SEGMENTS].count_scores()
            warnings += warn_about_misspelt_names(name, counts, judged.systems)
        if scores.metric is not None:
            metrics[scores.metric] = name
            # Metrics implemented in Python do not check the texts.
            seen |= {k: v for k, v in scores.seen.items() if v["characters"][0]}
    return [*warnings, *text_warnings.warn_about_references(seen, metrics)]


def meta_evaluate_report(
    human: Any,
    metrics: Mapping[str, Scores],
    systems: Mapping[str, corpus_inputs.Hypotheses],
    references: corpus_inputs.References,
    *,
    documents: Sequence[str] | None = None,
    workers: int = 1,
) -> dict[str, Any]:
    """Return the meta-evaluation of systems whose metric scores are already computed.

    human: see `meta_evaluate`; scores of other systems are ignored.

    Raises InputError for systems without human scores.
    """
    people = load_scores(human, "human scores")
    judged = people.matrix.systems
    missing = [name for name in systems if name not in judged]
    if missing:
        raise InputError(
            f"human scores: no scores for {join_words(missing)}, "
            f"only for {join_words(list(judged))}"
        )
    people = replace(people, matrix=people.matrix.select_systems(list(systems)))
    text = EvaluatedText(systems, references, documents=documents)
    return meta_evaluate(people, metrics, text=text, workers=workers, check_text=False).to_dict()


def _read_tree(
    folder: TaskFolder,
    metrics: Mapping[str, Any] | Sequence[Any] | None,
    gold: str | None,
    selection: SystemSelection,
    statistics: StatisticOptions,
    workers: int,
    needs_segments: bool,
) -> list[JudgedSystems]:
    """Return the language pairs in an mt-metrics-eval folder, with the required scores."""
    preset = PRESETS.get(folder.preset or "")
    tree = Tree(folder.path, folder.test_set or folder.preset)
    pairs = folder.language_pairs or (preset.pairs if preset else ()) or tree.list_language_pairs()
    if not pairs:
        raise InputError(f"{tree.folder}: no human scores found")
    levels = list_levels(list_tasks(pairs, statistics, preset))
    if needs_segments and SEGMENTS not in levels:
        levels.append(SEGMENTS)
    stored, computed, by_name = _split_metrics(tree, pairs, metrics, preset)
    judged = []
    for pair in pairs:
        try:
            target = languages.get_target_language(pair)
        except ValueError:
            adapted = computed  # the language is unknown
        else:
            adapted = {
                name: metric.adapt_to_language(target) if name in by_name else metric
                for name, metric in computed.items()
            }
        judged.append(
            read_judged_systems(
                tree,
                pair,
                metrics=stored,
                computed=adapted,
                levels=levels,
                gold=gold,
                selection=selection,
                workers=workers,
            )
        )
    if stored is None:
        common = [name for name in judged[0].metrics if all(name in one.metrics for one in judged)]
        judged = [
            replace(one, metrics={name: one.metrics[name] for name in common}) for one in judged
        ]
    return judged


def _split_metrics(
    tree: Any,
    pairs: Sequence[str],
    metrics: Mapping[str, Any] | Sequence[Any] | None,
    preset: Preset | None,
) -> tuple[list[str] | None, dict[str, Any], set[str]]:
    """Return the stored metrics among `metrics` and the metrics that truebleu computes.

    Names that are not stored metrics refer to truebleu metrics. A computed metric replaces a stored
    metric whose name differs only in case. The third result contains the computed metrics that were
    requested by name.
    """
    official = list(preset.metrics) if preset is not None and preset.metrics else None
    if metrics is None:
        return official, {}, set()
    stored_names = {name for pair in pairs for name in tree.list_metrics(pair)}
    names_by_casefold = {name.casefold(): name for name in stored_names}
    by_name: set[str] = set()
    stored: list[str] = []
    computed: dict[str, Any] = {}
    requested = metrics.items() if hasattr(metrics, "items") else [(None, one) for one in metrics]
    for name, requested_metric in requested:
        if isinstance(requested_metric, str) and requested_metric in stored_names and name is None:
            stored.append(requested_metric)
            continue
        resolved = resolve_metric(requested_metric)
        metric_name = name or names_by_casefold.get(str(requested_metric).casefold())
        if not metric_name:
            # A stored metric may equal the computed metric.
            metric_name = next(
                (
                    stored_name
                    for folded_name, stored_name in names_by_casefold.items()
                    if folded_name in registry.METRICS and resolve_metric(folded_name) == resolved
                ),
                str(resolved.name),
            )
        if computed.setdefault(metric_name, resolved) != resolved:
            raise ValueError(f"metrics: duplicate name '{metric_name}'. Use a mapping from names.")
        if isinstance(requested_metric, str) and ":" not in requested_metric:
            by_name.add(metric_name)
    if official is not None:
        unofficial = (name for name in stored if name not in official)
        return [*official, *unofficial], computed, by_name
    return stored, computed, by_name
