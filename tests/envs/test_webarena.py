"""WebArena's adapter on the real browser: the released tasks, scoring, what breaks, and what is refused."""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from envs.base import EnvironmentFailed, SetupError
from envs.webarena import WebArena, checks, sites
from envs.webarena.actions import ACTIONS
from envs.webarena.mini.server import MiniSites
from envs.webarena.tasks import judged, released
from tests.agents.openai_server import OpenAIServer
from tests.envs.webarena_case import mark, mini, play, require_browser


@pytest.fixture(scope="module", autouse=True)
def browser() -> None:
    require_browser()


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[MiniSites]:
    """Our small sites in the place of the real ones, each on a port of its own."""
    small = MiniSites(proxy=False)
    for name, address in small.variables.items():
        monkeypatch.setenv(name, address)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-judge")
    yield small
    small.close()


def real(run: str = "test", **options: object) -> WebArena:
    return WebArena("webarena", slow_mo=0, delay=0.1, run=run, **options)  # type: ignore[arg-type]


def number_of(task_id: int) -> int:
    return next(n for n, config in enumerate(released(), 1) if config["task_id"] == task_id)


def test_the_released_tasks_are_complete_and_by_site() -> None:
    environment = WebArena("webarena")
    tasks = environment.tasks()
    assert len(tasks) == 812 and tasks[44].instruction == "Check out my todos"
    counted = Counter(environment.info(task).categories for task in tasks)
    assert counted == {
        ("shopping",): 187,
        ("shopping_admin",): 182,
        ("gitlab",): 180,
        ("map",): 109,
        ("reddit",): 106,
        (): 48,
    }
    info = environment.info(tasks[number_of(173) - 1])
    assert info.operations == ("string_match", "url_match")
    assert sum(map(judged, released())) == 118
    assert (environment.form, environment.step_limit, environment.restartable) == ("page", 30, False)


def test_the_actions_are_those_of_browsergym() -> None:
    from browsergym.core.action.highlevel import HighLevelActionSet

    actions = HighLevelActionSet(subsets=["webarena"], multiaction=False)
    assert {action.id for action in ACTIONS} == set(actions.action_set)
    for action in ACTIONS:
        example = action.definition.split(":")[0] if action.id != "goto" else "goto('http://a')"
        assert action.id in actions.to_python_code(example)


def test_released_tasks_on_sites_at_addresses(served: MiniSites) -> None:
    environment = real()
    try:
        tasks = environment.tasks()
        world = environment.open(tasks[number_of(44) - 1])
        assert environment.provenance()["browser"].startswith(("Chromium", "Google Chrome"))
        assert served.addresses["homepage"] in world.action_help
        play(world, ["click link To-Do List"])
        assert not world.observation.done, "scored when the agent stops, not after every step"
        # The step limit: no stop was sent, and what is on the page counts.
        assert world.evaluate().metrics["success"] == 1.0
        assert not world.step("go_back()").done, "the episode is over: nothing is done any more"
        assert world.evaluate().metrics["success"] == 1.0
    finally:
        environment.close()


def test_scoring_after_every_step_is_a_switch(served: MiniSites) -> None:
    environment = real(score_every_step=True)
    try:
        world = environment.open(environment.tasks()[number_of(44) - 1])
        assert play(world, ["click link To-Do List"]).done
        assert world.evaluate().metrics["success"] == 1.0
    finally:
        environment.close()


def test_an_answer_is_judged_by_the_configured_model(served: MiniSites) -> None:
    def grade(body: dict[str, object]) -> str:
        text = str(body["messages"])
        return "correct" if "student answer: there is no airport" in text else "incorrect"

    with OpenAIServer(grade) as server:
        environment = real(judge={"model": "our-judge", "api_base": server.url})
        try:
            task = environment.tasks()[number_of(8) - 1]
            for answer, score in (("There is no airport that near", 1.0), ("Pittsburgh", 0.0)):
                world = environment.open(task)
                play(world, [f"say {answer}"])
                before = len(server.requests)
                metrics = world.evaluate().metrics
                assert metrics["success"] == score
                # What is paid beside the run is at least told: 11 tokens in and 7 out a call.
                calls = len(server.requests) - before
                used = {key: value for key, value in metrics.items() if key.startswith("judge_")}
                assert calls > 0 and used == {
                    "judge_calls": calls, "judge_input_tokens": 11 * calls, "judge_output_tokens": 7 * calls,
                }  # fmt: skip
        finally:
            environment.close()
        assert {body["model"] for body in server.requests} == {"our-judge"}
        assert server.headers[0]["authorization"] == "Bearer key-of-the-judge"


def test_a_judge_that_does_not_answer_is_no_zero(served: MiniSites) -> None:
    with OpenAIServer() as server:
        environment = real(judge={"api_base": server.url})
        try:
            world = environment.open(environment.tasks()[number_of(8) - 1])
            assert play(world, ["say Pittsburgh"]).done
            with pytest.raises(EnvironmentFailed, match="script is at its end"):
                world.evaluate()
        finally:
            environment.close()


def test_a_site_that_is_down_is_an_environment_failure(served: MiniSites) -> None:
    environment = real()
    try:
        task = environment.tasks()[number_of(44) - 1]
        world = environment.open(task)
        served.stop("gitlab")
        with pytest.raises(EnvironmentFailed, match="gitlab"):
            world.step(f"goto('{served.addresses['gitlab']}/explore')")
        with pytest.raises(EnvironmentFailed, match="ERR_CONNECTION_REFUSED"):
            environment.open(task)
    finally:
        environment.close()


def test_a_second_run_is_refused_and_a_reset_lets_it_in(
    served: MiniSites, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(sites.RESET)
    first = real()
    task = first.tasks()[number_of(399) - 1]
    play(
        first.open(task),
        [
            "click link MarvelsGrantMan136",
            "click link Edit biography",
            "fill Biography = x",
            "click button Save",
        ],
    )
    first.close()
    assert served.state["forum"]["biographies"]["MarvelsGrantMan136"] == "x"
    second = real("another")
    with pytest.raises(SetupError, match="not reset since"):
        second.open(task)
    monkeypatch.setenv(sites.RESET, served.addresses["homepage"])
    second.open(task)
    second.close()
    assert served.state["forum"]["biographies"]["MarvelsGrantMan136"] == "Films, mostly."


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in sites.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    environment = WebArena("webarena")
    with pytest.raises(SetupError, match="WA_SHOPPING"):
        environment.open(environment.tasks()[0])
    for name in sites.VARIABLES:
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(SetupError, match=r"118 of WebArena's tasks .* OPENAI_API_KEY"):
        environment.open(environment.tasks()[0])
    with pytest.raises(SetupError, match="webarena_small"):
        WebArena("webarena_small")
    with pytest.raises(SetupError, match="'modell'"):
        WebArena(judge={"modell": "m"})


def test_the_check_says_what_works_line_by_line(served: MiniSites) -> None:
    with OpenAIServer() as server:
        told = {**os.environ, "OPENAI_BASE_URL": server.url}
        found = {check.name.removeprefix("WebArena: "): check for check in checks.checks(told)}
    assert all(check.ok for check in found.values()), found
    expected = [f"site {name}" for name in sites.VARIABLES.values()]
    expected += [f"log-in to {name}" for name in ("shopping", "shopping_admin", "gitlab", "reddit")]
    assert set(found) >= {*expected, "packages", "browser", "reset server", "judge model's endpoint"}
    served.state["forum"].clear()  # every page of the forum is broken now
    served.stop("map")
    with OpenAIServer() as server:
        server.models_status = 401
        told = {**os.environ, "OPENAI_BASE_URL": server.url, sites.RESET: "http://127.0.0.1:9"}
        bad = [check.name.removeprefix("WebArena: ") for check in checks.checks(told) if not check.ok]
    assert bad == ["site map", "log-in to reddit", "reset server", "judge model's endpoint"]


def test_leaving_the_sites_ends_the_task_with_zero() -> None:
    environment = mini()
    try:
        world = environment.open(environment.tasks()[2])
        last = world.step("goto('http://elsewhere.test/')")
        assert last.done
        assert world.evaluate().metrics["success"] == 0.0
        world = environment.open(environment.tasks()[2])
        assert (
            world.step("goto('data:text/html,hello')").done is False
            or world.evaluate().metrics["success"] == 0.0
        )
    finally:
        environment.close()


def test_an_action_that_fails_says_why_in_one_line() -> None:
    environment = mini()
    try:
        world = environment.open(environment.tasks()[9])
        page = world.observation.text
        assert "InlineTextBox" not in page and "url=" not in page
        failed = world.step("click('nothing')").text.splitlines()[1]
        assert failed.startswith("The action failed: ValueError") and "nothing" in failed
        failed = world.step("press_the_button('1')").text.splitlines()[1]
        assert failed == "The action failed: NameError: Invalid action type 'press_the_button'."
        towel = mark(page, "link", "Cotton Beach Towel")
        assert "The action failed" not in world.step(f"click('{towel}')").text
        tabs = world.step("new_tab()").text.splitlines()
        assert tabs[0].startswith("Tab 0: Cotton Beach Towel http://shop.test/")
        assert tabs[1].startswith("Tab 1 (this one)")
        assert world.step("tab_focus(0)").text.splitlines()[2].endswith("/cotton-beach-towel.html")
    finally:
        environment.close()


def test_a_browser_that_is_killed_is_a_failure_and_the_next_task_has_a_new_one() -> None:
    environment = mini()
    try:
        task = environment.tasks()[9]
        world = environment.open(task)
        assert environment.pid is not None
        below = psutil.Process(environment.pid).children(recursive=True)
        for process in below:
            if "chrom" in process.name():
                os.kill(process.pid, signal.SIGKILL)
        with pytest.raises(EnvironmentFailed):
            world.step("click('5')")
        assert "Cotton Beach Towel" in environment.open(task).observation.text
    finally:
        environment.close()


def test_the_engines_time_is_told_apart() -> None:
    """`engine_seconds` is the part of the time that is not ours (scripts.bench prints both)."""
    import time

    environment = mini()
    try:
        world = environment.open(environment.tasks()[9])
        before, start = environment.engine_seconds, time.perf_counter()
        for _ in range(5):
            world.step("noop(0)")
        whole = time.perf_counter() - start
        engine = environment.engine_seconds - before
        assert 0 < engine <= whole
    finally:
        environment.close()


def test_the_key_of_the_judge_is_in_no_argument(served: MiniSites) -> None:
    environment = real()
    try:
        environment.open(environment.tasks()[number_of(44) - 1])
        assert environment.pid is not None
        for process in [psutil.Process(environment.pid), *psutil.Process().children(recursive=True)]:
            assert "key-of-the-judge" not in json.dumps(process.cmdline())
    finally:
        environment.close()
