"""Runs sacreBLEU's own tests, from its source distribution, with truebleu's accelerator installed.

python tests/compat/upstream.py        the counts, and what failed
python tests/compat/upstream.py --original        the same tests against sacreBLEU itself

Exit status 0 if everything passed that can pass without a network, or if the distribution cannot be
had, with the reason printed; 1 if something failed.
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

# They fetch test sets.
NEED_A_NETWORK = ("test_dataset.py", "test_api_get_source", "test_api_get_reference")
WITHOUT_A_NETWORK = 133

# The distribution's tests say `import sacrebleu`.
CONFTEST = """
import truebleu.compat

truebleu.compat.install("sacrebleu")

import sacrebleu

assert hasattr(sacrebleu.BLEU._extract_corpus_statistics, "__wrapped__")
"""


class UnavailableError(Exception):
    """The distribution cannot be had; the message says why."""


def cache() -> Path:
    """The folder that keeps the distribution: outside of the checkout."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "truebleu"


def distribution() -> Path:
    """The archive, from the cache or by pip."""
    archive = cache() / ARCHIVE
    if archive.exists():
        return archive
    cache().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache()) as folder:
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
    """The tests and their data, and nothing else of the distribution."""
    with tarfile.open(distribution()) as archive:
        top = f"sacrebleu-{VERSION}/"
        for member in archive.getmembers():
            name = member.name.removeprefix(top)
            if name.startswith("test/") and member.isfile():
                member.name = name
                archive.extract(member, folder, filter="data")


def run(*, original: bool = False) -> tuple[dict[str, int], str]:
    """The numbers of tests that passed, failed and could not run, and the runner's output."""
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
        # No proxy answers there: tests that want a network fail at once.
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
    found = re.findall(r"(\d+) (passed|failed|error|skipped)", done.stdout.splitlines()[-1])
    return {what: int(number) for number, what in found}, done.stdout + done.stderr


def failures(output: str) -> list[str]:
    """The tests that failed and need no network."""
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", output, flags=re.MULTILINE)
    return [test for test in failed if not any(name in test for name in NEED_A_NETWORK)]


def main() -> int:
    """Prints the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--original", action="store_true", help="test sacreBLEU itself")
    parser.add_argument("--verbose", action="store_true", help="print what the runner printed")
    options = parser.parse_args()
    try:
        counts, output = run(original=options.original)
    except UnavailableError as reason:
        print(f"sacreBLEU's own tests: not run ({reason})")
        return 0
    failed = failures(output)
    if options.verbose or failed or counts.get("passed", 0) < WITHOUT_A_NETWORK:
        print(output)
    told = ", ".join(f"{number} {what}" for what, number in counts.items())
    network = counts.get("failed", 0) + counts.get("error", 0) - len(failed)
    print(f"sacreBLEU's own tests: {told} ({network} of these want a network)")
    return int(bool(failed) or counts.get("passed", 0) < WITHOUT_A_NETWORK)


if __name__ == "__main__":
    sys.exit(main())
