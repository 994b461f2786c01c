"""What MQSim (Tavakkol et al., FAST 2018) answers to reads, beside pslc: `make bench NAME=mqsim_answers ARGS=folder`,
where the folder is a checkout that was built (github.com/CMU-SAFARI/MQSim, `make`).

Both have the same drive: four channels of 800 MT/s with two dies each, pages of 16 KiB that take 60 us to read, no
cache. Both replay the same trace: 2000 reads of a page at random, so many of them at once and far apart. Each lays the
pages out on its dies in its own way."""

import argparse
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

import pslc
from benches.mqsim import WHOLE_MAP, answer

READS: Final = 2000
PAGES: Final = 8000
AT_ONCE: Final = (1, 4, 16)
GAP_NS: Final = 5_000_000
SECTORS: Final = 16384 // 512
THEIRS: Final = {
    **WHOLE_MAP, "Caching_Mechanism": "SIMPLE", "Channel_Transfer_Rate": 800, "Page_Capacity": 16384,
    "Page_Metadat_Capacity": 0, "Page_Read_Latency_LSB": 60000, "Page_Read_Latency_CSB": 60000,
    "Page_Read_Latency_MSB": 60000, "Die_No_Per_Chip": 1, "Chip_No_Per_Channel": 2, "Flash_Channel_Count": 4,
    "Block_No_Per_Plane": 256, "Plane_No_Per_Die": 1,
}  # fmt: skip
FLOW, OURS = (Path(__file__).with_name(name).read_text(encoding="utf-8") for name in ("mqsim_trace.xml", "mqsim.toml"))
"""The trace as MQSim takes it, and the drive as pslc does."""


def mqsim(program: Path, folder: Path) -> tuple[float, float]:
    """Mean and longest time of a read of the trace there, in microseconds."""
    _, text = answer(program, folder, THEIRS, FLOW)
    mean, longest = (re.search(rf"<{name}Device_Response_Time>(\d+)<", text) for name in ("", "Max_"))
    if mean is None or longest is None:
        raise SystemExit("MQSim answered without times")
    return float(mean[1]), float(longest[1])


def ours(folder: Path) -> tuple[float, float]:
    """As `mqsim`, with the pages written before."""
    (folder / "drive.toml").write_text(OURS)
    command = [sys.executable, "-m", "pslc", "replay", "reads.trace", "--on", "sim:drive.toml", "--format", "mqsim",
               "--prefill", "--save", "recording", "--no-report", "--json"]  # fmt: skip
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    table = pslc.load(folder / "recording").bytes
    return float(table["lat_sum_ns"].sum() / table["reads"].sum() / 1e3), float(table["lat_max_ns"].max() / 1e3)


def main() -> None:
    """Replay, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=Path, help="a built checkout of MQSim")
    program = parser.parse_args().program.resolve()
    print("| reads at once | MQSim, mean | pslc, mean | MQSim, longest | pslc, longest |\n|---:|---:|---:|---:|---:|")
    dice = random.Random(1)
    for at_once in AT_ONCE:
        with tempfile.TemporaryDirectory() as name:
            lines = [f"{(1 + number // at_once) * GAP_NS} 0 {dice.randrange(PAGES) * SECTORS} {SECTORS} 1"
                     for number in range(READS)]  # fmt: skip
            (Path(name) / "reads.trace").write_text("\n".join(lines) + "\n")
            (mean, longest), (own, own_longest) = mqsim(program, Path(name)), ours(Path(name))
        print(f"| {at_once} | {mean:.0f} us | {own:.0f} us | {longest:.0f} us | {own_longest:.0f} us |", flush=True)


if __name__ == "__main__":
    main()
