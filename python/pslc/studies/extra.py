"""The extra `studies`: many runs."""

from pslc.extras import Extra


def _command() -> object:
    from pslc.studies import command

    return command


def _study() -> object:
    from pslc.studies.study import study

    return study


EXTRA = Extra(name="studies", commands={"study": _command}, names={"study": _study})
