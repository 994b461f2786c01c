"""The extra `formats`: files of other programs."""

from pslc.extras import Extra, Service


def _files() -> object:
    from pslc.formats import _files as files

    return files


EXTRA = Extra(name="formats", services={Service.FILES: _files})
