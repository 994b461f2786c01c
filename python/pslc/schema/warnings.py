"""Warnings about figures: a sentence for people and a code for machines, each with its level."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

from pslc.base import words

NOTE: Final = "note"
"""Code of warnings of the level `note`, which have no code of their own."""


class Extent(float):
    """A size (`B`) or a time (`s`) in a warning, written with its unit: on a larger drive it is larger."""

    unit: str

    def __new__(cls, value: float, unit: str = "B") -> Extent:
        """`unit` is one of `pslc.base.words.parts`."""
        extent = super().__new__(cls, value)
        extent.unit = unit
        return extent

    def __format__(self, _: str) -> str:
        return words.quantity(float(self), self.unit)


class Level(StrEnum):
    """Level of a warning."""

    NOTE = "note"
    """Something to know; the figures are right."""
    WARNING = "warning"
    """Figures may be wrong, or mean something else."""


class MeasurementWarning(str):
    """A sentence, `what is wrong: what to do about it`, that knows its code and its level."""

    __slots__ = ("code", "level", "numbers", "template")
    code: str
    level: Level
    template: str
    numbers: Mapping[str, Any]

    def __new__(cls, code: str, text: str, level: str = Level.WARNING) -> MeasurementWarning:
        """`code` is a few words with hyphens, the same for every case of the warning."""
        warning = super().__new__(cls, text)
        warning.code, warning.level = code, Level(level)
        warning.template, warning.numbers = "{text}", {"text": text}
        return warning

    def times(self, factor: float) -> MeasurementWarning:
        """The warning of a case whose extents are `factor` times as large."""
        numbers = {
            name: Extent(factor * value, value.unit) if isinstance(value, Extent) else value
            for name, value in self.numbers.items()
        }
        return MeasurementWarning(self.code, self.template.format(**numbers), self.level)

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: Any) -> Any:
        """Schema of a warning in JSON: its code, its level and its text."""
        from pydantic_core import core_schema

        words = core_schema.typed_dict_field(core_schema.str_schema())
        level = core_schema.typed_dict_field(core_schema.literal_schema([*Level]))
        return core_schema.typed_dict_schema({"code": words, "level": level, "text": words})

    def __getnewargs__(self) -> tuple[str, str, str]:  # type: ignore[override]
        return self.code, str(self), self.level.value


class WarningCode(StrEnum):
    """A closed set of warnings: the braces of each hold what was seen, its code is its name."""

    @property
    def code(self) -> str:
        """Code of this warning for machines, such as `few-bins`."""
        return self.name.lower().replace("_", "-")

    def of(self, **numbers: Any) -> MeasurementWarning:
        """The warning of a case."""
        warning = MeasurementWarning(self.code, self.value.format(**numbers))
        warning.template, warning.numbers = self.value, numbers
        return warning


def notes(texts: Iterable[str]) -> list[MeasurementWarning]:
    """Warnings of the level `note`, one for each sentence; what is a warning already stays as it is."""
    return [
        text if isinstance(text, MeasurementWarning) else MeasurementWarning(NOTE, text, Level.NOTE) for text in texts
    ]


def documented(value: Any) -> Any:
    """Findings as JSON has them: each warning in them is an object of its `code`, its `level` and its `text`."""
    if isinstance(value, MeasurementWarning):
        return {"code": value.code, "level": value.level.value, "text": str(value)}
    if isinstance(value, dict):
        return {name: documented(item) for name, item in value.items()}
    return [documented(item) for item in value] if isinstance(value, list | tuple) else value


def of_documents(value: Any) -> Any:
    """Findings as `documented` gave them."""
    if isinstance(value, dict):
        return {name: _read(item) if name == "warnings" else of_documents(item) for name, item in value.items()}
    return [of_documents(item) for item in value] if isinstance(value, list) else value


def _read(documents: Sequence[dict[str, str]]) -> list[MeasurementWarning]:
    return [MeasurementWarning(item["code"], item["text"], item["level"]) for item in documents]
