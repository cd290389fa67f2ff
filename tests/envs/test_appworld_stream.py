"""Whole streams on appworld_mini: a scripted agent that programs, and the offline reader that does not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.backbone import Model, for_all_roles
from agents.base import Tool, Verdict
from agents.client import Request
from agents.loop import LoopOptions, act
from agents.prompts import blocks
from agents.reader.client import ReaderClient
from agents.reader.play_code import exchanged, remembered
from agents.scripted import ScriptedClient
from envs.appworld import AppWorld
from envs.appworld.mini_tasks import MiniTask, tasks
from harness.load import read
from harness.metrics import Group, score
from harness.stream import StreamOptions
from memories.base import Experience, Recall, Resources
from memories.embedder.hashing import Hashing
from memories.flat import Flat
from tests.agents.worlds import Advice
from tests.envs.appworld_case import require_engine
from tests.harness import rig
from tests.scripts.commands import command, run_folder

BY_INSTRUCTION = {}
for task in tasks():
    BY_INSTRUCTION.setdefault(task.instruction, task)
TOP = "What is the title of the song in my Spotify song library that has been played most often?"


@pytest.fixture(scope="module")
def environment() -> Iterator[AppWorld]:
    require_engine()
    made = AppWorld("appworld_mini")
    yield made
    made.close()


def programmer(wrong: str = "") -> ScriptedClient:
    """Sends the reference solution of the task it reads of; ends the task `wrong` without doing anything."""

    def answer(request: Request) -> str:
        text = "\n".join(message["content"] for message in request.messages)
        if request.role == "judge":
            return '{"reason": "the task was completed", "outcome": "success"}'
        task: MiniTask = BY_INSTRUCTION[blocks(text)["task"][-1]]
        code = task.solution if task.id != wrong else "apis.supervisor.complete_task()"
        return f"Thought: I know how.\n```python\n{code.rstrip()}\n```"

    return ScriptedClient(answer)


def test_tgc_and_sgc_of_a_scripted_run_by_hand(environment: AppWorld, tmp_path: Path) -> None:
    # Two scenarios of three tasks; the last task fails: 5 of 6 tasks, 1 of 2 scenarios.
    meta = {
        **rig.META,
        "setting": "appworld_mini",
        "metrics": json.dumps([vars(metric) for metric in environment.metrics]),
        "categories": json.dumps(dict(environment.categories)),
    }
    rig.run(
        tmp_path,
        Flat,
        programmer(wrong="noteline_3"),
        StreamOptions(tasks=(1, 2, 3, 4, 5, 6)),
        environment=environment,
        meta=meta,
    )
    run = read(tmp_path / "run.sqlite")
    tgc, sgc = environment.metrics
    assert score(Group((run,)), tgc).mean == pytest.approx(100 * 5 / 6)
    assert score(Group((run,)), sgc).mean == pytest.approx(50.0)
    assert list(run.tasks["end"]) == ["finished"] * 6


def test_a_reader_stream_with_memory_flat_runs_end_to_end(tmp_path: Path) -> None:
    require_engine()
    done = command(
        "run",
        "env=appworld_mini",
        "memory=flat",
        "embedder=hashing",
        "stream.limit=3",
        f"results_dir={tmp_path}",
    )
    assert done.returncode == 0, done.stderr
    run = read(run_folder(tmp_path) / "run.sqlite")
    assert list(run.tasks["end"]) == ["finished"] * 3
    assert not run.tasks["failed"].any()


def shown_by_flat(environment: AppWorld, number: int) -> str:
    """What memory flat shows for the next task after a scripted episode on task `number`."""
    task = environment.tasks()[number - 1]
    world = environment.open(task)
    model = Model(for_all_roles(programmer()))
    episode = act(world, task, Advice(""), model, LoopOptions(), "code", 40)
    assert world.evaluate().metrics["success"] == 1.0
    memory = Flat(Resources(model, Hashing()))
    memory.write(Experience(episode, Verdict("success"), Recall(text="")))
    return memory.begin(environment.tasks()[number], "").text


def test_the_reader_runs_what_the_memory_holds_for_a_task_like_this(environment: AppWorld) -> None:
    text = shown_by_flat(environment, 1)
    task = environment.tasks()[1]
    scores = []
    for memory in ("", text):
        world = environment.open(task)
        episode = act(
            world, task, Advice(memory), Model(for_all_roles(ReaderClient(0))), LoopOptions(), "code", 40
        )
        assert episode.end == "finished"
        scores.append(world.evaluate().metrics["success"])
    # It does not program; with the code of the same question about another tag it answers this one.
    assert scores == [0.0, 1.0]


def test_a_memorys_tools_reach_the_agent_that_writes_code(environment: AppWorld) -> None:
    asked: list[str] = []
    tool = Tool(
        "recall", "recall(words): what earlier tasks say", lambda words: asked.append(words) or "say 6"
    )
    replies = [
        "Thought: ask\nTool: recall(notes by tag)",
        "Thought: so\n```python\napis.supervisor.complete_task(answer=6)\n```",
    ]
    task = environment.tasks()[0]
    world = environment.open(task)
    model = Model(for_all_roles(ScriptedClient(replies)))
    episode = act(world, task, Advice(tools=[tool]), model, LoopOptions(), "code", 40)
    assert asked == ["notes by tag"]
    assert [step.kind for step in episode.steps] == ["tool", "act"]
    assert episode.steps[0].observation == "say 6"
    assert world.evaluate().metrics["success"] == 1.0


FLAT = """\
## Episode 1 from an earlier task
Task: Post 'a b' to my blog for $3.50.
Outcome: success
[0]
Observation: Your supervisor is A.
[1]
Thought: go
Action: x = 1
y = 'a b'
Observation: Execution successful.
[2]
Action: y = z
Observation: Execution failed. Traceback:
NameError
[3]
Thought: end
Action: done(y, 3.50)
Observation: ok

## Episode 2 from an earlier task
Task: Post 'q' to my blog for $9.
Outcome: failure
[1]
Action: spoil()
Observation: ok"""


def test_blocks_of_kept_episodes_are_read_whole_without_errors_and_failures() -> None:
    task = "Post 'c d' to my blog for $4.25."
    assert remembered(FLAT, task) == [["x = 1\ny = 'c d'", "done(y, 4.25)"]]
    assert remembered(FLAT, "How many songs does the radio know?") == []
    fenced = "Use it so:\n```python\nprint(1)\n```\nnot so:\n```python\nprint(\n```"
    assert remembered(fenced, task) == [["print(1)"]]


def test_words_are_exchanged_one_by_one_and_only_whole() -> None:
    block = "f('tag', tags='tags', other='home')"
    assert (
        exchanged(block, "Count 'tag' in home.", "Count 'home' in tag.")
        == "f('home', tags='tags', other='tag')"
    )
    assert exchanged(block, "Count 'tag' in home.", "Count them all.") == block
    assert exchanged(block, TOP, TOP) == block
