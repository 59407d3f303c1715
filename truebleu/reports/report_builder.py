"""The contents of a report: from texts, tables and a comparison to a manifest and blocks.

The manifest is the contract: the static summary and the viewer are made of it and of the blocks
that it names. It is JSON, with every number in full:

truebleu_report     the version of this form
title, version, made    what it is called, by which truebleu, and when if SOURCE_DATE_EPOCH says so
segments, embedded  how many there are, and of how many the texts are in the page
texts               the roles whose texts are in the page, in the order in which its block has them
redacted, serve     whether texts are left out altogether; where a server has them
systems             name and letter of each, in the order in which they were given
references, source  how many references a segment has at most; whether there are sources
languages           the codes of source and target, as names of files have them, or null
settings            a metric with its parameters each, those of the comparison first (`headline`):
                    id, metric, name, label (that no other has), column (its name in the
                    comparison), signature, short, higher_is_better, parameters, recipe (what the
                    kernel is asked for), countable (whether it can count text), columns; by
                    system scores, and blocks (null if the page counts itself)
columns             the other metrics of the comparison: those whose formula the page does not have,
                    and scores from elsewhere: id, name, label, column, signature (or null),
                    higher_is_better, digits (after the point), and by system scores and blocks
live                the blocks of the kernel as WebAssembly and of lower-casing; null if the package
                    was built without it
headline, legend    who is best, in pieces: text, and systems by name; what terms and marks mean
comparison          what `Comparison.to_dict` gives
documents, labels   the names, and the block that has the number of each segment's
directions          "ltr", "rtl" or null by side: source, reference, system; that of most letters
terms               a glossary, or null: its name, in how many segments a source has a term, how
                    often one was found in all and how often each system used the wanted one; each
                    term with its source, targets, segments and uses; the block of their segments
ngrams, buckets, health     what is counted beside the metrics; of buckets the frequencies of words,
                    and the length of each segment (`length`)
data_hash           the hash of each input, by its name
commands, bibtex    how to make these numbers again, and what to cite
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from truebleu._kernel import Corpus, __version__
from truebleu.comparison import Comparison, overview, segment_labels, system_runs
from truebleu.comparison.comparison_layout import digits
from truebleu.comparison.comparison_request import Counted, Counts, Request, letters
from truebleu.metrics import registry
from truebleu.metrics.base import Metric
from truebleu.metrics.bleu import BLEU
from truebleu.metrics.statistics import Statistics
from truebleu.rendering.citation import bibtex
from truebleu.reports import (
    bins,
    browser_kernel,
    data_checks,
    distinctive_ngrams,
    findings,
    payload,
)
from truebleu.reports.influence import influence
from truebleu.reports.term_glossary import counted as terms_counted
from truebleu.reports.term_glossary import given as terms_given
from truebleu.text import argument_checks, languages, segments
from truebleu.text.segments import COMPRESSED_SUFFIXES, Texts
from truebleu.text.terminal_layout import join_words

# Changes when a viewer of the old form could no longer show the new one.
VERSION = 1

# The metrics whose formula the page has; others are in its tables, but have no segments to browse.
METRICS = ("BLEU", "chrF", "TER", "WER", "MER", "WIL", "WIP", "CER")

# Texts of more segments make a file that is too large to be sent around.
MOST_EMBEDDED = 100_000


class Setting(NamedTuple):
    """A metric with its parameters, and its table of each system."""

    id: str
    metric: Metric[Any]
    tables: Mapping[str, Statistics]
    # A name that no other setting has.
    label: str
    # What the comparison calls it, if it is a part of that.
    column: str | None

    def blocks(self) -> dict[str, str]:
        """The name of each system's block."""
        return {system: f"s{self.id}.{i}" for i, system in enumerate(self.tables)}


class Column(NamedTuple):
    """The score of each segment by a metric that is no setting: it is looked at, not recomputed."""

    id: str
    # Its entry in the comparison.
    metric: Mapping[str, Any]
    # By system.
    scores: Mapping[str, Sequence[float]]

    def blocks(self) -> dict[str, str]:
        """The name of each system's block."""
        return {system: f"{self.id}.{i}" for i, system in enumerate(self.scores)}


class Contents:
    """Everything that was read and counted for a report."""

    def __init__(
        self,
        request: Request,
        also: Any = (),
        *,
        title: str | None = None,
        languages: tuple[str | None, str | None] | None = None,
        word_counts: Any = None,
        commands: Sequence[str] = (),
        redacted: bool = False,
        on_disk: bool = False,
        human: Any = None,
        terms: Any = None,
    ) -> None:
        if any(hypotheses is None for hypotheses in request.systems.values()):
            raise ValueError("scores from elsewhere alone have no text, which a page shows")
        if terms is not None and request.source is None:
            raise ValueError("terms: they are looked for in the source; give that, too")
        glossary = None if terms is None else terms_given(terms)
        if system_runs.several(request.runs):
            raise ValueError("systems: a page shows one output a system; compare knows runs")
        form = _unicode_form(list(request.metrics))
        shown = [metric for metric in request.metrics if metric.NAME in METRICS]
        further = [_in_form(one, form) for one in settings(also, shown)]
        further = [one for one in further if one not in request.metrics]
        check(list(request.metrics), further)
        request.last(on_disk=on_disk)
        # All settings are counted in one reading; those that were asked for are compared.
        counted = request.count(further)
        self.segments = request.segments(counted)
        self.comparison = Comparison.of_request(request, counted).to_dict()
        tables = {metric: counted[metric].tables for metric in (*shown, *further)}
        self.settings = list(_settings(tables, list(request.metrics), self.comparison))
        self.people = None if human is None else _people(human, request, counted)
        self.columns = list(_columns(request, counted, self.comparison, self.settings))
        request.normalize(form, on_disk=on_disk)
        self.systems = {
            name: segments.read_texts(name, one) for name, one in request.systems.items()
        }
        self.references = segments.read_reference_streams(request.references)
        count = self.segments
        self.source: Texts | None = None
        if request.source is not None:
            self.source = segments.read_segment_column(
                "source", request.source, count, on_disk=on_disk
            )
        self.documents = request.documents
        self.test_set = request.test_set
        self.labels = {} if request.labels is None else segment_labels.labels(request.labels, count)
        self.redacted = redacted
        self.title = title or _title(list(self.systems))
        self.commands = list(commands)
        systems, source = request.given_systems, request.given_source
        targets = {_language(system) for system in systems.values()}
        target = targets.pop() if len(targets) == 1 else None
        self.languages = languages or (_language(source), target)
        self.beside, self.blocks_beside = self._beside(word_counts)
        self.beside["terms"] = None
        if glossary is not None and self.source is not None:
            told, block = terms_counted(
                *glossary, self.source, self.systems, redacted=self.redacted
            )
            self.beside["terms"] = told
            self.blocks_beside[told["block"]] = block
        self.findings = findings.of_contents(self._found_in())
        self.hashes = dict(self._hashes(systems, request.given_references, source))

    def _hashes(self, systems: Any, references: Any, source: Any) -> Iterator[tuple[str, str]]:
        """The name and the hash of each input."""
        inputs: list[tuple[str, Any, Texts]] = [
            (name, value, self.systems[name]) for name, value in systems.items()
        ]
        several = len(self.references) > 1
        # A list may be of segments, too; those are no files.
        is_list = isinstance(references, list | tuple) and len(references) == len(self.references)
        for i, column in enumerate(self.references):
            role = f"reference {i + 1}" if several else "reference"
            inputs.append((role, references[i] if is_list else references, column))
        if self.source is not None:
            inputs.append(("source", source, self.source))
        names: dict[str, int] = {}
        for role, value, column in inputs:
            name = _name_of(role, value)
            names[name] = names.get(name, 0) + 1
            if names[name] > 1:
                name = f"{name} ({names[name]})"
            yield name, segments.hash_texts(column)[:16]

    def _beside(self, word_counts: Any) -> tuple[dict[str, Any], dict[str, bytes]]:
        """Counts beside the metrics, in the tokens of the first BLEU: entries and their blocks."""
        own = (setting.metric for setting in self.settings if isinstance(setting.metric, BLEU))
        self._split = metric = next(own, BLEU())
        counted = next(
            (setting.tables for setting in self.settings if setting.metric == metric), None
        )
        table = None if counted is None else next(iter(counted.values()))
        flags, blocks, self._written = data_checks.flags(
            list(self.systems.values()),
            self.references,
            self.source,
            metric.tokenize,
            self.languages[1],
        )
        self._word_counts = None if word_counts is None else bins.given(word_counts)
        self._length, block = bins.lengths(self.references, metric, table)
        blocks[self._length["block"]] = block
        return {"health": flags}, blocks

    # What a page makes of its texts is made here for those that cannot.

    @cached_property
    def _tokens(self) -> Corpus:
        return distinctive_ngrams.read(list(self.systems.values()), self.references, self._split)

    @cached_property
    def _lists(self) -> dict[str, Any]:
        names = list(self.systems)
        first = names.index(self.comparison["baseline"]) if len(names) > 1 else 0
        others: list[int | None] = [i for i in range(len(names)) if i != first]
        pairs = [(first, other) for other in others or [None]]
        return distinctive_ngrams.differences(self._tokens, self._split, pairs)

    @cached_property
    def _frequency(self) -> tuple[dict[str, Any], bytes]:
        return bins.frequency(self._tokens, self.segments, self._word_counts)

    def _splits(self, counted: bool) -> bool:
        """True for a page that counts texts, and splits them as n-grams are."""
        return counted and browser_kernel.counts(self._split)

    def _ngrams(self, counted: bool) -> dict[str, Any] | None:
        """The entry of n-grams."""
        # N-grams are text.
        if self.redacted:
            return None
        split = self._split
        recipe = {name: _plain(value) for name, value in browser_kernel.recipe(split).items()}
        made = (
            distinctive_ngrams.described(split, self.segments)
            if self._splits(counted)
            else {**self._lists, "pairs": None, "block": "ngrams"}
        )
        return made | {"recipe": recipe if browser_kernel.counts(split) else None}

    def _counts_words(self, counted: bool) -> bool:
        """True for a page that counts words by frequency."""
        return self._splits(counted) and self._word_counts is None

    def _buckets(self, counted: bool) -> dict[str, Any]:
        """The entry of what segments are put into buckets by."""
        made = self._counts_words(counted)
        frequency = bins.described(self.segments) if made else self._frequency[0]
        return {"frequency": frequency, "length": self._length}

    def _found_in(self) -> findings.Contents:
        """What findings are made of."""
        # A metric that cannot split the text says nothing about differences.
        ranked = self.comparison["systems"][0]["scores"]
        first = next(
            (
                one
                for one in self.settings
                if one.column is not None and ranked[one.column]["rank"] is not None
            ),
            None,
        )
        return findings.Contents(
            segments=self.segments,
            systems=self.systems,
            references=self.references,
            baseline=self.comparison["baseline"],
            setting="" if first is None else first.id,
            label="" if first is None else first.label,
            metric=None if first is None else first.metric,
            tables={} if first is None else first.tables,
            lengths=self.blocks_beside[self._length["block"]],
            documents=self.documents,
            labels=self.labels,
            health=self.beside["health"],
            written=self._written,
            redacted=self.redacted,
        )

    # ---- which texts ----

    def embedded(self, most: int | None) -> set[int] | None:
        """The segments whose texts are in the page; None for all.

        If there are more than `most`: one half are those that the score, or a difference of
        scores, depends on most by the first metric; the others are drawn at random, because those
        that stand out mislead.
        """
        most = MOST_EMBEDDED if most is None else most
        if most >= self.segments:
            return None
        from random import Random

        first_setting = self.settings[0]
        weights = influence(first_setting.metric, first_setting.tables, list(self.systems))
        order = sorted(range(self.segments), key=weights.__getitem__, reverse=True)
        first = order[: most // 2]
        return {*first, *Random(0).sample(order[len(first) :], most - len(first))}

    # ---- the contract ----

    def manifest(self, most: int | None = None, serve: Any = None) -> dict[str, Any]:
        """The manifest of a page with the texts of at most `most` segments."""
        most = MOST_EMBEDDED if most is None else most
        counted = serve is None and self._is_counted_in_page(most)
        return {
            "truebleu_report": VERSION,
            "title": self.title,
            "version": __version__,
            "made": _made(),
            "segments": self.segments,
            "embedded": 0 if self.redacted else min(most, self.segments),
            "redacted": self.redacted,
            "serve": serve,
            "texts": None if self.redacted or serve else list(self.texts()),
            "systems": [
                {"name": name, "letter": letter}
                for name, letter in zip(self.systems, letters(), strict=False)
            ],
            "references": len(self.references),
            "source": self.source is not None,
            "languages": dict(zip(("source", "target"), self.languages, strict=True)),
            "directions": self._directions(),
            "settings": [self._setting(setting, counted) for setting in self.settings],
            "columns": [self._column(column) for column in self.columns],
            "live": browser_kernel.BLOCKS if browser_kernel.blocks() else None,
            "headline": overview.headline(self.comparison),
            "legend": overview.legend(self.comparison, chosen=True),
            "comparison": self.comparison,
            "people": self.people,
            "data_hash": self.hashes,
            "commands": self.commands,
            "bibtex": bibtex(),
            "documents": None
            if self.documents is None
            else {"names": self.documents.names, "block": "documents"},
            "labels": [
                {"name": name, "values": column.names, "block": f"label{i}"}
                for i, (name, column) in enumerate(self.labels.items())
            ],
            "ngrams": self._ngrams(counted),
            "buckets": self._buckets(counted),
            **self.beside,
            "findings": self.findings,
        }

    def _directions(self) -> dict[str, str | None]:
        """The direction of each side's texts, of as many as health looked at: "rtl" or "ltr".

        It is that of most of its letters, and not of the first one of a text: a Hebrew text that
        begins with a name in Latin letters runs from right to left as its neighbours do.
        """
        sides = {"source": (0, 0), "reference": (0, 0), "system": (0, 0)}
        for role, written in ({} if self.redacted else self._written).items():
            side = role.rstrip("0123456789")
            left, right = map(sum, zip(sides[side], written.letters, strict=True))
            sides[side] = left, right
        return {
            side: None if left == right == 0 else "rtl" if right > left else "ltr"
            for side, (left, right) in sides.items()
        }

    def _is_counted_in_page(self, most: int) -> bool:
        """True if a page with so many texts can count them, and has no need of counts."""
        return most >= self.segments and not self.redacted and bool(browser_kernel.blocks())

    def _setting(self, setting: Setting, counted: bool) -> dict[str, Any]:
        metric = setting.metric
        first = next(iter(setting.tables.values()))
        signature = metric.signature(first.references).with_test_set(self.test_set)
        return {
            "id": setting.id,
            "headline": setting.column is not None,
            "name": metric.from_statistics(first).name,
            "label": setting.label,
            "column": setting.column,
            **described(metric, signature),
            "scores": {
                system: metric.from_statistics(table).value
                for system, table in setting.tables.items()
            },
            "blocks": None
            if counted and browser_kernel.soon(metric, self.segments)
            else setting.blocks(),
        }

    def _column(self, column: Column) -> dict[str, Any]:
        name = column.metric["name"]
        return {
            "id": column.id,
            "name": column.metric["label"],
            "label": name,
            "column": name,
            "signature": column.metric["signature"],
            "higher_is_better": column.metric["higher_is_better"],
            # As many as the page gives to scores from 0 to 100 are two.
            "digits": digits(self.comparison, column.metric, 2),
            "scores": {
                system["name"]: system["scores"][name]["score"]
                for system in self.comparison["systems"]
            },
            "blocks": column.blocks(),
        }

    def texts(self) -> dict[str, Texts]:
        """The texts of each role, unless all text is left out."""
        if self.redacted:
            return {}
        return payload.roles(self.systems.values(), self.references, self.source)

    def numbers(self, *, counted: bool = False) -> dict[str, bytes]:
        """The blocks that have no text; with `counted` those of a page that counts texts itself."""
        made: dict[str, bytes] = {}
        for setting in self.settings:
            if counted and browser_kernel.soon(setting.metric, self.segments):
                continue
            for system, name in setting.blocks().items():
                made[name] = payload.of_table(setting.tables[system])
        for one in self.columns:
            for system, name in one.blocks().items():
                made[name] = payload.of_floats(one.scores[system])
        if self.documents is not None:
            made["documents"] = payload.of_indices(self.documents.indices)
        for i, column in enumerate(self.labels.values()):
            made[f"label{i}"] = payload.of_indices(column.indices)
        made |= self.blocks_beside
        if not self._counts_words(counted):
            told, block = self._frequency
            made[told["block"]] = block
        if not self.redacted and not self._splits(counted):
            # Long lists of few words: what is packed is a tenth as long.
            made["ngrams"] = payload.json_text(self._lists["pairs"]).encode()
        return made | browser_kernel.blocks()

    def blocks(self, most: int | None = None) -> dict[str, bytes]:
        """The blocks, in the order in which a page can use them: numbers before texts."""
        chosen = None if self.redacted else self.embedded(most)
        most = MOST_EMBEDDED if most is None else most
        made = self.numbers(counted=self._is_counted_in_page(most))
        texts = self.texts()
        return made | {"texts": payload.together(list(texts.values()), chosen)} if texts else made


def described(metric: Metric[Any], signature: Any) -> dict[str, Any]:
    """What the viewer must know of a metric, whatever was counted by it."""
    return {
        "metric": metric.NAME,
        "signature": str(signature),
        "short": signature.short(),
        "higher_is_better": not metric.lower_is_better,
        "parameters": {name: _plain(value) for name, value in metric.parameters.items()},
        "recipe": {name: _plain(value) for name, value in browser_kernel.recipe(metric).items()},
        "countable": browser_kernel.counts(metric),
        "columns": list(metric.columns),
    }


_NOT_SHOWN = (
    f"the page shows segments by {join_words(METRICS)}; name one of these as well, and "
    "others are in "
    "its tables"
)


def check(metrics: Sequence[Metric], further: Sequence[Metric]) -> None:
    """Raises ValueError if a page cannot show segments by any of the metrics, or a further one."""
    for metric in further:
        if metric.NAME not in METRICS:
            raise ValueError(f"also: {metric.NAME}: {_NOT_SHOWN}")
    if not any(metric.NAME in METRICS for metric in metrics):
        names = join_words([metric.name for metric in metrics]) if metrics else "none at all"
        raise ValueError(f"metrics: {names}: {_NOT_SHOWN}")


def _settings(
    tables: Mapping[Metric[Any], dict[str, Statistics]],
    compared: Sequence[Metric],
    comparison: Mapping[str, Any],
) -> Iterator[Setting]:
    """Each metric with its tables, and a name that says what is special about it."""
    own = [metric["name"] for metric in comparison["metrics"] if metric["source"] == "truebleu"]
    columns = dict(zip(compared, own, strict=True))
    taken = dict.fromkeys(own, 1)
    first: dict[str, dict[str, str]] = {}
    for i, (metric, by_system) in enumerate(tables.items()):
        references = next(iter(by_system.values())).references
        fields = metric.signature(references).fields
        usual = first.setdefault(metric.NAME, fields)
        label = column = columns.get(metric)
        if label is None:
            special = [f"{key}:{value}" for key, value in fields.items() if usual.get(key) != value]
            label = " ".join([metric.name, *special])
            taken[label] = taken.get(label, 0) + 1
            label = label if taken[label] == 1 else f"{label} ({taken[label]})"
        yield Setting(str(i), metric, by_system, label, column)


def _people(human: Any, request: Request, counted: Counted) -> dict[str, Any]:
    """What people said of the systems, beside the scores that are compared."""
    from truebleu.meta_evaluation.human_scores import Scores, of_tables
    from truebleu.meta_evaluation.meta_view import beside
    from truebleu.meta_evaluation.score_files import Matrix
    from truebleu.meta_evaluation.tasks import SEGMENTS

    scores = {
        name or metric.name: of_tables(metric, counted[metric].tables)
        for metric, name in request.metrics.items()
    }
    for name, columns in request.given.items():
        sign = -1 if name in request.lower else 1
        numbers = {system: [sign * x for x in column] for system, column in columns.items()}
        matrix = Matrix.of(numbers, name)
        scores[name] = Scores({SEGMENTS: matrix}, lower_is_better=name in request.lower)
    documents = request.documents
    names = None if documents is None else [documents.names[i] for i in documents.indices]
    systems, references = request.systems, request.references
    return beside(human, scores, systems, references, documents=names, workers=request.workers)


def _columns(
    request: Request,
    counted: Mapping[Metric[Any], Counts],
    comparison: Mapping[str, Any],
    settings: Sequence[Setting],
) -> Iterator[Column]:
    """The metrics of the comparison that are no settings, with what they say of each segment."""
    known = {setting.column for setting in settings}
    scores: list[Mapping[str, Sequence[float]]] = [counted[one].scores for one in request.metrics]
    scores += request.given.values()
    for i, (metric, own) in enumerate(zip(comparison["metrics"], scores, strict=True)):
        if metric["name"] not in known:
            yield Column(f"c{i}", metric, {system: own[system] for system in request.systems})


# ---- settings in words ----


def settings(also: Any, headline: Sequence[Metric]) -> Iterator[Any]:
    """Further settings: metrics, or changes of parameters of those that there are.

    "tokenize=intl,char" is two, "lowercase" is one, "tokenize=intl+lowercase" is both at once.
    """
    one = isinstance(also, str) or not hasattr(also, "__iter__")
    for item in [also] if one else also:
        if isinstance(item, str) and _is_change(item, headline):
            yield from _changed(item, headline)
        else:
            yield from registry.resolve_metrics([item])


def _unicode_form(metrics: Sequence[Any]) -> str | None:
    """Return the Unicode form that all metrics convert text to."""
    forms = {metric.unicode_form: metric for metric in metrics}
    if len(forms) > 1:
        raise ValueError(
            "metrics: a report shows one text, and the metrics have different values of normalize "
            f"({', '.join(map(repr, forms))}); give all of them the same"
        )
    return next(iter(forms), None)


def _in_form(metric: Any, form: str | None) -> Any:
    """Return the metric, in a Unicode form if it has none."""
    if form is None or metric.unicode_form is not None:
        return metric
    own = "unicode_form" if "unicode_form" in metric.parameters else "normalize"
    return metric.with_parameters(**{own: form})


def _is_change(text: str, headline: Sequence[Metric]) -> bool:
    name = text.partition("+")[0].partition("=")[0]
    return "=" in text or any(name in metric.parameters for metric in headline)


def _changed(text: str, headline: Sequence[Metric]) -> Iterator[Metric]:
    from itertools import product

    choices: list[list[tuple[str, str]]] = []
    for change in text.split("+"):
        name, given, values = change.partition("=")
        if not any(name in metric.parameters for metric in headline):
            known = dict.fromkeys(name for metric in headline for name in metric.parameters)
            raise ValueError(
                f"also: unknown parameter '{name}'{argument_checks.suggest_names(name, known)}"
            )
        choices.append([(name, one) for one in values.split(",")] if given else [(name, "yes")])
    for chosen in product(*choices):
        for metric in headline:
            declared = {parameter.name: parameter for parameter in metric.PARAMETERS}
            if all(name in declared for name, _ in chosen):
                try:
                    yield metric.with_parameters(
                        **{name: declared[name].from_option(value) for name, value in chosen}
                    )
                except (TypeError, ValueError) as error:
                    raise ValueError(f"also: {text}: {error}") from None


def _plain(value: Any) -> Any:
    """A parameter in the types of JSON; null for what a page cannot have."""
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float | str) else None


# ---- words ----


def _title(names: Sequence[str]) -> str:
    """The title of a report without one of its own."""
    if len(names) > 4:
        return f"{', '.join(names[:3])} and {len(names) - 3} more"
    return join_words(names)


def _name_of(role: str, value: Any) -> str:
    """The name of an input in the page: its file's, or its role."""
    name = segments.get_file_name(value)
    if name is None:
        return role
    column = segments.as_file(value).column
    return name if column is None else f"{name}#{column}"


def _language(value: Any) -> str | None:
    """The language of an input, as the ending of its file's name has it.

    >>> from truebleu.text.segments import File
    >>> _language(File("a.de")), _language(File("b.en.gz"))
    ('de', 'en')
    """
    stem, ending = os.path.splitext(segments.get_file_name(value) or "")
    if ending in COMPRESSED_SUFFIXES:
        ending = os.path.splitext(stem)[1]
    code = ending[1:].lower()
    return code if code in codes() else None


def codes() -> list[str]:
    """The codes of languages that names of files end in: those of ISO 639-1."""
    return [code for code in languages.list_codes() if len(code) == 2]


def _made() -> str | None:
    """When the report was made, if whoever makes it wants that to be known.

    Otherwise the same input gives the same bytes on every day.
    """
    if not os.environ.get("SOURCE_DATE_EPOCH", "").isdecimal():
        return None
    from truebleu.comparison.score_log import now

    return now().strftime("%Y-%m-%d")
