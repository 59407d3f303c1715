// Map of a re-segmented document: the reference segments above, the corresponding parts of the text
// below.
import {renderBadge, formatCount, el, formatPlural, svg} from "./dom.js";
import {showFiltered} from "./selection.js";
import {createCanvas, linkSegments, renderFigure, roundHundredth} from "./svg_charts.js";

/** @typedef {import("./selection.js").Context} Context */

// Minimum width of a segment in pixels, and maximum number of segments in a part of a long
// document.
const MIN_SEGMENT_WIDTH = 26, MAX_PART = 600, ROW_HEIGHT = 76, BAR_HEIGHT = 14;

/** Return the documents of the compared re-segmented systems, or parts of long documents. @param {Context} context @returns {Record<string, {title: string, segments: number[]}>} */
export function listMapParts({ data, current }) {
  const map = current.comparedSystems.map(s => data.segmentMaps[s.index]).find(Boolean);
  if (!map) return {};
  return current.cached("map parts", () => {
    /** @type {Map<number, number[]>} */
    const documents = new Map();
    for (let i = 0; i < data.n; i++) { const all = documents.get(map.bySegment[i]); if (all) all.push(i); else documents.set(map.bySegment[i], [i]); }
    /** @type {Record<string, {title: string, segments: number[]}>} */
    const parts = {};
    for (const [d, segments] of documents) for (let from = 0; from < segments.length; from += MAX_PART) {
      const some = segments.slice(from, from + MAX_PART), name = map.documents?.[d] ?? "all segments";
      parts[`${d}.${from}`] = { title: segments.length > MAX_PART ? `${name}, segments ${formatCount(some[0] + 1)} to ${formatCount(some[some.length - 1] + 1)}` : name, segments: some };
    }
    return parts;
  });
}

/** Draw a map for each compared system. @param {Context} context @param {string} id of the part */
export function drawSegmentMaps(context, id) {
  const { data, current } = context, { segments, title } = listMapParts(context)[id];
  return el("div", {}, current.comparedSystems.filter(s => data.segmentMaps[s.index]).map(system => {
    const map = data.segmentMaps[system.index], flagged = segments.filter(i => map.getFlags(i).length);
    return renderFigure({ title: `${system.letter} ${system.name}: ${title}.`, summary: `The upper row shows the ${formatPlural(segments.length, "segment")} of the reference, the lower row the parts of the text. Width shows length, and shade the share of equal units. ${flagged.length ? `Outlines mark ${formatPlural(flagged.length, "segment")} with flags` : "No segment has flags"}. Click a segment to open it.`,
      draw: width => drawMap(context, map, segments, width, `Map of ${system.name}: ${title}`),
      columns: [{ title: "Segment", number: true }, { title: "Reference units", number: true }, { title: [renderBadge(system), " units"], number: true }, { title: "Equal", number: true }, { title: "Flags" }],
      rows: segments.map(i => [linkSegments(context, formatCount(i + 1), { seg: i + 1 }), ...[map.references, map.hypotheses, map.equal].map(counts => formatCount(counts[i])), map.getFlags(i).join(", ")]) });
  }));
}

/** @param {Context} context @param {import("./report_data.js").SegmentMap} map @param {number[]} segments @param {number} width @param {string} label */
function drawMap({ store }, map, segments, width, label) {
  const perRow = Math.max(5, Math.floor(width / MIN_SEGMENT_WIDTH)), rowCount = Math.ceil(segments.length / perRow), size = Math.ceil(segments.length / rowCount);
  const rows = Array.from({ length: rowCount }, (_, r) => segments.slice(r * size, (r + 1) * size));
  const sum = (/** @type {number[]} */ row, /** @type {Uint32Array} */ counts) => row.reduce((total, i) => total + counts[i], 0), longest = Math.max(1, ...rows.flatMap(row => [sum(row, map.references), sum(row, map.hypotheses)]));
  const scale = (width - 2) / longest;
  return createCanvas(width, rowCount * ROW_HEIGHT, label, rows.map((row, r) => {
    const top = r * ROW_HEIGHT + 12, low = top + 44;
    let x = 1, y = 1;
    return row.map(i => {
      const [above, below] = [map.references[i], map.hypotheses[i]].map(units => units * scale), flags = map.getFlags(i), [x1, x2, y1, y2] = [x, x + above, y, y + below].map(roundHundredth);
      x += above; y += below;
      const share = map.equal[i] / Math.max(1, map.references[i], map.hypotheses[i]), description = `segment ${i + 1}: ${formatPlural(map.references[i], "unit")} of the reference, ${formatPlural(map.hypotheses[i], "unit")} of the text, ${formatCount(map.equal[i])} equal${flags.length ? `; ${flags.join(", ")}` : ""}`, act = () => showFiltered(store, { seg: i + 1 });
      return svg("g.part-of-map.open-to-click", { class: flags.length ? "flagged" : "", role: "link", tabindex: 0, "aria-label": description, on: { click: act, keydown: (/** @type {KeyboardEvent} */ event) => { if (event.key === "Enter") act(); } } }, svg("title", {}, description),
        svg("path.link", { "fill-opacity": roundHundredth(0.08 + 0.6 * share), d: `M${x1} ${top + BAR_HEIGHT}H${x2}L${y2} ${low}H${y1}z` }),
        svg("rect", { x: x1, y: top, width: Math.max(0.5, x2 - x1), height: BAR_HEIGHT }), svg("rect", { x: y1, y: low, width: Math.max(0.5, y2 - y1), height: BAR_HEIGHT }),
        above > 22 ? svg("text.tick", { x: roundHundredth((x1 + x2) / 2), y: top + 11, "text-anchor": "middle" }, String(i + 1)) : null);
    });
  }));
}
