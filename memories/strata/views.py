"""The views of all live nodes in matrices and posting lists: one pass scores a query against all of them.

Rows are appended; a removed row stays until a quarter of the rows are dead. Because the cosines are exact
(see similarity.GRID) no score depends on where a row lies.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from memories.base import Vectors
from memories.strata.graph import KINDS, Kind
from memories.strata.similarity import Floats, View, Weights, combine, inverse_frequency, jaccard

Rows = npt.NDArray[np.int64]
_BLOCK = 128


class Views:
    """Views by node id."""

    def __init__(self, dimension: int, weights: Weights) -> None:
        self.dimension = dimension
        self.weights = weights
        self._clear(16)

    def _clear(self, capacity: int) -> None:
        self.ids: list[str] = []
        self.row: dict[str, int] = {}
        self._views: list[View | None] = []
        self._tags: dict[str, array[int]] = {}
        self._words: dict[str, array[int]] = {}
        self._holding: dict[str, int] = {}
        self._content = np.zeros((capacity, self.dimension), dtype=np.float32)
        self._index = np.zeros((capacity, self.dimension), dtype=np.float32)
        self._number = np.zeros(capacity, dtype=np.int64)
        self._kind = np.full(capacity, -1, dtype=np.int8)
        self._sizes = np.zeros((2, capacity), dtype=np.float64)

    def __len__(self) -> int:
        return len(self.row)

    def put(self, node: str, number: int, kind: Kind, view: View) -> None:
        """Add a node's views, or replace them."""
        if node in self.row:
            self.remove(node)
        if len(self.ids) == len(self._number):
            self._rebuild(2 * len(self._number))
        self._append(len(self.ids), node, number, KINDS.index(kind), view)

    def _append(self, row: int, node: str, number: int, kind: int, view: View) -> None:
        self.ids.append(node)
        self.row[node] = row
        self._content[row], self._index[row] = view.content, view.index
        self._number[row], self._kind[row] = number, kind
        self._sizes[:, row] = len(view.tags), len(view.words)
        for postings, keys in ((self._tags, view.tags), (self._words, view.words)):
            for key in keys:
                postings.setdefault(sys.intern(key), array("i")).append(row)
        for word in view.words:
            self._holding[word] = self._holding.get(word, 0) + 1
        # The rows of the matrices are the node's vectors from here on: no second copy is kept.
        self._views.append(View(self._content[row], self._index[row], view.tags, view.words))

    def remove(self, node: str) -> None:
        """Forget a node's views."""
        row = self.row.pop(node)
        view = self._views[row]
        assert view is not None
        for word in view.words:
            self._holding[word] -= 1
        self._views[row] = None
        self._kind[row] = -1
        dead = len(self.ids) - len(self.row)
        if dead > 32 and dead * 4 > len(self.ids):
            self._rebuild(len(self._number))

    def _rebuild(self, capacity: int) -> None:
        kept = [
            (node, self._number[row], self._kind[row], self._views[row]) for node, row in self.row.items()
        ]
        self._clear(capacity)
        for row, (node, number, kind, view) in enumerate(kept):
            assert view is not None
            self._append(row, node, int(number), int(kind), view)

    def view(self, node: str) -> View:
        """The view of a node."""
        view = self._views[self.row[node]]
        assert view is not None
        return view

    def rows(self, kind: Kind) -> Rows:
        """Rows of the live nodes of a kind."""
        return np.flatnonzero(self._kind[: len(self.ids)] == KINDS.index(kind))

    def kinds(self) -> npt.NDArray[np.int8]:
        """Index into graph.KINDS for each row, -1 for a dead one."""
        kinds: npt.NDArray[np.int8] = self._kind[: len(self.ids)]
        return kinds

    def numbers(self) -> Rows:
        """Creation number of each row's node."""
        numbers: Rows = self._number[: len(self.ids)]
        return numbers

    def holders(self, tags: Iterable[str]) -> set[str]:
        """Nodes that hold one of the tags."""
        rows = {row for tag in tags for row in self._tags.get(tag, ())}
        return {self.ids[row] for row in rows if self._views[row] is not None}

    def contents(self, nodes: Sequence[str]) -> Vectors:
        """Content embeddings, shape (len(nodes), dimension)."""
        picked: Vectors = self._content[[self.row[node] for node in nodes]]
        return picked

    def query_scores(self, query: View) -> Floats:
        """s(q, n) for every row, shape (rows,); the lexical signal is the share of the query's words,
        weighted by rarity. What a dead row holds means nothing."""
        rarity = {
            word: inverse_frequency(len(self), self._holding.get(word, 0)) for word in sorted(query.words)
        }
        whole = sum(rarity.values())
        lexical = self._shared(self._words, rarity) / whole if whole else np.zeros(len(self.ids))
        return self._scores(query, lexical)

    def node_scores(self, view: View) -> Floats:
        """s_nn for every row, shape (rows,); the lexical signal is the Jaccard overlap of the words [ours],
        without rarity, which would change with every node and so could not be kept in a graph."""
        shared = self._shared(self._words, dict.fromkeys(sorted(view.words), 1.0))
        return self._scores(view, jaccard(shared, len(view.words), self._sizes[1, : len(self.ids)]))

    def pair_scores(self, rows: Rows) -> Iterator[Floats]:
        """s_nn of all pairs of `rows`, in blocks of shape (up to 128, len(rows)): the full computation."""
        from scipy.sparse import csr_matrix

        def incidence(postings: dict[str, array[int]]) -> csr_matrix:
            place = np.full(len(self.ids), -1, dtype=np.int64)
            place[rows] = np.arange(len(rows))
            held = [place[np.frombuffer(posting, dtype=np.int32)] for posting in postings.values()]
            columns = np.concatenate([np.full(len(h), n) for n, h in enumerate(held)] or [rows[:0]])
            holders = np.concatenate(held or [rows[:0]])
            columns, holders = columns[holders >= 0], holders[holders >= 0]
            return csr_matrix((np.ones(len(holders)), (holders, columns)), (len(rows), len(postings) + 1))

        sets = [(incidence(self._tags), self._sizes[0, rows]), (incidence(self._words), self._sizes[1, rows])]
        content, index = self._content[rows], self._index[rows]
        for start in range(0, len(rows), _BLOCK):
            part = slice(start, start + _BLOCK)
            overlaps = []
            for holds, size in sets:
                shared = (holds[part] @ holds.T).toarray()
                overlaps.append(shared / np.maximum(size[part, None] + size[None, :] - shared, 1))
            contents = (content[part] @ content.T).astype(np.float64)
            indices = (index[part] @ index.T).astype(np.float64)
            yield combine(contents, indices, overlaps[0], overlaps[1], self.weights)

    def _scores(self, view: View, lexical: Floats) -> Floats:
        size = len(self.ids)
        shared = self._shared(self._tags, dict.fromkeys(sorted(view.tags), 1.0))
        tags = jaccard(shared, len(view.tags), self._sizes[0, :size])
        none = np.zeros(size)
        content = (self._content[:size] @ view.content).astype(np.float64) if self.weights.content else none
        index = (self._index[:size] @ view.index).astype(np.float64) if self.weights.index else none
        return combine(content, index, tags, lexical, self.weights)

    def _shared(self, postings: dict[str, array[int]], weight: dict[str, float]) -> Floats:
        """For each row the summed weight of those keys of `weight` that it holds."""
        found = [(postings[key], value) for key, value in weight.items() if key in postings]
        return _gather(found, len(self.ids))


def _gather(found: Sequence[tuple[array[int], float]], size: int) -> Floats:
    """Summed weights by row. A key stands once in a node, and keys come in a fixed order: sums are exact."""
    if not found:
        return np.zeros(size)
    rows = np.concatenate([np.frombuffer(posting, dtype=np.int32) for posting, _ in found])
    weights = np.repeat([weight for _, weight in found], [len(posting) for posting, _ in found])
    total: Floats = np.bincount(rows, weights, size).astype(np.float64, copy=False)
    return total
