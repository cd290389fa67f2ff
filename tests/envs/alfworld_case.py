"""ALFWorld in the shared contract tests, and what its own tests share: the released files, a tiny game."""

from __future__ import annotations

import os
import signal
import tarfile
from pathlib import Path

from envs.alfworld import AlfWorld
from envs.alfworld.logic import INSTALL, installed
from envs.base import Environment
from tests.conftest import require
from tests.envs.contract import Case

GET_FILES = "set MEMTRIAL_SHARED to the folder that holds alfworld/valid_unseen.game+traj.tar.xz"


def require_engine() -> None:
    """Skip (or fail, see conftest) without ALFWorld's engine."""
    require(installed(), "alfworld", INSTALL)


def unpack_released(folder: Path) -> Path:
    """The 134 released games, unpacked into `folder`; skips where their archive is missing."""
    shared = Path(os.environ.get("MEMTRIAL_SHARED", "../shared/data"))
    archive = shared / "alfworld" / "valid_unseen.game+traj.tar.xz"
    require(archive.exists(), "alfworld-data", GET_FILES, released=True)
    with tarfile.open(archive) as files:
        files.extractall(folder, filter="data")
    return folder


def _kill(environment: Environment) -> None:
    assert isinstance(environment, AlfWorld)
    assert environment.pid is not None
    os.kill(environment.pid, signal.SIGKILL)


CASE = Case(
    name="alfworld",
    make=lambda _: AlfWorld("alfworld_mini"),
    # Game 2 asks for a pen under the desk lamp, game 1 for a cool plate on the countertop.
    ending=(2, ["go to sidetable 1", "take pen 1 from sidetable 1", "go to desk 1", "use desklamp 1"]),
    going_on=(1, ["go to sinkbasin 1", "take plate 1 from sinkbasin 1", "inventory"]),
    nonsense="fnord the gargle",
    kill=_kill,
    found=installed,
    remedy=INSTALL,
)
