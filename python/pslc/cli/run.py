"""`pslc run`: a suite or job files on a drive."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pslc.cli import _campaign, _complete, _defaults, _job_arguments, _run_options
from pslc.cli._job_arguments import SETTINGS as SETTINGS
from pslc.cli._run_options import Outputs

if TYPE_CHECKING:
    from pslc.cli._job_arguments import JobArguments
    from pslc.device.region import Scope
    from pslc.device.target import RealOptions
    from pslc.runner.campaign import CampaignSpec

suite_option = partial(typer.Option, rich_help_panel="Suites")

Quick = Annotated[bool, suite_option("--quick", help="Run the short form, which names what it leaves out")]
Region = Annotated[
    str | None, suite_option(metavar="FROM-TO", help="Use only this part of the drive, such as 10GB-50GB")
]
FillFirst = Annotated[str | None, suite_option(metavar="PERCENT", help="Fill this share of the drive first")]
Idle = Annotated[
    str | None, suite_option(metavar="TIME", help="Leave the drive idle first for this time, such as 5min")
]
Budget = Annotated[
    str | None, suite_option(metavar="SIZE|TIME", help="Limit of bytes or time for the suite twin, such as 400GB or 2h")
]
Explains = Annotated[
    Path | None, suite_option(metavar="RUN", help="Recording or log whose explanations the suite check tests")
]
Repeat = Annotated[int, suite_option(min=1, max=100, metavar="N", help="Number of runs")]
Resume = Annotated[Path | None, suite_option(metavar="RUN", help="Resume the interrupted run in this folder")]


def suggestion(words: list[str]) -> str:
    """The command that runs a suite in the place of a command; empty if it is none."""
    from pslc import suites

    return f"it is a suite: pslc run {words[0]} --on {_defaults.DRIVE}" if words[0] in (*suites.names(), "all") else ""


def command(
    context: typer.Context,
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="SUITE|FILE...",
            help="A suite (pslc run --list lists all), all, or fio job files; - reads a job file from stdin",
            autocompletion=_complete.subject,
        ),
    ] = None,
    on: _run_options.On = None,
    computer: _run_options.Computer = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of every random choice", min=0, max=2**64 - 1)] = 0,
    save: _run_options.Save = None,
    no_report: _run_options.NoReport = False,
    as_json: _run_options.Json = False,
    output_format: _run_options.Format = None,
    output: _run_options.Output = None,
    readonly: Annotated[bool, typer.Option("--readonly", help="Refuse jobs that write or trim")] = False,
    parse_only: Annotated[bool, typer.Option("--parse-only", help="Check the job file and stop")] = False,
    section: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Run only this section of the job file, repeatable")
    ] = None,
    no_layout: Annotated[bool, typer.Option("--no-layout", help="Do not first write what the jobs read")] = False,
    logs_to: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for logs of the jobs, such as write_bw_log")
    ] = None,
    quick: Quick = False,
    region: Region = None,
    fill_first: FillFirst = None,
    idle: Idle = None,
    budget: Budget = None,
    explains: Explains = None,
    repeat: Repeat = 1,
    resume: Resume = None,
    policy: _run_options.Policy = None,
    victim_rule: _run_options.VictimRule = None,
    size: _run_options.Size = None,
    reuse: _run_options.Reuse = False,
    overwrite_file: _run_options.OverwriteFile = None,
    destroy_data: _run_options.DestroyData = None,
    wipe_signatures: _run_options.WipeSignatures = False,
    sysfs: _run_options.Sysfs = None,
    buffer: _run_options.Buffer = None,
    dry_run: _run_options.DryRun = False,
    meter: _run_options.Meter = None,
    yes: _run_options.Yes = False,
    listing: Annotated[
        bool, suite_option("--list", help="List the suites, with --on their bytes and time; or describe SUITE")
    ] = False,
    fio: Annotated[bool, suite_option("--fio", help="With --list: print the jobs of SUITE for fio")] = False,
) -> None:
    """Run a suite or fio job files on a drive and report the results.

    fio's options override those of every job: --bs=4k --iodepth=1. pslc replay replays traces.
    """
    if listing:
        _list_suites(what, on, size, quick=quick, fio=fio, as_json=as_json)
        return
    if resume is None and what:
        on = _in_computer(_defaults.drive(on), computer)
    arguments = _job_arguments.parse(context, what, on, section)
    size_bytes = _size_bytes(arguments, size, on)
    if (readonly or parse_only) and resume is None:
        arguments.check(on, readonly=readonly, wipes=wipe_signatures)
        if parse_only and arguments.subject is not None:
            return
    from pslc.device.target import RealOptions
    from pslc.runner.campaign import CampaignSpec
    from pslc.runner.job_logs import JobLogs
    from pslc.runner.options import RunOptions

    real = RealOptions(size_bytes, reuse, overwrite_file, destroy_data, wipe_signatures, sysfs=sysfs, cache=buffer)
    scope = _scope(quick, region, fill_first, idle, (budget, explains, arguments.subject))
    if resume is not None:
        stated = (arguments.subject, on, computer, policy, victim_rule, arguments.options, scope, save, repeat > 1)
        spec = _unfinished(resume, real, any(stated))
    elif arguments.subject is None or on is None:
        raise arguments.missing(on)
    else:
        options = RunOptions(
            seed=seed,
            options=arguments.options,
            scope=scope,
            real=real,
            more=arguments.files,
            sections=arguments.sections,
            layout=not no_layout and not readonly,
            policy=policy,
            victim_rule=victim_rule,
        )
        spec = CampaignSpec(arguments.subject, on, options, repeat)
        _refuse_trace(arguments, on)
    spec = replace(spec, meter=meter, options=replace(spec.options, logs=JobLogs(logs_to)))
    outputs = Outputs(
        folder=resume or save,
        is_resumed=resume is not None,
        report=not no_report,
        formats=_run_options.formats(as_json, output_format),
        file=output,
        dry_run=dry_run,
        yes=yes,
    )
    _campaign.execute(spec, outputs)


def _in_computer(on: str | None, computer: str | None) -> str | None:
    """The target in the computer of `--computer`."""
    if on is None or computer is None:
        return on
    from pslc.device.computers import with_computer

    return with_computer(on, computer)


def _list_suites(name: str | None, on: str | None, size: str | None, *, quick: bool, fio: bool, as_json: bool) -> None:
    """List the suites, or describe one."""
    from pslc.base import units
    from pslc.cli import _suites
    from pslc.device.target import RealOptions, find_target

    target = find_target(on, RealOptions(units.size(size, "--size") if size else None)) if on else None
    if name is None:
        _suites.show_list(target, quick=quick, as_json=as_json)
    else:
        _suites.show(name, target, quick=quick, fio=fio)


def _refuse_trace(arguments: "JobArguments", on: str) -> None:
    """Refuse a trace, which has a command of its own.

    Raises:
        PslcError: the subject is one.
    """
    from pslc import suites
    from pslc.base.errors import user_error
    from pslc.traces import Part, is_trace

    subject = str(arguments.subject)
    if subject in suites.OF_FILES:
        files = [*map(str, arguments.files), "work.trace"]
        raise user_error(f"{subject} is no suite of jobs", f"pslc replay {files[0]} --on {on}")
    if is_trace(Path(subject), Part()):
        raise user_error(f"{subject} is a trace", f"pslc replay {subject} --on {on}")


def _size_bytes(arguments: "JobArguments", size: str | None, on: str | None) -> int | None:
    """Size of a scratch file, where it is stated or follows from the jobs."""
    from pslc.base import units

    if size and arguments.take_size(size, on):
        size = None
    return units.size(size, "--size") if size else arguments.new_file_bytes(on)


def _scope(
    quick: bool,
    region: str | None,
    fill_first: str | None,
    idle: str | None,
    of_one: tuple[str | None, Path | None, str | None],
) -> "Scope | None":
    """The scope that the options ask for; None if they ask for nothing. `of_one`: `--budget`, `--explains`, and the
    suite."""
    from pslc.base import units
    from pslc.device.region import Scope

    limit, explained, subject = of_one
    scope = Scope(
        quick,
        units.region(region, "--region") if region else None,
        units.percent(fill_first, "--fill-first") if fill_first else 0,
        units.seconds(idle, "--idle") if idle else 0.0,
        _job_arguments.budget(limit, subject) if limit else None,
        _job_arguments.explained(explained, subject) if explained else (),
    )
    return scope if scope != Scope() else None


def _unfinished(folder: Path, real: "RealOptions", has_more: bool) -> "CampaignSpec":
    """The rest of an interrupted run, which takes its options from the run."""
    from pslc.base.errors import user_error
    from pslc.runner import campaign

    if has_more:
        raise user_error("--resume takes everything from the interrupted run", f"pslc run --resume {folder}")
    return campaign.unfinished(folder, real)
