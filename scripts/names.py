"""Errors that can be told before anything is loaded: unknown names, and foreign packages in our place."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from envs.base import SetupError
from harness.keys import refuse_secrets

GROUPS = ("env", "agent", "backbone", "memory", "embedder", "judge", "logger", "experiment")
OPTIONS = ("seed", "results_dir", "dry_run", "recorded", "stream", "budget", "hydra", *GROUPS)


def check_words(words: Sequence[str], configs: Path) -> str | None:
    """What is wrong with a command's words, with the closest names that exist; None if nothing."""
    if problem := _key_in(words):
        return problem
    for word in words:
        if word.startswith("-") or "=" not in word:
            continue
        key, _, value = word.lstrip("+~").partition("=")
        group = key.split("@")[0]
        if group in GROUPS:
            for name in value.strip("'\"").split(","):
                problem = _unknown(group, name.strip(), configs)
                if problem:
                    return problem
        elif group.split(".")[0].split("/")[0] not in OPTIONS:
            return f"there is no option {key!r}.{_closest(key, OPTIONS)} Options: {', '.join(OPTIONS)}."
        elif "." in key and not word.startswith("+"):
            problem = _unknown_option(key, words, configs)
            if problem:
                return problem
    return None


def _key_in(words: Sequence[str]) -> str | None:
    """The option that holds a key, told before Hydra could print the word or keep it with a sweep."""
    import yaml

    for word in words:
        key, _, value = word.lstrip("+~").partition("=")
        try:
            read = yaml.safe_load(value)
        except yaml.YAMLError:
            read = value
        try:
            refuse_secrets({key: read})
        except SetupError as error:
            return str(error)
    return None


def _unknown_option(key: str, words: Sequence[str], configs: Path) -> str | None:
    """What is wrong with `section.option`: judged by the files chosen by `words`, else by all of the section."""
    import yaml

    section, option = key.split(".")[:2]
    if section in GROUPS:
        given = ",".join(word.partition("=")[2] for word in words if word.startswith(f"{section}="))
        chosen = [configs / section / f"{name}.yaml" for name in given.split(",")]
        files = [yaml.safe_load(path.read_text()) or {} for path in chosen if path.exists()]
        if not files or any("defaults" in file for file in files):
            files = [yaml.safe_load(path.read_text()) or {} for path in (configs / section).glob("*.yaml")]
        known = sorted(
            {str(name) for file in files for name in file if not str(name).startswith("_")} - {"defaults"}
        )
    else:
        known = sorted(yaml.safe_load((configs / "run.yaml").read_text()).get(section) or {})
    if not known or section == "hydra" or option in known:
        return None
    return f"there is no option {key!r}.{_closest(option, known)} {section} has: {', '.join(known)}."


def _unknown(group: str, name: str, configs: Path) -> str | None:
    known = sorted(path.stem for path in (configs / group).glob("*.yaml"))
    if name in known or any(mark in name for mark in "(){}[]$"):
        return None
    return f"there is no {group} {name!r}.{_closest(name, known)} Known: {', '.join(known)}."


def _closest(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
    return f" Did you mean {' or '.join(close)}?" if close else ""


def ours() -> None:
    """Check that `agents`, `envs`, ... are this project's. Raises SetupError if another package shadows one."""
    root = Path(__file__).resolve().parent.parent
    for room in ("envs", "agents", "memories", "harness"):
        spec = find_spec(room)
        found = Path(spec.origin).resolve().parent if spec and spec.origin else None
        if found != root / room:
            raise SetupError(
                f"The package {room!r} that Python finds is {found}, not memtrial's {root / room}. Start the "
                "command in memtrial's folder, or uninstall the other package."
            )
