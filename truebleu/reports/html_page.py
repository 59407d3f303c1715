"""Join page.html, page.css, the modules of the viewer and a report's data into one file.

The viewer consists of JavaScript modules that import each other. A page is a single file, so the
modules are joined into one script in the order of their imports, and the worker's modules are
embedded as text. tests/reports/viewer_rules.py checks the restrictions that this requires. Comments
and indentation are removed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from truebleu.rendering import html
from truebleu.rendering.html import escape_html, hash_for_csp
from truebleu.reports import payload, static_summary

PACKAGE_FOLDER = Path(__file__).parent

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src '{}' 'wasm-unsafe-eval'; worker-src blob:; style-src '{}'; "
    "img-src data:; connect-src {}; base-uri 'none'; form-action 'none'"
)

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_IMPORT = re.compile(r'^import \{[^}\n]*\} from "\./([\w-]+\.js)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async function|function|class|const|let)\b)", re.MULTILINE)
# Comment lines, type annotations and indentation, which browsers do not need.
_AUTHOR_STYLE = re.compile(r"^\s+|/\*.*?\*/\s*", re.MULTILINE | re.DOTALL)
_AUTHOR_TEXT = re.compile(r"^\s*//[^\n]*\n|/\*\*.*?\*/\s*|^\s+", re.MULTILINE | re.DOTALL)


class Viewer:
    """The style, scripts and template that all pages share."""

    __slots__ = ("css", "script", "template", "worker")

    def __init__(self, folder: Path, style: str, entry: str = "report.js") -> None:
        self.css = _AUTHOR_STYLE.sub("", _read_viewer_file(folder / "page.css") + style)
        self.script = join_modules(folder / "viewer", entry)
        self.worker = join_modules(folder / "viewer", "worker.js")
        # Pieces of markup, alternating with placeholder names.
        self.template = _PLACEHOLDER.split(_read_viewer_file(folder / "page.html"))


def assemble_page(
    title: str,
    summary: str,
    manifest: Mapping[str, Any],
    blocks: Iterable[tuple[str, bytes]],
    *,
    viewer: Viewer,
    connect: str = "'none'",
) -> bytes:
    """Return the page as bytes.

    summary: HTML of the static summary.
    blocks: names and encoded blocks, as `payload.encode_blocks` yields them.
    connect: source from which the page may load data, for its content-security policy.
    """
    placeholder_values = {
        "title": escape_html(title).encode(),
        "csp": format_policy(viewer, connect).encode(),
        "css": viewer.css.encode(),
        "summary": summary.encode(),
        "manifest": payload.to_script_json(manifest).encode(),
        "worker": viewer.worker.encode(),
        "script": viewer.script.encode(),
    }

    def generate_parts() -> Iterator[bytes]:
        for markup, placeholder in zip(
            viewer.template[::2], [*viewer.template[1::2], ""], strict=True
        ):
            yield markup.encode()
            for name, block in blocks if placeholder == "blocks" else ():
                yield f'<script type="text/plain" data-block="{escape_html(name)}">'.encode()
                yield block
                yield b"</script>\n"
            yield placeholder_values.get(placeholder, b"")

    return b"".join(generate_parts())


def render_page(
    manifest: Mapping[str, Any],
    blocks: Mapping[str, bytes],
    workers: int = 1,
    connect: str = "'none'",
) -> bytes:
    """Return the page with a report's manifest and blocks."""
    encoded_blocks = payload.encode_blocks(blocks, workers)
    summary, viewer = static_summary.render_summary(manifest), load_report_viewer()
    return assemble_page(
        manifest["title"], summary, manifest, encoded_blocks, viewer=viewer, connect=connect
    )


def format_policy(viewer: Viewer, connect: str = "'none'") -> str:
    """Return a content-security policy that allows only this script, this style and the kernel."""
    return CONTENT_SECURITY_POLICY.format(
        hash_for_csp(viewer.script), hash_for_csp(viewer.css), connect
    )


@cache
def load_report_viewer() -> Viewer:
    """Return the style, scripts and template of a report."""
    return Viewer(PACKAGE_FOLDER, html.BASE_STYLE)


@cache
def load_playground_viewer() -> Viewer:
    """Return the viewer of the playground, which also builds reports in the page."""
    return Viewer(
        PACKAGE_FOLDER, html.BASE_STYLE + _read_viewer_file(PACKAGE_FOLDER / "lab.css"), "lab.js"
    )


# ---- joining modules ----


def join_modules(folder: Path, entry: str) -> str:
    """Join a module and all modules that it imports into one script."""
    modules: dict[str, str] = {}
    collect_modules(folder, entry, modules)
    body = "".join(f"// {name}\n{strip_comments(source)}" for name, source in modules.items())
    # A function scope keeps the viewer's names out of the window object.
    return f'(() => {{\n"use strict";\n{body}}})();\n'


def strip_comments(source: str) -> str:
    r"""Remove comments, type annotations and indentation from a module.

    >>> strip_comments("/** @param {number} x */\n  f(/** @type {any} */ (x));\n")
    'f((x));\n'
    """
    return _AUTHOR_TEXT.sub("", source)


def collect_modules(
    folder: Path, name: str, modules: dict[str, str], open_modules: Sequence[str] = ()
) -> None:
    """Add a module and the modules that it imports to `modules`, in execution order."""
    if name in modules or name in open_modules:
        return
    source = _read_viewer_file(folder / name)
    for imported_name in _IMPORT.findall(source):
        collect_modules(folder, imported_name, modules, (*open_modules, name))
    modules[name] = _EXPORT.sub("", _IMPORT.sub("", source))


def _read_viewer_file(path: Path) -> str:
    """Read a viewer file with normalized line endings, because browsers hash it in this form."""
    return path.read_text(encoding="utf-8").replace("\r\n", "\n")
