"""A recording that ends early, of any suite and at any moment, opens with every command and says that it is partial."""

import functools
import json

import pytest
from benches.small import PROFILE

import pslc
from pslc import suites
from pslc.device.region import Scope
from pslc.fio import json_output as fio
from pslc.recording import comparison, store
from pslc.report import page, recording_view, terminal
from pslc.runner.campaign import spread
from pslc.runner.load import opened, read_side
from tests.cut import cut

SHARES = (0.0, 1e-6, 0.05, 0.37, 0.71, 0.999)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Each suite on the small drive, once."""
    profile = tmp_path_factory.mktemp("drive") / "small.toml"
    profile.write_text(PROFILE)
    return functools.cache(lambda suite: pslc.run(suite, on=f"sim:{profile}", scope=Scope(quick=True)))


@pytest.mark.long
@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("suite", suites.names())
def test_a_suite_that_was_killed_opens_and_says_that_it_is_partial(suite, every, whole, tmp_path, capsys):
    """Each suite at some of the moments, and each moment with some suites; in the slow part all of them."""
    full = whole(suite)
    store.save(full, tmp_path / "full")
    # The end of a step, too.
    ends = [(part.end_ns - full.start_ns) / max(full.end_ns - full.start_ns, 1) for part in full.parts[:1]]
    shares = [*SHARES, *ends][suites.names().index(suite) % every :: every]
    for number, share in enumerate(shares):
        folder = tmp_path / f"cut-{number}"
        store.save(cut(full, share), folder)
        recording = opened(folder)
        assert "this recording is partial" in recording.findings["warnings"][0], share
        shown = recording_view.of_recording(recording)
        terminal.show(shown)
        assert "this recording is partial" in capsys.readouterr().out
        json.dumps(recording.document(), allow_nan=False)
        fio.document(recording)
        sides = [read_side(tmp_path / "full"), read_side(folder)]
        terminal.show_comparison(sides, comparison.compare(sides, {}))
        spread([full, recording])
        capsys.readouterr()
    assert "this recording is partial" in page.render(shown)
    page.write_comparison(sides, comparison.compare(sides, {}), tmp_path / "both.html")
