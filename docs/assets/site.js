// Accessibility features that the theme lacks: a label for the search field, and wide tables that
// can be scrolled with the keyboard.
document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
const observed = new WeakSet();
const reachable = new ResizeObserver((changes) => {
  for (const { target } of changes) {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});
const watch = () => {
  for (const wide of document.querySelectorAll(".md-typeset__scrollwrap")) {
    if (!observed.has(wide)) reachable.observe(wide);
    observed.add(wide);
  }
};
// The theme puts tables into these boxes after the page has loaded.
new MutationObserver(watch).observe(document.body, { childList: true, subtree: true });
watch();
