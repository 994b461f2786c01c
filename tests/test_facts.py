"""The facts of a target have the names and kinds that `pslc.facts` promises."""

import types
import typing

import pytest

from pslc.facts import Facts
from pslc.targets import probe
from pslc.targets.target import find_target


def agrees(value, kind) -> bool:
    """Whether a value is of a kind, with all that is in it."""
    if typing.get_origin(kind) in (types.UnionType, typing.Union):
        return any(agrees(value, one) for one in typing.get_args(kind))
    if typing.is_typeddict(kind):
        promised = typing.get_type_hints(kind)
        return isinstance(value, dict) and all(
            name in promised and agrees(value[name], promised[name]) for name in value
        )
    if typing.get_origin(kind) is list:
        return isinstance(value, list) and all(agrees(one, *typing.get_args(kind)) for one in value)
    kind = typing.get_origin(kind) or kind
    return kind is typing.Any or isinstance(value, (int, float) if kind is float else kind)


def test_a_check_that_sees_what_is_wrong():
    assert not agrees({"dies": "64"}, Facts)
    assert not agrees({"deis": 64}, Facts)
    assert not agrees({"device": {"name": None}}, Facts)


@pytest.mark.parametrize("spec", ["sim:sn850-1tb,scale=1/16", "sim:660p-1tb", "sim:pm871b-128gb"])
def test_of_a_simulated_drive(spec):
    facts = find_target(spec).facts
    assert facts["dies"] > 0
    for name, value in facts.items():
        assert agrees({name: value}, Facts), (name, value)


def test_of_a_file_on_this_machine(tmp_path):
    facts = probe.facts(tmp_path)
    facts["now"] = probe.moment(facts)
    for name, value in facts.items():
        assert agrees({name: value}, Facts), (name, value)
