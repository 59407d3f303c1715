"""Download of one URL over HTTP to a partial file, with retries and resumption."""

from __future__ import annotations

import http.client
import json
import os
import re
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from typing import Any

from truebleu.text.argument_checks import Record, is_whole_number, load_json
from truebleu.text.terminal_layout import ProgressLine

# READ_TIMEOUT_SECONDS limits the wait for data. RETRY_WAIT_SECONDS lists the waits before retries;
# MAX_RETRY_WAIT_SECONDS limits the wait that a server requests.
CONNECT_TIMEOUT_SECONDS, READ_TIMEOUT_SECONDS = 15, 60
RETRY_WAIT_SECONDS, MAX_RETRY_WAIT_SECONDS = (1, 4, 16), 60
MAX_REDIRECTS = 5
CHUNK_BYTES = 1 << 18
# Tests replace this function.
sleep = time.sleep


class TransferError(Exception):
    """The transfer from a URL failed or was incomplete."""

    def __init__(
        self,
        message: str,
        *,
        is_transient: bool = False,
        retry_after: float | None = None,
        is_wrong_file: bool = False,
        is_certificate_error: bool = False,
    ) -> None:
        super().__init__(message)
        # Whether a retry may succeed, and the number of seconds to wait before it.
        self.is_transient, self.retry_after = is_transient, retry_after
        # Two possible problems: the wrong file, or a certificate that cannot be verified.
        self.is_wrong_file, self.is_certificate_error = is_wrong_file, is_certificate_error


class TransferLimits(Record):
    """Limits of a transfer.

    exact_size: the expected size in bytes, or None. max_size: the maximum size in bytes.
    http_host: the host for which the user allows unencrypted HTTP, or None.
    """

    exact_size: int | None
    max_size: int
    http_host: str | None

    def check_url(self, url: str, redirected_from: str | None = None) -> None:
        """Raise TransferError if a URL, or a redirect to it, is not allowed."""
        try:
            parts = urllib.parse.urlsplit(url)
            host = parts.hostname or ""
        except ValueError:
            raise TransferError(f"invalid URL: {url}") from None
        # HTTP to this machine is safe, but servers must not redirect to it.
        is_local = re.fullmatch(r"localhost|127(\.\d+){3}|::1", host) is not None
        allows_plain_http = redirected_from is None or redirected_from.startswith("http:")
        if parts.scheme == "https" or (
            parts.scheme == "http" and allows_plain_http and (is_local or host == self.http_host)
        ):
            return
        subject = url if redirected_from is None else f"{redirected_from} redirects to {url}, which"
        raise TransferError(f"{subject} is not allowed (expected https)")

    def check_size(self, url: str, size: int, *, is_complete: bool) -> None:
        """Raise TransferError if the size of a complete or partial file violates the limits."""
        if self.exact_size is not None and (
            size > self.exact_size or (is_complete and size != self.exact_size)
        ):
            bound = "" if is_complete else "at least "
            raise TransferError(
                f"{url} returned the wrong file: {bound}{size:,} bytes, not {self.exact_size:,}",
                is_wrong_file=True,
            )
        if size > self.max_size:
            raise TransferError(
                f"{url} is larger than {self.max_size / 1e9:g} GB", is_wrong_file=True
            )


def fetch_file(
    url: str, part: str, limits: TransferLimits, report_progress: Callable[[int, int | None], None]
) -> bool:
    """Download a URL to the file `part`. Return whether an earlier download was resumed.

    The server's version of the file is recorded in `part`.json. `report_progress` is called with
    the number of bytes received and the total size, if known. Raises TransferError if the transfer
    fails, after retries for transient problems, and OSError if the file cannot be written.
    """
    for wait in (*RETRY_WAIT_SECONDS, None):
        try:
            return _fetch_once(url, part, limits, report_progress)
        except TransferError as problem:
            if problem.is_wrong_file:
                delete_part(part)
            if wait is None or not problem.is_transient:
                raise
            sleep(wait if problem.retry_after is None else problem.retry_after)
    raise AssertionError  # The last attempt returns or raises an error.


def delete_part(part: str) -> None:
    """Delete a partial file and its record."""
    for name in (part, f"{part}.json"):
        if os.path.lexists(name):
            os.unlink(name)


def delete_unresumable_part(part: str) -> None:
    """Delete a partial file that cannot be resumed."""
    if not _read_part_version(part) or not os.path.getsize(part):
        delete_part(part)


def _fetch_once(
    url: str, part: str, limits: TransferLimits, report_progress: Callable[[int, int | None], None]
) -> bool:
    limits.check_url(url)
    headers = {"User-Agent": "truebleu", "Accept-Encoding": "identity"}
    offset, recorded = 0, _read_part_version(part)
    if recorded.get("address") == url and (offset := os.path.getsize(part)):
        headers |= {"Range": f"bytes={offset}-", "If-Range": recorded["version"]}
    response = _open_url(urllib.request.Request(url, headers=headers), part, limits, offset)
    with response:
        if response.status == 206:
            content_range = re.match(
                r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range", "")
            )
            if not offset or not content_range or int(content_range[1]) != offset:
                delete_part(part)
                raise TransferError(
                    f"{url} cannot be downloaded: the server sent a different range",
                    is_transient=True,
                )
        else:
            offset = 0
        length = response.headers.get("Content-Length")
        total_size = offset + int(length) if length and is_whole_number(length) else None
        if total_size is not None:
            limits.check_size(url, total_size, is_complete=True)
        with open(part, "ab" if offset else "wb") as file:
            if not offset:
                etag = response.headers.get("ETag", "")
                # Weak ETags do not guarantee identical bytes (RFC 9110, 8.8.1).
                has_etag = etag.startswith('"')
                version = etag if has_etag else response.headers.get("Last-Modified")
                if version:
                    # If writing is interrupted, the file is invalid JSON and is ignored.
                    with open(f"{part}.json", "w", encoding="utf-8") as record:
                        json.dump({"address": url, "version": version}, record)
                elif os.path.lexists(f"{part}.json"):
                    os.unlink(f"{part}.json")
            size = offset
            report_progress(size, total_size)
            while True:
                try:
                    chunk = response.read1(CHUNK_BYTES)
                except (OSError, http.client.HTTPException) as error:
                    raise _make_transfer_error(url, error) from error
                if not chunk:
                    break
                size += len(chunk)
                limits.check_size(url, size, is_complete=False)
                file.write(chunk)
                report_progress(size, total_size)
    if total_size is not None and size < total_size:
        raise TransferError(
            f"{url} cannot be downloaded: {total_size - size} bytes are missing", is_transient=True
        )
    limits.check_size(url, size, is_complete=True)
    return offset > 0


def _read_part_version(part: str) -> dict[str, str]:
    """Return the recorded URL and version of a partial file, or {} if it cannot be resumed."""
    try:
        with open(f"{part}.json", encoding="utf-8") as file:
            record = load_json(file.read())
        os.stat(part)
    except (OSError, ValueError):
        return {}
    has_keys = isinstance(record, dict) and {"address", "version"} <= record.keys()
    return record if has_keys and all(isinstance(one, str) for one in record.values()) else {}


def _open_url(
    request: urllib.request.Request, part: str, limits: TransferLimits, offset: int
) -> Any:
    """Open a URL, which `limits` have checked, with the proxies of the environment."""
    url = request.full_url
    opener = urllib.request.build_opener(_HttpHandler, _HttpsHandler, _RedirectHandler(limits))
    try:
        return opener.open(request, timeout=CONNECT_TIMEOUT_SECONDS)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416 and offset:
            # The file has no more bytes, or has changed.
            delete_part(part)
            raise TransferError(
                f"{url} cannot be downloaded: {error}", is_transient=True, retry_after=0
            ) from error
        raise _make_transfer_error(url, error) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise _make_transfer_error(url, error) from error


def _make_transfer_error(url: str, error: Exception) -> TransferError:
    """Return the error for a failed transfer, marked as transient or permanent."""
    reason = getattr(error, "reason", error)
    if isinstance(error, urllib.error.HTTPError):
        reason = str(error)
        retry_after = _parse_retry_after(error.headers.get("Retry-After", ""))
        is_transient = error.code == 429 or error.code >= 500
        if retry_after is not None and retry_after > MAX_RETRY_WAIT_SECONDS:
            reason += f"; the server requests a wait of {retry_after:.0f} seconds"
            is_transient = False
        return TransferError(
            f"{url} cannot be downloaded: {reason}",
            is_transient=is_transient,
            retry_after=retry_after,
        )
    if isinstance(reason, TimeoutError):
        # urllib raises a URLError if the connection fails before the request is sent.
        reason = f"received no data for {READ_TIMEOUT_SECONDS} s"
        if isinstance(error, urllib.error.URLError):
            reason = f"no connection after {CONNECT_TIMEOUT_SECONDS} s"
    if isinstance(reason, http.client.IncompleteRead):
        reason = "the connection was interrupted"
    is_interrupted = isinstance(error, http.client.IncompleteRead) or isinstance(
        reason, ConnectionResetError | ConnectionAbortedError | BrokenPipeError | ssl.SSLEOFError
    )
    return TransferError(
        f"{url} cannot be downloaded: {' '.join(str(reason or error).split())}",
        is_transient=is_interrupted,
        is_certificate_error=isinstance(reason, ssl.SSLError) and not is_interrupted,
    )


def _parse_retry_after(text: str) -> float | None:
    """Return the number of seconds to wait, given a number or a date in a Retry-After header."""
    from email.utils import parsedate_to_datetime

    if is_whole_number(text.strip()):
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


class _HttpConnection(http.client.HTTPConnection):
    """HTTP connection with a longer timeout for receiving data than for connecting."""

    def connect(self) -> None:
        super().connect()
        self.sock.settimeout(READ_TIMEOUT_SECONDS)


class _HttpsConnection(_HttpConnection, http.client.HTTPSConnection):
    """HTTPS connection with the same timeouts."""


class _HttpHandler(urllib.request.HTTPHandler):
    def http_open(self, request: urllib.request.Request) -> Any:
        return self.do_open(_HttpConnection, request)


class _HttpsHandler(urllib.request.HTTPSHandler):
    def https_open(self, request: urllib.request.Request) -> Any:
        return self.do_open(_HttpsConnection, request, context=_make_ssl_context())


class _RedirectHandler(urllib.request.HTTPRedirectHandler):
    """Handler that follows a limited number of redirects to safe URLs."""

    # Disable the limits of the base class, because its error message has two lines.
    max_redirections = max_repeats = 1000

    def __init__(self, limits: TransferLimits) -> None:
        self.limits = limits
        self.followed = 0

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        self.followed += 1
        if self.followed > MAX_REDIRECTS:
            fp.close()
            raise TransferError(f"{req.full_url}: more than {MAX_REDIRECTS} redirects")
        try:
            self.limits.check_url(newurl, req.full_url)
        except TransferError:
            fp.close()
            raise
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _make_ssl_context() -> ssl.SSLContext:
    """Return an SSL context that also trusts REQUESTS_CA_BUNDLE; OpenSSL reads SSL_CERT_FILE."""
    context = ssl.create_default_context()
    if bundle := os.environ.get("REQUESTS_CA_BUNDLE"):
        try:
            kind = "capath" if os.path.isdir(bundle) else "cafile"
            context.load_verify_locations(**{kind: bundle})
        except (OSError, ssl.SSLError) as error:
            raise TransferError(
                f"environment variable REQUESTS_CA_BUNDLE: {bundle}: {error}"
            ) from None
    return context


class Progress(ProgressLine):
    """Progress line of a download."""

    def __init__(self, name: str, *, quiet: bool = False) -> None:
        super().__init__(quiet=quiet)
        self.name = name
        self.first_size: int | None = None

    def __call__(self, size: int, total_size: int | None) -> None:
        """Display the number of bytes received, and the total size if known."""
        now = self.clock()
        if self.first_size is None:
            self.first_size = size
        if not self.is_due(now):
            return
        speed = max(0, size - self.first_size) / (now - self.start_time)
        line = f"{self.name}: {size / 1e6:.1f}"
        line += " MB" if total_size is None else f" of {total_size / 1e6:.1f} MB"
        line += f", {speed / 1e6:.1f} MB/s"
        if total_size is not None and speed:
            line += f", {(total_size - size) / speed:.0f} s left"
        self.show(line)
