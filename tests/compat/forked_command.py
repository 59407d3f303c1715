"""Fast repeated runs of a command (sacreBLEU's or truebleu's): import once, fork per command line.

As a script, it is the process that forks. It reads one request per line from standard input, and
writes one exit status per line to standard output. Its arguments are the module of the command and
other modules to import first.
"""

import contextlib
import importlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

# The module of each command, and the modules that it imports lazily.
ORIGINAL = (
    *("sacrebleu.sacrebleu", "sacrebleu.significance"),
    *(f"sacrebleu.tokenizers.tokenizer_{name}" for name in ("13a", "zh", "intl", "char", "none")),
)
ACCELERATED = ("truebleu.compat.sacrebleu", *ORIGINAL[1:])


class Done(NamedTuple):
    """The result of a finished command."""

    status: int
    output: bytes
    error: bytes

    def __str__(self):
        output, error = self.output.decode(), self.error.decode()
        return f"status {self.status}\n--- output\n{output}\n--- error\n{error}"


class Command:
    """A command in processes that have already imported it."""

    def __init__(self, modules: tuple[str, ...] = ORIGINAL, **environment: str):
        self.environment = environment
        self._server = subprocess.Popen(
            [sys.executable, __file__, *modules],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | environment,
        )

    def __call__(
        self, *words: str, cwd: Path, standard_input: bytes = b"", **environment: str
    ) -> Done:
        """Run the command with these arguments and this standard input."""
        with contextlib.ExitStack() as stack:
            files = [stack.enter_context(tempfile.NamedTemporaryFile()) for _ in range(3)]
            files[0].write(standard_input)
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
        """End the process that forks."""
        self._server.stdin.close()
        self._server.wait()
        self._server.stdout.close()


def serve(command: str, *modules: str) -> None:
    """Fork a process for each request."""
    main = importlib.import_module(command).main
    for name in modules:
        importlib.import_module(name)
    for line in sys.stdin:
        request = json.loads(line)
        process = os.fork()
        if not process:
            run(request, main)
        _, status = os.waitpid(process, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def run(request, main) -> None:
    """Run a request's command line, and end this process."""
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
    serve(*sys.argv[1:])
