"""BibTeX entries of works to cite: truebleu, and the papers on BLEU and its signatures."""

from pathlib import Path

from truebleu._kernel import __version__


def get_bibtex() -> str:
    """Return the BibTeX entries to cite."""
    entries = Path(__file__).with_name("citation.bib").read_text(encoding="utf-8")
    return entries.replace("@VERSION@", __version__)
