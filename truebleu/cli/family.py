"""`truebleu family`: the published BLEUs, their scores, and which one gives a number."""

from __future__ import annotations

import json

from truebleu.cli import options as shared
from truebleu.cli.output import Output

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any, Protocol

    from truebleu.family.member import Member

    class Result(Protocol):
        """What can be written in each format."""

        def text(self) -> str:
            """For a terminal."""

        def markdown(self) -> str:
            """In Markdown."""

        def to_dict(self) -> Any:
            """Everything, for JSON."""


EXAMPLES = """\
examples:
  truebleu family list
      every published BLEU, and what differs from sacreBLEU's default

  truebleu family show mteval-v13a nltk-sentence-4
      parameters, where it is used, how it surprises, what to cite

  truebleu family score reference.en -i system.en
      the same output by every member, highest first

  truebleu family which 27.3 reference.en -i system.en
      which members, and which settings near them, give 27.3 on this output
"""

ACTIONS = ("list", "show", "score", "which")
FORMATS = ("text", "json", "markdown")


def add_options(parser: shared.Parser) -> None:
    """Adds what `truebleu family` knows."""
    group = parser.add_argument_group("action")
    group.add_argument(
        "action",
        metavar="ACTION",
        choices=list(ACTIONS),
        type=shared.one_of(ACTIONS),
        help="list; show NAME...; score REF... -i HYP; which SCORE REF... -i HYP",
    )
    shared.add_inputs(parser)
    group = parser.add_argument_group("members")
    group.add_argument(
        *("-m", "--members"),
        metavar="NAME",
        nargs="+",
        help="score these only (all that are BLEU)",
    )
    group.add_argument(
        "--relatives",
        action="store_true",
        help="score NIST, GLEU and CodeBLEU's weighted match as well, which are no BLEU",
    )
    shared.add_output(parser, FORMATS, numbers=False)


def run(options: argparse.Namespace) -> None:
    """Does one of the actions and writes what it gives."""
    form = shared.form(options, FORMATS)
    result: Result
    if options.action in ("list", "show"):
        result = Members(_members(options))
    else:
        result = _score(options) if options.action == "score" else _which(options)
    with Output(options.output) as output:
        if form == "json":
            output.write(f"{json.dumps(result.to_dict(), indent=1, ensure_ascii=False)}\n")
        else:
            output.write(result.text() if form == "text" else result.markdown())


def _members(options: argparse.Namespace) -> tuple[list[Member], bool]:
    """The members to tell of, and whether everything is told."""
    from truebleu import family

    if options.input or options.members:
        raise shared.UsageError(f"{options.action} scores nothing; leave out -i and -m")
    if options.action == "list":
        if options.references:
            raise shared.UsageError("list takes no names; show does")
        return list(family.values()), False
    if not options.references:
        raise shared.UsageError("show what? Give one or more names from truebleu family list")
    return [_known(name) for name in options.references], True


def _known(name: str) -> Member:
    from truebleu import family

    try:
        return family[name]
    except KeyError as error:
        raise shared.UsageError(str(error)) from None


def _score(options: argparse.Namespace) -> Result:
    from truebleu import family

    members = None if options.members is None else [_known(m).name for m in options.members]
    hypotheses, references = _inputs(options)
    return family.score(
        hypotheses,
        references,
        members=members,
        relatives=options.relatives,
        workers=shared.threads(options),
    )


def _which(options: argparse.Namespace) -> Result:
    from truebleu.family.identify import number, which

    if options.members:
        raise shared.UsageError("which looks at all members; leave out -m")
    if not options.references:
        raise shared.UsageError("which score? Give the number before the references")
    wanted, *options.references = options.references
    try:
        number(wanted)
    except ValueError as error:
        raise shared.UsageError(str(error)) from None
    hypotheses, references = _inputs(options)
    return which(wanted, hypotheses, references, workers=shared.threads(options))


def _inputs(options: argparse.Namespace) -> tuple[Any, Any]:
    inputs = shared.Inputs(options)
    if len(inputs.systems) > 1:
        raise shared.UsageError("-i/--input: one system at a time")
    return next(iter(inputs.systems.values())), inputs.references()


class Members:
    """What is known of members, in short or in full."""

    __slots__ = ("full", "members")

    def __init__(self, chosen: tuple[list[Member], bool]) -> None:
        self.members, self.full = chosen

    def _cells(self) -> list[list[str]]:
        table = [["member", "prints", "differs from sacreBLEU in"]]
        for member in self.members:
            prints = "12.3456789" if member.digits is None else f"{12.3456789:.{member.digits}f}"
            if member.scale != 100:
                number = 0.123456789
                prints = str(number) if member.digits is None else f"{number:.{member.digits}f}"
            table.append([member.name, prints, ", ".join(member.differences) or "nothing"])
        return table

    def text(self) -> str:
        """A table, or a paragraph a member."""
        from truebleu.family.together import aligned

        if not self.full:
            return aligned(self._cells())
        return "\n".join(_paragraph(member) for member in self.members)

    def markdown(self) -> str:
        """The same in Markdown."""
        from truebleu.family.together import markdown

        if not self.full:
            return markdown(self._cells())
        parts = []
        for member in self.members:
            rows = "".join(f"- {name}: {value}\n" for name, value in _facts(member).items())
            parts.append(f"## {member.name}\n\n{member.title}\n\n{rows}")
        return "\n".join(parts)

    def to_dict(self) -> list[dict[str, Any]]:
        """Everything, in words and numbers."""
        return [member.to_dict() for member in self.members]


def _digits(member: Member) -> str:
    if member.digits is None:
        return "all digits"
    return f"{member.digits} digit{'' if member.digits == 1 else 's'}"


def _facts(member: Member) -> dict[str, str]:
    prints = "0 to 100" if member.scale == 100 else "0 to 1"
    facts = {
        "used": member.used,
        "prints": f"{prints}, {_digits(member)}",
        "references": "one" if member.single_reference else "any number",
        "differs": ", ".join(member.differences) or "nothing from sacreBLEU's default",
        "in Python": member.expression,
        "quirks": member.quirks,
        "cite": member.citation,
    }
    return {name: value for name, value in facts.items() if value}


def _paragraph(member: Member) -> str:
    import textwrap

    lines = [f"{member.name}: {member.title}\n"]
    for name, value in _facts(member).items():
        lines.append(
            textwrap.fill(
                value,
                width=96,
                initial_indent=f"  {name + ':':<12}",
                subsequent_indent=" " * 14,
                break_long_words=False,
                break_on_hyphens=False,
            )
            + "\n"
        )
    return "".join(lines)


COMMAND = shared.Command("truebleu family ACTION ... [options]", EXAMPLES, add_options, run)
