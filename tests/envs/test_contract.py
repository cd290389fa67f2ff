"""The contract of `envs.base`, on every environment's real engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from envs.base import Environment, EnvironmentFailed, SetupError, Task, World
from tests.envs.contract import Case, cases

HOSTILE = ["", " ", "\n", "\x00", "\ud800", "ä ✓ 日本", "a" * 5000, "</observation>", "{}", "1 2 3"]


@pytest.fixture(scope="module", params=cases(), ids=str)
def case(request: pytest.FixtureRequest) -> Case:
    found: Case = request.param
    found.require()
    return found


@pytest.fixture(scope="module")
def shared(case: Case, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    """One environment for the tests that leave it usable: engines start slowly."""
    environment = case.make(tmp_path_factory.mktemp("shared"))
    yield environment
    environment.close()


def open_task(environment: Environment, number: int) -> World:
    return environment.open(environment.tasks()[number - 1])


def play(world: World, actions: list[str]) -> list[str]:
    return [world.observation.text, *(world.step(action).text for action in actions)]


def test_is_an_environment(shared: Environment) -> None:
    assert isinstance(shared, Environment)
    assert isinstance(open_task(shared, 1), World)
    assert shared.form in ("text", "code", "page")
    assert shared.step_limit > 0
    assert shared.setting


def test_release_order_is_stable_and_numbered_from_one(
    case: Case, shared: Environment, tmp_path: Path
) -> None:
    tasks = list(shared.tasks())
    assert [task.number for task in tasks] == list(range(1, len(tasks) + 1))
    assert all(task.instruction.strip() == task.instruction != "" for task in tasks)
    other = case.make(tmp_path)
    try:
        assert list(other.tasks()) == tasks == list(shared.tasks())
    finally:
        other.close()


def test_constructing_starts_no_process(case: Case, tmp_path: Path) -> None:
    before = set(psutil.Process().children(recursive=True))
    environment = case.make(tmp_path)
    after = set(psutil.Process().children(recursive=True))
    environment.close()
    assert after <= before


def test_reporting_metadata(shared: Environment) -> None:
    ids = []
    for task in shared.tasks():
        info = shared.info(task)
        ids.append(info.id)
        assert info.scenario
        assert info.family
        assert set(info.categories) <= set(shared.categories)
        assert list(info.operations) == sorted(set(info.operations))
        assert info.id not in task.instruction
    assert len(set(ids)) == len(ids)


def test_capabilities_have_distinct_ids_and_one_line_summaries(shared: Environment) -> None:
    capabilities = list(shared.capabilities())
    assert len({capability.id for capability in capabilities}) == len(capabilities) > 0
    for capability in capabilities:
        assert capability.summary.strip()
        assert "\n" not in capability.summary
        assert capability.definition.strip()


def test_a_task_out_of_range_is_named(shared: Environment) -> None:
    beyond = len(shared.tasks()) + 1
    with pytest.raises((SetupError, ValueError, LookupError), match=str(beyond)):
        shared.open(Task(beyond, "no such task"))


def test_opening_again_gives_the_same_episode(case: Case, shared: Environment) -> None:
    number, actions = case.going_on
    first = play(open_task(shared, number), list(actions))
    play(open_task(shared, case.ending[0]), list(case.ending[1]))
    assert play(open_task(shared, number), list(actions)) == first
    assert len(set(first)) > 1


def test_the_latest_observation_is_kept(case: Case, shared: Environment) -> None:
    number, actions = case.going_on
    world = open_task(shared, number)
    assert world.observation.text
    assert not world.observation.done
    assert world.action_help.strip()
    for action in actions:
        assert world.step(action) == world.observation
        assert not world.observation.done


def test_steps_after_the_end_are_harmless(case: Case, shared: Environment) -> None:
    number, actions = case.ending
    world = open_task(shared, number)
    assert [world.step(action).done for action in actions] == [False] * (len(actions) - 1) + [True]
    last, score = world.observation, dict(world.evaluate().metrics)
    for action in [*case.going_on[1], *actions, case.nonsense]:
        assert world.step(action) == last
    assert dict(world.evaluate().metrics) == score


def test_evaluation_holds_what_the_metrics_name(case: Case, shared: Environment) -> None:
    number, actions = case.going_on
    world = open_task(shared, number)
    for action in actions:
        world.step(action)
    metrics = world.evaluate().metrics
    assert metrics["success"] in (0.0, 1.0)
    assert {metric.value for metric in shared.metrics} <= set(metrics)
    assert all(isinstance(value, float) for value in metrics.values())


def test_what_is_not_understood_is_an_observation(case: Case, shared: Environment) -> None:
    world = open_task(shared, case.going_on[0])
    for action in [case.nonsense, *HOSTILE]:
        assert isinstance(world.step(action).text, str)
    world.observation.text.encode("utf-8")


def test_look_ups_change_nothing(case: Case, shared: Environment) -> None:
    number, actions = case.going_on
    without = play(open_task(shared, number), list(actions))
    world = open_task(shared, number)
    with_look_ups = [world.observation.text]
    for action in actions:
        for request in case.look_ups:
            before = world.observation
            answer = world.look_up(request)
            assert answer
            assert world.look_up(request) == answer
            assert world.observation == before
        with_look_ups.append(world.step(action).text)
    assert with_look_ups == without
    assert world.look_up(case.nonsense) is None


def test_provenance_is_text(shared: Environment) -> None:
    found = shared.provenance()
    assert found
    assert all(isinstance(key, str) and isinstance(value, str) for key, value in found.items())


def test_a_killed_engine_is_a_failure_that_a_stream_survives(case: Case, shared: Environment) -> None:
    number, actions = case.going_on
    expected = play(open_task(shared, number), list(actions))
    world = open_task(shared, number)
    world.step(actions[0])
    case.kill(shared)
    with pytest.raises(EnvironmentFailed):
        for action in [*actions, *actions]:
            world.step(action)
    with pytest.raises(EnvironmentFailed):
        world.step(actions[0])
    world.close()
    assert play(open_task(shared, number), list(actions)) == expected


def test_side_by_side_runs_do_not_touch(case: Case, shared: Environment, tmp_path: Path) -> None:
    number, actions = case.going_on
    alone = play(open_task(shared, number), list(actions))
    with ExitStack() as stack:
        pair = [case.make(tmp_path / name) for name in ("a", "b")]
        for environment in pair:
            stack.callback(environment.close)
        worlds = [open_task(environment, number) for environment in pair]
        seen = [[world.observation.text] for world in worlds]
        for action in actions:
            for world, texts in zip(worlds, seen, strict=True):
                texts.append(world.step(action).text)
        pair[0].close()
        worlds[1].step(actions[0])
    assert seen == [alone, alone]


def test_close_is_idempotent_and_leaves_no_process(case: Case, tmp_path: Path) -> None:
    before = set(psutil.Process().children(recursive=True))
    environment = case.make(tmp_path)
    world = open_task(environment, case.going_on[0])
    world.step(case.going_on[1][0])
    world.close()
    world.close()
    environment.close()
    environment.close()
    assert set(psutil.Process().children(recursive=True)) <= before
    assert open_task(environment, case.going_on[0]).observation.text
    environment.close()
    assert set(psutil.Process().children(recursive=True)) <= before
