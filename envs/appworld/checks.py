"""What `python -m scripts.check` says about AppWorld on this machine."""

from __future__ import annotations

from envs.appworld import install
from envs.appworld.data import Data
from envs.appworld.environment import DATASETS, AppWorld
from envs.base import Check, EnvironmentFailed, SetupError


def checks(start: bool = True) -> list[Check]:
    """The engine, the released data, and (with `start`, some seconds) whether a task of ours opens and answers."""
    engine = _engine()
    return [
        engine,
        *(_data(setting) for setting in install.COUNTS),
        *([_task()] if start and engine.ok else []),
    ]


def _engine() -> Check:
    name = "AppWorld: engine"
    folder = install.venv(None)
    try:
        install.python(folder)
    except SetupError as error:
        return Check(name, False, str(error), install.INSTALL)
    return Check(name, True, f"appworld {install.engine_version(folder)} in {folder}")


def _data(setting: str) -> Check:
    name = f"AppWorld: data of {setting}"
    try:
        root = install.real_root(None, install.venv(None))
    except SetupError as error:
        return Check(name, False, str(error), "export APPWORLD_ROOT=FOLDER, then make appworld-data")
    try:
        found = Data(root, DATASETS[setting], setting).specs
    except SetupError as error:
        return Check(name, False, str(error), install.fetch(root))
    return Check(name, True, f"{len(found)} tasks, version {install.DATA_VERSION}, in {root}")


def _task() -> Check:
    name = "AppWorld: first task of appworld_mini"
    try:
        environment = AppWorld("appworld_mini")
    except SetupError as error:
        return Check(name, False, str(error), "run with env.root=FOLDER")
    try:
        world = environment.open(environment.tasks()[0])
        said = world.step("print(len(apis.api_docs.show_app_descriptions()), 'apps')").text
        return Check(name, True, f"opens, its server on 127.0.0.1 knows {said[:60]}")
    except (EnvironmentFailed, SetupError) as error:
        return Check(name, False, str(error), install.INSTALL)
    finally:
        environment.close()
