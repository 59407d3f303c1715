"""Confidence intervals and paired significance tests for systems that share the same segments.

Resampling uses the statistics (or segment scores), never the texts. All systems and metrics share
the same random draws, which equal NumPy's, so a seed gives the same results on every platform.

Tests by name (docs/significance.md describes them, and reports their measured error rates):

"ar": paired approximate randomization, the default. Eric W. Noreen (1989): Computer-intensive
    methods for testing hypotheses; Stefan Riezler and John T. Maxwell (2005): On some pitfalls in
    automatic evaluation and significance testing for MT. ACL workshop on intrinsic and extrinsic
    measures.
"bs": paired bootstrap, with differences shifted to a mean of 0 (Riezler and Maxwell 2005; Bradley
    Efron and Robert J. Tibshirani 1993: An introduction to the bootstrap).
"bs-sacrebleu": the paired bootstrap of sacreBLEU 2.6.0, bit for bit. It takes the absolute value
    before the shift, and therefore finds twice as many significant differences as it should.
"koehn": the share of resampled test sets that the better system does not win. Philipp Koehn
    (2004): Statistical significance tests for machine translation evaluation. EMNLP.

Segments are resampled and swapped one by one or, with `documents`, by document. With `runs`, tests
include the variance between runs; see `truebleu.significance.results`.
"""

from truebleu.significance.resampled_metric import Measure as Measure
from truebleu.significance.resampling import LEVEL as LEVEL
from truebleu.significance.resampling import RANDOMIZATIONS as RANDOMIZATIONS
from truebleu.significance.resampling import RESAMPLES as RESAMPLES
from truebleu.significance.resampling import TESTS as TESTS
from truebleu.significance.resampling import bootstrap_intervals as bootstrap_intervals
from truebleu.significance.resampling import estimate_document_errors as estimate_document_errors
from truebleu.significance.resampling import run_paired_tests as run_paired_tests
from truebleu.significance.results import CORRECTIONS as CORRECTIONS
from truebleu.significance.results import Difference as Difference
from truebleu.significance.results import Interval as Interval
from truebleu.significance.results import PairedTests as PairedTests
from truebleu.significance.results import benjamini_hochberg as benjamini_hochberg
from truebleu.significance.results import holm as holm
from truebleu.significance.results import segments_needed as segments_needed
