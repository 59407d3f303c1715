"""Commands whose standard output or standard error is a terminal."""

import os
import subprocess
import sys
from contextlib import suppress

import pytest


def run_on_terminal(*words, code=("-m", "truebleu"), stream="stdout", environment=None):
    """Run a command with a stream on a terminal; return its status and all of its output.

    code: the options of Python that select the program.
    """
    pty = pytest.importorskip("pty")
    leader, follower = pty.openpty()
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, stream: follower}
    process = subprocess.Popen(
        [sys.executable, *code, *map(str, words)],
        stdin=subprocess.DEVNULL,
        env={**os.environ, **(environment or {})},
        **streams,
    )
    os.close(follower)
    printed = b""
    with suppress(OSError):  # Linux's end of what a terminal is sent
        while piece := os.read(leader, 1 << 16):
            printed += piece
    os.close(leader)
    error = process.communicate(timeout=60)[1] or b""
    return process.returncode, printed.decode().replace("\r\n", "\n"), error.decode()
