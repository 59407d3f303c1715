// Where tokens stand, which of them match, and what differs, for showing; scores are never made of them.

/** @typedef {{keys: string[], starts: number[], ends: number[]}} Tokens  what is compared, and where it stands in the text */

export const BLANK = /[\t-\r\x1C-\x20\x85\xA0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]/;

// What 13a writes before it splits text; an ampersand that it has written may begin another entity.
const REWRITTEN = /<skipped>|-\n|&quot;|&(?:amp;)?[lg]t;|&amp;/y, IN_SMALL = new RegExp(REWRITTEN, "iy");
/** @type {Record<string, string>} */
const MADE = { "<skipped>": "", "-\n": "", "&quot;": '"', "&lt;": "<", "&amp;lt;": "<", "&gt;": ">", "&amp;gt;": ">", "&amp;": "&" };

/**
 * Tokens of a text, and where they stand in it: what is in none of them was left out when it was split.
 * @param {string} text @param {string[]} keys @param {import("./kernel.js").Recipe} recipe by which it was split @returns {Tokens}
 */
export function placed(text, keys, recipe) {
  const rewritten = recipe.tokenizer !== "13a" ? null : recipe.lowercase === "no" ? REWRITTEN : IN_SMALL;
  /** @type {number[]} */
  const starts = [];
  /** @type {number[]} */
  const ends = [];
  // `rest` of a letter that is two in lower case may be the next token's.
  let at = 0, from = 0, rest = "";
  for (const key of keys) {
    let done = rest && key.startsWith(rest) ? rest.length : 0, start = done ? from : -1;
    rest = "";
    while (done < key.length && at < text.length) {
      if (rewritten) rewritten.lastIndex = at;
      const [found] = rewritten?.exec(text) ?? [""], c = String.fromCodePoint(text.codePointAt(at) ?? 0), small = c.toLowerCase(), wanted = key.slice(done);
      let made = found ? MADE[found.toLowerCase()] : [c, small].find(one => wanted.startsWith(one)) ?? (c === "Σ" && wanted[0] === "ς" ? "ς" : "");
      if (!made && !found && small.startsWith(wanted)) { made = wanted; rest = small.slice(wanted.length); }
      if (made && wanted.startsWith(made)) {
        if (start < 0) start = at;
        done += made.length;
      }
      from = at;
      at += (found || c).length;
    }
    starts.push(start < 0 ? at : start);
    ends.push(at);
  }
  return { keys, starts, ends };
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
