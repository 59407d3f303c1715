"""The benchmark texts, which are built once from WMT22 system outputs and kept in build/bench.

The outputs and references of the WMT22 general task are research data that are not part of
truebleu. They are read from `../shared/data/wmt22`, or from the folder in TRUEBLEU_WMT22. Without
them, the same files are built from the segments in `examples/`, which are cut and joined so that
their lengths have the same distribution as WMT22's.
"""

from __future__ import annotations

import itertools
import os
import random
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
WMT22 = Path(os.environ.get("TRUEBLEU_WMT22", ROOT.parent / "shared" / "data" / "wmt22"))
FROM_WMT22 = WMT22.is_dir()
CACHE = ROOT / "build" / "bench" / ("wmt22" if FROM_WMT22 else "examples")

SEED = 1
SIDE_CORPUS = 250_000
"""Number of segments in the corpora for other tokenizers and for several references."""

KOREAN = (
    "어제는 비가 와서 하루 종일 집에서 책을 읽었습니다.",
    "이 도서관은 아침 아홉 시부터 저녁 여덟 시까지 문을 엽니다.",
    "우리는 내년에 새로운 실험실을 지을 계획이라고 그가 말했다.",
    "가격이 3.5% 올랐지만 손님은 줄지 않았다.",
    "할머니께서 보내 주신 사과가 아주 달고 맛있어요.",
    "기차가 십 분 늦게 도착했기 때문에 회의에 참석하지 못했습니다.",
    "번역이 좋은지 나쁜지 누가 판단할 수 있을까요?",
    "그 배우는 2019년에 처음으로 무대에 섰다.",
    "e-mail 주소를 다시 한번 확인해 주시기 바랍니다.",
    "산 위에서 내려다본 바다는 생각보다 훨씬 넓고 조용했다.",
)

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
        shorter = _describe_corpus(
            f"{self.hypotheses.parent.name}-{segments}", segments, len(self.references)
        )
        if not shorter.hypotheses.exists():
            lines = [itertools.islice(read_corpus_lines(path), segments) for path in self.files]
            _write_corpus_file(shorter, zip(*lines, strict=True))
        return shorter


def describe_source() -> str:
    """Return a sentence about the origin of the text."""
    if FROM_WMT22:
        return "WMT22 general task system outputs and references, shuffled (seed 1) and repeated"
    return (
        f"no WMT22 data at {WMT22.name}: segments of examples/, cut and joined to WMT22's lengths"
    )


def load_million() -> Corpus:
    """Return 1,000,000 pairs in Czech, German and English (212 MB from WMT22)."""
    return _build_if_missing("million", 1_000_000, 1, lambda: _read_european(references=1))


def load_sentences(words: range, segments: int) -> Corpus:
    """Return the first pairs whose hypotheses have a word count in this range."""
    corpus = _describe_corpus(f"words-{words.start}-{words.stop - 1}-{segments}", segments, 1)
    if not corpus.hypotheses.exists():
        pairs = zip(*map(read_corpus_lines, load_million().files), strict=True)
        fitting = (pair for pair in pairs if len(pair[0].split()) in words)
        _write_corpus_file(corpus, itertools.islice(fitting, segments))
    return corpus


def load_ten_million() -> Corpus:
    """Return the million pairs, repeated ten times."""
    single = load_million()
    ten = _describe_corpus("ten-million", 10 * single.segments, 1)
    if not ten.hypotheses.exists():
        for source, target in reversed(list(zip(single.files, ten.files, strict=True))):
            _repeat_file(source, target, 10)
    return ten


def load_test_set() -> Corpus:
    """Return one system's output on one test set: 2,037 segments of English to German."""
    if not FROM_WMT22:
        return load_million().head(2037)
    hypotheses = WMT22 / "system-outputs" / "generaltest2022.en-de.hyp.Online-W.de"
    reference = WMT22 / "references" / "generaltest2022.en-de.ref.A.de"
    return Corpus(hypotheses, (reference,), 2037)


def write_rivals(count: int) -> list[Path]:
    """Return the system of the test set, followed by worse systems that lack some words."""
    first = load_test_set().hypotheses
    paths = [first]
    for number in range(1, count):
        path = CACHE / "rivals" / f"{number}.txt"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            words = (line.split(" ") for line in read_corpus_lines(first))
            path.write_text("".join(f"{' '.join(each[number::2])}\n" for each in words), "utf-8")
        paths.append(path)
    return paths


def load_ten_systems() -> tuple[tuple[Path, ...], Path]:
    """Return ten outputs for one test set of 2,037 segments, and its reference.

    With WMT22, these are the nine systems for English to German, and the second reference.
    """
    if FROM_WMT22:
        outputs = sorted((WMT22 / "system-outputs").glob("generaltest2022.en-de.hyp.*.de"))
        references = [WMT22 / "references" / f"generaltest2022.en-de.ref.{x}.de" for x in "AB"]
        return (*outputs, references[1]), references[0]
    text = load_million().head(2037)
    paths = tuple(text.hypotheses.with_name(f"system{number}.txt") for number in range(10))
    for number, path in enumerate(paths):
        generator = random.Random(number)
        shortened_lines = [
            " ".join(word for word in line.split() if generator.random() >= number / 500)
            for line in read_corpus_lines(text.hypotheses)
        ]
        path.write_text("".join(f"{line}\n" for line in shortened_lines), "utf-8", newline="\n")
    return paths, text.references[0]


def load_nine_systems() -> tuple[tuple[Path, ...], int]:
    """Return nine outputs for one test set, and the number of segments.

    With WMT22, these are the systems for German to English, with 1,984 segments.
    """
    if FROM_WMT22:
        return tuple(
            sorted((WMT22 / "system-outputs").glob("generaltest2022.de-en.hyp.*.en"))
        ), 1984
    return load_ten_systems()[0][:9], 2037


def load_test_sets() -> list[Corpus]:
    """Return every system's output on the test set of its language pair, with one reference."""
    systems = []
    for hypotheses in sorted((WMT22 / "system-outputs").glob("*.hyp.*")):
        pair, target = hypotheses.name.split(".")[1], hypotheses.suffix
        reference = min((WMT22 / "references").glob(f"*.{pair}.ref.*{target}"))
        systems.append(
            Corpus(hypotheses, (reference,), sum(1 for _ in read_corpus_lines(reference)))
        )
    return systems


LANGUAGES = {"en": "de-en", "de": "en-de", "ru": "en-ru", "zh": "en-zh", "ja": "en-ja"}
"""Each language's code, and the test set of WMT22 from which its texts are taken."""


def load_language(code: str) -> Corpus | None:
    """Return a corpus in one language with one reference, or None if there is no such text."""
    if not FROM_WMT22 and not (EXAMPLES / LANGUAGES[code]).is_dir():
        return None
    return _build_if_missing(code, SIDE_CORPUS, 1, lambda: _read_language(code))


def write_korean() -> Path:
    """Write a file of Korean lines, which join random sentences that were written for this use."""
    path = CACHE / "korean.txt"
    if not path.exists():
        generator = random.Random(SEED)
        lines = [" ".join(generator.sample(KOREAN, generator.randint(1, 4))) for _ in range(5000)]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines), "utf-8", newline="\n")
    return path


def write_candidates(count: int) -> Path:
    """Write candidates for one segment: systems' outputs with some words replaced or removed.

    They resemble samples of one model: they are similar, and have 25 to 30 words.
    """
    path = CACHE / "candidates" / f"{count}.txt"
    if not path.exists():
        generator = random.Random(SEED)
        systems = [line.split(" ") for line in _read_one_segment()]
        pool = [word for words in systems for word in words]
        lines = []
        for _ in range(count):
            words = [
                generator.choice(pool) if generator.random() < 0.1 else word
                for word in generator.choice(systems)
            ]
            if generator.random() < 1 / 3:
                del words[generator.randrange(len(words))]
            lines.append(f"{' '.join(words)}\n")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(lines), "utf-8", newline="\n")
    return path


def write_captions(count: int) -> Path:
    """Write captions of about 50 characters; most end with a period, some have other marks."""
    path = CACHE / "captions" / f"{count}.txt"
    if not path.exists():
        generator = random.Random(SEED)
        people = [
            "A man",
            "Two women",
            "The boy's dog",
            "A group of people",
            "An old-fashioned train",
        ]
        acts = ["riding a brown horse", "isn't looking at a bus", "standing near a (red) sign"]
        acts += ["holding an umbrella", "with a ball in its mouth", "sitting on a wooden bench"]
        places = [
            "on the beach",
            "in the grass, near trees",
            "at 5 p.m.",
            "next to a well-lit street",
        ]
        lines = []
        for _ in range(count):
            words = " ".join(map(generator.choice, (people, acts, places)))
            lines.append(words + ("" if generator.random() < 0.3 else "."))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines), "utf-8", newline="\n")
    return path


def _read_one_segment() -> list[str]:
    """Return the outputs of several systems for one segment of about 200 characters."""
    if FROM_WMT22:
        outputs = sorted((WMT22 / "system-outputs").glob("generaltest2022.de-en.hyp.*.en"))
        systems = [list(read_corpus_lines(path)) for path in outputs]
    else:
        folder = sorted((EXAMPLES / "de-en").glob("*.en"))
        systems = [list(read_corpus_lines(path)) for path in folder]
    segments = [list(texts) for texts in zip(*systems, strict=True)]
    return min(segments, key=lambda texts: abs(sum(map(len, texts)) / len(texts) - 210))


def load_four_references() -> Corpus:
    """Return pairs like the million pairs, with three systems' outputs as extra references."""
    return _build_if_missing(
        "four-references", SIDE_CORPUS, 4, lambda: _read_european(references=4)
    )


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
        table = pa.table(
            {
                "id": pa.array(ids, pa.int64()),
                "system": [f"system {i % 8}" for i in ids],
                "hyp": hypotheses,
                "ref": references,
            }
        )
        pq.write_table(table, unfinished / f"{number:02}.parquet", compression="zstd")
    unfinished.rename(folder)


# ---- segments ----


def _read_european(references: int) -> list[Segment]:
    if not FROM_WMT22:
        return _lengthen_segments(_read_examples("de-en", "en", references), " ", 2.61, 0.655)
    test_sets = [("en-de", "A.de"), ("de-en", "A.en"), ("en-cs", "B.cs"), ("cs-en", "B.en")]
    return [
        segment
        for languages, reference in test_sets
        for segment in _read_wmt22(languages, reference, references)
    ]


def _read_language(code: str) -> list[Segment]:
    if FROM_WMT22:
        return list(_read_wmt22(LANGUAGES[code], f"A.{code}", 1))
    glue, mean, deviation = ("", 3.21, 0.69) if code == "zh" else (" ", 2.61, 0.655)
    return _lengthen_segments(_read_examples(LANGUAGES[code], code, 1), glue, mean, deviation)


def _read_wmt22(languages: str, reference: str, references: int) -> Iterator[Segment]:
    """Yield each system's segments; extra references are the outputs of the systems after it."""
    prefix = f"generaltest2022.{languages}"
    target = languages.split("-")[1]
    human = list(read_corpus_lines(WMT22 / "references" / f"{prefix}.ref.{reference}"))
    outputs = sorted((WMT22 / "system-outputs").glob(f"{prefix}.hyp.*.{target}"))
    systems = [list(read_corpus_lines(path)) for path in outputs]
    for place, system in enumerate(systems):
        extra_references = [systems[(place + step) % len(systems)] for step in range(1, references)]
        yield from zip(system, human, *extra_references, strict=True)


def _read_examples(folder: str, language: str, references: int) -> list[Segment]:
    files = sorted((EXAMPLES / folder).glob(f"*.{language}"))
    human = [list(read_corpus_lines(path)) for path in files if path.name.startswith("reference")]
    systems = [
        list(read_corpus_lines(path))
        for path in files
        if not path.name.startswith(("reference", "source"))
    ]
    segments: list[Segment] = []
    for place, system in enumerate(systems):
        extra_references = (
            *human,
            *(systems[(place + step) % len(systems)] for step in range(1, len(systems))),
        )
        segments += zip(system, *extra_references[:references], strict=True)
    return segments


def _lengthen_segments(
    segments: Sequence[Segment], glue: str, mean: float, deviation: float
) -> list[Segment]:
    """Cut and join segments so that their lengths in words have a log-normal distribution."""
    generator = random.Random(SEED)
    lengthened: list[Segment] = []
    for _ in range(50_000):
        words = max(1, round(generator.lognormvariate(mean, deviation)))
        joined_texts = [""] * len(segments[0])
        while min(len(_split_words(text, glue)) for text in joined_texts) < words:
            joined_texts = [
                glue.join(filter(None, pair))
                for pair in zip(joined_texts, generator.choice(segments), strict=True)
            ]
        lengthened.append(
            tuple(glue.join(_split_words(text, glue)[:words]) for text in joined_texts)
        )
    return lengthened


def _split_words(text: str, glue: str) -> Sequence[str]:
    return text.split() if glue else text


# ---- files ----


def read_corpus_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file, which end only at line feeds."""
    with path.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            yield line.removesuffix("\n")


def _describe_corpus(name: str, segments: int, references: int) -> Corpus:
    folder = CACHE / name
    paths = tuple(folder / f"reference{number}.txt" for number in range(1, references + 1))
    return Corpus(folder / "hypothesis.txt", paths, segments)


def _build_if_missing(
    name: str, segments: int, references: int, source: Callable[[], Sequence[Segment]]
) -> Corpus:
    corpus = _describe_corpus(name, segments, references)
    if not corpus.hypotheses.exists():
        _write_corpus_file(corpus, _shuffle_segments(source(), segments))
    return corpus


def _shuffle_segments(segments: Sequence[Segment], count: int) -> Iterator[Segment]:
    """Return all segments in random order, repeated until there are `count` segments."""
    generator = random.Random(SEED)
    order: list[int] = []
    while len(order) < count:
        once = list(range(len(segments)))
        generator.shuffle(once)
        order += once
    return (segments[place] for place in order[:count])


def _write_corpus_file(corpus: Corpus, segments: Iterable[Segment]) -> None:
    """Write all files. The hypotheses are renamed last, so that their file marks completeness."""
    corpus.hypotheses.parent.mkdir(parents=True, exist_ok=True)
    unfinished = corpus.hypotheses.with_suffix(".part")
    files = [
        path.open("w", encoding="utf-8", newline="\n") for path in (unfinished, *corpus.references)
    ]
    for segment in segments:
        for file, text in zip(files, segment, strict=True):
            file.write(text + "\n")
    for file in files:
        file.close()
    unfinished.rename(corpus.hypotheses)


def _repeat_file(source: Path, target: Path, times: int) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_suffix(".part")
    with unfinished.open("wb") as output:
        for _ in range(times):
            with source.open("rb") as file:
                shutil.copyfileobj(file, output, 1 << 20)
    unfinished.rename(target)
