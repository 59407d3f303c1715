"""A registry of test sets with URLs on the loopback server, and their files."""

import json

SRC = ["Der Hund schläft.", "Die Katze wacht.", "Es regnet.", "Morgen scheint die Sonne."]
REF = ["The dog is asleep.", "The cat is awake.", "It rains.", "Tomorrow the sun will shine."]
SECOND_REF = ["The dog sleeps.", "The cat wakes.", "It is raining.", "The sun shines tomorrow."]


def join_lines(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _make_document(name: str, language: str, domain: str, start: int) -> str:
    def make_element(tag: str, lines: list[str]) -> str:
        texts = enumerate(lines[start : start + 2], 1)
        segments = "".join(f'<seg id="{number}">{line}</seg>' for number, line in texts)
        return f"<{tag}><p>{segments}</p></{tag.partition(' ')[0]}>"

    system_lines = [
        other if i % 2 == 0 else ref
        for i, (ref, other) in enumerate(zip(REF, SECOND_REF, strict=True))
    ]
    return "\n".join(
        [
            f'<doc id="{name}" origlang="{language}" domain="{domain}">',
            make_element('src lang="de"', SRC),
            make_element('ref lang="en" translator="A"', REF),
            make_element('ref lang="en" translator="B"', SECOND_REF),
            make_element('hyp system="Online-W" language="en"', system_lines),
            "</doc>",
        ]
    )


XML = (
    '<?xml version="1.0" encoding="utf-8"?>\n<dataset id="made"><collection id="general">\n'
    + _make_document("animals", "de", "news", 0)
    + _make_document("weather", "en", "social", 2)
    + "</collection></dataset>\n"
)


def make_xml_entry(archives, **fields) -> dict:
    """Return a registry entry for XML in an archive on the server."""
    if not hasattr(archives, "xml_archive"):
        # Only once: a new archive would have another checksum.
        archives.xml_archive = archives.make("made.tar.gz", {"made/all.xml": XML})
    address, md5 = archives.xml_archive
    return {
        "kind": "WMTXML",
        "data": [[address, md5]],
        "refs": ["A"],
        "langpairs": {"de-en": ["made/all.xml"]},
        "citation": "@misc{made}",
        **fields,
    }


def write_registry(folder, **sets) -> str:
    """Write a registry file with test sets and return its path."""
    path = folder / "registry.json"
    path.write_text(json.dumps({"test_sets": sets}))
    return str(path)
