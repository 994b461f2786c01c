"""A drive is served on every system: through TCP, with its data in a file or in memory."""

import socket
import struct

import pytest

import pslc
from pslc.device.target import open_simulated

READ, WRITE, FLUSH, ZEROES = 0, 1, 3, 6


def ask(client: socket.socket, kind: int, offset: int, length: int, data: bytes = b"") -> bytes:
    """A request, and the data of its reply."""
    client.sendall(struct.pack(">IHHQQI", 0x25609513, 0, kind, 7, offset, length) + data)
    reply = receive(client, 16 + (length if kind == READ else 0))
    assert struct.unpack(">IIQ", reply[:16]) == (0x67446698, 0, 7)
    return reply[16:]


def receive(client: socket.socket, count: int) -> bytes:
    got = b""
    while len(got) < count:
        got += client.recv(count - len(got)) or pytest.fail("the server has gone")
    return got


@pytest.mark.parametrize("data", ["keep", "memory"])
def test_what_is_written_through_tcp_comes_back(tmp_path, data):
    drive = open_simulated("sim:pm871b-128gb,scale=1/64")
    drive.save(str(tmp_path / "disk.pslc"))
    drive.close()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for again in (False, True):
        with (
            pslc.serve(str(tmp_path / "disk.pslc"), tcp=port, data=data),
            socket.create_connection(("127.0.0.1", port), 30) as client,
        ):
            receive(client, 18)
            client.sendall(b"\0\0\0\3IHAVEOPT\0\0\0\1\0\0\0\0")
            receive(client, 10)
            expected = b"x" * 65536 if again and data == "keep" else bytes(65536)
            assert ask(client, READ, 1 << 20, 65536) == expected
            ask(client, WRITE, 1 << 20, 65536, b"x" * 65536)
            ask(client, WRITE, 1 << 24, 4096, b"y" * 4096)
            ask(client, ZEROES, 1 << 24, 4096)
            ask(client, FLUSH, 0, 0)
            assert ask(client, READ, 1 << 20, 65536) == b"x" * 65536
            assert ask(client, READ, 1 << 24, 4096) == bytes(4096)
    assert not (tmp_path / "disk.pslc.journal").exists()
