"""What to cite: the paper of BLEU, the paper of its signatures, and the program."""

from truebleu._kernel import __version__


def bibtex() -> str:
    """The entries, for BibTeX."""
    return ENTRIES.replace("@VERSION@", __version__)


ENTRIES = """\
@inproceedings{papineni-etal-2002-bleu,
    title = "{B}leu: a Method for Automatic Evaluation of Machine Translation",
    author = "Papineni, Kishore and Roukos, Salim and Ward, Todd and Zhu, Wei-Jing",
    booktitle = "Proceedings of the 40th Annual Meeting of the
        Association for Computational Linguistics",
    month = jul,
    year = "2002",
    address = "Philadelphia, Pennsylvania, USA",
    publisher = "Association for Computational Linguistics",
    url = "https://aclanthology.org/P02-1040/",
    doi = "10.3115/1073083.1073135",
    pages = "311--318"
}

@inproceedings{post-2018-call,
    title = "A Call for Clarity in Reporting {BLEU} Scores",
    author = "Post, Matt",
    booktitle = "Proceedings of the Third Conference on Machine Translation: Research Papers",
    month = oct,
    year = "2018",
    address = "Brussels, Belgium",
    publisher = "Association for Computational Linguistics",
    url = "https://aclanthology.org/W18-6319/",
    doi = "10.18653/v1/W18-6319",
    pages = "186--191"
}

@software{truebleu,
    title = "truebleu: Every {BLEU} There Is, Exact, Explained, and as Fast as Reading the File",
    author = "{The truebleu authors}",
    version = "@VERSION@"
}
"""
