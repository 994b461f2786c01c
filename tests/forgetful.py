"""A file system that looks up by its path what is asked of a file, as gocryptfs, mergerfs and 9p do: one that has lost
its name cannot be opened again, nor made longer. `python forgetful.py FOLDER` as root; it ends when it is unmounted."""

import ctypes
import errno
import os
import struct
import sys
from itertools import count

FOLDER, FILE = 0o40755, 0o100600
SETS_SIZE = 8
FORGETS = (2, 42)
BY_PATH = (3, 4, 14)
"""Requests of Linux's include/uapi/linux/fuse.h: those without an answer; to tell of a file, change it and open it."""
OPENED = struct.pack("<QII", 0, 0, 0)
CONSTANT = {
    26: struct.pack("<4I2H2I2H8I", 7, 31, 65536, 0, 12, 10, 1 << 20, 1, 256, 0, *[0] * 8),
    17: struct.pack("<5Q4I24x", 1 << 20, 1 << 19, 1 << 19, 1000, 1000, 4096, 255, 4096, 0),
    **dict.fromkeys((14, 27), OPENED),
    **dict.fromkeys((18, 20, 25, 28, 29, 34), b""),
}
"""Answers to the beginning and for the room there is, to what opens, and to what closes, syncs and lists."""


class Files:
    """The files of one folder, by the kernel's numbers for them."""

    def __init__(self) -> None:
        self.data: dict[int, bytearray] = {}
        self.names: dict[bytes, int] = {}
        self.numbers = count(2)
        self.calls = {1: self.look_up, 3: self.attributes, 4: self.change, 10: self.unlink, 15: self.read,
                      16: self.write, 35: self.create}  # fmt: skip

    def answer(self, kind: int, node: int, body: bytes) -> bytes | int:
        """Answer to a request: data, or the number of an error."""
        if kind in BY_PATH and node in self.data and node not in self.names.values():
            return errno.ENOENT
        return self.calls[kind](node, body) if kind in self.calls else CONSTANT.get(kind, errno.ENOSYS)

    def about(self, node: int) -> bytes:
        size = len(self.data.get(node, b""))
        mode = FILE if node in self.data else FOLDER
        return struct.pack("<6Q10I", node, size, size // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)

    def look_up(self, node: int, body: bytes) -> bytes | int:
        node = self.names.get(body.rstrip(b"\0"), 0)
        return struct.pack("<4Q2I", node, 1, 0, 0, 0, 0) + self.about(node) if node else errno.ENOENT

    def attributes(self, node: int, _: bytes) -> bytes:
        return struct.pack("<2Q", 0, 0) + self.about(node)

    def change(self, node: int, body: bytes) -> bytes:
        valid, _, _, size = struct.unpack("<2I2Q", body[:24])
        if valid & SETS_SIZE:
            self.data[node] = self.data[node][:size].ljust(size, b"\0")
        return self.attributes(node, body)

    def create(self, node: int, body: bytes) -> bytes:
        node = self.names[body[16:].rstrip(b"\0")] = next(self.numbers)
        self.data[node] = bytearray()
        return struct.pack("<4Q2I", node, 1, 0, 0, 0, 0) + self.about(node) + OPENED

    def unlink(self, _: int, body: bytes) -> bytes:
        del self.names[body.rstrip(b"\0")]
        return b""

    def read(self, node: int, body: bytes) -> bytes:
        _, offset, size = struct.unpack("<2QI", body[:20])
        return bytes(self.data[node][offset : offset + size])

    def write(self, node: int, body: bytes) -> bytes:
        _, offset, size = struct.unpack("<2QI", body[:20])
        self.data[node][offset : offset + size] = body[40 : 40 + size]
        return struct.pack("<2I", size, 0)


def main(folder: str) -> None:
    """Mount it, say so, and serve it."""
    fuse = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={fuse},rootmode=40000,user_id=0,group_id=0".encode()
    if ctypes.CDLL(None, use_errno=True).mount(b"none", os.fsencode(folder), b"fuse.forgetful", 0, options):
        sys.exit(os.strerror(ctypes.get_errno()))
    print("ready", flush=True)
    files = Files()
    while True:
        try:
            request = os.read(fuse, (1 << 20) + 8192)
        except OSError as error:
            if error.errno == errno.ENODEV:
                return
            continue
        _, kind, unique, node = struct.unpack("<2I2Q", request[:24])
        if kind not in FORGETS:
            answer = files.answer(kind, node, request[40:])
            fault, data = (answer, b"") if isinstance(answer, int) else (0, answer)
            os.write(fuse, struct.pack("<IiQ", 16 + len(data), -fault, unique) + data)


if __name__ == "__main__":
    main(sys.argv[1])
