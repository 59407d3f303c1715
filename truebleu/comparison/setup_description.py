"""Descriptions of an experiment's setup for a paper: sentences with citations, and BibTeX."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from truebleu._kernel import InputError, __version__
from truebleu.bleu_family.family_catalogue import family
from truebleu.comparison.comparison_request import CORRECTION_METHODS, CORRECTION_TITLES, TESTS
from truebleu.metrics import registry
from truebleu.metrics.base import Metric, Signature
from truebleu.rendering.html_escape import unescape_html
from truebleu.rendering.latex import render_latex_signature, render_latex_text, unescape_latex
from truebleu.rendering.number_format import format_percent
from truebleu.significance import CORRECTIONS, RANDOMIZATIONS, RESAMPLES
from truebleu.testsets import catalogue
from truebleu.text.argument_checks import Record, check_choice, check_sequence, load_json
from truebleu.text.citations import encode_tex, format_bibtex, get_work, load_works, parse_bibtex
from truebleu.text.terminal_layout import join_words

TEST_NAMES = {
    **TESTS,
    "bs": "the centred paired bootstrap",
    "koehn": "the paired bootstrap (the share of resamples that a system loses)",
}
# Keys in truebleu.text.citations for significance tests, corrections, and other methods.
TEST_CITATIONS = {
    "ar": ("riezler-maxwell-2005-pitfalls",),
    "bs": ("riezler-maxwell-2005-pitfalls", "efron-tibshirani-1993-bootstrap"),
    "bs-sacrebleu": ("koehn-2004-statistical", "post-2018-call"),
    "koehn": ("koehn-2004-statistical",),
}
CORRECTION_CITATIONS = {
    "holm": ("holm-1979-simple",),
    "bh": ("benjamini-hochberg-1995-controlling",),
}
INTERVAL_CITATIONS = ("koehn-2004-statistical",)
RUN_CITATIONS = ("clark-etal-2011-better",)
# Re-segmentation methods, keyed by the beginning of their names in signatures.
RESEGMENTATION_CITATIONS = {
    "soft": ("polak-etal-2025-better",),
    "omnisteval": ("polak-etal-2025-better",),
    "as-wer": ("matusov-etal-2005-evaluating",),
    "mweralign": ("matusov-etal-2005-evaluating",),
    "suber": ("wilken-etal-2022-suber", "matusov-etal-2005-evaluating"),
    "time": ("wilken-etal-2022-suber",),
}
# Metrics of other programs, keyed by the lower-cased beginning of their names. The first match
# counts.
EXTERNAL_CITATIONS = {
    "cometkiwi": ("rei-etal-2022-cometkiwi",),
    "comet-22": ("rei-etal-2020-comet", "rei-etal-2022-comet"),
    "comet": ("rei-etal-2020-comet",),
    "xcomet": ("guerreiro-etal-2024-xcomet",),
    "metricx-23": ("juraska-etal-2023-metricx",),
    "metricx-24": ("juraska-etal-2024-metricx",),
    "metricx-25": ("juraska-etal-2025-metricx",),
    "bleurt-20": ("sellam-etal-2020-bleurt", "pu-etal-2021-learning"),
    "bleurt": ("sellam-etal-2020-bleurt",),
    "bertscore": ("zhang-etal-2020-bertscore",),
}
TEST_SET_NAMES = {"multi30k": "Multi30k", "mtedx": "mTEDx"}
# The significance test, the significance level and the confidence level in legends and captions.
PRINTED_TEST = re.compile(
    rf"({'|'.join(TESTS.values())})(?: of \w+)?(?: with ([\d,]+) (?:randomizations|resamples)|[,.])"
)
PRINTED_ALPHA = re.compile(
    r"(?:\*: p(?: \w+)? < |significant at |significant: p < |\(p < (?=[\d.]+, ))(\d*\.\d+)"
)
PRINTED_LEVEL = re.compile(r"\b(\d+(?:\.\d+)?)% interval")
# A p-value or its explanation; the correction would be between the "p" and the following sign.
PRINTED_P_VALUES = re.compile(r"\bp(?: [=<] [\d.]|: )")
REMEDY = "Use the output of -f json."
# Escape sequences for colours and for the window title in recorded terminal sessions.
TERMINAL_CODE = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
# A signature in printed output, such as "BLEU|nrefs:1|case:mixed|...|version:2.6.0". Names start
# after a separator; otherwise, the search would take quadratic time in long lines without spaces.
# Names have no colon, because TSV and CSV files have signatures without names, such as "nrefs:1".
PRINTED_SIGNATURE = re.compile(r"(?<![^\s|`])([^\s|`:]+)\|((?:nrefs|#|case|c):[^\s`\\]+)")
LATEX_TABLE_END = re.compile(r"\\end\{table\*?\}")
LATEX_CONTINUATION = "}, continued.}"
LATEX_LABEL = re.compile(r"\\label\{([^{}]*)\}")
# Start tag of the JSON in reports of truebleu.
MANIFEST_TAG = '<script type="application/json" id="manifest">'


class Cited(Record):
    """Name of a metric or a test set, with the keys of the works to cite."""

    name: str
    citations: tuple[str, ...]
    signature: str | None = None
    bibtex: str = ""
    """BibTeX entries from a user's registry."""
    label: str | None = None
    """The name in the signature, if it differs from `name`."""


class SetupDescription(Record):
    """Metrics, significance test and test sets of a result. `print` shows sentences and BibTeX.

    test: a name in `truebleu.compare`, or None. samples: the number of randomizations or resamples.
    confidence: the number of resamples for intervals, or None without intervals.
    """

    metrics: tuple[Cited, ...]
    program: str = f"truebleu {__version__}"
    test_sets: tuple[Cited, ...] = ()
    test: str | None = None
    samples: int | None = None
    unit: str = "segments"
    alpha: float = 0.05
    correction: str | None = None
    confidence: int | None = None
    level: float = 0.95
    has_runs: bool = False
    resegmentation: str | None = None
    """The method that divided the outputs into segments, as in the signature, or None."""
    omissions: tuple[str, ...] = ()
    """Sentences on parts of the setup that a printed result does not state."""
    tables: tuple[TableSetup, ...] = ()
    """The setups of several tables, if they differ. Then only `metrics` and `test_sets` of the
    other fields have a meaning: they are those of all tables."""

    @property
    def citations(self) -> list[str]:
        """The keys of all works to cite, in the order of the sentences."""
        if self.tables:
            return list(dict.fromkeys(key for one in self.tables for key in one.setup.citations))
        keys = [key for one in (*self.metrics, *self.test_sets) for key in one.citations]
        keys += [self._program_key, *self._resegmentation_keys]
        if self.test is not None:
            keys += TEST_CITATIONS[self.test]
        if self.correction is not None:
            keys += CORRECTION_CITATIONS[self.correction]
        if self.confidence is not None:
            keys += INTERVAL_CITATIONS
        return list(dict.fromkeys([*keys, *(RUN_CITATIONS if self.has_runs else ())]))

    @property
    def _program_key(self) -> str:
        return "truebleu" if self.program.startswith("truebleu ") else "post-2018-call"

    @property
    def _resegmentation_keys(self) -> tuple[str, ...]:
        method = self.resegmentation or ""
        found = (keys for name, keys in RESEGMENTATION_CITATIONS.items() if method.startswith(name))
        return next(found, ())

    @property
    def notes(self) -> list[str]:
        """Sentences on methods without a known citation, and on missing parts of the setup."""
        if self.tables:
            return list(dict.fromkeys(note for one in self.tables for note in one.setup.notes))
        return [
            *self.omissions,
            *(
                f"no citation is known for {one.name}; cite its authors"
                for one in (*self.metrics, *self.test_sets)
                if not one.citations and not one.bibtex
            ),
        ]

    def bibtex(self) -> str:
        """Return the BibTeX entries of all works."""
        user_entries = dict.fromkeys(one.bibtex.strip() for one in self.test_sets if one.bibtex)
        entries = format_bibtex(self.citations)
        programs = [one.setup.program for one in self.tables] or [self.program]
        # A bibliography has one entry per key, so it names the version of the first table.
        program = next((one for one in programs if one.startswith("truebleu ")), None)
        if program is not None:
            version = program.removeprefix("truebleu ")
            entries = entries.replace(f"Version {__version__}}}", f"Version {version}}}")
        return "\n".join([entries, *(f"{one}\n" for one in user_entries)])

    def text(self) -> str:
        """Return the sentences, with authors and years in brackets."""

        def cite(keys: Sequence[str], entries: str = "") -> str:
            # In text, the name and the version identify the program.
            labels = [get_work(key).label for key in keys if key != "truebleu"]
            labels += [work.label for work in parse_bibtex(entries)]
            return f" ({'; '.join(labels)})" if labels else ""

        return " ".join(self._build_sentences(cite, str, str, "the table {}".format))

    def latex(self) -> str:
        r"""Return the sentences for LaTeX, with `\cite`."""

        def cite(keys: Sequence[str], entries: str = "") -> str:
            names = ",".join([*keys, *(work.key for work in parse_bibtex(entries))])
            return rf"~\cite{{{names}}}" if names else ""

        sentences = self._build_sentences(
            cite, render_latex_text, render_latex_signature, r"Table~\ref{{{}}}".format
        )
        return encode_tex(" ".join(sentences))

    def __str__(self) -> str:
        return f"{self.text()}\n\n{self.bibtex()}"

    def __repr__(self) -> str:
        return str(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the sentences, the works and the notes as JSON-compatible values."""
        works = map(get_work, self.citations)
        return {
            "text": self.text(),
            "latex": self.latex(),
            "metrics": [
                {"name": one.name, "signature": one.signature, "citations": list(one.citations)}
                for one in self.metrics
            ],
            "test_sets": [
                {"name": one.name, "citations": list(one.citations)} for one in self.test_sets
            ],
            "works": [
                {"key": work.key, "reference": work.reference, "bibtex": work.bibtex}
                for work in works
            ],
            "notes": self.notes,
        }

    def _build_sentences(
        self,
        cite: Callable[..., str],
        escape: Callable[[str], str],
        escape_signature: Callable[[str], str],
        format_label: Callable[[str], str],
    ) -> Iterator[str]:
        """Yield the sentences of a single setup, or of several tables.

        The functions format citations, text, signatures and labels of tables. A sentence that
        does not hold for all tables names its tables.
        """
        functions = cite, escape, escape_signature
        if not self.tables:
            yield from filter(None, self._describe_methods(*functions))
            return
        paths = {one.path: os.path.basename(one.path) for one in self.tables}
        if len({*paths.values()}) < len(paths):
            paths = {path: path for path in paths}
        names = [
            format_label(one.label)
            if one.label
            else escape(
                f"table {one.number} of {paths[one.path]}" if one.number else paths[one.path]
            )
            for one in self.tables
        ]
        describe = SetupDescription._describe_methods
        descriptions = [describe(one.setup, *functions) for one in self.tables]
        for sentences in zip(*descriptions, strict=True):
            for sentence in filter(None, dict.fromkeys(sentences)):
                owners = [
                    name for name, one in zip(names, sentences, strict=True) if one == sentence
                ]
                scope = f"For {join_words(owners)}, " if len(owners) < len(names) else ""
                yield scope + (sentence[0].lower() if scope else sentence[0]) + sentence[1:]

    def _describe_methods(
        self,
        cite: Callable[..., str],
        escape: Callable[[str], str],
        escape_signature: Callable[[str], str],
    ) -> tuple[str, str, str, str]:
        """Return sentences about metrics, re-segmentation, tests, and training runs.

        A sentence is empty if it does not apply.
        """
        resegmentation = tests = runs = ""
        # Sections of one table may have different signatures of a metric.
        metric_texts = [escape(one.name) + cite(one.citations) for one in self.metrics]
        metrics = join_words(list(dict.fromkeys(metric_texts)))
        test_sets = [escape(one.name) + cite(one.citations, one.bibtex) for one in self.test_sets]
        data = f" on {join_words(test_sets)}" if test_sets else ""
        program = escape(self.program) + cite([self._program_key])
        signatures = [
            escape_signature(f"{one.label or one.name}|{one.signature}")
            for one in self.metrics
            if one.signature is not None
        ]
        noun = "signature" if len(signatures) == 1 else "signatures"
        signature_text = f" ({noun} {', '.join(signatures)})" if signatures else ""
        report = f"We report {metrics}{data} as implemented in {program}{signature_text}."
        if self.resegmentation is not None:
            method, separator, _ = self.resegmentation.partition("+docs")
            scope = " separately for each document" if separator else ""
            resegmentation = (
                f"The outputs were divided into the segments of the reference{scope} by the method "
                f"{escape(method)}{cite(self._resegmentation_keys)}."
            )
        unit = "" if self.unit == "segments" else f" of {self.unit}"
        parts = []
        if self.test is not None:
            noun = "randomizations" if self.test == "ar" else "resamples"
            correction = ""
            if self.correction is not None:
                method = CORRECTION_METHODS[self.correction]
                works = cite(CORRECTION_CITATIONS[self.correction])
                correction = (
                    f", with p-values corrected for multiple comparisons by {method}{works}"
                )
            level = escape(f"p < {self.alpha:g}")
            parts.append(
                f"test differences between systems by {escape(TEST_NAMES[self.test])}"
                f"{cite(TEST_CITATIONS[self.test])} with {self.samples:,} {noun}{unit}, at "
                f"{level}{correction}"
            )
        if self.confidence is not None:
            verb = "give" if not parts else "we give"
            parts.append(
                f"{verb} {escape(format_percent(self.level))} confidence intervals from "
                f"{self.confidence:,} bootstrap resamples{unit}{cite(INTERVAL_CITATIONS)}"
            )
        if parts:
            tests = f"We {'; '.join(parts)}."
        if self.has_runs:
            runs = (
                "Scores are means over training runs, and tests and intervals include the variance "
                f"between runs{cite(RUN_CITATIONS)}."
            )
        return report, resegmentation, tests, runs


class TableSetup(Record):
    """Setup of one table of a paper.

    path: the file of the table. number: its number in a file with several tables.
    label: its LaTeX label, or "" if it has none or if several tables have the same label.
    """

    path: str
    setup: SetupDescription
    number: int | None = None
    label: str = ""


def combine_setups(tables: Sequence[TableSetup]) -> SetupDescription:
    """Return the setup of one or several tables. Sentences name the tables only if they differ."""
    first, *others = (one.setup for one in tables)
    if all(setup.replace(omissions=()) == first.replace(omissions=()) for setup in others):
        omissions = [line for one in tables for line in one.setup.omissions]
        return first.replace(omissions=tuple(dict.fromkeys(omissions)))
    labels = [one.label for one in tables]
    return SetupDescription(
        tuple(dict.fromkeys(metric for one in tables for metric in one.setup.metrics)),
        test_sets=tuple(dict.fromkeys(data for one in tables for data in one.setup.test_sets)),
        tables=tuple(
            one if labels.count(one.label) == 1 else one.replace(label="") for one in tables
        ),
    )


def cite(
    metrics: Any = ("bleu",),
    *,
    test: str | None = None,
    correction: str | None = None,
    test_sets: Sequence[str] = (),
    registry_file: str | None = None,
) -> SetupDescription:
    """Return the works to cite for some methods or for a result, with sentences for a paper.

    metrics: names or metrics, as for `truebleu.metric`, or a result of `truebleu.compare`, which
        determines the other arguments.
    test: "ar", "bs", "koehn", "bs-sacrebleu" or None. correction: "holm", "bh" or None.
    test_sets: names of test sets. registry_file: the user's registry that defines some of them.

    Raises ValueError for an unknown name.

    >>> print(cite(["bleu", "chrf"], test="ar").text())  # doctest: +ELLIPSIS
    We report BLEU (Papineni et al., 2002; Post, 2018) and chrF2 (Popović, 2015) as implemented ...
    """
    if hasattr(metrics, "to_dict") and not isinstance(metrics, Metric):
        return describe_result(metrics.to_dict())
    check_choice("test", test, (None, *TESTS))
    check_choice("correction", correction, (None, *CORRECTIONS))
    return SetupDescription(
        tuple(
            Cited(
                name or metric.name,
                _list_metric_keys(name, metric),
                str(metric.signature()),
                label=metric.name,
            )
            for metric, name in registry.resolve_metrics(metrics).items()
        ),
        test_sets=tuple(
            _describe_test_set(name, registry_file)
            for name in check_sequence("test_sets", test_sets, "names")
        ),
        test=test,
        samples=None if test is None else RANDOMIZATIONS if test == "ar" else RESAMPLES,
        correction=correction,
    )


def read_tables(text: str, name: str) -> list[TableSetup]:
    """Return the setup of each table: JSON from `score` or `compare`, or text with signatures.

    The text may be Markdown, LaTeX, HTML, a report or a recorded terminal session.

    name: the file name for error messages.
    """
    text = _extract_html(text)
    if text.lstrip().startswith("{"):
        try:
            return [TableSetup(name, describe_result(load_json(text)))]
        except (ValueError, KeyError, TypeError) as error:
            if isinstance(error, InputError):
                raise InputError(f"{name}: {error}") from None
            reason = str(error) if isinstance(error, ValueError) else f"missing key {error}"
            raise InputError(
                f"{name}: expected a result of truebleu score or compare ({reason})"
            ) from None
    parts = _split_tables(TERMINAL_CODE.sub("", text))
    tables: list[TableSetup] = []
    missing = []
    for number, part in enumerate(parts, 1):
        title = f"table {number} of {name}" if len(parts) > 1 else name
        label = LATEX_LABEL.search(part)
        if re.search(r"\\(?:texttt|allowbreak)\b", part):
            part = unescape_latex(part)  # noqa: PLW2901 (the readable form of the same table)
        signatures = dict.fromkeys(
            (metric.lstrip("("), signature.rstrip(".,;" if "(" in signature else ".,;)"))
            for metric, signature in PRINTED_SIGNATURE.findall(part)
        )
        if signatures:
            setup = _add_printed_test(_describe_signatures(signatures), part, title)
            number_in_file = number if len(parts) > 1 else None
            tables.append(TableSetup(name, setup, number_in_file, label[1] if label else ""))
        elif PRINTED_TEST.search(part):
            missing.append(f"{title} has no signatures, so it is not described. {REMEDY}")
    if not tables:
        raise InputError(
            f"{name}: no signatures found. Use the output of truebleu score or compare, for "
            "example with -f json"
        )
    last = tables[-1].setup
    tables[-1] = tables[-1].replace(setup=last.replace(omissions=(*last.omissions, *missing)))
    return tables


def _split_tables(text: str) -> list[str]:
    """Return the parts of printed results, so that each has one table and one significance test."""
    first, *others = LATEX_TABLE_END.split(text)
    if others:
        # The following parts of a long table have no signatures, and its test is in the first one.
        return [first, *(part for part in others if LATEX_CONTINUATION not in part)]
    # In other formats, the explanation of the test comes before the signatures.
    ends = [0]
    for test in PRINTED_TEST.finditer(text):
        earlier = list(PRINTED_SIGNATURE.finditer(text, ends[-1], test.start()))
        if earlier and PRINTED_TEST.search(text, ends[-1], earlier[-1].start()):
            ends.append(earlier[-1].end())
    return [text[start:end] for start, end in zip(ends, [*ends[1:], len(text)], strict=True)]


def _extract_html(text: str) -> str:
    """Return the JSON in a report, the text of other HTML, or any other text unchanged."""
    manifest = text.partition(MANIFEST_TAG)[2].partition("</script>")[0]
    if manifest:
        return manifest
    return unescape_html(text) if text.lstrip().startswith("<") else text


def _add_printed_test(setup: SetupDescription, text: str, name: str) -> SetupDescription:
    """Return the setup with the test, level and correction that printed text states.

    Signatures name only approximate randomization, and no correction.
    """
    prose = " ".join(re.sub(r"[\\$]", "", text).split())
    if match := PRINTED_TEST.search(prose):
        test = next(key for key, title in TESTS.items() if title == match[1])
        samples = setup.samples if test == "ar" else setup.confidence
        samples = int(match[2].replace(",", "")) if match[2] else samples
        setup = setup.replace(test=test, samples=samples)
    alpha, level = PRINTED_ALPHA.search(prose), PRINTED_LEVEL.search(prose)
    # The significance level and the confidence level determine each other.
    if alpha is not None:
        setup = setup.replace(alpha=float(alpha[1]), level=round(1 - float(alpha[1]), 12))
    elif level is not None:
        share = round(float(level[1]) / 100, 12)
        setup = setup.replace(alpha=round(1 - share, 12), level=share)
    if level is None:
        setup = setup.replace(confidence=None)  # The text shows no intervals.
    missing = []
    if setup.test is None:
        missing += ["name the significance test"] if alpha is not None else []
    elif alpha is None and level is None:
        missing.append("state the significance level")
    correction = next(
        (
            key
            for key, title in CORRECTION_TITLES.items()
            if re.search(rf"\bp {title}\b|\bby {CORRECTION_METHODS[key]}", prose)
        ),
        None,
    )
    is_stated = correction is not None or PRINTED_P_VALUES.search(prose) is not None
    if setup.test and not is_stated and setup.program.startswith("truebleu "):
        missing.append("state whether p-values were corrected")
    omissions = tuple(f"{name} does not {one}. {REMEDY}" for one in missing)
    return setup.replace(correction=correction if setup.test else None, omissions=omissions)


def describe_result(content: Mapping[str, Any]) -> SetupDescription:
    """Return the setup that the JSON contents of scores or comparisons describe."""
    if "truebleu_comparisons" in content:
        content = content["groups"][0]["comparison"]
    if "truebleu_report" in content and "comparison" in content:
        content = content["comparison"]
    if "truebleu_score" in content:
        return _describe_signatures((one["name"], one["signature"]) for one in content["scores"])
    if "truebleu_comparison" not in content:
        kinds = ", ".join(name for name in content if name.startswith("truebleu_")) or "other JSON"
        raise InputError(f"expected a result of truebleu score or compare, found {kinds}")
    setup = _describe_signatures(
        (one["name"], None if one["source"] == "given" else one["signature"])
        for one in content["metrics"]
    )
    test, intervals, correction = (content[name] for name in ("test", "intervals", "correction"))
    method = test or intervals or {"resampled": "segments"}
    return setup.replace(
        test=test and test["name"],
        samples=test and test["samples"],
        alpha=test["alpha"] if test else 0.05,
        unit=method["resampled"],
        correction=correction and correction["name"],
        confidence=intervals and intervals["samples"],
        level=content["level"],
        has_runs=any(system["runs"] > 1 for system in content["systems"]),
    )


def _describe_signatures(pairs: Iterable[tuple[str, str | None]]) -> SetupDescription:
    metrics: dict[tuple[str, str | None], Cited] = {}
    test_sets: dict[str, None] = {}
    fields: dict[str, str] = {}
    for name, signature in pairs:
        metric, parsed = _parse_metric(name, signature)
        fields |= parsed
        label = name if metric is None else metric.name
        if name.startswith(f"{label} "):
            # Differing fields of the signature, as in "BLEU tok:intl", distinguish equal names.
            name = label  # noqa: PLW2901
        if "test" in parsed:
            test_sets[parsed["test"]] = None
        keys = _list_metric_keys(name, metric)
        if metric is not None and "#" in parsed:
            signature = "|".join(  # noqa: PLW2901  the complete form of a short signature
                f"{field}:{value}"
                for field, value in Signature.parse(f"{name}|{signature}").fields.items()
            )
        metrics.setdefault((name, signature), Cited(name, keys, signature, label=label))
    if not metrics:
        raise InputError("the result has no scores")
    randomizations, resamples = fields.get("ar"), fields.get("bs")
    program = fields.get("by", "").replace("truebleu-", "truebleu ", 1)
    if not program:
        # Neither sacreBLEU's signatures nor truebleu's short signatures have a field "by".
        own_version = registry.metric("bleu").signature().fields["version"]
        is_own = "#" in fields and fields.get("version", own_version) == own_version
        is_own = is_own or "version" not in fields
        program = f"truebleu {__version__}" if is_own else f"sacreBLEU {fields['version']}"
    return SetupDescription(
        tuple(metrics.values()),
        program,
        tuple(
            # The user's registry may be unknown here.
            _describe_test_set(name, None) if name in catalogue.load_entries() else Cited(name, ())
            for name in test_sets
        ),
        test="ar" if randomizations else None,
        samples=int(randomizations) if randomizations else None,
        confidence=int(resamples) if resamples else None,
        unit=fields.get("resample", "segments"),
        resegmentation=fields.get("reseg", fields.get("sg")),
    )


def _parse_metric(name: str, signature: str | None) -> tuple[Metric[Any] | None, dict[str, str]]:
    """Return the metric and the fields of a signature, or None and {} if they are unknown."""
    fields: dict[str, str] = {}
    if signature is not None:
        fields = dict(part.partition(":")[::2] for part in signature.split("|"))
        for text in (f"{name}|{signature}", signature):
            try:
                parsed = Signature.parse(text)
                return parsed.metric(), {**fields, **parsed.fields}
            except ValueError:
                continue
    try:
        return registry.metric(name), fields
    except ValueError:
        return None, fields


def _list_metric_keys(name: str | None, metric: Metric[Any] | None) -> tuple[str, ...]:
    """Return a metric's citation keys, including those of the family member with this name."""
    keys = list(family[name].citations) if name is not None and name in family else []
    if metric is not None:
        keys += metric.citations
    elif name is not None:
        prefix = next((one for one in EXTERNAL_CITATIONS if name.lower().startswith(one)), None)
        keys += EXTERNAL_CITATIONS.get(prefix or "", ())
    return tuple(dict.fromkeys(keys))


def _describe_test_set(name: str, registry_file: str | None) -> Cited:
    citation = catalogue.get_entry(name, registry_file).citation or ""
    base, separator, part = name.partition("/")
    title = TEST_SET_NAMES.get(base, base.upper()) + separator + part
    keys = citation.split()
    if keys and set(keys) <= load_works().keys():
        return Cited(title, tuple(keys))
    return Cited(name, (), bibtex=citation if citation.lstrip().startswith("@") else "")
