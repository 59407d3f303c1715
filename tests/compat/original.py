"""sacreBLEU's own command, run quickly: imported once, forked for each command line.

As a script it is the process that forks: a request a line on standard input, an exit status a line
on standard output.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple


class Done(NamedTuple):
    """What a finished command left."""

    status: int
    output: bytes
    error: bytes

    def __str__(self):
        output, error = self.output.decode(), self.error.decode()
        return f"status {self.status}\n--- output\n{output}\n--- error\n{error}"


class Original:
    """sacreBLEU's command, in processes that have imported it already."""

    def __init__(self, **environment: str):
        self.environment = environment
        self._server = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | environment,
        )

    def __call__(self, *words: str, cwd: Path, given: bytes = b"", **environment: str) -> Done:
        """The command with these words behind it, `given` on standard input."""
        with contextlib.ExitStack() as stack:
            files = [stack.enter_context(tempfile.NamedTemporaryFile()) for _ in range(3)]
            files[0].write(given)
            files[0].flush()
            request = {
                "words": ["sacrebleu", *words],
                "cwd": os.fspath(cwd),
                "environment": environment,
                "files": [file.name for file in files],
            }
            self._server.stdin.write(json.dumps(request).encode() + b"\n")
            self._server.stdin.flush()
            status = int(self._server.stdout.readline())
            return Done(status, *(Path(file.name).read_bytes() for file in files[1:]))

    def close(self) -> None:
        """Ends the process that forks."""
        self._server.stdin.close()
        self._server.wait()
        self._server.stdout.close()


def serve() -> None:
    """Forks for each request."""
    import sacrebleu.sacrebleu
    import sacrebleu.significance

    for line in sys.stdin:
        request = json.loads(line)
        process = os.fork()
        if not process:
            run(request, sacrebleu.sacrebleu.main)
        _, status = os.waitpid(process, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def run(request, main) -> None:
    """Runs a request's command line, and ends this process."""
    import traceback

    os.chdir(request["cwd"])
    os.environ.update(request["environment"])
    for number, name in enumerate(request["files"]):
        os.dup2(os.open(name, os.O_RDWR), number)
    sys.argv = request["words"]
    status = 0
    try:
        main()
    except SystemExit as end:
        status = end.code or 0
    except BaseException:  # noqa: BLE001 - as the interpreter would
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    serve()
