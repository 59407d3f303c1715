// Sentences through the kernel: the score, the parts that it is made of, tokens, and n-grams with their counts.
import {columnNames, missing, recipeOf} from "./kernel_client.js";
import {Metric} from "./metric.js";
import {numbersOf, packedTexts} from "./kernel.js";
import {BLANK, gramCounts, gramNumbers} from "./tokens.js";

/** @typedef {import("./report_data.js").Setting} Setting */
/** @typedef {import("./kernel_client.js").Live} Live */
/** @typedef {import("./tokens.js").Gram} Gram */
/** @typedef {{name: string, size: number, of: "characters" | "tokens", grams: Gram[], known: Map<number, Gram>, numbers: Int32Array[]}} Order  `numbers`: of the n-grams at each place of the hypothesis and of each reference; `known`: by their numbers */
/**
 * @typedef {object} Scored
 * @property {Setting} setting  with the parameters that were asked for
 * @property {number[]} row     what the kernel counted
 * @property {number} value     the kernel's score
 * @property {import("./metric.js").Walk} walk  the steps to it
 * @property {{tokens: string[], characters: string[]}} hypothesis
 * @property {{tokens: string[], characters: string[]}[]} references
 * @property {number} best      the reference that chrF takes; -1 if all count
 * @property {Order[]} orders
 */

/** Whether a metric's formula is of one reference, the best. @param {string} kind */
const takesBest = kind => kind === "chrF";

/**
 * A setting with other parameters, as a report would have it.
 * @param {Live} live @param {Setting} base @param {Record<string, any>} chosen @param {number | string} references how many, as signatures say it @param {boolean} segment whether the score is of one segment
 * @returns {Setting}
 */
export function settledBy(live, base, chosen, references, segment) {
  const parameters = { ...base.parameters, ...chosen };
  const recipe = recipeOf(base, parameters);
  const own = { ...base, signature: base.signature.replace(/^nrefs:[^|]*/, `nrefs:${references}`) };
  // What is left open of the orders is decided by what is scored.
  const said = new Metric(own, base.metric === "BLEU" ? { ...chosen, effective_order: missing(parameters, segment) === "drop" } : chosen, live);
  return { ...own, name: said.name, signature: said.signature, parameters, recipe, columns: columnNames(base, parameters) };
}

/** The row and the score of one segment. @param {Live} live @param {Setting} setting @param {string} hypothesis @param {string[]} references */
function countedRow(live, setting, hypothesis, references) {
  const { kernel } = live, metric = live.metric(/** @type {any} */ (setting.recipe)), held = [];
  try {
    for (const text of [hypothesis, ...references]) held.push(kernel.texts(packedTexts([text]), 1));
    const columns = held.slice(), table = kernel.count(metric, 0, columns, 0, 1);
    held.push(table);
    return { row: numbersOf(kernel.rows(table).bytes), value: kernel.scores(metric, table)[0] };
  } finally { for (const handle of held) kernel.forget(handle); }
}

/** What a metric counts in a text. @param {Live} live @param {Setting} setting @param {string} text @param {boolean} reference */
export function unitsOfText(live, setting, text, reference) {
  const { metric, parameters: p } = setting, asked = /** @type {import("./kernel.js").Recipe} */ (setting.recipe);
  const split = (/** @type {import("./kernel.js").Recipe} */ recipe) => live.kernel.tokens(live.metric(recipe), text, reference);
  if (metric === "chrF") {
    // Words and characters of the same text: where white space counts it is not what words are split at.
    const whole = split({ ...asked, char_order: 1, word_order: 0 }).join("");
    return { tokens: p.word_order ? split({ ...asked, whitespace: false }).flatMap(wordParts) : [], characters: [...whole].filter(c => p.whitespace || !BLANK.test(c)) };
  }
  const tokens = split(asked);
  return metric === "CER" ? { tokens: [], characters: [...tokens.join("")] } : { tokens, characters: [] };
}

const CHRF_MARK = /[!-/:-@[-`{-~]/;

/** chrF's words: a mark at the end, or else at the beginning, is a word of its own. @param {string} word */
function wordParts(word) {
  const letters = [...word], last = letters.length - 1;
  if (!last) return [word];
  if (CHRF_MARK.test(letters[last])) return [letters.slice(0, last).join(""), letters[last]];
  return CHRF_MARK.test(letters[0]) ? [letters[0], letters.slice(1).join("")] : [word];
}

/** Everything about one segment. @param {Live} live @param {Setting} setting @param {string} text @param {string[]} others @returns {Scored} */
export function scoredTexts(live, setting, text, others) {
  const { row, value } = countedRow(live, setting, text, others), { metric, parameters: p } = setting;
  const hypothesis = unitsOfText(live, setting, text, false), references = others.map(other => unitsOfText(live, setting, other, true));
  let best = -1;
  if (takesBest(metric)) {
    const alone = others.map(other => countedRow(live, setting, text, [other]).value);
    best = alone.indexOf(Math.max(...alone));
  }
  const range = (/** @type {number} */ n, /** @type {"tokens" | "characters"} */ of, /** @type {string} */ name) => gramNumbers([hypothesis, ...references].map(side => side[of]), n).map((numbers, i) => {
    const known = gramCounts(hypothesis[of], best < 0 ? numbers : [numbers[0], numbers[1 + best]], i + 1);
    return { name: `${name}${i + 1}`, size: i + 1, of, numbers, known, grams: [...known.values()] };
  });
  const orders = metric === "BLEU" ? range(p.max_order, "tokens", "") : metric === "chrF" ? [...range(p.char_order, "characters", "c"), ...range(p.word_order, "tokens", "w")] : [];
  return { setting, row, value, walk: new Metric(setting, {}, live).walk(row, true), hypothesis, references, best, orders };
}
