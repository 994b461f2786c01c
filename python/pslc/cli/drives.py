"""`pslc drives`: the simulated drives there are, what they are made of, new ones, and drives that stay in a file."""

import json
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pslc.cli import _complete

if TYPE_CHECKING:
    from pslc._native import SimDrive
    from pslc.parts import Controller, Derived, Nand
    from pslc.targets.target import Target

NEW = "New drives"
KEPT = "Drives in a file"


class Action(StrEnum):
    """What to do; without one, list the drives."""

    SHOW = "show"
    PARTS = "parts"
    NEW = "new"
    CREATE = "create"
    FORMAT = "format"
    AGE = "age"


def command(
    action: Annotated[
        str | None,
        typer.Argument(
            help="show: print a profile and how it came about. parts: list dies and controllers, or print one. "
            "new: make a profile of parts. create: make a drive that stays, in a file. format: set its cache up anew; "
            "its data are lost. age: let time pass for it.",
            metavar="[show|parts|new|create|format|age]",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Argument(help="Name of the drive or the part, or the file.", autocompletion=_complete.drive),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")] = False,
    nand: Annotated[str | None, typer.Option(help="new: the die.", metavar="PART", rich_help_panel=NEW)] = None,
    controller: Annotated[
        str | None, typer.Option(help="new: the controller.", metavar="PART", rich_help_panel=NEW)
    ] = None,
    capacity: Annotated[
        str | None, typer.Option(help="new: its capacity, as sold.", metavar="1TB", rich_help_panel=NEW)
    ] = None,
    cache: Annotated[
        str | None,
        typer.Option(
            help="new: keys of the table cache; the habits of the controller's firmware without them.",
            metavar="dynamic=150GB,...",
            rich_help_panel=NEW,
        ),
    ] = None,
    like: Annotated[
        str | None,
        typer.Option(help="create: the drive to begin with.", metavar="NAME[,key=value...]", rich_help_panel=KEPT),
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(
            help="format: the mode, pure-xlc, dynamic-slc, static-slc, hybrid-slc or pure-slc.",
            metavar="MODE",
            rich_help_panel=KEPT,
        ),
    ] = None,
    static: Annotated[
        str | None, typer.Option(help="format: the static cache.", metavar="64GB", rich_help_panel=KEPT)
    ] = None,
    dynamic: Annotated[
        str | None, typer.Option(help="format: the dynamic cache.", metavar="200GB", rich_help_panel=KEPT)
    ] = None,
    idle: Annotated[
        str | None, typer.Option(help="age: how long it is left alone.", metavar="8h", rich_help_panel=KEPT)
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="format: do not ask before data are lost.", rich_help_panel=KEPT)
    ] = False,
) -> None:
    """List the simulated drives or show one; list parts, or make a drive of them and predict its curve; keep a drive in
    a file, in which each run goes on from where the last one ended."""
    from pslc.errors import refusal

    if action is None:
        _list(as_json)
    elif action == Action.SHOW and name is not None:
        _show(name, as_json)
    elif action == Action.PARTS:
        _parts(name, as_json)
    elif action == Action.NEW:
        _new(name, nand, controller, capacity, cache, as_json)
    elif action == Action.CREATE:
        _create(name, like, as_json)
    elif action == Action.FORMAT:
        _format(name, mode, {"static": static, "dynamic": dynamic}, yes, as_json)
    elif action == Action.AGE:
        _age(name, idle, as_json)
    else:
        raise refusal(*_misread(action, name))


def _misread(action: str, name: str | None) -> tuple[str, str]:
    """What to say, and the command that was probably meant."""
    from pslc.targets.profiles import library

    if action == Action.SHOW:
        return "which drive?", f"pslc drives show {next(iter(library()))}; pslc drives lists them all"
    action = action.removeprefix("sim:")
    meant = action if action in library() or "/" in action or action.endswith(".toml") else name
    hint = f"pslc drives show {meant}" if meant else "pslc drives lists them; others are show, parts and new"
    return f"{action} is not an action of pslc drives", hint


# ---- list and show


def _list(as_json: bool) -> None:
    from pslc.targets.profiles import library

    rows = [_row(drive) for drive in library()]
    if as_json:
        print(json.dumps(rows, indent=1))
    else:
        _table(rows)


def _show(name: str, as_json: bool) -> None:
    from pslc.targets.profiles import library
    from pslc.targets.target import find_target

    target = find_target(f"sim:{name}")
    if as_json:
        document = {"name": name, "drive": target.name, "profile": target.profile, "facts": target.facts}
        print(json.dumps(document | {"provenance": dict(target.provenance)}, indent=1))
        return
    print(_remarks(target))
    print(library().get(name, target.profile), end="")


def _remarks(target: "Target") -> str:
    """What follows from a profile, as remarks, so that all of it is a profile."""
    from pslc.report import drive

    return "".join(f"# {line}".rstrip() + "\n" for line in drive.text(target).splitlines())


def _row(name: str) -> dict[str, object]:
    from pslc.targets.target import find_target

    target = find_target(f"sim:{name}")
    return {"name": name, "drive": target.name, "capacity_bytes": target.capacity_bytes} | target.facts


def _table(rows: list[dict[str, object]]) -> None:
    from pslc import words

    cells = []
    for row in rows:
        numbers = {key: value for key, value in row.items() if isinstance(value, int)}
        speeds = (words.speed(numbers[f"{of}_bytes_per_s"]) for of in ("link", "slc_write", "native_write"))
        size, dies, bits = words.size(numbers["capacity_bytes"]), str(numbers["dies"]), str(numbers["bits_per_cell"])
        cells.append((str(row["name"]), str(row["drive"]), size, dies, bits, *speeds))
    _grid(("name", "drive", "capacity", "dies", "bits", "link", "pSLC", "native"), cells)


# ---- parts


def _parts(name: str | None, as_json: bool) -> None:
    from dataclasses import asdict

    from pslc import parts

    if name is None:
        dies = [parts.nand(name) for name in parts.nands()]
        chips = [parts.controller(name) for name in parts.controllers()]
        if as_json:
            print(
                json.dumps({"nand": [asdict(die) for die in dies], "controllers": [asdict(c) for c in chips]}, indent=1)
            )
        else:
            _tables_of_parts(dies, chips)
        return
    part = parts.part(name)
    if as_json:
        print(json.dumps(asdict(part), indent=1))
    else:
        print(parts.text(part), end="")


def _tables_of_parts(dies: "list[Nand]", chips: "list[Controller]") -> None:
    from pslc import words

    rows = [
        (die.name, str(die.bits_per_cell), f"{die.bytes // 2**27} Gb", str(die.planes), f"{die.bus_mts} MT/s",
         words.span(die.native.program / 1e9), words.speed(die.native_bytes_per_s), words.speed(die.slc_bytes_per_s))
        for die in dies
    ]  # fmt: skip
    _grid(("die", "bits", "capacity", "planes", "bus", "tPROG", "native", "pSLC"), rows)
    print()
    chips_rows = [
        (chip.name, chip.link, str(chip.channels), f"{chip.bus_mts} MT/s", str(chip.cores), chip.map,
         "no cache" if chip.habits["mode"] == "pure-xlc" else str(chip.habits["when_full"]))
        for chip in chips
    ]  # fmt: skip
    _grid(("controller", "link", "channels", "bus", "cores", "map", "when the cache is full"), chips_rows)


def _grid(titles: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    from rich.table import Table

    from pslc.report import terminal

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in titles:
        table.add_column(
            title, justify="left" if title in ("name", "drive", "die", "controller") else "right", no_wrap=True
        )
    for row in rows:
        table.add_row(*row)
    terminal.console().print(table)


# ---- new


def _new(
    file: str | None, nand: str | None, controller: str | None, capacity: str | None, cache: str | None, as_json: bool
) -> None:
    """Ask for what was not given, where there is somebody to ask."""
    from pslc import parts
    from pslc.errors import refusal

    asks = sys.stdin.isatty() and not as_json
    said = {"nand": nand, "controller": controller, "capacity": capacity}
    missing = [f"--{key}" for key, value in said.items() if value is None]
    if missing and not asks:
        hint = (
            "pslc drives new mine.toml --nand bics5-tlc-512g --controller phison-e16 --capacity 1TB; pslc drives parts"
        )
        raise refusal(f"a new drive needs {', '.join(missing)}", hint)
    if missing:
        _parts(None, as_json=False)
    questions = {"nand": "die", "controller": "controller", "capacity": "capacity, such as 1TB"}
    answers = {key: value or typer.prompt(questions[key], err=True) for key, value in said.items()}
    habits = parts.controller(answers["controller"]).habits
    if cache is None and missing:
        cache = typer.prompt(f"cache, such as dynamic=150GB ({habits['share']} of it if empty)", default="", err=True)
    keys = {}
    for pair in (cache or "").split(",") if cache else []:
        key, equals, value = pair.partition("=")
        if not equals:
            raise refusal(f'--cache: "{pair}" is not key=value', "--cache dynamic=150GB,when_full=fold")
        keys[key.strip()] = value.strip()
    derived = parts.profile(
        nand=answers["nand"], controller=answers["controller"], capacity=answers["capacity"], cache=keys
    )
    if file is None:
        file = typer.prompt("file", default="mine.toml", err=True) if asks and missing else "mine.toml"
    _predict(_write(file, answers, keys), derived, as_json)


def _write(file: str, answers: dict[str, str], cache: dict[str, str]) -> Path:
    """The profile in as many lines as were said; nothing is written over."""
    from pslc.errors import refusal

    path = Path(file)
    if path.suffix != ".toml":
        raise refusal(f"{file} does not end in .toml", f"pslc drives new {file}.toml ...")
    lines = [f'{key} = "{value}"' for key, value in answers.items()]
    if cache:
        lines += ["", "[cache]"]
        lines += [
            f"{key} = {value}" if key == "fold_overhead" else f'{key} = "{value}"' for key, value in cache.items()
        ]
    try:
        with path.open("x", encoding="utf-8") as out:
            out.write("\n".join(lines) + "\n")
    except FileExistsError:
        raise refusal(f"{file} exists, and is not written over", "give the new drive another file") from None
    except OSError as error:
        raise refusal(f"{file}: {error.strerror}", "give a file that can be written") from None
    return path


def _predict(path: Path, derived: "Derived", as_json: bool) -> None:
    """Fill it and show the curve."""
    import pslc
    from pslc import view
    from pslc.report import terminal

    spec = f"sim:{path}" if "/" in str(path) else f"sim:./{path}"
    try:
        recording = pslc.run("fill", on=spec)
    except pslc.PslcError:
        path.unlink()  # a profile that cannot be used
        raise
    if as_json:
        print(json.dumps(recording.document(), indent=1))
    else:
        terminal.show(view.of_recording(recording))
    assumed = sum("assumed" in how for how in derived.how.values())
    typer.echo(
        f"{path}: {len(derived.values)} values follow, {assumed} of them assumed; pslc drives show {spec[4:]}", err=True
    )


# ---- drives in a file


def _create(file: str | None, like: str | None, as_json: bool) -> None:
    from pslc.errors import refusal
    from pslc.targets import kept

    if file is None or like is None:
        raise refusal("a new drive needs a file and a profile", "pslc drives create disk.pslc --like aldrin-pro-2tb")
    _tell(kept.create(Path(file), like), as_json)


def _format(file: str | None, mode: str | None, sizes: dict[str, str | None], yes: bool, as_json: bool) -> None:
    """Show what changes, and ask: there is no way back."""
    from pslc import words
    from pslc.errors import refusal
    from pslc.targets import kept

    if file is None or mode is None:
        hint = f"pslc drives format disk.pslc --mode pure-slc; the modes are {', '.join(kept.MODES)}"
        raise refusal("which drive, in which mode?", hint)
    drive = kept.open_kept(Path(file))
    mapped = drive.counters()["mapped_bytes"]
    before = _set_up(drive)
    kept.format_drive(drive, mode, {name: size for name, size in sizes.items() if size is not None})
    for name, after in _set_up(drive).items():
        was = before[name]
        same = was == after
        typer.echo(f"{name:12} {after}" if same else f"{name:12} {was} -> {after}", err=True)
    if not yes:
        if sys.stdin is None or not sys.stdin.isatty():
            raise refusal(f"{words.size(mapped)} of data in {file} would be lost", "--yes, if they may be")
        if not typer.confirm(f"{words.size(mapped)} of data in {file} will be lost. Go on?", err=True):
            raise typer.Exit(2)
    drive.save()
    _tell(drive, as_json)


def _set_up(drive: "SimDrive") -> dict[str, str]:
    """What a format may change, in words, and how long the cells last in either mode."""
    from pslc import words
    from pslc.targets import health, kept

    facts, inside = drive.facts(), health.inside(drive)
    superblock = facts["slc_superblock_bytes"]
    slc, native = inside["slc_cycles_left"], inside["native_cycles_left"]
    cycles = "unknown" if native is None else f"{slc} at one bit a cell, {native} at {facts['bits_per_cell']}"
    static = facts["static_superblocks"] * superblock
    return {
        "mode": kept.mode_of(drive),
        "capacity": words.size(drive.capacity_bytes),
        "static cache": words.size(static),
        "cache": words.size(facts["cache_bytes"]),
        "cycles left": cycles,
    }


def _age(file: str | None, idle: str | None, as_json: bool) -> None:
    from pslc import units
    from pslc.errors import refusal
    from pslc.targets import kept

    if file is None or idle is None:
        raise refusal("which drive is left alone, and how long?", "pslc drives age disk.pslc --idle 8h")
    seconds = units.seconds(idle, "--idle")
    if seconds > MOST_AGE_S:
        raise refusal(f"--idle is {idle}", f"at most {MOST_AGE_S / 3600:.0f}h at once")
    drive = kept.open_kept(Path(file))
    drive.idle(round(seconds * 1e9))
    drive.save()
    _tell(drive, as_json)


MOST_AGE_S = 87_600 * 3600.0
"""Ten years."""


def _tell(drive: "SimDrive", as_json: bool) -> None:
    """What the drive is now."""
    from pslc import words
    from pslc.report import health
    from pslc.targets import kept

    if as_json:
        print(json.dumps(health.document(drive), indent=1))
        return
    counters = drive.counters()
    what = f"{drive.name}, {words.size(drive.capacity_bytes)}, {kept.mode_of(drive)}"
    used = f"{words.size(counters['mapped_bytes'])} of data, {words.size(counters['slc_valid_bytes'])} in the cache"
    print(f"{what}: {used}, {words.span(drive.now_ns / 1e9)} old")
