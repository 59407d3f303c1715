"""The demonstration: each command that it shows prints what it shows, on files that it writes."""

import shlex

import pytest

from truebleu.cli import demo, main


@pytest.fixture
def shown(tmp_path, monkeypatch, capsys):
    """What it prints, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "-o", "a folder"]) == 0
    return capsys.readouterr().out


def test_each_command_prints_what_is_shown(shown, capsys):
    lines = [line for line in shown.splitlines() if line.startswith("$ truebleu ")]
    assert len(lines) == len(demo.STEPS)
    for line in lines:
        assert main(shlex.split(line)[2:]) == 0
        assert line + "\n" + capsys.readouterr().out in shown


def test_what_to_try_next_can_be_tried(shown, tmp_path, capsys):
    tried = [line for line in shown.partition("Next:")[2].splitlines() if "a folder" in line]
    assert len(tried) == 4
    for line in tried:
        command = line.strip().rpartition("  ")[0]
        assert main(shlex.split(command)[1:]) == 0, command
        assert capsys.readouterr().out
    assert (tmp_path / "a folder" / "report.html").stat().st_size > 100_000


def test_it_can_be_run_again_and_replaces_nothing_of_others(shown, tmp_path, capsys):
    assert main(["demo", "-o", "a folder"]) == 0
    assert capsys.readouterr().out == shown
    other = tmp_path / "a folder" / "de-en" / "cedar.en"
    other.write_text("mine\n")
    assert main(["demo", "-o", "a folder"]) == 1
    assert "cedar.en is not the example's; name another folder with -o" in capsys.readouterr().err
    assert other.read_text() == "mine\n"


def test_a_package_without_the_files_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(demo, "EXAMPLES", tmp_path / "none")
    assert main(["demo", "-o", str(tmp_path / "made")]) == 1
    assert "built without its example files" in capsys.readouterr().err
    assert not (tmp_path / "made").exists()
