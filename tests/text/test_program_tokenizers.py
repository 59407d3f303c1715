"""The tokenizers of other programs give what those programs give."""

import hashlib

import pytest

from truebleu import BLEU
from truebleu.text import program_tokenizers
from truebleu.text.tokenizers import PYTHON_TOKENIZERS

# Outputs of the original programs, with tokens separated by a space (None: no token).
# Perl programs ran with Perl 5.36: multi-bleu.perl, multi-bleu-detok.perl, mteval-v11b.pl, -v12.pl,
# -v13a.pl, -v14.pl of mosesdecoder/scripts/generic, of mteval only the subroutines. The others:
# CodeNN's and CodeXGLUE's by CodeXGLUE's code-to-text/evaluator/evaluator.py, tensor2tensor's by
# utils/bleu_hook.py, iBLEU's by js/bleu.js in Node, compare-mt's by corpus_utils.py.
FULL_NAMES = {
    "detok": "multi_bleu_detok",
    "ibleu": "madnani_ibleu",
    "t2t": "tensor2tensor",
    "v14": "mteval_v14_international",
}
GOLDEN = {
    "It's 5,000.50 (USD) -- or 10%!": {
        "It's 5,000.50 (USD) -- or 10%!": "multi_bleu compare_mt",
        "It's 5,000.50 ( USD ) -- or 10 % !": "detok v11b v13a",
        "it's 5,000.50 ( usd ) -- or 10 % !": "v11b_lc v13a_lc codenn",
        "It ' s 5,000.50 ( USD ) - - or 10 % !": "v12 v14 t2t",
        "it ' s 5,000.50 ( usd ) - - or 10 % !": "v12_lc v14_lc",
        "It's 5,000.50 ( USD ) -- or 10%!": "ibleu",
        "it's 5,000.50 ( usd ) -- or 10%!": "ibleu_lc",
        "it ' s 5 , 000 . 50 ( usd ) - - or 10 % !": "codexglue",
    },
    "&quot;A&quot; &amp;lt; &apos;b&apos; &AMP; &gt;": {
        "&quot;A&quot; &amp;lt; &apos;b&apos; &AMP; &gt;": "multi_bleu compare_mt",
        '" A " < & apos ; b & apos ; & AMP ; >': "detok v11b v13a ibleu",
        '" a " < & apos ; b & apos ; & amp ; >': "v11b_lc v13a_lc ibleu_lc",
        "\" A \" < ' b ' & AMP ; >": "v12 v14",
        "\" a \" < ' b ' & amp ; >": "v12_lc v14_lc",
        "& quot ; A & quot ; & amp ; lt ; & apos ; b & apos ; & AMP ; & gt ;": "t2t",
        '" a " & lt ; & apos ; b & apos ; & amp ; >': "codenn",
        "& quot ; a & quot ; & amp ; lt ; & apos ; b & apos ; & amp ; & gt ;": "codexglue",
    },
    "in 2020. ": {
        "in 2020.": "multi_bleu compare_mt",
        "in 2020 .": "detok v11b* v13a* v12* v14* ibleu* t2t codenn codexglue",
    },
    "in 2020.": {
        "in 2020.": "multi_bleu v12* v14* t2t compare_mt",
        "in 2020 .": "detok v11b* v13a* ibleu* codenn codexglue",
    },
    ",5 .x 1-2 a-b 3.": {
        ",5 .x 1-2 a-b 3.": "multi_bleu compare_mt",
        ", 5 . x 1 - 2 a-b 3 .": "detok v11b* v13a* ibleu* codenn",
        ",5 . x 1-2 a - b 3.": "v12* v14* t2t",
        ", 5 . x 1 - 2 a - b 3 .": "codexglue",
    },
    "caf\xe9\xa0noir\u3000\u039f\u0394\u039f\u03a3 \u0130 \xc9": {
        "caf\xe9\xa0noir\u3000\u039f\u0394\u039f\u03a3 \u0130 \xc9": "multi_bleu v11b* compare_mt",
        "caf\xe9 noir \u039f\u0394\u039f\u03a3 \u0130 \xc9": "detok v13a* v12 v14 ibleu t2t",
        "caf\xe9 noir \u03bf\u03b4\u03bf\u03c3 i\u0307 \xe9": "v12_lc v14_lc",
        "caf\xe9 noir \u03bf\u03b4\u03bf\u03c2 i\u0307 \xe9": "ibleu_lc codenn",
        "caf\xe9 noir \u03bf\u03b4\u03bf\u03c2 i \u0307 \xe9": "codexglue",
    },
    "x\x1cy\u2028z\x85w": {
        "x\x1cy\u2028z\x85w": "multi_bleu v11b* compare_mt",
        "x\x1cy z w": "detok v13a* v12* v14*",
        "x\x1cy z\x85w": "ibleu*",
        "x y z w": "t2t codenn codexglue",
    },
    "\tTab  two": {
        "Tab two": "multi_bleu detok v11b v13a ibleu t2t",
        "tab two": "v11b_lc v13a_lc ibleu_lc codenn codexglue",
        " Tab two": "v12 v14",
        " tab two": "v12_lc v14_lc",
        "Tab  two": "compare_mt",
    },
    "": {
        None: "multi_bleu detok v11b* v13a* v12* v14* t2t codenn codexglue",
        "": "ibleu* compare_mt",
    },
    "a<skipped>b C:\\dir ^_^ #1 *x*= a|b": {
        "a<skipped>b C:\\dir ^_^ #1 *x*= a|b": "multi_bleu compare_mt",
        "ab C : \\ dir ^ _ ^ # 1 * x * = a | b": "detok v11b v13a v12 v14",
        "ab c : \\ dir ^ _ ^ # 1 * x * = a | b": "v11b_lc v13a_lc v12_lc v14_lc codenn",
        "ab C : \\dir ^_^ #1 *x*= a|b": "ibleu",
        "ab c : \\dir ^_^ #1 *x*= a|b": "ibleu_lc",
        "a < skipped > b C : \\dir ^ _ ^ # 1 * x * = a | b": "t2t",
        "a < skipped > b c : \\ dir ^ _ ^ # 1 * x * = a | b": "codexglue",
    },
    "m\xb2. \u2167, \u201eso\u201c \xbd.5 \u20ac5 \u0663.\u0664": {
        "m\xb2. \u2167, \u201eso\u201c \xbd.5 \u20ac5 \u0663.\u0664": "multi_bleu compare_mt",
        "m\xb2 . \u2167 , \u201eso\u201c \xbd . 5 \u20ac5 \u0663 . \u0664": (
            "detok v11b* v13a* ibleu"
        ),
        "m\xb2 . \u2167 , \u201e so \u201c \xbd.5 \u20ac 5 \u0663.\u0664": "v12 v14",
        "m\xb2 . \u2177 , \u201e so \u201c \xbd.5 \u20ac 5 \u0663.\u0664": "v12_lc v14_lc",
        "m\xb2 . \u2177 , \u201eso\u201c \xbd . 5 \u20ac5 \u0663 . \u0664": "ibleu_lc codenn",
        "m\xb2 . \u2167 , \u201e so \u201c \xbd . 5 \u20ac 5 \u0663.\u0664": "t2t",
        "m\xb2 . \u2177 , \u201e so \u201c \xbd . 5 \u20ac 5 \u0663 . \u0664": "codexglue",
    },
    "\ufeffBOM\u200b co\u2010\u2028op": {
        "\ufeffBOM\u200b co\u2010\u2028op": "multi_bleu v11b compare_mt",
        "\ufeffBOM\u200b co\u2010 op": "detok v13a",
        "\ufeffbom\u200b co\u2010\u2028op": "v11b_lc",
        "\ufeffbom\u200b co\u2010 op": "v13a_lc codenn",
        "\ufeffBOM\u200b coop": "v12",
        "\ufeffbom\u200b coop": "v12_lc",
        "\ufeffBOM\u200b co \u2010 op": "v14 t2t",
        "\ufeffbom\u200b co \u2010 op": "v14_lc",
        "BOM\u200b co\u2010 op": "ibleu",
        "bom\u200b co\u2010 op": "ibleu_lc",
        "\ufeff bom \u200b co \u2010 op": "codexglue",
    },
    "def f(x): return x!=3.14;": {
        "def f(x): return x!=3.14;": "multi_bleu compare_mt",
        "def f ( x ) : return x ! = 3.14 ;": "detok v11b* v13a* codenn",
        "def f ( x ) : return x ! = 3.14;": "v12* v14* t2t",
        "def f ( x ) : return x!=3.14 ;": "ibleu*",
        "def f ( x ) : return x ! = 3 . 14 ;": "codexglue",
    },
}
# MD5 of their tokens for the 5,952 lines of WMT22 de-en reference A, reference B and Online-B:
# tokens separated by a space, lines by a line feed.
DIGESTS = {
    "a2e85a888f83b8ea192876439fd945f6": "multi_bleu",
    "5a17df1360e7e1137bbb0135c00059aa": "detok v11b v13a",
    "63a5c77effa5ec5abff11f80258e7159": "v11b_lc v13a_lc",
    "49e09eb038dbad521c8305a3c549693f": "v12 v14",
    "d787f0064310edd447112893bc6c9f50": "v12_lc v14_lc",
    "923b4a42c073f883437ac86ee9f3e279": "ibleu",
    "4cbf8bf9e631b64408789efa872c11e4": "ibleu_lc",
    "13a6c68ab36c81e1b193569d76247bd1": "t2t",
    "5d5d013ea14d9379ff6facf7b2ca2a6f": "codenn",
    "89857069a341dd3ad6f0b732fe67e7b4": "codexglue",
    "271e9632bb4ef98dd49710abc11374a2": "compare_mt",
}
# KerasHub's patterns were read, not run: TensorFlow is too heavy to test with.
KERAS = {
    "in 2020.": ["in", "2020."],
    "It ended.": ["It", "ended", "."],
    ",5 .x 1-2": [",5", ".", "x", "1", "-", "2"],
    "&amp;lt; (a)": ["<", "(", "a", ")"],
    "": [],
}


def expand_names(short_names):
    """Yield the names of tokenizers; `NAME*` also stands for the variant in lower case."""
    for short_name in short_names.split():
        stem = short_name.removesuffix("*").removesuffix("_lc")
        name = FULL_NAMES.get(stem, f"mteval_{stem}" if stem[0] == "v" else stem)
        if not short_name.endswith("_lc"):
            yield name
        if short_name != stem:
            yield f"{name}_lower"


@pytest.mark.parametrize("text", GOLDEN)
def test_made_up_text(text):
    for tokens, names in GOLDEN[text].items():
        expected = [] if tokens is None else tokens.split(" ")
        for name in expand_names(names):
            assert getattr(program_tokenizers, f"tokenize_like_{name}")(text) == expected, name


@pytest.mark.parametrize("text", KERAS)
def test_keras_hub(text):
    assert program_tokenizers.tokenize_like_keras_hub(text) == KERAS[text]


@pytest.mark.parametrize("expected", DIGESTS)
def test_wmt22(expected, wmt22):
    lines = []
    for file in ("references/*.ref.A", "references/*.ref.B", "system-outputs/*.hyp.Online-B"):
        folder, _, end = file.partition("/*")
        path = wmt22 / folder / f"generaltest2022.de-en{end}.en"
        lines += path.read_text(encoding="utf-8").split("\n")[:-1]
    assert len(lines) == 5952
    for name in expand_names(DIGESTS[expected]):
        split = getattr(program_tokenizers, f"tokenize_like_{name}")
        tokens = "\n".join(" ".join(split(line)) for line in lines)
        assert hashlib.md5(tokens.encode(), usedforsecurity=False).hexdigest() == expected, name


PROGRAM_TOKENIZERS = [
    name for name, (module, _) in PYTHON_TOKENIZERS.items() if module == "program_tokenizers"
]


@pytest.mark.parametrize("name", PROGRAM_TOKENIZERS)
def test_every_tokenizer_is_one_for_bleu(name):
    metric = BLEU(name)
    score = metric.score(["The cat sat on the mat."], ["the cat sat on a mat."])
    assert 0 < score.value < 100
    assert score.signature["tok"] == name
    assert score.signature.metric() == BLEU(name, effective_order=False)
