"""The command `pslc`. An interrupt while it is still being imported ends it as any other program, without a word."""

import gc
import os
import signal


def main() -> None:
    """Run the command line."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Of 0.4 s that a short run takes, 0.05 s were for threads that numpy starts for matrices larger than any here, and
    # 0.02 s for the collector, which looks through what is being imported.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.set_threshold(100_000)
    from pslc.cli import main

    main()


if __name__ == "__main__":
    main()
