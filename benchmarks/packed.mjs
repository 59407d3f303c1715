// Measure the npm package and a peer, in turn, in one process: `node packed.mjs RUNS HYPOTHESES REFERENCES`, in a folder that contains both.
import { readFileSync } from "node:fs";
import { init, metric } from "truebleu";
import peer from "bleu-score";

const [runs, ...files] = process.argv.slice(2);
// The peer splits at single spaces.
const [hypotheses, references] = files.map(file => readFileSync(file, "utf8").replace(/\n$/, "").split("\n").map(line => line.trim().split(/\s+/u).join(" ")));
await init();
// The settings of the peer: unchanged tokens, no smoothing, and a score of 0 if an order has no n-grams.
const same = metric("bleu", { tokenize: "none", smoothing: "none", effective_order: false }), usual = metric("bleu");
const contenders = {
  segments: () => [...same.segments(hypotheses, references)],
  "bleu-score": () => hypotheses.map((text, i) => 100 * peer.bleu(references[i], text, 4)),
  score: () => [same.score(hypotheses, references).value],
  "score 13a": () => [usual.score(hypotheses, references).value],
};
const results = Object.fromEntries(Object.entries(contenders).map(([name, run]) => [name, run()])); // This also warms up all code.
const costs = Object.fromEntries(Object.keys(contenders).map(name => [name, []]));
for (let round = 0; round < Number(runs); round++) {
  for (const [name, run] of Object.entries(contenders)) {
    const used = process.cpuUsage(), start = performance.now();
    run();
    const elapsed = (performance.now() - start) / 1000, { user, system } = process.cpuUsage(used);
    costs[name].push({ processor: (user + system) / 1e6, elapsed });
  }
}
process.stdout.write(JSON.stringify({ costs, results }));
