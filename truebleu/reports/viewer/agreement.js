// Where two metrics agree and where they do not: the differences of all segments by the one and by the other.
import {badge, count, el, exact, fixed, moreRows, plural, select, signed, table, button, visible} from "./dom.js";
import {showFiltered, side} from "./selection.js";
import {figure, link, POINTS, reach, scatter} from "./svg_charts.js";

/** @typedef {import("./selection.js").Context} Context */
/** @typedef {import("./selection.js").Measured} Measured */
/** @typedef {import("./report_data.js").System} System */

const APART_ROWS = 20;

/** @type {import("./main.js").View} */
export const agreementView = {
  id: "agreement", title: "Agreement", key: "a", state: { across: "", up: "", apart: APART_ROWS },
  missing: ({ systems, settings, manifest }) => systems.length < 2 ? "The view compares two systems by two metrics, and this file has one system."
    : settings.length + (manifest.columns ?? []).length < 2 ? "The view needs two metrics, and this file has one. Name more with -m, or give scores of another with --scores NAME=FILE." : null,
  render(container, context) {
    const { data, store, current } = context, { a, measures } = current, b = /** @type {System} */ (current.b), [first, second] = pairOfMeasures(context);
    const set = (/** @type {string} */ x, /** @type {string} */ y) => store.set({ across: x, up: y, apart: APART_ROWS }, { replace: true });
    const options = measures.map(m => /** @type {const} */ ([m.id, m.headline ? m.label : `${m.label} (also)`]));
    const choose = (/** @type {string} */ name, /** @type {Measured} */ mine, /** @type {(id: string) => void} */ act) => el("label", {}, el("span.soft", {}, `${name} `), select(name, options, mine.id, act));
    const values = [first, second].map(m => current.better(m)), n = data.n;
    const { counts, found, ends, beyond, r } = current.once(`agreement ${first.id} ${second.id} ${a.index} ${b.index} ${current.id}`, () => {
      const ends = values.map(reach);
      return { counts: tally(values), found: opposite(values), ends, beyond: values.reduce((sum, column, k) => sum + column.filter(v => Math.abs(v) > ends[k]).length, 0), r: correlation(values) };
    });
    const quadrant = (/** @type {string} */ which) => counts.get(which) ?? 0, shown = found.subarray(0, store.get("apart")), backwards = [first, second].filter(m => !m.higher).map(m => m.label);
    const filter = (/** @type {string} */ which) => `${first.id}:${second.id}:${which}`;
    /** How many segments, and a link to them. @param {string} which */
    const segments = which => quadrant(which) ? link(context, plural(quadrant(which), "segment"), { split: filter(which) }, "Show them") : "no segment";
    const title = `Δ ${first.label} and Δ ${second.label}`;
    const decided = quadrant("bb") + quadrant("aa") + quadrant("ab") + quadrant("ba");
    container.append(el("h1", {}, "Agreement"), el("p.facts", {}, "Do two metrics prefer the same system? Each segment is placed by its difference by the one and by the other."),
      el("div.tabs", {}, choose("Across", first, id => set(id, id === second.id ? first.id : second.id)), choose("Up", second, id => set(id === first.id ? second.id : first.id, id)), button("⇄", () => set(second.id, first.id), { class: "quiet", "aria-label": "Swap the two metrics", title: "Swap the two metrics" })),
      figure({ title, summary: ["Both prefer ", badge(b), " in ", segments("bb"), ", both prefer ", badge(a), " in ", segments("aa"), `; ${first.label} prefers `, badge(a), ` and ${second.label} `, badge(b), " in ", segments("ab"), ", the other way round ", segments("ba"), `; ${n === decided ? "none is a tie" : `${plural(n - decided, "segment")} ${n - decided === 1 ? "is a tie" : "are ties"} by at least one`}. `, r === null ? "" : `Correlation of the differences (Pearson): ${fixed(r)}.`],
        draw: width => scatter(values, { ends, titles: [first, second].map(m => `Δ ${m.label} ${m.higher ? "↑" : "↓"}, ${b.letter} less ${a.letter}`), signs: [first, second].map(m => m.higher ? 1 : -1), marked: shown, label: `${title} of ${plural(n, "segment")}; the table below has the counts, and the list the segments that are farthest apart`,
          corners: [[`${first.label}: ${a.letter}, ${second.label}: ${b.letter}`, `they disagree: ${count(quadrant("ab"))}`], [`both prefer ${b.letter}`, count(quadrant("bb"))], [`both prefer ${a.letter}`, count(quadrant("aa"))], [`${first.label}: ${b.letter}, ${second.label}: ${a.letter}`, `they disagree: ${count(quadrant("ba"))}`]],
          open: i => showFiltered(store, { split: filter(side(values[0][i]) + side(values[1][i])), seg: i + 1 }) }, width),
        columns: [{ title: "Segments" }, ...["a", "=", "b"].map(x => ({ title: preferred(first, x, a, b), number: true }))],
        rows: ["b", "=", "a"].map(y => [preferred(second, y, a, b), ...["a", "=", "b"].map(x => quadrant(x + y) ? segments(x + y) : "0")]),
        after: el("p.soft.note", {}, "A click opens the segment that is nearest. Those with a ring are listed below.", n > POINTS ? " The stronger the colour of a square, the more segments it stands for." : "", backwards.length ? ` The axis of ${backwards.join(" and of ")} runs backwards, because lower is better.` : "", beyond ? ` ${plural(beyond, "difference")} beyond the edge ${beyond === 1 ? "is" : "are"} drawn at it.` : "") }),
      el("section", {}, el("h2", {}, "Where they disagree most"), found.length ? [el("p.soft.note", {}, `${shown.length < found.length ? `The first ${shown.length} of ` : ""}${plural(found.length, "segment")} by the smaller of the two differences, each in units of its metric's root mean square. Beside a difference, the system that the metric prefers.`), list()] : el("p.empty", {}, "They prefer opposite systems in no segment."),
        moreRows(store, "apart", found.length)));

    function list() {
      const role = data.roles.find(one => one.startsWith("reference")) ?? data.roles[0], texts = !data.redacted;
      const delta = (/** @type {number} */ k, /** @type {number} */ i) => { const m = [first, second][k], x = (m.higher ? 1 : -1) * values[k][i]; return [exact(x, signed(x, m.digits)), " ", badge(values[k][i] > 0 ? b : a)]; };
      return table("Where they disagree most", [{ title: "Segment" }, ...[first, second].map(m => ({ title: `Δ ${m.label} ${m.higher ? "↑" : "↓"}`, number: true, hint: `${b.letter} less ${a.letter}; ${m.higher ? "higher" : "lower"} is better. Beside it, the system that ${m.label} prefers` })), ...(texts ? [{ title: data.title(role) }] : [])],
        Array.from(shown, i => {
          const which = values.map(column => side(column[i])).join("");
          return [link(context, `Segment ${i + 1}`, { split: filter(which), seg: i + 1 }, "Open it"), delta(0, i), delta(1, i), ...(texts ? [el("span.preview.apart-text", { dir: data.direction(role) }, visible((data.text(role, i) ?? "").slice(0, 160)))] : [])];
        }), { quiet: true });
    }
  },
};

/** What a filter by two measures leaves, in words. @param {{by: Measured[], which: string}} split @param {System} a @param {System | null} b */
export function told({ by: [first, second], which }, a, b) {
  const name = (/** @type {string} */ w) => w === "b" ? b?.letter : w === "a" ? a.letter : "neither";
  return which[0] === which[1] ? `${first.label} and ${second.label} prefer ${name(which[0])}` : `${first.label} prefers ${name(which[0])}, ${second.label} ${name(which[1])}`;
}

/** @param {Measured} of @param {string} which @param {System} a @param {System} b */
const preferred = (of, which, a, b) => which === "=" ? `${of.label}: a tie` : [`${of.label} prefers `, badge(which === "b" ? b : a)];

/** The two measures that are chosen: at first the metric above, and the next one. @param {Context} context */
function pairOfMeasures({ store, current }) {
  const all = current.measures, of = (/** @type {string} */ key) => all.find(m => m.id === store.get(key));
  const first = of("across") ?? all.find(m => m.id === current.setting.id && m !== of("up")) ?? /** @type {Measured} */ (all.find(m => m !== of("up"))), second = of("up");
  return [first, second && second !== first ? second : /** @type {Measured} */ (all.find(m => m !== first))];
}

/** How many segments each pair of preferences has: "ab" where the first measure prefers A and the second B. @param {Float64Array[]} values */
export function tally([x, y]) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (let i = 0; i < x.length; i++) { const which = side(x[i]) + side(y[i]); counts.set(which, (counts.get(which) ?? 0) + 1); }
  return counts;
}

/** The segments of which two measures prefer opposite systems, those first where both are surest. @param {Float64Array[]} values @returns {Uint32Array} */
export function opposite([x, y]) {
  const size = (/** @type {Float64Array} */ column) => Math.sqrt(column.reduce((sum, v) => sum + v * v, 0) / column.length) || 1, [wide, tall] = [size(x), size(y)];
  const apart = new Float64Array(x.length), chosen = [];
  for (let i = 0; i < x.length; i++) if (x[i] * y[i] < 0) { apart[i] = Math.min(Math.abs(x[i]) / wide, Math.abs(y[i]) / tall); chosen.push(i); }
  return Uint32Array.from(chosen).sort((i, j) => apart[j] - apart[i] || i - j);
}

/** Pearson's; null if one of the two is constant. @param {Float64Array[]} values */
export function correlation(values) {
  const [x, y] = values.map(column => { const mean = column.reduce((sum, v) => sum + v, 0) / column.length; return column.map(v => v - mean); });
  const of = (/** @type {Float64Array} */ p, /** @type {Float64Array} */ q) => p.reduce((sum, v, i) => sum + v * q[i], 0), size = Math.sqrt(of(x, x) * of(y, y));
  return size ? of(x, y) / size : null;
}
