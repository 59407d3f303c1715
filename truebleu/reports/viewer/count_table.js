// A table of counts that the kernel holds: a row for each segment, whose columns have names.
import {toNumbers} from "./kernel.js";

/** @typedef {import("./kernel.js").Kernel} Kernel */

/** Forgets tables that nothing uses any more. */
const TABLE_REGISTRY = new FinalizationRegistry((/** @type {{kernel: Kernel, handle: number}} */ { kernel, handle }) => kernel.release(handle));

/** n rows of one metric's statistics. */
export class CountTable {
  /** @param {Kernel} kernel @param {number} handle @param {string[]} names @param {number} length */
  constructor(kernel, handle, names, length) {
    this.kernel = kernel;
    this.handle = handle;
    this.names = names;
    this.length = length;
    /** Columns that were asked for. @type {Map<number, Float64Array>} */
    this.columnCache = new Map();
    /** @type {number[] | null} */
    this.sums = null;
    TABLE_REGISTRY.register(this, { kernel, handle });
  }

  /** Of a block. @param {Kernel} kernel @param {Uint8Array} block as payload.py has it @param {string[]} names @param {number} n */
  static decode(kernel, block, names, n) { return new CountTable(kernel, kernel.addTable(block, n, names.length), names, n); }

  /** The numbers of a segment. @param {number} i */
  row(i) { return toNumbers(this.kernel.getRows(this.handle, [i]).bytes); }

  /** The sum of each column. */
  get totals() { return this.sums ??= this.kernel.sumColumns(this.handle); }

  /** @param {number} k @returns {Float64Array} */
  columnAt(k) {
    let column = this.columnCache.get(k);
    if (!column) this.columnCache.set(k, column = this.kernel.getColumn(this.handle, k));
    return column;
  }

  /** @param {string} name */
  column(name) { return this.columnAt(this.names.indexOf(name)); }

  /** The same with some of the columns, under other names. @param {string[]} names of this table @param {string[]} [newNames] */
  select(names, newNames = names) { return new CountTable(this.kernel, this.kernel.selectColumns(this.handle, names.map(name => this.names.indexOf(name))), newNames, this.length); }
}
