// HTML and SVG elements, number formats and small widgets. Text is added only as text nodes.

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Child | readonly any[]} Children */

/**
 * Create an HTML element. The tag may include classes: `el("p.note.quiet", {}, "text")`.
 * Props: `on: {click: fn}`, `data: {name: value}`, the DOM properties class, hidden, selected,
 * disabled, checked and value; all others are attributes (false, null: omitted; true: empty).
 * @param {string} tag
 * @param {Record<string, any>} [props]
 * @param {...Children} children
 * @returns {any}
 */
export function el(tag, props, ...children) {
  const [name, ...classes] = tag.split(".");
  return applyProperties(document.createElement(name), classes, props, children);
}

/**
 * Create an SVG element; see `el`.
 * @param {string} tag
 * @param {Record<string, any>} [props]
 * @param {...Children} children
 * @returns {any}
 */
export function svg(tag, props, ...children) {
  const [name, ...classes] = tag.split(".");
  return applyProperties(document.createElementNS("http://www.w3.org/2000/svg", name), classes, props, children);
}

/** @param {any} node @param {string[]} classes @param {Record<string, any> | undefined} props @param {Children[]} children */
function applyProperties(node, classes, props, children) {
  if (classes.length) node.setAttribute("class", classes.join(" "));
  for (const [key, value] of Object.entries(props ?? {})) {
    if (key === "on") for (const [type, listener] of Object.entries(value)) node.addEventListener(type, listener);
    else if (key === "data") Object.assign(node.dataset, value);
    else if (key === "class") node.setAttribute("class", [node.getAttribute("class"), value].filter(Boolean).join(" "));
    else if (["value", "checked", "hidden", "disabled", "selected"].includes(key)) node[key] = value;
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(key, value === true ? "" : String(value));
  }
  appendChildren(node, children);
  return node;
}

/** @param {Node} node @param {readonly any[]} children */
function appendChildren(node, children) {
  for (const child of children) {
    if (Array.isArray(child)) appendChildren(node, child);
    else if (child instanceof Node) node.appendChild(child);
    else if (child !== null && child !== undefined && child !== false) node.appendChild(document.createTextNode(String(child)));
  }
}

/** Replace the children of a node. @param {Element} node @param {...Children} children */
export function replaceChildren(node, ...children) {
  node.replaceChildren();
  appendChildren(node, children);
}

// ---- numbers: identical in every locale, with full precision in the tooltip ----

/** Format an integer with thousands separators: 1234567 → "1,234,567". @param {number} n */
export const formatCount = n => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ",");

/** Format an approximate number of segments to two significant digits. @param {number} n */
export const formatApproximateCount = n => n > 1e6 ? "> 1 million" : formatCount(Number(n.toPrecision(2)));

/** @param {number | null | undefined} x @param {number} [digits] */
export const formatFixed = (x, digits = 2) => x === null || x === undefined || Number.isNaN(x) ? "–" : (Number(x.toFixed(digits)) + 0).toFixed(digits).replace("-", "−");

/** Format a number with its sign: "+1.25", "−0.50", "0.00". @param {number | null | undefined} x @param {number} [digits] */
export const formatSigned = (x, digits = 2) => (x && Number(x.toFixed(digits)) > 0 ? "+" : "") + formatFixed(x, digits);

/** Format a p-value as Python does: "0.0120", "<0.0001". @param {number} p */
export const formatPValue = p => p === 1 ? "1" : p < 0.00005 ? "<0.0001" : p.toFixed(4);

/** Join names: "a, b and c". @param {string[]} names */
export const joinNames = names => [names.slice(0, -1).join(", "), ...names.slice(-1)].filter(Boolean).join(" and ");

/** Format an interval: "[+0.21, +1.30]". @param {number} low @param {number} high @param {number} [digits] @param {boolean} [sign] */
export const formatInterval = (low, high, digits = 2, sign = true) => `[${(sign ? formatSigned : formatFixed)(low, digits)}, ${(sign ? formatSigned : formatFixed)(high, digits)}]`;

/** Maximum of the displayed percentages, 100 or 1. Data always have percentages from 0 to 100. */
let scoreScale = 100;
/** Set the scale of all displayed scores. @param {number} scale */
export const setScoreScale = scale => { scoreScale = scale; };
/** Return a percentage on the displayed scale. @template {number | null | undefined} T @param {T} x @returns {T} */
export const scaleScore = x => /** @type {T} */ (scoreScale === 1 && typeof x === "number" ? x / 100 : x);
/** A 0-1 scale needs two more decimals. @param {number} digits */
const getScoreDigits = digits => scoreScale === 1 ? digits + 2 : digits;
/** Format a score. @param {number | null | undefined} x from 0 to 100 @param {number} [digits] on that scale */
export const formatScore = (x, digits = 2) => formatFixed(scaleScore(x), getScoreDigits(digits));
/** Format a difference between scores with its sign. @param {number | null | undefined} x @param {number} [digits] */
export const formatDelta = (x, digits = 2) => formatSigned(scaleScore(x), getScoreDigits(digits));
/** Format an interval of scores or of differences. @param {number} low @param {number} high @param {number} [digits] @param {boolean} [sign] */
export const formatScoreInterval = (low, high, digits = 2, sign = true) => formatInterval(scaleScore(low), scaleScore(high), getScoreDigits(digits), sign);
/** Render a score, with all digits in the tooltip. @param {number | null | undefined} x @param {string} [shownText] */
export const renderScore = (x, shownText = formatScore(x)) => renderNumber(scaleScore(x), shownText);
/** Columns with scores or differences between scores. */
const SCORE_COLUMNS = ["scoreA", "scoreB", "delta", "influence"];
/** Return the factor that converts the values of a column to the displayed scale. @param {string} column */
export const getColumnFactor = column => SCORE_COLUMNS.includes(column) ? scaleScore(1) : 1;
/** Return the unit of differences between scores. */
export const getPointUnit = () => scoreScale === 1 ? "0-1" : "points";

/** Format a count with its noun: "1 segment", "2 segments". @param {number} n @param {string} noun */
export const formatPlural = (n, noun) => `${formatCount(n)} ${noun}${n === 1 ? "" : "s"}`;

/** Render a rounded number, with all digits in the tooltip. @param {number | null | undefined} x @param {string} [shownText] */
export function renderNumber(x, shownText = formatFixed(x)) {
  return typeof x === "number" && !Number.isNaN(x) ? el("data.num", { value: String(x), title: String(x) }, shownText) : el("span.num", {}, shownText);
}

// ---- systems: letter, colour and shape ----

/**
 * Render the letter of a system in its colour and shape, optionally followed by its name.
 * @param {{name: string, letter: string, index: number}} system @param {boolean} [withName]
 */
export function renderBadge(system, withName = false) {
  const mark = el("span.badge", { class: `sys-${system.index % 6}`, "aria-hidden": withName ? "true" : null, title: system.name }, system.letter);
  return withName ? el("span.system", {}, mark, el("bdi", {}, system.name)) : mark;
}

// ---- widgets ----

/** @param {Children} label @param {(event: MouseEvent) => void} act @param {Record<string, any>} [props] */
export function createButton(label, act, props) {
  return el("button", { type: "button", ...props, on: { click: act } }, label);
}

/** Create a toggle button. @param {Children} label @param {boolean} on @param {() => void} act @param {Record<string, any>} [props] */
export const createToggle = (label, on, act, props) => createButton(label, act, { "aria-pressed": String(on), ...props });

/** Create a link to a state of the page; a plain click sets the state without loading. @param {import("./url_state.js").UrlState} store @param {import("./url_state.js").State} state @param {Record<string, any>} props @param {...Children} children */
export const createStateLink = (store, state, props, ...children) =>
  el("a", { href: store.toHash(state), ...props, on: { click: (/** @type {MouseEvent} */ e) => { if (!e.ctrlKey && !e.metaKey && !e.shiftKey) { e.preventDefault(); store.set(state); } } } }, children);

/** Create a button that shows more rows, or return null if all rows are shown. The state stores the number of rows under `key`. @param {import("./url_state.js").UrlState} store @param {string} key @param {number} all */
export function createMoreButton(store, key, all) {
  const step = Number(store.defaults[key]), left = all - store.get(key);
  return left > 0 ? createButton(`Show ${Math.min(step, left)} more`, () => store.set({ [key]: store.get(key) + step }, { replace: true })) : null;
}

/**
 * Create a labelled drop-down list. Options are [value, text] or [value, text, reason why it is disabled].
 * @param {string} label @param {(readonly [string, string, string?])[]} options @param {string} value @param {(value: string) => void} act @param {Record<string, any>} [props]
 */
export function createSelect(label, options, value, act, props) {
  const choice = el("select", { "aria-label": label, ...props, on: { change: (/** @type {any} */ e) => act(e.target.value) } },
    options.map(([key, text, disabledReason]) => el("option", { value: key, selected: key === value, disabled: !!disabledReason, title: disabledReason }, disabledReason ? `${text} (${disabledReason})` : text)));
  choice.value = value;
  // Browsers cut long values at the control's edge.
  choice.title ||= choice.selectedOptions[0]?.text ?? "";
  return choice;
}

/** Put a label above a control. @param {string} name @param {any} control */
export const labelControl = (name, control) => el("label.field", {}, el("span", {}, name), control);

/** Create a labelled checkbox. @param {string} label @param {boolean} on @param {(on: boolean) => void} act @param {Record<string, any>} [props] of the input */
export const createCheckbox = (label, on, act, props) =>
  el("label.check", {}, el("input", { type: "checkbox", ...props, checked: on, on: { change: (/** @type {any} */ e) => act(e.target.checked) } }), label);

/**
 * @typedef {object} Column
 * @property {Children} title
 * @property {boolean} [number]  right-aligned, tabular figures
 * @property {string} [hint]     explanation of the column
 * @property {() => void} [sort] makes the header a button
 * @property {"ascending" | "descending" | null} [sorted]
 */
/**
 * Render a table. The first cell of each row is its header; a row may be {cells, ...props}. On narrow
 * screens, the columns whose titles start with Δ follow the first column.
 * @param {string} caption  @param {Column[]} columns  @param {(Children[] | {cells: Children[], [key: string]: any})[]} rows
 * @param {Record<string, any>} [props]  of the table; `quiet: true` hides the caption visually
 */
export function renderTable(caption, columns, rows, { quiet = false, ...props } = {}) {
  const isNarrow = matchMedia("(max-width: 34rem)").matches, getRank = (/** @type {number} */ i) => i && (isNarrow && /^Δ/.test(String(columns[i].title)) ? 1 : 2), order = [...columns.keys()].sort((i, j) => getRank(i) - getRank(j));
  return el("div.table", { tabindex: 0, role: "region", "aria-label": caption }, el("table", props,
    el("caption", { class: quiet ? "unseen" : "" }, caption),
    el("thead", {}, el("tr", {}, order.map(i => columns[i]).map(c =>
      el("th", { scope: "col", class: c.number ? "number" : "", title: c.hint, "aria-sort": c.sorted },
        c.sort ? createButton([c.title, el("span.arrow", { "aria-hidden": "true" }, c.sorted === "ascending" ? " ▲" : c.sorted ? " ▼" : "")], c.sort) : c.title)))),
    el("tbody", {}, rows.map(row => {
      const { cells, ...rowProps } = Array.isArray(row) ? { cells: row } : row;
      return el("tr", rowProps, order.map(i => el(i ? "td" : "th", { scope: i ? null : "row", class: columns[i].number ? "number" : "" }, cells[i])));
    }))));
}

/**
 * Create a button that opens a menu of actions.
 * @param {Children} label @param {() => {text: Children, act: () => void, on?: boolean}[]} items @param {Record<string, any>} [props]
 */
export function createMenu(label, items, props) {
  const list = el("div.menu", { role: "menu", hidden: true });
  const open = createButton([label, el("span", { "aria-hidden": "true" }, " ▾")], () => (list.hidden ? showMenu() : hideMenu()), { "aria-haspopup": "menu", "aria-expanded": "false", ...props });
  const box = el("div.menu-box", { on: { keydown: handleKey, focusout: (/** @type {FocusEvent} */ e) => box.contains(/** @type {Node} */ (e.relatedTarget)) || hideMenu() } }, open, list);
  function showMenu() {
    replaceChildren(list, items().map(item => createButton(item.text, () => { hideMenu(); open.focus(); item.act(); },
      { role: item.on === undefined ? "menuitem" : "menuitemradio", "aria-checked": item.on === undefined ? null : String(item.on), tabindex: -1 })));
    list.hidden = false;
    open.setAttribute("aria-expanded", "true");
    (list.querySelector('[aria-checked="true"]') ?? list.firstElementChild)?.focus();
  }
  function hideMenu() {
    list.hidden = true;
    open.setAttribute("aria-expanded", "false");
  }
  /** @param {KeyboardEvent} event */
  function handleKey(event) {
    if (list.hidden) return;
    const all = /** @type {HTMLElement[]} */ ([...list.children]);
    const index = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    const nextIndex = { ArrowDown: (index + 1) % all.length, ArrowUp: (index - 1 + all.length) % all.length, Home: 0, End: all.length - 1 }[event.key];
    if (nextIndex !== undefined) all[nextIndex].focus();
    else if (event.key === "Escape") { hideMenu(); open.focus(); } else return;
    event.preventDefault();
    event.stopPropagation();
  }
  return box;
}

/** Announce a message to screen readers and show it briefly. @param {string} text */
export function announce(text) {
  const place = document.getElementById("toast");
  if (!place) return;
  place.textContent = text;
  place.classList.add("on");
  clearTimeout(Number(place.dataset.timer));
  place.dataset.timer = String(setTimeout(() => place.classList.remove("on"), 2500));
}

/** Copy the URL of a state. @param {import("./url_state.js").UrlState} store @param {import("./url_state.js").State} [state] */
export const copyStateLink = (store, state) => copyText(location.href.split("#")[0] + store.toHash(state), "Link copied");

/** @param {string} text @param {string} [message] announced after copying */
export async function copyText(text, message = "Copied") {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Sandboxed pages cannot use the Clipboard API.
    const box = el("textarea.unseen", { value: text });
    const focus = /** @type {HTMLElement | null} */ (document.activeElement);
    document.body.append(box);
    box.select();
    const isCopied = document.execCommand("copy");
    box.remove();
    focus?.focus();
    if (!isCopied) { announce("The browser does not allow this page to copy text"); return; }
  }
  announce(message);
}

/** @param {string} name of the file @param {string} type @param {string} text */
export function downloadText(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = el("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

// ---- the top bar ----

const THEMES = ["auto", "light", "dark"];

/** Create a button that switches to the next theme and reports it. @param {string | null} initialTheme @param {(theme: string) => void} onChange */
export function createThemeButton(initialTheme, onChange) {
  let index = Math.max(0, THEMES.indexOf(initialTheme ?? ""));
  const node = createButton("", () => { index = (index + 1) % THEMES.length; showTheme(); onChange(THEMES[index]); }, { class: "quiet" });
  showTheme();
  return node;

  function showTheme() {
    document.documentElement.dataset.theme = THEMES[index];
    replaceChildren(node, "◐○●"[index]);
    node.title = `Theme: ${THEMES[index]}`;
    node.setAttribute("aria-label", node.title);
  }
}

/** @param {HTMLElement} main element below the bar @param {string} title @param {...Children} rest */
export const createTopBar = (main, title, ...rest) => el("header.top", {},
  el("a.skip", { href: "#view", on: { click: (/** @type {Event} */ e) => { e.preventDefault(); main.focus(); } } }, "Skip to content"), el("p.title", { title }, el("bdi", {}, title)), rest);

/** Open a dialog that closes with Escape and restores the focus. @param {string} title @param {...Children} children */
export function openDialog(title, ...children) {
  const box = el("dialog", { "aria-label": title, on: { close: () => box.remove() } },
    el("header", {}, el("h2", {}, title), createButton("Close", () => box.close(), { class: "quiet" })), children);
  document.body.append(box);
  box.showModal();
  return box;
}

// ---- invisible characters ----

const INVISIBLE = /[\0-\x08\x0B-\x1F\x7F-\x9F\xA0\xAD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180E\u1680\u2000-\u200F\u2028-\u202F\u205F-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF9-\uFFFB\uD800-\uDFFF]|[\t\n]/u;
/** @type {Record<string, string>} */
const CHARACTER_MARKS = { "\t": "⇥", "\n": "↵", "\r": "CR", "\0": "NUL", "\u00A0": "⍽", "\u00AD": "SHY", "\u200B": "ZWSP", "\u200C": "ZWNJ", "\u200D": "ZWJ", "\u200E": "LRM", "\u200F": "RLM", "\u202F": "⍽", "\u2028": "LS", "\u2029": "PS", "\u3000": "□", "\uFEFF": "BOM" };

/**
 * Return a text with visible marks for invisible characters. A joiner in a word keeps its effect
 * on the script; only a mark is added.
 * @param {string} text @returns {(Node | string)[]}
 */
export function showInvisible(text) {
  if (!INVISIBLE.test(text)) return [text];
  /** @type {(Node | string)[]} */
  const parts = [];
  let plain = "";
  const joined = /\p{Extended_Pictographic}/u.test(text);
  for (const character of text) {
    // Joiners and variation selectors are parts of emoji.
    if (!INVISIBLE.test(character) || (joined && /[\u200D\uFE0F]/.test(character))) { plain += character; continue; }
    if (plain) parts.push(plain);
    plain = "";
    const point = "U+" + (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    parts.push(el("span.mark", { title: point, "aria-label": point, role: "img" }, CHARACTER_MARKS[character] ?? point.slice(2)));
    if (character === "\n" || character === "\u2028") parts.push("\n");
  }
  if (plain) parts.push(plain);
  return parts;
}

// ---- virtual list ----

// Browsers limit element heights to about 16 to 33 million pixels. In taller lists, scrolling is
// scaled.
const MAX_LIST_HEIGHT = 8e6;

/**
 * List with rows of equal height, of which only the visible ones exist.
 * `fill(node, position)` fills a reused row node. `onMove(position)` is called when the active row
 * changes (arrow keys, Home, End, Page Up, Page Down), `onOpen(position)` on Enter or a click.
 */
export class VirtualList {
  /**
   * @param {{label: string, height: number, columns: number, make: () => HTMLElement, fill: (node: any, position: number) => void,
   *   onMove?: (position: number) => void, onOpen?: (position: number) => void, header?: HTMLElement}} options
   */
  constructor(options) {
    this.options = options;
    this.height = options.height;
    this.length = 0;
    this.active = 0;
    /** @type {Map<number, HTMLElement>} */
    this.rows = new Map();
    /** @type {HTMLElement[]} */
    this.spare = [];
    this.space = el("div.rows", { role: "rowgroup" });
    this.node = el("div.grid", { role: "grid", tabindex: 0, "aria-label": options.label, "aria-colcount": options.columns,
      on: { scroll: () => this.scheduleDraw(), keydown: (/** @type {KeyboardEvent} */ e) => this.handleKey(e), click: (/** @type {MouseEvent} */ e) => this.handleClick(e, false), dblclick: (/** @type {MouseEvent} */ e) => this.handleClick(e, true) } },
      options.header, this.space);
    this.isScheduled = false;
    this.observer = new ResizeObserver(() => this.scheduleDraw());
    this.observer.observe(this.node);
  }

  /** Set the number of rows and redraw. @param {number} length @param {number} [active] */
  reset(length, active = 0) {
    this.length = length;
    this.active = Math.max(0, Math.min(active, length - 1));
    const real = length * this.height;
    this.tall = Math.min(real, MAX_LIST_HEIGHT);
    this.space.style.height = `${this.tall}px`;
    this.node.setAttribute("aria-rowcount", String(length + 1));
    for (const row of this.rows.values()) this.recycle(row);
    this.rows.clear();
    this.draw();
  }

  scheduleDraw() {
    if (this.isScheduled) return;
    this.isScheduled = true;
    requestAnimationFrame(() => { this.isScheduled = false; this.draw(); });
  }

  get headerHeight() { return this.options.header?.offsetHeight ?? 0; }
  get visibleHeight() { return Math.max(0, this.node.clientHeight - this.headerHeight); }

  /** Scroll offset in unscaled pixels. */
  get offset() {
    const real = this.length * this.height, scroll = this.node.scrollTop;
    return real <= MAX_LIST_HEIGHT ? scroll : scroll * ((real - this.visibleHeight) / Math.max(1, MAX_LIST_HEIGHT - this.visibleHeight));
  }

  /** @param {HTMLElement} row */
  recycle(row) {
    row.remove();
    row.removeAttribute("id");
    this.spare.push(row);
  }

  draw() {
    const offset = this.offset;
    const first = Math.max(0, Math.floor(offset / this.height) - 3);
    const last = Math.min(this.length - 1, Math.ceil((offset + this.visibleHeight) / this.height) + 3);
    for (const [position, row] of this.rows) if (position < first || position > last) { this.rows.delete(position); this.recycle(row); }
    const shift = this.node.scrollTop - offset;
    const scaled = this.length * this.height > MAX_LIST_HEIGHT;
    for (let position = first; position <= last; position++) {
      let row = this.rows.get(position);
      if (!row) {
        row = this.spare.pop() ?? this.options.make();
        row.dataset.position = String(position);
        row.setAttribute("aria-rowindex", String(position + 2));
        row.id = `row-${position}`;
        this.options.fill(row, position);
        this.markRow(row, position);
        row.style.transform = `translateY(${position * this.height + shift}px)`;
        this.rows.set(position, row);
        this.space.append(row);
      } else if (scaled) row.style.transform = `translateY(${position * this.height + shift}px)`;
    }
    if (this.rows.has(this.active)) this.node.setAttribute("aria-activedescendant", `row-${this.active}`);
    else this.node.removeAttribute("aria-activedescendant");
  }

  /** Refill the visible rows. */
  refill() {
    for (const [position, row] of this.rows) { this.options.fill(row, position); this.markRow(row, position); }
  }

  /** @param {HTMLElement} row @param {number} position */
  markRow(row, position) {
    row.setAttribute("aria-selected", String(position === this.active));
  }

  /** Activate a row and scroll it into view. @param {number} position @param {boolean} [isReported] whether to call `onMove` */
  go(position, isReported = true) {
    if (!this.length) return;
    const next = Math.max(0, Math.min(this.length - 1, position));
    const top = next * this.height, offset = this.offset, visibleHeight = this.visibleHeight;
    let target = offset;
    if (top < offset) target = top;
    else if (top + this.height > offset + visibleHeight) target = top + this.height - visibleHeight;
    if (Math.abs(target - offset) > visibleHeight) target = top - visibleHeight / 3;
    if (target !== offset) {
      const real = this.length * this.height;
      this.node.scrollTop = real <= MAX_LIST_HEIGHT ? target : target / ((real - visibleHeight) / Math.max(1, MAX_LIST_HEIGHT - visibleHeight));
    }
    const previousRow = this.rows.get(this.active);
    this.active = next;
    if (previousRow) this.markRow(previousRow, Number(previousRow.dataset.position));
    this.draw();
    const row = this.rows.get(next);
    if (row) this.markRow(row, next);
    if (isReported) this.options.onMove?.(next);
  }

  /** @param {KeyboardEvent} event */
  handleKey(event) {
    if (event.target !== this.node || event.ctrlKey || event.altKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(this.visibleHeight / this.height) - 1);
    const target = { ArrowDown: this.active + 1, ArrowUp: this.active - 1, PageDown: this.active + page, PageUp: this.active - page, Home: 0, End: this.length - 1 }[event.key];
    if (target !== undefined) this.go(target);
    else if (event.key === "Enter") this.options.onOpen?.(this.active);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {MouseEvent} event @param {boolean} isDouble */
  handleClick(event, isDouble) {
    const row = /** @type {HTMLElement} */ (event.target).closest("[data-position]");
    if (!row || !this.space.contains(row) || getSelection()?.type === "Range") return;
    const position = Number(/** @type {HTMLElement} */ (row).dataset.position);
    this.go(position);
    this.options.onOpen?.(position);
    if (isDouble) event.preventDefault();
  }
}
