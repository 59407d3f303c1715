"""Stand-ins for other packages over this package's engine, and `install`, which puts them in place.

`truebleu.compat.sacrebleu` and `truebleu.compat.nltk` can be imported by these names. Programs that
import the originals, your own or others', get the stand-ins if `install` comes first:

    import truebleu.compat
    truebleu.compat.install("nltk")
    from nltk.translate.bleu_score import sentence_bleu  # truebleu.compat.nltk.bleu_score's

An installation holds for one process: call `install` in each worker too. The metadata of installed
distributions stay as they are; `importlib.metadata.version("sacrebleu")` is the version of the
original, or an error without one.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import CodeType, ModuleType
    from typing import Any

__all__ = ["install", "uninstall"]

# The modules of each package that are replaced, with all below them. Four are NLTK's; the rest of
# NLTK, which has to be installed, stays its own.
_OF_NLTK = ("bleu_score", "gleu_score", "nist_score", "chrf_score")
PACKAGES: dict[str, dict[str, str]] = {
    "sacrebleu": {"sacrebleu": f"{__name__}.sacrebleu"},
    "nltk": {f"nltk.translate.{name}": f"{__name__}.nltk.{name}" for name in _OF_NLTK},
}


def install(name: str, *, replace: bool = False) -> None:
    """Makes imports of this name return truebleu's modules, in this process.

    name: "sacrebleu" for the whole package; "nltk" for BLEU, GLEU, NIST and chrF of
        `nltk.translate` (also where NLTK itself gives them other names, as `nltk.translate.bleu`).
    replace: replace an original that has been imported already, for imports from now on; names in
        other modules (`from sacrebleu import corpus_bleu`) stay the original's. Without it, such
        an original is an error.

    Installing again does nothing. Raises RuntimeError for an original that is imported already,
    ValueError for an unknown name.
    """
    modules = _modules(name)
    if _finder(name) is not None:
        return
    originals = {known: module for known, module in _loaded(modules).items() if not _is_own(module)}
    if originals and not replace:
        raise RuntimeError(
            f"{min(originals)} is imported already, and names imported from it would stay the "
            f"original's. Call truebleu.compat.install({name!r}) before the first import of "
            f"{name}, or with replace=True, which holds for imports from now on"
        )
    for known in originals:
        del sys.modules[known]
    finder = _Finder(modules, originals)
    sys.meta_path.insert(0, finder)
    _renew(modules, originals)


def uninstall(name: str) -> None:
    """Undoes `install`: imports return the original again, the same module where there was one.

    Names imported in between stay truebleu's. Without an installation it does nothing.
    """
    modules = _modules(name)
    finder = _finder(name)
    if finder is None:
        return
    sys.meta_path.remove(finder)
    own = _loaded(modules)
    for known in own:
        del sys.modules[known]
    sys.modules.update(finder.originals)
    _renew(modules, own)


def _modules(name: str) -> dict[str, str]:
    if name not in PACKAGES:
        from truebleu.text.checks import nearest

        raise ValueError(f"no stand-in for {name!r}{nearest(str(name), PACKAGES)}")
    return PACKAGES[name]


def _finder(name: str) -> _Finder | None:
    """The finder of an installation in the import system."""
    finders = (finder for finder in sys.meta_path if isinstance(finder, _Finder))
    return next((finder for finder in finders if finder.modules is PACKAGES[name]), None)


def _loaded(modules: Mapping[str, str]) -> dict[str, ModuleType]:
    """The modules that are replaced, and those below them, as far as they are imported."""
    return {
        name: module
        for name, module in sys.modules.copy().items()
        if module is not None and _counterpart(name, modules) is not None
    }


def _is_own(module: ModuleType) -> bool:
    return module.__name__.startswith(f"{__name__}.")


def _counterpart(name: str, modules: Mapping[str, str]) -> str | None:
    """The name of truebleu's module for this one; None if it is not replaced."""
    for original, own in modules.items():
        if name == original or name.startswith(f"{original}."):
            return own + name[len(original) :]
    return None


def _renew(modules: Mapping[str, str], gone: Mapping[str, ModuleType]) -> None:
    """Renews the names that a package has for removed modules and for their contents.

    `nltk.translate.bleu` is such a name for `nltk.translate.bleu_score.sentence_bleu`, and NLTK
    has some of them a second time as `nltk.bleu`.
    """
    from importlib import import_module

    renewed: dict[int, object] = {}
    for name, module in gone.items():
        parent = name.rpartition(".")[0]
        if name not in modules or parent not in sys.modules:
            continue
        new = import_module(name)
        renewed[id(module)] = new
        for public, value in vars(module).items():
            if getattr(value, "__module__", None) == module.__name__ and hasattr(new, public):
                renewed[id(value)] = getattr(new, public)
        root = name.partition(".")[0]
        for other in _loaded({root: root}).values():
            for public, value in list(vars(other).items()):
                if id(value) in renewed:
                    setattr(other, public, renewed[id(value)])


class _Finder:
    """Finds truebleu's modules under the names of others."""

    def __init__(self, modules: Mapping[str, str], originals: dict[str, ModuleType]) -> None:
        self.modules = modules
        self.originals = originals

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        """The specification of a module that `import` asks for."""
        counterpart = _counterpart(fullname, self.modules)
        if counterpart is None:
            return None
        from importlib.util import find_spec

        found = find_spec(counterpart)
        if found is None:
            return None
        below = found.submodule_search_locations
        loader: Any = _Loader(found)
        spec = ModuleSpec(fullname, loader, origin=found.origin, is_package=below is not None)
        spec.submodule_search_locations = below
        return spec


class _Loader:
    """Loads a module of truebleu's under another name: the same object."""

    def __init__(self, spec: ModuleSpec) -> None:
        self.spec = spec

    def create_module(self, spec: ModuleSpec) -> ModuleType:  # noqa: ARG002
        """The module by its own name."""
        from importlib import import_module

        return import_module(self.spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Restores the module's own specification; nothing is executed again."""
        module.__spec__ = self.spec

    def get_code(self, fullname: str) -> CodeType | None:  # noqa: ARG002
        """The code that `python -m` and `runpy` execute."""
        return self.spec.loader.get_code(self.spec.name)  # type: ignore[union-attr,no-any-return]
