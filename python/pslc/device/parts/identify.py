"""Parts of a drive from what tools print of it: reports of flash-id tools, smartctl, nvme id-ctrl, CrystalDiskInfo.

A report names the controller and the die, or the model alone, which is then looked up among the reviewed drives.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pslc.base import gate
from pslc.base.errors import ProfileError
from pslc.device import parts
from pslc.device.parts import forecast, log_fit, naming
from pslc.device.parts.log_fit import Fill
from pslc.device.parts.naming import makers, words
from pslc.device.parts.schema import GBITS, Controller, Nand

REPORT: Final = gate.Expected("give the text of a flash-id tool, of smartctl, nvme id-ctrl or CrystalDiskInfo")
BITS: Final = {"SLC": 1, "MLC": 2, "TLC": 3, "QLC": 4}
LAYERS: Final = re.compile(r"\b(\d{2,3})L\b")
CELLS: Final = re.compile(r"\b(MLC|TLC|QLC)\b")
DIE_SIZE: Final = re.compile(r"\b([\d.]+)\s?(Gb|Tb)(?:it)?/die\b")
DIE_LINE: Final = re.compile(r"flash|nand|\bdie\b|\bbank", re.IGNORECASE)
CHIP_LINE: Final = re.compile(r"^\W*(?:ssd )?(?:controller|ctrl)\b\W*(.*)$", re.IGNORECASE | re.MULTILINE)
MODEL: Final = re.compile(
    r"^\W*(?:device model|model number|model_name|model|mn)\s*:\s*(.+)$", re.IGNORECASE | re.MULTILINE
)
BYTES: Final = re.compile(r"(?:tnvmcap|capacity)\D*?([\d,]{10,})", re.IGNORECASE)
SIZE: Final = re.compile(r"(?:disk size\s*:\s*|capacity\s*:\s*|\[)([\d.]+)\s*(GB|TB)\b", re.IGNORECASE)
CODES: Final = (
    (re.compile(r"^CT\d+([A-Z]*\d+)SSD"), r"Crucial \1"), (re.compile(r"^CT\d+([A-Z]*\d+)P\w?SSD"), r"Crucial \1 Plus"),
    (re.compile(r"SSDPEKNW"), "Intel 660p"), (re.compile(r"SSDPEKNU"), "Intel 670p"),
    (re.compile(r"SSDPEKKW\d+G7"), "Intel 600p"), (re.compile(r"SSDPFKNU"), "Solidigm P41 Plus"),
    (re.compile(r"SSDPFKKW"), "Solidigm P44 Pro"), (re.compile(r"\bS(KC[123]000)"), r"Kingston \1"),
    (re.compile(r"SX8200PNP"), "ADATA SX8200 Pro"), (re.compile(r"\bSHGP31"), "SK hynix Gold P31"),
    (re.compile(r"WDS\w+1B0C"), "WD Blue SN500"), (re.compile(r"WDS\w+2B0C"), "WD Blue SN550"),
    (re.compile(r"WDS\w+1X0E"), "WD Black SN850"), (re.compile(r"WDS\w+2X0E"), "WD Black SN850X"),
)  # fmt: skip
"""Codes that drives give for a model, and the name it is sold by: general knowledge, for which no page was read."""
PLAIN: Final = {"ssd", "nvme", "sata", "m", "2", "pcie", "gen3", "gen4", "gen5", "with", "heatsink", "portable"}
"""Words of a model that tell no other one."""
MIN_CODE_LETTERS: Final = 8
"""Letters from which on a word is a code of the maker's, and no part of the name."""


@dataclass(frozen=True)
class Identity:
    """Parts that a report names; "": it does not.

    Attributes:
        notes: what it names and no part file or reviewed drive has, and how a die was chosen.
    """

    model: str
    nand: str
    controller: str
    capacity: str
    notes: tuple[str, ...] = ()


def of_report(text: str, *, nand: str = "", controller: str = "", measured: Fill | None = None) -> Identity:
    """Read a report. Parts that are given are taken as they are.

    Args:
        measured: a fill of the drive, which chooses among the dies that drives of its name have.

    Raises:
        PslcError: its dies or its model fit several parts, and nothing chooses one.
    """
    lines, notes = _as_lines(text), []
    model = next((match[1].strip() for match in MODEL.finditer(lines)), "")
    chip = next((match[1].strip() for match in CHIP_LINE.finditer(lines)), "")
    capacity = _capacity(lines)
    nand, controller = nand or _die(lines), controller or _controller(chip)
    if chip and not controller:
        notes.append(f"no part is the controller {chip}")
    elif not (nand and controller) and model:
        nand, controller, note = _of_model(model, (nand, controller), capacity, measured)
        notes.append(note)
    return Identity(model, nand, controller, capacity, tuple(notes))


def _as_lines(text: str) -> str:
    """A report as lines of `key: value`; JSON of a tool becomes such lines."""
    if not text.lstrip().startswith("{"):
        return text
    document = gate.document(text, "the report", REPORT)
    return "\n".join(f"{key}: {value}" for key, value in _leaves(document))


def _leaves(value: object, key: str = "") -> Iterator[tuple[str, object]]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _leaves(item, f"{key}.{name}" if key else str(name))
    elif not isinstance(value, list):
        yield key, value


def _controller(text: str) -> str:
    """The controller whose model stands in the text as a word, the longest name first."""
    chips = [parts.published_controller(name) for name in parts.controllers()]
    fits = [(name, chip.name) for chip in chips for name in _names(chip)
            if re.search(rf"(?<!\w){re.escape(name)}(?:XT|EN|A|B)?(?!\w)", text, re.IGNORECASE)]  # fmt: skip
    return max(fits, key=lambda fit: len(fit[0]))[1] if fits else ""


def _names(chip: Controller) -> list[str]:
    """Names of a controller: whole (`PS5012-E12S`), and its last part where that is a name (`E12S`)."""
    model = naming.model(chip)
    whole = [model] if model else []
    return [*whole, *(part for part in model.split("-")[1:] if re.fullmatch(r"[A-Z]\d+[A-Z]*", part))]


def _die(text: str) -> str:
    """The die of the first line that tells one.

    Raises:
        PslcError: several fit it.
    """
    dies = [parts.published_nand(name) for name in parts.nands()]
    for line in text.splitlines():
        names = [die.name for die in _narrowed(_alike(dies, line), line)]
        if len(names) > 1:
            hint = f"give one of them: --nand {', '.join(names)}"
            raise ProfileError(f"{len(names)} dies fit {line.strip()!r}", hint)
        if names:
            return names[0]
    return ""


def _alike(dies: Sequence[Nand], line: str) -> list[Nand]:
    """Dies of the layers and cells that a line tells, or of its maker and its generation."""
    layers, cells = LAYERS.search(line), CELLS.search(line)
    if cells:
        dies = [die for die in dies if die.bits_per_cell == BITS[cells[1]]]
    if layers and cells:
        return [die for die in dies if die.layers == int(layers[1])]
    is_named = DIE_LINE.search(line) is not None
    return [die for die in dies if is_named and _is_generation_in(die, line) and _is_maker_in(die, line)]


def _narrowed(dies: list[Nand], line: str) -> list[Nand]:
    """Dies of the size that a line tells, and of the maker and the generation that it names."""
    if size := DIE_SIZE.search(line):
        size_bytes = float(size[1]) * GBITS[size[2]]
        dies = [die for die in dies if die.bytes == size_bytes]
    dies = [die for die in dies if _is_maker_in(die, line)] or dies
    return [die for die in dies if _is_generation_in(die, line)] or dies


def _is_generation_in(die: Nand, line: str) -> bool:
    """Whether a line has the generation of a die as its part is named: `bics5`, `b47r`, `x3-9070`."""
    generation = re.sub(rf"^({'|'.join(makers(die))})-|-(mlc|tlc|qlc)-.*$", "", die.name)
    return re.search(rf"(?<![a-z0-9]){re.escape(generation)}(?![a-z0-9])", line.lower()) is not None


def _is_maker_in(die: Nand, line: str) -> bool:
    return any(name in line.lower() for name in makers(die))


def _of_model(model: str, named: tuple[str, str], capacity: str, measured: Fill | None) -> tuple[str, str, str]:
    """Die and controller of the reviewed drives with this name, and how they were chosen, in words.

    Raises:
        PslcError: they have several dies, and nothing chooses one.
    """
    nand, controller = named
    kinds = sorted({(line.nand, line.controller) for line in _lines(model)})
    fits = [kind for kind in kinds if nand in ("", kind[0]) and controller in ("", kind[1])]
    if not fits:
        return nand, controller, f"no reviewed drive is named {model}: a flash-id tool tells its controller and die"
    sold = f"{model} was sold with {len(fits)} kinds of NAND"
    if len({die for die, _ in fits}) == 1:
        return *fits[0], f"reviewed drives of this name have {fits[0][0]}; yours may not, and a log tells: --log FILE"
    if measured and capacity:
        ranked = log_fit.rivals(measured, [die for die, _ in fits], fits[0][1], capacity)
        best, second = ranked[:2]
        ratio = math.exp(best.log_likelihood - second.log_likelihood)
        if ratio >= log_fit.MIN_LIKELIHOOD_RATIO:
            chip = dict(fits)[best.nand]
            return best.nand, chip, f"{sold}; the log is {ratio:.0f} times as likely with {best.nand}"
        sold += f", which the log does not tell apart ({best.nand} is {ratio:.1f} times as likely)"
    choices = "; ".join(f"--nand {die} --controller {chip}" for die, chip in fits)
    raise ProfileError(sold, f"give one of them: {choices}")


def _lines(model: str) -> list[forecast.Line]:
    """Reviewed drives whose name is all that a model tells: a word more, such as Plus, is another drive."""
    for pattern, name in CODES:
        if code := pattern.search(model):
            model = code.expand(name)
            break
    asked = {word for word in words(model) if not _is_plain(word)}
    lines = [line for line in forecast.lines() if words(line.name) - PLAIN <= asked]
    return [line for line in lines if all(len(word) >= MIN_CODE_LETTERS for word in asked - words(line.name))]


def _is_plain(word: str) -> bool:
    return word in PLAIN or re.fullmatch(r"\d+(gb|tb)", word) is not None


def _capacity(text: str) -> str:
    """Capacity as it is sold: whole gigabytes."""
    if match := BYTES.search(text):
        return f"{round(int(match[1].replace(',', '')) / 1e9)}GB"
    if match := SIZE.search(text):
        return f"{round(float(match[1]) * (1000 if match[2].upper() == 'TB' else 1))}GB"
    return ""
