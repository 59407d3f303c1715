"""`truebleu compare`: systems side by side, with intervals and paired tests."""

from __future__ import annotations

import os

from truebleu.cli import doubts, resampling
from truebleu.cli import options as shared
from truebleu.cli.output import Output
from truebleu.cli.progress import Progress
from truebleu.comparison import Comparison, contents, reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from truebleu.files import File
    from truebleu.metric import Summary

EXAMPLES = """\
examples:
  truebleu compare reference.en -i baseline.en new.en
      is the difference real? 10,000 randomizations say how likely chance makes one like it

  truebleu compare ref.a.en ref.b.en -i *.en -m bleu chrf ter --baseline birch --correction holm
      several systems by several metrics, with p-values corrected for their number

  truebleu compare reference.en -i a.en b.en --scores COMET=comet.tsv -f latex -o table.tex
      scores from elsewhere beside BLEU, a column a system, as a table for a paper
"""

TESTS = ("ar", "bs", "koehn", "bs-sacrebleu", "none")
BOOTSTRAP = ("bs", "koehn", "bs-sacrebleu")

# What a format is made by, and whether numbers are rounded in it.
FORMATS: dict[str, tuple[Callable[..., str], bool]] = {
    "text": (Comparison.text, True),
    "json": (lambda comparison: comparison.to_json() + "\n", False),
    "markdown": (Comparison.markdown, True),
    "latex": (Comparison.latex, True),
    "csv": (Comparison.csv, False),
    "tsv": (Comparison.tsv, False),
    "html": (Comparison.html, True),
}


def add_options(parser: shared.Parser) -> None:
    """Adds what `truebleu compare` knows."""
    shared.add_inputs(parser)
    add_systems(parser)
    add_tests(parser)
    shared.add_metric(parser)
    shared.add_output(parser, FORMATS, only=False)


def add_systems(parser: shared.Parser) -> None:
    """Adds what systems are called, and scores from elsewhere."""
    group = parser.add_argument_group("systems")
    group.add_argument(
        "--baseline",
        metavar="NAME",
        help="the system that the others are compared with (the first)",
    )
    group.add_argument(
        "--names", metavar="A,B,...", help="what to call the systems (as their files are called)"
    )
    group.add_argument(
        "--scores",
        metavar="NAME=FILE",
        nargs="+",
        action="extend",
        help="a metric from elsewhere: a file with a tab-separated column a system, or a file a "
        "system (NAME=FILE FILE ...), a number a segment; its mean is the score",
    )
    group.add_argument(
        "--lower-is-better",
        metavar="NAME",
        nargs="+",
        action="extend",
        default=[],
        help="metrics of --scores for which lower is better",
    )


def add_tests(parser: shared.Parser) -> None:
    """Adds tests and intervals, with sacreBLEU's names for them."""
    group = parser.add_argument_group("tests and intervals")
    which = group.add_mutually_exclusive_group()
    which.add_argument(
        "--test",
        metavar="NAME",
        choices=list(TESTS),
        type=shared.one_of(TESTS),
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
        type=resampling.samples,
        help="randomizations (10000)",
    )
    group.add_argument(
        *("-pbsn", "--paired-bs-n"),
        metavar="N",
        type=resampling.samples,
        help="resamples of a bootstrap test, and of intervals (1000)",
    )
    resampling.add_confidence(group, "resamples for intervals (1000)")
    resampling.add_level_and_seed(group, "intervals and tests")
    group.add_argument(
        "--correction",
        metavar="NAME",
        choices=list(contents.CORRECTIONS),
        type=shared.one_of(contents.CORRECTIONS),
        help="of p-values for the number of tests: holm, or bh (Benjamini and Hochberg)",
    )


def run(options: argparse.Namespace) -> None:
    """Compares systems and writes the table."""
    settings = settings_of(options)
    form = shared.form(options, FORMATS)
    made, rounded = FORMATS[form]
    if not rounded and (options.width is not None or options.short):
        name = "-w/--width" if options.width is not None else "-sh/--short"
        raise shared.UsageError(f"{name}: {form} has every number and signature in full")
    systems, references, files = systems_of(options)
    scores = scores_of(options, systems)
    metrics = shared.metrics(options) if systems is not None and files is not None else []
    baseline = baseline_of(options.baseline, systems, files)
    seen: dict[str, Summary] = {}
    with Output(options.output) as output, Progress(quiet=options.quiet) as progress:

        def observer(system: str, noticed: Summary) -> None:
            seen[system] = noticed
            progress(noticed["segments"], system)

        task = reading.Task(
            systems,
            references,
            metrics,
            scores,
            options.lower_is_better,
            baseline,
            workers=shared.threads(options),
            observer=observer,
        )
        comparison = Comparison(contents.of_task(task, settings, workers=shared.threads(options)))
        style = {"digits": options.width, "short": options.short} if rounded else {}
        if form != "text":
            output.write(made(comparison, **style))
        elif not (output.is_terminal and _drawn(comparison, **style)):
            output.write(comparison.text(_columns(output), **style))
    if not options.quiet and files is not None:
        doubts.warn(doubts.of_text(seen, files.reference_names, shared.tokenizer(options)))


def settings_of(options: argparse.Namespace) -> contents.Settings:
    """Test, samples and intervals."""
    test = options.test or "ar"
    for name, kind, given in (
        ("-parn/--paired-ar-n", ("ar",), options.paired_ar_n),
        ("-pbsn/--paired-bs-n", BOOTSTRAP, options.paired_bs_n),
    ):
        if given is not None and test not in kind:
            raise shared.UsageError(f"{name}: the test is {test}, not {' or '.join(kind)}")
    if test == "none" and options.correction:
        raise shared.UsageError("--correction: there is no test to correct")
    samples = options.paired_ar_n if test == "ar" else options.paired_bs_n
    confidence = resampling.resamples(options)
    if test in BOOTSTRAP and samples and confidence and samples != confidence:
        raise shared.UsageError(
            "-pbsn/--paired-bs-n: the resamples of the test are those of the intervals, too; leave "
            "out --confidence"
        )
    if test in BOOTSTRAP:
        samples = samples or confidence
    return contents.Settings(
        test=None if test == "none" else test,
        samples=samples,
        confidence=confidence or (samples if test in BOOTSTRAP and samples else 1000),
        level=options.level,
        seed=options.seed,
        correction=options.correction,
    )


# ---- systems ----


def systems_of(
    options: argparse.Namespace,
) -> tuple[Mapping[str, Any] | None, Any, shared.Inputs | None]:
    """The systems by name, and the references; without REF only scores are compared."""
    names = None if options.names is None else [name.strip() for name in options.names.split(",")]
    if names is not None:
        for name in names:
            if not name:
                raise shared.UsageError("--names: a name is empty")
            if names.count(name) > 1:
                raise shared.UsageError(f"--names: '{name}' is there twice")
    if not options.references and options.input is None and options.scores:
        return (None if names is None else dict.fromkeys(names)), None, None
    files = shared.Inputs(options)
    if names is not None and len(names) != len(files.systems):
        raise shared.UsageError(
            f"--names: {len(names)} names for {len(files.systems)} systems; give one for each"
        )
    called = names or short_names([_path(file) for file in files.systems.values()])
    return dict(zip(called, files.systems.values(), strict=True)), files.references(), files


def _path(file: File) -> str:
    path = "standard input" if file.path == "-" else file.path
    return path if file.column is None else f"{path}#{file.column}"


def short_names(paths: Sequence[str]) -> list[str]:
    """What to call systems by their files: what differs, in whole words between dots and folders.

    >>> short_names(["runs/newstest.en-de.Online-A.de", "runs/newstest.en-de.Online-B.de"])
    ['Online-A', 'Online-B']
    >>> short_names(["a/out.txt", "b/out.txt"]), short_names(["x.txt", "x.txt"])
    (['a', 'b'], ['x.txt', 'x.txt (2)'])
    """
    names = [os.path.basename(path) for path in paths]
    if len(set(names)) < len(names):
        names = list(paths)
    if len(set(names)) == len(names) > 1 and not any("#" in name for name in names):
        names = _without_common(names)
    seen: dict[str, int] = {}
    for i, name in enumerate(names):
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            names[i] = f"{name} ({seen[name]})"
    return names


def _without_common(names: Sequence[str]) -> list[str]:
    """Different names without the parts that all begin with, and all end with."""
    import re

    # Parts and what is between them, in turn.
    split = [re.split(r"([./\\])", name) for name in names]
    shortest = min(map(len, split))
    start = 0
    while start + 2 < shortest and len({tuple(parts[: start + 2]) for parts in split}) == 1:
        start += 2
    if len({parts[start] for parts in split}) == 1:  # one is the beginning of another
        return list(names)
    end = 0
    while start + end + 2 < shortest and len({tuple(p[len(p) - end - 2 :]) for p in split}) == 1:
        end += 2
    made = ["".join(parts[start : len(parts) - end]) for parts in split]
    return made if all(made) and len(set(made)) == len(made) else list(names)


def baseline_of(
    name: str | None, systems: Mapping[str, Any] | None, files: shared.Inputs | None
) -> str | None:
    """The baseline by its name, or by that of its file."""
    if name is None or systems is None or name in systems:
        return name
    if files is not None:
        for system, file in zip(systems, files.systems.values(), strict=True):
            if name in (file.path, os.path.basename(file.path), _path(file)):
                return system
    raise shared.UsageError(f"--baseline: no system '{name}'{_known(name, systems)}")


def _known(name: str, names: Iterable[str]) -> str:
    from truebleu.tokenizers import nearest

    return nearest(name, names)


# ---- scores from elsewhere ----


def scores_of(options: argparse.Namespace, systems: Mapping[str, Any] | None) -> dict[str, Any]:
    """Metrics by name, each with its file, or a file for each system."""
    found: dict[str, list[File]] = {}
    last = ""
    for word in options.scores or ():
        name, mark, path = word.partition("=")
        if mark and name and path:
            if name in found:
                raise shared.UsageError(f"--scores: {name} is there twice")
            last = name
            found[name] = []
        elif not found or mark:
            raise shared.UsageError(f"--scores: '{word}': NAME=FILE is meant, as COMET=comet.tsv")
        else:
            path = word
        found[last].append(shared.file_of(path, options.encoding))
    for name in options.lower_is_better:
        if name not in found:
            raise shared.UsageError(
                f"--lower-is-better: '{name}' is no name of --scores{_known(name, found)}"
            )
    made: dict[str, Any] = {}
    for name, files in found.items():
        if options.output is not None and any(_same(options.output, file) for file in files):
            raise shared.UsageError(f"-o/--output: {options.output} is an input as well")
        if len(files) == 1 and (systems is None or len(systems) > 1):
            made[name] = files[0]
            continue
        if systems is None:
            raise shared.UsageError("--scores: with a file a system, say with --names whose it is")
        if len(files) != len(systems):
            raise shared.UsageError(
                f"--scores: {name} has {len(files)} files for {len(systems)} systems; give one for "
                "each, in the order of -i, or one for all"
            )
        made[name] = dict(zip(systems, files, strict=True))
    return made


def _same(path: str, file: File) -> bool:
    there = os.path.isfile(path) and os.path.exists(file.path)
    return there and os.path.samefile(path, file.path)


# ---- terminals ----


def _columns(output: Output) -> int:
    """How wide text should be."""
    if not output.is_terminal:
        return 100
    try:
        return int(os.environ.get("COLUMNS") or os.get_terminal_size().columns)
    except (OSError, ValueError):
        return 100


def _drawn(comparison: Comparison, *, digits: int | None, short: bool) -> bool:
    """Whether the library rich is there and drew it on the terminal."""
    try:
        from rich.console import Console
    except ImportError:
        return False
    console = Console(highlight=False)
    if "utf" not in console.encoding.lower():
        # Without it rich fails at the first character that the terminal does not have.
        return False
    from truebleu.comparison.terminal import Drawn

    console.print(Drawn(comparison.to_dict(), digits=digits, short=short))
    return True


COMMAND = shared.Command("truebleu compare REF... -i HYP... [options]", EXAMPLES, add_options, run)
