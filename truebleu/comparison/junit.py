"""A check as JUnit's XML: a test case for each condition, with what failed in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from truebleu.text.layout import visible

if TYPE_CHECKING:
    from truebleu.rendering.view import Content

# What a condition is called, with its limit.
NAMES = {
    "floor": "{metric} is no worse than {limit:g}",
    "drop": "{metric} is at most {limit:g} worse than before",
    "chance": "{metric} is not worse by more than chance makes",
}


def of_content(content: Content) -> str:
    """The XML of a check."""
    cases = [(metric, one) for metric in content["metrics"] for one in metric["conditions"]]
    failed = sum(not one["passed"] for _, one in cases)
    counts = {"tests": str(len(cases)), "failures": str(failed), "errors": "0"}
    suites = ET.Element("testsuites", counts)
    suite = ET.SubElement(suites, "testsuite", {"name": "truebleu check", **counts})
    for metric, one in cases:
        name = NAMES[one["kind"]].format(metric=metric["name"], limit=one["limit"])
        case = ET.SubElement(
            suite, "testcase", {"classname": visible(content["system"]), "name": visible(name)}
        )
        if not one["passed"]:
            failure = ET.SubElement(case, "failure", {"message": visible(one["told"])})
            lines = [f"{metric['name']}|{metric['signature']}"]
            if one["kind"] != "floor" and content["metric"] == metric["name"]:
                lines += _where(content)
            failure.text = "\n".join(map(visible, lines))
        else:
            ET.SubElement(case, "system-out").text = visible(one["told"])
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _where(content: Content) -> Iterator[str]:
    """The documents and the segments that fell most, a line each."""
    for kind, name, fell in (
        ("document", "name", content["documents"]),
        ("segment", "number", content["fallen"]),
    ):
        for one in fell:
            yield f"{kind} {one[name]} fell from {one['earlier']:.2f} to {one['score']:.2f}"
