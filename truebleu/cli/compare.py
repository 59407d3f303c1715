"""`truebleu compare`: systems side by side, with intervals and paired tests.

examples:
  truebleu compare reference.en -i baseline.en new.en
      is the difference real? 10,000 randomizations say how likely chance makes one like it

  truebleu compare ref.a.en ref.b.en -i *.en -m bleu chrf ter --baseline birch --correction holm
      several systems by several metrics, with p-values corrected for their number

  truebleu compare reference.en -i old=old.1.en,old.2.en,old.3.en new=new.1.en,new.2.en,new.3.en
      three runs of each, as seeds make them: the mean, and whether runs or segments matter more

  truebleu compare reference.en -i a.en b.en --scores COMET=comet.tsv -f latex -o table.tex
      scores from elsewhere beside BLEU, a column per system, as a table for a paper
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from truebleu._kernel import InputError
from truebleu.cli import inputs as files
from truebleu.cli import metric_options, table_options, table_systems
from truebleu.cli import options as shared
from truebleu.cli.declared import Command, Group
from truebleu.cli.output import Results, UsageError, raise_if_failed
from truebleu.cli.progress import Progress
from truebleu.comparison import Comparison, Comparisons
from truebleu.comparison.request import TESTS, Request, Significance
from truebleu.significance import CORRECTIONS

if TYPE_CHECKING:
    from truebleu.text.segments import File

# Errors about a request, by what is called otherwise on a command line.
OPTIONS = {
    "baseline": "--baseline",
    "lower_is_better": "--lower-is-better",
    "higher_is_better": "--higher-is-better",
    "metrics": "-m/--metrics",
    "a correction": "--correction",
    "also": "--also",
    "resample": "--resample",
    "test": "--test",
}

FORMATS = ("text", "json", "markdown", "latex", "csv", "tsv", "html")


SYSTEMS = Group(
    "systems",
    """
    --baseline NAME             the system that the others are compared with (the first)
    --scores NAME=FILE...       a metric from elsewhere: a file with a tab-separated column per
                                system, or a file per system (NAME=FILE FILE ...), one number per
                                segment; or what comet-score, comet-compare or MetricX wrote; the
                                mean is the score
    --lower-is-better NAME...   metrics of --scores for which lower is better; so it is of TER,
                                WER, CER, MER, WIL, CharacTER and MetricX, by their names
    --higher-is-better NAME...  metrics of --scores for which higher is better all the same
    """,
    lower_is_better={"default": []},
    higher_is_better={"default": []},
)
TESTING = Group(
    "tests and intervals",
    """
    --test NAME            ar: approximate randomization (the default); bs: bootstrap, centred;
                           koehn: share of resamples lost; bs-sacrebleu: sacreBLEU's bootstrap,
                           which finds too many differences; none
    -par --paired-ar       --test ar
    -pbs --paired-bs       --test bs
    -parn --paired-ar-n N  randomizations (10000)
    -pbsn --paired-bs-n N  resamples of a bootstrap test, and of intervals (1000)
    --correction NAME      of p-values for the number of tests: holm, or bh (Benjamini and Hochberg)
    """,
    *shared.INTERVALS,
    *shared.RESAMPLE,
    test={"choices": [*TESTS, "none"], "exclusive": True},
    paired_ar={"dest": "test", "action": "store_const", "const": "ar", "exclusive": True},
    paired_bs={"dest": "test", "action": "store_const", "const": "bs", "exclusive": True},
    paired_ar_n={"type": shared.samples},
    paired_bs_n={"type": shared.samples},
    correction={"choices": CORRECTIONS},
)


def groups(words: Sequence[str]) -> Iterator[Group]:
    """The options of `truebleu compare`."""
    yield from files.groups(words)
    yield SYSTEMS
    yield Group("more", files.SOURCE, files.DOCUMENTS)
    yield TESTING
    yield table_systems.group()
    yield from metric_options.groups(words)
    yield shared.output(FORMATS, "text", shared.COLOR, digits="1; all of them in json, csv and tsv")
    yield shared.RUNNING


def run(options: argparse.Namespace) -> None:
    """Compares systems and writes the table."""
    output = Results(options)
    output.check_exact()
    if table_options.are_meant(options):
        _of_tables(options, output)
        return
    asked = Asked(options)
    with output:
        with Progress(quiet=options.quiet) as progress:
            asked.request.progress = None if progress.silent else progress
            comparison = Comparison.of_request(asked.request)
        output.warn(comparison.warnings)
        output.show(comparison)
    asked.end()


def _of_tables(options: argparse.Namespace, output: Results) -> None:
    """Compares systems that are in tables, inside each group of --within."""
    failed: list[str] = []
    with output:
        with Progress(quiet=options.quiet) as progress:
            made = []
            for key, request in of_tables(options, progress):
                made.append((key, Comparison.of_request(request)))
                failed += request.failed.values()
        output.warn([one for _, comparison in made for one in comparison.warnings])
        output.show(Comparisons.of(options.within, made) if options.within else made[0][1])
    raise_if_failed(failed)


def of_tables(
    options: argparse.Namespace, progress: Progress
) -> Iterator[tuple[dict[str, Any], Request]]:
    """The requests of a command line that names tables, each with the key of its group."""
    metrics = metric_options.metrics(options)
    testing = testing_of(options)

    def request(systems: Mapping[str, Any], references: Any, **more: Any) -> Request:
        with as_usage():
            made = Request(
                systems,
                references,
                metrics,
                testing=testing,
                baseline=options.baseline,
                workers=options.threads,
                **more,
            )
        made.progress = None if progress.silent else progress
        made.language = metric_options.known_tag(options)
        return made

    yield from table_systems.requests(options, metrics, progress, request)


class Asked:
    """The request of a command line."""

    def __init__(self, options: argparse.Namespace, labels: Any = None) -> None:
        self.options = options
        self.inputs: files.Inputs | None = None
        self.metrics: Mapping[Any, str | None] = {}
        self.of_tables = table_options.are_meant(options)
        if self.of_tables:
            self.metrics = metric_options.metrics(options)
            with Progress(quiet=options.quiet) as progress:
                ((_, self.request),) = of_tables(options, progress)
            return
        testing = testing_of(options)
        given = options.references or options.input or getattr(options, "test_set", None)
        only_scores = options.scores and not given
        systems: dict[str, Any] | None
        if only_scores:
            names = files.names_of(options)
            systems = None if names is None else dict.fromkeys(names)
        else:
            self.metrics = metric_options.metrics(options)
            self.inputs = files.Inputs(options)
            systems = dict(self.inputs.systems)
        inputs = self.inputs
        passed: dict[str, Any] | None = systems
        if inputs is not None:
            passed = {n: own[0] if len(own) == 1 else own for n, own in inputs.runs.items()}
        with as_usage():
            self.request = Request(
                passed,
                None if inputs is None else inputs.references(),
                self.metrics,
                testing=testing,
                baseline=files.system_of(options.baseline, inputs),
                scores=scores_of(options, systems),
                lower_is_better=options.lower_is_better,
                higher_is_better=options.higher_is_better,
                source=None if inputs is None else inputs.source,
                documents=files.documents_of(options, inputs),
                labels=labels,
                workers=options.threads,
            )
        self.request.language = metric_options.known_tag(options)
        if inputs is not None:
            self.request.given_references = inputs.reference_columns
            self.request.test_set = inputs.signature

    def end(self) -> None:
        """Raises MetricFailedError if metrics were left out; what others said is written."""
        raise_if_failed(self.request.failed.values())


@contextmanager
def as_usage(
    option: str | None = None, known: Mapping[str, str] = MappingProxyType(OPTIONS)
) -> Iterator[None]:
    """Says of a wrong argument which option is wrong: `option` if the error names none.

    known: options by what errors call them.
    """
    try:
        yield
    except InputError:
        raise
    except ValueError as error:
        for name, meant in known.items():
            if str(error).startswith(name):
                told = str(error).removeprefix(f"{name}: ")
                raise UsageError(f"{meant}: {told}") from None
        if option is None:
            raise
        raise UsageError(f"{option}: {error}") from None


def testing_of(options: argparse.Namespace) -> Significance:
    """Test, samples and intervals."""
    test = options.test or "ar"
    for flags, is_for, given in (
        ("-parn/--paired-ar-n", test == "ar", options.paired_ar_n),
        ("-pbsn/--paired-bs-n", test not in ("ar", "none"), options.paired_bs_n),
    ):
        if given is not None and not is_for:
            raise UsageError(f"{flags}: the test is {test}")
    samples = options.paired_ar_n or options.paired_bs_n
    confidence = shared.resamples(options)
    if options.paired_bs_n and confidence and samples != confidence:
        raise UsageError(
            "-pbsn/--paired-bs-n: the resamples of the test are those of the intervals, too; leave "
            "out --confidence"
        )
    with as_usage():
        return Significance(
            test=None if test == "none" else test,
            samples=samples,
            confidence=confidence or shared.RESAMPLES,
            level=options.level,
            seed=options.seed,
            correction=options.correction,
            resample="buckets" if getattr(options, "bucket", None) else options.resample,
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
    made: dict[str, Any] = {}
    for name, given in found.items():
        files.check(options, given)
        if len(given) == 1 and (systems is None or len(systems) > 1):
            made[name] = given[0]
        elif systems is None:
            raise UsageError("--scores: with a file per system, say with --names whose it is")
        elif len(given) != len(systems):
            raise UsageError(
                f"--scores: {name} has {len(given)} files for {len(systems)} systems; give one for "
                "each, in the order of -i, or one for all"
            )
        else:
            made[name] = dict(zip(systems, given, strict=True))
    return made


COMMAND = Command("truebleu compare REF... -i HYP... [options]", __doc__, groups, run)
