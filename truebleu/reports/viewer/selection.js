// Selection of metric, systems and segments from the page state, and the resulting scores.
import {announce} from "./dom.js";
import {getColumnNames, COUNT_PARAMETERS, getCountsKey, buildRecipe, DEFAULT_SMOOTHING_VALUES} from "./kernel_client.js";
import {Metric} from "./metric.js";
import {TERM_CONDITIONS, findTermSegments} from "./glossary.js";
import {createNgramTest} from "./ngram_filter.js";
import {hasName, hasNumber, RULE_TITLES, getRuleRoles} from "./text_filters.js";
import {replaceSurrogates} from "./url_state.js";
import {CountTable} from "./count_table.js";

/** @typedef {import("./report_data.js").ReportData} Data */
/** @typedef {import("./report_data.js").Setting} Setting */
/** @typedef {import("./report_data.js").System} System */
/** @typedef {import("./url_state.js").UrlState} Store */
/** @typedef {{text: string, act: () => void, segment: (context: Context, i: number) => void}} Back  link back to the playground, which can also open a segment there */
/** @typedef {{data: Data, store: Store, worker: TaskThreads, current: SelectionState, back?: Back | null}} Context  context of all views */
/** @typedef {{low: number, high: number, method: string}} Range */
/** @typedef {{a: number[], b: number[], delta: number[], method: string}} Spans  intervals of two scores and of their difference, and the method */
/** @typedef {{id: string, label: string, column: string | null, higherIsBetter: boolean, digits: number, percentage: boolean, headline: boolean}} Measure */
/** @typedef {{count: number, a: number, b: number | null, delta: number | null, interval: Range | null, waiting: boolean, share?: number, note: string}} Subset */

/** The browser's storage for settings and notes. `set` returns false if storage is unavailable, as in sandboxes. */
export const browserStorage = {
  get: (/** @type {string} */ key) => { try { return localStorage.getItem(`truebleu ${key}`); } catch { return null; } },
  set: (/** @type {string} */ key, /** @type {string} */ value) => { try { localStorage.setItem(`truebleu ${key}`, value); return true; } catch { return false; } },
};

/** Filters by notes. */
export const NOTE_KINDS = ["bookmarked", "tagged", "noted", "any"];

/** Filters of segments with their defaults, by state key. */
export const FILTERS = { find: "", in: "all", regex: false, case: false, doc: null, label: "", flag: "", outcome: "", split: "", range: "", holds: "", terms: "", term: "", rule: "", noted: "", seen: null, only: "", about: "", part: false, sample: null, mark: "" };
/** State keys shared by all views; keys from `setting` on change the scores. */
export const STATE = { ...FILTERS, sort: "", seg: null, mode: "match", against: "b", setting: "0", a: "", b: "", smoothing: "", smoothing_value: null, max_order: null, weights: "", effective_order: "", beta: null, char_order: null, word_order: null, ...Object.fromEntries(Object.keys(COUNT_PARAMETERS).map(key => [key, ""])) };
/** Keys of `STATE` that are null or a number. */
export const NUMBER_KEYS = ["doc", "seen", "sample", "seg", "smoothing_value", "max_order", "beta", "char_order", "word_order"];
/** Keys that change the metric. */
export const METRIC_KEYS = ["smoothing", "smoothing_value", "max_order", "weights", "effective_order", "beta", "char_order", "word_order", ...Object.keys(COUNT_PARAMETERS)];
/** Size of a random sample of segments. */
export const SAMPLE_SIZE = 50;
/** Number of resamples and seed if the comparison has none. */
const DEFAULT_RESAMPLES = 1000, DEFAULT_SEED = 12345;
/** Largest orders that the user can select. @type {Record<string, number>} */
export const MAX_ORDERS = { max_order: 8, char_order: 10, word_order: 4 };
/** Minimum number of segments for an interval; intervals below `MIN_PRECISE_SEGMENTS` are grey. */
export const MIN_INTERVAL_SEGMENTS = 20;
export const MIN_PRECISE_SEGMENTS = 100;
export const TOO_FEW = `too few for an interval`;
/** Maximum number of cached tables of new counts, and of cached results of slow filters. */
const MAX_CACHED_TABLES = 4;

/** Columns for sorting and filtering segments. @type {Record<string, string>} */
export const COLUMN_TITLES = { scoreA: "score of the baseline", scoreB: "score of the system compared with the baseline", delta: "Δ", influence: "influence", ratio: "length ratio", length: "reference length" };

/**
 * Parse the name of a column of counts: "matches_4.0" belongs to system 0, "matches_4.d" is the
 * difference B − A, and "surplus.0" is the hypothesis length minus the reference length.
 * @param {string} name @returns {[string, string] | null}
 */
const parseCountColumn = name => { const [countedName, suffix] = name.split("."); return suffix === "d" || /^\d+$/.test(suffix ?? "") ? [countedName, suffix] : null; };

/** Return the title of a column of counts. @param {SelectionState} current @param {string} name */
export function getCountTitle({ data, a, b }, name) {
  const [countedName, suffix] = parseCountColumn(name) ?? [name, ""], system = data.systems[Number(suffix)];
  const [, kind, order] = /^(\w+?)_([cw]?\d+)$/.exec(countedName) ?? ["", countedName, ""];
  return [order.replace(/^c/, "character ").replace(/^w/, "word ") + (order ? "-grams" : ""), { matches: "matched", totals: "total", hypothesis: "total", reference: "in the reference", surplus: "length − reference length", hypothesis_length: "length", reference_length: "reference length" }[kind] ?? kind.replaceAll("_", " "),
    suffix === "d" ? `, ${b?.letter} − ${a.letter}` : system ? `, ${system.letter}` : ""].filter(Boolean).join(" ").replace(" ,", ",");
}

/** Return the hypothesis and reference lengths per segment. @param {CountTable} table */
function getLengths(table) {
  const x = table.columnAt(0), y = table.columnAt(1), addCounts = (/** @type {ArrayLike<number>} */ z) => Float64Array.from(x, (n, i) => n + y[i] + z[i]);
  return table.names[0] === "hits" ? [addCounts(table.column("insertions")), addCounts(table.column("deletions"))] : [x, y];
}

/** Return the state that shows filtered segments, for example `{doc: 3}`, `{range: "length:10:20"}`, `{label: "0:2"}`, `{flag: "duplicate"}`. @param {Record<string, any>} filters and other state values @returns {Record<string, any>} */
export const toFilterState = filters => ({ ...FILTERS, view: "segments", seg: null, sort: "number", ...filters });

/** Show the filtered segments. @param {Store} store @param {Record<string, any>} filters */
export const showFiltered = (store, filters) => store.set(toFilterState(filters));

/**
 * Return whether a parameter value is valid. Values may come from a URL edited by the user.
 * @param {string} key @param {any} value @param {Record<string, any>} defaults the setting's parameters @param {number | null} order @param {boolean} countable whether the browser can recount
 */
function isPossible(key, value, defaults, order, countable) {
  const getMaxOrder = (/** @type {string} */ name) => countable ? Math.max(defaults[name], MAX_ORDERS[name]) : defaults[name];
  const isOrder = (/** @type {number} */ least) => Number.isInteger(value) && value >= least && value <= getMaxOrder(key);
  const orders = order !== null && order >= 1 && order <= getMaxOrder("max_order") ? order : defaults.max_order;
  switch (key) {
    case "smoothing": return Object.hasOwn(DEFAULT_SMOOTHING_VALUES, value);
    case "smoothing_value": case "beta": return value >= 0;
    case "max_order": return isOrder(1);
    case "char_order": return isOrder(defaults.word_order ? 0 : 1);
    case "word_order": return isOrder(0);
    case "weights": return value === "mean" || value.split(",").length === orders && value.split(",").every((/** @type {string} */ w) => Number(w) >= 0) && /[1-9]/.test(value);
    default: return true;
  }
}

/** Selected metric, systems and segments, with cached scores. */
export class SelectionState {
  /** @param {Data} data @param {Store} store @param {TaskThreads} worker */
  constructor(data, store, worker) {
    this.data = data;
    this.store = store;
    this.worker = worker;
    /** The user's notes. */
    this.notes = /** @type {import("./notes.js").Notes} */ (/** @type {unknown} */ (null));
    /** @type {Map<string, any>} */
    this.cache = new Map();
    /** Segments that pass the filters, in list order. */
    this.selectedSegments = Uint32Array.from({ length: data.n }, (_, i) => i);
    /** Positions in `selectedSegments`, computed on demand. @type {Int32Array | null} */
    this.positions = null;
    this.isUnfiltered = true;
    /** Error message of a filter. */
    this.problem = "";
    /** Progress of a slow filter from 0 to 1; null if none is running. `selectedSegments` changes when it has finished. @type {number | null} */
    this.filterProgress = null;
    /** Filters that produced `selectedSegments`. @type {Record<string, any>} */
    this.appliedFilters = { ...FILTERS };
    /** Results of slow filters, by everything that they depend on. @type {Map<string, Uint8Array>} */
    this.filterCache = new Map();
    /** @type {Subset | null} */
    this.subset = null;
    this.filterRun = 0;
    /** Tables of new counts per system, by the settings that affect the counts. @type {Map<string, CountTable[]>} */
    this.recountedTables = new Map();
    /** Cached current parameters, valid for one state and version of the tables. @type {{state: any, tables: number, changes: Record<string, any>, key: string}} */
    this.presentParameters = { state: null, tables: -1, changes: {}, key: "" };
    /** Version of the tables. */
    this.version = 0;
    /** Computed intervals; null while running or if unavailable. @type {Map<string, Spans | null>} */
    this.intervalCache = new Map();
    /** Queue of interval computations. */
    this.pendingIntervals = Promise.resolve();
    /** @type {TaskThreads | null} */
    this.intervalThread = null;
    /** Word counts by frequency, computed on demand. @type {Promise<CountTable> | null} */
    this.wordCountsPromise = null;
    /** Setting and parameters of the scores shown last. @type {{setting: string, changes: Record<string, any>}} */
    this.countedParameters = { setting: "", changes: {} };
    /** Progress of a count from 0 to 1; null if none is running. @type {number | null} */
    this.countProgress = null;
    /** Setting and parameters before the running count. @type {Record<string, any> | null} */
    this.previousParameters = null;
    this.countRun = 0;
  }

  /** @template T @param {string} key @param {() => T} make @returns {T} */
  cached(key, make) {
    if (!this.cache.has(key)) this.cache.set(key, make());
    return this.cache.get(key);
  }

  get setting() { return this.data.settings.find(s => s.id === this.store.get("setting")) ?? this.data.settings[0]; }

  /** Changed parameters: the requested ones, or the previous ones until the new counts are available. */
  get changes() { return this.applied.changes; }

  /** Changed parameters with the key of their counts. */
  get applied() {
    const { store, version, presentParameters: present } = this;
    if (present.state === store.state && present.tables === version) return present;
    const { setting, requestedChanges: asked, countedParameters: counted } = this, previousChanges = counted.setting === setting.id ? counted.changes : {};
    const changes = this.hasCounts(this.getKey(asked)) || !this.data.canCount(setting) ? asked : previousChanges;
    return this.presentParameters = { state: store.state, tables: version, changes, key: this.getKey(changes) };
  }

  /** Return the key of the setting's counts with changed parameters. @param {Record<string, any>} changes */
  getKey(changes) { const { setting } = this; return getCountsKey(buildRecipe(setting, { ...setting.parameters, ...changes }), this.data.references); }

  /** Return whether the counts of a key are available. @param {string} key */
  hasCounts(key) { return this.recountedTables.has(key) || key === this.getKey({}); }

  /** Valid changed parameters in the state. */
  get requestedChanges() {
    const { store, setting, data } = this, p = setting.parameters, countable = data.canCount(setting);
    /** @type {Record<string, any>} */
    const result = {};
    // chrF uses the reference with the highest score, which depends on the parameters.
    if (!countable && setting.metric === "chrF" && data.references > 1) return result;
    for (const key of METRIC_KEYS) {
      const requested = store.get(key);
      if (requested === null || requested === "" || !(key in p)) continue;
      if (key in COUNT_PARAMETERS) {
        const value = key === "tokenize" ? requested : requested === "yes";
        if (countable && COUNT_PARAMETERS[key].includes(requested) && value !== p[key]) result[key] = value;
      } else if (isPossible(key, requested, p, store.get("max_order"), countable)) result[key] = key === "weights" ? (requested === "mean" ? null : requested.split(",").map(Number)) : key === "effective_order" ? requested === "yes" : requested;
    }
    // The number of weights must equal the number of orders.
    const orders = result.max_order ?? p.max_order, weights = "weights" in result ? result.weights : p.weights;
    if (weights && weights.length !== orders) result.weights = null;
    // chrF needs at least one order.
    if (setting.metric === "chrF" && !((result.char_order ?? p.char_order) + (result.word_order ?? p.word_order))) delete result.char_order;
    return result;
  }

  /** Recount if the parameters require it. Scores do not change until it has finished. Notifies "counting", then "counts". */
  async recount() {
    const { data, store, setting, requestedChanges: targetChanges } = this, { client } = data, run = ++this.countRun, key = this.getKey(targetChanges), previousProgress = this.countProgress;
    this.countProgress = null;
    if (this.hasCounts(key) || !data.canCount(setting)) {
      this.applyCounts(key, targetChanges);
      if (previousProgress !== null) store.notify(new Set(["counting"]));
      return;
    }
    const parameters = { ...setting.parameters, ...targetChanges }, recipe = buildRecipe(setting, parameters), names = getColumnNames(setting, parameters);
    const tables = [];
    try {
      for (const { index } of data.systems) {
        const table = await client.countSystem(recipe, names, `system${index}`, data.n, async share => {
          if (run !== this.countRun) return false;
          this.countProgress = (index + share) / data.systems.length;
          store.notify(new Set(["counting"]));
          await new Promise(done => setTimeout(done));
          return run === this.countRun;
        });
        if (!table) return;
        tables.push(table);
      }
    } catch (error) {
      if (run !== this.countRun) return;
      this.countProgress = null;
      this.cancelCount();
      announce(`Counting failed: ${/** @type {Error} */ (error).message}`);
      // Notify even if nothing else changed, because the count has ended.
      store.notify(new Set(["counting"]));
      return;
    }
    this.recountedTables.set(key, tables);
    this.countProgress = null;
    this.applyCounts(key, targetChanges);
    store.notify(new Set(["counts"]));
  }

  /** Show the counts of a key, and drop the oldest cached tables. @param {string} key @param {Record<string, any>} changes */
  applyCounts(key, changes) {
    const { store, setting, recountedTables: tables } = this, ownTables = tables.get(key);
    this.countedParameters = { setting: setting.id, changes };
    this.previousParameters = Object.fromEntries(["setting", ...METRIC_KEYS].map(name => [name, store.get(name)]));
    if (ownTables) { tables.delete(key); tables.set(key, ownTables); }
    for (const oldKey of tables.keys()) if (tables.size > MAX_CACHED_TABLES) tables.delete(oldKey);
    this.version++;
  }

  /** Restore the previous settings, but keep other changes to the state. */
  cancelCount() {
    const { store, previousParameters: before } = this, keys = before && before.setting !== store.get("setting") ? ["setting", ...METRIC_KEYS] : METRIC_KEYS;
    store.set(before ? Object.fromEntries(keys.map(key => [key, before[key]])) : store.getDefaults(keys), { replace: true });
  }

  /** Metric with the current parameters. @returns {Metric} */
  get metric() {
    return this.cached(`metric ${this.setting.id} ${JSON.stringify(this.changes)}`, () => new Metric(this.setting, this.changes, this.data.client));
  }

  /** Cache key of everything that depends on the metric. */
  get id() { return `${this.setting.id} ${JSON.stringify(this.changes)}`; }

  /** Whether the current scores equal the reported scores. */
  get isReported() { return this.metric.isReported && this.setting.headline; }

  /** Baseline. @returns {System} */
  get a() { return this.findSystem(this.store.get("a")) ?? this.findSystem(this.store.defaults.a) ?? this.data.systems[0]; }

  /** Find a system by the name in a URL. @param {any} name @returns {System | undefined} */
  findSystem(name) { return this.data.systems.find(s => replaceSurrogates(s.name) === replaceSurrogates(String(name))); }

  /** System names in the URL that are not in the report. @returns {string[]} */
  get unknownNames() { return ["a", "b"].map(key => String(this.store.get(key))).filter(name => name && !this.findSystem(name)); }

  /** Compared system, or null if there is only one system. @returns {System | null} */
  get b() {
    const { systems } = this.data;
    if (systems.length < 2) return null;
    const comparedSystem = this.findSystem(this.store.get("b")) ?? this.findSystem(this.store.defaults.b);
    return comparedSystem && comparedSystem !== this.a ? comparedSystem : systems.find(s => s !== this.a) ?? null;
  }

  /** Swap the baseline and the compared system. */
  swap() {
    const { a, b, store } = this;
    if (b) store.set({ a: b.name, b: a.name });
  }

  /** Baseline and compared system, or the only system. */
  get comparedSystems() { const { a, b } = this; return b ? [a, b] : [a]; }

  /** Return the segment scores of a system. @param {System} system @returns {Float64Array} */
  getScores(system) {
    return this.cached(`scores ${system.index} ${this.id}`, () => this.metric.scoreSegments(this.getTable(system)));
  }

  /** Return the counts of a system. @param {System} system @returns {CountTable} */
  getTable(system) {
    const { data, setting } = this, { changes, key } = this.applied, originalTable = data.getTable(setting, system.index), recounted = this.recountedTables.get(key)?.[system.index];
    if (recounted || key === this.getKey({})) return recounted ?? originalTable;
    // Without texts, only lower orders of the stored counts are available.
    const names = getColumnNames(setting, { ...setting.parameters, ...changes });
    return this.cached(`columns ${key} ${system.index}`, () => originalTable.select(names));
  }

  /** Measures with segment scores: settings and external metrics. @returns {Measure[]} */
  get measures() {
    const { settings, manifest } = this.data;
    return [...settings.map(s => ({ id: s.id, label: s.label, column: s.column, higherIsBetter: s.higher_is_better, digits: 2, percentage: true, headline: s.headline })),
      ...(manifest.columns ?? []).map((/** @type {any} */ c) => ({ id: c.id, label: c.label, column: c.column, higherIsBetter: c.higher_is_better, percentage: !!c.percentage, digits: c.digits, headline: true }))];
  }

  /** Return the advantage of B over A per segment for a measure; negative if B is worse. @param {Measure} of @returns {Float64Array} */
  getAdvantages({ id, higherIsBetter: higher }) {
    const { data, a, b } = this, otherSetting = data.settings.find(s => s.id === id), isCurrentSetting = otherSetting === this.setting;
    return this.cached(`better ${id} ${a.index} ${b?.index} ${isCurrentSetting ? this.id : ""}`, () => {
      const [x, y] = [a, b ?? a].map(s => isCurrentSetting ? this.getScores(s) : otherSetting ? new Metric(otherSetting, {}, data.client).scoreSegments(data.getTable(otherSetting, s.index)) : /** @type {Float64Array} */ (data.columns.get(`${id}.${s.index}`)));
      return Float64Array.from(x, (score, i) => higher ? y[i] - score : score - y[i]);
    });
  }

  /** Filter by the preferences of two measures ("ab": the first prefers A, the second B; "=": tie). @returns {{by: Measure[], which: string} | null} */
  get split() {
    const [first, second, which = ""] = String(this.store.get("split")).split(":"), by = [first, second].flatMap(id => this.measures.find(m => m.id === id) ?? []);
    return this.b && by.length === 2 && /^[ab=]{2}$/.test(which) ? { by, which } : null;
  }

  /** Return the corpus score of some or all segments. @param {System} system @param {ArrayLike<number>} [segments] */
  scoreCorpus(system, segments) { return this.metric.scoreCorpus(this.getTable(system), segments && this.metric.usesSegmentMean ? sortIndices(segments) : segments); }

  /** Return the corpus scores with each segment left out in turn. @param {System} system @returns {Float64Array} */
  getScoresWithout(system) { return this.cached(`without ${system.index} ${this.id}`, () => this.metric.scoreWithoutEach(this.getTable(system))); }

  /**
   * Return a column with one number per segment. delta: score of B − score of A. influence: how much the
   * corpus Δ (or the score of a single system) would decrease without the segment.
   * @param {string} name one of COLUMNS, or "number" @returns {Float64Array}
   */
  getColumn(name) {
    const { a, b } = this;
    return this.cached(`column ${name} ${a.index} ${b?.index} ${this.id}`, () => {
      const n = this.data.n, out = new Float64Array(n), table = this.getTable(b ?? a), countColumn = parseCountColumn(name);
      if (countColumn) {
        const [x, y] = (countColumn[1] === "d" ? [b ?? a, a] : [this.data.systems[Number(countColumn[1])]]).map(s => this.getTable(s));
        const [minuend, subtrahend] = countColumn[0] === "surplus" ? getLengths(x) : [x.column(countColumn[0]), y?.column(countColumn[0])];
        for (let i = 0; i < n; i++) out[i] = minuend[i] - (subtrahend ? subtrahend[i] : 0);
        return out;
      }
      if (name === "scoreA") return this.getScores(a);
      if (name === "scoreB") return this.getScores(b ?? a);
      if (name === "delta" && b) {
        const x = this.getScores(a), y = this.getScores(b);
        for (let i = 0; i < n; i++) out[i] = y[i] - x[i];
      } else if (name === "influence") {
        const x = this.getScoresWithout(a), total = b ? this.scoreCorpus(b) - this.scoreCorpus(a) : this.scoreCorpus(a), y = b ? this.getScoresWithout(b) : null;
        for (let i = 0; i < n; i++) out[i] = total - (y ? y[i] - x[i] : x[i]);
      } else if (name === "length") out.set(this.data.lengths);
      else if (name === "ratio") {
        const [h, r] = getLengths(table), unit = /parts$/.test(table.names[1]) ? 720720 : 1;
        for (let i = 0; i < n; i++) out[i] = r[i] ? h[i] * unit / r[i] : NaN;
      } else if (name === "number") for (let i = 0; i < n; i++) out[i] = i;
      return out;
    });
  }

  /** Return whether a column is available. @param {string} name @returns {boolean} */
  hasColumn(name) {
    const countColumn = parseCountColumn(name);
    if (countColumn) return (countColumn[1] === "d" || Number(countColumn[1]) < this.data.systems.length) && (countColumn[0] === "surplus" ? this.hasColumn("ratio") : this.getTable(this.a).names.includes(countColumn[0]));
    if (!(name in COLUMN_TITLES) && name !== "number") return false;
    if (name === "delta" || name === "scoreB") return !!this.b;
    // TER has no hypothesis length.
    return !(name === "ratio" && this.setting.metric === "TER");
  }

  /** Return all segments sorted by a column in ascending order, NaN last. @param {string} name */
  sortSegments(name) {
    const values = this.getColumn(name);
    return this.cached(`sorted ${name} ${this.a.index} ${this.b?.index} ${this.id}`, () => sortByValue(values));
  }

  // ---- filters ----

  /** Active ranges: column, lower bound, upper bound. @returns {[string, number, number][]} */
  get ranges() {
    return String(this.store.get("range")).split(";").filter(Boolean).map(part => {
      const [name, low, high] = part.split(":");
      return /** @type {[string, number, number]} */ ([name, low === "" ? -Infinity : Number(low), high === "" || high === undefined ? Infinity : Number(high)]);
    }).filter(([name]) => name !== "number" && this.hasColumn(name));
  }

  /** Whether a slow filter is active, which reads texts or word counts. */
  get isSlow() { const { store } = this; return !!store.get("find") || !!store.get("holds") || !!this.rule || store.get("seen") !== null || this.wantsSameText; }

  /** Active rule-based filter; "" for none. @returns {string} */
  get rule() { const rule = this.store.get("rule"); return rule in RULE_TITLES ? rule : ""; }

  /** Active filter by notes; "" for none. @returns {string} */
  get noteKind() { const kind = this.store.get("noted"); return this.notes && NOTE_KINDS.includes(kind) ? kind : ""; }

  /** Active filter by glossary terms; null for none. @returns {{condition: string, term: string} | null} */
  get termFilter() {
    const condition = String(this.store.get("terms")), term = String(this.store.get("term"));
    return this.data.glossary && TERM_CONDITIONS.includes(condition) && (this.b || !/b$|differ/.test(condition)) ? { condition, term } : null;
  }

  /** Whether the list is filtered by equal texts of both systems. */
  get wantsSameText() { return !!this.b && this.store.get("outcome") === "same"; }

  /** Whether active filters by text can read the texts of all segments. */
  get seesAllTexts() { const { data, store } = this; return data.manifest.serve || data.manifest.embedded === data.n || !(store.get("find") || store.get("holds") || this.rule || this.wantsSameText); }

  /** Apply the filters, then score the selected segments. Notifies "subset" on progress, and "selection". */
  async applyFilters() {
    const run = ++this.filterRun, { store } = this;
    this.worker.stop("regex", "cancelled");
    this.problem = "";
    this.filterProgress = null;
    let mask = this.applyFastFilters();
    if (this.isSlow) {
      const key = JSON.stringify([Object.keys(FILTERS).map(name => store.get(name)), this.a.index, this.b?.index, this.id]), cached = this.filterCache.get(key);
      if (cached) mask = cached.slice();
      else {
        this.filterProgress = 0;
        // Do not show the scores of all segments next to a filter.
        this.subset = null;
        store.notify(new Set(["subset"]));
        if (run !== this.filterRun) return;
        try {
          await this.applySlowFilters(mask, run);
          if (run !== this.filterRun) return;
          this.filterCache.set(key, mask.slice());
          for (const oldKey of this.filterCache.keys()) if (this.filterCache.size > MAX_CACHED_TABLES) this.filterCache.delete(oldKey);
        } catch (error) {
          if (run !== this.filterRun) return;
          this.problem = /** @type {Error} */ (error).message;
          mask.fill(0);
        }
        this.filterProgress = null;
      }
    }
    const sample = store.get("sample");
    if (sample !== null) sampleMask(mask, SAMPLE_SIZE, sample);
    if (!this.problem) this.appliedFilters = Object.fromEntries(Object.keys(FILTERS).map(name => [name, store.get(name)]));
    this.arrangeSegments(mask);
    store.notify(new Set(["selection"]));
    await this.scoreSubset(run);
  }

  /** Restore the last applied filters; if they are unchanged, remove the slow filters. */
  cancel() {
    const { store, appliedFilters: settled } = this, isUnchanged = Object.keys(settled).every(key => settled[key] === store.get(key));
    store.set(isUnchanged ? { find: "", holds: "", terms: "", term: "", rule: "", noted: "", seen: null, outcome: this.wantsSameText ? "" : store.get("outcome") } : settled, { replace: true });
  }

  /** Apply the slow filters to a mask. @param {Uint8Array} mask @param {number} run */
  async applySlowFilters(mask, run) {
    const { data, store, rule } = this, find = store.get("find"), holds = store.get("holds"), seen = store.get("seen");
    const keepHits = (/** @type {Uint8Array} */ hits) => restrictMask(mask, i => hits[i] === 1);
    if (this.wantsSameText) keepHits(await this.matchSameText(run, mask));
    if (seen !== null) await this.filterByFrequency(mask, seen);
    if (rule && run === this.filterRun) {
      const hits = await this.matchRule(rule, run, mask), expectedHit = rule[0] === "-" ? 0 : 1;
      restrictMask(mask, i => hits[i] === expectedHit && data.hasTexts(i));
    }
    if (holds && run === this.filterRun) keepHits(await this.matchNgram(holds, run, mask));
    if (find && run === this.filterRun) keepHits(await this.searchTexts(find, run, mask));
  }

  /** Order of the list, which opens with the largest differences, or with a single system's worst scores. */
  get sortKey() { return String(this.store.get("sort")) || (this.b ? "-|delta|" : this.metric.higherIsBetter ? "scoreA" : "-scoreA"); }

  /** Sort the segments of a mask into `selectedSegments`. @param {Uint8Array} mask */
  arrangeSegments(mask) {
    const key = this.sortKey, absolute = key.includes("|"), isDescending = key[0] === "-", name = key.replace(/[-|]/g, "");
    let order = name !== "number" && this.hasColumn(name) ? this.sortSegments(name) : this.cached("by number", () => Uint32Array.from({ length: this.data.n }, (_, i) => i));
    if (absolute && this.hasColumn(name)) {
      const values = this.getColumn(name);
      order = this.cached(`absolute ${name} ${this.a.index} ${this.b?.index} ${this.id}`, () => sortByValue(values.map(Math.abs)));
    }
    let n = 0;
    for (let i = 0; i < mask.length; i++) n += mask[i];
    const sortedSegments = new Uint32Array(n), values = isDescending ? this.getColumn(this.hasColumn(name) ? name : "number") : null;
    let filled = 0;
    const copyRange = (/** @type {number} */ from, /** @type {number} */ to) => { for (let i = from; i < to; i++) if (mask[order[i]]) sortedSegments[filled++] = order[i]; };
    if (!values) copyRange(0, order.length);
    else {
      // Sort in descending order, but keep ties in file order and NaN last.
      const size = (/** @type {number} */ i) => absolute ? Math.abs(values[i]) : values[i];
      let end = order.length;
      while (end && Number.isNaN(values[order[end - 1]])) end--;
      for (let stop = end; stop > 0;) {
        let start = stop - 1;
        while (start > 0 && size(order[start - 1]) === size(order[stop - 1])) start--;
        copyRange(start, stop);
        stop = start;
      }
      copyRange(end, order.length);
    }
    this.selectedSegments = sortedSegments;
    this.positions = null;
    this.isUnfiltered = n === this.data.n;
  }

  /** Return the position of a segment in the list, or -1. @param {number} segment */
  getPosition(segment) {
    if (!this.positions) {
      this.positions = new Int32Array(this.data.n).fill(-1);
      for (let i = 0; i < this.selectedSegments.length; i++) this.positions[this.selectedSegments[i]] = i;
    }
    return this.positions[segment] ?? -1;
  }

  /** Return the mask of the filters that do not read texts. */
  applyFastFilters() {
    const { data, store } = this, n = data.n, mask = new Uint8Array(n).fill(1);
    const keepWhere = (/** @type {(i: number) => boolean} */ test) => restrictMask(mask, test);
    const doc = store.get("doc"), documents = data.documents;
    if (doc !== null && documents) keepWhere(i => documents.bySegment[i] === doc);
    for (const part of String(store.get("label")).split(";").filter(Boolean)) {
      const [number, value] = part.split(":").map(Number), label = data.labels[number];
      // A re-segmented segment may have several flags.
      const map = label && data.segmentMaps.find(one => one?.flags === label), flag = label?.values[value];
      if (label) keepWhere(i => label.bySegment[i] === value || !!map?.getFlags(i).includes(flag));
    }
    const [flag, role] = String(store.get("flag")).split("@");
    const checkedFlag = (data.manifest.health?.flags ?? []).find((/** @type {any} */ f) => f.id === flag);
    if (checkedFlag) {
      const sets = Object.entries(data.flags).filter(([name]) => !role || name === role).map(([, bits]) => bits);
      keepWhere(i => sets.some(bits => bits[i] >>> checkedFlag.bit & 1));
    }
    const outcome = store.get("outcome"), { b } = this;
    if (outcome && b) {
      const delta = this.getColumn("delta"), sign = this.metric.higherIsBetter ? 1 : -1;
      if (outcome !== "same") keepWhere(i => outcome === "b" ? sign * delta[i] > 0 : outcome === "a" ? sign * delta[i] < 0 : delta[i] === 0);
    }
    const { split } = this;
    if (split) { const [x, y] = split.by.map(m => this.getAdvantages(m)); keepWhere(i => getPreferredSide(x[i]) + getPreferredSide(y[i]) === split.which); }
    for (const [name, low, high] of this.ranges) { const values = this.getColumn(name); keepWhere(i => values[i] >= low && values[i] <= high); }
    const { termFilter: wantedTerms } = this;
    if (wantedTerms && data.glossary) { const hits = findTermSegments(data.glossary, wantedTerms.term, wantedTerms.condition, n, this.a.index, b?.index); keepWhere(i => hits[i] === 1); }
    const { noteKind: notedBy } = this;
    if (notedBy) { const hits = this.notes.hits(notedBy); keepWhere(i => hits[i] === 1); }
    const only = String(store.get("only"));
    if (only) { const wantedSegments = new Set(only.split(",").map(s => Number(s) - 1)); keepWhere(i => wantedSegments.has(i)); }
    return mask;
  }

  /** Roles that the text search covers. */
  get searchedRoles() {
    const scope = this.store.get("in"), { roles } = this.data;
    return scope === "all" ? roles : roles.filter(role => role === scope || role.replace(/\d+$/, "") === scope);
  }

  /** @param {string} query @param {number} run @param {Uint8Array} mask @returns {Promise<Uint8Array>} */
  async searchTexts(query, run, mask) {
    const { data, store } = this, exact = store.get("case");
    if (data.isRedacted) throw new Error("this report has no texts");
    const onProgress = (/** @type {number} */ share) => {
      this.filterProgress = share;
      store.notify(new Set(["subset"]));
      return run === this.filterRun;
    };
    if (!store.get("regex")) return data.search(query, this.searchedRoles, exact, onProgress);
    const flags = exact ? "u" : "iu";
    try { new RegExp(query, flags); } catch (error) { throw new Error(`invalid regular expression (${/** @type {Error} */ (error).message.replace(/^Invalid regular expression: /, "")})`); }
    const hits = new Uint8Array(data.n);
    let remainingMs = 10000;
    for await (const { from, to, text } of data.readPieces(this.searchedRoles)) {
      /** @type {number[]} */
      const textSegments = [];
      const texts = [];
      for (let i = from; i < to; i++) if (mask[i]) for (const role of this.searchedRoles) { textSegments.push(i); texts.push(text(role, i)); }
      if (!textSegments.length) continue;
      const start = Date.now();
      for (const i of await this.worker.run({ kind: "regex", pattern: query, flags, texts, segments: textSegments }, Math.max(1, remainingMs), "the search was stopped after 10 seconds")) hits[i] = 1;
      if (!data.manifest.serve) remainingMs -= Date.now() - start; // With a server there is no time limit, because there are more segments to search.
      if (!onProgress(to / data.n)) break;
    }
    return hits;
  }

  /**
   * Return a mask of the segments with an n-gram in a reference or in one of the two systems' outputs.
   * @param {string} ngram @param {number} run @param {Uint8Array} mask @returns {Promise<Uint8Array>}
   */
  async matchNgram(ngram, run, mask) {
    const { data, a, b } = this, holdsNgram = createNgramTest(data, ngram);
    if (!holdsNgram) throw new Error(data.isRedacted ? "this report has no texts" : "the tokenizer used for the n-gram lists is not available in the browser");
    const roles = data.roles.filter(role => role.startsWith("reference") || role === `system${a.index}` || role === `system${b?.index}`);
    return this.matchTexts(roles, text => roles.some(role => holdsNgram(text(role) ?? "")), run, mask);
  }

  /** Return a mask of the segments that match a rule. @param {string} rule @param {number} run @param {Uint8Array} mask */
  async matchRule(rule, run, mask) {
    if (this.data.isRedacted) throw new Error("this report has no texts");
    const roles = getRuleRoles(this.data, rule), test = rule.endsWith("numbers") ? hasNumber : hasName;
    return this.matchTexts(roles, text => roles.some(role => test(text(role) ?? "")), run, mask);
  }

  /** Return a mask of the segments with equal outputs of both systems. @param {number} run @param {Uint8Array} mask */
  matchSameText(run, mask) {
    const [a, b] = this.comparedSystems.map(system => `system${system.index}`);
    return this.matchTexts([a, b], text => typeof text(a) === "string" && text(a) === text(b), run, mask);
  }

  /** Return a mask of the segments whose texts pass a test; yields to the page regularly. @param {string[]} roles @param {(text: (role: string) => string | null | undefined) => boolean} test @param {number} run @param {Uint8Array} mask @returns {Promise<Uint8Array>} */
  async matchTexts(roles, test, run, mask) {
    const { data, store } = this, hits = new Uint8Array(data.n);
    let lastPause = Date.now();
    for await (const { from, to, text } of data.readPieces(roles)) {
      for (let i = from; i < to; i++) if (mask[i] && test(role => text(role, i))) hits[i] = 1;
      if (Date.now() - lastPause > 40) {
        this.filterProgress = to / data.n;
        store.notify(new Set(["subset"]));
        await new Promise(done => setTimeout(done));
        lastPause = Date.now();
      }
      if (run !== this.filterRun) break;
    }
    return hits;
  }

  /** Return the word counts per segment and frequency bin, stored or counted. @returns {Promise<CountTable>} */
  getWordCounts() {
    const { data, data: { n, client: { kernel } } } = this, bins = data.manifest.buckets.frequency, { edges, block } = bins;
    return this.wordCountsPromise ??= (async () => {
      // One column per bin for the references, and for the matches of each system.
      const names = ["reference", ...data.systems.map(s => `matched_${s.index}`)].flatMap(prefix => edges.map((/** @type {number} */ _, /** @type {number} */ k) => `${prefix}_${k}`)), width = names.length;
      if (block) return CountTable.decode(kernel, await data.read(block), names, n);
      const countedRows = /** @type {Uint8Array} */ (await countAllTexts(data, { words: true, edges })), rows = new Uint8Array(8 * width * n);
      rows.set(countedRows);
      bins.segments = countedRows.length / (8 * width);
      return new CountTable(kernel, kernel.addTableFromRows(rows, width), names, n);
    })();
  }

  /** Keep the segments in which the systems match different numbers of words of a frequency bin, or one system misses some of these words. @param {Uint8Array} mask @param {number} bucket */
  async filterByFrequency(mask, bucket) {
    const { data, a, b } = this, bins = data.manifest.buckets?.frequency;
    if (!bins || !(bucket in bins.edges)) return;
    const counts = await this.getWordCounts(), [referenceCounts, matched, otherMatched] = [`reference_${bucket}`, `matched_${a.index}_${bucket}`, `matched_${(b ?? a).index}_${bucket}`].map(name => counts.column(name));
    restrictMask(mask, i => referenceCounts[i] > 0 && (b ? matched[i] !== otherMatched[i] : matched[i] !== referenceCounts[i]));
  }

  // ---- scores of the selected segments ----

  /** Return the reported comparison of two systems (b − a) for a setting, or null. @param {System} baseline @param {System} b @param {Setting} [setting] */
  getPair(baseline, b, setting = this.setting) {
    const { comparison } = this.data.manifest, name = setting.column, reported = setting === this.setting ? this.isReported : setting.headline;
    const pair = reported && comparison.pairs.find((/** @type {any} */ p) => p.metric === name && (p.first === baseline.name && p.second === b.name || p.first === b.name && p.second === baseline.name));
    if (!pair) return null;
    const isReversed = pair.first === baseline.name, storedInterval = pair.interval;
    return { ...pair, value: isReversed ? -pair.value : pair.value, interval: storedInterval && (isReversed ? { ...storedInterval, low: -storedInterval.high, high: -storedInterval.low } : storedInterval),
      wins: isReversed ? pair.losses : pair.wins, losses: isReversed ? pair.wins : pair.losses };
  }

  get level() { return this.data.manifest.comparison.level; }

  /** Bootstrap settings of the comparison. */
  get resampling() {
    const { comparison: { intervals, seed } } = this.data.manifest, documents = intervals?.resampled === "documents" ? this.data.documents : null;
    const samples = intervals?.samples ?? DEFAULT_RESAMPLES;
    return { samples, seed: seed ?? DEFAULT_SEED, documents, description: `${samples.toLocaleString("en")} ${this.b ? "paired " : ""}bootstrap resamples${documents ? " of documents" : ""}` };
  }

  /** Return the reported intervals of a setting, or null. @param {Setting} setting @returns {Spans | null} */
  getReportedSpans(setting) {
    const { a, b, data } = this, { comparison } = data.manifest, column = setting.column ?? "";
    const [x, y] = [a, b ?? a].map(s => comparison.systems.find((/** @type {any} */ candidate) => candidate.name === s.name)?.scores[column]?.interval), pair = b ? this.getPair(a, b, setting)?.interval : x;
    return x && y && pair ? { a: [x.low, x.high], b: [y.low, y.high], delta: [pair.low, pair.high], method: "as in the summary" } : null;
  }

  /**
   * Return the intervals over all segments: reported, or computed in a worker, which notifies "groups" when finished.
   * @param {Setting} setting @param {Metric} metric @returns {Spans | null | undefined} null if unavailable, undefined until computed
   */
  getSpans(setting = this.setting, metric = this.metric) {
    const { a, b, data } = this, reportedSpans = metric.isReported && setting.headline ? this.getReportedSpans(setting) : null;
    if (reportedSpans || data.n < MIN_INTERVAL_SEGMENTS) return reportedSpans;
    const isCurrentMetric = metric === this.metric, key = `${setting.id} ${JSON.stringify(metric.parameters)} ${a.index} ${b?.index}`;
    if (this.intervalCache.has(key)) return this.intervalCache.get(key) ?? undefined;
    this.intervalCache.set(key, null);
    const tables = [a, b ?? a].map(s => isCurrentMetric ? this.getTable(s) : data.getTable(setting, s.index));
    this.pendingIntervals = this.pendingIntervals.then(async () => {
      try { this.intervalCache.set(key, await this.resample(null, undefined, metric, tables, this.intervalThread ??= new TaskThreads())); } catch { this.intervalCache.delete(key); return; }
      this.store.notify(new Set(["groups"]));
    });
    return undefined;
  }

  /**
   * Compute the intervals of a group of segments. @param {ArrayLike<number>} segments
   * @param {(share: number) => void} [onProgress] receives the progress
   * @returns {Promise<Spans | null>} null for too few segments
   */
  async computeSpans(segments, onProgress) {
    const reportedSpans = segments.length === this.data.n && this.isReported ? this.getReportedSpans(this.setting) : null;
    if (reportedSpans || segments.length < MIN_INTERVAL_SEGMENTS) return reportedSpans;
    return this.resample(segments.length === this.data.n ? null : segments, onProgress);
  }

  /** @param {number} run */
  async scoreSubset(run) {
    const { a, b, selectedSegments: chosen, isUnfiltered: all, store } = this;
    // A score would be misleading if the selection contained only examples or ignored missing texts.
    const noScoreReason = store.get("only") && store.get("part") ? "no score: these segments are only examples" : this.seesAllTexts ? "" : "no score: this report does not have the texts of all segments";
    if (!chosen.length || noScoreReason) { this.subset = chosen.length ? { count: chosen.length, a: NaN, b: null, delta: null, interval: null, waiting: false, note: noScoreReason } : null; store.notify(new Set(["subset"])); return; }
    const segments = all ? undefined : chosen;
    const scoreA = this.scoreCorpus(a, segments), scoreB = b ? this.scoreCorpus(b, segments) : null;
    const subset = this.subset = /** @type {Subset} */ ({ count: chosen.length, a: scoreA, b: scoreB, delta: scoreB === null ? null : scoreB - scoreA, interval: null, waiting: chosen.length >= MIN_INTERVAL_SEGMENTS || all && this.isReported && !!this.getReportedSpans(this.setting), share: 0, note: "" });
    if (!subset.waiting) subset.note = TOO_FEW;
    store.notify(new Set(["subset"]));
    if (!subset.waiting) return;
    try {
      const result = await this.computeSpans(chosen, share => { if (run === this.filterRun) { subset.share = share; store.notify(new Set(["subset"])); } });
      if (run !== this.filterRun) return;
      if (result) { const [low, high] = b ? result.delta : result.a; subset.interval = { low, high, method: result.method }; }
      if (chosen.length < MIN_PRECISE_SEGMENTS) subset.note = `fewer than ${MIN_PRECISE_SEGMENTS} segments: imprecise`;
    } catch (error) {
      if (run !== this.filterRun) return;
      subset.note = /** @type {Error} */ (error).message;
    }
    subset.waiting = false;
    store.notify(new Set(["subset"]));
  }

  /**
   * Compute the bootstrap intervals of some or all segments in a worker, equal to Python's.
   * @param {ArrayLike<number> | null} segments @param {(share: number) => void} [onProgress] receives the progress
   * @param {Metric} metric @param {CountTable[]} tables of the two systems @param {TaskThreads} worker @returns {Promise<Spans>}
   */
  async resample(segments, onProgress, metric = this.metric, tables = [this.a, this.b ?? this.a].map(s => this.getTable(s)), worker = this.worker) {
    const { data, level, b } = this, { kernel, binary } = data.client, { samples, seed, documents, description } = this.resampling;
    const ordered = segments && sortIndices(segments), rows = (b ? tables : tables.slice(0, 1)).map(table => kernel.getRows(table.handle, ordered));
    const groups = documents && numberDocuments(documents.bySegment, ordered);
    const [x, y = x, delta = x] = await worker.run({ kind: "bootstrap", binary, recipe: metric.recipe, tables: rows.map(row => row.bytes), width: rows[0].width, groups, samples, level, seed }, 120000, "the bootstrap was stopped after two minutes", onProgress);
    return { a: x, b: y, delta, method: description };
  }
}

/** Clear the segments of a mask that fail a test. @param {Uint8Array} mask @param {(i: number) => boolean} test */
function restrictMask(mask, test) {
  for (let i = 0; i < mask.length; i++) if (mask[i] && !test(i)) mask[i] = 0;
}

/** Return segment numbers in ascending order. @param {ArrayLike<number>} segments */
const sortIndices = segments => Uint32Array.from(segments).sort();

/** Assign numbers to the documents, in the order of their first occurrence. @param {Uint32Array} documentIndices @param {ArrayLike<number> | null} segments */
function numberDocuments(documentIndices, segments) {
  const documentNumbers = /** @type {Map<number, number>} */ (new Map());
  return Uint32Array.from({ length: segments ? segments.length : documentIndices.length }, (_, i) => {
    const document = documentIndices[segments ? segments[i] : i];
    if (!documentNumbers.has(document)) documentNumbers.set(document, documentNumbers.size);
    return documentNumbers.get(document) ?? 0;
  });
}

/** Create a generator of random numbers in [0, 1) (sfc32). @param {number} seed */
function createRandom(seed) {
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

/** Return the system that a difference prefers: "a", "b", or "=" for a tie. @param {number} x advantage of B */
export const getPreferredSide = x => x > 0 ? "b" : x < 0 ? "a" : "=";

/** Sort segments by their values in ascending order, NaN last; stable. @param {Float64Array} values */
export function sortByValue(values) {
  const n = values.length, bits = new Uint32Array(values.slice().buffer);
  let from = new Uint32Array(n), to = new Uint32Array(n);
  const keys = new Uint32Array(2 * n);
  for (let i = 0; i < n; i++) {
    from[i] = i;
    // Map doubles to integers with the same order; NaN is the largest.
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
    for (let i = 0; i < n; i++) { const segment = from[i]; to[places[keys[2 * segment + word] >>> shift & 0xFFFF]++] = segment; }
    [from, to] = [to, from];
  }
  return from;
}

/** Reduce a mask to a random sample. @param {Uint8Array} mask @param {number} size @param {number} seed */
function sampleMask(mask, size, seed) {
  const candidates = [], next = createRandom(seed);
  for (let i = 0; i < mask.length; i++) if (mask[i]) candidates.push(i);
  mask.fill(0);
  for (let i = 0; i < Math.min(size, candidates.length); i++) {
    const swapIndex = i + Math.floor(next() * (candidates.length - i));
    [candidates[i], candidates[swapIndex]] = [candidates[swapIndex], candidates[i]];
    mask[candidates[i]] = 1;
  }
}

/** Return the quantile of the standard normal distribution, with an error below 5e-4 (Hastings 1955). @param {number} p above one half */
export function normalQuantile(p) {
  const t = Math.sqrt(-2 * Math.log(1 - p));
  return t - (2.515517 + 0.802853 * t + 0.010328 * t * t) / (1 + 1.432788 * t + 0.189269 * t * t + 0.001308 * t ** 3);
}

/** Workers, one per kind of task; a new task cancels the previous task of the same kind. */
export class TaskThreads {
  constructor() {
    this.source = document.getElementById("worker")?.textContent ?? "";
    /** @type {Map<string, {worker: Worker, stop: ((why: string) => void) | null}>} */
    this.threads = new Map();
    this.lastId = 0;
  }

  /** Cancel the running task of a kind. @param {string} kind @param {string} why */
  stop(kind, why) { this.threads.get(kind)?.stop?.(why); }

  /** @param {{kind: string, [key: string]: any}} task @param {number} timeout in ms @param {string} [timeoutMessage] error message on timeout @param {(share: number) => void} [onProgress] receives the progress @returns {Promise<any>} */
  run(task, timeout, timeoutMessage = "the calculation took too long", onProgress) {
    this.stop(task.kind, "cancelled");
    let thread = this.threads.get(task.kind);
    if (!thread) {
      const url = URL.createObjectURL(new Blob([this.source], { type: "text/javascript" }));
      this.threads.set(task.kind, thread = { worker: new Worker(url), stop: null });
      URL.revokeObjectURL(url);
    }
    const { worker } = thread, ownThread = thread, id = ++this.lastId;
    return new Promise((resolve, reject) => {
      const finish = () => { clearTimeout(timer); ownThread.stop = null; };
      ownThread.stop = why => { finish(); worker.terminate(); this.threads.delete(task.kind); reject(new Error(why)); };
      const timer = setTimeout(() => ownThread.stop?.(timeoutMessage), timeout);
      worker.onmessage = ({ data }) => { if (data.id !== id) return; if (data.share !== undefined) onProgress?.(data.share); else { finish(); data.error ? reject(new Error(data.error)) : resolve(data.result); } };
      worker.onerror = event => ownThread.stop?.(event.message || "the worker cannot be started");
      worker.postMessage({ id, task }, (task.tables ?? []).map((/** @type {Uint8Array} */ rows) => rows.buffer));
    });
  }
}

/** Compute word counts by frequency, or n-gram lists, of all texts in a worker. @param {import("./report_data.js").ReportData} data @param {{words: boolean, [key: string]: any}} options @returns {Promise<any>} */
export function countAllTexts({ client: { binary, lowercase }, manifest: { ngrams }, roles, texts, n }, options) {
  const blocks = (/** @type {string} */ kind) => roles.filter(role => role.startsWith(kind)).map(role => new Uint8Array(/** @type {import("./report_data.js").TextColumn} */ (texts.get(role)).bytes.buffer));
  const thread = COUNTING_THREADS[Number(options.words)] ??= new TaskThreads();
  return thread.run({ kind: "ngrams", binary, lowercase, recipe: ngrams.recipe, systems: blocks("system"), references: blocks("reference"), n, ...options }, 120000, "counting was stopped after two minutes");
}

/** Two workers, because a new task cancels the previous task of its worker. @type {TaskThreads[]} */
const COUNTING_THREADS = [];
