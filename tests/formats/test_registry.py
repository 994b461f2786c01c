"""Every reader says what it reads, and docs/formats.md says the same."""

from docs.formats import make

from pslc import formats


def test_the_page_of_formats_is_that_of_the_readers():
    assert make.PAGE.read_text() == make.page(), "make formats"


def test_every_format_has_a_row():
    assert len(formats.registry()) == len(formats.names())
    assert make.page().count("\n| ") == len(formats.names()) + 1
