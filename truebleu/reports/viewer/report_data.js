// Data of a report: manifest, tables of counts and columns of texts, decoded on demand.
import {decodeText, MISSING_TEXT} from "./kernel.js";
import {getCountsKey, KernelClient} from "./kernel_client.js";
import {createGlossary} from "./glossary.js";
import {CountTable} from "./count_table.js";
import {indexErrors} from "./error_spans.js";

/** @typedef {{name: string, letter: string, index: number}} System */
/**
 * @typedef {object} Setting
 * @property {string} id
 * @property {boolean} headline
 * @property {"BLEU" | "chrF" | "TER" | "WER" | "MER" | "WIL" | "WIP" | "CER"} metric
 * @property {string} name
 * @property {string} label      unique label
 * @property {string | null} column  name in the comparison
 * @property {string} signature
 * @property {string} short
 * @property {boolean} higher_is_better
 * @property {Record<string, any>} parameters
 * @property {import("./kernel.js").Recipe} recipe  metric settings for the kernel
 * @property {boolean} countable  whether the browser kernel can count it
 * @property {string[]} columns
 * @property {Record<string, number>} scores
 * @property {Record<string, string> | null} blocks  stored counts; null if the browser counts
 */
/** @typedef {"source" | `reference${number}` | `system${number}`} Role */
/** @typedef {{index: number, source: string | null | undefined, references: (string | null)[], hypotheses: (string | undefined)[], hasTexts: boolean}} Segment */

// Bytes of the text encoding: first code of words, prefix of literal bytes, and end of a missing text.
const FIRST_WORD_CODE = 0x80, SPELLED_CODE = 0xFD, ABSENT_CODE = 0xFE;
// Number of segments per processing step and per server page, and number of cached server pages.
const PIECE_SIZE = 4096, PAGE_SIZE = 32, MAX_CACHED_PAGES = 512;

/**
 * Places of the segments of a re-segmented system.
 * @typedef {{text: string, problems: string[], documents: string[] | null, bySegment: Uint32Array, references: Uint32Array, hypotheses: Uint32Array, equal: Uint32Array, flags: any, getFlags: (i: number) => string[], getNeighbour: (i: number, step: number) => number | null}} SegmentMap
 */

/** @param {any} entry of the manifest @param {Uint32Array} numbers of its block @param {number} n @param {{values: string[], bySegment: ArrayLike<number>} | undefined} flags @returns {SegmentMap} */
function createSegmentMap({ text, problems, documents }, numbers, n, flags) {
  const [bySegment, references, hypotheses, equal] = [0, 1, 2, 3].map(k => numbers.subarray(k * n, (k + 1) * n));
  return { text, problems, documents, bySegment, references, hypotheses, equal, flags,
    getFlags: i => { const value = flags?.values[flags.bySegment[i]] ?? "no flag"; return value === "no flag" ? [] : value.split(", "); },
    // The next segment of the document that has text.
    getNeighbour: (i, step) => { for (let k = i + step; k >= 0 && k < n; k += step) if (bySegment[k] === bySegment[i] && hypotheses[k]) return k; return null; } };
}

/** Decode the texts of k roles into one block per role: n lengths, then the texts. @param {Uint8Array} bytes in the format of payload.py @param {number} n @param {number} k number of roles */
export function unpackTexts(bytes, n, k) {
  const head = new DataView(bytes.buffer, bytes.byteOffset), words = new Uint32Array(head.getUint32(0, true));
  const blocks = Array.from({ length: k }, (_, role) => new Uint8Array(4 * n + head.getUint32(4 + 4 * role, true)));
  const lengths = blocks.map(block => new Uint32Array(block.buffer, 0, n)), ends = new Uint32Array(k).fill(4 * n);
  let offset = 4 + 4 * k;
  for (let i = 0; i < words.length; i++) { words[i] = offset; offset += 1 + bytes[offset]; }
  for (let i = 0; i < n; i++) for (let role = 0; role < k; role++) {
    const block = blocks[role], from = ends[role];
    let to = from, byte = bytes[offset++];
    for (; byte < ABSENT_CODE; byte = bytes[offset++]) {
      if (byte < FIRST_WORD_CODE) block[to++] = byte;
      else if (byte < SPELLED_CODE) for (let next = words[byte - FIRST_WORD_CODE << 8 | bytes[offset++]], end = next + bytes[next]; next < end;) block[to++] = bytes[++next];
      else for (let end = offset + bytes[offset++]; offset <= end;) block[to++] = bytes[offset++];
    }
    lengths[role][i] = byte === ABSENT_CODE ? MISSING_TEXT : to - from;
    ends[role] = to;
  }
  return blocks;
}

/** Texts of one role in UTF-8, decoded on demand. */
export class TextColumn {
  /** @param {Uint8Array} block @param {number} n */
  constructor(block, n) {
    const lengths = new Uint32Array(block.slice(0, 4 * n).buffer);
    this.length = n;
    this.starts = new Uint32Array(n + 1);
    this.absent = new Uint8Array(n);
    for (let i = 0, offset = 0; i < n; i++) {
      if (lengths[i] === MISSING_TEXT) this.absent[i] = 1;
      else offset += lengths[i];
      this.starts[i + 1] = offset;
    }
    this.bytes = block.subarray(4 * n, 4 * n + this.starts[n]);
  }

  /** @param {number} i @returns {string | null} null if missing */
  getText(i) { return this.absent[i] ? null : decodeText(this.bytes.subarray(this.starts[i], this.starts[i + 1])); }

  /**
   * Mark the segments whose text contains a string.
   * @param {string} needle @param {boolean} exact whether the search is case-sensitive @param {Uint8Array} hits
   */
  search(needle, exact, hits) {
    const pattern = buildBytePattern(needle, exact);
    if (!pattern) return this.searchSlowly(needle, exact, hits);
    const { low, high, loose } = pattern, { bytes, starts } = this, m = low.length, end = bytes.length;
    const lowerNeedle = needle.toLowerCase();
    // Horspool's algorithm: the shift depends on the byte under the pattern's end, and is 0 if that
    // byte matches.
    const skip = new Uint8Array(256).fill(Math.min(m, 255)), last = m - 1;
    for (let i = Math.max(0, last - 254); i < last; i++) skip[low[i]] = skip[high[i]] = last - i;
    const hitSkip = Math.min(skip[low[last]], skip[high[last]]);
    skip[low[last]] = skip[high[last]] = 0;
    let segment = 0, position = last;
    while (position < end) {
      const step = skip[bytes[position]];
      if (step) { position += step; continue; }
      const from = position - last;
      let i = last - 1;
      while (i >= 0 && (bytes[from + i] === low[i] || bytes[from + i] === high[i])) i--;
      if (i < 0) {
        while (starts[segment + 1] <= from) segment++;
        if (position < starts[segment + 1] && (!loose || this.getText(segment)?.toLowerCase().includes(lowerNeedle))) {
          hits[segment] = 1;
          position = starts[segment + 1] + last;
          continue;
        }
      }
      position += hitSkip;
    }
  }

  /** Search by decoding, for letters whose upper and lower case differ in length. @param {string} needle @param {boolean} exact @param {Uint8Array} hits */
  searchSlowly(needle, exact, hits) {
    const lowerNeedle = exact ? needle : needle.toLowerCase();
    for (let i = 0; i < this.length; i++) {
      const text = hits[i] ? null : this.getText(i);
      if (text !== null && (exact ? text : text.toLowerCase()).includes(lowerNeedle)) hits[i] = 1;
    }
  }
}

/**
 * Return the two possible bytes at each position; `loose` if they may also match other letters. Null if upper
 * and lower case differ in length.
 * @param {string} needle @param {boolean} exact
 */
function buildBytePattern(needle, exact) {
  const encoder = new TextEncoder();
  if (/[\uD800-\uDFFF\u0130ςσΣ]/u.test(needle)) return null;
  /** @type {number[]} */
  const low = [], high = [];
  let loose = false;
  for (const character of needle) {
    const a = encoder.encode(exact ? character : character.toLowerCase()), b = encoder.encode(exact ? character : character.toUpperCase());
    if (a.length !== b.length) return null;
    loose ||= a.filter((byte, i) => byte !== b[i]).length > 1;
    low.push(...a);
    high.push(...b);
  }
  return { low, high, loose };
}

/** @param {string} text base64 of gzip @returns {Promise<Uint8Array>} */
export async function unpackBlock(text) {
  const fromBase64 = /** @type {any} */ (Uint8Array).fromBase64;
  const packed = fromBase64 ? fromBase64(text) : Uint8Array.from(atob(text), c => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Return the manifest of the page and a reader of its blocks. */
export function readPage() {
  const manifest = JSON.parse(document.getElementById("manifest")?.textContent ?? "null");
  if (!manifest) throw new Error("the page contains no data");
  return { manifest, read: async (/** @type {string} */ name) => {
    const node = [...document.querySelectorAll("script[data-block]")].find(node => node.getAttribute("data-block") === name);
    if (!node) throw new Error(`block ${name} is missing: the file is incomplete`);
    const bytes = await unpackBlock(node.textContent ?? "");
    node.remove(); // Free the memory of the encoded text.
    return bytes;
  } };
}

/** @param {Uint8Array} bytes */
const toIndices = bytes => new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 2);

/** Data of a report. */
export class ReportData {
  /** @param {any} manifest @param {(name: string) => Promise<Uint8Array>} read returns the bytes of a block */
  constructor(manifest, read) {
    this.manifest = manifest;
    this.read = read;
    /** Number of segments. */
    this.n = /** @type {number} */ (manifest.segments);
    /** @type {System[]} */
    this.systems = manifest.systems.map((/** @type {any} */ system, /** @type {number} */ index) => ({ ...system, index }));
    /** Maximum number of references per segment. */
    this.references = /** @type {number} */ (manifest.references);
    /** @type {Setting[]} */
    this.settings = manifest.settings;
    this.hasSource = !!manifest.source;
    /** Whether the report was saved without texts. */
    this.isRedacted = !!manifest.redacted;
    /** @type {{names: string[], bySegment: Uint32Array} | null} */
    this.documents = null;
    /** @type {{name: string, values: string[], bySegment: Uint32Array}[]} */
    this.labels = [];
    /** Maps of re-segmented systems, by the index of the system. @type {SegmentMap[]} */
    this.segmentMaps = [];
    /** Errors that annotators marked, by segment and system. @type {Map<string, import("./error_spans.js").ErrorSpan[]> | null} */
    this.errors = null;
    /** Segment lengths: numbers of tokens in the first reference, for all metrics. @type {Uint32Array} */
    this.lengths = new Uint32Array();
    /** @type {Record<string, Uint32Array>} Bit sets of data checks, by role. */
    this.flags = {};
    /** @type {import("./glossary.js").Glossary | null} */
    this.glossary = null;
    /** Kernel client, set by `loadKernel`. */
    this.client = /** @type {KernelClient} */ (/** @type {unknown} */ (null));
    /** Tables of counts by setting and system. @type {Map<string, CountTable>} */
    this.tables = new Map();
    /** Segment scores of external metrics. @type {Map<string, Float64Array>} */
    this.columns = new Map();
    /** @type {Map<string, TextColumn>} */
    this.texts = new Map();
    /** @type {Map<number, Map<string, TextColumn> | Promise<void>>} Pages loaded from the server, or being loaded. */
    this.pages = new Map();
    /** Called when pages have arrived, or with an error message. */
    this.onArrival = (/** @type {string} */ problem) => { if (problem) console.error(problem); };
    this.isNotifying = false;
  }

  /** Text roles in reading order. @returns {Role[]} */
  get roles() {
    return [...(this.hasSource ? /** @type {Role[]} */ (["source"]) : []),
      ...Array.from({ length: this.references }, (_, i) => /** @type {Role} */ (`reference${i}`)), ...this.systems.map(s => /** @type {Role} */ (`system${s.index}`))];
  }

  /** Return the writing direction of a role's texts. @param {string} role @returns {"ltr" | "rtl" | "auto"} */
  getDirection(role) { return this.manifest.directions?.[role.replace(/\d+$/, "")] ?? "auto"; }

  /** Return the title of a role. @param {string} role */
  getTitle(role) {
    if (role === "source") return "Source";
    if (role.startsWith("system")) { const system = this.systems[Number(role.slice(6))]; return `${system.letter} ${system.name}`; }
    return this.references === 1 ? "Reference" : `Reference ${Number(role.slice(9)) + 1}`;
  }

  /** Load the kernel, texts and tables. */
  async load() {
    await this.loadKernel();
    await this.loadTexts();
    await this.loadTables();
  }

  /** Start the kernel; throw an error if the report or the browser does not support it. */
  async loadKernel() {
    const { live: kernelBlocks } = this.manifest;
    if (!kernelBlocks) throw new Error("this report was written by a truebleu installation without the browser kernel");
    if (typeof WebAssembly !== "object") throw new Error("this browser does not support WebAssembly");
    this.client = await KernelClient.start(await this.read(kernelBlocks.kernel), await this.read(kernelBlocks.lowercase));
  }

  /** Return the value of a block of JSON. @param {string} name */
  async readJson(name) { return JSON.parse(new TextDecoder().decode(await this.read(name))); }

  async loadTables() {
    const { manifest, n, client } = this, { kernel } = client;
    /** @type {Map<string, CountTable>} Settings with equal counts share a table. */
    const knownTables = new Map();
    for (const setting of this.settings) {
      for (const system of this.systems) {
        const block = setting.blocks?.[system.name], key = block ?? `${system.index} ${getCountsKey(setting.recipe, this.references)}`;
        const table = knownTables.get(key) ?? (block ? CountTable.decode(kernel, await this.read(block), setting.columns, n)
          : /** @type {CountTable} */ (await client.countSystem(setting.recipe, setting.columns, `system${system.index}`, n)));
        knownTables.set(key, table);
        this.tables.set(`${setting.id}.${system.index}`, table);
      }
    }
    for (const column of manifest.columns ?? []) for (const system of this.systems) this.columns.set(`${column.id}.${system.index}`, new Float64Array((await this.read(column.blocks[system.name])).slice(1).buffer));
    if (manifest.documents) this.documents = { names: manifest.documents.names, bySegment: toIndices(await this.read(manifest.documents.block)) };
    for (const label of manifest.labels ?? []) this.labels.push({ ...label, bySegment: toIndices(await this.read(label.block)) });
    for (const [k, entry] of (manifest.resegmentation ?? []).entries()) if (entry) this.segmentMaps[k] = createSegmentMap(entry, toIndices(await this.read(entry.block)), n, this.labels.find(label => label.name === `segments of ${this.systems[k].name}`));
    for (const [role, name] of Object.entries(manifest.health?.blocks ?? {})) this.flags[role] = toIndices(await this.read(/** @type {string} */ (name)));
    if (manifest.buckets?.length) this.lengths = toIndices(await this.read(manifest.buckets.length.block));
    if (manifest.terms) this.glossary = createGlossary(manifest.terms, await this.readJson(manifest.terms.block));
    if (manifest.spans?.block) this.errors = indexErrors(manifest.spans, await this.readJson(manifest.spans.block));
    if (manifest.ngrams?.block) manifest.ngrams.pairs = await this.readJson(manifest.ngrams.block);
  }

  async loadTexts() {
    const { manifest, n, client } = this, roles = /** @type {string[]} */ (manifest.texts ?? []);
    const blocks = roles.length ? unpackTexts(await this.read("texts"), n, roles.length) : [];
    roles.forEach((role, k) => {
      this.texts.set(role, new TextColumn(blocks[k], n));
      if (role !== "source" && manifest.embedded === n) client.texts.set(role, client.kernel.addTexts(blocks[k], n));
    });
  }

  /** Return whether the browser can recount a setting. @param {Setting} setting */
  canCount(setting) { return setting.countable && this.client.texts.has("system0"); }

  /** @param {Setting} setting @param {number} system @returns {CountTable} */
  getTable(setting, system) { return /** @type {CountTable} */ (this.tables.get(`${setting.id}.${system}`)); }

  /** Return a text, null if it is missing, or undefined if it is not loaded or not in the report. @param {string} role @param {number} i @returns {string | null | undefined} */
  getText(role, i) {
    if (this.manifest.serve) return this.getServedText(role, i);
    const texts = this.texts.get(role);
    if (!texts || !this.hasTexts(i)) return undefined;
    return texts.getText(i);
  }

  /** Return whether a segment's texts are available. @param {number} i */
  hasTexts(i) { return !!this.manifest.serve || this.texts.get("system0")?.absent[i] === 0; }

  /** @param {number} i @returns {Segment} */
  getSegment(i) {
    return { index: i, source: this.hasSource ? this.getText("source", i) : null,
      references: Array.from({ length: this.references }, (_, r) => this.getText(`reference${r}`, i) ?? null),
      hypotheses: this.systems.map(s => this.getText(`system${s.index}`, i) ?? undefined), hasTexts: this.hasTexts(i) };
  }

  /**
   * Return a mask of the segments in which a text of the given roles contains a string.
   * @param {string} needle @param {string[]} roles @param {boolean} exact
   * @param {(share: number) => boolean} onProgress told how much is done; whether to go on
   */
  async search(needle, roles, exact, onProgress = () => true) {
    const hits = new Uint8Array(this.n);
    if (!this.manifest.serve) for (const role of roles) this.texts.get(role)?.search(needle, exact, hits);
    else for await (const { from, to, texts } of this.readPieces(roles)) {
      for (const column of texts?.values() ?? []) column.search(needle, exact, hits.subarray(from, to));
      if (!onProgress(to / this.n)) break;
    }
    return hits;
  }

  /** Yield slices of segments with accessors of their texts. @param {string[]} roles */
  async *readPieces(roles) {
    for (let from = 0; from < this.n; from += PIECE_SIZE) {
      const to = Math.min(this.n, from + PIECE_SIZE), texts = this.manifest.serve ? await this.fetchTexts(roles, from, to) : null;
      yield { from, to, texts, text: (/** @type {string} */ role, /** @type {number} */ i) => texts ? texts.get(role)?.getText(i - from) : this.getText(role, i) };
    }
  }

  // ---- local server (`truebleu report --serve`) ----
  // BASE/texts?roles=source,system0&from=0&to=32 → the text blocks of all roles, concatenated

  /** Return a text if its page is loaded; otherwise request the page. @param {string} role @param {number} i */
  getServedText(role, i) {
    const page = Math.floor(i / PAGE_SIZE), cached = this.pages.get(page);
    if (cached instanceof Map) return cached.get(role)?.getText(i - page * PAGE_SIZE);
    if (!cached) this.fetchSegment(i).then(() => this.notify(""), error => this.notify(error.message));
    return undefined;
  }

  /** Load the page of a segment. @param {number} i */
  async fetchSegment(i) {
    const { pages } = this, page = Math.floor(i / PAGE_SIZE);
    if (!this.manifest.serve || pages.get(page) instanceof Map) return;
    if (!pages.has(page)) {
      pages.set(page, this.fetchTexts(this.roles, page * PAGE_SIZE, Math.min(this.n, (page + 1) * PAGE_SIZE)).then(texts => {
        pages.delete(page); // Move the page to the end of the cache, because pages at the front are discarded first.
        pages.set(page, texts);
        for (const oldPage of pages.keys()) if (pages.size > MAX_CACHED_PAGES) pages.delete(oldPage);
      }, error => { pages.delete(page); throw error; }));
    }
    await pages.get(page);
  }

  /** Notify once about pages that arrive at about the same time. @param {string} problem */
  notify(problem) {
    if (this.isNotifying) return;
    this.isNotifying = true;
    setTimeout(() => { this.isNotifying = false; this.onArrival(problem); }, 30);
  }

  /** Fetch the texts of a range of segments. @param {string[]} roles @param {number} from @param {number} to */
  async fetchTexts(roles, from, to) {
    const query = new URLSearchParams({ roles: roles.join(","), from: String(from), to: String(to) });
    const answer = await fetch(`${this.manifest.serve.base}texts?${query}`).catch(() => { throw new Error("The server is not responding. Is `truebleu report --serve` still running?"); });
    if (!answer.ok) throw new Error(await answer.text());
    const bytes = new Uint8Array(await answer.arrayBuffer());
    /** @type {Map<string, TextColumn>} */
    const texts = new Map();
    let offset = 0;
    for (const role of roles) {
      const column = new TextColumn(bytes.subarray(offset), to - from);
      texts.set(role, column);
      offset += 4 * column.length + column.bytes.length;
    }
    return texts;
  }
}
