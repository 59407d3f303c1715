"""Input files of a command line: system outputs, references, sources, labels and tables."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from truebleu._kernel import InputError
from truebleu.cli.common_options import (
    OptionGroup,
    format_flags,
    make_integer_type,
    parse_options,
    refuse_options,
)
from truebleu.cli.metric_options import warn_about_signatures
from truebleu.cli.output import UsageError, print_message
from truebleu.text import caption_files
from truebleu.text.argument_checks import is_whole_number, suggest_names
from truebleu.text.segments import (
    COMPRESSED_SUFFIXES,
    NO_TABLE_FILES,
    BufferedLines,
    File,
    LineSubset,
    check_segment_counts,
    expand_home,
    get_table_format,
    is_rereadable,
    is_stream,
    make_rereadable,
)
from truebleu.text.system_names import format_path, guess_file_kind, name_systems
from truebleu.text.terminal_layout import format_count

if TYPE_CHECKING:
    from truebleu.comparison.comparison_request import Request
    from truebleu.resegmentation.resegment import Resegmentation
    from truebleu.testsets.published_set import TestSet

    # Reference files, or a tuple of references per segment.
    References = list[File] | list[tuple[str, ...]]

SUBTITLE_SUFFIX = r"(?i)\.(srt|vtt)(\.(gz|bz2|xz|zst))?$"
FILE_SYNTAX = (
    "Files have one segment per line and may end in .gz, .bz2, .xz or .zst. FILE#3 is the third\n"
    "tab-separated column of FILE; - is standard input."
)
(ENCODING,) = parse_options(
    "-e --encoding NAME  read all files in this encoding; utf-8-sig drops byte-order marks "
    "(default: utf-8)",
    encoding={"default": "utf-8"},
)
INPUT = OptionGroup(
    "input",
    """
    references REF     read references from these files
    -i --input HYP...  score these system outputs. NAME=FILE names a system; the default name is
                       the file name without its last suffix. truebleu compare accepts several
                       runs as NAME=FILE,FILE... (default: standard input)
    -nr --num-refs N   read up to N references per segment from tab-separated columns of REF, which
                       is kept in memory (default: 1)
    """,
    ENCODING,
    description=FILE_SYNTAX,
    references={"nargs": "*", "default": ()},
    num_refs={"type": make_integer_type(1, 10_000), "default": 1},
)


def parse_method(text: str) -> str:
    """Return the value of --resegment. Raise ValueError if it does not name a method."""
    from truebleu.resegmentation.methods import get_method

    method, separator, extent = text.partition(",")
    if text == "always":
        return "soft,always"
    get_method(method)
    if separator and extent != "always":
        raise ValueError(f"expected METHOD or METHOD,always, found '{text}'")
    return text


HYPOTHESIS_DOCUMENTS = """
    --hyp-docs FILE       read the document of each line of the output from FILE; each document is
                          aligned only with the references that --docs assigns to it
    """
RESEGMENTATION = OptionGroup(
    "re-segmentation",
    """
    --resegment [METHOD]  divide system outputs into the segments of the reference, except outputs
                          that have as many lines as the reference; METHOD,always divides all
                          outputs. METHOD is soft (the default), as-wer, or a published method
                          such as mweralign-none (see truebleu resegment --help)
    """,
    HYPOTHESIS_DOCUMENTS,
    resegment={"const": "soft", "type": parse_method},
)


SOURCE = "-src --source FILE  read the source of each segment from FILE"
DOCUMENTS = "--docs FILE  read the document name of each segment from FILE"


# Options that select a part of a test set, as attributes of the parsed options.
FILTER_OPTIONS = ("origlang", "subset", "domain", "documents")
REGISTRY = """
    --registry FILE        read descriptions of additional test sets from this JSON file
    """
FILTERS = """
    --origlang CODE        keep only documents with this original language; non-CODE excludes it
    --subset REGEX         keep only documents with a matching domain; country:XX selects a country
    --domain NAME          keep only documents of this domain
    --documents ID...      keep only these documents
    """
TEST_SET = OptionGroup(
    "test set",
    f"""
    -t --test-set NAME     use a published test set such as wmt22 instead of REF (see truebleu
                           testset list); commas concatenate several test sets
    --ref NAME...          use these references of the test set, such as A (default: the test set's
                           preferred references)
    {FILTERS.strip()}
    {REGISTRY.strip()}
    """,
    description="Select the language pair with -l. -i @NAME scores an output from the test set.",
)


def list_input_groups(
    words: Sequence[str], resegmentation: OptionGroup = RESEGMENTATION
) -> list[OptionGroup]:
    """Return the options for files. With -t, --help or no arguments, add options for test sets."""
    beginnings = ("-t", "--test", "-h", "--help")
    shows_test_set = not words or any(word.startswith(beginnings) for word in words)
    return [INPUT, resegmentation, *([TEST_SET] if shows_test_set else [])]


class Inputs:
    """Input files of a command: system outputs by name, references, source and documents."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.test_set: SelectedTestSet | None = None
        if getattr(options, "test_set", None) is not None:
            self.test_set = SelectedTestSet(options)
        if not options.references and self.test_set is None:
            expected = "at least one reference file, or a test set with -t and -l"
            raise UsageError(describe_missing_references(options, expected))
        self._encoding: str = options.encoding
        # Outputs that will be divided may have any number of lines.
        self._divides_outputs = any(
            getattr(options, name, None) is not None for name in ("resegment", "segments")
        )
        self._reference_count: int = options.num_refs
        if self._reference_count > 1 and len(options.references) > 1:
            raise UsageError(
                "-nr/--num-refs: expected one REF with a column per reference, found "
                f"{len(options.references)} files"
            )
        references = drop_duplicates(options, "REF", options.references)
        hypotheses = drop_duplicates(options, "-i/--input", options.input or ["-"])
        named_paths = [self._parse_runs(options, word) for word in hypotheses]
        has_captions = uses_captions(options)
        for name in (*references, *(path for _, paths in named_paths for path in paths)):
            refuse_folders_and_tables(options, name, has_captions=has_captions)
        self._references = [parse_text_file(name, options.encoding) for name in references]
        # Each system has one file per run.
        files = [
            (name, [self._find_output_file(path) for path in paths]) for name, paths in named_paths
        ]
        names = choose_system_names([(name, runs[0]) for name, runs in files])
        self.runs = dict(zip(names, (runs for _, runs in files), strict=True))
        self.systems = _flatten_runs(self.runs)
        against = getattr(options, "against", None)
        # The earlier output of truebleu check, if it is used.
        self.earlier = [] if against is None else [self._find_output_file(against)]
        self.source = get_option_file(options, "source")
        self.documents = get_option_file(options, "docs")
        if self.test_set is not None:
            self._references = self.test_set.references
            select = self.test_set.select_lines
            self.source = select(self.source) if self.source else self.test_set.source
            self.documents = select(self.documents) if self.documents else None
        self._note_swapped_files(options)
        self._captions: list[tuple[str, ...]] | None = None
        if has_captions:
            self._read_captions(options)
        self.resegmentations: dict[str, Resegmentation] = {}
        if options.resegment is not None:
            self._resegment(options)
        elif options.hyp_docs is not None:
            raise UsageError("--hyp-docs has no effect without --resegment")
        for file in self.systems.values():
            file.signature_fields = self.signature
        if len(self.systems) > 1:
            self._prepare_for_several_systems()
        if options.input is None:
            _check_piped_input(options.references)
        warn_about_signatures(options, len(self.reference_columns), self.signature)

    def _prepare_for_several_systems(self) -> None:
        """Store a source that can be read only once, and raise UsageError for such references."""
        if is_stream(self.source):
            self.source = make_rereadable(self.source)
        for file in self._references if self._reference_count == 1 else ():
            if not is_rereadable(file.path):
                raise UsageError(
                    f"{file.path} can be read only once, but several systems need the "
                    "references. Save them to a file"
                )

    def _read_captions(self, options: argparse.Namespace) -> None:
        """Read COCO's JSON files: the references, and each output in the order of the images."""
        if len(self._references) > 1 or options.num_refs > 1 or options.resegment is not None:
            raise UsageError(
                f"{self._references[0].path} is COCO's annotation file, which contains all "
                "references. Use it as the only REF, without -nr or --resegment"
            )
        images = caption_files.read_annotations(self._references[0].path)
        rows = [caption_files.join_lines(texts) for texts in images.values()]
        self._captions = [tuple(texts) for texts, _ in rows]
        count = sum(count for _, count in rows)
        for files in (*self.runs.values(), self.earlier):
            for index, file in enumerate(files):
                texts, with_breaks = caption_files.join_lines(
                    caption_files.read_results(file.path, images)
                )
                files[index] = BufferedLines.from_strings(file.path, texts)
                count += with_breaks
        self.systems = _flatten_runs(self.runs)
        if count and not options.quiet:
            print_message("warning", caption_files.describe_line_breaks(count))

    def _note_swapped_files(self, options: argparse.Namespace) -> None:
        """Print a note if the names of folders show that references and outputs are swapped.

        The names of files are examined with the texts.
        """
        outputs_with_runs = chain.from_iterable(self.runs.values())
        paths = [[file.path for file in files] for files in (self._references, outputs_with_runs)]
        # A folder that all files share does not distinguish the files.
        if len({os.path.dirname(path) for path in chain(*paths)}) == 1:
            return
        outputs, references = (
            [
                path
                for path in one
                if not guess_file_kind(os.path.basename(path)) and guess_file_kind(path) == swapped
            ]
            for one, swapped in zip(paths, ("output", "reference"), strict=True)
        )
        if outputs and references and not options.quiet:
            print_message(
                "note",
                f"REF: the folder of {outputs[0]} is named like system outputs, and the folder of "
                f"{references[0]} after -i like references. Are they swapped? REF names the "
                "references, -i the outputs",
            )

    def _resegment(self, options: argparse.Namespace) -> None:
        """Replace the outputs with their texts, divided into the segments of the references."""
        from truebleu.cli.resegmented_outputs import (
            adapt_method_to_language,
            resegment_outputs,
            rewrite_reference_breaks,
        )

        adapt_method_to_language(options)
        self._references = [make_rereadable(file) for file in self._references]
        scored_references = rewrite_reference_breaks(self._references, options)
        documents: Any = self.documents
        if documents is None and self.test_set is not None:
            documents = self.test_set.part.documents
        if documents is None and options.hyp_docs is not None:
            raise UsageError("--hyp-docs needs the documents of the references; use --docs")
        self.resegmentations = resegment_outputs(
            self.runs | {format_path(file): self.earlier for file in self.earlier},
            self.read_references(),
            options,
            documents=documents,
            hypothesis_documents=get_option_file(options, "hyp_docs"),
        )
        self.systems = _flatten_runs(self.runs)
        self._references = scored_references

    def _parse_runs(self, options: argparse.Namespace, word: str) -> tuple[str | None, list[str]]:
        """Return the system name, if given, and the files in a word such as NAME=FILE,FILE."""
        name, rest = split_system_name(word)
        if name is None:
            is_published = self.test_set is not None and word.startswith("@")
            return (word[1:] if is_published else None), [word]
        paths = [rest] if _file_exists(rest) else rest.split(",")
        if not all(paths):
            raise UsageError(f"-i/--input: empty file name in '{word}'")
        if len(paths) > 1 and options.command not in ("compare", "report"):
            raise UsageError(
                f"-i/--input: expected one file for {name}, found {len(paths)}. Use truebleu "
                "compare for several runs of a system"
            )
        return name, paths

    def _find_output_file(self, name: str) -> File:
        """Return the output file for a word of the command line."""
        if self.test_set is not None and name.startswith("@"):
            return self.test_set.get_output(name[1:])
        file = parse_text_file(name, self._encoding)
        test_set = self.test_set
        if test_set is None or (self._divides_outputs and test_set.part.segment_mask is None):
            return file
        return test_set.select_lines(file)

    @property
    def signature(self) -> Mapping[str, str]:
        """The signature fields of the test set and of re-segmentation, if they are used."""
        fields = {} if self.test_set is None else dict(self.test_set.part.signature)
        if self.resegmentations:
            fields["reseg"] = next(iter(self.resegmentations.values())).signature
        return fields

    def describe(self) -> dict[str, Any]:
        """Return the test set and the re-segmentation as JSON-compatible values."""
        facts: dict[str, Any] = {}
        if self.test_set is not None:
            part = self.test_set.part
            facts["test_set"] = {**part.signature, "segments": len(part), "sha256": part.sha256}
        if self.resegmentations:
            facts["resegmentation"] = {
                system: result.to_dict() for system, result in self.resegmentations.items()
            }
        return facts

    def get_labels(self, segment_count: int) -> dict[str, list[str]]:
        """Return the known labels of the segments, such as their documents, by label name."""
        labels = {} if self.test_set is None else self.test_set.get_labels()
        if self.documents is not None:
            from truebleu.comparison.segment_labels import read_document_names

            documents = read_document_names(self.documents, segment_count)
            labels["document"] = [documents.names[i] for i in documents.indices]
        return labels

    def read_references(self) -> References:
        """Return the reference files, or the references of each segment with --num-refs."""
        if self._captions is not None:
            return list(self._captions)
        if self._reference_count == 1:
            return list(self._references)
        # Like sacreBLEU, ignore trailing white space. Additional tabs belong to the last reference.
        lines = self._references[0].read_lines()
        return [tuple(line.rstrip().split("\t", self._reference_count - 1)) for line in lines]

    def check_line_counts(self) -> None:
        """Raise InputError for different numbers of lines in files that are quickly counted.

        Commands that write results while they read call this method first.
        """
        references = {f"reference {i}": file for i, file in enumerate(self._references, 1)}
        for output in self.systems.values() if self._captions is None else ():
            inputs = {"sources": self.source, "hypotheses": output, **references}
            counts = {
                file.format_label(role): file.count_lines()
                for role, file in inputs.items()
                if file and not (is_stream(file) or file.path.endswith(COMPRESSED_SUFFIXES))
            }
            check_segment_counts(counts)

    @property
    def reference_columns(self) -> list[File]:
        """The reference files or, with --num-refs, the columns of the single reference file."""
        if self._reference_count == 1:
            return list(self._references)
        path = self._references[0].path
        return [File(path, column) for column in range(1, self._reference_count + 1)]


def describe_missing_references(options: argparse.Namespace, expected: str) -> str:
    """Return an error message, which names the reference if it was probably read as an output."""
    outputs: list[str] = list(options.input or ())
    candidates = [word for word in outputs if split_system_name(word)[0] is None]
    if len(outputs) < 2 or not candidates:
        return f"missing REF: name {expected}"
    likely = [word for word in candidates if guess_file_kind(word) == "reference"]
    reference = (likely or candidates)[-1]
    outputs.remove(reference)
    subject = f"{reference} was read as a system output, because it follows"
    if not likely:
        subject = f"all {len(options.input)} files were read as system outputs, because they follow"
    return (
        f"missing REF: {subject} -i/--input. Put references before -i, as in {reference} -i "
        f"{' '.join(outputs)}"
    )


def refuse_folders_and_tables(
    options: argparse.Namespace, name: str, *, has_captions: bool = False
) -> None:
    """Raise UsageError for a folder, or for a table unless it is COCO's JSON file."""
    if os.path.isdir(name):
        raise UsageError(f"{name}: expected a file, found a folder")
    if not has_captions and get_table_format(name) not in (None, "tsv"):
        raise UsageError(
            f"{name}: truebleu {options.command} does not read tables; use truebleu score, "
            "segments, compare or report"
        )


def estimate_line_count(file: File) -> int | None:
    """Return the estimated number of lines in a file, or None if it cannot be estimated."""
    if not file.is_plain_utf8 or file.path == "-" or not os.path.isfile(file.path):
        return None
    with open(file.path, "rb") as stream:
        beginning = stream.read(1 << 16)
    lines = beginning.count(b"\n")
    return os.path.getsize(file.path) * lines // len(beginning) if lines else None


def get_option_file(options: argparse.Namespace, name: str) -> File | None:
    """Return the file that an option names, or None if the option is not used."""
    path = getattr(options, name, None)
    return None if path is None else parse_file_argument(path, options.encoding)


def get_documents(options: argparse.Namespace, inputs: Inputs | None) -> Any:
    """Return document names from --docs, or from the test set if an option needs them.

    Raise UsageError if an option needs document names, but there are none.
    """
    documents: Any = get_option_file(options, "docs") if inputs is None else inputs.documents
    needs = ["--resample documents"] if getattr(options, "resample", "") == "documents" else []
    needs += ["--by document"] if "document" in (getattr(options, "by", None) or ()) else []
    test_set = None if inputs is None else inputs.test_set
    if documents is None and test_set is not None and (needs or options.command == "check"):
        documents = test_set.part.documents
    if documents is None and needs:
        raise UsageError(f"{needs[0]} needs document names; use --docs")
    return documents


UNUSED_DOCUMENTS = (
    "--docs has no effect without --by document (a score per document), "
    "--resample documents or --resegment"
)


def uses_documents(options: argparse.Namespace) -> bool:
    """Return whether an option of `score` or `compare` selects results that need documents."""
    return (
        options.resample == "documents"
        or "document" in (options.by or ())
        or options.resegment is not None
    )


def _check_piped_input(references: Sequence[str]) -> None:
    """Raise UsageError if standard input is a terminal, empty, or also a reference."""
    if "-" in references:
        raise UsageError("standard input can be read only once, but is used twice")
    advice = "missing HYP: name the system outputs with -i"
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError(f"{advice}, or pipe one to standard input")
    if not sys.stdin.buffer.peek(1):  # type: ignore[union-attr]
        raise UsageError(
            f"{advice} (standard input is empty; {' '.join(references)} "
            f"{'was' if len(references) == 1 else 'were'} read as references)"
        )


def parse_file_argument(name: str, encoding: str) -> File:
    """Parse a command-line word that names a file and, optionally, a column (FILE#3)."""
    if name.startswith(" -#"):
        name = name[1:]
    path, separator, column = name.rpartition("#")
    try:
        if separator and path and is_whole_number(column) and not os.path.exists(name):
            if int(column) == 0:
                raise UsageError(f"{name}: expected a column number of 1 or more, found 0")
            return File(path, int(column), encoding)
        return File(name, None, encoding)
    except ValueError as error:
        raise UsageError(f"-e/--encoding: {error}") from None


def parse_text_file(name: str, encoding: str) -> File:
    """Parse an argument that names a text file. Read subtitles immediately, one text per block."""
    file = parse_file_argument(name, encoding)
    if not re.search(SUBTITLE_SUFFIX, file.path):
        return file
    from truebleu.resegmentation.subtitles import read_subtitles

    return read_subtitles(file)


def drop_duplicates(options: argparse.Namespace, option: str, words: Sequence[str]) -> list[str]:
    """Return the words without repeated files, and print a note about repetitions.

    Words of the form NAME=FILE are kept, because the user named these systems.
    """
    first_words: dict[object, str] = {}
    repeated = []
    for position, word in enumerate(words):
        names_system = word == "-" or split_system_name(word)[0] is not None
        key: object = position
        if not names_system:
            # Different paths to the same file and column have the same key.
            key = file = parse_file_argument(word, options.encoding)
            if os.path.isfile(file.path):
                stat = os.stat(file.path)
                key = stat.st_dev, stat.st_ino, file.column
        if key not in first_words:
            first_words[key] = word
        else:
            repeated.append(f"{word} is the same file as {first_words[key]}; it is used only once")
    if repeated and not options.quiet:
        first, *further_repeats = repeated
        suffix = (
            f" (and {format_count(len(further_repeats), 'more repeat')})" if further_repeats else ""
        )
        print_message("note", f"{option}: {first}{suffix}")
    return list(first_words.values())


# ---- runs ----


def _file_exists(word: str) -> bool:
    path, separator, column = word.rpartition("#")
    if os.path.exists(word) or (separator and is_whole_number(column) and os.path.exists(path)):
        return True
    from glob import glob, has_magic

    # Patterns for tables may contain "=", as in language=de/*.parquet.
    return has_magic(word) and bool(glob(word))


def _flatten_runs(by_system: Mapping[str, Sequence[File]]) -> dict[str, File]:
    """Return the output files by system name, or by run name if systems have several runs."""
    if all(len(files) == 1 for files in by_system.values()):
        return {name: file for name, (file,) in by_system.items()}
    from truebleu.comparison import system_runs

    return {
        name: file
        for system, files in by_system.items()
        for name, file in zip(system_runs.name_outputs(system, len(files)), files, strict=True)
    }


# ---- names ----


def split_system_name(word: str) -> tuple[str | None, str]:
    """Return the system name, if given, and the file in a word such as NAME=FILE."""
    name, separator, rest = word.partition("=")
    if not (separator and name) or word.startswith("@") or _file_exists(word):
        return None, word
    if not rest:
        raise UsageError(f"-i/--input: empty file name in '{word}'")
    return name, rest


def choose_system_names(named_files: Sequence[tuple[str | None, str | File]]) -> list[str]:
    """Return the name of each system: NAME from NAME=FILE, or a name derived from the file."""
    file_names = iter(name_systems([file for name, file in named_files if name is None]))
    names = [next(file_names) if name is None else name for name, _ in named_files]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"-i/--input: duplicate system name '{name}'")
    return names


def find_system(name: str | None, inputs: Inputs | None) -> str | None:
    """Return the name of the system with this name or file. Return an unknown name unchanged."""
    if inputs is not None and name not in inputs.runs:
        for system, files in inputs.runs.items():
            for file in files:
                if name in (file.path, os.path.basename(file.path), format_path(file)):
                    return system
    return name


# ---- published test sets ----


class SelectedTestSet:
    """The segments of a test set that the command line selects, as text files."""

    def __init__(self, options: argparse.Namespace) -> None:
        from truebleu.testsets.published_set import testset

        if options.references:
            raise UsageError("-t/--test-set and REF are mutually exclusive")
        if options.num_refs != 1:
            raise UsageError("-nr/--num-refs and -t/--test-set are mutually exclusive")
        if options.language is None:
            raise UsageError("-t/--test-set needs a language pair, such as -l en-de")
        self.complete_set: TestSet = testset(
            options.test_set, options.language, references=options.ref, registry=options.registry
        )
        filters = {name: getattr(options, name) for name in FILTER_OPTIONS}
        self.part = (
            self.complete_set.where(**filters) if any(filters.values()) else self.complete_set
        )
        self.references: list[File] = [
            BufferedLines.from_strings(f"{self.name} {name}", self.part.references[name])
            for name in self.part.preferred
        ]

    @property
    def source(self) -> File | None:
        """The source text, or None if the test set has none."""
        lines = self.part.source
        return None if lines is None else BufferedLines.from_strings(f"{self.name} source", lines)

    def get_labels(self) -> dict[str, list[str]]:
        """Return the document, original language and domain of each segment, if known."""
        part = self.part
        labels = {"document": part.documents, "origlang": part.origlangs, "domain": part.domains}
        return {name: values for name, values in labels.items() if values is not None}

    def add_labels(self, request: Request) -> None:
        """Add the documents, domains and original languages to a comparison request."""
        labels = self.get_labels()
        documents = labels.pop("document", None)
        request.documents = request.documents or documents
        request.labels = request.labels or labels or None

    def get_output(self, name: str) -> File:
        """Return a system output that was published with the test set."""
        if name not in self.complete_set.systems:
            hint = suggest_names(name, list(self.complete_set.systems))
            raise UsageError(f"unknown output '@{name}' of {self.name}{hint}")
        return BufferedLines.from_strings(name, self.part.systems[name])

    def select_lines(self, file: File) -> File:
        """Return the selected lines of a file that has one line per segment of the test set.

        Raise InputError if the number of lines differs from the number of segments.
        """
        count, last = len(self.complete_set), ""
        if file.path != "-":
            count = 0
            for count, last in enumerate(file.read_lines(), 1):  # noqa: B007 (used below)
                pass
        if count != len(self.complete_set):
            from truebleu.testsets.testset_operations import find_test_set_by_length

            matching_sets = find_test_set_by_length(count, self.part)
            hint = f". {matching_sets} would match" if matching_sets else ""
            raise InputError(
                f"{file.path}: expected {len(self.complete_set):,} lines for {self.name}, found "
                f"{count:,} (last line: {last[:60]!r}){hint}"
            )
        if self.part.segment_mask is None:
            return file
        return LineSubset(file, self.part.segment_mask, self.name)

    @property
    def name(self) -> str:
        """The names of the test set and the language pair, for messages."""
        return f"{self.complete_set.name} {self.complete_set.langpair}"


# Options for tables, as attributes of the parsed options. The last two are for comparisons.
TABLE_OPTION_NAMES = (
    *("hyp_column", "ref_column", "by", "join", "nulls", "unjoined", "memory"),
    *("within", "bucket"),
)


TABLE_HELP = (
    "REF and HYP can be tables: files that end in .parquet, .csv, .jsonl, .ndjson or .json (all\n"
    "but .parquet also with .gz or .zst), folders, or quoted patterns ('out/*.parquet'). A .tsv\n"
    "file is a table if one of these options is used, otherwise a text file. Hypotheses are\n"
    "columns of REF or, with --join, of HYP. Tables may be larger than memory. Tables need\n"
    "DuckDB: pip install 'truebleu[duckdb]'"
)
MISSING_ROW_CHOICES = ("raise", "skip")


def parse_memory_size(text: str) -> str:
    """Return the value of --memory. Raise ValueError if it is not one of DuckDB's sizes."""
    if not re.fullmatch(r"(?i)[\d.]+ *([kmgt]i?b?|b|%)|none", text):
        raise ValueError(f"expected a size such as 384MB or 2GB, found '{text}'")
    return text


def make_table_group(by_help_text: str) -> OptionGroup:
    """Return the options for tables, with this help text for --by."""
    return OptionGroup(
        "tables",
        f"""
        --hyp-column NAME...   read hypotheses from these columns, one per system (default: hyp)
        --ref-column NAME...   read references from these columns (default: ref)
        --by NAME...           {by_help_text}
        --join NAME...         join rows of HYP and REF with equal ids in these columns
        --nulls raise|skip     fail on missing hypotheses or references, or skip these rows
                               (default: raise)
        --unjoined raise|skip  fail on ids that are missing in a system or in REF, or skip these
                               rows (default: raise)
        --memory SIZE          limit the memory of DuckDB, which uses temporary files beyond SIZE
                               (default: 384MB with one thread)
        """,
        description=TABLE_HELP,
        nulls={"choices": MISSING_ROW_CHOICES},
        unjoined={"choices": MISSING_ROW_CHOICES},
        memory={"type": parse_memory_size},
    )


def uses_captions(options: argparse.Namespace) -> bool:
    """Return whether REF is COCO's annotation file of image captions."""
    return any(map(caption_files.is_annotation_file, options.references))


def uses_tables(options: argparse.Namespace) -> bool:
    """Return whether REF and HYP are tables.

    Raise UsageError for a mixture of tables and text files, or for options without effect. Raise
    InputError for a folder without tables.
    """
    used_names = [name for name in TABLE_OPTION_NAMES if getattr(options, name, None) is not None]
    if getattr(options, "test_set", None) is not None:
        names = [name for name in TABLE_OPTION_NAMES if name != "by"]
        refuse_options(options, names, "has no effect with -t/--test-set")
        return False
    paths = [*options.references, *(split_system_name(word)[1] for word in options.input or ())]
    is_by_document = options.command == "score" and "document" in (options.by or ())
    table_flags = [
        format_flags(options.actions[name])
        for name in used_names
        # For text files, --by selects tables of a comparison, or scores each document.
        if not (name == "by" and (options.command == "compare" or is_by_document))
    ]
    tables = [name for name in paths if is_table(name, accept_tsv=bool(table_flags))]
    if uses_captions(options):
        tables = []
    lines = [name for name in paths if name not in tables]
    for name in lines:
        if os.path.isdir(expand_home(name)):
            raise InputError(f"{name}: {NO_TABLE_FILES}")
    if not tables:
        if table_flags:
            flag, hint = table_flags[0], ""
            if flag == "--by" and options.command == "score":
                hint = ", or --docs and --by document"
            raise UsageError(f"{flag} needs tables{hint}, but REF and HYP are text files")
        return False
    if lines:
        kind = "folder of tables" if os.path.isdir(tables[0]) else "table"
        raise UsageError(
            f"expected only tables or only text files, but {lines[0]} is a text file and "
            f"{tables[0]} is a {kind}"
        )
    if not options.references:
        expected = "at least one table with references"
        raise UsageError(describe_missing_references(options, expected))
    intervals = ("confidence", "confidence_n") if options.command == "score" else ()
    compare = "" if "bucket" in options.actions else "truebleu compare "
    for unsupported, advice in (
        (("num_refs",), "Use --ref-column"),
        (("encoding",), "Tables must be UTF-8"),
        (("docs",), f"Use --by{' or --within' if 'within' in options.actions else ''}"),
        (
            ("source", "log", "resegment", "hyp_docs", "scores", "labels"),
            "Save the texts as text files",
        ),
        (intervals, "Use truebleu compare --bucket ID"),
        (("lower_is_better", "higher_is_better"), "It is for metrics of --scores"),
        (("resample",), f"Use {compare}--bucket with a column of ids"),
    ):
        refuse_options(options, unsupported, f"does not support tables. {advice}")
    return True


def is_table(name: str, *, accept_tsv: bool = False) -> bool:
    """Return whether an argument names tables. With `accept_tsv`, these include TSV files."""
    formats = {"parquet", "csv", "json", *(["tsv"] if accept_tsv else [])}
    if get_table_format(name) in formats:
        return True
    name = expand_home(name)
    return os.path.isdir(name) and any(
        get_table_format(file) in formats for _, _, files in os.walk(name) for file in files
    )
