"""The extra `policy`: cache policies and victim rules in Python."""

from functools import partial

from pslc.extras import Extra, Service


def _governor() -> object:
    from pslc.policy import governor

    return governor


def _named(name: str) -> object:
    return getattr(_governor(), name)


NAMES = ("Candidates", "HostWrite", "Policy", "Space", "VictimRule", "View")
EXTRA = Extra(
    name="policy", services={Service.POLICIES: _governor}, names={name: partial(_named, name) for name in NAMES}
)
