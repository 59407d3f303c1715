//! The block lexers give the tokens of the scalar definitions, on every input.

mod common;

use proptest::prelude::*;
use truebleu_kernel::lex::{Lexer, Scratch, Tokenizer, tercom};

/// Every tokenizer, tercom's with all of its options, and without the one that decides most.
fn tokenizers() -> impl Iterator<Item = Tokenizer> {
    let tercom = [true, false].map(|normalized| {
        let (no_punct, asian_support, twice) = (true, true, true);
        Tokenizer::Tercom(tercom::Options { normalized, no_punct, asian_support, twice })
    });
    Tokenizer::NAMED.into_iter().map(|(_, tokenizer)| tokenizer).chain(tercom)
}

/// The tokens of one segment by the definition.
fn defined(tokenizer: &Tokenizer, segment: &[u8]) -> Vec<Vec<u8>> {
    let mut text = Vec::new();
    let mut ranges = Vec::new();
    tokenizer.tokenize(segment, &mut text, |start, end| ranges.push(start..end));
    ranges.into_iter().map(|range| text[range].to_vec()).collect()
}

fn check(segments: &[Option<Vec<u8>>]) -> Result<(), TestCaseError> {
    let block = common::block(segments);
    let mut scratch = Scratch::default();
    for tokenizer in tokenizers() {
        for instructions in common::available() {
            let lexer = Lexer { tokenizer: tokenizer.clone(), lowercase: None, instructions };
            let Ok(mut lexed) = lexer.lex(&block, &mut scratch) else {
                return Err(TestCaseError::fail("trusted text was refused"));
            };
            for segment in segments {
                let tokens = lexed.next_segment().map(|view| {
                    (0..view.count()).map(|i| view.token(i).to_vec()).collect::<Vec<_>>()
                });
                let expected = segment.as_ref().map(|segment| defined(&tokenizer, segment));
                prop_assert_eq!(tokens, expected, "{:?} with {:?}", tokenizer, instructions);
            }
        }
    }
    Ok(())
}

fn maybe(text: impl Strategy<Value = Vec<u8>>) -> impl Strategy<Value = Option<Vec<u8>>> {
    prop::option::weighted(0.9, text)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn blocks_equal_the_definition_on_text(
        segments in prop::collection::vec(maybe(common::segment().prop_map(String::into_bytes)), 1..6)
    ) {
        check(&segments)?;
    }

    #[test]
    fn blocks_equal_the_definition_on_segments_with_line_ends(
        segments in prop::collection::vec(
            maybe(
                prop::collection::vec(common::segment(), 1..4)
                    .prop_flat_map(|lines| prop::sample::select(vec!["\n", "-\n", "\r\n"])
                    .prop_map(move |end| lines.join(end).into_bytes())),
            ),
            1..4,
        )
    ) {
        check(&segments)?;
    }

    #[test]
    fn no_bytes_make_a_lexer_fail(
        segments in prop::collection::vec(maybe(prop::collection::vec(any::<u8>(), 0..200)), 1..4)
    ) {
        let block = common::block(&segments);
        let mut scratch = Scratch::default();
        for tokenizer in tokenizers() {
            for instructions in common::available() {
                let lexer = Lexer { tokenizer: tokenizer.clone(), lowercase: None, instructions };
                let Ok(mut lexed) = lexer.lex(&block, &mut scratch) else { continue };
                for segment in &segments {
                    let view = lexed.next_segment();
                    prop_assert_eq!(view.is_some(), segment.is_some());
                    let tokens = view.map_or(0, |view| {
                        (0..view.count()).map(|i| view.token(i).len()).sum()
                    });
                    prop_assert!(tokens <= segment.as_ref().map_or(0, Vec::len));
                }
            }
        }
    }
}

#[test]
fn surrogates_are_characters_as_in_python() {
    let lone = b"a \xED\xA0\x80\xED\xB0\x80 .".to_vec();
    assert_eq!(defined(&Tokenizer::Character, &lone).len(), 4);
    assert_eq!(defined(&Tokenizer::ThirteenA, &lone).len(), 3);
    check(&[Some(lone)]).unwrap();
}

#[test]
fn every_position_in_a_block_is_cut_alike() {
    for piece in ["1.", ".5", "“", "。", "½.", "&amp;", "..5", "5-", "\u{2003}", "a\0", "”5", "5”6"]
    {
        let segments: Vec<_> = (0..130)
            .map(|before| Some(format!("{}{piece}x y", "w".repeat(before)).into_bytes()))
            .chain((0..130).map(|n| Some(format!("{}{piece}", "ab ".repeat(n)).into_bytes())))
            .collect();
        for segment in segments {
            check(&[segment]).unwrap();
        }
    }
}
