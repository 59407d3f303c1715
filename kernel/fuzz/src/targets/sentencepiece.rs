//! SentencePiece models with arbitrary contents either fail, or split any text into consistent
//! pieces.

use crate::input::Input;
use crate::make::{self, Random};
use std::sync::OnceLock;
use truebleu_kernel::lex::sentencepiece::SentencePieceModel;

/// Make an input: the length of the text, the text, then the model file.
pub fn make(random: &mut Random, out: &mut Vec<u8>) {
    out.push(0);
    make::append_text(random, 40, out);
    const PIECES: &[&str] = &["a", "b", "ab", "\u{2581}a", "A!", "the"];
    while out.len() < 200 && !random.once_in(4) {
        out.extend_from_slice(random.choose(PIECES).as_bytes());
    }
    out.truncate(250);
    out[0] = (out.len() - 1) as u8;
    let mut file = create_model(random);
    if !random.once_in(5) {
        // The normalization rules are most of the file, and mostly empty.
        let mut head = file.drain(..file.len().min(200)).collect();
        make::damage(random, &mut head);
        if random.once_in(4) {
            make::damage(random, &mut file);
        }
        out.append(&mut head);
    }
    out.append(&mut file);
}

/// Append a variable-length integer.
fn append_varint(mut number: usize, out: &mut Vec<u8>) {
    while number > 127 {
        out.push(number as u8 | 128);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Append a field whose value is bytes.
fn append_field(key: usize, bytes: &[u8], out: &mut Vec<u8>) {
    append_varint(key << 3 | 2, out);
    append_varint(bytes.len(), out);
    out.extend_from_slice(bytes);
}

/// Create a model file.
fn create_model(random: &mut Random) -> Vec<u8> {
    const SPELLINGS: &[&str] = &[
        "a",
        "b",
        "ab",
        "ba",
        "aba",
        "abab",
        "\u{2581}",
        "\u{2581}a",
        "\u{2581}the",
        "t",
        "th",
        "the",
        "é",
        "中",
        "x y",
        " ",
        "\0",
        "<s>",
        "A",
        "!",
    ];
    const SCORES: &[f32] =
        &[0.0, -0.0, -1.0, -2.5, 3.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
    let mut out = Vec::new();
    let mut piece = Vec::new();
    let mut append_piece = |text: &[u8], score: f32, kind: u8, out: &mut Vec<u8>| {
        piece.clear();
        append_field(1, text, &mut piece);
        piece.push(2 << 3 | 5);
        piece.extend(score.to_le_bytes());
        piece.extend([3 << 3, kind]);
        append_field(1, &piece, out);
    };
    append_piece(b"<unk>", 0.0, 2, &mut out);
    let first = random.below(SPELLINGS.len());
    for i in 0..random.below(8) {
        let kind = *random.choose(&[1, 1, 1, 1, 3, 4, 5]);
        let text = SPELLINGS[(first + i) % SPELLINGS.len()];
        append_piece(text.as_bytes(), *random.choose(SCORES), kind, &mut out);
    }
    let has_byte_pieces = random.once_in(300);
    if has_byte_pieces {
        for byte in 0..256 {
            append_piece(format!("<0x{byte:02X}>").as_bytes(), 0.0, 6, &mut out);
        }
    }
    let mut trainer = vec![3 << 3, 1 + random.below(4) as u8];
    if has_byte_pieces {
        append_varint(35 << 3, &mut trainer);
        trainer.push(1);
    }
    if random.once_in(6) {
        append_varint(24 << 3, &mut trainer);
        trainer.push(1);
    }
    append_field(2, &trainer, &mut out);
    let mut rules = Vec::new();
    if random.once_in(2) {
        append_field(2, normalization_rules(), &mut rules);
    }
    for key in 3..6 {
        if random.once_in(4) {
            rules.extend([key << 3, 0]);
        }
    }
    append_field(3, &rules, &mut out);
    out
}

/// Return rules that replace "A" by "a" and delete "!".
fn normalization_rules() -> &'static [u8] {
    static RULES: OnceLock<Vec<u8>> = OnceLock::new();
    RULES.get_or_init(create_rules)
}

fn create_rules() -> Vec<u8> {
    let mut units = vec![0_u32; 512];
    let leaf = 1 << 8;
    // The children of the root are at 256 xor the byte; the child of each byte is at itself xor
    // 128.
    units[0] = 256 << 10;
    for (byte, value) in [(b'A', 0_u32), (b'!', 2)] {
        units[256 ^ usize::from(byte)] = 128 << 10 | leaf | u32::from(byte);
        units[256 ^ usize::from(byte) ^ 128] = 1 << 31 | value;
    }
    let mut rules = (4 * units.len() as u32).to_le_bytes().to_vec();
    rules.extend(units.into_iter().flat_map(u32::to_le_bytes));
    rules.extend(b"a\0\0");
    rules
}

/// Maximum length of a rule's replacement.
const MAX_REPLACEMENT_BYTES: usize = 1024;

/// Run the target.
pub fn target(data: &[u8]) {
    let mut input = Input(data);
    let length = usize::from(input.byte());
    let text = input.take(length);
    let Ok(model) = SentencePieceModel::new(input.0.to_vec()) else { return };
    let mut out = b"before".to_vec();
    let mut size = 0;
    model.split_pieces(text, &mut out, |piece, at| {
        assert_eq!(at, size);
        size += piece.len();
    });
    assert_eq!(out.len(), b"before".len() + size);
    // An unknown byte may become a piece of six characters.
    assert!(size <= 6 * MAX_REPLACEMENT_BYTES * (text.len() + 1), "{size} bytes of {}", text.len());
    let mut tokens = Vec::new();
    let mut last = 0;
    model.tokenize(text, &mut tokens, |start, end| {
        assert!(last <= start && start < end);
        last = end;
    });
    assert!(last <= tokens.len());
    assert_eq!(tokens, out[b"before".len()..]);
}
