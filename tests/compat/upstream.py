"""Run sacreBLEU's tests, from its source distribution, with truebleu's accelerator installed.

python tests/compat/upstream.py        the counts, and the failed tests
python tests/compat/upstream.py --original        the same tests with unmodified sacreBLEU

The exit status is 0 if all tests that do not need a network pass. It is also 0, with the reason
printed, if the distribution is unavailable. It is 1 if a test fails.
"""

import argparse
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

VERSION = "2.6.0"
ARCHIVE = f"sacrebleu-{VERSION}.tar.gz"
ROOT = Path(__file__).resolve().parents[2]

# These tests download test sets.
NETWORK_TESTS = ("test_dataset.py", "test_api_get_source", "test_api_get_reference")
MIN_OFFLINE_PASSES = 133

# The distribution's tests import sacrebleu.
CONFTEST = """
import truebleu.compat

truebleu.compat.install("sacrebleu")

import sacrebleu

assert hasattr(sacrebleu.BLEU._extract_corpus_statistics, "__wrapped__")
"""


class UnavailableError(Exception):
    """Error for an unavailable distribution, with the reason."""


def cache_folder() -> Path:
    """Return the folder that caches the distribution, outside of the checkout."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "truebleu"


def download_distribution() -> Path:
    """Return the archive, from the cache or downloaded by pip."""
    archive = cache_folder() / ARCHIVE
    if archive.exists():
        return archive
    cache_folder().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache_folder()) as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--dest", folder]
        command += ["--disable-pip-version-check", "--retries", "1", "--timeout", "20"]
        command += ["--no-binary", "sacrebleu", "--no-deps", f"sacrebleu=={VERSION}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        if done.returncode or not (Path(folder) / ARCHIVE).exists():
            lines = (done.stderr or done.stdout).strip().splitlines() or ["nothing was downloaded"]
            raise UnavailableError(f"pip could not download sacrebleu {VERSION}: {lines[-1]}")
        (Path(folder) / ARCHIVE).replace(archive)
    return archive


def unpack(folder: Path) -> None:
    """Extract the tests and their data from the distribution."""
    with tarfile.open(download_distribution()) as archive:
        top = f"sacrebleu-{VERSION}/"
        for member in archive.getmembers():
            name = member.name.removeprefix(top)
            if name.startswith("test/") and member.isfile():
                member.name = name
                archive.extract(member, folder, filter="data")


def run(*, original: bool = False) -> tuple[dict[str, int], str]:
    """Return the numbers of passed, failed and skipped tests, and the runner's output."""
    with tempfile.TemporaryDirectory(prefix="truebleu-upstream-") as name:
        folder = Path(name)
        unpack(folder)
        if not original:
            (folder / "conftest.py").write_text(CONFTEST)
        (folder / "pytest.ini").write_text("[pytest]\ntestpaths = test\n")
        command = [sys.executable, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider"]
        command += ["--durations=5", "--color=no"]
        environment = dict(os.environ)
        environment.pop("SACREBLEU_SEED", None)
        # Data downloads go to a temporary folder.
        environment |= {"SACREBLEU": str(folder / "data"), "PYTHONDONTWRITEBYTECODE": "1"}
        environment["PYTHONPATH"] = os.pathsep.join(
            filter(None, [str(ROOT), environment.get("PYTHONPATH")])
        )
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=1800,
        )
    counts = re.findall(r"(\d+) (passed|failed|error|skipped)", done.stdout.splitlines()[-1])
    return {outcome: int(number) for number, outcome in counts}, done.stdout + done.stderr


def list_failures(output: str) -> list[str]:
    """Return the failed tests that do not need a network."""
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", output, flags=re.MULTILINE)
    return [test for test in failed if not any(name in test for name in NETWORK_TESTS)]


def main() -> int:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--original", action="store_true", help="test sacreBLEU itself")
    parser.add_argument("--verbose", action="store_true", help="print the runner's output")
    options = parser.parse_args()
    try:
        counts, output = run(original=options.original)
    except UnavailableError as reason:
        print(f"sacreBLEU's tests: not run ({reason})")
        return 0
    failed = list_failures(output)
    if options.verbose or failed or counts.get("passed", 0) < MIN_OFFLINE_PASSES:
        print(output)
    summary = ", ".join(f"{number} {outcome}" for outcome, number in counts.items())
    network = counts.get("failed", 0) + counts.get("error", 0) - len(failed)
    print(f"sacreBLEU's tests: {summary} ({network} of these need a network)")
    return int(bool(failed) or counts.get("passed", 0) < MIN_OFFLINE_PASSES)


if __name__ == "__main__":
    sys.exit(main())
