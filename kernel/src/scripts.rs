//! The scripts that the kernel distinguishes, determined by Unicode block.

/// The names of the scripts, in the order of their numbers.
pub const NAMES: [&str; COUNT] = [
    "latin",
    "greek",
    "cyrillic",
    "armenian",
    "hebrew",
    "arabic",
    "han",
    "hangul",
    "thai",
    "lao",
    "tibetan",
    "burmese",
    "georgian",
    "ethiopic",
    "khmer",
    "devanagari",
    "bengali",
    "gurmukhi",
    "gujarati",
    "odia",
    "tamil",
    "telugu",
    "kannada",
    "malayalam",
    "sinhala",
    "kana",
    "javanese",
    "balinese",
    "tai_tham",
    "new_tai_lue",
    "cham",
    "mongolian",
    "thaana",
    "canadian_aboriginal",
    "tifinagh",
    "ol_chiki",
    "meetei_mayek",
];
/// Number of scripts.
pub const COUNT: usize = 37;
/// Latin.
pub const LATIN: usize = 0;
/// Han characters.
pub const HAN: usize = 6;
/// Hiragana and Katakana.
pub const KANA: usize = 25;

/// Return the script of a non-ASCII letter.
pub fn find_script(point: u32) -> Option<usize> {
    Some(match point {
        0xAA | 0xBA | 0xC0..=0xD6 | 0xD8..=0xF6 | 0xF8..=0x24F | 0x1E00..=0x1EFF => LATIN,
        0x370..=0x3FF | 0x1F00..=0x1FFF => 1,
        0x400..=0x52F => 2,
        0x530..=0x58F => 3,
        0x590..=0x5FF => 4,
        0x600..=0x6FF | 0x750..=0x77F | 0x8A0..=0x8FF | 0xFB50..=0xFDFF | 0xFE70..=0xFEFE => 5,
        0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0x20000..=0x3FFFF => HAN,
        0x1100..=0x11FF | 0xAC00..=0xD7A3 => 7,
        0xE00..=0xE7F => 8,
        0xE80..=0xEFF => 9,
        0xF00..=0xFFF => 10,
        0x1000..=0x109F => 11,
        0x10A0..=0x10FF => 12,
        0x1200..=0x137F => 13,
        0x1780..=0x17FF => 14,
        // The scripts from Devanagari to Sinhala have 128 characters each.
        0x900..=0xDFF => 15 + (point as usize - 0x900) / 0x80,
        0x3040..=0x30FF => KANA,
        0xA980..=0xA9DF => 26,
        0x1B00..=0x1B7F => 27,
        0x1A20..=0x1AAF => 28,
        0x1980..=0x19DF => 29,
        0xAA00..=0xAA5F => 30,
        0x1800..=0x18AF => 31,
        0x780..=0x7BF => 32,
        0x1400..=0x167F => 33,
        0x2D30..=0x2D7F => 34,
        0x1C50..=0x1C7F => 35,
        0xABC0..=0xABFF | 0xAAE0..=0xAAFF => 36,
        _ => return None,
    })
}
