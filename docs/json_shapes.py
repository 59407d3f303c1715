"""Build the page docs/json.md, which describes each field of the JSON that commands print.

The build runs the commands to collect fields and examples; docs/json_fields.toml contains the
descriptions. A test checks that fields and descriptions match.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from functools import cache
from pathlib import Path
from types import MappingProxyType

from page_helpers import fill_template, format_table, render_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TALKS = "examples/talks"
TALK_SEGMENTS = f"{TALKS}/segments.json {TALKS}/reference.en"
PATHS = {
    "REF": "examples/de-en/reference.a.en",
    "OTHER_REF": "examples/de-en/reference.b.en",
    "CEDAR": "examples/de-en/cedar.en",
    "BIRCH": "examples/de-en/birch.en",
    "DOCUMENTS": "examples/de-en/documents.txt",
}
ALL_DOCUMENTS = "--docs DOCUMENTS --hyp-docs DOCUMENTS"
# Name and language pair of a user-defined test set, which is added in a temporary folder.
USER_TEST_SET = "harbour -l en-de"
USER_TEST_SET_FILES = {
    "en-de.src": ["The harbour was quiet.", "Two gulls argued."],
    "en-de.ref.A": ["Der Hafen war still.", "Zwei Möwen stritten."],
    "en-de.docid": ["port", "port"],
    "en-de.origlang": ["en", "en"],
    "en-de.domain": ["news", "news"],
}
REFERENCE = (ROOT / PATHS["REF"]).read_text(encoding="utf-8")
# Human scores for each segment of two systems.
HUMAN = "".join(
    f"{name}\t{None if i == 1 else (i * step) % 7}\n"
    for name, step in (("cedar", 3), ("birch", 5))
    for i in range(len(REFERENCE.splitlines()))
)
# Nearly a copy of the reference.
NEAR = "Some other text.\n" + REFERENCE.partition("\n")[2]
# Text that 13a does not split, with as many lines as the examples.
CHINESE = "那天天气很好，我们去了公园。\n" * HUMAN.count("cedar")
TESTS = "-m bleu chrf --significance 100 --correction holm --confidence 20"
PAIR = "explain --hypothesis 'a b c a' 'a b d' --reference 'a b d e f g'"
HOLM = "--correction holm --docs DOCUMENTS"

# Objects with variable keys, such as metric or system names, and the placeholders for the keys.
VARIABLE_KEYS = {
    "signatures": "METRIC",
    "metrics[].scores": "TASK",
    "systems[].scores": "METRIC",
    "systems[].resegmentation": "METRIC",
    "systems[].scores.METRIC.details": "DETAIL",
    "by_reference[].scores": "METRIC",
    "by_reference[].scores.METRIC": "SYSTEM",
    "by_reference[].identical": "SYSTEM",
    "scores[].scripts": "SCRIPT",
    "resegmentation": "SYSTEM",
    "test_set.sha256": "REFERENCE",
    "info[].preferred": "PAIR",
    "info[].segments": "PAIR",
    "list[].segments": "PAIR",
    "info[].pair.domains": "DOMAIN",
    "info[].pair.origlangs": "LANGUAGE",
    "documents[].scores": "METRIC",
    "documents[].scores.METRIC": "SYSTEM",
    "metric.parameters": "PARAMETER",
    "not_tried": "MEMBER",
    "systems[].reference_choice.segments": "REFERENCE",
    "systems[].orders[].operations": "OPERATION",
    "comparison.differences": "COUNT",
}

# For each kind of output, commands (without `truebleu`) that together print all fields. Words in
# capitals stand for files.
COMMANDS: dict[str, list[str]] = {
    "score": [
        *(f"score REF -i CEDAR -m {name} -ci 100" for name in ("bleu", "chrf", "ter")),
        *(f"score REF -i CEDAR -m {name}" for name in ("nist", "gleu", "wer", "cer", "ngram-f")),
        "score REF -i CEDAR -m bleu --weights 1 2",
        "score REF -i CEDAR --docs DOCUMENTS --by document",
        f"score -t {USER_TEST_SET} -i SYSTEM --origlang en",
        f"score REF -i CEDAR --resegment=as-wer,always {ALL_DOCUMENTS}",
        "score CHINESE -i CHINESE",
    ],
    "resegment": [
        f"resegment REF -i CEDAR {ALL_DOCUMENTS}",
        f"resegment {TALKS}/reference.en -i {TALKS}/cedar.log --segments {TALKS}/segments.json",
    ],
    "latency": [f"latency {TALKS}/cedar.log {TALKS}/birch.log --segments {TALK_SEGMENTS}"],
    "segments": ["segments REF -i CEDAR BIRCH", "segments CHINESE -i CHINESE"],
    "matrix": [
        "matrix REF -i CEDAR",
        "matrix CEDAR --triangle",
        "matrix REF -i CEDAR --top-k 1 --text",
        "matrix CEDAR --mbr --nbest-size 64",
    ],
    "compare": [
        f"compare REF -i CEDAR BIRCH {HOLM} --scores ERRORS=SCORES --lower-is-better ERRORS",
        f"compare REF -i two=CEDAR,BIRCH BIRCH {HOLM}",
        # One system is nearly a copy of a reference, so the best system depends on the reference.
        f"compare REF OTHER_REF -i CEDAR NEAR {HOLM}",
        f"compare CHINESE -i a=CHINESE b=CHINESE {HOLM}",
    ],
    "explain": [
        *(f"{PAIR} -m {name}" for name in ("bleu", "chrf", "ter", "nist", "gleu", "wer")),
        f"{PAIR} --recall",
        "explain REF -i CEDAR --textbook",
        "explain CHINESE -i CHINESE",
        "explain REF -i CEDAR -src BIRCH -m sari --segment 1",
        "explain REF -i CEDAR -src BIRCH -m sari",
        f"explain REF -i CEDAR --resegment=as-wer,always --segment 43 {ALL_DOCUMENTS}",
        *(f"explain REF -i CEDAR -m {name}" for name in ("chrf", "ter", "nist", "gleu", "wer")),
    ],
    "history": ["history LOG"],
    "check": [
        "check REF -i CEDAR --log LOG --log-name main --max-drop 90",
        "check REF -i BIRCH --min 30 --max-drop 1 --against CEDAR --significant --docs DOCUMENTS",
        "check CHINESE -i CEDAR --min 1",
    ],
    "meta": [f"meta --human HUMAN {text} -i CEDAR BIRCH {TESTS}" for text in ("REF", "CHINESE")],
    "family list, family show": ["family show mteval-v13a"],
    "family score": [
        f"family score REF -i CEDAR -m mteval-v13a --resegment=soft,always {ALL_DOCUMENTS}"
    ],
    "family which": [
        "family which 47.64 REF -i CEDAR",
        f"family which 47.64 REF -i CEDAR --resegment=soft,always {ALL_DOCUMENTS}",
        "family which 99.99 REF -i CEDAR",
    ],
    "cite": ["cite -m bleu --test ar -t wmt22", "cite -m 'command:NAME=PROGRAM {hyp}'"],
    "testset list": ["testset list wmt22"],
    "testset info": ["testset info wmt22", f"testset info {USER_TEST_SET}"],
    "testset get, testset add, testset verify, testset path, testset remove": [
        "testset add FOLDER --name harbour",
        *(f"testset {action} {USER_TEST_SET}" for action in ("get", "verify", "path", "remove")),
    ],
}

MEANINGS: dict[str, dict[str, str]] = tomllib.loads(
    (Path(__file__).parent / "json_fields.toml").read_text("utf-8")
)


def build_page() -> str:
    """Return the page docs/json.md."""
    sections = "\n\n".join(_build_section(kind) for kind in COMMANDS)
    return fill_template("json", sections=sections)


def _build_section(kind: str) -> str:
    examples = collect_fields(kind)
    rows = [
        (
            render_code(path),
            MEANINGS[kind].get(path, ""),
            render_code(_format_example_value(path, example)),
            *metrics,
        )
        for path, (example, *metrics) in examples.items()
    ]
    header = ["key", "meaning", "example", *(["metrics"] if kind in METRIC_KINDS else [])]
    title = ", ".join(f"`truebleu {name}`" for name in kind.split(", "))
    return f"## {title}\n\n{format_table(header, rows, left_aligned=len(header))}"


METRIC_KINDS = ("score", "explain")


def _format_example_value(path: str, example: Any) -> str:
    # Fixed values, because times and the lengths of paths differ between builds of the page.
    value = "2026-11-22T13:00:00Z" if path.endswith(".time") else example
    if path == "remove[].size":
        value = 279
    if isinstance(value, float):
        value = float(f"{value:.12g}")  # the last digits depend on the Python version
    text = json.dumps(value, ensure_ascii=False).replace("|", "\\|")
    return text if len(text) <= 40 else f"{text[:38]}…"


def collect_fields(kind: str) -> dict[str, tuple[Any, ...]]:
    """Return an example value for each field of an output, and the metrics that print the field."""
    examples: dict[str, tuple[Any, set[str]]] = {}
    for command in COMMANDS[kind]:
        printed = get_json_output(command)
        for path, example in _iterate_fields(printed, ""):
            earlier_example, metrics = examples.setdefault(path, (example, set()))
            metrics.add(_get_metric_name(command))
            if earlier_example in (None, ""):
                examples[path] = (example, metrics)
    # Omit an empty list if another example has a list with entries.
    for path in [path for path in examples if path.endswith("[]")]:
        if any(other.startswith(f"{path}.") for other in examples):
            del examples[path]
    if kind not in METRIC_KINDS:
        return {path: (example,) for path, (example, _) in examples.items()}
    all_metrics = {_get_metric_name(command) for command in COMMANDS[kind]}
    return {
        path: (example, "" if metrics == all_metrics else ", ".join(sorted(metrics)))
        for path, (example, metrics) in examples.items()
    }


def _get_metric_name(command: str) -> str:
    return command.partition(" -m ")[2].split(" ")[0] or "bleu"


def _iterate_fields(json_value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the path and the value of each leaf of a JSON value."""
    if isinstance(json_value, dict):
        # A score also has the fields of its signature.
        signature = json_value.get("signature", "").split("|") if "nrefs" in json_value else ()
        flat = {part.partition(":")[0] for part in signature}
        for key, item in json_value.items():
            name = VARIABLE_KEYS.get(path, "FIELD" if key in flat else re.sub(r"_\d+$", "_N", key))
            yield from _iterate_fields(item, f"{path}.{name}" if path else name)
    elif isinstance(json_value, list):
        if not json_value:
            yield f"{path}[]", None
        for item in json_value:
            yield from _iterate_fields(item, f"{path}[]")
    else:
        yield path, json_value


@cache
def get_json_output(command: str) -> Any:
    """Return the JSON output of a command."""
    with tempfile.TemporaryDirectory() as folder:
        texts = {
            # External scores that are higher for the system with the lower BLEU.
            "SCORES": "cedar\tbirch\n" + "3\t1\n2\t2\n" * 64,
            "HUMAN": HUMAN,
            "CHINESE": CHINESE,
            "NEAR": NEAR,
        }
        paths = PATHS | {name: f"{folder}/{name.lower()}" for name in (*texts, "LOG")}
        paths |= {"FOLDER": folder, "SYSTEM": f"{folder}/en-de.ref.A"}
        for name, text in texts.items():
            Path(paths[name]).write_text(text, encoding="utf-8")
        if "LOG" in command:
            for system, reference in (("CEDAR", "REF"), ("BIRCH", "REF"), ("BIRCH", "CEDAR")):
                words = [paths[reference], "-i", paths[system], "--log-name", "main"]
                _run_truebleu(["score", *words, "--log-note", "a note", "--log", paths["LOG"]])
        places = dict.fromkeys(("TRUEBLEU_CACHE", "XDG_CONFIG_HOME"), f"{folder}/cache")
        if "harbour" in command:
            for name, lines in USER_TEST_SET_FILES.items():
                text = "".join(f"{line}\n" for line in lines)
                (Path(folder) / name).write_text(text, encoding="utf-8")
            if "add" not in command:
                _run_truebleu(["testset", "add", folder, "--name", "harbour"], places)
        words = [
            re.sub("[A-Z_]+", lambda match: paths.get(match[0], match[0]), word)
            for word in shlex.split(command)
        ]
        printed = _run_truebleu([*words, "-f", "json", "--quiet"], places, expected_statuses=(0, 3))
        return json.loads(printed.replace(folder, "/home/me/ours"))


def _run_truebleu(
    arguments: Sequence[str],
    environment: Mapping[str, str] = MappingProxyType({}),
    expected_statuses: Sequence[int] = (0,),
) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "truebleu", *arguments],
        env={**os.environ, **environment},
        cwd=ROOT,
        check=False,
        capture_output=True,
        encoding="utf-8",
    )
    if done.returncode not in expected_statuses:
        raise RuntimeError(f"{' '.join(arguments)}: status {done.returncode}: {done.stderr}")
    return done.stdout
