// Hands the kernel over in a way that the command line names, after two that are wrong.
import { readFileSync } from "node:fs";
import { init, metric } from "truebleu";

const place = import.meta.resolve("truebleu/kernel.wasm"), bytes = readFileSync(new URL(place));
const ways = {
  bytes,
  buffer: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
  string: place,
  url: new URL(place),
  response: new Response(bytes),
};
const said = [];
try { metric("bleu"); } catch (error) { said.push(error.message); }
for (const wrong of [new Uint8Array(8), new Response("", { status: 404, statusText: "Not Found" })]) {
  try { await init(wrong); } catch (error) { said.push(error.message); }
}
await init(ways[process.argv[2]]);
await init(); // nothing, as it is ready
process.stdout.write(JSON.stringify([...said, metric("bleu").sentence("a b c d", "a b c d").value]));
