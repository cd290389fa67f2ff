"""EvoWeave: experience as operations between abstract states, retrieved along the current task's plan.

Paper: "EvoWeave: Composing Reusable Agent Experience through Operation Level Graphs" (arXiv
2610.19381). No public code is known; the text leaves its displayed formulas and Algorithm 1 open. What
it leaves open and we decided is marked [ours] where it stands. The parts: contracts and graph; plan,
connect, assemble and retrieval (before acting); recall and tools (during it); learning with
abstraction, merging and stored_code (after it); prompts, and the offline reader's rules in offline.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pydantic import NonNegativeInt, PositiveInt

from agents.tokens import count
from envs.base import Task
from memories.base import Cosine, Experience, Graph, Item, Recall, Resources
from memories.evoweave import offline  # noqa: F401 (registers the reader's rules)
from memories.evoweave.archive import Archive
from memories.evoweave.assemble import MAX_CARDS
from memories.evoweave.capabilities import API_THRESHOLD, CODE_THRESHOLD, MAX_APIS, MAX_CODES
from memories.evoweave.connect import MAX_DEPTH, MAX_EXPANSIONS
from memories.evoweave.invoked import Reading
from memories.evoweave.learning import Learner, learn
from memories.evoweave.merging import MERGE_CANDIDATES, MERGE_THRESHOLD
from memories.evoweave.plan import Plan
from memories.evoweave.planning import changed_steps, history_text, read_plan
from memories.evoweave.prompts import PlanReply, plan_messages
from memories.evoweave.recall import EvoWeaveRecall
from memories.evoweave.rendering import log, padded, plan_text, retrieval_text
from memories.evoweave.retrieval import (
    OPERATION_CANDIDATES,
    OPERATION_THRESHOLD,
    Limits,
    Retrieval,
    embed,
    retrieve,
)
from memories.evoweave.tools import Desk, tools
from memories.prompting import UNANSWERED


class EvoWeave:
    """The whole memory; its configurations C to F differ in `connections` and `active_retrieval` only."""

    def __init__(
        self,
        resources: Resources,
        connections: bool = True,
        active_retrieval: bool = True,
        operation_threshold: Cosine = OPERATION_THRESHOLD,
        operation_candidates: NonNegativeInt = OPERATION_CANDIDATES,
        merge_threshold: Cosine = MERGE_THRESHOLD,
        merge_candidates: NonNegativeInt = MERGE_CANDIDATES,
        max_depth: NonNegativeInt = MAX_DEPTH,
        max_expansions: NonNegativeInt = MAX_EXPANSIONS,
        max_cards: NonNegativeInt = MAX_CARDS,
        api_threshold: Cosine = API_THRESHOLD,
        max_apis: NonNegativeInt = MAX_APIS,
        code_threshold: Cosine = CODE_THRESHOLD,
        max_codes: NonNegativeInt = MAX_CODES,
        episode_tokens: PositiveInt = 6000,
        vocabulary: NonNegativeInt = 40,
        match_tokens: bool = False,
        search_budget: NonNegativeInt | None = None,
        freeze_capabilities: bool = False,
    ) -> None:
        """See configs/memory/evoweave.yaml for what each parameter is and where it comes from."""
        self.connections = connections
        self.active_retrieval = active_retrieval
        self.limits = Limits(
            operation_threshold=operation_threshold,
            operation_candidates=operation_candidates,
            max_depth=max_depth,
            max_expansions=max_expansions,
            max_cards=max_cards,
            api_threshold=api_threshold,
            max_apis=max_apis,
            code_threshold=code_threshold,
            max_codes=max_codes,
        )
        self.match_tokens = match_tokens
        self.search_budget = search_budget
        self.merge_threshold, self.merge_candidates = merge_threshold, merge_candidates
        self.episode_tokens, self.vocabulary = episode_tokens, vocabulary
        self.freeze_capabilities = freeze_capabilities
        self._resources = resources
        definitions = {capability.id: capability.definition for capability in resources.capabilities}
        self._reading = Reading(definitions, resources.form)
        self._archive = Archive(resources)

    def begin(self, task: Task, observation: str) -> Recall:
        """Plan without looking at the memory, then retrieve along the plan. Raises EmbeddingFailed.

        A plan that stays malformed is recorded, and the episode goes on without one.
        """
        archive = self._archive
        recall = EvoWeaveRecall(
            reading=self._reading,
            operations=archive.graph.operations.__contains__,
            functions={c.id: c.body for c in archive.capabilities.codes.values() if c.kind == "function"},
            open_body=archive.capabilities.body,
            searches_left=self.search_budget,
        )
        desk = Desk(
            archive.graph,
            archive.index,
            archive.capabilities,
            self._resources.embedder,
            self.limits,
            self.connections,
            lambda reason: self._replan(task, observation, recall, reason),
        )
        recall.tools = tools(desk, recall, self.active_retrieval)
        reply = self._plan(task.instruction, observation, recall)
        if reply is not None:
            plan, recall.bindings = read_plan(reply)
            recall.text = self._retrieve(plan, recall)
        recall.items = [Item(id, "operation") for id in sorted(recall.retrieved)]
        return recall

    def _plan(
        self,
        instruction: str,
        history: str,
        recall: EvoWeaveRecall,
        earlier: str = "",
        reason: str = "",
        wrong: str = "",
    ) -> PlanReply | None:
        messages = plan_messages(instruction, history, earlier, reason, wrong)
        try:
            reply = self._resources.backbone.complete(messages, role="plan", schema=PlanReply).data
        except UNANSWERED as error:
            recall.note("malformed", "plan", str(error)[:300])
            return None
        assert isinstance(reply, PlanReply)
        return reply

    def _retrieve(self, plan: Plan, recall: EvoWeaveRecall, before: Retrieval | None = None) -> str:
        """The text for a plan; what was chosen for steps of the plan before stays."""
        graph = self._archive.graph
        vectors = embed(self._resources.embedder, [step.description for step in plan.steps])
        found = retrieve(
            graph,
            self._archive.index,
            plan,
            vectors,
            self.limits,
            self.connections or self.match_tokens,
            before.candidates if before else None,
            before.assignment.chosen if before else None,
        )
        recall.retrieval = found
        log(found, recall.note)
        recall.tally["expansions"] += found.expansions
        recall.show(found.visible.cards, "plan")
        whole = retrieval_text(found, graph.operations, graph.states, recall.bindings, self.connections)
        if not self.match_tokens:
            return whole
        whole = retrieval_text(found, graph.operations, graph.states, recall.bindings, True)
        bare = retrieval_text(
            replace(found, connections=()), graph.operations, graph.states, recall.bindings, False
        )
        return padded(bare, count(whole), [graph.operations[id].description for id in found.visible.cards])

    def _replan(self, task: Task, observation: str, recall: EvoWeaveRecall, reason: str) -> str:
        """A new plan during the episode; steps that stay keep id, candidates and assignment."""
        recall.note("replan", "", reason)
        old = recall.retrieval
        earlier = plan_text(old.plan) if old else ""
        history = history_text(observation, recall.history)
        wrong = ""
        for _ in range(2):
            reply = self._plan(task.instruction, history, recall, earlier, reason, wrong)
            if reply is None:
                return "No new plan could be made: the planner's reply was malformed. Go on with the old one."
            plan, bindings = read_plan(reply)
            wrong = changed_steps(old.plan, plan) if old else ""
            if not wrong:
                recall.bindings = {**recall.bindings, **bindings}
                return self._retrieve(plan, recall, old)
        recall.note("malformed", "plan", wrong)
        return f"No new plan could be made: {wrong}. Go on with the old one."

    def write(self, experience: Experience) -> None:
        """Reflect, and publish what passes validation: all of it, or nothing. Raises EmbeddingFailed."""
        archive = self._archive
        learner = Learner(
            self._resources.backbone,
            self._resources.embedder,
            archive.graph,
            archive.index,
            archive.state_index,
            archive.capabilities,
            self._reading,
            self.merge_threshold,
            self.merge_candidates,
            self.episode_tokens,
            self.vocabulary,
            self.freeze_capabilities,
        )
        recall, task = experience.recall, experience.episode.task
        lesson = learn(learner, experience)
        references = [f"{id} (reflection)" for id in lesson.cited]
        if isinstance(recall, EvoWeaveRecall):
            recall.catch_up(experience.episode.steps)
            for id in lesson.cited:
                recall.note("referenced", id, "reflection")
            references = [f"{id} (agent)" for id in sorted(recall.referenced)] + references
            archive.numbers.update(recall.tally)
        archive.numbers.update({"episodes": 1, "with_reference": int(bool(references)), **lesson.tally})
        changed = archive.publish(lesson, task.number)
        archive.keep_history(
            task.number, task.instruction, experience.verdict.outcome, lesson, references, changed
        )

    def documents(self) -> Mapping[str, str]:
        """One document a state, operation, capability and history, and the numbers."""
        return self._archive.documents()

    def load(self, documents: Mapping[str, str]) -> None:
        """Raises DocumentError, and then has changed nothing."""
        self._archive = Archive.read(self._resources, documents)

    def counters(self) -> Mapping[str, float]:
        """Table 3's counts and what happened over the stream (see archive.NUMBERS)."""
        return self._archive.counters()

    def graph(self) -> Graph | None:
        """States, operations and capabilities."""
        return self._archive.drawing()
