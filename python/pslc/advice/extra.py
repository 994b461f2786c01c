"""The extra `advice`: what to change or buy."""

from pslc.extras import Extra


def _command() -> object:
    from pslc.advice import command

    return command


EXTRA = Extra(name="advice", commands={"advise": _command})
