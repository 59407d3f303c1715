"""Files in the formats of test sets, with invented words, and local servers for them."""

import hashlib
import io
import itertools
import random
import tarfile
import threading
import zipfile
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

WORDS = ["the", "a", "cat", "Katze", "Matte.", "&amp;", "é", "猫", "«x»", "3.5", "(and)", "I.II"]


def sentences(dice: random.Random, count: int) -> list[str]:
    return [" ".join(dice.choices(WORDS, k=dice.randint(1, 12))) for _ in range(count)]


# Attributes of documents in SGML files, with some left out.
DOCUMENTS = [
    'sysid="ref" docid="bbc.381790" genre="news" origlang="en"',
    'docid="rt.com.91337" genre="news" origlang="de"',
    'origlang="en" docid="nytimes.184853"',
    'docid="unknown.1" genre="blog" origlang="fi"',
    'docid="washpost.116881" genre="news" origlang="en"',
]


def sgml(dice: random.Random, texts: list[str], documents: list[str] = DOCUMENTS) -> str:
    """Return a file as WMT made them, with some of the mistakes that are in them."""
    lines = ['<srcset setid="x" srclang="any">', "not a segment"]
    per_document = -(-len(texts) // len(documents))
    for number, attributes in enumerate(documents):
        lines.append(f"<doc {attributes}>")
        lines.append("<p>")
        first = number * per_document
        for place, text in enumerate(texts[first : first + per_document], 1):
            lines.append(dice.choice(FORMS).format(place=place, text=text))
        lines += ["</p>", "</doc>"]
    return "\n".join([*lines, "</srcset>", ""])


FORMS = [
    '<seg id="{place}">{text}</seg>',
    '<seg id="{place}"> {text}  </seg>',
    '<seg id="{place}">{text}</seg></p>',
    '<seg id="{place}">{text}\u00a0\t{text}</seg>\r',
    '<seg id="{place}">{text} > x</seg>',
]


def xml(
    dice: random.Random, count: int, translators: list, systems: tuple = (), domains: tuple = ()
) -> str:
    """Return a file as WMT makes them since 2021."""
    lines = ["<?xml version='1.0' encoding='utf-8'?>", '<dataset id="x"><collection id="y">']
    numbers = itertools.count()

    def part(tag: str, attributes: str) -> None:
        lines.append(f"<{tag} {attributes}><p>")
        for place in range(1, count + 1):
            text = f"{next(numbers)} {sentences(dice, 1)[0]}"
            # Comments end a text, and some segments have no translation.
            text = dice.choice([text, text, f" {text}\n more", f"{text}<!-- {text} --> {text}"])
            text = "" if tag == "ref" and place == 3 else text
            lines.append(f'<seg id="{place}" type="x">{text}</seg>')
        lines.append(f"</p></{tag}>")

    for number, language in enumerate(["en", "de", "en", "uk"]):
        suite = ' testsuite="no"' if number == 1 else ""
        domain = f' domain="{domains[number]}"' if domains else ""
        lines.append(f'<doc id="d&amp;{number}" origlang="{language}"{domain}{suite}>')
        part("src", 'lang="en"')
        for translator in translators:
            part("ref", 'lang="de"' + (f' translator="{translator}"' if translator else ""))
        for system in systems:
            part("hyp", f'language="de" system="{system}"')
        lines.append("</doc>")
    return "\n".join([*lines, "</collection></dataset>"])


def plain(dice: random.Random, count: int) -> str:
    return "".join(f"{text}{dice.choice(['', ' ', chr(9)])}\n" for text in sentences(dice, count))


class Archives:
    """Archives in a folder, and the folder served over HTTP."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.requests = 0
        archives = self

        class Handler(SimpleHTTPRequestHandler):
            def __init__(self, *arguments):
                super().__init__(*arguments, directory=str(folder))

            def do_GET(self):
                archives.requests += 1
                super().do_GET()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=[0.01], daemon=True).start()

    def make(self, name: str, files: dict[str, str]) -> tuple[str, str]:
        """Return an archive with these files: its address and its sum."""
        for inner, content in files.items():
            path = self.folder / "x" / inner
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode())
        path = self.folder / name
        if name.endswith(".zip"):
            with zipfile.ZipFile(path, "w") as packed:
                for inner in files:
                    packed.write(self.folder / "x" / inner, inner)
        elif name.endswith((".tgz", ".tar.gz")):
            with tarfile.open(path, "w:gz") as tape:
                for inner in files:
                    tape.add(self.folder / "x" / inner, inner)
        else:
            ((inner, content),) = files.items()
            path.write_bytes(content.encode())
        md5 = hashlib.md5(path.read_bytes()).hexdigest()
        return f"http://127.0.0.1:{self.server.server_port}/{name}", md5


def address_of(folder: str, address: str) -> str:
    """Return the URL under a mirror."""
    return f"{folder}/{address.partition('://')[2]}"


def files_of(entry: dict) -> dict[str, str]:
    """Made-up contents for all files that an entry of the catalogue names."""
    dice = random.Random(entry["data"][0][0])
    contents = {}
    for files in entry["langpairs"].values():
        names = [files["path"]] if isinstance(files, dict) else files
        translators = files.get("refs") if isinstance(files, dict) else entry.get("refs")
        for name in names:
            contents.setdefault(name.rpartition(":")[2], set()).update(translators or ())
    return {
        name: _content(dice, name, entry["kind"], sorted(refs)) for name, refs in contents.items()
    }


def _content(dice: random.Random, name: str, kind: str, translators: list[str]) -> str:
    if kind == "WMTXML":
        systems = ("X", "Online-A") if dice.random() < 0.5 else ()
        domains = ("news", "skipped", "social", "speech news") if dice.random() < 0.5 else ()
        return xml(
            dice, 3, [*translators, "Z"] if dice.random() < 0.5 else translators, systems, domains
        )
    if kind == "TSV":
        return "".join(
            f"{number}\t{one}\t{one} x\t{one} y\t\n"
            for number, one in enumerate(sentences(dice, 6))
        )
    if name.endswith((".sgm", ".xml")):
        return sgml(dice, sentences(dice, 8))
    return plain(dice, 8)


def packed(name: str, files: dict[str, str]) -> bytes:
    """Return an archive, of the kind that its name says, with files in it."""
    out = io.BytesIO()
    if name.endswith(".zip"):
        with zipfile.ZipFile(out, "w") as zipped:
            for inner, content in files.items():
                zipped.writestr(inner, content)
    else:
        with tarfile.open(fileobj=out, mode="w:gz", compresslevel=1) as tape:
            for inner, content in files.items():
                member = tarfile.TarInfo(inner)
                member.size = len(content.encode())
                tape.addfile(member, io.BytesIO(content.encode()))
    return out.getvalue()
