"""The page docs/languages.md: which tokenizer for which language, from truebleu/text/languages.py."""

from __future__ import annotations

from parts import BUILT, code, table

from truebleu.text import languages, tokenizers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from truebleu.text.languages import Kind

# More languages of one kind are told of by their scripts.
FEW = 40


def page() -> str:
    """The page."""
    return f"""{BUILT}
# Which tokenizer for which language

BLEU counts words, and a tokenizer decides what a word is. The default, `13a`, splits at white space and
punctuation, so it suits languages that put spaces between words. It makes one or two tokens of a line of
Japanese, so only whole lines can match.

`-l` takes a language, or a pair of which the second language counts, and picks the tokenizer that sacreBLEU's
`-l` picks, so the scores are equal to the last digit:

```
truebleu score reference.ja -i system.ja -l ja
truebleu score reference.ja -i system.ja -l en-ja
```

A tag is a code of ISO 639-1 or 639-3, alone or with a script or a region: `ja`, `jpn`, `ja-JP`,
`jpn_Jpan`, `zh-TW`, `zho_Hant`. A pair has a hyphen: `en-ja`, `en-ja_JP`, `eng_Latn-jpn_Jpan`. Two capital
letters are a region, two small ones a language: `pt-BR` is Portuguese, and `de-fr` a pair. `-tok` and the
tokenizer of a signature win over `-l`. In Python it is `tb.BLEU(tokenize=tb.language("ja").tokenizer)`.

{_kinds()}

The default is recommended for the other languages, by script: {_names(languages.KINDS[-1])}.

Scores by different tokenizers cannot be compared; the signature names the tokenizer. If you compare with an
earlier paper, use its tokenizer rather than the one recommended here: `-m` takes its signature,
`-m "nrefs:1|..."`.

## The tokenizers

{_tokenizers()}

In Python, any function from text to tokens is a tokenizer. Signatures have its name and the version of its
package, because another version may split differently: `tok:pythainlp.tokenize.core.word_tokenize@5.4.0`.

## Warnings about the text

`score`, `segments`, `compare`, `check`, `report` and `meta` look at the beginning of the references. Each metric tries
its tokenizer on a sample of their script. If the tokenizer leaves the sample in one piece, or drops letters, the result
has a warning with the option that helps, and how to install that:

{_signs()}

TER splits Chinese and Japanese with `--ter-normalized --ter-asian-support`, which `-l zh` and `-l ja` set; `-l` sets the
tokenizer of WER and ROUGE, too. chrF and CER need no words. ROUGE's own words are runs of a-z and 0-9, so it breaks
words such as *été*; `-tok intl` keeps them. Text that has spaces between its words already needs no tokenizer.

The warning is a part of the result: above the table in text, Markdown, HTML and the report, a comment at the top of
LaTeX, and `warnings` in [JSON](json.md) and of a `tb.compare` in Python. For TSV, CSV and one line per score it is on
standard error, before the output. A metric that does not split the text names no winner: its scores have no bold
type, letters, stars, ranks and clusters; p-values and intervals stay. Korean has spaces, so its scores keep them.

Other warnings are of

* text in another script than `-l` says, such as `-l ja` for a text without kana;
* traditional Chinese that is scored against simplified references, or the reverse. Only characters that are in just
  one of the standards GB 2312 and Big5 (its common part) count; the warning comes if more than
  {languages.ONE_SIDED:.0%} of them are of one kind in the hypotheses and of the other kind in all references;
* any tokenizer that makes fewer than two tokens of a segment of more than 20 characters.

Languages that share a script are not told apart. `-q` silences standard error; the results keep their warnings.
"""


def _names(kind: Kind) -> str:
    """The languages of a kind; of many, how many there are in each script."""
    by_script: dict[str, list[str]] = {}
    for scripts, listed in kind.languages.items():
        either = " or ".join(sorted(map(languages.script_name, scripts.split())))
        by_script.setdefault(either, []).extend(" ".join(x.split()[1:]) for x in listed.split(";"))
    if sum(map(len, by_script.values())) <= FEW:
        return ", ".join(name for names in by_script.values() for name in names)
    parts = [
        f"{len(names)} in {either}"
        for either, names in by_script.items()
        if either and len(names) > 1
    ]
    alone = [name for names in by_script.values() if len(names) == 1 for name in names]
    return f"{', '.join(parts)}, and {', '.join(alone)}"


def _kinds() -> str:
    rows = [
        [
            _names(kind),
            code(kind.tokenizer),
            ", else ".join(map(code, kind.recommended)) or "no BLEU",
            ", ".join(map(code, kind.beside)),
            kind.why.replace("|", "\\|"),
        ]
        for kind in languages.KINDS[:-1]
    ]
    return table(["language", "`-l` picks", "recommended", "beside it", "why"], rows, left=5)


def _tokenizers() -> str:
    own = tokenizers.KERNEL | {name: what for name, (_, what) in tokenizers.WITH_DATA.items()}
    own["icu:LOCALE"] = tokenizers.PYTHON["icu:LOCALE"][1]
    needs = {
        "ja-mecab": "`pip install 'truebleu[ja]'`",
        "ko-mecab": "`pip install 'truebleu[ko]'`",
        "icu:LOCALE": "`pip install 'truebleu[icu]'`",
        "mecab:FOLDER": "the folder",
        "spm:FILE": "the file",
    }
    usual = dict.fromkeys(tokenizers.KERNEL, "")
    rows = [
        [code(name), what, needs.get(name, usual.get(name, "its model, which is downloaded"))]
        for name, what in own.items()
    ]
    return table(["tokenizer", "tokens", "needs"], rows, left=3)


def _signs() -> str:
    groups: dict[tuple[str, float, tuple[str, ...]], list[str]] = {}
    for known in languages.UNSPLIT.values():
        key = (known.because, known.share, known.ways)
        groups.setdefault(key, []).append(known.language.removeprefix("the "))
    rows = [
        [", ".join(names), because, f"{share:.0%}", " or ".join(f"`-tok {one}`" for one in ways)]
        for (because, share, ways), names in groups.items()
    ]
    return table(["text in", "it", "if more of its characters are", "what splits it"], rows, left=4)
