"""`python -m scripts.run` as users meet it: what they see, what goes wrong, what is left afterwards."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.agents.openai_server import Chat, OpenAIServer
from tests.harness import rig
from tests.scripts.commands import ROOT, command, lamp, run_folder


def test_a_run_tells_its_progress_and_resumes_to_nothing(tmp_path: Path) -> None:
    first = lamp(tmp_path, "memory=flat", "stream.limit=3")
    assert first.returncode == 0, first.stderr
    lines = [line for line in first.stderr.splitlines() if "task " in line]
    assert len(lines) == 3
    for part in ("[lamp/reader/flat seed 0] task 3 of 3", "success_rate", "tokens", "steps"):
        assert part in lines[-1]
    assert str(run_folder(tmp_path)) in first.stdout
    again = lamp(tmp_path, "memory=flat", "stream.limit=3")
    assert again.returncode == 0 and "everything is done already" in again.stderr


def test_a_sweep_runs_every_combination_in_parallel_and_sums_up(tmp_path: Path) -> None:
    words = ("-m", "memory=none,flat", "seed=0,1", "stream.limit=2", "hydra/launcher=joblib")
    done = lamp(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.rglob("run.sqlite"))) == 4
    assert "4 runs: 4 done, 0 not done." in done.stderr


def test_a_sweep_goes_on_past_a_failure_and_names_it_at_the_end(tmp_path: Path) -> None:
    done = lamp(tmp_path, "-m", "memory=none", "backbone=gpt-4.1-mini,reader", "stream.limit=1")
    assert done.returncode == 1
    assert "2 runs: 1 done, 1 not done." in done.stderr
    assert done.stderr.count("OPENAI_API_KEY") >= 2  # when it happens, and at the end
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("memory=reasoningbnk",), ("reasoningbnk", "Did you mean reasoningbank")),
        (("env=scienceword",), ("scienceword", "Did you mean scienceworld")),
        (("backbone=deepseek",), ("deepseek", "deepseek-v3.2")),
        (("stream.limt=3",), ("stream.limt", "Did you mean limit")),
        (("memory=flat", "memory.kk=3"), ("memory.kk", "Did you mean k")),
        (("memory=flat", "memory.k=three"), ("memory.k='three'", "int")),
        (("strem.limit=3",), ("strem.limit", "Did you mean stream")),
        (("stream.limit=51",), ("stream.limit=51", "from 1 to 50")),
        (("stream.limit=0",), ("stream.limit=0", "from 1 to 50")),
        (("stream.tasks=[1,99]",), ("[99]", "tasks 1 to 50")),
        (("stream.order=random",), ("'random'", "shuffled(SEED)")),
        (("stream.tasks=[1,3,1]",), ("stream.tasks names [1] more than once",)),
        (("seed=-1",), ("seed=-1", "greater than or equal to 0")),
        (("dry_run=maybe",), ("dry_run='maybe'", "valid boolean")),
        (("env.steps=0",), ("env.steps=0", "greater than 0", "env.steps=...")),
        (("agent.context_share=7",), ("agent.context_share=7", "less than or equal to 1")),
        (("memory=flat", "memory.k=0"), ("memory.k=0", "greater than 0")),
        (("memory=flat", "memory.budget_tokens=-1"), ("memory.budget_tokens=-1", "greater than or equal to 0")),
        (("stream.retries=-1",), ("stream.retries=-1", "greater than or equal to 0")),
        (("stream.on_backbone_failure=foo",), ("'foo'", "'stop' or 'record'")),
        (("budget.usd=abc",), ("budget.usd='abc'", "valid number")),
        (("backbone.calls=repaly",), ("'repaly'", "record, or replay")),
        (("backbone=pro",), ("backbone.model=",)),
        (("backbone=gpt-4.1-mini",), ("OPENAI_API_KEY", "export OPENAI_API_KEY=")),
        (("backbone=local", "backbone.model=m", "backbone.api_base=http://127.0.0.1:9/v1", "backbone.retries=0"),
         ("http://127.0.0.1:9/v1", "Start the same command again")),
        (("backbone=local", "backbone.model=m", "backbone.api_base=http://127.0.0.1:9/v1", "budget.usd=1"),
         ("budget.usd", "price of 'm' is unknown", "budget.tokens")),
        (("memory.name=../../x",), ("memory.name='../../x'", "name of a folder")),
        (("+backbone.extra.api_key=sk-0123456789ab",), ("backbone.extra.api_key holds a key", "api_key_env=NAME")),
        (("backbone.extra.headers.X=sk-0123456789ab",), ("backbone.extra.headers.X holds a key", "X=env:NAME")),
        (("backbone=sk-0123456789ab",), ("backbone holds a key",)),
        (("backbone.roles.judge={like: local, extra: {x: sk-0123456789ab}}",), ("roles.judge.extra.x=env:NAME",)),
        (("-m", "seed=0,1", "+backbone.extra.auth=x:sk-0123456789ab,y"), ("backbone.extra.auth=env:NAME",)),
        (("backbone=local", "backbone.model=m", "+backbone.extra.x=env:NOT_SET_ANYWHERE"),
         ("NOT_SET_ANYWHERE", "export NOT_SET_ANYWHERE=")),
        (("backbone=local", "backbone.model=m", "backbone.api_base=me:0123456789ab@localhost/v1"),
         ("backbone.api_base is no address", "http://")),
        (("backbone.calls=replay", "recorded=/nowhere"), ("/nowhere", "run.sqlite")),
    ],
)  # fmt: skip
def test_what_a_user_gets_wrong_is_told_in_a_paragraph(
    tmp_path: Path, words: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    done = lamp(tmp_path, *words)
    told = " ".join(done.stderr.split())
    assert done.returncode != 0
    assert "Traceback" not in told and told.count("memtrial:") == 1
    for part in parts:
        assert part in told, told
    assert "0123456789ab" not in told + done.stdout
    assert not [path for path in tmp_path.rglob("*") if "0123456789ab" in path.name]
    assert not [
        path for path in tmp_path.rglob("*") if path.is_file() and b"0123456789ab" in path.read_bytes()
    ]
    if "export" in told:
        assert not list(tmp_path.rglob("run.sqlite")), "a missing variable leaves no run behind"


def test_a_dry_run_starts_nothing_and_estimates_from_the_papers_table(tmp_path: Path) -> None:
    words = ("memory=flat", "backbone=gpt-4.1-mini", "backbone.price={input: 1.0, cached: 0.5, output: 2.0}")
    done = lamp(tmp_path, *words, "stream.limit=10", "dry_run=true")
    assert done.returncode == 0, done.stderr
    # EvoWeave's efficiency table, row flat: 127,710.80 tokens in a task, 78 % of them cached, 4,829.20 out.
    assert "10 (0 done, 10 to do)" in done.stdout
    assert "1,277,108 in (996,144 of them cached), 48,292 out" in done.stdout
    # 280,964 at 1 dollar a million, 996,144 at half a dollar, 48,292 at 2: 0.2810 + 0.4981 + 0.0966 = 0.88
    assert "about $0.88" in done.stdout
    assert "efficiency table" in done.stdout
    assert not list(tmp_path.rglob("*"))


def test_a_dry_run_counts_without_the_engine(tmp_path: Path) -> None:
    words = (
        "env=alfworld",
        "env.data=/nowhere",
        "backbone=reader",
        f"results_dir={tmp_path}",
        "dry_run=true",
    )
    done = command("run", *words, "stream.limit=100")
    assert done.returncode == 0, done.stderr
    assert "tasks:  100 (0 done, 100 to do)" in done.stdout
    assert "the benchmark's known number of tasks, since" in done.stdout
    assert "from 1 to 134" in " ".join(command("run", *words, "stream.limit=135").stderr.split())


def test_a_dry_sweep_sums_up_and_tells_a_failure_once(tmp_path: Path) -> None:
    words = ("backbone=gpt-4.1-mini", "backbone.price={input: 1.0, cached: 0.5, output: 2.0}", "dry_run=true")
    done = lamp(tmp_path, "-m", "memory=flat", *words, "stream.limit=10,20", "seed=0")
    # 30 tasks at 127,710.80 + 4,829.20 tokens, 0.88 dollars for ten (0.87569)
    assert "2 runs: 2 planned, 0 not planned." in done.stderr
    assert "All planned runs: 30 tasks to do, about 3,976,200 tokens, about $2.63." in done.stderr
    assert "same command goes on" not in done.stderr
    done = lamp(tmp_path, "-m", "memory=flat,none", *words, "stream.limit=0", "seed=0,1")
    assert done.returncode == 1
    assert done.stderr.count("memory=flat seed=0 and 3 more: failed: stream.limit=0 is out of range") == 1


def test_a_dry_run_estimates_from_recorded_runs_of_the_same_kind(tmp_path: Path) -> None:
    with OpenAIServer(player) as base:
        lamp(tmp_path, *local(base.url), "memory=none", "stream.limit=2")
        done = lamp(tmp_path, *local(base.url), "memory=none", "stream.limit=5", "dry_run=true")
    connection = sqlite3.connect(run_folder(tmp_path) / "run.sqlite")
    calls, tokens = connection.execute("SELECT COUNT(*), SUM(input_tokens) FROM calls").fetchone()
    connection.close()
    assert "5 (2 done, 3 to do)" in done.stdout
    assert f"calls:  about {calls / 2 * 3:,.0f}" in done.stdout
    assert f"about {tokens / 2 * 3:,.0f} in" in done.stdout
    assert "2 tasks of 1 recorded runs" in done.stdout


def player(request: dict[str, object]) -> Chat:
    """The rig's player behind the OpenAI protocol."""
    from agents.client import Request

    messages = tuple(request["messages"])  # type: ignore[arg-type]
    text = "\n".join(message["content"] for message in messages)
    role = "judge" if "You judge whether" in text else "act"
    return Chat(rig.Player().answer(Request("m", messages, role, 0.0, 1), text))  # type: ignore[arg-type]


def local(base: str) -> tuple[str, ...]:
    return ("backbone=local", "backbone.model=m", f"backbone.api_base={base}")


def test_a_real_backbone_through_litellm_stops_at_its_budget_and_resumes(tmp_path: Path) -> None:
    with OpenAIServer(player) as base:
        words = (
            *local(base.url),
            "memory=none",
            "stream.limit=3",
            "backbone.price={input: 10000.0, output: 0.0}",
        )
        cut = lamp(tmp_path, *words, "budget.usd=0.5")
        assert cut.returncode == 1 and "budget.usd=0.5 is reached" in " ".join(cut.stderr.split())
        status = command("status", str(tmp_path))
        assert "stopped" in status.stdout and "higher budget.usd" in " ".join(status.stdout.split())
        assert "BudgetExhausted" not in status.stdout
        done = lamp(tmp_path, *words, "budget.usd=1000")
        assert done.returncode == 0, done.stderr
        whole = lamp(tmp_path / "whole", *words)
        assert whole.returncode == 0
    folders = [path.parent for path in sorted(tmp_path.rglob("run.sqlite"))]
    assert len(folders) == 2
    assert rig.record(folders[0]) == rig.record(folders[1])


def test_a_sweeps_cap_counts_what_all_its_runs_spent(tmp_path: Path) -> None:
    with OpenAIServer(player) as base:
        words = (
            *local(base.url),
            "memory=none",
            "stream.limit=2",
            "backbone.price={input: 10000.0, output: 0.0}",
        )
        done = lamp(tmp_path, "-m", *words, "seed=0,1,2", "budget.sweep_usd=1.0")
    assert done.returncode == 1 and "budget.sweep_usd=1 is reached" in " ".join(done.stderr.split())
    spent = 0.0
    for path in tmp_path.rglob("run.sqlite"):
        connection = sqlite3.connect(path)
        spent += connection.execute("SELECT TOTAL(cost) FROM calls").fetchone()[0]
        connection.close()
    assert 1.0 <= spent <= 1.11 + 1e-9  # stopped before the call after the cap; a call costs 0.11 dollars


def test_a_key_is_in_no_file_and_no_output(tmp_path: Path) -> None:
    key = "sk-not-for-your-eyes-31415"
    with OpenAIServer(player) as base:
        words = (*local(base.url), "backbone.api_key_env=LAMP_KEY", "memory=flat", "stream.limit=2")
        done = lamp(tmp_path, *words, LAMP_KEY=key)
        assert done.returncode == 0, done.stderr
    command("report", str(tmp_path), "--out", str(tmp_path / "report"))
    shown = [
        command("show", str(run_folder(tmp_path)), *more).stdout
        for more in ((), ("--task", "1"), ("--memory",))
    ]
    assert key not in done.stdout + done.stderr + "".join(shown)
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert key.encode() not in path.read_bytes(), path


def test_kill_9_of_the_command_and_the_same_command_again(tmp_path: Path) -> None:
    words = ["env=lamp", "embedder=hashing", "memory=reasoningbank", "stream.limit=12"]
    whole = command("run", *words, f"results_dir={tmp_path / 'whole'}")
    assert whole.returncode == 0, whole.stderr
    for pause in (0.4, 0.9, 1.4):
        process = subprocess.Popen(
            [sys.executable, "-m", "scripts.run", *words, f"results_dir={tmp_path / 'cut'}"],
            cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        time.sleep(pause)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    done = command("run", *words, f"results_dir={tmp_path / 'cut'}")
    assert done.returncode == 0, done.stderr
    assert rig.record(run_folder(tmp_path / "cut")) == rig.record(run_folder(tmp_path / "whole"))


def test_a_second_process_on_the_same_run_is_refused(tmp_path: Path) -> None:
    lamp(tmp_path, "memory=none", "stream.limit=1")
    folder = run_folder(tmp_path)
    code = f"from pathlib import Path; from harness.lock import RunLock; l = RunLock(Path({str(folder)!r})); input()"
    holder = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdin=subprocess.PIPE)
    try:
        for _ in range(100):
            if "process" in (folder / "run.lock").read_text():
                break
            time.sleep(0.1)
        done = lamp(tmp_path, "memory=none", "stream.limit=2")
        assert done.returncode == 1 and f"in use by process {holder.pid}" in " ".join(done.stderr.split())
        assert "running" in command("status", str(tmp_path)).stdout
    finally:
        holder.kill()
        holder.wait()


def test_the_record_says_what_the_run_was(tmp_path: Path) -> None:
    lamp(tmp_path, "memory=flat", "memory.k=2", "stream.limit=1")
    folder = run_folder(tmp_path)
    assert folder.relative_to(tmp_path).parts[:3] == ("lamp", "reader", "flat")
    assert folder.parent.name.startswith("k=2-") and folder.name == "seed_0"
    connection = sqlite3.connect(folder / "run.sqlite")
    meta = dict(connection.execute("SELECT key, value FROM meta"))
    packages = json.loads(connection.execute("SELECT packages FROM sessions").fetchone()[0])
    connection.close()
    assert "k: 2" in meta["config"] and meta["reader"] == "1"
    assert packages["litellm"] and packages["hydra-core"]


def test_the_order_can_be_shuffled_and_the_readers_tokens_are_capped_too(tmp_path: Path) -> None:
    done = lamp(tmp_path, "memory=none", "stream.order=shuffled(7)", "stream.limit=9", "budget.tokens=500")
    assert done.returncode == 1 and "budget.tokens=500 is reached" in " ".join(done.stderr.split())
    assert run_folder(tmp_path).parent.name.startswith("order=shuffled(7)-")


def test_the_help_lists_what_can_be_asked_for() -> None:
    for flag in ("--help", "-h"):
        told = command("run", flag)
        assert told.returncode == 0
        for part in (
            "memory: amem",
            "strata_no_tags",
            "+experiment: compare, demo",
            "stream:",
            "sweep_usd",
            "dry_run",
        ):
            assert part in told.stdout


def test_a_run_can_be_named_by_its_folder_whatever_that_holds(tmp_path: Path) -> None:
    """Names of variants hold `=`, `,` and `[`, which the command line's grammar would misread."""
    words = ("memory=flat", "memory.k=2", "stream.tasks=[1,4]")
    assert lamp(tmp_path / "first", *words).returncode == 0
    run = run_folder(tmp_path / "first")
    assert {"=", ",", "["} <= set(str(run))
    for name, more in (
        ("frozen", (f"stream.memory_from={run}", "stream.freeze_after=0")),
        ("replay", (f"recorded={run}", "backbone.calls=replay")),
        ("a=b,[c]", ()),
    ):
        done = lamp(tmp_path / name, *words, *more)
        assert done.returncode == 0, done.stderr
    assert "00002" in command("show", str(run_folder(tmp_path / "frozen")), "--memory", "--at", "0").stdout
    missing = lamp(tmp_path / "no", "memory=flat", "stream.memory_from=/no/k=2,tasks=[1]")
    assert "there is no run.sqlite there" in " ".join(missing.stderr.split())


def test_a_refused_option_leaves_no_run_behind(tmp_path: Path) -> None:
    assert lamp(tmp_path, "memory=mem0", "memory.limit=0").returncode == 1
    assert not list(tmp_path.rglob("run.sqlite"))
