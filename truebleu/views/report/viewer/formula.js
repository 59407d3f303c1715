// From counts to scores: by the kernel, or without it operation by operation as truebleu/metrics/bleu_formula.py has it.
import {COUNTED, recipeOf} from "./live.js";

/** @typedef {import("./data.js").Setting} Setting */
/** @typedef {import("./data.js").Table} Table */
/** @typedef {(row: ArrayLike<number>) => number} Rate  the score of a row, 0-100 */
/**
 * @typedef {object} Metric  A setting, perhaps with other parameters than it was reported with.
 * @property {"BLEU" | "chrF" | "TER" | "WER" | "MER" | "WIL" | "WIP" | "CER"} kind
 * @property {string} name
 * @property {Record<string, any>} parameters
 * @property {string} signature
 * @property {boolean} reported  whether nothing was changed
 * @property {boolean} higher    whether more is better
 * @property {boolean} mean      whether the corpus score is the mean of the segments'
 * @property {Rate} corpus       of a row of sums
 * @property {Rate} segment      of the row of one segment
 * @property {import("./live.js").Scorer | null} by  the kernel's scores
 */
/**
 * @typedef {object} Step  One order on the way to a score.
 * @property {string} order
 * @property {number} match  @property {number} total  @property {number} [reference]
 * @property {number} numerator  @property {number} denominator
 * @property {number | null} precision  in per cent; null if it counts as 1
 * @property {string} note  how smoothing made it; "" if it is a plain share
 * @property {boolean} counts  whether it is in the mean
 * @property {number} [recall]
 */
/**
 * @typedef {object} Walk  The steps to a score.
 * @property {Step[]} steps
 * @property {number} value
 * @property {number} brevity  @property {number} mean  @property {number} hypothesis  @property {number} reference
 * @property {number[]} [counts]  of error rates: hits, substitutions, deletions and insertions
 */

const PARTS = 720720, TINY = 1e-15, SMALL = 1e-9, LEAST = 2.2250738585072014e-308, LOG_OF_ZERO = -9999999999, EPSILON = 1e-16;

/** The value that a smoothing method takes if none is given. @type {Record<string, number | null>} */
export const SMOOTHING = { "exp": null, "floor": 0.1, "add-k": 1, "none": null, "add-k-all": 1, "add-k-tiny": 1, "epsilon": null, "tiny": null };

/**
 * The metric of a setting, with the parameters that `changes` names in the place of its own. For BLEU
 * these may be smoothing, smoothing_value, max_order, weights and effective_order; for chrF with one
 * reference char_order, word_order and beta, which need nothing but the table; and what is counted, of
 * a table that was counted so.
 * @param {Setting} setting @param {Record<string, any>} [changes] @param {import("./live.js").Live | null} [live] @returns {Metric}
 */
export function metricOf(setting, changes = {}, live = null) {
  const own = setting.parameters;
  const known = Object.fromEntries(Object.entries(changes).filter(([key, value]) => key in own && value !== undefined && JSON.stringify(value) !== JSON.stringify(own[key])));
  if ("smoothing" in known && !("smoothing_value" in changes)) known.smoothing_value = null;
  const parameters = { ...own, ...known };
  const reported = Object.keys(known).every(key => JSON.stringify(parameters[key]) === JSON.stringify(own[key]));
  const kind = setting.metric;
  const rate = kind === "TER" ? ter : RATES[kind];
  const [corpus, segment] = rate ? [rate, rate] : kind === "chrF" ? [chrf(parameters, own), chrf(parameters, own)]
    : [new Bleu(parameters, own.max_order, false).rate, new Bleu(parameters, own.max_order, true).rate];
  const recipe = live && setting.recipe ? recipeOf(setting, parameters, missing, smoothingValue(parameters)) : null;
  const by = live && recipe ? live.scorer(recipe, columnsOf(setting, parameters)) : null;
  return { kind, parameters, reported, by, corpus: by?.corpus ?? corpus, segment, higher: setting.higher_is_better, mean: parameters.aggregate === "segments",
    name: kind === "chrF" ? `chrF${parameters.beta}${"+".repeat(parameters.word_order)}` : setting.name,
    signature: reported ? setting.signature : signatureOf(setting, parameters) };
}

/** The columns of a setting's tables that are a row of it with these parameters: fewer orders have fewer. @param {Setting} setting @param {Record<string, any>} p @returns {number[]} */
function columnsOf(setting, p) {
  const own = setting.parameters, range = (/** @type {number} */ first, /** @type {number} */ n) => Array.from({ length: n }, (_, i) => first + i);
  if (setting.metric === "BLEU") return [...range(0, 2 + Math.min(p.max_order, own.max_order)), ...range(2 + own.max_order, Math.min(p.max_order, own.max_order))];
  if (setting.metric === "chrF") return [...range(0, 3 * p.char_order), ...range(3 * own.char_order, 3 * p.word_order)];
  return range(0, setting.columns.length);
}

/** The words of signatures for what is counted. @param {Map<string, string>} fields @param {Record<string, any>} p @param {Record<string, any>} own */
function sayCounted(fields, p, own) {
  /** @type {Record<string, [string, (value: any) => string]>} */
  const said = { tokenize: ["tok", String], lowercase: ["case", on => on ? "lc" : "mixed"], case_sensitive: ["case", on => on ? "mixed" : "lc"], whitespace: ["space", on => on ? "yes" : "no"],
    normalized: ["norm", on => on ? "yes" : "no"], no_punct: ["punct", on => on ? "no" : "yes"], asian_support: ["asian", on => on ? "yes" : "no"] };
  for (const key of Object.keys(COUNTED)) if (key in own && p[key] !== own[key]) fields.set(said[key][0], said[key][1](p[key]));
}

/** @param {Setting} setting @param {Record<string, any>} p */
function signatureOf(setting, p) {
  const fields = new Map(setting.signature.split("|").map(part => /** @type {[string, string]} */ (part.split(/:(.*)/s).slice(0, 2))));
  const rest = [...fields].filter(([key]) => !["nrefs", "case", "eff", "tok", "smooth", "order", "weights", "value"].includes(key));
  const python = (/** @type {number} */ x) => Number.isInteger(x) ? `${x}.0` : String(x);
  sayCounted(fields, p, setting.parameters);
  if (countsEdits(setting.metric)) return [...fields].map(([key, value]) => `${key}:${value}`).join("|");
  if (setting.metric === "chrF") {
    fields.set("nc", String(p.char_order));
    fields.set("nw", String(p.word_order));
    fields.delete("beta");
    return [...fields].flatMap(([key, value]) => [`${key}:${value}`, ...(key === "space" && p.beta !== 2 ? [`beta:${p.beta}`] : [])]).join("|");
  }
  const value = smoothingValue(p);
  const drop = missing(p, p.aggregate === "segments") === "drop";
  /** @type {[string, string | null | undefined][]} */
  const all = [["nrefs", fields.get("nrefs")], ["case", fields.get("case")], ["eff", drop ? "yes" : "no"], ["tok", fields.get("tok")],
    ["smooth", p.smoothing + (value === null ? "" : `[${value.toFixed(2)}]`)], ["order", p.max_order === 4 ? null : String(p.max_order)],
    ["weights", p.weights ? p.weights.map(python).join(",") : null], ["value", value !== null && Number(value.toFixed(2)) !== value ? python(value) : null], ...rest];
  return all.filter(([, value]) => value !== null && value !== undefined).map(([key, value]) => `${key}:${value}`).join("|");
}

/** @param {Record<string, any>} p @returns {number | null} */
export const smoothingValue = p => p.smoothing_value ?? SMOOTHING[p.smoothing] ?? null;

/** @param {Record<string, any>} p @param {boolean} segment */
export const missing = (p, segment) => p.missing_order ?? ((p.effective_order ?? segment) ? "drop" : "zero");

/** BLEU with its parameters, for corpora or for segments. */
class Bleu {
  /** @param {Record<string, any>} p @param {number} embedded how many orders a row has @param {boolean} segment */
  constructor(p, embedded, segment) {
    this.orders = Math.min(p.max_order, embedded);
    this.totals = 2 + embedded;
    this.arithmetic = p.arithmetic ?? "sacrebleu";
    this.smoothing = p.smoothing;
    this.value = smoothingValue(p) ?? 0;
    this.missing = missing(p, segment || p.aggregate === "segments");
    this.noMatch = p.no_match ?? "zero";
    this.penalty = p.brevity_penalty ?? "standard";
    this.empty = p.empty_brevity ?? 0;
    /** @type {number[] | null} */
    this.weights = p.weights ?? null;
    this.parts = p.reference_length === "average" ? PARTS : 1;
    this.unit = this.arithmetic === "sacrebleu" ? 100 : 1;
    // What each order comes to; NaN counts as 1 in no one's way. Kept, because rows are many.
    this.precision = new Float64Array(this.orders);
    /** @type {Rate} */
    this.rate = row => this.score(row) * (100 / this.unit);
  }

  /** @param {ArrayLike<number>} row */
  hopeless(row) {
    if (this.noMatch === "smoothed") return false;
    let matched = 0;
    for (let n = 0; n < this.orders; n++) if (row[2 + n]) matched++;
    return this.noMatch === "zero" ? !matched : matched < this.orders;
  }

  /** @param {ArrayLike<number>} row in the arithmetic's own scale */
  score(row) {
    if (this.hopeless(row)) return 0;
    const c = row[0], r = row[1] / this.parts;
    if (this.arithmetic === "codenn") return this.codenn(row, c, r);
    if (this.arithmetic === "cdec") return this.cdec(row, c, r);
    const brevity = this.brevity(c, r);
    if (this.arithmetic === "coco" || this.arithmetic === "allennlp") return brevity * this.guarded(row);
    const mean = this.mean(this.precisions(row));
    return this.arithmetic === "float32" ? Math.fround(Math.fround(brevity) * mean) : mean * brevity;
  }

  /** @param {number} c @param {number} r */
  brevity(c, r) {
    if (this.penalty === "none") return 1;
    if (this.penalty === "coco") { const ratio = (c + TINY) / (r + SMALL); return ratio < 1 ? Math.exp(1 - 1 / ratio) : 1; }
    if (this.penalty === "plus-one") return Math.exp(Math.min(0, 1 - (r + 1) / (c + 1)));
    if (c === 0 && (r > 0 || this.noMatch === "smoothed")) return this.empty;
    if (c >= r) return 1;
    if (this.arithmetic === "nmt") return Math.exp(1 - 1 / (c / r));
    const single = Math.fround;
    return this.arithmetic === "float32" ? single(Math.exp(single(1 - single(r / c)))) : Math.exp(1 - r / c);
  }

  /** Writes the precisions, and gives how many orders count. @param {ArrayLike<number>} row @param {string[]} [notes] */
  precisions(row, notes) {
    const { smoothing, value, unit, precision, orders } = this;
    let divisor = 1;
    for (let n = 0; n < orders; n++) {
      let numerator = row[2 + n], denominator = row[this.totals + n];
      if (smoothing === "add-k-all" || (n > 0 && (smoothing === "add-k" || smoothing === "add-k-tiny"))) {
        numerator += value;
        denominator += value;
        if (notes) notes[n] = `${value} added to both`;
      } else if (smoothing === "epsilon") {
        precision[n] = unit * ((numerator + TINY) / (denominator + SMALL));
        continue;
      }
      if (denominator === 0) {
        if (this.missing === "one") { precision[n] = NaN; continue; }
        if (this.missing === "drop") return n;
        precision.fill(0, n);
        return orders;
      }
      if (numerator !== 0) precision[n] = unit * numerator / denominator;
      else if (smoothing === "exp") {
        divisor *= 2;
        precision[n] = unit / (divisor * denominator);
        if (notes) notes[n] = `no match: 1/${divisor} of one instead`;
      } else if (smoothing === "floor") {
        precision[n] = unit * value / denominator;
        if (notes) notes[n] = `no match: ${value} instead`;
      } else if (smoothing === "tiny") precision[n] = LEAST;
      else precision[n] = smoothing === "add-k-tiny" ? LEAST / denominator : 0;
    }
    return orders;
  }

  /** The weighted geometric mean. @param {number} counted */
  mean(counted) {
    const { precision, weights, arithmetic, unit } = this;
    if (!counted) return 0;
    const single = arithmetic === "float32" ? Math.fround : (/** @type {number} */ x) => x;
    let sum = 0, whole = 0;
    for (let n = 0; n < counted; n++) {
      const p = Number.isNaN(precision[n]) ? unit : precision[n];
      const weight = weights ? weights[n] : unit === 100 ? 1 : 1 / counted;
      if (p <= 0 && unit === 1) {
        if (arithmetic === "nltk") continue;
        return 0;
      }
      sum += single(single(weight) * (p === 0 ? LOG_OF_ZERO : single(Math.log(single(p)))));
      whole += weight;
    }
    if (unit === 1) return single(Math.exp(single(sum)));
    if (weights && counted === this.orders) return Math.exp(sum);
    return Math.exp(whole ? sum / whole : LOG_OF_ZERO);
  }

  /** @param {ArrayLike<number>} row @param {number} c @param {number} r */
  codenn(row, c, r) {
    let mean = 0;
    for (let n = 0; n < this.orders; n++) {
      const added = n ? this.value : 0;
      mean += Math.log(row[2 + n] + added + LEAST) - Math.log(row[this.totals + n] + added + LEAST);
    }
    return Math.exp(mean / this.orders + Math.min(0, 1 - (r + 1) / (c + 1)));
  }

  /** cdec's: logarithms in single precision, the brevity penalty among them. @param {ArrayLike<number>} row @param {number} c @param {number} r */
  cdec(row, c, r) {
    const single = Math.fround;
    let mean = 0, counted = 0;
    for (let n = 0; n < this.orders; n++) {
      if (!row[this.totals + n]) continue;
      mean = single(mean + single(single(Math.log(row[2 + n] || single(this.value))) - single(Math.log(row[this.totals + n]))));
      counted++;
    }
    const brevity = c < r ? single(single(c - r) / c) : 0;
    return counted ? single(Math.exp(single(single(mean / counted) + brevity))) : 0;
  }

  /** pycocoevalcap's mean, and AllenNLP's: guards, and no precision by itself. @param {ArrayLike<number>} row */
  guarded(row) {
    let product = 1, sum = 0;
    for (let n = 0; n < this.orders; n++) {
      const match = row[2 + n], total = row[this.totals + n];
      product *= (match + TINY) / (total + SMALL);
      sum += (this.weights ? this.weights[n] : 1 / this.orders) * (Math.log(match + this.value) - Math.log(total + this.value));
    }
    return this.arithmetic === "coco" ? product ** (1 / this.orders) : Math.exp(sum);
  }
}

/** @param {Record<string, any>} p @param {Record<string, any>} own the parameters that the row was made with @returns {Rate} */
function chrf(p, own) {
  const factor = p.beta ** 2;
  const orders = chrfOrders(p, own);
  return row => {
    let precision = 0, recall = 0, counted = 0, sum = 0;
    for (const at of orders) {
      const hypothesis = row[at], reference = row[at + 1], matches = row[at + 2];
      if (p.eps_smoothing) {
        const a = hypothesis > 0 ? matches / hypothesis : EPSILON, b = reference > 0 ? matches / reference : EPSILON;
        const below = factor * a + b;
        sum += below > 0 ? (1 + factor) * a * b / below : EPSILON;
      } else if (hypothesis > 0 && reference > 0) {
        precision += matches / hypothesis;
        recall += matches / reference;
        counted++;
      }
    }
    if (p.eps_smoothing) return 100 * sum / orders.length;
    if (!counted || precision + recall === 0) return 0;
    precision /= counted;
    recall /= counted;
    return 100 * ((1 + factor) * precision * recall / (factor * precision + recall));
  };
}

/** Where the three numbers of each order stand in a row. @param {Record<string, any>} p @param {Record<string, any>} own */
function chrfOrders(p, own) {
  const at = (/** @type {number} */ first, /** @type {number} */ n) => Array.from({ length: n }, (_, i) => 3 * (first + i));
  return [...at(0, Math.min(p.char_order, own.char_order)), ...at(own.char_order, Math.min(p.word_order, own.word_order))];
}

/** @type {Rate} */
function ter(row) {
  const edits = row[0], length = row[1] / PARTS;
  return 100 * (length > 0 ? edits / length : edits > 0 ? 1 : 0);
}

/** The tokens of hypotheses and references, by hits, substitutions, deletions and insertions. @param {ArrayLike<number>} row */
const bothLengths = row => [row[0] + row[1] + row[3], row[0] + row[1] + row[2]];

/** @type {Rate} */
function errors(row) {
  const reference = bothLengths(row)[1];
  return 100 * (reference ? (row[1] + row[2] + row[3]) / reference : row[3]);
}

/** @param {ArrayLike<number>} row */
function preserved(row) {
  const [hypothesis, reference] = bothLengths(row);
  return !reference ? Number(!hypothesis) : hypothesis ? row[0] / reference * (row[0] / hypothesis) : 0;
}

/** @type {Record<string, Rate>} */
const RATES = {
  WER: errors, CER: errors, WIP: row => 100 * preserved(row), WIL: row => 100 * (1 - preserved(row)),
  MER: row => { const [hypothesis, reference] = bothLengths(row); return 100 * (reference ? (row[1] + row[2] + row[3]) / (reference + row[3]) : Number(hypothesis > 0)); },
};

/** Whether a metric counts edits, and has no n-grams. @param {string} kind */
export const countsEdits = kind => kind === "TER" || kind in RATES;

/** The steps to the score of a row. @param {Setting} setting @param {Metric} metric @param {ArrayLike<number>} row @param {boolean} segment @returns {Walk} */
export function walk(setting, metric, row, segment) {
  const p = metric.parameters, own = setting.parameters;
  const value = (segment ? metric.segment : metric.corpus)(row);
  if (metric.kind === "TER") return { steps: [], value, brevity: 1, mean: value, hypothesis: row[0], reference: row[1] / PARTS };
  if (metric.kind in RATES) { const [hypothesis, reference] = bothLengths(row); return { steps: [], value, brevity: 1, mean: value, hypothesis, reference, counts: [row[0], row[1], row[2], row[3]] }; }
  if (metric.kind === "chrF") {
    const steps = chrfOrders(p, own).map(at => {
      const total = row[at], reference = row[at + 1], match = row[at + 2], counts = p.eps_smoothing || (total > 0 && reference > 0);
      return { order: setting.columns[at].replace("hypothesis_", ""), match, total, reference, numerator: match, denominator: total, precision: total ? 100 * match / total : 0,
        recall: reference ? 100 * match / reference : 0, counts, note: counts ? "" : "too short for this order: left out" };
    });
    return { steps, value, brevity: 1, mean: value, hypothesis: row[0], reference: row[1] };
  }
  const bleu = new Bleu(p, own.max_order, segment);
  /** @type {string[]} */
  const notes = [];
  const counted = bleu.precisions(row, notes), hopeless = bleu.hopeless(row);
  const steps = Array.from({ length: bleu.orders }, (_, n) => {
    const match = row[2 + n], total = row[bleu.totals + n], precision = bleu.precision[n];
    const added = /added/.test(notes[n] ?? "") ? bleu.value : 0;
    return { order: String(n + 1), match, total, numerator: match + added, denominator: total + added, counts: n < counted,
      precision: n >= counted || hopeless ? 0 : Number.isNaN(precision) ? null : precision * (100 / bleu.unit),
      note: n >= counted ? "too short for this order: left out" : hopeless ? "" : notes[n] ?? (total ? "" : "no n-gram of this order") };
  });
  const brevity = bleu.brevity(row[0], row[1] / bleu.parts);
  return { steps, value, brevity, mean: hopeless ? 0 : brevity ? value / brevity : bleu.mean(counted) * (100 / bleu.unit), hypothesis: row[0], reference: row[1] / bleu.parts };
}

/** The score of each segment. @param {Metric} metric @param {Table} table */
export function segmentScores(metric, table) {
  if (metric.by) return metric.by.segments(table);
  const { columns, length } = table, width = columns.length, row = new Float64Array(width), scores = new Float64Array(length);
  for (let i = 0; i < length; i++) {
    for (let k = 0; k < width; k++) row[k] = columns[k][i];
    scores[i] = metric.segment(row);
  }
  return scores;
}

/** The score of all segments, or of some. @param {Metric} metric @param {Table} table @param {Float64Array} scores the segments' @param {ArrayLike<number>} [segments] */
export function corpusScore(metric, table, scores, segments) {
  if (!metric.mean) return metric.corpus(segments ? table.total(segments) : table.totals);
  let sum = 0;
  const n = segments ? segments.length : scores.length;
  for (let i = 0; i < n; i++) sum += scores[segments ? segments[i] : i];
  return n ? sum / n : 0;
}

/**
 * The corpus score without each segment in turn, from the sums: n formulas in all.
 * @param {Metric} metric @param {Table} table @param {Float64Array} scores @param {ArrayLike<number>} [segments] of which corpus; all if not given
 */
export function leftOut(metric, table, scores, segments) {
  if (metric.by && !metric.mean && !segments) return metric.by.without(table);
  const { columns } = table, width = columns.length, row = new Float64Array(width);
  const n = segments ? segments.length : table.length, without = new Float64Array(n);
  const totals = segments ? table.total(segments) : table.totals;
  const whole = metric.mean ? n * corpusScore(metric, table, scores, segments) : 0;
  for (let i = 0; i < n; i++) {
    const at = segments ? segments[i] : i;
    if (metric.mean) { without[i] = n > 1 ? (whole - scores[at]) / (n - 1) : 0; continue; }
    for (let k = 0; k < width; k++) row[k] = totals[k] - columns[k][at];
    without[i] = metric.corpus(row);
  }
  return without;
}

/** The standard error of a difference by the jackknife. @param {Float64Array} a scores without each segment @param {Float64Array} b */
export function jackknife(a, b) {
  const n = a.length;
  let mean = 0, squares = 0;
  for (let i = 0; i < n; i++) mean += (b[i] - a[i]) / n;
  for (let i = 0; i < n; i++) squares += (b[i] - a[i] - mean) ** 2;
  return Math.sqrt(squares * (n - 1) / n);
}

/** A generator of numbers in [0, 1) from a seed: sfc32. @param {number} seed */
export function random(seed) {
  let a = seed | 0, b = 0x9E3779B9, c = 0x243F6A88, d = 1;
  const next = () => {
    const t = (a + b + d) | 0;
    d = (d + 1) | 0;
    a = b ^ b >>> 9;
    b = (c + (c << 3)) | 0;
    c = (c << 21 | c >>> 11) + t | 0;
    return (t >>> 0) / 4294967296;
  };
  for (let i = 0; i < 15; i++) next();
  return next;
}

/**
 * Paired bootstrap: percentile intervals of both scores and of their difference, b - a.
 * `rows` holds for each segment its row of a and its row of b; for a mean, its two scores.
 * @param {Float64Array} rows @param {number} width of one system's row @param {Rate} rate @param {number} samples @param {number} level @param {number} seed
 */
export function bootstrap(rows, width, rate, samples, level, seed) {
  const step = 2 * width, n = rows.length / step, draw = random(seed), total = new Float64Array(step);
  const a = new Float64Array(samples), b = new Float64Array(samples), delta = new Float64Array(samples);
  for (let s = 0; s < samples; s++) {
    total.fill(0);
    for (let i = 0; i < n; i++) {
      const at = Math.floor(draw() * n) * step;
      for (let k = 0; k < step; k++) total[k] += rows[at + k];
    }
    a[s] = rate(total.subarray(0, width));
    b[s] = rate(total.subarray(width));
    delta[s] = b[s] - a[s];
  }
  // As truebleu.significance has it: what leaves out the same number of samples at either end.
  const cut = Math.floor(samples * (1 - level) / 2 + 1e-9);
  const ends = (/** @type {Float64Array} */ values) => { values.sort(); return [values[cut], values[samples - 1 - cut]]; };
  return { a: ends(a), b: ends(b), delta: ends(delta) };
}
