"""Record the manifest from the engine: 30 task types and their first three test variations.

`python -m envs.scienceworld.manifest` writes it anew (2 minutes of CPU, for the gold paths); a test compares
it with the engine. Gold paths are made here, in a JVM of its own, and nowhere else.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from envs.scienceworld.actions import operations
from envs.scienceworld.jvm import Simulator
from envs.scienceworld.settings import FILE, VARIATIONS


def record(gold: bool = True) -> list[dict[str, Any]]:
    """The rows as the engine gives them (in a JVM of their own). Without `gold`, operations are left out."""
    from scienceworld.constants import TASKS

    simulator = Simulator(watchdog=300)
    try:
        found = []
        for task in TASKS:
            name = task["task_name"]
            simulator.call("load", name, 0, "", False)
            row: dict[str, Any] = {
                "id": task["task_id"],
                "name": name,
                "topic": "S" + task["task_id"].split("-")[0],
                "max_variations": int(simulator.call("getTaskMaxVariations", name)),
                "tests": [],
            }
            for variation in [int(n) for n in simulator.strings("getVariationsTest")[:VARIATIONS]]:
                simulator.call("load", name, variation, "", gold)
                test = {"variation": variation, "instruction": simulator.call("getTaskDescription").strip()}
                if gold:
                    test["operations"] = list(operations(simulator.strings("getGoldActionSequence")))
                row["tests"].append(test)
            found.append(row)
        return found
    finally:
        simulator.close()


def as_text(rows: Sequence[dict[str, Any]]) -> str:
    """The rows as JSON with one test variation a line."""
    texts = []
    for row in rows:
        facts = json.dumps({key: value for key, value in row.items() if key != "tests"})
        tests = ",\n  ".join(json.dumps(test, ensure_ascii=False) for test in row["tests"])
        texts.append(f'{facts[:-1]}, "tests": [\n  {tests}\n]}}')
    return "[\n" + ",\n".join(texts) + "\n]\n"


def main() -> int:
    """Write the manifest anew and say whether it changed."""
    before = FILE.read_text(encoding="utf-8") if FILE.exists() else ""
    text = as_text(record())
    FILE.write_text(text, encoding="utf-8")
    print(f"{FILE.name}: {'unchanged' if text == before else 'changed'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
