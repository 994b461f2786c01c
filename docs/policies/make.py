"""The tables of docs/policies.md, from a study of every policy: `make policies`."""

import re
import sys
from pathlib import Path
from typing import Final

import pslc
from pslc.base import words
from pslc.studies.rows import Row, number

HOUSE: Final = Path(__file__).parent.parent.parent
PAGE: Final = HOUSE / "docs" / "policies.md"
WORK: Final = {
    "fill": ("speed of the fill", "measured_write_bytes_per_s"),
    "bursts": ("mean latency of a write in a burst", "measured_write_mean_s"),
    "hot": ("speed of the database", "measured_write_bytes_per_s"),
    "random": ("speed of random writes", "measured_write_bytes_per_s"),
    "paced": ("99.9th percentile of the latency", "measured_write_p99_9_s"),
    "mixture": ("mean latency of the database's writes", "database_write_mean_s"),
}
"""What tells who wins in each workload: more of a speed, less of a time."""
PLAIN: Final = "direct-then-fold"
DRIVES: Final = {"aldrin-pro-2tb": "Aldrin Pro, TLC", "sn850-1tb": "SN850, TLC", "660p-1tb": "660p, QLC"}
EQUAL: Final = 0.01
"""Nobody wins by less."""

Table = dict[tuple[str, str, str], Row]


def main() -> None:
    """Run the study, and put its tables into docs/policies.md."""
    table = pslc.study(HOUSE / "docs/policies/study.toml", save=sys.argv[1] if sys.argv[1:] else None)
    columns = {name: table[name].to_pylist() for name in table.column_names}
    rows = [{name: values[at] for name, values in columns.items()} for at in range(table.num_rows)]
    assert not any(row["error"] for row in rows), [row["error"] for row in rows if row["error"]]
    found = {(drive(row["on"]), Path(row["run"]).stem, row["cache.when_full"]): row for row in rows}
    text = PAGE.read_text()
    for name, lines in (("winners", winners(found)), ("all", everything(found)), ("claims", claims(found))):
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, _, rest = text.partition(begin)
        text = before + begin + lines + end + rest.partition(end)[2]
    PAGE.write_text(text)


def drive(spec: str) -> str:
    """Return the profile's name of `sim:NAME,KEY=VALUE`."""
    return re.sub(r"^sim:|,.*$", "", spec)


def policies(found: Table) -> list[str]:
    """The policies of the table, in its order."""
    return list(dict.fromkeys(policy for _, _, policy in found))


def gain(work: str, row: Row, other: Row) -> float:
    """How many times as good as the other: above 1 is better."""
    name = WORK[work][1]
    mine, theirs = number(row, name), number(other, name)
    return mine / theirs if name.endswith("bytes_per_s") else theirs / mine


def winners(found: Table) -> str:
    """A table of the best and the worst policy for each workload and drive."""
    lines = ["| workload, and what is compared | " + " | ".join(DRIVES.values()) + " |", "|---|" + "---|" * len(DRIVES)]
    for work, (what, _) in WORK.items():
        cells = []
        for of in DRIVES:
            plain = found[of, work, PLAIN]
            gains = {policy: gain(work, found[of, work, policy], plain) for policy in policies(found)}
            best, worst = max(gains, key=gains.__getitem__), min(gains, key=gains.__getitem__)
            up = f"**{best}** x {gains[best]:.2f}" if gains[best] > 1 + EQUAL else "none beats it"
            down = f"{worst} x {gains[worst]:.2f}" if gains[worst] < 1 - EQUAL else "none is worse"
            cells.append(f"{up}; {down}")
        lines.append(f"| `{work}`: {what} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def everything(found: Table) -> str:
    """A table for each drive: each policy under each workload."""
    lines = []
    for of, called in DRIVES.items():
        lines += [f"\n{called} (figure of the workload, and write amplification):\n"]
        lines += ["| policy | " + " | ".join(WORK) + " |", "|---|" + "---:|" * len(WORK)]
        for policy in policies(found):
            cells = []
            for work, (_, name) in WORK.items():
                row = found[of, work, policy]
                value = (words.speed if name.endswith("bytes_per_s") else words.span)(number(row, name))
                cells.append(f"{value}, {row['write_amplification']:.2f}")
            lines.append(f"| `{policy}` | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def claims(found: Table) -> str:
    """What each paper says, asked of every drive where it applies."""

    def less(policy: str, work: str, name: str, than: str = PLAIN) -> list[tuple[str, float]]:
        return [(of, number(found[of, work, policy], name) / number(found[of, work, than], name)) for of in DRIVES]

    waf, mean = "write_amplification", "measured_write_mean_s"
    # policy, claim, measure, against; the claim holds where the ratio is below 1.
    asked = [
        ("watermarks", "a load slower than destaging finds room", "paced", "measured_write_p99_9_s", PLAIN),
        ("watermarks", "and waits less in a mixture", "mixture", "database_write_mean_s", PLAIN),
        ("bypass", "bypassing cold writes saves moving them", "mixture", waf, PLAIN),
        ("bypass", "and serves small writes faster", "mixture", "database_write_mean_s", PLAIN),
        ("rewrite-distance", "separating by age lowers write amplification", "hot", waf, PLAIN),
        ("rewrite-distance", "also where nothing is hot", "random", waf, PLAIN),
        ("in-place-switch", "write amplification falls to 0.53 at best", "bursts", waf, "fold"),
        ("in-place-switch", "write latency falls to 0.75 at best", "bursts", mean, "fold"),
        ("predict-idle", "predicted silences make latency lower", "bursts", mean, PLAIN),
        ("fold-cost-benefit", "it copies less than taking the oldest", "hot", waf, "fold"),
        ("fold-cost-benefit", "also where nothing is hot", "random", waf, "fold"),
        ("static-first", "the static part is ready for the next burst", "bursts", mean, PLAIN),
    ]
    lines = [
        "| policy | what is claimed | asked in | against | ratio on each drive | agrees |",
        "|---|---|---|---|---|---|",
    ]
    for policy, claim, work, name, than in asked:
        ratios = less(policy, work, name, than)
        better = sum(ratio < 1 - EQUAL for _, ratio in ratios)
        worse = sum(ratio > 1 + EQUAL for _, ratio in ratios)
        verdict = "yes" if better == len(ratios) else "no" if not better else f"on {better} of {len(ratios)}"
        verdict = "no difference" if not better and not worse else verdict
        said = ", ".join(f"{ratio:.2f}" for _, ratio in ratios)
        lines.append(f"| `{policy}` | {claim} | `{work}`, {name} | `{than}` | {said} | {verdict} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
