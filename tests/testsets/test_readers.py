"""Readers without a counterpart in sacreBLEU: JSON lines, and one file per language."""

import json

import pytest
from local_registry import REF, SECOND_REF, SRC, join_lines, write_registry
from paths import SHARED

import truebleu as tb
from truebleu.testsets import catalogue, file_readers
from truebleu.testsets import testset_operations as operations
from truebleu.text import download


def format_jsonl(rows: list) -> str:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)


def make_row(number: int, **fields) -> dict:
    """Return a segment in the format of WMT24++."""
    return {
        "lp": "de-en_GB",
        "domain": "news" if number < 2 else "social",
        "document_id": f"d{number // 2}",
        "segment_id": number,
        "is_bad_source": number == 1,
        "source": SRC[number],
        "target": REF[number],
        "original_target": SECOND_REF[number],
        **fields,
    }


@pytest.fixture
def load_served(archives, tmp_path):
    """Return a function that serves a test set in JSON lines and loads its language pairs."""

    def serve(content: str, files: dict[str, str], **fields) -> tb.TestSet:
        address, _ = archives.make("made.jsonl", {"made.jsonl": content})
        entry = {"kind": "JSONL", "data": [[address]], **fields}
        entry["langpairs"] = {pair: [f"{prefix}made.made.jsonl"] for pair, prefix in files.items()}
        path = write_registry(tmp_path, made=entry)
        return lambda pair: tb.testset("made", pair, registry=path)

    return serve


def test_jsonl_has_one_segment_per_line_without_bad_sources(load_served):
    rows = format_jsonl([make_row(number) for number in range(4)])
    fields = {"refs": ["target"], "signature": {"badsrc": "no"}}
    test_set = load_served(rows, {"de-en_GB": ""}, **fields)("de-en_GB")
    good = [0, 2, 3]
    assert test_set.source == [SRC[number] for number in good]
    assert test_set.references["target"] == [REF[number] for number in good]
    assert test_set.references["original_target"] == [SECOND_REF[number] for number in good]
    assert test_set.preferred == ("target",)
    assert test_set.documents == ["d0", "d1", "d1"]
    assert test_set.where(domain="social").source == SRC[2:]
    assert test_set.signature == {
        "test": "made",
        "lang": "de-en_GB",
        "refs": "target",
        "badsrc": "no",
    }
    assert load_served(rows, {"de-en_GB": "all:"})("de-en_GB").source == SRC


def make_document(pair: str, name: str, source: list[str], *references: list[str]) -> dict:
    """Return a document in the format of WMT25."""
    first, _, second = pair.partition("-")
    return {
        "doc_id": f"{pair}_#_news_#_{name}",
        "domain": "news",
        "src_lang": first,
        "tgt_lang": second,
        "src_text": "\n\n".join(source),
        "refs": {
            f"ref{letter}": {"ref": "\n\n".join(lines)}
            for letter, lines in zip("AB", references, strict=False)
        },
    }


def test_jsonl_document_is_split_into_paragraphs(load_served):
    rows = [
        make_document("de-en", "one", [SRC[0], f" {SRC[1]}\nMehr."], REF[:2], SECOND_REF[:2]),
        make_document("de-cs", "one", SRC[:2], SRC[:2]),
        make_document("de-fr", "one", SRC[:3]),
        make_document("de-en", "two", SRC[2:], [" ".join(REF[2:])], SECOND_REF[2:]),
        make_document("de-en", "three", SRC[:1]),
    ]
    pairs = {pair: f"{pair}:" for pair in ("de-en", "de-fr", "de-ja")}
    test_set = load_served(format_jsonl(rows), pairs)
    assert test_set("de-en").source == [SRC[0], f"{SRC[1]} Mehr.", " ".join(SRC[2:])]
    assert test_set("de-en").references == {
        "refA": [*REF[:2], " ".join(REF[2:])],
        "refB": [*SECOND_REF[:2], " ".join(SECOND_REF[2:])],
    }
    assert test_set("de-en").documents[1:] == ["de-en_#_news_#_one", "de-en_#_news_#_two"]
    assert (test_set("de-fr").source, test_set("de-fr").references) == (SRC[:3], {})
    with pytest.raises(tb.InputError, match="contains no segment of de-ja"):
        test_set("de-ja")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2.*: not JSON"),
        ("[1]", "line 2: expected a JSON object"),
        ('{"source": 7}', "line 2: src is not a string"),
        (r'{"source": "\ud800"}', "line 2.*: not JSON"),
    ],
)
def test_invalid_line_is_reported_with_number(tmp_path, line, message):
    path = tmp_path / "x.jsonl"
    path.write_text(f"{format_jsonl([make_row(0)])}{line}\n")
    with pytest.raises(tb.InputError, match=message):
        dict(file_readers.FIELD_READERS["JSONL"]("x", ["x.jsonl"], str(tmp_path)))


def test_invalid_file_is_not_cached(archives, tmp_path, load_served):
    """The server sends an error page instead of a file with unknown checksum."""
    with pytest.raises(download.DownloadError, match=r"line 1, column 1: not JSON"):
        load_served("<html>Sorry</html>\n", {"de-en": ""})("de-en")
    assert not list((tmp_path / "cache").rglob("*.jsonl"))


def test_any_two_languages_form_language_pair(archives, tmp_path):
    files = {
        "N/src.eng.txt": join_lines(REF),
        "N/ref.deu.txt": join_lines(SRC),
        "N/ref.zho-CN.txt": join_lines(SECOND_REF),
        "N/ref-2.zho-CN.txt": join_lines(REF),
        "N/DOCUMENT_IDS.tsv": "a\na\nb\nb\n",
    }
    address, md5 = archives.make("n.tar.gz", files)
    languages = {
        "eng": "N/src.eng.txt",
        "deu": "N/ref.deu.txt",
        "zho-CN": ["N/ref.zho-CN.txt", "N/ref-2.zho-CN.txt"],
    }
    entry = {"kind": "Parallel", "data": [[address, md5]], "languages": languages}
    entry |= {"documents": "N/DOCUMENT_IDS.tsv", "refs": ["A", ""]}
    path = write_registry(tmp_path, made=entry)
    test_set = tb.testset("made", "deu-zho-CN", registry=path)
    assert test_set.source == SRC
    assert test_set.references == {"A": SECOND_REF, "B": REF}
    assert test_set.preferred == ("A",)
    assert test_set.documents == ["a", "a", "b", "b"]
    back = tb.testset("made", "zho-CN-deu", registry=path)
    assert (back.source, back.references, back.preferred) == (SECOND_REF, {"ref": SRC}, ("ref",))
    with pytest.raises(tb.InputError, match="has no language pair deu-deu"):
        tb.testset("made", "deu-deu", registry=path)


@pytest.mark.parametrize("form", ["{code}.{part}", "{part}.{code}"])
def test_user_can_add_flores_folder(tmp_path, form):
    folder = tmp_path / "flores200_dataset"
    for part in ("dev", "devtest"):
        (folder / part).mkdir(parents=True)
        for code, lines in (("deu_Latn", SRC), ("eng_Latn", REF)):
            name = form.format(code=code, part=part)
            (folder / part / name).write_text(join_lines(lines))
    rows = ["URL\tdomain\ttopic", *(f"u{number // 2}\tnews\tx" for number in range(4))]
    (folder / "metadata_devtest.tsv").write_text(join_lines(rows))
    message = r"truebleu testset add FOLDER --name flores200/devtest"
    with pytest.raises(tb.InputError, match=message):
        list(operations.fetch_test_sets(["flores200/devtest"]))
    (added,) = operations.add_test_set(str(folder), "flores200/devtest")
    assert added["name"] == "flores200/devtest"
    test_set = tb.testset("flores200/devtest", "deu_Latn-eng_Latn")
    assert (test_set.source, test_set.references) == (SRC, {"ref": REF})
    assert test_set.documents == ["u0", "u0", "u1", "u1"]
    assert test_set.domains == ["news"] * 4
    assert test_set.licence == "CC-BY-SA-4.0"
    assert test_set.path("src") == str(
        folder / "devtest" / form.format(code="deu_Latn", part="devtest")
    )
    operations.add_test_set(str(folder), "flores200/dev")
    assert tb.testset("flores200/dev", "eng_Latn-deu_Latn").source == REF


WMT22 = SHARED / "data" / "wmt22"


def make_wmt22_xml(pair: str) -> tuple[str, dict[str, list[str]]]:
    """Return WMT22's text of a language pair as XML with one document, and its fields."""
    from xml.sax.saxutils import escape

    source, target = pair.split("-")
    lines = {}
    for path in sorted(WMT22.rglob(f"generaltest2022.{pair}.*")):
        kind, name = path.name.split(".", 2)[2].rsplit(".", 1)[0].partition(".")[::2]
        content = path.read_text(encoding="utf-8").split("\n")[:-1]
        lines[{"src": "src", "ref": f"ref:{name}", "hyp": name}[kind]] = content

    def make_element(tag: str, texts: list[str]) -> str:
        segments = "".join(
            f'<seg id="{number}">{escape(line)}</seg>\n' for number, line in enumerate(texts, 1)
        )
        return f"<{tag}><p>{segments}</p></{tag.partition(' ')[0]}>"

    tags = {"src": f'src lang="{source}"'}
    for name in lines:
        if name.startswith("ref:"):
            tags[name] = f'ref lang="{target}" translator="{name[4:]}"'
        elif name != "src":
            tags[name] = f'hyp system="{name}" language="{target}"'
    body = "".join(make_element(tag, lines[name]) for name, tag in tags.items())
    document = f'<doc id="all" origlang="{source}" domain="news">{body}</doc>'
    return f'<dataset id="wmt22"><collection id="general">{document}</collection></dataset>', lines


def test_wmt22_checksums_match_text(shared):
    """Archives with other bytes are verified by these checksums."""
    checksums = catalogue.get_entry("wmt22").sha256
    assert len(checksums) == 11
    for pair, pair_checksums in checksums.items():
        fields = make_wmt22_xml(pair)[1]
        for name, sum_ in pair_checksums.items():
            if name in fields:
                content = join_lines(map(file_readers.clean_spaces, fields[name])).encode()
                import hashlib

                assert hashlib.sha256(content).hexdigest() == sum_, (pair, name)
