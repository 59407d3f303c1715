"""Shared helpers of the integration tests: example text, optional imports and tiny models."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "de-en"


class ExampleText(NamedTuple):
    """Segments of the example systems."""

    hypotheses: list[str]
    references: list[list[str]]
    """Two references per segment."""

    @property
    def first_references(self) -> list[str]:
        return [one for one, _ in self.references]


def read_example_lines(name: str) -> list[str]:
    return (EXAMPLES / name).read_text(encoding="utf-8").splitlines()


def import_or_skip(name: str) -> Any:
    """Import a framework's module, or skip the test if it is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        pytest.skip(f"{name} is not installed; run `make integrations`")


def evaluate_offline(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Any:
    """Return Hugging Face evaluate without network access, with its caches in this folder."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_EVALUATE_OFFLINE", "1")
    module = import_or_skip("evaluate")
    for name in ("HF_MODULES_CACHE", "HF_METRICS_CACHE", "HF_EVALUATE_CACHE"):
        monkeypatch.setattr(module.config, name, str(folder / name))
    return module


def read_offline_records(folder: Path, kind: str) -> Any:
    """Read an offline W&B run: protocol buffers in LevelDB's log format."""
    buffers = import_or_skip("wandb.proto.wandb_internal_pb2")
    (path,) = folder.glob("wandb/offline-run-*/run-*.wandb")
    data, offset, partial = path.read_bytes(), 7, b""
    while offset + 7 <= len(data):
        if (block_rest := 32768 - offset % 32768) < 7:
            offset += block_rest
            continue
        size, record_kind = (
            int.from_bytes(data[offset + 4 : offset + 6], "little"),
            data[offset + 6],
        )
        partial, offset = partial + data[offset + 7 : offset + 7 + size], offset + 7 + size
        if record_kind in (1, 4):  # complete, or the last part
            record, partial = buffers.Record.FromString(partial), b""
            if record.WhichOneof("record_type") == kind:
                items = record.history.item if kind == "history" else record.config.update
                yield {"/".join(x.nested_key) or x.key: json.loads(x.value_json) for x in items}


def make_harness_model(outputs: Mapping[str, str]) -> Any:
    """Return a model of lm-evaluation-harness with these outputs by prompt."""

    class Model(import_or_skip("lm_eval.api.model").LM):
        def generate_until(self, requests, **_):
            return [outputs[request.args[0]] for request in requests]

    Model.__abstractmethods__ = frozenset()
    return Model()


def make_inspect_solver(outputs: Mapping[str, str] | None = None) -> Any:
    """Return a solver of inspect-ai with these outputs by input, or with the inputs as outputs.

    A real model would download a tokenizer.
    """
    solver, model = import_or_skip("inspect_ai.solver"), import_or_skip("inspect_ai.model")

    @solver.solver
    def translate():
        async def solve(state, generate):
            text = state.input_text if outputs is None else outputs[state.input_text]
            state.output = model.ModelOutput.from_content("none", text)
            return state

        return solve

    return translate()


class TinyModels:
    """A tokenizer of the examples' words and models with few weights, created without a network."""

    def __init__(self, texts: list[str]) -> None:
        tokenizers, self.transformers = import_or_skip("tokenizers"), import_or_skip("transformers")
        words = sorted({word for text in texts for word in text.split()})
        vocabulary = {word: i for i, word in enumerate(["<pad>", "<eos>", "<unk>", *words])}
        model = tokenizers.models.WordLevel(vocabulary, unk_token="<unk>")
        tokenizer = tokenizers.Tokenizer(model)
        tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
        self.tokenizer = self.transformers.PreTrainedTokenizerFast(
            tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>"
        )
        self.size = len(vocabulary)

    def make_causal_model(self) -> Any:
        """Create a model that continues text."""
        import_or_skip("torch").manual_seed(1)
        return self.transformers.LlamaForCausalLM(
            self.transformers.LlamaConfig(
                vocab_size=self.size,
                hidden_size=8,
                intermediate_size=8,
                num_hidden_layers=1,
                num_attention_heads=1,
                max_position_embeddings=256,
                pad_token_id=0,
                eos_token_id=1,
                bos_token_id=1,
            )
        )

    def make_translation_model(self) -> Any:
        """Create a model that translates text."""
        import_or_skip("torch").manual_seed(1)
        return self.transformers.T5ForConditionalGeneration(
            self.transformers.T5Config(
                vocab_size=self.size,
                d_model=8,
                d_kv=8,
                d_ff=8,
                num_layers=1,
                num_heads=1,
                pad_token_id=0,
                eos_token_id=1,
                decoder_start_token_id=0,
            )
        )
