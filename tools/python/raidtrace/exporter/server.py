# SPDX-License-Identifier: GPL-2.0-or-later
"""HTTP for Prometheus: a page with the metrics, for few connections at a time, none of which may stay silent for long."""

import http.server
import os
import signal
import socket
import socketserver
import sys
import threading
from collections.abc import Callable

from prometheus_client.openmetrics.exposition import CONTENT_TYPE_LATEST

CONNECTIONS = 16  # at a time; more wait
PATIENCE_S = 10  # of silence until a connection is closed
PIECE = 1 << 16  # bytes of an answer for which a reader has this time
PATH = "/metrics"
PLAIN = "text/plain; charset=utf-8"


class Unavailable(Exception):
    """There is no answer now. The text has the reason."""


class Ended(Unavailable):
    """There will be no answer any more."""


class Handler(http.server.BaseHTTPRequestHandler):
    """One request, one answer; then the connection is closed."""

    timeout = PATIENCE_S
    server: "Server"
    server_version, sys_version = "raidctl", ""

    def do_GET(self) -> None:  # pylint: disable=invalid-name
        """Answer with the metrics."""
        if self.path.partition("?")[0] != PATH:
            self._answer(404, PLAIN, f"raidtrace's counters are at {PATH}\n".encode())
            return
        try:
            self._answer(200, CONTENT_TYPE_LATEST, self.server.text())
        except Unavailable as why:
            self._answer(503, PLAIN, f"{why}\n".encode())
            if isinstance(why, Ended):
                os.kill(os.getpid(), signal.SIGTERM)  # the program waits for it

    def _refuse(self) -> None:
        self._answer(405, PLAIN, b"this server answers only GET and HEAD\n")

    do_HEAD = do_GET  # noqa: N815
    do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_TRACE = do_CONNECT = _refuse  # noqa: N815

    def _answer(self, status: int, kind: str, text: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text)))
        if status == 405:
            self.send_header("Allow", "GET, HEAD")
        self.end_headers()
        for at in range(0, len(text) if self.command != "HEAD" else 0, PIECE):
            self.wfile.write(text[at : at + PIECE])

    def log_message(self, format: str, *args: object) -> None:  # pylint: disable=redefined-builtin
        """Log nothing: what clients send is theirs."""


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """A server that listens at an address of getaddrinfo(). text: makes the metrics; one thread calls it at a time, and it may
    raise Unavailable."""

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = CONNECTIONS

    def __init__(self, family: socket.AddressFamily, address: tuple[object, ...], text: Callable[[], bytes]) -> None:
        self.address_family = family
        self._free = threading.Semaphore(CONNECTIONS)
        self._one, self._text = threading.Lock(), text
        super().__init__(address, Handler)  # type: ignore[arg-type]

    def text(self) -> bytes:
        """The metrics. Raises Unavailable."""
        with self._one:
            return self._text()

    def server_bind(self) -> None:
        if self.address_family == socket.AF_INET6:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        super().server_bind()

    def process_request(self, request: socket.socket, client_address: tuple[str, int]) -> None:  # type: ignore[override]
        """Answer in a thread, as soon as one of CONNECTIONS is free."""
        self._free.acquire()  # pylint: disable=consider-using-with
        super().process_request(request, client_address)

    def process_request_thread(self, request: socket.socket, client_address: tuple[str, int]) -> None:  # type: ignore[override]
        """The thread of a connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: object, client_address: object) -> None:
        """Print an error, except that of a client that has gone or is too slow."""
        error = sys.exception()
        if not isinstance(error, ConnectionError | TimeoutError):
            print(f"raidctl exporter: a request failed: {type(error).__name__}: {error}", file=sys.stderr)
