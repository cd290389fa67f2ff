"""What an exception of litellm means for us: wait and try again, final for this call, or final for the run.

litellm's classes differ from provider to provider for the same fault, so the HTTP status and the provider's
words decide, and the classes only where they are sharper. Keys are removed from all that is told.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from agents.base import BackboneFailed, ContextOverflow, Refusal
from agents.retry import AccessFailed, Transient, retry_after
from agents.structured import clean

_OVERFLOW = re.compile(
    r"context_length_exceeded|maximum context length|context (?:window|limit|size|length)"
    r"|(?:prompt|input|request)(?: is| was)? too (?:long|large)|reduce the length of"
    r"|(?:input|prompt|token count).{0,40}exceeds? .{0,40}(?:maximum|limit)|max(?:imum)? input length",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"content[_ ](?:policy|filter|management policy)|responsible ?ai ?policy|safety system|moderation"
    r"|content exists risk|data_inspection_failed|flagged",
    re.IGNORECASE,
)
_NO_CREDIT = re.compile(
    r"insufficient[_ ](?:quota|balance|credits?|funds)|exceeded your current quota|billing|payment",
    re.IGNORECASE,
)
_COME_BACK = re.compile(r"(?:retry|try again) (?:in|after) ([\d.]+) ?(ms|s)\b", re.IGNORECASE)
_MASKED_KEY = re.compile(r"[\w-]*\*{3,}[\w*-]*")
_PREFIX = re.compile(r"^.*?Exception - |^(?:litellm\.)?\w+(?:Error|Timeout): ", re.DOTALL)
_NO_COMPLETION = re.compile(
    r"Received response - <APIResponse|Empty or invalid response from LLM endpoint|provider returned .{0,40}'choices'"
)
_UNREADABLE = re.compile(
    r"Invalid response object.*^[\w.]*(?:Error|Exception): (.*?)\s*(?:For further information.*)?^received_args=",
    re.DOTALL | re.MULTILINE,
)
_SHOWN = 500  # [ours] characters of a provider's text that are told
_PASSING = (408, 409, 425, 429)


class UnreadableCompletion(BackboneFailed):
    """A completion came, and was surely billed, but its fields are of a wrong type."""


@dataclass(frozen=True)
class Endpoint:
    """Whom a client asks, in the words its errors need."""

    model: str
    address: str
    """Where it listens, without credentials."""
    key_variable: str
    """Environment variable of the key; empty if there is none."""


def scrub(text: str, secrets: Sequence[str]) -> str:
    """`text` without the keys, whole or as providers mask them (`sk-a***z`)."""
    for key in secrets:
        if len(key) >= 8:
            text = text.replace(key, "[key]")
            text = _MASKED_KEY.sub(partial(_hidden, key=key), text)
    return text


def _hidden(found: re.Match[str], key: str) -> str:
    return "[key]" if _masks(found.group(), key) else found.group()


def _masks(shown: str, key: str) -> bool:
    """Whether `shown` is a key with stars in its middle."""
    first, last = shown.split("*")[0], shown.rsplit("*", 1)[-1]
    return bool(first or last) and key.startswith(first) and key.endswith(last)


def understand(error: Exception, endpoint: Endpoint, secrets: Sequence[str]) -> Exception:
    """The exception to raise for `error`: Transient, ContextOverflow, Refusal, AccessFailed or BackboneFailed."""
    kind = type(error).__name__
    if _NO_COMPLETION.search(str(error)):
        return Transient("a reply that is no completion")
    if unreadable := _UNREADABLE.search(str(error)):
        # Asked again, the server would most likely send the same, for the same price.
        reason = clean(scrub(" ".join(unreadable[1].split()), secrets))[:_SHOWN]
        return UnreadableCompletion(
            f"{endpoint.model} at {endpoint.address} sent a completion with fields of a wrong type: {reason}"
        )
    status = getattr(error, "status_code", None)
    status = status if isinstance(status, int) else None
    words = " ".join(clean(scrub(_words(str(error)), secrets)).split())[:_SHOWN] or kind
    told = f"{endpoint.model} at {endpoint.address}: {words}"
    code = str(getattr(error, "code", "") or "")
    if kind == "UnsupportedParamsError":
        refused = words.split(" To drop ")[0]
        return AccessFailed(
            f"{endpoint.model} takes other parameters: {refused} Remedy: set another value, or send none by "
            "backbone.drop=[temperature] (or seed, max_tokens)."
        )
    if status == 429 or kind == "RateLimitError":
        wait = _asked_wait(error)
        if wait is None:
            wait = _wait_in_words(words)
        # Gemini's rate limit speaks of quota and billing too, but says when to come back
        if code == "insufficient_quota" or (wait is None and _NO_CREDIT.search(words)):
            return AccessFailed(f"no credit left for {told}")
        if "request too large" in words.lower():
            return BackboneFailed(f"one request alone is over the rate limit of {told}")
        return Transient(f"429: {words}", wait)
    if kind == "ContextWindowExceededError" or code == "context_length_exceeded" or _OVERFLOW.search(words):
        return ContextOverflow(f"the request does not fit the context of {told}")
    if kind in ("ContentPolicyViolationError", "RejectedRequestError"):
        return Refusal(f"refused by {told}")
    if status in (400, 403, 422) and (code.startswith("content_") or _REFUSED.search(words)):
        return Refusal(f"refused by {told}")
    if kind == "Timeout":
        return Transient("no reply in time (backbone.timeout)")
    if status in (401, 403):
        remedy = f"set {endpoint.key_variable} to a valid key" if endpoint.key_variable else _NAME_A_KEY
        return AccessFailed(f"{status}, access denied to {told}. Remedy: {remedy}.")
    if status == 402:
        return AccessFailed(f"402, payment required by {told}")
    if status == 404:
        return AccessFailed(f"404, not found: {told}. Remedy: check backbone.model and backbone.api_base.")
    if status is None or status in _PASSING or status >= 500:
        return Transient(f"{status or kind}: {words}{_hint(words, endpoint)}", _asked_wait(error))
    return BackboneFailed(f"{status}, rejected by {told}")


def _words(text: str) -> str:
    """What the provider said, without litellm's prefix and out of an error body in JSON."""
    text = _PREFIX.sub("", text, count=1).strip()
    try:
        body = json.loads(text)["error"]
        return str(body["message"]) if not body.get("code") else f"{body['message']} ({body['code']})"
    except (ValueError, KeyError, TypeError, AttributeError):
        return text


_NAME_A_KEY = "name the variable that holds the key by backbone.api_key_env=..."


def _hint(words: str, endpoint: Endpoint) -> str:
    return f" (is a server running at {endpoint.address}?)" if words.startswith("Connection error") else ""


def _asked_wait(error: Exception) -> float | None:
    """The Retry-After of the response behind `error`, in seconds."""
    response = getattr(error, "response", None)
    for headers in (getattr(response, "headers", None), getattr(error, "litellm_response_headers", None)):
        wait = retry_after(headers.get("retry-after")) if headers else None
        if wait is not None:
            return wait
    return None


def _wait_in_words(words: str) -> float | None:
    """Seconds of a "try again in 1.5s" in a provider's text."""
    found = _COME_BACK.search(words)
    if not found:
        return None
    wait = retry_after(found.group(1))
    return wait / 1000 if wait is not None and found.group(2).lower() == "ms" else wait
