"""Digests of what runs write down, one a line: `.ci/windows smoke` prints them on Linux and on Windows, and they are
the same to the byte. It stands alone: it needs pslc and no more."""

import hashlib
import sys
import tempfile
from pathlib import Path

import pslc
from pslc.recording import store

ON = "sim:pm871b-128gb"
DEEP = "[a]\nbs=4k\nioengine=libaio\niodepth=16\nsize=2g\nnumber_ios=50000\n"
JOBS = {
    "mixed": f"{DEEP}rw=randrw\nfsync=1000\n",
    "zipf": f"{DEEP}rw=randrw\nrandom_distribution=zipf:1.2\n",
    "trims": "[a]\nrw=randtrimwrite\nnorandommap\nbs=64k\nsize=2g\nnumber_ios=20000\n",
    # As an editor on Windows saves it, with paths as fio spells them there.
    "windows": "\ufeff[global]\r\ndirectory=C\\:\\dir\r\nfilename=\\\\.\\PhysicalDrive1\r\n"
    "[a]\r\nrw=write\r\nbs=1m\r\nsize=4g\r\n",
}
"""Job files by the name of their line."""


def of_recording(recording: "pslc.Recording") -> str:
    """The beginning of the SHA-256 of all series of a recording."""
    digest = hashlib.sha256()
    for axis in (recording.time, recording.bytes):
        for name, column in axis.items():
            digest.update(name.encode() + column.astype("<u8").tobytes())
    return digest.hexdigest()[:16]


def digests() -> dict[str, str]:
    """Of a fill, of each job, and of a fill that was saved and loaded again."""
    fill = pslc.run("fill", on=ON, seed=3)
    by_name = {"fill": of_recording(fill)}
    with tempfile.TemporaryDirectory() as folder:
        store.save(fill, Path(folder) / "run")
        by_name["loaded"] = of_recording(store.load(Path(folder) / "run"))
        for name, text in JOBS.items():
            job = Path(folder) / f"{name}.fio"
            job.write_bytes(text.encode())
            by_name[name] = of_recording(pslc.run(job, on=ON, seed=11))
    return by_name


if __name__ == "__main__":
    for name, digest in digests().items():
        sys.stdout.write(f"{name} {digest}\n")
