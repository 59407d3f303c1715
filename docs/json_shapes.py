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
from typing import Any

from page_helpers import fill_template

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
_SPECIFICATION = tomllib.loads((ROOT / "docs" / "json_commands.toml").read_text("utf-8"))
PATHS, VARIABLE_KEYS, COMMANDS, TEST_SET_FILES = (
    _SPECIFICATION[name] for name in ("paths", "variable_keys", "commands", "test_set_files")
)
MEANINGS = tomllib.loads((ROOT / "docs" / "json_fields.toml").read_text("utf-8"))

REFERENCE = (ROOT / PATHS["REF"]).read_text(encoding="utf-8")
# Human scores for each segment of two systems.
HUMAN = "".join(
    f"{name}\t{None if i == 1 else (i * step) % 7}\n"
    for name, step in (("cedar", 3), ("birch", 5))
    for i in range(len(REFERENCE.splitlines()))
)
TEXTS = {
    # External scores that are higher for the system with the lower BLEU.
    "SCORES": "cedar\tbirch\n" + "3\t1\n2\t2\n" * 64,
    "HUMAN": HUMAN,
    # Text that 13a does not split, with as many lines as the examples.
    "CHINESE": "那天天气很好，我们去了公园。\n" * HUMAN.count("cedar"),
    # Nearly a copy of the reference.
    "NEAR": "Some other text.\n" + REFERENCE.partition("\n")[2],
}
METRIC_KINDS = ("score", "explain")


def build_page() -> str:
    """Return the page docs/json.md."""
    kinds = {kind: collect_fields(kind) for kind in COMMANDS}
    return fill_template(
        "json", kinds=kinds, MEANINGS=MEANINGS, METRIC_KINDS=METRIC_KINDS, example=_format_example
    )


def _format_example(path: str, example: Any) -> str:
    # Fixed values, because times and the lengths of paths differ between builds of the page.
    value = "2026-11-22T13:00:00Z" if path.endswith(".time") else example
    if path == "remove[].size":
        value = 279
    if isinstance(value, float):
        value = float(f"{value:.12g}")  # the last digits depend on the Python version
    text = json.dumps(value, ensure_ascii=False).replace("|", "\\|")
    return text if len(text) <= 40 else f"{text[:38]}…"


def collect_fields(kind: str) -> dict[str, tuple[Any, str]]:
    """Return an example of each field of an output, and the metrics if only some print the field."""
    examples: dict[str, tuple[Any, set[str]]] = {}
    for command in COMMANDS[kind]:
        for path, example in _iterate_fields(get_json_output(command), ""):
            earlier_example, metrics = examples.get(path, (None, set()))
            better = example if earlier_example in (None, "") else earlier_example
            examples[path] = (better, metrics | {_get_metric_name(command)})
    all_metrics = {_get_metric_name(command) for command in COMMANDS[kind]}
    return {
        path: (example, "" if metrics == all_metrics else ", ".join(sorted(metrics)))
        for path, (example, metrics) in examples.items()
        # Omit an empty list if another example has a list with entries.
        if not path.endswith("[]") or not any(one.startswith(f"{path}.") for one in examples)
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
        paths = PATHS | {name: f"{folder}/{name.lower()}" for name in (*TEXTS, "LOG")}
        paths |= {"FOLDER": folder, "SYSTEM": f"{folder}/en-de.ref.A"}
        files = TEXTS if "harbour" not in command else TEXTS | TEST_SET_FILES
        for name, text in files.items():
            Path(paths.get(name, f"{folder}/{name}")).write_text(text, encoding="utf-8")
        earlier = []
        if "LOG" in command:
            for system, reference in (("CEDAR", "REF"), ("BIRCH", "REF"), ("BIRCH", "CEDAR")):
                note = "--log-name main --log-note 'a note' --log LOG"
                earlier.append(f"score {reference} -i {system} {note}")
        if "harbour" in command and "add" not in command:
            earlier.append("testset add FOLDER --name harbour")
        for line in (*earlier, command):
            words = [
                re.sub("[A-Z_]+", lambda match: paths.get(match[0], match[0]), word)
                for word in shlex.split(line)
            ]
            printed = _run_truebleu([*words, "-f", "json", "--quiet"], folder)
        return json.loads(printed.replace(folder, "/home/me/ours"))


def _run_truebleu(arguments: list[str], folder: str) -> str:
    places = dict.fromkeys(("TRUEBLEU_CACHE", "XDG_CONFIG_HOME"), f"{folder}/cache")
    done = subprocess.run(
        [sys.executable, "-m", "truebleu", *arguments],
        env={**os.environ, **places},
        cwd=ROOT,
        check=False,
        capture_output=True,
        encoding="utf-8",
    )
    if done.returncode not in (0, 3):  # 3: a gate failed
        raise RuntimeError(f"{' '.join(arguments)}: status {done.returncode}: {done.stderr}")
    return done.stdout
