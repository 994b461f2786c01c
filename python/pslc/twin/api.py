"""The public fit: from recordings, logs or published figures to the report of a twin."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypedDict, Unpack

from pslc.analysis import Curve
from pslc.base import install, units
from pslc.base.errors import user_error
from pslc.device import parts
from pslc.recording import store
from pslc.recording.model import Recording
from pslc.recording.writes.curve import write_curve
from pslc.runner.load import read_one
from pslc.schema.imports import ImportOptions, is_random
from pslc.twin import initial_fit, priors, published_curve
from pslc.twin.datasets import Dataset, dataset_of_curve, datasets_of
from pslc.twin.fit_report import FitReport, build_report
from pslc.twin.pipeline import fit_datasets
from pslc.twin.review import Drive, drive_of_parts

Source = Recording | str | Path
"""A recording, its folder, or a log of another program."""


class DriveFacts(TypedDict, total=False):
    """Facts about a drive besides the data of a fit.

    Attributes:
        published: figures of a review in place of data: `cache=435GB speed1=4000MB/s ...`.
        capacity: capacity of the drive: bytes, or text such as `1TB`. Recordings report it.
        link: `sata600`, `pcie4x4` and the like.
        nand: a die of the library, or `tlc`, `qlc`.
        controller: a controller of the library.
        written_by: the load that wrote a log or a review's curve: `qd32`, `qd1` or `copy`.
        workload: how a log was written, `random` or `sequential`, where it does not say.
        chart: what a log, a table or a picture of a chart does not say by itself: columns, what axes span and the like.
    """

    published: str | None
    capacity: str | int | None
    link: str | None
    nand: str | None
    controller: str | None
    written_by: str | None
    workload: str | None
    chart: ImportOptions | None


@dataclass
class _Inputs:
    """Data of a fit, and notes on what was assumed."""

    recordings: list[Recording]
    log: Recording | None
    capacity_bytes: int
    datasets: list[Dataset]
    host_request_ns: int = 0
    notes: list[str] = field(default_factory=list)


def fit(
    data: Source | Sequence[Source] = (),
    *,
    name: str | None = None,
    on_progress: Callable[[str], None] | None = None,
    workers: int | None = None,
    **facts: Unpack[DriveFacts],
) -> FitReport:
    """Fit a simulated twin to measurements of a drive.

    Args:
        data: recordings of one drive, their folders, or a log of another program.
        name: name of the twin (default: that of the drive).
        on_progress: called with a line for each stage.
        workers: number of processes (default: one per core).
        **facts: what is known besides the data, each optional: `capacity` (bytes, or text such as `"1TB"`), `link`
            (`"pcie4x4"`), `nand` (a die of the library, or `"tlc"`, `"qlc"`), `controller` (of the library),
            `published` (figures of a review in place of data), `written_by` (the load that wrote a log or a
            review's curve: `"qd32"`, `"qd1"` or `"copy"`), `workload` (how a log was written, `"random"` or
            `"sequential"`), and `chart` (columns of a table, what the axes of a picture span, an `ImportOptions`).

    Returns:
        The report: `report.profile` is the twin as TOML, `report.save("twin.toml")` writes it, and
            `report.result.statistics` says whether the fit converged.

    Raises:
        PslcError: there are no data, they are not of one drive, or they hold no sequential write over an empty drive;
            a part, a link or a load is unknown; scipy is missing.
        TypeError: a fact has another name.
    """
    if unknown := facts.keys() - DriveFacts.__annotations__.keys():
        raise TypeError(f"fit() got an unexpected keyword argument '{min(unknown)}'")
    try:
        import scipy  # noqa: F401
    except ImportError:
        raise user_error("a fit needs scipy", install.command("pslc[fit]")) from None
    sources = [data] if isinstance(data, (Recording, str, Path)) else list(data)
    _check(sources, facts)
    inputs = _read(sources, facts)
    knowledge = _prior_knowledge(inputs, facts)
    result = fit_datasets(inputs.datasets, knowledge, on_progress, workers)
    result.notes += inputs.notes
    # What is wrong with the machine or the target is wrong with the twin too.
    result.notes += dict.fromkeys(warning for recording in inputs.recordings for warning in recording.findings.warnings)
    if on_progress:
        on_progress("predictions")
    return build_report(result, name or _name(inputs))


def _check(sources: Sequence[Source], facts: DriveFacts) -> None:
    if (facts.get("published") is None) == (not sources):
        raise user_error(
            "pslc fit needs data" if not sources else "pslc fit takes data or --published, not both",
            "give a recording (pslc fit runs/a -o twin.toml), a log, or --published",
        )
    load = facts.get("written_by")
    if load is not None and load not in priors.LOADS:
        raise user_error(f'--written-by is "{load}"', f"one of {', '.join(priors.LOADS)}")
    is_random(facts.get("workload"))


def _read(sources: Sequence[Source], facts: DriveFacts) -> _Inputs:
    """Load the data and make datasets of them."""
    recordings, log = _load(sources, facts)
    size = _capacity(recordings, facts.get("capacity"))
    inputs = _Inputs(recordings, log, size, [dataset for each in recordings for dataset in datasets_of(each)])
    curve = _curve(inputs, facts)
    if curve is not None:
        load = facts.get("written_by")
        if load is None:
            load, note = priors.guess_load(float(curve.bytes_per_s.max()), facts.get("link"))
            inputs.notes.append(note)
        options, inputs.host_request_ns = priors.LOADS[load]
        inputs.datasets.append(dataset_of_curve(curve, options))
    return inputs


def _load(sources: Sequence[Source], facts: DriveFacts) -> tuple[list[Recording], Recording | None]:
    """Recordings of pslc, or what another program recorded."""
    recordings = [source for source in sources if isinstance(source, Recording)]
    paths = [Path(source) for source in sources if not isinstance(source, Recording)]
    logs = [path for path in paths if not path.is_dir()]
    if logs and len(logs) < len(sources):
        raise user_error("pslc fit takes recordings or logs, not both", "give data of one kind")
    if logs:
        return [], _read_log(logs, facts)
    if len(recordings) == 1 and recordings[0].facts.keys() & {"imported", "watch"}:
        return [], recordings[0]
    recordings += [store.load(path) for path in paths]
    if any("scale" in recording.facts for recording in recordings):
        raise user_error("the recording is of a scaled drive", "leave scale out, and run the suite on the whole drive")
    return recordings, None


def _read_log(paths: Sequence[Path], facts: DriveFacts) -> Recording:
    """Recording of another program.

    Raises:
        PslcError: a file is missing, or cannot be read.
    """
    if missing := next((path for path in paths if not path.exists()), None):
        raise user_error(f"{missing}: no such file or folder", "give the folder of a run, or a log of speed over time")
    return read_one(paths, _import_options(facts))


def _import_options(facts: DriveFacts) -> ImportOptions:
    """Options of a log: capacity and workload beside what its reader is told."""
    stated = _stated_bytes(facts.get("capacity"))
    options = facts.get("chart") or ImportOptions()
    return replace(options, capacity_bytes=stated or options.capacity_bytes, random=is_random(facts.get("workload")))


def _stated_bytes(capacity: str | int | None) -> int | None:
    return units.size(capacity, "--capacity") if isinstance(capacity, str) else capacity


def _capacity(recordings: Sequence[Recording], stated: str | int | None) -> int:
    """Capacity of the drive in bytes, stated or recorded."""
    size = _stated_bytes(stated) or priors.capacity_of(recordings)
    if size is None:
        raise user_error("the data do not report the capacity of the drive", "for example --capacity 1TB")
    return int(size)


def _curve(inputs: _Inputs, facts: DriveFacts) -> Curve | None:
    """The write curve of published figures or of logs; None for recordings."""
    published = facts.get("published")
    if published is not None:
        curve, notes = published_curve.curve(published, inputs.capacity_bytes, _reviewed(inputs.capacity_bytes, facts))
        inputs.notes += notes
        return curve
    return _first_write_of(inputs.log, inputs) if inputs.log else None


def _first_write_of(log: Recording, inputs: _Inputs) -> Curve:
    """The curve of another program's data; what `pslc analyze` says of them goes into the notes.

    Raises:
        PslcError: they hold no sequential write.
    """
    hint = "give a log of speed over time of one sequential write, such as fio's bw log"
    if "watch" in log.facts:
        raise user_error(f"{log.drive} shows a drive at work, not a write over an empty drive", hint)
    about, curve = log.facts["imported"], write_curve(log)
    if curve is None or about["kind"] != "write":
        raise user_error(f"{about['name']} holds no series of writes", hint)
    if about["random"]:
        raise user_error(f"{about['name']} holds random writes", f"{hint}; --workload sequential if it is one")
    inputs.notes += [f"read as: {about['read_as']}"] if about["read_as"] else []
    inputs.notes += [*log.facts["notes"], *log.findings.warnings]
    return curve


def _reviewed(capacity_bytes: int, facts: DriveFacts) -> Drive:
    """Facts about a drive that a review tells figures of."""
    nand, controller, link = facts.get("nand"), facts.get("controller"), facts.get("link")
    if nand and controller and nand.lower() not in priors.GENERIC_CELLS:
        drive = drive_of_parts(capacity_bytes, nand, controller)
        return replace(drive, link_bytes_per_s=priors.link_rate(link)) if link else drive
    link = link or (parts.controller(controller).link if controller else None)
    rate = priors.link_rate(link) if link else None
    return Drive(capacity_bytes, priors.bits_of(nand) or 3, rate)


def _prior_knowledge(inputs: _Inputs, facts: DriveFacts) -> priors.PriorKnowledge:
    first = initial_fit.first_write(inputs.datasets)
    if first is None:
        raise user_error(
            "the data hold no sequential write over an empty drive", "measure one: pslc run fill, or run twin"
        )
    reported = next((link for link in map(priors.link_of, inputs.recordings) if link), None)
    # The first half per cent: later samples may be slower, single ones are noisy.
    fastest = float(first.bytes_per_s[: max(len(first.bytes_per_s) // 200, 1)].mean())
    knowledge = priors.collect_priors(
        inputs.capacity_bytes,
        fastest,
        link=facts.get("link") or reported,
        nand=facts.get("nand"),
        controller=facts.get("controller"),
        host_request_ns=inputs.host_request_ns,
    )
    published = facts.get("published")
    return replace(knowledge, cache_bytes=published_curve.stated_cache_bytes(published) if published else None)


def _name(inputs: _Inputs) -> str:
    if inputs.recordings:
        return f"{inputs.recordings[0].drive}, a twin"
    return Path(inputs.log.target).stem if inputs.log else "a twin of published figures"
