"""`truebleu explain`: a score worked through, of one pair, one segment, or a whole corpus."""

from __future__ import annotations

import os
import sys

from truebleu.bleu import BLEU
from truebleu.cli import options as shared
from truebleu.cli.output import Output
from truebleu.explanation import Explanation, explain
from truebleu.explanation.reading import Kept

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence


EXAMPLES = """\
examples:
  truebleu explain "the cat the cat on the mat" --reference "the cat is on the mat"
      one pair, given as text; a second text before --reference is compared with the first

  truebleu explain ref.a.en ref.b.en -i cedar.en --segment 17
      one line of some files

  truebleu explain reference.en -i cedar.en birch.en -o difference.html
      where the difference of two systems comes from, as a page for a browser
"""

FORMATS: dict[str, Callable[[Explanation], str]] = {
    "text": Explanation.text,
    "markdown": Explanation.markdown,
    "latex": Explanation.latex,
    "html": Explanation.html,
    "json": lambda explanation: explanation.to_json() + "\n",
}


def add_options(parser: shared.Parser) -> None:
    """Adds what `truebleu explain` knows."""
    shared.add_inputs(parser)
    group = parser.add_argument_group(
        "what is explained", "With --reference, REF is the hypothesis itself, or two, as text."
    )
    group.add_argument(
        *("-r", "--reference"),
        metavar="TEXT",
        nargs="+",
        action="extend",
        help="references as text, for one pair that is given on the command line",
    )
    group.add_argument(
        *("-n", "--segment"),
        metavar="N",
        type=shared.whole_number(1, sys.maxsize),
        help="only the Nth segment of the files, counted from 1",
    )
    group.add_argument(
        "--recall", action="store_true", help="show clipped recall and F-measure, too"
    )
    shared.add_metric(parser)
    shared.add_output(parser, FORMATS, numbers=False)


def run(options: argparse.Namespace) -> None:
    """Explains a score and writes it."""
    metric, *more = shared.metrics(options)
    if more:
        raise shared.UsageError("-m/--metrics: one metric at a time")
    if not isinstance(metric, BLEU):
        raise shared.UsageError(
            f"-m/--metrics: explain works BLEU through; truebleu segments shows what {metric.name} "
            "counts in each segment"
        )
    form = shared.form(options, FORMATS)
    work = _pair if options.reference is not None else _files
    explanation = work(options, metric)
    with Output(options.output) as output:
        if form == "text" and output.is_terminal and _drawn(explanation):
            return
        output.write(FORMATS[form](explanation))


def _pair(options: argparse.Namespace, metric: BLEU) -> Explanation:
    """The explanation of text on the command line."""
    for name, given in (("-i/--input", options.input), ("-n/--segment", options.segment)):
        if given is not None:
            raise shared.UsageError(f"{name} is for files, and --reference for text; give one")
    hypotheses: Sequence[str] = options.references
    if len(hypotheses) not in (1, 2):
        raise shared.UsageError(
            f"{len(hypotheses)} hypotheses; give one, or two to compare, each in quotation marks, "
            "before --reference"
        )
    second = hypotheses[1] if len(hypotheses) == 2 else None
    return explain(hypotheses[0], options.reference, metric, second=second, recall=options.recall)


def _files(options: argparse.Namespace, metric: BLEU) -> Explanation:
    """The explanation of files, or of one line of them."""
    if options.input is None and any(
        " " in name and not os.path.exists(name) for name in options.references
    ):
        raise shared.UsageError("for a pair that is given as text, put --reference before the text")
    inputs = shared.Inputs(options)
    if len(inputs.systems) > 2:
        raise shared.UsageError(f"{len(inputs.systems)} systems; give one, or two to compare")
    names = list(inputs.systems)
    hypotheses, *second = inputs.systems.values()
    references = inputs.references()
    if options.num_refs > 1:
        # Columns side by side are read in step, and once.
        references = [Kept(column) for column in references]
    return explain(
        hypotheses,
        references,
        metric,
        second=second[0] if second else None,
        segment=options.segment,
        recall=options.recall,
        names=names if second else None,
        workers=shared.threads(options),
    )


def _drawn(explanation: Explanation) -> bool:
    """Whether the library rich is there and drew it on the terminal."""
    try:
        from rich.console import Console
    except ImportError:
        return False
    console = Console(highlight=False)
    if "utf" not in console.encoding.lower():
        # Without it rich fails at the first character that the terminal does not have.
        return False
    console.print(explanation)
    return True


COMMAND = shared.Command(
    "truebleu explain REF... -i HYP [HYP] [options]\n"
    "       truebleu explain HYPOTHESIS [HYPOTHESIS] --reference TEXT... [options]",
    EXAMPLES,
    add_options,
    run,
)
