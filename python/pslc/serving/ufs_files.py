"""Files about a served drive, as Linux has them of a UFS drive's host controller: its buffer is the simulated cache.

JEDEC JESD220, WriteBooster; Linux, Documentation/ABI/testing/sysfs-driver-ufs. `pslc.device.cache_report` reads them.
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from pslc.base import writer
from pslc.base.errors import TargetError
from pslc.device import sysfs
from pslc.device.cache_report import FREE, SECTOR, TENTHS
from pslc.device.cache_switch import FLAG_TEXTS, FLAGS
from pslc.schema.facts import Facts, ServedStatus

SEGMENT_SECTORS: Final = 8
"""Allocation unit of the buffer: fine enough for the smallest cache."""


SWITCHES: Final = tuple(FLAGS)

Switch = Callable[[bool, bool], None]


class UfsFiles:
    """Files in a folder of their own, which follow a drive while it is served, as the drive follows its switch there.

    Args:
        switch: called with whether the cache is on, and whether it is emptied while idle; None: it has no switch.

    Raises:
        PslcError: the drive has no SLC cache, or the folder holds something else.
        OSError: the folder cannot be made.
    """

    def __init__(self, folder: Path, facts: Facts, status: ServedStatus, switch: Switch | None = None) -> None:
        if not facts["cache_bytes"]:
            raise TargetError("the drive has no SLC cache", "--sysfs shows the cache of a drive that has one")
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise TargetError(f"{folder} is not empty", "give another folder: --sysfs DIR")
        self._folder, self._facts, self._folded = folder, facts, 0
        self._texts: dict[str, str] = {}
        self._switch, self._state = switch, ["1", "1"]
        for name in SWITCHES:
            self._write(name, "1")
            self._write(FLAGS[name], FLAG_TEXTS["1"])
        is_static = bool(facts["static_superblocks"])
        values = {
            "capabilities/write_booster": int(switch is not None),
            "device_descriptor/wb_type": 1,
            "device_descriptor/wb_presv_us_en": 0 if is_static else 1,
            "device_descriptor/wb_shared_alloc_units": _units(status["columns"]["cache_limit_bytes"]),
            "geometry_descriptor/allocation_unit_size": 1,
            "geometry_descriptor/segment_size": SEGMENT_SECTORS,
            "geometry_descriptor/wb_buff_cap_adj": facts["bits_per_cell"],
        }
        for name, value in values.items():
            self._write(name, f"0x{value:08x}")
        self.follow(status)

    def follow(self, status: ServedStatus) -> None:
        """Switch the cache as the files say, and write what has changed.

        Raises:
            OSError: a file cannot be written.
        """
        self._follow_switch()
        columns = status["columns"]
        limit, folded = columns["cache_limit_bytes"], columns["folded_bytes_total"]
        # A superblock that is not erased is used, whatever of it is still valid; the one that is being written is not.
        used = max(columns["slc_valid_bytes"], (columns["slc_superblocks"] - 1) * self._facts["slc_superblock_bytes"])
        free = TENTHS * max(limit - used, 0) // limit if limit else 0
        self._write("attributes/wb_cur_buf", f"0x{_units(limit):08x}")
        self._write(FREE, f"0x{free:08x}")
        self._write("attributes/wb_flush_status", f"0x{int(folded > self._folded):08x}")
        self._folded = folded

    def end(self) -> None:
        """The drive is there no more: no flag of it answers to a switch that is put back later."""
        for name in FLAGS.values():
            with suppress(OSError):
                writer.remove(self._folder / name, writer.Replace.ANY)

    def _follow_switch(self) -> None:
        state = [sysfs.text(self._folder / name) or "" for name in SWITCHES]
        if self._switch is None or state == self._state or not set(state) <= FLAG_TEXTS.keys():
            return
        self._switch(*(text == "1" for text in state))
        self._state = state
        for name, text in zip(SWITCHES, state, strict=True):
            self._write(FLAGS[name], FLAG_TEXTS[text])

    def _write(self, name: str, text: str) -> None:
        if self._texts.get(name) != text:
            path = self._folder / name
            writer.folder(path.parent)
            writer.write(path, f"{text}\n", writer.Replace.ANY)
            self._texts[name] = text


def _units(count: int) -> int:
    return count // (SEGMENT_SECTORS * SECTOR)
