"""Layers: which package may import which, and where modules are.

Every import in the package is read with `ast`: at module level, inside functions, for type
checkers, by `import_module`, and strings that name a module of the package. Tables that name
modules in another way are listed in `TABLES`; a computed import without a table fails.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

import pytest
from paths import ROOT

import truebleu

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

PACKAGE = ROOT / "truebleu"

# Packages by layer, lowest first. Import only from lower layers; packages within a layer are
# independent.
LAYERS = (
    ("_kernel",),
    ("text",),
    ("testsets", "resegmentation"),
    ("metrics",),
    ("bleu_family", "pairwise", "significance"),
    ("rendering",),
    ("comparison", "explanation"),
    ("meta_evaluation",),
    ("reports",),
    ("engines",),
    ("integrations", "compat", "cli"),
    ("__init__", "__main__"),
)
LAYER_NUMBERS = {package: number for number, packages in enumerate(LAYERS) for package in packages}

# Exceptions: imports that the layers would forbid, with reasons.
ALLOWED = {
    ("__main__", "cli"): "`python -m truebleu` is the command",
    ("engines", "__init__"): "a worker on another machine is asked which release it has",
}

# Python's own files in a package's folder.
PYTHONS_OWN = re.compile(r"__init__\.py|__main__\.py|__pycache__|py\.typed|_kernel\..*")


def _names_in_table(module: str, attribute: str) -> Callable[[], Iterable[str]]:
    """Return the names in a table of a module: its values, or what it lists."""

    def names() -> Iterable[str]:
        table = getattr(import_module(module), attribute)
        return table.values() if isinstance(table, dict) else table

    return names


def _public() -> Iterator[str]:
    yield from (f"truebleu.{place}" for place in truebleu.PUBLIC.values())


def _metric_modules() -> Iterator[str]:
    for place, _ in _names_in_table("truebleu.metrics.registry", "METRICS")():
        yield f"truebleu.metrics.{place.partition(':')[0]}"


def _commands() -> Iterator[str]:
    yield from (f"truebleu.cli.{name}" for name in import_module("truebleu.cli").COMMANDS)


# Modules that compute what they import, and what that can be.
TABLES: dict[str, Callable[[], Iterable[str]]] = {
    "truebleu": _public,
    "truebleu.metrics.registry": _metric_modules,
    "truebleu.cli": _commands,
    "truebleu.compat.patches": tuple,  # the caller names the module to import later
    "truebleu.engines.common_api": tuple,  # the caller names its module
}


class Import(NamedTuple):
    """One module of the package that knows another."""

    module: str
    line: int
    target: str

    def __str__(self) -> str:
        path = FILES[self.module].relative_to(ROOT)
        return f"{path}:{self.line} imports {self.target}"


def _find_files() -> dict[str, Path]:
    """Return each module of the package by its name."""
    files_by_module = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        files_by_module[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return files_by_module


FILES = _find_files()
MODULES = {*FILES, "truebleu._kernel"}


@cache
def _parse_module(module: str) -> ast.Module:
    return ast.parse(FILES[module].read_text(encoding="utf-8"))


def _package_of(module: str, level: int) -> str:
    """Return the package that this number of leading dots refers to."""
    inside = FILES[module].name == "__init__.py"
    parts = module.split(".")
    return ".".join(parts[: len(parts) - level + inside])


def _docstrings(tree: ast.Module) -> set[ast.Constant]:
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }


def _is_dynamic(node: ast.AST) -> bool:
    """Return whether the node is a call that imports the module named by its first argument."""
    if not isinstance(node, ast.Call):
        return False
    function = node.func.attr if isinstance(node.func, ast.Attribute) else node.func
    name = function.id if isinstance(function, ast.Name) else function
    return name in ("import_module", "__import__")


def _imported(module: str, node: ast.AST) -> Iterator[str]:
    """Yield the modules that a statement, or a string, names."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        start = _package_of(module, node.level) if node.level else ""
        base = ".".join(filter(None, (start, node.module)))
        for alias in node.names:
            name = f"{base}.{alias.name}"
            yield name if name in MODULES else base
    elif _is_dynamic(node) and isinstance(node.args[0], ast.Constant):
        yield node.args[0].value
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        name = node.value.partition(":")[0]
        # The bare package name occurs in many places.
        if name in MODULES and name != "truebleu":
            yield name


def _imports() -> Iterator[Import]:
    for module in FILES:
        tree = _parse_module(module)
        docstrings = _docstrings(tree)
        for node in ast.walk(tree):
            for name in _imported(module, node) if node not in docstrings else ():
                if name.partition(".")[0] == "truebleu" and name != module:
                    yield Import(module, node.lineno, name)
        for name in TABLES.get(module, tuple)():
            if name != module:
                yield Import(module, 0, name)


@cache
def imports() -> list[Import]:
    """Return every import of the package, whatever it is for."""
    return sorted(set(_imports()))


def package_of(module: str) -> str:
    """Return the package of a module."""
    relative_name = module.removeprefix("truebleu").removeprefix(".") or "__init__"
    return next(
        (layer for layer in LAYER_NUMBERS if f"{relative_name}.".startswith(f"{layer}.")),
        relative_name,
    )


def test_every_module_belongs_to_a_package():
    assert {package_of(module) for module in FILES} <= LAYER_NUMBERS.keys()


def test_every_listed_package_exists():
    assert {package_of(module) for module in MODULES} == set(LAYER_NUMBERS)


def test_every_imported_module_exists():
    assert not [str(found) for found in imports() if found.target not in MODULES]


def test_imports_go_to_lower_layers():
    """A package imports only lower layers, also for type checkers."""
    broken = []
    for import_ in imports():
        importer, imported = package_of(import_.module), package_of(import_.target)
        if imported not in LAYER_NUMBERS or importer == imported or (importer, imported) in ALLOWED:
            continue
        if LAYER_NUMBERS[imported] > LAYER_NUMBERS[importer]:
            broken.append(f"{import_}: {imported} is above {importer}")
        elif LAYER_NUMBERS[imported] == LAYER_NUMBERS[importer]:
            broken.append(f"{import_}: {imported} and {importer} are in one layer")
    assert not broken, "\n" + "\n".join(broken)


def test_every_listed_exception_is_used():
    between = {(package_of(found.module), package_of(found.target)) for found in imports()}
    assert between >= set(ALLOWED)


def test_imports_are_not_circular():
    """Not for type checkers and not inside functions either."""
    targets = defaultdict(set)
    for import_ in imports():
        targets[import_.module].add(import_.target)
    try:
        TopologicalSorter(targets).prepare()
    except CycleError as error:
        circle = error.args[1][::-1]
        pytest.fail("a circle: " + " imports ".join(circle))


def test_computed_imports_are_listed():
    """So that this test can follow them."""
    computed = {
        module
        for module in FILES
        for node in ast.walk(_parse_module(module))
        if _is_dynamic(node) and not isinstance(node.args[0], ast.Constant)
    }
    assert computed == set(TABLES)


def test_kernel_does_not_import_the_package():
    for path in (ROOT / "kernel" / "src").rglob("*.rs"):
        assert not re.search(r'import(_bound)?\(\s*"truebleu', path.read_text("utf-8")), path.name


def test_module_names_differ_from_public_names():
    """`truebleu.report` is a function, so no module may be called `truebleu.report`."""
    assert not set(truebleu.PUBLIC) & {name.partition(".")[2] for name in MODULES}
    for module, path in FILES.items():
        if path.name == "__init__.py":
            for node in _parse_module(module).body:
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    assert f"{module}.{node.name}" not in MODULES


def test_no_module_is_callable():
    for module in FILES:
        for node in ast.walk(_parse_module(module)):
            if isinstance(node, ast.ClassDef):
                bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
                assert "ModuleType" not in bases, f"{module}:{node.lineno}"


def test_package_root_has_at_most_16_entries():
    entries = [path.name for path in PACKAGE.iterdir() if not PYTHONS_OWN.fullmatch(path.name)]
    assert len(entries) <= 16, sorted(entries)


def test_test_folders_have_package_names():
    tests = ROOT / "tests"
    loose = [path.name for path in tests.glob("test_*.py")]
    assert not loose
    with_tests = {path.name for path in tests.iterdir() if any(path.glob("**/test_*.py"))}
    packages = {path.name for path in PACKAGE.iterdir() if path.is_dir()}
    # "project" is about the repository, "growth" about every entry point, "npm" about a package.
    assert with_tests - {"project", "growth", "npm"} <= packages
    assert with_tests >= LAYER_NUMBERS.keys() - {"_kernel", "__init__", "__main__"}
