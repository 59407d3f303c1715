"""The viewer's script: results compared with Python, and forbidden constructs."""

import itertools
import math
import random
import re
import shutil
import subprocess

import pytest
from closeness import is_close
from encoded_texts import describe_setting, encode_texts

from truebleu import BLEU, CER, CHRF, MER, TER, WER, WIL, WIP
from truebleu.rendering.number_format import format_segments_needed
from truebleu.reports import browser_kernel, html_page, payload, term_glossary
from truebleu.reports.html_page import strip_comments
from truebleu.text.tokenizers import tokenize

VIEWER = html_page.PACKAGE_FOLDER / "viewer"
MODULES = sorted(VIEWER.glob("*.js"))

# Constructs that turn data into markup or script, or that send requests.
FORBIDDEN_PATTERNS = (
    r"\binnerHTML\b",
    r"\bouterHTML\b",
    r"\binsertAdjacentHTML\b",
    r"\bdocument\.write",
    r"\beval\b",
    r"\bnew Function\b",
    r"\bcreateContextualFragment\b",
    r"\bDOMParser\b",
    r"\bXMLHttpRequest\b",
    r"\bWebSocket\b",
    r"\bsendBeacon\b",
    r"\bsetAttribute\(\s*[\"'](?:on|style)",
    r"[{,]\s*(?:on(?:click|load|error|mouse|key|focus|input|change|toggle)\w*|style)\s*:",
    r"\bcookie\b",
)


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)
def test_modules_cannot_create_markup_or_script(module):
    source = module.read_text(encoding="utf-8")
    for pattern in FORBIDDEN_PATTERNS:
        match = re.search(pattern, source)
        assert not match, match[0]


def test_only_data_module_uses_server():
    asking = [m.name for m in MODULES if re.search(r"\bfetch\s*\(", m.read_text(encoding="utf-8"))]
    assert asking == ["report_data.js"]
    source = (VIEWER / "report_data.js").read_text(encoding="utf-8")
    assert source.count("fetch(") == 1
    assert "fetch(`${this.manifest.serve.base}" in source


def test_template_has_no_handlers_or_inline_styles():
    template = (html_page.PACKAGE_FOLDER / "page.html").read_text(encoding="utf-8")
    assert not re.search(r"\s(?:on\w+|style)\s*=", template)


# ---- removal of comments and indentation ----


@pytest.mark.parametrize(
    ("long", "short"),
    [
        ("// one\n  // two\nconst b = 2;\n", "const b = 2;\n"),
        ("/** @param {number} x */\n  f(x, y); // stays\n", "f(x, y); // stays\n"),
        ("f(/** @type {any} */ (x),\n  y);\n", "f((x),\ny);\n"),
        ("/**\n * Several\n * lines.\n */\nlet a = b\n   (c)\n", "let a = b\n(c)\n"),
        ("s = '  // no ' + \" /* no */ \";\n", "s = '  // no ' + \" /* no */ \";\n"),
    ],
)
def test_comments_and_indentation_are_removed(long, short):
    assert strip_comments(long) == short


@pytest.mark.thorough
def test_stripped_modules_are_valid(node, tmp_path):
    for module in MODULES:
        path = tmp_path / f"{module.stem}.mjs"
        path.write_text(strip_comments(module.read_text(encoding="utf-8")), encoding="utf-8")
        subprocess.run([node, "--check", path], check=True)


# ---- comparison with Python ----


@pytest.fixture(scope="module")
def node():
    path = shutil.which("node")
    if not path:
        pytest.skip("no Node here to run the viewer's functions")
    return path


@pytest.fixture(scope="module")
def run(run_modules):
    return lambda **cases: run_modules("viewer.mjs", cases)


WORDS = ["the", "cat", "sat", "on", "a", "mat", ".", "1,5", "dog", "in", "of"]


def make_corpus(seed):
    dice = random.Random(seed)

    def make_sentence(words):
        return " ".join(dice.choice(WORDS) for _ in range(words))

    hypotheses = [make_sentence(dice.choice([0, 1, 2, 3, 5, 8, 13, 20])) for _ in range(40)]
    first = [make_sentence(dice.choice([0, 1, 2, 4, 6, 8, 13])) for _ in range(40)]
    second = [h if dice.random() < 0.1 else make_sentence(9) for h in hypotheses]
    return hypotheses, list(map(list, zip(first, second, strict=True)))


def list_smoothing_parameters():
    values = [("exp", None), ("floor", None), ("floor", 0.01), ("add-k", None), ("add-k", 0.3)]
    values += [(name, None) for name in ("none", "add-k-all", "epsilon", "tiny", "add-k-tiny")]
    for (smoothing, value), order in itertools.product(values, (1, 2, 4, 6)):
        rising = tuple((i + 1) / 10 for i in range(order))
        last = (*(0.0 for _ in range(order - 1)), 1.0)
        for weights, effective in itertools.product((None, rising, last), (None, True, False)):
            yield {
                "smoothing": smoothing,
                "smoothing_value": value,
                "max_order": order,
                "weights": weights,
                "effective_order": effective,
            }


def sample_bleu_variants():
    """Yield 150 random combinations of the parameters of other programs' BLEU."""
    names = ("arithmetic", "brevity_penalty", "missing_order", "no_match", "aggregate")
    declared = {parameter.name: parameter for parameter in BLEU.PARAMETERS}
    combinations = list(itertools.product(*(declared[name].meanings for name in names)))
    dice = random.Random(7)
    for combination in dice.sample(combinations, 150):
        yield BLEU(
            **dict(zip(names, combination, strict=True)),
            smoothing=dice.choice(["exp", "none", "add-k", "epsilon"]),
            reference_length=dice.choice(["closest", "average"]),
            empty_brevity=dice.choice([0.0, 1.0]),
            weights=dice.choice([None, (0.4, 0.3, 0.2, 0.1)]),
        )


def check_scores(run, pairs, seed=4):
    """Check that the page's numbers for each metric and changed setting equal Python's."""
    hypotheses, references = make_corpus(seed)
    cases, expected_numbers = [], []
    subset = list(range(3, 40, 3))
    for metric, base, changes in pairs:
        table = metric.statistics(hypotheses, references)
        rows = table.tolist()
        try:
            segments = list(metric.segments(hypotheses, references))

            def score(numbers, metric=metric):
                texts = zip(*((hypotheses[i], references[i]) for i in numbers), strict=True)
                return metric.score(*map(list, texts)).value

            expected = {
                "signature": str(metric.signature(2)),
                "segments": segments,
                "corpus": score(range(40)),
                "subset": score(subset),
                "without": [score(j for j in range(40) if j != i) for i in range(40)],
                "segment": segments[subset[0]],
                "row": rows[subset[0]],
                "sums": [sum(column) for column in zip(*rows, strict=True)],
                "column": [row[1] for row in rows],
            }
        except ValueError:  # AllenNLP's BLEU cannot take the logarithm of a negative difference.
            continue
        expected_numbers.append(expected)
        table = base.statistics(hypotheses, references).tolist()
        cases.append(
            {
                "setting": describe_setting(base, 2),
                "changes": changes,
                "rows": table,
                "subset": subset,
            }
        )
    assert len(expected_numbers) > 0.5 * len(pairs)
    for page_numbers, expected in zip(run(scores=cases)["scores"], expected_numbers, strict=True):
        mean = "agg" in expected["signature"]
        recomputed, without = page_numbers.pop("corpus_steps"), page_numbers.pop("without")
        # Subtraction from the sum rounds differently than a new sum; the page shows no such number.
        expected_without = expected.pop("without")
        assert without == pytest.approx(expected_without, abs=1e-9, rel=1e-12)
        assert mean or is_close(recomputed, expected["corpus"])
        assert is_close(page_numbers, expected)


@pytest.mark.thorough
def test_changed_bleu_parameters_equal_python(run):
    base = BLEU(max_order=6, effective_order=False)
    check_scores(run, [(BLEU(**changes), base, changes) for changes in list_smoothing_parameters()])


def test_bleu_variants_equal_python(run):
    check_scores(run, [(metric, metric, {}) for metric in sample_bleu_variants()])


def test_chrf_equals_python(run):
    metrics = [
        CHRF(char_order, word_order, beta, eps_smoothing=eps, whitespace=whitespace)
        for char_order, word_order, beta, eps, whitespace in itertools.product(
            (0, 1, 6), (0, 1, 2), (0, 1, 2, 0.5), (False, True), (False, True)
        )
        if char_order + word_order
    ]
    check_scores(run, [(metric, metric, {}) for metric in metrics])


def test_ter_equals_python(run):
    check_scores(run, [(TER(), TER(), {}), (TER(normalized=True), TER(normalized=True), {})])


def test_error_rates_equal_python(run):
    check_scores(run, [(metric, metric, {}) for metric in (WER(), MER(), WIL(), WIP(), CER())])


HTML = {"lt;": "<", "gt;": ">", "&amp;": "&", "&quot;": '"'}


@pytest.mark.thorough
def test_displayed_tokens_equal_python(run, corpus):
    rewritten = "&amp;lt; x-\ny <skipped>1.5,,6 İ ΑΣ. -5-6 ½.½ «a» &quot;b &amp; c&gt;"
    metrics = [
        BLEU(name, lowercase=lowercase)
        for name in ("13a", "intl", "zh", "char", "none")
        for lowercase in (False, True)
    ]
    cases = [
        (text, metric)
        for text in [*corpus[0], rewritten, "\ud800 x", ""]
        for metric in metrics
        # The rules for final sigma differ between Unicode versions.
        if not (metric.lowercase and "Σ" in text and "ʕ" in text)
    ]
    tokens_by_case = run(
        tokens=[[text, browser_kernel.get_kernel_settings(metric)] for text, metric in cases],
        lowercase=browser_kernel.load_kernel_blocks()["lowercase"].hex(),
    )["tokens"]
    for (text, metric), tokens in zip(cases, tokens_by_case, strict=True):
        keys = tokenize(text, metric.tokenize, lowercase=metric.lowercase)
        assert tokens["keys"] == keys, (text, metric)
        # JavaScript counts characters beyond U+FFFF as two units.
        units = text.encode("utf-16-le", "surrogatepass")
        last = 0, 0
        for key, start, end in zip(keys, tokens["starts"], tokens["ends"], strict=True):
            if (start, end) == last:  # İ becomes two characters in lower case.
                assert key[0] == "\u0307", (text, metric, key)
                continue
            assert last[1] <= start < end, (text, metric, key)
            last = start, end
            shown_text = units[2 * start : 2 * end].decode("utf-16-le", "surrogatepass")
            shown_text = shown_text.lower() if metric.lowercase else shown_text
            if metric.tokenize == "13a":
                shown_text = re.sub(
                    "&(?:amp;)?([lg]t;)|&amp;|&quot;", lambda m: HTML[m[1] or m[0]], shown_text
                )
                shown_text = shown_text.replace("-\n", "").replace("<skipped>", "")
            # The form of sigma depends on its context.
            same = shown_text if key != "i" else shown_text[:1]
            assert same.replace("ς", "σ") == key.replace("ς", "σ"), (text, metric, key)


def test_displayed_matches_equal_counts(run):
    hypotheses, references = make_corpus(5)
    rows = BLEU().statistics(hypotheses, references).tolist()
    cases = [
        [tokenize(text), [tokenize(reference) for reference in several]]
        for text, several in zip(hypotheses, references, strict=True)
    ]
    assert run(matches=cases)["matches"] == [row[2:] for row in rows]


def test_search_equals_python(run):
    texts = ["The Cat", None, "", "cat", "ca", "t the", "ΜΌΣΧΑ Москва", "Straße É", "é%É", "猫の猫"]
    needles = ["cat", "CAT", "a", "t", "москва", "É", "e\u0301", "猫", "%", "the cat", "ß"]
    cases = [[texts, needle, exact] for needle in needles for exact in (False, True)]
    for (_, needle, exact), hits in zip(cases, run(searches=cases)["searches"], strict=True):
        same = str if exact else str.lower
        expected = [int(t is not None and same(needle) in same(t)) for t in texts]
        assert hits == expected, (needle, exact)


def test_sort_is_stable_with_missing_values_last(run):
    dice = random.Random(3)
    values = [dice.choice([-1.5, -0.0, 0.0, 1e-300, -1e300, 3.25, None]) for _ in range(500)]
    values += [dice.uniform(-100, 100) for _ in range(500)]

    def place(i):
        return (values[i] is None, math.inf if values[i] is None else values[i])

    assert run(sorts=[values])["sorts"][0] == sorted(range(1000), key=place)


def test_texts_survive_round_trip(run):
    texts = ["", "a\x00b", None, "\ufeffBOM", "\ud800 lone \udfff", "👩‍👩‍👧", "\u2028\r\n", "�"]
    columns = [texts, texts[::-1], [*texts[3:], *texts[:3]]]
    encoded = [*map(encode_texts, columns)]
    for roles in (1, 2, 3):
        block = payload.encode_embedded_texts(encoded[:roles]).hex()
        expected = [
            [None if t is None else [ord(c) for c in t] for t in column]
            for column in columns[:roles]
        ]
        assert run(blocks=[[block, len(texts), roles]])["blocks"] == [expected]


def test_term_search_equals_python(run):
    cases = [
        (term, text)
        for term in ["train", "IT", "C++", "machine learning", "東京", "Straße", "e", "3", "a.b"]
        for text in [
            "Train, train; trains train-set restrain _train train",
            "IT it It, C++ c++ C",
            "machine\u00a0 learning machine\tlearning Machine-learning",
            "東京都 3 33 e\u0301 e STRASSE straße a.b axb",
        ]
    ]
    expected = [
        len(list(term_glossary.make_finder(term)(term_glossary.SearchableText(text.encode()))))
        for term, text in cases
    ]
    assert run(terms=cases)["terms"] == expected


def test_names_are_capitalized_words_inside_sentences(run):
    cases = {
        "The train to Cologne.": True,
        "The train came. Then it left.": False,
        "He said: “Come!” I know I'm late.": False,
        "He said “Come”.": False,
        "so says NATO": True,
        "Cologne": False,
        "Он живёт в Москве.": True,
        "東京": False,
        "": False,
        "... Berlin is big": False,
        "ask Élodie": True,
    }
    assert run(names=list(cases))["names"] == list(cases.values())


def test_numbers_have_digits_of_any_script(run):
    assert run(numbers=["٣", "3", "three", ""])["numbers"] == [True, True, False, False]


def test_counts_are_rounded_as_in_python(run):
    counts = [2, 99, 124, 125, 994, 995, 3925, 87_011, 1_000_000, 1_000_001, 10**12]
    assert run(counts=counts)["counts"] == [*map(format_segments_needed, counts)]
