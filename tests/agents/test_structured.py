"""Forms in words, and replies read back: whatever surrounds the JSON, never repaired JSON."""

from __future__ import annotations

import json
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from agents.prompts import blocks
from agents.structured import UnreadableReply, clean, describe, parse, request_for


class Verdict(BaseModel):
    outcome: Literal["success", "failure"] = Field(description="Whether the task was done.")
    reason: str = Field(default="", max_length=200)


class Item(BaseModel):
    """For programmers: not part of the prompt."""

    title: str = Field(description="A short\n   name.")
    steps: list[str] = []


class Lessons(BaseModel):
    items: list[Item] = Field(default=[], max_length=3, description="What to keep.")
    weight: float = Field(default=0, ge=0, le=1)


class Tree(BaseModel):
    name: str
    below: list[Tree] = []


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")
    answer: int


GOOD = '{"outcome": "success", "reason": "it said so"}'


@pytest.mark.parametrize(
    "reply",
    [
        GOOD,
        f"\n\n  {GOOD}\n",
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}\n```",
        f"Let me see.\n\n```json\n{GOOD}\n```\nThat is all.",
        f"The verdict is {GOOD} since it ended.",
        f"I use {{braces}} and [brackets] at times. {GOOD}",
        f"An open {{ brace, an open [ bracket. {GOOD}",
        f'<think>Perhaps {{"outcome": "failure"}}?</think>\n{GOOD}',
        f"{GOOD}\n\nIn code that is `{{}}`.",
        f'{GOOD}\nA note: {{"unrelated": 1}}',
        json.dumps(json.loads(GOOD), indent=4),
    ],
)
def test_a_json_object_is_found_in_what_surrounds_it(reply: str) -> None:
    assert parse(reply, Verdict) == Verdict(outcome="success", reason="it said so")


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("", "no JSON object"),
        ("I think it was a success.", "no JSON object"),
        ('{"outcome": "success",}', "not valid JSON"),
        ("{'outcome': 'success'}", "not valid JSON"),
        ('{"outcome": "success" // yes\n}', "not valid JSON"),
        ('{"outcome": "success", "reason": "it', "not valid JSON"),
        ('{"outcome": "success", "reason": NaN}', "not valid JSON"),
        ('{"outcome": "partly"}', r"outcome: .*'success' or 'failure' \(got 'partly'\)"),
        ('{"reason": "none"}', "outcome: Field required"),
        (f"[{GOOD}]", "a list, but one object"),
        ('"success"', "no JSON object"),
        (json.dumps({"outcome": "success", "reason": "x" * 201}), "reason: .*200 characters"),
        ("{" * 100_000, "no JSON object"),
        ('{"a":' * 50_000, "not valid JSON"),
        ('{"outcome": "success", "reason": ' + "9" * 6000 + "}", "not valid JSON|reason"),
    ],
)
def test_what_does_not_fit_is_said_and_not_repaired(reply: str, problem: str) -> None:
    with pytest.raises(UnreadableReply, match=problem) as raised:
        parse(reply, Verdict)
    assert len(str(raised.value)) < 1000


def test_a_part_of_a_broken_object_is_not_taken_for_the_reply() -> None:
    """Every field of Lessons is optional, so an inner object would fit it."""
    for broken in (
        '{"items": [{"title": "a", "steps": []},], "weight": 1}',
        '{"items": [{"title": "a", "steps": []}, {"title": "b',
        'Here: [{"title": "a"}, {"title": "b"}]',
    ):
        with pytest.raises(UnreadableReply):
            parse(broken, Lessons)


def test_nested_lists_and_code_in_strings() -> None:
    code = "```python\nprint({'a': [1]})\n```"
    reply = (
        "```json\n"
        + json.dumps({"items": [{"title": 'say "{"', "steps": [code, "}"]}], "weight": 0.5})
        + "\n```"
    )
    assert parse(reply, Lessons) == Lessons(items=[Item(title='say "{"', steps=[code, "}"])], weight=0.5)


def test_at_most_five_problems_are_told() -> None:
    reply = json.dumps({"items": [{"title": 1}, {}, {}], "weight": 7})
    with pytest.raises(UnreadableReply) as raised:
        parse(reply, Lessons)
    assert str(raised.value).startswith("items.0.title: ")
    assert "items.1.title: Field required" in str(raised.value)
    many = {"items": [], "weight": "x", "name": 3, "below": [{} for _ in range(9)]}
    with pytest.raises(UnreadableReply, match="and 5 more"):
        parse(json.dumps(many), Tree)


def test_forms_that_forbid_more_say_so() -> None:
    assert parse('{"answer": 4}', Strict).answer == 4
    with pytest.raises(UnreadableReply, match=r"more: .*not permitted"):
        parse('{"answer": 4, "more": 1}', Strict)


def test_a_form_in_words() -> None:
    assert describe(Verdict).splitlines() == [
        "A JSON object with these fields:",
        '- "outcome": "success" or "failure". Whether the task was done.',
        '- "reason" (optional): text, at most 200 characters.',
    ]
    assert describe(Lessons).splitlines()[1:] == [
        '- "items" (optional): a list of at most 3, each an object. What to keep. Fields of each:',
        '  - "title": text. A short name.',
        '  - "steps" (optional): a list, each text.',
        '- "weight" (optional): a number, at least 0 and at most 1.',
    ]
    assert "programmers" not in describe(Lessons)
    assert describe(Tree).splitlines()[1:] == [
        '- "name": text.',
        '- "below" (optional): a list, each an object with the same fields as the one that holds it.',
    ]


def test_the_request_is_a_block_that_can_be_read_back() -> None:
    request = request_for(Verdict)
    assert blocks(request) == {"reply_form": [describe(Verdict)]}
    assert request.endswith("Reply with one JSON object and nothing else.")


def test_half_surrogates_never_get_through() -> None:
    assert clean("plain é 漢") == "plain é 漢"
    assert clean("a\ud800b") == "a\ufffdb"
    assert clean("\ud83d\ude00") == "😀"
    found = parse('{"outcome": "success", "reason": "x \\ud800 y \\ud83d\\ude00"}', Verdict)
    assert found.reason == "x \ufffd y 😀"


words = st.text(st.characters(blacklist_categories=["Cs"]), max_size=60)


@given(before=words.filter(lambda text: "{" not in text and "[" not in text), reason=words, after=words)
@settings(max_examples=60)
def test_any_text_before_and_within(before: str, reason: str, after: str) -> None:
    """Any prose before (without opening brackets) and any string within: the same object comes back."""
    after = after.replace("{", "").replace("[", "")
    reply = before + json.dumps({"outcome": "failure", "reason": reason}, ensure_ascii=False) + after
    assert parse(reply, Verdict) == Verdict(outcome="failure", reason=reason)


@given(st.text(st.sampled_from('{}[]",:\\ \n`a1'), max_size=80))
@settings(max_examples=100)
def test_any_text_parses_or_explains(text: str) -> None:
    try:
        parse(text, Strict)
    except UnreadableReply as problem:
        assert str(problem)
