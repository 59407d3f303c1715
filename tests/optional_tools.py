"""Programs and data besides Python packages that some metrics' tests need."""

import functools

from truebleu import InputError


@functools.cache
def lacking(name: str) -> str:
    """Return a sentence about what this metric lacks on this machine, or "" if nothing."""
    try:
        if name == "meteor":
            from truebleu.metrics import meteor_process

            meteor_process.find_java()
            meteor_process.find_paraphrase_table(meteor_process.find_jar(), "en")
        elif name == "meteor-nltk":
            from truebleu.metrics.nltk_wordnet import load_wordnet

            load_wordnet()
    except (ImportError, InputError) as error:
        return str(error)
    return ""
