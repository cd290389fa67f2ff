"""How much memory an agent was shown: counted by hand on a short episode."""

from __future__ import annotations

from agents import tokens
from agents.base import Step
from harness.injection import cap, injection
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


def test_a_cap_keeps_whole_lines() -> None:
    recall = Recall("heat water\ncool water\nheat")
    cap(recall, None)
    assert recall.text == "heat water\ncool water\nheat"
    cap(recall, 4)
    assert recall.text == "heat water\ncool water"
    cap(recall, 1)
    assert recall.text == ""
