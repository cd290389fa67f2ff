"""A backbone's configuration: the fields of configs/backbone/*.yaml, read and checked before anything starts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from agents.base import ROLES, Role
from agents.credentials import from_environment, read_key
from envs.base import SetupError

FOLDER = Path(__file__).resolve().parent.parent / "configs" / "backbone"
KINDS = ("litellm", "reader", "scripted")
UNSET = (None, "", "???")
OWN_PARAMETERS = {
    "model": "backbone.model",
    "messages": "the agent",
    "api_base": "backbone.api_base",
    "base_url": "backbone.api_base",
    "api_key": "backbone.api_key_env=NAME (export NAME=...)",
    "timeout": "backbone.timeout",
    "temperature": "backbone.temperature",
    "max_tokens": "backbone.max_tokens",
    "seed": "seed",
    "max_retries": "backbone.retries",
    "num_retries": "backbone.retries",
}
"""Parameters of a call that are not for `extra`, and what gives them."""


@dataclass(frozen=True)
class BackboneConfig:
    """One backbone, checked. The fields are those of the files."""

    name: str
    """As in the folder of a run."""
    kind: str = "litellm"
    label: str = ""
    """As in tables."""
    model: str = ""
    provider: str | None = None
    api_base: str | None = None
    api_key_env: str | None = None
    """None: `<PROVIDER>_API_KEY` after the model's prefix, or no key where `api_base` is given. Empty: no key is
    passed on, litellm finds the credentials (bedrock, vertex_ai)."""
    temperature: float = 0.0
    max_tokens: int = 4096
    context_tokens: int | None = None
    timeout: float = 120.0
    retries: int = 6
    drop: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    price: Mapping[str, float] | None = None
    """input, cached, output in US dollars per million tokens, for a model that configs/prices.yaml lacks."""
    replies: tuple[str, ...] = ()
    """What kind `scripted` answers, in turn."""
    calls: str = "record"
    """record or replay: read by whoever records."""
    roles: Mapping[Role, BackboneConfig] = field(default_factory=dict)
    """Roles answered by another backbone: the name of a file, a mapping of fields, or both
    (`{like: local, model: NAME}` takes from the file what it does not say)."""

    @property
    def key_variable(self) -> str | None:
        """The environment variable of the key, None if no key is passed on."""
        if self.kind != "litellm" or self.api_key_env == "":
            return None
        if self.api_key_env is not None:
            return self.api_key_env
        if self.api_base:
            return None
        provider = self.provider or self.model.split("/")[0]
        return f"{provider.upper().replace('-', '_')}_API_KEY"

    @property
    def by_role(self) -> dict[Role, BackboneConfig]:
        """Who answers each role."""
        return {role: self.roles.get(role, self) for role in ROLES}

    def require_keys(self) -> None:
        """Raises SetupError if a variable of a key, or one that `extra` names, is not set for some role."""
        for config in self.by_role.values():
            read_key(config.key_variable, config.model)
            from_environment(config.extra, config.model)


def names() -> list[str]:
    """The backbones that configs/backbone offers."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def load_config(name: str) -> dict[str, Any]:
    """The configuration file `name` of configs/backbone, as written. Raises SetupError for an unknown name."""
    import yaml

    if name not in names():
        raise SetupError(
            f"unknown backbone {name!r}.{_closest(name, names())} There are: {', '.join(names())}."
        )
    return {"name": name, **(yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8")) or {})}


def read_config(config: Mapping[str, Any]) -> BackboneConfig:
    """A mapping as a checked configuration, its roles resolved. Raises SetupError naming field and remedy."""
    given = dict(config)
    name = str(given.get("name") or given.get("model") or "?")
    known = [entry.name for entry in fields(BackboneConfig)]
    for key in given:
        if key not in known:
            raise SetupError(
                f"backbone {name}: unknown field {key!r}.{_closest(key, known)} There are: {', '.join(known)}."
            )
    roles = {
        _role(name, role): _role_config(name, role, to)
        for role, to in (given.pop("roles", None) or {}).items()
        if to is not None or role not in ROLES
    }
    kind = given.get("kind", "litellm")
    if kind not in KINDS:
        raise SetupError(f"backbone {name}: unknown kind {kind!r}; one of {', '.join(KINDS)}.")
    if kind == "litellm":
        _check_model(name, given)
    for key in ("temperature", "timeout"):
        _number(name, given, key, float, least=0.0)
    for key in ("max_tokens", "context_tokens"):
        _number(name, given, key, int, least=1)
    _number(name, given, "retries", int, least=0)
    given["name"] = name
    given["label"] = str(given.get("label") or name)
    given["drop"] = tuple(given.get("drop") or ())
    for parameter in given["drop"]:
        if parameter not in ("temperature", "max_tokens", "seed"):
            raise SetupError(
                f"backbone.drop={parameter!r}: only temperature, max_tokens and seed can be left out."
            )
    given["extra"] = dict(given.get("extra") or {})
    _check_call(given)
    given["replies"] = tuple(given.get("replies") or ())
    return BackboneConfig(**given, roles=roles)


def _check_model(name: str, given: Mapping[str, Any]) -> None:
    model = given.get("model")
    if model in UNSET:
        where = (
            "as the server calls it"
            if given.get("provider")
            else "with litellm's prefix, as in openai/gpt-4.1-mini"
        )
        raise SetupError(f"backbone {name} has no model. Remedy: name one by backbone.model=..., {where}.")
    by_prefix = (
        given.get("provider") is None and given.get("api_key_env") is None and not given.get("api_base")
    )
    if by_prefix and "/" not in str(model):
        raise SetupError(
            f"backbone.model={model} does not say whose it is. Remedy: give the provider, "
            f"backbone.model=PROVIDER/{model} (e.g. openai/...), or backbone.api_base of a server."
        )


def _check_call(given: Mapping[str, Any]) -> None:
    """The further parameters and the address of a call."""
    for parameter, option in OWN_PARAMETERS.items():
        if parameter in given["extra"] and parameter not in given["drop"]:
            raise SetupError(
                f"backbone.extra.{parameter} is none of the further parameters: {option} gives it."
            )
    address = str(given.get("api_base") or "")
    if address and not address.startswith(("http://", "https://")):
        raise SetupError(
            "backbone.api_base is no address: it begins with http:// or https://, as in http://localhost:8000/v1."
        )


def _role(name: str, role: str) -> Role:
    for known in ROLES:
        if role == known:
            return known
    raise SetupError(
        f"backbone {name}: unknown role {role!r}.{_closest(role, ROLES)} There are: {', '.join(ROLES)}."
    )


def _role_config(name: str, role: str, to: Any) -> BackboneConfig:
    if not isinstance(to, str | Mapping):
        raise SetupError(
            f"backbone.roles.{role}={to!r}: give the name of a backbone, or a mapping of its fields."
        )
    if isinstance(to, str):
        to = {"like": to}
    given = {key: value for key, value in to.items() if key != "like"}
    other = read_config({**load_config(str(to["like"])), **given} if "like" in to else given)
    if other.roles:
        raise SetupError(
            f"backbone.roles.{role} of {name}: a backbone given for a role cannot have roles itself."
        )
    return other


def _number(name: str, given: dict[str, Any], key: str, kind: type[int] | type[float], least: float) -> None:
    value = given.get(key)
    if value is None:
        given.pop(key, None)
        return
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or value != kind(value)
        or not value >= least
    ):
        raise SetupError(f"backbone {name}: {key}={value!r} is no {kind.__name__} of at least {least:g}.")
    given[key] = kind(value)


def _closest(name: str, known: Iterable[str]) -> str:
    close = get_close_matches(name, list(known), n=2)
    return f" Did you mean {' or '.join(close)}?" if close else ""
