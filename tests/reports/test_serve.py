"""The report's server gives the page and its texts to whoever knows the token, and nothing else."""

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


def contents(systems, references, **options) -> ReportData:
    testing = Significance(test=None, confidence=None, seed=1)
    given = {name: options.pop(name) for name in ("metrics", "source") if name in options}
    request = Request(systems, references, testing=testing, **given)
    return ReportData(request, options.pop("also", ()), **options)


@contextmanager
def served(made: ReportData):
    with Server(made) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def ask(server, target="", method="GET", headers=None, body=None):
    """Status, headers and body of the answer to a request for what is behind the token."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=20)
    try:
        path = urllib.parse.urlsplit(server.url).path
        target = target if target.startswith(("/", "*", "http:")) else path + target
        connection.putrequest(method, target, skip_host="Host" in (headers or {}))
        for name, values in (headers or {}).items():
            for value in values if isinstance(values, list) else [values]:
                connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def texts(server, roles, first, last):
    """The texts of some segments, by role, and no byte besides."""
    query = f"texts?roles={','.join(roles)}&from={first}&to={last}"
    status, headers, body = ask(server, query)
    assert status == 200, body
    assert headers["Content-Type"] == "application/octet-stream"
    found, at, count = {}, 0, last - first
    for role in roles:
        lengths = struct.unpack_from(f"<{count}I", body, at)
        at += 4 * count
        found[role] = []
        for length in lengths:
            there = length != payload.MISSING_LENGTH
            text = body[at : at + length].decode("utf-8", "surrogatepass") if there else None
            found[role].append(text)
            at += length if there else 0
    assert at == len(body)
    return found


@pytest.fixture(scope="module")
def server():
    made = contents({"good": GOOD, "poor": POOR}, REFERENCES, metrics=["bleu", "ter"])
    with served(made) as server:
        yield server


# ---- the page ----


def test_the_page_has_numbers_and_no_texts(server):
    status, headers, body = ask(server)
    assert status == 200
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    page = Page(body)
    blocks = [a["data-block"] for a, _ in page.scripts if "data-block" in a]
    assert blocks[:4] == ["s0.0", "s0.1", "s1.0", "s1.1"]
    assert not {"system0", "system1", "reference0", "source", "texts"} & set(blocks)
    manifest = next(json.loads(t) for a, t in page.scripts if a.get("id") == "manifest")
    assert manifest["serve"] == {"base": "./"}
    assert manifest["embedded"] == manifest["segments"] == 20
    # The address is a secret, and the page can be saved and sent.
    assert urllib.parse.urlsplit(server.url).path.strip("/").encode() not in body


def test_the_page_may_load_from_its_own_server_alone(server):
    _, headers, body = ask(server)
    policy = headers["Content-Security-Policy"]
    assert "connect-src 'self';" in policy
    assert "default-src 'none'" in policy
    assert policy.endswith("; frame-ancestors 'none'")
    assert "unsafe" not in policy.replace("'wasm-unsafe-eval'", "")
    inside = {
        a.get("http-equiv"): a.get("content") for tag, a in Page(body).elements if tag == "meta"
    }["Content-Security-Policy"]
    assert f"{inside}; frame-ancestors 'none'" == policy


def test_a_file_has_no_server_and_may_load_nothing():
    body = tb.report({"a": GOOD}, REFERENCES).html()
    assert "connect-src 'none'" in body
    assert '"serve":null' in body


def test_without_text_there_is_none():
    with served(contents({"a": GOOD}, REFERENCES, is_redacted=True, metrics=["ter"])) as server:
        _, headers, body = ask(server)
        assert "connect-src 'none'" in headers["Content-Security-Policy"]
        assert b'"serve":null' in body
        for role in ("system0", "reference0"):
            assert ask(server, f"texts?roles={role}&from=0&to=1")[0] == 404


@pytest.mark.parametrize("target", ["", "texts?roles=system0&from=0&to=1", "x", "/", "texts"])
def test_every_answer_is_kept_nowhere(server, target):
    _, headers, _ = ask(server, target)
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Content-Security-Policy"].endswith("frame-ancestors 'none'")
    assert "Access-Control-Allow-Origin" not in headers
    assert "Server" not in headers


# ---- who is let in ----


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
def test_nothing_else_is_there(server, target):
    token = urllib.parse.urlsplit(server.url).path.strip("/")
    made = target.format(token=token, half=token[:20], upper=token.swapcase())
    status, _, body = ask(server, made)
    assert (status, body) == (404, b"Not Found\n")


def test_tokens_are_long_and_new_each_time(server):
    with served(contents({"a": ["a"]}, ["a"])) as other:
        tokens = [urllib.parse.urlsplit(one.url).path.strip("/") for one in (server, other)]
        assert tokens[0] != tokens[1]
        assert min(map(len, tokens)) >= 43
        assert ask(other, f"/{tokens[0]}/")[0] == 404


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "example.com"},
        {"Host": "example.com:{port}"},
        {"Host": "127.0.0.1"},
        {"Host": "127.0.0.1:1"},
        {"Host": "127.0.0.1:{port}.example.com"},
        {"Host": "0.0.0.0:{port}"},
        {"Host": ""},
        {"Host": ["127.0.0.1:{port}", "example.com"]},
        {"Host": ["127.0.0.1:{port}", "127.0.0.1:{port}"]},
        {"Host": []},
        {"Origin": "https://example.com"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1"},
        {"Origin": "https://127.0.0.1:{port}"},
        {"Origin": ["http://127.0.0.1:{port}", "https://example.com"]},
        {"Origin": "http://localhost:{port}"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
    ],
    ids=str,
)
@pytest.mark.parametrize("target", ["", "texts?roles=system0&from=0&to=1", "/x/"])
def test_who_comes_from_elsewhere_is_refused(server, headers, target):
    def filled(value):
        return value.format(port=server.server_port)

    made = {
        name: [filled(one) for one in value] if isinstance(value, list) else filled(value)
        for name, value in headers.items()
    }
    status, _, body = ask(server, target, headers=made)
    assert (status, body) == (403, b"Forbidden\n")


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "localhost:{port}"},
        {"Host": "localhost:{port}", "Origin": "http://localhost:{port}"},
        {"Origin": "http://127.0.0.1:{port}", "Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none"},
        {
            "Sec-Fetch-Site": "cross-site",
            "Sec-Fetch-Mode": "navigate",
            "Sec-Fetch-Dest": "document",
        },
    ],
    ids=str,
)
def test_the_page_and_its_reader_are_let_in(server, headers):
    made = {name: value.format(port=server.server_port) for name, value in headers.items()}
    assert ask(server, headers=made)[0] == 200


@pytest.mark.parametrize("method", ["HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "X"])
def test_only_get(server, method):
    status, headers, _ = ask(server, method=method)
    assert status == 405
    assert headers["Allow"] == "GET"


def test_it_listens_on_this_machine_alone(server):
    assert server.url.startswith(f"http://127.0.0.1:{server.server_port}/")
    try:
        own = socket.gethostbyname(socket.gethostname())
    except OSError:
        pytest.skip("this machine has no other address")
    if own.startswith("127."):
        pytest.skip("this machine has no other address")
    with pytest.raises(OSError, match=r".*"):
        socket.create_connection((own, server.server_port), timeout=2).close()


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
def test_what_is_no_request_is_told_nothing(server, sent):
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=20) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        got = b""
        try:
            while piece := connection.recv(1 << 16):
                got += piece
        except ConnectionResetError:
            pass
    assert b"200 OK" not in got
    assert b"Python" not in got
    assert len(got) < 1000
    assert ask(server)[0] == 200


# ---- texts ----


def test_texts_come_back_as_they_were(server):
    columns = {"reference0": REFERENCES, "system0": GOOD, "system1": POOR}
    for first, last in ((0, 20), (0, 1), (19, 20), (3, 11)):
        found = texts(server, list(columns), first, last)
        assert found == {role: column[first:last] for role, column in columns.items()}


def test_surrogates_and_missing_references():
    references = [["a \ud800 b", None], ["c", "\udfff"], [None, "d"]]
    hypotheses = ["a \ud800 b", "c", "\ud83d \ude00"]
    with served(contents({"a": hypotheses}, references, source=["1", "2", "3"])) as server:
        found = texts(server, ["source", "reference0", "reference1", "system0"], 0, 3)
    assert found["system0"] == hypotheses
    assert found["reference0"] == ["a \ud800 b", "c", None]
    assert found["reference1"] == [None, "\udfff", "d"]
    assert found["source"] == ["1", "2", "3"]


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
def test_what_there_is_not(server, query, status):
    got, _, body = ask(server, "texts" + urllib.parse.quote(query, safe="?=&+,#/%"))
    assert got == status
    assert body in (b"Bad Request\n", b"Not Found\n")


def test_so_many_at_once_and_no_more():
    count = MAX_SEGMENTS_PER_REQUEST + 1
    with served(contents({"a": ["a b c d"] * count}, ["a b c d"] * count)) as server:
        assert len(texts(server, ["system0"], 1, count)["system0"]) == MAX_SEGMENTS_PER_REQUEST
        assert ask(server, f"texts?roles=system0&from=0&to={count}")[0] == 400


# ---- texts that stay in their files ----


def column(path, **options):
    return open_disk_lines(File(path, **options))


@given(st.lists(st.binary().map(lambda line: line.replace(b"\n", b""))), st.booleans())
def test_any_lines_on_disk(tmp_path_factory, lines, ended):
    path = tmp_path_factory.getbasetemp() / "lines"
    whole = b"\n".join(lines) + (b"\n" if ended and lines else b"")
    path.write_bytes(whole)
    expected = whole.split(b"\n")
    if not expected[-1]:
        del expected[-1]
    found = column(path)
    assert list(found) == [found[i] for i in range(len(found))] == found[:] == expected
    for first in range(len(expected)):
        size, pieces = payload.encode_text_range(found, first, len(expected))
        block = b"".join(pieces)
        assert len(block) == size
        assert block == payload.encode_texts(expected[first:])


def test_lines_longer_than_a_piece(tmp_path):
    lines = [b"x" * (CHUNK_BYTES - 1), b"", b"y" * (3 * CHUNK_BYTES), b"z", b"w" * CHUNK_BYTES]
    (tmp_path / "lines").write_bytes(b"\n".join(lines))
    found = column(tmp_path / "lines")
    assert list(found) == [found[i] for i in range(5)] == lines
    assert b"".join(payload.encode_text_range(found, 1, 4)[1]) == payload.encode_texts(lines[1:4])


@pytest.mark.parametrize("kind", ["plain", "gzip", "column", "latin-1"])
def test_a_page_of_files_is_that_of_what_is_in_them(tmp_path, kind):
    """Whatever the files are: numbers, hashes, texts."""
    lines = {"ref": REFERENCES, "good": [line + " é" for line in GOOD], "src": POOR}
    lines = {name: [one.replace("\u2028", "") for one in column] for name, column in lines.items()}

    def written(name):
        path = tmp_path / (f"{name}.gz" if kind == "gzip" else name)
        data = "".join(f"{line}\n" for line in lines[name])
        if kind == "column":
            data = "".join(f"1\t{line}\n" for line in lines[name])
        data = data.encode("latin-1" if kind == "latin-1" else "utf-8")
        path.write_bytes(gzip.compress(data) if kind == "gzip" else data)
        return File(
            path,
            2 if kind == "column" else None,
            "latin-1" if kind == "latin-1" else "utf-8",
        )

    def made(*, on_disk):
        return contents(
            {"good": written("good")}, [written("ref")], source=written("src"), on_disk=on_disk
        )

    whole, on_disk = made(on_disk=False), made(on_disk=True)
    assert on_disk.build_manifest() == whole.build_manifest()
    assert on_disk.encode_numeric_blocks() == whole.encode_numeric_blocks()
    with served(on_disk) as server:
        found = texts(server, ["system0", "reference0", "source"], 2, 20)
    assert found == {
        role: lines[name][2:]
        for role, name in {"system0": "good", "reference0": "ref", "source": "src"}.items()
    }


def test_a_file_that_changed_is_not_shown(tmp_path, write):
    reference, system = write("ref", REFERENCES), write("system", REFERENCES)
    made = contents({"a": system}, [reference], on_disk=True)
    with served(made) as server:
        assert ask(server, "texts?roles=system0&from=0&to=2")[0] == 200
        system.write_text("short\n")
        status, headers, body = ask(server, "texts?roles=reference0,system0&from=0&to=2")
        assert status == 409
        assert headers["Content-Type"] == "text/plain; charset=utf-8"
        assert b"system has changed since it was read; start again" in body
        assert ask(server, "texts?roles=reference0&from=0&to=2")[0] == 200


def test_what_is_odd_is_looked_for_in_the_first_segments(write, monkeypatch):
    """In as many as there is memory for; it is said in how many."""
    from truebleu.reports import data_checks

    files = {"a": write("a", ["", *["b c d e"] * 99])}, [write("ref", ["b c d e"] * 100)]
    whole = contents(*files, on_disk=True)
    monkeypatch.setattr(data_checks, "MAX_CHECKED_BYTES", 400)
    part = contents(*files, on_disk=True)
    assert whole.build_manifest()["health"]["segments"] == 100
    assert part.build_manifest()["health"]["segments"] == (400 - 9) // 16 + 1
    first, block = whole.encode_numeric_blocks()["h.0"], part.encode_numeric_blocks()["h.0"]
    assert len(first) == len(block) == 400
    assert block[100:] == bytes(300)
    assert block[:4] == first[:4] != bytes(4)


def test_what_is_no_utf8_is_refused_with_its_line(tmp_path, write):
    reference, system = write("ref", REFERENCES), write("system", REFERENCES)
    source = tmp_path / "source"
    source.write_bytes(b"a\n" * 5 + b"\xff\n" + b"a\n" * 14)
    with pytest.raises(tb.InputError, match=r"source.*line 6: byte 0xff"):
        contents({"a": system}, [reference], source=source, on_disk=True)
    with pytest.raises(tb.InputError, match="line 6: byte 0xff"):
        contents({"a": source}, [reference], on_disk=True)


# ---- the command ----


@contextmanager
def command(*words, script="from truebleu.cli import main; sys.exit(main())", **options):
    """A server that the command has started, its address, and its process."""
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


def get(url, path=""):
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=20)
    connection.request("GET", parts.path + path)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body


@posix
def test_interrupting_it_ends_it(write):
    words = [write("ref", REFERENCES), "-i", write("a", GOOD), write("b", POOR), "--serve"]
    with command(*words, start_new_session=True) as (process, url):
        assert get(url)[0] == 200
        assert get(url, "texts?roles=system1&from=0&to=20")[0] == 200
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=20)
        assert process.returncode == 0
        assert b"Traceback" not in error
        with pytest.raises(ConnectionError):
            get(url)


@posix
def test_standard_input_is_served(write):
    words = [write("ref", REFERENCES), "--serve", "0", "-q"]
    with open(write("in", GOOD), "rb") as given, command(*words, stdin=given) as (_, url):
        status, body = get(url, "texts?roles=system0&from=0&to=1")
        assert status == 200
        assert body.endswith(GOOD[0].encode())


def test_a_port_that_is_taken(write, truebleu_command):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        reference = write("ref", REFERENCES)
        done = truebleu_command("report", reference, "-i", reference, "--serve", port)
    assert done.status == 1
    assert f"127.0.0.1:{port}: " in done.error
    assert "Traceback" not in done.error


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--serve", "-o", "x.html"], "--serve writes no file"),
        (["--serve", "--embed-text", "5"], "--embed-text: --serve writes no file"),
        (["--open", "-o", "x.html"], "--open: it is for --serve"),
        (["--serve", "70000"], "from 0 to 65,535"),
    ],
)
def test_what_does_not_go_together(write, truebleu_command, words, problem):
    reference = write("ref", REFERENCES)
    done = truebleu_command("report", reference, "-i", reference, *words)
    assert done.status == 2
    assert problem in done.error


@pytest.mark.thorough
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")
def test_memory_does_not_grow_with_the_text(tmp_path):
    """Of files eight times as large, with as many segments, nothing more is in memory.

    n-grams and what is odd about texts are looked for in as much of them as there is memory for,
    which is less here.
    """
    script = (
        "from truebleu.cli import main; "
        "from truebleu.reports import data_checks, distinctive_ngrams;"
        "data_checks.MOST_BYTES = 1 << 20; distinctive_ngrams.read.__defaults__ = (1 << 16,);"
        "sys.exit(main())"
    )
    words = b"the cat sat on the mat and looked at it "

    def peak(repeats):
        for name in ("ref", "a", "src"):
            (tmp_path / name).write_bytes((words * repeats + name.encode() + b"\n") * 2000)
        files = [str(tmp_path / name) for name in ("ref", "a", "src")]
        words_of = [files[0], "-i", files[1], "--source", files[2], "--serve", "-q"]
        with command(*words_of, script=script) as (process, url):
            for first in range(0, 2000, 500):
                query = f"texts?roles=system0,reference0,source&from={first}&to={first + 500}"
                status, body = get(url, query)
                assert status == 200
                assert len(body) > 3 * 500 * len(words) * repeats
            with open(f"/proc/{process.pid}/status") as status:
                return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

    small, large = peak(32), peak(256)
    text = 3 * 2000 * len(words) * (256 - 32) // 1024
    assert text > 50_000
    assert large - small < text / 4, (small, large)
