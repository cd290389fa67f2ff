"""ScienceWorld's traps, each on the real simulator."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from envs.base import EnvironmentFailed, SetupError
from envs.scienceworld import ScienceWorld, actions, jvm, settings
from envs.scienceworld.jvm import Simulator
from envs.scienceworld.world import BLOCKED, ScienceWorldTask
from tests.envs.scienceworld_case import CASE
from tests.envs.test_child import eventually, gone

pytestmark = pytest.mark.usefixtures("engine")
ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 20
"""Watchdog of the test that hangs a JVM, in seconds: above what a call takes on a loaded machine."""


@pytest.fixture(scope="module")
def engine() -> None:
    CASE.require()


@pytest.fixture(scope="module")
def raw(engine: None) -> Iterator[Simulator]:
    """A simulator without our adapter: shows that a trap is there, and makes gold paths."""
    simulator = Simulator(120)
    yield simulator
    simulator.close()


@pytest.fixture(scope="module")
def shared(engine: None) -> Iterator[ScienceWorld]:
    environment = ScienceWorld()
    yield environment
    environment.close()


@pytest.fixture(scope="module")
def other(engine: None) -> Iterator[ScienceWorld]:
    """A second environment beside `shared`, with limits of its own and a JVM that compiles otherwise."""
    environment = ScienceWorld(
        step_limit=40, step_limits={"1-2": 70}, jvm_options=["-XX:TieredStopAtLevel=1"]
    )
    yield environment
    environment.close()


@pytest.fixture(scope="module")
def fragile(engine: None) -> Iterator[ScienceWorld]:
    """An environment whose JVM the tests break; each next `open` must mend that."""
    environment = ScienceWorld(watchdog=PATIENCE)
    yield environment
    environment.close()


def open_id(environment: ScienceWorld, task_id: str) -> ScienceWorldTask:
    (item,) = [item for item in settings.items(environment.setting) if item.info.id == task_id]
    return environment.open(item.task)


def gold(raw: Simulator, name: str, variation: int) -> list[str]:
    raw.call("load", name, variation, "", True)
    return raw.strings("getGoldActionSequence")


def transcript(environment: ScienceWorld, task_id: str, path: list[str], look_ups: bool = False) -> list[str]:
    world = open_id(environment, task_id)
    seen = [world.observation.text]
    for action in path:
        if look_ups:
            seen.append(world.look_up("check valid actions") or "")
        seen.append(world.step(action).text)
    return [*seen, str(dict(world.evaluate().metrics))]


# Determinism -----------------------------------------------------------------------------------------


def test_replays_are_identical_across_histories_and_jvms(
    shared: ScienceWorld, other: ScienceWorld, raw: Simulator
) -> None:
    """The path heats tin and reads a thermometer: temperatures and set orders show any difference."""
    path = gold(raw, "measure-melting-point-known-substance", 327)
    first = transcript(shared, "2-2/var327", path)
    assert len({text for text in first if "degrees celsius" in text}) > 3
    transcript(shared, "4-4/var225", ["open door", "go hallway"])
    assert transcript(shared, "2-2/var327", path) == first
    assert transcript(other, "2-2/var327", path) == first


def test_look_ups_are_identical_across_jvms_and_change_no_reply(
    shared: ScienceWorld, other: ScienceWorld
) -> None:
    path = ["open door to hallway", "go to hallway", "open door to kitchen", "go to kitchen", "open cupboard"]
    first = transcript(shared, "4-4/var225", path, look_ups=True)
    assert transcript(other, "4-4/var225", path, look_ups=True) == first
    assert transcript(shared, "4-4/var225", path) == [*first[:1], *first[2:-1:2], first[-1]]


def test_the_users_java_settings_change_nothing(
    shared: ScienceWorld, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake = tmp_path / "java"
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("CLASSPATH", str(tmp_path))
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Xmx2m")
    monkeypatch.setenv("_JAVA_OPTIONS", "-XX:hashCode=0")
    monkeypatch.setenv("JDK_JAVA_OPTIONS", "--nonsense")
    environment = ScienceWorld()
    try:
        assert transcript(environment, "1-1/var21", ["look around"]) == transcript(
            shared, "1-1/var21", ["look around"]
        )
        assert environment.pid is not None
        process = psutil.Process(environment.pid)
        assert Path(process.exe()).resolve() == jvm.java().resolve()
        assert not {"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH"} & set(
            process.environ()
        )
        assert set(jvm.OPTIONS) <= set(process.cmdline())
    finally:
        environment.close()


# Scores and ends -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task_id", "name", "variation"),
    [
        ("2-1/var405", "use-thermometer", 405),
        ("3-1/var15", "power-component", 15),
        ("4-2/var225", "find-non-living-thing", 225),
        ("6-2/var27", "chemistry-mix-paint-secondary-color", 27),
        ("7-3/var93", "lifespan-longest-lived-then-shortest-lived", 93),
        ("8-2/var6", "identify-life-stages-2", 6),
    ],
)
def test_gold_paths_score_100_and_end(
    shared: ScienceWorld, raw: Simulator, task_id: str, name: str, variation: int
) -> None:
    world = open_id(shared, task_id)
    for action in gold(raw, name, variation):
        world.step(action)
    assert world.observation.done
    assert dict(world.evaluate().metrics) == {
        "success": 1.0,
        "raw": 100.0,
        "clamped": 100.0,
        "last_non_negative": 100.0,
        "max": 100.0,
    }


def test_a_wrong_focus_ends_the_task_as_a_failure_for_good(shared: ScienceWorld, raw: Simulator) -> None:
    """Done is not success. The simulator itself says -100 but not completed, and goes on."""
    world = open_id(shared, "7-1/var93")
    world.step("open door to outside")
    assert not world.step("go to outside").done
    # Reaching the animals is one of the task's two goals, half the score; focusing on one is the other.
    assert world.evaluate().metrics["raw"] == 50.0
    assert world.step("focus on air").done
    expected = {"success": 0.0, "raw": -100.0, "clamped": 0.0, "last_non_negative": 50.0, "max": 50.0}
    assert dict(world.evaluate().metrics) == expected
    for action in ("reset task", "look around", "focus on crocodile"):
        assert world.step(action) == world.observation
        assert world.observation.text == "You focus on the air."
    assert world.look_up("check valid actions") == "The task is over: no command is valid."
    assert dict(world.evaluate().metrics) == expected
    assert world.steps == 3

    raw.call("load", "lifespan-longest-lived", 93, "", False)
    raw.call("step", "focus on air")
    assert (raw.call("getScore"), raw.call("getCompleted")) == (-1.0, False)
    raw.call("step", "reset task")
    assert raw.call("getScore") == 0.0, "the trap that blocking `reset task` closes"


@pytest.mark.parametrize("reset", ["reset task", "RESET  Task", "reset the task", " reset\ttask\n"])
def test_reset_task_is_blocked(shared: ScienceWorld, raw: Simulator, reset: str) -> None:
    world = open_id(shared, "3-1/var15")
    world.step("focus on electric motor")
    before = world.evaluate()
    assert before.metrics["raw"] > 50
    assert world.step(reset).text == BLOCKED
    assert not world.observation.done
    assert world.evaluate() == before
    assert world.step("task").text.startswith("Task description")
    assert world.evaluate() == before

    raw.call("load", "power-component", 15, "", False)
    raw.call("step", "focus on electric motor")
    assert "reset" in str(raw.call("step", reset))
    assert raw.call("getScore") < 0.5


def test_actions_are_counted_not_time_steps(shared: ScienceWorld) -> None:
    """`wait` lets ten time steps pass; a limit on the simulator's own counter would end tasks early."""
    world = open_id(shared, "1-1/var21")
    for _ in range(15):
        assert not world.step("wait").done
    assert world.steps == 15
    assert shared._simulator is not None
    assert shared._simulator.call("getNumMoves") >= 150


def test_a_step_limit_may_differ_by_type(other: ScienceWorld) -> None:
    assert other.step_limit == 40
    assert open_id(other, "1-1/var21").step_limit == 40
    assert open_id(other, "1-2/var21").step_limit == 70


def test_an_ambiguous_request_takes_a_bare_number(shared: ScienceWorld) -> None:
    world = open_id(shared, "4-4/var225")
    assert world.step("look at cup").text.startswith("Ambiguous request")
    assert world.look_up("check valid actions")
    assert world.step("0").text == "a wood cup (containing red paint)"


def test_a_variation_out_of_range_is_no_silent_world(
    shared: ScienceWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The simulator loads one without an error; its task is then `unknown`."""
    from dataclasses import replace

    first = settings.items("scienceworld")[0]
    monkeypatch.setattr(settings, "items", lambda setting: (replace(first, variation=9999),))
    with pytest.raises(SetupError, match="1-1/var21 is 'unknown'"):
        shared.open(first.task)


def test_simplifications_reach_the_simulator() -> None:
    environment = ScienceWorld(simplifications=["openDoors", "teleportAction"])
    try:
        world = open_id(environment, "1-1/var21")
        assert "(that is open)" in world.observation.text
        assert "teleport" in world.step("teleport to kitchen").text.lower()
    finally:
        environment.close()


# What the agent is told ------------------------------------------------------------------------------


def test_templates_are_the_simulators_without_reset(raw: Simulator) -> None:
    raw.call("load", "boil", 0, "", False)
    assert set(raw.strings("getPossibleActions")) - set(actions.TEMPLATES) == {"reset task"}
    assert set(actions.TEMPLATES) <= set(raw.strings("getPossibleActions"))


def test_first_observation_holds_room_and_inventory(shared: ScienceWorld) -> None:
    world = open_id(shared, "1-1/var21")
    text = world.observation.text
    assert "This room is called the bathroom." in text
    assert text.endswith("In your inventory, you see:\n\tan orange")
    assert world.observation.actions is None
    assert "inventory" not in world.step("look around").text


def test_check_valid_actions_in_the_fullest_room(shared: ScienceWorld) -> None:
    """Each listed action is one that the simulator enumerates, with no or one object; the list is short."""
    world = open_id(shared, "4-4/var225")
    for action in ("open door to hallway", "go to hallway", "open door to kitchen", "go to kitchen"):
        world.step(action)
    assert world.step("look around").text.startswith("This room is called the kitchen")
    assert shared._simulator is not None
    found = json.loads(shared._simulator.call("getValidActionObjectCombinationsJSON"))["validActions"]
    single = {entry["action"] for entry in found if len(entry["obj_ids"]) <= 1} - {"reset task"}
    assert len(found) > 1000

    lines = (world.look_up("Check valid actions.") or "").splitlines()
    listed = lines[1:-2]
    assert len(listed) <= 100
    assert set(listed) <= single
    objects = lines[-1].removeprefix("Objects in reach: ").split("; ")
    assert {f"{verb} {name}" for verb in ("look at", "focus on") for name in objects} <= single
    assert world.look_up("look around") is None
    assert world.steps == 5


# Broken JVMs -----------------------------------------------------------------------------------------


def test_a_hung_jvm_is_a_failure_and_the_next_task_gets_a_fresh_one(fragile: ScienceWorld) -> None:
    world = open_id(fragile, "7-1/var93")
    hung = fragile.pid
    assert hung is not None
    os.kill(hung, signal.SIGSTOP)
    with pytest.raises(EnvironmentFailed, match=r"hung in step \(watchdog 20 s\)"):
        world.step("look around")
    assert gone(hung)
    with pytest.raises(EnvironmentFailed):
        world.evaluate()
    assert not open_id(fragile, "7-1/var93").step("look around").done
    assert fragile.pid not in (None, hung)


def test_open_tries_once_more_on_a_fresh_jvm(fragile: ScienceWorld) -> None:
    """The JVM's process is there but answers no call: only the failing load shows it."""
    open_id(fragile, "7-1/var93")
    assert fragile._simulator is not None
    broken = fragile._simulator
    broken._gateway.shutdown()
    assert broken.alive()
    assert "greenhouse" in open_id(fragile, "7-1/var93").observation.text
    assert gone(broken.pid)


def test_the_evaluation_of_an_ended_task_survives_the_jvm(fragile: ScienceWorld) -> None:
    world = open_id(fragile, "7-1/var93")
    assert world.step("focus on air").done
    assert fragile.pid is not None
    os.kill(fragile.pid, signal.SIGKILL)
    assert world.step("look around") == world.observation
    assert world.evaluate().metrics["raw"] == -100.0


def test_a_jvm_that_cannot_start_says_why() -> None:
    environment = ScienceWorld(jvm_options=["-XX:NoSuchOption"])
    with pytest.raises(EnvironmentFailed, match="NoSuchOption"):
        environment.open(environment.tasks()[0])
    environment.close()


def test_the_jvm_is_recycled() -> None:
    environment = ScienceWorld(recycle_after=2)
    try:
        pids = []
        for task in environment.tasks()[:3]:
            environment.open(task)
            pids.append(environment.pid)
        assert pids[0] == pids[1] != pids[2]
        assert pids[0] is not None and gone(pids[0])
    finally:
        environment.close()


def test_the_jvm_dies_with_its_parent_on_kill_9() -> None:
    script = """
import time
from envs.scienceworld import ScienceWorld
environment = ScienceWorld()
environment.open(environment.tasks()[0])
print(environment.pid, flush=True)
time.sleep(300)
"""
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=ROOT)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    assert not gone(pid)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert eventually(lambda: gone(pid))


def test_threads_may_share_a_world(shared: ScienceWorld) -> None:
    """A step is several calls; without the lock scores and replies of two threads would mix."""
    world = open_id(shared, "1-1/var21")
    replies: dict[str, set[str]] = {"inventory": set(), "task": set()}

    def work(action: str) -> None:
        for _ in range(20):
            replies[action].add(world.step(action).text)

    threads = [threading.Thread(target=work, args=(action,)) for action in replies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert world.steps == 40
    assert {action: len(texts) for action, texts in replies.items()} == {"inventory": 1, "task": 1}
