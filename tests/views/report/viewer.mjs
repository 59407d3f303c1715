// Runs the viewer's own functions on cases from standard input, and prints what they give, as JSON.
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const module = name => import(pathToFileURL(`${folder}/${name}.js`).href);
const [F, D, T, C] = await Promise.all(["formula", "data", "tokens", "current"].map(module));
let input = "";
for await (const piece of process.stdin.setEncoding("utf8")) input += piece;
const { scores = [], tokens = [], matches = [], searches = [], sorts = [], blocks = [] } = JSON.parse(input);

const results = {
  scores: scores.map(({ setting, changes, rows, subset }) => {
    const metric = F.metricOf(setting, changes);
    const table = new D.Table(setting.columns, setting.columns.map((_, k) => Float64Array.from(rows, row => row[k])));
    const segments = F.segmentScores(metric, table);
    return {
      signature: metric.signature, segments: [...segments], corpus: F.corpusScore(metric, table, segments),
      subset: F.corpusScore(metric, table, segments, subset), without: [...F.leftOut(metric, table, segments)],
      walked: F.walk(setting, metric, table.totals, false).value,
    };
  }),
  tokens: tokens.map(([text, name, lowercase]) => {
    const { keys, starts, ends } = T.tokenize(text, name, lowercase);
    return [keys, starts.every((start, i) => start < ends[i] && ends[i] <= text.length)];
  }),
  matches: matches.map(([hypothesis, references]) => {
    const { matches: matched, totals } = T.match(T.tokenize(hypothesis, "13a").keys, references.map(text => T.tokenize(text, "13a").keys), 4);
    return [...matched, ...totals];
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
  blocks: blocks.map(([hex, n]) => {
    const texts = new D.Texts(new Uint8Array(Buffer.from(hex, "hex")), n);
    return Array.from({ length: n }, (_, i) => texts.text(i) === null ? null : [...texts.text(i)].map(c => c.codePointAt(0)));
  }),
};
process.stdout.write(JSON.stringify(results));
