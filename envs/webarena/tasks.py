"""The tasks: the released 812, and the small setting's, in the benchmark's own format."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from envs.base import SetupError

INSTALL = "make webarena"
COUNT = 812
CATEGORIES: Mapping[str, str] = {
    "shopping": "Shopping",
    "shopping_admin": "Shopping Admin",
    "gitlab": "GitLab",
    "map": "Map",
    "reddit": "Reddit",
}
"""In the order of the paper's figures; the 48 tasks across sites are in none."""
PACKAGES = ("browsergym-core", "browsergym-webarena", "libwebarena", "playwright")

Config = dict[str, Any]
"""One task as the benchmark writes it, addresses still as `__SITE__`."""


def installed() -> bool:
    """Whether BrowserGym and the benchmark are installed."""
    return all(find_spec(name) is not None for name in ("browsergym", "webarena", "playwright"))


def require_installed() -> None:
    """Raises SetupError if they are not."""
    if not installed():
        raise SetupError(f"WebArena needs BrowserGym, which is not installed. Remedy: {INSTALL}")


def versions() -> dict[str, str]:
    """Versions of the packages that decide what happens."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "missing"
    return found


@cache
def released() -> tuple[Config, ...]:
    """All released tasks in their order. Raises SetupError if they are missing or not 812."""
    require_installed()
    spec = find_spec("webarena")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    path = next((p for f in folders if (p := Path(f) / "test.raw.json").exists()), None)
    if path is None:
        raise SetupError(f"test.raw.json is missing in {', '.join(folders)}. Remedy: {INSTALL}")
    found = json.loads(path.read_text(encoding="utf-8"))
    if len(found) != COUNT:
        raise SetupError(f"{path} has {len(found)} tasks instead of {COUNT}. Remedy: {INSTALL}")
    return tuple(found)


@cache
def mini() -> tuple[Config, ...]:
    """The small setting's tasks: released ones that our sites can pose, by number, and our own."""
    by_number = {config["task_id"]: config for config in released()}
    text = files("envs.webarena.mini").joinpath("tasks.json").read_text(encoding="utf-8")
    return tuple(by_number[entry["released"]] if "released" in entry else entry for entry in json.loads(text))


def digest(configs: tuple[Config, ...]) -> str:
    """A hash of a task list."""
    return hashlib.sha256(json.dumps(configs, sort_keys=True).encode()).hexdigest()


def placed(config: Config, addresses: Mapping[str, str]) -> Config:
    """A task with the sites' addresses put in."""
    text = json.dumps(config)
    for site, address in addresses.items():
        text = text.replace(f"__{site.upper()}__", address)
    found: Config = json.loads(text)
    return found


def judged(config: Config) -> bool:
    """Whether the benchmark asks a language model to grade the answer (always, or unless it is N/A)."""
    return "fuzzy_match" in (config["eval"].get("reference_answers") or {})


def categories(config: Config) -> tuple[str, ...]:
    """The site of a task on one site; none for a task across sites."""
    return tuple(config["sites"]) if len(config["sites"]) == 1 else ()


def operations(config: Config) -> tuple[str, ...]:
    """The kinds of evaluation, EvoWeave's proxy for WebArena (appendix G)."""
    return tuple(sorted(set(config["eval"]["eval_types"])))
