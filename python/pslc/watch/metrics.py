"""Prometheus endpoint of a watched drive: `--metrics :9417`.
https://prometheus.io/docs/instrumenting/exposition_formats"""

from __future__ import annotations

from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Final

from pslc.base.errors import TargetError
from pslc.watch.counters import FIELDS

HELP: Final = {
    "read_bytes": "Bytes read", "write_bytes": "Bytes written", "trim_bytes": "Bytes discarded",
    "reads": "Reads", "writes": "Writes", "trims": "Discards", "flushes": "Flushes",
    "read_ns": "Time of reads, added up", "write_ns": "Time of writes, added up",
    "busy_ns": "Time with requests under way",
    "queue_ns": "Time of all requests, added up",
}  # fmt: skip
NS: Final = 1e9


def address(text: str) -> tuple[str, int]:
    """Host and port of `:9417` (every interface) or `localhost:9417`.

    Raises:
        PslcError: it is neither.
    """
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or int(port) >= 1 << 16:
        raise TargetError(f'--metrics "{text}" is no address', "--metrics :9417, or localhost:9417")
    return host, int(port)


def text(counted: Mapping[str, tuple[tuple[int, ...], float | None]]) -> str:
    """Counters (in the order of `FIELDS`) and temperature of each device, as Prometheus reads them."""
    lines = []
    for name, about in HELP.items():
        metric = f"pslc_{name.removesuffix('_ns')}{'_seconds' if name.endswith('_ns') else ''}_total"
        lines += [f"# HELP {metric} {about}", f"# TYPE {metric} counter"]
        at = list(FIELDS).index(name)
        for device, (values, _) in counted.items():
            value = values[at] / NS if name.endswith("_ns") else values[at]
            lines.append(f'{metric}{{device="{_label(device)}"}} {value}')
    heat = "pslc_temperature_celsius"
    lines += [f"# HELP {heat} Temperature", f"# TYPE {heat} gauge"]
    measured = ((device, celsius) for device, (_, celsius) in counted.items() if celsius is not None)
    lines += [f'{heat}{{device="{_label(device)}"}} {celsius}' for device, celsius in measured]
    return "\n".join(lines) + "\n"


def _label(device: str) -> str:
    return device.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


class Server:
    """Answers GET /metrics with the latest counters, from a thread of its own."""

    def __init__(self, at: tuple[str, int]) -> None:
        """
        Raises:
            PslcError: the address cannot be listened on.
        """
        self.latest: Mapping[str, tuple[tuple[int, ...], float | None]] = {}
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                is_there = self.path == "/metrics"
                body = text(server.latest).encode() if is_there else b"see /metrics\n"
                self.send_response(200 if is_there else 404)
                self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Nobody is told of each request."""

        try:
            self._http = ThreadingHTTPServer(at, Handler)
        except OSError as error:
            where = f"{at[0]}:{at[1]}"
            raise TargetError(f"{where} cannot be listened on: {error.strerror}", "another port") from None
        self.port = self._http.server_address[1]
        Thread(target=self._http.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Stop the server."""
        self._http.shutdown()
        self._http.server_close()
