// Export view: tables, segments, charts, commands and citation.
import {announce, createButton, createCheckbox, copyText, formatCount, downloadText, el, formatPlural, createSelect, formatScore} from "./dom.js";
import {renderFigure, drawHistogram, formatScoreTick} from "./svg_charts.js";
import {getSegmentRecord} from "./detail.js";
import {formatFloat} from "./metric.js";
import {getSortTitle} from "./segments.js";
import {listMeasures, renderForestPlot} from "./summary.js";

/** @typedef {import("./selection.js").Context} Context */

// ---- delimited values ----

const JOINERS = /[\u200C\u200D]/;
/** Escape invisible characters as truebleu's tables do. @param {string} text */
const escapeInvisible = text => text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\u2028\u2029]/gu, c => {
  const point = c.codePointAt(0) ?? 0;
  return JOINERS.test(c) ? c : point < 256 ? `\\x${point.toString(16).padStart(2, "0")}` : point < 65536 ? `\\u${point.toString(16).padStart(4, "0")}` : `\\U${point.toString(16).padStart(8, "0")}`;
});

/** Prefix text with an apostrophe if spreadsheets would interpret it as a formula. @param {any} value @param {boolean} safe */
export const guardFormula = (value, safe) => safe && typeof value === "string" && /^[=+\-@\t\r＝＋－＠]/.test(value) ? `'${value}` : value;

/** Format values as a delimited line, with quotes where needed. @param {any[]} values @param {string} separator */
export const formatDelimited = (values, separator) => values.map(value => {
  const text = value === null || value === undefined ? "" : typeof value === "boolean" ? (value ? "yes" : "no") : String(value);
  return /["\n\r]/.test(text) || text.includes(separator) ? `"${text.replaceAll('"', '""')}"` : text;
}).join(separator);

const COMPARISON_FIELDS = ["metric", "system", "letter", "score", "low", "high", "mean", "half_width", "rank", "cluster", "better_than", "baseline", "difference", "difference_low", "difference_high", "p", "corrected_p", "significant", "wins", "ties", "losses", "segments_needed", "signature"];
const FLOAT_FIELDS = new Set(["score", "low", "high", "mean", "half_width", "difference", "difference_low", "difference_high", "p", "corrected_p"]);

/** Format a comparison with one line per metric and system. @param {any} content @param {string} separator @param {boolean} safe */
export function formatComparison(content, separator, safe) {
  const letters = new Map(content.systems.map((/** @type {any} */ s) => [s.name, s.letter])), lines = [formatDelimited(COMPARISON_FIELDS, separator)];
  for (const metric of content.metrics) for (const system of content.systems) {
    const { difference, interval: scoreInterval, ...score } = system.scores[metric.name];
    /** @type {Record<string, any>} */
    const row = { ...score, ...scoreInterval, ...difference, metric: metric.name, system: escapeInvisible(system.name), letter: system.letter, better_than: score.better_than.map((/** @type {string} */ name) => letters.get(name)).join(" "), baseline: difference ? escapeInvisible(content.baseline) : null,
      difference: difference?.value, difference_low: difference?.interval?.low, difference_high: difference?.interval?.high, signature: metric.signature };
    lines.push(formatDelimited(COMPARISON_FIELDS.map(key => FLOAT_FIELDS.has(key) && typeof row[key] === "number" ? formatFloat(row[key]) : guardFormula(row[key], safe)), separator));
  }
  return `${lines.join("\n")}\n`;
}

// ---- formats of the table ----

/** Titles, file endings, types and texts of the table. Python wrote LaTeX and Markdown, which a report built by the playground lacks.
 * @type {Record<string, {title: string, ending: string, type: string, format: (manifest: any, safe: boolean) => string}>} */
const EXPORT_FORMATS = {
  latex: { title: "LaTeX (booktabs)", ending: "tex", type: "application/x-tex", format: manifest => manifest.tables.latex },
  markdown: { title: "Markdown", ending: "md", type: "text/markdown", format: manifest => manifest.tables.markdown },
  csv: { title: "CSV", ending: "csv", type: "text/csv", format: (manifest, safe) => formatComparison(manifest.comparison, ",", safe) },
  json: { title: "JSON", ending: "json", type: "application/json", format: manifest => `${JSON.stringify(manifest.comparison, null, 1)}\n` },
};

// ---- segments ----

/** Yield one line per selected segment, in the order of the list. @param {Context} context @param {boolean} lines JSON Lines instead of TSV @param {boolean} safe */
async function* generateSegmentLines(context, lines, safe) {
  const { data, current } = context, { a, b, selectedSegments: chosen, id } = current, { documents, labels } = data, roles = data.isRedacted ? [] : data.roles;
  const names = ["segment", ...(documents ? ["document"] : []), ...labels.map(l => l.name), ...data.systems.map(s => `${current.metric.name} ${s.letter} ${s.name}`), ...(b ? [`Δ ${b.letter} − ${a.letter}`] : []), "influence", ...roles.map(role => data.getTitle(role))];
  if (!lines) yield formatDelimited(names.map(name => guardFormula(escapeInvisible(name), safe)), "\t");
  const influence = current.getColumn("influence");
  for (let position = 0; position < chosen.length; position++) {
    const i = chosen[position];
    if (position % 2000 === 1999) await new Promise(done => setTimeout(done));
    if (data.manifest.serve) await data.fetchSegment(i);
    if (current.id !== id) throw new Error("the settings have changed");
    const delta = b ? current.getColumn("delta")[i] : null;
    yield lines ? JSON.stringify({ ...getSegmentRecord(context, i), labels: Object.fromEntries(labels.map(l => [l.name, l.values[l.bySegment[i]]])), difference: delta, influence: influence[i] })
      : formatDelimited([i + 1, ...(documents ? [documents.names[documents.bySegment[i]]] : []), ...labels.map(l => l.values[l.bySegment[i]]), ...data.systems.map(s => current.getScores(s)[i]), ...(b ? [delta] : []), influence[i], ...roles.map(role => data.getText(role, i))].map(value => guardFormula(value, safe)), "\t");
  }
}

/** @param {Context} context @param {boolean} lines @param {boolean} safe */
async function saveSegments(context, lines, safe) {
  const parts = [];
  try {
    for await (const line of generateSegmentLines(context, lines, safe)) parts.push(line, "\n");
  } catch (error) { announce(`Not saved: ${/** @type {Error} */ (error).message}`); return; }
  downloadText(lines ? "segments.jsonl" : "segments.tsv", lines ? "application/jsonl" : "text/tab-separated-values", parts.join(""));
  announce("Saved");
}

// ---- the view ----

/** Render a text with buttons to copy and save it. @param {string} text @param {string} label @param {string} name @param {string} type */
const renderExport = (text, label, name, type) => [el("pre.given.wrap", { tabindex: 0, "aria-label": label, dir: "ltr" }, text), el("p.joined", {}, createButton("Copy", () => copyText(text, `${label} copied`)), createButton("Save", () => downloadText(name, type, text)))];

/** @type {import("./main.js").View} */
export const exportsView = {
  id: "exports", title: "Export", key: "x", selected: true, state: { format: "latex", safe: true },
  render(container, context) {
    const { data, store, current } = context, { manifest } = data, { a, b, metric } = current;
    container.append(el("h1", {}, "Export"), el("p.facts", {}, "Files are created in this page. No data leaves it."));
    const formats = Object.keys(EXPORT_FORMATS).filter(id => manifest.tables || !["latex", "markdown"].includes(id)), format = formats.includes(store.get("format")) ? store.get("format") : formats[0], { title, ending, type, format: formatTable } = EXPORT_FORMATS[format];
    container.append(el("section", {}, el("h2", {}, "Table"), el("div.tabs", {}, createSelect("Format", formats.map(id => /** @type {const} */ ([id, EXPORT_FORMATS[id].title])), format, id => store.set({ format: id }, { replace: true })), format === "csv" ? createGuardCheckbox() : null),
      renderExport(formatTable(manifest, store.get("safe")), title, `comparison.${ending}`, type), current.isReported && current.isUnfiltered ? null : el("p.soft", {}, "This is the reported result, without your changes to the settings and filters."),
      manifest.tables ? null : el("p.soft", {}, "For a table in LaTeX or Markdown, run the last command below with -f latex or -f markdown.")));
    const n = current.selectedSegments.length, waiting = current.filterProgress !== null ? "To save segments, wait until the filter has finished." : current.problem ? `No segments: ${current.problem}.` : "";
    container.append(el("section", {}, el("h2", {}, "Segments"), waiting ? el("p.soft", { role: "status" }, waiting) : null, el("p", { hidden: !!waiting }, `${current.isUnfiltered ? `All ${formatPlural(n, "segment")}` : `${formatCount(n)} of ${formatPlural(data.n, "segment")} after filtering`}, in the order of the list (${getSortTitle(current)}), scored by ${metric.name}${data.isRedacted ? "; this report has no texts" : manifest.embedded < data.n && !manifest.serve ? `; this report contains the texts of ${formatCount(manifest.embedded)}` : ""}.`),
      el("p.joined", {}, createButton("Save as TSV", () => saveSegments(context, false, store.get("safe")), { disabled: !!waiting }), createButton("Save as JSON Lines", () => saveSegments(context, true, false), { disabled: !!waiting }), createGuardCheckbox())));
    const charts = el("section", {}, el("h2", {}, "Charts"));
    const measures = listMeasures(context, manifest.comparison).filter(measure => measure.id === current.setting.id), forestFigure = renderForestPlot(context, measures, manifest.comparison);
    if (forestFigure) charts.append(forestFigure);
    const column = b ? "delta" : "scoreA", values = current.getColumn(column), sorted = [...values].filter(v => !Number.isNaN(v)).sort((x, y) => x - y), getPercentile = (/** @type {number} */ q) => sorted[Math.round(q * (sorted.length - 1))];
    const tieCount = b ? values.filter(v => v === 0).length : 0;
    charts.append(renderFigure({ title: b ? `Δ ${metric.name} of each segment (${b.letter} − ${a.letter}).` : `${metric.name} of each segment.`, summary: `The middle half is between ${formatScore(getPercentile(0.25), 1)} and ${formatScore(getPercentile(0.75), 1)}.${b ? ` The dark bar at 0 shows ${formatPlural(tieCount, "tie")}.` : ""}`, draw: width => drawHistogram(values, { label: b ? "Δ" : metric.name, range: null, ties: !!b, format: formatScoreTick }, width),
      columns: [{ title: "Share of segments" }, { title: "at most", number: true }], rows: [0, 0.05, 0.25, 0.5, 0.75, 0.95, 1].map(q => [`${Math.round(100 * q)}%`, formatScore(getPercentile(q))]).concat(b ? [["ties (Δ = 0)", formatCount(tieCount)]] : []) }),
      el("p.soft", {}, "Other views have buttons to save their own charts."));
    container.append(charts);
    if (manifest.commands?.length) container.append(el("section", {}, el("h2", {}, "Commands"), el("p.soft", {}, "Run these commands in the folder that contains all files to reproduce the scores."), renderExport(manifest.commands.join("\n"), "Commands", "commands.sh", "text/x-shellscript")));
    if (manifest.bibtex) container.append(el("section", {}, el("h2", {}, "Citation"), manifest.setup ? el("p", {}, manifest.setup) : null, renderExport(manifest.bibtex, "BibTeX", "truebleu.bib", "application/x-bibtex")));

    /** Create the checkbox for escaping formulas. */
    function createGuardCheckbox() { return createCheckbox("Safe for spreadsheets (put an apostrophe before formulas)", store.get("safe"), on => store.set({ safe: on }, { replace: true })); }
  },
};
