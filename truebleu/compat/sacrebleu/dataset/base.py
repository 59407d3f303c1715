"""The base of every kind of test set: the places of its files, and their download."""

from __future__ import annotations

import os
from contextlib import contextmanager

from truebleu._kernel import InputError
from truebleu.testsets import readers
from truebleu.text.files import WholeFile
from truebleu.text.safe_paths import join_safe, path_inside

from .._download import download_file
from .._files import SACREBLEU_DIR, read_lines
from .._messages import TestSetError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    # The files of a language pair; or the file, and which references to use.
    Files = list[str] | dict[str, Any]


@contextmanager
def readable() -> Iterator[None]:
    """Says what is wrong with the files of a test set as this package says it."""
    try:
        yield
    except InputError as error:
        raise TestSetError(str(error)) from error


class Dataset:
    """A test set. It is downloaded when one of its files is asked for.

    name: "wmt17", "wmt21/systems".
    data, md5: the addresses of its archives and their sums.
    langpairs: the files inside the archives for each language pair.
    kwargs: refs, the references to use where files have several.

    Its files lie in $SACREBLEU/<name>: as they were downloaded in `raw`, beside that as text, one
    file per field, one line per segment.
    """

    def __init__(
        self,
        name: str,
        data: list[str] | None = None,
        description: str | None = None,
        citation: str | None = None,
        md5: list[str] | None = None,
        langpairs: Mapping[str, Files] | None = None,
        **kwargs: Any,
    ) -> None:
        self.name = name
        self.data = data
        self.description = description
        self.citation = citation
        self.md5 = md5
        self.langpairs: Mapping[str, Files] = {} if langpairs is None else langpairs
        self.kwargs = kwargs
        with readable():
            self._outdir = join_safe(SACREBLEU_DIR, name)
        self._rawdir = os.path.join(self._outdir, "raw")

    def maybe_download(self) -> None:
        """Downloads and unpacks missing archives."""
        os.makedirs(self._rawdir, exist_ok=True)
        for number, address in enumerate(self.data or ()):
            archive = os.path.join(self._rawdir, self._get_tarball_filename(address))
            md5 = self.md5[number] if self.md5 else None
            download_file(address, archive, extract_to=self._rawdir, expected_md5=md5)

    @staticmethod
    def _clean(s: str) -> str:
        """The text with single spaces for all white space, and none at its ends."""
        return readers.cleaned(s)

    def _get_tarball_filename(self, url: str) -> str:
        """The name of an archive on this machine."""
        return f"{self._file_name}.{os.path.basename(url)}"

    @property
    def _file_name(self) -> str:
        """The name of the test set as a part of names of files."""
        return self.name.replace("/", "_")

    def _get_txt_file_path(self, langpair: str, fieldname: str) -> str:
        """The path of a field's text. Windows has no colons in names of files."""
        field = fieldname.replace(":", "-")
        with readable():
            # Names of systems come from the archive.
            return path_inside(self._outdir, f"{self._file_name}.{langpair}.{field}")

    def _get_langpair_metadata(self, langpair: str | None) -> Mapping[str, Files]:
        """The files of a language pair; of all of them if none is named."""
        if langpair is None:
            return self.langpairs
        if langpair not in self.langpairs:
            raise TestSetError(f"No such language pair {self.name}/{langpair}")
        return {langpair: self.langpairs[langpair]}

    def raw_files(self, langpair: str) -> list[str]:
        """The paths of the files of a language pair as they were downloaded."""
        return [os.path.join(self._rawdir, name) for name in self._names(langpair)]

    def process_to_text(self, langpair: str | None = None) -> None:
        """Makes the text of all fields of a language pair, of all pairs if none is named."""
        self.maybe_download()
        for pair in self._get_langpair_metadata(langpair):
            with readable():
                for field, lines in self._texts(pair):
                    with WholeFile(self._get_txt_file_path(pair, field)) as file:
                        file.writelines(f"{line}\n".encode() for line in lines)

    @property
    def _kind(self) -> str:
        """The kind of its files, as the catalogue calls it."""
        known = (each.__name__.removesuffix("Dataset") for each in type(self).__mro__)
        return next(name for name in known if name in readers.KINDS)

    def _names(self, langpair: str) -> list[str]:
        """The names of its files for a language pair, a table's perhaps with a column."""
        files = self._get_langpair_metadata(langpair)[langpair]
        return [files["path"]] if isinstance(files, dict) else files

    def _texts(self, langpair: str) -> Iterator[tuple[str, Iterable[str]]]:
        """The fields of a language pair, each with its text."""
        return readers.read(self._kind, self.name, self._names(langpair), self._rawdir)

    def fieldnames(self, langpair: str) -> list[str]:
        """The fields of each segment: src, ref or ref:0, ref:1 ..., and perhaps more."""
        with readable():
            return readers.names(self._kind, self.name, self._names(langpair)) or []

    def __iter__(self, langpair: str) -> Iterator[tuple[str, ...]]:  # noqa: PLE0302
        """All fields of each segment: `dataset.__iter__("en-de")`."""
        return zip(*map(read_lines, self.get_files(langpair)), strict=False)

    def source(self, langpair: str) -> Iterator[str]:
        """The source segments."""
        return (line.strip() for line in read_lines(self.get_source_file(langpair)))

    def references(self, langpair: str) -> Iterator[tuple[str, ...]]:
        """The references of each segment, with the newlines at their ends."""
        return zip(*map(read_lines, self.get_reference_files(langpair)), strict=False)

    def get_source_file(self, langpair: str) -> str:
        """The path of the source."""
        return self.get_files(langpair)[self.fieldnames(langpair).index("src")]

    def get_reference_files(self, langpair: str) -> list[str]:
        """The paths of the references."""
        fields = zip(self.fieldnames(langpair), self.get_files(langpair), strict=True)
        return [path for name, path in fields if name.startswith("ref")]

    def get_files(self, langpair: str | None) -> list[str]:
        """The paths of the fields, in the order of `fieldnames`. Missing files are made.

        Without a language pair: of all pairs, one after the other.
        """
        if langpair is None:
            return [path for pair in self.langpairs for path in self.get_files(pair)]
        paths = [self._get_txt_file_path(langpair, name) for name in self.fieldnames(langpair)]
        if not all(map(os.path.exists, paths)):
            self.process_to_text(langpair)
        return paths
