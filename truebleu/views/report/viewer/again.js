// The lines of Python and of the command line that give the number of the laboratory again.

/** @typedef {import("./bench.js").Typed} Typed */
/** @typedef {{id: string, python: string, options: Record<string, string>}} Named  what the metric and its parameters are called there */

/** @param {any} value */
const pythonLiteral = value => value === true ? "True" : value === false ? "False" : value === null ? "None" : JSON.stringify(value);

/** @param {Named} metric @param {Typed} typed */
export const pythonLine = ({ python }, { chosen, hypothesis, references }) =>
  `truebleu.${python}(${Object.entries(chosen).map(([name, value]) => `${name}=${pythonLiteral(value)}`).join(", ")}).sentence(${pythonLiteral(hypothesis)}, [${references.map(pythonLiteral).join(", ")}])`;

/** A word of a shell. @param {string} text */
const shellWord = text => /^[\w.,:/=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** Null where a text would be taken for an option. @param {Named} metric @param {Typed} typed @returns {string | null} */
export function commandLine({ id, options }, { chosen, hypothesis, references }) {
  if ([hypothesis, ...references].some(text => text.startsWith("-"))) return null;
  const more = Object.entries(chosen).flatMap(([name, value]) => [options[name], typeof value === "boolean" ? (value ? "yes" : "no") : String(value)]);
  return ["truebleu", "explain", hypothesis, "--reference", ...references, "-m", id, ...more].map(shellWord).join(" ");
}
