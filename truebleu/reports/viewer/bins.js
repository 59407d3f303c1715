// Segments in groups by length, score, word frequency, document and label: where one system is better.
import {badge, button, count, el, exact, fixed, interval, moreRows, plural, select, signed} from "./dom.js";
import {Background, FEW, FEWEST, quantile, showFiltered, TOO_FEW} from "./selection.js";
import {bars, figure, histogram, link, roundStep, short} from "./svg_charts.js";
import {countsEdits} from "./metric.js";
import {seenTimes} from "./segments.js";

/** @typedef {import("./selection.js").Context} Context */
/** @typedef {import("./selection.js").Spans | null} Measured */
/** @typedef {{id: string, label: string, segments: number[], filter: Record<string, any>}} Bucket */

const BUCKET_ROWS = 40;

// ---- intervals of many groups ----

/** @type {Background | null} */
let thread = null;
let turn = 0;

/**
 * Intervals of groups of segments: those that are known, and the rest as they come, of which the store tells.
 * @param {Context} context @param {string} key that names the groups @param {{id: string, segments: ArrayLike<number>}[]} groups @returns {Map<string, Measured>}
 */
export function measured({ store, current }, key, groups) {
  const { a, b } = current, mine = ++turn, view = store.get("view");
  const known = current.once(`groups ${key} ${a.index} ${b?.index} ${current.id}`, () => /** @type {Map<string, Measured>} */ (new Map()));
  // Not in the list's own thread, whose tasks end each other.
  const aside = /** @type {typeof current} */ (Object.create(current, { worker: { value: thread ??= new Background() } }));
  const told = () => { if (mine !== turn || store.get("view") !== view) return;
    // Not while someone draws a range: the picture would go from under the pointer.
    if (document.querySelector(".drawn")) setTimeout(told, 200); else store.tell(new Set(["groups"])); };
  (async () => {
    let last = Date.now(), news = false;
    for (const { id, segments } of groups) {
      if (known.has(id) || segments.length < FEWEST) continue;
      try {
        known.set(id, await aside.spans(segments));
      } catch {
        if (mine === turn) known.set(id, null);
      }
      if (mine !== turn) return;
      news = true;
      if (Date.now() - last > 500) { last = Date.now(); told(); return; } // What is drawn then goes on with the rest.
    }
    if (news) told();
  })();
  return known;
}

/** An interval, or why there is none. @param {Measured | undefined} of @param {"a" | "b" | "delta"} what @param {number} n */
export const said = (of, what, n) => n < FEWEST ? TOO_FEW : of ? interval(of[what][0], of[what][1], 2, what === "delta") : of === null ? "no interval" : "interval …";

/** The same in a table: grey where there are few segments. @param {Measured | undefined} of @param {"a" | "b" | "delta"} what @param {number} n */
export const saidFaintly = (of, what, n) => el("span", { class: n < FEWEST ? "soft" : n < FEW ? "faint" : "" }, said(of, what, n));

// ---- kinds of buckets ----

/** Groups by a column, whose edges are the lowest of each but the first. @param {Context} context @param {string} column @param {number[]} edges @returns {Bucket[]} */
function byColumn({ current }, column, edges) {
  const values = current.column(column), groups = /** @type {number[][]} */ (Array.from({ length: edges.length + 1 }, () => []));
  let whole = true;
  for (let i = 0; i < values.length; i++) {
    if (Number.isNaN(values[i])) continue;
    whole &&= Number.isInteger(values[i]);
    let k = 0;
    while (k < edges.length && values[i] >= edges[k]) k++;
    groups[k].push(i);
  }
  return groups.map((segments, k) => {
    const low = edges[k - 1], high = edges[k], last = whole && high !== undefined ? high - 1 : high;
    // Where all values are about the same there is one bucket, of all.
    const label = low === undefined && high === undefined ? "all" : low === undefined ? (whole ? `up to ${short(last)}` : `below ${short(high)}`) : high === undefined ? `${short(low)} and more` : last === low ? short(low) : whole ? `${short(low)} to ${short(last)}` : `${short(low)} to below ${short(high)}`;
    return { id: `${k}`, label, segments, filter: { range: `${column}:${low ?? ""}:${high === undefined ? "" : whole ? last : high - 1e-9}` } };
  }).filter(g => g.segments.length);
}

/** Edges in round steps, about eight of them, over most of what there is. @param {ArrayLike<number>} values */
function evenly(values) {
  const sorted = Float64Array.from(values).filter(v => !Number.isNaN(v)).sort(), low = sorted[0] ?? 0, high = sorted[Math.floor(sorted.length * 0.95)] ?? 1, step = Math.max(1, roundStep((high - low) / 7 || 1)), edges = [];
  for (let e = (Math.floor(low / step) + 1) * step; e <= high; e += step) edges.push(e);
  return edges;
}

/** @param {number} n @param {ArrayLike<number>} of @param {string[]} names @param {(k: number) => Record<string, any>} filter @returns {Bucket[]} */
function byIndex(n, of, names, filter) {
  const groups = /** @type {number[][]} */ (names.map(() => []));
  for (let i = 0; i < n; i++) groups[of[i]]?.push(i);
  return groups.map((segments, k) => ({ id: String(k), label: names[k], segments, filter: filter(k) })).filter(g => g.segments.length);
}

/** What buckets can be made by: a title, the column if it is one, and the buckets. @param {Context} context @returns {Record<string, {title: string, column?: string, make?: () => Bucket[]}>} */
export function bucketKinds(context) {
  const { data, current } = context, { a, b, metric } = current, unit = metric.kind === "chrF" ? "characters" : metric.kind === "CER" ? "characters" : countsEdits(metric.kind) ? "words" : "tokens", scale = metric.kind === "chrF" || metric.kind === "CER" ? 5 : 1;
  const tens = [10, 20, 30, 40, 50, 60, 70, 80, 90, ...(metric.higher ? [] : [100])];
  /** @type {ReturnType<typeof bucketKinds>} */
  const all = { length: { title: lengthTitle(data), column: "length", make: () => byColumn(context, "length", evenly(current.column("length"))) } };
  for (const s of current.shown) if (current.has(`surplus.${s.index}`)) all[`surplus.${s.index}`] = { title: `length of ${s.letter} less the reference's in ${unit}`, column: `surplus.${s.index}`, make: () => byColumn(context, `surplus.${s.index}`, [-10, -5, -2, 0, 1, 3, 6, 11].map(e => e > 0 ? (e - 1) * scale + 1 : e * scale)) };
  all.scoreA = { title: `segment score of ${a.letter}`, column: "scoreA", make: () => byColumn(context, "scoreA", tens) };
  if (b) all.scoreB = { title: `segment score of ${b.letter}`, column: "scoreB", make: () => byColumn(context, "scoreB", tens) };
  if (data.manifest.buckets?.frequency) all.frequency = { title: "word frequency" };
  return { ...all, ...byDocument(data), ...byLabel(data) };
}

/** @typedef {Record<string, {title: string, make: () => Bucket[]}>} Groupings */

/** @param {import("./report_data.js").Data} data @returns {Groupings} */
export const byDocument = ({ n, documents }) => documents ? { document: { title: "document", make: () => byIndex(n, documents.of, documents.names, k => ({ doc: k })) } } : {};

/** By each kind of label. @param {import("./report_data.js").Data} data @returns {Groupings} */
export const byLabel = ({ n, labels }) => Object.fromEntries(labels.map((label, i) => [`label${i}`, { title: label.name, make: () => byIndex(n, label.of, label.values, v => ({ label: `${i}:${v}` })) }]));

/** What a length is: one unit, whatever the metric. @param {import("./report_data.js").Data} data */
export const lengthTitle = data => `length of the ${data.references > 1 ? "first " : ""}reference in tokens (${data.manifest.buckets?.length?.tokenizer ?? "13a"})`;

/** @type {import("./main.js").View} */
export const bucketsView = {
  id: "buckets", title: "Buckets", key: "b", state: { bucket: "length", brush: "", buckets: BUCKET_ROWS },
  render(container, context) {
    const { store, current } = context, all = bucketKinds(context), id = store.get("bucket") in all ? store.get("bucket") : "length", { title, column, make } = all[id];
    container.append(el("h1", {}, "Buckets"), el("p.facts", {}, `${current.metric.name} of groups of segments, with ${Math.round(100 * current.level)}% intervals. A click shows a group's segments. Intervals: 1,000 bootstrap resamples of the group's segments; none of fewer than ${FEWEST}, grey of fewer than ${FEW}.`),
      el("div.tabs", {}, el("label", {}, el("span.soft", {}, "By "), select("Buckets by", Object.entries(all).map(([key, kind]) => /** @type {const} */ ([key, kind.title])), id, key => store.set({ bucket: key, brush: "", buckets: BUCKET_ROWS })))));
    const text = String(store.get("brush")), parts = text.split(":").map(Number), range = column && text && parts.length === 2 && parts.every(Number.isFinite) ? /** @type {[number, number]} */ (parts) : null;
    const values = column ? current.column(column) : new Float64Array(), segments = range ? Array.from(values.keys()).filter(i => values[i] >= range[0] && values[i] <= range[1]) : [], own = { id: `range ${text}`, segments };
    if (!make) { container.append(frequency(context)); return; }
    const groups = make(), shown = (id === "document" ? groups.sort((x, y) => y.segments.length - x.segments.length) : groups).slice(0, store.get("buckets"));
    const known = measured(context, id, range ? [own, ...shown] : shown);
    container.append(...grouped(context, id, title, shown, groups.length, known));
    if (column) container.append(ranged(context, title, column, range, segments, known.get(own.id)));
  },
};

/** @param {Context} context @param {string} id @param {string} title @param {Bucket[]} shown @param {number} all how many there are @param {Map<string, Measured>} known */
function grouped(context, id, title, shown, all, known) {
  const { store, current } = context, { b, metric } = current, systems = current.shown, name = metric.name;
  if (!all) return [el("p.empty", {}, "There is nothing to group by here.")];
  const rows = shown.map(g => {
    const n = g.segments.length, of = known.get(g.id), values = systems.map(s => current.corpus(s, g.segments)), delta = b ? values[1] - values[0] : NaN;
    const told = `${g.label}: ${plural(n, "segment")}${n < FEW ? ", few" : ""}; ${systems.map((s, k) => `${s.letter} ${fixed(values[k])} ${said(of, k ? "b" : "a", n)}`).join(", ")}${b ? `; Δ ${signed(delta)} ${said(of, "delta", n)}` : ""}`;
    return { g, n, of, values, delta, told };
  });
  const sure = rows.filter(r => r.n >= FEW), few = rows.length - sure.length, by = (/** @type {typeof rows[number]} */ r) => b ? Math.abs(r.delta) : metric.higher ? -r.values[0] : r.values[0], [most] = [...sure].sort((x, y) => by(y) - by(x));
  const summary = [most ? (b ? `Δ is largest in “${most.g.label}”: ${signed(most.delta)} ${said(most.of, "delta", most.n)}.` : `Worst in “${most.g.label}”: ${fixed(most.values[0])} ${said(most.of, "a", most.n)}.`) : "", few ? ` ${plural(few, "bucket")} ${few === 1 ? "has" : "have"} fewer than ${FEW} segments and ${few === 1 ? "is" : "are"} drawn faintly; below ${FEWEST} there is no interval.` : "",
    /^score/.test(id) ? ` Segments that were chosen by a system's own score look better or worse for it than they are: mind the other system's.` : ""];
  const ends = (/** @type {Measured | undefined} */ of, /** @type {"a" | "b"} */ what) => of ? { low: of[what][0], high: of[what][1] } : null;
  return [figure({ title: `${name} by ${title}.`, summary,
    draw: width => bars(rows.map(({ g, n, of, values, delta, told }) => ({ label: g.label, n: `n = ${count(n)}${n < FEW ? ", few" : ""}`, few: n < FEW, values, ends: systems.map((_, k) => ends(of, k ? "b" : "a")),
      delta: b ? `${signed(delta, 1)} ${n < FEWEST ? "" : of ? interval(of.delta[0], of.delta[1], 1) : "…"}`.trim() : undefined, told, act: () => showFiltered(store, g.filter) })), systems, `${name} by ${title}`, width),
    columns: [{ title: "Bucket" }, { title: "n", number: true }, ...systems.flatMap(s => [{ title: [badge(s), ` ${name}`], number: true }, { title: "interval", number: true }]), ...(b ? [{ title: "Δ", number: true }, { title: "interval of Δ", number: true }] : [])],
    rows: rows.map(({ g, n, of, values, delta }) => [link(context, el("bdi", {}, g.label), g.filter), `${count(n)}${n < FEW ? " (few)" : ""}`, ...systems.flatMap((_, k) => [exact(values[k]), saidFaintly(of, k ? "b" : "a", n)]), ...(b ? [exact(delta, signed(delta)), saidFaintly(of, "delta", n)] : [])]) }),
    shown.length < all ? el("p", {}, `The largest ${count(shown.length)} of ${count(all)}. `, moreRows(store, "buckets", all)) : ""];
}

/** A range of one's own. @param {Context} context @param {string} title @param {string} column @param {[number, number] | null} range @param {number[]} segments @param {Measured | undefined} of */
function ranged(context, title, column, range, segments, of) {
  const { store, current } = context, { a, b } = current, values = current.column(column), n = segments.length;
  const after = !range ? null : el("p", { role: "status" }, n ? [`${short(range[0])} to ${short(range[1])}: `, link(context, plural(n, "segment"), { range: `${column}:${range.join(":")}` }), ", ", badge(a), ` ${fixed(current.corpus(a, segments))}`, b ? [" ", badge(b), ` ${fixed(current.corpus(b, segments))}, Δ ${signed(current.corpus(b, segments) - current.corpus(a, segments))} ${said(of, "delta", n)}`] : ` ${said(of, "a", n)}`, ". ", button("Clear", () => store.set({ brush: "" }, { replace: true }), { class: "quiet small" })] : "No segment is in this range.");
  return figure({ title: `How ${title} is spread.`, summary: "Draw a range, or move its ends with the arrow keys, to see the scores of those segments.", after, draw: width => histogram(values, { label: title, range, changed: next => store.set({ brush: next ? next.join(":") : "" }, { replace: true }) }, width),
    columns: [{ title: "Range" }, { title: "n", number: true }], rows: byColumn(context, column, evenly(values)).map(g => [link(context, g.label, g.filter), count(g.segments.length)]) });
}

/** How many of the references' words, by how often they are seen, each system has. @param {Context} context */
function frequency(context) {
  const { data, current } = context, { b } = current, systems = current.shown, { frequency: known } = data.manifest.buckets, { edges } = known, place = el("div", {}, el("p.empty", {}, "Counting the words of all segments …"));
  current.wordCounts().then(counts => {
    const z = quantile(1 - (1 - current.level) / 2), { n } = data;
    const rows = edges.map((/** @type {number} */ _, /** @type {number} */ k) => {
      const names = [`reference_${k}`, ...systems.map(s => `matched_${s.index}_${k}`)], [r, ...m] = names.map(name => counts.column(name)), [words, ...sums] = names.map(name => counts.totals[counts.names.indexOf(name)]), shares = sums.map(x => x / words), segments = [];
      // A share of sums over segments: its error by linearization, as segments and not words are drawn.
      const error = [...m.map(() => 0), 0];
      let held = 0;
      for (let i = 0; i < n; i++) {
        if (r[i]) held++;
        if (r[i] && (b ? m[0][i] !== m[1][i] : m[0][i] < r[i])) segments.push(i);
        const off = m.map((column, s) => column[i] - shares[s] * r[i]);
        off.forEach((x, s) => { error[s] += x * x; });
        if (b) error[systems.length] += (off[1] - off[0]) ** 2;
      }
      const ends = (/** @type {number} */ middle, /** @type {number} */ squares) => { if (held < FEWEST) return null; const wide = 100 * z * Math.sqrt(squares * n / Math.max(1, n - 1)) / words; return { low: middle - wide, high: middle + wide }; };
      const values = shares.map(x => 100 * x);
      return { k, label: seenTimes(edges, k), words, held, values, ends: values.map((v, s) => ends(v, error[s])), delta: b ? values[1] - values[0] : NaN, span: b ? ends(values[1] - values[0], error[2]) : null, segments };
    }).filter((/** @type {any} */ r) => r.words);
    const filter = (/** @type {any} */ r) => ({ seen: r.k }), few = (/** @type {any} */ r) => r.held < FEW, ends = (/** @type {any} */ e, /** @type {boolean} */ sign) => e ? interval(e.low, e.high, 1, sign) : TOO_FEW, faintly = (/** @type {any} */ r, /** @type {any} */ e, /** @type {boolean} */ sign) => el("span", { class: !e ? "soft" : few(r) ? "faint" : "" }, ends(e, sign));
    const told = (/** @type {any} */ r) => `${r.label} times: ${plural(r.words, "word")} in ${plural(r.held, "segment")}${few(r) ? ", few" : ""}; ${systems.map((s, k) => `${s.letter} ${fixed(r.values[k], 1)} %`).join(", ")}${r.span ? `; Δ ${signed(r.delta, 1)} ${ends(r.span, true)}` : ""}`;
    place.replaceChildren(figure({ title: "Words of the references that a system has, in per cent, by how often they are seen.", summary: `Seen in ${known.source === "references" ? "the references" : known.source}${known.segments < n ? `; of the first ${count(known.segments)} segments` : ""}. Normal approximations for intervals. A click shows the segments ${b ? "in which the two systems differ" : "that miss some"}.`,
      draw: width => bars(rows.map((/** @type {any} */ r) => ({ label: `${r.label}×`, n: plural(r.words, "word"), few: few(r), values: r.values, ends: r.ends, delta: b ? `${signed(r.delta, 1)} ${r.span ? ends(r.span, true) : ""}`.trim() : undefined, told: told(r), act: r.segments.length ? () => link(context, "", filter(r)).click() : undefined })), systems, "Words of the references that a system has, in per cent", width),
      columns: [{ title: "Seen" }, { title: "Words", number: true }, ...systems.flatMap(s => [{ title: [badge(s), " %"], number: true }, { title: "interval", number: true }]), ...(b ? [{ title: "Δ", number: true }, { title: "interval of Δ", number: true }] : []), { title: b ? "Segments that differ" : "Segments that miss some", number: true }],
      rows: rows.map((/** @type {any} */ r) => [`${r.label}×`, count(r.words), ...systems.flatMap((_, k) => [exact(r.values[k], fixed(r.values[k], 1)), faintly(r, r.ends[k], false)]), ...(b ? [exact(r.delta, signed(r.delta, 1)), faintly(r, r.span, true)] : []), r.segments.length ? link(context, count(r.segments.length), filter(r)) : "0"]) }));
  }, error => place.replaceChildren(el("p.empty", {}, String(error.message))));
  return place;
}
