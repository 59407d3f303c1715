"""SentencePiece tokenizers: the models of spBLEU, and models that users provide.

kernel/src/lex/sentencepiece.rs tokenizes the text; this module finds and downloads models.

Naman Goyal et al. (2022): The FLORES-101 evaluation benchmark for low-resource and multilingual
machine translation. TACL. Scores with different models are not comparable.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache

from truebleu._kernel import InputError, LoadedTokenizer
from truebleu.text import download


@dataclass(frozen=True)
class PublishedModel:
    """A published SentencePiece model."""

    environment_variable: str
    """The environment variable that contains the path of the file."""

    sacrebleu_name: str
    """The file name in sacreBLEU's cache."""

    urls: tuple[str, ...]

    sha256: str | None = None
    """The checksum of the model, or None if it is not published."""


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
            # The NLLB-200 checkpoints contain the same file.
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

# Models that preserve all characters and split texts for re-segmentation. They are not available as
# metric tokenizers.
PIECE_MODELS = {
    "mweralign-spm32k": PublishedModel(
        "TRUEBLEU_SPM_MWERALIGN",
        "spm32k.model",
        ("https://github.com/mjpost/mweralign/releases/download/spm-models-v1/spm32k.model",),
        "bdf64c0ad08e9514f8aa174294756c3230c950315d8b4369a79ec1176aa2dad8",
    )
}

# Names of the tokenizers whose models this process has read, keyed by their labels in signatures.
_names_by_label: dict[str, str] = {}


@dataclass(frozen=True)
class ModelFile:
    """Loaded model, or the problem with its file."""

    tokenizer: LoadedTokenizer | None
    sha256: str
    problem: str = ""


def load_tokenizer(name: str) -> LoadedTokenizer:
    """Return the tokenizer with the given name, cached until its file changes.

    Raises InputError if the file is missing, not a model, or not the expected model.
    """
    path = find_model(name)
    if path is None:
        path = _download_model(name)
    model = _read_model(path)
    if model.tokenizer is None:
        raise InputError(f"{path}: {model.problem}")
    return model.tokenizer


def find_model(name: str) -> str | None:
    """Return the path of a tokenizer's model, or None if it is not on this machine.

    Raises InputError if the file is not the expected model.
    """
    if name.startswith("spm:"):
        return os.path.expanduser(name.removeprefix("spm:"))
    published = MODELS.get(name) or PIECE_MODELS[name]
    if path := os.environ.get(published.environment_variable):
        path = os.path.expanduser(path)
        if not os.path.isfile(path):
            raise InputError(
                f"environment variable {published.environment_variable}: file not found: {path}"
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
    """Return why a tokenizer cannot be used immediately, or "" if its model is available."""
    try:
        if find_model(name) is not None:
            return ""
    except InputError:
        return "its model file is wrong"
    return "its model is missing" if download.is_offline() else "downloads its model"


def _get_model_path(name: str, folder: str) -> str:
    return os.path.join(folder, "models", f"{name}.model")


def _check_model(name: str, path: str, expected_checksum: str | None) -> str:
    """Return the path if the file has the expected checksum; raise InputError otherwise."""
    if expected_checksum is not None and (actual := _read_model(path).sha256) != expected_checksum:
        raise InputError(
            f"{path} is not the model of {name}: SHA-256 {actual}, expected {expected_checksum}. "
            f"To use it anyway, pass tokenize='spm:{path}'."
        )
    return path


def _download_model(name: str) -> str:
    published = MODELS.get(name) or PIECE_MODELS[name]
    path = _get_model_path(name, download.get_cache_folder())
    remedies = (
        f"download {published.urls[0]} and copy it to {path}, "
        f"or set {published.environment_variable} to its path"
    )
    if download.is_offline():
        raise download.OfflineError(
            f"the tokenizer {name} needs its model, but "
            f"{download.describe_offline_reason()}: {remedies}"
        )
    path = _get_model_path(name, download.get_writable_folder())
    source = download.DownloadSource(published.urls, sha256=published.sha256)
    # The recorded checksum is required. Without one, check at least that the file is a model.
    accept = None if published.sha256 or download.read_recorded_checksum(path) else _check_is_model
    try:
        download.download_file(source, path, name=f"{name}.model", accept=accept)
    except download.DownloadError as error:
        raise download.DownloadError(
            f"the tokenizer {name} needs its model: {str(error).rstrip('.')}. Or {remedies}"
        ) from None
    return path


def _check_is_model(path: str) -> bool:
    if problem := _read_model(path).problem:
        raise InputError(problem)
    return True


def _read_model(path: str) -> ModelFile:
    """Return the model in a file (or the problem with the file) and the file's checksum."""
    try:
        status = os.stat(path)
        return _read_cached_model(path, status.st_size, status.st_mtime_ns)
    except FileNotFoundError:
        problem = f"file not found: {path}" if path else "no path (expected spm:FILE)"
        raise InputError(f"SentencePiece model: {problem}") from None
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
    """Return the tokenizer's name in signatures: sacreBLEU's, or a name with the model's hash."""
    return name if name in MODELS else _register_model(name)


def _register_model(name: str) -> str:
    """Register a model file for `parse_signature_label`, and return its label."""
    label = f"spm-{_read_model(os.path.expanduser(name.removeprefix('spm:'))).sha256[:8]}"
    _names_by_label[label] = name
    return label


def parse_signature_label(label: str) -> str:
    """Return the tokenizer name for a label in a signature.

    The model must have been used in this process or be listed in $TRUEBLEU_SPM. Raises ValueError
    for an unknown label.
    """
    if label not in _names_by_label:
        for path in filter(None, os.environ.get("TRUEBLEU_SPM", "").split(os.pathsep)):
            _register_model(f"spm:{path}")
    try:
        return _names_by_label[label]
    except KeyError:
        raise ValueError(
            f"tok:{label} is a SentencePiece model with an unknown path. Pass tokenize='spm:FILE' "
            "to the metric, or set the environment variable TRUEBLEU_SPM to its path."
        ) from None
