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
GOLDEN = {
    "It's 5,000.50 (USD) -- or 10%!": {
        "It's 5,000.50 (USD) -- or 10%!": "multi_bleu compare_mt",
        "It's 5,000.50 ( USD ) -- or 10 % !": "multi_bleu_detok mteval_v11b mteval_v13a",
        "it's 5,000.50 ( usd ) -- or 10 % !": "mteval_v11b_lower mteval_v13a_lower codenn",
        "It ' s 5,000.50 ( USD ) - - or 10 % !": (
            "mteval_v12 mteval_v14_international tensor2tensor"
        ),
        "it ' s 5,000.50 ( usd ) - - or 10 % !": "mteval_v12_lower mteval_v14_international_lower",
        "It's 5,000.50 ( USD ) -- or 10%!": "madnani_ibleu",
        "it's 5,000.50 ( usd ) -- or 10%!": "madnani_ibleu_lower",
        "it ' s 5 , 000 . 50 ( usd ) - - or 10 % !": "codexglue",
    },
    "&quot;A&quot; &amp;lt; &apos;b&apos; &AMP; &gt;": {
        "&quot;A&quot; &amp;lt; &apos;b&apos; &AMP; &gt;": "multi_bleu compare_mt",
        '" A " < & apos ; b & apos ; & AMP ; >': (
            "multi_bleu_detok mteval_v11b mteval_v13a madnani_ibleu"
        ),
        '" a " < & apos ; b & apos ; & amp ; >': (
            "mteval_v11b_lower mteval_v13a_lower madnani_ibleu_lower"
        ),
        "\" A \" < ' b ' & AMP ; >": "mteval_v12 mteval_v14_international",
        "\" a \" < ' b ' & amp ; >": "mteval_v12_lower mteval_v14_international_lower",
        "& quot ; A & quot ; & amp ; lt ; & apos ; b & apos ; & AMP ; & gt ;": "tensor2tensor",
        '" a " & lt ; & apos ; b & apos ; & amp ; >': "codenn",
        "& quot ; a & quot ; & amp ; lt ; & apos ; b & apos ; & amp ; & gt ;": "codexglue",
    },
    "in 2020. ": {
        "in 2020.": "multi_bleu compare_mt",
        "in 2020 .": (
            "multi_bleu_detok mteval_v11b mteval_v11b_lower mteval_v13a mteval_v13a_lower "
            "mteval_v12 mteval_v12_lower mteval_v14_international "
            "mteval_v14_international_lower madnani_ibleu madnani_ibleu_lower tensor2tensor "
            "codenn codexglue"
        ),
    },
    "in 2020.": {
        "in 2020.": (
            "multi_bleu mteval_v12 mteval_v12_lower mteval_v14_international "
            "mteval_v14_international_lower tensor2tensor compare_mt"
        ),
        "in 2020 .": (
            "multi_bleu_detok mteval_v11b mteval_v11b_lower mteval_v13a mteval_v13a_lower "
            "madnani_ibleu madnani_ibleu_lower codenn codexglue"
        ),
    },
    ",5 .x 1-2 a-b 3.": {
        ",5 .x 1-2 a-b 3.": "multi_bleu compare_mt",
        ", 5 . x 1 - 2 a-b 3 .": (
            "multi_bleu_detok mteval_v11b mteval_v11b_lower mteval_v13a mteval_v13a_lower "
            "madnani_ibleu madnani_ibleu_lower codenn"
        ),
        ",5 . x 1-2 a - b 3.": (
            "mteval_v12 mteval_v12_lower mteval_v14_international "
            "mteval_v14_international_lower tensor2tensor"
        ),
        ", 5 . x 1 - 2 a - b 3 .": "codexglue",
    },
    "caf\xe9\xa0noir\u3000\u039f\u0394\u039f\u03a3 \u0130 \xc9": {
        "caf\xe9\xa0noir\u3000\u039f\u0394\u039f\u03a3 \u0130 \xc9": (
            "multi_bleu mteval_v11b mteval_v11b_lower compare_mt"
        ),
        "caf\xe9 noir \u039f\u0394\u039f\u03a3 \u0130 \xc9": (
            "multi_bleu_detok mteval_v13a mteval_v13a_lower mteval_v12 "
            "mteval_v14_international madnani_ibleu tensor2tensor"
        ),
        "caf\xe9 noir \u03bf\u03b4\u03bf\u03c3 i\u0307 \xe9": (
            "mteval_v12_lower mteval_v14_international_lower"
        ),
        "caf\xe9 noir \u03bf\u03b4\u03bf\u03c2 i\u0307 \xe9": "madnani_ibleu_lower codenn",
        "caf\xe9 noir \u03bf\u03b4\u03bf\u03c2 i \u0307 \xe9": "codexglue",
    },
    "x\x1cy\u2028z\x85w": {
        "x\x1cy\u2028z\x85w": "multi_bleu mteval_v11b mteval_v11b_lower compare_mt",
        "x\x1cy z w": (
            "multi_bleu_detok mteval_v13a mteval_v13a_lower mteval_v12 mteval_v12_lower "
            "mteval_v14_international mteval_v14_international_lower"
        ),
        "x\x1cy z\x85w": "madnani_ibleu madnani_ibleu_lower",
        "x y z w": "tensor2tensor codenn codexglue",
    },
    "\tTab  two": {
        "Tab two": (
            "multi_bleu multi_bleu_detok mteval_v11b mteval_v13a madnani_ibleu tensor2tensor"
        ),
        "tab two": "mteval_v11b_lower mteval_v13a_lower madnani_ibleu_lower codenn codexglue",
        " Tab two": "mteval_v12 mteval_v14_international",
        " tab two": "mteval_v12_lower mteval_v14_international_lower",
        "Tab  two": "compare_mt",
    },
    "": {
        None: (
            "multi_bleu multi_bleu_detok mteval_v11b mteval_v11b_lower mteval_v13a "
            "mteval_v13a_lower mteval_v12 mteval_v12_lower mteval_v14_international "
            "mteval_v14_international_lower tensor2tensor codenn codexglue"
        ),
        "": "madnani_ibleu madnani_ibleu_lower compare_mt",
    },
    "a<skipped>b C:\\dir ^_^ #1 *x*= a|b": {
        "a<skipped>b C:\\dir ^_^ #1 *x*= a|b": "multi_bleu compare_mt",
        "ab C : \\ dir ^ _ ^ # 1 * x * = a | b": (
            "multi_bleu_detok mteval_v11b mteval_v13a mteval_v12 mteval_v14_international"
        ),
        "ab c : \\ dir ^ _ ^ # 1 * x * = a | b": (
            "mteval_v11b_lower mteval_v13a_lower mteval_v12_lower "
            "mteval_v14_international_lower codenn"
        ),
        "ab C : \\dir ^_^ #1 *x*= a|b": "madnani_ibleu",
        "ab c : \\dir ^_^ #1 *x*= a|b": "madnani_ibleu_lower",
        "a < skipped > b C : \\dir ^ _ ^ # 1 * x * = a | b": "tensor2tensor",
        "a < skipped > b c : \\ dir ^ _ ^ # 1 * x * = a | b": "codexglue",
    },
    "m\xb2. \u2167, \u201eso\u201c \xbd.5 \u20ac5 \u0663.\u0664": {
        "m\xb2. \u2167, \u201eso\u201c \xbd.5 \u20ac5 \u0663.\u0664": "multi_bleu compare_mt",
        "m\xb2 . \u2167 , \u201eso\u201c \xbd . 5 \u20ac5 \u0663 . \u0664": (
            "multi_bleu_detok mteval_v11b mteval_v11b_lower mteval_v13a mteval_v13a_lower "
            "madnani_ibleu"
        ),
        "m\xb2 . \u2167 , \u201e so \u201c \xbd.5 \u20ac 5 \u0663.\u0664": (
            "mteval_v12 mteval_v14_international"
        ),
        "m\xb2 . \u2177 , \u201e so \u201c \xbd.5 \u20ac 5 \u0663.\u0664": (
            "mteval_v12_lower mteval_v14_international_lower"
        ),
        "m\xb2 . \u2177 , \u201eso\u201c \xbd . 5 \u20ac5 \u0663 . \u0664": (
            "madnani_ibleu_lower codenn"
        ),
        "m\xb2 . \u2167 , \u201e so \u201c \xbd . 5 \u20ac 5 \u0663.\u0664": "tensor2tensor",
        "m\xb2 . \u2177 , \u201e so \u201c \xbd . 5 \u20ac 5 \u0663 . \u0664": "codexglue",
    },
    "\ufeffBOM\u200b co\u2010\u2028op": {
        "\ufeffBOM\u200b co\u2010\u2028op": "multi_bleu mteval_v11b compare_mt",
        "\ufeffBOM\u200b co\u2010 op": "multi_bleu_detok mteval_v13a",
        "\ufeffbom\u200b co\u2010\u2028op": "mteval_v11b_lower",
        "\ufeffbom\u200b co\u2010 op": "mteval_v13a_lower codenn",
        "\ufeffBOM\u200b coop": "mteval_v12",
        "\ufeffbom\u200b coop": "mteval_v12_lower",
        "\ufeffBOM\u200b co \u2010 op": "mteval_v14_international tensor2tensor",
        "\ufeffbom\u200b co \u2010 op": "mteval_v14_international_lower",
        "BOM\u200b co\u2010 op": "madnani_ibleu",
        "bom\u200b co\u2010 op": "madnani_ibleu_lower",
        "\ufeff bom \u200b co \u2010 op": "codexglue",
    },
    "def f(x): return x!=3.14;": {
        "def f(x): return x!=3.14;": "multi_bleu compare_mt",
        "def f ( x ) : return x ! = 3.14 ;": (
            "multi_bleu_detok mteval_v11b mteval_v11b_lower mteval_v13a mteval_v13a_lower codenn"
        ),
        "def f ( x ) : return x ! = 3.14;": (
            "mteval_v12 mteval_v12_lower mteval_v14_international "
            "mteval_v14_international_lower tensor2tensor"
        ),
        "def f ( x ) : return x!=3.14 ;": "madnani_ibleu madnani_ibleu_lower",
        "def f ( x ) : return x ! = 3 . 14 ;": "codexglue",
    },
}

# MD5 of their tokens for the 5,952 lines of WMT22 de-en reference A, reference B and Online-B:
# tokens separated by a space, lines by a line feed.
DIGESTS = {
    "multi_bleu": "a2e85a888f83b8ea192876439fd945f6",
    "multi_bleu_detok": "5a17df1360e7e1137bbb0135c00059aa",
    "mteval_v11b": "5a17df1360e7e1137bbb0135c00059aa",
    "mteval_v11b_lower": "63a5c77effa5ec5abff11f80258e7159",
    "mteval_v13a": "5a17df1360e7e1137bbb0135c00059aa",
    "mteval_v13a_lower": "63a5c77effa5ec5abff11f80258e7159",
    "mteval_v12": "49e09eb038dbad521c8305a3c549693f",
    "mteval_v12_lower": "d787f0064310edd447112893bc6c9f50",
    "mteval_v14_international": "49e09eb038dbad521c8305a3c549693f",
    "mteval_v14_international_lower": "d787f0064310edd447112893bc6c9f50",
    "madnani_ibleu": "923b4a42c073f883437ac86ee9f3e279",
    "madnani_ibleu_lower": "4cbf8bf9e631b64408789efa872c11e4",
    "tensor2tensor": "13a6c68ab36c81e1b193569d76247bd1",
    "codenn": "5d5d013ea14d9379ff6facf7b2ca2a6f",
    "codexglue": "89857069a341dd3ad6f0b732fe67e7b4",
    "compare_mt": "271e9632bb4ef98dd49710abc11374a2",
}

# KerasHub's patterns were read, not run: TensorFlow is too heavy to test with.
KERAS = {
    "in 2020.": ["in", "2020."],
    "It ended.": ["It", "ended", "."],
    ",5 .x 1-2": [",5", ".", "x", "1", "-", "2"],
    "&amp;lt; (a)": ["<", "(", "a", ")"],
    "": [],
}


@pytest.mark.parametrize("text", GOLDEN)
def test_made_up_text(text):
    for tokens, names in GOLDEN[text].items():
        expected = [] if tokens is None else tokens.split(" ")
        for name in names.split():
            assert getattr(program_tokenizers, f"tokenize_like_{name}")(text) == expected, name


@pytest.mark.parametrize("text", KERAS)
def test_keras_hub(text):
    assert program_tokenizers.tokenize_like_keras_hub(text) == KERAS[text]


@pytest.mark.parametrize("name", DIGESTS)
def test_wmt22(name, wmt22):
    split = getattr(program_tokenizers, f"tokenize_like_{name}")
    lines = []
    for file in ("references/*.ref.A", "references/*.ref.B", "system-outputs/*.hyp.Online-B"):
        folder, _, end = file.partition("/*")
        path = wmt22 / folder / f"generaltest2022.de-en{end}.en"
        lines += path.read_text(encoding="utf-8").split("\n")[:-1]
    tokens = "\n".join(" ".join(split(line)) for line in lines)
    digest = hashlib.md5(tokens.encode(), usedforsecurity=False).hexdigest()
    assert (len(lines), digest) == (5952, DIGESTS[name])


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


# Tokens in the specification of the BLEU family, from runs of the programs.
