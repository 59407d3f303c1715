// Notes view: the user's bookmarks, error tags and notes, in the browser's storage and in files.
import {announce, createButton, copyStateLink, formatCount, openDialog, downloadText, el, formatPlural, renderTable} from "./dom.js";
import {linkSegments} from "./svg_charts.js";
import {FILTERS, browserStorage} from "./selection.js";
import {guardFormula, formatDelimited} from "./exports.js";

/** @typedef {{bookmark: boolean, tags: string[], note: string}} SegmentNote */

const NOTES_VERSION = 1;
/** Suggested tags; users can add others. */
const TAGS = ["mistranslation", "omission", "addition", "untranslated", "terminology", "name", "number", "grammar", "spelling", "punctuation", "style", "reference is wrong"];
/** Filters by notes. @type {Record<string, (one: SegmentNote) => boolean>} */
const NOTE_FILTERS = { bookmarked: note => note.bookmark, tagged: entry => entry.tags.length > 0, noted: entry => entry.note !== "", any: () => true };

export class Notes {
  /** @param {import("./report_data.js").ReportData} data @param {() => void} changed */
  constructor({ n, manifest, systems }, changed) {
    this.n = n;
    this.about = { data_hash: { ...manifest.data_hash, ...manifest.text_hash }, systems: systems.map(s => s.name) };
    this.key = `notes ${JSON.stringify(this.about)}`;
    this.onChange = changed;
    /** @type {Map<number, SegmentNote>} */
    this.notesBySegment = new Map();
    try { this.merge(JSON.parse(browserStorage.get(this.key) ?? "null")?.segments); } catch { /* Ignore values that are not JSON. */ }
    /** Whether the browser stores the notes. */
    this.isPersistent = true;
  }

  /** @param {number} i @returns {SegmentNote} */
  getNote(i) { return this.notesBySegment.get(i) ?? { bookmark: false, tags: [], note: "" }; }

  /** @param {number} i @param {Partial<SegmentNote>} values */
  update(i, values) {
    const updated = { ...this.getNote(i), ...values };
    if (updated.bookmark || updated.tags.length || updated.note) this.notesBySegment.set(i, updated); else this.notesBySegment.delete(i);
    this.save();
  }

  save() {
    this.isPersistent = browserStorage.set(this.key, JSON.stringify(this.toFile()));
    this.onChange();
  }

  /** Return all notes in the format of a notes file. */
  toFile() {
    const segments = [...this.notesBySegment].sort(([x], [y]) => x - y).map(([i, one]) => ({ segment: i + 1, ...one }));
    return { truebleu_notes: NOTES_VERSION, ...this.about, segments };
  }

  /** Merge a list of notes and return the number of skipped entries. @param {any} list */
  merge(list) {
    let skippedCount = 0;
    for (const entry of Array.isArray(list) ? list : []) {
      const i = Number(entry?.segment) - 1;
      if (!Number.isInteger(i) || i < 0 || i >= this.n) { skippedCount++; continue; }
      const existing = this.getNote(i), note = typeof entry.note === "string" ? entry.note : "", tags = Array.isArray(entry.tags) ? entry.tags.filter((/** @type {any} */ t) => typeof t === "string" && t) : [];
      const merged = { bookmark: existing.bookmark || entry.bookmark === true, tags: [...new Set([...existing.tags, ...tags])], note: existing.note && note && existing.note !== note ? `${existing.note}\n${note}` : note || existing.note };
      if (merged.bookmark || merged.tags.length || merged.note) this.notesBySegment.set(i, merged);
    }
    return skippedCount;
  }

  /** Describe the differences between a file of notes and this report. @param {any} file */
  listMismatches(file) {
    const problems = [], { data_hash, systems } = this.about;
    const hashes = Object.entries(file.data_hash ?? {}), differentNames = hashes.filter(([name, hash]) => data_hash[name] !== hash).map(([name]) => name);
    if (!hashes.length || differentNames.length) problems.push(`Different data: ${differentNames.join(", ") || "not named in the file"}.`);
    const unknownSystems = (Array.isArray(file.systems) ? file.systems : []).filter((/** @type {any} */ name) => !systems.includes(name));
    if (unknownSystems.length) problems.push(`Systems not in this report: ${unknownSystems.join(", ")}.`);
    const outsideCount = file.segments.filter((/** @type {any} */ one) => !(Number.isInteger(one?.segment) && one.segment >= 1 && one.segment <= this.n)).length;
    if (outsideCount) problems.push(`${formatPlural(outsideCount, "entry").replace("entrys", "entries")} for segments not in this report.`);
    return problems;
  }

  /** @param {string} text of a file */
  importFile(text) {
    let file;
    try { file = JSON.parse(text); } catch { file = null; }
    if (file?.truebleu_notes !== NOTES_VERSION || !Array.isArray(file.segments)) { openDialog("Notes", el("p", {}, "This is not a truebleu notes file.")); return; }
    const problems = this.listMismatches(file), add = () => { const skippedCount = this.merge(file.segments); this.save(); announce(`${formatCount(file.segments.length - skippedCount)} of ${formatCount(file.segments.length)} entries imported`); };
    if (!problems.length) { add(); return; }
    const box = openDialog("Notes from another report", el("ul", {}, problems.map(line => el("li", {}, line))), el("p", {}, createButton("Import matching entries", () => { box.close(); add(); }), " ", createButton("Cancel", () => box.close())));
  }

  /** Return a mask of the segments that pass a filter. @param {string} kind */
  hits(kind) {
    const findHits = new Uint8Array(this.n), isHit = NOTE_FILTERS[kind];
    for (const [i, saved] of this.notesBySegment) if (isHit(saved)) findHits[i] = 1;
    return findHits;
  }
}

/** Render the editable notes of a segment. @param {Notes} notes @param {number} i */
export function renderNotes(notes, i) {
  const segmentNote = notes.getNote(i);
  const add = el("input", { list: "tags", "aria-label": "Add an error tag", placeholder: "Add a tag", on: { change: () => { const tag = add.value.trim(); if (tag) notes.update(i, { tags: [...new Set([...notes.getNote(i).tags, tag])] }); } } });
  return el("section.notes-of", {}, el("h3", {}, "Notes"), el("p.joined", {}, createButton(segmentNote.bookmark ? "★ Bookmarked" : "☆ Bookmark", () => notes.update(i, { bookmark: !segmentNote.bookmark }), { "aria-pressed": String(segmentNote.bookmark), title: "Bookmark (*)" }),
    segmentNote.tags.map(tag => createButton([el("bdi", {}, tag), " ✕"], () => notes.update(i, { tags: segmentNote.tags.filter(t => t !== tag) }), { class: "chip", "aria-label": `Remove the tag ${tag}` })), add, el("datalist", { id: "tags" }, TAGS.map(tag => el("option", { value: tag })))),
    el("textarea", { "aria-label": "Note", rows: 2, placeholder: "Note", dir: "auto", value: segmentNote.note, on: { change: (/** @type {any} */ e) => notes.update(i, { note: e.target.value }) } }));
}

/** @type {import("./main.js").View} */
export const notesView = {
  id: "notes", title: "Notes", key: "o",
  render(container, context) {
    const { data, store, current } = context, { notes } = current, { segments } = notes.toFile(), list = segments.map(entry => entry.segment);
    const shortlist = { ...FILTERS, view: "segments", seg: null, only: list.join(","), about: "shortlist" };
    const save = () => {
      const roles = data.isRedacted ? [] : data.roles;
      downloadText("shortlist.tsv", "text/tab-separated-values", [["segment", "bookmark", "tags", "note", ...data.systems.map(s => `${current.metric.name} ${s.letter} ${s.name}`), ...roles.map(role => data.getTitle(role))],
        ...segments.map(entry => [entry.segment, entry.bookmark, entry.tags.join(", "), entry.note, ...data.systems.map(s => current.getScores(s)[entry.segment - 1]), ...roles.map(role => data.getText(role, entry.segment - 1))])].map(row => formatDelimited(row.map(value => guardFormula(value, true)), "\t")).join("\n") + "\n");
    };
    const file = el("input", { type: "file", accept: ".json", hidden: true, "aria-label": "Notes file", on: { change: async () => { const [chosenFile] = file.files; if (chosenFile) notes.importFile(await chosenFile.text()); } } });
    container.append(el("h1", {}, "Notes"), el("p.facts", {}, `${formatPlural(list.length, "segment")} with a bookmark, a tag or a note. `, notes.isPersistent ? "They are stored in this browser. Save them to a file to share them." : "This browser cannot store them. Save them to a file before you close this page."),
      el("p.joined", {}, createButton("Save to file", () => downloadText("notes.json", "application/json", `${JSON.stringify(notes.toFile(), null, 1)}\n`), { disabled: !list.length }), createButton("Open file", () => file.click()), file,
        createButton("Copy a link to the shortlist", () => { copyStateLink(store, shortlist); }, { disabled: !list.length }), createButton("Save the shortlist as TSV", save, { disabled: !list.length })));
    if (list.length) container.append(renderTable("Notes", [{ title: "Segment" }, { title: "Bookmark" }, { title: "Tags" }, { title: "Note" }], segments.map(entry => [linkSegments(context, formatCount(entry.segment), { ...shortlist, seg: entry.segment }, "Open the segment"), entry.bookmark ? "★" : "", el("bdi", {}, entry.tags.join(", ")), el("bdi", {}, entry.note)]), { quiet: true }));
  },
};
