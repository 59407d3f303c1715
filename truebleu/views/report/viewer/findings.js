// What the data say by themselves: sentences, each with a way to its segments.
import {FILTERS} from "./current.js";
import {el} from "./dom.js";

/** @typedef {{kind: string, told: string, state: Record<string, any>}} Finding */

/** The state that shows a finding's segments. @param {Finding} finding */
function stateOf({ state: { systems: compared, ...state } }) {
  const [a, b] = compared ?? [];
  return { ...FILTERS, view: "segments", seg: null, sort: "number", ...(compared ? { a, b } : {}), ...state };
}

/** The findings, as a section; nothing where there are none. @param {import("./current.js").Context} context @returns {HTMLElement[]} */
export function findings({ data, store }) {
  const found = /** @type {Finding[]} */ (data.manifest.findings ?? []);
  if (!found.length) return [];
  const item = (/** @type {Finding} */ one) => {
    const state = stateOf(one);
    return el("li", {}, one.told, ". ", el("a", { href: store.hash(state), on: { click: (/** @type {MouseEvent} */ e) => { if (!e.ctrlKey && !e.metaKey && !e.shiftKey) { e.preventDefault(); store.set(state); } } } }, "Show the segments"));
  };
  return [el("section.findings", {}, el("h2", {}, "Findings"), el("ul", {}, found.map(item)))];
}
