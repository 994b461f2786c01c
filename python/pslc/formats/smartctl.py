"""Output of smartctl (smartmontools), text or JSON: NVMe's health log, or the wear and the bytes written of an ATA or
SCSI drive, under NVMe's names. An ATA attribute is identified by its name, which smartctl takes from its table of
drives: its number means different things with different makers."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from pslc.base import gate, words
from pslc.base.errors import RecordingError
from pslc.base.files import Json
from pslc.formats import FILE, About, FileContents, only, text, undamaged
from pslc.formats._ata_wear import MAX_BYTES_PER_HOUR, Attribute, average_erases, wear
from pslc.schema.facts import HealthJson
from pslc.schema.health import SMARTCTL, in_our_names
from pslc.schema.imports import ImportOptions

ABOUT: Final = About(
    program="smartctl",
    what="text and JSON, NVMe, ATA and SCSI",
    content="health: wear, bytes written, spare, errors, whether the drive says FAILED",
    command="sudo smartctl -x /dev/sda",
    gives="health",
)
UNIT_BYTES: Final = 512_000
"""Size of NVMe's data units, in bytes."""
MAX_BITS: Final = 128
"""Length of the longest number of a health log, in bits."""
FAILED: Final = 4
"""Bit of NVMe's critical warnings: the drive is not reliable."""
UNITS: Final = {"512 B": 512.0, "32 MiB": 32.0 * 2**20, "1 GiB": 2.0**30}
"""Units in which drives count what was written."""
LBAS: Final = "total_lbas_written"
UNITS_OF_NAMES: Final = (
    (re.compile(r"_32mib$"), 32.0 * 2**20), (re.compile(r"_1?gib(?:_|$)"), 2.0**30), (re.compile(r"_mib$"), 2.0**20),
    (re.compile(r"_gb(?:_|$)"), 1e9), (re.compile(r"lba|sector"), 512.0),
)  # fmt: skip
"""Bytes of one of the raw value of an attribute that counts writes, by the end of its name in smartctl's table."""
PAGES: Final = ("host_program_page_count", ("ftl_program_page_count", "bckgnd_program_page_cnt"))
"""Pages programmed for the host, and those for the drive's own work, as Micron's drives count them."""
HOURS: Final = "power_on_hours"
MAX_WRITTEN_RATIO: Final = 1.5
"""Bytes of the host over those that the erased blocks hold, at the most: cells take what the host writes, or more."""
MIN_BYTES_PER_HOUR: Final = 1e6
"""Fewest bytes that a drive in use is believed to write in an hour."""
ERRORS: Final = ("reported_uncorrect", "uncorrectable_error_cnt", "uncorrectable_error_count")
ATTRIBUTE = re.compile(
    r"\s*(?P<id>\d{1,3}) (?P<name>[\w%/-]+)\s+(?:0x[0-9a-f]{4}|[POSRCK+-]{6})\s+(?P<value>\d{1,3}|---)\s+"
    r"(?:\d{1,3}|---)\s+(?:\d{1,3}|---)\s+(?:\S+\s+\S+\s+)?\S+\s+(?P<raw>\d+)"
)
STATISTIC = re.compile(r"0x\w+\s+0x\w+\s+\d+\s+(?P<value>\d+)\s+\S+\s+(?P<name>\S.*?)\s*$")
RESULT = re.compile(r"SMART (?:overall-health self-assessment test result|Health Status): (?P<word>\w+)")
SCSI = re.compile(r'^(?:Transport protocol|Vendor): |^SMART Health Status: |"protocol": *"SCSI"', re.MULTILINE)
SCSI_USED = re.compile(
    r"^(?:SS Media used endurance|Percentage used endurance) indicator: (?P<percent>\d{1,3})%", re.MULTILINE
)
SCSI_WRITES = re.compile(r"^write:(?:\s+\d+){5}\s+(?P<gigabytes>\d+[.,]\d+)\s+(?P<uncorrected>\d+)\s*$", re.MULTILINE)
"""The error counter log: errors, how they were corrected, 10^9 bytes, and the errors that were not."""
NAMED: Final = ("Device Model|Model Number|Product", "Serial [Nn]umber")
"""Lines of the text that name the model and the serial number."""
LINE = re.compile(r"(?P<name>[A-Z][\w ./-]*?):\s+(?P<value>0x[0-9a-fA-F]+|\d{1,3}(?:[^\w(\[]\d{3})+|\d+)")
OF_TEXT: Final = {
    "Critical Warning": "critical_warning", "Temperature": "temperature", "Available Spare": "available_spare",
    "Available Spare Threshold": "available_spare_threshold", "Percentage Used": "percentage_used",
    "Data Units Read": "data_units_read", "Data Units Written": "data_units_written",
    "Host Read Commands": "host_reads", "Host Write Commands": "host_writes", "Power Cycles": "power_cycles",
    "Power On Hours": "power_on_hours", "Unsafe Shutdowns": "unsafe_shutdowns",
    "Media and Data Integrity Errors": "media_errors", "Warning Comp. Temperature Time": "warning_temp_time",
    "Critical Comp. Temperature Time": "critical_comp_time",
    "Thermal Temp. 1 Transition Count": "thm_temp1_trans_count",
    "Thermal Temp. 2 Transition Count": "thm_temp2_trans_count",
    "Thermal Temp. 1 Total Time": "thm_temp1_total_time", "Thermal Temp. 2 Total Time": "thm_temp2_total_time",
}  # fmt: skip
"""NVMe's log as smartctl prints it, and in its JSON."""


def matches(path: Path, head: str) -> bool:
    """Whether the file names smartctl, or begins as its reports do."""
    if head.lstrip().startswith("{"):
        return any(name in head for name in ('"smartctl"', SMARTCTL, '"ata_smart_attributes"', '"smart_status"'))
    begin = r"^smartctl \d|^=== START OF (?:INFORMATION|SMART DATA|READ SMART)|^ *\d{1,3} \w\S+ +0x[\da-f]{4} +\d{3} "
    return bool(re.search(begin, head, re.MULTILINE))


def read(paths: Sequence[Path], hints: ImportOptions) -> FileContents:
    """Read the health log of a file."""
    path = only(paths)
    whole = text(path)
    if whole.count("=== START OF INFORMATION SECTION") > 1:
        raise RecordingError(f"{path} holds several health logs", "give each in a file of its own")
    log, about = _json(path, whole) if whole.lstrip().startswith("{") else _text(whole)
    if not any(
        name in log
        for name in ("percentage_used", "data_units_written", "unknown_units", "media_errors", "failed", "doubt")
    ):
        raise RecordingError(
            f"{path} tells nothing of wear, of bytes written or of errors", "smartctl -x prints it, as root"
        )
    data = FileContents(about.model or path.name, None, drive=about.identity, logged_unix=about.logged_unix)
    if (count := log.pop("unknown_units", None)) is not None:
        data.note(_candidates(count, log.get(HOURS, 0), log.pop("erased_bytes", 0)))
    if doubt := log.pop("doubt", ""):
        data.warn(doubt)
    if (failed := log.pop("failed", None)) is not None:
        log["critical_warning"] = int(log.get("critical_warning", 0)) | (FAILED if failed else 0)
    data.health.append(log)
    if "available_spare" in log:
        kind = "NVMe's health log"
    else:
        scsi = SCSI.search(whole) is not None
        kind = "what a SCSI drive counts" if scsi else "attributes of an ATA drive, by their names"
    data.read_as = f"smartctl: {kind}"
    return data


@dataclass(frozen=True)
class _Drive:
    """Drive of a log, as far as smartctl tells: its model, serial number and device, and when it was asked."""

    model: str = ""
    serial: str = ""
    device: str = ""
    logged_unix: float = 0.0

    @property
    def identity(self) -> str:
        """Name that tells it from other drives."""
        return self.serial or self.device or self.model


def _json(path: Path, whole: str) -> tuple[HealthJson, _Drive]:
    with undamaged(path, "smartctl -j -x prints it"):
        document = gate.document(whole, str(path), FILE)
        about = _Drive(
            str(document.get("model_name", "")),
            str(document.get("serial_number", "")),
            str(document.get("device", {}).get("name", "")),
            float(document.get("local_time", {}).get("time_t", 0)),
        )
        if SMARTCTL in document:
            log = in_our_names(document[SMARTCTL], kelvin=False)
        else:
            is_known = document.get("in_smartctl_database") is not False
            capacity = int(document.get("user_capacity", {}).get("bytes", 0))
            sector = int(document.get("logical_block_size", 512))
            log = _of_ata(_attributes(document), _statistics(document), sector, is_known, capacity)
            log |= _common(document)
        if isinstance(passed := document.get("smart_status", {}).get("passed"), bool):
            log["failed"] = not passed
    refuse_long(path, log)
    return log, about


def refuse_long(path: Path, log: HealthJson) -> None:
    """Refuse a number that no health log has.

    Raises:
        PslcError: one is longer than `MAX_BITS`.
    """
    long = next((name for name, value in log.items() if isinstance(value, int) and value >> MAX_BITS), None)
    if long is not None:
        raise RecordingError(f"{path} is damaged: {long} is longer than {MAX_BITS} bits", "no number of such a log is")


def _attributes(document: Json) -> list[Attribute]:
    rows = document.get("ata_smart_attributes", {}).get("table", [])
    return [Attribute(int(row["id"]), str(row["name"]), row.get("value"), int(row["raw"]["value"])) for row in rows]


def _statistics(document: Json) -> dict[str, int]:
    pages = document.get("ata_device_statistics", {}).get("pages", [])
    return {str(row["name"]): int(row["value"]) for page in pages for row in page.get("table", []) if "value" in row}


def _common(document: Json) -> HealthJson:
    """Values that smartctl prints for any drive."""
    log: HealthJson = {}
    if isinstance(celsius := document.get("temperature", {}).get("current"), int):
        log["temperature"] = celsius
    if isinstance(hours := document.get("power_on_time", {}).get("hours"), int):
        log["power_on_hours"] = hours
    if isinstance(used := document.get("endurance_used", {}).get("current_percent"), int):
        log["percentage_used"] = used
    if isinstance(used := document.get("scsi_percentage_used_endurance_indicator"), int):
        log["percentage_used"] = used
    if writes := document.get("scsi_error_counter_log", {}).get("write", {}):
        log |= _of_scsi(str(writes["gigabytes_processed"]), int(writes["total_uncorrected_errors"]))
    return log


def _of_scsi(gigabytes: str, uncorrected: int) -> HealthJson:
    """Counts of a SCSI drive's writes, in NVMe's names."""
    return {"data_units_written": round(float(gigabytes) * 1e9 / UNIT_BYTES), "media_errors": uncorrected}


def _candidates(count: int, hours: int, erased: int) -> str:
    """A sentence on bytes written in a unit that is not known; those that no drive writes in its hours, or that more
    blocks had to be erased for, are left out.

    Args:
        erased: bytes that the erased blocks hold; 0 where the drive does not count them.
    """
    of = ", ".join(
        f"{words.size(count * scale)} in units of {name}"
        for name, scale in UNITS.items()
        if (not hours or MIN_BYTES_PER_HOUR <= count * scale / hours <= MAX_BYTES_PER_HOUR)
        and (not erased or count * scale <= MAX_WRITTEN_RATIO * erased)
    )
    why = "smartctl does not know this drive, or wrongly, so the unit of its writes is not known"
    return f"{why}: {count} are {of or 'no bytes'}"


def _written(name: str) -> tuple[str, float] | None:
    """Field of the log that an attribute counts, by its name, and bytes of one; None: it counts no writes."""
    scale = next((scale for pattern, scale in UNITS_OF_NAMES if pattern.search(name)), None)
    if scale is None or not re.search(r"writ|prog", name) or re.search(r"read|_low$|_high$|_exp$", name):
        return None
    field = next(
        (cells for cells in ("slc", "tlc") if cells in name), "nand" if re.search("nand|flash", name) else "data"
    )
    return f"{field}_units_written", scale


def _of_ata(
    attributes: Sequence[Attribute],
    statistics: Mapping[str, int],
    sector: int,
    is_known: bool,
    capacity: int,
) -> HealthJson:
    """Values of attributes and statistics, in NVMe's names; a statistic means the same everywhere, and goes first.

    Args:
        is_known: the drive is in smartctl's table; else the names of attributes are those that most drives have.
        capacity: in bytes; 0 where it is not told.
    """
    raw_of = {name.lower(): raw for _, name, _, raw in reversed(attributes)}
    if HOURS in raw_of:
        # Some drives count milliseconds in the upper half.
        raw_of[HOURS] &= 0xFFFF_FFFF
    log = _unknown(raw_of, is_known, (average_erases(attributes) or 0) * capacity)
    for _, name, _, raw in attributes:
        low = name.lower()
        if (counted := _written(low)) and not (low == LBAS and "unknown_units" in log):
            log.setdefault(counted[0], round(raw * counted[1] / UNIT_BYTES))
        elif low in ERRORS:
            log.setdefault("media_errors", raw)
    if (written := statistics.get("Logical Sectors Written")) is not None:
        log["data_units_written"] = round(written * sector / UNIT_BYTES)
        log.pop("unknown_units", None)
        log.pop("erased_bytes", None)
    if (tlc := log.pop("tlc_units_written", None)) is not None:
        log.setdefault("nand_units_written", tlc + log.get("slc_units_written", 0))
    log |= _programmed(log, raw_of)
    if (used := statistics.get("Percentage Used Endurance Indicator")) is not None:
        return log | {"percentage_used": used}
    host_bytes = log["data_units_written"] * UNIT_BYTES if "data_units_written" in log else None
    used, doubt = wear(attributes, host_bytes, log.get(HOURS), capacity)
    return log | ({} if used is None else {"percentage_used": used}) | ({"doubt": doubt} if doubt else {})


def _unknown(raw_of: Mapping[str, int], is_known: bool, erased_bytes: int) -> HealthJson:
    """Count of writes in a unit that is not known, and bytes that the erased blocks hold; empty where the unit is
    plausible. Raw values are by the names of attributes."""
    count = raw_of.get(LBAS)
    if count is None or (is_known and count * UNITS["512 B"] >= MIN_BYTES_PER_HOUR * raw_of.get(HOURS, 0)):
        return {}
    return {"unknown_units": count, "erased_bytes": erased_bytes}


def _programmed(log: HealthJson, raw_of: Mapping[str, int]) -> HealthJson:
    """Hours, and what was programmed by Micron's count of pages; raw values are by the names of attributes."""
    more: HealthJson = {HOURS: raw_of[HOURS]} if HOURS in raw_of else {}
    of_host, own = raw_of.get(PAGES[0]), next((raw_of[name] for name in PAGES[1] if name in raw_of), None)
    if of_host and own is not None and "data_units_written" in log:
        more["nand_units_written"] = round(log["data_units_written"] * (of_host + own) / of_host)
    return more


def integer(text: str) -> int:
    """A number of a log, in hexadecimal behind 0x; its thousands may be set apart."""
    digits = re.sub(r"[^\da-fx]", "", text)
    return int(digits, 16 if digits.startswith("0x") else 10)


def _text(whole: str) -> tuple[HealthJson, _Drive]:
    of_nvme = {
        OF_TEXT[name]: integer(match["value"])
        for line in whole.splitlines()
        if (match := LINE.match(line)) and (name := " ".join(match["name"].split())) in OF_TEXT
    }
    sensors = [int(celsius) for celsius in re.findall(r"^Temperature Sensor \d:\s+(\d+) C", whole, re.MULTILINE)]
    of_nvme |= {"hottest_sensor": max(sensors)} if sensors else {}
    if "data_units_written" in of_nvme or "available_spare" in of_nvme:
        log: HealthJson = dict(of_nvme)
    else:
        log = _text_of_ata(whole) | _text_of_scsi(whole)
    if result := RESULT.search(whole):
        log["failed"] = result["word"] not in ("PASSED", "OK")
    model, serial = (
        match[1] if (match := re.search(rf"^(?:{names}):\s+(.*\S)", whole, re.MULTILINE)) else "" for names in NAMED
    )
    return log, _Drive(model, serial, logged_unix=_clock(whole))


def _clock(whole: str) -> float:
    """Time of the run in s, by its line in the computer's own time; 0 where it does not say."""
    line = re.search(r"^Local Time is:\s+\w+ (\w+ +\d+ [\d:]+ \d{4})", whole, re.MULTILINE)
    try:
        return datetime.strptime(line[1], "%b %d %H:%M:%S %Y").timestamp() if line else 0.0
    except ValueError:
        return 0.0


def _text_of_ata(whole: str) -> HealthJson:
    lines = whole.splitlines()
    sector = re.search(r"Sector Sizes?:\s+(\d+) bytes logical", whole)
    rows = [match for line in lines if (match := ATTRIBUTE.match(line))]
    attributes = [
        Attribute(int(row["id"]), row["name"], int(row["value"]) if row["value"] != "---" else None, int(row["raw"]))
        for row in rows
    ]
    statistics = {row["name"]: int(row["value"]) for line in lines if (row := STATISTIC.match(line))}
    capacity = re.search(r"^User Capacity:\s+([\d.,' ]+) bytes", whole, re.MULTILINE)
    return _of_ata(
        attributes, statistics, int(sector[1]) if sector else 512, "Not in smartctl database" not in whole,
        int(re.sub(r"\D", "", capacity[1])) if capacity else 0,
    )  # fmt: skip


def _text_of_scsi(whole: str) -> HealthJson:
    log: HealthJson = {}
    if counted := SCSI_WRITES.search(whole):
        log |= _of_scsi(counted["gigabytes"].replace(",", "."), int(counted["uncorrected"]))
    if used := SCSI_USED.search(whole):
        log["percentage_used"] = int(used["percent"])
    return log
