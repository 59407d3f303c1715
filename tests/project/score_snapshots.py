"""Scores recorded at each release; the changelog must list changes of scores.

`python tests/project/score_snapshots.py` writes recorded.json for the newest release in
CHANGELOG.md.
"""

import json
import re
import sys
import warnings
from pathlib import Path

import truebleu as tb
from truebleu.metrics import registry
from truebleu.metrics.base import MetricFailedError

sys.path.insert(0, str(Path(__file__).parents[1]))

from optional_tools import lacking

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"

# Texts on which tools differ: empty, long and short segments, entities, scripts, marks and spaces.
TRICKY = (
    ("", ""),
    ("", "a reference"),
    ("a hypothesis", ""),
    ("the the the the the the the", "the cat is on the mat"),
    ("It &quot;costs&quot; $1,234.50 &amp; more.", "It \u201ccosts\u201d $1,234.5 & more!"),
    ("state-of-the-art, e.g. 3.14-fold", "state of the art, e.g. 3.14 fold"),
    ("Stra\u00dfe \u0130stanbul caf\u00e9 cafe\u0301", "STRASSE Istanbul cafe\u0301 caf\u00e9"),
    ("\u732b\u5728\u57ab\u5b50\u4e0a\u3002", "\u90a3\u53ea\u732b\u5728\u57ab\u5b50\u4e0a\uff01"),
    ("a\u00a0b\u2009c  d", "a b c d"),
    ("\U0001f600\U0001f44d\U0001f3fd ok", "\U0001f600 \U0001f44d ok"),
    ("one two three four five six", "one two three four five seven"),
)


def read_snapshot_texts() -> dict[str, tuple[list[str], list[str], list[str]]]:
    """Hypotheses, references and sources, by name."""

    def lines(name: str) -> list[str]:
        return (EXAMPLES / name).read_text("utf-8").splitlines()

    corpora = {
        system: (
            lines(f"de-en/{system}.en"),
            lines("de-en/reference.a.en"),
            lines("de-en/source.de"),
        )
        for system in ("cedar", "birch", "aspen")
    }
    chinese = (lines("en-zh/birch.zh"), lines("en-zh/reference.zh"), lines("en-zh/source.en"))
    hypotheses, references = map(list, zip(*TRICKY, strict=True))
    return {**corpora, "Chinese": chinese, "tricky": (hypotheses, references, references)}


def list_metric_names() -> list[str]:
    """Return the metrics that need nothing besides, and the members of the family."""
    variants = [f"bleu|tok:{name}" for name in ("none", "intl", "zh", "char")]
    return [*dict.fromkeys([*registry.METRICS, *tb.family]), *variants]


def compute_snapshots() -> dict[str, list[float | None]]:
    """Return each available metric's scores per text; None if it refuses a text."""
    snapshots = {}
    for name in list_metric_names():
        metric = tb.metric(name.replace("bleu|", "BLEU|nrefs:1|"))
        row = (
            []
            if lacking(name)
            else [compute_score(metric, *text) for text in read_snapshot_texts().values()]
        )
        if any(row):
            snapshots[name] = row
    return snapshots


def compute_score(metric, hypotheses: list[str], references: list[str], sources: list[str]):
    """Return the score of one text."""
    extra_arguments = {"sources": sources} if getattr(metric, "NEEDS_SOURCE", False) else {}
    with warnings.catch_warnings(action="ignore"):
        try:
            return metric.score(hypotheses, references, **extra_arguments).value
        except (ImportError, ValueError, MetricFailedError):
            return None


def main() -> None:
    """Write the record."""
    changelog = (HERE.parents[1] / "CHANGELOG.md").read_text("utf-8")
    releases = re.findall(r"^## \[(\d.*?)\]", changelog, re.MULTILINE)
    rows = ",\n".join(
        f"{json.dumps(name)}: {json.dumps(row)}" for name, row in compute_snapshots().items()
    )
    release = json.dumps(releases[0] if releases else None)
    texts = json.dumps([*read_snapshot_texts()])
    text = f'{{"release": {release},\n"texts": {texts},\n"scores": {{\n{rows}\n}}}}\n'
    (HERE / "recorded.json").write_text(text, encoding="utf-8")
    sys.stdout.write(f"{len(compute_snapshots())} metrics\n")


if __name__ == "__main__":
    main()
