// Document by document: its scores, and Δ of each of its segments in the order of the text.
import {badge, button, count, el, exact, moreRows, plural, signed, table} from "./dom.js";
import {byDocument, measured, saidFaintly} from "./bins.js";
import {showFiltered} from "./selection.js";
import {link, strip} from "./svg_charts.js";

const DOCUMENT_ROWS = 100;

/** @type {import("./main.js").View} */
export const documentsView = {
  id: "documents", title: "Documents", key: "d", state: { by_doc: "", docs: DOCUMENT_ROWS },
  missing: data => data.documents ? null : "This file knows of no documents. With --docs FILE, which names the document of each segment, the report shows scores document by document.",
  render(container, context) {
    const { data, store, current } = context, { a, b, metric } = current, systems = current.shown;
    const groups = current.once("documents", () => byDocument(data).document.make());
    const rows = current.once(`document scores ${a.index} ${b?.index} ${current.id}`, () => groups.map((g, place) => { const values = systems.map(s => current.corpus(s, g.segments)); return { g, place, values, delta: b ? values[1] - values[0] : NaN }; }));
    const sign = metric.higher ? 1 : -1;
    /** @type {Record<string, (r: typeof rows[number]) => number>} */
    const orders = { name: r => -r.place, n: r => r.g.segments.length, a: r => sign * r.values[0], b: r => sign * r.values[1], delta: r => r.delta, abs: r => b ? Math.abs(r.delta) : -sign * r.values[0] };
    const by = String(store.get("by_doc")), key = by.replace("-", "") in orders ? by.replace("-", "") : "abs", down = by[0] !== "-";
    const sorted = [...rows].sort((x, y) => (down ? 1 : -1) * (orders[key](y) - orders[key](x)) || x.place - y.place), shown = sorted.slice(0, store.get("docs"));
    const known = measured(context, "document", shown.map(r => r.g)), column = current.column(b ? "delta" : "scoreA");
    let most = 0;
    for (const v of column) most = Math.max(most, Math.abs(v) || 0);
    const head = (/** @type {string} */ id) => ({ sort: () => store.set({ by_doc: key === id && down ? `-${id}` : id }, { replace: true }), sorted: key === id ? /** @type {"ascending"} */ (down ? "descending" : "ascending") : null });
    const better = (/** @type {number} */ side) => rows.filter(r => Math.sign(r.delta) === side * sign).length;
    container.append(el("h1", {}, "Documents"), el("p.facts", {}, [plural(groups.length, "document"), ...(b ? [`: ${b.letter} is better in ${count(better(1))}, ${a.letter} in ${count(better(-1))}`] : []), ". ",
      b ? [`Each bar is a segment, in the order of the text: up where ${b.letter} has the higher score, down where ${a.letter} has. `, key === "abs" ? "Those with the largest difference come first." : button("Largest difference first", () => store.set({ by_doc: "" }, { replace: true }), { class: "quiet small" })] : "Each bar is the score of a segment, in the order of the text."]),
      table("Documents", [{ title: "Document", ...head("name") }, { title: "Segments", number: true, ...head("n") }, ...systems.map((s, k) => ({ title: [badge(s), ` ${metric.name}`], number: true, hint: s.name, ...head(k ? "b" : "a") })),
        ...(b ? [{ title: "Δ", number: true, hint: `${b.letter} less ${a.letter}`, ...head("delta") }] : []), { title: `${Math.round(100 * current.level)}% interval${b ? " of Δ" : ""}`, number: true }, { title: b ? "Δ of each segment" : "Score of each segment" }],
      shown.map(({ g, values, delta }) => {
        const n = g.segments.length, of = known.get(g.id), own = Array.from(g.segments, i => column[i]), good = (delta > 0) === metric.higher;
        const told = b ? `${plural(n, "segment")}: ${b.letter} higher in ${own.filter(v => v > 0).length}, ${a.letter} in ${own.filter(v => v < 0).length}` : `scores of ${plural(n, "segment")}`;
        return [link(context, el("bdi", {}, g.label), g.filter, "Open it in the order of the text"), count(n), ...values.map(v => exact(v)), ...(b ? [el("span", { class: delta ? (good ? "better" : "worse") : "soft" }, exact(delta, signed(delta)))] : []), saidFaintly(of, b ? "delta" : "a", n),
          strip(own, { most, higher: metric.higher, signs: !!b, label: told, act: place => showFiltered(store, { ...g.filter, seg: g.segments[place] + 1 }) })];
      }), { quiet: true }),
      shown.length < sorted.length ? el("p", {}, `The first ${count(shown.length)} of ${count(sorted.length)}. `, moreRows(store, "docs", sorted.length)) : "");
  },
};
