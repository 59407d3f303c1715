"""Run commands in forks of a process that has imported their modules, which takes milliseconds.

Unlike with the fork server of `multiprocessing`, a command has its own standard input, and its
process ends as any other.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module

# Modules that most commands import, and modules that are slow to import.
PRELOADED = (
    *("truebleu.cli." + name for name in ("commands", "score", "compare", "matrix", "report")),
    *("truebleu.metrics.bleu", "truebleu.significance", "truebleu.reports.report_builder"),
    *("truebleu.text.operating_system", "numpy", "pyarrow.parquet", "duckdb"),
)


class ForkServer:
    """Separate process that forks for each command.

    main: the module whose function `main` is the command. preloaded: modules to import first.
    """

    def __init__(self, main: str = "truebleu.cli", preloaded: tuple[str, ...] = PRELOADED) -> None:
        self.socket, other_end = socket.socketpair()
        command = [sys.executable, __file__, str(other_end.fileno()), main, *preloaded]
        self.process = subprocess.Popen(command, pass_fds=[other_end.fileno()])
        other_end.close()

    def run(self, arguments: list[str], stdin: bytes, cwd: str) -> subprocess.CompletedProcess:
        """Return the status and the outputs of the command, in the environment of the caller."""
        read_in, write_in = os.pipe()
        read_out, write_out = os.pipe()
        read_err, write_err = os.pipe()
        child_ends = [read_in, write_out, write_err]
        request = json.dumps([arguments, os.fspath(cwd), dict(os.environ)])
        socket.send_fds(self.socket, [len(request).to_bytes(4)], child_ends)
        self.socket.sendall(request.encode("ascii"))
        for descriptor in child_ends:
            os.close(descriptor)
        with ThreadPoolExecutor(max_workers=3) as pool:
            pool.submit(write_all, write_in, stdin)
            outputs = list(pool.map(read_all, (read_out, read_err)))
        status = self.socket.recv(4)
        assert status, "the fork server has ended"
        return subprocess.CompletedProcess(arguments, int.from_bytes(status, signed=True), *outputs)

    def close(self) -> None:
        self.socket.close()
        self.process.wait()


def write_all(descriptor: int, content: bytes) -> None:
    # A command need not read all of its input.
    with suppress(BrokenPipeError), open(descriptor, "wb") as file:
        file.write(content)


def read_all(descriptor: int) -> bytes:
    with open(descriptor, "rb") as file:
        return file.read()


def serve(connection: socket.socket, main: str, *preloaded: str) -> None:
    """Fork for each request until the other end is closed."""
    for name in preloaded:
        with suppress(ImportError):
            import_module(name)
    while True:
        size, descriptors, *_ = socket.recv_fds(connection, 4, 3)
        if not size:
            return
        request = b""
        while len(request) < int.from_bytes(size):
            request += connection.recv(1 << 20)
        child = os.fork()
        if not child:
            connection.close()
            for target, descriptor in enumerate(descriptors):
                os.dup2(descriptor, target)
                os.close(descriptor)
            arguments, cwd, environment = json.loads(request)
            os.environ.clear()
            os.environ.update(environment)
            os.chdir(cwd)
            signal.alarm(120)  # seconds, after which a command that hangs is ended
            sys.argv[1:] = arguments
            break
        for descriptor in descriptors:
            os.close(descriptor)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        connection.sendall(status.to_bytes(4, signed=True))
    sys.exit(import_module(main).main())


if __name__ == "__main__":
    del sys.path[0]  # the folder of the tests
    sys.path.insert(0, os.getcwd())
    serve(socket.socket(fileno=int(sys.argv[1])), *sys.argv[2:])
