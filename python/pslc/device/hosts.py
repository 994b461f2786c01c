"""The computer around a simulated drive, where a suite imitates a program that people run on theirs.

Such a program shows the drive and the processor together. A profile's own table `host`, a key `host.*` of a target, and
`host=none`, which is the bare drive, win over this one.
"""

from collections.abc import Sequence

NONE = "none"
DESKTOP: Sequence[tuple[str, str]] = (("host.cores", "8"), ("host.read", "4.26us"), ("host.write", "5us"))
"""A desktop processor. Time of a request: the published test of the SN850 on a two-core Core i3-1115G4, whose cores are
at 100 % with 470 000 reads or 400 000 writes a second (ACCURACY.md), so 2/470000 and 2/400000 s of a core each. That is
a mobile processor; that a desktop's cores are like its, and eight, is assumed."""
NOTE = "with the processor of a desktop (8 cores; 4.26 us a read, 5 us a write): host=none in the target leaves it out"
