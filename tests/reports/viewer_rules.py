"""What the files of the viewer may look like, so that they can be joined to one page."""

# import {a, b} from "./x.js";      on one line, before everything else
# export function a() {}            also async function, function*, class, const, let
# names at the left margin          different in all modules
# strings and templates             each on one line

import re

from truebleu.reports import html_page

# What page.html leaves open.
PLACES = ("title", "csp", "css", "summary", "manifest", "blocks", "worker", "script")

IMPORT = re.compile(r'^import \{([^}\n]*)\} from "\./([\w-]+\.js)";$', re.MULTILINE)
LEFTOVER = re.compile(r"^(?:import|export)\b.*$", re.MULTILINE)
DECLARED = re.compile(
    r"^(?:export )?(?:(?:async )?function\b\s*\*?|class\b|const\b|let\b|var\b)\s*([\w$]+|[\[{])",
    re.MULTILINE,
)
# The end of a script element, and what makes HTML count such elements.
UNFIT = re.compile(r"</script|<!--", re.IGNORECASE)


def broken(folder, entry="report.js"):
    """Each rule that the files of a folder do not keep."""
    yield from broken_by_template((folder / "page.html").read_text(encoding="utf-8"))
    if "</style" in (folder / "page.css").read_text(encoding="utf-8").lower():
        yield "page.css: it would end its element"
    for first in (entry, "worker.js"):
        yield from broken_by_modules(folder / "viewer", first)


def broken_by_template(template):
    named = re.findall(r"\{\{(\w+)\}\}", template)
    if sorted(named) != sorted(PLACES):
        yield f"page.html has {', '.join(named)}; once each: {', '.join(PLACES)}"
    for place, element in (("css", "style"), ("script", "script")):
        # The hash is of everything between the tags.
        if not re.search(rf"<{element}(?: [^>]*)?>\{{\{{{place}\}}\}}</{element}>", template):
            yield f"page.html: {place} and nothing else stands in <{element}>"


def broken_by_modules(folder, entry):
    modules = {}
    try:
        html_page.collect_modules(folder, entry, modules)
    except FileNotFoundError as error:
        yield f"no module {error.filename}"
        return
    owner = {}
    for name, joined in modules.items():
        source = (folder / name).read_text(encoding="utf-8")
        for names, other in IMPORT.findall(source):
            found = DECLARED.finditer((folder / other).read_text(encoding="utf-8"))
            exported = {match[1] for match in found if match[0].startswith("export")}
            for wanted in {one.strip() for one in names.split(",")} - exported - {""}:
                yield f"{name} imports {wanted}, which {other} does not export"
        for line in LEFTOVER.findall(joined):
            yield f"{name}: modules cannot be joined with this line: {line}"
        for own in DECLARED.findall(joined):
            if own in "[{":
                yield f"{name}: a pattern is declared at the left margin"
            elif own in owner:
                yield f"{own} is declared in {owner[own]} and in {name}"
            owner[own] = name
        for unfit in UNFIT.findall(html_page.strip_comments(joined)):
            yield f"{name}: {unfit} would be read as markup; write it in two parts"
