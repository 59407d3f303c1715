// Runs the viewer's functions of analysis on cases from standard input, and prints what they give, as JSON.
import { held, modules } from "./held.mjs";

const [folder, binary] = process.argv.slice(2);
const [W, E, C, A, M] = await modules(folder, ["score_breakdown", "exports", "svg_charts", "agreement", "metric"]);
let input = "";
for await (const piece of process.stdin.setEncoding("utf8")) input += piece;
const { splits = [], floats = [], comparisons = [], guarded = [], ticks = [], agreements = [] } = JSON.parse(input);
const made = splits.length ? await held(folder, binary) : null;

process.stdout.write(JSON.stringify({
  splits: splits.map(({ setting, changes, rows }) => {
    const { metric, table } = made(setting, changes, rows), [a, b] = [0, 1].map(i => metric.walk(table.row(i), false));
    return { ...W.lnParts(a, b, metric), scores: [a.value, b.value] };
  }),
  floats: floats.map(x => M.floatText(x)),
  comparisons: comparisons.map(([content, separator]) => ({ rows: E.comparisonRows(content, separator, true), unsafe: E.comparisonRows(content, separator, false), latex: E.latex(content), markdown: E.markdownTables(content) })),
  guarded: guarded.map(text => [E.separated([E.guarded(text, true)], "\t"), E.separated([E.guarded(text, false)], "\t")]),
  agreements: agreements.map(columns => {
    const values = columns.map(column => Float64Array.from(column));
    return { counts: Object.fromEntries(A.tally(values)), found: [...A.opposite(values)], correlation: A.correlation(values), ends: values.map(C.reach) };
  }),
  ticks: ticks.map(([low, high, about]) => C.ticks(low, high, about)),
}));
