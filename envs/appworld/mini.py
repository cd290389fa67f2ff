"""The data root of appworld_mini: what it is made of, where it lies, and making it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from envs.appworld import mini_tasks, mini_world
from envs.appworld.install import INSTALL, VERSION, refuse_trap
from envs.base import SetupError

BUILDER = Path(__file__).with_name("mini_build.py")
NOW = "2023-05-18T12:00:00"
"""The moment at which all tasks take place."""
BUILD_SECONDS = 1200.0
"""Until the builder counts as hung: it takes 20 s of processor time [ours]."""


def payload() -> dict[str, Any]:
    """All that the builder is given."""
    tasks = [
        {
            "id": task.id,
            "instruction": task.instruction,
            "supervisor": mini_world.person(task.who),
            "passwords": {app: mini_world.password(task.who, app) for app in mini_world.APPS},
            "metadata": task.metadata,
            "required_apps": task.scenario.apps,
            "public_data": task.values,
            "answer": task.answer,
            "evaluation": task.scenario.evaluation,
            "tests": [{"requirement": text, "label": label} for text, label in task.scenario.tests],
        }
        for task in mini_tasks.tasks()
    ]
    return {"now": NOW, "apps": mini_world.APPS, "records": mini_world.records(), "tasks": tasks}


def root(given: str | None, environment: Path) -> Path:
    """Where the mini root lies: `given`, else a folder in the virtual environment named by its content.

    Raises SetupError if the engine cannot work at that path.
    """
    if given:
        return refuse_trap(Path(given).absolute())
    content = json.dumps(payload(), sort_keys=True) + BUILDER.read_text() + VERSION
    return refuse_trap(environment / f"mini-{hashlib.sha256(content.encode()).hexdigest()[:12]}")


def ensure(interpreter: Path, folder: Path) -> bool:
    """Make the root if it is not there: 20 s of processor time. True if it was made. Raises SetupError.

    It is made beside its place and moved there whole, so that two runs may do this at the same time.
    """
    if (folder / "data" / "datasets" / "mini.txt").exists():
        return False
    if folder.exists() and any(folder.iterdir()):
        raise SetupError(
            f"{folder} should hold the data of appworld_mini but holds something else. Name an empty or a new folder "
            "with env.root=FOLDER."
        )
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = refuse_trap(Path(tempfile.mkdtemp(prefix="making-", dir=folder.parent)))
    except OSError as error:
        raise SetupError(
            f"The data of appworld_mini cannot be written to {folder} ({error.strerror}). Name another folder with "
            "env.root=FOLDER."
        ) from error
    try:
        _build(interpreter, made)
        with contextlib.suppress(OSError):
            folder.rmdir()
        made.chmod(0o755)
        with contextlib.suppress(OSError):  # another run was faster
            made.rename(folder)
        if not (folder / "data" / "datasets" / "mini.txt").exists():
            raise SetupError(
                f"The data of appworld_mini cannot be moved to {folder}. Name another with env.root=FOLDER."
            )
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return True


def _build(interpreter: Path, folder: Path) -> None:
    command = [str(interpreter), "-I", "-X", "utf8", str(BUILDER), str(folder)]
    try:
        done = subprocess.run(
            command,
            input=json.dumps(payload()),
            capture_output=True,
            text=True,
            timeout=BUILD_SECONDS,
            check=False,
            cwd=folder,
        )
    except subprocess.TimeoutExpired as error:
        raise SetupError(
            f"Making the data of appworld_mini took more than {BUILD_SECONDS:g} s. Try again: {INSTALL}"
        ) from error
    if done.returncode:
        last = (done.stderr.strip() or "no message").splitlines()[-1]
        raise SetupError(
            f"The data of appworld_mini could not be made in {folder.parent}: {last}. If the engine is damaged, "
            f"remove {interpreter.parent.parent} and run: {INSTALL}"
        )
