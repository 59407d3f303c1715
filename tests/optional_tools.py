"""What some metrics need beside Python's packages, and why their tests are skipped without it."""

import functools

from truebleu import InputError


@functools.cache
def lacking(name: str) -> str:
    """What the metric of this name lacks here, in a sentence; nothing if it has all."""
    try:
        if name == "meteor":
            from truebleu.metrics import meteor_process

            meteor_process.find_java()
            meteor_process.check_paraphrases(meteor_process.find_jar(), "en")
        elif name == "meteor-nltk":
            from truebleu.metrics.nltk_wordnet import load_wordnet

            load_wordnet()
    except (ImportError, InputError) as error:
        return str(error)
    return ""
