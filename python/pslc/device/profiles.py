"""Sources of a profile: the library, the files it is based on, and the values that follow from its parts."""

import os
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from pslc._native import profile_values
from pslc.base import files, gate
from pslc.base.errors import ProfileError

FILE = gate.Expected("a profile is a TOML file, such as pslc drives show NAME prints")
DRIVES = Path(__file__).parent.parent / "drives"
PARTS = ("nand", "controller")
DERIVED = "parts"
"""The name under which the native side looks for what follows from parts."""


@cache
def library() -> Mapping[str, str]:
    """The profiles pslc brings along: TOML texts by name, in alphabetical order."""
    return {
        path.stem: path.read_text(encoding="utf-8")
        for path in sorted(DRIVES.glob("*.toml"), key=lambda path: path.stem)
    }


def read(path: str) -> str:
    """The text of a profile.

    Raises:
        PslcError: it cannot be read.
    """
    return gate.text(Path(path), FILE)


def foundation(source: str, text: str, overrides: list[tuple[str, str]]) -> dict[str, str]:
    """All that a profile may stand on, by name: the library, the files that it and its bases name, and as `parts` what
    follows from its die and controller.

    Raises:
        PslcError: a base goes round in a circle or cannot be read, or a part is not known.
    """
    texts = {**library(), **_files(source, text)}
    values = dict(profile_values(source, text, texts, overrides))
    named = {part: values.pop(f"{part}.part") for part in PARTS if f"{part}.part" in values}
    if not named:
        return texts
    from pslc.device import parts

    for part in PARTS:
        if part not in named:
            other = "controller" if part == "nand" else "NAND die"
            names = parts.nands() if part == "nand" else parts.controllers()
            hint = f'{part} = "{names[0]}", for one; pslc drives parts lists them'
            raise ProfileError(f"{source} names the {other} that it is made of, but no {part}", hint)
    derived = parts.derive(parts.nand(named["nand"]), parts.controller(named["controller"]), values)
    return texts | {DERIVED: derived.text}


def _files(source: str, text: str) -> dict[str, str]:
    """The texts of the files that a profile and its bases name, by path as the native side sees it."""
    texts: dict[str, str] = {}
    while True:
        try:
            base = files.keys(text).get("base")
        except tomllib.TOMLDecodeError:
            return texts  # said by who reads it next, with the line
        if not isinstance(base, str) or not ("/" in base or base.endswith(".toml")):
            return texts
        source = os.path.join(os.path.dirname(source), base)
        if source in texts or not Path(source).is_file():
            return texts
        texts[source] = text = read(source)


def written_keys(text: str) -> list[str]:
    """The dotted keys that a profile's text holds."""
    table = files.toml(text)
    table.pop("provenance", None)
    return [key for key, _ in files.dotted(table)]


NOT_IN = {
    "pure-xlc": ("static", "dynamic", "dynamic_cells", "dynamic_least", "shrink_from", "shrink_to", "when_full",
                 "host_share", "fold_overhead", "fold_below", "fold_batch", "reuse", "dead", "idle"),
    "static-slc": ("dynamic", "dynamic_cells", "dynamic_least", "shrink_from", "shrink_to"),
    "dynamic-slc": ("static",),
    "hybrid-slc": (),
}  # fmt: skip
NOT_IN["pure-slc"] = NOT_IN["pure-xlc"]
"""Keys of [cache] that a mode has no use for."""


SHARES = ("direct-while-folding", "fold-beside", "bypass", "rewrite-distance")
BATCHES = ("fold", "fold-cost-benefit")
"""Policies under which folding gets its share of die time from host writes: always, and where it goes in batches."""


def without_effect(stated: Iterable[str], profile: str) -> dict[str, str]:
    """Keys among `stated` that change nothing in a resolved profile, with the reason."""
    values = files.keys(profile)
    mode, policy = values["cache.mode"], values["cache.when_full"]
    why: dict[str, str] = {f"cache.{key}": f"cache.mode is {mode}" for key in NOT_IN[mode]}
    if mode != "pure-slc":
        why["capacity_pure_slc"] = f"cache.mode is {mode}"
    if policy not in SHARES and not (policy in BATCHES and values.get("cache.fold_batch", "0B") != "0B"):
        why.setdefault("cache.host_share", f"cache.when_full is {policy}")
    if policy == "in-place-switch":
        why.setdefault("cache.idle", f"cache.when_full is {policy}")
    if values["controller.map"] == "dram":
        why["controller.map_access"] = "the whole map is in DRAM"
    names = {key: next((name for name in why if key == name or key.startswith(f"{name}.")), None) for key in stated}
    return {key: why[name] for key, name in names.items() if name}
