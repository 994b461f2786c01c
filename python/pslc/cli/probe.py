"""`pslc probe`: facts about a real drive and its machine, or about a drive file."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from pslc.base.console import say


def command(
    path: Annotated[
        Path,
        typer.Argument(metavar="TARGET", help="Block device, file or folder on a drive, or a drive file (disk.pslc)"),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document")] = False,
) -> None:
    """Show facts about a drive and problems that could spoil a measurement (read-only).

    For a simulated drive in a file: its health log and what it holds.
    """
    from pslc.base.errors import user_error
    from pslc.device import probe
    from pslc.device.target import is_drive
    from pslc.recording import warnings
    from pslc.schema.warnings import documented

    if is_drive(path):
        _simulated(path, as_json)
        return
    if not path.exists():
        from pslc.device.profiles import library

        name = str(path).removeprefix("sim:")
        hint = f"it is a simulated drive: pslc drives show {name}" if name in library() else ""
        raise user_error(f"{path}: no such file or device", hint or "lsblk lists the block devices")
    facts = probe.facts(path)
    facts["now"] = probe.moment(facts)
    problems = list(warnings.of_the_machine(facts))
    guard = probe.users_and_signatures(path)
    if as_json:
        print(json.dumps(facts | {"guard": guard, "doubts": documented(problems)}, indent=1))
        return
    for title in ("file_system", "device", "host", "power", "now"):
        _show(title, facts[title])
    if guard is not None:
        signatures = guard["signatures"]
        holds = None if signatures is None else "; ".join(signatures) or "nothing"
        _show("guard", {"users": "; ".join(guard["users"]) or "none", "holds": holds})
    for problem in problems:
        say(f"warning: {problem}")


def _simulated(path: Path, as_json: bool) -> None:
    from pslc.device.drive_files import open_kept
    from pslc.report import health

    drive = open_kept(path)
    if as_json:
        print(json.dumps(health.document(drive), indent=1))
        return
    for title, facts in health.tables(drive).items():
        _show(title, facts)


def _show(title: str, facts: Mapping[str, object] | None) -> None:
    if facts is None:
        print(f"{title.replace('_', ' ')}: unknown")
        return
    print(title.replace("_", " "))
    for name, value in facts.items():
        print(f"  {name.replace('_', ' '):24} {'unknown' if value is None else value}")
