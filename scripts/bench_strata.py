"""STRATA's speed on synthetic graphs: retrieval against its bare products, a write against recomputation."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pydantic import BaseModel

from agents.base import Episode, Message, Reply, Role, Step, Verdict
from envs.base import Task
from memories.base import Experience, Resources, Vectors
from memories.strata import Strata
from memories.strata.collection import collect_workflows
from memories.strata.communities import conductances, louvain
from memories.strata.graph import Node
from memories.strata.store import Store
from memories.strata.tags import leading_tag

SIZES = (200, 2_000, 20_000)
DIMENSION = 384
_FAMILIES = 400
_VERBS = [f"verb{n}" for n in range(36)] + ["heat", "cool", "create", "delete"]
_WORDS = [f"word{n}" for n in range(3000)]

Row = tuple[str, float, str, float | None]


class _Instant:
    """Embeds and answers at once: what is measured is the memory's own time."""

    name = "instant"
    dimension = DIMENSION

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.centres = self.rng.normal(size=(_FAMILIES, DIMENSION)).astype(np.float32)
        self.next = 0

    def goal(self) -> tuple[str, list[str]]:
        """A task text and its tags: a family has one application, operation and kind of object."""
        family = min(int(self.rng.zipf(1.3)), _FAMILIES) - 1
        tags = [f"app:app{family % 7}", f"op:{_VERBS[family % 40]}", f"obj:thing{family % 90}"]
        text = " ".join(self.rng.choice(_WORDS, size=18))
        return f"family{family} {text}", tags

    def embed(self, texts: Sequence[str]) -> Vectors:
        families = [int(text.split("family")[1].split()[0]) if "family" in text else 0 for text in texts]
        noise = self.rng.normal(size=(len(texts), DIMENSION)).astype(np.float32)
        rows = self.centres[families] + np.float32(0.8) * noise
        found: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return found

    def complete(
        self,
        messages: Sequence[Message],
        *,
        role: Role,
        schema: type[BaseModel] | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
    ) -> Reply:
        assert schema is not None
        text, tags = self.goal()
        replies: dict[str, dict[str, Any]] = {
            "QueryTags": {"tags": tags},
            "Routing": {"reason": "new", "sub_reflectors": ["workflow"]},
            "WorkflowDraft": {"title": text, "applicability": text, "steps": [text], "tags": tags},
            "Difference": {"when": "so", "difference": "otherwise"},
            "MetaDraft": {"title": text, "principle": text, "applicability": text, "routes": []},
            "Routes": {"routes": []},
        }
        return Reply("", schema.model_validate(replies[schema.__name__]))


def measure() -> list[Row]:
    """Rows for `python -m scripts.bench strata`."""
    rows: list[Row] = []
    for size in SIZES:
        rows += _measure(size)
    return rows


def _measure(size: int) -> list[Row]:
    memory, instant, full, held = _grown(size)
    # The first write finds all metas of a graph that was not grown task by task.
    _write(memory, instant, 1)
    products, retrieval = _retrieval(memory, instant)
    write = min(_timed(memory, instant, number) for number in range(2, 22))
    name = f"{size:,} workflows"
    # A retrieval has a fixed cost of about a tenth of a millisecond: more than all products over 200 nodes.
    settled = size >= 2_000
    return [
        (f"{name}: the matrix products of a retrieval", 1e3 * products, "ms", None),
        (f"{name}: retrieval (scores, ranking, subgraph)", 1e3 * retrieval, "ms", None),
        (f"{name}: retrieval / matrix products", retrieval / products, "x", 2.0 if settled else None),
        (f"{name}: one write with its maintenance", 1e3 * write, "ms", 50.0 if size == 2_000 else None),
        (f"{name}: recomputing everything", 1e3 * full, "ms", None),
        (f"{name}: write / recomputing everything", write / full, "x", 0.1 if settled else None),
        (f"{name}: memory a node", held / size / 1024, "KiB", 16.0 if settled else None),
    ]


def _grown(size: int) -> tuple[Strata, _Instant, float, int]:
    """A memory of that many workflows, the seconds that computing W and all from it took, its bytes.

    Planted at once: growing 20,000 by writes would take an hour. Its first W is the full computation.
    """
    instant = _Instant(size)
    # Every draft is created and nothing is deleted: both would shrink what is measured.
    parameters: dict[str, Any] = {"cap": 10 * size, "low_prior": 1.1, "high_prior": 1.2}
    memory = Strata(Resources(instant, instant, (), "text", 0), **parameters)
    _recompute(memory.store)  # imports what is imported when first used
    gc.collect()
    before = _resident()
    store = memory.store
    for number in range(1, size + 1):
        text, tags = instant.goal()
        id = store.new_id("workflow", text)
        node = Node(id, "workflow", text, text, f"1. {text}", tuple(tags), sources=(number,))
        store.views.put(node.id, node.number, "workflow", store.view_of(node))
        store.graph.put(node)
    store.documents()
    held = _resident() - before
    full = _seconds(lambda: _recompute(store), 1 if size > 2_000 else 3)
    return memory, instant, full, held


def _resident() -> int:
    """Bytes of this process that lie in memory."""
    import psutil

    resident: int = psutil.Process().memory_info().rss
    return resident


def _recompute(store: Store) -> None:
    """Everything that a write keeps up to date, from nothing: W, communities, conductances, the check."""
    held = list(store.graph.live("workflow"))
    groups = [leading_tag(node.tags) for node in held]
    store.workflows.build([node.number for node in held], groups, store.views.pair_scores(store.rows()))
    edges = store.edges()
    conductances(edges, louvain(edges, store.settings.resolution, 0))
    collect_workflows(store, edges, 0)


def _retrieval(memory: Strata, instant: _Instant) -> tuple[float, float]:
    """Seconds of the four products (two dense, two sparse), and of a retrieval without embedding and tagging."""
    views = memory.store.views
    text, tags = instant.goal()
    query = memory.store.query(text, tags)
    content, index = views._content[: len(views.ids)], views._index[: len(views.ids)]
    sparse = [_incidence(postings, len(views.ids)) for postings in (views._tags, views._words)]
    sides = [np.random.default_rng(0).random(matrix.shape[1]) for matrix in sparse]

    def products() -> None:
        _ = content @ query.content, index @ query.index
        _ = [matrix @ side for matrix, side in zip(sparse, sides, strict=True)]

    def retrieve() -> None:
        scores = views.query_scores(query)
        seeds = memory._rank(scores)[: memory.settings.top_k]
        memory._expand([id for id, _ in seeds], scores, tags)

    return _seconds(products, 50), _seconds(retrieve, 50)


def _incidence(postings: Any, rows: int) -> Any:
    """Which node holds which key, as a sparse matrix."""
    from scipy.sparse import csr_matrix

    columns = np.repeat(np.arange(len(postings)), [len(posting) for posting in postings.values()])
    holders = np.concatenate([np.asarray(posting) for posting in postings.values()])
    return csr_matrix((np.ones(len(holders)), (holders, columns)), (rows, len(postings)))


def _write(memory: Strata, instant: _Instant, number: int) -> None:
    text, _ = instant.goal()
    task = Task(number, text)
    recall = memory.begin(task, "")
    episode = Episode(task, "You see a room.", (Step("act", "", "wait", "Time passes."),), "finished")
    memory.write(Experience(episode, Verdict("success"), recall))


def _timed(memory: Strata, instant: _Instant, number: int) -> float:
    return _seconds(lambda: _write(memory, instant, number), 1)


def _seconds(run: Callable[[], None], times: int) -> float:
    """The least CPU time of several: one thread works, and what else the machine does must not count."""
    taken = []
    for _ in range(times):
        start = time.process_time()
        run()
        taken.append(time.process_time() - start)
    return min(taken)
