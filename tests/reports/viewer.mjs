// Runs the viewer's functions on cases from standard input and prints their results as JSON.
import { readFileSync } from "node:fs";
import { loadModules, startKernel } from "./kernel_in_node.mjs";

const [folder, binary] = process.argv.slice(2);
const [reportData, tokenModule, selection, { Kernel }, glossary, textFilters, dom] = await loadModules(folder, ["report_data", "tokens", "selection", "kernel", "glossary", "text_filters", "dom"]);
let input = "";
for await (const piece of process.stdin.setEncoding("utf8")) input += piece;
const { scores = [], lowercase = "", tokens = [], matches = [], searches = [], sorts = [], blocks = [], terms = [], names = [], numbers = [], counts = [] } = JSON.parse(input);
const kernel = await Kernel.load(readFileSync(binary));
kernel.setLowercase(new Uint8Array(Buffer.from(lowercase, "hex")));
const createMetric = scores.length ? await startKernel(folder, binary) : null;

const results = {
  scores: scores.map(({ setting, changes, rows, subset }) => {
    const { metric, table } = createMetric(setting, changes, rows);
    return {
      signature: metric.signature, segments: [...metric.scoreSegments(table)], corpus: metric.scoreCorpus(table), subset: metric.scoreCorpus(table, subset), without: [...metric.scoreWithoutEach(table)],
      corpus_steps: metric.breakDown(table.totals, false).value, segment: metric.breakDown(table.row(subset[0]), true).value, row: table.row(subset[0]), sums: table.totals, column: [...table.columnAt(1)],
    };
  }),
  tokens: tokens.map(([text, recipe]) => tokenModule.locateTokens(text, kernel.tokenize(kernel.addMetric(recipe), text, false), recipe)),
  matches: matches.map(([hypothesis, references]) => {
    const orders = tokenModule.numberNgrams([hypothesis, ...references], 4), countMatches = (numbers, i) => [...tokenModule.clipNgrams(hypothesis, numbers, i + 1).values()].reduce((sum, ngram) => sum + ngram.clippedCount, 0);
    return [...orders.map(countMatches), ...orders.map(([hypothesisNumbers]) => hypothesisNumbers.length)];
  }),
  searches: searches.map(([texts, needle, exact]) => {
    const encoder = new TextEncoder(), parts = texts.map(text => text === null ? new Uint8Array() : encoder.encode(text));
    const lengths = Uint32Array.from(texts, (text, i) => text === null ? 0xFFFFFFFF : parts[i].length);
    const bytes = new Uint8Array(Buffer.concat([Buffer.from(lengths.buffer), ...parts]));
    const hits = new Uint8Array(texts.length);
    new reportData.TextColumn(bytes, texts.length).search(needle, exact, hits);
    return [...hits];
  }),
  terms: terms.map(([term, text]) => glossary.findTermSpans(text, term, "").length),
  names: names.map(textFilters.hasName),
  numbers: numbers.map(textFilters.hasNumber),
  counts: counts.map(dom.formatApproximateCount),
  sorts: sorts.map(values => [...selection.sortByValue(Float64Array.from(values, value => value ?? NaN))]),
  blocks: blocks.map(([hex, n, roles]) => reportData.unpackTexts(new Uint8Array(Buffer.from(hex, "hex")), n, roles).map(block => {
    const texts = new reportData.TextColumn(block, n);
    return Array.from({ length: n }, (_, i) => texts.getText(i) === null ? null : [...texts.getText(i)].map(c => c.codePointAt(0)));
  })),
};
process.stdout.write(JSON.stringify(results));
