"""The capability layer: what operations refer to (EvoWeave, sections 3.1 and 3.3, appendix B.2).

`api`: the environment's public definitions, immutable. `code`: stored functions and action macros.
`role`: short records of a domain's advice. What was learned of an api stands beside its definition.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from envs.base import Capability
from memories.base import Embedder, EmbeddingFailed, Vectors
from memories.evoweave.contracts import Operation
from memories.index import VectorIndex

API_THRESHOLD = CODE_THRESHOLD = 0.35
"""Cosine of a capability search (table 5)."""
MAX_APIS, MAX_CODES = 8, 4
"""Cards of a capability search at most (table 5)."""


@dataclass(frozen=True)
class Usage:
    """What episodes taught about an api; its definition is never touched."""

    api: str
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Code:
    """A stored function (python) or an action macro (lines of actions with placeholders)."""

    id: str
    kind: Literal["function", "macro"]
    summary: str
    body: str
    parameters: tuple[str, ...]
    calls: tuple[str, ...]
    """Ids of the apis it uses."""
    test: str = ""
    """Assertions of a pure function."""
    validated: str = ""
    """How it was validated before it was published."""
    tasks: tuple[int, ...] = ()


@dataclass(frozen=True)
class RoleRecord:
    """A specialist's short record for one domain that the agent can see."""

    id: str
    domain: str
    advice: tuple[str, ...]
    version: int = 1


@dataclass(frozen=True)
class Card:
    """One hit of a capability search: no body."""

    id: str
    kind: Literal["api", "code"]
    summary: str
    similarity: float


class CapabilityStore:
    """All capabilities by id, searchable by meaning.

    The definitions of `apis` are embedded at the first search, in one go.
    """

    def __init__(self, apis: Sequence[Capability], embedder: Embedder) -> None:
        self.apis: Mapping[str, Capability] = {api.id: api for api in apis}
        self.codes: dict[str, Code] = {}
        self.roles: dict[str, RoleRecord] = {}
        self.usages: dict[str, Usage] = {}
        self._embedder = embedder
        self._api_index: VectorIndex | None = None
        self._code_index = VectorIndex(embedder.dimension)

    def resolves(self, operation: Operation) -> bool:
        """Whether every capability that the operation refers to exists here."""
        return (
            (not operation.api or operation.api in self.apis)
            and all(id in self.codes for id in operation.code)
            and all(id in self.roles for id in operation.roles)
        )

    def put_code(self, code: Code) -> None:
        """Publish code or replace it by the same id."""
        if code.id not in self.codes or self.codes[code.id].summary != code.summary:
            [vector] = self._embedder.embed([code.summary])
            put = self._code_index.replace if code.id in self._code_index else self._code_index.add
            put(code.id, vector)
        self.codes[code.id] = code

    def note_usage(self, api: str, note: str, limit: int = 5) -> bool:
        """Keep a note beside an api's definition, the latest `limit` [ours]; False if it was there already."""
        notes = self.usages[api].notes if api in self.usages else ()
        if note in notes:
            return False
        self.usages[api] = Usage(api, (*notes, note)[-limit:])
        return True

    def put_role(self, domain: str, advice: Iterable[str], limit: int = 5) -> str:
        """Add advice to the record of a domain, the latest `limit` lines [ours]; gives the record's id."""
        id = f"role:{domain}"
        old = self.roles.get(id)
        lines = old.advice if old else ()
        new = tuple(line for line in dict.fromkeys(advice) if line not in lines)
        if old is None:
            self.roles[id] = RoleRecord(id, domain, new[-limit:])
        elif new:
            self.roles[id] = replace(old, advice=(*lines, *new)[-limit:], version=old.version + 1)
        return id

    def search(
        self,
        text: str,
        api_threshold: float = API_THRESHOLD,
        max_apis: int = MAX_APIS,
        code_threshold: float = CODE_THRESHOLD,
        max_codes: int = MAX_CODES,
    ) -> list[Card]:
        """Cards of the apis and the code nearest in meaning to `text`. Raises EmbeddingFailed."""
        [query] = self._embedder.embed([text])
        apis = self._apis().search(query, max_apis, floor=api_threshold)
        codes = self._code_index.search(query, max_codes, floor=code_threshold)
        return [Card(id, "api", self.apis[id].summary, score) for id, score in apis] + [
            Card(id, "code", self.codes[id].summary, score) for id, score in codes
        ]

    def nearest_apis(self, query: Vectors, k: int) -> list[str]:
        """Ids of the `k` apis nearest to a vector."""
        return [id for id, _ in self._apis().search(query, k)]

    def _apis(self) -> VectorIndex:
        if self._api_index is None:
            index = VectorIndex(self._embedder.dimension)
            if self.apis:
                vectors = self._embedder.embed([f"{api.id}: {api.summary}" for api in self.apis.values()])
                if len(vectors) != len(self.apis):
                    raise EmbeddingFailed(f"{len(vectors)} vectors for {len(self.apis)} capability summaries")
                for id, vector in zip(self.apis, vectors, strict=True):
                    index.add(id, vector)
            self._api_index = index
        return self._api_index

    def body(self, id: str) -> str | None:
        """The whole definition or stored code with what was learned of it, or None if there is no such id."""
        if id in self.apis:
            learned = self.usages[id].notes if id in self.usages else ()
            return "\n".join([self.apis[id].definition, *(f"Learned: {note}" for note in learned)])
        if id in self.codes:
            code = self.codes[id]
            calls = f"\nCalls: {', '.join(code.calls)}" if code.calls else ""
            return f"{code.summary}\n{code.body}{calls}\nValidated: {code.validated}"
        if id in self.roles:
            return "\n".join(self.roles[id].advice)
        return None
