"""Scores of all hypotheses with all references: MBR decoding and diversity."""
