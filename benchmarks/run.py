"""Compare truebleu with its peers: `make bench`, or `python benchmarks/run.py [NAME ...]`.

The script prints a table per topic. A complete run also writes the tables, with a description of
the machine, to benchmarks/results.md and benchmarks/results.json.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import bleu_rows  # noqa: F401  registers its benchmarks
import command_rows  # noqa: F401
import corpus
import declared_rows  # noqa: F401
import engine_rows  # noqa: F401
import report
import set_rows  # noqa: F401
from benchmark_table import BENCHMARKS, TOPICS, run_benchmark


def main() -> None:
    """Run the benchmarks that the command line names, or all benchmarks."""
    arguments = _parse_arguments()
    print(f"Text: {corpus.describe_source()}.", file=sys.stderr)
    rows: list[dict[str, Any]] = []
    for name in arguments.names or BENCHMARKS:
        print(f"{name}: {BENCHMARKS[name].__doc__}", file=sys.stderr)
        measured = run_benchmark(name, arguments.runs)
        rows += [report.row_to_dict(TOPICS[name], row) for row in measured]
    print(report.format_page("tables.md.j2", {"rows": rows}))
    if not arguments.names:
        report.write_results(rows, arguments.runs)
        print("Written to benchmarks/results.json and results.md.", file=sys.stderr)


def _parse_arguments() -> argparse.Namespace:
    names = "\n".join(f"  {name:<14} {function.__doc__}" for name, function in BENCHMARKS.items())
    parser = argparse.ArgumentParser(
        description="Compare the speed of truebleu and its peers.",
        epilog=f"benchmarks:\n{names}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    which = "benchmarks to run (default: all, and write the results)"
    parser.add_argument("names", nargs="*", metavar="NAME", help=which)
    most = "maximum number of runs of each contender (default: %(default)s)"
    parser.add_argument("--runs", type=int, default=7, help=most)
    arguments = parser.parse_args()
    if unknown := sorted(set(arguments.names) - set(BENCHMARKS)):
        expected = ", ".join(BENCHMARKS)
        parser.error(f"unknown benchmark {', '.join(unknown)} (expected one of {expected})")
    return arguments


if __name__ == "__main__":
    main()
