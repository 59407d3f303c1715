// Runs the kernel for pages on cases from standard input, and prints what it gives, as JSON.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, binary] = process.argv.slice(2);
const { Kernel } = await import(pathToFileURL(`${folder}/kernel.js`).href);
let input = "";
for await (const piece of process.stdin.setEncoding("utf8")) input += piece;
const { lowercase, cases } = JSON.parse(input);
const kernel = await Kernel.load(readFileSync(binary));
kernel.lowercase(new Uint8Array(Uint32Array.from(lowercase).buffer));

/** Blocks come in base64, as they are in pages: half a character is in no string of JSON. */
const column = (block, n) => kernel.texts(Uint8Array.from(Buffer.from(block, "base64")), n);

const results = cases.map(({ recipe, n, hypotheses, references, subset, texts }) => {
  try {
    const metric = kernel.metric(recipe), columns = [hypotheses, ...references].map(block => column(block, n));
    let table = 0;
    for (let from = 0; from < n; from += 3) table = kernel.count(metric, table, columns, from, Math.min(n, from + 3));
    const whole = kernel.total(table), some = kernel.total(table, subset);
    const result = {
      columns: kernel.columns(table).map(one => [...one]), segments: [...kernel.scores(metric, table, false)], corpus: kernel.scores(metric, whole, true)[0],
      subset: kernel.scores(metric, some, true)[0], without: [...kernel.without(metric, table)], tokens: texts.map(text => kernel.tokens(metric, text, false)),
    };
    for (const handle of [metric, table, whole, some, ...columns]) kernel.forget(handle);
    return result;
  } catch (error) { return { error: error.message }; }
});
process.stdout.write(JSON.stringify(results));
