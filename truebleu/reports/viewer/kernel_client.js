// Client of the browser kernel: builds metric settings and caches the kernel's objects.
import {Kernel} from "./kernel.js";
import {CountTable} from "./count_table.js";

/** @typedef {import("./report_data.js").Setting} Setting */
/** @typedef {import("./kernel.js").Recipe} Recipe */

/** Tokenizers that need no data files. */
export const TOKENIZERS = ["13a", "intl", "zh", "char", "none", "jiwer"];
/** Parameters whose changes require new counts, with their allowed values. @type {Record<string, string[]>} */
export const COUNT_PARAMETERS = { tokenize: TOKENIZERS, lowercase: ["yes", "no"], whitespace: ["yes", "no"], normalized: ["yes", "no"], no_punct: ["yes", "no"], asian_support: ["yes", "no"], case_sensitive: ["yes", "no"] };
/** Default smoothing value of each method; null if the method takes no value. @type {Record<string, number | null>} */
export const DEFAULT_SMOOTHING_VALUES = { "exp": null, "floor": 0.1, "add-k": 1, "none": null, "add-k-all": 1, "add-k-tiny": 1, "epsilon": null, "tiny": null };

/** @param {Record<string, any>} p @returns {number | null} */
export const getSmoothingValue = p => p.smoothing_value ?? DEFAULT_SMOOTHING_VALUES[p.smoothing] ?? null;

/** Return how orders without n-grams are treated: "drop", "zero" or "at-least-one". @param {Record<string, any>} p @param {boolean} segment @returns {string} */
export const getMissingOrder = (p, segment) => p.missing_order ?? ((p.effective_order ?? segment) ? "drop" : "zero");

/** Build the kernel's metric settings from a setting with changed parameters. @param {Setting} setting @param {Record<string, any>} p @returns {Recipe} */
export function buildRecipe(setting, p) {
  const defaults = setting.parameters, { recipe } = setting, lowercase = p.lowercase === defaults.lowercase ? recipe.lowercase : p.lowercase ? "python" : "no";
  const tokenizer = p.tokenize === defaults.tokenize ? recipe.tokenizer : p.tokenize;
  if (setting.metric === "BLEU") return { ...recipe, tokenizer, lowercase, max_order: p.max_order, smoothing: p.smoothing, smoothing_value: getSmoothingValue(p) ?? 0, weights: p.weights, missing: /** @type {any} */ ([getMissingOrder(p, true), getMissingOrder(p, false)]) };
  if (setting.metric === "chrF") return { ...recipe, lowercase, char_order: p.char_order, word_order: p.word_order, whitespace: p.whitespace, eps_smoothing: p.eps_smoothing, factor: p.beta ** 2, factor_and_one: 1 + p.beta ** 2 };
  if (setting.metric === "TER") return { ...recipe, normalized: p.normalized, no_punct: p.no_punct, asian_support: p.asian_support, case_sensitive: p.case_sensitive };
  return { ...recipe, tokenizer, lowercase };
}

/** Return a key of the metric settings that affect the counts. @param {Recipe} recipe @param {number} references */
export function getCountsKey(recipe, references) {
  const { metric, tokenizer, lowercase } = recipe;
  if (metric === "bleu") return JSON.stringify([metric, tokenizer, lowercase, recipe.max_order, recipe.reference_lengths, /** @type {any} */ (recipe.missing)[0] === "at-least-one"]);
  // chrF uses the reference with the best score, which depends on these parameters.
  if (metric === "chrf") return JSON.stringify([metric, lowercase, recipe.whitespace, recipe.char_order, recipe.word_order, references > 1 ? [recipe.factor, recipe.eps_smoothing] : []]);
  return JSON.stringify(recipe);
}

/** Return the names of a table's columns, as in Python. @param {Setting} setting @param {Record<string, any>} p @returns {string[]} */
export function getColumnNames({ metric, columns }, p) {
  const orders = (/** @type {number} */ n, /** @type {string} */ prefix) => Array.from({ length: n }, (_, i) => `${prefix}${i + 1}`);
  if (metric === "BLEU") return [...columns.slice(0, 2), ...orders(p.max_order, "matches_"), ...orders(p.max_order, "totals_")];
  if (metric === "chrF") return [...orders(p.char_order, "c"), ...orders(p.word_order, "w")].flatMap(order => [`hypothesis_${order}`, `reference_${order}`, `matches_${order}`]);
  return columns;
}

/** Kernel with its cached metrics and texts. */
export class KernelClient {
  /** @param {Kernel} kernel @param {Uint8Array} binary of the kernel, for workers @param {Uint8Array} lowercase mapping */
  constructor(kernel, binary, lowercase) {
    this.kernel = kernel;
    this.binary = binary;
    this.lowercase = lowercase;
    /** @type {Map<string, number>} */
    this.metrics = new Map();
    /** @type {Map<string, number>} Columns of texts, by role. */
    this.texts = new Map();
  }

  /** Start a kernel. @param {Uint8Array} binary @param {Uint8Array} lowercase */
  static async start(binary, lowercase) {
    const kernel = await Kernel.load(/** @type {BufferSource} */ (binary));
    kernel.setLowercase(lowercase);
    return new KernelClient(kernel, binary, lowercase);
  }

  /** Release all texts. */
  forgetTexts() {
    for (const handle of this.texts.values()) this.kernel.release(handle);
    this.texts.clear();
  }

  /** @param {Recipe} recipe @returns {number} */
  getMetric(recipe) {
    const key = JSON.stringify(recipe);
    let handle = this.metrics.get(key);
    if (!handle) this.metrics.set(key, handle = this.kernel.addMetric(recipe));
    return handle;
  }

  /**
   * Count a system's texts in slices.
   * @param {Recipe} recipe @param {string[]} names of the columns @param {string} system role @param {number} n segments
   * @param {(share: number) => Promise<boolean>} [onProgress] called regularly with the progress; returns whether to continue
   * @param {string[]} [references] roles
   * @returns {Promise<CountTable | null>} null if cancelled
   */
  async countSystem(recipe, names, system, n, onProgress = async () => true, references = [...this.texts.keys()].filter(role => role.startsWith("reference"))) {
    const { kernel } = this, metric = this.getMetric(recipe), columns = [system, ...references].map(role => /** @type {number} */ (this.texts.get(role)));
    let table = 0, last = performance.now(), slice = FIRST_SLICE;
    try {
      for (let from = 0, next = 0; from < n; from = next) {
        const start = performance.now();
        next = Math.min(n, from + slice);
        table = kernel.countSegments(metric, table, columns, from, next);
        // Calls have a fixed cost, so enlarge the slice while calls are short.
        if (performance.now() - start < MAX_BLOCKING_MS / 3) slice *= 2;
        if (performance.now() - last < MAX_BLOCKING_MS) continue;
        if (!await onProgress(next / n)) return null;
        last = performance.now();
      }
      const result = new CountTable(kernel, table, names, n);
      table = 0;
      return result;
    } finally { if (table) kernel.release(table); }
  }
}

/** Initial number of segments per call, and milliseconds before yielding to the page. */
const FIRST_SLICE = 500, MAX_BLOCKING_MS = 30;
