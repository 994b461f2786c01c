"""Reader of the footer of a Parquet file, without any of its data.

The footer is a structure of Thrift's compact protocol at the end of the file (parquet-format, FileMetaData). Only what
is needed to judge the file is taken of it.
"""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

MAGIC: Final = b"PAR1"
MAX_FOOTER_BYTES: Final = 4_000_000
"""Ten times that of a table of 2000 columns."""
MAX_DEPTH: Final = 16
"""Levels of structures within structures; the format has 8."""
REPEATED: Final = 2
"""`repetition_type` of a column with several values a row."""
PHYSICAL: Final = ("boolean", "int32", "int64", "int96", "float", "double", "bytes", "fixed bytes")
"""Types of the format, by number."""


class FooterError(ValueError):
    """The footer is damaged, or of something else."""


@dataclass(frozen=True)
class Footer:
    """Contents of a Parquet file's footer.

    Attributes:
        types: physical type of each column by name, `None` where it is nested or has several values a row.
        rows: number of rows.
        unpacked_bytes: size of all columns before compression, as they are encoded.
        metadata: texts that the writer added, by name.
    """

    types: dict[str, str | None]
    rows: int
    unpacked_bytes: int
    metadata: dict[str, str]


def read(file: BinaryIO) -> Footer:
    """Read the footer of a Parquet file.

    Raises:
        FooterError: it is no Parquet file, or its footer is damaged.
    """
    size = file.seek(0, 2)
    if size < 12:
        raise FooterError("it is too short for a Parquet file")
    file.seek(-8, 2)
    length, magic = struct.unpack("<I4s", file.read(8))
    file.seek(0)
    if file.read(4) != MAGIC or magic != MAGIC:
        raise FooterError("it does not begin and end as a Parquet file does")
    if not 0 < length <= min(size - 12, MAX_FOOTER_BYTES):
        raise FooterError(f"its footer has {length:,} bytes; the limit is {min(size - 12, MAX_FOOTER_BYTES):,}")
    file.seek(-8 - length, 2)
    try:
        return _footer(_Thrift(file.read(length)).structure())
    except FooterError:
        raise
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, struct.error) as error:
        raise FooterError(f"its footer is damaged ({error})") from None


def _footer(fields: dict[int, Any]) -> Footer:
    root, *elements = fields[2]
    groups = fields.get(4, [])
    chunks = [chunk[3] for group in groups for chunk in group[1]]
    counts = [fields[3], *(group[3] for group in groups), *(chunk[6] for chunk in chunks)]
    if any(not isinstance(count, int) or count < 0 for count in counts):
        raise FooterError("its footer has a size below 0")
    if sum(group[3] for group in groups) != fields[3]:
        raise FooterError("its parts do not add up to its rows")
    metadata = {_text(pair[1]): _text(pair.get(2, b"")) for pair in fields.get(5, [])}
    return Footer(_columns(root, elements), fields[3], sum(chunk[6] for chunk in chunks), metadata)


def _columns(root: dict[int, Any], elements: list[dict[int, Any]]) -> dict[str, str | None]:
    """The columns, which are the children of the root."""
    types: dict[str, str | None] = {}
    at = 0
    for _ in range(root[5]):
        element, name = elements[at], _text(elements[at][4])
        if name in types:
            raise FooterError(f"it has two columns {name[:60]!r}")
        if "\0" in name:
            raise FooterError(f"the name of a column has a NUL: {name[:60]!r}")
        flat = not element.get(5) and element.get(3) != REPEATED
        types[name] = PHYSICAL[element[1]] if flat else None
        # What is nested follows, in depth first.
        left = 1
        while left:
            left += elements[at].get(5, 0) - 1
            at += 1
    if at != len(elements):
        raise FooterError("its columns are not those that it counts")
    return types


def _text(raw: bytes) -> str:
    return raw.decode("utf-8")


class _Thrift:
    """A reader of Thrift's compact protocol: structures as values by field number."""

    def __init__(self, raw: bytes) -> None:
        self._raw, self._at, self._depth = raw, 0, 0

    @contextmanager
    def _level(self) -> Iterator[None]:
        """A structure or a list in another one."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise FooterError(f"it is nested in more than {MAX_DEPTH} levels")
        yield
        self._depth -= 1

    def structure(self) -> dict[int, Any]:
        with self._level():
            return self._fields()

    def _fields(self) -> dict[int, Any]:
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._signed()
            kind = head & 15
            fields[number] = kind == 1 if kind in (1, 2) else self._value(kind)
        return fields

    def _value(self, kind: int) -> Any:
        if kind in (1, 2):
            return self._byte() == 1
        if kind == 3:
            return self._byte()
        if kind in (4, 5, 6):
            return self._signed()
        if kind == 7:
            return self._bytes(8)
        if kind == 8:
            return self._bytes(self._unsigned())
        if kind in (9, 10):
            return self._list()
        if kind == 12:
            return self.structure()
        raise FooterError(f"a value is of kind {kind}")

    def _list(self) -> list[Any]:
        head = self._byte()
        count = head >> 4 if head >> 4 != 15 else self._unsigned()
        if count > len(self._raw):
            raise FooterError(f"a list has {count} values")
        with self._level():
            return [self._value(head & 15) for _ in range(count)]

    def _signed(self) -> int:
        number = self._unsigned()
        return (number >> 1) ^ -(number & 1)

    def _unsigned(self) -> int:
        number = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
        raise FooterError("a number has more than 64 bits")

    def _byte(self) -> int:
        self._at += 1
        return self._raw[self._at - 1]

    def _bytes(self, count: int) -> bytes:
        if count > len(self._raw) - self._at:
            raise FooterError("it ends within a value")
        self._at += count
        return self._raw[self._at - count : self._at]
