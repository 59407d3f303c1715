"""The console examples in README.md and docs/ equal the output of the commands."""

from __future__ import annotations

import re
import shlex

import pytest
from paths import ROOT
from readme_claims import as_pattern, console

from truebleu import PUBLIC

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
# Examples of other pages are of files that a reader has, or of downloads.
SHOWING = ["README.md", *(f"docs/{name}.md" for name in ("index", "command-line", "gate"))]
FOLDERS = ("docs/tutorials", "docs/how-to")
TEXT = "\n".join(
    page.read_text("utf-8")
    for page in PAGES
    if str(page.relative_to(ROOT)) in SHOWING or str(page.parent.relative_to(ROOT)) in FOLDERS
)
CONSOLE_EXAMPLES = console(TEXT)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """Return a folder with the examples, where commands also write their files."""
    folder = tmp_path_factory.mktemp("checkout")
    (folder / "examples").symlink_to(ROOT / "examples")
    return folder


@pytest.mark.parametrize(("command", "output"), CONSOLE_EXAMPLES)
def test_console_example_prints_this(command, output, truebleu_command, checkout):
    result = truebleu_command(*shlex.split(command)[1:], cwd=checkout)
    assert result.status == (3 if " failed: " in output else 0)
    if not re.fullmatch(as_pattern(output), result.output.rstrip("\n") + "\n"):
        assert result.output == output


def test_every_console_example_is_found():
    assert len(CONSOLE_EXAMPLES) == TEXT.count("$ truebleu ")


def test_links_have_targets():
    """In README.md and in every page, to files that are there."""
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
            # The site's own, which another test builds.
            is_generated = target.endswith(("lab.html", "report.html"))
            assert is_generated or (page.parent / target).exists(), f"{page.name}: {target}"


def test_documented_paths_exist():
    """Files and folders of the project that a page names between backticks."""
    folders = "truebleu|tests|docs|benchmarks|examples|kernel"
    for page in PAGES:
        for path in re.findall(rf"`((?:{folders})/[\w./-]+)`", page.read_text("utf-8")):
            assert (ROOT / path).exists(), f"{page.name}: {path}"
        for module in re.findall(r"`truebleu((?:\.[a-z]\w*)+)", page.read_text("utf-8")):
            name = module.split(".")[1]
            paths = ROOT / "truebleu" / name, ROOT / "truebleu" / f"{name}.py"
            is_known = name in PUBLIC or any(path.exists() for path in paths)
            assert is_known, f"{page.name}: truebleu{module}"
