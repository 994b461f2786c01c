"""The extra `lab`: the page of `pslc lab`."""

from pslc.extras import Extra


def _command() -> object:
    from pslc.lab import command

    return command


EXTRA = Extra(name="lab", commands={"lab": _command})
