"""Build the page "Which metric should I train on?"."""

from __future__ import annotations

import warnings

from page_helpers import fill_template

import truebleu as tb

# 13 tokens.
REFERENCE = "The committee will publish its final report on the accident next Monday."
COMPLETIONS = {
    "a good paraphrase": "The panel is going to release its final report about the crash on Monday.",
    "the first half": "The committee will publish its final report",
    "the words in alphabetical order": " ".join(sorted(REFERENCE.split(), key=str.lower)),
    "the reference and a friendly sentence": (
        f"{REFERENCE} I hope this helps! Please let me know if you need anything else."
    ),
    "the reference twice": f"{REFERENCE} {REFERENCE}",
    "thoughts in think tags, then the reference": (
        f"<think>They ask when the report will appear. I translate it now.</think>\n{REFERENCE}"
    ),
    "the reference in a code fence": f"```\n{REFERENCE}\n```",
    "unrelated words": "Fresh bread from the small bakery tastes better than any cake.",
    "one correct word": "committee",
}
REWARDS = {
    "BLEU": tb.reward("bleu", scale=1),
    "add-k": tb.reward(tb.BLEU(smoothing="add-k"), scale=1),
    "floor": tb.reward(tb.BLEU(smoothing="floor"), scale=1),
    "none": tb.reward(tb.BLEU(smoothing="none"), scale=1),
    "chrF": tb.reward("chrf", scale=1),
    "chrF, β = 1": tb.reward(tb.CHRF(beta=1), scale=1),
    "chrF, mirror": tb.reward("chrf", scale=1, length_penalty="mirror"),
    "GLEU": tb.reward("gleu", scale=1),
    "ROUGE-L": tb.reward("rouge-l", scale=1),
}


def build_page() -> str:
    """Return the page docs/how-to/rewards.md."""
    with warnings.catch_warnings(action="ignore", category=tb.TextWarning):  # think tags
        scores = {
            name: {case: reward.one(text, REFERENCE) for case, text in COMPLETIONS.items()}
            for name, reward in REWARDS.items()
        }
    ter = tb.reward("ter", scale=-0.01).one(" ".join([REFERENCE] * 3), REFERENCE)
    return fill_template(
        "rewards", reference=REFERENCE, completions=COMPLETIONS, scores=scores, ter=ter
    )
