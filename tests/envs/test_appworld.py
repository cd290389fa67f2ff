"""AppWorld's servers and what agents' code can and cannot do in them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from envs.appworld import AppWorld, engine
from envs.appworld import environment as environment_module
from envs.appworld.environment import AppWorldTask
from envs.base import EnvironmentFailed
from tests.envs.appworld_case import require_engine
from tests.envs.test_child import eventually, gone

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def environment() -> Iterator[AppWorld]:
    require_engine()
    made = AppWorld("appworld_mini", timeout=5)
    yield made
    made.close()


def open_task(environment: AppWorld, number: int = 1) -> AppWorldTask:
    return environment.open(environment.tasks()[number - 1])


def test_first_observation_names_the_supervisor_and_not_the_task(environment: AppWorld) -> None:
    seen = open_task(environment, 2).observation
    assert seen.text == "Your supervisor is Ben Hill, email ben.hill@example.com, phone number 5550000002."
    assert seen.actions is None


def test_documentation_comes_by_the_look_ups_that_the_help_names(environment: AppWorld) -> None:
    world = open_task(environment)
    calls = [line for line in world.action_help.splitlines() if line.startswith("print(apis.api_docs.")]
    assert len(calls) == 3
    said = [world.step(call).text for call in calls]
    assert '"simple_note"' in said[0] and '"login"' in said[1] and '"access_token"' in said[2]


def test_capabilities_are_what_the_agent_may_look_up(environment: AppWorld) -> None:
    index = {capability.id: capability for capability in environment.capabilities()}
    world = open_task(environment)
    shown = world.step(
        "print(apis.api_docs.show_api_doc(app_name='venmo', api_name='create_transaction'))"
    ).text
    assert "receiver_email" in shown
    assert "receiver_email" in index["venmo.create_transaction"].definition
    assert index["venmo.create_transaction"].summary == "Send money to a user."
    assert "canary" not in index["venmo.create_transaction"].definition
    assert not any(name.startswith("admin.") for name in index)


def test_errors_are_text_and_the_world_goes_on(environment: AppWorld) -> None:
    world = open_task(environment)
    for block, said in {
        "1/0": "ZeroDivisionError",
        "while True: pass": "timed out after 5 seconds",
        "raise SystemExit": "Execution failed",
        "import os\nos._exit(3)": "not allowed",
        "def f(): return f()\nf()": "RecursionError",
        "print('\\ud800')": "?",
        "!ls": "Syntax error",
        "x = '\ud800'": "UnicodeEncodeError",
        "x = '\x00'": "Execution failed",
        "input()": "not allowed",
    }.items():
        answer = world.step(block)
        assert said in answer.text, block
        assert not answer.done
    assert world.step("x = 20\nprint(x + 1)").text == "21"
    assert len(world.step("print('a' * 100000)").text) == 20_000
    assert world.step("print(x)").text == "20"


def test_nothing_of_one_task_is_left_in_the_next(environment: AppWorld) -> None:
    open_task(environment).step("left_over = 1")
    pid = environment.pid
    world = open_task(environment, 2)
    assert environment.pid == pid, "the same server"
    assert world.step("print('left_over' in globals())").text == "False"


def test_agents_code_cannot_reach_ground_truth(environment: AppWorld) -> None:
    world = open_task(environment)
    answer = "data/tasks/notetag_1/ground_truth/answer.json"
    for block in (
        "from appworld.task import Task\nprint('answer', Task.load('notetag_1').ground_truth.answer)",
        f"import pathlib\nprint('answer', pathlib.Path({answer!r}).read_text())",
        f"import pathlib\nprint('answer', (pathlib.Path('data').resolve().parent / {answer!r}).read_text())",
        f"import os\nprint('answer', os.open({answer!r}, 0))",
        "import os\nos.symlink('data/tasks/notetag_1/ground_truth', 'way')\nprint('answer')",
        "import builtins\nlib = builtins.__import__('appworld')\nlib.task.Task.load('notetag_1')\nprint('answer')",
    ):
        said = world.step(block).text
        assert "answer 6" not in said and said.startswith("Execution failed"), block
    assert world.step("apis.supervisor.complete_task(answer=6)").done
    assert world.evaluate().metrics["success"] == 1.0


def test_no_key_of_ours_reaches_agents_code(monkeypatch: pytest.MonkeyPatch) -> None:
    require_engine()
    monkeypatch.setenv("SOME_API_KEY", "sk-not-for-agents")
    fresh = AppWorld("appworld_mini")
    try:
        said = open_task(fresh).step("import os\nprint(len(os.environ), dict(os.environ))").text
    finally:
        fresh.close()
    assert "APPWORLD_ROOT" in said
    assert "sk-not-for-agents" not in said


def test_servers_listen_on_loopback_only(environment: AppWorld) -> None:
    open_task(environment)
    listening = [
        connection.laddr.ip
        for connection in psutil.Process(environment.pid).net_connections()
        if connection.status == psutil.CONN_LISTEN
    ]
    assert listening == ["127.0.0.1"]


def test_a_pool_holds_as_many_worlds_as_it_has_servers() -> None:
    require_engine()
    pool = AppWorld("appworld_mini", servers=2)
    try:
        first, second = open_task(pool, 1), open_task(pool, 2)
        first.step("who = 'first'")
        second.step("who = 'second'")
        assert first.step("print(who)").text == "first"
        assert second.step("print(who)").text == "second"
        third = open_task(pool, 3)
        with pytest.raises(EnvironmentFailed, match="closed"):
            first.step("print(who)")
        assert second.step("print(who)").text == "second"
        third.close()
        assert open_task(pool, 1).step("print('who' in globals())").text == "False"
        assert second.step("print(who)").text == "second"
    finally:
        pool.close()


def test_a_server_is_replaced_after_its_share_of_tasks() -> None:
    require_engine()
    short = AppWorld("appworld_mini", recycle_after=1)
    try:
        open_task(short)
        first = short.pid
        open_task(short)
        assert short.pid != first
        assert first is not None and gone(first)
    finally:
        short.close()


def test_a_hung_server_is_ended_and_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    require_engine()
    monkeypatch.setattr(environment_module, "HEALTH_SECONDS", 1.0)
    hanging = AppWorld("appworld_mini", timeout=1)
    try:
        world = open_task(hanging)
        pid = hanging.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        with pytest.raises(EnvironmentFailed, match=r"did not answer POST /step within 2 s"):
            world.step("print(1)")
        assert gone(pid)
        assert open_task(hanging).step("print(1)").text == "1"
    finally:
        hanging.close()


def test_a_server_that_cannot_start_says_its_last_words(tmp_path: Path) -> None:
    require_engine()
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\necho 'no such luck' >&2\nexit 3\n")
    fake.chmod(0o755)
    with pytest.raises(EnvironmentFailed, match=r"ended while starting\. Its last line: no such luck"):
        engine.Server(fake, tmp_path, 10)


def test_nothing_is_written_into_the_data_root(environment: AppWorld) -> None:
    before = {path: path.stat().st_mtime_ns for path in environment.root.rglob("*")}
    world = open_task(environment, 4)
    world.step("apis.supervisor.complete_task()")
    world.evaluate()
    assert {path: path.stat().st_mtime_ns for path in environment.root.rglob("*")} == before


def test_kill_9_of_the_harness_leaves_no_server() -> None:
    require_engine()
    script = (
        "import time\nfrom envs.appworld import AppWorld\ne = AppWorld('appworld_mini')\n"
        "w = e.open(e.tasks()[0])\nprint(e.pid, flush=True)\ntime.sleep(600)"
    )
    process = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    pid = int(process.stdout.readline())
    assert not gone(pid)
    process.kill()
    process.wait()
    process.stdout.close()
    assert eventually(lambda: gone(pid))


def test_leftovers_of_killed_runs_are_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.tempfile, "gettempdir", lambda: str(tmp_path))
    for name in ("memtrial-appworld-old", "memtrial-appworld-new", "else-old"):
        (tmp_path / name).mkdir()
    for name in ("memtrial-appworld-old", "else-old"):
        os.utime(tmp_path / name, (0, 0))
    engine.sweep()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["else-old", "memtrial-appworld-new"]
