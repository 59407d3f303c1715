// Token positions, matches and differences for display. Scores do not depend on them.

/** @typedef {{keys: string[], starts: number[], ends: number[]}} Tokens  tokens and their positions in the text */

export const BLANK = /[\t-\r\x1C-\x20\x85\xA0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]/;

// Replacements of the 13a tokenizer; an ampersand that a replacement produces may begin another
// entity.
const REWRITTEN = /<skipped>|-\n|&quot;|&(?:amp;)?[lg]t;|&amp;/y, REWRITTEN_ANY_CASE = new RegExp(REWRITTEN, "iy");
/** @type {Record<string, string>} */
const REPLACEMENTS = { "<skipped>": "", "-\n": "", "&quot;": '"', "&lt;": "<", "&amp;lt;": "<", "&gt;": ">", "&amp;gt;": ">", "&amp;": "&" };

/**
 * Return the positions of tokens in a text. Characters between them were removed by the tokenizer.
 * @param {string} text @param {string[]} keys @param {import("./kernel.js").Recipe} recipe of the tokenizer @returns {Tokens}
 */
export function locateTokens(text, keys, recipe) {
  const rewritten = recipe.tokenizer !== "13a" ? null : recipe.lowercase === "no" ? REWRITTEN : REWRITTEN_ANY_CASE;
  /** @type {number[]} */
  const starts = [];
  /** @type {number[]} */
  const ends = [];
  // A letter whose lower case has two letters may be split between two tokens.
  let position = 0, from = 0, pendingLetters = "";
  for (const key of keys) {
    let matchedLength = pendingLetters && key.startsWith(pendingLetters) ? pendingLetters.length : 0, start = matchedLength ? from : -1;
    pendingLetters = "";
    while (matchedLength < key.length && position < text.length) {
      if (rewritten) rewritten.lastIndex = position;
      const [replaced] = rewritten?.exec(text) ?? [""], c = String.fromCodePoint(text.codePointAt(position) ?? 0), lowered = c.toLowerCase(), remaining = key.slice(matchedLength);
      let produced = replaced ? REPLACEMENTS[replaced.toLowerCase()] : [c, lowered].find(candidate => remaining.startsWith(candidate)) ?? (c === "Σ" && remaining[0] === "ς" ? "ς" : "");
      if (!produced && !replaced && lowered.startsWith(remaining)) { produced = remaining; pendingLetters = lowered.slice(remaining.length); }
      if (produced && remaining.startsWith(produced)) {
        if (start < 0) start = position;
        matchedLength += produced.length;
      }
      from = position;
      position += (replaced || c).length;
    }
    starts.push(start < 0 ? position : start);
    ends.push(position);
  }
  return { keys, starts, ends };
}

// ---- n-grams ----

/** @typedef {{tokens: string[], starts: number[], hypothesisCount: number, referenceCounts: number[], clippedCount: number}} CountedNgram  an n-gram of the hypothesis: starts of its counted occurrences, and its counts in the hypothesis, in each reference, and after clipping */

/**
 * Number the n-grams at each position of each text, by order. Equal n-grams have equal numbers.
 * @param {string[][]} texts @param {number} orders @returns {Int32Array[][]}
 */
export function numberNgrams(texts, orders) {
  const getNumber = (/** @type {Map<any, number>} */ numbersByKey, /** @type {any} */ key) => { let number = numbersByKey.get(key); if (number === undefined) numbersByKey.set(key, number = numbersByKey.size); return number; };
  const units = new Map(), first = texts.map(text => Int32Array.from(text, unit => getNumber(units, unit))), all = [first];
  for (let size = 2; size <= orders; size++) {
    // Extend each shorter n-gram by one unit.
    const numbersByKey = new Map(), shorter = all[size - 2];
    all.push(shorter.map((numbers, t) => Int32Array.from({ length: Math.max(0, numbers.length - 1) }, (_, position) => getNumber(numbersByKey, numbers[position] * units.size + first[t][position + size - 1]))));
  }
  return all.slice(0, orders);
}

/**
 * Return the n-grams of the hypothesis with clipped counts, by number, in text order.
 * @param {string[]} hypothesisTokens @param {Int32Array[]} numbers of the hypothesis, then of the references that count @param {number} size @returns {Map<number, CountedNgram>}
 */
export function clipNgrams(hypothesisTokens, [hypothesisNumbers, ...referenceNumbers], size) {
  /** @type {Map<number, CountedNgram>} */
  const ngrams = new Map();
  hypothesisNumbers.forEach((number, position) => {
    const ngram = ngrams.get(number);
    if (ngram) { ngram.hypothesisCount++; ngram.starts.push(position); } else ngrams.set(number, { tokens: hypothesisTokens.slice(position, position + size), starts: [position], hypothesisCount: 1, referenceCounts: referenceNumbers.map(() => 0), clippedCount: 0 });
  });
  referenceNumbers.forEach((numbers, r) => { for (const number of numbers) { const ngram = ngrams.get(number); if (ngram) ngram.referenceCounts[r]++; } });
  for (const gram of ngrams.values()) {
    gram.clippedCount = Math.min(gram.hypothesisCount, Math.max(0, ...gram.referenceCounts));
    gram.starts.length = gram.clippedCount;
  }
  return ngrams;
}

/**
 * Return for each token the length of the longest matching n-gram that contains it, and whether the
 * token was clipped because it occurs less often in the other texts.
 * @param {string[]} textTokens @param {string[][]} otherTexts @param {number} orders
 */
export function matchTokens(textTokens, otherTexts, orders) {
  const level = textTokens.map(() => 0), clipped = textTokens.map(() => false);
  numberNgrams([textTokens, ...otherTexts], orders).forEach((numbers, i) => {
    const ngrams = clipNgrams(textTokens, numbers, i + 1);
    numbers[0].forEach((number, position) => {
      // Clipping keeps the first occurrences.
      const lastStart = ngrams.get(number)?.starts.at(-1);
      if (lastStart === undefined) return;
      if (position <= lastStart) level.fill(i + 1, position, position + i + 1);
      else if (i === 0) clipped[position] = true;
    });
  });
  return { level, clipped };
}

/** Yield the starts of a token sequence. @param {string[]} keys @param {string[]} run */
export function* findRuns(keys, run) {
  for (let begin = keys.indexOf(run[0]); begin >= 0 && begin + run.length <= keys.length; begin = keys.indexOf(run[0], begin + 1))
    if (run.every((token, k) => keys[begin + k] === token)) yield begin;
}

/** Return whether tokens contain a token sequence. @param {string[]} keys @param {string[]} run */
export const hasRun = (keys, run) => !findRuns(keys, run).next().done;

// ---- differences ----

const MAX_DIFF_CELLS = 1.6e7; // Above this table size, everything between the common start and end is marked as different.

/**
 * Return the tokens of two texts that are not in their longest common subsequence.
 * @param {string[]} a @param {string[]} b @returns {{a: boolean[], b: boolean[], isRough: boolean}}
 */
export function diffTokens(a, b) {
  let start = 0, endA = a.length, endB = b.length;
  while (start < endA && start < endB && a[start] === b[start]) start++;
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) { endA--; endB--; }
  const inA = a.map((_, i) => i >= start && i < endA), inB = b.map((_, i) => i >= start && i < endB);
  const n = endA - start, m = endB - start;
  if (n * m > MAX_DIFF_CELLS) return { a: inA, b: inB, isRough: true };
  const width = m + 1, longest = new Uint16Array((n + 1) * width);
  for (let i = n - 1; i >= 0; i--) for (let j = m - 1; j >= 0; j--)
    longest[i * width + j] = a[start + i] === b[start + j] ? longest[(i + 1) * width + j + 1] + 1 : Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
  for (let i = 0, j = 0; i < n && j < m;) {
    if (a[start + i] === b[start + j]) { inA[start + i++] = false; inB[start + j++] = false; }
    else if (longest[(i + 1) * width + j] >= longest[i * width + j + 1]) i++;
    else j++;
  }
  return { a: inA, b: inB, isRough: false };
}

/** Return the smallest difference of these hypotheses from a reference, with the index of the reference. @param {string[][]} hypotheses @param {string[][]} references */
export function diffWithClosest(hypotheses, references) {
  const countMarked = (/** @type {ReturnType<typeof diffTokens>} */ { a, b }) => [...a, ...b].filter(Boolean).length;
  return hypotheses.flatMap(keys => references.map((reference, index) => ({ ...diffTokens(keys, reference), index }))).reduce((x, y) => countMarked(y) < countMarked(x) ? y : x);
}
