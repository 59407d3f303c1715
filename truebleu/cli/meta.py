"""`truebleu meta`: meta-evaluation, the agreement of metrics with human scores.

examples:
  truebleu meta --human mqm.seg.score reference.de -i systems/*.de -m bleu chrf
      compute metric scores and their agreement with the human scores

  truebleu meta --human people.score --scores COMET=comet.seg.score BLEU=bleu.seg.score
      read human scores and metric scores from files

  truebleu meta --tree DIR -t wmt23 -l en-de,he-en -m COMET bleu --statistic pearson spa
      read scores from folders of mt-metrics-eval; compute metrics with lower-case names, such
      as bleu, from the texts there

  truebleu meta --preset wmt23 --tree DIR -o table.html
      write the official results table of a shared task, with averages and charts
"""

from __future__ import annotations

import argparse
from typing import Any

from truebleu.cli import common_options as shared
from truebleu.cli import input_files as files
from truebleu.cli import metric_options
from truebleu.cli.common_options import Command, OptionGroup
from truebleu.cli.compare import COMPARE_OPTIONS
from truebleu.cli.output import Results, UsageError, print_message
from truebleu.meta_evaluation.agreement_statistics import AVERAGES, STATISTICS
from truebleu.meta_evaluation.human_scores import EvaluatedText, SystemSelection, Tree
from truebleu.meta_evaluation.meta_results import describe_left_out_systems
from truebleu.meta_evaluation.meta_view import meta_evaluate
from truebleu.meta_evaluation.score_files import parse_mqm_weights
from truebleu.meta_evaluation.score_files import read_score_file as read_scores
from truebleu.meta_evaluation.tasks import (
    LEVELS,
    PRESETS,
    AgreementTests,
    StatisticOptions,
    TaskFolder,
)
from truebleu.significance import CORRECTIONS
from truebleu.text.terminal_layout import join_words

FORMATS = (*shared.TABLE_FORMATS, "svg")
RANDOMIZATIONS = 10_000
# Options, keyed by the parameter name at the beginning of an error message.
META_OPTIONS = {**COMPARE_OPTIONS, "epsilon": "--epsilon"}
# What a column of a table of human scores can contain.
COLUMN_ROLES = ("system", "item", "document", "score")

PEOPLE = OptionGroup(
    "human scores",
    """
    --human FILE         read human scores: lines with a system and a score (mt-metrics-eval),
                         Google's MQM, WMT's direct assessments, MQM errors, ESA as JSON lines, or
                         a table
    --columns COLUMN=NAME...  use these columns of the table: system=, item=, document=, score=
    --mqm-weights TEXT   use these MQM error weights (default: "major:5 minor:1
                         minor/Fluency/Punctuation:0.1 Non-translation:25")
    --tree DIR           read the human scores, metric scores and texts of mt-metrics-eval
                         from DIR
    -t --test-set NAME   use this test set in DIR, such as wmt23; -l selects its language pairs,
                         separated by commas (default: all pairs with human scores)
    --gold NAME          use this kind of human score if there are several (default: mqm)
    --preset NAME        run the official tasks of a year: wmt20, wmt22, wmt23, wmt24 or
                         wmt25
    """,
    preset={"choices": PRESETS},
)
METRICS = OptionGroup(
    "metrics",
    "--scores NAME=FILE...  read the scores of metric NAME from FILE, in any supported format",
)
STATISTIC = OptionGroup(
    "statistics",
    f"""
    --level NAME...       compute agreement per sys, domain, doc or seg (default: sys seg)
    --statistic NAME...   compute {", ".join(STATISTICS)}
                          (default: depends on the level)
    --average NAME        average correlations over item groups or sys groups, or none (default:
                          depends on the statistic)
    --epsilon X           treat scores as tied in acc-eq if they differ by at most X (default: 0)
    --nan-as-zero         count undefined correlations as 0 (default: skip them)
    --outliers NAME...    exclude these systems; mad excludes systems more than 2.5 median absolute
                          deviations from the median
    --include-humans      include human translations, other than the reference, as systems
    --include-references  include outputs that equal a reference (default: exclude them)
    --by NAME             evaluate each domain or doc separately
    """,
    level={"choices": LEVELS},
    statistic={"choices": STATISTICS},
    average={"choices": AVERAGES},
    epsilon={"type": float},
    by={"choices": ("domain", "doc")},
)
TESTING = OptionGroup(
    "tests and intervals",
    """
    --significance [N]    test all pairs of metrics with N randomizations (default: 10000)
    """,
    shared.CORRECTION,
    shared.CONFIDENCE,
    """
    --resample NAME       resample items, documents or systems (default: items)
    --confidence-level X  use this confidence level (default: 0.95)
    """,
    shared.SEED,
    significance={"type": shared.parse_samples, "const": RANDOMIZATIONS},
    correction={"choices": CORRECTIONS},
    resample={"choices": ("items", "documents", "systems"), "default": "items"},
    confidence_level={"type": shared.parse_confidence_level, "default": 0.95},
)
PICTURE = OptionGroup(
    "picture",
    """
    --picture NAME   draw this chart with -f svg: scatter (human and metric scores of systems) or
                     agreement (default: scatter)
    --of NAME        draw this metric (default: the first)
    """,
    picture={"choices": ("scatter", "agreement"), "default": "scatter"},
)


TEXTS = OptionGroup(
    "more",
    files.SOURCE,
    "--docs FILE  read the document name of each segment from FILE",
    "--domains FILE  read the domain of each segment from FILE",
)


def run(options: argparse.Namespace) -> None:
    """Compute the agreement with human scores and write the results."""
    output = Results(options)
    output.check_display_options()
    with shared.reraise_as_usage_error("truebleu meta", META_OPTIONS):
        arguments = _build_arguments(options)
    with output:
        with shared.reraise_as_usage_error("truebleu meta", META_OPTIONS):
            table = meta_evaluate(**arguments, check_text=False)
        output.print_warnings(table.warnings)
        if output.form == "svg":
            with shared.reraise_as_usage_error("--of"):
                svg = table.svg(options.picture, options.of)
            output.write(f"{svg}\n")
        else:
            output.write_view(table)
        if output.form in ("csv", "tsv", "svg"):
            for note in describe_left_out_systems(table.to_dict()["sets"]):
                print_message("note", note)


def _build_arguments(options: argparse.Namespace) -> dict[str, Any]:
    if options.correction and not options.significance:
        raise UsageError("--correction has no effect without --significance")
    if not options.confidence:
        shared.refuse_options(options, ["resample"], "has no effect without --confidence")
    if (options.tree is None) == (options.human is None):
        raise UsageError("human scores: expected either --human FILE or --tree DIR")
    arguments = (
        _build_file_arguments(options) if options.tree is None else _build_tree_arguments(options)
    )
    return arguments | {
        "gold": options.gold,
        "selection": SystemSelection(
            "mad" if options.outliers == ["mad"] else tuple(options.outliers or ()),
            True if options.include_humans else None,
            options.include_references,
        ),
        "statistics": StatisticOptions(
            options.statistic,
            options.level or ["sys", "seg"],
            options.average,
            options.epsilon,
            options.nan_as_zero,
            options.by,
        ),
        "tests": AgreementTests(
            options.significance,
            options.correction,
            options.confidence,
            options.resample,
            options.confidence_level,
            options.seed,
        ),
        "workers": max(1, options.threads),
    }


def _build_tree_arguments(options: argparse.Namespace) -> dict[str, Any]:
    names = ("references", "input", "hyp_docs", "scores", "docs", "domains", "columns", "resegment")
    shared.refuse_options(options, names, "and --tree are mutually exclusive")
    pairs = None
    if options.language is not None:
        pairs = [pair for pair in options.language.split(",") if pair]
    folder = TaskFolder(options.tree, options.test_set, pairs, options.preset)
    return {"tree": folder, "metrics": _select_tree_metrics(options)}


def _select_tree_metrics(options: argparse.Namespace) -> list[Any] | None:
    """Return the names of stored metrics, then the metrics to compute (None: all stored)."""
    names = metric_options.parse_names(options.metrics)
    if not any(name.startswith("--") for name in vars(options)):
        return names
    if names is None:
        raise UsageError("metric options have no effect without -m/--metrics")
    tree = Tree(options.tree, options.test_set or options.preset)
    stored = {name for pair in tree.list_language_pairs() for name in tree.list_metrics(pair)}
    computed = [name for name in names if name not in stored]
    changes = {"metrics": computed, "language": None, "source": ""}
    metrics = metric_options.select_metrics(argparse.Namespace(**{**vars(options), **changes}))
    return [*(name for name in names if name in stored), *metrics]


def _build_file_arguments(options: argparse.Namespace) -> dict[str, Any]:
    names = ("test_set", "preset", "include_humans")
    shared.refuse_options(options, names, "has no effect without --tree")
    if (options.resegment or options.hyp_docs) and not (options.references or options.input):
        raise UsageError("--resegment and --hyp-docs need REF and -i HYP...")
    expected = join_words([f"{role}=NAME" for role in COLUMN_ROLES])
    columns = shared.parse_named_values("--columns", options.columns, expected)
    for role, name in columns.items():
        if role not in COLUMN_ROLES:
            raise UsageError(f"--columns: expected {expected}, found '{role}={name}'")
    weights = None
    if options.mqm_weights is not None:
        with shared.reraise_as_usage_error(None, {"mqm_weights": "--mqm-weights"}):
            weights = parse_mqm_weights(options.mqm_weights)
    scores = shared.parse_named_values(
        "--scores", options.scores, "NAME=FILE such as COMET=comet.score"
    )
    metrics: dict[str, Any] = {name: read_scores(path) for name, path in scores.items()}
    texts: dict[str, Any] = {}
    if options.references or options.input:
        selected = metric_options.select_metrics(options)
        is_reference_free = all(getattr(one, "REFERENCES", "") == "none" for one in selected)
        if options.input and options.source and is_reference_free:
            # No metric reads REF. The source has the same number of segments.
            options.references = options.references or [options.source]
        inputs = files.Inputs(options)
        texts = {
            "systems": dict(inputs.systems),
            "references": inputs.read_references(),
            "source": inputs.source,
        }
        for metric, label in selected.items():
            name = label or metric.name
            if metrics.setdefault(name, metric) is not metric:
                raise UsageError(f"--scores: duplicate metric name '{name}'. Rename these scores.")
    elif options.metrics:
        raise UsageError("-m/--metrics: computing metrics needs REF and -i HYP...")
    if not metrics:
        raise UsageError("missing metric; use --scores NAME=FILE, or -m with REF and -i HYP...")
    for name, path in (("documents", options.docs), ("domains", options.domains)):
        if path is not None:
            texts[name] = list(files.parse_file_argument(path, options.encoding).read_lines())
    human = read_scores(options.human, columns or None, weights)
    return {"human": human, "metrics": metrics, "text": EvaluatedText(**texts)}


COMMAND = Command(
    "truebleu meta --human FILE REF... -i HYP... [options]",
    __doc__,
    lambda words: [
        PEOPLE,
        METRICS,
        files.INPUT,
        files.RESEGMENTATION,
        TEXTS,
        STATISTIC,
        TESTING,
        *metric_options.list_metric_groups(words),
        shared.make_output_group(FORMATS, "text", shared.COLOR, digits=3),
        PICTURE,
        shared.RUNNING,
    ],
    run,
)
