"""Server of the lab page. Access needs the address, which holds a token, and by default comes from this machine
only."""

from __future__ import annotations

import errno
import hmac
import json
import os
import secrets
import signal
import socket
import sys
import webbrowser
from collections.abc import Callable
from contextlib import ExitStack, suppress
from html import escape
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

from pslc.base import failure, gate, http_server, rights, writer
from pslc.base.ends import hear
from pslc.base.errors import PslcError
from pslc.lab.api import JSON, MAX_BODY_BYTES, Api, Reply

LETTERS: Final = 22
"""Length of a token in characters; 128 bits."""
TOKEN_FILE: Final = gate.Expected("pslc lab makes it", max_bytes=1000)
MAX_CONNECTIONS: Final = 64
"""Largest number of connections at once: a browser opens six for all of its tabs, and each holds a thread."""
MAX_SILENCE_S: Final = 60.0
"""Seconds that a connection may say nothing, or take nothing, before it is closed."""
NOTHING_THERE: Final = (404, "there is nothing of that address", "pslc lab prints the address of the page")
"""Answer to an address that is none, or that lacks the token."""
HEADERS: Final = {
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}


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


class _Handler(http_server.Handler):
    """Answers whoever has the token; for everybody else there is nothing, whatever is asked for."""

    timeout = MAX_SILENCE_S
    server: _Server

    def counts(self) -> bool:
        """Whether the request has the token."""
        given = urlsplit(self.path).path.split("/")[1:2]
        return bool(given) and hmac.compare_digest(given[0].encode(errors="replace"), self.server.secret.encode())

    def get(self) -> None:
        """Answer a GET, or a HEAD."""
        address = urlsplit(self.path)
        self._answer(lambda path: self.server.api.get(path, parse_qs(address.query)))

    def post(self) -> None:
        """Answer a POST; one that is too large is refused unread."""
        length = self.headers.get("Content-Length", "")
        if not self.counts():
            self._refuse(*NOTHING_THERE)
        elif not length.isdecimal():
            self._refuse(411, "a request needs its length", "reload the page")
        elif int(length[:20]) > MAX_BODY_BYTES:
            limit = f"at most {MAX_BODY_BYTES / 1e6:.0f} MB are possible"
            self._refuse(413, f"the request has {int(length[:20]) / 1e6:.0f} MB", limit)
        else:
            body = self.rfile.read(int(length))
            if len(body) == int(length):
                self._answer(lambda path: self.server.api.post(path, body))

    def _answer(self, ask: Callable[[str], Reply | None]) -> None:
        path = unquote(urlsplit(self.path).path).partition(f"/{self.server.secret}/")[2]
        reply = None
        try:
            reply = ask(path) if self.counts() else None
        except BaseException as error:  # A panic of the native part is no Exception.
            what = failure.in_words(error)
            self._refuse(400, what.message, what.hint)
            return
        if reply is None:
            self._refuse(*NOTHING_THERE)
        else:
            self.reply(200, reply.kind, reply.body, {**HEADERS, **reply.headers})

    def _refuse(self, status: int, message: str, hint: str) -> None:
        self.reply(status, JSON, json.dumps({"message": message, "hint": hint}).encode(), HEADERS)


class _Server(http_server.Server):
    def __init__(self, at: tuple[str, int], api: Api, secret: str) -> None:
        self.api, self.secret = api, secret
        super().__init__(at, _Handler, MAX_CONNECTIONS)


def serve(host: str, port: int, tell: Callable[[str], None], show: bool) -> None:
    """Serve the page until an interrupt.

    Args:
        tell: called with the address, once it can be opened.
        show: open a browser there.

    Raises:
        PslcError: nothing can be served there.
    """
    secret = token()
    with ExitStack() as ends:
        ends.enter_context(suppress(KeyboardInterrupt))
        _hear(signal.default_int_handler)
        # What it put into files is removed, and no second signal comes between, until the process ends.
        api = Api.new()
        ends.callback(api.close)
        ends.callback(_hear, signal.SIG_IGN)
        server = _bound(host, port, api, secret)
        ends.callback(server.server_close)
        address = f"http://{_shown(host)}:{server.port}/{secret}/"
        tell(address)
        if show and _has_a_screen():
            webbrowser.open(_redirect(api.lab.folder, address))
        server.serve_forever()


def _redirect(folder: Path, address: str) -> str:
    """Address of a file of this user's alone that leads to `address`: everybody may read the arguments of a browser."""
    page = folder / "lab.html"
    writer.write(page, f'<meta http-equiv="refresh" content="0; url={escape(address)}">', private=True)
    return page.as_uri()


def _hear(what: Any) -> None:
    """Set what signals that end the page do from now on. Only the main thread hears them."""
    if current_thread() is main_thread():
        hear(what)


def _bound(host: str, port: int, api: Api, secret: str) -> _Server:
    try:
        return _Server((host, port), api, secret)
    except (OSError, OverflowError, UnicodeError) as error:
        taken = isinstance(error, OSError) and error.errno == errno.EADDRINUSE
        hint = f"--port {port + 1}, or 0 for one that is free" if taken else "--host is an address of this machine"
        hint = rights.port_hint(error, "--port 8719", hint)
        why = (error.strerror if isinstance(error, OSError) else None) or error
        raise PslcError(f"pslc lab cannot listen on {host}, port {port}: {why}", hint) from None


def _shown(host: str) -> str:
    """Host as an address has it; of all addresses of the machine its name."""
    host = socket.gethostname() if host in ("0.0.0.0", "::") else host
    return f"[{host}]" if ":" in host else host


def _has_a_screen() -> bool:
    """Whether a browser can open: one in the terminal would take it over."""
    wanted = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
    return sys.platform in ("darwin", "win32") or any(os.environ.get(name) for name in wanted)
