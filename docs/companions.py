"""The page docs/companions.md: metrics beside BLEU, from the registry and the examples."""

from __future__ import annotations

from parts import BUILT, HYPOTHESES, REFERENCES, code, table

import truebleu as tb
from truebleu.metrics import registry
from truebleu.metrics.python_metric import ColumnMetric

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What brings the packages of metrics that need some.
NEEDS = {
    "ROUGE": "`pip install 'truebleu[rouge]'`",
    "METEOR": "Java, and the jar of `pycocoevalcap`: `pip install 'truebleu[meteor]'`",
    "METEOR-nltk": "`pip install 'truebleu[meteor]'`, and WordNet: NLTK's, or Debian's `wordnet-base`",
    "BERTScore": "`pip install 'truebleu[neural]'`, and a model",
    "COMET": "`unbabel-comet` in an environment with numpy 1, and a model",
    "BLEURT": "`pip install 'truebleu[neural]'`, and a model",
    "command": "the program",
}
SHOWN = ["bleu", "chrf", "rouge-l", "wer"]


def page() -> str:
    """The page."""
    systems = {name: str(path) for name, path in HYPOTHESES.items()}
    made = tb.compare(
        {name: HYPOTHESES[name] for name in systems}, REFERENCES["A"], metrics=["bleu", "wer"]
    ).to_dict()
    pair = {one["metric"]: one for one in made["pairs"] if {one["first"], one["second"]} == PAIR}
    return f"""{BUILT}
# Metrics beside BLEU

BLEU counts n-grams of words; other metrics count edits, characters or synonyms, or ask a model. If they agree, a
result is safer than with BLEU alone. If they disagree on the winner, read the segments in which they differ. One
command puts them into one table, with intervals and tests on the same resamples:

```
truebleu compare reference.en -i birch.en cedar.en -m bleu chrf rouge-l wer meteor
truebleu compare reference.en -i birch.en cedar.en -src source.de -m bleu comet:models/wmt22-comet-da
truebleu compare reference.en -i birch.en cedar.en -m bleu 'command:Mine=./mine.py {{hyp}} {{ref}}'
truebleu compare reference.en -i birch.en cedar.en -m bleu --scores COMET=comet.json
```

On the examples, cedar against birch: BLEU {_told(pair["BLEU"])}, WER {_told(pair["WER"])}.

## Which there are

{_metrics()}

**A corpus is a sum or a mean.** A sum adds up counts of all segments and applies the formula to the totals, as BLEU
does. A mean is taken over the scores of the segments. The two differ: in the WER of a corpus each word has the same
weight, in a mean each segment. Scores of which the mean is taken are stored as integers that add up exactly, so such
metrics have documents, groups, engines and tests as well. NIST weighs n-grams by the references of the whole corpus.
Resamples, groups and documents keep those weights, as in mteval. The sums of separate corpora cannot be added up;
if you try, the error says so.

`ngram-f` beside `rouge-1`: both are F-scores of n-grams. `ngram-f` counts BLEU's tokens, of any script, and
adds them up over the corpus; ROUGE keeps lower-cased runs of a-z and 0-9, may stem them, and is a mean.
On the same tokens a segment has the same score. `rouge-l` counts the longest sequence of words that both
texts have in the same order; `rouge-lsum` does so by the lines of a segment. ROUGE refuses text whose letters
are mostly of other scripts, because it would score 0; `-tok` or `-l` chooses a tokenizer for such text. It breaks words
at letters with diacritics and [warns of them](languages.md#warnings-about-the-text); `-tok intl` keeps such words.
There are `rouge-3` to `rouge-9`, too. A name that ends in `+stem` uses Porter's stems (`rouge-l+stem`), and `rouge`
stands for `rouge-1 rouge-2 rouge-l`.

## A program of your own

`command:NAME=PROGRAM` calls a program once for each system; the program may have an environment of its own.
`{{hyp}}`, `{{ref}}` and `{{src}}` stand for files with one segment per line, `{{refs}}` for several files, one for each
reference. The program prints a number for each segment, one per line. This is how COMET, which needs numpy 1, runs
beside truebleu:

```sh
#!/bin/sh
# comet.sh SOURCE HYPOTHESES REFERENCES
/opt/comet/bin/comet-score -s "$1" -t "$2" -r "$3" | sed -n 's/.*Segment.*score: //p'
```

```
truebleu compare reference.en -i birch.en cedar.en -src source.de -m bleu 'command:COMET=sh comet.sh {{src}} {{hyp}} {{ref}}'
```

Higher is better, unless the name is that of an error rate (`command:TER=...`) or `--command-lower-is-better` says
so. A program that takes longer than an hour for a system is stopped (`--command-timeout`). In Python it is
`tb.metric("command:NAME=PROGRAM")`.

If a metric fails (its program ends with an error, or prints too few numbers or something that is not a number; a
model gives NaN), it is left out, and a message names it and the segment. The scores of the others are written, and the
exit status is 1.

Scores that took more than a millisecond per segment are cached. The key is the text, the metric with its
parameters and versions, and the files that the program's command line names. `--no-cache` computes them again.

## Models

`comet:MODEL`, `bertscore:MODEL` and `bleurt:MODEL` take a folder, or a name that stands in the cache of the
Hugging Face hub. Nothing is downloaded; if a model is missing, the error gives the command that downloads it. Signatures say `model:NAME@REVISION`, the
last part of the folder or the hub's name, and eight digits of the hub's revision or of a sum of the model's
configuration and weights. They contain nothing about your machine. Such a signature can be read back wherever a
model of that name and revision is found: in the process that used it, in the working folder, in a folder of `TRUEBLEU_MODELS`, or in the hub's
cache. The last bits of a neural score depend on the device and the batch size; a comparison says so.

## Scores from elsewhere

`--scores NAME=FILE` takes what another program wrote: a number per line (a file for each system), a
tab-separated column for each system, lines of a system's name and a score (mt-metrics-eval), what
`comet-score` and `comet-compare` print or write with `--to_json`, and MetricX's JSON lines, a file for each
system. The format is recognized by the content. COMET names systems by their files: `outputs/cedar.en` is `cedar`. The
score is the mean, and its signature is `COMET|given|sha256:…`, with the checksum of the numbers. For TER, WER, CER,
MER, WIL, CharacTER and MetricX lower is better; for others, say so with `--lower-is-better`.

## A metric of your own in truebleu

In a checkout, a metric is one file in `truebleu/metrics/` and one line in its registry (CONTRIBUTING.md has an
example). A metric that gives a number for each segment derives from `ColumnMetric` and defines `_numbers`; it inherits
everything else.
"""


PAIR = {"cedar", "birch"}


def _told(pair: Any) -> str:
    interval = pair["interval"]
    return (
        f"{pair['value']:+.1f} [{interval['low']:+.1f}, {interval['high']:+.1f}] "
        f"(p = {pair['p']:.4f})"
    ).replace("-", "−")


def _metrics() -> str:
    names: dict[type, list[str]] = {}
    for name in registry.METRICS:
        names.setdefault(registry.class_of(name), []).append(name)
    for name, text in zip(registry.WITH_TEXT, registry.with_text(), strict=True):
        names.setdefault(registry.class_of(name), []).append(text)
    rows = [
        [
            ", ".join(map(code, known)),
            (cls.__doc__ or "").partition("\n")[0].rstrip("."),
            "mean" if issubclass(cls, ColumnMetric) else "sum",
            "lower" if cls.LOWER_IS_BETTER else "higher",
            NEEDS.get(cls.NAME, ""),
        ]
        for cls, known in names.items()
    ]
    return table(["name", "what it is", "a corpus is a", "better", "needs"], rows, left=5)
