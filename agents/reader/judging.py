"""The reader's rule for the judge: what the record of an episode shows, by a few plain signs."""

from __future__ import annotations

import random
import re

from agents.judge import ENDS, Judgement
from agents.reader.answers import Prompt, answers
from agents.reader.words import content_words

_STEP = re.compile(
    r"^Action: (.*?)\nObservation: (.*?)(?=\n\[\d+\]\n|\n\[\.\.\. |\Z)", re.DOTALL | re.MULTILINE
)
_TROUBLE = re.compile(
    r"no known action|unknown action|traceback|error:|execution failed|nothing happens", re.I
)


@answers(Judgement)
def judge(prompt: Prompt, rng: random.Random) -> Judgement:
    """success if the world ended the episode and the last action is one that the task ends with.

    What a task ends with stands in its last sentences: an episode that a mistake ended early stops at an
    action that says nothing of them.
    """
    task, steps = prompt.block("task"), _STEP.findall(prompt.block("episode"))
    if not steps:
        return Judgement(reason="The record shows no action.", outcome="failure")
    action, observation = steps[-1]
    if ENDS["finished"] not in prompt.messages[-1]["content"]:
        return Judgement(
            reason=f"The world did not end the episode; the last action was '{action[:120]}'.",
            outcome="failure",
        )
    if _TROUBLE.search(observation[-500:]):
        return Judgement(reason=f"The last answer was an error: '{observation[-120:]}'.", outcome="failure")
    if not serves_the_end(task, action):
        return Judgement(
            reason=f"It ended at '{action[:120]}', before what the task asks for last.", outcome="failure"
        )
    return Judgement(reason=f"The world ended the episode after '{action[:120]}'.", outcome="success")


def serves_the_end(task: str, action: str) -> bool:
    """Whether an action speaks of what the later half of a task does (always, if the task is one sentence)."""
    sentences = [part for part in re.split(r"(?<=[.!?])\s+", task.strip()) if part]
    moves = "move it" in task or "place it" in task
    if moves and action.startswith("focus"):
        return False
    if len(sentences) < 2 or "\n" in action:
        return True
    later = content_words(" ".join(sentences[1:])) | content_words(sentences[0])
    verbs = {"wait", "wait1", "connect", "activate", "look", "examine"}
    return bool(content_words(action) & later) or action.split(" ")[0] in verbs
