"""The command `pslc`. An interrupt while it is still being imported ends it as any other program, without a word."""

import signal


def main() -> None:
    """Run the command line."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from pslc.cli import main

    main()


if __name__ == "__main__":
    main()
