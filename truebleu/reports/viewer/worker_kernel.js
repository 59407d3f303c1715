// Kernel functions of the worker: resampling and n-gram lists.
import {createReader, Kernel} from "./kernel.js";

/** @typedef {import("./kernel.js").Handle} Handle */

/** Kernel of the worker. */
export class WorkerKernel extends Kernel {
  /** Start resampling the rows of one or two tables. @param {Handle} metric @param {Handle[]} tables @param {number} seed @param {ArrayLike<number>} [groups] the document of each row, to resample documents @returns {Handle} */
  startResampling(metric, [firstTable, secondTable = 0], seed, groups = []) {
    this.sendNumbers([seed >>> 0, Math.floor(seed / 2 ** 32), ...Array.from(groups)]);
    return this.requireResult(this.exports.page_resample(metric, firstTable, secondTable));
  }

  /** Draw more resamples. @param {Handle} draws @param {number} replicates @returns {number} total number of resamples */
  drawResamples(draws, replicates) { return this.requireResult(this.exports.page_draw(draws, replicates)); }

  /** Return the interval bounds of each score and of their difference. @param {Handle} draws @param {number} level @returns {number[][]} */
  getIntervals(draws, level) {
    this.requireResult(this.exports.page_intervals(draws, level));
    const ends = this.readFloats();
    return Array.from({ length: ends.length / 2 }, (_, i) => [ends[2 * i], ends[2 * i + 1]]);
  }

  /** Collect the n-grams of texts up to an order. @param {Handle} metric @param {Handle[]} systems @param {Handle[]} references @param {number} orders @returns {Handle} */
  addNgrams(metric, systems, references, orders) { this.sendNumbers([...systems, ...references]); return this.requireResult(this.exports.page_grams(metric, systems.length, orders)); }

  /** Count words per segment and frequency bin. @param {Handle} grams @param {number[]} edges the lowest frequency of each bin @returns {Handle} a table */
  countFrequencies(grams, edges) { this.sendNumbers(edges); return this.requireResult(this.exports.page_frequencies(grams)); }

  /**
   * Return the n-grams that distinguish a system from another system or from the references.
   * @param {Handle} grams @param {number} system @param {number | null} otherSystem @param {number} limit per order
   * @returns {{segments: number, lists: Record<string, import("./ngrams.js").ListedNgram[]>}}
   */
  compareNgrams(grams, system, otherSystem, limit) {
    const segments = this.requireResult(this.exports.page_contrasts(grams, system, otherSystem === null ? 0 : otherSystem + 1, limit)), { next, readMany, float, word } = createReader(this.readAnswer());
    const systems = otherSystem === null ? 1 : 2;
    const entries = Array.from({ length: next() }, () => {
      const kind = next(), order = next(), lengths = readMany(order), matched = readMany(systems), produced = readMany(systems), reference = next();
      return { kind, lengths, order, matched, produced, reference, log_odds: float(), z: float() };
    });
    /** @type {Record<string, import("./ngrams.js").ListedNgram[]>} */
    const lists = otherSystem === null ? { over: [], missed: [] } : { difference: [], over: [], missed: [] };
    for (const { kind, lengths, ...gram } of entries) lists[["difference", "over", "missed"][kind]]?.push({ ...gram, tokens: lengths.map(word), segments: [] });
    return { segments, lists };
  }
}
