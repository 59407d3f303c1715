// Runs a Python program in Pyodide as `python PROGRAM WORD ...` would: node pyodide.mjs PACKAGE PROGRAM WORD ...
// PACKAGE is the folder of npm's package. Files and PYTHONPATH are those of this machine, under /host.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [place, ...words] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(join(place, "pyodide.mjs")));
const host = (path) => (path.startsWith("/") ? `/host${path}` : path);
const python = await loadPyodide();
python.mountNodeFS("/host", "/");
python.globals.set("words", words.map(host));
python.globals.set("folder", host(process.env.PYTHONPATH));
try {
  python.runPython(`
import runpy, sys
sys.path.insert(0, folder)
sys.argv = list(words)
runpy.run_path(sys.argv[0], run_name="__main__")
`);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
