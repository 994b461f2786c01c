"""Extras: what pslc does beyond its core. Each registers at one point, and each can be absent: the core imports none.

An extra of this package is a room with a file `extra.py`; another package names its own at the entry point
`pslc.extras`. Both hold an `Extra` called `EXTRA`: the commands that it brings, and the services that the core asks for
by `Service`. What is missing is said in a sentence.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from pslc.base import install
from pslc.base.errors import PslcError, user_error

GROUP: Final = "pslc.extras"
"""Entry point of extras in other packages."""
OWN: Final[Mapping[str, tuple[str, ...]]] = {
    "formats": (),
    "chart": (),
    "fio": (),
    "policy": (),
    "watch": ("watch",),
    "serving": ("serve",),
    "crash": ("crash",),
    "studies": ("study",),
    "advice": ("advise",),
    "lab": ("lab",),
}
"""Extras of this package, each with its commands, so that a command that is missing is known as one."""

NEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    "chart": ("formats",),
    "studies": ("policy",),
    "advice": ("watch",),
    "lab": ("formats",),
    "crash": ("serving",),
}
"""Extras that an extra of this package cannot do without."""

Load = Callable[[], Any]
"""Imports what an extra brings; called when it is needed."""


class Service(Enum):
    """Services that the core asks of extras: the extra of this package that gives each, and words for it."""

    FILES = "formats", "reading a file of another program"
    """A module with `read(paths, options)`, which returns recordings."""
    FORMATS = "chart", "reading a chart from a picture"
    """A `pslc.formats.Format` that stands before those of the room formats."""
    OVERLAYS = "chart", "drawing over the picture of a chart"
    """A module with `write_overlays` and `write_tables`."""
    OUTPUTS = "fio", "output in the format of fio"
    """A module with `text(recording, output_format)`."""
    SUITE_JOBS = "fio", "a suite as a job file for fio"
    """A module with `job_file(steps, region)`."""
    POLICIES = "policy", "a policy in Python"
    """The module `pslc.policy.governor`."""
    WATCHED = "watch", "a recording of a drive at work"
    """A `pslc.suites.Suite` for recordings with the fact `watch`."""

    @property
    def extra(self) -> str:
        """Extra of this package that gives it."""
        return self.value[0]

    @property
    def words(self) -> str:
        """Words for the service in a message."""
        return self.value[1]


@dataclass(frozen=True, kw_only=True)
class Extra:
    """An extra, as the list of everything that it brings.

    Attributes:
        name: its name.
        commands: modules of its commands, as those of `pslc.cli` are, by the command's name.
        services: what the core asks for.
        names: what `import pslc` offers of it, by name.
    """

    name: str
    commands: Mapping[str, Load] = field(default_factory=dict)
    services: Mapping[Service, Load] = field(default_factory=dict)
    names: Mapping[str, Load] = field(default_factory=dict)


@cache
def own(name: str) -> Extra | None:
    """An extra of this package; None if it is absent, or if one that it needs is."""
    try:
        extra: Extra = import_module(f"{__package__}.{name}.extra").EXTRA
    except ModuleNotFoundError as error:
        package, _, rest = (error.name or "").partition(".")
        if package == __package__ and rest.partition(".")[0] in OWN:
            return None
        raise
    return extra if all(map(_is_here, NEEDS.get(name, ()))) else None


def _is_here(name: str) -> bool:
    """Whether an extra of this package is installed; it is not imported."""
    return find_spec(f"{__package__}.{name}") is not None and all(map(_is_here, NEEDS.get(name, ())))


@cache
def of_others() -> tuple[Extra, ...]:
    """Extras of other packages.

    Raises:
        PslcError: one of them cannot be imported.
    """
    from importlib.metadata import entry_points

    extras = []
    for point in entry_points(group=GROUP):
        try:
            extras.append(point.load())
        except Exception as error:
            hint = f"correct it, or remove its package: pip uninstall {point.dist.name if point.dist else point.name}"
            raise user_error(f"the extra {point.name} cannot be imported: {error}", hint) from error
    return tuple(extras)


def installed() -> Iterator[Extra]:
    """All extras that there are."""
    yield from (extra for name in OWN if (extra := own(name)))
    yield from of_others()


def missing(name: str, what: str) -> PslcError:
    """The error for something that needs an absent extra."""
    absent = next((other for other in NEEDS.get(name, ()) if own(other) is None), name)
    hint = f"{install.command('pslc')} brings all of them"
    return user_error(f"{what} needs the extra {absent}, which is not installed", hint)


def service(of: Service) -> Any:
    """Return the object that gives a service.

    Raises:
        PslcError: its extra is absent.
    """
    extra = own(of.extra)
    if extra is None:
        raise missing(of.extra, of.words)
    return extra.services[of]()


def services(of: Service) -> list[Any]:
    """All that give a service, those of this package first; empty if their extras are absent."""
    return [extra.services[of]() for extra in installed() if of in extra.services]


def commands() -> list[str]:
    """Names of the commands that extras bring."""
    own_names = [name for extra, names in OWN.items() if names and _is_here(extra) for name in names]
    return own_names + [name for extra in of_others() for name in extra.commands]


def command(name: str) -> Any:
    """The module of an extra's command; None if no extra has it.

    Raises:
        PslcError: its extra is absent.
    """
    for extra_name, names in OWN.items():
        if name in names:
            extra = own(extra_name)
            if extra is None:
                raise missing(extra_name, f"pslc {name}")
            return extra.commands[name]()
    return next((extra.commands[name]() for extra in of_others() if name in extra.commands), None)


def name_of_face(extra_name: str, name: str) -> Any:
    """Return an object of an extra that `import pslc` offers.

    Raises:
        PslcError: the extra is absent.
    """
    extra = own(extra_name)
    if extra is None:
        raise missing(extra_name, f"pslc.{name}")
    return extra.names[name]()
