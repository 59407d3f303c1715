"""What README.md and docs/ show of the command line is what the command line prints."""

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
SHOWN = console(TEXT)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A folder that has the examples, as a checkout has them; what a command writes stays in it."""
    folder = tmp_path_factory.mktemp("checkout")
    (folder / "examples").symlink_to(ROOT / "examples")
    return folder


@pytest.mark.parametrize(("command", "output"), SHOWN)
def test_a_console_example(command, output, truebleu_command, checkout):
    own = truebleu_command(*shlex.split(command)[1:], cwd=checkout)
    assert own.status == 0
    if not re.fullmatch(as_pattern(output), own.output.rstrip("\n") + "\n"):
        assert own.output == output


def test_there_are_examples():
    assert len(SHOWN) == TEXT.count("$ truebleu ")


def test_links_lead_somewhere():
    """In README.md and in every page, to files that are there."""
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
            made = target.endswith(
                ("lab.html", "report.html")
            )  # the site's own, which another test builds
            assert made or (page.parent / target).exists(), f"{page.name}: {target}"


def test_paths_in_the_documents_are_there():
    """Files and folders of the project that a page names between backticks."""
    folders = "truebleu|tests|docs|benchmarks|examples|kernel"
    for page in PAGES:
        for path in re.findall(rf"`((?:{folders})/[\w./-]+)`", page.read_text("utf-8")):
            assert (ROOT / path).exists(), f"{page.name}: {path}"
        for module in re.findall(r"`truebleu((?:\.[a-z]\w*)+)", page.read_text("utf-8")):
            parts = module.split(".")[1:]
            room = ROOT.joinpath("truebleu", parts[0])
            known = room.exists() or room.with_suffix(".py").exists() or parts[0] in PUBLIC
            assert known, f"{page.name}: truebleu{module}"
