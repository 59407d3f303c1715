"""Tests of METEOR 1.5, compared exactly with its program, and of the program's processes."""

import os
import random
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given
from optional_tools import lacking

import truebleu as tb
from truebleu import InputError
from truebleu.metrics import meteor_process
from truebleu.metrics.base import MetricFailedError
from truebleu.metrics.meteor import LANGUAGES, METEOR, _list_tasks

pytestmark = pytest.mark.thorough

LACKING = lacking("meteor")
PROGRAM = []
if not LACKING:
    options = ["-Xmx2G", "-XX:+UseSerialGC", "-jar"]
    PROGRAM = [meteor_process.find_java(), *options, meteor_process.find_jar()]
with_program = pytest.mark.skipif(bool(LACKING), reason=LACKING)

QUICK = METEOR(modules=["exact", "stem", "synonym"])
WORDS = """
    the a of in was is walks walked walking dog dogs cat house home big large quick fast , . ' -
    don't 3.14 1,000 U.S. naïve can’t “ok” A&B | || Mr. e.g. 20th said says children child
"""


def run_program(folder: Path, hypotheses, references, *options: str, count: int = 1):
    """Return the program's numbers per segment (P, R, penalty, score) and for the corpus."""
    for name, lines in (("hyp", hypotheses), ("ref", references)):
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    files = [str(folder / name) for name in ("hyp", "ref")]
    command = [*PROGRAM, *files, *options, "-vOut", "-r", str(count)]
    done = subprocess.run(command, capture_output=True, check=True, encoding="utf-8")
    *lines, corpus_line = done.stdout.splitlines()
    segment_numbers = [
        [float(number) for number in line.split("\t")[1:]]
        for line in lines
        if line.startswith("Segment")
    ]
    return segment_numbers, float(corpus_line.split()[-1])


def ask_eval_id(*options: str) -> str:
    """Return the program's Eval ID of a setting, which it prints before loading tables."""
    with subprocess.Popen(
        [*PROGRAM, "-", "-", *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        lines = map(bytes.decode, process.stdout)
        program_id = next(line.split()[-1] for line in lines if line.startswith("Eval ID"))
        process.kill()
    return program_id


def random_texts(seed: int, count: int) -> list[str]:
    dice = random.Random(seed)
    return [" ".join(dice.choices(WORDS.split(), k=dice.randrange(0, 16))) for _ in range(count)]


def assert_equals_program(
    metric: METEOR, folder: Path, hypotheses, references, count: int = 1
) -> None:
    """Assert that all segment and corpus numbers are identical to the program's."""
    flat = [text for several in references for text in several] if count > 1 else references
    options = ["-norm"] if metric.normalize is True else []
    modules = " ".join(metric._used_modules)
    setting_options = ["-l", metric.language, "-m", modules, "-t", metric._resolved_task]
    segment_numbers, corpus_numbers = run_program(
        folder, hypotheses, flat, *options, *setting_options, count=count
    )
    table = metric.statistics(hypotheses, references)
    assert metric.from_statistics(table).published == corpus_numbers
    assert len(segment_numbers) == len(table)
    names = ("precision", "recall", "fragmentation_penalty")
    for row, (*parts, score) in zip(table.tolist(), segment_numbers, strict=True):
        row_score = metric.from_statistics(row)
        assert row_score.published == score
        # The program prints NaN after a division by 0; the score is then 0.
        if all(part == part for part in parts):
            assert [getattr(row_score, name) for name in names] == parts


# ---- the program's numbers ----


@with_program
@pytest.mark.parametrize(
    ("modules", "expected"),
    [
        (None, 0.36562190758709817),
        (["exact", "stem"], 0.33269662760897345),
        (["exact", "stem", "synonym"], 0.3489931008962777),
    ],
)
def test_wmt22_scores_equal_program(modules, expected, wmt22, tmp_path):
    """All numbers of Online-G's 1,984 segments with reference A are equal."""
    hypotheses, references = (
        (wmt22 / name).read_text(encoding="utf-8").split("\n")[:-1]
        for name in (
            "system-outputs/generaltest2022.de-en.hyp.Online-G.en",
            "references/generaltest2022.de-en.ref.A.en",
        )
    )
    metric = METEOR(modules=modules)
    assert metric.score(hypotheses, references).published == expected
    assert_equals_program(metric, tmp_path, hypotheses, references)


@with_program
@pytest.mark.parametrize(
    "metric",
    [
        QUICK,
        METEOR(modules=["exact", "stem"], normalize=False),
        METEOR("de", modules=["exact", "stem"]),
        METEOR(task="adq", modules=["stem", "exact"]),
        METEOR(task="li", modules=["exact", "synonym"]),
    ],
    ids=lambda metric: metric.eval_id,
)
def test_random_text_equals_program(metric, tmp_path):
    assert_equals_program(metric, tmp_path, random_texts(1, 400), random_texts(2, 400))


@with_program
@pytest.mark.parametrize(
    "metric", [QUICK, METEOR(task="hter", modules=["exact"])], ids=lambda metric: metric.eval_id
)
def test_best_of_several_references_counts(metric, tmp_path):
    """The reference with the best score counts, as with the program's option `-r 3`."""
    references = list(zip(*(random_texts(seed, 300) for seed in (4, 5, 6)), strict=True))
    assert_equals_program(metric, tmp_path, random_texts(3, 300), references, 3)


@with_program
def test_number_of_references_may_vary():
    hypotheses, first, second = (random_texts(seed, 60) for seed in (7, 8, 9))
    pairs = list(zip(first, second, strict=True))
    mixed = [several[: 1 + i % 2] for i, several in enumerate(pairs)]
    with_none = [(None, *several) for several in pairs]
    mixed_rows, first_rows, pair_rows, none_rows = (
        QUICK.statistics(hypotheses, references).tolist()
        for references in (mixed, first, pairs, with_none)
    )
    assert mixed_rows == [(first_rows, pair_rows)[i % 2][i] for i in range(60)]
    assert none_rows == pair_rows
    assert "nrefs:var" in str(QUICK.score(hypotheses, mixed).signature)


NUMBERS = {"alpha": 0.7, "beta": 0.3, "gamma": 0.4, "delta": 0.6, "weights": [0.9, 0.5]}
NUMBER_OPTIONS = ["-p", "0.7 0.3 0.4 0.6", "-w", "0.9 0.5", "-l", "en", "-norm"]


@with_program
def test_custom_parameters_are_in_the_eval_id():
    metric = METEOR(modules=["exact", "stem"], **NUMBERS)
    assert metric.eval_id == ask_eval_id(*NUMBER_OPTIONS, "-m", "exact stem")
    assert tb.metric(metric.eval_id) == tb.metric(str(metric)) == metric


@with_program
@pytest.mark.parametrize(
    ("parameters", "options"),
    [
        (NUMBERS, NUMBER_OPTIONS),
        ({"no_punct": True}, ["-norm", "-noPunct"]),
        ({"normalize": "lower"}, ["-lower"]),
        ({"characters": True}, ["-norm", "-ch"]),
        ({"characters": True, "normalize": False}, ["-ch"]),
    ],
)
def test_custom_parameters_equal_program(parameters, options, tmp_path):
    metric, texts = METEOR(modules=["exact", "stem"], **parameters), [random_texts(1, 99)]
    texts.append(random_texts(2, 99))
    segment_numbers, corpus_numbers = run_program(tmp_path, *texts, *options, "-m", "exact stem")
    assert metric.score(*texts).published == corpus_numbers
    assert list(metric.segments(*texts)) == [100 * row[-1] for row in segment_numbers]


@with_program
def test_example_of_distribution_has_published_scores():
    """The test reads `example/test.sgm` next to the jar, as in METEOR's archive."""
    folder = Path(PROGRAM[-1]).parent / "example"
    if not (folder / "test.sgm").is_file():
        pytest.skip(f"no {folder}: pycocoevalcap has the jar without it; $METEOR_JAR may name one")

    def read_segments(name: str) -> dict[tuple[str, str], str]:
        segments_by_key, document = {}, ""
        for line in (folder / name).read_text(encoding="utf-8").splitlines():
            document = next(iter(re.findall('docid="([^"]+)"', line)), document)
            for number, text in re.findall(r'<seg id="?([^">]+)"?>(.*?)</seg>', line):
                plain = text.strip().replace("&quot;", '"').replace("&lt;", "<")
                segments_by_key[document, number] = plain.replace("&gt;", ">").replace("&amp;", "&")
        return segments_by_key

    hypotheses, references = read_segments("test.sgm"), read_segments("ref.sgm")
    assert hypotheses.keys() == references.keys()
    pairs = [(hypotheses[key], references[key]) for key in hypotheses]
    score = METEOR().score(*map(list, zip(*pairs, strict=True)))
    assert score.published == 0.299148440516935
    assert (folder / "meteor-sys.scr").read_text().split()[-1] == "0.299148440516935"


# ---- text with special characters ----


@with_program
@pytest.mark.parametrize("metric", [QUICK, METEOR(modules=["exact"], normalize=False)])
def test_bars_and_empty_segments_equal_program(metric, tmp_path):
    """Bars separate texts in the program's protocol, but not in files; segments may be empty."""
    hypotheses = ["a ||| b", "x|||y z", "", "a", "|||", "||||", "SCORE ||| a", "a ||", "|", "b"]
    references = ["a ||| b", "x|||y c", "a", "", "||| a", "||||", "SCORE |||", "|| a", "|", "b"]
    assert_equals_program(metric, tmp_path, hypotheses, references)
    reference_pairs = list(zip(references, hypotheses[::-1], strict=True))
    assert_equals_program(metric, tmp_path, hypotheses, reference_pairs, 2)


@with_program
def test_line_ends_inside_segments_are_white_space():
    expected = QUICK.sentence("the cat sat on", "the cat sat on")
    assert QUICK.sentence("the cat\nsat\r\non", "the\rcat sat\non") == expected


@with_program
def test_lone_surrogate_is_named_in_error():
    with pytest.raises(InputError, match=r"^segment 2 contains a lone surrogate \(U\+D800\)"):
        QUICK.score(["a", "b\ud800"], ["a", "b"])


@with_program
@given(st.lists(st.tuples(st.text(max_size=30), st.text(max_size=30)), min_size=1, max_size=5))
def test_any_text_has_one_row_per_segment(pairs):
    hypotheses, references = map(list, zip(*pairs, strict=True))
    try:
        table = QUICK.statistics(hypotheses, references)
    except InputError as error:
        assert "lone surrogate" in str(error)  # noqa: PT017
        return
    assert len(table) == len(pairs)
    assert all(0 <= value <= 100 for value in QUICK.segment_scores(table))


# ---- parameters, and their names ----


@with_program
@pytest.mark.parametrize(
    ("language", "task"),
    [(language, task) for language in LANGUAGES for task in ("default", *_list_tasks(language))],
)
def test_eval_id_equals_program(language, task):
    metric = METEOR(language, task, normalize="lower")
    options = [] if task == "default" else ["-t", task]
    assert metric.eval_id == ask_eval_id("-l", language, *options, "-lower")


@with_program
@pytest.mark.parametrize(
    ("language", "modules"),
    [
        *(("en", "synonym exact"), ("cz", "exact stem paraphrase"), ("de", "paraphrase")),
        ("it", "exact stem synonym paraphrase"),
    ],
)
def test_weights_belong_to_positions(language, modules):
    metric = METEOR(language, modules=modules.split(), normalize=False)
    assert metric.eval_id == ask_eval_id("-l", language, "-m", modules)


def test_signature_has_resolved_parameters():
    metric = METEOR()
    assert str(metric.signature(1)).startswith(
        "nrefs:1|language:en|task:rank|mod:ex.st.sy.pa|norm:yes|version:1.5|by:truebleu-"
    )
    eval_id = "meteor-1.5-wo-en-norm-0.85_0.2_0.6_0.75-ex_st_sy_pa-1.0_0.6_0.8_0.6"
    assert metric.eval_id == eval_id
    assert tb.metric(eval_id) == tb.metric("METEOR") == tb.metric("meteor") == metric
    assert metric == METEOR(
        task="rank", modules=["exact", "stem", "synonym", "paraphrase"], alpha=0.85
    )
    assert tb.metric("meteor-1.5-wo-en-norm-0.75_1.4_0.45_0.7-ex_st-1.0_1.0") == METEOR(
        task="adq", modules=["exact", "stem"]
    )


def test_language_determines_default_task():
    assert tb.metric("meteor", language="de") == METEOR("de", "rank")
    assert tb.metric("meteor", language="it", normalize=False) == METEOR(
        "it", "li", normalize=False
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"language": "xy"}, "unknown language 'xy'"),
        ({"language": "de", "task": "adq"}, "no task 'adq' for 'de' (expected one of rank, li, tu"),
        ({"language": "it"}, "METEOR has no tokenizer for 'it'"),
        ({"normalize": False, "no_punct": True}, "no_punct has no effect without normalize"),
        ({"modules": ["exat"]}, "unknown module in modules: 'exat'; did you mean 'exact'"),
        ({"modules": ["exact", "exact"]}, "each module once"),
        ({"modules": []}, "each module once"),
        ({"modules": "exact"}, "modules='exact': expected a sequence of words"),
        ({"weights": [1]}, "weights: expected 4, one for each of exact, stem"),
        ({"alpha": 2}, "alpha"),
        ({"no_norm": True}, "has no parameter 'no_norm'"),
    ],
)
def test_invalid_parameters_raise_error(parameters, message):
    with pytest.raises((ValueError, TypeError), match=re.escape(message)):
        METEOR(**parameters)


# ---- a table ----


@with_program
def test_complete_match_adds_no_chunk(tmp_path):
    """The program leaves this chunk out of corpus scores, as do sums of statistics."""
    pairs = [("a b c d", "a b c d"), ("a b", "a b"), ("a x c", "a y c")]
    hypotheses, references = map(list, zip(*pairs, strict=True))
    assert_equals_program(QUICK, tmp_path, hypotheses, references)
    assert QUICK.statistics(hypotheses, references).column("chunks") == [0, 0, 2]
    # A row with the program's own numbers has the program's score.
    row = [4, 4, 0, 0, 4, 4, *[0] * 10, 1, 4, 4]
    assert QUICK.from_statistics(row) == 100


# ---- missing programs and failures ----


def install_fake_program(folder: Path, monkeypatch, code: str) -> Path:
    """Replace Java by another program, and return the file for its process ID."""
    script = folder / "java"
    script.write_text(f"#!{sys.executable}\n{textwrap.dedent(code)}", encoding="utf-8")
    script.chmod(0o755)
    jar = folder / "meteor.jar"
    jar.touch()
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("METEOR_JAR", str(jar))
    return script


def test_missing_java_raises_error(tmp_path, monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ImportError, match=r"METEOR is not installed: .*default-jre-headless"):
        QUICK.score(["a"], ["a"])


def test_missing_jar_raises_error(tmp_path, monkeypatch):
    install_fake_program(tmp_path, monkeypatch, "")
    monkeypatch.setenv("METEOR_JAR", str(tmp_path / "none.jar"))
    with pytest.raises(MetricFailedError, match=r"METEOR_JAR: file not found.*none\.jar"):
        QUICK.score(["a"], ["a"])
    monkeypatch.delenv("METEOR_JAR")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install 'truebleu\[meteor\]'"):
        QUICK.score(["a"], ["a"])


def test_missing_paraphrases_raise_error(tmp_path, monkeypatch):
    install_fake_program(tmp_path, monkeypatch, "")
    with pytest.raises(MetricFailedError, match=r"no paraphrases for 'de'.*paraphrase-de\.gz"):
        METEOR("de").score(["a"], ["a"])


LOOP = "import sys\nfor line in sys.stdin: "
FAILS_AT_THE_THIRD_SEGMENT = """
import sys
for i, line in enumerate(sys.stdin):
    if i == 2:
        sys.stderr.write(
            'Picked up options\\n'
            'Exception in thread "main" java.lang.RuntimeException: No stems\\n\\tat x'
        )
        sys.exit(1)
    print(*["1.0"] * 23, flush=True)
"""
PRINTS_TWICE = f"{LOOP}\n    for _ in 'ab': print(*['1.0'] * 23, flush=True)"
FAILURES = {
    "import sys; sys.exit('no memory')": "segment 1: the Java program ended (status 1): no me",
    FAILS_AT_THE_THIRD_SEGMENT: "segment 3: the Java program ended (status 1): No stems",
    "import os; os.kill(os.getpid(), 11)": "segment 1: the Java program ended (signal 11)",
    f"{LOOP}print('0.5', flush=True)": "but the program printed '0.5'",
    f"{LOOP}print('Error: no hypothesis', flush=True)": (
        "segment 1: expected 23 numbers from METEOR 1.5, but the program printed 'Error"
    ),
    PRINTS_TWICE: "more than 23 numbers for each of 4 segments",
}


@pytest.mark.parametrize(("code", "message"), FAILURES.items(), ids=FAILURES.values())
def test_failing_program_raises_error_and_restarts(code, message, tmp_path, monkeypatch):
    install_fake_program(tmp_path, monkeypatch, code)
    for _ in range(2):  # the first process has ended
        with pytest.raises(MetricFailedError, match=rf"^METEOR: .*{re.escape(message)}"):
            QUICK.score(["a"] * 4, ["a"] * 4)
    assert not any(str(tmp_path) in words[0] for words in meteor_process._PROCESSES)


def test_program_that_cannot_start_raises_error(tmp_path, monkeypatch):
    install_fake_program(tmp_path, monkeypatch, "").write_text("#!/no/such/program\n")
    with pytest.raises(MetricFailedError, match="cannot run"):
        QUICK.score(["a"], ["a"])


# ---- the process ----

USER = """
import os, sys, time
from truebleu.metrics.meteor import METEOR
from truebleu.metrics import meteor_process
METEOR(modules=["exact"]).score(["a"], ["a"])
(process,) = meteor_process._PROCESSES.values()
print(process.process.pid, flush=True)
"""


def has_ended(pid: int) -> bool:
    """Wait for the end of a process, and return False if it is still running after a minute."""
    for _ in range(600):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.1)
    return False


def start_python(code: str, folder: Path) -> subprocess.Popen:
    """Start a Python process that scores with METEOR, with temporary files in a folder."""
    command = [sys.executable, "-c", USER + textwrap.dedent(code)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8"}
    return subprocess.Popen(command, env={**os.environ, "TMPDIR": str(folder)}, **pipes)


on_linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


@with_program
@on_linux
def test_process_ends_with_python(tmp_path):
    with start_python("", tmp_path) as python:
        output, wrong = python.communicate()
    assert (python.returncode, wrong) == (0, "")
    assert has_ended(int(output))
    assert not list(tmp_path.iterdir())


@with_program
@on_linux
def test_process_ends_when_python_is_killed(tmp_path):
    with start_python("time.sleep(600)", tmp_path) as python:
        pid = int(python.stdout.readline())
        python.kill()
    assert has_ended(pid)
    assert not list(tmp_path.iterdir())


@with_program
@on_linux
def test_process_ends_after_interrupt(tmp_path):
    code = """
    METEOR(modules=["exact"]).score(["a b c d e f g"] * 10**6, ["a b c"] * 10**6)
    """
    with start_python(code, tmp_path) as python:
        pid = int(python.stdout.readline())
        time.sleep(0.5)
        python.send_signal(signal.SIGINT)
        _, wrong = python.communicate()
    assert wrong.rstrip().endswith("KeyboardInterrupt")
    assert has_ended(pid)
    assert not list(tmp_path.iterdir())


@with_program
@on_linux
def test_forked_python_starts_own_process(tmp_path):
    code = """
    metric, given = METEOR(modules=["exact"]), (["a b"], ["a c"])
    expected = metric.score(*given)
    copy = os.fork()
    if not copy:
        assert not meteor_process._PROCESSES
        assert metric.score(*given) == expected
        (other,) = meteor_process._PROCESSES.values()
        assert other.process.pid != process.process.pid
        meteor_process.end_all_processes()
        os._exit(0)
    assert os.waitpid(copy, 0)[1] == 0
    assert metric.score(*given) == expected
    assert process.process.poll() is None
    """
    with start_python(code, tmp_path) as python:
        _, wrong = python.communicate()
    assert (python.returncode, wrong) == (0, "")


@with_program
def test_process_is_reused_for_all_corpora():
    QUICK.score(["a"], ["a"])
    before = dict(meteor_process._PROCESSES)
    QUICK.segments(["a", "b"], ["a", "c"])
    assert before == meteor_process._PROCESSES
    # A process that was killed is restarted.
    killed = next(reversed(before.values())).process
    killed.kill()
    killed.wait()
    assert QUICK.score(["a b"], ["a b"]) == 100
    METEOR(modules=["exact"]).score(["a"], ["a"])
    METEOR(modules=["stem"]).score(["a"], ["a"])
    assert len(meteor_process._PROCESSES) == meteor_process.MAX_PROCESSES


@with_program
def test_progress_reports_segments():
    progress = []
    QUICK.count(["a"] * 100, ["a"] * 100, progress=progress.append)
    assert progress == [64, 100]
