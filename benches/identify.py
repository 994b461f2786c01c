"""Which suite tells which value of a twin, for docs/twin.md and for the fit itself: `make bench NAME=identify`.

On simulated drives of several firmwares, what a suite leaves of the uncertainty of each value, all values being free at
once: the standard deviation after over that before, the smallest of the firmwares. Large writes are looked at together
with a fill, as a fit does. The fit reads it to decide which values to free (identifiability.toml of
pslc.twin). Then the intervals are held against refits of writes with noise drawn anew (a parametric bootstrap).
"""

import sys
import time
from dataclasses import replace
from importlib import reload
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import pslc
from pslc.twin import identifiability, optimizer, uncertainty
from pslc.twin.datasets import SCALABLE_SUITES, dataset_of
from pslc.twin.model import PARAMETERS, FirmwareModel, Model, parameters_of, typical_geometry
from pslc.twin.small_io import SMALL_IO_PARAMETERS, SMALL_IO_SUITES

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "twin.md"
TOLD = ROOT / "python" / "pslc" / "twin" / "identifiability.toml"
YES = 0.3
SUITES = ("fill", "recovery", "second-pass", "overwrite", "fill-levels", "sustained", "hdtune", "random-steady",
          "burst", "qd-sweep", "range-sweep")  # fmt: skip
FIRMWARES = (
    FirmwareModel("dynamic-slc", "direct-then-fold", "after-idle"),
    FirmwareModel("dynamic-slc", "direct-while-folding", "after-idle"),
    FirmwareModel("dynamic-slc", "fold", "as-freed"),
    FirmwareModel("static-slc", "direct-then-fold", "after-idle"),
)
TRUTH = {"slc_rate": 2e9, "native_rate": 6e8, "dynamic": 0.12, "static": 0.02, "dynamic_min": 0.5,
         "over_provisioning": 0.09, "fold_overhead": 1.5, "host_share": 0.5, "idle_threshold": 10.0, "idle_rate": 4e8,
         "residue": 0.05}  # fmt: skip
CAPACITY = 1_000_000_000_000
REFITS = 30
NOISE = 0.03
"""Of the speed in each of 64 bins."""


def problem(firmware: FirmwareModel, suite: str, folder: Path) -> tuple[optimizer.FitProblem, dict[str, float]]:
    """A suite on the true drive, all values being free; runs are as small as those of a fit."""
    model = Model(typical_geometry(CAPACITY, "pcie4x4", 3, 2e9, 6e8), firmware)
    small = model if suite in SMALL_IO_SUITES else model.scaled()
    values = {name: one.prior_mean for name, one in PARAMETERS.items()} | TRUTH
    path = folder / "truth.toml"
    path.write_text(model.profile(values))
    given = dict.fromkeys(("fill", suite) if suite in SCALABLE_SUITES else (suite,))
    datasets = [dataset_of(pslc.run(name, on=f"sim:{path}", scope=pslc.Scope(quick=name != "fill")))
              for name in given]  # fmt: skip
    free = parameters_of(firmware)
    return optimizer.FitProblem(small, datasets, free, values), values


def left(firmware: FirmwareModel, suite: str, folder: Path) -> tuple[dict[str, float], float]:
    """Of each value, the standard deviation after the suite over that before it; and what the suite writes."""
    made, values = problem(firmware, suite, folder)
    # The simulated drive is free of noise; real data, and what the model leaves out, are not.
    found = optimizer.Candidate(made, made.pack(values), 0.0)
    found = uncertainty.with_covariance(found, uncertainty.jacobian(found), min_variance=1.0)
    assert found.covariance is not None
    deviations = np.sqrt(np.diag(found.covariance))
    shares = {name: float(deviations[i]) / made.prior_of(name)[1] for i, name in enumerate(made.free)}
    return shares, made.datasets[-1].written_bytes


def kept(found: dict[str, dict[str, float]]) -> str:
    """As TOML."""
    lines = ["# Of each value, what a suite leaves of the uncertainty before it, large writes with a fill; the",
             "# suites that write least come first. Made by `make bench NAME=identify`."]  # fmt: skip
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
            firmwares = FIRMWARES if suite in SCALABLE_SUITES else FIRMWARES[:1]
            ones, sizes = zip(*(left(firmware, suite, Path(folder)) for firmware in firmwares), strict=True)
            used = set(PARAMETERS) if suite in SCALABLE_SUITES else SMALL_IO_PARAMETERS
            names = [name for name in PARAMETERS if name in used and any(name in one for one in ones)]
            found[suite] = {name: round(min(1.0, *(one[name] for one in ones if name in one)), 3) for name in names}
            written[suite] = max(sizes)
            took = time.process_time() - begun
            print(f"{suite}: {written[suite] / 1e9:.0f} GB, {found[suite]} ({took:.0f} s)", file=sys.stderr, flush=True)
    return {suite: found[suite] for suite in sorted(found, key=lambda suite: written[suite])}


def table() -> str:
    """What stands in identifiability.toml, as Markdown."""
    left_of = identifiability.REMAINING_SD_SHARE
    lines = [f"| value | {' | '.join(left_of)} |", f"|---|{'---|' * len(left_of)}"]
    for name, one in PARAMETERS.items():
        row = [
            shares.get(name, 1.0) if identifiability.adds_information(suite, name) else 1.0
            for suite, shares in left_of.items()
        ]
        partly = identifiability.PARTLY_IDENTIFIED_SHARE
        cells = ["yes" if share < YES else "partly" if share < partly else "" for share in row]
        lines.append(f"| {one.description} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def bootstrap() -> str:
    """As Markdown: standard deviations by the Jacobian, and of refits to a fill with noise drawn anew."""
    rng = np.random.default_rng(0)
    lines = ["| value | by the Jacobian | of refits | over |", "|---|---:|---:|---:|"]
    with TemporaryDirectory() as folder:
        made, values = problem(FIRMWARES[0], "fill", Path(folder))
    made = replace(made, free=["slc_rate", "native_rate", "dynamic", "over_provisioning", "fold_overhead"])
    truth = made.pack(values)
    (look,) = made.datasets[0].features[0]
    assert look is not None
    finest = max(look.curves)

    def drawn() -> optimizer.FitProblem:
        slow = np.exp(-look.curves[finest] + rng.normal(0.0, NOISE, finest))
        curves = {bins: -np.log(slow.reshape(bins, -1).mean(axis=1)) for bins in look.curves}
        return replace(made, datasets=[replace(made.datasets[0], features=[[replace(look, curves=curves)]])])

    found, spread = [], []
    for _ in range(REFITS):
        one = optimizer.refine(optimizer.Candidate(drawn(), truth, 0.0), 4)
        found.append(one.x)
        covariance = uncertainty.with_covariance(one, uncertainty.jacobian(one)).covariance
        assert covariance is not None
        spread.append(np.sqrt(np.diag(covariance)))
    told, real = np.median(spread, axis=0), np.std(found, axis=0, ddof=1)
    for i, name in enumerate(made.free):
        lines.append(f"| {PARAMETERS[name].description} | {told[i]:.4f} | {real[i]:.4f} | {told[i] / real[i]:.1f} |")
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
    assert {*SUITES} == SCALABLE_SUITES | SMALL_IO_SUITES
    put("make bench NAME=identify: bootstrap", bootstrap())
    TOLD.write_text(kept(measured()), encoding="utf-8")
    reload(identifiability)
    put("make bench NAME=identify", table())


if __name__ == "__main__":
    main()
