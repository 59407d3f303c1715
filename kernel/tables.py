"""Generate src/lex/unicode.bin, the table of punctuation, symbol and number characters.

The classes come from the `regex` module, which sacreBLEU's `intl` tokenizer uses. Run this script
with a new release of `regex` after each new Unicode version: `python kernel/tables.py`.
"""

from importlib.metadata import version
from pathlib import Path

import regex

CLASSES = {"P": 1, "S": 2, "N": 3}
PAGE = 256


def main() -> None:
    """Write unicode.bin."""
    code = bytearray(0x110000)
    text = "".join(chr(point) for point in range(0x110000))
    for name, number in CLASSES.items():
        for match in regex.finditer(rf"\p{{{name}}}", text):
            code[match.start()] = number
    index, pages = [], []
    for start in range(0, 0x110000, PAGE):
        page = bytes(
            sum(code[start + at + i] << (2 * i) for i in range(4)) for at in range(0, PAGE, 4)
        )
        if page not in pages:
            pages.append(page)
        index.append(pages.index(page))
    while index[-1] == pages.index(bytes(PAGE // 4)):
        index.pop()
    assert len(pages) <= 256
    table = bytes(index) + b"".join(pages)
    path = Path(__file__).parent / "src" / "lex" / "unicode.bin"
    path.write_bytes(table)
    print(f"{path.name}: {len(index)} blocks, {len(table)} bytes, regex {version('regex')}")
    print("State these numbers in unicode.rs.")


if __name__ == "__main__":
    main()
