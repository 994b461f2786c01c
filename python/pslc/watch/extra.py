"""The extra `watch`: drives at work."""

from pslc.extras import Extra, Service


def _command() -> object:
    from pslc.watch import command

    return command


def _findings() -> object:
    from pslc.watch import findings

    return findings


EXTRA = Extra(name="watch", commands={"watch": _command}, services={Service.WATCHED: _findings})
