// What the theme leaves out for keyboards and screen readers: a name of the search, and wide tables that can be scrolled.
document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
const known = new WeakSet();
const reachable = new ResizeObserver((changes) => {
  for (const { target } of changes) {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});
const watch = () => {
  for (const wide of document.querySelectorAll(".md-typeset__scrollwrap")) {
    if (!known.has(wide)) reachable.observe(wide);
    known.add(wide);
  }
};
// The theme puts tables into these boxes when the page is there.
new MutationObserver(watch).observe(document.body, { childList: true, subtree: true });
watch();
