// Panel of one segment: texts with matches, differences or tokens, and the score calculation.
import {renderBadge, createButton, copyText, copyStateLink, el, renderNumber, formatFixed, createMenu, formatPlural, replaceChildren, renderTable, createToggle, showInvisible, formatScore, formatDelta, renderScore, getPointUnit} from "./dom.js";
import {BLANK, diffTokens, diffWithClosest, hasRun, matchTokens, locateTokens, findRuns} from "./tokens.js";
import {packTexts} from "./kernel.js";
import {renderNotes} from "./notes.js";
import {renderMarks} from "./highlights.js";
import {countsEdits} from "./metric.js";
import {buildRecipe} from "./kernel_client.js";
import {splitIntoUnits} from "./text_units.js";
import {listErrors, placeErrors, renderErrorList, renderMissing} from "./error_spans.js";

/** @typedef {import("./selection.js").Context} Context */
/** @typedef {import("./tokens.js").Tokens} Tokens */
/** @typedef {{role: string, label: any, text: string, tokens: Tokens, match: ReturnType<typeof matchTokens> | null, against: {name: string, keys: string[]}[]}} ShownText */

// Number of words, and of letters, of each neighbouring segment that are shown at the boundaries of
// a re-segmented text.
const NEIGHBOUR_WORDS = 6, NEIGHBOUR_LETTERS = 48;
const MODES = [["match", "Matches", "m", "Tokens shaded by the longest n-gram that matches"], ["diff", "Diff", "d", "Words found in the output of only one of the two systems"], ["ref", "Diff with reference", "", "Differences from the closest reference"], ["plain", "Plain", "", "Text without marks"], ["tokens", "Tokens", "t", "Tokens produced by the tokenizer"]];

/** Create a function that splits texts with the metric's tokenizer. `usesMetricTokens`: n-grams consist of these tokens. @param {Context} context */
function createSplitter({ data: { client: live }, current: { setting, metric } }) {
  const { parameters } = metric, currentSetting = { ...setting, parameters, recipe: buildRecipe(setting, parameters) }, letters = setting.metric === "chrF";
  return {
    letters, usesMetricTokens: letters || setting.countable && !countsEdits(setting.metric),
    split: (/** @type {string} */ text, /** @type {boolean} */ reference) => {
      const { tokens, characters } = splitIntoUnits(live, currentSetting, text, reference);
      // CER counts characters, but words are easier to read.
      return locateTokens(text, letters ? characters : setting.metric === "CER" ? text.split(BLANK).filter(Boolean) : tokens, currentSetting.recipe);
    },
  };
}

/** Return a segment's texts and scores for copying. @param {Context} context @param {number} i */
export function getSegmentRecord({ data, current }, i) {
  const { source, references, hypotheses } = data.getSegment(i), { documents } = data;
  return {
    segment: i + 1, ...(documents ? { document: documents.names[documents.bySegment[i]] } : {}), ...(data.hasSource ? { source: source ?? null } : {}), references,
    systems: data.systems.map((s, k) => ({ name: s.name, letter: s.letter, text: hypotheses[k] ?? null, score: current.getScores(s)[i], ...(data.errors ? { spans: listErrors(data, i, k, false), source_spans: listErrors(data, i, k, true) } : {}) })),
    metric: current.metric.name, signature: current.metric.signature,
  };
}

/** @param {Context} context @param {number} i @param {"text" | "Markdown" | "JSON"} form */
function formatSegment(context, i, form) {
  const copied = getSegmentRecord(context, i);
  if (form === "JSON") return JSON.stringify(copied, null, 1);
  const lines = [...(copied.source !== undefined ? [["Source", copied.source]] : []), ...copied.references.map((text, r) => [context.data.getTitle(`reference${r}`), text]),
    ...copied.systems.map(s => [`${s.letter} ${s.name} (${copied.metric} ${formatScore(s.score)})`, s.text])].filter(([, text]) => text !== null && text !== undefined);
  const head = `Segment ${copied.segment}${copied.document === undefined ? "" : `, ${copied.document}`}`;
  if (form === "text") return [head, ...lines.map(([name, text]) => `${name}: ${text}`), `${copied.metric}|${copied.signature}`].join("\n");
  const escapeMarkdownText = (/** @type {any} */ text) => String(text).replace(/[\\`*_{}[\]<>#|~&]/g, "\\$&").replace(/\s*\n\s*/g, " ");
  return [`**${escapeMarkdownText(head)}**`, "", ...lines.map(([name, text]) => `- ${escapeMarkdownText(name)}: ${escapeMarkdownText(text)}`), "", `\`${copied.metric}|${copied.signature.replaceAll("`", "")}\``].join("\n");
}

/** Render a segment in the panel. @param {HTMLElement} panel @param {Context} context @param {import("./highlights.js").Highlights} marks @param {number} i @param {{close: () => void, go: (step: number) => void}} acts */
export function renderDetail(panel, context, marks, i, acts) {
  const { data, store, current } = context, { a, b } = current, { documents } = data;
  const segment = data.getSegment(i), mode = !b && store.get("mode") === "diff" ? "ref" : store.get("mode");
  const splitter = createSplitter(context);
  const tokenInfo = el("p.token-info", { role: "status" });
  /** @type {ShownText[]} */
  const shownTexts = [];
  const top = el("header", {},
    el("h2", { tabindex: -1 }, `Segment ${i + 1}`, documents ? el("span.soft", {}, " ", el("bdi", {}, documents.names[documents.bySegment[i]])) : null),
    el("div.tools", {},
      createButton("‹", () => acts.go(-1), { class: "quiet", "aria-label": "Previous segment in the list", title: "Previous (k)" }),
      createButton("›", () => acts.go(1), { class: "quiet", "aria-label": "Next segment in the list", title: "Next (j)" }),
      context.back && segment.hypotheses[(b ?? a).index] !== undefined ? createButton(`Open ${(b ?? a).letter} in the playground`, () => context.back?.segment(context, i), { class: "quiet", title: `Show how the score of ${(b ?? a).name} is computed` }) : null,
      createMenu("Copy", () => [.../** @type {const} */ (["text", "Markdown", "JSON"]).map(form => ({ text: `as ${form}`, act: () => { copyText(formatSegment(context, i, form), `Copied as ${form}`); } })),
        { text: "Link to this segment", act: () => { copyStateLink(store); } }], { class: "quiet" }),
      createButton("✕", acts.close, { class: "quiet", "aria-label": "Close", title: "Close (Esc)" })));
  const modes = el("div.modes", { role: "group", "aria-label": "Marked text" }, MODES.filter(([id]) => b || id !== "diff").map(([id, title, key, hint]) =>
    createToggle(id === "diff" && b ? `Diff ${a.letter}–${b.letter}` : title, mode === id, () => store.set({ mode: id }, { replace: true }), { title: key ? `${hint} (${key})` : hint })),
    data.errors ? createToggle("Errors", store.get("errors"), () => store.set({ errors: !store.get("errors") }, { replace: true }), { title: "Error spans that annotators marked, on top of the other marks" }) : null);
  const texts = el("div.texts");
  if (data.isRedacted) texts.append(el("p.empty", {}, "This report was saved without texts. Scores and counts are complete."));
  else if (!segment.hasTexts) texts.append(el("p.empty", {}, `This report does not contain the text of this segment. It contains the texts of ${formatPlural(data.manifest.embedded, "segment")}: the most influential ones and an equal number chosen at random.`));
  else if (segment.hypotheses[0] === undefined) texts.append(el("p.empty", {}, "Loading texts …"));
  else drawTexts();
  replaceChildren(panel, el("div.scroll", { on: { mouseover: (/** @type {Event} */ event) => showTokenInfo(event.target, false), focusin: (/** @type {Event} */ event) => showTokenInfo(event.target, true), keydown: moveFocus } },
    top, modes, texts, renderNotes(current.notes, i), renderSteps(context, i), renderEdits(context, i)), tokenInfo);

  function drawTexts() {
    const references = segment.references.map((text, r) => ({ text, r })).filter(reference => reference.text !== null);
    const split = references.map(({ text, r }) => ({ name: data.getTitle(`reference${r}`), ...splitter.split(/** @type {string} */ (text), true), role: `reference${r}`, text: /** @type {string} */ (text) }));
    const orders = countsEdits(current.setting.metric) ? 1 : current.setting.metric === "chrF" ? current.metric.parameters.char_order : current.metric.parameters.max_order;
    const notes = [];
    if (segment.source !== null && segment.source !== undefined) texts.append(renderText("source", "Source", segment.source, null, [], null, ""));
    const matchSystem = store.get("against") === "a" || !b ? a : b;
    const hypotheses = data.systems.map((system, k) => ({ system, text: /** @type {string} */ (segment.hypotheses[k]), ...splitter.split(/** @type {string} */ (segment.hypotheses[k]), false) }));
    for (const reference of split) {
      const matchHypothesis = hypotheses[matchSystem.index];
      const against = [{ name: `${matchSystem.letter} ${matchSystem.name}`, keys: matchHypothesis.keys }];
      const label = [reference.name, b && (mode === "match" || mode === "ref") ? createButton(["compared with ", renderBadge(matchSystem)], () => store.set({ against: matchSystem === b ? "a" : "b" }, { replace: true }), { class: "quiet small", title: "Reference words found in this system's output. Click to switch systems." }) : null];
      const marked = mode === "ref" ? diffTokens(reference.keys, matchHypothesis.keys).a : null;
      texts.append(renderText(reference.role, label, reference.text, reference, against, marked, "missing"));
    }
    if (!references.length) notes.push("This segment has no reference in this report.");
    const order = b ? [a, b, ...data.systems.filter(s => s !== a && s !== b)] : data.systems;
    for (const system of order) {
      const hypothesis = hypotheses[system.index], score = current.getScores(system)[i];
      const length = splitter.letters ? formatPlural(hypothesis.keys.length, "character") : formatPlural(hypothesis.keys.length, "token");
      const label = [renderBadge(system, true), el("span.score", {}, renderScore(score), el("span.soft", {}, ` ${current.metric.name} · ${length}`))];
      let difference = null, kind = "only";
      if (mode === "diff" && b && (system === a || system === b)) difference = diffTokens(hypothesis.keys, hypotheses[system === a ? b.index : a.index].keys);
      else if (mode === "ref" && split.length) difference = diffWithClosest([hypothesis.keys], split.map(r => r.keys));
      if (difference?.isRough) notes.push(`${system.letter}: the texts are too long for an exact comparison. Everything between the common start and end is marked.`);
      if (mode === "ref") kind = "extra";
      texts.append(renderText(`system${system.index}`, label, hypothesis.text, hypothesis, split.map(r => ({ name: r.name, keys: r.keys })), difference?.a ?? null, `${kind} sys-${system.index % 6}`));
    }
    if (!splitter.usesMetricTokens && mode !== "plain" && mode !== "diff") notes.push(countsEdits(current.setting.metric) ? `${current.setting.metric} does not use n-grams. Words that also occur in a reference are marked.` : "The browser does not have this metric's tokenizer. Words separated by white space are shown instead.");
    if (mode === "match") texts.append(renderMatchLegend(splitter.letters, orders));
    for (const note of notes) texts.append(el("p.soft.note", {}, note));

    /**
     * @param {string} role @param {any} label @param {string} text @param {Tokens | null} tokens @param {{name: string, keys: string[]}[]} against
     * @param {boolean[] | null} marked @param {string} kind
     */
    function renderText(role, label, text, tokens, against, marked, kind) {
      const target = role === "source" ? data.manifest.languages?.source : data.manifest.languages?.target;
      const body = el("p.text", { dir: data.getDirection(role), lang: target ?? null, class: `${mode === "tokens" && tokens ? "split" : ""} ${/^system/.test(role) ? `sys-${Number(role.slice(6)) % 6}` : ""}` });
      const isSource = role === "source", isSystem = /^system/.test(role), errors = store.get("errors") && (isSource || isSystem) ? placeErrors(data, i, isSource ? current.comparedSystems : [data.systems[Number(role.slice(6))]], isSource, text) : [];
      if (errors.length) body.classList.add("with-errors");
      const places = marks.findSpans(role, i, text, { terms: true });
      const matches = mode === "match" && tokens ? matchTokens(tokens.keys, against.map(r => r.keys), orders) : null;
      if (!text) body.append(el("span.soft", {}, "(empty)"));
      else if (!tokens || mode === "plain" || ((mode === "diff" || mode === "ref") && !marked)) replaceChildren(body, renderMarks(text, places, 0, text.length, showInvisible, errors));
      else {
        const number = shownTexts.push({ role, label: data.getTitle(role), text, tokens, match: matches, against }) - 1;
        const getTokenClass = (/** @type {number} */ n) => matches ? (matches.level[n] ? `m${splitter.letters ? Math.ceil(4 * matches.level[n] / orders) : Math.min(4, matches.level[n])}` : "") + (matches.clipped[n] && role.startsWith("system") ? " clipped" : "")
          : marked?.[n] ? kind : "";
        const searchHits = findOccurrences(tokens.keys, String(store.get("mark")));
        replaceChildren(body, renderTokens(text, places, tokens, n => getTokenClass(n) + (searchHits.has(n) ? " sought" : ""), mode === "tokens", splitter.letters && mode !== "tokens" ? null : number, errors));
        if (!(splitter.letters && mode !== "tokens")) body.querySelector("[data-token]")?.setAttribute("tabindex", "0");
      }
      body.append(...renderMissing(errors).flat());
      const map = data.segmentMaps[/^system/.test(role) ? Number(role.slice(6)) : -1];
      if (map) { body.prepend(renderNeighbour(role, map, -1)); body.append(renderNeighbour(role, map, 1)); }
      return el("section", {}, el("h3", {}, label, map?.getFlags(i).map(flag => el("span.segment-flag", {}, flag))), body, renderErrorList(text, errors), renderMissedTerms(role));
    }
  }

  /** Render the words beyond a boundary of a re-segmented text. @param {string} role @param {import("./report_data.js").SegmentMap} map @param {number} step */
  function renderNeighbour(role, map, step) {
    const neighbour = map.getNeighbour(i, step), text = neighbour === null ? null : data.getText(role, neighbour);
    if (!text) return "";
    const words = text.trim().split(/(?<=\s)/), some = (step < 0 ? words.slice(-NEIGHBOUR_WORDS) : words.slice(0, NEIGHBOUR_WORDS)).join(""), letters = [...some];
    const shown = (step < 0 ? letters.slice(-NEIGHBOUR_LETTERS) : letters.slice(0, NEIGHBOUR_LETTERS)).join("").trim();
    return el("span.neighbour", { title: `segment ${/** @type {number} */ (neighbour) + 1}` }, step < 0 ? [shown === text.trim() ? "" : "… ", el("bdi", {}, shown), " │ "] : [" │ ", el("bdi", {}, shown), shown === text.trim() ? "" : " …"]);
  }

  /** Render the glossary terms that a system missed in this segment. @param {string} role */
  function renderMissedTerms(role) {
    const { glossary } = data, system = /^system(\d+)$/.exec(role)?.[1];
    const missed = !glossary || system === undefined ? [] : (glossary.termsBySegment.get(i) ?? []).filter(k => glossary.missed[k][Number(system)].includes(i));
    return missed.length ? el("p.soft.note", {}, "Missed terms: ", missed.map((k, n) => { const { source, targets } = /** @type {NonNullable<typeof glossary>} */ (glossary).terms[k]; return [n ? "; " : "", el("bdi", {}, source), " → ", targets.map((target, t) => [t ? " or " : "", el("bdi.missed-term", {}, target)])]; })) : null;
  }

  /** Show the counts and matches of a token. @param {EventTarget | null} target @param {boolean} focused */
  function showTokenInfo(target, focused) {
    const node = target instanceof Element ? /** @type {HTMLElement | null} */ (target.closest("[data-token]")) : null;
    if (!node) { if (!focused && !panel.querySelector("[data-token]:focus")) replaceChildren(tokenInfo); return; }
    const { tokens: { keys }, match: matches, against, label } = shownTexts[Number(node.dataset.text)], n = Number(node.dataset.token), token = keys[n];
    const countToken = (/** @type {string[]} */ all) => all.filter(other => other === token).length;
    const counts = against.map(r => [r.name, countToken(r.keys)]), maxCount = Math.max(0, ...counts.map(([, k]) => /** @type {number} */ (k)));
    const parts = [el("strong", {}, "“", el("bdi", {}, showInvisible(token)), "”"), ` in ${label}: ${countToken(keys)}×`];
    if (counts.length) parts.push(` · ${counts.map(([name, k]) => `${name}: ${k}×`).join(", ")}`);
    if (matches && /^system/.test(shownTexts[Number(node.dataset.text)].role)) parts.push(matches.clipped[n] ? ` · clipped to ${maxCount}×` : maxCount ? ` · counted at most ${maxCount}×` : " · no match");
    if (matches && matches.level[n] > 1) {
      const length = matches.level[n];
      for (let from = Math.max(0, n - length + 1); from <= n; from++) {
        const gram = keys.slice(from, from + length), names = gram.length === length ? against.filter(r => hasRun(r.keys, gram)).map(r => r.name) : [];
        if (names.length) { parts.push(` · part of a matching ${length}-gram: “`, el("bdi", {}, gram.join(" ")), `” (${names.join(", ")})`); break; }
      }
    }
    replaceChildren(tokenInfo, parts);
  }

  /** Move the focus between tokens with the arrow keys. @param {KeyboardEvent} event */
  function moveFocus(event) {
    const node = event.target instanceof Element ? /** @type {HTMLElement | null} */ (event.target.closest("[data-token]")) : null;
    if (!node || event.ctrlKey || event.altKey || event.metaKey) return;
    const all = /** @type {HTMLElement[]} */ ([.../** @type {Element} */ (node.closest("p")).querySelectorAll("[data-token]")]), index = all.indexOf(node);
    const back = getComputedStyle(node).direction === "rtl" ? 1 : -1;
    const next = { ArrowLeft: index + back, ArrowRight: index - back, Home: 0, End: all.length - 1 }[event.key];
    if (next === undefined || !all[next]) return;
    node.tabIndex = -1;
    all[next].tabIndex = 0;
    all[next].focus();
    event.preventDefault();
  }
}

/** Return the indices of tokens in occurrences of a space-separated token sequence. @param {string[]} keys @param {string} run */
function findOccurrences(keys, run) {
  const runTokens = run.split(" ");
  return new Set(run ? [...findRuns(keys, runTokens)].flatMap(firstToken => runTokens.map((_, k) => firstToken + k)) : []);
}

/**
 * Render a text with marked tokens. The space between two tokens of a longer match is marked, too.
 * @param {string} text @param {import("./highlights.js").Place[]} places other marks @param {Tokens} tokens @param {(n: number) => string} getTokenClass returns the CSS classes of a token
 * @param {boolean} isSeparated whether tokens are shown apart @param {number | null} number of the text, used to look up its tokens @param {import("./error_spans.js").PlacedError[]} errors
 */
function renderTokens(text, places, tokens, getTokenClass, isSeparated, number, errors) {
  /** @type {any[]} */
  const nodes = [];
  let position = 0, last = "";
  const { starts, ends, keys } = tokens, render = (/** @type {number} */ from, /** @type {number} */ to) => renderMarks(text, places, from, to, showInvisible, errors);
  for (let n = 0; n < starts.length; n++) {
    const start = Math.max(position, starts[n]), end = ends[n], kind = getTokenClass(n);
    const gap = text.slice(position, start);
    if (gap && isSeparated) nodes.push(el("span.gap", {}, showInvisible(gap.trim() ? gap : " ")));
    else if (gap) {
      // The classes "m2" < "m3" < "m4" sort by match length; a unigram match does not include the space.
      const joined = [last, kind].map(k => /m[2-4]/.exec(k)?.[0]), level = joined[0] && joined[1] ? joined.sort()[0] : null;
      nodes.push(level ? el("span", { class: `gap ${level}` }, render(position, start)) : render(position, start));
    }
    if (end > position) {
      const piece = isSeparated ? showInvisible(keys[n]) : render(start, end);
      if (number === null) {
        const previousNode = nodes[nodes.length - 1];
        if (kind && !gap && kind === last && previousNode?.append) previousNode.append(...piece.flat());
        else nodes.push(kind ? el("span", { class: `token ${kind}` }, piece) : piece);
      } else nodes.push(el(isSeparated ? "bdi" : "span", { class: `token ${kind}`, tabindex: -1, data: { token: String(n), text: String(number) } }, piece));
      position = end;
    }
    last = kind;
  }
  if (position < text.length && text.slice(position).trim()) nodes.push(render(position, text.length));
  return nodes;
}

/** @param {boolean} letters @param {number} orders */
function renderMatchLegend(letters, orders) {
  const names = letters ? [1, 2, 3, 4].map(k => { const from = Math.floor((k - 1) * orders / 4) + 1, to = Math.floor(k * orders / 4); return from < to ? `${from}–${to}` : String(to); }) : ["1", "2", "3", orders > 4 ? "4 and more" : "4"].slice(0, orders);
  return el("p.legend", {}, letters ? "Longest match, in characters: " : "Longest match, in tokens: ", names.map((name, k) => [el("span", { class: `token m${k + 1}` }, name), " "]), [el("span.token.clipped", {}, "clipped"), ": more frequent than in any reference"]);
}

/** Render the calculation of the segment's score. @param {Context} context @param {number} i */
function renderSteps({ current }, i) {
  const { b, setting, metric } = current, systems = current.comparedSystems;
  const steps = systems.map(s => metric.breakDown(current.getTable(s).row(i), true));
  const delta = b ? steps[1].value - steps[0].value : null;
  const head = [el("h3", {}, `Calculation of ${metric.name}`)];
  if (!steps[0].steps.length) return el("section.walk", {}, head, renderTable("Edits", [{ title: "Edits" }, ...systems.map(s => ({ title: renderBadge(s), number: true }))], [
    ...setting.metric !== "TER" ? [...setting.columns.map((name, n) => [name, ...steps.map(w => String(w.editCounts?.[n]))]), ["Score", ...steps.map(w => renderScore(w.value))]] :
    [["Edits", ...steps.map(w => String(w.hypothesis))], ["Reference words", ...steps.map(w => formatFixed(w.reference, 2))], [getPointUnit() === "0-1" ? "Edits per word" : "Edits per 100 words", ...steps.map(w => renderScore(w.value))]]], { quiet: true }));
  const notes = new Set(steps.flatMap((w, k) => w.steps.filter(s => s.note).map(s => `${systems[k].letter}, order ${s.order}: ${s.note}`)));
  const chrf = metric.kind === "chrF";
  const rows = steps[0].steps.map((first, n) => [chrf ? first.order.replace("c", "char. ").replace("w", "word ") : `${first.order}-grams`,
    ...steps.flatMap(w => { const s = w.steps[n]; return chrf ? [`${s.match}/${s.total}, ${s.match}/${s.reference}`, el("span", { class: s.isUsed ? "" : "soft" }, s.isUsed ? `${formatScore(s.precision, 1)}, ${formatScore(s.recall, 1)}` : "–")]
      : [`${s.match}/${s.total}`, s.isUsed ? renderScore(s.precision ?? 100, (s.note ? "≈ " : "") + formatScore(s.precision ?? 100)) : el("span.soft", {}, "–")]; })]);
  /** @type {any[][]} */
  const ends = chrf ? [] : [["Geometric mean", ...steps.flatMap(w => ["", renderScore(w.mean)])],
    ["Brevity penalty", ...steps.flatMap(w => [`c ${w.hypothesis}, r ${formatFixed(w.reference, w.reference % 1 ? 2 : 0)}`, renderNumber(w.brevity, formatFixed(w.brevity, 3))])]];
  ends.push(["Score", ...steps.flatMap(w => ["", el("strong", {}, renderScore(w.value))])]);
  return el("section.walk", {}, head, renderTable(`Calculation of the score of segment ${i + 1}`, [{ title: "Step" }, ...systems.flatMap(s => [{ title: renderBadge(s), number: true, hint: chrf ? "matches / hypothesis n-grams, matches / reference n-grams" : "matches / total" }, { title: getPointUnit() === "points" ? (chrf ? "P, R %" : "%") : chrf ? "P, R" : "precision", number: true }])], [...rows, ...ends], { quiet: true }),
    delta === null ? null : el("p", {}, "Δ ", renderScore(delta, formatDelta(delta)), " in this segment; influence on the corpus score: ", renderScore(current.getColumn("influence")[i], formatDelta(current.getColumn("influence")[i], 4)), "."),
    [...notes].map(text => el("p.soft.note", {}, text)));
}

const EDIT_LETTERS = /** @type {Record<string, string>} */ ({ match: "", substitution: "S", deletion: "D", insertion: "I" });

/** Render the edit operations for metrics that count edits. @param {Context} context @param {number} i */
function renderEdits({ data, current }, i) {
  const { setting } = current;
  if (!countsEdits(setting.metric)) return null;
  const box = el("section.edits", {}, el("h3", {}, "Edits"));
  if (!data.hasTexts(i) || !setting.countable || setting.metric === "CER") { box.append(el("p.soft", {}, "The alignment of this segment is not available here. Use ", el("code", {}, `truebleu.${setting.metric}().alignment(hypothesis, references)`), " in Python.")); return box; }
  const { kernel } = data.client, { references, hypotheses } = data.getSegment(i);
  for (const system of current.comparedSystems) {
    const place = el("div", {}, el("p", {}, renderBadge(system, true))), hypothesis = hypotheses[system.index];
    box.append(place);
    if (hypothesis === undefined) continue; // The panel is redrawn when the text arrives.
    try {
      const texts = [hypothesis, ...references], alignment = kernel.align(current.metric.handle, packTexts(texts), texts.length), words = [...alignment.hypothesis];
      for (const [start, length, target] of alignment.shifts) {
        const moved = words.splice(start, length);
        words.splice(target, 0, ...moved);
        place.append(el("p", {}, "shift “", el("bdi", {}, moved.join(" ")), `” by ${Math.abs(target - start)} to the ${target < start ? "left" : "right"}`));
      }
      place.append(el("p.alignment", { dir: data.getDirection("system") }, alignment.operations.map((/** @type {[string, number | null, number | null]} */ [kind, h, r]) =>
        el("span.pair", { class: kind, title: kind }, el("bdi", {}, h === null ? "∅" : alignment.hypothesis[h]), el("bdi", {}, r === null ? "∅" : alignment.reference[r]), el("span", {}, EDIT_LETTERS[kind] || "\u00A0")))));
    } catch (error) { place.append(el("p.soft", {}, `${/** @type {Error} */ (error).message}.`)); }
  }
  return box;
}
