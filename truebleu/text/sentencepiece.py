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
class PublishedModel:
    """A model that scores are published with."""

    environment_variable: str
    """The environment variable that may name the file."""

    sacrebleu_name: str
    """What sacreBLEU calls it."""

    urls: tuple[str, ...]

    sha256: str | None = None
    """Of those that are None no checksum is published."""


_NLLB = "https://dl.fbaipublicfiles.com/large_objects/nllb"
_CHECKPOINT = "https://huggingface.co/facebook/nllb-200-distilled-600M"

MODELS = {
    "flores101": PublishedModel(
        "TRUEBLEU_SPM_FLORES101",
        "sacrebleu_tokenizer_spm.model",
        ("https://dl.fbaipublicfiles.com/fairseq/models/flores/sacrebleu_tokenizer_spm.model",),
    ),
    "flores200": PublishedModel(
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
    "spBLEU-1K": PublishedModel(
        "TRUEBLEU_SPM_SPBLEU_1K",
        "spbleu-1k_tokenizer_spm.model",
        ("https://www.dlnlp.ai/spBLEU-1K/spbleu-1k_tokenizer_spm.model",),
    ),
}

# The files that this process has read, by what signatures call them.
_names_by_label: dict[str, str] = {}


@dataclass(frozen=True)
class ModelFile:
    """A model that was read."""

    tokenizer: LoadedTokenizer | None
    sha256: str
    problem: str = ""


def load_tokenizer(name: str) -> LoadedTokenizer:
    """The tokenizer of a name; the same one each time, unless the file changes.

    Raises InputError for no file, a file that is no model, and another model than expected.
    """
    path = find_model(name)
    if path is None:
        path = _download_model(name)
    model = _read_model(path)
    if model.tokenizer is None:
        raise InputError(f"{path}: {model.problem}")
    return model.tokenizer


def find_model(name: str) -> str | None:
    """The path of a tokenizer's model, if it is on this machine.

    Raises InputError for another model than expected.
    """
    if name.startswith("spm:"):
        return os.path.expanduser(name.removeprefix("spm:"))
    published = MODELS[name]
    if path := os.environ.get(published.environment_variable):
        path = os.path.expanduser(path)
        if not os.path.isfile(path):
            raise InputError(
                f"environment variable {published.environment_variable}: there is no {path}"
            )
        return _check_model(name, path, published.sha256)
    for path in (_get_model_path(name, folder) for folder in download.list_download_folders()):
        if os.path.isfile(path):
            return _check_model(
                name, path, published.sha256 or download.read_recorded_checksum(path)
            )
    folder = os.environ.get("SACREBLEU", os.path.join(os.path.expanduser("~"), ".sacrebleu"))
    path = os.path.join(folder, "models", published.sacrebleu_name)
    return _check_model(name, path, published.sha256) if os.path.isfile(path) else None


def describe_missing_data(name: str) -> str:
    """What keeps a tokenizer from splitting at once; nothing if its model is here."""
    try:
        if find_model(name) is not None:
            return ""
    except InputError:
        return "whose model is not the expected one"
    return "its model is not here" if download.is_offline() else "it downloads its model"


def _get_model_path(name: str, folder: str) -> str:
    return os.path.join(folder, "models", f"{name}.model")


def _check_model(name: str, path: str, expected: str | None) -> str:
    """The path, if the file is the expected one."""
    if expected is not None and (actual := _read_model(path).sha256) != expected:
        raise InputError(
            f"{path}: not the model of {name}: SHA-256 {actual}, expected {expected}. "
            f"To use it as it is, name it: tokenize='spm:{path}'"
        )
    return path


def _download_model(name: str) -> str:
    published, path = MODELS[name], _get_model_path(name, download.get_cache_folder())
    remedies = (
        f"download {published.urls[0]} where you can, and put it at {path}, "
        f"or set {published.environment_variable} to its path"
    )
    if download.is_offline():
        raise download.OfflineError(
            f"the tokenizer {name} needs its model, and "
            f"{download.describe_offline_reason()}: {remedies}"
        )
    path = _get_model_path(name, download.get_writable_folder())
    source = download.DownloadSource(published.urls, sha256=published.sha256)
    # What is recorded once holds; before that, at least it is a model.
    accept = None if published.sha256 or download.read_recorded_checksum(path) else _check_is_model
    try:
        download.download_file(source, path, name=f"{name}.model", accept=accept)
    except download.DownloadError as error:
        raise download.DownloadError(
            f"the tokenizer {name} needs its model: {error}; {remedies}"
        ) from None
    return path


def _check_is_model(path: str) -> bool:
    if problem := _read_model(path).problem:
        raise InputError(problem)
    return True


def _read_model(path: str) -> ModelFile:
    """The model in a file, or what is wrong with it; and its sum."""
    try:
        status = os.stat(path)
        return _read_cached_model(path, status.st_size, status.st_mtime_ns)
    except FileNotFoundError:
        raise InputError(f"a tokenizer needs its model, and there is no {path or 'name'}") from None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None


@lru_cache(8)
def _read_cached_model(path: str, _size: int, _changed: int) -> ModelFile:
    from hashlib import sha256

    with open(path, "rb") as file:
        content = file.read()
    checksum = sha256(content).hexdigest()
    try:
        return ModelFile(LoadedTokenizer.sentencepiece(content), checksum)
    except InputError as error:
        return ModelFile(None, checksum, str(error))


def format_signature_label(name: str) -> str:
    """The tokenizer in signatures: as in sacreBLEU's; or by the model, wherever it lies."""
    return name if name in MODELS else _register_model(name)


def _register_model(name: str) -> str:
    """The label of a model in a file, by which `named` knows it from now on."""
    label = f"spm-{_read_model(os.path.expanduser(name.removeprefix('spm:'))).sha256[:8]}"
    _names_by_label[label] = name
    return label


def name_from_label(label: str) -> str:
    """The tokenizer of a label in a signature, if this process knows its file.

    $TRUEBLEU_SPM lists files that are known. Raises ValueError for one that is not.
    """
    if label not in _names_by_label:
        for path in filter(None, os.environ.get("TRUEBLEU_SPM", "").split(os.pathsep)):
            _register_model(f"spm:{path}")
    try:
        return _names_by_label[label]
    except KeyError:
        raise ValueError(
            f"tok:{label} is a SentencePiece model that has no name; give its file: "
            "tokenize='spm:FILE' to a metric, or its path in the environment variable TRUEBLEU_SPM"
        ) from None
