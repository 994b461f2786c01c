"""No input of 200 kB takes a parser more than a second of a processor, or 500 MB."""

import pytest
from benches.inputs import LENGTH, costs, inputs


@pytest.mark.slow
def test_no_input_of_200_kb_takes_a_parser_a_second_or_500_mb():
    found = costs()
    assert len({one.parser for one in found}) > 30
    assert [one for one in found if not one.good] == []


def test_the_inputs_are_of_200_kb():
    assert not [
        text for *_, text in inputs() if not (0.95 * LENGTH < len(text.encode(errors="surrogateescape")) < 1.1 * LENGTH)
    ]
