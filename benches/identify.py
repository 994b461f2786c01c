"""Which suite tells which value of a twin, as the table of docs/twin.md: `make identify`.

On a simulated drive of each policy, what one suite alone leaves of the uncertainty of each value, all values being free
at once: the standard deviation after over that before, the smallest of the policies.
"""

from pathlib import Path

import pslc
from pslc.twin import data, search
from pslc.twin.fit import SCALES, WHOLE
from pslc.twin.model import PARAMETERS, Firmware, Model, build_for, of_firmware

PAGE = Path(__file__).parent.parent / "docs" / "twin.md"
BEGIN, END = "<!-- make identify -->\n", "<!-- end -->\n"
SUITES = ("fill", "recovery", "second-pass", "overwrite", "random-steady", "burst", "qd-sweep", "range-sweep")
TOLD, PARTLY = 0.3, 0.6
POLICIES = (
    Firmware("dynamic-slc", "direct-then-fold", "after-idle"),
    Firmware("dynamic-slc", "direct-while-folding", "after-idle"),
)
TRUTH = {"slc_rate": 2e9, "native_rate": 6e8, "dynamic": 0.12, "least": 0.5, "spare": 0.09, "overhead": 1.5,
         "share": 0.5, "threshold": 1.0, "idle_rate": 4e8, "residue": 0.05}  # fmt: skip


def left(firmware: Firmware, suite: str, folder: Path) -> dict[str, float]:
    """Of each value, the standard deviation after the suite over that before it."""
    build = build_for(24_000_000_000, "pcie4x4", 3, 2e9, 6e8)
    model = Model(build, firmware)
    values = {name: one.prior for name, one in PARAMETERS.items()} | TRUTH
    path = folder / "truth.toml"
    path.write_text("\n".join(f"{key} = {value}" for key, value in model.keys(values).items()))
    trial = data.of_recording(pslc.run(suite, on=f"sim:{path}", scope=pslc.Scope(quick=suite != "fill")))
    free = [name for name in of_firmware(firmware) if name != "static"]
    problem = search.Problem(model, [trial], free, values)
    found = search.with_intervals(search.Solution(problem, problem.pack(values), 0.0))
    assert found.covariance is not None
    return {name: float(found.covariance[i, i] ** 0.5) / problem.expected(name)[1] for i, name in enumerate(free)}


def table() -> str:
    """As Markdown: `yes` below 30 % of what was unknown, `partly` below 60 %."""
    from tempfile import TemporaryDirectory

    rows: dict[str, list[str]] = {name: [] for name in PARAMETERS if name != "static"}
    with TemporaryDirectory() as folder:
        for suite in SUITES:
            found = [left(firmware, suite, Path(folder)) for firmware in POLICIES]
            for name, cells in rows.items():
                best = min((one[name] for one in found if name in one), default=1.0)
                cells.append("yes" if best < TOLD else "partly" if best < PARTLY else "")
    lines = [f"| value | {' | '.join(SUITES)} |", f"|---|{'---|' * len(SUITES)}"]
    lines += [f"| {PARAMETERS[name].what} | {' | '.join(cells)} |" for name, cells in rows.items()]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the table into docs/twin.md."""
    assert {*SUITES} <= SCALES | WHOLE
    text = PAGE.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    PAGE.write_text(head + BEGIN + table() + END + tail, encoding="utf-8")


if __name__ == "__main__":
    main()
