"""The extra `crash`: power cuts of a simulated drive while a command writes to it."""

from pslc.extras import Extra


def _command() -> object:
    from pslc.crash import command

    return command


EXTRA = Extra(name="crash", commands={"crash": _command})
