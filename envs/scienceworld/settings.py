"""The tasks of each setting, read from the manifest: no JVM is needed to list them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from envs.base import SetupError, Task, TaskInfo

FILE = Path(__file__).with_name("manifest.json")
TOPICS = {
    "S1": "Changes in the state of matter",
    "S2": "Temperature and Melting Point",
    "S3": "Electricity and Electrical Conductivity",
    "S4": "Living and Non-living Things",
    "S5": "Plant growth",
    "S6": "Chemical mixing",
    "S7": "Animal Lifespan",
    "S8": "Life cycle",
    "S9": "Physics Mechanics",
    "S10": "Mendelian genetics",
}
"""Topic of a task: S and the number before its id's dash."""

SETTINGS = ("scienceworld", "scienceworld_strata23")
VARIATIONS = 3
"""Test variations of each type in the setting `scienceworld`: 90 tasks (inferred: the paper says so many)."""
_NOT_STRATA = frozenset({"5-1", "5-2", "9-1", "9-2", "9-3", "10-1", "10-2"})
"""Types outside STRATA's 23 (inferred: AgentGym's set has 23 types, these are left out)."""


@dataclass(frozen=True)
class Item:
    """One task of a setting, with all that opening and reporting it needs."""

    task: Task
    info: TaskInfo
    type_id: str
    """The benchmark's id of the type, e.g. `1-1`."""
    name: str
    """The simulator's name of the type, e.g. `boil`."""
    variation: int


@lru_cache(maxsize=1)
def rows() -> tuple[dict[str, Any], ...]:
    """The manifest's 30 rows: id, name, topic, max_variations, tests (variation, instruction, operations)."""
    return tuple(json.loads(FILE.read_text(encoding="utf-8")))


def sha256() -> str:
    """Hash of the manifest, for a run's provenance."""
    return hashlib.sha256(FILE.read_bytes()).hexdigest()


@lru_cache(maxsize=len(SETTINGS))
def items(setting: str) -> tuple[Item, ...]:
    """The tasks of a setting in release order: by type, then by variation. Raises SetupError."""
    if setting not in SETTINGS:
        raise SetupError(f"ScienceWorld has no setting {setting!r}. Use one of: {', '.join(SETTINGS)}")
    strata = setting == "scienceworld_strata23"
    found: list[Item] = []
    for row in rows():
        if strata and row["id"] in _NOT_STRATA:
            continue
        for test in row["tests"][: 1 if strata else VARIATIONS]:
            info = TaskInfo(
                id=f"{row['id']}/var{test['variation']}",
                scenario=row["name"],
                family=row["name"],
                categories=(row["topic"],),
                operations=tuple(test["operations"]),
            )
            task = Task(number=len(found) + 1, instruction=test["instruction"])
            found.append(Item(task, info, row["id"], row["name"], test["variation"]))
    return tuple(found)
