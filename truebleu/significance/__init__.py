"""Is the difference real? Confidence intervals and paired tests of systems on the same segments.

What is resampled is the table of statistics (or a column of scores), never the text. All systems
and metrics share the same draws, which are NumPy's, so a seed gives the same numbers everywhere.

The tests, by name:

"ar": paired approximate randomization, the default. If it made no difference which system wrote
    a translation, exchanging the two systems' translations of random segments would give
    differences like the one observed. Eric W. Noreen (1989): Computer-intensive methods for
    testing hypotheses; Stefan Riezler and John T. Maxwell (2005): On some pitfalls in automatic
    evaluation and significance testing for MT. ACL workshop on intrinsic and extrinsic measures.
"bs": paired bootstrap. The differences of resampled test sets, shifted so that their mean is 0,
    are those that can arise by chance (Riezler and Maxwell 2005; Bradley Efron and Robert J.
    Tibshirani 1993: An introduction to the bootstrap).
"bs-sacrebleu": what sacreBLEU 2.6.0 calls paired bootstrap, to its last bit. It takes the absolute
    value before the shift, and so calls twice as many differences significant as it should.
"koehn": the share of resampled test sets that the better system does not win. Philipp Koehn
    (2004): Statistical significance tests for machine translation evaluation. EMNLP. It is
    one-sided: the direction is the observed one.

Segments are drawn and exchanged one by one, or, with `documents`, whole documents are: segments of
one document are alike, and a test that takes them for independent is too sure.

A system with several `runs`, as seeds make them, has their mean as its score, and its tests know
how runs differ; see `truebleu.significance.run_variance`.

docs/significance.md has how often each is wrong, measured.
"""

from truebleu.significance.resampled_metric import Measure as Measure
from truebleu.significance.resampling import CORRECTIONS as CORRECTIONS
from truebleu.significance.resampling import LEVEL as LEVEL
from truebleu.significance.resampling import PAIRS as PAIRS
from truebleu.significance.resampling import RANDOMIZATIONS as RANDOMIZATIONS
from truebleu.significance.resampling import RESAMPLES as RESAMPLES
from truebleu.significance.resampling import TESTS as TESTS
from truebleu.significance.resampling import Resampling as Resampling
from truebleu.significance.resampling import benjamini_hochberg as benjamini_hochberg
from truebleu.significance.resampling import bootstrap_intervals as bootstrap_intervals
from truebleu.significance.resampling import estimate_document_errors as estimate_document_errors
from truebleu.significance.resampling import holm as holm
from truebleu.significance.resampling import run_paired_tests as run_paired_tests
from truebleu.significance.results import ALPHA as ALPHA
from truebleu.significance.results import POWER as POWER
from truebleu.significance.results import Difference as Difference
from truebleu.significance.results import Interval as Interval
from truebleu.significance.results import PairedTests as PairedTests
from truebleu.significance.results import segments_needed as segments_needed
from truebleu.significance.run_variance import Runs as Runs
