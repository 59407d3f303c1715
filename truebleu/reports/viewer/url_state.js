// The state of the page: one flat object, and the address (#view?key=value&…) that says the same.

/** @typedef {string | number | boolean | null} Value */
/** @typedef {Record<string, Value>} State */

/** A text as an address can have it. @param {string} text */
export const replaceSurrogates = text => text.replace(/\p{Cs}/gu, "\uFFFD");

/**
 * Every key has a default; only what differs from it stands in the address. The type of the default
 * decides how a value is read back: number, boolean or string; null stands for "none" of a string,
 * and keys whose default is null but which hold numbers are named in `numbers`.
 */
export class UrlState {
  constructor() {
    /** @type {State} */
    this.defaults = { view: "summary" };
    /** @type {any} */
    this.state = { ...this.defaults };
    /** @type {Set<string>} */
    this.numbers = new Set();
    /** @type {Set<(changed: Set<string>) => void>} */
    this.listeners = new Set();
    this.lastHash = "";
  }

  /** Adds keys with their defaults; `numbers` names those that are null or a number. @param {State} defaults @param {string[]} [numbers] */
  declare(defaults, numbers = []) {
    Object.assign(this.defaults, defaults);
    this.state = { ...defaults, ...this.state };
    for (const key of numbers) this.numbers.add(key);
  }

  /** @param {string} key @returns {any} */
  get(key) { return this.state[key]; }

  /**
   * Changes some values and tells the listeners which. The change goes into the browser's history
   * unless `replace` says that it follows the last one (typing, moving through a list).
   * @param {State} values @param {{replace?: boolean}} [options]
   */
  set(values, { replace = false } = {}) {
    const changed = new Set(Object.keys(values).filter(key => this.state[key] !== values[key]));
    if (!changed.size) return;
    this.state = { ...this.state, ...values };
    const hash = this.toHash();
    if (hash !== this.lastHash) {
      this.lastHash = hash;
      try {
        history[replace ? "replaceState" : "pushState"](null, "", hash);
      } catch {
        // Frames without an address of their own, and browsers that find it too often.
      }
    }
    this.notify(changed);
  }

  /** The defaults of keys. @param {string[]} keys */
  getDefaults(keys) { return Object.fromEntries(keys.map(key => [key, this.defaults[key]])); }

  /** Calls back after each change with the keys that changed. @param {(changed: Set<string>) => void} listener */
  subscribe(listener) { this.listeners.add(listener); }

  /** Tells of a change that is no value, as when data has arrived. @param {Set<string>} changed */
  notify(changed) { for (const listener of [...this.listeners]) listener(changed); }

  /** The address of the state, or of a state with some other values. @param {State} [changes] */
  toHash(changes = {}) {
    const { view, ...rest } = { ...this.state, ...changes };
    const parts = Object.entries(rest)
      .filter(([key, value]) => key in this.defaults && value !== this.defaults[key])
      .map(([key, value]) => `${key}=${encodeURIComponent(replaceSurrogates(String(value))).replace(/%(20|2C|3A|2F)/g, c => ({ "%20": "+", "%2C": ",", "%3A": ":", "%2F": "/" })[c] ?? c)}`);
    return `#${view}${parts.length ? "?" + parts.join("&") : ""}`;
  }

  /** Reads the address; what it does not say is the default. */
  read() {
    const [view, query = ""] = location.hash.slice(1).split(/\?(.*)/s);
    /** @type {State} */
    const state = { ...this.defaults };
    if (view) state.view = view;
    for (const part of query.split("&")) {
      const [key, raw] = part.split(/=(.*)/s);
      if (!(key in this.defaults) || key === "view" || raw === undefined) continue;
      let text = raw.replaceAll("+", " ");
      try { text = decodeURIComponent(text); } catch { /* as it stands */ }
      const kind = typeof this.defaults[key];
      if (kind === "number" || this.numbers.has(key)) {
        const number = Number(text);
        if (text !== "null" && Number.isFinite(number)) state[key] = number;
      } else state[key] = kind === "boolean" ? text === "true" : text;
    }
    const changed = new Set(Object.keys(state).filter(key => state[key] !== this.state[key]));
    this.state = state;
    this.lastHash = this.toHash();
    if (changed.size) this.notify(changed);
  }
}
