"""Descriptions of metrics: names, scales, citations, signatures, and languages."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

from truebleu._kernel import __version__
from truebleu.metrics.parameters import Parametrized
from truebleu.metrics.scores import CONTEXT_FIELDS, Signature
from truebleu.text import tokenizers

if TYPE_CHECKING:
    from truebleu.text.languages import Language

# The sacreBLEU release whose scores the metrics reproduce; signatures name it.
SACREBLEU_VERSION = "2.6.0"

# Methods of metrics in other packages and their equivalents in truebleu, for messages.
_FOREIGN_METHODS = {
    "corpus_score": ".score(hypotheses, references) with one string or list of strings per segment "
    "as references; list(zip(*streams)) converts sacreBLEU's reference streams",
    "sentence_score": ".sentence(hypothesis, references)",
    "get_signature": ".signature(references=1)",
    **dict.fromkeys(("compute", "evaluate", "compute_score"), ".score(hypotheses, references)"),
    **dict.fromkeys(
        ("update", "add", "add_batch"), "tb.Accumulator(metric).update(hypotheses, references)"
    ),
}


class DescribedMetric(Parametrized):
    """Base class of metrics, with their names, citations, signatures and language settings."""

    __slots__ = ()

    NAME: ClassVar[str]
    # Keys of the papers to cite, in truebleu.text.citations.
    CITATIONS: ClassVar[tuple[str, ...]] = ()
    # Signature fields in sacreBLEU's order; other fields follow.
    FIELDS: ClassVar[tuple[str, ...]] = ()
    # Signature fields with a constant value: the value and the short name of the field.
    CONSTANTS: ClassVar[dict[str, tuple[str, str]]] = {}
    # Prefix of the metric's command-line options.
    PREFIX: ClassVar[str] = ""
    LOWER_IS_BETTER: ClassVar[bool] = False
    # Score of a perfect match, or None for metrics without an upper bound.
    BOUND: ClassVar[float | None] = 100.0
    # Worst possible score, or None for metrics without a worst score.
    WORST: ClassVar[float | None] = 0.0
    # The number of decimals to print.
    DIGITS: ClassVar[int] = 1
    # True if scores equal sacreBLEU's; signatures then name its version.
    MATCHES_SACREBLEU: ClassVar[bool] = False
    # A sentence that distinguishes the metric from another one with the same name, or "".
    NAMESAKE: ClassVar[str] = ""
    # True if the metric needs the source of each segment.
    NEEDS_SOURCE: ClassVar[bool] = False
    # True if the metric may fail on text that other metrics can score.
    FALLIBLE: ClassVar[bool] = False
    # True if the metric accepts lists of tokens as well as text.
    TAKES_TOKENS: ClassVar[bool] = True

    # Public names in addition to the parameters, in the order of `dir()`.
    PUBLIC: ClassVar[tuple[str, ...]] = (
        *("score", "sentence", "segments", "matrix", "triangle", "top_k"),
        "expected",
        *("statistics", "from_statistics", "scores", "columns", "fingerprint"),
        *("name", "parameters", "signature", "warnings"),
    )

    # ---- signatures ----

    @classmethod
    def from_fields(cls, fields: Mapping[str, str]) -> Self:
        """Return the metric that a signature's fields (other than `CONTEXT_FIELDS`) describe."""
        for key, (value, _) in cls.CONSTANTS.items():
            if fields.get(key, value) != value:
                raise ValueError(f"{key}:{fields[key]}: {cls.NAME} only has {key}:{value}")
        values: dict[str, Any] = {}
        for parameter in cls.PARAMETERS:
            if parameter.key in fields:
                try:
                    values[parameter.name] = parameter.from_field(fields[parameter.key])
                except ValueError as error:
                    raise ValueError(f"{parameter.key}: {error}") from None
        return cls(**values)

    @classmethod
    def fields_from_name(cls, name: str) -> dict[str, str] | None:
        """Return the fields that a score name implies, or None for names of other metrics."""
        return {} if name.lower() == cls.NAME.lower() else None

    @classmethod
    def get_short_names(cls) -> dict[str, str]:
        """Return the short name of each signature field."""
        constants = {key: short for key, (_, short) in cls.CONSTANTS.items()}
        return {**CONTEXT_FIELDS, **constants, **{p.key: p.short for p in cls.PARAMETERS}}

    def _build_fields(self, *, segment: bool | None) -> dict[str, str]:  # noqa: ARG002
        """Return the signature's parameter fields. See `signature` for `segment`."""
        fields = {key: value for key, (value, _) in self.CONSTANTS.items()}
        for parameter in self.PARAMETERS:
            value = self._values[parameter.name]
            if parameter.is_hidden:
                continue
            if not parameter.optional or value != parameter.default:
                fields[parameter.key] = parameter.to_field(value)
        return fields

    def signature(
        self, references: int | str | None = None, *, segment: bool | None = False
    ) -> Signature:
        """Return the signature: the settings that reproduce the computation.

        references: number of references per segment, or "var".
        segment: True for the score of a segment, False for a corpus, None for the metric itself.
        """
        parameter_fields = self._build_fields(segment=segment)
        fields = {} if references is None else {"nrefs": str(references)}
        fields |= {key: parameter_fields[key] for key in self.FIELDS if key in parameter_fields}
        fields |= parameter_fields
        if self.MATCHES_SACREBLEU:
            fields["version"] = SACREBLEU_VERSION
        return Signature(self, {**fields, "by": f"truebleu-{__version__}"})

    @property
    def name(self) -> str:
        """The name of the score, including parameters where that is customary, as in chrF2++."""
        return self.NAME

    @property
    def bound(self) -> float | None:
        """The score of a perfect match, or None for metrics without an upper bound."""
        return self.BOUND

    @property
    def is_percentage(self) -> bool:
        """True if scores are percentages, which can also be given on a 0-1 scale (unlike NIST)."""
        return True

    @property
    def citations(self) -> tuple[str, ...]:
        """The keys of the papers to cite for these parameters, in `truebleu.text.citations`."""
        return self.CITATIONS

    @property
    def lower_is_better(self) -> bool:
        """True if lower scores are better, as for error rates."""
        return self.LOWER_IS_BETTER

    def explain_id_conflict(self) -> str:
        """Return why the metric cannot score token ids, or "" if it can."""
        if "tokenize" not in self._values:
            return "it needs text, not tokens"
        return f"{self.NAME} needs sources" if self.NEEDS_SOURCE else ""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences that warn about unusual parameters."""
        return ()

    # ---- languages ----

    def can_split(self, script: str) -> bool:
        """Return whether the metric splits text in `script`, one of the `UNSPLIT_SCRIPTS`.

        The result is True for metrics without a tokenizer, which count characters or use a model.
        """
        from truebleu.text import languages

        tokenize = self._values.get("tokenize")
        return tokenize is None or languages.can_split(tokenize, script)

    def get_splitting_parameters(self, script: str) -> dict[str, Any]:
        """Return the parameters that make the metric split text in `script`, if there are any."""
        from truebleu.text import languages

        has_tokenizer = "tokenize" in self._values
        return (
            {"tokenize": languages.UNSPLIT_SCRIPTS[script].recommended[0]} if has_tokenizer else {}
        )

    @property
    def expects_tokens(self) -> bool:
        """True if the metric expects pretokenized text, whose punctuation follows spaces."""
        return self._values.get("tokenize") in ("none", "ids")

    @property
    def depends_on_spaces(self) -> bool:
        """True if spaces around punctuation change scores. Metrics without a tokenizer override it.

        Models read text without these spaces, so their scores change, too.
        """
        tokenize = self._values.get("tokenize")
        return tokenize is None or tokenizers.depends_on_spaces(tokenize)

    def adapt_to_language(self, language: Language, user_parameters: Collection[str] = ()) -> Self:
        """Return the metric with the parameters that its original program uses for a language.

        user_parameters: names of parameters that the user has set and that must not change.
        """
        default_tokenizer = self._CHECKS.get("tokenize", (None,))[0]
        # "none" means tokenized input, and jiwer and ROUGE have no language-specific tokenizers.
        language_tokenizer = language.tokenizer
        fits = default_tokenizer in ("13a", "jiwer", "rouge") and (
            default_tokenizer == "13a" or language_tokenizer != "13a"
        )
        is_default = self._values.get("tokenize") == default_tokenizer
        if not (fits and is_default) or "tokenize" in user_parameters:
            return self
        return self.with_parameters(tokenize=language_tokenizer)

    def describe_language_mismatch(self, language: Language) -> str:  # noqa: ARG002
        """Return why the parameters do not suit a language, or "" if they do."""
        return ""

    @property
    def fingerprint(self) -> str:
        """The parameters that determine the statistics, as in `Statistics.fingerprint`."""
        fields = self._build_fields(segment=False)
        return "|".join([self.name, *(f"{key}:{value}" for key, value in fields.items())])

    def __str__(self) -> str:
        """Return the metric's name and signature, from which `metric` recreates the metric."""
        return f"{self.name}|{self.signature(segment=None)}"

    def __dir__(self) -> list[str]:
        return [*self.PUBLIC, *self._values]

    if not TYPE_CHECKING:  # type checkers would accept any attribute

        def __getattr__(self, name: str) -> Any:
            hint = f"; use {_FOREIGN_METHODS[name]}" if name in _FOREIGN_METHODS else ""
            raise AttributeError(f"{type(self).__name__} has no attribute '{name}'{hint}")
