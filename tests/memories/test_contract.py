"""What every memory keeps, whatever it is: run over each file of configs/memory, later ones included."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import PurePosixPath

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from agents.base import (
    ContextOverflow,
    Episode,
    MalformedReply,
    Message,
    Refusal,
    Reply,
    Role,
    Step,
    Verdict,
)
from envs.base import Task
from memories.base import DocumentError, Experience, Graph, Memory, Recall
from tests.memories.helpers import HOSTILE, NAMES, Anything, Recording, Rules, build, config

PLAIN = (
    "Boil water. First find the kettle, then heat it.",
    "Boil the tin until it melts.",
    "Find a living thing and move it to the red box.",
    "Put a clean mug on the desk.",
    "Play the most liked song of the playlist.",
)
ACTIONS = ("open door to kitchen", "go to kitchen", "take mug 1", "activate stove", "print(apis.show())")
REPLIES = ("You open the door.", "No known action matches that input.", "The stove is now on.", "50\n60")

texts = st.one_of(
    st.sampled_from(PLAIN), st.sampled_from(HOSTILE), st.text(st.characters(exclude_categories=["Cs"]))
)
steps = st.builds(
    Step,
    st.sampled_from(["act", "act", "act", "look_up", "tool", "note", "malformed", "objection"]),
    st.one_of(st.just("I should look."), texts),
    st.one_of(st.sampled_from(ACTIONS), texts),
    st.one_of(st.sampled_from(REPLIES), texts),
)
verdicts = st.builds(Verdict, st.sampled_from(["success", "success", "failure", "unreadable"]), texts)
episodes = st.tuples(texts, texts, st.lists(steps, max_size=5), verdicts)
streams = st.lists(episodes, min_size=1, max_size=7)
Drawn = tuple[str, str, list[Step], Verdict]

VARIANTS = [
    name
    for name in NAMES
    if config(name)["_target_"] in {config(n)["_target_"] for n in NAMES if n != name and name.startswith(n)}
]
"""Ablations and the like: another memory's code with other parameters. They are tried more briefly."""


def one_task(memory: Memory, number: int, drawn: Drawn) -> tuple[object, ...]:
    """Live through one task as the loop does; gives all that the agent could see."""
    instruction, opening, taken, verdict = drawn
    task = Task(number, instruction)
    before = dict(memory.documents())
    numbers = dict(memory.counters())
    recall = memory.begin(task, opening)
    seen: list[object] = [recall.text, [(item.id, item.kind) for item in recall.items]]
    for tool in recall.tools:
        for argument in ("", *[item.id for item in recall.items][:2], "no such thing", HOSTILE[1]):
            seen.append(tool.call(argument))
    history: list[Step] = []
    for step in taken:
        seen.append(recall.before_step(tuple(history)))
        seen.append(recall.check_action(step.action, tuple(history)))
        history.append(step)
    seen.append([dataclasses.astuple(event) for event in recall.events])
    assert dict(memory.documents()) == before, "an episode must not change the memory"
    assert dict(memory.counters()) == numbers, "an episode must not change the counters"
    memory.write(Experience(Episode(task, opening, tuple(taken), "finished"), verdict, recall))
    return tuple(seen)


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


def test_each_configuration_says_what_it_is(name: str) -> None:
    found = config(name)
    assert found["name"] == name
    assert found["label"]
    assert found["budget_tokens"] is None
    assert isinstance(build(name, Rules()), Memory)


@pytest.mark.parametrize("backbone", [Rules, Anything])
def test_loading_its_documents_changes_nothing_that_follows(name: str, backbone: type[Recording]) -> None:
    @settings(
        max_examples=2 if name in VARIANTS else 6,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        # Shrinking a whole stream takes minutes: what is found is short enough to read.
        phases=(Phase.explicit, Phase.reuse, Phase.generate),
    )
    @given(stream=streams, cut=st.integers(0, 6))
    def holds(stream: list[Drawn], cut: int) -> None:
        reloaded(name, backbone, stream, min(cut, len(stream) - 1))

    holds()


def reloaded(name: str, backbone: type[Recording], stream: list[Drawn], cut: int) -> None:
    """Live through a stream; before task `cut` (from 0) a second memory loads the documents and goes along."""
    memory, asked = build(name, first := backbone()), 0
    other: Memory | None = None
    for number, drawn in enumerate(stream, 1):
        if number - 1 == cut:
            other = build(name, second := backbone())
            other.load(dict(memory.documents()))
            assert dict(other.documents()) == dict(memory.documents())
            asked = len(first.calls)
        seen = one_task(memory, number, drawn)
        if other is not None:
            assert one_task(other, number, drawn) == seen
            assert dict(other.documents()) == dict(memory.documents())
            assert dict(other.counters()) == dict(memory.counters())
            assert other.graph() == memory.graph()
            assert second.calls == first.calls[asked:]


def story(backbone: Recording, name: str) -> tuple[Memory, list[object]]:
    """A fixed stream of 12 tasks; gives the memory and all that was seen."""
    memory = build(name, backbone)
    seen: list[object] = []
    for number in range(1, 13):
        done = [
            Step("act", "go on", ACTIONS[(number + k) % 4], REPLIES[(number * k) % 3]) for k in range(1, 5)
        ]
        verdict = Verdict(("success", "failure", "success")[number % 3], "as the last observation shows")  # type: ignore[arg-type]
        seen.append(one_task(memory, number, (PLAIN[number % 5], "You are in the hallway.", done, verdict)))
    return memory, seen


def digests() -> dict[str, str]:
    """Everything that each memory did on the fixed stream, hashed."""
    found = {}
    for name in (name for name in NAMES if name not in VARIANTS):
        for kind in (Rules, Anything):
            memory, seen = story(backbone := kind(), name)
            did = [seen, dict(memory.documents()), dict(memory.counters()), backbone.calls]
            text = json.dumps(did, default=str, sort_keys=True)
            found[f"{name} {kind.__name__}"] = hashlib.sha256(text.encode()).hexdigest()
    return found


def test_same_stream_same_documents_and_calls_in_any_process() -> None:
    """Whatever the order in which a process iterates over sets."""
    run = "import json; from tests.memories.test_contract import digests; print(json.dumps(digests()))"
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    found = [
        json.loads(
            subprocess.run(
                [sys.executable, "-c", run],
                env={**environment, "PYTHONHASHSEED": seed},
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        )
        for seed in ("1", "2")
    ]
    assert found[0] == found[1]


def test_documents_can_be_read_and_few_change(name: str) -> None:
    memory, _ = story(Rules(), name)
    before = dict(memory.documents())
    for document, text in before.items():
        path = PurePosixPath(document)
        assert not path.is_absolute() and ".." not in path.parts and "\\" not in document
        assert isinstance(text, str) and text.encode()
        assert not re.search(r"(-?\d+\.\d{3,}[,\s]+){8}", text), f"{document} holds a vector"
        assert not re.search(r"[A-Za-z0-9+/=]{120,}", text), f"{document} holds encoded data"
    one_task(memory, 13, (PLAIN[0], "You are in the hallway.", [], Verdict("unreadable")))
    after = dict(memory.documents())
    changed = [document for document in {*before, *after} if before.get(document) != after.get(document)]
    assert len(changed) <= max(4, len(before) // 2)


def test_damaged_documents_are_named(name: str) -> None:
    memory, _ = story(Rules(), name)
    documents = dict(memory.documents())
    for document in documents:
        with pytest.raises(DocumentError, match=re.escape(document)):
            build(name, Rules()).load({**documents, document: "\x00 not : a document\n\x00"})
    with pytest.raises(DocumentError, match=re.escape("nowhere/else.bin")):
        build(name, Rules()).load({**documents, "nowhere/else.bin": "text"})


@pytest.mark.parametrize("name", [name for name in NAMES if name not in VARIANTS])
def test_a_cut_document_is_read_or_refused(name: str) -> None:
    """Cut anywhere, never a crash of another kind."""
    memory, _ = story(Rules(), name)
    documents = dict(memory.documents())
    for document, text in list(documents.items())[:6]:
        for end in range(0, len(text), max(1, len(text) // 4)):
            try:
                build(name, Rules()).load({**documents, document: text[:end]})
            except DocumentError as error:
                assert document in str(error) or "/" in str(error)


def test_loading_replaces_all_that_was_there(name: str) -> None:
    memory, _ = story(Rules(), name)
    empty = dict(build(name, Rules()).documents())
    memory.load(empty)
    assert dict(memory.documents()) == empty
    assert dict(memory.counters()) == dict(build(name, Rules()).counters())


def test_a_graph_holds_the_ends_of_its_edges(name: str) -> None:
    memory, _ = story(Rules(), name)
    graph = memory.graph()
    if graph is not None:
        assert isinstance(graph, Graph)
        ids = [node.id for node in graph.nodes]
        assert len(ids) == len(set(ids))
        assert {end for edge in graph.edges for end in (edge.source, edge.target)} <= set(ids)


class Unanswered(Rules):
    """Answers by rules, and leaves every third question without an answer."""

    how: Exception

    def answer(
        self, messages: Sequence[Message], role: Role, schema: type[BaseModel] | None, text: str
    ) -> Reply:
        if len(self.calls) % 3 == 0:
            raise self.how
        return super().answer(messages, role, schema, text)


def test_a_refusal_or_an_overflow_costs_a_memory_no_more_than_a_malformed_reply(name: str) -> None:
    """It goes on without the answer: the episode and what was written before stay."""
    ends = []
    for how in (MalformedReply("no", "{"), Refusal("no"), ContextOverflow("too long")):
        backbone = Unanswered()
        backbone.how = how
        memory, _ = story(backbone, name)
        ends.append((dict(memory.documents()), dict(memory.counters()), backbone.calls))
    assert ends[0] == ends[1] == ends[2]


def test_a_write_can_hold_no_official_score() -> None:
    """Leakage is impossible by type: these are all the fields that reach a memory."""
    fields = {
        cls: [field.name for field in dataclasses.fields(cls)]
        for cls in (Experience, Episode, Verdict, Task, Step)
    }
    assert fields == {
        Experience: ["episode", "verdict", "recall"],
        Episode: ["task", "opening", "steps", "end"],
        Verdict: ["outcome", "reason"],
        Task: ["number", "instruction"],
        Step: ["kind", "thought", "action", "observation"],
    }


def test_the_empty_memory_says_nothing(name: str) -> None:
    """Every run starts empty: nothing of a memory's own making reaches the first episode."""
    recall = build(name, Rules()).begin(Task(1, PLAIN[0]), "You are in the hallway.")
    assert isinstance(recall, Recall)
    assert not recall.items
