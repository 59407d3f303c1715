// Tables of counts in the kernel's memory: one row per segment, with named columns.
import {toNumbers} from "./kernel.js";

/** @typedef {import("./kernel.js").Kernel} Kernel */

/** Releases the kernel's memory of garbage-collected tables. */
const TABLE_REGISTRY = new FinalizationRegistry((/** @type {{kernel: Kernel, handle: number}} */ { kernel, handle }) => kernel.release(handle));

/** Table of one metric's statistics, one row per segment. */
export class CountTable {
  /** @param {Kernel} kernel @param {number} handle @param {string[]} names @param {number} length */
  constructor(kernel, handle, names, length) {
    this.kernel = kernel;
    this.handle = handle;
    this.names = names;
    this.length = length;
    /** Decoded columns by index. @type {Map<number, Float64Array>} */
    this.columnCache = new Map();
    /** @type {number[] | null} */
    this.sums = null;
    TABLE_REGISTRY.register(this, { kernel, handle });
  }

  /** Create a table from a block. @param {Kernel} kernel @param {Uint8Array} block in the format of payload.py @param {string[]} names @param {number} n */
  static decode(kernel, block, names, n) { return new CountTable(kernel, kernel.addTable(block, n, names.length), names, n); }

  /** Return the row of a segment. @param {number} i */
  row(i) { return toNumbers(this.kernel.getRows(this.handle, [i]).bytes); }

  /** Sums of the columns. */
  get totals() { return this.sums ??= this.kernel.sumColumns(this.handle); }

  /** @param {number} k @returns {Float64Array} */
  columnAt(k) {
    let column = this.columnCache.get(k);
    if (!column) this.columnCache.set(k, column = this.kernel.getColumn(this.handle, k));
    return column;
  }

  /** @param {string} name */
  column(name) { return this.columnAt(this.names.indexOf(name)); }

  /** Return a table with some of the columns, optionally renamed. @param {string[]} names of this table @param {string[]} [newNames] */
  select(names, newNames = names) { return new CountTable(this.kernel, this.kernel.selectColumns(this.handle, names.map(name => this.names.indexOf(name))), newNames, this.length); }
}
