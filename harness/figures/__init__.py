"""The figures of a report: one module a kind, found by itself, as PDF and PNG.

A module here with `figures(runs, folder, paper) -> list[Drawn]` is part of every report; `ORDER`
(default 100) places it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from pathlib import Path

from harness.figures.style import Drawn
from harness.load import Run


def figures(runs: Sequence[Run], folder: Path, paper: str | None = None) -> list[Drawn]:
    """Draw every figure that these runs allow into `folder`."""
    found = []
    for module in pkgutil.iter_modules(__path__):
        loaded = importlib.import_module(f"{__name__}.{module.name}")
        if callable(getattr(loaded, "figures", None)):
            found.append((int(getattr(loaded, "ORDER", 100)), module.name, loaded))
    return [drawn for _, _, loaded in sorted(found, key=lambda entry: entry[:2])
            for drawn in loaded.figures(runs, folder, paper)]  # fmt: skip
