// SVG charts with captions and data tables, and links to segments.
import {createButton, formatCount, downloadText, el, formatFixed, formatInterval, replaceChildren, formatSigned, createStateLink, svg, renderTable, formatScore, formatDelta, formatScoreInterval, renderScore, scaleScore, renderNumber} from "./dom.js";
import {toFilterState} from "./selection.js";

/** @typedef {import("./selection.js").Context} Context */
/** @typedef {{low: number, high: number} | null | undefined} Ends */

export const LETTER_WIDTH = 6.7; // Approximate width of a letter in charts, in pixels.

/**
 * Create a link to filtered or sorted segments. @param {Context} context @param {import("./dom.js").Children} text
 * @param {Record<string, any>} values  of the state @param {string} [title]
 */
export function linkSegments({ store }, text, values, title) { return createStateLink(store, toFilterState(values), { title }, text); }

/** Return the state that compares a system with the baseline, or no state for the baseline and for references. @param {Context} context @param {string | undefined} name */
export const compareSystem = ({ data, current }, name) => name !== current.a.name && data.systems.some(system => system.name === name) ? { b: name } : {};

/**
 * Render a chart that is redrawn on resize, with its caption and data table.
 * @param {{title: string, summary: import("./dom.js").Children, draw: (width: number) => any, columns: import("./dom.js").Column[], rows: any[], after?: any}} what
 */
export function renderFigure({ title, summary, draw, columns, rows, after }) {
  const place = el("div.picture");
  let width = 0;
  /** @param {number} availableWidth */
  const paint = availableWidth => {
    const next = Math.round(Math.max(230, Math.min(1260, availableWidth)));
    if (Math.abs(next - width) < 2) return;
    const getTargets = () => /** @type {SVGElement[]} */ ([...place.querySelectorAll("[tabindex]")]), focusIndex = getTargets().indexOf(/** @type {any} */ (document.activeElement));
    replaceChildren(place, draw(width = next));
    getTargets()[focusIndex]?.focus();
  };
  paint(lastWidth);
  new ResizeObserver(([entry]) => { if (entry.contentRect.width) paint(lastWidth = entry.contentRect.width); }).observe(place);
  return el("figure.chart", {}, el("figcaption", {}, el("strong", {}, title), " ", summary), place, after,
    el("details", {}, el("summary", {}, "As a table"), renderTable(title, columns, rows, { quiet: true })),
    createButton("Save as SVG", () => saveSvg(place.firstElementChild, title), { class: "quiet small" }));
}

/** Width of the last chart, which is the initial width of the next chart. */
let lastWidth = 640;

const COPIED_STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "paint-order", "stroke-dasharray", "font-size", "font-weight", "font-family", "text-anchor", "opacity"];

/** Save a chart as an SVG file with inline styles. @param {SVGElement} picture @param {string} name */
export function saveSvg(picture, name) {
  const copy = /** @type {SVGElement} */ (picture.cloneNode(true));
  const [originalNodes, copyNodes] = [picture, copy].map(node => /** @type {SVGElement[]} */ ([node, ...node.querySelectorAll("*")]));
  copyNodes.forEach((node, i) => {
    const style = getComputedStyle(originalNodes[i]);
    if (!node.closest("defs")) for (const key of COPIED_STYLES) { const value = style.getPropertyValue(key); if (value && node.getAttribute(key)?.startsWith("url") !== true) node.setAttribute(key, value); }
    for (const key of ["class", "tabindex", "role", "aria-label", "aria-valuenow", "aria-valuemin", "aria-valuemax", "aria-valuetext", "aria-orientation"]) node.removeAttribute(key);
  });
  const { width, height } = picture.getBoundingClientRect();
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  copy.prepend(svg("title", {}, name), svg("rect", { width: "100%", height: "100%", fill: getComputedStyle(document.body).backgroundColor }));
  downloadText(`${name.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").toLowerCase()}.svg`, "image/svg+xml", new XMLSerializer().serializeToString(copy));
}

/** Replace characters that XML does not allow, and shorten a text to a width in pixels; the tooltip has the whole text. @param {string} text @param {number} [pixelWidth] @returns {(string | Node)[]} */
export function fitText(text, pixelWidth = Infinity) {
  const letters = [...text.replace(/[\0-\x1F\x7F-\x9F\p{Cs}\uFFFE\uFFFF]/gu, "\uFFFD")], maxLetters = Math.max(2, Math.floor(pixelWidth / LETTER_WIDTH));
  return letters.length <= maxLetters ? [letters.join("")] : [letters.slice(0, maxLetters - 1).join("") + "…", svg("title", {}, letters.join(""))];
}

/** Round up to 1, 2, 5 or 10 times a power of ten. @param {number} raw */
export function roundUpStep(raw) {
  const unit = 10 ** Math.floor(Math.log10(raw));
  return unit * ([1, 2, 5].find(k => k * unit >= raw) ?? 10);
}

/** Return round numbers from low to high. @param {number} low @param {number} high @param {number} count approximate number of ticks */
export function getTicks(low, high, count) {
  const step = roundUpStep((high - low) / count || 1), values = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) values.push(Number((k * step).toPrecision(6)));
  return values;
}

/** @param {number} x */
export const formatShortNumber = x => String(Number(x.toPrecision(3))).replace("-", "−");

/** Format a score on an axis. @param {number} x from 0 to 100 */
export const formatScoreTick = x => formatShortNumber(scaleScore(x));

/** Return the functions that format the scores of a measure. @param {{percentage?: boolean}} measure  percentages are on the displayed scale */
export const getFormats = ({ percentage = true }) => percentage ? { score: formatScore, delta: formatDelta, interval: formatScoreInterval, render: renderScore, tick: formatScoreTick } : { score: formatFixed, delta: formatSigned, interval: formatInterval, render: renderNumber, tick: formatShortNumber };

/** @param {number} width @param {number} height @param {string} label @param {...import("./dom.js").Children} children */
export const createCanvas = (width, height, label, ...children) => svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": label }, ...children);

/** Draw the grid lines and numbers of an axis. @param {number[]} positions @param {(x: number) => number} x @param {number} top @param {number} bottom @param {(value: number) => string} [format] */
const drawAxis = (positions, x, top, bottom, format = formatScoreTick) => positions.map(t => [svg("line.rule", { x1: x(t), x2: x(t), y1: top, y2: bottom }), svg("text.tick", { x: x(t), y: bottom + 13, "text-anchor": "middle" }, format(t))]);

/** Draw an interval with whiskers. @param {Ends} ends @param {(x: number) => number} x @param {number} y */
const drawWhisker = (ends, x, y) => ends ? svg("path.whisker", { d: `M${x(ends.low)} ${y - 3}v6m0 -3H${x(ends.high)}m0 -3v6` }) : null;

/** @typedef {{label: string, n: string, few: boolean, values: number[], ends: Ends[], delta?: string, act?: () => void, description: string}} Group */

/**
 * Draw groups with one bar per system and its interval. Groups can be clicked.
 * @param {Group[]} groups @param {import("./report_data.js").System[]} systems @param {string} label @param {number} width @param {(value: number) => string} [format] of a value; by default, of a score @param {(value: number) => string} [formatTick]
 */
export function drawBars(groups, systems, label, width, format = value => formatScore(value, 1), formatTick = formatScoreTick) {
  // A 0-1 scale shows more digits.
  const extraWidth = scaleScore(1) < 1 ? 36 : 0;
  const isWide = width >= 560, left = isWide ? 150 : 0, right = isWide && groups.some(g => g.delta) ? 190 + extraWidth : 44 + extraWidth / 3, barHeight = 13, labelHeight = isWide ? 4 : 20;
  const maximum = Math.max(1e-9, ...groups.flatMap(g => [...g.values, ...g.ends.map(e => e?.high ?? 0)]).filter(Number.isFinite));
  const x = (/** @type {number} */ v) => left + 18 + (width - left - right - 24) * Math.max(0, v) / maximum;
  const groupHeight = Math.max(isWide ? 34 : 0, labelHeight + barHeight * systems.length + 9), bottom = groupHeight * groups.length;
  return createCanvas(width, bottom + 18, label, drawAxis(getTicks(0, maximum, isWide ? 6 : 3), x, 0, bottom, formatTick), groups.map((g, i) => {
    const top = i * groupHeight + (isWide ? (groupHeight - barHeight * systems.length) / 2 : labelHeight), middle = top + barHeight * systems.length / 2;
    const listeners = g.act && { click: g.act, keydown: (/** @type {KeyboardEvent} */ e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); e.stopPropagation(); g.act?.(); } } };
    // The button is below the drawing, so that its accessible name is a sentence instead of separate labels.
    return [svg("g.group", { role: g.act ? "button" : "img", tabindex: g.act ? 0 : null, "aria-label": g.description, on: listeners || {} }, svg("title", {}, g.description), svg("rect.back", { x: 0, y: i * groupHeight, width, height: groupHeight })),
      svg("g", { class: g.few ? "few" : "", "aria-hidden": "true", "pointer-events": "none" },
      isWide ? [svg("text.name", { x: 2, y: middle - 1 }, fitText(g.label, left - 8)), svg("text.tick", { x: 2, y: middle + 12 }, g.n)]
        : [svg("text.name", { x: 2, y: top - 5 }, fitText(g.label, width - LETTER_WIDTH * g.n.length - 16)), svg("text.tick", { x: width - 2, y: top - 5, "text-anchor": "end" }, g.n)],
      systems.map((s, k) => {
        const y = top + k * barHeight, value = g.values[k];
        return [svg("text.tick", { x: left + 12, y: y + 10, "text-anchor": "end" }, s.letter), svg("rect.bar", { class: `sys-${s.index % 6}`, x: left + 18, y: y + 1, width: Math.max(0, x(value) - left - 18) || 0, height: barHeight - 2 }),
          drawWhisker(g.ends[k], x, y + barHeight / 2), svg("text.tick", { x: width - right + 40 + extraWidth / 3, y: y + 10, "text-anchor": "end" }, format(value))];
      }),
      isWide && g.delta ? svg("text.delta", { x: width - 2, y: middle + 4, "text-anchor": "end" }, g.delta) : null)];
  }));
}

/**
 * Draw a stacked bar of hatched parts: positive parts to the right of zero, negative parts to the left.
 * @param {{name: string, value: number}[]} parts @param {string} label @param {number} width
 */
export function drawStackedBar(parts, label, width) {
  const up = parts.reduce((sum, p) => sum + Math.max(0, p.value), 0), down = parts.reduce((sum, p) => sum + Math.min(0, p.value), 0), total = up + down;
  const x = (/** @type {number} */ v) => 22 + (width - 44) * (v - down) / (up - down || 1);
  const drawBlock = (/** @type {number} */ i, /** @type {number} */ left, /** @type {number} */ y, /** @type {number} */ w, /** @type {number} */ height, /** @type {any} */ title = null) => [svg("rect", { class: `part part-${i % 6}`, x: left, y, width: w, height }, title), i % 6 ? svg("rect.hatch", { x: left, y, width: w, height, fill: `url(#hatch-${i % 6})` }) : null];
  let positiveEnd = 0, negativeEnd = 0, legendX = 0, row = 0;
  const legend = parts.map((p, i) => {
    const text = `${p.name} ${formatDelta(p.value)}`, entryWidth = 34 + text.length * LETTER_WIDTH;
    if (legendX && legendX + entryWidth > width) { legendX = 0; row++; }
    legendX += entryWidth;
    return [drawBlock(i, legendX - entryWidth + 1, 66 + 20 * row, 16, 12), svg("text.name", { x: legendX - entryWidth + 22, y: 76 + 20 * row }, text)];
  });
  return createCanvas(width, 90 + 20 * row, label,
    svg("defs", {}, [0, 1, 2, 3, 4, 5].map(i => svg("pattern", { id: `hatch-${i}`, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: `rotate(${[45, 0, 135, 90, 20, 160][i]})` }, svg("rect", { width: 6, height: 6, fill: "none" }), svg("line", { x1: 0, x2: 0, y1: 0, y2: 6, stroke: "currentColor", "stroke-width": 1 + i * 0.5 })))),
    drawAxis(getTicks(down, up, 6), x, 8, 42), parts.map((p, i) => {
      const [from, to] = p.value < 0 ? [negativeEnd += p.value, negativeEnd - p.value] : [positiveEnd, positiveEnd += p.value];
      return [drawBlock(i, x(from), 14, Math.max(0, x(to) - x(from)), 22, svg("title", {}, `${p.name} ${formatDelta(p.value)}`)),
        x(to) - x(from) > p.name.split(" ")[0].length * LETTER_WIDTH + 8 ? svg("text.inside", { x: (x(from) + x(to)) / 2, y: 29, "text-anchor": "middle" }, p.name.split(" ")[0]) : null];
    }),
    svg("line.zero", { x1: x(0), x2: x(0), y1: 6, y2: 44 }), svg("path.total", { d: `M${x(total)} 12l-5 -8h10z` }, svg("title", {}, `total ${formatDelta(total)}`)), legend);
}

/** Maximum number of segments drawn as points; more segments are drawn as shaded squares. */
export const MAX_POINTS = 2000;

/**
 * Draw one point per segment: to the right if the first measure prefers B, upwards if the second does.
 * The axes of measures for which lower is better are reversed, so the corners have fixed meanings.
 * @param {Float64Array[]} values  advantage of B for the two measures
 * @param {{ends: number[], titles: string[], signs: number[], corners: [string, string][], marked: ArrayLike<number>, label: string, formatTicks: ((value: number) => string)[], open: (segment: number) => void}} how
 *   ends and titles of the axes, -1 for reversed axes, labels of the corners (left to right, top to bottom), and segments with a ring
 * @param {number} width
 */
export function drawQuadrants([across, up], { ends: [xLimit, yLimit], titles, signs, corners, marked, formatTicks, label, open }, width) {
  const n = across.length, isWide = width >= 480, L = 56, R = 8, T = 4, height = Math.round(Math.min(480, Math.max(280, width * 0.7))), W = width - L - R, H = height - T - 38;
  const clampShare = (/** @type {number} */ v, /** @type {number} */ limit) => Math.max(-1, Math.min(1, v / limit));
  // Leave space for the labels in the corners.
  const x = (/** @type {number} */ v) => L + W / 2 * (1 + 0.96 * clampShare(v, xLimit)), y = (/** @type {number} */ v) => T + H / 2 - (H / 2 - 36) * clampShare(v, yLimit);
  const shapes = [];
  if (n <= MAX_POINTS) for (let i = 0; i < n; i++) shapes.push(svg("circle.dot", { cx: roundHundredth(x(across[i])), cy: roundHundredth(y(up[i])), r: 3 }));
  else {
    // Centre the squares on multiples of `step` from zero, so that ties are on the axes.
    const step = isWide ? 8 : 6, columns = 2 * Math.ceil(W / 2 / step) + 1, rows = 2 * Math.ceil(H / 2 / step) + 1, squares = new Uint32Array(columns * rows), [left, top] = [columns >> 1, rows >> 1];
    for (let i = 0; i < n; i++) squares[(Math.round((y(up[i]) - y(0)) / step) + top) * columns + Math.round((x(across[i]) - x(0)) / step) + left]++;
    const maximum = squares.reduce((a, b) => Math.max(a, b)), shades = ["", "", "", "", ""];
    squares.forEach((size, k) => { if (size) shades[Math.min(4, Math.floor(5 * Math.log(size) / Math.log(maximum + 1)))] += `M${roundHundredth(x(0) + (k % columns - left - 0.5) * step)} ${roundHundredth(y(0) + (Math.floor(k / columns) - top - 0.5) * step)}h${step}v${step}h-${step}z`; });
    shades.forEach((d, k) => { if (d) shapes.push(svg("path.dot", { class: `dot-${k}`, d })); });
  }
  const getAxisTicks = (/** @type {number} */ limit, /** @type {number} */ count) => getTicks(-limit, limit, count).filter(t => Math.abs(t) <= limit), middle = T + H / 2;
  const picture = createCanvas(width, height, label,
    [[L, T], [L + W / 2, middle]].map(([left, top]) => svg("rect.apart", { x: left, y: top, width: W / 2, height: H / 2 })),
    getAxisTicks(xLimit, isWide ? 8 : 4).map(t => [svg("line.rule", { x1: x(t), x2: x(t), y1: T, y2: T + H }), svg("text.tick", { x: x(t), y: T + H + 13, "text-anchor": "middle" }, formatTicks[0](signs[0] * t || 0))]),
    getAxisTicks(yLimit, 6).map(t => [svg("line.rule", { x1: L, x2: L + W, y1: y(t), y2: y(t) }), svg("text.tick", { x: L - 4, y: y(t) + 4, "text-anchor": "end" }, formatTicks[1](signs[1] * t || 0))]),
    svg("line.zero", { x1: x(0), x2: x(0), y1: T, y2: T + H }), svg("line.zero", { x1: L, x2: L + W, y1: y(0), y2: y(0) }),
    shapes, Array.from(marked, i => svg("circle.ring", { cx: x(across[i]), cy: y(up[i]), r: 6 })),
    corners.map((lines, k) => lines.map((line, row) => svg("text.inside", { x: k % 2 ? L + W - 5 : L + 5, y: (k < 2 ? T + 14 : T + H - 20) + 14 * row, "text-anchor": k % 2 ? "end" : "start" }, fitText(line, W / 2 - 12)))),
    svg("text.name", { x: L + W / 2, y: height - 6, "text-anchor": "middle" }, fitText(titles[0], W)), svg("text.name", { transform: `translate(11 ${middle}) rotate(-90)`, "text-anchor": "middle" }, fitText(titles[1], H)));
  picture.classList.add("open-to-click");
  picture.addEventListener("click", (/** @type {MouseEvent} */ e) => {
    const box = picture.getBoundingClientRect(), left = (e.clientX - box.left) * width / box.width, top = (e.clientY - box.top) * height / box.height;
    const best = findNearest(n, i => (x(across[i]) - left) ** 2 + (y(up[i]) - top) ** 2, 24);
    if (best >= 0) open(best);
  });
  return picture;
}

/** Return the index of the nearest of n points within a distance in pixels, or -1. @param {number} n @param {(i: number) => number} getSquaredDistance squared distance @param {number} maxDistance */
export function findNearest(n, getSquaredDistance, maxDistance) {
  let best = -1, smallestDistance = maxDistance ** 2;
  for (let i = 0; i < n; i++) { const squaredDistance = getSquaredDistance(i); if (squaredDistance < smallestDistance) { smallestDistance = squaredDistance; best = i; } }
  return best;
}

/** Return the limit of an axis: the largest absolute value, or less if there are outliers. @param {Float64Array} values */
export function getAxisLimit(values) {
  const sizes = values.map(Math.abs).sort(), maximum = sizes[sizes.length - 1] || 1, typicalMaximum = 1.25 * sizes[Math.floor(0.99 * (sizes.length - 1))];
  return typicalMaximum && maximum > 1.6 * typicalMaximum ? typicalMaximum : maximum;
}

/**
 * Draw one bar per segment in document order, above or below a line. Where segments are narrower
 * than a pixel, the largest and the smallest of each pixel are drawn.
 * @param {ArrayLike<number>} values @param {{maximum: number, higher: boolean, signs: boolean, label: string, act: (place: number) => void}} how with the action for a click on a segment
 */
export function drawStrip(values, { maximum, higher, signs, label, act }) {
  const width = 220, height = 34, n = values.length, columns = Math.min(n, width), step = Math.min(9, width / columns), zero = signs ? height / 2 : height - 1, reach = signs ? height / 2 - 1 : height - 2;
  let above = "", below = "";
  for (let c = 0; c < columns; c++) {
    let up = 0, down = 0;
    for (let i = Math.floor(c * n / columns); i < Math.floor((c + 1) * n / columns); i++) { up = Math.max(up, values[i] || 0); down = Math.min(down, values[i] || 0); }
    const bar = `h${roundHundredth(Math.max(0.7, step - (step > 2 ? 1 : 0)))}`, getBarHeight = (/** @type {number} */ v) => roundHundredth(Math.max(0.8, reach * Math.min(1, Math.abs(v) / (maximum || 1)))), closingPath = `H${roundHundredth(c * step)}z`;
    if (up > 0) above += `M${roundHundredth(c * step)} ${zero}v-${getBarHeight(up)}${bar}V${zero}${closingPath}`;
    if (down < 0) below += `M${roundHundredth(c * step)} ${zero}v${getBarHeight(down)}${bar}V${zero}${closingPath}`;
  }
  const picture = svg("svg.strip.open-to-click", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label }, svg("line.zero", { x1: 0, x2: roundHundredth(columns * step), y1: zero, y2: zero }),
    above ? svg("path", { class: signs ? (higher ? "better" : "worse") : "", d: above }) : null, below ? svg("path", { class: higher ? "worse" : "better", d: below }) : null);
  picture.addEventListener("click", (/** @type {MouseEvent} */ e) => { const place = Math.floor((e.clientX - picture.getBoundingClientRect().left) / step / columns * n); if (place < n) act(place); });
  return picture;
}

/** @param {number} x */
export const roundHundredth = x => Math.round(x * 100) / 100;

/** Return the smallest and largest value. @param {ArrayLike<number>} values */
function findExtremes(values) {
  let low = Infinity, high = -Infinity;
  for (let i = 0; i < values.length; i++) { if (values[i] < low) low = values[i]; if (values[i] > high) high = values[i]; }
  return [low, high];
}

/**
 * Draw a histogram with a range that is drawn with the pointer or moved with the arrow keys.
 * With `ties`, zeros have a separate bar.
 * @param {ArrayLike<number>} values @param {{label: string, range: [number, number] | null, ties?: boolean, format?: (value: number) => string, onChange?: (range: [number, number] | null) => void}} how @param {number} width
 */
export function drawHistogram(values, { label, range, ties = false, onChange: changed, format = formatShortNumber }, width) {
  const [low, high] = findExtremes(values), H = 96, L = 14, W = width - 2 * L;
  if (!(low < high)) return createCanvas(width, 24, label, svg("text.name", { x: 2, y: 16 }, "All values are equal."));
  // Use round bin edges, so that ranges have few digits.
  const edges = getTicks(low, high, Math.min(48, Math.floor(W / 9))), step = edges.length > 1 ? Number((edges[1] - edges[0]).toPrecision(6)) : high - low;
  const first = Math.floor(low / step + 1e-9) * step, n = Math.max(1, Math.ceil((high - first) / step - 1e-9) + (Number.isInteger(high / step) && Number.isInteger(step) ? 1 : 0)), bins = new Array(n).fill(0);
  let tieCount = 0;
  for (let i = 0; i < values.length; i++) if (ties && values[i] === 0) tieCount++; else if (!Number.isNaN(values[i])) bins[Math.min(n - 1, Math.floor((values[i] - first) / step + 1e-9))]++;
  const maximum = Math.max(tieCount, ...bins), getX = (/** @type {number} */ k) => L + W * k / n, getEdge = (/** @type {number} */ k) => Number((first + k * step).toPrecision(8));
  const integerStep = Number.isInteger(step) && Array.prototype.every.call(values, v => Number.isNaN(v) || Number.isInteger(v)) ? 1 : 0;
  let [from, to] = range ? [Math.round((range[0] - first) / step), Math.round((range[1] + integerStep - first) / step)].map(k => Math.max(0, Math.min(n, k))) : [0, n];
  const shade = svg("rect.brush", { y: 0, height: H });
  const handles = [0, 1].map(which => svg("g.handle", { role: "slider", tabindex: 0, "aria-label": `${label}: ${which ? "up to" : "from"}`, "aria-orientation": "horizontal", on: { keydown: (/** @type {KeyboardEvent} */ e) => moveHandle(e, which) } },
    svg("rect.back", { x: -12, y: 0, width: 24, height: H }), svg("path", { d: `M0 0V${H}` }), svg("rect.knob", { x: -4, y: H / 2 - 12, width: 8, height: 24, rx: 3 })));
  const picture = createCanvas(width, H + 18, label, bins.map((m, k) => m ? svg("rect.bin", { x: getX(k) + 0.5, width: Math.max(0.5, W / n - 1), y: H - Math.max(1.5, (H - 6) * m / maximum), height: Math.max(1.5, (H - 6) * m / maximum) }, svg("title", {}, `${format(getEdge(k))} to ${format(getEdge(k + 1))}: ${formatCount(m)}`)) : null),
    tieCount ? svg("rect.ties", { x: getX(-first / step) - 2, width: 4, y: H - Math.max(1.5, (H - 6) * tieCount / maximum), height: Math.max(1.5, (H - 6) * tieCount / maximum) }, svg("title", {}, `0: ${formatCount(tieCount)}`)) : null,
    getTicks(low, high, width > 500 ? 8 : 4).map(t => svg("text.tick", { x: getX((t - first) / step), y: H + 13, "text-anchor": "middle" }, format(t))), svg("line.rule", { x1: L, x2: width - L, y1: H, y2: H }), changed ? [shade, handles] : null);
  if (!changed) return picture;
  picture.classList.add("brushed");
  draw();
  let start = -1;
  /** @param {PointerEvent} e */
  const getBin = e => { const box = picture.getBoundingClientRect(); return Math.max(0, Math.min(n, ((e.clientX - box.left) * width / box.width - L) * n / W)); };
  picture.addEventListener("pointerdown", (/** @type {PointerEvent} */ e) => {
    const bin = getBin(e), isNearHandle = Math.min(Math.abs(bin - from), Math.abs(bin - to)) * W / n < 12;
    // A drag that starts near a handle moves only that end.
    picture.classList.add("drawn");
    start = isNearHandle ? (Math.abs(bin - from) < Math.abs(bin - to) ? to : from) : bin;
    picture.setPointerCapture(e.pointerId);
  });
  picture.addEventListener("pointermove", (/** @type {PointerEvent} */ e) => { if (start >= 0) { const k = getBin(e); [from, to] = [Math.floor(Math.min(start, k)), Math.ceil(Math.max(start, k))]; draw(); } });
  picture.addEventListener("pointerup", (/** @type {PointerEvent} */ e) => { if (start < 0) return; picture.classList.remove("drawn"); if (Math.abs(getBin(e) - start) * W / n < 3) [from, to] = [0, n]; start = -1; draw(); notify(); });
  return picture;

  /** @param {KeyboardEvent} e @param {number} which */
  function moveHandle(e, which) {
    const currentBin = which ? to : from, nextBin = { ArrowLeft: currentBin - 1, ArrowDown: currentBin - 1, ArrowRight: currentBin + 1, ArrowUp: currentBin + 1, PageUp: currentBin + 5, PageDown: currentBin - 5, Home: which ? from + 1 : 0, End: which ? n : to - 1 }[e.key];
    if (e.key === "Escape") [from, to] = [0, n];
    else if (nextBin === undefined || e.ctrlKey || e.altKey || e.metaKey) return;
    else if (which) to = Math.max(from + 1, Math.min(n, nextBin));
    else from = Math.max(0, Math.min(to - 1, nextBin));
    e.preventDefault();
    e.stopPropagation();
    draw();
    notify();
  }

  function notify() { changed?.(from === 0 && to === n ? null : [getEdge(from), getEdge(to) - integerStep]); }

  function draw() {
    shade.setAttribute("x", String(getX(from)));
    shade.setAttribute("width", String(getX(to) - getX(from)));
    shade.classList.toggle("all", from === 0 && to === n);
    handles.forEach((handle, which) => {
      const k = which ? to : from;
      handle.setAttribute("transform", `translate(${getX(k)} 0)`);
      for (const [name, value] of Object.entries({ valuemin: getEdge(which ? from + 1 : 0), valuemax: getEdge(which ? n : to - 1), valuenow: getEdge(k), valuetext: format(getEdge(k)) })) handle.setAttribute(`aria-${name}`, String(value));
    });
  }
}
