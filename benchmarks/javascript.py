"""The rows for the package for npm, under Node."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import corpus
from measure import Cost, Costs, process
from rows import Row, benchmark

if TYPE_CHECKING:
    from collections.abc import Iterator

PEER = "bleu-score@1.0.4"
HERE = Path(__file__).parent
BUILT = HERE.parent / "build"


@benchmark
def javascript(runs: int) -> Iterator[Row]:
    """A test set under Node by the package for npm, beside the npm package bleu-score."""
    text = corpus.test_set()
    work = f"{text.segments:,} segments of text, Node, one warm process"
    folder = _installed()
    if folder is None:
        yield Row(work, "beside bleu-score", "not measured: needs Node, npm and bleu-score")
        return
    script = shutil.copyfile(HERE / "packed.mjs", folder / "packed.mjs")
    told = json.loads(process(("node", str(script), str(runs), *map(str, text.files))).output)
    costs = {
        name: Costs(tuple(Cost(run["processor"], run["elapsed"]) for run in each))
        for name, each in told["costs"].items()
    }
    results = told["results"]
    for own, other in zip(results["segments"], results["bleu-score"], strict=True):
        if not math.isclose(own, other, rel_tol=1e-9, abs_tol=1e-9):
            raise SystemExit(f"benchmarks: bleu-score gives {other}, truebleu {own}")
    elapsed = {name: cost.elapsed for name, cost in costs.items()}
    peer = f"bleu-score {1e3 * elapsed['bleu-score']:.1f} ms, elapsed"
    for name, of in {
        "segments": "each segment's BLEU, tokens as they stand",
        "score": "corpus BLEU, tokens as they stand",
        "score 13a": "corpus BLEU, 13a",
    }.items():
        yield Row(
            f"{work}: {of}",
            "",
            f"{1e3 * elapsed[name]:.1f} ms, elapsed",
            peer,
            f"{elapsed['bleu-score'] / elapsed[name]:.1f} × faster",
            figures=costs if name == "segments" else {},
            note="the peer has segments' scores alone, of one reference and without a tokenizer",
        )


def _installed() -> Path | None:
    """A folder with the package and its peer; None where they cannot be had."""
    if not shutil.which("npm"):
        return None
    made = [sys.executable, str(HERE.parent / "npm" / "build.py")]
    if subprocess.run(made, check=False, stdout=subprocess.DEVNULL).returncode:
        return None
    [packed] = (BUILT / "npm").glob("truebleu-*.tgz")
    folder = BUILT / "bench-npm"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text('{"private": true, "type": "module"}', encoding="utf-8")
    install = ["npm", "install", "--no-save", "--no-audit", "--no-fund", str(packed), PEER]
    done = subprocess.run(install, check=False, cwd=folder, stdout=subprocess.DEVNULL)
    return None if done.returncode else folder
