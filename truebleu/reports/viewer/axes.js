// Charts with two axes: units, legend, keyboard navigation, data table and SVG export.
import {el, svg} from "./dom.js";
import {createCanvas, renderFigure, fitText, roundHundredth, LETTER_WIDTH, formatShortNumber, getTicks} from "./svg_charts.js";

/** @typedef {{title: string, low: number, high: number, tickValues?: number[], formatValue?: (value: number) => string, hidesGrid?: boolean}} Axis  the title includes the unit; `hidesGrid`: draw no grid lines */
/** @typedef {{text: string, mark: "bar" | "line" | "dot" | "hexagon", class: string}} LegendEntry  entry of a legend */
/** @typedef {{x: (value: number) => number, y: (value: number) => number, left: number, right: number, top: number, bottom: number}} Frame */
/** @typedef {{x: number, y: number, width: number, height: number, description: string, act?: () => void}} ChartArea  area in pixels that can be focused; its description, and its action on click */
/**
 * @typedef {object} Plot
 * @property {string} title  @property {import("./dom.js").Children} summary
 * @property {(width: number) => number} height  of the area between the axes
 * @property {Axis} across  @property {Axis} up
 * @property {LegendEntry[]} [legend]
 * @property {(frame: Frame) => any} layers  contents of the plot area
 * @property {(frame: Frame) => ChartArea[]} places  areas in reading order
 * @property {(from: ChartArea, to: ChartArea) => {description: string, act: () => void}} [between]  selection between two areas, drawn with the pointer or with Shift and the arrow keys
 * @property {(x: number, y: number) => void} [nearest]  action for a click outside all areas, with coordinates in data values
 * @property {import("./dom.js").Column[]} columns  @property {any[]} rows  @property {any} [after]
 */

/** Return the CSS classes of a system's line. @param {import("./report_data.js").System} system */
export const getLineClass = ({ index }) => `sys-${index % 6} dash-${Math.floor(index / 6) % 3}`;

/** Build the legend of the systems' lines. @param {import("./report_data.js").System[]} systems @returns {LegendEntry[]} */
export const buildLineLegend = systems => systems.map(s => ({ text: `${s.letter} ${s.name}`, mark: "line", class: getLineClass(s) }));

/** Index of the last focused area per chart title, to restore the focus after redrawing. @type {Map<string, number>} */
const focusedAreas = new Map();

/** @param {Plot} options */
export function renderPlot(options) {
  const readout = el("p.readout", { role: "status" }), brushHint = options.between ? " To see the segments of an area, drag over it, or select it with Shift and the arrow keys and press Enter." : "";
  return renderFigure({ title: options.title, summary: options.summary, columns: options.columns, rows: options.rows, draw: width => drawPlot(options, width, readout),
    after: [readout, el("p.soft.note", {}, `Use the arrow keys to move. Press Enter or click to see the segments.${brushHint}`), options.after] });
}

/** @param {Plot} options @param {number} width @param {HTMLElement} readout */
function drawPlot(options, width, readout) {
  const { across, up, legend = [] } = options, write = (/** @type {Axis} */ axis) => axis.formatValue ?? formatShortNumber;
  const rows = layOutLegend(legend, width), legendHeight = rows.length ? 18 * (rows[rows.length - 1].row + 1) + 6 : 4;
  const yTicks = up.tickValues ?? getTicks(up.low, up.high, 6), yLabels = yTicks.map(v => write(up)(v)), leftMargin = Math.min(width * 0.34, Math.max(...yLabels.map(n => n.length), 1) * LETTER_WIDTH + 30);
  const plotHeight = options.height(width), frame = /** @type {Frame} */ ({ left: leftMargin, right: width - 10, top: legendHeight, bottom: legendHeight + plotHeight });
  frame.x = v => frame.left + (frame.right - frame.left) * (v - across.low) / (across.high - across.low || 1);
  frame.y = v => frame.bottom - (frame.bottom - frame.top) * (v - up.low) / (up.high - up.low || 1);
  const xTicks = across.tickValues ?? getTicks(across.low, across.high, width < 480 ? 4 : 8), xLabels = xTicks.map(v => write(across)(v));
  // Rotate labels that do not fit next to each other.
  const slotWidth = (frame.right - frame.left) / Math.max(1, xLabels.length), areRotated = xLabels.some(t => t.length * LETTER_WIDTH > slotWidth + 4), labelHeight = areRotated ? Math.min(90, Math.max(...xLabels.map(t => t.length)) * LETTER_WIDTH * 0.72 + 14) : 16;
  const height = frame.bottom + labelHeight + 20, places = options.places(frame);
  const picture = createCanvas(width, height, `${options.title} The table below shows the numbers.`,
    rows.map(({ entry, x, row }) => [drawLegendMark(entry, x, 18 * row + 8), svg("text.name", { x: x + 20, y: 18 * row + 12 }, fitText(entry.text, width - x - 34))]),
    xTicks.map((v, i) => [across.hidesGrid ? null : svg("line.rule", { x1: roundHundredth(frame.x(v)), x2: roundHundredth(frame.x(v)), y1: frame.top, y2: frame.bottom }),
      svg("text.tick", areRotated ? { transform: `translate(${roundHundredth(frame.x(v) + 4)} ${frame.bottom + 10}) rotate(-40)`, "text-anchor": "end" } : { x: roundHundredth(frame.x(v)), y: frame.bottom + 13, "text-anchor": "middle" }, areRotated ? fitText(xLabels[i], 100) : xLabels[i])]),
    yTicks.map((v, i) => [up.hidesGrid ? null : svg("line.rule", { x1: frame.left, x2: frame.right, y1: roundHundredth(frame.y(v)), y2: roundHundredth(frame.y(v)) }), svg("text.tick", { x: frame.left - 5, y: roundHundredth(frame.y(v) + 4), "text-anchor": "end" }, fitText(yLabels[i], leftMargin - 20))]),
    svg("line.zero", { x1: frame.left, x2: frame.left, y1: frame.top, y2: frame.bottom }), svg("line.zero", { x1: frame.left, x2: frame.right, y1: frame.bottom, y2: frame.bottom }),
    svg("g", { "aria-hidden": "true", "pointer-events": "none" }, options.layers(frame)),
    svg("text.name", { x: (frame.left + frame.right) / 2, y: height - 4, "text-anchor": "middle" }, fitText(across.title, frame.right - frame.left)),
    svg("text.name", { transform: `translate(11 ${roundHundredth((frame.top + frame.bottom) / 2)}) rotate(-90)`, "text-anchor": "middle" }, fitText(up.title, plotHeight)));
  if (places.length) addNavigation(picture, places, options, frame, readout);
  return picture;
}

/** Arrange legend entries in as many rows as needed. @param {LegendEntry[]} legend @param {number} width */
function layOutLegend(legend, width) {
  let x = 0, row = 0;
  return legend.map(entry => {
    const entryWidth = 40 + entry.text.length * LETTER_WIDTH;
    if (x && x + entryWidth > width) { x = 0; row++; }
    const cell = { entry, x, row };
    x += entryWidth;
    return cell;
  });
}

/** @param {LegendEntry} entry @param {number} x @param {number} y centre of the symbol */
const drawLegendMark = ({ mark: kind, class: name }, x, y) => kind === "line" ? svg("path.series", { class: name, d: `M${x} ${y}h15` })
  : kind === "dot" ? svg("circle", { class: name, cx: x + 8, cy: y, r: 4 }) : kind === "hexagon" ? svg("path", { class: name, d: hexagonPath(x + 8, y, 7) }) : svg("rect", { class: name, x: x + 1, y: y - 6, width: 14, height: 12 });

/** Return the SVG path of a hexagon that stands on a corner. @param {number} x @param {number} y @param {number} size */
export const hexagonPath = (x, y, size) => `M${roundHundredth(x)} ${roundHundredth(y - size)}l${roundHundredth(size * 0.866)} ${roundHundredth(size / 2)}v${roundHundredth(size)}l${roundHundredth(-size * 0.866)} ${roundHundredth(size / 2)}l${roundHundredth(-size * 0.866)} ${roundHundredth(-size / 2)}v${roundHundredth(-size)}z`;

/** Make the chart a single tab stop. The arrow keys move to the nearest area in their direction. @param {SVGElement} picture @param {ChartArea[]} places @param {Plot} what @param {Frame} frame @param {HTMLElement} readout */
function addNavigation(picture, places, { title, between, nearest }, frame, readout) {
  let currentIndex = Math.min(focusedAreas.get(title) ?? 0, places.length - 1), anchorIndex = currentIndex;
  const focusBox = svg("rect.back", {}), focusTarget = svg("g.group.reach", { tabindex: 0 }, focusBox), brush = between && svg("rect.brush", { width: 0, height: 0 });
  const getCentre = (/** @type {ChartArea} */ p) => [p.x + p.width / 2, p.y + p.height / 2];
  const getSelection = () => between && anchorIndex !== currentIndex ? between(places[anchorIndex], places[currentIndex]) : places[currentIndex];
  if (brush) picture.append(brush);
  picture.append(focusTarget);
  showFocus(false);
  focusTarget.addEventListener("focus", () => showFocus(true));
  focusTarget.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
    if (e.ctrlKey || e.altKey || e.metaKey) return;
    const direction = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key], end = { Home: 0, End: places.length - 1 }[e.key];
    if (e.key === "Enter" || e.key === " ") getSelection().act?.();
    else if (e.key === "Escape" && anchorIndex !== currentIndex) { anchorIndex = currentIndex; showFocus(true); }
    else if (direction || end !== undefined) {
      currentIndex = direction ? findNext(currentIndex, direction) : /** @type {number} */ (end);
      if (!e.shiftKey || !between) anchorIndex = currentIndex;
      showFocus(true);
    } else return;
    e.preventDefault();
    e.stopPropagation();
  });

  /** Return the nearest area in a direction; sideways distance counts double. @param {number} k @param {number[]} way */
  function findNext(k, [dx, dy]) {
    const [x, y] = getCentre(places[k]);
    let best = k, smallestDistance = Infinity;
    places.forEach((place, i) => {
      const [px, py] = getCentre(place), along = (px - x) * dx + (py - y) * dy, offset = Math.abs((px - x) * dy) + Math.abs((py - y) * dx);
      if (along > 0.5 && along + 2 * offset < smallestDistance) { smallestDistance = along + 2 * offset; best = i; }
    });
    return best;
  }

  /** @param {boolean} isAnnounced */
  function showFocus(isAnnounced) {
    const place = places[currentIndex], selection = getSelection();
    focusedAreas.set(title, currentIndex);
    for (const [name, value] of Object.entries({ x: place.x, y: place.y, width: Math.max(4, place.width), height: Math.max(4, place.height) })) focusBox.setAttribute(name, String(roundHundredth(value)));
    focusTarget.setAttribute("role", selection.act ? "button" : "img");
    focusTarget.setAttribute("aria-label", selection.description);
    if (brush) drawBrush(anchorIndex === currentIndex ? null : [places[anchorIndex], place]);
    if (isAnnounced) readout.textContent = selection.description;
  }

  /** @param {ChartArea[] | null} ends */
  function drawBrush(ends) {
    const [low, high] = ends ? [Math.min(ends[0].x, ends[1].x), Math.max(ends[0].x + ends[0].width, ends[1].x + ends[1].width)] : [0, 0], [top, bottom] = ends ? [Math.min(ends[0].y, ends[1].y), Math.max(ends[0].y + ends[0].height, ends[1].y + ends[1].height)] : [0, 0];
    for (const [name, value] of Object.entries({ x: low, y: top, width: high - low, height: bottom - top })) brush.setAttribute(name, String(roundHundredth(value)));
  }

  // ---- the pointer ----
  const findArea = (/** @type {number[]} */ [x, y]) => places.findIndex(p => x >= p.x && x <= p.x + p.width && y >= p.y && y <= p.y + p.height);
  const getPosition = (/** @type {MouseEvent} */ e) => { const box = picture.getBoundingClientRect(), scale = (Number(picture.getAttribute("width"))) / box.width; return [(e.clientX - box.left) * scale, (e.clientY - box.top) * scale]; };
  const toArea = (/** @type {number[]} */ [x, y]) => ({ x: Math.max(frame.left, Math.min(frame.right, x)), y: Math.max(frame.top, Math.min(frame.bottom, y)), width: 0, height: 0, description: "" });
  /** @type {number[] | null} */
  let start = null;
  picture.classList.add(between ? "brushed" : "open-to-click");
  if (between) {
    picture.addEventListener("pointerdown", (/** @type {PointerEvent} */ e) => { start = getPosition(e); picture.classList.add("drawn"); picture.setPointerCapture(e.pointerId); });
    picture.addEventListener("pointerup", (/** @type {PointerEvent} */ e) => {
      const first = start, last = getPosition(e);
      start = null;
      picture.classList.remove("drawn");
      if (first && Math.hypot(last[0] - first[0], last[1] - first[1]) > 4) between(toArea(first), toArea(last)).act();
      else if (nearest) nearest(last[0], last[1]);
      else activate(last);
    });
  } else picture.addEventListener("click", (/** @type {MouseEvent} */ e) => activate(getPosition(e)));
  picture.addEventListener("pointermove", (/** @type {PointerEvent} */ e) => {
    const position = getPosition(e), hoveredIndex = findArea(position);
    if (start) { drawBrush([toArea(start), toArea(position)]); readout.textContent = between?.(toArea(start), toArea(position)).description ?? ""; }
    else if (hoveredIndex >= 0 && readout.textContent !== places[hoveredIndex].description) readout.textContent = places[hoveredIndex].description;
  });

  /** @param {number[]} position */
  function activate(position) {
    const clickedIndex = findArea(position);
    if (clickedIndex < 0) return;
    currentIndex = anchorIndex = clickedIndex;
    showFocus(true);
    places[currentIndex].act?.();
  }
}
