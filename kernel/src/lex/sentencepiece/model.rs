//! A model's file: a message of Protocol Buffers with pieces, their scores, and settings.

use super::MARK;
use super::normalizer::Normalizer;
use super::trie::Trie;
use crate::error::Error;
use std::hash::{BuildHasher, Hasher};

/// How a model splits text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    Unigram,
    Bpe,
    Word,
    Character,
}

/// What a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Normal,
    /// One that the model's maker has defined: it is never split.
    Own,
    Unknown,
}

/// A piece of a model.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Where its spelling is in the file.
    start: u32,
    length: u32,
    pub score: f32,
    pub kind: Kind,
    pub is_unused: bool,
    /// Normal, the maker's own or unused: symbols can be joined to it.
    is_common: bool,
}

/// A model of SentencePiece's.
pub struct Model {
    file: Vec<u8>,
    entries: Vec<Entry>,
    spellings: Spellings,
    pub(super) algorithm: Algorithm,
    pub(super) normalizer: Normalizer,
    /// The spellings of all common pieces that are used; of the unigram algorithm alone.
    pub(super) trie: Trie,
    /// The pieces that are the maker's own.
    pub(super) own: Trie,
    /// Unknown pieces become one for each byte.
    pub(super) has_bytes: bool,
    pub(super) has_unused: bool,
    /// No piece has a mark behind its first character.
    pub(super) has_words: bool,
    /// The lowest score of a normal piece.
    pub(super) lowest: f32,
    longest: usize,
}

impl std::fmt::Debug for Model {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Model({:?}, {} pieces)", self.algorithm, self.entries.len())
    }
}

/// The value of a field of a message.
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Four([u8; 4]),
    Other,
}

/// The fields of a message.
struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..70).step_by(7) {
            let (&byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            number |= u64::from(byte & 127).checked_shl(shift)?;
            if byte < 128 {
                return Some(number);
            }
        }
        None
    }

    fn take(&mut self, count: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(usize::try_from(count).ok()?)?;
        self.rest = rest;
        Some(taken)
    }

    /// The next field's number and value; `None` at the end, or if there is no sense in the bytes.
    fn next(&mut self) -> Option<(u64, Field<'a>)> {
        let mut depth = 0_u32;
        loop {
            let tag = self.number()?;
            let value = match tag & 7 {
                0 => Field::Number(self.number()?),
                1 => self.take(8).map(|_| Field::Other)?,
                2 => {
                    let length = self.number()?;
                    Field::Bytes(self.take(length)?)
                }
                3 => {
                    depth += 1;
                    continue;
                }
                4 => {
                    depth = depth.checked_sub(1)?;
                    Field::Other
                }
                5 => Field::Four(self.take(4)?.try_into().ok()?),
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

    /// Gives each field to `field`.
    fn each(
        bytes: &'a [u8],
        mut field: impl FnMut(u64, Field<'a>) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut fields = Self { rest: bytes };
        while !fields.rest.is_empty() {
            let (number, value) = fields.next().ok_or("it is no such file, or not all of one")?;
            field(number, value)?;
        }
        Ok(())
    }
}

/// A table from spellings to pieces.
struct Spellings {
    seed: u64,
    /// The upper half of the hash of a spelling, and its number; `u64::MAX` for a free place.
    places: Vec<u64>,
}

fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

impl Spellings {
    fn new(count: usize) -> Self {
        // A seed of its own for each process, so that no file can be made to have slow collisions.
        let seed = std::hash::RandomState::new().build_hasher().finish();
        Self { seed, places: vec![u64::MAX; (2 * count + 2).next_power_of_two()] }
    }

    #[inline(always)]
    fn hash(&self, text: &[u8]) -> u64 {
        const MIX: u64 = 0x9E37_79B9_7F4A_7C15;
        let four = |at: usize| {
            u64::from(u32::from_le_bytes(text[at..at + 4].try_into().unwrap_or_default()))
        };
        let eight = |at: usize| u64::from_le_bytes(text[at..at + 8].try_into().unwrap_or_default());
        let length = text.len();
        let mut hash = self.seed ^ length as u64;
        let last = match length {
            0 => 0,
            1..4 => {
                u64::from(text[0])
                    | u64::from(text[length / 2]) << 8
                    | u64::from(text[length - 1]) << 16
            }
            4..=8 => four(0) | four(length - 4) << 32,
            _ => {
                let mut at = 0;
                while at + 8 < length {
                    hash = fold(hash ^ eight(at), MIX);
                    at += 8;
                }
                eight(length - 8)
            }
        };
        fold(hash ^ last, MIX ^ self.seed)
    }
}

impl Model {
    /// A model of a file's bytes.
    pub fn new(file: Vec<u8>) -> Result<Self, Error> {
        let refused = |problem| Error::Input(format!("not a SentencePiece model: {problem}"));
        Self::read(file).map_err(refused)
    }

    fn read(file: Vec<u8>) -> Result<Self, String> {
        if file.len() >= 1 << 31 {
            return Err("it has more than 2 GiB".to_owned());
        }
        let mut entries = Vec::new();
        let mut reserved = Vec::new();
        let mut normalizer = Normalizer::default();
        let mut rules: &[u8] = b"";
        let (mut algorithm, mut has_bytes) = (Algorithm::Unigram, false);
        Fields::each(&file, |number, field| match (number, field) {
            (1, Field::Bytes(bytes)) => {
                let entry = Entry::read(&file, bytes, &mut reserved)?;
                entries.push(entry);
                Ok(())
            }
            (2, Field::Bytes(bytes)) => Fields::each(bytes, |number, field| {
                match (number, field) {
                    (3, Field::Number(1)) => algorithm = Algorithm::Unigram,
                    (3, Field::Number(2)) => algorithm = Algorithm::Bpe,
                    (3, Field::Number(3)) => algorithm = Algorithm::Word,
                    (3, Field::Number(4)) => algorithm = Algorithm::Character,
                    (24, Field::Number(yes)) => normalizer.is_suffix = yes != 0,
                    (35, Field::Number(yes)) => has_bytes = yes != 0,
                    _ => {}
                }
                Ok(())
            }),
            (3, Field::Bytes(bytes)) => Fields::each(bytes, |number, field| {
                match (number, field) {
                    (2, Field::Bytes(bytes)) => rules = bytes,
                    (3, Field::Number(yes)) => normalizer.add_prefix = yes != 0,
                    (4, Field::Number(yes)) => normalizer.remove_extra = yes != 0,
                    (5, Field::Number(yes)) => normalizer.escape = yes != 0,
                    _ => {}
                }
                Ok(())
            }),
            _ => Ok(()),
        })?;
        normalizer.read_rules(rules)?;
        let mut model = Self {
            spellings: Spellings::new(entries.len()),
            entries,
            algorithm,
            normalizer,
            trie: Trie::default(),
            own: Trie::default(),
            has_bytes,
            has_unused: false,
            has_words: true,
            lowest: f32::MAX,
            longest: 0,
            file,
        };
        model.index(&reserved)?;
        Ok(model)
    }

    /// Checks the pieces, whose types are in `types`, and makes the tables of their spellings.
    fn index(&mut self, types: &[u64]) -> Result<(), String> {
        let mut bytes = [false; 256];
        let mut unknown = 0;
        // Common pieces come first: a reserved one may be spelled like one of them.
        for wants_common in [true, false] {
            let mut seen = rustc_hash::FxHashSet::default();
            for id in 0..self.entries.len() as u32 {
                let entry = self.entries[id as usize];
                if entry.is_common != wants_common {
                    continue;
                }
                let text = &self.file[entry.start as usize..][..entry.length as usize];
                let name = || String::from_utf8_lossy(text).into_owned();
                if text.is_empty() {
                    return Err("it has a piece that is empty".to_owned());
                }
                let found = self.find(text);
                let again = if wants_common { found.is_some() } else { !seen.insert(text) };
                if again {
                    return Err(format!("it has the piece {:?} twice", name()));
                }
                match types[id as usize] {
                    2 => unknown += 1,
                    6 => {
                        let value = byte_of(text).filter(|_| self.has_bytes);
                        let value = value
                            .ok_or_else(|| format!("its piece {:?} stands for no byte", name()))?;
                        bytes[usize::from(value)] = true;
                    }
                    _ => {}
                }
                match found {
                    // It is the reserved one that counts.
                    Some(found) => {
                        self.entries[found as usize].kind = entry.kind;
                        self.entries[found as usize].is_unused = false;
                    }
                    None => {
                        let hash = self.spellings.hash(text);
                        let mask = self.spellings.places.len() - 1;
                        let mut at = hash as usize & mask;
                        while self.spellings.places[at] != u64::MAX {
                            at = (at + 1) & mask;
                        }
                        self.spellings.places[at] = hash >> 32 << 32 | u64::from(id);
                    }
                }
            }
        }
        if unknown != 1 {
            return Err(format!("it has {unknown} pieces for what is unknown instead of one"));
        }
        if self.has_bytes && !bytes.iter().all(|&there| there) {
            return Err("it has not a piece for each of the 256 bytes".to_owned());
        }
        let text = |entry: &Entry| &self.file[entry.start as usize..][..entry.length as usize];
        let mut own = Vec::new();
        let mut used = Vec::new();
        for (id, (entry, &kind)) in self.entries.iter().zip(types).enumerate() {
            if !entry.is_common {
                continue;
            }
            let text = text(entry);
            if kind == 1 {
                self.lowest = self.lowest.min(entry.score);
            }
            if (kind == 4 || self.algorithm == Algorithm::Unigram) && text.contains(&0) {
                return Err("it has a piece with a zero byte".to_owned());
            }
            if kind == 4 {
                own.push((text, id as u32));
            }
            if kind != 5 {
                used.push((text, id as u32));
            }
            self.has_unused |= kind == 5;
            self.longest = self.longest.max(text.len());
            self.has_words &= memchr::memmem::find(&text[1..], MARK).is_none();
        }
        if self.algorithm == Algorithm::Unigram {
            if !self.entries.iter().any(|entry| entry.is_common) {
                return Err("it has no pieces".to_owned());
            }
            self.trie = Trie::new(used);
        }
        self.own = Trie::new(own);
        self.normalizer.prepare(&self.own);
        Ok(())
    }

    /// The piece with this number.
    #[inline(always)]
    pub(super) fn piece(&self, id: u32) -> &Entry {
        &self.entries[id as usize]
    }

    /// The number of the piece with this spelling.
    #[inline(always)]
    pub(super) fn find(&self, text: &[u8]) -> Option<u32> {
        let hash = self.spellings.hash(text);
        let mask = self.spellings.places.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let place = self.spellings.places[at];
            if place == u64::MAX {
                return None;
            }
            if place >> 32 == hash >> 32 {
                let entry = &self.entries[place as u32 as usize];
                let start = entry.start as usize;
                if &self.file[start..start + entry.length as usize] == text {
                    return Some(place as u32);
                }
            }
            at = (at + 1) & mask;
        }
    }

    /// What a piece with this spelling is.
    #[inline(always)]
    pub(super) fn kind(&self, text: &[u8]) -> Kind {
        self.find(text).map_or(Kind::Unknown, |id| self.piece(id).kind)
    }

    /// A number that is higher the sooner two symbols are joined to `text`; 0 if they never are.
    #[inline(always)]
    pub(super) fn order(&self, text: &[u8]) -> u32 {
        if text.len() > self.longest {
            return 0;
        }
        match self.find(text).map(|id| self.piece(id)) {
            Some(entry) if entry.is_common => {
                // The bits of a float, so that they compare as it does; -0 is below 0.
                let bits = entry.score.to_bits();
                let order = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
                order.max(1)
            }
            _ => 0,
        }
    }
}

impl Entry {
    /// Reads a piece, and puts its type behind `types`.
    fn read(file: &[u8], bytes: &[u8], types: &mut Vec<u64>) -> Result<Self, String> {
        let mut text: &[u8] = b"";
        let (mut score, mut kind) = (0.0, 1);
        Fields::each(bytes, |number, field| {
            match (number, field) {
                (1, Field::Bytes(bytes)) => text = bytes,
                (2, Field::Four(bytes)) => score = f32::from_le_bytes(bytes),
                (3, Field::Number(number @ 1..=6)) => kind = number,
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
            kind: match kind {
                // An unused piece that is left over is as good as unknown.
                2 | 5 => Kind::Unknown,
                4 => Kind::Own,
                _ => Kind::Normal,
            },
            is_unused: kind == 5,
            is_common: matches!(kind, 1 | 4 | 5),
        })
    }
}

/// The byte that a piece such as `<0x0A>` stands for.
fn byte_of(text: &[u8]) -> Option<u8> {
    let (high, low) = match text {
        [b'<', b'0', b'x', high, low, b'>'] => (*high, *low),
        _ => return None,
    };
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    };
    Some(digit(high)? << 4 | digit(low)?)
}
