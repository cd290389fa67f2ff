"""A child process ends with its parent, with all that it started itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from envs.child import Child

ROOT = Path(__file__).resolve().parents[2]
FAMILY = "setsid sleep 300 & sleep 300 & echo $!; exec sleep 300"
"""A shell that starts a detached child and an ordinary one, prints the latter's pid, and goes on."""


def eventually(condition: Callable[[], bool], seconds: float = 60) -> bool:
    """Whether `condition` comes true; the wait is a bound for a hopeless case, not a claim."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return condition()


def gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def family(child: Child) -> list[int]:
    """Process ids of a running FAMILY: the command and its two children."""
    assert child.stdout is not None
    int(child.stdout.readline())
    process = psutil.Process(child.pid)
    assert eventually(lambda: len(process.children()) == 2)
    return [child.pid, *(other.pid for other in process.children())]


def test_what_the_command_says_and_returns() -> None:
    child = Child(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdin is not None and child.stdout is not None
    child.stdin.write(b"hello\n")
    child.stdin.flush()
    assert child.stdout.readline() == b"hello\n"
    assert child.alive()
    child.stdin.close()
    assert child.wait(60) == 0
    assert not child.alive()
    child.kill()


@pytest.mark.parametrize(("script", "code"), [("exit 3", 3), ("kill -9 $$", -9), ("kill -15 $$", -15)])
def test_exit_codes(script: str, code: int) -> None:
    child = Child(["sh", "-c", script])
    assert child.wait(60) == code
    child.kill()


def test_a_command_that_cannot_start() -> None:
    with pytest.raises(FileNotFoundError, match="/no/such/command"):
        Child(["/no/such/command"])


def test_kill_ends_the_whole_tree_detached_and_stopped_ones_too() -> None:
    child = Child(["sh", "-c", FAMILY], stdout=subprocess.PIPE)
    pids = family(child)
    os.kill(child.pid, signal.SIGSTOP)
    child.kill()
    child.kill()
    assert [gone(pid) for pid in pids] == [True] * 3


def test_what_a_command_leaves_behind_ends_with_it() -> None:
    child = Child(["sh", "-c", "setsid sleep 300 & echo $!"], stdout=subprocess.PIPE)
    assert child.stdout is not None
    left_behind = int(child.stdout.readline())
    assert child.wait(60) == 0
    assert gone(left_behind)
    child.kill()


def test_kill_9_of_the_parent_ends_the_tree() -> None:
    script = f"""
import subprocess, sys, time
from envs.child import Child
child = Child(["sh", "-c", {FAMILY!r}], stdout=subprocess.PIPE)
child.stdout.readline()
print(child.guardian.pid, child.pid, flush=True)
time.sleep(300)
"""
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=ROOT)
    assert parent.stdout is not None
    guardian, command = map(int, parent.stdout.readline().split())
    process = psutil.Process(command)
    assert eventually(lambda: len(process.children()) == 2)
    pids = [guardian, command, *(other.pid for other in process.children())]
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert eventually(lambda: all(gone(pid) for pid in pids))


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only Linux tells a child of its parent's death"
)
def test_kill_9_of_the_guardian_ends_the_command() -> None:
    child = Child(["sleep", "300"])
    child.guardian.kill()
    assert eventually(lambda: gone(child.pid))
    child.kill()


def test_a_fork_of_the_parent_does_not_keep_the_child_alive() -> None:
    script = """
import os, time
from envs.child import Child
child = Child(["sleep", "300"])
fork = os.fork()
if fork:
    print(fork, child.pid, flush=True)
time.sleep(300)
"""
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=ROOT)
    assert parent.stdout is not None
    fork, command = map(int, parent.stdout.readline().split())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    try:
        assert eventually(lambda: gone(command))
    finally:
        os.kill(fork, signal.SIGKILL)
