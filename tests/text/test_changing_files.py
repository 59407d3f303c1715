"""Files that others change while they are scored give a score or an error, and end no process."""

import subprocess
import sys
import textwrap

import pytest

CHILD = """
import os, random, sys, threading, truebleu as tb

folder, workers, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rng = random.Random(seed)
ours, theirs = os.path.join(folder, "ours"), os.path.join(folder, "theirs")
text = b"the cat sat on the mat and looked at all of us\\n" * 40_000

def write(path):
    with open(path, "wb") as file:
        file.write(text)

def change(path):
    kind = rng.randrange(6)
    if kind == 0:
        os.truncate(path, rng.randrange(len(text)))
    elif kind == 1:
        os.truncate(path, 0)
    elif kind == 2:
        with open(path, "r+b") as file:
            file.seek(rng.randrange(len(text)))
            file.write(rng.randbytes(5000))
    elif kind == 3:
        with open(path, "ab") as file:
            file.write(text[: rng.randrange(len(text))])
    elif kind == 4:
        os.unlink(path)
    write(path)

def changes():
    while not ended:
        change(rng.choice((ours, theirs)))

for path in (ours, theirs):
    write(path)
# By another process or by a thread of this one: the same.
ended, outcomes = False, {}
process = seed % 2 and hasattr(os, "fork") and os.fork()
if seed % 2 and process == 0:
    changes()  # until it is killed
thread = threading.Thread(target=changes)
if not seed % 2:
    thread.start()
try:
    for _ in range(60):
        try:
            score = tb.bleu(tb.File(ours), [tb.File(theirs)], workers=workers)
            outcome = "score"
            assert 0 <= score.value < 100.1
        except tb.InputError as error:
            outcome = "InputError"
            assert "\\n" not in str(error)
        except FileNotFoundError:
            outcome = "missing"
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
finally:
    ended = True
    if seed % 2:
        os.kill(process, 9)
        os.waitpid(process, 0)
    else:
        thread.join()
print(outcomes)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="open files stay there")
@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_changing_file_gives_score_or_error(tmp_path, workers, seed):
    command = [sys.executable, "-c", CHILD, str(tmp_path), str(workers), str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, (done.returncode, done.stderr)


def test_truncation_error_names_new_size(tmp_path):
    """The file is cut when the kernel has read a part of it: by a source that is read in turn."""
    code = """
        import os, sys, truebleu as tb

        path = sys.argv[1]
        line = b"the cat sat on the mat\\n"
        with open(path, "wb") as file:
            file.write(line * 100_000)
        given = 0
        def read(size):
            global given
            given += 1
            if given == 2:
                os.truncate(path, 300_000)
            return line * 10_000 if given <= 10 else b""
        from truebleu import _kernel
        scan = tb.BLEU()._kernel.scan(
            _kernel.stream(read, "hypotheses"), [_kernel.file(path, f"references ({path})")], 1
        )
        try:
            scan.totals()
        except tb.InputError as error:
            print(error)
    """
    path = tmp_path / "text"
    command = [sys.executable, "-c", textwrap.dedent(code), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    assert done.stdout == (
        f"references ({path}): file changed while it was being read (expected 2300000 bytes, found "
        "300000). Score it again when no program writes to it\n"
    )
