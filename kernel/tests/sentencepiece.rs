//! SentencePiece's pieces by models of a few pieces, whole and damaged.

use proptest::prelude::*;
use truebleu_kernel::lex::sentencepiece::Model;

fn number(mut number: u64, out: &mut Vec<u8>) {
    while number > 127 {
        out.push(number as u8 | 128);
        number >>= 7;
    }
    out.push(number as u8);
}

/// A field of Protocol Buffers whose value is bytes.
fn field(key: u64, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    number(key << 3 | 2, &mut out);
    number(bytes.len() as u64, &mut out);
    out.extend(bytes);
    out
}

const UNIGRAM: u8 = 1;
const BPE: u8 = 2;

/// The types of pieces.
const NORMAL: u8 = 1;
const UNKNOWN: u8 = 2;
const OWN: u8 = 4;
const UNUSED: u8 = 5;

/// A model with these pieces and rules; the rules in the form of a file.
fn model(algorithm: u8, pieces: &[(&str, f32, u8)], rules: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for (text, score, kind) in [("<unk>", 0.0, UNKNOWN)].iter().chain(pieces) {
        let mut piece = field(1, text.as_bytes());
        piece.push(2 << 3 | 5);
        piece.extend(score.to_le_bytes());
        piece.extend([3 << 3, *kind]);
        out.extend(field(1, &piece));
    }
    out.extend(field(2, &[3 << 3, algorithm]));
    out.extend(field(3, &field(2, rules)));
    out
}

/// Rules that rewrite "A" as "a" and delete "!".
fn rules() -> Vec<u8> {
    let mut units = vec![0_u32; 512];
    let leaf = 1 << 8;
    // The root's followers are at 256 xor the byte, those of each byte at itself xor 128.
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

fn pieces(file: &[u8], text: &str) -> Vec<String> {
    let model = Model::new(file.to_vec()).expect("a model");
    let mut found = Vec::new();
    let mut out = b"before".to_vec();
    model.split(text.as_bytes(), &mut out, |piece, _| {
        found.push(String::from_utf8_lossy(piece).into_owned());
    });
    let mut tokens = 0;
    model.tokenize(text.as_bytes(), &mut Vec::new(), |start, end| {
        assert!(start < end);
        tokens += 1;
    });
    let split = found.iter().map(|piece| piece.split_whitespace().count());
    assert_eq!(tokens, split.sum::<usize>());
    found
}

#[test]
fn bpe_joins_the_best_pair_then_the_leftmost() {
    let file = model(
        BPE,
        &[
            ("ab", -1.0, NORMAL),
            ("bc", 0.0, NORMAL),
            ("aa", 0.0, NORMAL),
            ("\u{2581}aa", -3.0, NORMAL),
        ],
        b"",
    );
    assert_eq!(pieces(&file, "abc aaa"), ["\u{2581}a", "bc", "\u{2581}aa", "a"]);
}

#[test]
fn unused_pieces_come_apart() {
    let file = model(
        BPE,
        &[("a", 0.0, NORMAL), ("b", 0.0, NORMAL), ("ab", -1.0, UNUSED), ("abb", -2.0, NORMAL)],
        b"",
    );
    assert_eq!(pieces(&file, "ab abb"), ["\u{2581}", "a", "b", "\u{2581}", "abb"]);
}

#[test]
fn the_likeliest_pieces() {
    let file = model(
        UNIGRAM,
        &[("a", -1.0, NORMAL), ("b", -1.0, NORMAL), ("ab", -2.5, NORMAL), ("x y", 0.0, OWN)],
        b"",
    );
    assert_eq!(pieces(&file, "ab"), ["\u{2581}", "a", "b"]);
    assert_eq!(pieces(&file, "qq"), ["\u{2581}qq"]);
}

#[test]
fn text_is_rewritten_first() {
    let file = model(UNIGRAM, &[("a", -1.0, NORMAL), ("b", -1.0, NORMAL)], &rules());
    assert_eq!(pieces(&file, "  A!b! "), ["\u{2581}", "a", "b"]);
}

#[test]
fn what_is_no_model_is_refused() {
    let whole = model(UNIGRAM, &[("a", -1.0, NORMAL)], &rules());
    for file in [
        &b""[..],
        b"not a model",
        &[0xFF; 40],
        // A length of almost 2^64.
        &[0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01],
        &whole[..whole.len() - 1],
        &model(UNIGRAM, &[("a", 0.0, NORMAL), ("a", 0.0, NORMAL)], b""),
        &model(UNIGRAM, &[], b""),
        &model(BPE, &[("", 0.0, NORMAL)], b""),
        &model(BPE, &[("?", 0.0, UNKNOWN)], b""),
        // The array is longer than the rules.
        &model(BPE, &[], &[255, 255, 255, 255, 0]),
    ] {
        assert!(Model::new(file.to_vec()).is_err());
    }
}

#[test]
fn every_cut_and_every_changed_byte_gives_an_error_or_pieces() {
    for algorithm in [0, UNIGRAM, BPE, 4] {
        let whole = model(
            algorithm,
            &[
                ("a", -1.0, NORMAL),
                ("ab", f32::NAN, NORMAL),
                ("b", f32::NEG_INFINITY, UNUSED),
                ("c", 0.0, OWN),
            ],
            &rules()[..],
        );
        // Most of the bytes are the empty places of the rules.
        let bounds = [0..120, 120..whole.len() - 40, whole.len() - 40..whole.len()];
        let [head, rules, tail] = bounds;
        for at in head.chain(rules.step_by(61)).chain(tail) {
            let _ = Model::new(whole[..at].to_vec());
            for flip in [1, 0x80, 0xFF] {
                let mut file = whole.clone();
                file[at] ^= flip;
                if let Ok(model) = Model::new(file) {
                    model.tokenize("Aabcab !".as_bytes(), &mut Vec::new(), |_, _| {});
                }
            }
        }
    }
}

#[test]
fn rules_that_go_round_come_to_an_end() {
    // Each unit follows itself.
    let mut circle = (4 * 256_u32).to_le_bytes().to_vec();
    circle.extend((0..256_u32).flat_map(|byte| (byte | 1 << 8).to_le_bytes()));
    circle.extend(b"a\0");
    let file = model(UNIGRAM, &[("a", -1.0, NORMAL)], &circle);
    if let Ok(model) = Model::new(file) {
        model.tokenize("a".repeat(2_000).as_bytes(), &mut Vec::new(), |_, _| {});
    }
    // A pool without ends would make any text very long.
    let mut endless = vec![4, 0, 0, 0, 0, 0, 0, 0];
    endless.extend([b'x'; 5000]);
    assert!(Model::new(model(UNIGRAM, &[("a", -1.0, NORMAL)], &endless)).is_err());
}

proptest! {
    #[test]
    fn any_bytes(file in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Model::new(file);
    }

    #[test]
    fn any_text_has_pieces_that_add_up(
        algorithm in 1_u8..5,
        text in proptest::collection::vec(any::<u8>(), 0..200),
        scores in proptest::collection::vec(any::<f32>(), 4),
    ) {
        let pieces = [
            ("a", scores[0], NORMAL),
            ("ab", scores[1], NORMAL),
            ("\u{2581}", scores[2], NORMAL),
            ("aba", scores[3], UNUSED),
            ("<s>", 0.0, OWN),
        ];
        let model = Model::new(model(algorithm, &pieces, &rules())).expect("a model");
        let mut out = Vec::new();
        let mut size = 0;
        model.split(&text, &mut out, |piece, at| {
            assert_eq!(at, size);
            size += piece.len();
        });
        prop_assert_eq!(size, out.len());
    }
}
