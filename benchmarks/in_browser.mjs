// What benchmarks/in_browser.py measures inside of a report's page: milliseconds per action.

new MutationObserver((_, observer) => {
  if (document.documentElement?.dataset.ready) {
    observer.disconnect();
    requestAnimationFrame(() => { window.usable = performance.now(); });
  }
}).observe(document, { attributes: true, subtree: true });

// Sort the list by the column whose button has a title with this text.
window.sortBy = title => {
  const button = [...document.querySelectorAll(".head button")].find(one => one.title.includes(title));
  const start = performance.now();
  button.click();
  document.querySelector(".grid").getBoundingClientRect();
  return performance.now() - start;
};

// Measure the time from the change of the URL until the list shows the results.
window.openView = where => new Promise(done => {
  let start;
  addEventListener("hashchange", () => { start = performance.now(); }, { capture: true, once: true });
  addEventListener("hashchange", () => setTimeout(() => {
    document.querySelector("main").getBoundingClientRect();
    done(performance.now() - start);
  }), { once: true });
  location.hash = where;
});

// Scroll to 60 places; return the 95th percentile of the time of two frames.
window.scrollList = async () => {
  const grid = document.querySelector(".grid"), frame = () => new Promise(requestAnimationFrame);
  const times = [];
  for (let i = 0, at = 1; i < 60; i++) {
    at = (at * 7919 + 13) % 104729;
    const start = performance.now();
    grid.scrollTop = at / 104729 * (grid.scrollHeight - grid.clientHeight);
    await frame();
    await frame();
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[Math.floor(0.95 * times.length)];
};
