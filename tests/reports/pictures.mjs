// Runs the counting functions of the charts on cases from standard input and prints their results as JSON.
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const loadModule = name => import(pathToFileURL(`${folder}/${name}.js`).href);
const [scatter, densityPlot, deltaByPosition] = await Promise.all(["scatter", "density_plot", "delta_by_position"].map(loadModule));
let input = "";
for await (const piece of process.stdin.setEncoding("utf8")) input += piece;
const { hexagons = [], densities = [], blocks = [] } = JSON.parse(input);
process.stdout.write(JSON.stringify({
  hexagons: hexagons.map(([x, y, size]) => [...scatter.countHexagons(x, y, size).values()]),
  densities: densities.map(([values, low, high]) => [...densityPlot.estimateDensity(Float64Array.from(values), low, high)]),
  blocks: blocks.map(n => deltaByPosition.splitIntoBlocks(n)),
}));
