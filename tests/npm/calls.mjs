// Makes the calls that standard input describes, and prints what each gives, or its error, as JSON.
import { init, metric } from "truebleu";

let input = "";
for await (const piece of process.stdin.setEncoding("utf8")) input += piece;
await init();
const results = JSON.parse(input).map(([name, options, method, given]) => {
  try {
    const made = metric(name, options);
    return method ? made[method](...given) : [made.name, made.parameters];
  } catch (error) { return { error: error.message }; }
});
process.stdout.write(JSON.stringify(results));
