"""Files dropped into the laboratory: what they are taken for, and the report that they become."""

import csv
import gzip
import json
import lzma

import pytest
from closeness import near
from paths import EXAMPLES
from playwright_or_skip import expect

import truebleu as tb
from truebleu.cli import main
from truebleu.reports import browser_kernel
from truebleu.reports.lab import lab

pytestmark = [
    pytest.mark.skipif(
        not browser_kernel.load_kernel_blocks(), reason="built without the kernel for pages"
    ),
    pytest.mark.thorough,
]

DE_EN = EXAMPLES / "de-en"
REFERENCES = ["reference.a.en", "reference.b.en"]
SYSTEMS = ["birch.en", "cedar.en", "aspen.en"]
BESIDE = ["source.de", "documents.txt"]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("lab") / "lab.html"
    lab(path)
    return path


@pytest.fixture
def page(opened, written):
    return opened(written).page


def choose(page, *paths):
    """Takes files as if somebody had chosen them."""
    page.locator("input[type=file]").set_input_files([str(path) for path in paths])
    page.locator(".tray .table, .tray .failed").first.wait_for()


def make(page):
    page.get_by_role("button", name="Make the report").click()
    page.locator("main.view.summary").wait_for()


def parts(page):
    """What each file is taken for."""
    return dict(
        zip(
            page.locator(".tray tbody th > bdi").all_text_contents(),
            page.locator(".tray tbody tr td:nth-child(3) select").evaluate_all(
                "all => all.map(one => one.value)"
            ),
            strict=True,
        )
    )


def test_files_become_the_report_that_truebleu_writes_of_them(page, opened, tmp_path):
    files = [DE_EN / name for name in [*SYSTEMS, *REFERENCES, *BESIDE]]
    choose(page, *files)
    assert parts(page) == {
        **dict.fromkeys(SYSTEMS, "system"),
        **dict.fromkeys(REFERENCES, "reference"),
        "source.de": "source",
        "documents.txt": "documents",
    }
    page.get_by_label("TER").check()
    make(page)
    words = [*(str(DE_EN / name) for name in REFERENCES), "-i", *(str(DE_EN / s) for s in SYSTEMS)]
    words += ["-src", str(DE_EN / "source.de"), "--docs", str(DE_EN / "documents.txt")]
    path = tmp_path / "written.html"
    metrics = ["-m", "bleu", "chrf", "ter", "--paired-ar-n", "10", "-ci", "10"]
    assert main(["report", *words, *metrics, "-q", "-o", str(path)]) == 0
    other = opened(path).page
    assert page.locator(".top .title").text_content() == other.locator(".top .title").text_content()
    assert (
        page.locator("main.view .facts").first.text_content()
        == other.locator("main.view .facts").first.text_content()
    )
    for where in ("why", "documents"):
        for one in (page, other):
            one.evaluate("where => { location.hash = where; }", f"#{where}")
            one.locator(f"main.view.{where}").wait_for()
        numbers = [
            one.locator("main data.num").evaluate_all("all => all.map(x => x.value)")
            for one in (page, other)
        ]
        assert numbers[0]
        assert [float(x) for x in numbers[0]] == near([float(x) for x in numbers[1]])


def lines(name):
    return (DE_EN / name).read_text(encoding="utf-8").split("\n")[:-1]


def expected(metrics, systems=SYSTEMS, references=REFERENCES):
    streams = list(map(list, zip(*map(lines, references), strict=True)))
    return {
        (tb.metric(metric).name, name.removesuffix(".en")): tb.metric(metric)
        .score(lines(name), streams)
        .value
        for metric in metrics
        for name in systems
    }


def check_scores(page, metrics=("bleu", "chrf"), **given):
    shown = set(page.locator("main data.num").evaluate_all("all => all.map(x => Number(x.value))"))
    for score in expected(metrics, **given).values():
        assert any(score == near(value) for value in shown), score


def test_plain_files_have_the_scores_of_truebleu_score(page, capsys):
    choose(page, *(DE_EN / name for name in [*REFERENCES, *SYSTEMS]))
    make(page)
    check_scores(page)
    words = [*(str(DE_EN / name) for name in REFERENCES), "-i", str(DE_EN / "cedar.en")]
    assert main(["score", *words, "-m", "bleu", "chrf"]) == 0
    said = {one["score"] for one in json.loads(capsys.readouterr().out)["scores"]}
    assert said <= set(expected(["bleu", "chrf"]).values())


def test_compressed_files_are_unpacked(page, tmp_path):
    for name in [REFERENCES[0], SYSTEMS[0]]:
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress((DE_EN / name).read_bytes()))
    choose(page, *(tmp_path / f"{name}.gz" for name in [REFERENCES[0], SYSTEMS[0]]))
    assert list(parts(page).values()) == ["reference", "system"]
    make(page)
    check_scores(page, systems=SYSTEMS[:1], references=REFERENCES[:1])


def test_columns_of_a_table_are_systems_and_references(page, tmp_path):
    names = ["ref_a", "birch", "cedar", "ref_b", "id"]
    columns = [lines(name) for name in (REFERENCES[0], *SYSTEMS[:2], REFERENCES[1])]
    columns.append([str(i) for i in range(len(columns[0]))])
    rows = ["\t".join(row) for row in [names, *zip(*columns, strict=True)]]
    path = tmp_path / "all.tsv.gz"
    path.write_bytes(gzip.compress("".join(f"{row}\n" for row in rows).encode()))
    choose(page, path)
    assert list(parts(page).values()) == ["reference", "system", "system", "reference", "out"]
    make(page)
    assert page.locator(".top .title").text_content() == "birch and cedar"
    check_scores(page, systems=SYSTEMS[:2])


def test_columns_without_names_are_numbered_as_on_the_command_line(page, tmp_path):
    path = tmp_path / "both.txt"
    rows = zip(lines(REFERENCES[0]), lines(SYSTEMS[0]), strict=True)
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    choose(page, path)
    assert parts(page) == {"both.txt": "system"}
    page.get_by_label("How both.txt is read").select_option("plain")
    assert parts(page) == {"both.txt#1": "system", "both.txt#2": "system"}
    page.get_by_label("What both.txt#1 is").select_option("reference")
    make(page)
    check_scores(page, systems=SYSTEMS[:1], references=REFERENCES[:1])
    page.evaluate("() => { location.hash = '#exports'; }")
    expect(page.locator("main.view")).to_contain_text(
        "truebleu score 'both.txt#1' -i 'both.txt#2' -m bleu chrf"
    )


def test_files_that_do_not_belong_together_are_named(page, tmp_path):
    (tmp_path / "short.en").write_text("only one line\n")
    choose(page, DE_EN / REFERENCES[0], tmp_path / "short.en")
    said = page.locator(".tray [role=alert]")
    expect(said).to_have_text(
        "short.en has 1 line, and reference.a.en has 128 lines: line by line they belong together."
    )
    assert page.get_by_role("button", name="Make the report").is_disabled()
    page.get_by_label("What reference.a.en is").select_option("system")
    expect(said).to_have_text("No file is a reference: say which one is.")
    page.get_by_role("button", name="Remove short.en").click()
    assert parts(page) == {"reference.a.en": "system"}


BAD = {
    "latin.en": (b"fine\ncaf\xe9\n", "latin.en, line 2: this is not UTF-8"),
    "utf16.en": ("text\n".encode("utf-16"), "utf16.en is UTF-16; save it as UTF-8"),
    "empty.en": (b"", "empty.en has no lines"),
    "packed.xz": (lzma.compress(b"text\n"), "this browser cannot unpack .xz files"),
    "broken.gz": (gzip.compress(b"text\n")[:-9], "broken.gz cannot be decompressed"),
    "named.txt": (gzip.compress(b"text\n"), "named.txt is compressed by gzip"),
    "odd.tsv": (b"a\tb\nx\n", "odd.tsv, line 2: 1 columns, and 2 in the first line"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_cannot_be_read_is_named(page, tmp_path, name):
    content, said = BAD[name]
    (tmp_path / name).write_bytes(content)
    choose(page, tmp_path / name, DE_EN / SYSTEMS[0])
    expect(page.locator(".tray .failed").first).to_contain_text(said)
    assert parts(page) == {"birch.en": "system"}


def test_lines_end_at_newlines_only_and_the_last_needs_none(page, tmp_path):
    text = "one\r\n\x0btwo\u2028three\n\nfour"
    for name in ("reference.txt", "system.txt"):
        (tmp_path / name).write_bytes(text.encode())
    choose(page, tmp_path / "reference.txt", tmp_path / "system.txt")
    assert page.locator(".tray tbody td.number").all_text_contents() == ["4", "4"]
    make(page)
    score = tb.metric("bleu").score(
        tb.File(tmp_path / "system.txt"), [tb.File(tmp_path / "reference.txt")]
    )
    assert page.locator("main data.num").first.get_attribute("value") == repr(
        score.value
    ).removesuffix(".0")


def test_the_metric_of_the_sentences_brings_its_parameters(page):
    page.get_by_label("Tokenizer").select_option("intl")
    choose(page, *(DE_EN / name for name in [REFERENCES[0], SYSTEMS[0]]))
    page.get_by_label("BLEU with tokenize=intl").check()
    make(page)
    value = tb.BLEU(tokenize="intl").score(lines(SYSTEMS[0]), lines(REFERENCES[0])).value
    assert page.locator("main data.num").first.get_attribute("value") == repr(value)
    assert "tok:intl" in page.locator("main.view").text_content()


def test_back_in_the_laboratory_everything_is_as_it_was_left(page):
    page.get_by_role("textbox", name="Translation").fill("a sentence of my own")
    choose(page, *(DE_EN / name for name in [REFERENCES[0], SYSTEMS[0]]))
    make(page)
    page.get_by_role("button", name="Laboratory").click()
    assert page.get_by_role("textbox", name="Translation").input_value() == "a sentence of my own"
    assert list(parts(page).values()) == ["reference", "system"]
    # Keys of the report mean nothing here.
    page.keyboard.press("g")
    page.keyboard.press("s")
    assert page.locator("main.view.lab").count() == 1
    make(page)
    check_scores(page, systems=SYSTEMS[:1], references=REFERENCES[:1])


def test_files_can_be_dropped_anywhere(page):
    transfer = page.evaluate_handle("""() => {
      const all = new DataTransfer();
      all.items.add(new File(["the cat\\n"], "ref.txt"));
      all.items.add(new File(["the cat\\n"], "sys.txt"));
      return all;
    }""")
    page.dispatch_event("header.top", "drop", {"dataTransfer": transfer})
    page.locator(".tray .table").wait_for()
    assert parts(page) == {"ref.txt": "reference", "sys.txt": "system"}
    expect(page.get_by_role("button", name="Make the report")).to_be_focused()
    page.keyboard.press("Enter")
    page.locator("main.view.summary").wait_for()


HOSTILE = "<img src=x onerror=alert(1)></script><script>alert(2)</script>\u202e{{1}}"


def test_hostile_names_and_texts_are_text(opened, written):
    one = opened(written)
    page = one.page
    page.get_by_role("textbox", name="Translation").fill(HOSTILE)
    page.get_by_role("textbox", name="Reference").fill(HOSTILE)
    page.evaluate(
        """text => {
          const all = new DataTransfer(), content = `${text}\\n${text}\\n`;
          all.items.add(new File([content], `ref.${text}`));
          all.items.add(new File([content], `${text}.en`));
          all.items.add(new File([`${text}\\t<b>\\nx\\ty\\n`], `<i>.tsv`));
          dispatchEvent(new DragEvent("drop", {dataTransfer: all}));
        }""",
        HOSTILE.replace("/", "%"),
    )
    page.locator(".tray .table").wait_for()
    page.get_by_role("button", name="Remove <i>.tsv").click()
    page.locator(".tray tbody select").nth(0).select_option("reference")
    make(page)
    for view in one.views:
        one.go(f"#{view}")
    assert page.locator("main img, main script, main b").count() == 0
    one.check()


def test_nothing_leaves_the_machine(opened, written):
    one = opened(written)
    page = one.page
    asked = []
    one.context.on("request", lambda request: asked.append(request.url))
    page.get_by_role("textbox", name="Translation").fill("a secret")
    choose(page, *(DE_EN / name for name in [REFERENCES[0], SYSTEMS[0]]))
    make(page)
    one.go("#segments")
    # Its own worker is a blob of the page.
    assert not [url for url in asked if not url.startswith("blob:")]
    refused = page.evaluate(
        """() => fetch("https://example.org/").then(() => "sent", () => "refused")"""
    )
    assert refused == "refused"
    assert page.evaluate("() => violations.length") == 1
    page.evaluate("() => { violations.length = 0; }")
    one.wrong.clear()


def test_a_segment_is_worked_through_in_the_laboratory(opened, written):
    one = opened(written)
    page = one.page
    page.get_by_label("Tokenizer").select_option("intl")
    choose(page, *(DE_EN / name for name in [*REFERENCES, *SYSTEMS[:2], "source.de"]))
    make(page)
    one.go("#segments?seg=17")
    page.get_by_role("button", name="B in the laboratory").click()
    page.locator("main.view.lab").wait_for()
    texts = [box.input_value() for box in page.locator("textarea").all()]
    assert texts == [lines(name)[16] for name in (SYSTEMS[1], *REFERENCES, "source.de")]
    score = tb.BLEU(tokenize="intl").sentence(texts[0], texts[1:3])
    assert page.locator(".big data").get_attribute("value") == repr(score.value)


def test_intervals_are_those_of_truebleu_compare(opened, written):
    one = opened(written)
    page = one.page
    choose(page, *(DE_EN / name for name in [*REFERENCES, *SYSTEMS]))
    page.get_by_label("TER").check()
    make(page)
    one.go("#exports?format=csv")
    table = page.locator("main.view .given").first.text_content()
    rows = list(csv.DictReader(table.splitlines()))
    streams = list(map(list, zip(*map(lines, REFERENCES), strict=True)))
    systems = {name.removesuffix(".en"): lines(name) for name in SYSTEMS}
    made = tb.compare(systems, streams, metrics=["bleu", "chrf", "ter"], test=None).to_dict()
    expected = {
        (metric["name"], system["name"]): system["scores"][metric["name"]]
        for metric in made["metrics"]
        for system in made["systems"]
    }
    assert [(row["metric"], row["system"]) for row in rows] == list(expected)
    for row in rows:
        score = expected[row["metric"], row["system"]]
        assert float(row["score"]) == near(score["score"])
        assert (float(row["low"]), float(row["high"])) == near(
            tuple(score["interval"][end] for end in ("low", "high"))
        )
        assert int(row["rank"]) == score["rank"]
        difference = score["difference"]
        assert bool(row["difference"]) == (difference is not None)
        if difference is not None:
            assert float(row["difference"]) == near(difference["value"])
            assert float(row["difference_low"]) == near(difference["interval"]["low"])
            assert float(row["difference_high"]) == near(difference["interval"]["high"])


def test_ngrams_are_listed_as_in_a_report_that_was_written(opened, written, tmp_path):
    tb.report(
        {"birch": lines(SYSTEMS[0]), "cedar": lines(SYSTEMS[1])},
        lines(REFERENCES[0]),
        metrics=["bleu", "chrf"],
        test=None,
        confidence=None,
        path=tmp_path / "written.html",
    )
    one, other = opened(written), opened(tmp_path / "written.html")
    choose(one.page, *(DE_EN / name for name in [REFERENCES[0], *SYSTEMS[:2]]))
    make(one.page)
    rows = []
    for sheet in (one, other):
        sheet.go("#ngrams")
        sheet.page.locator("main.view tbody tr").first.wait_for()
        rows.append(sheet.page.locator("main.view tbody tr").all_text_contents())
    assert rows[0] == rows[1]
    assert len(rows[0]) > 5


@pytest.mark.parametrize("bucket", ["frequency", "length"])
def test_buckets_are_those_of_a_report_that_was_written(opened, written, tmp_path, bucket):
    tb.report(
        {"birch": lines(SYSTEMS[0]), "cedar": lines(SYSTEMS[1])},
        list(zip(*map(lines, REFERENCES), strict=True)),
        confidence=None,
        # What such a page has no text for is counted in Python.
        redact_text=True,
        path=tmp_path / "written.html",
    )
    sheets = opened(written), opened(tmp_path / "written.html")
    choose(sheets[0].page, *(DE_EN / name for name in [*REFERENCES, *SYSTEMS[:2]]))
    make(sheets[0].page)
    rows = []
    for sheet in sheets:
        sheet.go(f"#buckets?bucket={bucket}")
        own = sheet.page.locator("main.view.buckets figure tbody tr")
        own.first.wait_for(state="attached")
        # Names and numbers of segments or words; scores and intervals are compared elsewhere.
        cells = "[...row.cells].slice(0, 2).map(cell => cell.textContent)"
        rows.append(own.evaluate_all(f"all => all.map(row => {cells})"))
    assert all(name and number for name, number in rows[0])
    assert rows[0] == rows[1]
    assert len(rows[0]) > 2
