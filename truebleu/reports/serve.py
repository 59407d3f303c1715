"""Local web server for a report whose page does not contain the texts but requests them.

The server listens on 127.0.0.1. Every path starts with a random token, and the `Host` header must
name this address: a page from another site cannot forge it, even if the site's DNS name resolves to
this machine. There are two paths:

/TOKEN/                                     the page
/TOKEN/texts?roles=A,B&from=I&to=J          the texts of segments I to J - 1, one block per role,
                                            encoded as in payload.py

Texts are read from their files on request (truebleu/text/segments.py), so memory does not grow with
their size. Responses to all other requests contain only the status.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Iterable, Sequence
from hmac import compare_digest
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl

from truebleu._kernel import InputError
from truebleu.reports import html_page, payload
from truebleu.text.argument_checks import parse_whole_number
from truebleu.text.segments import DiskLines

if TYPE_CHECKING:
    from truebleu.reports.report_builder import ReportData

LOOPBACK_ADDRESS = "127.0.0.1"

MAX_SEGMENTS_PER_REQUEST = 1 << 14

CONNECTION_TIMEOUT_SECONDS = 60

# Headers of every response, which tell browsers not to cache it, guess its type, or embed it
# elsewhere.
RESPONSE_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
EMPTY_POLICY = "default-src 'none'; frame-ancestors 'none'"


class Server(ThreadingHTTPServer):
    """Local server for a report, with one thread per connection.

    A `with` statement releases the port. `shutdown` in another thread ends `serve_forever`.

    port: port on 127.0.0.1; 0 selects a free port.

    Raises OSError if the port is not available.
    """

    # On Windows, this option would let other programs listen on the same port.
    allow_reuse_address = sys.platform != "win32"
    daemon_threads = True
    block_on_close = False

    def __init__(self, data: ReportData, port: int = 0, *, workers: int = 1) -> None:
        self._token = secrets.token_urlsafe(32)
        try:
            super().__init__((LOOPBACK_ADDRESS, port), _Handler)
        except OSError as error:
            error.filename = f"{LOOPBACK_ADDRESS}:{port}"
            raise
        # The base URL is relative, so the page does not contain the token.
        connect, text_server = ("'none'", None) if data.is_redacted else ("'self'", {"base": "./"})
        try:
            manifest = data.build_manifest(data.segment_count, text_server)
            blocks = data.encode_numeric_blocks()
            self._page_bytes = html_page.render_page(manifest, blocks, workers, connect)
            # The content-security policy of the page, for the HTTP header.
            policy = html_page.format_policy(html_page.load_report_viewer(), connect)
            self._policy = f"{policy}; frame-ancestors 'none'"
        except BaseException:
            self.server_close()
            raise
        self._segment_count = data.segment_count
        # Keep only the texts: the page already contains the tables.
        self._texts_by_role = data.collect_texts()

    @property
    def url(self) -> str:
        """URL of the page; it contains the token, so anyone with the URL can read the texts."""
        return f"http://{LOOPBACK_ADDRESS}:{self.server_port}/{self._token}/"

    def server_bind(self) -> None:
        """Bind the port without a DNS lookup of this machine's name."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = LOOPBACK_ADDRESS, self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report server errors, but ignore connections that the browser closed."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def build_response(self, target: str) -> Response:
        """Return the response to a request; `target` contains its path and query."""
        path, question_mark, query = target.partition("?")
        # Only complete paths match, so "../" cannot escape.
        token, separator, rest = path.removeprefix("/").partition("/")
        has_token = compare_digest(token.encode("utf-8", "replace"), self._token.encode())
        if not has_token or not separator or not path.startswith("/"):
            return NOT_FOUND
        if rest == "texts":
            return self._build_text_response(query)
        if rest or question_mark:
            return NOT_FOUND
        return _make_response(
            HTTPStatus.OK, "text/html; charset=utf-8", self._page_bytes, self._policy
        )

    def _build_text_response(self, query: str) -> Response:
        try:
            pairs = parse_qsl(query, strict_parsing=True, max_num_fields=3)
            fields = dict(pairs)
            limits = fields["from"], fields["to"]
            if max(map(len, limits)) > 15:  # digits
                return BAD_REQUEST
            first, last = map(parse_whole_number, limits)
            roles = fields["roles"].split(",")
        except (KeyError, ValueError):
            return BAD_REQUEST
        has_unique_fields = len(pairs) == len(fields) and len(set(roles)) == len(roles)
        if not has_unique_fields or not first < last <= self._segment_count:
            return BAD_REQUEST
        if not self._texts_by_role.keys() >= set(roles):
            return NOT_FOUND
        if last - first > MAX_SEGMENTS_PER_REQUEST:
            return BAD_REQUEST
        try:
            texts_of_roles = [self._texts_by_role[role] for role in roles]
            for texts in texts_of_roles:
                if isinstance(texts, DiskLines):
                    texts.check_unchanged()
            blocks = [payload.encode_text_range(texts, first, last) for texts in texts_of_roles]
        except (InputError, OSError) as error:
            # The file is missing or has changed. A client with the token may see the reason.
            return _make_response(
                HTTPStatus.CONFLICT, PLAIN_TEXT_TYPE, str(error).encode("utf-8", "replace")
            )
        return Response(HTTPStatus.OK, "application/octet-stream", blocks)


# ---- responses ----

PLAIN_TEXT_TYPE = "text/plain; charset=utf-8"


class Response(NamedTuple):
    """HTTP response: status, headers and a body of blocks, each with its size and its bytes."""

    status: HTTPStatus
    content_type: str
    blocks: Sequence[tuple[int, Iterable[bytes]]]
    content_policy: str = EMPTY_POLICY


def _make_response(
    status: HTTPStatus, content_type: str, body: bytes, content_policy: str = EMPTY_POLICY
) -> Response:
    return Response(status, content_type, [(len(body), [body])], content_policy)


def _make_error_response(status: HTTPStatus) -> Response:
    return _make_response(status, PLAIN_TEXT_TYPE, f"{status.phrase}\n".encode())


NOT_FOUND = _make_error_response(HTTPStatus.NOT_FOUND)
FORBIDDEN = _make_error_response(HTTPStatus.FORBIDDEN)
BAD_REQUEST = _make_error_response(HTTPStatus.BAD_REQUEST)


# ---- HTTP ----


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    timeout = CONNECTION_TIMEOUT_SECONDS

    def do_GET(self) -> None:
        if "Content-Length" in self.headers or "Transfer-Encoding" in self.headers:
            # An unread body would be parsed as the next request.
            self.close_connection = True
            self._send_response(BAD_REQUEST)
        elif not _is_same_origin(self.headers, self.server.server_port):
            self._send_response(FORBIDDEN)
        else:
            self._send_response(self.server.build_response(self.path))

    def send_error(self, code: int, *_: Any, **__: Any) -> None:
        """Reject invalid requests and methods other than GET, without giving details."""
        self.close_connection = True
        status = HTTPStatus(code)
        if status == HTTPStatus.NOT_IMPLEMENTED:
            status = HTTPStatus.METHOD_NOT_ALLOWED
        self._send_response(_make_error_response(status))

    def _send_response(self, response: Response) -> None:
        self.send_response_only(response.status)
        for name, value in RESPONSE_HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Security-Policy", response.content_policy)
        self.send_header("Content-Type", response.content_type)
        self.send_header("Content-Length", str(sum(size for size, _ in response.blocks)))
        if response.status == HTTPStatus.METHOD_NOT_ALLOWED:
            self.send_header("Allow", "GET")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        try:
            for _, pieces in response.blocks:
                self.wfile.writelines(pieces)
        except InputError:
            # A text file has changed. The closed connection marks the response as incomplete.
            self.close_connection = True

    def log_message(self, *_: Any) -> None:
        """Log nothing, because requests are private."""


def _is_same_origin(headers: Any, port: int) -> bool:
    """Return whether a request comes from the page, or from a user who typed or clicked its URL.

    A page from another site sends its own `Origin`. With DNS rebinding, the other site's name is in
    `Host`. Current browsers also send `Sec-Fetch-Site`.
    """
    hosts = [f"{name}:{port}" for name in (LOOPBACK_ADDRESS, "localhost")]
    if headers.get_all("Host", []) not in [[host] for host in hosts]:
        return False
    origins = headers.get_all("Origin", [])
    if origins and origins != [f"http://{headers['Host']}"]:
        return False
    site = headers.get("Sec-Fetch-Site", "none")
    # Links from other sites, such as a chat or a notebook, may open the page.
    navigation = (headers.get("Sec-Fetch-Mode"), headers.get("Sec-Fetch-Dest"))
    return site in ("same-origin", "none") or navigation == ("navigate", "document")
