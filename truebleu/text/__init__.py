"""Readers of segments in files, columns and lists, and tokenizers that split the segments."""
