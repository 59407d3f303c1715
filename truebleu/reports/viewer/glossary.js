// Glossary terms: their segments, the systems that used them, and their positions in a text.
import {findSpans} from "./match_positions.js";

/** @typedef {{source: string | null, targets: string[], segments: number, used: Record<string, number>}} Term  texts are null in a report without texts */
/** @typedef {{name: string, occurrences: number, segments: number, used: Record<string, number>, terms: Term[], segmentsByTerm: number[][], missed: number[][][], termsBySegment: Map<number, number[]>}} Glossary  segmentsByTerm: the segments of each term; missed: the segments in which a system missed a term; termsBySegment: the terms of a segment */

/** @param {any} entry entry of the manifest @param {[number[], number[][]][]} block @returns {Glossary} */
export function createGlossary(entry, block) {
  /** @type {Map<number, number[]>} */
  const termsBySegment = new Map();
  block.forEach(([there], k) => { for (const i of there) termsBySegment.set(i, [...(termsBySegment.get(i) ?? []), k]); });
  return { ...entry, segmentsByTerm: block.map(([there]) => there), missed: block.map(([, missed]) => missed), termsBySegment };
}

/** Conditions for filters by term. a and b are the two compared systems. */
export const TERM_CONDITIONS = ["in", "used-a", "missed-a", "used-b", "missed-b", "differ"];

/** Describe a condition. @param {string} condition @param {string} a @param {string} [b] letters */
export const getConditionTitle = (condition, a, b) => ({ "in": "in the source", "used-a": `used by ${a}`, "missed-a": `missed by ${a}`, "used-b": `used by ${b}`, "missed-b": `missed by ${b}`, "differ": `used by only one of ${a} and ${b}` })[condition] ?? condition;

/** Return a mask of the segments in which a term, or any term, meets a condition. @param {Glossary} glossary @param {string} term source term; "" for any term @param {string} condition @param {number} n @param {number} a @param {number} [b] the systems */
export function findTermSegments({ terms, segmentsByTerm: there, missed }, term, condition, n, a, b) {
  const hits = new Uint8Array(n), systemIndex = condition.endsWith("-b") ? b : a;
  terms.forEach(({ source }, k) => {
    if (term && source !== term) return;
    const getMissed = (/** @type {number | undefined} */ s) => new Set(s === undefined ? [] : missed[k][s]), missedHere = getMissed(systemIndex), other = getMissed(b);
    for (const i of there[k]) if (condition === "in" || (condition === "differ" ? missedHere.has(i) !== other.has(i) : missedHere.has(i) === condition.startsWith("missed"))) hits[i] = 1;
  });
  return hits;
}

// Scripts without spaces between words, as in term_glossary.py.
const UNSPACED = "\\u0E00-\\u0FFF\\u1000-\\u109F\\u1780-\\u17FF\\u3040-\\u30FF\\u3400-\\u4DBF\\u4E00-\\u9FFF\\uF900-\\uFAFF\\u{20000}-\\u{3FFFF}";
const WORD_CHARACTER = `(?![${UNSPACED}])[\\p{L}\\p{N}\\p{M}]`;
const SPACE = "[\\t-\\r\\x1C-\\x20\\x85\\xA0\\u1680\\u2000-\\u200A\\u2028\\u2029\\u202F\\u205F\\u3000]+";

/** @type {Map<string, RegExp>} */
const patterns = new Map();

/** Build the pattern that finds a term as term_glossary.py does. @param {string} term */
function buildTermPattern(term) {
  const wordCharacter = new RegExp(`^${WORD_CHARACTER}`, "u"), letters = [...term];
  const isAcronym = term === term.toUpperCase() && letters.filter(c => c !== c.toLowerCase()).length > 1;
  const words = term.split(" ").map(word => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join(SPACE);
  return new RegExp(`${wordCharacter.test(letters[0]) ? `(?<!${WORD_CHARACTER})` : ""}${words}${wordCharacter.test(letters[letters.length - 1]) ? `(?!${WORD_CHARACTER})` : ""}`, isAcronym ? "gu" : "giu");
}

/** Return the occurrences of a term in a text. @param {string} text @param {string} term @param {string} kind CSS classes of the mark @returns {import("./highlights.js").Place[]} */
export function findTermSpans(text, term, kind) {
  let pattern = patterns.get(term);
  if (!pattern) patterns.set(term, pattern = buildTermPattern(term));
  return findSpans(pattern, text, kind);
}
