"""Scores of COCO's JSON files: annotations as REF and results as HYP."""

import json
import os
import pickle
import re
import subprocess
import sys

import pytest
from paths import ROOT

import truebleu as tb
from truebleu.cli import main

ANNOTATIONS = {
    "images": [{"id": 7}, {"id": 3}],
    "annotations": [
        {"image_id": 7, "id": 1, "caption": "A man rides a horse."},
        {"image_id": 3, "id": 2, "caption": "Two dogs\u2028play."},
        {"image_id": 7, "id": 3, "caption": "a man on a horse"},
    ],
}
RESULTS = [{"image_id": 3, "caption": "two dogs"}, {"image_id": 7, "caption": "A man on\na horse."}]


def write_files(folder, annotations=ANNOTATIONS, results=RESULTS):
    paths = folder / "captions.json", folder / "results.json"
    for path, content in zip(paths, (annotations, results), strict=True):
        path.write_text(json.dumps(content))
    return list(map(str, paths))


def run(capsys, *words):
    status = main(list(words))
    return status, *capsys.readouterr()


def test_group_coco_has_all_scores(tmp_path, capsys):
    reference, output = write_files(tmp_path)
    status, text, notes = run(capsys, "score", reference, "-i", output, "-m", "coco", "-f", "json")
    assert status == 0
    found = json.loads(text)["scores"]
    hypotheses = ["A man on a horse.", "two dogs"]
    references = [["A man rides a horse.", "a man on a horse"], ["Two dogs play."]]
    names = [*(f"coco-bleu-{n}" for n in range(1, 5)), "rouge-l-coco", "cider-d"]
    expected = [tb.metric(name).score(hypotheses, references).value for name in names]
    assert [one["score"] for one in found] == expected
    assert notes.count("1 segment contains line breaks") == 1


@pytest.mark.parametrize(
    ("command", "name"),
    [("compare", "a.html"), ("segments", "a.jsonl"), ("report", "a.html"), ("explain", "a.html")],
)
def test_other_commands_read_captions(tmp_path, capsys, command, name):
    reference, output = write_files(tmp_path)
    metrics = ["bleu", "cider-d"] if command != "explain" else ["cider-d"]
    words = [reference, "-i", output, "-m", *metrics, "-o", str(tmp_path / name)]
    assert run(capsys, command, *words)[0] == 0


REPEATED = [*RESULTS, RESULTS[0]]
EMPTY_TEXT = {"annotations": [{"image_id": 7, "caption": " "}]}
NO_REFERENCE = {**ANNOTATIONS, "images": [*ANNOTATIONS["images"], {"id": 5}]}
TWICE = {**ANNOTATIONS, "images": [{"id": 7}, {"id": 3}, {"id": 7}]}
UNLISTED = {**ANNOTATIONS, "images": [{"id": 7}]}


@pytest.mark.parametrize(
    ("annotations", "results", "problem"),
    [
        (ANNOTATIONS, RESULTS[:1], "results.json: images without a caption: 7"),
        (ANNOTATIONS, REPEATED, "results.json: images with several captions: 3"),
        (ANNOTATIONS, [*RESULTS, {"image_id": 4, "caption": "x"}], "without annotations: 4"),
        (ANNOTATIONS, [{"image_id": "3", "caption": "x"}], "images without annotations: '3'"),
        (ANNOTATIONS, {"a": 1}, "results.json: expected a list of objects"),
        (ANNOTATIONS, [3], "results.json, result 1: expected an object"),
        (ANNOTATIONS, [{"image_id": 1.5, "caption": ""}], "result 1: image_id: expected a number"),
        (ANNOTATIONS, [{"image_id": 3, "caption": None}], "result 1: image 3: expected a caption"),
        (EMPTY_TEXT, RESULTS, "captions.json, annotation 1: image 7: expected a caption"),
        (NO_REFERENCE, RESULTS, "captions.json: images without a reference: 5"),
        (TWICE, RESULTS, "captions.json: images listed twice: 7"),
        (UNLISTED, RESULTS, "captions.json: annotated images that are not listed: 3"),
        ({"annotations": []}, RESULTS, "captions.json: no annotations"),
        ({"annotations": 1}, RESULTS, 'captions.json: expected an object with the list "anno'),
        ({**ANNOTATIONS, "images": [1]}, RESULTS, 'captions.json: "images": expected a list'),
    ],
)
def test_invalid_files_raise_one_error(tmp_path, capsys, annotations, results, problem):
    reference, output = write_files(tmp_path, annotations, results)
    status, _, notes = run(capsys, "score", reference, "-i", output, "-m", "coco")
    assert status != 0
    assert problem in notes
    assert "Traceback" not in notes


def test_long_lists_of_missing_images_are_shortened(tmp_path, capsys):
    annotations = {"annotations": [{"image_id": i, "caption": "a dog"} for i in range(12)]}
    reference, output = write_files(tmp_path, annotations, [])
    notes = run(capsys, "score", reference, "-i", output)[2]
    assert "images without a caption: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more" in notes


def test_second_reference_file_raises(tmp_path, capsys):
    reference, output = write_files(tmp_path)
    status, _, notes = run(capsys, "score", reference, output, "-i", output)
    assert status == 2
    assert "Use it as the only REF" in notes


def test_blocks_of_the_page_run_in_an_empty_folder(tmp_path):
    page = (ROOT / "docs/how-to/captions.md").read_text("utf-8")
    blocks = re.findall(r"^```(sh|python)(.*?)\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert [kind for kind, _, _ in blocks] == ["sh", "python", "sh", "python"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = f'truebleu() {{ {sys.executable} -m truebleu "$@"; }}\n'
    for kind, title, text in blocks[:3]:
        words = ["bash", "-ec", command + text] if kind == "sh" else [sys.executable, "-c", text]
        done = subprocess.run(
            words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert (done.returncode, title) == (0, ""), done.stderr
        if kind == "sh":
            assert "CIDEr-D" in done.stdout
    # Like a pickle of ruotianluo/cider.
    counts = {("a",): 3.0, ("a", "dog"): 2.0, ("x",): 0.0}
    content = {"document_frequency": counts, "ref_len": 4.605170185988092}
    (tmp_path / "df.p").write_bytes(pickle.dumps(content))
    converter = [sys.executable, "-c", blocks[3][2], "df.p", "df.json"]
    subprocess.run(converter, cwd=tmp_path, check=True)
    assert tb.CIDEr(df=tmp_path / "df.json") == tb.CIDEr(
        df={"images": 100, "counts": {"a": 3, "a dog": 2}}
    )
