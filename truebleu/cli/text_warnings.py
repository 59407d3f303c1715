"""Warnings about the text that was scored: one line each, on standard error."""

from __future__ import annotations

from truebleu.cli import metric_options
from truebleu.cli.inputs import path_of
from truebleu.cli.output import complain
from truebleu.text.layout import listed
from truebleu.text.segments import is_lasting

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from truebleu._kernel import Summary
    from truebleu.cli.inputs import Inputs
    from truebleu.cli.scores import Scored
    from truebleu.metrics.base import Metric, Score
    from truebleu.text.files import File

# Hypotheses that end in " .": so many are too many, and so many if they are 1 % of all.
# The first is sacreBLEU's.
MANY_TOKENIZED = 100
SOME_TOKENIZED = 10

# Copies of the reference, among so many segments at least, are suspicious if they are over half.
FEW_SEGMENTS = 20

# A tokenizer that makes fewer tokens of a segment with more characters does not split it.
FEW_TOKENS = 2
MANY_CHARACTERS = 20


def merged(one: Summary | None, more: Summary) -> Summary:
    """The summary of two pieces of a text, the second of which follows the first."""
    if one is None:
        return more
    count, first = one["tokenized"]
    more_count, more_first = more["tokenized"]
    made: Summary = {
        # Script and marks are looked for at the beginning only.
        **one,
        "segments": one["segments"] + more["segments"],
        "identical": one["identical"] + more["identical"],
        "tokenized": (count + more_count, [*first, *more_first][: max(len(first), 3)]),
    }
    if "tokens" in one and "tokens" in more:
        made["tokens"] = one["tokens"] + more["tokens"]
    return made


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
    tokenize = metric_options.tokenizer(metrics)
    of_text = of_texts(seen, references, tokenize, metric_options.known_tag(options))
    for line in of_text + (of_systems(inputs.systems, scores) if scores else []):
        complain("warning", line)


def warn_of_scores(options: argparse.Namespace, scores: Iterable[Scored]) -> None:
    """Print each warning that scores have once, on standard error."""
    if not options.quiet:
        for line in dict.fromkeys(line for one in scores for line in one.score.warnings):
            complain("warning", line)


def of_texts(
    seen: Mapping[str, Summary],
    references: Sequence[str],
    tokenize: str | None,
    language: str | None = None,
) -> list[str]:
    """The warnings about each system's text, from its summary.

    tokenize: None if no metric splits the text into words by it.
    language: the tag that was given for it.

    >>> noticed = dict(segments=2, identical=2, tokenized=(0, []), marked=[])
    >>> noticed |= dict(characters=(2, 9), scripts={"latin": 8})
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
            *_of_languages(noticed, tokenize, language),
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


def _of_languages(noticed: Summary, tokenize: str | None, language: str | None) -> Iterator[str]:
    """What the script of the text says of tokenizer, language and references."""
    _, characters = noticed["characters"]
    scripts = shares(noticed)
    # Text in letters that every tokenizer splits is not worth the import.
    if language is None and sum(scripts.get(name, 0) for name in PLAIN_SCRIPTS) > PLAIN:
        yield _in_one_piece(noticed, tokenize)
        return
    from truebleu.text import languages

    meant = None if language is None else languages.target(language)
    told = ""
    if meant is not None and characters >= MANY_CHARACTERS:
        told = languages.contradiction(meant, scripts)
    # Of a language that was named, advice has been given.
    if not told and tokenize is not None and not (meant and languages.advice(meant, None)):
        told = languages.looks_unsplit(scripts, tokenize)
    yield told or _in_one_piece(noticed, tokenize)
    if noticed["han"]:
        own, *others = map(languages.characters, noticed["han"])
        named = meant.characters if meant else ""
        if own and others and all(others) and own not in others:
            yield f"this is {own} Chinese, and the references are {others[0]}; words hardly match"
        elif own and named and own != named:
            yield f"this is {own} Chinese, and -l {language} is {named}"


# With this share of such letters, no other script is worth a word.
PLAIN_SCRIPTS = ("latin", "cyrillic", "greek", "arabic", "hebrew", "devanagari", "bengali")
PLAIN = 0.7


def shares(noticed: Summary) -> dict[str, float]:
    """The share of each script in the characters at the beginning of the text.

    White space is no character here; punctuation and digits are, and have no script.
    """
    _, characters = noticed["characters"]
    return {name: count / characters for name, count in noticed.get("scripts", {}).items()}


def _in_one_piece(noticed: Summary, tokenize: str | None) -> str:
    segments, characters = noticed["characters"]
    tokens = noticed.get("tokens")
    if tokens is None or not segments or characters <= MANY_CHARACTERS * segments:
        return ""
    if tokens >= FEW_TOKENS * noticed["segments"]:
        return ""
    return (
        f"the tokenizer {tokenize} leaves {tokens / noticed['segments']:.1f} tokens of a segment "
        f"with {characters / segments:.0f} characters; -tok char splits any text"
    )


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
