//! The tokenizer `intl` of mteval-v14 (`--international-tokenization`), as in sacreBLEU 2.6.0.
//!
//! Punctuation marks (Unicode general category P) are tokens unless they have a number (N) on both
//! sides; symbols (S) are always tokens. Apostrophes are punctuation, so `don't` is three tokens.
//! The edge of a segment has the same effect as a number, so the full stop of `in 2008.` is not
//! split off.

use super::block::{BlockBits, BlockResult, BlockRule, BlockText, EdgeCheck};
use super::unicode::{Class, class};
use super::utf8::char_width;
use super::whitespace::{add_wide_space, ascii_space, space_width};
use crate::simd::Vector;

/// Return the class and the width of the character at the start of `text`.
#[inline(always)]
fn first_class(text: &[u8]) -> (Class, usize) {
    let Some(&lead) = text.first() else { return (Class::Other, 1) };
    let width = char_width(lead).min(text.len());
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

/// Return the start of the character that ends at `end`, which must not be 0.
fn previous_start(text: &[u8], end: usize) -> usize {
    let continuation_bytes = text[..end].iter().rev().take(4).position(|byte| byte & 0xC0 != 0x80);
    end - 1 - continuation_bytes.unwrap_or(0)
}

/// Emit the tokens of `text`, which must not end with white space.
pub fn tokenize_intl(text: &[u8], mut emit: impl FnMut(usize, usize)) {
    let mut token = None;
    // The rules need a neighbouring character, so a segment edge has the effect of a number.
    let mut after_number = true;
    let mut position = 0;
    while position < text.len() {
        let (class, width) = first_class(&text[position..]);
        if class == Class::Punctuation {
            // As in 13a, a run is split by two passes, each of which consumes pairs of characters.
            let mut ends = vec![position + width];
            let mut end = position + width;
            let mut before_number = true;
            while end < text.len() {
                let (next_class, width) = first_class(&text[end..]);
                if next_class != Class::Punctuation {
                    before_number = next_class == Class::Number;
                    break;
                }
                end += width;
                ends.push(end);
            }
            let is_odd = ends.len() % 2 == 1;
            let keeps_last = before_number && (if is_odd { after_number } else { !after_number });
            if keeps_last {
                ends.pop();
            }
            if !ends.is_empty()
                && let Some(start) = token.take()
            {
                emit(start, position);
            }
            let mut start = position;
            for mark_end in ends {
                emit(start, mark_end);
                start = mark_end;
            }
            if keeps_last {
                token.get_or_insert(start);
            }
            after_number = false;
            position = end;
            continue;
        }
        let is_blank = space_width(&text[position..]) > 0;
        if is_blank || class == Class::Symbol {
            if let Some(start) = token.take() {
                emit(start, position);
            }
            if !is_blank {
                emit(position, position + width);
            }
        } else {
            token.get_or_insert(position);
        }
        after_number = class == Class::Number;
        position += width;
    }
    if let Some(start) = token {
        emit(start, text.len());
    }
}

/// The block form of [`tokenize_intl`].
#[derive(Default)]
pub struct InternationalRule {
    space: BlockBits,
    /// The bytes of number characters.
    number: BlockBits,
    /// The last byte of each punctuation mark.
    mark: BlockBits,
    /// Breaks around non-ASCII characters that are tokens.
    token_breaks: BlockBits,
    last_mark: u64,
    last_number: u64,
    last_token_break: u64,
}

impl BlockRule for InternationalRule {
    /// A mark at the edge of a segment has only one neighbour. If the neighbour is a number, the
    /// mark stays attached.
    const EDGE_CHECK: Option<EdgeCheck> = Some(|text, line, start, end| {
        let (opening_class, width) = first_class(&text[start..]);
        let closing_start = previous_start(text, end);
        (start == line
            && opening_class == Class::Punctuation
            && first_class(&text[start + width..]).0 == Class::Number)
            || (first_class(&text[closing_start..]).0 == Class::Punctuation
                && closing_start > line
                && first_class(&text[previous_start(text, closing_start)..]).0 == Class::Number)
    });

    #[inline(always)]
    unsafe fn lex_block<V: Vector>(
        &mut self,
        bytes: V::Bytes,
        block_text: &BlockText<'_>,
    ) -> BlockResult {
        self.space.advance();
        self.number.advance();
        self.mark.advance();
        self.token_breaks.advance();
        // SAFETY: the caller guarantees that `V` is available.
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
        self.space.current |= space;
        // SAFETY: the caller guarantees that `V` is available.
        unsafe { add_wide_space::<V>(leads, bytes, block_text, &mut self.space) };
        self.number.current |= digit;
        self.mark.current |= mark;

        // Non-ASCII numbers must be known before their neighbouring marks are classified.
        let mut marks = 0u64;
        while wide != 0 {
            let position = wide.trailing_zeros();
            wide &= wide - 1;
            let (class, width) = first_class(block_text.bytes_from(position));
            match class {
                Class::Other => {}
                Class::Number => self.number.set(position, width as u32),
                Class::Punctuation => {
                    self.mark.set(position + width as u32 - 1, 1);
                    marks |= 1 << position;
                }
                Class::Symbol => {
                    self.token_breaks.set(position, 1);
                    self.token_breaks.set(position + width as u32, 1);
                }
            }
        }
        let after_number = self.number.current << 1 | self.last_number;
        let next_is_number = {
            let next_class = first_class(block_text.bytes_from(64));
            u64::from(next_class.0 == Class::Number) << 63
        };
        let before_number = self.number.current >> 1 | next_is_number;
        let after_mark = self.mark.current << 1 | self.last_mark >> 1;
        let mut irregular = nul;
        while marks != 0 {
            let position = marks.trailing_zeros();
            marks &= marks - 1;
            let (_, width) = first_class(block_text.bytes_from(position));
            let before_number_here =
                first_class(block_text.bytes_from(position + width as u32)).0 == Class::Number;
            let follows_mark = after_mark >> position & 1 == 1;
            if before_number_here && follows_mark {
                irregular |= 1 << position;
            }
            if !(before_number_here && after_number >> position & 1 == 1) {
                self.token_breaks.set(position, 1);
                self.token_breaks.set(position + width as u32, 1);
            }
        }
        let single_tokens = symbol | mark & !(after_number & before_number);
        let mark_runs =
            after_mark & (self.mark.current << 2 | self.last_mark) & self.number.current;
        let breaks =
            single_tokens | single_tokens << 1 | self.last_token_break | self.token_breaks.current;
        self.last_mark = self.mark.current >> 62;
        self.last_number = self.number.current >> 63;
        self.last_token_break = single_tokens >> 63;
        BlockResult { space: self.space.current, breaks, irregular: irregular | mark_runs }
    }
}
