// Pictures of all segments, of which each answers one question; all lead to the segments.
import {el, createSelect} from "./dom.js";
import {drawDeltaByPosition} from "./delta_by_position.js";
import {getSystemGroupings, drawSystemHeatmap, drawMetricAgreement} from "./heatmap.js";
import {getSharedGroupings, drawLineChart} from "./line_chart.js";
import {drawScatter} from "./scatter.js";
import {drawDistribution} from "./density_plot.js";

/** @typedef {import("./selection.js").Context} Context */
/** @typedef {{title: string, by?: Record<string, {title: string}>, draw: (by: string) => any}} Chart */

/** The pictures that there can be of this file, by their ids. @param {Context} context @returns {Record<string, Chart>} */
function listCharts(context) {
  const { current } = context, { b } = current, groups = getSystemGroupings(context), buckets = getSharedGroupings(context);
  /** @type {Record<string, Chart>} */
  const charts = {};
  if (b) charts.scatter = { title: "A against B, segment by segment", draw: () => drawScatter(context) };
  charts.spread = { title: "How scores are spread", draw: () => drawDistribution(context, "score") };
  if (current.hasColumn("ratio")) charts.ratio = { title: "How length ratios are spread", draw: () => drawDistribution(context, "ratio") };
  if (b) charts.course = { title: "Δ by position in the test set", draw: () => drawDeltaByPosition(context) };
  charts.all = { title: "All systems in buckets", by: /** @type {any} */ (buckets), draw: by => drawLineChart(context, by) };
  if (Object.keys(groups).length) charts.groups = { title: "Systems by domain or document", by: groups, draw: by => drawSystemHeatmap(context, by) };
  if (b && current.measures.length > 1) charts.metrics = { title: "How far metrics agree", draw: () => drawMetricAgreement(context) };
  return charts;
}

/** @type {import("./main.js").View} */
export const picturesView = {
  id: "pictures", title: "Pictures", key: "p", state: { picture: "", picture_by: "" },
  render(container, context) {
    const { store } = context, charts = listCharts(context), id = store.get("picture") in charts ? store.get("picture") : Object.keys(charts)[0], { by = {}, draw } = charts[id], kinds = Object.keys(by), kind = kinds.includes(store.get("picture_by")) ? store.get("picture_by") : kinds[0] ?? "";
    container.append(el("h1", {}, "Pictures"), el("p.facts", {}, "Of all segments, whatever is filtered. A click shows the segments behind a place; each can be saved for a paper."),
      el("div.tabs", {}, el("label", {}, el("span.soft", {}, "Picture "), createSelect("Picture", Object.entries(charts).map(([key, chart]) => /** @type {const} */ ([key, chart.title])), id, picture => store.set({ picture, picture_by: "" }))),
        kinds.length > 1 ? el("label", {}, el("span.soft", {}, "By "), createSelect("By", kinds.map(key => /** @type {const} */ ([key, by[key].title])), kind, picture_by => store.set({ picture_by }, { replace: true }))) : null),
      draw(kind));
  },
};
