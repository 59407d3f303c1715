// The kernel as WebAssembly: texts to counts and counts to scores, the same integers as in Python, and scores that agree to 12 digits.

/** @typedef {Record<string, string | number | boolean | (number | boolean)[] | null>} Recipe  a metric's parameters, as the kernel takes them */
/** @typedef {number} Handle  of something that the kernel holds */

/** The version of the interface: that of the binary must be the same. */
const INTERFACE = 4;

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

  /** A table of rows that were counted elsewhere. @param {Uint8Array} block as payload.py has it @param {number} n @param {number} width @returns {Handle} */
  table(block, n, width) { this.give(block); return this.checked(this.of.page_table(n, width)); }

  /** A table of rows that `rows` gave. @param {Uint8Array} bytes @param {number} width @returns {Handle} */
  tableOfRows(bytes, width) { this.give(bytes); return this.checked(this.of.page_table_of_rows(width)); }

  /** A table of these numbers, so many in a row. @param {ArrayLike<number>} numbers @param {number} [width] @returns {Handle} */
  tableOf(numbers, width = numbers.length) { return this.tableOfRows(new Uint8Array(BigInt64Array.from(Array.from(numbers, BigInt)).buffer), width); }

  /** Some rows, or all, as 64-bit integers one behind the other. @param {Handle} table @param {ArrayLike<number> | null} [segments] */
  rows(table, segments = null) {
    this.giveNumbers(segments ?? []);
    const width = this.checked(this.of.page_rows(table, segments ? 0 : 1));
    return { width, bytes: this.answer() };
  }

  /** A table of some columns of another one. @param {Handle} table @param {number[]} columns @returns {Handle} */
  select(table, columns) { this.giveNumbers(columns); return this.checked(this.of.page_select(table)); }

  /** A column of a table. @param {Handle} table @param {number} column @returns {Float64Array} */
  column(table, column) { this.checked(this.of.page_column(table, column)); return this.floats(); }

  /** The sum of each column. @param {Handle} table @returns {number[]} */
  total(table) { this.checked(this.of.page_total(table)); return numbersOf(this.answer()); }

  /** The score of each row, as a segment's. @param {Handle} metric @param {Handle} table */
  scores(metric, table) { this.checked(this.of.page_scores(metric, table)); return this.floats(); }

  /** The score of the corpus of some rows, or of all. @param {Handle} metric @param {Handle} table @param {ArrayLike<number> | null} [segments] @returns {number} */
  corpus(metric, table, segments = null) { this.giveNumbers(segments ?? []); this.checked(this.of.page_corpus(metric, table, segments ? 0 : 1)); return this.floats()[0]; }

  /** The score of the corpus without each row. @param {Handle} metric @param {Handle} table */
  without(metric, table) { this.checked(this.of.page_without(metric, table)); return this.floats(); }

  /**
   * BLEU's steps to the score of a table's first row.
   * @param {Handle} metric @param {Handle} table @param {boolean} corpus
   * @returns {{brevity: number, mean: number, hopeless: boolean, steps: {numerator: number, denominator: number, precision: number, smoothed: number}[]}} precision: NaN if it counts as 1; smoothed: NaN if nothing was put there
   */
  steps(metric, table, corpus) {
    const n = this.checked(this.of.page_steps(metric, table, corpus ? 1 : 0)) - 1, [brevity, mean, hopeless, ...rest] = this.floats();
    return { brevity, mean, hopeless: !!hopeless, steps: Array.from({ length: n }, (_, i) => ({ numerator: rest[4 * i], denominator: rest[4 * i + 1], precision: rest[4 * i + 2], smoothed: rest[4 * i + 3] })) };
  }

  /** Resamples of the rows of a table, or of two. @param {Handle} metric @param {Handle[]} tables @param {number} seed @param {ArrayLike<number>} [groups] the document of each row, if whole ones are drawn @returns {Handle} */
  resample(metric, [one, other = 0], seed, groups = []) {
    this.giveNumbers([seed >>> 0, Math.floor(seed / 2 ** 32), ...Array.from(groups)]);
    return this.checked(this.of.page_resample(metric, one, other));
  }

  /** Draws so many more. @param {Handle} draws @param {number} replicates @returns {number} how many there are */
  draw(draws, replicates) { return this.checked(this.of.page_draw(draws, replicates)); }

  /** The ends of the intervals of each score, and of their difference. @param {Handle} draws @param {number} level @returns {number[][]} */
  intervals(draws, level) {
    this.checked(this.of.page_intervals(draws, level));
    const ends = this.floats();
    return Array.from({ length: ends.length / 2 }, (_, i) => [ends[2 * i], ends[2 * i + 1]]);
  }

  /** The n-grams of texts, up to an order. @param {Handle} metric @param {Handle[]} systems @param {Handle[]} references @param {number} orders @returns {Handle} */
  grams(metric, systems, references, orders) { this.giveNumbers([...systems, ...references]); return this.checked(this.of.page_grams(metric, systems.length, orders)); }

  /** Words by their frequency in the references, segment by segment. @param {Handle} grams @param {number[]} edges the least frequency of each bucket @returns {Handle} a table */
  frequencies(grams, edges) { this.giveNumbers(edges); return this.checked(this.of.page_frequencies(grams)); }

  /**
   * The n-grams that set a system apart from another one, or from the references.
   * @param {Handle} grams @param {number} one @param {number | null} other @param {number} limit of each order
   * @returns {{segments: number, lists: Record<string, import("./ngrams.js").Gram[]>}}
   */
  contrasts(grams, one, other, limit) {
    const segments = this.checked(this.of.page_contrasts(grams, one, other === null ? 0 : other + 1, limit)), { next, some, float, word } = reader(this.answer());
    const systems = other === null ? 1 : 2;
    const found = Array.from({ length: next() }, () => {
      const kind = next(), order = next(), lengths = some(order), matched = some(systems), produced = some(systems), reference = next();
      return { kind, lengths, order, matched, produced, reference, log_odds: float(), z: float() };
    });
    /** @type {Record<string, import("./ngrams.js").Gram[]>} */
    const lists = other === null ? { over: [], missed: [] } : { difference: [], over: [], missed: [] };
    for (const { kind, lengths, ...gram } of found) lists[["difference", "over", "missed"][kind]]?.push({ ...gram, tokens: lengths.map(word), segments: [] });
    return { segments, lists };
  }

  /**
   * The edits of a segment.
   * @param {Handle} metric @param {Uint8Array} block a hypothesis and its references, as payload.py has a column @param {number} n texts
   * @returns {{chosen: number, hypothesis: string[], reference: string[], shifts: number[][], operations: [string, number | null, number | null][]}} operations: what becomes of which token (of the hypothesis, before shifts), and of the reference
   */
  alignment(metric, block, n) {
    this.give(block);
    this.checked(this.of.page_alignment(metric, n));
    const { some, word } = reader(this.answer());
    const [chosen, ours, theirs, moves, many] = some(5), lengths = [some(ours), some(theirs)], shifts = Array.from({ length: moves }, () => some(3)), steps = some(many);
    const [hypothesis, reference] = lengths.map(all => all.map(word)), places = [...hypothesis.keys()];
    for (const [start, length, target] of shifts) places.splice(target, 0, ...places.splice(start, length));
    let i = 0, j = 0;
    return { chosen, hypothesis, reference, shifts, operations: steps.map(step => {
      const [kind, own, other] = EDIT_STEPS[step];
      return [kind, own ? places[i++] : null, other ? j++ : null];
    }) };
  }

  /** The tokens that a text is split into. @param {Handle} metric @param {string} text @param {boolean} reference @returns {string[]} */
  tokens(metric, text, reference) {
    this.give(encodedText(text));
    const n = this.checked(this.of.page_tokens(metric, reference ? 1 : 0)) - 1, { some, word } = reader(this.answer());
    return some(n).map(word);
  }
}

/** The steps of an alignment: what each is called, and whether it takes a token of the hypothesis, and of the reference. A deletion is of TER's hypothesis, but of an error rate's reference. @type {[string, boolean, boolean][]} */
const EDIT_STEPS = [["match", true, true], ["substitution", true, true], ["deletion", true, false], ["insertion", false, true], ["deletion", false, true], ["insertion", true, false]];

/** Takes an answer apart: numbers of 4 bytes, floats of 8, words. @param {Uint8Array} bytes */
function reader(bytes) {
  const view = new DataView(bytes.buffer);
  let at = 0;
  const next = () => { at += 4; return view.getUint32(at - 4, true); };
  return { next, some: (/** @type {number} */ n) => Array.from({ length: n }, next), float: () => { at += 8; return view.getFloat64(at - 8, true); },
    word: (/** @type {number} */ length) => decode(bytes.subarray(at, at += length)) };
}

/** In the place of a text's length: there is no such text. */
export const MISSING = 0xFFFFFFFF;

const TEXT_ENCODER = new TextEncoder();

/** UTF-8, in which lone surrogates are written as if they were characters, as Python does it. @param {string} text @returns {Uint8Array} */
function encodedText(text) {
  if (!/\p{Cs}/u.test(text)) return TEXT_ENCODER.encode(text);
  return Uint8Array.from([...text].flatMap(c => { const code = c.charCodeAt(0); return /\p{Cs}/u.test(c) ? [0xED, 0x80 | code >> 6 & 63, 0x80 | code & 63] : [...TEXT_ENCODER.encode(c)]; }));
}

const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });

/** UTF-8 that may hold lone surrogates, which Python writes as if they were characters. @param {Uint8Array} bytes */
export function decode(bytes) {
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

/** Texts as a block, as payload.py has a column of them. @param {(string | Uint8Array | null)[]} texts @returns {Uint8Array} */
export function packedTexts(texts) {
  const all = texts.map(text => typeof text === "string" ? encodedText(text) : text), lengths = Uint32Array.from(all, one => one ? one.length : MISSING);
  const block = new Uint8Array(4 * all.length + all.reduce((sum, one) => sum + (one ? one.length : 0), 0));
  block.set(new Uint8Array(lengths.buffer));
  let at = 4 * all.length;
  for (const one of all) if (one) { block.set(one, at); at += one.length; }
  return block;
}

/** 64-bit integers as numbers. @param {Uint8Array} bytes */
export const numbersOf = bytes => Array.from(new BigInt64Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 3), Number);
