// Terms view: how often each system used the terms of a glossary, and where it missed them.
import {renderBadge, formatCount, el, renderNumber, formatFixed, createMoreButton, formatPlural, renderTable} from "./dom.js";
import {linkSegments} from "./svg_charts.js";

const TERM_ROWS = 100;

/** @type {import("./main.js").View} */
export const termsView = {
  id: "terms", title: "Terms", key: "t", state: { by_term: "", term_rows: TERM_ROWS },
  isEmpty: data => !data.glossary,
  render(container, context) {
    const { data, store, current } = context, { a, b } = current, glossary = /** @type {NonNullable<typeof data.glossary>} */ (data.glossary), { occurrences } = glossary;
    const share = (/** @type {number} */ used, /** @type {number} */ of) => of ? renderNumber(100 * used / of, `${formatFixed(100 * used / of, 1)}%`) : "–";
    // Filters apply to the two compared systems, so another system replaces the second one.
    const getSystemFilter = (/** @type {import("./report_data.js").System} */ s, /** @type {string} */ condition) => s === a ? { terms: `${condition}-a` } : s === b ? { terms: `${condition}-b` } : { terms: `${condition}-b`, b: s.name };
    const linkCount = (/** @type {number} */ n, /** @type {any} */ state, /** @type {string} */ title) => n ? linkSegments(context, formatCount(n), state, title) : "0";
    const countMissed = (/** @type {import("./report_data.js").System} */ s) => glossary.missed.reduce((sum, missed) => sum + missed[s.index].length, 0);
    container.append(el("h1", {}, "Terms"), el("p.facts", {}, `${formatPlural(glossary.terms.length, "term")} of `, el("bdi", {}, glossary.name), occurrences ? `: found ${formatCount(occurrences)} times in the source of ${formatPlural(glossary.segments, "segment")}, counting each term once per segment.` : ": none occurs in the source.",
      " Terms match whole words. Case is ignored, except for terms in capitals. If terms overlap, the longest counts."));
    if (!occurrences) return;
    container.append(el("section", {}, el("h2", {}, "By system"), renderTable("Terms by system", [{ title: "System" }, { title: "used", number: true }, { title: "missed", number: true }, { title: "share used", number: true }],
      data.systems.map(s => [renderBadge(s, true), formatCount(glossary.used[s.name]), linkCount(countMissed(s), getSystemFilter(s, "missed"), `Segments in which ${s.letter} missed a term`), share(glossary.used[s.name], occurrences)]), { quiet: true })));
    if (b) container.append(el("p", {}, linkSegments(context, `Segments in which only one of ${a.letter} and ${b.letter} used a term`, { terms: "differ" })));
    /** @type {[string, import("./dom.js").Children, (k: number) => number][]} */
    const numbers = [["n", "segments", k => glossary.terms[k].segments], ...data.systems.map(s => /** @type {[string, any, (k: number) => number]} */ ([`m${s.index}`, [renderBadge(s), " missed"], k => glossary.missed[k][s.index].length]))];
    const sort = String(store.get("by_term")), sortColumn = numbers.find(([id]) => id === sort.replace("-", "")), isDescending = sort[0] !== "-", getSortValue = sortColumn ? sortColumn[2] : (/** @type {number} */ k) => Math.max(...glossary.missed[k].map(missed => missed.length));
    const orderedTerms = glossary.terms.map((_, k) => k).filter(k => glossary.terms[k].segments).sort((x, y) => (isDescending ? 1 : -1) * (getSortValue(y) - getSortValue(x)) || x - y), rows = orderedTerms.slice(0, store.get("term_rows")), absentCount = glossary.terms.length - orderedTerms.length;
    const text = (/** @type {string | null} */ term) => term === null ? el("span.soft", {}, "(not in this report)") : el("bdi", {}, term);
    container.append(el("section", {}, el("h2", {}, "By term"), renderTable("Terms", [{ title: "Term" }, { title: "Target" }, ...numbers.map(([id, title]) => ({ title, number: true, sort: () => store.set({ by_term: sortColumn?.[0] === id && isDescending ? `-${id}` : id }, { replace: true }), sorted: sortColumn?.[0] === id ? /** @type {"ascending"} */ (isDescending ? "descending" : "ascending") : null }))],
      rows.map(k => {
        const { source, targets, segments } = glossary.terms[k], termFilter = source === null ? null : { term: source };
        return [text(source), (targets ?? [null]).map((target, n) => [n ? " or " : "", text(target)]), termFilter ? linkCount(segments, { terms: "in", ...termFilter }, "Show the segments") : formatCount(segments), ...data.systems.map(s => { const n = glossary.missed[k][s.index].length; return termFilter ? linkCount(n, { ...getSystemFilter(s, "missed"), ...termFilter }, `Segments in which ${s.letter} missed this term`) : formatCount(n); })];
      }), { quiet: true }),
      rows.length < orderedTerms.length ? el("p", {}, `Showing the first ${formatCount(rows.length)} of ${formatCount(orderedTerms.length)}. `, createMoreButton(store, "term_rows", orderedTerms.length)) : null,
      absentCount ? el("p.soft", {}, `${formatPlural(absentCount, "term")} ${absentCount === 1 ? "does" : "do"} not occur in the source.`) : null));
  },
};
