//! A reader of model files, which are Protocol Buffers messages with pieces, scores and settings.

use super::SPACE_MARK;
use super::normalizer::Normalizer;
use super::trie::Trie;
use crate::error::Error;
use std::hash::{BuildHasher, Hasher};

/// The algorithm that splits text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    Unigram,
    Bpe,
    Word,
    Character,
}

/// The kind of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceKind {
    Normal,
    /// A user-defined piece, which is never split.
    UserDefined,
    Unknown,
}

/// A piece of a model.
#[derive(Clone, Copy)]
pub struct ModelPiece {
    /// The position of the piece's spelling in the file.
    start: u32,
    length: u32,
    pub score: f32,
    pub piece_kind: PieceKind,
    pub is_unused: bool,
    /// Whether joined symbols can form this piece: it is normal, user-defined or unused.
    is_common: bool,
}

/// A SentencePiece model.
pub struct SentencePieceModel {
    file: Vec<u8>,
    entries: Vec<ModelPiece>,
    spellings: SpellingTable,
    pub(super) algorithm: Algorithm,
    pub(super) normalizer: Normalizer,
    /// The spellings of all normal and user-defined pieces (unigram models only).
    pub(super) trie: Trie,
    /// The user-defined pieces.
    pub(super) user_defined: Trie,
    /// Whether an unknown character becomes one piece per byte.
    pub(super) has_byte_pieces: bool,
    pub(super) has_unused: bool,
    /// Whether no piece contains a mark after its first character.
    pub(super) marks_start_words: bool,
    /// The lowest score of a normal piece.
    pub(super) lowest_score: f32,
    max_piece_bytes: usize,
}

impl std::fmt::Debug for SentencePieceModel {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Model({:?}, {} pieces)", self.algorithm, self.entries.len())
    }
}

/// The value of a message field.
enum FieldValue<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Four([u8; 4]),
    Other,
}

/// A reader of the fields of a message.
struct FieldReader<'a> {
    remaining: &'a [u8],
}

impl<'a> FieldReader<'a> {
    /// Read a variable-length integer.
    fn read_varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..70).step_by(7) {
            let (&byte, after) = self.remaining.split_first()?;
            self.remaining = after;
            number |= u64::from(byte & 127).checked_shl(shift)?;
            if byte < 128 {
                return Some(number);
            }
        }
        None
    }

    /// Read `count` bytes.
    fn read_bytes(&mut self, count: u64) -> Option<&'a [u8]> {
        let (bytes, after) = self.remaining.split_at_checked(usize::try_from(count).ok()?)?;
        self.remaining = after;
        Some(bytes)
    }

    /// Return the number and value of the next field, or `None` at the end or for invalid bytes.
    fn next_field(&mut self) -> Option<(u64, FieldValue<'a>)> {
        let mut depth = 0_u32;
        loop {
            let tag = self.read_varint()?;
            let value = match tag & 7 {
                0 => FieldValue::Number(self.read_varint()?),
                1 => self.read_bytes(8).map(|_| FieldValue::Other)?,
                2 => {
                    let length = self.read_varint()?;
                    FieldValue::Bytes(self.read_bytes(length)?)
                }
                3 => {
                    depth += 1;
                    continue;
                }
                4 => {
                    depth = depth.checked_sub(1)?;
                    FieldValue::Other
                }
                5 => FieldValue::Four(self.read_bytes(4)?.try_into().ok()?),
                _ => return None,
            };
            if tag >> 3 == 0 || tag >> 32 != 0 {
                return None;
            }
            if depth == 0 {
                return Some((tag >> 3, value));
            }
        }
    }

    /// Call `field` with each field of a message.
    fn for_each_field(
        bytes: &'a [u8],
        mut field: impl FnMut(u64, FieldValue<'a>) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut fields = Self { remaining: bytes };
        while !fields.remaining.is_empty() {
            let (number, value) = fields.next_field().ok_or("invalid or incomplete file")?;
            field(number, value)?;
        }
        Ok(())
    }
}

/// A hash table from spellings to pieces.
struct SpellingTable {
    seed: u64,
    /// The upper half of the hash of a spelling, and its piece id; `u64::MAX` for a free slot.
    slots: Vec<u64>,
}

/// Multiply two integers, and combine the two halves of the product.
fn multiply_fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

impl SpellingTable {
    /// Create a table for `count` pieces.
    fn new(count: usize) -> Self {
        // The seed is random, so that nobody can construct a file whose spellings collide.
        let seed = std::hash::RandomState::new().build_hasher().finish();
        Self { seed, slots: vec![u64::MAX; (2 * count + 2).next_power_of_two()] }
    }

    #[inline(always)]
    /// Return the hash of a spelling.
    fn hash(&self, text: &[u8]) -> u64 {
        const MIX: u64 = 0x9E37_79B9_7F4A_7C15;
        let read_4 =
            |i: usize| u64::from(u32::from_le_bytes(text[i..i + 4].try_into().unwrap_or_default()));
        let read_8 = |i: usize| u64::from_le_bytes(text[i..i + 8].try_into().unwrap_or_default());
        let length = text.len();
        let mut hash = self.seed ^ length as u64;
        let last = match length {
            0 => 0,
            1..4 => {
                u64::from(text[0])
                    | u64::from(text[length / 2]) << 8
                    | u64::from(text[length - 1]) << 16
            }
            4..=8 => read_4(0) | read_4(length - 4) << 32,
            _ => {
                let mut position = 0;
                while position + 8 < length {
                    hash = multiply_fold(hash ^ read_8(position), MIX);
                    position += 8;
                }
                read_8(length - 8)
            }
        };
        multiply_fold(hash ^ last, MIX ^ self.seed)
    }
}

impl SentencePieceModel {
    /// Create a model from the bytes of a file.
    pub fn new(file: Vec<u8>) -> Result<Self, Error> {
        let model_error = |problem| Error::Input(format!("not a SentencePiece model: {problem}"));
        Self::parse(file).map_err(model_error)
    }

    /// Parse a model file.
    fn parse(file: Vec<u8>) -> Result<Self, String> {
        if file.len() >= 1 << 31 {
            return Err("the file is larger than 2 GiB".to_owned());
        }
        let mut entries = Vec::new();
        let mut reserved = Vec::new();
        let mut normalizer = Normalizer::default();
        let mut rules: &[u8] = b"";
        let (mut algorithm, mut has_bytes) = (Algorithm::Unigram, false);
        FieldReader::for_each_field(&file, |number, field| match (number, field) {
            (1, FieldValue::Bytes(bytes)) => {
                let entry = ModelPiece::parse(&file, bytes, &mut reserved)?;
                entries.push(entry);
                Ok(())
            }
            (2, FieldValue::Bytes(bytes)) => FieldReader::for_each_field(bytes, |number, field| {
                match (number, field) {
                    (3, FieldValue::Number(1)) => algorithm = Algorithm::Unigram,
                    (3, FieldValue::Number(2)) => algorithm = Algorithm::Bpe,
                    (3, FieldValue::Number(3)) => algorithm = Algorithm::Word,
                    (3, FieldValue::Number(4)) => algorithm = Algorithm::Character,
                    (24, FieldValue::Number(value)) => normalizer.is_suffix = value != 0,
                    (35, FieldValue::Number(value)) => has_bytes = value != 0,
                    _ => {}
                }
                Ok(())
            }),
            (3, FieldValue::Bytes(bytes)) => FieldReader::for_each_field(bytes, |number, field| {
                match (number, field) {
                    (2, FieldValue::Bytes(bytes)) => rules = bytes,
                    (3, FieldValue::Number(value)) => normalizer.add_prefix = value != 0,
                    (4, FieldValue::Number(value)) => normalizer.remove_extra = value != 0,
                    (5, FieldValue::Number(value)) => normalizer.escape = value != 0,
                    _ => {}
                }
                Ok(())
            }),
            _ => Ok(()),
        })?;
        normalizer.read_rules(rules)?;
        let mut model = Self {
            spellings: SpellingTable::new(entries.len()),
            entries,
            algorithm,
            normalizer,
            trie: Trie::default(),
            user_defined: Trie::default(),
            has_byte_pieces: has_bytes,
            has_unused: false,
            marks_start_words: true,
            lowest_score: f32::MAX,
            max_piece_bytes: 0,
            file,
        };
        model.index_pieces(&reserved)?;
        Ok(model)
    }

    /// Check the pieces, given the type of each piece in `types`, and index their spellings.
    fn index_pieces(&mut self, types: &[u64]) -> Result<(), String> {
        let mut bytes = [false; 256];
        let mut unknown_count = 0;
        // Common pieces come first, because reserved pieces may have the spellings of common
        // pieces.
        for wants_common in [true, false] {
            let mut reserved_spellings = rustc_hash::FxHashSet::default();
            for id in 0..self.entries.len() as u32 {
                let entry = self.entries[id as usize];
                if entry.is_common != wants_common {
                    continue;
                }
                let text = &self.file[entry.start as usize..][..entry.length as usize];
                let name = || String::from_utf8_lossy(text).into_owned();
                if text.is_empty() {
                    return Err("empty piece".to_owned());
                }
                let existing = self.find(text);
                let is_duplicate = if wants_common {
                    existing.is_some()
                } else {
                    !reserved_spellings.insert(text)
                };
                if is_duplicate {
                    return Err(format!("duplicate piece {:?}", name()));
                }
                match types[id as usize] {
                    2 => unknown_count += 1,
                    6 => {
                        let value = parse_byte_piece(text).filter(|_| self.has_byte_pieces);
                        let value =
                            value.ok_or_else(|| format!("invalid byte piece {:?}", name()))?;
                        bytes[usize::from(value)] = true;
                    }
                    _ => {}
                }
                match existing {
                    // The reserved piece takes precedence.
                    Some(id) => {
                        self.entries[id as usize].piece_kind = entry.piece_kind;
                        self.entries[id as usize].is_unused = false;
                    }
                    None => {
                        let hash = self.spellings.hash(text);
                        let mask = self.spellings.slots.len() - 1;
                        let mut index = hash as usize & mask;
                        while self.spellings.slots[index] != u64::MAX {
                            index = (index + 1) & mask;
                        }
                        self.spellings.slots[index] = hash >> 32 << 32 | u64::from(id);
                    }
                }
            }
        }
        if unknown_count != 1 {
            return Err(format!("expected one unknown piece, found {unknown_count}"));
        }
        if self.has_byte_pieces && !bytes.iter().all(|&has_piece| has_piece) {
            return Err("the model lacks pieces for some of the 256 bytes".to_owned());
        }
        let spelling =
            |entry: &ModelPiece| &self.file[entry.start as usize..][..entry.length as usize];
        let mut user_defined = Vec::new();
        let mut used = Vec::new();
        for (id, (entry, &kind)) in self.entries.iter().zip(types).enumerate() {
            if !entry.is_common {
                continue;
            }
            let text = spelling(entry);
            if kind == 1 {
                self.lowest_score = self.lowest_score.min(entry.score);
            }
            if (kind == 4 || self.algorithm == Algorithm::Unigram) && text.contains(&0) {
                return Err("a piece contains a zero byte".to_owned());
            }
            if kind == 4 {
                user_defined.push((text, id as u32));
            }
            if kind != 5 {
                used.push((text, id as u32));
            }
            self.has_unused |= kind == 5;
            self.max_piece_bytes = self.max_piece_bytes.max(text.len());
            self.marks_start_words &= memchr::memmem::find(&text[1..], SPACE_MARK).is_none();
        }
        if self.algorithm == Algorithm::Unigram {
            if !self.entries.iter().any(|entry| entry.is_common) {
                return Err("the model has no pieces".to_owned());
            }
            self.trie = Trie::new(used);
        }
        self.user_defined = Trie::new(user_defined);
        self.normalizer.find_plain_characters(&self.user_defined);
        Ok(())
    }

    /// Return the piece with this id.
    #[inline(always)]
    pub(super) fn piece(&self, id: u32) -> &ModelPiece {
        &self.entries[id as usize]
    }

    /// Return the id of the piece with this spelling.
    #[inline(always)]
    pub(super) fn find(&self, text: &[u8]) -> Option<u32> {
        let hash = self.spellings.hash(text);
        let mask = self.spellings.slots.len() - 1;
        let mut index = hash as usize & mask;
        loop {
            let slot = self.spellings.slots[index];
            if slot == u64::MAX {
                return None;
            }
            if slot >> 32 == hash >> 32 {
                let entry = &self.entries[slot as u32 as usize];
                let start = entry.start as usize;
                if &self.file[start..start + entry.length as usize] == text {
                    return Some(slot as u32);
                }
            }
            index = (index + 1) & mask;
        }
    }

    /// Return the kind of the piece with this spelling.
    #[inline(always)]
    pub(super) fn kind_of_text(&self, text: &[u8]) -> PieceKind {
        self.find(text).map_or(PieceKind::Unknown, |id| self.piece(id).piece_kind)
    }

    /// Return the priority of joining two symbols to `text`; 0 if they are never joined.
    #[inline(always)]
    pub(super) fn merge_priority(&self, text: &[u8]) -> u32 {
        if text.len() > self.max_piece_bytes {
            return 0;
        }
        match self.find(text).map(|id| self.piece(id)) {
            Some(entry) if entry.is_common => {
                // Map the bits of the float so that integers compare like floats, except that -0 is
                // below 0.
                let bits = entry.score.to_bits();
                let priority = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
                priority.max(1)
            }
            _ => 0,
        }
    }
}

impl ModelPiece {
    /// Parse a piece, and append its type to `types`.
    fn parse(file: &[u8], bytes: &[u8], types: &mut Vec<u64>) -> Result<Self, String> {
        let mut text: &[u8] = b"";
        let (mut score, mut kind) = (0.0, 1);
        FieldReader::for_each_field(bytes, |number, field| {
            match (number, field) {
                (1, FieldValue::Bytes(bytes)) => text = bytes,
                (2, FieldValue::Four(bytes)) => score = f32::from_le_bytes(bytes),
                (3, FieldValue::Number(number @ 1..=6)) => kind = number,
                _ => {}
            }
            Ok(())
        })?;
        types.push(kind);
        let start = if text.is_empty() { 0 } else { text.as_ptr().addr() - file.as_ptr().addr() };
        Ok(Self {
            start: start as u32,
            length: text.len() as u32,
            score,
            piece_kind: match kind {
                // An unused piece that was not split counts as unknown.
                2 | 5 => PieceKind::Unknown,
                4 => PieceKind::UserDefined,
                _ => PieceKind::Normal,
            },
            is_unused: kind == 5,
            is_common: matches!(kind, 1 | 4 | 5),
        })
    }
}

/// Return the byte of a piece such as `<0x0A>`.
fn parse_byte_piece(text: &[u8]) -> Option<u8> {
    let (high, low) = match text {
        [b'<', b'0', b'x', high, low, b'>'] => (*high, *low),
        _ => return None,
    };
    let hex_digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    };
    Some(hex_digit(high)? << 4 | hex_digit(low)?)
}
