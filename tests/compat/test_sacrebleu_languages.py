"""ja-mecab and ko-mecab in sacreBLEU's names, where MeCab is not installed."""

import subprocess
import sys

import pytest

# Now: a test elsewhere hides MeCab for a while, and these look for it once.
from sacrebleu.tokenizers import tokenizer_ja_mecab, tokenizer_ko_mecab

from truebleu.compat.sacrebleu.tokenizers.tokenizer_ja_mecab import TokenizerJaMecab
from truebleu.compat.sacrebleu.tokenizers.tokenizer_ko_mecab import TokenizerKoMecab

TEXTS = {
    "hyp.ja": ["その日は朝から雨が降っていました。", "傘がなかったので、駅で待ちました。", ""],
    "ref.ja": [
        "あの日は朝から雨が降っていた。",
        "傘を持っていなかったので、駅で待った。",
        "はい。",
    ],
    "other.ja": ["その日の朝から雨でした。", "傘を忘れて、駅で待っていた。", "はい。"],
    "hyp.ko": ["그날은 아침부터 비가 내렸습니다.", "우산이 없어서 역에서 기다렸다.", "네."],
    "ref.ko": [
        "그날은 아침부터 비가 내리고 있었습니다.",
        "우산이 없어 역에서 기다렸습니다.",
        "네.",
    ],
}

# Importing any of them fails.
WITHOUT = """
import sys
sys.modules.update(dict.fromkeys(("MeCab", "mecab_ko"), None))
sys.argv[0] = "sacrebleu"
from truebleu.compat.sacrebleu.__main__ import main
sys.exit(main())
"""


@pytest.fixture
def folder(write, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name, lines in TEXTS.items():
        write(name, lines)
    return tmp_path


@pytest.mark.parametrize(
    "line",
    [
        "ref.ja -i hyp.ja -tok ja-mecab",
        "ref.ja -i hyp.ja -l en-ja",
        "ref.ja -i hyp.ja -l en-ja -m bleu chrf -f text",
        "ref.ja -i hyp.ja -l en-ja -tok char",
        "ref.ja -i hyp.ja -l en-ja -sl -f text",
        "ref.ja -i hyp.ja other.ja -l en-ja --paired-bs",
        "ref.ko -i hyp.ko -tok ko-mecab -f text -sh",
        "ref.ko -i hyp.ko -l en-ko --confidence -b",
    ],
)
def test_the_command_prints_what_sacrebleu_prints(folder, line):
    words = line.split()
    theirs, ours = (
        subprocess.run([sys.executable, *command, *words], capture_output=True, check=False)
        for command in (["-m", "sacrebleu"], ["-c", WITHOUT])
    )
    assert theirs.returncode == 0
    assert (ours.returncode, ours.stdout, ours.stderr) == (0, theirs.stdout, theirs.stderr)


@pytest.mark.parametrize("name", ["ja", "ko"])
def test_tokenizer_classes(name):
    theirs, ours = {
        "ja": (tokenizer_ja_mecab.TokenizerJaMecab, TokenizerJaMecab),
        "ko": (tokenizer_ko_mecab.TokenizerKoMecab, TokenizerKoMecab),
    }[name]
    for text in (*TEXTS[f"hyp.{name}"], *TEXTS[f"ref.{name}"], "  a  b "):
        assert ours()(text) == theirs()(text)
    assert ours().signature() == theirs().signature()
