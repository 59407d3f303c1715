"""The rows for tokenizers that know a language: MeCab's dictionaries, SentencePiece's models."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

import corpus
from measure import in_turn, job
from rows import Row, benchmark

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LINES = 5_000
"""Lines of European text that models are trained on, and that they split."""

PIECES = 8_000


@benchmark
def languages(runs: int) -> Iterator[Row]:
    """ja-mecab and ko-mecab beside MeCab, spm:FILE beside the library sentencepiece."""
    text = corpus.japanese()
    if text is not None:
        few = text.head(LINES)
        yield from _beside(runs, "ja-mecab", few.hypotheses, few.references[0], "ja")
    korean = corpus.korean()
    yield from _beside(runs, "ko-mecab", korean, korean, "ko")
    european = corpus.million().head(LINES)
    for kind in ("bpe", "unigram"):
        model = _model(kind, european.references[0])
        yield from _beside(
            runs, f"spm:{model}", european.hypotheses, european.references[0], str(model)
        )


def _beside(runs: int, name: str, hypotheses: Path, references: Path, other: str) -> Iterator[Row]:
    """Two files scored, and lines split into lists of strings, beside what the peer gives."""
    is_mecab = name.endswith("mecab")
    peer, work = ("MeCab", "mecab_lines") if is_mecab else ("sentencepiece", "sentencepiece_lines")
    parameters = json.dumps({"tokenize": name})
    costs = in_turn(
        runs,
        {
            "scored": partial(job, "score_files", 1, parameters, hypotheses, references),
            "truebleu": partial(job, "split_lines", name, hypotheses),
            peer: partial(job, work, other, hypotheses),
        },
    )
    own, theirs = costs["truebleu"], costs[peer]
    if own.output != theirs.output:
        raise SystemExit(f"benchmarks: {peer} makes {theirs.output} tokens, not {own.output}")
    count = sum(1 for _ in corpus.read_lines(hypotheses))
    their_line = 1e6 * theirs.processor / count
    called = name if is_mecab else f"spm, {other.rpartition('/')[2].removesuffix('.model')}"
    for what, each, target in (
        ("BLEU of two files, a line", 1e6 * costs["scored"].processor / (2 * count), 1.5),
        ("lines to lists of str, a line", 1e6 * own.processor / count, 0.0),
    ):
        ratio = their_line / each
        promised = target > 0 and is_mecab
        yield Row(
            f"{called}, {count:,} lines: {what}",
            f"≥ {target} × {peer} alone" if promised else "",
            f"{each:.1f} µs",
            f"{peer}, lines to lists {their_line:.1f} µs",
            f"{ratio:.1f} × faster",
            ratio >= target if promised else None,
            dict(costs),
        )


def _model(kind: str, text: Path) -> Path:
    """A model trained on European text."""
    import sentencepiece

    path = corpus.CACHE / "models" / f"{kind}.model"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        sentencepiece.SentencePieceTrainer.train(
            input=str(text),
            model_prefix=str(path.with_suffix("")),
            model_type=kind,
            vocab_size=PIECES,
            num_threads=1,
            minloglevel=2,
        )
    return path
