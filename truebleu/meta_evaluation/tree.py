"""The folders of mt-metrics-eval: people's scores, metrics' scores and text of a test set.

human-scores/PAIR.NAME.LEVEL.score           people's scores; level sys, domain, doc or seg
metric-scores/PAIR/METRIC-REF.LEVEL.score    a metric's; REF is src, all, or references
documents/PAIR.docs                          "DOMAIN DOCUMENT" of each segment
sources/PAIR.txt, references/PAIR.REF.txt, system-outputs/PAIR/SYSTEM.txt
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from truebleu._kernel import InputError
from truebleu.meta_evaluation import files
from truebleu.text.checks import nearest
from truebleu.text.segments import File
from truebleu.text.system import join_safe

if TYPE_CHECKING:
    from truebleu.meta_evaluation.matrix import Matrix

LEVELS = ("sys", "domain", "doc", "seg")
HUMAN, METRICS = "human-scores", "metric-scores"
# A metric that reads no reference.
FREE = "src"


class Tree:
    """A test set in the folders of mt-metrics-eval."""

    def __init__(self, folder: str | os.PathLike[str], test_set: str | None = None) -> None:
        root = os.fspath(folder)
        inside = join_safe(root, test_set) if test_set else root
        self.folder = inside if os.path.isdir(inside) else root
        self.name = test_set
        if not os.path.isdir(os.path.join(self.folder, HUMAN)):
            raise InputError(
                f"{root}: no folder {HUMAN} there; expected the folders of mt-metrics-eval "
                "(human-scores, metric-scores)"
            )

    def _path(self, *parts: str) -> str:
        return join_safe(self.folder, *parts)

    @cache  # noqa: B019 a tree is read once and thrown away
    def _human(self) -> dict[tuple[str, str, str], str]:
        """The files of people's scores by pair, name and level."""
        found = {}
        for name in sorted(os.listdir(self._path(HUMAN))):
            parts = re.fullmatch(r"([^.]+)\.(.+)\.(sys|domain|doc|seg)\.score", name)
            if parts:
                found[parts[1], parts[2], parts[3]] = self._path(HUMAN, name)
        return found

    def pairs(self) -> list[str]:
        """The language pairs that people judged."""
        return list(dict.fromkeys(pair for pair, _, _ in self._human()))

    def check(self, pair: str) -> None:
        """Refuses a language pair that is not there."""
        if pair not in self.pairs():
            raise InputError(
                f"{self.folder}: no human scores of {pair}{nearest(pair, self.pairs())}"
            )

    def golds(self, pair: str) -> list[str]:
        """The names of people's scores of a language pair."""
        return list(dict.fromkeys(name for one, name, _ in self._human() if one == pair))

    def gold(self, pair: str, name: str, level: str) -> Matrix | None:
        """People's scores; None if there are none of this level."""
        path = self._human().get((pair, name, level))
        return None if path is None else files.read(path).matrix

    @cache  # noqa: B019
    def _metrics(self, pair: str) -> dict[str, dict[tuple[str, str], str]]:
        """The files of each metric of a language pair by reference and level."""
        folder = self._path(METRICS, pair)
        found: dict[str, dict[tuple[str, str], str]] = {}
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            parts = re.fullmatch(r"(.+)-([^-]+)\.(sys|domain|doc|seg)\.score", name)
            if parts:
                found.setdefault(parts[1], {})[parts[2], parts[3]] = os.path.join(folder, name)
        return found

    def stored(self, pair: str) -> list[str]:
        """The names of all metrics of a language pair."""
        return list(self._metrics(pair))

    def metrics(self, pair: str, reference: str, levels: Sequence[str]) -> list[str]:
        """The metrics with scores of all these levels by this reference, all, or none."""
        return [
            name
            for name in self._metrics(pair)
            if all(self._file(pair, name, reference, level) for level in levels)
        ]

    def _file(self, pair: str, metric: str, reference: str, level: str) -> tuple[str, str] | None:
        """The reference that a metric's scores are by, and their file."""
        known = self._metrics(pair).get(metric, {})
        for used in (reference, FREE, "all"):
            if (used, level) in known:
                return used, known[used, level]
        for (used, of_level), path in known.items():
            if of_level == level and reference in used.split("."):
                return used, path
        return None

    def metric(self, pair: str, name: str, reference: str, level: str) -> tuple[Matrix, str] | None:
        """A metric's scores, and the reference that they are by; None if there are none."""
        found = self._file(pair, name, reference, level)
        return None if found is None else (files.read(found[1]).matrix, found[0])

    def unknown(self, pair: str, name: str, reference: str) -> InputError:
        """The error for a metric that has no scores there."""
        known = self._metrics(pair)
        if name in known:
            there = ", ".join(sorted({f"{used} ({level})" for used, level in known[name]}))
            return InputError(
                f"{self.folder}: {name} has no scores by {reference} of {pair}; there are {there}"
            )
        return InputError(f"{self.folder}: no metric '{name}' for {pair}{nearest(name, known)}")

    def references(self, pair: str) -> list[str]:
        """The names of translations by people, and of other references."""
        folder = self._path("references")
        start, end = f"{pair}.", ".txt"
        return [
            name[len(start) : -len(end)]
            for name in sorted(os.listdir(folder) if os.path.isdir(folder) else ())
            if name.startswith(start) and name.endswith(end)
        ]

    def reference(self, pair: str, name: str) -> File:
        """The text of a reference."""
        return self._text("references", f"{pair}.{name}.txt")

    def source(self, pair: str) -> File:
        """The text of the source."""
        return self._text("sources", f"{pair}.txt")

    def output(self, pair: str, system: str) -> File:
        """The text of a system."""
        return self._text("system-outputs", pair, f"{system}.txt")

    def has_output(self, pair: str, system: str) -> bool:
        """Return whether the text of a system is in the tree."""
        return os.path.isfile(self._path("system-outputs", pair, f"{system}.txt"))

    def _text(self, *parts: str) -> File:
        path = self._path(*parts)
        if not os.path.isfile(path):
            raise InputError(f"{path}: not there; metrics are computed from the text of the tree")
        return File(path)

    def documents(self, pair: str) -> tuple[list[str], list[str]] | None:
        """The domain and the document of each segment."""
        path = self._path("documents", f"{pair}.docs")
        if not os.path.isfile(path):
            return None
        domains, documents = [], []
        for number, line in enumerate(File(path).lines(), 1):
            domain, _, document = line.strip().partition("\t" if "\t" in line else " ")
            if not document:
                raise InputError(f"{path}, line {number}: expected a domain and a document")
            domains.append(domain)
            documents.append(document.strip())
        return domains, documents
