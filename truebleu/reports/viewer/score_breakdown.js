// Why view: the calculation of each score, the parts of Δ, and scores with other settings.
import {renderBadge, createButton, formatCount, el, renderNumber, labelControl, formatFixed, formatPlural, createSelect, formatSigned, renderTable, formatScore, formatDelta, formatScoreInterval, renderScore, getPointUnit} from "./dom.js";
import {METRIC_KEYS, MAX_ORDERS, TOO_FEW} from "./selection.js";
import {DEFAULT_SMOOTHING_VALUES, TOKENIZERS} from "./kernel_client.js";
import {renderFigure, linkSegments, drawStackedBar} from "./svg_charts.js";
import {countsEdits, Metric} from "./metric.js";

/** @typedef {import("./selection.js").Context} Context */
/** @typedef {import("./metric.js").ScoreSteps} Walk */
/** @typedef {{name: string, a: number, b: number, log: number, points: number}} DeltaPart */

/** @type {import("./main.js").View} */
export const whyView = {
  id: "why", title: "Why", key: "w",
  render(container, context) {
    const { metric } = context.current;
    container.append(el("h1", {}, "Why"), el("p.facts", {}, FORMULAS[metric.kind], metric.kind === "TER" ? "" : " Click a number to see its segments."), renderScoreSteps(context));
    if (context.current.b) container.append(renderDeltaParts(context));
    container.append(renderWhatIf(context));
    if (context.data.settings.length > 1 || !context.current.metric.isReported) container.append(renderSettings(context));
  },
};

const FORMULAS = {
  "BLEU": "BLEU is the brevity penalty times the geometric mean of the n-gram precisions.",
  "chrF": "chrF is the F-score of character n-gram precision and recall, each averaged over the orders.",
  "WER": "WER is the number of edits per 100 reference words. Lower is better.",
  "CER": "CER is the number of edits per 100 reference characters. Lower is better.",
  "MER": "MER is the number of edits divided by the number of hits and edits, as a percentage. Lower is better.",
  "WIL": "WIL is 100 − WIP. WIP is the share of reference words that are hits times the share of hypothesis words that are hits. Lower WIL is better.",
  "WIP": "WIP is the share of reference words that are hits times the share of hypothesis words that are hits, as a percentage.",
  "TER": "TER is the number of edits per 100 words of average reference length. Lower is better.",
};

/** @param {number} x */
const formatLength = x => x % 1 ? formatFixed(x, 2) : formatCount(x);

// ---- calculation of the score ----

/** @param {Context} context */
function renderScoreSteps(context) {
  const { data, current } = context, { a, b, setting, metric } = current, systems = current.comparedSystems, box = el("section", {}, el("h2", {}, "From counts to the score"));
  if (metric.usesSegmentMean) {
    box.append(el("p", {}, `This ${metric.name} is the mean score of ${formatPlural(data.n, "segment")}. Open a segment to see its calculation.`),
      renderTable("Steps", [{ title: "Step" }, ...systems.map(s => ({ title: renderBadge(s, true), number: true }))], [["Mean of segment scores", ...systems.map(s => linkSegments(context, formatScore(current.scoreCorpus(s)), { sort: s === a ? "scoreA" : "scoreB" }))]], { quiet: true }));
    return box;
  }
  const walks = systems.map(s => metric.breakDown(current.getTable(s).totals, false));
  /** Return a count as a link to the segments that contribute to it. @param {number} x @param {string} column @param {import("./report_data.js").System} s @param {number} [minimum] */
  const linkCount = (x, column, s, minimum = 1) => linkSegments(context, formatLength(x), { sort: `-${column}.${s.index}`, range: minimum ? `${column}.${s.index}:${minimum}:` : "" }, "Show its segments, largest counts first");
  const linkDelta = (/** @type {number | null} */ x, /** @type {string} */ column, digits = 2, isPercentage = false) => b ? x === null ? "" : el("span", {}, linkSegments(context, (isPercentage ? formatDelta : formatSigned)(x, digits), { sort: `-|${column}.d|` }, `Show the segments in which ${b.letter} and ${a.letter} differ most`)) : null;
  const renderDelta = (/** @type {number} */ x) => el("span", { class: !x ? "soft" : (x > 0) === metric.higherIsBetter ? "better" : "worse" }, renderScore(x, formatDelta(x)));
  const renderDifference = (/** @type {(w: Walk) => number} */ getValue, digits = 2) => b ? renderNumber(getValue(walks[1]) - getValue(walks[0]), formatSigned(getValue(walks[1]) - getValue(walks[0]), digits)) : null;
  const buildRow = (/** @type {any} */ name, /** @type {(w: Walk, s: import("./report_data.js").System) => any[]} */ cells, /** @type {any} */ last) => [name, ...walks.flatMap((w, k) => cells(w, systems[k])), ...(b ? [last] : [])];
  const score = buildRow(el("strong", {}, metric.name), (w, s) => ["", linkSegments(context, el("strong", {}, renderScore(w.value)), { sort: s === a ? "scoreA" : "scoreB" })].slice(countsEdits(metric.kind) ? 1 : 0), b ? renderDelta(walks[1].value - walks[0].value) : null);
  const notes = new Set(), smoothed = /** @type {Map<string, string[]>} */ (new Map());
  let rows, heads;
  if (metric.kind === "TER") {
    heads = [""];
    rows = [buildRow("Edits", (w, s) => [linkCount(w.hypothesis, "edits", s)], linkDelta(walks[1]?.hypothesis - walks[0].hypothesis, "edits", 0)),
      buildRow("Average reference length in words", (w, s) => [linkCount(w.reference, "reference_length_parts", s, 0)], renderDifference(w => w.reference)), score];
  } else if (countsEdits(metric.kind)) {
    heads = [""];
    rows = [...setting.columns.map((name, n) => buildRow(name[0].toUpperCase() + name.slice(1), (w, s) => [linkCount(w.editCounts?.[n] ?? 0, name, s)], linkDelta((walks[1]?.editCounts?.[n] ?? 0) - (walks[0].editCounts?.[n] ?? 0), name, 0))),
      buildRow("Reference length", w => [formatCount(w.reference)], renderDifference(w => w.reference, 0)), buildRow("Hypothesis length", w => [formatCount(w.hypothesis)], renderDifference(w => w.hypothesis, 0)), score];
  } else if (metric.kind === "chrF") {
    heads = ["matches / hypothesis / reference", `P, R, F${getPointUnit() === "points" ? " %" : ""}`];
    const shares = (/** @type {(number | null | undefined)[]} */ ...all) => all.map((x, k) => [k ? ", " : "", renderScore(x, formatScore(x, 1))]);
    rows = walks[0].steps.map((first, n) => buildRow(first.order.replace(/^c(.*)/, "character $1-grams").replace(/^w(.*)/, "word $1-grams"), (w, s) => {
      const step = w.steps[n], { order } = step;
      return [[linkCount(step.match, `matches_${order}`, s), " / ", linkCount(step.total, `hypothesis_${order}`, s), " / ", linkCount(step.reference ?? 0, `reference_${order}`, s)], step.isUsed ? shares(step.precision, step.recall, step.f) : el("span.soft", {}, "skipped")];
    }, b ? linkDelta((walks[1].steps[n].f ?? 0) - (first.f ?? 0), `matches_${first.order}`, 2, true) : null));
    rows.push(buildRow("Mean over the orders", w => ["", metric.parameters.eps_smoothing ? "" : shares(...w.shares ?? [], w.value)], ""), score);
    if (metric.parameters.eps_smoothing) notes.add("The score is the mean of the F-scores of all orders, with zeros replaced by a small value.");
    else notes.add(`The score is the F-score of the two means, with recall weighted ${metric.parameters.beta} times as much as precision.`);
  } else {
    heads = ["matches / total", getPointUnit() === "points" ? "%" : "precision"];
    rows = walks[0].steps.map((first, n) => buildRow(`${first.order}-grams`, (w, s) => {
      const step = w.steps[n];
      if (step.note) smoothed.set(step.note, [...smoothed.get(step.note) ?? [], `${s.letter} ${step.order}-grams`]);
      return [[linkCount(step.match, `matches_${step.order}`, s), " / ", linkCount(step.total, `totals_${step.order}`, s)], step.isUsed ? renderScore(step.precision ?? 100, (step.note ? "≈ " : "") + formatScore(step.precision ?? 100)) : el("span.soft", {}, "skipped")];
    }, b ? linkDelta((walks[1].steps[n].precision ?? 100) - (first.precision ?? 100), `matches_${first.order}`, 2, true) : null));
    const smooth = metric.parameters.smoothing;
    if (smooth === "none") notes.add("No smoothing: the score is 0 if an order has no matches.");
    else if (!smoothed.size) notes.add(`Smoothing (${smooth}) had no effect: every order has matches.`);
    rows.push(buildRow("Geometric mean", w => ["", renderScore(w.mean)], b ? renderDelta(walks[1].mean - walks[0].mean) : ""),
      buildRow("Length c, reference length r", (w, s) => [[linkCount(w.hypothesis, "hypothesis_length", s), " / ", linkCount(w.reference, "reference_length", s, 0)], renderScore(w.reference ? 100 * w.hypothesis / w.reference : 0)], b ? linkDelta(100 * (walks[1].hypothesis / walks[1].reference - walks[0].hypothesis / walks[0].reference), "hypothesis_length", 2, true) : null),
      buildRow("Brevity penalty", w => [w.brevity < 1 ? "exp(1 − r/c)" : "c ≥ r", renderNumber(w.brevity, formatFixed(w.brevity, 4))], renderDifference(w => w.brevity, 4)), score);
  }
  const columns = [{ title: "Step" }, ...systems.flatMap(s => heads.map((title, k) => ({ title: [renderBadge(s), " ", title], number: true, hint: k ? "" : s.name }))), ...(b ? [{ title: "Δ", number: true, hint: `${b.letter} − ${a.letter}` }] : [])];
  box.append(renderTable(`Steps to ${metric.name}`, columns, rows, { quiet: true, class: "walk" }));
  const product = (/** @type {Walk} */ w) => metric.kind === "BLEU" ? `${formatFixed(w.brevity, 4)} × ${formatScore(w.mean)}` : `${getPointUnit() === "points" ? "100 × " : ""}${formatLength(w.hypothesis)} / ${formatLength(w.reference)}`;
  if (metric.kind === "BLEU" || metric.kind === "TER") box.append(el("p", {}, walks.map((w, k) => [k ? " " : "", renderBadge(systems[k]), ` ${formatScore(w.value)} = ${product(w)}.`])));
  for (const [note, labels] of smoothed) notes.add(`≈ ${note} (${labels.join(", ")}).`);
  for (const note of notes) box.append(el("p.soft.note", {}, note));
  return box;
}

// ---- the parts of Δ ----

/**
 * Split Δ ln BLEU into parts of the brevity penalty and of each order, which add up. As part of Δ, each part
 * is multiplied by the logarithmic mean of the two scores, so that the parts add up to Δ. `reason`: why there are no parts.
 * @param {Walk} a @param {Walk} b @param {Metric} metric @returns {{parts: DeltaPart[], log: number, reason: string}}
 */
export function splitDelta(a, b, metric) {
  const noParts = (/** @type {string} */ why) => ({ parts: [], log: NaN, reason: why });
  if (metric.kind !== "BLEU") return noParts(`${metric.name} is not a product, so its logarithm cannot be split.`);
  if (metric.usesSegmentMean) return noParts("The score is a mean of segment scores, not a product.");
  if (!a.value || !b.value) return noParts("The logarithm of a score of 0 is undefined.");
  const { weights } = metric.parameters, n = a.steps.length;
  const terms = (/** @type {Walk} */ w) => {
    const usedCount = w.steps.filter(s => s.isUsed).length, all = w.steps.map((_, i) => weights ? weights[i] : 1), sum = all.slice(0, usedCount).reduce((x, y) => x + y, 0);
    return w.steps.map((s, i) => s.isUsed ? all[i] / (weights && usedCount === n ? 1 : sum) * Math.log((s.precision ?? 100) / 100) : 0);
  };
  const [x, y] = [terms(a), terms(b)], log = Math.log(b.value / a.value), mean = log ? (b.value - a.value) / log : a.value;
  const deltaParts = [{ name: "length (BP)", a: Math.log(a.brevity), b: Math.log(b.brevity) }, ...x.map((term, i) => ({ name: `${a.steps[i].order}-grams`, a: term, b: y[i] }))]
    .map(p => ({ ...p, log: p.b - p.a, points: (p.b - p.a) * mean }));
  if (!(Math.abs(deltaParts.reduce((sum, p) => sum + p.log, 0) - log) < 1e-9)) return noParts("The score of this variant is not a product of precisions.");
  return { parts: deltaParts, log, reason: "" };
}

/** @param {Context} context */
function renderDeltaParts(context) {
  const { current } = context, { a, setting, metric } = current, b = /** @type {import("./report_data.js").System} */ (current.b), box = el("section", {}, el("h2", {}, "Parts of Δ"));
  const [x, y] = [a, b].map(s => metric.breakDown(current.getTable(s).totals, false)), { parts: deltaParts, log, reason } = splitDelta(x, y, metric);
  if (reason) { box.append(el("p.soft", {}, `Δ cannot be split. ${reason}`)); return box; }
  const delta = y.value - x.value, sign = Math.sign(delta), [largestPart] = [...deltaParts].sort((p, q) => sign * (q.points - p.points)), opposingParts = deltaParts.filter(p => p.points * sign < -0.005);
  const ends = getDeltaInterval(context, setting, metric);
  const summary = [`${b.letter} − ${a.letter} is ${formatDelta(delta)} ${metric.name} ${ends ? formatScoreInterval(ends.low, ends.high) : ends === null ? `(${TOO_FEW})` : "(interval …)"}. `, delta ? `The largest part is ${largestPart.name}, with ${formatDelta(largestPart.points)}${getPointUnit() === "points" ? " points" : ""}` : "The scores are equal",
    opposingParts.length ? `; ${opposingParts.map(p => `${p.name} (${formatDelta(p.points)})`).join(" and ")} ${opposingParts.length > 1 ? "have" : "has"} the opposite sign.` : "."];
  const rows = deltaParts.map(p => [p.name, renderNumber(p.a, formatFixed(p.a, 4)), renderNumber(p.b, formatFixed(p.b, 4)), renderNumber(p.log, formatSigned(p.log, 4)), log ? `${formatFixed(100 * p.log / log, 1)}%` : "–", renderScore(p.points, formatDelta(p.points))]);
  rows.push([el("strong", {}, "ln BLEU"), ...[x, y].map(w => renderNumber(Math.log(w.value / 100), formatFixed(Math.log(w.value / 100), 4))), renderNumber(log, formatSigned(log, 4)), log ? "100.0%" : "–", el("strong", {}, renderScore(delta, formatDelta(delta)))]);
  const columns = [{ title: "Part" }, ...[a, b].map(s => ({ title: renderBadge(s), number: true, hint: s.name })), { title: "Δ ln", number: true }, { title: "Share", number: true }, { title: getPointUnit() === "points" ? "Δ, points" : "Part of Δ", number: true }];
  box.append(el("p.soft", {}, "ln BLEU = min(0, 1 − r/c) + Σ w ln p, so its difference is the sum of these parts. To get the parts of Δ, multiply each part by ", `(${b.letter} − ${a.letter}) / (ln ${b.letter} − ln ${a.letter}).`),
    renderFigure({ title: "Parts of Δ.", summary, columns, rows, draw: width => drawStackedBar(deltaParts.map(p => ({ name: p.name, value: p.points })), `Parts of Δ: ${deltaParts.map(p => `${p.name} ${formatDelta(p.points)}`).join(", ")}`, width) }));
  box.querySelector("details").open = true;
  return box;
}

/** Return the interval of Δ, computed with the same method for all settings, null if unavailable, or undefined until it is computed. @param {Context} context @param {import("./report_data.js").Setting} setting @param {Metric} metric @returns {{low: number, high: number} | null | undefined} */
function getDeltaInterval({ current }, setting, metric) {
  if (!current.b) return null;
  const spans = current.getSpans(setting, metric);
  return spans && { low: spans.delta[0], high: spans.delta[1] };
}

// ---- what if ----

/** @param {Context} context */
function renderWhatIf(context) {
  const { data, store, current } = context, { setting, metric } = current, defaults = setting.parameters, countable = data.canCount(setting), requested = current.requestedChanges;
  const p = /** @type {Record<string, any>} */ ({ ...metric.parameters, ...requested });
  const setParameter = (/** @type {string} */ key, /** @type {any} */ value, /** @type {Record<string, any>} */ more = {}) => store.set({ [key]: JSON.stringify(value) === JSON.stringify(defaults[key]) ? store.defaults[key] : value, ...more });
  const createNumberField = (/** @type {string} */ key, /** @type {any} */ value, /** @type {Record<string, any>} */ props) => el("input", { type: "number", value: String(value), ...props, on: { change: (/** @type {any} */ e) => { if (e.target.value !== "" && e.target.checkValidity()) setParameter(key, Number(e.target.value)); else e.target.reportValidity(); } } });
  const createOrderSelect = (/** @type {string} */ key, /** @type {number} */ minimum) => createSelect(key.replace("_", " "), Array.from({ length: (countable ? Math.max(defaults[key], MAX_ORDERS[key]) : defaults[key]) - minimum + 1 }, (_, i) => [String(minimum + i), String(minimum + i)]), String(p[key]), v => setParameter(key, Number(v), key === "max_order" && p.weights && p.weights.length !== Number(v) ? { weights: defaults.weights ? "mean" : "" } : {}));
  const fields = [];
  if (metric.kind === "BLEU" && p.arithmetic === "sacrebleu") {
    const preset = DEFAULT_SMOOTHING_VALUES[p.smoothing];
    fields.push(labelControl("Smoothing", createSelect("Smoothing", Object.keys(DEFAULT_SMOOTHING_VALUES).map(name => [name, name]), p.smoothing, v => setParameter("smoothing", v, { smoothing_value: null }))));
    if (preset !== null) fields.push(labelControl("Smoothing value", createNumberField("smoothing_value", p.smoothing_value ?? preset, { min: 0, step: "any", max: 1000 })));
    fields.push(labelControl("Highest order", createOrderSelect("max_order", 1)));
    fields.push(labelControl("Weights", el("input", { type: "text", value: p.weights ? p.weights.join(", ") : "", placeholder: "equal", on: { change: (/** @type {any} */ e) => {
      const text = e.target.value.trim(), all = text.split(/[\s,;]+/).map(Number);
      const isInvalid = text && (all.length !== p.max_order || all.some((/** @type {number} */ w) => !(w >= 0)) || !all.some((/** @type {number} */ w) => w > 0));
      e.target.setCustomValidity(isInvalid ? `expected ${p.max_order} numbers, one per order, at least 0 and not all 0` : "");
      if (isInvalid) e.target.reportValidity();
      else store.set({ weights: !text ? (defaults.weights ? "mean" : "") : JSON.stringify(all) === JSON.stringify(defaults.weights) ? "" : all.join(",") });
    } } })));
    const effective = p.effective_order === null ? "" : p.effective_order ? "yes" : "no";
    fields.push(labelControl("Orders without n-grams", createSelect("Orders without n-grams", [["", "skipped in segment scores only"], ["yes", "skipped (effective order)"], ["no", "counted as 0"]].filter(([v]) => v || defaults.effective_order === null).map(([v, t]) => /** @type {const} */ ([v, t])), effective, v => store.set({ effective_order: v === (defaults.effective_order === null ? "" : defaults.effective_order ? "yes" : "no") ? "" : v }))));
  } else if (metric.kind === "chrF" && (countable || data.references === 1)) {
    fields.push(labelControl("Character orders", createOrderSelect("char_order", defaults.word_order ? 0 : 1)), countable || defaults.word_order ? labelControl("Word orders", createOrderSelect("word_order", 0)) : null, labelControl("β", createNumberField("beta", p.beta, { min: 0, max: 100, step: "any" })));
  }
  if (countable) for (const [key, [name, hint]] of Object.entries(COUNT_CONTROLS)) {
    if (key === "tokenize" ? typeof defaults[key] !== "string" : typeof defaults[key] !== "boolean") continue;
    const setFlag = (/** @type {any} */ value) => store.set({ [key]: value === defaults[key] ? "" : typeof value === "string" ? value : value ? "yes" : "no" });
    fields.push(key === "tokenize" ? labelControl(name, createSelect(name, [...new Set([defaults[key], ...TOKENIZERS])].map(id => [id, id]), p[key], setFlag))
      : labelControl(name, createSelect(name, [["yes", hint[0]], ["no", hint[1]]], p[key] ? "yes" : "no", value => setFlag(value === "yes"))));
  }
  const reason = metric.kind === "chrF" ? "With several references, chrF uses the best reference for each segment. If you change the orders, a different reference may be best, so the counts must be recomputed." : countsEdits(metric.kind) ? `${metric.kind} has no parameters that can be changed without recomputing the counts.` : "This variant has fixed parameters. Changing other settings requires recomputing the counts.";
  const isChanged = METRIC_KEYS.some(key => store.get(key) !== store.defaults[key]);
  const texts = data.isRedacted || data.manifest.embedded < data.n || data.manifest.serve;
  return el("section", {}, el("h2", {}, "What if"), el("p.soft", {}, countable ? "All views use these settings. The report contains the scoring kernel. Recomputed scores agree with Python's to 12 digits."
    : ["All views use these settings. Changing the tokenizer or the case requires recomputing the counts, ", texts ? "but this report does not have all texts" : "but the browser kernel does not support this tokenizer or Unicode form", ". ", data.settings.length > 1 ? "The settings of this report are listed below." : "This report has one setting.", " Add settings with ", el("code", {}, "--also tokenize=intl,char lowercase"), "."]),
    fields.length ? el("div.fields", {}, fields, isChanged ? createButton("Reset", () => store.set(store.getDefaults(METRIC_KEYS))) : null) : el("p.soft", {}, reason));
}

/** Titles of the parameters that affect the counts, and of their values yes and no. @type {Record<string, [string, string[]]>} */
const COUNT_CONTROLS = { tokenize: ["Tokenizer", []], lowercase: ["Case", ["lowercased", "unchanged"]], case_sensitive: ["Case", ["unchanged", "lowercased"]], whitespace: ["White space", ["included", "ignored"]],
  normalized: ["Tercom's normalization", ["on", "off"]], no_punct: ["Punctuation", ["deleted", "kept"]], asian_support: ["Chinese and Japanese", ["each ideograph is a token", "unchanged"]] };

/** Render the scores of all settings in the report, and of the current settings. @param {Context} context */
function renderSettings(context) {
  const { data, store, current } = context, { a, b } = current, systems = data.systems.length > 6 ? current.comparedSystems : data.systems;
  const rows = data.settings.map(setting => ({ setting, metric: new Metric(setting, {}, data.client), isCurrent: setting === current.setting && current.metric.isReported, label: setting.label }));
  if (!current.metric.isReported) rows.splice(data.settings.indexOf(current.setting) + 1, 0, { setting: current.setting, metric: current.metric, isCurrent: true, label: `${current.metric.name}, changed` });
  const columns = [{ title: "Setting" }, ...systems.map(s => ({ title: renderBadge(s), number: true, hint: s.name })), ...(b ? [{ title: `Δ (${b.letter} − ${a.letter})`, number: true }, { title: "interval of Δ", number: true }] : []), { title: "Signature" }];
  return el("section", {}, el("h2", {}, "All settings"), renderTable("All settings", columns, rows.map(({ setting, metric, isCurrent, label }) => {
    const value = (/** @type {import("./report_data.js").System} */ s) => metric.isReported ? setting.scores[s.name] : current.scoreCorpus(s);
    const spans = getDeltaInterval(context, setting, metric);
    return { class: isCurrent ? "chosen" : "", cells: [isCurrent ? el("strong", {}, label) : createButton(label, () => store.set({ setting: setting.id, ...store.getDefaults(METRIC_KEYS) }), { class: "quiet small", title: "Use this setting" }),
      ...systems.map(s => renderScore(value(s))), ...(b ? [renderScore(value(b) - value(a), formatDelta(value(b) - value(a))), spans ? formatScoreInterval(spans.low, spans.high) : spans === null ? TOO_FEW : "interval …"] : []), el("code", { title: `${metric.name}|${metric.signature}` }, metric.signature.replace(/\|version:.*/, ""))] };
  }), { quiet: true }), b ? el("p.soft.note", {}, `Intervals use ${current.resampling.description}, as in the summary.`) : null);
}
