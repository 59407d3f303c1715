"""Metrics, one per module, and the parameters, signatures, tables and scores that they share."""

from truebleu.metrics import registry

__all__ = ["registry"]
