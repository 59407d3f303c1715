"""How sacreBLEU speaks: its logger, and the errors that it says in one line."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import logging


class TestSetError(Exception):
    """A test set that does not exist, or that cannot be had or read."""

    __test__ = False  # it is no test, whatever its name begins with


class Command:
    """The command, as far as messages are concerned."""

    # Whether it is running and not to be quiet: then messages say who speaks, infos included.
    speaks = False


def logger() -> logging.Logger:
    """The logger "sacrebleu". Logging is imported when there is something to say."""
    import logging

    if Command.speaks:
        logging.basicConfig(level=logging.INFO, format="sacreBLEU: %(message)s")
    return logging.getLogger("sacrebleu")
