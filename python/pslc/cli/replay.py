"""`pslc replay`: a trace on a drive."""

from typing import Annotated

import typer

from pslc.cli import _campaign, _defaults, _run_options
from pslc.cli._replay_options import Addresses, Pace
from pslc.cli._run_options import Outputs

PART = "Part of the trace"


def command(
    trace: Annotated[
        str,
        typer.Argument(
            metavar="TRACE", help="Trace file (pslc trace formats lists formats), or a job file that replays one"
        ),
    ],
    on: _run_options.On = None,
    pace: Annotated[
        Pace, typer.Option(help="original: requests at their own times; asap: as fast as the drive takes them")
    ] = Pace.ORIGINAL,
    speed: Annotated[
        float, typer.Option(min=1e-3, max=1e6, metavar="FACTOR", help="Replay speed: 2 is twice as fast as recorded")
    ] = 1.0,
    iodepth: Annotated[
        int | None,
        typer.Option(
            min=1, max=65536, metavar="N", help="Most requests in flight (default: 1024, or 32 with --pace asap)"
        ),
    ] = None,
    addresses: Annotated[
        Addresses,
        typer.Option(
            help="Past the end of the drive: refuse (exact), start at 0 (wrap), pack (compact) or shrink all (scale)"
        ),
    ] = Addresses.EXACT,
    prefill: Annotated[bool, typer.Option("--prefill", help="First write the data that the trace reads")] = False,
    what_if: Annotated[
        bool, typer.Option("--what-if", help="Also replay without a cache, with all pSLC, and with just enough cache")
    ] = False,
    device: Annotated[
        str | None, typer.Option(metavar="NAME", help="Take only this device of the trace", rich_help_panel=PART)
    ] = None,
    begin: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help="Start here, such as 10min", rich_help_panel=PART)
    ] = None,
    end: Annotated[
        str | None, typer.Option("--to", metavar="TIME", help="End before this, such as 2h", rich_help_panel=PART)
    ] = None,
    trace_format: Annotated[
        str | None,
        typer.Option("--format", metavar="NAME", help="Trace format (default: detected)", rich_help_panel=PART),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="KEY=COLUMN[:UNIT],...", help="Columns of a table, such as time=ts:us,op=kind", rich_help_panel=PART
        ),
    ] = None,
    skip_bad: Annotated[
        bool,
        typer.Option("--skip-bad", help="Leave out lines that cannot be read", rich_help_panel=PART),
    ] = False,
    save: _run_options.Save = None,
    no_report: _run_options.NoReport = False,
    as_json: _run_options.Json = False,
    output_format: _run_options.Format = None,
    output: _run_options.Output = None,
    policy: _run_options.Policy = None,
    victim_rule: _run_options.VictimRule = None,
    size: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Size of the scratch file, such as 20GB", rich_help_panel=_run_options.REAL),
    ] = None,
    reuse: _run_options.Reuse = False,
    overwrite_file: _run_options.OverwriteFile = None,
    destroy_data: _run_options.DestroyData = None,
    wipe_signatures: _run_options.WipeSignatures = False,
    dry_run: _run_options.DryRun = False,
    meter: _run_options.Meter = None,
    yes: _run_options.Yes = False,
) -> None:
    """Replay a trace of I/O requests on a drive: how full the cache gets, which requests are slow, and why."""
    from pslc.base import units
    from pslc.base.errors import user_error
    from pslc.cli._usage_errors import DRIVE
    from pslc.device.target import RealOptions
    from pslc.runner.campaign import CampaignSpec
    from pslc.runner.job_logs import JobLogs
    from pslc.runner.options import RunOptions
    from pslc.traces import Replay, part

    on = _defaults.drive(on)
    if on is None:
        raise user_error(f"replaying {trace} needs a drive", f"add --on {DRIVE}; pslc drives lists simulated drives")
    requests = part(trace_format, columns, skip_bad, device, begin, end)
    replay = Replay(requests, pace.value, speed, iodepth, addresses.value, prefill, what_if)
    size_bytes = units.size(size, "--size") if size else None
    real = RealOptions(size_bytes, reuse, overwrite_file, destroy_data, wipe_signatures)
    governor, rule = _run_options.governors(policy, victim_rule)
    options = RunOptions(replay=replay, real=real, logs=JobLogs(), policy=governor, victim_rule=rule)
    spec = CampaignSpec(trace, on, options, meter=meter)
    formats = _run_options.formats(as_json, output_format)
    outputs = Outputs(folder=save, report=not no_report, formats=formats, file=output, dry_run=dry_run, yes=yes)
    _campaign.execute(spec, outputs)
