"""Which suite tells which value of a twin, for docs/twin.md and for the fit itself: `make identify`.

On simulated drives of several firmwares, what a suite leaves of the uncertainty of each value, all values being free at
once: the standard deviation after over that before, the smallest of the firmwares. Large writes are looked at together
with a fill, as a fit does. The fit reads it to decide which values to free (python/pslc/twin/told.toml). Then the
intervals are held against refits of writes with noise drawn anew (a parametric bootstrap).
"""

import sys
import time
from dataclasses import replace
from importlib import reload
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import pslc
from pslc.twin import data, intervals, search, singles, told
from pslc.twin.data import SCALES
from pslc.twin.model import PARAMETERS, Firmware, Model, build_for, of_firmware

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "twin.md"
TOLD = ROOT / "python" / "pslc" / "twin" / "told.toml"
YES = 0.3
SUITES = ("fill", "recovery", "second-pass", "overwrite", "fill-levels", "sustained", "hdtune", "random-steady",
          "burst", "qd-sweep", "range-sweep")  # fmt: skip
FIRMWARES = (
    Firmware("dynamic-slc", "direct-then-fold", "after-idle"),
    Firmware("dynamic-slc", "direct-while-folding", "after-idle"),
    Firmware("dynamic-slc", "fold", "as-freed"),
    Firmware("static-slc", "direct-then-fold", "after-idle"),
)
TRUTH = {"slc_rate": 2e9, "native_rate": 6e8, "dynamic": 0.12, "static": 0.02, "least": 0.5, "spare": 0.09,
         "overhead": 1.5, "share": 0.5, "threshold": 10.0, "idle_rate": 4e8, "residue": 0.05}  # fmt: skip
CAPACITY = 1_000_000_000_000
REFITS = 30
NOISE = 0.03
"""Of the speed in each of 64 bins."""


def problem(firmware: Firmware, suite: str, folder: Path) -> tuple[search.Problem, dict[str, float]]:
    """A suite on the true drive, all values being free; runs are as small as those of a fit."""
    model = Model(build_for(CAPACITY, "pcie4x4", 3, 2e9, 6e8), firmware)
    small = model if suite in singles.SUITES else model.scaled()
    values = {name: one.prior for name, one in PARAMETERS.items()} | TRUTH
    path = folder / "truth.toml"
    path.write_text(model.profile(values))
    given = dict.fromkeys(("fill", suite) if suite in SCALES else (suite,))
    trials = [data.of_recording(pslc.run(name, on=f"sim:{path}", scope=pslc.Scope(quick=name != "fill")))
              for name in given]  # fmt: skip
    free = of_firmware(firmware)
    return search.Problem(small, trials, free, values), values


def left(firmware: Firmware, suite: str, folder: Path) -> tuple[dict[str, float], float]:
    """Of each value, the standard deviation after the suite over that before it; and what the suite writes."""
    made, values = problem(firmware, suite, folder)
    # The simulated drive is free of noise; real data, and what the model leaves out, are not.
    found = search.Solution(made, made.pack(values), 0.0)
    found = intervals.with_intervals(found, intervals.told(found), least_left=1.0)
    assert found.covariance is not None
    deviations = np.sqrt(np.diag(found.covariance))
    shares = {name: float(deviations[i]) / made.expected(name)[1] for i, name in enumerate(made.free)}
    return shares, made.trials[-1].written_bytes


def kept(found: dict[str, dict[str, float]]) -> str:
    """As TOML."""
    lines = ["# Of each value, what a suite leaves of the uncertainty before it, large writes with a fill; the",
             "# suites that write least come first. Made by `make identify`."]  # fmt: skip
    for suite, left_of in found.items():
        lines += ["", f"[{suite}]", *(f"{name} = {share}" for name, share in left_of.items() if share < 1.0)]
    return "\n".join(lines) + "\n"


def measured() -> dict[str, dict[str, float]]:
    """Of each suite, what it leaves of each value; those that write least come first."""
    found: dict[str, dict[str, float]] = {}
    written: dict[str, float] = {}
    with TemporaryDirectory() as folder:
        for suite in SUITES:
            begun = time.process_time()
            # A fit takes from single requests what depends on no firmware.
            firmwares = FIRMWARES if suite in SCALES else FIRMWARES[:1]
            ones, sizes = zip(*(left(firmware, suite, Path(folder)) for firmware in firmwares), strict=True)
            used = set(PARAMETERS) if suite in SCALES else singles.SINGLE
            names = [name for name in PARAMETERS if name in used and any(name in one for one in ones)]
            found[suite] = {name: round(min(1.0, *(one[name] for one in ones if name in one)), 3) for name in names}
            written[suite] = max(sizes)
            took = time.process_time() - begun
            print(f"{suite}: {written[suite] / 1e9:.0f} GB, {found[suite]} ({took:.0f} s)", file=sys.stderr, flush=True)
    return {suite: found[suite] for suite in sorted(found, key=lambda suite: written[suite])}


def table() -> str:
    """What stands in told.toml, as Markdown."""
    lines = [f"| value | {' | '.join(told.LEFT)} |", f"|---|{'---|' * len(told.LEFT)}"]
    for name, one in PARAMETERS.items():
        row = [of.get(name, 1.0) if told.adds(suite, name) else 1.0 for suite, of in told.LEFT.items()]
        cells = ["yes" if share < YES else "partly" if share < told.PARTLY else "" for share in row]
        lines.append(f"| {one.what} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def bootstrap() -> str:
    """As Markdown: standard deviations by the Jacobian, and of refits to a fill with noise drawn anew."""
    rng = np.random.default_rng(0)
    lines = ["| value | by the Jacobian | of refits | over |", "|---|---:|---:|---:|"]
    with TemporaryDirectory() as folder:
        made, values = problem(FIRMWARES[0], "fill", Path(folder))
    made = replace(made, free=["slc_rate", "native_rate", "dynamic", "spare", "overhead"])
    truth = made.pack(values)
    (look,) = made.trials[0].looks[0]
    assert look is not None
    finest = max(look.curves)

    def drawn() -> search.Problem:
        slow = np.exp(-look.curves[finest] + rng.normal(0.0, NOISE, finest))
        curves = {bins: -np.log(slow.reshape(bins, -1).mean(axis=1)) for bins in look.curves}
        return replace(made, trials=[replace(made.trials[0], looks=[[replace(look, curves=curves)]])])

    found, spread = [], []
    for _ in range(REFITS):
        one = search.refine(search.Solution(drawn(), truth, 0.0), 4)
        found.append(one.x)
        covariance = intervals.with_intervals(one, intervals.told(one)).covariance
        assert covariance is not None
        spread.append(np.sqrt(np.diag(covariance)))
    told, real = np.median(spread, axis=0), np.std(found, axis=0, ddof=1)
    for i, name in enumerate(made.free):
        lines.append(f"| {PARAMETERS[name].what} | {told[i]:.4f} | {real[i]:.4f} | {told[i] / real[i]:.1f} |")
    return "\n".join(lines) + "\n"


def put(mark: str, text: str) -> None:
    """Into docs/twin.md, between the marks."""
    page = PAGE.read_text(encoding="utf-8")
    head, begin, rest = page.partition(f"<!-- {mark} -->\n")
    _, end, tail = rest.partition("<!-- end -->\n")
    assert begin, mark
    assert end, mark
    PAGE.write_text(head + begin + text + end + tail, encoding="utf-8")


def main() -> None:
    """Write the tables into docs/twin.md."""
    assert {*SUITES} == SCALES | singles.SUITES
    put("make identify: bootstrap", bootstrap())
    TOLD.write_text(kept(measured()), encoding="utf-8")
    reload(told)
    put("make identify", table())


if __name__ == "__main__":
    main()
