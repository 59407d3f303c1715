// Charts view: charts of all segments, with links from each chart to its segments.
import {el, createSelect} from "./dom.js";
import {drawDeltaByPosition} from "./delta_by_position.js";
import {getSystemGroupings, drawSystemHeatmap, drawMetricAgreement} from "./heatmap.js";
import {getSharedGroupings, drawLineChart} from "./line_chart.js";
import {drawScatter} from "./scatter.js";
import {drawSegmentMaps, listMapParts} from "./segment_map.js";
import {drawSystemScatter, listOtherMeasures} from "./system_scatter.js";
import {drawDistribution} from "./density_plot.js";

/** @typedef {import("./selection.js").Context} Context */
/** @typedef {{title: string, by?: Record<string, {title: string}>, draw: (by: string) => any}} Chart */

/** Return the charts available for this report, by id. @param {Context} context @returns {Record<string, Chart>} */
function listCharts(context) {
  const { a, b } = context.current, { current } = context, groups = getSystemGroupings(context), mapParts = listMapParts(context), others = listOtherMeasures(context), buckets = getSharedGroupings(context);
  /** @type {Record<string, Chart>} */
  const charts = {};
  if (b) charts.scatter = { title: `Scores of ${a.letter} and ${b.letter} per segment`, draw: () => drawScatter(context) };
  charts.spread = { title: "Distribution of scores", draw: () => drawDistribution(context, "score") };
  if (current.hasColumn("ratio")) charts.ratio = { title: "Distribution of length ratios", draw: () => drawDistribution(context, "ratio") };
  if (b) charts.course = { title: "Δ by position in the test set", draw: () => drawDeltaByPosition(context) };
  charts.all = { title: "All systems by bin", by: /** @type {any} */ (buckets), draw: by => drawLineChart(context, by) };
  if (Object.keys(groups).length) charts.groups = { title: "Systems by domain or document", by: groups, draw: by => drawSystemHeatmap(context, by) };
  if (b && current.measures.length > 1) charts.metrics = { title: "Agreement of metrics", draw: () => drawMetricAgreement(context) };
  if (Object.keys(others).length) charts.systems = { title: "Systems by two metrics", by: others, draw: other => drawSystemScatter(context, other) };
  if (Object.keys(mapParts).length) charts.map = { title: "Map of re-segmentation", by: mapParts, draw: part => drawSegmentMaps(context, part) };
  return charts;
}

/** @type {import("./main.js").View} */
export const picturesView = {
  id: "pictures", title: "Pictures", key: "p", state: { picture: "", picture_by: "" },
  render(container, context) {
    const { store } = context, charts = listCharts(context), id = store.get("picture") in charts ? store.get("picture") : Object.keys(charts)[0], { by = {}, draw } = charts[id], kinds = Object.keys(by), kind = kinds.includes(store.get("picture_by")) ? store.get("picture_by") : kinds[0] ?? "";
    container.append(el("h1", {}, "Pictures"), el("p.facts", {}, "The charts ignore filters and show all segments. Click a chart to see its segments. Each chart can be saved as SVG."),
      el("div.tabs", {}, el("label", {}, el("span.soft", {}, "Picture "), createSelect("Picture", Object.entries(charts).map(([key, chart]) => /** @type {const} */ ([key, chart.title])), id, picture => store.set({ picture, picture_by: "" }))),
        kinds.length > 1 ? el("label", {}, el("span.soft", {}, "By "), createSelect("By", kinds.map(key => /** @type {const} */ ([key, by[key].title])), kind, picture_by => store.set({ picture_by }, { replace: true }))) : null),
      draw(kind));
  },
};
