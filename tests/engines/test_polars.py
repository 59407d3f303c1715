"""Polars: sums of frames and lazy frames are exact, and expressions score rows."""

import pytest

pytest.importorskip("polars", reason="Polars is not installed")
pytest.importorskip("pyarrow", reason="the cases are made with pyarrow")

import polars as pl
from contract import (
    CASES,
    LISTS,
    Rows,
    check_every_function,
    check_every_metric,
    make_rows,
    run_script,
)

import truebleu
from truebleu import InputError
from truebleu.engines import Sums
from truebleu.engines import polars as engine


def make_frame(columns, layouts):
    """Create a frame; Polars has one layout each for strings and lists, and categories."""
    types = dict.fromkeys(LISTS, pl.List(pl.String)) | {"dictionary": pl.Categorical}
    return pl.DataFrame(
        [
            pl.Series(name, values, types.get(layouts.get(name), pl.String))
            for name, values in columns.items()
        ]
    )


def run_in_parts(batches, **options) -> Sums:
    first, *remaining = [engine.sums(batch.lazy(), **options) for batch in batches]
    for part in remaining:
        first.merge(part)
    return first


RUNS = {
    "frame": lambda batches, **options: engine.sums(pl.concat(batches), **options),
    "lazy frame": lambda batches, **options: engine.sums(pl.concat(batches).lazy(), **options),
    "in parts": run_in_parts,
    "in turn": lambda batches, **options: engine.sums(map(pl.DataFrame.lazy, batches), **options),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_contract(case, run):
    case(run, make=make_frame)


TEXT = make_rows(21, 300)
TEXT = Rows(TEXT.hyp, TEXT.ref, [i % 3 for i in range(300)])


@pytest.fixture
def frame():
    return pl.DataFrame({"system": TEXT.group, "hyp": TEXT.hyp, "ref": TEXT.ref})


@pytest.fixture(params=["files", "frames"])
def data(request, frame, tmp_path):
    """Return the same rows in several frames, and in files."""
    if request.param == "frames":
        return [frame[:10], frame[10:250].lazy(), frame[:0].lazy(), frame[250:]]
    for number in range(3):
        frame.slice(number * 100, 100).write_parquet(tmp_path / f"{number}.parquet")
    return pl.scan_parquet(tmp_path / "*.parquet")


def test_group_scores_are_a_frame(data):
    scores = engine.corpus_bleu(data, by="system", tokenize="intl")
    types = {"system": pl.Int64, "score": pl.Float64, "segments": pl.Int64, "signature": pl.String}
    assert scores.schema == types
    assert {truebleu.metric(signature).tokenize for signature in scores["signature"]} == {"intl"}
    assert scores["segments"].to_list() == [100] * 3
    for system, score in scores.select("system", "score").rows():
        hyp, ref = TEXT.hyp[system::3], TEXT.ref[system::3]
        assert score == truebleu.BLEU(tokenize="intl").score(hyp, ref).value


def test_frames_are_read_sequentially(frame, monkeypatch):
    events = []

    def frames():
        for number in range(3):
            events.append(f"frame {number}")
            yield frame[100 * number : 100 * number + 100].lazy()

    update = Sums.update
    monkeypatch.setattr(
        Sums, "update", lambda sums, batch: events.append(len(batch)) or update(sums, batch)
    )
    engine.sums(frames())
    assert events == ["frame 0", 100, "frame 1", 100, "frame 2", 100]


# ---- expressions ----


@pytest.mark.parametrize("kind", ["eager", "lazy", "streaming", "over files"])
def test_expression_scores_rows(frame, kind, tmp_path):
    expressions = {
        "bleu": engine.sentence_bleu("hyp", "ref"),
        "chrf": engine.sentence_chrf(pl.col("hyp"), pl.col("ref"), word_order=2),
        "ter": engine.sentence_ter("hyp", "ref"),
    }
    if kind == "eager":
        scores = frame.select(**expressions)
    elif kind == "over files":
        frame.write_parquet(tmp_path / "rows.parquet", row_group_size=37)
        scores = pl.scan_parquet(tmp_path / "rows.parquet").select(**expressions).collect()
    else:
        collect_options = {"engine": "streaming"} if kind == "streaming" else {}
        scores = frame.lazy().select(**expressions).collect(**collect_options)
    for name, metric in (("bleu", "bleu"), ("chrf", "chrf++"), ("ter", "ter")):
        expected = truebleu.metric(metric).segments(TEXT.hyp, TEXT.ref).tolist()
        assert scores[name].to_list() == expected


def test_rows_without_text_have_null_scores():
    frame = pl.DataFrame(
        {
            "hyp": ["a b", "c", None, "d", ""],
            "ref": ["a b", None, "x", "d", "x"],
            "several": [["x", "a b"], [], ["x"], [None], [None, "x"]],
        }
    )
    scores = frame.select(
        one=engine.sentence_chrf("hyp", "ref").round(),
        several=engine.sentence_chrf("hyp", "several").round(),
        either=engine.sentence_chrf("hyp", ["ref", "several"]).round(),
        literal=engine.sentence_chrf("hyp", pl.lit("a b")).round(),
        nothing=engine.sentence_chrf("hyp", pl.lit(None, dtype=pl.String)),
    )
    assert scores["one"].to_list() == [100, None, None, 100, 0]
    assert scores["several"].to_list() == [100, None, None, None, 0]
    assert scores["either"].to_list() == [100, None, None, 100, 0]
    assert scores["literal"].to_list() == [100, 0, None, 0, 0]
    assert scores["nothing"].to_list() == [None] * 5
    assert frame.clear().select(engine.sentence_bleu("hyp", "ref")).height == 0


@pytest.mark.parametrize("columns", [("hyp", "system"), ("system", "hyp")])
def test_expression_without_text_raises_error(frame, columns):
    with pytest.raises(Exception, match="found an Arrow column of int64"):
        frame.select(engine.sentence_bleu(*columns))


# ---- invalid input ----


def test_invalid_arguments_raise_error(frame):
    renamed = iter([frame, frame.lazy().rename({"ref": "reff"})])
    objects = frame.with_columns(pl.Series("key", [object()] * len(frame), pl.Object))
    for data, options, message in (
        (frame.lazy(), {"hyp": "hpy"}, "no column 'hpy'; did you mean 'hyp'"),
        (frame.select("ref", hyp="system"), {}, "hyp.*int64"),
        (frame.clear().lazy(), {}, "no segments to score"),
        ({"hyp": ["a"], "ref": ["a"]}, {}, "DataFrame or LazyFrame, found dict"),
        (["outputs.parquet"], {}, "DataFrame or LazyFrame, found str"),
        (renamed, {}, "^frame 2: no column 'ref'; did you mean 'reff'"),
        ([], {}, "no segments to score"),
        (frame, {"tokenise": "intl"}, "tokenise"),
        (frame, {"hyp": pl.col("hyp")}, "hyp: expected a column name, found <Expr"),
        (frame.with_columns(score=1), {"by": "score"}, "by: 'score' is the name of a result colu"),
        (objects, {"by": "key"}, "column 'key' is of type Object; cast it"),
    ):
        with pytest.raises((InputError, TypeError), match=message):
            engine.corpus_bleu(data, **options)
    with pytest.raises(ValueError, match="ref: expected at least one reference column"):
        engine.sentence_bleu("hyp", [])


def test_error_names_first_null_row(tmp_path):
    rows = 30_000
    for number in range(8):
        frame = pl.DataFrame({"hyp": ["a b"] * rows, "ref": ["a b"] * rows})
        if number in (2, 6):
            frame[8 - number, "hyp"] = None
        frame.write_parquet(tmp_path / f"{number}.parquet", row_group_size=4000)
    scan = pl.scan_parquet(tmp_path / "*.parquet")
    for data in (*[scan] * 5, map(pl.scan_parquet, sorted(tmp_path.glob("*.parquet")))):
        with pytest.raises(InputError, match=r"'hyp' is null in 2 rows \(first known: row 60007\)"):
            engine.corpus_bleu(data)


def test_pyarrow_is_optional(frame, tmp_path):
    path = tmp_path / "rows.parquet"
    frame.write_parquet(path)
    script = f"""
import sys
sys.modules["pyarrow"] = None
import polars as pl
from truebleu.engines import polars as engine
frame = pl.read_parquet({str(path)!r})
for data in (frame, frame.lazy(), pl.scan_parquet({str(path)!r})):
    print(engine.sums(data, by="system").to_bytes().hex())
print(engine.corpus_bleu(frame, by="system").height)
print(frame.select(engine.sentence_bleu("hyp", "ref").is_not_null().sum()).item())
"""
    done = run_script(script)
    expected = Sums(by="system").update(frame).to_bytes().hex()
    assert done.stdout.splitlines() == [*[expected] * 3, "3", "300"], done.stderr


def test_releases_without_batches_raise_error(frame, monkeypatch):
    monkeypatch.delattr(pl.LazyFrame, "collect_batches")
    with pytest.raises(ImportError, match=r"Install Polars 1\.34 or newer"):
        engine.corpus_bleu(frame.lazy())
    assert engine.corpus_bleu(frame) == truebleu.bleu(TEXT.hyp, TEXT.ref)


@pytest.mark.thorough
def test_every_function_with_every_metric():
    check_every_function(engine, pl.DataFrame, pl.DataFrame.to_arrow)
    check_every_function(engine, lambda table: pl.DataFrame(table).lazy(), pl.DataFrame.to_arrow)


def test_every_metric_is_supported_or_rejected():
    def by_row(hyp, ref, metric):
        frame = pl.DataFrame({"hyp": hyp, "ref": ref})
        return frame.select(s=engine.sentence("hyp", "ref", metric=metric))["s"].to_list()

    check_every_metric(
        lambda hyp, ref, metric: engine.score(pl.DataFrame({"hyp": hyp, "ref": ref}), metric=metric)
    )
    check_every_metric(by_row, by_row=True)


def test_metric_functions_have_names_and_docstrings():
    import inspect

    assert engine.corpus_chrf.__name__ == "corpus_chrf"
    assert "truebleu.CHRF" in engine.corpus_chrf.__doc__
    assert "metric" not in inspect.signature(engine.corpus_chrf).parameters
    with pytest.raises(TypeError, match="metric"):
        engine.corpus_chrf(None, metric="bleu")


def test_score_suggests_metric_instead_of_metrics():
    frame = pl.DataFrame({"hyp": ["a b"], "ref": ["a b"]})
    with pytest.raises(TypeError, match="no parameter 'metrics'; did you mean 'metric'"):
        engine.score(frame, metrics="bleu")
