// Documents view: scores per document, with the Δ of each segment in document order.
import {renderBadge, createButton, formatCount, el, createMoreButton, formatPlural, renderTable, formatDelta, renderScore} from "./dom.js";
import {getDocumentGrouping, requestGroupIntervals, renderGroupInterval, SMALL_GROUPS} from "./bins.js";
import {showFiltered} from "./selection.js";
import {linkSegments, drawStrip} from "./svg_charts.js";

const DOCUMENT_ROWS = 100;

/** @type {import("./main.js").View} */
export const documentsView = {
  id: "documents", title: "Documents", key: "d", state: { by_doc: "", docs: DOCUMENT_ROWS },
  isEmpty: data => !data.documents,
  render(container, context) {
    const { data, store, current } = context, { a, b, metric } = current, systems = current.comparedSystems;
    const groups = current.cached("documents", () => getDocumentGrouping(data).document.make());
    const rows = current.cached(`document scores ${a.index} ${b?.index} ${current.id}`, () => groups.map((g, place) => { const values = systems.map(s => current.scoreCorpus(s, g.segments)); return { g, place, values, delta: b ? values[1] - values[0] : NaN }; }));
    const sign = metric.higherIsBetter ? 1 : -1;
    /** @type {Record<string, (r: typeof rows[number]) => number>} */
    const orders = { name: r => -r.place, n: r => r.g.segments.length, a: r => sign * r.values[0], b: r => sign * r.values[1], delta: r => r.delta, abs: r => b ? Math.abs(r.delta) : -sign * r.values[0] };
    const sortKey = String(store.get("by_doc")), key = sortKey.replace("-", "") in orders ? sortKey.replace("-", "") : "abs", down = sortKey[0] !== "-";
    const sorted = [...rows].sort((x, y) => (down ? 1 : -1) * (orders[key](y) - orders[key](x)) || x.place - y.place), shown = sorted.slice(0, store.get("docs"));
    const intervals = requestGroupIntervals(context, "document", shown.map(r => r.g)), column = current.getColumn(b ? "delta" : "scoreA");
    let maximum = 0;
    for (const v of column) maximum = Math.max(maximum, Math.abs(v) || 0);
    const getSortProps = (/** @type {string} */ id) => ({ sort: () => store.set({ by_doc: key === id && down ? `-${id}` : id }, { replace: true }), sorted: key === id ? /** @type {"ascending"} */ (down ? "descending" : "ascending") : null });
    const countWins = (/** @type {number} */ side) => rows.filter(r => Math.sign(r.delta) === side * sign).length;
    container.append(el("h1", {}, "Documents"), el("p.facts", {}, [formatPlural(groups.length, "document"), ...(b ? [`: ${b.letter} is better in ${formatCount(countWins(1))}, ${a.letter} in ${formatCount(countWins(-1))}`] : []), ". ",
      b ? [`Each bar is a segment, in document order: up if ${b.letter} has the higher score, down if ${a.letter} does. `, key === "abs" ? "Documents with the largest differences come first." : createButton("Largest difference first", () => store.set({ by_doc: "" }, { replace: true }), { class: "quiet small" })] : "Each bar is the score of a segment, in document order.", ` The intervals use bootstrap resamples of the document's segments. ${SMALL_GROUPS}`]),
      renderTable("Documents", [{ title: "Document", ...getSortProps("name") }, { title: "Segments", number: true, ...getSortProps("n") }, ...systems.map((s, k) => ({ title: [renderBadge(s), ` ${metric.name}`], number: true, hint: s.name, ...getSortProps(k ? "b" : "a") })),
        ...(b ? [{ title: "Δ", number: true, hint: `${b.letter} − ${a.letter}`, ...getSortProps("delta") }] : []), { title: `${Math.round(100 * current.level)}% interval${b ? " of Δ" : ""}`, number: true }, { title: b ? "Δ of each segment" : "Score of each segment" }],
      shown.map(({ g, values, delta }) => {
        const n = g.segments.length, spans = intervals.get(g.id), segmentValues = Array.from(g.segments, i => column[i]), good = (delta > 0) === metric.higherIsBetter;
        const description = b ? `${formatPlural(n, "segment")}: ${b.letter} scores higher in ${segmentValues.filter(v => v > 0).length}, ${a.letter} in ${segmentValues.filter(v => v < 0).length}` : `scores of ${formatPlural(n, "segment")}`;
        return [linkSegments(context, el("bdi", {}, g.label), g.filter, "Open the document"), formatCount(n), ...values.map(v => renderScore(v)), ...(b ? [el("span", { class: delta ? (good ? "better" : "worse") : "soft" }, renderScore(delta, formatDelta(delta)))] : []), renderGroupInterval(spans, b ? "delta" : "a", n),
          drawStrip(segmentValues, { maximum, higher: metric.higherIsBetter, signs: !!b, label: description, act: place => showFiltered(store, { ...g.filter, seg: g.segments[place] + 1 }) })];
      }), { quiet: true }),
      shown.length < sorted.length ? el("p", {}, `Showing the first ${formatCount(shown.length)} of ${formatCount(sorted.length)}. `, createMoreButton(store, "docs", sorted.length)) : "");
  },
};
