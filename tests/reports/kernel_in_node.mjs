// Runs the browser kernel in Node and fills its tables of counts.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

/** Import the viewer's modules from a folder, by name. */
export const loadModules = (folder, names) => Promise.all(names.map(name => import(pathToFileURL(`${folder}/${name}.js`).href)));

/** Return a function that creates a metric with changed parameters and a table of rows counted with the original setting. */
export async function startKernel(folder, binary) {
  const [{ Kernel }, { KernelClient, getColumnNames }, { Metric }, { CountTable }] = await loadModules(folder, ["kernel", "kernel_client", "metric", "count_table"]), kernel = await Kernel.load(readFileSync(binary));
  kernel.setLowercase(new Uint8Array()); // No text is read.
  const client = new KernelClient(kernel, new Uint8Array(), new Uint8Array());
  return (setting, changes, rows) => {
    const metric = new Metric(setting, changes, client), names = getColumnNames(setting, metric.parameters), width = setting.columns.length;
    const bytes = new Uint8Array(BigInt64Array.from(rows.flat(), BigInt).buffer), table = new CountTable(kernel, kernel.addTableFromRows(bytes, width), setting.columns, rows.length);
    return { metric, table: names.length < width ? table.select(names) : table };
  };
}
