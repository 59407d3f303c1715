// The start of the laboratory: the viewer with nothing in it, and what a reader brings.
import {unpack} from "./data.js";
import {button, el, replace} from "./dom.js";
import {Kernel} from "./kernel.js";
import {Live} from "./live.js";
import {failed} from "./main.js";
import {Bench} from "./bench.js";

const THEMES_OF_LAB = ["auto", "light", "dark"];

/** The laboratory's frame, around the bench. */
class Laboratory {
  /** @param {any} manifest @param {Live} live */
  constructor(manifest, live) {
    this.manifest = manifest;
    this.live = live;
    this.theme = "auto";
    this.app = /** @type {HTMLElement} */ (document.getElementById("app"));
    this.bench = new Bench(manifest, live);
  }

  start() {
    this.frame();
    this.app.hidden = false;
    /** @type {HTMLElement} */ (document.getElementById("static")).hidden = true;
    document.documentElement.dataset.ready = "yes";
  }

  frame() {
    const main = el("main.view.lab", { id: "view", tabindex: -1, "aria-label": "Laboratory" });
    const theme = button("", () => { this.theme = THEMES_OF_LAB[(THEMES_OF_LAB.indexOf(this.theme) + 1) % 3]; show(); }, { class: "quiet" });
    const show = () => {
      document.documentElement.dataset.theme = this.theme;
      replace(theme, "◐○●"[THEMES_OF_LAB.indexOf(this.theme)]);
      theme.title = `Theme: ${this.theme}`;
      theme.setAttribute("aria-label", theme.title);
    };
    show();
    this.app.className = "lab";
    document.title = this.manifest.title;
    replace(this.app, el("header.top", {}, el("a.skip", { href: "#view", on: { click: (/** @type {Event} */ e) => { e.preventDefault(); main.focus(); } } }, "Skip to the content"), el("p.title", {}, this.manifest.title), el("div.tools", {}, theme)), main);
    this.bench.render(main);
  }
}

(async () => {
  const manifest = JSON.parse(document.getElementById("manifest")?.textContent ?? "null");
  if (!manifest) throw new Error("the page has no data");
  const block = (/** @type {string} */ name) => unpack(document.querySelector(`script[data-block="${name}"]`)?.textContent ?? "");
  const [binary, lowercase] = await Promise.all([block(manifest.live.kernel), block(manifest.live.lowercase)]);
  const kernel = await Kernel.load(/** @type {BufferSource} */ (binary));
  kernel.lowercase(lowercase);
  new Laboratory(manifest, new Live(kernel)).start();
})().catch(failed);
