"""After the episode: one reflection, its proposals checked, and what is to be published (section 3.4).

Everything is prepared before anything is published: a malformed reply leaves the graph as it was.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from agents import prompts
from agents.base import Backbone
from agents.prompts import render_episode
from memories.base import Embedder, Experience, Vectors
from memories.evoweave.abstraction import Draft, Ground, Rejected, draft, leaked, plain
from memories.evoweave.capabilities import CapabilityStore, Code
from memories.evoweave.contracts import ContractError, word
from memories.evoweave.graph import ExperienceGraph
from memories.evoweave.invoked import Reading, concrete_values
from memories.evoweave.merging import (
    Contract,
    Relation,
    allowed,
    attempted,
    contract_of,
    contract_of_draft,
    relation,
)
from memories.evoweave.prompts import Decisions, Reflection, merge_messages, reflection_messages
from memories.evoweave.recall import OPERATION_ID
from memories.evoweave.rendering import card, facts
from memories.evoweave.retrieval import embed
from memories.evoweave.stored_code import validated
from memories.index import VectorIndex
from memories.prompting import ask, end_text, verdict_text

STORED_CODE = 20
"""Stored functions and macros that the reflector is shown, the latest [ours]."""


@dataclass(frozen=True)
class Learner:
    """What a reflection works with. It does not see the recall, so that every configuration learns alike."""

    backbone: Backbone
    embedder: Embedder
    graph: ExperienceGraph
    index: VectorIndex
    """Live operations by description."""
    state_index: VectorIndex
    capabilities: CapabilityStore
    reading: Reading
    merge_threshold: float
    merge_candidates: int
    episode_tokens: int
    vocabulary: int
    """States and descriptions in use that the reflector is shown at most."""
    freeze_capabilities: bool


@dataclass(frozen=True)
class Placed:
    """A draft, its vector, and what it is to the graph."""

    draft: Draft
    vector: Vectors
    relation: Relation
    target: str = ""
    """The stored operation that it is evidence for or a variant of."""


@dataclass
class Lesson:
    """What an episode leaves: the concrete account, and what is to be published."""

    history: list[str] = field(default_factory=list)
    cited: list[str] = field(default_factory=list)
    placed: list[Placed] = field(default_factory=list)
    code: list[Code] = field(default_factory=list)
    roles: dict[str, list[str]] = field(default_factory=dict)
    """Domain -> lines of advice."""
    usage: list[tuple[str, str]] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    tally: Counter[str] = field(default_factory=Counter)


def learn(learner: Learner, experience: Experience) -> Lesson:
    """Reflect on an episode. Raises EmbeddingFailed and BackboneFailed; a malformed reply is counted."""
    lesson = Lesson()
    text = render_episode(experience.episode, learner.episode_tokens)
    reply = _reflect(learner, experience, text, ())
    if reply is None:
        lesson.tally["malformed_reflections"] += 1
        return lesson
    known = learner.graph.operations
    lesson.history = [_event(line.steps, line.what) for line in reply.history]
    lesson.cited = [
        id for id in dict.fromkeys(reply.cited) if id in known and id in OPERATION_ID.findall(text)
    ]
    if experience.verdict.outcome == "unreadable":
        return lesson
    checked = _Checked(learner, experience).check(reply)
    if checked.problems:
        lesson.tally["repairs"] += 1
        again = _reflect(learner, experience, text, checked.problems)
        if again is None:
            lesson.tally["malformed_reflections"] += 1
        else:
            checked = _Checked(learner, experience).check(again)
    lesson.rejected = checked.problems
    lesson.tally["proposals"] += len(checked.drafts) + len(checked.problems)
    lesson.tally["rejected"] += len(checked.problems)
    placed = _place(learner, checked.drafts, lesson.tally)
    if placed is None:
        lesson.rejected.append("nothing was published: the merge reply stayed malformed")
        return lesson
    lesson.placed = placed
    if not learner.freeze_capabilities:
        lesson.code, lesson.roles, lesson.usage = checked.code, checked.roles, checked.usage
    return lesson


def _domain(text: str) -> str:
    return re.sub(r"[\s\-]+", "_", text.strip().lower())


def _event(steps: Sequence[int], what: str) -> str:
    return f"rounds {', '.join(map(str, steps))}: {what}" if steps else what


def _reflect(learner: Learner, experience: Experience, text: str, wrong: Sequence[str]) -> Reflection | None:
    episode = experience.episode
    instruction = episode.task.instruction
    messages = reflection_messages(
        instruction,
        text,
        verdict_text(experience),
        end_text(episode),
        _vocabulary(learner, instruction),
        _capabilities(learner, experience),
        learner.reading.form == "code",
        wrong,
    )
    return ask(learner.backbone, messages, role="write", schema=Reflection)


def _vocabulary(learner: Learner, instruction: str) -> str:
    """States and descriptions in use; embeddings only nominate which of them are shown [ours]."""
    graph = learner.graph
    [query] = embed(learner.embedder, [instruction])
    states = sorted(id for id, _ in learner.state_index.search(query, learner.vocabulary))
    lines = [f"{id}: {graph.states[id].text}" for id in states]
    operations = [id for id, _ in learner.index.search(query, learner.vocabulary)]
    descriptions = sorted({graph.operations[id].description for id in operations})
    parts = ["States in use:", *(lines or ["none yet"])]
    if descriptions:
        parts += ["Descriptions in use:", *descriptions]
    codes = sorted(learner.capabilities.codes.values(), key=lambda code: (code.tasks[-1:], code.id))
    if codes:
        parts += ["Stored code:", *(f"{code.id}: {code.summary}" for code in codes[-STORED_CODE:])]
    if learner.capabilities.roles:
        domains = sorted(role.domain for role in learner.capabilities.roles.values())
        parts += ["Domains in use:", ", ".join(domains)]
    return "\n".join(parts)


def _capabilities(learner: Learner, experience: Experience) -> str:
    """The public capabilities that the episode used."""
    used = dict.fromkeys(
        call.name for step in experience.episode.acts for call in learner.reading.calls(step.action)
    )
    apis = learner.capabilities.apis
    return "\n".join(f"{id}: {apis[id].summary}" for id in used if id in apis) or "none"


class _Checked:
    """The proposals of one reply that may be published, and what is wrong with the others."""

    def __init__(self, learner: Learner, experience: Experience) -> None:
        self.learner = learner
        self.task = experience.episode.task.number
        self.text = plain(
            "\n".join(
                [experience.episode.task.instruction, *(s.observation for s in experience.episode.steps)]
            )
        )
        self.steps = prompts.shown(experience.episode.steps)
        actions = [step.action for step in experience.episode.acts]
        self.values = concrete_values(experience.episode.task.instruction, actions, learner.reading)
        self.ground = Ground(
            self.steps,
            self.values,
            learner.reading,
            lambda id: learner.graph.states[id].predicates if id in learner.graph.states else None,
            experience.verdict.outcome == "success",
        )
        self.drafts: list[Draft] = []
        self.code: list[Code] = []
        self.roles: dict[str, list[str]] = {}
        self.usage: list[tuple[str, str]] = []
        self.problems: list[str] = []
        self.code_ids: dict[str, str] = {}
        """Name in the reply -> id, empty for code that is not published."""
        self.proposed_roles: set[str] = set()

    def check(self, reply: Reflection) -> _Checked:
        every = {*self.values}
        for proposal in reply.operations:
            every |= {plain(value) for value in proposal.bindings.values()} - {""}
        self.code_ids = dict.fromkeys((code.name for code in reply.code), "")
        self.proposed_roles = {_domain(role.domain) for role in reply.roles}
        if not self.learner.freeze_capabilities:
            self._code(reply, every)
            self._roles(reply, every)
            self._usage(reply, every)
        for proposal in reply.operations:
            try:
                self.drafts.append(self._linked(draft(proposal, self.ground)))
            except Rejected as error:
                self.problems.append(str(error))
        return self

    def _linked(self, made: Draft) -> Draft:
        """The draft with ids for the names of its code and role. Raises Rejected for a name nobody gave.

        What was proposed but not published is left out: it has an objection of its own, or capabilities are fixed.
        """
        where, store = f"operation {made.description!r}", self.learner.capabilities
        code = [self.code_ids.get(name, name) for name in dict.fromkeys(made.code)]
        strange = [id for id in code if id and id not in store.codes and id not in {c.id for c in self.code}]
        if strange:
            raise Rejected(f"{where}: there is no code {strange[0]!r}")
        domain = _domain(made.role)
        role = f"role:{domain}" if domain in self.roles or f"role:{domain}" in store.roles else ""
        if domain and not role and domain not in self.proposed_roles:
            raise Rejected(f"{where}: there is no role {made.role!r}")
        return replace(made, code=tuple(filter(None, code)), role=role)

    def _code(self, reply: Reflection, values: set[str]) -> None:
        for proposal in reply.code:
            try:
                code = validated(proposal, self.steps, values, self.learner.reading, self.task)
            except (Rejected, ContractError) as error:
                self.problems.append(str(error))
                continue
            id = self._free_name(code)
            if not id:
                self.problems.append(f"code {code.id!r}: another one has that name; take a new name")
                continue
            self.code_ids[proposal.name] = id
            if id not in self.learner.capabilities.codes and id not in {c.id for c in self.code}:
                self.code.append(replace(code, id=id))

    def _free_name(self, code: Code) -> str:
        """The id under which code is stored: that of the same body, or a free one; a function has one name only."""
        known = {**self.learner.capabilities.codes, **{c.id: c for c in self.code}}
        names = [code.id, *(f"{code.id}_{n}" for n in range(2, len(known) + 3))]
        for id in names if code.kind == "macro" else names[:1]:
            if id not in self.learner.capabilities.apis and (id not in known or known[id].body == code.body):
                return id
        return ""

    def _roles(self, reply: Reflection, values: set[str]) -> None:
        for proposal in reply.roles:
            lines = [" ".join(line.split()) for line in proposal.advice if line.strip()]
            wrong = [line for line in lines if leaked(line, values)]
            try:
                domain = word(proposal.domain)
            except ContractError as error:
                self.problems.append(f"role: {error}")
                continue
            ids = plain(" ".join(self.learner.reading.definitions))
            if plain(domain) not in self.text and plain(domain) not in ids:
                self.problems.append(f"role {domain!r}: the agent cannot see that word in this episode")
            elif wrong:
                self.problems.append(f"role {domain!r}: {wrong[0]!r} holds a value of this episode")
            elif lines:
                self.roles.setdefault(domain, []).extend(lines[:3])

    def _usage(self, reply: Reflection, values: set[str]) -> None:
        for note in reply.usage:
            text = " ".join(note.note.split())
            if note.api not in self.learner.reading.definitions:
                self.problems.append(f"usage: there is no capability {note.api!r}")
            elif leaked(text, values):
                self.problems.append(
                    f"usage of {note.api!r}: it holds {leaked(text, values)[0]!r}, a value of this episode"
                )
            elif text:
                self.usage.append((note.api, text))


def _place(learner: Learner, drafts: Sequence[Draft], tally: Counter[str]) -> list[Placed] | None:
    """What each draft is to the graph; None if the backbone's decision stayed malformed."""
    if not drafts:
        return []
    vectors = embed(learner.embedder, [d.description for d in drafts])
    hits = learner.index.search_many(vectors, learner.merge_candidates, floor=learner.merge_threshold)
    placed: list[Placed | None] = []
    open_questions: dict[int, dict[str, Relation]] = {}
    for number, (each, near) in enumerate(zip(drafts, hits, strict=True)):
        strongest = _compared(learner, each, [id for id, _ in near])
        same = [id for id, found in strongest.items() if found == "evidence"]
        exact = [id for id in same if learner.graph.operations[id].description == each.description]
        if exact or (same and not each.worked):
            placed.append(Placed(each, vectors[number], "evidence", (exact or same)[0]))
        elif not strongest:
            placed.append(Placed(each, vectors[number], "new"))
        else:
            open_questions[number] = strongest
            placed.append(None)
    if open_questions:
        tally["merge_calls"] += 1
        decisions = _decide(learner, drafts, open_questions)
        if decisions is None:
            tally["malformed_merges"] += 1
            return None
        for number, strongest in open_questions.items():
            proposed, target = decisions.get(number, ("new", ""))
            final = allowed(proposed, strongest.get(target, "new"))
            tally["vetoes"] += final != proposed
            placed[number] = Placed(drafts[number], vectors[number], final, target if final != "new" else "")
    return [each for each in placed if each is not None]


def _compared(learner: Learner, each: Draft, near: Sequence[str]) -> dict[str, Relation]:
    """Candidates that the contracts let it be merged with, and how far."""
    found: dict[str, Relation] = {}
    mine: Contract = contract_of_draft(each)
    for id in near:
        stored = learner.graph.operations[id]
        if not each.worked:
            if attempted(each, stored):
                found[id] = "evidence"
        else:
            claim = relation(mine, contract_of(stored, learner.graph.states))
            if claim != "new":
                found[id] = claim
    return found


def _decide(
    learner: Learner, drafts: Sequence[Draft], questions: Mapping[int, Mapping[str, Relation]]
) -> dict[int, tuple[Relation, str]] | None:
    """What the backbone decides: draft -> (relation, operation). An unknown or outdated reference decides nothing."""
    graph = learner.graph
    proposals = [
        (
            number + 1,
            draft_card(drafts[number]),
            [card(graph.operations[id], graph.states, True) for id in strongest],
        )
        for number, strongest in questions.items()
    ]
    reply = ask(learner.backbone, merge_messages(proposals), role="write", schema=Decisions)
    if reply is None:
        return None
    found: dict[int, tuple[Relation, str]] = {}
    for decision in reply.decisions:
        number = decision.proposal - 1
        current = {graph.operations[id].reference: id for id in questions.get(number, ())}
        target = current.get(decision.target.strip(" []"), "")
        if number in questions and number not in found:
            found[number] = (decision.decision, target)
    return found


def draft_card(each: Draft) -> str:
    """A proposal as the merge prompt shows it."""
    contract = {
        "from": f"{' & '.join(each.source) or 'start'} -> {' & '.join(each.target) or 'start'}",
        "needs all of": ", ".join(map(str, each.inputs)),
        "gives": ", ".join(map(str, each.outputs)),
        "if": facts(each.conditions),
        "effects": facts(each.effects),
        "uses": each.api,
    }
    return "\n".join([each.description, *(f"  {name}: {text}" for name, text in contract.items() if text)])
