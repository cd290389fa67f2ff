"""Caps on money and tokens: for one run, and for a sweep (all runs under one results folder)."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from pydantic import NonNegativeFloat, NonNegativeInt

from agents.base import BudgetExhausted
from harness.database import storage

LEDGER = "spend.sqlite"


@dataclass(frozen=True)
class Caps:
    """None: no cap."""

    usd: NonNegativeFloat | None = None
    """US dollars a run."""
    tokens: NonNegativeInt | None = None
    """Input plus output tokens a run."""
    sweep_usd: NonNegativeFloat | None = None
    """US dollars over all runs under one results folder."""


class Budget:
    """Counts what a run has spent, and stops it before the call that would start beyond a cap."""

    def __init__(self, caps: Caps, usd: float, tokens: int, ledger: Ledger | None = None) -> None:
        """`usd` and `tokens` are what the run's record already holds."""
        self.caps, self.usd, self.tokens, self.ledger = caps, usd, tokens, ledger

    def check(self) -> None:
        """Raises BudgetExhausted if a cap is reached."""
        for name, cap, spent in (
            ("budget.usd", self.caps.usd, self.usd),
            ("budget.tokens", self.caps.tokens, self.tokens),
            ("budget.sweep_usd", self.caps.sweep_usd, self.ledger.total() if self.ledger else 0.0),
        ):
            if cap is not None and spent >= cap:
                raise BudgetExhausted(
                    f"{name}={cap:g} is reached ({spent:g} spent). Nothing is lost: start the same command "
                    f"with a higher {name} to go on."
                )

    def add(self, usd: float | None, tokens: int) -> None:
        """Count one paid call."""
        self.usd += usd or 0.0
        self.tokens += tokens
        if self.ledger is not None:
            self.ledger.set(self.usd)


class Ledger:
    """What each run under a results folder has spent, shared by the processes of a sweep."""

    def __init__(self, results: Path, run: str) -> None:
        self.path, self.run = results / LEDGER, run
        with storage(self.path):
            results.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(self.path, isolation_level=None, timeout=30)
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS spend (run TEXT PRIMARY KEY, usd REAL NOT NULL)"
            )

    def set(self, usd: float) -> None:
        """Record what this run has spent so far."""
        with storage(self.path):
            self._connection.execute("INSERT OR REPLACE INTO spend VALUES (?, ?)", (self.run, usd))

    def total(self) -> float:
        """US dollars spent by all runs of the folder."""
        return float(self._connection.execute("SELECT TOTAL(usd) FROM spend").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
