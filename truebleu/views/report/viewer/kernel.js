// The kernel as WebAssembly: texts to counts and counts to scores, bit for bit as Python has them.

/** @typedef {Record<string, string | number | boolean | (number | boolean)[] | null>} Recipe  a metric's parameters, as the kernel takes them */
/** @typedef {number} Handle  of something that the kernel holds */

/** The version of the interface: that of the binary must be the same. */
const INTERFACE = 1;

/** What the kernel exports: functions of numbers, and its memory. */
export class Kernel {
  /** @param {any} of what an instance exports */
  constructor(of) {
    this.of = of;
    if (of.page_version() !== INTERFACE) throw new Error("the kernel in this page is of another version than the page");
  }

  /** @param {BufferSource} binary */
  static async load(binary) {
    const { instance } = await WebAssembly.instantiate(binary, {});
    return new Kernel(instance.exports);
  }

  /** Hands over bytes. @param {Uint8Array} bytes */
  give(bytes) {
    // The memory may have moved; it is looked at again each time.
    const at = this.of.page_room(bytes.length) >>> 0;
    new Uint8Array(this.of.memory.buffer, at, bytes.length).set(bytes);
  }

  /** Hands over handles, or numbers of segments. @param {ArrayLike<number>} numbers */
  giveNumbers(numbers) { this.give(new Uint8Array(Uint32Array.from(numbers).buffer)); }

  /** A copy of the last answer. @returns {Uint8Array} */
  answer() { return new Uint8Array(this.of.memory.buffer, this.of.page_answer() >>> 0, this.of.page_answered() >>> 0).slice(); }

  /** @returns {Float64Array} */
  floats() { return new Float64Array(this.answer().buffer); }

  /** What a function gave; an error if that is 0. @param {number} given */
  checked(given) {
    if (given) return given >>> 0;
    throw new Error(new TextDecoder().decode(this.answer()) || "the kernel stopped");
  }

  /** @param {Handle} handle */
  forget(handle) { this.of.page_forget(handle); }

  /** Lower-casing as the Python that made the page has it. @param {Uint8Array} pairs code points, of 4 bytes each */
  lowercase(pairs) { this.give(pairs); this.checked(this.of.page_lowercase()); }

  /** A column of texts. @param {Uint8Array} block as payload.py has it @param {number} n @returns {Handle} */
  texts(block, n) { this.give(block); return this.checked(this.of.page_texts(n)); }

  /** @param {Recipe} recipe @returns {Handle} */
  metric(recipe) {
    /** @type {(x: any) => string} */
    const value = x => typeof x === "boolean" ? (x ? "yes" : "no") : Array.isArray(x) ? x.map(value).join(",") : String(x ?? "");
    this.give(new TextEncoder().encode(Object.entries(recipe).map(([name, x]) => `${name}=${value(x)}\n`).join("")));
    return this.checked(this.of.page_metric());
  }

  /**
   * The rows of segments from `first` to `last`, which is left out, behind those of `table` (0: of a new one).
   * @param {Handle} metric @param {Handle} table @param {Handle[]} columns hypotheses, then references @param {number} first @param {number} last @returns {Handle}
   */
  count(metric, table, columns, first, last) { this.giveNumbers(columns); return this.checked(this.of.page_count(metric, table, first, last)); }

  /** A table of rows that were counted elsewhere. @param {Float64Array} numbers row after row @param {number} width @returns {Handle} */
  table(numbers, width) { this.give(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength)); return this.checked(this.of.page_table(width)); }

  /** The columns of a table. @param {Handle} table @returns {Float64Array[]} */
  columns(table) {
    const width = this.checked(this.of.page_columns(table)), all = this.floats(), n = all.length / width;
    return Array.from({ length: width }, (_, k) => all.subarray(k * n, (k + 1) * n));
  }

  /** The sums of some rows, or of all. @param {Handle} table @param {ArrayLike<number> | null} [segments] @returns {Handle} a table of one row */
  total(table, segments = null) { this.giveNumbers(segments ?? []); return this.checked(this.of.page_total(table, segments ? 0 : 1)); }

  /** The score of each row: of segments, or of the totals of corpora. @param {Handle} metric @param {Handle} table @param {boolean} corpus */
  scores(metric, table, corpus) { this.checked(this.of.page_scores(metric, table, corpus ? 1 : 0)); return this.floats(); }

  /** The score of the corpus without each segment. @param {Handle} metric @param {Handle} table */
  without(metric, table) { this.checked(this.of.page_without(metric, table)); return this.floats(); }

  /** The tokens that a text is split into. @param {Handle} metric @param {string} text @param {boolean} reference @returns {string[]} */
  tokens(metric, text, reference) {
    this.give(new TextEncoder().encode(text));
    const n = this.checked(this.of.page_tokens(metric, reference ? 1 : 0)) - 1, answer = this.answer(), lengths = new Uint32Array(answer.buffer, 0, n), decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    let at = 4 * n;
    return Array.from(lengths, length => decoder.decode(answer.subarray(at, at += length)));
  }
}
