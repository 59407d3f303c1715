"""Every number of the page is Python's, to the last bit: computed and shown, by every setting."""

from __future__ import annotations

import base64
import gzip
import json
import shutil
from urllib.parse import urlencode

import pytest
import strategies
from browser_report import ALSO
from closeness import near
from hypothesis import given, settings
from hypothesis import strategies as st

from truebleu import BLEU, CHRF, TER
from truebleu.reports import html_page, payload, report

pytestmark = pytest.mark.thorough

SUBSET = (0, 3, 4, 17, 31, 77, 90, 127)

# What can be changed in the page, by the setting that it is changed of, and what Python calls it.
CHANGES = [
    (0, {"smoothing": "none"}, BLEU(smoothing="none")),
    (0, {"smoothing": "floor"}, BLEU(smoothing="floor")),
    (
        0,
        {"smoothing": "floor", "smoothing_value": 0.5},
        BLEU(smoothing="floor", smoothing_value=0.5),
    ),
    (0, {"smoothing": "add-k", "smoothing_value": 2}, BLEU(smoothing="add-k", smoothing_value=2)),
    (0, {"max_order": 1}, BLEU(max_order=1)),
    (0, {"max_order": 3, "weights": "0.5,0.25,0.25"}, BLEU(max_order=3, weights=(0.5, 0.25, 0.25))),
    (0, {"weights": "0.1,0.2,0.3,0.4"}, BLEU(weights=(0.1, 0.2, 0.3, 0.4))),
    (0, {"effective_order": "yes"}, BLEU(effective_order=True)),
    (0, {"effective_order": "no"}, BLEU(effective_order=False)),
    (0, {"max_order": 6}, BLEU(max_order=6)),
    # Of several references, another β may choose another one: that takes the texts.
    (1, {"beta": 3}, CHRF(beta=3)),
    (1, {"char_order": 3, "word_order": 2}, CHRF(char_order=3, word_order=2)),
    # Addresses may be written by anyone.
    (0, {"max_order": 9}, BLEU()),
    (0, {"weights": "1,2"}, BLEU()),
    (0, {"smoothing": "constructor", "beta": 3}, BLEU()),
]


class Python:
    """The numbers that a page must have, by one metric."""

    def __init__(self, metric, hypotheses, references) -> None:
        self.metric = metric
        self.tables = {
            name: metric.statistics(texts, references) for name, texts in hypotheses.items()
        }
        self.segments = {
            name: list(metric.segments(texts, references)) for name, texts in hypotheses.items()
        }

    def corpus(self, system, chosen=None):
        rows = self.tables[system].tolist()
        kept = rows if chosen is None else [rows[i] for i in chosen]
        return self.metric.from_statistics(
            [sum(column) for column in zip(*kept, strict=True)]
        ).value

    def influence(self, a, b, i):
        """By how much b less a falls without a segment."""
        rest = [j for j in range(len(self.segments[a])) if j != i]
        whole = self.corpus(b) - self.corpus(a)
        return whole - (self.corpus(b, rest) - self.corpus(a, rest))


# ---- what the page shows ----


def shown(place):
    """The numbers behind what is shown, in their order."""
    return [float(v) for v in place.locator("data").evaluate_all("all => all.map(d => d.value)")]


def address(view, setting, **state):
    return f"#{view}?{urlencode({'setting': setting, **state})}"


def test_every_setting_is_in_the_page(example, opened):
    choices = opened(example.path).page.get_by_role("combobox", name="Metric").locator("option")
    assert choices.count() == len(example.settings) == 29


def rows_of(page, setting):
    """The rows of the table of all metrics: a name, and the cells of one setting."""
    page.locator("main .overview").wait_for()
    rows = page.locator("main .overview tbody tr")
    return [
        (row.locator("bdi").inner_text(), row.locator(f"[data-measure='{setting}']"))
        for row in rows.all()
    ]


def numbers_in(cells):
    """The numbers behind what cells show, in their order."""
    return [float(v) for v in cells.locator("data").evaluate_all("all => all.map(d => d.value)")]


def test_scores_of_systems_are_pythons(example, opened):
    sheet = opened(example.path)
    for number, metric in example.settings:
        python = Python(metric, example.hypotheses, example.references)
        tab = sheet.go(address("summary", number))
        rows = rows_of(tab, number)
        assert len(rows) == 3
        for name, cells in rows:
            score, *delta = numbers_in(cells)
            assert score == near(python.corpus(name)), (metric, name)
            if name != "birch":
                assert delta[0] == near(python.corpus(name) - python.corpus("birch"))


def test_scores_of_some_segments_are_pythons(example, opened):
    sheet = opened(example.path)
    only = ",".join(str(i + 1) for i in SUBSET)
    for number, metric in example.settings:
        python = Python(metric, example.hypotheses, example.references)
        tab = sheet.go(address("segments", number, only=only))
        tab.locator(".subset", has_text=f"{len(SUBSET)} of 128").wait_for()
        a, b = (python.corpus(name, SUBSET) for name in ("birch", "cedar"))
        assert shown(tab.locator(".subset")) == near([a, b, b - a]), metric


def test_numbers_of_a_segment_are_pythons(example, opened):
    sheet = opened(example.path)
    for number, metric in example.settings:
        python = Python(metric, example.hypotheses, example.references)
        for i in (0, 17, 127):
            tab = sheet.go(address("segments", number, seg=i + 1))
            tab.get_by_role("heading", name=f"Segment {i + 1}").wait_for()
            scores = {
                heading.locator("bdi").inner_text(): shown(heading)[0]
                for heading in tab.locator(".detail h3:has(.score)").all()
            }
            assert scores == {name: near(python.segments[name][i]) for name in example.systems}
            walk = shown(tab.locator(".detail .walk"))
            if hasattr(metric, "alignment"):
                continue
            delta, influence = walk[-2:]
            a, b = (python.segments[name][i] for name in ("birch", "cedar"))
            assert delta == near(b - a), (metric, i)
            assert influence == near(python.influence("birch", "cedar", i)), (metric, i)
            # The last row of the steps is the score again.
            assert walk[-4:-2] == near([a, b])


@pytest.mark.parametrize(("setting", "changes", "metric"), CHANGES, ids=lambda x: str(x)[:40])
def test_numbers_with_other_parameters_are_pythons(example, opened, setting, changes, metric):
    python = Python(metric, example.hypotheses, example.references)
    sheet = opened(example.path, address("summary", setting, **changes))
    said = sheet.page.locator(".notice").inner_text()
    if metric == example.metrics[setting]:
        assert not said
    elif changes != {"effective_order": "no"}:
        assert "Not the reported score" in said
        assert str(metric.signature(2)) in said
    for name, cells in rows_of(sheet.page, setting):
        assert numbers_in(cells)[0] == near(python.corpus(name))
    only = ",".join(str(i + 1) for i in SUBSET)
    tab = sheet.go(address("segments", setting, only=only, seg=18, **changes))
    tab.locator(".subset", has_text=f"{len(SUBSET)} of 128").wait_for()
    a, b = (python.corpus(name, SUBSET) for name in ("birch", "cedar"))
    assert shown(tab.locator(".subset")) == near([a, b, b - a])
    score = shown(tab.locator(".detail h3:has(.score)").first)[0]
    assert score == near(python.segments["birch"][17])


def test_steps_to_the_score_are_pythons(example, opened):
    """The view Why ends in the scores, whatever the metric."""
    sheet = opened(example.path)
    for number, metric in example.settings[:3]:
        python = Python(metric, example.hypotheses, example.references)
        tab = sheet.go(address("why", number))
        table = tab.locator("main section:has(h2:text-is('From counts to the score')) table").first
        told = shown(table.locator("tbody tr").last)
        a, b = (python.corpus(name) for name in ("birch", "cedar"))
        assert told == near([a, b, b - a]), metric


# ---- what the page's functions make of any text ----

ENTRY = """
import {NUMBER_KEYS, SelectionState, STATE, TaskThreads} from "./selection.js";
import {ReportData, unpackBlock} from "./report_data.js";
import {UrlState} from "./url_state.js";
globalThis.numbers = async (manifest, blocks, subset) => {
  const data = new ReportData(manifest, name => unpackBlock(blocks[name]));
  await data.load();
  const codes = text => text === null ? null : text.split("").map(c => c.charCodeAt(0));
  const texts = role => [role, Array.from({length: data.n}, (_, i) => codes(data.getText(role, i)))];
  const result = {settings: [], texts: Object.fromEntries(data.roles.map(texts))};
  for (const setting of data.settings) {
    const store = new UrlState();
    store.declare({...STATE, setting: setting.id}, NUMBER_KEYS);
    const current = new SelectionState(data, store, new TaskThreads());
    result.settings.push({
      corpus: data.systems.map(s => current.scoreCorpus(s)),
      subset: data.systems.map(s => current.scoreCorpus(s, subset)),
      segments: data.systems.map(s => [...current.getScores(s)]),
      delta: [...current.getColumn("delta")], influence: [...current.getColumn("influence")],
    });
  }
  return result;
};
"""


@pytest.fixture(scope="module")
def numbers(browser, tmp_path_factory):
    """Gives what the viewer's modules make of a report, in the browser."""
    folder = tmp_path_factory.mktemp("modules") / "viewer"
    shutil.copytree(html_page.PACKAGE_FOLDER / "viewer", folder)
    (folder / "entry.js").write_text(ENTRY, "utf-8")
    tab = browser.new_page()
    tab.evaluate(f"() => {{ {html_page.join_modules(folder, 'entry.js')} }}")

    def numbers(made, subset):
        contents = made._data
        blocks = {
            name: block.decode()
            for name, block in payload.encode_blocks(contents.encode_blocks(), 1)
        }
        manifest = json.loads(payload.to_script_json(contents.build_manifest()))
        return tab.evaluate("all => numbers(...all)", [manifest, blocks, subset])

    yield numbers
    tab.close()


def utf16(text):
    """The code units of a text, which is what JavaScript's strings are made of."""
    raw = text.encode("utf-16-le", "surrogatepass")
    return [raw[i] + 256 * raw[i + 1] for i in range(0, len(raw), 2)]


def check(numbers, systems, references, metrics, also):
    made = report(systems, references, metrics=metrics, also=also, samples=20, confidence=20)
    n = len(references)
    subset = list(range(0, n, 2))
    told = numbers(made, subset)
    for i, texts in enumerate(systems.values()):
        assert told["texts"][f"system{i}"] == [utf16(text) for text in texts]
    every = [*metrics, *(metric for metric in also if metric not in metrics)]
    assert len(told["settings"]) == len(every)
    names = list(systems)
    for metric, of in zip(every, told["settings"], strict=True):
        python = Python(metric, systems, references)
        assert of["corpus"] == near([python.corpus(name) for name in names]), metric
        assert of["subset"] == near([python.corpus(name, subset) for name in names]), metric
        for name, segments in zip(names, of["segments"], strict=True):
            assert segments == near(python.segments[name]), metric
        a, b = names[:2]
        pairs = zip(python.segments[a], python.segments[b], strict=True)
        assert of["delta"] == near([y - x for x, y in pairs]), metric
        if n > 1:
            wanted = [python.influence(a, b, i) for i in range(n)]
            assert of["influence"] == near(wanted), metric


@st.composite
def two_systems(draw):
    hypotheses, references = draw(strategies.corpora())
    # An own hypothesis, in other words: another segment's, or a piece of a reference.
    others = [draw(st.sampled_from([text, text[::-1], *hypotheses])) for text in hypotheses]
    if not any(any(r for r in rs) for rs in references):
        references[0] = [*references[0], "a"]
    # Inner lists could be taken for the transposed shape, tuples cannot.
    return {"one": hypotheses, "two": others}, [tuple(refs) for refs in references]


@settings(max_examples=25)
@given(two_systems())
def test_any_text_gives_pythons_numbers(numbers, corpora):
    systems, references = corpora
    check(numbers, systems, references, [BLEU(), CHRF(), TER()], ALSO)


def test_tricky_text_gives_pythons_numbers(numbers, corpus):
    hypotheses, references = corpus
    systems = {"one": hypotheses[::4], "two": references[::4]}
    other = [[r, h] for r, h in zip(references[::4], hypotheses[1::4], strict=True)]
    check(numbers, systems, other, [BLEU(), CHRF()], [BLEU(tokenize="zh"), CHRF(word_order=2)])


def test_blocks_are_gzip_in_base64(example):
    """What the browser unpacks is no form of its own."""
    name, block = next(iter(payload.encode_blocks(example.report._data.encode_blocks(), 1)))
    assert gzip.decompress(base64.b64decode(block)), name


def test_parameters_of_chrf_with_one_reference_are_pythons(example, opened):
    references = [first for first, _ in example.references]
    made = report(example.hypotheses, references, metrics=["chrf++"], samples=20, confidence=20)
    sheet = opened(made)
    for changes in ({"beta": 3}, {"beta": 0.5, "char_order": 3}, {"word_order": 0}):
        metric = CHRF(**{"word_order": 2, **changes})
        python = Python(metric, example.hypotheses, references)
        tab = sheet.go(address("summary", 0, **changes))
        tab.locator(".notice", has_text=str(metric.signature(1))).wait_for()
        for name, cells in rows_of(tab, 0):
            assert numbers_in(cells)[0] == near(python.corpus(name)), changes
