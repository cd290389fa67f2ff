"""Mem0: a worked stream, and the real package on the same replies."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import Any

import pytest

from agents.base import MalformedReply
from envs.base import Task
from tests.conftest import require
from tests.memories.helpers import Axes, Scripted, build, experience


def facts(*texts: str) -> dict[str, Any]:
    return {"facts": list(texts)}


def changes(*entries: tuple[str, str, str]) -> dict[str, Any]:
    return {"memory": [{"event": event, "id": id, "text": text} for event, id, text in entries]}


# The facts that a call compares with are numbered in the order in which they are found: for each new fact in
# turn the nearest stored ones, each once.
STREAM: list[list[Any]] = [
    [
        facts("boil takes long", "find with the map"),
        changes(("ADD", "0", "boil takes long"), ("ADD", "1", "find with the map")),
    ],
    [
        # near "boil in the kettle": boil (1.0) is 0, find (0.0) is 1
        facts("boil in the kettle"),
        changes(
            ("UPDATE", "0", "boil takes long, in the kettle"),
            ("NONE", "1", "find with the map"),
            ("UPDATE", "9", "boil"),
        ),
    ],
    [facts()],
    [
        facts("melt, then find", "find without the map"),
        # near (0, 1, 1): find (0.707) is 0, boil (0.0) is 1; near find: both have their numbers already
        changes(
            ("ADD", "2", "melt on the stove"),
            ("DELETE", "0", "find with the map"),
            ("ADD", "3", "find by looking"),
        ),
    ],
    [
        facts("melt slowly"),
        changes(("UPDATE", "0", "melt slowly on the stove"), ("ADD", "7", ""), ("DELETE", "0", "")),
    ],
    [facts("boil twice"), changes(("ADD", "5", "boil twice"), ("ADD", "5", "boil twice"))],
]
FINAL = [
    "boil takes long, in the kettle",
    "boil twice",
    "boil twice",
    "find by looking",
    "melt slowly on the stove",
]


def test_a_worked_stream() -> None:
    backbone = Scripted(*[reply for replies in STREAM for reply in replies])
    memory = build("mem0", backbone, Axes("boil", "melt", "find"))
    for number in range(1, len(STREAM) + 1):
        memory.write(experience(number, "boil water", ("success", "failure", "unreadable")[number % 3]))
    assert not backbone.replies
    documents = memory.documents()
    assert documents == {
        "state.txt": "# numbers that this memory keeps\n"
        "facts: 6\nadd: 6\ndelete: 1\nnone: 3\nunknown_ids: 1\nupdate: 2\n",
        "facts/00001.txt": "task: 2\ntext: boil takes long, in the kettle\n",
        "facts/00003.txt": "task: 5\ntext: melt slowly on the stove\n",
        "facts/00004.txt": "task: 4\ntext: find by looking\n",
        "facts/00005.txt": "task: 6\ntext: boil twice\n",
        "facts/00006.txt": "task: 6\ntext: boil twice\n",
    }
    second, third = backbone.prompts("Changes")[1:3]
    assert "<stored>\n0: boil takes long\n1: find with the map\n</stored>" in second
    assert "<new>\n- melt, then find\n- find without the map\n</new>" in third
    recall = memory.begin(Task(7, "boil it"), "")
    assert recall.text.splitlines()[:2] == [
        "Facts from earlier tasks, the most relevant first:",
        "- boil takes long, in the kettle",
    ]
    assert [item.id for item in recall.items] == ["00001", "00005", "00006", "00003", "00004"]
    assert {(call[0], call[3]) for call in backbone.calls} == {("write", 0.1)}


def test_a_bad_reply_changes_nothing_and_the_stream_goes_on() -> None:
    backbone = Scripted(
        MalformedReply("no", ""),
        facts("boil"),
        MalformedReply("no", ""),
        facts("boil"),
        changes(("ADD", "0", "boil")),
    )
    memory = build("mem0", backbone, Axes("boil"))
    for number in range(1, 4):
        memory.write(experience(number, "boil water"))
    assert memory.counters()["malformed"] == 2
    assert [text for name, text in memory.documents().items() if "/" in name] == ["task: 3\ntext: boil\n"]


def test_a_changed_fact_is_found_by_its_new_text() -> None:
    backbone = Scripted(
        facts("boil"), changes(("ADD", "0", "boil")), facts("melt"), changes(("UPDATE", "0", "melt melt"))
    )
    memory = build("mem0", backbone, Axes("boil", "melt"))
    memory.write(experience(1, "boil water"))
    memory.write(experience(2, "melt ice"))
    assert [event.detail for event in memory.begin(Task(3, "melt"), "").events] == ["cosine 1.000"]


def test_the_real_package_ends_with_the_same_facts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec("mem0") is not None
    require(found, "mem0ai", "pip install -e '.[test-mem0]'")
    monkeypatch.setenv("MEM0_TELEMETRY", "False")
    monkeypatch.setenv("MEM0_DIR", str(tmp_path / "mem0"))
    monkeypatch.setitem(os.environ, "OPENAI_API_KEY", "unused")
    from mem0 import Memory
    from mem0.configs.base import MemoryConfig

    axes = Axes("boil", "melt", "find")
    config = MemoryConfig(
        vector_store={
            "provider": "qdrant",
            "config": {
                "collection_name": "t",
                "embedding_model_dims": axes.dimension,
                "path": str(tmp_path / "qdrant"),
                "on_disk": False,
            },
        },
        history_db_path=str(tmp_path / "history.db"),
    )
    real = Memory(config)
    replies = [json.dumps(reply) for one in STREAM for reply in one]

    class Model:
        def generate_response(self, messages: Any, **_: Any) -> str:
            return replies.pop(0)

    class Embedding:
        def embed(self, text: str, memory_action: str | None = None) -> list[float]:
            return [float(x) for x in axes.embed([text])[0]]

    real.llm, real.embedding_model = Model(), Embedding()
    for _ in STREAM:
        real.add([{"role": "user", "content": "an episode"}], user_id="run")
    assert not replies
    assert sorted(entry["memory"] for entry in real.get_all(user_id="run")["results"]) == FINAL

    ours = build("mem0", Scripted(*[reply for one in STREAM for reply in one]), axes)
    for number in range(1, len(STREAM) + 1):
        ours.write(experience(number, "boil water"))
    recall = ours.begin(Task(9, "boil"), "")
    assert sorted(line.removeprefix("- ") for line in recall.text.splitlines()[1:]) == FINAL
    best = real.search("boil", user_id="run", limit=3)["results"]
    assert {entry["memory"] for entry in best} == {
        line.removeprefix("- ") for line in recall.text.splitlines()[1:4]
    }
