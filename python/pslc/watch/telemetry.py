"""Telemetry of a drive and its slot while it works, polled so that the drive is never woken.

A question for temperature or SMART is a command to the drive: it leaves a power state for it, and a drive that is asked
often enough never enters one. So it is asked only within a second in which it worked anyway.
"""

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from pslc._native import mounts
from pslc.device import probe
from pslc.schema.facts import Change, FileSystem, HealthJson, Link

TEMPERATURE_EVERY_S: Final = 10.0
SMART_EVERY_S: Final = 600.0


@dataclass
class Asked:
    """A drive of the name `name`, such as nvme0n1; None where no drive is known behind a device.

    Attributes:
        celsius: the latest; None before it was asked, and where it does not tell.
        smart: the first and the latest log, with the seconds since the beginning.
        changes: of link and power state.
    """

    name: str | None
    celsius: float | None = None
    smart: list[tuple[float, HealthJson]] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    state: dict[str, str | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._temperature_at = self._smart_at = -SMART_EVERY_S
        self._disk = probe.SYS / "block" / (self.name or "-")

    def look(self, at_s: float, worked: bool) -> None:
        """Take what can be had now.

        Args:
            worked: the drive did something within the last second, so that a question does not wake it.
        """
        if self.name is None:
            return
        power = probe.power_state(self._disk)
        self._note_change(at_s, "power", power)
        if not worked or at_s < self._temperature_at + TEMPERATURE_EVERY_S:
            return
        self._temperature_at = at_s
        # Reading the link's state wakes a port that sleeps: not asked of one.
        self._note_change(at_s, "link", link_words(probe.link(self._disk)))
        self.celsius = probe.temperature(self.name)
        if at_s >= self._smart_at + SMART_EVERY_S:
            self._smart_at = at_s
            log = probe.smart(self.name, quietly=True)
            if log is not None:
                self.smart[1:] = [(at_s, log)]

    def _note_change(self, at_s: float, what: Literal["link", "power"], now: str | None) -> None:
        before = self.state.get(what)
        if now is not None and before is not None and now != before:
            self.changes.append({"at_s": at_s, "what": what, "from": before, "to": now})
        self.state[what] = now if now is not None else before


def link_words(link: Link) -> str | None:
    """`16.0 GT/s PCIe x4`; None where it is not known."""
    speed, width = link["link_speed"], link["link_width"]
    return f"{speed} x{width}" if speed and width and "nknown" not in speed else None


def file_systems(name: str | None) -> list[FileSystem]:
    """File systems that are mounted from the drive, through any layers. A file system that is mounted in several places
    counts once."""
    systems: dict[str, FileSystem] = {}
    for mount in mounts():
        below = {disk.name for number in probe.devices_of(mount) for disk in probe.stack(number)}
        if mount["number"] not in systems and name in below:
            with suppress(OSError):
                systems[mount["number"]] = probe.file_system_of(mount, Path(mount["point"]))
    return list(systems.values())
