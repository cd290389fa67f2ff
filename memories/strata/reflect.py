"""Writing: the master router and the typed sub-reflectors (STRATA, "Writing")."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeVar

from pydantic import BaseModel

from agents.base import Backbone, Message
from memories.base import Experience
from memories.prompting import ask, episode_blocks
from memories.strata import prompts, state
from memories.strata.contrast import opposites_of
from memories.strata.graph import ATOMIC_TYPES, Bullet, Node
from memories.strata.markdown import many_lines, one_line
from memories.strata.replies import (
    AtomicChange,
    AtomicChanges,
    Difference,
    Pitfall,
    Routing,
    WorkflowDraft,
)
from memories.strata.similarity import View
from memories.strata.state import Entry
from memories.strata.store import Store
from memories.strata.tags import leading_tag, read_tags
from memories.strata.thresholds import decide

Answer = TypeVar("Answer", bound=BaseModel)

_CHANGES = 3
"""Changes of one atomic sub-reflector that are taken [ours]."""
_SHOWN = 5
"""Nearest atomics that a prompt shows [ours]."""


class Asker:
    """Asks the backbone for structured replies, counting those that stay malformed."""

    def __init__(self, backbone: Backbone, store: Store) -> None:
        self.backbone = backbone
        self.store = store

    def write(self, messages: Sequence[Message], schema: type[Answer]) -> Answer | None:
        """A reply of role `write`, or None."""
        answer = ask(self.backbone, messages, role="write", schema=schema)
        if answer is None:
            self.store.count["malformed"] += 1
        return answer

    def tags(self, texts: Iterable[str]) -> tuple[str, ...]:
        """The tags of a reply; what is outside the grammar is dropped and counted."""
        tags, rejected = read_tags(texts)
        self.store.count["rejected_tags"] += rejected
        return tags

    def known(self, ids: Iterable[str], allowed: Iterable[str]) -> tuple[str, ...]:
        """The ids of a reply that were offered, each once; others are dropped and counted."""
        offered = set(allowed)
        given = dict.fromkeys(id.strip() for id in ids)
        self.store.count["unknown_ids"] += sum(id not in offered for id in given)
        return tuple(id for id in given if id in offered)


class Reflector:
    """What one experience adds to the graph."""

    def __init__(self, asker: Asker, experience: Experience, query: View, query_tags: Sequence[str]) -> None:
        self.ask = asker
        self.store = asker.store
        self.experience = experience
        self.query = query
        self.query_tags = tuple(query_tags)
        self.task = experience.episode.task.number

    @cached_property
    def record(self) -> str:
        """Task, verdict and trajectory as every prompt about them shows them."""
        return episode_blocks(self.experience, self.store.settings.episode_tokens)

    @property
    def vocabulary(self) -> set[str]:
        """Tags in use, those that the task was just given among them."""
        return {*self.store.vocabulary(), *self.query_tags}

    def solved(self) -> None:
        """A solved episode: atomics first, then the workflow, which names the atomics that it calls."""
        routing = self.ask.write(prompts.route(self.record), Routing)
        picked = routing.sub_reflectors if routing else []
        fresh: list[str] = []
        for type in ATOMIC_TYPES:
            if type in picked:
                fresh += self._atomics(type)
        if "workflow" in picked:
            self._workflow(fresh)

    def failed(self) -> None:
        """A failed episode: at most a pitfall on the nearest workflow, never a procedure.

        Without a workflow near enough nothing could be written, so nothing is asked [ours].
        """
        scores = self.store.views.query_scores(self.query)[self.store.rows()]
        nearest = self.store.nearest_workflow(scores)
        if nearest is None or nearest[1] < self.store.band(leading_tag(nearest[0].tags))[0]:
            return
        routing = self.ask.write(prompts.route(self.record), Routing)
        if routing is None or "workflow" not in routing.sub_reflectors:
            return
        reply = self.ask.write(prompts.pitfall(self.record, nearest[0]), Pitfall)
        if reply is not None:
            text = one_line(f"{_when(reply.when)}: {reply.avoid}")
            self._add_bullet(nearest[0], Bullet("pitfall", text, self.task))
            self.store.count["pitfalls"] += 1

    def _atomics(self, type: str) -> list[str]:
        """Run one atomic sub-reflector; gives the ids created or refined."""
        store = self.store
        nearest = store.nearest_atomics(self.query, _SHOWN, type)
        messages = prompts.atomic(type, self.record, nearest, self.vocabulary)
        reply = self.ask.write(messages, AtomicChanges)
        offered = [node.id for node in nearest]
        written: list[str] = []
        for change in reply.changes[:_CHANGES] if reply else []:
            targets = self.ask.known(change.targets, offered) if change.action == "refine" else ()
            targets = tuple(id for id in targets if store.graph[id].live)
            # A refine of nothing that is known is a create: the knowledge is kept either way [ours].
            if not targets:
                written.append(self._create_atomic(type, change))
            elif len(targets) == 1:
                written.append(self._refine_atomic(store.graph[targets[0]], change))
            else:
                written.append(self._merge_atomics(type, targets, change))
        return written

    def _create_atomic(self, type: str, change: AtomicChange, merged: tuple[str, ...] = ()) -> str:
        title = one_line(change.title) or type
        node = Node(
            self.store.new_id("atomic", title),
            "atomic",
            title,
            one_line(change.applicability),
            many_lines(change.content),
            tags=self.ask.tags(change.tags) or self.query_tags,
            type=type,
            merged_from=merged,
            sources=(self.task,),
        )
        self.store.put(node)
        self.store.count["atomic_merged" if merged else "atomic_created"] += 1
        return node.id

    def _refine_atomic(self, node: Node, change: AtomicChange) -> str:
        self.store.put(
            replace(
                node,
                title=one_line(change.title) or node.title,
                applicability=one_line(change.applicability),
                content=many_lines(change.content),
                tags=self.ask.tags(change.tags) or node.tags,
                sources=_with(node.sources, self.task),
            )
        )
        self.store.count["atomic_refined"] += 1
        return node.id

    def _merge_atomics(self, type: str, targets: tuple[str, ...], change: AtomicChange) -> str:
        """One node from several; the sources stay as tombstones and their callers call it instead [ours]."""
        store = self.store
        merged = self._create_atomic(type, change, targets)
        for target in targets:
            for caller in sorted(store.graph.callers.get(target, ())):
                node = store.graph[caller]
                calls = dict.fromkeys(merged if call in targets else call for call in node.calls)
                store.touch(replace(node, calls=tuple(calls)))
            store.bury(target)
        return merged

    def _workflow(self, fresh: Sequence[str]) -> None:
        """Draft a procedure, compare it with the nearest one, and keep what is new of it."""
        store = self.store
        near = (node.id for node in store.nearest_atomics(self.query, _SHOWN))
        skills = [store.graph[id] for id in dict.fromkeys([*fresh, *near]) if store.graph[id].live]
        messages = prompts.workflow(self.record, skills, self.vocabulary)
        draft = self.ask.write(messages, WorkflowDraft)
        if draft is None:
            return
        node = self._drafted(draft, [skill.id for skill in skills])
        view = store.view_of(node)
        nearest = self._nearest(node, view)
        group = leading_tag(node.tags)
        decision = decide(nearest[1] if nearest else None, *store.band(group))
        store.count[decision] += 1
        if decision == "create":
            self._create_workflow(node, view)
        elif decision == "add_bullet" and nearest:
            self._add_variant(nearest[0], node)
        if nearest:
            store.reflection.add(group, [nearest[1]])
            store.state.add(Entry(self.task, state.SCORE, (group, repr(nearest[1]), decision)))

    def _nearest(self, draft: Node, view: View) -> tuple[Node, float] | None:
        """The workflow nearest to a draft; with `opposites_apart` one that does the opposite is none [ours]."""
        store = self.store
        scores = store.workflow_scores(view)
        if store.settings.opposites_apart:
            lexicon, graph = store.settings.lexicon, store.graph
            apart = [lexicon.opposed(draft.tags, graph[id].tags) for id in store.workflow_ids()]
            scores[apart] = -1.0
        nearest = store.nearest_workflow(scores)
        return nearest if nearest and nearest[1] >= 0 else None

    def _drafted(self, draft: WorkflowDraft, offered: Sequence[str]) -> Node:
        steps = [line for step in draft.steps if (line := one_line(step))]
        title = one_line(draft.title) or "procedure"
        return Node(
            "w00000-draft",
            "workflow",
            title,
            one_line(draft.applicability),
            "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1)),
            tags=self.ask.tags(draft.tags) or self.query_tags,
            calls=self.ask.known(draft.calls, offered),
            sources=(self.task,),
            age_at=self.store.count["clock"],
        )

    def _create_workflow(self, draft: Node, view: View) -> None:
        store = self.store
        contrasts = opposites_of(draft.tags, store)
        node = replace(draft, id=store.new_id("workflow", draft.title), contrasts=contrasts)
        store.put(node, view)

    def _add_variant(self, kept: Node, draft: Node) -> None:
        messages = prompts.difference(self.record, kept, prompts.card(draft))
        reply = self.ask.write(messages, Difference)
        if reply is not None:
            text = one_line(f"{_when(reply.when)}: {reply.difference}")
            self._add_bullet(kept, Bullet("variant", text, self.task))

    def _add_bullet(self, node: Node, bullet: Bullet) -> None:
        sources = _with(node.sources, self.task)
        self.store.touch(replace(node, bullets=(*node.bullets, bullet), sources=sources))


def _when(condition: str) -> str:
    """A condition that starts with `When`."""
    condition = one_line(condition).rstrip(".:")
    return condition if condition.lower().startswith(("when ", "if ")) else f"When {condition}"


def _with(sources: tuple[int, ...], task: int) -> tuple[int, ...]:
    return sources if task in sources else (*sources, task)
