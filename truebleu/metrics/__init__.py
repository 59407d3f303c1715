"""The metrics, one per file, and what they share: parameters, signatures, tables, scores."""

from truebleu.metrics import registry

__all__ = ["registry"]
