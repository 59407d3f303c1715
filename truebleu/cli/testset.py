"""`truebleu testset`: published test sets, to list, fetch, install and show.

examples:
  truebleu testset list 'wmt2*' -l en-de
      the test sets with such names that have English to German

  truebleu testset info wmt22 -l en-ja
      addresses, sums, licence, citation; references, documents, domains, outputs

  truebleu testset get wmt22 wmt23
      fetched and made ready, for a machine that will have no network

  truebleu testset add v1.1.tar.gz
      an archive that was fetched elsewhere: its sum says which test set it is of

  truebleu testset add corpus/ --name ours
      a test set of one's own: files called en-de.src, en-de.ref, en-de.docid ...

  truebleu testset show wmt22 src ref:A docid -l en-de --origlang en
      text, tab-separated

  truebleu score -t wmt22 -l en-de -i system.de
      what it is for
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from truebleu.cli import options as shared
from truebleu.cli import test_sets
from truebleu.cli.options import Command, Group
from truebleu.cli.output import Results, UsageError, printable
from truebleu.rendering.blocks import Cell, Facts, Heading, Paragraph, Table
from truebleu.text.layout import count

if TYPE_CHECKING:
    from truebleu.rendering.blocks import Block
    from truebleu.testsets.manage import Described, Listed

    # What an action gives: objects for JSON, and blocks.
    Made = tuple[Sequence[dict[str, Any]], Iterable[Block]]

FORMATS = ("text", "json", "markdown", "latex", "html")

# How many names each takes.
COUNTS: dict[str, tuple[int, int | None]] = {
    "list": (0, 1),
    "info": (1, 1),
    "get": (1, None),
    "add": (1, 1),
    "show": (1, None),
    "verify": (0, 1),
    "path": (1, 1),
    "remove": (1, None),
}

ACTION = Group(
    "action",
    """
    action ACTION         list [PATTERN]; info NAME; get NAME...; add PATH; show NAME [FIELD...];
                          verify [NAME]; path NAME; remove NAME...
    names NAME            a test set, a pattern of names, or what the action takes besides
    -l --language TAG     the pair of languages, such as en-de
    --name NAME           add: the test set that an archive is of, or a name for a folder
    --all-since YEAR      get: every test set of this year and later ones
    """,
    action={"choices": tuple(COUNTS)},
    names={"nargs": "*", "default": ()},
    all_since={"type": int},
)


def groups(words: Sequence[str]) -> list[Group]:  # noqa: ARG001
    """The options of `truebleu testset`."""
    options = Group("downloads", test_sets.GETTING)
    filters = Group("show: only a part", test_sets.PARTS)
    output = shared.output(FORMATS, "text", shared.COLOR)
    return [ACTION, filters, options, output, shared.RUNNING_QUIETLY]


def run(options: argparse.Namespace) -> None:
    """Does one of the actions and writes what it gives."""
    output = Results(options)
    _check(options)
    test_sets.set_up(options)
    with output:
        if options.action == "show":
            _show(options, output)
            return
        found, blocks = ACTIONS[options.action](options)
        if output.form == "json":
            output.write_object("testset", {options.action: found})
        elif options.action == "path" and output.form == "text":
            # For programs: whole, however long it is.
            output.write("".join(f"{one['path']}\n" for one in found))
        else:
            output.show_blocks(blocks, title=f"truebleu testset {options.action}")
    if options.action == "verify" and any(one["problem"] for one in found):
        raise ValueError("not everything is as it should be; truebleu testset remove, then get")


def _check(options: argparse.Namespace) -> None:
    """Refuses too few names, too many, and options of other actions."""
    least, most = COUNTS[options.action]
    given = len(options.names)
    if options.action == "get" and options.all_since is not None:
        least = 0
    if given < least:
        raise UsageError(f"{options.action} what? Give a name from truebleu testset list")
    if most is not None and given > most:
        raise UsageError(f"{options.action} takes {count(most, 'name')}, not {given}")
    own = {"name": "add", "all_since": "get"} | dict.fromkeys(test_sets.FILTERS, "show")
    for name, action in own.items():
        if getattr(options, name) is not None and options.action != action:
            raise UsageError(f"--{name.replace('_', '-')} is for truebleu testset {action}")


def _told(found: Iterable[Any]) -> list[dict[str, Any]]:
    return [one.to_dict() for one in found]


def _list(options: argparse.Namespace) -> Made:
    from truebleu.testsets import manage

    pattern = options.names[0] if options.names else None
    found = manage.list(pattern, options.language, options.registry)
    if not found:
        asked = " ".join(filter(None, (pattern, options.language)))
        raise ValueError(f"no test set is like {asked}; truebleu testset list shows all")
    rows = [
        ["✓" if one.here else "", one.name, _pairs(one, options.language), one.description]
        for one in found
    ]
    note = Paragraph("✓: here, and read without a download.", "notes")
    header = ["here", "name", "pairs", "what it is"]
    return _told(found), [Table.of(header, rows, (0, 1, 2, 3)), note]


def _pairs(one: Listed, langpair: str | None) -> str:
    """The language pairs, or how many there are of more than a few."""
    if one.languages:
        return f"any of {len(one.languages)} languages"
    if langpair is not None:
        known = one.segments.get(langpair)
        return langpair if known is None else f"{langpair} ({count(known, 'segment')})"
    return ", ".join(one.langpairs) if len(one.langpairs) <= MOST else f"{len(one.langpairs)} pairs"


# As many language pairs as a list names.
MOST = 4


def _info(options: argparse.Namespace) -> Made:
    from truebleu.testsets import manage

    one = manage.info(options.names[0], options.language, options.registry)
    blocks: list[Block] = [Heading(2, one.name), Paragraph(one.description)]
    blocks.append(Facts([(name, Cell(value)) for name, value in _facts(one).items() if value]))
    for archive in one.archives:
        known = {**archive, "address": None, "mirrors": ", ".join(archive.get("mirrors", ()))}
        blocks += [Heading(3, archive["address"]), _given(known)]
    if one.pair is not None:
        pair = one.pair.to_dict()
        for name in ("domains", "origlangs"):
            told = (f"{key or '(none)'} {number:,}" for key, number in pair[name].items())
            pair[name] = ", ".join(told)
        blocks += [Heading(3, pair.pop("langpair")), _given(pair)]
    elif options.language is not None:
        advice = f"{options.language} is not here; truebleu testset get {one.name} fetches it."
        blocks.append(Paragraph(advice, "notes"))
    if one.citation:
        blocks += [Heading(3, "citation"), Paragraph(one.citation)]
    return _told([one]), blocks


def _facts(one: Described) -> dict[str, str]:
    pairs = ", ".join(one.langpairs) or f"any of {len(one.languages)} languages"
    # A reference without a translator's name is called ref.
    preferred = {
        pair: ", ".join(name or "ref" for name in refs) for pair, refs in one.preferred.items()
    }
    used = "; ".join(f"{pair}: {refs}" for pair, refs in preferred.items())
    return {
        "language pairs": pairs,
        "references to use": used
        if len({*preferred.values()}) > 1
        else "".join({*preferred.values()}),
        "released": one.released or "",
        "licence": one.licence or "not stated",
        "here": one.folder if one.here else "no",
        "how to get it": one.how or "",
        "verified by": ", ".join(source["verified"] or "nothing" for source in one.sources),
    }


def _given(values: Mapping[str, Any]) -> Facts:
    """The values that there are."""
    told = {
        name: ", ".join(value) if isinstance(value, list | tuple) else str(value)
        for name, value in values.items()
        if value not in (None, "", (), [])
    }
    return Facts([(name, Cell(value)) for name, value in told.items()])


def _get(options: argparse.Namespace) -> Made:
    from truebleu.testsets import manage

    names = list(options.names)
    if options.all_since is not None:
        names += [name for name in manage.since(options.all_since) if name not in names]
        if not names:
            raise ValueError(f"no test set is of {options.all_since} or later")
    found = list(manage.get(names, options.language, registry=options.registry))
    rows = [
        [one.name, str(len(one.langpairs)), ", ".join(one.verified), one.folder] for one in found
    ]
    return _told(found), [Table.of(["name", "pairs", "verified by", "folder"], rows, (0, 2, 3))]


def _add(options: argparse.Namespace) -> Made:
    from truebleu.testsets import manage

    found = manage.add(options.names[0], options.name)
    rows = [[one.name, count(len(one.langpairs), "pair"), one.path] for one in found]
    return _told(found), [Table.of(["name", "pairs", "where"], rows, (0, 1, 2))]


def _verify(options: argparse.Namespace) -> Made:
    from truebleu.testsets import manage

    name = options.names[0] if options.names else None
    found = manage.verify(name, options.registry)
    rows = [[one.name, one.problem or "as it should be", one.path] for one in found]
    if not rows:
        return [], [Paragraph("Nothing is here.")]
    return _told(found), [Table.of(["name", "what it is", "file"], rows, (0, 1, 2))]


def _path(options: argparse.Namespace) -> Made:
    from truebleu.testsets import manage

    name = options.names[0]
    path = manage.path(name, options.language, options.registry)
    return [{"name": name, "path": path}], [Paragraph(path)]


def _remove(options: argparse.Namespace) -> Made:
    from truebleu.testsets import manage

    found = [manage.remove(name) for name in options.names]
    told = [f"{one.name}: {one.size / 1e6:,.1f} MB removed" for one in found]
    return _told(found), [Paragraph(line) for line in told]


def _show(options: argparse.Namespace, output: Results) -> None:
    """Writes fields as sacreBLEU's --echo does, tab-separated."""
    from truebleu.testsets import manage

    if output.form != "text":
        raise UsageError("show writes text; leave out -f")
    if options.language is None:
        raise UsageError("show needs the pair of languages: -l en-de")
    name, *fields = options.names
    given = {each: getattr(options, each) for each in test_sets.FILTERS}
    rows = manage.show(
        name, options.language, fields or ("src", "ref"), **given, registry=options.registry
    )
    for row in rows:
        cells = map(printable, row) if output.is_terminal else row
        output.write("\t".join(cells) + "\n")


ACTIONS: dict[str, Callable[[argparse.Namespace], Made]] = {
    "list": _list,
    "info": _info,
    "get": _get,
    "add": _add,
    "verify": _verify,
    "path": _path,
    "remove": _remove,
}
COMMAND = Command("truebleu testset ACTION [NAME...] [options]", __doc__, groups, run)
