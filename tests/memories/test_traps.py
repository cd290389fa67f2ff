"""Traps that earlier ports of the baselines fell into, each shut for every memory there is.

Official labels in the write path and benchmark metadata: by type, in test_contract, and by import here.
ReasoningBank's one episode: test_reasoningbank. A-MEM's ranks: test_amem. ExpeL's counts: test_expel.
AWM's file: test_awm. Mem0's version: test_mem0.
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from pathlib import Path

import pytest

import memories
from agents import tokens
from agents.base import Step
from tests.memories.helpers import NAMES, Rules, acts, build, experience, live

ROOM = Path(memories.__file__).parent
DONE = acts(("open door to kitchen", "You open the door."), ("activate stove", "The stove is now on."))


def imported() -> dict[str, set[str]]:
    """What each module of the room imports: modules, and names as module.name."""
    found: dict[str, set[str]] = {}
    for path in sorted(ROOM.rglob("*.py")):
        names = found.setdefault(str(path.relative_to(ROOM)), set())
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def test_no_memory_can_reach_what_a_benchmark_says_of_a_task() -> None:
    for module, names in imported().items():
        assert not names & {
            "envs.base.TaskInfo",
            "envs.base.Evaluation",
            "envs.base.Environment",
            "envs.base.World",
        }, module
        assert not {
            name for name in names if name.startswith("envs.") and not name.startswith("envs.base.")
        }, module
        assert not {name for name in names if name.split(".")[0] in ("harness", "scripts")}, module


def test_no_memory_reads_a_clock() -> None:
    clocks = {
        module: names & {"time", "datetime", "datetime.datetime", "calendar"}
        for module, names in imported().items()
    }
    # The embedder behind an API waits between two attempts, a stored function is stopped after a while.
    allowed = ("embedder/api.py", "evoweave/")
    assert not {module: names for module, names in clocks.items() if names and not module.startswith(allowed)}


@pytest.mark.parametrize("name", NAMES)
def test_no_dates_in_prompts_or_documents(name: str) -> None:
    memory = build(name, backbone := Rules())
    for number in range(1, 5):
        live(memory, experience(number, "boil water", steps=DONE))
    for text in [*memory.documents().values(), *(call[2] for call in backbone.calls)]:
        assert not re.search(r"\b(19|20)\d\d-\d\d|\b\d\d:\d\d:\d\d\b", text)


@pytest.mark.parametrize("name", NAMES)
def test_the_verdict_is_a_field_and_its_reason_only_words(name: str) -> None:
    """ "success" is a part of "unsuccessful": what a memory does with an outcome does not hang on such words."""
    did = []
    for reason in ("The agent was unsuccessful.", "A complete success: success, SUCCESS."):
        memory = build(name, backbone := Rules())
        for number, outcome in enumerate(["success", "failure", "failure", "success", "unreadable"], 1):
            live(memory, experience(number, "boil water", outcome, DONE, reason=reason))
        did.append(([call[:2] for call in backbone.calls], dict(memory.counters())))
    assert did[0] == did[1]


@pytest.mark.parametrize("name", ["reasoningbank", "expel", "awm", "memgen", "memevolve"])
def test_an_unreadable_verdict_is_neither_success_nor_failure(name: str) -> None:
    """These ask for an outcome: nothing is asked of the backbone, nothing is recalled later."""
    memory = build(name, backbone := Rules())
    for number in range(1, 10):
        recall = live(memory, experience(number, "boil water", "unreadable", DONE))
        assert not recall.text and not recall.items
    assert backbone.calls == []
    assert [document for document in memory.documents() if "/" in document] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_trajectory_of_thirty_thousand_tokens(name: str) -> None:
    """Prompts, recalls and documents stay bounded; the head and the tail of the episode are kept."""
    long = tuple(Step("act", "on", f"open door {n}", f"Room {n}. " + "a thing, " * 60) for n in range(250))
    memory = build(name, backbone := Rules())
    assert sum(tokens.count(step.observation) for step in long) > 30_000
    for number in range(1, 4):
        recall = live(memory, experience(number, f"boil water {number}", steps=long))
        assert tokens.count(recall.text) < 16_000
    assert max((tokens.count(call[2]) for call in backbone.calls), default=0) < 30_000
    assert max((tokens.count(text) for text in memory.documents().values()), default=0) < 16_000


@pytest.mark.parametrize(
    "name", ["reasoningbank", "amem", "expel", "mem0", "hermes", "memgen", "memevolve", "strata", "evoweave"]
)
def test_what_writes_a_memory_is_told_how_the_episode_ended(name: str) -> None:
    """An episode that was only cut off must not be read as one that went wrong."""
    backbone = Rules()
    memory = build(name, backbone)
    steps = acts(("open door", "The door is open."), ("go to hall", "You are in the hall."))
    for number, outcome in ((1, "failure"), (2, "success")):
        given = experience(number, "go to the hall", outcome, steps=steps)
        live(memory, replace(given, episode=replace(given.episode, end="step_limit")))
    written = [text for role, _, text, _ in backbone.calls if role == "write"]
    assert any("cut off at the limit of steps: after 2 actions" in text for text in written)
