"""Signals that end a command, and temporary folders, of which none is left then."""

from __future__ import annotations

# What `signal` is made of, without its enumerations, which take longer than small files do.
import _signal as signal  # type: ignore[import-not-found]
import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def temporary_folder() -> Iterator[str]:
    """Yield a new folder, and remove it even if a signal comes while it is being made."""
    import shutil
    import tempfile
    from secrets import token_hex

    folder = os.path.join(tempfile.gettempdir(), f"truebleu-{token_hex(8)}")
    try:
        os.mkdir(folder, 0o700)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Terminated(SystemExit):
    """SIGTERM or SIGHUP was received; `code` is the exit status that shells report."""


def raise_at_signals() -> None:
    """Make SIGTERM and SIGHUP raise `Terminated`, so that temporary files are removed.

    Ignored signals stay ignored: nohup and shells rely on that.
    """
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _terminate)


def _terminate(number: int, _: object) -> None:
    # A second signal must not interrupt the removal of temporary files.
    for other in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        signal.signal(other, signal.SIG_IGN)
    raise Terminated(128 + number)


def end_by(status: int) -> int:
    """End the process by the signal of an exit status; return the status if that does not end it.

    A shell then ends the loop around the command.
    """
    if os.name == "posix":
        import atexit

        # A process that a signal ends does not call these functions, which remove folders.
        atexit._run_exitfuncs()  # noqa: SLF001
        signal.signal(status - 128, signal.SIG_DFL)
        os.kill(os.getpid(), status - 128)
    return status
