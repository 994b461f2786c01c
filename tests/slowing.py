"""A drive with a write cache, of parameters that only the test knows: an NBD server that takes writes at one speed
until so many bytes are in the cache, then at another, and empties it while it is left alone. It keeps no data, and
writes down when its cache was full.

    python -m tests.slowing SOCKET SIZE CACHE FAST SLOW THRESHOLD_S LOG
"""

import socket
import struct
import sys
import time
from pathlib import Path

MAGIC, OPTION, REPLY = b"NBDMAGIC", b"IHAVEOPT", 0x0003E889045565A9
GO, ABORT, EXPORT_NAME = 7, 2, 1
READ, WRITE, END, FLUSH, TRIM = range(5)
REQUEST, ANSWER = 0x25609513, 0x67446698


def exactly(connection: socket.socket, count: int) -> bytes:
    """So many bytes, or EOFError."""
    parts = bytearray()
    while len(parts) < count:
        part = connection.recv(count - len(parts))
        if not part:
            raise EOFError
        parts += part
    return bytes(parts)


def shake(connection: socket.socket, size: int) -> None:
    """Fixed newstyle handshake, of one export."""
    flags = 0b100101  # has flags, flush, trim
    connection.sendall(MAGIC + OPTION + struct.pack(">H", 3))
    exactly(connection, 4)
    while True:
        _, option, length = struct.unpack(">8sII", exactly(connection, 16))
        exactly(connection, length)
        if option == EXPORT_NAME:
            connection.sendall(struct.pack(">QH", size, flags) + bytes(0))
            return
        if option == GO:
            info = struct.pack(">HQH", 0, size, flags)
            connection.sendall(struct.pack(">QIII", REPLY, option, 3, len(info)) + info)
            connection.sendall(struct.pack(">QIII", REPLY, option, 1, 0))
            return
        answer = 1 if option == ABORT else (1 << 31) | 1
        connection.sendall(struct.pack(">QIII", REPLY, option, answer, 0))
        if option == ABORT:
            raise EOFError


def serve(connection: socket.socket, cache: float, fast: float, slow: float, threshold_s: float, log: Path) -> None:
    """Until the client leaves."""
    used, free_at, full = 0.0, time.monotonic(), False
    while True:
        _, _, kind, cookie, _, length = struct.unpack(">IHHQQI", exactly(connection, 28))
        if kind == END:
            return
        if kind == WRITE:
            exactly(connection, length)
            now = time.monotonic()
            if now - free_at > threshold_s:
                used, full = 0.0, False
            used += length
            if used > cache and not full:
                full = True
                with log.open("a") as file:
                    file.write(f"{time.time()}\n")
            free_at = max(now, free_at) + length / (slow if full else fast)
            time.sleep(max(free_at - now, 0))
        connection.sendall(struct.pack(">IIQ", ANSWER, 0, cookie) + (bytes(length) if kind == READ else b""))


def main() -> None:
    """Serve one client."""
    path, size, *rest, log = sys.argv[1:]
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(path)
    listening.listen()
    connection, _ = listening.accept()
    try:
        shake(connection, int(size))
        serve(connection, *(float(of) for of in rest), Path(log))
    except EOFError:
        pass


if __name__ == "__main__":
    main()
