"""Heads of drive files: TOML in 1 KiB, of which the last line is the checksum."""

import re
import tomllib
import zlib
from typing import Any

HEAD_BYTES = 1024
SUM = "# crc32 00000000\n"


def head_of(content: bytes) -> dict[str, Any]:
    """The head of a drive file."""
    return tomllib.loads(content[:HEAD_BYTES].decode())


def with_head(content: bytes, **changes: int) -> bytes:
    """A drive file whose head says something else, with a checksum that is right: `state_version=13`."""
    text = content[: HEAD_BYTES - len(SUM)].decode().rstrip("\n") + "\n"
    for name, value in changes.items():
        section, _, key = name.partition("_")
        text = re.sub(rf"(\[{section}\][^\[]*{key} = )\d+", rf"\g<1>{value}", text)
    raw = text.ljust(HEAD_BYTES - len(SUM), "\n").encode()
    return raw + f"# crc32 {zlib.crc32(raw):08x}\n".encode() + content[HEAD_BYTES:]
