"""Contents, types and error messages of the npm package."""

from __future__ import annotations

import json
import re
import textwrap

import pytest
from closeness import is_close
from npm_user import load_module
from paths import ROOT

import truebleu as tb

pytestmark = pytest.mark.thorough

HYPOTHESES = ["The cat sat on the mat.", "A dog ran"]
REFERENCES = [["The cat sat on a mat.", "There is a cat."], ["A dog was running", "One dog ran"]]


def test_package_size_is_below_limit(installed):
    assert installed.packed["size"] <= load_module("npm/build.py").MAX_PACKED_BYTES
    assert installed.packed["name"] == "truebleu"
    assert installed.packed["version"] == tb.__version__


def test_package_has_files_and_no_dependencies(installed):
    files = {one["path"] for one in installed.packed["files"]}
    assert {"index.js", "index.d.ts", "kernel.wasm", "LICENSE", "NOTICE", "README.md"} <= files
    fields = json.loads((installed.package_path / "package.json").read_text())
    assert not any("dependencies" in name.lower() for name in fields)
    assert [path.name for path in (installed.folder / "node_modules").glob("[!.]*")] == ["truebleu"]


def test_modules_equal_report_modules(installed):
    from truebleu.reports import browser_kernel

    modules = sorted((installed.package_path / "viewer").glob("*.js"))
    assert modules
    for path in (*modules, installed.package_path / "kernel.wasm"):
        source = browser_kernel.KERNEL_PATH.parent / path.relative_to(installed.package_path)
        assert path.read_bytes() == source.read_bytes()


def test_package_built_on_github_names_its_repository(monkeypatch):
    build = load_module("npm/build.py")
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    assert build.describe_repository() == {}
    monkeypatch.setenv("GITHUB_REPOSITORY", "someone/truebleu")
    url = "git+https://github.com/someone/truebleu.git"
    assert build.describe_repository() == {"repository": {"type": "git", "url": url}}


def test_strict_typescript_accepts_example(installed):
    program = (ROOT / "npm" / "example.ts").read_text(encoding="utf-8")
    strict = (
        *("--strict", "--noEmit", "--target", "es2022"),
        *("--module", "nodenext", "--lib", "es2022,dom"),
    )
    (installed.folder / "right.ts").write_text(program)
    completed = installed.typescript(*strict, "--exactOptionalPropertyTypes", "right.ts")
    assert completed.returncode == 0, completed.stdout
    invalid_lines = [
        'const text: string = metric("bleu").score([], []).value;',
        'metric("bleu", { smoothin: "exp" });',
        'metric("bleu", { tokenize: "14" });',
        'metric("bleu").score("a", ["a"]);',
        'metric("bleu").sentence("a", ["a", undefined]);',
        'const value: number = metric("bleu").score([], []).brevity_penalty;',
    ]
    lines = ['import { metric } from "truebleu";', *invalid_lines]
    (installed.folder / "wrong.ts").write_text("\n".join(lines))
    completed = installed.typescript(*strict, "wrong.ts")
    error_lines = sorted({int(line) for line in re.findall(r"wrong\.ts\((\d+),", completed.stdout)})
    assert error_lines == list(range(2, 2 + len(invalid_lines))), completed.stdout


def test_readme_examples_print_documented_output(installed):
    """Compare the output with the comments after `//`."""
    text = (ROOT / "npm" / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```js\n(.*?)```", text, re.DOTALL)
    assert len(blocks) >= 2
    for block in blocks:
        (installed.folder / "readme.mjs").write_text(block)
        done = installed.run("node", "readme.mjs")
        assert done.returncode == 0, done.stderr
        documented_output = re.findall(r"^console\.log\(.*\);\s+// (.*)$", block, re.MULTILINE)
        assert done.stdout.splitlines() == documented_output


def test_readme_lists_all_parameters():
    text = (ROOT / "npm" / "README.md").read_text(encoding="utf-8")
    build = load_module("npm/build.py")
    for kind, names in build.CONFIGURABLE_PARAMETERS.items():
        [row] = re.findall(rf"^\| [^|]*`{kind.lower()}`.*$", text, re.MULTILINE)
        for name in names:
            assert f"`{name}`" in row, (kind, name)
    options = (ROOT / "npm" / "index.js").read_text(encoding="utf-8")
    options = options.partition("@typedef {object} Score")[0]
    listed_parameters = set(re.findall(r"@property \{.*?\} \[(\w+)\]", options))
    assert listed_parameters == set().union(*build.CONFIGURABLE_PARAMETERS.values())


def test_parameter_types_match_declarations():
    text = (ROOT / "npm" / "index.js").read_text(encoding="utf-8")
    options = text.partition("@typedef {object} Score")[0]
    build = load_module("npm/build.py")
    for metric in (tb.BLEU(), tb.CHRF(), tb.TER(), tb.WER(), tb.CER()):
        for declaration in build.describe_parameters(metric.NAME, metric):
            pattern = rf"@property \{{(.*?)\}} \[{declaration['name']}\]"
            [declared_type] = re.findall(pattern, options)
            if declaration["kind"] == "choice":
                assert re.findall('"(.*?)"', declared_type) == declaration["choices"]
            assert declared_type.endswith("| null") == declaration["optional"]


# Invalid calls with equal messages in Python and JavaScript: name, parameters, method, texts.
SHARED_ERROR_CALLS: list[tuple] = [
    ("bleu", {}, "score", (["a", "b"], ["a"])),
    ("bleu", {}, "score", ([], [])),
    ("bleu", {}, "score", (["a", "b"], ["a", None])),
    ("bleu", {}, "segments", (["a", "b"], ["a", []])),
    ("bleu", {}, "sentence", ("a", [None])),
    ("allennlp", {}, "score", (["a"], [["a", "b"]])),
    ("bleu", {"smooth_method": "exp"}),
    ("bleu", {"max_order": 17}),
    ("bleu", {"weights": [1, 2], "max_order": 4}),
    ("bleu", {"smoothing_value": 3}),
    ("bleu", {"smoothing": "floor", "smoothing_value": -1}),
    ("cdec-ibm", {"smoothing": "exp"}),
    ("chrf", {"char_order": 101}),
]


def test_error_messages_equal_python(installed):
    results = installed.node("calls.mjs", SHARED_ERROR_CALLS)
    for (name, options, *call), result in zip(SHARED_ERROR_CALLS, results, strict=True):
        with pytest.raises((ValueError, TypeError)) as wanted:  # noqa: PT012
            metric = tb.metric(name, **options)
            getattr(metric, call[0])(*call[1])
        assert result == {"error": str(wanted.value)}, (name, options, call)


STREAMS = [["the cat sat on a mat.", "a dog ran far"], ["the cat is there", "one dog ran"]]
SQUARE = (
    "references: this looks like 2 streams of 2 references, which match the "
    "hypotheses better as streams"
)


def call_bleu(*texts, method="score"):
    return "bleu", {}, method, texts


JAVASCRIPT_ERRORS: list[tuple[str, tuple]] = [
    ("unknown metric 'bleo'; did you mean 'bleu'? Available: bleu, chrf, ", ("bleo", {})),
    ("unknown metric 'nist'", ("nist", {})),
    ("BLEU has no parameter 'tokenise'; did you mean 'tokenize'?", ("bleu", {"tokenise": "13a"})),
    ("unknown tokenize 'ja-mecab'; available: 13a, intl, ", ("bleu", {"tokenize": "ja-mecab"})),
    ("unknown tokenize '13'; did you mean '13a'? Available: ", ("bleu", {"tokenize": "13"})),
    ("unknown smoothing 'flor'; did you mean 'floor'? ", ("bleu", {"smoothing": "flor"})),
    ("lowercase='yes': expected true or false", ("bleu", {"lowercase": "yes"})),
    ("max_order=null: expected a whole number from 1 to 16", ("bleu", {"max_order": None})),
    ("reference_length: cannot be changed", ("bleu", {"reference_length": "shortest"})),
    ("weights=[0,0]: at least one must not be 0", ("bleu", {"weights": [0, 0]})),
    ("effective_order cannot be changed: miss", ("nltk-corpus-1", {"effective_order": True})),
    ("expected at least one order", ("chrf", {"char_order": 0})),
    ("TER has no parameter 'lowercase'; ", ("ter", {"lowercase": True})),
    ("options: of type string; expected an object", ("bleu", "13a")),
    ("hypotheses: a single string; expected an array with an entry", call_bleu("ab", ["a"])),
    ("references: a single string; expected an array", call_bleu(["a"], "a")),
    ("hypotheses: segment 2 is missing (null). Every", call_bleu(["a", None], ["a", "b"])),
    ("hypotheses: segment 2 is of type number, not a string", call_bleu(["a", 3], ["a", "b"])),
    (
        "references: segment 2, reference 2 is of type number; a segment's references are",
        call_bleu(["a", "b"], ["a", ["b", 4]], method="segments"),
    ),
    ("references: segment 2 is an object; a", call_bleu(["a", "b"], ["a", {"b": 1}])),
    (SQUARE, call_bleu(HYPOTHESES, STREAMS)),
    (
        "references: this looks like 2 streams of 3 references (expected 3 segments).",
        call_bleu(["a", "b", "c"], [["a", "b", "c"], ["a", "b", "c"]], method="segments"),
    ),
]


def test_invalid_calls_raise_errors(installed):
    results = installed.node("calls.mjs", [call for _, call in JAVASCRIPT_ERRORS])
    for (message, call), result in zip(JAVASCRIPT_ERRORS, results, strict=True):
        assert result["error"].startswith(message), call


def test_python_rejects_same_streams():
    with pytest.raises(tb.InputError, match=SQUARE):
        tb.BLEU().score(HYPOTHESES, STREAMS)


@pytest.mark.parametrize("source", ["bytes", "buffer", "string", "url", "response"])
def test_init_accepts_all_kernel_sources(installed, source):
    """A failed call can be followed by a successful one."""
    completed = installed.run("node", "kernel_sources.mjs", source)
    early, compiled, missing, value = json.loads(completed.stdout)
    assert early == "the kernel is not ready: call `await init()` first"
    assert "WebAssembly" in compiled
    assert missing == "the kernel: 404 Not Found; expected kernel.wasm of the package truebleu"
    assert value == tb.BLEU().sentence("a b c d", "a b c d").value


def test_signatures_equal_python(installed):
    weighted_metric = tb.BLEU(weights=[0.5, 0.5])
    calls: list[tuple] = [
        ("bleu", {}, "signature", ()),
        ("bleu", {}, "signature", ("var", {"segment": True})),
        ("chrf++", {}, "signature", (3,)),
        ("bleu", {"weights": [0.5, 0.5]}, "signature", (2,)),
        ("bleu", {"weights": [0.5, 0.5]}),
    ]
    expected = [
        str(tb.BLEU().signature(1, segment=False)),
        str(tb.BLEU().signature("var", segment=True)),
        str(tb.metric("chrf++").signature(3)),
        str(weighted_metric.signature(2, segment=False)),
        ["BLEU", weighted_metric.parameters],
    ]
    assert installed.node("calls.mjs", calls) == json.loads(json.dumps(expected))


def test_score_is_immutable_number(installed):
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
    value, value_property, text, frozen, is_greater, keys = installed.node("score.mjs")
    assert value == value_property == score.value
    assert text == f"BLEU = {score.value:.2f}"
    assert frozen
    assert is_greater
    assert keys[:3] == ["name", "value", "signature"]


def test_explanations_equal_python(installed):
    cases = [
        ("bleu", {}), ("bleu", {"smoothing": "add-k", "lowercase": True}), ("chrf++", {}),
        ("chrf", {"whitespace": True}), ("ter", {}), ("wer", {}), ("wip", {"tokenize": "13a"}),
        ("cer", {}),
    ]  # fmt: skip
    texts = [{"hypotheses": HYPOTHESES, "references": REFERENCES}]
    cases_input = [{"name": n, "options": o, "text": 0, "explained": True} for n, o in cases]
    results = installed.node("scores.mjs", {"texts": texts, "cases": cases_input})["results"]
    for (name, options), explanations in zip(cases, results, strict=True):
        metric = tb.metric(name, **options)
        for explanation, hypothesis, references in zip(
            explanations, HYPOTHESES, REFERENCES, strict=True
        ):
            score = metric.sentence(hypothesis, references)
            assert is_close(explanation["score"]["value"], score.value)
            assert explanation["score"]["signature"] == str(score.signature)
            if hasattr(score, "matches"):
                assert [order["matches"] for order in explanation["orders"]] == list(score.matches)
                for order in explanation["orders"]:
                    assert sum(gram["counted"] for gram in order["ngrams"]) == order["matches"]
                    assert sum(gram["hypothesis"] for gram in order["ngrams"]) == order["total"]
            if name == "bleu":
                lower = options.get("lowercase", False)
                assert explanation["hypothesis"] == tb.tokenize(hypothesis, "13a", lowercase=lower)
                assert explanation["references"] == [
                    tb.tokenize(text, "13a", lowercase=lower) for text in references
                ]
            if name in ("ter", "wer", "wip"):
                expected_alignment = metric.alignment(hypothesis, references)._asdict()
                del expected_alignment["reference_length"]
                assert explanation["alignment"] == json.loads(json.dumps(expected_alignment))
            else:
                assert explanation["alignment"] is None
            assert (explanation["best"] is not None) == (metric.NAME == "chrF")


def test_memory_does_not_grow_with_calls(installed):
    sizes = installed.node("memory.mjs")
    assert min(sizes[8:]) < 1.25 * max(sizes[:4])
