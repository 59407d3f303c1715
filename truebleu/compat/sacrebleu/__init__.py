"""sacreBLEU 2.6.0 over truebleu's engine: its names, its numbers, its signatures.

Each name is imported when it is first used, so a program pays only for what it uses.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # for editors and type checkers, who see the public names of these modules
    from . import compat as compat
    from . import dataset as dataset
    from . import metrics as metrics
    from . import tokenizers as tokenizers
    from . import utils as utils
    from . import version as version
    from .compat import *  # noqa: F403
    from .metrics import *  # noqa: F403
    from .metrics.helpers import *  # noqa: F403
    from .utils import *  # noqa: F403
    from .version import __version__ as __version__

_MODULES = ("compat", "dataset", "metrics", "tokenizers", "utils", "version")

# Each public name, and the module that it is imported from when it is first used.
_PUBLIC = {
    "__version__": "version",
    "DATASETS": "dataset",
    "extract_char_ngrams": "metrics.helpers",
    "extract_word_ngrams": "metrics.helpers",
    **dict.fromkeys(("BLEU", "CHRF", "TER"), "metrics"),
    **dict.fromkeys(("corpus_bleu", "raw_corpus_bleu", "sentence_bleu"), "compat"),
    **dict.fromkeys(("corpus_chrf", "sentence_chrf", "corpus_ter", "sentence_ter"), "compat"),
    **dict.fromkeys(("SACREBLEU_DIR", "smart_open", "download_test_set"), "utils"),
    **dict.fromkeys(("get_source_file", "get_reference_files"), "utils"),
    **dict.fromkeys(("get_available_testsets", "get_langpairs_for_testset"), "utils"),
}
# sacreBLEU's own list: the names that `from sacrebleu import *` imports.
__all__ = [*_PUBLIC]  # noqa: PLE0604

# The command line prints it.
__description__ = (
    "Hassle-free computation of shareable, comparable, and reproducible BLEU, chrF, and TER scores"
)


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name in _PUBLIC:
        value = getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, *_PUBLIC})
