"""The report server sends the page and its texts only to clients with the token."""

import gzip
import http.client
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import urllib.parse
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_parser import Page

import truebleu as tb
from truebleu.comparison.comparison_request import Request, Significance
from truebleu.reports import payload
from truebleu.reports.report_builder import ReportData
from truebleu.reports.serve import MAX_SEGMENTS_PER_REQUEST, Server
from truebleu.text.segments import CHUNK_BYTES, File, open_disk_lines

REFERENCES = ["The cat sat on the mat.", "Nobody was there.", "It is late.", ""] * 5
GOOD = ["The cat sat on a mat.", "Nobody was here.", "It is late.", "x\r"] * 5
POOR = ["Cat on mat.", "\u2028<script>alert(1)</script>", "late\x00 is", "y" * 10_000] * 5

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX only")


def make_data(systems, references, **options) -> ReportData:
    testing = Significance(test=None, confidence=None, seed=1)
    request_options = {name: options.pop(name) for name in ("metrics", "source") if name in options}
    request = Request(systems, references, testing=testing, **request_options)
    return ReportData(request, options.pop("also", ()), **options)


def get_token(server):
    return urllib.parse.urlsplit(server.url).path.strip("/")


@contextmanager
def run_server(data: ReportData):
    with Server(data) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def send_request(server, target="", method="GET", headers=None):
    """Send a request relative to the token's path; return status, headers and body.

    {port} in a header is replaced by the server's port.
    """
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=20)
    try:
        path = urllib.parse.urlsplit(server.url).path
        target = target if target.startswith(("/", "*", "http:")) else path + target
        connection.putrequest(method, target, skip_host="Host" in (headers or {}))
        for name, values in (headers or {}).items():
            for value in values if isinstance(values, list) else [values]:
                connection.putheader(name, value.format(port=server.server_port))
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def request_texts(server, roles, first, last):
    """Return the texts of some segments by role; check that the body has no other bytes."""
    query = f"texts?roles={','.join(roles)}&from={first}&to={last}"
    status, headers, body = send_request(server, query)
    assert status == 200, body
    assert headers["Content-Type"] == "application/octet-stream"
    texts_by_role, start, count = {}, 0, last - first
    for role in roles:
        lengths = struct.unpack_from(f"<{count}I", body, start)
        start += 4 * count
        texts_by_role[role] = []
        for length in lengths:
            if length == payload.MISSING_LENGTH:
                texts_by_role[role].append(None)
                continue
            text = body[start : start + length]
            texts_by_role[role].append(text.decode("utf-8", "surrogatepass"))
            start += length
    assert start == len(body)
    return texts_by_role


@pytest.fixture(scope="module")
def server():
    data = make_data({"good": GOOD, "poor": POOR}, REFERENCES, metrics=["bleu", "ter"])
    with run_server(data) as server:
        yield server


# ---- the page ----


def test_page_has_numbers_but_no_texts(server):
    status, headers, body = send_request(server)
    assert status == 200
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    page = Page(body)
    blocks = [a["data-block"] for a, _ in page.scripts if "data-block" in a]
    assert blocks[:4] == ["s0.0", "s0.1", "s1.0", "s1.1"]
    assert not {"system0", "system1", "reference0", "source", "texts"} & set(blocks)
    manifest = next(json.loads(t) for a, t in page.scripts if a.get("id") == "manifest")
    assert manifest["serve"] == {"base": "./"}
    assert manifest["embedded"] == manifest["segments"] == 20
    # The page must not contain the secret URL, because users may save and share it.
    assert get_token(server).encode() not in body


def test_page_policy_allows_own_server_only(server):
    _, headers, body = send_request(server)
    policy = headers["Content-Security-Policy"]
    assert "connect-src 'self';" in policy
    assert "default-src 'none'" in policy
    assert policy.endswith("; frame-ancestors 'none'")
    assert "unsafe" not in policy.replace("'wasm-unsafe-eval'", "")
    inside = {
        a.get("http-equiv"): a.get("content") for tag, a in Page(body).elements if tag == "meta"
    }["Content-Security-Policy"]
    assert f"{inside}; frame-ancestors 'none'" == policy


def test_redacted_report_serves_no_texts():
    data = make_data({"a": GOOD}, REFERENCES, is_redacted=True, metrics=["ter"])
    with run_server(data) as server:
        _, headers, body = send_request(server)
        assert "connect-src 'none'" in headers["Content-Security-Policy"]
        assert b'"serve":null' in body
        for role in ("system0", "reference0"):
            assert send_request(server, f"texts?roles={role}&from=0&to=1")[0] == 404


@pytest.mark.parametrize("target", ["", "texts?roles=system0&from=0&to=1", "x", "/", "texts"])
def test_responses_have_security_headers(server, target):
    _, headers, _ = send_request(server, target)
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Content-Security-Policy"].endswith("frame-ancestors 'none'")
    assert "Access-Control-Allow-Origin" not in headers
    assert "Server" not in headers


# ---- access control ----


@pytest.mark.parametrize(
    "target",
    [
        *("/", "//", "/x/", "/index.html", "/favicon.ico", "/texts?roles=system0&from=0&to=1"),
        *("/{token}", "/{half}/", "/{token}x/", "/{upper}/", "/%2e/{token}/", "//{token}//"),
        *("/{token}//", "/{token}/.", "/{token}/..", "/{token}/../", "/{token}/../../etc/passwd"),
        *("/{token}/%2e%2e/", "/{token}/texts/", "/{token}/texts/../", "/{token}/?", "/{token}/?a"),
        *("/{token}/%74exts?roles=system0&from=0&to=1", "/../{token}/", "/{token}\\", "*"),
        "/{token}/viewer/main.js",
    ],
)
def test_other_paths_are_not_found(server, target):
    token = get_token(server)
    path = target.format(token=token, half=token[:20], upper=token.swapcase())
    status, _, body = send_request(server, path)
    assert (status, body) == (404, b"Not Found\n")


def test_tokens_are_long_and_unique(server):
    with run_server(make_data({"a": ["a"]}, ["a"])) as second_server:
        tokens = [get_token(server), get_token(second_server)]
        assert tokens[0] != tokens[1]
        assert min(map(len, tokens)) >= 43
        assert send_request(second_server, f"/{tokens[0]}/")[0] == 404


FOREIGN_HOSTS = [
    *("example.com", "example.com:{port}", "127.0.0.1", "127.0.0.1:1", "0.0.0.0:{port}", ""),
    *("127.0.0.1:{port}.example.com", ["127.0.0.1:{port}", "example.com"]),
    *(["127.0.0.1:{port}", "127.0.0.1:{port}"], []),
]
FOREIGN_ORIGINS = [
    *("https://example.com", "null", "http://127.0.0.1", "https://127.0.0.1:{port}"),
    *(["http://127.0.0.1:{port}", "https://example.com"], "http://localhost:{port}"),
]


@pytest.mark.parametrize(
    "headers",
    [
        *({"Host": host} for host in FOREIGN_HOSTS),
        *({"Origin": origin} for origin in FOREIGN_ORIGINS),
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
    ],
    ids=str,
)
@pytest.mark.parametrize("target", ["", "texts?roles=system0&from=0&to=1", "/x/"])
def test_foreign_requests_are_forbidden(server, headers, target):
    status, _, body = send_request(server, target, headers=headers)
    assert (status, body) == (403, b"Forbidden\n")


OPENED_LINK = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "localhost:{port}"},
        {"Host": "localhost:{port}", "Origin": "http://localhost:{port}"},
        {"Origin": "http://127.0.0.1:{port}", "Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "cross-site", **OPENED_LINK},
    ],
    ids=str,
)
def test_own_requests_are_allowed(server, headers):
    assert send_request(server, headers=headers)[0] == 200


@pytest.mark.parametrize("method", ["HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "X"])
def test_other_methods_are_refused(server, method):
    status, headers, _ = send_request(server, method=method)
    assert status == 405
    assert headers["Allow"] == "GET"


def test_server_listens_on_loopback_only(server):
    assert server.url.startswith(f"http://127.0.0.1:{server.server_port}/")
    try:
        own_address = socket.gethostbyname(socket.gethostname())
    except OSError:
        pytest.skip("this machine has no other address")
    if own_address.startswith("127."):
        pytest.skip("this machine has no other address")
    with pytest.raises(OSError, match=r".*"):
        socket.create_connection((own_address, server.server_port), timeout=2).close()


@pytest.mark.parametrize(
    "sent",
    [
        b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 200 + b"\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello",
        b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
)
def test_malformed_request_reveals_nothing(server, sent):
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=20) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        response = b""
        try:
            while piece := connection.recv(1 << 16):
                response += piece
        except ConnectionResetError:
            pass
    assert b"200 OK" not in response
    assert b"Python" not in response
    assert len(response) < 1000
    assert send_request(server)[0] == 200


# ---- texts ----


def test_texts_survive_transfer(server):
    columns = {"reference0": REFERENCES, "system0": GOOD, "system1": POOR}
    for first, last in ((0, 20), (0, 1), (19, 20), (3, 11)):
        received = request_texts(server, list(columns), first, last)
        assert received == {role: column[first:last] for role, column in columns.items()}


def test_surrogates_and_missing_references_survive_transfer():
    references = [["a \ud800 b", None], ["c", "\udfff"], [None, "d"]]
    hypotheses = ["a \ud800 b", "c", "\ud83d \ude00"]
    with run_server(make_data({"a": hypotheses}, references, source=["1", "2", "3"])) as server:
        received = request_texts(server, ["source", "reference0", "reference1", "system0"], 0, 3)
    assert received["system0"] == hypotheses
    assert received["reference0"] == ["a \ud800 b", "c", None]
    assert received["reference1"] == [None, "\udfff", "d"]
    assert received["source"] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("query", "status"),
    [
        *(("", 400), ("?", 400), ("?roles=system0", 400), ("?roles=system0&from=0", 400)),
        *(("?roles=system0&from=0&to=0", 400), ("?roles=system0&from=1&to=0", 400)),
        *(("?roles=system0&from=0&to=21", 400), ("?roles=system0&from=20&to=21", 400)),
        *(("?roles=system0&from=-1&to=1", 400), ("?roles=system0&from=+0&to=1", 400)),
        *(("?roles=system0&from=0&to=1e0", 400), ("?roles=system0&from=0&to=٣", 400)),
        *(("?roles=system0&from=0&to=" + "9" * 5000, 400), ("?roles=system0&from=&to=1", 400)),
        *(("?roles=system0&from=0&to=1&to=1", 400), ("?roles=system0&from=0&to=1&a=b", 400)),
        *(("?roles=system0,system0&from=0&to=1", 400), ("?roles=system0&from=0&to=1#x", 400)),
        *(("?roles=&from=0&to=1", 400), ("?roles=system2&from=0&to=1", 404)),
        *(("?roles=system0,x&from=0&to=1", 404), ("?roles=source&from=0&to=1", 404)),
        *(("?roles=../../etc/passwd&from=0&to=1", 404), ("?roles=s0.0&from=0&to=1", 404)),
    ],
)
def test_invalid_query_is_refused(server, query, status):
    target = "texts" + urllib.parse.quote(query, safe="?=&+,#/%")
    response_status, _, body = send_request(server, target)
    assert response_status == status
    assert body in (b"Bad Request\n", b"Not Found\n")


def test_segments_per_request_are_limited():
    count = MAX_SEGMENTS_PER_REQUEST + 1
    with run_server(make_data({"a": ["a b c d"] * count}, ["a b c d"] * count)) as server:
        texts = request_texts(server, ["system0"], 1, count)["system0"]
        assert len(texts) == MAX_SEGMENTS_PER_REQUEST
        assert send_request(server, f"texts?roles=system0&from=0&to={count}")[0] == 400


# ---- texts on disk ----


def open_column(path, **options):
    return open_disk_lines(File(path, **options))


@given(st.lists(st.binary().map(lambda line: line.replace(b"\n", b""))), st.booleans())
def test_random_lines_on_disk_survive(tmp_path_factory, lines, ended):
    path = tmp_path_factory.getbasetemp() / "lines"
    content = b"\n".join(lines) + (b"\n" if ended and lines else b"")
    path.write_bytes(content)
    expected = content.split(b"\n")
    if not expected[-1]:
        del expected[-1]
    disk_lines = open_column(path)
    by_index = [disk_lines[i] for i in range(len(disk_lines))]
    assert list(disk_lines) == by_index == disk_lines[:] == expected
    for first in range(len(expected)):
        size, pieces = payload.encode_text_range(disk_lines, first, len(expected))
        block = b"".join(pieces)
        assert len(block) == size
        assert block == payload.encode_texts(expected[first:])


def test_lines_longer_than_a_chunk_survive(tmp_path):
    lines = [b"x" * (CHUNK_BYTES - 1), b"", b"y" * (3 * CHUNK_BYTES), b"z", b"w" * CHUNK_BYTES]
    (tmp_path / "lines").write_bytes(b"\n".join(lines))
    disk_lines = open_column(tmp_path / "lines")
    assert list(disk_lines) == [disk_lines[i] for i in range(5)] == lines
    _, pieces = payload.encode_text_range(disk_lines, 1, 4)
    assert b"".join(pieces) == payload.encode_texts(lines[1:4])


@pytest.mark.parametrize("kind", ["plain", "gzip", "column", "latin-1"])
def test_files_on_disk_give_same_page(tmp_path, kind):
    """Numbers, hashes and texts are equal for all kinds of files."""
    sources = [text.replace("\u2028", "") for text in POOR]
    lines = {"ref": REFERENCES, "good": [line + " é" for line in GOOD], "src": sources}
    encoding = "latin-1" if kind == "latin-1" else "utf-8"
    before, column = ("1\t", 2) if kind == "column" else ("", None)

    def write_file(name):
        path = tmp_path / (f"{name}.gz" if kind == "gzip" else name)
        data = "".join(f"{before}{line}\n" for line in lines[name]).encode(encoding)
        path.write_bytes(gzip.compress(data) if kind == "gzip" else data)
        return File(path, column, encoding)

    system, reference, source = map(write_file, ("good", "ref", "src"))
    in_memory, on_disk = (
        make_data({"good": system}, [reference], source=source, on_disk=is_on_disk)
        for is_on_disk in (False, True)
    )
    assert on_disk.build_manifest() == in_memory.build_manifest()
    assert on_disk.encode_numeric_blocks() == in_memory.encode_numeric_blocks()
    with run_server(on_disk) as server:
        received = request_texts(server, ["system0", "reference0", "source"], 2, 20)
    names = {"system0": "good", "reference0": "ref", "source": "src"}
    assert received == {role: lines[name][2:] for role, name in names.items()}


def test_changed_file_gives_conflict(tmp_path, write):
    reference, system = write("ref", REFERENCES), write("system", REFERENCES)
    data = make_data({"a": system}, [reference], on_disk=True)
    with run_server(data) as server:
        assert send_request(server, "texts?roles=system0&from=0&to=2")[0] == 200
        system.write_text("short\n")
        status, headers, body = send_request(server, "texts?roles=reference0,system0&from=0&to=2")
        assert status == 409
        assert headers["Content-Type"] == "text/plain; charset=utf-8"
        assert b"system has changed since it was read. Start again" in body
        assert send_request(server, "texts?roles=reference0&from=0&to=2")[0] == 200


def test_checks_stop_at_memory_limit(write, monkeypatch):
    """The checks cover as many segments as fit in memory, and the manifest states the number."""
    from truebleu.reports import data_checks

    files = {"a": write("a", ["", *["b c d e"] * 99])}, [write("ref", ["b c d e"] * 100)]
    all_checked = make_data(*files, on_disk=True)
    monkeypatch.setattr(data_checks, "MAX_CHECKED_BYTES", 400)
    some_checked = make_data(*files, on_disk=True)
    assert all_checked.build_manifest()["health"]["segments"] == 100
    assert some_checked.build_manifest()["health"]["segments"] == (400 - 9) // 16 + 1
    first, block = (data.encode_numeric_blocks()["h.0"] for data in (all_checked, some_checked))
    assert len(first) == len(block) == 400
    assert block[100:] == bytes(300)
    assert block[:4] == first[:4] != bytes(4)


def test_invalid_utf8_is_refused_with_line(tmp_path, write):
    reference, system = write("ref", REFERENCES), write("system", REFERENCES)
    source = tmp_path / "source"
    source.write_bytes(b"a\n" * 5 + b"\xff\n" + b"a\n" * 14)
    with pytest.raises(tb.InputError, match=r"source.*line 6: byte 0xff"):
        make_data({"a": system}, [reference], source=source, on_disk=True)
    with pytest.raises(tb.InputError, match="line 6: byte 0xff"):
        make_data({"a": source}, [reference], on_disk=True)


# ---- command line ----


@contextmanager
def start_command(*words, script="from truebleu.cli import main; sys.exit(main())", **options):
    """Start a server with the command; yield its process and URL."""
    process = subprocess.Popen(
        [sys.executable, "-c", f"import sys; {script}", "report", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )
    try:
        yield process, process.stdout.readline().decode().strip()
    finally:
        process.kill()
        process.communicate()


def fetch_url(url, path=""):
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=20)
    connection.request("GET", parts.path + path)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body


@posix
def test_interrupt_ends_server(write):
    words = [write("ref", REFERENCES), "-i", write("a", GOOD), write("b", POOR), "--serve"]
    with start_command(*words, start_new_session=True) as (process, url):
        assert fetch_url(url)[0] == 200
        assert fetch_url(url, "texts?roles=system1&from=0&to=20")[0] == 200
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=20)
        assert process.returncode == 0
        assert b"Traceback" not in error
        with pytest.raises(ConnectionError):
            fetch_url(url)


@posix
def test_standard_input_can_be_served(write):
    words = [write("ref", REFERENCES), "--serve", "0", "-q"]
    with (
        open(write("in", GOOD), "rb") as input_file,
        start_command(*words, stdin=input_file) as (_, url),
    ):
        status, body = fetch_url(url, "texts?roles=system0&from=0&to=1")
        assert status == 200
        assert body.endswith(GOOD[0].encode())


def test_occupied_port_is_reported(write, truebleu_command):
    with socket.socket() as occupied:
        occupied.bind(("127.0.0.1", 0))
        occupied.listen()
        port = occupied.getsockname()[1]
        reference = write("ref", REFERENCES)
        result = truebleu_command("report", reference, "-i", reference, "--serve", port)
    assert result.status == 1
    assert f"127.0.0.1:{port}: " in result.error
    assert "Traceback" not in result.error


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--serve", "-o", "x.html"], "-o/--output and --serve are mutually exclusive"),
        (["--serve", "--embed-text", "5"], "--embed-text and --serve are mutually exclusive"),
        (["--open", "-o", "-"], "--open: a browser cannot open standard output"),
        (["--serve", "70000"], "from 0 to 65,535"),
    ],
)
def test_incompatible_options_are_refused(write, truebleu_command, words, problem):
    reference = write("ref", REFERENCES)
    result = truebleu_command("report", reference, "-i", reference, *words)
    assert result.status == 2
    assert problem in result.error


@pytest.mark.thorough
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")
def test_memory_is_independent_of_text_size(tmp_path):
    """Files that are eight times as large, with equally many segments, need no more memory.

    This test lowers the memory limits for n-grams and data checks.
    """
    script = (
        "from truebleu.cli import main; "
        "from truebleu.reports import data_checks, distinctive_ngrams;"
        "data_checks.MAX_CHECKED_BYTES = 1 << 20;"
        "distinctive_ngrams.build_corpus.__defaults__ = (1 << 16,);"
        "sys.exit(main())"
    )
    words = b"the cat sat on the mat and looked at it "

    def measure_peak_memory(repeats):
        for name in ("ref", "a", "src"):
            (tmp_path / name).write_bytes((words * repeats + name.encode() + b"\n") * 2000)
        files = [str(tmp_path / name) for name in ("ref", "a", "src")]
        words_of = [files[0], "-i", files[1], "--source", files[2], "--serve", "-q"]
        with start_command(*words_of, script=script) as (process, url):
            for first in range(0, 2000, 500):
                query = f"texts?roles=system0,reference0,source&from={first}&to={first + 500}"
                status, body = fetch_url(url, query)
                assert status == 200
                assert len(body) > 3 * 500 * len(words) * repeats
            with open(f"/proc/{process.pid}/status") as status:
                return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

    small, large = measure_peak_memory(32), measure_peak_memory(256)
    text = 3 * 2000 * len(words) * (256 - 32) // 1024
    assert text > 50_000
    assert large - small < text / 4, (small, large)
