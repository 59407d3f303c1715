// Tokens, matches and differences for showing; scores are never made of them, but of the embedded counts.

/** @typedef {{keys: string[], starts: number[], ends: number[]}} Tokens  what is compared, and where it stands in the text */

export const BLANK = /[\t-\r\x1C-\x20\x85\xA0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]/;
const SYMBOL = /[!-&(-+/:-@[-`{-~]/;
// What sacreBLEU's zh takes for Chinese; kernel/src/lex/chinese.rs says why it is so much.
const CHINESE = /[\u2001-\u2A6D\u2E80-\u2FDF\u2FF0-\u303F\u3100-\u312F\u31A0-\u31EF\u3200-\u4DB5\u4E00-\u9FBB\uF900-\uFA2D\uFA30-\uFA6A\uFA70-\uFAD9\uFE10-\uFE1F\uFE30-\uFE4F\uFF00-\uFFEF]/;
const OTHER = 0, POINT = 1, ALONE = 2, NUMBER = 3;

/** @type {Record<string, (c: string, before: string) => number>} */
const CLASSES = {
  "13a": (c, before) => c === "." || c === "," ? POINT : c >= "0" && c <= "9" ? NUMBER : SYMBOL.test(c) || (c === "-" && before >= "0" && before <= "9") ? ALONE : OTHER,
  "zh": (c, before) => CHINESE.test(c) ? ALONE : CLASSES["13a"](c, before),
  "intl": c => /\p{P}/u.test(c) ? POINT : /\p{S}/u.test(c) ? ALONE : /\p{N}/u.test(c) ? NUMBER : OTHER,
  "char": () => ALONE,
  "none": () => OTHER,
};

/** Whether the page can split text as a tokenizer of this name does. @param {string | null} name */
export const canTokenize = name => name !== null && name in CLASSES;

/**
 * The tokens of a text, as truebleu.tokenize gives them.
 * @param {string} text @param {string} name @param {boolean | string} [lowercase] as BLEU's parameter @returns {Tokens}
 */
export function tokenize(text, name, lowercase = false) {
  let rewritten = text;
  /** @type {[number, number][] | null} From where to where each character of the rewritten text came. */
  let places = null;
  if (lowercase === "ascii") rewritten = text.replace(/[A-Z]/g, c => c.toLowerCase());
  else if (lowercase && lowercase !== "after") {
    rewritten = text.toLowerCase();
    if (rewritten.length !== text.length) places = lengthened(text);
  }
  if (name === "13a" && /&|\n|<skipped>/.test(rewritten)) {
    rewritten = trimEnd(rewritten);
    for (const [from, to] of [["<skipped>", ""], ["-\n", ""], ["\n", " "], ["&quot;", '"'], ["&amp;", "&"], ["&lt;", "<"], ["&gt;", ">"]])
      ({ text: rewritten, places } = replaced(rewritten, places, from, to));
  }
  const tokens = split(rewritten, CLASSES[name] ?? CLASSES.none, name === "intl" || name === "zh");
  const { starts, ends } = tokens;
  const keys = starts.map((start, i) => rewritten.slice(start, ends[i]));
  return {
    keys: lowercase === "after" ? keys.map(key => key.toLowerCase()) : keys,
    starts: places ? starts.map(at => /** @type {any} */ (places)[at][0]) : starts,
    ends: places ? ends.map(at => /** @type {any} */ (places)[at - 1][1]) : ends,
  };
}

/** Characters with all white space, for chrF that counts it. @param {string} text @param {boolean} lowercase @returns {Tokens} */
export function characters(text, lowercase) {
  /** @type {Tokens} */
  const tokens = { keys: [], starts: [], ends: [] };
  let at = 0;
  for (const c of text) {
    tokens.keys.push(lowercase ? c.toLowerCase() : c);
    tokens.starts.push(at);
    tokens.ends.push(at += c.length);
  }
  return tokens;
}

/** @param {string} text */
function trimEnd(text) {
  let end = text.length;
  while (end && BLANK.test(text[end - 1])) end--;
  return text.slice(0, end);
}

/** Where each character of a lower-cased text came from. @param {string} text */
function lengthened(text) {
  /** @type {[number, number][]} */
  const places = [];
  let at = 0;
  for (const c of text) {
    const place = /** @type {[number, number]} */ ([at, at += c.length]);
    for (let i = 0; i < c.toLowerCase().length; i++) places.push(place);
  }
  return places;
}

/** @param {string} text @param {[number, number][] | null} places @param {string} from @param {string} to */
function replaced(text, places, from, to) {
  if (!text.includes(from)) return { text, places };
  const place = (/** @type {number} */ i) => places ? places[i] : /** @type {[number, number]} */ ([i, i + 1]);
  /** @type {[number, number][]} */
  const kept = [];
  let out = "", at = 0;
  for (let next = text.indexOf(from); ; next = text.indexOf(from, at)) {
    const end = next < 0 ? text.length : next;
    out += text.slice(at, end);
    for (let i = at; i < end; i++) kept.push(place(i));
    if (next < 0) return { text: out, places: kept };
    out += to;
    at = next + from.length;
    if (to) kept.push([place(next)[0], place(at - 1)[1]]);
  }
}

/**
 * Where tokens are. Points in a run are split off by two passes that consume pairs, so which of them
 * stays at a number depends on the parity of the run; `open`: what is outside counts as a number.
 * @param {string} text @param {(c: string, before: string) => number} classOf @param {boolean} open
 */
function split(text, classOf, open) {
  /** @type {number[]} */
  const starts = [];
  /** @type {number[]} */
  const ends = [];
  let token = -1, afterNumber = open, before = "", at = 0;
  const push = (/** @type {number} */ from, /** @type {number} */ to) => { starts.push(from); ends.push(to); };
  const close = (/** @type {number} */ to) => { if (token >= 0) push(token, to); token = -1; };
  const end = trimEnd(text).length;
  if (open) while (at < end && classOf === CLASSES.zh && BLANK.test(text[at])) at++;
  while (at < end) {
    const c = String.fromCodePoint(text.codePointAt(at) ?? 0), kind = classOf(c, before);
    if (kind === POINT) {
      const run = [at];
      let next = at, follows = open ? NUMBER : OTHER;
      do {
        next += String.fromCodePoint(text.codePointAt(next) ?? 0).length;
        if (next >= end) break;
        follows = classOf(String.fromCodePoint(text.codePointAt(next) ?? 0), "");
        if (follows === POINT) run.push(next);
      } while (follows === POINT);
      if (next >= end) follows = open ? NUMBER : OTHER;
      const glued = follows === NUMBER && (run.length % 2 ? afterNumber : !afterNumber);
      const single = run.length - Number(glued);
      if (single) close(at);
      for (let i = 0; i < single; i++) push(run[i], run[i + 1] ?? next);
      if (glued && token < 0) token = run[single];
      afterNumber = false;
      before = ".";
      at = next;
      continue;
    }
    if (BLANK.test(c)) close(at);
    else if (kind === ALONE) { close(at); push(at, at + c.length); } else if (token < 0) token = at;
    afterNumber = kind === NUMBER;
    before = c;
    at += c.length;
  }
  close(end);
  return { starts, ends };
}

// ---- matches ----

/**
 * @typedef {object} Match
 * @property {number[]} level     for each token the length of the longest matched n-gram that it is in
 * @property {boolean[]} clipped  whether the token is in a reference, but there fewer times
 * @property {number[]} matches   clipped matches of each order
 * @property {number[]} totals    n-grams of each order
 */
/** N-grams of `ours` that are in one of `theirs`, counted no more often than there. @param {string[]} ours @param {string[][]} theirs @param {number} orders @returns {Match} */
export function match(ours, theirs, orders) {
  const level = ours.map(() => 0), clipped = ours.map(() => false), matches = [], totals = [];
  for (let n = 1; n <= orders; n++) {
    const most = new Map();
    for (const tokens of theirs) for (const [gram, times] of grams(tokens, n)) most.set(gram, Math.max(times, most.get(gram) ?? 0));
    const used = new Map();
    let matched = 0;
    for (let i = 0; i + n <= ours.length; i++) {
      const gram = key(ours, i, n), limit = most.get(gram) ?? 0, times = (used.get(gram) ?? 0) + 1;
      used.set(gram, times);
      if (times <= limit) {
        matched++;
        level.fill(n, i, i + n);
      } else if (limit && n === 1) clipped[i] = true;
    }
    matches.push(matched);
    totals.push(Math.max(0, ours.length - n + 1));
  }
  return { level, clipped, matches, totals };
}

/** @param {string[]} tokens @param {number} at @param {number} n */
const key = (tokens, at, n) => n === 1 ? tokens[at] : tokens.slice(at, at + n).join("\u{10FFFF}");

/** How often each n-gram of an order occurs. @param {string[]} tokens @param {number} n */
export function grams(tokens, n) {
  const counts = new Map();
  for (let i = 0; i + n <= tokens.length; i++) { const gram = key(tokens, i, n); counts.set(gram, (counts.get(gram) ?? 0) + 1); }
  return counts;
}

// ---- differences ----

const CELLS = 1.6e7; // Beyond so many, the middle of two texts is taken to differ as a whole.

/**
 * Which tokens of two texts are not in their longest common subsequence.
 * @param {string[]} a @param {string[]} b @returns {{a: boolean[], b: boolean[], rough: boolean}}
 */
export function diff(a, b) {
  let start = 0, endA = a.length, endB = b.length;
  while (start < endA && start < endB && a[start] === b[start]) start++;
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) { endA--; endB--; }
  const inA = a.map((_, i) => i >= start && i < endA), inB = b.map((_, i) => i >= start && i < endB);
  const n = endA - start, m = endB - start;
  if (n * m > CELLS) return { a: inA, b: inB, rough: true };
  const width = m + 1, longest = new Uint16Array((n + 1) * width);
  for (let i = n - 1; i >= 0; i--) for (let j = m - 1; j >= 0; j--)
    longest[i * width + j] = a[start + i] === b[start + j] ? longest[(i + 1) * width + j + 1] + 1 : Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
  for (let i = 0, j = 0; i < n && j < m;) {
    if (a[start + i] === b[start + j]) { inA[start + i++] = false; inB[start + j++] = false; }
    else if (longest[(i + 1) * width + j] >= longest[i * width + j + 1]) i++;
    else j++;
  }
  return { a: inA, b: inB, rough: false };
}
