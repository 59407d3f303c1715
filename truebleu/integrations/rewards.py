"""Rewards for reinforcement learning: `truebleu.reward`, one object for the trainers below.

`reward_hosts.py` contains the calls of each trainer. Tested with TRL 1.16.0; the tests call the
other trainers' functions with the arguments of verl 1dda039b9, NeMo RL 7ea279abf, NeMo Gym
07d6b0d07, OpenRLHF 3c3be623, verifiers a60a606ec (legacy and v1) and ms-swift 3602360a5.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property, partial
from math import exp, fsum, isfinite
from threading import Lock
from typing import Any, TypedDict, Unpack

from truebleu._kernel import InputError, TokenIds
from truebleu.integrations import get_metric_name, reward_hosts
from truebleu.metrics import registry
from truebleu.metrics.base import Metric, MetricMissingError, Signature
from truebleu.metrics.bleu import BLEU
from truebleu.metrics.text_warnings import raise_text_warnings
from truebleu.text import argument_checks
from truebleu.text.corpus_inputs import normalize_input, normalize_text

GROUP_BASELINES = ("leave-one-out", "mean")
# Share of a batch's completions with think tags above which a warning is issued.
MAX_THINKING_SHARE = 0.05
# One kernel call per text takes less time than a batch for up to 32 texts.
MAX_SINGLE_CALLS = 32
COUNTS = ("calls", "completions", "scored", "blank", "thinking", "errors")

# A fenced code block (CommonMark 4.5): the fence, and the lines up to the closing fence.
_FENCED_BLOCK = re.compile(
    r"\s*(`{3,}|~{3,})[^\S\n]*[\w+#.-]*[^\S\n]*\n(?:(.*)\n)?[^\S\n]*\1\s*", re.DOTALL
)
# Look for ">" first: it takes 20 ns, not 1 µs.
_THINK_TAG = re.compile("</?think>")
# Protects the counts of all rewards. A lock in each reward would prevent pickling.
_COUNT_LOCK = Lock()


class RewardOptions(TypedDict, total=False):
    """Keyword arguments of `reward`."""

    name: str | None
    scale: float
    references: str | None
    sources: str | None
    group: str | None
    strip_thinking: bool
    strip_fences: bool
    after: str | None
    normalize: str | None
    empty: float | None
    baseline: str | float | None
    length_penalty: str | None
    on_error: str | float


def reward(
    metric: str | Metric[Any] | Signature | Mapping[Any, float] = "bleu",
    **options: Unpack[RewardOptions],
) -> Reward:
    """Create a reward for training: sentence-level scores times `scale`.

    metric: a metric, a name or a signature; or a mapping from these to weights, such as
        {"chrf": 0.7, "bleu": 0.3}, for a weighted sum.
    name: the name in the trainer's logs (default: "chrf_reward"); rewards need different names.
    scale: the factor of the scores (default: 0.01); negative for metrics where lower is better.
    references: the dataset column, or the key, of references. The default depends on the trainer:
        "reference" for TRL and ms-swift, "ground_truth", "labels", "answer" or "translation".
    sources: likewise of sources (default: "source", or the trainer's prompt).
    group: the column or key that identifies the completions of one prompt (default: the prompt).
    strip_thinking: score the text after the last `</think>`, and nothing if `<think>` has no end.
    strip_fences: if the answer is one fenced code block, score its contents.
    after: score the text after the last of these tags, up to its end tag, if the tag is present.
    normalize: convert all text to this Unicode form: "NFC" or "NFKC".
    empty: the value of a blank completion (default: the metric's score times `scale`).
    baseline: subtract the mean of the prompt's other completions ("leave-one-out"), the mean of
        the prompt's completions ("mean"), the value of the source text ("source"), or a number.
    length_penalty: "mirror" multiplies by exp(1 - c / r) if a completion has c words, more than
        the r words of the closest reference: the mirror image of BLEU's brevity penalty.
    on_error: "raise", or the reward of a row whose text is invalid.

    As in sacreBLEU's sentence_bleu, BLEU skips n-gram orders without n-grams (effective order), and
    smooths orders without a match (exp). Raises ValueError for invalid options.

    >>> chrf = reward("chrf", strip_thinking=True)
    >>> chrf
    chrF2|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0|strip:think|scale:0.01|baseline:none
    >>> chrf(["<think>Hm.</think>it rains", "<think>It", "it"], ["it rains", "it rains", None])
    [1.0, 0.0, None]
    >>> chrf.one("it is raining", ["it rains", "it is raining"])
    1.0
    """
    argument_checks.check_keywords("reward", options, RewardOptions.__annotations__)
    weights: Any = metric.items() if isinstance(metric, Mapping) else [(metric, 1.0)]
    if not weights:
        raise ValueError("metric={}: expected at least one metric with its weight")
    metrics = tuple((registry.metric(key), weight) for key, weight in weights)
    names = (get_metric_name(key, one) for (key, _), (one, _) in zip(weights, metrics, strict=True))
    settings: Any = {**options, "name": options.get("name") or f"{'+'.join(names)}_reward"}
    return Reward(metrics, **settings)


class HostFunction:
    """Function of a trainer for one reward. It has the reward's name, and can be pickled.

    TRL shows the name of the inner function of a `functools.partial`.
    """

    def __init__(self, function: Callable[..., Any], reward: Reward) -> None:
        self._function, self._reward = function, reward
        self.__name__ = reward.name

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(partial(self._function, self._reward))

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Call the trainer's function."""
        return self._function(self._reward, *arguments, **keywords)


def _as_host_property(function: Callable[..., Any]) -> Any:
    return property(partial(HostFunction, function), doc=function.__doc__)


@dataclass(frozen=True, repr=False)
class Reward:
    """Reward function for completions, with the functions that each trainer expects.

    `reward(completions, references)` scores a batch. The properties `trl`, `verl` and so on are
    functions with the arguments and results of these trainers. All are safe in threads and
    coroutines, and can be pickled. See `truebleu.reward` for the parameters.
    """

    metrics: tuple[tuple[Metric[Any], float], ...]
    name: str
    _: KW_ONLY
    scale: float = 0.01
    references: str | None = None
    sources: str | None = None
    group: str | None = None
    strip_thinking: bool = False
    strip_fences: bool = False
    after: str | None = None
    normalize: str | None = None
    empty: float | None = None
    baseline: str | float | None = None
    length_penalty: str | None = None
    on_error: str | float = "raise"
    statistics: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(COUNTS, 0), init=False, compare=False
    )

    trl = swift = _as_host_property(reward_hosts.call_trl)
    verl = _as_host_property(reward_hosts.call_verl)
    verl_batch = _as_host_property(reward_hosts.call_verl_batch)
    nemo_rl = _as_host_property(reward_hosts.call_nemo_rl)
    nemo_verify = _as_host_property(reward_hosts.call_nemo_verify)
    openrlhf = _as_host_property(reward_hosts.call_openrlhf)
    verifiers = _as_host_property(reward_hosts.call_verifiers)
    verifiers_group = _as_host_property(reward_hosts.call_verifiers_group)
    verifiers_v1 = _as_host_property(reward_hosts.call_verifiers_v1)

    def __post_init__(self) -> None:
        settings: tuple[tuple[str, Any, tuple[Any, ...]], ...] = (
            *((f"the weight of {metric.name}", weight, ()) for metric, weight in self.metrics),
            ("scale", self.scale, ()),
            ("empty", self.empty, (None,)),
            ("baseline", self.baseline, (None, *GROUP_BASELINES, "source")),
            ("on_error", self.on_error, ("raise",)),
        )
        for label, value, words in settings:
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if value not in words and not (is_number and isfinite(value)):
                expected = ", ".join(["a finite number", *map(str, words)])
                raise ValueError(f"{self.name}: {label}={value!r} (expected {expected})")
        argument_checks.check_choice("length_penalty", self.length_penalty, (None, "mirror"))
        argument_checks.check_choice("normalize", self.normalize, (None, "NFC", "NFKC"))
        for option in ("name", "references", "sources", "group", "after"):
            value = getattr(self, option)
            if value is not None and not (isinstance(value, str) and value):
                raise ValueError(f"{self.name}: {option}={value!r} (expected a non-empty string)")
        for option in ("strip_thinking", "strip_fences"):
            if (value := getattr(self, option)) not in (True, False):
                raise ValueError(f"{self.name}: {option}={value!r} (expected True or False)")
        for metric, _ in self.metrics:
            if getattr(metric, "df", "") == "corpus":  # all sentence scores are 0
                raise ValueError(f"{self.name}: {metric.non_additive_reason}")
        if self.length_penalty and any(
            weight * self.scale < 0 or metric.lower_is_better for metric, weight in self.metrics
        ):
            raise ValueError(
                f"{self.name}: length_penalty would raise negative rewards (expected metrics where "
                "higher is better, and positive weights and scale)"
            )

    @property
    def __name__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        """Return the recipe: the metrics' signatures, and the steps that change their scores."""
        parts = []
        for metric, weight in self.metrics:
            signature = f"{metric.name}|{metric.signature(segment=True)}".partition("|by:")[0]
            is_weighted = any(other != 1 for _, other in self.metrics)
            parts.append(f"{weight}*({signature})" if is_weighted else signature)
        strips = ["think"] * self.strip_thinking + ["fences"] * self.strip_fences
        steps = {
            "strip": "+".join(strips) or None,
            "after": self.after,
            "norm": self.normalize,
            "empty": self.empty,
            "length": self.length_penalty,
            "scale": self.scale,
            "baseline": "none" if self.baseline is None else self.baseline,
            "error": None if self.on_error == "raise" else self.on_error,
        }
        return "|".join(
            ["+".join(parts), *(f"{key}:{step}" for key, step in steps.items() if step is not None)]
        )

    @cached_property
    def needs_source(self) -> bool:
        """True if a metric or the baseline reads the source."""
        return self.baseline == "source" or any(one.NEEDS_SOURCE for one, _ in self.metrics)

    @cached_property
    def has_group_baseline(self) -> bool:
        """True if the baseline compares the completions of one prompt."""
        return self.baseline in GROUP_BASELINES

    @cached_property
    def _is_plain(self) -> bool:
        """True if a reward is one metric's score, with no other text and no other completion."""
        is_plain = self.baseline is None and self.length_penalty is None and self.normalize is None
        return is_plain and not self.needs_source and len(self.metrics) == 1

    def one(self, completion: Any, references: Any, *, source: Any = None) -> float:
        """Return the reward of one completion with one or more references.

        Raises InputError if there is no reference, unless `on_error` is a number.
        """
        if self._is_plain and type(completion) is str and type(references) is str:
            text = self.extract_answer(completion)
            if text and not (text.isspace() or (">" in text and _THINK_TAG.search(text))):
                ((metric, weight),) = self.metrics
                try:
                    value: float = metric.sentence(text, references).value * weight * self.scale
                except InputError:  # raised again below, with the number of the row
                    pass
                else:
                    with _COUNT_LOCK:  # `_count` takes longer than reading a short text
                        self.statistics["calls"] += 1
                        self.statistics["completions"] += 1
                        self.statistics["scored"] += 1
                    return value
        values = self([completion], [references], sources=[source])
        return reward_hosts.require_numbers(self, values)[0]

    def __call__(
        self, completions: Any, references: Any, *, sources: Any = None, groups: Any = None
    ) -> list[float | None]:
        """Return the reward of each completion, or None if it has no reference.

        completions: strings, or conversations whose last message is scored.
        references: for each completion a string, a list of strings and None, or None.
        sources: for each completion the source, for metrics that read it and baseline="source".
        groups: for each completion its prompt, for baseline="leave-one-out" and "mean".

        Equal rows are scored once. Raises InputError for invalid text; the message names the row.
        """
        columns: dict[str, Any] = {"completions": completions, "references": references}
        columns |= {"sources": sources} if self.needs_source else {}
        columns |= {"groups": groups} if self.has_group_baseline else {}
        for label, column in columns.items():
            reward_hosts.check_column(self, label, column, completions)
        if isinstance(completions, TokenIds) != isinstance(references, TokenIds):
            raise self.count_error(
                f"{self.name}: token ids never match text. Pass both completions and references as "
                "tb.token_ids(...)"
            )
        metrics = [(one.adapt_to_inputs(completions), weight) for one, weight in self.metrics]
        rewards: list[Any] = [None] * len(completions)
        rows: list[Any] = []
        indices: list[int] = []
        for i, (completion, reference) in enumerate(zip(completions, references, strict=True)):
            try:
                source = sources[i] if self.needs_source else None
                if row := self._read_row(completion, reference, source):
                    rows.append(row)
                    indices.append(i)
            except InputError as invalid_text:
                rewards[i] = self.handle_error(i, invalid_text)
        self._check_texts([row[0] for row in rows], len(completions))
        source_rows = [(row[2], *row[1:]) for row in rows if self.baseline == "source"]
        values = self._score_rows(metrics, rows + source_rows)
        number = 0.0 if isinstance(self.baseline, str | None) else float(self.baseline)
        subtrahends = values[len(rows) :] or [number] * len(rows)
        valid: list[int] = []
        for i, value, subtrahend in zip(indices, values, subtrahends, strict=False):
            if type(value) is float and type(subtrahend) is float:
                rewards[i] = value - subtrahend
                valid.append(i)
            else:
                error = value if isinstance(value, InputError) else subtrahend
                rewards[i] = self.handle_error(i, error)
        if self.has_group_baseline:
            self._subtract_group_means(rewards, valid, groups)
        return rewards

    def extract_answer(self, text: str) -> str:
        """Return the part of a completion that is scored.

        >>> reward("bleu", after="<answer>").extract_answer("Sure! <answer>it rains</answer>")
        'it rains'
        """
        if self.strip_thinking:
            # The three cases of NeMo Gym's wmt_translation server (07d6b0d07).
            if ">" in text:
                _, end_tag, answer = text.rpartition("</think>")
                text = answer if end_tag or "<think>" not in text else ""
            text = text.strip()
        if self.after and self.after in text:
            text = text.rsplit(self.after, 1)[1]
            if self.after[0] == "<" and self.after[-1] == ">":
                text = text.partition(f"</{self.after[1:]}")[0]
        if self.strip_fences and (block := _FENCED_BLOCK.fullmatch(text)):
            fence, content = block[1], block[2] or ""
            if not any(line.lstrip().startswith(fence) for line in content.split("\n")):
                text = content
        return normalize_text(self.normalize, text) if self.normalize else text

    def _read_row(self, completion: Any, references: Any, source: Any) -> tuple[Any, ...] | None:
        """Return the texts of one row, with its source if needed, or None without references."""
        text = completion if type(completion) is str else reward_hosts.read_text(completion)
        text = self.extract_answer(text)
        if type(references) is not str:
            references = reward_hosts.read_references(references)
            if references is None:
                return None
        if self.normalize:
            references = normalize_input(self.normalize, references)
        if not self.needs_source:
            return text, references
        source = reward_hosts.read_text(source, "source")
        return text, references, normalize_input(self.normalize, source)

    def _score_rows(self, metrics: list[Any], rows: list[Any]) -> list[Any]:
        """Return the value of each row before the baseline, or the error of an invalid row."""
        unique_rows = list(dict.fromkeys(rows))
        self._count(scored=len(unique_rows))
        try:
            values: list[Any] = self._score_valid_rows(metrics, unique_rows)
        except MetricMissingError:  # a fault of the installation, not of a row
            raise
        except InputError:
            values = []
            for row in unique_rows:
                try:
                    values += self._score_valid_rows(metrics, [row])
                except InputError as error:
                    values.append(error)
        if len(unique_rows) == len(rows):
            return values
        values_by_row = dict(zip(unique_rows, values, strict=True))
        return [values_by_row[row] for row in rows]

    def _score_valid_rows(self, metrics: list[Any], rows: list[Any]) -> list[float]:
        if not rows:
            return []
        texts, references, *sources = (list(column) for column in zip(*rows, strict=True))
        weighted = []
        for metric, weight in metrics:
            # Segments of some metrics affect each other. No such metric reads sources.
            if metric.non_additive_reason or (metric.reads_text and len(texts) <= MAX_SINGLE_CALLS):
                scores: Any = [one.value for one in map(metric.sentence, texts, references)]
            else:
                options: Any = {"sources": sources[0]} if metric.NEEDS_SOURCE else {}
                scores = metric.segments(texts, references, **options)
            weighted.append([score * weight for score in scores])
        totals = weighted[0] if len(weighted) == 1 else map(sum, zip(*weighted, strict=True))
        values = [total * self.scale for total in totals]
        if self.length_penalty:
            # exp(1 - c / r) for texts of c words, longer than r words. Words and the closest
            # reference are BLEU's, with the tokenizer of the first metric.
            tokenizer = metrics[0][0].parameters.get("tokenize", "13a")
            counts = BLEU(tokenizer, max_order=1).statistics(texts, references)
            lengths = zip(counts["hypothesis_length"], counts["reference_length"], strict=True)
            penalties = [1.0 if c <= r else exp(1 - c / r) if r else 0.0 for c, r in lengths]
            values = [value * one for value, one in zip(values, penalties, strict=True)]
        if self.empty is not None:
            empty = float(self.empty)
            pairs = zip(texts, values, strict=True)
            values = [value if text.strip() else empty for text, value in pairs]
        return values

    def _subtract_group_means(self, rewards: list[Any], indices: list[int], groups: Any) -> None:
        """Subtract the mean of the group, without the completion itself for "leave-one-out"."""
        indices_by_group: dict[str, list[int]] = {}
        for i in indices:
            key = groups[i] if isinstance(groups[i], str) else repr(groups[i])
            indices_by_group.setdefault(key, []).append(i)
        for members in indices_by_group.values():
            values = [rewards[i] for i in members]
            if len(values) == 1:
                problem = (
                    "the only completion of its prompt "
                    f"(baseline={self.baseline!r} expects at least two). Pass whole groups in one "
                    "call, or use another baseline."
                )
                rewards[members[0]] = self.handle_error(members[0], InputError(problem))
                continue
            total = fsum(values)
            for i, value in zip(members, values, strict=True):
                is_mean = self.baseline == "mean"
                mean = total / len(values) if is_mean else (total - value) / (len(values) - 1)
                rewards[i] = value - mean

    def handle_error(self, index: int, error: InputError) -> float:
        """Return `on_error`, or raise the error with the number of the row."""
        counted = self.count_error(f"{self.name}, row {index + 1}: {error}")
        if self.on_error == "raise":
            raise counted from None
        return float(self.on_error)

    def count_error(self, message: str) -> InputError:
        """Add an error to the statistics, and return it. Some trainers hide raised errors."""
        self._count(errors=1)
        return InputError(message)

    def _count(self, **counts: int) -> None:
        with _COUNT_LOCK:
            for name, count in counts.items():
                self.statistics[name] += count

    def _check_texts(self, texts: list[str], completion_count: int) -> None:
        """Count the texts to score, and warn if many contain think tags."""
        blank = sum(1 for text in texts if not text or text.isspace())
        thinking = sum(1 for text in texts if ">" in text and _THINK_TAG.search(text))
        self._count(calls=1, completions=completion_count, blank=blank, thinking=thinking)
        if thinking > MAX_THINKING_SHARE * completion_count and "_warned" not in self.__dict__:
            self.__dict__["_warned"] = True  # the dataclass is frozen
            message = (
                f"{self.name}: {thinking:,} of {completion_count:,} completions contain <think> "
                "tags, which are scored as text. Pass strip_thinking=True to score the answers."
            )
            raise_text_warnings([{"kind": "thinking", "text": message}])
