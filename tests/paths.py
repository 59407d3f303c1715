"""Paths of the checkout, its examples, and reference data that may be next to it."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
# Specifications and published data; the tests that need them skip where they are not there.
SHARED = ROOT.parent / "shared"


def read_example_lines(name: str) -> list[str]:
    """Return the lines of an example file, such as `de-en/birch.en`."""
    return (EXAMPLES / name).read_text("utf-8").split("\n")[:-1]
