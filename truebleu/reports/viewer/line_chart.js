// All systems at once in buckets: a line a system.
import {badge, count, el, exact, fixed, plural, svg} from "./dom.js";
import {FEW, FEWEST, showFiltered} from "./selection.js";
import {bucketKinds} from "./bins.js";
import {hundredth, link} from "./svg_charts.js";
import {lineClass, lineLegend, plot} from "./axes.js";

const MOST_LINES = 24;

/** What all systems can be put into buckets by: what does not depend on two of them. @param {import("./selection.js").Context} context */
export const bucketsOfAll = context => Object.fromEntries(Object.entries(bucketKinds(context)).filter(([id, kind]) => kind.make && !/^(score|surplus)/.test(id)));

/** @param {import("./selection.js").Context} context @param {string} id */
export function linesPicture(context, id) {
  const { data, store, current } = context, { metric } = current, { systems } = data, { title, make } = bucketsOfAll(context)[id], every = /** @type {() => import("./bins.js").Bucket[]} */ (make)();
  const shown = (id === "document" ? [...every].sort((x, y) => y.segments.length - x.segments.length) : every).slice(0, MOST_LINES);
  const rows = current.once(`lines ${id} ${current.id}`, () => shown.map(g => ({ g, n: g.segments.length, values: systems.map(s => current.corpus(s, g.segments)) })));
  const sure = rows.filter(r => r.n >= FEWEST), values = (sure.length ? sure : rows).flatMap(r => r.values).filter(Number.isFinite), low = Math.min(...values), high = Math.max(...values), pad = (high - low) * 0.08 || 1;
  const sign = metric.higher ? 1 : -1, best = (/** @type {typeof rows[number]} */ r) => systems.reduce((x, y) => sign * (r.values[y.index] - r.values[x.index]) > 0 ? y : x), leaders = new Set(sure.map(best)), joined = id === "length";
  return plot({
    title: `${metric.name} of all systems by ${title}.`, summary: [!sure.length ? "" : leaders.size === 1 ? `${[...leaders][0].letter} is best in every bucket of ${FEWEST} segments or more. ` : `The best changes: ${sure.map(r => `${best(r).letter} in “${r.g.label}”`).slice(0, 6).join(", ")}${sure.length > 6 ? ", …" : ""}. `, every.length > shown.length ? `The largest ${shown.length} of ${count(every.length)}. ` : "", `Open points: fewer than ${FEW} segments${sure.length && sure.length < rows.length ? `; fewer than ${FEWEST} are in the table alone` : ""}.`],
    height: width => Math.min(320, width * 0.55), across: { title, low: -0.5, high: shown.length - 0.5, at: shown.map((_, k) => k), write: k => shown[k].label }, up: { title: `${metric.name}${metric.higher ? "" : " (lower is better)"}, points`, low: low - pad, high: high + pad },
    legend: lineLegend(systems),
    layers: frame => systems.map(s => [joined ? svg("path.series", { class: lineClass(s), d: `M${rows.flatMap((r, k) => r.n < FEWEST && sure.length ? [] : `${hundredth(frame.x(k))} ${hundredth(frame.y(r.values[s.index]))}`).join("L")}` }) : null,
      rows.map((r, k) => r.n < FEWEST && sure.length ? null : svg("circle.knot", { class: `sys-${s.index % 6}${r.n < FEW ? " open" : ""}`, cx: hundredth(frame.x(k) + (joined ? 0 : (s.index - (systems.length - 1) / 2) * 5)), cy: hundredth(frame.y(r.values[s.index])), r: 3.5 }))]),
    places: frame => rows.map((r, k) => ({ x: frame.x(k - 0.45), width: frame.x(k + 0.45) - frame.x(k - 0.45), y: frame.top, height: frame.bottom - frame.top, told: `${r.g.label}: ${plural(r.n, "segment")}; ${systems.map(s => `${s.letter} ${fixed(r.values[s.index])}`).join(", ")}`, act: () => showFiltered(store, r.g.filter) })),
    columns: [{ title }, { title: "n", number: true }, ...systems.map(s => ({ title: badge(s), number: true, hint: s.name }))],
    rows: rows.map(r => [link(context, el("bdi", {}, r.g.label), r.g.filter), count(r.n), ...r.values.map((v, s) => systems[s] === best(r) ? el("strong", {}, exact(v)) : exact(v))]),
  });
}
