// Forest plot: the intervals of all systems, with one panel per metric.
import {el, svg} from "./dom.js";
import {LETTER_WIDTH, renderFigure, fitText, getFormats, getTicks} from "./svg_charts.js";

/** @typedef {{value: number, low: number, high: number, isSignificant: boolean, isBetter: boolean, p?: string} | null} ForestEntry  entry of a system; null: the baseline, or no interval */
/** @typedef {{title: string, higher: boolean, digits: number, percentage: boolean, entries: ForestEntry[]}} ForestPanel */

const FOREST_ROW_HEIGHT = 22, MAX_NAME_WIDTH = 240, MIN_PANEL_WIDTH = 190;

/**
 * @param {string} title @param {import("./dom.js").Children} summary @param {import("./report_data.js").System[]} systems @param {ForestPanel[]} panels
 * @param {boolean} zero whether differences from the baseline are drawn, instead of scores
 */
export function renderForest(title, summary, systems, panels, zero) {
  return renderFigure({ title, summary, draw: width => drawForest(systems, panels, zero, width, title),
    columns: [{ title: "System" }, ...panels.flatMap(p => [{ title: p.title, number: true }, { title: "interval", number: true }])],
    rows: systems.map((s, i) => [el("bdi", {}, `${s.letter} ${s.name}`), ...panels.flatMap(panel => { const entry = panel.entries[i], format = getFormats(panel); return entry ? [format.render(entry.value, (zero ? format.delta : format.score)(entry.value, panel.digits)), format.interval(entry.low, entry.high, panel.digits, zero)] : [zero ? "baseline" : "–", ""]; })]) });
}

/** @param {import("./report_data.js").System[]} systems @param {ForestPanel[]} panels @param {boolean} zero @param {number} width @param {string} label */
function drawForest(systems, panels, zero, width, label) {
  const left = width < 420 ? 34 : Math.min(MAX_NAME_WIDTH, width / 4, 40 + LETTER_WIDTH * Math.max(...systems.map(s => s.name.length))), panelsPerRow = Math.max(1, Math.min(panels.length, Math.floor((width - left) / MIN_PANEL_WIDTH))), panelWidth = Math.min(520, (width - left) / panelsPerRow), panelHeight = 40 + systems.length * FOREST_ROW_HEIGHT;
  const lines = Math.ceil(panels.length / panelsPerRow), totalHeight = lines * (panelHeight + 8);
  return svg("svg.forest-plot", { viewBox: `0 0 ${width} ${totalHeight}`, width, height: totalHeight, role: "group", "aria-label": label },
    Array.from({ length: lines }, (_, line) => systems.map((s, i) => {
      const y = line * (panelHeight + 8) + 18 + i * FOREST_ROW_HEIGHT;
      return [svg("rect", { class: `bar sys-${s.index % 6}`, x: 2, y: y + 7, width: 8, height: 8 }), svg("text.name", { x: 15, y: y + 15 }, fitText(left > 34 ? `${s.letter} ${s.name}` : s.letter, left - 18))];
    })),
    panels.map((panel, k) => {
      const format = getFormats(panel), x0 = left + k % panelsPerRow * panelWidth, y0 = Math.floor(k / panelsPerRow) * (panelHeight + 8), bounds = [...(zero ? [0] : []), ...panel.entries.flatMap(d => d ? [d.low, d.high] : [])], minimum = Math.min(...bounds), maximum = Math.max(...bounds), padding = (maximum - minimum) * 0.04 || Math.abs(maximum) * 0.04 || 1;
      const share = (/** @type {number} */ v) => (v - minimum + padding) / (maximum - minimum + 2 * padding), x = (/** @type {number} */ v) => x0 + 10 + (panelWidth - 26) * (panel.higher ? share(v) : 1 - share(v)), bottom = y0 + 18 + systems.length * FOREST_ROW_HEIGHT;
      return svg("g", { role: "group", "aria-label": panel.title }, svg("text.name", { x: x0 + panelWidth / 2 - 3, y: y0 + 12, "text-anchor": "middle" }, fitText(panel.title, panelWidth - 8)),
        getTicks(minimum - padding, maximum + padding, 5).map(t => [svg("line.rule", { x1: x(t), x2: x(t), y1: y0 + 18, y2: bottom }), svg("line.zero", { x1: x(t), x2: x(t), y1: bottom, y2: bottom + 4 }), svg("text.tick", { x: x(t), y: bottom + 15, "text-anchor": "middle" }, format.tick(t))]),
        svg("line.zero", { x1: x0 + 6, x2: x0 + panelWidth - 12, y1: bottom, y2: bottom }), zero ? svg("line.zero", { x1: x(0), x2: x(0), y1: y0 + 18, y2: bottom }) : null,
        panel.entries.map((d, i) => {
          const y = y0 + 18 + (i + 0.5) * FOREST_ROW_HEIGHT;
          if (!d) return zero ? svg("path.base", { d: `M${x(0)} ${y - 5}l5 5l-5 5l-5 -5z` }, svg("title", {}, "baseline")) : null;
          const description = `${systems[i].letter} ${systems[i].name}: ${(zero ? format.delta : format.score)(d.value, panel.digits)} ${format.interval(d.low, d.high, panel.digits, zero)}${d.p ? `, ${d.p}` : ""}`;
          return svg("g", { class: `forest-row ${d.isSignificant ? (d.isBetter ? "better" : "worse") : ""}`, role: "img", "aria-label": description }, svg("title", {}, description), svg("rect.back", { x: x0 + 4, y: y - FOREST_ROW_HEIGHT / 2, width: panelWidth - 14, height: FOREST_ROW_HEIGHT }),
            svg("path.whisker", { d: `M${x(d.low)} ${y - 4}v8m0 -4H${x(d.high)}m0 -4v8` }), svg("circle.point", { class: d.isSignificant || !zero ? "" : "open", cx: x(d.value), cy: y, r: 4 }));
        }));
    }));
}
