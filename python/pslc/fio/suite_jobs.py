"""The steps of a suite as a job file for fio itself, in words that fio has."""

from collections.abc import Sequence

from pslc.device.region import Region


def job_file(steps: Sequence[str], region: Region) -> str:
    """The steps of a suite as one job file that fio takes. fio has no copies: a reader and a writer that keep pace
    stand for one. Nor has it files within one: runs from random places stand for them."""
    head = [
        "[global]",
        "filename=pslc.scratch",
        f"filesize={region.target.capacity_bytes}",
        "ioengine=io_uring",
        "thread",
    ]
    sections = [part for text in steps for section in _sections(text) for part in _without_pause(section)]
    sections = [_without_files(lines) for lines in sections]
    return "\n\n".join(["\n".join(head), *(_without_copy(lines) for lines in sections)]) + "\n"


def _sections(text: str) -> list[list[str]]:
    sections: list[list[str]] = []
    for line in filter(None, text.splitlines()):
        if line.startswith("["):
            sections.append([])
        sections[-1].append(line)
    return sections


def _without_pause(lines: list[str]) -> list[list[str]]:
    """fio has no pauses between jobs: a job that touches no drive stands for one."""
    pause = next((line.partition("=")[2] for line in lines if line.startswith("pause=")), None)
    rest = [line for line in lines if not line.startswith("pause=")]
    if pause is None:
        return [rest]
    idle = [
        f"{rest[0][:-1]} pause]",
        "stonewall",
        "ioengine=null",
        "size=4k",
        "time_based",
        f"runtime={pause}",
        "rate_iops=1",
    ]
    return [idle, rest if "stonewall" in rest else [rest[0], "stonewall", *rest[1:]]]


def _without_files(lines: list[str]) -> list[str]:
    options = dict(line.split("=", 1) for line in lines if "=" in line)
    if "files" not in options:
        return lines
    kilobytes = int(options["bs"].removesuffix("k"))
    run = f"rw={options['rw']}:{int(options['files']) // (kilobytes * 1024)}"
    return [run if line.startswith("rw=") else line for line in lines if not line.startswith("files=")]


def _without_copy(lines: list[str]) -> str:
    to = next((line.partition("=")[2] for line in lines if line.startswith("copy_to=")), None)
    if to is None:
        return "\n".join(lines)
    number = sum(map(ord, lines[0]))
    reader = [line for line in lines if not line.startswith(("copy_to=", "end_fsync"))]
    writer = [line for line in lines if not line.startswith(("copy_to=", "stonewall", "offset="))]
    writer[0] = f"{writer[0][:-1]} to]"
    writer = [line.replace("read", "write") if line.startswith("rw=") else line for line in writer] + [f"offset={to}"]
    pace = ["flow=1", f"flow_id={number}"]
    return "\n".join(reader + pace) + "\n\n" + "\n".join(writer + pace)
