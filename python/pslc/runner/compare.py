"""`pslc.compare`: recordings side by side, for scripts and notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pslc.base import tabular
from pslc.base.errors import RecordingError
from pslc.figures import table_text
from pslc.figures.drawing import Drawing
from pslc.figures.picture import Table
from pslc.figures.style import Style
from pslc.figures.tables import of_comparison
from pslc.recording import comparison
from pslc.recording.change_summary import verdicts
from pslc.recording.comparison import Compared, Side
from pslc.recording.model import Recording
from pslc.runner import pictures
from pslc.runner.load import read_sides

if TYPE_CHECKING:
    import pandas
    import polars
    from arro3.core import Table as ArrowTable


def compare(*recordings: Recording | str | Path, labels: Sequence[str] = (), pool: bool = False) -> Comparison:
    """Compare recordings, run folders and files of other programs; the first is the baseline.

    Args:
        labels: names, one each, in order (default: the drives).
        pool: count runs of one job on one drive as repeats.

    Raises:
        PslcError: there are fewer than two, one cannot be read, or the labels do not match.
    """
    sides: list[Side] = []
    for recording in recordings:
        if isinstance(recording, Recording):
            sides.append(Side(recording.drive, (recording,)))
        else:
            sides += read_sides(Path(recording))
    if len(sides) < 2:
        raise RecordingError("a comparison needs two recordings or more", "pslc.compare(first, second)")
    sides = comparison.named(comparison.pooled(sides) if pool else sides, labels)
    return Comparison(tuple(sides), tuple(comparison.compare(sides, {})))


@dataclass(frozen=True)
class Comparison:
    """Recordings side by side.

    Attributes:
        sides: the recordings, each with its name and repeats.
        rows: a figure each, with its value in every recording.
    """

    sides: tuple[Side, ...]
    rows: tuple[Compared, ...]

    def __repr__(self) -> str:
        return f"<pslc.Comparison of {len(self.sides)} recordings in {len(self.rows)} figures>"

    @property
    def sentences(self) -> list[str]:
        """Differences beyond the noise, a sentence each."""
        return verdicts(self.sides, self.rows)

    @property
    def table(self) -> Table:
        """The figures as text with units, a row each."""
        return of_comparison(self.sides, self.rows)

    @property
    def series(self) -> ArrowTable:
        """The figures as an Arrow table: `figure`, `unit`, `side`, `value`, `low`, `high`."""
        from arro3.core import Array, DataType, Table

        cells = [
            (row.called, row.unit, side.name, figure)
            for row in self.rows
            for side, figure in zip(self.sides, row.figures, strict=True)
            if figure is not None
        ]
        texts = [Array([cell[column] for cell in cells], DataType.utf8()) for column in range(3)]
        numbers = [
            Array([float(getattr(cell[3], name)) for cell in cells], DataType.float64())
            for name in ("value", "low", "high")
        ]
        return Table.from_arrays([*texts, *numbers], names=["figure", "unit", "side", "value", "low", "high"])

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """`series` as Arrow's C stream, which pandas, polars and DuckDB take."""
        return self.series.__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> pandas.DataFrame:
        """`series` as a DataFrame of pandas."""
        return tabular.to_pandas(self.series)

    def to_polars(self) -> polars.DataFrame:
        """`series` as a DataFrame of polars."""
        return tabular.to_polars(self.series)

    def to_text(self, kind: str) -> str:
        """`table` as `markdown`, `bbcode`, `csv` or `html`."""
        return table_text.render(self.table, kind)

    def plot(self, across: str | None = None, *, style: Style | None = None) -> Drawing:
        """The chart of the suite with all recordings, at most 12; or write curves by `bytes`, `percent` or `time`.

        Raises:
            PslcError: one of them wrote nothing, or there are too many.
        """
        return Drawing(pictures.of_sides(self.sides, pictures.across_of(across)), pictures.about(self.sides), style)

    def bars(self, figure: str = "mean", *, style: Style | None = None) -> Drawing:
        """One figure of all sides as bars, the best first: `mean`, `cache`, or a name of `rows`.

        Raises:
            PslcError: no recording has it.
        """
        return Drawing(pictures.bars_of_sides(self.sides, figure), pictures.about(self.sides), style)

    def _repr_html_(self) -> str:
        """The table, for notebooks."""
        return table_text.render(self.table, "html")
