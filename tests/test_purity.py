"""Importing truebleu costs nothing but truebleu, and its modules know only those below them."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import truebleu

PACKAGE = Path(truebleu.__file__).parent

# Who may import whom: a module may import from lower floors, and from its own package.
FLOORS = [
    {"_kernel", "errors"},
    {
        "statistics",
        "metric",
        "tokenizers",
        "files",
        "inputs",
        "family_tokenizers",
        "hook",
        "matrix",
    },
    {"counted"},
    {"bleu", "bleu_score", "bleu_signature", "formula", "chrf", "ter", "ter_alignment", "nist"},
    {"nltk_bleu", "gleu", "codebleu", "cdec", "wrappers", "diversity", "mbr", "accumulator"},
    {"family", "significance", "significance_sacrebleu", "comparison", "explanation"},
    {"history"},
    {"report", "cli", "engines", "integrations", "compat"},
    {"__init__", "__main__"},
]


def loaded_modules(statement: str) -> set[str]:
    """The top-level modules of a fresh Python after a statement, beyond those of a bare one."""
    script = (
        f"import sys\nbefore = set(sys.modules)\n{statement}\nprint(*set(sys.modules) - before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return {name.split(".")[0] for name in done.stdout.split()}


@pytest.mark.parametrize(
    "statement",
    [
        "import truebleu",
        "import truebleu; truebleu.bleu(['a b c d'], ['a b c d']).to_json()",
        "import truebleu; memoryview(truebleu.BLEU().statistics(['a'], ['a']))",
        "import truebleu; truebleu.metric(str(truebleu.BLEU('intl').signature(1)))",
    ],
)
def test_nothing_but_the_standard_library_is_loaded(statement):
    assert loaded_modules(statement) - sys.stdlib_module_names == {"truebleu"}


def test_importing_leaves_the_heavy_parts_of_the_standard_library_alone():
    heavy = {
        "argparse",
        "asyncio",
        "bz2",
        "csv",
        "gzip",
        "http",
        "logging",
        "lzma",
        "multiprocessing",
    }
    heavy |= {"inspect", "json", "socket", "tempfile", "typing_extensions", "unittest", "urllib"}
    assert not loaded_modules("import truebleu") & heavy


def imports(path: Path) -> set[str]:
    """The modules of the package that a file imports, anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            package = ["truebleu", *path.relative_to(PACKAGE).parts[:-1]]
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *filter(None, [node.module])])
            # `from truebleu import statistics` imports a module, `from truebleu import BLEU` a name
            names |= {f"{module}.{alias.name}" for alias in node.names}
    return {name.split(".")[1] for name in names if name.startswith("truebleu.")}


def floor(module: str) -> int:
    floors = [number for number, modules in enumerate(FLOORS) if module in modules]
    assert floors, f"truebleu.{module} has no floor: say in FLOORS who may import it"
    return floors[0]


MODULES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_imports_upward(path):
    own = path.relative_to(PACKAGE).with_suffix("").parts[0]
    for name in imports(path) - {own}:
        known = any(name in modules for modules in FLOORS)
        is_module = (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").exists() or known
        if is_module:
            assert floor(name) <= floor(own), f"{own} imports {name}"
        else:
            assert floor(own) == len(FLOORS) - 1 or own in FLOORS[-2], f"{own} imports the package"


def test_public_names():
    names = {
        "BLEU",
        "CHRF",
        "TER",
        "File",
        "InputError",
        "Metric",
        "Score",
        "Scores",
        "Signature",
        "Statistics",
    }
    names |= {"bleu", "chrf", "metric", "ter", "__version__"}
    assert names <= set(dir(truebleu))
    # Imported when they are asked for.
    names |= {
        "Accumulator",
        "Comparison",
        "Explanation",
        "History",
        "MBR",
        "Report",
        "compare",
        "distinct_n",
        "explain",
        "family",
        "history",
        "mbr",
        "pairwise_diversity",
        "report",
        "self_bleu",
        "which",
    }
    assert all(hasattr(truebleu, name) for name in names)
    assert set(truebleu.__all__) | {"__version__"} == names
