// Findings of the report as sentences, each with a link to its segments.
import {linkSegments} from "./svg_charts.js";
import {el} from "./dom.js";

/** @typedef {{kind: string, text: string, state: Record<string, any>}} Finding */

/** Render the section of findings; return an empty array if there are no findings. @param {import("./selection.js").Context} context @returns {HTMLElement[]} */
export function renderFindings(context) {
  const items = /** @type {Finding[]} */ (context.data.manifest.findings ?? []);
  if (!items.length) return [];
  const renderItem = (/** @type {Finding} */ { text, state: { systems, ...state } }) => {
    const compared = systems ? { a: systems[0], b: systems[1] } : {};
    return el("li", {}, text, ". ", linkSegments(context, "Show the segments", { ...compared, ...state }));
  };
  return [el("section.findings", {}, el("h2", {}, "Findings"), el("ul", {}, items.map(renderItem)))];
}
