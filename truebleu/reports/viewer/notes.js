// What a reader notes of segments: bookmarks, error tags, notes. Kept by the browser if it keeps anything, and in a file.
import {announce, button, copyLink, count, dialog, download, el, plural, table} from "./dom.js";
import {link} from "./svg_charts.js";
import {FILTERS, memory} from "./selection.js";
import {guarded, separated} from "./exports.js";

/** @typedef {{bookmark: boolean, tags: string[], note: string}} Noted */

const NOTES_VERSION = 1;
/** Tags that are offered; any other text is one, too. */
const TAGS = ["mistranslation", "omission", "addition", "untranslated", "terminology", "name", "number", "grammar", "spelling", "punctuation", "style", "reference is wrong"];
/** What the filter leaves. @type {Record<string, (one: Noted) => boolean>} */
const KINDS = { bookmarked: one => one.bookmark, tagged: one => one.tags.length > 0, noted: one => one.note !== "", any: () => true };

export class Notes {
  /** @param {import("./report_data.js").Data} data @param {() => void} changed */
  constructor({ n, manifest, systems }, changed) {
    this.n = n;
    this.about = { data_hash: { ...manifest.data_hash, ...manifest.text_hash }, systems: systems.map(s => s.name) };
    this.key = `notes ${JSON.stringify(this.about)}`;
    this.changed = changed;
    /** @type {Map<number, Noted>} */
    this.all = new Map();
    try { this.take(JSON.parse(memory.get(this.key) ?? "null")?.segments); } catch { /* What another program left there is none. */ }
    /** Whether the browser keeps them. */
    this.kept = true;
  }

  /** @param {number} i @returns {Noted} */
  of(i) { return this.all.get(i) ?? { bookmark: false, tags: [], note: "" }; }

  /** @param {number} i @param {Partial<Noted>} values */
  set(i, values) {
    const one = { ...this.of(i), ...values };
    if (one.bookmark || one.tags.length || one.note) this.all.set(i, one); else this.all.delete(i);
    this.keep();
  }

  keep() {
    this.kept = memory.set(this.key, JSON.stringify(this.file()));
    this.changed();
  }

  /** All of it, as a file has it. */
  file() {
    const segments = [...this.all].sort(([x], [y]) => x - y).map(([i, one]) => ({ segment: i + 1, ...one }));
    return { truebleu_notes: NOTES_VERSION, ...this.about, segments };
  }

  /** Adds what a list holds to what there is; gives how many entries do not fit. @param {any} list */
  take(list) {
    let left = 0;
    for (const one of Array.isArray(list) ? list : []) {
      const i = Number(one?.segment) - 1;
      if (!Number.isInteger(i) || i < 0 || i >= this.n) { left++; continue; }
      const old = this.of(i), note = typeof one.note === "string" ? one.note : "", tags = Array.isArray(one.tags) ? one.tags.filter((/** @type {any} */ t) => typeof t === "string" && t) : [];
      const made = { bookmark: old.bookmark || one.bookmark === true, tags: [...new Set([...old.tags, ...tags])], note: old.note && note && old.note !== note ? `${old.note}\n${note}` : note || old.note };
      if (made.bookmark || made.tags.length || made.note) this.all.set(i, made);
    }
    return left;
  }

  /** What of a file does not fit this report, in sentences. @param {any} file */
  misfits(file) {
    const wrong = [], { data_hash, systems } = this.about;
    const hashes = Object.entries(file.data_hash ?? {}), other = hashes.filter(([name, hash]) => data_hash[name] !== hash).map(([name]) => name);
    if (!hashes.length || other.length) wrong.push(`Other data: ${other.join(", ") || "the file does not say which"}.`);
    const unknown = (Array.isArray(file.systems) ? file.systems : []).filter((/** @type {any} */ name) => !systems.includes(name));
    if (unknown.length) wrong.push(`Systems that this report does not have: ${unknown.join(", ")}.`);
    const beyond = file.segments.filter((/** @type {any} */ one) => !(Number.isInteger(one?.segment) && one.segment >= 1 && one.segment <= this.n)).length;
    if (beyond) wrong.push(`${plural(beyond, "entry").replace("entrys", "entries")} of segments that this report does not have.`);
    return wrong;
  }

  /** @param {string} text of a file */
  import(text) {
    let file;
    try { file = JSON.parse(text); } catch { file = null; }
    if (file?.truebleu_notes !== NOTES_VERSION || !Array.isArray(file.segments)) { dialog("Notes", el("p", {}, "This is no file of notes.")); return; }
    const wrong = this.misfits(file), add = () => { const left = this.take(file.segments); this.keep(); announce(`${count(file.segments.length - left)} of ${count(file.segments.length)} taken`); };
    if (!wrong.length) { add(); return; }
    const box = dialog("Notes of another report", el("ul", {}, wrong.map(line => el("li", {}, line))), el("p", {}, button("Take what fits", () => { box.close(); add(); }), " ", button("Cancel", () => box.close())));
  }

  /** The segments that a filter leaves. @param {string} kind */
  hits(kind) {
    const hits = new Uint8Array(this.n), test = KINDS[kind];
    for (const [i, one] of this.all) if (test(one)) hits[i] = 1;
    return hits;
  }
}

/** What is noted of a segment, to be changed. @param {Notes} notes @param {number} i */
export function notesOf(notes, i) {
  const one = notes.of(i);
  const add = el("input", { list: "tags", "aria-label": "Add an error tag", placeholder: "Add a tag", on: { change: () => { const tag = add.value.trim(); if (tag) notes.set(i, { tags: [...new Set([...notes.of(i).tags, tag])] }); } } });
  return el("section.notes-of", {}, el("h3", {}, "Notes"), el("p.joined", {}, button(one.bookmark ? "★ Bookmarked" : "☆ Bookmark", () => notes.set(i, { bookmark: !one.bookmark }), { "aria-pressed": String(one.bookmark), title: "Bookmark (*)" }),
    one.tags.map(tag => button([el("bdi", {}, tag), " ✕"], () => notes.set(i, { tags: one.tags.filter(t => t !== tag) }), { class: "chip", "aria-label": `Remove the tag ${tag}` })), add, el("datalist", { id: "tags" }, TAGS.map(tag => el("option", { value: tag })))),
    el("textarea", { "aria-label": "Note", rows: 2, placeholder: "Note", dir: "auto", value: one.note, on: { change: (/** @type {any} */ e) => notes.set(i, { note: e.target.value }) } }));
}

/** @type {import("./main.js").View} */
export const notesView = {
  id: "notes", title: "Notes", key: "o",
  render(container, context) {
    const { data, store, current } = context, { notes } = current, { segments } = notes.file(), list = segments.map(one => one.segment);
    const shortlist = { ...FILTERS, view: "segments", seg: null, only: list.join(","), about: "shortlist" };
    const save = () => {
      const roles = data.redacted ? [] : data.roles;
      download("shortlist.tsv", "text/tab-separated-values", [["segment", "bookmark", "tags", "note", ...data.systems.map(s => `${current.metric.name} ${s.letter} ${s.name}`), ...roles.map(role => data.title(role))],
        ...segments.map(one => [one.segment, one.bookmark, one.tags.join(", "), one.note, ...data.systems.map(s => current.scores(s)[one.segment - 1]), ...roles.map(role => data.text(role, one.segment - 1))])].map(row => separated(row.map(value => guarded(value, true)), "\t")).join("\n") + "\n");
    };
    const file = el("input", { type: "file", accept: ".json", hidden: true, "aria-label": "File of notes", on: { change: async () => { const [one] = file.files; if (one) notes.import(await one.text()); } } });
    container.append(el("h1", {}, "Notes"), el("p.facts", {}, `${plural(list.length, "segment")} with a bookmark, a tag or a note. `, notes.kept ? "They stay in this browser; a file takes them elsewhere." : "This browser does not keep them: save them to a file before you leave."),
      el("p.joined", {}, button("Save as a file", () => download("notes.json", "application/json", `${JSON.stringify(notes.file(), null, 1)}\n`), { disabled: !list.length }), button("Open a file", () => file.click()), file,
        button("Copy a link to the shortlist", () => { copyLink(store, shortlist); }, { disabled: !list.length }), button("Save the shortlist as TSV", save, { disabled: !list.length })));
    if (list.length) container.append(table("Notes", [{ title: "Segment" }, { title: "Bookmark" }, { title: "Tags" }, { title: "Note" }], segments.map(one => [link(context, count(one.segment), { ...shortlist, seg: one.segment }, "Open it"), one.bookmark ? "★" : "", el("bdi", {}, one.tags.join(", ")), el("bdi", {}, one.note)]), { quiet: true }));
  },
};
