"""The judge: what it is shown, and what becomes of its replies."""

from __future__ import annotations

import pytest

from agents.base import BackboneFailed, Episode, MalformedReply, Step, Verdict
from agents.judge import Judge
from agents.prompts import blocks
from envs.base import Task
from tests.agents.worlds import Replies

EPISODE = Episode(
    Task(7, "Boil water."),
    "A kitchen.",
    (
        Step("note", "", "", "SECRET note"),
        Step("act", "heat it", "activate stove", "The stove is now on."),
        Step("tool", "", "recall(x)", "SECRET tool"),
        Step("objection", "", "wait", "SECRET objection"),
        Step("look_up", "", "check valid actions", "wait"),
    ),
    "step_limit",
)


def test_the_verdict_is_a_field() -> None:
    backbone = Replies(['{"reason": "It was unsuccessful, no success.", "outcome": "failure"}'])
    assert Judge(backbone).read(EPISODE) == Verdict("failure", "It was unsuccessful, no success.")
    assert backbone.roles == ["judge"] and backbone.temperatures == [0.0]


def test_it_reads_the_episode_and_nothing_of_a_memory() -> None:
    backbone = Replies(['{"reason": "r", "outcome": "success"}'])
    assert Judge(backbone).read(EPISODE).outcome == "success"
    text = "\n".join(m["content"] for m in backbone.sent[0])
    assert "SECRET" not in text and "step limit" in text
    found = blocks(text)
    assert found["task"] == ["Boil water."]
    assert "Action: activate stove\nObservation: The stove is now on." in found["episode"][0]


def test_an_unreadable_reply_is_a_state_of_its_own() -> None:
    class Broken(Replies):
        def complete(self, *args, **kwargs):
            raise MalformedReply("no JSON object in the reply", "success!")

    assert Judge(Broken([])).read(EPISODE).outcome == "unreadable"


def test_failures_of_the_backbone_pass_through() -> None:
    class Down(Replies):
        def complete(self, *args, **kwargs):
            raise BackboneFailed("503")

    with pytest.raises(BackboneFailed):
        Judge(Down([])).read(EPISODE)
