// Single-key shortcuts, which can be switched off.
import {browserStorage} from "./selection.js";
import {announce, createCheckbox, copyStateLink, openDialog, el, renderTable} from "./dom.js";

/** @typedef {import("./selection.js").Context} Context */
/** @typedef {{title: string, act: (context: Context) => void}} Action */

/** Shortcuts in all views. @type {Record<string, Action>} */
const GENERAL_KEYS = {
  "x": { title: "swap the two systems", act: ({ current }) => current.swap() },
  "b": { title: "next baseline", act: ({ data, store, current: { a, b } }) => {
    if (!b) return;
    const next = data.systems[(a.index + 1) % data.systems.length];
    store.set(next === b ? { a: next.name, b: a.name } : { a: next.name });
    announce(`The baseline is ${next.letter} ${next.name}`);
  } },
  "y": { title: "copy a link to this view", act: ({ store }) => { copyStateLink(store); } },
};

/** Handler of shortcuts, inactive while the user types or if shortcuts are off. */
export class KeyboardShortcuts {
  /** @param {Context} context @param {() => import("./main.js").View} view returns the current view @param {import("./main.js").View[]} views */
  constructor(context, view, views) {
    this.context = context;
    this.view = view;
    this.views = views;
    this.isEnabled = browserStorage.get("keys") !== "off";
    this.lastGoTime = 0;
  }

  /** @param {KeyboardEvent} event */
  handleKey(event) {
    const target = /** @type {HTMLElement} */ (event.target), { key } = event, { store, data } = this.context;
    if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented || document.querySelector("dialog[open]")) return;
    // Prevent the browser from clearing the search field.
    if (key === "Escape" && target.matches("input")) { event.preventDefault(); target.blur(); return; }
    if (target.matches("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]")) return;
    // Escape and Enter work even if single-letter shortcuts are off.
    const viewKeys = this.view().keys ?? {};
    if (key === "Escape") { if (viewKeys.Escape) { viewKeys.Escape.act(this.context); event.preventDefault(); } return; }
    if (key === "Enter") { if (viewKeys.Enter && (target === document.body || target.id === "view")) { viewKeys.Enter.act(this.context); event.preventDefault(); } return; }
    if (!this.isEnabled) return;
    const followsG = Date.now() - this.lastGoTime < 1500;
    this.lastGoTime = 0;
    const view = followsG && this.views.find(candidate => candidate.key === key);
    if (view) store.set({ view: view.id });
    else if (key === "g") this.lastGoTime = Date.now();
    else if (key === "?") this.showHelp();
    else if (/^[1-9]$/.test(key)) this.selectSystem(Number(key) - 1, data.systems.length);
    else if (viewKeys[key]) viewKeys[key].act(this.context);
    else if (GENERAL_KEYS[key]) GENERAL_KEYS[key].act(this.context);
    else {
      // These segment-list keys work in all views.
      const targetView = "/fr".includes(key) && this.views.find(candidate => candidate.keys?.[key]);
      if (!targetView) return;
      store.set({ view: targetView.id });
      targetView.keys?.[key].act(this.context);
    }
    event.preventDefault();
  }

  /** @param {number} index @param {number} systems */
  selectSystem(index, systems) {
    const { store, data, current: { a } } = this.context;
    if (index >= systems || index === a.index) return;
    store.set({ b: data.systems[index].name });
    announce(`Compared: ${data.systems[index].letter} ${data.systems[index].name}`);
  }

  showHelp() {
    const { views } = this;
    const row = (/** @type {string} */ keys, /** @type {string} */ text) => [keys.split(" ").map((key, i) => [i ? " " : "", el("kbd", {}, key)]), text];
    const rows = [
      ...views.map(view => row(`g ${view.key}`, view.title)),
      row("1 … 9", "compare this system with the baseline"),
      ...Object.entries(GENERAL_KEYS).map(([key, action]) => row(key, action.title)),
      ...views.flatMap(view => Object.entries(view.keys ?? {}).map(([key, action]) => row(key, `${action.title} (${view.title})`))),
      row("↑ ↓ Home End PageUp PageDown", "move through the list"), row("← →", "move between tokens of a text"), row("?", "show this help"),
    ];
    openDialog("Help and keyboard",
      el("p", {}, "All numbers were computed by truebleu or recomputed from its counts with the same formulas. Δ is the score of the compared system minus the score of the baseline. Influence is how much Δ would decrease without a segment. Each state of the page has a URL."),
      createCheckbox("Single-key shortcuts", this.isEnabled, on => { this.isEnabled = on; browserStorage.set("keys", on ? "on" : "off"); }),
      renderTable("Keys", [{ title: "Key" }, { title: "Action" }], rows, { quiet: true }));
  }
}
