// Which texts hold an n-gram: they are split as the lists of n-grams were.
import {hasRun} from "./tokens.js";

/**
 * Says of texts whether they hold an n-gram, whose tokens are written with spaces between them.
 * @param {import("./report_data.js").Data} data @param {string} gram @returns {((text: string) => boolean) | null} null if the page cannot split them so
 */
export function holder(data, gram) {
  if (!canHold(data)) return null;
  const { manifest: { ngrams: { lowercase } } } = data, run = gram.split(" "), rare = run.reduce((x, y) => y.length > x.length ? y : x);
  // Splitting takes long: first, whether the longest token can come of this text. What is rewritten before it is split may.
  const may = (/** @type {string} */ text) => (lowercase ? text.toLowerCase() : text).includes(rare) || /&|<skipped>|-\n/.test(text) || lowercase && /[^\0-\x7F]/.test(text);
  return text => may(text) && hasRun(splitAsNgrams(data, text), run);
}

/** Whether the page can split texts as the lists of n-grams were. @param {import("./report_data.js").Data} data @returns {boolean} */
export const canHold = ({ manifest: { ngrams } }) => !!ngrams?.recipe;

/** The tokens of a text as the lists of n-grams have them. @param {import("./report_data.js").Data} data @param {string} text */
export const splitAsNgrams = ({ live, manifest: { ngrams } }, text) => live.kernel.tokens(live.metric(ngrams.recipe), text, false);
