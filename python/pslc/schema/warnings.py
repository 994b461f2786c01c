"""Warnings about figures: a sentence for people and a code for machines."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

UNNAMED = "unnamed"
"""The code of doubts in recordings of schema 1, which had none."""


class MeasurementWarning(str):
    """A sentence, `what is wrong: what to do about it`, that knows its code."""

    __slots__ = ("code",)
    code: str

    def __new__(cls, code: str, text: str) -> MeasurementWarning:
        """`code` is a few words with hyphens, the same for every case of the doubt."""
        warning = super().__new__(cls, text)
        warning.code = code
        return warning

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: Any) -> Any:
        """In JSON it is its code and its text, in schema 1 a bare text."""
        from pydantic_core import core_schema

        words = core_schema.typed_dict_field(core_schema.str_schema())
        return core_schema.union_schema(
            [core_schema.typed_dict_schema({"code": words, "text": words}), core_schema.str_schema()]
        )

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        return self.code, str(self)


class WarningCode(StrEnum):
    """A closed set of doubts: the braces of each hold what was seen, its code is its name."""

    @property
    def code(self) -> str:
        """Code of this warning for machines, such as `few-bins`."""
        return self.name.lower().replace("_", "-")

    def of(self, **numbers: Any) -> MeasurementWarning:
        """The doubt of a case."""
        return MeasurementWarning(self.code, self.value.format(**numbers))


def documented(value: Any) -> Any:
    """Findings as JSON has them: each doubt in them is an object of its `code` and its `text`."""
    if isinstance(value, MeasurementWarning):
        return {"code": value.code, "text": str(value)}
    if isinstance(value, dict):
        return {name: documented(item) for name, item in value.items()}
    return [documented(item) for item in value] if isinstance(value, list | tuple) else value


def of_documents(value: Any) -> Any:
    """Findings as `documented` gave them, or of schema 1, where a doubt is a bare sentence."""
    if isinstance(value, dict):
        return {name: _read(item) if name == "doubts" else of_documents(item) for name, item in value.items()}
    return [of_documents(item) for item in value] if isinstance(value, list) else value


def _read(documents: Sequence[dict[str, str] | str]) -> list[MeasurementWarning]:
    return [
        MeasurementWarning(UNNAMED, item) if isinstance(item, str) else MeasurementWarning(item["code"], item["text"])
        for item in documents
    ]
