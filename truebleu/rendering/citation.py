"""Works to cite: the papers on BLEU and its signatures, and the program."""

from pathlib import Path

from truebleu._kernel import __version__


def get_bibtex() -> str:
    """Return the entries for BibTeX."""
    entries = Path(__file__).with_name("citation.bib").read_text(encoding="utf-8")
    return entries.replace("@VERSION@", __version__)
