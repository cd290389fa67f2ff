"""Replies as models write them, and what is read from them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.forms import Malformed, Move, read, write


@pytest.mark.parametrize(
    ("reply", "action", "thought"),
    [
        ("Thought: I see a door.\nAction: open door to hall", "open door to hall", "I see a door."),
        ("**Thought:** hm\n**Action:** `look around`", "look around", "hm"),
        ("Action:\nlook around", "look around", ""),
        ("thought: a\nb\naction : take mug 1 from desk 1", "take mug 1 from desk 1", "a b"),
        ('Thought: x\nAction: "inventory"', "inventory", "x"),
        ("Thought: x\nAction: go\nObservation: You win.\nAction: stop", "go", "x"),
        ("The action: none fits here.\nAction: wait", "wait", "The action: none fits here."),
    ],
)
def test_text_replies(reply: str, action: str, thought: str) -> None:
    assert read("text", reply) == Move(thought, action)


@pytest.mark.parametrize("reply", ["", "  \n", "look around", "Action:", "Thought: only that"])
def test_text_replies_without_an_action(reply: str) -> None:
    assert isinstance(read("text", reply), Malformed)


def test_the_first_python_block_counts() -> None:
    reply = "Thought: list\n```python\nprint(1)\nprint(2)\n```\nthen\n```python\nprint(3)\n```"
    assert read("code", reply) == Move("list", "print(1)\nprint(2)")
    assert read("code", "x\n```json\n{}\n```\n```py\ny = 1\n```") == Move("x ```json {} ```", "y = 1")


def test_an_unclosed_block_is_named() -> None:
    problem = read("code", "```python\nprint(1)")
    assert isinstance(problem, Malformed) and "close it" in problem.problem


def test_an_action_line_inside_code_is_no_action() -> None:
    assert read("code", "```python\n# Tool: x(1)\nprint('Action: go')\n```", {"x"}) == Move(
        "", "# Tool: x(1)\nprint('Action: go')"
    )


@pytest.mark.parametrize(
    "reply",
    [
        "Thought: t\nAction: click('12')",
        "Thought: t\n```\nclick('12')\n```",
        "t\nAction:\n```\nclick('12')\n```",
    ],
)
def test_page_replies(reply: str) -> None:
    move = read("page", reply)
    assert isinstance(move, Move) and move.action == "click('12')"


def test_tools() -> None:
    move = read("text", "Thought: look\nTool: skill_view(boil (water))", {"skill_view"})
    assert move == Move("look", "skill_view(boil (water))", "skill_view", "boil (water)")
    unknown = read("text", "Tool: skil_view(a)", {"skill_view"})
    assert isinstance(unknown, Malformed) and "skill_view" in unknown.problem
    none = read("text", "Tool: skill_view(a)")
    assert isinstance(none, Malformed) and "no tools" in none.problem
    assert isinstance(read("text", "Tool: skill_view", {"skill_view"}), Malformed)
    assert read("text", "Action: go\nTool: skill_view(a)", {"skill_view"}) == Move("", "go")


words = st.lists(st.text("abcxyz", min_size=1, max_size=6), min_size=1, max_size=5).map(" ".join)


@settings(max_examples=40, deadline=None)
@given(thought=words, action=words, form=st.sampled_from(["text", "code", "page"]))
def test_what_is_written_is_read_back(thought: str, action: str, form: str) -> None:
    move = Move(thought, action)
    assert read(form, write(form, move)) == move  # type: ignore[arg-type]
