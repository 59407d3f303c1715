"""The same table, summed where the data is: what every engine shares.

`Sums` is all that engines exchange: each makes one beside its part of the data, and they add up.
`intervals` and `compare` say how sure the scores are when there are too many segments to keep.
"""

from truebleu.engines.aggregates import Sums, bucket_of
from truebleu.engines.hash_buckets import compare, intervals

__all__ = ["Sums", "bucket_of", "compare", "intervals"]
