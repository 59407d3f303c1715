// Prints the memory of this process after each of several equal rounds of work, as JSON.
import { init, metric } from "truebleu";

await init();
const bleu = metric("bleu"), sizes = [];
const hypotheses = Array.from({ length: 50_000 }, (_, i) => `${i} the cat sat on the mat ${i}`);
const references = hypotheses.map(text => [text, null, text.slice(2)]);
for (let round = 0; round < 12; round++) {
  bleu.score(hypotheses, references);
  bleu.segments(hypotheses, references);
  bleu.explain(hypotheses[round], references[round]);
  sizes.push(process.memoryUsage().rss);
}
process.stdout.write(JSON.stringify(sizes));
