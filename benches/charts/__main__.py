"""Read charts of known curves: `python -m benches.charts 300`; a line each as it goes, and the table at the end."""

import re
import sys
import time
from collections import Counter

from benches.charts.draw import chart
from benches.charts.judge import judge

VARYING = (
    (re.compile(r": .*"), ""),
    (re.compile(r"#[0-9a-f]{6}"), "COLOR"),
    (
        re.compile(r"\b(?:(?:light|dark) )?(?:red|orange|yellow|green|cyan|blue|purple|pink|brown|grey|black)\b"),
        "COLOR",
    ),
    (re.compile(r"--([xy]) \S+"), r"--\1"),
    (re.compile(r"\d+"), "N"),
)
"""What differs between refusals of one kind, and what stands for it."""


def kind(why: str) -> str:
    """A refusal without its figures and colours."""
    for pattern, word in VARYING:
        why = pattern.sub(word, why)
    return why


def main(first: int, last: int) -> None:
    """Draw, read and judge the charts of some seeds."""
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for seed in range(first, last):
        began = time.monotonic()
        drawn = chart(seed)
        verdict = judge(drawn)
        counts[verdict.outcome] += 1
        if verdict.outcome == "refused":
            reasons[kind(verdict.why)] += 1
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
    print("\n| why refused | charts |\n|---|---|")
    for reason, count in reasons.most_common():
        print(f"| {reason} | {count} |")


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:]]
    main(*(numbers if len(numbers) == 2 else [0, *(numbers or [300])]))
