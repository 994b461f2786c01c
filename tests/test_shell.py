"""Commands as lines to copy into a shell."""

import shlex

from hypothesis import given
from hypothesis import strategies as st

from pslc.base import shell


def test_letters_of_any_language_stay_as_they_are():
    assert shell.line(["fio", "/mnt/größe/日本/work.fio", "--size=1g"]) == "fio /mnt/größe/日本/work.fio --size=1g"


@given(st.lists(st.text(), min_size=1))
def test_a_shell_reads_the_words_that_were_written(words):
    assert shlex.split(shell.line(words)) == words
