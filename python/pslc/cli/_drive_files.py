"""`pslc drives create`, `format` and `age`: a simulated drive that stays in a file between runs."""

import json
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pslc.base.console import say
from pslc.cli import _complete

if TYPE_CHECKING:
    from pslc._native import SimDrive

MAX_AGE_S = 87_600 * 3600.0
"""The longest time that passes in one command: ten years."""
DAY_S = 86_400.0

File = Annotated[Path, typer.Argument(metavar="FILE", help="The drive's file, such as disk.pslc")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document")]


def create(
    file: File,
    like: Annotated[
        str,
        typer.Option(
            metavar="NAME[,KEY=VALUE...]",
            help="Built-in drive or profile to start from",
            autocompletion=_complete.drive,
        ),
    ],
    as_json: Json = False,
) -> None:
    """Create a persistent drive file; each run continues from the last state."""
    from pslc.device import drive_files

    _print_state(drive_files.create(file, like), as_json)


def format_drive(
    file: File,
    mode: Annotated[
        str, typer.Option(metavar="MODE", help="Cache mode: pure-xlc, dynamic-slc, static-slc, hybrid-slc or pure-slc")
    ],
    static: Annotated[str | None, typer.Option(metavar="SIZE", help="Size of the static cache")] = None,
    dynamic: Annotated[str | None, typer.Option(metavar="SIZE", help="Size of the dynamic cache")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Erase the drive's data without asking")] = False,
    as_json: Json = False,
) -> None:
    """Change the cache of a drive file; its data are lost."""
    from pslc.base import words
    from pslc.base.errors import user_error
    from pslc.device import drive_files

    drive = drive_files.open_kept(file)
    mapped = drive.counters()["mapped_bytes"]
    before = _settings(drive)
    sizes = {"static": static, "dynamic": dynamic}
    drive_files.format_drive(drive, mode, {name: size for name, size in sizes.items() if size is not None})
    for name, after in _settings(drive).items():
        change = after if before[name] == after else f"{before[name]} -> {after}"
        say(f"{name:13} {change}", err=True)
    if not yes:
        if sys.stdin is None or not sys.stdin.isatty():
            raise user_error(f"{words.size(mapped)} of data in {file} would be lost", "add --yes to erase them")
        if not typer.confirm(f"{words.size(mapped)} of data in {file} will be lost. Go on?", err=True):
            say("nothing was written", err=True)
            raise typer.Exit(2)
    drive.save()
    _print_state(drive, as_json)


def age(
    file: File,
    idle: Annotated[
        str | None, typer.Option(metavar="TIME", help="Time that passes while the drive is on and idle, such as 8h")
    ] = None,
    days: Annotated[
        float | None, typer.Option(metavar="DAYS", help="Days that pass while the drive is switched off")
    ] = None,
    celsius: Annotated[
        float | None,
        typer.Option("--at-celsius", metavar="DEGREES", help="Temperature of the drive in these days (default: 30)"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Let time pass for a drive file: idle, so that it folds its cache, or switched off, so that its data age."""
    from pslc.base import units, words
    from pslc.base.errors import user_error
    from pslc.device import drive_files

    if (idle is None) == (days is None):
        raise user_error("a drive ages idle or switched off", "give one of --idle 8h and --days 90")
    if celsius is not None and days is None:
        raise user_error("--at-celsius is of a drive that is switched off", "add --days 90")
    option = "--idle" if days is None else "--days"
    seconds = units.seconds(idle or "", option) if days is None else days * DAY_S
    if not 0 <= seconds <= MAX_AGE_S:
        limits = f"0 to {MAX_AGE_S / 3600:.0f}h ({MAX_AGE_S / DAY_S:.0f} days)"
        raise user_error(f"{option} is {idle or days}", limits)
    drive = drive_files.open_kept(file)
    if days is None:
        drive.idle(round(seconds * 1e9))
    else:
        aged_s = drive_files.switch_off(drive, seconds, drive_files.REFERENCE_C if celsius is None else celsius)
        ages = drive_files.ages(drive.profile())
        say(f"Its data aged as in {words.span(aged_s)} at 30 °C." if ages else drive_files.UNAGING, err=True)
    drive.save()
    _print_state(drive, as_json)


def _settings(drive: "SimDrive") -> dict[str, str]:
    """Settings that a format may change, in words, and how many cycles the cells have left in each mode."""
    from pslc.base import units, words
    from pslc.device import drive_files, health

    facts, inside = drive.facts(), health.inside(drive)
    cache = tomllib.loads(drive.profile())["cache"]
    slc, native = inside["slc_cycles_left"], inside["native_cycles_left"]
    cycles = "unknown" if native is None else f"{slc} at one bit a cell, {native} at {facts['bits_per_cell']}"
    return {
        "mode": drive_files.mode_of(drive),
        "capacity": words.size(drive.capacity_bytes),
        "static cache": words.size(units.size(cache["static"], "cache.static")),
        "dynamic cache": words.size(units.size(cache["dynamic"], "cache.dynamic")),
        "cycles left": cycles,
    }


def _print_state(drive: "SimDrive", as_json: bool) -> None:
    """Print what the drive is and holds now."""
    from pslc.base import words
    from pslc.device import drive_files
    from pslc.report import health

    if as_json:
        print(json.dumps(health.document(drive), indent=1))
        return
    counters = drive.counters()
    what = f"{drive.name}, {words.size(drive.capacity_bytes)}, {drive_files.mode_of(drive)}"
    used = f"{words.size(counters['mapped_bytes'])} of data, {words.size(counters['slc_valid_bytes'])} in the cache"
    print(f"{what}: {used}, {words.span(drive.now_ns / 1e9)} old")
