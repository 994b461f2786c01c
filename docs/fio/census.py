"""What pslc makes of a folder of job files, such as the `examples` in fio's sources:
`make fio-census FOLDER=fio/examples`. Each file is run on a simulated drive and, with every engine replaced by `null`,
by fio: jobs and bytes have to be the same. Writes docs/fio/census.md: names and verdicts."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pslc.base.errors import PslcError
from pslc.device.target import open_simulated
from pslc.runner import job_file

PAGE = Path(__file__).parent / "census.md"
PSLC = Path(sys.executable).parent / "pslc"
DRIVE = "sim:sn850-1tb"
LIMIT_S = 60
"""Of one run; what goes on is ended."""
ENVIRONMENT = {"DISK": "scratch.bin", "FILENAME": "scratch.bin", "SIZE": "64m"}
"""For the files that ask for some."""
KINDS = ("read", "write", "trim")


def run(command: list[Any], folder: str) -> tuple[int, str, str, bool]:
    """Exit code, both outputs, and whether it had to be ended."""
    # Into files: fio's processes may outlive it, and hold on to a pipe.
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=os.environ | ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        ended = False
        try:
            process.wait(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            ended = True
            process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=2 * LIMIT_S)
        except subprocess.TimeoutExpired:
            # It is writing down what it did.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        for file in (out, err):
            file.seek(0)
        return process.returncode, out.read(), err.read(), ended


def jobs(out: str) -> list[dict[str, Any]]:
    """Of fio's JSON, behind what it prints before; each with the options of all."""
    document = json.loads(out[out.index("{\n") :])
    everywhere = document.get("global options", {})
    return [job | {"job options": everywhere | job.get("job options", {})} for job in document["jobs"]]


def moved(job: dict[str, Any]) -> int:
    """Bytes of all kinds."""
    return sum(job[kind]["io_bytes"] for kind in KINDS)


def is_taken(path: Path) -> bool:
    """Whether fio takes the file."""
    with tempfile.TemporaryDirectory() as folder:
        return run(["fio", "--parse-only", path.absolute()], folder)[0] == 0


def by_fio(path: Path) -> list[dict[str, Any]] | None:
    """What fio does where nothing is read or written; None if it does not come to an end."""
    lines = path.read_text(encoding="utf-8").splitlines()
    # Another engine has no options of the one that was asked for, and the target is as large as ours.
    text = "\n".join(re.sub(r"^\s*ioengine\s*=.*", "", line) for line in lines)
    text = re.sub(r"^\s*(filename|directory)\s*=.*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^(\s*\[[^]]*\].*)$", r"\1\nioengine=null\nfilename=x", text, flags=re.MULTILINE)
    with tempfile.TemporaryDirectory() as folder:
        job = Path(folder) / path.name
        job.write_text(text, encoding="utf-8")
        code, out, _, ended = run(["fio", job, "--output-format=json"], folder)
    try:
        return jobs(out) if code == 0 and not ended else None
    except ValueError:
        return None


def by_pslc(path: Path) -> str:
    """What came of it."""
    try:
        # What is ended later was taken, at least.
        open_simulated(DRIVE).unwritten_bytes(job_file.read([path]), path.name, [])
    except PslcError as error:
        return str(error).partition("\n")[0].partition(": ")[2]
    with tempfile.TemporaryDirectory() as folder:
        command = [PSLC, "run", path.absolute(), "--on", DRIVE, "--no-layout", "--output-format=fio"]
        code, out, err, ended = run(command, folder)
    if "a bug in pslc" in err:
        return f"FAILS: {err.strip().splitlines()[0]}"
    if code == 2:
        said = next((line for line in err.splitlines() if line.startswith("error: ")), "error: it says nothing")
        return said.removeprefix("error: ").removeprefix(f"{path.absolute()}").partition(": ")[2] or said
    if code not in (0, 3) and not ended:
        return f"FAILS with {code}: {err.strip().splitlines()[-1] if err.strip() else 'no word'}"
    if ended:
        # It has read the file, and is at work.
        return f"runs; ended after {LIMIT_S} s"
    if "{\n" not in out:
        return "FAILS: it says nothing"
    ours = jobs(out)
    theirs = by_fio(path)
    if theirs is None:
        return "runs; fio's goes on for longer, or needs its own engine"
    names = [[job["jobname"] for job in of] for of in (theirs, ours)]
    if names[0] != names[1]:
        return f"DIFFERS: jobs {names[1]}, of fio {names[0]}"
    for their, our in zip(theirs, ours, strict=True):
        timed = is_timed(their) or is_timed(our)
        if our["job options"].get("ioengine") == "null" and moved(our) == 0:
            return "runs: a job of ioengine=null, which touches no drive"
        if not timed and abs(moved(their) - moved(our)) > 0.02 * moved(their):
            return f"DIFFERS: {our['jobname']} moves {moved(our)} bytes, of fio {moved(their)}"
    return "runs: the same jobs" + (" and bytes" if not any(map(is_timed, theirs)) else "")


def is_timed(job: dict[str, Any]) -> bool:
    """Whether a job ends by time, or with another."""
    return bool({"runtime", "timeout", "time_based", "exitall"} & job["job options"].keys())


def main() -> None:
    """Write the page."""
    os.environ |= ENVIRONMENT
    counts = Counter[str]()
    files: dict[str, list[str]] = {}
    paths = sorted(Path(sys.argv[1]).glob("*.fio"))
    with ThreadPoolExecutor(4) as pool:
        found = list(zip(paths, pool.map(is_taken, paths), pool.map(by_pslc, paths), strict=True))
    for path, taken, verdict in found:
        zoned = "zonemode" in verdict and "zonemode=zbd" in path.read_text(encoding="utf-8")
        other = "another engine's business" in verdict or zoned
        kind = next(
            (
                kind
                for kind, of in {
                    "runs": verdict.startswith("runs"),
                    "fails": verdict.startswith(("FAILS", "DIFFERS")),
                    "other engine": other,
                    "larger": "past the" in verdict,
                }.items()
                if of
            ),
            "refused",
        )
        counts[kind if taken else "not fio's"] += 1
        row = re.sub(r"^ioengine=.* business: ", "another engine: ", verdict) if taken else "fio does not parse it here"
        files.setdefault(row, []).append(f"`{path.stem}`")
    whole = sum(counts.values()) - counts["not fio's"]
    fine = counts["runs"] + counts["other engine"] + counts["larger"]
    head = [
        "## fio's own examples",
        "",
        f"fio on this machine parses {whole} of the {len(found)} job files in its `examples/`; each was run on",
        f"`{DRIVE}`: {counts['runs']} run, {counts['other engine']} are refused for another engine's own",
        f"business (zoned drives among them), {counts['larger']} for a target larger than this drive,",
        f"{counts['refused']} for an option or for memory; {counts['fails']} fail or do something else than fio.",
        f'{fine} of {whole}, {100 * fine / max(whole, 1):.0f} %, are as they should be. "The same" is as in fio\'s own',
        "run of the file with its `null` engine.",
        "",
        "| pslc | files |",
        "|---|---|",
    ]
    rows = [f"| {row} | {', '.join(names)} |" for row, names in files.items()]
    PAGE.write_text("\n".join([*head, *rows]) + "\n", encoding="utf-8")
    print("\n".join(head[2:8]))


if __name__ == "__main__":
    main()
