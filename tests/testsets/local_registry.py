"""A registry of test sets whose addresses are on the loopback server, and their files."""

import json

SRC = ["Der Hund schläft.", "Die Katze wacht.", "Es regnet.", "Morgen scheint die Sonne."]
REF = ["The dog is asleep.", "The cat is awake.", "It rains.", "Tomorrow the sun will shine."]
OTHER = ["The dog sleeps.", "The cat wakes.", "It is raining.", "The sun shines tomorrow."]


def text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _document(name: str, language: str, domain: str, first: int) -> str:
    def part(tag: str, lines: list[str]) -> str:
        texts = enumerate(lines[first : first + 2], 1)
        segments = "".join(f'<seg id="{number}">{line}</seg>' for number, line in texts)
        return f"<{tag}><p>{segments}</p></{tag.partition(' ')[0]}>"

    mixed = [
        other if i % 2 == 0 else ref for i, (ref, other) in enumerate(zip(REF, OTHER, strict=True))
    ]
    return "\n".join(
        [
            f'<doc id="{name}" origlang="{language}" domain="{domain}">',
            part('src lang="de"', SRC),
            part('ref lang="en" translator="A"', REF),
            part('ref lang="en" translator="B"', OTHER),
            part('hyp system="Online-W" language="en"', mixed),
            "</doc>",
        ]
    )


XML = (
    '<?xml version="1.0" encoding="utf-8"?>\n<dataset id="made"><collection id="general">\n'
    + _document("animals", "de", "news", 0)
    + _document("weather", "en", "social", 2)
    + "</collection></dataset>\n"
)


def about_xml(archives, **more) -> dict:
    """An entry for XML in an archive, which is served."""
    if not hasattr(archives, "of_xml"):
        # Once: another time is another sum.
        archives.of_xml = archives.make("made.tar.gz", {"made/all.xml": XML})
    address, md5 = archives.of_xml
    return {
        "kind": "WMTXML",
        "data": [[address, md5]],
        "refs": ["A"],
        "langpairs": {"de-en": ["made/all.xml"]},
        "citation": "@misc{made}",
        **more,
    }


def registry(folder, **sets) -> str:
    """A registry file with these test sets."""
    path = folder / "registry.json"
    path.write_text(json.dumps({"test_sets": sets}))
    return str(path)
