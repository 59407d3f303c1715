r"""`truebleu cite`: BibTeX and a setup paragraph for a paper.

examples:
  truebleu cite result.json
      print the BibTeX entries for a result of score or compare -f json, and sentences about its
      metrics, significance test and test set

  truebleu cite -m bleu chrf --test ar --correction holm -t wmt22
      print them for metrics, a test, a correction and a test set

  truebleu cite table.tex -f latex -o setup.tex
      write the sentences with \cite, to include with \input{setup}; the entries follow \endinput

  truebleu cite main.tex appendix.tex -f latex -o setup.tex
      describe the setup of two tables; sentences that hold for one table name it

  truebleu cite table.tex -f bibtex -o references.bib
      write only the BibTeX entries
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from truebleu.cli import common_options as shared
from truebleu.cli import metric_options
from truebleu.cli.common_options import Command, OptionGroup
from truebleu.cli.output import Results, UsageError, print_message
from truebleu.comparison import setup_description
from truebleu.comparison.comparison_request import TESTS
from truebleu.significance import CORRECTIONS
from truebleu.text.segments import File
from truebleu.text.system_names import format_path
from truebleu.text.terminal_layout import wrap_text


def _list_test_sets() -> Iterable[str]:
    from truebleu.testsets.catalogue import load_entries

    return load_entries()


RESULT = OptionGroup(
    "result",
    """
    results FILE        read the metrics, test and test set from these outputs of truebleu score,
                        compare or report: JSON, HTML, or text, Markdown or LaTeX with signatures; -
                        for standard input. Sentences name the tables that they describe if the
                        setups differ
    -e --encoding NAME  read each FILE in this encoding (default: utf-8)
    """,
    results={"nargs": "*", "default": ()},
    encoding={"default": "utf-8"},
)
METHODS = OptionGroup(
    "methods, without FILE",
    """
    -m --metrics METRIC...   cite these metrics or members of the BLEU family (default: bleu)
    --test NAME              cite this significance test: ar, bs, koehn or bs-sacrebleu
                             (default: none)
    --correction NAME        cite this correction for multiple comparisons: holm or bh
                             (default: none)
    -t --test-set NAME...    cite these test sets; truebleu testset list shows all names
    --registry FILE          also search test sets in this registry
    """,
    metrics={"completes": metric_options.list_metric_completions},
    test={"choices": TESTS},
    correction={"choices": CORRECTIONS},
    test_set={"completes": _list_test_sets},
)


# Part of the text output, whose "<", "|" and "%" LaTeX misprints.
LATEX_ADVICE = r"For LaTeX, use -f latex: it escapes these sentences and cites with \cite."


def run(options: argparse.Namespace) -> None:
    """Print sentences that describe the setup, and BibTeX entries."""
    output = Results(options)
    with output:
        setup = _describe_setup(options)
        if not options.quiet:
            for note in setup.notes:
                print_message("note", note)
        if output.form == "json":
            output.write_object("cite", setup.to_dict())
        elif output.form == "bibtex":
            output.write(setup.bibtex())
        elif output.form == "latex":
            # LaTeX ignores all text after \endinput.
            output.write(f"{setup.latex()}\n\n\\endinput\n\n{setup.bibtex()}")
        else:
            output.write("".join(f"{line}\n" for line in wrap_text(setup.text(), 80)))
            output.write(f"\n{LATEX_ADVICE}\n\n{setup.bibtex()}")


def _describe_setup(options: argparse.Namespace) -> setup_description.SetupDescription:
    if options.results:
        names = ("metrics", "test", "correction", "test_set", "registry")
        shared.refuse_options(options, names, "has no effect with a result FILE")
        with shared.reraise_as_usage_error("-e/--encoding"):
            files = [File(path, encoding=options.encoding) for path in options.results]
        tables: list[setup_description.TableSetup] = []
        for file in files:
            tables += setup_description.read_tables("\n".join(file.read_lines()), format_path(file))
        return setup_description.combine_setups(tables)
    if options.correction is not None and options.test is None:
        raise UsageError("--correction has no effect without --test")
    if options.registry is not None and options.test_set is None:
        raise UsageError("--registry has no effect without -t/--test-set")
    with shared.reraise_as_usage_error("-m/--metrics"):
        return setup_description.cite(
            metric_options.parse_names(options.metrics) or ["bleu"],
            test=options.test,
            correction=options.correction,
            test_sets=options.test_set or (),
            registry_file=options.registry,
        )


COMMAND = Command(
    "truebleu cite [FILE...] [options]",
    __doc__,
    lambda _: [
        RESULT,
        METHODS,
        shared.make_output_group(("text", "latex", "bibtex", "json"), "text"),
        shared.RUNNING_QUIETLY,
    ],
    run,
)
