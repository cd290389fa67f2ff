"""What `python -m scripts.check` says about ALFWorld on this machine."""

from __future__ import annotations

from importlib.metadata import version

from envs.alfworld.environment import AlfWorld
from envs.alfworld.games import FETCH, data_folder, released, wordings_of
from envs.alfworld.logic import INSTALL, installed
from envs.alfworld.worker import PACKAGES
from envs.base import Check, EnvironmentFailed, SetupError


def checks(start: bool = True) -> list[Check]:
    """The engine, the released games, and (with `start`, some seconds) whether a game of ours opens."""
    engine = _engine()
    return [engine, _games(), *([_first_game()] if start and engine.ok else [])]


def _engine() -> Check:
    name = "ALFWorld: engine"
    if not installed():
        return Check(name, False, "not installed", INSTALL)
    return Check(name, True, ", ".join(f"{package} {version(package)}" for package in PACKAGES))


def _games() -> Check:
    name = "ALFWorld: released games"
    folder = data_folder(None)
    try:
        games = released(folder)
    except SetupError as error:
        return Check(name, False, str(error), FETCH)
    return Check(name, True, f"{len(games)} in {folder}, wording {wordings_of(games)}")


def _first_game() -> Check:
    name = "ALFWorld: first game of alfworld_mini"
    environment = AlfWorld("alfworld_mini")
    try:
        opening = environment.open(environment.tasks()[0]).observation.text
        return Check(name, True, f"opens: {opening[:60]}...")
    except (EnvironmentFailed, SetupError) as error:
        return Check(name, False, str(error), INSTALL)
    finally:
        environment.close()
