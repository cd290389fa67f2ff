"""The whole command on the real simulator: the same twice, and the same after kill -9."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import require
from tests.harness import rig
from tests.scripts.commands import ROOT, command, run_folder

WORDS = (
    "env=scienceworld",
    "env.step_limit=12",
    "embedder=minilm",
    "memory=reasoningbank",
    "stream.tasks=[37,38,61]",
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require(find_spec("scienceworld") is not None, "scienceworld", "make setup")
    folder = tmp_path_factory.mktemp("whole")
    done = command("run", *WORDS, f"results_dir={folder}")
    assert done.returncode == 0, done.stderr
    return run_folder(folder)


def test_same_seed_same_machine_same_record(tmp_path: Path, whole: Path) -> None:
    assert command("run", *WORDS, f"results_dir={tmp_path}").returncode == 0
    assert rig.record(run_folder(tmp_path)) == rig.record(whole)


def test_kill_9_of_a_real_run_and_the_same_command_again(tmp_path: Path, whole: Path) -> None:
    luck = random.Random(3)
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-m", "scripts.run", *WORDS, f"results_dir={tmp_path}"],
            cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        assert process.stderr is not None
        process.stderr.readline()  # a task is done, or the run says where it goes on
        time.sleep(luck.uniform(0.0, 1.5))
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stderr.close()
    done = command("run", *WORDS, f"results_dir={tmp_path}")
    assert done.returncode == 0, done.stderr
    assert rig.record(run_folder(tmp_path)) == rig.record(whole)
