"""Any model that litellm reaches, one call at a time: our own retry, prices and states of failure around it.

litellm is imported with the first call (it takes seconds). Its retries, cache, callbacks, logging and price
tables stay off.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, reduce
from typing import Any

from agents import tokens
from agents.base import BackboneFailed, Usage
from agents.client import RawReply, Request, charged, together
from agents.credentials import from_environment, read_key, without_credentials
from agents.litellm_errors import Endpoint, UnreadableCompletion, scrub, understand
from agents.prices import PriceTable, load_prices
from agents.retry import RetryOptions, Tell, Transient, silent, with_retries
from agents.structured import clean


@dataclass
class LiteLLMClient:
    """Sends requests to one model through litellm. Holds the name of the key's variable, never the key."""

    model: str
    """As litellm names it (`provider/name`), or the server's own name where `provider` is given."""
    provider: str | None = None
    """litellm's name of the protocol; `openai` for any server that speaks it."""
    api_base: str | None = None
    """Address of the server, None for the provider's own."""
    api_key_env: str | None = None
    """Environment variable of the key, None for a server that wants none or if litellm finds credentials itself."""
    timeout: float = 120.0
    """Seconds to wait for a reply."""
    retry: RetryOptions = field(default_factory=RetryOptions)
    drop: Sequence[str] = ()
    """Parameters not to send: temperature, max_tokens or seed, for models that reject them."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Further parameters of the call, e.g. reasoning_effort. A text `env:NAME`, at any depth, stands for the
    variable NAME of the environment, for headers that hold a key."""
    prices: PriceTable = field(default_factory=load_prices, repr=False)
    tell: Tell = field(default=silent, repr=False)
    """Gets a line for each wait."""
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)
    paid: bool = True

    @property
    def endpoint(self) -> Endpoint:
        """Whom this client asks."""
        address = without_credentials(self.api_base) if self.api_base else "the provider's address"
        return Endpoint(self.model, address, self.api_key_env or "")

    @property
    def priced(self) -> bool:
        """Whether the price table knows this model."""
        return self.model in self.prices.prices

    def send(self, request: Request) -> RawReply:
        """The model's reply, after retries as configured; its tokens and cost include those of answers before
        it that could not be used.

        Raises SetupError (the key's variable is not set), ContextOverflow, Refusal, AccessFailed, BackboneFailed.
        """
        key = read_key(self.api_key_env, self.model)
        extra, more = from_environment(self.extra, self.model)
        secrets = (key, *more)
        last = request.messages[-1]["content"] if request.messages else ""
        wasted: list[Usage] = []
        try:
            reply, retries = with_retries(
                lambda: self._attempt(request, key, extra, secrets, wasted),
                self.retry,
                key=f"{request.model}\n{request.seed}\n{last}",
                sleep=self.sleep,
                tell=self.tell,
            )
        except BackboneFailed as failed:
            failed.billed = reduce(together, wasted) if wasted else None
            raise
        return replace(charged(reply, wasted), retries=retries)

    def _attempt(
        self,
        request: Request,
        key: str,
        extra: Mapping[str, Any],
        secrets: Sequence[str],
        wasted: list[Usage],
    ) -> RawReply:
        """One answer. What one that cannot be used has cost is added to `wasted` before this raises."""
        parameters: dict[str, Any] = {
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
            "seed": request.seed,
        }
        sent = {k: v for k, v in parameters.items() if v is not None and k not in self.drop}
        # without a key of its own, litellm would send the user's OPENAI_API_KEY to whatever server this is
        api_key = key or ("unused" if self.api_base else None)
        completion = _litellm().completion
        started = time.monotonic()
        try:
            response = completion(
                # litellm takes the first part off, also where a server's own name begins with `openai/`
                model=f"{self.provider}/{self.model}" if self.provider else self.model,
                messages=[dict(message) for message in request.messages],
                api_base=self.api_base,
                api_key=api_key,
                timeout=self.timeout,
                max_retries=0,
                num_retries=0,
                **sent,
                **extra,
            )
        except Exception as error:
            # `from None`: litellm's traceback may show the key
            failed = understand(error, self.endpoint, secrets)
            if isinstance(failed, UnreadableCompletion):
                wasted.append(self._usage(None, request, ""))
            raise failed from None
        if not response.choices:
            if getattr(response, "usage", None):
                wasted.append(self._usage(response.usage, request, ""))
            raise Transient("a reply without choices")
        reply = self._read(response, request, secrets, time.monotonic() - started)
        if not reply.text.strip() and reply.finish != "length":
            wasted.append(reply.usage)
            raise Transient("an empty reply")
        return reply

    def _read(self, response: Any, request: Request, secrets: Sequence[str], seconds: float) -> RawReply:
        """A completion with at least one choice as ours."""
        choice = response.choices[0]
        finish = str(choice.finish_reason or "stop")
        text = clean(scrub(choice.message.content or "", secrets))
        reasoning = clean(scrub(getattr(choice.message, "reasoning_content", None) or "", secrets)).strip()
        if not reasoning:
            reasoning, text = split_reasoning(text)
        if reasoning:
            text = text.lstrip()
        refusal = getattr(choice.message, "refusal", None)
        if finish == "content_filter" or (refusal and not text):
            text, finish = clean(scrub(str(refusal or text or finish), secrets)), "refused"
        if finish == "length" and not text.strip():
            self.tell(
                f"{self.model} used up max_tokens={request.max_tokens} before it said anything (its reasoning "
                "counts too): more room would be a larger backbone.max_tokens, in a run of its own"
            )
        usage = self._usage(getattr(response, "usage", None), request, text + reasoning)
        return RawReply(
            text=text,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cached_tokens=usage.cached_tokens,
            cost=usage.cost,
            estimated=usage.estimated,
            seconds=seconds,
            model=clean(scrub(str(response.model or ""), secrets)),
            reasoning=reasoning,
            finish=finish,
        )

    def _usage(self, given: Any, request: Request, said: str) -> Usage:
        counts = read_usage(given, request, said)
        cost = self.prices.cost(self.model, counts.input_tokens, counts.output_tokens, counts.cached_tokens)
        return replace(counts, cost=cost)


_MOST_TOKENS = 10**9
"""[ours] A count above this is no count of one call."""


def read_usage(usage: Any, request: Request, said: str) -> Usage:
    """The provider's counts, without a cost; what it left out, gave as zero or beyond reason is counted by the
    bundled tokenizer instead."""
    read = int(getattr(usage, "prompt_tokens", 0) or 0)
    written = int(getattr(usage, "completion_tokens", 0) or 0)
    details = getattr(usage, "prompt_tokens_details", None)
    cached = int(getattr(details, "cached_tokens", 0) or 0)
    read, written = (count if 0 < count <= _MOST_TOKENS else 0 for count in (read, written))
    estimated = not (read and written)
    read = read or sum(tokens.count(message["content"]) for message in request.messages)
    written = written or tokens.count(said)
    return Usage(read, written, max(0, min(cached, read)), estimated=estimated)


def split_reasoning(text: str) -> tuple[str, str]:
    """Reasoning and reply of a text from a server that leaves `<think>...</think>` in it.

    Some templates write the opening mark into the prompt, so that only the closing one is in the reply.
    A reply that was cut off while thinking is reasoning only.
    """
    opened = text.lstrip().startswith("<think>")
    if "</think>" not in text:
        return (text, "") if opened else ("", text)
    if not opened and "<think>" in text:
        return "", text
    reasoning, _, rest = text.partition("</think>")
    return reasoning.replace("<think>", "", 1).strip(), rest


@lru_cache(maxsize=1)
def _litellm() -> Any:
    """litellm, imported and silenced."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else importing it fetches a table from the network
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")  # else it reads a .env file that happens to be there
    import logging
    import warnings

    import litellm

    # of each reply with a field that OpenAI's own class does not know
    warnings.filterwarnings("ignore", message="Pydantic serializer warnings")

    litellm.suppress_debug_info = True
    litellm.drop_params = False  # a temperature must not be dropped in silence; see `drop`
    litellm.modify_params = False
    litellm.turn_off_message_logging = True
    litellm.cache = None
    for hooks in (
        "callbacks",
        "input_callback",
        "success_callback",
        "failure_callback",
        "_async_success_callback",
    ):
        setattr(litellm, hooks, [])
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "httpx", "openai"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return litellm
