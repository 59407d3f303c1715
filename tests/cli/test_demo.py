"""`truebleu demo`: the demonstration, from a checkout and from an installed package."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from paths import EXAMPLES, ROOT

from truebleu.cli import demo


def joined(output: str) -> str:
    """The output with each command line in one piece, as a shell reads it."""
    return output.replace(" \\\n    ", " ")


@pytest.fixture(scope="module")
def shown(truebleu_command, tmp_path_factory):
    """The folder in which it ran, and what it printed, with command lines in one piece."""
    folder = tmp_path_factory.mktemp("demonstration")
    done = truebleu_command("demo", cwd=folder)
    assert (done.status, done.error) == (0, ""), done
    assert all(len(line) <= 80 for line in done.output.splitlines() if "truebleu " in line)
    return folder, joined(done.output)


def test_it_writes_the_example_texts_and_a_report(shown):
    folder, output = shown
    written = {path.relative_to(folder / "examples") for path in (folder / "examples").rglob("*.*")}
    names = {Path(f"de-en/{name}.en") for name in ("aspen", "birch", "cedar", "reference.a")}
    assert names | {Path("README.md"), Path("report.html")} < written
    cedar = Path("de-en/cedar.en")
    assert (folder / "examples" / cedar).read_bytes() == (EXAMPLES / cedar).read_bytes()
    assert (folder / "examples" / "report.html").as_uri() in output


def test_what_it_shows_is_what_the_commands_print(shown, truebleu_command):
    folder, output = shown
    lines = re.findall(r"^\$ truebleu (.*)$", output, re.MULTILINE)
    assert [line.split()[0] for line in lines] == ["score", "compare", "score", "report"]
    for line in lines:
        done = truebleu_command(*shlex.split(line), cwd=folder)
        assert done.status == 0
        assert f"$ truebleu {line}\n{done.output}" in output
    assert "cedar   54.0" in output


def test_what_it_says_to_try_next_works(shown, truebleu_command):
    folder, output = shown
    commands = re.findall(r"^  truebleu (.*)$", output, re.MULTILINE)
    assert len(commands) == len(demo.NEXT)
    for line in commands:
        if line.startswith("lab") or "REFERENCE" in line:
            continue  # a browser, and files of the reader's own
        done = truebleu_command(*shlex.split(line), cwd=folder)
        assert done.status == 0, done
        assert done.output


def test_again_and_elsewhere(shown, truebleu_command):
    folder, output = shown
    assert joined(truebleu_command("demo", cwd=folder).output) == output
    done = truebleu_command("demo", "-o", "a b/{0}", cwd=folder)
    assert done.status == 0, done
    assert "'a b/{0}/de-en/cedar.en'" in done.output
    assert (folder / "a b" / "{0}" / "report.html").exists()


def test_it_overwrites_no_file_of_the_user(truebleu_command, tmp_path):
    own = tmp_path / "examples" / "en-zh" / "cedar.zh"
    own.parent.mkdir(parents=True)
    own.write_text("mine\n")
    done = truebleu_command("demo", cwd=tmp_path)
    assert (done.status, done.output) == (1, "")
    assert "cedar.zh: a file of this name is there, and has another content" in done.error
    assert [*tmp_path.rglob("*.*")] == [own]
    for name in ("-", "--x"):
        done = truebleu_command("demo", f"--output={name}", cwd=tmp_path)
        assert (done.status, done.error.count("\n")) == (2, 1)


@pytest.mark.skipif(not (ROOT / "kernel").is_dir(), reason="no checkout")
def test_a_wheel_has_the_texts_beside_the_command(tmp_path):
    """As kernel/backend.py lays the package out; the checkout is not asked."""
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
    assert "built without the example texts" in lacking.stderr
    shutil.copytree(EXAMPLES, tmp_path / "truebleu" / "cli" / "examples")
    found = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert (tmp_path / "examples" / "report.html").exists()


def test_the_first_screen_fits_a_terminal_and_leads_to_commands_that_are_there(truebleu_command):
    from truebleu.cli import COMMANDS

    first = truebleu_command()
    assert first.status == 0
    named = re.findall(r"^  truebleu (\S+)", first.output, re.MULTILINE)
    assert {"demo", "score", "compare", "report", "explain"} <= {*named} <= {*COMMANDS}
    for words in ((), ("help",)):
        assert all(len(line) < 80 for line in truebleu_command(*words).output.splitlines())
