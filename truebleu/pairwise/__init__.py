"""Scores of all hypotheses with all references, for MBR decoding and measures of diversity."""
