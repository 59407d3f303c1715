"""Parser for pages that is independent of truebleu, to test written files."""

import base64
import gzip
import json
import re
import struct
from html.parser import HTMLParser
from itertools import islice

# Elements without an end tag.
VOID_ELEMENTS = {"meta", "wbr", "br", "link", "input"}


class Page(HTMLParser):
    """Elements, text and data blocks of a page."""

    def __init__(self, page: bytes | str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.styles: list[str] = []
        self.title = ""
        self.text = ""
        self._open: list[str] = []
        self.feed(page.decode() if isinstance(page, bytes) else page)
        self.close()
        assert not self._open, f"not closed: {self._open}"

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag in {"script", "style"}:
            self.scripts.append((dict(attrs), ""))
        if tag not in VOID_ELEMENTS:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        inside = self._open[-1] if self._open else ""
        if inside in {"script", "style"}:
            attributes, text = self.scripts.pop()
            self.scripts.append((attributes, text + data))
        elif inside == "title" and "svg" not in self._open:
            self.title += data
        else:
            self.text += data

    @property
    def tags(self) -> set[str]:
        return {tag for tag, _ in self.elements}

    @property
    def attributes(self) -> set[str]:
        return {name for _, attributes in self.elements for name in attributes}

    @property
    def policy(self) -> dict[str, str]:
        """Content-security policy by directive."""
        content = next(
            attributes["content"]
            for tag, attributes in self.elements
            if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
        )
        return dict(part.strip().split(" ", 1) for part in content.split(";"))

    @property
    def manifest(self):
        return json.loads(next(text for a, text in self.scripts if a.get("id") == "manifest"))

    @property
    def blocks(self) -> dict[str, bytes]:
        return {
            attributes["data-block"]: gzip.decompress(base64.b64decode(text, validate=True))
            for attributes, text in self.scripts
            if "data-block" in attributes
        }

    def texts(self, name: str) -> list[str | None]:
        roles = self.manifest["texts"] or []
        if name in roles:
            return decode_interleaved_texts(self.blocks["texts"], len(roles))[roles.index(name)]
        return decode_texts(self.blocks[name], self.manifest["segments"])

    def rows(self, setting: int, system: str) -> list[list[float]]:
        entry = self.manifest["settings"][setting]
        block = self.blocks[entry["blocks"][system]]
        return decode_rows(block, self.manifest["segments"], len(entry["columns"]))

    def indices(self, name: str) -> list[int]:
        return list(struct.unpack(f"<{self.manifest['segments']}I", self.blocks[name]))


def parse_rows(markup: str) -> list[list[str]]:
    """Return the texts of the cells of all rows of a table."""
    rows = re.findall("(?s)<tr>(.*?)</tr>", markup)
    return [
        [Page(cell).text.strip() for cell in re.findall("<t[hd].*?</t[hd]>", row)] for row in rows
    ]


def decode_interleaved_texts(block: bytes, role_count: int) -> list[list[str | None]]:
    """Decode a block of interleaved texts and return the texts of each role."""
    words, *sizes = struct.unpack_from(f"<{1 + role_count}I", block)
    rest = iter(block[4 + 4 * role_count :])

    def take_piece() -> bytes:
        return bytes(islice(rest, next(rest)))

    dictionary = [take_piece() for _ in range(words)]
    texts: list[bytes | None] = []
    text = b""
    for byte in rest:
        if byte >= 0xFE:
            texts.append(text if byte == 0xFF else None)
            text = b""
        elif byte == 0xFD:
            text += take_piece()
        else:
            text += bytes([byte]) if byte < 0x80 else dictionary[byte - 0x80 << 8 | next(rest)]
    columns = [texts[role::role_count] for role in range(role_count)]
    assert [sum(len(text or b"") for text in column) for column in columns] == sizes
    return [
        [None if text is None else text.decode("utf-8", "surrogatepass") for text in column]
        for column in columns
    ]


def decode_texts(block: bytes, count: int) -> list[str | None]:
    lengths = struct.unpack_from(f"<{count}I", block)
    texts: list[str | None] = []
    offset = 4 * count
    for length in lengths:
        if length == 0xFFFFFFFF:
            texts.append(None)
            continue
        texts.append(block[offset : offset + length].decode("utf-8", "surrogatepass"))
        offset += length
    assert offset == len(block)
    return texts


def decode_rows(block: bytes, count: int, width: int) -> list[list[float]]:
    columns = []
    offset = 0
    for _ in range(width):
        number_size = block[offset]
        columns.append(
            struct.unpack_from(
                f"<{count}{ {1: 'B', 2: 'H', 4: 'I', 8: 'd'}[number_size] }".replace(" ", ""),
                block,
                offset + 1,
            )
        )
        offset += 1 + number_size * count
    assert offset == len(block)
    return [list(row) for row in zip(*columns, strict=True)]
