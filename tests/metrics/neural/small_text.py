"""Vocabulary of small models, and outputs of three systems that use it."""

from __future__ import annotations

from typing import Any

WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] the cat sat on mat is a dog ##s and it der hund . ,"
HYPOTHESES = ["the cat sat on the mat .", "a dog is it", "dogs and cats", "the mat is on it ."]
REFERENCES = ["the cat is on the mat .", "it is a dog", "cats and dogs", "it is on a mat ."]
SOURCES = ["der cat sat on der mat .", "it is der hund", "cats , hund", "der mat ."]
SECOND_REFERENCES = ["a cat sat on it .", "the dog is it .", "dogs and a cat", "the mat"]
SIZES: dict[str, Any] = {
    "hidden_size": 16,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 48,
}
