// truebleu for JavaScript: BLEU and related metrics with the WebAssembly kernel. Scores agree with Python's to 12 digits.
import {packTexts} from "./viewer/kernel.js";
import {KernelClient, DEFAULT_SMOOTHING_VALUES} from "./viewer/kernel_client.js";
import {Metric as Formula, countsEdits, formatTwoDecimals} from "./viewer/metric.js";
import {scoreSentence, resolveSetting} from "./viewer/sentence_scores.js";
import {diffTokens} from "./viewer/tokens.js";
import {lowercase, metrics, parameters as declaredParameters, version as pythonVersion} from "./tables.js";

/** Version of truebleu, which is part of signatures. @type {string} */
export const version = pythonVersion;

/** @typedef {string | readonly (string | null)[]} References  references of one segment: a text, or an array of texts and null (missing) */
/**
 * @typedef {object} Options  Parameters of a metric, with the names used in Python. The README lists the parameters of each metric.
 * @property {"13a" | "intl" | "zh" | "char" | "none" | "ptb" | "ptb-coco" | "ids" | "jiwer"} [tokenize]
 * @property {boolean} [lowercase]
 * @property {"exp" | "floor" | "add-k" | "none" | "add-k-all" | "add-k-tiny" | "epsilon" | "offset" | "tiny"} [smoothing]
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
 * @typedef {object} Score  A score and its components. It can be used as a number. Totals are sums over all segments.
 * @property {string} name       "BLEU", "chrF2++"
 * @property {number} value      0 to 100; error rates can be higher
 * @property {string} signature  settings needed to reproduce the score, as in Python
 * @property {number[]} [precisions]  percentages, one per order, with smoothing
 * @property {number[]} [recalls]     for chrF
 * @property {number[]} [matches]     clipped matches of each order, before smoothing
 * @property {number[]} [totals]      n-grams of each order in the hypotheses
 * @property {number[]} [hypothesis_totals]  @property {number[]} [reference_totals]  for chrF
 * @property {number} [brevity_penalty]  @property {number} [hypothesis_length]  @property {number} [reference_length]
 * @property {number} [ratio]  hypothesis length over reference length
 * @property {number} [edits]  for TER
 * @property {number} [hits]  @property {number} [substitutions]  @property {number} [deletions]  @property {number} [insertions]  for error rates
 */
/** @typedef {{tokens: string[], hypothesis: number, references: number[], counted: number}} NGram  counts in the hypothesis, in each used reference, and after clipping (`counted`) */
/**
 * @typedef {object} Order  One n-gram order in the calculation of a score.
 * @property {string} order  "1" to "16" for BLEU; "c1", "w1" for characters and words in chrF
 * @property {number} matches  @property {number} total
 * @property {number | null} precision  percentage, with smoothing; null if it is replaced by 1
 * @property {number} [recall]
 * @property {string} note     effect of smoothing, or the reason why the order is skipped; "" without smoothing
 * @property {boolean} counts  whether the mean includes the order
 * @property {NGram[]} ngrams  of the hypothesis, in text order
 */
/** @typedef {{reference_index: number, hypothesis: string[], reference: string[], shifts: number[][], operations: [string, number | null, number | null][]}} Alignment  `reference_index`: index of the reference; `shifts`: start, length and target; `operations`: kind, index of the hypothesis token, index of the reference token */
/**
 * @typedef {object} Explanation  The calculation of a segment's score.
 * @property {Score} score
 * @property {string[]} hypothesis    tokens, or characters for CER and for chrF without words
 * @property {string[][]} references  tokens of the references
 * @property {number | null} best     index of the reference that chrF uses; null if all references are used
 * @property {Order[]} orders         n-gram orders; empty for error rates
 * @property {Alignment | null} alignment  edit operations for TER, WER, MER, WIL and WIP
 */

/** @type {KernelClient | null} */
let client = null;
/** @type {Promise<void> | null} */
let startPromise = null;

/**
 * Load the kernel. Call this once before using any metric. Further calls wait for the first call.
 * @param {BufferSource | Response | URL | string} [binary] kernel.wasm, or its location (default: next to this file)
 * @returns {Promise<void>}
 */
export function init(binary = new URL("./kernel.wasm", import.meta.url)) {
  startPromise ??= startKernel(binary).catch(error => { startPromise = null; throw error; });
  return startPromise;
}

/** @param {BufferSource | Response | URL | string} binary */
async function startKernel(binary) {
  client = await KernelClient.start(/** @type {Uint8Array} */ (await loadBytes(binary)), new Uint8Array(Uint32Array.from(lowercase).buffer));
}

/** @param {BufferSource | Response | URL | string} binary @returns {Promise<BufferSource>} */
async function loadBytes(binary) {
  if (binary instanceof ArrayBuffer || ArrayBuffer.isView(binary)) return /** @type {BufferSource} */ (binary);
  if (binary instanceof Response) {
    if (!binary.ok) throw new Error(`${binary.url || "the kernel"}: ${binary.status} ${binary.statusText}; expected kernel.wasm of the package truebleu`);
    return binary.arrayBuffer();
  }
  const url = new URL(binary, import.meta.url);
  if (url.protocol !== "file:") return loadBytes(await fetch(url));
  const files = "node:fs/promises"; // This module exists only outside of browsers.
  return (await import(/* webpackIgnore: true */ /* @vite-ignore */ files)).readFile(url);
}

/** Return the kernel client; throw an error before `init`. */
function requireClient() {
  if (client) return client;
  throw new Error("the kernel is not ready: call `await init()` first");
}

/** Return the names that `metric` accepts: metrics, then members of the BLEU family. @returns {string[]} */
export const names = () => metrics.map(one => one.id);

/**
 * Create a metric with parameters.
 * @param {string} name "bleu", "chrf", "chrf++", "ter", "wer", ... or a member of the BLEU family, "moses-mert"
 * @param {Options} [options]
 * @returns {Metric}
 */
export function metric(name, options = {}) {
  const base = metrics.find(one => one.id === String(name).trim().toLowerCase());
  if (!base) throw new RangeError(`unknown metric '${name}'${suggestNames(String(name), names())}`);
  return new Metric(base, checkOptions(base, options));
}

/** Number of segments passed to the kernel at a time. */
const MAX_SEGMENTS_PER_CALL = 20_000;

/** Immutable metric with its parameters, created by `metric`. */
class Metric {
  /** @type {any} */
  #base;
  /** @type {Record<string, any>} */
  #overrides;
  #client;

  /** @param {any} base @param {Record<string, any>} overrides */
  constructor(base, overrides) {
    this.#client = requireClient();
    this.#base = base;
    this.#overrides = overrides;
    const { name, parameters } = this.#resolveSetting(1, false);
    /** Name shown with scores: "BLEU", "chrF2++". @type {string} */
    this.name = name;
    /** Values of all parameters. @type {Readonly<Record<string, unknown>>} */
    this.parameters = Object.freeze(parameters);
    /** Whether higher scores are better. @type {boolean} */
    this.higher_is_better = base.higher_is_better;
    this.#client.getMetric(this.#resolveSetting(1, false).recipe); // The kernel validates combinations of parameters.
    Object.freeze(this);
  }

  /** @param {number | string} references @param {boolean} segment */
  #resolveSetting(references, segment) { return resolveSetting(this.#client, this.#base, this.#overrides, references, segment || this.#base.parameters.aggregate === "segments"); }

  /**
   * Return the signature with the settings needed to reproduce a score, as in Python.
   * @param {number | "var"} [references] number of references per segment; "var" if it varies
   * @param {{segment?: boolean}} [of] whether the signature is for sentence-level scores
   * @returns {string}
   */
  signature(references = 1, { segment = false } = {}) { return this.#resolveSetting(references, segment).signature; }

  /**
   * Score a corpus.
   * @param {readonly string[]} hypotheses @param {readonly References[]} references of each segment
   * @returns {Score}
   */
  score(hypotheses, references) {
    checkStreams(hypotheses, references);
    const countResult = this.#countAll(hypotheses, references);
    try {
      const { kernel } = this.#client, setting = this.#resolveSetting(countResult.references, false);
      return this.#createScore(setting, kernel.scoreCorpus(this.#client.getMetric(setting.recipe), countResult.table), kernel.sumColumns(countResult.table), setting.parameters.aggregate === "segments");
    } finally { this.#client.kernel.release(countResult.table); }
  }

  /**
   * Score one segment.
   * @param {string} hypothesis @param {References} references
   * @returns {Score}
   */
  sentence(hypothesis, references) {
    const countResult = this.#countAll([hypothesis], [references]);
    try {
      const { kernel } = this.#client, setting = this.#resolveSetting(countResult.references, true);
      return this.#createScore(setting, kernel.scoreSegments(this.#client.getMetric(setting.recipe), countResult.table)[0], kernel.sumColumns(countResult.table), true);
    } finally { this.#client.kernel.release(countResult.table); }
  }

  /**
   * Score each segment as `sentence` does.
   * @param {readonly string[]} hypotheses @param {readonly References[]} references of each segment
   * @returns {Float64Array}
   */
  segments(hypotheses, references) {
    checkStreams(hypotheses, references);
    const countResult = this.#countAll(hypotheses, references);
    try {
      return this.#client.kernel.scoreSegments(this.#client.getMetric(this.#resolveSetting(1, true).recipe), countResult.table);
    } finally { this.#client.kernel.release(countResult.table); }
  }

  /**
   * Explain the score of a segment: tokens, n-gram counts, or edit operations.
   * @param {string} hypothesis @param {References} references
   * @returns {Explanation}
   */
  explain(hypothesis, references) {
    const score = this.sentence(hypothesis, references), presentReferences = toList(references).filter(text => text !== null), setting = this.#resolveSetting(presentReferences.length, true);
    const { breakdown: walk, hypothesis: hypothesisUnits, references: referenceUnits, best, orders } = scoreSentence(this.#client, setting, hypothesis, presentReferences), { kernel } = this.#client;
    const getTokens = (/** @type {{tokens: string[], characters: string[]}} */ of) => of.tokens.length ? of.tokens : of.characters;
    const hasAlignment = countsEdits(setting.metric) && setting.metric !== "CER";
    return { score, hypothesis: getTokens(hypothesisUnits), references: referenceUnits.map(getTokens), best: best < 0 ? null : best,
      orders: walk.steps.map(({ order, match, total, precision, recall, note, isUsed: counts }, i) => ({ order, matches: match, total, precision, ...(recall === undefined ? {} : { recall }), note, counts,
        ngrams: (orders[i]?.grams ?? []).map(({ tokens: gram, hypothesisCount: hypothesis, referenceCounts: references, clippedCount: counted }) => ({ tokens: gram, hypothesis, references, counted })) })),
      alignment: hasAlignment ? kernel.align(this.#client.getMetric(setting.recipe), packTexts([hypothesis, ...presentReferences]), 1 + presentReferences.length) : null };
  }

  /**
   * Count all segments; return the table and the number of references.
   * @param {readonly string[]} hypotheses @param {readonly References[]} references
   */
  #countAll(hypotheses, references) {
    const { kernel } = this.#client, metric = this.#client.getMetric(this.#resolveSetting(1, false).recipe), [minReferences, maxReferences, columns] = checkInput(hypotheses, references);
    if (this.#base.parameters.reference_length === "single" && maxReferences > 1) throw new RangeError("references: a segment has several references, but this metric is only defined for one");
    let table = 0;
    try {
      for (let from = 0; from < hypotheses.length; from += MAX_SEGMENTS_PER_CALL) {
        const batch = hypotheses.slice(from, from + MAX_SEGMENTS_PER_CALL), batchReferences = references.slice(from, from + MAX_SEGMENTS_PER_CALL), /** @type {number[]} */ handles = [];
        try {
          handles.push(kernel.addTexts(packTexts(batch), batch.length));
          for (let r = 0; r < columns; r++) handles.push(kernel.addTexts(packTexts(batchReferences.map(all => typeof all === "string" ? (r ? null : all) : all[r] ?? null)), batch.length));
          table = kernel.countSegments(metric, table, handles, 0, batch.length);
        } finally { for (const handle of handles) kernel.release(handle); }
      }
      return { table, references: minReferences === maxReferences ? maxReferences : "var" };
    } catch (error) { if (table) kernel.release(table); throw error; }
  }

  /** @param {ReturnType<typeof resolveSetting>} setting @param {number} value @param {number[]} row @param {boolean} segment @returns {Score} */
  #createScore(setting, value, row, segment) {
    return Object.freeze(Object.assign(Object.create(SCORE_PROTOTYPE), { name: setting.name, value, signature: setting.signature, ...getDetails(new Formula(setting, {}, this.#client), row, segment) }));
  }
}

/** Conversions of scores to numbers and strings. */
const SCORE_PROTOTYPE = Object.freeze(Object.defineProperties({}, {
  valueOf: { value: /** @this {Score} */ function () { return this.value; } },
  toString: { value: /** @this {Score} */ function () { return `${this.name} = ${formatTwoDecimals(this.value)}`; } },
}));

/** Return the components of a score with Python's names. @param {Formula} metric @param {number[]} row @param {boolean} segment */
function getDetails(metric, row, segment) {
  const { steps, brevity, hypothesis, reference, editCounts: counts } = metric.breakDown(row, segment), collect = (/** @type {"match" | "total" | "reference" | "precision" | "recall"} */ part) => steps.map(step => /** @type {number} */ (step[part]));
  if (metric.kind === "TER") return { edits: hypothesis, reference_length: reference };
  if (counts) return { hits: counts[0], substitutions: counts[1], deletions: counts[2], insertions: counts[3], reference_length: reference, hypothesis_length: hypothesis };
  if (metric.kind === "chrF") return { precisions: collect("precision"), recalls: collect("recall"), matches: collect("match"), hypothesis_totals: collect("total"), reference_totals: collect("reference") };
  const definedSteps = steps.filter(step => step.isUsed && step.precision !== null);
  return { precisions: steps.map((_, i) => definedSteps[i]?.precision ?? 0), matches: collect("match"), totals: collect("total"), brevity_penalty: brevity, hypothesis_length: hypothesis, reference_length: reference, ratio: reference ? hypothesis / reference : 0 };
}

// ---- input checks ----

/** @param {References} references */
const toList = references => typeof references === "string" ? [references] : references;

/** @param {any} value */
const describeType = value => value === null ? "null" : Array.isArray(value) ? "an array" : typeof value === "object" ? "an object" : `of type ${typeof value}`;

/**
 * Return the minimum and maximum number of references per segment, and the number of reference columns. Messages count segments from 1.
 * @param {readonly any[]} hypotheses @param {readonly any[]} references @returns {[number, number, number]}
 */
function checkInput(hypotheses, references) {
  for (const [role, all] of Object.entries({ hypotheses, references })) if (!Array.isArray(all)) throw new TypeError(`${role}: ${typeof all === "string" ? "a single string" : describeType(all)}; expected an array with an entry for each segment`);
  if (hypotheses.length !== references.length) throw new RangeError(`the inputs have different numbers of segments: hypotheses ${hypotheses.length}, references ${references.length}; segment ${Math.min(hypotheses.length, references.length) + 1} is not in every input`);
  if (!hypotheses.length) throw new RangeError("hypotheses: no segments (expected at least one)");
  let minReferences = Infinity, maxReferences = 0, columns = 0;
  for (let i = 0; i < hypotheses.length; i++) {
    const segmentHypothesis = hypotheses[i], segmentReferences = references[i];
    if (typeof segmentHypothesis !== "string") throw new TypeError(`hypotheses: segment ${i + 1} is ${segmentHypothesis === null || segmentHypothesis === undefined ? `missing (${segmentHypothesis}). Every segment needs a hypothesis. Use an empty string if the system produced no output` : `${describeType(segmentHypothesis)}, not a string`}`);
    let presentCount = typeof segmentReferences === "string" ? 1 : 0, columnCount = 1;
    if (Array.isArray(segmentReferences)) {
      columnCount = segmentReferences.length;
      for (let r = 0; r < columnCount; r++) {
        if (typeof segmentReferences[r] === "string") presentCount++;
        else if (segmentReferences[r] !== null) throw new TypeError(`references: segment ${i + 1}, reference ${r + 1} is ${describeType(segmentReferences[r])}; a segment's references are a string, or an array of strings and null`);
      }
    } else if (!presentCount && segmentReferences !== null) throw new TypeError(`references: segment ${i + 1} is ${describeType(segmentReferences)}; a segment's references are a string, or an array of strings and null`);
    if (!presentCount) throw new RangeError(`references: segment ${i + 1} has no reference (all are missing). Every segment needs at least one reference. Add a reference or remove the segment`);
    minReferences = Math.min(minReferences, presentCount);
    maxReferences = Math.max(maxReferences, presentCount);
    columns = Math.max(columns, columnCount);
  }
  return [minReferences, maxReferences, columns];
}

/** Maximum number of segments compared to detect transposed references. */
const MAX_COMPARED_SEGMENTS = 40;

/** Reject sacreBLEU's streams: one array per reference instead of one per segment. @param {any} hypotheses @param {any} references */
function checkStreams(hypotheses, references) {
  if (!Array.isArray(hypotheses) || !Array.isArray(references)) return;
  const count = hypotheses.length, streamCount = references.length;
  if (!streamCount || (count === 1 && streamCount === 1) || !references.every(all => Array.isArray(all) && all.length === count)) return;
  const isSquare = streamCount === count;
  if (isSquare && !matchesAsStreams(hypotheses.slice(0, MAX_COMPARED_SEGMENTS), references)) return;
  throw new RangeError(`references: this looks like ${streamCount} streams of ${count} references${isSquare ? ", which match the hypotheses better as streams" : ` (expected ${count} segments)`}. truebleu expects one list of references per segment, [[a1, b1], [a2, b2], ...]; sacreBLEU expects one list of segments per reference, [[a1, a2, ...], [b1, b2, ...]]. To convert sacreBLEU's form, use streams[0].map((_, i) => streams.map(stream => stream[i])).`);
}

/** Return whether square references match the hypotheses better when transposed. @param {any[]} hypotheses @param {any[][]} references */
function matchesAsStreams(hypotheses, references) {
  const hypothesisWords = hypotheses.map(getWords), referenceWords = hypothesisWords.map((_, i) => hypothesisWords.map((_, j) => getWords(references[i][j])));
  let similarity = 0, transposedSimilarity = 0;
  hypothesisWords.forEach((words, i) => hypothesisWords.forEach((_, j) => { similarity += getSimilarity(words, referenceWords[i][j]); transposedSimilarity += getSimilarity(words, referenceWords[j][i]); }));
  return transposedSimilarity > 1.2 * similarity + 0.1;
}

/** Return the words of a text, or its characters if it has no spaces. @param {any} text @returns {Set<string>} */
function getWords(text) {
  const lower = typeof text === "string" ? text.toLowerCase() : "", words = lower.split(/\s+/u).filter(Boolean);
  return new Set(words.length > 1 ? words : lower);
}

/** @param {Set<string>} firstWords @param {Set<string>} otherWords */
function getSimilarity(firstWords, otherWords) {
  let sharedCount = 0;
  for (const word of firstWords) if (otherWords.has(word)) sharedCount++;
  return sharedCount ? 2 * sharedCount / (firstWords.size + otherWords.size) : 0;
}

// ---- parameters ----

/** Validate options and return the changed parameters. @param {any} base @param {Record<string, any>} options @returns {Record<string, any>} */
function checkOptions(base, options) {
  if (typeof options !== "object" || options === null) throw new TypeError(`options: ${describeType(options)}; expected an object such as { lowercase: true }`);
  const declarations = declaredParameters[base.metric], defaults = base.parameters, metricName = base.metric;
  /** @type {Record<string, any>} */
  const overrides = {};
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const declaration = declarations.find(one => one.name === name), aliased = declarations.find(one => one.hints.includes(name));
    if (aliased && !declaration) throw new TypeError(`${metricName} has no parameter '${name}'; it is called '${aliased.name}' here`);
    if (!declaration && name in defaults) throw new TypeError(`${name}: cannot be changed; use a member of the BLEU family that has the required value (names() lists them)`);
    if (!declaration) throw new TypeError(`${metricName} has no parameter '${name}'${suggestNames(name, declarations.map(one => one.name))}`);
    overrides[name] = checkValue(declaration, value);
  }
  return base.metric === "BLEU" ? checkBleuOptions(defaults, overrides) : overrides;
}

/** Validate the value of a parameter. @param {import("./tables.js").ParameterDeclaration} one @param {any} value */
function checkValue({ name, kind, optional, choices, minimum, maximum }, value) {
  if (value === null && optional) return null;
  const formatLimit = (/** @type {number} */ limit) => limit.toLocaleString("en-US", { maximumSignificantDigits: 15 });
  const rangeText = maximum === null ? `of ${formatLimit(minimum)} or more` : `from ${formatLimit(minimum)} to ${formatLimit(maximum)}`, isInRange = (/** @type {any} */ x) => Number.isFinite(x) && x >= minimum && x <= (maximum ?? Infinity);
  const valueText = typeof value === "string" ? `'${value}'` : Array.isArray(value) ? `[${value}]` : String(value);
  if (kind === "flag" && typeof value !== "boolean") throw new TypeError(`${name}=${valueText}: expected true or false`);
  if (kind === "choice" && !choices.includes(value)) throw new RangeError(`unknown ${name} ${valueText}${suggestNames(String(value), choices)}`);
  if (kind === "whole" && !(Number.isInteger(value) && isInRange(value))) throw new RangeError(`${name}=${valueText}: expected a whole number ${rangeText}`);
  if (kind === "number" && !isInRange(value)) throw new RangeError(`${name}=${valueText}: expected a number ${rangeText}`);
  if (kind === "numbers" && !(Array.isArray(value) && value.every(isInRange))) throw new RangeError(`${name}=${valueText}: expected an array of numbers ${rangeText}`);
  return kind === "numbers" ? [...value] : value;
}

/** Validate the combination of BLEU's parameters. @param {Record<string, any>} defaults @param {Record<string, any>} overrides */
function checkBleuOptions(defaults, overrides) {
  const { weights } = overrides;
  if (weights && !("max_order" in overrides)) overrides.max_order = weights.length;
  const merged = { ...defaults, ...overrides };
  if (merged.weights && merged.weights.length !== merged.max_order) throw new RangeError(`weights: ${merged.weights.length} weights for ${merged.max_order} orders`);
  if (weights && !weights.some(Boolean)) throw new RangeError(`weights=[${weights}]: at least one must not be 0`);
  if (merged.max_order < 1 || merged.max_order > 16) throw new RangeError(`max_order=${merged.max_order}: expected a whole number from 1 to 16`);
  const methodsWithValue = Object.keys(DEFAULT_SMOOTHING_VALUES).filter(name => DEFAULT_SMOOTHING_VALUES[name] !== null);
  if (merged.smoothing_value !== null && !methodsWithValue.includes(merged.smoothing)) throw new RangeError(`smoothing_value: smoothing '${merged.smoothing}' takes no value (expected ${methodsWithValue.join(", ")})`);
  if (merged.missing_order !== null && merged.effective_order !== null) throw new RangeError(`effective_order cannot be changed: missing_order '${merged.missing_order}' of this metric has the same purpose`);
  return overrides;
}

/** Return the end of a message about an unknown name: the most similar name, and all names. @param {string} name @param {string[]} knownNames */
function suggestNames(name, knownNames) {
  const lower = [...name.toLowerCase()], similarities = knownNames.map(other => 2 * diffTokens(lower, [...other]).a.filter(different => !different).length / (lower.length + other.length)), bestSimilarity = Math.max(...similarities);
  return `${bestSimilarity >= 0.4 ? `; did you mean '${knownNames[similarities.indexOf(bestSimilarity)]}'? Available:` : "; available:"} ${knownNames.join(", ")}`;
}
