"""One address over HTTP, to a file that grows until it is whole: tried again, and resumed."""

from __future__ import annotations

import http.client
import json
import os
import re
import ssl
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from typing import Any

from truebleu.text.argument_checks import is_whole_number, load_json

# Seconds to connect; seconds that a server may be silent; seconds before each further try, and how
# long a server may make us wait for one; redirects one after the other.
CONNECT, PATIENCE = 15, 60
WAITS, LONGEST_WAIT = (1, 4, 16), 60
REDIRECTS = 5
PIECE = 1 << 18
# Tests need not wait.
sleep = time.sleep


class BrokenError(Exception):
    """An address that gives no file, or not all of it."""

    def __init__(
        self,
        message: str,
        *,
        is_passing: bool = False,
        after: float | None = None,
        is_other: bool = False,
        of_certificate: bool = False,
    ) -> None:
        super().__init__(message)
        # Whether another try may do better, and when.
        self.is_passing, self.after = is_passing, after
        # Whether it is not the expected file, and whether a certificate cannot be verified.
        self.is_other, self.of_certificate = is_other, of_certificate


class Limits:
    """What is allowed of a transfer.

    size: exactly so many bytes, if known; most: no more than these.
    plain: the host for which the user allows http.
    """

    def __init__(self, size: int | None, most: int, plain: str | None) -> None:
        self.size, self.most, self.plain = size, most, plain

    def check(self, address: str, before: str | None = None) -> None:
        """Raises BrokenError unless an address may be asked; `before` is what leads to it."""
        try:
            parts = urllib.parse.urlsplit(address)
            host = parts.hostname or ""
        except ValueError:
            raise BrokenError(f"{address} is no address") from None
        # The machine itself is not the network; but no server may send us there.
        is_near = re.fullmatch(r"localhost|127(\.\d+){3}|::1", host) is not None
        is_meant = before is None or before.startswith("http:")
        if parts.scheme == "https" or (
            parts.scheme == "http" and is_meant and (is_near or host == self.plain)
        ):
            return
        where = address if before is None else f"{before} leads to {address}, which"
        raise BrokenError(f"{where} is refused: only https is safe")

    def check_size(self, address: str, size: int, *, is_all: bool) -> None:
        """Raises BrokenError for a size, or a size so far, that is not allowed."""
        if self.size is not None and (size > self.size or (is_all and size != self.size)):
            some = "" if is_all else "at least "
            raise BrokenError(
                f"{address} has another file: {some}{size:,} bytes, not {self.size:,}",
                is_other=True,
            )
        if size > self.most:
            raise BrokenError(f"{address} has more than {self.most / 1e9:g} GB", is_other=True)


def fetch(address: str, part: str, limits: Limits, told: Callable[[int, int | None], None]) -> bool:
    """Brings the file `part` to the whole of what an address has; True if it was resumed.

    What the server calls this version lies beside it in `part`.json. `told` is told the bytes so
    far and in all. Raises BrokenError if that fails, after tries for what may pass; OSError if the
    file cannot be written.
    """
    for wait in (*WAITS, None):
        try:
            return _try(address, part, limits, told)
        except BrokenError as problem:
            if problem.is_other:
                forget(part)
            if wait is None or not problem.is_passing:
                raise
            sleep(wait if problem.after is None else problem.after)
    raise AssertionError  # the last try returns or raises


def forget(part: str) -> None:
    """Removes a part, and what is known of it."""
    for name in (part, f"{part}.json"):
        if os.path.lexists(name):
            os.unlink(name)


def forget_if_useless(part: str) -> None:
    """Removes a part that cannot be resumed."""
    if not _version(part) or not os.path.getsize(part):
        forget(part)


def _try(address: str, part: str, limits: Limits, told: Callable[[int, int | None], None]) -> bool:
    limits.check(address)
    headers = {"User-Agent": "truebleu", "Accept-Encoding": "identity"}
    begin, version = 0, _version(part)
    if version.get("address") == address and (begin := os.path.getsize(part)):
        headers |= {"Range": f"bytes={begin}-", "If-Range": version["version"]}
    response = _opened(urllib.request.Request(address, headers=headers), part, limits, begin)
    with response:
        if response.status == 206:
            found = re.match(r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range", ""))
            if not begin or not found or int(found[1]) != begin:
                forget(part)
                raise BrokenError(
                    f"{address} cannot be downloaded: not the bytes asked for", is_passing=True
                )
        else:
            begin = 0
        length = response.headers.get("Content-Length")
        whole = begin + int(length) if length and is_whole_number(length) else None
        if whole is not None:
            limits.check_size(address, whole, is_all=True)
        with open(part, "ab" if begin else "wb") as file:
            if not begin:
                _keep_version(part, address, response.headers)
            size = begin
            told(size, whole)
            while True:
                try:
                    piece = response.read1(PIECE)
                except (OSError, http.client.HTTPException) as error:
                    raise _problem(address, error) from error
                if not piece:
                    break
                size += len(piece)
                limits.check_size(address, size, is_all=False)
                file.write(piece)
                told(size, whole)
    if whole is not None and size < whole:
        raise BrokenError(
            f"{address} cannot be downloaded: {whole - size} bytes are missing", is_passing=True
        )
    limits.check_size(address, size, is_all=True)
    return begin > 0


def _version(part: str) -> dict[str, str]:
    """What is known of a part, {} if it cannot be resumed."""
    try:
        with open(f"{part}.json", encoding="utf-8") as file:
            known = load_json(file.read())
        os.stat(part)
    except (OSError, ValueError):
        return {}
    is_known = isinstance(known, dict) and {"address", "version"} <= known.keys()
    return known if is_known and all(isinstance(one, str) for one in known.values()) else {}


def _keep_version(part: str, address: str, headers: Any) -> None:
    tag = headers.get("ETag", "")
    # A weak tag is none of bytes.
    version = tag if tag.startswith('"') else headers.get("Last-Modified")
    if version:
        # Half of it is no JSON, and as none.
        with open(f"{part}.json", "w", encoding="utf-8") as file:
            json.dump({"address": address, "version": version}, file)
    elif os.path.lexists(f"{part}.json"):
        os.unlink(f"{part}.json")


def _opened(request: urllib.request.Request, part: str, limits: Limits, begin: int) -> Any:
    address = request.full_url
    try:
        return _opener(limits).open(request, timeout=CONNECT)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416 and begin:
            # There is no more of it, or it is another file by now.
            forget(part)
            raise BrokenError(
                f"{address} cannot be downloaded: {error}", is_passing=True, after=0
            ) from error
        raise _problem(address, error) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise _problem(address, error) from error


def _problem(address: str, error: Exception) -> BrokenError:
    """What went wrong with an address, and whether it may pass."""
    reason = getattr(error, "reason", error)
    if isinstance(error, urllib.error.HTTPError):
        reason = str(error)
        after = _seconds(error.headers.get("Retry-After", ""))
        is_passing = error.code == 429 or error.code >= 500
        if after is not None and after > LONGEST_WAIT:
            reason, is_passing = f"{reason}; it asks to wait {after:.0f} seconds", False
        return BrokenError(
            f"{address} cannot be downloaded: {reason}", is_passing=is_passing, after=after
        )
    if isinstance(reason, TimeoutError):
        # What fails before a request is sent comes in a URLError.
        is_connected = not isinstance(error, urllib.error.URLError)
        reason = f"nothing for {PATIENCE} s" if is_connected else f"no connection in {CONNECT} s"
    if isinstance(reason, http.client.IncompleteRead):
        reason = "it broke off"
    is_reset = isinstance(error, http.client.IncompleteRead) or isinstance(
        reason, ConnectionResetError | ConnectionAbortedError | BrokenPipeError | ssl.SSLEOFError
    )
    return BrokenError(
        f"{address} cannot be downloaded: {' '.join(str(reason or error).split())}",
        is_passing=is_reset,
        of_certificate=isinstance(reason, ssl.SSLError) and not is_reset,
    )


def _seconds(text: str) -> float | None:
    """Seconds of a Retry-After: a number, or a time."""
    from email.utils import parsedate_to_datetime

    if is_whole_number(text.strip()):
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


class _Http(http.client.HTTPConnection):
    """A connection that waits longer for bytes than for the connection."""

    def connect(self) -> None:
        super().connect()
        self.sock.settimeout(PATIENCE)


class _Https(http.client.HTTPSConnection):
    """The same for https."""

    def connect(self) -> None:
        super().connect()
        self.sock.settimeout(PATIENCE)


class _OverHttp(urllib.request.HTTPHandler):
    def http_open(self, request: urllib.request.Request) -> Any:
        return self.do_open(_Http, request)


class _OverHttps(urllib.request.HTTPSHandler):
    def https_open(self, request: urllib.request.Request) -> Any:
        return self.do_open(_Https, request, context=_context())


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects to where it is safe, so many of them."""

    # The base class counts too, and says it in two lines.
    max_redirections = max_repeats = 1000

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.followed = 0

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        self.followed += 1
        if self.followed > REDIRECTS:
            fp.close()
            raise BrokenError(f"{req.full_url}: more than {REDIRECTS} redirects")
        try:
            self.limits.check(newurl, req.full_url)
        except BrokenError:
            fp.close()
            raise
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener(limits: Limits) -> urllib.request.OpenerDirector:
    """What opens addresses by http and https alone, with the proxies of the environment."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        _OverHttp(),
        _OverHttps(),
        _Redirects(limits),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.UnknownHandler(),
    ):
        opener.add_handler(handler)
    return opener


def _context() -> ssl.SSLContext:
    """Whom to trust: OpenSSL reads SSL_CERT_FILE itself, REQUESTS_CA_BUNDLE is another's."""
    context = ssl.create_default_context()
    if bundle := os.environ.get("REQUESTS_CA_BUNDLE"):
        try:
            if os.path.isdir(bundle):
                context.load_verify_locations(capath=bundle)
            else:
                context.load_verify_locations(cafile=bundle)
        except (OSError, ssl.SSLError) as error:
            raise BrokenError(
                f"environment variable REQUESTS_CA_BUNDLE: {bundle}: {error}"
            ) from None
    return context


class Progress:
    """How far a download is, on a terminal, when it takes over a second."""

    # Seconds until the first line, and between two.
    FIRST, NEXT = 1.0, 0.2
    clock = staticmethod(time.monotonic)

    def __init__(self, name: str, *, quiet: bool = False) -> None:
        self.name = name
        self.is_silent = quiet or sys.stderr is None or not sys.stderr.isatty()
        self.begin = self.next = 0.0
        self.before: int | None = None
        self.width = 0

    def __call__(self, size: int, whole: int | None) -> None:
        """Tells of so many bytes, of so many in all."""
        if self.is_silent:
            return
        now = self.clock()
        if self.before is None:
            self.begin, self.next, self.before = now, now + self.FIRST, size
        if now < self.next:
            return
        self.next = now + self.NEXT
        speed = max(0, size - self.before) / (now - self.begin)
        line = f"{self.name}: {size / 1e6:.1f}"
        line += " MB" if whole is None else f" of {whole / 1e6:.1f} MB"
        line += f", {speed / 1e6:.1f} MB/s"
        if whole is not None and speed:
            line += f", {(whole - size) / speed:.0f} s left"
        self._write(line)

    def _write(self, line: str) -> None:
        print(f"\r{line.ljust(self.width)}", end="", file=sys.stderr, flush=True)  # noqa: T201
        self.width = len(line)

    def close(self) -> None:
        """Clears the line."""
        if self.width:
            self._write("")
            print("\r", end="", file=sys.stderr, flush=True)  # noqa: T201
