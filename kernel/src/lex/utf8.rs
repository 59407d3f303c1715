//! Characters of UTF-8 text that may hold surrogates, as Python's strings may.

/// The bytes of the character that starts with `lead`; 1 for a byte that starts none.
#[inline]
pub fn width(lead: u8) -> usize {
    match lead {
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF7 => 4,
        _ => 1,
    }
}

/// The character that `text` starts with, and its width; `None` for what is no character.
/// Surrogates count as characters, as they do in Python.
pub fn decode(text: &[u8]) -> (Option<u32>, usize) {
    let width = width(text[0]);
    if width == 1 {
        return (text[0].is_ascii().then_some(u32::from(text[0])), 1);
    }
    let Some(tail) = text.get(1..width) else {
        return (None, 1);
    };
    if tail.iter().any(|byte| byte & 0xC0 != 0x80) {
        return (None, 1);
    }
    let lead = u32::from(text[0]) & (0x7F >> width);
    (Some(tail.iter().fold(lead, |point, byte| point << 6 | u32::from(byte & 63))), width)
}
