"""Tokenizers of trained SentencePiece models, which are downloaded."""

from __future__ import annotations

import os

from truebleu.text import sentencepiece

from .._download import download_file
from .._files import SACREBLEU_DIR
from .._messages import logger
from .tokenizer_base import BaseTokenizer

_ADDRESSES = {
    "flores101": "https://dl.fbaipublicfiles.com/fairseq/models/flores/"
    "sacrebleu_tokenizer_spm.model",
    "flores200": "https://tinyurl.com/flores200sacrebleuspm",
    "spBLEU-1K": "https://www.dlnlp.ai/spBLEU-1K/spbleu-1k_tokenizer_spm.model",
}
SPM_MODELS = {name: {"url": url, "signature": name} for name, url in _ADDRESSES.items()}
SPM_MODELS["spm"] = SPM_MODELS["flores101"]


class TokenizerSPM(BaseTokenizer):
    """Pieces of words; the model is kept under $SACREBLEU/models."""

    KEY = "spm"

    def __init__(self, key: str | None = None) -> None:
        key = self.KEY if key is None else key
        model = SPM_MODELS[key]
        self.name = model["signature"]
        if key == "spm":
            logger().warning(
                "Tokenizer 'spm' has been changed to 'flores101', and may be removed in the future."
            )
        if sentencepiece.found(self.name) is None:
            path = os.path.join(SACREBLEU_DIR, "models", os.path.basename(model["url"]))
            download_file(model["url"], path)
        sentencepiece.loaded(self.name)

    def signature(self) -> str:
        """The name that signatures give the tokenizer: that of its model."""
        return self.name

    def __call__(self, line: str) -> str:
        """The tokens of a line, with spaces between them."""
        return " ".join(sentencepiece.loaded(self.name).pieces(line))


class Flores101Tokenizer(TokenizerSPM):
    """FLORES-101's model."""

    KEY = "flores101"


class Flores200Tokenizer(TokenizerSPM):
    """FLORES-200's model."""

    KEY = "flores200"


class spBLEU1KTokenizer(TokenizerSPM):  # noqa: N801 (programs import this name)
    """spBLEU-1K's model, of a thousand languages."""

    KEY = "spBLEU-1K"
