// Scores of single sentences in the playground, with tokens, n-gram counts and the steps of the calculation.
import {getColumnNames, getMissingOrder, buildRecipe} from "./kernel_client.js";
import {Metric} from "./metric.js";
import {toNumbers, packTexts} from "./kernel.js";
import {clipNgrams, numberNgrams} from "./tokens.js";
import {splitIntoUnits} from "./text_units.js";

/** @typedef {import("./report_data.js").Setting} Setting */
/** @typedef {import("./kernel_client.js").KernelClient} Live */
/** @typedef {import("./tokens.js").CountedNgram} Gram */
/** @typedef {{name: string, size: number, unit: "characters" | "tokens", grams: Gram[], ngramsByNumber: Map<number, Gram>, numbers: Int32Array[]}} NgramOrder  `numbers`: ids of the n-grams at each position of the hypothesis and of each reference; `ngramsByNumber`: n-grams by id */
/**
 * @typedef {object} SentenceScore
 * @property {Setting} setting  with the requested parameters
 * @property {number[]} row     counts of the kernel
 * @property {number} value     score of the kernel
 * @property {import("./metric.js").ScoreSteps} breakdown  steps of the calculation
 * @property {{tokens: string[], characters: string[]}} hypothesis
 * @property {{tokens: string[], characters: string[]}[]} references
 * @property {number} best      the reference that chrF uses; -1 if all references count
 * @property {NgramOrder[]} orders
 */

/** Return whether a metric uses only the best reference. @param {string} kind */
const takesBest = kind => kind === "chrF";

/**
 * Return a setting with changed parameters, name and signature.
 * @param {Live} client @param {Setting} base @param {Record<string, any>} overrides @param {number | string} references number of references, or "var" @param {boolean} segment whether it is for sentence-level scores
 * @returns {Setting}
 */
export function resolveSetting(client, base, overrides, references, segment) {
  const parameters = { ...base.parameters, ...overrides };
  const recipe = buildRecipe(base, parameters);
  const countedSetting = { ...base, signature: base.signature.replace(/^nrefs:[^|]*/, `nrefs:${references}`) };
  // Without an explicit value, the effective order depends on the level of the score.
  const resolved = new Metric(countedSetting, base.metric === "BLEU" ? { ...overrides, effective_order: getMissingOrder(parameters, segment) === "drop" } : overrides, client);
  return { ...countedSetting, name: resolved.name, signature: resolved.signature, parameters, recipe, columns: getColumnNames(base, parameters) };
}

/** Count and score one segment. @param {Live} client @param {Setting} setting @param {string} hypothesis @param {string[]} references */
function countSentence(client, setting, hypothesis, references) {
  const { kernel } = client, metric = client.getMetric(/** @type {any} */ (setting.recipe)), handles = [];
  try {
    for (const text of [hypothesis, ...references]) handles.push(kernel.addTexts(packTexts([text]), 1));
    const columns = handles.slice(), table = kernel.countSegments(metric, 0, columns, 0, 1);
    handles.push(table);
    return { row: toNumbers(kernel.getRows(table).bytes), value: kernel.scoreSegments(metric, table)[0] };
  } finally { for (const handle of handles) kernel.release(handle); }
}

/** Score one segment and return the details. @param {Live} client @param {Setting} setting @param {string} hypothesisText @param {string[]} referenceTexts @returns {SentenceScore} */
export function scoreSentence(client, setting, hypothesisText, referenceTexts) {
  const { row, value } = countSentence(client, setting, hypothesisText, referenceTexts), { metric, parameters: p } = setting;
  const hypothesis = splitIntoUnits(client, setting, hypothesisText, false), references = referenceTexts.map(other => splitIntoUnits(client, setting, other, true));
  let best = -1;
  if (takesBest(metric)) {
    const singleScores = referenceTexts.map(other => countSentence(client, setting, hypothesisText, [other]).value);
    best = singleScores.indexOf(Math.max(...singleScores));
  }
  const buildOrders = (/** @type {number} */ n, /** @type {"tokens" | "characters"} */ unit, /** @type {string} */ name) => numberNgrams([hypothesis, ...references].map(textUnits => textUnits[unit]), n).map((numbers, i) => {
    const ngramsByNumber = clipNgrams(hypothesis[unit], best < 0 ? numbers : [numbers[0], numbers[1 + best]], i + 1);
    return { name: `${name}${i + 1}`, size: i + 1, unit, numbers, ngramsByNumber, grams: [...ngramsByNumber.values()] };
  });
  const orders = metric === "BLEU" ? buildOrders(p.max_order, "tokens", "") : metric === "chrF" ? [...buildOrders(p.char_order, "characters", "c"), ...buildOrders(p.word_order, "tokens", "w")] : [];
  return { setting, row, value, breakdown: new Metric(setting, {}, client).breakDown(row, true), hypothesis, references, best, orders };
}
