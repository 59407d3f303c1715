"""What people pass as systems, references, sources, documents and labels, read once."""

from __future__ import annotations

import os
from itertools import zip_longest

from truebleu import _kernel
from truebleu._kernel import InputError
from truebleu.explanation.reading import Kept, file_name
from truebleu.files import DECOMPRESSORS, UTF8, File

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from truebleu.report.payload import Texts


class Lines(Kept):
    """The lines of a file in memory, as bytes: for the kernel, for the page, and to be hashed."""

    __slots__ = ("texts",)

    texts: Sequence[bytes]

    def __init__(self, file: File) -> None:
        File.__init__(self, file.path, file.column, file.encoding)
        plain = type(file) is File and file.column is None
        if plain and file.encoding.lower() in UTF8:
            texts = file.content().split(b"\n")
            if not texts[-1]:
                del texts[-1]
            self.texts = texts
        else:
            self.texts = [line.encode("utf-8", "surrogatepass") for line in file.lines()]

    def lines(self) -> Iterator[str]:
        """The lines as strings, without their ends."""
        for number, text in enumerate(self.texts, 1):
            yield decoded(text, self.label("line"), number)

    def source(self, role: str) -> _kernel.Source:
        """The lines, for the kernel."""
        pieces = iter([b"\n".join([*self.texts, b""])])
        return _kernel.stream(lambda _: next(pieces, b""), self.label(role))


def decoded(text: bytes, where: str, number: int) -> str:
    """A line as a string; `where` and `number` say in messages which."""
    try:
        return text.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{where}, line {number}: byte 0x{text[error.start]:02x} is not UTF-8; if the text is "
            "in another encoding, name it (--encoding on the command line, "
            "File(path, encoding=...) in Python)"
        ) from None


def once(value: Any, kind: type[Lines] = Lines) -> Any:
    """The same to be read more than once without reading files more than once.

    kind: how the lines of files are kept.
    """
    if isinstance(value, list | tuple):
        if value and all(isinstance(item, File | os.PathLike) for item in value):
            return [once(item, kind) for item in value]
        return value
    if isinstance(value, os.PathLike):
        value = File(value)
    return kind(value) if isinstance(value, File) and not isinstance(value, Lines) else value


# ---- texts ----


def texts(role: str, value: Any) -> Texts:
    """A column of texts, some of which may be missing."""
    if isinstance(value, Lines):
        return value.texts
    return [_encoded(role, number, item) for number, item in enumerate(_items(role, value), 1)]


def streams(value: Any) -> list[Texts]:
    """The references, as columns: as many as a segment has at most."""
    if isinstance(value, list) and value and all(isinstance(item, Lines) for item in value):
        return [column.texts for column in value]
    if isinstance(value, Lines):
        return [value.texts]
    several = isinstance(value, list | tuple) and value and all(map(_is_column, value))
    columns = [_items("references", column) for column in (value if several else [value])]
    rows = [
        [
            _encoded("references", number, one)
            for item in row
            for one in ([item] if item is None or isinstance(item, str) else item)
        ]
        for number, row in enumerate(zip(*columns, strict=True), 1)
    ]
    return [list(stream) for stream in zip_longest(*rows)]


def _is_column(value: object) -> bool:
    return isinstance(value, File) or hasattr(value, "__arrow_c_stream__")


def _items(role: str, value: Any) -> Iterable[Any]:
    """The segments of anything, as Python has them."""
    if isinstance(value, File):
        return value.lines()
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(value, method):
            return getattr(value, method)()  # type: ignore[no-any-return]
    if isinstance(value, str | bytes) or not hasattr(value, "__iter__"):
        raise TypeError(
            f"{role}: a list of strings, or pathlib.Path(...) for the name of a file, is meant, "
            f"not {type(value).__name__}"
        )
    return value  # type: ignore[no-any-return]


def _encoded(role: str, number: int, item: Any) -> bytes | None:
    if item is None:
        return None
    if not isinstance(item, str):
        raise InputError(
            f"{role}: segment {number} is a {type(item).__name__}, not a str; a report shows text, "
            "so join tokens with spaces (and score them with tokenize='none')"
        )
    return item.encode("utf-8", "surrogatepass")


def side(role: str, value: Any, segments: int, kind: type[Lines] = Lines) -> Texts:
    """A column that stands beside those that were scored: as long as they are, and UTF-8."""
    column = texts(role, once(value, kind))
    _check_length(_label(role, value), len(column), segments)
    if isinstance(value, File | os.PathLike):
        first = 1
        for some in _together(column):
            try:
                b"\n".join(some).decode()
            except UnicodeDecodeError:
                for number, text in enumerate(some, first):
                    decoded(text, _label(role, value), number)
            first += len(some)
    return column


def _together(column: Texts) -> Iterator[list[bytes]]:
    """The texts, so many at a time as are worth a call and take little memory."""
    some: list[bytes] = []
    size = 0
    for text in column:
        some.append(text or b"")
        size += len(some[-1])
        if size > 1 << 16 or len(some) == 1000:
            yield some
            some, size = [], 0
    if some:
        yield some


def _check_length(what: str, count: int, segments: int) -> None:
    if count != segments:
        raise InputError(
            f"{what} has {count:,} segments, and the systems have {segments:,}; "
            "give one for each, in the same order"
        )


def _label(role: str, value: Any) -> str:
    name = file_name(value)
    return role if name is None else f"{role} ({name})"


# ---- documents and labels ----


class Names:
    """A name for each segment: those that there are, and the number of each segment's."""

    __slots__ = ("indices", "names")

    def __init__(self, column: Iterable[str]) -> None:
        numbers: dict[str, int] = {}
        self.indices = [numbers.setdefault(name, len(numbers)) for name in column]
        self.names = list(numbers)


def documents(value: Any, segments: int) -> Names:
    """The document of each segment."""
    return Names(_names("documents", value, segments, required=True))


def labels(value: Any, segments: int) -> dict[str, Names]:
    """What segments are labelled with, by the name of each kind of label."""
    if isinstance(value, File | os.PathLike):
        columns: Mapping[str, Any] = _table(value)
    elif hasattr(value, "items"):
        columns = value
    else:
        raise TypeError(
            f"labels: a mapping of names to a label for each segment, or a file, is meant, "
            f"not {type(value).__name__}"
        )
    return {
        str(name): Names(_names(f"labels: {name}", column, segments, required=False))
        for name, column in columns.items()
    }


def _names(role: str, value: Any, segments: int, *, required: bool) -> Iterator[str]:
    """A name for each segment, from a file or from anything that can be written."""
    if isinstance(value, File | os.PathLike):
        value = side(role, value, segments)
        names = [None if name is None else name.decode("utf-8", "surrogatepass") for name in value]
    else:
        names = [None if name is None else str(name) for name in _items(role, value)]
        _check_length(role, len(names), segments)
    for number, name in enumerate(names, 1):
        if name is None and required:
            raise InputError(f"{role}: segment {number} has none")
        yield (name or "").removesuffix("\r")


def _table(value: Any) -> dict[str, list[str]]:
    """The columns of a tab-separated file, whose first line names them."""
    file = value if isinstance(value, File) else File(value)
    name = _label("labels", value)
    rows = enumerate(file.lines(), 1)
    header = [field.strip() for field in next(rows, (0, ""))[1].split("\t")]
    for field in header:
        if not field:
            raise InputError(f"{name}, line 1: it names the columns, and one has no name")
        if header.count(field) > 1:
            raise InputError(f"{name}, line 1: '{field}' is there twice")
    columns: list[list[str]] = [[] for _ in header]
    for number, line in rows:
        fields = line.removesuffix("\r").split("\t")
        if len(fields) != len(header):
            raise InputError(
                f"{name}, line {number}: {len(fields)} tab-separated "
                f"column{'' if len(fields) == 1 else 's'}, and line 1 names {len(header)}"
            )
        for column, label in zip(columns, fields, strict=True):
            column.append(label)
    return dict(zip(header, columns, strict=True))


# ---- hashes ----


def hashed(column: Texts) -> str:
    """The first 16 digits of the SHA-256 of texts, a line each.

    That is what `sha256sum` prints of a plain file. Where a text is missing, or has a line end in
    it, lengths and texts are hashed, so that different columns have different hashes.
    """
    from hashlib import sha256

    from truebleu.report.payload import of_texts

    if not isinstance(column, list):
        # Lines of a file on disk, which have no line ends in them and are all there.
        made = sha256()
        for some in _together(column):
            made.update(b"\n".join([*some, b""]))
        return made.hexdigest()[:16]
    if None in column:
        return sha256(of_texts(column)).hexdigest()[:16]
    data = b"\n".join([*column, b""])
    if data.count(b"\n") != len(column):
        data = of_texts(column)
    return sha256(data).hexdigest()[:16]


def name_of(role: str, value: Any) -> str:
    """What an input is called in the page: by its file, or by what it is."""
    name = file_name(value)
    if name is None:
        return role
    column = value.column if isinstance(value, File) else None
    return name if column is None else f"{name}#{column}"


# ---- languages ----

# ISO 639-1.
CODES = (
    "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv "
    "cy da de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr "
    "ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw "
    "ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv "
    "ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr "
    "ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi "
    "yo za zh zu"
)


def languages(source: Any, systems: Sequence[Any]) -> tuple[str | None, str | None]:
    """The languages of source and systems, as far as all names of files end in one's code.

    >>> languages(File("source.de"), [File("a.en"), File("b.en.gz")])
    ('de', 'en')
    """
    targets = {_language(system) for system in systems}
    return _language(source), targets.pop() if len(targets) == 1 else None


def _language(value: Any) -> str | None:
    name = file_name(value) or ""
    stem, ending = os.path.splitext(name)
    if ending in DECOMPRESSORS:
        ending = os.path.splitext(stem)[1]
    code = ending[1:].lower()
    return code if code in CODES.split() else None
