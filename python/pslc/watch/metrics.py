"""Prometheus endpoint of a watched drive: `--metrics :9417`.
https://prometheus.io/docs/instrumenting/exposition_formats"""

import sys
from collections.abc import Mapping
from threading import Thread
from typing import Final
from urllib.parse import urlsplit

from pslc.base import http_server, rights
from pslc.base.errors import TargetError
from pslc.watch.counters import FIELDS

if sys.platform != "win32":
    import resource

MAX_CONNECTIONS: Final = 16
"""Largest number of connections at once: each holds a descriptor and a thread. Prometheus has one."""
MAX_SILENCE_S: Final = 10.0
"""Seconds that a connection may say nothing, or take nothing, before it is closed; Prometheus gives up after 10 s."""
RESERVED_FILES: Final = 48
"""Descriptors that watching and saving may need: a drive has three, a recording in the making two."""
HELP: Final = {
    "read_bytes": "Bytes read", "write_bytes": "Bytes written", "trim_bytes": "Bytes discarded",
    "reads": "Reads", "writes": "Writes", "trims": "Discards", "flushes": "Flushes",
    "read_ns": "Time of reads, added up", "write_ns": "Time of writes, added up",
    "flush_ns": "Time of flushes, added up",
    "busy_ns": "Time with requests under way",
    "queue_ns": "Time of all requests, added up",
}  # fmt: skip
NS: Final = 1e9
LOCAL: Final = "127.0.0.1"


def address(text: str) -> tuple[str, int]:
    """Host and port of `:9417` (this machine alone), `0.0.0.0:9417` (every interface) or `[::1]:9417`.

    Raises:
        PslcError: it is neither.
    """
    host, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or int(port) >= 1 << 16:
        raise TargetError(f'--metrics "{text}" is no address', "--metrics :9417, or localhost:9417")
    return host.strip("[]") or LOCAL, int(port)


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


class _Handler(http_server.Handler):
    """Answers GET and HEAD of /metrics, with whatever query behind it, by the server's latest counters."""

    timeout = MAX_SILENCE_S

    def get(self) -> None:
        """Send the counters."""
        is_there = urlsplit(self.path).path == "/metrics"
        body = text(self.server.latest) if is_there else "see /metrics\n"  # type: ignore[attr-defined]
        self.reply(200 if is_there else 404, "text/plain; version=0.0.4; charset=utf-8", body.encode())


class Server(http_server.Server):
    """Answers requests from threads of its own, so many at once that what watches keeps the descriptors it needs."""

    def __init__(self, at: tuple[str, int]) -> None:
        """
        Raises:
            PslcError: the address cannot be listened on, or the process may open too few files.
        """
        self.latest: Mapping[str, tuple[tuple[int, ...], float | None]] = {}
        try:
            super().__init__(at, _Handler, _connections())
        except (OSError, UnicodeError) as error:
            why = (error.strerror if isinstance(error, OSError) else None) or error
            hint = rights.port_hint(error, "--metrics :9417", "another address or port")
            raise TargetError(f"{at[0]}:{at[1]} cannot be listened on: {why}", hint) from None
        Thread(target=self.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Stop the server."""
        self.shutdown()
        self.server_close()


def _connections() -> int:
    """Connections at once: `MAX_CONNECTIONS`, or fewer where the process may open few files.

    Raises:
        PslcError: it may open too few for any.
    """
    if sys.platform == "win32":
        return MAX_CONNECTIONS
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    left = MAX_CONNECTIONS if limit == resource.RLIM_INFINITY else limit - RESERVED_FILES
    if left < 1:
        raise TargetError(
            f"--metrics needs more open files than {limit}", f"ulimit -n {RESERVED_FILES + MAX_CONNECTIONS}"
        )
    return min(left, MAX_CONNECTIONS)
