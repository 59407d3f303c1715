// Segments view: a sortable, filterable list of segments, and the scores of the filtered segments.
import {announce, renderBadge, createButton, createCheckbox, formatCount, el, labelControl, formatFixed, createMenu, formatPlural, replaceChildren, createSelect, svg, createToggle, VirtualList, showInvisible, formatScore, formatDelta, formatScoreInterval, renderScore, getColumnFactor} from "./dom.js";
import {COLUMN_TITLES, getCountTitle, MIN_PRECISE_SEGMENTS, FILTERS, SAMPLE_SIZE} from "./selection.js";
import {formatShortNumber} from "./svg_charts.js";
import {renderDetail} from "./detail.js";
import {getConditionTitle} from "./glossary.js";
import {Highlights, renderMarks, renderPreview} from "./highlights.js";
import {placeErrors} from "./error_spans.js";
import {RULE_TITLES, getRuleRoles} from "./text_filters.js";
import {diffWithClosest} from "./tokens.js";
import {describeSplit} from "./agreement.js";

/** @typedef {import("./selection.js").Context} Context */

/** Height of a line and minimum width of a wide list in pixels, and maximum number of characters in a preview. */
const LINE_HEIGHT = 21, MIN_WIDE_LIST = 690, MAX_PREVIEW_LENGTH = 400;
/** Current list, which the shortcuts use. @type {{list: VirtualList, search: HTMLInputElement, sort: () => void, filters: () => void, focus: () => void} | null} */
let activeList = null;

/** Move the active segment in the list without opening it. @param {number} step */
const moveInList = step => activeList?.list.go(activeList.list.active + step);

/** Move to the first segment of the next or previous document in the list. @param {Context} context @param {number} step */
function moveDocument({ data, current }, step) {
  const { documents } = data;
  if (!activeList || !documents) { if (activeList) announce("This report has no document labels"); return; }
  const { selectedSegments } = current, getDocument = (/** @type {number} */ p) => documents.bySegment[selectedSegments[p]];
  let target = activeList.list.active;
  const start = getDocument(target);
  while (target >= 0 && target < selectedSegments.length && getDocument(target) === start) target += step;
  if (target < 0 || target >= selectedSegments.length) return;
  while (step < 0 && target > 0 && getDocument(target - 1) === getDocument(target)) target--;
  activeList.list.go(target);
}

/** @param {string} id @param {string} other */
const createModeKey = (id, other) => ({ title: id === "diff" ? "show differences between the systems, then differences from the reference" : id === "match" ? "show matches" : "show tokens", act: (/** @type {Context} */ { store, current }) => store.set({ mode: store.get("mode") === id ? other : id === "diff" && !current.b ? "ref" : id }, { replace: true }) });

/** @type {Record<string, string>} */
const NOTED_TITLES = { bookmarked: "bookmarked", tagged: "with error tags", noted: "with a note", any: "with a bookmark, tag or note" };

/** @type {import("./main.js").View} */
export const segmentsView = {
  id: "segments", title: "Segments", key: "e", state: { lines: "srab", panel: false, errors: true },
  keys: {
    "j": { title: "next segment", act: () => moveInList(1) },
    "k": { title: "previous segment", act: () => moveInList(-1) },
    "Enter": { title: "open the segment", act: ({ store, current }) => { if (activeList) store.set({ seg: current.selectedSegments[activeList.list.active] + 1 }); } },
    "Escape": { title: "close the segment", act: ({ store }) => { store.set({ seg: null }); activeList?.focus(); } },
    "/": { title: "search", act: () => activeList?.search.focus() },
    "f": { title: "filters", act: () => activeList?.filters() },
    "s": { title: "sort", act: () => activeList?.sort() },
    "*": { title: "bookmark the segment", act: ({ current }) => { if (activeList && current.selectedSegments.length) { const i = current.selectedSegments[activeList.list.active]; current.notes.update(i, { bookmark: !current.notes.getNote(i).bookmark }); } } },
    "r": { title: "random segment", act: ({ store, current }) => { const { selectedSegments } = current; if (selectedSegments.length) store.set({ seg: selectedSegments[Math.floor(Math.random() * selectedSegments.length)] + 1 }); } },
    "[": { title: "previous document", act: context => moveDocument(context, -1) },
    "]": { title: "next document", act: context => moveDocument(context, 1) },
    "d": createModeKey("diff", "ref"), "m": createModeKey("match", "plain"), "t": createModeKey("tokens", "match"),
  },
  render(container, context) {
    const { data, store, current } = context;
    let typing = 0;
    const search = el("input", { type: "search", placeholder: "Search the texts", "aria-label": "Search the texts", value: store.get("find"), on: { input: () => { const find = search.value; clearTimeout(typing); typing = setTimeout(() => store.set({ find }, { replace: store.get("find") !== "" }), 60); } } });
    const scopeBox = el("div.joined"), chips = el("div.chips"), subset = el("div.subset", { role: "status" }), panel = el("div.filters", { id: "filters" }), tools = el("div.joined");
    const detail = el("aside.detail", { "aria-label": "Segment", hidden: true });
    /** Incremented when the structure of rows changes. */
    let rowVersion = 0;
    /** Whether the texts are below the numbers. */
    let isNarrow = false;
    const header = el("div.row.head", { role: "row", "aria-rowindex": 1 });
    const list = new VirtualList({ label: "Segments", height: getRowHeight(), columns: 7, header, make: () => el("div.row", { role: "row" }), fill: (row, position) => fillRow(row, current.selectedSegments[position]),
      onMove: position => { if (store.get("seg") !== null) store.set({ seg: current.selectedSegments[position] + 1 }, { replace: true }); },
      onOpen: position => { store.set({ seg: current.selectedSegments[position] + 1 }); } });
    list.node.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => { if (e.key === "Enter" && e.target === list.node) detail.querySelector("h2")?.focus(); });
    const marks = new Highlights(context, () => { list.refill(); drawDetail(); });
    /** Number of visible characters per line. */
    let previewLength = MAX_PREVIEW_LENGTH;
    const emptyMessage = el("p.empty", { hidden: true }), progressText = el("span"), cancel = createButton("Cancel", () => { current.cancel(); search.focus(); }, { class: "small" });
    container.append(el("h1.unseen", {}, "Segments"),
      el("div.toolbar", {}, el("div.joined.find", {}, search, scopeBox), tools), panel, el("div.state", {}, chips, subset),
      el("div.split-view", {}, el("div.list", {}, list.node, emptyMessage), detail));
    const sortBox = () => /** @type {HTMLElement | null} */ (tools.querySelector("[aria-haspopup]"));
    activeList = { list, search, sort: () => sortBox()?.click(), filters: () => { store.set({ panel: !store.get("panel") }, { replace: true }); if (store.get("panel")) panel.querySelector("select, input")?.focus(); }, focus: () => list.node.focus() };
    new ResizeObserver(() => {
      const { node, active } = list, { clientWidth } = node;
      if (!clientWidth || isNarrow === clientWidth < MIN_WIDE_LIST) return;
      isNarrow = node.classList.toggle("narrow");
      resetList();
      list.go(active, false);
    }).observe(list.node);
    drawControls();
    drawPanel();
    drawHeader();
    drawSubset();
    resetList();
    drawDetail();
    return changed => {
      const hasChanged = (/** @type {string[]} */ keys) => keys.some(key => changed.has(key));
      if (hasChanged([...Object.keys(FILTERS), "sort", "panel", "lines", "a", "b", "setting", "texts"])) { drawControls(); drawChips(); }
      if (hasChanged(["panel", "a", "b", "setting"]) || (hasChanged(["range", "doc", "label", "flag", "outcome", "terms", "rule", "noted"]) && !panel.contains(document.activeElement))) drawPanel();
      if (changed.has("lines")) { list.height = getRowHeight(); resetList(); }
      if (changed.has("selection")) {
        // Open the first listed segment if the filters hide the open one.
        if (!detail.hidden && current.getPosition(store.get("seg") - 1) < 0) store.set({ seg: current.selectedSegments.length ? current.selectedSegments[0] + 1 : null }, { replace: true });
        drawHeader(); resetList(); drawChips();
      }
      if (hasChanged(["texts", "notes"])) list.refill();
      if (hasChanged(["subset", "selection"])) drawSubset();
      if (hasChanged(["seg", "mode", "against", "errors", "texts", "notes", "selection"])) drawDetail();
    };

    /** Return the lines of a row: role, mark and language. @returns {[string, any, string][]} */
    function getLines() {
      const lineKeys = String(store.get("lines"));
      /** @type {[string, any, string][]} */
      const rowTexts = [];
      if (data.hasSource && lineKeys.includes("s")) rowTexts.push(["source", el("span.mark-line", { title: "source" }, "src"), data.manifest.languages?.source ?? ""]);
      if (data.references && lineKeys.includes("r")) rowTexts.push(["reference", el("span.mark-line", { title: data.references > 1 ? "the reference closest to an output" : data.getTitle("reference0") }, "ref"), data.manifest.languages?.target ?? ""]);
      if (lineKeys.includes("a")) for (const s of current.comparedSystems) rowTexts.push([`system${s.index}`, renderBadge(s), data.manifest.languages?.target ?? ""]);
      return rowTexts;
    }

    function getRowHeight() { return (isNarrow ? getLines().length + 1 : Math.max(2, getLines().length)) * LINE_HEIGHT + 14; }

    /** Create the cells of a row, which are reused for other segments. @param {any} row */
    function createCells(row) {
      const { b } = current, cell = (/** @type {string} */ kind, /** @type {any} */ ...content) => el(`div.${kind}`, { role: "gridcell" }, content);
      const parts = row.parts = { shape: rowVersion, number: el("span"), doc: data.documents ? el("bdi") : null, a: cell("c-score"), b: b ? cell("c-score") : null, delta: b ? el("span") : null, influence: cell("c-influence"), ratio: current.hasColumn("ratio") ? cell("c-ratio") : null,
        lines: getLines().map(([role, mark, lang]) => ({ role, mark, text: el("span.preview", { dir: data.getDirection(role), lang: lang || null }) })) };
      replaceChildren(row, cell("c-number", parts.number, parts.doc ? el("span.doc", {}, parts.doc) : null), parts.a, parts.b, parts.delta ? cell("c-delta", parts.delta) : null, parts.influence, parts.ratio,
        cell("c-text", parts.lines.map(line => el("div.line", {}, line.mark, line.text))));
      row.style.height = `${list.height}px`;
      return parts;
    }

    /** @param {any} row @param {number} i */
    function fillRow(row, i) {
      const { a, b } = current, { documents } = data, parts = row.parts?.shape === rowVersion ? row.parts : createCells(row);
      parts.number.textContent = `${current.notes.getNote(i).bookmark ? "★ " : current.notes.notesBySegment.has(i) ? "• " : ""}${formatCount(i + 1)}`;
      if (documents) parts.doc.textContent = parts.doc.title = documents.names[documents.bySegment[i]];
      parts.a.textContent = formatScore(current.getScores(a)[i], 1);
      if (b) {
        const delta = current.getColumn("delta")[i];
        parts.b.textContent = formatScore(current.getScores(b)[i], 1);
        parts.delta.textContent = formatDelta(delta, 1);
        parts.delta.className = delta ? ((delta > 0) === current.metric.higherIsBetter ? "better" : "worse") : "soft";
      }
      parts.influence.textContent = formatDelta(current.getColumn("influence")[i], getInfluenceDigits());
      if (parts.ratio) parts.ratio.textContent = formatFixed(current.getColumn("ratio")[i], 2);
      for (const { role: kind, mark, text: place } of parts.lines) {
        const role = kind === "reference" ? findClosestReference(i) : kind;
        if (role !== kind && data.references > 1) mark.textContent = `ref ${Number(role.slice(9)) + 1} of ${data.references}`;
        const text = data.getText(role, i);
        place.classList.toggle("soft", !text);
        place.title = (text ?? "").slice(0, 1000);
        if (text) replaceChildren(place, renderPreview(text, marks.findSpans(role, i, text, { grams: true, terms: !!store.get("terms") }), previewLength, MAX_PREVIEW_LENGTH));
        else place.textContent = text === "" ? "(empty)" : text === null ? "(missing)" : data.manifest.serve ? "…" : "(not in this report)";
        if (role.startsWith("system")) place.prepend(...data.segmentMaps[Number(role.slice(6))]?.getFlags(i).map(flag => el("span.segment-flag", {}, flag)) ?? []);
      }
    }

    /** Return the role of the reference that is closest to the output of a compared system. @param {number} i */
    function findClosestReference(i) {
      // Letters of scripts without spaces are compared one by one.
      const split = (/** @type {string} */ role) => (data.getText(role, i) ?? "").slice(0, MAX_PREVIEW_LENGTH).split(/\s+|(?=\p{Lo})/u);
      const roles = data.roles.filter(role => role.startsWith("reference") && data.getText(role, i));
      return roles[roles.length > 1 ? diffWithClosest(current.comparedSystems.map(s => split(`system${s.index}`)), roles.map(split)).index : 0] ?? "reference0";
    }

    /** Return the number of digits needed to distinguish the largest influences. */
    function getInfluenceDigits() {
      return current.cached(`digits ${current.a.index} ${current.b?.index} ${current.id}`, () => {
        let maximum = 0;
        for (const x of current.getColumn("influence")) maximum = Math.max(maximum, Math.abs(x));
        return maximum ? Math.max(2, Math.min(6, Math.ceil(-Math.log10(maximum)) + 2)) : 2;
      });
    }

    function drawHeader() {
      const { a, b, sortKey: sort } = current;
      const createHeader = (/** @type {string} */ kind, /** @type {any} */ title, /** @type {string} */ name, /** @type {string} */ hint) => {
        const isSorted = sort.replace(/[-|]/g, "") === name, isDescending = sort[0] === "-";
        return el(`div.${kind}`, { role: "columnheader", "aria-sort": isSorted ? (isDescending ? "descending" : "ascending") : null },
          createButton([isSorted && sort.includes("|") ? ["|", title, "|"] : title, el("span.arrow", { "aria-hidden": "true" }, !isSorted ? "" : isDescending ? " ▼" : " ▲")], () => store.set({ sort: name === "number" || sort === name ? "number" : sort === `-${name}` ? name : `-${name}` }), { title: hint, tabindex: 0 }));
      };
      replaceChildren(header, createHeader("c-number", "#", "number", "Sort by number"), createHeader("c-score", renderBadge(a), "scoreA", `Sort by the score of ${a.letter} ${a.name}`), b ? createHeader("c-score", renderBadge(b), "scoreB", `Sort by the score of ${b.letter} ${b.name}`) : null,
        b ? createHeader("c-delta", "Δ", "delta", `Sort by the difference between the segment's scores, ${b.letter} − ${a.letter}`) : null, createHeader("c-influence", "Influence", "influence", b ? "Sort by how much the corpus Δ would decrease without the segment" : "Sort by how much the score would decrease without the segment"),
        current.hasColumn("ratio") ? createHeader("c-ratio", "Ratio", "ratio", "Sort by hypothesis length / reference length") : null, el("div.c-text", { role: "columnheader" }, "Text"));
      header.classList.toggle("single", !b);
    }

    /** Reset the list after a change of segments or order. */
    function resetList() {
      const { selectedSegments } = current, seg = store.get("seg"), place = seg === null ? -1 : current.getPosition(seg - 1);
      list.node.classList.toggle("single", !current.b);
      list.height = getRowHeight();
      rowVersion++;
      previewLength = Math.max(20, Math.floor((/** @type {HTMLElement} */ (header.lastElementChild).clientWidth - 40) / 8));
      list.node.scrollTop = 0;
      list.reset(selectedSegments.length, Math.max(0, place));
      if (place > 0) list.go(place, false);
      emptyMessage.hidden = selectedSegments.length > 0;
      replaceChildren(emptyMessage, current.problem ? `Cannot filter the segments: ${current.problem}.` : ["No segment matches these filters. ", createButton("Clear the filters", () => store.set({ ...FILTERS }))]);
    }

    function drawDetail() {
      const seg = store.get("seg"), isOpen = seg !== null && seg >= 1 && seg <= data.n && Number.isInteger(seg);
      const hasFocus = detail.contains(document.activeElement);
      detail.hidden = !isOpen;
      container.classList.toggle("open", isOpen);
      if (!isOpen) return;
      const top = detail.dataset.segment === String(seg) ? detail.firstElementChild?.scrollTop ?? 0 : 0;
      const buttonIndex = hasFocus ? [...detail.querySelectorAll("button")].indexOf(/** @type {any} */ (document.activeElement)) : -1;
      renderDetail(detail, context, marks, seg - 1, { close: () => { store.set({ seg: null }); list.node.focus(); }, go: step => {
        const position = current.getPosition(seg - 1), next = current.selectedSegments[position + step];
        if (next !== undefined) store.set({ seg: next + 1 }, { replace: true });
      } });
      if (hasFocus) /** @type {HTMLElement | null} */ (buttonIndex >= 0 ? detail.querySelectorAll("button")[buttonIndex] : detail.querySelector("h2"))?.focus({ preventScroll: true });
      if (detail.firstElementChild) detail.firstElementChild.scrollTop = top;
      detail.dataset.segment = String(seg);
      const place = current.getPosition(seg - 1);
      if (place >= 0 && place !== list.active) list.go(place, false);
    }

    function drawControls() {
      if (document.activeElement !== search && search.value !== store.get("find")) search.value = store.get("find");
      const focus = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset.tool;
      const roles = data.roles.map(role => /** @type {const} */ ([role, data.getTitle(role)]));
      replaceChildren(scopeBox, createSelect("Search in", [["all", "everywhere"], ...(data.references > 1 ? [/** @type {const} */ (["reference", "references"])] : []), ...(data.systems.length > 1 ? [/** @type {const} */ (["system", "systems"])] : []), ...roles], store.get("in"), value => store.set({ in: value }, { replace: true }), { data: { tool: "in" } }),
        createToggle("Aa", store.get("case"), () => store.set({ case: !store.get("case") }, { replace: true }), { title: "Match case", "aria-label": "Match case", data: { tool: "case" } }),
        createToggle(".*", store.get("regex"), () => store.set({ regex: !store.get("regex") }, { replace: true }), { title: "Regular expression", "aria-label": "Regular expression", data: { tool: "regex" } }));
      const { sortKey: sort } = current;
      replaceChildren(tools, createToggle("Filters", store.get("panel"), () => store.set({ panel: !store.get("panel") }, { replace: true }), { "aria-expanded": String(store.get("panel")), "aria-pressed": null, "aria-controls": "filters", title: "Filters (f)", data: { tool: "filters" } }),
        createMenu(["Sort: ", getSortTitle(current)], () => listOrders(current).map(key => ({ text: getSortTitle(current, key), on: key === sort, act: () => store.set({ sort: key }) })), { title: "Sort (s)", data: { tool: "sort" } }),
        createButton("Sample", () => store.set({ sample: Math.floor(Math.random() * 1e6) }), { title: `Draw ${SAMPLE_SIZE} segments at random (the top of a sorted list is not representative)`, data: { tool: "sample" } }));
      if (focus) /** @type {HTMLElement | null} */ (container.querySelector(`[data-tool="${focus}"]`))?.focus();
    }

    function drawChips() {
      const chip = (/** @type {any} */ text, /** @type {Record<string, any>} */ off) => createButton([text, el("span", { "aria-hidden": "true" }, " ✕")], () => store.set(off), { class: "chip", title: "Remove this filter" });
      const all = [], { manifest } = data, { a, b } = current, doc = store.get("doc"), [flag, role] = String(store.get("flag")).split("@");
      if (store.get("find")) all.push(chip(["“", el("bdi", {}, store.get("find")), "”", store.get("in") === "all" ? "" : ` in ${["reference", "system"].includes(store.get("in")) ? `${store.get("in")}s` : data.getTitle(store.get("in"))}`], { find: "" }));
      if (doc !== null) all.push(chip(["document ", el("bdi", {}, data.documents?.names[doc] ?? String(doc))], { doc: null }));
      const parts = String(store.get("label")).split(";").filter(Boolean);
      for (const part of parts) { const [k, v] = part.split(":").map(Number), label = data.labels[k]; if (label) all.push(chip([label.name, ": ", el("bdi", {}, label.values[v])], { label: parts.filter(p => p !== part).join(";") })); }
      if (flag) all.push(chip([manifest.health?.flags?.find((/** @type {any} */ f) => f.id === flag)?.title ?? flag, role ? ` (${data.getTitle(role)})` : ""], { flag: "" }));
      if (store.get("outcome") && b) all.push(chip({ a: [renderBadge(a), " better"], b: [renderBadge(b), " better"], tie: "same score", same: "same text" }[/** @type {"a"} */ (store.get("outcome"))], { outcome: "" }));
      if (current.split) all.push(chip(describeSplit(current.split, a, b), { split: "" }));
      for (const [name, low, high] of current.ranges) all.push(chip(`${getTitle(name)} ${formatRange(name, low, high)}`, { range: current.ranges.filter(r => r[0] !== name).map(r => r.join(":")).join(";").replaceAll("-Infinity", "").replaceAll("Infinity", "") }));
      if (store.get("holds")) all.push(chip(["contains “", el("bdi", {}, store.get("holds")), "”", ` in a reference, ${current.comparedSystems.map(s => s.letter).join(" or ")}`], { holds: "", mark: "" }));
      const { termFilter: wantedTerms } = current;
      if (current.noteKind) all.push(chip(NOTED_TITLES[current.noteKind], { noted: "" }));
      if (wantedTerms) all.push(chip([wantedTerms.term ? ["term “", el("bdi", {}, wantedTerms.term), "” "] : "a term ", getConditionTitle(wantedTerms.condition, a.letter, b?.letter)], { terms: "", term: "" }));
      if (current.rule) all.push(chip([RULE_TITLES[current.rule], ` in the ${getRuleRoles(data, current.rule)[0].replace(/\d+$/, "")}`], { rule: "" }));
      if (store.get("seen") !== null) all.push(chip(`${b ? "differ in" : "miss"} words with frequency ${formatFrequency(manifest.buckets?.frequency?.edges ?? [], store.get("seen"))}`, { seen: null }));
      if (store.get("only")) all.push(chip(store.get("about") || formatPlural(String(store.get("only")).split(",").length, "segment"), { only: "", about: "", part: false }));
      if (store.get("sample") !== null) all.push(chip("random sample", { sample: null }));
      if (all.length > 1) all.push(createButton("Clear", () => store.set({ ...FILTERS }), { class: "quiet small" }));
      const hasFocus = chips.contains(document.activeElement);
      replaceChildren(chips, all);
      if (hasFocus) /** @type {HTMLElement} */ (chips.querySelector("button") ?? search).focus();
    }

    function drawSubset() {
      const { subset: subsetScores, a, b, filterProgress: busy, problem } = current, { n } = data, selectedCount = current.selectedSegments.length;
      container.classList.toggle("busy", busy !== null);
      list.node.setAttribute("aria-busy", String(busy !== null));
      if (busy !== null) {
        progressText.textContent = `Searching …${busy ? ` ${Math.round(100 * busy)}%` : ""}`;
        // Do not recreate the button, which may have focus.
        if (cancel.parentNode !== subset) replaceChildren(subset, progressText, cancel);
        return;
      }
      if (problem) { replaceChildren(subset, el("strong", {}, `${problem[0].toUpperCase()}${problem.slice(1)}.`)); return; }
      const hasScores = subsetScores && subsetScores.count === selectedCount && !Number.isNaN(subsetScores.a);
      replaceChildren(subset, el("span", {}, el("strong", {}, formatCount(selectedCount)), selectedCount === n ? ` segment${n === 1 ? "" : "s"}` : ` of ${formatPlural(n, "segment")}`, current.seesAllTexts ? "" : ` (this report contains the texts of ${formatCount(data.manifest.embedded)} segments)`),
        hasScores ? [el("span", {}, renderBadge(a), " ", renderScore(subsetScores.a)), b && subsetScores.b !== null && subsetScores.delta !== null ? [el("span", {}, renderBadge(b), " ", renderScore(subsetScores.b)), el("span", {}, "Δ ", el("strong", {}, renderScore(subsetScores.delta, formatDelta(subsetScores.delta)))) ] : null,
          el("span.soft", {}, subsetScores.waiting ? ["interval …", subsetScores.share ? ` ${Math.round(100 * subsetScores.share)}% ` : "", subsetScores.share ? createButton("Cancel", () => current.worker.stop("bootstrap", "no interval: cancelled"), { class: "small quiet" }) : ""] : subsetScores.interval ? [el("span", { class: selectedCount < MIN_PRECISE_SEGMENTS ? "faint" : "" }, b ? formatScoreInterval(subsetScores.interval.low, subsetScores.interval.high) : formatScoreInterval(subsetScores.interval.low, subsetScores.interval.high, 2, false)), ` ${Math.round(100 * current.level)}%, ${subsetScores.interval.method}`, subsetScores.note ? `; ${subsetScores.note}` : ""] : subsetScores.note || "no interval")] : subsetScores ? el("span.soft", {}, subsetScores.note) : null);
    }

    function drawPanel() {
      panel.hidden = !store.get("panel");
      if (panel.hidden) { replaceChildren(panel); return; }
      const { manifest } = data, { a, b } = current, fields = [];
      const set = (/** @type {Record<string, any>} */ values) => store.set(values, { replace: true });
      if (b) fields.push(labelControl("Better", createSelect("Better", [["", "any"], ["a", `${a.letter} ${a.name}`], ["b", `${b.letter} ${b.name}`], ["tie", "same score"], ["same", "same text"]], store.get("outcome"), v => set({ outcome: v }))));
      if (data.documents) fields.push(labelControl("Document", createSelect("Document", [["", "any"], ...data.documents.names.map((name, i) => /** @type {const} */ ([String(i), name]))], store.get("doc") === null ? "" : String(store.get("doc")), v => set({ doc: v === "" ? null : Number(v) }))));
      data.labels.forEach((label, k) => {
        const parts = String(store.get("label")).split(";").filter(Boolean), selectedPart = parts.find(p => p.startsWith(`${k}:`));
        fields.push(labelControl(label.name, createSelect(label.name, [["", "any"], ...label.values.map((value, v) => /** @type {const} */ ([`${k}:${v}`, value]))], selectedPart ?? "", v => set({ label: [...String(store.get("label")).split(";").filter(p => p && !p.startsWith(`${k}:`)), v].filter(Boolean).join(";") }))));
      });
      const flags = manifest.health?.flags ?? [];
      if (flags.length) fields.push(labelControl("Data health", createSelect("Data health", [["", "any"], ...flags.map((/** @type {any} */ f) => [f.id, f.title])], String(store.get("flag")), v => set({ flag: v }))));
      const { glossary } = data;
      if (glossary) fields.push(labelControl("Terms", createSelect("Terms", [["", "any"], .../** @type {const} */ (["in", "used-a", "missed-a"]).map(asked => /** @type {[string, string]} */ ([asked, getConditionTitle(asked, a.letter)])), ...(b ? /** @type {const} */ (["used-b", "missed-b", "differ"]).map(asked => /** @type {[string, string]} */ ([asked, getConditionTitle(asked, a.letter, b.letter)])) : [])], current.termFilter?.condition ?? "", v => set({ terms: v, term: v ? store.get("term") : "" }))));
      fields.push(labelControl("Notes", createSelect("Notes", [["", "with or without notes"], ...Object.entries(NOTED_TITLES)], current.noteKind, v => set({ noted: v }))));
      if (!data.isRedacted) fields.push(labelControl("Contains", createSelect("Contains", [["", "anything"], ...Object.entries(RULE_TITLES)], current.rule, v => set({ rule: v }))));
      fields.push(el("div.field", {}, el("span", {}, "Lines"), el("span.checks", {}, /** @type {const} */ ([["s", "source", data.hasSource], ["r", "reference", data.references > 0], ["a", "systems", true]]).filter(([, , isAvailable]) => isAvailable).map(([key, name]) => createCheckbox(name, store.get("lines").includes(key), on => set({ lines: [..."sra"].filter(k => k === key ? on : store.get("lines").includes(k)).join("") || "a" }))))));
      const ranges = Object.keys(COLUMN_TITLES).filter(name => current.hasColumn(name)).map(name => createRangeField(name));
      replaceChildren(panel, el("div.fields", {}, fields), el("div.ranges", {}, ranges));
    }

    /** @param {string} name */
    function getTitle(name) { return getColumnTitle(current, name); }

    /** Create a histogram on which a range can be drawn, with two number fields. @param {string} name */
    function createRangeField(name) {
      const values = current.getColumn(name), W = 180, H = 34, BINS = 45;
      let low = Infinity, high = -Infinity;
      for (const v of values) { if (v < low) low = v; if (v > high) high = v; }
      if (!(low < high)) return null;
      // Ties have a separate bar, because they are neither small gains nor small losses.
      const bins = new Array(BINS).fill(0), separatesTies = name === "delta";
      let ties = 0;
      for (const v of values) if (separatesTies && v === 0) ties++; else if (!Number.isNaN(v)) bins[Math.min(BINS - 1, Math.floor(BINS * (v - low) / (high - low)))]++;
      const maximum = Math.sqrt(Math.max(ties, ...bins));
      const findRange = () => current.ranges.find(r => r[0] === name);
      const set = (/** @type {number} */ from, /** @type {number} */ to) => {
        const otherRanges = current.ranges.filter(r => r[0] !== name).map(r => r.join(":"));
        if (from > -Infinity || to < Infinity) otherRanges.push(`${name}:${from}:${to}`);
        store.set({ range: otherRanges.join(";").replaceAll("-Infinity", "").replaceAll("Infinity", "") }, { replace: true });
        drawRange();
      };
      const brush = svg("rect.brush", { y: 0, height: H });
      // Ranges in the URL are on the scale of the data.
      const factor = getColumnFactor(name), formatInput = (/** @type {number} */ v) => String(factor === 1 ? v : Number((v * factor).toPrecision(12)));
      const createInput = (/** @type {string} */ which) => el("input", { type: "number", step: "any", "aria-label": `${getTitle(name)}, ${which}`, placeholder: formatShortNumber((which === "from" ? low : high) * factor), on: { change: () => set(from.value === "" ? -Infinity : Number(from.value) / factor, to.value === "" ? Infinity : Number(to.value) / factor) } });
      const from = createInput("from"), to = createInput("to");
      const picture = svg("svg", { viewBox: `0 0 ${W} ${H}`, width: W, height: H, "aria-hidden": "true", class: "histogram" }, brush, bins.map((n, k) => n ? svg("rect", { x: k * W / BINS, width: W / BINS - 0.6, y: H - Math.max(1, H * Math.sqrt(n) / maximum), height: H }) : null), ties ? svg("rect.ties", { x: W * -low / (high - low) - 1.5, width: 3, y: H - H * Math.sqrt(ties) / maximum, height: H }) : null);
      let start = NaN;
      const getValueAt = (/** @type {PointerEvent} */ e) => { const box = picture.getBoundingClientRect(); return low + (high - low) * Math.max(0, Math.min(1, (e.clientX - box.left) / box.width)); };
      picture.addEventListener("pointerdown", (/** @type {PointerEvent} */ e) => { start = getValueAt(e); picture.setPointerCapture(e.pointerId); });
      picture.addEventListener("pointermove", (/** @type {PointerEvent} */ e) => { if (!Number.isNaN(start)) drawBrush(Math.min(start, getValueAt(e)), Math.max(start, getValueAt(e))); });
      picture.addEventListener("pointerup", (/** @type {PointerEvent} */ e) => {
        const end = getValueAt(e), [x, y] = [Math.min(start, end), Math.max(start, end)];
        start = NaN;
        // A click without dragging removes the range.
        if ((y - x) / (high - low) < 0.01) set(-Infinity, Infinity); else set(x <= low ? -Infinity : Number(x.toPrecision(3)), y >= high ? Infinity : Number(y.toPrecision(3)));
      });
      function drawBrush(/** @type {number} */ x, /** @type {number} */ y) {
        const getX = (/** @type {number} */ v) => W * Math.max(0, Math.min(1, (v - low) / (high - low)));
        brush.setAttribute("x", String(getX(x)));
        brush.setAttribute("width", String(Math.max(0, getX(y) - getX(x))));
      }
      function drawRange() {
        const r = findRange();
        from.value = r && r[1] > -Infinity ? formatInput(r[1]) : "";
        to.value = r && r[2] < Infinity ? formatInput(r[2]) : "";
        drawBrush(r ? r[1] : 0, r ? r[2] : r === undefined ? 0 : 1);
        if (!r) brush.setAttribute("width", "0");
      }
      drawRange();
      return el("fieldset.range", {}, el("legend", {}, getTitle(name)), picture, el("div", {}, from, " to ", to));
    }
  },
};

/** @param {Context["current"]} current @param {string} name */
function getColumnTitle(current, name) {
  const { a, b, metric } = current;
  return { scoreA: `${metric.name} of ${a.letter}`, scoreB: `${metric.name} of ${b?.letter}`, delta: "Δ", influence: "Influence", ratio: "Length ratio", length: "Reference length (tokens)" }[name] ?? getCountTitle(current, name);
}

/** Return the title of an order of the list, such as "-|delta|": descending absolute differences. @param {Context["current"]} current */
export function getSortTitle(current, key = current.sortKey) {
  const name = key.replace(/[-|]/g, ""), { a, b } = current;
  if (name === "number" || !current.hasColumn(name)) return "file order";
  if (key.includes("|")) return `largest |${getColumnTitle(current, name)}| first`;
  return `${name === "delta" ? `Δ (${b?.letter} − ${a.letter})` : getColumnTitle(current, name)}, ${key[0] === "-" ? "highest" : "lowest"} first`;
}

/** Return the orders of the sort menu. @param {Context["current"]} current */
function listOrders(current) {
  const worst = current.metric.higherIsBetter ? "" : "-";
  return ["-|delta|", "-delta", "delta", `${worst}scoreA`, `${worst}scoreB`, "-|influence|", "-influence", "influence", "-length", "length", "ratio", "-ratio", "number"].filter(key => current.hasColumn(key.replace(/[-|]/g, "")));
}

/** Describe a range of a column. @param {string} name @param {number} low @param {number} high */
function formatRange(name, low, high) {
  const [from, to] = [low, high].map(v => formatShortNumber(v * getColumnFactor(name)));
  return low === -Infinity ? `≤ ${to}` : high === Infinity ? `≥ ${from}` : `${from} to ${to}`;
}

/** Format the frequencies of a bin. @param {number[]} edges the lowest frequency of each bin @param {number} k */
export const formatFrequency = (edges, k) => edges[k + 1] === undefined ? `${formatCount(edges[k] ?? 0)} and more` : edges[k + 1] - 1 === edges[k] ? formatCount(edges[k]) : `${formatCount(edges[k])} to ${formatCount(edges[k + 1] - 1)}`;

/** Render the first segments of the list for printing. @param {Context} context */
export function renderPrintedSegments(context) {
  const { data, current } = context, printed = current.selectedSegments.slice(0, 20);
  return el("section.view", {}, el("h2", {}, `${printed.length} of ${formatPlural(current.selectedSegments.length, current.isUnfiltered ? "segment" : "filtered segment")}: ${getSortTitle(current)}`), [...printed].map(i => {
    const segment = data.getSegment(i), scores = current.comparedSystems.map(s => `${s.letter} ${formatScore(current.getScores(s)[i])}`);
    return el("article", {}, el("h3", {}, `${i + 1}: ${scores.join(", ")}`), [["Source", segment.source, "source"], ...segment.references.map((text, r) => [data.getTitle(`reference${r}`), text, "reference"]), ...current.comparedSystems.map(s => [`${s.letter} ${s.name}`, segment.hypotheses[s.index], "system", s])]
      .filter(([, text]) => typeof text === "string").map(([name, text, role, system]) => el("p", { dir: data.getDirection(/** @type {string} */ (role)) }, el("strong", {}, `${name}: `), renderMarks(/** @type {string} */ (text), [], 0, /** @type {string} */ (text).length, showInvisible, system ? placeErrors(data, i, [/** @type {any} */ (system)], false, /** @type {string} */ (text)) : []))));
  }));
}
