//! The patterns of the rules of PTB: regular expressions whose matches are all found, because the
//! longest match of a rule includes the text that must follow.

use super::{Line, is_in_class};
use rustc_hash::FxHashSet;
use std::iter::Peekable;
use std::str::Chars;

/// A set of ranges of characters, and of classes (see `rules.txt`).
#[derive(Debug, Default)]
pub(super) struct CharacterSet {
    ranges: Vec<(u32, u32)>,
    classes: Vec<char>,
    is_negated: bool,
    /// The bits of the ASCII characters in the set.
    ascii: u128,
}

impl CharacterSet {
    fn make_pattern(ranges: Vec<(u32, u32)>, classes: Vec<char>, is_negated: bool) -> Pattern {
        let mut set = Self { ranges, classes, is_negated, ascii: 0 };
        set.ascii = (0..128).map(|c| u128::from(set.contains_point(c)) << c).sum();
        Pattern::Set(set)
    }

    fn contains_point(&self, point: u32) -> bool {
        let is_member = self.ranges.iter().any(|&(low, high)| (low..=high).contains(&point))
            || self.classes.iter().any(|&class| is_in_class(point, class));
        is_member != self.is_negated
    }

    fn is_literal(&self) -> bool {
        self.ranges.len() == 2 && self.ranges[0] == self.ranges[1]
    }

    #[inline(always)]
    fn contains(&self, line: &Line, i: usize) -> bool {
        match line.at(i) {
            _ if i > line.points.len() + 1 => false,
            point @ 0..128 => self.ascii >> point & 1 == 1,
            point => self.contains_point(point),
        }
    }
}

/// A pattern: a regular expression that is matched in all possible ways.
#[derive(Debug)]
pub(super) enum Pattern {
    Set(CharacterSet),
    Sequence(Vec<Pattern>),
    Choice(Vec<Pattern>),
    Repeat(Box<Pattern>, usize, usize),
}

impl Pattern {
    /// Parse a choice up to its closing bracket or the end.
    pub(super) fn parse(text: &mut Peekable<Chars<'_>>) -> Self {
        let mut choices = vec![Vec::new()];
        while let Some(c) = text.next_if(|&c| c != ')') {
            let items = choices.len() - 1;
            let item = match c {
                '|' => {
                    choices.push(Vec::new());
                    continue;
                }
                '*' | '+' | '?' | '{' => {
                    let (low, high) = match c {
                        '*' => (0, usize::MAX),
                        '+' => (1, usize::MAX),
                        '?' => (0, 1),
                        _ => {
                            let limits: String = text.by_ref().take_while(|&c| c != '}').collect();
                            let (low, high) = limits.split_once(',').unwrap_or_default();
                            (low.parse().unwrap_or(0), high.parse().unwrap_or(0))
                        }
                    };
                    let repeated = choices[items].pop().expect("a pattern before its repetition");
                    Self::Repeat(Box::new(repeated), low, high)
                }
                '(' => {
                    let group = Self::parse(text);
                    text.next();
                    group
                }
                '[' => Self::parse_set(text),
                c => {
                    let (c, is_class) = parse_character(c, text);
                    let ranges = [c, c.to_ascii_uppercase()].map(|c| (c as u32, c as u32));
                    match is_class {
                        true => CharacterSet::make_pattern(vec![], vec![c], false),
                        false => CharacterSet::make_pattern(ranges.to_vec(), vec![], false),
                    }
                }
            };
            choices[items].push(item);
        }
        Self::Choice(choices.into_iter().map(Self::Sequence).collect())
    }

    /// Parse the characters of a set after its opening bracket.
    fn parse_set(text: &mut Peekable<Chars<'_>>) -> Self {
        let is_negated = text.next_if_eq(&'^').is_some_and(|_| true);
        let (mut ranges, mut classes) = (Vec::new(), Vec::new());
        while let Some(c) = text.next_if(|&c| c != ']') {
            let (first, is_class) = parse_character(c, text);
            if is_class {
                classes.push(first);
                continue;
            }
            let mut last = first;
            if text.next_if_eq(&'-').is_some() {
                match text.next_if(|&c| c != ']') {
                    Some(c) => last = parse_character(c, text).0,
                    None => ranges.push(('-' as u32, '-' as u32)),
                }
            }
            ranges.push((first as u32, last as u32));
        }
        text.next();
        CharacterSet::make_pattern(ranges, classes, is_negated)
    }

    /// Return the ends of all matches from these positions.
    pub(super) fn find_ends(&self, line: &Line, starts: &[usize]) -> Vec<usize> {
        let mut ends = match self {
            Self::Set(set) => {
                let members = starts.iter().filter(|&&i| set.contains(line, i));
                return members.map(|i| i + 1).collect();
            }
            Self::Sequence(items) => {
                let mut ends = starts.to_vec();
                for item in items {
                    if ends.is_empty() {
                        break;
                    }
                    ends = item.find_ends(line, &ends);
                }
                return ends;
            }
            Self::Choice(items) => {
                items.iter().flat_map(|item| item.find_ends(line, starts)).collect()
            }
            Self::Repeat(item, low, high) => {
                let mut ends = if *low == 0 { starts.to_vec() } else { Vec::new() };
                if let Self::Set(set) = &**item {
                    for &start in starts {
                        let members = (start..).take(*high).take_while(|&i| set.contains(line, i));
                        ends.extend(members.skip(low.saturating_sub(1)).map(|i| i + 1));
                    }
                    ends.sort_unstable();
                    ends.dedup();
                    return ends;
                }
                let mut seen = FxHashSet::default();
                let mut frontier = starts.to_vec();
                for count in 1..=*high {
                    frontier = item.find_ends(line, &frontier);
                    frontier.retain(|&end| *high < usize::MAX || seen.insert(end));
                    if frontier.is_empty() {
                        break;
                    }
                    if count >= *low {
                        ends.extend(&frontier);
                    }
                }
                ends
            }
        };
        ends.sort_unstable();
        ends.dedup();
        ends
    }

    /// Return the bits of ASCII characters that every match contains, except those in `[]`, and of
    /// those that can be first, and whether a match can be empty.
    pub(super) fn analyze(&self) -> (u128, u128, bool) {
        match self {
            Self::Set(set) => (if set.is_literal() { set.ascii } else { 0 }, set.ascii, false),
            Self::Sequence(items) => items.iter().fold((0, 0, true), |before, item| {
                let (needed, first, is_empty) = item.analyze();
                let first = if before.2 { before.1 | first } else { before.1 };
                (before.0 | needed, first, before.2 && is_empty)
            }),
            Self::Choice(items) => items.iter().fold((u128::MAX, 0, false), |before, item| {
                let (needed, first, is_empty) = item.analyze();
                (before.0 & needed, before.1 | first, before.2 || is_empty)
            }),
            Self::Repeat(item, low, _) => {
                let (needed, first, is_empty) = item.analyze();
                if *low > 0 { (needed, first, is_empty) } else { (0, first, true) }
            }
        }
    }
}

/// Return the character or class that starts with `c`, which is `\\` before escaped characters, and
/// whether it is a class.
fn parse_character(c: char, text: &mut Peekable<Chars<'_>>) -> (char, bool) {
    match if c == '\\' { text.next() } else { None } {
        Some('x') => {
            let digits: String = text.by_ref().take(2).collect();
            (u8::from_str_radix(&digits, 16).expect("two digits").into(), false)
        }
        Some(escaped) => (escaped, "lwmdoszu".contains(escaped)),
        None => (c, false),
    }
}
