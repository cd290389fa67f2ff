"""Whether a backbone would answer: its key is there and its endpoint responds. Costs nothing."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

from agents.backbone_config import BackboneConfig, read_config
from agents.credentials import without_credentials
from agents.litellm_errors import scrub
from envs.base import Check, SetupError

_SECONDS = 10.0  # [ours] to wait for the list of models


def check(config: Mapping[str, Any]) -> list[Check]:
    """The checks of a backbone and of those its roles name: configuration, key, endpoint."""
    try:
        usual = read_config(config)
    except SetupError as error:
        name = str(config.get("name") or "?")
        return [
            Check(
                f"backbone {name}", False, str(error), f"python -m scripts.check backbone={name} ... with it"
            )
        ]
    checks: list[Check] = []
    for entry in dict.fromkeys([usual.name, *(other.name for other in usual.roles.values())]):
        one = next(c for c in (usual, *usual.roles.values()) if c.name == entry)
        checks += _check_one(one)
    return checks


def _check_one(config: BackboneConfig) -> list[Check]:
    if config.kind != "litellm":
        return [Check(f"backbone {config.name}", True, "answers without a network")]
    checks, variable = [], config.key_variable
    key = os.environ.get(variable, "").strip() if variable else ""
    if variable:
        detail = f"{variable} is {'set' if key else 'not set'}"
        checks.append(
            Check(f"backbone {config.name}: key", bool(key), detail, "" if key else f"export {variable}=...")
        )
    if not config.api_base:
        checks.append(
            Check(f"backbone {config.name}: endpoint", True, "the provider's own; asked with the first call")
        )
    elif key or not variable:
        checks.append(_endpoint(config, config.api_base, key))
    return checks


def _endpoint(config: BackboneConfig, api_base: str, key: str) -> Check:
    """Asks for the list of models."""
    name, shown = f"backbone {config.name}: endpoint", without_credentials(api_base)
    request = urllib.request.Request(f"{api_base.rstrip('/')}/models")
    if key:
        request.add_header("Authorization", f"Bearer {key}")
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS) as response:
            offered = [str(model["id"]) for model in json.load(response)["data"]]
    except urllib.error.HTTPError as error:
        remedy = (
            f"export {config.key_variable}=... with a valid key" if error.code in (401, 403) else _ADDRESS
        )
        return Check(name, False, f"{shown} answers {error.code} {scrub(str(error.reason), [key])}", remedy)
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        return Check(
            name,
            False,
            f"{shown} does not answer: {scrub(str(reason), [key])}",
            f"start the server, or {_ADDRESS}",
        )
    except (KeyError, TypeError):
        return Check(name, True, f"{shown} answers, but lists no models")
    served = config.model.split("/", 1)[-1] if config.provider is None else config.model
    if served in offered:
        return Check(name, True, f"{shown} serves {served}")
    # some servers list other names than they accept, so this alone is no failure
    return Check(name, True, f"{shown} answers; {served} is not among its models ({', '.join(offered[:5])})")


_ADDRESS = "set backbone.api_base=..."
