"""sacreBLEU's command: every option of it, and what it prints."""

from __future__ import annotations

import os
import sys

from ._messages import Command, TestSetError, logger
from ._options import Options, read
from ._report import Color, print_results_table, print_single_results, print_subset_results

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, NoReturn, TextIO

    from .metrics.base import Metric

    # A list of segments for each system, or for each reference.
    Streams = list[list[str]]

# The exit status where lines have the wrong number of columns.
COLUMNS_DIFFER = 17

# Where names of sacreBLEU's module of this name are that programs import from it.
ELSEWHERE = {
    "DATASETS": "dataset",
    "METRICS": "metrics",
    "VERSION": "version",
    "args_to_dict": "utils",
    "download_test_set": "utils",
    "filter_subset": "utils",
    "get_available_testsets": "utils",
    "get_available_testsets_for_langpair": "utils",
    "get_langpairs_for_testset": "utils",
    "get_reference_files": "utils",
    "print_test_set": "utils",
    "sacrelogger": "utils",
    "sanity_check_lengths": "utils",
    "smart_open": "utils",
}


def __getattr__(name: str) -> Any:
    """What the command needs is imported when it needs it."""
    if name in ELSEWHERE:
        from importlib import import_module

        module = import_module(f".{ELSEWHERE[name]}", __package__)
        return getattr(module, "__version__" if name == "VERSION" else name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def parse_args() -> Options:
    """What this process's command line says."""
    return read(sys.argv[1:])


def main() -> None:
    """Runs this process's command line. Ends the process where something is wrong."""
    streams = sys.stdout, sys.stderr
    ending = ""
    try:
        try:
            options = parse_args()
            ending = _prepare(options)
            _run(options)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has seen enough. The original has this for all of Python.
        _end_by("SIGPIPE")
    except (TestSetError, OSError, ValueError, LookupError, RuntimeError, ImportError) as error:
        _fail(str(error))
    except MemoryError:
        _fail("not enough memory")
    except KeyboardInterrupt:
        _end_by("SIGINT")
    finally:
        sys.stdout, sys.stderr = streams
        if ending:
            sys.stdout.write(ending)
        Command.speaks = False


def _end_by(name: str) -> NoReturn:
    """Ends the process by a signal, as other programs end, so that a shell sees why."""
    import signal

    number = getattr(signal, name, None)
    if number is not None:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    sys.exit(1)


def _prepare(options: Options) -> str:
    """Sets up the output: its encoding, its colours, and how messages look.

    Gives what a terminal is sent last, so that it is left without colours.
    """
    Command.speaks = not options.quiet
    if hasattr(sys.stdout, "reconfigure"):
        # Names of files may have bytes that are no characters.
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    Color.ENABLE_COLORS = not (os.environ.get("NO_COLOR") or options.no_color)
    if not Color.ENABLE_COLORS:
        return ""
    sys.stdout, sys.stderr = _for_reader(sys.stdout), _for_reader(sys.stderr)
    return "\x1b[0m" if sys.stdout is not None and sys.stdout.isatty() else ""


def _for_reader(stream: TextIO) -> Any:
    """A stream that colours come out of only if it is a terminal."""
    return stream if stream is None or stream.isatty() else _Colourless(stream)


class _Colourless:
    """A stream that leaves out the escape sequences of terminals."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        if "\x1b" in text:
            import re

            text = re.sub(r"\x01?\x1b\[[\d;]*[a-zA-Z]\x02?", "", text)
            text = re.sub(r"\x01?\x1b\][^\x07]*\x07\x02?", "", text)
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _fail(*messages: str, status: int = 1) -> NoReturn:
    """Says what is wrong, and ends the process."""
    for message in messages:
        logger().error(message)
    sys.exit(status)


def _run(options: Options) -> None:
    if options.download:
        from .utils import download_test_set

        download_test_set(options.download, options.langpair)
        return
    if options.list:
        _list(options)
        return
    if options.sentence_level and len(options.metrics) > 1:
        _fail("Only one metric can be used in sentence-level mode.")
    if options.citation:
        _cite(options)
        return
    _check_references(options)
    if options.echo:
        _echo(options)
        return
    if options.width < 0:
        _fail(f"--width {options.width}: a number of digits is meant, 0 or more")
    if options.langpair:
        from .utils import languages

        options.bleu_trg_lang = languages(options.langpair)[1]
    _score(options)


def _test_sets(options: Options) -> list[str]:
    return [] if options.test_set is None else options.test_set.split(",")


def _check_test_sets(options: Options) -> None:
    from .dataset import DATASETS

    for test_set in _test_sets(options):
        if test_set not in DATASETS:
            _fail(
                f"Unknown test set {test_set!r}",
                "Please run with --list to see the available test sets.",
            )


def _list(options: Options) -> None:
    """Prints the test sets, or the fields of one for each of its language pairs."""
    from .dataset import DATASETS
    from .utils import (
        get_available_testsets,
        get_available_testsets_for_langpair,
        get_langpairs_for_testset,
    )

    if options.test_set:
        if options.langpair and options.test_set not in DATASETS:
            _check_test_sets(options)
        pairs = (
            [options.langpair] if options.langpair else get_langpairs_for_testset(options.test_set)
        )
        for pair in pairs:
            print(f"{pair}: {', '.join(DATASETS[options.test_set].fieldnames(pair))}")
        return
    if options.langpair:
        print(f"The available test sets for {options.langpair} are:")
        names = get_available_testsets_for_langpair(options.langpair)
    else:
        names = get_available_testsets()
        print("The available test sets are:")
    for name in sorted(names):
        print(f"{name:<30}: {(DATASETS[name].description or '').strip()}")


def _cite(options: Options) -> None:
    """Prints what to cite of test sets."""
    from .dataset import DATASETS

    if not options.test_set:
        _fail("I need a test set (-t).")
    _check_test_sets(options)
    for test_set in _test_sets(options):
        citation = DATASETS[test_set].citation
        if citation is None:
            logger().error(f"No citation found for {test_set}")
        else:
            print(citation)


def _check_references(options: Options) -> None:
    """Ends the process unless there are references, of a test set or in files, but not both."""
    if options.num_refs != 1 and (options.test_set is not None or len(options.refs) > 1):
        _fail(
            "The --num-refs argument allows you to provide any number of tab-delimited references "
            "in a single file.",
            "You can only use it with externally provided references, however "
            "(i.e., not with `-t`),",
            "and you cannot then provide multiple reference files.",
        )
    if options.test_set is None:
        if not options.refs:
            from .utils import get_available_testsets

            _fail(
                "If manual references given, make sure to provide them before the -i/--input "
                "argument to avoid confusion.",
                "Otherwise, I need a predefined test set (-t) from the following list:",
                str(get_available_testsets()),
            )
        return
    _check_test_sets(options)
    if options.refs:
        _fail("I need exactly one of (a) a predefined test set (-t) or (b) a list of references")
    if options.langpair is None:
        _fail(
            "I need a language pair (-l). "
            "Use --list to see available language pairs for this test set."
        )
    from .utils import get_langpairs_for_testset

    for test_set in _test_sets(options):
        pairs = get_langpairs_for_testset(test_set)
        if options.langpair not in pairs:
            _fail(
                f"No such language pair {options.langpair!r}",
                f"Available language pairs for {test_set!r} are:",
                *(f" > {pair}" for pair in pairs),
            )


def _echo(options: Options) -> None:
    """Prints fields of test sets."""
    from .utils import print_test_set

    if options.langpair is None or options.test_set is None:
        logger().warning("--echo requires a test set (--t) and a language pair (-l)")
        sys.exit(1)
    for test_set in _test_sets(options):
        print_test_set(test_set, options.langpair, options.echo, options.origlang, options.subset)


def _score(options: Options) -> None:
    """Reads the text, and scores it in one of the ways that there are."""
    from . import _direct

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
    if options.test_set is not None and options.bleu_tokenize == "none":
        logger().warning(
            "You are turning off BLEU's internal tokenizer "
            "presumably to supply your own tokenized files."
        )
        logger().warning("Published numbers will not be comparable to other papers.")
    files = [options.refs] if options.test_set is None else list(_files_of_test_sets(options))
    streams: Streams = [[] for _ in range(max(len(files[0]), options.num_refs))]
    for paths in files:
        if len(paths) > len(streams):
            _fail(
                f"{options.test_set}: {len(files[0])} references in the first test set "
                f"and {len(paths)} in another; test sets with as many references are meant"
            )
        for stream, path in zip(streams, paths, strict=False):
            lines = _lines(path, options.encoding)
            if options.num_refs == 1:
                stream.extend(lines)
            else:
                _split_columns(lines, streams, options.num_refs)
    return streams


def _files_of_test_sets(options: Options) -> Iterator[Sequence[str]]:
    from .utils import get_reference_files

    for test_set in _test_sets(options):
        paths = get_reference_files(test_set, options.langpair)
        if not paths:
            logger().warning(f"No references found for test set {test_set}/{options.langpair}.")
        yield paths


def _split_columns(lines: Iterator[str], streams: Streams, count: int) -> None:
    """Adds tab-separated references to their streams; further tabs belong to the last."""
    for number, line in enumerate(lines, 1):
        fields = line.split("\t", count - 1)
        if len(fields) != count:
            _fail(
                f"FATAL: line {number}: expected {count} fields, but found {len(fields)}.",
                status=COLUMNS_DIFFER,
            )
        for stream, field in zip(streams, fields, strict=True):
            stream.append(field)


def _lines(path: str, encoding: str) -> Iterator[str]:
    """The lines of a file, without white space at their ends."""
    from .utils import smart_open

    broken: tuple[type[Exception], ...] = ()
    if path.endswith(".gz"):
        import zlib

        broken = (EOFError, zlib.error)
    try:
        with smart_open(path, encoding=encoding) as file:
            for line in file:
                yield line.rstrip()
    except UnicodeDecodeError as error:
        raise ValueError(_undecodable(path, error)) from None
    except broken as error:
        raise ValueError(f"{path} cannot be read: {error}") from error


def _undecodable(name: str, error: UnicodeDecodeError) -> str:
    byte = error.object[error.start]
    return f"{name}: byte 0x{byte:02x} is not {error.encoding}; name the text's encoding with -e"


def _systems(options: Options, given: Streams | None) -> tuple[Streams, list[str]]:
    """The outputs of systems, and the systems' names.

    given: what standard input said, if it was read.
    """
    is_paired = options.paired_ar or options.paired_bs
    if options.input is None:
        systems = _systems_of_standard_input(options.encoding) if given is None else given
        names = [f"System {number + 1}" for number in range(len(systems))]
        if is_paired:
            names = ["Baseline", *names[:-1]]
        return systems, names
    systems, names = [], []
    for path in options.input:
        if path in names:
            if is_paired and path == names[0]:
                logger().info(f"Ignoring {path!r} as it was also given as the baseline.")
                continue
            _fail(
                f"{path!r} already used to name a system.",
                "Make sure to have a different basename for each system.",
            )
        systems.append(list(_lines(path, options.encoding)))
        names.append(path)
    if is_paired and names:
        names[0] = f"Baseline: {names[0]}"
    return systems, names


def _systems_of_standard_input(encoding: str) -> Streams:
    """The columns of standard input, a system each; the first line says how many there are."""
    import io

    if sys.stdin is None:
        _fail("standard input is closed; name the files of the systems with -i")
    lines = io.TextIOWrapper(sys.stdin.buffer, encoding=encoding)
    try:
        systems = [[text] for text in lines.readline().rstrip().split("\t")]
        for line in lines:
            fields = line.rstrip().split("\t")
            if len(fields) != len(systems):
                _fail(
                    "FATAL: the number of tab-delimited fields in the input stream differ "
                    "across lines.",
                    status=COLUMNS_DIFFER,
                )
            for system, text in zip(systems, fields, strict=True):
                system.append(text.rstrip())
    except UnicodeDecodeError as error:
        raise ValueError(_undecodable("standard input", error)) from None
    finally:
        lines.detach()
    return systems


def _check_systems(options: Options, count: int) -> None:
    """Ends the process if what is wanted cannot be done with so many systems."""
    is_paired = options.paired_ar or options.paired_bs
    special = options.sentence_level or options.detail
    if options.sentence_level:
        if count > 1:
            _fail("Only one system can be evaluated in sentence-level mode.")
        if options.confidence or is_paired:
            _fail("Statistical tests are unavailable in sentence-level mode.")
        options.bleu_effective_order = True
    if is_paired and count == 1:
        _fail("Paired tests require multiple input systems given to --input (-i).")
    if count > 1 and options.confidence:
        _fail("Use paired tests (--paired) for multiple systems.")
    if not count and (options.format != "json" or is_paired or special):
        _fail("--input (-i) names no system")
    seed = os.environ.get("SACREBLEU_SEED", "none")
    if (options.confidence or is_paired) and not _is_seed(seed):
        _fail(f"SACREBLEU_SEED is {seed!r}; an integer, 0 or more, or 'none' is meant")


def _is_seed(text: str) -> bool:
    try:
        return text.lower() == "none" or int(text) >= 0
    except ValueError:
        return False


def _filtered(options: Options, systems: Streams, references: Streams) -> tuple[Streams, Streams]:
    """The segments that are wanted. Ends the process if there are none, or too few of some."""
    from .utils import filter_subset, sanity_check_lengths

    streams = filter_subset(
        [*systems, *references],
        options.test_set,
        options.langpair,
        options.origlang,
        options.subset,
    )
    kept = list(map(list, streams))
    systems, references = kept[: len(systems)], kept[len(systems) :]
    for system in systems:
        if not system:
            message = f"Test set {options.test_set!r} contains no sentence"
            if options.origlang is not None or options.subset is not None:
                message += " with"
            if options.origlang:
                message += f" origlang={options.origlang}"
            if options.subset:
                message += f" subset={options.subset}{options.subset}"  # sacreBLEU says it twice
            _fail(message)
        sanity_check_lengths(system, references, test_set=options.test_set)
    return systems, references


def _metrics(options: Options, references: Streams) -> dict[str, Metric]:
    """The metrics by their names, in the order of the options."""
    from .metrics import METRICS
    from .utils import args_to_dict

    metrics = {}
    for name in map(str.upper, options.metrics):
        parameters = args_to_dict(options, name.lower(), strip_prefix=True)
        metrics[name] = METRICS[name](**parameters, references=references)
    return metrics


def _print_segments(
    options: Options, metrics: dict[str, Metric], system: list[str], references: Streams
) -> None:
    (metric,) = metrics.values()
    for hypothesis, *of_segment in zip(system, *references, strict=True):
        score = metric.sentence_score(hypothesis, of_segment)
        signature = metric.get_signature().format(options.short)
        print(score.format(options.width, options.score_only, signature))


def _print_one_system(options: Options, metrics: dict[str, Metric], system: list[str]) -> None:
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
    options: Options, metrics: dict[str, Metric], systems: list[tuple[str, Sequence[str]]]
) -> None:
    """Prints a table of several systems, tested against the first if that is wanted."""
    logger().info(f"Found {len(systems)} systems.")
    if options.paired_ar or options.paired_bs:
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
