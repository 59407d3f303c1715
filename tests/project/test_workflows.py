"""Workflows, and the rehearsal of a release: commands that exist, versions, order, approval."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from paths import ROOT

yaml = pytest.importorskip("yaml")

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CI = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))["jobs"]
PUBLISHING_JOBS = {"publish", "publish-npm", "publish-site"}
MAKE_TARGETS = set(re.findall(r"(?m)^([a-z0-9-]+):", (ROOT / "Makefile").read_text("utf-8")))
FOLDERS = r"kernel|npm|tests|tools|\.ci|\.github"


def list_commands() -> list:
    """Return the commands of all steps, with each value of the matrix, and their places."""
    commands = []
    for path in (*WORKFLOWS, ROOT / "action.yml"):
        content = yaml.safe_load(path.read_text("utf-8"))
        for name, job in content.get("jobs", {"action": content.get("runs")}).items():
            values = job.get("strategy", {}).get("matrix", {}).get("target", [""])
            for number, step in enumerate(job["steps"]):
                for value in values if "run" in step else ():
                    command = step["run"].replace("${{ matrix.target }}", value)
                    commands.append(pytest.param(command, id=f"{path.stem}-{name}-{number}{value}"))
    return commands


def list_needed_jobs(job: str) -> set[str]:
    """Return the jobs that must pass before a job starts."""
    needs = CI[job].get("needs", [])
    direct = {needs} if isinstance(needs, str) else {*needs}
    return direct.union(*map(list_needed_jobs, direct))


@pytest.mark.parametrize("command", list_commands())
def test_step_is_valid_bash(command):
    done = subprocess.run(
        ["bash", "-n"], input=command, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("command", list_commands())
def test_step_names_existing_targets_and_files(command):
    for words in re.findall(r"^make (.*?)(?:&&|#|$)", command, re.MULTILINE):
        targets = {word for word in shlex.split(words) if "=" not in word}
        assert targets <= MAKE_TARGETS
    for path in re.findall(rf"(?:^|[\s'/])((?:{FOLDERS})/[\w./-]+)", command):
        # Steps build these files.
        if not re.match("npm/truebleu-|wheel-test", path):
            assert (ROOT / path).exists(), path


def test_publishing_waits_for_every_other_job():
    assert list_needed_jobs("publish") == {*CI} - PUBLISHING_JOBS
    assert all("publish" in list_needed_jobs(job) for job in PUBLISHING_JOBS - {"publish"})


def test_version_is_checked_before_everything_else():
    assert all("version" in list_needed_jobs(job) for job in {*CI} - {"version"})


def test_only_tags_are_published_and_only_with_an_identity():
    assert CI["publish"]["if"] == "startsWith(github.ref, 'refs/tags/v')"
    for name, job in CI.items():
        identity = job.get("permissions", {}).get("id-token")
        assert (identity == "write") == ("environment" in job) == (name in PUBLISHING_JOBS)


def test_releases_page_names_environments_and_secrets():
    page = (ROOT / "docs" / "maintaining.md").read_text("utf-8")
    names = {job["environment"] for job in CI.values() if "environment" in job}
    names |= {*re.findall(r"secrets\.(\w+)", WORKFLOWS[0].read_text("utf-8"))}
    assert names == {"release", "github-pages", "NPM_TOKEN"}
    assert all(f"`{name}`" in page for name in names)


# ---- the check of a tag ----

RELEASE_FILES = (
    "tools/check_version.py",
    *("kernel/Cargo.toml", "kernel/fuzz/Cargo.lock", "Cargo.lock", "pyproject.toml"),
    *("npm/package.json", "CITATION.cff", "CHANGELOG.md", "README.md"),
    "tests/project/scores.tsv",
)


def check_version(folder: Path, *arguments: str) -> tuple[int, str]:
    """Run tools/check_version.py; return its status and output."""
    command = [sys.executable, folder / "tools" / "check_version.py", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def replace(path: Path, old: str, new: str) -> None:
    """Replace text that a file must contain."""
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


@pytest.fixture
def release(tmp_path):
    """Return a copy of the files with a version, prepared for the release of 0.1.0."""
    for name in RELEASE_FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, tmp_path / name)
    (tmp_path / "docs").mkdir()
    for name in ("Cargo.lock", "kernel/fuzz/Cargo.lock"):
        text = (tmp_path / name).read_text("utf-8")
        pattern = r'(name = "truebleu-kernel"\nversion = )".*"'
        (tmp_path / name).write_text(re.sub(pattern, r'\1"0.1.0"', text), "utf-8")
    manifest = tmp_path / "kernel" / "Cargo.toml"
    manifest.write_text(re.sub(r'(?m)^version = ".*"', 'version = "0.1.0"', manifest.read_text()))
    (tmp_path / "CITATION.cff").write_text("version: 0.1.0\ndate-released: 2027-01-15\n")
    (tmp_path / "tests/project/scores.tsv").write_text("")
    digest = "e3b0c44298fc1c14"  # of an empty file
    changelog = f"# Changelog\n\n## [0.1.0] - 2027-01-15\n\n### Scores\n\nDigest: `{digest}`\n"
    (tmp_path / "CHANGELOG.md").write_text(changelog)
    return tmp_path


def test_prepared_release_passes_check(release):
    message = "v0.1.0: every file names this version\n"
    assert check_version(release, "v0.1.0") == (0, message)


def test_committed_files_name_one_version():
    assert check_version(ROOT, "")[0] == 0


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("kernel/Cargo.toml", 'version = "0.1.0"', 'version = "0.2.0"', "tag v0.1.0: wrong"),
        ("Cargo.lock", 'kernel"\nversion = "0.1', 'kernel"\nversion = "0.2', "Cargo.lock: wrong"),
        ("npm/package.json", "{", '{"version": "0.2.0",', "npm/package.json: wrong version"),
        ("pyproject.toml", "[project]", '[project]\nversion = "0.2.0"', "pyproject.toml: wrong"),
        ("CITATION.cff", "version: 0.1.0", "version: 0.2.0", "CITATION.cff: wrong version"),
        ("CITATION.cff", "2027", "2026", "CITATION.cff: wrong date (expected 2027-01-15"),
        ("CHANGELOG.md", "## [0.1.0]", "## [0.0.9]", "CHANGELOG.md: wrong newest release"),
        ("CHANGELOG.md", "2027-01-15", "unreleased", "CHANGELOG.md: wrong newest release"),
        ("CHANGELOG.md", "e3b0", "0000", "does not quote `e3b0c44298fc1c14`"),
        ("README.md", "#", "No release\nhas been published.\n#", "README.md: says that no release"),
    ],
)
def test_unprepared_release_fails_check(release, name, old, new, message):
    replace(release / name, old, new)
    status, output = check_version(release, "v0.1.0")
    assert status == 1
    assert message in output


# ---- the rehearsal ----


@pytest.fixture
def rehearse(release):
    """Return a function that commits a workflow with these commands, and rehearses it."""
    shutil.copyfile(ROOT / "tools" / "rehearse.py", release / "tools" / "rehearse.py")
    shutil.copyfile(ROOT / "docs" / "maintaining.md", release / "docs" / "maintaining.md")
    workflow = release / ".github" / "workflows" / "ci.yml"
    workflow.parent.mkdir(parents=True)

    def run(*arguments: str, change: bool = False, **commands: str):
        jobs = {job: {"steps": [{"uses": "a/b@v1"}]} for job in CI} | {
            job: {"steps": [{"run": command}]} for job, command in commands.items()
        }
        workflow.write_text(yaml.safe_dump({"jobs": jobs}), "utf-8")
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "release"]):
            subprocess.run([*git, *words], check=True, cwd=release)
        if change:
            replace(release / "README.md", "#", "# changed")
        command = [sys.executable, release / "tools" / "rehearse.py", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return run


def test_rehearsal_runs_steps_of_workflow_and_lists_what_to_do(rehearse):
    built = "mkdir dist && touch dist/truebleu-0.1.0.tar.gz"
    done = rehearse(version="test -z $TAG", wheels=built, sdist="sudo false")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert re.search(r"^version: test -z \$TAG \.\.\. 0 min 0\d s$", done.stdout, re.MULTILINE)
    assert "truebleu-0.1.0.tar.gz" in done.stdout
    assert "sdist: left out, because it installs packages:" in lines
    assert "  windows" in lines
    assert "  wheels" not in lines
    assert "5. `git tag -s v0.1.0 -m v0.1.0 && git push origin v0.1.0`." in lines
    assert max(map(len, lines[3:])) <= 80


def test_failing_step_stops_rehearsal_with_its_output(rehearse):
    done = rehearse(lint="echo broken; false | cat; echo unreached", wheels="echo never")
    assert done.returncode == 1
    assert "\nbroken\n" in done.stdout
    assert "unreached" not in done.stdout.splitlines()
    assert "wheels:" not in done.stdout
    assert re.match(r"lint: echo broken; .*: failed with status 1 in \S+", done.stderr)
    shutil.rmtree(Path(done.stderr.split()[-1]).parent)


def test_selected_jobs_run_alone(rehearse):
    done = rehearse("lint", lint="echo only", wheels="false")
    assert done.returncode == 0
    assert "  wheels" in done.stdout.splitlines()


def test_wrong_version_in_file_name_fails_rehearsal(rehearse):
    done = rehearse(wheels="mkdir dist && touch dist/truebleu-0.2.0.tar.gz")
    assert done.returncode == 1
    assert "truebleu-0.2.0.tar.gz: wrong version (expected 0.1.0)." in done.stderr


def test_uncommitted_changes_stop_rehearsal(rehearse):
    done = rehearse(change=True)
    assert done.returncode == 1
    assert done.stderr.startswith(
        "tools/rehearse.py: the checkout has uncommitted changes (expected none, found 1: README"
    )


def test_unknown_job_is_an_error(rehearse):
    done = rehearse("wheel5")
    assert done.returncode == 2
    assert "unknown job 'wheel5' (expected version, lint" in done.stderr
