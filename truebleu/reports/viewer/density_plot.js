// Chart of the distributions of segment scores or length ratios, one smooth curve per system.
import {renderBadge, el, formatFixed, formatPlural, svg, formatScore, getPointUnit} from "./dom.js";
import {showFiltered} from "./selection.js";
import {roundHundredth, formatScoreTick} from "./svg_charts.js";
import {getLineClass, buildLineLegend, renderPlot} from "./axes.js";

/** @typedef {import("./selection.js").Context} Context */
/** @typedef {import("./report_data.js").System} System */

const CURVE_POINTS = 160, DENSITY_BINS = 20;

/**
 * Estimate the density of values with a normal kernel and Silverman's bandwidth.
 * @param {ArrayLike<number>} values @param {number} low @param {number} high @returns {Float64Array} density at `CURVE_POINTS` + 1 equidistant points
 */
export function estimateDensity(values, low, high) {
  const sortedValues = Float64Array.from(values).filter(v => !Number.isNaN(v)).sort(), n = sortedValues.length, out = new Float64Array(CURVE_POINTS + 1), step = (high - low) / CURVE_POINTS;
  if (!n) return out;
  const mean = sortedValues.reduce((sum, v) => sum + v, 0) / n, deviation = Math.sqrt(sortedValues.reduce((sum, v) => sum + (v - mean) ** 2, 0) / n), interquartileDeviation = (sortedValues[Math.floor(0.75 * (n - 1))] - sortedValues[Math.floor(0.25 * (n - 1))]) / 1.34;
  const width = Math.max(step, 0.9 * (Math.min(deviation, interquartileDeviation || deviation) || step) * n ** -0.2), bins = new Float64Array(CURVE_POINTS + 1);
  for (const v of sortedValues) bins[Math.max(0, Math.min(CURVE_POINTS, Math.round((v - low) / step)))] += 1 / n;
  const reach = Math.ceil(4 * width / step), kernel = Array.from({ length: 2 * reach + 1 }, (_, k) => Math.exp(-0.5 * ((k - reach) * step / width) ** 2));
  // Clamp the values, because scores cannot lie outside the range from 0 to 100.
  bins.forEach((share, k) => {
    if (!share) return;
    let total = 0;
    for (let j = -reach; j <= reach; j++) if (k + j >= 0 && k + j <= CURVE_POINTS) total += kernel[j + reach];
    for (let j = -reach; j <= reach; j++) if (k + j >= 0 && k + j <= CURVE_POINTS) out[k + j] += share * kernel[j + reach] / total / step;
  });
  return out;
}

/** Return the scores or length ratios of one system. @param {Context} context @param {System} system @param {string} name @returns {Float64Array} */
function getSystemColumn({ current }, system, name) {
  return name === "score" ? current.getScores(system) : /** @type {typeof current} */ (Object.create(current, { a: { value: system }, b: { value: system } })).getColumn("ratio");
}

/** @param {Context} context @param {"score" | "ratio"} quantity */
export function drawDistribution(context, quantity) {
  const { data, store, current } = context, { metric, a, b } = current, { systems } = data, columns = systems.map(s => getSystemColumn(context, s, quantity));
  const sorted = columns.map(column => column.filter(v => !Number.isNaN(v)).sort()), getPercentile = (/** @type {Float64Array} */ sortedColumn, /** @type {number} */ q) => sortedColumn[Math.round(q * (sortedColumn.length - 1))];
  const maximum = sorted.reduce((high, of) => Math.max(high, getPercentile(of, quantity === "ratio" ? 0.99 : 1) ?? 0), 0), high = quantity === "ratio" ? Math.max(1.5, Math.ceil(10 * Math.min(maximum, 4)) / 10) : metric.higherIsBetter && maximum < 100.001 ? 100 : Math.max(100, getPercentile(sorted[0], 0.99));
  const curves = columns.map(column => estimateDensity(column, 0, high)), binWidth = quantity === "ratio" ? 0.1 : 1, top = Math.max(...curves.map(c => c.reduce((x, y) => Math.max(x, y), 0))) * 100 * binWidth || 1;
  const name = quantity === "ratio" ? "Length ratio" : metric.name, unit = quantity === "ratio" ? "times the reference length" : getPointUnit(), getEdge = (/** @type {number} */ k) => Number((high * k / DENSITY_BINS).toPrecision(6));
  // The last bin includes all larger values.
  const tallies = sorted.map(sortedColumn => { let i = 0; return Array.from({ length: DENSITY_BINS }, (_, n) => { const first = i, end = n === DENSITY_BINS - 1 ? Infinity : getEdge(n + 1); while (i < sortedColumn.length && sortedColumn[i] < end) i++; return i - first; }); }), format = quantity === "ratio" ? formatFixed : formatScore, formatEdge = (/** @type {number} */ v) => format(v, quantity === "ratio" ? 2 : 0);
  const getFilterColumn = (/** @type {System} */ s) => quantity === "ratio" ? (s === (b ?? a) ? "ratio" : null) : s === a ? "scoreA" : s === b ? "scoreB" : null;
  return renderPlot({
    title: `Distribution of ${name} over segments.`, summary: quantity === "ratio" ? `Middle half of the segments: ${systems.map((s, k) => `${s.letter} ${format(getPercentile(sorted[k], 0.25))} to ${format(getPercentile(sorted[k], 0.75))}`).join("; ")}.` : `Median${systems.length > 1 ? "s" : ""}: ${systems.map((s, k) => `${format(getPercentile(sorted[k], 0.5), 1)} (${s.letter})`).join(", ")}.`,
    height: width => Math.min(420, width * 0.5), across: { title: `${name}, ${unit}`, low: 0, high, formatValue: quantity === "ratio" ? undefined : formatScoreTick }, up: { title: `% of segments per ${quantity === "ratio" ? "0.1" : getPointUnit() === "points" ? "point" : "0.01"}`, low: 0, high: top * 1.05 },
    legend: buildLineLegend(systems),
    layers: frame => [quantity === "ratio" ? svg("path.equal", { d: `M${roundHundredth(frame.x(1))} ${frame.top}V${frame.bottom}` }) : null, curves.map((curve, k) => svg("path.series", { class: getLineClass(systems[k]), d: `M${Array.from(curve, (v, i) => `${roundHundredth(frame.x(high * i / CURVE_POINTS))} ${roundHundredth(frame.y(100 * binWidth * v))}`).join("L")}` }))],
    places: frame => Array.from({ length: DENSITY_BINS }, (_, k) => {
      const [from, to] = [getEdge(k), getEdge(k + 1)], counts = systems.map((s, i) => `${s.letter} ${tallies[i][k]}`), filterColumn = getFilterColumn(b ?? a), isLast = k === DENSITY_BINS - 1;
      return { x: frame.x(from), y: frame.top, width: frame.x(to) - frame.x(from), height: frame.bottom - frame.top, description: `${name} ${formatEdge(from)} ${isLast ? "and more" : `to below ${formatEdge(to)}`}: ${counts.join(", ")} of ${formatPlural(data.n, "segment")}`, act: filterColumn ? () => showFiltered(store, { range: `${filterColumn}:${from}:${isLast ? "" : to - 1e-9}` }) : undefined };
    }),
    after: el("p.soft.note", {}, `Click to see the segments of ${(b ?? a).letter} in this range.`),
    columns: [{ title: "System" }, ...[0.05, 0.25, 0.5, 0.75, 0.95].map(q => ({ title: q === 0.5 ? "median" : `${100 * q}% are below`, number: true }))],
    rows: systems.map((s, k) => [renderBadge(s, true), ...[0.05, 0.25, 0.5, 0.75, 0.95].map(q => format(getPercentile(sorted[k], q), quantity === "ratio" ? 3 : 2))]),
  });
}
