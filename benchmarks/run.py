"""Compare truebleu with its peers: `make bench`, or `python benchmarks/run.py [NAME ...]`.

The script prints one table. A complete run also writes the table, with a description of the
machine, to benchmarks/results.md and benchmarks/results.json.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import bleu_rows  # noqa: F401  registers its benchmarks
import command_rows  # noqa: F401
import corpus
import engine_rows  # noqa: F401
import language_rows  # noqa: F401
import length_rows  # noqa: F401
import report
import set_rows  # noqa: F401
from benchmark_table import BENCHMARKS, Row


def main() -> None:
    """Run the benchmarks that the command line names, or all benchmarks."""
    arguments = _parse_arguments()
    names = arguments.names or list(BENCHMARKS)
    print(f"Text: {corpus.describe_source()}.", file=sys.stderr)
    rows: list[Row] = []
    for name in names:
        print(f"{name}: {BENCHMARKS[name].__doc__}", file=sys.stderr)
        rows += BENCHMARKS[name](arguments.runs)
    print(report.format_markdown_table(rows))
    if not arguments.names:
        folder = Path(__file__).parent
        report.write_results(folder, rows, arguments.runs)
        print(f"Written to {folder.name}/results.md and results.json.", file=sys.stderr)


def _parse_arguments() -> argparse.Namespace:
    benchmark_list = "\n".join(
        f"  {name:<11} {function.__doc__}" for name, function in BENCHMARKS.items()
    )
    parser = argparse.ArgumentParser(
        description="Compare the speed of truebleu and its peers.",
        epilog=f"benchmarks:\n{benchmark_list}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="benchmarks to run (default: all, and write the results)",
    )
    parser.add_argument(
        "--runs", type=int, default=7, help="runs of each contender (default: %(default)s)"
    )
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(BENCHMARKS))
    if unknown:
        parser.error(
            f"unknown benchmark {', '.join(unknown)} (expected one of {', '.join(BENCHMARKS)})"
        )
    return arguments


if __name__ == "__main__":
    main()
