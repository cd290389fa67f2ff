"""The experience graph: a directed multigraph of states and operations, cycles allowed (section 3.1)."""

from __future__ import annotations

from collections.abc import Callable

from memories.evoweave.contracts import Operation, Predicates, State

Step = tuple[str, str]
"""(operation id, state it leads to)."""


class ExperienceGraph:
    """States and operations by id, with the adjacency that searches need.

    Only live operations are edges of the adjacency: not superseded, and with references that
    `resolves` accepts; the others are kept for the record. What a search finds depends on the states
    and operations alone, not on the order in which they came.
    """

    def __init__(self, resolves: Callable[[Operation], bool] = lambda operation: True) -> None:
        self.states: dict[str, State] = {}
        self.operations: dict[str, Operation] = {}
        self._resolves = resolves
        self._live: set[str] = set()
        self._by_predicates: dict[Predicates, str] = {}
        self._leaving: dict[str, dict[str, str]] = {}
        self._arriving: dict[str, dict[str, str]] = {}
        self._successors: dict[str, list[Step]] = {}
        self._last_state = self._last_operation = 0

    def is_live(self, id: str) -> bool:
        """Whether retrieval may use the operation."""
        return id in self._live

    def live(self) -> set[str]:
        """Ids of all live operations; not to be changed."""
        return self._live

    def state_of(self, predicates: Predicates) -> State | None:
        """The state with exactly these (normalised) predicates, if there is one."""
        found = self._by_predicates.get(predicates)
        return self.states[found] if found else None

    def new_state(self, predicates: Predicates) -> State:
        """The state of these predicates under the next free id, not yet added."""
        return State(f"st{self._last_state + 1:04d}", predicates)

    def new_operation_id(self) -> str:
        """The next free id."""
        return f"op{self._last_operation + 1:05d}"

    def add_state(self, state: State) -> None:
        """Add a state. Raises ValueError if its id or its predicates are taken."""
        if state.id in self.states or state.predicates in self._by_predicates:
            raise ValueError(f"state {state.id} ({state.text}) is in the graph already")
        self.states[state.id] = state
        self._by_predicates[state.predicates] = state.id
        self._last_state = max(self._last_state, int(state.id[2:]))

    def put(self, operation: Operation) -> None:
        """Add an operation, or replace it by a newer version. Raises ValueError for what does not fit."""
        for state in (operation.source, operation.target):
            if state not in self.states:
                raise ValueError(f"{operation.id} names state {state!r}, which is not in the graph")
        old = self.operations.get(operation.id)
        if old is not None and operation.version <= old.version:
            raise ValueError(f"{operation.reference} is no newer than {old.reference}")
        self.operations[operation.id] = operation
        self._last_operation = max(self._last_operation, int(operation.id[2:]))
        was_live, is_live = operation.id in self._live, self._usable(operation)
        if old and was_live and is_live and (old.source, old.target) == (operation.source, operation.target):
            return
        if old and was_live:
            self._live.discard(old.id)
            del self._leaving[old.source][old.id], self._arriving[old.target][old.id]
            self._successors.pop(old.source, None)
        if is_live:
            self._live.add(operation.id)
            self._leaving.setdefault(operation.source, {})[operation.id] = operation.target
            self._arriving.setdefault(operation.target, {})[operation.id] = operation.source
            self._successors.pop(operation.source, None)

    def _usable(self, operation: Operation) -> bool:
        return not operation.superseded_by and self._resolves(operation)

    def leaving(self, state: str) -> list[str]:
        """Ids of the live operations that start from `state`, in order."""
        return sorted(self._leaving.get(state, ()))

    def arriving(self, state: str) -> list[str]:
        """Ids of the live operations that end in `state`, in order."""
        return sorted(self._arriving.get(state, ()))

    def successors(self, state: str) -> list[Step]:
        """The states one live operation away, each once, by its first operation; in order of operation ids.

        Parallel edges are one way on: a search costs what the states cost, however many edges join them.
        """
        known = self._successors.get(state)
        if known is None:
            first: dict[str, str] = {}
            for id, target in self._leaving.get(state, {}).items():
                if target not in first or id < first[target]:
                    first[target] = id
            known = self._successors[state] = sorted((id, target) for target, id in first.items())
        return known
