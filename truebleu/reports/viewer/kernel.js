// WebAssembly kernel: computes the same counts as Python, and scores that agree with Python's to 12 digits.

/** @typedef {Record<string, string | number | boolean | (number | boolean)[] | null>} Recipe  metric parameters for the kernel */
/** @typedef {number} Handle  of an object in the kernel's memory */

/** Interface version, which must equal the version of the binary. */
const INTERFACE = 4;

/** Wrapper of the kernel's exported functions and memory. */
export class Kernel {
  /** @param {any} exports what an instance exports */
  constructor(exports) {
    this.exports = exports;
    if (exports.page_version() !== INTERFACE) throw new Error("the kernel's version differs from the page's version");
  }

  /** @param {BufferSource} binary */
  static async load(binary) {
    const { instance } = await WebAssembly.instantiate(binary, {});
    return new this(instance.exports);
  }

  /** Copy bytes into the kernel's input buffer. @param {Uint8Array} bytes */
  sendBytes(bytes) {
    // The memory may have been reallocated, so its buffer must not be cached.
    const address = this.exports.page_room(bytes.length) >>> 0;
    new Uint8Array(this.exports.memory.buffer, address, bytes.length).set(bytes);
  }

  /** Copy handles or segment numbers into the kernel's input buffer. @param {ArrayLike<number>} numbers */
  sendNumbers(numbers) { this.sendBytes(new Uint8Array(Uint32Array.from(numbers).buffer)); }

  /** Return a copy of the kernel's last output. @returns {Uint8Array} */
  readAnswer() { return new Uint8Array(this.exports.memory.buffer, this.exports.page_answer() >>> 0, this.exports.page_answered() >>> 0).slice(); }

  /** @returns {Float64Array} */
  readFloats() { return new Float64Array(this.readAnswer().buffer); }

  /** Return the result of a kernel function; throw its error message if the result is 0. @param {number} result */
  requireResult(result) {
    if (result) return result >>> 0;
    throw new Error(new TextDecoder().decode(this.readAnswer()) || "the kernel stopped unexpectedly");
  }

  /** @param {Handle} handle */
  release(handle) { this.exports.page_forget(handle); }

  /** Set the lowercase mapping of the Python version that wrote the report. @param {Uint8Array} pairs of 4-byte code points */
  setLowercase(pairs) { this.sendBytes(pairs); this.requireResult(this.exports.page_lowercase()); }

  /** Add a column of texts. @param {Uint8Array} block in the format of payload.py @param {number} n @returns {Handle} */
  addTexts(block, n) { this.sendBytes(block); return this.requireResult(this.exports.page_texts(n)); }

  /** @param {Recipe} recipe @returns {Handle} */
  addMetric(recipe) {
    /** @type {(x: any) => string} */
    const value = x => typeof x === "boolean" ? (x ? "yes" : "no") : Array.isArray(x) ? x.map(value).join(",") : String(x ?? "");
    this.sendBytes(new TextEncoder().encode(Object.entries(recipe).map(([name, x]) => `${name}=${value(x)}\n`).join("")));
    return this.requireResult(this.exports.page_metric());
  }

  /**
   * Count the segments from `first` to `last` (exclusive) and append their rows to `table` (0: a new table).
   * @param {Handle} metric @param {Handle} table @param {Handle[]} columns hypotheses, then references @param {number} first @param {number} last @returns {Handle}
   */
  countSegments(metric, table, columns, first, last) { this.sendNumbers(columns); return this.requireResult(this.exports.page_count(metric, table, first, last)); }

  /** Add a table of stored counts. @param {Uint8Array} block in the format of payload.py @param {number} n @param {number} width @returns {Handle} */
  addTable(block, n, width) { this.sendBytes(block); return this.requireResult(this.exports.page_table(n, width)); }

  /** Add a table of rows returned by `getRows`. @param {Uint8Array} bytes @param {number} width @returns {Handle} */
  addTableFromRows(bytes, width) { this.sendBytes(bytes); return this.requireResult(this.exports.page_table_of_rows(width)); }

  /** Add a table of numbers with `width` columns. @param {ArrayLike<number>} numbers @param {number} [width] @returns {Handle} */
  addTableFromNumbers(numbers, width = numbers.length) { return this.addTableFromRows(new Uint8Array(BigInt64Array.from(Array.from(numbers, BigInt)).buffer), width); }

  /** Return some or all rows as consecutive 64-bit integers. @param {Handle} table @param {ArrayLike<number> | null} [segments] */
  getRows(table, segments = null) {
    this.sendNumbers(segments ?? []);
    const width = this.requireResult(this.exports.page_rows(table, segments ? 0 : 1));
    return { width, bytes: this.readAnswer() };
  }

  /** Add a table with some columns of another table. @param {Handle} table @param {number[]} columns @returns {Handle} */
  selectColumns(table, columns) { this.sendNumbers(columns); return this.requireResult(this.exports.page_select(table)); }

  /** Return a column of a table. @param {Handle} table @param {number} column @returns {Float64Array} */
  getColumn(table, column) { this.requireResult(this.exports.page_column(table, column)); return this.readFloats(); }

  /** Return the sum of each column. @param {Handle} table @returns {number[]} */
  sumColumns(table) { this.requireResult(this.exports.page_total(table)); return toNumbers(this.readAnswer()); }

  /** Return the sentence-level score of each row. @param {Handle} metric @param {Handle} table */
  scoreSegments(metric, table) { this.requireResult(this.exports.page_scores(metric, table)); return this.readFloats(); }

  /** Return the corpus score of some or all rows. @param {Handle} metric @param {Handle} table @param {ArrayLike<number> | null} [segments] @returns {number} */
  scoreCorpus(metric, table, segments = null) { this.sendNumbers(segments ?? []); this.requireResult(this.exports.page_corpus(metric, table, segments ? 0 : 1)); return this.readFloats()[0]; }

  /** Return the corpus scores with each row left out in turn. @param {Handle} metric @param {Handle} table */
  scoreWithoutEach(metric, table) { this.requireResult(this.exports.page_without(metric, table)); return this.readFloats(); }

  /**
   * Return the steps of the BLEU computation for the first row of a table.
   * @param {Handle} metric @param {Handle} table @param {boolean} corpus
   * @returns {{brevity: number, mean: number, isZero: boolean, steps: {numerator: number, denominator: number, precision: number, smoothed: number}[]}} precision: NaN if it counts as 1; smoothed: NaN without smoothing
   */
  getBleuSteps(metric, table, corpus) {
    const n = this.requireResult(this.exports.page_steps(metric, table, corpus ? 1 : 0)) - 1, [brevity, mean, isZero, ...rest] = this.readFloats();
    return { brevity, mean, isZero: !!isZero, steps: Array.from({ length: n }, (_, i) => ({ numerator: rest[4 * i], denominator: rest[4 * i + 1], precision: rest[4 * i + 2], smoothed: rest[4 * i + 3] })) };
  }

  /**
   * Return the edit operations of a segment.
   * @param {Handle} metric @param {Uint8Array} block a hypothesis and its references as a column of texts @param {number} n number of texts
   * @returns {{reference_index: number, hypothesis: string[], reference: string[], shifts: number[][], operations: [string, number | null, number | null][]}} operations: kind, index of the hypothesis token (before shifts), index of the reference token
   */
  align(metric, block, n) {
    this.sendBytes(block);
    this.requireResult(this.exports.page_alignment(metric, n));
    const { readMany, word } = createReader(this.readAnswer());
    const [referenceIndex, hypothesisLength, referenceLength, shiftCount, operationCount] = readMany(5), lengths = [readMany(hypothesisLength), readMany(referenceLength)], shifts = Array.from({ length: shiftCount }, () => readMany(3)), steps = readMany(operationCount);
    const [hypothesis, reference] = lengths.map(all => all.map(word)), places = [...hypothesis.keys()];
    for (const [start, length, target] of shifts) places.splice(target, 0, ...places.splice(start, length));
    let i = 0, j = 0;
    return { reference_index: referenceIndex, hypothesis, reference, shifts, operations: steps.map(step => {
      const [kind, takesHypothesis, takesReference] = EDIT_STEPS[step];
      return [kind, takesHypothesis ? places[i++] : null, takesReference ? j++ : null];
    }) };
  }

  /** Split a text into tokens. @param {Handle} metric @param {string} text @param {boolean} reference @returns {string[]} */
  tokenize(metric, text, reference) {
    this.sendBytes(encodeText(text));
    const n = this.requireResult(this.exports.page_tokens(metric, reference ? 1 : 0)) - 1, { readMany, word } = createReader(this.readAnswer());
    return readMany(n).map(word);
  }
}

/** Edit operations: name, and whether they consume a token of the hypothesis and of the reference. Deletions remove hypothesis tokens in TER, but reference tokens in error rates. @type {[string, boolean, boolean][]} */
const EDIT_STEPS = [["match", true, true], ["substitution", true, true], ["deletion", true, false], ["insertion", false, true], ["deletion", false, true], ["insertion", true, false]];

/** Create a reader of the kernel's output: 4-byte integers, 8-byte floats, and words. @param {Uint8Array} bytes */
export function createReader(bytes) {
  const view = new DataView(bytes.buffer);
  let offset = 0;
  const next = () => { offset += 4; return view.getUint32(offset - 4, true); };
  return { next, readMany: (/** @type {number} */ n) => Array.from({ length: n }, next), float: () => { offset += 8; return view.getFloat64(offset - 8, true); },
    word: (/** @type {number} */ length) => decodeText(bytes.subarray(offset, offset += length)) };
}

/** Length that marks a missing text. */
export const MISSING_TEXT = 0xFFFFFFFF;

const TEXT_ENCODER = new TextEncoder();

/** Encode a text as UTF-8, with lone surrogates as in Python's surrogatepass. @param {string} text @returns {Uint8Array} */
function encodeText(text) {
  if (!/\p{Cs}/u.test(text)) return TEXT_ENCODER.encode(text);
  return Uint8Array.from([...text].flatMap(c => { const code = c.charCodeAt(0); return /\p{Cs}/u.test(c) ? [0xED, 0x80 | code >> 6 & 63, 0x80 | code & 63] : [...TEXT_ENCODER.encode(c)]; }));
}

const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });

/** Decode UTF-8 that may contain lone surrogates (Python's surrogatepass). @param {Uint8Array} bytes */
export function decodeText(bytes) {
  const text = DECODER.decode(bytes);
  if (!text.includes("\uFFFD") || !bytes.some((byte, i) => byte === 0xED && bytes[i + 1] >= 0xA0)) return text;
  let out = "", from = 0;
  for (let i = 0; i < bytes.length; i++) {
    if (bytes[i] !== 0xED || !(bytes[i + 1] >= 0xA0)) continue;
    out += DECODER.decode(bytes.subarray(from, i)) + String.fromCharCode(0xD000 | (bytes[i + 1] & 63) << 6 | bytes[i + 2] & 63);
    i += 2;
    from = i + 1;
  }
  return out + DECODER.decode(bytes.subarray(from));
}

/** Pack texts into a block in the format of payload.py. @param {(string | Uint8Array | null)[]} texts @returns {Uint8Array} */
export function packTexts(texts) {
  const all = texts.map(text => typeof text === "string" ? encodeText(text) : text), lengths = Uint32Array.from(all, encoded => encoded ? encoded.length : MISSING_TEXT);
  const block = new Uint8Array(4 * all.length + all.reduce((sum, one) => sum + (one ? one.length : 0), 0));
  block.set(new Uint8Array(lengths.buffer));
  let offset = 4 * all.length;
  for (const encoded of all) if (encoded) { block.set(encoded, offset); offset += encoded.length; }
  return block;
}

/** Convert 64-bit integers to numbers. @param {Uint8Array} bytes */
export const toNumbers = bytes => Array.from(new BigInt64Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 3), Number);
