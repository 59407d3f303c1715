// Where a pattern is in a text.

/** @typedef {[number, number, string]} TextSpan  from, to, and the classes of its mark */

/** @param {RegExp} pattern with g @param {string} text @param {string} [kind] the classes of its marks @param {number} [limit] so many at the most @returns {TextSpan[]} */
export function findSpans(pattern, text, kind = "found", limit = Infinity) {
  /** @type {TextSpan[]} */
  const spans = [];
  for (const match of text.matchAll(pattern)) {
    if (match[0]) spans.push([match.index, match.index + match[0].length, kind]);
    if (spans.length >= limit) break;
  }
  return spans;
}
