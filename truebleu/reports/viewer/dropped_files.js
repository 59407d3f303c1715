// Reads dropped files (plain, compressed, tab-separated) as columns of lines. They stay in the browser.

/** @typedef {"system" | "reference" | "source" | "documents" | "out"} FileRole */
/** @typedef {{name: string, file: string, number: number | null, lines: Uint8Array[], role: FileRole}} FileColumn  `number`: index of a tab-separated column, from 1 */
/** @typedef {{name: string, lines: Uint8Array[], columns: FileColumn[], tabs: "whole" | "header" | "plain"}} DroppedFile */

const NEWLINE_BYTE = 10, TAB_BYTE = 9;
/** Extension, format and first bytes of compressed files. @type {[string, string, number[]][]} */
const COMPRESSIONS = [[".gz", "gzip", [0x1F, 0x8B]], [".zst", "zstd", [0x28, 0xB5, 0x2F, 0xFD]], [".xz", "xz", [0xFD, 0x37, 0x7A, 0x58, 0x5A]], [".bz2", "bzip2", [0x42, 0x5A, 0x68]]];
/** Roles by patterns in file names. @type {[FileRole, RegExp][]} */
const ROLE_PATTERNS = [["documents", /(^|[._-])(docs?|documents?|docids?|doc_?ids?)([._-]|$)/], ["source", /(^|[._-])(src|source|sources|input)([._-]|$)/], ["reference", /(^|[._-])(refs?|references?|gold|human|tgt|target)([._-]?\w{0,2})([._-]|\d|$)/]];

/** @param {string} name @returns {FileRole} */
export function guessRole(name) {
  const stem = name.toLowerCase().replace(/\.(gz|zst|xz|bz2)$/, "");
  return ROLE_PATTERNS.find(([, pattern]) => pattern.test(stem))?.[0] ?? "system";
}

/** Return the decompressed bytes of a file. @param {File} file @returns {Promise<Uint8Array>} */
async function unpackFile(file) {
  let bytes;
  try { bytes = new Uint8Array(await file.arrayBuffer()); } catch { throw new Error(`cannot read ${file.name}: it is a folder or has changed`); }
  const compression = COMPRESSIONS.find(([end]) => file.name.toLowerCase().endsWith(end));
  if (!compression) {
    const actualCompression = COMPRESSIONS.find(([, , start]) => start.length > 2 && start.every((byte, i) => bytes[i] === byte) || start.length === 2 && bytes[0] === start[0] && bytes[1] === start[1]);
    if (actualCompression) throw new Error(`${file.name}: compressed with ${actualCompression[1]} (expected a name ending in ${actualCompression[0]})`);
    return bytes;
  }
  const [end, format] = compression;
  let stream;
  try { stream = new DecompressionStream(/** @type {CompressionFormat} */ (format)); } catch { throw new Error(`${file.name}: this browser cannot decompress ${end} files. Decompress the file first, or use gzip.`); }
  try {
    // Read the stream manually, because Firefox also reports errors as unhandled if a Response
    // reads it.
    const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader(), parts = [];
    for (let part = await reader.read(); !part.done; part = await reader.read()) parts.push(part.value);
    return new Uint8Array(await new Blob(parts).arrayBuffer());
  } catch { throw new Error(`cannot decompress ${file.name}: it is truncated, is not a ${format} file, or contains several concatenated files`); }
}

/** Split bytes into lines at newlines only, as truebleu does. @param {Uint8Array} bytes */
export function splitLines(bytes) {
  const lines = [];
  let from = 0;
  for (let newline = bytes.indexOf(NEWLINE_BYTE); newline >= 0; newline = bytes.indexOf(NEWLINE_BYTE, from)) { lines.push(bytes.subarray(from, newline)); from = newline + 1; }
  if (from < bytes.length) lines.push(bytes.subarray(from));
  return lines;
}

/** @param {string} name @param {Uint8Array} bytes @param {Uint8Array[]} lines */
function checkEncoding(name, bytes, lines) {
  if ((bytes[0] === 0xFF && bytes[1] === 0xFE) || (bytes[0] === 0xFE && bytes[1] === 0xFF)) throw new Error(`${name}: encoded in UTF-16 (expected UTF-8). Convert it with iconv -f utf-16 -t utf-8.`);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try { decoder.decode(bytes); } catch {
    const badLine = lines.findIndex(line => { try { decoder.decode(line); return false; } catch { return true; } });
    throw new Error(`${name}, line ${badLine + 1}: invalid UTF-8. Save the file as UTF-8.`);
  }
}

/** @param {Uint8Array} line */
function splitTabs(line) {
  const fields = [];
  let from = 0;
  for (let tab = line.indexOf(TAB_BYTE); tab >= 0; tab = line.indexOf(TAB_BYTE, from)) { fields.push(line.subarray(from, tab)); from = tab + 1; }
  fields.push(line.subarray(from));
  return fields;
}

/** Read the columns of a file: whole lines, or tab-separated columns with or without a header. @param {DroppedFile} dropped @param {DroppedFile["tabs"]} tabs */
export function readColumns({ name, lines }, tabs) {
  if (tabs === "whole") return [{ name, file: name, number: null, lines, role: guessRole(name) }];
  const rows = lines.map(splitTabs), [head] = rows, decoder = new TextDecoder();
  const badRow = rows.findIndex(row => row.length !== head.length);
  if (badRow >= 0) throw new Error(`${name}, line ${badRow + 1}: expected ${head.length} columns as in line 1, found ${rows[badRow].length}`);
  const body = tabs === "header" ? rows.slice(1) : rows;
  return head.map((field, i) => {
    const columnName = tabs === "header" ? decoder.decode(field).replace(/\r$/, "") || `column ${i + 1}` : `${name}#${i + 1}`, part = tabs === "header" ? guessRole(columnName) : "system";
    return { name: columnName, file: name, number: i + 1, lines: body.map(row => row[i]), role: /^(id|index|segid|seg_id)$/i.test(columnName) ? /** @type {FileRole} */ ("out") : part };
  });
}

/** @param {File} file @returns {Promise<DroppedFile>} */
export async function readDroppedFile(file) {
  const bytes = await unpackFile(file), lines = splitLines(bytes), { name } = file;
  checkEncoding(name, bytes, lines);
  if (!lines.length) throw new Error(`${name}: the file is empty`);
  /** @type {DroppedFile} */
  const dropped = { name, lines, columns: [], tabs: /\.tsv(\.gz|\.zst|\.xz|\.bz2)?$/i.test(name) ? "header" : "whole" };
  dropped.columns = readColumns(dropped, dropped.tabs);
  return dropped;
}

/** Derive system names from file names: the distinctive part, in whole words between dots and slashes. @param {string[]} names @returns {string[]} */
export function shortenNames(names) {
  const areDistinct = (/** @type {string[]} */ all) => all.every(Boolean) && new Set(all).size === all.length;
  let shortened = names;
  if (names.length > 1 && areDistinct(names) && !names.some(name => name.includes("#"))) {
    const parts = names.map(name => name.split(/([./\\])/)), maxLength = Math.min(...parts.map(pieces => pieces.length)) - 1;
    const countCommon = (/** @type {string[][]} */ rows) => { let n = 0; while (rows.every(row => n < row.length && row[n] === rows[0][n])) n++; return n; };
    const roundToEven = (/** @type {number} */ n) => n - n % 2, start = roundToEven(Math.min(countCommon(parts), maxLength));
    if (new Set(parts.map(pieces => pieces[start])).size > 1) {
      const end = roundToEven(Math.min(countCommon(parts.map(pieces => pieces.toReversed())), maxLength - start)), middles = parts.map(pieces => pieces.slice(start, pieces.length - end).join(""));
      if (areDistinct(middles)) shortened = middles;
    }
  }
  /** @type {Map<string, number>} */
  const seen = new Map();
  return shortened.map(name => { const times = (seen.get(name) ?? 0) + 1; seen.set(name, times); return times > 1 ? `${name} (${times})` : name; });
}
