"""A whole profile from a die, a controller, a capacity and a cache: each value with how it came about.

What is given wins, and what follows from it follows from what was given: `nand.dies = 32` moves the channels, blocks
and spare along. Units in dotted keys are those of profiles. The derivation itself is Rust's (`crates/ssd/src/parts`),
so that the page in a browser makes the same drives.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from pslc._native import derive_profile, profile_toml, way_of_folding
from pslc.device.parts.schema import Controller, Nand, Raw

__all__ = ["Derived", "derive", "way_of_folding"]


@dataclass(frozen=True)
class Derived:
    """A profile made of parts.

    Attributes:
        values: by dotted key, as a profile writes them.
        how: by dotted key, where each value comes from: the part and its source, a derivation, or assumed.
    """

    values: Mapping[str, Raw]
    how: Mapping[str, str]

    @property
    def text(self) -> str:
        """The profile as TOML, with `[provenance]`."""
        return profile_toml([(key, value, self.how[key]) for key, value in self.values.items()])


def derive(die: Nand, controller: Controller, given: Mapping[str, Raw], *, whole: bool = False) -> Derived:
    """Every key of a profile that is not given. `given` holds `capacity` and whatever else is said, by dotted key.

    Args:
        whole: what is given is there as well, with the provenance `given`.

    Raises:
        ProfileError: there is no capacity, or a given value that others follow from cannot be read.
    """
    question = {"nand": asdict(die), "controller": asdict(controller), "given": list(given.items())}
    rows = derive_profile(json.dumps(question), whole)
    return Derived({key: value for key, value, _ in rows}, {key: how for key, _, how in rows})
