"""Metrics against human judgement: how far a metric agrees with people, and how surely.

score_files.py        scores of systems on items, with holes, and the files that have them
human_scores.py       a set of systems that people judged: given, or in mt-metrics-eval's folders
tasks.py              the columns of the table, and the facts of the years of WMT
statistics.py         the statistics of the metrics tasks
metric_comparison.py  is one metric's agreement better than another's?
results.py            from all of these to the results
blocks.py, charts.py  the table in sentences, tables and pictures
view.py               the entry point
"""

from truebleu.meta_evaluation.agreement_statistics import Value as Value
from truebleu.meta_evaluation.agreement_statistics import acc_eq as acc_eq
from truebleu.meta_evaluation.agreement_statistics import acc_eq_opt as acc_eq_opt
from truebleu.meta_evaluation.agreement_statistics import kendall_like as kendall_like
from truebleu.meta_evaluation.agreement_statistics import pairwise as pairwise
from truebleu.meta_evaluation.agreement_statistics import pearson as pearson
from truebleu.meta_evaluation.agreement_statistics import spa as spa
from truebleu.meta_evaluation.agreement_statistics import spearman as spearman
from truebleu.meta_evaluation.agreement_statistics import tau_b as tau_b
from truebleu.meta_evaluation.agreement_statistics import tau_c as tau_c
from truebleu.meta_evaluation.score_files import Matrix as Matrix
