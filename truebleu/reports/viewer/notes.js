// What a reader notes of segments: bookmarks, error tags, notes. Kept by the browser if it keeps anything, and in a file.
import {announce, createButton, copyStateLink, formatCount, openDialog, downloadText, el, formatPlural, renderTable} from "./dom.js";
import {linkSegments} from "./svg_charts.js";
import {FILTERS, browserStorage} from "./selection.js";
import {guardFormula, formatDelimited} from "./exports.js";

/** @typedef {{bookmark: boolean, tags: string[], note: string}} SegmentNote */

const NOTES_VERSION = 1;
/** Tags that are offered; any other text is one, too. */
const TAGS = ["mistranslation", "omission", "addition", "untranslated", "terminology", "name", "number", "grammar", "spelling", "punctuation", "style", "reference is wrong"];
/** What the filter leaves. @type {Record<string, (one: SegmentNote) => boolean>} */
const NOTE_FILTERS = { bookmarked: one => one.bookmark, tagged: one => one.tags.length > 0, noted: one => one.note !== "", any: () => true };

export class Notes {
  /** @param {import("./report_data.js").ReportData} data @param {() => void} changed */
  constructor({ n, manifest, systems }, changed) {
    this.n = n;
    this.about = { data_hash: { ...manifest.data_hash, ...manifest.text_hash }, systems: systems.map(s => s.name) };
    this.key = `notes ${JSON.stringify(this.about)}`;
    this.onChange = changed;
    /** @type {Map<number, SegmentNote>} */
    this.notesBySegment = new Map();
    try { this.merge(JSON.parse(browserStorage.get(this.key) ?? "null")?.segments); } catch { /* What another program left there is none. */ }
    /** Whether the browser keeps them. */
    this.isPersistent = true;
  }

  /** @param {number} i @returns {SegmentNote} */
  getNote(i) { return this.notesBySegment.get(i) ?? { bookmark: false, tags: [], note: "" }; }

  /** @param {number} i @param {Partial<SegmentNote>} values */
  update(i, values) {
    const one = { ...this.getNote(i), ...values };
    if (one.bookmark || one.tags.length || one.note) this.notesBySegment.set(i, one); else this.notesBySegment.delete(i);
    this.save();
  }

  save() {
    this.isPersistent = browserStorage.set(this.key, JSON.stringify(this.toFile()));
    this.onChange();
  }

  /** All of it, as a file has it. */
  toFile() {
    const segments = [...this.notesBySegment].sort(([x], [y]) => x - y).map(([i, one]) => ({ segment: i + 1, ...one }));
    return { truebleu_notes: NOTES_VERSION, ...this.about, segments };
  }

  /** Adds what a list holds to what there is; gives how many entries do not fit. @param {any} list */
  merge(list) {
    let left = 0;
    for (const one of Array.isArray(list) ? list : []) {
      const i = Number(one?.segment) - 1;
      if (!Number.isInteger(i) || i < 0 || i >= this.n) { left++; continue; }
      const old = this.getNote(i), note = typeof one.note === "string" ? one.note : "", tags = Array.isArray(one.tags) ? one.tags.filter((/** @type {any} */ t) => typeof t === "string" && t) : [];
      const made = { bookmark: old.bookmark || one.bookmark === true, tags: [...new Set([...old.tags, ...tags])], note: old.note && note && old.note !== note ? `${old.note}\n${note}` : note || old.note };
      if (made.bookmark || made.tags.length || made.note) this.notesBySegment.set(i, made);
    }
    return left;
  }

  /** What of a file does not fit this report, in sentences. @param {any} file */
  listMismatches(file) {
    const wrong = [], { data_hash, systems } = this.about;
    const hashes = Object.entries(file.data_hash ?? {}), other = hashes.filter(([name, hash]) => data_hash[name] !== hash).map(([name]) => name);
    if (!hashes.length || other.length) wrong.push(`Other data: ${other.join(", ") || "the file does not say which"}.`);
    const unknown = (Array.isArray(file.systems) ? file.systems : []).filter((/** @type {any} */ name) => !systems.includes(name));
    if (unknown.length) wrong.push(`Systems that this report does not have: ${unknown.join(", ")}.`);
    const beyond = file.segments.filter((/** @type {any} */ one) => !(Number.isInteger(one?.segment) && one.segment >= 1 && one.segment <= this.n)).length;
    if (beyond) wrong.push(`${formatPlural(beyond, "entry").replace("entrys", "entries")} of segments that this report does not have.`);
    return wrong;
  }

  /** @param {string} text of a file */
  importFile(text) {
    let file;
    try { file = JSON.parse(text); } catch { file = null; }
    if (file?.truebleu_notes !== NOTES_VERSION || !Array.isArray(file.segments)) { openDialog("Notes", el("p", {}, "This is no file of notes.")); return; }
    const wrong = this.listMismatches(file), add = () => { const left = this.merge(file.segments); this.save(); announce(`${formatCount(file.segments.length - left)} of ${formatCount(file.segments.length)} taken`); };
    if (!wrong.length) { add(); return; }
    const box = openDialog("Notes of another report", el("ul", {}, wrong.map(line => el("li", {}, line))), el("p", {}, createButton("Take what fits", () => { box.close(); add(); }), " ", createButton("Cancel", () => box.close())));
  }

  /** The segments that a filter leaves. @param {string} kind */
  hits(kind) {
    const findHits = new Uint8Array(this.n), test = NOTE_FILTERS[kind];
    for (const [i, one] of this.notesBySegment) if (test(one)) findHits[i] = 1;
    return findHits;
  }
}

/** What is noted of a segment, to be changed. @param {Notes} notes @param {number} i */
export function renderNotes(notes, i) {
  const one = notes.getNote(i);
  const add = el("input", { list: "tags", "aria-label": "Add an error tag", placeholder: "Add a tag", on: { change: () => { const tag = add.value.trim(); if (tag) notes.update(i, { tags: [...new Set([...notes.getNote(i).tags, tag])] }); } } });
  return el("section.notes-of", {}, el("h3", {}, "Notes"), el("p.joined", {}, createButton(one.bookmark ? "★ Bookmarked" : "☆ Bookmark", () => notes.update(i, { bookmark: !one.bookmark }), { "aria-pressed": String(one.bookmark), title: "Bookmark (*)" }),
    one.tags.map(tag => createButton([el("bdi", {}, tag), " ✕"], () => notes.update(i, { tags: one.tags.filter(t => t !== tag) }), { class: "chip", "aria-label": `Remove the tag ${tag}` })), add, el("datalist", { id: "tags" }, TAGS.map(tag => el("option", { value: tag })))),
    el("textarea", { "aria-label": "Note", rows: 2, placeholder: "Note", dir: "auto", value: one.note, on: { change: (/** @type {any} */ e) => notes.update(i, { note: e.target.value }) } }));
}

/** @type {import("./main.js").View} */
export const notesView = {
  id: "notes", title: "Notes", key: "o",
  render(container, context) {
    const { data, store, current } = context, { notes } = current, { segments } = notes.toFile(), list = segments.map(one => one.segment);
    const shortlist = { ...FILTERS, view: "segments", seg: null, only: list.join(","), about: "shortlist" };
    const save = () => {
      const roles = data.isRedacted ? [] : data.roles;
      downloadText("shortlist.tsv", "text/tab-separated-values", [["segment", "bookmark", "tags", "note", ...data.systems.map(s => `${current.metric.name} ${s.letter} ${s.name}`), ...roles.map(role => data.getTitle(role))],
        ...segments.map(one => [one.segment, one.bookmark, one.tags.join(", "), one.note, ...data.systems.map(s => current.getScores(s)[one.segment - 1]), ...roles.map(role => data.getText(role, one.segment - 1))])].map(row => formatDelimited(row.map(value => guardFormula(value, true)), "\t")).join("\n") + "\n");
    };
    const file = el("input", { type: "file", accept: ".json", hidden: true, "aria-label": "File of notes", on: { change: async () => { const [one] = file.files; if (one) notes.importFile(await one.text()); } } });
    container.append(el("h1", {}, "Notes"), el("p.facts", {}, `${formatPlural(list.length, "segment")} with a bookmark, a tag or a note. `, notes.isPersistent ? "They stay in this browser; a file takes them elsewhere." : "This browser does not keep them: save them to a file before you leave."),
      el("p.joined", {}, createButton("Save as a file", () => downloadText("notes.json", "application/json", `${JSON.stringify(notes.toFile(), null, 1)}\n`), { disabled: !list.length }), createButton("Open a file", () => file.click()), file,
        createButton("Copy a link to the shortlist", () => { copyStateLink(store, shortlist); }, { disabled: !list.length }), createButton("Save the shortlist as TSV", save, { disabled: !list.length })));
    if (list.length) container.append(renderTable("Notes", [{ title: "Segment" }, { title: "Bookmark" }, { title: "Tags" }, { title: "Note" }], segments.map(one => [linkSegments(context, formatCount(one.segment), { ...shortlist, seg: one.segment }, "Open it"), one.bookmark ? "★" : "", el("bdi", {}, one.tags.join(", ")), el("bdi", {}, one.note)]), { quiet: true }));
  },
};
