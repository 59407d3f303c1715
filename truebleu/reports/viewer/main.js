// Application shell: navigation, selection of metric and systems, routing, theme, printing.
import {announce, renderBadge, createButton, el, replaceChildren, createSelect, createStateLink, createThemeButton, createTopBar, setScoreScale} from "./dom.js";
import {TaskThreads, METRIC_KEYS, SelectionState, FILTERS, browserStorage, NUMBER_KEYS, STATE} from "./selection.js";
import {ReportData} from "./report_data.js";
import {agreementView} from "./agreement.js";
import {bucketsView} from "./bins.js";
import {documentsView} from "./documents.js";
import {exportsView} from "./exports.js";
import {healthView} from "./data_checks.js";
import {ngramsView} from "./ngrams.js";
import {picturesView} from "./chart_views.js";
import {KeyboardShortcuts} from "./keys.js";
import {Notes, notesView} from "./notes.js";
import {UrlState} from "./url_state.js";
import {renderPrintedSegments, segmentsView} from "./segments.js";
import {summaryView} from "./summary.js";
import {termsView} from "./term_table.js";
import {whyView} from "./score_breakdown.js";

/** @typedef {import("./selection.js").Context} Context */
/** @typedef {(changed: Set<string>) => void} Update  receives the changed keys of the state, and "texts", "selection", "subset" */
/**
 * @typedef {object} View
 * @property {string} id
 * @property {string} title
 * @property {string} key  shortcut after g
 * @property {import("./url_state.js").State} [state]  the view's keys in the state, with their defaults
 * @property {(data: import("./report_data.js").ReportData) => string | number | null} [badge]
 * @property {(data: import("./report_data.js").ReportData) => boolean} [isEmpty]  whether the view has nothing to show, so that the navigation leaves it out
 * @property {(container: HTMLElement, context: Context) => void | Update} render  renders the view; a returned function handles changes, otherwise the view is rendered again
 * @property {boolean} [selected]  whether the view depends on the selected segments
 * @property {Record<string, {title: string, act: (context: Context) => void}>} [keys]  the view's shortcuts
 */

/** @type {View[]} In the order of the questions: which system wins, why, and where. */
const VIEWS = [summaryView, whyView, segmentsView, picturesView, agreementView, ngramsView, bucketsView, documentsView, termsView, healthView, notesView, exportsView];

export class App {
  /** @param {ReportData} data @param {import("./selection.js").Back | null} back link to the playground */
  constructor(data, back) {
    this.data = data;
    this.back = back;
    /** Removes the listeners of the window. */
    this.abortController = new AbortController();
    this.store = new UrlState();
    this.worker = new TaskThreads();
    const { comparison } = data.manifest;
    const a = Math.max(0, data.systems.findIndex(s => s.name === comparison.baseline));
    // Compare with the best other system by the first metric that ranks systems, regardless of the display order.
    const metric = comparison.metrics.find((/** @type {any} */ m) => comparison.systems.some((/** @type {any} */ s) => s.scores[m.name].rank !== null))?.name, getRank = (/** @type {number} */ i) => metric ? comparison.systems[i].scores[metric].rank ?? Infinity : i;
    const b = data.systems.map(s => s.index).filter(i => i !== a).sort((i, j) => getRank(i) - getRank(j))[0] ?? (a ? 0 : 1);
    this.store.declare({ ...STATE, a: data.systems[a].name, b: data.systems[b]?.name ?? "", setting: data.settings[0].id }, NUMBER_KEYS);
    for (const view of VIEWS) this.store.declare(view.state ?? {});
    this.current = new SelectionState(data, this.store, this.worker);
    this.current.notes = new Notes(data, () => this.store.notify(new Set(["notes"])));
    /** @type {Context} */
    this.context = { data, store: this.store, worker: this.worker, current: this.current, back };
    /** @type {Update | null} */
    this.update = null;
    this.shownViewId = "";
    this.listedViews = VIEWS.filter(view => !view.isEmpty?.(data));
    this.keys = new KeyboardShortcuts(this.context, () => this.view, this.listedViews);
    data.onArrival = problem => problem ? announce(problem) : this.store.notify(new Set(["texts"]));
  }

  get view() { return VIEWS.find(view => view.id === this.store.get("view")) ?? VIEWS[0]; }

  start() {
    this.nav = el("nav", { "aria-label": "Views" });
    this.bar = el("div.choices");
    this.notice = el("div.notice", { role: "status", hidden: true });
    this.progressText = el("span");
    this.cancel = createButton("Cancel", () => this.current.cancelCount());
    this.main = el("main", { id: "view", tabindex: -1 });
    const app = /** @type {HTMLElement} */ (document.getElementById("app"));
    replaceChildren(app,
      createTopBar(this.main, this.data.manifest.title, this.bar,
        el("div.tools", {}, this.back && createButton(this.back.text, this.back.act), createThemeButton(browserStorage.get("theme"), theme => browserStorage.set("theme", theme)), createButton("?", () => this.keys.showHelp(), { class: "quiet", "aria-label": "Help and keyboard", title: "Help and keyboard (?)" }))),
      this.nav, this.notice, this.main);
    this.store.read();
    this.store.subscribe(changed => this.handleChange(changed));
    this.current.recount();
    const { signal } = this.abortController;
    addEventListener("popstate", () => this.store.read(), { signal });
    addEventListener("hashchange", () => this.store.read(), { signal });
    addEventListener("beforeprint", () => this.print(), { signal });
    addEventListener("afterprint", () => document.getElementById("printed")?.remove(), { signal });
    addEventListener("keydown", event => this.keys.handleKey(event), { signal });
    app.hidden = false;
    /** @type {HTMLElement} */ (document.getElementById("static")).hidden = true;
    this.drawFrame();
    this.showView();
    this.current.applyFilters();
  }

  /** Remove all listeners, workers and running counts. */
  close() {
    this.abortController.abort();
    // Cancel a running count, because its texts will be released.
    this.current.countRun++;
    for (const { worker } of this.worker.threads.values()) worker.terminate();
    this.store.listeners.clear();
  }

  /** @param {Set<string>} changed */
  handleChange(changed) {
    const hasChanged = (/** @type {readonly string[]} */ keys) => keys.some(key => changed.has(key));
    // Not awaited: `recount` reports its errors.
    if (hasChanged(["setting", ...METRIC_KEYS])) this.current.recount();
    if (changed.has("counting")) { this.drawNotice(); return; }
    // Treat new counts like changed settings.
    if (changed.has("counts")) changed = new Set([...changed, ...METRIC_KEYS]);
    if (hasChanged(["setting", "a", "b", ...METRIC_KEYS])) this.current.cache.size > 60 && this.current.cache.clear();
    if (hasChanged(["setting", "a", "b", "view", ...METRIC_KEYS])) this.drawFrame();
    // Filter before drawing the view, to avoid drawing twice. Slow filters notify later.
    if (hasChanged([...Object.keys(FILTERS), ...(this.store.get("noted") ? ["notes"] : []), "sort", "setting", "a", "b", ...METRIC_KEYS])) this.current.applyFilters();
    if (this.view.id !== this.shownViewId) this.showView();
    else if (this.update) this.update(changed);
    else if (!hasChanged(["selection", "subset", "seg", "view"]) || changed.has("seg") || this.view.selected && (changed.has("selection") || this.current.filterProgress === 0)) this.redrawView();
  }

  /** Render the current view for the first time. */
  showView() {
    const { view } = this;
    const first = !this.shownViewId;
    this.shownViewId = view.id;
    this.main.className = `view ${view.id}`;
    this.main.setAttribute("aria-label", view.title);
    document.title = `${view.title} · ${this.data.manifest.title}`;
    replaceChildren(this.main);
    const isEmpty = view.isEmpty?.(this.data);
    this.update = isEmpty ? () => {} : view.render(this.main, this.context) ?? null;
    if (isEmpty) this.main.append(el("h1", {}, view.title), el("p.empty", {}, "This report has no data for this view."));
    if (!first) { this.main.scrollTop = 0; if (!this.nav.contains(document.activeElement)) this.main.focus({ preventScroll: true }); }
  }

  /** Render the view again and keep the focus, for views that do not update themselves. */
  redrawView() {
    const { main } = this, places = () => /** @type {HTMLElement[]} */ ([...main.querySelectorAll("button, select, input, a[href], [tabindex]")]);
    const focusIndex = places().indexOf(/** @type {HTMLElement} */ (document.activeElement)), top = main.scrollTop;
    replaceChildren(main);
    this.view.render(main, this.context);
    main.scrollTop = top;
    if (focusIndex >= 0) places()[focusIndex]?.focus({ preventScroll: true });
  }

  /** Draw the navigation, the selection of metric and systems, and the notice. */
  drawFrame() {
    const { data, store, current } = this, inNav = this.nav.contains(document.activeElement);
    replaceChildren(this.nav, this.listedViews.map(view => {
      const count = view.badge?.(data), isCurrent = view === this.view;
      return createStateLink(store, { view: view.id }, { "aria-current": isCurrent ? "page" : null, title: `g ${view.key}` }, view.title, count ? el("span.count", {}, String(count)) : null);
    }));
    const place = /** @type {HTMLElement | null} */ (this.nav.querySelector("[aria-current]"));
    if (inNav) place?.focus();
    // On narrow screens the navigation scrolls horizontally.
    place?.scrollIntoView({ block: "nearest", inline: "nearest" });
    const focus = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset.choice;
    const systems = data.systems.map(s => /** @type {const} */ ([String(s.index), `${s.letter} ${s.name}`]));
    const { a, b } = current;
    replaceChildren(this.bar,
      data.settings.length > 1 ? el("label", {}, el("span.soft", {}, "Metric "), createSelect("Metric", data.settings.map(s => [s.id, s.headline ? s.label : `${s.label} (also)`]), current.setting.id, id => store.set({ setting: id, ...store.getDefaults(METRIC_KEYS) }), { data: { choice: "metric" } })) : null,
      b ? [el("label", {}, renderBadge(a), createSelect("Baseline", systems, String(a.index), i => this.chooseSystems(Number(i), b.index), { title: a.name, data: { choice: "a" } })),
        createButton("⇄", () => current.swap(), { class: "quiet", "aria-label": "Swap the two systems", title: "Swap (x)", data: { choice: "swap" } }),
        el("label", {}, renderBadge(b), createSelect("Compared system", systems, String(b.index), i => this.chooseSystems(a.index, Number(i)), { title: b.name, data: { choice: "b" } }))] : null);
    if (focus) this.bar.querySelector(`[data-choice="${focus}"]`)?.focus();
    this.drawNotice();
  }

  /** Draw the notice above all views: unreported numbers, or a running count. */
  drawNotice() {
    const { store, current } = this, { metric, countProgress: counting } = current;
    const { unknownNames: unknown } = current, { comparedSystems: shown } = current;
    this.notice.hidden = current.isReported && counting === null && !unknown.length;
    if (counting !== null) {
      this.progressText.textContent = `Counting … ${Math.round(100 * counting)}%. The page shows the previous numbers until counting ends. `;
      // Do not recreate the button, which may have focus.
      if (this.cancel.parentNode !== this.notice) replaceChildren(this.notice, this.progressText, this.cancel);
      return;
    }
    replaceChildren(this.notice, unknown.length ? el("p", {}, "The URL names systems that are not in this report: ", unknown.map((name, k) => [k ? " and " : "", "“", el("bdi", {}, name), "”"]), ". Showing ", shown.map((s, k) => [k ? " and " : "", renderBadge(s, true)]), " instead. ",
      createButton("Keep these", () => store.set({ a: current.a.name, b: current.b?.name ?? "" }, { replace: true }))) : null, current.isReported ? null : [
      el("strong", {}, metric.isReported ? "This metric is not part of the comparison. " : "This is not the reported score. "), el("code", {}, `${metric.name}|${metric.signature}`), " ",
      createButton("Reset", () => store.set(store.getDefaults(["setting", ...METRIC_KEYS])))]);
  }

  /** @param {number} a @param {number} b */
  chooseSystems(a, b) {
    const { current, store, data } = this;
    if (a === b) [a, b] = a === current.a.index ? [/** @type {any} */ (current.b).index, a] : [b, current.a.index];
    store.set({ a: data.systems[a].name, b: data.systems[b].name });
  }

  /** Prepare the printed page: the summary, the score breakdown and the first segments. */
  print() {
    document.getElementById("printed")?.remove();
    const sheet = el("div", { id: "printed" });
    for (const id of ["summary", "why"]) {
      const view = VIEWS.find(candidate => candidate.id === id);
      if (!view) continue;
      const part = el("section.view");
      view.render(part, this.context);
      sheet.append(part);
    }
    sheet.append(renderPrintedSegments(this.context));
    document.body.append(sheet);
  }
}

/** @param {unknown} error */
export function showFailure(error) {
  const text = error instanceof Error ? error.message : String(error);
  document.body.prepend(el("p.failed", { role: "alert" }, "Cannot start the interactive report: ", text, ". The summary below is complete."));
}

/** Show a report. @param {ReportData} data @param {import("./selection.js").Back | null} [back] link to the playground */
export function openReport(data, back = null) {
  setScoreScale(data.manifest.scale);
  const app = new App(data, back);
  app.start();
  document.documentElement.dataset.ready = "yes";
  return app;
}
