"""A report on this machine alone: the page without texts, and texts as the page asks for them.

The server listens on 127.0.0.1. Whoever asks must know a random token, which is the first part of
every path, and must have come for this address: browsers say so in `Host`, which a page from
elsewhere cannot forge even where a name of its own leads to this machine. There are two paths:

/TOKEN/                                     the page
/TOKEN/texts?roles=A,B&from=I&to=J          the texts of segments I to J - 1 of each role, one block
                                            behind another, as payload.py has them

Texts are read from their files when they are asked for (truebleu/text/segments.py), so memory does
not grow with them. Everything else is not found, and is told nothing.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Iterable, Iterator, Sequence
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
    from truebleu.reports.report_builder import Contents

ADDRESS = "127.0.0.1"

# How many segments may be asked for at once.
MOST = 1 << 14

# How long a connection may be silent, in seconds.
PATIENCE = 60

# On every answer: it is kept nowhere, is what it says it is, and is nobody else's to show.
HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
NOTHING = "default-src 'none'; frame-ancestors 'none'"


class Server(ThreadingHTTPServer):
    """Serves a report to whoever knows its `url`, a thread for each connection.

    Used with `with`, it lets the port go. `shutdown` in another thread ends `serve_forever`.

    port: the port of 127.0.0.1; 0 for one that is free.

    Raises OSError if the port cannot be had.
    """

    # Elsewhere than on POSIX it would let others listen on the same port.
    allow_reuse_address = sys.platform != "win32"
    daemon_threads = True
    block_on_close = False

    def __init__(self, contents: Contents, port: int = 0, *, workers: int = 1) -> None:
        self._token = secrets.token_urlsafe(32)
        try:
            super().__init__((ADDRESS, port), _Handler)
        except OSError as error:
            error.filename = f"{ADDRESS}:{port}"
            raise
        try:
            self._page, self._policy = _page(contents, workers)
        except BaseException:
            self.server_close()
            raise
        self._segments = contents.segments
        # Not the contents: their tables are in the page.
        self._texts = contents.texts()

    @property
    def url(self) -> str:
        """Where the page is. Whoever has it can read the texts."""
        return f"http://{ADDRESS}:{self.server_port}/{self._token}/"

    def server_bind(self) -> None:
        """Takes the port, and does not ask the network for this machine's name."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = ADDRESS, self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says what went wrong here; not that a browser has gone."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    # ---- what there is ----

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names of this address in browsers' requests."""
        return f"{ADDRESS}:{self.server_port}", f"localhost:{self.server_port}"

    def answer(self, target: str) -> Answer:
        """The answer to a request for a target."""
        path, mark, query = target.partition("?")
        # Compared as a whole, so that there is nothing to be climbed out of.
        token, separator, rest = path.removeprefix("/").partition("/")
        known = compare_digest(token.encode("utf-8", "replace"), self._token.encode())
        if not known or not separator or not path.startswith("/"):
            return NOT_FOUND
        if rest == "texts":
            return self._asked(query)
        if rest or mark:
            return NOT_FOUND
        return _whole(HTTPStatus.OK, "text/html; charset=utf-8", self._page, self._policy)

    def _asked(self, query: str) -> Answer:
        """The texts that a query asks for."""
        try:
            pairs = parse_qsl(query, strict_parsing=True, max_num_fields=3)
            asked = dict(pairs)
            first, last = _number(asked["from"]), _number(asked["to"])
            roles = asked["roles"].split(",")
        except (KeyError, ValueError):
            return BAD
        single = len(pairs) == len(asked) and len(set(roles)) == len(roles)
        if not single or not first < last <= self._segments:
            return BAD
        if not self._texts.keys() >= set(roles):
            return NOT_FOUND
        if last - first > MOST:
            return BAD
        try:
            blocks = [self._block(role, first, last) for role in roles]
        except (InputError, OSError) as error:
            # The text is gone. Whoever knows the token may know why.
            return _whole(HTTPStatus.CONFLICT, TEXT, str(error).encode("utf-8", "replace"))
        return Answer(HTTPStatus.OK, "application/octet-stream", blocks)

    def _block(self, role: str, first: int, last: int) -> tuple[int, Iterator[bytes]]:
        texts = self._texts[role]
        if isinstance(texts, DiskLines):
            texts.check_unchanged()
        return payload.of_some_texts(texts, first, last)


def _page(contents: Contents, workers: int) -> tuple[bytes, str]:
    """The page, and its content-security policy as a header."""
    # Relative: the page need not know its token.
    connect, base = ("'none'", None) if contents.redacted else ("'self'", {"base": "./"})
    manifest = contents.manifest(contents.segments, base)
    made = html_page.written(manifest, contents.numbers(), workers, connect)
    return made, f"{html_page.policy(html_page.own_viewer(), connect)}; frame-ancestors 'none'"


def _number(text: str) -> int:
    """A number as the page writes it. Raises ValueError for any other."""
    if len(text) > 15:
        raise ValueError(text)
    return parse_whole_number(text)


# ---- answers ----

TEXT = "text/plain; charset=utf-8"


class Answer(NamedTuple):
    """A status, and what comes with it: blocks of a known size each, in pieces."""

    status: HTTPStatus
    kind: str
    blocks: Sequence[tuple[int, Iterable[bytes]]]
    policy: str = NOTHING


def _whole(status: HTTPStatus, kind: str, body: bytes, policy: str = NOTHING) -> Answer:
    return Answer(status, kind, [(len(body), [body])], policy)


def _refusal(status: HTTPStatus) -> Answer:
    """An answer that tells nothing but that there is none."""
    return _whole(status, TEXT, f"{status.phrase}\n".encode())


NOT_FOUND = _refusal(HTTPStatus.NOT_FOUND)
FORBIDDEN = _refusal(HTTPStatus.FORBIDDEN)
BAD = _refusal(HTTPStatus.BAD_REQUEST)


# ---- HTTP ----


class _Handler(BaseHTTPRequestHandler):
    """Answers the requests of a connection."""

    server: Server
    protocol_version = "HTTP/1.1"
    timeout = PATIENCE

    def do_GET(self) -> None:
        """The page, or texts."""
        if "Content-Length" in self.headers or "Transfer-Encoding" in self.headers:
            # What comes behind would be taken for the next request.
            self.close_connection = True
            self._send(BAD)
        elif not _is_own(self.headers, self.server.hosts):
            self._send(FORBIDDEN)
        else:
            self._send(self.server.answer(self.path))

    def send_error(self, code: int, *_: Any, **__: Any) -> None:
        """Refuses what is no request, or not GET, and tells nothing."""
        self.close_connection = True
        status = HTTPStatus(code)
        if status == HTTPStatus.NOT_IMPLEMENTED:
            status = HTTPStatus.METHOD_NOT_ALLOWED
        self._send(_refusal(status))

    def _send(self, answer: Answer) -> None:
        self.send_response_only(answer.status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Security-Policy", answer.policy)
        self.send_header("Content-Type", answer.kind)
        self.send_header("Content-Length", str(sum(size for size, _ in answer.blocks)))
        if answer.status == HTTPStatus.METHOD_NOT_ALLOWED:
            self.send_header("Allow", "GET")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        try:
            for _, pieces in answer.blocks:
                self.wfile.writelines(pieces)
        except InputError:
            # The file changed meanwhile; an answer that is too short is none.
            self.close_connection = True

    def log_message(self, *_: Any) -> None:
        """Says nothing: what is asked for is nobody's business."""


def _is_own(headers: Any, hosts: tuple[str, ...]) -> bool:
    """True for a request from the page, or from somebody who typed its address.

    A page from elsewhere sends its own `Origin`; one whose name was made to lead here (DNS
    rebinding) sends that name as `Host`. Browsers say `Sec-Fetch-Site` as well.
    """
    if headers.get_all("Host", []) not in [[host] for host in hosts]:
        return False
    origins = headers.get_all("Origin", [])
    if origins and origins != [f"http://{headers['Host']}"]:
        return False
    site = headers.get("Sec-Fetch-Site", "none")
    # A link to the page may stand in a chat or a notebook.
    opened = (headers.get("Sec-Fetch-Mode"), headers.get("Sec-Fetch-Dest"))
    return site in ("same-origin", "none") or opened == ("navigate", "document")
