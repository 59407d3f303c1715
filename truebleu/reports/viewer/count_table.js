// A table of counts that the kernel holds: a row for each segment, whose columns have names.
import {numbersOf} from "./kernel.js";

/** @typedef {import("./kernel.js").Kernel} Kernel */

/** Forgets tables that nothing uses any more. */
const DROPPED = new FinalizationRegistry((/** @type {{kernel: Kernel, handle: number}} */ { kernel, handle }) => kernel.forget(handle));

/** n rows of one metric's statistics. */
export class Table {
  /** @param {Kernel} kernel @param {number} handle @param {string[]} names @param {number} length */
  constructor(kernel, handle, names, length) {
    this.kernel = kernel;
    this.handle = handle;
    this.names = names;
    this.length = length;
    /** Columns that were asked for. @type {Map<number, Float64Array>} */
    this.known = new Map();
    /** @type {number[] | null} */
    this.sums = null;
    DROPPED.register(this, { kernel, handle });
  }

  /** Of a block. @param {Kernel} kernel @param {Uint8Array} block as payload.py has it @param {string[]} names @param {number} n */
  static decode(kernel, block, names, n) { return new Table(kernel, kernel.table(block, n, names.length), names, n); }

  /** The numbers of a segment. @param {number} i */
  row(i) { return numbersOf(this.kernel.rows(this.handle, [i]).bytes); }

  /** The sum of each column. */
  get totals() { return this.sums ??= this.kernel.total(this.handle); }

  /** @param {number} k @returns {Float64Array} */
  at(k) {
    let column = this.known.get(k);
    if (!column) this.known.set(k, column = this.kernel.column(this.handle, k));
    return column;
  }

  /** @param {string} name */
  column(name) { return this.at(this.names.indexOf(name)); }

  /** The same with some of the columns, under other names. @param {string[]} names of this table @param {string[]} [called] */
  select(names, called = names) { return new Table(this.kernel, this.kernel.select(this.handle, names.map(name => this.names.indexOf(name))), called, this.length); }
}
