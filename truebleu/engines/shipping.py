"""Calls sent to workers on other machines, which say so where truebleu is missing or differs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from truebleu._kernel import __version__


def shipped(
    cloudpickle: Any,
    module: str,
    task: str,
    argument: object,
    advice: str,
    refuse: Callable[[str], Any],
) -> Callable[..., Any]:
    """The function `task` of this module, with this argument before what a worker gives it.

    What is sent names nothing of this package (a nested function goes by value, and the argument as
    bytes), so that it arrives where truebleu is missing, and can say so.

    cloudpickle: the engine's; tokenizers of one's own may be functions that only it can send.
    advice: how truebleu comes to the workers. refuse: is called with what is wrong; a nested
        function as well.
    """
    here, python = __version__, sys.version_info[:2]
    content = cloudpickle.dumps(argument)

    def run(*columns):  # type: ignore[no-untyped-def]
        import pickle
        import platform
        import sys
        from importlib import import_module

        problem = ""
        if sys.version_info[:2] != python:
            theirs, ours = ("{}.{}".format(*version) for version in (sys.version_info, python))
            problem = f"runs Python {theirs}, and here is {ours}; they must be the same"
        else:
            try:
                found = import_module("truebleu").__version__
                worker = import_module(module)
            except ImportError as error:
                problem = f"cannot import truebleu ({error}); {advice}"
            else:
                if found != here:
                    problem = f"has truebleu {found}, and here is {here}; {advice}"
        if problem:
            return refuse(f"the worker on {platform.node()} {problem}")
        return getattr(worker, task)(pickle.loads(content), *columns)

    return run
