"""Options that messages name belong to the command that the message names, or that the user ran."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import truebleu
from truebleu import cli
from truebleu.cli import COMMANDS, build_parsers, main
from truebleu.cli.common_options import OPTION_HINTS

PACKAGE = Path(truebleu.__file__).parent
FLAGS = {
    name: {flag for action in parser.actions for flag in action.option_strings}
    for name, parser in zip(COMMANDS, build_parsers()[1], strict=False)
}
ALL_FLAGS = {*OPTION_HINTS, *(flag for flags in FLAGS.values() for flag in flags)}
# An option, or a command that the options after it belong to.
NAMED = re.compile(r"truebleu (?P<command>[a-z]+)|(?<![\w/-])(?P<flag>--?[a-z]+(?:-?[a-z\d]+)*)")
# Texts with options of other programs.
OTHER_PROGRAMS = re.compile(r"mteval|multi-bleu|pip install|hf download|python -m|METEOR|jar")


def list_flags(text, command):
    """Return the options in a text with the command that each belongs to."""
    flags = []
    for match in NAMED.finditer(text):
        if match["flag"] is None:
            command = match["command"] if match["command"] in FLAGS else command
        elif match["flag"] != "--help":
            flags.append((command, match["flag"]))
    return flags


@pytest.mark.parametrize("command", COMMANDS)
def test_hint_for_foreign_option_names_its_command(command, capsys, monkeypatch):
    monkeypatch.setattr(cli, "build_parsers", cache(build_parsers))
    for flag in sorted(ALL_FLAGS - FLAGS[command]):
        assert main([command, flag]) == 2
        error = " ".join(capsys.readouterr().err.split()).removeprefix("truebleu: error: ")
        message, help_command = re.fullmatch(r"(.*) \(see truebleu (\w+) --help\)", error).groups()
        owners = re.search(r"use truebleu ([\w, ]+?)(?:$| to | -f|, which| score$)", message)
        named = re.findall(r"\w+", owners[1].replace(" or ", " ")) if owners else []
        assert help_command == (named[0] if named else command), message
        if flag not in OPTION_HINTS:
            assert all(flag in FLAGS[name] for name in named), message
        hint = message.partition(": ")[2] if message.startswith("option ") else message
        hint = re.sub(rf"^unknown option {re.escape(flag)}|'.*?' of \w+", "", hint)
        for owner, other in list_flags(hint.replace(f"{flag} ", "", 1), command):
            if other != "--version":
                assert other in FLAGS[owner], message


def test_test_set_option_without_test_set_names_missing_option(capsys):
    assert main(["score", "--ref", "A"]) == 2
    assert "use it with -t (see truebleu score --help)" in " ".join(capsys.readouterr().err.split())


def list_messages(path):
    """Yield the texts in a module, except docstrings and declarations of options."""
    tree = ast.parse(path.read_text("utf-8"))
    statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    parts = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts |= {id(one) for one in ast.walk(node)} - {id(node)}
    for node in ast.walk(tree):
        if id(node) in statements | parts:
            continue
        text = node.value if isinstance(node, ast.Constant) else ""
        if isinstance(node, ast.JoinedStr):
            text = "".join(
                one.value if isinstance(one, ast.Constant) else "N" for one in node.values
            )
        if isinstance(text, str) and not re.match(r"\s*(\n|--?\w+ .*  )", text):
            yield text


@pytest.mark.parametrize("name", COMMANDS)
def test_messages_of_command_name_its_options(name):
    """Demo contains command lines without "truebleu"; completion contains shell code."""
    if name in ("demo", "completion"):
        pytest.skip("no messages about options")
    for text in list_messages(PACKAGE / "cli" / f"{name}.py"):
        for command, flag in list_flags(text, name):
            assert flag in FLAGS[command], text


def test_commands_in_messages_have_the_named_options():
    checked = 0
    for path in PACKAGE.rglob("*.py"):
        for text in list_messages(path):
            if OTHER_PROGRAMS.search(text):
                continue
            for command, flag in list_flags(text, ""):
                if command:
                    assert flag in FLAGS[command], f"{path.name}: {text}"
                    checked += 1
    assert checked > 20


@pytest.mark.parametrize(
    ("command", "options", "hint"),
    [
        ("compare", "--docs ids.txt", "--docs does not support tables. Use --by or --within"),
        ("score", "--docs ids.txt", "--docs does not support tables. Use --by (see"),
        ("report", "--docs ids.txt", "--docs does not support tables. Use --by (see"),
        ("compare", "--resample documents", "Use --bucket with a column of ids (see"),
        ("report", "--resample documents", "Use truebleu compare --bucket with a column of ids"),
        ("compare", "--by system", "Name their column with --join or --bucket"),
        ("report", "--by system", "Name their column with --join (see"),
    ],
)
def test_remedy_for_tables_names_options_of_command(command, options, hint, write, capsys):
    pytest.importorskip("duckdb")
    table = write("table.csv", ["hyp,ref,system", "a b,a b,x", "a c,a b,y"])
    words = ["-o", "-"] if command == "report" else []
    assert main([command, str(table), *options.split(), *words]) == 2
    assert hint in " ".join(capsys.readouterr().err.split())


def test_result_in_another_encoding_is_read_for_cite(tmp_path, capsys):
    """PowerShell writes UTF-16."""
    path = tmp_path / "scores.txt"
    path.write_text("BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0\n", "utf-16")
    assert main(["cite", str(path)]) == 1
    assert "-e utf-16" in capsys.readouterr().err
    assert main(["cite", str(path), "-e", "utf-16", "-q"]) == 0
    assert capsys.readouterr().out.startswith("We report BLEU (Papineni et al., 2002; Post, 2018)")


def test_resegment_selects_language_pair_of_test_set(capsys):
    assert main(["resegment", "-t", "wmt22"]) == 2
    assert "-t/--test-set needs a language pair, such as -l" in capsys.readouterr().err
    assert main(["resegment", "ref", "-l", "en-de"]) == 2
    assert "-l/--language has no effect without -t/--test-set" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("compare -i a b -r ref", "compare ref -i a b"),
        ("score ref -i a --reference ref", "score ref -i a"),
        ("score --references=ref.a --refs ref.b -i a -b", "score ref.a ref.b -i a -b"),
        ("segments --hypothesis a --reference ref", "segments ref -i a"),
        ("family which 27.3 -i a -r ref", "family which 27.3 ref -i a"),
        ("check ref --hyp=a --min 20", "check ref -i a --min 20"),
        ("report -r", "report REF"),
    ],
)
def test_option_for_references_or_outputs_names_the_command_line(words, line, capsys):
    assert main(words.split()) == 2
    error = " ".join(capsys.readouterr().err.split())
    assert f". Use truebleu {line} (see" in error
    kind = "system outputs follow -i/--input" if "--hyp" in words else "references are positional"
    assert kind in error


@pytest.mark.parametrize(
    ("words", "example"),
    [
        ("score -i a b", "all 2 files were read as system outputs, because they follow -i"),
        ("score -i a b", "as in b -i a (see"),
        ("compare -i refs/en a b", "refs/en was read as a system output"),
        ("compare -i refs/en a b", "as in refs/en -i a b (see"),
        ("score -i a", "missing REF: name at least one reference file, or a test set"),
        ("report -i a.csv ref.csv", "ref.csv was read as a system output"),
    ],
)
def test_reference_after_input_option_is_explained(words, example, capsys):
    assert main(words.split()) == 2
    assert example in " ".join(capsys.readouterr().err.split())


def test_alpha_is_explained_by_level(capsys):
    assert main(["compare", "ref", "-i", "a", "b", "--alpha", "0.01"]) == 2
    assert "use --level, which is 1 minus alpha" in " ".join(capsys.readouterr().err.split())


def test_empty_segment_of_resegmented_output_is_counted_once_per_message(write, capsys):
    reference = write("ref", ["a b c d e f", "x y z", "g h i j k l"])
    output = write("out", ["a b c d e f", "g h i j k l"])
    assert main(["score", str(reference), "-i", str(output), "--resegment", "-f", "text"]) == 0
    printed = capsys.readouterr()
    assert printed.err.count("empty") == 1
    assert "1 of 3 hypotheses is empty (line 2); it is scored as" in printed.out


def test_check_divides_earlier_output_too(write, capsys):
    reference = write("ref", ["a b c d e f", "x y z w", "g h i j k l"])
    output = write("new", ["a b c d e f x y z w", "g h i j k l"])
    earlier = write("old", ["a b c d e f x y z w g h i j k k"])
    words = [str(reference), "-i", str(output), "--against", str(earlier), "--max-drop", "1"]
    assert main(["check", *words, "--resegment", "-q"]) == 0
    assert "100.00" in capsys.readouterr().out


def test_advice_to_resegment_needs_output_of_another_length(write, capsys):
    text = str(write("ref", ["a b c d e f", "x y z"]))
    output = str(write("out", ["a b c d e f", "x y z"]))
    human = str(write("human", ["out\t1", "out\t2"]))
    domains = str(write("domains", ["news"]))
    words = ["meta", "--human", human, text, "-i", output, "--domains", domains]
    assert main([*words, "--level", "domain"]) == 1
    error = " ".join(capsys.readouterr().err.split())
    assert error.endswith("domain 1. All must be equal")
