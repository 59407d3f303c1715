"""Files as sacreBLEU opens and checks them, and the folder for those that it downloads."""

from __future__ import annotations

import os

from ._messages import fail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import IO, Any

USERHOME = os.path.expanduser("~")
# The folder of test sets and of tokenizers' models.
SACREBLEU_DIR = os.environ.get("SACREBLEU", os.path.join(USERHOME, ".sacrebleu"))


def smart_open(file: str, mode: str = "rt", encoding: str = "utf-8") -> IO[Any]:
    """Opens a text file, compressed if its name ends in .gz; lines end at newlines only."""
    if file.endswith(".gz"):
        import gzip

        return gzip.open(file, mode, encoding=encoding, newline="\n")  # type: ignore[return-value]
    return open(file, mode=mode, encoding=encoding, newline="\n")


def read_lines(path: str, encoding: str = "utf-8") -> Iterator[str]:
    """The lines of a file, with their ends. ValueError names a file that is damaged."""
    broken: tuple[type[Exception], ...] = ()
    if path.endswith(".gz"):
        import gzip
        import zlib

        broken = (EOFError, gzip.BadGzipFile, zlib.error)
    try:
        with smart_open(path, encoding=encoding) as file:
            yield from file
    except UnicodeError as error:
        raise undecodable(path, error) from None
    except broken as error:
        raise ValueError(f"{path} cannot be read: {error}") from error


def undecodable(name: str, error: UnicodeError) -> ValueError:
    """An error that says what is wrong with the encoding of an input."""
    problem = str(error)
    if isinstance(error, UnicodeDecodeError):
        problem = f"byte 0x{error.object[error.start]:02x} is not {error.encoding}"
    return ValueError(f"{name}: {problem}; name the text's encoding with -e")


def sanity_check_lengths(
    system: Sequence[str], refs: Sequence[Sequence[str]], test_set: str | None = None
) -> None:
    """Ends the process, with the reason logged, unless all have the same number of segments."""
    if all(len(references) == len(system) for references in refs):
        return
    messages = ["System and reference streams have different lengths."]
    if test_set:
        where = "with sacreBLEU's reference database if -t is given."
        messages += [
            f"This could be an issue with your system output or {where}",
            "For the latter, try cleaning out the cache by typing:\n",
            f"  rm -r {SACREBLEU_DIR}/{test_set}\n",
            "The test sets will be re-downloaded the next time you run sacreBLEU.",
        ]
    fail(*messages)
