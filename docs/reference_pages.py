"""Build the pages of docs/reference/ from command-line help, docstrings and signatures."""

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
from typing import Any, NamedTuple

from page_helpers import fill_template

import truebleu
from truebleu.cli import COMMANDS, load_command, output
from truebleu.cli.common_options import Option, OptionGroup
from truebleu.metrics import base, registry

_SENTENCES = tomllib.loads(Path(__file__).with_name("reference.toml").read_text("utf-8"))
VARIABLES, CIRCUMSTANCES = _SENTENCES["variables"], _SENTENCES["circumstances"]


def build_environment_page() -> str:
    """Return the page docs/reference/environment.md."""
    return fill_template("reference-environment", VARIABLES=VARIABLES)


# ---- commands ----


def build_commands_page() -> str:
    """Return the page docs/reference/commands.md."""
    return fill_template(
        "reference-all-commands",
        commands=[(name, summary, load_command(name)) for name, summary in COMMANDS.items()],
        list_groups=_list_option_groups,
        exit_statuses=list_exit_statuses(),
        cell=_escape_cell,
    )


def _escape_cell(text: str) -> str:
    """Escape a help text for a cell of a Markdown table."""
    text = text.replace("%%", "%").replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([|*_`\\\[\]])", r"\\\1", text)


def _format_option(option: Option) -> str:
    """Format an option with its value, or a positional argument, as in the help."""
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


def _describe_option(option: Option) -> str:
    """Return the help of an option, with its choices and default unless the help mentions them."""
    sentence = option.arguments["help"]
    meaning = _escape_cell(sentence)
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


def _list_option_groups(
    groups: Iterable[OptionGroup],
) -> Iterator[tuple[OptionGroup, list[tuple[str, str]]]]:
    """Yield each group with its described options; list shared metric options only once."""
    listed_flags = {"--help"}
    for group in groups:
        options = [option for option in group.options if option.flags[-1] not in listed_flags]
        listed_flags |= {option.flags[-1] for option in options}
        if options:
            yield group, [(_format_option(one), _describe_option(one)) for one in options]


def list_exit_statuses() -> list[tuple[str, str]]:
    """Return each exit status with its meaning."""
    return [(str(status), meaning) for status, meaning in output.STATUSES.items()]


# ---- metrics and signatures ----


def build_signatures_page() -> str:
    """Return the page docs/reference/signatures.md: metrics, parameters and signature fields."""
    names: dict[type, list[str]] = {}
    for name in registry.METRICS:
        names.setdefault(registry.get_metric_class(name), []).append(name)
    for name, (_, text) in registry.PREFIXED_METRICS.items():
        names.setdefault(registry.get_metric_class(name), []).append(f"{name}:{text}")
    return fill_template(
        "reference-signatures",
        metrics=[(metric, names.get(metric, [])) for metric in registry.iterate_metric_classes()],
        fields=base.CONTEXT_FIELDS,
        CIRCUMSTANCES=CIRCUMSTANCES,
        cell=_escape_cell,
    )


# ---- functions and classes ----


class Entry(NamedTuple):
    """Documentation of a function, a class or a constant in Markdown."""

    name: str
    signature: str
    description: str
    members: Iterable[tuple[str, str]] = ()
    """The public members of a class, each with a summary."""


# Methods of metrics that the page documents; `help(tb.BLEU)` lists the others.
VERBS = (
    *("score", "sentence", "segments", "statistics", "from_statistics"),
    *("matrix", "triangle", "top_k", "expected", "signature", "with_parameters"),
)


def _wrap_signature(signature: str) -> str:
    """Return a signature as a code block, wrapped to the page width."""
    signature = signature.replace("mappingproxy({})", "{}")
    lines = wrap(signature, 96, subsequent_indent="    ", break_long_words=False)
    return "\n".join(["```python", *lines, "```"])


def _docstring_to_markdown(docstring: str | None, parameters: Iterable[str] = ()) -> str:
    """Convert a docstring to Markdown: paragraphs, a list of the named parameters, and examples."""
    parts: list[str] = []
    names = set(parameters)
    for block in (docstring or "").split("\n\n"):
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
                markdown_lines.append(f"* `{name}`: {_escape_docstring_line(rest)}")
            elif markdown_lines and line.startswith(" "):
                markdown_lines.append(f"  {_escape_docstring_line(line.strip())}")
            else:
                markdown_lines.append(_escape_docstring_line(line.strip()))
        item_lines = [i for i, line in enumerate(markdown_lines) if line.startswith("* ")]
        if item_lines and item_lines[0]:
            markdown_lines.insert(item_lines[0], "")
        parts.append("\n".join(markdown_lines))
    # Blank lines within the code have split code blocks, so join the parts.
    return "\n\n".join(filter(None, parts)).replace("\n```\n\n```python\n", "\n\n")


def _escape_docstring_line(text: str) -> str:
    """Escape the markup in a docstring line, except between backticks."""
    pieces = text.split("`")
    return "`".join(piece if i % 2 else _escape_cell(piece) for i, piece in enumerate(pieces))


def _summarize(docstring: str | None) -> str:
    """Return the first paragraph of a docstring as one line of Markdown."""
    return _escape_docstring_line(" ".join((docstring or "").partition("\n\n")[0].split()))


def _iterate_parameter_names(function: Any) -> Iterator[str]:
    """Yield a function's parameter names, including the keys of a TypedDict passed with `**`."""
    for name, parameter in inspect.signature(function).parameters.items():
        yield name
        if parameter.kind is parameter.VAR_KEYWORD and "Unpack" in str(parameter.annotation):
            typed = str(parameter.annotation).removeprefix("Unpack[").removesuffix("]")
            yield from function.__globals__[typed].__annotations__


def document_object(name: str, thing: Any) -> Entry:
    """Return the documentation of an imported function or class."""
    docstring = inspect.getdoc(thing)
    if isinstance(thing, type):
        try:
            parameters: Iterable[str] = inspect.signature(thing).parameters
        except ValueError:  # no Python signature
            parameters = ()
        description = _docstring_to_markdown(docstring, parameters)
        return Entry(name, "", description, list(_iterate_members(thing)))
    signature = inspect.signature(thing)
    untyped = [
        one.replace(annotation=one.empty)
        for one in signature.parameters.values()
        if one.name != "self"
    ]
    call = _wrap_signature(f"{name}{inspect.Signature(untyped)}")
    return Entry(name, call, _docstring_to_markdown(docstring, _iterate_parameter_names(thing)))


def _iterate_members(cls: type) -> Iterator[tuple[str, str]]:
    """Yield the public members of a class, with the summary of each docstring."""
    own_classes = [one for one in cls.__mro__ if one.__module__.startswith("truebleu")]
    for name in dir(cls):
        member = inspect.getattr_static(cls, name)
        summary = _summarize(inspect.getdoc(getattr(cls, name)))
        is_documented = summary and any(name in vars(one) for one in own_classes)
        is_constant = name.isupper() or isinstance(member, type)
        # Default values of dataclass fields are neither callable nor descriptors.
        is_member = callable(member) or hasattr(type(member), "__get__")
        if is_documented and name[0] != "_" and not is_constant and is_member:
            yield f"{name}{'' if inspect.isdatadescriptor(member) else '()'}", summary


def build_python_page() -> str:
    """Return the page docs/reference/python.md."""
    public = {name: getattr(truebleu, name) for name in truebleu.PUBLIC}
    kinds = {name: each for name, each in public.items() if isinstance(each, type)}
    metrics = {name for name, kind in kinds.items() if issubclass(kind, base.Metric)}
    warning = inspect.getdoc(truebleu.TextWarning) or ""
    return fill_template(
        "reference-python",
        text_warning=_escape_docstring_line(" ".join(warning.partition("\n\n")[2].split())),
        functions=[
            document_object(name, each) for name, each in public.items() if inspect.isfunction(each)
        ],
        metrics={
            name: _summarize(inspect.getdoc(kinds[name]))
            for name in kinds
            if name in metrics - {"Metric"}
        },
        verbs=[document_object(verb, getattr(truebleu.BLEU, verb)) for verb in VERBS],
        objects=[
            document_object(name, kind)
            for name, kind in kinds.items()
            if name not in metrics and not issubclass(kind, Exception)
        ],
    )


# ---- engines, integrations and compat ----

# Extra functions of one engine's module; `CorpusScore` derives from a class of Ray, so its source
# is read and not imported.
ENGINES = {
    "DuckDB": ("duckdb", ("sums", "sentence", "register")),
    "Polars": ("polars", ("sums", "sentence")),
    "Spark": ("spark", ("sums", "stats", "sentence", "register", "merge", "scores", "check")),
    "Ray": ("ray", ("sums", "sentence", "CorpusScore")),
}

# The public names of each module of truebleu.integrations. A test checks that no module is missing.
HOSTS = {
    "torch": ("all_reduce_",),
    "torchmetrics": ("Corpus", "CorpusBLEU", "CorpusCHRF", "CorpusTER"),
    "rewards": (),  # docs/reference/python.md
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


def _parse_module(module: str) -> ast.Module:
    """Parse a module without importing it, because its dependencies may not be installed."""
    return ast.parse(PACKAGE.joinpath(*module.split(".")).with_suffix(".py").read_text("utf-8"))


def _find_definition(tree: ast.AST, name: str) -> ast.FunctionDef | ast.ClassDef | ast.Assign:
    """Return the syntax tree node that defines a name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            return node
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return node
    raise LookupError(name)


def document_definition(tree: ast.Module, name: str) -> Entry:
    """Return the documentation of a name without importing its module."""
    node = _find_definition(tree, name)
    if isinstance(node, ast.Assign):
        return Entry(name, f"```python\n{ast.unparse(node)}\n```", "")
    methods = [one for one in getattr(node, "body", ()) if isinstance(one, ast.FunctionDef)]
    constructors = [one for one in methods if one.name == "__init__"]
    function = node if isinstance(node, ast.FunctionDef) else next(iter(constructors), None)
    call, parameters = _format_parsed_signature(tree, name, function) if function else ("", [])
    description = _docstring_to_markdown(ast.get_docstring(node), parameters)
    members = [
        (f"{one.name}{'' if one.decorator_list else '()'}", _summarize(ast.get_docstring(one)))
        for one in methods
        if one.name[0] != "_" and node is not function
    ]
    return Entry(name, call, description, members)


def _format_parsed_signature(
    tree: ast.Module, name: str, function: ast.FunctionDef
) -> tuple[str, list[str]]:
    """Return a formatted signature and the parameter names of a parsed function."""
    arguments = function.args
    arguments.args = [one for one in arguments.args if one.arg != "self"]
    slots = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    parameters = [one for one in (*slots, arguments.vararg, arguments.kwarg) if one]
    for parameter in parameters:
        parameter.annotation = None
    for defaults in (arguments.defaults, arguments.kw_defaults):
        for i, default in enumerate(defaults):
            if isinstance(default, ast.Name):  # a module-level constant
                defaults[i] = _find_definition(tree, default.id).value  # type: ignore[union-attr, call-overload]
    return _wrap_signature(f"{name}({ast.unparse(arguments)})"), [one.arg for one in parameters]


def build_engines_page() -> str:
    """Return the page docs/reference/engines.md."""
    from truebleu import engines as package
    from truebleu.engines.common_api import SHORTCUT_METRICS

    shared = [package.Sums, package.compare, package.intervals, package.bucket_of]
    polars = import_module("truebleu.engines.polars")
    sections = []
    for title, (module, names) in ENGINES.items():
        engine, tree = (
            import_module(f"truebleu.engines.{module}"),
            _parse_module(f"engines.{module}"),
        )
        description = _docstring_to_markdown((engine.__doc__ or "").partition("\n\n>>> ")[0])
        entries = [
            document_object(name, vars(engine)[name])
            if inspect.isfunction(vars(engine).get(name))
            else document_definition(tree, name)
            for name in names
        ]
        sections.append((title, module, description, entries))
    return fill_template(
        "reference-engines",
        shared=[document_object(one.__name__, one) for one in shared],
        same=[
            document_object(name, getattr(polars, name)) for name in ("score", "stats", "compare")
        ],
        SHORTCUT_METRICS=SHORTCUT_METRICS,
        sections=sections,
    )


def build_integrations_page() -> str:
    """Return the page docs/reference/integrations.md."""
    sections = []
    for module, names in HOSTS.items():
        tree = _parse_module(f"integrations.{module}")
        summary = _docstring_to_markdown(ast.get_docstring(tree))
        if names == ("log_result", "log_segments"):  # Both loggers have these functions
            tree = _parse_module("integrations.log_records")
        sections.append((module, summary, [document_definition(tree, name) for name in names]))
    return fill_template("reference-hosts", sections=sections)


def build_compat_page() -> str:
    """Return the page docs/reference/compat.md."""
    from truebleu import compat

    entries = [document_object(name, getattr(compat, name)) for name in ("install", "uninstall")]
    return fill_template("reference-compatible", entries=entries)
