"""The extra `fio`: fio's outputs."""

from pslc.extras import Extra, Service


def _outputs() -> object:
    from pslc.fio import outputs

    return outputs


def _suite_jobs() -> object:
    from pslc.fio import suite_jobs

    return suite_jobs


EXTRA = Extra(name="fio", services={Service.OUTPUTS: _outputs, Service.SUITE_JOBS: _suite_jobs})
