// truebleu for JavaScript: BLEU and the metrics beside it, by the kernel as WebAssembly, with the bits that Python has.
import {packTexts} from "./viewer/kernel.js";
import {KernelClient, DEFAULT_SMOOTHING_VALUES} from "./viewer/kernel_client.js";
import {Metric as Formula, countsEdits, formatTwoDecimals} from "./viewer/metric.js";
import {scoreSentence, resolveSetting} from "./viewer/sentence_scores.js";
import {diffTokens} from "./viewer/tokens.js";
import {lowercase, metrics, parameters as declared, version as ofPython} from "./tables.js";

/** The version of truebleu, which signatures name. @type {string} */
export const version = ofPython;

/** @typedef {string | readonly (string | null)[]} References  of one segment: a text, or several, of which null is a missing one */
/**
 * @typedef {object} Options  A metric's parameters, under the names that they have in Python. Which of them a metric has, the README says.
 * @property {"13a" | "intl" | "zh" | "char" | "none" | "jiwer"} [tokenize]
 * @property {boolean} [lowercase]
 * @property {"exp" | "floor" | "add-k" | "none" | "add-k-all" | "add-k-tiny" | "epsilon" | "tiny"} [smoothing]
 * @property {number | null} [smoothing_value]
 * @property {boolean | null} [effective_order]
 * @property {number} [max_order]
 * @property {readonly number[] | null} [weights]
 * @property {number} [char_order]
 * @property {number} [word_order]
 * @property {number} [beta]
 * @property {boolean} [whitespace]
 * @property {boolean} [eps_smoothing]
 * @property {boolean} [normalized]
 * @property {boolean} [no_punct]
 * @property {boolean} [asian_support]
 * @property {boolean} [case_sensitive]
 */
/**
 * @typedef {object} Score  A score and what it is made of; a number where one is wanted. Totals are counts over all segments.
 * @property {string} name       "BLEU", "chrF2++"
 * @property {number} value      0 to 100; error rates can be more
 * @property {string} signature  all that it takes to have this number again, as Python prints it
 * @property {number[]} [precisions]  in per cent, an order each, with smoothing
 * @property {number[]} [recalls]     of chrF
 * @property {number[]} [matches]     clipped matches of each order, before smoothing
 * @property {number[]} [totals]      n-grams of each order in the hypotheses
 * @property {number[]} [hypothesis_totals]  @property {number[]} [reference_totals]  of chrF
 * @property {number} [brevity_penalty]  @property {number} [hypothesis_length]  @property {number} [reference_length]
 * @property {number} [ratio]  hypothesis length over reference length
 * @property {number} [edits]  of TER
 * @property {number} [hits]  @property {number} [substitutions]  @property {number} [deletions]  @property {number} [insertions]  of error rates
 */
/** @typedef {{tokens: string[], hypothesis: number, references: number[], counted: number}} NGram  how often it is in the hypothesis, in each reference that counts, and how often it counts */
/**
 * @typedef {object} Order  One order of n-grams on the way to a score.
 * @property {string} order  "1" to "16" of BLEU; "c1", "w1" of chrF's characters and words
 * @property {number} matches  @property {number} total
 * @property {number | null} precision  in per cent, with smoothing; null if it counts as 1
 * @property {number} [recall]
 * @property {string} note     what smoothing did, or why the order is left out; "" if it is a plain share
 * @property {boolean} counts  whether it is in the mean
 * @property {NGram[]} ngrams  of the hypothesis, in the order of the text
 */
/** @typedef {{chosen: number, hypothesis: string[], reference: string[], shifts: number[][], operations: [string, number | null, number | null][]}} Alignment  `chosen`: which reference; `shifts`: start, length and target; `operations`: what becomes of which token of the hypothesis, and of the reference */
/**
 * @typedef {object} Explanation  A segment's score, worked through.
 * @property {Score} score
 * @property {string[]} hypothesis    its tokens; characters of chrF without words, and of CER
 * @property {string[][]} references  theirs
 * @property {number | null} best     the reference that chrF takes; null if all count
 * @property {Order[]} orders         of n-grams; none for error rates
 * @property {Alignment | null} alignment  the edits of TER, WER, MER, WIL and WIP
 */

/** @type {KernelClient | null} */
let live = null;
/** @type {Promise<void> | null} */
let starting = null;

/**
 * Makes the kernel ready; once, before anything else. Further calls wait for the first.
 * @param {BufferSource | Response | URL | string} [binary] kernel.wasm, or where it is; without, the file beside this one
 * @returns {Promise<void>}
 */
export function init(binary = new URL("./kernel.wasm", import.meta.url)) {
  starting ??= start(binary).catch(error => { starting = null; throw error; });
  return starting;
}

/** @param {BufferSource | Response | URL | string} binary */
async function start(binary) {
  live = await KernelClient.start(/** @type {Uint8Array} */ (await bytesOf(binary)), new Uint8Array(Uint32Array.from(lowercase).buffer));
}

/** @param {BufferSource | Response | URL | string} binary @returns {Promise<BufferSource>} */
async function bytesOf(binary) {
  if (binary instanceof ArrayBuffer || ArrayBuffer.isView(binary)) return /** @type {BufferSource} */ (binary);
  if (binary instanceof Response) {
    if (!binary.ok) throw new Error(`${binary.url || "the kernel"}: ${binary.status} ${binary.statusText}; expected kernel.wasm of the package truebleu`);
    return binary.arrayBuffer();
  }
  const url = new URL(binary, import.meta.url);
  if (url.protocol !== "file:") return bytesOf(await fetch(url));
  const files = "node:fs/promises"; // Only outside of browsers.
  return (await import(/* webpackIgnore: true */ /* @vite-ignore */ files)).readFile(url);
}

/** The kernel. */
function ready() {
  if (live) return live;
  throw new Error("the kernel is not ready: call `await init()` first");
}

/** The names that `metric` takes: the metrics, then members of the BLEU family. @returns {string[]} */
export const names = () => metrics.map(one => one.id);

/**
 * A metric by its name, with its parameters.
 * @param {string} name "bleu", "chrf", "chrf++", "ter", "wer", ... or a member of the BLEU family, "moses-mert"
 * @param {Options} [options]
 * @returns {Metric}
 */
export function metric(name, options = {}) {
  const base = metrics.find(one => one.id === String(name).trim().toLowerCase());
  if (!base) throw new RangeError(`unknown metric '${name}'${nearest(String(name), names())}`);
  return new Metric(base, chosenOf(base, options));
}

/** So many segments are with the kernel at a time. */
const TOGETHER = 20_000;

/** A metric with its parameters; `metric` makes one. It does not change. */
class Metric {
  /** @type {any} */
  #base;
  /** @type {Record<string, any>} */
  #chosen;
  #live;

  /** @param {any} base @param {Record<string, any>} chosen */
  constructor(base, chosen) {
    this.#live = ready();
    this.#base = base;
    this.#chosen = chosen;
    const { name, parameters } = this.#settled(1, false);
    /** As scores show it: "BLEU", "chrF2++". @type {string} */
    this.name = name;
    /** Every parameter with its value. @type {Readonly<Record<string, unknown>>} */
    this.parameters = Object.freeze(parameters);
    /** Whether more is better. @type {boolean} */
    this.higher_is_better = base.higher_is_better;
    this.#live.getMetric(this.#settled(1, false).recipe); // The kernel refuses what does not go together.
    Object.freeze(this);
  }

  /** @param {number | string} references @param {boolean} segment */
  #settled(references, segment) { return resolveSetting(this.#live, this.#base, this.#chosen, references, segment || this.#base.parameters.aggregate === "segments"); }

  /**
   * All that it takes to have the same number again, as Python prints it.
   * @param {number | "var"} [references] how many a segment has; "var" if that varies
   * @param {{segment?: boolean}} [of] whether of single segments' scores
   * @returns {string}
   */
  signature(references = 1, { segment = false } = {}) { return this.#settled(references, segment).signature; }

  /**
   * The score of a corpus.
   * @param {readonly string[]} hypotheses @param {readonly References[]} references of each segment
   * @returns {Score}
   */
  score(hypotheses, references) {
    checkStreams(hypotheses, references);
    const counted = this.#counted(hypotheses, references);
    try {
      const { kernel } = this.#live, setting = this.#settled(counted.references, false);
      return this.#scored(setting, kernel.scoreCorpus(this.#live.getMetric(setting.recipe), counted.table), kernel.sumColumns(counted.table), setting.parameters.aggregate === "segments");
    } finally { this.#live.kernel.release(counted.table); }
  }

  /**
   * The score of one segment.
   * @param {string} hypothesis @param {References} references
   * @returns {Score}
   */
  sentence(hypothesis, references) {
    const counted = this.#counted([hypothesis], [references]);
    try {
      const { kernel } = this.#live, setting = this.#settled(counted.references, true);
      return this.#scored(setting, kernel.scoreSegments(this.#live.getMetric(setting.recipe), counted.table)[0], kernel.sumColumns(counted.table), true);
    } finally { this.#live.kernel.release(counted.table); }
  }

  /**
   * The score of each segment, as `sentence` gives it.
   * @param {readonly string[]} hypotheses @param {readonly References[]} references of each segment
   * @returns {Float64Array}
   */
  segments(hypotheses, references) {
    checkStreams(hypotheses, references);
    const counted = this.#counted(hypotheses, references);
    try {
      return this.#live.kernel.scoreSegments(this.#live.getMetric(this.#settled(1, true).recipe), counted.table);
    } finally { this.#live.kernel.release(counted.table); }
  }

  /**
   * A segment's score worked through: tokens, n-grams with their counts, or edits.
   * @param {string} hypothesis @param {References} references
   * @returns {Explanation}
   */
  explain(hypothesis, references) {
    const score = this.sentence(hypothesis, references), others = listOf(references).filter(text => text !== null), setting = this.#settled(others.length, true);
    const { breakdown: walk, hypothesis: own, references: theirs, best, orders } = scoreSentence(this.#live, setting, hypothesis, others), { kernel } = this.#live;
    const units = (/** @type {{tokens: string[], characters: string[]}} */ of) => of.tokens.length ? of.tokens : of.characters;
    const edited = countsEdits(setting.metric) && setting.metric !== "CER";
    return { score, hypothesis: units(own), references: theirs.map(units), best: best < 0 ? null : best,
      orders: walk.steps.map(({ order, match, total, precision, recall, note, isUsed: counts }, i) => ({ order, matches: match, total, precision, ...(recall === undefined ? {} : { recall }), note, counts,
        ngrams: (orders[i]?.grams ?? []).map(({ tokens: gram, hypothesisCount: hypothesis, referenceCounts: references, clippedCount: counted }) => ({ tokens: gram, hypothesis, references, counted })) })),
      alignment: edited ? kernel.align(this.#live.getMetric(setting.recipe), packTexts([hypothesis, ...others]), 1 + others.length) : null };
  }

  /**
   * The counts of all segments, and how many references these have.
   * @param {readonly string[]} hypotheses @param {readonly References[]} references
   */
  #counted(hypotheses, references) {
    const { kernel } = this.#live, metric = this.#live.getMetric(this.#settled(1, false).recipe), [least, most, columns] = checked(hypotheses, references);
    if (this.#base.parameters.reference_length === "single" && most > 1) throw new RangeError("references: a segment has several, but this metric is only defined for one");
    let table = 0;
    try {
      for (let from = 0; from < hypotheses.length; from += TOGETHER) {
        const own = hypotheses.slice(from, from + TOGETHER), theirs = references.slice(from, from + TOGETHER), /** @type {number[]} */ held = [];
        try {
          held.push(kernel.addTexts(packTexts(own), own.length));
          for (let r = 0; r < columns; r++) held.push(kernel.addTexts(packTexts(theirs.map(all => typeof all === "string" ? (r ? null : all) : all[r] ?? null)), own.length));
          table = kernel.countSegments(metric, table, held, 0, own.length);
        } finally { for (const handle of held) kernel.release(handle); }
      }
      return { table, references: least === most ? most : "var" };
    } catch (error) { if (table) kernel.release(table); throw error; }
  }

  /** @param {ReturnType<typeof resolveSetting>} setting @param {number} value @param {number[]} row @param {boolean} segment @returns {Score} */
  #scored(setting, value, row, segment) {
    return Object.freeze(Object.assign(Object.create(SCORE), { name: setting.name, value, signature: setting.signature, ...detailsOf(new Formula(setting, {}, this.#live), row, segment) }));
  }
}

/** What scores do as numbers and as text. */
const SCORE = Object.freeze(Object.defineProperties({}, {
  valueOf: { value: /** @this {Score} */ function () { return this.value; } },
  toString: { value: /** @this {Score} */ function () { return `${this.name} = ${formatTwoDecimals(this.value)}`; } },
}));

/** What a score is made of, as Python calls it. @param {Formula} metric @param {number[]} row @param {boolean} segment */
function detailsOf(metric, row, segment) {
  const { steps, brevity, hypothesis, reference, editCounts: counts } = metric.breakDown(row, segment), of = (/** @type {"match" | "total" | "reference" | "precision" | "recall"} */ part) => steps.map(step => /** @type {number} */ (step[part]));
  if (metric.kind === "TER") return { edits: hypothesis, reference_length: reference };
  if (counts) return { hits: counts[0], substitutions: counts[1], deletions: counts[2], insertions: counts[3], reference_length: reference, hypothesis_length: hypothesis };
  if (metric.kind === "chrF") return { precisions: of("precision"), recalls: of("recall"), matches: of("match"), hypothesis_totals: of("total"), reference_totals: of("reference") };
  const known = steps.filter(step => step.isUsed && step.precision !== null);
  return { precisions: steps.map((_, i) => known[i]?.precision ?? 0), matches: of("match"), totals: of("total"), brevity_penalty: brevity, hypothesis_length: hypothesis, reference_length: reference, ratio: reference ? hypothesis / reference : 0 };
}

// ---- what is given ----

/** @param {References} references */
const listOf = references => typeof references === "string" ? [references] : references;

/** @param {any} value */
const kindOf = value => value === null ? "null" : Array.isArray(value) ? "an array" : typeof value === "object" ? "an object" : `of type ${typeof value}`;

/**
 * The least and the most references of a segment, and how many places for them there are. Segments are counted from 1, as lines of files.
 * @param {readonly any[]} hypotheses @param {readonly any[]} references @returns {[number, number, number]}
 */
function checked(hypotheses, references) {
  for (const [role, all] of Object.entries({ hypotheses, references })) if (!Array.isArray(all)) throw new TypeError(`${role}: ${typeof all === "string" ? "a single string" : kindOf(all)}; expected an array with an entry for each segment`);
  if (hypotheses.length !== references.length) throw new RangeError(`the inputs have different numbers of segments: hypotheses ${hypotheses.length}, references ${references.length}; segment ${Math.min(hypotheses.length, references.length) + 1} has no counterpart`);
  if (!hypotheses.length) throw new RangeError("hypotheses: no segments at all; there is nothing to score");
  let least = Infinity, most = 0, columns = 0;
  for (let i = 0; i < hypotheses.length; i++) {
    const own = hypotheses[i], theirs = references[i];
    if (typeof own !== "string") throw new TypeError(`hypotheses: segment ${i + 1} is ${own === null || own === undefined ? `missing (${own}); every segment needs a hypothesis, an empty string if the system gave nothing` : `${kindOf(own)}, not a string`}`);
    let known = typeof theirs === "string" ? 1 : 0, places = 1;
    if (Array.isArray(theirs)) {
      places = theirs.length;
      for (let r = 0; r < places; r++) {
        if (typeof theirs[r] === "string") known++;
        else if (theirs[r] !== null) throw new TypeError(`references: segment ${i + 1}, reference ${r + 1} is ${kindOf(theirs[r])}; a segment's references are a string, or an array of strings and null`);
      }
    } else if (!known && theirs !== null) throw new TypeError(`references: segment ${i + 1} is ${kindOf(theirs)}; a segment's references are a string, or an array of strings and null`);
    if (!known) throw new RangeError(`references: segment ${i + 1} has none (all are missing); every segment needs at least one reference, so leave the segment out or give it one`);
    least = Math.min(least, known);
    most = Math.max(most, known);
    columns = Math.max(columns, places);
  }
  return [least, most, columns];
}

/** As many segments, and references of each, are looked at where the shape alone cannot tell. */
const LOOKED_AT = 40;

/** Refuses sacreBLEU's streams, an array for each reference instead of one for each segment. @param {any} hypotheses @param {any} references */
function checkStreams(hypotheses, references) {
  if (!Array.isArray(hypotheses) || !Array.isArray(references)) return;
  const count = hypotheses.length, outer = references.length;
  if (!outer || (count === 1 && outer === 1) || !references.every(all => Array.isArray(all) && all.length === count)) return;
  const fits = outer === count;
  if (fits && !fitAsStreams(hypotheses.slice(0, LOOKED_AT), references)) return;
  throw new RangeError(`references: this looks like ${outer} streams of ${count} references${fits ? ": they fit the hypotheses better that way" : `, where ${count} segments are expected`}. truebleu takes the references of each segment together, [[a1, b1], [a2, b2], ...]; sacreBLEU takes each reference's segments together, [[a1, a2, ...], [b1, b2, ...]]. From the latter, streams[0].map((_, i) => streams.map(stream => stream[i])) makes the former.`);
}

/** Whether a square of references is more like the hypotheses when transposed. @param {any[]} hypotheses @param {any[][]} references */
function fitAsStreams(hypotheses, references) {
  const own = hypotheses.map(wordsOf), theirs = own.map((_, i) => own.map((_, j) => wordsOf(references[i][j])));
  let given = 0, turned = 0;
  own.forEach((words, i) => own.forEach((_, j) => { given += likeness(words, theirs[i][j]); turned += likeness(words, theirs[j][i]); }));
  return turned > 1.2 * given + 0.1;
}

/** The words of a text; its characters where it has no spaces. @param {any} text @returns {Set<string>} */
function wordsOf(text) {
  const lower = typeof text === "string" ? text.toLowerCase() : "", words = lower.split(/\s+/u).filter(Boolean);
  return new Set(words.length > 1 ? words : lower);
}

/** @param {Set<string>} one @param {Set<string>} other */
function likeness(one, other) {
  let both = 0;
  for (const word of one) if (other.has(word)) both++;
  return both ? 2 * both / (one.size + other.size) : 0;
}

// ---- parameters ----

/** The options that were given, checked. @param {any} base @param {Record<string, any>} options @returns {Record<string, any>} */
function chosenOf(base, options) {
  if (typeof options !== "object" || options === null) throw new TypeError(`options: ${kindOf(options)}; expected an object, as { lowercase: true }`);
  const known = declared[base.metric], own = base.parameters, called = base.metric;
  /** @type {Record<string, any>} */
  const chosen = {};
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const one = known.find(one => one.name === name), meant = known.find(one => one.hints.includes(name));
    if (meant && !one) throw new TypeError(`${called} has no parameter '${name}'; it is called '${meant.name}' here`);
    if (!one && name in own) throw new TypeError(`${name}: cannot be chosen here; members of the BLEU family have it as they need it (names() lists them)`);
    if (!one) throw new TypeError(`${called} has no parameter '${name}'${nearest(name, known.map(one => one.name))}`);
    chosen[name] = valueOf(one, value);
  }
  return base.metric === "BLEU" ? together(own, chosen) : chosen;
}

/** A value of a parameter. @param {import("./tables.js").Declared} one @param {any} value */
function valueOf({ name, kind, optional, choices, least, most }, value) {
  if (value === null && optional) return null;
  const written = (/** @type {number} */ limit) => limit.toLocaleString("en-US", { maximumSignificantDigits: 15 });
  const span = most === null ? `of ${written(least)} or more` : `from ${written(least)} to ${written(most)}`, within = (/** @type {any} */ x) => Number.isFinite(x) && x >= least && x <= (most ?? Infinity);
  const told = typeof value === "string" ? `'${value}'` : Array.isArray(value) ? `[${value}]` : String(value);
  if (kind === "flag" && typeof value !== "boolean") throw new TypeError(`${name}=${told}: expected true or false`);
  if (kind === "choice" && !choices.includes(value)) throw new RangeError(`unknown ${name} ${told}${nearest(String(value), choices)}`);
  if (kind === "whole" && !(Number.isInteger(value) && within(value))) throw new RangeError(`${name}=${told}: expected a whole number ${span}`);
  if (kind === "number" && !within(value)) throw new RangeError(`${name}=${told}: expected a number ${span}`);
  if (kind === "numbers" && !(Array.isArray(value) && value.every(within))) throw new RangeError(`${name}=${told}: expected an array of numbers ${span}`);
  return kind === "numbers" ? [...value] : value;
}

/** BLEU's parameters that depend on each other. @param {Record<string, any>} own @param {Record<string, any>} chosen */
function together(own, chosen) {
  const { weights } = chosen;
  if (weights && !("max_order" in chosen)) chosen.max_order = weights.length;
  const all = { ...own, ...chosen };
  if (all.weights && all.weights.length !== all.max_order) throw new RangeError(`weights: ${all.weights.length} weights for ${all.max_order} orders`);
  if (weights && !weights.some(Boolean)) throw new RangeError(`weights=[${weights}]: at least one must not be 0`);
  if (all.max_order < 1 || all.max_order > 16) throw new RangeError(`max_order=${all.max_order}: expected a whole number from 1 to 16`);
  const valued = Object.keys(DEFAULT_SMOOTHING_VALUES).filter(name => DEFAULT_SMOOTHING_VALUES[name] !== null);
  if (all.smoothing_value !== null && !valued.includes(all.smoothing)) throw new RangeError(`smoothing_value: smoothing '${all.smoothing}' takes no value; ${valued.join(", ")} do`);
  if (all.missing_order !== null && all.effective_order !== null) throw new RangeError(`effective_order cannot be chosen: this metric has missing_order '${all.missing_order}', which says the same`);
  return chosen;
}

/** The end of a message about an unknown name: the nearest one, and all of them. @param {string} name @param {string[]} known */
function nearest(name, known) {
  const lower = [...name.toLowerCase()], alike = known.map(other => 2 * diffTokens(lower, [...other]).a.filter(different => !different).length / (lower.length + other.length)), most = Math.max(...alike);
  return `${most >= 0.4 ? `; did you mean '${known[alike.indexOf(most)]}'? There are` : "; there are"} ${known.join(", ")}`;
}
