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

from page_helpers import filled, format_table

import truebleu
from truebleu.cli import COMMANDS, load_command, output
from truebleu.cli.common_options import Option, OptionGroup
from truebleu.metrics import base, registry

_SENTENCES = tomllib.loads(Path(__file__).with_name("reference.toml").read_text("utf-8"))
VARIABLES, CIRCUMSTANCES = _SENTENCES["variables"], _SENTENCES["circumstances"]


def environment() -> str:
    """Return the page of environment variables."""
    tables = "\n\n".join(
        f"## {title}\n\n"
        + format_table(
            ["variable", "meaning"], [(f"`{name}`", about) for name, about in named.items()], 2
        )
        for title, named in VARIABLES.items()
    )
    return filled("reference-environment", tables=tables)


def _cell(text: str) -> str:
    """Text of help as it is, in a cell of a table."""
    text = text.replace("%%", "%").replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([|*_`\\\[\]])", r"\\\1", text)


def _spelled(option: Option) -> str:
    """Return an option with its value, or an argument, as help shows it."""
    flags = [flag for flag in option.flags if flag.startswith("-")]
    value = option.arguments.get("metavar") or ("" if flags else option.flags[0].upper())
    if option.arguments.get("nargs") in ("+", "*"):
        value = f"{value}..."
    elif option.arguments.get("nargs") == "?":
        value = f"[{value}]"
    formatted_value = (
        f"<code>{value.replace('|', '&#124;')}</code>" if "|" in value else f"`{value}`"
    )
    return " ".join([*(f"`{flag}`" for flag in flags), *([formatted_value] if value else [])])


def _meaning(option: Option) -> str:
    """Return the sentence of help, with the choices and the default where it does not name them."""
    sentence = option.arguments["help"]
    meaning = _cell(sentence)
    words = [str(word) for word in option.arguments.get("choices", ())]
    described_option = f"{option.arguments.get('metavar')} {sentence}"
    if not all(word in described_option for word in words):
        meaning += ": " + ", ".join(f"`{word}`" for word in words)
    default = option.arguments.get("default")
    word = (
        default != SUPPRESS
        and isinstance(default, str | int | float)
        and not isinstance(default, bool)
    )
    if word and "default: " not in sentence:
        meaning += f" (default: `{default}`)"
    return meaning


def _groups(groups: Iterable[OptionGroup]) -> Iterator[str]:
    """Yield one table of options per group; options that metrics share appear once."""
    listed_flags = {"--help"}
    for group in groups:
        options = [option for option in group.options if option.flags[-1] not in listed_flags]
        listed_flags |= {option.flags[-1] for option in options}
        if options:
            yield f"**{_cell(group.title)}**" + (
                f": {_cell(group.description)}" if group.description else ""
            )
            yield format_table(
                ["option", "meaning"], [(_spelled(one), _meaning(one)) for one in options], 2
            )


def exit_statuses() -> list[tuple[str, str]]:
    """Return each exit status and its meaning."""
    return [(str(status), meaning) for status, meaning in output.STATUSES.items()]


def all_commands() -> str:
    """Return the page of commands and their options."""
    parts = []
    for name, summary in COMMANDS.items():
        declared = load_command(name)
        examples = (declared.module_doc or "").partition("\n\n")[2].strip()
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
        table_exit_statuses=format_table(["status", "meaning"], exit_statuses(), 2),
    )


def _format_metric_names(metric: Any) -> str:
    """Return the registered names that stand for a class."""
    metric_names = [name for name in registry.METRICS if registry.get_metric_class(name) is metric]
    parametrized_names = [
        f"{name}:{text}"
        for name, (_, text) in registry.PREFIXED_METRICS.items()
        if registry.get_metric_class(name) is metric
    ]
    return ", ".join(f"`{name}`" for name in metric_names + parametrized_names)


def _values(parameter: Any) -> str:
    """Return the default, as Python writes it."""
    return f"`{parameter.default!r}`"


def signatures() -> str:
    """Return the page of metrics, their parameters, and the fields of signatures."""
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
        parameter_table = format_table(
            ["parameter", "default", "in signatures", "meaning"], rows, 4
        )
        summary = (metric.__doc__ or "").strip().partition("\n\n")[0]
        parts.append(
            f"## {metric.__name__}\n\n{_format_metric_names(metric)}: {' '.join(summary.split())}\n\n{parameter_table if rows else ''}"
        )
    body = "\n\n".join(part.rstrip() for part in parts)
    around = [
        (f"`{name}`", f"`{short}`", CIRCUMSTANCES[name])
        for name, short in base.CONTEXT_FIELDS.items()
    ]
    return filled(
        "reference-signatures",
        table_around=format_table(["field", "short", "meaning"], around, 3),
        body=body,
    )


# Methods of metrics in addition to signatures; `help(tb.BLEU)` lists the rest.
VERBS = (
    *("score", "sentence", "segments", "statistics", "from_statistics"),
    *("matrix", "triangle", "top_k", "expected", "signature", "with_parameters"),
)


def _format_call(name: str, function: Any) -> str:
    """Return a function as it is called: its parameters and their defaults, without their types."""
    signature = inspect.signature(function)
    untyped = [
        one.replace(annotation=one.empty)
        for one in signature.parameters.values()
        if one.name != "self"
    ]
    return _in_lines(f"{name}{inspect.Signature(untyped)}")


def _in_lines(call: str) -> str:
    """Return a call, in lines as wide as a page."""
    call = call.replace("mappingproxy({})", "{}")
    lines = wrap(call, 96, subsequent_indent="    ", break_long_words=False)
    return "\n".join(["```python", *lines, "```"])


def _docstring_to_markdown(documented: str | None, parameters: Iterable[str] = ()) -> str:
    """Return a docstring in Markdown: its paragraphs, these parameters as a list, its examples."""
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
        markdown_lines: list[str] = []
        for line in block.splitlines():
            name, colon, rest = line.partition(": ")
            if colon and set(name.split(", ")) <= names:
                markdown_lines.append(f"* `{name}`: {_cell_text(rest)}")
            elif markdown_lines and line.startswith(" "):
                markdown_lines.append(f"  {_cell_text(line.strip())}")
            else:
                markdown_lines.append(_cell_text(line.strip()))
        item_lines = [i for i, line in enumerate(markdown_lines) if line.startswith("* ")]
        if item_lines and item_lines[0]:
            markdown_lines.insert(item_lines[0], "")
        parts.append("\n".join(markdown_lines))
    # Blank lines of code have divided it.
    return "\n\n".join(filter(None, parts)).replace("\n```\n\n```python\n", "\n\n")


def _cell_text(text: str) -> str:
    """Return a line of a docstring with markup escaped outside of backticks."""
    pieces = text.split("`")
    return "`".join(piece if i % 2 else _cell(piece) for i, piece in enumerate(pieces))


def _function(name: str, function: Any, level: str) -> str:
    parts = [f"{level} {name}", _format_call(name, function)]
    description = _docstring_to_markdown(inspect.getdoc(function), _parameters(function))
    return "\n\n".join([*parts, description])


def _parameters(function: Any) -> Iterator[str]:
    """Return a function's parameter names, including keys of a typed dict behind `**`."""
    for name, parameter in inspect.signature(function).parameters.items():
        yield name
        if parameter.kind is parameter.VAR_KEYWORD and "Unpack" in str(parameter.annotation):
            typed = str(parameter.annotation).removeprefix("Unpack[").removesuffix("]")
            yield from function.__globals__[typed].__annotations__


def _constructed(kind: type) -> Iterable[str]:
    """Return the parameters of a class, if Python knows them."""
    try:
        return inspect.signature(kind).parameters
    except ValueError:
        return ()


def _members(kind: type) -> str:
    """Return one sentence per documented member of a class."""
    rows = []
    for name in dir(kind):
        member = inspect.getattr_static(kind, name)
        summary = (inspect.getdoc(getattr(kind, name)) or "").partition("\n\n")[0]
        is_documented = any(
            name in vars(one) for one in kind.__mro__ if one.__module__.startswith("truebleu")
        )
        if (
            not is_documented
            or not summary
            or name[0] == "_"
            or name.isupper()
            or isinstance(member, type)
        ):
            continue
        if not callable(member) and not hasattr(type(member), "__get__"):
            continue  # the default of a field
        brackets = "" if inspect.isdatadescriptor(member) else "()"
        rows.append((f"`{name}{brackets}`", _cell_text(" ".join(summary.split()))))
    return format_table(["member", "what it is, or does"], rows, 2) if rows else ""


def _object(name: str, kind: type, level: str) -> str:
    description = _docstring_to_markdown(inspect.getdoc(kind), _constructed(kind))
    return "\n\n".join(filter(None, [f"{level} {name}", description, _members(kind)]))


def python() -> str:
    """Return the page of the public names, by their docstrings."""
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
        table_metrics=format_table(["class", "what it is"], metrics, 2),
        verbs_newline=newline.join(verbs),
        objects_newline=newline.join(objects),
    )


# ---- engines, hosts and other packages' names ----

# Extra functions of one engine's module; `CorpusScore` derives from a class of Ray, so its source
# is read and not imported.
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
    """Return the code of a module, which is not imported: what it needs may not be installed."""
    return ast.parse(PACKAGE.joinpath(*module.split(".")).with_suffix(".py").read_text("utf-8"))


def _find_definition(tree: ast.AST, name: str) -> ast.FunctionDef | ast.ClassDef | ast.Assign:
    """Return the node that defines a name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            return node
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return node
    raise LookupError(name)


def _format_source_call(
    tree: ast.Module, name: str, arguments: ast.arguments
) -> tuple[str, list[str]]:
    """Return a function as it is called, as `_called` has it, and its parameters."""
    arguments.args = [one for one in arguments.args if one.arg != "self"]
    slots = [
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.kwonlyargs,
        arguments.vararg,
        arguments.kwarg,
    ]
    parameters = [one for one in slots if one]
    for parameter in parameters:
        parameter.annotation = None
    for defaults in (arguments.defaults, arguments.kw_defaults):
        for i, parameter in enumerate(defaults):
            if isinstance(parameter, ast.Name):  # a constant of the module
                defaults[i] = _find_definition(tree, parameter.id).value  # type: ignore[union-attr, call-overload]
    return _in_lines(f"{name}({ast.unparse(arguments)})"), [one.arg for one in parameters]


def _as_written(tree: ast.Module, name: str) -> str:
    """Return the documentation of a function or class without importing its module."""
    node = _find_definition(tree, name)
    if isinstance(node, ast.Assign):
        return f"### {name}\n\n```python\n{ast.unparse(node)}\n```"
    if isinstance(node, ast.FunctionDef):
        call, names = _format_source_call(tree, name, node.args)
        return "\n\n".join(
            [f"### {name}", call, _docstring_to_markdown(ast.get_docstring(node), names)]
        )
    methods = [one for one in node.body if isinstance(one, ast.FunctionDef)]
    parts = [f"### {name}"]
    names = []
    for method in methods:
        if method.name == "__init__":
            call, names = _format_source_call(tree, name, method.args)
            parts.append(call)
    parts.append(_docstring_to_markdown(ast.get_docstring(node), names))
    rows = [
        (f"`{one.name}{'' if one.decorator_list else '()'}`", _cell_text(" ".join(told.split())))
        for one in methods
        if one.name[0] != "_"
        for told in [(ast.get_docstring(one) or "").partition("\n\n")[0]]
    ]
    return "\n\n".join(
        [*parts, format_table(["member", "what it is, or does"], rows, 2) if rows else ""]
    )


def engines() -> str:
    """Return the page of truebleu.engines."""
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
    shared_functions = [
        (f"`corpus_{name}`, `sentence_{name}`", f'`score` and `sentence` with `metric="{name}"`')
        for name in SHORTCUT_METRICS
    ]
    sections = []
    for title, (module, names) in ENGINES.items():
        engine_module = import_module(f"truebleu.engines.{module}")
        description = (engine_module.__doc__ or "").partition("\n\n>>> ")[0]
        sections.append(
            f"## {title}\n\n`truebleu.engines.{module}`. {_docstring_to_markdown(description)}"
        )
        sections += [
            _function(name, getattr(engine_module, name), "###")
            if inspect.isfunction(vars(engine_module).get(name))
            else _as_written(_read(f"engines.{module}"), name)
            for name in names
        ]
    newline = "\n\n"
    return filled(
        "reference-engines",
        parts_newline=newline.join(parts),
        same_newline=newline.join(same),
        table_named=format_table(["function", "the same as"], shared_functions, 2),
        own_newline=newline.join(sections),
    )


def hosts() -> str:
    """Return the page of truebleu.integrations."""
    parts = []
    for module, names in HOSTS.items():
        tree = _read(f"integrations.{module}")
        summary = _docstring_to_markdown(ast.get_docstring(tree))
        if names == ("log_result", "log_segments"):  # loggers share them
            tree = _read("integrations.log_records")
        parts += [f"## truebleu.integrations.{module}", summary]
        parts += [_as_written(tree, name) for name in names]
    newline = "\n\n"
    return filled("reference-hosts", parts_newline=newline.join(parts))


def compatible() -> str:
    """Return the page of truebleu.compat."""
    from truebleu import compat

    return filled(
        "reference-compatible",
        function=_function("install", compat.install, "##"),
        function_2=_function("uninstall", compat.uninstall, "##"),
    )
