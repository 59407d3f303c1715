"""One file of page.html, page.css, the modules of the viewer, and a report's data.

The viewer is JavaScript modules, which import from each other. A page has no second file that one
could be loaded from, so they are joined to one script in the order of their imports, and the
worker's are carried as text. What they may look like for that is tested
(tests/reports/viewer_rules.py). Comments and indentation stay behind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from truebleu.rendering import html
from truebleu.rendering.html import escaped, hashed
from truebleu.reports import payload, static_summary

FOLDER = Path(__file__).parent

POLICY = (
    "default-src 'none'; script-src '{}' 'wasm-unsafe-eval'; worker-src blob:; style-src '{}'; "
    "img-src data:; connect-src {}; base-uri 'none'; form-action 'none'"
)

_PLACE = re.compile(r"\{\{(\w+)\}\}")
_IMPORT = re.compile(r'^import \{[^}\n]*\} from "\./([\w-]+\.js)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async function|function|class|const|let)\b)", re.MULTILINE)
# Comments that fill lines, types, and what stands before the first word of a line.
_FOR_AUTHORS = re.compile(r"^\s*//[^\n]*\n|/\*\*.*?\*/\s*|^\s+", re.MULTILINE | re.DOTALL)


class Viewer:
    """The parts that are the same in every page."""

    __slots__ = ("css", "script", "template", "worker")

    def __init__(self, folder: Path, style: str, entry: str = "report.js") -> None:
        self.css = _read(folder / "page.css") + style
        self.script = joined(folder / "viewer", entry)
        self.worker = joined(folder / "viewer", "worker.js")
        # Pieces of markup, and the names of what stands between them.
        self.template = _PLACE.split(_read(folder / "page.html"))


def assembled(
    title: str,
    summary: str,
    manifest: Mapping[str, Any],
    blocks: Iterable[tuple[str, bytes]],
    *,
    viewer: Viewer,
    connect: str = "'none'",
) -> bytes:
    """The page.

    summary: markup; blocks: names and what `payload.encoded` gives; connect: the source that the
    page may load from.
    """
    parts = {
        "title": escaped(title).encode(),
        "csp": policy(viewer, connect).encode(),
        "css": viewer.css.encode(),
        "summary": summary.encode(),
        "manifest": payload.json_text(manifest).encode(),
        "worker": viewer.worker.encode(),
        "script": viewer.script.encode(),
    }

    def pieces() -> Iterator[bytes]:
        for markup, place in zip(viewer.template[::2], [*viewer.template[1::2], ""], strict=True):
            yield markup.encode()
            for name, block in blocks if place == "blocks" else ():
                yield f'<script type="text/plain" data-block="{escaped(name)}">'.encode()
                yield block
                yield b"</script>\n"
            yield parts.get(place, b"")

    return b"".join(pieces())


def written(
    manifest: Mapping[str, Any],
    blocks: Mapping[str, bytes],
    workers: int = 1,
    connect: str = "'none'",
) -> bytes:
    """The page of a manifest and its blocks, as they are in `build.Contents`."""
    packed = payload.encoded(blocks, workers)
    said, viewer = static_summary.render(manifest), own_viewer()
    return assembled(manifest["title"], said, manifest, packed, viewer=viewer, connect=connect)


def policy(viewer: Viewer, connect: str = "'none'") -> str:
    """The content-security policy: this script, this style, the kernel, nothing from elsewhere."""
    return POLICY.format(hashed(viewer.script), hashed(viewer.css), connect)


@cache
def own_viewer() -> Viewer:
    """The viewer that comes with the package."""
    return Viewer(FOLDER, html.STYLE)


@cache
def laboratory() -> Viewer:
    """The same with nothing in it, and what fills it in the page."""
    return Viewer(FOLDER, html.STYLE + _read(FOLDER / "lab.css"), "lab.js")


# ---- joining modules ----


def joined(folder: Path, entry: str) -> str:
    """A module and all that it imports as one script."""
    modules: dict[str, str] = {}
    collect(folder, entry, modules)
    body = "".join(f"// {name}\n{slimmed(source)}" for name, source in modules.items())
    # A scope of its own: names of the viewer are none of the window's.
    return f'(() => {{\n"use strict";\n{body}}})();\n'


def slimmed(source: str) -> str:
    r"""A module without what only its authors read: comments, types and indentation.

    >>> slimmed("/** @param {number} x */\n  f(/** @type {any} */ (x));\n")
    'f((x));\n'
    """
    return _FOR_AUTHORS.sub("", source)


def collect(folder: Path, name: str, found: dict[str, str], begun: Sequence[str] = ()) -> None:
    """Adds a module behind those that it imports, as a browser would run them."""
    if name in found or name in begun:
        return
    source = _read(folder / name)
    for other in _IMPORT.findall(source):
        collect(folder, other, found, (*begun, name))
    found[name] = _EXPORT.sub("", _IMPORT.sub("", source))


def _read(path: Path) -> str:
    """A file of the viewer. HTML counts line ends as one character, and so do hashes."""
    return path.read_text(encoding="utf-8").replace("\r\n", "\n")
