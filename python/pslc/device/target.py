"""Target of a run: a simulated drive, a file on a real one, or a real drive as a whole.

    sim:NAME[,key=value...]   sim:./mine.toml[,key=value...]   disk.pslc   /mnt/ssd/scratch   /dev/nvme1n1
    array:raid5,chunk=64k,4xNAME (`pslc.device.arrays`)

Two keys are none of the profile's: `scale=1/16` (`pslc.device.scaling`) and `computer=NAME` (`pslc.device.computers`).

A target is found first, which writes nothing, so that a plan can be shown; `open` then makes it ready.
"""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pslc._native import (
    ArrayDrive,
    RealDrive,
    SimDrive,
    check_device,
    check_scratch,
    inspect_device,
    inspect_file,
    is_drive_file,
    profile_values,
    version,
)
from pslc.base import shell, words
from pslc.base.errors import GuardError, TargetError, closest_match
from pslc.device import arrays, cache_switch, computers, ends, names, scaling
from pslc.device.profiles import foundation, library, read, without_effect, written_keys
from pslc.schema.cache_setting import CacheSetting
from pslc.schema.facts import Device, Facts, InspectedFile

if TYPE_CHECKING:
    from pslc.recording.model import Common


@dataclass(frozen=True)
class RealOptions:
    """Consents and sizes that pslc needs before it writes to a real drive.

    Attributes:
        size: bytes of a scratch file, or of an existing one to be used.
        reuse: measure on an existing file that pslc wrote last; what is in it is lost.
        overwrite_file: name, without its folder, of the existing file to measure on; it is lost whoever wrote it.
        destroy_data: serial number of the block device whose data may be lost.
        wipe_signatures: even if there is a file system, a partition table or other data on it.
        ends: folder in which both ends of a block device are kept before the first write (`pslc.device.ends`); None:
            they are lost. The switch of `cache` is found by it (`pslc.device.cache_switch`).
        cache: setting of a UFS drive's SLC buffer during the run (default: as it is).
        sysfs: folder of its UFS host controller (default: Linux's own).
    """

    size: int | None = None
    reuse: bool = False
    overwrite_file: str | None = None
    destroy_data: str | None = None
    wipe_signatures: bool = False
    ends: Path | None = None
    sysfs: Path | None = None
    cache: CacheSetting | None = None

    @property
    def takes_existing(self) -> bool:
        """Whether an existing file is to be measured on."""
        return self.reuse or self.overwrite_file is not None


@dataclass(frozen=True)
class Target:
    """A drive that was found, and the words it was asked for with.

    Attributes:
        slug: short name for folders, `aldrin-pro-2tb`.
        kind: `simulated`, `file` or `device`.
        facts: see `SimDrive.facts` and `pslc.device.probe.facts`.
        profile: of a simulated drive, as TOML.
        foreign: the file that would be lost, where pslc did not write it and its name was not given.
        provenance: where its values come from, by key.
        open: make it ready; on a real drive this creates the scratch file, or opens the device for writing.
        stays: it is a simulated drive in a file, which this command has to itself until it closes the drive.
    """

    spec: str
    slug: str
    kind: str
    name: str
    capacity_bytes: int
    facts: Facts
    open: Callable[[], SimDrive | ArrayDrive | RealDrive]
    profile: str = ""
    provenance: list[tuple[str, str]] = field(default_factory=list)
    foreign: InspectedFile | None = None
    stays: bool = False

    def common(self, suite: str, job_file: str = "", began_unix_ns: int = 0) -> "Common":
        """Fields of a recording of this target that are known before the measurement."""
        return {
            "suite": suite,
            "target": self.spec,
            "drive": self.name,
            "seed": 0,
            "version": version(),
            "capacity_bytes": self.capacity_bytes,
            "overrides": [],
            "profile": self.profile,
            "facts": {**self.facts},
            "provenance": self.provenance,
            "job_file": job_file,
            "began_unix_ns": began_unix_ns,
        }

    def agreed(self) -> "Target":
        """This target after the user agreed to lose `foreign` in the state in which it was inspected."""
        if self.foreign is None:
            return self
        size, identity = self.capacity_bytes, self.foreign["identity"]
        opener = _watched(lambda: RealDrive.existing(self.spec, size, identity), self.facts)
        return replace(self, open=opener, foreign=None)

    @property
    def is_real(self) -> bool:
        """Whether running on it writes to a real drive."""
        return self.kind != "simulated"


def find_target(spec: str, real: RealOptions | None = None, assumed: str | None = None) -> Target:
    """The drive that `spec` names; nothing is written.

    Args:
        assumed: computer of a simulated drive that has none of its own, see `pslc.device.computers`.

    Raises:
        PslcError: there is no such drive or file, its profile cannot be used, or it may not be written to.
    """
    if is_new(spec):
        if real is not None and real != RealOptions():
            hint = "remove --size, --reuse and --destroy-data; --io_size=300g writes less"
            raise TargetError(f"{spec} is a simulated drive, and its profile sets the size", hint)
        return _array(spec) if spec.startswith(arrays.PREFIX) else _simulated(spec, assumed)
    path = Path(spec)
    if is_drive(path):
        if real is not None and real != RealOptions():
            hint = "remove --size, --reuse and --destroy-data"
            raise TargetError(f"{spec} is a drive file, and its profile sets the size", hint)
        return _kept(spec, path, assumed)
    if not spec or (not {"/", os.sep} & set(spec) and not path.exists() and not path.suffix):
        raise _not_named(spec)
    real = real or RealOptions()
    target = _device(spec, path, real) if names.is_device(path) else _file(spec, path, real)
    from pslc.device import probe

    facts = probe.with_sysfs(target.facts, real.sysfs)
    if real.cache is not None:
        cache_switch.check(probe.reporting(facts))
    return replace(target, facts=facts)


def is_new(spec: str) -> bool:
    """Whether `spec` names a new simulated drive, or a new array of such."""
    return spec.startswith(("sim:", arrays.PREFIX))


def _array(spec: str) -> Target:
    of = arrays.ArraySpec.of(spec)
    members = [_simulated(member) for member in of.members]
    drives = [drive for member in members if isinstance(drive := member.open(), SimDrive)]
    array = ArrayDrive(of.level, of.chunk_bytes, drives, list(of.failed), of.rebuild)
    names = dict.fromkeys(member.name for member in members)
    facts = of.facts([member.facts for member in members], array.member_bytes, array.capacity_bytes)
    if scale := facts.get("scale"):
        # One note for members of one scale and several sizes.
        by, sizes = scaling.factor(scale, spec), [member.capacity_bytes for member in members]
        apart = [scaling.note(by, [size]) for size in sizes]
        facts["notes"] = [*(note for note in facts["notes"] if note not in apart), scaling.note(by, sizes)]
    return Target(
        spec=spec,
        slug="-".join([of.level, *dict.fromkeys(member.slug for member in members)]),
        kind=members[0].kind,
        name=f"{of.level.upper()} of {len(members)}: {', '.join(names)}",
        capacity_bytes=array.capacity_bytes,
        facts=facts,
        open=lambda: array,
        profile=members[0].profile,
        provenance=members[0].provenance,
    )


def _not_named(spec: str) -> TargetError:
    """The error for a target that is neither a simulated drive nor a path."""
    name, comma, keys = spec.partition(",")
    meant = name if name in library() else _meant(name, library())
    hint = "a simulated drive is sim:NAME, such as sim:aldrin-pro-2tb; a file has a / or an extension: ./scratch.bin"
    return TargetError(f'no target is named "{spec}"', f"did you mean sim:{meant}{comma}{keys}?" if meant else hint)


MIN_MODEL_LETTERS: Final = 5
"""Letters of a model from which a word that holds them means it, as `samsung990pro` does."""


def _meant(name: str, names: Iterable[str]) -> str | None:
    """The drive that was probably meant, by its name, how it begins, or its name without a capacity."""
    name, models = name.lower(), {whole.rpartition("-")[0]: whole for whole in reversed([*names])}
    begun = next((whole for whole in names if name and whole.startswith(name)), None)
    letters = re.sub(r"[\W_]", "", name)
    held = [model for model in models if len(model) >= MIN_MODEL_LETTERS and model.replace("-", "") in letters]
    match = begun or max(held, key=len, default=None) or closest_match(name, [*names, *models])
    return models.get(match, match) if match else None


DEVICES = Path("/dev")
KEPT = ".pslc"
"""Ending of the files of simulated drives. One of another name is known by how it begins."""
DOCUMENTS = (KEPT, ".csv", ".json")
"""Endings of files that somebody keeps: none is offered to be overwritten."""
NO_CONSENT = "{device} is a block device, and a run takes your consent to lose everything on it"


def is_drive(path: Path) -> bool:
    """Whether a path names a simulated drive in a file."""
    if path.suffix == KEPT:
        return True
    return not names.is_device(path) and path.is_file() and is_drive_file(str(path))


def _kept(spec: str, path: Path, assumed: str | None) -> Target:
    if not path.exists():
        raise TargetError(f"{spec}: no such drive file", f"pslc drives create {spec} --like aldrin-pro-2tb makes one")
    drive = SimDrive.open(spec)
    target = _scaled(replace(of_drive(drive, spec, path.stem), stays=True), drive.scale)
    counters = drive.counters()
    if counters["host_write_bytes_total"]:
        note = (
            f"{path.name} continues from its last state: {words.size(counters['mapped_bytes'])} of data, "
            f"{words.size(counters['slc_valid_bytes'])} of them in the cache"
        )
        target.facts["notes"].append(note)
    if assumed not in (None, computers.NONE) and "\n[host]\n" not in target.profile:
        note = f"in no computer, as {path.name} was created: pslc drives create --like sim:NAME,computer={assumed}"
        target.facts["notes"].append(note)
    return target


def name_in(spec: str) -> str:
    """The drive or array that a target's text names, or its path, without what is changed of it."""
    if spec.startswith(arrays.PREFIX):
        return "-".join(word for word in spec.removeprefix(arrays.PREFIX).split(",") if "=" not in word)
    return spec.removeprefix("sim:").partition(",")[0] if spec.startswith("sim:") else spec


def open_simulated(spec: str) -> SimDrive:
    """A fresh simulated drive."""
    drive = _simulated(spec).open()
    assert isinstance(drive, SimDrive)
    return drive


def _simulated(spec: str, assumed: str | None = None) -> Target:
    name, *pairs = spec.removeprefix("sim:").split(",")
    keys = _Keys.of(pairs, spec)
    overrides, by = keys.overrides, keys.scale
    source, text, slug = _source(name, spec)
    stated = [key for key, _ in overrides]
    below = foundation(source, text, overrides)
    if by != 1:
        # Everything is said of the whole drive, then made smaller.
        profiles = SimDrive.scaled_profile(source, text, below, overrides, (by.numerator, by.denominator))
        overrides += scaling.overrides(*profiles, by, spec)
    has_own = any(key.startswith("host.") for key, _ in profile_values(source, text, below, []))
    computer = keys.computer or (None if has_own else assumed)
    around = _around(computer, (source, text, below), overrides, stated)
    drive = SimDrive(source, text, below, [*overrides, *around])
    profile = drive.profile()
    # What stands on nothing else says everything, used or not.
    if source == name and any(key in ("base", "nand.part", "nand") for key in written_keys(text)):
        stated = written_keys(text) + stated
    target = of_drive(drive, spec, slug)
    target.facts["notes"].extend(f"{key} has no effect: {why}" for key, why in without_effect(stated, profile).items())
    if computer:
        target.facts["computer"] = computer
        target.facts.update({"slot": link} if (link := dict(around).get("link")) else {})
        target.facts["notes"].append(computers.note(computer, target.capacity_bytes, assumed=not keys.computer))
    if by != 1:
        drive.scale = str(by)
    return _scaled(target, drive.scale)


def _scaled(target: Target, scale: str | None) -> Target:
    """The target with the facts and the note of a drive that is a share of the whole one; itself if `scale` is None."""
    if scale is not None:
        target.facts["scale"], target.facts["scale_unlike"] = scale, scaling.unlike(target.profile)
        target.facts["notes"].append(scaling.note(scaling.factor(scale, target.spec), [target.capacity_bytes]))
    return target


def _around(
    computer: str | None, profile: tuple[str, str, dict[str, str]], overrides: list[tuple[str, str]], stated: list[str]
) -> list[tuple[str, str]]:
    """Keys that put the drive of a profile into a computer."""
    if computer is None:
        return []
    alone = SimDrive(*profile, [pair for pair in overrides if not pair[0].startswith("host.")])
    return computers.keys(computer, alone.profile(), stated)


@dataclass(frozen=True)
class _Keys:
    """The keys of a simulated drive, apart from the two that are none of its profile's.

    Attributes:
        overrides: keys of the profile with their values.
        scale: size of the simulated drive as a share of the whole one.
        computer: the computer around it; None: nobody says.
    """

    overrides: list[tuple[str, str]]
    scale: Fraction
    computer: str | None

    @classmethod
    def of(cls, pairs: Sequence[str], spec: str) -> "_Keys":
        """Sort the keys of `spec`; of one that stands twice the last counts."""
        stated = _overrides(pairs, spec)
        apart = dict(stated)
        scale = scaling.factor(apart[scaling.KEY], spec) if scaling.KEY in apart else Fraction(1)
        overrides = [pair for pair in stated if pair[0] not in (scaling.KEY, computers.KEY)]
        return cls(overrides, scale, apart.get(computers.KEY))


def _overrides(pairs: Sequence[str], spec: str) -> list[tuple[str, str]]:
    overrides = []
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise TargetError(
                f'"{pair}" in {spec} is not key=value', "a key of the profile, such as cache.mode=pure-xlc"
            )
        overrides.append((key.strip(), value.strip()))
    return overrides


def _source(name: str, spec: str) -> tuple[str, str, str]:
    """Name, text and slug of the profile that a target names."""
    texts = library()
    if "/" in name or name.endswith(".toml"):
        return name, read(name), Path(name).stem
    if name in texts:
        return f"{name}.toml", texts[name], name
    more = "pslc drives lists them all"
    if not name:
        raise TargetError(f"{spec} names no drive", f"for example sim:{next(iter(texts))}; {more}")
    meant = _meant(name, texts)
    raise TargetError(f"unknown drive {name}", f"did you mean {meant}? {more}" if meant else more)


def of_drive(drive: SimDrive, spec: str, slug: str) -> Target:
    """The target that a simulated drive is."""
    return Target(
        spec=spec,
        slug=slug,
        kind="simulated",
        name=drive.name,
        capacity_bytes=drive.capacity_bytes,
        facts=drive.facts(),
        open=lambda: drive,
        profile=drive.profile(),
        provenance=drive.provenance(),
    )


def _file(spec: str, path: Path, real: RealOptions) -> Target:
    from pslc.device import probe

    if real.destroy_data is not None:
        if path.exists():
            inspect_device(spec)  # says what it is instead
        hint = "--destroy-data erases a whole drive; a file needs --size only"
        raise TargetError(f"{spec} is not a block device", hint)
    if real.takes_existing:
        return _existing(spec, path, real)
    if path.is_dir():
        raise TargetError(
            f"{spec} is a folder",
            f"name a new file in it: {spec.rstrip('/')}/scratch.bin --size 20GB",
        )
    if real.size is None:
        if spec.partition(",")[0].endswith(".toml"):
            place = spec if "/" in spec else f"./{spec}"
            raise TargetError(f"{spec} is a profile, not a scratch file", f"did you mean sim:{place}?")
        if path.is_file():
            reuse = "" if path.suffix in DOCUMENTS else ", or add --reuse to overwrite this one"
            raise TargetError(f"{spec} exists", f"name a new file and its --size{reuse}")
        if DEVICES in path.absolute().parents:
            what = "is not a block device" if path.exists() else "does not exist"
            raise TargetError(f"{spec} {what}", "lsblk lists the block devices; a scratch file goes into a folder")
        raise TargetError(
            f"the scratch file {spec} needs a size", "for example --size 20GB; pslc removes it at the end"
        )
    wanted = real.size
    if not path.absolute().parent.is_dir():
        raise TargetError(f"{spec}: no such folder {path.parent}", "create it on the drive to measure")
    check_scratch(spec, wanted)
    return _real(spec, path.name, "file", wanted, lambda: RealDrive.scratch(spec, wanted), probe.facts(path))


def _existing(spec: str, path: Path, real: RealOptions) -> Target:
    from pslc.device import probe

    if not path.exists():
        raise TargetError(
            f"{spec} does not exist, but --reuse and --overwrite-file need a file",
            "remove them and give --size: pslc creates the file",
        )
    file = inspect_file(spec)
    # Of a link the name of what lies behind it: that is what is lost.
    name = file["path"].name
    if real.overwrite_file not in (None, name):
        whose = f"the name of {spec}" if name == path.name else f"the name of {name}, to which {spec} leads"
        raise GuardError(
            f"--overwrite-file {real.overwrite_file} is not {whose}", f"--overwrite-file {name}", code="file-not-named"
        )
    size, agreed = real.size, file["identity"] if real.overwrite_file is not None else None
    capacity = min(size or file["usable_bytes"], file["usable_bytes"])
    target = _real(spec, path.name, "file", capacity, lambda: RealDrive.existing(spec, size, agreed), probe.facts(path))
    return target if file["ours"] or agreed else replace(target, foreign=file)


def _device(spec: str, path: Path, real: RealOptions) -> Target:
    from pslc.device import probe

    device = inspect_device(spec)
    if real.destroy_data is None:
        consent = f"to consent: --destroy-data {shell.line([device['serial'] or 'SERIAL'])}"
        hint = "; ".join([consent, ": ".join(device["refusal"])] if device["refusal"] else [consent])
        raise GuardError(NO_CONSENT.format(device=spec), hint, code="device-not-confirmed")
    serial, wipe = real.destroy_data, real.wipe_signatures
    # What a run that is resumed has left is its own.
    may_hold_data = wipe or ends.is_noted(real.ends)
    check_device(spec, serial, may_hold_data)

    def opener() -> RealDrive:
        drive = RealDrive.device(spec, serial, may_hold_data)
        if real.ends is not None:
            if not wipe and may_hold_data and not ends.are_as_left(drive, real.ends):
                raise GuardError(
                    f"{spec} holds something that the run in {real.ends} did not leave there",
                    "if all of it may be lost, give --wipe-signatures as well; nothing was written",
                    code="device-has-signatures",
                )
            ends.keep(drive, spec, serial, real.ends)
        if wipe:
            drive.wipe_signatures(spec)
        return drive

    # Python takes a drive of Windows for a folder without a name.
    slug = path.name or device["name"]
    return _real(spec, slug, "device", device["bytes"], opener, probe.facts(path))


def _real(spec: str, slug: str, kind: str, capacity: int, opener: Callable[[], RealDrive], facts: Facts) -> Target:
    device = facts["device"] or Device()
    name = device.get("model") or device.get("name") or spec
    return Target(spec, slug, kind, name, capacity // 4096 * 4096, facts, _watched(opener, facts))


def _watched(opener: Callable[[], RealDrive], facts: Facts) -> Callable[[], RealDrive]:
    from pslc.device import probe, sysfs

    # What an array writes to its members is not what is written to it: the layer of a single name counts that.
    drives, stack = probe.drives(facts), facts["stack"]
    names = drives if len(drives) == 1 or facts["device"] is None else stack[:1]

    def watched() -> RealDrive:
        drive = opener()
        stats = [folder / "stat" for name in names for folder in sysfs.counting(probe.SYS / "class/block" / name)]
        drive.watch([str(stat) for stat in stats])
        return drive

    return watched
