"""The pieces of SentencePiece models: spBLEU's tokenizers, and the user's own models.

Naman Goyal et al. (2022): The FLORES-101 evaluation benchmark for low-resource and multilingual
machine translation. TACL. Scores of different models do not compare.
"""

from __future__ import annotations

import os
from functools import cache

from truebleu._kernel import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# The files of sacreBLEU's models, in the folder where sacreBLEU keeps them.
FILES = {
    "flores101": "sacrebleu_tokenizer_spm.model",
    "flores200": "flores200sacrebleuspm",
    "spBLEU-1K": "spbleu-1k_tokenizer_spm.model",
}


def path_of(name: str) -> str:
    """The path of a tokenizer's model, which may not exist."""
    if name.startswith("spm:"):
        return os.path.expanduser(name.removeprefix("spm:"))
    folder = os.environ.get("SACREBLEU", os.path.join(os.path.expanduser("~"), ".sacrebleu"))
    return os.path.join(folder, "models", FILES[name])


@cache
def function(name: str) -> Callable[[str], list[str]]:
    """The pieces of one text. Raises ImportError without the library, InputError for no model."""
    try:
        from sentencepiece import SentencePieceProcessor
    except ImportError as error:
        raise ImportError(
            f"the tokenizer {name} is not installed: pip install sentencepiece"
        ) from error
    path = path_of(name)
    if not os.path.isfile(path):
        where = (
            "" if name.startswith("spm:") else " (sacreBLEU keeps it there; spm:FILE names a copy)"
        )
        raise InputError(f"the tokenizer {name} needs its model, and there is no {path}{where}")
    try:
        model = SentencePieceProcessor(model_file=path)
    except (RuntimeError, OSError) as error:
        raise InputError(f"{path}: not a SentencePiece model ({error})") from None
    # Pieces never hold white space that sacreBLEU's joining and splitting would notice, except
    # rare control characters.
    return lambda text: " ".join(model.EncodeAsPieces(text)).split()
