"""sacreBLEU 2.6.0 over truebleu's engine: its names, its numbers, its signatures.

Each name is imported when it is asked for; a program pays for what it uses.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import compat as compat
    from . import dataset as dataset
    from . import metrics as metrics
    from . import tokenizers as tokenizers
    from . import utils as utils
    from . import version as version
    from .compat import (
        corpus_bleu,
        corpus_chrf,
        corpus_ter,
        raw_corpus_bleu,
        sentence_bleu,
        sentence_chrf,
        sentence_ter,
    )
    from .dataset import DATASETS
    from .metrics import BLEU, CHRF, TER
    from .metrics.helpers import extract_char_ngrams, extract_word_ngrams
    from .utils import (
        SACREBLEU_DIR,
        download_test_set,
        get_available_testsets,
        get_langpairs_for_testset,
        get_reference_files,
        get_source_file,
        smart_open,
    )
    from .version import __version__

# sacreBLEU's own list: what `from sacrebleu import *` gives.
__all__ = [
    "BLEU",
    "CHRF",
    "DATASETS",
    "SACREBLEU_DIR",
    "TER",
    "__version__",
    "corpus_bleu",
    "corpus_chrf",
    "corpus_ter",
    "download_test_set",
    "extract_char_ngrams",
    "extract_word_ngrams",
    "get_available_testsets",
    "get_langpairs_for_testset",
    "get_reference_files",
    "get_source_file",
    "raw_corpus_bleu",
    "sentence_bleu",
    "sentence_chrf",
    "sentence_ter",
    "smart_open",
]

# The command line prints it.
__description__ = (
    "Hassle-free computation of shareable, comparable, and reproducible BLEU, chrF, and TER scores"
)

_MODULES = ("compat", "dataset", "metrics", "tokenizers", "utils", "version")

# A module → the names that are taken from it.
_SOURCES = {
    "compat": (
        "corpus_bleu",
        "corpus_chrf",
        "corpus_ter",
        "raw_corpus_bleu",
        "sentence_bleu",
        "sentence_chrf",
        "sentence_ter",
    ),
    "dataset": ("DATASETS",),
    "metrics": ("BLEU", "CHRF", "TER"),
    "metrics.helpers": ("extract_char_ngrams", "extract_word_ngrams"),
    "utils": (
        "SACREBLEU_DIR",
        "download_test_set",
        "get_available_testsets",
        "get_langpairs_for_testset",
        "get_reference_files",
        "get_source_file",
        "smart_open",
    ),
    "version": ("__version__",),
}
_SOURCE_OF = {name: module for module, names in _SOURCES.items() for name in names}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name in _SOURCE_OF:
        value = getattr(import_module(f"{__name__}.{_SOURCE_OF[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, *_SOURCE_OF})
