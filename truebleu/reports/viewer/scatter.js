// Scatter plot of two systems' segment scores: points, or hexagons for many segments.
import {formatCount, formatPlural, svg, scaleScore, getPointUnit} from "./dom.js";
import {showFiltered} from "./selection.js";
import {roundHundredth, linkSegments, findNearest, formatScoreTick} from "./svg_charts.js";
import {renderPlot} from "./axes.js";

/** @typedef {import("./selection.js").Context} Context */

/** Number of segments from which hexagons are drawn instead of points. */
export const HEXAGON_THRESHOLD = 10000;
const HEXAGON_SIZE = 8, HEXAGON_SHADES = 5, SCATTER_STEPS = 10;
/** Size of the plane in which hexagons are counted, independent of the chart's size. */
const PLANE_WIDTH = 600, PLANE_HEIGHT = 432;

/** Count the points per hexagon of a grid. @param {ArrayLike<number>} x @param {ArrayLike<number>} y in pixels @param {number} size @returns {Map<string, {x: number, y: number, n: number}>} */
export function countHexagons(x, y, size) {
  const columnWidth = size * 1.732, rowHeight = size * 1.5, cells = /** @type {Map<string, {x: number, y: number, n: number}>} */ (new Map());
  for (let i = 0; i < x.length; i++) {
    if (Number.isNaN(x[i]) || Number.isNaN(y[i])) continue;
    // The nearest centre is in one of the two nearest rows.
    let row = Math.round(y[i] / rowHeight), column = Math.round(x[i] / columnWidth - (row & 1) / 2);
    const getSquaredDistance = (/** @type {number} */ r, /** @type {number} */ c) => (x[i] - (c + (r & 1) / 2) * columnWidth) ** 2 + (y[i] - r * rowHeight) ** 2, otherRow = y[i] / rowHeight > row ? row + 1 : row - 1, otherColumn = Math.round(x[i] / columnWidth - (otherRow & 1) / 2);
    if (getSquaredDistance(otherRow, otherColumn) < getSquaredDistance(row, column)) { row = otherRow; column = otherColumn; }
    const key = `${row} ${column}`, existing = cells.get(key);
    if (existing) existing.n++; else cells.set(key, { x: (column + (row & 1) / 2) * columnWidth, y: row * rowHeight, n: 1 });
  }
  return cells;
}

/** @param {Context} context */
export function drawScatter(context) {
  const { data, store, current } = context, { a, metric } = current, b = /** @type {import("./report_data.js").System} */ (current.b), x = current.getScores(a), y = current.getScores(b), n = data.n;
  const sign = metric.higherIsBetter ? 1 : -1, getSide = (/** @type {number} */ i) => Math.sign(sign * (y[i] - x[i])), sides = [0, 0, 0];
  let high = 0;
  for (let i = 0; i < n; i++) { if (x[i] > high) high = x[i]; if (y[i] > high) high = y[i]; sides[getSide(i) + 1]++; }
  // Rounding errors may put a score of 100 slightly above 100.
  high = metric.higherIsBetter && high < 100.001 ? 100 : Math.ceil(high / 10) * 10 || 10;
  const usesHexagons = n >= HEXAGON_THRESHOLD, cells = usesHexagons ? [...countHexagons(x.map(v => PLANE_WIDTH * v / high), y.map(v => PLANE_HEIGHT * v / high), HEXAGON_SIZE).values()] : [], largestCount = cells.reduce((most, h) => Math.max(most, h.n), 1), step = high / SCATTER_STEPS, getStep = (/** @type {number} */ v) => Math.min(SCATTER_STEPS - 1, Math.floor(v / step));
  const counts = new Uint32Array(SCATTER_STEPS * SCATTER_STEPS);
  for (let i = 0; i < n; i++) if (!Number.isNaN(x[i]) && !Number.isNaN(y[i])) counts[getStep(y[i]) * SCATTER_STEPS + getStep(x[i])]++;
  // A value on an edge belongs to the next cell.
  const roundEdge = (/** @type {number} */ v) => Number(v.toPrecision(4)), excludeUpperEdges = (/** @type {number[]} */ [xs, xe, ys, ye]) => [xs, xe < high ? xe - 1e-9 : xe, ys, ye < high ? ye - 1e-9 : ye], buildFilter = (/** @type {number[]} */ [xs, xe, ys, ye]) => ({ range: `scoreA:${xs}:${xe < high ? xe : ""};scoreB:${ys}:${ye < high ? ye : ""}` });
  const formatEdge = (/** @type {number} */ v) => roundEdge(scaleScore(v)), describeBox = (/** @type {number[]} */ [xs, xe, ys, ye], /** @type {number} */ inside) => `${a.letter} ${formatEdge(xs)} to ${formatEdge(xe)}, ${b.letter} ${formatEdge(ys)} to ${formatEdge(ye)}: ${formatPlural(inside, "segment")}`;
  const countInside = (/** @type {number[]} */ [xs, xe, ys, ye]) => { let k = 0; for (let i = 0; i < n; i++) if (x[i] >= xs && (xe >= high || x[i] <= xe) && y[i] >= ys && (ye >= high || y[i] <= ye)) k++; return k; };
  const names = [`${a.letter} ${a.name} better: ${formatCount(sides[0])}`, `same score: ${formatCount(sides[1])}`, `${b.letter} ${b.name} better: ${formatCount(sides[2])}`], classes = [`of-side sys-${a.index % 6}`, "of-side", `of-side sys-${b.index % 6}`];
  /** @type {import("./axes.js").Frame} */
  let shown;
  const toBox = (/** @type {import("./axes.js").ChartArea} */ p, /** @type {import("./axes.js").ChartArea} */ q) => {
    const back = (/** @type {number} */ px) => high * (px - shown.left) / (shown.right - shown.left), down = (/** @type {number} */ py) => high * (shown.bottom - py) / (shown.bottom - shown.top), clip = (/** @type {number} */ v) => Math.max(0, Math.min(high, v));
    return [Math.min(back(p.x), back(q.x)), Math.max(back(p.x + p.width), back(q.x + q.width)), Math.min(down(p.y + p.height), down(q.y + q.height)), Math.max(down(p.y), down(q.y))].map(clip).map(roundEdge);
  };
  return renderPlot({
    title: `${metric.name} of each segment, ${a.letter} and ${b.letter}.`, summary: `${b.letter} is better in ${formatCount(sides[2])}, ${a.letter} in ${formatCount(sides[0])}, and ${formatPlural(sides[1], "segment")} have equal scores (on the line).`,
    height: width => Math.min(560, width * 0.72), across: { title: `${metric.name} of ${a.letter} ${a.name}, ${getPointUnit()}`, low: 0, high, formatValue: formatScoreTick }, up: { title: `${metric.name} of ${b.letter} ${b.name}, ${getPointUnit()}`, low: 0, high, formatValue: formatScoreTick },
    legend: usesHexagons ? buildHexagonLegend(largestCount) : names.map((text, k) => ({ text, mark: "dot", class: classes[k] })),
    layers: frame => {
      shown = frame;
      const [p, q] = [0, high].map(v => `${roundHundredth(frame.x(v))} ${roundHundredth(frame.y(v))}`);
      return [usesHexagons ? drawHexagons(frame) : drawDots(frame), svg("path.equal", { d: `M${p}L${q}` })];
    },
    places: frame => Array.from(counts, (size, k) => ({ size, cx: k % SCATTER_STEPS, cy: Math.floor(k / SCATTER_STEPS) })).filter(c => c.size).map(({ size, cx, cy }) => {
      const box = [cx * step, (cx + 1) * step, cy * step, (cy + 1) * step];
      return { x: frame.x(box[0]), y: frame.y(box[3]), width: frame.x(box[1]) - frame.x(box[0]), height: frame.y(box[2]) - frame.y(box[3]), description: describeBox(box, size), act: () => showFiltered(store, buildFilter(excludeUpperEdges(box))) };
    }),
    between: (from, to) => { const box = from.description ? excludeUpperEdges(toBox(from, to)) : toBox(from, to); return { description: describeBox(box, countInside(box)), act: () => showFiltered(store, buildFilter(box)) }; },
    nearest: (px, py) => {
      const best = findNearest(n, i => (shown.x(x[i]) - px) ** 2 + (shown.y(y[i]) - py) ** 2, 20);
      if (best >= 0) showFiltered(store, { seg: best + 1 });
    },
    columns: [{ title: `${b.letter} \\ ${a.letter}` }, ...Array.from({ length: SCATTER_STEPS }, (_, c) => ({ title: `${formatEdge(c * step)}–${formatEdge((c + 1) * step)}`, number: true }))],
    rows: Array.from({ length: SCATTER_STEPS }, (_, r) => SCATTER_STEPS - 1 - r).map(r => [`${formatEdge(r * step)}–${formatEdge((r + 1) * step)}`, ...Array.from({ length: SCATTER_STEPS }, (_, c) => counts[r * SCATTER_STEPS + c] ? linkSegments(context, formatCount(counts[r * SCATTER_STEPS + c]), buildFilter(excludeUpperEdges([c * step, (c + 1) * step, r * step, (r + 1) * step]))) : "")]),
  });

  /** @param {import("./axes.js").Frame} frame */
  function drawDots(frame) {
    const paths = ["", "", ""];
    for (let i = 0; i < n; i++) if (!Number.isNaN(x[i] + y[i])) paths[getSide(i) + 1] += `M${roundHundredth(frame.x(x[i]) - 2.5)} ${roundHundredth(frame.y(y[i]))}a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0 -5 0`;
    return paths.map((d, k) => d && svg("path.points", { class: classes[k], d }));
  }

  /** @param {import("./axes.js").Frame} frame */
  function drawHexagons(frame) {
    const paths = new Array(HEXAGON_SHADES).fill(""), [fx, fy] = [(frame.right - frame.left) / PLANE_WIDTH, (frame.bottom - frame.top) / PLANE_HEIGHT], dx = roundHundredth(HEXAGON_SIZE * 0.866 * fx), dy = roundHundredth(HEXAGON_SIZE * fy / 2);
    for (const { x: hx, y: hy, n: size } of cells) paths[getHexagonShade(size, largestCount)] += `M${roundHundredth(frame.left + hx * fx)} ${roundHundredth(frame.bottom - hy * fy - 2 * dy)}l${dx} ${dy}v${2 * dy}l${-dx} ${dy}l${-dx} ${-dy}v${-2 * dy}z`;
    return paths.map((d, k) => d && svg(`path.dot.dot-${k}`, { d }));
  }
}

/** @param {number} n @param {number} largestCount */
const getHexagonShade = (n, largestCount) => Math.min(HEXAGON_SHADES - 1, Math.floor(HEXAGON_SHADES * Math.log(n) / Math.log(largestCount + 1)));

/** Build the legend of the hexagons' shades. @param {number} largestCount @returns {import("./axes.js").LegendEntry[]} */
function buildHexagonLegend(largestCount) {
  const ends = Array.from({ length: largestCount }, (_, i) => i + 1).reduce((all, n) => { const k = getHexagonShade(n, largestCount); (all[k] ??= [n, n])[1] = n; return all; }, /** @type {number[][]} */ ([]));
  return ends.flatMap((pair, k) => pair ? [{ text: `${pair[0] === pair[1] ? formatCount(pair[0]) : `${formatCount(pair[0])}–${formatCount(pair[1])}`}${k === ends.length - 1 ? " segments" : ""}`, mark: /** @type {const} */ ("hexagon"), class: `dot dot-${k}` }] : []);
}
