"""Downloads: whole or not at all, from servers and with archives of every kind of badness."""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import re
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tarfile
import textwrap
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from truebleu import InputError
from truebleu.text import archives, download, http_transfer, operating_system
from truebleu.text.download import DownloadError, DownloadSource, OfflineError

CONTENT = random.Random(7).randbytes(300_000)
OTHER_CONTENT = CONTENT[:-1] + b"?"
SHA256, MD5 = hashlib.sha256(CONTENT).hexdigest(), hashlib.md5(CONTENT).hexdigest()
VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "XDG_CACHE_HOME")


class Server:
    """A server whose answers a test says: a function for each path, or one after the other."""

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.answers: dict[str, list] = {}
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                server.requests.append((self.path, dict(self.headers)))
                answers = server.answers.get(self.path, [status(404)])
                answer = answers.pop(0) if len(answers) > 1 else answers[0]
                answer(self)

            def do_CONNECT(self):
                server.requests.append((f"CONNECT {self.path}", dict(self.headers)))
                self.send_error(403)

            def log_message(self, *_):
                pass

        class Quiet(ThreadingHTTPServer):
            request_queue_size = 64

            def handle_error(self, *_):
                pass

        self.http = Quiet(("127.0.0.1", 0), Handler)
        if context is not None:
            self.http.socket = context.wrap_socket(self.http.socket, server_side=True)
        self.port = self.http.server_port
        threading.Thread(target=self.http.serve_forever, args=[0.01], daemon=True).start()

    def set_answer(self, path: str, *answers) -> str:
        self.answers[path] = list(answers)
        return f"http://127.0.0.1:{self.port}{path}"

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()


def status(code: int, *headers: tuple[str, str]):
    def answer(handler):
        handler.send_response(code)
        for header in headers:
            handler.send_header(*header)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


def to(address: str, code: int = 302):
    return status(code, ("Location", address))


def send_complete(
    content: bytes = CONTENT, tag: str | None = '"1"', *, ranges: bool = True, header="ETag"
):
    """Return a correct server: it sends a version, and ranges for the same version."""

    def answer(handler):
        begin = handler.headers.get("Range", "bytes=0-")[len("bytes=") : -1]
        if not ranges or (handler.headers.get("If-Range") or tag) != tag:
            begin = "0"
        if int(begin) >= len(content) and content:
            return status(416)(handler)
        rest = content[int(begin) :]
        handler.send_response(206 if int(begin) else 200)
        if int(begin):
            end = f"bytes {begin}-{len(content) - 1}/{len(content)}"
            handler.send_header("Content-Range", end)
        if tag:
            handler.send_header(header, tag)
        handler.send_header("Content-Length", str(len(rest)))
        handler.end_headers()
        handler.wfile.write(rest)
        return None

    return answer


def cut(length: int, tag: str | None = '"1"', *, reset: bool = False, header="ETag"):
    """Return a server that closes the connection after some bytes."""

    def answer(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(CONTENT)))
        if tag:
            handler.send_header(header, tag)
        handler.end_headers()
        handler.wfile.write(CONTENT[:length])
        if reset:
            # To close without waiting sends a reset.
            linger = struct.pack("ii", 1, 0)
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            handler.connection.close()

    return answer


def unsized(content: bytes):
    """Return a server that does not say how much there is."""

    def answer(handler):
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(content)

    return answer


@pytest.fixture(autouse=True)
def start_isolated(tmp_path, monkeypatch):
    """Isolate the process from the settings of the machine, and shorten all waits."""
    names = [name for name in os.environ if name.startswith("TRUEBLEU_")]
    for name in [*names, *VARIABLES, *map(str.lower, VARIABLES)]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TRUEBLEU_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(download, "settings", download.Settings())
    for environment in (download._find_writable_folder, download._make_process_folder):
        environment.cache_clear()


@pytest.fixture
def waits(monkeypatch):
    """Return the waits between attempts in seconds, which the test skips."""
    waits: list[float] = []
    monkeypatch.setattr(http_transfer, "sleep", waits.append)
    return waits


@pytest.fixture
def server(waits):
    server = Server()
    yield server
    server.close()


@pytest.fixture
def second(waits):
    server = Server()
    yield server
    server.close()


@pytest.fixture
def place(tmp_path):
    return tmp_path / "files" / "file"


def get(place: Path, *addresses: str, accept=None, **properties) -> download.Receipt:
    return download.download_file(
        DownloadSource(addresses, **properties), str(place), name="wmt00", accept=accept
    )


@pytest.fixture
def fetch(server, place):
    """Return a function that downloads a file from a path with these answers."""

    def fetch(*answers, **properties) -> download.Receipt:
        return get(place, server.set_answer("/a", *answers), **properties)

    return fetch


def names(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()} if folder.is_dir() else set()


# ---- sums ----


def test_matching_file_is_downloaded_once(server, place):
    address = server.set_answer("/a", send_complete())
    receipt = get(place, address, sha256=SHA256, md5=MD5, size=len(CONTENT))
    assert receipt == download.Receipt(address, len(CONTENT), MD5, SHA256, "SHA-256")
    assert place.read_bytes() == CONTENT
    assert names(place.parent) == {"file"}
    second = get(place, address, sha256=SHA256)
    assert (second.address, second.sha256, second.verified) == ("", SHA256, "SHA-256")
    assert len(server.requests) == 1
    place.write_bytes(OTHER_CONTENT)
    assert get(place, address, sha256=SHA256).address == address
    assert place.read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("checksums", "wrong"),
    [
        ({"md5": "0" * 32}, ("MD5", MD5, "0" * 32)),
        ({"md5": MD5, "sha256": "0" * 64}, ("SHA-256", SHA256, "0" * 64)),
    ],
    ids=["MD5", "SHA-256"],
)
def test_wrong_checksum_is_refused(server, place, checksums, wrong):
    address = server.set_answer("/a", send_complete())
    with pytest.raises(DownloadError) as error:
        get(place, address, **checksums)
    assert error.value.checksum_mismatch == wrong
    kind, actual, expected = wrong
    message = f"{address} has {kind} {actual}, expected {expected}; the file was deleted"
    assert error.match(f"^wmt00: .*{re.escape(message)}.*TRUEBLEU_MIRROR.*\\Z")
    assert names(place.parent) == set()


def test_accepted_content_replaces_checksum(server, place):
    address = server.set_answer("/a", send_complete(OTHER_CONTENT + b"more"))
    seen = []

    def accept(path: str) -> bool:
        seen.append(Path(path).read_bytes())
        return True

    receipt = get(place, address, md5=MD5, size=len(CONTENT), accept=accept)
    assert (receipt.verified, receipt.size) == ("content", len(CONTENT) + 4)
    assert seen == [OTHER_CONTENT + b"more"] == [place.read_bytes()]
    assert get(place, address, md5=MD5, accept=accept).verified == "content"
    assert len(server.requests) == 1
    # Right bytes are not judged by their content.
    right = server.set_answer("/b", send_complete())
    assert get(place.with_name("b"), right, md5=MD5, accept=lambda _: 1 / 0).verified == "MD5"


def test_unaccepted_content_is_refused(fetch, place):
    def never(_: str) -> bool:
        raise InputError("no archive")

    also_wrong = f"expected {MD5}; the file was deleted; its content is also wrong"
    for checksums, accept, message in (
        ({"md5": MD5}, lambda _: False, also_wrong),
        ({"md5": MD5}, never, f"{also_wrong}: no archive"),
        ({}, never, "/a returned the wrong file, .*: no archive"),
    ):
        with pytest.raises(DownloadError, match=message):
            fetch(send_complete(OTHER_CONTENT), accept=accept, **checksums)
        assert names(place.parent) == set()


def test_unknown_checksum_requires_accepted_content(fetch, place):
    answer = send_complete()
    assert fetch(answer, accept=lambda path: path.endswith(".part")).verified == "content"
    assert download.read_recorded_checksum(str(place)) == SHA256
    assert fetch(answer, accept=lambda _: False).verified == "SHA-256"


def test_exception_in_accept_leaves_no_files(fetch, place):
    with pytest.raises(ZeroDivisionError):
        fetch(send_complete(), accept=lambda _: 1 / 0)
    assert names(place.parent) == set()


def test_first_download_is_trusted_and_recorded(fetch, place):
    assert fetch(send_complete()).verified == ""
    assert download.read_recorded_checksum(str(place)) == SHA256
    assert fetch(send_complete()).verified == "SHA-256"
    place.unlink()
    with pytest.raises(DownloadError, match=rf"expected {SHA256} as recorded in .*file\.sha256"):
        fetch(send_complete(OTHER_CONTENT))
    assert fetch(send_complete()).address.endswith("/a")


def test_wrong_existing_file_is_not_reported_as_servers(fetch, place):
    place.parent.mkdir()
    place.write_bytes(OTHER_CONTENT)
    with pytest.raises(DownloadError, match="HTTP Error 404") as error:
        fetch(status(404), md5=MD5)
    assert error.value.checksum_mismatch is None
    assert place.read_bytes() == OTHER_CONTENT


CORRUPT_RECORDS = ("", "[]", '{"address": 1}', '{"address": 1, "version": 2}')


@pytest.mark.parametrize(
    "leftovers",
    [
        {"file": ""},
        {"file.sha256": SHA256[:-1]},
        *({"file.part": "x" * 100, "file.part.json": record} for record in CORRUPT_RECORDS),
    ],
    ids=str,
)
def test_unusable_leftovers_are_replaced(fetch, place, leftovers):
    place.parent.mkdir()
    for name, content in leftovers.items():
        (place.parent / name).write_text(content)
    fetch(send_complete())
    assert place.read_bytes() == CONTENT
    assert download.read_recorded_checksum(str(place)) == SHA256
    assert names(place.parent) == {"file", "file.sha256"}


# ---- sizes ----


@pytest.mark.parametrize("answer", [send_complete, unsized])
@pytest.mark.parametrize("size", [len(CONTENT) - 1, len(CONTENT) + 1])
def test_wrong_size_is_refused(fetch, place, answer, size):
    with pytest.raises(DownloadError, match=f"wrong file: .*300,000 bytes, not {size:,}"):
        fetch(answer(CONTENT), size=size)
    assert names(place.parent) == set()


@pytest.mark.parametrize("answer", [send_complete, unsized])
def test_too_large_file_is_refused(fetch, place, monkeypatch, answer):
    monkeypatch.setattr(download, "MAX_BYTES_OF_UNKNOWN_SIZE", 200_000)
    with pytest.raises(DownloadError, match=r"is larger than 0.0002 GB"):
        fetch(answer(CONTENT))
    assert names(place.parent) == set()
    assert fetch(answer(CONTENT), size=len(CONTENT)).sha256 == SHA256


# ---- broken off, and resumed ----


@pytest.mark.parametrize("reset", [False, True])
@pytest.mark.parametrize(("header", "tag"), [("ETag", '"1"'), ("Last-Modified", "Mon, 1 Jan 2024")])
def test_interrupted_download_resumes(server, fetch, place, waits, reset, header, tag):
    first = cut(100_000, tag, reset=reset, header=header)
    fetch(first, send_complete(tag=tag, header=header), sha256=SHA256)
    ranges = [request.get("Range") for _, request in server.requests]
    # A reset may overtake the last bytes.
    if not reset:
        assert ranges == [None, "bytes=100000-"]
        assert server.requests[1][1]["If-Range"] == tag
    assert waits == [1]
    assert names(place.parent) == {"file"}


def test_next_run_resumes(server, fetch, place, waits):
    with pytest.raises(DownloadError, match=r"/a cannot be downloaded: .* bytes are missing"):
        fetch(cut(100_000), sha256=SHA256)
    assert waits == [1, 4, 16]
    assert names(place.parent) == {"file.part", "file.part.json"}
    fetch(send_complete(), sha256=SHA256)
    assert server.requests[-1][1]["Range"] == "bytes=100000-"
    assert names(place.parent) == {"file"}


def other_range(handler):
    handler.send_response(206)
    handler.send_header("Content-Range", "bytes 5-9/10")
    handler.send_header("Content-Length", "5")
    handler.end_headers()
    handler.wfile.write(b"01234")


@pytest.mark.parametrize(
    ("answers", "content", "seconds"),
    [
        ([send_complete(OTHER_CONTENT, '"2"')], OTHER_CONTENT, [1]),
        ([send_complete(ranges=False)], CONTENT, [1]),
        ([other_range, send_complete()], CONTENT, [1, 4]),
        ([status(416), send_complete()], CONTENT, [1, 0]),
    ],
    ids=["changed meanwhile", "no ranges", "another range", "a range behind the end"],
)
def test_unresumable_part_is_downloaded_again(
    server, fetch, place, waits, answers, content, seconds
):
    fetch(cut(100_000), *answers)
    assert server.requests[1][1]["Range"] == "bytes=100000-"
    assert server.requests[1][1]["If-Range"] == '"1"'
    assert all("Range" not in request for _, request in server.requests[2:])
    assert len(server.requests) == 1 + len(answers)
    assert place.read_bytes() == content
    assert waits == seconds


@pytest.mark.parametrize("tag", [None, 'W/"1"'])
def test_part_without_version_is_not_resumed(server, fetch, place, tag):
    with pytest.raises(DownloadError):
        fetch(cut(100_000, tag), sha256=SHA256)
    assert all("Range" not in request for _, request in server.requests)
    assert names(place.parent) == set()


def test_mixed_versions_are_downloaded_again(server, place):
    """A server that says the same version for another file."""
    address = server.set_answer("/a", send_complete())
    place.parent.mkdir()
    (place.parent / "file.part").write_bytes(b"x" * 100)
    record = {"address": address, "version": '"1"'}
    (place.parent / "file.part.json").write_text(json.dumps(record))
    assert get(place, address, sha256=SHA256).address == address
    assert [request.get("Range") for _, request in server.requests] == ["bytes=100-", None]


def test_constant_wrong_version_is_refused_at_second_time(server, fetch):
    with pytest.raises(DownloadError, match="expected"):
        fetch(*[cut(100_000), send_complete(OTHER_CONTENT)] * 3, sha256=SHA256)
    assert len(server.requests) == 4


def test_part_of_other_url_is_not_resumed(server, fetch, place):
    with pytest.raises(DownloadError):
        fetch(cut(100_000), sha256=SHA256)
    get(place, server.set_answer("/b", send_complete()), sha256=SHA256)
    assert "Range" not in server.requests[-1][1]
    assert names(place.parent) == {"file"}


# ---- answers ----


@pytest.mark.parametrize("code", [403, 404, 410])
def test_missing_file_is_requested_from_next_mirror_at_once(server, second, place, waits, code):
    mirrors = server.set_answer("/a", status(code)), second.set_answer("/b", send_complete())
    assert get(place, *mirrors, sha256=SHA256).address == mirrors[1]
    assert (len(server.requests), waits) == (1, [])


def test_error_names_all_mirrors(server, second, place):
    mirrors = server.set_answer("/a", status(404)), second.set_answer("/b", send_complete())
    message = rf"/a cannot be downloaded: HTTP Error 404.*/b has SHA-256 {SHA256}"
    with pytest.raises(DownloadError, match=message):
        get(place, *mirrors, sha256="0" * 64)


def test_busy_server_gets_four_requests(server, second, fetch, place, waits):
    fetch(status(503), status(500), send_complete(), sha256=SHA256)
    assert waits == [1, 4]
    waits.clear()
    mirrors = server.set_answer("/c", status(503)), second.set_answer("/b", send_complete())
    get(place.with_name("second_place"), *mirrors, sha256=SHA256)
    assert (len(server.requests), waits) == (3 + 4, [1, 4, 16])


def test_retry_after_header_is_respected(fetch, waits):
    first, later = (status(429, ("Retry-After", text)) for text in ("7", "Thu, 1 Jan 1970 0:00:00"))
    fetch(first, later, status(429), send_complete(), sha256=SHA256)
    assert waits == [7, 0, 16]


def test_too_long_retry_after_is_refused(fetch, waits):
    with pytest.raises(DownloadError, match=r"429.*; the server requests a wait of 61 seconds"):
        fetch(status(429, ("Retry-After", "61")))
    assert waits == []


@pytest.mark.parametrize("begun", [False, True])
def test_silent_server_times_out(server, second, place, waits, monkeypatch, begun):
    monkeypatch.setattr(http_transfer, "READ_TIMEOUT_SECONDS", 0.2)
    is_over = threading.Event()

    def silent(handler):
        if begun:
            handler.send_response(200)
            handler.send_header("Content-Length", "10")
            handler.end_headers()
        is_over.wait(60)

    def silent_once(handler):
        monkeypatch.setattr(http_transfer, "READ_TIMEOUT_SECONDS", 60)
        silent(handler)

    address = server.set_answer("/a", silent, silent_once)
    try:
        message = "/a cannot be downloaded: received no data for 0.2 s"
        with pytest.raises(DownloadError, match=message):
            get(place, address)
        assert get(place, address, second.set_answer("/b", send_complete())).address.endswith("/b")
    finally:
        is_over.set()
    assert waits == []


def test_refused_connection_is_reported(place, waits):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(DownloadError, match=r"cannot be downloaded: .*refused"):
            get(place, f"http://127.0.0.1:{unused.getsockname()[1]}/a")
    assert waits == []


def test_invalid_http_is_reported(fetch):
    with pytest.raises(DownloadError, match="/a cannot be downloaded"):
        fetch(lambda handler: handler.wfile.write(b"SSH-2.0\r\n\r\n"))


# ---- where it may come from ----


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_redirected_file_is_downloaded_and_resumed(fetch, second, code):
    target = second.set_answer("/b", cut(100_000), send_complete())
    assert fetch(to(target, code), sha256=SHA256).address.endswith("/a")
    assert second.requests[1][1]["Range"] == "bytes=100000-"


@pytest.mark.parametrize("number", [5, 6])
def test_sixth_redirect_is_refused(server, place, number):
    for step in range(number):
        server.set_answer(f"/{step}", to(f"/{step + 1}"))
    server.set_answer(f"/{number}", send_complete())
    address = f"http://127.0.0.1:{server.port}/0"
    if number == 5:
        assert get(place, address).sha256 == SHA256
    else:
        with pytest.raises(DownloadError, match="/5: more than 5 redirects"):
            get(place, address)


@pytest.mark.parametrize("target", ["http://example.test/a", "file:///etc/passwd", "ftp://a.test/"])
def test_redirect_to_unsafe_url_is_refused(fetch, place, target):
    with pytest.raises(DownloadError, match=rf"^.*{target}.*\Z"):
        fetch(to(target))
    assert names(place.parent) == set()


@pytest.mark.parametrize(
    "address",
    [
        *("http://example.test/a", "file:///etc/passwd", "ftp://a.test/a", "data:,a", "a", ""),
        *("http://127.0.0.1.example.test/a", "http://[", "http://localhost.example.test/"),
    ],
)
def test_unsafe_url_is_refused(place, address):
    with pytest.raises(DownloadError, match=r"expected https|invalid URL"):
        get(place, address)
    with pytest.raises(DownloadError, match="wmt00: no known URL"):
        get(place)


def test_https_redirect_to_http_is_refused():
    limits = http_transfer.TransferLimits(None, 1, None)
    limits.check_url("https://b.test/", "https://a.test/")
    message = r"https://a.test/ redirects to http://127.0.0.1/"
    with pytest.raises(http_transfer.TransferError, match=message):
        limits.check_url("http://127.0.0.1/", "https://a.test/")


def test_user_mirror_is_requested_first(server, second, place, monkeypatch):
    monkeypatch.setenv("TRUEBLEU_MIRROR", f"http://127.0.0.1:{second.port}/all/")
    address = server.set_answer("/x/a.tgz?v=1", send_complete())
    second.set_answer(f"/all/127.0.0.1:{server.port}/x/a.tgz?v=1", send_complete())
    assert get(place, address, sha256=SHA256).address.startswith(download.get_mirror_url()[:-1])
    assert server.requests == []
    second.answers.clear()
    place.unlink()
    assert get(place, address, sha256=SHA256).address == address
    assert len(second.requests) == 2
    with download.override_settings(mirror="http://127.0.0.1:1"):
        assert download.get_mirror_url() == "http://127.0.0.1:1"
    assert download.get_mirror_url() != "http://127.0.0.1:1"


def test_invalid_mirror_url_is_refused(fetch, monkeypatch):
    monkeypatch.setenv("TRUEBLEU_MIRROR", "mirror.test")
    with pytest.raises(InputError, match=r"variable TRUEBLEU_MIRROR: 'mirror.test' is not a URL"):
        fetch(send_complete())


def test_environment_proxies_are_used(server, second, place, monkeypatch):
    """Requests to the user's mirror use the proxy; requests to NO_PROXY hosts do not."""
    monkeypatch.setenv("TRUEBLEU_MIRROR", "http://mirror.test/all")
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{second.port}")
    monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{second.port}")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    second.set_answer("http://mirror.test/all/example.test/a", send_complete())
    assert get(place, "https://example.test/a").sha256 == SHA256
    assert [path for path, _ in second.requests] == ["http://mirror.test/all/example.test/a"]
    monkeypatch.delenv("TRUEBLEU_MIRROR")
    with pytest.raises(DownloadError, match="403 Forbidden"):
        get(place.with_name("b"), "https://example.test/a")
    assert second.requests[-1][0] == "CONNECT example.test:443"
    get(place.with_name("c"), server.set_answer("/a", send_complete()))
    assert (len(server.requests), len(second.requests)) == (1, 2)
    monkeypatch.delenv("no_proxy")
    second.set_answer(f"http://127.0.0.1:{server.port}/a", send_complete())
    get(place.with_name("d"), server.set_answer("/a", send_complete()))
    assert (len(server.requests), len(second.requests)) == (1, 3)


@pytest.fixture
def certificate(tmp_path):
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make a certificate with")
    path = tmp_path / "certificate.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "3650"]
    command += [*subject, "-keyout", path, "-out", tmp_path / "public.pem"]
    if subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("an openssl that makes no such certificate")
    with path.open("ab") as file:
        file.write((tmp_path / "public.pem").read_bytes())
    return path


def test_certificates_are_verified(certificate, place, monkeypatch, waits):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server = Server(context)
    try:
        address = server.set_answer("/a", send_complete(), to("http://127.0.0.1/"))
        address = address.replace("http", "https")
        for variable in ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"):
            monkeypatch.delenv(variable, raising=False)
        with pytest.raises(DownloadError, match="CERTIFICATE_VERIFY_FAILED") as error:
            get(place, address)
        assert error.value.is_certificate_error
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate.with_name("public.pem")))
        assert get(place, address).sha256 == SHA256
        with pytest.raises(DownloadError, match=r"redirects to http://127.0.0.1/"):
            get(place.with_name("b"), address)
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate.with_name("none.pem")))
        with pytest.raises(DownloadError, match=r"REQUESTS_CA_BUNDLE: .*none\.pem: .*No such file"):
            get(place.with_name("b"), address)
        monkeypatch.delenv("REQUESTS_CA_BUNDLE")
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate.with_name("public.pem")))
        server.set_answer("/a", send_complete())
        assert get(place.with_name("c"), address).sha256 == SHA256
    finally:
        server.close()


# ---- offline ----


def test_offline_setting_disables_downloads(server, place, monkeypatch):
    monkeypatch.setenv("TRUEBLEU_OFFLINE", "1")
    address = server.set_answer("/a", send_complete())
    with pytest.raises(OfflineError) as error:
        get(place, address, md5=MD5)
    assert str(error.value) == (
        "wmt00 is not on this machine, and TRUEBLEU_OFFLINE is set. With internet access, download "
        f"{address} (MD5 {MD5}) and copy it to {place}"
    )
    assert (error.value.exit_status, DownloadError.exit_status) == (4, 1)
    assert server.requests == []
    assert not place.parent.exists()
    with download.override_settings(offline=False):
        assert get(place, address, md5=MD5).verified == "MD5"
    assert get(place, address, md5=MD5).verified == "SHA-256"
    monkeypatch.setenv("TRUEBLEU_OFFLINE", "0")
    assert not download.is_offline()
    with (
        download.override_settings(offline=True),
        pytest.raises(OfflineError, match=r"disabled \(--offline"),
    ):
        get(place.with_name("b"), address)


# ---- processes ----

PRELUDE = """
import os, sys, time
from truebleu.text import download, operating_system, http_transfer
def get():
    source = download.DownloadSource((sys.argv[1],), sha256=sys.argv[3])
    return download.download_file(source, sys.argv[2], name="wmt00")
"""


def started(code: str, address: str, place: Path, **environment: str) -> subprocess.Popen:
    """Return a process that downloads."""
    return subprocess.Popen(
        [sys.executable, "-c", PRELUDE + textwrap.dedent(code), address, str(place), SHA256],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


def ended(process: subprocess.Popen) -> tuple[int, str, str]:
    out, error = process.communicate(timeout=120)
    return process.returncode, out, error


def test_only_one_of_parallel_processes_downloads(server, place):
    """The first waits for its answer until all of them have started."""
    come = threading.Semaphore(0)

    def answer(handler):
        for _ in range(16):
            assert come.acquire(timeout=100)
        send_complete()(handler)

    address = server.set_answer("/a", answer)
    code = "print('here', flush=True); sys.stdin.close(); print(get().sha256)"
    processes = [started(code, address, place) for _ in range(16)]
    for process in processes:
        assert process.stdout.readline() == "here\n"
        come.release()
    results = [ended(process) for process in processes]
    assert {(code, out) for code, out, _ in results} == {(0, f"{SHA256}\n")}
    assert len(server.requests) == 1
    assert names(place.parent) == {"file"}


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
def test_killed_process_leaves_no_visible_file(server, place):
    """It is killed at its n-th step, of Python's or of C's."""
    address = server.set_answer("/a", send_complete())
    code = """
        import signal
        import truebleu.text.http_transfer
        steps, last = 0, int(os.environ["STEP"])
        def count(*_):
            global steps
            steps += 1
            if steps == last:
                os.kill(os.getpid(), signal.SIGKILL)
        sys.setprofile(count)
        get()
        sys.setprofile(None)
        print(steps)
    """
    dice = random.Random(11)
    begin = ended(started(code, address, place, STEP="0"))
    assert begin[0] == 0, begin
    steps = int(begin[1])
    kills = 0
    for step in sorted(dice.sample(range(1, steps), 10)):
        for name in names(place.parent):
            (place.parent / name).unlink()
        killed = ended(started(code, address, place, STEP=str(step)))
        kills += killed[0] == -signal.SIGKILL
        if place.exists():
            assert place.read_bytes() == CONTENT
        done = ended(started(code, address, place, STEP="0"))
        assert done[0] == 0, (step, done)
        assert place.read_bytes() == CONTENT
        # The lock of an ended process does not block others.
        assert names(place.parent) <= {"file", "file.locked"}, step
    assert kills >= 8


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
def test_process_killed_during_transfer_resumes(server, place):
    """Bytes received earlier are not downloaded again."""
    is_over = threading.Event()

    def answer(handler):
        cut(200_000)(handler)
        handler.wfile.flush()
        is_over.wait(60)

    code = """
        def told(self, size, whole):
            if size >= 100_000:
                os.kill(os.getpid(), 9)
        http_transfer.Progress.__call__ = told
        get()
    """
    address = server.set_answer("/a", answer, send_complete())
    assert ended(started(code, address, place))[0] == -signal.SIGKILL
    is_over.set()
    assert not place.exists()
    size = (place.parent / "file.part").stat().st_size
    assert size > 50_000
    get(place, address, sha256=SHA256)
    assert server.requests[1][1]["Range"] == f"bytes={size}-"
    assert names(place.parent) == {"file"}


def test_full_disk_is_reported(server, place):
    pytest.importorskip("resource")
    code = """
        import resource, sys
        sys.dont_write_bytecode = True  # or .pyc files would be cut at the limit
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        try:
            get()
        except download.DownloadError as error:
            print(error)
    """
    done = ended(started(code, server.set_answer("/a", send_complete()), place))
    assert f"wmt00: {place} cannot be written: File too large; set TRUEBLEU_CACHE" in done[1]
    assert names(place.parent) == set()


# ---- locks ----


def test_wait_for_lock_is_reported(place, capsys, monkeypatch):
    monkeypatch.setattr(operating_system, "LOCK_REPORT_SECONDS", 0)
    place.parent.mkdir()
    order = []
    is_held, may_end = threading.Event(), threading.Event()

    def first() -> None:
        with download.hold_path_lock(place):
            is_held.set()
            may_end.wait(60)
            order.append("first")

    thread = threading.Thread(target=first)
    thread.start()
    is_held.wait(60)
    monkeypatch.setattr(operating_system.time, "sleep", lambda _: may_end.set())
    with download.hold_path_lock(place):
        order.append("second")
    thread.join()
    assert order == ["first", "second"]
    output = capsys.readouterr().err
    assert output.count("\n") == 1
    assert f"truebleu: waiting for another process that uses {place} ({place}.locked)" in output
    assert names(place.parent) == set()


def test_lock_is_reentrant_and_released_after_error(place):
    place.parent.mkdir()
    with download.hold_path_lock(place), download.hold_path_lock(place):
        assert names(place.parent) == {"file.locked"}
    with pytest.raises(ZeroDivisionError), download.hold_path_lock(place):
        raise ZeroDivisionError
    assert names(place.parent) == set()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
def test_lock_of_a_killed_process_is_free(place):
    place.parent.mkdir()
    code = """
        with download.hold_path_lock(sys.argv[2]):
            print("locked", flush=True)
            time.sleep(100)
    """
    process = started(code, "", place)
    assert process.stdout.readline() == "locked\n"
    process.kill()
    ended(process)
    assert names(place.parent) == {"file.locked"}
    with download.hold_path_lock(place) as is_alone:
        assert is_alone
    assert names(place.parent) == set()


def test_file_system_without_locks_gets_a_part_per_process(place, fetch, monkeypatch):
    monkeypatch.setattr(operating_system, "lock_file", lambda descriptor, wait: False)
    parts = []
    monkeypatch.setattr(
        http_transfer, "fetch_file", lambda address, part, *_: parts.append(part) or 1 / 0
    )
    with pytest.raises(ZeroDivisionError):
        fetch(send_complete())
    assert parts == [f"{place}.{os.getpid()}.part"]


# ---- the cache ----

READ_ONLY = """
    # What is imported later may not be readable then.
    get()
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        os.seteuid(65534)
    folder = download.get_writable_folder()
    assert download.get_writable_folder() == folder
    path = os.path.join(folder, "file")
    source = download.DownloadSource((sys.argv[1],))
    print(download.download_file(source, path, name="wmt00").sha256)
    print(download.list_download_folders() == (download.get_cache_folder(), folder))
    print(folder)
    try:
        download.download_file(source, os.path.join(download.get_cache_folder(), "x"), name="wmt00")
    except download.DownloadError as error:
        print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="folders of Windows are not read-only")
def test_unwritable_cache_uses_temporary_folder(server, tmp_path):
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o555)
    address = server.set_answer("/a", send_complete())
    status, out, errors = ended(started(READ_ONLY, address, tmp_path / "before", TMPDIR="/tmp"))
    assert status == 0, errors
    sha256, are_both_listed, folder, error = out.splitlines()
    assert (sha256, are_both_listed) == (SHA256, "True")
    assert errors.count("truebleu: ") == 1
    assert f"truebleu: {cache}: Permission denied; downloads are kept in {folder}" in errors
    assert f"wmt00: {cache}/x cannot be written: Permission denied" in error
    assert not os.path.exists(folder)


def test_file_at_cache_path_uses_temporary_folder(tmp_path, monkeypatch, capsys):
    (tmp_path / "plain").write_text("")
    monkeypatch.setenv("TRUEBLEU_CACHE", str(tmp_path / "plain"))
    cache, folder = download.get_cache_folder(), download.get_writable_folder()
    assert folder != cache
    assert download.list_download_folders() == (cache, folder)
    download._find_writable_folder.cache_clear()
    assert download.get_writable_folder() == download.list_download_folders()[1]
    assert capsys.readouterr().err.count("truebleu: ") == 1
    monkeypatch.setattr(download, "settings", download.Settings(quiet=True))
    download._find_writable_folder.cache_clear()
    assert download.get_writable_folder() == download.list_download_folders()[1]
    assert capsys.readouterr().err == ""


def test_missing_home_uses_temporary_folder():
    code = """
        os.path.expanduser = lambda path: path
        print(os.path.isabs(download.get_cache_folder()))
        os.path.exists("~") and print("made")
    """
    _, out, error = ended(started(code, "", Path("x"), TRUEBLEU_CACHE=""))
    assert out == "True\n"
    assert "truebleu: there is no home folder; downloads are kept in " in error


def test_unset_home_variable_uses_operating_system(monkeypatch):
    monkeypatch.delenv("HOME")
    code = "print(os.path.isabs(download.get_cache_folder()))"
    assert ended(started(code, "", Path("x"), TRUEBLEU_CACHE=""))[1] == "True\n"


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {}, ".cache/truebleu"),
        ("linux", {"XDG_CACHE_HOME": "/x"}, "/x/truebleu"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, ".cache/truebleu"),
        ("darwin", {}, "Library/Caches/truebleu"),
        ("win32", {"LOCALAPPDATA": "/l"}, "/l/truebleu/cache"),
        ("linux", {"TRUEBLEU_CACHE": "/t", "XDG_CACHE_HOME": "/x"}, "/t"),
        ("linux", {"TRUEBLEU_CACHE": "here"}, os.path.abspath("here")),
    ],
)
def test_cache_folder_per_platform(platform, environment, expected, monkeypatch):
    for variable in ("TRUEBLEU_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert download.get_cache_folder() == os.path.join(os.path.expanduser("~"), expected)


# ---- progress ----


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def progress(monkeypatch, stream, *, quiet: bool = False) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    seconds = iter([0.0, 0.0, 0.5, 2.0, 2.1, 4.0])
    monkeypatch.setattr(http_transfer.Progress, "clock", staticmethod(lambda: next(seconds)))
    output = http_transfer.Progress("wmt22", quiet=quiet)
    for size in (0, 1_000_000, 6_200_000, 6_300_000, 12_400_000):
        output(size, 61_000_000)
    output.clear()


def test_progress_is_shown_on_terminal(monkeypatch):
    terminal = Terminal()
    progress(monkeypatch, terminal)
    assert terminal.getvalue().split("\r\x1b[K")[1:] == [
        "wmt22: 6.2 of 61.0 MB, 3.1 MB/s, 18 s left",
        "wmt22: 12.4 of 61.0 MB, 3.1 MB/s, 16 s left",
        "",
    ]


def test_progress_is_hidden_without_terminal(monkeypatch):
    for stream, quiet in ((io.StringIO(), False), (Terminal(), True)):
        progress(monkeypatch, stream, quiet=quiet)
        assert stream.getvalue() == ""


# ---- archives ----


ZIP_MODES = {"link": 0o120777, "device": 0o020666}
TAR_TYPES = {"link": tarfile.SYMTYPE, "hard": tarfile.LNKTYPE}
TAR_TYPES |= {"device": tarfile.CHRTYPE, "pipe": tarfile.FIFOTYPE}


def packed(path: Path, members: dict, kind: str = "w:gz") -> str:
    """Return an archive of members: bytes, or the kind of another member."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                info = zipfile.ZipInfo(name)
                info.compress_type = zipfile.ZIP_DEFLATED
                info.external_attr = ZIP_MODES.get(content, 0o100644) << 16
                archive.writestr(info, b"target" if isinstance(content, str) else content)
    else:
        with tarfile.open(path, kind) as archive:
            for name, content in members.items():
                info, file = tarfile.TarInfo(name), None
                if isinstance(content, str):
                    info.type, info.linkname = TAR_TYPES[content], "/etc/passwd"
                else:
                    info.size, file = len(content), io.BytesIO(content)
                archive.addfile(info, file)
    return str(path)


ARCHIVES = ("a.tgz", "a.zip")
both_archives = pytest.mark.parametrize("name", ARCHIVES)
SAFE = {"x/a.txt": b"a\n", "./x/b.txt": b"b\n", "c.txt": b""}


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if not path.is_dir()
    }


def unpack(archive: str, folder: Path, members=None) -> dict[str, bytes]:
    archives.unpack_archive(archive, str(folder), members, label="the archive")
    return tree(folder)


@pytest.mark.parametrize("kind", ["w", "w:gz", "w:bz2", "w:xz", "zip"])
def test_archive_kinds_are_unpacked(tmp_path, kind):
    name = "a.zip" if kind == "zip" else "a.tgz"
    archive = packed(tmp_path / name, SAFE, kind)
    everything = {"x/a.txt": b"a\n", "x/b.txt": b"b\n", "c.txt": b""}
    assert unpack(archive, tmp_path / "deep" / "out") == everything
    selected = unpack(archive, tmp_path / "some", ["x/b.txt", "./c.txt"])
    assert selected == {"x/b.txt": b"b\n", "c.txt": b""}
    assert names(tmp_path) == {name, "deep", "some"}
    assert names(tmp_path / "deep") == {"out"}


@both_archives
def test_existing_folder_keeps_its_files(tmp_path, name):
    out = tmp_path / "out"
    (out / "x").mkdir(parents=True)
    (out / "x" / "old").write_bytes(b"old")
    (out / "c.txt").write_bytes(b"old")
    files = unpack(packed(tmp_path / name, SAFE), out)
    assert files == {"x/a.txt": b"a\n", "x/b.txt": b"b\n", "c.txt": b"", "x/old": b"old"}


OUTSIDE = ("../out.txt", "x/../../out.txt", "/tmp/out.txt", "x\\..\\..\\out.txt", "x/..", "..", "")


@both_archives
@pytest.mark.parametrize("outside", OUTSIDE)
def test_path_outside_folder_is_refused(tmp_path, name, outside):
    archive = packed(tmp_path / name, SAFE | {outside: b"evil"})
    (tmp_path / "in").mkdir()
    with pytest.raises(InputError, match=r"the archive cannot be unpacked: unsafe path"):
        unpack(archive, tmp_path / "in" / "out")
    with pytest.raises(InputError, match="unsafe path"):
        unpack(archive, tmp_path / "in" / "out", [outside])
    assert names(tmp_path / "in") == set()
    assert names(tmp_path) == {name, "in"}
    assert unpack(archive, tmp_path / "in" / "out", ["c.txt"]) == {"c.txt": b""}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *(("a.tgz", kind) for kind in ("link", "hard", "device", "pipe")),
        *(("a.zip", kind) for kind in ("link", "device")),
    ],
)
def test_links_and_devices_are_skipped(tmp_path, name, kind):
    archive = packed(tmp_path / name, SAFE | {"x/evil": kind})
    assert "x/evil" not in unpack(archive, tmp_path / "out")
    assert not os.path.lexists(tmp_path / "out" / "x" / "evil")
    kind_name = "link" if kind in ("link", "hard") else "device"
    with pytest.raises(InputError, match=f"x/evil is a {kind_name}, not a regular file"):
        unpack(archive, tmp_path / "other", ["x/evil"])
    assert not (tmp_path / "other").exists()


@both_archives
def test_link_does_not_lead_out_of_folder(tmp_path, name):
    """A file below what the archive says is a link to a folder."""
    archive = packed(tmp_path / name, {"x": "link", "x/a": b"a"})
    assert unpack(archive, tmp_path / "out") == {"x/a": b"a"}


BOMB = {"bomb": bytes(30_000_000), "small": b"a"}
TOO_LARGE = "it contains more than 1.0 MB .the limit is 20 times its size"


@both_archives
@pytest.mark.parametrize(
    ("content", "members", "message"),
    [(BOMB, None, TOO_LARGE), (BOMB, ["small"], TOO_LARGE), ({"a": b"a", "a/b": b"b"}, None, "")],
    ids=["a bomb", "a file beside a bomb", "a file that is a folder, too"],
)
def test_invalid_archive_is_refused(tmp_path, name, content, members, message):
    archive = packed(tmp_path / name, content)
    with pytest.raises(InputError, match=f"the archive cannot be unpacked.*{message}"):
        unpack(archive, tmp_path / "out", members)
    assert names(tmp_path) == {name}


def test_large_member_names_are_refused(tmp_path):
    archive = tmp_path / "a.tgz"
    with tarfile.open(archive, "w:gz", format=tarfile.PAX_FORMAT) as tape:
        info = tarfile.TarInfo("a")
        info.pax_headers = {"comment": "x" * 30_000_000}
        tape.addfile(info)
    with pytest.raises(InputError, match="it contains more than"):
        unpack(str(archive), tmp_path / "out")


@both_archives
def test_absolute_size_limit_applies(tmp_path, monkeypatch, name):
    monkeypatch.setattr(archives, "MAX_UNPACKED_BYTES", 10_000)
    archive = packed(tmp_path / name, {"a": random.Random(1).randbytes(20_000)})
    with pytest.raises(InputError, match=r"it contains more than 0.0 MB"):
        unpack(archive, tmp_path / "out")


def test_zip_with_false_sizes_is_refused(tmp_path):
    archive = Path(packed(tmp_path / "a.zip", {"bomb": bytes(30_000_000)}))
    content = archive.read_bytes().replace(struct.pack("<I", 30_000_000), struct.pack("<I", 100))
    archive.write_bytes(content)
    with pytest.raises(InputError, match="it is corrupt or not an archive"):
        unpack(str(archive), tmp_path / "out")
    assert names(tmp_path) == {"a.zip"}


@pytest.mark.parametrize(
    ("name", "kind"), [("a.zip", ""), *(("a.tgz", kind) for kind in ("w:gz", "w:bz2", "w:xz"))]
)
def test_other_file_is_not_an_archive(tmp_path, name, kind):
    archive = tmp_path / name
    right = Path(packed(archive, {"a": random.Random(1).randbytes(50_000)}, kind)).read_bytes()
    flipped = bytearray(right)
    flipped[len(flipped) // 2] ^= 255
    for content in (b"", b"text, no archive\n", right[:100], right[:-5], right[:3], bytes(flipped)):
        archive.write_bytes(content)
        with pytest.raises(InputError, match="the archive cannot be unpacked: "):
            unpack(str(archive), tmp_path / "out")
        assert names(tmp_path) == {name}


def test_parallel_threads_unpack_in_turn(tmp_path):
    content = {f"x/{number}": random.Random(number).randbytes(9_000) for number in range(30)}
    archive = packed(tmp_path / "a.tgz", content)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: unpack(archive, tmp_path / "out"), range(4)))
    assert len(results) == 4
    assert tree(tmp_path / "out") == content
    assert names(tmp_path) == {"a.tgz", "out"}


def test_leftover_work_folder_is_removed(tmp_path):
    (tmp_path / "out.unpacking").mkdir()
    (tmp_path / "out.unpacking" / "half").write_bytes(b"")
    archive = packed(tmp_path / "a.zip", {"a": b"a"})
    assert unpack(archive, tmp_path / "out") == {"a": b"a"}
    assert names(tmp_path) == {"a.zip", "out"}


def test_folder_creation_error_is_reported(tmp_path):
    archive = packed(tmp_path / "a.zip", {"a": b"a"})
    (tmp_path / "plain").write_bytes(b"")
    with pytest.raises(InputError, match="cannot be unpacked into"):
        unpack(archive, tmp_path / "plain" / "out")
