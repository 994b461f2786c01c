"""A small HTTP server beside work that matters more: so many connections at once, so much silence, and nobody who only
holds a connection keeps out somebody who asks for something."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from threading import BoundedSemaphore, Lock
from typing import Any, Final

BUSY: Final = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
MAX_HANDOVER_S: Final = 1.0
"""Seconds in which a connection that is closed for a new one gives up its place."""


class Handler(BaseHTTPRequestHandler):
    """One request a connection. A log line for none, no version in a header, and no word of a client that goes away."""

    server: Server

    def parse_request(self) -> bool:
        """Read the headers. A connection with a request that counts is not closed for a newer one."""
        is_whole = super().parse_request()
        if is_whole and self.counts():
            self.server.keep(self.connection)
        return is_whole

    def counts(self) -> bool:
        """Whether the request is from somebody who may ask."""
        return True

    def get(self) -> None:
        """Answer a GET, or a HEAD."""
        self.send_error(405)

    def post(self) -> None:
        """Answer a POST."""
        self.send_error(405)

    def do_GET(self) -> None:
        """Answer a GET."""
        self.get()

    def do_HEAD(self) -> None:
        """Answer a HEAD."""
        self.get()

    def do_POST(self) -> None:
        """Answer a POST."""
        self.post()

    def reply(self, status: int, kind: str, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        """Send an answer; of HEAD only what stands above it."""
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def version_string(self) -> str:
        """The header Server, without versions."""
        return "pslc"

    def log_message(self, *_: object) -> None:
        """Nobody is told of each request."""


class Server(ThreadingHTTPServer):
    """A thread for each connection, up to a limit. Beyond it the one that has waited longest without a whole request
    is closed; where all have asked for something, a new one is told that it is busy."""

    request_queue_size = 64
    """Clients that wait to be answered, or told that there are enough."""

    def __init__(self, at: tuple[str, int], handler: type[Handler], max_connections: int) -> None:
        """
        Raises:
            OSError: the address cannot be listened on.
        """
        self._free = BoundedSemaphore(max_connections)
        self._waiting: dict[Any, None] = {}
        self._lock = Lock()
        self.address_family = socket.AF_INET6 if ":" in at[0] else socket.AF_INET
        super().__init__(at, handler)
        self.port: int = self.server_address[1]

    def keep(self, connection: Any) -> None:
        """Let a connection stay until it is answered."""
        with self._lock:
            self._waiting.pop(connection, None)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Start a thread for a client; one too many is told that there are enough."""
        if self._has_room():
            with self._lock:
                self._waiting[request] = None
            super().process_request(request, client_address)
            return
        with suppress(OSError):
            request.sendall(BUSY)
        self.shutdown_request(request)

    def _has_room(self) -> bool:
        if self._free.acquire(blocking=False):
            return True
        with self._lock:
            oldest = next(iter(self._waiting), None)
            if oldest is None:
                return False
            del self._waiting[oldest]
        with suppress(OSError):
            oldest.shutdown(socket.SHUT_RDWR)
        return self._free.acquire(timeout=MAX_HANDOVER_S)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer a client, and make room for the next one."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.keep(request)
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is nobody's error."""


def is_local(host: str) -> bool:
    """Whether only programs of this machine reach an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
