"""The small setting: every task possible, every task failable, by the benchmark's own evaluators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from envs.webarena import WebArena
from envs.webarena.tasks import CATEGORIES, installed, released
from envs.webarena.tasks import mini as mini_tasks
from tests.envs.webarena_case import mini, play, require_browser
from tests.envs.webarena_scripts import SCRIPTS


@pytest.fixture(scope="module")
def environment() -> Iterator[WebArena]:
    require_browser()
    found = mini()
    yield found
    found.close()


def test_there_are_tasks_on_five_sites_and_across_sites() -> None:
    if not installed():
        require_browser()
    counted = Counter(tuple(config["sites"]) for config in mini_tasks())
    single = {sites[0]: n for sites, n in counted.items() if len(sites) == 1}
    assert set(single) == set(CATEGORIES)
    assert sum(single.values()) >= 24
    assert sum(n for sites, n in counted.items() if len(sites) > 1) >= 4
    kinds = {kind for config in mini_tasks() for kind in config["eval"]["eval_types"]}
    assert kinds == {"string_match", "url_match", "program_html"}
    unchanged = [config for config in mini_tasks() if config in released()]
    assert len(unchanged) >= 20
    assert not any("fuzzy_match" in (c["eval"]["reference_answers"] or {}) for c in mini_tasks())


def test_every_task_has_its_scripts(environment: WebArena) -> None:
    assert set(SCRIPTS) == {task.number for task in environment.tasks()}


@pytest.mark.parametrize("number", sorted(SCRIPTS))
@pytest.mark.parametrize("way", ["wrong", "right"])
def test_a_right_answer_scores_one_and_a_wrong_one_zero(environment: WebArena, number: int, way: str) -> None:
    task = environment.tasks()[number - 1]
    world = environment.open(task)
    last = play(world, SCRIPTS[number][way == "wrong"])
    assert last.done
    assert world.evaluate().metrics["success"] == float(way == "right")
    assert world.evaluate().metrics["success"] == float(way == "right")


def test_what_a_task_changes_is_gone_with_the_next(environment: WebArena) -> None:
    task = environment.tasks()[9]
    assert environment.info(task).id == "webarena.9002"
    play(environment.open(task), ["click link Cotton Beach Towel", "click button Add to Cart"])
    again = environment.open(task)
    assert "Cotton Beach Towel" not in play(again, ["click link My Cart"]).text
