"""Catalogue of published BLEU implementations, and the search for the one behind a score."""
