//! Lines of systems and scores are parsed like in the definition.

use crate::make::{self, Random};
use truebleu_kernel::meta_evaluation::parse_score_lines;

/// Make an input: the lines.
pub fn make(random: &mut Random, out: &mut Vec<u8>) {
    const WORDS: &[&str] = &[
        "oak", "elm", "ö", "None", "none", "nan", "inf", "-inf", "1", "-2e-1", "+.5", "5.",
        "1e400", "0x1", "1_0", "", "é1", "\u{a0}", "\u{2003}", "infinity", "1e", "-", "00",
        "1e-400",
    ];
    for _ in 0..random.length(8) {
        for i in 0..if random.once_in(10) { random.below(4) } else { 2 } {
            if i > 0 {
                out.extend_from_slice(
                    random.choose(&["\t", " ", "  ", "\r", "\u{b}", "\u{c}"]).as_bytes(),
                );
            }
            out.extend_from_slice(random.choose(WORDS).as_bytes());
        }
        out.extend_from_slice(random.choose(&["\n", "\n", "\n", "\r\n", "\n\n", ""]).as_bytes());
    }
    if random.once_in(4) {
        make::damage(random, out);
    }
}

/// Run the target.
pub fn target(data: &[u8]) {
    let mut expected: Result<Vec<(&str, f64)>, usize> = Ok(Vec::new());
    let text = data.strip_suffix(b"\n").unwrap_or(data);
    for (i, line) in text.split(|&byte| byte == b'\n').enumerate() {
        let pair = std::str::from_utf8(line).ok().and_then(|line| {
            let is_space = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n' | '\u{c}');
            let words: Vec<&str> = line.split(is_space).filter(|word| !word.is_empty()).collect();
            match words[..] {
                [system, "None"] => Some((system, f64::NAN)),
                [system, score] => Some((system, score.parse().ok()?)),
                _ => None,
            }
        });
        match (pair, &mut expected) {
            (Some(pair), Ok(pairs)) => pairs.push(pair),
            (None, Ok(_)) => expected = Err(i + 1),
            _ => {}
        }
    }
    match (parse_score_lines(data), expected) {
        (Ok((blocks, scores)), Ok(pairs)) => {
            assert!(blocks.windows(2).all(|pair| pair[0].0 != pair[1].0));
            let systems =
                blocks.iter().flat_map(|&(system, count)| std::iter::repeat_n(system, count));
            assert!(systems.eq(pairs.iter().map(|pair| pair.0)));
            let bits = scores.iter().map(|score| score.to_bits());
            assert!(bits.eq(pairs.iter().map(|pair| pair.1.to_bits())));
        }
        (result, expected) => {
            assert_eq!(result.map(drop), expected.map(drop));
        }
    }
}
