//! SentencePiece segmentation with small models, intact and damaged.

use proptest::prelude::*;
use truebleu_kernel::lex::sentencepiece::SentencePieceModel;

/// Append a variable-length integer.
fn append_varint(mut number: u64, out: &mut Vec<u8>) {
    while number > 127 {
        out.push(number as u8 | 128);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Return a Protocol Buffers field whose value is bytes.
fn encode_field(key: u64, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    append_varint(key << 3 | 2, &mut out);
    append_varint(bytes.len() as u64, &mut out);
    out.extend(bytes);
    out
}

const UNIGRAM: u8 = 1;
const BPE: u8 = 2;

/// The types of pieces.
const NORMAL: u8 = 1;
const UNKNOWN: u8 = 2;
const USER_DEFINED: u8 = 4;
const UNUSED: u8 = 5;

/// Return a model file with these pieces, and with rules in file format.
fn create_model(algorithm: u8, pieces: &[(&str, f32, u8)], rules: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for (text, score, kind) in [("<unk>", 0.0, UNKNOWN)].iter().chain(pieces) {
        let mut piece = encode_field(1, text.as_bytes());
        piece.push(2 << 3 | 5);
        piece.extend(score.to_le_bytes());
        piece.extend([3 << 3, *kind]);
        out.extend(encode_field(1, &piece));
    }
    out.extend(encode_field(2, &[3 << 3, algorithm]));
    out.extend(encode_field(3, &encode_field(2, rules)));
    out
}

/// Return rules that replace "A" by "a" and delete "!".
fn normalization_rules() -> Vec<u8> {
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

/// Return the pieces of a text.
fn split_text(file: &[u8], text: &str) -> Vec<String> {
    let model = SentencePieceModel::new(file.to_vec()).expect("a model");
    let mut text_pieces = Vec::new();
    let mut out = b"before".to_vec();
    model.split_pieces(text.as_bytes(), &mut out, |piece, _| {
        text_pieces.push(String::from_utf8_lossy(piece).into_owned());
    });
    let mut token_count = 0;
    model.tokenize(text.as_bytes(), &mut Vec::new(), |start, end| {
        assert!(start < end);
        token_count += 1;
    });
    let token_counts = text_pieces.iter().map(|piece| piece.split_whitespace().count());
    assert_eq!(token_count, token_counts.sum::<usize>());
    text_pieces
}

#[test]
fn test_bpe_joins_best_pair_then_leftmost() {
    let file = create_model(
        BPE,
        &[
            ("ab", -1.0, NORMAL),
            ("bc", 0.0, NORMAL),
            ("aa", 0.0, NORMAL),
            ("\u{2581}aa", -3.0, NORMAL),
        ],
        b"",
    );
    assert_eq!(split_text(&file, "abc aaa"), ["\u{2581}a", "bc", "\u{2581}aa", "a"]);
}

#[test]
fn test_unused_pieces_are_split() {
    let file = create_model(
        BPE,
        &[("a", 0.0, NORMAL), ("b", 0.0, NORMAL), ("ab", -1.0, UNUSED), ("abb", -2.0, NORMAL)],
        b"",
    );
    assert_eq!(split_text(&file, "ab abb"), ["\u{2581}", "a", "b", "\u{2581}", "abb"]);
}

#[test]
fn test_unigram_finds_most_probable_pieces() {
    let file = create_model(
        UNIGRAM,
        &[
            ("a", -1.0, NORMAL),
            ("b", -1.0, NORMAL),
            ("ab", -2.5, NORMAL),
            ("x y", 0.0, USER_DEFINED),
        ],
        b"",
    );
    assert_eq!(split_text(&file, "ab"), ["\u{2581}", "a", "b"]);
    assert_eq!(split_text(&file, "qq"), ["\u{2581}qq"]);
}

#[test]
fn test_text_is_normalized_first() {
    let file =
        create_model(UNIGRAM, &[("a", -1.0, NORMAL), ("b", -1.0, NORMAL)], &normalization_rules());
    assert_eq!(split_text(&file, "  A!b! "), ["\u{2581}", "a", "b"]);
}

#[test]
fn test_invalid_models_fail() {
    let valid_model = create_model(UNIGRAM, &[("a", -1.0, NORMAL)], &normalization_rules());
    for file in [
        &b""[..],
        b"not a model",
        &[0xFF; 40],
        // A length of almost 2^64.
        &[0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01],
        &valid_model[..valid_model.len() - 1],
        &create_model(UNIGRAM, &[("a", 0.0, NORMAL), ("a", 0.0, NORMAL)], b""),
        &create_model(UNIGRAM, &[], b""),
        &create_model(BPE, &[("", 0.0, NORMAL)], b""),
        &create_model(BPE, &[("?", 0.0, UNKNOWN)], b""),
        // The array is longer than the rules.
        &create_model(BPE, &[], &[255, 255, 255, 255, 0]),
    ] {
        assert!(SentencePieceModel::new(file.to_vec()).is_err());
    }
}

#[test]
fn test_damaged_models_fail_or_split_text() {
    for algorithm in [0, UNIGRAM, BPE, 4] {
        let valid_model = create_model(
            algorithm,
            &[
                ("a", -1.0, NORMAL),
                ("ab", f32::NAN, NORMAL),
                ("b", f32::NEG_INFINITY, UNUSED),
                ("c", 0.0, USER_DEFINED),
            ],
            &normalization_rules()[..],
        );
        // Most of the bytes are empty slots of the rules.
        let bounds =
            [0..120, 120..valid_model.len() - 40, valid_model.len() - 40..valid_model.len()];
        let [head, rules, tail] = bounds;
        for position in head.chain(rules.step_by(61)).chain(tail) {
            let _ = SentencePieceModel::new(valid_model[..position].to_vec());
            for flip in [1, 0x80, 0xFF] {
                let mut file = valid_model.clone();
                file[position] ^= flip;
                if let Ok(model) = SentencePieceModel::new(file) {
                    model.tokenize("Aabcab !".as_bytes(), &mut Vec::new(), |_, _| {});
                }
            }
        }
    }
}

#[test]
fn test_circular_rules_terminate() {
    // Each unit is its own child.
    let mut circle = (4 * 256_u32).to_le_bytes().to_vec();
    circle.extend((0..256_u32).flat_map(|byte| (byte | 1 << 8).to_le_bytes()));
    circle.extend(b"a\0");
    let file = create_model(UNIGRAM, &[("a", -1.0, NORMAL)], &circle);
    if let Ok(model) = SentencePieceModel::new(file) {
        model.tokenize("a".repeat(2_000).as_bytes(), &mut Vec::new(), |_, _| {});
    }
    // An unterminated pool would make any text very long.
    let mut endless = vec![4, 0, 0, 0, 0, 0, 0, 0];
    endless.extend([b'x'; 5000]);
    assert!(
        SentencePieceModel::new(create_model(UNIGRAM, &[("a", -1.0, NORMAL)], &endless)).is_err()
    );
}

proptest! {
    #[test]
    fn test_arbitrary_bytes_do_not_break_loading(file in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = SentencePieceModel::new(file);
    }

    #[test]
    fn test_pieces_add_up_for_any_text(
        algorithm in 1_u8..5,
        text in proptest::collection::vec(any::<u8>(), 0..200),
        scores in proptest::collection::vec(any::<f32>(), 4),
    ) {
        let pieces = [
            ("a", scores[0], NORMAL),
            ("ab", scores[1], NORMAL),
            ("\u{2581}", scores[2], NORMAL),
            ("aba", scores[3], UNUSED),
            ("<s>", 0.0, USER_DEFINED),
        ];
        let model = SentencePieceModel::new(create_model(algorithm, &pieces, &normalization_rules())).expect("a model");
        let mut out = Vec::new();
        let mut size = 0;
        model.split_pieces(&text, &mut out, |piece, at| {
            assert_eq!(at, size);
            size += piece.len();
        });
        prop_assert_eq!(size, out.len());
    }
}
