"""Options for tables (Parquet, CSV, JSON), and detection of table files."""

from __future__ import annotations

import argparse
import os

from truebleu._kernel import InputError
from truebleu.cli.common_options import OptionGroup
from truebleu.cli.input_files import split_system_name
from truebleu.cli.output import UsageError
from truebleu.text.segments import NO_TABLE_FILES, expand_home, get_table_format

# Options for tables, as attributes of the parsed options.
TABLE_OPTION_NAMES = ("hyp_column", "ref_column", "by", "join", "nulls", "unjoined", "memory")
# Additional options of commands that compare systems.
COMPARISON_OPTION_NAMES = ("within", "bucket")


TABLE_HELP = (
    "REF and HYP can be tables: files that end in .parquet .csv .jsonl .ndjson .json (all but\n"
    ".parquet also with .gz .zst), directories, or quoted patterns ('out/*.parquet'). A .tsv\n"
    "file is a table if one of these options is used, otherwise a text file. Hypotheses are\n"
    "in REF, or in HYP if --join matches its rows. Tables may exceed memory. DuckDB reads\n"
    "them: pip install 'truebleu[duckdb]'"
)
MISSING_ROW_CHOICES = ("raise", "skip")


def make_table_group(by_help_text: str) -> OptionGroup:
    """Return the options for tables; `by_help_text` is the help text of --by."""
    return OptionGroup(
        "tables",
        f"""
        --hyp-column NAME...   read hypotheses from these columns, one per system (default: hyp)
        --ref-column NAME...   read references from these columns (default: ref)
        --by NAME...           {by_help_text}
        --join NAME...         join rows of HYP and REF with equal ids in these columns
        --nulls raise|skip     fail on missing hypotheses or references, or skip these rows
                               (default: raise)
        --unjoined raise|skip  fail on ids that are missing in a system or in REF, or skip these
                               rows (default: raise)
        --memory SIZE          limit the memory of DuckDB, which uses temporary files beyond SIZE
                               (default: 384MB with one thread)
        """,
        description=TABLE_HELP,
        nulls={"choices": MISSING_ROW_CHOICES},
        unjoined={"choices": MISSING_ROW_CHOICES},
    )


def uses_tables(options: argparse.Namespace) -> bool:
    """Return whether REF and HYP are tables.

    Raise UsageError for a mixture of tables and text files, or for options without effect. Raise
    InputError for a folder without tables.
    """
    if getattr(options, "test_set", None) is not None:
        return _reject_table_options(options)
    paths = [*options.references, *(split_system_name(word)[1] for word in options.input or ())]
    is_by_document = options.command == "score" and "document" in (options.by or ())
    table_flags = [
        name.replace("_", "-")
        for name in (*TABLE_OPTION_NAMES, *COMPARISON_OPTION_NAMES)
        if getattr(options, name, None) is not None
        # For text files, --by selects tables of a comparison, or scores each document.
        and not (name == "by" and (options.command == "compare" or is_by_document))
    ]
    tables = [name for name in paths if is_table(name, accept_tsv=bool(table_flags))]
    lines = [name for name in paths if name not in tables]
    for name in lines:
        if os.path.isdir(expand_home(name)):
            raise InputError(f"{name}: {NO_TABLE_FILES}")
    if not tables:
        if table_flags:
            hint = ", or --docs and --by document" if options.command == "score" else ""
            flag = f"--{table_flags[0]}"
            raise UsageError(
                f"{flag} needs tables{hint if flag == '--by' else ''}, but REF and HYP are text "
                "files"
            )
        return False
    if lines:
        kind = "directory of tables" if os.path.isdir(tables[0]) else "table"
        raise UsageError(
            f"expected only tables or only text files, but {lines[0]} is a text file and "
            f"{tables[0]} is a {kind}"
        )
    if not options.references:
        raise UsageError("missing REF: name at least one table with references")
    incompatible_options = {
        "-nr/--num-refs": options.num_refs != 1 and "Use --ref-column",
        "-e/--encoding": options.encoding != "utf-8" and "Tables must be UTF-8",
        "-src/--source": options.source and "Save the texts as text files",
        "--log": getattr(options, "log", None) and "Save the texts as text files",
        "--docs": getattr(options, "docs", None) and "Use --by or --within",
        "-ci/--confidence": options.command == "score"
        and any(getattr(options, name, None) is not None for name in ("confidence", "confidence_n"))
        and "Use truebleu compare --bucket ID",
        "--scores": getattr(options, "scores", None) and "Save the texts as text files",
        "--labels": getattr(options, "labels", None) and "Save the texts as text files",
        "--resample": getattr(options, "resample", "segments") == "documents"
        and "Use --bucket with a column of ids, or --within",
    }
    for option, reason in incompatible_options.items():
        if reason:
            raise UsageError(f"{option} does not support tables. {reason}")
    return True


def _reject_table_options(options: argparse.Namespace) -> bool:
    """Return False. Raise UsageError for table options that have no effect with a test set."""
    for name in (*TABLE_OPTION_NAMES, *COMPARISON_OPTION_NAMES):
        if name != "by" and getattr(options, name, None) is not None:
            raise UsageError(f"--{name.replace('_', '-')} has no effect with -t/--test-set")
    return False


def is_table(name: str, *, accept_tsv: bool = False) -> bool:
    """Return whether an argument names tables. With `accept_tsv`, these include TSV files."""
    formats = {"parquet", "csv", "json", *(["tsv"] if accept_tsv else [])}
    if get_table_format(name) in formats:
        return True
    name = expand_home(name)
    return os.path.isdir(name) and any(
        get_table_format(file) in formats for _, _, files in os.walk(name) for file in files
    )
