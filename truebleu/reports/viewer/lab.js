// The start of the laboratory: the viewer with nothing in it, and what a reader brings.
import {ofPage} from "./report_data.js";
import {button, el, replace, themeButton, topBar} from "./dom.js";
import {Live} from "./kernel_client.js";
import {failed, opened} from "./main.js";
import {Bench, CONTROL_NAMES} from "./playground.js";
import {Tray} from "./drop_zone.js";

/** The laboratory's frame, around the bench. */
class Laboratory {
  /** @param {any} manifest @param {Live} live */
  constructor(manifest, live) {
    this.manifest = manifest;
    this.live = live;
    /** The report that is open. @type {import("./main.js").App | null} */
    this.report = null;
    this.theme = "auto";
    this.app = /** @type {HTMLElement} */ (document.getElementById("app"));
    this.bench = new Bench(manifest, live);
    this.tray = new Tray(manifest, live, () => this.bench.typed, made => this.open(made));
    // A link to other sentences, opened in this tab.
    addEventListener("hashchange", () => { if (!this.report) this.bench.follow(); });
    addEventListener("dragover", event => { event.preventDefault(); this.app.classList.add("over"); });
    addEventListener("dragleave", event => { if (!event.relatedTarget) this.app.classList.remove("over"); });
    addEventListener("drop", event => {
      event.preventDefault();
      this.app.classList.remove("over");
      const files = [...(event.dataTransfer?.files ?? [])];
      if (!files.length) return;
      if (this.report) this.close();
      this.tray.add(files);
    });
  }

  /** Shows a report in the place of the bench. @param {import("./report_data.js").Data} data */
  open(data) {
    leaveAddress();
    this.app.className = "";
    this.report = opened(data, { text: "Laboratory", act: () => this.close(), segment: (context, i) => this.take(context, i) });
  }

  /** Works a segment of the report through. @param {import("./selection.js").Context} context @param {number} i */
  take({ data, current }, i) {
    const { source, references, hypotheses } = data.segment(i), { setting, metric, a, b } = current, base = this.bench.metrics.find(one => one.metric === setting.metric);
    if (!base) return;
    const chosen = Object.fromEntries(Object.entries(metric.parameters).filter(([name, value]) => name in CONTROL_NAMES && value !== null && value !== base.parameters[name]));
    this.bench.typed = { metric: base.id, chosen, hypothesis: hypotheses[(b ?? a).index] ?? "", references: references.filter(text => text !== null), source: source ?? "" };
    this.bench.pinned = null;
    this.close();
  }

  /** Back to the bench, with everything as it was left. */
  close() {
    this.report?.close();
    this.report = null;
    this.live.forgetTexts();
    leaveAddress();
    this.frame();
    /** @type {HTMLElement | null} */ (this.app.querySelector("#view"))?.focus();
  }

  start() {
    this.frame();
    this.app.hidden = false;
    /** @type {HTMLElement} */ (document.getElementById("static")).hidden = true;
    document.documentElement.dataset.ready = "yes";
  }

  frame() {
    const main = el("main.view.lab", { id: "view", tabindex: -1, "aria-label": "Laboratory" });
    const theme = themeButton(this.theme, next => { this.theme = next; });
    this.app.className = "lab";
    document.title = this.manifest.title;
    replace(this.app, topBar(main, this.manifest.title, el("div.tools", {}, button("Choose files", () => this.tray.choose()), theme)), main);
    this.bench.render(main);
    this.tray.draw();
    main.append(this.tray.node);
  }
}

/** An address of which neither the bench nor a report takes anything; frames without an address keep what they have. */
function leaveAddress() {
  try { history.pushState(null, "", "#"); } catch { /* then not */ }
}

(async () => {
  const { manifest, read } = ofPage(), { kernel, lowercase } = manifest.live;
  new Laboratory(manifest, await Live.start(await read(kernel), await read(lowercase))).start();
})().catch(failed);
