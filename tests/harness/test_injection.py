"""How much memory an agent was shown: counted by hand on a short episode."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from agents import tokens
from agents.base import Step, Tool
from harness.injection import Budgeted, injection, within
from memories.base import Recall


def test_each_text_once_and_summed_over_the_calls_that_repeat_it() -> None:
    # "heat" and "water" are one token each in the bundled vocabulary.
    assert tokens.count("heat water") == 2 and tokens.count("cool") == 1
    steps = [
        Step("act", "", "look", "x"),  # call 1 reads the 2 tokens of the start
        Step("tool", "", "open(a)", "heat water cool"),  # call 2 reads 2; its reply adds 3
        Step("note", "", "", "cool"),  # adds 1 before call 3
        Step("act", "", "wait", "x"),  # call 3 reads 6
        Step("objection", "", "stop", "heat"),  # call 4 reads 6; the objection adds 1
        Step("malformed", "", "?", "unreadable"),  # call 5 reads 7
    ]
    size = injection("heat\n\nwater", steps)
    assert (size.tokens, size.lines, size.tokens_calls) == (2 + 3 + 1 + 1, 2 + 1 + 1 + 1, 2 + 2 + 6 + 6 + 7)
    assert injection("", steps[:1]).tokens_calls == 0


@pytest.mark.parametrize(
    ("limit", "kept"),
    [(5, "heat water\ncool water\nheat"), (4, "heat water\ncool water"), (3, "heat water"), (1, ""), (0, "")],
)
def test_a_cap_keeps_whole_lines(limit: int, kept: str) -> None:
    assert within("heat water\ncool water\nheat", limit) == kept


class Talking(Recall):
    """Says two lines before every step, and objects to everything."""

    def before_step(self, history: Sequence[Step]) -> str | None:
        return "cool water\nheat" if len(history) != 1 else None

    def check_action(self, action: str, history: Sequence[Step]) -> str | None:
        return "heat water"


def test_a_budget_holds_for_all_that_an_episode_is_shown() -> None:
    """12 tokens: 2 for the text, 3 for a note, 4 for a reply, 2 for an objection; then one is left."""
    recall = Talking("heat water", tools=[Tool("open", "open(x)", lambda x: f"{x}\n{x}")])
    guide = Budgeted(recall, 12)
    assert guide.text == "heat water"
    assert guide.before_step([]) == "cool water\nheat"
    assert guide.before_step([Step("act", "", "a", "b")]) is None
    (tool,) = guide.tools
    assert (tool.name, tool.call("heat water")) == ("open", "heat water\nheat water")
    assert guide.check_action("stop", []) == "heat water"
    assert guide.check_action("stop", []) is None, "an objection without its reason is none"
    assert guide.before_step([]) is None
    assert tool.call("cool") == "cool"
    assert tool.call("cool") == "(cut: memory.budget_tokens is used up)"
