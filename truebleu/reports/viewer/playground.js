// Two sentences, scored while they are typed: what was counted, and the formula with the numbers in it.
import {button, checkbox, copy, count, el, exact, field, fixed, plural, replace, select, table, visible} from "./dom.js";
import {countsEdits} from "./metric.js";
import {COUNTED, SMOOTHING, TOKENIZERS} from "./kernel_client.js";
import {scoredTexts, settledBy} from "./sentence_scores.js";
import {EXAMPLES} from "./examples.js";
import {commandLine, pythonLine} from "./repro_commands.js";

/** @typedef {import("./report_data.js").Setting} Setting */
/** @typedef {import("./sentence_scores.js").Scored} Scored */
/** @typedef {{metric: string, chosen: Record<string, any>, hypothesis: string, references: string[], source: string}} Typed */

/** Of long texts so many tokens are shown. */
const UNITS_SHOWN = 1500;
/** Texts of more characters are scored when the typing pauses for so many milliseconds. */
const LONG_TEXT = 5000, PAUSE = 300;
/** So many n-grams of an order are shown at once. */
const GRAMS_SHOWN = 16;
/** Smoothing that the kernel has, in words. @type {[string, string][]} */
const SMOOTHINGS = [["exp", "exp (½, ¼, … of a match)"], ["floor", "floor (a fixed part of a match)"], ["add-k", "add-k (to all but 1-grams)"], ["none", "none"]];
/** How parameters are called here. @type {Record<string, string>} */
export const CONTROL_NAMES = { tokenize: "Tokenizer", smoothing: "Smoothing", smoothing_value: "Its value", max_order: "Longest n-gram", effective_order: "Orders without n-grams", char_order: "Characters, up to", word_order: "Words, up to", beta: "β",
  lowercase: "lower-case first", whitespace: "white space counts", normalized: "split off punctuation", no_punct: "delete punctuation", asian_support: "split Chinese and Japanese", case_sensitive: "case counts" };
/** Numbers, and their ends. @type {Record<string, [number, number]>} */
const CONTROL_ENDS = { max_order: [1, 16], char_order: [0, 20], word_order: [0, 16], beta: [0, 100], smoothing_value: [0, 1000] };
const SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉";
const subscriptOf = (/** @type {number} */ n) => [...String(n)].map(digit => SUBSCRIPTS[Number(digit)]).join("");

/** The place where sentences are scored. */
export class Bench {
  /** @param {any} manifest @param {import("./kernel_client.js").Live} live */
  constructor(manifest, live) {
    /** @type {(Setting & {options: Record<string, string>, python: string})[]} */
    this.metrics = manifest.metrics;
    this.live = live;
    /** @type {Typed} */
    this.typed = readLink(location.hash) ?? typedOf(EXAMPLES[0]);
    /** @type {Scored | null} */
    this.result = null;
    /** What is pointed at, and what was clicked: an order, or an n-gram of it. @type {{order: string, gram: string | null} | null} */
    this.pointed = null;
    /** @type {{order: string, gram: string | null} | null} */
    this.pinned = null;
    /** What the keyboard has come to. @type {Element | null} */
    this.focused = null;
    this.clicking = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.pause = undefined;
    /** @type {Set<string>} Orders of which all n-grams are shown. */
    this.whole = new Set();
  }

  /** The setting that is chosen, before its parameters. */
  get base() { return this.metrics.find(one => one.id === this.typed.metric) ?? this.metrics[0]; }

  /** @param {HTMLElement} main */
  render(main) {
    this.settings = el("div.settings");
    this.inputs = el("div.inputs");
    this.score = el("section.score-box", { "aria-labelledby": "score-title" });
    this.tables = el("section.gram-tables");
    this.again = el("section.again");
    this.problem = el("p.failed", { role: "alert", hidden: true });
    const examples = el("p.examples", {}, el("span.soft", {}, "Start from: "), EXAMPLES.map(one => [button(one.title, () => { this.typed = typedOf(one); this.pinned = null; this.draw(); }, { class: "chip" }), " "]));
    this.bench = el("div.bench", { on: {
      mouseover: (/** @type {Event} */ e) => this.point(e.target), mouseout: () => this.point(null),
      // What a click gives the focus to is marked by the click.
      pointerdown: () => { this.clicking = true; }, keydown: () => { this.clicking = false; },
      focusin: (/** @type {Event} */ e) => { this.focused = this.clicking ? null : /** @type {Element} */ (e.target); this.point(null); }, focusout: () => { this.focused = null; this.point(null); } } },
      el("div.sides", {}, el("div.side", {}, this.inputs), el("div.side", {}, this.score)), this.tables, this.again);
    replace(main, el("h1", {}, "Watch a score being made"),
      el("p.facts", {}, "Type a translation and what it should have been. Everything is counted in this page; nothing leaves this machine. Whole files, dropped anywhere here, become a report."),
      examples, this.settings, this.problem, this.bench);
    this.draw();
  }

  /** All of it: another example, metric or number of references. */
  draw() {
    this.whole.clear();
    this.drawSettings();
    this.drawInputs();
    this.compute();
  }

  /** Takes what the address says, if it says anything. */
  follow() {
    const typed = readLink(location.hash);
    if (!typed) return;
    this.typed = typed;
    this.pinned = null;
    this.draw();
  }

  /** @param {string} name @param {any} value */
  choose(name, value) {
    const own = this.base.parameters[name], { chosen } = this.typed;
    if (value === own) delete chosen[name];
    else chosen[name] = value;
    if (name === "smoothing") { delete chosen.smoothing_value; this.drawSettings(name); }
    this.compute();
  }

  /** @param {string} [focus] the parameter whose control had it */
  drawSettings(focus) {
    const { base, typed } = this, p = { ...base.parameters, ...typed.chosen };
    const own = (/** @type {string} */ name, /** @type {any} */ control) => field(CONTROL_NAMES[name], control);
    const number = (/** @type {string} */ name, /** @type {number} */ value) => own(name, el("input", { type: "number", name, value: String(value), min: CONTROL_ENDS[name][0], max: CONTROL_ENDS[name][1], step: name === "smoothing_value" || name === "beta" ? "any" : 1, "aria-label": CONTROL_NAMES[name],
      on: { input: (/** @type {any} */ e) => { const x = e.target.valueAsNumber, [least, most] = CONTROL_ENDS[name]; e.target.setAttribute("aria-invalid", String(!(x >= least && x <= most && e.target.validity.valid))); if (x >= least && x <= most && e.target.validity.valid) this.choose(name, x); } } }));
    const controls = [field("Metric", select("Metric", this.metrics.map(one => [one.id, one.name.replace(/^chrF2$/, "chrF")]), base.id, id => { this.typed = { ...this.typed, metric: id, chosen: {} }; this.pinned = null; this.draw(); /** @type {any} */ (this.settings).querySelector("select")?.focus(); }))];
    for (const name of Object.keys(CONTROL_NAMES)) {
      if (!(name in base.parameters)) continue;
      if (name === "tokenize") controls.push(own(name, select(CONTROL_NAMES[name], TOKENIZERS.map(one => [one, one]), p.tokenize, value => this.choose(name, value), { name })));
      else if (name === "smoothing") controls.push(own(name, select(CONTROL_NAMES[name], SMOOTHINGS, p.smoothing, value => this.choose(name, value), { name })));
      else if (name === "smoothing_value") { if (SMOOTHING[p.smoothing] !== null) controls.push(number(name, p.smoothing_value ?? SMOOTHING[p.smoothing])); }
      else if (name === "effective_order") controls.push(own(name, select(CONTROL_NAMES[name], [["", "left out, as for sentences"], ["no", "count as 0, as for corpora"]], p.effective_order === false ? "no" : "", value => this.choose(name, value === "no" ? false : null), { name })));
      else if (name in CONTROL_ENDS) controls.push(number(name, p[name]));
      else if (name in COUNTED) controls.push(checkbox(CONTROL_NAMES[name], p[name] === true, on => this.choose(name, on)));
    }
    replace(this.settings, controls);
    if (focus) this.settings.querySelector(`[name="${focus}"]`)?.focus();
  }

  drawInputs() {
    const { typed } = this, { references } = typed;
    /** @type {any[]} */
    const lines = this.lines = [];
    const box = (/** @type {string} */ label, /** @type {string} */ value, /** @type {(text: string) => void} */ typing, /** @type {any} */ beside = null, split = true) => {
      const line = el("p.text.split.tokens", { dir: "auto" });
      if (split) lines.push(line);
      return el("section.typed", {}, el("div.head", {}, el("h2", {}, label), beside), el("textarea", { "aria-label": label, rows: 2, spellcheck: "false", dir: "auto", value, on: { input: (/** @type {any} */ e) => { typing(e.target.value); this.soon(); } } }), split ? line : null);
    };
    const again = (/** @type {number} */ focus) => { this.drawInputs(); this.compute(); this.inputs.querySelectorAll("textarea")[focus]?.focus(); };
    replace(this.inputs,
      box("Translation", typed.hypothesis, text => { typed.hypothesis = text; }),
      references.map((value, r) => box(references.length > 1 ? `Reference ${r + 1}` : "Reference", value, text => { references[r] = text; }, references.length > 1 ? button("Remove", () => { references.splice(r, 1); again(Math.max(0, r)); }, { class: "quiet small", "aria-label": `Remove reference ${r + 1}` }) : null)),
      el("p.more", {}, button("Add a reference", () => { references.push(""); again(references.length); }, { class: "small" })),
      el("details.source", { open: !!typed.source }, el("summary", {}, "Source, to read beside them"), box("Source", typed.source, text => { typed.source = text; }, null, false)));
  }

  /** Scores what is being typed: at once, or what is long in the next pause. */
  soon() {
    const { hypothesis, references } = this.typed;
    clearTimeout(this.pause);
    if (hypothesis.length + references.join("").length < LONG_TEXT) this.compute();
    else this.pause = setTimeout(() => this.compute(), PAUSE);
  }

  /** Scores what there is. */
  compute() {
    const { base, typed } = this;
    clearTimeout(this.pause);
    try {
      const setting = settledBy(this.live, base, typed.chosen, typed.references.length, true);
      this.result = scoredTexts(this.live, setting, typed.hypothesis, typed.references);
      this.problem.hidden = true;
    } catch (error) {
      this.result = null;
      this.problem.hidden = false;
      this.problem.textContent = /** @type {Error} */ (error).message;
    }
    this.bench.hidden = !this.result;
    if (!this.result) return;
    if (this.pinned && !this.result.orders.some(order => order.name === this.pinned?.order)) this.pinned = null;
    this.drawTokens();
    this.drawScore();
    this.drawGrams();
    this.drawAgain();
    this.mark();
  }

  // ---- tokens ----

  drawTokens() {
    const { result } = this;
    if (!result) return;
    const characters = result.setting.metric === "CER" || (result.setting.metric === "chrF" && !result.setting.parameters.word_order);
    [result.hypothesis, ...result.references].forEach((side, i) => {
      const line = this.lines?.[i], units = characters ? side.characters : side.tokens;
      line.dataset.of = characters ? "characters" : "tokens";
      replace(line, units.length ? units.slice(0, UNITS_SHOWN).map((unit, n) => [el("bdi.token", { data: { unit: String(n) } }, visible(unit)), " "]) : el("span.soft", {}, "no tokens"), units.length > UNITS_SHOWN ? "… " : null, el("span.soft.much", {}, plural(units.length, characters ? "character" : "token")));
    });
  }

  /** Marks what was matched, and of that what is pointed at. */
  mark() {
    const { result } = this, on = this.pointed ?? this.pinned;
    if (!result) return;
    const names = result.orders.map(order => order.name);
    this.lines?.forEach((line, side) => {
      /** @type {HTMLElement[]} */
      const nodes = [...line.querySelectorAll("[data-unit]")], level = nodes.map(() => 0), sought = nodes.map(() => false), clipped = nodes.map(() => false);
      const reference = side - 1;
      for (const order of result.orders) {
        if (order.of !== line.dataset.of || (side && result.best >= 0 && result.best !== reference)) continue;
        const numbers = order.numbers[side], wanted = on?.order === order.name ? on.gram : undefined, one = typeof wanted === "string" ? order.grams.find(gram => JSON.stringify(gram.gram) === wanted) : null;
        for (let at = 0; at < Math.min(numbers.length, nodes.length); at++) {
          const gram = order.known.get(numbers[at]);
          if (!gram || !gram.counted) continue;
          // It is the first ones that count.
          const counts = side > 0 || at <= gram.at[gram.counted - 1];
          for (let k = at; k < Math.min(at + order.size, nodes.length); k++) {
            if (counts) level[k] = Math.max(level[k], order.size); else if (order.size === 1) clipped[k] = true;
            if (wanted === null ? counts : gram === one) sought[k] = true;
          }
        }
      }
      nodes.forEach((node, n) => { node.className = `token ${level[n] ? `m${Math.min(4, level[n])}` : ""} ${clipped[n] ? "clipped" : ""} ${sought[n] ? "sought" : ""}`; });
    });
    for (const node of this.bench.querySelectorAll("[data-order]")) {
      const same = !!on && node.dataset.order === on.order && names.includes(on.order);
      node.classList.toggle("pointed", same && (on.gram === null || !node.dataset.gram || node.dataset.gram === on.gram));
      if (node.matches("button")) node.setAttribute("aria-pressed", String(this.pinned?.order === node.dataset.order && (this.pinned?.gram ?? null) === (node.dataset.gram ?? null)));
    }
  }

  /** @param {EventTarget | null} target */
  point(target) {
    // What the pointer leaves gives way to what has the focus.
    const place = target instanceof Element ? target.closest("[data-order]") : null;
    const node = /** @type {HTMLElement | null} */ (place ?? this.focused?.closest("[data-order]") ?? null);
    const pointed = node ? { order: node.dataset.order ?? "", gram: node.dataset.gram ?? null } : null;
    if (JSON.stringify(pointed) === JSON.stringify(this.pointed)) return;
    this.pointed = pointed;
    this.mark();
  }

  /** Something that can be pointed at, and clicked to stay so. @param {string} tag @param {string} order @param {string | null} gram @param {any} children @param {Record<string, any>} [props] */
  pointable(tag, order, gram, children, props = {}) {
    const act = () => {
      const same = this.pinned?.order === order && this.pinned.gram === gram;
      this.pinned = same ? null : { order, gram };
      this.mark();
    };
    return el(tag, { type: "button", "aria-pressed": "false", data: gram === null ? { order } : { order, gram }, ...props, on: { click: act } }, children);
  }

  // ---- the score and its formula ----

  drawScore() {
    const { result } = this;
    if (!result) return;
    const { setting, value } = result, kind = setting.metric;
    const body = kind === "BLEU" ? this.bleu(result) : kind === "chrF" ? this.chrf(result) : this.edits(result);
    replace(this.score, el("h2", { id: "score-title" }, setting.name), el("p.big", { role: "status", "aria-live": "polite" }, exact(value)), setting.higher_is_better ? null : el("p.soft", {}, "Lower is better: it counts what is wrong."), body);
  }

  /** @param {Scored} result */
  bleu({ setting, value, walk: { steps, hypothesis, reference, brevity, mean } }) {
    const used = steps.filter(step => step.counts), root = used.length;
    const term = (/** @type {typeof steps[number]} */ step) => {
      const smoothed = !!step.note, made = step.precision ?? 100, top = step.note && step.denominator ? made * step.denominator / 100 : step.numerator;
      return this.pointable("button.term", step.order, null, [el("span.name", {}, `p${subscriptOf(Number(step.order))}`), fractionOf(smoothed ? shortly(top) : count(step.numerator), smoothed ? shortly(step.denominator) : count(step.denominator), smoothed ? "smoothed" : ""), el("span.value", {}, exact(made, `${fixed(made)} %`))],
        { title: `the precision of ${step.order}-grams${smoothed ? ", smoothed" : ""}`, class: smoothed ? "smoothed" : "" });
    };
    const notes = steps.filter(step => step.note).map(step => el("li", {}, `${step.order}-grams: ${step.counts ? `${step.match} of ${step.total} match; ${step.note.replace("no match: ", "")}` : step.note}.`));
    return [
      el("div.formula", {}, el("div.made", {}, el("span.symbol", {}, "BLEU = brevity penalty × geometric mean of the precisions")),
        el("div.made", {}, el("span", {}, "= "), el("span.factor", { title: "brevity penalty" }, exact(brevity, fixed(brevity, 4))), el("span", {}, " × "), root ? [el("span.root", {}, el("span.paren", {}, "("), used.map((step, n) => [n ? el("span", {}, " × ") : null, term(step)]), el("span.nobreak.end", {}, el("span.paren", {}, ")"), root > 1 ? el("sup", {}, `1/${root}`) : null))] : el("span", {}, "0")),
        el("div.made", {}, el("span", {}, "= "), exact(brevity, fixed(brevity, 4)), " × ", exact(mean, `${fixed(mean)} %`), " = ", el("strong", {}, exact(value)))),
      el("p.brevity", {}, el("strong", {}, "Brevity penalty. "), `The translation has c = ${count(hypothesis)} tokens; the reference nearest in length r = ${fixed(reference, reference % 1 ? 2 : 0)}. `,
        hypothesis >= reference && hypothesis ? "It is not shorter, so nothing is taken: 1." : hypothesis ? [el("span.nobreak", {}, "e", el("sup", {}, `1 − ${fixed(reference, 0)}/${count(hypothesis)}`), " = ", exact(brevity, fixed(brevity, 4))), "."] : "Nothing was written, so nothing is left: 0."),
      notes.length ? el("div.smoothing", {}, el("p", {}, el("strong", {}, `Smoothing: ${setting.parameters.smoothing}. `), setting.parameters.smoothing === "none" ? "" : "One 0 among the precisions would make the mean 0."), el("ul", {}, notes)) : null,
    ];
  }

  /** @param {Scored} result */
  chrf({ setting, value, walk: { steps, shares: [p, r] = [] }, best, references }) {
    const { beta } = setting.parameters, used = steps.filter(step => step.counts), b = shortly(beta ** 2), b1 = shortly(1 + beta ** 2);
    const share = (/** @type {number | null | undefined} */ x) => exact(x, `${fixed(x)} %`);
    const rows = steps.map(step => ({ class: step.counts ? "" : "soft", cells: [this.pointable("button.term", step.order, null, orderTitle(step.order), { class: "small" }),
      `${count(step.match)}/${count(step.total)}`, step.counts ? share(step.precision) : "–", `${count(step.match)}/${count(step.reference ?? 0)}`, step.counts ? share(step.recall) : "–"] }));
    return [
      el("div.formula", {}, el("div.made", {}, el("span.symbol", {}, `${setting.name} = F of the mean precision P and the mean recall R, which counts ${shortly(beta)} times`)),
        el("div.made", {}, "= ", fractionOf(`${b1} × P × R`, `${b} × P + R`), used.length ? [" = ", fractionOf(`${b1} × ${fixed(p)} × ${fixed(r)}`, `${b} × ${fixed(p)} + ${fixed(r)}`)] : null, " = ", el("strong", {}, exact(value)))),
      references.length > 1 ? el("p", {}, `The reference with the highest score counts: reference ${best + 1}.`) : null,
      table("Precision and recall of each order", [{ title: "N-grams" }, ...["of own", "P", "of reference", "R"].map(title => ({ title, number: true }))], [...rows, ["Mean", "", share(p), "", share(r)]], { quiet: true }),
      steps.length > used.length ? el("p.soft", {}, "Orders that one of the texts is too short for are left out.") : null,
    ];
  }

  /** @param {Scored} result */
  edits({ setting, value, references, walk: { hypothesis, reference, counts: all } }) {
    const kind = setting.metric, units = kind === "CER" ? "characters" : "words", percent = el("strong", {}, exact(value));
    if (kind === "TER") return [el("div.formula", {}, el("div.made", {}, el("span.symbol", {}, "TER = edits for 100 words of the reference")), el("div.made", {}, "= 100 × ", fractionOf(count(hypothesis), shortly(reference)), " = ", percent)),
      el("p", {}, `An edit inserts, deletes or replaces a word, or moves a phrase. TER's search found ${plural(hypothesis, "edit")} that ${hypothesis === 1 ? "makes" : "make"} the translation the nearest reference; ${references.length > 1 ? `the references have ${shortly(reference)} words in the mean` : `that has ${plural(reference, "word")}`}.`)];
    const [hits, substitutions, deletions, insertions] = all ?? [0, 0, 0, 0], h = count(hits), s = count(substitutions), d = count(deletions), i = count(insertions);
    const wrong = `${s} + ${d} + ${i}`, sums = { r: hits + substitutions + deletions, h: hits + substitutions + insertions };
    const [symbol, made] = /** @type {Record<string, [any, any]>} */ ({
      WER: [fractionOf("S + D + I", "H + S + D"), fractionOf(wrong, count(sums.r))], CER: [fractionOf("S + D + I", "H + S + D"), fractionOf(wrong, count(sums.r))],
      MER: [fractionOf("S + D + I", "H + S + D + I"), fractionOf(wrong, count(sums.r + insertions))],
      WIP: [[fractionOf("H", "H + S + D"), " × ", fractionOf("H", "H + S + I")], [fractionOf(h, count(sums.r)), " × ", fractionOf(h, count(sums.h))]],
      WIL: [["(1 − ", fractionOf("H", "H + S + D"), " × ", fractionOf("H", "H + S + I"), ")"], ["(1 − ", fractionOf(h, count(sums.r)), " × ", fractionOf(h, count(sums.h)), ")"]],
    })[kind];
    return [el("div.formula", {}, el("div.made", {}, el("span.symbol", {}, `${kind} = 100 × `), symbol), el("div.made", {}, "= 100 × ", made, " = ", percent)),
      el("dl", {}, [["H, hits", h], ["S, substitutions", s], ["D, deletions", d], ["I, insertions", i]].map(([name, n]) => [el("dt", {}, `${name}`), el("dd", {}, n)])),
      el("p.soft", {}, `Counted in ${units}, by the fewest edits that make the translation the reference.`)];
  }

  // ---- n-grams ----

  drawGrams() {
    const { result, typed } = this;
    if (!result || countsEdits(result.setting.metric)) { replace(this.tables); return; }
    const several = result.best < 0 && typed.references.length > 1, steps = new Map(result.walk.steps.map(step => [step.order, step]));
    replace(this.tables, el("h2", {}, "Every n-gram of the translation"),
      el("p.soft", {}, several ? "An n-gram counts as often as the reference has it that has it most; what is beyond is clipped." : "An n-gram counts as often as the reference has it; what is beyond is clipped."),
      el("div.orders", {}, result.orders.map(order => {
        const step = steps.get(order.name), all = this.whole.has(order.name) ? order.grams : order.grams.slice(0, GRAMS_SHOWN), left = order.grams.length - all.length;
        const cells = (/** @type {import("./sentence_scores.js").Gram} */ gram) => {
          const key = JSON.stringify(gram.gram), lost = gram.hypothesis - gram.counted, most = Math.max(0, ...gram.references);
          return { class: gram.counted ? lost ? "part" : "all" : "none", data: { order: order.name, gram: key }, cells: [this.pointable("button.gram", order.name, key, el("bdi", {}, visible(gram.gram.join(order.of === "tokens" ? " " : "")))),
            count(gram.hypothesis), several ? el("span", { title: gram.references.map((n, r) => `reference ${r + 1}: ${n}`).join(", ") }, gram.references.join(", ")) : count(most), [el("strong", {}, count(gram.counted)), lost && gram.counted ? el("span.soft", { title: "clipped" }, ` −${lost}`) : null]] };
        };
        return el("section", { data: { order: order.name } }, el("h3", {}, orderTitle(order.name), el("span.soft", {}, step ? ` ${count(step.match)} of ${count(step.total)}` : "")),
          order.grams.length ? table(`${orderTitle(order.name)} of the translation`, [{ title: "N-gram" }, ...["here", several ? "in refs." : "in ref.", "counted"].map(title => ({ title, number: true }))], all.map(cells), { quiet: true }) : el("p.soft", {}, "The translation is too short."),
          left ? button(`${count(left)} more`, () => { this.whole.add(order.name); this.drawGrams(); this.mark(); }, { class: "small" }) : null);
      })));
  }

  // ---- the same elsewhere ----

  drawAgain() {
    const { result, typed, base } = this;
    if (!result) return;
    const { setting } = result, python = pythonLine(base, typed), command = commandLine(base, typed);
    const line = (/** @type {string} */ title, /** @type {string} */ text, /** @type {string} */ what) => el("div.copied", {}, el("h3", {}, title), el("code.given.wrap", { tabindex: 0, role: "region", "aria-label": title }, text), button("Copy", () => copy(text, `${what} copied`), { class: "small", "aria-label": `Copy: ${title}` }));
    replace(this.again, el("h2", {}, "The same number elsewhere"),
      line("Signature", `${setting.name}|${setting.signature}`, "Signature"), line("Python", python, "Python"),
      command === null ? el("p.soft", {}, "A text that begins with “-” is an option on the command line: put it into a file there.") : line("Command line", command, "Command"),
      el("p", {}, button("Copy a link that holds the text", () => copy(location.href.split("#")[0] + linkOf(typed), "Link copied: it holds the text"), { class: "small" }), el("span.soft", {}, " The text stands behind the # of the link, which browsers send nowhere.")));
  }
}

/** @param {string} name of an order */
const orderTitle = name => name.startsWith("c") ? plural(Number(name.slice(1)), "character") : name.startsWith("w") ? plural(Number(name.slice(1)), "word") : `${name}-grams`;

/** A number without digits that say nothing. @param {number} x */
const shortly = x => String(Number(x.toPrecision(4)));

/** @param {string} above @param {string} below @param {string} [kind] */
const fractionOf = (above, below, kind = "") => el("span.fraction", { class: kind }, el("span", {}, above), el("span.unseen", {}, " / "), el("span", {}, below));

/** @param {import("./examples.js").Example} example @returns {Typed} */
const typedOf = ({ metric = "bleu", chosen = {}, hypothesis, references }) => ({ metric, chosen: { ...chosen }, hypothesis, references: [...references], source: "" });

// ---- links: what is behind # stays in the browser ----

/** @param {Typed} typed */
export function linkOf({ metric, chosen, hypothesis, references, source }) {
  const parts = new URLSearchParams([["m", metric], ...Object.entries(chosen).map(([name, value]) => [`p.${name}`, JSON.stringify(value)]), ["h", hypothesis], ...references.map(text => ["r", text]), ...(source ? [["s", source]] : [])]);
  return `#lab?${parts}`;
}

/** @param {string} hash @returns {Typed | null} */
export function readLink(hash) {
  if (!hash.startsWith("#lab?")) return null;
  const parts = new URLSearchParams(hash.slice(5)), references = parts.getAll("r");
  /** @type {Record<string, any>} */
  const chosen = {};
  for (const [key, value] of parts) {
    const name = key.slice(2), known = name in COUNTED ? name === "tokenize" ? TOKENIZERS : [true, false] : name === "smoothing" ? SMOOTHINGS.map(([one]) => one) : name === "effective_order" ? [false] : null;
    if (!key.startsWith("p.")) continue;
    let made = null;
    try { made = JSON.parse(value); } catch { continue; }
    const ends = CONTROL_ENDS[name];
    if (known ? known.includes(/** @type {never} */ (made)) : ends && typeof made === "number" && made >= ends[0] && made <= ends[1] && (name === "beta" || name === "smoothing_value" || Number.isInteger(made))) chosen[name] = made;
  }
  return { metric: parts.get("m") ?? "bleu", chosen, hypothesis: parts.get("h") ?? "", references: references.length ? references : [""], source: parts.get("s") ?? "" };
}
