"""Works to cite: the paper of BLEU, the paper of its signatures, and the program."""

from pathlib import Path

from truebleu._kernel import __version__


def get_bibtex() -> str:
    """The entries, for BibTeX."""
    entries = Path(__file__).with_name("citation.bib").read_text(encoding="utf-8")
    return entries.replace("@VERSION@", __version__)
