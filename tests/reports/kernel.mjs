// Runs the browser kernel on cases from standard input and prints its results as JSON.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, binary] = process.argv.slice(2);
const { toNumbers } = await import(pathToFileURL(`${folder}/kernel.js`).href), { WorkerKernel } = await import(pathToFileURL(`${folder}/worker_kernel.js`).href);
let input = "";
for await (const piece of process.stdin.setEncoding("utf8")) input += piece;
const { lowercase, cases = [], lists = [], alignments = [] } = JSON.parse(input);
const kernel = await WorkerKernel.load(readFileSync(binary));
kernel.setLowercase(new Uint8Array(Uint32Array.from(lowercase).buffer));

/** Add a column of texts. Blocks are in base64, as in reports, because JSON strings cannot hold partial characters. */
const addColumn = (block, n) => kernel.addTexts(Uint8Array.from(Buffer.from(block, "base64")), n);

/** Return the lists of n-grams of two systems. */
const compareNgrams = ({ recipe, n, systems, references, orders, pair, limit }) => {
  const metric = kernel.addMetric(recipe), [systemColumns, referenceColumns] = [systems, references].map(blocks => blocks.map(block => addColumn(block, n))), ngrams = kernel.addNgrams(metric, systemColumns, referenceColumns, orders);
  const result = kernel.compareNgrams(ngrams, ...pair, limit);
  for (const handle of [metric, ngrams, ...systemColumns, ...referenceColumns]) kernel.release(handle);
  return result;
};

/** Return the edits of each segment. */
const alignSegments = ({ recipe, segments }) => {
  const metric = kernel.addMetric(recipe), result = segments.map(({ block, n }) => kernel.align(metric, Uint8Array.from(Buffer.from(block, "base64")), n));
  kernel.release(metric);
  return result;
};

const results = alignments.length ? alignments.map(alignSegments) : lists.length ? lists.map(compareNgrams) : cases.map(({ recipe, n, hypotheses, references, subset, texts, seed = 12345, samples = 0, documents = [] }) => {
  try {
    const metric = kernel.addMetric(recipe), columns = [hypotheses, ...references].map(block => addColumn(block, n));
    let table = 0;
    for (let from = 0; from < n; from += 3) table = kernel.countSegments(metric, table, columns, from, Math.min(n, from + 3));
    const { width, bytes } = kernel.getRows(table), copiedTable = kernel.addTableFromRows(bytes, width), subsetTable = kernel.addTableFromRows(kernel.getRows(table, subset).bytes, width);
    const result = {
      columns: Array.from({ length: width }, (_, k) => [...kernel.getColumn(copiedTable, k)]), segments: [...kernel.scoreSegments(metric, table)], corpus: kernel.scoreCorpus(metric, table),
      subset: kernel.scoreCorpus(metric, table, subset), without: [...kernel.scoreWithoutEach(metric, table)], tokens: texts.map(text => kernel.tokenize(metric, text, false)),
      sums: kernel.sumColumns(subsetTable), rows: toNumbers(kernel.getRows(table, subset).bytes),
    };
    const getIntervals = (tables, groups) => {
      const bootstrap = kernel.startResampling(metric, tables, seed, groups);
      for (const replicates of [1, samples - 1]) kernel.drawResamples(bootstrap, replicates);
      const intervals = kernel.getIntervals(bootstrap, 0.9);
      kernel.release(bootstrap);
      return intervals;
    };
    if (samples) Object.assign(result, { single: getIntervals([table], []), paired: getIntervals([table, copiedTable], []), few: getIntervals([subsetTable], []), documents: getIntervals([table], documents) });
    for (const handle of [metric, table, copiedTable, subsetTable, ...columns]) kernel.release(handle);
    return result;
  } catch (error) { return { error: error.message }; }
});
process.stdout.write(JSON.stringify(results));
