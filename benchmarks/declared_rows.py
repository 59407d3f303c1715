"""The benchmarks that comparisons.toml declares."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import corpus
from benchmark_table import Comparison, benchmark
from measure import find_python, make_job

CORPORA: dict[str, Callable[[], corpus.Corpus]] = {
    "million": corpus.load_million,
    "test_set": corpus.load_test_set,
    "sentences": partial(corpus.load_sentences, range(22, 29), 2000),
}
WRITERS = {"candidates": corpus.write_candidates, "captions": corpus.write_captions}


def find_files(text: str) -> tuple[Path, ...]:
    """Return the files of a text such as "million:2000/hypotheses"."""
    whole, _, side = text.partition("/")
    name, _, count = whole.partition(":")
    if name in WRITERS:
        return (WRITERS[name](int(count)),)
    loaded = CORPORA[name]()
    files = (loaded.head(int(count)) if count else loaded).files
    return files[:1] if side == "hypotheses" else files


def make_comparison(fields: dict[str, Any]) -> Comparison:
    """Return the comparison of an entry in comparisons.toml."""
    known = {key: value for key, value in fields.items() if key != "needs"}
    for field in ("own", "peer_job", "check"):
        if field not in fields:
            continue
        name, *arguments = fields[field]
        values: list[object] = []
        for argument in arguments:
            is_text = str(argument).startswith("@")
            values += find_files(argument[1:]) if is_text else [argument]
        python = find_python(fields.get("needs", "truebleu") if field == "peer_job" else "truebleu")
        known[field] = make_job(name, *values, python=python) if python else None
    return Comparison(**known)


def _add_declared_benchmark(declared: dict[str, Any], name: str) -> None:
    def make_comparisons() -> Iterator[Comparison]:
        yield from map(make_comparison, declared["rows"])

    make_comparisons.__name__, make_comparisons.__doc__ = name, declared["description"]
    benchmark(declared["topic"])(make_comparisons)


for _name, _declared in tomllib.loads(
    Path(__file__).with_name("comparisons.toml").read_text("utf-8")
).items():
    _add_declared_benchmark(_declared, _name)
