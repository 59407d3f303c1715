"""BLEU, chrF and TER."""

from .bleu import BLEU, BLEUScore
from .chrf import CHRF, CHRFScore
from .ter import TER, TERScore

__all__ = ["BLEU", "CHRF", "METRICS", "TER", "BLEUScore", "CHRFScore", "TERScore"]

METRICS = {"BLEU": BLEU, "CHRF": CHRF, "TER": TER}
