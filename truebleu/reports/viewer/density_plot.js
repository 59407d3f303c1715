// How segment scores, and lengths, of all systems are spread: a smooth curve each.
import {renderBadge, el, formatFixed, formatPlural, svg} from "./dom.js";
import {showFiltered} from "./selection.js";
import {roundHundredth} from "./svg_charts.js";
import {getLineClass, buildLineLegend, renderPlot} from "./axes.js";

/** @typedef {import("./selection.js").Context} Context */
/** @typedef {import("./report_data.js").System} System */

const CURVE_POINTS = 160, DENSITY_BINS = 20;

/**
 * The share of numbers by where they lie, smoothed (a normal kernel, Silverman's width), for one unit.
 * @param {ArrayLike<number>} values @param {number} low @param {number} high @returns {Float64Array} at `POINTS_OF_CURVE` + 1 places, which together are one
 */
export function estimateDensity(values, low, high) {
  const known = Float64Array.from(values).filter(v => !Number.isNaN(v)).sort(), n = known.length, out = new Float64Array(CURVE_POINTS + 1), step = (high - low) / CURVE_POINTS;
  if (!n) return out;
  const mean = known.reduce((sum, v) => sum + v, 0) / n, deviation = Math.sqrt(known.reduce((sum, v) => sum + (v - mean) ** 2, 0) / n), middle = (known[Math.floor(0.75 * (n - 1))] - known[Math.floor(0.25 * (n - 1))]) / 1.34;
  const width = Math.max(step, 0.9 * (Math.min(deviation, middle || deviation) || step) * n ** -0.2), bins = new Float64Array(CURVE_POINTS + 1);
  for (const v of known) bins[Math.max(0, Math.min(CURVE_POINTS, Math.round((v - low) / step)))] += 1 / n;
  const reach = Math.ceil(4 * width / step), kernel = Array.from({ length: 2 * reach + 1 }, (_, k) => Math.exp(-0.5 * ((k - reach) * step / width) ** 2));
  // What would lie beyond an end is left at it: scores end at 0 and 100.
  bins.forEach((share, k) => {
    if (!share) return;
    let total = 0;
    for (let j = -reach; j <= reach; j++) if (k + j >= 0 && k + j <= CURVE_POINTS) total += kernel[j + reach];
    for (let j = -reach; j <= reach; j++) if (k + j >= 0 && k + j <= CURVE_POINTS) out[k + j] += share * kernel[j + reach] / total / step;
  });
  return out;
}

/** A column of numbers of one system. @param {Context} context @param {System} system @param {string} name @returns {Float64Array} */
function getSystemColumn({ current }, system, name) {
  return name === "score" ? current.getScores(system) : /** @type {typeof current} */ (Object.create(current, { a: { value: system }, b: { value: system } })).getColumn("ratio");
}

/** @param {Context} context @param {"score" | "ratio"} what */
export function drawDistribution(context, what) {
  const { data, store, current } = context, { metric, a, b } = current, { systems } = data, columns = systems.map(s => getSystemColumn(context, s, what));
  const sorted = columns.map(column => column.filter(v => !Number.isNaN(v)).sort()), at = (/** @type {Float64Array} */ of, /** @type {number} */ q) => of[Math.round(q * (of.length - 1))];
  const most = sorted.reduce((high, of) => Math.max(high, at(of, what === "ratio" ? 0.99 : 1) ?? 0), 0), high = what === "ratio" ? Math.max(1.5, Math.ceil(10 * Math.min(most, 4)) / 10) : metric.higherIsBetter && most < 100.001 ? 100 : Math.max(100, at(sorted[0], 0.99));
  const curves = columns.map(column => estimateDensity(column, 0, high)), per = what === "ratio" ? 0.1 : 1, top = Math.max(...curves.map(c => c.reduce((x, y) => Math.max(x, y), 0))) * 100 * per || 1;
  const name = what === "ratio" ? "Length ratio" : metric.name, unit = what === "ratio" ? "times the reference's length" : "points", stop = (/** @type {number} */ k) => Number((high * k / DENSITY_BINS).toPrecision(6));
  // The last stop has all that lies beyond.
  const tallies = sorted.map(of => { let i = 0; return Array.from({ length: DENSITY_BINS }, (_, n) => { const first = i, end = n === DENSITY_BINS - 1 ? Infinity : stop(n + 1); while (i < of.length && of[i] < end) i++; return i - first; }); }), written = (/** @type {number} */ v) => formatFixed(v, what === "ratio" ? 2 : 0);
  const key = (/** @type {System} */ s) => what === "ratio" ? (s === (b ?? a) ? "ratio" : null) : s === a ? "scoreA" : s === b ? "scoreB" : null;
  return renderPlot({
    title: `${name} of segments: how they are spread.`, summary: what === "ratio" ? `Half of the segments of ${systems.map((s, k) => `${s.letter} have ${formatFixed(at(sorted[k], 0.25))} to ${formatFixed(at(sorted[k], 0.75))}`).join("; of ")}.` : `The middle one (median) is ${systems.map((s, k) => `${formatFixed(at(sorted[k], 0.5), 1)} of ${s.letter}`).join(", ")}.`,
    height: width => Math.min(300, width * 0.5), across: { title: `${name}, ${unit}`, low: 0, high }, up: { title: `share of segments, % per ${what === "ratio" ? "0.1" : "point"}`, low: 0, high: top * 1.05 },
    legend: buildLineLegend(systems),
    layers: frame => [what === "ratio" ? svg("path.equal", { d: `M${roundHundredth(frame.x(1))} ${frame.top}V${frame.bottom}` }) : null, curves.map((curve, k) => svg("path.series", { class: getLineClass(systems[k]), d: `M${Array.from(curve, (v, i) => `${roundHundredth(frame.x(high * i / CURVE_POINTS))} ${roundHundredth(frame.y(100 * per * v))}`).join("L")}` }))],
    places: frame => Array.from({ length: DENSITY_BINS }, (_, k) => {
      const [from, to] = [stop(k), stop(k + 1)], counts = systems.map((s, i) => `${s.letter} ${tallies[i][k]}`), mine = key(b ?? a), last = k === DENSITY_BINS - 1;
      return { x: frame.x(from), y: frame.top, width: frame.x(to) - frame.x(from), height: frame.bottom - frame.top, description: `${name} ${written(from)} ${last ? "and more" : `to below ${written(to)}`}: ${counts.join(", ")} of ${formatPlural(data.n, "segment")}`, act: mine ? () => showFiltered(store, { range: `${mine}:${from}:${last ? "" : to - 1e-9}` }) : undefined };
    }),
    after: el("p.soft.note", {}, `The segments behind a place are those of ${(b ?? a).letter}.`),
    columns: [{ title: "System" }, ...[0.05, 0.25, 0.5, 0.75, 0.95].map(q => ({ title: q === 0.5 ? "median" : `${100 * q} % are below`, number: true }))],
    rows: systems.map((s, k) => [renderBadge(s, true), ...[0.05, 0.25, 0.5, 0.75, 0.95].map(q => formatFixed(at(sorted[k], q), what === "ratio" ? 3 : 2))]),
  });
}
