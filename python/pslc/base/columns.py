"""Columns of tables: what a name says of unit, direction and meaning, and what a cell says as a number or a date."""

import csv
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

from pslc.base import units
from pslc.base.errors import RecordingError

SIZES: Final = {unit.lower(): float(size) for unit, size in units.UNITS.items()} | {"bytes": 1.0}
TIMES: Final = units.SECONDS | {"sec": 1.0, "seconds": 1.0}
BITS: Final = {"bit/s": 1 / 8, "kbit/s": 1e3 / 8, "mbit/s": 1e6 / 8, "gbit/s": 1e9 / 8}
SPEEDS: Final = {f"{unit}/s": scale for unit, scale in SIZES.items()} | BITS
PERCENT: Final = {"%": 0.01}
DEGREES: Final = {"c", "°c", "celsius"}
MAX_CELL: Final = 1e30
"""Largest absolute value of a cell, in the unit of its column."""
PLAIN: Final = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?", re.ASCII)
"""A number that every program means alike: a log of 100 MB has ten million of them."""
GROUPED: Final = re.compile(r"[-+]?\d{1,3}(?:(?:\.\d{3})+,\d+|(?:[ \u00a0\u202f]\d{3})+(?:,\d+)?)")
THOUSANDS: Final = re.compile(r"[. \u00a0\u202f]")
"""A number with a decimal comma whose thousands are apart, as spreadsheets write it, and what is between them."""
MISSING: Final = ("", "nan", "-", "--", "n/a", "na", "null", "none", "#n/a")
Kind = Literal["speed", "size", "time", "date", "percent", "iops", "latency", "celsius", "number", "text"]
Direction = Literal["read", "write", ""]

SPEED = re.compile(
    r"(?<![a-zA-Z])(?P<op>[rw])?(?P<unit>[kKmMgGtT]?i?(?:[bB]|[bB]ytes?|[bB]its?))(?:/|ps|p(?=s)|_per_|\s?per\s?|_(?=s))\s*(?:s|sec|second)?s?(?![a-zA-Z])"
)
CAMEL = re.compile(r"(?<=[a-z_ ])(?P<unit>[KMGT]i?[bB]|[kmgt]i?b)s(?![a-zA-Z])|^(?P<whole>[KMGTkmgt]i?[Bb])s$")
"""Boundary between words in a column's name: `writeMibs`, `speed_mbs`, `MBs`."""
LATENCY = re.compile(
    r"lat(?:ency)?(?![a-z])|[sc]lat|await|response|p\d\d|access|percentile|(?:50|90|95|99)(?:\.\d+)?\s?(?:%|th)"
)
ELAPSED = re.compile(r"time|elapsed|seconds|(?<![a-z])(?:sec|secs|s|t|min|ms|h|us|ns)(?![a-z])|duration|clock")
NOT_A_PLACE = re.compile(
    r"free|memory|ram|cache|used|avail|block|request|(?<![a-z])(?:bs|size)(?![a-z])|rate|chunk|memory|page"
)
LETTER: Final = r"[^\W\d_]"
PROGRESS = re.compile(r"written|position|progr|fortschritt|fill|full|offset|capacity|kapazit|done")
WRITES = re.compile(
    rf"(?<!{LETTER})(?:wr?|writ|wrtn|writing)(?!{LETTER})|write|written|schreib|geschrieben|[eé]crit|escrit|scritt|"
    r"gravaç|skriv|zapis|запис|yazma|写入|寫入|書き込み|쓰기"
)
READS = re.compile(
    rf"(?<!{LETTER})(?:rd?|reads?|reading)(?!{LETTER})|read(?!y)|lese|gelesen|lectur|lettur|leitur|odczyt|läs|чтени|"
    r"okuma|读取|讀取|読み|읽기"
)
"""Words of ten languages for writes and for reads, in small letters."""
CYRILLIC: Final = str.maketrans("кКМГТи", "kKMGTi")
SPELLINGS: Final[tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...]] = (
    (rf"(?<!{LETTER})([kKMGT]i?)?o(?=/s)|(?<!{LETTER})([KMGT]i?)o(?=[\s)\]]*$)", r"\1\2B"),
    (
        rf"(?<!{LETTER})([кКМГТ]и?|)[бБ](айт|ит|)(?!{LETTER})",
        lambda match: match[1].translate(CYRILLIC) + ("bit" if match[2] == "ит" else "B"),
    ),
    (rf"(?<=/)\s?(?:\u0441|сек|秒|초|sn)(?!{LETTER})", "s"),
    (
        rf"(?<!{LETTER})(?:сек|\u0441|секунды?|秒|초|sek|sekunden|segundos|secondes|secondi|sekundy|saniye)(?!{LETTER})",
        "s",
    ),
    (
        rf"(?i)(?<!{LETTER})(?:zeit|zeitpunkt|temps|tiempo|tempo|czas|время|tid|zaman|时间|時間|시간)(?!{LETTER})",
        "time",
    ),
    (r"(?i)^\s*second\s*$", "seconds"),
)
"""Units and the word for time in other languages, each with the English one: `Mo/s`, `МБ/сек`, `秒`."""
POINT = re.compile(r"\s*[-+]?\d+\.\d+\s*")
CLOCK = re.compile(r"(?P<h>\d{1,2}):(?P<m>\d\d)(?::(?P<s>\d\d(?:[.,]\d+)?))?(?:\s*(?P<half>[AaPp])[Mm])?")
DATES: Final = (
    "%Y-%m-%d", "%Y/%m/%d", "%m/%d/%Y", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%y", "%d.%m.%y", "%Y%m%d", "%d-%m-%Y",
    "%d-%b-%Y",
)  # fmt: skip


@dataclass(frozen=True)
class Column:
    """Meaning of a column, taken from its name.

    Attributes:
        place: index of the column, from 0.
        name: as the table has it.
        kind: quantity that the column holds.
        scale: one of its unit, in bytes, bytes/s, seconds or 1.
        unit: as the name states it; empty without one.
        direction: whether it is of reads or of writes; empty if the name does not say.
        is_assumed: the unit is assumed, as the name states none.
    """

    place: int
    name: str
    kind: Kind
    scale: float
    unit: str
    direction: Direction
    is_assumed: bool = False

    @property
    def called(self) -> str:
        """Name of the column, or its number if it has none."""
        return self.name or str(self.place + 1)


def column(place: int, name: str) -> Column:
    """Derive the meaning of a column from its name."""
    low = name.lower()
    direction: Direction = "write" if WRITES.search(low) else "read" if READS.search(low) else ""
    translated = english(name)
    if (speed := SPEED.search(translated)) and speed["op"]:
        direction = "write" if speed["op"] == "w" else "read"
    return Column(place, name, *_kind(translated, translated.lower()), direction)


def english(name: str) -> str:
    """A name with the units of `SPELLINGS` in English."""
    for pattern, english in SPELLINGS:
        name = re.sub(pattern, english, name)
    return name


def _kind(name: str, low: str) -> tuple[Kind, float, str]:
    """Kind, scale and unit."""
    if "iops" in low or re.search(r"(?<![a-z])(ops|ios|i/os)(/s|ps)", low):
        return "iops", 1.0, "1/s"
    if unit := speed_unit(name):
        return "speed", SPEEDS.get(unit, 0.0), unit
    if unit_of(name, DEGREES):
        return "celsius", 1.0, "C"
    if unit := unit_of(name, set(TIMES)):
        kind: Kind = "latency" if LATENCY.search(low) else "time" if ELAPSED.search(low) else "number"
        return kind, TIMES[unit], unit
    if unit := unit_of(name, set(SIZES)) or _leading_size(low):
        return ("number" if NOT_A_PLACE.search(low) else "size"), SIZES[unit], unit
    if re.search(r"%|percent", low) and PROGRESS.search(low):
        return "percent", 0.01, "%"
    if re.search(r"(?<![a-z])(date|time|timestamp|datetime)(?![a-z])", low) and not LATENCY.search(low):
        return "date", 1.0, ""
    return "number", 1.0, ""


def speed_unit(name: str) -> str:
    """The unit of speed in a name, as `SPEEDS` has it; `Mb/s` where it may be bits or bytes; empty: none."""
    parsed = SPEED.search(name)
    if parsed is None or not re.search(r"(/|per|ps|_s)", parsed[0].lower()):
        parsed = CAMEL.search(name)
    if parsed is None:
        return ""
    unit = parsed["unit"] or parsed["whole"] if "whole" in parsed.groupdict() else parsed["unit"]
    low = unit.lower().removesuffix("s")
    if low.endswith("bit"):
        return f"{low}/s"
    if len(unit) > 1 and unit[-1] == "b" and unit[0].isupper() and "i" not in unit:
        return "Mb/s"
    return f"{low.removesuffix('ytes').removesuffix('yte')}/s"


def shown_unit(unit: str) -> str:
    """A unit as people write it: `MB/s` of `mb/s`."""
    if unit.partition("/")[0].removesuffix("bit") in ("", "k", "m", "g") and "bit" in unit:
        return unit.capitalize() if unit[0] != "k" else unit
    return (
        f"{unit[:-3].upper()}{unit[-3:]}".replace("I", "i").replace("b/s", "B/s")
        if unit in SPEEDS
        else (unit.upper().replace("I", "i") if unit in SIZES and unit != "bytes" else unit)
    )


def unit_of(name: str, units: set[str]) -> str:
    """The last word of a name, when it is one of `units`, else nothing: `written_gb`, `Speed (MB/s)`."""
    words = [word for word in re.split(r"[\s_\[\]()]+", name.lower()) if word]
    return words[-1] if words and words[-1] in units else ""


def _leading_size(low: str) -> str:
    """The unit of bytes that a name begins with where it tells a direction: `bytes_written`, `mb read`."""
    unit = re.split(r"[\s_]+", low)[0]
    return unit if len(unit) > 1 and unit in SIZES and (WRITES.search(low) or READS.search(low)) else ""


def number(cell: str, separator: str) -> float:
    """The number in a cell: a decimal comma is one only where commas separate nothing, a comma before three digits
    separates thousands, as do points before a decimal comma, and a unit behind it is left out.

    Raises:
        ValueError: it is none, or one beyond `MAX_CELL`.
    """
    word = cell.strip()
    if PLAIN.fullmatch(word):
        return float(word)
    if bare := re.fullmatch(r"([-+]?[\d.,]+(?:[eE][-+]?\d+)?)\s*[a-zA-Z%°][a-zA-Z/%°]*", word):
        word = bare[1]
    if separator == "," or re.search(r"\d,\d{3}\.|,\d{3},", word):
        word = word.replace(",", "") if re.fullmatch(r"[-+]?\d{1,3}(,\d{3})+(\.\d*)?", word) else word
    else:
        word = (THOUSANDS.sub("", word) if GROUPED.fullmatch(word) else word).replace(",", ".")
    parsed = float(word)
    if not abs(parsed) <= MAX_CELL:
        raise ValueError(parsed)
    return parsed


def refuse_cut_decimals(path: Path, line: int, row: Sequence[str], names: int, separator: str) -> None:
    """Refuse a row in which commas separate both cells and decimals: `0,5,2067,23` below two names.

    Raises:
        RecordingError: it holds whole numbers, and more of them than there are names.
    """
    further = [cell for cell in row[names:] if cell.strip()]
    if further and separator == "," and all(map(str.isdecimal, further)) and not any(map(POINT.fullmatch, row)):
        raise RecordingError(
            f"{path}:{line}: {names + len(further)} numbers below {names} names: commas separate cells and decimals",
            "save the table with semicolons or tabs between its columns, or with decimal points",
        )


def undecided_thousands(words: Collection[str], mark: str) -> str | None:
    """A number such as `2.082` whose `mark` separates thousands in the rest of its column, so that it may be 2082: no
    number has another count of digits behind the mark, and a number below 1000 has none. None where there is none."""
    grouped = [word for word in words if re.fullmatch(rf"[1-9]\d{{0,2}}({re.escape(mark)}\d{{3}})+", word)]
    rest, once = set(words) - set(grouped), [word for word in grouped if word.count(mark) == 1]
    is_sure = len(once) < len(grouped) or any(re.fullmatch(r"[1-9]\d{0,2}", word) for word in rest)
    return once[0] if once and is_sure and not any(mark in word for word in rest) else None


def cells(path: Path, lines: Iterable[str], separator: str = ",") -> Iterator[list[str]]:
    """The cells of each line of a CSV file, line by line.

    Raises:
        PslcError: it is none, as where a cell is longer than any figure.
    """
    try:
        yield from csv.reader(lines, delimiter=separator)
    except csv.Error as error:
        raise RecordingError(f"{path}: {error}", "tables hold figures between commas, semicolons or tabs") from None


def is_missing(cell: str) -> bool:
    """Whether a cell says that there is no value."""
    return cell.strip().lower() in MISSING


def is_number(cell: str, separator: str) -> bool:
    """Whether a cell holds a number or says that it has none."""
    try:
        number(cell, separator)
    except ValueError:
        return is_missing(cell)
    return True


def moment(text: str) -> float:
    """Seconds of a date, of a time of day, or of both; of a number since 1970 in s, ms, us or ns.

    Raises:
        ValueError: it is none of them.
    """
    word = text.strip().strip('"')
    if re.fullmatch(r"\d+(\.\d+)?", word) and len(word) < 20:
        seconds = float(word)
        while seconds > 1e11:
            seconds /= 1e3
        return seconds
    of_day, day = clock(word), date(word)
    if of_day is None and day is None:
        raise ValueError(text)
    return (of_day or 0.0) + 86400.0 * (day.toordinal() if day else 0)


def clock(text: str, *, to_the_second: bool = False) -> float | None:
    """Seconds of the day of `22:52:21`, `22:52` or `10:52:21 PM`; None where there is no such time in it."""
    match = CLOCK.search(text)
    if match is None or (to_the_second and match["s"] is None):
        return None
    hour = int(match["h"])
    if match["half"]:
        hour = hour % 12 + (12 if match["half"].lower() == "p" else 0)
    return 3600.0 * hour + 60.0 * int(match["m"]) + float((match["s"] or "0").replace(",", "."))


def date(text: str, forms: Sequence[str] = DATES) -> datetime | None:
    """The first date among the words of a text. `11/21/26` has the month first, as in the locale C."""
    for word in re.split(r"[\sT]+", text):
        for form in forms:
            with suppress(ValueError):
                return datetime.strptime(word.rstrip(",Z"), form)
    return None
