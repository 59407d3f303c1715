// Web worker: resampling, n-gram lists, and the user's regular expressions, which might run
// forever.
import {WorkerKernel} from "./worker_kernel.js";
import {findSpans} from "./match_positions.js";

/** @typedef {{kind: "bootstrap", binary: Uint8Array, recipe: import("./kernel.js").Recipe, tables: Uint8Array[], width: number, groups: Uint32Array | null, samples: number, level: number, seed: number}} BootstrapTask */
/** @typedef {{kind: "ngrams", words: boolean, binary: Uint8Array, lowercase: Uint8Array, recipe: import("./kernel.js").Recipe, systems: Uint8Array[], references: Uint8Array[], n: number, orders: number, pair: [number, number | null], limit: number, edges: number[]}} NgramTask  word counts by frequency, or n-gram lists */
/** @typedef {{kind: "regex", pattern: string, flags: string, texts: (string | null | undefined)[], segments: number[]}} RegexTask */
/** @typedef {{kind: "places", pattern: string, flags: string, texts: string[], limit: number}} PlacesTask */

/** @type {WorkerKernel | null} */
let kernel = null;

self.onmessage = async event => {
  const { id, task } = /** @type {{id: number, task: BootstrapTask | NgramTask | RegexTask | PlacesTask}} */ (event.data);
  try {
    self.postMessage({ id, result: task.kind === "bootstrap" ? await resample(task, share => self.postMessage({ id, share })) : task.kind === "ngrams" ? await countNgrams(task) : task.kind === "regex" ? findMatches(task) : task.texts.map(text => findSpans(new RegExp(task.pattern, task.flags), text, "found", task.limit)) });
  } catch (error) {
    self.postMessage({ id, error: String(/** @type {Error} */ (error).message) });
  }
};

/** Compute bootstrap intervals as truebleu.significance does. @param {BootstrapTask} task @param {(share: number) => void} onProgress @returns {Promise<number[][]>} */
async function resample({ binary, recipe, tables, width, groups, samples, level, seed }, onProgress) {
  if (!kernel) {
    kernel = /** @type {WorkerKernel} */ (await WorkerKernel.load(/** @type {BufferSource} */ (binary)));
    kernel.setLowercase(new Uint8Array()); // The worker reads no text, so it needs no lower-case table.
  }
  const loadedKernel = kernel, metric = loadedKernel.addMetric(recipe), tableHandles = tables.map(rows => loadedKernel.addTableFromRows(rows, width));
  const draws = kernel.startResampling(metric, tableHandles, seed, groups ?? []);
  try {
    let last = performance.now();
    for (let done = 0; done < samples;) {
      done = kernel.drawResamples(draws, Math.min(RESAMPLES_PER_STEP, samples - done));
      if (performance.now() - last > 100) { onProgress(done / samples); last = performance.now(); }
    }
    return kernel.getIntervals(draws, level);
  } finally { for (const handle of [metric, ...tableHandles, draws]) kernel.release(handle); }
}

/** Number of resamples between two checks of the clock. */
const RESAMPLES_PER_STEP = 20;

/** Compute n-gram lists, or word counts by frequency. @param {NgramTask} task */
async function countNgrams({ words, binary, lowercase, recipe, systems, references, n, orders, pair, limit, edges }) {
  const ngramKernel = /** @type {WorkerKernel} */ (await WorkerKernel.load(/** @type {BufferSource} */ (binary)));
  ngramKernel.setLowercase(lowercase);
  const [systemColumns, referenceColumns] = [systems, references].map(blocks => blocks.map(block => ngramKernel.addTexts(block, n)));
  const grams = ngramKernel.addNgrams(ngramKernel.addMetric(recipe), systemColumns, referenceColumns, words ? 1 : orders);
  return words ? ngramKernel.getRows(ngramKernel.countFrequencies(grams, edges)).bytes : ngramKernel.compareNgrams(grams, ...pair, limit);
}

/** Return the segments whose texts match a pattern. @param {RegexTask} task */
function findMatches({ pattern, flags, texts, segments }) {
  const regex = new RegExp(pattern, flags);
  return segments.filter((_, i) => typeof texts[i] === "string" && regex.test(/** @type {string} */ (texts[i])));
}
