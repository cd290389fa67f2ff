"""What a table is: a plain value, rendered elsewhere. Best value bold, second underlined."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

NOTHING = "–"
"""Shown where there is no run: nothing is filled in."""
FEWER_TASKS, FEWER_SEEDS, NOT_SEPARABLE, NOT_RANKED, OTHER = "†", "‡", "≈", "◦", "§"
"""Marks of cells; a table that uses one explains it in its notes."""


@dataclass(frozen=True)
class Cell:
    """One entry. `text` alone for words; otherwise a number with its spread and how to show it."""

    text: str = ""
    value: float | None = None
    sd: float | None = None
    """Sample standard deviation over seeds."""
    digits: int = 2
    signed: bool = False
    """Show + before a positive number (differences)."""
    marks: tuple[str, ...] = ()
    bold: bool = False
    underlined: bool = False
    ranked: bool = True
    """Whether it may be the best of its column (an unfinished run may not)."""

    @property
    def shown(self) -> str:
        """The entry as text, without marks and emphasis."""
        if self.value is None:
            return self.text or NOTHING
        spread = "" if self.sd is None else f" ± {number(self.sd, self.digits)}"
        return number(self.value, self.digits, signed=self.signed) + spread


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    key: str
    """Name in the CSV file."""
    heading: str
    better: Literal["high", "low"] | None = None
    """Which end is best; None: not ranked."""


@dataclass(frozen=True)
class Table:
    """A table. `head` says under what conditions its runs were made, `notes` what its marks mean."""

    name: str
    """Name of its files: [a-z0-9_-]+."""
    title: str
    head: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    section: str = ""
    """Heading on the page under which it stands, e.g. the setting and backbone."""
    data_only: bool = False
    """Written as CSV alone: too long to be read."""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(
                    f"table {self.name}: a row of {len(row)} cells under {len(self.columns)} columns"
                )


def number(value: float, digits: int, *, signed: bool = False) -> str:
    """A number with fixed decimals; never a negative zero."""
    text = f"{value:+.{digits}f}" if signed else f"{value:.{digits}f}"
    return text.lstrip("+-") if float(text) == 0 else text


def rank(cells: Sequence[Cell], better: Literal["high", "low"] | None) -> list[Cell]:
    """The same cells with the best value bold and the second underlined; equal values share a place.

    Values that look the same as shown are equal. One value alone is not the best of anything.
    """
    shown = [
        round(cell.value, cell.digits) if _ranks(cell) and cell.value is not None else None for cell in cells
    ]
    places = sorted({value for value in shown if value is not None}, reverse=better == "high")
    if better is None or sum(value is not None for value in shown) < 2 or len(places) < 2:
        return list(cells)
    return [
        replace(cell, bold=value == places[0], underlined=value == places[1]) if value is not None else cell
        for cell, value in zip(cells, shown, strict=True)
    ]


def _ranks(cell: Cell) -> bool:
    return cell.ranked and cell.value is not None


def rank_columns(columns: Sequence[Column], rows: Iterable[Sequence[Cell]]) -> tuple[tuple[Cell, ...], ...]:
    """All rows with every column that has a better end ranked."""
    by_row = [list(row) for row in rows]
    for place, column in enumerate(columns):
        for row, cell in zip(by_row, rank([row[place] for row in by_row], column.better), strict=True):
            row[place] = cell
    return tuple(tuple(row) for row in by_row)


MEANINGS = {
    FEWER_TASKS: "fewer tasks than it should have",
    FEWER_SEEDS: "fewer seeds than the paper",
    NOT_SEPARABLE: "the difference is below one combined standard deviation: not separable",
    NOT_RANKED: "not ranked: unfinished, or not on the same tasks as the others",
    OTHER: "the paper's value is for other tasks or another backbone: no difference is taken",
}


def legend(rows: Iterable[Sequence[Cell]]) -> tuple[str, ...]:
    """A note for every known mark that the rows use."""
    used = {mark for row in rows for cell in row for mark in cell.marks}
    return tuple(f"{mark} {meaning}." for mark, meaning in MEANINGS.items() if mark in used)
