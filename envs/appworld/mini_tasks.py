"""The tasks of appworld_mini: every variant of every scenario, with its reference solution.

A solution is what an agent could have sent as one block. Solutions never reach the data root; tests prove each
right on the real engine.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from envs.appworld.mini_scenarios import SCENARIOS, Scenario


@dataclass(frozen=True)
class MiniTask:
    """One task of the mini setting."""

    id: str
    who: str
    instruction: str
    answer: str | float | None
    scenario: Scenario
    values: Mapping[str, Any]

    @property
    def solution(self) -> str:
        """Reference solution, as code for the world."""
        text = LOGIN + self.scenario.solution
        for name, value in self.values.items():
            text = text.replace(f"<{name}>", repr(value))
        return text + COMPLETE.replace("<answer>", "answer" if self.answer is not None else "None")

    @property
    def metadata(self) -> dict[str, Any]:
        """What the engine wants to know of a task beside its test."""
        apis = set(re.findall(r"apis\.(\w+\.\w+)", self.solution))
        return {
            "difficulty": len(self.scenario.apps),
            "num_apps": len(self.scenario.apps),
            "num_apis": len(apis),
            "num_solution_code_lines": len(self.solution.splitlines()),
        }


LOGIN = """\
me = apis.supervisor.show_profile()
keys = {row['account_name']: row['password'] for row in apis.supervisor.show_account_passwords()}

def token(app):
    name = me['phone_number'] if app == 'phone' else me['email']
    return getattr(apis, app).login(username=name, password=keys[app])['access_token']

def pages(call, **arguments):
    found, index = [], 0
    while True:
        page = call(page_index=index, **arguments)
        if not page:
            return found
        found += page
        index += 1

"""
COMPLETE = "apis.supervisor.complete_task(answer=<answer>)\n"


def tasks() -> list[MiniTask]:
    """All tasks in release order: grouped by scenario, as AppWorld's own."""
    found = []
    for scenario in SCENARIOS:
        for number, variant in enumerate(scenario.variants, 1):
            values = {key: value for key, value in variant.items() if key not in ("who", "answer")}
            found.append(
                MiniTask(
                    id=f"{scenario.id}_{number}",
                    who=variant["who"],
                    instruction=scenario.instruction.format(**values),
                    answer=variant.get("answer"),
                    scenario=scenario,
                    values=values,
                )
            )
    return found
