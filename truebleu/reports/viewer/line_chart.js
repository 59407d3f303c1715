// Chart of all systems by bins, with one line per system.
import {renderBadge, formatCount, el, renderNumber, formatFixed, formatPlural, svg} from "./dom.js";
import {MIN_PRECISE_SEGMENTS, MIN_INTERVAL_SEGMENTS, showFiltered} from "./selection.js";
import {listGroupings} from "./bins.js";
import {roundHundredth, linkSegments} from "./svg_charts.js";
import {getLineClass, buildLineLegend, renderPlot} from "./axes.js";

const MAX_LINE_BINS = 24;

/** Return the groupings that do not depend on the two compared systems. @param {import("./selection.js").Context} context */
export const getSharedGroupings = context => Object.fromEntries(Object.entries(listGroupings(context)).filter(([id, kind]) => kind.make && !/^(score|surplus)/.test(id)));

/** @param {import("./selection.js").Context} context @param {string} id */
export function drawLineChart(context, id) {
  const { data, store, current } = context, { metric } = current, { systems } = data, { title, make } = getSharedGroupings(context)[id], allBins = /** @type {() => import("./bins.js").Bin[]} */ (make)();
  const visibleBins = (id === "document" ? [...allBins].sort((x, y) => y.segments.length - x.segments.length) : allBins).slice(0, MAX_LINE_BINS);
  const rows = current.cached(`lines ${id} ${current.id}`, () => visibleBins.map(g => ({ g, n: g.segments.length, values: systems.map(s => current.scoreCorpus(s, g.segments)) })));
  const preciseRows = rows.filter(r => r.n >= MIN_INTERVAL_SEGMENTS), values = (preciseRows.length ? preciseRows : rows).flatMap(r => r.values).filter(Number.isFinite), low = Math.min(...values), high = Math.max(...values), pad = (high - low) * 0.08 || 1;
  const sign = metric.higherIsBetter ? 1 : -1, getBest = (/** @type {typeof rows[number]} */ r) => systems.reduce((x, y) => sign * (r.values[y.index] - r.values[x.index]) > 0 ? y : x), leaders = new Set(preciseRows.map(getBest)), isConnected = id === "length";
  return renderPlot({
    title: `${metric.name} of all systems by ${title}.`, summary: [!preciseRows.length ? "" : leaders.size === 1 ? `${[...leaders][0].letter} is best in every bin with at least ${MIN_INTERVAL_SEGMENTS} segments. ` : `The best system varies: ${preciseRows.map(r => `${getBest(r).letter} in “${r.g.label}”`).slice(0, 6).join(", ")}${preciseRows.length > 6 ? ", …" : ""}. `, allBins.length > visibleBins.length ? `Showing the largest ${visibleBins.length} of ${formatCount(allBins.length)}. ` : "", `Open points mark bins with fewer than ${MIN_PRECISE_SEGMENTS} segments${preciseRows.length && preciseRows.length < rows.length ? `; bins with fewer than ${MIN_INTERVAL_SEGMENTS} appear only in the table` : ""}.`],
    height: width => Math.min(420, width * 0.55), across: { title, low: -0.5, high: visibleBins.length - 0.5, tickValues: visibleBins.map((_, k) => k), formatValue: k => visibleBins[k].label }, up: { title: `${metric.name}${metric.higherIsBetter ? "" : " (lower is better)"}, points`, low: low - pad, high: high + pad },
    legend: buildLineLegend(systems),
    layers: frame => systems.map(s => [isConnected ? svg("path.series", { class: getLineClass(s), d: `M${rows.flatMap((r, k) => r.n < MIN_INTERVAL_SEGMENTS && preciseRows.length ? [] : `${roundHundredth(frame.x(k))} ${roundHundredth(frame.y(r.values[s.index]))}`).join("L")}` }) : null,
      rows.map((r, k) => r.n < MIN_INTERVAL_SEGMENTS && preciseRows.length ? null : svg("circle.knot", { class: `sys-${s.index % 6}${r.n < MIN_PRECISE_SEGMENTS ? " open" : ""}`, cx: roundHundredth(frame.x(k) + (isConnected ? 0 : (s.index - (systems.length - 1) / 2) * 5)), cy: roundHundredth(frame.y(r.values[s.index])), r: 3.5 }))]),
    places: frame => rows.map((r, k) => ({ x: frame.x(k - 0.45), width: frame.x(k + 0.45) - frame.x(k - 0.45), y: frame.top, height: frame.bottom - frame.top, description: `${r.g.label}: ${formatPlural(r.n, "segment")}; ${systems.map(s => `${s.letter} ${formatFixed(r.values[s.index])}`).join(", ")}`, act: () => showFiltered(store, r.g.filter) })),
    columns: [{ title }, { title: "n", number: true }, ...systems.map(s => ({ title: renderBadge(s), number: true, hint: s.name }))],
    rows: rows.map(r => [linkSegments(context, el("bdi", {}, r.g.label), r.g.filter), formatCount(r.n), ...r.values.map((v, s) => systems[s] === getBest(r) ? el("strong", {}, renderNumber(v)) : renderNumber(v))]),
  });
}
