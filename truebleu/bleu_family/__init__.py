"""The BLEU family as data, and which member of it gives a number."""
