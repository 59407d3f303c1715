// Sentences through the kernel: the score, the parts that it is made of, tokens, and n-grams with their counts.
import {getColumnNames, getMissingOrder, buildRecipe} from "./kernel_client.js";
import {Metric} from "./metric.js";
import {toNumbers, packTexts} from "./kernel.js";
import {BLANK, clipNgrams, numberNgrams} from "./tokens.js";

/** @typedef {import("./report_data.js").Setting} Setting */
/** @typedef {import("./kernel_client.js").KernelClient} Live */
/** @typedef {import("./tokens.js").CountedNgram} Gram */
/** @typedef {{name: string, size: number, unit: "characters" | "tokens", grams: Gram[], ngramsByNumber: Map<number, Gram>, numbers: Int32Array[]}} NgramOrder  `numbers`: of the n-grams at each place of the hypothesis and of each reference; `known`: by their numbers */
/**
 * @typedef {object} SentenceScore
 * @property {Setting} setting  with the parameters that were asked for
 * @property {number[]} row     what the kernel counted
 * @property {number} value     the kernel's score
 * @property {import("./metric.js").ScoreSteps} breakdown  the steps to it
 * @property {{tokens: string[], characters: string[]}} hypothesis
 * @property {{tokens: string[], characters: string[]}[]} references
 * @property {number} best      the reference that chrF takes; -1 if all count
 * @property {NgramOrder[]} orders
 */

/** Whether a metric's formula is of one reference, the best. @param {string} kind */
const takesBest = kind => kind === "chrF";

/**
 * A setting with other parameters, as a report would have it.
 * @param {Live} live @param {Setting} base @param {Record<string, any>} chosen @param {number | string} references how many, as signatures say it @param {boolean} segment whether the score is of one segment
 * @returns {Setting}
 */
export function resolveSetting(live, base, chosen, references, segment) {
  const parameters = { ...base.parameters, ...chosen };
  const recipe = buildRecipe(base, parameters);
  const own = { ...base, signature: base.signature.replace(/^nrefs:[^|]*/, `nrefs:${references}`) };
  // What is left open of the orders is decided by what is scored.
  const said = new Metric(own, base.metric === "BLEU" ? { ...chosen, effective_order: getMissingOrder(parameters, segment) === "drop" } : chosen, live);
  return { ...own, name: said.name, signature: said.signature, parameters, recipe, columns: getColumnNames(base, parameters) };
}

/** The row and the score of one segment. @param {Live} live @param {Setting} setting @param {string} hypothesis @param {string[]} references */
function countSentence(live, setting, hypothesis, references) {
  const { kernel } = live, metric = live.getMetric(/** @type {any} */ (setting.recipe)), held = [];
  try {
    for (const text of [hypothesis, ...references]) held.push(kernel.addTexts(packTexts([text]), 1));
    const columns = held.slice(), table = kernel.countSegments(metric, 0, columns, 0, 1);
    held.push(table);
    return { row: toNumbers(kernel.getRows(table).bytes), value: kernel.scoreSegments(metric, table)[0] };
  } finally { for (const handle of held) kernel.release(handle); }
}

/** What a metric counts in a text. @param {Live} live @param {Setting} setting @param {string} text @param {boolean} reference */
export function splitIntoUnits(live, setting, text, reference) {
  const { metric, parameters: p } = setting, asked = /** @type {import("./kernel.js").Recipe} */ (setting.recipe);
  const split = (/** @type {import("./kernel.js").Recipe} */ recipe) => live.kernel.tokenize(live.getMetric(recipe), text, reference);
  if (metric === "chrF") {
    // Words and characters of the same text: where white space counts it is not what words are split at.
    const whole = split({ ...asked, char_order: 1, word_order: 0 }).join("");
    return { tokens: p.word_order ? split({ ...asked, whitespace: false }).flatMap(splitPunctuation) : [], characters: [...whole].filter(c => p.whitespace || !BLANK.test(c)) };
  }
  const tokens = split(asked);
  return metric === "CER" ? { tokens: [], characters: [...tokens.join("")] } : { tokens, characters: [] };
}

const CHRF_PUNCTUATION = /[!-/:-@[-`{-~]/;

/** chrF's words: a mark at the end, or else at the beginning, is a word of its own. @param {string} word */
function splitPunctuation(word) {
  const letters = [...word], last = letters.length - 1;
  if (!last) return [word];
  if (CHRF_PUNCTUATION.test(letters[last])) return [letters.slice(0, last).join(""), letters[last]];
  return CHRF_PUNCTUATION.test(letters[0]) ? [letters[0], letters.slice(1).join("")] : [word];
}

/** Everything about one segment. @param {Live} live @param {Setting} setting @param {string} text @param {string[]} others @returns {SentenceScore} */
export function scoreSentence(live, setting, text, others) {
  const { row, value } = countSentence(live, setting, text, others), { metric, parameters: p } = setting;
  const hypothesis = splitIntoUnits(live, setting, text, false), references = others.map(other => splitIntoUnits(live, setting, other, true));
  let best = -1;
  if (takesBest(metric)) {
    const alone = others.map(other => countSentence(live, setting, text, [other]).value);
    best = alone.indexOf(Math.max(...alone));
  }
  const range = (/** @type {number} */ n, /** @type {"tokens" | "characters"} */ of, /** @type {string} */ name) => numberNgrams([hypothesis, ...references].map(side => side[of]), n).map((numbers, i) => {
    const known = clipNgrams(hypothesis[of], best < 0 ? numbers : [numbers[0], numbers[1 + best]], i + 1);
    return { name: `${name}${i + 1}`, size: i + 1, unit: of, numbers, ngramsByNumber: known, grams: [...known.values()] };
  });
  const orders = metric === "BLEU" ? range(p.max_order, "tokens", "") : metric === "chrF" ? [...range(p.char_order, "characters", "c"), ...range(p.word_order, "tokens", "w")] : [];
  return { setting, row, value, breakdown: new Metric(setting, {}, live).breakDown(row, true), hypothesis, references, best, orders };
}
