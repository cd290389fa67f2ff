"""The backbone: roles mapped to clients, structured replies asked for and validated, usage summed.

`Model` is what everything else talks to; `build` makes one from a configuration of configs/backbone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel

from agents.backbone_config import BackboneConfig, load_config, read_config
from agents.base import ROLES, MalformedReply, Message, Refusal, Reply, Role
from agents.client import Client, RawReply, Recorder, Request, together, unrecorded
from agents.prompts import assistant, user
from agents.retry import Tell, silent
from agents.structured import UnreadableReply, clean, parse, request_for

__all__ = ["Model", "Sampling", "build", "for_all_roles", "load_config"]


@dataclass(frozen=True)
class Sampling:
    """How replies are drawn, where a call does not say."""

    temperature: float = 0.0
    max_tokens: int = 4096


def for_all_roles(client: Client) -> dict[Role, Client]:
    """One client in every role."""
    return dict.fromkeys(ROLES, client)


class Model:
    """An `agents.base.Backbone` over one client a role."""

    def __init__(
        self,
        clients: Mapping[Role, Client],
        recorder: Recorder = unrecorded,
        *,
        name: str = "",
        temperature: float = Sampling.temperature,
        max_tokens: int = Sampling.max_tokens,
        seed: int | None = None,
        sampling: Mapping[Role, Sampling] | None = None,
        context_tokens: int | None = None,
    ) -> None:
        """`clients` has one for each role; `sampling` is for roles that are drawn in another way than the rest."""
        missing = [role for role in ROLES if role not in clients]
        if missing:
            raise ValueError(f"no client for the roles {missing}: give one for each of {list(ROLES)}")
        self.clients = dict(clients)
        self.recorder = recorder
        self.name = name or clients["act"].model
        self.seed = seed
        self.context_tokens = context_tokens
        usual = Sampling(temperature, max_tokens)
        self._sampling = {role: (sampling or {}).get(role, usual) for role in ROLES}

    @property
    def paid(self) -> bool:
        """Whether any role's calls cost money."""
        return any(client.paid for client in self.clients.values())

    @property
    def unpriced(self) -> list[str]:
        """Models whose calls cost what nobody knows: a budget in dollars cannot be kept with them."""
        clients = self.clients.values()
        return sorted(
            {client.model for client in clients if client.paid and not getattr(client, "priced", True)}
        )

    def complete(
        self,
        messages: Sequence[Message],
        *,
        role: Role,
        schema: type[BaseModel] | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
    ) -> Reply:
        """See `agents.base.Backbone.complete`. `Reply.usage` holds both calls if one had to be repeated."""
        client, usual = self.clients[role], self._sampling[role]
        request = Request(
            model=client.model,
            messages=_storable(messages if schema is None else _asking(messages, schema)),
            role=role,
            temperature=usual.temperature if temperature is None else temperature,
            max_tokens=usual.max_tokens if max_tokens is None else max_tokens,
            seed=self.seed,
            schema=schema,
        )
        raw = self._reply(client, request)
        text, usage = clean(raw.text), raw.usage
        if schema is None:
            return Reply(text, usage=usage)
        try:
            return Reply(text, parse(text, schema), usage)
        except UnreadableReply as problem:
            again = replace(request, messages=(*request.messages, *_repair(text, _told(problem, raw))))
        raw = self._reply(client, again)
        text, usage = clean(raw.text), together(usage, raw.usage)
        try:
            return Reply(text, parse(text, schema), usage)
        except UnreadableReply as problem:
            raise MalformedReply(
                f"{client.model} gave no {schema.__name__} in two replies; of the last, {_told(problem, raw)}",
                text,
            ) from None

    def _reply(self, client: Client, request: Request) -> RawReply:
        raw = self.recorder(client, request)
        if raw.finish == "refused":
            raise Refusal(f"refused by {client.model}: {clean(raw.text)[:500]}")
        return raw


def _asking(messages: Sequence[Message], schema: type[BaseModel]) -> list[Message]:
    """`messages` with the form asked for at their end."""
    form = request_for(schema)
    if messages and messages[-1]["role"] == "user":
        return [*messages[:-1], user(f"{messages[-1]['content']}\n\n{form}")]
    return [*messages, user(form)]


def _told(problem: UnreadableReply, raw: RawReply) -> str:
    cut = f" (it was cut off at its limit of {raw.output_tokens} tokens)" if raw.finish == "length" else ""
    return f"{problem}{cut}"


def _repair(text: str, problem: str) -> tuple[Message, Message]:
    """What follows a reply that does not fit: the reply, and what was wrong with it."""
    shorter = " Be brief." if "cut off" in problem else ""
    return (
        assistant(_shortened(text) if text.strip() else "(empty)"),
        user(
            clean(f"That reply cannot be used: {problem}.\n")
            + "Reply again with one complete JSON object in the form asked for, and nothing else: no prose, no "
            f"comments, no trailing commas.{shorter}"
        ),
    )


def _shortened(text: str, limit: int = 8000) -> str:
    """A wrong reply as it is shown to its author again: at most `limit` characters of it [ours]."""
    return (
        text if len(text) <= limit else f"{text[:limit]}\n[... {len(text) - limit} characters left out ...]"
    )


def _storable(messages: Sequence[Message]) -> tuple[Message, ...]:
    return tuple({"role": message["role"], "content": clean(message["content"])} for message in messages)


def build(
    config: Mapping[str, Any],
    recorder: Recorder = unrecorded,
    tell: Tell = silent,
    *,
    seed: int = 0,
    require_keys: bool = True,
) -> Model:
    """The backbone that a configuration (a mapping as in configs/backbone) describes, its `roles` resolved.

    `tell` gets a line for each wait. `seed` is sent with each call and breaks the offline reader's ties. With
    `require_keys` False (a dry run), or `calls: replay`, keys may be missing. Raises SetupError naming what is
    wrong, the value and the remedy: an unset model, a missing key, an unknown field, kind, role or name.
    """
    usual = read_config(config)
    by_role = usual.by_role
    if require_keys and usual.calls != "replay":
        usual.require_keys()
    made: dict[int, Client] = {}
    for entry in by_role.values():
        if id(entry) not in made:
            made[id(entry)] = _client(entry, tell, seed)
    return Model(
        {role: made[id(entry)] for role, entry in by_role.items()},
        recorder,
        name=usual.name,
        seed=seed,
        sampling={role: Sampling(entry.temperature, entry.max_tokens) for role, entry in by_role.items()},
        context_tokens=usual.context_tokens,
    )


def _client(config: BackboneConfig, tell: Tell, seed: int) -> Client:
    if config.kind == "reader":
        from agents.reader.client import ReaderClient

        reader: Client = ReaderClient(seed)
        return reader
    if config.kind == "scripted":
        from agents.scripted import ScriptedClient

        return ScriptedClient(config.replies)
    from agents.litellm_client import LiteLLMClient
    from agents.prices import load_prices, with_price
    from agents.retry import RetryOptions

    prices = load_prices()
    if config.price is not None:
        prices = with_price(prices, config.model, config.price)
    return LiteLLMClient(
        model=config.model,
        provider=config.provider,
        api_base=config.api_base,
        api_key_env=config.key_variable,
        timeout=config.timeout,
        retry=RetryOptions(retries=config.retries),
        drop=config.drop,
        extra=config.extra,
        prices=prices,
        tell=tell,
    )
