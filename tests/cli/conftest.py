"""Commands that succeed with JSON output, and commands that fail with one message."""

import json
import re

import pytest

# Parameters of Python that the command line calls otherwise.
PARAMETERS = "max_drop|minimum|max_order|smoothing_value|mqm_weights|column=|method=|beta="


@pytest.fixture
def read_json(truebleu_command):
    """Return a function that runs a command and returns its parsed output."""

    def run(*words, **options):
        result = truebleu_command(*words, **options)
        assert result.status == 0, result
        return json.loads(result.output)

    return run


@pytest.fixture
def read_error(truebleu_command):
    """Return a function that runs a failing command and returns the message, without its prefix."""

    def run(status, *words, **options):
        result = truebleu_command(*words, **options)
        statuses = status if isinstance(status, tuple) else (status,)
        assert (result.status in statuses, result.output) == (True, ""), result
        assert re.fullmatch(r"truebleu: error: [^\n]*\n", result.error), result
        message = result.error.removeprefix("truebleu: error: ").rstrip("\n")
        # Neither "scores: scores (file)" nor "--max-order: max_order=0" nor "(see x) (see y)".
        repeated_place = r"(?<!-m )(?<!not )\b([\w-]+): \(?\1\b"
        assert not re.search(repeated_place, message.replace("--", ""), re.IGNORECASE)
        assert "::" not in message
        # The option --also takes names of parameters.
        assert message.startswith("--also") or not re.search(PARAMETERS, message)
        assert message.count("(see ") <= 1
        return message

    return run
