// Runs the viewer's functions of analysis on cases from standard input, and prints what they give, as JSON.
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const module = name => import(pathToFileURL(`${folder}/${name}.js`).href);
const [F, W, E, C, A] = await Promise.all(["formula", "why", "exports", "charts", "agreement"].map(module));
let input = "";
for await (const piece of process.stdin.setEncoding("utf8")) input += piece;
const { splits = [], floats = [], comparisons = [], guarded = [], ticks = [], agreements = [] } = JSON.parse(input);

process.stdout.write(JSON.stringify({
  splits: splits.map(({ setting, changes, rows }) => {
    const metric = F.metricOf(setting, changes), [a, b] = rows.map(row => F.walk(setting, metric, row, false));
    return { ...W.lnParts(a, b, metric), scores: [a.value, b.value] };
  }),
  floats: floats.map(x => E.floatText(x)),
  comparisons: comparisons.map(([content, separator]) => ({ rows: E.comparisonRows(content, separator, true), unsafe: E.comparisonRows(content, separator, false), latex: E.latex(content), markdown: E.markdownTables(content) })),
  guarded: guarded.map(text => [E.separated([E.guarded(text, true)], "\t"), E.separated([E.guarded(text, false)], "\t")]),
  agreements: agreements.map(columns => {
    const values = columns.map(column => Float64Array.from(column));
    return { counts: Object.fromEntries(A.tally(values)), found: [...A.opposite(values)], correlation: A.correlation(values), ends: values.map(C.reach) };
  }),
  ticks: ticks.map(([low, high, about]) => C.ticks(low, high, about)),
}));
