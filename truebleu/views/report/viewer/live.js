// Metrics by the kernel in the page: with other parameters than a file has counts of, and with Python's bits.

/** @typedef {import("./data.js").Setting} Setting */
/** @typedef {import("./data.js").Table} Table */
/** @typedef {import("./kernel.js").Kernel} Kernel */
/** @typedef {{corpus: (row: ArrayLike<number>) => number, segments: (table: Table) => Float64Array, without: (table: Table) => Float64Array, handle: number}} Scorer */

/** Tokenizers that need no data of their own. */
export const TOKENIZERS = ["13a", "intl", "zh", "char", "none", "jiwer"];
/** Parameters that change what is counted, and the values that each may have. @type {Record<string, string[]>} */
export const COUNTED = { tokenize: TOKENIZERS, lowercase: ["yes", "no"], whitespace: ["yes", "no"], normalized: ["yes", "no"], no_punct: ["yes", "no"], asian_support: ["yes", "no"], case_sensitive: ["yes", "no"] };

/** Smoothing that the kernel has. */
const SMOOTHED = ["none", "exp", "floor", "add-k"];

/** What the kernel is asked for by a setting with other parameters; null for what it has not. @param {Setting} setting @param {Record<string, any>} p @param {(p: Record<string, any>, segment: boolean) => string} missing @param {number | null} value of smoothing @returns {import("./kernel.js").Recipe | null} */
export function recipeOf(setting, p, missing, value) {
  const own = setting.parameters, recipe = /** @type {import("./kernel.js").Recipe} */ (setting.recipe), lowercase = p.lowercase === own.lowercase ? recipe.lowercase : p.lowercase ? "python" : "no";
  // A tokenizer with data splits nothing here; the formula does not ask for it.
  const tokenizer = p.tokenize === own.tokenize ? TOKENIZERS.includes(String(recipe.tokenizer)) || recipe.tokenizer === "whole" ? recipe.tokenizer : "none" : p.tokenize;
  if (setting.metric === "BLEU") return !SMOOTHED.includes(p.smoothing) ? null : { ...recipe, tokenizer, lowercase, max_order: p.max_order, smoothing: p.smoothing, smoothing_value: value ?? 0, weights: p.weights, effective_order: [missing(p, true) === "drop", missing(p, false) === "drop"] };
  if (setting.metric === "chrF") return { ...recipe, lowercase, char_order: p.char_order, word_order: p.word_order, whitespace: p.whitespace, factor: p.beta ** 2, factor_and_one: 1 + p.beta ** 2 };
  if (setting.metric === "TER") return { ...recipe, normalized: p.normalized, no_punct: p.no_punct, asian_support: p.asian_support, case_sensitive: p.case_sensitive };
  return { ...recipe, tokenizer, lowercase };
}

/** The kernel, with what it has made. */
export class Live {
  /** @param {Kernel} kernel */
  constructor(kernel) {
    this.kernel = kernel;
    /** @type {Map<string, number>} */
    this.metrics = new Map();
    /** @type {WeakMap<Table, Map<string, number>>} */
    this.tables = new WeakMap();
    /** @type {Map<string, number>} Columns of texts, by role. */
    this.texts = new Map();
    this.registry = new FinalizationRegistry((/** @type {Map<string, number>} */ handles) => { for (const handle of handles.values()) kernel.forget(handle); });
  }

  /** @param {import("./kernel.js").Recipe} recipe @returns {number} */
  metric(recipe) {
    const key = JSON.stringify(recipe);
    let handle = this.metrics.get(key);
    if (!handle) this.metrics.set(key, handle = this.kernel.metric(recipe));
    return handle;
  }

  /** The scores of a metric, whose rows are some of the columns of its tables. @param {import("./kernel.js").Recipe} recipe @param {number[]} at these columns @returns {Scorer} */
  scorer(recipe, at) {
    const { kernel } = this, handle = this.metric(recipe), width = at.length, key = at.join();
    const held = (/** @type {Table} */ table) => {
      let known = this.tables.get(table);
      if (!known) { this.tables.set(table, known = new Map()); this.registry.register(table, known); }
      let own = known.get(key);
      if (!own) {
        const rows = new Float64Array(table.length * width);
        at.forEach((column, k) => { const values = table.columns[column]; for (let i = 0; i < values.length; i++) rows[i * width + k] = values[i]; });
        known.set(key, own = kernel.table(rows, width));
      }
      return own;
    };
    return {
      handle,
      corpus: row => {
        const own = kernel.table(Float64Array.from(at, column => row[column]), width);
        try { return kernel.scores(handle, own, true)[0]; } finally { kernel.forget(own); }
      },
      segments: table => kernel.scores(handle, held(table), false),
      without: table => kernel.without(handle, held(table)),
    };
  }

  /**
   * The columns of a system's table, counted from its texts some at a time.
   * @param {import("./kernel.js").Recipe} recipe @param {string} system role @param {string[]} references roles @param {number} n segments
   * @param {(share: number) => Promise<boolean>} going told how much is done; whether to go on
   * @returns {Promise<Float64Array[] | null>} null if it was not to go on
   */
  async count(recipe, system, references, n, going) {
    const { kernel } = this, metric = this.metric(recipe), columns = [system, ...references].map(role => /** @type {number} */ (this.texts.get(role)));
    let table = 0;
    try {
      for (let from = 0; from < n; from += SLICE) {
        table = kernel.count(metric, table, columns, from, Math.min(n, from + SLICE));
        if (!await going(Math.min(n, from + SLICE) / n)) return null;
      }
      return kernel.columns(table);
    } finally { if (table) kernel.forget(table); }
  }
}

/** So many segments take a few milliseconds: the page stays quick. */
const SLICE = 1000;
