// Summary view: scores of all systems, with intervals, differences and significance tests.
import {renderBadge, createButton, copyText, formatCount, el, renderNumber, formatFixed, joinNames, formatApproximateCount, formatPlural, formatPValue, createStateLink, renderTable, formatScore, renderScore} from "./dom.js";
import {compareSystem, getFormats, linkSegments} from "./svg_charts.js";
import {renderForest} from "./forest.js";
import {renderFindings} from "./findings.js";

/** @typedef {import("./selection.js").Context} Context */

/** Number of disagreements shown before "more". */
const MAX_DISAGREEMENTS = 3;

/** @typedef {import("./report_data.js").System} System */
/** @typedef {import("./report_data.js").Setting} Setting */
/** @typedef {Setting & {digits: number, percentage: boolean}} ScoredMeasure  a setting, or an external metric in the same form */
/** @typedef {{system: System, scores: any, value: number, delta: number, test: any}} Row  `scores`: the system's scores in the comparison; `test`: the test of its difference from the baseline */

/** @type {import("./main.js").View} */
export const summaryView = {
  id: "summary", title: "Summary", key: "s", state: { by: "", more: "" },
  render(container, context) {
    const { data, current } = context, { manifest, manifest: { comparison: content } } = data, measures = listMeasures(context, content);
    container.append(el("h1", {}, el("bdi", {}, manifest.title)),
      el("p.facts", {}, [formatPlural(data.n, "segment"), formatPlural(data.systems.length, "system"), data.references ? formatPlural(data.references, "reference") : null,
        data.documents ? formatPlural(data.documents.names.length, "document") : null, formatLanguages(manifest)].filter(Boolean).join(" · ")),
      ...data.segmentMaps.map(({ text, problems }, k) => el("p.facts", {}, "Re-segmented: ", renderBadge(data.systems[k], true), `: ${text}. `, problems.length ? el("strong", {}, `Warning: ${joinNames(problems)}. `) : null, createStateLink(context.store, { view: "pictures", picture: "map" }, {}, "Show the map"))),
      ...(content.warnings ?? []).map((/** @type {any} */ warning) => el("p.opposed", { role: "note" }, el("strong", {}, "Warning: "), warning.text, linkFlag(context, warning))),
      el("p.lead", {}, renderLead(context)), renderOverview(context, measures, content));
    container.append(el("p.soft.note.legend-of-table", {}, [...manifest.legend ?? [], data.systems.length > 1 ? `Δ: difference from the baseline, ${current.a.letter} ${current.a.name}. You can change the baseline.` : ""].join(" ")));
    const forestFigure = renderForestPlot(context, measures, content);
    if (forestFigure) container.append(forestFigure);
    container.append(...renderDisagreements(context, content), ...renderFindings(context), ...measures.map(measure => renderDetails(context, measure, content)));
    container.append(el("div.notes", {}, [content.reading, ...(content.notes ?? []).filter((/** @type {any} */ n) => n.kind !== "disagreement").map((/** @type {any} */ n) => sentenceCase(n.text))].filter(Boolean).map(text => el("p.soft", {}, text))));
    // Copy the static sections about error spans, references and human scores.
    for (const id of ["spans", "references", "people"]) {
      const staticSection = document.getElementById(id);
      if (staticSection) { const copiedSection = /** @type {HTMLElement} */ (staticSection.cloneNode(true)); copiedSection.removeAttribute("id"); copiedSection.classList.add(id); container.append(copiedSection); }
    }
    const errorLabel = data.labels.findIndex(({ name }) => name === "error spans"), major = data.labels[errorLabel]?.values.indexOf("major errors") ?? -1;
    if (manifest.spans && major >= 0) container.querySelector(".spans")?.append(el("p", {}, linkSegments(context, "Segments with major errors", { label: `${errorLabel}:${major}` })));
    container.append(renderFacts(context, content));
  },
};

/** Link a warning to the segments with the flag of the data checks for the same marks. @param {Context} context @param {{kind: string, text: string, systems?: string[]}} warning */
function linkFlag(context, { kind, text, systems }) {
  const flag = kind === "subword marks" ? "tokenized" : kind.toLowerCase().replace(" ", "-"), { flags = [] } = context.data.manifest.health ?? {};
  return flags.some((/** @type {any} */ f) => f.id === flag) ? [/[.?]$/.test(text) ? " " : ". ", linkSegments(context, "Show all segments", { flag, ...compareSystem(context, systems?.[0]) })] : null;
}

/** @param {string} text */
const sentenceCase = text => text[0]?.toUpperCase() + text.slice(1);

/** @param {any} manifest */
const formatLanguages = ({ languages }) => languages?.source && languages?.target ? `${languages.source} → ${languages.target}` : languages?.target ?? null;

/** Return the measures of the comparison in order, preceded by the current setting if the comparison does not include it. @param {Context} context @param {any} content @returns {ScoredMeasure[]} */
export function listMeasures({ data, current }, content) {
  const { setting } = current, columns = (data.manifest.columns ?? []).map((/** @type {any} */ c) => ({ ...c, headline: true })), measures = [...data.settings.filter(s => s.headline), ...columns];
  const place = (/** @type {Setting} */ s) => content.metrics.findIndex((/** @type {any} */ m) => m.name === s.column);
  measures.sort((x, y) => place(x) - place(y));
  return [...(setting.headline ? [] : [setting]), ...measures].map(measure => ({ digits: 2, percentage: true, ...measure }));
}

/** Render the lead sentence of the report, or a sentence about scores computed in the browser. @param {Context} context */
function renderLead(context) {
  const { current, data } = context, { metric, isReported: reported } = current, { headline, comparison } = data.manifest, name = (/** @type {System} */ s) => renderBadge(s, true);
  if (reported && headline) return headline.map((/** @type {any} */ part) => typeof part === "string" ? part.replaceAll("p = ", "p\u00a0=\u00a0") : name(/** @type {System} */ (data.systems.find(s => s.name === part.system))));
  if (data.systems.length > 1 && !isTextSplit(context)) return `There is no best system, because ${metric.name} cannot split this text into words.`;
  const [[best, bestScore], second] = data.systems.map(s => /** @type {[System, number]} */ ([s, current.scoreCorpus(s)])).sort((x, y) => metric.higherIsBetter ? y[1] - x[1] : x[1] - y[1]);
  if (!second) return [name(best), " scores ", el("strong", {}, formatScore(bestScore)), ` ${metric.name}.`];
  const testNote = comparison.test || !reported ? " These scores were not tested for significance; the list of segments shows an interval." : " No significance test was run, so the difference may be due to chance.";
  if (second[1] === bestScore) return [name(best), " and ", name(second[0]), ` have the same ${metric.name}, ${formatScore(bestScore)}.`];
  const ends = current.getPair(second[0], best)?.interval, bestInterval = bestScore > second[1] ? ends && [ends.low, ends.high] : ends && [-ends.high, -ends.low];
  const otherWinners = reported ? data.settings.filter(s => s.headline && s !== current.setting).map(s => { const isBetter = (/** @type {System} */ x, /** @type {System} */ y) => (s.scores[x.name] - s.scores[y.name]) * (s.higher_is_better ? 1 : -1) > 0; return { label: s.label, first: data.systems.reduce((x, y) => isBetter(y, x) ? y : x, best) }; }) : [];
  const agreeingMetrics = otherWinners.filter(o => o.first === best).map(o => o.label), agreement = `${joinNames(agreeingMetrics)} rank${agreeingMetrics.length > 1 ? "" : "s"}`;
  return [name(best), ` has the best ${metric.name}: ${formatScore(bestScore)}, ${formatScore(Math.abs(bestScore - second[1]))} ${bestScore > second[1] ? "above" : "below"} `, name(second[0]), bestInterval ? ` (${Math.round(100 * current.level)}% interval ${formatScore(bestInterval[0])} to ${formatScore(bestInterval[1])})` : "", ".", testNote,
    agreeingMetrics.length ? ` ${agreement} the same system first.` : "", ...otherWinners.filter(o => o.first !== best).map(o => [` But ${o.label} ranks `, name(o.first), " first."])];
}

/** Return whether the tokenizer splits this text, so that scores are meaningful. @param {Context} context */
const isTextSplit = ({ current: { setting }, store, data: { manifest: { comparison } } }) => !!store.get("tokenize") || comparison.systems.some((/** @type {any} */ s) => s.scores[setting.column ?? ""]?.rank !== null);

/** Return the scores and tests of each system for a measure. @param {Context} context @param {ScoredMeasure} measure @param {any} content @returns {Row[]} */
function getRows({ data, current }, measure, content) {
  const isCurrent = measure.id === current.setting.id, reported = measure.headline && (!isCurrent || current.isReported), { a } = current, isReportedBaseline = content.baseline === a.name;
  const value = (/** @type {System} */ s) => isCurrent ? current.scoreCorpus(s) : measure.scores[s.name];
  return data.systems.map(system => {
    const reportedScores = reported ? content.systems.find((/** @type {any} */ s) => s.name === system.name)?.scores[measure.column ?? ""] : null;
    const test = !reportedScores || system === a ? null : isReportedBaseline ? reportedScores.difference : current.getPair(a, system, isCurrent ? current.setting : measure);
    return { system, scores: reportedScores, value: value(system), delta: value(system) - value(a), test };
  });
}

/** Return the p-value that decides significance. @param {any} test */
const getDecidingP = test => test?.corrected_p ?? test?.p;

/** Render the table of systems and metrics. @param {Context} context @param {ScoredMeasure[]} measures @param {any} content */
function renderOverview(context, measures, content) {
  const { data, store, current } = context, { a } = current, hasSeveralSystems = data.systems.length > 1, rows = measures.map(measure => getRows(context, measure, content)), isChanged = (/** @type {ScoredMeasure} */ measure) => measure.id === current.setting.id && !current.isReported;
  const sortKey = String(store.get("by")), key = sortKey.replace("-", ""), isDescending = sortKey[0] === "-", order = data.systems.map((_, i) => i), sortedMeasure = measures.findIndex(measure => measure.id === key);
  const getSortValue = (/** @type {number} */ i) => (measures[sortedMeasure].higher_is_better ? -1 : 1) * rows[sortedMeasure][i].value;
  if (key === "name") order.sort((i, j) => data.systems[i].name.localeCompare(data.systems[j].name));
  else if (sortedMeasure >= 0) order.sort((i, j) => getSortValue(i) - getSortValue(j));
  if (isDescending) order.reverse();
  const createSortButton = (/** @type {import("./dom.js").Children} */ title, /** @type {string} */ id) => createButton([title, el("span.arrow", { "aria-hidden": "true" }, key !== id ? "" : isDescending ? " ▲" : " ▼")], () => store.set({ by: sortKey === id ? `-${id}` : sortKey === `-${id}` ? "" : id }, { replace: true }), { title: "Sort" });
  const getSortDirection = (/** @type {string} */ id) => key === id ? (isDescending ? "ascending" : "descending") : null, hasClusters = (/** @type {ScoredMeasure} */ one) => hasSeveralSystems && content.test && one.headline && !isChanged(one) && content.metrics.some((/** @type {any} */ m) => m.name === one.column && m.clusters), countColumns = (/** @type {ScoredMeasure} */ one) => 1 + Number(hasSeveralSystems) + Number(!!hasClusters(one));
  const renderSmall = (/** @type {string} */ text) => text ? el("small.ends", {}, text) : null;
  const renderCells = (/** @type {ScoredMeasure} */ measure, /** @type {Row} */ { system, scores: reportedScores, value, delta, test }, /** @type {number} */ k) => {
    const format = getFormats(measure), best = hasSeveralSystems && reportedScores?.rank !== null && rows[k].every(r => r.scores?.rank === null || (measure.higher_is_better ? 1 : -1) * (value - r.value) >= 0), number = format.render(value, format.score(value, measure.digits)), p = getDecidingP(test), data = { measure: measure.id };
    return [el("td.number.first", { data }, best ? el("strong", {}, number) : number, renderSmall(reportedScores?.interval ? format.interval(reportedScores.interval.low, reportedScores.interval.high, measure.digits, false) : "")),
      hasSeveralSystems ? el("td.number", { data }, system === a ? el("em.soft", {}, "baseline") : [el("span", { class: test?.significant ? ((delta > 0) === measure.higher_is_better ? "better" : "worse") : "" }, format.render(delta, format.delta(delta, measure.digits)), test?.significant ? "*" : ""), typeof p === "number" ? [" ", el("small.p", { title: String(p) }, `p ${formatPValue(p)}`)] : null, renderSmall(test?.interval ? format.interval(test.interval.low, test.interval.high, measure.digits) : "")]) : null,
      hasClusters(measure) ? el("td.number", {}, reportedScores?.cluster ?? "") : null];
  };
  return el("div.table.overview", { tabindex: 0, role: "region", "aria-label": "Systems by all metrics" }, el("table", {}, el("caption.unseen", {}, "Systems by all metrics"),
    el("thead", {}, el("tr", {}, el("th", { scope: "col", rowspan: 2, "aria-sort": getSortDirection("name") }, createSortButton("System", "name")), measures.map(measure => el("th.over", { scope: "colgroup", colspan: countColumns(measure), title: measure.signature ? `${measure.name}|${measure.signature}` : "external scores" }, `${measure.label} ${getDirectionArrow(measure)}`, isChanged(measure) ? el("span.soft", {}, measure.headline ? ", changed" : ", not compared") : ""))),
      el("tr", {}, measures.map(measure => [el("th.number.first", { scope: "col", "aria-sort": getSortDirection(measure.id) }, createSortButton("score", measure.id)), hasSeveralSystems ? el("th.number", { scope: "col", title: `difference from ${a.letter} ${a.name}` }, "Δ from ", renderBadge(a)) : null, hasClusters(measure) ? el("th.number", { scope: "col", title: "all systems of a cluster are significantly better than the systems of later clusters" }, "cluster") : null]))),
    el("tbody", {}, order.map(i => el("tr", {}, el("th", { scope: "row" }, hasSeveralSystems ? el("label.check", {}, el("input", { type: "radio", name: "baseline", checked: data.systems[i] === a, title: "Use as baseline", "aria-label": `Baseline ${data.systems[i].letter} ${data.systems[i].name}`, on: { change: () => { const s = data.systems[i]; store.set(s === current.b ? { a: s.name, b: a.name } : { a: s.name }); } } })) : null, el("span.named", { title: data.systems[i].name }, renderBadge(data.systems[i], true))), measures.map((one, k) => renderCells(one, rows[k][i], k)))))));
}

/** Render the forest plot of differences from the baseline, or of a single system's scores. @param {Context} context @param {ScoredMeasure[]} measures @param {any} content */
export function renderForestPlot(context, measures, content) {
  const { data, current } = context, hasSeveralSystems = data.systems.length > 1, level = Math.round(100 * current.level);
  const panels = measures.map(measure => ({ label: measure.label, title: hasSeveralSystems ? `Δ ${measure.label} from ${current.a.letter}` : measure.label, higher: measure.higher_is_better, digits: measure.digits, percentage: measure.percentage, entries: getRows(context, measure, content).map(({ scores: reportedScores, value, delta, test }) => {
    const ends = hasSeveralSystems ? test?.interval : reportedScores?.interval, p = getDecidingP(test);
    return ends ? { value: hasSeveralSystems ? delta : value, low: ends.low, high: ends.high, isSignificant: !!test?.significant, isBetter: (delta > 0) === measure.higher_is_better, p: typeof p === "number" ? `p ${formatPValue(p)}` : "" } : null;
  }) })).filter(panel => panel.entries.some(Boolean));
  if (!panels.length) return null;
  const backwards = panels.filter(panel => !panel.higher).map(panel => panel.label);
  return renderForest(hasSeveralSystems ? `Differences from ${current.a.letter} ${current.a.name} with ${level}% intervals.` : `Scores with ${level}% intervals.`, hasSeveralSystems ? `Better values are on the right${backwards.length ? `; the axis of ${backwards.join(" and ")} is reversed` : ""}. Filled points mark significant differences.` : "", data.systems, panels, hasSeveralSystems);
}

/** Render the details of a metric. @param {Context} context @param {ScoredMeasure} measure @param {any} content */
function renderDetails(context, measure, content) {
  const { data, store } = context, ids = String(store.get("more")).split(",").filter(Boolean), open = ids.includes(measure.id), reportedMeasure = data.settings.find(s => s.id === measure.id) ?? measure;
  const contents = ["intervals", data.systems.length > 1 ? "tests" : "", ...data.settings.some(s => s.id === measure.id && s.metric === "BLEU") ? ["components", "lengths"] : [], data.systems.length > 2 ? "all pairs" : ""].filter(Boolean);
  return el("details.metric", { open, on: { toggle: (/** @type {any} */ e) => { if (e.target.open !== open) store.set({ more: (open ? ids.filter(id => id !== measure.id) : [...ids, measure.id]).join(",") }, { replace: true }); } } },
    el("summary", {}, `${measure.label} ${getDirectionArrow(measure)} in detail: ${joinNames(contents)}`), open ? renderMetricTable(context, reportedMeasure, content) : null);
}

/** Render sentences about metrics that prefer opposite systems, with links to the segments. @param {Context} context @param {any} content */
function renderDisagreements({ store, current }, content) {
  const sentences = (content.notes ?? []).filter((/** @type {any} */ n) => n.kind === "disagreement").map((/** @type {any} */ note) => {
    const [b, a] = note.systems, [first, second] = note.systems.map((/** @type {string} */ name) => note.metrics.find((/** @type {any} */ m) => m.better === name).metric).map((/** @type {string} */ name) => current.measures.find(m => m.column === name)?.id ?? "");
    const state = { view: "agreement", a, b, across: first, up: second };
    return el("p.opposed", {}, note.text, " ", createStateLink(store, state, {}, "Show the segments"));
  });
  return sentences.length > MAX_DISAGREEMENTS ? [...sentences.slice(0, MAX_DISAGREEMENTS), el("details", {}, el("summary", {}, `${sentences.length - MAX_DISAGREEMENTS} more pairs of systems on which metrics disagree`), sentences.slice(MAX_DISAGREEMENTS))] : sentences;
}

/** Return the arrow of the metric's direction. @param {{higher_is_better: boolean}} metric */
const getDirectionArrow = metric => metric.higher_is_better ? "↑" : "↓";

/** Render the table of one metric. @param {Context} context @param {Setting} setting @param {any} content */
function renderMetricTable(context, setting, content) {
  const { data, current } = context, isCurrent = setting.id === current.setting.id, reported = setting.headline && (!isCurrent || current.isReported), hasSeveralSystems = data.systems.length > 1, digits = /** @type {any} */ (setting).digits ?? 2, format = getFormats(/** @type {any} */ (setting)), { a } = current;
  const rows = getRows(context, /** @type {ScoredMeasure} */ (setting), content), hasComponents = rows.every(r => r.scores?.details?.precisions && r.scores.details.brevity_penalty !== undefined), level = `${Math.round(100 * current.level)}% interval`, tests = content.test;
  /** @type {[import("./dom.js").Column, (row: Row) => any][]} */
  const columns = [[{ title: "System" }, r => renderBadge(r.system, true)],
    [{ title: `${setting.name} ${getDirectionArrow(setting)}`, number: true, hint: setting.signature ? `${setting.name}|${setting.signature}` : "external scores" }, r => [format.render(r.value, format.score(r.value, digits)), renderLetters(r.scores?.better_than, data)]]];
  if (content.intervals && reported) columns.push([{ title: level, number: true, hint: content.intervals.title }, r => r.scores?.interval ? format.interval(r.scores.interval.low, r.scores.interval.high, digits, false) : el("span.soft", {}, "n too small")]);
  if (hasSeveralSystems) {
    columns.push([{ title: "Δ", number: true, hint: `difference from ${a.letter} ${a.name}` }, r => r.system === a ? el("span.soft", {}, "baseline") : format.render(r.delta, format.delta(r.delta, digits))]);
    if (content.intervals && reported) columns.push([{ title: "interval of Δ", number: true }, r => r.system === a ? "" : r.test?.interval ? format.interval(r.test.interval.low, r.test.interval.high, digits) : el("span.soft", {}, "n too small")]);
    if (tests && reported) columns.push([{ title: content.correction ? `p (${content.correction.title})` : "p", number: true, hint: tests.title }, r => { const p = getDecidingP(r.test); return typeof p === "number" ? [renderNumber(p, formatPValue(p)), r.test.significant ? el("span", { title: "significant" }, "*") : el("span.soft", {}, " ")] : ""; }]);
    if (reported) columns.push([{ title: "segments won / tied / lost", number: true, hint: "segments with a better, equal or worse score than the baseline" }, r => r.test ? `${formatCount(r.test.wins)} / ${formatCount(r.test.ties)} / ${formatCount(r.test.losses)}` : ""]);
    if (rows.some(r => r.test?.segments_needed)) columns.push([{ title: "segments needed for 80% power", number: true, hint: "approximate number of similar segments for which this difference would be significant with 80% probability" }, r => r.test?.segments_needed ? formatApproximateCount(r.test.segments_needed) : ""]);
  }
  return el("section", {}, renderTable(`Systems by ${setting.label}`, columns.map(([head]) => head), rows.map(row => columns.map(([, cell]) => cell(row))), { quiet: true }),
    tests && reported && hasSeveralSystems ? el("p.soft.note", {}, "Superscript letters name the systems that are significantly worse.") : null,
    hasComponents ? renderComponents(rows.map(row => [row.system, row.scores.details]), setting.label) : null,
    data.systems.length > 2 ? renderMatrix(context, /** @type {ScoredMeasure} */ (setting)) : null,
    setting.signature ? renderSignature(isCurrent ? current.metric.name : setting.name, isCurrent ? current.metric.signature : setting.signature) : null);
}

/** Render the components of the scores. @param {[import("./report_data.js").System, any][]} rows @param {string} label */
function renderComponents(rows, label) {
  const orders = Math.max(...rows.map(([, details]) => details.precisions.length)), formatNumber = (/** @type {number} */ x) => x % 1 ? formatFixed(x, 1) : formatCount(x);
  return renderTable(`Components of ${label}`, [{ title: "System" }, ...Array.from({ length: orders }, (_, n) => ({ title: [`p`, el("sub", {}, String(n + 1))], number: true, hint: `precision of ${n + 1}-grams, as a percentage` })),
    { title: "brevity penalty", number: true }, { title: "system tokens", number: true }, { title: "effective reference length", number: true }, { title: "length ratio", number: true }],
  rows.map(([system, details]) => [renderBadge(system, true), ...details.precisions.map((/** @type {number} */ p) => renderScore(p, formatScore(p, 1))), renderNumber(details.brevity_penalty, formatFixed(details.brevity_penalty, 3)), formatCount(details.hypothesis_length), formatNumber(details.reference_length), renderNumber(details.ratio, formatFixed(details.ratio, 3))]), { quiet: true });
}

/** Render the letters of the systems that are significantly worse. @param {string[] | undefined} names @param {import("./report_data.js").ReportData} data */
function renderLetters(names, data) {
  const beatenSystems = data.systems.filter(s => names?.includes(s.name));
  return beatenSystems.length ? el("sup", { title: `significantly better than ${beatenSystems.map(s => s.name).join(", ")}` }, beatenSystems.map(s => s.letter).join("")) : null;
}

/** Render the matrix of all pairs of systems. @param {Context} context @param {ScoredMeasure} measure */
function renderMatrix({ data, store, current }, measure) {
  const isCurrent = measure.id === current.setting.id, systems = data.systems, values = systems.map(s => isCurrent ? current.scoreCorpus(s) : measure.scores[s.name]);
  const span = Math.max(...values) - Math.min(...values) || 1, comparedMeasure = isCurrent ? current.setting : measure;
  return el("section", {}, el("h3", {}, `Δ ${measure.label} of all pairs of systems`), el("p.soft", {}, "Row − column. A star marks significant differences. Click a cell to compare its systems."),
    renderTable(`Δ ${measure.label}, row − column`, [{ title: "System" }, ...systems.map(s => ({ title: renderBadge(s), number: true, hint: s.name }))], systems.map((row, i) => [renderBadge(row, true), ...systems.map((column, j) => {
      if (i === j) return "";
      const delta = values[i] - values[j], pair = current.getPair(column, row, comparedMeasure), good = (delta > 0) === measure.higher_is_better;
      const strength = delta ? Math.min(4, Math.ceil(4 * Math.abs(delta) / span)) : 0;
      return createButton([getFormats(measure).delta(delta, measure.digits ?? 2), pair?.significant ? "*" : ""], () => store.set({ a: column.name, b: row.name }), { class: `heat ${good ? "better" : "worse"}-${strength}`, title: pair?.interval ? getFormats(measure).interval(pair.interval.low, pair.interval.high) : null });
    })]), { quiet: true }));
}

/** Render a signature that is copied on click. @param {string} name @param {string} text */
const renderSignature = (name, text) => createButton(el("code", {}, `${name}|${text}`.split("|").flatMap((part, i) => i ? ["|", el("wbr"), part] : [part])), () => copyText(`${name}|${text}`, "Signature copied"), { class: "chip", title: "Copy the signature" });

/** @param {Context} context @param {any} content */
function renderFacts({ data }, content) {
  const { manifest } = data;
  /** @type {[string, any][]} */
  const rows = [...data.settings.filter(s => s.headline), ...(manifest.columns ?? []).filter((/** @type {any} */ c) => c.signature)].map(s => /** @type {[string, any]} */ ([s.label, renderSignature(s.name, s.signature)]));
  if (content.test) rows.push(["Test", `${content.test.title}, ${formatCount(content.test.samples)} samples, α = ${content.test.alpha}`]);
  if (content.intervals) rows.push(["Intervals", `${Math.round(100 * content.level)}%, ${content.intervals.title}, ${formatCount(content.intervals.samples)} resamples`]);
  if (content.test || content.intervals) rows.push(["Seed", content.seed ?? "new for each run"]);
  if (data.isRedacted) rows.push(["Text", "not in this report"]);
  else if (manifest.embedded < data.n && !manifest.serve) rows.push(["Text", `${formatCount(manifest.embedded)} of ${formatPlural(data.n, "segment")}: the most influential ones and an equal number chosen at random`]);
  const hashes = Object.entries(manifest.data_hash ?? {});
  if (hashes.length) rows.push(["Data (SHA-256)", hashes.map(([name, hash], i) => [i ? ", " : "", el("bdi", {}, name), " ", el("code", {}, /** @type {string} */ (hash))])]);
  rows.push(["Version", `truebleu ${manifest.version}`]);
  if (manifest.made) rows.push(["Created", manifest.made]);
  return el("section", {}, el("h2", {}, "Settings and data"), el("dl", {}, rows.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])));
}
