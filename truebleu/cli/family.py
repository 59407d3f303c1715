"""`truebleu family`: published BLEU variants, their scores, and the variant behind a score.

examples:
  truebleu family list
      list the family's members and their differences from sacreBLEU's default

  truebleu family show mteval-v13a nltk-sentence-4
      show parameters, typical use, quirks and citations

  truebleu family score reference.en -i cedar.en birch.en
      score with all members, highest score first

  truebleu family which 27.3 reference.en -i system.en
      find the variants and settings of BLEU that give 27.3 for this output
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from functools import partial
from typing import Any

from truebleu.bleu_family.family_catalogue import family
from truebleu.bleu_family.family_member import Member
from truebleu.bleu_family.identify import parse_printed_score, which
from truebleu.cli import common_options as shared
from truebleu.cli import input_files as files
from truebleu.cli import metric_options
from truebleu.cli.common_options import Command, OptionGroup
from truebleu.cli.output import Progress, Results, UsageError
from truebleu.rendering.elements import Block, Cell, Facts, Heading, Paragraph, Table
from truebleu.text.system_names import ShortNames
from truebleu.text.terminal_layout import format_count

# The result of an action: an object for JSON, and elements for other formats.
FamilyResult = tuple[dict[str, Any], Iterable[Block]]

ACTIONS = ("list", "show", "score", "which")

# Options without effect on an action, keyed by their attributes.
TEXT_OPTIONS = ("input", "members", "test_set", "resegment", "hyp_docs", "docs", "language")
NO_TEXTS = (*TEXT_OPTIONS, "relatives")
UNUSED_OPTIONS = {"list": NO_TEXTS, "show": NO_TEXTS, "which": ("relatives",)}

ACTION = OptionGroup(
    "action",
    "action ACTION  run list, show NAME..., score REF... -i HYP..., or which SCORE REF... -i HYP",
    action={"choices": ACTIONS},
)
MEMBERS = OptionGroup(
    "members",
    """
    -m --members NAME...  score only with these members (default: all variants of BLEU)
    --relatives           also score with NIST, GLEU and CodeBLEU's weighted n-gram match
    """,
    metric_options.LANGUAGE,
    members={"completes": lambda: list(family)},
)


def run(options: argparse.Namespace) -> None:
    """Run the requested action and write its result."""
    output = Results(options)
    unused_options = [*UNUSED_OPTIONS.get(options.action, ())]
    if options.action == "which" and getattr(options, "test_set", None) is None:
        unused_options.append("language")
    shared.refuse_options(options, unused_options, f"has no effect with {options.action}")
    if options.docs is not None and options.resegment is None:
        raise UsageError("--docs has no effect without --resegment")
    run_action = {
        "list": _list_members,
        "show": _show_members,
        "score": _score_members,
        "which": _find_matching_variants,
    }[options.action]
    if options.action != "score" and output.scale == 1:
        raise UsageError(f"--scale has no effect with {options.action}")
    output.check_scale()
    with output:
        content, blocks = run_action(options)
        if output.form == "json":
            output.write_object("family", content)
        else:
            output.write_elements(blocks, title=f"truebleu family {options.action}")


# ---- members ----


def _list_members(options: argparse.Namespace) -> FamilyResult:
    if options.references:
        raise UsageError(
            f"list: unexpected argument '{options.references[0]}'. Use truebleu family show NAME"
        )
    rows = []
    for member in family.values():
        is_fraction = member.scale != 100 and member.metric.bound is not None
        example: float = 0.123456789 if is_fraction else 12.3456789
        printed = str(example) if member.digits is None else f"{example:.{member.digits}f}"
        rows.append([member.name, printed, ", ".join(member.differences) or "none"])
    table = Table.from_text_rows(
        ["member", "printed like", "differences from sacreBLEU"], rows, (0, 1, 2)
    )
    note = (
        "spBLEU is not a variant of the formula: it is BLEU with the tokenizer flores200 or "
        "flores101. Use truebleu score REF -i HYP -tok flores200."
    )
    members = [member.to_dict() for member in family.values()]
    return {"members": members}, [table, Paragraph(note, "note")]


def _show_members(options: argparse.Namespace) -> FamilyResult:
    if not options.references:
        raise UsageError("show: missing member names; truebleu family list shows all names")
    members = [_get_family_member(name) for name in options.references]
    blocks: list[Block] = []
    for member in members:
        scale = "0 to 100" if member.scale == 100 else "0 to 1"
        scale = "0 or more, without an upper bound" if member.metric.bound is None else scale
        digits = "all digits" if member.digits is None else format_count(member.digits, "digit")
        facts = {
            "use": member.used,
            "prints": f"{scale}, {digits}",
            "references": "one" if member.single_reference else "any number",
            "differences": ", ".join(member.differences) or "none; these are sacreBLEU's defaults",
            "in Python": repr(member.metric),
            "quirks": member.quirks,
            "defect": member.defect,
            "citation": member.citation,
        }
        cells = [(name, Cell(value)) for name, value in facts.items() if value]
        blocks += [Heading(2, f"{member.name}: {member.title}"), Facts(cells)]
    return {"members": [member.to_dict() for member in members]}, blocks


def _get_family_member(name: str) -> Member:
    try:
        return family[name]
    except KeyError as error:
        raise UsageError(str(error)) from None


# ---- scores ----


def _score_members(options: argparse.Namespace) -> FamilyResult:
    names = metric_options.parse_names(options.members)
    members = None if names is None else [_get_family_member(name).name for name in names]
    tokenize = metric_options.pick_tokenizer(options)
    inputs = files.Inputs(options)
    with Progress(quiet=options.quiet) as progress:
        scores_by_system = {
            system: family.score(
                hypotheses,
                inputs.read_references(),
                members=members,
                relatives=options.relatives,
                tokenize=tokenize,
                workers=options.threads,
                progress=partial(progress, f"scoring {system}"),
            )
            for system, hypotheses in inputs.systems.items()
        }
    rows = [
        {"system": name, **row.to_dict()}
        for name, table in scores_by_system.items()
        for row in table
    ]
    # Tables are sorted by the first system's scores.
    first = next(iter(scores_by_system.values()))
    short_names = ShortNames(scores_by_system)
    systems = {short_names.shorten(name): one for name, one in scores_by_system.items()}
    blocks: list[Block] = []
    for is_bounded, title in ((True, ""), (False, "Scores without an upper bound")):
        header, *cells = first.format_rows(
            bounded=is_bounded, systems=systems if len(systems) > 1 else None, scale=options.scale
        )
        if cells:
            blocks += [Heading(2, title)] if title else []
            blocks.append(Table.from_text_rows(header, cells, (0, len(header) - 1)))
    blocks += [Paragraph(line, "note") for line in first.list_defects()]
    blocks += [Paragraph(short_names.note, "note")] if short_names else []
    return {"scores": rows, **_describe_resegmentation(inputs)}, blocks


def _find_matching_variants(options: argparse.Namespace) -> FamilyResult:
    if options.members:
        raise UsageError(
            "-m/--members has no effect with 'truebleu family which', which looks for the variant "
            "of BLEU behind a score. For other metrics, use truebleu score "
            f"-m {' '.join(options.members)}"
        )
    if not options.references:
        raise UsageError("which: expected a score before the references")
    target_score, *options.references = options.references
    try:
        parse_printed_score(target_score)
    except ValueError as error:
        raise UsageError(str(error)) from None
    inputs = files.Inputs(options)
    if len(inputs.systems) > 1:
        raise UsageError(f"-i/--input: expected one system, found {len(inputs.systems)}")
    (hypotheses,) = inputs.systems.values()
    with Progress(quiet=options.quiet) as progress:
        identification = which(
            target_score,
            hypotheses,
            inputs.read_references(),
            workers=options.threads,
            progress=partial(progress, "trying settings"),
        )
    header, *rows = identification.format_rows()
    blocks: list[Block] = [
        Paragraph(identification.headline, "lead"),
        Paragraph(identification.ambiguity),
        Table.from_text_rows(header, rows, (1, 2)),
    ]
    if identification.search_summary:
        blocks.append(Paragraph(identification.search_summary))
    return {**identification.to_dict(), **_describe_resegmentation(inputs)}, blocks


def _describe_resegmentation(inputs: files.Inputs) -> dict[str, Any]:
    return {name: value for name, value in inputs.describe().items() if name == "resegmentation"}


COMMAND = Command(
    "truebleu family ACTION ... [options]",
    __doc__,
    lambda words: [
        ACTION,
        *files.list_input_groups(words),
        OptionGroup("documents", files.DOCUMENTS),
        MEMBERS,
        shared.make_output_group(shared.VIEW_FORMATS, "text", shared.COLOR, shows_scores=True),
        shared.RUNNING,
    ],
    run,
)
