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
from typing import Any

from page_helpers import fill_template, format_table

import truebleu
from truebleu.cli import COMMANDS, load_command, output
from truebleu.cli.common_options import Option, OptionGroup
from truebleu.metrics import base, registry

_SENTENCES = tomllib.loads(Path(__file__).with_name("reference.toml").read_text("utf-8"))
VARIABLES, CIRCUMSTANCES = _SENTENCES["variables"], _SENTENCES["circumstances"]


def build_environment_page() -> str:
    """Return the page docs/reference/environment.md."""
    tables = "\n\n".join(
        f"## {title}\n\n"
        + format_table(
            ["variable", "meaning"], [(f"`{name}`", about) for name, about in named.items()], 2
        )
        for title, named in VARIABLES.items()
    )
    return fill_template("reference-environment", tables=tables)


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


def _format_option_groups(groups: Iterable[OptionGroup]) -> Iterator[str]:
    """Yield the title and the option table of each group; list shared metric options only once."""
    listed_flags = {"--help"}
    for group in groups:
        options = [option for option in group.options if option.flags[-1] not in listed_flags]
        listed_flags |= {option.flags[-1] for option in options}
        if options:
            yield f"**{_escape_cell(group.title)}**" + (
                f": {_escape_cell(group.description)}" if group.description else ""
            )
            yield format_table(
                ["option", "meaning"],
                [(_format_option(one), _describe_option(one)) for one in options],
                2,
            )


def list_exit_statuses() -> list[tuple[str, str]]:
    """Return each exit status with its meaning."""
    return [(str(status), meaning) for status, meaning in output.STATUSES.items()]


def build_commands_page() -> str:
    """Return the page docs/reference/commands.md."""
    parts = []
    for name, summary in COMMANDS.items():
        declared = load_command(name)
        examples = (declared.module_doc or "").partition("\n\n")[2].strip()
        parts += [
            f"## {name}",
            f"{_escape_cell(summary)}.",
            f"```text\n{declared.usage}\n```",
            *_format_option_groups(declared.groups(())),
            f"```text\n{examples}\n```" if examples else "",
        ]
    body = "\n\n".join(filter(None, parts))
    return fill_template(
        "reference-all-commands",
        body=body,
        table_exit_statuses=format_table(["status", "meaning"], list_exit_statuses(), 2),
    )


def _format_metric_names(metric: Any) -> str:
    """Return the registered names of a metric class."""
    metric_names = [name for name in registry.METRICS if registry.get_metric_class(name) is metric]
    parametrized_names = [
        f"{name}:{text}"
        for name, (_, text) in registry.PREFIXED_METRICS.items()
        if registry.get_metric_class(name) is metric
    ]
    return ", ".join(f"`{name}`" for name in metric_names + parametrized_names)


def build_signatures_page() -> str:
    """Return the page docs/reference/signatures.md: metrics, parameters and signature fields."""
    parts = []
    for metric in registry.iterate_metric_classes():
        rows = [
            (
                f"`{one.name}`",
                f"`{one.default!r}`",
                ""
                if one.is_hidden
                else f"`{one.key}`" + (f", `{one.short}`" if one.short != one.key else ""),
                _escape_cell(one.python_help),
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
    return fill_template(
        "reference-signatures",
        table_around=format_table(["field", "short", "meaning"], around, 3),
        body=body,
    )


# Methods of metrics that the page documents; `help(tb.BLEU)` lists the others.
VERBS = (
    *("score", "sentence", "segments", "statistics", "from_statistics"),
    *("matrix", "triangle", "top_k", "expected", "signature", "with_parameters"),
)


def _format_signature(name: str, function: Any) -> str:
    """Return a function's signature as a code block, without type annotations."""
    signature = inspect.signature(function)
    untyped = [
        one.replace(annotation=one.empty)
        for one in signature.parameters.values()
        if one.name != "self"
    ]
    return _wrap_signature(f"{name}{inspect.Signature(untyped)}")


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


def _document_function(name: str, function: Any, heading_level: str) -> str:
    names = _iterate_parameter_names(function)
    description = _docstring_to_markdown(inspect.getdoc(function), names)
    return f"{heading_level} {name}\n\n{_format_signature(name, function)}\n\n{description}"


def _iterate_parameter_names(function: Any) -> Iterator[str]:
    """Yield a function's parameter names, including the keys of a TypedDict passed with `**`."""
    for name, parameter in inspect.signature(function).parameters.items():
        yield name
        if parameter.kind is parameter.VAR_KEYWORD and "Unpack" in str(parameter.annotation):
            typed = str(parameter.annotation).removeprefix("Unpack[").removesuffix("]")
            yield from function.__globals__[typed].__annotations__


def _get_constructor_parameters(cls: type) -> Iterable[str]:
    """Return the constructor's parameters, or an empty tuple if it has no Python signature."""
    try:
        return inspect.signature(cls).parameters
    except ValueError:
        return ()


def _format_member_table(cls: type) -> str:
    """Return a table of the public members of a class, with the summary of each docstring."""
    rows = []
    for name in dir(cls):
        member = inspect.getattr_static(cls, name)
        summary = _summarize(inspect.getdoc(getattr(cls, name)))
        is_documented = any(
            name in vars(one) for one in cls.__mro__ if one.__module__.startswith("truebleu")
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
            continue  # Default value of a dataclass field
        brackets = "" if inspect.isdatadescriptor(member) else "()"
        rows.append((f"`{name}{brackets}`", summary))
    return format_table(["member", "description"], rows, 2) if rows else ""


def _document_class(name: str, cls: type, heading_level: str) -> str:
    description = _docstring_to_markdown(inspect.getdoc(cls), _get_constructor_parameters(cls))
    return "\n\n".join(
        filter(None, [f"{heading_level} {name}", description, _format_member_table(cls)])
    )


def build_python_page() -> str:
    """Return the page docs/reference/python.md."""
    public = {name: getattr(truebleu, name) for name in truebleu.PUBLIC}
    functions = [
        _document_function(name, each, "###")
        for name, each in public.items()
        if inspect.isfunction(each)
    ]
    kinds = {name: each for name, each in public.items() if isinstance(each, type)}
    metrics = [
        (f"[`{name}`](signatures.md#{name.lower()})", _summarize(inspect.getdoc(each)))
        for name, each in kinds.items()
        if issubclass(each, base.Metric) and each is not base.Metric
    ]
    verbs = [_document_function(verb, getattr(truebleu.BLEU, verb), "####") for verb in VERBS]
    objects = [
        _document_class(name, each, "###")
        for name, each in kinds.items()
        if not issubclass(each, base.Metric) and not issubclass(each, Exception)
    ]
    return fill_template(
        "reference-python",
        text_warning=_escape_docstring_line(
            " ".join((inspect.getdoc(truebleu.TextWarning) or "").partition("\n\n")[2].split())
        ),
        functions_newline="\n\n".join(functions),
        table_metrics=format_table(["class", "description"], metrics, 2),
        verbs_newline="\n\n".join(verbs),
        objects_newline="\n\n".join(objects),
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


def _format_parsed_signature(
    tree: ast.Module, name: str, arguments: ast.arguments
) -> tuple[str, list[str]]:
    """Return a formatted signature and the parameter names of a parsed function."""
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
            if isinstance(parameter, ast.Name):  # a module-level constant
                defaults[i] = _find_definition(tree, parameter.id).value  # type: ignore[union-attr, call-overload]
    return _wrap_signature(f"{name}({ast.unparse(arguments)})"), [one.arg for one in parameters]


def _document_definition(tree: ast.Module, name: str) -> str:
    """Return the documentation of a name without importing its module."""
    node = _find_definition(tree, name)
    if isinstance(node, ast.Assign):
        return f"### {name}\n\n```python\n{ast.unparse(node)}\n```"
    if isinstance(node, ast.FunctionDef):
        call, names = _format_parsed_signature(tree, name, node.args)
        return "\n\n".join(
            [f"### {name}", call, _docstring_to_markdown(ast.get_docstring(node), names)]
        )
    methods = [one for one in node.body if isinstance(one, ast.FunctionDef)]
    parts = [f"### {name}"]
    names = []
    for method in methods:
        if method.name == "__init__":
            call, names = _format_parsed_signature(tree, name, method.args)
            parts.append(call)
    parts.append(_docstring_to_markdown(ast.get_docstring(node), names))
    rows = [
        (f"`{one.name}{'' if one.decorator_list else '()'}`", _summarize(ast.get_docstring(one)))
        for one in methods
        if one.name[0] != "_"
    ]
    return "\n\n".join([*parts, format_table(["member", "description"], rows, 2) if rows else ""])


def build_engines_page() -> str:
    """Return the page docs/reference/engines.md."""
    from truebleu import engines as package
    from truebleu.engines.common_api import SHORTCUT_METRICS

    shared = [package.Sums, package.compare, package.intervals, package.bucket_of]
    parts = [
        _document_class(one.__name__, one, "###")
        if isinstance(one, type)
        else _document_function(one.__name__, one, "###")
        for one in shared
    ]
    first = import_module("truebleu.engines.polars")
    same = [
        _document_function(name, getattr(first, name), "###")
        for name in ("score", "stats", "compare")
    ]
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
            _document_function(name, getattr(engine_module, name), "###")
            if inspect.isfunction(vars(engine_module).get(name))
            else _document_definition(_parse_module(f"engines.{module}"), name)
            for name in names
        ]
    return fill_template(
        "reference-engines",
        parts_newline="\n\n".join(parts),
        same_newline="\n\n".join(same),
        table_named=format_table(["function", "equivalent"], shared_functions, 2),
        own_newline="\n\n".join(sections),
    )


def build_integrations_page() -> str:
    """Return the page docs/reference/integrations.md."""
    parts = []
    for module, names in HOSTS.items():
        tree = _parse_module(f"integrations.{module}")
        summary = _docstring_to_markdown(ast.get_docstring(tree))
        if names == ("log_result", "log_segments"):  # Both loggers have these functions
            tree = _parse_module("integrations.log_records")
        parts += [f"## truebleu.integrations.{module}", summary]
        parts += [_document_definition(tree, name) for name in names]
    return fill_template("reference-hosts", parts_newline="\n\n".join(parts))


def build_compat_page() -> str:
    """Return the page docs/reference/compat.md."""
    from truebleu import compat

    return fill_template(
        "reference-compatible",
        function=_document_function("install", compat.install, "##"),
        function_2=_document_function("uninstall", compat.uninstall, "##"),
    )
