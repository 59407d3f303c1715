// The kernel for pages in Node, and tables that it holds.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

/** The viewer's modules of a folder, by name. */
export const modules = (folder, names) => Promise.all(names.map(name => import(pathToFileURL(`${folder}/${name}.js`).href)));

/** Gives a metric and its table of rows that were counted by a setting without the changes. */
export async function held(folder, binary) {
  const [K, L, M, B] = await modules(folder, ["kernel", "kernel_client", "metric", "count_table"]), kernel = await K.Kernel.load(readFileSync(binary));
  kernel.lowercase(new Uint8Array()); // No text is read.
  const live = new L.Live(kernel, new Uint8Array(), new Uint8Array());
  return (setting, changes, rows) => {
    const metric = new M.Metric(setting, changes, live), names = L.columnNames(setting, metric.parameters), width = setting.columns.length;
    const bytes = new Uint8Array(BigInt64Array.from(rows.flat(), BigInt).buffer), whole = new B.Table(kernel, kernel.tableOfRows(bytes, width), setting.columns, rows.length);
    return { metric, table: names.length < width ? whole.select(names) : whole };
  };
}
