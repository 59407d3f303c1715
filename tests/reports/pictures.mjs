// Runs what the pictures count on cases from standard input, and prints what it gives, as JSON.
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const module = name => import(pathToFileURL(`${folder}/${name}.js`).href);
const [S, D, C] = await Promise.all(["scatter", "spread", "course"].map(module));
let input = "";
for await (const piece of process.stdin.setEncoding("utf8")) input += piece;
const { hexagons, densities, blocks } = JSON.parse(input);
process.stdout.write(JSON.stringify({
  hexagons: hexagons.map(([x, y, size]) => [...S.hexagons(x, y, size).values()]),
  densities: densities.map(([values, low, high]) => [...D.density(Float64Array.from(values), low, high)]),
  blocks: blocks.map(n => C.blocksOf(n)),
}));
