"""`pslc drives`: the simulated drives, the parts they are made of, new profiles, and drives that stay in a file."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pslc.base.console import say
from pslc.cli import _complete, _drive_files, _groups, _run_options

if TYPE_CHECKING:
    from pslc.device.parts import Computer, Controller, Derived, Nand
    from pslc.device.parts.forecast import Forecast
    from pslc.device.parts.log_fit import Fill
    from pslc.device.target import Target

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document")]


def list_drives(context: typer.Context, as_json: Json = False) -> None:
    """List simulated drives, show one, make one from parts, or create one in a file."""
    if context.invoked_subcommand is not None:
        return
    from pslc.device.profiles import library

    rows = [_row(name) for name in library()]
    if as_json:
        print(json.dumps(rows, indent=1))
    else:
        _print_drives(rows)


def suggestion(words: list[str]) -> str:
    """The command that shows a drive in the place of a command of `pslc drives`; empty if it is none."""
    from pslc.device.profiles import library

    names = [word.removeprefix("sim:") for word in words[:2]]
    drives = [name for name in names if name in library() or "/" in name or name.endswith(".toml")]
    return f"pslc drives show {drives[0]}" if drives else ""


def suggestion_of_drive(words: list[str]) -> str:
    """Commands that take a drive in the place of a command; empty if it is none."""
    from pslc.device.profiles import library

    drive = words[0].removeprefix("sim:")
    return f"it is a drive: pslc run fill --on sim:{drive}, or pslc drives show {drive}" if drive in library() else ""


app = _groups.group(list_drives, suggestion)


@app.command()
def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME[,KEY=VALUE...]", help="Built-in drive, profile or drive file", autocompletion=_complete.drive
        ),
    ],
    as_json: Json = False,
) -> None:
    """Print a drive's profile, the values that follow from it, and the source of each."""
    from pslc.device.profiles import library
    from pslc.device.target import find_target, is_drive

    target = find_target(name if is_drive(Path(name)) else f"sim:{name}")
    if as_json:
        forecast = _forecast(target)
        document = {"name": name, "drive": target.name, "profile": target.profile, "facts": target.facts,
                    "forecast": forecast and asdict(forecast)}  # fmt: skip
        print(json.dumps(document | {"provenance": dict(target.provenance)}, indent=1))
        return
    print(_as_comment(target))
    print(library().get(name, target.profile), end="")


@app.command("parts")
def list_parts(
    name: Annotated[
        str | None,
        typer.Argument(metavar="PART", help="Die, controller or computer to print", autocompletion=_complete.part),
    ] = None,
    as_json: Json = False,
) -> None:
    """List NAND dies, controllers and computers, or print one with the source of each value."""
    from dataclasses import asdict

    from pslc.device import parts

    if name is not None:
        part = parts.part(name)
        print(json.dumps(asdict(part), indent=1) if as_json else parts.text(part), end="\n" if as_json else "")
        return
    dies = [parts.nand(name) for name in parts.nands()]
    controllers = [parts.controller(name) for name in parts.controllers()]
    machines = [parts.computer(name) for name in parts.computers()]
    if as_json:
        document = {
            "nand": [asdict(die) for die in dies],
            "controllers": [asdict(chip) for chip in controllers],
            "computers": [asdict(machine) for machine in machines],
        }
        print(json.dumps(document, indent=1))
    else:
        _print_parts(dies, controllers, machines)


@app.command("new")
def new(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE.toml", help="Profile to write (default: mine.toml)")
    ] = None,
    nand: Annotated[
        str | None,
        typer.Option(metavar="PART", help="NAND die (pslc drives parts lists them)", autocompletion=_complete.nand),
    ] = None,
    controller: _run_options.Controller = None,
    capacity: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Capacity of the drive as sold, such as 1TB")
    ] = None,
    cache: Annotated[
        str | None,
        typer.Option(
            "--set-cache", metavar="KEY=VALUE,...", help="Cache settings (default: typical for this controller)"
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            "--facts", metavar="FILE", help="Output of a flash-id tool, smartctl, nvme id-ctrl or CrystalDiskInfo"
        ),
    ] = None,
    log: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Log of a fill of the drive: does it fit these parts?")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a profile from parts and predict its write curve; in a terminal, ask for what is missing."""
    measured = _measured(log) if log else None
    if report is not None:
        nand, controller, capacity = _read_report(report, (nand, controller, capacity), measured)
    interactive = sys.stdin.isatty() and not as_json
    answers, settings, asked = _ask((nand, controller, capacity), cache, report, interactive=interactive)
    from pslc.device import parts

    derived = parts.profile(
        nand=answers["nand"], controller=answers["controller"], capacity=answers["capacity"], cache=settings
    )
    if file is None:
        file = Path(typer.prompt("file", default="mine.toml", err=True) if asked else "mine.toml")
    verdict = _fits(measured, answers) if measured else ""
    _predict(_write(file, answers, settings), derived, verdict, as_json)


app.command("create")(_drive_files.create)
app.command("format")(_drive_files.format_drive)
app.command("age")(_drive_files.age)


# ---- list and show


def _as_comment(target: "Target") -> str:
    """Values that follow from a profile as TOML comments, so that the whole output is a profile."""
    from pslc.report import drive

    return "".join(f"# {line}".rstrip() + "\n" for line in drive.text(target).splitlines())


def _row(name: str) -> dict[str, object]:
    from pslc.device.target import find_target

    target = find_target(f"sim:{name}")
    return {"name": name, "drive": target.name, "capacity_bytes": target.capacity_bytes} | target.facts


def _print_drives(rows: list[dict[str, object]]) -> None:
    from pslc.base import words

    cells = []
    for row in rows:
        numbers = {key: value for key, value in row.items() if isinstance(value, int)}
        speeds = [str(round(numbers[f"{of}_bytes_per_s"] / 1e6)) for of in ("link", "slc_write", "native_write")]
        if not numbers["cache_bytes"]:
            speeds[1] = "none"
        size, dies, bits = words.size(numbers["capacity_bytes"]), str(numbers["dies"]), str(numbers["bits_per_cell"])
        cells.append((str(row["name"]), str(row["drive"]), size, *speeds, dies, bits))
    _print_table(("name", "drive", "capacity", "link MB/s", "pSLC MB/s", "native MB/s", "dies", "bits"), cells)


def _print_parts(dies: "list[Nand]", controllers: "list[Controller]", computers: "list[Computer]") -> None:
    from pslc.base import words
    from pslc.device.parts import naming

    rows = [
        (die.name, str(die.bits_per_cell), f"{die.bytes // 2**27} Gb", str(die.planes),
         words.span(die.native.program / 1e9), words.speed(die.native_bytes_per_s), words.speed(die.slc_bytes_per_s),
         f"{die.bus_mts} MT/s")
        for die in dies
    ]  # fmt: skip
    _print_table(("die", "bits", "capacity", "planes", "tPROG", "native", "pSLC", "bus"), rows)
    print()
    controller_rows = [
        (chip.name, naming.model(chip).partition(" with ")[0], chip.link, str(chip.channels),
         f"{chip.bus_mts} MT/s", str(chip.cores), chip.map,
         "no cache" if chip.habits["mode"] == "pure-xlc" else str(chip.habits["when_full"]))
        for chip in controllers
    ]  # fmt: skip
    _print_table(
        ("controller", "model", "link", "channels", "bus", "cores", "map", "when the cache is full"), controller_rows
    )
    print()
    computer_rows = [
        (of.name, str(of.cores), words.span(of.read / 1e9), words.span(of.write / 1e9), of.link or "any",
         words.size(of.page_cache) if of.page_cache else "none")
        for of in computers
    ]  # fmt: skip
    _print_table(("computer", "cores", "a read", "a write", "link", "page cache"), computer_rows)


def _print_table(titles: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    """Print a table whose first column, the names that `--on` takes, is whole in a terminal of any width."""
    from pslc.report import terminal
    from pslc.report.grids import columns_of, fitting

    out = terminal.console()
    out.print(fitting(columns_of(titles, (titles[0], "drive")), rows, out.width))


# ---- new


def _ask(
    stated: tuple[str | None, str | None, str | None], cache: str | None, report: Path | None, *, interactive: bool
) -> tuple[dict[str, str], dict[str, str], bool]:
    """Parts and cache settings, asked for where they are missing, and whether anything was asked.

    Raises:
        PslcError: something is missing and nobody can be asked, or `cache` is not KEY=VALUE,....
    """
    from pslc.base.errors import user_error
    from pslc.device import parts

    options = dict(zip(("nand", "controller", "capacity"), stated, strict=True))
    missing = [f"--{key}" for key, value in options.items() if value is None]
    if missing and not interactive:
        hint = "pslc drives new mine.toml --nand bics5-tlc-512g --controller phison-e16 --capacity 1TB"
        if report is not None:
            hint = "a flash-id tool for its controller prints them: --facts REPORT; or give those that a review names"
        raise user_error(f"a new drive needs {', '.join(missing)}", f"{hint}; pslc drives parts lists the parts")
    if missing:
        list_parts()
    questions = {"nand": "die", "controller": "controller", "capacity": "capacity, such as 1TB"}
    answers = {key: value or typer.prompt(questions[key], err=True) for key, value in options.items()}
    answers["nand"] = parts.nand(answers["nand"]).name
    answers["controller"] = parts.controller(answers["controller"]).name
    habits = parts.controller(answers["controller"]).habits
    if cache is None and missing:
        cache = typer.prompt(f"cache, such as dynamic=150GB (default: {habits['share']})", default="", err=True)
    return answers, _cache_settings(cache or ""), bool(missing)


def _measured(path: Path) -> "Fill":
    """The fill that a log, a table or a recording shows.

    Raises:
        PslcError: it shows no write curve, or cannot be read.
    """
    from pslc.base.errors import user_error
    from pslc.device.parts.log_fit import Fill
    from pslc.runner.load import read_sides

    findings = read_sides(path)[0].recording.findings
    phases = findings.get("phases")
    if not phases or findings.get("kind") == "read":
        raise user_error(f"{path} shows no fill", f"give a log of writes to an empty drive; pslc analyze {path}")
    rows = [(float(phase["from_bytes"]), float(phase["to_bytes"]), float(phase["bytes_per_s"])) for phase in phases]
    return Fill.of_phases(rows, findings["cache_bytes"])


def _fits(measured: "Fill", answers: dict[str, str]) -> str:
    """Whether a log fits the parts of a drive, in words."""
    from pslc.device import parts
    from pslc.device.parts import log_fit

    chip, own = answers["controller"], parts.nand(answers["nand"]).name
    dies = dict.fromkeys([own, *log_fit.dies_beside(chip)])
    fits = log_fit.rivals(measured, dies, chip, answers["capacity"])
    mine = next(fit for fit in fits if fit.nand == own)
    return log_fit.verdict(mine, [fit for fit in fits if fit is not mine])


def _read_report(
    path: Path, stated: tuple[str | None, str | None, str | None], measured: "Fill | None"
) -> tuple[str | None, str | None, str | None]:
    """Parts and capacity of the drive that a report describes; what is stated goes first."""
    from pslc.base import gate
    from pslc.device.parts import identify

    nand, controller, capacity = stated
    text = gate.text(path, identify.REPORT)
    identity = identify.of_report(text, nand=nand or "", controller=controller or "", measured=measured)
    shown = ((identity.model, "model"), (identity.nand, "NAND die"), (identity.controller, "controller"))
    read = ", ".join(f"{what} {value}" for value, what in (*shown, (identity.capacity, "capacity")) if value)
    say(f"{path}: {read or 'no part was recognized'}", err=True)
    for line in identity.notes:
        say(f"note: {line}", err=True)
    return identity.nand or None, identity.controller or None, capacity or identity.capacity or None


def _cache_settings(text: str) -> dict[str, str]:
    from pslc.base.errors import user_error

    settings = {}
    for pair in text.split(",") if text else []:
        key, equals, value = pair.partition("=")
        if not equals:
            raise user_error(f'--set-cache: "{pair}" is not KEY=VALUE', "--set-cache dynamic=150GB,when_full=fold")
        settings[key.strip()] = value.strip()
    return settings


def _write(path: Path, answers: dict[str, str], cache: dict[str, str]) -> Path:
    """Write the profile, a line for each answer, to a new file.

    Raises:
        PslcError: the name does not end in .toml, the file exists, or it cannot be written.
    """
    from pslc.base import writer
    from pslc.base.errors import user_error

    if path.suffix != ".toml":
        raise user_error(f"{path} does not end in .toml", f"pslc drives new {path}.toml ...")
    lines = [f'{key} = "{value}"' for key, value in answers.items()]
    if cache:
        lines += ["", "[cache]"]
        lines += [
            f"{key} = {value}" if key == "fold_overhead" else f'{key} = "{value}"' for key, value in cache.items()
        ]
    try:
        writer.write(path, "\n".join(lines) + "\n", writer.Replace.NEVER)
    except OSError as error:
        raise user_error(f"{path}: {error.strerror}", "give a file that can be written") from None
    return path


def _forecast(target: "Target") -> "Forecast | None":
    """Forecast of drives with the parts of this one; None: it is not made of parts."""
    from pslc.device.parts import forecast

    return forecast.of_target(target.profile, dict(target.provenance))


def _predict(path: Path, derived: "Derived", verdict: str, as_json: bool) -> None:
    """Simulate a fill of the new drive, and show its curve and what drives with such parts do."""
    from pslc.base import writer
    from pslc.base.errors import PslcError
    from pslc.device.target import find_target
    from pslc.report import drive, recording_view, terminal
    from pslc.runner.run import run

    spec = f"sim:{path}" if "/" in str(path) else f"sim:./{path}"
    try:
        recording = run("fill", on=spec)
    except PslcError:
        writer.remove(path)  # a profile that cannot be used
        raise
    forecast = _forecast(find_target(spec))
    if as_json:
        document = {**recording.document(), "forecast": forecast and asdict(forecast), "log": verdict or None}
        print(json.dumps(document, indent=1))
    else:
        terminal.show(recording_view.of_recording(recording))
        print("\n".join([*(drive.forecast_lines(forecast) if forecast else []), *([verdict] if verdict else [])]))
    assumed = sum("assumed" in how for how in derived.how.values())
    say(
        f"{path}: {len(derived.values)} values follow from the parts, {assumed} of them assumed; "
        f"pslc drives show {spec[4:]}",
        err=True,
    )
