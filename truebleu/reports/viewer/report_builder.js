// Builds a report in the browser: computes counts with the kernel, and creates the same manifest as Python.
import {formatOptions, formatShellCommand} from "./repro_commands.js";
import {TaskThreads} from "./selection.js";
import {ReportData, TextColumn} from "./report_data.js";
import {joinNames} from "./dom.js";
import {Metric} from "./metric.js";
import {packTexts} from "./kernel.js";
import {resolveSetting} from "./sentence_scores.js";
import {detectDirection} from "./text_direction.js";
import {shortenNames} from "./dropped_files.js";

/** @typedef {import("./dropped_files.js").FileColumn} Column */
/** @typedef {import("./report_data.js").Setting} Setting */
/** @typedef {import("./count_table.js").CountTable} Table */
/** @typedef {{base: Setting, overrides: Record<string, any>}} MetricChoice  a metric with changed parameters */

/** Resamples, confidence level and seed (as in `truebleu compare`), and the minimum number of segments for intervals. */
const REPORT_RESAMPLES = 1000, REPORT_LEVEL = 0.95, REPORT_SEED = 12345, MIN_REPORT_SEGMENTS = 20;
/** If segments × pairs of systems × metrics exceeds this number, intervals are computed only when they are displayed. */
const MAX_EAGER_INTERVALS = 400000;

/**
 * Describe what is wrong with the assigned roles; return "" if nothing is wrong.
 * @param {Column[]} columns
 */
export function describeMismatch(columns) {
  const usedColumns = columns.filter(column => column.role !== "out"), getRole = (/** @type {string} */ part) => usedColumns.filter(column => column.role === part);
  const describeColumn = (/** @type {Column} */ column) => column.number === null || column.name.startsWith(column.file) ? column.name : `${column.file}, column ${column.name}`;
  if (!getRole("reference").length) return "There is no reference. Select the role of the reference file.";
  if (!getRole("system").length) return "There is no system output. Select the role of the system's file.";
  for (const part of ["source", "documents"]) if (getRole(part).length > 1) return `${getRole(part).map(describeColumn).join(" and ")} both have the role ${part}; only one file can have it.`;
  const firstReference = getRole("reference")[0], mismatched = usedColumns.find(column => column.lines.length !== firstReference.lines.length);
  const formatLineCount = (/** @type {Column} */ column) => `${column.lines.length.toLocaleString("en")} ${column.lines.length === 1 ? "line" : "lines"}`;
  return mismatched ? `${describeColumn(mismatched)} has ${formatLineCount(mismatched)}, but ${describeColumn(firstReference)} has ${formatLineCount(firstReference)}. All files need the same number of lines.` : "";
}

/** @param {string[]} names */
const formatTitle = names => names.length > 4 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : joinNames(names);

/** Return the language code at the end of a file name, or null. @param {string} name @param {string[]} codes */
function guessLanguage(name, codes) {
  const end = /\.(\w+)(\.(gz|zst|xz|bz2))?$/.exec(name)?.[1].toLowerCase() ?? "";
  return codes.includes(end) ? end : null;
}

/** Return the FNV-1a hash of lines, which identifies the data that notes belong to. @param {Uint8Array[]} lines */
function hashLines(lines) {
  let hash = 0x811c9dc5;
  const add = (/** @type {number} */ byte) => { hash = Math.imul(hash ^ byte, 0x01000193); };
  for (const line of lines) { line.forEach(add); add(10); }
  return (hash >>> 0).toString(16).padStart(8, "0");
}

/**
 * Build a report of columns with metrics.
 * @param {any} lab the playground's manifest @param {import("./kernel_client.js").KernelClient} client @param {Column[]} columns @param {MetricChoice[]} choices
 * @param {(share: number) => Promise<boolean>} onProgress called with the progress; returns whether to continue
 * @returns {Promise<ReportData | null>} null if cancelled
 */
export async function buildReport(lab, client, columns, choices, onProgress) {
  const getRole = (/** @type {string} */ part) => columns.filter(column => column.role === part);
  const systems = getRole("system"), references = getRole("reference"), [source] = getRole("source"), [documents] = getRole("documents"), n = references[0].lines.length;
  const names = shortenNames(systems.map(column => column.name)), { kernel } = client;
  const pairs = names.flatMap((_, b) => names.slice(0, b).map((_, a) => [a, b])), comparisonCount = (pairs.length || 1) * choices.length, drawsIntervals = n >= MIN_REPORT_SEGMENTS && n * comparisonCount <= MAX_EAGER_INTERVALS;
  /** @type {Map<string, Uint8Array>} Texts by role. */
  const packed = new Map();
  systems.forEach(({ lines }, i) => packed.set(`system${i}`, packTexts(lines)));
  references.forEach(({ lines }, i) => packed.set(`reference${i}`, packTexts(lines)));
  for (const [role, block] of packed) client.texts.set(role, kernel.addTexts(block, n));
  if (source) packed.set("source", packTexts(source.lines));
  let data = null;
  try {
    /** @type {{setting: Setting, tables: Table[]}[]} */
    const settings = [];
    for (const [number, { base, overrides }] of choices.entries()) {
      const setting = resolveSetting(client, base, overrides, references.length, false), tables = [];
      for (const i of systems.keys()) {
        const newTable = await client.countSystem(setting.recipe, setting.columns, `system${i}`, n, share => onProgress((drawsIntervals ? 0.3 : 1) * (number + (i + share) / systems.length) / choices.length));
        if (!newTable) return null;
        tables.push(newTable);
      }
      settings.push({ setting, tables });
    }
    const labels = makeUnique(settings.map(({ setting }) => setting.name));
    const described = settings.map(({ setting, tables }, number) => {
      const metric = new Metric(setting, {}, client), scores = Object.fromEntries(names.map((name, i) => [name, metric.scoreCorpus(tables[i])]));
      return { ...setting, id: String(number), headline: true, label: labels[number], column: labels[number], scores };
    });
    // Systems are ordered by their ranks by the first metric, as in `truebleu compare`.
    const [first] = described, ranking = names.map((_, i) => i).sort((i, j) => (first.higher_is_better ? 1 : -1) * (first.scores[names[j]] - first.scores[names[i]])), [baseline] = names;
    const reorder = (/** @type {any[]} */ list) => ranking.map(i => list[i]), rankedNames = reorder(names);
    for (const one of settings) one.tables = reorder(one.tables);
    for (const textMap of /** @type {Map<string, any>[]} */ ([packed, client.texts])) reorder(names.map((_, i) => textMap.get(`system${i}`))).forEach((value, i) => textMap.set(`system${i}`, value));
    const intervals = drawsIntervals ? await resampleIntervals(client, settings, names.length > 1 ? pairs : [[0, 0]], share => onProgress(0.3 + 0.7 * share)) : [];
    if (!intervals) return null;
    const letters = assignSystemLetters(rankedNames);
    const comparison = buildComparison(client, n, references.length, rankedNames, baseline, described, settings.map(({ tables }) => tables), intervals);
    // N-grams consist of the tokens of the first BLEU metric.
    const ngramSetting = settings.find(({ setting }) => setting.metric === "BLEU")?.setting ?? resolveSetting(client, lab.metrics.find((/** @type {Setting} */ one) => one.metric === "BLEU"), {}, references.length, false);
    const referenceTable = /** @type {Table} */ (await client.countSystem(ngramSetting.recipe, ngramSetting.columns, "reference0", n, undefined, ["reference0"]));
    const targets = new Set(systems.map(column => guessLanguage(column.file, lab.languages)));
    const manifest = {
      truebleu_report: lab.truebleu_report, title: formatTitle(rankedNames), version: lab.version, made: null, segments: n, embedded: n, redacted: false, serve: null,
      systems: letters.map((letter, i) => ({ name: rankedNames[i], letter })), references: references.length, source: !!source,
      languages: { source: source ? guessLanguage(source.file, lab.languages) : null, target: targets.size === 1 ? [...targets][0] : null },
      directions: { source: detectDirection(source ? [source.lines] : []), reference: detectDirection(references.map(column => column.lines)), system: detectDirection(systems.map(column => column.lines)) },
      settings: described, columns: [], comparison, people: null, scale: lab.scale,
      data_hash: {}, text_hash: Object.fromEntries(columns.map((column, i) => [`${i + 1} ${column.name}`, hashLines(column.lines)])), commands: buildCommands(systems, references, source, documents, choices), bibtex: lab.bibtex,
      labels: [], ngrams: { orders: Math.min(lab.ngrams.orders, ngramSetting.parameters.max_order), label: ngramSetting.parameters.tokenize, lowercase: ngramSetting.parameters.lowercase, limit: lab.ngrams.limit, segments: n, recipe: ngramSetting.recipe }, health: null,
      buckets: { frequency: { ...lab.buckets, source: "references", segments: n, block: null }, length: { tokenizer: ngramSetting.parameters.tokenize } },
    };
    data = new ReportData(manifest, async name => { throw new Error(`block ${name} not found`); });
    data.client = client;
    data.lengths = Uint32Array.from(referenceTable.column("hypothesis_length"));
    if (documents) {
      const all = documents.lines.map(line => new TextDecoder().decode(line).replaceAll("\t", ": ")), documentIndices = new Map([...new Set(all)].map((name, i) => [name, i]));
      data.documents = { names: [...documentIndices.keys()], bySegment: Uint32Array.from(all, name => documentIndices.get(name) ?? 0) };
    }
    for (const [role, block] of packed) data.texts.set(role, new TextColumn(block, n));
    for (const [number, { tables }] of settings.entries()) for (const [i, table] of tables.entries()) data.tables.set(`${number}.${i}`, table);
    return data;
  } finally { if (!data) client.forgetTexts(); }
}

/** System letters as in Python, without Q. */
const SYSTEM_LETTERS = "ABCDEFGHIJKLMNOPRSTUVWXYZ";
/** Return the letter at an index: A, B, …, Z, AA, … @param {number} i @returns {string} */
const getSystemLetter = i => (i >= SYSTEM_LETTERS.length ? getSystemLetter(Math.floor(i / SYSTEM_LETTERS.length) - 1) : "") + SYSTEM_LETTERS[i % SYSTEM_LETTERS.length];
/** Return the letter of each system. A system whose name is one of these letters keeps it. @param {string[]} names @returns {string[]} */
function assignSystemLetters(names) {
  const unused = names.map((_, i) => getSystemLetter(i));
  const kept = names.map(name => { const place = unused.indexOf(name.toUpperCase()); return place < 0 ? "" : unused.splice(place, 1)[0]; });
  return kept.map(letter => letter || /** @type {string} */ (unused.shift()));
}

/** @param {string[]} names */
const makeUnique = names => names.map((name, i) => { const before = names.slice(0, i).filter(other => other === name).length; return before ? `${name} (${before + 1})` : name; });

/** @typedef {{systems: Map<number, number[]>, pairs: Map<string, number[]>}} Intervals  intervals of one metric: per system, and per pair ("A,B" for B − A) */

/**
 * Compute the intervals of `truebleu compare` with the same resamples; results agree to 12 digits.
 * @param {import("./kernel_client.js").KernelClient} client @param {{setting: Setting, tables: Table[]}[]} settings @param {number[][]} pairs @param {(share: number) => Promise<boolean>} onProgress
 * @returns {Promise<Intervals[] | null>}
 */
async function resampleIntervals(client, settings, pairs, onProgress) {
  const worker = new TaskThreads(), all = [], total = settings.length * pairs.length;
  try {
    for (const { setting, tables } of settings) {
      /** @type {Intervals} */
      const metricIntervals = { systems: new Map(), pairs: new Map() };
      for (const [a, b] of pairs) {
        const rows = (a === b ? [a] : [a, b]).map(i => client.kernel.getRows(tables[i].handle));
        const [x, y, delta] = await worker.run({ kind: "bootstrap", binary: client.binary, recipe: setting.recipe, tables: rows.map(row => row.bytes), width: rows[0].width, groups: null, samples: REPORT_RESAMPLES, level: REPORT_LEVEL, seed: REPORT_SEED }, 300000, "the bootstrap was stopped after five minutes");
        metricIntervals.systems.set(a, x);
        if (delta) { metricIntervals.systems.set(b, y); metricIntervals.pairs.set(`${a},${b}`, delta); }
        if (!await onProgress((all.length * pairs.length + [...metricIntervals.pairs].length) / total)) return null;
      }
      all.push(metricIntervals);
    }
    return all;
  } finally { for (const thread of worker.threads.values()) thread.worker.terminate(); }
}

/** Convert interval bounds to the format of `Comparison.to_dict`, without the mean of the resamples. @param {number[] | undefined} ends @param {boolean} [isReversed] */
const toInterval = (ends, isReversed = false) => ends ? { low: isReversed ? -ends[1] : ends[0], high: isReversed ? -ends[0] : ends[1], mean: null, half_width: (ends[1] - ends[0]) / 2 } : null;

/**
 * Build a comparison in the format of `Comparison.to_dict`, without significance tests.
 * @param {import("./kernel_client.js").KernelClient} client @param {number} n @param {number} references @param {string[]} names best first @param {string} baseline @param {any[]} settings @param {Table[][]} tables @param {Intervals[]} intervals per setting; empty if they were not computed
 */
function buildComparison(client, n, references, names, baseline, settings, tables, intervals) {
  /** @type {any[]} */
  const pairs = [];
  const letters = assignSystemLetters(names);
  /** @type {Map<string, any>} */
  const systems = new Map(names.map((name, i) => [name, { name, letter: letters[i], runs: 1, scores: {} }]));
  settings.forEach((setting, number) => {
    const metric = new Metric(setting, {}, client), higher = setting.higher_is_better ? 1 : -1, getScore = (/** @type {string} */ name) => setting.scores[name];
    const order = names.toSorted((x, y) => higher * (getScore(y) - getScore(x))), segments = tables[number].map(table => metric.scoreSegments(table));
    const pair = (/** @type {string} */ first, /** @type {string} */ second) => {
      const [i, j] = [first, second].map(name => names.indexOf(name)), [x, y] = [segments[i], segments[j]], pairIntervals = intervals[number]?.pairs;
      let wins = 0, losses = 0;
      for (let k = 0; k < n; k++) { const better = higher * (x[k] - y[k]); if (better > 0) wins++; else if (better < 0) losses++; }
      return { value: getScore(first) - getScore(second), interval: i > j ? toInterval(pairIntervals?.get(`${j},${i}`)) : toInterval(pairIntervals?.get(`${i},${j}`), true), p: null, corrected_p: null, significant: null, standard_error: null, wins, ties: n - wins - losses, losses, segments_needed: null, identical: false, errors: null };
    };
    order.forEach((first, i) => order.slice(i + 1).forEach(second => pairs.push({ metric: setting.column, first, second, ...pair(first, second) })));
    names.forEach((name, i) => {
      systems.get(name).scores[setting.column] = { score: getScore(name), interval: toInterval(intervals[number]?.systems.get(i)), rank: 1 + order.findIndex(other => getScore(other) === getScore(name)), cluster: null, better_than: [],
        difference: name === baseline ? null : pair(name, baseline), runs: null, details: buildDetails(client, setting, tables[number][i].totals) };
    });
  });
  const [first] = settings;
  return {
    truebleu_comparison: 1, by: first.signature.split("by:")[1], segments: n, buckets: null, references, baseline: names.length > 1 ? baseline : null, order: "rank", level: REPORT_LEVEL, seed: REPORT_SEED, test: null, intervals: intervals.length ? { name: "bootstrap", title: "percentile bootstrap", resampled: "segments", samples: REPORT_RESAMPLES } : null, correction: null, reading: "",
    metrics: settings.map(setting => ({ name: setting.column, label: setting.name, higher_is_better: setting.higher_is_better, source: "truebleu", digits: 1, clusters: null, signature: setting.signature, short_signature: setting.short })),
    systems: [...systems.values()], pairs, human_agreement: null, documents: null, notes: [],
  };
}

/** Return the components of a BLEU score. @param {import("./kernel_client.js").KernelClient} client @param {any} setting @param {number[]} row */
function buildDetails(client, setting, row) {
  if (setting.metric !== "BLEU") return {};
  const { steps, hypothesis, reference, brevity } = new Metric(setting, {}, client).breakDown(row, false);
  return { precisions: steps.map(step => step.precision ?? 100), matches: steps.map(step => step.match), totals: steps.map(step => step.total), brevity_penalty: brevity, hypothesis_length: hypothesis, reference_length: reference, ratio: reference ? hypothesis / reference : 0 };
}

/** Return command lines that reproduce the scores in the data folder. @param {Column[]} systems @param {Column[]} references @param {Column | undefined} source @param {Column | undefined} documents @param {MetricChoice[]} choices */
function buildCommands(systems, references, source, documents, choices) {
  // Commands can select a single column (FILE#N) only if the table has no header.
  if ([...systems, ...references].some(column => column.number !== null && !column.name.includes("#"))) return [];
  const toArgument = (/** @type {Column} */ column) => column.number === null ? column.file : `${column.file}#${column.number}`;
  const files = [...references.map(toArgument), "-i", ...systems.map(toArgument)], metrics = ["-m", ...choices.map(({ base }) => base.id), ...choices.flatMap(({ base, overrides }) => formatOptions(/** @type {any} */ (base).options, overrides))];
  const otherOptions = [...(source ? ["-src", toArgument(source)] : []), ...(documents ? ["--docs", toArgument(documents)] : [])];
  return [formatShellCommand(["truebleu", "report", ...files, ...metrics, ...otherOptions, "-o", "report.html"]), formatShellCommand(["truebleu", systems.length > 1 ? "compare" : "score", ...files, ...metrics])];
}
