"""Metrics against human judgement: how far a metric agrees with people, and how surely.

matrix.py      scores of systems on items, with holes
statistics.py  the statistics of the metrics tasks
tests.py       is one metric's agreement better than another's?
files.py       people's scores and metrics' scores from files of every kind
tree.py        the folders of mt-metrics-eval
presets.py     facts of the years of WMT: tasks, outliers, references
judged.py      a set of systems that people judged
given.py       such a set of scores that somebody gives
tasks.py       what is asked for
table.py       from both to the results
"""

from truebleu.meta_evaluation.matrix import Matrix as Matrix
from truebleu.meta_evaluation.statistics import Value as Value
from truebleu.meta_evaluation.statistics import acc_eq as acc_eq
from truebleu.meta_evaluation.statistics import acc_eq_opt as acc_eq_opt
from truebleu.meta_evaluation.statistics import kendall_like as kendall_like
from truebleu.meta_evaluation.statistics import pairwise as pairwise
from truebleu.meta_evaluation.statistics import pearson as pearson
from truebleu.meta_evaluation.statistics import spa as spa
from truebleu.meta_evaluation.statistics import spearman as spearman
from truebleu.meta_evaluation.statistics import tau_b as tau_b
from truebleu.meta_evaluation.statistics import tau_c as tau_c
