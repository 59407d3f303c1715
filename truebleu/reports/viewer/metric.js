// Metric with parameters: name, signature, scores from counts, and the steps of the calculation.
import {COUNT_PARAMETERS, getMissingOrder, buildRecipe, getSmoothingValue} from "./kernel_client.js";

/** @typedef {import("./report_data.js").Setting} Setting */
/** @typedef {import("./kernel_client.js").KernelClient} Live */
/** @typedef {import("./count_table.js").CountTable} Table */
/**
 * @typedef {object} Step  One order in the calculation of a score.
 * @property {string} order
 * @property {number} match  @property {number} total  @property {number} [reference]
 * @property {number} numerator  @property {number} denominator
 * @property {number | null} precision  as a percentage; null if it counts as 1
 * @property {string} note  how it was smoothed; "" without smoothing
 * @property {boolean} isUsed  whether the mean includes the order
 * @property {number} [recall]  @property {number} [f]  of chrF, as a percentage
 */
/**
 * @typedef {object} ScoreSteps  Steps of the calculation of a score.
 * @property {Step[]} steps
 * @property {number} value
 * @property {number} brevity  @property {number} mean  @property {number} hypothesis  @property {number} reference
 * @property {number[]} [editCounts]  for error rates: hits, substitutions, deletions and insertions
 * @property {number[]} [shares]  for chrF: mean precision and recall over the used orders, as a percentage
 */

/** Mean lengths in tokens are multiplied by this number and stored as integers. */
const PARTS_PER_TOKEN = 720720;

/** Metric of a setting, optionally with changed parameters. */
export class Metric {
  /** @param {Setting} setting @param {Record<string, any>} changes changed parameters @param {Live} client */
  constructor(setting, changes, client) {
    const defaults = setting.parameters, changedParameters = Object.fromEntries(Object.entries(changes).filter(([key, value]) => key in defaults && value !== undefined && JSON.stringify(value) !== JSON.stringify(defaults[key])));
    if ("smoothing" in changedParameters && !("smoothing_value" in changes)) changedParameters.smoothing_value = null;
    const parameters = this.parameters = { ...defaults, ...changedParameters };
    this.client = client;
    this.kind = setting.metric;
    /** Whether the parameters equal the report's parameters. */
    this.isReported = Object.keys(changedParameters).every(key => JSON.stringify(parameters[key]) === JSON.stringify(defaults[key]));
    /** Whether higher scores are better. */
    this.higherIsBetter = setting.higher_is_better;
    /** Whether the corpus score is the mean of the segment scores. */
    this.usesSegmentMean = parameters.aggregate === "segments";
    this.name = this.kind === "chrF" ? `chrF${formatBeta(parameters)}${"+".repeat(parameters.word_order)}` : setting.name;
    this.signature = this.isReported ? setting.signature : buildSignature(setting, parameters);
    this.recipe = buildRecipe(setting, parameters);
  }

  get handle() { return this.client.getMetric(this.recipe); }

  /** Return the score of each segment. @param {Table} table */
  scoreSegments(table) { return this.client.kernel.scoreSegments(this.handle, table.handle); }

  /** Return the corpus score of some or all segments. @param {Table} table @param {ArrayLike<number> | null} [segments] */
  scoreCorpus(table, segments) { return this.client.kernel.scoreCorpus(this.handle, table.handle, segments); }

  /** Return the corpus scores with each segment left out in turn. @param {Table} table */
  scoreWithoutEach(table) { return this.client.kernel.scoreWithoutEach(this.handle, table.handle); }

  /** Return the steps of the calculation of a row's score. @param {ArrayLike<number>} row @param {boolean} segment whether to compute a sentence-level score @returns {ScoreSteps} */
  breakDown(row, segment) {
    const { kernel } = this.client, { handle, parameters: p, kind } = this, table = kernel.addTableFromNumbers(row);
    try {
      const value = segment ? kernel.scoreSegments(handle, table)[0] : kernel.scoreCorpus(handle, table);
      if (kind === "TER") return { steps: [], value, brevity: 1, mean: value, hypothesis: row[0], reference: row[1] / PARTS_PER_TOKEN };
      if (countsEdits(kind)) { const [hits, replaced, deleted, inserted] = Array.from(row); return { steps: [], value, brevity: 1, mean: value, hypothesis: hits + replaced + inserted, reference: hits + replaced + deleted, editCounts: [hits, replaced, deleted, inserted] }; }
      if (kind === "chrF") return { ...this.breakDownChrf(row), value, brevity: 1, mean: value, hypothesis: row[0], reference: row[1] };
      const { brevity, mean, isZero: hopeless, steps } = kernel.getBleuSteps(handle, table, !segment), orders = (row.length - 2) / 2;
      return { value, brevity, mean, hypothesis: row[0], reference: p.reference_length === "average" ? row[1] / PARTS_PER_TOKEN : row[1],
        steps: Array.from({ length: orders }, (_, n) => {
          const match = row[2 + n], total = row[2 + orders + n], step = steps[n], order = String(n + 1);
          if (!step) return { order, match, total, numerator: match, denominator: total, precision: 0, note: "too short for this order: skipped", isUsed: false };
          const { numerator, denominator, precision, smoothed } = step, note = hopeless ? "" : Number.isNaN(smoothed) ? (total ? "" : "no n-gram of this order") : /^add/.test(p.smoothing) ? `${smoothed} added to matches and total` : `no match: counted as ${p.smoothing === "exp" ? `1/${1 / smoothed}` : smoothed}`;
          return { order, match, total, numerator, denominator, precision: hopeless ? 0 : Number.isNaN(precision) ? null : precision, note, isUsed: true };
        }) };
    } finally { kernel.release(table); }
  }

  /** Return chrF's precision, recall and F of each order. @param {ArrayLike<number>} row */
  breakDownChrf(row) {
    const { client: client, parameters: p } = this, orders = row.length / 3, table = client.kernel.addTableFromNumbers(row, 3);
    const orderMetric = client.getMetric({ ...this.recipe, char_order: 1, word_order: 0, eps_smoothing: false }), f = client.kernel.scoreSegments(orderMetric, table);
    client.kernel.release(table);
    const steps = Array.from({ length: orders }, (_, n) => {
      const [total, reference, match] = [row[3 * n], row[3 * n + 1], row[3 * n + 2]], isUsed = p.eps_smoothing || (total > 0 && reference > 0);
      return { order: n < p.char_order ? `c${n + 1}` : `w${n + 1 - p.char_order}`, match, total, reference, numerator: match, denominator: total, precision: total ? 100 * match / total : 0,
        recall: reference ? 100 * match / reference : 0, f: f[n], isUsed, note: isUsed ? "" : "too short for this order: skipped" };
    });
    const usedSteps = steps.filter(step => step.isUsed), mean = (/** @type {"precision" | "recall"} */ share) => usedSteps.reduce((sum, step) => sum + step[share], 0) / (usedSteps.length || 1);
    return { steps, shares: [mean("precision"), mean("recall")] };
  }
}

/** Return whether a metric counts edits instead of n-grams. @param {string} kind */
export const countsEdits = kind => kind !== "BLEU" && kind !== "chrF";

/** Format a number to two decimals as Python does, rounding half to even. @param {number} x at least 0 */
export const formatTwoDecimals = x => (x * 8 % 4 === 1 ? x - 0.001 : x).toFixed(2);

/** Format a float as Python does. @param {number} x */
export function formatFloat(x) {
  const size = Math.abs(x);
  if (size && (size < 1e-4 || size >= 1e16)) return x.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
  return Number.isInteger(x) ? `${Object.is(x, -0) ? "-0" : x}.0` : String(x);
}

/** @param {Record<string, any>} p */
const formatBeta = p => Number.isInteger(p.beta) ? String(p.beta) : formatFloat(p.beta);

/** Set the signature fields of parameters that affect the counts. @param {Map<string, string>} fields @param {Record<string, any>} p @param {Record<string, any>} defaults */
function setCountFields(fields, p, defaults) {
  /** @type {Record<string, [string, (value: any) => string]>} */
  const formatters = { tokenize: ["tok", String], lowercase: ["case", on => on ? "lc" : "mixed"], case_sensitive: ["case", on => on ? "mixed" : "lc"], whitespace: ["space", on => on ? "yes" : "no"],
    normalized: ["norm", on => on ? "yes" : "no"], no_punct: ["punct", on => on ? "no" : "yes"], asian_support: ["asian", on => on ? "yes" : "no"] };
  for (const key of Object.keys(COUNT_PARAMETERS)) if (key in defaults && p[key] !== defaults[key]) fields.set(formatters[key][0], formatters[key][1](p[key]));
}

/** @param {Setting} setting @param {Record<string, any>} p */
function buildSignature(setting, p) {
  const fields = new Map(setting.signature.split("|").map(part => /** @type {[string, string]} */ (part.split(/:(.*)/s).slice(0, 2))));
  const otherFields = [...fields].filter(([key]) => !["nrefs", "case", "eff", "tok", "smooth", "order", "weights", "value"].includes(key));
  setCountFields(fields, p, setting.parameters);
  if (countsEdits(setting.metric)) return [...fields].map(([key, value]) => `${key}:${value}`).join("|");
  if (setting.metric === "chrF") {
    fields.set("eff", p.eps_smoothing ? "no" : "yes");
    fields.set("nc", String(p.char_order));
    fields.set("nw", String(p.word_order));
    fields.delete("beta");
    return [...fields].flatMap(([key, value]) => [`${key}:${value}`, ...(key === "space" && p.beta !== 2 ? [`beta:${formatBeta(p)}`] : [])]).join("|");
  }
  const value = getSmoothingValue(p);
  const drop = getMissingOrder(p, p.aggregate === "segments") === "drop";
  /** @type {[string, string | null | undefined][]} */
  const parts = [["nrefs", fields.get("nrefs")], ["case", fields.get("case")], ["eff", drop ? "yes" : "no"], ["tok", fields.get("tok")],
    ["smooth", p.smoothing + (value === null ? "" : `[${formatTwoDecimals(value)}]`)], ["order", p.max_order === 4 ? null : String(p.max_order)],
    ["weights", p.weights ? p.weights.map(formatFloat).join(",") : null], ["value", value !== null && Number(formatTwoDecimals(value)) !== value ? formatFloat(value) : null], ...otherFields];
  return parts.filter(([, value]) => value !== null && value !== undefined).map(([key, value]) => `${key}:${value}`).join("|");
}
