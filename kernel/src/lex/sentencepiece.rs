//! Segmentation into subword pieces with a SentencePiece model (Kudo and Richardson 2018).
//!
//! Text is normalized by the model's rules, which replace each space with a mark. Then one of four
//! algorithms splits it. BPE joins the best pair first (Sennrich, Haddow and Birch 2016), and
//! unigram finds the most probable pieces (Kudo 2018). The other two algorithms split text into
//! words or characters. Ties and rounding follow SentencePiece.
//!
//! The contents of a model file are not trusted: every model that can be read splits every text.

mod model;
mod normalizer;
mod trie;

use super::utf8::char_width;
use super::whitespace;
use crate::interrupt::Work;
pub use model::SentencePieceModel;
use model::{Algorithm, PieceKind};
use std::cell::Cell;
use std::collections::BinaryHeap;

/// The mark that replaces a space: U+2581.
const SPACE_MARK: &[u8] = "\u{2581}".as_bytes();

/// Return the width of the character at the start of `text`, which must not be empty.
#[inline(always)]
fn first_char_width(text: &[u8]) -> usize {
    // SentencePiece treats a byte that does not start a character as a character of width 1, like
    // `char_width`. For bytes above 0xF7 it looks only at the upper four bits.
    let width = if text[0] >= 0xF0 { 4 } else { char_width(text[0]) };
    width.min(text.len())
}

/// A piece of the normalized text.
#[derive(Clone, Copy)]
struct Piece {
    start: u32,
    end: u32,
    piece_kind: PieceKind,
}

/// The best path to a position in the text.
#[derive(Clone, Copy)]
struct BestPath {
    score: f32,
    /// The start of the last piece; `NONE` if there is no path yet.
    start: u32,
    piece_kind: PieceKind,
}

const NONE: u32 = u32::MAX;

/// A character, or several joined characters.
#[derive(Clone, Copy)]
struct Symbol {
    start: u32,
    /// The end of the symbol, or `start` if the symbol was joined to its left neighbour.
    end: u32,
    previous: u32,
    next: u32,
    /// The priority of joining the symbol with `next`, or 0 (see `Model::merge_priority`).
    priority: u32,
    /// Whether the symbol is user-defined and never joined.
    is_fixed: bool,
}

/// Return the heap entry of a pair. Among the pairs with the highest priority, the leftmost wins.
#[inline(always)]
fn heap_entry(priority: u32, left: u32) -> u64 {
    u64::from(priority) << 32 | u64::from(!left)
}

/// Reusable buffers for the pieces of one text.
#[derive(Default)]
struct PieceScratch {
    normalized: Vec<u8>,
    pieces: Vec<Piece>,
    best: Vec<BestPath>,
    symbols: Vec<Symbol>,
    heap: BinaryHeap<u64>,
    /// The starts of the symbols of a short word, and the priority of each pair.
    starts: Vec<u32>,
    priorities: Vec<u32>,
    /// The most recent split of each unused piece: the piece's id, and the length of its left part.
    joined: rustc_hash::FxHashMap<u32, u32>,
    parts: Vec<(u32, u32)>,
}

/// Maximum capacity that is kept for the next text.
const MAX_KEPT_CAPACITY: usize = 1 << 20;

/// Maximum number of symbols of a word for which the best pair is found by linear search.
const MAX_LINEAR_SYMBOLS: usize = 40;

impl SentencePieceModel {
    /// Append the text of the tokens to `out`, and emit the position of each token. The tokens are
    /// the pieces, split at white space as in sacreBLEU.
    pub fn tokenize(&self, text: &[u8], out: &mut Vec<u8>, mut emit: impl FnMut(usize, usize)) {
        self.split_pieces(text, out, |piece, at| {
            whitespace::tokenize_whitespace(piece, |start, end| emit(at + start, at + end));
        });
    }

    /// Append the pieces of `text` to `out`, and emit each piece with its start in the appended
    /// text.
    pub fn split_pieces(&self, text: &[u8], out: &mut Vec<u8>, mut emit: impl FnMut(&[u8], usize)) {
        thread_local! {
            static SCRATCH: Cell<Option<Box<PieceScratch>>> = const { Cell::new(None) };
        }
        let mut scratch = SCRATCH.take().unwrap_or_default();
        scratch.find_pieces(self, text);
        let base = out.len();
        let normalized = &scratch.normalized;
        let mut unknown_start = None;
        for piece in &scratch.pieces {
            let bytes = &normalized[piece.start as usize..piece.end as usize];
            let start = out.len() - base;
            if piece.piece_kind == PieceKind::Unknown {
                if self.has_byte_pieces {
                    for byte in bytes {
                        let start = out.len() - base;
                        out.extend_from_slice(format!("<0x{byte:02X}>").as_bytes());
                        emit(&out[base + start..], start);
                    }
                    continue;
                }
                // Adjacent unknown pieces form one piece.
                unknown_start.get_or_insert(start);
                out.extend_from_slice(bytes);
                continue;
            }
            if let Some(piece_start) = unknown_start.take() {
                emit(&out[base + piece_start..], piece_start);
            }
            out.extend_from_slice(bytes);
            emit(&out[base + start..], start);
        }
        if let Some(piece_start) = unknown_start {
            emit(&out[base + piece_start..], piece_start);
        }
        if scratch.normalized.capacity() <= MAX_KEPT_CAPACITY {
            SCRATCH.set(Some(scratch));
        }
    }
}

impl PieceScratch {
    /// Normalize a text and find its pieces.
    fn find_pieces(&mut self, model: &SentencePieceModel, text: &[u8]) {
        self.normalized.clear();
        self.pieces.clear();
        model.normalizer.normalize(text, &model.user_defined, &mut self.normalized);
        let text = std::mem::take(&mut self.normalized);
        if !text.is_empty() {
            match model.algorithm {
                Algorithm::Unigram => self.split_unigram(model, &text),
                Algorithm::Bpe => self.split_bpe(model, &text),
                Algorithm::Word => self.split_words(model, &text),
                Algorithm::Character => self.split_characters(model, &text),
            }
        }
        self.normalized = text;
    }

    /// Add a piece.
    fn push_piece(&mut self, model: &SentencePieceModel, text: &[u8], start: usize, end: usize) {
        let piece_kind = model.kind_of_text(&text[start..end]);
        self.pieces.push(Piece { start: start as u32, end: end as u32, piece_kind });
    }

    /// Start a piece at each mark.
    fn split_words(&mut self, model: &SentencePieceModel, text: &[u8]) {
        let mut start = 0;
        let mut position = first_char_width(text);
        while position < text.len() {
            let width = first_char_width(&text[position..]);
            if &text[position..position + width] == SPACE_MARK {
                self.push_piece(model, text, start, position);
                start = position;
            }
            position += width;
        }
        self.push_piece(model, text, start, text.len());
    }

    /// Split the text into characters and, where they occur, user-defined pieces.
    fn split_characters(&mut self, model: &SentencePieceModel, text: &[u8]) {
        let mut start = 0;
        while start < text.len() {
            let remaining = &text[start..];
            let width = model
                .user_defined
                .longest_prefix(remaining)
                .unwrap_or_else(|| first_char_width(remaining));
            self.push_piece(model, text, start, start + width);
            start += width;
        }
    }

    /// Find the pieces with the highest sum of scores.
    fn split_unigram(&mut self, model: &SentencePieceModel, text: &[u8]) {
        let best_paths = &mut self.best;
        best_paths.clear();
        best_paths.resize(
            text.len() + 1,
            BestPath { score: 0.0, start: NONE, piece_kind: PieceKind::Normal },
        );
        let unknown_score = model.lowest_score - 10.0;
        let mut start = 0;
        while start < text.len() {
            let score_here = best_paths[start].score;
            let width = first_char_width(&text[start..]);
            let mut is_known = false;
            let mut node = trie::ROOT;
            for (at, &byte) in text.iter().enumerate().skip(start) {
                let Some(next) = model.trie.child(node, byte) else { break };
                node = next;
                let Some(id) = model.trie.value(node) else { continue };
                let length = at + 1 - start;
                let piece = model.piece(id);
                // User-defined pieces have no cost, and longer user-defined pieces are preferred.
                let piece_score = match piece.piece_kind {
                    PieceKind::UserDefined => (length - 1) as f32 * 0.1,
                    _ => piece.score,
                };
                let score = piece_score + score_here;
                let end = &mut best_paths[at + 1];
                if end.start == NONE || score > end.score {
                    *end = BestPath { score, start: start as u32, piece_kind: piece.piece_kind };
                }
                is_known |= length == width;
            }
            if !is_known {
                let score = unknown_score + score_here;
                let end = &mut best_paths[start + width];
                if end.start == NONE || score > end.score {
                    *end = BestPath { score, start: start as u32, piece_kind: PieceKind::Unknown };
                }
            }
            start += width;
        }
        let mut end = text.len() as u32;
        while end > 0 {
            let BestPath { start, piece_kind: kind, .. } = best_paths[end as usize];
            self.pieces.push(Piece { start, end, piece_kind: kind });
            end = start;
        }
        self.pieces.reverse();
        if best_paths.capacity() > MAX_KEPT_CAPACITY {
            *best_paths = Vec::new();
        }
    }

    /// Join the best pairs of characters.
    fn split_bpe(&mut self, model: &SentencePieceModel, text: &[u8]) {
        if model.has_unused {
            // An unused piece is split into the two parts that were most recently merged into it,
            // anywhere in the text.
            self.join_by_heap(model, text, 0, text.len());
            self.split_unused(model, text);
            return;
        }
        // No pair crosses the start of a word, or the edge of a user-defined piece.
        let mut work = Work::default();
        let mut position = 0;
        while position < text.len() {
            work.add(1 << 8);
            let word_start = position;
            self.starts.clear();
            while position < text.len() {
                let remaining = &text[position..];
                if position > word_start
                    && model.marks_start_words
                    && remaining.starts_with(SPACE_MARK)
                {
                    break;
                }
                if let Some(width) = model.user_defined.longest_prefix(remaining) {
                    if position == word_start {
                        position += width;
                        self.starts.push(word_start as u32);
                    }
                    break;
                }
                self.starts.push(position as u32);
                position += first_char_width(remaining);
            }
            if self.starts.len() <= MAX_LINEAR_SYMBOLS {
                self.join_short(model, text, position);
            } else {
                self.join_by_heap(model, text, word_start, position);
                for i in 0..self.symbols.len() {
                    let Symbol { start, end, .. } = self.symbols[i];
                    if start < end {
                        self.push_piece(model, text, start as usize, end as usize);
                    }
                }
            }
        }
    }

    /// Join the symbols of a word, which start at `starts` and end at `end`.
    fn join_short(&mut self, model: &SentencePieceModel, text: &[u8], end: usize) {
        let (starts, priorities) = (&mut self.starts, &mut self.priorities);
        starts.push(end as u32);
        priorities.clear();
        let count = starts.len() - 2;
        priorities.extend(
            (0..count)
                .map(|i| model.merge_priority(&text[starts[i] as usize..starts[i + 2] as usize])),
        );
        loop {
            let highest = priorities.iter().copied().max().unwrap_or(0);
            if highest == 0 {
                break;
            }
            let Some(i) = priorities.iter().position(|&priority| priority == highest) else {
                break;
            };
            starts.remove(i + 1);
            priorities.remove(i);
            for i in [i.wrapping_sub(1), i] {
                if let Some(priority) = priorities.get_mut(i) {
                    *priority =
                        model.merge_priority(&text[starts[i] as usize..starts[i + 2] as usize]);
                }
            }
        }
        for i in 0..self.starts.len() - 1 {
            let (start, end) = (self.starts[i], self.starts[i + 1]);
            self.push_piece(model, text, start as usize, end as usize);
        }
    }

    /// Join the symbols from `range_start` to `range_end`.
    fn join_by_heap(
        &mut self,
        model: &SentencePieceModel,
        text: &[u8],
        range_start: usize,
        range_end: usize,
    ) {
        let Self { symbols, heap, joined, .. } = self;
        symbols.clear();
        heap.clear();
        joined.clear();
        let mut work = Work::default();
        let mut position = range_start;
        while position < range_end {
            work.add(16);
            let fixed_length = model.user_defined.longest_prefix(&text[position..range_end]);
            let symbol_end = position
                + fixed_length.unwrap_or_else(|| first_char_width(&text[position..range_end]));
            let i = symbols.len() as u32;
            symbols.push(Symbol {
                start: position as u32,
                end: symbol_end as u32,
                previous: i.wrapping_sub(1),
                next: if symbol_end < range_end { i + 1 } else { NONE },
                priority: 0,
                is_fixed: fixed_length.is_some(),
            });
            position = symbol_end;
        }
        let mut update_pair = |symbols: &mut [Symbol], heap: &mut BinaryHeap<u64>, left: u32| {
            let Some(&Symbol { start, end, next, is_fixed, .. }) = symbols.get(left as usize)
            else {
                return;
            };
            let mut priority = 0;
            if let Some(right) = symbols.get(next as usize)
                && !is_fixed
                && !right.is_fixed
            {
                let joined_text = &text[start as usize..right.end as usize];
                priority = model.merge_priority(joined_text);
                if model.has_unused
                    && priority > 0
                    && let Some(id) = model.find(joined_text)
                    && model.piece(id).is_unused
                {
                    joined.insert(id, end - start);
                }
            }
            symbols[left as usize].priority = priority;
            if priority > 0 {
                heap.push(heap_entry(priority, left));
            }
        };
        for left in 0..symbols.len() as u32 {
            update_pair(symbols, heap, left);
        }
        while let Some(top) = heap.pop() {
            work.add(64);
            let left = !(top as u32);
            // Skip pairs with symbols that have changed since the entry was added.
            if symbols[left as usize].priority != (top >> 32) as u32 {
                continue;
            }
            let right = symbols[left as usize].next;
            let Symbol { end, next, .. } = symbols[right as usize];
            let removed = &mut symbols[right as usize];
            (removed.end, removed.priority) = (removed.start, 0);
            let left_symbol = &mut symbols[left as usize];
            (left_symbol.end, left_symbol.next) = (end, next);
            let previous = left_symbol.previous;
            if let Some(next) = symbols.get_mut(next as usize) {
                next.previous = left;
            }
            update_pair(symbols, heap, previous);
            update_pair(symbols, heap, left);
        }
    }

    /// Add the symbols as pieces. Split unused pieces into the parts from which they were joined.
    fn split_unused(&mut self, model: &SentencePieceModel, text: &[u8]) {
        for i in 0..self.symbols.len() {
            let Symbol { start, end, .. } = self.symbols[i];
            if start == end {
                continue;
            }
            self.parts.push((start, end));
            while let Some((start, end)) = self.parts.pop() {
                let id = model.find(&text[start as usize..end as usize]);
                let left_length =
                    id.filter(|&id| model.piece(id).is_unused).and_then(|id| self.joined.get(&id));
                match left_length {
                    Some(&length) => {
                        self.parts.push((start + length, end));
                        self.parts.push((start, start + length));
                    }
                    None => self.push_piece(model, text, start as usize, end as usize),
                }
            }
        }
    }
}
