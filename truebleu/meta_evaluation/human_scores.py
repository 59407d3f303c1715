"""Human scores and metric scores of systems, from Python objects, files or mt-metrics-eval folders.

An mt-metrics-eval folder contains the human scores, metric scores and texts of a test set:

human-scores/PAIR.NAME.LEVEL.score           human scores; LEVEL is sys, domain, doc or seg
metric-scores/PAIR/METRIC-REF.LEVEL.score    metric scores; REF is src, all, or references
documents/PAIR.docs                          "DOMAIN DOCUMENT" of each segment
sources/PAIR.txt, references/PAIR.REF.txt, system-outputs/PAIR/SYSTEM.txt
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from math import isnan
from statistics import median
from typing import Any

from truebleu._kernel import InputError
from truebleu.meta_evaluation import score_files
from truebleu.meta_evaluation.score_files import Matrix, ScoreTable, align_metric, format_names
from truebleu.meta_evaluation.tasks import FACTS, SEGMENTS, SYSTEMS, Facts
from truebleu.metrics import registry
from truebleu.metrics.base import Metric
from truebleu.text import segments
from truebleu.text.argument_checks import suggest_names
from truebleu.text.operating_system import join_safe_path
from truebleu.text.segments import File
from truebleu.text.terminal_layout import format_count

# WMT20's rule: outliers are more than `MAX_DEVIATION` scaled median absolute deviations from the
# median (Nitika Mathur, Timothy Baldwin and Trevor Cohn 2020: Tangled up in BLEU. ACL).
MAD = "mad"
MAX_DEVIATION = 2.5
NORMAL = 1.483
# Pattern that matches the names of human references in mt-metrics-eval, and similar names.
REFERENCE_NAME = re.compile(r"ref[-_.]?[A-Za-z]?")
# In file names of reference-free metrics, this replaces the name of a reference.
NO_REFERENCE = "src"
# Metrics of the WMT tasks that have a different name in truebleu's registry.
COMPUTED: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "f200spbleu": ("bleu", {"tokenize": "flores200"})
}


@dataclass(frozen=True)
class EvaluatedText:
    """Texts with human scores, for which `meta_evaluate` computes metrics.

    systems, references, source: texts in any form that `compare` accepts.
    documents, domains: the document and the domain of each segment.
    """

    systems: Mapping[str, Any] | None = None
    references: Any = None
    source: Any = None
    documents: Sequence[str] | None = None
    domains: Sequence[str] | None = None


@dataclass(frozen=True)
class SystemSelection:
    """Selection of the systems that `meta_evaluate` compares.

    outliers: names of systems to leave out; "mad" finds outliers by WMT20's rule.
    include_humans: also compare human translations other than the reference (default: as in the
        metrics task of the test set).
    include_references: also compare references. By default, outputs that equal a reference in
        every segment, and references (like "refA") that a metric did not score, are left out.
    """

    outliers: Sequence[str] | str = ()
    include_humans: bool | None = None
    include_references: bool = False


NO_TEXT, ALL_SYSTEMS = EvaluatedText(), SystemSelection()


@dataclass(frozen=True, eq=False)
class Scores:
    """A metric's scores for one set of systems, by level."""

    levels: Mapping[str, Matrix]
    signature: str | None = None
    """The signature of the metric, if truebleu computed the scores."""
    free: bool = False
    """True if the metric does not read references."""
    lower_is_better: bool = False
    metric: Any = None
    """The metric itself, if truebleu computed the scores."""
    tables: Mapping[str, Any] = field(default_factory=dict)
    """The metric's statistics of each system, which are used to score subsets."""
    seen: Mapping[str, Any] = field(default_factory=dict)
    """The kernel's warnings about each system's text."""

    @property
    def sign(self) -> int:
        """The factor that makes higher scores better: 1, or -1 if lower scores are better."""
        return -1 if self.lower_is_better else 1

    def select_items(self, items: Sequence[int]) -> Scores:
        """Return the scores of the given segments. System scores are recomputed if possible."""
        if SEGMENTS not in self.levels:
            return replace(self, levels={})
        levels = {SEGMENTS: self.levels[SEGMENTS].select_items(items)}
        if self.tables:
            system_scores = {}
            for system in levels[SEGMENTS].systems:
                score = self.metric.from_statistics(self.tables[system][list(items)])
                system_scores[system] = self.sign * float(score.value)
            levels[SYSTEMS] = Matrix.from_scores(system_scores)
        return replace(self, levels=levels)


@dataclass(frozen=True, eq=False)
class JudgedSystems:
    """A set of systems with human scores, such as one language pair in one year."""

    name: str
    gold_name: str
    gold: Mapping[str, Matrix]
    """The human scores of all systems in the comparison, by level."""
    metrics: Mapping[str, Scores]
    left_out: Mapping[str, str]
    """The systems that are left out, with the reason for each."""
    groups: Mapping[str, Sequence[str]]
    """The domain and the document (doc) of each segment, if known."""

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems in the comparison."""
        return next(iter(self.gold.values())).systems

    def get_scores(self, level: str, metric: str) -> tuple[Matrix, Matrix]:
        """Return the human scores at a level and a metric's scores of the same systems."""
        gold = self.get_human_scores(level)
        metric_levels = self.metrics[metric].levels
        scores = self._get_level_scores(metric_levels, level)
        if scores is None:
            raise InputError(
                f"{metric}: no scores at level {level} for {self.name}; available: "
                f"{', '.join(metric_levels)}"
            )
        return gold, align_metric(gold, scores, f"{metric}, {self.name}")

    def get_human_scores(self, level: str) -> Matrix:
        """Return the human scores at a level: stored scores, or means over segments."""
        matrix = self._get_level_scores(self.gold, level)
        if matrix is None:
            raise InputError(
                f"{self.name}: no human scores at level {level}; available: {', '.join(self.gold)}"
            )
        return matrix

    def _get_level_scores(self, levels: Mapping[str, Matrix], level: str) -> Matrix | None:
        if level in levels or SEGMENTS not in levels:
            return levels.get(level)
        if level == SYSTEMS:
            return levels[SEGMENTS].compute_means()
        if level not in self.groups:
            unit = {"doc": "document"}.get(level, level)
            raise InputError(
                f"{self.name}: level {level} needs the {unit} of each segment, which is unknown"
            )
        return levels[SEGMENTS].compute_means(self.groups[level])

    def supports_statistic(self, level: str, statistic: str) -> bool:
        """Return whether the human scores suffice for a statistic at a level."""
        needed = SEGMENTS if statistic == "spa" else level
        grouped = needed == SYSTEMS or needed in self.groups
        return needed in self.gold or (needed != SEGMENTS and SEGMENTS in self.gold and grouped)

    def split_by_group(self, by: str) -> list[JudgedSystems]:
        """Return a separate set for each domain, or each document, that has human scores."""
        groups = self.groups.get(by)
        if groups is None:
            raise InputError(f"{self.name}: the {by} of each segment is unknown")
        if SEGMENTS not in self.gold:
            raise InputError(f"{self.name}: splitting by {by} requires segment-level human scores")
        rated_parts = []
        for part in dict.fromkeys(groups):
            items = [i for i, group in enumerate(groups) if group == part]
            gold = self.gold[SEGMENTS].select_items(items)
            if gold.list_rated_items():
                name, metrics = f"{self.name}/{part}", self.metrics.items()
                part_groups = {key: [names[i] for i in items] for key, names in self.groups.items()}
                scores = {metric: one.select_items(items) for metric, one in metrics}
                rated_part = replace(
                    self, name=name, gold={SEGMENTS: gold}, metrics=scores, groups=part_groups
                )
                rated_parts.append(rated_part)
        return rated_parts


# ---- truebleu metrics ----


def resolve_metric(name_or_metric: Any) -> Any:
    """Return the truebleu metric with a given name, signature, or name in a WMT metrics task."""
    if isinstance(name_or_metric, str) and name_or_metric.casefold() in COMPUTED:
        name, parameters = COMPUTED[name_or_metric.casefold()]
        return registry.metric(name, **parameters)
    return registry.metric(name_or_metric)


def is_metric(candidate: Any) -> bool:
    """Return whether a value is a truebleu metric or its name, rather than scores or a file."""
    if isinstance(candidate, Metric):
        return True
    if not isinstance(candidate, str) or os.path.isfile(candidate):
        return False
    try:
        resolve_metric(candidate)
    except ValueError:
        return False
    return True


def compute_scores(
    metric: Any, systems: Mapping[str, Any], references: Any, source: Any = None, workers: int = 1
) -> Scores:
    """Return the system and segment scores of a truebleu metric."""
    options = {"sources": source} if source is not None and metric.NEEDS_SOURCE else {}
    tables, seen = {}, {}
    for name, text in systems.items():
        tables[name], seen[name] = metric.count(text, references, workers=workers, **options)
    return replace(compute_statistics_scores(metric, tables), seen=seen)


def compute_statistics_scores(metric: Any, tables: Mapping[str, Any]) -> Scores:
    """Return the system and segment scores from the statistics of each system."""
    sign = -1 if metric.lower_is_better else 1
    scores = {name: metric.from_statistics(table) for name, table in tables.items()}
    system_scores = {name: sign * score.value for name, score in scores.items()}
    segment_scores = {
        name: [sign * value for value in metric.segment_scores(table)]
        for name, table in tables.items()
    }
    levels = {
        SYSTEMS: Matrix.from_scores(system_scores),
        SEGMENTS: Matrix.from_scores(segment_scores),
    }
    return Scores(
        levels,
        str(list(scores.values())[-1].signature),
        lower_is_better=metric.lower_is_better,
        metric=metric,
        tables=tables,
    )


# ---- scores from Python objects and files ----


def load_scores(scores: Any, description: str) -> ScoreTable:
    """Read scores from a file or from Python objects."""
    if isinstance(scores, ScoreTable):
        return scores
    if isinstance(scores, str | os.PathLike):
        return score_files.read_score_file(scores)
    return ScoreTable(Matrix.from_scores(scores, description))


def build_judged_systems(
    human: Any,
    metrics: Mapping[str, Any] | Iterable[Any] | None,
    text: EvaluatedText,
    selection: SystemSelection = ALL_SYSTEMS,
    name: str = "human",
    workers: int = 1,
) -> JudgedSystems:
    """Return a set of systems with the given scores. See `meta_evaluate` for the arguments."""
    people = load_scores(human, "human scores")
    references, systems = segments.make_rereadable(text.references), text.systems
    if systems is not None:
        systems = {system: segments.make_rereadable(texts) for system, texts in systems.items()}
    given_groups = {"domain": text.domains, "doc": text.documents}
    groups = {key: list(names) for key, names in given_groups.items() if names is not None}
    scores_by_metric: dict[str, Scores | ScoreTable] = {}
    for metric_name, metric_scores in _name_metrics(metrics):
        if isinstance(metric_scores, Scores):
            scores_by_metric[metric_name] = metric_scores
        elif not is_metric(metric_scores):
            scores_by_metric[metric_name] = load_scores(metric_scores, metric_name)
        elif systems is None or references is None:
            raise ValueError(
                f"metrics: {metric_name} needs the texts of systems and references. Add both."
            )
        else:
            scores_by_metric[metric_name] = compute_scores(
                resolve_metric(metric_scores), systems, references, text.source, workers
            )
    size = _get_segment_count(scores_by_metric, groups)
    if people.matrix.items > 1 and people.items is not None and size is not None:
        people = ScoreTable(people.extend_matrix(size, "human scores"))
    scores: dict[str, Scores] = {}
    for metric_name, loaded in scores_by_metric.items():
        if isinstance(loaded, ScoreTable):
            matrix = _reorder_items(people, loaded, metric_name)
            scores[metric_name] = Scores({SYSTEMS if matrix.items == 1 else SEGMENTS: matrix})
        else:
            scores[metric_name] = loaded
    level = SYSTEMS if people.matrix.items == 1 else SEGMENTS
    reasons: dict[str, str] = {}
    if not selection.include_references:
        reasons = find_unscored_references(people.matrix, scores, references)
        if systems is not None and references is not None:
            reasons |= find_reference_copies(systems, references)
    gold = {level: people.matrix}
    selected_gold, left_out = select_systems(gold, outliers=selection.outliers, references=reasons)
    unrated = [system for system in systems or () if system not in people.matrix.systems]
    left_out |= dict.fromkeys(unrated, "no human score")
    for key, names in groups.items():
        if level == SEGMENTS and len(names) != people.matrix.items:
            raise InputError(
                f"{key}: expected one name per segment, found {len(names):,} names for "
                f"{people.matrix.items:,} segments"
            )
    return JudgedSystems(name, name, selected_gold, scores, left_out, groups)


def _name_metrics(metrics: Mapping[str, Any] | Iterable[Any] | None) -> list[tuple[str, Any]]:
    """Return metrics with their names. Only truebleu metrics may be passed without names."""
    if hasattr(metrics, "items"):
        return list(metrics.items())  # type: ignore[union-attr]
    resolved_metrics: dict[Metric, str | None] = {}
    if isinstance(metrics, str):
        metrics = registry.split_metric_names(metrics)
    for metric in metrics or ():
        if not is_metric(metric):
            raise ValueError(
                f"metrics: {metric!r:.60} needs a name. Use a mapping from names to scores."
            )
        resolved_metrics[resolve_metric(metric)] = None
    names = registry.distinguish_metrics(resolved_metrics)
    return [(name or metric.name, metric) for metric, name in names.items()]


def _get_segment_count(
    scores_by_metric: Mapping[str, Scores | ScoreTable], groups: Mapping[str, Sequence[str]]
) -> int | None:
    """Return the segment count, or None if unknown. Raises InputError if the counts differ."""
    sizes: dict[str, int] = {}
    for metric_name, metric_scores in scores_by_metric.items():
        if isinstance(metric_scores, Scores):
            sizes[metric_name] = metric_scores.levels[SEGMENTS].items
        elif metric_scores.items is None and metric_scores.matrix.items > 1:
            sizes[metric_name] = metric_scores.matrix.items
    sizes |= {key: len(names) for key, names in groups.items()}
    if len(set(sizes.values())) > 1:
        size_list = ", ".join(f"{called} {size:,}" for called, size in sizes.items())
        raise InputError(f"different numbers of segments: {size_list}. All must be equal")
    return next(iter(sizes.values()), None)


def _reorder_items(human: ScoreTable, metric: ScoreTable, metric_name: str) -> Matrix:
    """Return a metric's scores, reordered to match the items of the human scores."""
    size = human.matrix.items
    if metric.matrix.items == 1 or size == 1 or metric.items is None:
        return metric.matrix
    if human.items is None:
        return metric.extend_matrix(size, metric_name)
    places = {item: i for i, item in enumerate(metric.items)}
    missing = [item for item in human.items if item not in places]
    if missing:
        raise InputError(
            f"{metric_name}: no scores for {format_count(len(missing), 'item')} with human scores: "
            f"{format_names(map(str, missing))}"
        )
    return metric.matrix.select_items([places[item] for item in human.items])


# ---- selection of systems ----


def find_outliers(scores: Mapping[str, float]) -> list[str]:
    """Return the systems whose scores are outliers by the rule of WMT20's metrics task.

    An outlier is more than 2.5 scaled median absolute deviations from the median. If the median
    absolute deviation is 0, there are no outliers.

    >>> find_outliers({"a": 70.0, "b": 71.0, "c": 72.5, "d": 74.0, "e": 12.0})
    ['e']
    """
    if not scores:
        return []
    middle = median(scores.values())
    spread = NORMAL * median(abs(value - middle) for value in scores.values())
    if not spread:
        return []
    return [name for name, value in scores.items() if abs(value - middle) / spread > MAX_DEVIATION]


def find_reference_copies(systems: Mapping[str, Any], references: Any) -> dict[str, str]:
    """Return the systems that equal a reference in every segment, with the reason to omit them."""
    copies = {}
    for name, output in systems.items():
        columns = segments.split_reference_columns(output, references)
        size = sum(1 for _ in segments.iterate_items("hypotheses", output))
        if size in segments.count_identical_hypotheses(output, columns):
            copies[name] = "identical to a reference"
    return copies


def find_unscored_references(
    gold: Matrix, scores: Mapping[str, Scores], references: Any
) -> dict[str, str]:
    """Return the references with human scores that a metric did not score, with the reason.

    References are recognized by name: a part of a file name in `references`, or a name like "refA".
    """
    files = references if isinstance(references, list | tuple) else [references]
    names = map(segments.get_file_name, files)
    parts = {part for name in names if name is not None for part in name.split(".")}
    matrices = [matrix for one in scores.values() for matrix in one.levels.values()]
    return {
        system: "a reference that some metrics did not score"
        for system in gold.systems
        if (system in parts or REFERENCE_NAME.fullmatch(system))
        and any(system not in matrix.systems for matrix in matrices)
    }


def select_systems(
    gold: Mapping[str, Matrix],
    references: Mapping[str, str],
    outliers: Sequence[str] | str = (),
    known_outliers: Sequence[str] = (),
    name: str = "",
) -> tuple[dict[str, Matrix], dict[str, str]]:
    """Return the human scores of the compared systems and the reasons for leaving out others.

    references: references and other human translations to leave out, with the reasons.
    outliers: names, "mad" for WMT20's rule, or empty for the task's known outliers.
    """
    all_systems = list(
        dict.fromkeys(system for matrix in gold.values() for system in matrix.systems)
    )
    left_out = dict(references)
    for level, matrix in gold.items():
        for system in all_systems:
            rated = system in matrix.systems and not all(map(isnan, matrix.get_row(system)))
            if system not in left_out and not rated:
                left_out[system] = f"no human score ({level})"
    if outliers == MAD:
        system_scores = gold.get(SYSTEMS) or gold[SEGMENTS].compute_means()
        rated_systems = [system for system in system_scores.systems if system not in left_out]
        outlier_names: Sequence[str] = find_outliers(
            {s: system_scores.get_row(s)[0] for s in rated_systems}
        )
    else:
        outlier_names = [outliers] if isinstance(outliers, str) else list(outliers)
        for system in outlier_names:
            if system not in all_systems and not name:
                raise InputError(
                    f"outliers: no system '{system}'{suggest_names(system, all_systems)}"
                )
        outlier_names = outlier_names or known_outliers
    left_out |= {system: "outlier" for system in outlier_names if system in all_systems}
    remaining = [system for system in all_systems if system not in left_out]
    if len(remaining) < 2:
        raise InputError(
            f"{name or 'human scores'}: {format_count(len(remaining), 'system')} to compare "
            f"(with human scores: {format_names(all_systems)}; left out: "
            f"{format_names(left_out) if left_out else 'none'}); expected at least two"
        )
    return {level: matrix.select_systems(remaining) for level, matrix in gold.items()}, left_out


# ---- mt-metrics-eval folders ----


class Tree:
    """A test set in an mt-metrics-eval folder."""

    def __init__(self, folder: str | os.PathLike[str], test_set: str | None = None) -> None:
        root = os.fspath(folder)
        inside = join_safe_path(root, test_set) if test_set else root
        self.folder = inside if os.path.isdir(inside) else root
        self.name = test_set
        if not os.path.isdir(os.path.join(self.folder, "human-scores")):
            raise InputError(
                f"{root}: the folder human-scores is missing. Use an mt-metrics-eval folder, which "
                "contains human-scores and metric-scores."
            )
        # The files of human scores, keyed by language pair, name and level.
        self._human: dict[tuple[str, str, str], str] = {}
        for name in self.list_folder("human-scores"):
            parts = re.fullmatch(r"([^.]+)\.(.+)\.(sys|domain|doc|seg)\.score", name)
            if parts:
                path = join_safe_path(self.folder, "human-scores", name)
                self._human[parts[1], parts[2], parts[3]] = path

    def list_folder(self, *parts: str) -> list[str]:
        """Return the sorted names in a folder, or an empty list if there is no such folder."""
        folder = join_safe_path(self.folder, *parts)
        return sorted(os.listdir(folder)) if os.path.isdir(folder) else []

    def list_language_pairs(self) -> list[str]:
        """Return the language pairs with human scores."""
        return list(dict.fromkeys(pair for pair, _, _ in self._human))

    def list_human_scores(self, pair: str) -> list[str]:
        """Return the names of a language pair's human scores, such as "mqm"."""
        return list(dict.fromkeys(name for one, name, _ in self._human if one == pair))

    def read_human_scores(self, pair: str, name: str, level: str) -> Matrix | None:
        """Return the human scores at a level, or None if there are none."""
        path = self._human.get((pair, name, level))
        return None if path is None else score_files.read_score_file(path).matrix

    @cache  # noqa: B019 a tree is short-lived
    def _list_metric_files(self, pair: str) -> dict[str, dict[tuple[str, str], str]]:
        """Return the files of each metric for a language pair, by reference and level."""
        files_by_metric: dict[str, dict[tuple[str, str], str]] = {}
        for name in self.list_folder("metric-scores", pair):
            parts = re.fullmatch(r"(.+)-([^-]+)\.(sys|domain|doc|seg)\.score", name)
            if parts:
                path = join_safe_path(self.folder, "metric-scores", pair, name)
                files_by_metric.setdefault(parts[1], {})[parts[2], parts[3]] = path
        return files_by_metric

    def list_metrics(self, pair: str) -> list[str]:
        """Return the names of all metrics with scores for a language pair."""
        return list(self._list_metric_files(pair))

    def find_metrics(self, pair: str, reference: str, levels: Sequence[str]) -> list[str]:
        """Return the metrics that have scores at all `levels`, for a reference or without one."""
        return [
            name
            for name in self._list_metric_files(pair)
            if all(self._find_metric_file(pair, name, reference, level) for level in levels)
        ]

    def _find_metric_file(
        self, pair: str, metric: str, reference: str, level: str
    ) -> tuple[str, str] | None:
        """Return the reference that a metric used, and its score file, or None if there is none."""
        metric_files = self._list_metric_files(pair).get(metric, {})
        for used in (reference, NO_REFERENCE, "all"):
            if (used, level) in metric_files:
                return used, metric_files[used, level]
        for (used, file_level), path in metric_files.items():
            if file_level == level and reference in used.split("."):
                return used, path
        return None

    def read_level_scores(
        self, pair: str, name: str, reference: str, level: str
    ) -> tuple[Matrix, str] | None:
        """Return a metric's scores and the reference that it used, or None if there are none."""
        stored_file = self._find_metric_file(pair, name, reference, level)
        if stored_file is None:
            return None
        used, path = stored_file
        return score_files.read_score_file(path).matrix, used

    def read_scores(self, pair: str, name: str, reference: str, levels: Iterable[str]) -> Scores:
        """Return a metric's scores by level. Missing levels are computed from segment scores."""
        matrices: dict[str, Matrix] = {}
        used = reference
        for level in levels:
            stored_level, stored_scores = level, None
            if level in (SYSTEMS, SEGMENTS):
                stored_scores = self.read_level_scores(pair, name, reference, level)
            if stored_scores is None and level != SEGMENTS:
                stored_level = SEGMENTS
                stored_scores = self.read_level_scores(pair, name, reference, SEGMENTS)
            if stored_scores is None:
                raise self.build_missing_scores_error(pair, name, reference)
            matrices[stored_level], used = stored_scores
        return Scores(matrices, free=used == NO_REFERENCE)

    def build_missing_scores_error(self, pair: str, name: str, reference: str) -> InputError:
        """Return the error for a metric without scores."""
        files_by_metric = self._list_metric_files(pair)
        if name in files_by_metric:
            available = ", ".join(
                sorted({f"{used} ({level})" for used, level in files_by_metric[name]})
            )
            return InputError(
                f"{self.folder}: {name} has no scores with {reference} for {pair}; available: "
                f"{available}"
            )
        return InputError(
            f"{self.folder}: no metric '{name}' for {pair}{suggest_names(name, files_by_metric)}"
        )

    def get_output_files(self, pair: str, systems: Iterable[str]) -> dict[str, File]:
        """Return the output files of systems."""
        return {name: self.get_text_file("system-outputs", pair, f"{name}.txt") for name in systems}

    def get_text_file(self, *parts: str) -> File:
        """Return a text file of the folder. Raises InputError if it does not exist."""
        path = join_safe_path(self.folder, *parts)
        if not os.path.isfile(path):
            raise InputError(f"file not found: '{path}'. Computing metrics requires the texts.")
        return File(path)

    def read_documents(self, pair: str) -> tuple[list[str], list[str]] | None:
        """Return the domain and the document of each segment."""
        path = join_safe_path(self.folder, "documents", f"{pair}.docs")
        if not os.path.isfile(path):
            return None
        domains, documents = [], []
        for number, line in enumerate(File(path).read_lines(), 1):
            domain, _, document = line.strip().partition("\t" if "\t" in line else " ")
            if not document:
                raise InputError(f"{path}, line {number}: expected a domain and a document")
            domains.append(domain)
            documents.append(document.strip())
        return domains, documents


def read_judged_systems(
    tree: Tree,
    pair: str,
    *,
    metrics: Sequence[str] | None,
    computed: Mapping[str, Any],
    levels: Sequence[str],
    gold: str | None = None,
    selection: SystemSelection = ALL_SYSTEMS,
    workers: int = 1,
) -> JudgedSystems:
    """Return the scores of a language pair in an mt-metrics-eval folder.

    metrics: names of stored metrics; None for all metrics with scores at these levels.
    computed: metrics that truebleu computes, by name.
    """
    pairs = tree.list_language_pairs()
    if pair not in pairs:
        raise InputError(f"{tree.folder}: no human scores for {pair}{suggest_names(pair, pairs)}")
    facts = FACTS.get(tree.name or "", {}).get(pair)
    golds = tree.list_human_scores(pair)
    if gold is None:
        default_gold = (facts or Facts()).gold
        gold = default_gold if default_gold in golds else golds[0]
    if gold not in golds:
        raise InputError(f"{pair}: no human scores named '{gold}'{suggest_names(gold, golds)}")
    # Scores of domains and documents are computed as means over segments.
    needed = [level for level in levels if level in (SYSTEMS, SEGMENTS)]
    gold_by_level = {level: tree.read_human_scores(pair, gold, level) for level in needed}
    if len(needed) < len(levels) or None in gold_by_level.values():
        gold_by_level.setdefault(SEGMENTS, tree.read_human_scores(pair, gold, SEGMENTS))
    available_gold = {
        level: matrix for level, matrix in gold_by_level.items() if matrix is not None
    }
    standard, reasons = _find_human_translations(tree, pair, facts, available_gold, selection)
    facts = facts or Facts()
    selected_gold, left_out = select_systems(
        available_gold, reasons, selection.outliers, facts.outliers, pair
    )
    metric_names = tree.find_metrics(pair, standard, levels) if metrics is None else metrics
    scores = {
        name: tree.read_scores(pair, name, standard, levels)
        for name in metric_names
        if name not in computed
    }
    if computed:
        outputs = tree.get_output_files(pair, next(iter(selected_gold.values())).systems)
        reference = tree.get_text_file("references", f"{pair}.{standard}.txt")
        source = tree.get_text_file("sources", f"{pair}.txt")
        for name, metric in computed.items():
            scores[name] = compute_scores(metric, outputs, reference, source, workers)
    ordered = {name: scores[name] for name in dict.fromkeys([*metric_names, *computed])}
    documents = tree.read_documents(pair)
    groups = {} if documents is None else dict(zip(("domain", "doc"), documents, strict=True))
    return JudgedSystems(pair, gold, selected_gold, ordered, left_out, groups)


def _find_human_translations(
    tree: Tree,
    pair: str,
    facts: Facts | None,
    gold: Mapping[str, Matrix],
    selection: SystemSelection,
) -> tuple[str, dict[str, str]]:
    """Return the standard reference and the excluded human translations with the reasons."""
    files = tree.list_folder("references")
    matches = (re.fullmatch(r"([^.]+)\.(.+)\.txt", name) for name in files)
    references = [parts[2] for parts in matches if parts and parts[1] == pair]
    standard = (facts or Facts()).reference
    if facts is None and standard not in references and references:
        standard = references[0]
    if references and standard not in references:
        raise InputError(
            f"{tree.folder}: expected reference {standard} of {tree.name} for {pair}, found "
            f"{', '.join(references)}. If this is another test set, name it with -t."
        )
    include_humans = selection.include_humans
    if include_humans is None:
        include_humans = facts is not None and facts.humans
    judged = {name for matrix in gold.values() for name in matrix.systems}
    reasons = {
        name: "human translation"
        for name in sorted(judged)
        if name.startswith("ref") and name != standard and not include_humans
    }
    if not selection.include_references:
        reasons |= dict.fromkeys(judged & {standard}, "the reference")
        if standard in references:
            output_names = {
                name.removesuffix(".txt") for name in tree.list_folder("system-outputs", pair)
            }
            judged_outputs = sorted(judged & output_names - reasons.keys())
            texts = tree.get_output_files(pair, judged_outputs)
            reference = tree.get_text_file("references", f"{pair}.{standard}.txt")
            reasons |= find_reference_copies(texts, reference)
    return standard, reasons
