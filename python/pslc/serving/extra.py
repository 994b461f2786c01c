"""The extra `serving`: simulated drives that other programs use."""

from pslc.extras import Extra


def _command() -> object:
    from pslc.serving import command

    return command


def _serve() -> object:
    from pslc.serving.api import serve

    return serve


EXTRA = Extra(name="serving", commands={"serve": _command}, names={"serve": _serve})
