"""The end of the cache on simulated drives whose speed something else decides as well: the truth is in the drive."""

import pytest
from benches import truth

import pslc
from pslc.analysis import WriteAnalysis
from pslc.device.region import Scope

GB = 1e9
TRUTH = 281 * GB


def fill(on: str, scope: Scope | None = None, **options: str) -> WriteAnalysis:
    return pslc.run("fill", on=on, scope=scope, options=tuple(options.items())).findings  # type: ignore[no-any-return]


@pytest.mark.parametrize("ambient", [65, 75, 85])
def test_a_drive_that_throttles_still_has_the_cache_it_has(ambient: int) -> None:
    found = fill(f"sim:sn850-1tb,heat.ambient={ambient}C")
    assert found.cache is not None
    assert found.cache.bytes == pytest.approx(TRUTH, rel=0.01)
    causes = [phase.cause for phase in found.phases]
    # Native cells beside folding are slower than the drive may be while it throttles, so heat is not the cause.
    assert causes == (["pslc", "direct", "native"] if ambient == 65 else ["pslc", "thermal", "direct", "native"])


@pytest.mark.long
def test_what_the_page_cache_took_in_is_not_the_drives_cache() -> None:
    found = fill("sim:sn850-1tb,host.page_cache=32GB", direct="0", bs="1m", iodepth="1")
    assert found.phases[0].cause == "page-cache"
    assert found.cache is not None
    assert found.cache.bytes == pytest.approx(TRUTH, rel=0.01)


def test_a_half_full_drive_that_folds_at_once_says_nothing_of_its_cache() -> None:
    found = fill("sim:sn850-1tb", Scope(fill_first=50))
    assert found.phases[0].cause == "direct"
    assert (found.phases[0].shares or {})["fold"] > 0.3
    assert found.cache is None


def test_a_cache_that_still_holds_data_raises_a_warning_to_be_all_there_is() -> None:
    found = fill("sim:sn850-1tb,scale=1/32", Scope(fill_first=10))
    assert found.cache is not None
    assert found.cache.bytes == pytest.approx(TRUTH - 100 * GB, rel=0.01)
    assert any(warning.startswith("the cache still held 100 GB") for warning in found.warnings)
    assert not any("still held" in warning for warning in fill("sim:sn850-1tb,scale=1/32").warnings)


@pytest.mark.parametrize(("idle_s", "used"), [(0.0, True), (3600.0, False)])
def test_a_cache_that_the_fill_before_used_up_is_said_to_take_nothing_until_it_rests(idle_s: float, used: bool) -> None:
    write = fill("sim:990-pro-4tb,scale=1/16", Scope(fill_first=50, idle_s=idle_s), io_size="31g")
    assert (write.cache is None) == used
    sentence = (
        "the cache took none of this write, as the fill before had used it up; it held 0 B when the write began: "
    )
    assert (f"{sentence}let it rest first, --idle 10min" in write.warnings) == used
    assert any("of the free 2000 GB was written" in warning for warning in write.warnings)


@pytest.mark.parametrize("seed", [50008, 52138])
def test_bytes_that_went_past_a_cache_which_was_not_free_are_not_its_size(seed: int) -> None:
    assert truth.one(seed).said is None


def test_a_short_cache_right_behind_what_the_page_cache_took_in_is_seen() -> None:
    told = truth.one(50196)
    assert told.said is not None
    assert told.right


@pytest.mark.parametrize("seed", [9523, 9531, 9571, 9606])
def test_caches_of_a_few_bins_and_none_at_all_are_told_as_the_counters_have_them(seed):
    assert truth.one(seed).right
