//! Pieces of words, as SentencePiece (Kudo and Richardson 2018) finds them with one of its models.
//!
//! A text is normalized by the model's rules, with a mark for each space, and split by one of four
//! algorithms: pairs are joined, the best first (BPE: Sennrich, Haddow and Birch 2016); the
//! likeliest pieces are found (unigram: Kudo 2018); words are pieces; or characters are. Equal scores
//! are settled as SentencePiece settles them, sums are rounded where it rounds them.
//!
//! Nothing in a model's file is trusted: one that can be read gives any text some pieces.

mod model;
mod normalizer;
mod trie;

use super::utf8::width;
use super::whitespace;
use crate::interrupt::Work;
pub use model::Model;
use model::{Algorithm, Kind};
use std::cell::Cell;
use std::collections::BinaryHeap;

/// What a space is rewritten as: U+2581.
const MARK: &[u8] = "\u{2581}".as_bytes();

/// The width of the character at the start of `text`, which is not empty.
#[inline(always)]
fn character(text: &[u8]) -> usize {
    // SentencePiece takes a byte that starts no character for one of width 1; so does `width`, but
    // for bytes above 0xF7, of which SentencePiece looks at the upper half alone.
    let width = if text[0] >= 0xF0 { 4 } else { width(text[0]) };
    width.min(text.len())
}

/// A piece of the normalized text.
#[derive(Clone, Copy)]
struct Piece {
    start: u32,
    end: u32,
    kind: Kind,
}

/// The best way to a place in the text.
#[derive(Clone, Copy)]
struct Best {
    score: f32,
    /// Where its last piece starts; `NONE` if there is no way yet.
    start: u32,
    kind: Kind,
}

const NONE: u32 = u32::MAX;

/// A character, or several that were joined.
#[derive(Clone, Copy)]
struct Symbol {
    start: u32,
    /// Equal to `start` for one that was joined to its left neighbour.
    end: u32,
    previous: u32,
    next: u32,
    /// The order of its pair with `next`, see `Model::order`; 0 for none.
    order: u32,
    /// One that the model's maker has defined, which is joined to nothing.
    is_fixed: bool,
}

/// The pair of a symbol with its next, as it lies in the heap: the best order first, then the
/// leftmost.
#[inline(always)]
fn entry(order: u32, left: u32) -> u64 {
    u64::from(order) << 32 | u64::from(!left)
}

/// Memory for the pieces of one text.
#[derive(Default)]
struct Scratch {
    normalized: Vec<u8>,
    pieces: Vec<Piece>,
    best: Vec<Best>,
    symbols: Vec<Symbol>,
    heap: BinaryHeap<u64>,
    /// Of a short word: where its symbols start, and the order of each pair.
    starts: Vec<u32>,
    orders: Vec<u32>,
    /// How each unused piece was last put together: its place in the model, its left part's length.
    joined: rustc_hash::FxHashMap<u32, u32>,
    parts: Vec<(u32, u32)>,
}

/// More memory than this is not kept for the next text.
const KEPT: usize = 1 << 20;

/// The longest word, in symbols, whose best pair is looked for among all.
const SHORT: usize = 40;

impl Model {
    /// Appends what the tokens of `text` lie in to `out`, and emits where: its pieces, split where
    /// they hold white space, as sacreBLEU splits them.
    pub fn tokenize(&self, text: &[u8], out: &mut Vec<u8>, mut emit: impl FnMut(usize, usize)) {
        self.split(text, out, |piece, at| {
            whitespace::tokenize(piece, |start, end| emit(at + start, at + end));
        });
    }

    /// Appends the pieces of `text` to `out`, and emits each with where it starts in what was added.
    pub fn split(&self, text: &[u8], out: &mut Vec<u8>, mut emit: impl FnMut(&[u8], usize)) {
        thread_local! {
            static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
        }
        let mut scratch = SCRATCH.take().unwrap_or_default();
        scratch.find(self, text);
        let base = out.len();
        let normalized = &scratch.normalized;
        let mut unknown = None;
        for piece in &scratch.pieces {
            let bytes = &normalized[piece.start as usize..piece.end as usize];
            let start = out.len() - base;
            if piece.kind == Kind::Unknown {
                if self.has_bytes {
                    for byte in bytes {
                        let start = out.len() - base;
                        out.extend_from_slice(format!("<0x{byte:02X}>").as_bytes());
                        emit(&out[base + start..], start);
                    }
                    continue;
                }
                // Unknown neighbours are one piece.
                unknown.get_or_insert(start);
                out.extend_from_slice(bytes);
                continue;
            }
            if let Some(from) = unknown.take() {
                emit(&out[base + from..], from);
            }
            out.extend_from_slice(bytes);
            emit(&out[base + start..], start);
        }
        if let Some(from) = unknown {
            emit(&out[base + from..], from);
        }
        if scratch.normalized.capacity() <= KEPT {
            SCRATCH.set(Some(scratch));
        }
    }
}

impl Scratch {
    fn find(&mut self, model: &Model, text: &[u8]) {
        self.normalized.clear();
        self.pieces.clear();
        model.normalizer.normalize(text, &model.own, &mut self.normalized);
        let text = std::mem::take(&mut self.normalized);
        if !text.is_empty() {
            match model.algorithm {
                Algorithm::Unigram => self.likeliest(model, &text),
                Algorithm::Bpe => self.join(model, &text),
                Algorithm::Word => self.words(model, &text),
                Algorithm::Character => self.characters(model, &text),
            }
        }
        self.normalized = text;
    }

    fn piece(&mut self, model: &Model, text: &[u8], start: usize, end: usize) {
        let kind = model.kind(&text[start..end]);
        self.pieces.push(Piece { start: start as u32, end: end as u32, kind });
    }

    /// A piece begins with each mark.
    fn words(&mut self, model: &Model, text: &[u8]) {
        let mut start = 0;
        let mut at = character(text);
        while at < text.len() {
            let width = character(&text[at..]);
            if &text[at..at + width] == MARK {
                self.piece(model, text, start, at);
                start = at;
            }
            at += width;
        }
        self.piece(model, text, start, text.len());
    }

    fn characters(&mut self, model: &Model, text: &[u8]) {
        let mut start = 0;
        while start < text.len() {
            let rest = &text[start..];
            let width = model.own.longest(rest).unwrap_or_else(|| character(rest));
            self.piece(model, text, start, start + width);
            start += width;
        }
    }

    /// The pieces whose scores have the highest sum.
    fn likeliest(&mut self, model: &Model, text: &[u8]) {
        let best = &mut self.best;
        best.clear();
        best.resize(text.len() + 1, Best { score: 0.0, start: NONE, kind: Kind::Normal });
        let unknown = model.lowest - 10.0;
        let mut start = 0;
        while start < text.len() {
            let here = best[start].score;
            let width = character(&text[start..]);
            let mut is_known = false;
            let mut node = trie::ROOT;
            for (at, &byte) in text.iter().enumerate().skip(start) {
                let Some(next) = model.trie.follow(node, byte) else { break };
                node = next;
                let Some(id) = model.trie.value(node) else { continue };
                let length = at + 1 - start;
                let piece = model.piece(id);
                // The maker's own pieces cost nothing, and the longer ones are better.
                let own = match piece.kind {
                    Kind::Own => (length - 1) as f32 * 0.1,
                    _ => piece.score,
                };
                let score = own + here;
                let end = &mut best[at + 1];
                if end.start == NONE || score > end.score {
                    *end = Best { score, start: start as u32, kind: piece.kind };
                }
                is_known |= length == width;
            }
            if !is_known {
                let score = unknown + here;
                let end = &mut best[start + width];
                if end.start == NONE || score > end.score {
                    *end = Best { score, start: start as u32, kind: Kind::Unknown };
                }
            }
            start += width;
        }
        let mut end = text.len() as u32;
        while end > 0 {
            let Best { start, kind, .. } = best[end as usize];
            self.pieces.push(Piece { start, end, kind });
            end = start;
        }
        self.pieces.reverse();
        if best.capacity() > KEPT {
            *best = Vec::new();
        }
    }

    /// Characters, of which the best pairs are joined.
    fn join(&mut self, model: &Model, text: &[u8]) {
        if model.has_unused {
            // How an unused piece comes apart depends on the whole text.
            self.join_by_heap(model, text, 0, text.len());
            self.take_apart(model, text);
            return;
        }
        // No pair crosses the start of a word, or the edges of a piece that is fixed.
        let mut work = Work::default();
        let mut at = 0;
        while at < text.len() {
            work.done(1 << 8);
            let from = at;
            self.starts.clear();
            while at < text.len() {
                let rest = &text[at..];
                if at > from && model.has_words && rest.starts_with(MARK) {
                    break;
                }
                if let Some(width) = model.own.longest(rest) {
                    if at == from {
                        at += width;
                        self.starts.push(from as u32);
                    }
                    break;
                }
                self.starts.push(at as u32);
                at += character(rest);
            }
            if self.starts.len() <= SHORT {
                self.join_short(model, text, at);
            } else {
                self.join_by_heap(model, text, from, at);
                for i in 0..self.symbols.len() {
                    let Symbol { start, end, .. } = self.symbols[i];
                    if start < end {
                        self.piece(model, text, start as usize, end as usize);
                    }
                }
            }
        }
    }

    /// Joins the symbols of a word, which start at `starts` and end at `end`.
    fn join_short(&mut self, model: &Model, text: &[u8], end: usize) {
        let (starts, orders) = (&mut self.starts, &mut self.orders);
        starts.push(end as u32);
        orders.clear();
        let count = starts.len() - 2;
        orders.extend(
            (0..count).map(|i| model.order(&text[starts[i] as usize..starts[i + 2] as usize])),
        );
        loop {
            let highest = orders.iter().copied().max().unwrap_or(0);
            if highest == 0 {
                break;
            }
            let Some(i) = orders.iter().position(|&order| order == highest) else { break };
            starts.remove(i + 1);
            orders.remove(i);
            for i in [i.wrapping_sub(1), i] {
                if let Some(order) = orders.get_mut(i) {
                    *order = model.order(&text[starts[i] as usize..starts[i + 2] as usize]);
                }
            }
        }
        for i in 0..self.starts.len() - 1 {
            let (start, end) = (self.starts[i], self.starts[i + 1]);
            self.piece(model, text, start as usize, end as usize);
        }
    }

    /// Joins the symbols between `from` and `to`.
    fn join_by_heap(&mut self, model: &Model, text: &[u8], from: usize, to: usize) {
        let Self { symbols, heap, joined, .. } = self;
        symbols.clear();
        heap.clear();
        joined.clear();
        let mut work = Work::default();
        let mut at = from;
        while at < to {
            work.done(16);
            let own = model.own.longest(&text[at..to]);
            let end = at + own.unwrap_or_else(|| character(&text[at..to]));
            let i = symbols.len() as u32;
            symbols.push(Symbol {
                start: at as u32,
                end: end as u32,
                previous: i.wrapping_sub(1),
                next: if end < to { i + 1 } else { NONE },
                order: 0,
                is_fixed: own.is_some(),
            });
            at = end;
        }
        let mut pair = |symbols: &mut [Symbol], heap: &mut BinaryHeap<u64>, left: u32| {
            let Some(&Symbol { start, end, next, is_fixed, .. }) = symbols.get(left as usize)
            else {
                return;
            };
            let mut order = 0;
            if let Some(right) = symbols.get(next as usize)
                && !is_fixed
                && !right.is_fixed
            {
                let both = &text[start as usize..right.end as usize];
                order = model.order(both);
                if model.has_unused
                    && order > 0
                    && let Some(id) = model.find(both)
                    && model.piece(id).is_unused
                {
                    joined.insert(id, end - start);
                }
            }
            symbols[left as usize].order = order;
            if order > 0 {
                heap.push(entry(order, left));
            }
        };
        for left in 0..symbols.len() as u32 {
            pair(symbols, heap, left);
        }
        while let Some(top) = heap.pop() {
            work.done(64);
            let left = !(top as u32);
            // The pair has changed since.
            if symbols[left as usize].order != (top >> 32) as u32 {
                continue;
            }
            let right = symbols[left as usize].next;
            let Symbol { end, next, .. } = symbols[right as usize];
            let gone = &mut symbols[right as usize];
            (gone.end, gone.order) = (gone.start, 0);
            let left_symbol = &mut symbols[left as usize];
            (left_symbol.end, left_symbol.next) = (end, next);
            let previous = left_symbol.previous;
            if let Some(next) = symbols.get_mut(next as usize) {
                next.previous = left;
            }
            pair(symbols, heap, previous);
            pair(symbols, heap, left);
        }
    }

    /// The symbols as pieces, the unused ones in the parts that they were last put together of.
    fn take_apart(&mut self, model: &Model, text: &[u8]) {
        for i in 0..self.symbols.len() {
            let Symbol { start, end, .. } = self.symbols[i];
            if start == end {
                continue;
            }
            self.parts.push((start, end));
            while let Some((start, end)) = self.parts.pop() {
                let id = model.find(&text[start as usize..end as usize]);
                let left =
                    id.filter(|&id| model.piece(id).is_unused).and_then(|id| self.joined.get(&id));
                match left {
                    Some(&length) => {
                        self.parts.push((start + length, end));
                        self.parts.push((start, start + length));
                    }
                    None => self.piece(model, text, start as usize, end as usize),
                }
            }
        }
    }
}
