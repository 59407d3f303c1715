// State of the page: a flat object that is stored in the URL (#view?key=value&…).

/** @typedef {string | number | boolean | null} Value */
/** @typedef {Record<string, Value>} State */

/** Replace lone surrogates, which URLs cannot contain. @param {string} text */
export const replaceSurrogates = text => text.replace(/\p{Cs}/gu, "\uFFFD");

/**
 * State with defaults; the URL contains only values that differ from them. The type of the default
 * decides how a value is parsed (number, boolean or string). Strings may be null for "none", and
 * numeric keys whose default is null are listed in `numbers`.
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

  /** Add keys with their defaults; `numbers` lists the keys that are null or a number. @param {State} defaults @param {string[]} [numbers] */
  declare(defaults, numbers = []) {
    Object.assign(this.defaults, defaults);
    this.state = { ...defaults, ...this.state };
    for (const key of numbers) this.numbers.add(key);
  }

  /** @param {string} key @returns {any} */
  get(key) { return this.state[key]; }

  /**
   * Change some values and notify the listeners. The change becomes an entry in the browser's history
   * unless `replace` is true (for typing, or moving through a list).
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
        // The call fails in frames without a URL, and some browsers limit how often the URL may change.
      }
    }
    this.notify(changed);
  }

  /** Return the defaults of keys. @param {string[]} keys */
  getDefaults(keys) { return Object.fromEntries(keys.map(key => [key, this.defaults[key]])); }

  /** Call a listener after each change with the changed keys. @param {(changed: Set<string>) => void} listener */
  subscribe(listener) { this.listeners.add(listener); }

  /** Notify the listeners of an event, such as the arrival of data. @param {Set<string>} changed */
  notify(changed) { for (const listener of [...this.listeners]) listener(changed); }

  /** Return the URL fragment of the state, optionally with changed values. @param {State} [changes] */
  toHash(changes = {}) {
    const { view, ...rest } = { ...this.state, ...changes };
    const parts = Object.entries(rest)
      .filter(([key, value]) => key in this.defaults && value !== this.defaults[key])
      .map(([key, value]) => `${key}=${encodeURIComponent(replaceSurrogates(String(value))).replace(/%(20|2C|3A|2F)/g, c => ({ "%20": "+", "%2C": ",", "%3A": ":", "%2F": "/" })[c] ?? c)}`);
    return `#${view}${parts.length ? "?" + parts.join("&") : ""}`;
  }

  /** Read the state from the URL; missing keys get their defaults. */
  read() {
    const [view, query = ""] = location.hash.slice(1).split(/\?(.*)/s);
    /** @type {State} */
    const state = { ...this.defaults };
    if (view) state.view = view;
    for (const part of query.split("&")) {
      const [key, raw] = part.split(/=(.*)/s);
      if (!(key in this.defaults) || key === "view" || raw === undefined) continue;
      let text = raw.replaceAll("+", " ");
      try { text = decodeURIComponent(text); } catch { /* Keep invalid escapes unchanged. */ }
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
