// Runs the viewer's analysis functions on cases from standard input and prints their results as JSON.
import { loadModules, startKernel } from "./kernel_in_node.mjs";

const [folder, binary] = process.argv.slice(2);
const [breakdown, exports, charts, agreement, metrics] = await loadModules(folder, ["score_breakdown", "exports", "svg_charts", "agreement", "metric"]);
let input = "";
for await (const piece of process.stdin.setEncoding("utf8")) input += piece;
const { splits = [], floats = [], comparisons = [], guarded = [], ticks = [], agreements = [] } = JSON.parse(input);
const createMetric = splits.length ? await startKernel(folder, binary) : null;

process.stdout.write(JSON.stringify({
  splits: splits.map(({ setting, changes, rows }) => {
    const { metric, table } = createMetric(setting, changes, rows), [a, b] = [0, 1].map(i => metric.breakDown(table.row(i), false));
    return { ...breakdown.splitDelta(a, b, metric), scores: [a.value, b.value] };
  }),
  floats: floats.map(x => metrics.formatFloat(x)),
  comparisons: comparisons.map(([content, separator]) => ({ rows: exports.formatComparison(content, separator, true), unsafe: exports.formatComparison(content, separator, false) })),
  guarded: guarded.map(text => [exports.formatDelimited([exports.guardFormula(text, true)], "\t"), exports.formatDelimited([exports.guardFormula(text, false)], "\t")]),
  agreements: agreements.map(columns => {
    const values = columns.map(column => Float64Array.from(column));
    return { counts: Object.fromEntries(agreement.countPreferences(values)), disagreements: [...agreement.findDisagreements(values)], correlation: agreement.pearsonCorrelation(values), ends: values.map(charts.getAxisLimit) };
  }),
  ticks: ticks.map(([low, high, count]) => charts.getTicks(low, high, count)),
}));
