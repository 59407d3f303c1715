// Agreement view: compares the per-segment differences of two metrics.
import {renderBadge, formatCount, el, formatFixed, createMoreButton, formatPlural, createSelect, renderTable, createButton, showInvisible} from "./dom.js";
import {showFiltered, getPreferredSide} from "./selection.js";
import {renderFigure, linkSegments, MAX_POINTS, getAxisLimit, drawQuadrants, getFormats} from "./svg_charts.js";

/** @typedef {import("./selection.js").Context} Context */
/** @typedef {import("./selection.js").Measure} Measured */
/** @typedef {import("./report_data.js").System} System */

const DISAGREEMENT_ROWS = 20;

/** @type {import("./main.js").View} */
export const agreementView = {
  id: "agreement", title: "Agreement", key: "a", state: { across: "", up: "", apart: DISAGREEMENT_ROWS },
  isEmpty: ({ systems, settings, manifest }) => systems.length < 2 || settings.length + (manifest.columns ?? []).length < 2,
  render(container, context) {
    const { data, store, current } = context, { a, measures } = current, b = /** @type {System} */ (current.b), [first, second] = selectMeasures(context);
    const set = (/** @type {string} */ x, /** @type {string} */ y) => store.set({ across: x, up: y, apart: DISAGREEMENT_ROWS }, { replace: true });
    const options = measures.map(m => /** @type {const} */ ([m.id, m.headline ? m.label : `${m.label} (also)`]));
    const choose = (/** @type {string} */ name, /** @type {Measured} */ selected, /** @type {(id: string) => void} */ act) => el("label", {}, el("span.soft", {}, `${name} `), createSelect(name, options, selected.id, act));
    const values = [first, second].map(m => current.getAdvantages(m)), n = data.n;
    const { counts, found: disagreements, ends, beyond, r } = current.cached(`agreement ${first.id} ${second.id} ${a.index} ${b.index} ${current.id}`, () => {
      const ends = values.map(getAxisLimit);
      return { counts: countPreferences(values), found: findDisagreements(values), ends, beyond: values.reduce((sum, column, k) => sum + column.filter(v => Math.abs(v) > ends[k]).length, 0), r: pearsonCorrelation(values) };
    });
    const quadrant = (/** @type {string} */ which) => counts.get(which) ?? 0, shown = disagreements.subarray(0, store.get("apart")), backwards = [first, second].filter(m => !m.higherIsBetter).map(m => m.label);
    const filter = (/** @type {string} */ which) => `${first.id}:${second.id}:${which}`;
    /** Return the number of segments, with a link to them. @param {string} which */
    const linkQuadrant = which => quadrant(which) ? linkSegments(context, formatPlural(quadrant(which), "segment"), { split: filter(which) }, "Show them") : "no segment";
    const title = `Δ ${first.label} and Δ ${second.label}`;
    const decided = quadrant("bb") + quadrant("aa") + quadrant("ab") + quadrant("ba");
    container.append(el("h1", {}, "Agreement"), el("p.facts", {}, "Do two metrics prefer the same system? Each point is a segment, placed by its score differences."),
      el("div.tabs", {}, choose("Across", first, id => set(id, id === second.id ? first.id : second.id)), choose("Up", second, id => set(id === first.id ? second.id : first.id, id)), createButton("⇄", () => set(second.id, first.id), { class: "quiet", "aria-label": "Swap the two metrics", title: "Swap the two metrics" })),
      renderFigure({ title, summary: ["Both prefer ", renderBadge(b), " in ", linkQuadrant("bb"), ", both prefer ", renderBadge(a), " in ", linkQuadrant("aa"), `; ${first.label} prefers `, renderBadge(a), ` and ${second.label} `, renderBadge(b), " in ", linkQuadrant("ab"), ", vice versa ", linkQuadrant("ba"), `; ${n === decided ? "none is a tie" : `${formatPlural(n - decided, "segment")} ${n - decided === 1 ? "is a tie" : "are ties"} by at least one`}. `, r === null ? "" : `Correlation of the differences (Pearson): ${formatFixed(r)}.`],
        draw: width => drawQuadrants(values, { ends, titles: [first, second].map(m => `Δ ${m.label} ${m.higherIsBetter ? "↑" : "↓"}, ${b.letter} − ${a.letter}`), signs: [first, second].map(m => m.higherIsBetter ? 1 : -1), marked: shown, formatTicks: [first, second].map(m => getFormats(m).tick), label: `${title} of ${formatPlural(n, "segment")}. The table below shows the counts; the list shows the largest disagreements.`,
          corners: [[`${first.label}: ${a.letter}, ${second.label}: ${b.letter}`, `they disagree: ${formatCount(quadrant("ab"))}`], [`both prefer ${b.letter}`, formatCount(quadrant("bb"))], [`both prefer ${a.letter}`, formatCount(quadrant("aa"))], [`${first.label}: ${b.letter}, ${second.label}: ${a.letter}`, `they disagree: ${formatCount(quadrant("ba"))}`]],
          open: i => showFiltered(store, { split: filter(getPreferredSide(values[0][i]) + getPreferredSide(values[1][i])), seg: i + 1 }) }, width),
        columns: [{ title: "Segments" }, ...["a", "=", "b"].map(x => ({ title: preferenceLabel(first, x, a, b), number: true }))],
        rows: ["b", "=", "a"].map(y => [preferenceLabel(second, y, a, b), ...["a", "=", "b"].map(x => quadrant(x + y) ? linkQuadrant(x + y) : "0")]),
        after: el("p.soft.note", {}, "Click to open the nearest segment. Segments with a ring are in the list of disagreements.", n > MAX_POINTS ? " Darker squares contain more segments." : "", backwards.length ? ` The axis of ${backwards.join(" and ")} is reversed because lower is better.` : "", beyond ? ` ${formatPlural(beyond, "difference")} beyond the edge ${beyond === 1 ? "is" : "are"} drawn at the edge.` : "") }),
      el("section", {}, el("h2", {}, "Largest disagreements"), disagreements.length ? [el("p.soft.note", {}, `${shown.length < disagreements.length ? `The first ${shown.length} of ` : ""}${formatPlural(disagreements.length, "segment")}, ranked by the smaller of the two differences, in units of the metric's root mean square. The letter after a difference names the preferred system.`), renderList()] : el("p.empty", {}, "The metrics never prefer opposite systems."),
        createMoreButton(store, "apart", disagreements.length)));

    function renderList() {
      const role = data.roles.find(name => name.startsWith("reference")) ?? data.roles[0], texts = !data.isRedacted;
      const delta = (/** @type {number} */ k, /** @type {number} */ i) => { const m = [first, second][k], x = (m.higherIsBetter ? 1 : -1) * values[k][i]; return [getFormats(m).render(x, getFormats(m).delta(x, m.digits)), " ", renderBadge(values[k][i] > 0 ? b : a)]; };
      return renderTable("Largest disagreements", [{ title: "Segment" }, ...[first, second].map(m => ({ title: `Δ ${m.label} ${m.higherIsBetter ? "↑" : "↓"}`, number: true, hint: `${b.letter} − ${a.letter}; ${m.higherIsBetter ? "higher" : "lower"} is better. The letter names the system that ${m.label} prefers` })), ...(texts ? [{ title: data.getTitle(role) }] : [])],
        Array.from(shown, i => {
          const which = values.map(column => getPreferredSide(column[i])).join("");
          return [linkSegments(context, formatCount(i + 1), { split: filter(which), seg: i + 1 }, "Open the segment"), delta(0, i), delta(1, i), ...(texts ? [el("div.apart-text", { dir: data.getDirection(role), title: data.getText(role, i) }, showInvisible((data.getText(role, i) ?? "").slice(0, 240)))] : [])];
        }), { quiet: true });
    }
  },
};

/** Describe a filter by the preferences of two measures. @param {{by: Measured[], which: string}} split @param {System} a @param {System | null} b */
export function describeSplit({ by: [first, second], which: sides }, a, b) {
  const name = (/** @type {string} */ w) => w === "b" ? b?.letter : w === "a" ? a.letter : "neither";
  return sides[0] === sides[1] ? `${first.label} and ${second.label} prefer ${name(sides[0])}` : `${first.label} prefers ${name(sides[0])}, ${second.label} ${name(sides[1])}`;
}

/** @param {Measured} preferringMeasure @param {string} which @param {System} a @param {System} b */
const preferenceLabel = (preferringMeasure, which, a, b) => which === "=" ? `${preferringMeasure.label}: a tie` : [`${preferringMeasure.label} prefers `, renderBadge(which === "b" ? b : a)];

/** Return the two selected measures (default: the current metric and the next metric). @param {Context} context */
function selectMeasures({ store, current }) {
  const all = current.measures, findMeasure = (/** @type {string} */ key) => all.find(m => m.id === store.get(key));
  const first = findMeasure("across") ?? all.find(m => m.id === current.setting.id && m !== findMeasure("up")) ?? /** @type {Measured} */ (all.find(m => m !== findMeasure("up"))), second = findMeasure("up");
  return [first, second && second !== first ? second : /** @type {Measured} */ (all.find(m => m !== first))];
}

/** Count the segments per pair of preferences: "ab" if the first measure prefers A and the second prefers B. @param {Float64Array[]} values */
export function countPreferences([x, y]) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (let i = 0; i < x.length; i++) { const which = getPreferredSide(x[i]) + getPreferredSide(y[i]); counts.set(which, (counts.get(which) ?? 0) + 1); }
  return counts;
}

/** Return the segments for which two measures prefer opposite systems, the largest differences first. @param {Float64Array[]} values @returns {Uint32Array} */
export function findDisagreements([x, y]) {
  const getRootMeanSquare = (/** @type {Float64Array} */ column) => Math.sqrt(column.reduce((sum, v) => sum + v * v, 0) / column.length) || 1, [xScale, yScale] = [getRootMeanSquare(x), getRootMeanSquare(y)];
  const distances = new Float64Array(x.length), indices = [];
  for (let i = 0; i < x.length; i++) if (x[i] * y[i] < 0) { distances[i] = Math.min(Math.abs(x[i]) / xScale, Math.abs(y[i]) / yScale); indices.push(i); }
  return Uint32Array.from(indices).sort((i, j) => distances[j] - distances[i] || i - j);
}

/** Return Pearson's correlation, or null if one column is constant. @param {Float64Array[]} values */
export function pearsonCorrelation(values) {
  const [x, y] = values.map(column => { const mean = column.reduce((sum, v) => sum + v, 0) / column.length; return column.map(v => v - mean); });
  const multiply = (/** @type {Float64Array} */ p, /** @type {Float64Array} */ q) => p.reduce((sum, v, i) => sum + v * q[i], 0), norm = Math.sqrt(multiply(x, x) * multiply(y, y));
  return norm ? multiply(x, y) / norm : null;
}
