"""Tests of number formats with few significant digits."""

import json
import shutil
import subprocess

import pytest

from truebleu.rendering import number_format
from truebleu.reports import html_page
from truebleu.reports.html_page import strip_comments

ROUNDED_COUNTS = {
    2: "2",
    13: "13",
    99: "99",
    124: "120",
    125: "130",
    128: "130",
    994: "990",
    995: "1,000",
    3925: "3,900",
    87_011: "87,000",
    1_000_000: "1,000,000",
    1_000_001: "> 1 million",
    8_701_186: "> 1 million",
    10**12: "> 1 million",
}


@pytest.mark.parametrize(("segments", "text"), ROUNDED_COUNTS.items())
def test_segments_needed_have_two_digits(segments, text):
    assert number_format.format_segments_needed(segments) == text


def test_segments_needed_of_none_is_empty():
    assert number_format.format_segments_needed(None) == ""


def test_viewer_formats_counts_equally(tmp_path):
    node = shutil.which("node")
    if not node:
        pytest.skip("no Node here to run the viewer's functions")
    source = (html_page.PACKAGE_FOLDER / "viewer" / "dom.js").read_text("utf-8")
    (tmp_path / "dom.mjs").write_text(strip_comments(source), "utf-8")
    script = (
        'import {formatApproximateCount} from "./dom.mjs";'
        f"console.log(JSON.stringify({json.dumps(list(ROUNDED_COUNTS))}.map(formatApproximateCount)))"
    )
    (tmp_path / "run.mjs").write_text(script)
    done = subprocess.run([node, tmp_path / "run.mjs"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == list(ROUNDED_COUNTS.values())
