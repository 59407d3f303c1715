//! The tokenizer `intl` of mteval-v14 (`--international-tokenization`), as sacreBLEU 2.6.0 has it.
//!
//! Punctuation (Unicode general category P) stands alone unless it has a number (N) on both
//! sides; symbols (S) always stand alone. Apostrophes are punctuation, so `don't` is three tokens;
//! nothing is before the start of a segment or behind its end, so `in 2008.` keeps its full stop.

use super::block::{Bits, Cut, Edges, Rule, Stretch};
use super::unicode::{Class, class};
use super::utf8::width;
use super::whitespace::{ascii_space, space, wide_space};
use crate::simd::Vector;

/// The class of the character that `text` starts with, and its width.
#[inline(always)]
fn first(text: &[u8]) -> (Class, usize) {
    let Some(&lead) = text.first() else { return (Class::Other, 1) };
    let width = width(lead).min(text.len());
    let tail = |i: usize| u32::from(text[i] & 63);
    let point = match width {
        1 if lead >= 0x80 => return (Class::Other, 1),
        1 => u32::from(lead),
        2 => u32::from(lead & 31) << 6 | tail(1),
        3 => u32::from(lead & 15) << 12 | tail(1) << 6 | tail(2),
        _ => u32::from(lead & 7) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3),
    };
    (class(point), width)
}

/// Where the character starts that ends before `end`, which is not 0.
fn before(text: &[u8], end: usize) -> usize {
    let back = text[..end].iter().rev().take(4).position(|byte| byte & 0xC0 != 0x80);
    end - 1 - back.unwrap_or(0)
}

/// Tokens of text whose end is stripped of white space.
pub fn tokenize(text: &[u8], mut emit: impl FnMut(usize, usize)) {
    let mut token = None;
    // Nothing before the start works as a number would: the rules need a character to match.
    let mut after_number = true;
    let mut at = 0;
    while at < text.len() {
        let (class, width) = first(&text[at..]);
        if class == Class::Punctuation {
            // As in 13a, a run is split by two passes that consume pairs.
            let mut ends = vec![at + width];
            let mut end = at + width;
            let mut before_number = true;
            while end < text.len() {
                let (next, width) = first(&text[end..]);
                if next != Class::Punctuation {
                    before_number = next == Class::Number;
                    break;
                }
                end += width;
                ends.push(end);
            }
            let odd = ends.len() % 2 == 1;
            let glued = before_number && (if odd { after_number } else { !after_number });
            if glued {
                ends.pop();
            }
            if !ends.is_empty()
                && let Some(start) = token.take()
            {
                emit(start, at);
            }
            let mut start = at;
            for single in ends {
                emit(start, single);
                start = single;
            }
            if glued {
                token.get_or_insert(start);
            }
            after_number = false;
            at = end;
            continue;
        }
        let blank = space(&text[at..]) > 0;
        if blank || class == Class::Symbol {
            if let Some(start) = token.take() {
                emit(start, at);
            }
            if !blank {
                emit(at, at + width);
            }
        } else {
            token.get_or_insert(at);
        }
        after_number = class == Class::Number;
        at += width;
    }
    if let Some(start) = token {
        emit(start, text.len());
    }
}

/// The block form of [`tokenize`].
#[derive(Default)]
pub struct International {
    space: Bits,
    /// All bytes of numbers.
    number: Bits,
    /// The last byte of each punctuation mark.
    mark: Bits,
    /// Cuts around characters beyond ASCII that stand alone.
    alone: Bits,
    last_mark: u64,
    last_number: u64,
    last_alone: u64,
}

impl Rule for International {
    /// Nothing stands outside the segment: a mark there is only split off for what is inside.
    const EDGES: Option<Edges> = Some(|text, line, start, end| {
        let (opening, width) = first(&text[start..]);
        let closing = before(text, end);
        (start == line
            && opening == Class::Punctuation
            && first(&text[start + width..]).0 == Class::Number)
            || (first(&text[closing..]).0 == Class::Punctuation
                && closing > line
                && first(&text[before(text, closing)..]).0 == Class::Number)
    });

    #[inline(always)]
    unsafe fn cut<V: Vector>(&mut self, bytes: V::Bytes, stretch: &Stretch<'_>) -> Cut {
        self.space.advance();
        self.number.advance();
        self.mark.advance();
        self.alone.advance();
        // SAFETY: the caller's processor has the instructions of V.
        let (space, leads, digit, mark, symbol, mut wide, nul) = unsafe {
            let (space, leads) = ascii_space::<V>(bytes);
            let mut symbol = V::or(V::equal(bytes, b'$'), V::equal(bytes, b'+'));
            symbol = V::or(symbol, V::within(bytes, b'<', b'>'));
            symbol = V::or(symbol, V::equal(bytes, b'^'));
            symbol = V::or(symbol, V::equal(bytes, b'`'));
            symbol = V::or(symbol, V::equal(bytes, b'|'));
            symbol = V::or(symbol, V::equal(bytes, b'~'));
            let mut mark = V::or(V::within(bytes, b'!', b'#'), V::within(bytes, b'%', b'*'));
            mark = V::or(mark, V::within(bytes, b',', b'/'));
            mark = V::or(mark, V::within(bytes, b':', b';'));
            mark = V::or(mark, V::within(bytes, b'?', b'@'));
            mark = V::or(mark, V::within(bytes, b'[', b']'));
            mark = V::or(mark, V::equal(bytes, b'_'));
            mark = V::or(mark, V::or(V::equal(bytes, b'{'), V::equal(bytes, b'}')));
            (
                space,
                leads,
                V::bits(V::within(bytes, b'0', b'9')),
                V::bits(mark),
                V::bits(symbol),
                V::bits(V::within(bytes, 0xC2, 0xF7)),
                V::bits(V::equal(bytes, 0)),
            )
        };
        self.space.now |= space;
        // SAFETY: the caller's processor has the instructions of V.
        unsafe { wide_space::<V>(leads, bytes, stretch, &mut self.space) };
        self.number.now |= digit;
        self.mark.now |= mark;

        // Numbers beyond ASCII first: the neighbours of marks must be known.
        let mut marks = 0u64;
        while wide != 0 {
            let at = wide.trailing_zeros();
            wide &= wide - 1;
            let (class, width) = first(stretch.from(at));
            match class {
                Class::Other => {}
                Class::Number => self.number.set(at, width as u32),
                Class::Punctuation => {
                    self.mark.set(at + width as u32 - 1, 1);
                    marks |= 1 << at;
                }
                Class::Symbol => {
                    self.alone.set(at, 1);
                    self.alone.set(at + width as u32, 1);
                }
            }
        }
        let after_number = self.number.now << 1 | self.last_number;
        let next = {
            let next = first(stretch.from(64));
            u64::from(next.0 == Class::Number) << 63
        };
        let before_number = self.number.now >> 1 | next;
        let behind_mark = self.mark.now << 1 | self.last_mark >> 1;
        let mut irregular = nul;
        while marks != 0 {
            let at = marks.trailing_zeros();
            marks &= marks - 1;
            let (_, width) = first(stretch.from(at));
            let numbers = first(stretch.from(at + width as u32)).0 == Class::Number;
            let run = behind_mark >> at & 1 == 1;
            if numbers && run {
                irregular |= 1 << at;
            }
            if !(numbers && after_number >> at & 1 == 1) {
                self.alone.set(at, 1);
                self.alone.set(at + width as u32, 1);
            }
        }
        let alone = symbol | mark & !(after_number & before_number);
        let run = behind_mark & (self.mark.now << 2 | self.last_mark) & self.number.now;
        let breaks = alone | alone << 1 | self.last_alone | self.alone.now;
        self.last_mark = self.mark.now >> 62;
        self.last_number = self.number.now >> 63;
        self.last_alone = alone >> 63;
        Cut { space: self.space.now, breaks, irregular: irregular | run }
    }
}
