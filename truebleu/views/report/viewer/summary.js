// Who wins, and is it real: the systems by each metric, with intervals, differences and tests.
import {badge, button, copy, count, el, exact, fixed, interval, needed, pValue, plural, signed, svg, table} from "./dom.js";
import {findings} from "./findings.js";

/** @typedef {import("./current.js").Context} Context */

/** Sentences of this kind that are shown at once. */
const MOST_OPPOSED = 3;

/** @type {import("./main.js").View} */
export const summaryView = {
  id: "summary", title: "Summary", key: "s", state: { by: "" },
  render(container, context) {
    const { data, current } = context, { manifest } = data, content = manifest.comparison ?? manifest.intervals;
    container.append(el("h1", {}, el("bdi", {}, manifest.title)),
      el("p.facts", {}, [plural(data.n, "segment"), plural(data.systems.length, "system"), data.references ? plural(data.references, "reference") : null,
        data.documents ? plural(data.documents.names.length, "document") : null, languages(manifest)].filter(Boolean).join(" · ")));
    const settings = [current.setting, ...data.settings.filter(s => s.headline && s !== current.setting)];
    const lead = sentence(context);
    if (lead) container.append(el("p.lead", {}, lead));
    container.append(...opposed(context, content));
    container.append(...findings(context));
    if (content?.test && content.metrics.length > 1 && data.systems.length > 2) container.append(clusters(data, content));
    for (const setting of [...settings, ...(manifest.columns ?? []).map((/** @type {any} */ c) => ({ ...c, headline: true }))]) container.append(section(context, setting, content));
    if (data.systems.length > 2) container.append(matrix(context));
    if (content) container.append(el("div.notes", {}, [content.reading, ...(content.notes ?? []).filter((/** @type {any} */ n) => n.kind !== "disagreement").map((/** @type {any} */ n) => sentenceCase(n.text))].filter(Boolean).map(text => el("p.soft", {}, text))));
    // What people said is in the page as it is without script: its pictures are markup.
    const people = document.getElementById("people");
    if (people) { const shown = /** @type {HTMLElement} */ (people.cloneNode(true)); shown.removeAttribute("id"); container.append(shown); }
    container.append(facts(context, content));
  },
};

/** @param {string} text */
const sentenceCase = text => text[0]?.toUpperCase() + text.slice(1);

/** @param {any} manifest */
const languages = ({ languages: of }) => of?.source && of?.target ? `${of.source} → ${of.target}` : of?.target ?? null;

/** The one plain sentence. @param {Context} context */
function sentence({ current, data }) {
  const { a, b, metric } = current;
  const name = (/** @type {import("./data.js").System} */ s) => badge(s, true);
  if (!b) return [name(a), " scores ", el("strong", {}, fixed(current.corpus(a))), ` ${metric.name}.`];
  const value = current.corpus(b) - current.corpus(a), pair = current.pair(a, b), { comparison } = data.manifest;
  if (!value) return [name(b), " and ", name(a), ` have the same ${metric.name}, `, fixed(current.corpus(a)), "."];
  const better = (value > 0) === metric.higher;
  const told = [];
  if (pair?.interval) told.push(`${Math.round(100 * current.level)}% interval ${interval(pair.interval.low, pair.interval.high)}`);
  const p = pair?.corrected_p ?? pair?.p;
  if (typeof p === "number") told.push(pValue(p) + (pair.corrected_p === null || pair.corrected_p === undefined ? "" : `, ${comparison.correction.title}`));
  if (pair && comparison.test) told.push(`${comparison.test.title}, ${count(comparison.test.samples)} samples`);
  const first = data.systems.length > 2 && data.systems.every(s => (metric.higher ? -1 : 1) * (current.corpus(s) - current.corpus(b)) >= 0);
  return [name(b), first ? `, best of ${data.systems.length} systems, is ` : " is ", el("strong", {}, `${fixed(Math.abs(value))} ${metric.name}`), ` ${value > 0 ? "above" : "below"} `, name(a), metric.higher ? "" : ` (lower is better, so ${b.letter} is ${better ? "better" : "worse"})`,
    told.length ? `: ${told.join("; ")}.` : ".",
    pair?.significant === true ? " The difference is significant." : pair?.significant === false ? " The difference is not significant: chance alone makes such ones." : pair ? "" : " Of these numbers there is no test in this file; the list of segments gives an interval."];
}

/** Sentences on metrics that call opposite winners, each with a way to their segments. @param {Context} context @param {any} content */
function opposed({ data, store, current }, content) {
  const all = (content?.notes ?? []).filter((/** @type {any} */ n) => n.kind === "disagreement").map((/** @type {any} */ note) => {
    const [b, a] = note.systems.map((/** @type {string} */ name) => data.systems.find(s => s.name === name)?.index), [first, second] = note.systems.map((/** @type {string} */ name) => note.metrics.find((/** @type {any} */ m) => m.better === name).metric).map((/** @type {string} */ name) => current.measures.find(m => m.column === name)?.id ?? "");
    const state = { view: "agreement", a, b, across: first, up: second };
    return el("p.opposed", {}, note.text, " ", el("a", { href: store.hash(state), on: { click: (/** @type {MouseEvent} */ e) => { if (!e.ctrlKey && !e.metaKey && !e.shiftKey) { e.preventDefault(); store.set(state); } } } }, "Segment by segment"));
  });
  return all.length > MOST_OPPOSED ? [...all.slice(0, MOST_OPPOSED), el("details", {}, el("summary", {}, `${all.length - MOST_OPPOSED} more pairs of systems that metrics place in opposite orders`), all.slice(MOST_OPPOSED))] : all;
}

/** By each metric, the systems that its test does not tell apart. @param {import("./data.js").Data} data @param {any} content */
function clusters(data, content) {
  const most = Math.max(...content.metrics.map((/** @type {any} */ m) => m.clusters.length));
  return el("section", {}, el("h2", {}, "Clusters by metric"), el("p.soft", {}, "Every system of a cluster is significantly better than all to its right; within a cluster the order is not settled."),
    table("Clusters by metric", [{ title: "Metric" }, ...Array.from({ length: most }, (_, i) => ({ title: i ? String(i + 1) : "1, the best" }))], content.metrics.map((/** @type {any} */ m) => [`${m.name} ${arrow(m)}`, ...Array.from({ length: most }, (_, i) => el("span.together", {}, (m.clusters[i] ?? []).map((/** @type {string} */ name) => { const system = data.systems.find(s => s.name === name); return system ? badge(system) : name; })))]), { quiet: true }));
}

/** Which way is better. @param {{higher_is_better: boolean}} metric */
const arrow = metric => metric.higher_is_better ? "↑" : "↓";

/** The systems by one metric. @param {Context} context @param {import("./data.js").Setting} setting @param {any} content */
function section(context, setting, content) {
  const { data, store, current } = context, here = setting === current.setting, reported = (!here || current.reported) && setting.headline;
  const metric = content?.metrics.find((/** @type {any} */ m) => m.name === setting.column);
  const { a } = current, several = data.systems.length > 1, digits = /** @type {any} */ (setting).digits ?? 2;
  const of = (/** @type {any} */ system) => reported ? content?.systems.find((/** @type {any} */ s) => s.name === system.name)?.scores[setting.column ?? ""] : null;
  const pairOf = (/** @type {any} */ system) => here ? current.pair(a, system) : pairIn(content, setting, a, system);
  const value = (/** @type {any} */ system) => here ? current.corpus(system) : setting.scores[system.name];
  const rows = data.systems.map(system => ({ system, of: of(system), pair: system === a ? null : pairOf(system), value: value(system), delta: value(system) - value(a) }));
  const [by, down] = [String(store.get("by")).replace("-", ""), String(store.get("by"))[0] === "-"];
  const better = setting.higher_is_better ? -1 : 1;
  rows.sort(by === "name" ? (x, y) => (down ? -1 : 1) * (x.system.index - y.system.index) : (x, y) => (by === "score" && !down ? -1 : 1) * better * (x.value - y.value));
  const ends = rows.flatMap(r => r.pair?.interval ? [r.pair.interval.low, r.pair.interval.high, 0] : []);
  const scale = ends.length ? { low: Math.min(...ends), high: Math.max(...ends) } : null;
  const details = rows.every(r => r.of?.details?.precisions && r.of.details.brevity_penalty !== undefined);
  const level = `${Math.round(100 * current.level)}% interval`, tests = content?.test;
  const sort = (/** @type {string} */ key) => () => store.set({ by: store.get("by") === key ? `-${key}` : key }, { replace: true });
  const sorted = (/** @type {string} */ key) => by === key ? (down ? "descending" : "ascending") : null;
  const lowest = rows.reduce((best, r) => Math.min(best, better * r.value), Infinity);
  /** @type {[import("./dom.js").Column, (row: typeof rows[number]) => any][]} */
  const columns = [
    [{ title: "System", sort: sort("name"), sorted: sorted("name") }, r => badge(r.system, true)],
    [{ title: `${setting.name} ${arrow(setting)}`, number: true, sort: sort("score"), sorted: sorted("score"), hint: setting.signature ? `${setting.name}|${setting.signature}` : "given" },
      r => [several && better * r.value === lowest ? el("strong", {}, exact(r.value, fixed(r.value, digits))) : exact(r.value, fixed(r.value, digits)), letters(r.of?.better_than, data)]],
  ];
  if (content?.intervals && reported) columns.push([{ title: level, number: true, hint: content.intervals.title }, r => r.of?.interval ? interval(r.of.interval.low, r.of.interval.high, digits, false) : el("span.soft", {}, "n too small")]);
  if (several) {
    columns.push([{ title: "Δ", number: true, hint: `difference to ${a.letter} ${a.name}` }, r => r.system === a ? el("span.soft", {}, "baseline") : exact(r.delta, signed(r.delta, digits))]);
    if (content?.intervals && reported) {
      columns.push([{ title: "interval of Δ", number: true }, r => r.system === a ? "" : r.pair?.interval ? interval(r.pair.interval.low, r.pair.interval.high, digits) : el("span.soft", {}, "n too small")]);
      if (scale) columns.push([{ title: "Δ, drawn", hint: "the intervals of Δ, side by side; the line is zero" }, r => r.pair?.interval ? intervalOf(r.pair, r.delta, scale, setting.higher_is_better) : ""]);
    }
    if (tests && reported) {
      columns.push([{ title: content.correction ? `p (${content.correction.title})` : "p", number: true, hint: tests.title }, r => { const p = r.pair?.corrected_p ?? r.pair?.p; return typeof p === "number" ? [exact(p, p < 0.001 ? "< 0.001" : p.toFixed(3)), r.pair.significant ? el("span", { title: "significant" }, "*") : el("span.soft", {}, " ")] : ""; }]);
      columns.push([{ title: "Cluster", number: true, hint: "every system of a cluster is significantly better than all below it" }, r => r.of?.cluster ?? ""]);
    }
    columns.push([{ title: "Won / tied / lost", number: true, hint: "segments scored better than, as, and worse than the baseline's" }, r => r.pair ? `${count(r.pair.wins)} / ${count(r.pair.ties)} / ${count(r.pair.losses)}` : ""]);
    if (rows.some(r => r.pair?.segments_needed)) columns.push([{ title: "Needed", number: true, hint: "about how many segments like these would show this difference, with power 0.8" }, r => r.pair?.segments_needed ? needed(r.pair.segments_needed) : ""]);
  }
  const title = here ? current.metric.name : setting.name;
  return el("section", {},
    el("h2", {}, setting.label === setting.name ? title : `${title} (${setting.label})`, setting.higher_is_better ? "" : ", lower is better"),
    several ? el("p.soft", {}, "Δ is to ", badge(a, true), metric?.source === "given" ? "; scores were given" : "", data.systems.length > 2 ? ["; baseline: ", data.systems.map(s => el("label.check", {}, el("input", { type: "radio", name: `baseline ${setting.id}`, checked: s === a, "aria-label": `Baseline ${s.letter} ${s.name}`, on: { change: () => store.set(s === current.b ? { a: s.index, b: a.index } : { a: s.index }) } }), badge(s)))] : "") : null,
    table(`Systems by ${setting.label}`, columns.map(([head]) => head), rows.map(row => columns.map(([, cell]) => cell(row))), { quiet: true }),
    details ? madeOf(rows.map(row => [row.system, row.of.details]), setting.label) : null,
    setting.signature ? signature(here ? current.metric.name : setting.name, here ? current.metric.signature : setting.signature) : null);
}

/** What the scores are made of. @param {[import("./data.js").System, any][]} rows @param {string} label */
function madeOf(rows, label) {
  const orders = Math.max(...rows.map(([, of]) => of.precisions.length)), whole = (/** @type {number} */ x) => x % 1 ? fixed(x, 1) : count(x);
  return table(`What ${label} is made of`, [{ title: "System" }, ...Array.from({ length: orders }, (_, n) => ({ title: [`p`, el("sub", {}, String(n + 1))], number: true, hint: `precision of ${n + 1}-grams, in per cent` })),
    { title: "Brevity", number: true, hint: "brevity penalty" }, { title: "Tokens", number: true, hint: "of the system" }, { title: "of reference", number: true, hint: "effective reference length" }, { title: "Ratio", number: true, hint: "of these lengths" }],
  rows.map(([system, of]) => [badge(system, true), ...of.precisions.map((/** @type {number} */ p) => exact(p, fixed(p, 1))), exact(of.brevity_penalty, fixed(of.brevity_penalty, 3)), count(of.hypothesis_length), whole(of.reference_length), exact(of.ratio, fixed(of.ratio, 3))]), { quiet: true });
}

/** @param {any} content @param {import("./data.js").Setting} setting @param {any} a @param {any} system */
function pairIn(content, setting, a, system) {
  const pair = content?.pairs?.find((/** @type {any} */ p) => p.metric === setting.column && [p.first, p.second].includes(a.name) && [p.first, p.second].includes(system.name));
  if (!pair || pair.first === system.name) return pair ?? null;
  return { ...pair, interval: pair.interval && { low: -pair.interval.high, high: -pair.interval.low }, wins: pair.losses, losses: pair.wins };
}

/** Letters of the systems that one is significantly better than. @param {string[] | undefined} names @param {import("./data.js").Data} data */
function letters(names, data) {
  const found = data.systems.filter(s => names?.includes(s.name));
  return found.length ? el("sup", { title: `significantly better than ${found.map(s => s.name).join(", ")}` }, found.map(s => s.letter).join("")) : null;
}

/** An interval of Δ beside the others; the numbers stand in the same row. @param {any} pair @param {number} value @param {{low: number, high: number}} scale @param {boolean} higher */
function intervalOf(pair, value, scale, higher) {
  const x = (/** @type {number} */ v) => 6 + 148 * (v - scale.low) / (scale.high - scale.low || 1);
  const { low, high } = pair.interval, sure = pair.significant ?? (low > 0 || high < 0), good = (value > 0) === higher;
  return svg("svg", { class: `forest ${!sure ? "" : good ? "better" : "worse"}`, width: 160, height: 20, viewBox: "0 0 160 20", role: "img", "aria-label": `${signed(value)}, from ${signed(low)} to ${signed(high)}` },
    svg("line.zero", { x1: x(0), x2: x(0), y1: 0, y2: 20 }), svg("line", { x1: x(low), x2: x(high), y1: 10, y2: 10 }),
    svg("line", { x1: x(low), x2: x(low), y1: 6, y2: 14 }), svg("line", { x1: x(high), x2: x(high), y1: 6, y2: 14 }),
    sure ? svg("circle", { cx: x(value), cy: 10, r: 4 }) : svg("circle.open", { cx: x(value), cy: 10, r: 3.5 }));
}

/** Every two systems. @param {Context} context */
function matrix({ data, store, current }) {
  const { metric } = current, { systems } = data, values = systems.map(s => current.corpus(s));
  const most = Math.max(...values) - Math.min(...values) || 1;
  return el("section", {}, el("h2", {}, `Δ ${metric.name} of every two systems`), el("p.soft", {}, "Row less column. A star: significant. A cell takes its two systems for the comparison."),
    table(`Δ ${metric.name}, row less column`, [{ title: "System" }, ...systems.map(s => ({ title: badge(s), number: true, hint: s.name }))], systems.map((row, i) => [badge(row, true), ...systems.map((column, j) => {
      if (i === j) return "";
      const delta = values[i] - values[j], pair = current.pair(column, row), good = (delta > 0) === metric.higher;
      const strength = delta ? Math.min(4, Math.ceil(4 * Math.abs(delta) / most)) : 0;
      return button([signed(delta), pair?.significant ? "*" : ""], () => store.set({ a: column.index, b: row.index }), { class: `heat ${good ? "better" : "worse"}-${strength}`, title: pair?.interval ? interval(pair.interval.low, pair.interval.high) : null });
    })]), { quiet: true }));
}

/** A signature that a click copies. @param {string} name @param {string} text */
const signature = (name, text) => button(el("code", {}, `${name}|${text}`.split("|").flatMap((part, i) => i ? ["|", el("wbr"), part] : [part])), () => copy(`${name}|${text}`, "Signature copied"), { class: "chip", title: "Copy the signature" });

/** @param {Context} context @param {any} content */
function facts({ data }, content) {
  const { manifest } = data;
  /** @type {[string, any][]} */
  const rows = [];
  if (content?.test) rows.push(["Test", `${content.test.title}, ${count(content.test.samples)} samples, α = ${content.test.alpha}`]);
  if (content?.intervals) rows.push(["Intervals", `${Math.round(100 * content.level)}%, ${content.intervals.title}, ${count(content.intervals.samples)} resamples`]);
  if (content?.test || content?.intervals) rows.push(["Seed", content.seed ?? "another each time"]);
  if (data.redacted) rows.push(["Text", "left out of this file"]);
  else if (manifest.embedded < data.n && !manifest.serve) rows.push(["Text", `of ${count(manifest.embedded)} of ${plural(data.n, "segment")}: those that the result depends on most, and as many drawn at random`]);
  const hashes = Object.entries(manifest.data_hash ?? {});
  if (hashes.length) rows.push(["Data (SHA-256)", hashes.map(([name, hash], i) => [i ? ", " : "", el("bdi", {}, name), " ", el("code", {}, /** @type {string} */ (hash))])]);
  rows.push(["By", `truebleu ${manifest.version}`]);
  if (manifest.made) rows.push(["Made", manifest.made]);
  return el("section", {}, el("h2", {}, "What was computed"), el("dl", {}, rows.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])));
}
