"""Compute the contents of a report: the manifest and the data blocks.

The manifest is the contract with the viewer: the static summary and the viewer are built from it
and from the blocks that it names. It is JSON, with all numbers at full precision:

truebleu_report     version of this format
title, version, made    title, version of truebleu, and date if SOURCE_DATE_EPOCH is set
segments, embedded  number of segments, and of segments whose texts are in the page
texts               roles whose texts are in the page, in the order of their block
redacted, serve     whether all text is omitted; base URL of the server that sends the texts
systems             name and letter of each system, in the order of the comparison
references, source  maximum number of references per segment; whether there are sources
languages           codes of source and target, from -l or the file names, or null
settings            metrics with parameters, starting with the compared ones (`headline`):
                    id, metric, name, label (unique), column (name in the comparison), signature,
                    short, higher_is_better, parameters, recipe (settings for the browser kernel),
                    countable (whether that kernel can count text), columns; scores and blocks by
                    system (blocks are null if the page counts the statistics)
columns             other metrics of the comparison: metrics that the page cannot compute, and
                    external scores: id, name, label, column, signature (or null),
                    higher_is_better, digits (decimals), and scores and blocks by system
live                blocks with the WebAssembly kernel and with lower-casing; null if the package
                    was built without them
scale               the displayed scale of percentages, 100 or 1; all numbers are on 0-100
headline, legend    the best system, as a list of texts and system names; explanations of terms and
                    marks
comparison          the value of `Comparison.to_dict`
tables              the comparison as a table for a paper, in LaTeX and Markdown
resegmentation      for each system, null or the method, the coverage and the block with the
                    lengths of the segments in reference and text; null without re-segmentation
documents, labels   names, and the block with the index of each segment's name
directions          "ltr", "rtl" or null for source, reference and system: direction of most letters
spans               error spans, or null: name and format of the file, annotations placed in the
                    report and unmatched ones, values of severity, category and annotator, `counts`
                    by system, category and severity, facts about each system, and the block
terms               a glossary, or null: its name, the number of segments with a source term, the
                    number of term occurrences (`found`) and of target terms per system (`used`),
                    each term with source, targets, segments and uses, and the block of segments
ngrams, buckets, health     further counts; buckets contains word frequencies and the length of
                    each segment (`length`)
findings            automatic findings: kind, text and the state of the page that shows them
data_hash           hash of each input by name
commands            commands that reproduce the scores
setup, bibtex       sentences on the methods for a paper, and the BibTeX entries of the methods
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from truebleu._kernel import Corpus, __version__
from truebleu.comparison import Comparison, display_scale, overview, segment_labels, system_runs
from truebleu.comparison.comparison_columns import can_rank, get_score_digits
from truebleu.comparison.comparison_request import Request, StatisticsByMetric
from truebleu.comparison.setup_description import describe_result
from truebleu.meta_evaluation.error_spans import ErrorSpans, read_spans
from truebleu.meta_evaluation.score_files import warn_about_misspelt_names
from truebleu.metrics.bleu import BLEU
from truebleu.rendering.number_format import check_scale
from truebleu.reports import (
    bins,
    browser_kernel,
    data_checks,
    distinctive_ngrams,
    findings,
    payload,
    segment_maps,
    span_layers,
)
from truebleu.reports.report_settings import (
    VIEWER_METRICS,
    MetricSetting,
    ScoreColumn,
    collect_score_columns,
    describe_metric,
    describe_recipe,
    find_unicode_form,
    label_settings,
    name_blocks,
    select_further_metrics,
)
from truebleu.reports.term_glossary import count_term_uses as count_terms
from truebleu.reports.term_glossary import parse_glossary
from truebleu.resegmentation.resegment import get_resegmentation
from truebleu.text import languages, segments
from truebleu.text.segments import COMPRESSED_SUFFIXES, Texts
from truebleu.text.terminal_layout import join_words

# Version of the format, increased when older viewers cannot show the new format.
MANIFEST_VERSION = 1

# Default maximum number of segments with text. Larger files are difficult to share.
MAX_EMBEDDED = 100_000


@dataclass(frozen=True)
class OptionalInputs:
    """Inputs that add views to a report, as described in `report`."""

    word_counts: Any = None
    human: Any = None
    terms: Any = None
    spans: Any = None


class ReportData:
    """Texts, statistics and scores of a report."""

    def __init__(
        self,
        request: Request,
        also: Any = (),
        inputs: OptionalInputs = OptionalInputs(),
        *,
        title: str | None = None,
        languages: tuple[str | None, str | None] | None = None,
        commands: Sequence[str] = (),
        is_redacted: bool = False,
        on_disk: bool = False,
        scale: int = 100,
    ) -> None:
        self.scale = check_scale(scale)
        _check_request(request, inputs.terms)
        glossary = None if inputs.terms is None else parse_glossary(inputs.terms)
        error_spans = inputs.spans
        if isinstance(error_spans, str) or segments.is_file(error_spans):
            error_spans = read_spans(error_spans)
        name_note = request.shorten_system_names()
        viewer_metrics = [metric for metric in request.metrics if metric.NAME in VIEWER_METRICS]
        further_metrics = select_further_metrics(also, list(request.metrics))
        request.make_rereadable(on_disk=on_disk)
        # Count all settings in a single pass; only the requested metrics are compared.
        counts = request.compute_statistics(further_metrics)
        self.segment_count = request.count_segments(counts)
        self.comparison = Comparison.from_request(request, counts).to_dict()
        if name_note:
            self.comparison["name_note"] = name_note
        # The page lists the systems, their letters and blocks in the order of the comparison.
        names = [system["name"] for system in self.comparison["systems"]]
        request.systems = {name: request.systems[name] for name in names}
        tables = {
            metric: {name: counts[metric].tables[name] for name in names}
            for metric in (*viewer_metrics, *further_metrics)
        }
        self.settings = list(label_settings(tables, list(request.metrics), self.comparison))
        self.human_view = None
        if inputs.human is not None:
            from truebleu.meta_evaluation.human_scores import load_scores

            people = load_scores(inputs.human, "human scores")
            self._warn_about_names("human scores", people.matrix.count_scores())
            self.human_view = _build_human_view(people, request, counts)
        self.columns = list(collect_score_columns(request, counts, self.comparison, self.settings))
        resegmentations = {
            name: get_resegmentation(request.original_systems[name]) for name in names
        }
        self._read_texts(request, on_disk=on_disk)
        self.labels |= {
            f"segments of {name}": segment_maps.list_flags(result)
            for name, result in resegmentations.items()
            if result is not None
        }
        self.is_redacted, self.commands = is_redacted, list(commands)
        self.title = title or _make_title(list(self.systems))
        if not isinstance(languages, tuple | list | None) or (languages and len(languages) != 2):
            raise ValueError(f"languages={languages!r:.40}: expected a pair, such as ('en', 'de')")
        self.languages = languages or _find_languages(request)
        self.extra_entries, self.extra_blocks = self._check_inputs(inputs.word_counts)
        entry, blocks = segment_maps.describe_resegmentations(list(resegmentations.values()))
        self.extra_entries |= {"terms": None, "resegmentation": entry, "spans": None}
        self.extra_blocks |= blocks
        if glossary is not None and self.source is not None:
            terms_entry, terms_block = count_terms(
                *glossary, self.source, self.systems, is_redacted=self.is_redacted
            )
            self.extra_entries["terms"] = terms_entry
            self.extra_blocks[terms_entry["block"]] = terms_block
        self.findings = findings.collect_findings(self._make_finding_inputs(request))
        if error_spans is not None:
            self._add_spans(error_spans, request)
        originals = (request.original_systems, request.original_references, request.original_source)
        self.input_hashes = dict(self._hash_inputs(*originals))

    def _read_texts(self, request: Request, *, on_disk: bool) -> None:
        """Read the texts and labels of a request, in the Unicode form of its metrics."""
        request.normalize_texts(find_unicode_form(list(request.metrics)), on_disk=on_disk)
        self.systems = {
            name: segments.read_texts(name, hypotheses)
            for name, hypotheses in request.systems.items()
        }
        self.references = segments.read_reference_streams(request.references)
        self.source: Texts | None = None
        if request.source is not None:
            self.source = segments.read_segment_column(
                "source", request.source, self.segment_count, on_disk=on_disk
            )
        self.documents = request.documents
        self.test_set = dict(request.test_set)
        count, labels = self.segment_count, request.labels
        self.labels = {} if labels is None else segment_labels.read_segment_labels(labels, count)

    def _add_spans(self, error_spans: Any, request: Request) -> None:
        """Add the error spans, and labels that filter segments by their errors."""
        if not isinstance(error_spans, ErrorSpans):
            raise TypeError(
                f"spans: expected a file or read_spans(file), found {error_spans!r:.60}"
            )
        if find_unicode_form(list(request.metrics)) is not None:
            raise ValueError(
                "spans: positions do not fit normalized text. Omit unicode_form (--unicode-form)."
            )
        texts = (self.systems, self.references, self.source)
        annotated = Counter(entry.system for entry in error_spans.annotations)
        self._warn_about_names(error_spans.name, annotated)
        entry, block, labels = span_layers.build_layers(error_spans, *texts, self._first_bleu)
        self.labels |= labels
        self.extra_entries["spans"] = entry
        if self.is_redacted:
            entry["block"] = None
        else:
            self.extra_blocks[entry["block"]] = block

    def _warn_about_names(self, source: str, counts: Mapping[str, int]) -> None:
        """Add warnings about misspelt names of systems in the human scores or error spans."""
        names = [system["name"] for system in self.comparison["systems"]]
        if warnings := list(warn_about_misspelt_names(source, counts, names)):
            self.comparison["warnings"] = [*self.comparison.get("warnings", ()), *warnings]

    def _hash_inputs(self, systems: Any, references: Any, source: Any) -> Iterator[tuple[str, str]]:
        """Yield the name and the hash of each input."""
        inputs: list[tuple[str, Any, Texts]] = [
            (name, value, self.systems[name]) for name, value in systems.items()
        ]
        is_multi_reference = len(self.references) > 1
        # If the lengths differ, the list contains segments instead of reference files.
        is_list = isinstance(references, list | tuple) and len(references) == len(self.references)
        for i, column in enumerate(self.references):
            role = f"reference {i + 1}" if is_multi_reference else "reference"
            inputs.append((role, references[i] if is_list else references, column))
        if self.source is not None:
            inputs.append(("source", source, self.source))
        names: dict[str, int] = {}
        for role, value, column in inputs:
            name = segments.get_file_name(value)
            if name is None:
                name = role
            elif (file_column := segments.as_file(value).column) is not None:
                name = f"{name}#{file_column}"
            names[name] = names.get(name, 0) + 1
            if names[name] > 1:
                name = f"{name} ({names[name]})"
            yield name, segments.hash_texts(column)[:16]

    def _check_inputs(self, word_counts: Any) -> tuple[dict[str, Any], dict[str, bytes]]:
        """Return the manifest entry of the data checks, and the blocks of flags and lengths.

        The texts are tokenized with the tokenizer of the first BLEU metric.
        """
        bleus = (setting.metric for setting in self.settings if isinstance(setting.metric, BLEU))
        self._first_bleu = metric = next(bleus, BLEU())
        tables = (setting.tables for setting in self.settings if setting.metric == metric)
        first_statistics = next(iter(next(tables, {}).values()), None)
        flag_entry, blocks, self._totals_by_role = data_checks.find_flags(
            list(self.systems.values()),
            self.references,
            self.source,
            metric.tokenize,
            self.languages[1],
        )
        self._word_counts = None if word_counts is None else bins.parse_word_counts(word_counts)
        self._length_entry, length_block = bins.encode_lengths(
            self.references, metric, first_statistics
        )
        blocks[self._length_entry["block"]] = length_block
        return {"health": flag_entry}, blocks

    # Counts for pages that cannot compute them from their texts.

    @cached_property
    def _token_corpus(self) -> Corpus:
        return distinctive_ngrams.build_corpus(
            list(self.systems.values()), self.references, self._first_bleu
        )

    @cached_property
    def _ngram_lists(self) -> dict[str, Any]:
        names = list(self.systems)
        baseline = names.index(self.comparison["baseline"]) if len(names) > 1 else 0
        other_indices: list[int | None] = [i for i in range(len(names)) if i != baseline]
        pairs = [(baseline, other_index) for other_index in other_indices or [None]]
        return distinctive_ngrams.list_distinctive_ngrams(
            self._token_corpus, self._first_bleu, pairs
        )

    @cached_property
    def _word_frequencies(self) -> tuple[dict[str, Any], bytes]:
        return bins.encode_frequencies(self._token_corpus, self.segment_count, self._word_counts)

    def _finds_ngrams_in_page(self, counts_in_page: bool) -> bool:
        """Return whether the page itself finds n-grams, using the first BLEU metric's tokenizer."""
        return counts_in_page and browser_kernel.can_compute_statistics(self._first_bleu)

    def _describe_ngrams(self, counts_in_page: bool) -> dict[str, Any] | None:
        """Return the manifest entry of the n-gram lists."""
        # N-grams are text, which redacted reports must not contain.
        if self.is_redacted:
            return None
        bleu = self._first_bleu
        entry = (
            distinctive_ngrams.describe_ngram_lists(bleu, self.segment_count)
            if self._finds_ngrams_in_page(counts_in_page)
            else {**self._ngram_lists, "pairs": None, "block": "ngrams"}
        )
        can_count = browser_kernel.can_compute_statistics(bleu)
        return entry | {"recipe": describe_recipe(bleu) if can_count else None}

    def _counts_words_in_page(self, counts_in_page: bool) -> bool:
        """Return whether the page itself counts the word frequencies."""
        return self._finds_ngrams_in_page(counts_in_page) and self._word_counts is None

    def _describe_bins(self, counts_in_page: bool) -> dict[str, Any]:
        """Return the manifest entry of word frequencies and segment lengths."""
        if self._counts_words_in_page(counts_in_page):
            frequency = bins.describe_frequencies(self.segment_count)
        else:
            frequency, _ = self._word_frequencies
        return {"frequency": frequency, "length": self._length_entry}

    def _make_finding_inputs(self, request: Request) -> findings.FindingInputs:
        """Return the data from which findings are computed."""
        # A metric without ranks cannot tokenize the text, so its deltas are meaningless.
        first_setting = next(
            (
                setting
                for setting in self.settings
                if setting.comparison_name is not None
                and can_rank(self.comparison, setting.comparison_name)
            ),
            None,
        )
        tested_pairs = [
            pair
            for pair in self.comparison["pairs"]
            if first_setting is not None and pair["metric"] == first_setting.comparison_name
        ]
        return findings.FindingInputs(
            segments=self.segment_count,
            systems=self.systems,
            references=self.references,
            baseline=self.comparison["baseline"],
            setting=first_setting,
            reference_lengths=self.extra_blocks[self._length_entry["block"]],
            documents=self.documents,
            labels=self.labels,
            health=self.extra_entries["health"],
            totals_by_role=self._totals_by_role,
            is_redacted=self.is_redacted,
            testing=request.testing,
            significant_pairs=[
                {pair["first"], pair["second"]} for pair in tested_pairs if pair["significant"]
            ]
            if self.comparison["test"]
            else None,
            resampled_documents=request.get_document_indices(),
            workers=request.workers,
            scale=self.scale,
        )

    # ---- selection of texts ----

    def select_embedded_segments(self, max_embedded: int | None) -> set[int] | None:
        """Return the segments whose texts are in the page, or None for all segments.

        If there are more than `max_embedded`, half of the selected segments have the largest
        influence on the first metric's score or on a delta. The others are random, because
        influential segments are not representative.
        """
        max_embedded = MAX_EMBEDDED if max_embedded is None else max_embedded
        if max_embedded >= self.segment_count:
            return None
        from random import Random

        first_setting = self.settings[0]
        influences = findings.compute_influences(
            first_setting.metric, first_setting.tables, list(self.systems)
        )
        order = sorted(range(self.segment_count), key=influences.__getitem__, reverse=True)
        top_segments = order[: max_embedded // 2]
        return {
            *top_segments,
            *Random(0).sample(order[len(top_segments) :], max_embedded - len(top_segments)),
        }

    # ---- manifest and blocks ----

    def build_manifest(
        self, max_embedded: int | None = None, text_server: Any = None
    ) -> dict[str, Any]:
        """Return the manifest of a page with the texts of at most `max_embedded` segments.

        text_server: `{"base": URL}` of the server that sends the texts, if any.
        """
        max_embedded = MAX_EMBEDDED if max_embedded is None else max_embedded
        counts_in_page = text_server is None and self._can_count_in_page(max_embedded)
        displayed_comparison = display_scale.convert_to_scale(self.comparison, self.scale)
        return {
            "truebleu_report": MANIFEST_VERSION,
            "title": self.title,
            "version": __version__,
            "made": _get_creation_date(),
            "segments": self.segment_count,
            "embedded": 0 if self.is_redacted else min(max_embedded, self.segment_count),
            "redacted": self.is_redacted,
            "serve": text_server,
            "texts": None if self.is_redacted or text_server else list(self.collect_texts()),
            "systems": [
                {"name": system["name"], "letter": system["letter"]}
                for system in self.comparison["systems"]
            ],
            "references": len(self.references),
            "source": self.source is not None,
            "languages": dict(zip(("source", "target"), self.languages, strict=True)),
            "directions": self._find_text_directions(),
            "settings": [
                self._describe_setting(setting, counts_in_page) for setting in self.settings
            ],
            "columns": [self._describe_column(column) for column in self.columns],
            "live": browser_kernel.KERNEL_BLOCKS if browser_kernel.load_kernel_blocks() else None,
            "scale": self.scale,
            "headline": overview.build_headline(displayed_comparison),
            "legend": overview.explain_overview(self.comparison, omit_baseline=True),
            # Sentences are displayed unchanged; the viewer scales the numbers.
            "comparison": self.comparison
            | {
                key: displayed_comparison[key]
                for key in ("notes", "warnings")
                if key in self.comparison
            },
            **self._describe_exports(),
            "people": self.human_view,
            "data_hash": self.input_hashes,
            "commands": self.commands,
            "documents": None
            if self.documents is None
            else {"names": self.documents.names, "block": "documents"},
            "labels": [
                {"name": name, "values": column.names, "block": f"label{i}"}
                for i, (name, column) in enumerate(self.labels.items())
            ],
            "ngrams": self._describe_ngrams(counts_in_page),
            "buckets": self._describe_bins(counts_in_page),
            **self.extra_entries,
            "findings": self.findings,
        }

    def _describe_exports(self) -> dict[str, Any]:
        """Return the manifest entries of the tables and texts for a paper."""
        comparison, setup = Comparison(self.comparison), describe_result(self.comparison)
        return {
            "tables": {
                "latex": comparison.latex(scale=self.scale),
                "markdown": comparison.markdown(scale=self.scale),
            },
            "setup": setup.text(),
            "bibtex": setup.bibtex(),
        }

    def _find_text_directions(self) -> dict[str, str | None]:
        """Return the direction ("ltr", "rtl" or None) of sources, references and system outputs.

        The majority of letters in the checked texts determines it, not the first letter of each
        text: a Hebrew text that begins with a name in Latin letters still runs from right to left.
        """
        letter_counts = {"source": (0, 0), "reference": (0, 0), "system": (0, 0)}
        for role, role_totals in ({} if self.is_redacted else self._totals_by_role).items():
            side = role.rstrip("0123456789")
            left_to_right, right_to_left = map(
                sum, zip(letter_counts[side], role_totals.letters, strict=True)
            )
            letter_counts[side] = left_to_right, right_to_left
        return {
            side: None if left == right == 0 else "rtl" if right > left else "ltr"
            for side, (left, right) in letter_counts.items()
        }

    def _can_count_in_page(self, max_embedded: int) -> bool:
        """Return whether a page with this many texts can compute all statistics from them."""
        return (
            max_embedded >= self.segment_count
            and not self.is_redacted
            and bool(browser_kernel.load_kernel_blocks())
        )

    def _describe_setting(self, setting: MetricSetting, counts_in_page: bool) -> dict[str, Any]:
        metric = setting.metric
        first_statistics = next(iter(setting.tables.values()))
        signature = metric.signature(first_statistics.references).with_test_set(self.test_set)
        return {
            "id": setting.id,
            "headline": setting.comparison_name is not None,
            "name": metric.from_statistics(first_statistics).name,
            "label": setting.label,
            "column": setting.comparison_name,
            **describe_metric(metric, signature),
            "scores": {
                system: metric.from_statistics(table).value
                for system, table in setting.tables.items()
            },
            "blocks": None
            if counts_in_page and browser_kernel.can_compute_on_load(metric, self.segment_count)
            else name_blocks(setting),
        }

    def _describe_column(self, column: ScoreColumn) -> dict[str, Any]:
        name = column.comparison_entry["name"]
        return {
            "id": column.id,
            "name": column.comparison_entry["label"],
            "label": name,
            "column": name,
            "signature": column.comparison_entry["signature"],
            "higher_is_better": column.comparison_entry["higher_is_better"],
            "percentage": column.comparison_entry["percentage"],
            # Two decimals, as for scores on a 0-100 scale.
            "digits": get_score_digits(self.comparison, column.comparison_entry, 2),
            "scores": {
                system["name"]: system["scores"][name]["score"]
                for system in self.comparison["systems"]
            },
            "blocks": name_blocks(column),
        }

    def collect_texts(self) -> dict[str, Texts]:
        """Return the texts of each role, or an empty dict if the report is redacted."""
        if self.is_redacted:
            return {}
        return payload.get_texts_by_role(self.systems.values(), self.references, self.source)

    def encode_numeric_blocks(self, *, counts_in_page: bool = False) -> dict[str, bytes]:
        """Return the blocks without text, excluding statistics that the page counts itself."""
        blocks: dict[str, bytes] = {}
        for setting in self.settings:
            if counts_in_page and browser_kernel.can_compute_on_load(
                setting.metric, self.segment_count
            ):
                continue
            for system, name in name_blocks(setting).items():
                blocks[name] = payload.encode_table(setting.tables[system])
        for column in self.columns:
            for system, name in name_blocks(column).items():
                blocks[name] = payload.encode_floats(column.scores[system])
        if self.documents is not None:
            blocks["documents"] = payload.encode_indices(self.documents.indices)
        for i, labels in enumerate(self.labels.values()):
            blocks[f"label{i}"] = payload.encode_indices(labels.indices)
        blocks |= self.extra_blocks
        if not self._counts_words_in_page(counts_in_page):
            frequency_entry, block = self._word_frequencies
            blocks[frequency_entry["block"]] = block
        if not self.is_redacted and not self._finds_ngrams_in_page(counts_in_page):
            blocks["ngrams"] = payload.to_script_json(self._ngram_lists["pairs"]).encode()
        return blocks | browser_kernel.load_kernel_blocks()

    def encode_blocks(self, max_embedded: int | None = None) -> dict[str, bytes]:
        """Return the blocks in the order in which the page can use them: numbers before texts."""
        embedded = None if self.is_redacted else self.select_embedded_segments(max_embedded)
        max_embedded = MAX_EMBEDDED if max_embedded is None else max_embedded
        blocks = self.encode_numeric_blocks(counts_in_page=self._can_count_in_page(max_embedded))
        if texts := self.collect_texts():
            blocks["texts"] = payload.encode_embedded_texts(list(texts.values()), embedded)
        return blocks


def _check_request(request: Request, terms: Any) -> None:
    """Raise ValueError for requests that a report does not support."""
    if any(hypotheses is None for hypotheses in request.systems.values()):
        raise ValueError("scores: a report needs the texts of all systems, not only scores")
    if terms is not None and request.source is None:
        raise ValueError("terms: a glossary requires source texts. Pass source.")
    if system_runs.has_several_runs(request.runs):
        raise ValueError(
            "systems: a report does not support multiple runs per system. Use compare."
        )


def _build_human_view(
    human_scores: Any, request: Request, counts: StatisticsByMetric
) -> dict[str, Any]:
    """Return the manifest entry on how well the compared metrics agree with human scores."""
    from truebleu.meta_evaluation.human_scores import Scores, compute_statistics_scores
    from truebleu.meta_evaluation.meta_view import meta_evaluate_report
    from truebleu.meta_evaluation.score_files import Matrix
    from truebleu.meta_evaluation.tasks import SEGMENTS

    scores = {
        name or metric.name: compute_statistics_scores(metric, counts[metric].tables)
        for metric, name in request.metrics.items()
    }
    for name, columns in request.external_scores.items():
        sign = -1 if name in request.lower_is_better else 1
        signed_scores = {system: [sign * x for x in column] for system, column in columns.items()}
        matrix = Matrix.from_scores(signed_scores, name)
        scores[name] = Scores({SEGMENTS: matrix}, lower_is_better=name in request.lower_is_better)
    documents = request.documents
    document_names = None if documents is None else [documents.names[i] for i in documents.indices]
    systems, references = request.systems, request.references
    return meta_evaluate_report(
        human_scores, scores, systems, references, documents=document_names, workers=request.workers
    )


# ---- names ----


def _make_title(names: Sequence[str]) -> str:
    """Return the default title of a report: the names of its systems."""
    if len(names) > 4:
        return f"{', '.join(names[:3])} and {len(names) - 3} more"
    return join_words(names)


def _find_languages(request: Request) -> tuple[str | None, str | None]:
    """Return the codes of source and target, from the user's tag or from the file names."""
    targets = {_guess_language(system) for system in request.original_systems.values()}
    source = _guess_language(request.original_source)
    if request.language is not None:
        given_source, target = languages.get_pair_codes(request.language)
        return given_source or source, target
    return source, targets.pop() if len(targets) == 1 else None


def _guess_language(value: Any) -> str | None:
    """Return the language code in an input's file extension, or None.

    >>> from truebleu.text.segments import File
    >>> _guess_language(File("a.de")), _guess_language(File("b.en.gz"))
    ('de', 'en')
    """
    stem, ending = os.path.splitext(segments.get_file_name(value) or "")
    if ending in COMPRESSED_SUFFIXES:
        ending = os.path.splitext(stem)[1]
    code = ending[1:].lower()
    return code if code in list_language_codes() else None


def list_language_codes() -> list[str]:
    """Return the ISO 639-1 language codes that are recognized as file extensions."""
    return [code for code in languages.list_codes() if len(code) == 2]


def _get_creation_date() -> str | None:
    """Return the date of the report if SOURCE_DATE_EPOCH is set, otherwise None.

    Without a date, the same input gives the same bytes on any day.
    """
    if not os.environ.get("SOURCE_DATE_EPOCH", "").isdecimal():
        return None
    from truebleu.comparison.score_log import get_log_time

    return get_log_time().strftime("%Y-%m-%d")
