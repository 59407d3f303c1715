// The page's other thread: what may take long, and user's patterns, which may never end.
import {bootstrap, metricOf} from "./formula.js";

/** @typedef {{kind: "bootstrap", rows: Float64Array, width: number, setting: any, changes: any, samples: number, level: number, seed: number}} BootstrapTask */
/** @typedef {{kind: "regex", pattern: string, flags: string, texts: (string | null | undefined)[], of: number[]}} RegexTask */

self.onmessage = event => {
  const { id, task } = /** @type {{id: number, task: BootstrapTask | RegexTask}} */ (event.data);
  try {
    self.postMessage({ id, result: task.kind === "bootstrap" ? resample(task) : matching(task) });
  } catch (error) {
    self.postMessage({ id, error: String(/** @type {Error} */ (error).message) });
  }
};

/** @param {BootstrapTask} task */
function resample({ rows, width, setting, changes, samples, level, seed }) {
  const metric = metricOf(setting, changes), n = rows.length / (2 * width);
  return bootstrap(rows, width, metric.mean ? row => row[0] / n : metric.corpus, samples, level, seed);
}

/** The numbers of the texts that match. @param {RegexTask} task */
function matching({ pattern, flags, texts, of }) {
  const wanted = new RegExp(pattern, flags);
  return of.filter((_, i) => typeof texts[i] === "string" && wanted.test(/** @type {string} */ (texts[i])));
}
