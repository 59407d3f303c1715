"""Scores of all hypotheses against all references, for MBR decoding and measures of diversity."""
