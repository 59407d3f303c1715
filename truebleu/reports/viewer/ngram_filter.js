// Filter for texts that contain an n-gram, with the tokenizer of the n-gram lists.
import {hasRun} from "./tokens.js";

/**
 * Create a test whether a text contains an n-gram, given as space-separated tokens.
 * @param {import("./report_data.js").ReportData} data @param {string} gram @returns {((text: string) => boolean) | null} null if the browser does not have the tokenizer
 */
export function createNgramTest(data, gram) {
  if (!canSplitNgrams(data)) return null;
  const { manifest: { ngrams: { lowercase } } } = data, run = gram.split(" "), longestToken = run.reduce((x, y) => y.length > x.length ? y : x);
  // Tokenization is slow, so first check that the text contains the longest token, or anything that the tokenizer rewrites.
  const canContain = (/** @type {string} */ text) => (lowercase ? text.toLowerCase() : text).includes(longestToken) || /&|<skipped>|-\n/.test(text) || lowercase && /[^\0-\x7F]/.test(text);
  return text => canContain(text) && hasRun(splitForNgrams(data, text), run);
}

/** Return whether the browser has the tokenizer of the n-gram lists. @param {import("./report_data.js").ReportData} data @returns {boolean} */
export const canSplitNgrams = ({ manifest: { ngrams } }) => !!ngrams?.recipe;

/** Split a text into tokens with the tokenizer of the n-gram lists. @param {import("./report_data.js").ReportData} data @param {string} text */
export const splitForNgrams = ({ client: live, manifest: { ngrams } }, text) => live.kernel.tokenize(live.getMetric(ngrams.recipe), text, false);
