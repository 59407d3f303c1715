"""The growth suite's declaration: which entry points are given which texts, in which sizes."""

from __future__ import annotations

import gzip
import json
import os
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

import texts
from texts import RUNS, TOKENS

import truebleu
from truebleu import BLEU, CER, CHRF, GLEU, NIST, TER, WER, File, NGramF, _kernel, cli
from truebleu.reports import data_checks, distinctive_ngrams
from truebleu.text import mecab, tokenizers
from truebleu.text import segments as reader

Work = Callable[[], object]


@dataclass(frozen=True)
class Case:
    """Work that is made for a size; a size that is next to nothing, and the smallest to measure."""

    make: Callable[[int, Path], Work]
    empty: int
    min_size: int
    # Reason why the definition costs more than n log n, up to the square of the size, if it does.
    dearer: str = ""

    @property
    def sizes(self) -> tuple[int, int, int]:
        return self.min_size, 2 * self.min_size, 4 * self.min_size


CASES: dict[str, Case] = {}


def add(
    name: str, make: Callable[[int, Path], Work], empty: int, min_size: int, **options: object
) -> None:
    assert name not in CASES, name
    CASES[name] = Case(make, empty, min_size, **options)  # type: ignore[arg-type]


def prepare(folder: Path, names: Iterable[str]) -> None:
    """Make what takes long to make, before anything is counted: counting is slow."""
    for case in map(CASES.__getitem__, names):
        for size in (case.empty, *case.sizes):
            case.make(size, folder)
    if find_spec("sentencepiece"):
        import sentencepiece

        lines = [texts.prose(30) for _ in range(3)] + ["abcdefghijklm nopqrstuvwxyz .,!$<&"] * 20
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines),
            model_prefix=str(folder / "pieces"),
            vocab_size=80,
            hard_vocab_limit=False,
            minloglevel=2,
        )


# ---- one segment, which has all the text ----

# Excludes registered metrics that start other programs, load models or need a source.
METRICS: dict[str, Callable[[], truebleu.Metric]] = {
    "BLEU": BLEU,
    "BLEU none": partial(BLEU, "none"),
    "BLEU of order 16": partial(BLEU, "none", max_order=16),
    "CHRF": CHRF,
    "CHRF++": partial(CHRF, word_order=2),
    "TER": TER,
    "WER": WER,
    "CER": CER,
    "NGramF": partial(NGramF, (1, 2)),
    "NIST": NIST,
    "GLEU": GLEU,
    "MER": truebleu.MER,
    "WIL": truebleu.WIL,
    "WIP": truebleu.WIP,
    "CodeBLEU": partial(truebleu.CodeBLEU, part="ngram"),
    "NLTKBLEU": truebleu.NLTKBLEU,
    "ROUGE-2": partial(truebleu.metric, "rouge-2"),
    "CIDEr": partial(truebleu.metric, "cider-d"),
}


def text_of(folder: Path, make: Callable[[int], str], n: int) -> str:
    """Return a text of a size, kept in the folder."""
    cached_file = folder / f"{make.__name__}.{n}"
    if not cached_file.exists():
        cached_file.write_text(make(n))
    return cached_file.read_text()


def pair(metric: Callable[[], truebleu.Metric], make: Callable[[int], str]) -> Callable:
    def prepared(n: int, folder: Path) -> Work:
        text = text_of(folder, make, n)
        hypothesis, references = [texts.shuffled(text)], [text]
        return lambda: metric().score(hypothesis, references)

    return prepared


ALIGNED = dict.fromkeys(
    ("WER", "MER", "WIL", "WIP", "CER"),
    "the edit distance is found in (length × distance) / 64 steps",
)
# Each way of matching is given every text, and what counts by one of them some.
METRICS_WITH_EVERY_TEXT = ("BLEU", "BLEU none", "CHRF++", "TER", "WER", "NGramF")
SHARED_TEXTS = ("words", "one_key", "prose")
for _name, _metric in METRICS.items():
    for _text in TOKENS if _name in METRICS_WITH_EVERY_TEXT else SHARED_TEXTS:
        _make = TOKENS[_text]
        _bound = ALIGNED.get(_name, "")
        # Larger than bitsets support, if the definition is not more expensive.
        _min_size = 60 if _name == "CER" else 300 if _bound or _name == "TER" else 2400
        add(f"{_name}, one segment of {_text}", pair(_metric, _make), 1, _min_size, dearer=_bound)


# ---- corpora: lines of 20 tokens ----


def lines_of(text: str) -> list[str]:
    """Return the text in lines of 20 tokens."""
    tokens = text.split()
    return [" ".join(tokens[i : i + 20]) for i in range(0, len(tokens), 20)]


def make_corpus_case(
    use: Callable[[list[str], list[str]], object], make: Callable[[int], str]
) -> Callable:
    def prepared(n: int, folder: Path) -> Work:
        text = text_of(folder, make, n)
        hypotheses, references = lines_of(texts.shuffled(text)), lines_of(text)
        return lambda: use(hypotheses, references)

    return prepared


def with_tokens(hypotheses: list[str], references: list[str]) -> object:
    split = [[line.split() for line in side] for side in (hypotheses, references)]
    return BLEU("none").score(split[0], [[line] for line in split[1]])


def with_arrow(hypotheses: list[str], references: list[str]) -> object:
    import pyarrow as pa

    return BLEU().score(pa.array(hypotheses), pa.array(references))


def with_sums(hypotheses: list[str], references: list[str]) -> object:
    import pyarrow as pa

    from truebleu.engines import Sums

    table = pa.table({"hyp": hypotheses, "ref": references, "by": hypotheses})
    return Sums("bleu", by="by").update(table).scores()


def with_sacrebleu(hypotheses: list[str], references: list[str]) -> object:
    from sacrebleu import corpus_bleu

    from truebleu.compat import install

    install("sacrebleu")
    return corpus_bleu(hypotheses, [references])


def with_nltk(hypotheses: list[str], references: list[str]) -> object:
    from nltk.translate import bleu_score

    from truebleu.compat import install

    install("nltk")
    return bleu_score.corpus_bleu(
        [[line.split()] for line in references], [line.split() for line in hypotheses]
    )


def with_accumulator(hypotheses: list[str], references: list[str]) -> object:
    accumulator = truebleu.Accumulator("bleu")
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        accumulator.update([hypothesis], [reference])
    return accumulator


def flagged(hypotheses: list[str], references: list[str]) -> object:
    """Return the flags of each segment if all segments share one reference."""
    hypotheses, references = (
        [t.encode() for t in " ".join(side).split()] for side in (hypotheses, references)
    )
    constant_reference = [b"the same"] * len(references)
    return data_checks.find_flags([hypotheses], [constant_reference, references], None)


def contrasted(hypotheses: list[str], references: list[str]) -> object:
    """Return the n-grams that set two systems apart."""
    systems = [[line.encode() for line in side] for side in (hypotheses, hypotheses[::-1])]
    corpus = distinctive_ngrams.build_corpus(
        systems, [[line.encode() for line in references]], BLEU()
    )
    return distinctive_ngrams.list_distinctive_ngrams(corpus, BLEU(), [(0, 1)])


def reported(hypotheses: list[str], references: list[str]) -> object:
    systems = {"a": hypotheses, "b": hypotheses[::-1]}
    return truebleu.report(systems, references, samples=2, confidence=None).html()


def with_source(metric: type[truebleu.Metric]) -> Callable[[list[str], list[str]], object]:
    """Return a metric that needs sources, which resemble the references."""
    return lambda hypotheses, references: metric().score(hypotheses, references, references[::-1])


def agreed(hypotheses: list[str], references: list[str]) -> object:
    """Meta-evaluate two metrics; the human score of a segment is its length."""
    systems = {"a": hypotheses, "b": references, "c": hypotheses[::-1]}
    human = {name: [float(len(line)) for line in lines] for name, lines in systems.items()}
    text = truebleu.EvaluatedText(systems, references)
    tests = truebleu.AgreementTests(significance=2)
    return truebleu.meta_evaluate(human, ["bleu", "chrf"], text=text, tests=tests)


CORPORA: dict[str, Callable[[list[str], list[str]], object]] = {
    "BLEU.segments": lambda hypotheses, references: BLEU().segments(hypotheses, references),
    "BLEU.statistics": lambda hypotheses, references: BLEU().statistics(hypotheses, references),
    "CHRF.segments": lambda hypotheses, references: CHRF().segments(hypotheses, references),
    "TER.segments": lambda hypotheses, references: TER().segments(hypotheses, references),
    "lists of tokens": with_tokens,
    "Arrow": with_arrow,
    "Sums by text": with_sums,
    "compat.sacrebleu": with_sacrebleu,
    "compat.nltk": with_nltk,
    "Accumulator": with_accumulator,
    "compare": lambda hypotheses, references: truebleu.compare(
        {"a": hypotheses, "b": references}, references, samples=2, confidence=None
    ),
    "check": lambda hypotheses, references: truebleu.check(
        hypotheses, references, against=references, max_drop=99
    ),
    "report": reported,
    "report's flags": flagged,
    "report's n-grams": contrasted,
    "self_bleu": lambda texts, _: truebleu.self_bleu(texts),
    "distinct_n": lambda texts, _: truebleu.distinct_n(texts, 3),
    "IBLEU": with_source(truebleu.IBLEU),
    "GECGLEU": with_source(truebleu.GECGLEU),
    "SARI": with_source(truebleu.SARI),
    "family": truebleu.family.score,
    "which": lambda hypotheses, references: truebleu.which(12.34, hypotheses, references),
    "meta_evaluate": agreed,
    "ngrams": lambda hypotheses, _: truebleu.ngrams(" ".join(hypotheses), 2),
    "tokenize": lambda hypotheses, _: truebleu.tokenize(" ".join(hypotheses)),
    "mean_document_bleu": lambda hypotheses, references: truebleu.mean_document_bleu(
        hypotheses, references, [i // 3 for i in range(len(references))]
    ),
    "document_bleu": lambda hypotheses, references: truebleu.document_bleu(
        hypotheses, references, [i // 3 for i in range(len(references))]
    ),
}
for _name, _use in CORPORA.items():
    # To find a score, every BLEU of the family is computed many times.
    for _text in ("prose",) if _name == "which" else SHARED_TEXTS:
        _min_size = {"which": 300, "IBLEU": 1600, "ngrams": 1600}.get(_name, 400)
        add(f"{_name}, lines of {_text}", make_corpus_case(_use, TOKENS[_text]), 40, _min_size)


# ---- all pairs of a fixed number of texts of growing length ----


def prepare_few_texts(
    use: Callable[[list[str]], object], make: Callable[[int], str], count: int
) -> Callable:
    def prepared(n: int, folder: Path) -> Work:
        tokens = text_of(folder, make, n).split()
        share = max(1, len(tokens) // count)
        pieces = [" ".join(tokens[i * share : (i + 1) * share]) for i in range(count)]
        return lambda: use(pieces)

    return prepared


ALL_PAIRS: dict[str, Callable[[list[str]], object]] = {
    "BLEU.matrix": lambda texts: BLEU("none").matrix(texts, texts),
    "CHRF++.matrix": lambda texts: CHRF(word_order=2).matrix(texts, texts),
    "WER.matrix": lambda texts: WER().matrix(texts, texts),
    "mbr": lambda texts: truebleu.mbr(texts, utility=BLEU("none")),
    "mbr, aggregate": lambda texts: truebleu.mbr(texts, utility="chrf++", method="aggregate"),
    "mbr, pruned": lambda texts: truebleu.mbr(texts, utility="chrf", method="pruned"),
    "pairwise_diversity": lambda texts: truebleu.pairwise_diversity(texts, metric=BLEU("none")),
}
for _name, _use in ALL_PAIRS.items():
    for _text in SHARED_TEXTS:
        _bound = ALIGNED.get(_name.removesuffix(".matrix"), "")
        # As texts of few different characters get longer, more of their n-grams are in all of them,
        # which takes longer until all are.
        _min_size = 100 if (_name, _text) == ("CHRF++.matrix", "one_key") else 800
        # With few texts each pair is counted separately, with another algorithm for long texts.
        _min_size = 8000 if _name.startswith("mbr") else _min_size
        add(
            f"{_name}, 10 texts of {_text}",
            prepare_few_texts(_use, TOKENS[_text], 10),
            20,
            _min_size,
            dearer=_bound,
        )


# ---- one pair, shown ----

for _name, _metric in {"BLEU": BLEU, "CHRF": CHRF, "TER": TER, "WER": WER}.items():
    for _text in ("words", "one_word"):

        def _explained(metric: type[truebleu.Metric], make: Callable[[int], str]) -> Callable:
            def prepared(n: int, folder: Path) -> Work:
                text = text_of(folder, make, n)
                return lambda: str(truebleu.explain(texts.shuffled(text), text, metric()))

            return prepared

        add(f"explain {_name}, {_text}", _explained(_metric, TOKENS[_text]), 1, 100)


# ---- many references ----


def prepare_many_references(
    metric: Callable[[], truebleu.Metric], reference: Callable[[int], str]
) -> Callable:
    """As many references as the hypothesis has tokens."""

    def prepared(n: int, folder: Path) -> Work:
        hypothesis, references = text_of(folder, texts.words, n), [reference(i) for i in range(n)]
        return lambda: metric().sentence(hypothesis, references)

    return prepared


REFERENCE_REASON = "the definition compares the hypothesis with each reference"
METRICS_WITH_JOINT_REFERENCES = (
    "BLEU",
    "BLEU none",
    "BLEU of order 16",
    "NIST",
    "CodeBLEU",
    "NLTKBLEU",
)
for _name, _metric in METRICS.items():
    for _text, _reference in {
        "different": lambda i: f"w{i}",
        "different, and one long": lambda i: f"w{i} " * (300 if i == 0 else 1),
    }.items():
        _dearer = "" if _name in METRICS_WITH_JOINT_REFERENCES else REFERENCE_REASON
        add(
            f"{_name}, references that are {_text}",
            prepare_many_references(_metric, _reference),
            1,
            150,
            dearer=_dearer,
        )


# ---- tokenizers: one rule again and again ----


def split(name: str) -> Callable:
    """Return one segment per run of this number of bytes; no reference token matches."""

    def prepared(n: int, folder: Path) -> Work:
        segments = [texts.run(unit, n) for unit in RUNS]
        tokenizer = f"spm:{folder}/pieces.model" if name == "spm" else name
        return lambda: BLEU(tokenizer).score(segments, [""] * len(segments))

    return prepared


def is_here(name: str) -> bool:
    """Return True if the tokenizer has what it needs."""
    if name == "icu:LOCALE":
        return False
    if name == "spm":
        return find_spec("sentencepiece") is not None
    return not name.endswith("mecab") or not mecab.describe_missing_data(name)


TOKENIZERS = [
    *tokenizers.KERNEL_TOKENIZERS,
    *tokenizers.PYTHON_TOKENIZERS,
    "spm",
    "ja-mecab",
    "ko-mecab",
]
LONGEST_MATCH_REASON = "a rule reads a whole word, such as an address, before a shorter one matches"
for _name in filter(is_here, TOKENIZERS):
    _dearer = LONGEST_MATCH_REASON if _name.startswith("ptb") else ""
    add(f"tokenize {_name}", split(_name), 1, 1000, dearer=_dearer)


# ---- files, pipes, compressed files, the command line ----


def piped(data: bytes) -> str:
    """Return the name of a pipe into which these bytes come."""
    reads, writes = os.pipe()

    def write() -> None:
        with os.fdopen(writes, "wb") as pipe:
            pipe.write(data)

    threading.Thread(target=write, daemon=True).start()
    return f"/dev/fd/{reads}"


def dripping(data: bytes) -> _kernel.Source:
    """Return a source that gives 128 bytes at a time, as slow programs do."""
    file = BytesIO(data)
    return _kernel.stream(lambda size: file.read(min(size, 128)), "text")


def one_line(kind: str) -> Callable:
    """Return one line of this number of bytes, passed in different ways."""

    def prepared(n: int, folder: Path) -> Work:
        data = b"long line " * (n // 10)
        plain = folder / f"line.{n}"
        plain.write_bytes(data)
        if kind == "file":
            return lambda: BLEU().score(File(plain), [File(plain)])
        if kind == "gzip":
            packed = folder / f"line.{n}.gz"
            packed.write_bytes(gzip.compress(data))
            return lambda: BLEU().score(File(packed), [File(plain)])
        if kind == "pipe":
            return lambda: BLEU().score(File(piped(data)), [File(plain)])
        if kind == "column":
            return lambda: BLEU().score(File(plain, column=1), [File(plain)])
        if kind == "utf-16":
            wide = folder / f"wide.{n}"
            wide.write_text(data.decode(), encoding="utf-16")
            return lambda: BLEU().score(File(wide, encoding="utf-16"), [File(plain)])
        if kind == "lines":
            return lambda: list(reader.split_lines(data[i : i + 128] for i in range(0, n, 128)))
        if kind == "command line":
            return lambda: cli.main(
                ["score", str(plain), "-i", str(plain), "-o", str(folder / "out")]
            )
        metric = _kernel.Metric.ngram_f(tokenizer="none", lowercase="no", orders=[1], factor=1)
        return lambda: metric.scan(dripping(data), [dripping(data)], 1).totals()

    return prepared


for _kind in ("file", "gzip", "pipe", "column", "utf-16", "lines", "command line"):
    add(f"one line, {_kind}", one_line(_kind), 1000, 32_000)
add("one line, 128 bytes at a time", one_line("dripping"), 1000, 32_000)


# ---- a log of scores ----


def logged(n: int, folder: Path) -> Work:
    log, plain = folder / f"log.{n}", folder / "plain"
    if not log.exists():
        plain.write_text("a b c d\n")
        command = ["score", str(plain), "-i", str(plain), "-o", str(folder / "out")]
        cli.main([*command, "--log", str(log)])
        log.write_text(log.read_text() * n)
    return lambda: str(truebleu.history(log))


add("history", logged, 1, 100)

# ---- text in other segments, subtitles, logs of simultaneous systems ----


def resegmented(method: str) -> Callable:
    def prepared(n: int, folder: Path) -> Work:
        words = texts.prose(n).split()
        references = [" ".join(words[i : i + 10]) for i in range(0, n, 10)]
        text = " ".join("changed" if i % 10 == 3 else word for i, word in enumerate(words))
        return lambda: truebleu.resegment(text, references, method)

    return prepared


for _method in ("soft", "mweralign-none", "omnisteval", "as-wer"):
    add(
        f"resegment {_method}",
        resegmented(_method),
        100,
        2000,
        dearer="every word of the text may be in every segment",
    )


def subtitled(use: Callable[[Path], object]) -> Callable:
    def prepared(n: int, folder: Path) -> Work:
        file = folder / f"subtitles.{n}.srt"
        if not file.exists():
            file.write_text(
                "".join(
                    f"{i + 1}\n{i // 3600:02}:{i // 60 % 60:02}:{i % 60:02},000 --> "
                    f"{i // 3600:02}:{i // 60 % 60:02}:{i % 60:02},900\n"
                    f"This is subtitle {i}\nwith two lines.\n\n"
                    for i in range(n)
                )
            )
        return lambda: use(file)

    return prepared


add("read_subtitles", subtitled(truebleu.read_subtitles), 10, 500)
add("suber", subtitled(lambda file: truebleu.suber(file, file)), 10, 200)


def delayed(n: int, folder: Path) -> Work:
    log = folder / f"instances.{n}.log"
    if not log.exists():
        words = texts.prose(20).split()
        entry = {
            "prediction": " ".join(words),
            "delays": [100 * i for i in range(20)],
            "elapsed": [110 * i for i in range(20)],
            "prediction_length": 20,
            "reference": " ".join(words),
            "source": ["speech.wav"],
            "source_length": 2000,
        }
        log.write_text("".join(json.dumps({"index": i, **entry}) + "\n" for i in range(n)))
    return lambda: truebleu.latency(log)


add("latency", delayed, 10, 300)

# ---- token ids, rewards, error spans ----


def make_ids(n: int, _: Path) -> Work:
    values = [[i % 1009, i * 7 % 1009, i, 5] for i in range(n)]
    return lambda: BLEU().score(truebleu.token_ids(values, pad=0), values)


def make_rewards(n: int, _: Path) -> Work:
    references = [f"the cat number {i} sat on the mat" for i in range(n)]
    completions = [f"<think>{i}</think>{text}." for i, text in enumerate(references)]
    return lambda: truebleu.reward("chrf", strip_thinking=True)(completions, references)


def make_spans(n: int, folder: Path) -> Work:
    file = folder / f"mqm.{n}.tsv"
    header = "system doc doc_id seg_id rater source target category severity"
    rows = [f"a d 1 {i + 1} r x it_<v>rains</v> Grammar Minor" for i in range(n)]
    file.write_text("".join("\t".join(row.split()) + "\n" for row in (header, *rows)))
    return lambda: truebleu.read_spans(file)


add("token_ids", make_ids, 10, 2000)
add("reward", make_rewards, 10, 1000)
add("read_spans", make_spans, 10, 500)

# ---- public names with and without a case ----

# Names of cases begin with these words.
COMMAND_TITLES = {
    "explain": "explain",
    "bleu": "BLEU",
    "chrf": "CHRF",
    "ter": "TER",
    "Statistics": "BLEU.statistics",
    "File": "one line, file",
    "Metric": "BLEU.segments",
    "metric": "ROUGE-2",
    "document_frequencies": "CIDEr",
}
NO_TEXT = dict.fromkeys(
    (
        *("Signature", "InputError", "TextWarning", "TestSet", "testset", "language", "lab"),
        *("autorank", "cite", "create_playground", "__version__"),
    ),
    "reads no text of any size",
) | dict.fromkeys(
    (
        "AgreementTests",
        "Check",
        "Comparison",
        "ErrorSpan",
        "ErrorSpans",
        "EvaluatedText",
        "Explanation",
        "Family",
        "History",
        "Latency",
        "Playground",
        "Resegmentation",
        "SetupDescription",
        "SubERScore",
        "MBR",
        "MetaEvaluation",
        "StatisticOptions",
        "SystemSelection",
        "TaskFolder",
        "Report",
        "Reward",
        "Score",
        "Scores",
    ),
    "is what another function returns",
)
