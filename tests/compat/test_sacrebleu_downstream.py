"""Other projects' uses of sacreBLEU: their idioms, and the internals that they reach into."""

import inspect
import subprocess
import sys

import numpy as np
import pytest
import sacrebleu
from amounts import daily
from sides import SIDES, module, same, seen

import truebleu.compat.sacrebleu as ours

HYPOTHESES = ["The cat sat on the mat.", "A dog barked at 3.5 cats.", "", "It was (long) ago!"]
FIRST = ["The cat is on the mat.", "A dog barked at 3.5 cats.", "a", "It was long, long ago."]
SECOND = ["A cat sat on a mat.", None, "", "That was long ago!"]
STREAMS = [FIRST, SECOND]

TOKENIZERS = [
    "13a",
    "base",
    "char",
    "intl",
    "ja_mecab",
    "ko_mecab",
    "none",
    "re",
    "spm",
    "ter",
    "zh",
]


def test_training_loops_compute_bleu_from_sums():
    """fairseq: sums of counts in arrays, and only the arguments that the function has."""

    def score(side):
        known = inspect.getfullargspec(side.BLEU.compute_bleu)[0]
        smooth = {"smooth_method": "exp"} if "smooth_method" in known else {"smooth": "exp"}
        bleu = side.BLEU.compute_bleu(
            correct=np.array([30, 20, 10, 0]),
            total=np.array([40, 36, 32, 28]),
            sys_len=int(np.int64(40)),
            ref_len=int(np.int64(44)),
            **smooth,
        )
        return [
            bleu,
            round(bleu.score, 2),
            bleu.format(),
            [type(p).__name__ for p in bleu.precisions],
        ]

    same(score)


def test_evaluation_harnesses_transpose_references():
    """lm-evaluation-harness: streams are a list of tuples."""
    references = [["a b c d", "a b"], ["c d e f", "c d e"], ["x y", "y z"]]
    streams = list(zip(*references, strict=True))
    predictions = ["a b c d", "c d e f g", "x z"]
    for name in ("corpus_bleu", "corpus_chrf", "corpus_ter"):
        same(lambda side, name=name: getattr(side, name)(predictions, streams).score)


def test_datasets_report_the_fields_of_a_score():
    """Hugging Face's evaluate: keyword arguments, then fields one by one."""

    def bleu(side):
        output = side.corpus_bleu(
            HYPOTHESES,
            STREAMS,
            smooth_method="exp",
            smooth_value=None,
            force=False,
            lowercase=False,
            use_effective_order=False,
            tokenize="13a",
        )
        names = ("score", "counts", "totals", "precisions", "bp", "sys_len", "ref_len")
        return {name: getattr(output, name) for name in names}

    def chrf(side):
        from_top = side.CHRF(6, 2, 2, False, False, False)
        output = from_top.corpus_score(HYPOTHESES, STREAMS)
        names = ("score", "char_order", "word_order", "beta")
        return {name: getattr(output, name) for name in names}

    def ter(side):
        metric = side.TER(normalized=True, no_punct=True, asian_support=False, case_sensitive=False)
        output = metric.corpus_score(HYPOTHESES, STREAMS)
        return {name: getattr(output, name) for name in ("score", "num_edits", "ref_length")}

    same(bleu)
    same(chrf)
    same(ter)
    assert int(ours.__version__.split(".")[0]) >= 2


def test_simplification_metrics_tokenize_by_themselves():
    """sari, wiki_split, easse: a tokenizer by its name."""

    def tokens(side):
        if int(side.__version__.split(".")[0]) >= 2:
            return side.metrics.bleu._get_tokenizer("13a")()(HYPOTHESES[1])
        return side.TOKENIZERS["13a"]()(HYPOTHESES[1])

    same(tokens)


def test_a_tokenizer_of_ones_own_by_a_patched_function(monkeypatch):
    class Letters:
        def signature(self):
            return "letters"

        def __call__(self, line):
            return " ".join(c for c in line if c.isalpha())

    def score(side):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(side.metrics.bleu, "_get_tokenizer", lambda name: Letters)
            metric = side.BLEU(tokenize="anything")
            found = [metric.corpus_score(HYPOTHESES, STREAMS), str(metric.get_signature())]
            found += [side.corpus_bleu(HYPOTHESES, STREAMS), side.sentence_bleu("a b", ["a c"])]
        # And none the less afterwards.
        return [*found, side.corpus_bleu(HYPOTHESES, STREAMS), side.sentence_bleu("a b", ["a c"])]

    same(score)


def test_a_tokenizer_that_is_derived_or_set():
    def score(side):
        parent = module(side, "tokenizers.tokenizer_13a").Tokenizer13a

        class Halved(parent):
            def __call__(self, line):
                return super().__call__(line)[: len(line) // 2]

        metric = side.BLEU()
        metric.tokenizer = Halved()
        own = metric.corpus_score(HYPOTHESES, STREAMS)
        # A function does for what is only called.
        metric.tokenizer = lambda line: line.upper()
        return [own, metric.corpus_score(HYPOTHESES, STREAMS), metric._preprocess_segment("a b ")]

    same(score)


def test_a_tokenizer_whose_class_is_patched():
    def score(side):
        cls = module(side, "tokenizers.tokenizer_13a").Tokenizer13a
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cls, "__call__", lambda self, line: " ".join(line))
            patched = side.BLEU().corpus_score(HYPOTHESES, STREAMS)
        return [patched, side.BLEU().corpus_score(HYPOTHESES, STREAMS)]

    same(score)


def test_helpers_that_are_patched():
    def score(side):
        chrf, bleu, ter = side.metrics.chrf, side.metrics.bleu, side.metrics.ter
        with pytest.MonkeyPatch.context() as patch:
            counters = side.metrics.helpers.extract_all_char_ngrams
            patch.setattr(
                chrf,
                "extract_all_char_ngrams",
                lambda line, order, space: counters(line[::2], order),
            )
            words = side.metrics.helpers.extract_all_word_ngrams
            patch.setattr(
                bleu, "extract_all_word_ngrams", lambda line, low, high: words(line[:9], low, high)
            )
            patch.setattr(ter, "translation_edit_rate", lambda hyp, ref: (1, len(ref)))
            return [
                getattr(side, name)().corpus_score(HYPOTHESES, STREAMS)
                for name in ("BLEU", "CHRF", "TER")
            ]

    same(score)


def test_minimum_bayes_risk_reads_kept_references():
    """mbrs: references are prepared once, hypotheses compared by hand."""

    def bleu(side):
        scorer = side.metrics.bleu.BLEU(lowercase=True, effective_order=True)
        words = side.metrics.helpers.extract_all_word_ngrams
        order = side.metrics.bleu.MAX_NGRAM_ORDER
        found = []
        for cache, hypothesis in zip(scorer._cache_references([FIRST]), HYPOTHESES, strict=True):
            ngrams, length = words(scorer._preprocess_segment(hypothesis), 1, order)
            correct, total = [0] * order, [0] * order
            for ngram, count in ngrams.items():
                total[len(ngram) - 1] += count
                correct[len(ngram) - 1] += min(count, cache["ref_ngrams"].get(ngram, 0))
            found.append(
                scorer.compute_bleu(
                    correct,
                    total,
                    length,
                    cache["ref_lens"][0],
                    smooth_method=scorer.smooth_method,
                    smooth_value=scorer.SMOOTH_DEFAULTS[scorer.smooth_method],
                    effective_order=scorer.effective_order,
                    max_ngram_order=scorer.max_ngram_order,
                )
            )
        return found

    def chrf(side):
        scorer = side.CHRF(word_order=2)
        characters = side.metrics.helpers.extract_all_char_ngrams
        words = side.metrics.helpers.extract_word_ngrams
        found = []
        for reference, hypothesis in zip(FIRST, HYPOTHESES, strict=True):
            statistics = []
            pair = [
                characters(line, scorer.char_order, scorer.whitespace)
                + [words(scorer._remove_punctuation(line), n + 1) for n in range(scorer.word_order)]
                for line in (hypothesis, reference)
            ]
            for h, r in zip(*pair, strict=True):
                statistics += scorer._get_match_statistics(h, r)
            found.append(scorer._compute_f_score(statistics))
        return found

    same(bleu)
    same(chrf)
    same(lambda side: side.TER().sentence_score(HYPOTHESES[0], [FIRST[0]]).score)


def test_kept_references_are_a_sequence():
    for name in ("BLEU", "CHRF", "TER"):
        mine, theirs = (getattr(side, name)()._cache_references(STREAMS) for side in SIDES)
        assert seen(list(mine)) == seen(theirs)
        assert seen(mine[1]) == seen(theirs[1])
        assert seen(mine[-1]) == seen(theirs[-1])
        assert seen(mine[1:3]) == seen(theirs[1:3])
        assert len(mine) == len(theirs)
        assert mine == theirs
        assert (mine == theirs[:2], mine != theirs[:2]) == (False, True)


def test_comparisons_sum_statistics_of_their_own_choice():
    """compare-mt: statistics of segments, summed for buckets."""

    def buckets(side):
        stats = np.array(side.BLEU()._extract_corpus_statistics(HYPOTHESES, [FIRST]))
        total = stats[[0, 1, 3]].sum(axis=0)
        score = side.BLEU.compute_bleu(
            correct=total[2:6], total=total[6:10], sys_len=int(total[0]), ref_len=int(total[1])
        )
        return [score.score, stats.tolist(), str(stats.dtype)]

    same(buckets)


def test_a_subclass_that_forgets_common_ngrams():
    """CrystalBLEU and its like: n-grams that everybody has do not count."""
    common = {("the",), ("on", "the"), ("a",)}

    def score(side):
        base = module(side, "metrics.base")
        assert issubclass(side.metrics.bleu.BLEUSignature, base.Signature)

        class Crystal(side.metrics.bleu.BLEU):
            def _extract_reference_info(self, refs):
                info = super()._extract_reference_info(refs)
                for ngram in common:
                    info["ref_ngrams"].pop(ngram, None)
                return info

        metric = Crystal()
        kept = Crystal(references=STREAMS)
        return [
            metric.corpus_score(HYPOTHESES, STREAMS),
            metric.sentence_score(HYPOTHESES[0], ["The cat is on the mat.", "on the mat"]),
            kept.corpus_score(HYPOTHESES, None),
            str(metric.get_signature()),
        ]

    same(score)


def test_a_metric_whose_instance_is_patched():
    def score(side):
        metric = side.BLEU()
        metric._preprocess_segment = str.lower
        counted = metric.corpus_score(HYPOTHESES, STREAMS)
        metric = side.BLEU()
        metric._compute_score_from_stats = list
        other = side.CHRF()
        other._aggregate_and_compute = lambda stats: stats
        return [
            counted,
            metric.corpus_score(HYPOTHESES, STREAMS),
            other.corpus_score(HYPOTHESES, STREAMS),
            other.sentence_score("a b", ["a c"]),
        ]

    same(score)


def test_a_metric_of_ones_own():
    """Word error rate on the base class."""

    def score(side):
        base = module(side, "metrics.base")
        distance = side.metrics.lib_ter.BeamEditDistance
        total = module(side, "utils").sum_of_lists

        class Signature(base.Signature):
            def __init__(self, args):
                super().__init__(args)
                self._abbr["unit"] = "u"
                self.info["unit"] = args["unit"]

        class WordErrors(base.Metric):
            _SIGNATURE_TYPE = Signature

            def __init__(self, references=None):
                super().__init__()
                self.unit = "word"
                if references is not None:
                    self._ref_cache = self._cache_references(references)

            def _preprocess_segment(self, sent):
                return sent.lower().strip()

            def _extract_reference_info(self, refs):
                return {"refs": [ref.split() for ref in refs]}

            def _compute_segment_statistics(self, hypothesis, ref_kwargs):
                words = hypothesis.split()
                return list(min((distance(r)(words)[0], len(r)) for r in ref_kwargs["refs"]))

            def _compute_score_from_stats(self, stats):
                return base.Score("WER", 100 * stats[0] / stats[1])

            def _aggregate_and_compute(self, stats):
                return self._compute_score_from_stats(total(stats))

        metric = WordErrors()
        found = [
            metric.corpus_score(HYPOTHESES, STREAMS),
            str(metric.get_signature()),
            metric.get_signature().format(short=True),
            metric.sentence_score("a b", ["a c"]),
        ]
        return [*found, WordErrors(references=STREAMS).corpus_score(HYPOTHESES, None)]

    same(score)


def test_edits_and_shifts():
    def edits(side):
        ter = side.metrics.lib_ter
        a, b = list("abcdef"), list("deabcxf")
        distance = ter.BeamEditDistance(b)
        cost, trace = distance(a)
        return [
            ter.translation_edit_rate(a, b),
            ter.translation_edit_rate(a, []),
            ter.translation_edit_rate([], a),
            cost,
            trace,
            distance(a),
            distance([]),
            list(map(list, ter.trace_to_alignment(trace)[1:])),
            sorted(ter.trace_to_alignment(trace)[0].items()),
        ]

    same(edits)


WORDS = [f"w{i % 17}" for i in range(150)]


@pytest.mark.parametrize(
    ("hypothesis", "reference"),
    daily(
        [
            (["x"] * 3, WORDS),
            (WORDS[25:50] + WORDS[:25], WORDS[:50]),
            (WORDS[:30], WORDS + WORDS[::-1]),
            (WORDS, WORDS[::-1]),
            (WORDS + WORDS, WORDS[5:20]),
            (WORDS[60:] + WORDS[:60], WORDS),
        ],
        2,
    ),
)
def test_long_segments_of_edits(hypothesis, reference):
    """The limits on shifts, and on cells around the diagonal."""
    same(lambda side: side.metrics.lib_ter.translation_edit_rate(hypothesis, reference))
    same(lambda side: side.metrics.lib_ter.BeamEditDistance(reference)(hypothesis))


@pytest.mark.parametrize(
    "statement",
    [
        "import truebleu.compat.sacrebleu",
        "import truebleu.compat.sacrebleu as s; s.corpus_bleu(['a'], [['a']]); s.BLEU()",
        "import truebleu.compat.sacrebleu as s; s.sentence_chrf('a', ['a'])",
        "import truebleu.compat.sacrebleu.metrics.bleu",
        "import truebleu.compat.sacrebleu.version",
    ],
)
def test_importing_costs_little_and_does_nothing(statement, tmp_path):
    script = f"""
import signal, sys
before = set(sys.modules), signal.getsignal(signal.SIGPIPE)
{statement}
assert signal.getsignal(signal.SIGPIPE) == before[1]
loaded = {{name.split(".")[0] for name in set(sys.modules) - before[0]}}
assert loaded - sys.stdlib_module_names == {{"truebleu"}}, loaded
heavy = {{"argparse", "gzip", "json", "logging", "multiprocessing", "re", "statistics", "typing"}}
assert not loaded & heavy, loaded & heavy
"""
    environment = {"HOME": str(tmp_path), "PATH": "", "PYTHONDONTWRITEBYTECODE": "1"}
    environment["PYTHONPATH"] = ":".join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-S", "-c", script],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert list(tmp_path.iterdir()) == []


def test_what_is_bound_only_after_an_import():
    script = """
import truebleu.compat.sacrebleu as s
assert not hasattr(s, "significance")
assert not hasattr(s, "sacrebleu")
import truebleu.compat.sacrebleu.significance
assert s.significance.PairedTest
from truebleu.compat.sacrebleu import *
assert callable(corpus_bleu) and DATASETS
assert {"BLEU", "metrics", "dataset", "corpus_ter"} <= set(dir(s))
try:
    s.nothing
except AttributeError as error:
    assert "has no attribute 'nothing'" in str(error)
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_tokenizers_do_not_pin_what_they_are_given():
    """The original keeps every tokenizer, and 65,536 lines of each, as long as the process runs."""
    import gc
    import weakref

    for name in ("13a", "zh", "intl", "char"):
        tokenizer = ours.metrics.bleu._get_tokenizer(name)()
        tokenizer("a line")
        watch = weakref.ref(tokenizer)
        del tokenizer
        gc.collect()
        assert watch() is None


def test_functions_make_no_metric_twice():
    from truebleu.compat.sacrebleu import compat

    compat._kept.cache_clear()
    for _ in range(5):
        ours.sentence_bleu("a b", ["a c"])
        ours.sentence_bleu("a b", ["a c"], smooth_method="add-k", smooth_value=1)
        # Counts are floats after a float was added.
        floats = ours.sentence_bleu("a b", ["a c"], smooth_method="add-k", smooth_value=1.0)
        assert [type(count) for count in floats.counts] == [int, float, float, float]
        ours.sentence_bleu("a b", ["a c"], "floor", np.array(0.5))
    assert compat._kept.cache_info().misses <= 3 + 5


def test_sacrebleu_modules_have_all_names():
    """Every module of the original, and every name in it that is its own."""
    names = [
        "compat",
        "metrics",
        "metrics.base",
        "metrics.bleu",
        "metrics.chrf",
        "metrics.helpers",
        "metrics.lib_ter",
        "metrics.ter",
        "significance",
        "tokenizers",
        "version",
        *(f"tokenizers.tokenizer_{name}" for name in TOKENIZERS),
    ]
    # Names of use in these modules alone.
    inner = {"TYPE_CHECKING", "VERSION_TUPLE", "COMMIT_ID", "IS_WINDOWS", "MeCab"}
    for name in names:
        theirs, mine = (module(side, name) for side in SIDES)
        own = {
            key
            for key, value in vars(theirs).items()
            if getattr(value, "__module__", theirs.__name__) == theirs.__name__
            and not key.startswith("__")
            and (not key.startswith("_") or name in ("significance", "metrics.bleu"))
            and not inspect.ismodule(value)
        }
        missing = {key for key in own - inner if not hasattr(mine, key)}
        assert not missing, (name, missing)
    assert sacrebleu.__version__ == ours.__version__
