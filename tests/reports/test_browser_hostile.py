"""Data never becomes markup or script, in any field and any view."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from playwright_or_skip import expect

from truebleu.reports import report

pytestmark = pytest.mark.thorough

# Payloads that executed in other viewers come first. A successful payload leaves "pwned" somewhere.
PAYLOADS = [
    "<img src=x onerror=\"document.title='pwned';window.pwned=1;alert(1)\">",
    "<script>window.pwned=1;document.title='pwned'</script>",
    "</script><script>window.pwned=1</script><!--",
    "</style><style>*{display:none!important}</style>",
    "</title><svg onload=window.pwned=1><x-pwned>",
    "<!-- <script> --><x-pwned id=pwned>",
    "]]></textarea></select></template><x-pwned>",
    "'\"><svg/onload=window.pwned=1>//",
    '" autofocus onfocus=window.pwned=1 x="',
    "javascript:window.pwned=1",
    "data:text/html,<script>window.pwned=1</script>",
    "<iframe srcdoc='<script>parent.pwned=1</script>'></iframe>",
    '<a href="javascript:window.pwned=1" class=pwned>click</a>',
    "<details open ontoggle=window.pwned=1><x-pwned></details>",
    "<math><mtext></p><x-pwned><mglyph><style><!--</style><img title='--&gt;&lt;img src=1&gt;'>",
    "<meta http-equiv=refresh content='0;url=about:blank#pwned'><base href=//pwned/>",
    "<form action=//pwned><input name=title><button formaction=javascript:window.pwned=1>",
    "{{constructor.constructor('window.pwned=1')()}}${window.pwned=1}`+window.pwned+`",
    "&lt;img src=x onerror=window.pwned=1&gt; &#60;x-pwned&#62; &quot;&amp;lt;",
    "\u2028window.pwned=1\u2029//</ScRiPt\x0b><x-pwned>",
    "__proto__",
    "constructor",
    "\u202e<x-pwned>\u2066\x00<x\x00-pwned>",
    "+ADw-script+AD4-window.pwned=1+ADw-/script+AD4- %3Cx-pwned%3E",
]  # fmt: skip

# Elements that the viewer creates; any other element comes from the data.
VIEWER_TAGS = """
A ABBR ARTICLE ASIDE BDI BR BODY BUTTON CAPTION CODE DATA DATALIST DD DETAILS DIALOG DIV DL DT
EM FIELDSET FIGCAPTION FIGURE H1 H2 H3 HEAD HEADER HTML INPUT KBD LABEL LEGEND LI MAIN MARK
META NAV OPTION P PRE SCRIPT SECTION SELECT SMALL SPAN STRONG STYLE SUB SUMMARY SUP TABLE TBODY
TD TEXTAREA TFOOT TH THEAD TITLE TR UL WBR
svg g path rect line circle text title defs pattern
"""

INSPECT_PAGE = """() => {
  const some = query => [...document.querySelectorAll(query)], all = some("*");
  const links = some("[href], [src], [action]");
  return {
    pwned: window.pwned ?? null,
    tags: [...new Set(all.map(e => e.tagName))],
    handlers: all.flatMap(e => e.getAttributeNames()).filter(name => /^on/i.test(name)),
    named: some("[id*=pwned i], [class*=pwned i], [name=title]").length,
    links: links.flatMap(e => ["href", "src", "action"].map(a => e.getAttribute(a)))
      .filter(to => to !== null && !to.startsWith("#")),
    scripts: some("script").filter(s => !/^(application.json|text.plain)$/.test(s.type)).length,
    styles: some("style").length,
    metas: some("meta").length,
  };
}"""


def check_page(tab, place):
    seen = tab.evaluate(INSPECT_PAGE)
    assert seen["pwned"] is None, place
    assert sorted(set(seen["tags"]) - set(VIEWER_TAGS.split())) == [], place
    assert not seen["handlers"], place
    assert not seen["named"], place
    assert not seen["links"], place
    assert (seen["scripts"], seen["styles"], seen["metas"]) == (1, 1, 5), place


@pytest.fixture(scope="module")
def hostile_report(tmp_path_factory):
    """Return a report with every payload in every field, including file names."""
    folder = tmp_path_factory.mktemp("hostile")

    def write_file(name, lines):
        path = folder / name
        path.write_bytes("".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass"))
        return path

    first_texts = [f"{p} the cat" for p in PAYLOADS]
    second_texts = [f"the {p} cat" for p in PAYLOADS]
    references = [[f"the cat {p}", f"{p}"] for p in PAYLOADS]
    systems = {PAYLOADS[0]: first_texts, PAYLOADS[2]: second_texts}
    systems |= {PAYLOADS[8]: first_texts[::-1], "__proto__": second_texts[::-1]}
    return report(
        systems,
        references,
        source=write_file("<img src=x onerror=window.pwned=1>.de", PAYLOADS),
        documents=[PAYLOADS[i // 2] for i in range(len(PAYLOADS))],
        labels=dict.fromkeys((PAYLOADS[1], PAYLOADS[7], "__proto__"), PAYLOADS[::-1]),
        metrics=["bleu", "chrf", "ter"],
        also=["tokenize=char", "lowercase"],
        title=PAYLOADS[4],
        languages=('"><x-pwned>', "x' onclick=window.pwned=1"),
        samples=20,
        confidence=20,
    )  # fmt: skip


def test_hostile_data_stays_text_in_each_view(hostile_report, open_report):
    sheet = open_report(hostile_report)
    tab = sheet.page
    title = tab.title()
    for view in sheet.views:
        for setting in range(3):
            sheet.navigate(f"#{view}?setting={setting}")
            check_page(tab, view)
            assert tab.title().endswith(title.partition(" · ")[2])


@pytest.mark.parametrize("mode", ["match", "diff", "ref", "plain", "tokens"])
def test_hostile_data_stays_text_in_each_segment(hostile_report, open_report, mode):
    sheet = open_report(hostile_report)
    for i in range(len(PAYLOADS)):
        tab = sheet.navigate(f"#segments?seg={i + 1}&mode={mode}&setting={i % 4}")
        tab.get_by_role("heading", name=f"Segment {i + 1}").wait_for()
        # Token details contain data, too.
        token = tab.locator(".detail [data-token]").first
        if token.count():
            token.hover()
        check_page(tab, f"segment {i + 1}")


def test_hostile_data_stays_text_in_menus_and_dialogs(hostile_report, open_report):
    search_text = "%3Cx-pwned%3E"
    filters = f"doc=0&label=0:1&find={search_text}&about={search_text}"
    sheet = open_report(hostile_report, f"#segments?panel=true&{filters}")
    tab = sheet.page
    check_page(tab, "filters")
    for select in tab.locator("select").all():
        assert select.locator("option").count()
    tab.keyboard.press("?")
    tab.get_by_role("dialog").wait_for()
    check_page(tab, "help")
    tab.keyboard.press("Escape")
    # A search for a payload finds it and displays the search text.
    for search_text in PAYLOADS[:4]:
        tab = sheet.navigate("#segments")
        tab.get_by_role("searchbox").fill(search_text)
        expect(tab.locator(".chips")).to_contain_text(search_text)
        check_page(tab, "search")
    tab.get_by_role("button", name="Sort").click()
    check_page(tab, "sort")


URL_KEYS = "find about flag label range sort setting weights smoothing mode lines in format mark"


def test_hostile_url_stays_text(example, open_report):
    tab = open_report(example.path).page
    for payload in map(quote, PAYLOADS):
        for key in URL_KEYS.split():
            tab.evaluate("where => { location.hash = where; }", f"#segments?only=1&{key}={payload}")
        check_page(tab, payload)
        tab.evaluate("where => { location.hash = where; }", f"#{payload}?{payload}=1")
    check_page(tab, "views")
    assert "pwned" not in tab.title()


def test_hostile_data_stays_text_in_static_summary(hostile_report, open_report):
    sheet = open_report(hostile_report, wait=False, java_script_enabled=False)
    assert sheet.page.locator("main#static").inner_text().count("onerror") >= 1
    assert sheet.page.locator("x-pwned, img, iframe, [onerror], [onload]").count() == 0


def test_hostile_data_stays_text_in_notebook(hostile_report, browser, tmp_path):
    """Check the summary inside a notebook page, which has no policy."""
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><title>own</title>{hostile_report._repr_html_()}", "utf-8")
    tab = browser.new_page()
    dialogs = []
    tab.on("dialog", lambda d: (dialogs.append(d.message), d.dismiss()))
    tab.goto(path.as_uri())
    assert tab.title() == "own"
    assert tab.evaluate("window.pwned ?? null") is None
    assert not dialogs
    assert tab.locator("x-pwned, img, iframe, script, [onerror], [onload]").count() == 0
    tab.close()
