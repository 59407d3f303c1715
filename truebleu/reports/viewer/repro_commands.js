// The lines of Python and of the command line that give the number of the laboratory again.

/** @typedef {import("./playground.js").PlaygroundState} Typed */
/** @typedef {{id: string, python: string, options: Record<string, string>}} MetricNames  what the metric and its parameters are called there */

/** @param {any} value */
const pythonLiteral = value => value === true ? "True" : value === false ? "False" : value === null ? "None" : JSON.stringify(value);

/** @param {MetricNames} metric @param {Typed} typed */
export const formatPythonCall = ({ python }, { overrides, hypothesis, references }) =>
  `truebleu.${python}(${Object.entries(overrides).map(([name, value]) => `${name}=${pythonLiteral(value)}`).join(", ")}).sentence(${pythonLiteral(hypothesis)}, [${references.map(pythonLiteral).join(", ")}])`;

/** A line of a shell. @param {string[]} words */
export const formatShellCommand = words => words.map(text => /^[\w.,:/=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`).join(" ");

/** The options that choose parameters. @param {Record<string, string>} options @param {Record<string, any>} overrides */
export const formatOptions = (options, overrides) => Object.entries(overrides).flatMap(([name, value]) => [options[name], typeof value === "boolean" ? (value ? "yes" : "no") : String(value)]);

/** Null where a text would be taken for an option. @param {MetricNames} metric @param {Typed} typed @returns {string | null} */
export function formatExplainCommand({ id, options }, { overrides, hypothesis, references }) {
  if ([hypothesis, ...references].some(text => text.startsWith("-"))) return null;
  return formatShellCommand(["truebleu", "explain", hypothesis, "--reference", ...references, "-m", id, ...formatOptions(options, overrides)]);
}
