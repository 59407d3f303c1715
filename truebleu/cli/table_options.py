"""The options of tables (Parquet, CSV, JSON), and whether files are such."""

from __future__ import annotations

import argparse
import os

from truebleu._kernel import InputError
from truebleu.cli.common_options import Group
from truebleu.cli.output import UsageError
from truebleu.text.segments import NO_TABLE_FILES, expand_home, get_table_format

# The options of tables, as the parser calls them.
OPTIONS = ("hyp_column", "ref_column", "by", "join", "nulls", "unjoined", "memory")
# Those of commands that compare.
COMPARED = ("within", "bucket")


FILES = (
    "REF and HYP may be tables: files that end in .parquet .csv .jsonl .ndjson .json (the\n"
    "latter in .gz .zst, too), directories of them, or patterns in quotes ('out/*.parquet');\n"
    ".tsv is a table with one of these options, and lines of text without.\n"
    "Hypotheses are in REF itself, or in HYP and joined by an id. They may be larger than\n"
    "memory. DuckDB reads them: pip install 'truebleu[duckdb]'"
)
CHOICES = ("raise", "skip")


def group(by: str) -> Group:
    """The options of tables; `by` says what its columns are for."""
    return Group(
        "tables",
        f"""
        --hyp-column NAME...   hypotheses, one column per system (hyp)
        --ref-column NAME...   references (ref)
        --by NAME...           {by}
        --join NAME...         the id that a row of HYP has in common with a row of REF, one column
                               or several
        --nulls raise|skip     rows without a hypothesis or reference: an error that counts them
                               (raise), or left out and counted
        --unjoined raise|skip  ids that not every system and REF has: an error (raise), or left out
                               and counted
        --memory SIZE          how much DuckDB may use (384MB with one thread); the rest goes to
                               temporary files
        """,
        about=FILES,
        nulls={"choices": CHOICES},
        unjoined={"choices": CHOICES},
    )


def are_meant(options: argparse.Namespace) -> bool:
    """True if REF and HYP are tables.

    Raises UsageError if some are, or none where one must be, InputError for a folder without any.
    """
    if getattr(options, "test_set", None) is not None:
        return _refused(options)
    named = [*options.references, *(options.input or ())]
    asked = [
        name.replace("_", "-")
        for name in (*OPTIONS, *COMPARED)
        if getattr(options, name, None) is not None
    ]
    tables = [name for name in named if is_table(name, tsv=bool(asked))]
    lines = [name for name in named if name not in tables]
    for name in lines:
        if os.path.isdir(expand_home(name)):
            raise InputError(f"{name}: {NO_TABLE_FILES}")
    if not tables:
        if asked:
            raise UsageError(f"--{asked[0]} is for tables, and REF and HYP are lines of text")
        return False
    if lines:
        kind = "directory of tables" if os.path.isdir(tables[0]) else "table"
        raise UsageError(
            f"{lines[0]} is a file of lines and {tables[0]} is a {kind}; give two of one kind"
        )
    if not options.references:
        raise UsageError("no REF: at least one table with references is needed")
    refused = {
        "-nr/--num-refs": options.num_refs != 1 and "name their columns with --ref-column",
        "-e/--encoding": options.encoding != "utf-8" and "tables are UTF-8",
        "-src/--source": options.source and "no metric of sources reads them",
        "--log": getattr(options, "log", None) and "the log is of files of lines",
        "--docs": getattr(options, "docs", None)
        and "name the column of documents with --by, or --within",
        "--names": getattr(options, "names", None) and "systems are called as their columns are",
        "-ci/--confidence": options.command == "score"
        and any(getattr(options, name, None) is not None for name in ("confidence", "confidence_n"))
        and "only sums are kept; truebleu compare --bucket ID has intervals",
        "--scores": getattr(options, "scores", None) and "they are of lines of text",
        "--labels": getattr(options, "labels", None) and "they are of lines of text",
        "--resample": getattr(options, "resample", "segments") == "documents"
        and "name the column of ids with --bucket, or compare inside documents with --within",
    }
    for option, reason in refused.items():
        if reason:
            raise UsageError(f"{option}: not with tables: {reason}")
    return True


def _refused(options: argparse.Namespace) -> bool:
    """False; raises UsageError for options of tables that a test set has no use for."""
    for name in (*OPTIONS, *COMPARED):
        if name != "by" and getattr(options, name, None) is not None:
            raise UsageError(f"--{name.replace('_', '-')} is for tables, and -t names a test set")
    return False


def is_table(name: str, *, tsv: bool = False) -> bool:
    """True if a word of the command line names files with columns; with `tsv`, TSV too."""
    kinds = {"parquet", "csv", "json", *(["tsv"] if tsv else [])}
    if get_table_format(name) in kinds:
        return True
    name = expand_home(name)
    return os.path.isdir(name) and any(
        get_table_format(file) in kinds for _, _, files in os.walk(name) for file in files
    )
