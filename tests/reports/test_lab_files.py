"""Files dropped into the playground: detected roles and the resulting report."""

import csv
import gzip
import lzma

import pytest
from closeness import near
from paths import EXAMPLES, read_example_lines
from playwright_or_skip import expect

import truebleu as tb
from truebleu.cli import main

pytestmark = pytest.mark.thorough

DE_EN = EXAMPLES / "de-en"
REFERENCES = ["reference.a.en", "reference.b.en"]
SYSTEMS = ["birch.en", "cedar.en", "aspen.en"]
SOURCE_AND_DOCUMENTS = ["source.de", "documents.txt"]


@pytest.fixture
def page(open_report, lab_path):
    return open_report(lab_path).page


def select_files(page, *paths):
    """Select files in the file dialog."""
    page.locator("input[type=file]").set_input_files([str(path) for path in paths])
    page.locator(".tray .table, .tray .failed").first.wait_for()


def build_report(page):
    page.get_by_role("button", name="Create report").click()
    page.locator("main.view.summary").wait_for()


def read_roles(page):
    """Return the detected role of each file."""
    names = page.locator(".tray tbody th > bdi").all_text_contents()
    selections = page.locator(".tray tbody tr td:nth-child(3) select")
    roles = selections.evaluate_all("all => all.map(one => one.value)")
    return dict(zip(names, roles, strict=True))


def test_dropped_files_give_same_report_as_command(page, open_report, tmp_path):
    files = [DE_EN / name for name in [*SYSTEMS, *REFERENCES, *SOURCE_AND_DOCUMENTS]]
    select_files(page, *files)
    assert read_roles(page) == {
        **dict.fromkeys(SYSTEMS, "system"),
        **dict.fromkeys(REFERENCES, "reference"),
        "source.de": "source",
        "documents.txt": "documents",
    }
    page.get_by_label("TER").check()
    build_report(page)
    references, systems = ([str(DE_EN / name) for name in part] for part in (REFERENCES, SYSTEMS))
    arguments = [*references, "-i", *systems]
    arguments += ["-src", str(DE_EN / "source.de"), "--docs", str(DE_EN / "documents.txt")]
    path = tmp_path / "written.html"
    metrics = ["-m", "bleu", "chrf", "ter", "--paired-ar-n", "10", "-ci", "10"]
    assert main(["report", *arguments, *metrics, "-q", "-o", str(path)]) == 0
    written_page = open_report(path).page
    for place in (".top .title", "main.view .facts"):
        first, second = (tab.locator(place).first for tab in (page, written_page))
        assert first.text_content() == second.text_content()
    for view in ("why", "documents"):
        for tab in (page, written_page):
            tab.evaluate("where => { location.hash = where; }", f"#{view}")
            tab.locator(f"main.view.{view}").wait_for()
        numbers = [
            tab.locator("main data.num").evaluate_all("all => all.map(x => x.value)")
            for tab in (page, written_page)
        ]
        assert numbers[0]
        assert [float(x) for x in numbers[0]] == near([float(x) for x in numbers[1]])


def read_lines(name):
    return read_example_lines(f"de-en/{name}")


def compute_scores(metrics, systems=SYSTEMS, references=REFERENCES):
    streams = list(map(list, zip(*map(read_lines, references), strict=True)))
    return {
        (tb.metric(metric).name, name.removesuffix(".en")): tb.metric(metric)
        .score(read_lines(name), streams)
        .value
        for metric in metrics
        for name in systems
    }


def check_scores(page, metrics=("bleu", "chrf"), **selection):
    page_scores = set(
        page.locator("main data.num").evaluate_all("all => all.map(x => Number(x.value))")
    )
    for score in compute_scores(metrics, **selection).values():
        assert any(score == near(value) for value in page_scores), score


def test_compressed_files_are_decompressed(page, tmp_path):
    for name in [REFERENCES[0], SYSTEMS[0]]:
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress((DE_EN / name).read_bytes()))
    select_files(page, *(tmp_path / f"{name}.gz" for name in [REFERENCES[0], SYSTEMS[0]]))
    assert list(read_roles(page).values()) == ["reference", "system"]
    build_report(page)
    check_scores(page, systems=SYSTEMS[:1], references=REFERENCES[:1])


def test_table_columns_become_systems_and_references(page, tmp_path):
    names = ["ref_a", "birch", "cedar", "ref_b", "id"]
    columns = [read_lines(name) for name in (REFERENCES[0], *SYSTEMS[:2], REFERENCES[1])]
    columns.append([str(i) for i in range(len(columns[0]))])
    rows = ["\t".join(row) for row in [names, *zip(*columns, strict=True)]]
    path = tmp_path / "all.tsv.gz"
    path.write_bytes(gzip.compress("".join(f"{row}\n" for row in rows).encode()))
    select_files(page, path)
    assert list(read_roles(page).values()) == ["reference", "system", "system", "reference", "out"]
    build_report(page)
    assert page.locator(".top .title").text_content() == "cedar and birch"
    check_scores(page, systems=SYSTEMS[:2])


def test_unnamed_columns_are_numbered(page, tmp_path):
    path = tmp_path / "both.txt"
    rows = zip(read_lines(REFERENCES[0]), read_lines(SYSTEMS[0]), strict=True)
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    select_files(page, path)
    assert read_roles(page) == {"both.txt": "system"}
    page.get_by_label("Format of both.txt").select_option("plain")
    assert read_roles(page) == {"both.txt#1": "system", "both.txt#2": "system"}
    page.get_by_label("Role of both.txt#1").select_option("reference")
    build_report(page)
    check_scores(page, systems=SYSTEMS[:1], references=REFERENCES[:1])
    page.evaluate("() => { location.hash = '#exports'; }")
    expect(page.locator("main.view")).to_contain_text(
        "truebleu score 'both.txt#1' -i 'both.txt#2' -m bleu chrf"
    )
    # Only Python writes tables for papers.
    options = page.get_by_label("Format").locator("option").all_text_contents()
    assert options == ["CSV", "JSON"]
    expect(page.locator("main.view")).to_contain_text("run the last command below with -f latex")


def test_inconsistent_files_are_reported(page, tmp_path):
    (tmp_path / "short.en").write_text("only one line\n")
    select_files(page, DE_EN / REFERENCES[0], tmp_path / "short.en")
    alert = page.locator(".tray [role=alert]")
    expect(alert).to_have_text(
        "short.en has 1 line, but reference.a.en has 128 lines. "
        "All files need the same number of lines."
    )
    assert page.get_by_role("button", name="Create report").is_disabled()
    page.get_by_label("Role of reference.a.en").select_option("system")
    expect(alert).to_have_text("There is no reference. Select the role of the reference file.")
    page.get_by_role("button", name="Remove short.en").click()
    assert read_roles(page) == {"reference.a.en": "system"}


UNREADABLE_FILES = {
    "latin.en": (b"fine\ncaf\xe9\n", "latin.en, line 2: invalid UTF-8"),
    "utf16.en": ("text\n".encode("utf-16"), "utf16.en: encoded in UTF-16 (expected UTF-8)"),
    "empty.en": (b"", "empty.en: the file is empty"),
    "packed.xz": (lzma.compress(b"text\n"), "this browser cannot decompress .xz files"),
    "broken.gz": (gzip.compress(b"text\n")[:-9], "cannot decompress broken.gz"),
    "named.txt": (gzip.compress(b"text\n"), "named.txt: compressed with gzip"),
    "odd.tsv": (b"a\tb\nx\n", "odd.tsv, line 2: expected 2 columns as in line 1, found 1"),
}


@pytest.mark.parametrize("name", UNREADABLE_FILES)
def test_unreadable_file_is_named(page, tmp_path, name):
    content, message = UNREADABLE_FILES[name]
    (tmp_path / name).write_bytes(content)
    select_files(page, tmp_path / name, DE_EN / SYSTEMS[0])
    expect(page.locator(".tray .failed").first).to_contain_text(message)
    assert read_roles(page) == {"birch.en": "system"}


def test_only_newlines_end_lines(page, tmp_path):
    text = "one\r\n\x0btwo\u2028three\n\nfour"
    for name in ("reference.txt", "system.txt"):
        (tmp_path / name).write_bytes(text.encode())
    select_files(page, tmp_path / "reference.txt", tmp_path / "system.txt")
    assert page.locator(".tray tbody td.number").all_text_contents() == ["4", "4"]
    build_report(page)
    score = tb.bleu(tb.File(tmp_path / "system.txt"), [tb.File(tmp_path / "reference.txt")])
    shown_value = page.locator("main data.num").first.get_attribute("value")
    assert shown_value == repr(score.value).removesuffix(".0")


def test_sentence_settings_apply_to_files(page):
    page.get_by_label("Tokenizer").select_option("intl")
    select_files(page, *(DE_EN / name for name in [REFERENCES[0], SYSTEMS[0]]))
    page.get_by_label("BLEU with tokenize=intl").check()
    build_report(page)
    score = tb.BLEU(tokenize="intl").score(*map(read_lines, (SYSTEMS[0], REFERENCES[0])))
    assert page.locator("main data.num").first.get_attribute("value") == repr(score.value)
    assert "tok:intl" in page.locator("main.view").text_content()


def test_return_to_playground_restores_inputs(page):
    page.get_by_role("textbox", name="Hypothesis").fill("a sentence of my own")
    select_files(page, *(DE_EN / name for name in [REFERENCES[0], SYSTEMS[0]]))
    build_report(page)
    page.get_by_role("button", name="Playground").click()
    assert page.get_by_role("textbox", name="Hypothesis").input_value() == "a sentence of my own"
    assert list(read_roles(page).values()) == ["reference", "system"]
    # The report's shortcuts have no effect here.
    page.keyboard.press("g")
    page.keyboard.press("s")
    assert page.locator("main.view.lab").count() == 1
    build_report(page)
    check_scores(page, systems=SYSTEMS[:1], references=REFERENCES[:1])


def test_files_can_be_dropped_on_whole_page(page):
    transfer = page.evaluate_handle("""() => {
      const all = new DataTransfer();
      all.items.add(new File(["the cat\\n"], "ref.txt"));
      all.items.add(new File(["the cat\\n"], "sys.txt"));
      return all;
    }""")
    page.dispatch_event("header.top", "drop", {"dataTransfer": transfer})
    page.locator(".tray .table").wait_for()
    assert read_roles(page) == {"ref.txt": "reference", "sys.txt": "system"}
    expect(page.get_by_role("button", name="Create report")).to_be_focused()
    page.keyboard.press("Enter")
    page.locator("main.view.summary").wait_for()


HOSTILE = "<img src=x onerror=alert(1)></script><script>alert(2)</script>\u202e{{1}}"


def test_hostile_names_and_texts_stay_text(open_report, lab_path):
    sheet = open_report(lab_path)
    page = sheet.page
    page.get_by_role("textbox", name="Hypothesis").fill(HOSTILE)
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
    build_report(page)
    for view in sheet.views:
        sheet.navigate(f"#{view}")
    assert page.locator("main img, main script, main b").count() == 0
    sheet.assert_no_problems()


def test_page_makes_no_requests(open_report, lab_path):
    sheet = open_report(lab_path)
    page = sheet.page
    requested_urls = []
    sheet.context.on("request", lambda request: requested_urls.append(request.url))
    page.get_by_role("textbox", name="Hypothesis").fill("a secret")
    select_files(page, *(DE_EN / name for name in [REFERENCES[0], SYSTEMS[0]]))
    build_report(page)
    sheet.navigate("#segments")
    # Blob URLs belong to the page's worker.
    assert not [url for url in requested_urls if not url.startswith("blob:")]
    refused = page.evaluate(
        """() => fetch("https://example.org/").then(() => "sent", () => "refused")"""
    )
    assert refused == "refused"
    assert page.evaluate("() => violations.length") == 1
    page.evaluate("() => { violations.length = 0; }")
    sheet.problems.clear()


def test_segment_opens_in_playground(open_report, lab_path):
    sheet = open_report(lab_path)
    page = sheet.page
    page.get_by_label("Tokenizer").select_option("intl")
    select_files(page, *(DE_EN / name for name in [*REFERENCES, *SYSTEMS[:2], "source.de"]))
    build_report(page)
    sheet.navigate("#segments?seg=17")
    page.get_by_role("button", name="Open A in the playground").click()
    page.locator("main.view.lab").wait_for()
    hypothesis, references, source = (box.input_value() for box in page.locator("textarea").all())
    assert [hypothesis, *references.split("\n"), source] == [
        read_lines(name)[16] for name in (SYSTEMS[1], *REFERENCES, "source.de")
    ]
    score = tb.BLEU(tokenize="intl").sentence(hypothesis, references.split("\n"))
    assert page.locator(".big data").get_attribute("value") == repr(score.value)


def test_intervals_equal_compare(open_report, lab_path):
    sheet = open_report(lab_path)
    page = sheet.page
    select_files(page, *(DE_EN / name for name in [*REFERENCES, *SYSTEMS]))
    page.get_by_label("TER").check()
    build_report(page)
    sheet.navigate("#exports?format=csv")
    table = page.locator("main.view .given").first.text_content()
    streams = list(map(list, zip(*map(read_lines, REFERENCES), strict=True)))
    systems = {name.removesuffix(".en"): read_lines(name) for name in SYSTEMS}
    comparison = tb.compare(systems, streams, metrics=["bleu", "chrf", "ter"], test=None)
    rows, expected_rows = (csv.DictReader(text.splitlines()) for text in (table, comparison.csv()))
    for row, expected in zip(rows, expected_rows, strict=True):
        for name in ("metric", "system", "rank"):
            assert row[name] == expected[name]
        for name in ("score", "low", "high", "difference", "difference_low", "difference_high"):
            assert bool(row[name]) == bool(expected[name])
            assert not row[name] or float(row[name]) == near(float(expected[name]))


def write_report(path, references, **options):
    """Write a report of two systems with Python."""
    systems = {name: read_lines(f"{name}.en") for name in ("birch", "cedar")}
    columns = list(zip(*map(read_lines, references), strict=True))
    tb.report(systems, columns, test=None, confidence=None, path=path, **options)
    return path


def test_ngrams_equal_written_report(open_report, lab_path, tmp_path):
    path = write_report(tmp_path / "written.html", REFERENCES[:1], metrics=["bleu", "chrf"])
    lab_sheet, report_sheet = open_report(lab_path), open_report(path)
    select_files(lab_sheet.page, *(DE_EN / name for name in [REFERENCES[0], *SYSTEMS[:2]]))
    build_report(lab_sheet.page)
    rows = []
    for sheet in (lab_sheet, report_sheet):
        sheet.navigate("#ngrams")
        sheet.page.locator("main.view tbody tr").first.wait_for()
        rows.append(sheet.page.locator("main.view tbody tr").all_text_contents())
    assert rows[0] == rows[1]
    assert len(rows[0]) > 5


@pytest.mark.parametrize("bucket", ["frequency", "length"])
def test_bins_equal_written_report(open_report, lab_path, tmp_path, bucket):
    # Python counts the numbers of a redacted page.
    path = write_report(tmp_path / "written.html", REFERENCES, redact_text=True)
    sheets = open_report(lab_path), open_report(path)
    select_files(sheets[0].page, *(DE_EN / name for name in [*REFERENCES, *SYSTEMS[:2]]))
    build_report(sheets[0].page)
    rows = []
    for sheet in sheets:
        sheet.navigate(f"#buckets?bucket={bucket}")
        table_rows = sheet.page.locator("main.view.buckets figure tbody tr")
        table_rows.first.wait_for(state="attached")
        # Compare names and counts; other tests compare scores and intervals.
        cells = "[...row.cells].slice(0, 2).map(cell => cell.textContent)"
        rows.append(table_rows.evaluate_all(f"all => all.map(row => {cells})"))
    assert all(name and number for name, number in rows[0])
    assert rows[0] == rows[1]
    assert len(rows[0]) > 2
