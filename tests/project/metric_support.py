"""Every metric on every face: what each cell does, and the page of the documentation that says so.

A cell is "" where the face gives the metric's own number, and otherwise the sentence in which it
refuses. A face that gives another number, or fails in any other way, raises here.
"""

import contextlib
import functools
import io
import json
import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import truebleu as tb
from truebleu.cli import main
from truebleu.metrics import registry

SOURCES = [
    "der zug nach brest faehrt heute nicht .",
    "sie hat den brief am abend gelesen .",
    "drei boote liegen im alten hafen .",
    "wer das fenster oeffnet , hoert den fluss .",
    "der koch salzt die suppe zweimal .",
    "im winter schliesst das museum um vier .",
]
REFERENCES = [
    ["the train to brest does not run today .", "today there is no train to brest ."],
    ["she read the letter in the evening .", "in the evening she read the letter ."],
    ["three boats lie in the old harbour .", "in the old harbour there are three boats ."],
    ["whoever opens the window hears the river .", "open the window , and you hear the river ."],
    ["the cook salts the soup twice .", "twice the cook puts salt in the soup ."],
    ["in winter the museum closes at four .", "the museum shuts at four in winter ."],
]
SYSTEMS = {
    "aspen": [
        "the train to brest does not go today .",
        "she has read the letter in the evening .",
        "three boats are in the old harbour .",
        "who opens the window hears the river .",
        "the cook salts the soup two times .",
        "in winter the museum closes at four .",
    ],
    "birch": [
        "the train to brest drives today not .",
        "she read the letter on one evening .",
        "three boats lie in the old port .",
        "whoever the window opens , hears the river .",
        "the cook salted twice the soup .",
        "the museum in winter closes at four o'clock .",
    ],
}
ASPEN = SYSTEMS["aspen"]
FIRST = [both[0] for both in REFERENCES]

# NLTK adds rounded numbers up, segment after segment, and `score` does as it does; a table adds
# exact ones, which may differ in the last bit.
LAST_BIT = tb.metric("nist-nltk")


class RefusedError(Exception):
    """A face said that it cannot."""


def sources(metric: tb.Metric, name: str = "sources") -> dict[str, Any]:
    """Return the sources as an argument of this name, for a metric that reads them."""
    return {name: SOURCES} if getattr(metric, "NEEDS_SOURCE", False) else {}


@functools.cache
def references(metric: tb.Metric) -> list[Any]:
    """Return two references per segment, or one where the metric is defined for one."""
    try:
        metric.count(ASPEN, REFERENCES, **sources(metric))
    except ValueError:
        metric.count(ASPEN, FIRST, **sources(metric))
        return FIRST
    return REFERENCES


def same(value: float, metric: tb.Metric) -> bool:
    """Return whether this is the expected score, to the last bit except for LAST_BIT's metric."""
    return abs(value - expected(metric)) <= (2**-50 * value if metric == LAST_BIT else 0)


@functools.cache
def expected(metric: tb.Metric) -> float:
    """Return the score of the first system."""
    return metric.score(ASPEN, references(metric), **sources(metric)).value


@functools.cache
def by_segment(metric: tb.Metric) -> list[float]:
    """Return the scores of its segments."""
    return list(metric.segments(ASPEN, references(metric), **sources(metric)))


# ---- Python ----


def check_score(name: str, metric: tb.Metric) -> None:
    assert tb.metric(name) == metric
    assert isinstance(expected(metric), float)


def check_sentence(name: str, metric: tb.Metric) -> None:
    extra_arguments = {"source": SOURCES[1]} if sources(metric) else {}
    score = metric.sentence(ASPEN[1], references(metric)[1], **extra_arguments)
    text = {key: value[1:2] for key, value in sources(metric).items()}
    assert [score.value] == list(metric.segments(ASPEN[1:2], references(metric)[1:2], **text))


def check_segments(name: str, metric: tb.Metric) -> None:
    assert len(by_segment(metric)) == len(ASPEN)


def statistics(name: str, metric: tb.Metric) -> None:
    table = metric.statistics(ASPEN, references(metric), **sources(metric))
    assert len(table) == len(ASPEN)
    assert same(metric.from_statistics(table).value, metric)


def accumulator(name: str, metric: tb.Metric) -> None:
    first, second = tb.Accumulator(name), tb.Accumulator(metric)
    first.update(ASPEN[:4], references(metric)[:4])
    second.update(ASPEN[4:], references(metric)[4:])
    assert same(first.merge(second).compute().value, metric)


def check_comparison(name: str, metric: tb.Metric) -> None:
    options = {"metrics": [name], "confidence": 20, "samples": 20, **sources(metric, "source")}
    assert same(compared(tb.compare(SYSTEMS, references(metric), **options).to_dict()), metric)


def easy_minimum(metric: tb.Metric) -> float:
    """Return a minimum score that the example reaches, and that some output could fail."""
    if metric.WORST is None:
        return 1e9 if metric.lower_is_better else -1e9
    return metric.WORST - 1e-6 if metric.lower_is_better else metric.WORST + 1


def check_gate(name: str, metric: tb.Metric) -> None:
    options = {"metrics": [name], "minimum": easy_minimum(metric), **sources(metric, "source")}
    gate = tb.check(ASPEN, references(metric), **options)
    assert same(gate.to_dict()["metrics"][0]["score"], metric)


def compared(content: dict[str, Any]) -> float:
    """Return the score of the first system in a comparison by one metric."""
    system = next(row for row in content["systems"] if row["name"] == "aspen")
    (score,) = system["scores"].values()
    return score["score"]


def check_mbr(name: str, metric: tb.Metric) -> None:
    candidates = [ASPEN[0], SYSTEMS["birch"][0], REFERENCES[0][0]]
    if sources(metric):
        choice = tb.mbr(candidates, utility=name, sources=SOURCES[0])
        grid = [
            [metric.sentence(one, other, SOURCES[0]).value for other in candidates]
            for one in candidates
        ]
    else:
        choice = tb.mbr(candidates, utility=name)
        grid = metric.matrix(candidates, candidates).tolist()
    assert list(choice.expected) == [sum(row) / len(row) for row in grid]


def check_report(name: str, metric: tb.Metric) -> None:
    names = ["bleu", name] if metric != tb.BLEU() else ["bleu"]
    options = {"metrics": names, "confidence": 20, "samples": 20, **sources(metric, "source")}
    page = tb.report(SYSTEMS, references(metric), **options).html()
    assert f"{expected(metric):.{metric.DIGITS}f}" in page


def check_explanation(name: str, metric: tb.Metric) -> None:
    texts = sources(metric, "source")
    explanation = tb.explain(ASPEN, references(metric), metric=name, **texts)
    assert same(explanation.to_dict()["systems"][0]["score"], metric)
    texts = {key: value[2] for key, value in texts.items()}
    assert tb.explain(ASPEN[2], references(metric)[2], metric=name, **texts).text()


def signature(name: str, metric: tb.Metric) -> None:
    """Check that a printed signature can be read in a new process."""
    printed = metric.score(ASPEN, references(metric), **sources(metric)).signature
    reparsed = metric.signature()
    pickled = pickle.dumps((str(printed), printed.name, ASPEN, references(metric), sources(metric)))
    code = (
        "import pickle, sys, truebleu; "
        "text, name, *given, more = pickle.load(sys.stdin.buffer); "
        "both = [truebleu.metric(text), truebleu.metric(name + '|' + text)]; "
        "pickle.dump([(m, m.score(*given, **more).value) for m in both], sys.stdout.buffer)"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, input=pickled, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    for read, value in pickle.loads(done.stdout):
        assert read.signature() == reparsed
        assert same(value, metric)


# ---- the command line ----


def run(folder: Path, *words: object, name: str) -> Any:
    """Return a command's JSON output, or raise `RefusedError` with its message."""
    path = folder / name
    stderr = io.StringIO()
    with contextlib.redirect_stderr(stderr):
        status = main([*map(str, words), "-q", "-o", str(path)])
    if status:
        line = stderr.getvalue().strip()
        assert line.count("\n") == 0, line
        raise RefusedError(line.split("error: ", 1)[1].partition(" (see truebleu")[0])
    return path.read_text(encoding="utf-8")


def write_inputs(folder: Path) -> SimpleNamespace:
    """Return the text as files: the options that name them."""

    def write(name: str, lines: Iterable[str]) -> Path:
        path = folder / name
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path

    reference_columns = zip(*REFERENCES, strict=True)
    written = [write(f"reference.{i}", texts) for i, texts in enumerate(reference_columns)]
    return SimpleNamespace(
        folder=folder,
        of=lambda metric: written if references(metric) is REFERENCES else written[:1],
        systems=[write(name, lines) for name, lines in SYSTEMS.items()],
        source=write("source", SOURCES),
    )


def command(
    verb: str,
    paths: SimpleNamespace,
    name: str,
    metric: tb.Metric,
    *extra_words: str,
    file: str = "out.json",
) -> Any:
    """Return a command's output for a metric, and for extra metrics before it."""
    systems = paths.systems[:1] if verb in ("check", "explain") else paths.systems
    words: list[object] = [*paths.of(metric), "-i", *systems, "-m", *extra_words, name]
    if sources(metric) and verb != "family score":
        words += ["-src", paths.source]
    if verb in ("compare", "report"):
        words += ["-ci", 20, "--paired-ar-n", 20]
    if verb == "check":
        words += ["--min", easy_minimum(metric)]
    return run(paths.folder, *verb.split(), *words, name=file)


def first_row_score(content: dict[str, Any]) -> float:
    """Return the score of the first system in a list of scores."""
    return next(row["score"] for row in content["scores"] if row["system"] == "aspen")


# Functions that extract the first system's score from the JSON of a command.
IN_JSON: dict[str, Callable[[dict[str, Any]], float]] = {
    "score": first_row_score,
    "compare": compared,
    "check": lambda content: content["metrics"][0]["score"],
    "explain": lambda content: content["systems"][0]["score"],
    "family score": first_row_score,
}


def number_command(verb: str, name: str, metric: tb.Metric, paths: SimpleNamespace) -> None:
    assert same(IN_JSON[verb](json.loads(command(verb, paths, name, metric))), metric)


def segments_command(name: str, metric: tb.Metric, paths: SimpleNamespace) -> None:
    lines = command("segments", paths, name, metric, file="out.jsonl").splitlines()
    rows = [row for row in map(json.loads, lines) if row["system"] == "aspen"]
    # The score is the first column after the columns that identify the segment.
    assert [list(row.values())[3] for row in rows] == by_segment(metric)


def report_command(name: str, metric: tb.Metric, paths: SimpleNamespace) -> None:
    words = ["bleu"] if metric != tb.BLEU() else []
    formatted_score = f"{expected(metric):.{metric.DIGITS}f}"
    assert formatted_score in command("report", paths, name, metric, *words, file="out.html")


# ---- the engines ----


def source_column(metric: tb.Metric) -> str | None:
    """Return the column that an engine reads sources from, or None."""
    return "src" if sources(metric) else None


def engine(name: str, metric: tb.Metric) -> None:
    """Check the aggregation that all engines share; tests/engines tests each engine."""
    import pyarrow as pa

    from truebleu.engines import Sums

    sums = Sums(name, hyp="hyp", ref="ref", source=source_column(metric))
    for part in (slice(0, 4), slice(4, None)):
        texts = {"hyp": ASPEN[part], "ref": pa.array(references(metric)[part])}
        table = pa.table({**texts, "src": SOURCES[part]})
        sums += sums.spawn().update(table)
    assert same(sums.score().value, metric)


def duckdb(name: str, metric: tb.Metric) -> None:
    import duckdb as db
    import pyarrow as pa

    from truebleu.engines.duckdb import score

    table = pa.table({"hyp": ASPEN, "ref": pa.array(references(metric)), "src": SOURCES})
    connection = db.connect()
    connection.register("rows", table)
    options: dict[str, Any] = {"metric": name, "source": source_column(metric)}
    assert same(score(connection.table("rows"), **options).value, metric)


def polars(name: str, metric: tb.Metric) -> None:
    import polars as pl

    from truebleu.engines.polars import score

    frame = pl.DataFrame({"hyp": ASPEN, "ref": references(metric), "src": SOURCES})
    assert same(score(frame, metric=name, source=source_column(metric)).value, metric)


PYTHON: dict[str, Callable[..., None]] = {
    "`score`": check_score,
    "`sentence`": check_sentence,
    "`segments`": check_segments,
    "`statistics`": statistics,
    "`Accumulator`": accumulator,
    "`compare`": check_comparison,
    "`check`": check_gate,
    "`report`": check_report,
    "`explain`": check_explanation,
    "`mbr`": check_mbr,
    "signature": signature,
}
COMMANDS: dict[str, Callable[..., None]] = {
    "`score`": functools.partial(number_command, "score"),
    "`segments`": segments_command,
    "`compare`": functools.partial(number_command, "compare"),
    "`check`": functools.partial(number_command, "check"),
    "`report`": report_command,
    "`explain`": functools.partial(number_command, "explain"),
    "`family score`": functools.partial(number_command, "family score"),
}
ENGINES: dict[str, Callable[..., None]] = {"Spark, Ray": engine, "DuckDB": duckdb, "Polars": polars}
INTERFACES = {
    **{("Python", interface): cell for interface, cell in PYTHON.items()},
    **{("command line", face): cell for face, cell in COMMANDS.items()},
    **{("engine", face): cell for face, cell in ENGINES.items()},
}


@functools.cache
def cell(interface: tuple[str, str], name: str, folder: Path) -> str:
    """Nothing where the face works, else the sentence in which it refuses."""
    metric = tb.metric(name)
    paths = write_inputs(folder)
    try:
        INTERFACES[interface](name, metric, *([paths] if interface[0] == "command line" else []))
    except RefusedError as no:
        return str(no)
    except (ValueError, TypeError) as no:
        text = str(no)
        assert text.count("\n") == 0, text
        return text
    return ""


# ---- the page ----

PAGE = """\
# Where can each metric be used?

This page shows which metrics can be used in each interface: Python, the command line, the engines
and the integrations. The test `tests/project/test_metric_support.py` tries every metric in every
interface, and writes this page. A ✓ means that the interface returned the score of
`tb.metric(NAME).score(…)`, to the last bit. A number means that the interface rejects the metric,
with the message that has this number below. Members of the BLEU family that behave alike share a
row, and the end of the page lists them. Spark and Ray have separate tests; the column shows the
aggregation that they share.

{tables}

In the messages, *M* stands for the metric. For metrics other than BLEU, chrF, TER and the error
rates, `report` also computed BLEU, which it needs for its segments. Metrics that need the source
received it.
`nist-nltk` and `codebleu-weighted-…` add exact numbers. Their programs round each sum, so their \
last digits can differ.

{sentences}

Members of the family with identical cells share a row:

{members}
"""


def generic(sentence: str, name: str) -> str:
    """Return a refusal with the metric's name replaced, so that equal refusals are equal."""
    metric = tb.metric(name)
    text = sentence.removeprefix("-m/--metrics: ").removeprefix("metrics: ")
    text = text.removeprefix("aspen: ").removeprefix("metric: ")
    if text.startswith(f"'{name}' is a metric"):
        return text.replace(f"'{name}'", "*M*").replace(f"-m {name}", "-m *M*")
    for specific_name in (repr(metric), metric.NAME, f"'{name}'"):
        text = re.sub(rf"(?<!viewer ){re.escape(specific_name)}", "*M*", text)
    return text.split("; did you mean", 1)[0]


def page(folder: Path) -> str:
    """Return the page of the documentation, from cells computed now."""
    notes: dict[str, int] = {}
    rows: dict[tuple[str, ...], list[str]] = {}
    for name in dict.fromkeys([*registry.METRICS, *tb.family]):
        refusals = [cell(interface, name, folder) for interface in INTERFACES]
        cells = [
            str(notes.setdefault(generic(refusal, name), len(notes) + 1)) if refusal else "✓"
            for refusal in refusals
        ]
        number_of_references = "one" if references(tb.metric(name)) is FIRST else "any"
        key = (*cells, number_of_references, name if name in registry.METRICS else "")
        rows.setdefault(key, []).append(name)
    titles = {}
    groups = []
    for key, names in rows.items():
        if not key[-1]:
            groups.append(names)
        titles[key] = f"`{names[0]}`" if key[-1] else f"family {len(groups)}: {len(names)}"
    tables = []
    for place in dict.fromkeys(place for place, _ in INTERFACES):
        column_numbers = [i for i, interface in enumerate(INTERFACES) if interface[0] == place]
        head = [place, "references", *(list(INTERFACES)[i][1] for i in column_numbers)]
        lines = [head, ["---"] * len(head)]
        lines += [[titles[key], key[-2], *(key[i] for i in column_numbers)] for key in rows]
        tables.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    members = [f"* family {i}: `{'`, `'.join(names)}`" for i, names in enumerate(groups, 1)]
    return PAGE.format(
        tables="\n\n".join(tables),
        sentences="\n".join(f"{number}. {text}" for text, number in notes.items()),
        members="\n".join(members),
    )
