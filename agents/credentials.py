"""Keys and addresses: what stays in the environment, and what of an address may be shown."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from envs.base import SetupError

IN_ENVIRONMENT = "env:"
"""How a value begins that stands for a variable of the environment."""


def read_key(variable: str | None, model: str) -> str:
    """The API key for `model`, empty without a variable. Raises SetupError if the variable is not set."""
    if not variable:
        return ""
    key = os.environ.get(variable, "").strip()
    if not key:
        raise SetupError(
            f"the environment variable {variable}, which should hold the API key for {model}, is not set. "
            f"Remedy: export {variable}=..., or name another by backbone.api_key_env=NAME."
        )
    return key


def from_environment(values: Mapping[str, Any], model: str) -> tuple[dict[str, Any], list[str]]:
    """`values` with each text `env:NAME` replaced by that variable, and what was put in.

    Raises SetupError for a variable that is not set.
    """
    put_in: list[str] = []

    def resolved(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: resolved(inner) for key, inner in value.items()}
        if isinstance(value, (list, tuple)):
            return [resolved(inner) for inner in value]
        if not isinstance(value, str) or not value.startswith(IN_ENVIRONMENT):
            return value
        variable = value.removeprefix(IN_ENVIRONMENT)
        found = os.environ.get(variable, "").strip()
        if not found:
            raise SetupError(
                f"the environment variable {variable}, which backbone.extra names for {model}, is not set. "
                f"Remedy: export {variable}=..."
            )
        put_in.append(found)
        return found

    return resolved(values), put_in


def without_credentials(address: str) -> str:
    """An address as errors may show it: no user, password or query."""
    parts = urlsplit(address)
    host = parts.netloc.rsplit("@", 1)[-1]
    return f"{parts.scheme}://{host}{parts.path}" if parts.netloc else address
