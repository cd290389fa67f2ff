"""The tables of a report: one module a table, found by itself.

A module here with `table(runs, paper) -> list[Table]` is part of every report; `ORDER` (default 100)
places it. `paper` is evoweave, strata or None. Runs of every kind are given: a table takes what it can
show and returns an empty list if there is nothing.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence

from harness.load import Run
from harness.tables.base import Table


def names() -> list[str]:
    """The names of all tables, in their order."""
    found = []
    for module in pkgutil.iter_modules(__path__):
        loaded = importlib.import_module(f"{__name__}.{module.name}")
        if callable(getattr(loaded, "table", None)):
            found.append((int(getattr(loaded, "ORDER", 100)), module.name))
    return [name for _, name in sorted(found)]


def tables(runs: Sequence[Run], paper: str | None = None) -> list[Table]:
    """Every table that these runs allow, in order."""
    made: list[Table] = []
    for name in names():
        made.extend(importlib.import_module(f"{__name__}.{name}").table(runs, paper))
    return made
