"""Where the checkout is, its examples, and the data that may lie beside it."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
# Specifications and published data; the tests that need them skip where they are not there.
SHARED = ROOT.parent / "shared"
