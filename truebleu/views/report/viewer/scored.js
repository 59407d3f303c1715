// Sentences through the kernel: the score, the parts that it is made of, tokens, and n-grams with their counts.
import {columnNames, missing, recipeOf} from "./live.js";
import {Metric} from "./metric.js";
import {numbersOf, packedTexts} from "./kernel.js";
import {BLANK} from "./tokens.js";

/** @typedef {import("./data.js").Setting} Setting */
/** @typedef {import("./live.js").Live} Live */
/** @typedef {{gram: string[], at: number[], hypothesis: number, references: number[], counted: number}} Gram  an n-gram of the hypothesis: where its counted occurrences begin, and how often it is there, in each reference, and counted */
/** @typedef {{name: string, size: number, of: "characters" | "tokens", grams: Gram[], known: Map<number, Gram>, numbers: Int32Array[]}} Order  `numbers`: of the n-grams at each place of the hypothesis and of each reference; `known`: by their numbers */
/**
 * @typedef {object} Scored
 * @property {Setting} setting  with the parameters that were asked for
 * @property {number[]} row     what the kernel counted
 * @property {number} value     the kernel's score
 * @property {import("./metric.js").Walk} walk  the steps to it
 * @property {number | null} brevity  @property {number | null} mean  BLEU's, from the kernel's formula
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

/**
 * By order, the number of the n-gram at each place of each text: what is equal has equal numbers.
 * @param {string[][]} texts @param {number} orders @returns {Int32Array[][]}
 */
function gramNumbers(texts, orders) {
  const numbered = (/** @type {Map<any, number>} */ known, /** @type {any} */ key) => { let number = known.get(key); if (number === undefined) known.set(key, number = known.size); return number; };
  const units = new Map(), first = texts.map(text => Int32Array.from(text, unit => numbered(units, unit))), all = [first];
  for (let size = 2; size <= orders; size++) {
    // One unit behind a shorter n-gram.
    const known = new Map(), shorter = all[size - 2];
    all.push(shorter.map((numbers, t) => Int32Array.from({ length: Math.max(0, numbers.length - 1) }, (_, at) => numbered(known, numbers[at] * units.size + first[t][at + size - 1]))));
  }
  return all;
}

/**
 * The n-grams of the hypothesis by their numbers, in the order of the text.
 * @param {string[]} ours @param {Int32Array[]} numbers of the hypothesis, then of the references that count @param {number} size @returns {Map<number, Gram>}
 */
function gramCounts(ours, [own, ...others], size) {
  /** @type {Map<number, Gram>} */
  const found = new Map();
  own.forEach((number, at) => {
    const known = found.get(number);
    if (known) { known.hypothesis++; known.at.push(at); } else found.set(number, { gram: ours.slice(at, at + size), at: [at], hypothesis: 1, references: others.map(() => 0), counted: 0 });
  });
  others.forEach((numbers, r) => { for (const number of numbers) { const known = found.get(number); if (known) known.references[r]++; } });
  for (const gram of found.values()) {
    gram.counted = Math.min(gram.hypothesis, Math.max(0, ...gram.references));
    gram.at.length = gram.counted;
  }
  return found;
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
  const range = (/** @type {number} */ n, /** @type {"tokens" | "characters"} */ of, /** @type {string} */ name) => gramNumbers([hypothesis, ...references].map(side => side[of]), n).slice(0, n).map((numbers, i) => {
    const known = gramCounts(hypothesis[of], best < 0 ? numbers : [numbers[0], numbers[1 + best]], i + 1);
    return { name: `${name}${i + 1}`, size: i + 1, of, numbers, known, grams: [...known.values()] };
  });
  const orders = metric === "BLEU" ? range(p.max_order, "tokens", "") : metric === "chrF" ? [...range(p.char_order, "characters", "c"), ...range(p.word_order, "tokens", "w")] : [];
  const walk = new Metric(setting, {}, live).walk(row, true);
  return { setting, row, value, walk, ...(metric === "BLEU" ? { mean: walk.mean, brevity: walk.brevity } : { mean: null, brevity: null }), hypothesis, references, best, orders };
}
