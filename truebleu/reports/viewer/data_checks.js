// Data checks view: the flags found in the data, with links to their segments.
import {formatCount, el, formatPlural} from "./dom.js";
import {compareSystem, linkSegments} from "./svg_charts.js";

/** Count the segments in which a flag is set, per role and in total. @param {import("./report_data.js").ReportData} data @param {number} bit */
function countFlagged(data, bit) {
  const any = new Uint8Array(data.n);
  let total = 0;
  const roles = data.roles.map(role => {
    const bits = data.flags[role];
    let n = 0;
    if (bits) for (let i = 0; i < bits.length; i++) if (bits[i] >>> bit & 1) { n++; if (!any[i]) { any[i] = 1; total++; } }
    return /** @type {const} */ ([role, n]);
  }).filter(([, n]) => n);
  return { all: total, roles };
}

/** @type {WeakMap<object, ReturnType<typeof countAllFlags>>} */
const CHECK_CACHE = new WeakMap();

/** @param {import("./report_data.js").ReportData} data */
const countAllFlags = data => /** @type {{id: string, bit: number, title: string, explanation: string, severity: string}[]} */ (data.manifest.health?.flags ?? []).map(flag => ({ ...flag, ...countFlagged(data, flag.bit) }));

/** @param {import("./report_data.js").ReportData} data */
function getDataChecks(data) {
  let checks = CHECK_CACHE.get(data);
  if (!checks) CHECK_CACHE.set(data, checks = countAllFlags(data));
  return checks;
}

/** @type {import("./main.js").View} */
export const healthView = {
  id: "health", title: "Data health", key: "h",
  badge: data => { const n = getDataChecks(data).filter(f => f.all && f.severity === "warning").length; return n || null; },
  isEmpty: data => !data.manifest.health?.flags?.length,
  render(container, context) {
    const { data } = context, { segments } = data.manifest.health, scope = segments < data.n ? ` in the first ${formatPlural(segments, "segment")}` : "", checks = getDataChecks(data), raised = checks.filter(f => f.all).sort((x, y) => Number(y.severity === "warning") - Number(x.severity === "warning") || y.all - x.all), passed = checks.filter(f => !f.all);
    const warnings = raised.filter(f => f.severity === "warning").length;
    container.append(el("h1", {}, "Data health"), el("p.facts", {}, raised.length ? `${formatPlural(checks.length, "check")}: ${formatPlural(warnings, "warning")}, ${formatPlural(raised.length - warnings, "note")}${scope}. Click to see the segments.` : `${formatPlural(checks.length, "check")} found no problems${scope || ` in ${formatPlural(data.n, "segment")}`}.`),
      el("ul.flags", {}, raised.map(f => el("li.flag", { class: f.severity === "warning" ? "warning" : "" }, el("h2", {}, f.title, el("span.kind", {}, f.severity === "warning" ? "⚠ warning" : "note")), el("p", {}, f.explanation),
        el("p", {}, linkSegments(context, el("strong", {}, formatPlural(f.all, "segment")), { flag: f.id }), f.roles.map(([role, n]) => linkSegments(context, [data.getTitle(role), `: ${formatCount(n)}`], { flag: `${f.id}@${role}`, ...compareSystem(context, data.systems[Number(role.replace("system", ""))]?.name) })))))));
    if (raised.length && passed.length) container.append(el("section", {}, el("h2", {}, "Checks without findings"), el("p.soft", {}, passed.map(f => f.title.toLowerCase()).join("; "), ".")));
  },
};
