// Passes the kernel to `init` in the form named on the command line, after two invalid values.
import { readFileSync } from "node:fs";
import { init, metric } from "truebleu";

const location = import.meta.resolve("truebleu/kernel.wasm"), bytes = readFileSync(new URL(location));
const sources = {
  bytes,
  buffer: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
  string: location,
  url: new URL(location),
  response: new Response(bytes),
};
const messages = [];
try { metric("bleu"); } catch (error) { messages.push(error.message); }
for (const invalid of [new Uint8Array(8), new Response("", { status: 404, statusText: "Not Found" })]) {
  try { await init(invalid); } catch (error) { messages.push(error.message); }
}
await init(sources[process.argv[2]]);
await init(); // A second call has no effect.
process.stdout.write(JSON.stringify([...messages, metric("bleu").sentence("a b c d", "a b c d").value]));
