"""Fixtures for small random models, without network access."""

from __future__ import annotations

import socket
import warnings
from importlib import import_module
from importlib.util import find_spec

import pytest
from small_text import SIZES, WORDS

from truebleu.metrics import score_cache

# `make neural` installs these in a separate environment.
PACKAGES = {"bertscore": "bert_score", "bleurt": "bleurt_pytorch", "comet": "comet"}

collect_ignore_glob = []
for name, package in PACKAGES.items():
    if find_spec(package) is None:
        collect_ignore_glob.append(f"test_{name}.py")
        continue
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they warn of each other
        import_module(package)


@pytest.fixture(autouse=True)
def _offline_with_empty_caches(tmp_path, monkeypatch):
    """Block the network, and use temporary caches for scores and for the hub."""

    def refused(self, address):
        raise AssertionError(f"a test of models went to {address}")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setenv("TRUEBLEU_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    # Cache scores of small models, although they are computed quickly.
    monkeypatch.setattr(score_cache, "MIN_SECONDS_PER_SEGMENT", 0.0)


@pytest.fixture(scope="session")
def torch():
    return import_module("torch")


@pytest.fixture(scope="session")
def encoder(tmp_path_factory, torch):
    """Return a function that creates a BERT with random weights and returns its folder."""
    from transformers import BertConfig, BertModel, BertTokenizerFast

    def make(name, seed=1, layers=2):
        folder = tmp_path_factory.mktemp("models") / name
        folder.mkdir()
        (folder / "vocab.txt").write_text("\n".join(WORDS.split()) + "\n", encoding="utf-8")
        torch.manual_seed(seed)
        config = BertConfig(vocab_size=len(WORDS.split()), num_hidden_layers=layers, **SIZES)
        BertModel(config).save_pretrained(folder)
        BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=48).save_pretrained(folder)
        return folder

    return make
