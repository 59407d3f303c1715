// Python calls and shell commands that reproduce a score of the playground.

/** @typedef {import("./playground.js").PlaygroundState} Typed */
/** @typedef {{id: string, python: string, options: Record<string, string>}} MetricNames  names of the metric and its parameters in Python and on the command line */

/** @param {any} value */
const pythonLiteral = value => value === true ? "True" : value === false ? "False" : value === null ? "None" : JSON.stringify(value);

/** @param {MetricNames} metric @param {Typed} typed */
export const formatPythonCall = ({ python }, { overrides, hypothesis, references }) =>
  `truebleu.${python}(${Object.entries(overrides).map(([name, value]) => `${name}=${pythonLiteral(value)}`).join(", ")}).sentence(${pythonLiteral(hypothesis)}, [${references.map(pythonLiteral).join(", ")}])`;

/** Quote words as a shell command. @param {string[]} words */
export const formatShellCommand = words => words.map(text => /^[\w.,:/=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`).join(" ");

/** Return the command-line options of parameters. @param {Record<string, string>} options @param {Record<string, any>} overrides */
export const formatOptions = (options, overrides) => Object.entries(overrides).flatMap(([name, value]) => [options[name], typeof value === "boolean" ? (value ? "yes" : "no") : String(value)]);

/** Format an explain command, or return null if a text looks like an option. @param {MetricNames} metric @param {Typed} typed @returns {string | null} */
export function formatExplainCommand({ id, options }, { overrides, hypothesis, references, scale }) {
  if ([hypothesis, ...references].some(text => text.startsWith("-"))) return null;
  return formatShellCommand(["truebleu", "explain", "--hypothesis", hypothesis, "--reference", ...references, "-m", id, ...formatOptions(options, overrides), ...(scale === 1 ? ["--scale", "1"] : [])]);
}
