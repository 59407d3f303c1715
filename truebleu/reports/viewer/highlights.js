// Highlights in a text: search matches, an n-gram, and glossary terms.
import {el, showInvisible} from "./dom.js";
import {locateTokens, findRuns} from "./tokens.js";
import {canSplitNgrams, splitForNgrams} from "./ngram_filter.js";
import {findTermSpans} from "./glossary.js";
import {findSpans} from "./match_positions.js";
import {renderErrors} from "./error_spans.js";

/** @typedef {import("./match_positions.js").TextSpan} Place */

/** Maximum length of marked text, and maximum number of marks in a text. */
const MAX_MARKED_LENGTH = 20000, MAX_MARKS = 200;

/** Finder of highlights for the current state. Regular expressions run in a worker because they may not terminate. */
export class Highlights {
  /** @param {import("./selection.js").Context} context @param {() => void} arrived called when the worker has found matches in requested texts */
  constructor({ data, store, current, worker }, arrived) {
    this.data = data;
    this.store = store;
    this.current = current;
    this.worker = worker;
    this.onArrival = arrived;
    /** Pattern matches by text; null while the search runs. @type {Map<string, Place[] | null>} */
    this.spansByText = new Map();
    this.pattern = "";
    this.running = false;
  }

  /** Return the highlights in a text in order, without overlaps. @param {string} role @param {number} i @param {string} fullText @param {{grams?: boolean, terms?: boolean}} what to find in addition to the search @returns {Place[]} */
  findSpans(role, i, fullText, { grams = false, terms = false }) {
    const text = fullText.length > MAX_MARKED_LENGTH ? fullText.slice(0, MAX_MARKED_LENGTH) : fullText;
    const spans = [...this.findSearchHits(role, text), ...(grams ? this.findNgram(role, text) : []), ...(terms ? this.findTerms(role, i, text) : [])];
    // The longest of several spans at a position wins; among equal spans, the first kind wins.
    spans.sort((x, y) => x[0] - y[0] || y[1] - x[1]);
    /** @type {Place[]} */
    const keptSpans = [];
    for (const place of spans) if (place[1] > place[0] && place[0] >= (keptSpans[keptSpans.length - 1]?.[1] ?? 0) && keptSpans.length < MAX_MARKS) keptSpans.push(place);
    return keptSpans;
  }

  /** Return the search matches. @param {string} role @param {string} text @returns {Place[]} */
  findSearchHits(role, text) {
    const { store, current } = this, query = String(store.get("find")), exact = store.get("case");
    if (!query || !current.searchedRoles.some(searched => searched === role)) return [];
    if (!store.get("regex")) return findSpans(new RegExp(query.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), exact ? "gu" : "giu"), text, "found", MAX_MARKS);
    const pattern = `${exact} ${query}`;
    if (pattern !== this.pattern) { this.pattern = pattern; this.spansByText.clear(); }
    if (!this.spansByText.has(text)) { this.spansByText.set(text, null); this.runPattern(); }
    return this.spansByText.get(text) ?? [];
  }

  /** Let the worker search for the pattern in all waiting texts. */
  async runPattern() {
    if (this.running) return;
    this.running = true;
    await new Promise(done => setTimeout(done));
    const { store, pattern } = this, texts = [...this.spansByText].filter(([, places]) => !places).map(([text]) => text);
    /** @type {Place[][]} */
    let results = [];
    try {
      results = await this.worker.run({ kind: "places", pattern: store.get("find"), flags: store.get("case") ? "gu" : "giu", texts, limit: MAX_MARKS }, 1000);
    } catch { /* The filter reports patterns that are invalid or too slow. */ }
    this.running = false;
    if (pattern !== this.pattern) { if ([...this.spansByText.values()].includes(null)) this.runPattern(); return; }
    texts.forEach((text, k) => this.spansByText.set(text, results[k] ?? []));
    if (this.spansByText.size > 2000) this.spansByText.clear();
    if (results.some(places => places.length)) this.onArrival();
    if ([...this.spansByText.values()].includes(null)) this.runPattern();
  }

  /** Return the occurrences of the n-gram that the list is filtered by. @param {string} role @param {string} text @returns {Place[]} */
  findNgram(role, text) {
    const { store, data } = this, gram = String(store.get("mark") || store.get("holds")), { ngrams } = data.manifest;
    if (!gram || role === "source" || !canSplitNgrams(data)) return [];
    const { keys, starts, ends } = locateTokens(text, splitForNgrams(data, text), ngrams.recipe), run = gram.split(" ");
    return Array.from(findRuns(keys, run), n => [starts[n], ends[n + run.length - 1], "found"]);
  }

  /** Return the glossary terms of the segment: source terms, or target terms. @param {string} role @param {number} i @param {string} text @returns {Place[]} */
  findTerms(role, i, text) {
    const { glossary } = this.data;
    return (glossary?.termsBySegment.get(i) ?? []).flatMap(k => {
      const { source, targets } = /** @type {NonNullable<typeof glossary>} */ (glossary).terms[k];
      return source === null ? [] : role === "source" ? findTermSpans(text, source, "term-of") : targets.flatMap((/** @type {string} */ target) => findTermSpans(text, target, "term-of used"));
    });
  }
}

/** Render a part of a text with its marks and errors. @param {string} text @param {Place[]} places @param {number} [from] @param {number} [to] @param {(text: string) => any} [shown] @param {import("./error_spans.js").PlacedError[]} [errors] @returns {any[]} */
export function renderMarks(text, places, from = 0, to = text.length, shown = showInvisible, errors = []) {
  const nodes = [], show = (/** @type {number} */ start, /** @type {number} */ end) => errors.length ? renderErrors(text, start, end, errors, shown) : shown(text.slice(start, end));
  let position = from;
  for (const [start, end, kind] of places) {
    if (end <= position || start >= to) continue;
    if (start > position) nodes.push(show(position, start));
    nodes.push(el("mark", { class: kind }, show(Math.max(position, start), Math.min(to, end))));
    position = Math.min(to, end);
  }
  if (position < to) nodes.push(show(position, to));
  return nodes;
}

/** Render one line of a text that starts near its first mark. @param {string} text @param {Place[]} places @param {number} visibleLength in characters @param {number} maxLength */
export function renderPreview(text, places, visibleLength, maxLength) {
  let from = 0;
  if (places.length && places[0][1] > visibleLength) {
    from = Math.max(0, places[0][0] - Math.min(24, visibleLength >> 1));
    const space = text.indexOf(" ", from);
    if (space >= 0 && space < places[0][0]) from = space + 1;
  }
  return [from ? "… " : "", renderMarks(text, places, from, Math.min(text.length, from + maxLength), piece => showInvisible(piece.replace(/\s+/g, " ")))];
}
