"""Where AppWorld's own environment and the data roots lie, and what is said if they are not right."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from envs.base import SetupError

VERSION = "0.1.3.post1"
DATA_VERSION = "0.1.0"
COUNTS = {"appworld_test_normal": 168, "appworld_test_challenge": 417}
INSTALL = "make appworld"
REPOSITORY = Path(__file__).resolve().parents[2]
TRAP = "memory"
"""The engine takes any path that holds this word for a database in main memory, and breaks."""


def venv(given: str | os.PathLike[str] | None) -> Path:
    """AppWorld's virtual environment: `given`, else MEMTRIAL_APPWORLD_VENV, else .venv-appworld beside us."""
    return Path(given or os.environ.get("MEMTRIAL_APPWORLD_VENV") or REPOSITORY / ".venv-appworld").absolute()


def python(folder: Path) -> Path:
    """The interpreter of a virtual environment. Raises SetupError without the engine in its version."""
    found = folder / "bin" / "python"
    installed = engine_version(folder) if found.exists() else ""
    if installed != VERSION:
        what = f"holds version {installed}" if installed else "is not there"
        raise SetupError(
            f"AppWorld's engine {VERSION} is needed in an environment of its own, but {folder} {what}. Run: {INSTALL}"
        )
    if not unpacked(folder):
        raise SetupError(
            f"AppWorld's apps in {folder} are not unpacked. Run: {folder / 'bin' / 'appworld'} install (or {INSTALL})"
        )
    return found


def installed(given: str | os.PathLike[str] | None = None) -> bool:
    """Whether the engine can be used."""
    try:
        python(venv(given))
    except SetupError:
        return False
    return True


@lru_cache(maxsize=8)
def _packages(folder: Path) -> Path | None:
    return next(folder.glob("lib/python3*/site-packages"), None)


def engine_version(folder: Path) -> str:
    """Version of appworld in a virtual environment, empty if it has none. Nothing is imported."""
    packages = _packages(folder)
    found = next(packages.glob("appworld-*.dist-info"), None) if packages else None
    return found.name.removeprefix("appworld-").removesuffix(".dist-info") if found else ""


def unpacked(folder: Path) -> bool:
    """Whether `appworld install` unpacked the apps."""
    packages = _packages(folder)
    return packages is not None and (packages / "appworld" / "apps" / "spotify" / "apis.py").exists()


def real_root(given: str | os.PathLike[str] | None, folder: Path) -> Path:
    """Root of the released data: `given`, else APPWORLD_ROOT, else `root` in the virtual environment."""
    return refuse_trap(Path(given or os.environ.get("APPWORLD_ROOT") or folder / "root").absolute())


def refuse_trap(root: Path) -> Path:
    """`root`. Raises SetupError if the engine cannot work below that path."""
    if TRAP in str(root):
        raise SetupError(
            f"AppWorld breaks if the word {TRAP!r} stands anywhere in the path of its root: {root}. "
            "Name another folder with env.root=FOLDER; a link to that folder from elsewhere will do."
        )
    return root


def refuse_trap_in_name(name: str) -> str:
    """An experiment's name. Raises SetupError if the engine cannot work with it."""
    if TRAP in name or not name or "/" in name:
        raise SetupError(
            f"AppWorld breaks if the word {TRAP!r} or a slash stands in the experiment's name: {name!r}. "
            "Name another with env.experiment=NAME."
        )
    return name


def fetch(root: Path) -> str:
    """The command that fetches the released data into `root`."""
    return f"make appworld-data APPWORLD_ROOT={root}"
