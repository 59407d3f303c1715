"""`truebleu compare`: systems side by side, with intervals and paired tests."""

from __future__ import annotations

from truebleu.cli import inputs as files
from truebleu.cli import metric_options, text_warnings
from truebleu.cli import options as shared
from truebleu.cli.output import Output
from truebleu.cli.parser import Command, UsageError, one_of
from truebleu.cli.progress import Progress
from truebleu.cli.show import check_exact, show
from truebleu.text.checks import nearest
from truebleu.views.comparison import Comparison
from truebleu.views.request import TESTS, Request, Significance

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence
    from typing import Any

    from truebleu._kernel import Summary
    from truebleu.cli.parser import Parser
    from truebleu.text.files import File

EXAMPLES = """\
examples:
  truebleu compare reference.en -i baseline.en new.en
      is the difference real? 10,000 randomizations say how likely chance makes one like it

  truebleu compare ref.a.en ref.b.en -i *.en -m bleu chrf ter --baseline birch --correction holm
      several systems by several metrics, with p-values corrected for their number

  truebleu compare reference.en -i a.en b.en --scores COMET=comet.tsv -f latex -o table.tex
      scores from elsewhere beside BLEU, a column per system, as a table for a paper
"""

BOOTSTRAP = ("bs", "koehn", "bs-sacrebleu")
CORRECTIONS = ("holm", "bh")

FORMATS = ("text", "json", "markdown", "latex", "csv", "tsv", "html")


def add_options(parser: Parser, words: Sequence[str]) -> None:
    """Adds what `truebleu compare` knows."""
    files.add_options(parser)
    group = add_systems(parser)
    files.add_source(group, "the source of each segment, for metrics that need it")
    files.add_documents(group, "the name of each segment's document: adds the scores of each")
    add_tests(parser)
    metric_options.add(parser, words)
    group = shared.add_format(parser, FORMATS, "text", color=True)
    shared.add_numbers(group, "1; all of them in json, csv and tsv")
    shared.add_running(parser)


def add_systems(parser: Parser) -> argparse._ArgumentGroup:
    """Adds the baseline, and scores from elsewhere."""
    group = parser.add_argument_group("systems")
    group.add_argument(
        "--baseline",
        metavar="NAME",
        help="the system that the others are compared with (the first)",
    )
    group.add_argument(
        "--scores",
        metavar="NAME=FILE",
        nargs="+",
        action="extend",
        help="a metric from elsewhere: a file with a tab-separated column per system, or a file "
        "per system (NAME=FILE FILE ...), a number per segment; its mean is the score",
    )
    group.add_argument(
        "--lower-is-better",
        metavar="NAME",
        nargs="+",
        action="extend",
        default=[],
        help="metrics of --scores for which lower is better",
    )
    return group


def add_tests(parser: Parser) -> None:
    """Adds tests and intervals, with sacreBLEU's names for them."""
    group = parser.add_argument_group("tests and intervals")
    which = group.add_mutually_exclusive_group()
    which.add_argument(
        "--test",
        metavar="NAME",
        choices=[*TESTS, "none"],
        type=one_of((*TESTS, "none")),
        help="ar: approximate randomization (the default); bs: bootstrap, centred; koehn: share of "
        "resamples lost; bs-sacrebleu: sacreBLEU's bootstrap, which finds too many differences; "
        "none",
    )
    for names, test in ((("-par", "--paired-ar"), "ar"), (("-pbs", "--paired-bs"), "bs")):
        which.add_argument(
            *names, dest="test", action="store_const", const=test, help=f"--test {test}"
        )
    group.add_argument(
        *("-parn", "--paired-ar-n"),
        metavar="N",
        type=shared.samples,
        help="randomizations (10000)",
    )
    group.add_argument(
        *("-pbsn", "--paired-bs-n"),
        metavar="N",
        type=shared.samples,
        help="resamples of a bootstrap test, and of intervals (1000)",
    )
    shared.add_confidence(group, "resamples for intervals (1000)")
    shared.add_level_and_seed(group, "intervals and tests")
    group.add_argument(
        "--correction",
        metavar="NAME",
        choices=CORRECTIONS,
        type=one_of(CORRECTIONS),
        help="of p-values for the number of tests: holm, or bh (Benjamini and Hochberg)",
    )


def run(options: argparse.Namespace) -> None:
    """Compares systems and writes the table."""
    form = shared.form(options)
    check_exact(form, options)
    asked = Asked(options)
    with Output(options.output) as output:
        with Progress(quiet=options.quiet) as progress:
            comparison = Comparison.of_request(
                asked.request,
                observer=asked.seen.__setitem__,
                progress=None if progress.silent else progress,
            )
        show(comparison, output, options, form)
    asked.warn()


class Asked:
    """What a command line asks to be compared, and what was noticed when it was read."""

    def __init__(self, options: argparse.Namespace, labels: Any = None) -> None:
        testing = testing_of(options)
        self.options = options
        self.seen: dict[str, Summary] = {}
        self.inputs: files.Inputs | None = None
        self.metrics: Mapping[Any, str | None] = {}
        systems: dict[str, Any] | None
        only_scores = not options.references and options.input is None and options.scores
        if only_scores:
            names = files.names_of(options)
            systems = None if names is None else dict.fromkeys(names)
        else:
            self.metrics = metric_options.metrics(options)
            self.inputs = files.Inputs(options)
            systems = dict(self.inputs.systems)
            metric_options.check_source(self.metrics, self.inputs.source)
        request = self.request = Request(
            systems,
            None if self.inputs is None else self.inputs.references(),
            self.metrics,
            testing=testing,
            baseline=files.baseline_of(options.baseline, systems or {}, self.inputs)
            if systems
            else options.baseline,
            scores=scores_of(options, systems),
            lower_is_better=options.lower_is_better,
            source=None if self.inputs is None else self.inputs.source,
            documents=files.beside(options, "docs"),
            labels=labels,
            workers=shared.threads(options),
        )
        if self.inputs is not None:
            request.given_references = self.inputs.reference_columns

    def warn(self) -> None:
        """Says what looks wrong with the text."""
        if not self.options.quiet and self.inputs is not None:
            tokenize = metric_options.tokenizer(self.metrics)
            names = self.inputs.reference_names
            text_warnings.warn(text_warnings.of_text(self.seen, names, tokenize))


def testing_of(options: argparse.Namespace) -> Significance:
    """Test, samples and intervals."""
    test = options.test or "ar"
    for name, kind, given in (
        ("-parn/--paired-ar-n", ("ar",), options.paired_ar_n),
        ("-pbsn/--paired-bs-n", BOOTSTRAP, options.paired_bs_n),
    ):
        if given is not None and test not in kind:
            raise UsageError(f"{name}: the test is {test}, not {' or '.join(kind)}")
    if test == "none" and options.correction:
        raise UsageError("--correction: there is no test to correct")
    samples = options.paired_ar_n if test == "ar" else options.paired_bs_n
    confidence = shared.resamples(options)
    if test in BOOTSTRAP and samples and confidence and samples != confidence:
        raise UsageError(
            "-pbsn/--paired-bs-n: the resamples of the test are those of the intervals, too; leave "
            "out --confidence"
        )
    if test in BOOTSTRAP:
        samples = samples or confidence
    return Significance(
        test=None if test == "none" else test,
        samples=samples,
        confidence=confidence or (samples if test in BOOTSTRAP and samples else shared.RESAMPLES),
        level=options.level,
        seed=options.seed,
        correction=options.correction,
    )


def scores_of(options: argparse.Namespace, systems: Mapping[str, Any] | None) -> dict[str, Any]:
    """Metrics from elsewhere by name, each with its file, or a file for each system."""
    found: dict[str, list[File]] = {}
    last = ""
    for word in options.scores or ():
        name, mark, path = word.partition("=")
        if mark and name and path:
            if name in found:
                raise UsageError(f"--scores: {name} is there twice")
            last = name
            found[name] = []
        elif not found or mark:
            raise UsageError(f"--scores: expected NAME=FILE, as COMET=comet.tsv, not '{word}'")
        else:
            path = word
        found[last].append(files.file_of(path, options.encoding))
    for name in options.lower_is_better:
        if name not in found:
            near = nearest(name, found) if found else ""
            raise UsageError(f"--lower-is-better: no --scores are called '{name}'{near}")
    made: dict[str, Any] = {}
    for name, given in found.items():
        if options.output is not None:
            files.check_output(options.output, given)
        if len(given) == 1 and (systems is None or len(systems) > 1):
            made[name] = given[0]
            continue
        if systems is None:
            raise UsageError("--scores: with a file per system, say with --names whose it is")
        if len(given) != len(systems):
            raise UsageError(
                f"--scores: {name} has {len(given)} files for {len(systems)} systems; give one for "
                "each, in the order of -i, or one for all"
            )
        made[name] = dict(zip(systems, given, strict=True))
    return made


COMMAND = Command("truebleu compare REF... -i HYP... [options]", EXAMPLES, add_options, run)
