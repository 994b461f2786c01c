"""`pslc run`: a suite or a job file on a drive."""

import contextlib
import io
import json
import signal
import sys
from dataclasses import replace
from enum import StrEnum
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pslc.base.console import say
from pslc.cli import _complete, _recording_folder, _usage_errors
from pslc.cli._output_format import OutputFormat

if TYPE_CHECKING:
    from pslc.base.errors import PslcError
    from pslc.cli._progress import Bar
    from pslc.device.region import Budget
    from pslc.recording.store import Recording
    from pslc.runner.campaign import Order
    from pslc.runner.plan import Plan

REAL = "Real drives"
INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""A kill that can be heard ends a run as Ctrl-C does: what was measured is kept."""
UNLIMITED_BYTES = 1 << 60
"""Capacity of a drive that is not named, where jobs are only read."""
FILE_UNIT_BYTES = 4096
"""Scratch files are whole pages."""
COMMAND_LINE = "--name"
"""In place of a suite or a job file: options alone tell the jobs (`job_file.COMMAND_LINE`)."""
SUITE = "Suites"
TRACE = "Traces"
SETTINGS = {"allow_extra_args": True, "ignore_unknown_options": True}


class Pace(StrEnum):
    """When the requests of a trace are made."""

    ORIGINAL = "original"
    ASAP = "asap"


class Fit(StrEnum):
    """What is done with addresses past the end of the drive."""

    EXACT = "exact"
    WRAP = "wrap"
    COMPACT = "compact"
    SCALE = "scale"


def command(  # noqa: C901 to be split into what is run: a suite, a job file, a trace
    context: typer.Context,
    what: Annotated[
        str | None,
        typer.Argument(
            help="A suite (pslc suites), all, fio job files, or a trace.",
            metavar="SUITE|FILE...",
            autocompletion=_complete.what,
        ),
    ] = None,
    on: Annotated[
        str | None,
        typer.Option(
            help="The drive: sim:NAME[,key=value...], disk.pslc, a scratch file, or a block device.", metavar="TARGET"
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of every random choice.", min=0, max=2**64 - 1)] = 0,
    save: Annotated[Path | None, typer.Option(help="Folder for the recording.", metavar="DIR")] = None,
    no_report: Annotated[bool, typer.Option("--no-report", help="Write no report.html.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON document on stdout, nothing else.")] = False,
    output_format: Annotated[
        str | None,
        typer.Option(
            help="json: pslc's; as fio prints: normal, fio (its JSON), json+, terse; or several: terse,json+",
            metavar="FORMAT,...",
            autocompletion=_complete.output_format,
        ),
    ] = None,
    readonly: Annotated[bool, typer.Option("--readonly", help="Refuse jobs that write or trim.")] = False,
    parse_only: Annotated[bool, typer.Option("--parse-only", help="Check the job file and stop.")] = False,
    section: Annotated[
        list[str] | None, typer.Option(help="Run only this section of the job file; may be repeated.", metavar="NAME")
    ] = None,
    output: Annotated[Path | None, typer.Option(help="Print to this file, not to stdout.", metavar="FILE")] = None,
    no_layout: Annotated[bool, typer.Option("--no-layout", help="Do not write first what the jobs read.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="A shorter run; it says what it leaves out.", rich_help_panel=SUITE)
    ] = False,
    region: Annotated[
        str | None, typer.Option(help="Use only this part of the drive.", metavar="10GB-50GB", rich_help_panel=SUITE)
    ] = None,
    fill_first: Annotated[
        str | None, typer.Option(help="Fill that much of the drive first.", metavar="50%", rich_help_panel=SUITE)
    ] = None,
    idle: Annotated[
        str | None, typer.Option(help="Leave the drive alone for so long first.", metavar="5min", rich_help_panel=SUITE)
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            help="The most that the suite twin may write, or take: 400GB or 2h.",
            metavar="SIZE|TIME",
            rich_help_panel=SUITE,
        ),
    ] = None,
    repeat: Annotated[int, typer.Option(help="How many times to run it.", min=1, max=100, rich_help_panel=SUITE)] = 1,
    logs_to: Annotated[
        Path | None,
        typer.Option(
            "--logs-to", help="Folder for the logs that jobs ask for (write_bw_log and its kin).", metavar="DIR"
        ),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(help="Go on with the interrupted run in this folder.", metavar="RUN", rich_help_panel=SUITE),
    ] = None,
    pace: Annotated[
        Pace | None,
        typer.Option(
            help="original: each request at its own time; asap: as soon as there is room.", rich_help_panel=TRACE
        ),
    ] = None,
    speed: Annotated[
        float, typer.Option(help="Replay it so many times as fast.", min=1e-3, max=1e6, rich_help_panel=TRACE)
    ] = 1.0,
    fit: Annotated[
        Fit,
        typer.Option(
            help="Addresses past the end of the drive: refuse them (exact), or move them.", rich_help_panel=TRACE
        ),
    ] = Fit.EXACT,
    prefill: Annotated[
        bool, typer.Option("--prefill", help="First write what the trace reads.", rich_help_panel=TRACE)
    ] = False,
    what_if: Annotated[
        bool,
        typer.Option(
            "--what-if", help="Also with other caches: none, all of the drive, just enough.", rich_help_panel=TRACE
        ),
    ] = False,
    device: Annotated[str | None, typer.Option(help="Only this device of the trace.", rich_help_panel=TRACE)] = None,
    begin: Annotated[
        str | None,
        typer.Option("--from", help="Only what comes from here on.", metavar="10min", rich_help_panel=TRACE),
    ] = None,
    end: Annotated[
        str | None, typer.Option("--to", help="Only what comes before this.", metavar="2h", rich_help_panel=TRACE)
    ] = None,
    trace_format: Annotated[
        str | None, typer.Option("--format", help="Format of the trace; found out without it.", rich_help_panel=TRACE)
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(help="Which column of a table is what.", metavar="time=ts:us,op=kind,...", rich_help_panel=TRACE),
    ] = None,
    skip_broken: Annotated[
        bool, typer.Option("--skip-broken", help="Leave out lines that cannot be read.", rich_help_panel=TRACE)
    ] = False,
    size: Annotated[
        str | None,
        typer.Option(
            help="Size of the scratch file; on a simulated drive fio's size of every job.",
            metavar="20GB",
            rich_help_panel=REAL,
        ),
    ] = None,
    reuse: Annotated[
        bool, typer.Option("--reuse", help="Measure on a file that is there, and overwrite it.", rich_help_panel=REAL)
    ] = False,
    overwrite_file: Annotated[
        str | None,
        typer.Option(help="The name of that file, if pslc did not make it.", metavar="NAME", rich_help_panel=REAL),
    ] = None,
    destroy_data: Annotated[
        str | None,
        typer.Option(help="Erase the block device with this serial number.", metavar="SERIAL", rich_help_panel=REAL),
    ] = None,
    wipe_signatures: Annotated[
        bool,
        typer.Option(
            "--wipe-signatures", help="Erase it even if it holds file systems or partitions.", rich_help_panel=REAL
        ),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and stop.", rich_help_panel=REAL)] = False,
    meter: Annotated[
        Path | None,
        typer.Option(help="The CSV log of a power meter, read at the end.", metavar="LOG", rich_help_panel=REAL),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask before anything is lost.", rich_help_panel=REAL)
    ] = False,
) -> None:
    """Run a suite, fio job files or a trace on a drive and say what came of it; - is a job file from stdin.

    fio's options override those of every job: --bs=4k --iodepth=1. The recording goes to a folder of its own under
    runs/, or to --save; with --json or --output-format=fio only to --save.
    """
    from pslc.base import units
    from pslc.base.errors import user_error
    from pslc.base.output_dirs import new_folder
    from pslc.device.region import Scope
    from pslc.device.target import RealOptions
    from pslc.runner import campaign
    from pslc.runner.job_logs import JobLogs
    from pslc.traces import Replay, part

    words = context.args
    if what is not None and what.startswith("--"):
        # The parser takes the first option that is fio's for what is to be run.
        words = [what, *words]
        what = next((word for word in words if not word.startswith("-")), None)
        if what is not None:
            words.remove(what)
    files, options = _words(context, words, what, on, section or [])
    if what is None and any(name == "name" for name, _ in options):
        what = COMMAND_LINE
    if size and what is not None and _is_of_jobs(what, on, options):
        options, size = [*options, ("size", size)], None
    new_bytes = None
    if what == COMMAND_LINE and on is not None and not on.startswith("sim:") and not Path(on).exists():
        new_bytes = _file_bytes(options, on)
    if (readonly or parse_only) and resume is None and what is not None:
        _check_jobs(what, files, section or [], options, on, readonly)
        if parse_only:
            return
    how = Replay(
        part(trace_format, columns, skip_broken, device, begin, end),
        pace.value if pace else "original",
        speed,
        None,
        fit.value,
        prefill,
        what_if,
    )
    real = RealOptions(
        units.size(size, "--size") if size else new_bytes, reuse, overwrite_file, destroy_data, wipe_signatures
    )
    scope = Scope(
        quick,
        units.region(region, "--region") if region else None,
        units.percent(fill_first, "--fill-first") if fill_first else 0,
        units.seconds(idle, "--idle") if idle else 0.0,
        _budget(budget, what) if budget else None,
    )
    if resume is not None:
        if what or on or options or scope != Scope() or save or repeat > 1:
            raise user_error("--resume goes on with a run as it was begun", f"pslc run --resume {resume}, and no more")
        order = replace(campaign.unfinished(resume, real), meter=meter)
    elif what is None or on is None:
        raise _unsaid([what, *files] if what else [], on)
    else:
        order = campaign.Order(
            what,
            on,
            seed,
            options,
            scope,
            real,
            repeat,
            meter,
            how,
            (),
            files,
            section or [],
            not no_layout and not readonly,
        )
    order = replace(order, logs=JobLogs(logs_to))
    if dry_run and order.on.startswith("sim:"):
        costs = f"pslc suites --on {order.on} says what each suite takes"
        raise user_error(f"{order.on} is simulated, and has nothing to lose: there is no plan to print", costs)
    if output is not None:
        _look(output)
    if meter is not None and not meter.is_file():
        raise user_error(f"{meter} is not a file", "start the meter's log before the run")
    formats = [OutputFormat.JSON] if as_json else _formats(output_format)
    wanted = resume or save
    if wanted is None and not formats and not dry_run:
        wanted = new_folder(_slug(order))
    if wanted is not None and resume is None:
        _recording_folder.check(wanted)
    failed: list[str] = []
    recordings = _run(order, wanted, dry_run, yes, failed)
    if not recordings:
        raise user_error(
            f"every suite failed: {'; '.join(failed)}", "the first of them alone says more: pslc run SUITE"
        )
    kept = _recording_folder.saved(order, recordings, wanted, report=not no_report) if wanted is not None else None
    folder = kept.folder if kept else None
    whole = _write_logs(order) and (kept is None or kept.whole)
    whole = _shown(order, recordings, formats, output) and whole
    if folder is not None:
        where = "" if no_report else f", pictures: {folder / 'report.html'}"
        say(f"recording: {folder}{where}", err=True)
    _end(order, recordings, folder, failed)
    if folder != wanted or not whole:
        raise typer.Exit(_recording_folder.ELSEWHERE)


def _look(output: Path) -> None:
    """Whether `--output` can be written, before the run.

    Raises:
        PslcError: it cannot.
    """
    from pslc.base import writer
    from pslc.base.errors import user_error

    try:
        writer.check(output, writer.Replace.ANY)
    except OSError as error:
        raise user_error(f"{output}: {error.strerror}", "give --output a file that can be written") from None


def _write_logs(order: "Order") -> bool:
    """Behind the recording, which is the dearer; whether all of them could be written."""
    if order.logs is None:
        return True
    failed = order.logs.write()
    for sentence in failed:
        say(f"warning: {sentence}", err=True)
    return not failed


def _shown(order: "Order", recordings: "list[Recording]", formats: list[OutputFormat], output: Path | None) -> bool:
    """Show what came of it; whether it could be put where it was wanted."""
    from pslc.base.errors import GuardError

    if output is None:
        _show(order, recordings, formats, output)
        return True
    try:
        _show(order, recordings, formats, output)
    except (OSError, GuardError) as error:
        why = error.message if isinstance(error, GuardError) else f"{output}: {error.strerror or error}"
        say(f"warning: what was to be printed is not written: {why}", err=True)
        return False
    return True


def _words(
    context: typer.Context, words: list[str], what: str | None, on: str | None, sections: list[str]
) -> tuple[list[str], list[tuple[str, str]]]:
    """What no option of ours has taken: further job files, and fio's options.

    Raises:
        PslcError: it is neither, or nothing that a suite takes.
    """
    from pslc import suites
    from pslc.base.errors import user_error
    from pslc.runner import campaign

    files = [word for word in words if not word.startswith("--")]
    if short := next((word for word in files if word.startswith("-") and word != "-"), None):
        keeps = "--save DIR keeps the recording, --output FILE what is printed"
        raise user_error(f"run has no option {short}", keeps if short == "-o" else "pslc run --help lists them")
    if what == campaign.ALL and (files or sections):
        extra = [*files, *sections][0]
        raise user_error(f"all is every suite, and takes no {extra}", "several files and --section are for job files")
    if on is not None and what in suites.names():
        _astray(words, on)
    own = [name.lstrip("-") for of in context.command.params for name in of.opts]
    return files, _overrides([word for word in words if word.startswith("--")], own)


def _slug(order: "Order") -> str:
    """What a folder's name says of the run."""
    from pslc import suites
    from pslc.device.target import name_in

    first = order.more[0] if order.what in suites.OF_FILES and order.more else order.what
    if first == COMMAND_LINE:
        first = next(value for name, value in order.options if name == "name")
    named = "stdin" if first == "-" else Path(first).stem
    return f"{named}-{Path(name_in(order.on)).stem}"


def _end(order: "Order", recordings: "list[Recording]", folder: Path | None, failed: list[str]) -> None:
    """What ended early, or did not run at all, as an error or an exit.

    Raises:
        PslcError: a job or a suite failed.
        Exit: it was interrupted.
    """
    from pslc.base import words
    from pslc.base.errors import user_error
    from pslc.runner import campaign

    last = recordings[-1]
    if order.what == campaign.ALL:
        failed += [f"{of.suite}: {of.error}" for of in recordings if of.error]
    elif last.error:
        raise user_error(f"the run ended early: {last.error}", _next_step(last.error, folder))
    if last.interrupted:
        kept = f"; what was recorded is in {folder}" if folder else ""
        more = (
            f"\nto go on: pslc run --resume {folder}" if folder and (last.steps or order.what == campaign.ALL) else ""
        )
        say(f"interrupted after {words.span(last.drive_time_s)} of drive time{kept}{more}", err=True)
        raise typer.Exit(130)
    if failed:
        hint = f"once it is mended, pslc run --resume {folder}" if folder else "run it alone to see more"
        raise user_error(f"{len(failed)} of {len(order.runs)} suites failed: {'; '.join(failed)}", hint)


def _unsaid(words: list[str], on: str | None) -> "PslcError":
    """What is missing of a suite and a drive to run it on."""
    from pslc.base.errors import user_error
    from pslc.device.profiles import library

    if on is not None:
        return user_error(f"what shall be run on {on}?", f"pslc run fill --on {on}; pslc suites lists the others")
    drives = [word for word in words if word.startswith(("sim:", "/dev/")) or word in library()]
    others = [word for word in words if word not in drives]
    first = others[0] if others else "fill"
    if drives:
        spec = f"sim:{drives[0]}" if drives[0] in library() else drives[0]
        return user_error(f"{drives[0]} is a drive, and a drive is given by --on", f"pslc run {first} --on {spec}")
    hint = f"pslc run {first} --on {_usage_errors.DRIVE}; pslc drives lists the others"
    return user_error(f"on which drive shall {first} be run?" if words else "what shall be run on which drive?", hint)


def _astray(words: list[str], on: str) -> None:
    """A suite takes no word of its own: one belongs to the option before it, or to the drive.

    Raises:
        PslcError: there is one.
    """
    from pslc.base.errors import user_error

    for before, word in pairwise(["", *words]):
        if word.startswith("--"):
            continue
        if before.startswith("--") and "=" not in before:
            raise user_error(f"{before} {word} is two words", f"fio's options are one: {before}={word}")
        if "=" in word:
            raise user_error(f"{word} stands alone", f"keys of a drive follow its name: --on {on},{word}")


def _run(order: "Order", folder: Path | None, dry_run: bool, yes: bool, failed: list[str]) -> "list[Recording]":
    from pslc.base.errors import PslcError
    from pslc.cli._progress import Bar
    from pslc.runner import campaign
    from pslc.runner.run import DeclinedError

    with Bar(order.what) as bar:

        def interrupt(*_: object) -> None:
            bar.interrupt()
            # One is enough: what follows puts the recording away, to the end of the process.
            for heard in INTERRUPTS:
                signal.signal(heard, signal.SIG_IGN)

        def fail(suite: str, error: Exception) -> None:
            said = error.message if isinstance(error, PslcError) else str(error)
            failed.append(f"{suite}: {said or type(error).__name__}")
            bar.tell(f"failed: {failed[-1]}")

        for heard in INTERRUPTS:
            signal.signal(heard, interrupt)
        try:
            return campaign.run(
                order,
                progress=bar,
                confirm=partial(_confirm, bar, dry_run, yes),
                keep=_recording_folder.RunKeeper(order, folder, bar.tell) if folder else None,
                tell=bar.tell,
                fail=fail,
            )
        except DeclinedError:
            raise typer.Exit(0 if dry_run else 2) from None


def _next_step(error: str, folder: Path | None) -> str:
    if "nothing was ever written" in error:
        return (
            "let a job write it first (rw=write, then stonewall), leave --no-layout out, or measure on a file with "
            "data: --reuse; a trace has --prefill"
        )
    if "No space left" in error:
        return "the drive is full: free some of it, or give a smaller --size"
    return f"what was recorded until then is in {folder}" if folder else "--save DIR keeps what was recorded until then"


def _confirm(bar: "Bar", dry_run: bool, yes: bool, plan: "Plan") -> bool:
    """Say what is going to happen, and ask where there is somebody to answer. A file that pslc did not make is lost
    only for a word of its own, whatever --yes says; a run of days is begun only if somebody said yes."""
    from pslc.base.errors import GuardError, JobError

    bar.pause()
    for sentence in plan.sentences:
        say(f"plan: {sentence}", err=not dry_run)
    if plan.fio:
        say(f"plan: as fio: {plan.fio}", err=not dry_run)
    if dry_run:
        return False
    asked = sys.stdin is not None and sys.stdin.isatty()
    if plan.overwrites is not None:
        name = Path(plan.overwrites["path"]).name
        if yes or not asked:
            raise GuardError(f"pslc did not make {name}, and would overwrite it",
                          f"if it may be lost: --reuse --overwrite-file {name}; nothing was written")  # fmt: skip
        answer = typer.prompt(f'Type "yes" to lose what is in {name}', default="no", show_default=False, err=True)
        wanted = bool(answer == "yes")
    else:
        if plan.takes_days and not yes and not asked:
            raise JobError(
                "the run takes days, and there is nobody to ask", "--yes, if that is meant; --runtime=1h ends it"
            )
        wanted = yes or not asked or typer.confirm("Go on?", err=True)
    bar.resume()
    return wanted


def _budget(text: str, what: str | None) -> "Budget":
    from pslc.base import units
    from pslc.base.errors import PslcError, user_error
    from pslc.device.region import Budget

    if what != "twin":
        raise user_error("--budget is for the suite twin", "pslc run twin --budget 400GB")
    if text.rstrip().endswith(("B",)):
        return Budget(bytes=units.size(text, "--budget"))
    try:
        return Budget(seconds=units.seconds(text, "--budget"))
    except PslcError:
        raise user_error(f'--budget is "{text}", neither a size nor a time', "such as 400GB or 2h") from None


def _overrides(extra: list[str], own: list[str]) -> list[tuple[str, str]]:
    """fio options given as `--name=value`, or as `--name` for a flag; what is nearly one of our `own` is a slip."""
    from pslc.base.errors import closest_match, user_error

    pairs = []
    for word in extra:
        name, _, value = word.removeprefix("--").partition("=")
        if not name:
            raise user_error(f'"{word}" is no option', "fio options are given as --bs=4k")
        meant = closest_match(name, own)
        if meant is not None:
            raise user_error(f"unknown option --{name}", f"did you mean --{meant}? pslc run --help lists them all")
        pairs.append((name, value))
    return pairs


def _formats(text: str | None) -> list[OutputFormat]:
    """The words of `--output-format`, each once.

    Raises:
        PslcError: one of them is unknown.
    """
    from pslc.base.errors import user_error

    known = {one.value: one for one in OutputFormat}
    words = [word.strip() for word in text.split(",")] if text is not None else []
    for word in words:
        if word not in known:
            raise user_error(f'--output-format is "{word}"', f"one of {', '.join(known)}, or several: terse,json+")
    return [known[word] for word in dict.fromkeys(words)]


def _is_of_jobs(what: str, on: str | None, options: list[tuple[str, str]]) -> bool:
    """Whether `--size` is the option of fio's jobs: of options that alone tell the jobs, and on a simulated drive,
    which has a size of its own.

    Raises:
        PslcError: there are several jobs, and it is not known of which one.
    """
    from pslc import suites
    from pslc.base.errors import user_error
    from pslc.device.target import is_drive

    if what != COMMAND_LINE:
        simulated = on is not None and (on.startswith("sim:") or is_drive(Path(on)))
        return simulated and what not in (*suites.names(), "all")
    if sum(name == "name" for name, _ in options) > 1:
        raise user_error("--size beside several --name is of one of them, or of all", "a job file says of which")
    return True


def _file_bytes(options: list[tuple[str, str]], on: str) -> int:
    """How large a new file has to be for jobs that options alone tell.

    Raises:
        PslcError: they do not say.
    """
    from pslc._native import plan_jobs
    from pslc.base.errors import user_error
    from pslc.runner import job_file

    text = job_file.text_of(options)
    end = plan_jobs(text, job_file.SOURCES[COMMAND_LINE], [], UNLIMITED_BYTES)["end_bytes"]
    if end >= UNLIMITED_BYTES:
        raise user_error(f"{on}: how large may the scratch file be?", "--size=1g; it is removed at the end")
    return -(-end // FILE_UNIT_BYTES) * FILE_UNIT_BYTES


def _check_jobs(
    what: str, files: list[str], sections: list[str], options: list[tuple[str, str]], on: str | None, readonly: bool
) -> None:
    """Read the jobs as a run would.

    Raises:
        PslcError: they cannot be run, are no jobs, or, where they may only read, one of them writes.
    """
    from pslc import suites
    from pslc._native import plan_jobs
    from pslc.base.errors import user_error
    from pslc.device.target import RealOptions, find_target
    from pslc.runner import job_file

    if what in (*suites.names(), "all"):
        raise user_error(f"{what} is a suite", "--readonly and --parse-only are for job files")
    if what == COMMAND_LINE:
        text, options = job_file.of_command_line(options, files, sections), []
    else:
        text, options = job_file.read([what, *files], sections), job_file.with_patterns(options)
    simulated = on is not None and on.startswith("sim:")
    capacity = find_target(on, RealOptions()).capacity_bytes if on is not None and simulated else UNLIMITED_BYTES
    plan_jobs(text, job_file.SOURCES.get(what, what), options, capacity, simulated)
    if readonly and (name := job_file.writing(text, options)):
        raise user_error(f"job {name} writes or trims, and --readonly forbids it", "leave --readonly out, or rw=read")


def _show(order: "Order", recordings: "list[Recording]", formats: list[OutputFormat], output: Path | None) -> None:
    """What came of it, to stdout or a file; notes to stderr where they are not in what is printed."""
    # Who sees both streams reads them in what is printed.
    if formats or output is not None or not sys.stdout.isatty():
        for note in dict.fromkeys(note for recording in recordings for note in recording.notes):
            say(f"note: {note}", err=True)
    wanted: list[OutputFormat | None] = [*formats] or [None]
    with contextlib.ExitStack() as stack:
        printed = stack.enter_context(contextlib.redirect_stdout(io.StringIO())) if output is not None else None
        for output_format in wanted:
            _print(order, recordings, output_format)
    if output is not None and printed is not None:
        from pslc.base import writer

        writer.write(output, printed.getvalue(), writer.Replace.ANY)


def _print(order: "Order", recordings: "list[Recording]", output_format: OutputFormat | None) -> None:
    documents = recordings if order.what == "all" else recordings[:1]
    if output_format is OutputFormat.JSON:
        found = [recording.document() for recording in documents]
        print(json.dumps(found if order.what == "all" else found[0], indent=1))
    elif output_format in (OutputFormat.FIO, OutputFormat.JSON_PLUS):
        from pslc.report import fio

        print(json.dumps(fio.document(documents[0], output_format is OutputFormat.JSON_PLUS), indent=2))
    elif output_format is OutputFormat.TERSE:
        from pslc.report import fio_terse

        print("\n".join(fio_terse.lines(documents[0])))
    elif output_format is OutputFormat.NORMAL:
        from pslc.report import fio_normal

        print("\n".join(fio_normal.lines(documents[0])))
    else:
        from pslc.report import recording_view, terminal

        if order.what == "all":
            terminal.show_all([recording_view.of_recording(recording) for recording in documents])
        else:
            terminal.show(recording_view.of_recording(documents[0]))
