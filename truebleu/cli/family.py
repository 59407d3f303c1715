"""`truebleu family`: the published BLEUs, their scores, and which one gives a number.

examples:
  truebleu family list
      every published BLEU, and what differs from sacreBLEU's default

  truebleu family show mteval-v13a nltk-sentence-4
      parameters, where it is used, how it surprises, what to cite

  truebleu family score reference.en -i cedar.en birch.en
      the same outputs by every member, highest first

  truebleu family which 27.3 reference.en -i system.en
      which members, and which settings near them, give 27.3 on this output
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from truebleu.bleu_family.family_catalogue import family
from truebleu.bleu_family.family_member import Member
from truebleu.bleu_family.family_scores import FamilyScores
from truebleu.bleu_family.identify import number, which
from truebleu.cli import common_options as shared
from truebleu.cli import input_files as files
from truebleu.cli import metric_options
from truebleu.cli.common_options import Command, Group
from truebleu.cli.output import Results, UsageError
from truebleu.cli.progress import Progress
from truebleu.rendering.elements import Block, Cell, Facts, Heading, Paragraph, Table
from truebleu.text.terminal_layout import format_count

# The result of an action: an object for JSON, and blocks.
Made = tuple[dict[str, Any], Iterable[Block]]

ACTIONS = ("list", "show", "score", "which")


ACTION = Group(
    "action",
    "action ACTION  list; show NAME...; score REF... -i HYP...; which SCORE REF... -i HYP",
    action={"choices": ACTIONS},
)
MEMBERS = Group(
    "members",
    """
    -m --members NAME...  score these only (all that are BLEU)
    --relatives           score NIST, GLEU and CodeBLEU's weighted match as well, which are no BLEU
    """,
    metric_options.LANGUAGE,
    members={"completes": lambda: list(family)},
)


def run(options: argparse.Namespace) -> None:
    """Does one of the actions and writes what it gives."""
    output = Results(options)
    if options.language is not None and options.action != "score":
        raise UsageError(f"-l/--language: {options.action} splits by what members are known for")
    work = {"list": _list, "show": _show, "score": _score, "which": _which}[options.action]
    with output:
        content, blocks = work(options)
        if output.form == "json":
            output.write_object("family", content)
        else:
            output.show_blocks(blocks, title=f"truebleu family {options.action}")


# ---- members ----


def _check_no_text(options: argparse.Namespace) -> None:
    if options.input or options.members:
        raise UsageError(f"{options.action} scores nothing; leave out -i and -m")


def _list(options: argparse.Namespace) -> Made:
    _check_no_text(options)
    if options.references:
        raise UsageError("list takes no names; show does")
    rows = [
        [member.name, _example(member), ", ".join(member.differences) or "nothing"]
        for member in family.values()
    ]
    table = Table.from_text_rows(["member", "prints", "differs from sacreBLEU in"], rows, (0, 1, 2))
    return {"members": [member.to_dict() for member in family.values()]}, [table]


def _example(member: Member) -> str:
    """A number as the member prints it."""
    number = 12.3456789 if member.scale == 100 or member.metric.bound is None else 0.123456789
    return str(number) if member.digits is None else f"{number:.{member.digits}f}"


def _show(options: argparse.Namespace) -> Made:
    _check_no_text(options)
    if not options.references:
        raise UsageError("show what? Give one or more names from truebleu family list")
    members = [_known(name) for name in options.references]
    blocks: list[Block] = []
    for member in members:
        scale = "0 to 100" if member.scale == 100 else "0 to 1"
        scale = "0 or more, without an upper bound" if member.metric.bound is None else scale
        digits = "all digits" if member.digits is None else format_count(member.digits, "digit")
        facts = {
            "used": member.used,
            "prints": f"{scale}, {digits}",
            "references": "one" if member.single_reference else "any number",
            "differs": ", ".join(member.differences) or "nothing from sacreBLEU's default",
            "in Python": repr(member.metric),
            "quirks": member.quirks,
            "defect": member.defect,
            "cite": member.citation,
        }
        cells = [(name, Cell(value)) for name, value in facts.items() if value]
        blocks += [Heading(2, f"{member.name}: {member.title}"), Facts(cells)]
    return {"members": [member.to_dict() for member in members]}, blocks


def _known(name: str) -> Member:
    try:
        return family[name]
    except KeyError as error:
        raise UsageError(str(error)) from None


# ---- scores ----


def _score(options: argparse.Namespace) -> Made:
    named = metric_options.asked(options.members)
    members = None if named is None else [_known(name).name for name in named]
    tokenize = metric_options.picked_tokenizer(options)
    inputs = files.Inputs(options)
    with Progress(quiet=options.quiet) as progress:
        found = {
            system: family.score(
                hypotheses,
                inputs.references(),
                members=members,
                relatives=options.relatives,
                tokenize=tokenize,
                workers=options.threads,
                progress=partial(progress, f"scoring {system}"),
            )
            for system, hypotheses in inputs.systems.items()
        }
    rows = [{"system": name, **row.to_dict()} for name, table in found.items() for row in table]
    return {"scores": rows}, _scored(found)


def _scored(found: dict[str, FamilyScores]) -> Iterator[Block]:
    """The members on the scale of BLEU, highest first for the first system, then the others."""
    first = next(iter(found.values()))
    several = len(found) > 1
    for bounded, title in ((True, ""), (False, "On scales of their own")):
        rows = [row for row in first if row.bounded == bounded]
        if not rows:
            continue
        if title:
            yield Heading(2, title)
        header = ["member", *(found if several else ["0-100" if bounded else "score"])]
        header += [*([] if several else ["prints"]), "differs in"]
        cells = [
            [
                row.label,
                *(table[row.member.name].shown for table in found.values()),
                *([] if several else [row.printed_short]),
                row.notes,
            ]
            for row in rows
        ]
        yield Table.from_text_rows(header, cells, (0, len(header) - 1))
    marked = [row.member for row in first if row.member.defect]
    if marked:
        yield Paragraph("! has a known defect:", "note")
        yield from (Paragraph(f"{one.name}: {one.defect}", "note") for one in marked)


def _which(options: argparse.Namespace) -> Made:
    if options.members:
        raise UsageError("which looks at all members; leave out -m")
    if not options.references:
        raise UsageError("which score? Give the number before the references")
    wanted, *options.references = options.references
    try:
        number(wanted)
    except ValueError as error:
        raise UsageError(str(error)) from None
    inputs = files.Inputs(options)
    if len(inputs.systems) > 1:
        raise UsageError("-i/--input: one system at a time")
    (hypotheses,) = inputs.systems.values()
    with Progress(quiet=options.quiet) as progress:
        found = which(
            wanted,
            hypotheses,
            inputs.references(),
            workers=options.threads,
            progress=partial(progress, "trying settings"),
        )
    header, *rows = found.cells()
    blocks: list[Block] = [Paragraph(found.head), Table.from_text_rows(header, rows, (0, 1))]
    if found.tail:
        blocks.append(Paragraph(found.tail))
    return found.to_dict(), blocks


COMMAND = Command(
    "truebleu family ACTION ... [options]",
    __doc__,
    lambda words: [
        ACTION,
        *files.groups(words),
        MEMBERS,
        shared.view_output(),
        shared.RUNNING,
    ],
    run,
)
