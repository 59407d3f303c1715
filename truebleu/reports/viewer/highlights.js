// What is sought, as places in a text: matches of the search, an n-gram, terms of the glossary.
import {el, visible} from "./dom.js";
import {placed, runsOf} from "./tokens.js";
import {canHold, splitAsNgrams} from "./ngram_filter.js";
import {termPlaces} from "./glossary.js";
import {placesOf} from "./match_positions.js";

/** @typedef {import("./match_positions.js").Place} Place */

/** Longer texts are marked up to here, and no text has more marks. */
const LONGEST = 20000, MOST = 200;

/** Finds what the state asks for. A user's pattern runs in the other thread, since it may never end: its places come later. */
export class Marks {
  /** @param {import("./selection.js").Context} context @param {() => void} arrived called when places have come for texts that were asked for */
  constructor({ data, store, current, worker }, arrived) {
    this.data = data;
    this.store = store;
    this.current = current;
    this.worker = worker;
    this.arrived = arrived;
    /** Places of the pattern, by text; null while they are sought. @type {Map<string, Place[] | null>} */
    this.known = new Map();
    this.pattern = "";
    this.running = false;
  }

  /** The places in a text of a segment, in order, none in another. @param {string} role @param {number} i @param {string} whole @param {{grams?: boolean, terms?: boolean}} what besides the search @returns {Place[]} */
  places(role, i, whole, { grams = false, terms = false }) {
    const text = whole.length > LONGEST ? whole.slice(0, LONGEST) : whole;
    const all = [...this.sought(role, text), ...(grams ? this.ofGram(role, text) : []), ...(terms ? this.ofTerms(role, i, text) : [])];
    // At one place the longest counts, and then the first kind.
    all.sort((x, y) => x[0] - y[0] || y[1] - x[1]);
    /** @type {Place[]} */
    const kept = [];
    for (const place of all) if (place[1] > place[0] && place[0] >= (kept[kept.length - 1]?.[1] ?? 0) && kept.length < MOST) kept.push(place);
    return kept;
  }

  /** Matches of the search. @param {string} role @param {string} text @returns {Place[]} */
  sought(role, text) {
    const { store, current } = this, find = String(store.get("find")), exact = store.get("case");
    if (!find || !current.searched.some(one => one === role)) return [];
    if (!store.get("regex")) return placesOf(new RegExp(find.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), exact ? "gu" : "giu"), text, "found", MOST);
    const pattern = `${exact} ${find}`;
    if (pattern !== this.pattern) { this.pattern = pattern; this.known.clear(); }
    if (!this.known.has(text)) { this.known.set(text, null); this.seek(); }
    return this.known.get(text) ?? [];
  }

  /** Has the other thread look for the pattern in the texts that wait, all at once. */
  async seek() {
    if (this.running) return;
    this.running = true;
    await new Promise(done => setTimeout(done));
    const { store, pattern } = this, texts = [...this.known].filter(([, places]) => !places).map(([text]) => text);
    /** @type {Place[][]} */
    let found = [];
    try {
      found = await this.worker.run({ kind: "places", pattern: store.get("find"), flags: store.get("case") ? "gu" : "giu", texts, most: MOST }, 1000);
    } catch { /* A pattern that is not valid, or takes too long, is told of by the filter. */ }
    this.running = false;
    if (pattern !== this.pattern) { if ([...this.known.values()].includes(null)) this.seek(); return; }
    texts.forEach((text, k) => this.known.set(text, found[k] ?? []));
    if (this.known.size > 2000) this.known.clear();
    if (found.some(places => places.length)) this.arrived();
    if ([...this.known.values()].includes(null)) this.seek();
  }

  /** The n-gram whose segments are shown. @param {string} role @param {string} text @returns {Place[]} */
  ofGram(role, text) {
    const { store, data } = this, gram = String(store.get("mark") || store.get("holds")), { ngrams } = data.manifest;
    if (!gram || role === "source" || !canHold(data)) return [];
    const { keys, starts, ends } = placed(text, splitAsNgrams(data, text), ngrams.recipe), run = gram.split(" ");
    return Array.from(runsOf(keys, run), n => [starts[n], ends[n + run.length - 1], "found"]);
  }

  /** The terms that the segment has: in the source, and as they are wanted. @param {string} role @param {number} i @param {string} text @returns {Place[]} */
  ofTerms(role, i, text) {
    const { glossary } = this.data;
    return (glossary?.of.get(i) ?? []).flatMap(k => {
      const { source, targets } = /** @type {NonNullable<typeof glossary>} */ (glossary).terms[k];
      return source === null ? [] : role === "source" ? termPlaces(text, source, "term-of") : targets.flatMap((/** @type {string} */ target) => termPlaces(text, target, "term-of used"));
    });
  }
}

/** A part of a text with its marks. @param {string} text @param {Place[]} places @param {number} [from] @param {number} [to] @param {(text: string) => any} [shown] @returns {any[]} */
export function withMarks(text, places, from = 0, to = text.length, shown = visible) {
  const nodes = [];
  let at = from;
  for (const [start, end, kind] of places) {
    if (end <= at || start >= to) continue;
    if (start > at) nodes.push(shown(text.slice(at, start)));
    nodes.push(el("mark", { class: kind }, shown(text.slice(Math.max(at, start), Math.min(to, end)))));
    at = Math.min(to, end);
  }
  if (at < to) nodes.push(shown(text.slice(at, to)));
  return nodes;
}

/** One line of a text, from where its first mark can be seen. @param {string} text @param {Place[]} places @param {number} room in characters @param {number} most */
export function previewOf(text, places, room, most) {
  let from = 0;
  if (places.length && places[0][1] > room) {
    from = Math.max(0, places[0][0] - Math.min(24, room >> 1));
    const space = text.indexOf(" ", from);
    if (space >= 0 && space < places[0][0]) from = space + 1;
  }
  return [from ? "… " : "", withMarks(text, places, from, Math.min(text.length, from + most), piece => visible(piece.replace(/\s+/g, " ")))];
}
