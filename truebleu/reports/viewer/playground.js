// Playground: scores sentences while the user types, and shows the counts and the formula with its numbers.
import {createButton, createCheckbox, copyText, formatCount, el, renderNumber, labelControl, formatFixed, formatPlural, replaceChildren, createSelect, renderTable, showInvisible, formatScore, renderScore, scaleScore, setScoreScale} from "./dom.js";
import {countsEdits} from "./metric.js";
import {COUNT_PARAMETERS, DEFAULT_SMOOTHING_VALUES, TOKENIZERS} from "./kernel_client.js";
import {scoreSentence, resolveSetting} from "./sentence_scores.js";
import {EXAMPLES} from "./examples.js";
import {formatExplainCommand, formatPythonCall} from "./repro_commands.js";

/** @typedef {import("./report_data.js").Setting} Setting */
/** @typedef {import("./sentence_scores.js").SentenceScore} Scored */
/** @typedef {{metric: string, overrides: Record<string, any>, hypothesis: string, references: string[], source: string, scale: number}} PlaygroundState  `scale`: the maximum of displayed percentages, 100 or 1 */

/** Maximum number of displayed tokens per text. */
const MAX_SHOWN_UNITS = 1500;
/** Number of characters above which texts are scored only after a pause in typing, and this pause in milliseconds. */
const LONG_TEXT = 5000, TYPING_PAUSE_MS = 300;
/** Number of n-grams displayed initially per order. */
const MAX_SHOWN_NGRAMS = 16;
/** Smoothing methods and their titles. @type {[string, string][]} */
const SMOOTHINGS = [["exp", "exp (½, ¼, …)"], ["floor", "floor (a fixed value)"], ["add-k", "add-k (except for 1-grams)"], ["none", "none"]];
/** Labels of the parameters. @type {Record<string, string>} */
export const CONTROL_NAMES = { tokenize: "Tokenizer", smoothing: "Smoothing", smoothing_value: "Smoothing value", max_order: "Longest n-gram", weights: "N-gram weights", effective_order: "Orders without n-grams", char_order: "Character order", word_order: "Word order", beta: "β",
  lowercase: "lowercase", whitespace: "include white space", normalized: "split off punctuation", no_punct: "delete punctuation", asian_support: "split Chinese and Japanese", case_sensitive: "case-sensitive" };
/** Minimum and maximum of numeric parameters. @type {Record<string, [number, number]>} */
const CONTROL_LIMITS = { max_order: [1, 16], char_order: [0, 20], word_order: [0, 16], beta: [0, 100], smoothing_value: [0, 1000] };
/** Largest sum of weights, as in Python. */
const MAX_WEIGHT_SUM = 100;
/** Parameters of BLEU in textbooks; orders for which the hypothesis is too short are skipped. @type {Record<string, any>} */
const TEXTBOOK_PARAMETERS = { tokenize: "none", smoothing: "none" };
/** If a text has at most this many characters per word, spaces separate its words, as in Python. */
const MAX_WORD_LENGTH = 6;
const SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉";
const toSubscript = (/** @type {number} */ n) => [...String(n)].map(digit => SUBSCRIPTS[Number(digit)]).join("");

/** Playground for the scores of single sentences. */
export class Playground {
  /** @param {any} manifest @param {import("./kernel_client.js").KernelClient} kernelClient */
  constructor(manifest, kernelClient) {
    /** @type {(Setting & {options: Record<string, string>, python: string})[]} */
    this.metrics = manifest.metrics;
    /** @type {{pattern: string, looks_like: string, share: number, has_spaces: boolean, split_by: string[], elsewhere: string[], ter: Record<string, boolean>}[]} Scripts that some tokenizers do not split. */
    this.unsplitScripts = manifest.unsplit;
    this.client = kernelClient;
    /** @type {PlaygroundState} */
    this.state = readLink(location.hash) ?? toState(EXAMPLES[0]);
    /** @type {Scored | null} */
    this.result = null;
    /** Order or n-gram under the pointer. @type {{order: string, gram: string | null} | null} */
    this.hovered = null;
    /** @type {{order: string, gram: string | null} | null} */
    this.pinned = null;
    /** Element with the keyboard focus. @type {Element | null} */
    this.focused = null;
    this.clicking = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.pause = undefined;
    /** @type {Set<string>} Orders whose n-grams are all displayed. */
    this.expandedOrders = new Set();
  }

  /** Selected metric with its default parameters. */
  get base() { return this.metrics.find(candidate => candidate.id === this.state.metric) ?? this.metrics[0]; }

  /** @param {HTMLElement} main */
  render(main) {
    this.settings = el("div.settings");
    this.inputs = el("div.inputs");
    this.score = el("section.score-box", { "aria-labelledby": "score-title" });
    this.tables = el("section.gram-tables");
    this.reproductionSection = el("section.again");
    this.problem = el("p.failed", { role: "alert", hidden: true });
    const examples = el("p.examples", {}, el("span.soft", {}, "Examples: "), EXAMPLES.map(candidate => [createButton(candidate.title, () => { this.state = { ...toState(candidate), scale: this.state.scale }; this.pinned = null; this.draw(); }, { class: "chip" }), " "]));
    this.workArea = el("div.bench", { on: {
      mouseover: (/** @type {Event} */ e) => this.handlePointer(e.target), mouseout: () => this.handlePointer(null),
      // A click highlights its target itself, so ignore the focus that it causes.
      pointerdown: () => { this.clicking = true; }, keydown: () => { this.clicking = false; },
      focusin: (/** @type {Event} */ e) => { this.focused = this.clicking ? null : /** @type {Element} */ (e.target); this.handlePointer(null); }, focusout: () => { this.focused = null; this.handlePointer(null); } } },
      el("div.sides", {}, this.inputs, el("div.result", {}, this.problem, this.score), this.settings), this.tables, this.reproductionSection);
    replaceChildren(main, el("h1", {}, "How is a score computed?"),
      el("p.facts", {}, "Type a system output and one or more references. Everything is computed in this page; no data leaves this machine. Drop files anywhere on the page to create a report."),
      examples, this.workArea);
    this.draw();
  }

  /** Redraw everything after a change of example, metric or number of references. */
  draw() {
    this.expandedOrders.clear();
    setScoreScale(this.state.scale);
    this.drawSettings();
    this.drawInputs();
    this.compute();
  }

  /** Load the state from the URL, if it contains one. */
  loadLink() {
    const state = readLink(location.hash);
    if (!state) return;
    this.state = state;
    this.pinned = null;
    this.draw();
  }

  /** @param {string} name @param {any} value */
  setParameter(name, value) {
    const defaultValue = this.base.parameters[name], { overrides } = this.state;
    if (value === defaultValue) delete overrides[name];
    else overrides[name] = value;
    if (name === "smoothing") { delete overrides.smoothing_value; this.drawSettings(name); }
    // The number of weights must equal the number of orders.
    if (name === "max_order" && overrides.weights) { delete overrides.weights; this.drawSettings(name); }
    this.compute();
  }

  /** Set the weights of the orders; the number of weights becomes the largest order. @param {number[] | null} weights */
  setWeights(weights) {
    const { overrides } = this.state, maxOrder = weights ? weights.length : this.base.parameters.max_order;
    if (weights) overrides.weights = weights;
    else delete overrides.weights;
    if (maxOrder === this.base.parameters.max_order) delete overrides.max_order;
    else overrides.max_order = maxOrder;
    const control = this.settings.querySelector('[name="max_order"]');
    if (control) control.value = String(maxOrder);
    this.compute();
  }

  /** @param {string} [focus] the parameter whose control had the focus */
  drawSettings(focus) {
    const { base, state } = this, p = { ...base.parameters, ...state.overrides };
    const createField = (/** @type {string} */ name, /** @type {any} */ control) => labelControl(CONTROL_NAMES[name], control);
    const createNumberField = (/** @type {string} */ name, /** @type {number} */ value) => createField(name, el("input", { type: "number", name, value: String(value), min: CONTROL_LIMITS[name][0], max: CONTROL_LIMITS[name][1], step: name === "smoothing_value" || name === "beta" ? "any" : 1, "aria-label": CONTROL_NAMES[name],
      on: { input: (/** @type {any} */ e) => { const x = e.target.valueAsNumber, [least, most] = CONTROL_LIMITS[name]; e.target.setAttribute("aria-invalid", String(!(x >= least && x <= most && e.target.validity.valid))); if (x >= least && x <= most && e.target.validity.valid) this.setParameter(name, x); } } }));
    const controls = [labelControl("Metric", createSelect("Metric", this.metrics.map(candidate => [candidate.id, candidate.name.replace(/^chrF2$/, "chrF")]), base.id, id => { this.state = { ...this.state, metric: id, overrides: {} }; this.pinned = null; this.draw(); /** @type {any} */ (this.settings).querySelector("select")?.focus(); }))];
    for (const name of Object.keys(CONTROL_NAMES)) {
      if (!(name in base.parameters)) continue;
      if (name === "tokenize") controls.push(createField(name, createSelect(CONTROL_NAMES[name], TOKENIZERS.map(candidate => [candidate, candidate]), p.tokenize, value => this.setParameter(name, value), { name })));
      else if (name === "smoothing") controls.push(createField(name, createSelect(CONTROL_NAMES[name], SMOOTHINGS, p.smoothing, value => this.setParameter(name, value), { name })));
      else if (name === "smoothing_value") { if (DEFAULT_SMOOTHING_VALUES[p.smoothing] !== null) controls.push(createNumberField(name, p.smoothing_value ?? DEFAULT_SMOOTHING_VALUES[p.smoothing])); }
      else if (name === "effective_order") controls.push(createField(name, createSelect(CONTROL_NAMES[name], [["", "skipped"], ["no", "counted as 0"]], p.effective_order === false ? "no" : "", value => this.setParameter(name, value === "no" ? false : null), { name })));
      else if (name === "weights") controls.push(createField(name, el("input", { type: "text", name, value: p.weights ? p.weights.join(", ") : "", placeholder: "equal", inputmode: "decimal", autocomplete: "off", "aria-label": CONTROL_NAMES[name], title: "one number per order, from 1-grams: 0.5, 0.3, 0.2",
        on: { input: (/** @type {any} */ e) => { const weights = parseWeights(e.target.value); e.target.setAttribute("aria-invalid", String(weights === undefined)); if (weights !== undefined) this.setWeights(weights); } } })));
      else if (name in CONTROL_LIMITS) controls.push(createNumberField(name, p[name]));
      else if (name in COUNT_PARAMETERS) controls.push(createCheckbox(CONTROL_NAMES[name], p[name] === true, on => this.setParameter(name, on)));
    }
    if (base.metric === "BLEU") controls.push(el("span", { title: "Split text at white space, without smoothing" }, createCheckbox("as in textbooks", isTextbook(p), on => {
      for (const [name, value] of Object.entries(TEXTBOOK_PARAMETERS)) this.setParameter(name, on ? value : base.parameters[name]);
      if (on) this.setParameter("effective_order", null);
      this.drawSettings("textbook");
    }, { name: "textbook" })));
    controls.push(createCheckbox("0-1 scale", state.scale === 1, on => { state.scale = on ? 1 : 100; setScoreScale(state.scale); this.compute(); }));
    replaceChildren(this.settings, controls);
    if (focus) this.settings.querySelector(`[name="${focus}"]`)?.focus();
  }

  drawInputs() {
    const { state } = this;
    const createTokenLine = () => el("p.text.split.tokens", { dir: "auto" });
    const createTextBox = (/** @type {string} */ label, /** @type {string} */ value, /** @type {(text: string) => void} */ onInput, /** @type {any} */ hint, /** @type {any} */ lines) =>
      el("section.typed", {}, el("div.head", {}, el("h2", {}, label), hint ? el("span.soft", { id: "hint" }, hint) : null), el("textarea", { "aria-label": label, "aria-describedby": hint ? "hint" : null, rows: 2, spellcheck: "false", dir: "auto", value, on: { input: (/** @type {any} */ e) => { onInput(e.target.value); this.scheduleCompute(); } } }), lines);
    const hypothesisLine = createTokenLine(), referenceLines = el("div.lines");
    const drawReferenceLines = () => {
      const several = state.references.length > 1;
      this.lines = [hypothesisLine, ...state.references.map(createTokenLine)];
      replaceChildren(referenceLines, this.lines.slice(1).map((line, r) => el("div.reference", {}, several ? el("span.soft.which", {}, `${r + 1}`) : null, line)));
    };
    drawReferenceLines();
    replaceChildren(this.inputs,
      createTextBox("Hypothesis", state.hypothesis, text => { state.hypothesis = text; }, null, hypothesisLine),
      createTextBox("References", state.references.join("\n"), text => {
        const count = state.references.length;
        state.references = splitReferences(text);
        if (state.references.length !== count) drawReferenceLines();
      }, "Several references? Write one per line.", referenceLines),
      el("details.source", { open: !!state.source }, el("summary", {}, "Source (not scored)"), createTextBox("Source", state.source, text => { state.source = text; }, null, null)));
  }

  /** Schedule a computation: immediately, or after a pause in typing for long texts. */
  scheduleCompute() {
    const { hypothesis, references } = this.state;
    clearTimeout(this.pause);
    if (hypothesis.length + references.join("").length < LONG_TEXT) this.compute();
    else this.pause = setTimeout(() => this.compute(), TYPING_PAUSE_MS);
  }

  /** Score the current texts. */
  compute() {
    const { base, state } = this;
    clearTimeout(this.pause);
    try {
      const setting = resolveSetting(this.client, base, state.overrides, state.references.length, true);
      this.result = scoreSentence(this.client, setting, state.hypothesis, state.references);
      this.problem.hidden = true;
    } catch (error) {
      this.result = null;
      this.problem.hidden = false;
      this.problem.textContent = /** @type {Error} */ (error).message;
    }
    for (const part of [this.score, this.tables, this.reproductionSection]) part.hidden = !this.result;
    if (!this.result) { this.lines?.forEach(line => replaceChildren(line)); return; }
    if (this.pinned && !this.result.orders.some(order => order.name === this.pinned?.order)) this.pinned = null;
    this.drawTokens();
    this.drawScore();
    this.drawNgrams();
    this.drawReproduction();
    this.highlightMatches();
  }

  // ---- tokens ----

  drawTokens() {
    const { result } = this;
    if (!result) return;
    const characters = result.setting.metric === "CER" || (result.setting.metric === "chrF" && !result.setting.parameters.word_order);
    [result.hypothesis, ...result.references].forEach((side, i) => {
      const line = this.lines?.[i], units = characters ? side.characters : side.tokens;
      line.dataset.of = characters ? "characters" : "tokens";
      replaceChildren(line, units.length ? units.slice(0, MAX_SHOWN_UNITS).map((unit, n) => [el("bdi.token", { data: { unit: String(n) } }, showInvisible(unit)), " "]) : el("span.soft", {}, "no tokens"), units.length > MAX_SHOWN_UNITS ? "… " : null, el("span.soft.much", {}, formatPlural(units.length, characters ? "character" : "token")));
    });
  }

  /** Highlight the matches, and the order or n-gram under the pointer. */
  highlightMatches() {
    const { result } = this, active = this.hovered ?? this.pinned;
    if (!result) return;
    const names = result.orders.map(order => order.name);
    this.lines?.forEach((line, side) => {
      /** @type {HTMLElement[]} */
      const nodes = [...line.querySelectorAll("[data-unit]")], level = nodes.map(() => 0), sought = nodes.map(() => false), clipped = nodes.map(() => false);
      const reference = side - 1;
      for (const order of result.orders) {
        if (order.unit !== line.dataset.of || (side && result.best >= 0 && result.best !== reference)) continue;
        const numbers = order.numbers[side], activeNgram = active?.order === order.name ? active.gram : undefined, ngram = typeof activeNgram === "string" ? order.grams.find(gram => JSON.stringify(gram.tokens) === activeNgram) : null;
        for (let position = 0; position < Math.min(numbers.length, nodes.length); position++) {
          const currentNgram = order.ngramsByNumber.get(numbers[position]);
          if (!currentNgram || !currentNgram.clippedCount) continue;
          // Clipping keeps the first occurrences.
          const isMatched = side > 0 || position <= currentNgram.starts[currentNgram.clippedCount - 1];
          for (let k = position; k < Math.min(position + order.size, nodes.length); k++) {
            if (isMatched) level[k] = Math.max(level[k], order.size); else if (order.size === 1) clipped[k] = true;
            if (activeNgram === null ? isMatched : currentNgram === ngram) sought[k] = true;
          }
        }
      }
      nodes.forEach((node, n) => { node.className = `token ${level[n] ? `m${Math.min(4, level[n])}` : ""} ${clipped[n] ? "clipped" : ""} ${sought[n] ? "sought" : ""}`; });
    });
    for (const node of this.workArea.querySelectorAll("[data-order]")) {
      const same = !!active && node.dataset.order === active.order && names.includes(active.order);
      node.classList.toggle("pointed", same && (active.gram === null || !node.dataset.gram || node.dataset.gram === active.gram));
      if (node.matches("button")) node.setAttribute("aria-pressed", String(this.pinned?.order === node.dataset.order && (this.pinned?.gram ?? null) === (node.dataset.gram ?? null)));
    }
  }

  /** @param {EventTarget | null} target */
  handlePointer(target) {
    // If the pointer is outside all targets, highlight the focused element.
    const place = target instanceof Element ? target.closest("[data-order]") : null;
    const node = /** @type {HTMLElement | null} */ (place ?? this.focused?.closest("[data-order]") ?? null);
    const hovered = node ? { order: node.dataset.order ?? "", gram: node.dataset.gram ?? null } : null;
    if (JSON.stringify(hovered) === JSON.stringify(this.hovered)) return;
    this.hovered = hovered;
    this.highlightMatches();
  }

  /** Create a button that highlights on hover and pins the highlight on click. @param {string} tag @param {string} order @param {string | null} gram @param {any} children @param {Record<string, any>} [props] */
  pinButton(tag, order, gram, children, props = {}) {
    const act = () => {
      const same = this.pinned?.order === order && this.pinned.gram === gram;
      this.pinned = same ? null : { order, gram };
      this.highlightMatches();
    };
    return el(tag, { type: "button", "aria-pressed": "false", data: gram === null ? { order } : { order, gram }, ...props, on: { click: act } }, children);
  }

  // ---- the score and its formula ----

  drawScore() {
    const { result } = this;
    if (!result) return;
    const { setting, value } = result, kind = setting.metric;
    const body = kind === "BLEU" ? this.renderBleu(result) : kind === "chrF" ? this.renderChrf(result) : this.renderEdits(result);
    replaceChildren(this.score, el("h2", { id: "score-title" }, setting.name), el("p.big", { role: "status", "aria-live": "polite" }, renderScore(value)), setting.higher_is_better ? null : el("p.soft", {}, "Lower is better."), this.renderUnsplitHint(setting), body);
  }

  /** Render advice if the metric does not split the script of the texts into words. @param {Setting} setting */
  renderUnsplitHint({ name, metric, parameters: p }) {
    const texts = [this.state.hypothesis, ...this.state.references], words = texts.join(" ").split(/\s+/).filter(Boolean), letters = [...words.join("")];
    const isSegmented = letters.length <= MAX_WORD_LENGTH * words.length && words.length >= 2 * texts.length;
    const script = this.unsplitScripts.find(({ pattern, share, has_spaces }) => {
      const isLetter = new RegExp(`[${pattern}]`, "u");
      return (has_spaces || !isSegmented) && letters.filter(letter => isLetter.test(letter)).length > share * letters.length;
    });
    const needed = metric === "TER" ? Object.keys(script?.ter ?? {}) : [];
    if (!script || (metric === "TER" ? needed.length ? needed.every(key => p[key]) : script.has_spaces : !("tokenize" in p) || script.split_by.includes(p.tokenize))) return null;
    const choose = (/** @type {string} */ key, /** @type {any} */ value) => createButton(value === true ? CONTROL_NAMES[key] : value, () => { this.setParameter(key, value); this.drawSettings(key); }, { class: "small" });
    const advice = metric === "TER" ? needed.length ? ["Choose ", needed.filter(key => !p[key]).map((key, n) => [n ? " and " : "", choose(key, true)]), "."] : "Use chrF or CER, which do not need words."
      : ["Choose the tokenizer ", script.split_by.map((value, n) => [n ? " or " : "", choose("tokenize", value)]), script.elsewhere.length ? `, or use ${script.elsewhere.join(" or ")} in Python or on the command line.` : "."];
    return el("p.opposed", { role: "note" }, el("strong", {}, "Warning: "), `${name} does not split this text into words: it looks like ${script.looks_like}. `, advice);
  }

  /** @param {Scored} result */
  renderBleu({ setting, value, breakdown: { steps, hypothesis, reference, brevity, mean } }) {
    const usedSteps = steps.filter(step => step.isUsed), root = usedSteps.length, { weights } = setting.parameters;
    // If orders are skipped, the weights of the remaining orders are normalized to sum to 1.
    const weightSum = weights && root < weights.length ? sum(weights.slice(0, root)) : 1;
    const exponent = (/** @type {number} */ n) => weights ? el("sup", { title: "weight" }, formatShort(weights[n] / (weightSum || 1))) : null;
    const renderTerm = (/** @type {typeof steps[number]} */ step) => {
      const smoothed = !!step.note, precision = step.precision ?? 100, top = step.note && step.denominator ? precision * step.denominator / 100 : step.numerator;
      return this.pinButton("button.term", step.order, null, [el("span.name", {}, `p${toSubscript(Number(step.order))}`), renderFraction(smoothed ? formatShort(top) : formatCount(step.numerator), smoothed ? formatShort(step.denominator) : formatCount(step.denominator), smoothed ? "smoothed" : ""), el("span.value", {}, renderShare(precision))],
        { title: `the precision of ${step.order}-grams${smoothed ? ", smoothed" : ""}`, class: smoothed ? "smoothed" : "" });
    };
    const notes = steps.filter(step => step.note).map(step => el("li", {}, `${step.order}-grams: ${step.isUsed ? `${step.match} of ${step.total} match; ${step.note.replace("no match: ", "")}` : step.note}.`));
    return [
      el("div.formula", {}, el("div.made", {}, el("span.symbol", {}, `BLEU = brevity penalty × ${weights ? "weighted " : ""}geometric mean of the precisions`)),
        el("div.made", {}, el("span", {}, "= "), el("span.factor", { title: "brevity penalty" }, renderNumber(brevity, formatFixed(brevity, 4))), el("span", {}, " × "), root ? [el("span.root", {}, el("span.paren", {}, "("), usedSteps.map((step, n) => [n ? el("span", {}, " × ") : null, renderTerm(step), exponent(n)]), el("span.nobreak.end", {}, el("span.paren", {}, ")"), root > 1 && !weights ? el("sup", {}, `1/${root}`) : null))] : el("span", {}, "0")),
        el("div.made", {}, el("span", {}, "= "), renderNumber(brevity, formatFixed(brevity, 4)), " × ", renderShare(mean), " = ", el("strong", {}, renderScore(value)))),
      isTextbook(setting.parameters) && !weights && root ? el("p.lower-orders", {}, el("strong", {}, "Up to each order: "), usedSteps.map((_, n) => [n ? ", " : "", el("span.nobreak", {}, `BLEU-${n + 1} `, renderScore(100 * brevity * Math.exp(sum(usedSteps.slice(0, n + 1).map(step => Math.log((step.precision ?? 100) / 100))) / (n + 1))))]), ".") : null,
      el("p.brevity", {}, el("strong", {}, "Brevity penalty. "), `The hypothesis has c = ${formatPlural(hypothesis, "token")}; the effective reference length is r = ${formatFixed(reference, reference % 1 ? 2 : 0)}. `,
        hypothesis >= reference && hypothesis ? "The hypothesis is not shorter than the reference, so BP = 1." : hypothesis ? [el("span.nobreak", {}, "e", el("sup", {}, `1 − ${formatFixed(reference, 0)}/${formatCount(hypothesis)}`), " = ", renderNumber(brevity, formatFixed(brevity, 4))), "."] : "The hypothesis is empty, so BP = 0."),
      weights && Math.abs(sum(weights) - 1) > 1e-9 ? el("p", {}, `The weights add up to ${formatShort(sum(weights))}, not to 1, so a perfect match does not score ${scaleScore(100)}.`) : null,
      notes.length ? el("div.smoothing", {}, el("p", {}, el("strong", {}, `Smoothing: ${setting.parameters.smoothing}. `), setting.parameters.smoothing === "none" ? "" : "Without smoothing, a precision of 0 would make the score 0."), el("ul", {}, notes)) : null,
    ];
  }

  /** @param {Scored} result */
  renderChrf({ setting, value, breakdown: { steps, shares: [p, r] = [] }, best, references }) {
    const { beta } = setting.parameters, usedSteps = steps.filter(step => step.isUsed), b = formatShort(beta ** 2), b1 = formatShort(1 + beta ** 2);
    const rows = steps.map(step => ({ class: step.isUsed ? "" : "soft", cells: [this.pinButton("button.term", step.order, null, getOrderTitle(step.order), { class: "small" }),
      `${formatCount(step.match)}/${formatCount(step.total)}`, step.isUsed ? renderShare(step.precision) : "–", `${formatCount(step.match)}/${formatCount(step.reference ?? 0)}`, step.isUsed ? renderShare(step.recall) : "–"] }));
    return [
      el("div.formula", {}, el("div.made", {}, el("span.symbol", {}, `${setting.name} = F-score of mean precision P and mean recall R, with recall weighted ${formatShort(beta)} times as much as precision`)),
        el("div.made", {}, "= ", renderFraction(`${b1} × P × R`, `${b} × P + R`), usedSteps.length ? [" = ", renderFraction(`${b1} × ${formatScore(p)} × ${formatScore(r)}`, `${b} × ${formatScore(p)} + ${formatScore(r)}`)] : null, " = ", el("strong", {}, renderScore(value)))),
      references.length > 1 ? el("p", {}, `chrF uses the reference with the highest score: reference ${best + 1}.`) : null,
      renderTable("Precision and recall of each order", [{ title: "N-grams" }, ...["matches / hypothesis", "P", "matches / reference", "R"].map(title => ({ title, number: true }))], [...rows, ["Mean", "", renderShare(p), "", renderShare(r)]], { quiet: true }),
      steps.length > usedSteps.length ? el("p.soft", {}, "Orders for which one of the texts is too short are skipped.") : null,
    ];
  }

  /** @param {Scored} result */
  renderEdits({ setting, value, references, breakdown: { hypothesis, reference, editCounts } }) {
    const kind = setting.metric, units = kind === "CER" ? "characters" : "words", result = el("strong", {}, renderScore(value)), factor = scaleScore(100) === 100 ? "100 × " : "";
    if (kind === "TER") return [el("div.formula", {}, el("div.made", {}, el("span.symbol", {}, `TER = edits per ${factor ? "100 reference words" : "reference word"}`)), el("div.made", {}, `= ${factor}`, renderFraction(formatCount(hypothesis), formatShort(reference)), " = ", result)),
      el("p", {}, `An edit inserts, deletes or replaces a word, or moves a phrase. TER's search found ${formatPlural(hypothesis, "edit")} that turn the hypothesis into the closest reference; ${references.length > 1 ? `the references have ${formatShort(reference)} words on average` : `the reference has ${formatPlural(reference, "word")}`}.`)];
    const [hits, substitutions, deletions, insertions] = editCounts ?? [0, 0, 0, 0], h = formatCount(hits), s = formatCount(substitutions), d = formatCount(deletions), i = formatCount(insertions);
    const editSum = `${s} + ${d} + ${i}`, lengths = { r: hits + substitutions + deletions, h: hits + substitutions + insertions };
    const [symbolicFormula, numericFormula] = /** @type {Record<string, [any, any]>} */ ({
      WER: [renderFraction("S + D + I", "H + S + D"), renderFraction(editSum, formatCount(lengths.r))], CER: [renderFraction("S + D + I", "H + S + D"), renderFraction(editSum, formatCount(lengths.r))],
      MER: [renderFraction("S + D + I", "H + S + D + I"), renderFraction(editSum, formatCount(lengths.r + insertions))],
      WIP: [[renderFraction("H", "H + S + D"), " × ", renderFraction("H", "H + S + I")], [renderFraction(h, formatCount(lengths.r)), " × ", renderFraction(h, formatCount(lengths.h))]],
      WIL: [["(1 − ", renderFraction("H", "H + S + D"), " × ", renderFraction("H", "H + S + I"), ")"], ["(1 − ", renderFraction(h, formatCount(lengths.r)), " × ", renderFraction(h, formatCount(lengths.h)), ")"]],
    })[kind];
    return [el("div.formula", {}, el("div.made", {}, el("span.symbol", {}, `${kind} = ${factor}`), symbolicFormula), el("div.made", {}, `= ${factor}`, numericFormula, " = ", result)),
      el("dl", {}, [["H, hits", h], ["S, substitutions", s], ["D, deletions", d], ["I, insertions", i]].map(([name, n]) => [el("dt", {}, `${name}`), el("dd", {}, n)])),
      el("p.soft", {}, `The smallest number of edits (in ${units}) that turn the hypothesis into the reference.`)];
  }

  // ---- n-grams ----

  drawNgrams() {
    const { result, state } = this;
    if (!result || countsEdits(result.setting.metric)) { replaceChildren(this.tables); return; }
    const hasSeveralReferences = result.best < 0 && state.references.length > 1, steps = new Map(result.breakdown.steps.map(step => [step.order, step]));
    replaceChildren(this.tables, el("h2", {}, "N-grams of the hypothesis"),
      el("p.soft", {}, hasSeveralReferences ? "The count of an n-gram is limited to its largest count in any reference. Extra copies are clipped." : "The count of an n-gram is limited to its count in the reference. Extra copies are clipped."),
      el("div.orders", {}, result.orders.map(order => {
        const step = steps.get(order.name), visibleNgrams = this.expandedOrders.has(order.name) ? order.grams : order.grams.slice(0, MAX_SHOWN_NGRAMS), hiddenCount = order.grams.length - visibleNgrams.length;
        const buildRow = (/** @type {import("./sentence_scores.js").Gram} */ gram) => {
          const key = JSON.stringify(gram.tokens), clippedAway = gram.hypothesisCount - gram.clippedCount, maxCount = Math.max(0, ...gram.referenceCounts);
          return { class: gram.clippedCount ? clippedAway ? "part" : "all" : "none", data: { order: order.name, gram: key }, cells: [this.pinButton("button.gram", order.name, key, el("bdi", {}, showInvisible(gram.tokens.join(order.unit === "tokens" ? " " : "")))),
            formatCount(gram.hypothesisCount), hasSeveralReferences ? el("span", { title: gram.referenceCounts.map((n, r) => `reference ${r + 1}: ${n}`).join(", ") }, gram.referenceCounts.join(", ")) : formatCount(maxCount), [el("strong", {}, formatCount(gram.clippedCount)), clippedAway && gram.clippedCount ? el("span.soft", { title: "clipped" }, ` −${clippedAway}`) : null]] };
        };
        return el("section", { data: { order: order.name } }, el("h3", {}, getOrderTitle(order.name), el("span.soft", {}, step ? ` ${formatCount(step.match)} of ${formatCount(step.total)}` : "")),
          order.grams.length ? renderTable(`${getOrderTitle(order.name)} of the hypothesis`, [{ title: "N-gram" }, ...["hypothesis", hasSeveralReferences ? "references" : "reference", "counted"].map(title => ({ title, number: true }))], visibleNgrams.map(buildRow), { quiet: true }) : el("p.soft", {}, "The hypothesis is too short."),
          hiddenCount ? createButton(`${formatCount(hiddenCount)} more`, () => { this.expandedOrders.add(order.name); this.drawNgrams(); this.highlightMatches(); }, { class: "small" }) : null);
      })));
  }

  // ---- reproduction ----

  drawReproduction() {
    const { result, state, base } = this;
    if (!result) return;
    const { setting } = result, python = formatPythonCall(base, state), command = formatExplainCommand(base, state);
    const renderLine = (/** @type {string} */ title, /** @type {string} */ text, /** @type {string} */ label) => el("div.copied", {}, el("h3", {}, title), el("code.given", { tabindex: 0, role: "region", "aria-label": title }, text), createButton("Copy", () => copyText(text, `${label} copied`), { class: "small", "aria-label": `Copy: ${title}` }));
    replaceChildren(this.reproductionSection, el("h2", {}, "Reproduce this score"),
      renderLine("Signature", `${setting.name}|${setting.signature}`, "Signature"), renderLine("Python", python, "Python"),
      command === null ? el("p.soft", {}, "On the command line, a text that begins with “-” would be interpreted as an option. Save it in a file instead.") : renderLine("Command line", command, "Command"),
      el("p", {}, createButton("Copy a link with the texts", () => copyText(location.href.split("#")[0] + formatLink(state), "Link copied"), { class: "small" }), el("span.soft", {}, " The link contains the texts after the #. Browsers do not send this part to servers.")));
  }
}

/** @param {string} name of an order */
const getOrderTitle = name => name.startsWith("c") ? formatPlural(Number(name.slice(1)), "character") : name.startsWith("w") ? formatPlural(Number(name.slice(1)), "word") : `${name}-grams`;

/** Return whether BLEU with these parameters is the BLEU of textbooks. @param {Record<string, any>} parameters */
const isTextbook = parameters => Object.entries(TEXTBOOK_PARAMETERS).every(([name, value]) => parameters[name] === value) && parameters.effective_order !== false;

/** Render a precision or recall as a percentage, or on the 0-1 scale. @param {number | null | undefined} x */
const renderShare = x => renderScore(x, formatScore(x) + (scaleScore(100) === 100 ? "%" : ""));

/** @param {number[]} numbers */
const sum = numbers => numbers.reduce((total, number) => total + number, 0);

/** Split the text of the references box into one reference per line, without blank lines. @param {string} text */
export function splitReferences(text) {
  const references = text.split("\n").filter(line => line.trim());
  return references.length ? references : [""];
}

/** Return whether Python accepts weights: at most 16 numbers of at least 0, not all of them 0. @param {unknown} weights */
const areWeights = weights => Array.isArray(weights) && weights.length > 0 && weights.length <= CONTROL_LIMITS.max_order[1] && weights.every(w => typeof w === "number" && w >= 0) && sum(weights) > 0 && sum(weights) <= MAX_WEIGHT_SUM;

/** Return the weights in a text, null for equal weights, or undefined for an invalid text. @param {string} text */
export function parseWeights(text) {
  const words = text.split(/[\s,;]+/).filter(Boolean), weights = words.map(Number);
  return !words.length ? null : areWeights(weights) ? weights : undefined;
}

/** Format a number with at most four significant digits. @param {number} x */
const formatShort = x => String(Number(x.toPrecision(4)));

/** @param {string} above @param {string} below @param {string} [kind] */
const renderFraction = (above, below, kind = "") => el("span.fraction", { class: kind }, el("span", {}, above), el("span.unseen", {}, " / "), el("span", {}, below));

/** @param {import("./examples.js").Example} example @returns {PlaygroundState} */
const toState = ({ metric = "bleu", overrides: overrides = {}, hypothesis, references }) => ({ metric, overrides: { ...overrides }, hypothesis, references: [...references], source: "", scale: 100 });

// ---- links: browsers do not send the part after # ----

/** @param {PlaygroundState} typed */
export function formatLink({ metric, overrides, hypothesis, references, source, scale }) {
  const parts = new URLSearchParams([["m", metric], ...Object.entries(overrides).map(([name, value]) => [`p.${name}`, JSON.stringify(value)]), ["h", hypothesis], ...references.map(text => ["r", text]), ...(source ? [["s", source]] : []), ...(scale === 1 ? [["scale", "1"]] : [])]);
  return `#lab?${parts}`;
}

/** @param {string} hash @returns {PlaygroundState | null} */
export function readLink(hash) {
  if (!hash.startsWith("#lab?")) return null;
  const parts = new URLSearchParams(hash.slice(5)), references = parts.getAll("r");
  /** @type {Record<string, any>} */
  const overrides = {};
  for (const [key, value] of parts) {
    const name = key.slice(2), allowedValues = name in COUNT_PARAMETERS ? name === "tokenize" ? TOKENIZERS : [true, false] : name === "smoothing" ? SMOOTHINGS.map(([method]) => method) : name === "effective_order" ? [false] : null;
    if (!key.startsWith("p.")) continue;
    let parsedValue = null;
    try { parsedValue = JSON.parse(value); } catch { continue; }
    if (name === "weights" && areWeights(parsedValue)) overrides.weights = parsedValue;
    const ends = CONTROL_LIMITS[name];
    if (allowedValues ? allowedValues.includes(/** @type {never} */ (parsedValue)) : ends && typeof parsedValue === "number" && parsedValue >= ends[0] && parsedValue <= ends[1] && (name === "beta" || name === "smoothing_value" || Number.isInteger(parsedValue))) overrides[name] = parsedValue;
  }
  if (overrides.weights && overrides.weights.length !== (overrides.max_order ?? 4)) delete overrides.weights;
  return { metric: parts.get("m") ?? "bleu", overrides, hypothesis: parts.get("h") ?? "", references: references.length ? references : [""], source: parts.get("s") ?? "", scale: parts.get("scale") === "1" ? 1 : 100 };
}
