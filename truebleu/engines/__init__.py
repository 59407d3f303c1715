"""Scoring in data engines: statistics are aggregated where the data is stored.

Engines exchange only `Sums`: each worker aggregates its part of the data, and the parts are merged.
`intervals` and `compare` estimate uncertainty when there are too many segments to keep in memory.
"""

from truebleu.engines.aggregates import Sums, bucket_of
from truebleu.engines.hash_buckets import compare, intervals

__all__ = ["Sums", "bucket_of", "compare", "intervals"]
