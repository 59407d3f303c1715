// What the state means for the data: the metric, the two systems, their numbers, and which segments are chosen.
import {announce} from "./dom.js";
import {COUNTED, recipeOf} from "./live.js";
import {Table} from "./data.js";
import {holder} from "./holding.js";
import {corpusScore, jackknife, leftOut, metricOf, random, missing, segmentScores, SMOOTHING, smoothingValue} from "./formula.js";

/** @typedef {import("./data.js").Data} Data */
/** @typedef {import("./data.js").Setting} Setting */
/** @typedef {import("./data.js").System} System */
/** @typedef {import("./formula.js").Metric} Metric */
/** @typedef {import("./store.js").Store} Store */
/** @typedef {{data: Data, store: Store, worker: Background, current: Current}} Context  what every view is given */
/** @typedef {{low: number, high: number, how: string}} Range */
/** @typedef {{a: number[], b: number[], delta: number[], how: string}} Spans  intervals of two scores and of their difference, and their method */
/** @typedef {{id: string, label: string, column: string | null, higher: boolean, digits: number, headline: boolean}} Measured */
/** @typedef {{count: number, a: number, b: number | null, delta: number | null, interval: Range | null, waiting: boolean, note: string}} Subset */

/** Filters of segments, by their keys in the state. */
export const FILTERS = { find: "", in: "all", regex: false, case: false, doc: null, label: "", flag: "", outcome: "", split: "", range: "", holds: "", seen: null, only: "", about: "", part: false, sample: null, mark: "" };
/** What the state holds beside a view's own; `setting` and below change the numbers. */
export const STATE = { ...FILTERS, sort: "number", seg: null, mode: "match", against: "b", setting: "0", a: 0, b: 1, smoothing: "", smoothing_value: null, max_order: null, weights: "", effective_order: "", beta: null, char_order: null, word_order: null, ...Object.fromEntries(Object.keys(COUNTED).map(key => [key, ""])) };
/** Keys of `STATE` that are null or a number. */
export const NUMBERS = ["doc", "seen", "sample", "seg", "smoothing_value", "max_order", "beta", "char_order", "word_order"];
/** Keys that change what the metric is. */
export const CHANGES = ["smoothing", "smoothing_value", "max_order", "weights", "effective_order", "beta", "char_order", "word_order", ...Object.keys(COUNTED)];
/** How many segments a random sample has. */
export const SAMPLE = 50;
const SAMPLES = 1000;
/** Above so many segments no resamples are drawn in the page. */
export const LIVE = 10000;
/** Fewer segments have no interval; those of fewer than `FEW` are rough, and grey. */
export const FEWEST = 20;
export const FEW = 100;
export const TOO_FEW = `too few for an interval`;
/** So many tables that were counted anew are kept. */
const KEPT_COUNTS = 4;
/** So many results of slow filters are kept. */
const KEPT_HITS = 4;

/** Columns of numbers that segments are sorted and filtered by. @type {Record<string, string>} */
export const COLUMNS = { scoreA: "score of A", scoreB: "score of B", delta: "Δ", influence: "influence", ratio: "length ratio", length: "reference length" };

/**
 * What stands in a table of counts is such a column, too: "matches_4.0" is of system 0, "matches_4.d"
 * is B less A; "surplus.0" is by how much its text is longer than the reference.
 * @param {string} name @returns {[string, string] | null}
 */
const counted = name => { const [what, of] = name.split("."); return of === "d" || /^\d+$/.test(of ?? "") ? [what, of] : null; };

/** What a column of counts is called. @param {Current} current @param {string} name */
export function countName({ data, a, b }, name) {
  const [what, of] = counted(name) ?? [name, ""], system = data.systems[Number(of)];
  const [, kind, order] = /^(\w+?)_([cw]?\d+)$/.exec(what) ?? ["", what, ""];
  return [order.replace(/^c/, "character ").replace(/^w/, "word ") + (order ? "-grams" : ""), { matches: "matched", totals: "in all", hypothesis: "in all", reference: "in the reference", surplus: "length less reference's", hypothesis_length: "length", reference_length: "reference length" }[kind] ?? kind.replaceAll("_", " "),
    of === "d" ? `, ${b?.letter} less ${a.letter}` : system ? `, ${system.letter}` : ""].filter(Boolean).join(" ").replace(" ,", ",");
}

/** Shows some segments in the list, and says which they are; `part`: not all that are meant, so that they have no score. @param {Store} store @param {number[]} segments from 0 @param {string} about @param {boolean} [part] */
export function showSegments(store, segments, about, part = false) {
  store.set({ ...FILTERS, only: segments.map(i => i + 1).join(","), about, part, view: "segments", seg: null, sort: "number" });
}

/** The lengths of hypotheses and of references, by segment. @param {import("./data.js").Table} table */
function lengthColumns(table) {
  const [x, y, deleted, inserted] = table.columns, sum = (/** @type {ArrayLike<number>} */ z) => Float64Array.from(x, (n, i) => n + y[i] + z[i]);
  return table.names[0] === "hits" ? [sum(inserted), sum(deleted)] : [x, y];
}

/** Shows the segments that a filter leaves: `{doc: 3}`, `{range: "length:10:20"}`, `{label: "0:2"}`, `{flag: "duplicate"}`. @param {Store} store @param {Partial<typeof FILTERS> & Record<string, any>} filters */
export function showFiltered(store, filters) {
  store.set({ ...FILTERS, view: "segments", seg: null, ...filters });
}

/**
 * Whether a parameter can have a value, which may come from an address that somebody wrote.
 * @param {string} key @param {any} value @param {Record<string, any>} own the setting's parameters @param {number | null} order
 */
function possible(key, value, own, order) {
  const whole = (/** @type {number} */ least) => Number.isInteger(value) && value >= least && value <= own[key];
  const orders = order !== null && order >= 1 && order <= own.max_order ? order : own.max_order;
  switch (key) {
    case "smoothing": return Object.hasOwn(SMOOTHING, value);
    case "smoothing_value": case "beta": return value >= 0;
    case "max_order": return whole(1);
    case "char_order": case "word_order": return whole(0);
    case "weights": return value === "mean" || value.split(",").length === orders && value.split(",").every((/** @type {string} */ w) => Number(w) >= 0) && /[1-9]/.test(value);
    default: return true;
  }
}

/** Numbers of what is chosen; all are cached until what they depend on changes. */
export class Current {
  /** @param {Data} data @param {Store} store @param {Background} worker */
  constructor(data, store, worker) {
    this.data = data;
    this.store = store;
    this.worker = worker;
    /** @type {Map<string, any>} */
    this.cache = new Map();
    /** The segments that the filters leave, in order. */
    this.chosen = Uint32Array.from({ length: data.n }, (_, i) => i);
    /** Where each segment stands in `chosen`, made when asked for. @type {Int32Array | null} */
    this.places = null;
    this.all = true;
    /** What went wrong with a filter. */
    this.problem = "";
    /** How much of a filter is worked out, 0 to 1; null if none is under way. Until then `chosen` is what it was before. @type {number | null} */
    this.busy = null;
    /** The filters that `chosen` is by. @type {Record<string, any>} */
    this.settled = { ...FILTERS };
    /** What slow filters left, by all that they depend on. @type {Map<string, Uint8Array>} */
    this.hits = new Map();
    /** @type {Subset | null} */
    this.subset = null;
    this.turn = 0;
    /** What was counted anew: by setting and parameters, a table of each system. @type {Map<string, Table[]>} */
    this.tables = new Map();
    /** The parameters that the numbers shown were counted by, of which setting. @type {{setting: string, changes: Record<string, any>}} */
    this.counted = { setting: "", changes: {} };
    /** How much of a count is done, 0 to 1; null if none is under way. @type {number | null} */
    this.counting = null;
    /** The setting, and its parameters, before those that are counted now. @type {Record<string, any> | null} */
    this.before = null;
    this.count = 0;
  }

  /** @template T @param {string} key @param {() => T} make @returns {T} */
  once(key, make) {
    if (!this.cache.has(key)) this.cache.set(key, make());
    return this.cache.get(key);
  }

  get setting() { return this.data.settings.find(s => s.id === this.store.get("setting")) ?? this.data.settings[0]; }

  /** Parameters that stand in the place of the setting's own. */
  get changes() {
    const { store } = this, p = this.setting.parameters;
    /** @type {Record<string, any>} */
    const changes = {};
    // chrF takes the reference with the highest score, which other parameters would change.
    if (this.setting.metric === "chrF" && this.data.references > 1) return this.recounted;
    for (const key of CHANGES) {
      const value = store.get(key);
      if (value === null || value === "" || !(key in p) || key in COUNTED || !possible(key, value, p, store.get("max_order"))) continue;
      changes[key] = key === "weights" ? (value === "mean" ? null : value.split(",").map(Number)) : key === "effective_order" ? value === "yes" : value;
    }
    return { ...changes, ...this.recounted };
  }

  /** Parameters that change what is counted, as far as they were: the others come when their counts do. */
  get recounted() { return this.counted.setting === this.setting.id ? this.counted.changes : {}; }

  /** Those that are asked for. */
  get asked() {
    const { store, setting } = this, p = setting.parameters;
    /** @type {Record<string, any>} */
    const asked = {};
    if (this.data.countable(setting)) for (const [key, values] of Object.entries(COUNTED)) {
      const text = store.get(key), value = key === "tokenize" ? text : text === "yes";
      if (key in p && values.includes(text) && value !== p[key]) asked[key] = value;
    }
    return asked;
  }

  /** Counts anew if that is asked for. Until it is done all numbers are those from before. Tells "counting", and then what changed. */
  async recount() {
    const { data, store, setting, asked } = this, { live } = data, turn = ++this.count, key = `${setting.id} ${JSON.stringify(asked)}`;
    const was = this.counting;
    this.counting = null;
    const parameters = { ...setting.parameters, ...asked }, recipe = live && Object.keys(asked).length ? recipeOf(setting, parameters, missing, smoothingValue(parameters)) : null;
    if (!live || !recipe || this.tables.has(key)) {
      const known = this.counted.setting === setting.id ? this.counted.changes : {};
      this.settle(key, asked);
      if (JSON.stringify(known) !== JSON.stringify(asked)) store.tell(new Set(["counts"]));
      else if (was !== null) store.tell(new Set(["counting"]));
      return;
    }
    const references = Array.from({ length: data.references }, (_, r) => `reference${r}`), tables = [];
    try {
      for (const { index } of data.systems) {
        const columns = await live.count(recipe, `system${index}`, references, data.n, async share => {
          if (turn !== this.count) return false;
          this.counting = (index + share) / data.systems.length;
          store.tell(new Set(["counting"]));
          await new Promise(done => setTimeout(done));
          return turn === this.count;
        });
        if (!columns) return;
        tables.push(new Table(setting.columns, columns));
      }
    } catch (error) {
      if (turn !== this.count) return;
      this.counting = null;
      this.uncount();
      announce(`The count failed: ${/** @type {Error} */ (error).message}`);
      // Nothing is under way; that is told even if nothing else changed.
      store.tell(new Set(["counting"]));
      return;
    }
    this.tables.set(key, tables);
    this.counting = null;
    this.settle(key, asked);
    store.tell(new Set(["counts"]));
  }

  /** Takes counts as those that are shown; the latest few tables are kept. @param {string} key @param {Record<string, any>} asked */
  settle(key, asked) {
    const { store, setting, tables } = this, own = tables.get(key);
    this.counted = { setting: setting.id, changes: asked };
    this.before = Object.fromEntries(["setting", ...CHANGES].map(name => [name, store.get(name)]));
    if (own) { tables.delete(key); tables.set(key, own); }
    for (const old of tables.keys()) if (tables.size > KEPT_COUNTS) tables.delete(old);
  }

  /** Back to the counts that were shown before; what else was changed since, stays. */
  uncount() {
    const { store, before } = this, keys = before && before.setting !== store.get("setting") ? ["setting", ...CHANGES] : Object.keys(COUNTED);
    store.set(Object.fromEntries(keys.map(key => [key, before ? before[key] : store.defaults[key]])), { replace: true });
  }

  /** The metric as it is now. @returns {Metric} */
  get metric() {
    return this.once(`metric ${this.setting.id} ${JSON.stringify(this.changes)}`, () => metricOf(this.setting, this.changes, this.data.live));
  }

  /** Names everything that depends on the metric. */
  get id() { return `${this.setting.id} ${JSON.stringify(this.changes)}`; }

  /** Whether these are numbers that were reported. */
  get reported() { return this.metric.reported && this.setting.headline; }

  /** The baseline. @returns {System} */
  get a() { return this.data.systems[this.store.get("a")] ?? this.data.systems[0]; }

  /** The system that is compared with it; null if there is only one. @returns {System | null} */
  get b() {
    const { systems } = this.data;
    if (systems.length < 2) return null;
    const chosen = systems[this.store.get("b")];
    return chosen && chosen !== this.a ? chosen : systems.find(s => s !== this.a) ?? null;
  }

  /** Segment scores of a system. @param {System} system @returns {Float64Array} */
  scores(system) {
    return this.once(`scores ${system.index} ${this.id}`, () => segmentScores(this.metric, this.table(system)));
  }

  /** @param {System} system */
  table(system) { return this.tables.get(`${this.setting.id} ${JSON.stringify(this.recounted)}`)?.[system.index] ?? this.data.table(this.setting, system.index); }

  /** Everything that has a score of each segment: settings, and columns of scores. @returns {Measured[]} */
  get measures() {
    const { settings, manifest } = this.data;
    return [...settings.map(s => ({ id: s.id, label: s.label, column: s.column, higher: s.higher_is_better, digits: 2, headline: s.headline })),
      ...(manifest.columns ?? []).map((/** @type {any} */ c) => ({ id: c.id, label: c.label, column: c.column, higher: c.higher_is_better, digits: c.digits, headline: true }))];
  }

  /** By how much each segment of B is better than that of A, by one of `measures`; below 0 where it is worse. @param {Measured} of @returns {Float64Array} */
  better({ id, higher }) {
    const { data, a, b } = this, own = data.settings.find(s => s.id === id), here = own === this.setting;
    return this.once(`better ${id} ${a.index} ${b?.index} ${here ? this.id : ""}`, () => {
      const [x, y] = [a, b ?? a].map(s => here ? this.scores(s) : own ? segmentScores(metricOf(own, {}, data.live), data.table(own, s.index)) : /** @type {import("./data.js").Table} */ (data.tables.get(`${id}.${s.index}`)).columns[0]);
      return Float64Array.from(x, (score, i) => higher ? y[i] - score : score - y[i]);
    });
  }

  /** Two measures, and which system each prefers ("ab": the first A, the second B; "=": neither), as the state has it. @returns {{by: Measured[], which: string} | null} */
  get split() {
    const [first, second, which = ""] = String(this.store.get("split")).split(":"), by = [first, second].flatMap(id => this.measures.find(m => m.id === id) ?? []);
    return this.b && by.length === 2 && /^[ab=]{2}$/.test(which) ? { by, which } : null;
  }

  /** The score of all segments or of some. @param {System} system @param {ArrayLike<number>} [segments] */
  corpus(system, segments) {
    // A mean is one of segments; the rest needs no more than sums.
    return corpusScore(this.metric, this.table(system), this.metric.mean ? this.scores(system) : new Float64Array(), segments);
  }

  /** The corpus score without each segment. @param {System} system @returns {Float64Array} */
  without(system) { return this.once(`without ${system.index} ${this.id}`, () => leftOut(this.metric, this.table(system), this.metric.mean ? this.scores(system) : new Float64Array())); }

  /**
   * A column of numbers, one a segment. delta: score of B less that of A. influence: by how much the
   * corpus Δ (or the one system's score) would fall without the segment.
   * @param {string} name one of COLUMNS, or "number" @returns {Float64Array}
   */
  column(name) {
    const { a, b } = this;
    return this.once(`column ${name} ${a.index} ${b?.index} ${this.id}`, () => {
      const n = this.data.n, out = new Float64Array(n), table = this.table(b ?? a), of = counted(name);
      if (of) {
        const [x, y] = (of[1] === "d" ? [b ?? a, a] : [this.data.systems[Number(of[1])]]).map(s => this.table(s));
        const [more, less] = of[0] === "surplus" ? lengthColumns(x) : [x.column(of[0]), y?.column(of[0])];
        for (let i = 0; i < n; i++) out[i] = more[i] - (less ? less[i] : 0);
        return out;
      }
      if (name === "scoreA") return this.scores(a);
      if (name === "scoreB") return this.scores(b ?? a);
      if (name === "delta" && b) {
        const x = this.scores(a), y = this.scores(b);
        for (let i = 0; i < n; i++) out[i] = y[i] - x[i];
      } else if (name === "influence") {
        const x = this.without(a), whole = b ? this.corpus(b) - this.corpus(a) : this.corpus(a), y = b ? this.without(b) : null;
        for (let i = 0; i < n; i++) out[i] = whole - (y ? y[i] - x[i] : x[i]);
      } else if (name === "length") out.set(this.data.lengths);
      else if (name === "ratio") {
        const [h, r] = lengthColumns(table), unit = /parts$/.test(table.names[1]) ? 720720 : 1;
        for (let i = 0; i < n; i++) out[i] = r[i] ? h[i] * unit / r[i] : NaN;
      } else if (name === "number") for (let i = 0; i < n; i++) out[i] = i;
      return out;
    });
  }

  /** Whether a column means something here. @param {string} name @returns {boolean} */
  has(name) {
    const of = counted(name);
    if (of) return (of[1] === "d" || Number(of[1]) < this.data.systems.length) && (of[0] === "surplus" ? this.has("ratio") : this.setting.columns.includes(of[0]));
    if (!(name in COLUMNS) && name !== "number") return false;
    if (name === "delta" || name === "scoreB") return !!this.b;
    // TER's first column is of edits.
    return !(name === "ratio" && this.setting.metric === "TER");
  }

  /** All segments by a column, the smallest first, those without a number last. @param {string} name */
  sorted(name) {
    const values = this.column(name);
    return this.once(`sorted ${name} ${this.a.index} ${this.b?.index} ${this.id}`, () => byValue(values));
  }

  // ---- filters ----

  /** Whether any filter is set. */
  get filtered() { const { store } = this; return ["find", "doc", "label", "flag", "outcome", "split", "range", "holds", "seen", "only", "sample"].some(key => store.get(key) !== /** @type {any} */ (FILTERS)[key]); }

  /** The ranges that are set: column, from, to. @returns {[string, number, number][]} */
  get ranges() {
    return String(this.store.get("range")).split(";").filter(Boolean).map(part => {
      const [name, low, high] = part.split(":");
      return /** @type {[string, number, number]} */ ([name, low === "" ? -Infinity : Number(low), high === "" || high === undefined ? Infinity : Number(high)]);
    }).filter(([name]) => name !== "number" && this.has(name));
  }

  /** Whether a filter is set that takes time: it reads texts, or counts that are unpacked when they are wanted. */
  get slow() { const { store } = this; return !!store.get("find") || !!store.get("holds") || store.get("seen") !== null || this.wantsSame; }

  /** Whether the segments are wanted in which both systems wrote the same. */
  get wantsSame() { return !!this.b && this.store.get("outcome") === "same"; }

  /** Whether filters by text see but some of the segments: their texts alone are here. */
  get sees() { const { data, store } = this; return data.manifest.serve || data.manifest.embedded === data.n || !(store.get("find") || store.get("holds") || this.wantsSame); }

  /** Works out which segments are chosen, and then the scores of the subset. Tells "subset" while that takes time, and "selection". */
  async choose() {
    const turn = ++this.turn, { store, data } = this;
    // No one waits any more for what was sought before.
    this.worker.stop("regex", "cancelled");
    this.problem = "";
    this.busy = null;
    let mask = this.mask();
    if (this.slow) {
      const key = JSON.stringify([Object.keys(FILTERS).map(name => store.get(name)), this.a.index, this.b?.index, this.id]), known = this.hits.get(key);
      if (known) mask = known.slice();
      else {
        this.busy = 0;
        // Numbers of all segments do not stand beside a filter.
        this.subset = null;
        store.tell(new Set(["subset"]));
        if (turn !== this.turn) return;
        if (!data.ready.texts) return; // It is made when they are there.
        try {
          await this.sift(mask, turn);
          if (turn !== this.turn) return;
          this.hits.set(key, mask.slice());
          for (const old of this.hits.keys()) if (this.hits.size > KEPT_HITS) this.hits.delete(old);
        } catch (error) {
          if (turn !== this.turn) return;
          this.problem = /** @type {Error} */ (error).message;
          mask.fill(0);
        }
        this.busy = null;
      }
    }
    const sample = store.get("sample");
    if (sample !== null) draw(mask, SAMPLE, sample);
    if (!this.problem) this.settled = Object.fromEntries(Object.keys(FILTERS).map(name => [name, store.get(name)]));
    this.arrange(mask);
    store.tell(new Set(["selection"]));
    await this.measure(turn);
  }

  /** Back to the filters that the list shows; where these are the same, the slow ones go. */
  cancel() {
    const { store, settled } = this, same = Object.keys(settled).every(key => settled[key] === store.get(key));
    store.set(same ? { find: "", holds: "", seen: null, outcome: this.wantsSame ? "" : store.get("outcome") } : settled, { replace: true });
  }

  /** Leaves what the slow filters leave, too. @param {Uint8Array} mask @param {number} turn */
  async sift(mask, turn) {
    const { store } = this, find = store.get("find"), holds = store.get("holds");
    if (this.wantsSame) await this.same(mask, turn);
    if (store.get("seen") !== null) await this.seen(mask, store.get("seen"));
    for (const hits of [holds && turn === this.turn ? await this.holding(holds, turn, mask) : null, find && turn === this.turn ? await this.search(find, turn, mask) : null])
      if (hits) for (let i = 0; i < mask.length; i++) mask[i] &= hits[i];
  }

  /** Puts what a mask leaves in order. @param {Uint8Array} mask */
  arrange(mask) {
    const key = String(this.store.get("sort")), absolute = key.includes("|"), down = key[0] === "-", name = key.replace(/[-|]/g, "");
    let order = name !== "number" && this.has(name) ? this.sorted(name) : this.once("by number", () => Uint32Array.from({ length: this.data.n }, (_, i) => i));
    if (absolute && this.has(name)) {
      const values = this.column(name);
      order = this.once(`absolute ${name} ${this.a.index} ${this.b?.index} ${this.id}`, () => byValue(values.map(Math.abs)));
    }
    let n = 0;
    for (let i = 0; i < mask.length; i++) n += mask[i];
    const chosen = new Uint32Array(n), values = down ? this.column(this.has(name) ? name : "number") : null;
    if (!values) { for (let i = 0, at = 0; i < order.length; i++) if (mask[order[i]]) chosen[at++] = order[i]; } else {
      // Backwards, but segments with equal numbers stay in the order of the file, and those without one last.
      const size = (/** @type {number} */ i) => absolute ? Math.abs(values[i]) : values[i];
      let at = 0, end = order.length;
      while (end && Number.isNaN(values[order[end - 1]])) end--;
      for (let stop = end; stop > 0;) {
        let start = stop - 1;
        while (start > 0 && size(order[start - 1]) === size(order[stop - 1])) start--;
        for (let i = start; i < stop; i++) if (mask[order[i]]) chosen[at++] = order[i];
        stop = start;
      }
      for (let i = end; i < order.length; i++) if (mask[order[i]]) chosen[at++] = order[i];
    }
    this.chosen = chosen;
    this.places = null;
    this.all = n === this.data.n;
  }

  /** Where a segment stands among the chosen; -1 if it does not. @param {number} segment */
  place(segment) {
    if (!this.places) {
      this.places = new Int32Array(this.data.n).fill(-1);
      for (let i = 0; i < this.chosen.length; i++) this.places[this.chosen[i]] = i;
    }
    return this.places[segment] ?? -1;
  }

  /** What the filters leave that need no text. */
  mask() {
    const { data, store } = this, n = data.n, mask = new Uint8Array(n).fill(1);
    const keep = (/** @type {(i: number) => boolean} */ test) => { for (let i = 0; i < n; i++) if (mask[i] && !test(i)) mask[i] = 0; };
    const doc = store.get("doc"), documents = data.documents;
    if (doc !== null && documents) keep(i => documents.of[i] === doc);
    for (const part of String(store.get("label")).split(";").filter(Boolean)) {
      const [number, value] = part.split(":").map(Number), label = data.labels[number];
      if (label) keep(i => label.of[i] === value);
    }
    const [flag, role] = String(store.get("flag")).split("@");
    const known = (data.manifest.health?.flags ?? []).find((/** @type {any} */ f) => f.id === flag);
    if (known) {
      const sets = Object.entries(data.flags).filter(([name]) => !role || name === role).map(([, bits]) => bits);
      keep(i => sets.some(bits => bits[i] >>> known.bit & 1));
    }
    const outcome = store.get("outcome"), { b } = this;
    if (outcome && b) {
      const delta = this.column("delta"), sign = this.metric.higher ? 1 : -1;
      if (outcome !== "same") keep(i => outcome === "b" ? sign * delta[i] > 0 : outcome === "a" ? sign * delta[i] < 0 : delta[i] === 0);
    }
    const { split } = this;
    if (split) { const [x, y] = split.by.map(m => this.better(m)); keep(i => side(x[i]) + side(y[i]) === split.which); }
    for (const [name, low, high] of this.ranges) { const values = this.column(name); keep(i => values[i] >= low && values[i] <= high); }
    const only = String(store.get("only"));
    if (only) { const wanted = new Set(only.split(",").map(s => Number(s) - 1)); keep(i => wanted.has(i)); }
    return mask;
  }

  /** Roles that a search looks in. */
  get searched() {
    const where = this.store.get("in"), { roles } = this.data;
    return where === "all" ? roles : roles.filter(role => role === where || role.replace(/\d+$/, "") === where);
  }

  /** @param {string} find @param {number} turn @param {Uint8Array} mask @returns {Promise<Uint8Array>} */
  async search(find, turn, mask) {
    const { data, store } = this, exact = store.get("case");
    if (data.redacted) throw new Error("the texts are not in this file");
    const going = (/** @type {number} */ share) => {
      this.busy = share;
      store.tell(new Set(["subset"]));
      return turn === this.turn;
    };
    if (!store.get("regex")) return data.search(find, this.searched, exact, going);
    const flags = exact ? "u" : "iu";
    try { new RegExp(find, flags); } catch (error) { throw new Error(`the pattern is not valid (${/** @type {Error} */ (error).message.replace(/^Invalid regular expression: /, "")})`); }
    const hits = new Uint8Array(data.n);
    let left = 10000;
    for await (const { from, to, text } of data.pieces(this.searched)) {
      /** @type {number[]} */
      const of = [];
      const texts = [];
      for (let i = from; i < to; i++) if (mask[i]) for (const role of this.searched) { of.push(i); texts.push(text(role, i)); }
      if (!of.length) continue;
      const start = Date.now();
      for (const i of await this.worker.run({ kind: "regex", pattern: find, flags, texts, of }, Math.max(1, left), "the pattern took more than 10 seconds, and was stopped")) hits[i] = 1;
      if (!data.manifest.serve) left -= Date.now() - start; // Of a server there are more segments than 10 seconds are enough for.
      if (!going(to / data.n)) break;
    }
    return hits;
  }

  /**
   * Marks the segments that hold an n-gram, in a reference or in one of the two systems' texts.
   * @param {string} gram @param {number} turn @param {Uint8Array} mask @returns {Promise<Uint8Array>}
   */
  async holding(gram, turn, mask) {
    const { data, store, a, b } = this, held = holder(data, gram), hits = new Uint8Array(data.n);
    if (!held) throw new Error(data.redacted ? "the texts are not in this file" : "the page cannot split texts as the lists of n-grams were");
    const roles = data.roles.filter(role => role.startsWith("reference") || role === `system${a.index}` || role === `system${b?.index}`);
    let last = Date.now();
    for await (const { from, to, text } of data.pieces(roles)) {
      for (let i = from; i < to; i++) if (mask[i] && roles.some(role => held(text(role, i) ?? ""))) hits[i] = 1;
      if (Date.now() - last > 40) {
        this.busy = to / data.n;
        store.tell(new Set(["subset"]));
        await new Promise(done => setTimeout(done));
        last = Date.now();
      }
      if (turn !== this.turn) break;
    }
    return hits;
  }

  /** Leaves the segments whose words of a frequency the two systems have unequally, or one system not all. @param {Uint8Array} mask @param {number} bucket */
  async seen(mask, bucket) {
    const { data, a, b } = this, known = data.manifest.buckets?.frequency;
    if (!known || !(bucket in known.edges)) return;
    const counts = await data.counts("frequency", known), [wanted, own, other] = [`reference_${bucket}`, `matched_${a.index}_${bucket}`, `matched_${b?.index}_${bucket}`].map(name => counts.column(name));
    for (let i = 0; i < mask.length; i++) if (!wanted[i] || (b ? own[i] === other[i] : own[i] === wanted[i])) mask[i] = 0;
  }

  /** Leaves the segments in which both systems wrote the same. @param {Uint8Array} mask @param {number} turn */
  async same(mask, turn) {
    const [a, b] = [this.a, /** @type {System} */ (this.b)].map(system => `system${system.index}`);
    for await (const { from, to, text } of this.data.pieces([a, b])) {
      for (let i = from; i < to; i++) if (mask[i] && (!this.data.embedded(i) || text(a, i) !== text(b, i))) mask[i] = 0;
      if (turn !== this.turn) return;
    }
  }

  // ---- the subset's own numbers ----

  /** The comparison's word on two systems, b less a, by a setting as it was reported; null if there is none. @param {System} a @param {System} b @param {Setting} [setting] */
  pair(a, b, setting = this.setting) {
    const { comparison } = this.data.manifest, name = setting.column, reported = setting === this.setting ? this.reported : setting.headline;
    const pair = reported && comparison?.pairs.find((/** @type {any} */ p) => p.metric === name && (p.first === a.name && p.second === b.name || p.first === b.name && p.second === a.name));
    if (!pair) return null;
    const turned = pair.first === a.name, of = pair.interval;
    return { ...pair, value: turned ? -pair.value : pair.value, interval: of && (turned ? { ...of, low: -of.high, high: -of.low } : of),
      wins: turned ? pair.losses : pair.wins, losses: turned ? pair.wins : pair.losses };
  }

  get level() { return (this.data.manifest.comparison ?? this.data.manifest.intervals)?.level ?? 0.95; }

  /** The intervals over all segments: the reported ones where there are such, else from leaving out each. @returns {Spans | null} */
  get whole() {
    const { a, b, data } = this, content = data.manifest.comparison ?? data.manifest.intervals;
    return this.once(`whole ${a.index} ${b?.index} ${this.id}`, () => {
      const [x, y] = [a, b ?? a].map(s => this.reported ? content?.systems.find((/** @type {any} */ one) => one.name === s.name)?.scores[this.setting.column ?? ""]?.interval : null), pair = b ? this.pair(a, b)?.interval : x;
      if (x && y && pair) return { a: [x.low, x.high], b: [y.low, y.high], delta: [pair.low, pair.high], how: "as in the summary" };
      return data.n < FEWEST ? null : this.byLeavingOut();
    });
  }

  /**
   * The intervals of a group of segments, by the same method wherever they are asked for. @param {ArrayLike<number>} segments
   * @returns {Promise<Spans | null>} null if these are too few
   */
  async spans(segments) {
    if (segments.length === this.data.n) return this.whole;
    if (segments.length < FEWEST) return null;
    if (segments.length > LIVE) return this.byLeavingOut(segments);
    return { ...await this.resample(segments), how: RESAMPLED(!!this.b) };
  }

  /** Intervals by a normal approximation from leaving out each segment. @param {ArrayLike<number>} [segments] @returns {Spans} */
  byLeavingOut(segments) {
    const { a, metric } = this, b = this.b ?? a, z = quantile(1 - (1 - this.level) / 2), none = new Float64Array();
    const [x, y] = [a, b].map(s => segments ? leftOut(metric, this.table(s), metric.mean ? this.scores(s) : none, segments) : this.without(s)), [p, q] = [a, b].map(s => this.corpus(s, segments)), zero = new Float64Array(x.length);
    const ends = (/** @type {number} */ middle, /** @type {Float64Array} */ from, /** @type {Float64Array} */ to) => { const wide = z * jackknife(from, to); return [middle - wide, middle + wide]; };
    return { a: ends(p, zero, x), b: ends(q, zero, y), delta: ends(q - p, x, y), how: LEFT_OUT };
  }

  /** @param {number} turn */
  async measure(turn) {
    const { a, b, chosen, all, store } = this;
    // Of segments that are not all that are meant no score is made.
    const part = store.get("only") && store.get("part") ? "no score: these are examples" : this.sees ? "" : "no score: the other segments' texts are not in this file";
    if (!chosen.length || part) { this.subset = chosen.length ? { count: chosen.length, a: NaN, b: null, delta: null, interval: null, waiting: false, note: part } : null; store.tell(new Set(["subset"])); return; }
    const segments = all ? undefined : chosen;
    const scoreA = this.corpus(a, segments), scoreB = b ? this.corpus(b, segments) : null;
    const subset = this.subset = /** @type {Subset} */ ({ count: chosen.length, a: scoreA, b: scoreB, delta: scoreB === null ? null : scoreB - scoreA, interval: null, waiting: all ? !!this.whole : chosen.length >= FEWEST, note: "" });
    if (!subset.waiting) subset.note = TOO_FEW;
    store.tell(new Set(["subset"]));
    if (!subset.waiting) return;
    try {
      const result = await this.spans(chosen);
      if (turn !== this.turn) return;
      if (result) { const [low, high] = b ? result.delta : result.a; subset.interval = { low, high, how: result.how }; }
      if (chosen.length < FEW) subset.note = `fewer than ${FEW} segments: rough`;
    } catch (error) {
      if (turn !== this.turn) return;
      subset.note = /** @type {Error} */ (error).message;
    }
    subset.waiting = false;
    store.tell(new Set(["subset"]));
  }

  /** Bootstrap intervals of some segments, in the other thread. @param {ArrayLike<number>} segments @param {number} [seed] */
  resample(segments, seed = 12345) {
    const { a, metric, level } = this, b = this.b ?? a, x = this.table(a).columns, y = this.table(b).columns;
    const width = metric.mean ? 1 : x.length, rows = new Float64Array(segments.length * 2 * width);
    // A sum does not depend on the order: what the list is sorted by must not matter.
    const ordered = Uint32Array.from(segments).sort();
    const scores = metric.mean ? [this.scores(a), this.scores(b)] : [];
    for (let i = 0, at = 0; i < ordered.length; i++) {
      const segment = ordered[i];
      if (metric.mean) { rows[at++] = scores[0][segment]; rows[at++] = scores[1][segment]; continue; }
      for (let k = 0; k < width; k++) rows[at++] = x[k][segment];
      for (let k = 0; k < width; k++) rows[at++] = y[k][segment];
    }
    return this.worker.run({ kind: "bootstrap", rows, width, setting: this.setting, changes: this.changes, samples: SAMPLES, level, seed }, 60000, "stopped after a minute");
  }
}

/** Methods of intervals, by name. */
export const LEFT_OUT = "normal approximation, from leaving out each segment";
const RESAMPLED = (/** @type {boolean} */ pair) => `1,000 ${pair ? "paired " : ""}bootstrap resamples`;

/** Which system a difference prefers. @param {number} x of `Current.better` */
export const side = x => x > 0 ? "b" : x < 0 ? "a" : "=";

/** Numbers of segments by their values, the smallest first, NaN last, equal ones as they stand. @param {Float64Array} values */
export function byValue(values) {
  const n = values.length, bits = new Uint32Array(values.slice().buffer);
  let from = new Uint32Array(n), to = new Uint32Array(n);
  const keys = new Uint32Array(2 * n);
  for (let i = 0; i < n; i++) {
    from[i] = i;
    // Doubles whose bits sort as integers do; NaN above all.
    const negative = bits[2 * i + 1] >>> 31, nan = Number.isNaN(values[i]), zero = values[i] === 0;
    keys[2 * i] = nan ? 0xFFFFFFFF : zero ? 0 : negative ? ~bits[2 * i] : bits[2 * i];
    keys[2 * i + 1] = nan ? 0xFFFFFFFF : zero ? 0x80000000 : negative ? ~bits[2 * i + 1] : bits[2 * i + 1] | 0x80000000;
  }
  const places = new Uint32Array(65536);
  for (let pass = 0; pass < 4; pass++) {
    const word = pass >> 1, shift = (pass & 1) * 16;
    places.fill(0);
    for (let i = 0; i < n; i++) places[keys[2 * i + word] >>> shift & 0xFFFF]++;
    for (let i = 0, sum = 0; i < 65536; i++) { const here = places[i]; places[i] = sum; sum += here; }
    for (let i = 0; i < n; i++) { const one = from[i]; to[places[keys[2 * one + word] >>> shift & 0xFFFF]++] = one; }
    [from, to] = [to, from];
  }
  return from;
}

/** Leaves so many of a mask's, by chance. @param {Uint8Array} mask @param {number} size @param {number} seed */
function draw(mask, size, seed) {
  const left = [], next = random(seed);
  for (let i = 0; i < mask.length; i++) if (mask[i]) left.push(i);
  mask.fill(0);
  for (let i = 0; i < Math.min(size, left.length); i++) {
    const other = i + Math.floor(next() * (left.length - i));
    [left[i], left[other]] = [left[other], left[i]];
    mask[left[i]] = 1;
  }
}

/** The number that a standard normal variable stays below with this probability, to 5e-4 (Hastings 1955). @param {number} p above one half */
export function quantile(p) {
  const t = Math.sqrt(-2 * Math.log(1 - p));
  return t - (2.515517 + 0.802853 * t + 0.010328 * t * t) / (1 + 1.432788 * t + 0.189269 * t * t + 0.001308 * t ** 3);
}

/** Other threads, one for each kind of task; a new task ends the last of its kind. */
export class Background {
  constructor() {
    this.source = document.getElementById("worker")?.textContent ?? "";
    /** @type {Map<string, {worker: Worker, stop: ((why: string) => void) | null}>} */
    this.threads = new Map();
    this.last = 0;
  }

  /** Ends a task of some kind, if one is under way. @param {string} kind @param {string} why */
  stop(kind, why) { this.threads.get(kind)?.stop?.(why); }

  /** @param {{kind: string, [key: string]: any}} task @param {number} timeout in ms @param {string} [late] what is said then @returns {Promise<any>} */
  run(task, timeout, late = "took too long") {
    this.stop(task.kind, "cancelled");
    let thread = this.threads.get(task.kind);
    if (!thread) {
      const url = URL.createObjectURL(new Blob([this.source], { type: "text/javascript" }));
      this.threads.set(task.kind, thread = { worker: new Worker(url), stop: null });
      URL.revokeObjectURL(url);
    }
    const { worker } = thread, mine = thread, id = ++this.last;
    return new Promise((resolve, reject) => {
      const done = () => { clearTimeout(timer); mine.stop = null; };
      mine.stop = why => { done(); worker.terminate(); this.threads.delete(task.kind); reject(new Error(why)); };
      const timer = setTimeout(() => mine.stop?.(late), timeout);
      worker.onmessage = ({ data }) => { if (data.id === id) { done(); data.error ? reject(new Error(data.error)) : resolve(data.result); } };
      worker.onerror = event => mine.stop?.(event.message || "the other thread could not be started");
      worker.postMessage({ id, task }, task.rows ? [task.rows.buffer] : []);
    });
  }
}
