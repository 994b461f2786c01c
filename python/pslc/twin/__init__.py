"""A twin: a simulated drive fitted to what was measured of a real one, so that the second answers for the first.

data          what was measured: jobs, and what came of each
known         what is known besides: capacity, link, parts, the load that wrote it
published     the words of a review instead of a recording
model         a drive as a few numbers that data can tell, and the profile they make
residuals     measured beside simulated
search        least squares over simulated runs, of one firmware (policy, reuse, ...)
chance        what nobody can know of a drive, and what it does to the data
intervals     how well the data tell the values
told          which suite tells which value
laws          values from the phases of a curve: docs/model.md backwards
begin         the first write: firmwares that could have made it
singles       single requests and queues: commands, reads, dies, the bus
variants      the same values under another rule
fit           all firmwares beside each other, the best and those like it
predict       suites that were not measured, and which would tell more
profile       the twin as a file; what is known of each value
answer        all of it as sentences, pictures and tables
"""
