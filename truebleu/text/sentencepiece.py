"""The pieces of SentencePiece models: spBLEU's tokenizers, and the user's own models.

The kernel splits (kernel/src/lex/sentencepiece.rs); here models are found, and downloaded.

Naman Goyal et al. (2022): The FLORES-101 evaluation benchmark for low-resource and multilingual
machine translation. TACL. Scores of different models do not compare.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache

from truebleu._kernel import InputError, LoadedTokenizer
from truebleu.text import download


@dataclass(frozen=True)
class Published:
    """A model that scores are published with."""

    variable: str
    """The environment variable that may name the file."""

    file: str
    """What sacreBLEU calls it."""

    addresses: tuple[str, ...]

    sha256: str | None = None
    """Of those that are None no checksum is published."""


_NLLB = "https://dl.fbaipublicfiles.com/large_objects/nllb"
_CHECKPOINT = "https://huggingface.co/facebook/nllb-200-distilled-600M"

MODELS = {
    "flores101": Published(
        "TRUEBLEU_SPM_FLORES101",
        "sacrebleu_tokenizer_spm.model",
        ("https://dl.fbaipublicfiles.com/fairseq/models/flores/sacrebleu_tokenizer_spm.model",),
    ),
    "flores200": Published(
        "TRUEBLEU_SPM_FLORES200",
        "flores200sacrebleuspm",
        (
            f"{_NLLB}/models/spm_200/flores200_sacrebleu_tokenizer_spm.model",
            # The checkpoints of NLLB-200 have the same file.
            f"{_CHECKPOINT}/resolve/main/sentencepiece.bpe.model",
            "https://tinyurl.com/flores200sacrebleuspm",
        ),
        "14bb8dfb35c0ffdea7bc01e56cea38b9e3d5efcdcb9c251d6b40538e1aab555a",
    ),
    "spBLEU-1K": Published(
        "TRUEBLEU_SPM_SPBLEU_1K",
        "spbleu-1k_tokenizer_spm.model",
        ("https://www.dlnlp.ai/spBLEU-1K/spbleu-1k_tokenizer_spm.model",),
    ),
}

# The files that this process has read, by what signatures call them.
_SEEN: dict[str, str] = {}


@dataclass(frozen=True)
class Model:
    """A model that was read."""

    tokenizer: LoadedTokenizer | None
    sha256: str
    problem: str = ""


def loaded(name: str) -> LoadedTokenizer:
    """The tokenizer of a name; the same one each time, unless the file changes.

    Raises InputError for no file, a file that is no model, and another model than expected.
    """
    path = found(name)
    if path is None:
        path = _downloaded(name)
    model = _read(path)
    if model.tokenizer is None:
        raise InputError(f"{path}: {model.problem}")
    return model.tokenizer


def found(name: str) -> str | None:
    """The path of a tokenizer's model, if it is on this machine.

    Raises InputError for another model than expected.
    """
    if name.startswith("spm:"):
        return os.path.expanduser(name.removeprefix("spm:"))
    known = MODELS[name]
    if place := os.environ.get(known.variable):
        place = os.path.expanduser(place)
        if not os.path.isfile(place):
            raise InputError(f"environment variable {known.variable}: there is no {place}")
        return _checked(name, place, known.sha256)
    for own in (_place(name, folder) for folder in download.folders()):
        if os.path.isfile(own):
            return _checked(name, own, known.sha256 or download.recorded(own))
    folder = os.environ.get("SACREBLEU", os.path.join(os.path.expanduser("~"), ".sacrebleu"))
    theirs = os.path.join(folder, "models", known.file)
    return _checked(name, theirs, known.sha256) if os.path.isfile(theirs) else None


def lacking(name: str) -> str:
    """What keeps a tokenizer from splitting at once; nothing if its model is here."""
    try:
        if found(name) is not None:
            return ""
    except InputError:
        return "whose model is not the expected one"
    return "its model is not here" if download.is_offline() else "it downloads its model"


def _place(name: str, folder: str) -> str:
    return os.path.join(folder, "models", f"{name}.model")


def _checked(name: str, path: str, expected: str | None) -> str:
    """The path, if the file is the expected one."""
    if expected is not None and (got := _read(path).sha256) != expected:
        raise InputError(
            f"{path}: not the model of {name}: SHA-256 {got}, expected {expected}. "
            f"To use it as it is, name it: tokenize='spm:{path}'"
        )
    return path


def _downloaded(name: str) -> str:
    known, place = MODELS[name], _place(name, download.cache_folder())
    ways = (
        f"download {known.addresses[0]} where you can, and put it at {place}, "
        f"or set {known.variable} to its path"
    )
    if download.is_offline():
        raise download.OfflineError(
            f"the tokenizer {name} needs its model, and {download.why_offline()}: {ways}"
        )
    place = _place(name, download.writable_folder())
    source = download.Source(known.addresses, sha256=known.sha256)
    # What is recorded once holds; before that, at least it is a model.
    accept = None if known.sha256 or download.recorded(place) else _is_model
    try:
        download.get(source, place, name=f"{name}.model", accept=accept)
    except download.DownloadError as error:
        raise download.DownloadError(
            f"the tokenizer {name} needs its model: {error}; {ways}"
        ) from None
    return place


def _is_model(path: str) -> bool:
    if problem := _read(path).problem:
        raise InputError(problem)
    return True


def _read(path: str) -> Model:
    """The model in a file, or what is wrong with it; and its sum."""
    try:
        status = os.stat(path)
        return _read_again(path, status.st_size, status.st_mtime_ns)
    except FileNotFoundError:
        raise InputError(f"a tokenizer needs its model, and there is no {path or 'name'}") from None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None


@lru_cache(8)
def _read_again(path: str, _size: int, _changed: int) -> Model:
    from hashlib import sha256

    with open(path, "rb") as file:
        content = file.read()
    found = sha256(content).hexdigest()
    try:
        return Model(LoadedTokenizer.sentencepiece(content), found)
    except InputError as error:
        return Model(None, found, str(error))


def label(name: str) -> str:
    """The tokenizer in signatures: as in sacreBLEU's; or by the model, wherever it lies."""
    return name if name in MODELS else _seen(name)


def _seen(name: str) -> str:
    """The label of a model in a file, by which `named` knows it from now on."""
    seen = f"spm-{_read(os.path.expanduser(name.removeprefix('spm:'))).sha256[:8]}"
    _SEEN[seen] = name
    return seen


def named(label: str) -> str:
    """The tokenizer of a label in a signature, if this process knows its file.

    $TRUEBLEU_SPM lists files that are known. Raises ValueError for one that is not.
    """
    if label not in _SEEN:
        for path in filter(None, os.environ.get("TRUEBLEU_SPM", "").split(os.pathsep)):
            _seen(f"spm:{path}")
    try:
        return _SEEN[label]
    except KeyError:
        raise ValueError(
            f"tok:{label} is a SentencePiece model that has no name; give its file: "
            "tokenize='spm:FILE' to a metric, or its path in the environment variable TRUEBLEU_SPM"
        ) from None
