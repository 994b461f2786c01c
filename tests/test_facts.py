"""The facts of a target have the names and kinds that `pslc.schema.facts` promises."""

import pytest

from pslc.device import probe
from pslc.device.target import find_target
from pslc.schema.facts import Facts
from pslc.schema.job_options import Traits
from tests.typed import unlike


def test_a_check_that_sees_what_is_wrong():
    assert unlike({"dies": "64"}, Facts) == [".dies is '64', not <class 'int'>"]
    assert unlike({"deis": 64}, Facts) == [" has deis, which Facts has not"]
    assert unlike({"device": {"name": None}}, Facts)
    assert len(unlike({}, Traits)) == len(Traits.__annotations__)


@pytest.mark.parametrize("spec", ["sim:sn850-1tb,scale=1/16", "sim:660p-1tb", "sim:pm871b-128gb"])
def test_of_a_simulated_drive(spec):
    facts = find_target(spec).facts
    assert facts["dies"] > 0
    assert unlike(facts, Facts) == []


def test_of_a_file_on_this_machine(tmp_path):
    facts = probe.facts(tmp_path)
    facts["now"] = probe.moment(facts)
    assert unlike(facts, Facts) == []
