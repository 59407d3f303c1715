"""What is in the package for npm, its types, and what it says and refuses."""

from __future__ import annotations

import json
import re
import textwrap

import pytest
from closeness import is_close
from npm_user import module
from paths import ROOT

import truebleu as tb

pytestmark = pytest.mark.thorough

HYPOTHESES = ["The cat sat on the mat.", "A dog ran"]
REFERENCES = [["The cat sat on a mat.", "There is a cat."], ["A dog was running", "One dog ran"]]


@pytest.mark.thorough
def test_it_is_as_small_as_was_promised(installed):
    assert installed.packed["size"] <= module("npm/build.py").MOST_BYTES
    assert installed.packed["name"] == "truebleu"
    assert installed.packed["version"] == tb.__version__


def test_it_has_its_files_and_no_dependencies(installed):
    files = {one["path"] for one in installed.packed["files"]}
    assert {"index.js", "index.d.ts", "kernel.wasm", "LICENSE", "NOTICE", "README.md"} <= files
    assert not any(
        "dependencies" in name.lower()
        for name in json.loads((installed.package / "package.json").read_text())
    )
    assert [path.name for path in (installed.folder / "node_modules").glob("[!.]*")] == ["truebleu"]


def test_the_modules_are_those_of_the_report(installed):
    from truebleu.reports import browser_kernel

    own = sorted((installed.package / "viewer").glob("*.js"))
    assert own
    for path in own:
        assert (
            path.read_bytes()
            == (browser_kernel.KERNEL_PATH.parent / "viewer" / path.name).read_bytes()
        )
    assert (
        installed.package / "kernel.wasm"
    ).read_bytes() == browser_kernel.KERNEL_PATH.read_bytes()


@pytest.mark.thorough
def test_a_strict_program_has_types(installed):
    program = (ROOT / "npm" / "example.ts").read_text(encoding="utf-8")
    strict = (
        "--strict",
        "--noEmit",
        "--target",
        "es2022",
        "--module",
        "nodenext",
        "--lib",
        "es2022,dom",
    )
    (installed.folder / "right.ts").write_text(program)
    done = installed.typescript(*strict, "--exactOptionalPropertyTypes", "right.ts")
    assert done.returncode == 0, done.stdout
    wrong = [
        'const text: string = metric("bleu").score([], []).value;',
        'metric("bleu", { smoothin: "exp" });',
        'metric("bleu", { tokenize: "14" });',
        'metric("bleu").score("a", ["a"]);',
        'metric("bleu").sentence("a", ["a", undefined]);',
        'const value: number = metric("bleu").score([], []).brevity_penalty;',
    ]
    lines = ['import { metric } from "truebleu";', *wrong]
    (installed.folder / "wrong.ts").write_text("\n".join(lines))
    done = installed.typescript(*strict, "wrong.ts")
    found = sorted({int(line) for line in re.findall(r"wrong\.ts\((\d+),", done.stdout)})
    assert found == list(range(2, 2 + len(wrong))), done.stdout


def test_the_examples_of_the_readme_run(installed):
    """Each prints what stands behind `//`, in the order of the lines."""
    text = (ROOT / "npm" / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```js\n(.*?)```", text, re.DOTALL)
    assert len(blocks) >= 2
    for block in blocks:
        (installed.folder / "readme.mjs").write_text(block)
        done = installed.run("node", "readme.mjs")
        assert done.returncode == 0, done.stderr
        said = re.findall(r"^console\.log\(.*\);\s+// (.*)$", block, re.MULTILINE)
        assert done.stdout.splitlines() == said


def test_the_readme_names_every_parameter():
    text = (ROOT / "npm" / "README.md").read_text(encoding="utf-8")
    build = module("npm/build.py")
    for kind, names in build.CHOSEN.items():
        [row] = re.findall(rf"^\| [^|]*`{kind.lower()}`.*$", text, re.MULTILINE)
        for name in names:
            assert f"`{name}`" in row, (kind, name)
    options = (ROOT / "npm" / "index.js").read_text(encoding="utf-8")
    listed = set(
        re.findall(r"@property \{.*?\} \[(\w+)\]", options.partition("@typedef {object} Score")[0])
    )
    assert listed == {name for names in build.CHOSEN.values() for name in names}


def test_what_a_parameter_may_be_is_what_types_say():
    options = (ROOT / "npm" / "index.js").read_text(encoding="utf-8")
    build = module("npm/build.py")
    for metric in (tb.BLEU(), tb.CHRF(), tb.TER(), tb.WER(), tb.CER()):
        for one in build.declared(metric.NAME, metric):
            [said] = re.findall(
                rf"@property \{{(.*?)\}} \[{one['name']}\]",
                options.partition("@typedef {object} Score")[0],
            )
            if one["kind"] == "choice":
                assert re.findall('"(.*?)"', said) == one["choices"]
            assert said.endswith("| null") == one["optional"]


def python(name: str, options: dict, method: str = "", given: tuple = ()) -> object:
    """What a call gives in Python."""
    metric = tb.metric(name, **options)
    return getattr(metric, method)(*given) if method else metric


# Calls that are wrong for the same reason here and there: name, parameters, verb, texts.
SAME_WORDS: list[tuple] = [
    ("bleu", {}, "score", (["a", "b"], ["a"])),
    ("bleu", {}, "score", ([], [])),
    ("bleu", {}, "score", (["a", "b"], ["a", None])),
    ("bleu", {}, "segments", (["a", "b"], ["a", []])),
    ("bleu", {}, "sentence", ("a", [None])),
    ("allennlp", {}, "score", (["a"], [["a", "b"]])),
    ("bleu", {"smooth_method": "exp"}),
    ("bleu", {"smoothing": "flor"}),
    ("bleu", {"max_order": 17}),
    ("bleu", {"weights": [1, 2], "max_order": 4}),
    ("bleu", {"smoothing_value": 3}),
    ("bleu", {"smoothing": "floor", "smoothing_value": -1}),
    ("cdec-ibm", {"smoothing": "exp"}),
    ("chrf", {"char_order": 101}),
]


def test_it_says_what_python_says(installed):
    for call, found in zip(SAME_WORDS, installed.node("calls.mjs", SAME_WORDS), strict=True):
        with pytest.raises((ValueError, TypeError)) as wanted:
            python(*call)
        assert found == {"error": str(wanted.value)}, call


STREAMS = [["the cat sat on a mat.", "a dog ran far"], ["the cat is there", "one dog ran"]]
SQUARE = (
    "references: this looks like 2 streams of 2 references: they fit the hypotheses better that"
)

OWN_WORDS: list[tuple[str, tuple]] = [
    ("unknown metric 'bleo'; did you mean 'bleu'? There are bleu, chrf, ", ("bleo", {})),
    ("unknown metric 'nist'", ("nist", {})),
    (
        "BLEU has no parameter 'tokenise'; did you mean 'tokenize'? There are tokenize, ",
        ("bleu", {"tokenise": "13a"}),
    ),
    ("unknown tokenize 'ja-mecab'; there are 13a, intl, ", ("bleu", {"tokenize": "ja-mecab"})),
    ("unknown tokenize '13'; did you mean '13a'? There are ", ("bleu", {"tokenize": "13"})),
    ("lowercase='yes': expected true or false", ("bleu", {"lowercase": "yes"})),
    ("max_order=null: expected a whole number from 1 to 16", ("bleu", {"max_order": None})),
    ("reference_length: cannot be chosen here", ("bleu", {"reference_length": "shortest"})),
    ("weights=[0,0]: at least one must not be 0", ("bleu", {"weights": [0, 0]})),
    (
        "effective_order cannot be chosen: this metric has missing_order 'at-least-one'",
        ("nltk-corpus-1", {"effective_order": True}),
    ),
    ("expected at least one order", ("chrf", {"char_order": 0})),
    ("TER has no parameter 'lowercase'; ", ("ter", {"lowercase": True})),
    ("options: of type string; expected an object", ("bleu", "13a")),
    (
        "hypotheses: a single string; expected an array with an entry for each segment",
        ("bleu", {}, "score", ("ab", ["a"])),
    ),
    ("references: a single string; expected an array", ("bleu", {}, "score", (["a"], "a"))),
    (
        "hypotheses: segment 2 is missing (null); every segment needs a hypothesis",
        ("bleu", {}, "score", (["a", None], ["a", "b"])),
    ),
    (
        "hypotheses: segment 2 is of type number, not a string",
        ("bleu", {}, "score", (["a", 3], ["a", "b"])),
    ),
    (
        "references: segment 2, reference 2 is of type number; a segment's references are",
        ("bleu", {}, "segments", (["a", "b"], ["a", ["b", 4]])),
    ),
    (
        "references: segment 2 is an object; a segment's references are",
        ("bleu", {}, "score", (["a", "b"], ["a", {"b": 1}])),
    ),
    (SQUARE, ("bleu", {}, "score", (HYPOTHESES, STREAMS))),
    (
        "references: this looks like 2 streams of 3 references, where 3 segments are expected.",
        ("bleu", {}, "segments", (["a", "b", "c"], [["a", "b", "c"], ["a", "b", "c"]])),
    ),
]


def test_what_is_wrong_is_said(installed):
    found = installed.node("calls.mjs", [call for _, call in OWN_WORDS])
    for (words, call), own in zip(OWN_WORDS, found, strict=True):
        assert own["error"].startswith(words), call


def test_streams_are_those_that_python_refuses():
    with pytest.raises(tb.InputError, match=SQUARE):
        tb.BLEU().score(HYPOTHESES, STREAMS)


@pytest.mark.parametrize("way", ["bytes", "buffer", "string", "url", "response"])
def test_the_kernel_may_be_given_in_any_way(installed, way):
    """And a wrong one can be followed by a right one."""
    done = installed.run("node", "given.mjs", way)
    early, compiled, missing, value = json.loads(done.stdout)
    assert early == "the kernel is not ready: call `await init()` first"
    assert "WebAssembly" in compiled
    assert missing == "the kernel: 404 Not Found; expected kernel.wasm of the package truebleu"
    assert value == tb.BLEU().sentence("a b c d", "a b c d").value


def test_signatures_are_pythons(installed):
    weighted = tb.BLEU(weights=[0.5, 0.5])
    calls: list[tuple] = [
        ("bleu", {}, "signature", ()),
        ("bleu", {}, "signature", ("var", {"segment": True})),
        ("chrf++", {}, "signature", (3,)),
        ("bleu", {"weights": [0.5, 0.5]}, "signature", (2,)),
        ("bleu", {"weights": [0.5, 0.5]}),
    ]
    wanted = [
        str(tb.BLEU().signature(1, segment=False)),
        str(tb.BLEU().signature("var", segment=True)),
        str(tb.metric("chrf++").signature(3)),
        str(weighted.signature(2, segment=False)),
        ["BLEU", weighted.parameters],
    ]
    assert installed.node("calls.mjs", calls) == json.loads(json.dumps(wanted))


def test_a_score_is_a_number_and_does_not_change(installed):
    (installed.folder / "score.mjs").write_text(
        textwrap.dedent("""\
            import { init, metric } from "truebleu";
            await init();
            const score = metric("bleu").sentence("a b c d e", "a b c d f");
            let frozen = false;
            try { score.value = 1; } catch { frozen = true; }
            const told = [+score, score.value, `${score}`, frozen, score > 10, Object.keys(score)];
            console.log(JSON.stringify(told));
            """)
    )
    score = tb.BLEU().sentence("a b c d e", "a b c d f")
    value, same, text, frozen, more, keys = installed.node("score.mjs")
    assert value == same == score.value
    assert text == f"BLEU = {score.value:.2f}"
    assert frozen
    assert more
    assert keys[:3] == ["name", "value", "signature"]


def test_what_is_explained_is_what_python_explains(installed):
    cases = [
        ("bleu", {}), ("bleu", {"smoothing": "add-k", "lowercase": True}), ("chrf++", {}),
        ("chrf", {"whitespace": True}), ("ter", {}), ("wer", {}), ("wip", {"tokenize": "13a"}),
        ("cer", {}),
    ]  # fmt: skip
    texts = [{"hypotheses": HYPOTHESES, "references": REFERENCES}]
    given = [{"name": n, "options": o, "text": 0, "explained": True} for n, o in cases]
    results = installed.node("scores.mjs", {"texts": texts, "cases": given})["results"]
    for (name, options), found in zip(cases, results, strict=True):
        metric = tb.metric(name, **options)
        for own, hypothesis, references in zip(found, HYPOTHESES, REFERENCES, strict=True):
            score = metric.sentence(hypothesis, references)
            assert is_close(own["score"]["value"], score.value)
            assert own["score"]["signature"] == str(score.signature)
            if hasattr(score, "matches"):
                assert [order["matches"] for order in own["orders"]] == list(score.matches)
                for order in own["orders"]:
                    assert sum(gram["counted"] for gram in order["ngrams"]) == order["matches"]
                    assert sum(gram["hypothesis"] for gram in order["ngrams"]) == order["total"]
            if name == "bleu":
                lower = options.get("lowercase", False)
                assert own["hypothesis"] == tb.tokenize(hypothesis, "13a", lowercase=lower)
                assert own["references"] == [
                    tb.tokenize(text, "13a", lowercase=lower) for text in references
                ]
            if name in ("ter", "wer", "wip"):
                wanted = metric.alignment(hypothesis, references)._asdict()
                del wanted["reference_length"]
                assert own["alignment"] == json.loads(json.dumps(wanted))
            else:
                assert own["alignment"] is None
            assert (own["best"] is not None) == (metric.NAME == "chrF")


@pytest.mark.thorough
def test_memory_does_not_grow_with_what_was_scored(installed):
    sizes = installed.node("memory.mjs")
    assert min(sizes[8:]) < 1.25 * max(sizes[:4])
