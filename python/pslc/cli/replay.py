"""`pslc replay`: a trace on a drive."""

from enum import StrEnum
from typing import Annotated, Final, Literal

import typer

from pslc.cli import _campaign, _defaults, _run_options, _trace_options
from pslc.cli._run_options import Outputs

MIN_FACTOR: Final = 1e-3
MAX_FACTOR: Final = 1e6
"""Range of the factors of `--pace`: a minute becomes 17 hours, or 60 us."""


class Addresses(StrEnum):
    """Mapping of addresses beyond the end of the drive."""

    EXACT = "exact"
    WRAP = "wrap"
    COMPACT = "compact"
    SCALE = "scale"


def command(
    trace: Annotated[
        str,
        typer.Argument(
            metavar="TRACE", help="Trace file (pslc trace formats lists formats), or a job file that replays one"
        ),
    ],
    on: _run_options.On = None,
    pace: Annotated[
        str,
        typer.Option(
            metavar="original|asap|FACTOR",
            help="original: requests at their own times; 2: twice as fast; asap: as fast as the drive takes them",
        ),
    ] = "original",
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
    device: _trace_options.Device = None,
    begin: _trace_options.Begin = None,
    end: _trace_options.End = None,
    format_name: _trace_options.Format = None,
    columns: _trace_options.Columns = None,
    skip_bad: _trace_options.SkipBad = False,
    save: _run_options.Save = None,
    no_report: _run_options.NoReport = False,
    as_json: _run_options.Json = False,
    output_format: _run_options.Format = None,
    output: _run_options.Output = None,
    policy: _run_options.Policy = None,
    victim_rule: _run_options.VictimRule = None,
    size: Annotated[
        str | None, _run_options.real_option(metavar="SIZE", help="Size of the scratch file, such as 20GB")
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
    from pslc.cli._defaults import DRIVE
    from pslc.device.target import RealOptions
    from pslc.runner.campaign import CampaignSpec
    from pslc.runner.job_logs import JobLogs
    from pslc.runner.options import RunOptions
    from pslc.traces import Replay, part

    on = _defaults.drive(on)
    if on is None:
        raise user_error(f"replaying {trace} needs a drive", f"add --on {DRIVE}; pslc drives lists simulated drives")
    requests = part(format_name, columns, skip_bad, device, begin, end)
    replay = Replay(requests, *_pace(pace), iodepth, addresses.value, prefill, what_if)
    size_bytes = units.size(size, "--size") if size else None
    real = RealOptions(size_bytes, reuse, overwrite_file, destroy_data, wipe_signatures)
    options = RunOptions(replay=replay, real=real, logs=JobLogs(), policy=policy, victim_rule=victim_rule)
    spec = CampaignSpec(trace, on, options, meter=meter)
    formats = _run_options.formats(as_json, output_format)
    outputs = Outputs(folder=save, report=not no_report, formats=formats, file=output, dry_run=dry_run, yes=yes)
    _campaign.execute(spec, outputs)


def _pace(text: str) -> tuple[Literal["original", "asap"], float]:
    """The pace of `--pace`, and the factor by which the recorded times are shortened.

    Raises:
        PslcError: it is no pace.
    """
    from pslc.base.errors import user_error

    match text:
        case "original" | "asap" as name:
            return name, 1.0
    try:
        factor = float(text)
    except ValueError:
        factor = 0.0
    if not MIN_FACTOR <= factor <= MAX_FACTOR:
        raise user_error(
            f"--pace {text} is no pace", f"original, asap, or a factor of {MIN_FACTOR:g} to {MAX_FACTOR:g}"
        )
    return "original", factor
