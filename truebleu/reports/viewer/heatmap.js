// Tables of numbers as colours: systems by domain or document, and how far metrics agree.
import {badge, count, el, exact, fixed, plural, signed, svg} from "./dom.js";
import {showFiltered} from "./selection.js";
import {byDocument, byLabel} from "./bins.js";
import {correlation, tally} from "./agreement.js";
import {fitted, hundredth, link} from "./svg_charts.js";
import {plot} from "./axes.js";

/** @typedef {import("./selection.js").Context} Context */
/** @typedef {{text: string, shade: number, told: string, act?: () => void, faint?: boolean}} Cell  its shade is from −1 to 1 */

const ROWS_OF_HEAT = 30, FAINT = 100;
/** A colour of five for a shade. @param {number} shade */
const shadeClass = shade => Math.abs(shade) < 0.05 || Number.isNaN(shade) ? "cell" : `cell ${shade > 0 ? "better" : "worse"} cell-${Math.min(4, Math.ceil(4 * Math.abs(shade)))}`;

/**
 * Cells in rows and columns, each with its number and a colour.
 * @param {{title: string, summary: import("./dom.js").Children, across: string, up: string, columns: string[], rows: string[], cell: (row: number, column: number) => Cell, low: string, none: string, high: string, table: {columns: import("./dom.js").Column[], rows: any[]}, after?: any}} what
 */
function heat({ title, summary, across, up, columns, rows, cell, low, none, high, table, after }) {
  const cells = rows.map((_, r) => columns.map((__, c) => cell(r, c)));
  return plot({
    title, summary, after, height: () => 26 * rows.length,
    across: { title: across, low: -0.5, high: columns.length - 0.5, at: columns.map((_, k) => k), write: k => columns[k], bare: true }, up: { title: up, low: rows.length - 0.5, high: -0.5, at: rows.map((_, k) => k), write: k => rows[k], bare: true },
    legend: [{ text: low, mark: "bar", class: "cell worse cell-4" }, { text: none, mark: "bar", class: "cell" }, { text: high, mark: "bar", class: "cell better cell-4" }],
    layers: frame => cells.flatMap((line, r) => line.map((one, c) => {
      const [x, y] = [frame.x(c - 0.5), frame.y(r - 0.5)], [w, h] = [frame.x(c + 0.5) - x, frame.y(r + 0.5) - y];
      return [svg("rect", { class: `${shadeClass(one.shade)}${one.faint ? " few" : ""}`, x: hundredth(x + 1), y: hundredth(y + 1), width: hundredth(w - 2), height: hundredth(h - 2), rx: 2 }), svg("text", { class: one.faint ? "tick" : "name", x: hundredth(x + w / 2), y: hundredth(y + h / 2 + 4), "text-anchor": "middle" }, fitted(one.text, w))];
    })),
    places: frame => cells.flatMap((line, r) => line.map((one, c) => ({ x: frame.x(c - 0.5), y: frame.y(r - 0.5), width: frame.x(c + 0.5) - frame.x(c - 0.5), height: frame.y(r + 0.5) - frame.y(r - 0.5), told: one.told, act: one.act }))),
    columns: table.columns, rows: table.rows,
  });
}

/** What systems can be looked at by: documents, and each kind of label. @param {Context} context */
export const groupsOf = ({ data }) => ({ ...byLabel(data), ...byDocument(data) });

/** Systems by groups of segments: the score of each, coloured by how much better than the baseline it is. @param {Context} context @param {string} id */
export function groupsPicture(context, id) {
  const { data, store, current } = context, { a, metric } = current, { systems } = data, { title, make } = groupsOf(context)[id];
  const all = current.once(`heat ${id} ${current.id}`, () => make().sort((x, y) => y.segments.length - x.segments.length).slice(0, ROWS_OF_HEAT).map(g => ({ g, values: systems.map(s => current.corpus(s, g.segments)) }))), total = make().length;
  const sign = metric.higher ? 1 : -1, delta = (/** @type {typeof all[number]} */ row, /** @type {number} */ s) => sign * (row.values[s] - row.values[a.index]);
  // Small groups are far off by chance: they do not set the scale if there are others.
  const sure = all.filter(r => r.g.segments.length >= FAINT), most = Math.max(1e-9, ...(sure.length ? sure : all).flatMap(r => systems.map((_, s) => Math.abs(delta(r, s))).filter(Number.isFinite)));
  const wins = systems.map((_, s) => all.filter(r => r.values.every((v, k) => k === s || sign * (r.values[s] - v) > 0)).length), best = wins.indexOf(Math.max(...wins)), few = all.length - sure.length;
  return heat({
    title: `${metric.name} of systems by ${title}.`, summary: [systems.length > 1 ? `${systems[best].letter} is best in ${wins[best]} of ${all.length}. ` : "", total > all.length ? `The largest ${all.length} of ${count(total)}. ` : "", few ? `Of fewer than ${FAINT} segments ${plural(few, "group")}, drawn faintly: ${few === 1 ? "its" : "their"} scores are rough.` : ""],
    across: "system", up: title, columns: systems.map(s => `${s.letter} ${s.name}`), rows: all.map(r => `${r.g.label} (${count(r.g.segments.length)})`),
    low: `worse than ${a.letter} (${fixed(most, 1)} points)`, none: `as ${a.letter}`, high: `better than ${a.letter}`,
    cell: (r, s) => { const row = all[r], v = row.values[s]; return { text: fixed(v, 1), shade: Math.max(-1, Math.min(1, delta(row, s) / most)), faint: row.g.segments.length < FAINT, told: `${row.g.label}, ${plural(row.g.segments.length, "segment")}: ${systems[s].letter} ${systems[s].name} ${fixed(v)}${s === a.index ? "" : `, Δ to ${a.letter} ${signed(v - row.values[a.index])}`}`, act: () => showFiltered(store, { ...row.g.filter, ...(s === a.index ? {} : { b: systems[s].name }) }) }; },
    table: { columns: [{ title }, { title: "n", number: true }, ...systems.map(s => ({ title: badge(s), number: true, hint: s.name }))], rows: all.map(row => [link(context, el("bdi", {}, row.g.label), row.g.filter), count(row.g.segments.length), ...row.values.map(v => exact(v))]) },
  });
}

/** How far metrics agree on which segments are better. @param {Context} context */
export function metricsPicture(context) {
  const { data, store, current } = context, { a, b, measures } = current, values = measures.map(m => current.better(m));
  const pairs = current.once(`metrics ${a.index} ${b?.index} ${current.id}`, () => measures.map((_, r) => measures.map((__, c) => ({ r: r === c ? 1 : correlation([values[c], values[r]]), against: tally([values[c], values[r]]) }))));
  const named = (/** @type {typeof measures[number]} */ m) => m.label, two = measures.flatMap((_, r) => measures.slice(0, r).map((__, c) => /** @type {const} */ ([c, r]))), least = [...two].sort(([c, r], [d, s]) => (pairs[r][c].r ?? 1) - (pairs[s][d].r ?? 1))[0];
  const apart = (/** @type {number} */ c, /** @type {number} */ r, /** @type {string} */ which) => { const n = pairs[r][c].against.get(which) ?? 0; return n ? link(context, plural(n, "segment"), { split: `${measures[c].id}:${measures[r].id}:${which}` }, "Show them") : "no segment"; };
  return heat({
    title: "How far metrics agree, segment by segment.", summary: least ? `The least alike are ${named(measures[least[0]])} and ${named(measures[least[1]])} (r = ${fixed(pairs[least[1]][least[0]].r)}): ${named(measures[least[0]])} prefers ${b?.letter} and ${named(measures[least[1]])} ${a.letter} in ${count(pairs[least[1]][least[0]].against.get("ba") ?? 0)} of ${plural(data.n, "segment")}. Each number is the correlation (Pearson) of the differences between ${a.letter} and ${b?.letter}, better upwards.` : "",
    across: "metric", up: "metric", columns: measures.map(named), rows: measures.map(named), low: "r = −1, opposite", none: "r = 0, unrelated", high: "r = 1, the same",
    cell: (r, c) => { const one = pairs[r][c], against = (one.against.get("ab") ?? 0) + (one.against.get("ba") ?? 0); return { text: one.r === null ? "–" : fixed(one.r), shade: one.r ?? 0, told: r === c ? `${named(measures[r])} with itself` : `${named(measures[c])} and ${named(measures[r])}: r = ${fixed(one.r)}; they prefer different systems in ${plural(against, "segment")}`, act: r === c ? undefined : () => store.set({ view: "agreement", across: measures[c].id, up: measures[r].id }) }; },
    table: { columns: [{ title: "Metrics" }, { title: "r", number: true }, { title: [badge(/** @type {any} */ (b)), " up by the first, down by the second"] }, { title: "the other way round" }],
      rows: two.map(([c, r]) => [`${named(measures[c])} and ${named(measures[r])}`, exact(pairs[r][c].r, fixed(pairs[r][c].r)), apart(c, r, "ba"), apart(c, r, "ab")]) },
  });
}
