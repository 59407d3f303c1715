// Bins view: scores of segments grouped by length, score, word frequency, document or label.
import {renderBadge, createButton, formatCount, el, renderNumber, formatFixed, formatInterval, createMoreButton, formatPlural, createSelect, formatSigned, formatScore, formatDelta, formatScoreInterval, renderScore, getColumnFactor} from "./dom.js";
import {TaskThreads, MIN_PRECISE_SEGMENTS, MIN_INTERVAL_SEGMENTS, normalQuantile, showFiltered, TOO_FEW} from "./selection.js";
import {drawBars, renderFigure, drawHistogram, linkSegments, roundUpStep, formatShortNumber} from "./svg_charts.js";
import {countsEdits} from "./metric.js";
import {formatFrequency} from "./segments.js";

/** @typedef {import("./selection.js").Context} Context */
/** @typedef {import("./selection.js").Spans | null} GroupSpans */
/** @typedef {{id: string, label: string, segments: number[], filter: Record<string, any>}} Bin */

const BIN_ROWS = 40;
/** Explanation of the intervals of small groups, shown once per table. */
export const SMALL_GROUPS = `They are grey for fewer than ${MIN_PRECISE_SEGMENTS} segments, and omitted (–) for fewer than ${MIN_INTERVAL_SEGMENTS}.`;

// ---- intervals of groups ----

/** @type {TaskThreads | null} */
let intervalThread = null;
let latestRequest = 0;

/**
 * Return the known intervals of groups of segments, and compute the missing ones. The store is notified as they arrive.
 * @param {Context} context @param {string} key identifier of the grouping @param {{id: string, segments: ArrayLike<number>}[]} groups @returns {Map<string, GroupSpans>}
 */
export function requestGroupIntervals({ store, current }, key, groups) {
  const { a, b } = current, request = ++latestRequest, view = store.get("view");
  const intervals = current.cached(`groups ${key} ${a.index} ${b?.index} ${current.id}`, () => /** @type {Map<string, GroupSpans>} */ (new Map()));
  // Use a separate worker: each new task in the segment list's worker cancels the previous one.
  const isolated = /** @type {typeof current} */ (Object.create(current, { worker: { value: intervalThread ??= new TaskThreads() } }));
  const notifyView = () => { if (request !== latestRequest || store.get("view") !== view) return;
    // Wait while the user drags a range; redrawing would remove the chart under the pointer.
    if (document.querySelector(".drawn")) setTimeout(notifyView, 200); else store.notify(new Set(["groups"])); };
  (async () => {
    let last = Date.now(), hasNews = false;
    for (const { id, segments } of groups) {
      if (intervals.has(id) || segments.length < MIN_INTERVAL_SEGMENTS) continue;
      try {
        intervals.set(id, await isolated.computeSpans(segments));
      } catch {
        if (request === latestRequest) intervals.set(id, null);
      }
      if (request !== latestRequest) return;
      hasNews = true;
      if (Date.now() - last > 500) { last = Date.now(); notifyView(); return; } // Redrawing requests the remaining intervals.
    }
    if (hasNews) notifyView();
  })();
  return intervals;
}

/** Format an interval, or the reason why there is none. @param {GroupSpans | undefined} spans @param {"a" | "b" | "delta"} part @param {number} n */
export const formatGroupInterval = (spans, part, n) => n < MIN_INTERVAL_SEGMENTS ? TOO_FEW : spans ? formatScoreInterval(spans[part][0], spans[part][1], 2, part === "delta") : spans === null ? "no interval" : "interval …";

/** Render an interval for a table, in grey for small groups. @param {GroupSpans | undefined} spans @param {"a" | "b" | "delta"} part @param {number} n */
export const renderGroupInterval = (spans, part, n) => el("span", { class: n < MIN_INTERVAL_SEGMENTS ? "soft" : n < MIN_PRECISE_SEGMENTS ? "faint" : "" }, n < MIN_INTERVAL_SEGMENTS ? "–" : formatGroupInterval(spans, part, n));

// ---- groupings ----

/** Group segments by a column. Each edge is the lower bound of a bin; the first bin has none. @param {Context} context @param {string} column @param {number[]} edges @returns {Bin[]} */
function groupByColumn({ current }, column, edges) {
  const values = current.getColumn(column), groups = /** @type {number[][]} */ (Array.from({ length: edges.length + 1 }, () => []));
  let isIntegral = true;
  for (let i = 0; i < values.length; i++) {
    if (Number.isNaN(values[i])) continue;
    isIntegral &&= Number.isInteger(values[i]);
    let k = 0;
    while (k < edges.length && values[i] >= edges[k]) k++;
    groups[k].push(i);
  }
  const factor = getColumnFactor(column), format = (/** @type {number} */ v) => formatShortNumber(v * factor);
  return groups.map((segments, k) => {
    const low = edges[k - 1], high = edges[k], last = isIntegral && high !== undefined ? high - 1 : high;
    // If all values are nearly equal, one bin contains all segments.
    const label = low === undefined && high === undefined ? "all" : low === undefined ? (isIntegral ? `up to ${format(last)}` : `below ${format(high)}`) : high === undefined ? `${format(low)} and more` : last === low ? format(low) : isIntegral ? `${format(low)} to ${format(last)}` : `${format(low)} to below ${format(high)}`;
    return { id: `${k}`, label, segments, filter: { range: `${column}:${low ?? ""}:${high === undefined ? "" : isIntegral ? last : high - 1e-9}` } };
  }).filter(g => g.segments.length);
}

/** Return about eight round edges that cover the lowest 95 % of the values. @param {ArrayLike<number>} values */
function chooseEdges(values) {
  const sorted = Float64Array.from(values).filter(v => !Number.isNaN(v)).sort(), low = sorted[0] ?? 0, high = sorted[Math.floor(sorted.length * 0.95)] ?? 1, step = Math.max(1, roundUpStep((high - low) / 7 || 1)), edges = [];
  for (let e = (Math.floor(low / step) + 1) * step; e <= high; e += step) edges.push(e);
  return edges;
}

/** @param {number} n @param {ArrayLike<number>} groupIndices @param {string[]} names @param {(k: number) => Record<string, any>} filter @returns {Bin[]} */
function groupByIndex(n, groupIndices, names, filter) {
  const groups = /** @type {number[][]} */ (names.map(() => []));
  for (let i = 0; i < n; i++) groups[groupIndices[i]]?.push(i);
  return groups.map((segments, k) => ({ id: String(k), label: names[k], segments, filter: filter(k) })).filter(g => g.segments.length);
}

/** Return the available groupings: title, column (if any) and a builder of the bins. @param {Context} context @returns {Record<string, {title: string, column?: string, make?: () => Bin[]}>} */
export function listGroupings(context) {
  const { data, current } = context, { a, b, metric } = current, unit = metric.kind === "chrF" ? "characters" : metric.kind === "CER" ? "characters" : countsEdits(metric.kind) ? "words" : "tokens", scale = metric.kind === "chrF" || metric.kind === "CER" ? 5 : 1;
  const tens = [10, 20, 30, 40, 50, 60, 70, 80, 90, ...(metric.higherIsBetter ? [] : [100])];
  /** @type {ReturnType<typeof listGroupings>} */
  const groupings = { length: { title: getLengthTitle(data), column: "length", make: () => groupByColumn(context, "length", chooseEdges(current.getColumn("length"))) } };
  for (const s of current.comparedSystems) if (current.hasColumn(`surplus.${s.index}`)) groupings[`surplus.${s.index}`] = { title: `length of ${s.letter} minus reference length, in ${unit}`, column: `surplus.${s.index}`, make: () => groupByColumn(context, `surplus.${s.index}`, [-10, -5, -2, 0, 1, 3, 6, 11].map(e => e > 0 ? (e - 1) * scale + 1 : e * scale)) };
  groupings.scoreA = { title: `segment score of ${a.letter}`, column: "scoreA", make: () => groupByColumn(context, "scoreA", tens) };
  if (b) groupings.scoreB = { title: `segment score of ${b.letter}`, column: "scoreB", make: () => groupByColumn(context, "scoreB", tens) };
  if (data.manifest.buckets?.frequency) groupings.frequency = { title: "word frequency" };
  return { ...groupings, ...getDocumentGrouping(data), ...getLabelGroupings(data) };
}

/** @typedef {Record<string, {title: string, make: () => Bin[]}>} Groupings */

/** @param {import("./report_data.js").ReportData} data @returns {Groupings} */
export const getDocumentGrouping = ({ n, documents }) => documents ? { document: { title: "document", make: () => groupByIndex(n, documents.bySegment, documents.names, k => ({ doc: k })) } } : {};

/** Return one grouping per kind of label. @param {import("./report_data.js").ReportData} data @returns {Groupings} */
export const getLabelGroupings = ({ n, labels }) => Object.fromEntries(labels.map((label, i) => [`label${i}`, { title: label.name, make: () => groupByIndex(n, label.bySegment, label.values, v => ({ label: `${i}:${v}` })) }]));

/** Return the title of the segment length, which has the same unit for all metrics. @param {import("./report_data.js").ReportData} data */
export const getLengthTitle = data => `length of the ${data.references > 1 ? "first " : ""}reference in tokens (${data.manifest.buckets?.length?.tokenizer ?? "13a"})`;

/** @type {import("./main.js").View} */
export const bucketsView = {
  id: "buckets", title: "Buckets", key: "b", state: { bucket: "length", brush: "", buckets: BIN_ROWS },
  render(container, context) {
    const { store, current } = context, all = listGroupings(context), id = store.get("bucket") in all ? store.get("bucket") : "length", { title, column, make } = all[id];
    container.append(el("h1", {}, "Buckets"), el("p.facts", {}, `${current.metric.name} per group of segments, with ${Math.round(100 * current.level)}% intervals. Click a group to see its segments. Intervals use 1,000 bootstrap resamples of the group's segments. ${SMALL_GROUPS}`),
      el("div.tabs", {}, el("label", {}, el("span.soft", {}, "By "), createSelect("Buckets by", Object.entries(all).map(([key, kind]) => /** @type {const} */ ([key, kind.title])), id, key => store.set({ bucket: key, brush: "", buckets: BIN_ROWS })))));
    const text = String(store.get("brush")), parts = text.split(":").map(Number), range = column && text && parts.length === 2 && parts.every(Number.isFinite) ? /** @type {[number, number]} */ (parts) : null;
    const values = column ? current.getColumn(column) : new Float64Array(), segments = range ? Array.from(values.keys()).filter(i => values[i] >= range[0] && values[i] <= range[1]) : [], rangeGroup = { id: `range ${text}`, segments };
    if (!make) { container.append(renderFrequency(context)); return; }
    const groups = make(), visibleGroups = (id === "document" ? groups.sort((x, y) => y.segments.length - x.segments.length) : groups).slice(0, store.get("buckets"));
    const intervals = requestGroupIntervals(context, id, range ? [rangeGroup, ...visibleGroups] : visibleGroups);
    container.append(...renderGroups(context, id, title, visibleGroups, groups.length, intervals));
    if (column) container.append(renderRange(context, title, column, range, segments, intervals.get(rangeGroup.id)));
  },
};

/** @param {Context} context @param {string} id @param {string} title @param {Bin[]} visibleGroups @param {number} groupCount number of groups, visible or not @param {Map<string, GroupSpans>} intervals */
function renderGroups(context, id, title, visibleGroups, groupCount, intervals) {
  const { store, current } = context, { b, metric } = current, systems = current.comparedSystems, name = metric.name;
  if (!groupCount) return [el("p.empty", {}, "No groups are available.")];
  const rows = visibleGroups.map(g => {
    const n = g.segments.length, spans = intervals.get(g.id), values = systems.map(s => current.scoreCorpus(s, g.segments)), delta = b ? values[1] - values[0] : NaN;
    const description = `${g.label}: ${formatPlural(n, "segment")}${n < MIN_PRECISE_SEGMENTS ? ", few" : ""}; ${systems.map((s, k) => `${s.letter} ${formatScore(values[k])} ${formatGroupInterval(spans, k ? "b" : "a", n)}`).join(", ")}${b ? `; Δ ${formatDelta(delta)} ${formatGroupInterval(spans, "delta", n)}` : ""}`;
    return { g, n, of: spans, values, delta, description };
  });
  const preciseRows = rows.filter(r => r.n >= MIN_PRECISE_SEGMENTS), smallCount = rows.length - preciseRows.length, getPriority = (/** @type {typeof rows[number]} */ r) => b ? Math.abs(r.delta) : metric.higherIsBetter ? -r.values[0] : r.values[0], [topRow] = [...preciseRows].sort((x, y) => getPriority(y) - getPriority(x));
  const summary = [topRow ? (b ? `Δ is largest in “${topRow.g.label}”: ${formatDelta(topRow.delta)} ${formatGroupInterval(topRow.of, "delta", topRow.n)}.` : `Worst in “${topRow.g.label}”: ${formatScore(topRow.values[0])} ${formatGroupInterval(topRow.of, "a", topRow.n)}.`) : "", smallCount ? ` ${formatPlural(smallCount, "bin")} ${smallCount === 1 ? "has" : "have"} fewer than ${MIN_PRECISE_SEGMENTS} segments and ${smallCount === 1 ? "is" : "are"} drawn faintly.` : "",
    /^score/.test(id) ? ` Selecting segments by a system's score biases that system's result. Look at the score of the other system.` : ""];
  const toEnds = (/** @type {GroupSpans | undefined} */ spans, /** @type {"a" | "b"} */ part) => spans ? { low: spans[part][0], high: spans[part][1] } : null;
  return [renderFigure({ title: `${name} by ${title}.`, summary,
    draw: width => drawBars(rows.map(({ g, n, of: spans, values, delta, description: told }) => ({ label: g.label, n: `n = ${formatCount(n)}${n < MIN_PRECISE_SEGMENTS ? ", few" : ""}`, few: n < MIN_PRECISE_SEGMENTS, values, ends: systems.map((_, k) => toEnds(spans, k ? "b" : "a")),
      delta: b ? `${formatDelta(delta, 1)} ${n < MIN_INTERVAL_SEGMENTS ? "" : spans ? formatScoreInterval(spans.delta[0], spans.delta[1], 1) : "…"}`.trim() : undefined, description: told, act: () => showFiltered(store, g.filter) })), systems, `${name} by ${title}`, width),
    columns: [{ title: "Bin" }, { title: "n", number: true }, ...systems.flatMap(s => [{ title: [renderBadge(s), ` ${name}`], number: true }, { title: "interval", number: true }]), ...(b ? [{ title: "Δ", number: true }, { title: "interval of Δ", number: true }] : [])],
    rows: rows.map(({ g, n, of: spans, values, delta }) => [linkSegments(context, el("bdi", {}, g.label), g.filter), `${formatCount(n)}${n < MIN_PRECISE_SEGMENTS ? " (few)" : ""}`, ...systems.flatMap((_, k) => [renderScore(values[k]), renderGroupInterval(spans, k ? "b" : "a", n)]), ...(b ? [renderScore(delta, formatDelta(delta)), renderGroupInterval(spans, "delta", n)] : [])]) }),
    visibleGroups.length < groupCount ? el("p", {}, `Showing the largest ${formatCount(visibleGroups.length)} of ${formatCount(groupCount)}. `, createMoreButton(store, "buckets", groupCount)) : ""];
}

/** Render the histogram with a range drawn by the user. @param {Context} context @param {string} title @param {string} column @param {[number, number] | null} range @param {number[]} segments @param {GroupSpans | undefined} spans */
function renderRange(context, title, column, range, segments, spans) {
  const { store, current } = context, { a, b } = current, values = current.getColumn(column), n = segments.length, factor = getColumnFactor(column), format = (/** @type {number} */ v) => formatShortNumber(v * factor);
  const after = !range ? null : el("p", { role: "status" }, n ? [`${format(range[0])} to ${format(range[1])}: `, linkSegments(context, formatPlural(n, "segment"), { range: `${column}:${range.join(":")}` }), ", ", renderBadge(a), ` ${formatScore(current.scoreCorpus(a, segments))}`, b ? [" ", renderBadge(b), ` ${formatScore(current.scoreCorpus(b, segments))}, Δ ${formatDelta(current.scoreCorpus(b, segments) - current.scoreCorpus(a, segments))} ${formatGroupInterval(spans, "delta", n)}`] : ` ${formatGroupInterval(spans, "a", n)}`, ". ", createButton("Clear", () => store.set({ brush: "" }, { replace: true }), { class: "quiet small" })] : "There are no segments in this range.");
  return renderFigure({ title: `Distribution of ${title}.`, summary: "Drag to select a range, or move its ends with the arrow keys, to see the scores of its segments.", after, draw: width => drawHistogram(values, { label: title, range, format, onChange: next => store.set({ brush: next ? next.join(":") : "" }, { replace: true }) }, width),
    columns: [{ title: "Range" }, { title: "n", number: true }], rows: groupByColumn(context, column, chooseEdges(values)).map(g => [linkSegments(context, g.label, g.filter), formatCount(g.segments.length)]) });
}

/** Render the share of reference words that each system produced, by word frequency. @param {Context} context */
function renderFrequency(context) {
  const { data, current } = context, { b } = current, systems = current.comparedSystems, { frequency: bins } = data.manifest.buckets, { edges } = bins, place = el("div", {}, el("p.empty", {}, "Counting words …"));
  current.getWordCounts().then(counts => {
    const z = normalQuantile(1 - (1 - current.level) / 2), { n } = data;
    const rows = edges.map((/** @type {number} */ _, /** @type {number} */ k) => {
      const names = [`reference_${k}`, ...systems.map(s => `matched_${s.index}_${k}`)], [r, ...m] = names.map(name => counts.column(name)), [words, ...sums] = names.map(name => counts.totals[counts.names.indexOf(name)]), shares = sums.map(x => x / words), segments = [];
      // Standard error of a ratio of sums, by linearization, because segments (not words) are the sampling units.
      const error = [...m.map(() => 0), 0];
      let segmentCount = 0;
      for (let i = 0; i < n; i++) {
        if (r[i]) segmentCount++;
        if (r[i] && (b ? m[0][i] !== m[1][i] : m[0][i] < r[i])) segments.push(i);
        const residuals = m.map((column, s) => column[i] - shares[s] * r[i]);
        residuals.forEach((x, s) => { error[s] += x * x; });
        if (b) error[systems.length] += (residuals[1] - residuals[0]) ** 2;
      }
      const ends = (/** @type {number} */ middle, /** @type {number} */ squares) => { if (segmentCount < MIN_INTERVAL_SEGMENTS) return null; const halfWidth = 100 * z * Math.sqrt(squares * n / Math.max(1, n - 1)) / words; return { low: middle - halfWidth, high: middle + halfWidth }; };
      const values = shares.map(x => 100 * x);
      return { k, label: formatFrequency(edges, k), words, held: segmentCount, values, ends: values.map((v, s) => ends(v, error[s])), delta: b ? values[1] - values[0] : NaN, span: b ? ends(values[1] - values[0], error[2]) : null, segments };
    }).filter((/** @type {any} */ r) => r.words);
    const filter = (/** @type {any} */ r) => ({ seen: r.k }), isSmall = (/** @type {any} */ r) => r.held < MIN_PRECISE_SEGMENTS, formatEnds = (/** @type {any} */ e, /** @type {boolean} */ sign) => e ? formatInterval(e.low, e.high, 1, sign) : "–", renderEnds = (/** @type {any} */ r, /** @type {any} */ e, /** @type {boolean} */ sign) => el("span", { class: !e ? "soft" : isSmall(r) ? "faint" : "" }, formatEnds(e, sign));
    const describe = (/** @type {any} */ r) => `${r.label} times: ${formatPlural(r.words, "word")} in ${formatPlural(r.held, "segment")}${isSmall(r) ? ", few" : ""}; ${systems.map((s, k) => `${s.letter} ${formatFixed(r.values[k], 1)}%`).join(", ")}${r.span ? `; Δ ${formatSigned(r.delta, 1)} ${formatEnds(r.span, true)}` : ""}`;
    place.replaceChildren(renderFigure({ title: "Percentage of reference words found in each system's output, by word frequency.", summary: `Frequencies are from ${bins.source === "references" ? "the references" : bins.source}${bins.segments < n ? `; first ${formatCount(bins.segments)} segments only` : ""}. Intervals are normal approximations. Click to see the segments ${b ? "in which the two systems differ" : "with missing words"}.`,
      draw: width => drawBars(rows.map((/** @type {any} */ r) => ({ label: `${r.label}×`, n: formatPlural(r.words, "word"), few: isSmall(r), values: r.values, ends: r.ends, delta: b ? `${formatSigned(r.delta, 1)} ${r.span ? formatEnds(r.span, true) : ""}`.trim() : undefined, description: describe(r), act: r.segments.length ? () => linkSegments(context, "", filter(r)).click() : undefined })), systems, "Percentage of reference words found in each system's output", width, value => formatFixed(value, 1), formatShortNumber),
      columns: [{ title: "Seen" }, { title: "Words", number: true }, ...systems.flatMap(s => [{ title: [renderBadge(s), " %"], number: true }, { title: "interval", number: true }]), ...(b ? [{ title: "Δ", number: true }, { title: "interval of Δ", number: true }] : []), { title: b ? "Segments that differ" : "Segments with missing words", number: true }],
      rows: rows.map((/** @type {any} */ r) => [`${r.label}×`, formatCount(r.words), ...systems.flatMap((_, k) => [renderNumber(r.values[k], formatFixed(r.values[k], 1)), renderEnds(r, r.ends[k], false)]), ...(b ? [renderNumber(r.delta, formatSigned(r.delta, 1)), renderEnds(r, r.span, true)] : []), r.segments.length ? linkSegments(context, formatCount(r.segments.length), filter(r)) : "0"]) }));
  }, error => place.replaceChildren(el("p.empty", {}, String(error.message))));
  return place;
}
