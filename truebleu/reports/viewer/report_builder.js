// A report made in the page: the manifest that truebleu would have written, and what stands behind it, counted by the kernel.
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
/** @typedef {{base: Setting, overrides: Record<string, any>}} MetricChoice  a metric and its parameters */

/** Resamples, the level of intervals and the seed, as `truebleu compare` has them; and the fewest segments that have any. */
const REPORT_RESAMPLES = 1000, REPORT_LEVEL = 0.95, REPORT_SEED = 12345, MIN_REPORT_SEGMENTS = 20;
/** For more segments, pairs of systems and metrics, multiplied, intervals are drawn when they are looked at. */
const MAX_EAGER_INTERVALS = 400000;

/**
 * What is wrong with a choice of files, in a sentence; "" if nothing is.
 * @param {Column[]} columns
 */
export function describeMismatch(columns) {
  const used = columns.filter(column => column.role !== "out"), of = (/** @type {string} */ part) => used.filter(column => column.role === part);
  const called = (/** @type {Column} */ column) => column.number === null || column.name.startsWith(column.file) ? column.name : `${column.file}, column ${column.name}`;
  if (!of("reference").length) return "No file is a reference: say which one is.";
  if (!of("system").length) return "No file is a system's: say which one is.";
  for (const part of ["source", "documents"]) if (of(part).length > 1) return `${of(part).map(called).join(" and ")} are both called the ${part}: there is one.`;
  const like = of("reference")[0], odd = used.find(column => column.lines.length !== like.lines.length);
  const lines = (/** @type {Column} */ column) => `${column.lines.length.toLocaleString("en")} ${column.lines.length === 1 ? "line" : "lines"}`;
  return odd ? `${called(odd)} has ${lines(odd)}, and ${called(like)} has ${lines(like)}: line by line they belong together.` : "";
}

/** @param {string[]} names */
const formatTitle = names => names.length > 4 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : joinNames(names);

/** The language that the end of a file's name says. @param {string} name @param {string[]} codes */
function guessLanguage(name, codes) {
  const end = /\.(\w+)(\.(gz|zst|xz|bz2))?$/.exec(name)?.[1].toLowerCase() ?? "";
  return codes.includes(end) ? end : null;
}

/** What differs where texts do, to tell whose notes are whose: FNV-1a of the bytes of lines. @param {Uint8Array[]} lines */
function hashLines(lines) {
  let hash = 0x811c9dc5;
  const add = (/** @type {number} */ byte) => { hash = Math.imul(hash ^ byte, 0x01000193); };
  for (const line of lines) { line.forEach(add); add(10); }
  return (hash >>> 0).toString(16).padStart(8, "0");
}

/**
 * The report of some columns by some metrics.
 * @param {any} lab the laboratory's manifest @param {import("./kernel_client.js").KernelClient} live @param {Column[]} columns @param {MetricChoice[]} wanted
 * @param {(share: number) => Promise<boolean>} going told how much is done; whether to go on
 * @returns {Promise<ReportData | null>} null if it was not to go on
 */
export async function buildReport(lab, live, columns, wanted, going) {
  const of = (/** @type {string} */ part) => columns.filter(column => column.role === part);
  const systems = of("system"), references = of("reference"), [source] = of("source"), [documents] = of("documents"), n = references[0].lines.length;
  const names = shortenNames(systems.map(column => column.name)), { kernel } = live;
  const pairs = names.flatMap((_, b) => names.slice(0, b).map((_, a) => [a, b])), runs = (pairs.length || 1) * wanted.length, drawing = n >= MIN_REPORT_SEGMENTS && n * runs <= MAX_EAGER_INTERVALS;
  /** @type {Map<string, Uint8Array>} Texts by role. */
  const packed = new Map();
  systems.forEach(({ lines }, i) => packed.set(`system${i}`, packTexts(lines)));
  references.forEach(({ lines }, i) => packed.set(`reference${i}`, packTexts(lines)));
  for (const [role, block] of packed) live.texts.set(role, kernel.addTexts(block, n));
  if (source) packed.set("source", packTexts(source.lines));
  let data = null;
  try {
    /** @type {{setting: Setting, tables: Table[]}[]} */
    const settings = [];
    for (const [number, { base, overrides: chosen }] of wanted.entries()) {
      const setting = resolveSetting(live, base, chosen, references.length, false), tables = [];
      for (const i of systems.keys()) {
        const counted = await live.countSystem(setting.recipe, setting.columns, `system${i}`, n, share => going((drawing ? 0.3 : 1) * (number + (i + share) / systems.length) / wanted.length));
        if (!counted) return null;
        tables.push(counted);
      }
      settings.push({ setting, tables });
    }
    const labels = makeUnique(settings.map(({ setting }) => setting.name));
    const described = settings.map(({ setting, tables }, number) => {
      const metric = new Metric(setting, {}, live), scores = Object.fromEntries(names.map((name, i) => [name, metric.scoreCorpus(tables[i])]));
      return { ...setting, id: String(number), headline: true, label: labels[number], column: labels[number], scores };
    });
    const intervals = drawing ? await resampleIntervals(live, settings, names.length > 1 ? pairs : [[0, 0]], share => going(0.3 + 0.7 * share)) : [];
    if (!intervals) return null;
    const comparison = buildComparison(live, n, references.length, names, described, settings.map(({ tables }) => tables), intervals);
    // N-grams are of the tokens of the first BLEU.
    const split = settings.find(({ setting }) => setting.metric === "BLEU")?.setting ?? resolveSetting(live, lab.metrics.find((/** @type {Setting} */ one) => one.metric === "BLEU"), {}, references.length, false);
    const first = /** @type {Table} */ (await live.countSystem(split.recipe, split.columns, "reference0", n, undefined, ["reference0"]));
    const targets = new Set(systems.map(column => guessLanguage(column.file, lab.languages)));
    const manifest = {
      truebleu_report: lab.truebleu_report, title: formatTitle(names), version: lab.version, made: null, segments: n, embedded: n, redacted: false, serve: null,
      systems: names.map((name, i) => ({ name, letter: getSystemLetter(i) })), references: references.length, source: !!source,
      languages: { source: source ? guessLanguage(source.file, lab.languages) : null, target: targets.size === 1 ? [...targets][0] : null },
      directions: { source: detectDirection(source ? [source.lines] : []), reference: detectDirection(references.map(column => column.lines)), system: detectDirection(systems.map(column => column.lines)) },
      settings: described, columns: [], comparison, people: null,
      data_hash: {}, text_hash: Object.fromEntries(columns.map((column, i) => [`${i + 1} ${column.name}`, hashLines(column.lines)])), commands: buildCommands(systems, references, source, documents, wanted), bibtex: lab.bibtex,
      labels: [], ngrams: { orders: Math.min(lab.ngrams.orders, split.parameters.max_order), label: split.parameters.tokenize, lowercase: split.parameters.lowercase, limit: lab.ngrams.limit, segments: n, recipe: split.recipe }, health: null,
      buckets: { frequency: { ...lab.buckets, source: "references", segments: n, block: null }, length: { tokenizer: split.parameters.tokenize } },
    };
    data = new ReportData(manifest, async name => { throw new Error(`there is no block ${name}`); });
    data.client = live;
    data.lengths = Uint32Array.from(first.column("hypothesis_length"));
    if (documents) {
      const all = documents.lines.map(line => new TextDecoder().decode(line)), known = new Map([...new Set(all)].map((name, i) => [name, i]));
      data.documents = { names: [...known.keys()], bySegment: Uint32Array.from(all, name => known.get(name) ?? 0) };
    }
    for (const [role, block] of packed) data.texts.set(role, new TextColumn(block, n));
    for (const [number, { tables }] of settings.entries()) for (const [i, table] of tables.entries()) data.tables.set(`${number}.${i}`, table);
    return data;
  } finally { if (!data) live.forgetTexts(); }
}

/** As Python has them: without Q. */
const SYSTEM_LETTERS = "ABCDEFGHIJKLMNOPRSTUVWXYZ";
/** A, B, …, Z, AA, … @param {number} i @returns {string} */
const getSystemLetter = i => (i >= SYSTEM_LETTERS.length ? getSystemLetter(Math.floor(i / SYSTEM_LETTERS.length) - 1) : "") + SYSTEM_LETTERS[i % SYSTEM_LETTERS.length];

/** @param {string[]} names */
const makeUnique = names => names.map((name, i) => { const before = names.slice(0, i).filter(other => other === name).length; return before ? `${name} (${before + 1})` : name; });

/** @typedef {{systems: Map<number, number[]>, pairs: Map<string, number[]>}} Intervals  of one metric: of each system, and of B less A by "A,B" */

/**
 * The intervals that `truebleu compare` gives of the same texts: the same resamples, and numbers that agree to 12 digits.
 * @param {import("./kernel_client.js").KernelClient} live @param {{setting: Setting, tables: Table[]}[]} settings @param {number[][]} pairs @param {(share: number) => Promise<boolean>} going
 * @returns {Promise<Intervals[] | null>}
 */
async function resampleIntervals(live, settings, pairs, going) {
  const worker = new TaskThreads(), all = [], runs = settings.length * pairs.length;
  try {
    for (const { setting, tables } of settings) {
      /** @type {Intervals} */
      const found = { systems: new Map(), pairs: new Map() };
      for (const [a, b] of pairs) {
        const rows = (a === b ? [a] : [a, b]).map(i => live.kernel.getRows(tables[i].handle));
        const [x, y, delta] = await worker.run({ kind: "bootstrap", binary: live.binary, recipe: setting.recipe, tables: rows.map(one => one.bytes), width: rows[0].width, groups: null, samples: REPORT_RESAMPLES, level: REPORT_LEVEL, seed: REPORT_SEED }, 300000, "stopped after five minutes");
        found.systems.set(a, x);
        if (delta) { found.systems.set(b, y); found.pairs.set(`${a},${b}`, delta); }
        if (!await going((all.length * pairs.length + [...found.pairs].length) / runs)) return null;
      }
      all.push(found);
    }
    return all;
  } finally { for (const thread of worker.threads.values()) thread.worker.terminate(); }
}

/** An interval as `Comparison.to_dict` has it; the mean of the resamples is not known here. @param {number[] | undefined} ends @param {boolean} [turned] */
const toInterval = (ends, turned = false) => ends ? { low: turned ? -ends[1] : ends[0], high: turned ? -ends[0] : ends[1], mean: null, half_width: (ends[1] - ends[0]) / 2 } : null;

/**
 * What `Comparison.to_dict` has, of what the page counts: there is no test.
 * @param {import("./kernel_client.js").KernelClient} live @param {number} n @param {number} references @param {string[]} names @param {any[]} settings @param {Table[][]} tables @param {Intervals[]} intervals by setting; none if they were not drawn
 */
function buildComparison(live, n, references, names, settings, tables, intervals) {
  /** @type {any[]} */
  const pairs = [];
  /** @type {Map<string, any>} */
  const systems = new Map(names.map((name, i) => [name, { name, letter: getSystemLetter(i), runs: 1, scores: {} }]));
  settings.forEach((setting, number) => {
    const metric = new Metric(setting, {}, live), higher = setting.higher_is_better ? 1 : -1, value = (/** @type {string} */ name) => setting.scores[name];
    const order = names.toSorted((x, y) => higher * (value(y) - value(x))), segments = tables[number].map(table => metric.scoreSegments(table));
    const pair = (/** @type {string} */ first, /** @type {string} */ second) => {
      const [i, j] = [first, second].map(name => names.indexOf(name)), [x, y] = [segments[i], segments[j]], span = intervals[number]?.pairs;
      let wins = 0, losses = 0;
      for (let k = 0; k < n; k++) { const better = higher * (x[k] - y[k]); if (better > 0) wins++; else if (better < 0) losses++; }
      return { value: value(first) - value(second), interval: i > j ? toInterval(span?.get(`${j},${i}`)) : toInterval(span?.get(`${i},${j}`), true), p: null, corrected_p: null, significant: null, wins, ties: n - wins - losses, losses, segments_needed: null, identical: false, errors: null };
    };
    order.forEach((first, i) => order.slice(i + 1).forEach(second => pairs.push({ metric: setting.column, first, second, ...pair(first, second) })));
    names.forEach((name, i) => {
      systems.get(name).scores[setting.column] = { score: value(name), interval: toInterval(intervals[number]?.systems.get(i)), rank: 1 + order.findIndex(other => value(other) === value(name)), cluster: null, better_than: [],
        difference: i ? pair(name, names[0]) : null, runs: null, details: buildDetails(live, setting, tables[number][i].totals) };
    });
  });
  const [first] = settings, higher = first.higher_is_better ? 1 : -1;
  return {
    truebleu_comparison: 1, by: first.signature.split("by:")[1], segments: n, buckets: null, references, baseline: names.length > 1 ? names[0] : null, level: REPORT_LEVEL, seed: REPORT_SEED, test: null, intervals: intervals.length ? { name: "bootstrap", title: "percentile bootstrap", resampled: "segments", samples: REPORT_RESAMPLES } : null, correction: null, reading: "",
    metrics: settings.map(setting => ({ name: setting.column, label: setting.name, higher_is_better: setting.higher_is_better, source: "truebleu", digits: 1, clusters: null, signature: setting.signature, short_signature: setting.short })),
    systems: [...systems.values()].sort((x, y) => higher * (first.scores[y.name] - first.scores[x.name])), pairs, documents: null, notes: [],
  };
}

/** What a score is made of. @param {import("./kernel_client.js").KernelClient} live @param {any} setting @param {number[]} row */
function buildDetails(live, setting, row) {
  if (setting.metric !== "BLEU") return {};
  const { steps, hypothesis, reference, brevity } = new Metric(setting, {}, live).breakDown(row, false);
  return { precisions: steps.map(step => step.precision ?? 100), matches: steps.map(step => step.match), totals: steps.map(step => step.total), brevity_penalty: brevity, hypothesis_length: hypothesis, reference_length: reference, ratio: reference ? hypothesis / reference : 0 };
}

/** The command lines that make the same numbers, in the folder of the files. @param {Column[]} systems @param {Column[]} references @param {Column | undefined} source @param {Column | undefined} documents @param {MetricChoice[]} wanted */
function buildCommands(systems, references, source, documents, wanted) {
  // Of a table with a header truebleu reads all columns together; of others each is FILE#N.
  if ([...systems, ...references].some(column => column.number !== null && !column.name.includes("#"))) return [];
  const word = (/** @type {Column} */ column) => column.number === null ? column.file : `${column.file}#${column.number}`;
  const files = [...references.map(word), "-i", ...systems.map(word)], metrics = ["-m", ...wanted.map(({ base }) => base.id), ...wanted.flatMap(({ base, overrides: chosen }) => formatOptions(/** @type {any} */ (base).options, chosen))];
  const beside = [...(source ? ["-src", word(source)] : []), ...(documents ? ["--docs", word(documents)] : [])];
  return [formatShellCommand(["truebleu", "report", ...files, ...metrics, ...beside, "-o", "report.html"]), formatShellCommand(["truebleu", systems.length > 1 ? "compare" : "score", ...files, ...metrics])];
}
