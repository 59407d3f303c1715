// Error spans of annotators: their places in the texts, underlines, and lists under the texts.
import {renderBadge, el, formatPlural, showInvisible} from "./dom.js";

/** @typedef {{isSource: boolean, start: number | null, end: number | null, severity: string, category: string, annotator: string}} ErrorSpan  positions in code points; null: no position in the text */
/** @typedef {ErrorSpan & {start: number, end: number, lane: number, system: import("./report_data.js").System | null}} PlacedError  positions in the JavaScript string; `lane`: number of the line under the text; -1 as start: no position */

/** Return the errors by segment and system. @param {any} entry of the manifest @param {any[][]} rows @returns {Map<string, ErrorSpan[]>} */
export function indexErrors({ severities, categories, annotators }, rows) {
  /** @type {Map<string, ErrorSpan[]>} */
  const errors = new Map();
  for (const [segment, system, isSource, start, end, severity, category, annotator] of rows) {
    const key = `${segment} ${system}`;
    errors.set(key, [...errors.get(key) ?? [], { isSource: !!isSource, start, end, severity: severities[severity], category: categories[category], annotator: annotators[annotator] }]);
  }
  return errors;
}

/**
 * Return the errors of a text. Each annotator of a system has a line of underlines, or several if errors overlap.
 * @param {import("./report_data.js").ReportData} data @param {number} i @param {import("./report_data.js").System[]} systems whose errors are shown @param {boolean} isSource @param {string} text @returns {PlacedError[]}
 */
export function placeErrors({ errors }, i, systems, isSource, text) {
  /** @type {PlacedError[]} */
  const placed = [];
  const offsets = [0], lanes = /** @type {string[]} */ ([]);
  for (const character of text) offsets.push(offsets[offsets.length - 1] + character.length);
  for (const system of systems) for (const error of errors?.get(`${i} ${system.index}`) ?? []) {
    if (error.isSource !== isSource) continue;
    const owner = `${system.index} ${error.annotator}`, start = error.start === null ? -1 : offsets[error.start], end = error.end === null ? -1 : offsets[error.end];
    const isFree = (/** @type {string} */ name, /** @type {number} */ lane) => name === owner && !placed.some(other => other.lane === lane && other.start < end && start < other.end), free = lanes.findIndex(isFree);
    placed.push({ ...error, start, end, lane: free < 0 ? lanes.push(owner) - 1 : free, system: isSource ? system : null });
  }
  return placed;
}

/** @param {PlacedError} error */
const describeError = ({ severity, category, annotator, system }) => [system?.letter, severity || "no severity", category, annotator].filter(Boolean).join(" · ");

/** Underline some content. @param {PlacedError} error @param {any} content */
const underline = (error, content) => el("span.error", { class: `severity-${["minor", "major", "critical"].indexOf(error.severity) + 1} lane-${Math.min(5, error.lane)}`, title: describeError(error) }, content);

/** Render a part of a text with underlined errors. @param {string} text @param {number} from @param {number} to @param {PlacedError[]} errors @param {(text: string) => any} shown */
export function renderErrors(text, from, to, errors, shown) {
  const inside = errors.filter(({ start, end }) => start < to && end > from);
  const edges = [...new Set([from, to, ...inside.flatMap(({ start, end }) => [Math.max(from, start), Math.min(to, end)])])].sort((x, y) => x - y);
  return edges.slice(1).map((end, k) => inside.filter(error => error.start <= edges[k] && error.end >= end).reduce((content, error) => underline(error, content), shown(text.slice(edges[k], end))));
}

/** Render the errors without a position after the text, and return them with spaces. @param {PlacedError[]} errors */
export const renderMissing = errors => errors.filter(({ start }) => start < 0).map(error => [" ", underline(error, error.category[0] === "[" ? error.category : "[missing]")]);

/** Render the list of errors under a text. @param {string} text @param {PlacedError[]} errors */
export function renderErrorList(text, errors) {
  return errors.length ? el("details.errors", { open: errors.length <= 6 }, el("summary", {}, formatPlural(errors.length, "error")), el("ul", {}, errors.map(error => el("li", {}, error.system ? [renderBadge(error.system), " "] : "", underline(error, error.severity || "no severity"),
    error.start < 0 ? "" : [" “", el("bdi", {}, showInvisible(text.slice(error.start, error.end))), "”"], ` ${error.category}`, error.annotator ? el("span.soft", {}, " ", el("bdi", {}, error.annotator)) : "")))) : null;
}

/** Return the errors of a system's text or of its source as stored: start, end, severity, category, annotator. @param {import("./report_data.js").ReportData} data @param {number} i @param {number} system @param {boolean} isSource */
export const listErrors = ({ errors }, i, system, isSource) => (errors?.get(`${i} ${system}`) ?? []).filter(error => error.isSource === isSource).map(({ start, end, severity, category, annotator }) => [start, end, severity, category, annotator]);
