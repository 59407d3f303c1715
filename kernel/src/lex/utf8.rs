//! Characters of UTF-8 text that may contain surrogates, as Python strings may.

/// Return the width of the character that starts with `lead`; 1 for a byte that does not start a
/// character.
#[inline]
pub fn char_width(lead: u8) -> usize {
    match lead {
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF7 => 4,
        _ => 1,
    }
}

/// Return the character at the start of `text` and its width; `None` for invalid bytes. Surrogates
/// count as characters, as in Python.
pub fn decode_char(text: &[u8]) -> (Option<u32>, usize) {
    let width = char_width(text[0]);
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
