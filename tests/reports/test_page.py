"""Pages assembled from a template, a style, modules and data."""

import base64
import hashlib
import re
import shutil
import subprocess

import pytest
from page_parser import Page
from viewer_rules import find_violated_rules

from truebleu.reports import html_page

TEMPLATE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{{csp}}">
<title>{{title}}</title><style>{{css}}</style></head>
<body>{{summary}}
<script type="application/json" id="manifest">{{manifest}}</script>
{{blocks}}<script type="text/plain" id="worker">{{worker}}</script>
<script>{{script}}</script></body></html>
"""

MODULES = {
    "report.js": """// What is run.
import {number, Thing} from "./numbers.js";
import {word} from "./words.js";

/** @param {number} n */
function told(n) { return `${word} ${n}`; }

result = told(number + new Thing().size);
""",
    "numbers.js": """import {word} from "./words.js";
export const number = word.length;
export class Thing { get size() { return 38; } }
""",
    "words.js": 'export const word = "word";\nexport async function later() {}\n',
    "worker.js": 'import {word} from "./words.js";\npostMessage(word);\n',
}


@pytest.fixture
def viewer_folder(tmp_path):
    (tmp_path / "viewer").mkdir()
    (tmp_path / "page.html").write_text(TEMPLATE)
    (tmp_path / "page.css").write_text("body { margin: 0 }\n")
    for name, source in MODULES.items():
        (tmp_path / "viewer" / name).write_text(source)
    return tmp_path


def make_viewer(viewer_folder):
    return html_page.Viewer(viewer_folder, "")


def assemble_page(viewer_folder, title="A title", **options):
    parts = {"summary": "<p>read</p>", "manifest": {"a": 1}, "blocks": [("b", b"QUJD")]} | options
    return html_page.assemble_page(title, **parts, viewer=make_viewer(viewer_folder))


# ---- joining ----


def test_modules_follow_their_imports(viewer_folder):
    script = make_viewer(viewer_folder).script
    modules = re.findall(r"^// (\S+\.js)$", script, re.MULTILINE)
    assert modules == ["words.js", "numbers.js", "report.js"]
    assert not re.search(r"^(import|export)\b", script, re.MULTILINE)


def test_joined_script_runs(viewer_folder):
    if not shutil.which("node"):
        pytest.skip("there is no node to run it")
    script = f"let result; {make_viewer(viewer_folder).script}; console.log(result)"
    output = subprocess.check_output(["node", "-e", script], text=True)
    assert output == "word 42\n"


def test_worker_contains_only_its_imports(viewer_folder):
    worker = make_viewer(viewer_folder).worker
    assert 'const word = "word";' in worker
    assert "told" not in worker


def test_circular_imports_are_joined(viewer_folder):
    (viewer_folder / "viewer" / "words.js").write_text(
        'import {number} from "./numbers.js";\nexport const word = "word";\n'
        "export function again() { return number; }\n"
    )
    # As in a browser, the module that is loaded first runs last.
    script = make_viewer(viewer_folder).script
    places = [script.index(f"// {name}.js") for name in ("words", "numbers", "report")]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("name", "source", "message"),
    [
        ("report.js", 'import {nothing} from "./words.js";\n', "imports nothing, which words"),
        ("report.js", 'import {x} from "./missing.js";\n', "missing.js"),
        ("report.js", 'import * as all from "./words.js";\n', "joined with this line: import *"),
        ("report.js", 'import {word as w} from "./words.js";\n', "imports word as w"),
        ("report.js", "export default 1;\n", "cannot be joined with this line: export default 1;"),
        ("numbers.js", "export const number = 1; class Thing {}\nclass Thing {}", "not export"),
        ("report.js", 'import {word} from "./words.js";\nconst word = 1;', "word is declared in"),
        ("report.js", "const {a, b} = window;\n", "a pattern is declared at the left margin"),
        ("report.js", 'const end = "</scr" + "ipt>", bad = "</SCRIPT>";\n', "read as markup"),
        ("report.js", "const x = `<!--`;\n", "<!-- would be read as markup"),
    ],
)
def test_unsupported_syntax_is_reported(viewer_folder, name, source, message):
    assert not list(find_violated_rules(viewer_folder))
    (viewer_folder / "viewer" / name).write_text(source)
    assert any(message in rule for rule in find_violated_rules(viewer_folder))


@pytest.mark.parametrize("entry", ["report.js", "lab.js"])
def test_package_modules_follow_rules(entry):
    assert not list(find_violated_rules(html_page.PACKAGE_FOLDER, entry))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{{title}}", "", "page.html has"),
        ("{{title}}", "{{title}}{{title}}", "page.html has"),
        ("{{title}}", "{{name}}", "page.html has"),
        ("<script>{{script}}", "<script> {{script}}", "script and nothing else stands in <script>"),
        ("{{css}}<", "{{css}} <", "css and nothing else stands in <style>"),
    ],
)
def test_invalid_template_is_reported(viewer_folder, old, new, message):
    (viewer_folder / "page.html").write_text(TEMPLATE.replace(old, new))
    assert any(message in rule for rule in find_violated_rules(viewer_folder))


# ---- the page ----


def test_page_contains_all_parts(viewer_folder):
    page = Page(assemble_page(viewer_folder))
    assert page.title == "A title"
    assert "read" in page.text
    assert page.manifest == {"a": 1}
    blocks = [text for attributes, text in page.scripts if attributes.get("data-block") == "b"]
    assert blocks == ["QUJD"]


def test_policy_allows_only_own_script_and_style(viewer_folder):
    page = Page(assemble_page(viewer_folder))

    def hash_source(text):
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    style = page.scripts[0][1]
    script = page.scripts[-1][1]
    assert style.startswith("body")
    assert script.startswith("(() => {")
    assert page.policy == {
        "default-src": "'none'",
        "script-src": f"{hash_source(script)} 'wasm-unsafe-eval'",
        "worker-src": "blob:",
        "style-src": hash_source(style),
        "img-src": "data:",
        "connect-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }


def test_placeholders_in_data_are_not_replaced(viewer_folder):
    page = Page(assemble_page(viewer_folder, title="{{script}}", manifest={"a": "{{css}}"}))
    assert page.title == "{{script}}"
    assert page.manifest == {"a": "{{css}}"}


def test_title_is_escaped(viewer_folder):
    page = Page(assemble_page(viewer_folder, title="</title><script>alert(1)</script>"))
    assert page.title == "</title><script>alert(1)</script>"
    assert len(page.scripts) == len(Page(assemble_page(viewer_folder)).scripts)


def test_windows_line_ends_do_not_change_script(viewer_folder):
    script = make_viewer(viewer_folder).script
    for file in (viewer_folder / "viewer").iterdir():
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert make_viewer(viewer_folder).script == script
