"""Rules for the viewer's files that allow joining them into one page."""

# import {a, b} from "./x.js";      on one line, before everything else
# export function a() {}            also async function, function*, class, const, let
# names at the left margin          different in all modules
# strings and templates             each on one line

import re

from truebleu.reports import html_page

# Placeholders in page.html.
PLACEHOLDERS = ("title", "csp", "css", "summary", "manifest", "blocks", "worker", "script")

IMPORT_STATEMENT = re.compile(r'^import \{([^}\n]*)\} from "\./([\w-]+\.js)";$', re.MULTILINE)
MODULE_STATEMENT = re.compile(r"^(?:import|export)\b.*$", re.MULTILINE)
DECLARATION = re.compile(
    r"^(?:export )?(?:(?:async )?function\b\s*\*?|class\b|const\b|let\b|var\b)\s*([\w$]+|[\[{])",
    re.MULTILINE,
)
# Text that ends a script element or starts an HTML comment.
UNSAFE_MARKUP = re.compile(r"</script|<!--", re.IGNORECASE)


def find_violated_rules(folder, entry="report.js"):
    """Yield a message for each rule that the files of a folder violate."""
    yield from find_template_violations((folder / "page.html").read_text(encoding="utf-8"))
    if "</style" in (folder / "page.css").read_text(encoding="utf-8").lower():
        yield "page.css: it would end its element"
    for entry_module in (entry, "worker.js"):
        yield from find_module_violations(folder / "viewer", entry_module)


def find_template_violations(template):
    placeholders = re.findall(r"\{\{(\w+)\}\}", template)
    if sorted(placeholders) != sorted(PLACEHOLDERS):
        yield f"page.html has {', '.join(placeholders)}; once each: {', '.join(PLACEHOLDERS)}"
    for place, element in (("css", "style"), ("script", "script")):
        # The hash is of everything between the tags.
        if not re.search(rf"<{element}(?: [^>]*)?>\{{\{{{place}\}}\}}</{element}>", template):
            yield f"page.html: {place} and nothing else stands in <{element}>"


def find_module_violations(folder, entry):
    modules = {}
    try:
        html_page.collect_modules(folder, entry, modules)
    except FileNotFoundError as error:
        yield f"no module {error.filename}"
        return
    modules_by_name = {}
    for name, source_text in modules.items():
        source = (folder / name).read_text(encoding="utf-8")
        for names, imported_module in IMPORT_STATEMENT.findall(source):
            declarations = DECLARATION.finditer(
                (folder / imported_module).read_text(encoding="utf-8")
            )
            exported = {match[1] for match in declarations if match[0].startswith("export")}
            for missing_name in {word.strip() for word in names.split(",")} - exported - {""}:
                yield f"{name} imports {missing_name}, which {imported_module} does not export"
        for line in MODULE_STATEMENT.findall(source_text):
            yield f"{name}: modules cannot be joined with this line: {line}"
        for declared in DECLARATION.findall(source_text):
            if declared in "[{":
                yield f"{name}: a pattern is declared at the left margin"
            elif declared in modules_by_name:
                yield f"{declared} is declared in {modules_by_name[declared]} and in {name}"
            modules_by_name[declared] = name
        for markup in UNSAFE_MARKUP.findall(html_page.strip_comments(source_text)):
            yield f"{name}: {markup} would be read as markup; write it in two parts"
