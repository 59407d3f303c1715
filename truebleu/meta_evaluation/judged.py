"""What people judged: a set of systems with people's scores and metrics' scores of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from truebleu._kernel import InputError
from truebleu.meta_evaluation import presets
from truebleu.meta_evaluation.matrix import Matrix, aligned, some
from truebleu.text import segments
from truebleu.text.checks import nearest
from truebleu.text.layout import count
from truebleu.text.record import Record

if TYPE_CHECKING:
    from truebleu.meta_evaluation.tree import Tree

SEGMENTS, SYSTEMS = "seg", "sys"
LEVELS = ("sys", "domain", "doc", "seg")
# How outliers are found where nobody names them.
MAD = "mad"


class Scores(Record):
    """A metric's scores of one set, level by level, and what they are."""

    levels: Mapping[str, Matrix]
    signature: str | None = None
    """The signature, if truebleu computed them."""
    free: bool = False
    """True if the metric reads no reference."""
    lower_is_better: bool = False
    table: Any = None
    """The statistics of all systems, for scores of parts of the set."""

    __hash__ = None  # type: ignore[assignment]


class Judged(Record):
    """A set of systems, such as one language pair of one year."""

    name: str
    gold_name: str
    gold: Mapping[str, Matrix]
    """People's scores of all systems that count, by level."""
    metrics: Mapping[str, Scores]
    left_out: Mapping[str, str]
    """Systems that do not count, and why."""
    groups: Mapping[str, Sequence[str]]
    """The domain and the document (doc) of each segment, where they are known."""
    notes: Sequence[str] = ()

    __hash__ = None  # type: ignore[assignment]

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems that count."""
        return next(iter(self.gold.values())).systems

    def at(self, level: str, metric: str) -> tuple[Matrix, Matrix]:
        """People's scores of a level, and a metric's of the same systems."""
        gold = self.people(level)
        known = self.metrics[metric]
        scores = known.levels.get(level)
        if scores is None and SEGMENTS in known.levels:
            scores = self._means(known.levels[SEGMENTS], level)
        if scores is None:
            raise InputError(
                f"{metric}: no scores of level {level} for {self.name}; there are "
                f"{', '.join(known.levels)}"
            )
        return gold, aligned(gold, scores, f"{metric}, {self.name}")

    def people(self, level: str) -> Matrix:
        """People's scores of a level: as given, or means over segments."""
        found = self.gold.get(level)
        if found is None and SEGMENTS in self.gold:
            found = self._means(self.gold[SEGMENTS], level)
        if found is None:
            raise InputError(
                f"{self.name}: no human scores of level {level}; there are {', '.join(self.gold)}"
            )
        return found

    def can(self, level: str, statistic: str) -> bool:
        """Whether people's scores are there for a statistic of a level."""
        needed = SEGMENTS if statistic == "spa" else level
        if needed in self.gold:
            return True
        grouped = needed == SYSTEMS or needed in self.groups
        return needed != SEGMENTS and SEGMENTS in self.gold and grouped

    def _means(self, segments: Matrix, level: str) -> Matrix:
        if level == SYSTEMS:
            return segments.means()
        groups = self.groups.get(level)
        if groups is None:
            known = {"doc": "document"}.get(level, level)
            raise InputError(
                f"{self.name}: level {level} needs the {known} of each segment, which is not known"
            )
        return segments.means(groups)

    def parts(self, by: str) -> list[Judged]:
        """The set in parts: by domain, or by document."""
        groups = self.groups.get(by)
        if groups is None:
            raise InputError(f"{self.name}: the {by} of each segment is not known")
        if SEGMENTS not in self.gold:
            raise InputError(f"{self.name}: by {by} needs people's scores of segments")
        made = []
        for part in dict.fromkeys(groups):
            items = [i for i, group in enumerate(groups) if group == part]
            gold = self.gold[SEGMENTS].taken(items)
            if not gold.rated():
                continue
            made.append(
                self.replaced(
                    name=f"{self.name}/{part}",
                    gold={SEGMENTS: gold},
                    metrics={name: _part(scores, items) for name, scores in self.metrics.items()},
                    groups={key: [names[i] for i in items] for key, names in self.groups.items()},
                )
            )
        return made


def _part(scores: Scores, items: Sequence[int]) -> Scores:
    """A metric's scores of some segments: of systems too, where it counted them."""
    if SEGMENTS not in scores.levels:
        return scores.replaced(levels={})
    levels = {SEGMENTS: scores.levels[SEGMENTS].taken(items)}
    if scores.table is not None:
        levels[SYSTEMS] = Matrix.of(
            {
                system: scores.table.sign * scores.table.of_rows(system, items)
                for system in scores.levels[SEGMENTS].systems
            }
        )
    return scores.replaced(levels=levels)


class Counted(Record):
    """A metric's statistics of each system's text."""

    metric: Any
    tables: Mapping[str, Any]
    sign: int
    seen: Mapping[str, Any] = MappingProxyType({})
    """What the kernel noticed in each system's text."""

    __hash__ = None  # type: ignore[assignment]

    def of_rows(self, system: str, items: Sequence[int]) -> float:
        """The score of some segments of a system."""
        return float(self.metric.from_statistics(self.tables[system][list(items)]).value)


def counted(
    metric: Any,
    systems: Mapping[str, Any],
    references: Any,
    *,
    source: Any = None,
    workers: int = 1,
) -> Scores:
    """The scores of systems and of their segments, by a metric of truebleu."""
    more = {"sources": source} if source is not None and metric.NEEDS_SOURCE else {}
    found = {
        name: metric.count(text, references, workers=workers, **more)
        for name, text in systems.items()
    }
    seen = {name: noticed for name, (_, noticed) in found.items()}
    return of_tables(metric, {name: table for name, (table, _) in found.items()}, seen)


def of_tables(
    metric: Any, tables: Mapping[str, Any], seen: Mapping[str, Any] = MappingProxyType({})
) -> Scores:
    """The same, of the statistics of each system.

    Scores of which lower is better get a minus sign, so that agreement is always above 0.
    """
    sign = -1 if metric.lower_is_better else 1
    of_systems, of_segments = {}, {}
    signature = None
    for name, table in tables.items():
        score = metric.from_statistics(table)
        signature = str(score.signature)
        of_systems[name] = sign * score.value
        of_segments[name] = [sign * value for value in metric.segment_scores(table)]
    return Scores(
        {SYSTEMS: Matrix.of(of_systems), SEGMENTS: Matrix.of(of_segments)},
        signature,
        lower_is_better=metric.lower_is_better,
        table=Counted(metric, tables, sign, seen),
    )


# The names of human references in the tables of mt-metrics-eval, and similar ones.
REFERENCE_NAME = re.compile(r"ref[-_.]?[A-Za-z]?")


def find_references(systems: Mapping[str, Any], references: Any) -> dict[str, str]:
    """Return the systems whose output equals a reference in every segment, each with the reason."""
    found = {}
    for name, output in systems.items():
        columns = segments.reference_columns(output, references)
        size = sum(1 for _ in segments.items("hypotheses", output))
        if size in segments.count_identical(output, columns):
            found[name] = "identical to a reference"
    return found


def find_unscored_references(
    gold: Matrix, scores: Mapping[str, Scores], references: Any
) -> dict[str, str]:
    """Return the references that people scored and some metric did not, each with the reason.

    A reference is known by its name: part of the name of a file in `references`, or as "refA".
    """
    files = references if isinstance(references, list | tuple) else [references]
    names = map(segments.file_name, files)
    parts = {part for name in names if name is not None for part in name.split(".")}
    matrices = [matrix for one in scores.values() for matrix in one.levels.values()]
    return {
        system: "a reference that not every metric scored"
        for system in gold.systems
        if (system in parts or REFERENCE_NAME.fullmatch(system))
        and any(system not in matrix.systems for matrix in matrices)
    }


def chosen(
    gold: Mapping[str, Matrix],
    *,
    outliers: Sequence[str] | str = (),
    known_outliers: Sequence[str] = (),
    references: Mapping[str, str] = MappingProxyType({}),
    name: str = "",
) -> tuple[dict[str, Matrix], dict[str, str]]:
    """People's scores of the systems that count, and why the others do not.

    outliers: names, "mad" for WMT20's rule, or nothing for those that are known.
    references: references and other translations by people to be left out, with the reason.
    """
    every = list(dict.fromkeys(system for matrix in gold.values() for system in matrix.systems))
    left_out = dict(references)
    for level, matrix in gold.items():
        for system in every:
            known = system in matrix.systems
            if system not in left_out and not (
                known and any(not isnan(value) for value in matrix.row(system))
            ):
                left_out[system] = f"no human score ({level})"
    if outliers == MAD:
        of_systems = gold.get(SYSTEMS) or gold[SEGMENTS].means()
        rated = {s: of_systems.row(s)[0] for s in of_systems.systems if s not in left_out}
        named: Sequence[str] = presets.outliers(rated)
    else:
        named = [outliers] if isinstance(outliers, str) else list(outliers)
        for system in named:
            if system not in every and not name:
                raise InputError(f"outliers: no system '{system}'{nearest(system, every)}")
        named = named or known_outliers
    left_out |= {system: "outlier" for system in named if system in every}
    kept = [system for system in every if system not in left_out]
    if len(kept) < 2:
        raise InputError(
            f"{name or 'human scores'}: {count(len(kept), 'system')} to be compared "
            f"({some(every)} judged; left out: {some(left_out) if left_out else 'none'}); "
            "an agreement needs two"
        )
    return {level: matrix.only(kept) for level, matrix in gold.items()}, left_out


def of_tree(
    tree: Tree,
    pair: str,
    *,
    metrics: Sequence[str] | None,
    computed: Mapping[str, Any],
    levels: Sequence[str],
    gold: str | None = None,
    include_humans: bool | None = None,
    include_references: bool = False,
    outliers: Sequence[str] | str = (),
    workers: int = 1,
) -> Judged:
    """A language pair of a tree.

    metrics: names of stored ones; None for all that have scores of these levels.
    computed: metrics of truebleu by the names that they get.
    """
    tree.check(pair)
    known = presets.facts(tree.name, pair)
    facts = known or presets.Facts()
    golds = tree.golds(pair)
    if gold is None:
        gold = facts.gold if facts.gold in golds else golds[0]
    if gold not in golds:
        raise InputError(f"{pair}: no human scores '{gold}'{nearest(gold, golds)}")
    # Scores of domains and documents are means over segments.
    given = {
        level: tree.gold(pair, gold, level) if level in (SYSTEMS, SEGMENTS) else None
        for level in levels
    }
    if SEGMENTS not in given and any(matrix is None for matrix in given.values()):
        given[SEGMENTS] = tree.gold(pair, gold, SEGMENTS)
    there = {level: matrix for level, matrix in given.items() if matrix is not None}
    references = tree.references(pair)
    standard = facts.reference
    if known is None and standard not in references and references:
        standard = references[0]
    if references and standard not in references:
        raise InputError(
            f"{tree.folder}: {tree.name} uses {standard} of {pair}, and there are "
            f"{', '.join(references)}; if this is another test set, name it (-t)"
        )
    humans = facts.humans if include_humans is None else include_humans
    judged = {name for matrix in there.values() for name in matrix.systems}
    people = {name for name in (*references, *judged) if name.startswith("ref")}
    translators = [name for name in people if name != standard and not humans]
    reasons = dict.fromkeys(sorted(judged.intersection(translators)), "human translation")
    if not include_references:
        reasons |= dict.fromkeys(judged & {standard}, "the reference")
        texts = {one: tree.output(pair, one) for one in judged if tree.has_output(pair, one)}
        if standard in references:
            others = {one: text for one, text in texts.items() if one not in reasons}
            reasons |= find_references(others, tree.reference(pair, standard))
    kept, left_out = chosen(
        there,
        outliers=outliers,
        known_outliers=facts.outliers,
        references=reasons,
        name=pair,
    )
    scores: dict[str, Scores] = {}
    wanted = tree.metrics(pair, standard, levels) if metrics is None else metrics
    for name in wanted:
        if name in computed:
            continue
        scores[name] = _stored(tree, pair, name, standard, levels)
    systems = next(iter(kept.values())).systems
    if computed:
        outputs = {system: tree.output(pair, system) for system in systems}
        reference = tree.reference(pair, standard)
        source = tree.source(pair)
        for name, metric in computed.items():
            scores[name] = counted(metric, outputs, reference, source=source, workers=workers)
    ordered = {name: scores[name] for name in [*wanted, *computed] if name in scores}
    documents = tree.documents(pair)
    groups = {} if documents is None else dict(zip(("domain", "doc"), documents, strict=True))
    return Judged(pair, gold, kept, ordered, left_out, groups)


def _stored(tree: Tree, pair: str, name: str, standard: str, levels: Iterable[str]) -> Scores:
    found: dict[str, Matrix] = {}
    used = standard
    for level in levels:
        one = None
        if level in (SYSTEMS, SEGMENTS):
            one = tree.metric(pair, name, standard, level)
        if one is not None:
            found[level], used = one
        elif level != SEGMENTS:
            segments = tree.metric(pair, name, standard, SEGMENTS)
            if segments is None:
                raise tree.unknown(pair, name, standard)
            found[SEGMENTS], used = segments
        else:
            raise tree.unknown(pair, name, standard)
    return Scores(found, free=used == "src")
