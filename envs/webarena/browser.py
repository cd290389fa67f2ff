"""Where the browser and the tokenizer's data lie: one folder, so that nothing is downloaded at run time.

Playwright looks for a browser of its own revision below PLAYWRIGHT_BROWSERS_PATH; a link under that name
leads to the one that is installed (see envs.webarena.prepare). The benchmark's string evaluator needs NLTK's
punkt_tab, which the wheel of llama-index-core brings.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from envs.base import SetupError
from envs.webarena.tasks import INSTALL, require_installed

_PLACE = {
    "linux": ("chrome-linux", "chrome"),
    "darwin": ("chrome-mac", "Chromium.app", "Contents", "MacOS", "Chromium"),
}


def folder() -> Path:
    """Where `make webarena` puts both: inside the virtual environment."""
    return Path(sys.prefix) / "share" / "webarena"


def browsers() -> Path:
    """Playwright's folder of browsers: PLAYWRIGHT_BROWSERS_PATH if that is set, else ours."""
    return Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or folder() / "browsers")


def nltk_data() -> Path:
    """NLTK's folder: NLTK_DATA if that is set, else ours."""
    return Path(os.environ.get("NLTK_DATA") or folder() / "nltk_data")


@cache
def revision() -> str:
    """The revision of Chromium that the installed Playwright looks for."""
    listed = package_folder("playwright") / "driver" / "package" / "browsers.json"
    entries = json.loads(listed.read_text(encoding="utf-8"))["browsers"]
    return str(next(entry["revision"] for entry in entries if entry["name"] == "chromium"))


def executable() -> Path:
    """Where Playwright looks for the browser."""
    place = _PLACE.get(sys.platform, _PLACE["linux"])
    return browsers().joinpath(f"chromium-{revision()}", *place)


def ready() -> bool:
    """Whether packages, browser and tokenizer's data are there."""
    try:
        require_installed()
        return executable().exists() and (nltk_data() / "tokenizers" / "punkt_tab").exists()
    except SetupError:
        return False


def require_ready() -> None:
    """Raises SetupError naming what is missing."""
    require_installed()
    if not executable().exists():
        raise SetupError(f"There is no browser at {executable()}. Remedy: {INSTALL}")
    if not (nltk_data() / "tokenizers" / "punkt_tab").exists():
        raise SetupError(f"NLTK's punkt_tab is missing in {nltk_data()}. Remedy: {INSTALL}")


@cache
def browser_version() -> str:
    """What the browser says of itself; the accessibility tree depends on it. `unknown` if it says nothing."""
    try:
        told = subprocess.run(
            [executable(), "--version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return told.stdout.strip() or "unknown"


def package_folder(name: str) -> Path:
    """Where an installed package lies. Raises SetupError if it does not."""
    spec = find_spec(name)
    for place in spec.submodule_search_locations or () if spec else ():
        return Path(place)
    raise SetupError(f"The package {name} is not installed. Remedy: {INSTALL}")
