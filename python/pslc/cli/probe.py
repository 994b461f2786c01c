"""`pslc probe`: facts about a real drive and its machine, or about a drive file."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pslc.base.console import say

if TYPE_CHECKING:
    from pslc.schema.facts import InspectedDevice, Moment

TITLES = {
    "bytes": "size", "nvme_ps_max_latency_us": "NVMe power saving, longest wake", "sata_link_power": "SATA link power",
    "pcie_aspm": "PCIe power saving (ASPM)", "smart": "health log", "cpu": "processor",
    "queue_requests": "queue, requests", "virtual": "virtual machine",
}  # fmt: skip
FLAGS = ("rotational", "host_memory_buffer", "virtual")
NONE_AT_ZERO = ("optimal_io_bytes", "discard_bytes")
"""Properties for which Linux reports 0 if the drive has none."""


def command(
    path: Annotated[
        Path,
        typer.Argument(metavar="TARGET", help="Block device, file or folder on a drive, or a drive file (disk.pslc)"),
    ],
    sysfs: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder that shows the cache as Linux does for a UFS drive"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document")] = False,
) -> None:
    """Show facts about a drive and problems that could spoil a measurement (read-only).

    For a drive file: its health log, its data and the state of its cache.
    """
    from pslc.base.errors import user_error
    from pslc.device import condition, probe
    from pslc.device.names import LISTS_DRIVES, is_device
    from pslc.device.target import is_drive
    from pslc.recording import place
    from pslc.recording import warnings as checks
    from pslc.schema.warnings import documented

    if is_drive(path):
        if sysfs is not None:
            raise user_error(f"{path} is simulated, and no kernel shows it", "--sysfs is for real drives")
        _simulated(path, as_json)
        return
    if not is_device(path) and not path.exists():
        from pslc.device.profiles import library

        name = str(path).removeprefix("sim:")
        hint = f"it is a simulated drive: pslc drives show {name}" if name in library() else ""
        raise user_error(f"{path}: no such file or device", hint or LISTS_DRIVES)
    facts = probe.with_sysfs(probe.facts(path), sysfs)
    facts["now"] = probe.moment(facts)
    if len(names := probe.drives(facts)) == 1 and facts["now"]["smart"] is None:
        facts["now"]["without_smart"] = probe.without_health(names[0])
    problems = list(checks.of_the_machine(facts))
    guard = probe.users_and_signatures(path)
    if as_json:
        print(json.dumps(facts | {"guard": guard, "warnings": documented(problems)}, indent=1))
        return
    if facts["file_system"] is not None:
        print(f"place: {place.down(facts)}")
    for title in ("file_system", "device", "host", "power"):
        _show(title, facts[title])
    _show_now(facts["now"])
    if guard is not None:
        _show_guard(guard)
    if fault := condition.fault(facts):
        say(f"warning: {fault.sentence}")
    for problem in problems:
        say(f"warning: {problem}")


def _show_now(now: "Moment") -> None:
    from pslc.device.cache_report import sentence

    why = f"unknown: {now['without_smart']}" if "without_smart" in now else None
    shown = {name: why if value is None else value for name, value in now.items()}
    _show("now", {name: shown[name] for name in shown if name not in ("cache", "without_smart")})
    if (report := now.get("cache")) is not None:
        _show("cache", {"as the drive tells": sentence(report), **report})


def _show_guard(guard: "InspectedDevice") -> None:
    signatures, refusal = guard["signatures"], guard["refusal"]
    unknown = f"unknown: {': '.join(refusal)}" if refusal else None
    holds = unknown if signatures is None else "; ".join(signatures) or "nothing"
    sees_all = not hasattr(os, "geteuid") or os.geteuid() == 0
    nobody = "none" if sees_all else "none (of processes only your own are seen; root sees all)"
    _show("guard", {"users": "; ".join(guard["users"]) or nobody, "holds": holds})


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
        label, shown = _worded(name, value)
        print(f"  {label:24} {shown}")


def _worded(name: str, value: object) -> tuple[str, str]:
    """A fact as a label and words, with units."""
    from pslc.base import words

    label = TITLES.get(name) or name.removesuffix("_bytes").removesuffix("_c").replace("_", " ")
    if value is None:
        return label, "unknown"
    if isinstance(value, bool) or (name in FLAGS and value in (0, 1)):
        return label, "yes" if value else "no"
    if isinstance(value, Mapping):
        return label, _health(value)
    if isinstance(value, int | float):
        if name in NONE_AT_ZERO and not value:
            return label, "none"
        if name.endswith("bytes"):
            return label, words.block(int(value)) if "block" in name else words.size(value)
        if name.endswith("_c"):
            return label, f"{value:.0f} C"
        if name.endswith("_us"):
            return label, words.span(value / 1e6)
    return label, str(value)


def _health(log: Mapping[str, object]) -> str:
    """Health log in a line; pslc probe --json has all of it."""
    from pslc.base import words
    from pslc.device.probe import NVME_DATA_UNIT
    from pslc.schema.health import health

    figures = health(dict(log))
    parts = [f"{figures['percentage_used']} % of its life used"] if "percentage_used" in figures else []
    parts += [f"{figures['available_spare']} % spare"] if "available_spare" in figures else []
    if "data_units_written" in figures:
        parts.append(f"{words.size(figures['data_units_written'] * NVME_DATA_UNIT)} written")
    parts += [f"{figures['media_errors']} media errors"] if "media_errors" in figures else []
    return ", ".join(parts) or "no figures that pslc knows; --json has all of it"
