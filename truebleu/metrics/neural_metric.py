"""Base class of metrics with a neural model, which finds, identifies and runs the model.

It downloads nothing: the model must be in a folder, or in the Hugging Face cache.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY
from functools import lru_cache
from typing import Any, ClassVar, Self

from truebleu.metrics import parameters as p
from truebleu.metrics import python_metric
from truebleu.metrics.base import MetricFailedError, Signature
from truebleu.metrics.python_metric import SegmentMeanMetric, find_installed_version
from truebleu.text.argument_checks import load_json

# Suffixes of model files; files with other suffixes do not affect scores.
MODEL_FILE_SUFFIXES = (
    *(".json", ".txt", ".model", ".safetensors", ".bin"),
    *(".ckpt", ".pt", ".yaml", ".yml"),
)
# Only evenly spaced blocks are hashed if a file is larger than the limit.
MAX_FULLY_HASHED_BYTES, HASHED_BLOCKS, BLOCK_BYTES = 1 << 22, 64, 1 << 16
# Phrases in torch's errors about insufficient memory of a device or of this machine.
OUT_OF_MEMORY_PHRASES = ("out of memory", "can't allocate memory", "not enough memory")
# Number of digits of a revision in signatures.
REVISION_DIGITS = 8
MODEL_HELP = "the model: a folder, or a name in the Hugging Face cache"
# Folders of the models used so far, keyed by the models' names in signatures.
_USED_FOLDERS: dict[str, str] = {}


class NeuralMetric(SegmentMeanMetric):
    """Metric that uses a neural model: `model` is a folder, or a name in the hub's cache.

    Signatures contain the folder's base name or the model's name, followed by @ and the first
    digits of the hub's revision or of a checksum of the folder's files. A signature is therefore
    independent of the machine. To read a signature, truebleu searches for the model among those
    already used, in the working folder, in the folders of TRUEBLEU_MODELS and in the hub's cache. A
    different model with the same name is an error.
    """

    __slots__ = ()

    SCALE = 1.0
    DIGITS = 4
    BOUND: ClassVar[float | None] = None
    WORST: ClassVar[float | None] = None
    IS_CACHED = True
    ABSENT_PARAMETERS: ClassVar[dict[str, str]] = {"tokenize": "the model has its own tokenizer"}
    # The last bits of scores depend on the device and on the other texts in the batch.
    DETERMINISTIC = False
    # The package and its module, and the command that installs the package.
    PACKAGE: ClassVar[tuple[str, str]]
    INSTALL: ClassVar[str] = "pip install 'truebleu[neural]'"
    # An example of a model name, for messages.
    EXAMPLE: ClassVar[str]

    model: str
    _: KW_ONLY
    device: p.Parameter[str] = p.Text(
        "auto", "the torch device, such as cpu or cuda:1", is_hidden=True, inherited=True
    )
    batch: p.Parameter[int] = p.WholeNumber(
        16, "the number of segments per batch", maximum=1 << 20, is_hidden=True, inherited=True
    )

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Return the metric for a model."""
        if not text.strip():
            name = cls.NAME.lower()
            raise ValueError(
                f"{name} needs a model (expected {name}:MODEL, where MODEL is a folder or a name "
                f"in the Hugging Face cache, such as {name}:{cls.EXAMPLE})"
            )
        return cls(model=text)

    @property
    def _equality_key(self) -> frozenset[tuple[str, str]]:
        # The location of the model and the device do not change scores.
        return frozenset(self._build_fields(segment=None).items())

    def _build_fields(self, *, segment: bool | None) -> dict[str, str]:
        fields = super()._build_fields(segment=segment)
        return fields | {"model": self.PARAMETERS[0].to_field(describe_model(self.model))}

    def _find_versions(self) -> tuple[str, str]:
        version = find_installed_version(self.PACKAGE[0])
        return version, f"{self.PACKAGE[0]}-{version}" if version else ""

    def signature(
        self, references: int | str | None = None, *, segment: bool | None = False
    ) -> Signature:
        """Return a complete description of the computation and its program."""
        return super().signature(None if self.REFERENCES == "none" else references, segment=segment)

    def _describe_environment(self) -> str:
        folder = find_model(self.model)
        state = _compute_revision(folder) if folder else ""
        versions = map(find_installed_version, ("torch", "transformers"))
        return " ".join([state, *versions, self.device])

    def _find_folder(self) -> str:
        """Return the model's folder. Raises MetricFailedError if it or its package is missing."""
        from importlib.util import find_spec

        if find_spec(self.PACKAGE[1]) is None:
            raise python_metric.make_missing_package_error(self.name, self.INSTALL)
        if folder := find_model(self.model):
            return folder
        name = self.model.rpartition("@")[0] or self.model
        problem = (
            f"model not found: {self.model}. Download it with 'hf download {name}', or use a "
            "folder that contains it."
        )
        if os.path.isfile(os.path.expanduser(self.model)):
            problem = f"{self.model} is a file (expected the folder of the model)"
        elif os.path.isabs(name) or name.startswith((".", "~")) or name.count("/") > 1:
            problem = f"folder not found: {self.model}"
        raise MetricFailedError(f"{self.name}: {problem}")

    def _run_model(self, segments: int, predict: Callable[[range], Sequence[Any]]) -> list[Any]:
        """Return a model's numbers for all segments. `predict` computes the numbers for a range.

        Raises MetricFailedError, which names the segment that fails.
        """
        failing = range(segments)
        try:
            with silence_libraries():
                return list(predict(failing))
        except Exception as error:  # noqa: BLE001 - libraries raise many types
            failed: Exception = error
        if _is_out_of_memory(failed):
            batch = f"--{self.PREFIX}batch"
            raise MetricFailedError(
                f"{self.name}: out of memory with a batch size of {self.batch}. Use {batch} "
                f"{max(1, self.batch // 4)} (batch= in Python), or --{self.PREFIX}device cpu "
                "instead of a GPU."
            ) from None
        while len(failing) > 1:
            half = failing[: len(failing) // 2]
            try:
                with silence_libraries():
                    predict(half)
            except Exception as error:  # noqa: BLE001
                failed, failing = error, half
            else:
                failing = failing[len(half) :]
        with silence_libraries():
            try:
                predict(failing)
            except Exception as error:  # noqa: BLE001
                location, failed = f"segment {failing[0] + 1}: ", error
            else:
                location = ""  # each segment succeeds by itself, so no segment can be named
        raise MetricFailedError(f"{self.name}: {location}{_format_error(failed)}") from None

    def _load_with_clear_errors(self, load_function: Callable[..., Any], *arguments: Any) -> Any:
        """Load a model with its package. Raises MetricFailedError if loading fails."""
        try:
            with silence_libraries():
                return load_function(*arguments)
        except MetricFailedError:
            raise
        except Exception as error:  # noqa: BLE001
            if _is_out_of_memory(error):
                reason = f"out of memory on device {self.device}. Use --{self.PREFIX}device cpu."
            else:
                reason = f"cannot be loaded: {_format_error(error)}"
            raise MetricFailedError(f"{self.name}: the model {self.model}: {reason}") from None


def find_model(model: str) -> str | None:
    """Return the folder of a model, or None if it is not on this machine.

    Raises MetricFailedError if only other revisions of the model exist.
    """
    if os.path.isdir(folder := os.path.expanduser(model)):
        return os.path.abspath(folder)
    name, mark, revision = model.rpartition("@")
    if not mark:
        name, revision = model, ""
    other_revisions = []
    parents = filter(None, os.environ.get("TRUEBLEU_MODELS", "").split(os.pathsep))
    path = os.path.expanduser(name)
    folders = (_USED_FOLDERS.get(model, path), path, *(os.path.join(one, path) for one in parents))
    for folder in map(os.path.abspath, filter(os.path.isdir, folders)):
        revision_here = _compute_revision(folder)
        if not revision or revision_here.startswith(revision):
            return folder
        other_revisions.append(revision_here)
    if snapshot := _find_snapshot(name, revision):
        return snapshot
    if other_revisions:
        raise MetricFailedError(
            f"found the model {name}@{other_revisions[0][:REVISION_DIGITS]} "
            f"instead of {model}. Use the folder with the requested revision."
        )
    return None


def find_model_or_none(model: str) -> str | None:
    """Return the folder of a model, or None if the model is missing or has another revision."""
    try:
        return find_model(model)
    except MetricFailedError:
        return None


def describe_model(model: str) -> str:
    """Return a model's NAME@REVISION for signatures, or the unchanged name if it is missing."""
    folder = find_model_or_none(model)
    if folder is None:
        return model
    *_, name = parts = folder.split(os.sep)
    if _parse_snapshot_revision(folder):  # …/models--OWNER--NAME/snapshots/REVISION
        name = parts[-3].removeprefix("models--").replace("--", "/")
    name_with_revision = f"{name}@{_compute_revision(folder)[:REVISION_DIGITS]}"
    _USED_FOLDERS[name_with_revision] = folder
    return name_with_revision


def find_hub_cache() -> str:
    """Return the folder of the Hugging Face cache, which environment variables can set."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join("~", ".cache")
    home = os.environ.get("HF_HOME") or os.path.join(cache, "huggingface")
    hub_cache = os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE")
    return os.path.expanduser(hub_cache or os.path.join(home, "hub"))


def _find_snapshot(name: str, revision: str = "") -> str | None:
    """Return a model's folder in the hub's cache, for its main branch or a revision."""
    folder = os.path.join(find_hub_cache(), f"models--{name.replace('/', '--')}")
    try:
        if not revision:
            with open(os.path.join(folder, "refs", "main"), encoding="utf-8") as file:
                revision = file.read().strip()
        snapshots = os.path.join(folder, "snapshots")
        commit = next(one for one in sorted(os.listdir(snapshots)) if one.startswith(revision))
        return os.path.join(snapshots, commit)
    except (OSError, StopIteration):
        return None


def _parse_snapshot_revision(folder: str) -> str | None:
    """Return the revision of a folder in the hub's cache, or None for other folders."""
    parent, commit = os.path.split(folder)
    return commit if os.path.dirname(os.path.dirname(parent)) == find_hub_cache() else None


def _compute_revision(folder: str) -> str:
    """Return the full revision of a model: the hub's, or a checksum of its files."""
    return _parse_snapshot_revision(folder) or _hash_files(_list_model_files(folder))


def _list_model_files(folder: str) -> tuple[tuple[str, str, int, int], ...]:
    """Return the name, path, size and modification time of each file of a model."""
    model_files = []
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(one for one in folders if not one.startswith((".", "__")))
        for file in sorted(files):
            if file.endswith(MODEL_FILE_SUFFIXES) and not file.startswith("."):
                path = os.path.join(parent, file)
                status = os.stat(path)
                name = os.path.relpath(path, folder).replace(os.sep, "/")
                model_files.append((name, path, status.st_size, status.st_mtime_ns))
    return tuple(model_files)


@lru_cache(maxsize=64)
def _hash_files(files: tuple[tuple[str, str, int, int], ...]) -> str:
    """Return a checksum of file names, sizes and content. Large files are only read in part."""
    digest = hashlib.sha256()
    for name, path, size, _ in files:
        digest.update(f"{len(name)}:{name}:{size}:".encode())
        with open(path, "rb") as file:
            if size <= MAX_FULLY_HASHED_BYTES:
                digest.update(file.read())
                continue
            for i in range(HASHED_BLOCKS):
                file.seek((size - BLOCK_BYTES) * i // (HASHED_BLOCKS - 1))
                digest.update(file.read(BLOCK_BYTES))
    return digest.hexdigest()


def _is_out_of_memory(error: BaseException) -> bool:
    message = str(error).lower()
    return isinstance(error, MemoryError) or any(
        words in message for words in OUT_OF_MEMORY_PHRASES
    )


def _format_error(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0].strip():.200}" if lines else type(error).__name__


def read_config(folder: str) -> dict[str, Any]:
    """Return the content of a model's config.json, or an empty dictionary if it is unreadable."""
    try:
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
            content = load_json(file.read())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


@contextmanager
def silence_libraries() -> Iterator[None]:
    """Suppress the warnings, progress bars and log messages of libraries within the context."""
    import logging
    import warnings
    from contextlib import redirect_stderr, redirect_stdout

    disabled = logging.root.manager.disable
    with (
        open(os.devnull, "w", encoding="utf-8") as nowhere,
        redirect_stdout(nowhere),
        redirect_stderr(nowhere),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        logging.disable(logging.ERROR)
        try:
            yield
        finally:
            logging.disable(disabled)


def resolve_device(name: str) -> str:
    """Return torch's name for an available device, or raise an error. "auto" prefers a GPU."""
    import torch

    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    torch.empty(1, device=name)
    return name
