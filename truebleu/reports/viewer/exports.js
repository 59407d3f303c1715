// What can be taken away: tables, segments, charts, commands, and what to cite.
import {announce, badge, button, checkbox, copy, count, download, el, fixed, interval, plural, pValue, select, signed} from "./dom.js";
import {figure, forestPlot, histogram} from "./svg_charts.js";
import {record} from "./detail.js";
import {floatText} from "./metric.js";

/** @typedef {import("./selection.js").Context} Context */
/** @typedef {{text: string, raised?: string, best?: boolean}} Cell */

// ---- values with separators ----

const JOINERS = /[\u200C\u200D]/;
/** Text in which what does not show is written out, as truebleu's own tables have it. @param {string} text */
const shown = text => text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\u2028\u2029]/gu, c => {
  const point = c.codePointAt(0) ?? 0;
  return JOINERS.test(c) ? c : point < 256 ? `\\x${point.toString(16).padStart(2, "0")}` : point < 65536 ? `\\u${point.toString(16).padStart(4, "0")}` : `\\U${point.toString(16).padStart(8, "0")}`;
});

/** Text before which an apostrophe stands if a spreadsheet would take it for a formula. @param {any} value @param {boolean} safe */
export const guarded = (value, safe) => safe && typeof value === "string" && /^[=+\-@\t\r＝＋－＠]/.test(value) ? `'${value}` : value;

/** A line of values, in quotes where that is needed. @param {any[]} values @param {string} separator */
export const separated = (values, separator) => values.map(value => {
  const text = value === null || value === undefined ? "" : typeof value === "boolean" ? (value ? "yes" : "no") : String(value);
  return /["\n\r]/.test(text) || text.includes(separator) ? `"${text.replaceAll('"', '""')}"` : text;
}).join(separator);

const FIELDS = ["metric", "system", "letter", "score", "low", "high", "mean", "half_width", "rank", "cluster", "better_than", "baseline", "difference", "difference_low", "difference_high", "p", "corrected_p", "significant", "wins", "ties", "losses", "segments_needed", "signature"];
const FLOATS = new Set(["score", "low", "high", "mean", "half_width", "difference", "difference_low", "difference_high", "p", "corrected_p"]);

/** A comparison, a line for each metric and system. @param {any} content @param {string} separator @param {boolean} safe */
export function comparisonRows(content, separator, safe) {
  const letters = new Map(content.systems.map((/** @type {any} */ s) => [s.name, s.letter])), lines = [separated(FIELDS, separator)];
  for (const metric of content.metrics) for (const system of content.systems) {
    const { difference, interval: own, ...score } = system.scores[metric.name];
    /** @type {Record<string, any>} */
    const row = { ...score, ...own, ...difference, metric: metric.name, system: shown(system.name), letter: system.letter, better_than: score.better_than.map((/** @type {string} */ name) => letters.get(name)).join(" "), baseline: difference ? shown(content.baseline) : null,
      difference: difference?.value, difference_low: difference?.interval?.low, difference_high: difference?.interval?.high, signature: metric.signature };
    lines.push(separated(FIELDS.map(key => FLOATS.has(key) && typeof row[key] === "number" ? floatText(row[key]) : guarded(row[key], safe)), separator));
  }
  return `${lines.join("\n")}\n`;
}

// ---- tables for papers ----

/** A metric's table as cells. @param {any} content @param {any} metric @returns {Cell[][]} */
function cells(content, metric) {
  const letters = new Map(content.systems.map((/** @type {any} */ s) => [s.name, s.letter])), several = content.systems.length > 1, { intervals, test } = content, level = `${Math.round(100 * content.level)}% interval`;
  const p = (/** @type {number | null | undefined} */ x) => typeof x === "number" ? pValue(x) : "";
  const head = ["", "System", `${metric.label} ${metric.higher_is_better ? "↑" : "↓"}`, ...(intervals ? [level] : []), ...(several ? [...(test ? ["Cluster"] : []), "Δ", ...(intervals ? [level] : []), ...(test ? ["p"] : [])] : [])];
  return [head.map(text => ({ text })), ...content.systems.map((/** @type {any} */ system) => {
    const { score, interval: own, better_than, rank, cluster, difference: d } = system.scores[metric.name], ends = d?.interval;
    /** @type {Cell[]} */
    const row = [{ text: system.letter }, { text: shown(system.name) }, { text: fixed(score), best: several && rank === 1, raised: better_than.map((/** @type {string} */ name) => letters.get(name)).sort().join("") }];
    if (intervals) row.push({ text: own ? interval(own.low, own.high, 2, false) : "" });
    if (several) {
      if (test) row.push({ text: String(cluster ?? "") });
      row.push({ text: d ? signed(d.value) : "baseline" });
      if (intervals) row.push({ text: ends ? interval(ends.low, ends.high) : d ? "n too small" : "" });
      if (test) row.push({ text: d ? p(d.corrected_p ?? d.p) : "", raised: d?.significant ? "*" : "" });
    }
    return row;
  })];
}

/** What is said of the tables. @param {any} content */
const remarks = content => [`${plural(content.segments, "segment")}${content.baseline && content.systems.length > 1 ? `; Δ to ${shown(content.baseline)}` : ""}`, content.test ? `Raised letters: significantly better than those systems (${content.test.title}, p < ${content.test.alpha}, as *)${content.correction ? `; p-values are corrected: ${content.correction.title ?? content.correction}` : ""}.` : "", content.reading ?? "", ...(content.notes ?? []).filter((/** @type {any} */ n) => n.kind === "disagreement").map((/** @type {any} */ n) => n.text), ...content.metrics.map((/** @type {any} */ m) => m.signature ? `${m.name}|${m.signature}` : "")].filter(Boolean);

/** The warnings about the text. @param {any} content @returns {string[]} */
const warnings = content => (content.warnings ?? []).map((/** @type {any} */ one) => `Warning: ${one.text}`);

/** @type {Record<string, string>} */
const TEX = { "\\": "\\textbackslash{}", "{": "\\{", "}": "\\}", "$": "\\$", "&": "\\&", "#": "\\#", "%": "\\%", "_": "\\_", "^": "\\textasciicircum{}", "~": "\\textasciitilde{}", "<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}", "\"": "\\textquotedbl{}", "[": "{[}", "]": "{]}", "−": "$-$", "Δ": "$\\Delta$", "↑": "$\\uparrow$", "↓": "$\\downarrow$", "–": "--" };
/** @param {string} text */
const tex = text => text.replace(/[\\{}$&#%_^~<>|"[\]−Δ↑↓–]/g, c => TEX[c]);
/** @param {string} text */
const markdown = text => text.replace(/[\\`*_[\]<>#~$&]/g, "\\$&").replaceAll("|", "&#124;");

/** A comparison for a paper that uses booktabs. @param {any} content */
export function latex(content) {
  const cell = (/** @type {Cell} */ { text, raised, best }) => (best ? `\\textbf{${tex(text)}}` : tex(text)) + (raised ? `\\textsuperscript{${tex(raised)}}` : "");
  return [["% Needs \\usepackage{booktabs}.", ...warnings(content).map(text => `% ${text}`)].join("\n"), ...content.metrics.map((/** @type {any} */ metric) => {
    const [head, ...rows] = cells(content, metric).map(row => `${row.map(cell).join(" & ")} \\\\`);
    return [`\\begin{tabular}{ll${"r".repeat(cells(content, metric)[0].length - 2)}}`, "\\toprule", head, "\\midrule", ...rows, "\\bottomrule", "\\end{tabular}"].join("\n");
  }), remarks(content).map(text => `% ${text}`).join("\n")].join("\n\n") + "\n";
}

/** A comparison as Markdown. @param {any} content */
export function markdownTables(content) {
  const cell = (/** @type {Cell} */ { text, raised, best }) => (best ? `**${markdown(text)}**` : markdown(text)) + (raised ? `<sup>${markdown(raised)}</sup>` : "");
  return [...warnings(content).map(text => `> ${markdown(text)}`), ...content.metrics.map((/** @type {any} */ metric) => {
    const [head, ...rows] = cells(content, metric).map(row => `| ${row.map(cell).join(" | ")} |`);
    return [head, `|${cells(content, metric)[0].map((_, i) => i < 2 ? " --- |" : " ---: |").join("")}`, ...rows].join("\n");
  }), ...remarks(content).map(text => text.includes("|") ? `\`${text}\`` : markdown(text))].join("\n\n") + "\n";
}

const FORMATS = /** @type {Record<string, [string, string, string, (content: any, safe: boolean) => string]>} */ ({
  latex: ["LaTeX (booktabs)", "tex", "application/x-tex", latex],
  markdown: ["Markdown", "md", "text/markdown", markdownTables],
  csv: ["CSV", "csv", "text/csv", (content, safe) => comparisonRows(content, ",", safe)],
  json: ["JSON", "json", "application/json", content => `${JSON.stringify(content, null, 1)}\n`],
});

// ---- segments ----

/** The chosen segments in their order, with what is known of them, a line each. @param {Context} context @param {boolean} lines JSON Lines instead of TSV @param {boolean} safe */
async function* segmentLines(context, lines, safe) {
  const { data, current } = context, { a, b, chosen, id } = current, { documents, labels } = data, roles = data.redacted ? [] : data.roles;
  const names = ["segment", ...(documents ? ["document"] : []), ...labels.map(l => l.name), ...data.systems.map(s => `${current.metric.name} ${s.letter} ${s.name}`), ...(b ? [`Δ ${b.letter} less ${a.letter}`] : []), "influence", ...roles.map(role => data.title(role))];
  if (!lines) yield separated(names.map(name => guarded(shown(name), safe)), "\t");
  const influence = current.column("influence");
  for (let at = 0; at < chosen.length; at++) {
    const i = chosen[at];
    if (at % 2000 === 1999) await new Promise(done => setTimeout(done));
    if (data.manifest.serve) await data.have(i);
    if (current.id !== id) throw new Error("the settings were changed meanwhile");
    const delta = b ? current.column("delta")[i] : null;
    yield lines ? JSON.stringify({ ...record(context, i), labels: Object.fromEntries(labels.map(l => [l.name, l.values[l.of[i]]])), difference: delta, influence: influence[i] })
      : separated([i + 1, ...(documents ? [documents.names[documents.of[i]]] : []), ...labels.map(l => l.values[l.of[i]]), ...data.systems.map(s => current.scores(s)[i]), ...(b ? [delta] : []), influence[i], ...roles.map(role => data.text(role, i))].map(value => guarded(value, safe)), "\t");
  }
}

/** @param {Context} context @param {boolean} lines @param {boolean} safe */
async function saveSegments(context, lines, safe) {
  const parts = [];
  try {
    for await (const line of segmentLines(context, lines, safe)) parts.push(line, "\n");
  } catch (error) { announce(`Not saved: ${/** @type {Error} */ (error).message}`); return; }
  download(lines ? "segments.jsonl" : "segments.tsv", lines ? "application/jsonl" : "text/tab-separated-values", parts.join(""));
  announce("Saved");
}

// ---- the view ----

/** Text to copy or to save. @param {string} text @param {string} what @param {string} name @param {string} type */
const given = (text, what, name, type) => [el("pre.given", { tabindex: 0, "aria-label": what, dir: "ltr" }, text), el("p.joined", {}, button("Copy", () => copy(text, `${what} copied`)), button("Save", () => download(name, type, text)))];

/** @type {import("./main.js").View} */
export const exportsView = {
  id: "exports", title: "Export", key: "x", selected: true, state: { format: "latex", safe: true },
  render(container, context) {
    const { data, store, current } = context, { manifest, manifest: { comparison: content } } = data, { a, b, metric } = current;
    container.append(el("h1", {}, "Export"), el("p.facts", {}, "Files are made in this page; nothing leaves it."));
    const format = store.get("format") in FORMATS ? store.get("format") : "latex", [name, ending, type, make] = FORMATS[format];
    container.append(el("section", {}, el("h2", {}, "Table"), el("div.tabs", {}, select("Format", Object.entries(FORMATS).map(([id, [title]]) => /** @type {const} */ ([id, title])), format, id => store.set({ format: id }, { replace: true })), format === "csv" ? guard() : null),
      given(make(content, store.get("safe")), name, `comparison.${ending}`, type), current.reported ? null : el("p.soft", {}, "This is the reported result; the settings that you changed are not in it.")));
    const n = current.chosen.length, waiting = current.busy !== null ? "A filter is still worked out; the segments can be saved then." : current.problem ? `No segments: ${current.problem}.` : "";
    container.append(el("section", {}, el("h2", {}, "Segments"), waiting ? el("p.soft", { role: "status" }, waiting) : null, el("p", { hidden: !!waiting }, `${current.all ? `All ${plural(n, "segment")}` : `${count(n)} of ${plural(data.n, "segment")}, as filtered`}, in the order of the list, scored by ${metric.name}${data.redacted ? "; the texts were left out of this file" : manifest.embedded < data.n && !manifest.serve ? `; the file has the texts of ${count(manifest.embedded)}` : ""}.`),
      el("p.joined", {}, button("Save as TSV", () => saveSegments(context, false, store.get("safe")), { disabled: !!waiting }), button("Save as JSON Lines", () => saveSegments(context, true, false), { disabled: !!waiting }), guard())));
    const pairs = data.ranked.filter(s => s !== a).map(s => ({ system: s, value: current.corpus(s) - current.corpus(a), pair: current.pair(a, s) }));
    const charts = el("section", {}, el("h2", {}, "Charts"));
    if (pairs.some(p => p.pair?.interval)) charts.append(figure({ title: `Δ ${metric.name} to ${a.letter} ${a.name}.`, summary: metric.higher ? "Filled points: significant." : "Lower is better. Filled points: significant.",
      draw: width => forestPlot(pairs.map(p => ({ label: `${p.system.letter} ${p.system.name}`, value: p.value, ends: p.pair?.interval, sure: p.pair?.significant ?? false })), `Δ ${metric.name} to ${a.letter}`, width),
      columns: [{ title: "System" }, { title: "Δ", number: true }, { title: "interval", number: true }], rows: pairs.map(p => [badge(p.system, true), signed(p.value), p.pair?.interval ? interval(p.pair.interval.low, p.pair.interval.high) : "n too small"]) }));
    const column = b ? "delta" : "scoreA", values = current.column(column), sorted = [...values].filter(v => !Number.isNaN(v)).sort((x, y) => x - y), at = (/** @type {number} */ q) => sorted[Math.round(q * (sorted.length - 1))];
    const equal = b ? values.filter(v => v === 0).length : 0;
    charts.append(figure({ title: b ? `Δ ${metric.name} of each segment, ${b.letter} less ${a.letter}.` : `${metric.name} of each segment.`, summary: `Half of them are between ${fixed(at(0.25), 1)} and ${fixed(at(0.75), 1)}.${b ? ` The dark bar at 0 is the ties: ${plural(equal, "segment")} with the same score.` : ""}`, draw: width => histogram(values, { label: b ? "Δ" : metric.name, range: null, ties: !!b }, width),
      columns: [{ title: "Share of segments" }, { title: "at most", number: true }], rows: [0, 0.05, 0.25, 0.5, 0.75, 0.95, 1].map(q => [`${Math.round(100 * q)} %`, fixed(at(q))]).concat(b ? [["ties, with a Δ of 0", count(equal)]] : []) }),
      el("p.soft", {}, "The charts of the other views can be saved there."));
    container.append(charts);
    if (manifest.commands?.length) container.append(el("section", {}, el("h2", {}, "Commands"), el("p.soft", {}, "They make these numbers again, in the folder of the files."), given(manifest.commands.join("\n"), "Commands", "commands.sh", "text/x-shellscript")));
    if (manifest.bibtex) container.append(el("section", {}, el("h2", {}, "To cite"), given(manifest.bibtex, "BibTeX", "truebleu.bib", "application/x-bibtex")));

    /** Whether text is kept from becoming a formula. */
    function guard() { return checkbox("Safe for spreadsheets: an apostrophe before text that looks like a formula", store.get("safe"), on => store.set({ safe: on }, { replace: true })); }
  },
};
