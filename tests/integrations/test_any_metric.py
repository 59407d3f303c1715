"""Every host with every metric: the metric's own number, or the metric's own refusal."""

import sys
import warnings
from types import SimpleNamespace

import pytest
from integration_programs import Text, Tiny, evaluate_offline, host, lines
from optional_tools import lacking

import truebleu as tb
from truebleu.metrics import registry

pytestmark = pytest.mark.filterwarnings("ignore")

SEGMENTS = 8
# Prints a number for each line, as a program that `command:` starts.
PROGRAM = "import sys\nfor line in open(sys.argv[1], encoding='utf-8'):\n    print(len(line) / 7)\n"
# Members of the family: a sum, a mean of segments, an order that matters, one reference alone.
FAMILY = ("mteval-v13a", "nltk-sentence-4", "nltk-corpus-5", "fairseq", "coco-bleu-4-item")
COMMAND = "command"
NAMES = [*registry.METRICS, *FAMILY, COMMAND]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """The text, and each metric that can run here, by its name."""
    folder = tmp_path_factory.mktemp("any-metric")
    (folder / "program.py").write_text(PROGRAM)
    pairs = zip(lines("reference.a.en"), lines("reference.b.en"), strict=True)
    text = Text(lines("birch.en")[:SEGMENTS], [list(pair) for pair in pairs][:SEGMENTS])
    given = {name: name for name in NAMES}
    given[COMMAND] = f"command:length={sys.executable} {folder}/program.py {{hyp}}"
    with warnings.catch_warnings(action="ignore"):
        metrics = {name: tb.metric(given[name]) for name in NAMES if not lacking(name)}
    return SimpleNamespace(
        text=text,
        sources=lines("source.de")[:SEGMENTS],
        given=given,
        metrics=metrics,
        folder=folder,
        references=lambda name: references(metrics[name], text),
        done={},
    )


def references(metric, text):
    """Two references a segment, or one where the metric is defined for one."""
    try:
        own(metric, text.hypotheses, text.references, text.hypotheses)
    except ValueError:
        return text.first
    return text.references


def own(metric, hypotheses, known, sources):
    """The metric's own score of a corpus."""
    known = [tuple(one) if isinstance(one, list) else one for one in known]
    more = {"sources": sources} if metric.NEEDS_SOURCE else {}
    return metric.score(hypotheses, known, **more).value


def expected(corpus, name):
    known = corpus.references(name)
    return own(corpus.metrics[name], corpus.text.hypotheses, known, corpus.sources)


# ---- the hosts: what each gives for each metric, beside what it should ----


def with_evaluate(corpus):
    from truebleu.integrations import evaluate

    with pytest.MonkeyPatch.context() as monkeypatch:
        evaluate_offline(monkeypatch, corpus.folder)
        for name, metric in corpus.metrics.items():
            module = evaluate.load(corpus.given[name], cache_dir=str(corpus.folder))
            more = {"sources": corpus.sources} if metric.NEEDS_SOURCE else {}
            found = module.compute(
                predictions=corpus.text.hypotheses, references=corpus.references(name), **more
            )
            yield name, found["score"], expected(corpus, name)


def with_lm_eval(corpus):
    lm_eval, task = host("lm_eval"), host("lm_eval.api.task")
    datasets, model = host("datasets"), host("lm_eval.api.model")
    from truebleu.integrations import lm_eval as ours

    ours.register()
    for name in (*FAMILY, COMMAND):
        ours.register(f"true{name}", corpus.given[name])
    rows = datasets.Dataset.from_dict({"number": list(range(SEGMENTS))})

    def process_results(document, results):
        number = document["number"]
        return {
            f"true{name}": ours.item(
                corpus.references(name)[number], results[0], corpus.sources[number]
            )
            for name in corpus.metrics
        }

    class Model(model.LM):
        def generate_until(self, requests, **_):
            return [corpus.text.hypotheses[int(request.args[0])] for request in requests]

        loglikelihood = loglikelihood_rolling = None

    Model.__abstractmethods__ = frozenset()
    made = task.ConfigurableTask(
        config={
            "task": "any",
            "custom_dataset": lambda **_: {"test": rows},
            "test_split": "test",
            "output_type": "generate_until",
            "doc_to_text": "{{number}}",
            "doc_to_target": "",
            "process_results": process_results,
            "metric_list": [
                {
                    "metric": f"true{name}",
                    "aggregation": f"true{name}",
                    "higher_is_better": not metric.lower_is_better,
                }
                for name, metric in corpus.metrics.items()
            ],
        }
    )
    found = lm_eval.simple_evaluate(model=Model(), tasks=[made], bootstrap_iters=0)
    for name in corpus.metrics:
        yield name, found["results"]["any"][f"true{name},none"], expected(corpus, name)


def with_lighteval(corpus):
    host("lighteval")
    outputs, requests = host("lighteval.models.model_output"), host("lighteval.tasks.requests")
    from truebleu.integrations.lighteval import corpus_metric

    for name in corpus.metrics:
        metric = corpus_metric(corpus.given[name], name=name)
        samples = []
        for text, known, source in zip(
            corpus.text.hypotheses, corpus.references(name), corpus.sources, strict=True
        ):
            choices = [known] if isinstance(known, str) else known
            gold = list(range(len(choices)))
            document = requests.Doc(query=source, choices=choices, gold_index=gold)
            response = outputs.ModelResponse(text=[text])
            samples.append(metric.compute_sample(doc=document, model_response=response)[name])
        yield name, metric.get_corpus_aggregations()[name](samples), expected(corpus, name)


def with_inspect_ai(corpus):
    inspect_ai, model = host("inspect_ai"), host("inspect_ai.model")
    dataset, solver = host("inspect_ai.dataset"), host("inspect_ai.solver")
    from truebleu.integrations.inspect_ai import metric_scorer

    @solver.solver
    def translated():
        async def solve(state, generate):
            text = corpus.text.hypotheses[state.metadata["number"]]
            state.output = model.ModelOutput.from_content("none", text)
            return state

        return solve

    for one in (corpus.text.references, corpus.text.first):
        names = [name for name in corpus.metrics if corpus.references(name) == one]
        task = inspect_ai.Task(
            dataset=[
                dataset.Sample(input=source, target=target, metadata={"number": number})
                for number, (source, target) in enumerate(zip(corpus.sources, one, strict=True))
            ],
            solver=translated(),
            scorer=[metric_scorer(corpus.given[name]) for name in names],
        )
        (log,) = inspect_ai.eval(
            task, model="mockllm/model", log_dir=str(corpus.folder), display="none"
        )
        assert log.status == "success", log.error
        for name, score in zip(names, log.results.scores, strict=True):
            yield name, score.metrics["corpus"].value, expected(corpus, name)
            assert score.name == ("length" if name == COMMAND else name)


def with_torchmetrics(corpus):
    host("torch"), host("torchmetrics")
    from truebleu.integrations.torchmetrics import Corpus

    for name, metric in corpus.metrics.items():
        try:
            made = Corpus(corpus.given[name])
        except ValueError as error:
            yield name, str(error), f"metric: {metric.not_additive}"
            continue
        known = corpus.references(name)
        if name == "gec-gleu":  # its sums are of one reference: others, it draws
            with pytest.raises(tb.InputError, match="draw"):
                made.update(corpus.text.hypotheses, known, corpus.sources)
            known = corpus.text.first
        for part in (slice(0, 3), slice(3, None)):
            made.update(corpus.text.hypotheses[part], known[part], corpus.sources[part])
        right = own(metric, corpus.text.hypotheses, known, corpus.sources)
        yield name, made.compute().item(), right
        assert made.score().value == right


def with_trl(corpus):
    """The trainer's own method that computes rewards, given completions."""
    trl, datasets = host("trl"), host("datasets")
    from truebleu.integrations.trl import metric_reward

    text = corpus.text
    known = {name: corpus.references(name) for name in corpus.metrics}
    columns = {"references": text.references, "first": text.first, "source": corpus.sources}
    kept = {}

    def recorded(name):
        column = "references" if known[name] == text.references else "first"
        reward = metric_reward(corpus.given[name], column, scale=1)

        def called(**given):
            kept[name] = reward(**given)
            return kept[name]

        called.__name__ = name
        return called

    tiny = Tiny(text.hypotheses)
    trainer = trl.GRPOTrainer(
        model=tiny.causal(),
        processing_class=tiny.tokenizer,
        reward_funcs=[recorded(name) for name in known],
        train_dataset=datasets.Dataset.from_dict({"prompt": text.first, **columns}),
        args=trl.GRPOConfig(output_dir=str(corpus.folder), report_to=[], use_cpu=True),
    )
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    tensor = trainer._calculate_rewards(rows, text.first, text.hypotheses, [[]] * SEGMENTS)
    for column, (name, metric) in enumerate(corpus.metrics.items()):
        more = [corpus.sources] if metric.NEEDS_SOURCE else []
        rows = zip(text.hypotheses, known[name], *more, strict=True)
        right = [metric.sentence(*row).value for row in rows]
        yield name, kept[name], right
        assert tensor[:, column].tolist() == pytest.approx(right, rel=1e-6)


def with_transformers(corpus, by_batch=False):
    """Seq2SeqTrainer with a model of a few weights; its input is the source."""
    transformers = host("transformers")
    from truebleu.integrations.transformers import compute_metrics

    text = corpus.text
    tiny = Tiny([*text.hypotheses, *text.first])
    seen = []

    class Recording(type(tiny.tokenizer)):
        def batch_decode(self, sequences, *args, **options):
            seen.append(super().batch_decode(sequences, *args, **options))
            return seen[-1]

    tokenizer = Recording(
        tokenizer_object=tiny.tokenizer.backend_tokenizer,
        pad_token="<pad>",
        eos_token="<eos>",
        unk_token="<unk>",
    )
    ids = (tiny.tokenizer(texts).input_ids for texts in (text.hypotheses, text.first))
    model = tiny.translator()
    model.generation_config.max_new_tokens = 9
    trainer = transformers.Seq2SeqTrainer(
        model,
        transformers.Seq2SeqTrainingArguments(
            str(corpus.folder),
            predict_with_generate=True,
            batch_eval_metrics=by_batch,
            include_for_metrics=["inputs"],
            per_device_eval_batch_size=3,
            report_to=[],
            use_cpu=True,
        ),
        eval_dataset=[{"input_ids": a, "labels": b} for a, b in zip(*ids, strict=True)],
        data_collator=transformers.DataCollatorForSeq2Seq(tiny.tokenizer, model=model),
        compute_metrics=compute_metrics(tokenizer, [corpus.given[name] for name in corpus.metrics]),
    )
    found = trainer.evaluate()
    hypotheses, known, inputs = (
        [one for batch in seen[role::3] for one in batch] for role in range(3)
    )
    assert known == text.first
    assert inputs == text.hypotheses
    for name, metric in corpus.metrics.items():
        key = "length" if name == COMMAND else name
        yield name, found[f"eval_{key}"], own(metric, hypotheses, known, inputs)


def with_transformers_by_batch(corpus):
    return with_transformers(corpus, by_batch=True)


HOSTS = {
    "evaluate": with_evaluate,
    "lm-eval": with_lm_eval,
    "lighteval": with_lighteval,
    "inspect-ai": with_inspect_ai,
    "torchmetrics": with_torchmetrics,
    "TRL": with_trl,
    "transformers": with_transformers,
    "transformers by batch": with_transformers_by_batch,
}


@pytest.mark.parametrize("host_name", HOSTS)
@pytest.mark.parametrize("name", NAMES)
def test_any_metric(name, host_name, corpus):
    if said := lacking(name):
        pytest.skip(said)
    if host_name not in corpus.done:
        found = HOSTS[host_name](corpus)
        corpus.done[host_name] = {metric: pair for metric, *pair in found}
    given, right = corpus.done[host_name][name]
    assert given == right
