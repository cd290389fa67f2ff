"""Keys never reach a record: a configuration that holds one is refused before anything is made or printed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from agents.credentials import IN_ENVIRONMENT
from envs.base import SetupError

_NAME = re.compile(
    r"api[-_]?keys?$|authorization|secret|passw(?:or)?d|cookie|credentials?$|(?:access|private)[-_]?key"
    r"|(?:^|[-_])(?:token|auth|keys?|signature|sig|pwd|pass)$",
    re.IGNORECASE,
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_FORM = r"(?:sk|pk|rk|gsk|xai|hf|ghp)[-_][\w-]{12}|AIza\w{20}"
_VALUE = re.compile(rf"(?:Bearer|Basic) \S|{_FORM}")
_IN_PATH = re.compile(rf"/(?:{_FORM})")


def refuse_secrets(config: Mapping[str, Any]) -> None:
    """Raises SetupError, which names the option and not its value, if a configuration holds a key.

    Told by the option's name, by the value's form, and by what an address holds. In `backbone.extra` a
    value may be given as `env:NAME` (see LiteLLMClient.extra).
    """
    for path, value in _texts(config, ""):
        inside = ".extra." in path and not path.endswith(".extra.api_key")
        if inside and value.startswith(IN_ENVIRONMENT):
            continue
        variable = inside and "${oc.env:" in value  # what it stands for would be in the record
        if variable or _names_a_key(path.rpartition(".")[2]) or _VALUE.match(value):
            where = f"{path}=env:NAME" if inside else "backbone.api_key_env=NAME"
            raise SetupError(
                f"{path} holds a key. Options are kept in each run's record and may be in its folder's name, so "
                f"keys stay outside: export NAME=... and give {where}."
            )
        if _in_address(value):
            raise SetupError(
                f"{path} is an address with a password or key in it. Options are kept in each run's record: give "
                "the address without it, and the key by backbone.api_key_env=NAME (export NAME=...)."
            )


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """All texts and numbers of a configuration, each with its dotted path."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _texts(inner, path)
    elif isinstance(value, (str, int)) and not isinstance(value, bool) and str(value).strip():
        yield path, str(value).strip()


def _in_address(value: str) -> bool:
    if "://" not in value:
        return False
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    asked = any(_names_a_key(name) for name, _ in parse_qsl(parts.query))
    return asked or "@" in parts.netloc or bool(_IN_PATH.search(parts.path))


def _names_a_key(name: str) -> bool:
    return bool(_NAME.search(_HUMP.sub("_", name)))
