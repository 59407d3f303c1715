"""Contrast of HTML within another program's page, as computed by a browser."""

# Find texts with too little contrast to their background: the ratio by WCAG 2, and the text.
FIND_LOW_CONTRAST = """root => {
  const ink = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const known = new Map();
  const rgba = colour => {
    if (known.has(colour)) return known.get(colour);
    ink.clearRect(0, 0, 1, 1); ink.fillStyle = colour; ink.fillRect(0, 0, 1, 1);
    known.set(colour, [...ink.getImageData(0, 0, 1, 1).data].map(v => v / 255));
    return known.get(colour);
  };
  const over = (top, bottom) =>
    [0, 1, 2].map(i => top[i] * top[3] + bottom[i] * (1 - top[3])).concat(1);
  const behind = e => e === null ? [1, 1, 1, 1]
    : over(rgba(getComputedStyle(e).backgroundColor), behind(e.parentElement));
  const light = c => c.slice(0, 3).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const found = [];
  for (const e of root.querySelectorAll("*")) {
    const own = [...e.childNodes].filter(n => n.nodeType === 3 && n.data.trim());
    if (!own.length || e.closest("svg, math, style, script") || !e.checkVisibility()) continue;
    const paper = behind(e), text = over(rgba(getComputedStyle(e).color), paper);
    const lights = [light(text), light(paper)];
    const ratio = (Math.max(...lights) + .05) / (Math.min(...lights) + .05);
    if (ratio < 4.5) found.push([ratio.toFixed(2), own[0].data.trim().slice(0, 40)]);
  }
  return found;
}"""

# Check if the background of an element is light.
IS_BACKGROUND_LIGHT = """e => {
  const parts = getComputedStyle(e).backgroundColor.match(/[\\d.]+/g).map(Number);
  return parts[0] + parts[1] + parts[2] > 384;
}"""
