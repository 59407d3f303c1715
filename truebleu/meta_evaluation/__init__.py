"""Meta-evaluation: how well metrics agree with human scores, with tests and intervals.

score_files.py           matrices of scores by system and item, and the files that contain them
human_scores.py          human scores of a set of systems, from Python or mt-metrics-eval folders
tasks.py                 the columns of the table, and facts about each year of WMT
agreement_statistics.py  the statistics of the metrics tasks
metric_comparison.py     significance tests for differences between metric-human correlations
meta_results.py          the results as a dict of JSON-compatible values
meta_layout.py, charts.py  the results as sentences, tables and charts
meta_view.py             the entry point
error_spans.py           errors that annotators marked in translations, and the files with them
auto_rank.py             the automatic ranking of WMT's general translation task
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
