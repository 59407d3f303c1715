"""What the tests of hosts share: text, a host or the reason why not, and a tiny vocabulary."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "de-en"


class Text(NamedTuple):
    """Segments of the example systems."""

    hypotheses: list[str]
    references: list[list[str]]
    """Two a segment."""

    @property
    def first(self) -> list[str]:
        return [one for one, _ in self.references]


def lines(name: str) -> list[str]:
    return (EXAMPLES / name).read_text(encoding="utf-8").splitlines()


def host(name: str) -> Any:
    """A host's module; a host that is not installed skips the test and says so."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        pytest.skip(f"{name} is not installed; run `make integrations`")


def evaluate_offline(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Any:
    """Hugging Face evaluate, which asks no hub and keeps what it loads in this folder."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_EVALUATE_OFFLINE", "1")
    module = host("evaluate")
    for name in ("HF_MODULES_CACHE", "HF_METRICS_CACHE", "HF_EVALUATE_CACHE"):
        monkeypatch.setattr(module.config, name, str(folder / name))
    return module


def offline_records(folder: Path, kind: str) -> Any:
    """What is in the file of an offline run of W&B: LevelDB's log format, of protocol buffers."""
    buffers = host("wandb.proto.wandb_internal_pb2")
    (path,) = folder.glob("wandb/offline-run-*/run-*.wandb")
    data, at, kept = path.read_bytes(), 7, b""
    while at + 7 <= len(data):
        if (left := 32768 - at % 32768) < 7:
            at += left
            continue
        size, part = int.from_bytes(data[at + 4 : at + 6], "little"), data[at + 6]
        kept, at = kept + data[at + 7 : at + 7 + size], at + 7 + size
        if part in (1, 4):  # whole, or the last part
            record, kept = buffers.Record.FromString(kept), b""
            if record.WhichOneof("record_type") == kind:
                items = record.history.item if kind == "history" else record.config.update
                yield {"/".join(x.nested_key) or x.key: json.loads(x.value_json) for x in items}


class Tiny:
    """A tokenizer of the examples' words, and models of a few weights, made with no network."""

    def __init__(self, texts: list[str]) -> None:
        tokenizers, self.transformers = host("tokenizers"), host("transformers")
        words = sorted({word for text in texts for word in text.split()})
        vocabulary = {word: i for i, word in enumerate(["<pad>", "<eos>", "<unk>", *words])}
        model = tokenizers.models.WordLevel(vocabulary, unk_token="<unk>")
        tokenizer = tokenizers.Tokenizer(model)
        tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
        self.tokenizer = self.transformers.PreTrainedTokenizerFast(
            tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>"
        )
        self.size = len(vocabulary)

    def causal(self) -> Any:
        """A model that continues text."""
        host("torch").manual_seed(1)
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

    def translator(self) -> Any:
        """A model that makes text of text."""
        host("torch").manual_seed(1)
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
