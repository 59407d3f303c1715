"""`truebleu testset`: management of published test sets.

examples:
  truebleu testset list 'wmt2*' -l en-de
      list the English-German test sets whose names match

  truebleu testset info wmt22 -l en-ja
      show URLs, checksums, licence, citation, references, documents, domains and outputs

  truebleu testset get wmt22 wmt23
      download test sets, for example before going offline

  truebleu testset add v1.1.tar.gz
      install an archive that you downloaded; its checksum identifies the test set

  truebleu testset add corpus/ --name ours
      install your own test set from files named en-de.src, en-de.ref, en-de.docid ...

  truebleu testset show wmt22 src ref:A docid -l en-de --origlang en
      print tab-separated sources, references and document ids

  truebleu score -t wmt22 -l en-de -i system.de
      score a system on a test set
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from truebleu.cli import common_options as shared
from truebleu.cli import input_files as files
from truebleu.cli.common_options import Command, OptionGroup
from truebleu.cli.output import Results, UsageError
from truebleu.rendering.elements import Block, Cell, Facts, Heading, Paragraph, Table
from truebleu.testsets import testset_operations
from truebleu.text.terminal_layout import escape_unprintable, format_count

# The result of an action: objects for JSON, and elements for other formats.
TestSetResult = tuple[Sequence[dict[str, Any]], Iterable[Block]]

# For test sets with more language pairs than this, lists show only the number of pairs.
MAX_LISTED_PAIRS = 2


def run(options: argparse.Namespace) -> None:
    """Run the requested action and write its result."""
    output = Results(options)
    action = options.action
    _check_names(options)
    with output:
        if action == "show":
            _show_fields(options, output)
            return
        entries, blocks = ACTIONS[action][0](options)
        if output.form == "json":
            output.write_object("testset", {action: entries})
        elif action == "path" and output.form == "text":
            # Other programs read the path, so do not wrap it.
            output.write("".join(f"{entry['path']}\n" for entry in entries))
        else:
            output.write_elements(blocks, title=f"truebleu testset {action}")
    if action == "verify" and any(entry["problem"] for entry in entries):
        raise ValueError("invalid files. Run truebleu testset remove, then truebleu testset get")


def _check_names(options: argparse.Namespace) -> None:
    _, min_names, max_names = ACTIONS[options.action]
    names = len(options.names)
    if options.action == "get" and options.all_since is not None:
        min_names = 0
    if names < min_names:
        raise UsageError(f"{options.action}: missing name; truebleu testset list shows all names")
    if max_names is not None and names > max_names:
        raise UsageError(
            f"{options.action}: expected {format_count(max_names, 'name')}, found {names}"
        )
    actions = {"name": "add", "all_since": "get"} | dict.fromkeys(files.FILTER_OPTIONS, "show")
    unused_options = [name for name, action in actions.items() if options.action != action]
    unused_options += ["language"] if options.action in ("add", "verify", "remove") else []
    unused_options += ["registry"] if options.action in ("add", "remove") else []
    shared.refuse_options(options, unused_options, f"has no effect with {options.action}")


def _list_test_sets(options: argparse.Namespace) -> TestSetResult:
    pattern = next(iter(options.names), None)
    test_sets = testset_operations.list_test_sets(pattern, options.language, options.registry)
    if not test_sets:
        query = " ".join(filter(None, (pattern, options.language)))
        raise ValueError(f"no test set matches {query}. Use truebleu testset list to show all")
    rows = [
        [
            "✓" if test_set["here"] else "",
            test_set["name"],
            _format_pairs(test_set, options.language),
            test_set["description"],
        ]
        for test_set in test_sets
    ]
    note = Paragraph("✓: installed; no download needed.", "notes")
    header = ["installed", "name", "pairs", "description"]
    return test_sets, [Table.from_text_rows(header, rows, (0, 1, 2, 3)), note]


def _format_pairs(test_set: testset_operations.Facts, langpair: str | None) -> str:
    if test_set["languages"]:
        return f"{len(test_set['languages'])} languages"
    if langpair is not None:
        segment_count = test_set["segments"].get(langpair)
        return (
            langpair
            if segment_count is None
            else f"{langpair} ({format_count(segment_count, 'segment')})"
        )
    pairs = test_set["langpairs"]
    return f"{len(pairs)} pairs" if len(pairs) > MAX_LISTED_PAIRS else ", ".join(pairs)


def _describe_test_set(options: argparse.Namespace) -> TestSetResult:
    test_set = testset_operations.describe_test_set(
        options.names[0], options.language, options.registry
    )
    blocks: list[Block] = [
        Heading(2, test_set["name"]),
        Paragraph(test_set["description"]),
        _make_facts(_list_facts(test_set)),
    ]
    for archive in test_set["archives"]:
        archive_facts = {
            **archive,
            "address": None,
            "mirrors": ", ".join(archive.get("mirrors", ())),
        }
        blocks += [Heading(3, archive["address"]), _make_facts(archive_facts)]
    if test_set["pair"] is not None:
        pair = dict(test_set["pair"])
        for name in ("domains", "origlangs"):
            pair[name] = [f"{key or '(none)'} {number:,}" for key, number in pair[name].items()]
        blocks += [Heading(3, pair.pop("langpair")), _make_facts(pair)]
    elif options.language is not None:
        command = f"truebleu testset get {test_set['name']}"
        advice = f"{options.language} is not installed. Run {command}."
        blocks.append(Paragraph(advice, "notes"))
    if test_set["citation"]:
        blocks += [Heading(3, "citation"), Paragraph(test_set["citation"])]
    return [test_set], blocks


def _list_facts(test_set: testset_operations.Facts) -> dict[str, str | None]:
    # A reference without a translator name is called ref.
    preferred = {
        pair: ", ".join(name or "ref" for name in refs)
        for pair, refs in test_set["preferred"].items()
    }
    differ = len({*preferred.values()}) > 1
    by_pair = "; ".join(f"{pair}: {references}" for pair, references in preferred.items())
    return {
        "language pairs": ", ".join(test_set["langpairs"])
        or f"any two of {len(test_set['languages'])} languages",
        "references to use": by_pair if differ else "".join({*preferred.values()}),
        "released": test_set["released"],
        "licence": test_set["licence"] or "not stated",
        "installed": test_set["folder"] if test_set["here"] else "no",
        "how to get the files": test_set["instructions"],
        "verified by": ", ".join(one["verified"] or "nothing" for one in test_set["sources"]),
    }


def _make_facts(values: Mapping[str, Any]) -> Facts:
    """Return the names and non-empty values as `Facts`, with lists joined by commas."""
    return Facts(
        [
            (name, Cell(", ".join(value) if isinstance(value, list | tuple) else str(value)))
            for name, value in values.items()
            if value not in (None, "", (), [])
        ]
    )


def _download_test_sets(options: argparse.Namespace) -> TestSetResult:
    names = list(options.names)
    if options.all_since is not None:
        names += testset_operations.list_test_sets_since(options.all_since)
        names = list(dict.fromkeys(names))
        if not names:
            raise ValueError(f"no test set was published in {options.all_since} or later")
    downloaded = list(
        testset_operations.fetch_test_sets(names, options.language, registry=options.registry)
    )
    rows = [
        [one["name"], str(len(one["langpairs"])), ", ".join(one["verified"]), one["folder"]]
        for one in downloaded
    ]
    return downloaded, [
        Table.from_text_rows(["name", "pairs", "verified by", "folder"], rows, (0, 2, 3))
    ]


def _add_test_sets(options: argparse.Namespace) -> TestSetResult:
    added = testset_operations.add_test_set(options.names[0], options.name)
    rows = [
        [one["name"], format_count(len(one["langpairs"]), "pair"), one["path"]] for one in added
    ]
    return added, [Table.from_text_rows(["name", "pairs", "path"], rows, (0, 1, 2))]


def _verify_test_sets(options: argparse.Namespace) -> TestSetResult:
    files = testset_operations.verify_test_sets(next(iter(options.names), None), options.registry)
    rows = [[one["name"], one["problem"] or "valid", one["path"]] for one in files]
    if not rows:
        return [], [Paragraph("No test set is installed.")]
    return files, [Table.from_text_rows(["name", "status", "file"], rows, (0, 1, 2))]


def _find_test_set_path(options: argparse.Namespace) -> TestSetResult:
    name = options.names[0]
    path = testset_operations.find_folder(name, options.language, options.registry)
    return [{"name": name, "path": path}], [Paragraph(path)]


def _remove_test_sets(options: argparse.Namespace) -> TestSetResult:
    removed = [testset_operations.remove_test_set(name) for name in options.names]
    lines = [f"{one['name']}: {one['size'] / 1e6:,.1f} MB removed" for one in removed]
    return removed, [Paragraph(line) for line in lines]


def _show_fields(options: argparse.Namespace, output: Results) -> None:
    """Write tab-separated fields, like sacreBLEU's --echo."""
    if output.form != "text":
        raise UsageError("-f/--format has no effect with show")
    if options.language is None:
        raise UsageError("show needs a language pair, such as -l en-de")
    name, *fields = options.names
    filters = {name: getattr(options, name) for name in files.FILTER_OPTIONS}
    rows = testset_operations.show_fields(
        name, options.language, fields or ("src", "ref"), **filters, registry=options.registry
    )
    for row in rows:
        cells = map(escape_unprintable, row) if output.is_terminal else row
        output.write("\t".join(cells) + "\n")


# The function of each action, and the minimum and maximum number of test set names that it accepts.
ACTIONS: dict[str, tuple[Callable[..., Any], int, int | None]] = {
    "list": (_list_test_sets, 0, 1),
    "info": (_describe_test_set, 1, 1),
    "get": (_download_test_sets, 1, None),
    "add": (_add_test_sets, 1, 1),
    "show": (_show_fields, 1, None),
    "verify": (_verify_test_sets, 0, 1),
    "path": (_find_test_set_path, 1, 1),
    "remove": (_remove_test_sets, 1, None),
}
ACTION = OptionGroup(
    "action",
    """
    action ACTION         run list [PATTERN], info NAME, get NAME..., add PATH,
                          show NAME [FIELD...], verify [NAME], path NAME, or remove NAME...
    names NAME            apply the action to this test set, pattern or path
    -l --language TAG     select this language pair, such as en-de
    --name NAME           with add, use NAME as the name of the added test set
    --all-since YEAR      with get, download all test sets published in YEAR or later
    """,
    action={"choices": tuple(ACTIONS)},
    names={"nargs": "*", "default": ()},
    all_since={"type": shared.make_integer_type(1, 9999)},
)
COMMAND = Command(
    "truebleu testset ACTION [NAME...] [options]",
    __doc__,
    lambda _: [
        ACTION,
        OptionGroup("show: selection", files.FILTERS),
        OptionGroup("downloads", *shared.DOWNLOADS, files.REGISTRY),
        shared.make_output_group(shared.VIEW_FORMATS, "text", shared.COLOR),
        shared.RUNNING_QUIETLY,
    ],
    run,
)
