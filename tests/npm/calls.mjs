// Runs calls described on standard input and prints their results or errors as JSON.
import { init, metric } from "truebleu";

let input = "";
for await (const piece of process.stdin.setEncoding("utf8")) input += piece;
await init();
const results = JSON.parse(input).map(([name, options, method, callArguments]) => {
  try {
    const instance = metric(name, options);
    return method ? instance[method](...callArguments) : [instance.name, instance.parameters];
  } catch (error) { return { error: error.message }; }
});
process.stdout.write(JSON.stringify(results));
