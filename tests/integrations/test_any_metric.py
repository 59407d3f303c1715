"""Every framework with every metric gives the metric's score, or the metric's error."""

import sys
import warnings
from types import SimpleNamespace

import pytest
from integration_programs import (
    ExampleText,
    TinyModels,
    evaluate_offline,
    import_or_skip,
    make_harness_model,
    make_inspect_solver,
    read_example_lines,
)
from optional_tools import lacking

import truebleu as tb
from truebleu.metrics import registry

pytestmark = pytest.mark.filterwarnings("ignore")

SEGMENTS = 8
# Program for `command:` metrics that prints a number for each line.
PROGRAM = "import sys\nfor line in open(sys.argv[1], encoding='utf-8'):\n    print(len(line) / 7)\n"
# Family members: summed, averaged over segments, order-dependent, and limited to one reference.
FAMILY = ("mteval-v13a", "nltk-sentence-4", "nltk-corpus-5", "fairseq", "coco-bleu-4-item")
COMMAND = "command"
NAMES = [*registry.METRICS, *FAMILY, COMMAND]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Return the text, and all metrics that can run here, by name."""
    folder = tmp_path_factory.mktemp("any-metric")
    (folder / "program.py").write_text(PROGRAM)
    pairs = zip(
        read_example_lines("reference.a.en"), read_example_lines("reference.b.en"), strict=True
    )
    text = ExampleText(
        read_example_lines("birch.en")[:SEGMENTS], [list(pair) for pair in pairs][:SEGMENTS]
    )
    specs = {name: name for name in NAMES}
    specs[COMMAND] = f"command:length={sys.executable} {folder}/program.py {{hyp}}"
    with warnings.catch_warnings(action="ignore"):
        metrics = {name: tb.metric(specs[name]) for name in NAMES if not lacking(name)}
    return SimpleNamespace(
        text=text,
        sources=read_example_lines("source.de")[:SEGMENTS],
        specs=specs,
        metrics=metrics,
        folder=folder,
        references=lambda name: choose_references(metrics[name], text),
        done={},
    )


def choose_references(metric, text):
    """Return two references per segment, or one if the metric supports only one."""
    try:
        compute_own_score(metric, text.hypotheses, text.references, text.hypotheses)
    except ValueError:
        return text.first_references
    return text.references


def compute_own_score(metric, hypotheses, references, sources):
    """Return the metric's corpus score."""
    references = [tuple(one) if isinstance(one, list) else one for one in references]
    options = {"sources": sources} if metric.NEEDS_SOURCE else {}
    return metric.score(hypotheses, references, **options).value


def compute_expected(corpus, name):
    references = corpus.references(name)
    return compute_own_score(
        corpus.metrics[name], corpus.text.hypotheses, references, corpus.sources
    )


# ---- frameworks: names, scores and expected scores of all metrics ----


def score_with_evaluate(corpus):
    from truebleu.integrations import evaluate

    with pytest.MonkeyPatch.context() as monkeypatch:
        evaluate_offline(monkeypatch, corpus.folder)
        for name, metric in corpus.metrics.items():
            module = evaluate.load(corpus.specs[name], cache_dir=str(corpus.folder))
            options = {"sources": corpus.sources} if metric.NEEDS_SOURCE else {}
            result = module.compute(
                predictions=corpus.text.hypotheses, references=corpus.references(name), **options
            )
            yield name, result["score"], compute_expected(corpus, name)


def score_with_lm_eval(corpus):
    lm_eval, task = import_or_skip("lm_eval"), import_or_skip("lm_eval.api.task")
    datasets = import_or_skip("datasets")
    from truebleu.integrations import lm_eval as ours

    ours.register()
    for name in (*FAMILY, COMMAND):
        ours.register(f"true{name}", corpus.specs[name])
    rows = datasets.Dataset.from_dict({"number": list(range(SEGMENTS))})

    def process_results(document, results):
        number = document["number"]
        return {
            f"true{name}": ours.item(
                corpus.references(name)[number], results[0], corpus.sources[number]
            )
            for name in corpus.metrics
        }

    any_task = task.ConfigurableTask(
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
    model = make_harness_model(
        dict(zip(map(str, range(SEGMENTS)), corpus.text.hypotheses, strict=True))
    )
    evaluation = lm_eval.simple_evaluate(model=model, tasks=[any_task], bootstrap_iters=0)
    for name in corpus.metrics:
        yield name, evaluation["results"]["any"][f"true{name},none"], compute_expected(corpus, name)


def score_with_lighteval(corpus):
    import_or_skip("lighteval")
    outputs, requests = (
        import_or_skip("lighteval.models.model_output"),
        import_or_skip("lighteval.tasks.requests"),
    )
    from truebleu.integrations.lighteval import corpus_metric

    for name in corpus.metrics:
        metric = corpus_metric(corpus.specs[name], name=name)
        samples = []
        for text, references, source in zip(
            corpus.text.hypotheses, corpus.references(name), corpus.sources, strict=True
        ):
            choices = [references] if isinstance(references, str) else references
            gold = list(range(len(choices)))
            document = requests.Doc(query=source, choices=choices, gold_index=gold)
            response = outputs.ModelResponse(text=[text])
            samples.append(metric.compute_sample(doc=document, model_response=response)[name])
        yield name, metric.get_corpus_aggregations()[name](samples), compute_expected(corpus, name)


def score_with_inspect_ai(corpus):
    inspect_ai, dataset = import_or_skip("inspect_ai"), import_or_skip("inspect_ai.dataset")
    from truebleu.integrations.inspect_ai import metric_scorer

    outputs = dict(zip(corpus.sources, corpus.text.hypotheses, strict=True))
    for references in (corpus.text.references, corpus.text.first_references):
        names = [name for name in corpus.metrics if corpus.references(name) == references]
        task = inspect_ai.Task(
            dataset=[
                dataset.Sample(input=source, target=target)
                for source, target in zip(corpus.sources, references, strict=True)
            ],
            solver=make_inspect_solver(outputs),
            scorer=[metric_scorer(corpus.specs[name]) for name in names],
        )
        (log,) = inspect_ai.eval(
            task, model="mockllm/model", log_dir=str(corpus.folder), display="none"
        )
        assert log.status == "success", log.error
        for name, score in zip(names, log.results.scores, strict=True):
            yield name, score.metrics["corpus"].value, compute_expected(corpus, name)
            assert score.name == ("length" if name == COMMAND else name)


def score_with_torchmetrics(corpus):
    import_or_skip("torch"), import_or_skip("torchmetrics")
    from truebleu.integrations.torchmetrics import Corpus

    for name, metric in corpus.metrics.items():
        try:
            corpus_metric = Corpus(corpus.specs[name])
        except ValueError as error:
            yield name, str(error), f"metric: {metric.non_additive_reason}"
            continue
        references = corpus.references(name)
        if name == "gec-gleu":  # only additive with one reference
            with pytest.raises(tb.InputError, match="samples one of several"):
                corpus_metric.update(corpus.text.hypotheses, references, corpus.sources)
            references = corpus.text.first_references
        for part in (slice(0, 3), slice(3, None)):
            corpus_metric.update(
                corpus.text.hypotheses[part], references[part], corpus.sources[part]
            )
        expected_score = compute_own_score(
            metric, corpus.text.hypotheses, references, corpus.sources
        )
        yield name, corpus_metric.compute().item(), expected_score
        assert corpus_metric.score().value == expected_score


def score_with_trl(corpus):
    """Call the trainer's method that computes rewards with completions."""
    trl, datasets = import_or_skip("trl"), import_or_skip("datasets")
    text = corpus.text
    references_by_metric = {name: corpus.references(name) for name in corpus.metrics}
    columns = {
        "references": text.references,
        "first": text.first_references,
        "source": corpus.sources,
    }
    rewards, specs, metrics = {}, dict(corpus.specs), dict(corpus.metrics)
    for name in ("cider-d", "cider"):  # rewards need fitted document frequencies
        fitted = metrics[name].with_parameters(df=tb.document_frequencies(text.references))
        specs[name] = metrics[name] = fitted

    def make_reward(name):
        column = "references" if references_by_metric[name] == text.references else "first"
        reward = tb.reward(specs[name], references=column, scale=1).trl

        def record_reward(**arguments):
            rewards[name] = reward(**arguments)
            return rewards[name]

        record_reward.__name__ = name
        return record_reward

    tiny = TinyModels(text.hypotheses)
    trainer = trl.GRPOTrainer(
        model=tiny.make_causal_model(),
        processing_class=tiny.tokenizer,
        reward_funcs=[make_reward(name) for name in references_by_metric],
        train_dataset=datasets.Dataset.from_dict({"prompt": text.first_references, **columns}),
        args=trl.GRPOConfig(output_dir=str(corpus.folder), report_to=[], use_cpu=True),
    )
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    tensor = trainer._calculate_rewards(
        rows, text.first_references, text.hypotheses, [[]] * SEGMENTS
    )
    for column, (name, metric) in enumerate(metrics.items()):
        sources = [corpus.sources] if metric.NEEDS_SOURCE else []
        rows = zip(text.hypotheses, references_by_metric[name], *sources, strict=True)
        expected_scores = [metric.sentence(*row).value for row in rows]
        yield name, rewards[name], expected_scores
        assert tensor[:, column].tolist() == pytest.approx(expected_scores, rel=1e-6)


def score_with_transformers(corpus, by_batch=False):
    """Run Seq2SeqTrainer with a tiny model; its input is the source."""
    transformers = import_or_skip("transformers")
    from truebleu.integrations.transformers import compute_metrics

    text = corpus.text
    tiny = TinyModels([*text.hypotheses, *text.first_references])
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
    ids = (tiny.tokenizer(texts).input_ids for texts in (text.hypotheses, text.first_references))
    model = tiny.make_translation_model()
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
        compute_metrics=compute_metrics(tokenizer, [corpus.specs[name] for name in corpus.metrics]),
    )
    results = trainer.evaluate()
    hypotheses, references, inputs = (
        [decoded for batch in seen[role::3] for decoded in batch] for role in range(3)
    )
    assert references == text.first_references
    assert inputs == text.hypotheses
    for name, metric in corpus.metrics.items():
        key = "length" if name == COMMAND else name
        yield (
            name,
            results[f"eval_{key}"],
            compute_own_score(metric, hypotheses, references, inputs),
        )


def score_with_transformers_by_batch(corpus):
    return score_with_transformers(corpus, by_batch=True)


FRAMEWORKS = {
    "evaluate": score_with_evaluate,
    "lm-eval": score_with_lm_eval,
    "lighteval": score_with_lighteval,
    "inspect-ai": score_with_inspect_ai,
    "torchmetrics": score_with_torchmetrics,
    "TRL": score_with_trl,
    "transformers": score_with_transformers,
    "transformers by batch": score_with_transformers_by_batch,
}


@pytest.mark.parametrize("host_name", FRAMEWORKS)
@pytest.mark.parametrize("name", NAMES)
def test_any_metric(name, host_name, corpus):
    if reason := lacking(name):
        pytest.skip(reason)
    if host_name not in corpus.done:
        results = FRAMEWORKS[host_name](corpus)
        corpus.done[host_name] = {metric: pair for metric, *pair in results}
    framework_score, expected_score = corpus.done[host_name][name]
    assert framework_score == expected_score
