"""A program that uses every public name, for type checkers; tests run it, too.

`make lint` has mypy --strict and pyright read it as they read any program of a user's:
`assert_type` says of each value which type they must see.
"""

import json
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import assert_type

import truebleu as tb

HYPOTHESES = ["the cat is on a mat", "nobody was there"] * 5
REFERENCES = ["the cat is on the mat", "nobody was there"] * 5
TWO = [[one, None] for one in REFERENCES]
SOURCES = ["die Katze liegt auf der Matte", "niemand war da"] * 5
DOCUMENTS = ["a", "b"] * 5
DELAYS = {
    "index": 0,
    "prediction": "it rains",
    "delays": [500, 900],
    "elapsed": [510, 930],
    "prediction_length": 2,
    "reference": "it rains",
    "source": ["talk.wav"],
    "source_length": 1000,
}


def check_score_types() -> None:
    """Scores, and what they know."""
    score = tb.bleu(HYPOTHESES, TWO, tokenize="intl", lowercase=True)
    typed_score: tb.Score = score
    assert_type(typed_score.value, float)
    assert_type(float(score), float)
    assert_type(score.precisions, tuple[float, ...])
    assert_type(score.brevity_penalty, float)
    assert_type(score.signature, tb.Signature)
    other_scores: list[tb.Score] = [tb.chrf(HYPOTHESES, REFERENCES), tb.ter(HYPOTHESES, REFERENCES)]
    assert_type(f"{other_scores[0]:.2f}", str)
    assert_type(tb.__version__, str)


def check_metrics() -> None:
    """Metrics are values with parameters, and have the same verbs."""
    bleu = tb.BLEU("13a", smoothing="floor", smoothing_value=0.1)
    assert_type(bleu.sentence(HYPOTHESES[0], [REFERENCES[0], None]).value, float)
    assert_type(bleu.segments(HYPOTHESES, REFERENCES), tb.Scores)
    table = bleu.statistics(HYPOTHESES, REFERENCES)
    assert_type(table, tb.Statistics)
    assert_type(bleu.from_statistics(table.sum()).value, float)
    typed_metrics: list[tb.Metric] = [
        *(tb.CHRF(word_order=2), tb.TER(), tb.WER(), tb.CER(), tb.MER(), tb.WIL(), tb.WIP()),
        *(tb.NIST(), tb.GLEU(), tb.NGramF(), tb.NLTKBLEU(), tb.CodeBLEU(part="ngram")),
    ]
    for metric in typed_metrics:
        assert_type(metric.score(HYPOTHESES, REFERENCES).value, float)
        assert_type(metric.lower_is_better, bool)
    assert_type(tb.IBLEU().score(HYPOTHESES, REFERENCES, sources=SOURCES).value, float)
    assert_type(tb.SARI().score(HYPOTHESES, REFERENCES, sources=SOURCES).value, float)
    assert_type(tb.GECGLEU().score(HYPOTHESES, REFERENCES, sources=SOURCES).value, float)
    same_metric: tb.Metric = tb.metric(str(bleu.signature()))
    assert same_metric.score(HYPOTHESES, REFERENCES) == bleu.score(HYPOTHESES, REFERENCES)
    assert_type(tb.family, tb.Family)
    assert_type(tb.family["mteval-v13a"].score(HYPOTHESES, REFERENCES).value, float)
    total = tb.Accumulator("mteval-v13a")
    total.update(HYPOTHESES, REFERENCES)
    assert_type(total.compute().value, float)
    assert_type(tb.tokenize("a, b", "intl"), list[str])
    warnings.filterwarnings("ignore", category=tb.TextWarning)
    assert_type(tb.ngrams("a, b", 2), Counter[tuple[str, ...]])
    assert_type(bool(tb.which(59.69, HYPOTHESES, REFERENCES)), bool)
    assert_type(tb.cite(["bleu"], test="ar"), tb.SetupDescription)
    assert_type(tb.cite().bibtex(), str)
    assert_type(tb.document_bleu(HYPOTHESES, REFERENCES, DOCUMENTS).value, float)
    assert_type(tb.mean_document_bleu(HYPOTHESES, REFERENCES, DOCUMENTS).value, float)


def check_captions_rewards_and_ids() -> None:
    """Captions, rewards for training, and token ids."""
    frequencies = tb.document_frequencies(REFERENCES)
    assert_type(tb.CIDEr(df=frequencies).score(HYPOTHESES, REFERENCES).value, float)
    reward = tb.reward({"chrf": 0.7, "bleu": 0.3}, strip_thinking=True)
    assert_type(reward, tb.Reward)
    assert_type(reward.one("it rains", "it rains"), float)
    ids = tb.token_ids([[5, 6, 7, 0], [5, 6, 7, 8]], pad=0)
    assert_type(tb.bleu(ids, [[5, 6, 7, 9], [5, 6, 7, 8]]).value, float)


def check_error_spans(folder: Path) -> None:
    """Error spans of annotators, and the automatic ranking of WMT25."""
    path = folder / "mqm.tsv"
    names = "system doc doc_id seg_id rater source target category severity"
    row = ["a", "d", "1", "1", "r", "Es regnet.", "it <v>rains</v>", "Grammar", "Minor"]
    path.write_text("\n".join("\t".join(cells) for cells in (names.split(), row)) + "\n", "utf-8")
    spans = tb.read_spans(path)
    assert_type(spans, tb.ErrorSpans)
    assert_type(list(spans), list[tb.ErrorSpan])
    scores = {"BLEU": {"a": 1.0, "b": 2.0, "c": 4.0}, "chrF": {"a": 2.0, "b": 3.0, "c": 4.0}}
    assert_type(tb.autorank(scores), dict[str, float])


def check_texts() -> None:
    """Texts without references, and language information."""
    assert_type(tb.self_bleu(HYPOTHESES).value, float)
    assert_type(tb.distinct_n(HYPOTHESES, 2).value, float)
    assert_type(tb.pairwise_diversity(HYPOTHESES).value, float)
    best = tb.mbr(HYPOTHESES)
    assert isinstance(best, tb.MBR)
    assert_type(best.index, int)
    assert_type(tb.language("ja").tokenizer, str)


def views(folder: Path) -> None:
    """Check the views."""
    systems = {"a": HYPOTHESES, "b": REFERENCES}
    compared = tb.compare(systems, REFERENCES, metrics=["bleu", tb.CHRF()], samples=20)
    assert_type(compared, tb.Comparison)
    assert_type(compared.markdown(), str)
    explained = tb.explain(HYPOTHESES[0], REFERENCES[0])
    assert_type(explained, tb.Explanation)
    assert_type(explained.html(), str)
    check = tb.check(HYPOTHESES, REFERENCES, minimum={"bleu": 30})
    assert_type(check, tb.Check)
    assert_type(check.failures, list[str])
    page = tb.report(systems, REFERENCES, samples=20)
    assert_type(page, tb.Report)
    page.save(folder / "report.html")
    playground = tb.create_playground()
    assert_type(playground, tb.Playground)
    assert_type(playground.html(), str)


def check_files(folder: Path) -> None:
    """Files, logs and test sets."""
    path = folder / "hypotheses"
    path.write_text("".join(f"{line}\n" for line in HYPOTHESES), encoding="utf-8")
    assert_type(tb.bleu(tb.File(path), REFERENCES).value, float)
    try:
        tb.bleu(path, REFERENCES[1:])
    except tb.InputError as error:
        assert_type(str(error), str)
    assert_type(tb.resegment(path, REFERENCES), tb.Resegmentation)
    subtitles = folder / "subtitles.srt"
    subtitles.write_text("1\n00:00:01,000 --> 00:00:02,000\nit rains\n", encoding="utf-8")
    assert_type(tb.suber(subtitles, subtitles), tb.SubERScore)
    assert_type(list(tb.read_subtitles(subtitles).read_lines()), list[str])
    delays = folder / "instances.log"
    delays.write_text(json.dumps(DELAYS), encoding="utf-8")
    assert_type(tb.latency(delays), tb.Latency)
    log = folder / "log.jsonl"
    log.touch()
    assert_type(tb.history(log), tb.History)
    try:
        test_set = tb.testset("wmt22", "en-de", offline=True)
    except (OSError, ValueError):
        return
    assert_type(test_set, tb.TestSet)


def people() -> None:
    """Check meta-evaluation."""
    human = {"a": [float(n) for n in range(10)], "b": [float(n * n % 7) for n in range(10)]}
    metric = {"a": [n + 0.5 for n in human["a"]], "b": human["b"]}
    measured = tb.meta_evaluate(
        human,
        {"mine": metric},
        text=tb.EvaluatedText(documents=["one", "two"] * 5),
        tree=None if human else tb.TaskFolder("wmt23"),
        selection=tb.SystemSelection(),
        statistics=tb.StatisticOptions(levels=["seg"]),
        tests=tb.AgreementTests(confidence=10),
    )
    assert_type(measured, tb.MetaEvaluation)
    assert_type(measured.text(), str)


def main() -> None:
    """Everything, once."""
    check_score_types()
    check_metrics()
    check_texts()
    check_captions_rewards_and_ids()
    with tempfile.TemporaryDirectory() as folder:
        views(Path(folder))
        check_files(Path(folder))
        check_error_spans(Path(folder))
    people()


if __name__ == "__main__":
    main()
