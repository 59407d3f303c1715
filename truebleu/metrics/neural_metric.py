"""A metric whose numbers a neural model gives: where the model is, what names it, and its failures.

Nothing is downloaded: a model is a folder, or stands in the cache of the Hugging Face hub.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, ClassVar, Self

from truebleu.metrics.base import MetricFailedError, Signature
from truebleu.metrics.python_metric import (
    SegmentMeanMetric,
    find_installed_version,
    missing_package_error,
)
from truebleu.text.argument_checks import load_json

# What a model consists of; files of other kinds beside it change nothing.
MODEL_FILE_SUFFIXES = (
    ".json",
    ".txt",
    ".model",
    ".safetensors",
    ".bin",
    ".ckpt",
    ".pt",
    ".yaml",
    ".yml",
)
# Of a file of more bytes than `WHOLE`, `BLOCKS` blocks decide, evenly spaced from end to end.
MAX_FULLY_HASHED_BYTES, HASHED_BLOCKS, BLOCK_BYTES = 1 << 22, 64, 1 << 16
# What torch says of a device, or of this machine, that has too little memory.
OUT_OF_MEMORY_PHRASES = ("out of memory", "can't allocate memory", "not enough memory")
# Digits of a revision in signatures.
REVISION_DIGITS = 8
# Folders of models that were used, by what signatures call them.
_USED_FOLDERS: dict[str, str] = {}


class NeuralMetric(SegmentMeanMetric):
    """A metric of a neural model: `model` is a folder, or a name in the cache of the hub.

    In signatures it is the folder's last part, or the name, and behind an @ the revision: the
    first digits of the hub's, or of a sum of the folder's files. So a signature says nothing of
    this machine, and reads back wherever that model is: in the process that used it, in the
    working folder, in a folder of TRUEBLEU_MODELS, or in the hub's cache. Another model of that
    name is refused.
    """

    __slots__ = ()

    SCALE = 1.0
    DIGITS = 4
    BOUND: ClassVar[float | None] = None
    WORST: ClassVar[float | None] = None
    IS_CACHED = True
    # The last bits depend on the device, and on the texts beside it in a batch.
    DETERMINISTIC = False
    # The package, the module that it installs, and what installs it.
    PACKAGE: ClassVar[tuple[str, str]]
    INSTALL: ClassVar[str] = "pip install 'truebleu[neural]'"
    # A model's name, for messages.
    EXAMPLE: ClassVar[str]

    model: str
    device: str
    batch: int

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The metric of a model."""
        if not text.strip():
            name = cls.NAME.lower()
            raise ValueError(
                f"{name}:{text}: expected {name}:MODEL, a folder, or a name in the hub's cache, "
                f"as {name}:{cls.EXAMPLE}"
            )
        return cls(model=text)  # type: ignore[call-arg]

    @property
    def _key(self) -> frozenset[tuple[str, str]]:
        # Where the model is, and the device, change no number.
        return frozenset(self._fields(segment=None).items())

    def _fields(self, *, segment: bool | None) -> dict[str, str]:
        fields = super()._fields(segment=segment)
        model_parameter = next(p for p in self.PARAMETERS if p.name == "model")
        return fields | {"model": model_parameter.to_field(describe_model(self.model))}

    def _find_versions(self) -> tuple[str, str]:
        version = find_installed_version(self.PACKAGE[0])
        return version, f"{self.PACKAGE[0]}-{version}" if version else ""

    def signature(
        self, references: int | str | None = None, *, segment: bool | None = False
    ) -> Signature:
        """A complete description of the computation, and the program that it was made with."""
        return super().signature(None if self.REFERENCES == "none" else references, segment=segment)

    def _describe_environment(self) -> str:
        folder = find_model(self.model)
        state = _compute_revision(folder) if folder else ""
        return " ".join(
            [
                state,
                find_installed_version("torch"),
                find_installed_version("transformers"),
                self.device,
            ]
        )

    def _find_folder(self) -> str:
        """Where the model is. Raises MetricFailedError if it, or its package, is not here."""
        from importlib.util import find_spec

        if find_spec(self.PACKAGE[1]) is None:
            raise missing_package_error(self.name, self.INSTALL)
        folder = find_model(self.model)
        if folder is None:
            raise MetricFailedError(f"{self.name}: {_explain_missing_model(self.model)}")
        return folder

    def _run_model(self, segments: int, predict: Callable[[range], Sequence[Any]]) -> list[Any]:
        """What a model says of all segments; `say` has it say that of some.

        Raises MetricFailedError that names the segment on which it fails.
        """
        failing = range(segments)
        try:
            with silence_libraries():
                return list(predict(failing))
        except Exception as error:  # noqa: BLE001 - any library's, of any kind
            failed: Exception = error
        if _is_out_of_memory(failed):
            batch = f"--{self.PREFIX}batch"
            raise MetricFailedError(
                f"{self.name}: the memory of the device does not hold a batch of {self.batch}; "
                f"{batch} {max(1, self.batch // 4)} (batch= in Python) takes less, "
                f"--{self.PREFIX}device cpu none of a GPU's"
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
                location = ""  # it failed on these together
        raise MetricFailedError(f"{self.name}: {location}{_format_error(failed)}") from None

    def _load(self, load: Callable[..., Any], *arguments: Any) -> Any:
        """A model as the package loads it. Raises MetricFailedError if it cannot."""
        try:
            with silence_libraries():
                return load(*arguments)
        except MetricFailedError:
            raise
        except Exception as error:  # noqa: BLE001
            if _is_out_of_memory(error):
                reason = f"the memory of {self.device} does not hold it; --{self.PREFIX}device cpu"
            else:
                reason = f"it cannot be loaded: {_format_error(error)}"
            raise MetricFailedError(f"{self.name}: the model {self.model}: {reason}") from None


def find_model(model: str) -> str | None:
    """The folder of a model; None if it is not here.

    Raises MetricFailedError if it is another model than the one that a revision names.
    """
    if os.path.isdir(folder := os.path.expanduser(model)):
        return os.path.abspath(folder)
    name, mark, revision = model.rpartition("@")
    if not mark:
        name, revision = model, ""
    other_revisions = []
    for folder in _list_candidate_folders(name, _USED_FOLDERS.get(model)):
        revision_here = _compute_revision(folder)
        if not revision or revision_here.startswith(revision):
            return folder
        other_revisions.append(revision_here)
    if snapshot := _find_snapshot(name, revision):
        return snapshot
    if other_revisions:
        raise MetricFailedError(
            f"the model {name} here is {name}@{other_revisions[0][:REVISION_DIGITS]}, "
            f"and not {model}; give the folder that has it"
        )
    return None


def describe_model(model: str) -> str:
    """A model as signatures have it, NAME@REVISION; as it was given if it is not here."""
    try:
        folder = find_model(model)
    except MetricFailedError:
        folder = None
    if folder is None:
        return model
    parts = folder.split(os.sep)
    # A folder of the hub's cache is …/models--OWNER--NAME/snapshots/REVISION.
    name = (
        parts[-1] if _parse_snapshot_revision(folder) is None else parts[-3][8:].replace("--", "/")
    )
    name_with_revision = f"{name}@{_compute_revision(folder)[:REVISION_DIGITS]}"
    _USED_FOLDERS[name_with_revision] = folder
    return name_with_revision


def _list_candidate_folders(name: str, used: str | None) -> Iterator[str]:
    """The folders of this name: the one that was used, here, and in those of TRUEBLEU_MODELS."""
    parents = filter(None, os.environ.get("TRUEBLEU_MODELS", "").split(os.pathsep))
    name = os.path.expanduser(name)
    for folder in (used or name, name, *(os.path.join(parent, name) for parent in parents)):
        if os.path.isdir(folder):
            yield os.path.abspath(folder)


def find_hub_cache() -> str:
    """The folder of the hub's cache, which its variables place."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join("~", ".cache")
    home = os.environ.get("HF_HOME") or os.path.join(cache, "huggingface")
    hub_cache = os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE")
    return os.path.expanduser(hub_cache or os.path.join(home, "hub"))


def _find_snapshot(name: str, revision: str = "") -> str | None:
    """The folder of a model in the hub's cache: of its main branch, or of a revision."""
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
    """The revision of a folder of the hub's cache; None for any other."""
    parent, commit = os.path.split(folder)
    return commit if os.path.dirname(os.path.dirname(parent)) == find_hub_cache() else None


def _compute_revision(folder: str) -> str:
    """What names the content of a model in full."""
    return _parse_snapshot_revision(folder) or _hash_files(_list_model_files(folder))


def _list_model_files(folder: str) -> tuple[tuple[str, str, int, int], ...]:
    """The files of a model: name, place, size and time of change."""
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
    """A sum of the files' names, sizes and content; of large ones, of blocks of it."""
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


def _explain_missing_model(model: str) -> str:
    """What to do about a model that is not here."""
    name = model.rpartition("@")[0] or model
    if os.path.isfile(os.path.expanduser(model)):
        return f"{model} is a file; give the folder of the model"
    if os.path.isabs(name) or name.startswith((".", "~")) or name.count("/") > 1:
        return f"there is no folder {model}"
    return (
        f"the model {model} is not here, and truebleu downloads none: 'hf download {name}' does, "
        "or give a folder that has it"
    )


def _is_out_of_memory(error: BaseException) -> bool:
    """Whether a device, or this machine, had too little memory."""
    message = str(error).lower()
    return isinstance(error, MemoryError) or any(
        words in message for words in OUT_OF_MEMORY_PHRASES
    )


def _format_error(error: BaseException) -> str:
    """An error in one line."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0].strip():.200}" if lines else type(error).__name__


def read_config(folder: str) -> dict[str, Any]:
    """A model's config.json; nothing if there is none that can be read."""
    try:
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
            content = load_json(file.read())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


@contextmanager
def silence_libraries() -> Iterator[None]:
    """Libraries say nothing meanwhile: no warnings, no bars, no notes on the machine."""
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
    """The device by torch's name; for "auto" a GPU if there is one. Raises if it is not there."""
    import torch

    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    torch.empty(1, device=name)
    return name
