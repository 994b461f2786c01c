"""Lines of strace as the tests of system calls read them."""

from tests.traced import _joined


def test_a_call_that_another_thread_interrupts_reads_as_one_that_none_does():
    interrupted = """\
7 openat(AT_FDCWD, "data.bin", O_RDONLY|O_DIRECT <unfinished ...>
8 fsync(4)                                = 0
7 <... openat resumed>)                   = 9
7 pread64(9,  <unfinished ...>
8 fsync(4 <unfinished ...>
7 <... pread64 resumed>"\\0"..., 65536, 0) = 65536
8 <... fsync resumed>)                    = 0
"""
    assert _joined(interrupted).splitlines() == [
        "8 fsync(4) = 0",
        '7 openat(AT_FDCWD, "data.bin", O_RDONLY|O_DIRECT) = 9',
        '7 pread64(9, "\\0"..., 65536, 0) = 65536',
        "8 fsync(4) = 0",
    ]
