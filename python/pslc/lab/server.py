"""Server of the lab page. Access needs the address, which holds a token, and by default comes from this machine
only."""

from __future__ import annotations

import errno
import hmac
import logging
import os
import secrets
import signal
import socket
import sys
import webbrowser
from collections.abc import Callable
from contextlib import ExitStack, suppress
from ipaddress import ip_address
from pathlib import Path
from threading import BoundedSemaphore, current_thread, main_thread
from typing import Any, Final

from werkzeug.serving import BaseWSGIServer, ThreadedWSGIServer, WSGIRequestHandler

from pslc.base import gate, writer
from pslc.base.ends import ENDS
from pslc.base.errors import PslcError
from pslc.lab import app
from pslc.lab.runs import Runs

LETTERS: Final = 22
"""Length of a token in characters; 128 bits."""
TOKEN_FILE: Final = gate.Expected("pslc lab makes it", max_bytes=1000)
MAX_CONNECTIONS: Final = 64
"""Largest number of connections at once: a browser keeps six for all of its tabs, and each holds a thread."""
MAX_SILENCE_S: Final = 60.0
"""Seconds that a connection may say nothing, or take nothing, before it is closed."""
BUSY: Final = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


def token() -> str:
    """This user's, the same every time, so that bookmarks stay; a new one where it cannot be kept."""
    folder = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "pslc"
    path = folder / "lab-token"
    try:
        if path.exists() and len(kept := gate.text(path, TOKEN_FILE).strip()) == LETTERS:
            return kept
        created = secrets.token_urlsafe(16)
        writer.folder(folder)
        writer.write(path, created, private=True)
    except (OSError, UnicodeError, PslcError):
        return secrets.token_urlsafe(16)
    return created


class _Handler(WSGIRequestHandler):
    """Connections that stay, and no line for each request."""

    protocol_version = "HTTP/1.1"
    timeout = MAX_SILENCE_S

    def log_request(self, *_: object) -> None:
        pass


def serve(host: str, port: int, tell: Callable[[str], None], show: bool) -> None:
    """Serve the page until an interrupt.

    Args:
        tell: called with the address, once it can be opened.
        show: open a browser there.

    Raises:
        PslcError: nothing can be served there.
    """
    secret = token()
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with ExitStack() as ends:
        ends.enter_context(suppress(KeyboardInterrupt))
        _hear(signal.default_int_handler)
        # What it put into files is removed, and no second signal comes between, until the process ends.
        held = Runs()
        ends.callback(held.close)
        ends.callback(_hear, signal.SIG_IGN)
        server = _bound(host, port, _guarded(app.make(held, f"/{secret}/").server, secret))
        ends.callback(server.server_close)
        address = f"http://{_shown(host)}:{server.server_port}/{secret}/"
        tell(address)
        if show and _has_a_screen():
            webbrowser.open(address)
        server.serve_forever()


def _hear(what: Any) -> None:
    """What signals that end the page do from now on. Only the main thread hears them."""
    if current_thread() is main_thread():
        for number in ENDS:
            signal.signal(number, what)


class _Server(ThreadedWSGIServer):
    """A thread for each connection, up to `MAX_CONNECTIONS`; more are answered that it is busy."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._free = BoundedSemaphore(MAX_CONNECTIONS)

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
            return
        with suppress(OSError):
            request.sendall(BUSY)
        self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()


def _bound(host: str, port: int, page: Any) -> BaseWSGIServer:
    try:
        # werkzeug would end the process where the port is taken.
        with socket.create_server((host, port), family=_family(host)):
            pass
        return _Server(host, port, page, _Handler)
    except (OSError, OverflowError, UnicodeError) as error:
        taken = isinstance(error, OSError) and error.errno == errno.EADDRINUSE
        hint = f"--port {port + 1}, or 0 for one that is free" if taken else "--host is an address of this machine"
        why = (error.strerror if isinstance(error, OSError) else None) or error
        raise PslcError(f"pslc lab cannot listen on {host}, port {port}: {why}", hint) from None


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _guarded(page: Any, secret: str) -> Any:
    """Without the token there is nothing, whatever is asked for."""

    def guard() -> Any:
        from flask import abort, request

        given = request.path.split("/")[1]
        if not hmac.compare_digest(given.encode(), secret.encode()):
            abort(404)

    def headers(response: Any) -> Any:
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["X-Frame-Options"] = "DENY"
        response.headers.setdefault("Content-Security-Policy", page.config["POLICY"])
        return response

    page.before_request(guard)
    page.after_request(headers)
    return page


def is_local(host: str) -> bool:
    """Whether only this machine can reach it."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _shown(host: str) -> str:
    """As an address has it; of all addresses of the machine its name."""
    host = socket.gethostname() if host in ("0.0.0.0", "::") else host
    return f"[{host}]" if ":" in host else host


def _has_a_screen() -> bool:
    """Whether a browser can open: one in the terminal would take it over."""
    wanted = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
    return sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in wanted)
