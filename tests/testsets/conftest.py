"""A separate cache and home folder per test, and archives on a loopback server."""

import pytest
from archive_fixtures import Archives


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """Return an empty home folder, without environment variables."""
    home = tmp_path / "home"
    home.mkdir()
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "SACREBLEU"):
        monkeypatch.delenv(name, raising=False)
    for name in ("OFFLINE", "MIRROR", "TESTSETS"):
        monkeypatch.delenv(f"TRUEBLEU_{name}", raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TRUEBLEU_CACHE", str(tmp_path / "cache"))
    return home


@pytest.fixture
def archives(tmp_path):
    (tmp_path / "served").mkdir()
    archives = Archives(tmp_path / "served")
    yield archives
    archives.server.shutdown()
    archives.server.server_close()
