// Heat maps: systems by domain or document, and agreement of metrics.
import {renderBadge, formatCount, el, renderNumber, formatFixed, formatPlural, svg, formatScore, formatDelta, renderScore, getPointUnit} from "./dom.js";
import {showFiltered} from "./selection.js";
import {getDocumentGrouping, getLabelGroupings} from "./bins.js";
import {pearsonCorrelation, countPreferences} from "./agreement.js";
import {fitText, roundHundredth, linkSegments} from "./svg_charts.js";
import {renderPlot} from "./axes.js";

/** @typedef {import("./selection.js").Context} Context */
/** @typedef {{text: string, shade: number, description: string, act?: () => void, faint?: boolean}} HeatmapCell  `shade` is between −1 and 1 */

const MAX_HEATMAP_ROWS = 30, MIN_HEATMAP_SEGMENTS = 100;
/** Return the CSS class for a shade. @param {number} shade */
const getShadeClass = shade => Math.abs(shade) < 0.05 || Number.isNaN(shade) ? "cell" : `cell ${shade > 0 ? "better" : "worse"} cell-${Math.min(4, Math.ceil(4 * Math.abs(shade)))}`;

/**
 * Draw a heat map with a number in each cell.
 * @param {{title: string, summary: import("./dom.js").Children, across: string, up: string, columns: string[], rows: string[], cell: (row: number, column: number) => HeatmapCell, low: string, none: string, high: string, table: {columns: import("./dom.js").Column[], rows: any[]}, after?: any}} what
 */
function drawHeatmap({ title, summary, across, up, columns, rows, cell, low, none, high, table, after }) {
  const cells = rows.map((_, r) => columns.map((__, c) => cell(r, c)));
  return renderPlot({
    title, summary, after, height: () => 26 * rows.length,
    across: { title: across, low: -0.5, high: columns.length - 0.5, tickValues: columns.map((_, k) => k), formatValue: k => columns[k], hidesGrid: true }, up: { title: up, low: rows.length - 0.5, high: -0.5, tickValues: rows.map((_, k) => k), formatValue: k => rows[k], hidesGrid: true },
    legend: [{ text: low, mark: "bar", class: "cell worse cell-4" }, { text: none, mark: "bar", class: "cell" }, { text: high, mark: "bar", class: "cell better cell-4" }],
    layers: frame => cells.flatMap((cellRow, r) => cellRow.map((entry, c) => {
      const [x, y] = [frame.x(c - 0.5), frame.y(r - 0.5)], [w, h] = [frame.x(c + 0.5) - x, frame.y(r + 0.5) - y];
      return [svg("rect", { class: `${getShadeClass(entry.shade)}${entry.faint ? " few" : ""}`, x: roundHundredth(x + 1), y: roundHundredth(y + 1), width: roundHundredth(w - 2), height: roundHundredth(h - 2), rx: 2 }), svg("text", { class: entry.faint ? "tick" : "name", x: roundHundredth(x + w / 2), y: roundHundredth(y + h / 2 + 4), "text-anchor": "middle" }, fitText(entry.text, w))];
    })),
    places: frame => cells.flatMap((cellRow, r) => cellRow.map((entry, c) => ({ x: frame.x(c - 0.5), y: frame.y(r - 0.5), width: frame.x(c + 0.5) - frame.x(c - 0.5), height: frame.y(r + 0.5) - frame.y(r - 0.5), description: entry.description, act: entry.act }))),
    columns: table.columns, rows: table.rows,
  });
}

/** Return the groupings for systems: each kind of label, and documents. @param {Context} context */
export const getSystemGroupings = ({ data }) => ({ ...getLabelGroupings(data), ...getDocumentGrouping(data) });

/** Draw the scores of systems per group of segments, coloured by the difference from the baseline. @param {Context} context @param {string} id */
export function drawSystemHeatmap(context, id) {
  const { data, store, current } = context, { a, metric } = current, { systems } = data, { title, make } = getSystemGroupings(context)[id];
  const largestGroups = current.cached(`heat ${id} ${current.id}`, () => make().sort((x, y) => y.segments.length - x.segments.length).slice(0, MAX_HEATMAP_ROWS).map(g => ({ g, values: systems.map(s => current.scoreCorpus(s, g.segments)) }))), total = make().length;
  const sign = metric.higherIsBetter ? 1 : -1, getAdvantage = (/** @type {typeof largestGroups[number]} */ row, /** @type {number} */ s) => sign * (row.values[s] - row.values[a.index]);
  // Small groups have extreme scores by chance, so they do not set the scale if there are larger groups.
  const preciseRows = largestGroups.filter(r => r.g.segments.length >= MIN_HEATMAP_SEGMENTS), maximum = Math.max(1e-9, ...(preciseRows.length ? preciseRows : largestGroups).flatMap(r => systems.map((_, s) => Math.abs(getAdvantage(r, s))).filter(Number.isFinite)));
  const wins = systems.map((_, s) => largestGroups.filter(r => r.values.every((v, k) => k === s || sign * (r.values[s] - v) > 0)).length), best = wins.indexOf(Math.max(...wins)), few = largestGroups.length - preciseRows.length;
  return drawHeatmap({
    title: `${metric.name} of systems by ${title}.`, summary: [systems.length > 1 ? `${systems[best].letter} is best in ${wins[best]} of ${largestGroups.length}. ` : "", total > largestGroups.length ? `Showing the largest ${largestGroups.length} of ${formatCount(total)}. ` : "", few ? `${formatPlural(few, "group")} with fewer than ${MIN_HEATMAP_SEGMENTS} segments ${few === 1 ? "is" : "are"} drawn faintly because ${few === 1 ? "its" : "their"} scores are imprecise.` : ""],
    across: "system", up: title, columns: systems.map(s => `${s.letter} ${s.name}`), rows: largestGroups.map(r => `${r.g.label} (${formatCount(r.g.segments.length)})`),
    low: `worse than ${a.letter} (${formatScore(maximum, 1)}${getPointUnit() === "points" ? " points" : ""})`, none: `same as ${a.letter}`, high: `better than ${a.letter}`,
    cell: (r, s) => { const row = largestGroups[r], v = row.values[s]; return { text: formatScore(v, 1), shade: Math.max(-1, Math.min(1, getAdvantage(row, s) / maximum)), faint: row.g.segments.length < MIN_HEATMAP_SEGMENTS, description: `${row.g.label}, ${formatPlural(row.g.segments.length, "segment")}: ${systems[s].letter} ${systems[s].name} ${formatScore(v)}${s === a.index ? "" : `, Δ from ${a.letter} ${formatDelta(v - row.values[a.index])}`}`, act: () => showFiltered(store, { ...row.g.filter, ...(s === a.index ? {} : { b: systems[s].name }) }) }; },
    table: { columns: [{ title }, { title: "n", number: true }, ...systems.map(s => ({ title: renderBadge(s), number: true, hint: s.name }))], rows: largestGroups.map(row => [linkSegments(context, el("bdi", {}, row.g.label), row.g.filter), formatCount(row.g.segments.length), ...row.values.map(v => renderScore(v))]) },
  });
}

/** Draw the agreement of metrics on which system is better, per segment. @param {Context} context */
export function drawMetricAgreement(context) {
  const { data, store, current } = context, { a, b, measures } = current, values = measures.map(m => current.getAdvantages(m));
  const pairs = current.cached(`metrics ${a.index} ${b?.index} ${current.id}`, () => measures.map((_, r) => measures.map((__, c) => ({ r: r === c ? 1 : pearsonCorrelation([values[c], values[r]]), against: countPreferences([values[c], values[r]]) }))));
  const getLabel = (/** @type {typeof measures[number]} */ m) => m.label, pairsOfMeasures = measures.flatMap((_, r) => measures.slice(0, r).map((__, c) => /** @type {const} */ ([c, r]))), lowestPair = [...pairsOfMeasures].sort(([c, r], [d, s]) => (pairs[r][c].r ?? 1) - (pairs[s][d].r ?? 1))[0];
  const linkDisagreements = (/** @type {number} */ c, /** @type {number} */ r, /** @type {string} */ which) => { const n = pairs[r][c].against.get(which) ?? 0; return n ? linkSegments(context, formatPlural(n, "segment"), { split: `${measures[c].id}:${measures[r].id}:${which}` }, "Show them") : "no segment"; };
  return drawHeatmap({
    title: "Agreement of metrics per segment.", summary: lowestPair ? `The lowest correlation is between ${getLabel(measures[lowestPair[0]])} and ${getLabel(measures[lowestPair[1]])} (r = ${formatFixed(pairs[lowestPair[1]][lowestPair[0]].r)}): ${getLabel(measures[lowestPair[0]])} prefers ${b?.letter} and ${getLabel(measures[lowestPair[1]])} ${a.letter} in ${formatCount(pairs[lowestPair[1]][lowestPair[0]].against.get("ba") ?? 0)} of ${formatPlural(data.n, "segment")}. Each number is Pearson's correlation of the differences between ${a.letter} and ${b?.letter}, signed so that higher is better.` : "",
    across: "metric", up: "metric", columns: measures.map(getLabel), rows: measures.map(getLabel), low: "r = −1, opposite", none: "r = 0, unrelated", high: "r = 1, the same",
    cell: (r, c) => { const pair = pairs[r][c], disagreements = (pair.against.get("ab") ?? 0) + (pair.against.get("ba") ?? 0); return { text: pair.r === null ? "–" : formatFixed(pair.r), shade: pair.r ?? 0, description: r === c ? `${getLabel(measures[r])} and itself` : `${getLabel(measures[c])} and ${getLabel(measures[r])}: r = ${formatFixed(pair.r)}; they prefer different systems in ${formatPlural(disagreements, "segment")}`, act: r === c ? undefined : () => store.set({ view: "agreement", across: measures[c].id, up: measures[r].id }) }; },
    table: { columns: [{ title: "Metrics" }, { title: "r", number: true }, { title: [renderBadge(/** @type {any} */ (b)), " preferred by the first metric only"] }, { title: "preferred by the second metric only" }],
      rows: pairsOfMeasures.map(([c, r]) => [`${getLabel(measures[c])} and ${getLabel(measures[r])}`, renderNumber(pairs[r][c].r, formatFixed(pairs[r][c].r)), linkDisagreements(c, r, "ba"), linkDisagreements(c, r, "ab")]) },
  });
}
