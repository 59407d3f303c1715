// The page's other thread: resamples and n-grams by the kernel, and user's patterns, which may never end.
import {Kernel} from "./kernel.js";
import {placesOf} from "./match_positions.js";

/** @typedef {{kind: "bootstrap", binary: Uint8Array, recipe: import("./kernel.js").Recipe, tables: Uint8Array[], width: number, groups: Uint32Array | null, samples: number, level: number, seed: number}} BootstrapTask */
/** @typedef {{kind: "ngrams", words: boolean, binary: Uint8Array, lowercase: Uint8Array, recipe: import("./kernel.js").Recipe, systems: Uint8Array[], references: Uint8Array[], n: number, orders: number, pair: [number, number | null], limit: number, edges: number[]}} NgramTask  the words by frequency, or lists of n-grams */
/** @typedef {{kind: "regex", pattern: string, flags: string, texts: (string | null | undefined)[], of: number[]}} RegexTask */
/** @typedef {{kind: "places", pattern: string, flags: string, texts: string[], most: number}} PlacesTask */

/** @type {Kernel | null} */
let kernel = null;

self.onmessage = async event => {
  const { id, task } = /** @type {{id: number, task: BootstrapTask | NgramTask | RegexTask | PlacesTask}} */ (event.data);
  try {
    self.postMessage({ id, result: task.kind === "bootstrap" ? await resample(task, share => self.postMessage({ id, share })) : task.kind === "ngrams" ? await counted(task) : task.kind === "regex" ? matching(task) : task.texts.map(text => placesOf(new RegExp(task.pattern, task.flags), text, "found", task.most)) });
  } catch (error) {
    self.postMessage({ id, error: String(/** @type {Error} */ (error).message) });
  }
};

/** Intervals as truebleu.significance has them. @param {BootstrapTask} task @param {(share: number) => void} told @returns {Promise<number[][]>} */
async function resample({ binary, recipe, tables, width, groups, samples, level, seed }, told) {
  if (!kernel) {
    kernel = await Kernel.load(/** @type {BufferSource} */ (binary));
    kernel.lowercase(new Uint8Array()); // No text is read here.
  }
  const own = kernel, metric = own.metric(recipe), held = tables.map(rows => own.tableOfRows(rows, width));
  const draws = kernel.resample(metric, held, seed, groups ?? []);
  try {
    let last = performance.now();
    for (let done = 0; done < samples;) {
      done = kernel.draw(draws, Math.min(TOGETHER, samples - done));
      if (performance.now() - last > 100) { told(done / samples); last = performance.now(); }
    }
    return kernel.intervals(draws, level);
  } finally { for (const handle of [metric, ...held, draws]) kernel.forget(handle); }
}

/** So many resamples between two looks at the clock. */
const TOGETHER = 20;

/** The lists of n-grams, or the rows of the words by frequency. @param {NgramTask} task */
async function counted({ words, binary, lowercase, recipe, systems, references, n, orders, pair, limit, edges }) {
  const own = await Kernel.load(/** @type {BufferSource} */ (binary));
  own.lowercase(lowercase);
  const [x, y] = [systems, references].map(blocks => blocks.map(block => own.texts(block, n)));
  const grams = own.grams(own.metric(recipe), x, y, words ? 1 : orders);
  return words ? own.rows(own.frequencies(grams, edges)).bytes : own.contrasts(grams, ...pair, limit);
}

/** The numbers of the texts that match. @param {RegexTask} task */
function matching({ pattern, flags, texts, of }) {
  const wanted = new RegExp(pattern, flags);
  return of.filter((_, i) => typeof texts[i] === "string" && wanted.test(/** @type {string} */ (texts[i])));
}
