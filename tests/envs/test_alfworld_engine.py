"""One game on the real engine: its texts, and what happens when the process behind it fails."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace

import psutil
import pytest

from envs.alfworld import AlfWorld, mini
from envs.alfworld.engine import Engine
from envs.alfworld.environment import OpenGame
from envs.alfworld.games import load
from envs.alfworld.logic import Content, content
from envs.alfworld.problem import Layout, Thing, pddl
from envs.alfworld.words import Wording
from envs.alfworld.write import prove
from envs.base import EnvironmentFailed
from tests.envs.alfworld_case import require_engine

MUG = Thing("Mug", 1)


def tiny(wording: Wording = "new") -> Content:
    """A desk, a drawer with a mug in it, a sink; the mug is to be cleaned and put on the desk."""
    layout = Layout(("Desk", "Drawer", "SinkBasin"), (MUG,))
    type_ = "pick_clean_then_place_in_recep"
    return content(pddl("tiny", layout, type_, "Mug", "Desk"), "put a clean mug in desk.", wording)


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    require_engine()
    engine = Engine(watchdog=120.0, recycle_after=100)
    yield engine
    engine.close()


def play(engine: Engine, wording: Wording = "new") -> OpenGame:
    return OpenGame(engine, wording, engine.open(tiny(wording)))


def test_a_game_in_the_new_wording(engine: Engine) -> None:
    world = play(engine)
    assert world.observation.text == (
        "You are in the middle of a room. Looking quickly around you, you see a desk 1, a drawer 1, and a "
        "sinkbasin 1."
    )
    go = ("go to desk 1", "go to drawer 1", "go to sinkbasin 1")
    assert world.observation.actions == (*go, "inventory", "look")
    assert world.step("go to drawer 1").text == "You arrive at drawer 1. The drawer 1 is closed."
    assert world.step("take mug 1 from drawer 1").text == "Nothing happens."
    assert world.step("open drawer 1").text == (
        "You open the drawer 1. The drawer 1 is open. In it, you see a mug 1."
    )
    assert world.observation.actions == (
        *("close drawer 1", "examine drawer 1", "go to desk 1", "go to sinkbasin 1"),
        *("inventory", "look", "take mug 1 from drawer 1"),
    )
    assert world.step("take mug 1 from drawer 1").text == "You pick up the mug 1 from the drawer 1."
    assert world.step("inventory").text == "You are carrying: a mug 1."
    assert (
        world.step("go to sinkbasin 1").text
        == "You arrive at sinkbasin 1. On the sinkbasin 1, you see nothing."
    )
    assert world.step("clean mug 1 with sinkbasin 1").text == "You clean the mug 1 using the sinkbasin 1."
    world.step("go to desk 1")
    assert world.step("put mug 1 in/on desk 1").text == "Nothing happens."
    assert not world.observation.done and world.evaluate().metrics == {"success": 0.0}
    last = world.step("move mug 1 to desk 1")
    assert last.text == "You move the mug 1 to the desk 1."
    assert last.done and world.evaluate().metrics == {"success": 1.0}
    assert world.step("take mug 1 from desk 1") is last
    assert world.evaluate().metrics == {"success": 1.0}


def test_a_game_in_the_old_wording(engine: Engine) -> None:
    world = play(engine, "old")
    assert "help" not in (world.observation.actions or ())
    assert world.step("go to drawer 1").text == "You arrive at loc 2. The drawer 1 is closed."
    for command in ("open drawer 1", "take mug 1 from drawer 1", "go to sinkbasin 1"):
        world.step(command)
    world.step("clean mug 1 with sinkbasin 1")
    world.step("go to desk 1")
    assert world.step("help").text == "Nothing happens."
    assert world.step("move mug 1 to desk 1").text == "Nothing happens."
    assert world.step("put mug 1 in/on desk 1").text == "You put the mug 1 in/on the desk 1."
    assert world.observation.done and world.evaluate().metrics == {"success": 1.0}


def test_putting_it_there_dirty_is_no_success(engine: Engine) -> None:
    world = play(engine)
    for command in ("go to drawer 1", "open drawer 1", "take mug 1 from drawer 1", "go to desk 1"):
        world.step(command)
    assert not world.step("move mug 1 to desk 1").done
    assert world.evaluate().metrics == {"success": 0.0}


def test_spaces_and_lines_around_a_command_do_not_matter(engine: Engine) -> None:
    world = play(engine)
    assert world.step("  go to\n drawer   1 \n").text.startswith("You arrive at drawer 1.")
    assert world.step('{"open": 1}\n{"step": "look"}').text == "Nothing happens."
    assert world.step("look").text.startswith("You are facing the drawer 1.")


def test_the_planner_is_asked_only_for_proofs(engine: Engine) -> None:
    assert engine.open(tiny(), plan=True)["plan"] == [
        *("go to drawer 1", "open drawer 1", "take mug 1 from drawer 1", "go to sinkbasin 1"),
        *("clean mug 1 with sinkbasin 1", "go to desk 1", "move mug 1 to desk 1"),
    ]
    assert "plan" not in engine.open(tiny())


def test_a_game_without_solution_is_not_proved(engine: Engine) -> None:
    game = mini.games()[0]
    assert "clean" not in game.sentence and "plate" in game.sentence
    nothing_to_cool = game.problem.replace("(coolable Plate", "(heatable Plate")
    with pytest.raises(EnvironmentFailed):
        prove(engine, replace(game, problem=nothing_to_cool))
    assert prove(engine, game) == mini.manifest()[0]["walkthrough"]


def test_remembering_parses_changes_no_answer(engine: Engine) -> None:
    def answers(engine: Engine) -> list[dict[str, object]]:
        found = []
        row = mini.manifest()[0]
        for contents, commands in (
            (load(mini.games()[0], "old"), ["look", "inventory", *row["walkthrough"][:2]]),
            (tiny(), ["help", "go to drawer 1", "open drawer 1", "examine mug 1", "look"]),
            (load(mini.games()[0], "new"), ["look", "fnord", *row["walkthrough"]]),
        ):
            found.append(engine.open(contents))
            found.extend(engine.step(command) for command in commands)
        return [{key: value for key, value in answer.items() if key != "seconds"} for answer in found]

    plain = Engine(watchdog=120.0, recycle_after=100, memoise=False)
    try:
        assert answers(engine) == answers(plain)
    finally:
        plain.close()


# -- failures ---------------------------------------------------------------------------------------


def test_a_hung_engine_is_noticed_and_replaced() -> None:
    require_engine()
    engine = Engine(watchdog=120.0, recycle_after=100)
    try:
        world = play(engine)
        first = engine.pid
        assert first is not None
        os.kill(first, signal.SIGSTOP)
        engine.worker.watchdog = 1.0
        with pytest.raises(EnvironmentFailed, match="did not answer within 1 seconds"):
            world.step("look")
        with pytest.raises(EnvironmentFailed, match="did not answer"):
            world.evaluate()
        assert not psutil.pid_exists(first)
        engine.worker.watchdog = 120.0
        assert not play(engine).step("look").done
        # A stopped worker does not read: a game is longer than the pipe, so that writing must not block either.
        assert engine.pid is not None
        os.kill(engine.pid, signal.SIGSTOP)
        engine.worker.watchdog = 1.0
        with pytest.raises(EnvironmentFailed, match="did not answer"):
            engine.step("x" * 200_000)
    finally:
        engine.close()


def test_an_error_in_the_engine_says_what_it_said() -> None:
    require_engine()
    engine = Engine(watchdog=120.0, recycle_after=100)
    broken = Content(pddl_domain="(define", grammar=tiny()["grammar"], pddl_problem="(define")
    try:
        with pytest.raises(EnvironmentFailed, match="worker reported ParseError: Missing"):
            engine.open(broken)
        assert engine.pid is None
        assert play(engine).step("inventory").text == "You are not carrying anything."
    finally:
        engine.close()


def test_the_worker_is_replaced_after_so_many_games() -> None:
    require_engine()
    engine = Engine(watchdog=120.0, recycle_after=2)
    try:
        pids = []
        for _ in range(3):
            engine.open(tiny())
            pids.append(engine.pid)
        assert pids[0] == pids[1] != pids[2]
    finally:
        engine.close()


def test_a_closed_game_cannot_be_played_on() -> None:
    require_engine()
    environment = AlfWorld("alfworld_mini")
    try:
        first, second = environment.tasks()[:2]
        world = environment.open(first)
        environment.open(second)
        with pytest.raises(EnvironmentFailed, match="was closed"):
            world.step("look")
        assert environment.open(first).step("look").text
    finally:
        environment.close()


def test_the_worker_dies_with_a_killed_parent() -> None:
    require_engine()
    code = (
        "import sys, time; from envs.alfworld import AlfWorld; e = AlfWorld('alfworld_mini'); "
        "e.open(e.tasks()[0]); print(e.pid, flush=True); time.sleep(600)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    worker = psutil.Process(int(parent.stdout.readline()))
    parent.kill()
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 30
    while worker.is_running() and worker.status() != psutil.STATUS_ZOMBIE and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not worker.is_running() or worker.status() == psutil.STATUS_ZOMBIE
