"""A point with the texts of the files that it is made from, so that any worker of a cluster gives the same row."""

from dataclasses import dataclass, replace
from pathlib import Path

from pslc import suites
from pslc.base import gate, writer
from pslc.policy.governor import source_of
from pslc.runner import job_file
from pslc.studies.points import GOVERNORS, PROFILE, Point
from pslc.studies.rows import Row
from pslc.studies.workers import Task, measure


@dataclass(frozen=True)
class RemoteTask:
    """A point of a study, and by axis the text of the file that its value names."""

    task: Task
    texts: dict[str, str]

    @property
    def point(self) -> Point:
        """The point."""
        return self.task.point


def with_texts(task: Task) -> RemoteTask:
    """A point of a study, with the texts of its files."""
    from pslc.device.target import find_target, name_in

    values, texts = dict(task.point.values), {}
    name = name_in(values["on"])
    if "/" in name or name.endswith(".toml"):
        texts["on"] = find_target(f"sim:{name}").profile
    if values["run"] not in suites.names():
        texts["run"] = gate.text(Path(values["run"]), job_file.FILE)
    for axis, kind in GOVERNORS.items():
        if values.get(axis, PROFILE) != PROFILE:
            texts[axis] = source_of(values[axis], kind)
    return RemoteTask(task, texts)


def measure_remote(remote: RemoteTask) -> Row | None:
    """Run a point with the texts of its files, wherever that is."""
    with writer.temporary("pslc-point-") as folder:
        values = dict(remote.task.point.values)
        for axis, text in remote.texts.items():
            path = Path(folder) / ("drive.toml" if axis == "on" else Path(values["run"]).name)
            writer.write(path, text)
            rest = values["on"].partition(",")[2]
            if axis in GOVERNORS:
                path = Path(folder) / f"{axis}.py"
                values[axis] = f"{path}:{values[axis].rpartition(':')[2]}"
                writer.write(path, text)
                continue
            values[axis] = str(path) if axis == "run" else f"sim:{path}" + (f",{rest}" if rest else "")
        point = replace(remote.task.point, values=tuple(values.items()))
        return measure(replace(remote.task, point=point))
