// Entry point of the playground (`truebleu lab`): scores sentences and builds reports from the user's files.
import {readPage} from "./report_data.js";
import {createButton, el, replaceChildren, createThemeButton, createTopBar} from "./dom.js";
import {KernelClient} from "./kernel_client.js";
import {showFailure, openReport} from "./main.js";
import {Playground, CONTROL_NAMES} from "./playground.js";
import {DropZone} from "./drop_zone.js";

/** Page with the playground, the drop zone and the reports built from files. */
class PlaygroundPage {
  /** @param {any} manifest @param {KernelClient} client */
  constructor(manifest, client) {
    this.manifest = manifest;
    this.client = client;
    /** The report that is open. @type {import("./main.js").App | null} */
    this.report = null;
    this.theme = "auto";
    this.app = /** @type {HTMLElement} */ (document.getElementById("app"));
    this.playground = new Playground(manifest, client);
    this.dropZone = new DropZone(manifest, client, () => this.playground.state, made => this.showReport(made));
    // A link to other sentences was opened in this tab.
    addEventListener("hashchange", () => { if (!this.report) this.playground.loadLink(); });
    addEventListener("dragover", event => { event.preventDefault(); this.app.classList.add("over"); });
    addEventListener("dragleave", event => { if (!event.relatedTarget) this.app.classList.remove("over"); });
    addEventListener("drop", event => {
      event.preventDefault();
      this.app.classList.remove("over");
      const files = [...(event.dataTransfer?.files ?? [])];
      if (!files.length) return;
      if (this.report) this.closeReport();
      this.dropZone.addFiles(files);
    });
  }

  /** Show a report in place of the playground. @param {import("./report_data.js").ReportData} data */
  showReport(data) {
    clearHash();
    this.app.className = "";
    this.report = openReport(data, { text: "Playground", act: () => this.closeReport(), segment: (context, i) => this.loadSegment(context, i) });
  }

  /** Load a segment of the report into the playground. @param {import("./selection.js").Context} context @param {number} i */
  loadSegment({ data, current }, i) {
    const { source, references, hypotheses } = data.getSegment(i), { setting, metric, a, b } = current, matchingMetric = this.playground.metrics.find(candidate => candidate.metric === setting.metric);
    if (!matchingMetric) return;
    const overrides = Object.fromEntries(Object.entries(metric.parameters).filter(([name, value]) => name in CONTROL_NAMES && value !== null && value !== matchingMetric.parameters[name]));
    this.playground.state = { metric: matchingMetric.id, overrides, hypothesis: hypotheses[(b ?? a).index] ?? "", references: references.filter(text => text !== null), source: source ?? "", scale: data.manifest.scale };
    this.playground.pinned = null;
    this.closeReport();
  }

  /** Return to the playground in its previous state. */
  closeReport() {
    this.report?.close();
    this.report = null;
    this.client.forgetTexts();
    clearHash();
    this.drawFrame();
    /** @type {HTMLElement | null} */ (this.app.querySelector("#view"))?.focus();
  }

  start() {
    this.drawFrame();
    this.app.hidden = false;
    /** @type {HTMLElement} */ (document.getElementById("static")).hidden = true;
    document.documentElement.dataset.ready = "yes";
  }

  drawFrame() {
    const main = el("main.view.lab", { id: "view", tabindex: -1, "aria-label": "Playground" });
    const theme = createThemeButton(this.theme, next => { this.theme = next; });
    this.app.className = "lab";
    document.title = this.manifest.title;
    replaceChildren(this.app, createTopBar(main, this.manifest.title, el("div.tools", {}, createButton("Choose files", () => this.dropZone.chooseFiles()), theme)), main);
    this.playground.render(main);
    this.dropZone.draw();
    main.append(this.dropZone.node);
  }
}

/** Clear the URL fragment, so that neither the playground nor a report reads it. */
function clearHash() {
  try { history.pushState(null, "", "#"); } catch { /* Frames without a URL have no history. */ }
}

(async () => {
  const { manifest, read } = readPage(), { kernel, lowercase } = manifest.live;
  new PlaygroundPage(manifest, await KernelClient.start(await read(kernel), await read(lowercase))).start();
})().catch(showFailure);
