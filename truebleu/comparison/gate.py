"""A gate for builds: is a score below its floor, or worse than an earlier one by too much?

rules.py   from scores to what holds and what does not
blocks.py  from the dict to what a reader sees
junit.py   from the dict to the XML that build servers read

The dict that `Check.to_dict` gives is the contract; every format is made of it alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from truebleu.rendering.view import View
from truebleu.text import checks

if TYPE_CHECKING:
    from truebleu.comparison.gate_rules import Scoring
    from truebleu.metrics.base import Metric
    from truebleu.rendering.blocks import Block
    from truebleu.text import inputs


class Check(View):
    """What was asked of a system's scores, and whether it holds. `bool(check)` says whether."""

    __slots__ = ()

    KIND = "check"

    @classmethod
    def of(cls, scoring: Scoring) -> Self:
        """The check that was asked for."""
        return cls({f"truebleu_{cls.KIND}": cls.VERSION, **scoring.content()})

    @property
    def passed(self) -> bool:
        """True if all conditions hold, and there is one at least."""
        conditions = [one["passed"] for one in self._conditions()]
        return bool(conditions) and all(conditions)

    @property
    def failures(self) -> list[str]:
        """A sentence for each thing that does not hold."""
        return [one["told"] for one in self._conditions() if not one["passed"]]

    def _conditions(self) -> Iterator[Mapping[str, Any]]:
        return (one for metric in self._content["metrics"] for one in metric["conditions"])

    def __bool__(self) -> bool:
        return self.passed

    def to_dict(self) -> dict[str, Any]:
        """Everything, in the types of JSON, every number with all of its digits.

        system, segments; passed; `earlier`: the names of the log and of the output that scores
            were compared with, or None.
        metrics: name, signature, higher_is_better, score, `earlier` (the scores before, by where
            they are from: "log", "output") and `conditions`: kind ("floor", "drop", "chance"),
            passed, limit, measured, and `told`, the sentence.
        documents, fallen: where it fell, the worst first: `documents` (name, segments, score,
            earlier), and the segments that `fallen` (number, score, earlier, hypothesis, before,
            references), by `metric`. Empty unless something fell against an earlier output.
        """
        return super().to_dict()

    def junit(self) -> str:
        """JUnit's XML, as build servers read it: a test case for each condition."""
        from truebleu.comparison import junit

        return junit.of_content(self._content)

    def _blocks(self, *, digits: int | None, short: bool) -> Iterator[Block]:
        from truebleu.comparison import gate_blocks as blocks

        return blocks.of_content(self._content, 2 if digits is None else digits, short=short)

    def _title(self) -> str:
        return f"{self._content['system']}: {'passed' if self.passed else 'failed'}"

    def __repr__(self) -> str:
        told = "passed" if self.passed else f"failed: {'; '.join(self.failures)}"
        return f"<Check of {self._content['system']}: {told}>"


def check(
    hypotheses: inputs.Hypotheses,
    references: inputs.References,
    *,
    metrics: Sequence[str | Metric] = ("bleu",),
    minimum: float | Mapping[str, float] | None = None,
    max_drop: float | Mapping[str, float] | None = None,
    log: str | os.PathLike[str] | None = None,
    name: str | None = None,
    keep: bool = False,
    against: inputs.Hypotheses | None = None,
    significant: bool = False,
    level: float = 0.95,
    samples: int | None = None,
    seed: int | None = checks.DEFAULT_SEED,
    source: inputs.Hypotheses | None = None,
    documents: Any = None,
    workers: int = 1,
) -> Check:
    """Whether scores are as good as they must be. Nothing is raised for scores that are not.

    hypotheses, references: as `BLEU.score` takes them.
    metrics: names, members of the family, signatures or metrics, as `truebleu.metric` takes them.
    minimum: the least score; for metrics of which lower is better (TER, WER), the most. With
        several metrics a number by the name of each.
    max_drop: by how much a score may be worse than the earlier one: the last in the `log` that is
        of the same name, signature and references, or else that of `against`.
    log: a log of scores, as `truebleu score --log` writes it.
    name: what is followed in it; the name of the file of hypotheses if not given.
    keep: adds the scores to the log if everything holds.
    against: an earlier output for the same references. What fell is then named, by document and
        by segment.
    significant: a score must not be worse than that of `against` by more than chance makes:
        by approximate randomization, p < 1 - `level`. samples, seed: see `compare`.
    source, documents, workers: see `compare`.

    Raises ValueError for what cannot be asked, such as a condition that no output could fail;
    `IncomparableError` (a ValueError) for a log that is missing, or has no score of this name,
    signature and references; InputError as `compare` does, and if there is no finite score.

    >>> references = ["the cat is on the mat", "nobody was there"] * 5
    >>> made = check(["the cat is on a mat", "nobody was there"] * 5, references, minimum=70)
    >>> made.passed, made.failures
    (False, ['BLEU 59.69 is below the floor of 70'])
    """
    from truebleu.comparison import gate_rules as rules

    asked = rules.Asked(
        minimum=minimum,
        max_drop=max_drop,
        log=log,
        name=name,
        keep=keep,
        against=against,
        significant=significant,
    )
    scoring = rules.Scoring(
        asked,
        hypotheses,
        references,
        metrics,
        level=level,
        samples=samples,
        seed=seed,
        source=source,
        documents=documents,
        workers=workers,
    )
    return Check.of(scoring)
