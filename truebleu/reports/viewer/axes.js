// A picture with two axes, units, a legend, places that the keyboard goes to, its numbers as a table, and SVG.
import {el, svg} from "./dom.js";
import {createCanvas, renderFigure, fitText, roundHundredth, LETTER_WIDTH, formatShortNumber, getTicks} from "./svg_charts.js";

/** @typedef {{title: string, low: number, high: number, tickValues?: number[], formatValue?: (value: number) => string, hidesGrid?: boolean}} Axis  its title has the unit; `bare`: no lines */
/** @typedef {{text: string, mark: "bar" | "line" | "dot" | "hexagon", class: string}} LegendEntry  of a legend */
/** @typedef {{x: (value: number) => number, y: (value: number) => number, left: number, right: number, top: number, bottom: number}} Frame */
/** @typedef {{x: number, y: number, width: number, height: number, description: string, act?: () => void}} ChartArea  in pixels; what is there, and what a click does */
/**
 * @typedef {object} Plot
 * @property {string} title  @property {import("./dom.js").Children} summary
 * @property {(width: number) => number} height  of the part between the axes
 * @property {Axis} across  @property {Axis} up
 * @property {LegendEntry[]} [legend]
 * @property {(frame: Frame) => any} layers  what is drawn
 * @property {(frame: Frame) => ChartArea[]} places  in the order in which they are read
 * @property {(from: ChartArea, to: ChartArea) => {description: string, act: () => void}} [between]  what two places enclose: the pointer draws it, or Shift and the arrow keys
 * @property {(x: number, y: number) => void} [nearest]  what a click beside all places does, in values
 * @property {import("./dom.js").Column[]} columns  @property {any[]} rows  @property {any} [after]
 */

/** The classes of a system's line. @param {import("./report_data.js").System} system */
export const getLineClass = ({ index }) => `sys-${index % 6} dash-${Math.floor(index / 6) % 3}`;

/** A legend of systems' lines. @param {import("./report_data.js").System[]} systems @returns {LegendEntry[]} */
export const buildLineLegend = systems => systems.map(s => ({ text: `${s.letter} ${s.name}`, mark: "line", class: getLineClass(s) }));

/** Where the keyboard was in a picture that is drawn anew, by its title. @type {Map<string, number>} */
const focusedAreas = new Map();

/** @param {Plot} what */
export function renderPlot(what) {
  const readout = el("p.readout", { role: "status" }), act = what.between ? " Draw over an area, or hold Shift with the arrow keys, and press Enter to see its segments." : "";
  return renderFigure({ title: what.title, summary: what.summary, columns: what.columns, rows: what.rows, draw: width => drawPlot(what, width, readout),
    after: [readout, el("p.soft.note", {}, `Arrow keys go from place to place; Enter or a click shows the segments.${act}`), what.after] });
}

/** @param {Plot} what @param {number} width @param {HTMLElement} readout */
function drawPlot(what, width, readout) {
  const { across, up, legend = [] } = what, write = (/** @type {Axis} */ axis) => axis.formatValue ?? formatShortNumber;
  const rows = layOutLegend(legend, width), head = rows.length ? 18 * (rows[rows.length - 1].row + 1) + 6 : 4;
  const upAt = up.tickValues ?? getTicks(up.low, up.high, 6), named = upAt.map(v => write(up)(v)), room = Math.min(width * 0.34, Math.max(...named.map(n => n.length), 1) * LETTER_WIDTH + 30);
  const tall = what.height(width), frame = /** @type {Frame} */ ({ left: room, right: width - 10, top: head, bottom: head + tall });
  frame.x = v => frame.left + (frame.right - frame.left) * (v - across.low) / (across.high - across.low || 1);
  frame.y = v => frame.bottom - (frame.bottom - frame.top) * (v - up.low) / (up.high - up.low || 1);
  const acrossAt = across.tickValues ?? getTicks(across.low, across.high, width < 480 ? 4 : 8), texts = acrossAt.map(v => write(across)(v));
  // Names that do not fit side by side are turned.
  const each = (frame.right - frame.left) / Math.max(1, texts.length), turned = texts.some(t => t.length * LETTER_WIDTH > each + 4), foot = turned ? Math.min(90, Math.max(...texts.map(t => t.length)) * LETTER_WIDTH * 0.72 + 14) : 16;
  const height = frame.bottom + foot + 20, places = what.places(frame);
  const picture = createCanvas(width, height, `${what.title} The table below has its numbers.`,
    rows.map(({ entry, x, row }) => [drawLegendMark(entry, x, 18 * row + 8), svg("text.name", { x: x + 20, y: 18 * row + 12 }, fitText(entry.text, width - x - 20))]),
    acrossAt.map((v, i) => [across.hidesGrid ? null : svg("line.rule", { x1: roundHundredth(frame.x(v)), x2: roundHundredth(frame.x(v)), y1: frame.top, y2: frame.bottom }),
      svg("text.tick", turned ? { transform: `translate(${roundHundredth(frame.x(v) + 4)} ${frame.bottom + 10}) rotate(-40)`, "text-anchor": "end" } : { x: roundHundredth(frame.x(v)), y: frame.bottom + 13, "text-anchor": "middle" }, turned ? fitText(texts[i], 100) : texts[i])]),
    upAt.map((v, i) => [up.hidesGrid ? null : svg("line.rule", { x1: frame.left, x2: frame.right, y1: roundHundredth(frame.y(v)), y2: roundHundredth(frame.y(v)) }), svg("text.tick", { x: frame.left - 5, y: roundHundredth(frame.y(v) + 4), "text-anchor": "end" }, fitText(named[i], room - 20))]),
    svg("line.zero", { x1: frame.left, x2: frame.left, y1: frame.top, y2: frame.bottom }), svg("line.zero", { x1: frame.left, x2: frame.right, y1: frame.bottom, y2: frame.bottom }),
    svg("g", { "aria-hidden": "true", "pointer-events": "none" }, what.layers(frame)),
    svg("text.name", { x: (frame.left + frame.right) / 2, y: height - 4, "text-anchor": "middle" }, fitText(across.title, frame.right - frame.left)),
    svg("text.name", { transform: `translate(11 ${roundHundredth((frame.top + frame.bottom) / 2)}) rotate(-90)`, "text-anchor": "middle" }, fitText(up.title, tall)));
  if (places.length) addNavigation(picture, places, what, frame, readout);
  return picture;
}

/** The entries of a legend, in as many rows as they need. @param {LegendEntry[]} legend @param {number} width */
function layOutLegend(legend, width) {
  let x = 0, row = 0;
  return legend.map(entry => {
    const room = 34 + entry.text.length * LETTER_WIDTH;
    if (x && x + room > width) { x = 0; row++; }
    const at = { entry, x, row };
    x += room;
    return at;
  });
}

/** @param {LegendEntry} entry @param {number} x @param {number} y of its middle */
const drawLegendMark = ({ mark: kind, class: name }, x, y) => kind === "line" ? svg("path.series", { class: name, d: `M${x} ${y}h15` })
  : kind === "dot" ? svg("circle", { class: name, cx: x + 8, cy: y, r: 4 }) : kind === "hexagon" ? svg("path", { class: name, d: hexagonPath(x + 8, y, 7) }) : svg("rect", { class: name, x: x + 1, y: y - 6, width: 14, height: 12 });

/** The outline of a hexagon that stands on a corner. @param {number} x @param {number} y @param {number} size */
export const hexagonPath = (x, y, size) => `M${roundHundredth(x)} ${roundHundredth(y - size)}l${roundHundredth(size * 0.866)} ${roundHundredth(size / 2)}v${roundHundredth(size)}l${roundHundredth(-size * 0.866)} ${roundHundredth(size / 2)}l${roundHundredth(-size * 0.866)} ${roundHundredth(-size / 2)}v${roundHundredth(-size)}z`;

/** One stop for Tab: from there the arrow keys go to the place that lies nearest that way. @param {SVGElement} picture @param {ChartArea[]} places @param {Plot} what @param {Frame} frame @param {HTMLElement} readout */
function addNavigation(picture, places, { title, between, nearest }, frame, readout) {
  let at = Math.min(focusedAreas.get(title) ?? 0, places.length - 1), from = at;
  const back = svg("rect.back", {}), here = svg("g.group.reach", { tabindex: 0 }, back), shade = between && svg("rect.brush", { width: 0, height: 0 });
  const middle = (/** @type {ChartArea} */ p) => [p.x + p.width / 2, p.y + p.height / 2];
  const chosen = () => between && from !== at ? between(places[from], places[at]) : places[at];
  if (shade) picture.append(shade);
  picture.append(here);
  show(false);
  here.addEventListener("focus", () => show(true));
  here.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
    if (e.ctrlKey || e.altKey || e.metaKey) return;
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key], end = { Home: 0, End: places.length - 1 }[e.key];
    if (e.key === "Enter" || e.key === " ") chosen().act?.();
    else if (e.key === "Escape" && from !== at) { from = at; show(true); }
    else if (way || end !== undefined) {
      at = way ? next(at, way) : /** @type {number} */ (end);
      if (!e.shiftKey || !between) from = at;
      show(true);
    } else return;
    e.preventDefault();
    e.stopPropagation();
  });

  /** The place that is nearest one way: what is off to the side counts double. @param {number} k @param {number[]} way */
  function next(k, [dx, dy]) {
    const [x, y] = middle(places[k]);
    let best = k, least = Infinity;
    places.forEach((place, i) => {
      const [px, py] = middle(place), along = (px - x) * dx + (py - y) * dy, aside = Math.abs((px - x) * dy) + Math.abs((py - y) * dx);
      if (along > 0.5 && along + 2 * aside < least) { least = along + 2 * aside; best = i; }
    });
    return best;
  }

  /** @param {boolean} told */
  function show(told) {
    const place = places[at], what = chosen();
    focusedAreas.set(title, at);
    for (const [name, value] of Object.entries({ x: place.x, y: place.y, width: Math.max(4, place.width), height: Math.max(4, place.height) })) back.setAttribute(name, String(roundHundredth(value)));
    here.setAttribute("role", what.act ? "button" : "img");
    here.setAttribute("aria-label", what.description);
    if (shade) enclose(from === at ? null : [places[from], place]);
    if (told) readout.textContent = what.description;
  }

  /** @param {ChartArea[] | null} ends */
  function enclose(ends) {
    const [low, high] = ends ? [Math.min(ends[0].x, ends[1].x), Math.max(ends[0].x + ends[0].width, ends[1].x + ends[1].width)] : [0, 0], [top, bottom] = ends ? [Math.min(ends[0].y, ends[1].y), Math.max(ends[0].y + ends[0].height, ends[1].y + ends[1].height)] : [0, 0];
    for (const [name, value] of Object.entries({ x: low, y: top, width: high - low, height: bottom - top })) shade.setAttribute(name, String(roundHundredth(value)));
  }

  // ---- the pointer ----
  const under = (/** @type {number[]} */ [x, y]) => places.findIndex(p => x >= p.x && x <= p.x + p.width && y >= p.y && y <= p.y + p.height);
  const spot = (/** @type {MouseEvent} */ e) => { const box = picture.getBoundingClientRect(), scale = (Number(picture.getAttribute("width"))) / box.width; return [(e.clientX - box.left) * scale, (e.clientY - box.top) * scale]; };
  const point = (/** @type {number[]} */ [x, y]) => ({ x: Math.max(frame.left, Math.min(frame.right, x)), y: Math.max(frame.top, Math.min(frame.bottom, y)), width: 0, height: 0, description: "" });
  /** @type {number[] | null} */
  let start = null;
  picture.classList.add(between ? "brushed" : "open-to-click");
  if (between) {
    picture.addEventListener("pointerdown", (/** @type {PointerEvent} */ e) => { start = spot(e); picture.classList.add("drawn"); picture.setPointerCapture(e.pointerId); });
    picture.addEventListener("pointerup", (/** @type {PointerEvent} */ e) => {
      const first = start, last = spot(e);
      start = null;
      picture.classList.remove("drawn");
      if (first && Math.hypot(last[0] - first[0], last[1] - first[1]) > 4) between(point(first), point(last)).act();
      else if (nearest) nearest(last[0], last[1]);
      else click(last);
    });
  } else picture.addEventListener("click", (/** @type {MouseEvent} */ e) => click(spot(e)));
  picture.addEventListener("pointermove", (/** @type {PointerEvent} */ e) => {
    const now = spot(e), over = under(now);
    if (start) { enclose([point(start), point(now)]); readout.textContent = between?.(point(start), point(now)).description ?? ""; }
    else if (over >= 0 && readout.textContent !== places[over].description) readout.textContent = places[over].description;
  });

  /** @param {number[]} where */
  function click(where) {
    const over = under(where);
    if (over < 0) return;
    at = from = over;
    show(true);
    places[at].act?.();
  }
}
