// Runs the kernel for pages on cases from standard input, and prints what it gives, as JSON.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, binary] = process.argv.slice(2);
const { Kernel, numbersOf } = await import(pathToFileURL(`${folder}/kernel.js`).href);
let input = "";
for await (const piece of process.stdin.setEncoding("utf8")) input += piece;
const { lowercase, cases = [], lists = [], alignments = [] } = JSON.parse(input);
const kernel = await Kernel.load(readFileSync(binary));
kernel.lowercase(new Uint8Array(Uint32Array.from(lowercase).buffer));

/** Blocks come in base64, as they are in pages: half a character is in no string of JSON. */
const column = (block, n) => kernel.texts(Uint8Array.from(Buffer.from(block, "base64")), n);

/** The lists of n-grams of two systems. */
const listed = ({ recipe, n, systems, references, orders, pair, limit }) => {
  const metric = kernel.metric(recipe), [x, y] = [systems, references].map(blocks => blocks.map(block => column(block, n))), grams = kernel.grams(metric, x, y, orders);
  const made = kernel.contrasts(grams, ...pair, limit);
  for (const handle of [metric, grams, ...x, ...y]) kernel.forget(handle);
  return made;
};

/** The edits of each segment. */
const edited = ({ recipe, segments }) => {
  const metric = kernel.metric(recipe), made = segments.map(({ block, n }) => kernel.alignment(metric, Uint8Array.from(Buffer.from(block, "base64")), n));
  kernel.forget(metric);
  return made;
};

const results = alignments.length ? alignments.map(edited) : lists.length ? lists.map(listed) : cases.map(({ recipe, n, hypotheses, references, subset, texts, seed = 12345, samples = 0, documents = [] }) => {
  try {
    const metric = kernel.metric(recipe), columns = [hypotheses, ...references].map(block => column(block, n));
    let table = 0;
    for (let from = 0; from < n; from += 3) table = kernel.count(metric, table, columns, from, Math.min(n, from + 3));
    const { width, bytes } = kernel.rows(table), again = kernel.tableOfRows(bytes, width), some = kernel.tableOfRows(kernel.rows(table, subset).bytes, width);
    const result = {
      columns: Array.from({ length: width }, (_, k) => [...kernel.column(again, k)]), segments: [...kernel.scores(metric, table)], corpus: kernel.corpus(metric, table),
      subset: kernel.corpus(metric, table, subset), without: [...kernel.without(metric, table)], tokens: texts.map(text => kernel.tokens(metric, text, false)),
      sums: kernel.total(some), rows: numbersOf(kernel.rows(table, subset).bytes),
    };
    // Of one system's segments, and of documents that are the subset and the rest.
    const drawn = (tables, groups) => {
      const draws = kernel.resample(metric, tables, seed, groups);
      for (const many of [1, samples - 1]) kernel.draw(draws, many);
      const ends = kernel.intervals(draws, 0.9);
      kernel.forget(draws);
      return ends;
    };
    if (samples) Object.assign(result, { alone: drawn([table], []), paired: drawn([table, again], []), few: drawn([some], []), documents: drawn([table], documents) });
    for (const handle of [metric, table, again, some, ...columns]) kernel.forget(handle);
    return result;
  } catch (error) { return { error: error.message }; }
});
process.stdout.write(JSON.stringify(results));
