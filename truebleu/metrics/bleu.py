"""The BLEU metric: its formula, parameters, statistics and scores.

BLEU = BP · exp(Σ wₙ ln pₙ), where n is an n-gram order from 1 to N (`max_order`, 4 by default), and

* pₙ = matches of order n / n-grams of order n in the hypotheses. A match counts at most as often as
  in the reference that has it most often (clipping); smoothing replaces precisions of 0.
* wₙ = 1/N (`weights`), and BP = exp(1 − r/c) if c < r, otherwise 1 (`brevity_penalty`): c is the
  number of hypothesis tokens, and r adds up each segment's reference length closest to its own.

`Metric.score` in base.py sends the text to the kernel (`scan`), which returns the sum of one row of
integers per segment: c, r, N matches, N totals (`BLEU.columns`). The kernel then applies the
formula to the sum. `BLEUScore` names its components.

All published implementations compute BP · exp(Σ wₙ ln pₙ). They differ in their treatment of orders
without n-grams or matches, in edge cases of the brevity penalty, and in the order of floating-point
operations, which affects the last bit. Each difference is a parameter of `BleuFormula`
(kernel/src/bleu/variants.rs). The kernel has a faster function for sacreBLEU's formula
(kernel/src/bleu.rs); `_has_kernel_formula` tells whether it gives the score.

Kishore Papineni, Salim Roukos, Todd Ward and Wei-Jing Zhu (2002): BLEU, a method for automatic
evaluation of machine translation. ACL. Counts and floating-point operations match sacreBLEU 2.6.0
(Matt Post, 2018: A call for clarity in reporting BLEU scores. WMT).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from sys import maxsize
from typing import TYPE_CHECKING, Any

from truebleu._kernel import BleuFormula, InputError, Scores, Table
from truebleu.metrics import parameters as p
from truebleu.metrics.base import PARTS_PER_TOKEN, Metric, make_ngram_column_limits
from truebleu.metrics.pairwise_scores import COMPENSATED
from truebleu.metrics.scores import TableScore
from truebleu.metrics.text_warnings import score_function
from truebleu.text import corpus_inputs, tokenizers

__all__ = ["BLEU", "BLEUScore", "bleu"]

if TYPE_CHECKING:
    from dataclasses import KW_ONLY

    from truebleu._kernel import Summary

# Smoothing methods, with the numerator that they use for an order without a match.
SMOOTHING = {
    "exp": "counts 1/2, 1/4, ... of a match, as in mteval-v13a",
    "floor": "counts smoothing_value matches",
    "add-k": "adds smoothing_value to the match and n-gram counts above order 1",
    "none": "the score is 0",
    "add-k-all": "add-k, also at order 1",
    "add-k-tiny": "add-k, with the smallest positive number as matches at order 1",
    "epsilon": "pycocoevalcap's guards",
    "offset": "adds 1e-7 to the n-gram counts and to the precisions, as in MultiWOZ",
    "tiny": "the smallest positive number",
}
# Values of `arithmetic` that have a fixed smoothing method and ignore the parameter `smoothing`.
FIXED_SMOOTHING = {
    "cdec": "floor",
    "allennlp": "add-k-all",
    "coco": "epsilon",
    "codenn": "add-k-tiny",
}
# Default smoothing values, for the methods that use one.
SMOOTHING_VALUES = {"floor": 0.1, "add-k": 1.0, "add-k-all": 1.0, "add-k-tiny": 1.0}


class SmoothingValue(p.Number["float | None"]):
    """The user's or the default smoothing value, or None for methods without a value."""

    def __get__(self, metric: Any, _: type | None = None) -> float | None:
        """Return the user's value, or the default of the smoothing method."""
        if metric is None:
            return self  # type: ignore[return-value]
        values = metric._values  # noqa: SLF001
        value: float | None = values["smoothing_value"]
        return SMOOTHING_VALUES.get(values["smoothing"]) if value is None else value


LENGTH_RULES = {
    "closest": "the length closest to the hypothesis length",
    "shortest": "",
    "longest": "",
    "average": "the mean length",
    "average-truncated": "the mean length of each segment's references, truncated to an integer",
    "single": "reject segments with several references",
}
USE_INSTEAD = (
    "--effective-order yes (effective_order=True in Python) leaves out orders for which the "
    "text is too short, and chrF (-m chrf) suits short text better"
)
ARITHMETICS = (
    *("sacrebleu", "nltk", "nmt", "coco", "codenn", "allennlp", "float32", "cdec"),
    *("ignite", "t2t", "xnmt"),
)


class BLEUScore(TableScore):
    """BLEU score and its components."""

    __slots__ = ()

    DETAILS = (
        *("precisions", "matches", "totals", "brevity_penalty"),
        *("hypothesis_length", "reference_length", "ratio"),
    )

    _metric: BLEU

    @property
    def _formula(self) -> BleuFormula:
        """The formula that computes the components of the score when they are requested."""
        return self._metric.make_formula(segment=self._segment)

    @property
    def value(self) -> float:
        """The score, 0-100, identical to sacreBLEU's to the last bit."""
        metric = self._metric
        if metric._has_kernel_formula or metric.natural_scale == 100.0:  # noqa: SLF001
            return self._value
        return 100.0 * self._value

    @property
    def fraction(self) -> float:
        """The score, 0-1, identical to the scores of programs that use this scale."""
        return super().fraction if self._metric.natural_scale == 100.0 else self._value

    @property
    def published(self) -> float:
        """The score on the scale that publications use, 0-100 or 0-1."""
        scale = self._metric.published_scale
        return self.value if scale == 100.0 else self._value / self._metric.natural_scale * scale

    @property
    def precisions(self) -> tuple[float, ...]:
        """The smoothed precision of each order (0-100), as in sacreBLEU."""
        return tuple(self._formula.percentages(self._row))

    @property
    def brevity_penalty(self) -> float:
        """The brevity penalty: below 1 if the hypotheses are shorter than the references."""
        return self._formula.brevity_penalty(self._row)

    @property
    def matches(self) -> tuple[int, ...]:
        """The clipped matches of each order, before smoothing."""
        return tuple(self._row[2 : 2 + self._metric.max_order])

    @property
    def totals(self) -> tuple[int, ...]:
        """The number of n-grams of each order in the hypotheses, before smoothing."""
        return tuple(self._row[2 + self._metric.max_order :])

    @property
    def hypothesis_length(self) -> int:
        """The number of tokens in the hypotheses."""
        return self._row[0]

    @property
    def reference_length(self) -> float:
        """The effective reference length, which may be fractional if lengths are averaged."""
        unit = self._metric.length_unit
        return self._row[1] if unit == 1 else self._row[1] / unit

    @property
    def ratio(self) -> float:
        """Hypothesis length divided by reference length, or 0 if the references are empty."""
        return self._row[0] / self.reference_length if self._row[1] else 0.0

    @property
    def verbose(self) -> str:
        """Precisions, brevity penalty and lengths, as sacreBLEU prints them."""
        precisions = "/".join(f"{precision:.1f}" for precision in self.precisions)
        return (
            f"{precisions} (BP = {self.brevity_penalty:.3f} ratio = {self.ratio:.3f} "
            f"hyp_len = {self.hypothesis_length} ref_len = {self.reference_length})"
        )


class MaxOrder(p.WholeNumber):
    """The largest n-gram order. None stands for the number of weights."""

    if TYPE_CHECKING:

        def __set__(self, metric: Any, value: int | None) -> None: ...


class BLEU(Metric[BLEUScore]):
    """BLEU with its parameters. The defaults are sacreBLEU's.

    Published implementations differ in the parameters from `reference_length` on;
    `truebleu.family` has their values for each implementation.

    >>> metric = BLEU(lowercase=True)
    >>> print(metric.score(["The cat sat on the mat."], ["the cat sat on a mat."]))
    BLEU = 48.89 85.7/66.7/40.0/25.0 (BP = 1.000 ratio = 1.000 hyp_len = 7 ref_len = 7)
    """

    __slots__ = ("_has_kernel_formula", "_max_references")

    NAME = "BLEU"
    CITATIONS = ("papineni-etal-2002-bleu", "post-2018-call")
    MATCHES_SACREBLEU = True
    SCORE = BLEUScore
    FIELDS = ("case", "eff", "tok", "smooth", "order", "weights", "value")
    tokenize: p.Parameter[tokenizers.Tokenize] = p.Tokenizer(hints=("tokenizer", "tok"))
    _: KW_ONLY
    lowercase: p.Parameter[bool | str] = p.declare_lowercase()
    smoothing: p.Parameter[str] = p.Choice(
        "exp",
        "smoothing of n-gram orders with zero matches",
        SMOOTHING,
        key="smooth",
        short="s",
        flags=("-s", "--smooth-method"),
        common=True,
        hints=("smooth_method", "smoothing_function", "smoothing_method", "smooth"),
        remedy=". tb.NLTKBLEU(method=1) has the methods of NLTK's SmoothingFunction.",
        labels={
            "none": "unsmoothed",
            "tiny": "tiny for 0",
            "epsilon": "guards",
            "offset": "offset",
        },
    )
    smoothing_value: p.Parameter[float | None] = SmoothingValue(
        None,
        "the smoothing value of floor (default: 0.1) or add-k (default: 1)",
        maximum=1e9,
        key="value",
        short="val",
        flags=("-sv", "--smooth-value"),
        common=True,
        hints=("smooth_value",),
        optional=True,
    )
    effective_order: p.Parameter[bool | None] = p.Choice(
        None,
        "leave out orders for which the hypothesis is too short",
        {None: "only for single segments, as in sacreBLEU", True: "", False: ""},
        words={True: "yes", False: "no"},
        key="eff",
        short="e",
        common=True,
        hints=("use_effective_order", "auto_reweigh"),
        labels={True: "effective order", False: "no effective order"},
        optional=True,
    )
    max_order: MaxOrder = MaxOrder(
        4,
        "the largest n-gram order; if weights are set, the number of weights",
        key="order",
        short="ord",
        phrase="order {}",
        common=True,
        hints=("max_ngram_order", "order", "n", "N", "n_gram", "n_grams", "ngram", "max_n"),
        optional=True,
    )
    weights: p.Numbers = p.Numbers(
        None,
        "a weight for each order; equal weights by default",
        short="wt",
        common=True,
        optional=True,
    )
    reference_length: p.Parameter[str] = p.Choice(
        "closest",
        "the effective reference length with several references",
        LENGTH_RULES,
        key="reflen",
        short="rl",
        phrase="{} reference",
        labels={
            "single": "one reference",
            "average": "mean length",
            "average-truncated": "truncated mean length",
        },
        optional=True,
    )
    tie: p.Parameter[str] = p.Choice(
        "shorter",
        "the choice between two equally close reference lengths",
        dict.fromkeys(("shorter", "first", "longer"), ""),
        short="ti",
        phrase="{} if tied",
        optional=True,
    )
    brevity_penalty: p.Parameter[str] = p.Choice(
        "standard",
        "the brevity penalty for a hypothesis of c tokens and a reference of r tokens",
        {
            "standard": "exp(1 - r/c) if c < r",
            "plus-one": "exp(1 - r/c) after adding 1 to both lengths",
            "coco": "as in pycocoevalcap",
            "none": "always 1",
        },
        key="bp",
        labels={"plus-one": "lengths + 1", "none": "no brevity penalty"},
        optional=True,
    )
    empty_brevity: p.Parameter[float] = p.Number(
        0.0,
        "the brevity penalty of hypotheses without tokens",
        maximum=1,
        key="bp0",
        short="b0",
        optional=True,
    )
    missing_order: p.Parameter[str | None] = p.Choice(
        None,
        "the treatment of an order for which the hypotheses are too short",
        {
            None: "set by effective_order",
            "zero": "the score is 0",
            "one": "the precision of the order is 1",
            "drop": "the order is left out",
            "at-least-one": "each segment counts as having at least one n-gram per order",
        },
        key="miss",
        short="mi",
        labels={
            "one": "missing = 1",
            "at-least-one": "at least one n-gram",
            "drop": "effective order",
        },
        optional=True,
    )
    no_match: p.Parameter[str] = p.Choice(
        "zero",
        "the score if there are no matches",
        {
            "zero": "0 if nothing matches",
            "any-zero": "0 if any order has no match",
            "smoothed": "smoothing can make the score positive",
        },
        key="zero",
        short="z",
        labels={"smoothed": "no match > 0", "any-zero": "any 0 = 0"},
        optional=True,
    )
    aggregate: p.Parameter[str] = p.Choice(
        "corpus",
        "the score of a corpus",
        {"corpus": "computed from summed counts", "segments": "the mean of segment scores"},
        key="agg",
        short="ag",
        labels={"segments": "mean of segments", "corpus": "summed counts"},
        optional=True,
    )
    published_scale: p.Parameter[float] = p.Number(
        100.0,
        "the scale of `published`, 100 or 1",
        minimum=1,
        maximum=100,
        key="scale",
        short="sc",
        optional=True,
    )
    arithmetic: p.Parameter[str] = p.Choice(
        "sacrebleu",
        "the program whose order of floating-point operations determines the last bit",
        dict.fromkeys(ARITHMETICS, ""),
        key="arith",
        short="fp",
        optional=True,
    )

    def _store_parameters(self, values: Mapping[str, Any]) -> None:
        """Check and store the parameters. `max_order` defaults to the number of weights."""
        if values.get("max_order") is None:
            weights = values.get("weights")
            count = 4 if weights is None else len(p.validate_weights("weights", weights))
            values = {**values, "max_order": count}
        super()._store_parameters(values)

    def _prepare(self) -> None:
        """Check parameters that depend on each other, and create the kernel's counter."""
        values = self._values
        smoothing, value = values["smoothing"], values["smoothing_value"]
        if value is not None:
            if smoothing not in SMOOTHING_VALUES:
                valued = ", ".join(SMOOTHING_VALUES)
                raise ValueError(
                    f"smoothing_value: smoothing '{smoothing}' takes no value (expected {valued})"
                )
            if value == SMOOTHING_VALUES[smoothing]:
                values["smoothing_value"] = None
        weights, orders = values["weights"], values["max_order"]
        if weights is not None and len(weights) != orders:
            raise ValueError(f"weights: {len(weights)} weights for {orders} orders")
        if weights is not None and not any(weights):
            raise ValueError(f"weights={weights}: at least one must not be 0")
        if values["missing_order"] is not None and values["effective_order"] is not None:
            raise ValueError("effective_order and missing_order are mutually exclusive")
        self._has_kernel_formula = (
            values["smoothing"] in ("exp", "floor", "add-k", "none")
            and values["brevity_penalty"] == "standard"
            and values["empty_brevity"] == 0.0
            and values["no_match"] == "zero"
            and values["missing_order"] in (None, "zero", "drop")
            and values["arithmetic"] == "sacrebleu"
            and values["reference_length"] != "average"
        )
        self._max_references = 1 if values["reference_length"] == "single" else maxsize
        super()._prepare()

    def build_kernel_settings(self) -> dict[str, Any]:
        """Return the metric settings for the kernel."""
        values = self._values
        return {
            "metric": "bleu",
            **self._build_lexer_settings(),
            "max_order": values["max_order"],
            "reference_lengths": [self.length_rule],
            "at_least_one": values["missing_order"] == "at-least-one",
            "smoothing": values["smoothing"] if self._has_kernel_formula else "none",
            "smoothing_value": self.smoothing_value or 0.0,
            "effective_order": tuple(one == "drop" for one in self.missing_orders),
            "weights": values["weights"],
            "compensated": COMPENSATED,
        }

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about weights that do not add up to 1, and about ignored smoothing."""
        weights, smoothing, arithmetic = (
            self._values[name] for name in ("weights", "smoothing", "arithmetic")
        )
        messages = p.check_weight_sum(weights)
        applied_smoothing = FIXED_SMOOTHING.get(arithmetic, smoothing)
        # cdec and allennlp do not smooth without a smoothing value.
        unsmoothed = smoothing == "none" and arithmetic in ("cdec", "allennlp")
        if smoothing != applied_smoothing and not unsmoothed:
            value = self.smoothing_value or 0.0
            value_text = f" {value:g}" if applied_smoothing in SMOOTHING_VALUES else ""
            ignored = f"arithmetic {arithmetic} ignores smoothing {smoothing}"
            messages += (f"{ignored}; it applies smoothing {applied_smoothing}{value_text}",)
        return messages

    def with_parameters(self, **changed: Any) -> BLEU:
        """Return a copy of the metric with changed parameters. Weights determine `max_order`."""
        if changed.get("weights") is not None:
            changed.setdefault("max_order", None)
        return super().with_parameters(**changed)

    @property
    def length_rule(self) -> str:
        """The kernel's name for the reference length rule."""
        rule, tie = self._values["reference_length"], self._values["tie"]
        if rule == "single" or (rule == "closest" and tie == "shorter"):
            return "closest"
        return f"closest-{tie}" if rule == "closest" else str(rule)

    @property
    def counts_at_least_one_ngram(self) -> bool:
        """True if segments count as having at least one n-gram of each order."""
        return bool(self._values["missing_order"] == "at-least-one")

    @property
    def natural_scale(self) -> float:
        """The scale on which the arithmetic computes scores."""
        return 100.0 if self.arithmetic == "sacrebleu" else 1.0

    @property
    def _is_sum_based(self) -> bool:
        return bool(self._values["aggregate"] == "corpus")

    def resolve_missing_order(self, *, segment: bool) -> str:
        """Return the treatment of orders for which the hypotheses are too short."""
        missing, effective = self._values["missing_order"], self._values["effective_order"]
        if missing is not None:
            return str(missing)
        return "drop" if (segment if effective is None else effective) else "zero"

    @property
    def missing_orders(self) -> tuple[str, str]:
        """The treatment of missing orders in segments and in corpora."""
        return self.resolve_missing_order(segment=True), self.resolve_missing_order(segment=False)

    @property
    def _equality_key(self) -> tuple[Any, ...]:
        # `effective_order` and `missing_order` are two names for one setting.
        missing = {"missing_order": self.missing_orders, "effective_order": None}
        return tuple((self._values | missing).values())

    def make_formula(self, *, segment: bool = False, length_unit: int | None = None) -> BleuFormula:
        """Return the formula, for a corpus or for one segment.

        length_unit: the number of units per token of reference lengths in rows (default: as in the
            metric's statistics).
        """
        names = (
            "smoothing",
            "no_match",
            "brevity_penalty",
            "empty_brevity",
            "weights",
            "arithmetic",
        )
        return BleuFormula(
            **{name: self._values[name] for name in names},
            smoothing_value=self.smoothing_value or 0.0,
            missing_order=self.resolve_missing_order(segment=segment),
            compensated=COMPENSATED,
            length_unit=length_unit or self.length_unit,
        )

    @property
    def length_unit(self) -> int:
        """The number of units per token of reference lengths in the statistics."""
        return PARTS_PER_TOKEN if self.length_rule == "average" else 1

    # ---- signatures ----

    def _build_fields(self, *, segment: bool | None) -> dict[str, str]:
        fields = super()._build_fields(segment=segment)
        missing = self._values["missing_order"]
        if segment is not None or missing:  # the default differs for segments and corpora
            treatment = self.resolve_missing_order(segment=segment or not self._is_sum_based)
            fields["eff"] = "yes" if treatment == "drop" else "no"
        if missing in ("drop", "zero"):
            del fields["miss"]  # implied by the field `eff`
        value = self.smoothing_value
        fields.pop("value", None)
        if value is not None:
            fields["smooth"] += f"[{value:.2f}]"
            if float(f"{value:.2f}") != value:
                fields["value"] = repr(value)
        return fields

    @classmethod
    def from_fields(cls, fields: Mapping[str, str]) -> BLEU:
        """Return the metric for the fields of a signature."""
        remaining = dict(fields)
        smoothing, bracket, value = remaining.get("smooth", "exp").partition("[")
        if bracket:
            remaining = {"value": value.rstrip("]"), **remaining, "smooth": smoothing}
        if "miss" in remaining:
            remaining.pop("eff", None)
        return super().from_fields(remaining)

    @property
    def columns(self) -> tuple[str, ...]:
        """The column names of the metric's statistics."""
        orders = range(1, self.max_order + 1)
        return (
            "hypothesis_length",
            "reference_length" if self.length_rule != "average" else "reference_length_parts",
            *(f"matches_{order}" for order in orders),
            *(f"totals_{order}" for order in orders),
        )

    @property
    def _column_limits(self) -> tuple[tuple[str, int, str], ...]:
        length_limits = (
            [] if self.counts_at_least_one_ngram else [("totals_1", 1, "hypothesis_length")]
        )
        return (*length_limits, *make_ngram_column_limits(self.max_order))

    @property
    def fingerprint(self) -> str:
        """The parameters that determine the statistics, as in `Statistics.fingerprint`."""
        tok, case = (p.to_field(self._values[p.name]) for p in self.PARAMETERS[:2])
        suffix = "|least:1" if self.counts_at_least_one_ngram else ""
        if (form := self.unicode_form) is not None:
            suffix += f"|unicode:{form}"
        order = f"order:{self.max_order}|reflen:{self.length_rule}"
        return f"BLEU|tok:{tok}|case:{case}|{order}{suffix}"

    # ---- scores of rows ----

    def check_summary(self, summary: Summary, hypotheses: object) -> None:
        """Raise InputError if this metric is not defined for text with this summary."""
        super().check_summary(summary, hypotheses)
        if self._values["reference_length"] == "single" and summary["references"] != (1, 1):
            raise InputError(
                "references: a segment has several references, "
                "but this metric is only defined for one"
            )

    def explain_zero_score(self, row: Sequence[int], *, segment: bool) -> str:
        """Return the reason why the score of a row is 0, and what to use instead."""
        orders = self.max_order
        matches, totals = row[2 : 2 + orders], row[2 + orders :]
        if not any(matches):
            problem = "shares a token with its references" if row[0] else "has any tokens"
            return f"no hypothesis {problem}"
        missing = self.resolve_missing_order(segment=segment or not self._is_sum_based)
        if not totals[-1] and missing == "zero":
            return (
                f"no hypothesis has {orders} tokens, but BLEU needs n-grams of each order up to "
                f"{orders}; {USE_INSTEAD}"
            )
        if 0 not in matches:
            return ""
        order = 1 + list(matches).index(0)
        return (
            f"no n-gram of order {order} matches; -s exp (smoothing='exp' in Python) keeps the "
            "score above 0"
        )

    def _compute_score(self, row: Sequence[int], *, segment: bool) -> float:
        """Return the score of one row, on the scale of the arithmetic."""
        return self.compute_values(Table.from_rows([row], len(row)), segment=segment)[0]

    def compute_values(self, table: Table, *, segment: bool) -> Sequence[float]:
        """Return the score of each row, on the scale of the arithmetic."""
        if self._has_kernel_formula:
            return self._kernel.scores(table, corpus=not segment).tolist()
        return self.make_formula(segment=segment).scores(table)

    def _compute_scores(self, table: Table, *, segment: bool) -> Scores:
        segment = segment or not self._is_sum_based  # average segment scores, not counts
        if self._has_kernel_formula:
            return self._kernel.scores(table, corpus=not segment)
        factor = 100.0 / self.natural_scale
        return Scores([factor * value for value in self.compute_values(table, segment=segment)])

    def _average_rows(self, table: Table, references: int | str | None) -> BLEUScore:
        values = self.compute_values(table, segment=True)
        mean = sum(values) / len(values)
        return BLEUScore(self, table.total().tolist()[0], references, segment=True, value=mean)


@score_function(BLEU)
def bleu(
    hypotheses: corpus_inputs.Hypotheses,
    references: corpus_inputs.References,
    *,
    workers: int = 1,
    tokenize: tokenizers.Tokenize = "13a",
    lowercase: bool | str = False,
    smoothing: str = "exp",
    smoothing_value: float | None = None,
    effective_order: bool | None = None,
    max_order: int | None = None,
    weights: Sequence[float] | None = None,
    reference_length: str = "closest",
    tie: str = "shorter",
    brevity_penalty: str = "standard",
    empty_brevity: float = 0.0,
    missing_order: str | None = None,
    no_match: str = "zero",
    aggregate: str = "corpus",
    published_scale: float = 100.0,
    arithmetic: str = "sacrebleu",
    unicode_form: str | None = None,
    check_text: bool = True,
) -> BLEUScore:
    """Return the BLEU score of a corpus: `BLEU(...).score(hypotheses, references)`.

    Takes the text arguments of `BLEU.score` and the parameters of `BLEU`.

    check_text: issue `TextWarning` for suspicious text, such as text that looks tokenized.

    >>> score = bleu(["the cat is on the mat"], [["the cat sat on the mat", "a cat is on it"]])
    >>> round(float(score), 2)
    53.73
    """
    raise NotImplementedError  # `score_function` replaces the body
