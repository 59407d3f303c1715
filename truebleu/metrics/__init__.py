"""Metrics, one per module, and their shared parameters, signatures, tables and scores."""

from truebleu.metrics import registry

__all__ = ["registry"]
