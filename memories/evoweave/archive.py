"""All that EvoWeave keeps: graph, capabilities, histories and numbers, and their documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from memories.base import DocumentError, Edge, Graph, Node, Resources
from memories.evoweave import records
from memories.evoweave.capabilities import CapabilityStore
from memories.evoweave.contracts import Operation, Predicates
from memories.evoweave.graph import ExperienceGraph
from memories.evoweave.learning import Lesson, Placed
from memories.evoweave.merging import contract_of_draft, published, with_evidence
from memories.evoweave.rendering import facts
from memories.evoweave.retrieval import embed
from memories.index import VectorIndex
from memories.store import STATE, take_numbers, write_numbers


class Archive:
    """The persistent state. What is published goes through `publish`, whole lessons at a time."""

    def __init__(self, resources: Resources) -> None:
        self._embedder = resources.embedder
        self._resources = resources
        self.capabilities = CapabilityStore(resources.capabilities, resources.embedder)
        self.graph = ExperienceGraph(self.capabilities.resolves)
        self.index = VectorIndex(resources.embedder.dimension)
        """Live operations by description."""
        self.state_index = VectorIndex(resources.embedder.dimension)
        self.numbers: Counter[str] = Counter()
        self._links: Counter[str] = Counter()
        self._texts: dict[str, str] = {}

    def publish(self, lesson: Lesson, task: int) -> list[str]:
        """Put a lesson into graph and capability layer; gives what changed, for the history."""
        for code in lesson.code:
            self.capabilities.put_code(code)
            self._texts[records.document_name(records.CODE, code.id)] = records.code_text(code)
        roles = [self.capabilities.put_role(domain, advice) for domain, advice in lesson.roles.items()]
        for id in roles:
            self._texts[records.document_name(records.ROLES, id)] = records.role_text(
                self.capabilities.roles[id]
            )
        for api, note in lesson.usage:
            if self.capabilities.note_usage(api, note):
                usage = self.capabilities.usages[api]
                self._texts[records.document_name(records.USAGE, api)] = records.usage_text(usage)
        fresh: dict[object, str] = {}
        operations = [self._put(placed, task, fresh) for placed in lesson.placed]
        return [*(f"code {code.id}" for code in lesson.code), *roles, *operations]

    def _put(self, placed: Placed, task: int, fresh: dict[object, str]) -> str:
        """Publish one draft. `fresh`: what this lesson published before, so that a repetition is evidence."""
        draft = placed.draft
        code, roles = draft.code, (draft.role,) if draft.role else ()
        same = (draft.description, contract_of_draft(draft), draft.worked)
        target = placed.target if placed.relation == "evidence" else fresh.get(same, "")
        relation = "evidence" if target else placed.relation
        if target:
            operation = with_evidence(self.graph.operations[target], draft, task, code, roles)
        else:
            source, end = self._state(draft.source), self._state(draft.target)
            operation = published(
                draft, self.graph.new_operation_id(), source, end, task, code, roles, placed.target
            )
            self.index.add(operation.id, placed.vector)
            fresh[same] = operation.id
        self.numbers[relation] += 1
        self._keep(operation)
        self._texts[records.document_name(records.OPERATIONS, operation.id)] = records.operation_text(
            operation
        )
        return f"{operation.reference} ({relation})"

    def _keep(self, operation: Operation) -> None:
        old = self.graph.operations.get(operation.id)
        self.graph.put(operation)
        for each, sign in ((old, -1), (operation, 1)):
            if each is not None:
                self._links["api_links"] += sign * bool(each.api)
                self._links["code_links"] += sign * len(each.code)
                self._links["role_links"] += sign * len(each.roles)

    def _state(self, wanted: Predicates) -> str:
        known = self.graph.state_of(wanted)
        if known is not None:
            return known.id
        state = self.graph.new_state(wanted)
        self.state_index.add(state.id, embed(self._embedder, [state.text])[0])
        self.graph.add_state(state)
        self._texts[records.document_name(records.STATES, state.id)] = records.state_text(state)
        return state.id

    def keep_history(
        self,
        task: int,
        instruction: str,
        outcome: str,
        lesson: Lesson,
        references: Sequence[str],
        changed: Sequence[str],
    ) -> None:
        """Keep the concrete artefact of a reflection."""
        self._texts[records.document_name(records.HISTORY, f"{task:05d}")] = records.history_text(
            task, instruction, outcome, lesson.history, references, changed, lesson.rejected
        )

    def documents(self) -> dict[str, str]:
        """One document a state, operation, capability and history, and the numbers."""
        return {STATE: write_numbers(dict(sorted({"episodes": 0, **self.numbers}.items()))), **self._texts}

    @classmethod
    def read(cls, resources: Resources, documents: Mapping[str, str]) -> Archive:
        """The archive that `documents` hold. Raises DocumentError."""
        archive = cls(resources)
        left = dict(documents)
        archive.numbers = take_numbers(left)
        for name in sorted(left, key=_loading_order):
            try:
                archive._read(name, left[name])
            except DocumentError:
                raise
            except ValueError as error:
                raise DocumentError(f"{name}: {error}") from error
        archive._embed_all()
        archive._texts = left
        return archive

    def _read(self, name: str, text: str) -> None:
        folder, id = name[: name.find("/") + 1], ""
        if folder == records.STATES:
            state = records.read_state(name, text)
            self.graph.add_state(state)
            id = state.id
        elif folder == records.OPERATIONS:
            operation = records.read_operation(name, text)
            self._keep(operation)
            id = operation.id
        elif folder == records.CODE:
            code = records.read_code(name, text)
            self.capabilities.put_code(code)
            id = code.id
        elif folder == records.ROLES:
            role = records.read_role(name, text)
            self.capabilities.roles[role.id] = role
            id = role.id
        elif folder == records.USAGE:
            usage = records.read_usage(name, text)
            self.capabilities.usages[usage.api] = usage
            id = usage.api
        elif folder == records.HISTORY:
            records.check_history(name, text)
            return
        else:
            raise records.refuse(name)
        if name != records.document_name(folder, id):
            raise DocumentError(
                f"{name}: it holds {id!r}, which belongs into {records.document_name(folder, id)}"
            )

    def _embed_all(self) -> None:
        live = sorted(self.graph.live())
        described = [self.graph.operations[id].description for id in live]
        states = list(self.graph.states.values())
        for index, ids, texts in (
            (self.index, live, described),
            (self.state_index, [state.id for state in states], [state.text for state in states]),
        ):
            for id, vector in zip(ids, embed(self._embedder, texts), strict=True):
                index.add(id, vector)

    def counters(self) -> dict[str, float]:
        """States, operations, capability nodes and links (the paper's table 3), and the numbers of the stream."""
        return {
            "states": len(self.graph.states),
            "operations": len(self.graph.operations),
            "api_nodes": len(self.capabilities.apis),
            "api_links": self._links["api_links"],
            "code_nodes": len(self.capabilities.codes),
            "code_links": self._links["code_links"],
            "role_nodes": len(self.capabilities.roles),
            "role_links": self._links["role_links"],
            **{name: self.numbers[name] for name in sorted({*NUMBERS, *self.numbers})},
        }

    def drawing(self) -> Graph:
        """States as nodes, operations as nodes on the way between them, linked to their capabilities."""
        states = sorted(self.graph.states.items())
        nodes = [Node(id, "state", state.text) for id, state in states]
        edges: list[Edge] = []
        used: set[str] = set()
        for _, operation in sorted(self.graph.operations.items()):
            nodes.append(Node(operation.id, "operation", operation.description, _about(operation)))
            edges.append(Edge(operation.source, operation.id, "from"))
            edges.append(Edge(operation.id, operation.target, "to"))
            for kind, ids in (("api", (operation.api,)), ("code", operation.code), ("role", operation.roles)):
                for id in filter(None, ids):
                    edges.append(Edge(operation.id, id, kind))
                    used.add(id)
        store = self.capabilities
        nodes += [Node(id, "api", api.summary) for id, api in store.apis.items() if id in used]
        nodes += [Node(id, "code", code.summary) for id, code in sorted(store.codes.items())]
        nodes += [Node(id, "role", role.domain) for id, role in sorted(store.roles.items())]
        return Graph(nodes, edges)


_NUMBERS_WORDS = """
    new evidence variant rejected vetoes malformed malformed_reflections malformed_merges repairs
    gap no_candidate truncated conflict missing fragment plan candidate expansions retrieved opened
    referenced executed execution_checks searched neighbors path replan episodes with_reference
"""
NUMBERS = tuple(_NUMBERS_WORDS.split())
"""Numbers that are always among the counters, 0 where nothing happened."""


def _loading_order(name: str) -> tuple[int, str]:
    """Operations come last, since what they refer to must be there."""
    return (name.startswith(records.OPERATIONS), name)


def _about(operation: Operation) -> dict[str, str]:
    about = {
        "version": str(operation.version),
        "needs": ", ".join(map(str, operation.inputs)),
        "gives": ", ".join(map(str, operation.outputs)),
        "if": facts(operation.conditions),
        "effects": facts(operation.effects),
        "superseded by": operation.superseded_by,
    }
    return {name: text for name, text in about.items() if text}
