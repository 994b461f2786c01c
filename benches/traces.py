"""Speed and memory of replayed traces: 4 KiB writes that the cache takes, from text and from Parquet, with everything
that `pslc run` does: a pass to know what is in it, a pass to replay it, the findings. Times are processor time, of one
process, all its threads.

    python benches/traces.py                        20 M requests of each kind: the start of a run is a tenth of it
    python benches/traces.py --count 100000000      the longest promised to fit; takes 4 GB in --folder
    python benches/traces.py --span 1000000000000   over the whole drive: how much memory its maps take
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

DRIVE = "sim:sn850-1tb"
SPAN = 2 << 30
"""Addresses are drawn from so many bytes: the cache takes what is written."""
STEP_US = 20
BATCH = 1 << 16


def batches(count: int, span: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Times in us and offsets, so many at a time."""
    draw = np.random.default_rng(1)
    for first in range(0, count, BATCH):
        size = min(BATCH, count - first)
        yield np.arange(first, first + size) * STEP_US, draw.integers(0, span >> 12, size) << 12


def write_text(path: Path, count: int, span: int) -> None:
    """In the form of Alibaba's block traces, with leading zeros: a table of digits is quickly made."""
    with path.open("wb") as file:
        for times, offsets in batches(count, span):
            rows = np.empty((len(times), len(LINE)), dtype="u1")
            rows[:] = np.frombuffer(LINE, dtype="u1")
            for values, first, last in ((offsets, 4, 16), (times + 1577808000000000, 23, 38)):
                left = values.copy()
                for column in range(last, first - 1, -1):
                    left, digit = np.divmod(left, 10)
                    rows[:, column] = digit + ord("0")
            file.write(rows.tobytes())


LINE = b"7,W,0000000000000,4096,0000000000000000\n"


def write_parquet(path: Path, count: int, span: int) -> None:
    """With the columns of `pslc trace convert`."""
    from arro3.core import Array, DataType, Field, RecordBatch, RecordBatchReader, Schema
    from arro3.io import write_parquet

    kinds = {
        "time_ns": DataType.uint64(),
        "op": DataType.uint8(),
        "offset": DataType.uint64(),
        "size": DataType.uint32(),
        "device": DataType.uint32(),
        "took_ns": DataType.uint64(),
    }
    schema = Schema(
        [Field(name, kind, nullable=False) for name, kind in kinds.items()], metadata={"pslc.devices": '["7"]'}
    )

    def made() -> Iterator[RecordBatch]:
        for times, offsets in batches(count, span):
            zeros = np.zeros(len(times))
            columns = [times * 1000, zeros + 1, offsets, zeros + 4096, zeros, zeros]
            types = ("u8", "u1", "u8", "u4", "u4", "u8")
            arrays = [
                Array.from_numpy(column.astype(kind)).cast(of)
                for column, kind, of in zip(columns, types, kinds.values(), strict=True)
            ]
            yield RecordBatch.from_arrays(arrays, schema=schema)

    with path.open("wb") as file:
        write_parquet(RecordBatchReader.from_batches(schema, made()), file, compression="zstd(1)")


WRITERS = {"text": write_text, "parquet": write_parquet}


def child(path: str, on: str) -> None:
    """Replay it and say what it took; on no drive, look at what is in it: what a trace takes alone."""
    import pslc
    from pslc import traces
    from pslc.base import limits

    before = time.process_time()
    if not on:
        traces.opened(Path(path), traces.Part()).survey()
        print(json.dumps({"rss_bytes": limits.peak_bytes()}))
        return
    recording = pslc.run(path, on=on)
    took = time.process_time() - before
    found = recording.findings
    said = {
        "requests": found["requests"],
        "cpu_s": took,
        "share_slc": found["share_slc"],
        "rss_bytes": limits.peak_bytes(),
    }
    print(json.dumps(said))


def run(path: Path, on: str) -> dict[str, float]:
    """In a process of its own."""
    command = [sys.executable, __file__, "--child", str(path), "--on", on]
    found: dict[str, float] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return found


def main() -> None:
    """Make a trace of each kind, replay it, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20_000_000)
    parser.add_argument("--kinds", default="text,parquet")
    parser.add_argument("--repeat", type=int, default=3, help="the best counts: others share the machine")
    parser.add_argument("--folder", type=Path, help="where traces are written, and removed; a temporary one")
    parser.add_argument("--on", default=DRIVE, help="the drive")
    parser.add_argument("--span", type=int, default=SPAN, help="addresses are drawn from so many bytes")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        child(asked.child, asked.on)
        return
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        for kind in asked.kinds.split(","):
            path = Path(folder) / f"trace.{kind}"
            WRITERS[kind](path, asked.count, asked.span)
            size = path.stat().st_size
            runs = [run(path, asked.on) for _ in range(asked.repeat)]
            alone = run(path, "")
            path.unlink()
            best = min(runs, key=lambda run: run["cpu_s"])
            assert best["requests"] == asked.count
            print(
                f"{kind:8}{asked.count / 1e6:.0f} M requests, {size / 1e6:.0f} MB: "
                f"{asked.count / best['cpu_s'] / 1e6:.2f} M requests/s ({best['cpu_s']:.2f} s), "
                f"{best['rss_bytes'] / 1e6:.0f} MB of memory ({alone['rss_bytes'] / 1e6:.0f} MB without a drive), "
                f"{best['share_slc']:.0%} of the writes to pSLC",
                flush=True,
            )


if __name__ == "__main__":
    main()
