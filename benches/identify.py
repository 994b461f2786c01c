"""Which suite tells which value of a twin, for docs/twin.md: `make identify`.

On a simulated drive of each policy, what one suite alone leaves of the uncertainty of each value, all values being
free at once: the standard deviation after over that before, the smallest of the policies. Then the intervals are held
against refits of writes with noise drawn anew (a parametric bootstrap).
"""

import sys
import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import pslc
from pslc.twin import data, search
from pslc.twin.fit import SCALES, WHOLE
from pslc.twin.model import PARAMETERS, Firmware, Model, build_for, of_firmware

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "twin.md"
YES, PARTLY = 0.3, 0.6
SUITES = ("fill", "recovery", "second-pass", "overwrite", "fill-levels", "sustained", "hdtune", "random-steady",
          "burst", "qd-sweep", "range-sweep")  # fmt: skip
POLICIES = (
    Firmware("dynamic-slc", "direct-then-fold", "after-idle"),
    Firmware("dynamic-slc", "direct-while-folding", "after-idle"),
)
TRUTH = {"slc_rate": 2e9, "native_rate": 6e8, "dynamic": 0.12, "least": 0.5, "spare": 0.09, "overhead": 1.5,
         "share": 0.5, "threshold": 1.0, "idle_rate": 4e8, "residue": 0.05}  # fmt: skip
CAPACITY = 6_000_000_000
REFITS = 30
NOISE = 0.03
"""Of the speed in each of 64 bins."""


def problem(firmware: Firmware, suite: str, folder: Path) -> tuple[search.Problem, dict[str, float]]:
    """A suite on the true drive, all values being free."""
    model = Model(build_for(CAPACITY, "pcie4x4", 3, 2e9, 6e8), firmware)
    values = {name: one.prior for name, one in PARAMETERS.items()} | TRUTH
    path = folder / "truth.toml"
    path.write_text("\n".join(f"{key} = {value}" for key, value in model.keys(values).items()))
    trial = data.of_recording(pslc.run(suite, on=f"sim:{path}", scope=pslc.Scope(quick=suite != "fill")))
    free = [name for name in of_firmware(firmware) if name != "static"]
    return search.Problem(model, [trial], free, values), values


def left(firmware: Firmware, suite: str, folder: Path) -> dict[str, float]:
    """Of each value, the standard deviation after the suite over that before it."""
    made, values = problem(firmware, suite, folder)
    # The simulated drive is free of noise; real data, and what the model leaves out, are not.
    found = search.Solution(made, made.pack(values), 0.0)
    found = search.with_intervals(found, search.told(found), least_left=1.0)
    assert found.covariance is not None
    return {name: float(found.covariance[i, i] ** 0.5) / made.expected(name)[1] for i, name in enumerate(made.free)}


def measured() -> dict[str, dict[str, float]]:
    """Of each suite, what it leaves of each value."""
    found: dict[str, dict[str, float]] = {}
    with TemporaryDirectory() as folder:
        for suite in SUITES:
            begun = time.process_time()
            ones = [left(firmware, suite, Path(folder)) for firmware in POLICIES]
            names = [name for name in PARAMETERS if any(name in one for one in ones)]
            found[suite] = {name: round(min(one[name] for one in ones if name in one), 3) for name in names}
            print(f"{suite}: {found[suite]} ({time.process_time() - begun:.0f} s)", file=sys.stderr, flush=True)
    return found


def table(found: dict[str, dict[str, float]]) -> str:
    """As Markdown."""
    lines = [f"| value | {' | '.join(found)} |", f"|---|{'---|' * len(found)}"]
    for name, one in PARAMETERS.items():
        row = [of.get(name, 1.0) for of in found.values()]
        if any(name in of for of in found.values()):
            cells = ["yes" if share < YES else "partly" if share < PARTLY else "" for share in row]
            lines.append(f"| {one.what} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def bootstrap() -> str:
    """As Markdown: standard deviations by the Jacobian, and of refits to a fill with noise drawn anew."""
    rng = np.random.default_rng(0)
    lines = ["| value | by the Jacobian | of refits | over |", "|---|---:|---:|---:|"]
    with TemporaryDirectory() as folder:
        made, values = problem(POLICIES[0], "fill", Path(folder))
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
        covariance = search.with_intervals(one, search.told(one)).covariance
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
    assert {*SUITES} == SCALES | WHOLE
    put("make identify: bootstrap", bootstrap())
    found = measured()
    put("make identify", table(found))


if __name__ == "__main__":
    main()
