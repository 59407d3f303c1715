// Chart of Δ by position in the test set, which shows whether the difference is stable.
import {el, formatCount, formatPlural, svg, formatDelta, renderScore, getPointUnit} from "./dom.js";
import {showFiltered} from "./selection.js";
import {roundHundredth, linkSegments, formatScoreTick} from "./svg_charts.js";
import {renderPlot} from "./axes.js";

const MAX_BLOCKS = 40, MIN_BLOCK_SIZE = 10;

/** Split segments into consecutive blocks of about equal size. @param {number} n @returns {[number, number][]} start and end of each block */
export function splitIntoBlocks(n) {
  const size = Math.max(MIN_BLOCK_SIZE, Math.ceil(n / MAX_BLOCKS)), all = Math.max(1, Math.floor(n / size));
  return Array.from({ length: all }, (_, k) => [Math.round(k * n / all), Math.round((k + 1) * n / all)]);
}

/** @param {import("./selection.js").Context} context */
export function drawDeltaByPosition(context) {
  const { data, store, current } = context, { a, metric } = current, b = /** @type {import("./report_data.js").System} */ (current.b), { n } = data;
  const rows = current.cached(`course ${a.index} ${b.index} ${current.id}`, () => splitIntoBlocks(n).map(([from, to]) => {
    const segments = Uint32Array.from({ length: to - from }, (_, i) => from + i), precedingSegments = Uint32Array.from({ length: to }, (_, i) => i), getDelta = (/** @type {Uint32Array} */ indices) => current.scoreCorpus(b, indices) - current.scoreCorpus(a, indices);
    return { from, to, own: getDelta(segments), up: getDelta(precedingSegments) };
  }));
  const values = rows.flatMap(r => [r.own, r.up, 0]).filter(Number.isFinite), low = Math.min(...values), high = Math.max(...values), pad = (high - low) * 0.05 || 1, getVerdict = (/** @type {number} */ v) => v ? ((v > 0) === metric.higherIsBetter ? "better" : "worse") : "same";
  const wins = rows.filter(r => getVerdict(r.own) === "better").length, describeBlock = (/** @type {typeof rows[number]} */ r) => `segments ${formatCount(r.from + 1)} to ${formatCount(r.to)}`;
  const getFilter = (/** @type {typeof rows[number]} */ r) => ({ only: Array.from({ length: r.to - r.from }, (_, i) => r.from + i + 1).join(","), about: describeBlock(r) });
  return renderPlot({
    title: `Δ ${metric.name} by position in the test set.`, summary: `${b.letter} is better in ${formatCount(wins)} of ${formatPlural(rows.length, "block")} of about ${formatCount(n / rows.length)} segments. The line is the cumulative Δ. If it is flat, more segments would hardly change Δ.`,
    height: width => Math.min(420, width * 0.5), across: { title: "segment number", low: 0, high: n }, up: { title: `Δ ${metric.name}, ${b.letter} − ${a.letter}, ${getPointUnit()}`, low: low - pad, high: high + pad, formatValue: formatScoreTick },
    legend: [{ text: `${b.letter} better`, mark: "bar", class: "block better" }, { text: `${a.letter} better`, mark: "bar", class: "block worse" }, { text: "cumulative Δ", mark: "line", class: "total-line" }],
    layers: frame => [rows.map(r => { const [y, zero] = [frame.y(r.own), frame.y(0)]; return svg("rect.block", { class: getVerdict(r.own), x: roundHundredth(frame.x(r.from) + 0.5), width: roundHundredth(Math.max(0.5, frame.x(r.to) - frame.x(r.from) - 1)), y: roundHundredth(Math.min(y, zero)), height: roundHundredth(Math.max(0.5, Math.abs(y - zero))) }); }),
      svg("line.zero", { x1: frame.left, x2: frame.right, y1: roundHundredth(frame.y(0)), y2: roundHundredth(frame.y(0)) }), svg("path.series.total-line", { d: `M${rows.map(r => `${roundHundredth(frame.x(r.to))} ${roundHundredth(frame.y(r.up))}`).join("L")}` })],
    places: frame => rows.map(r => ({ x: frame.x(r.from), width: frame.x(r.to) - frame.x(r.from), y: frame.top, height: frame.bottom - frame.top, description: `${describeBlock(r)}: Δ ${formatDelta(r.own)}; cumulative ${formatDelta(r.up)}`, act: () => showFiltered(store, getFilter(r)) })),
    columns: [{ title: "Segments" }, { title: "Δ", number: true }, { title: "cumulative Δ", number: true }],
    rows: rows.map(r => [linkSegments(context, `${formatCount(r.from + 1)}–${formatCount(r.to)}`, getFilter(r)), el("span", { class: getVerdict(r.own) }, renderScore(r.own, formatDelta(r.own))), renderScore(r.up, formatDelta(r.up))]),
  });
}
