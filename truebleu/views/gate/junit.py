"""A check as JUnit's XML: a test case for each condition, with what failed in it."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from truebleu.text.layout import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from truebleu.views.rendering.view import Content

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
            failure.text = f"{metric['name']}|{metric['signature']}"
        else:
            ET.SubElement(case, "system-out").text = visible(one["told"])
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"
