"""fio's own tests, run against `pslc-fio`: `make fio-tests FOLDER=<a checkout of fio>`.

The job tests of its `t/run-fio-tests.py`, and those of its test scripts that are about one process. Writes
docs/fio/own_tests.md: names and verdicts. A test is *refused* where pslc refuses the job before anything runs, and *not
applicable* where it looks for what pslc leaves out.
"""

import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parent / "own_tests.md"
JOB_TESTS = range(1, 39)
LIMIT_S = 480
"""Of one script; what it has not come to by then is said."""
LIMIT_OF_ALL_S = 900
"""Of the job tests together."""
SCRIPTS = {
    "readonly": "", "strided": "", "jsonplus2csv_test": "", "log_compression": "", "random_seed": "", "verify": "",
    "latency_percentiles": "cmdprio",
}  # fmt: skip
"""Test scripts, and the option whose tests look for what pslc leaves out."""
COMPLAINT = re.compile(r"^(Offset|Expected) \d+")
"""strided.py prints what is wrong and passes all the same."""


@dataclass(frozen=True)
class Verdict:
    """Of one test: `passed`, `refused`, `not applicable` or `FAILED`, and why."""

    name: str
    verdict: str
    why: str = ""


def run(command: list[str], folder: Path, limit_s: int) -> tuple[str, bool]:
    """What a command printed, and whether it had to be ended."""
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        ended = False
        try:
            process.wait(timeout=limit_s)
        except subprocess.TimeoutExpired:
            ended = True
            process.send_signal(signal.SIGINT)
            process.wait()
        out.seek(0)
        return out.read(), ended


def refusal(folder: Path) -> str | None:
    """What pslc refused in the folder of a test: it said an error and printed no result."""
    for path in sorted(folder.glob("*.stderr")):
        error = re.match(r"error: (.*)", path.read_text())
        if error and not path.with_suffix(".output").exists():
            return re.sub(r"^\S+/jobs\.fio", "the jobs", error[1])
    return None


def job_tests(checkout: Path, entry: Path, python: str, folder: Path) -> Iterator[Verdict]:
    """Those of run-fio-tests.py."""
    numbers = list(map(str, JOB_TESTS))
    command = [python, str(checkout / "t/run-fio-tests.py"), "-f", str(entry), "-a", "jobs", "-k", "-o", *numbers]
    said, ended = run(command, folder, LIMIT_OF_ALL_S)
    found = re.findall(r"^Test (\d+) (PASSED|FAILED): ?(.*?) ?(\S+)$", re.sub(r"PASSED", "PASSED:", said), re.MULTILINE)
    if not found:
        sys.exit(said)
    for number, word, why, name in found:
        reason = refusal(folder / "jobs" / f"{int(number):04d}") if word == "FAILED" else None
        if word == "PASSED":
            yield Verdict(name, "passed")
        elif reason is not None:
            yield Verdict(name, "refused", reason)
        else:
            yield Verdict(name, "FAILED", why.strip(" ,").replace(str(folder), ""))
    if ended:
        yield Verdict("run-fio-tests.py", "FAILED", f"ended after {LIMIT_OF_ALL_S} s")


def script(name: str, left_out: str, checkout: Path, entry: Path, python: str, folder: Path) -> Iterator[Verdict]:
    """The tests of one script."""
    folder.mkdir()
    said, ended = run([python, str(checkout / f"t/{name}.py"), "-f", str(entry)], folder, LIMIT_S)
    complaints: list[str] = []
    count = 0
    seen: Counter[str] = Counter()
    for line in said.splitlines():
        test = re.match(r"\**Test (.+?) (PASSED|FAILED)", line)
        if COMPLAINT.match(line):
            complaints.append(line)
        elif test:
            count += 1
            seen[test[1]] += 1
            title = f"{name}.py {test[1]}"
            if left_out and test[2] == "FAILED" and left_out in _command(folder, test[1]):
                yield Verdict(title, "not applicable", f"it is of `{left_out}`, which is ignored")
            elif test[2] == "FAILED" and (reason := _refused(folder, test[1], seen[test[1]])):
                yield Verdict(title, "refused", reason)
            elif test[2] == "FAILED" or complaints:
                yield Verdict(title, "FAILED", "; ".join(complaints))
            else:
                yield Verdict(title, "passed")
            complaints = []
    error = re.search(r"^error: (.*)", said, re.MULTILINE)
    # A script that had to be ended says where it was.
    if "Traceback" in said and not ended:
        reason = re.sub(r"^\S+/jobs\.fio", "the jobs", error[1]) if error else "see its output"
        yield Verdict(f"{name}.py {count + 1}", "refused" if error else "FAILED", reason)
    numbered = len(set(re.findall(r"""test_id["']: *\d+""", (checkout / f"t/{name}.py").read_text(encoding="utf-8"))))
    # Where each test has a verdict, only the script itself was ended.
    if ended and not 0 < numbered <= count:
        yield Verdict(f"{name}.py {count + 1} and later", "not run", f"ended after {LIMIT_S} s")


def _refused(folder: Path, number: str, turn: int) -> str | None:
    """Why pslc refused the test of a number when it was run for the `turn`-th time.

    Scripts run a test with several options, each in a folder of its own."""
    if not number.isdigit():
        return None
    runs = [path for path in folder.rglob("*.command") if path.parent.name.isdigit()]
    own = sorted(
        (path for path in runs if int(path.parent.name) == int(number)), key=lambda path: path.stat().st_mtime_ns
    )
    reason = refusal(own[turn - 1].parent) if turn <= len(own) else None
    # Places differ from run to run.
    return re.sub(r"^\S*jobs(\.fio)?:\d+: ", "", reason) if reason else None


def _command(folder: Path, number: str) -> str:
    found = sorted(folder.glob(f"*/{int(number):03d}/*.command")) if number.isdigit() else []
    return found[0].read_text() if found else ""


def version(checkout: Path) -> str:
    """Which fio the tests are of."""
    words = ["git", "-C", str(checkout), "describe", "--always", "--tags"]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip() or "an unknown version"


def page(of: str, verdicts: list[Verdict]) -> str:
    """The part of docs/fio.md."""
    counts = Counter(verdict.verdict for verdict in verdicts)
    summary = ", ".join(f"{count} {word}" for word, count in counts.most_common())
    lines = [
        "## fio's own tests",
        "",
        f"The tests in the sources of {of}, run by `make fio-tests FOLDER=<a checkout>` against `pslc-fio`:",
        f"{summary}. *Refused*: pslc says why before anything runs. In parentheses: how many of a script.",
        "Those of zoned drives, NVMe's passthrough, several hosts, other engines and fio's own data structures are not "
        "run.",
        "",
        "| tests | are | and |",
        "|---|---|---|",
    ]
    # Tests with the same verdict and reason share a row, and those of one script a name in it.
    rows: dict[tuple[str, str], Counter[str]] = {}
    for verdict in verdicts:
        name, is_script, _ = verdict.name.removesuffix(".fio").partition(".py ")
        reason = re.sub(r"^the jobs:\d+: ", "", verdict.why).replace("|", " ")
        rows.setdefault((verdict.verdict, reason), Counter())[f"{name}.py" if is_script else name] += 1
    for (word, reason), tests in rows.items():
        names = [f"`{name}` ({count})" if name.endswith(".py") else f"`{name}`" for name, count in tests.items()]
        lines.append(f"| {', '.join(names)} | {word} | {reason} |")
    return "\n".join(lines) + "\n"


def main(checkout: Path, python: str, scripts: list[str]) -> None:
    """Run the job tests and the scripts, and write the page."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        entry = folder / "fio"
        entry.write_text(f'#!/bin/sh\nexec "{Path(sys.executable).with_name("pslc-fio")}" "$@"\n')
        entry.chmod(0o755)
        verdicts = list(job_tests(checkout, entry, python, folder))
        for word in scripts:
            verdicts += script(word, SCRIPTS[word], checkout, entry, python, folder / word)
    PAGE.write_text(page(version(checkout), verdicts), encoding="utf-8")
    for verdict in verdicts:
        if verdict.verdict != "passed":
            print(f"{verdict.name}: {verdict.verdict}: {verdict.why}")
    sys.exit(any(verdict.verdict == "FAILED" for verdict in verdicts))


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute(), sys.argv[2], sys.argv[3:] or list(SCRIPTS))
