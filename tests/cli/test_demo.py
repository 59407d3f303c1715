"""`truebleu demo`, from a checkout and from an installed package."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from paths import EXAMPLES, ROOT

from truebleu.cli import demo


def join_command_lines(output: str) -> str:
    """Return the output with the continuation lines of commands joined."""
    return output.replace(" \\\n    ", " ")


@pytest.fixture(scope="module")
def demo_run(truebleu_command, tmp_path_factory):
    """Run the demonstration; return its folder and its output with joined command lines."""
    folder = tmp_path_factory.mktemp("demonstration")
    result = truebleu_command("demo", cwd=folder)
    assert (result.status, result.error) == (0, ""), result
    assert all(len(line) <= 80 for line in result.output.splitlines() if "truebleu " in line)
    return folder, join_command_lines(result.output)


def test_demo_writes_texts_and_report(demo_run):
    folder, output = demo_run
    written = {path.relative_to(folder / "examples") for path in (folder / "examples").rglob("*.*")}
    names = {Path(f"de-en/{name}.en") for name in ("aspen", "birch", "cedar", "reference.a")}
    assert names | {Path("README.md"), Path("report.html")} < written
    cedar = Path("de-en/cedar.en")
    assert (folder / "examples" / cedar).read_bytes() == (EXAMPLES / cedar).read_bytes()
    assert (folder / "examples" / "report.html").as_uri() in output


def test_demo_shows_output_of_commands(demo_run, truebleu_command):
    folder, output = demo_run
    lines = re.findall(r"^\$ truebleu (.*)$", output, re.MULTILINE)
    assert [line.split()[0] for line in lines] == ["score", "compare", "score", "report"]
    for line in lines:
        result = truebleu_command(*shlex.split(line), cwd=folder)
        assert result.status == 0
        assert f"$ truebleu {line}\n{result.output}" in output
    assert "cedar   54.0" in output


def test_suggested_commands_work(demo_run, truebleu_command):
    folder, output = demo_run
    commands = re.findall(r"^  truebleu (.*)$", output, re.MULTILINE)
    assert len(commands) == len(demo.NEXT_COMMANDS)
    for line in commands:
        if line.startswith("lab") or "REFERENCE" in line:
            continue  # a browser, and files of the reader's own
        result = truebleu_command(*shlex.split(line), cwd=folder)
        assert result.status == 0, result
        assert result.output


def test_demo_can_run_again_and_in_other_folder(demo_run, truebleu_command):
    folder, output = demo_run
    assert join_command_lines(truebleu_command("demo", cwd=folder).output) == output
    result = truebleu_command("demo", "-o", "a b/{0}", cwd=folder)
    assert result.status == 0, result
    assert "'a b/{0}/de-en/cedar.en'" in result.output
    assert (folder / "a b" / "{0}" / "report.html").exists()


def test_demo_does_not_overwrite_files(truebleu_command, tmp_path):
    file_content = tmp_path / "examples" / "en-zh" / "cedar.zh"
    file_content.parent.mkdir(parents=True)
    file_content.write_text("mine\n")
    result = truebleu_command("demo", cwd=tmp_path)
    assert (result.status, result.output) == (1, "")
    assert "cedar.zh: a different file with this name exists" in result.error
    assert [*tmp_path.rglob("*.*")] == [file_content]
    for name in ("-", "--x"):
        result = truebleu_command("demo", f"--output={name}", cwd=tmp_path)
        assert (result.status, result.error.count("\n")) == (2, 1)


@pytest.mark.skipif(not (ROOT / "kernel").is_dir(), reason="no checkout")
def test_wheel_contains_example_texts(tmp_path):
    """Use the layout of kernel/backend.py, without access to the checkout."""
    hook = "import sys; sys.path.insert(0, 'kernel'); import backend; print(backend.EXAMPLES)"
    pytest.importorskip("maturin", reason="no maturin, which builds the package")
    placed = subprocess.run(
        [sys.executable, "-c", hook], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert Path(placed.stdout.strip()) == Path(demo.__file__).with_name("examples")
    shutil.copytree(ROOT / "truebleu", tmp_path / "truebleu")
    code = "from truebleu.cli import main; import sys; sys.exit(main(['demo']))"
    run = [sys.executable, "-c", code]
    lacking = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (lacking.returncode, lacking.stdout) == (1, "")
    assert "contains no example texts" in lacking.stderr
    shutil.copytree(EXAMPLES, tmp_path / "truebleu" / "cli" / "examples")
    process = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    assert (tmp_path / "examples" / "report.html").exists()


def test_welcome_fits_terminal_and_lists_existing_commands(truebleu_command):
    from truebleu.cli import COMMANDS

    first = truebleu_command()
    assert first.status == 0
    named_commands = re.findall(r"^  truebleu (\S+)", first.output, re.MULTILINE)
    assert {"demo", "score", "compare", "report", "explain"} <= {*named_commands} <= {*COMMANDS}
    for words in ((), ("help",)):
        assert all(len(line) < 80 for line in truebleu_command(*words).output.splitlines())
