// Drop zone: assigns roles to the user's files, selects metrics and builds a report.
import {announce, createButton, createCheckbox, formatCount, el, replaceChildren, createSelect, renderTable} from "./dom.js";
import {readColumns, readDroppedFile} from "./dropped_files.js";
import {buildReport, describeMismatch} from "./report_builder.js";

/** @typedef {import("./dropped_files.js").DroppedFile} Dropped */

/** @type {[string, string][]} */
const FILE_ROLES = [["system", "system"], ["reference", "reference"], ["source", "source"], ["documents", "documents"], ["out", "not used"]];
/** @type {[string, string][]} */
const TAB_LAYOUTS = [["whole", "whole lines"], ["header", "columns, named in the first line"], ["plain", "columns without names"]];

/** Drop zone for files, with their roles and the metrics of the report. */
export class DropZone {
  /**
   * @param {any} manifest @param {import("./kernel_client.js").KernelClient} kernelClient
   * @param {() => {metric: string, overrides: Record<string, any>, scale: number}} getPlaygroundState returns the metric, its parameters and the scale of the playground @param {(made: import("./report_data.js").ReportData) => void} onReport
   */
  constructor(manifest, kernelClient, getPlaygroundState, onReport) {
    this.manifest = manifest;
    this.client = kernelClient;
    this.getPlaygroundState = getPlaygroundState;
    this.onReport = onReport;
    /** @type {Dropped[]} */
    this.files = [];
    /** Messages about unreadable files. @type {string[]} */
    this.problems = [];
    /** @type {Set<string>} */
    this.metrics = new Set(["bleu", "chrf"]);
    /** Progress from 0 to 1, or null if no report is being built. @type {number | null} */
    this.progress = null;
    this.node = el("section.tray", { "aria-labelledby": "tray-title" });
    this.input = el("input.unseen", { type: "file", multiple: true, tabindex: -1, "aria-label": "Files with references and system outputs", on: { change: () => { this.addFiles([...this.input.files]); this.input.value = ""; } } });
  }

  chooseFiles() { this.input.click(); }

  /** @param {File[]} files */
  async addFiles(files) {
    this.problems = [];
    for (const file of files) {
      try {
        const dropped = await readDroppedFile(file), index = this.files.findIndex(other => other.name === dropped.name);
        if (index >= 0) this.files[index] = dropped; else this.files.push(dropped);
      } catch (error) { this.problems.push(/** @type {Error} */ (error).message); }
    }
    this.draw();
    this.node.scrollIntoView({ block: "nearest" });
    if (!this.problems.length && files.length) announce(`${formatCount(files.length)} ${files.length === 1 ? "file" : "files"} read`);
    const targets = [".make button:enabled", "tbody select", ".drop button"].map(place => /** @type {HTMLElement | null} */ (this.node.querySelector(place)));
    targets.find(Boolean)?.focus({ preventScroll: true });
  }

  get columns() { return this.files.flatMap(file => file.columns); }

  draw() {
    const { files, columns } = this, mismatch = files.length ? describeMismatch(columns) : "";
    const focus = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset.tray, hasTabs = files.some(file => file.tabs !== "whole" || file.lines[0].includes(9));
    const row = (/** @type {import("./dropped_files.js").FileColumn} */ column, /** @type {Dropped} */ file, /** @type {number} */ i) => [
      [el("bdi", {}, column.name), column.number !== null && !column.name.startsWith(file.name) ? el("span.soft", {}, " in ", el("bdi", {}, file.name)) : null, i ? null : [" ", createButton("Remove", () => { this.files = files.filter(other => other !== file); this.draw(); }, { class: "quiet small", "aria-label": `Remove ${file.name}`, data: { tray: `${file.name} out` } })]], formatCount(column.lines.length),
      createSelect(`Role of ${column.name}`, FILE_ROLES, column.role, part => { column.role = /** @type {any} */ (part); this.draw(); }, { data: { tray: `${file.name} ${i}` } }),
      ...(hasTabs ? [!i && (file.tabs !== "whole" || file.lines[0].includes(9)) ? createSelect(`Format of ${file.name}`, TAB_LAYOUTS, file.tabs, tabs => this.readAs(file, /** @type {any} */ (tabs)), { data: { tray: `${file.name} tabs` } }) : null] : [])];
    const { metric: chosenMetric, overrides } = this.getPlaygroundState();
    const boxes = this.manifest.metrics.filter((/** @type {any} */ candidate) => ["bleu", "chrf", "ter", "wer", "cer"].includes(candidate.id) || candidate.id === chosenMetric).map((/** @type {any} */ candidate) => {
      const overrideText = candidate.id === chosenMetric ? Object.entries(overrides).map(([name, value]) => `${name}=${value}`).join(", ") : "";
      return createCheckbox(overrideText ? `${candidate.name} with ${overrideText}` : candidate.name, this.metrics.has(candidate.id), on => { if (on) this.metrics.add(candidate.id); else this.metrics.delete(candidate.id); this.draw(); });
    });
    const hasNoMetrics = ![...this.metrics].length;
    replaceChildren(this.node, el("h2", { id: "tray-title" }, "Files"), this.input,
      el("div.drop", {}, el("p", {}, "Drop references and system outputs here, one segment per line: plain text, .gz, or .tsv with a header. The report is built in this page; no data leaves it."), createButton("Choose files", () => this.chooseFiles(), { data: { tray: "choose" } })),
      this.problems.length ? el("div.failed", { role: "alert" }, this.problems.map(text => el("p", {}, text))) : null,
      files.length ? [
        renderTable("Files and their roles", [{ title: "File" }, { title: "Lines", number: true }, { title: "Role" }, ...(hasTabs ? [{ title: "Format" }] : [])], files.flatMap(file => file.columns.map((column, i) => row(column, file, i))), { quiet: true }),
        el("fieldset.metrics", {}, el("legend", {}, "Metrics"), boxes),
        mismatch ? el("p.failed", { role: "alert" }, mismatch) : null,
        el("p.make", {}, this.progress === null ? createButton("Create report", () => this.makeReport(), { class: "main", disabled: !!mismatch || hasNoMetrics, data: { tray: "make" } }) : [el("span", { role: "status" }, `Counting … ${Math.round(100 * this.progress)}% `), createButton("Cancel", () => { this.progress = null; this.draw(); }, { data: { tray: "make" } })], hasNoMetrics ? el("span.soft", {}, " Choose a metric.") : null),
      ] : null);
    if (focus) [...this.node.querySelectorAll("[data-tray]")].find((/** @type {any} */ one) => one.dataset.tray === focus)?.focus();
  }

  /** @param {Dropped} file @param {Dropped["tabs"]} tabs */
  readAs(file, tabs) {
    this.problems = [];
    try { file.columns = readColumns(file, tabs); file.tabs = tabs; } catch (error) { this.problems.push(/** @type {Error} */ (error).message); }
    this.draw();
  }

  async makeReport() {
    const { metric, overrides, scale } = this.getPlaygroundState(), choices = this.manifest.metrics.filter((/** @type {any} */ one) => this.metrics.has(one.id)).map((/** @type {any} */ base) => ({ base, overrides: base.id === metric ? overrides : {} }));
    this.progress = 0;
    this.problems = [];
    this.draw();
    try {
      const report = await buildReport({ ...this.manifest, scale }, this.client, this.columns.filter(column => column.role !== "out"), choices, async share => {
        if (this.progress === null) return false;
        this.progress = share;
        this.draw();
        await new Promise(done => setTimeout(done));
        return this.progress !== null;
      });
      this.progress = null;
      if (report) this.onReport(report);
    } catch (error) { this.problems.push(/** @type {Error} */ (error).message); }
    this.progress = null;
    if (this.node.isConnected) this.draw();
  }
}
