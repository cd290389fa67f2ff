"""The client over real litellm, against a local server that speaks the OpenAI protocol and fails on demand."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import traceback
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest

from agents import tokens
from agents.base import BackboneFailed, ContextOverflow, Refusal
from agents.client import RawReply, Request
from agents.litellm_client import LiteLLMClient
from agents.prices import Price, PriceTable
from agents.prompts import system, user
from agents.retry import AccessFailed, RetryOptions
from envs.base import SetupError
from tests.agents.openai_server import DROP, Chat, Fault, Item, OpenAIServer, Slow, error

KEY = "sk-test-4f9a8b7c6d5e"
PRICES = PriceTable("2026-01-01", {"served": Price(input=2.0, cached=0.5, output=8.0)})
REQUEST = Request("served", (system("Be brief."), user("Say hello.")), "act", 0.25, 64, seed=5)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTRIAL_TEST_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-user-for-openai")


class Waits:
    """Stands in for sleeping: notes how long it would have been, and what was told."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.told: list[str] = []


def client(server: OpenAIServer, waits: Waits | None = None, **options: Any) -> LiteLLMClient:
    waits = waits or Waits()
    usual: dict[str, Any] = {
        "model": "served",
        "provider": "openai",
        "api_base": server.url,
        "api_key_env": "MEMTRIAL_TEST_KEY",
        "prices": PRICES,
        "tell": waits.told.append,
        "sleep": waits.seconds.append,
        "retry": RetryOptions(retries=2),
    }
    return LiteLLMClient(**{**usual, **options})


def sent(*items: Item, **options: Any) -> RawReply:
    """The reply to one request to a server with this script."""
    with OpenAIServer(items) as server:
        return client(server, **options).send(REQUEST)


def test_what_is_sent_and_what_comes_back() -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050}
    usage["prompt_tokens_details"] = {"cached_tokens": 400}  # type: ignore[assignment]
    with OpenAIServer(
        [Chat("Hello.", usage, message={"reasoning_content": "They want a greeting."})]
    ) as server:
        reply = client(server).send(REQUEST)
    assert server.requests == [
        {
            "model": "served",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Say hello."},
            ],
            "temperature": 0.25,
            "max_tokens": 64,
            "seed": 5,
        }
    ]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert (reply.text, reply.reasoning, reply.finish) == ("Hello.", "They want a greeting.", "stop")
    assert (reply.input_tokens, reply.cached_tokens, reply.output_tokens) == (1000, 400, 50)
    assert not reply.estimated
    assert reply.model == "served-model-2026"
    # 600 at $2, 400 at $0.50 and 50 at $8 a million
    assert reply.cost == pytest.approx(0.0018)
    assert reply.retries == 0
    assert reply.seconds > 0


def test_a_rate_limit_is_waited_out_as_asked() -> None:
    waits = Waits()
    with OpenAIServer([Fault(429, error("slow down"), {"Retry-After": "12"}), "fine"]) as server:
        reply = client(server, waits).send(REQUEST)
    assert (reply.text, reply.retries) == ("fine", 1)
    assert waits.seconds == [12.0]
    assert waits.told == ["waiting 12 s: 429: slow down (retry 1 of 2)"]


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("Rate limit reached for served on tokens per min. Please try again in 1.5s. Visit the docs.", 1.5),
        ("Rate limit reached. Please try again in 250ms.", 0.25),
        ("You exceeded your current quota, please check your plan and billing. Please retry in 34.5s.", 34.5),
    ],
)
def test_a_wait_that_is_asked_for_in_words_is_kept(words: str, seconds: float) -> None:
    waits = Waits()
    with OpenAIServer([Fault(429, error(words)), "fine"]) as server:
        client(server, waits).send(REQUEST)
    assert waits.seconds == [seconds]


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (Fault(429, error("slow down")), "429: slow down"),
        (Fault(500, error("oops")), "500: oops"),
        (Fault(502, "<html>Bad Gateway</html>"), "502"),
        (Fault(503, error("overloaded")), "503: overloaded"),
        (Fault(408, error("too slow")), "408|no reply in time"),
        (DROP, "Connection error"),
        (Chat(""), "an empty reply"),
        (Chat(" \n"), "an empty reply"),
        (Chat(None), "an empty reply"),
        (Fault(200, "this is no JSON"), "a reply that is no completion"),
        (Fault(200, {"choices": []}), "a reply without choices"),
        (Fault(200, {"unexpected": 1}), "a reply that is no completion"),
    ],
)
def test_what_may_pass_is_tried_again_after_growing_waits(fault: Item, told: str) -> None:
    import re

    waits = Waits()
    with OpenAIServer([fault, fault, "fine"]) as server:
        reply = client(server, waits).send(REQUEST)
    assert (reply.text, reply.retries, len(server.requests)) == ("fine", 2, 3)
    assert 0.5 <= waits.seconds[0] <= 1 <= waits.seconds[1] <= 2
    assert all(re.search(told, line) for line in waits.told), waits.told
    assert server.requests[0] == server.requests[2]


@pytest.mark.filterwarnings("ignore:Pydantic serializer")  # pytest sets its own filters
@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"usage": {"prompt_tokens": 3.5, "completion_tokens": 2, "total_tokens": 6}}, "prompt_tokens"),
        ({"usage": "lots"}, "must be a mapping, not str"),
        ({"choices": [{"index": 0, "message": {"role": "assistant", "content": 5}}]}, "valid string"),
    ],
)
def test_a_completion_with_fields_of_a_wrong_type_is_told_in_a_line_and_paid_once(
    wrong: dict[str, Any], told: str
) -> None:
    message = {"role": "assistant", "content": "hi"}
    fine = {"id": "x", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}  # fmt: skip
    with (
        OpenAIServer([Fault(200, {**fine, **wrong}), "fine"]) as server,
        pytest.raises(BackboneFailed, match="fields of a wrong type") as raised,
    ):
        client(server).send(REQUEST)
    assert told in str(raised.value) and "Traceback" not in str(raised.value)
    # it was surely billed: the request is counted by the bundled tokenizer
    assert raised.value.billed is not None and raised.value.billed.input_tokens == 6
    assert raised.value.billed.estimated
    assert len(server.requests) == 1


def test_a_timeout_is_tried_again() -> None:
    waits = Waits()
    with OpenAIServer([Slow(1.5), "fine"]) as server:
        reply = client(server, waits, timeout=0.4).send(REQUEST)
    assert (reply.text, reply.retries) == ("fine", 1)
    assert "no reply in time" in waits.told[0]


def test_used_up_retries_are_a_failure_that_says_what_came_last() -> None:
    with OpenAIServer([Fault(500, error("oops"))] * 9) as server, pytest.raises(BackboneFailed) as raised:
        client(server).send(REQUEST)
    assert "after 3 attempts" in str(raised.value)
    assert "oops" in str(raised.value)
    assert len(server.requests) == 3


def test_a_dead_endpoint_is_named() -> None:
    with OpenAIServer() as server:
        dead = client(server)
    with pytest.raises(BackboneFailed, match=r"is a server running at http://127\.0\.0\.1:\d+/v1"):
        dead.send(REQUEST)


OVERFLOWS = [
    Fault(400, error("This model's maximum context length is 10 tokens.", "context_length_exceeded")),
    Fault(400, error("Please reduce the length of the messages or completion.")),
    Fault(400, error("The prompt is too long: 9000 tokens > 8000")),
    Fault(400, error("input length and max_tokens exceed context limit: 9 + 9 > 10")),
    Fault(413, error("The input is too long for this model.")),
    Fault(500, error("the request exceeds the available context size")),
]
REFUSALS: list[Item] = [
    Fault(400, error("Your request was rejected by our safety system", "content_policy_violation")),
    Fault(400, error("Content Exists Risk")),
    Fault(403, error("The model requires moderation and your input was flagged")),
    Fault(400, error("The response was filtered", "content_filter")),
]
REFUSING_REPLIES = [
    (Chat("", finish="content_filter"), "content_filter"),
    (Chat("Half of it", finish="content_filter"), "Half of it"),
    (Chat(None, message={"refusal": "I cannot help with that."}), "I cannot help with that."),
]
FOR_THE_USER: list[Item] = [
    Fault(401, error("Incorrect API key provided")),
    Fault(403, error("Country not supported")),
    Fault(404, error("The model `served` does not exist")),
    Fault(402, error("Insufficient Balance")),
    Fault(429, error("You exceeded your current quota", "insufficient_quota")),
]


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        *((fault, ContextOverflow) for fault in OVERFLOWS),
        *((fault, Refusal) for fault in REFUSALS),
        *((fault, AccessFailed) for fault in FOR_THE_USER),
        (Fault(400, error("temperature must be at most 1")), BackboneFailed),
        (Fault(422, error("messages: field required")), BackboneFailed),
        (Fault(429, error("Request too large for served: Limit 30000, Requested 40000")), BackboneFailed),
    ],
)
def test_what_cannot_pass_is_asked_once(fault: Item, kind: type[Exception]) -> None:
    waits = Waits()
    with OpenAIServer([fault, "never"]) as server, pytest.raises(BackboneFailed) as raised:
        client(server, waits).send(REQUEST)
    assert type(raised.value) is kind
    assert len(server.requests) == 1
    assert waits.seconds == []


@pytest.mark.parametrize(
    ("fault", "remedy"),
    [
        (FOR_THE_USER[0], "MEMTRIAL_TEST_KEY"),
        (FOR_THE_USER[2], r"backbone\.model and backbone\.api_base"),
    ],
)
def test_errors_name_the_remedy(fault: Item, remedy: str) -> None:
    with pytest.raises(BackboneFailed, match=remedy):
        sent(fault)


@pytest.mark.parametrize(("chat", "words"), REFUSING_REPLIES)
def test_a_refusal_that_came_as_a_reply_is_a_reply_with_its_cost(chat: Chat, words: str) -> None:
    with OpenAIServer([chat, "never"]) as server:
        reply = client(server).send(REQUEST)
    assert (reply.finish, reply.text, len(server.requests)) == ("refused", words, 1)
    assert (reply.input_tokens, reply.output_tokens) == (11, 7)
    assert reply.cost == pytest.approx((11 * 2 + 7 * 8) / 1e6)


@pytest.mark.parametrize("text", ["", None, "<think>It is"])
def test_a_reply_whose_thinking_took_all_its_tokens_is_a_reply_and_told(text: str | None) -> None:
    waits = Waits()
    with OpenAIServer([Chat(text, finish="length"), "never"]) as server:
        reply = client(server, waits).send(REQUEST)
    assert (reply.text, reply.finish, reply.output_tokens, len(server.requests)) == ("", "length", 7, 1)
    assert "used up max_tokens=64" in waits.told[0] and "larger backbone.max_tokens" in waits.told[0]


def test_empty_replies_count_with_the_one_that_follows() -> None:
    read_twice = {"prompt_tokens": 20, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 8}}
    reply = sent(Chat(""), Chat("", read_twice), Chat("fine"))
    assert (reply.text, reply.retries) == ("fine", 2)
    assert (reply.input_tokens, reply.cached_tokens, reply.output_tokens) == (11 + 20 + 11, 8, 7 + 1 + 7)
    assert reply.cost == pytest.approx(((42 - 8) * 2 + 8 * 0.5 + 15 * 8) / 1e6)


@pytest.mark.parametrize(
    ("script", "billed"),
    [
        ([Chat("")] * 3, (33, 21)),
        ([Chat(""), Fault(500, error("oops")), Fault(500, error("oops"))], (11, 7)),
        ([Chat(""), Fault(401, error("Incorrect API key provided"))], (11, 7)),
        ([Fault(500, error("oops"))] * 3, None),
        ([Fault(400, error("Content Exists Risk"))], None),
        ([Fault(200, {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [],
                      "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}})] * 3, (15, 6)),
    ],
)  # fmt: skip
def test_a_failure_says_what_the_answers_before_it_cost(
    script: list[Item], billed: tuple[int, int] | None
) -> None:
    with pytest.raises(BackboneFailed) as raised:
        sent(*script)
    usage = raised.value.billed
    assert (usage and (usage.input_tokens, usage.output_tokens)) == billed


def test_a_reply_that_was_cut_off_says_so() -> None:
    assert sent(Chat("Once upon a", finish="length")).finish == "length"


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
        {"prompt_tokens": 10**30, "completion_tokens": -5, "total_tokens": 0},
    ],
)
def test_missing_usage_is_an_estimate_and_marked(usage: dict[str, Any] | None) -> None:
    reply = sent(Chat("hello there", usage))
    assert reply.estimated
    # WordPiece: be|brief|. and say|hello|. are 6 tokens, hello|there are 2
    assert (reply.input_tokens, reply.output_tokens) == (6, 2)
    assert reply.cost == pytest.approx((6 * 2 + 2 * 8) / 1e6)
    assert tokens.count("hello there") == 2


def test_more_cached_than_read_is_not_believed() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 99}}
    assert sent(Chat("x", usage)).cached_tokens == 10


def test_an_unknown_price_is_unknown() -> None:
    assert sent("x", model="nobody-knows").cost is None


def test_parameters_that_a_model_rejects_can_be_left_out_and_others_added() -> None:
    with OpenAIServer(["x"]) as server:
        client(server, drop=["seed", "temperature"], extra={"top_p": 0.5}).send(REQUEST)
    assert "seed" not in server.requests[0]
    assert "temperature" not in server.requests[0]
    assert server.requests[0]["top_p"] == 0.5
    assert server.requests[0]["max_tokens"] == 64


def test_a_temperature_is_never_dropped_in_silence() -> None:
    with OpenAIServer(["x"]) as server, pytest.raises(AccessFailed, match=r"backbone\.drop=\[temperature\]"):
        client(server, model="o3").send(REQUEST)
    assert server.requests == []


def test_the_servers_own_name_may_look_like_a_provider() -> None:
    with OpenAIServer(["x", "x"]) as server:
        client(server, model="openai/gpt-oss-20b").send(REQUEST)
        client(server, model="openai/plain", provider=None).send(REQUEST)
    assert [body["model"] for body in server.requests] == ["openai/gpt-oss-20b", "plain"]


@pytest.mark.parametrize(
    ("text", "reasoning", "reply"),
    [
        ("<think>\nIt is cold.\n</think>\n\nAction: wait", "It is cold.", "Action: wait"),
        ("It is cold.\n</think>\n\nAction: wait", "It is cold.", "Action: wait"),
        ("Action: say <think>a</think>", "", "Action: say <think>a</think>"),
        ("Action: wait", "", "Action: wait"),
    ],
)
def test_thoughts_that_a_server_leaves_in_the_text_are_kept_apart(
    text: str, reasoning: str, reply: str
) -> None:
    got = sent(text)
    assert (got.reasoning, got.text) == (reasoning, reply)


def test_half_surrogates_of_a_reply_are_replaced() -> None:
    reply = sent(Chat("bad \ud800 half", message={"reasoning_content": "\udc00"}))
    assert (reply.text, reply.reasoning) == ("bad \ufffd half", "\ufffd")


# Keys


def test_a_missing_key_is_named_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMTRIAL_TEST_KEY")
    with OpenAIServer(["x"]) as server, pytest.raises(SetupError, match=r"MEMTRIAL_TEST_KEY.*is not set"):
        client(server).send(REQUEST)
    assert server.requests == []


def test_a_header_with_a_key_is_named_by_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTRIAL_TEST_HEADER", "Token 9c8b7a6f5e4d")
    headers = {"extra_headers": {"X-Gateway": "env:MEMTRIAL_TEST_HEADER", "X-Plain": "yes"}}
    with OpenAIServer([Chat("you sent Token 9c8b7a6f5e4d"), "x"]) as server:
        asking = client(server, extra=headers)
        reply = asking.send(REQUEST)
        sent = {name.lower(): value for name, value in server.headers[0].items()}
        assert (sent["x-gateway"], sent["x-plain"]) == ("Token 9c8b7a6f5e4d", "yes")
        assert reply.text == "you sent [key]" and "9c8b7a6f5e4d" not in repr(asking)
        monkeypatch.delenv("MEMTRIAL_TEST_HEADER")
        with pytest.raises(SetupError, match=r"MEMTRIAL_TEST_HEADER, which backbone\.extra names"):
            asking.send(REQUEST)


def test_a_server_without_a_key_does_not_get_somebody_elses() -> None:
    with OpenAIServer(["x"]) as server:
        client(server, api_key_env=None).send(REQUEST)
    assert "sk-of-the-user" not in json.dumps(server.headers)


def raised_by(*items: Item) -> BaseException:
    with OpenAIServer(items) as server, pytest.raises(BackboneFailed) as raised:
        client(server, retry=RetryOptions(retries=0)).send(REQUEST)
    return raised.value


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
def test_a_key_that_the_provider_echoes_is_in_no_error(status: int) -> None:
    failure = raised_by(Fault(status, error(f"Incorrect API key provided: {KEY}, or sk-tes*********6d5e.")))
    shown = "".join(traceback.format_exception(failure)) + repr(failure)
    for part in (KEY, "4f9a", "6d5e", "sk-tes"):
        assert part not in shown
    assert "[key]" in str(failure)


def test_stars_that_hide_no_key_stay() -> None:
    assert "**bold** and *** and a****b" in str(raised_by(Fault(500, error("**bold** and *** and a****b"))))


def test_the_key_is_in_neither_reply_nor_client_nor_request() -> None:
    reply = sent(Chat(f"your key is {KEY}", model=f"m-{KEY}"))
    assert KEY not in json.dumps(asdict(reply))
    with OpenAIServer(["x"]) as server:
        one = client(server, tell=print, sleep=print)
        one.send(REQUEST)
        assert KEY not in repr(one) + repr(vars(one)) + repr(REQUEST)
        assert KEY.encode() not in pickle.dumps({k: v for k, v in vars(one).items() if k != "prices"})


def test_credentials_in_an_address_are_not_shown() -> None:
    with OpenAIServer([FOR_THE_USER[2]]) as server, pytest.raises(BackboneFailed) as raised:
        address = server.url.replace("http://", "http://ann:secret@")
        client(server, api_base=address).send(REQUEST)
    assert "secret" not in str(raised.value)


def test_nothing_is_printed_or_logged(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    raised_by(Fault(400, error("no")))
    sent("x")
    assert capfd.readouterr() == ("", "")
    assert caplog.text == ""


def test_litellm_is_imported_late_and_without_the_network() -> None:
    """Importing the backbone brings in no heavy library; the first call sets what litellm reads at its import."""
    code = (
        "import sys, agents.backbone, agents.litellm_client\n"
        "assert not {'litellm', 'httpx', 'openai', 'tokenizers', 'hydra'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    import os

    from agents.litellm_client import _litellm

    module = _litellm()
    assert os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] == "True"
    assert (module.callbacks, module.success_callback, module.failure_callback, module.cache) == (
        [],
        [],
        [],
        None,
    )
    assert module.drop_params is False


def test_functions_of_the_body_can_answer() -> None:
    def echo(body: dict[str, Any]) -> Item:
        return Chat(body["messages"][-1]["content"].upper())

    answer: Callable[[dict[str, Any]], Item] = echo
    with OpenAIServer(answer) as server:
        assert client(server).send(REQUEST).text == "SAY HELLO."
