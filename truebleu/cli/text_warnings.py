"""Warnings about the text that was scored: one line each, on standard error."""

from __future__ import annotations

from truebleu.cli import metric_options
from truebleu.cli.inputs import path_of
from truebleu.cli.output import complain
from truebleu.text import tokenizers
from truebleu.text.layout import listed
from truebleu.text.segments import is_lasting

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping, Sequence

    from truebleu._kernel import Summary
    from truebleu.cli.inputs import Inputs
    from truebleu.metrics.base import Metric, Score
    from truebleu.text.files import File

# Hypotheses that end in " .": so many are too many, and so many if they are 1 % of all.
# The first is sacreBLEU's.
MANY_TOKENIZED = 100
SOME_TOKENIZED = 10

# Copies of the reference, among so many segments at least, are suspicious if they are over half.
FEW_SEGMENTS = 20

# The tokenizers that leave words of a script in one piece, which is written without spaces.
SPLITTERS = {
    # script: (what it is called, the least share of characters, who splits it, whom to suggest)
    "kana": ("Japanese", 0.1, ("char",), "char"),
    "han": ("Chinese", 0.3, ("zh", "char"), "zh"),
    "southeast_asian": ("Thai, Lao, Burmese or Khmer", 0.3, ("char",), "char"),
}


def merged(one: Summary | None, more: Summary) -> Summary:
    """The summary of two pieces of a text, the second of which follows the first."""
    if one is None:
        return more
    count, first = one["tokenized"]
    more_count, more_first = more["tokenized"]
    return {
        # Script and marks are looked for at the beginning only.
        **one,
        "segments": one["segments"] + more["segments"],
        "identical": one["identical"] + more["identical"],
        "tokenized": (count + more_count, [*first, *more_first][: max(len(first), 3)]),
    }


def warn(
    options: argparse.Namespace,
    seen: Mapping[str, Summary],
    inputs: Inputs,
    metrics: Iterable[Metric],
    scores: Mapping[str, Sequence[Score]] | None = None,
) -> None:
    """Says on standard error what looks wrong with the text, and with the scores of systems."""
    if options.quiet:
        return
    references = list(map(path_of, inputs.reference_columns))
    of_text = of_texts(seen, references, metric_options.tokenizer(metrics))
    for line in of_text + (of_systems(inputs.systems, scores) if scores else []):
        complain("warning", line)


def of_texts(
    seen: Mapping[str, Summary], references: Sequence[str], tokenize: str | None
) -> list[str]:
    """The warnings about each system's text, from its summary.

    `tokenize` is None if no metric splits the text into words by it.

    >>> noticed = dict(segments=2, identical=2, tokenized=(0, []), marked=[], scripts={})
    >>> of_texts({"out.txt": noticed}, ["ref.txt"], "13a")
    ['out.txt: all 2 hypotheses are identical to the reference in ref.txt']
    """
    lines: dict[str, list[str]] = {}

    def add(system: str, text: str) -> None:
        lines.setdefault(text, []).append(system)

    for system, noticed in seen.items():
        for number in noticed["marked"]:
            # Marks of references were seen with each system, and are said once.
            name = system if number == 0 else references[number - 1]
            text = "starts with a byte-order mark, which is scored as a part of its first word"
            if name not in lines.get(f"{text}; -e utf-8-sig drops it", []):
                add(name, f"{text}; -e utf-8-sig drops it")
        for text in (
            _tokenized(noticed, tokenize),
            _unsplit(noticed["scripts"], tokenize),
            _identical(noticed, references[0]),
        ):
            if text:
                add(system, text)
    return [f"{listed(names)}: {text}" for text, names in lines.items()]


def _tokenized(noticed: Summary, tokenize: str | None) -> str:
    count, first = noticed["tokenized"]
    segments = noticed["segments"]
    many = count >= MANY_TOKENIZED or (count >= SOME_TOKENIZED and count >= segments / 100)
    if not many or tokenize in (None, "none"):
        return ""
    lines = listed([str(number) for number in first])
    return (
        f'{count} of {segments} lines look tokenized, ending in " ." (the first are {lines}); BLEU '
        "is for text as people write it: detokenize it first"
    )


def _unsplit(scripts: Mapping[str, int], tokenize: str | None) -> str:
    # A tokenizer with a dictionary or a model knows its language.
    if tokenize is None or tokenize not in tokenizers.KERNEL:
        return ""
    for script, (language, share, splitters, advice) in SPLITTERS.items():
        if scripts.get(script, 0) > share * scripts.get("characters", 0):
            if tokenize in splitters:
                return ""
            return (
                f"this looks like {language}, which has no spaces between words; the tokenizer "
                f"{tokenize} leaves it in long pieces, and -tok {advice} splits it"
            )
    return ""


def _identical(noticed: Summary, reference: str) -> str:
    count, segments = noticed["identical"], noticed["segments"]
    if count == segments:
        return f"all {count} hypotheses are identical to the reference in {reference}"
    if segments >= FEW_SEGMENTS and count > segments / 2:
        return f"{count} of {segments} hypotheses are identical to the reference in {reference}"
    return ""


def of_systems(systems: Mapping[str, File], scores: Mapping[str, Sequence[Score]]) -> list[str]:
    """The systems that have the same text as one before; only the same scores make one look."""
    lines = []
    names = list(systems)
    for i, name in enumerate(names):
        for other in names[:i]:
            if scores[name] == scores[other] and _same(systems[name], systems[other]):
                lines.append(f"{other} and {name}: these outputs are identical")
                break
    return lines


def _same(one: File, other: File) -> bool:
    """True if two files of the same length have the same lines."""
    if not (is_lasting(one.path) and is_lasting(other.path)):
        return False
    return all(a == b for a, b in zip(one.lines(), other.lines(), strict=False))
