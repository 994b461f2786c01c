"""Options that `pslc run` and `pslc replay` share."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from pslc.cli import _complete
from pslc.cli._output_format import OutputFormat, output_formats
from pslc.schema.cache_setting import CacheSetting

real_option = partial(typer.Option, rich_help_panel="Real drives")

On = Annotated[
    str | None,
    typer.Option(
        metavar="TARGET",
        help="Drive: sim:NAME[,KEY=VALUE...], disk.pslc, a scratch file or a block device",
        autocompletion=_complete.target,
    ),
]
Computer = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Computer around a simulated drive, or none (default: as the suite assumes; pslc drives parts lists all)",
        autocompletion=_complete.computer,
    ),
]
Controller = Annotated[
    str | None,
    typer.Option(metavar="PART", help="Controller (pslc drives parts lists them)", autocompletion=_complete.controller),
]
Workers = Annotated[
    int | None, typer.Option(metavar="N", help="Number of worker processes (default: one per core)", min=1, max=1024)
]
Save = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Save the recording to this folder (default: a new one in runs/)")
]
NoReport = Annotated[bool, typer.Option("--no-report", help="Do not write report.html")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document")]
Format = Annotated[
    str | None,
    typer.Option(
        metavar="FORMAT,...",
        help="Print json, or as fio does: normal, fio (its JSON), json+, terse",
        autocompletion=_complete.output_format,
    ),
]
Output = Annotated[
    Path | None, typer.Option("-o", "--output", metavar="FILE", help="Print to this file (default: stdout)")
]
Size = Annotated[
    str | None,
    real_option(
        metavar="SIZE",
        help="Size of the scratch file, or of every job on a simulated drive, such as 20GB (10^9 bytes; GiB: 2^30)",
    ),
]
Reuse = Annotated[bool, real_option("--reuse", help="Measure on an existing file that pslc wrote last")]
OverwriteFile = Annotated[str | None, real_option(metavar="NAME", help="Measure on this existing file, and lose it")]
DestroyData = Annotated[
    str | None, real_option(metavar="SERIAL", help="Erase the block device with this serial number")
]
WipeSignatures = Annotated[
    bool, real_option("--wipe-signatures", help="Erase it even if it holds file systems or partitions")
]
policy_option = partial(typer.Option, rich_help_panel="Policies in Python")
Policy = Annotated[
    str | None, policy_option("--policy", metavar="FILE.py:CLASS", help="Decide what a full cache does (pslc.Policy)")
]
VictimRule = Annotated[
    str | None, policy_option(metavar="FILE.py:CLASS", help="Choose the superblock to collect next (pslc.VictimRule)")
]
Sysfs = Annotated[
    Path | None, real_option(metavar="DIR", help="Folder that shows the cache as Linux does for a UFS drive")
]
Buffer = Annotated[
    CacheSetting | None, real_option(help="Setting of a UFS drive's SLC buffer during the run (default: as it is)")
]
DryRun = Annotated[bool, real_option("--dry-run", help="Print the plan and stop")]
Meter = Annotated[Path | None, real_option(metavar="LOG", help="CSV log of a power meter, read after the run")]
Yes = Annotated[bool, real_option("--yes", help="Do not ask before data are lost")]


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """Outputs of a run, and the consent that was given for it.

    Attributes:
        folder: folder of the recording; None: a new one in runs/, or none if `formats` are printed.
        is_resumed: whether the folder holds the run that is resumed.
        report: whether the page is written.
        formats: formats that are printed, one after the other; empty: the report as text.
        file: file for the printed formats; None: stdout.
        dry_run: print the plan only.
        yes: do not ask for confirmation.
    """

    folder: Path | None
    is_resumed: bool = False
    report: bool
    formats: list[OutputFormat]
    file: Path | None
    dry_run: bool
    yes: bool


def formats(as_json: bool, text: str | None) -> list[OutputFormat]:
    """The formats that `--json` and `--output-format` ask for."""
    return [OutputFormat.JSON] if as_json else output_formats(text)
