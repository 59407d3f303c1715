"""Makes the package for npm: `make npm`, or `python npm/build.py [FOLDER]`.

The package is index.js, those modules of the report's viewer that it imports, the kernel that
reports carry, and tables.js, which is what Python says of its metrics. `npm pack` packs it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import truebleu
from truebleu.metrics import parameters, registry
from truebleu.reports import browser_kernel, report_builder
from truebleu.text import tokenizers

if TYPE_CHECKING:
    from truebleu.metrics.base import Metric

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
REPORT = browser_kernel.KERNEL_PATH.parent

MOST_BYTES = 500_000
"""Of the packed file."""

# What the page's modules make of another value; the rest is as a member of the family has it.
CHOSEN = {
    "BLEU": (
        *("tokenize", "lowercase", "smoothing", "smoothing_value", "effective_order"),
        *("max_order", "weights"),
    ),
    "chrF": ("char_order", "word_order", "beta", "lowercase", "whitespace", "eps_smoothing"),
    "TER": ("normalized", "no_punct", "asian_support", "case_sensitive"),
    **dict.fromkeys(("WER", "MER", "WIL", "WIP"), ("tokenize", "lowercase")),
    "CER": ("lowercase",),
}

# A line of an import, as truebleu.reports.html_page wants it.
IMPORT = re.compile(r'^import \{[^}\n]*\} from "(\./[\w/-]+\.js)";$', re.MULTILINE)


def main() -> None:
    """Makes the package, and says how large it is."""
    packed = package(Path(sys.argv[1]) if sys.argv[1:] else ROOT / "build" / "npm")
    size = packed["size"]
    print(f"{packed['path']}\n{size:,} bytes packed, {packed['unpackedSize']:,} unpacked")
    if size > MOST_BYTES:
        raise SystemExit(f"npm/build.py: more than {MOST_BYTES:,} bytes")


def package(folder: Path) -> dict[str, Any]:
    """Makes the package in a folder: what npm says of it, and its path."""
    if not browser_kernel.load_kernel_blocks():
        raise SystemExit(
            "npm/build.py: truebleu was built without the kernel for pages; to have it: "
            "rustup target add wasm32-unknown-unknown, and make it again"
        )
    content = folder / "package"
    shutil.rmtree(content, ignore_errors=True)
    content.mkdir(parents=True)
    for name in modules():
        (content / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(source(name), content / name)
    (content / "tables.js").write_text(tables(), "utf-8")
    shutil.copyfile(browser_kernel.KERNEL_PATH, content / "kernel.wasm")
    for path in (HERE / "README.md", ROOT / "LICENSE", ROOT / "NOTICE"):
        shutil.copyfile(path, content / path.name)
    told = json.loads((HERE / "package.json").read_text("utf-8"))
    told |= {"version": truebleu.__version__}
    (content / "package.json").write_text(json.dumps(told, indent=2) + "\n", "utf-8")
    types(folder / "types", content)
    return pack(content, folder)


def source(name: str) -> Path:
    """Where a module of the package lies in the checkout."""
    return (REPORT if name.startswith("viewer/") else HERE) / name


def modules() -> list[str]:
    """index.js and what it imports, by their places in the package."""
    found = ["index.js"]
    for name in found:
        wanted = IMPORT.findall(source(name).read_text("utf-8"))
        places = [os.path.normpath(Path(name).parent / path) for path in wanted]
        found += [place for place in places if place not in (*found, "tables.js")]
    return found


def tables() -> str:
    """The module of what Python says of its metrics."""
    metrics = described()
    classes = {metric["metric"]: registry.metric(metric["id"]) for metric in metrics}
    parts = {
        "version": truebleu.__version__,
        "lowercase": browser_kernel.list_lowercase_pairs(),
        "metrics": metrics,
        "parameters": {kind: declared(kind, metric) for kind, metric in classes.items()},
    }
    lines = ["// What truebleu in Python says of its metrics; npm/build.py wrote it."]
    for name, value in parts.items():
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        lines.append(f"export const {name} = {text};")
    return "\n".join(lines) + "\n"


def described() -> list[dict[str, Any]]:
    """Each metric that the kernel in a page counts, and that the viewer can show."""
    found = []
    for name in registry.list_metric_names():
        metric = None if ":" in name else registry.metric(name)
        if (
            metric is not None
            and metric.NAME in report_builder.VIEWER_METRICS
            and browser_kernel.can_count(metric)
        ):
            own = report_builder.describe_metric(metric, metric.signature(1))
            found.append({"id": name, "name": metric.name} | own)
    return found


def declared(kind: str, metric: Metric[Any]) -> list[dict[str, Any]]:
    """The parameters of a metric that can be chosen in the package."""
    return [_declared(one) for one in metric.PARAMETERS if one.name in CHOSEN[kind]]


def _declared(one: Any) -> dict[str, Any]:
    choices: list[str] = []
    if isinstance(one, parameters.Tokenizer):
        kind, choices = "choice", list(tokenizers.KERNEL_TOKENIZERS)
    elif one.name in ("lowercase", "effective_order") or isinstance(one, parameters.Flag):
        kind = "flag"
    elif isinstance(one, parameters.Choice):
        kind, choices = "choice", one.choices
    elif isinstance(one, parameters.WholeNumber):
        kind = "whole"
    else:
        kind = "numbers" if isinstance(one, parameters.Numbers) else "number"
    most = getattr(one, "most", inf)
    return {
        "name": one.name,
        "kind": kind,
        "optional": one.default is None,
        "choices": choices,
        "least": getattr(one, "least", 0),
        "most": None if most == inf else most,
        "hints": list(one.hints),
    }


def types(folder: Path, content: Path) -> None:
    """The types of index.js, which its comments say, beside it."""
    (version,) = re.findall(r"^TYPESCRIPT := (\S+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    fetched = ("npx", "--yes", "--prefer-offline", f"--package=typescript@{version}")
    _run(*fetched, "tsc", "--project", HERE, "--outDir", folder)
    shutil.copyfile(folder / "npm" / "index.d.ts", content / "index.d.ts")


def pack(content: Path, folder: Path) -> dict[str, Any]:
    """The packed file: what npm says of it, and its path."""
    done = _run("npm", "pack", "--json", "--pack-destination", folder, content)
    [told] = json.loads(done)
    return {**told, "path": str(folder / told["filename"])}


def _run(*command: object) -> str:
    """What a program prints on standard output; it stops this one if it fails."""
    if not shutil.which(str(command[0])):
        raise SystemExit("npm/build.py: the package is made by Node's npm, which is not installed")
    words = list(map(str, command))
    done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode:
        told = f"{done.stdout}{done.stderr}"
        raise SystemExit(f"npm/build.py: {' '.join(words)} failed:\n{told}")
    return done.stdout


if __name__ == "__main__":
    main()
