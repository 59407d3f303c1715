// Which texts hold an n-gram: they are split as the lists of n-grams were.
import {hasRun} from "./tokens.js";

/**
 * Says of texts whether they hold an n-gram, whose tokens are written with spaces between them.
 * @param {import("./report_data.js").ReportData} data @param {string} gram @returns {((text: string) => boolean) | null} null if the page cannot split them so
 */
export function createNgramTest(data, gram) {
  if (!canSplitNgrams(data)) return null;
  const { manifest: { ngrams: { lowercase } } } = data, run = gram.split(" "), longestToken = run.reduce((x, y) => y.length > x.length ? y : x);
  // Splitting takes long: first, whether the longest token can come of this text. What is rewritten before it is split may.
  const canContain = (/** @type {string} */ text) => (lowercase ? text.toLowerCase() : text).includes(longestToken) || /&|<skipped>|-\n/.test(text) || lowercase && /[^\0-\x7F]/.test(text);
  return text => canContain(text) && hasRun(splitForNgrams(data, text), run);
}

/** Whether the page can split texts as the lists of n-grams were. @param {import("./report_data.js").ReportData} data @returns {boolean} */
export const canSplitNgrams = ({ manifest: { ngrams } }) => !!ngrams?.recipe;

/** The tokens of a text as the lists of n-grams have them. @param {import("./report_data.js").ReportData} data @param {string} text */
export const splitForNgrams = ({ client: live, manifest: { ngrams } }, text) => live.kernel.tokenize(live.getMetric(ngrams.recipe), text, false);
