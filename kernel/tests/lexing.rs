//! Block lexers produce the tokens of the scalar definitions for every input.

mod common;

use proptest::prelude::*;
use truebleu_kernel::lex::{LexScratch, Lexer, Tokenizer, tercom};
use truebleu_kernel::simd::Instructions;

/// Return every tokenizer except PTB; tercom with all options, and without its most important option.
///
/// PTB has no block form, lengthens some tokens, and is slow without optimization. Golden files test it.
fn tokenizers() -> impl Iterator<Item = Tokenizer> {
    let tercom = [true, false].map(|normalized| {
        let (no_punct, asian_support, twice) = (true, true, true);
        Tokenizer::Tercom(tercom::TercomOptions {
            normalized,
            no_punct,
            asian_support,
            applies_twice: twice,
        })
    });
    let named = Tokenizer::NAMES.into_iter().map(|(_, tokenizer)| tokenizer);
    named.filter(|tokenizer| !matches!(tokenizer, Tokenizer::Ptb { .. })).chain(tercom)
}

/// Return the tokens of one segment by the definition.
fn tokenize_by_definition(tokenizer: &Tokenizer, segment: &[u8]) -> Vec<Vec<u8>> {
    let mut text = Vec::new();
    let mut ranges = Vec::new();
    tokenizer.tokenize(segment, &mut text, |start, end| ranges.push(start..end));
    ranges.into_iter().map(|range| text[range].to_vec()).collect()
}

/// Check that block lexers and definitions agree.
fn check_segments(segments: &[Option<Vec<u8>>]) -> Result<(), TestCaseError> {
    let block = common::to_block(segments);
    let mut scratch = LexScratch::default();
    for tokenizer in tokenizers() {
        for instructions in Instructions::available() {
            let lexer = Lexer { tokenizer: tokenizer.clone(), lowercase: None, instructions };
            let Ok(mut lexed) = lexer.lex(&block, &mut scratch) else {
                return Err(TestCaseError::fail("valid text was rejected"));
            };
            for segment in segments {
                let tokens = lexed.next_segment().map(|view| {
                    (0..view.count()).map(|i| view.token(i).to_vec()).collect::<Vec<_>>()
                });
                let expected =
                    segment.as_ref().map(|segment| tokenize_by_definition(&tokenizer, segment));
                prop_assert_eq!(tokens, expected, "{:?} with {:?}", tokenizer, instructions);
            }
        }
    }
    Ok(())
}

/// Make a segment missing in one of ten cases.
fn sometimes_missing(
    text: impl Strategy<Value = Vec<u8>>,
) -> impl Strategy<Value = Option<Vec<u8>>> {
    prop::option::weighted(0.9, text)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn test_blocks_match_definition_on_text(
        segments in prop::collection::vec(sometimes_missing(common::random_segment().prop_map(String::into_bytes)), 1..6)
    ) {
        check_segments(&segments)?;
    }

    #[test]
    fn test_blocks_match_definition_on_segments_with_newlines(
        segments in prop::collection::vec(
            sometimes_missing(
                prop::collection::vec(common::random_segment(), 1..4)
                    .prop_flat_map(|lines| prop::sample::select(vec!["\n", "-\n", "\r\n"])
                    .prop_map(move |end| lines.join(end).into_bytes())),
            ),
            1..4,
        )
    ) {
        check_segments(&segments)?;
    }

    #[test]
    fn test_arbitrary_bytes_do_not_break_lexers(
        segments in prop::collection::vec(sometimes_missing(prop::collection::vec(any::<u8>(), 0..200)), 1..4)
    ) {
        let block = common::to_block(&segments);
        let mut scratch = LexScratch::default();
        for tokenizer in tokenizers() {
            for instructions in Instructions::available() {
                let lexer = Lexer { tokenizer: tokenizer.clone(), lowercase: None, instructions };
                let Ok(mut lexed) = lexer.lex(&block, &mut scratch) else { continue };
                for segment in &segments {
                    let view = lexed.next_segment();
                    prop_assert_eq!(view.is_some(), segment.is_some());
                    let token_bytes = view.map_or(0, |view| {
                        (0..view.count()).map(|i| view.token(i).len()).sum()
                    });
                    prop_assert!(token_bytes <= segment.as_ref().map_or(0, Vec::len));
                }
            }
        }
    }
}

#[test]
fn test_surrogates_are_characters() {
    let text = b"a \xED\xA0\x80\xED\xB0\x80 .".to_vec();
    assert_eq!(tokenize_by_definition(&Tokenizer::Character, &text).len(), 4);
    assert_eq!(tokenize_by_definition(&Tokenizer::ThirteenA, &text).len(), 3);
    check_segments(&[Some(text)]).unwrap();
}

#[test]
fn test_tokens_do_not_depend_on_block_offset() {
    for piece in ["1.", ".5", "“", "。", "½.", "&amp;", "..5", "5-", "\u{2003}", "a\0", "”5", "5”6"]
    {
        let segments: Vec<_> = (0..130)
            .map(|before| Some(format!("{}{piece}x y", "w".repeat(before)).into_bytes()))
            .chain((0..130).map(|n| Some(format!("{}{piece}", "ab ".repeat(n)).into_bytes())))
            .collect();
        for segment in segments {
            check_segments(&[segment]).unwrap();
        }
    }
}
