"""A twin: a simulated drive fitted to what was measured of a real one, so that the second answers for the first.

data          what was measured: jobs, and what came of each
model         a drive as a few numbers that data can tell, and the profile they make
laws          those numbers from the phases of a curve: docs/model.md backwards
search        least squares over simulated runs, a firmware (policy, reuse, ...) at a time
fit           all firmwares beside each other; intervals, predictions, what is not known
published     the words of a review instead of a recording
"""
