// Tokens and characters of a text, as a metric counts them.
import {BLANK} from "./tokens.js";

/** @typedef {import("./report_data.js").Setting} Setting */
/** @typedef {import("./kernel_client.js").KernelClient} Live */

/** Split a text into the tokens or characters that a metric counts. @param {Live} client @param {Setting} setting @param {string} text @param {boolean} reference */
export function splitIntoUnits(client, setting, text, reference) {
  const { metric, parameters: p } = setting, ownRecipe = /** @type {import("./kernel.js").Recipe} */ (setting.recipe);
  const split = (/** @type {import("./kernel.js").Recipe} */ recipe) => client.kernel.tokenize(client.getMetric(recipe), text, reference);
  if (metric === "chrF") {
    // With `whitespace`, chrF counts white space as characters, but still splits words at it.
    const joined = split({ ...ownRecipe, char_order: 1, word_order: 0 }).join("");
    return { tokens: p.word_order ? split({ ...ownRecipe, whitespace: false }).flatMap(splitPunctuation) : [], characters: [...joined].filter(c => p.whitespace || !BLANK.test(c)) };
  }
  const tokens = split(ownRecipe);
  return metric === "CER" ? { tokens: [], characters: [...tokens.join("")] } : { tokens, characters: [] };
}

const CHRF_PUNCTUATION = /[!-/:-@[-`{-~]/;

/** Split one punctuation mark off a word as chrF++ does: at the end, or else at the beginning. @param {string} word */
function splitPunctuation(word) {
  const letters = [...word], last = letters.length - 1;
  if (!last) return [word];
  if (CHRF_PUNCTUATION.test(letters[last])) return [letters.slice(0, last).join(""), letters[last]];
  return CHRF_PUNCTUATION.test(letters[0]) ? [letters[0], letters.slice(1).join("")] : [word];
}
