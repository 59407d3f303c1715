"""The tokenizers ptb and ptb-coco, compared with Stanford's PTBTokenizer in pycocoevalcap."""

import importlib.util
import json
import random
import shutil
import subprocess
from pathlib import Path

import pytest

import truebleu as tb

FOLDER = "reference/captions-sari"


def read_rows(path):
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def join_tokens(text, name="ptb"):
    return " ".join(tb.tokenize(text, name))


@pytest.mark.parametrize(
    ("text", "tokens", "without_punctuation"),
    [
        ("A man's dog isn't here.", "a man 's dog is n't here .", "a man 's dog is n't here"),
        ('the "no parking" sign', "the `` no parking '' sign", "the no parking sign"),
        ("a well-lit (red) room!", "a well-lit -lrb- red -rrb- room !", None),
        ("Mr. Lee cannot see etc. The end", "mr. lee can not see etc. . the end", None),
        ("AT&T, a&b: $5.99 and 50%", "at&t , a & b : $ 5.99 and 50 %", None),
        ("wow!!! ... -- 10:30am", "wow !!! ... -- 10:30 am", "wow !!! 10:30 am"),
        ("1 1/2 cups", "1\xa01/2 cups", "1 1/2 cups"),
        ("a\u2028b\rc\x0bd\nü Ärger", "a b c d ü ärger", "a b c d ü ärger"),
        ("", "", ""),
    ],
)
def test_caption_is_split_as_by_the_original(text, tokens, without_punctuation):
    assert join_tokens(text) == tokens
    if without_punctuation is not None:
        assert join_tokens(text, "ptb-coco") == without_punctuation


def test_metric_uses_tokenizer():
    score = tb.BLEU(tokenize="ptb-coco").sentence("A dog's ball.", "a dog 's BALL")
    assert score.value == pytest.approx(100)
    assert "tok:ptb-coco" in str(score.signature)


def test_golden_tokens_are_equal(shared):
    for row in read_rows(shared / FOLDER / "ptb_tokens.jsonl"):
        assert join_tokens(row["t"]) == row["ptb"], row
        # Scorers split at U+00A0.
        assert tb.tokenize(row["t"], "ptb-coco") == row["coco"].split(), row


def test_golden_abbreviations_are_equal(shared):
    for row in read_rows(shared / FOLDER / "ptb_abbreviations.jsonl"):
        assert list(map(join_tokens, row["in"])) == row["ptb"], row


# Files whose tokens depend on the next line, or whose lines end at other characters. Segments are
# tokenized as if a line in lower case followed.
NEXT_LINE = [
    *("U.S.\nA dog", "etc.\nA dog", "etc.", "Inc.\nThe dog"),
    *("a dog in the U.S.\n\nThe cat", "in the U.S. In", "Ph.D.", "Jan.", "A. The"),
    *("a dog named B.\nA cat", "it is 5 p.m.\nThe dog", "it is 5 p.m.\nMr. Lee"),
]
LINE_ENDS = "\r\v\f\u2028\x85"


def test_golden_files_are_equal_except_for_next_lines(shared):
    different = []
    for row in read_rows(shared / FOLDER / "ptb_files.jsonl"):
        if set(row["file"]) & set(LINE_ENDS):
            continue
        lines = row["file"].split("\n")
        if [join_tokens(line) for line in lines] != row["out"].split("\n"):
            different.append(row["file"])
    assert different == NEXT_LINE


def write_random_texts(count):
    dice = random.Random(20141229)
    words = "a dog The U.S Mr etc 5 1,000 3.5 n't 's not é 日 😀 ½ www. .com @x #y http:// -- ..."
    marks = " .,;:!?'\"`’“”()[]{}<>/\\@#$%&*+=~|^_-–…  "
    for _ in range(count):
        text = "".join(
            dice.choice(dice.choice((words.split(), marks))) for _ in range(dice.randint(1, 9))
        )
        # In the original, an open attribute of a tag continues on the next line.
        if text.strip() and "<" not in text:
            yield text


@pytest.mark.thorough
def test_random_texts_are_equal_to_the_original(tmp_path):
    spec = importlib.util.find_spec("pycocoevalcap")
    jar = spec and Path(spec.submodule_search_locations[0], "tokenizer/stanford-corenlp-3.4.1.jar")
    if shutil.which("java") is None or not jar or not jar.exists():
        pytest.skip("needs Java and pycocoevalcap")
    texts = list(write_random_texts(20_000))
    path = tmp_path / "captions.txt"
    path.write_text("".join(f"{text}\nzzz\n" for text in texts), "utf-8")
    words = ["java", "-cp", jar, "edu.stanford.nlp.process.PTBTokenizer", "-preserveLines"]
    done = subprocess.run([*words, "-lowerCase", path], capture_output=True, check=True)
    expected = done.stdout.decode().split("\n")[:-1:2]
    assert len(expected) == len(texts)
    pairs = zip(texts, expected, map(join_tokens, texts), strict=True)
    different = [pair for pair in pairs if pair[1] != pair[2]]
    assert len(different) <= len(texts) // 1000, different
