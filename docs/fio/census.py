"""What pslc makes of a folder of job files, such as the `examples` in fio's sources:
`make fio-census FOLDER=fio/examples`. Writes docs/fio/census.md: names and verdicts."""

import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from pslc._native import PslcError, SimDrive
from pslc.runner import job_file
from pslc.targets.target import open_simulated

PAGE = Path(__file__).parent / "census.md"
DRIVE = "sim:sn850-1tb"
ENVIRONMENT = {"DISK": "scratch.bin", "FILENAME": "scratch.bin", "SIZE": "64m"}
"""For the files that ask for some."""


def by_fio(path: Path) -> bool:
    """Whether fio takes the file."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["fio", "--parse-only", path.absolute()]
        environment = os.environ | ENVIRONMENT
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False, timeout=60)
    return done.returncode == 0


def by_pslc(path: Path, drive: SimDrive) -> str:
    """`runs`, or why it is refused."""
    try:
        # What a job would do is worked out and nothing is written.
        drive.unwritten_bytes(job_file.read([path]), path.name, [])
    except PslcError as error:
        return str(error).partition("\n")[0].partition(": ")[2]
    return "runs"


def main() -> None:
    """Write the page."""
    os.environ |= ENVIRONMENT
    drive = open_simulated(DRIVE)
    rows, counts = [], Counter[str]()
    for path in sorted(Path(sys.argv[1]).glob("*.fio")):
        taken = by_fio(path)
        verdict = by_pslc(path, drive)
        zoned = "zonemode" in verdict and "zonemode=zbd" in path.read_text(encoding="utf-8")
        other = "another engine's business" in verdict or zoned
        kind = "runs" if verdict == "runs" else "other engine" if other else "refused"
        counts[kind if taken else "not fio's"] += 1
        rows.append(f"| `{path.name}` | {'yes' if taken else 'no'} | {verdict} |")
    whole = sum(counts.values()) - counts["not fio's"]
    fine = counts["runs"] + counts["other engine"]
    head = [
        "## fio's own examples",
        "",
        f"fio on this machine parses {whole} of the {len(rows)} job files in its `examples/`.",
        f"Of these, {counts['runs']} run, {counts['other engine']} are refused for another engine's own business",
        f"(zoned drives among them) and {counts['refused']} for an option:",
        f"{fine} of {whole}, {100 * fine / max(whole, 1):.0f} %, are as they should be.",
        "",
        "| file | fio parses it | pslc |",
        "|---|---|---|",
    ]
    PAGE.write_text("\n".join([*head, *rows]) + "\n", encoding="utf-8")
    print("\n".join(head[2:6]))


if __name__ == "__main__":
    main()
