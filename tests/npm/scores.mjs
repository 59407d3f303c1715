// Scores cases from standard input with the package that is installed here, and prints what it gives, as JSON.
import { init, metric, names, version } from "truebleu";

let input = "";
for await (const piece of process.stdin.setEncoding("utf8")) input += piece;
await init();
const { texts, cases } = JSON.parse(input);
/** What a call gives, or what it says. */
const told = call => { try { return call(); } catch (error) { return { error: error.message, kind: error.constructor.name }; } };
const results = cases.map(({ name, options, text, segment, explained = false }) => told(() => {
  const asked = metric(name, options), { hypotheses, references } = texts[text];
  if (explained) return hypotheses.map((one, i) => asked.explain(one, references[i]));
  const [i] = [segment ?? 0];
  return { score: asked.score(hypotheses, references), segments: [...asked.segments(hypotheses, references)], sentence: asked.sentence(hypotheses[i], references[i]), higher: asked.higher_is_better };
}));
process.stdout.write(JSON.stringify({ version, names: names(), results }));
