"""Read charts of known curves: `python -m benches.charts 300`; a line each as it goes, and the table at the end."""

import sys
import time
from collections import Counter

from benches.charts.draw import chart
from benches.charts.judge import judge


def main(first: int, last: int) -> None:
    """Draw, read and judge the charts of some seeds."""
    counts: Counter[str] = Counter()
    for seed in range(first, last):
        began = time.monotonic()
        drawn = chart(seed)
        verdict = judge(drawn)
        counts[verdict.outcome] += 1
        about = drawn.about
        print(
            f"{seed:4d} {verdict.outcome:8s} cliff {100 * verdict.cliff:5.2f} %  speed {100 * verdict.speed:5.2f} %  "
            f"{time.monotonic() - began:4.1f} s  {about['style']}, {about['extra']}, {about['count']} series, "
            f"{about['size'][0]} px, quality {about['quality']}  {verdict.why}",
            flush=True,
        )
    total = sum(counts.values())
    print("\n| outcome | charts |\n|---|---|")
    for outcome in ("right", "refused", "wrong"):
        print(f"| {outcome} | {counts[outcome]} ({100 * counts[outcome] / total:.1f} %) |")


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:]]
    main(*(numbers if len(numbers) == 2 else [0, *(numbers or [300])]))
