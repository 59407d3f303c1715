// Scatter plot of all systems by two metrics, such as quality and latency, with the Pareto line.
import {el, svg} from "./dom.js";
import {toFilterState} from "./selection.js";
import {fitText, getFormats, LETTER_WIDTH, roundHundredth} from "./svg_charts.js";
import {renderPlot} from "./axes.js";

/** @typedef {import("./selection.js").Context} Context */
/** @typedef {import("./selection.js").Measure} Measure */

/** Return the metrics that can be compared with the current metric; latency, for which lower is better, comes first. @param {Context} context @returns {Record<string, {title: string}>} */
export function listOtherMeasures({ data, current }) {
  const others = current.measures.filter(m => m.headline && m.id !== current.setting.id).sort((x, y) => Number(x.higherIsBetter) - Number(y.higherIsBetter));
  // Objects list keys that are integers first, so the keys have a prefix.
  return data.systems.length < 2 ? {} : Object.fromEntries(others.map(m => [`metric ${m.id}`, { title: m.label }]));
}

/** Return the systems that no other system surpasses in one metric without being worse in the other, from left to right. @template {{x: number, y: number}} P @param {P[]} points @param {boolean} isXBetterHigh @param {boolean} isYBetterHigh @returns {P[]} */
export function findParetoPoints(points, isXBetterHigh, isYBetterHigh) {
  const [signX, signY] = [isXBetterHigh, isYBetterHigh].map(high => high ? 1 : -1), isBetter = (/** @type {P} */ p, /** @type {P} */ q) => signX * (p.x - q.x) >= 0 && signY * (p.y - q.y) >= 0 && (p.x !== q.x || p.y !== q.y);
  return points.filter(q => !points.some(p => isBetter(p, q))).sort((p, q) => p.x - q.x);
}

/** @param {Context} context @param {string} key of the metric on the horizontal axis */
export function drawSystemScatter(context, key) {
  const id = key.replace("metric ", "");
  const { data, store, current } = context, { a, metric } = current, measures = current.measures, across = /** @type {Measure} */ (measures.find(m => m.id === id)), up = /** @type {Measure} */ (measures.find(m => m.id === current.setting.id));
  const scores = [...data.settings, ...data.manifest.columns ?? []].find(m => m.id === id).scores, [formatX, formatY] = [getFormats(across), getFormats(up)];
  const points = data.systems.map(s => ({ system: s, x: /** @type {number} */ (scores[s.name]), y: current.scoreCorpus(s) })).filter(p => Number.isFinite(p.x) && Number.isFinite(p.y));
  const best = findParetoPoints(points, across.higherIsBetter, metric.higherIsBetter), isBest = (/** @type {typeof points[number]} */ p) => best.includes(p);
  const pad = (/** @type {number[]} */ values) => { const low = Math.min(...values), high = Math.max(...values), margin = (high - low) * 0.12 || Math.abs(high) * 0.05 || 1; return { low: low - margin, high: high + margin }; };
  const describe = (/** @type {typeof points[number]} */ p) => `${p.system.letter} ${p.system.name}: ${up.label} ${formatY.score(p.y, up.digits)}, ${across.label} ${formatX.score(p.x, across.digits)}${isBest(p) ? "; on the Pareto line" : ""}`;
  const arrow = (/** @type {boolean} */ high) => high ? "higher is better" : "lower is better";
  return renderPlot({
    title: `${up.label} and ${across.label} of all systems.`, summary: `The Pareto line joins the systems that no other system surpasses in one metric without being worse in the other: ${best.map(p => `${p.system.letter} ${p.system.name}`).join(", ")}.`,
    height: width => Math.min(460, width * 0.6), across: { title: `${across.label} (${arrow(across.higherIsBetter)})`, ...pad(points.map(p => p.x)), formatValue: formatX.tick }, up: { title: `${up.label} (${arrow(metric.higherIsBetter)})`, ...pad(points.map(p => p.y)), formatValue: formatY.tick },
    legend: [{ text: "Pareto line", mark: "line", class: "pareto" }],
    layers: frame => [svg("path.series.pareto", { d: `M${best.map(p => `${roundHundredth(frame.x(p.x))} ${roundHundredth(frame.y(p.y))}`).join("L")}` }),
      points.map(p => {
        const [x, y] = [frame.x(p.x), frame.y(p.y)].map(roundHundredth), text = `${p.system.letter} ${p.system.name}`, isLeft = x + 10 + text.length * LETTER_WIDTH > frame.right;
        return [svg("circle.knot", { class: `sys-${p.system.index % 6}${isBest(p) ? "" : " open"}`, cx: x, cy: y, r: 5 }), svg("text.name", { x: isLeft ? x - 8 : x + 8, y: across.higherIsBetter === metric.higherIsBetter ? y - 6 : y + 15, "text-anchor": isLeft ? "end" : "start" }, fitText(text, Math.max(frame.right - x, x - frame.left) - 8))];
      })],
    places: frame => points.map(p => ({ x: frame.x(p.x) - 9, width: 18, y: frame.y(p.y) - 9, height: 18, description: describe(p), act: () => store.set({ ...toFilterState({ sort: "" }), [p.system === a ? "a" : "b"]: p.system.name }) })),
    columns: [{ title: "System" }, { title: up.label, number: true }, { title: across.label, number: true }, { title: "Pareto line" }],
    rows: points.map(p => [el("bdi", {}, `${p.system.letter} ${p.system.name}`), formatY.render(p.y, formatY.score(p.y, up.digits)), formatX.render(p.x, formatX.score(p.x, across.digits)), isBest(p) ? "yes" : ""]),
  });
}
