"""The same call to sacreBLEU and to its stand-in, and all that can be seen of what it does."""

import importlib
import logging
from contextlib import contextmanager

import sacrebleu

import truebleu.compat.sacrebleu

SIDES = (sacrebleu, truebleu.compat.sacrebleu)


def module(side, name):
    """A submodule of either."""
    return importlib.import_module(f"{side.__name__}.{name}")


@contextmanager
def logged():
    """The messages logged meanwhile, as pairs of level and message."""
    records = []

    class Keep(logging.Handler):
        def emit(self, record):
            records.append((record.levelname, record.getMessage()))

    logger, handler = logging.getLogger("sacrebleu"), Keep()
    logger.addHandler(handler)
    before, logger.propagate = logger.propagate, False
    try:
        yield records
    finally:
        logger.removeHandler(handler)
        logger.propagate = before


def seen(value):
    """A result as plain data in which 1, 1.0 and True differ."""
    if isinstance(value, dict):
        return {key: seen(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return (type(value).__name__, [seen(item) for item in value])
    if isinstance(value, int | float | str | None):
        return (type(value).__name__, repr(value))
    if hasattr(value, "prepared") or type(value).__name__ == "KeptReferences":
        return seen(list(value))
    return (
        type(value).__name__,
        repr(value),
        seen(vars(value)) if hasattr(value, "__dict__") else 0,
    )


def outcome(call, side):
    """The result or error of a call, and its log."""
    with logged() as records:
        try:
            result = seen(call(side))
        except Exception as error:  # noqa: BLE001 (whatever it is, it is compared)
            result = (type(error).__name__, str(error))
    return result, records


def same(call):
    """Asserts that both do the same, and gives what it was."""
    expected, found = (outcome(call, side) for side in SIDES)
    assert found == expected
    return expected
