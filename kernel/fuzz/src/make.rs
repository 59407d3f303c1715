//! Making inputs: numbers from a seed, texts that are hard to lex, files with a few damaged bytes.

use crate::input::BETWEEN;

/// Numbers that look random, the same for each seed.
pub struct Random(u64);

impl Random {
    /// Those of the seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ bits >> 31
    }

    /// A number below `most`.
    pub fn below(&mut self, most: usize) -> usize {
        ((u128::from(self.bits()) * most as u128) >> 64) as usize
    }

    /// True once in so many times.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// A length: mostly short, sometimes up to `most`.
    pub fn length(&mut self, most: usize) -> usize {
        let shift = self.below(4);
        self.below((most >> (2 * shift)).max(2) + 1)
    }

    /// One of them.
    pub fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// What the tokenizers' rules are about.
pub const PIECES: &[&str] = &[
    "a",
    "b",
    "the",
    "of",
    "über",
    "été",
    "Straße",
    "ΣΑΣ",
    "İ",
    "ſ",
    "1",
    "22",
    "3.14",
    "1,000",
    ".",
    ",",
    "..",
    ",,,",
    ".5",
    "5.",
    "-",
    "--",
    "1-2",
    "-\n",
    "'",
    "'s",
    "\"",
    "!",
    "?",
    "(",
    ")",
    "$",
    "+",
    "=",
    "^",
    "~",
    "_",
    "/",
    "%",
    "&",
    "&amp;",
    "&quot;",
    "&lt;",
    "&gt;",
    "&amp",
    "&amp;lt;",
    "<",
    "<skipped>",
    "<skip",
    " ",
    "  ",
    "\t",
    "\r",
    "\u{b}",
    "\u{1c}",
    "\u{1f}",
    "\u{85}",
    "\u{a0}",
    "\u{1680}",
    "\u{2003}",
    "\u{2028}",
    "\u{202f}",
    "\u{205f}",
    "\u{3000}",
    "\u{180e}",
    "\u{200b}",
    "\u{feff}",
    "中",
    "文",
    "。",
    "，",
    "、",
    "“",
    "”",
    "’",
    "–",
    "—",
    "…",
    "€",
    "™",
    "½",
    "Ⅷ",
    "٣",
    "۳",
    "\u{2e80}",
    "\u{3250}",
    "か",
    "カ",
    "ｶ",
    "한",
    "ไทย",
    "\u{301}",
    "\u{200d}",
    "👩",
    "🏽",
    "𠀀",
    "\u{10ffff}",
    "\0",
    "a\0",
    "internationalization",
    "internationalizatiom",
    "interpationalization",
    "\u{7f}",
    "\u{80}",
    "\n",
    "東京",
    "アイ",
];

/// Appends a text without a newline of about so many bytes at most.
pub fn text(random: &mut Random, most: usize, out: &mut Vec<u8>) {
    let end = out.len() + random.length(most);
    // A text of few pieces repeats itself.
    let first = random.below(PIECES.len());
    let kinds = if random.once_in(2) { PIECES.len() } else { 1 + random.below(6) };
    while out.len() < end {
        match random.below(16) {
            0..10 => {
                let piece = PIECES[(first + random.below(kinds)) % PIECES.len()];
                out.extend(piece.bytes().filter(|&byte| byte != b'\n'));
            }
            10..13 => out.push(b' '),
            13 => out.push(b'a' + random.below(3) as u8),
            14 => out.push(b' ' + random.below(95) as u8),
            _ => {
                let point = match random.below(4) {
                    0 => random.below(0x800),
                    1 => random.below(0x1_0000),
                    2 => 0x2000 + random.below(0x100),
                    _ => random.below(0x11_0000),
                };
                let character = char::from_u32(point as u32).filter(|&c| c != '\n').unwrap_or('-');
                out.extend(character.encode_utf8(&mut [0; 4]).bytes());
            }
        }
    }
}

/// Appends words, few of them different, with a space between two.
pub fn words(random: &mut Random, most: usize, out: &mut Vec<u8>) {
    const WORDS: &[&str] = &[
        "a",
        "b",
        "c",
        "the",
        "of",
        "é",
        "中",
        "abcdefgh",
        "abcdefghi",
        // Alike but for a byte in the middle.
        "abcdefghXijklmnop",
        "abcdefghYijklmnop",
        "https://a0000001/index.html",
        "https://a0000002/index.html",
        "a\0",
        "abcdefgh\0",
    ];
    let kinds = 1 + random.below(WORDS.len());
    let first = random.below(WORDS.len());
    for i in 0..random.length(most) {
        if i > 0 {
            out.push(b' ');
        }
        out.extend_from_slice(WORDS[(first + random.below(kinds)) % WORDS.len()].as_bytes());
    }
}

/// Appends texts of `make`, of which each may be a near-copy of the one before.
pub fn texts(
    random: &mut Random,
    count: usize,
    out: &mut Vec<u8>,
    mut make: impl FnMut(&mut Random, &mut Vec<u8>),
) {
    let mut last = out.len()..out.len();
    for i in 0..count {
        if i > 0 {
            out.push(BETWEEN);
        }
        let start = out.len();
        if i > 0 && random.once_in(2) {
            out.extend_from_within(last.clone());
            if random.once_in(2) {
                make(random, out);
            }
            if !out[start..].is_empty() && random.once_in(2) {
                let middle = start + random.below(out.len() - start);
                if out[middle].is_ascii() {
                    out[middle] = b' ';
                }
            }
        } else {
            make(random, out);
        }
        last = start..out.len();
    }
}

/// Damages `bytes`: flips a bit or a byte, puts a number of note, cuts, repeats.
pub fn damage(random: &mut Random, bytes: &mut Vec<u8>) {
    for _ in 0..random.length(8) {
        if bytes.is_empty() {
            bytes.push(0);
        }
        let at = random.below(bytes.len());
        match random.below(10) {
            0..4 => bytes[at] ^= 1 << random.below(8),
            4..6 => bytes[at] = *random.of(&[0, 1, 2, 0x7F, 0x80, 0xC0, 0xE2, 0xED, 0xF0, 0xFE]),
            6 => bytes[at] = random.bits() as u8,
            7 => {
                let wide = *random.of(&[0, 1, 4, 8, 0x7FFF_FFFF, 1 << 31, 1 << 63, u64::MAX]);
                let width = *random.of(&[2, 4, 8]);
                for (byte, new) in bytes[at..].iter_mut().zip(&wide.to_le_bytes()[..width]) {
                    *byte = *new;
                }
            }
            8 => bytes.truncate(at),
            _ => {
                let length = random.below(9).min(bytes.len() - at);
                bytes.extend_from_within(at..at + length);
            }
        }
    }
}
