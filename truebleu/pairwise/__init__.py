"""Scores of all hypotheses against all references, for MBR decoding and diversity."""
