"""inspect-ai: samples have sentence scores, the log has the corpus score, epochs are refused."""

import pytest
from integration_programs import host

import truebleu as tb

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def ours():
    host("inspect_ai")
    import truebleu.integrations.inspect_ai as module

    return module


def run(text, tmp_path, scorer, **options):
    inspect_ai = host("inspect_ai")
    dataset, model = host("inspect_ai.dataset"), host("inspect_ai.model")
    solver = host("inspect_ai.solver")

    @solver.solver
    def translated():
        async def solve(state, generate):
            hypothesis = text.hypotheses[int(state.input_text)]
            state.output = model.ModelOutput.from_content("none", hypothesis)
            return state

        return solve

    task = inspect_ai.Task(
        dataset=[
            dataset.Sample(input=str(number), target=two)
            for number, two in enumerate(text.references)
        ],
        solver=translated(),
        scorer=scorer,
    )
    (log,) = inspect_ai.eval(
        task, model="mockllm/model", log_dir=str(tmp_path), display="none", **options
    )
    return log


def test_the_corpus_score_is_in_the_log(ours, text, tmp_path):
    log = run(text, tmp_path, [ours.bleu(tokenize="intl"), ours.ter()])
    assert log.status == "success"
    found = {score.name: score.metrics["corpus"].value for score in log.results.scores}
    assert found == {
        "bleu": tb.BLEU("intl").score(text.hypotheses, text.references).value,
        "ter": tb.TER().score(text.hypotheses, text.references).value,
    }
    sample = log.samples[3]
    sentence = tb.BLEU("intl").sentence(text.hypotheses[3], text.references[3])
    assert sample.scores["bleu"].value == sentence.value
    assert sample.scores["bleu"].answer == text.hypotheses[3]


def test_a_tokenizer_without_a_name_is_refused_before_any_sample(ours):
    with pytest.raises(ValueError, match="the log stores the metric's signature, which does not"):
        ours.bleu(tokenize=str.split)


def test_epochs_are_refused(ours, text, tmp_path):
    log = run(text, tmp_path, ours.chrf(), epochs=2)
    assert log.status == "error"
    assert "Run with epochs=1" in str(log.error.message)
