// Positions of pattern matches in a text.

/** @typedef {[number, number, string]} TextSpan  start, end, and CSS classes of the mark */

/** Return the matches of a pattern. @param {RegExp} pattern with g @param {string} text @param {string} [kind] CSS classes of the marks @param {number} [limit] maximum number of matches @returns {TextSpan[]} */
export function findSpans(pattern, text, kind = "found", limit = Infinity) {
  /** @type {TextSpan[]} */
  const spans = [];
  for (const match of text.matchAll(pattern)) {
    if (match[0]) spans.push([match.index, match.index + match[0].length, kind]);
    if (spans.length >= limit) break;
  }
  return spans;
}
