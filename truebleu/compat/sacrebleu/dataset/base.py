"""What every kind of test set shares: where its files are, and how they come there."""

from __future__ import annotations

import os
from abc import ABCMeta, abstractmethod

from truebleu.files import WholeFile

from .. import utils
from .._messages import TestSetError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    # The files of a language pair; or the file, and which references are meant.
    Files = list[str] | dict[str, Any]


class Dataset(metaclass=ABCMeta):
    """A test set. It is downloaded when one of its files is asked for.

    name: "wmt17", "wmt21/systems".
    data, md5: the addresses of its archives and their sums.
    langpairs: for each language pair the files inside the archives.
    kwargs: refs, the references that are meant where files have several.

    Its files lie in $SACREBLEU/<name>: in `raw` as they were downloaded, beside that as text, a
    file a field, a line a segment.
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
        self._outdir = os.path.join(utils.SACREBLEU_DIR, name)
        self._rawdir = os.path.join(self._outdir, "raw")

    def maybe_download(self) -> None:
        """Downloads and unpacks those archives that are not there."""
        os.makedirs(self._rawdir, exist_ok=True)
        for number, address in enumerate(self.data or ()):
            archive = os.path.join(self._rawdir, self._get_tarball_filename(address))
            md5 = self.md5[number] if self.md5 else None
            utils.download_file(address, archive, extract_to=self._rawdir, expected_md5=md5)

    @staticmethod
    def _clean(s: str) -> str:
        """The text with single spaces for all white space, and none at its ends."""
        return " ".join(s.split())

    def _get_tarball_filename(self, url: str) -> str:
        """The name of an archive on this machine."""
        return f"{self._file_name}.{os.path.basename(url)}"

    @property
    def _file_name(self) -> str:
        """The name of the test set as a part of names of files."""
        return self.name.replace("/", "_")

    def _get_txt_file_path(self, langpair: str, fieldname: str) -> str:
        """Where the text of a field is. Windows has no colons in names of files."""
        field = fieldname.replace(":", "-")
        return os.path.join(self._outdir, f"{self._file_name}.{langpair}.{field}")

    def _get_langpair_metadata(self, langpair: str | None) -> Mapping[str, Files]:
        """The files of a language pair; of all of them if none is named."""
        if langpair is None:
            return self.langpairs
        if langpair not in self.langpairs:
            raise TestSetError(f"No such language pair {self.name}/{langpair}")
        return {langpair: self.langpairs[langpair]}

    def raw_file(self, langpair: str) -> str:
        """Where the file is, as it was downloaded, that says what documents there are."""
        files = self._get_langpair_metadata(langpair)[langpair]
        return os.path.join(self._rawdir, files["path"] if isinstance(files, dict) else files[0])

    @abstractmethod
    def process_to_text(self, langpair: str | None = None) -> None:
        """Makes the text of all fields of a language pair, of all pairs if none is named."""

    def _write(self, langpair: str, field: str, lines: Iterable[str]) -> None:
        """Writes the text of a field, whole or not at all."""
        with WholeFile(self._get_txt_file_path(langpair, field)) as file:
            file.writelines(f"{line}\n".encode() for line in lines)

    def fieldnames(self, langpair: str) -> list[str]:  # noqa: ARG002
        """What there is of each segment: src, ref and perhaps more."""
        return ["src", "ref"]

    def __iter__(self, langpair: str) -> Iterator[tuple[str, ...]]:  # noqa: PLE0302
        """All fields of each segment: `dataset.__iter__("en-de")`."""
        return self._rows(self.get_files(langpair))

    def source(self, langpair: str) -> Iterator[str]:
        """The source segments."""
        with utils.smart_open(self.get_source_file(langpair)) as file:
            for line in file:
                yield line.strip()

    def references(self, langpair: str) -> Iterator[tuple[str, ...]]:
        """The references of each segment, with the newlines at their ends."""
        return self._rows(self.get_reference_files(langpair))

    @staticmethod
    def _rows(paths: Iterable[str]) -> Iterator[tuple[str, ...]]:
        files = [utils.smart_open(path) for path in paths]
        try:
            yield from zip(*files, strict=False)
        finally:
            for file in files:
                file.close()

    def get_source_file(self, langpair: str) -> str:
        """Where the source is."""
        return self.get_files(langpair)[self.fieldnames(langpair).index("src")]

    def get_reference_files(self, langpair: str) -> list[str]:
        """Where the references are."""
        fields = zip(self.fieldnames(langpair), self.get_files(langpair), strict=True)
        return [path for name, path in fields if name.startswith("ref")]

    def get_files(self, langpair: str | None) -> list[str]:
        """Where the fields are, in the order of `fieldnames`. What is not there is made.

        Without a language pair: of all pairs, one after the other.
        """
        if langpair is None:
            return [path for pair in self.langpairs for path in self.get_files(pair)]
        paths = [self._get_txt_file_path(langpair, name) for name in self.fieldnames(langpair)]
        if not all(map(os.path.exists, paths)):
            self.process_to_text(langpair)
        return paths
