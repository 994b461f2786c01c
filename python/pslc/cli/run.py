"""`pslc run`: a suite or job files on a drive."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pslc.cli import _campaign, _complete, _defaults, _job_arguments, _old_replay, _run_options
from pslc.cli._job_arguments import SETTINGS as SETTINGS
from pslc.cli._replay_options import Addresses, Pace
from pslc.cli._run_options import Outputs

if TYPE_CHECKING:
    from pslc.cli._job_arguments import JobArguments
    from pslc.device.region import Scope
    from pslc.device.target import RealOptions
    from pslc.runner.campaign import CampaignSpec

SUITE = "Suites"
HIDDEN = {"hidden": True}

Quick = Annotated[
    bool, typer.Option("--quick", help="Run the short form, which names what it leaves out", rich_help_panel=SUITE)
]
Region = Annotated[
    str | None,
    typer.Option(metavar="FROM-TO", help="Use only this part of the drive, such as 10GB-50GB", rich_help_panel=SUITE),
]
FillFirst = Annotated[
    str | None, typer.Option(metavar="PERCENT", help="Fill this share of the drive first", rich_help_panel=SUITE)
]
Idle = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Leave the drive idle first for this time, such as 5min", rich_help_panel=SUITE),
]
Budget = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE|TIME",
        help="Limit of bytes or time for the suite twin, such as 400GB or 2h",
        rich_help_panel=SUITE,
    ),
]
Repeat = Annotated[int, typer.Option(min=1, max=100, metavar="N", help="Number of runs", rich_help_panel=SUITE)]
Resume = Annotated[
    Path | None,
    typer.Option(metavar="RUN", help="Resume the interrupted run in this folder", rich_help_panel=SUITE),
]


def command(
    context: typer.Context,
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="SUITE|FILE...",
            help="A suite (pslc suites lists all), all, or fio job files; - reads a job file from stdin",
            autocompletion=_complete.subject,
        ),
    ] = None,
    on: _run_options.On = None,
    seed: Annotated[int, typer.Option(help="Seed of every random choice", min=0, max=2**64 - 1)] = 0,
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
    repeat: Repeat = 1,
    resume: Resume = None,
    policy: _run_options.Policy = None,
    victim_rule: _run_options.VictimRule = None,
    size: _run_options.Size = None,
    reuse: _run_options.Reuse = False,
    overwrite_file: _run_options.OverwriteFile = None,
    destroy_data: _run_options.DestroyData = None,
    wipe_signatures: _run_options.WipeSignatures = False,
    dry_run: _run_options.DryRun = False,
    meter: _run_options.Meter = None,
    yes: _run_options.Yes = False,
    # Until 1.0: options of pslc replay.
    pace: Annotated[Pace | None, typer.Option(**HIDDEN)] = None,
    speed: Annotated[float, typer.Option(min=1e-3, max=1e6, **HIDDEN)] = 1.0,
    fit: Annotated[Addresses, typer.Option(**HIDDEN)] = Addresses.EXACT,
    prefill: Annotated[bool, typer.Option("--prefill", **HIDDEN)] = False,
    what_if: Annotated[bool, typer.Option("--what-if", **HIDDEN)] = False,
    device: Annotated[str | None, typer.Option(**HIDDEN)] = None,
    begin: Annotated[str | None, typer.Option("--from", **HIDDEN)] = None,
    end: Annotated[str | None, typer.Option("--to", **HIDDEN)] = None,
    trace_format: Annotated[str | None, typer.Option("--format", **HIDDEN)] = None,
    columns: Annotated[str | None, typer.Option(**HIDDEN)] = None,
    skip_broken: Annotated[bool, typer.Option("--skip-broken", **HIDDEN)] = False,
) -> None:
    """Run a suite or fio job files on a drive and report the results.

    fio's options override those of every job: --bs=4k --iodepth=1. pslc replay replays traces.
    """
    if resume is None and what:
        on = _defaults.drive(on)
    arguments = _job_arguments.parse(context, what, on, section)
    size_bytes = _size_bytes(arguments, size, on)
    if (readonly or parse_only) and resume is None:
        arguments.check(on, readonly=readonly)
        if parse_only and arguments.subject is not None:
            return
    from pslc.device.target import RealOptions
    from pslc.runner.campaign import CampaignSpec
    from pslc.runner.job_logs import JobLogs
    from pslc.runner.options import RunOptions
    from pslc.traces import Replay, part

    real = RealOptions(size_bytes, reuse, overwrite_file, destroy_data, wipe_signatures)
    scope = _scope(quick, region, fill_first, idle, (budget, arguments.subject))
    old = Replay(
        part(trace_format, columns, skip_broken, device, begin, end),
        pace.value if pace else "original",
        speed,
        None,
        fit.value,
        prefill,
        what_if,
    )
    if resume is not None:
        stated = (arguments.subject, on, policy, victim_rule, arguments.options, scope, save, repeat > 1)
        spec = _unfinished(resume, real, any(stated))
    elif arguments.subject is None or on is None:
        raise arguments.missing(on)
    else:
        governor, rule = _run_options.governors(policy, victim_rule)
        options = RunOptions(
            seed=seed,
            options=arguments.options,
            scope=scope,
            real=real,
            replay=old if old != Replay() else None,
            more=arguments.files,
            sections=arguments.sections,
            layout=not no_layout and not readonly,
            policy=governor,
            victim_rule=rule,
        )
        spec = CampaignSpec(arguments.subject, on, options, repeat)
        _old_replay.warn(context, spec)
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


def _size_bytes(arguments: "JobArguments", size: str | None, on: str | None) -> int | None:
    """Size of a scratch file, where it is stated or follows from the jobs."""
    from pslc.base import units

    if size and arguments.take_size(size, on):
        size = None
    return units.size(size, "--size") if size else arguments.new_file_bytes(on)


def _scope(
    quick: bool, region: str | None, fill_first: str | None, idle: str | None, budget: tuple[str | None, str | None]
) -> "Scope | None":
    """The scope that the options ask for; None if they ask for nothing. `budget`: its text, and the suite it is for."""
    from pslc.base import units
    from pslc.device.region import Scope

    limit, subject = budget
    scope = Scope(
        quick,
        units.region(region, "--region") if region else None,
        units.percent(fill_first, "--fill-first") if fill_first else 0,
        units.seconds(idle, "--idle") if idle else 0.0,
        _job_arguments.budget(limit, subject) if limit else None,
    )
    return scope if scope != Scope() else None


def _unfinished(folder: Path, real: "RealOptions", has_more: bool) -> "CampaignSpec":
    """The rest of an interrupted run, which takes its options from the run."""
    from pslc.base.errors import user_error
    from pslc.runner import campaign

    if has_more:
        raise user_error("--resume takes everything from the interrupted run", f"pslc run --resume {folder}")
    return campaign.unfinished(folder, real)
