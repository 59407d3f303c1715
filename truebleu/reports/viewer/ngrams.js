// N-grams view: n-grams that one system matches more often, produces too often, or misses.
import {renderBadge, formatCount, el, renderNumber, createMoreButton, formatPlural, replaceChildren, formatSigned, renderTable, createToggle, showInvisible} from "./dom.js";
import {linkSegments} from "./svg_charts.js";
import {countAllTexts} from "./selection.js";
import {createNgramTest} from "./ngram_filter.js";

/** @typedef {{order: number, tokens: string[], matched: number[], produced: number[], reference: number, log_odds: number, z: number, segments: number[]}} ListedNgram */

/** @typedef {{a: number, b: number | null, lists: Record<string, ListedNgram[]>}} Pair */
/** @typedef {import("./selection.js").Context} Context */

/** Lists of n-grams: title, name of the measure, explanation of the log-odds, and measure. @type {Record<string, [string, string, string, (g: ListedNgram) => number]>} */
const NGRAM_LISTS = {
  difference: ["Difference in matches", "Δ matched", "", g => g.matched[1] - g.matched[0]],
  over: ["Produced too often", "too many", "produced vs. reference", g => Math.max(...g.produced.map((h, k) => h - g.matched[k]))],
  missed: ["Missing", "missing", "reference vs. produced", g => g.reference - Math.max(...g.matched)],
};
const NGRAM_ROWS = 100, NGRAM_SEGMENTS = 50;

/** @type {import("./main.js").View} */
export const ngramsView = {
  id: "ngrams", title: "N-grams", key: "n", state: { grams: "difference", order: 0, gram: "", by_gram: "", rows: NGRAM_ROWS },
  isEmpty: data => !data.manifest.ngrams,
  render(container, context) {
    const { data, store, current } = context, { ngrams } = data.manifest;
    const search = el("input", { type: "search", "aria-label": "Search the n-grams", placeholder: "Search", value: store.get("gram"), on: { input: () => store.set({ gram: search.value, rows: NGRAM_ROWS }, { replace: true }) } });
    const tabs = el("div.tabs"), place = el("div", { role: "status" });
    container.append(el("h1", {}, "N-grams"), el("p.facts", {}, `Tokens of ${ngrams.label}${ngrams.lowercase ? ", in lower case" : ""}${ngrams.segments < data.n ? `, in the first ${formatCount(ngrams.segments)} segments` : ""}. Click an n-gram to see ${data.isRedacted || !createNgramTest(data, "") ? "examples" : "all segments"} with it.`), tabs, place);
    /** Computed lists by pair of systems, or error messages. @type {Map<string, Pair | string>} */
    const pairLists = current.cached("lists of n-grams", () => new Map());
    draw();
    return changed => { if (["a", "b", "grams", "order", "gram", "by_gram", "rows"].some(key => changed.has(key))) draw(); };

    function draw() {
      const { a, b } = current, systems = current.comparedSystems, findPair = (/** @type {number} */ x, /** @type {number | null} */ y) => ngrams.pairs?.find((/** @type {any} */ p) => p.a === x && p.b === y);
      const computedPair = !ngrams.block ? pairLists.get(`${a.index} ${b?.index}`) : null;
      if (!ngrams.block && (!computedPair || typeof computedPair === "string")) {
        replaceChildren(tabs);
        replaceChildren(place, el("p.empty", {}, computedPair ?? "Counting n-grams …"));
        if (!computedPair) requestLists(context, a.index, b?.index ?? null).then(pair => pairLists.set(`${a.index} ${b?.index}`, pair), error => pairLists.set(`${a.index} ${b?.index}`, `Cannot count the n-grams: ${error.message}.`)).then(() => { if (place.isConnected) draw(); });
        return;
      }
      const directPair = /** @type {Pair | undefined} */ (computedPair) ?? findPair(a.index, b?.index ?? null), pair = directPair ?? findPair(b?.index ?? -1, a.index);
      const kinds = Object.keys(NGRAM_LISTS).filter(kind => pair?.lists[kind]), kind = kinds.includes(store.get("grams")) ? store.get("grams") : kinds[0];
      if (!kind) { replaceChildren(tabs); replaceChildren(place, el("p.empty", {}, `This report has no n-gram lists for ${systems.map(s => s.letter).join(" and ")}.`)); return; }
      const [title, measure, oddsHint, getMeasure] = NGRAM_LISTS[kind], order = store.get("order"), query = store.get("gram").toLowerCase(), focused = /** @type {HTMLElement | null} */ (document.activeElement);
      const all = /** @type {HTMLElement[]} */ ([...container.querySelectorAll("button, a, select")]), focusIndex = focused ? all.indexOf(focused) : -1;
      // Reverse a pair that was counted in the opposite order.
      const allNgrams = /** @type {ListedNgram[]} */ (pair.lists[kind]).map(g => ({ ...g, matched: directPair ? g.matched : [...g.matched].reverse(), produced: directPair ? g.produced : [...g.produced].reverse(), ...(kind === "difference" && directPair ? { log_odds: -g.log_odds, z: -g.z } : {}) }));
      const grams = allNgrams.filter(g => (!order || g.order === order) && (!query || g.tokens.join(" ").toLowerCase().includes(query)));
      /** @type {[string, import("./dom.js").Children, string, (g: ListedNgram) => number, ((x: number) => any)?][]} */
      const numbers = [["measure", measure, kind === "difference" ? `matches of ${b?.letter} minus matches of ${a.letter}, clipped to the reference counts` : "", getMeasure, kind === "difference" ? x => renderNumber(x, formatSigned(x, 0)) : formatCount],
        ...systems.map((s, k) => /** @type {[string, any, string, (g: ListedNgram) => number]} */ ([`m${k}`, [renderBadge(s), " matched"], `by ${s.name}`, g => g.matched[k]])),
        ...systems.map((s, k) => /** @type {[string, any, string, (g: ListedNgram) => number]} */ ([`h${k}`, [renderBadge(s), " produced"], `by ${s.name}`, g => g.produced[k]])),
        ["reference", "reference", "largest count in a reference", g => g.reference], ["odds", "log-odds", `${oddsHint || `${b?.letter} vs. ${a.letter}`}; the prior is estimated from all n-grams`, g => g.log_odds, x => renderNumber(x, formatSigned(x))], ["z", "z", "log-odds in standard deviations; values above 2 or below −2 are unlikely to occur by chance", g => g.z, x => renderNumber(x, formatSigned(x, 1))]];
      // By default, sort by surprise (z), not by frequency, which would put commas first.
      const sort = String(store.get("by_gram")), sortColumn = numbers.find(([id]) => id === sort.replace("-", "")) ?? numbers[numbers.length - 1], isDescending = sort[0] !== "-";
      const getValue = sortColumn[3], getSortValue = sortColumn[0] === "measure" || sortColumn[0] === "z" && kind === "difference" ? (/** @type {ListedNgram} */ g) => Math.abs(getValue(g)) : getValue;
      grams.sort((x, y) => (isDescending ? 1 : -1) * (getSortValue(y) - getSortValue(x)));
      const shownNgrams = grams.slice(0, store.get("rows")), set = (/** @type {any} */ values) => store.set({ rows: NGRAM_ROWS, ...values }, { replace: true });
      replaceChildren(tabs, el("div.joined", { role: "group", "aria-label": "List" }, kinds.map(id => createToggle(NGRAM_LISTS[id][0], id === kind, () => set({ grams: id })))),
        el("div.joined", { role: "group", "aria-label": "Order" }, [0, ...Array.from({ length: ngrams.orders }, (_, i) => i + 1)].map(n => createToggle(n ? `${n}-grams` : "All", n === order, () => set({ order: n })))), search);
      replaceChildren(place, el("p.soft", {}, `${shownNgrams.length < grams.length ? `The first ${formatCount(shownNgrams.length)} of ` : ""}${formatPlural(grams.length, "n-gram")}${grams.length < allNgrams.length ? ` of ${formatCount(allNgrams.length)}` : ""}. ${computedPair ? `For each order, the list has the ${formatCount(ngrams.limit)} n-grams whose counts differ most.` : `The report has at most ${formatCount(ngrams.limit)} n-grams per order.`}`),
        grams.length ? renderTable(title, [{ title: "N-gram" }, ...numbers.map(([id, name, hint]) => ({ title: name, hint, number: true, sort: () => set({ by_gram: sortColumn[0] === id && isDescending ? `-${id}` : id }), sorted: sortColumn[0] === id ? /** @type {"ascending"} */ (isDescending ? "descending" : "ascending") : null })), ...(computedPair ? [] : [{ title: "examples", hint: "example segments", number: true }])],
          shownNgrams.map(g => [linkSegments(context, el("bdi.gram", {}, showInvisible(g.tokens.join(" "))), getSegmentFilter(data, g), "Show the segments"),
            ...numbers.map(([, , , getCellValue, renderCell = formatCount]) => renderCell(getCellValue(g))), ...(computedPair ? [] : [g.segments.length < NGRAM_SEGMENTS ? formatCount(g.segments.length) : `first ${NGRAM_SEGMENTS}`])]), { quiet: true }) : el("p.empty", {}, "No n-gram matches these filters."),
        createMoreButton(store, "rows", grams.length));
      if (focused === search) search.focus();
      else if (focusIndex >= 0) /** @type {HTMLElement | undefined} */ (container.querySelectorAll("button, a, select")[focusIndex])?.focus({ preventScroll: true });
    }
  },
};

/** Compute the lists of one or two systems in a worker. @param {Context} context @param {number} a @param {number | null} b @returns {Promise<Pair>} */
async function requestLists({ data }, a, b) {
  const { orders, limit } = data.manifest.ngrams, { lists } = await countAllTexts(data, { words: false, orders, pair: [a, b], limit });
  return { a, b, lists };
}

/** Return the filter for segments with an n-gram, or for examples if the browser does not have the tokenizer. @param {import("./report_data.js").ReportData} data @param {ListedNgram} g */
function getSegmentFilter(data, { tokens, segments }) {
  const gram = tokens.join(" ");
  return createNgramTest(data, gram) ? { holds: gram, mark: gram } : { only: segments.map(i => i + 1).join(","), about: `examples with “${gram}”`, part: true, mark: gram };
}
