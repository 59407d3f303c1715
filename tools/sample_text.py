"""Draw a random sample of names and texts for a reader test.

    python tools/sample_text.py truebleu kernel/src docs --seed 1 > sample.md

The script prints a numbered list without code for the reader. It writes a key with files and lines
to `sample-key-SEED.tsv`, which only the person who scores the answers should see.
"""

import argparse
import ast
import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from source_text import Prose, Source, source_paths

# The share of each kind in a sample, in percent.
SHARES = {
    "docstring": 30,
    "name": 20,
    "message": 15,
    "comment": 10,
    "help": 10,
    "ui": 10,
    "documentation": 5,
}


def iterate_signatures(source: Source) -> Iterator[Prose]:
    """Yield each Python function as `name(parameters)`, the only part that a caller reads."""
    for node in ast.walk(source.tree) if source.tree else ():
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("__"):
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            parameters = ", ".join(argument.arg for argument in arguments)
            yield Prose("name", f"`{node.name}({parameters})`", node.lineno)


def draw_sample(trees: list[str], count: int, seed: int) -> list[tuple[Path, Prose]]:
    """Draw texts of each kind in the proportions of `SHARES`, each text at most once."""
    candidates: defaultdict[str, dict[str, tuple[Path, Prose]]] = defaultdict(dict)
    for path in source_paths(trees):
        source = Source(path)
        for prose in [*source.prose(), *iterate_signatures(source)]:
            candidates[prose.kind].setdefault(prose.text, (path, prose))
    generator = random.Random(seed)
    sample = []
    for kind, share in SHARES.items():
        size = min(round(count * share / 100), len(candidates[kind]))
        sample += generator.sample(list(candidates[kind].values()), size)
    generator.shuffle(sample)
    return sample


def main() -> None:
    """Print the sample and write its key."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("trees", nargs="+", help="directories to draw from")
    parser.add_argument("--count", type=int, default=100, help="number of texts (default: 100)")
    parser.add_argument("--seed", type=int, default=1, help="random seed (default: 1)")
    options = parser.parse_args()
    sample = draw_sample(options.trees, options.count, options.seed)
    with open(f"sample-key-{options.seed}.tsv", "w", encoding="utf-8") as key:
        for number, (path, prose) in enumerate(sample, 1):
            print(f"{number}. ({prose.kind}) {prose.text:.400}\n")
            print(number, f"{path}:{prose.line}", prose.kind, sep="\t", file=key)


if __name__ == "__main__":
    main()
