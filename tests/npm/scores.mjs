// Scores cases from standard input with the installed package and prints the results as JSON.
import { init, metric, names, version } from "truebleu";

let input = "";
for await (const piece of process.stdin.setEncoding("utf8")) input += piece;
await init();
const { texts, cases } = JSON.parse(input);
/** Return the result of a call, or its error. */
const catchError = call => { try { return call(); } catch (error) { return { error: error.message, kind: error.constructor.name }; } };
const results = cases.map(({ name, options, text, segment, explained = false }) => catchError(() => {
  const instance = metric(name, options), { hypotheses, references } = texts[text];
  if (explained) return hypotheses.map((hypothesis, i) => instance.explain(hypothesis, references[i]));
  const [i] = [segment ?? 0];
  return { score: instance.score(hypotheses, references), segments: [...instance.segments(hypotheses, references)], sentence: instance.sentence(hypotheses[i], references[i]), higher: instance.higher_is_better };
}));
process.stdout.write(JSON.stringify({ version, names: names(), results }));
