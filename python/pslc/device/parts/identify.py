"""Parts of a drive from what tools print of it: reports of flash-id tools, smartctl, nvme id-ctrl, CrystalDiskInfo.

A report names the controller and the die, or the model alone, which is then looked up among the reviewed drives.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pslc.base.errors import ProfileError
from pslc.device import parts
from pslc.device.parts import forecast
from pslc.device.parts.schema import GBITS, Nand

BITS: Final = {"SLC": 1, "MLC": 2, "TLC": 3, "QLC": 4}
LAYERS: Final = re.compile(r"\b(\d{2,3})L\b")
CELLS: Final = re.compile(r"\b(MLC|TLC|QLC)\b")
DIE_SIZE: Final = re.compile(r"\b([\d.]+)\s?(Gb|Tb)(?:it)?/die\b")
MODEL: Final = re.compile(r"^\W*(?:device model|model number|model|mn)\s*:\s*(.+)$", re.IGNORECASE | re.MULTILINE)
BYTES: Final = re.compile(r"(?:tnvmcap|capacity)\D*?([\d,]{10,})", re.IGNORECASE)
SIZE: Final = re.compile(r"(?:disk size\s*:\s*|capacity\s*:\s*|\[)([\d.]+)\s*(GB|TB)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Identity:
    """Parts that a report names; "": it does not."""

    model: str
    nand: str
    controller: str
    capacity: str


def of_report(text: str, *, nand: str = "", controller: str = "") -> Identity:
    """Read a report. Parts that are given are taken as they are.

    Raises:
        PslcError: its dies or its model fit several parts.
    """
    model = next((match[1].strip() for match in MODEL.finditer(text)), "")
    nand, controller = nand or _die(text), controller or _controller(text)
    if not (nand and controller) and model:
        nand, controller = _of_model(model, nand, controller)
    return Identity(model, nand, controller, _capacity(text))


def _controller(text: str) -> str:
    """The controller whose model stands in the text as a word, the longest name first."""
    chips = [parts.published_controller(name) for name in parts.controllers()]
    fits = [(name, chip.name) for chip in chips for name in _names(chip.model)
            if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE)]  # fmt: skip
    return max(fits, key=lambda fit: len(fit[0]))[1] if fits else ""


def _names(model: str) -> list[str]:
    """Names of a controller: whole (`PS5012-E12S`), and its last part where that is a name (`E12S`)."""
    return [model, *(part for part in model.split("-")[1:] if re.fullmatch(r"[A-Z]\d+[A-Z]*", part))]


def _die(text: str) -> str:
    """The die of the first line that tells layers and cells of one."""
    for line in text.splitlines():
        layers, cells = LAYERS.search(line), CELLS.search(line)
        if layers and cells:
            dies = [parts.published_nand(name) for name in parts.nands()]
            alike = [die for die in dies if (die.layers, die.bits_per_cell) == (int(layers[1]), BITS[cells[1]])]
            return _only("die", [die.name for die in _narrowed(alike, line)], line.strip())
    return ""


def _narrowed(dies: list[Nand], line: str) -> list[Nand]:
    """Those of the size that a line tells, and of its maker where it names one."""
    if size := DIE_SIZE.search(line):
        size_bytes = float(size[1]) * GBITS[size[2]]
        dies = [die for die in dies if die.bytes == size_bytes]
    words = line.lower()
    return [die for die in dies if any(maker in words for maker in _makers(die))] or dies


def _makers(die: Nand) -> list[str]:
    """Names that tools give a maker."""
    alike = (
        {"kioxia", "toshiba", "sandisk", "wd"},
        {"intel", "solidigm"},
        {"hynix"},
        {"micron"},
        {"samsung"},
        {"ymtc"},
    )
    words = _words(die.maker)
    return sorted({name for group in alike if group & words for name in group} | words)


def _of_model(model: str, nand: str, controller: str) -> tuple[str, str]:
    """Die and controller of the reviewed drives with this name.

    Raises:
        PslcError: they have several dies.
    """
    kinds = {(line.nand, line.controller) for line in _lines(model)}
    fits = sorted(kind for kind in kinds if nand in ("", kind[0]) and controller in ("", kind[1]))
    if len({die for die, _ in fits}) > 1:
        choices = "; ".join(f"--nand {die} --controller {chip}" for die, chip in fits)
        raise ProfileError(f"{model} was sold with {len(fits)} kinds of NAND", f"give one of them: {choices}")
    return fits[0] if fits else (nand, controller)


def _lines(model: str) -> list[forecast.Line]:
    """Reviewed drives whose name is in that of a model, with the most words."""
    words = _words(model)
    named = [line for line in forecast.lines() if _words(line.name) <= words]
    longest = max((len(_words(line.name)) for line in named), default=0)
    return [line for line in named if len(_words(line.name)) == longest]


def _words(name: str) -> set[str]:
    return set(re.findall(r"\w+", name.lower()))


def _only(what: str, names: Sequence[str], where: str) -> str:
    """The only one of these, or none.

    Raises:
        PslcError: there are several.
    """
    if len(names) > 1:
        raise ProfileError(f"{len(names)} {what}s fit {where!r}", f"give one of them: --nand {', '.join(names)}")
    return names[0] if names else ""


def _capacity(text: str) -> str:
    """Capacity as it is sold: whole gigabytes."""
    if match := BYTES.search(text):
        return f"{round(int(match[1].replace(',', '')) / 1e9)}GB"
    if match := SIZE.search(text):
        return f"{round(float(match[1]) * (1000 if match[2].upper() == 'TB' else 1))}GB"
    return ""
