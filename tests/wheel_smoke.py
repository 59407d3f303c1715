"""Output of an installed wheel as JSON: the examples' scores with every bit, and a report.

It needs the standard library alone and runs on any machine's Python; tests/wheels.py compares what
it prints. python tests/wheel_smoke.py EXAMPLES REPORT
"""

import contextlib
import json
import sys
import sysconfig
from pathlib import Path

import truebleu
from truebleu.cli import main


def read_example_texts(path: Path) -> list[str]:
    """Return the segments of a file."""
    return path.read_text("utf-8").splitlines()


def score_examples(examples: Path) -> dict[str, str]:
    """Return the corpus and segment scores of each system and metric, in hexadecimal."""
    scores_by_name = {}
    for folder, language, systems, tokenizer in (
        ("de-en", "en", ("aspen", "birch", "cedar"), "13a"),
        ("en-zh", "zh", ("birch", "cedar"), "zh"),
    ):
        place = examples / folder
        references = [
            read_example_texts(path) for path in sorted(place.glob(f"reference*.{language}"))
        ]
        references = list(map(list, zip(*references, strict=True)))
        for system in systems:
            hypotheses = read_example_texts(place / f"{system}.{language}")
            for metric in (truebleu.BLEU(tokenize=tokenizer), truebleu.CHRF(), truebleu.TER()):
                name = f"{folder} {system} {type(metric).__name__}"
                scores_by_name[name] = metric.score(hypotheses, references).value.hex()
                segment_scores = [
                    float(score).hex() for score in metric.segments(hypotheses, references)
                ]
                # The kernel has the formula, too, and asks the same mathematical library as Python.
                pairs = zip(hypotheses, references, strict=True)
                assert segment_scores == [metric.sentence(*pair).value.hex() for pair in pairs], (
                    name
                )
                scores_by_name[f"{name} segments"] = " ".join(segment_scores)
    return scores_by_name


def tell(examples: Path, report: Path) -> dict[str, object]:
    """Return all that is compared, and on which machine it was computed."""
    place = examples / "de-en"
    words = ["report", place / "reference.a.en", "-i", place / "birch.en", place / "cedar.en"]
    with contextlib.redirect_stdout(sys.stderr):
        status = main([*map(str, words), "--quiet", "-o", str(report)])
    return {
        "scores": score_examples(examples),
        "report": status,
        "package": truebleu.__file__,
        "sum": "compensated" if sum([0.1] * 10) == 1 else "plain",  # since Python 3.12
        "machine": f"Python {sys.version.split()[0]} for {sysconfig.get_platform()}",
    }


if __name__ == "__main__":
    print(json.dumps(tell(Path(sys.argv[1]), Path(sys.argv[2]))))
