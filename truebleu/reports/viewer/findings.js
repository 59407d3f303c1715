// What the data say by themselves: sentences, each with a way to its segments.
import {linkSegments} from "./svg_charts.js";
import {el} from "./dom.js";

/** @typedef {{kind: string, text: string, state: Record<string, any>}} Finding */

/** The findings, as a section; nothing where there are none. @param {import("./selection.js").Context} context @returns {HTMLElement[]} */
export function renderFindings(context) {
  const found = /** @type {Finding[]} */ (context.data.manifest.findings ?? []);
  if (!found.length) return [];
  const item = (/** @type {Finding} */ { text, state: { systems, ...state } }) => {
    const compared = systems ? { a: systems[0], b: systems[1] } : {};
    return el("li", {}, text, ". ", linkSegments(context, "Show the segments", { ...compared, ...state }));
  };
  return [el("section.findings", {}, el("h2", {}, "Findings"), el("ul", {}, found.map(item)))];
}
