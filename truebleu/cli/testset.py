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
from typing import Any

from truebleu.cli import common_options as shared
from truebleu.cli import input_files as files
from truebleu.cli.common_options import Command, Group
from truebleu.cli.output import Results, UsageError, printable
from truebleu.rendering.elements import Block, Cell, Facts, Heading, Paragraph, Table
from truebleu.testsets import testset_operations
from truebleu.text.terminal_layout import format_count

# The result of an action: objects for JSON, and blocks.
Made = tuple[Sequence[dict[str, Any]], Iterable[Block]]

# How many language pairs a list names.
MOST_PAIRS = 4


def run(options: argparse.Namespace) -> None:
    """Do one of the actions and write its result."""
    output = Results(options)
    action = options.action
    _check(options)
    files.set_up_downloads(options)
    with output:
        if action == "show":
            _show(options, output)
            return
        found, blocks = ACTIONS[action][0](options)
        if output.form == "json":
            output.write_object("testset", {action: found})
        elif action == "path" and output.form == "text":
            # For programs: whole, however long it is.
            output.write("".join(f"{one['path']}\n" for one in found))
        else:
            output.show_blocks(blocks, title=f"truebleu testset {action}")
    if action == "verify" and any(one["problem"] for one in found):
        raise ValueError("not everything is as it should be; truebleu testset remove, then get")


def _check(options: argparse.Namespace) -> None:
    """Refuse too few names, too many, and options of other actions."""
    _, least, most = ACTIONS[options.action]
    names = len(options.names)
    if options.action == "get" and options.all_since is not None:
        least = 0
    if names < least:
        raise UsageError(f"{options.action} what? Give a name from truebleu testset list")
    if most is not None and names > most:
        raise UsageError(f"{options.action} takes {format_count(most, 'name')}, not {names}")
    actions = {"name": "add", "all_since": "get"} | dict.fromkeys(files.FILTERS, "show")
    for name, action in actions.items():
        if getattr(options, name) is not None and options.action != action:
            raise UsageError(f"--{name.replace('_', '-')} is for truebleu testset {action}")


def _name(options: argparse.Namespace) -> str | None:
    return options.names[0] if options.names else None


def _dicts(found: Iterable[Any]) -> list[dict[str, Any]]:
    return [one.to_dict() for one in found]


def _list(options: argparse.Namespace) -> Made:
    pattern = _name(options)
    found = testset_operations.list_test_sets(pattern, options.language, options.registry)
    if not found:
        asked = " ".join(filter(None, (pattern, options.language)))
        raise ValueError(f"no test set is like {asked}; truebleu testset list shows all")
    rows = [
        ["✓" if one.here else "", one.name, _pairs(one, options.language), one.description]
        for one in found
    ]
    note = Paragraph("✓: here, and read without a download.", "notes")
    header = ["here", "name", "pairs", "what it is"]
    return _dicts(found), [Table.from_text_rows(header, rows, (0, 1, 2, 3)), note]


def _pairs(one: testset_operations.TestSetSummary, langpair: str | None) -> str:
    """Return the language pairs, or how many there are of more than a few."""
    if one.languages:
        return f"any of {len(one.languages)} languages"
    if langpair is not None:
        known = one.segments.get(langpair)
        return langpair if known is None else f"{langpair} ({format_count(known, 'segment')})"
    many = len(one.langpairs) > MOST_PAIRS
    return f"{len(one.langpairs)} pairs" if many else ", ".join(one.langpairs)


def _info(options: argparse.Namespace) -> Made:
    one = testset_operations.describe_test_set(options.names[0], options.language, options.registry)
    blocks: list[Block] = [Heading(2, one.name), Paragraph(one.description), _facts(_about(one))]
    for archive in one.archives:
        known = {**archive, "address": None, "mirrors": ", ".join(archive.get("mirrors", ()))}
        blocks += [Heading(3, archive["address"]), _facts(known)]
    if one.pair is not None:
        pair = one.pair.to_dict()
        for name in ("domains", "origlangs"):
            pair[name] = [f"{key or '(none)'} {number:,}" for key, number in pair[name].items()]
        blocks += [Heading(3, pair.pop("langpair")), _facts(pair)]
    elif options.language is not None:
        advice = f"{options.language} is not here; truebleu testset get {one.name} fetches it."
        blocks.append(Paragraph(advice, "notes"))
    if one.citation:
        blocks += [Heading(3, "citation"), Paragraph(one.citation)]
    return _dicts([one]), blocks


def _about(one: testset_operations.TestSetInfo) -> dict[str, str | None]:
    # A reference without a translator's name is called ref.
    preferred = {
        pair: ", ".join(name or "ref" for name in refs) for pair, refs in one.preferred.items()
    }
    differ = len({*preferred.values()}) > 1
    by_pair = "; ".join(f"{pair}: {references}" for pair, references in preferred.items())
    return {
        "language pairs": ", ".join(one.langpairs) or f"any of {len(one.languages)} languages",
        "references to use": by_pair if differ else "".join({*preferred.values()}),
        "released": one.released,
        "licence": one.licence or "not stated",
        "here": one.folder if one.here else "no",
        "how to get it": one.instructions,
        "verified by": ", ".join(source["verified"] or "nothing" for source in one.sources),
    }


def _facts(values: Mapping[str, Any]) -> Facts:
    """Return the values that are not empty, lists with commas."""
    return Facts(
        [
            (name, Cell(", ".join(value) if isinstance(value, list | tuple) else str(value)))
            for name, value in values.items()
            if value not in (None, "", (), [])
        ]
    )


def _get(options: argparse.Namespace) -> Made:
    names = list(options.names)
    if options.all_since is not None:
        names += [
            name for name in testset_operations.list_since(options.all_since) if name not in names
        ]
        if not names:
            raise ValueError(f"no test set is of {options.all_since} or later")
    found = list(
        testset_operations.fetch_test_sets(names, options.language, registry=options.registry)
    )
    rows = [
        [one.name, str(len(one.langpairs)), ", ".join(one.verified), one.folder] for one in found
    ]
    return _dicts(found), [
        Table.from_text_rows(["name", "pairs", "verified by", "folder"], rows, (0, 2, 3))
    ]


def _add(options: argparse.Namespace) -> Made:
    found = testset_operations.add_test_set(options.names[0], options.name)
    rows = [[one.name, format_count(len(one.langpairs), "pair"), one.path] for one in found]
    return _dicts(found), [Table.from_text_rows(["name", "pairs", "where"], rows, (0, 1, 2))]


def _verify(options: argparse.Namespace) -> Made:
    found = testset_operations.verify_test_sets(_name(options), options.registry)
    rows = [[one.name, one.problem or "as it should be", one.path] for one in found]
    if not rows:
        return [], [Paragraph("Nothing is here.")]
    return _dicts(found), [Table.from_text_rows(["name", "what it is", "file"], rows, (0, 1, 2))]


def _path(options: argparse.Namespace) -> Made:
    name = options.names[0]
    path = testset_operations.find_folder(name, options.language, options.registry)
    return [{"name": name, "path": path}], [Paragraph(path)]


def _remove(options: argparse.Namespace) -> Made:
    found = [testset_operations.remove_test_set(name) for name in options.names]
    lines = [f"{one.name}: {one.size / 1e6:,.1f} MB removed" for one in found]
    return _dicts(found), [Paragraph(line) for line in lines]


def _show(options: argparse.Namespace, output: Results) -> None:
    """Write fields as sacreBLEU's --echo does, tab-separated."""
    if output.form != "text":
        raise UsageError("show writes text; leave out -f")
    if options.language is None:
        raise UsageError("show needs the pair of languages: -l en-de")
    name, *fields = options.names
    filters = {each: getattr(options, each) for each in files.FILTERS}
    rows = testset_operations.show_fields(
        name, options.language, fields or ("src", "ref"), **filters, registry=options.registry
    )
    for row in rows:
        cells = map(printable, row) if output.is_terminal else row
        output.write("\t".join(cells) + "\n")


# The work of each action, and how many names it takes: at least, and at most.
ACTIONS: dict[str, tuple[Callable[..., Any], int, int | None]] = {
    "list": (_list, 0, 1),
    "info": (_info, 1, 1),
    "get": (_get, 1, None),
    "add": (_add, 1, 1),
    "show": (_show, 1, None),
    "verify": (_verify, 0, 1),
    "path": (_path, 1, 1),
    "remove": (_remove, 1, None),
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
    action={"choices": tuple(ACTIONS)},
    names={"nargs": "*", "default": ()},
    all_since={"type": int},
)
COMMAND = Command(
    "truebleu testset ACTION [NAME...] [options]",
    __doc__,
    lambda _: [
        ACTION,
        Group("show: only a part", files.PARTS),
        Group("downloads", files.DOWNLOADS),
        shared.view_output(),
        shared.RUNNING_QUIETLY,
    ],
    run,
)
