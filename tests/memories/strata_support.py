"""Support for STRATA's tests: embeddings given by hand, replies given by schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from pydantic import BaseModel

from agents.base import MalformedReply, Message, Reply, Role
from memories.base import Recall, Resources, Vectors
from memories.embedder import Hashing
from memories.strata import Strata
from memories.strata.graph import Node
from tests.memories.helpers import Recording, acts, experience


class Table:
    """An embedder whose vectors are looked up by a word of the text; others are orthogonal to all."""

    name = "table"
    dimension = 8

    def __init__(self, vectors: Mapping[str, Sequence[float]]) -> None:
        self.vectors = dict(vectors)
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.embedded += texts
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            found = next((vector for word, vector in self.vectors.items() if word in text), None)
            row[: len(found or ())] = found or ()
            if found is None:
                row[-1] = 1.0
        return rows


class Answers(Recording):
    """Replies by the schema's name: a value, or a function of the prompt's text. None stays malformed."""

    def __init__(self, **replies: Any) -> None:
        super().__init__()
        self.replies = replies

    def answer(
        self, messages: Sequence[Message], role: Role, schema: type[BaseModel] | None, text: str
    ) -> Reply:
        assert schema is not None
        reply = self.replies.get(schema.__name__)
        if isinstance(reply, Callable):  # type: ignore[arg-type]
            reply = reply(text)
        if reply is None:
            raise MalformedReply("does not fit", "{")
        data = schema.model_validate(reply)
        return Reply(data.model_dump_json(), data)


def draft(
    title: str, *tags: str, steps: Sequence[str] = ("do it",), calls: Sequence[str] = ()
) -> dict[str, Any]:
    """A workflow draft."""
    return {
        "title": title,
        "applicability": f"for {title}",
        "steps": list(steps),
        "tags": list(tags),
        "calls": list(calls),
    }


def route(*picked: str) -> dict[str, Any]:
    """A routing."""
    return {"reason": "seen", "sub_reflectors": list(picked)}


def change(title: str, *targets: str, tags: Sequence[str] = ()) -> dict[str, Any]:
    """A change of an atomic: a refine if it names targets."""
    return {
        "action": "refine" if targets else "create",
        "targets": list(targets),
        "title": title,
        "applicability": f"for {title}",
        "content": f"how to {title}",
        "tags": list(tags),
    }


def answers(**changed: Any) -> Answers:
    """Replies that let everything happen: the workflow's draft is to be given or changed."""
    usual: dict[str, Any] = {
        "QueryTags": {"tags": []},
        "Routing": route("workflow"),
        "AtomicChanges": {"changes": []},
        "Difference": {"when": "it differs", "difference": "another way"},
        "Pitfall": {"when": "it is hot", "avoid": "touching it"},
        "MetaDraft": {
            "title": "family",
            "principle": "all alike",
            "applicability": "such tasks",
            "routes": [],
        },
        "Routes": {"routes": []},
    }
    return Answers(**(usual | changed))


def strata(backbone: Recording, embedder: Any = None, **parameters: Any) -> Strata:
    """The memory with the paper's values, changed by `parameters`."""
    return Strata(Resources(backbone, embedder or Hashing(64), (), "text", 0), **parameters)


def do(memory: Strata, number: int, instruction: str, outcome: str = "success") -> Recall:
    """One task: begin, then write with that recall."""
    given = experience(
        number, instruction, outcome, acts(("open door", "It is open."), ("wait", "Time goes."))
    )
    recall = memory.begin(given.episode.task, given.episode.opening)
    memory.write(experience(number, instruction, outcome, given.episode.steps, recall))
    return recall


def learn(memory: Strata, number: int, instruction: str, **replies: Any) -> Recall:
    """A solved task for which some replies differ."""
    backbone = memory.resources.backbone
    assert isinstance(backbone, Answers)
    backbone.replies |= replies
    return do(memory, number, instruction)


def plant(memory: Strata, kind: Any, title: str, *tags: str, **fields: Any) -> str:
    """Put a node into the graph by hand; gives its id."""
    node = Node(
        memory.store.new_id(kind, title),
        kind,
        title,
        fields.pop("applicability", f"for {title}"),
        fields.pop("content", f"1. do {title}"),
        tags=tags,
        type=fields.pop("type", "skill" if kind == "atomic" else ""),
        sources=fields.pop("sources", (memory.store.count["next_number"],)),
        **fields,
    )
    memory.store.put(node)
    return node.id
