// TypeScript example, which the tests compile with the strictest settings.
import { init, metric, names, version, type Explanation, type Options, type References, type Score } from "truebleu";

await init();
const options: Options = { tokenize: "intl", lowercase: true, smoothing: "floor", smoothing_value: 0.1 };
const bleu = metric("bleu", options);
const hypotheses: readonly string[] = ["The cat sat on the mat."];
const references: References[] = [["The cat sat on a mat.", null]];

const score: Score = bleu.score(hypotheses, references);
const value: number = score.value;
const precisions: number[] = score.precisions ?? [];
const segmentScores: Float64Array = bleu.segments(hypotheses, references);
const explained: Explanation = bleu.explain("The cat sat.", "The cat sits.");
const grams: string[] = explained.orders.flatMap(order => order.ngrams).map(gram => gram.tokens.join(" "));
const signature: string = bleu.signature(2);

for (const line of [version, ...names(), `${score}`, signature, ...grams]) console.log(line);
console.log(value, precisions, segmentScores, metric("ter").sentence("a", "b").edits, explained.alignment?.operations);
