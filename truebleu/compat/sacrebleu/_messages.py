"""sacreBLEU's messages: its logger, its one-line errors, its warning of tokenized text."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import logging
    from typing import NoReturn

# A text with so many lines that end in " ." is suspected to be tokenized.
TOKENIZED_LINES = 100


class TestSetError(Exception):
    """A test set that does not exist, or that cannot be downloaded or read."""

    __test__ = False  # not a test, though its name begins like one


class Command:
    """The command, as far as messages are concerned."""

    # True while the command runs without --quiet: its messages name the program, and include infos.
    speaks = False
    # Written to a terminal last, so that it is left without colours.
    ending = ""


def logger() -> logging.Logger:
    """The logger "sacrebleu". Logging is imported when there is something to say."""
    import logging

    if Command.speaks:
        logging.basicConfig(level=logging.INFO, format="sacreBLEU: %(message)s")
    return logging.getLogger("sacrebleu")


def fail(*messages: str, status: int = 1) -> NoReturn:
    """Logs errors, and ends the process."""
    for message in messages:
        logger().error(message)
    sys.exit(status)


def warn_of_tokenized(lines: int) -> None:
    """Warns if so many lines end in a separate full stop that the text is probably tokenized."""
    if lines < TOKENIZED_LINES:
        return
    # The words are sacreBLEU's: people look for them.
    say = logger().warning
    say("That's 100 lines that end in a tokenized period ('.')")
    say("It looks like you forgot to detokenize your test data, which may hurt your score.")
    say(
        "If you insist your data is detokenized, or don't care, "
        "you can suppress this message with the `force` parameter."
    )
