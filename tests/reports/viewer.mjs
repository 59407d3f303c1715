// Runs the viewer's own functions on cases from standard input, and prints what they give, as JSON.
import { readFileSync } from "node:fs";
import { held, modules } from "./held.mjs";

const [folder, binary] = process.argv.slice(2);
const [D, T, C, K] = await modules(folder, ["report_data", "tokens", "selection", "kernel"]);
let input = "";
for await (const piece of process.stdin.setEncoding("utf8")) input += piece;
const { scores = [], lowercase = "", tokens = [], matches = [], searches = [], sorts = [], blocks = [] } = JSON.parse(input);
const kernel = await K.Kernel.load(readFileSync(binary));
kernel.lowercase(new Uint8Array(Buffer.from(lowercase, "hex")));
const made = scores.length ? await held(folder, binary) : null;

const results = {
  scores: scores.map(({ setting, changes, rows, subset }) => {
    const { metric, table } = made(setting, changes, rows);
    return {
      signature: metric.signature, segments: [...metric.scores(table)], corpus: metric.corpus(table), subset: metric.corpus(table, subset), without: [...metric.without(table)],
      walked: metric.walk(table.totals, false).value, segment: metric.walk(table.row(subset[0]), true).value, row: table.row(subset[0]), sums: table.totals, column: [...table.at(1)],
    };
  }),
  tokens: tokens.map(([text, recipe]) => T.placed(text, kernel.tokens(kernel.metric(recipe), text, false), recipe)),
  matches: matches.map(([hypothesis, references]) => {
    const orders = T.gramNumbers([hypothesis, ...references], 4), counted = (numbers, i) => [...T.gramCounts(hypothesis, numbers, i + 1).values()].reduce((sum, gram) => sum + gram.counted, 0);
    return [...orders.map(counted), ...orders.map(([own]) => own.length)];
  }),
  searches: searches.map(([texts, needle, exact]) => {
    const encoder = new TextEncoder(), parts = texts.map(text => text === null ? new Uint8Array() : encoder.encode(text));
    const lengths = Uint32Array.from(texts, (text, i) => text === null ? 0xFFFFFFFF : parts[i].length);
    const bytes = new Uint8Array(Buffer.concat([Buffer.from(lengths.buffer), ...parts]));
    const hits = new Uint8Array(texts.length);
    new D.Texts(bytes, texts.length).search(needle, exact, hits);
    return [...hits];
  }),
  sorts: sorts.map(values => [...C.byValue(Float64Array.from(values, value => value ?? NaN))]),
  blocks: blocks.map(([hex, n, roles]) => D.apart(new Uint8Array(Buffer.from(hex, "hex")), n, roles).map(block => {
    const texts = new D.Texts(block, n);
    return Array.from({ length: n }, (_, i) => texts.text(i) === null ? null : [...texts.text(i)].map(c => c.codePointAt(0)));
  })),
};
process.stdout.write(JSON.stringify(results));
