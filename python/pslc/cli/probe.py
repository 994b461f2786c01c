"""`pslc probe`: what a real drive and the machine are, or a simulated drive in a file."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from pslc.base.console import say


def command(
    path: Annotated[Path, typer.Argument(help="Block device, file, folder, or drive file", metavar="TARGET")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document")] = False,
) -> None:
    """Show facts about a drive and problems that could spoil a measurement (read-only).

    For a drive file (disk.pslc): its health log, and how full it is.
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
        known = f"it is a simulated drive: pslc drives show {name}" if name in library() else ""
        raise user_error(f"{path}: there is no such file or device", known or "lsblk lists the block devices")
    facts = probe.facts(path)
    facts["now"] = probe.moment(facts)
    found = list(warnings.of_the_machine(facts))
    seen = probe.users_and_signatures(path)
    if as_json:
        print(json.dumps(facts | {"guard": seen, "doubts": documented(found)}, indent=1))
        return
    for title in ("file_system", "device", "host", "power", "now"):
        _show(title, facts[title])
    if seen is not None:
        held = seen["signatures"]
        holds = None if held is None else "; ".join(held) or "nothing"
        _show("guard", {"users": "; ".join(seen["users"]) or "none", "holds": holds})
    for doubt in found:
        say(f"doubt: {doubt}")


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
