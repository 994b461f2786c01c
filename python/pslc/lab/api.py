"""Answers to the page of `pslc lab`, as JSON: recordings, uploads, fits, runs, drives of this machine, and reports."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, NotRequired

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from pslc import suites
from pslc.base import gate, writer
from pslc.base.errors import PslcError, user_error
from pslc.device import probe, profiles
from pslc.device.target import is_drive
from pslc.lab import recordings, static_page, tasks, uploads
from pslc.lab.apart import Readers
from pslc.lab.files import new_folder
from pslc.lab.tasks import DriveJson, Tasks
from pslc.lab.uploads import ChartInputs, Uploads
from pslc.lab.view_json import Kind, ViewJson, of_view
from pslc.recording.writes.curve import write_curve
from pslc.report import recording_view

MAX_HEADER_BYTES: Final = 100_000
"""Size limit of an upload's first line, which names its files."""
MAX_BODY_BYTES: Final = uploads.MAX_BYTES + MAX_HEADER_BYTES
"""Size limit of a request, in bytes."""
JSON: Final = "application/json"
REPORT_POLICY: Final = (
    "sandbox allow-scripts allow-downloads allow-popups; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Content security policy of a report: the browser treats it as a page of nobody's, so that a script in a foreign
recording cannot send requests to the lab."""
PAGE_POLICY: Final = "frame-ancestors 'none'"
"""Beside the policy that the page itself holds, which a page cannot say."""
Query = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Reply:
    """Body of an answer, its media type, and further headers."""

    body: bytes
    kind: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Lab:
    """State of a `pslc lab` until it ends."""

    folder: Path = field(default_factory=lambda: new_folder("pslc-lab-"))
    readers: Readers = field(default_factory=lambda: Readers(imported))

    @property
    def uploads(self) -> Uploads:
        """Uploads to the page."""
        return Uploads(self.folder, self.readers)


def imported(_: None) -> None:
    """Do nothing: a reader that calls this has imported what the page imports."""


@dataclass(frozen=True)
class Api:
    """Answers requests by their path below the token."""

    lab: Lab
    tasks: Tasks

    @classmethod
    def new(cls) -> Api:
        """An API with a folder for uploads of its own."""
        lab = Lab()
        return cls(lab, Tasks(lab.uploads))

    def close(self) -> None:
        """End what it began, and remove what was put into files."""
        self.tasks.close()
        self.lab.readers.close()
        writer.remove_folder(self.lab.folder)

    def get(self, path: str, query: Query) -> Reply | None:
        """The answer to a GET; None if there is nothing of that path.

        Raises:
            PslcError: what it asks for cannot be had.
        """
        name = (query.get("name") or [""])[0]
        match path:
            case "":
                return _page()
            case "api/library":
                return _json(_library())
            case "api/recording":
                return _json(self.lab.readers.call(recording, name))
            case "api/devices":
                return _json(_devices())
            case "api/task":
                return _json(self.tasks.state(int(name) if name.isdecimal() else 0))
            case "report":
                return self._report(recordings.report, name)
            case "compare":
                return self._report(recordings.compared, list(query.get("name", [])))
        return None

    def _report(self, make: Callable[..., str], *given: Any) -> Reply:
        page = self.lab.readers.call(make, *given)
        return Reply(page.encode(), "text/html; charset=utf-8", {"Content-Security-Policy": REPORT_POLICY})

    def post(self, path: str, body: bytes) -> Reply | None:
        """The answer to a POST; None if there is nothing of that path.

        Raises:
            PslcError: the request is not understood, or what it asks for cannot be done.
        """
        if path == "api/upload":
            return _json(self.lab.uploads.put(*_files(body)))
        if path not in REQUESTS:
            return None
        request: Any = _parsed(REQUESTS[path], body)
        match path:
            case "api/chart":
                name = request.pop("name")
                return _json(self.lab.uploads.put_chart(name, ChartInputs(**request)))
            case "api/run" if request.get("upload"):
                return _json(self.tasks.replay(request["upload"], request["drive"]))
            case "api/run":
                return _json(self.tasks.run(request["suite"], request["drive"]))
            case "api/fit":
                given = [request.get(key, "") for key in ("upload", "recording", "capacity")]
                return _json(self.tasks.fit(*given))
            case "api/stop":
                self.tasks.stop(request["task"])
            case "api/delete":
                recordings.delete(request["name"])
        return _json({})


class _Chart(TypedDict):
    name: str
    x: str
    y: str
    series: str
    frame: str


class _Run(TypedDict):
    drive: DriveJson
    suite: NotRequired[str]
    upload: NotRequired[str]


class _Fit(TypedDict):
    upload: NotRequired[str]
    recording: NotRequired[str]
    capacity: NotRequired[str]


class _Stop(TypedDict):
    task: int


class _Delete(TypedDict):
    name: str


class _Upload(TypedDict):
    names: list[str]
    sizes: list[int]


REQUESTS: Final[Mapping[str, TypeAdapter[Any]]] = {
    "api/chart": TypeAdapter(_Chart),
    "api/run": TypeAdapter(_Run),
    "api/fit": TypeAdapter(_Fit),
    "api/stop": TypeAdapter(_Stop),
    "api/delete": TypeAdapter(_Delete),
}
"""Requests by path."""
_UPLOAD: Final = TypeAdapter(_Upload)


def _parsed(adapter: TypeAdapter[Any], body: bytes) -> Any:
    try:
        return adapter.validate_json(body, strict=True)
    except (ValidationError, RecursionError) as error:
        why = error.errors()[0]["msg"] if isinstance(error, ValidationError) else "it is nested too deeply"
        raise user_error(f"the request is not understood: {why}", "reload the page") from None


def _files(body: bytes) -> tuple[list[str], list[bytes]]:
    """Names and contents of uploaded files: a line of JSON with `names` and `sizes`, then the files themselves."""
    head, _, rest = body.partition(b"\n")
    given = _parsed(_UPLOAD, head)
    contents, at = [], 0
    for size in given["sizes"]:
        contents.append(rest[at : at + size])
        at += size
    if len(contents) != len(given["names"]) or min(given["sizes"], default=0) < 0 or at != len(rest):
        raise user_error("the upload is incomplete", "upload the files again")
    return given["names"], contents


def _json(document: object) -> Reply:
    return Reply(json.dumps(document, separators=(",", ":"), allow_nan=False).encode())


def _page() -> Reply:
    """The static page, told that there is a server behind it."""
    page = static_page.text().replace("<html ", '<html data-lab="" ', 1)
    return Reply(page.encode(), "text/html; charset=utf-8", {"Content-Security-Policy": PAGE_POLICY})


def _library() -> dict[str, Any]:
    """Suites, recordings, and the profiles and drive files of the current folder."""
    entries, unreadable = recordings.entries()
    here = {path.name: text for path in sorted(Path().glob("*.toml")) if (text := _profile(path))}
    return {
        "suites": {name: suites.question(name) for name in suites.catalogue()},
        "recordings": [asdict(entry) for entry in entries],
        "unreadable": unreadable,
        "profiles": here,
        "drive_files": [path.name for path in sorted(Path().glob("*.pslc")) if is_drive(path)],
        "max_upload_bytes": uploads.MAX_BYTES,
    }


def _profile(path: Path) -> str:
    """Text of a profile that stands on built-in ones alone; empty of any other file."""
    try:
        text = gate.text(path, profiles.FILE)
        tasks.check_base(text)
    except PslcError:
        return ""
    return text if "[nand" in text or "nand." in text or text.startswith("base") or "\nbase" in text else ""


def recording(name: str) -> ViewJson:
    """Contents of a recording in `runs/`.

    Raises:
        PslcError: there is none, or it is damaged.
    """
    loaded = recordings.load(name)
    return of_view(recording_view.of_recording(loaded), name, Kind.RECORDING, write_curve(loaded))


def _devices() -> list[dict[str, Any]]:
    """Drives of this machine, as `pslc probe` sees them. Nothing is written."""
    devices = []
    for disk in sorted(probe.SYS.glob("block/*/device")):
        path = Path("/dev") / disk.parent.name
        device = probe.facts(path)["device"] if path.exists() else None
        if device is not None:
            guard = probe.users_and_signatures(path)
            facts = {"model": device["model"], "bus": device["bus"], "bytes": device["bytes"]}
            devices.append({"path": str(path), **facts, "users": guard["users"] if guard is not None else []})
    return devices
