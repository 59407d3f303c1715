"""Python code and commands of the documentation pages about engines, for tests that run them."""

import re
import shlex

from paths import EXAMPLES, ROOT


def extract_code_blocks(heading, page="engines"):
    """Return the fenced blocks below a heading as pairs of language and text."""
    body = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    _, _, below = body.partition(f"\n{heading}\n")
    body = re.split(r"^##", below, maxsplit=1, flags=re.MULTILINE)[0]
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", body, flags=re.MULTILINE | re.DOTALL)
    assert blocks, f"docs/{page}.md has no code below '{heading}'"
    return blocks


def run_section_code(heading, names, page="engines", folder="."):
    """Run all Python code of a section, and return the resulting names.

    Workers of Spark and Ray started in another folder need the `folder` of the files.
    """
    for language, code in extract_code_blocks(heading, page):
        if language == "python":
            placed = re.sub(r'(parquet\(f?"|Location", ")', rf"\1{folder}/", code)
            exec(compile(placed, f"docs/{page}.md: {heading}", "exec"), names)
    return names


def extract_commands(heading):
    """Return the arguments of each truebleu command line in a section."""
    lines = [
        line
        for language, text in extract_code_blocks(heading)
        if not language
        for line in text.split("\n")
    ]
    words = [shlex.split(line, comments=True) for line in lines]
    return [command[1:] for command in words if command[:1] == ["truebleu"]]


def make_tables(folder, page="engines"):
    """Create a page's tables in a folder, which must be the current one, and return the names."""
    (folder / "examples").symlink_to(EXAMPLES)
    return run_section_code("## Example tables", {}, page)
