"""Warnings about the text that was scored, which are a part of the results in every format.

A warning is a dict in the types of JSON: its `kind`, its `text` for a reader, and where they are
known the `systems` and `metrics` that it is about, and the `option` that helps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from truebleu._kernel import Scores, Table
from truebleu.metrics.base import Metric, Score
from truebleu.text.segments import File, is_rereadable
from truebleu.text.terminal_layout import join_words

if TYPE_CHECKING:
    from truebleu._kernel import Summary

    Warnings = list[dict[str, Any]]

# Hypotheses that end in " .": so many are too many, and so many if they are 1 % of all.
# The first is sacreBLEU's.
MANY_TOKENIZED = 100
SOME_TOKENIZED = 10

# Copies of the reference, among so many segments at least, are suspicious if they are over half.
FEW_SEGMENTS = 20

# Text is in another Unicode form if such a share of the first segments has letters with separate
# accents, and so many times fewer of the other text.
MANY_DECOMPOSED = 0.05
TIMES_FEWER = 5

# A tokenizer that makes fewer tokens of a segment with more characters does not split it.
FEW_TOKENS = 2
MANY_CHARACTERS = 20


def merged(one: Summary | None, more: Summary) -> Summary:
    """The summary of two pieces of a text, the second of which follows the first."""
    if one is None:
        return more

    def joined(pair: tuple[tuple[int, list[int]], tuple[int, list[int]]]) -> tuple[int, list[int]]:
        (count, first), (more_count, more_first) = pair
        return count + more_count, [*first, *more_first][: max(len(first), 3)]

    made: Summary = {
        # Scripts, marks and tabs are looked for at the beginning only.
        **one,
        "segments": one["segments"] + more["segments"],
        "identical": one["identical"] + more["identical"],
        "tokenized": joined((one["tokenized"], more["tokenized"])),
        "empty": [joined(pair) for pair in zip(one["empty"], more["empty"], strict=False)],
    }
    if "tokens" in one and "tokens" in more:
        made["tokens"] = one["tokens"] + more["tokens"]
    return made


# The kind of a warning that its metrics' scores do not tell systems apart.
UNSPLIT = "unsplit"


def of_texts(
    seen: Mapping[str, Summary],
    references: Sequence[str],
    metrics: Mapping[Metric[Any], str],
    language: str | None = None,
) -> Warnings:
    """Return the warnings about each system's text, from its summary.

    metrics: the metrics and their names.
    language: the tag that was given for it.

    >>> noticed = dict(segments=2, identical=2, tokenized=(0, []), marked=[])
    >>> noticed |= dict(characters=(2, 9), scripts={"latin": 8})
    >>> [warning["text"] for warning in of_texts({"out.txt": noticed}, ["ref.txt"], {})]
    ['out.txt: all 2 hypotheses are identical to the reference in ref.txt']
    """
    found: dict[tuple[str, str], list[str]] = {}
    first = next((one for one in metrics if "tokenize" in one.parameters), None)
    tokenize = None if first is None else str(first.parameters["tokenize"])
    # The references of all systems are the same.
    made = list(of_references(seen, metrics))
    made += [
        {"kind": "parameters", "systems": [], "metrics": [name], "text": f"{name}: {line}"}
        for metric, name in metrics.items()
        for line in metric.warnings
    ]

    def add(kind: str, system: str, text: str) -> None:
        names = found.setdefault((kind, text), [])
        if system not in names:
            names.append(system)

    def name_of(number: int) -> str:
        """Return the name of an input; references that come in lists share one."""
        return references[min(number, len(references)) - 1] if number else system

    for system, noticed in seen.items():
        for number in noticed["marked"]:
            # Marks of references were seen with each system, and are said once.
            text = (
                "starts with a byte-order mark, which is scored as a part of its first word; "
                "-e utf-8-sig drops it"
            )
            add("byte-order mark", name_of(number), text)
        for kind, number, text in _of_inputs(noticed):
            several = len(references) > 1 or len(noticed["empty"]) < 3
            add(kind, name_of(number if several else min(number, 1)), text)
        add("tokenized", system, _tokenized(noticed, tokenize))
        for text in _of_languages(noticed, language):
            add("language", system, text)
        add("identical", system, _identical(noticed, references[0]))
        if not unsplit(made):
            add(UNSPLIT, system, _in_one_piece(noticed, tokenize))
    for (kind, text), names in found.items():
        if text:
            systems = [name for name in names if name in seen]
            made.append({"kind": kind, "systems": systems, "text": f"{join_words(names)}: {text}"})
        if text and kind == UNSPLIT:
            same = [one for one in metrics if str(one.parameters.get("tokenize")) == tokenize]
            unsplit_by = [metrics[one] for one in same]
            made[-1] |= {"metrics": unsplit_by, "option": "-tok char"}
            made[-1]["text"] += f".{_unreliable(unsplit_by)}"
    return made


def unsplit(warnings: Warnings) -> set[str]:
    """Return the names of the metrics whose tokenizers do not split the text."""
    return {name for one in warnings if one["kind"] == UNSPLIT for name in one["metrics"]}


def of_references(
    seen: Mapping[str, Summary], metrics: Mapping[Metric[Any], str]
) -> Iterator[dict[str, Any]]:
    """Yield a warning per script of the references and per option that lets metrics split it."""
    texts = [one["reference_text"] for one in seen.values() if "reference_text" in one]
    text = max(texts, key=lambda one: one["characters"], default=None)
    # Text in letters that every tokenizer splits is not worth the import.
    if text is None or _is_plain(text["scripts"], text["characters"], text["accented"]):
        return
    from truebleu.text import languages

    for script in languages.find_unsplit_scripts(text):
        known = languages.UNSPLIT_SCRIPTS[script]
        by_option: dict[str, list[Metric[Any]]] = {}
        for metric in metrics:
            if not metric.splits(script):
                by_option.setdefault(_option(metric, script), []).append(metric)
        for option, some in by_option.items():
            if known.has_spaces and not option:
                continue
            names = [metrics[one] for one in some]
            verb = "does" if len(names) == 1 else "do"
            if option.startswith("-tok"):
                parameters = f"tokenize='{known.recommended[0]}'"
                help_ = (
                    f"Use {languages.format_tokenizer_option(known.recommended)} ({parameters} "
                    "in Python)"
                )
            elif option:
                parameters = ", ".join(f"{name}=True" for name in some[0].splitting(script))
                help_ = f"Use {option} ({parameters} in Python)"
            else:
                help_ = (
                    f"No option of {join_words(names)} helps; use chrF or CER, which need no words"
                )
            told = (
                f"{join_words(names)} {verb} not split the references into words: they look like "
                f"{known.language}, which {known.reason}. {help_}."
            )
            decides = known.has_spaces and script != "diacritics"
            if not decides:
                told += _unreliable(names)
            yield {
                "kind": "language" if decides else UNSPLIT,
                "systems": [*seen],
                "metrics": names,
                "text": told,
                **({"option": option} if option else {}),
            }


def _unreliable(metrics: Sequence[str]) -> str:
    """Return the sentence on what follows for metrics that do not split the text."""
    return (
        f" Differences by {join_words(metrics)} are not reliable, and none is called significant."
    )


def _option(metric: Metric[Any], script: str) -> str:
    """Return the command-line option that makes a metric split a script; "" if none does."""
    words = []
    values = metric.splitting(script)
    for parameter in metric.PARAMETERS:
        if parameter.name in values:
            value = values[parameter.name]
            name = next(iter(parameter.flags), parameter.option(metric.PREFIX))
            words += [name] if value is True else [name, str(value)]
    return " ".join(words)


def _of_inputs(noticed: Summary) -> Iterator[tuple[str, int, str]]:
    """The warnings about one input: their kind, the input (0: hypotheses), and the text."""
    segments, (looked_at, _) = noticed["segments"], noticed["characters"]
    for number, (count, first) in enumerate(noticed.get("empty", ())):
        if count:
            what = "references" if number else "hypotheses"
            which = join_words([str(line) for line in first])
            told = (
                f"{count:,} of {segments:,} {what} are empty (line{'s' * (len(first) > 1)} {which}"
            )
            rest = f" and {count - len(first):,} more" if count > len(first) else ""
            yield "empty", number, f"{told}{rest}); they are scored as text without words"
    for number, count in enumerate(noticed.get("tabs", ())):
        if looked_at and count == looked_at:
            columns = "; if the columns are references, give -nr/--num-refs" if number else ""
            one = "; if one column is the text, name it as FILE#N"
            yield "tabs", number, f"every line has a tab, which is scored as space{columns}{one}"
    decomposed = noticed.get("decomposed", ())
    for number, count in enumerate(decomposed):
        others = decomposed[1:] if number == 0 else decomposed[:1]
        fewest = min(others, default=count)
        if count >= MANY_DECOMPOSED * looked_at and count > TIMES_FEWER * fewest:
            whose = "the hypotheses have" if number else "the references have"
            text = (
                f"{count} of the first {looked_at} lines have letters with separate accents (NFD); "
                f"{whose} {fewest}, so the same words do not match; --normalize nfc (normalize="
                '"nfc" in Python) composes them'
            )
            yield "unicode form", number, text


def of_scores(scores: Iterable[tuple[str, str, Score]]) -> Warnings:
    """Return why scores are 0: of systems, with the name of the metric each."""
    found: dict[tuple[str, str], list[str]] = {}
    for system, name, score in scores:
        if reason := getattr(score, "zero_reason", ""):
            found.setdefault((name, reason), []).append(system)
    return [
        {
            "kind": "zero",
            "systems": systems,
            "metrics": [name],
            "text": f"{join_words(systems)}: {name} is 0 because {reason}",
        }
        for (name, reason), systems in found.items()
    ]


class ZeroSegments:
    """The reasons why segments score 0, of which a text is warned if they are over half."""

    def __init__(self) -> None:
        self._segments: dict[tuple[str, str], int] = {}
        self._reasons: dict[tuple[str, str, str], int] = {}

    def add(self, system: str, metric: Metric[Any], table: Table, scores: Scores) -> None:
        """Count the zeros of a piece of a system's segments."""
        key = system, metric.name
        self._segments[key] = self._segments.get(key, 0) + len(scores)
        zeros = [i for i, score in enumerate(scores) if score == 0]
        for row in table.pick(zeros).tolist() if zeros else ():
            if reason := metric.zero_reason(row, segment=True):
                self._reasons[*key, reason] = self._reasons.get((*key, reason), 0) + 1

    def warnings(self) -> Warnings:
        """Return the warnings about all that was counted."""
        return [
            {
                "kind": "zero",
                "systems": [system],
                "metrics": [name],
                "text": f"{system}: {name} is 0 in {count:,} of {whole:,} segments; {reason}",
            }
            for (system, name, reason), count in self._reasons.items()
            if 2 * count > (whole := self._segments[system, name])
        ]


def _tokenized(noticed: Summary, tokenize: str | None) -> str:
    count, first = noticed["tokenized"]
    segments = noticed["segments"]
    many = count >= MANY_TOKENIZED or (count >= SOME_TOKENIZED and count >= segments / 100)
    if not many or tokenize in (None, "none"):
        return ""
    lines = join_words([str(number) for number in first])
    return (
        f'{count} of {segments} lines look tokenized, ending in " ." (the first are {lines}); BLEU '
        "is for text as people write it: detokenize it first"
    )


def _of_languages(noticed: Summary, language: str | None) -> Iterator[str]:
    """What the script of the text says of the language and the references."""
    _, characters = noticed["characters"]
    if language is None and not noticed.get("han"):
        return
    from truebleu.text import languages

    meant = None if language is None else languages.get_target_language(language)
    if meant is not None and characters >= MANY_CHARACTERS:
        yield languages.describe_script_mismatch(meant, shares(noticed))
    if noticed.get("han"):
        own, *others = map(languages.detect_chinese_variant, noticed["han"])
        named = meant.chinese_variant if meant else ""
        if own and others and all(others) and own not in others:
            yield f"this is {own} Chinese, and the references are {others[0]}; words hardly match"
        elif own and named and own != named:
            yield f"this is {own} Chinese, and -l {language} is {named}"


# With this share of such letters, no other script is worth a word.
PLAIN_SCRIPTS = ("latin", "cyrillic", "greek", "arabic", "hebrew", "devanagari", "bengali")
PLAIN = 0.7
# With this share of letters beyond a-z, ASCII tokenizers break words.
MAX_ACCENTED = 0.01


def _is_plain(scripts: Mapping[str, int], characters: int, accented: int) -> bool:
    """Return whether every tokenizer splits text with these letters."""
    plain = sum(scripts.get(name, 0) for name in PLAIN_SCRIPTS)
    return plain > PLAIN * characters and accented <= MAX_ACCENTED * characters


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


def of_systems(systems: Mapping[str, File], scores: Mapping[str, Sequence[Score]]) -> Warnings:
    """Return a warning per system whose text equals that of an earlier system.

    Only systems with equal scores are read again.
    """
    found = []
    names = list(systems)
    for i, name in enumerate(names):
        for other in names[:i]:
            if scores[name] == scores[other] and _same(systems[name], systems[other]):
                text = f"{other} and {name}: these outputs are identical"
                found.append({"kind": "same output", "systems": [other, name], "text": text})
                break
    return found


def _same(one: File, other: File) -> bool:
    """True if two files of the same length have the same lines."""
    if not (is_rereadable(one.path) and is_rereadable(other.path)):
        return False
    return all(a == b for a, b in zip(one.read_lines(), other.read_lines(), strict=False))
