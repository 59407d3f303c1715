"""Writes src/lex/unicode.rs: which characters are punctuation, symbols and numbers.

The classes are those of the `regex` module, whose Unicode version sacreBLEU's `intl` tokenizer
has. Run with a new release of it when Unicode grows: `python kernel/tables.py`.
"""

from importlib.metadata import version
from pathlib import Path

import regex

CLASSES = {"P": 1, "S": 2, "N": 3}
PAGE = 256


def main() -> None:
    """Write the file."""
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
    blank = pages.index(bytes(PAGE // 4))
    while index[-1] == blank:
        index.pop()
    assert len(pages) <= 256
    lines = [HEAD.format(version=version("regex"), blank=blank)]
    lines.append("#[rustfmt::skip]")
    lines.append(f"static INDEX: [u8; {len(index)}] = [")
    lines += rows(index, 24)
    lines.append("];\n")
    lines.append("#[rustfmt::skip]")
    lines.append(f"static PAGES: [[u8; {PAGE // 4}]; {len(pages)}] = [")
    for page in pages:
        lines.append("    [")
        lines += ["    " + row for row in rows(list(page), 32)]
        lines.append("    ],")
    lines.append("];\n")
    path = Path(__file__).parent / "src" / "lex" / "unicode.rs"
    path.write_text("\n".join(lines), encoding="utf-8")


def rows(numbers: list[int], width: int) -> list[str]:
    """Return the lines of an array, so many numbers a line."""
    return [
        "    " + ",".join(str(n) for n in numbers[at : at + width]) + ","
        for at in range(0, len(numbers), width)
    ]


HEAD = """\
//! Which characters are punctuation, symbols and numbers. Written by tables.py; not by hand.
//!
//! The classes are Unicode's general categories P, S and N as the Python module `regex` {version}
//! has them; sacreBLEU's `intl` tokenizer asks it. Older releases of that module differ only in
//! characters that were not assigned yet.

/// What the international tokenizer needs to know of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {{
    /// Letters, marks, separators, controls, unassigned.
    Other,
    /// General category P.
    Punctuation,
    /// General category S.
    Symbol,
    /// General category N.
    Number,
}}

/// The class of a code point.
#[inline(always)]
pub fn class(point: u32) -> Class {{
    let page = INDEX.get((point >> 8) as usize).map_or({blank}, |&page| usize::from(page));
    let four = PAGES[page][(point >> 2 & 63) as usize];
    match four >> (2 * (point & 3)) & 3 {{
        0 => Class::Other,
        1 => Class::Punctuation,
        2 => Class::Symbol,
        _ => Class::Number,
    }}
}}
"""

if __name__ == "__main__":
    main()
