"""sacreBLEU's command, with all of its options and outputs."""

from __future__ import annotations

import os
import sys

from truebleu.text.termination import Terminated, end_by

from ._files import read_lines, sanity_check_lengths, undecodable
from ._messages import Command, TestSetError, fail, logger
from ._options import Options, args_to_dict, read
from ._report import Color, print_results_table, print_single_results, print_subset_results
from .version import __version__ as VERSION  # noqa: F401, N812 (programs import it from here)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, TextIO

    from .dataset import Dataset
    from .metrics.base import Metric

    # A list of segments for each system, or for each reference.
    Streams = list[list[str]]

# The exit status where lines have the wrong number of columns.
COLUMNS_DIFFER = 17

# The last two are for tokenizers that are not installed.
_ERRORS = (TestSetError, OSError, ValueError, ArithmeticError, LookupError)
PROBLEMS = (*_ERRORS, RuntimeError, ImportError)


def __getattr__(name: str) -> Any:
    """The names that programs import from sacreBLEU's module of this name, made when needed."""
    if name == "METRICS":
        from .metrics import METRICS

        return METRICS
    if name.startswith("_"):  # the import system's
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from . import utils

    return getattr(utils, name)


def parse_args() -> Options:
    """The options on this process's command line."""
    return read(sys.argv[1:])


def main() -> None:
    """Runs this process's command line. Ends the process where something is wrong."""
    streams = sys.stdout, sys.stderr
    try:
        # When it returns, the memory is free that the error held: the message may need it.
        if (problem := _problem()) is not None:
            fail(problem)
    finally:
        sys.stdout, sys.stderr = streams
        if Command.ending:
            sys.stdout.write(Command.ending)
        Command.speaks, Command.ending = False, ""


def _problem() -> str | None:
    """Runs this process's command line, and returns what went wrong, if anything."""
    try:
        try:
            options = parse_args()
            _prepare(options)
            _run(options)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the output has closed it. The original does this for the whole process.
        sys.exit(end_by(141))
    except Terminated as error:
        sys.exit(end_by(int(str(error))))
    except KeyboardInterrupt:
        sys.exit(end_by(130))
    except MemoryError as error:
        return f"not enough memory: {error}".removesuffix(": ")
    except PROBLEMS as error:
        return str(error).strip()
    return None


def _prepare(options: Options) -> None:
    """Sets up the output: its encoding, its colours, and the form of messages."""
    Command.speaks = not options.quiet
    if sys.stdout is None:
        raise OSError("standard output is closed")
    if hasattr(sys.stdout, "reconfigure"):
        # Names of files may have bytes that are no characters.
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    Color.ENABLE_COLORS = not (os.environ.get("NO_COLOR") or options.no_color)
    if Color.ENABLE_COLORS:
        Command.ending = "\x1b[0m" if sys.stdout.isatty() else ""
        sys.stdout, sys.stderr = _for_reader(sys.stdout), _for_reader(sys.stderr)


def _for_reader(stream: TextIO) -> Any:
    """A stream that passes colours on only if it is a terminal."""
    return stream if stream is None or stream.isatty() else _Colourless(stream)


class _Colourless:
    """A stream that leaves out the escape sequences of terminals."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        if "\x1b" in text:
            import re

            text = re.sub(r"\x01?\x1b(\[[\d;]*[a-zA-Z]|\][^\x07]*\x07)\x02?", "", text)
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _run(options: Options) -> None:
    if options.download:
        from .utils import download_test_set

        download_test_set(options.download, options.langpair)
    elif options.list:
        _list(options)
    elif options.sentence_level and len(options.metrics) > 1:
        fail("Only one metric can be used in sentence-level mode.")
    elif options.citation:
        _cite(options)
    else:
        _check_references(options)
        (_echo if options.echo else _score)(options)


def _check_orders(options: Options) -> None:
    """Ends the process if chrF has nothing to count and the original would not go on either."""
    orders = (options.chrf_char_order, options.chrf_word_order)
    nothing = max(orders) <= 0 and not options.sentence_level
    if nothing or (options.chrf_eps_smoothing and not sum(orders)):
        fail("--chrf-char-order {} and --chrf-word-order {}: no n-grams to count".format(*orders))


def _datasets(options: Options) -> list[Dataset]:
    """The test sets of -t. Ends the process if one is unknown."""
    from .dataset import DATASETS

    names = [] if options.test_set is None else options.test_set.split(",")
    for name in names:
        if name not in DATASETS:
            hint = "Please run with --list to see the available test sets."
            fail(f"Unknown test set {name!r}", hint)
    return [DATASETS[name] for name in names]


def _list(options: Options) -> None:
    """Prints the test sets, or the fields of one for each of its language pairs."""
    from . import utils
    from .dataset import DATASETS

    pair = options.langpair
    if options.test_set:
        pairs = utils.get_langpairs_for_testset(options.test_set)
        for dataset in _datasets(options) if pair or pairs else ():
            for each in [pair] if pair else pairs:
                print(f"{each}: {', '.join(dataset.fieldnames(each))}")
        return
    print(f"The available test sets{f' for {pair}' if pair else ''} are:")
    names = utils.get_available_testsets_for_langpair(pair) if pair else DATASETS
    for name in sorted(names):
        print(f"{name:<30}: {(DATASETS[name].description or '').strip()}")


def _cite(options: Options) -> None:
    """Prints the citations of test sets."""
    if not options.test_set:
        fail("I need a test set (-t).")
    for dataset in _datasets(options):
        if dataset.citation is None:
            logger().error(f"No citation found for {dataset.name}")
        else:
            print(dataset.citation)


def _check_references(options: Options) -> None:
    """Ends the process unless there are references, of a test set or in files, but not both."""
    if options.num_refs != 1 and (options.test_set is not None or len(options.refs) > 1):
        fail(
            "The --num-refs argument allows you to provide any number of tab-delimited references "
            "in a single file.",
            "You can only use it with externally provided references, however "
            "(i.e., not with `-t`),",
            "and you cannot then provide multiple reference files.",
        )
    if options.test_set is None:
        if not options.refs:
            from .utils import get_available_testsets

            fail(
                "If manual references given, make sure to provide them before the -i/--input "
                "argument to avoid confusion.",
                "Otherwise, I need a predefined test set (-t) from the following list:",
                str(get_available_testsets()),
            )
        return
    datasets = _datasets(options)
    if options.refs:
        fail("I need exactly one of (a) a predefined test set (-t) or (b) a list of references")
    if options.langpair is None:
        fail(
            "I need a language pair (-l). "
            "Use --list to see available language pairs for this test set."
        )
    for dataset in datasets:
        if options.langpair not in dataset.langpairs:
            fail(
                f"No such language pair {options.langpair!r}",
                f"Available language pairs for {dataset.name!r} are:",
                *(f" > {pair}" for pair in dataset.langpairs),
            )


def _echo(options: Options) -> None:
    """Prints fields of test sets."""
    from .utils import print_test_set

    if options.langpair is None or options.test_set is None:
        logger().warning("--echo requires a test set (--t) and a language pair (-l)")
        sys.exit(1)
    for dataset in _datasets(options):
        print_test_set(
            dataset.name, options.langpair, options.echo, options.origlang, options.subset
        )


def _score(options: Options) -> None:
    """Reads the text, and scores it."""
    from . import _direct

    if options.width < 0:
        fail(f"--width {options.width}: expected a number of digits, 0 or more")
    if "chrf" in options.metrics:
        _check_orders(options)
    if options.langpair:
        from .utils import languages

        options.bleu_trg_lang = languages(options.langpair)[1]
    given = None
    if _direct.is_for(options):
        if options.input is None:
            given = _systems_of_standard_input(options.encoding)
        if given is None or len(given) == 1:
            lines = _direct.results(options, None if given is None else given[0])
            if lines is not None:
                print_single_results(lines, options)
                return
    full_references = _references(options)
    options.num_refs = len(full_references)
    full_systems, names = _systems(options, given)
    _check_systems(options, len(names))
    systems, references = _filtered(options, full_systems, full_references)
    metrics = _metrics(options, references)
    if options.sentence_level:
        _print_segments(options, metrics, systems[0], references)
        return
    if options.detail and options.format == "json":
        options.format = "text"
    if len(names) == 1:
        _print_one_system(options, metrics, systems[0])
        if options.detail:
            print_subset_results(metrics, full_systems[0], full_references, options)
        return
    _print_systems(options, metrics, [*zip(names, systems, strict=True)])


def _references(options: Options) -> Streams:
    """The references; those of several test sets one after the other."""
    files = [options.refs]
    if options.test_set is not None:
        if options.bleu_tokenize == "none":
            logger().warning(
                "You are turning off BLEU's internal tokenizer "
                "presumably to supply your own tokenized files."
            )
            logger().warning("Published numbers will not be comparable to other papers.")
        datasets = _datasets(options)
        files = [dataset.get_reference_files(options.langpair) for dataset in datasets]
        for dataset, paths in zip(datasets, files, strict=True):
            if not paths:
                logger().warning(
                    f"No references found for test set {dataset.name}/{options.langpair}."
                )
    streams: Streams = [[] for _ in range(max(len(files[0]), options.num_refs))]
    for paths in files:
        if len(paths) > len(streams):
            fail(
                f"{options.test_set}: {len(files[0])} references in the first test set "
                f"and {len(paths)} in another; expected the same number in all"
            )
        for stream, path in zip(streams, paths, strict=False):
            lines = _lines(path, options.encoding)
            if options.num_refs == 1:
                stream.extend(lines)
            else:
                _split_columns(lines, streams, options.num_refs)
    return streams


def _split_columns(lines: Iterator[str], streams: Streams, count: int) -> None:
    """Adds tab-separated references to their streams; further tabs belong to the last."""
    for number, line in enumerate(lines, 1):
        fields = line.split("\t", count - 1)
        if len(fields) != count:
            what = f"line {number}: expected {count} fields, but found {len(fields)}."
            fail(f"FATAL: {what}", status=COLUMNS_DIFFER)
        for stream, field in zip(streams, fields, strict=True):
            stream.append(field)


def _lines(path: str, encoding: str) -> Iterator[str]:
    """The lines of a file, without white space at their ends."""
    return (line.rstrip() for line in read_lines(path, encoding))


def _systems(options: Options, given: Streams | None) -> tuple[Streams, list[str]]:
    """The outputs of systems, and the systems' names.

    given: the systems on standard input, if it was read.
    """
    if options.input is None:
        systems = _systems_of_standard_input(options.encoding) if given is None else given
        names = [f"System {number + 1}" for number in range(len(systems))]
        if options.is_paired:
            names = ["Baseline", *names[:-1]]
        return systems, names
    systems, names = [], []
    for path in options.input:
        if path in names:
            if options.is_paired and path == names[0]:
                logger().info(f"Ignoring {path!r} as it was also given as the baseline.")
                continue
            fail(
                f"{path!r} already used to name a system.",
                "Make sure to have a different basename for each system.",
            )
        systems.append(list(_lines(path, options.encoding)))
        names.append(path)
    if options.is_paired and names:
        names[0] = f"Baseline: {names[0]}"
    return systems, names


def _systems_of_standard_input(encoding: str) -> Streams:
    """The columns of standard input, one per system; the first line says how many there are."""
    import io

    if sys.stdin is None:
        fail("standard input is closed; name the files of the systems with -i")
    lines = io.TextIOWrapper(sys.stdin.buffer, encoding=encoding)
    try:
        systems = [[text] for text in lines.readline().rstrip().split("\t")]
        for line in lines:
            fields = line.rstrip().split("\t")
            if len(fields) != len(systems):
                what = "the number of tab-delimited fields in the input stream differ across lines."
                fail(f"FATAL: {what}", status=COLUMNS_DIFFER)
            for system, text in zip(systems, fields, strict=True):
                system.append(text.rstrip())
    except UnicodeError as error:
        raise undecodable("standard input", error) from None
    finally:
        lines.detach()
    return systems


def _check_systems(options: Options, count: int) -> None:
    """Ends the process if the options do not fit so many systems."""
    special = options.is_paired or options.sentence_level or options.detail
    if options.sentence_level:
        if count > 1:
            fail("Only one system can be evaluated in sentence-level mode.")
        if options.confidence or options.is_paired:
            fail("Statistical tests are unavailable in sentence-level mode.")
        options.bleu_effective_order = True
    if options.is_paired and count == 1:
        fail("Paired tests require multiple input systems given to --input (-i).")
    if count > 1 and options.confidence:
        fail("Use paired tests (--paired) for multiple systems.")
    if not count and (options.format != "json" or special):
        fail("--input (-i) names no system")


def _filtered(options: Options, systems: Streams, references: Streams) -> tuple[Streams, Streams]:
    """The selected segments. Ends the process if there are none, or too few of some."""
    is_part = options.origlang is not None or options.subset is not None
    if is_part:
        from ._subsets import filter_subset

        wanted = (options.test_set, options.langpair, options.origlang, options.subset)
        kept = list(map(list, filter_subset([*systems, *references], *wanted)))
        systems, references = kept[: len(systems)], kept[len(systems) :]
    for system in systems:
        if not system:
            part = " with" if is_part else ""
            part += f" origlang={options.origlang}" if options.origlang else ""
            # sacreBLEU says it twice.
            part += f" subset={options.subset}{options.subset}" if options.subset else ""
            fail(f"Test set {options.test_set!r} contains no sentence{part}")
        sanity_check_lengths(system, references, test_set=options.test_set)
    return systems, references


def _metrics(options: Options, references: Streams) -> dict[str, Metric[Any]]:
    """The metrics by their names, in the order of the options."""
    from .metrics import METRICS

    metrics = {}
    for name in map(str.upper, options.metrics):
        parameters = args_to_dict(options, name.lower(), strip_prefix=True)
        metrics[name] = METRICS[name](**parameters, references=references)
    return metrics


def _print_segments(
    options: Options, metrics: dict[str, Metric[Any]], system: list[str], references: Streams
) -> None:
    (metric,) = metrics.values()
    for hypothesis, *of_segment in zip(system, *references, strict=True):
        score = metric.sentence_score(hypothesis, of_segment)
        signature = metric.get_signature().format(options.short)
        print(score.format(options.width, options.score_only, signature))


def _print_one_system(options: Options, metrics: dict[str, Metric[Any]], system: list[str]) -> None:
    is_json = options.format == "json"
    lines = []
    for name in sorted(metrics):
        score = metrics[name].corpus_score(
            system, references=None, n_bootstrap=options.confidence_n if options.confidence else 1
        )
        signature = metrics[name].get_signature().format(options.short and not is_json)
        lines.append(score.format(options.width, options.score_only, signature, is_json))
    print_single_results(lines, options)


def _print_systems(
    options: Options, metrics: dict[str, Metric[Any]], systems: list[tuple[str, Sequence[str]]]
) -> None:
    """Prints a table of several systems, with tests against the first if asked for."""
    logger().info(f"Found {len(systems)} systems.")
    if options.is_paired:
        from .significance import PairedTest

        test = PairedTest(
            systems,
            metrics,
            references=None,
            test_type="bs" if options.paired_bs else "ar",
            n_samples=options.paired_bs_n if options.paired_bs else options.paired_ar_n,
            n_jobs=options.paired_jobs,
        )
        signatures, results = test()
        printed = {name: each.format(options.short) for name, each in signatures.items()}
        print_results_table(results, printed, options)
        return
    scores: dict[str, list[str]] = {"System": [name for name, _ in systems]}
    printed = {}
    for _, system in systems:
        for name in sorted(metrics):
            score = metrics[name].corpus_score(system, references=None)
            printed[score.name] = metrics[name].get_signature().format(options.short)
            scores.setdefault(score.name, []).append(score.format(options.width, score_only=True))
    print_results_table(scores, printed, options)
