"""The extra `chart`: charts read from pictures."""

from pslc.extras import Extra, Service


def _format() -> object:
    import pslc.chart

    return pslc.chart


def _beside() -> object:
    from pslc.chart import beside

    return beside


EXTRA = Extra(name="chart", services={Service.FORMATS: _format, Service.OVERLAYS: _beside})
