"""Re-segmentation of system outputs that are segmented differently from the reference."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from truebleu.cli.common_options import reraise_as_usage_error
from truebleu.cli.metric_options import parse_language
from truebleu.cli.output import UsageError, print_message
from truebleu.resegmentation.methods import METHODS_BY_LANGUAGE, get_method
from truebleu.resegmentation.resegment import Resegmentation, resegment
from truebleu.resegmentation.subtitles import SubtitleFile, rewrite_breaks
from truebleu.resegmentation.token_units import SUBER_TOKENIZERS
from truebleu.text.segments import BufferedLines, File, iter_reference_rows, iterate_items
from truebleu.text.system_names import format_path
from truebleu.text.terminal_layout import format_count, join_words


def adapt_method_to_language(options: argparse.Namespace) -> None:
    """Let SubER's methods divide words with -l zh, ja or ko, as SubER does with --language."""
    language = parse_language(options) if getattr(options, "language", None) else None
    method, comma, extent = options.resegment.partition(",")
    if language and language.code in SUBER_TOKENIZERS and method in METHODS_BY_LANGUAGE:
        options.resegment = f"{method}-{language.code}{comma}{extent}"


def resegment_outputs(
    runs: Mapping[str, list[File]],
    references: Any,
    options: argparse.Namespace,
    *,
    documents: Any,
    hypothesis_documents: File | None,
) -> dict[str, Resegmentation]:
    """Replace outputs in `runs` with re-segmented texts, and print a summary of each.

    Return the results by system, or by file for a system with several runs.
    """
    method, _, extent = options.resegment.partition(",")
    breaks = get_method(method).breaks
    count = sum(1 for _ in iter_reference_rows(references))
    results: dict[str, Resegmentation] = {}
    left_alone = []
    for system, files in runs.items():
        for index, file in enumerate(files):
            label = system if len(files) == 1 else format_path(file)
            text: Any = file if isinstance(file, SubtitleFile) else list(file.read_lines())
            has_other_times = isinstance(file, SubtitleFile) and any(
                isinstance(reference, SubtitleFile) and reference.times != file.times
                for reference in references
            )
            is_divided = has_other_times or breaks != "none" or extent == "always"
            if not is_divided and sum(1 for _ in iterate_items(label, text)) == count:
                left_alone.append(label)
                continue
            with reraise_as_usage_error("--resegment"):
                results[label] = result = resegment(
                    text,
                    references,
                    method,
                    documents=documents,
                    hypothesis_documents=hypothesis_documents,
                    workers=options.threads,
                )
            files[index] = output = BufferedLines.from_strings(format_path(file), result)
            output.signature_fields, output.resegmentation = result.signature_fields, result
    print_agreement(results, options)
    kind, message = "note", ""
    if not results:
        message = (
            f"--resegment: every output has {format_count(count, 'line')}, like the reference, so "
            f"no output was divided. --resegment={method},always divides all outputs"
        )
    elif left_alone:
        verb = "were" if len(left_alone) > 1 else "was"
        message = (
            f"{join_words(left_alone)} {verb} not divided, because the number of lines is the same "
            "as in the reference. Re-segmentation lowers scores slightly; to treat all outputs "
            f"alike, use --resegment={method},always"
        )
        kind = "warning"
    if message and not options.quiet:
        print_message(kind, message)
    return results


def print_agreement(results: Mapping[str, Resegmentation], options: argparse.Namespace) -> None:
    """Print how well re-segmented texts agree with the reference, unless the user wants quiet."""
    for label, result in results.items() if not options.quiet else ():
        print_message("note", f"{label}: {result}")
        # The note already contains the number of empty segments.
        problems = [one for one in result.problems if not one.endswith(" empty")]
        if problems:
            print_message("warning", f"{label}: {join_words(problems)}")


def rewrite_reference_breaks(references: list[File], options: argparse.Namespace) -> list[File]:
    """Return the references, with line and subtitle breaks written as in the outputs."""
    name, _, _ = options.resegment.partition(",")
    method = get_method(name)
    if not method.reads_breaks:
        return references
    if options.num_refs == 1:
        return [rewrite_breaks(file, method.breaks) for file in references]
    if method.breaks != "none":
        raise UsageError(f"--resegment: {name} and -nr/--num-refs are mutually exclusive")
    return references
