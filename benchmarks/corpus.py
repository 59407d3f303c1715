"""The benchmark texts, which are built once from WMT22 system outputs and kept in build/bench.

The outputs and references of the WMT22 general task are research data that are not part of
truebleu. They are read from `../shared/data/wmt22`, or from the folder in TRUEBLEU_WMT22. Without
them, the files are built from the segments in `examples/`, which are shorter.
"""

from __future__ import annotations

import itertools
import os
import random
import tomllib
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
WMT22 = Path(os.environ.get("TRUEBLEU_WMT22", ROOT.parent / "shared" / "data" / "wmt22"))
FROM_WMT22 = WMT22.is_dir()
CACHE = ROOT / "build" / "bench" / ("wmt22" if FROM_WMT22 else "examples")

SEED = 1
SIDE_CORPUS = 250_000
"""Number of segments in the corpora for other tokenizers and for several references."""

SCORED_CANDIDATES = 2
"""Number of candidates that a slow peer scores against all other candidates, or the reverse."""

LANGUAGES = {"en": "de-en", "de": "en-de", "ru": "en-ru", "zh": "en-zh", "ja": "en-ja"}
"""Each language's code, and the test set of WMT22 from which its texts are taken."""

TEXTS = tomllib.loads(Path(__file__).with_name("texts.toml").read_text("utf-8"))

Segment = tuple[str, ...]
"""A hypothesis and its references."""


@dataclass(frozen=True)
class Corpus:
    """A file of hypotheses and the files of their references, with one segment per line."""

    hypotheses: Path
    references: tuple[Path, ...]
    segments: int

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.hypotheses, *self.references)

    @property
    def size(self) -> int:
        """Total size of all files in bytes."""
        return sum(path.stat().st_size for path in self.files)

    def head(self, segments: int) -> Corpus:
        """Return a corpus of the first segments, in separate files."""
        name = f"{self.hypotheses.parent.name}-{segments}"
        return _build_if_missing(
            name, segments, len(self.references), lambda: _read_segments(self.files)
        )


def describe_source() -> str:
    """Return a sentence about the origin of the text."""
    if FROM_WMT22:
        return "WMT22 general task system outputs and references, shuffled (seed 1) and repeated"
    return f"no WMT22 data at {WMT22.name}: segments of examples/, shuffled and repeated"


# ---- corpora ----


def load_million() -> Corpus:
    """Return 1,000,000 pairs in Czech, German and English (212 MB from WMT22)."""
    return _build_if_missing("million", 1_000_000, 1, lambda: _shuffle(_read_european(1)))


def load_ten_million() -> Corpus:
    """Return the million pairs, repeated ten times."""
    paths = load_million().files
    repeated = itertools.chain.from_iterable(_read_segments(paths) for _ in range(10))
    return _build_if_missing("ten-million", 10_000_000, 1, lambda: repeated)


def load_four_references() -> Corpus:
    """Return pairs like the million pairs, with three systems' outputs as extra references."""
    name = "four-references"
    return _build_if_missing(name, SIDE_CORPUS, 4, lambda: _shuffle(_read_european(4)))


def load_sentences(words: range, segments: int) -> Corpus:
    """Return the first pairs whose hypotheses have a word count in this range."""
    pairs = _read_segments(load_million().files)
    name = f"words-{words.start}-{words.stop - 1}-{segments}"
    return _build_if_missing(
        name, segments, 1, lambda: (pair for pair in pairs if len(pair[0].split()) in words)
    )


def load_language(code: str) -> Corpus | None:
    """Return a corpus in one language with one reference, or None if there is no such text."""
    pair = LANGUAGES[code]
    if not FROM_WMT22 and not (EXAMPLES / pair).is_dir():
        return None
    return _build_if_missing(code, SIDE_CORPUS, 1, lambda: _shuffle(_read_systems(pair, "A", 1)))


def load_test_set() -> Corpus:
    """Return one system's output on one test set: 2,037 segments of English to German."""
    if not FROM_WMT22:
        return load_million().head(2037)
    return Corpus(
        _find_outputs("en-de", "Online-W")[0], tuple(_find_references("en-de", "A")), 2037
    )


def load_test_sets() -> list[Corpus]:
    """Return every system's output on the test set of its language pair, with one reference."""
    systems = []
    for hypotheses in _find_outputs("*"):
        pair, target = hypotheses.name.split(".")[1], hypotheses.suffix
        reference = min((WMT22 / "references").glob(f"*.{pair}.ref.*{target}"))
        count = sum(1 for _ in read_corpus_lines(reference))
        systems.append(Corpus(hypotheses, (reference,), count))
    return systems


def load_ten_systems() -> tuple[tuple[Path, ...], Path]:
    """Return ten outputs for one test set of 2,037 segments, and its reference.

    With WMT22, these are the nine systems for English to German, and the second reference.
    """
    if FROM_WMT22:
        [first], [second] = (_find_references("en-de", letter) for letter in "AB")
        return (*_find_outputs("en-de"), second), first
    return tuple(write_rivals(10)), load_test_set().references[0]


def load_nine_systems() -> tuple[tuple[Path, ...], int]:
    """Return nine outputs for one test set, and the number of segments.

    With WMT22, these are the systems for German to English, with 1,984 segments.
    """
    if FROM_WMT22:
        return tuple(_find_outputs("de-en")), 1984
    return load_ten_systems()[0][:9], 2037


# ---- other texts ----


def write_rivals(count: int) -> list[Path]:
    """Return the system of the test set, followed by worse systems that lack some words."""
    first = load_test_set().hypotheses
    lines = [line.split(" ") for line in read_corpus_lines(first)]
    return [first] + [
        _write_lines(f"rivals/{number}.txt", (" ".join(each[number::2]) for each in lines))
        for number in range(1, count)
    ]


def write_korean() -> Path:
    """Write a file of Korean lines, which join random sentences that were written for this use."""
    dice = random.Random(SEED)
    lines = (" ".join(dice.sample(TEXTS["korean"], dice.randint(1, 4))) for _ in range(5000))
    return _write_lines("korean.txt", lines)


def write_candidates(count: int) -> Path:
    """Write candidates for one segment: systems' outputs with some words replaced or removed.

    They resemble samples of one model: they are similar, and have 25 to 30 words.
    """
    dice = random.Random(SEED)
    # The outputs of several systems for one segment of about 210 characters.
    segments = zip(*map(read_corpus_lines, _find_outputs("de-en")), strict=True)
    texts = min(segments, key=lambda texts: abs(sum(map(len, texts)) / len(texts) - 210))
    systems = [text.split(" ") for text in texts]
    pool = [word for words in systems for word in words]

    def sample() -> str:
        system = dice.choice(systems)
        words = [dice.choice(pool) if dice.random() < 0.1 else word for word in system]
        if dice.random() < 1 / 3:
            del words[dice.randrange(len(words))]
        return " ".join(words)

    return _write_lines(f"candidates/{count}.txt", (sample() for _ in range(count)))


def write_captions(count: int) -> Path:
    """Write captions of about 50 characters; most end with a period, some have other marks."""
    dice = random.Random(SEED)
    lines = (
        " ".join(map(dice.choice, TEXTS["captions"])) + ("" if dice.random() < 0.3 else ".")
        for _ in range(count)
    )
    return _write_lines(f"captions/{count}.txt", lines)


def train_sentencepiece(kind: str, text: Path) -> Path:
    """Train a model of 8,000 pieces on a text, and return its path."""
    import sentencepiece

    path = CACHE / "models" / f"{kind}.model"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        sentencepiece.SentencePieceTrainer.train(
            input=str(text),
            model_prefix=str(path.with_suffix("")),
            model_type=kind,
            vocab_size=8_000,
            num_threads=1,
            minloglevel=2,
        )
    return path


def write_parquet(folder: Path, rows: int, files: int) -> None:
    """Write rows of id, system, hypothesis and reference, which repeat the million pairs."""
    if folder.exists():
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    unfinished = folder.with_suffix(".part")
    unfinished.mkdir(parents=True, exist_ok=True)
    texts = [
        itertools.chain.from_iterable(map(read_corpus_lines, itertools.repeat(path)))
        for path in load_million().files
    ]
    for number in range(files):
        ids = range(rows * number // files, rows * (number + 1) // files)
        hypotheses, references = (list(itertools.islice(text, len(ids))) for text in texts)
        systems = [f"system {i % 8}" for i in ids]
        columns = {"id": pa.array(ids), "system": systems, "hyp": hypotheses, "ref": references}
        pq.write_table(pa.table(columns), unfinished / f"{number:02}.parquet", compression="zstd")
    unfinished.rename(folder)


# ---- segments and files ----


def _find_outputs(pair: str, system: str = "*") -> list[Path]:
    """Return the outputs of all systems for a language pair."""
    if FROM_WMT22:
        return sorted((WMT22 / "system-outputs").glob(f"generaltest2022.{pair}.hyp.{system}.*"))
    others = ("reference", "source")
    files = sorted((EXAMPLES / pair).glob(f"*.{pair.partition('-')[2]}"))
    return [path for path in files if not path.name.startswith(others)]


def _find_references(pair: str, letter: str) -> list[Path]:
    """Return the files of references; with WMT22, only one."""
    target = pair.partition("-")[2]
    if FROM_WMT22:
        return [WMT22 / "references" / f"generaltest2022.{pair}.ref.{letter}.{target}"]
    return sorted((EXAMPLES / pair).glob(f"reference*.{target}"))


def _read_european(references: int) -> list[Segment]:
    pairs = ("en-de", "A"), ("de-en", "A"), ("en-cs", "B"), ("cs-en", "B")
    return [
        segment
        for pair, letter in (pairs if FROM_WMT22 else [("de-en", "A")])
        for segment in _read_systems(pair, letter, references)
    ]


def _read_systems(pair: str, letter: str, references: int) -> list[Segment]:
    """Return each system's segments; extra references are the outputs of the systems after it."""
    humans = [list(read_corpus_lines(path)) for path in _find_references(pair, letter)]
    systems = [list(read_corpus_lines(path)) for path in _find_outputs(pair)]
    segments: list[Segment] = []
    for i, system in enumerate(systems):
        others = [*humans, *systems[i + 1 :], *systems[:i]][:references]
        segments += zip(system, *others, strict=True)
    return segments


def _shuffle(segments: list[Segment]) -> Iterator[Segment]:
    """Yield all segments in random order, again and again."""
    generator = random.Random(SEED)
    while True:
        order = list(range(len(segments)))
        generator.shuffle(order)
        yield from (segments[place] for place in order)


def read_corpus_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file, which end only at line feeds."""
    with path.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            yield line.removesuffix("\n")


def _read_segments(paths: Iterable[Path]) -> Iterator[Segment]:
    return zip(*map(read_corpus_lines, paths), strict=True)


def _build_if_missing(
    name: str, segments: int, references: int, source: Callable[[], Iterable[Segment]]
) -> Corpus:
    """Return a corpus of the first segments of a source, whose files are written once.

    The hypotheses are renamed last, so that their file marks completeness.
    """
    paths = [CACHE / name / f"reference{number}.txt" for number in range(1, references + 1)]
    corpus = Corpus(CACHE / name / "hypothesis.txt", tuple(paths), segments)
    if not corpus.hypotheses.exists():
        corpus.hypotheses.parent.mkdir(parents=True, exist_ok=True)
        unfinished = corpus.hypotheses.with_suffix(".part")
        with ExitStack() as stack:
            files = [
                stack.enter_context(path.open("w", encoding="utf-8", newline="\n"))
                for path in (unfinished, *paths)
            ]
            for segment in itertools.islice(source(), segments):
                for file, text in zip(files, segment, strict=True):
                    file.write(f"{text}\n")
        unfinished.rename(corpus.hypotheses)
    return corpus


def _write_lines(name: str, lines: Iterable[str]) -> Path:
    """Return a text file in the cache, which is written once."""
    path = CACHE / name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines), "utf-8", newline="\n")
    return path
