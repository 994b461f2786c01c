"""Arrow tables in the words of other libraries, each of which is imported only where it is asked for."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from pslc.base import install
from pslc.base.errors import user_error

if TYPE_CHECKING:
    import pandas
    import polars
    from arro3.core import Table


def to_pandas(table: Table) -> pandas.DataFrame:
    """A table as a DataFrame of pandas 2 or later.

    Raises:
        PslcError: pandas is not installed.
    """
    try:
        import pandas
    except ImportError:
        raise user_error("pandas is not installed", install.command("pandas")) from None
    columns = {
        name: table[name].to_numpy() if table[name].type.bit_width else table[name].to_pylist()
        for name in table.column_names
    }
    return pandas.DataFrame(columns)


def to_polars(table: Table) -> polars.DataFrame:
    """A table as a DataFrame of polars.

    Raises:
        PslcError: polars is not installed.
    """
    try:
        import polars
    except ImportError:
        raise user_error("polars is not installed", install.command("polars")) from None
    return polars.DataFrame(table)


def to_csv(table: Table) -> str:
    """A table as CSV with a line of names."""
    from arro3.io import write_csv

    memory = io.BytesIO()
    write_csv(table, memory)
    return memory.getvalue().decode()


def to_parquet(table: Table) -> bytes:
    """A table as a file of Parquet, compressed with zstd."""
    from arro3.io import write_parquet

    memory = io.BytesIO()
    write_parquet(table, memory, compression="zstd(1)")
    return memory.getvalue()
