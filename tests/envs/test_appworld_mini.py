"""appworld_mini on the real engine: every solution passes, nothing else does, and no damage goes unseen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from envs.appworld import AppWorld, install, mini
from envs.appworld.mini_tasks import LOGIN, MiniTask, tasks
from envs.appworld.mini_world import APPS
from envs.base import SetupError
from tests.envs.appworld_case import require_engine

TASKS = {task.id: task for task in tasks()}
FIRST = [task for task in tasks() if task.id.endswith("_1")]


@pytest.fixture(scope="module")
def environment() -> Iterator[AppWorld]:
    require_engine()
    made = AppWorld("appworld_mini")
    yield made
    made.close()


def score(environment: AppWorld, task: MiniTask, *blocks: str) -> float:
    number = list(TASKS).index(task.id) + 1
    world = environment.open(environment.tasks()[number - 1])
    for block in blocks:
        world.step(block)
    return world.evaluate().metrics["success"]


def test_at_least_24_tasks_in_8_scenarios_over_6_apps(environment: AppWorld) -> None:
    listed = environment.tasks()
    infos = [environment.info(task) for task in listed]
    assert len(listed) == len(TASKS) >= 24
    assert [info.id for info in infos] == list(TASKS)
    assert len({info.scenario for info in infos}) >= 8
    assert {app for info in infos for app in info.categories} == set(APPS)
    assert all(
        task.instruction == TASKS[info.id].instruction for task, info in zip(listed, infos, strict=True)
    )
    assert all(info.operations for info in infos)


@pytest.mark.parametrize("task", tasks(), ids=lambda task: task.id)
def test_the_reference_solution_scores_1(environment: AppWorld, task: MiniTask) -> None:
    assert score(environment, task, task.solution) == 1.0


@pytest.mark.parametrize("task", tasks(), ids=lambda task: task.id)
def test_saying_that_it_is_done_scores_0(environment: AppWorld, task: MiniTask) -> None:
    assert score(environment, task, "apis.supervisor.complete_task()") == 0.0


@pytest.mark.parametrize("task", FIRST, ids=lambda task: task.id)
def test_doing_nothing_scores_0(environment: AppWorld, task: MiniTask) -> None:
    assert score(environment, task) == 0.0


# What is almost right: a block that replaces a part of the reference solution.
WRONG = {
    "notetag_1": ("return found\n", "return found\n        return page\n"),  # the first page only: 5 of 6
    "noteline_1": ("append_or_prepend='append'", "append_or_prepend='prepend'"),
    "topsong_2": ("show_song_library, ", "search_songs, "),  # not only the library's songs
    "playlist_1": ("if song['genre'] == 'jazz'", "if True"),
    "pay_1": ("relationship='roommate'", "relationship='sister'"),
    "pay_2": ("float('30.00')", "3.0"),
    "paid_1": ("direction='sent'", "direction=None"),  # received money taken for sent
    "text_1": ("return found\n", "return found\n        return page\n"),  # 5 of 6 coworkers
    "clean_1": ("'~/' + 'downloads' + '/'", "'~/'"),  # also documents/draft.tmp
    "todo_1": ("todo['priority'] == 'high' and ", ""),
}


@pytest.mark.parametrize("id", WRONG)
def test_what_is_almost_right_scores_0(environment: AppWorld, id: str) -> None:
    right, wrong = WRONG[id]
    solution = TASKS[id].solution
    if wrong.endswith("return page\n"):
        changed = solution.replace("        index += 1\n", "        return found\n")
    else:
        changed = solution.replace(right, wrong)
    assert changed != solution
    assert score(environment, TASKS[id], changed) == 0.0


@pytest.mark.parametrize(
    "task", [task for task in FIRST if task.answer is not None], ids=lambda task: task.id
)
def test_a_right_answer_in_other_words_is_none(environment: AppWorld, task: MiniTask) -> None:
    said = f"apis.supervisor.complete_task(answer='It is {task.answer}.')"
    assert score(environment, task, said) == 0.0
    assert score(environment, task, f"apis.supervisor.complete_task(answer={str(task.answer)!r})") == 1.0


DAMAGE = {
    "a new row": "apis.phone.create_alarm(time='07:15', access_token=token('phone'))",
    "a user's own field": "apis.spotify.update_account_name(first_name='Ad', access_token=token('spotify'))",
    "a row removed": (
        "key_ = token('simple_note')\n"
        "gone = apis.simple_note.search_notes(access_token=key_, page_limit=20)[-1]\n"
        "apis.simple_note.delete_note(note_id=gone['note_id'], access_token=key_)"
    ),
}


@pytest.mark.parametrize(
    ("task", "damage"),
    [(task, list(DAMAGE)[number % len(DAMAGE)]) for number, task in enumerate(FIRST)],
    ids=lambda value: getattr(value, "id", value),
)
def test_damage_beside_a_right_solution_is_caught(environment: AppWorld, task: MiniTask, damage: str) -> None:
    number = list(TASKS).index(task.id) + 1
    world = environment.open(environment.tasks()[number - 1])
    done = world.step(LOGIN + DAMAGE[damage])
    assert "failed" not in done.text
    assert world.step(task.solution).done
    assert world.evaluate().metrics["success"] == 0.0


def test_logging_in_and_looking_around_is_no_damage(environment: AppWorld) -> None:
    logins = LOGIN + "\n".join(f"token({app!r})" for app in APPS)
    assert score(environment, TASKS["topsong_1"], logins, TASKS["topsong_1"].solution) == 1.0


def test_giving_up_ends_the_episode_with_0(environment: AppWorld) -> None:
    world = environment.open(environment.tasks()[0])
    assert world.step("apis.supervisor.complete_task(status='fail')").done
    assert world.evaluate().metrics["success"] == 0.0


def test_the_data_is_named_by_its_content_and_made_once(environment: AppWorld, tmp_path: Path) -> None:
    venv = install.venv(None)
    assert mini.root(None, venv) == environment.root
    assert not mini.ensure(install.python(venv), environment.root)
    (tmp_path / "mine.txt").write_text("not ours")
    with pytest.raises(SetupError, match=r"holds something else.*env\.root="):
        mini.ensure(install.python(venv), tmp_path)
    assert (tmp_path / "mine.txt").read_text() == "not ours"
