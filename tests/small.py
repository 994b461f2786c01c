"""A small simulated drive whose hidden parameters the suites have to find: 8 GB of TLC, on which a fill takes 10 ms."""

PROFILE = """
name = "small"
capacity = "8GB"
link = "pcie3x1"

[nand]
channels = 4
dies = 4
planes = 2
pages_per_block = 96
blocks_per_plane = 780
page = "16KiB"
bits_per_cell = 3
bus = "1200MT/s"

[nand.slc]
read = "25us"
program = "100us"
erase = "2ms"

[nand.native]
read = "60us"
program = "900us"
erase = "3ms"

[nand.suspend]
program = "20us"
erase = "50us"
limit = 8

[controller]
write_buffer = "4MiB"
cores = 4
command = "2us"

[ftl]
gc = "greedy"
reserve_superblocks = 6

[cache]
mode = "dynamic-slc"
dynamic = "800MB"
when_full = "direct-while-folding"
host_share = "60%"
fold_overhead = 1.3
reuse = "after-idle"

[cache.idle]
threshold = "500ms"
rate = "100MB/s"
"""
