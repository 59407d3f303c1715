//! Distinctive n-grams of systems for reports: the lists of [`crate::distinctive_ngrams`].

use super::TextResult;
use crate::distinctive_ngrams::{ListSettings, SystemPair};
use crate::token_corpus::TokenCorpus;

/// Maximum number of tokens of all texts.
pub const MAX_TOKENS: usize = 1 << 25;

/// Encode the lists of one or two systems, with at most `max_entries` n-grams per order and
/// kind: numbers of 4 bytes, then the tokens.
///
/// The first number is the number of n-grams. An n-gram consists of the index of its list
/// (difference, overproduced, missed), its order, the lengths of its tokens, its matches and
/// its count in each system, its count in the references, the log-odds ratio and the z-score.
/// Each float is stored as two numbers.
pub fn encode_lists(
    corpus: &TokenCorpus,
    pair: SystemPair,
    max_entries: usize,
) -> TextResult<Vec<u8>> {
    let is_system = |system: usize| system < corpus.systems;
    if !is_system(pair.0) || !pair.1.is_none_or(is_system) || max_entries == 0 {
        return Err("invalid system or list length".to_owned());
    }
    let pairs = &[pair];
    let lists = ListSettings { pairs, max_entries, max_examples: 0, initial_minimum: None };
    let (mut numbers, mut text, mut count) = (vec![0_u32], Vec::new(), 0);
    for (order, lists_by_pair) in lists.find_lists(corpus).into_iter().enumerate() {
        for (kind, entries) in lists_by_pair.into_iter().flatten().enumerate() {
            for entry in entries {
                count += 1;
                numbers.extend([kind as u32, order as u32 + 1]);
                for &token in &entry.tokens {
                    let token = corpus.vocabulary.token(token);
                    numbers.push(token.len() as u32);
                    text.extend_from_slice(token);
                }
                numbers.extend(entry.match_counts);
                numbers.extend(entry.system_counts);
                numbers.push(entry.reference_count);
                for x in [entry.log_odds, entry.z] {
                    numbers.extend([x.to_bits() as u32, (x.to_bits() >> 32) as u32]);
                }
            }
        }
    }
    numbers[0] = count;
    let mut bytes: Vec<u8> = numbers.into_iter().flat_map(u32::to_le_bytes).collect();
    bytes.append(&mut text);
    Ok(bytes)
}
