"""The papers' published values (results/paper), read from their CSV files."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from envs.base import SetupError

FOLDER = Path(__file__).parents[1] / "results" / "paper"
PAPERS = ("evoweave", "strata")
LABELS = {"evoweave": "EvoWeave", "strata": "STRATA"}
SEEDS = {"evoweave": 5, "strata": 3}
"""STRATA states its seeds; EvoWeave does not: 5 fits its fractions (inferred)."""
SEEDS_NOTE = {
    "evoweave": "The paper does not state its seeds; 5 is inferred from its fractions.",
    "strata": "The paper has 3 seeds.",
}
COLUMNS = frozenset(
    {
        ("appworld_test_normal", "tgc"),
        ("appworld_test_normal", "sgc"),
        ("appworld_test_challenge", "tgc"),
        ("appworld_test_challenge", "sgc"),
        ("webarena", "success_rate"),
        ("alfworld", "success_rate"),
        ("scienceworld", "score"),
    }
)
"""(setting, metric) of the columns of both papers' main tables."""
_TASKS = {
    "appworld_test_normal": 168,
    "appworld_test_challenge": 417,
    "webarena": 812,
    "alfworld": 134,
    "scienceworld": 90,
    "scienceworld_strata23": 23,
}


@dataclass(frozen=True)
class Value:
    """One published number."""

    backbone: str
    memory: str
    setting: str
    metric: str
    mean: float
    sd: float | None


def setting_of(paper: str, setting: str) -> str:
    """The name in the paper's files of the tasks that a setting stands for."""
    return "scienceworld" if (paper, setting) == ("strata", "scienceworld_strata23") else setting


def tasks(paper: str, setting: str) -> int | None:
    """Tasks of the paper's setting of that name in its files; None if unknown."""
    if (paper, setting) == ("strata", "scienceworld"):
        return _TASKS["scienceworld_strata23"]
    return _TASKS.get(setting)


@lru_cache(maxsize=4)
def main_values(paper: str) -> tuple[Value, ...]:
    """The main table's published values; STRATA's are only those that its text states."""
    if paper not in PAPERS:
        raise ValueError(f"there is no paper {paper!r}: choose {' or '.join(PAPERS)}")
    name = "evoweave_main.csv" if paper == "evoweave" else "strata_quoted.csv"
    return tuple(
        Value(
            row["backbone"],
            row["memory"],
            row["setting"],
            row["metric"],
            float(row["mean"]),
            float(row["std"]) if row["std"] else None,
        )
        for row in read(name)
        if paper == "evoweave" or row["table"] == "main"
    )


@lru_cache(maxsize=16)
def read(name: str) -> tuple[dict[str, str], ...]:
    """The rows of one file of results/paper. Raises SetupError if it is not there."""
    if not (FOLDER / name).is_file():
        raise SetupError(
            f"the published values are missing: there is no {name} in {FOLDER}. Use a checkout of the repository."
        )
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))
