"""Makes the pages of docs/reference/ from the code: commands, parameters, variables, docstrings."""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from argparse import SUPPRESS
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from textwrap import dedent, wrap
from typing import Any

from page_helpers import filled, table

import truebleu
from truebleu.cli import COMMANDS, command, output
from truebleu.cli.common_options import Group, Option
from truebleu.metrics import base, registry

_SENTENCES = tomllib.loads(Path(__file__).with_name("reference.toml").read_text("utf-8"))
VARIABLES, CIRCUMSTANCES = _SENTENCES["variables"], _SENTENCES["circumstances"]


def environment() -> str:
    """The page of environment variables."""
    tables = "\n\n".join(
        f"## {title}\n\n"
        + table(["variable", "meaning"], [(f"`{name}`", about) for name, about in named.items()], 2)
        for title, named in VARIABLES.items()
    )
    return filled("reference-environment", tables=tables)


def _cell(text: str) -> str:
    """Text of help as it is, in a cell of a table."""
    text = text.replace("%%", "%").replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([|*_`\\\[\]])", r"\\\1", text)


def _spelled(option: Option) -> str:
    """An option with its value, or an argument, as help shows it."""
    flags = [flag for flag in option.flags if flag.startswith("-")]
    value = option.arguments.get("metavar") or ("" if flags else option.flags[0].upper())
    if option.arguments.get("nargs") in ("+", "*"):
        value = f"{value}..."
    elif option.arguments.get("nargs") == "?":
        value = f"[{value}]"
    told = f"<code>{value.replace('|', '&#124;')}</code>" if "|" in value else f"`{value}`"
    return " ".join([*(f"`{flag}`" for flag in flags), *([told] if value else [])])


def _meaning(option: Option) -> str:
    """The sentence of help, with the choices and the default where it does not name them."""
    sentence = option.arguments["help"]
    told = _cell(sentence)
    words = [str(word) for word in option.arguments.get("choices", ())]
    named = f"{option.arguments.get('metavar')} {sentence}"
    if not all(word in named for word in words):
        told += ": " + ", ".join(f"`{word}`" for word in words)
    default = option.arguments.get("default")
    word = (
        default != SUPPRESS
        and isinstance(default, str | int | float)
        and not isinstance(default, bool)
    )
    spelled = re.escape(str(default))
    if word and not re.search(rf"\({spelled}\b|\b{spelled} \(the default\)", sentence):
        told += f" (default: `{default}`)"
    return told


def _groups(groups: Iterable[Group]) -> Iterator[str]:
    """The options of a command, a table a group; metrics share some, which come once."""
    known = {"--help"}
    for group in groups:
        options = [option for option in group.options if option.flags[-1] not in known]
        known |= {option.flags[-1] for option in options}
        if options:
            yield f"**{_cell(group.title)}**" + (f": {_cell(group.about)}" if group.about else "")
            yield table(
                ["option", "meaning"], [(_spelled(one), _meaning(one)) for one in options], 2
            )


def exit_statuses() -> list[tuple[str, str]]:
    """Each exit status and its meaning."""
    return [(str(status), meaning) for status, meaning in output.STATUSES.items()]


def all_commands() -> str:
    """The page of commands and their options."""
    parts = []
    for name, summary in COMMANDS.items():
        declared = command(name)
        examples = (declared.about or "").partition("\n\n")[2].strip()
        parts += [
            f"## {name}",
            f"{_cell(summary)}.",
            f"```text\n{declared.usage}\n```",
            *_groups(declared.groups(())),
            f"```text\n{examples}\n```" if examples else "",
        ]
    body = "\n\n".join(filter(None, parts))
    return filled(
        "reference-all-commands",
        body=body,
        table_exit_statuses=table(["status", "meaning"], exit_statuses(), 2),
    )


def _names(metric: Any) -> str:
    """The registered names that stand for a class."""
    own = [name for name in registry.METRICS if registry.get_metric_class(name) is metric]
    more = [
        f"{name}:{text}"
        for name, (_, text) in registry.PREFIXED_METRICS.items()
        if registry.get_metric_class(name) is metric
    ]
    return ", ".join(f"`{name}`" for name in own + more)


def _values(parameter: Any) -> str:
    """The default, as Python writes it."""
    return f"`{parameter.default!r}`"


def signatures() -> str:
    """The page of metrics, their parameters, and the fields of signatures."""
    parts = []
    for metric in registry.iterate_metric_classes():
        rows = [
            (
                f"`{one.name}`",
                _values(one),
                ""
                if one.is_hidden
                else f"`{one.key}`" + (f", `{one.short}`" if one.short != one.key else ""),
                _cell(one.python_help),
            )
            for one in metric.PARAMETERS
        ]
        made = table(["parameter", "default", "in signatures", "meaning"], rows, 4)
        summary = (metric.__doc__ or "").strip().partition("\n\n")[0]
        parts.append(
            f"## {metric.__name__}\n\n{_names(metric)}: {' '.join(summary.split())}\n\n{made if rows else ''}"
        )
    body = "\n\n".join(part.rstrip() for part in parts)
    around = [
        (f"`{name}`", f"`{short}`", CIRCUMSTANCES[name])
        for name, short in base.CONTEXT_FIELDS.items()
    ]
    return filled(
        "reference-signatures",
        table_around=table(["field", "short", "meaning"], around, 3),
        body=body,
    )


# What metrics do, beside making their signatures; `help(tb.BLEU)` has the rest.
VERBS = (
    *("score", "sentence", "segments", "statistics", "from_statistics"),
    *("matrix", "triangle", "top_k", "expected", "signature", "with_parameters"),
)


def _called(name: str, function: Any) -> str:
    """A function as it is called: its parameters and their defaults, without their types."""
    signature = inspect.signature(function)
    untyped = [
        one.replace(annotation=one.empty)
        for one in signature.parameters.values()
        if one.name != "self"
    ]
    return _in_lines(f"{name}{inspect.Signature(untyped)}")


def _in_lines(called: str) -> str:
    """A call, in lines as wide as a page."""
    called = called.replace("mappingproxy({})", "{}")
    lines = wrap(called, 96, subsequent_indent="    ", break_long_words=False)
    return "\n".join(["```python", *lines, "```"])


def _told(documented: str | None, parameters: Iterable[str] = ()) -> str:
    """A docstring in Markdown: its paragraphs, these parameters as a list, its examples."""
    parts: list[str] = []
    names = set(parameters)
    for block in (documented or "").split("\n\n"):
        if block.startswith(">>> "):
            lines = [re.sub(r"  # doctest: .*", "", line) for line in block.splitlines()]
            parts.append("\n".join(["```pycon", *lines, "```"]))
            continue
        if block.startswith("    "):
            parts.append(f"```python\n{dedent(block)}\n```")
            continue
        if block.startswith("| "):
            parts.append(block)
            continue
        told: list[str] = []
        for line in block.splitlines():
            name, colon, rest = line.partition(": ")
            if colon and set(name.split(", ")) <= names:
                told.append(f"* `{name}`: {_cell_text(rest)}")
            elif told and line.startswith(" "):
                told.append(f"  {_cell_text(line.strip())}")
            else:
                told.append(_cell_text(line.strip()))
        listed = [i for i, line in enumerate(told) if line.startswith("* ")]
        if listed and listed[0]:
            told.insert(listed[0], "")
        parts.append("\n".join(told))
    # Blank lines of code have divided it.
    return "\n\n".join(filter(None, parts)).replace("\n```\n\n```python\n", "\n\n")


def _cell_text(text: str) -> str:
    """A line of a docstring; what would be markup, but is code in backticks, is as it is written."""
    pieces = text.split("`")
    return "`".join(piece if i % 2 else _cell(piece) for i, piece in enumerate(pieces))


def _function(name: str, function: Any, level: str) -> str:
    parts = [f"{level} {name}", _called(name, function)]
    told = _told(inspect.getdoc(function), _parameters(function))
    return "\n\n".join([*parts, told])


def _parameters(function: Any) -> Iterator[str]:
    """The names of a function's parameters, with those of a typed dict behind `**`."""
    for name, parameter in inspect.signature(function).parameters.items():
        yield name
        if parameter.kind is parameter.VAR_KEYWORD and "Unpack" in str(parameter.annotation):
            typed = str(parameter.annotation).removeprefix("Unpack[").removesuffix("]")
            yield from function.__globals__[typed].__annotations__


def _constructed(kind: type) -> Iterable[str]:
    """The parameters of a class, if Python knows them."""
    try:
        return inspect.signature(kind).parameters
    except ValueError:
        return ()


def _members(kind: type) -> str:
    """What an object has that is told of, in a sentence each."""
    rows = []
    for name in dir(kind):
        member = inspect.getattr_static(kind, name)
        summary = (inspect.getdoc(getattr(kind, name)) or "").partition("\n\n")[0]
        own = any(
            name in vars(one) for one in kind.__mro__ if one.__module__.startswith("truebleu")
        )
        if not own or not summary or name[0] == "_" or name.isupper() or isinstance(member, type):
            continue
        if not callable(member) and not hasattr(type(member), "__get__"):
            continue  # the default of a field
        brackets = "" if inspect.isdatadescriptor(member) else "()"
        rows.append((f"`{name}{brackets}`", _cell_text(" ".join(summary.split()))))
    return table(["member", "what it is, or does"], rows, 2) if rows else ""


def _object(name: str, kind: type, level: str) -> str:
    told = _told(inspect.getdoc(kind), _constructed(kind))
    return "\n\n".join(filter(None, [f"{level} {name}", told, _members(kind)]))


def python() -> str:
    """The page of the public names, by their docstrings."""
    public = {name: getattr(truebleu, name) for name in truebleu.PUBLIC}
    functions = [
        _function(name, each, "###") for name, each in public.items() if inspect.isfunction(each)
    ]
    kinds = {name: each for name, each in public.items() if isinstance(each, type)}
    metrics = [
        (f"[`{name}`](signatures.md#{name.lower()})", _cell_text(" ".join(told.split())))
        for name, each in kinds.items()
        if issubclass(each, base.Metric) and each is not base.Metric
        for told in [(inspect.getdoc(each) or "").partition("\n\n")[0]]
    ]
    verbs = [_function(verb, getattr(truebleu.BLEU, verb), "####") for verb in VERBS]
    objects = [
        _object(name, each, "###")
        for name, each in kinds.items()
        if not issubclass(each, base.Metric) and not issubclass(each, Exception)
    ]
    newline = "\n\n"
    return filled(
        "reference-python",
        functions_newline=newline.join(functions),
        table_metrics=table(["class", "what it is"], metrics, 2),
        verbs_newline=newline.join(verbs),
        objects_newline=newline.join(objects),
    )


# ---- engines, hosts and other packages' names ----

# What the module of an engine has beside the functions that all have; `CorpusScore` is a class of
# Ray's, which is read and not imported.
ENGINES = {
    "DuckDB": ("duckdb", ("sums", "sentence", "register")),
    "Polars": ("polars", ("sums", "sentence")),
    "Spark": ("spark", ("sums", "stats", "sentence", "register", "merge", "scores", "check")),
    "Ray": ("ray", ("sums", "sentence", "CorpusScore")),
}

# The modules of truebleu.integrations, each with what it is used by. A test holds this complete.
HOSTS = {
    "torch": ("all_reduce_",),
    "torchmetrics": ("Corpus", "CorpusBLEU", "CorpusCHRF", "CorpusTER"),
    "trl": ("metric_reward", "bleu_reward", "chrf_reward"),
    "transformers": ("compute_metrics",),
    "evaluate": ("path", "load"),
    "lm_eval": ("register", "item", "aggregation"),
    "lighteval": ("corpus_metric",),
    "inspect_ai": ("metric_scorer", "corpus"),
    "mlflow": ("log_result", "log_segments"),
    "wandb": ("log_result", "log_segments"),
    "pytest": ("truebleu_check",),
}

PACKAGE = Path(truebleu.__file__).parent


def _read(module: str) -> ast.Module:
    """The code of a module, which is not imported: what it needs may not be installed."""
    return ast.parse(PACKAGE.joinpath(*module.split(".")).with_suffix(".py").read_text("utf-8"))


def _written(tree: ast.AST, name: str) -> ast.FunctionDef | ast.ClassDef | ast.Assign:
    """Where code defines a name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            return node
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return node
    raise LookupError(name)


def _called_as_written(tree: ast.Module, name: str, given: ast.arguments) -> tuple[str, list[str]]:
    """A function as it is called, as `_called` has it, and its parameters."""
    given.args = [one for one in given.args if one.arg != "self"]
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    known = [one for one in every if one]
    for one in known:
        one.annotation = None
    for defaults in (given.defaults, given.kw_defaults):
        for i, one in enumerate(defaults):
            if isinstance(one, ast.Name):  # a constant of the module
                defaults[i] = _written(tree, one.id).value  # type: ignore[union-attr, call-overload]
    return _in_lines(f"{name}({ast.unparse(given)})"), [one.arg for one in known]


def _as_written(tree: ast.Module, name: str) -> str:
    """A function or a class of code that is not imported, with the methods that it tells of."""
    node = _written(tree, name)
    if isinstance(node, ast.Assign):
        return f"### {name}\n\n```python\n{ast.unparse(node)}\n```"
    if isinstance(node, ast.FunctionDef):
        called, names = _called_as_written(tree, name, node.args)
        return "\n\n".join([f"### {name}", called, _told(ast.get_docstring(node), names)])
    methods = [one for one in node.body if isinstance(one, ast.FunctionDef)]
    parts = [f"### {name}"]
    names = []
    for one in methods:
        if one.name == "__init__":
            called, names = _called_as_written(tree, name, one.args)
            parts.append(called)
    parts.append(_told(ast.get_docstring(node), names))
    rows = [
        (f"`{one.name}{'' if one.decorator_list else '()'}`", _cell_text(" ".join(told.split())))
        for one in methods
        if one.name[0] != "_"
        for told in [(ast.get_docstring(one) or "").partition("\n\n")[0]]
    ]
    return "\n\n".join([*parts, table(["member", "what it is, or does"], rows, 2) if rows else ""])


def engines() -> str:
    """The page of truebleu.engines."""
    from truebleu import engines as package
    from truebleu.engines.common_api import SHORTCUT_METRICS

    shared = [package.Sums, package.compare, package.intervals, package.bucket_of]
    parts = [
        _object(one.__name__, one, "###")
        if isinstance(one, type)
        else _function(one.__name__, one, "###")
        for one in shared
    ]
    first = import_module("truebleu.engines.polars")
    same = [_function(name, getattr(first, name), "###") for name in ("score", "stats", "compare")]
    named = [
        (f"`corpus_{name}`, `sentence_{name}`", f'`score` and `sentence` with `metric="{name}"`')
        for name in SHORTCUT_METRICS
    ]
    own = []
    for title, (module, names) in ENGINES.items():
        made = import_module(f"truebleu.engines.{module}")
        told = (made.__doc__ or "").partition("\n\n>>> ")[0]
        own.append(f"## {title}\n\n`truebleu.engines.{module}`. {_told(told)}")
        own += [
            _function(name, getattr(made, name), "###")
            if inspect.isfunction(vars(made).get(name))
            else _as_written(_read(f"engines.{module}"), name)
            for name in names
        ]
    newline = "\n\n"
    return filled(
        "reference-engines",
        parts_newline=newline.join(parts),
        same_newline=newline.join(same),
        table_named=table(["function", "the same as"], named, 2),
        own_newline=newline.join(own),
    )


def hosts() -> str:
    """The page of truebleu.integrations."""
    parts = []
    for module, names in HOSTS.items():
        tree = _read(f"integrations.{module}")
        summary = _told(ast.get_docstring(tree))
        if names == ("log_result", "log_segments"):  # loggers share them
            tree = _read("integrations.log_records")
        parts += [f"## truebleu.integrations.{module}", summary]
        parts += [_as_written(tree, name) for name in names]
    newline = "\n\n"
    return filled("reference-hosts", parts_newline=newline.join(parts))


def compatible() -> str:
    """The page of truebleu.compat."""
    from truebleu import compat

    return filled(
        "reference-compatible",
        function=_function("install", compat.install, "##"),
        function_2=_function("uninstall", compat.uninstall, "##"),
    )
