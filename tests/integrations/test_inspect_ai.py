"""inspect-ai: samples have sentence-level scores, the log has the corpus score."""

import pytest
from integration_programs import import_or_skip, make_inspect_solver

import truebleu as tb

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def integration():
    import_or_skip("inspect_ai")
    import truebleu.integrations.inspect_ai as module

    return module


def run_evaluation(text, tmp_path, scorer, **options):
    inspect_ai, dataset = import_or_skip("inspect_ai"), import_or_skip("inspect_ai.dataset")
    outputs = {str(number): hypothesis for number, hypothesis in enumerate(text.hypotheses)}
    task = inspect_ai.Task(
        dataset=[
            dataset.Sample(input=str(number), target=two)
            for number, two in enumerate(text.references)
        ],
        solver=make_inspect_solver(outputs),
        scorer=scorer,
    )
    (log,) = inspect_ai.eval(
        task, model="mockllm/model", log_dir=str(tmp_path), display="none", **options
    )
    return log


def test_log_contains_corpus_score(integration, text, tmp_path):
    log = run_evaluation(text, tmp_path, [integration.bleu(tokenize="intl"), integration.ter()])
    assert log.status == "success"
    scores = {score.name: score.metrics["corpus"].value for score in log.results.scores}
    assert scores == {
        "bleu": tb.BLEU("intl").score(text.hypotheses, text.references).value,
        "ter": tb.TER().score(text.hypotheses, text.references).value,
    }
    sample = log.samples[3]
    sentence = tb.BLEU("intl").sentence(text.hypotheses[3], text.references[3])
    assert sample.scores["bleu"].value == sentence.value
    assert sample.scores["bleu"].answer == text.hypotheses[3]


def test_unnamed_tokenizer_raises_error(integration):
    with pytest.raises(ValueError, match="the log stores the metric's signature, which does not"):
        integration.bleu(tokenize=str.split)


def test_several_epochs_raise_error(integration, text, tmp_path):
    log = run_evaluation(text, tmp_path, integration.chrf(), epochs=2)
    assert log.status == "error"
    assert "Run with epochs=1" in str(log.error.message)
