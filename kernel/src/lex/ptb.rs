//! The tokenizers `ptb` and `ptb-coco`: Stanford's PTBTokenizer (CoreNLP 3.4.1, options
//! `-preserveLines -lowerCase`) as the COCO caption evaluation calls it.
//!
//! The rules were inferred from the output of the original for 500,000 strings. At each position the
//! longest match wins, including the text that a rule only looks at; of equal matches, the first.
//! Lines are not sentences for the original, so it looks at the next line. A segment is tokenized
//! as if a line with a lower-case word followed. Line breaks inside a segment are spaces; in the
//! original they shift all later captions.

mod pattern;

use super::utf8::decode_char;
use Form::{Brackets, Entities, Period, Quotes, Text, Word};
use pattern::Pattern;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::LazyLock;

/// The kinds of characters that the original distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// Spaces, characters that the original deletes with a warning, and hyphens that only join.
    None,
    /// Letters and digits.
    Letter,
    /// Marks that continue words, but not words with digits or hyphens.
    Mark,
    /// Characters that are tokens.
    Symbol,
}

/// The classes of U+0080 to U+FFFF as runs: a class, then the length of the run in base 36.
const CLASS_RUNS: &str = "\
    O1NgO4N1O2N9O9L1O2E1O7L1O4L1O5LnO1LvO1LcqE4LcEeL5E7L1E1L1E3lL5E1L2E2L4O1N5E2L1O1L3N1L1N1LkN1L2b\
    E1L3vN1E5N2L4eN9L12N2L1E6N1L13N1O1N7E19O1E1O1E2O1E2O1E1N8LrN5L3O2NbO4N2O7N7O1E6O1N2O2L17EkN1LaO\
    1N2O1L2E1L2rO1L1EfL2E7LfE2L1OeN1E1L1E1LuEtL2hEbL1NeL17E9L2O3N1L1N5LmN4L1N9L1N3L1NnLpN1zL1N1LbN2\
    bE4L1iN2E1L1EhN1L1E5N2LaE2O2LaN1L7N1L7N1E3N1L8N2L2N2LmN1L7N1L1N3L4N2E1L1E7N2E2N2E3L1N8E1N4L2N1L\
    3E2N2LcNfE3N1L6N4L2N2LmN1L7N1L2N1L2N1L2N2E1N1EiN9L4N1L1N7LaN2L3NcE3N1L9N1L3N1LmN1L7N1L2N1L5N2E1\
    L1EiL1NfL2N4LaNlL8N2L2N2LmN1L7N1L2N1L5N3L1NuL2N1L3N4LaN1L1NgE1L1N1L6N3L3N1L4N3L2N1L1N1L2N3L2N3L\
    3N3LcN4E5N3E3N1E4N2L1NlLaNhE3N1L8N1L3N1LnN1LaN1L5N3L1EpN1L2N6L2N4LaNlL8N1L3N1LnN1LaN1L5N3L1NwL1\
    N1L2N4LaN1L2NiL8N1L3N1L15N2L1E7N1E3N5L1NhL2N4LaNaL6N5LiN3LoN1L9N1L1N2L7N1mL1cE1L2E7N4O1L7E8O1La\
    N13L2N1L1N2L2N1L1N2L1N6L4N1L7N1L3N1L1N1L1N2L2N1L4E1L2E9L1N2L5N1L1N1E6N2LaN2L4NwL1NvLaNmL8N1L10N\
    rL5N37L17NkLbN6L6N4L4N3L1N3L2N7L3N4LdNcL1N1LaN6L12N1L1N5L1N2L17N1L99N1L4N2L7N1L1N1L4N2L15N1L4N2\
    LxN1L4N2L7N1L1N1L4N2LfN1L1lN1L4N2L1vN11LgNgL2dNcLh8N2LhN1LqN5L23NlLdN1L4NeLiNeLiNeLdN1L3NfL1gNz\
    L1N4L1N3LaN12LaN6L2gN8L15N1L1N5L1yNaLtN15L14N2L5NbL18NlL7N8LaN12LnN9L1hN17LaN6LaNdL1N2lL1bNhL7N\
    4LaN15LuNdL1kNqL10NsLaN3L1dN2zL4N1L4N3L2N9L5cN1sL7qN2L6N2L12N2L6N2L8N1L1N1L1N1L1N1LvN2L1hN1L7O1\
    L1N3L3N1L7N3L4N2L6N4LdN5L3N1L7NmOhN2O1N9OcN2O5N1O1N17O1L1N2ObL1OfN1LdN3O1N3O1N7O1N2bO2L1O4L1O2L\
    aO1L1O3L5O6L1O1L1O1L1O1L4O1LbO2L4O5L5O4L1O1N3OcN10L2NbO228L1bN1L1bN1L3pN6L4N3L2NcL12N1L1N5L1N2L\
    1kN7L1NgLnN9L7N1L7N1L7N1L7N1L7N1L7N1L7N1L7N28L1NcxO2N2L2NbO1NuL5N5L2N4L2eN6L3N1L2iO1L4N5L15N3L2\
    mNhLrN1hLgNe8L52uN22Lg5pN1fLwdN1vL1aN2L7hN3LsNkL1bNgLpN8L1yN1dL9N2L2vN2L4N1L4NcLbN25LaN1L3N1L4N\
    1LnNtL1gNeL1eNsLaNoL6N3L1N4L12NaLnNpLtN7L1bNsLbN12L15NnL3N1L8N4LaN6LnN3L1N5L1cN1L1N3L2N2L5N2L1N\
    1L1NoL3N2LbN7L3NcL6N2L6N2L6N9L7N1L7N41LzNdLaN6L8mcNcLnN4L1dN6isLa6N2L2yN12L7NcL5N5L1N1LaN1LdN1L\
    5N1L1N1L2N1L2N1L30NxLa3NiL1sN2L1iN14LcN38L5N1L3rN4OfLaO7LqO6LqObL2hN3L6N2L6N2L6N2L3N3O2N3O2Np";

static CLASSES: LazyLock<Vec<Class>> = LazyLock::new(|| {
    let ascii = (0..0x80_u8).map(|byte| match byte {
        b' ' | 0..32 | 127 => Class::None,
        _ if byte.is_ascii_alphanumeric() => Class::Letter,
        _ => Class::Symbol,
    });
    let mut classes: Vec<Class> = ascii.collect();
    let mut class = Class::None;
    for part in CLASS_RUNS.split_inclusive(|c: char| c.is_ascii_uppercase()) {
        let digits = part.trim_end_matches(|c: char| c.is_ascii_uppercase());
        classes.resize(classes.len() + usize::from_str_radix(digits, 36).unwrap_or(0), class);
        class = match part.as_bytes()[part.len() - 1] {
            b'L' => Class::Letter,
            b'E' => Class::Mark,
            b'O' => Class::Symbol,
            _ => Class::None,
        };
    }
    classes.resize(0x10000, class);
    classes
});

/// Tokens that `ptb-coco` removes. The original's list also has brackets in upper case, but its
/// tokens are in lower case.
const REMOVED_TOKENS: [&[u8]; 13] =
    [b"''", b"'", b"``", b"`", b".", b"?", b"!", b",", b":", b"-", b"--", b"...", b";"];
/// Abbreviations that keep their period and never end a sentence.
const TITLES: &str = " adj adm adv alex assoc asst atty attys ave brig capt cf cie cmdr col comdr \
    cpl dept det dr drs elec ens ft gen gov govs hon insp invt jos lieut lt maj messrs mfg mlle mme \
    mr mrs ms msgr mt mtg natl pfc ph pres prof profs pvt rep reps rev sen sens sfc sgt spc st ste \
    supt supts treas vs wm ";
/// Abbreviations that keep their period, and get another one before a capitalized word.
const ENDINGS: &str = " ala apr ariz assn aug bancorp bhd blvd bldg bros calif co colo corp cos \
    conn ct dak dec esq est etc ext feb fla fri ga inc ind intl jan jr jul jun kan kans ky ltd mar \
    md mich minn mo mon mont neb nev nov oct okla penn plc ppte ppty pte ptes pty ptys rd rt sep \
    sept seq sq sr sys tel tenn thu thurs tue tues univ va vt wed wis wisc wyo ph.d ed.d al ";
/// Abbreviations like `ENDINGS` that must be capitalized.
const STATES: &str = " ark az del ill la mass miss ore pa tex wash ";
/// Abbreviations that keep their period only before a number.
const BEFORE_NUMBERS: &str = " art ca fig figs no nos op pp prop ";
/// Words that are split after three characters.
const SPLIT_WORDS: [&str; 6] = ["cannot", "gonna", "gotta", "lemme", "gimme", "wanna"];

/// How the text of a token follows from the matched characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// In lower case.
    Word,
    /// In lower case, and each quotation mark in ASCII.
    Quotes,
    /// With `-lrb-` and `-rrb-` for round brackets, and U+00A0 for spaces.
    Brackets,
    /// In lower case, with `&` for `&amp;`.
    Entities,
    /// With a period as an additional token.
    Period,
    /// Another text; no token if it is empty.
    Text(&'static str),
}

/// Abbreviations of patterns in rules, each of which may use the earlier ones.
const MACROS: [(&str, &str); 18] = [
    ("%A", "(['\u{92}’]|&apos;)"),
    ("%Q", "(%A|[`\u{91}‘‛])"),
    ("%L", "(\\l|\\m|&(a|e|i|o|u)(acute|grave|uml);)"),
    ("%W", "(%L(%L|\\w)*([.!?]%L(%L|\\w)*)*)"),
    ("%P", "((d|o|l)%Q\\w\\w+|\\w+)"),
    ("%T", "(%P([-_\u{58A}‐‑]%P)*)"),
    ("%R", "%A(s|m|d|re|ve|ll)"),
    ("%C", "([A-Z]+((&amp;|[&+])[A-Z]+)+)"),
    ("%E", "[^\\z\"<>|(){}]"),
    ("%D", "^\\z\"<>|().{}"),
    ("%B", "[A-Za-z0-9]+(-[A-Za-z]+){0,2}"),
    ("%I", "[A-Za-z](\\.[A-Za-z])+\\."),
    ("%J", "[0-9]{2,4}[- \u{A0}]"),
    (
        "%F",
        "bat|bmp|c|class|cgi|cpp|dll|docx?|exe|gif|gz|h|html?|jar|java|jpe?g|mov|mp3|pdf|php|pl|\
        png|ppt|ps|py|sql|tar|txt|wav|x|xml|zip",
    ),
    ("%H", "(/%E+[^\\z\"<>|.!?(){},-])?"),
    ("%N", "[A-Za-z0-9:._-]*"),
    ("%G", "<([!?][A-Za-z-][^>]*|/?[A-Za-z]%N( +[A-Za-z]%N( *= *[\"'][^\"']*[\"'])?)* */? *)[>]"),
    (
        "%S",
        "\\s+([A](|bout|ccording|dditionally|fter|n|s|t)|[B]ut|[E]arlier|[H](er?|ere|owever)|\
        [I](f|n|t)|[L]ast|[M](any|ore|r\\.|s\\.)|[N]ow|[O](nce|ne|ther|ur)|[S](he|ince|o|ome|uch)|\
        [T](hat|heir|hen?|here|hese|hey|his)|[T]he|[W](e|hat|hen|hile)|[Y](et|ou))\\s",
    ),
];

/// The rules: a token, the text that must follow, a list that must contain the token, and its form.
///
/// Letters outside square brackets match both cases. `\l` is a letter, `\w` a letter or digit, `\m`
/// a mark, `\d` a digit, `\s` a space, `\z` a space that ends an address, `\u` a capital letter.
const RULES: [(&str, &str, &str, Form); 70] = [
    ("can", "not", "", Word),
    ("(gon|wan)", "na", "", Word),
    ("got", "ta", "", Word),
    ("(lem|gim)", "me", "", Word),
    ("%W", "%R", "", Word),
    ("%W", "", "", Word),
    ("[A-Za-z\u{AD}]*[A-MO-Za-mo-z\u{AD}]", "n%Qt", "", Word),
    ("[LlDdJj]%A", "", "", Word),
    ("y%A", "\\l", "", Word),
    ("[A-HJ-XZn]%Q\\l\\l+", "", "", Word),
    ("\\l+[aeiouyAEIOUY]%Q[aeiouA-Z]\\l*", "", "", Word),
    ("(ol|dunkin|somethin)%A", "", "", Word),
    ("(c%Amon|s%Amores|ev%Ary|li%Al|nat%Al|nor%Aeaster|e%Aer|o%Ao|cont%Ad\\.)", "", "", Word),
    ("%A(em|till?|cause|n%A?|[2-9]0s)", "", "", Word),
    ("'t", "(is|was)", "", Word),
    ("https?://%E+[^\\z\"<>|.!?(){},-]", "", "", Word),
    ("www\\.([^\\z\"<>|.!?(){},]+\\.)+[A-Za-z]{2,4}%H", "", "", Word),
    ("([^\\z\"`'<>|.!?(){}$,-_]+\\.)+(com|net|org|edu)%H", "", "", Word),
    ("(<|&lt;)?[A-Za-z0-9]%E*@([%D]+\\.)*[%D]+(>|&gt;)?", "", "", Word),
    ("@[A-Za-z_][A-Za-z0-9_]*", "", "", Word),
    ("#\\l+", "", "", Word),
    ("%R", "[^A-Za-z]", "", Quotes),
    ("n%Qt", "[^A-Za-z]", "", Quotes),
    ("[-+]?(\\d*([.:,\u{AD}\u{66B}\u{66C}]\\d+)+|\\d+)", "", "", Word),
    ("([0-9]{1,4}[- \u{A0}])?[0-9]{1,4}\\\\?[/⁄][0-9]{1,4}", "", "", Brackets),
    ("[0-9]{1,2}[-/][0-9]{1,2}[-/][0-9]{2,4}", "", "", Word),
    ("%B(\\\\?/%B){1,2}", "", "", Word),
    ("[A-Z]+\\$", "", "", Word),
    ("[A-Za-z]+\\.", "", TITLES, Word),
    ("([A-Za-z]+|ph\\.d|ed\\.d)\\.", "\\s(\\s|\\u|%G)", ENDINGS, Period),
    ("([A-Za-z]+|ph\\.d|ed\\.d)\\.", "[^][^]", ENDINGS, Word),
    ("[A-Z][A-Za-z]*\\.", "\\s(\\s|\\u|%G)", STATES, Period),
    ("[A-Z][A-Za-z]*\\.", "[^][^]", STATES, Word),
    ("[A-Za-z]+\\.", "\\s?\\d", BEFORE_NUMBERS, Word),
    ("%I", "%S", "", Period),
    ("%I", "", "", Word),
    ("[A-Za-z]", "\\.%S", "", Word),
    ("[A-Za-z]\\.", "", "", Word),
    ("(%W|%T|%C)\\.", "[,;:、]", "", Entities),
    ("[A-Za-z0-9][A-Za-z0-9.,\u{AD}]*(-([A-Za-z0-9\u{AD}]+|%I))+", "", "", Word),
    ("%T", "", "", Word),
    ("(c\\+\\+|[CcFf]#)", "", "", Word),
    ("%C", "", "", Entities),
    ("\\w+(\\.\\w+)*\\.(%F)", "[\\s.?!,]", "", Word),
    (
        "(\\([0-9]{2,3}\\)[ \u{A0}]?|(\\+\\+?)?(%J)?%J)[0-9]{3,4}[- \u{A0}]?[0-9]{3,5}",
        "",
        "",
        Brackets,
    ),
    ("((\\+\\+?)?[0-9]{2,4}\\.)?[0-9]{2,4}\\.[0-9]{3,4}\\.[0-9]{3,5}", "", "", Word),
    ("''", "", "", Word),
    ("[`\u{91}-\u{94}«»‘-‟‹›]{1,2}", "", "", Quotes),
    ("'", "[A-Za-z][^\\s]", "", Text("`")),
    ("%R", "", "", Quotes),
    ("%A\\d\\d", "\\s", "", Word),
    ("%A", "", "", Text("'")),
    ("(\"|&quot;)", "[A-Za-z0-9$]", "", Text("``")),
    ("(\"|&quot;)", "", "", Text("''")),
    ("[<>]?[:;=][-o*']?[()DPdpO\\\\{@|\\[\\]]", "[^A-Za-z0-9]", "", Brackets),
    ("[-^x=~<>']_[-^x=~<>']", "", "", Word),
    ("\\([-^x=~<>'][_.]?[-^x=~<>']\\)", "", "", Brackets),
    ("%G", "", "", Brackets),
    ("[!?]+", "", "", Word),
    ("(\\*+|#+|@+|_+|-{5,99}|<<|>>|\\\\\\*|&#[0-9]+;|-(l|r)(r|s|c)b-)", "", "", Word),
    ("-{2,4}", "", "", Text("--")),
    ("(\\.{3,5}|\\.([ \u{A0}]\\.){2,4}|…)", "", "", Text("...")),
    ("(&[mn]dash;|[\u{96}\u{97}–-―])", "", "", Text("--")),
    ("[\u{80}¤₠€]", "", "", Text("$")),
    ("&lt;", "", "", Text("<")),
    ("&gt;", "", "", Text(">")),
    ("&amp;", "", "", Text("&")),
    ("&nbsp;", "", "", Text("")),
    ("¢", "", "", Text("cents")),
    ("£", "", "", Text("#")),
];

/// The texts of other characters that are one token: a character, then its text.
const REWRITTEN: &str =
    "( -lrb- ) -rrb- [ -lsb- ] -rsb- { -lcb- } -rcb- ¼ 1/4 ½ 1/2 ¾ 3/4 ⅓ 1/3 ⅔ 2/3";

/// A rule with its patterns, and the ASCII characters that each match contains.
struct Rule {
    token: Pattern,
    needed: u128,
    following: Pattern,
    list: &'static str,
    form: Form,
}

/// The rules, and for each ASCII character the rules that can start with it; at index 128, all.
static PARSED_RULES: LazyLock<(Vec<Rule>, Vec<Vec<usize>>)> = LazyLock::new(|| {
    let parse = |pattern: &str| {
        let expand = |text: String, &(name, value): &(&str, &str)| text.replace(name, value);
        let expanded = MACROS.iter().rev().fold(pattern.to_owned(), expand);
        Pattern::parse(&mut expanded.chars().peekable())
    };
    let rules: Vec<Rule> = RULES
        .iter()
        .map(|&(token, following, list, form)| {
            let (token, following) = (parse(token), parse(following));
            Rule { needed: token.find_needed(), token, following, list, form }
        })
        .collect();
    let mut by_character: Vec<Vec<usize>> = (0..128_u8)
        .map(|byte| {
            let line = Line::new(&[byte]);
            (0..rules.len()).filter(|&k| rules[k].token.can_start(&line).0).collect()
        })
        .collect();
    by_character.push((0..rules.len()).collect());
    (rules, by_character)
});

/// The code points of a segment.
struct Line {
    points: Vec<u32>,
}

const NEWLINE: u32 = b'\n' as u32;

impl Line {
    fn new(segment: &[u8]) -> Self {
        let mut points = Vec::with_capacity(segment.len());
        if segment.is_ascii() {
            points.extend(segment.iter().map(|&byte| u32::from(byte)));
        } else {
            let mut position = 0;
            while position < segment.len() {
                let (point, width) = decode_char(&segment[position..]);
                points.push(point.unwrap_or(0));
                position += width;
            }
        }
        Self { points }
    }

    /// Return the character at a position as a code point; after the end, a newline and a letter.
    #[inline(always)]
    fn at(&self, i: usize) -> u32 {
        let after = if i == self.points.len() { NEWLINE } else { 0x7A };
        self.points.get(i).copied().unwrap_or(after)
    }

    /// Return the ASCII text of a range in lower case.
    fn lower_text(&self, start: usize, end: usize) -> Vec<u8> {
        (start..end).map(|i| (self.at(i) as u8).to_ascii_lowercase()).collect()
    }

    /// Return the end of a word or number that no other rule can match, or `i`.
    fn find_plain_end(&self, i: usize) -> usize {
        let run = |condition: fn(u32) -> bool| {
            i + self.points[i..].iter().take_while(|&&point| condition(point)).count()
        };
        let (end, digits) = (run(is_ascii_letter), run(is_ascii_digit));
        let has_space = |end: usize| matches!(self.at(end), 0x20 | NEWLINE);
        if has_space(digits) && !is_ascii_digit(self.at(digits + 1)) {
            // A number that is not a part of a fraction or of a telephone number.
            return digits;
        }
        let text = self.lower_text(i, end);
        let is_word = has_space(end)
            || self.at(end) == 0x2E && has_space(end + 1) && end > i + 1 && {
                let word = [b" ", &text[..], b" "].concat();
                let is_listed =
                    |list: &&str| memchr::memmem::find(list.as_bytes(), &word).is_some();
                ![TITLES, ENDINGS, STATES, BEFORE_NUMBERS].iter().any(is_listed)
            };
        if is_word && !SPLIT_WORDS.iter().any(|word| word.as_bytes() == text) { end } else { i }
    }

    /// Return the end and the form of the token at `i`, which is not a space.
    fn match_token(&self, i: usize) -> (usize, Form) {
        let (rules, by_character) = &*PARSED_RULES;
        let (mut reach, mut end, mut form) = (i, i, Text(""));
        let word = self.points[i..].iter().take_while(|&&point| point != 0x20);
        let present = word.fold(0, |all, &point| all | 1_u128.checked_shl(point).unwrap_or(0));
        for &k in &by_character[self.at(i).min(128) as usize] {
            let Rule { token, needed, following, list, form: rule_form } = &rules[k];
            if needed & !present != 0 {
                continue;
            }
            for last in token.find_ends(self, &[i]) {
                let word = || [b" ", &self.lower_text(i, last - 1)[..], b" "].concat();
                let Some(&rule_reach) = following.find_ends(self, &[last]).last() else { continue };
                if rule_reach > reach
                    && (list.is_empty() || memchr::memmem::find(list.as_bytes(), &word()).is_some())
                {
                    (reach, end, form) = (rule_reach, last, *rule_form);
                }
            }
        }
        if class_of(self.at(i)) == Class::Symbol && reach == i {
            let point = to_char(self.at(i));
            let mut words = REWRITTEN.split(' ').skip_while(|word| !word.starts_with(point));
            let is_mark = words.next().is_some_and(|mark| mark.chars().count() == 1);
            let text = words.next().filter(|_| is_mark);
            return (i + 1, text.map_or(Word, Text));
        }
        if reach == i {
            // The original deletes this character.
            return (i + 1, Text(""));
        }
        (end, form)
    }
}

fn to_char(point: u32) -> char {
    char::from_u32(point).unwrap_or('\0')
}

fn class_of(point: u32) -> Class {
    CLASSES.get(point as usize).copied().unwrap_or(Class::None)
}

/// Return whether a character is in one of the classes of patterns.
fn is_in_class(point: u32, class: char) -> bool {
    let is_word = class_of(point) == Class::Letter;
    let is_number = to_char(point).is_numeric();
    match class {
        'l' => is_word && !is_number,
        'w' => is_word,
        'd' => is_word && is_number,
        'm' => class_of(point) == Class::Mark,
        's' => is_space(point),
        'z' => point < 0x100 && is_space(point),
        _ => to_char(point).is_uppercase(),
    }
}

fn is_ascii_digit(point: u32) -> bool {
    (0x30..=0x39).contains(&point)
}

fn is_ascii_letter(point: u32) -> bool {
    (0x61..=0x7A).contains(&(point | 32))
}

fn is_space(point: u32) -> bool {
    matches!(point, 0x9..=0xD | 0x20 | 0x85 | 0xA0 | 0x2000..=0x200B | 0x200D | 0x2028 | 0x2029
        | 0x2060 | 0x3000 | 0xFEFF)
}

/// Return a quotation mark in ASCII, or `None`.
fn rewrite_quote(point: u32) -> Option<&'static str> {
    match point {
        0x91 | 0x2018 | 0x201B | 0x2039 => Some("`"),
        0x92 | 0x2019 | 0x203A => Some("'"),
        0x93 | 0xAB | 0x201C => Some("``"),
        0x94 | 0xBB | 0x201D => Some("''"),
        _ => None,
    }
}

/// Append the text of a token.
fn push_token(points: &[u32], form: Form, text: &mut Vec<u8>) {
    if let Text(fixed) = form {
        return text.extend_from_slice(fixed.as_bytes());
    }
    let mut token = String::new();
    for &point in points {
        match (form, point) {
            (Brackets, 0x28) => token.push_str("-lrb-"),
            (Brackets, 0x29) => token.push_str("-rrb-"),
            (Brackets, 0x20) => token.push('\u{A0}'),
            (_, 0xAD) => {}
            (Quotes, _) => match rewrite_quote(point) {
                Some(quote) => token.push_str(quote),
                None => token.push(to_char(point)),
            },
            _ => token.push(to_char(point)),
        }
    }
    token = token.to_lowercase();
    if form == Entities || form == Quotes {
        token = token.replace("&amp;", "&").replace("&apos;", "'");
    }
    text.extend_from_slice(token.as_bytes());
}

/// The tokens of words: their text, and their positions in it.
type CachedTokens = (Vec<u8>, Vec<(usize, usize)>);

const MAX_CACHED_WORDS: usize = 1 << 15;

thread_local! {
    static CACHES: RefCell<[FxHashMap<Vec<u8>, CachedTokens>; 2]> = RefCell::default();
}

/// Append the tokens of a segment to `text`, and emit the position of each token. With `coco`,
/// remove punctuation, and split tokens at U+00A0 as the BLEU and CIDEr of the original do.
pub fn tokenize_ptb(
    segment: &[u8],
    coco: bool,
    text: &mut Vec<u8>,
    mut emit: impl FnMut(usize, usize),
) {
    let base = text.len();
    let mut emit = |start, end| emit(start - base, end - base);
    let mut line = None;
    if !segment.is_ascii() {
        let (line, mut i) = (Line::new(segment), 0);
        while i < line.points.len() {
            i = tokenize_word(&line, i, coco, text, &mut emit);
        }
        return;
    }
    CACHES.with_borrow_mut(|caches| {
        let cache = &mut caches[usize::from(coco)];
        if cache.len() > MAX_CACHED_WORDS {
            cache.clear();
        }
        let mut i = 0;
        while i < segment.len() {
            let length = memchr::memchr(b' ', &segment[i..]).unwrap_or(segment.len() - i);
            let (word, start) = (&segment[i..i + length], text.len());
            text.extend(word.iter().map(u8::to_ascii_lowercase));
            let is_plain = text[start..].iter().all(u8::is_ascii_lowercase);
            if is_plain && !SPLIT_WORDS.iter().any(|split| split.as_bytes() == &text[start..]) {
                if start < text.len() {
                    emit(start, text.len());
                    text.push(b' ');
                }
                i += length + 1;
                continue;
            }
            text.truncate(start);
            // Of other words, only those with a period, a digit or `<` depend on later words.
            let is_last = i + length == segment.len();
            let is_fixed = |&byte: &u8| match byte {
                b'.' => is_last,
                b'0'..=b'9' | b'<' => false,
                byte => byte > b' ' && byte < 127,
            };
            if !word.iter().all(is_fixed) {
                let line = line.get_or_insert_with(|| Line::new(segment));
                i = tokenize_word(line, i, coco, text, &mut emit);
                continue;
            }
            if !cache.contains_key(word) {
                let (mut text, mut ends) = (Vec::new(), Vec::new());
                let mut push = |start, end| ends.push((start, end));
                tokenize_word(&Line::new(word), 0, coco, &mut text, &mut push);
                cache.insert(word.to_vec(), (text, ends));
            }
            let (tokens, positions) = &cache[word];
            text.extend_from_slice(tokens);
            positions.iter().for_each(|&(first, last)| emit(start + first, start + last));
            i += length + 1;
        }
    });
}

/// Append the tokens of the word at a position of a line to `text`, and emit their positions in
/// `text`. Return the position of the next word.
fn tokenize_word(
    line: &Line,
    mut i: usize,
    coco: bool,
    text: &mut Vec<u8>,
    emit: &mut impl FnMut(usize, usize),
) -> usize {
    let points = &line.points[..];
    let mut emit_token = |start: usize, form: Form, text: &mut Vec<u8>| {
        let token = &text[start..];
        if token.is_empty() || coco && REMOVED_TOKENS.contains(&token) {
            return text.truncate(start);
        }
        let mut part = start;
        if form == Brackets
            && coco
            && let Ok(token) = std::str::from_utf8(token)
        {
            for (offset, space) in token.match_indices('\u{A0}') {
                emit(part, start + offset);
                part = start + offset + space.len();
            }
        }
        emit(part, text.len());
        // Separate tokens, because block lexers may join adjacent tokens.
        text.push(b' ');
    };
    while i < points.len() && !is_space(points[i]) {
        let start = text.len();
        let (mut end, mut form) = (line.find_plain_end(i), Word);
        if end == i {
            (end, form) = line.match_token(i);
        }
        push_token(&points[i..end.min(points.len())], form, text);
        emit_token(start, form, text);
        if form == Period {
            text.push(b'.');
            emit_token(text.len() - 1, Word, text);
        }
        i = end;
    }
    i + 1
}
