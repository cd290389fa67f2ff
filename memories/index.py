"""Exact nearest-neighbour search over named vectors.

One matrix product over all entries: at the sizes a stream reaches it costs less than an approximate
index, and loses neither recall nor determinism. What a search returns depends on the entries alone,
never on the order in which they came or on how many were removed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from memories.base import Vectors

Hit = tuple[str, float]
"""(id, score): the score is the inner product (the cosine of unit vectors), rounded to 6 decimals."""

_SLACK = np.float32(4e-6)
"""More than the rounding of a float32 product: BLAS sums rows at different places differently."""


class VectorIndex:
    """Vectors by id in one matrix that grows by doubling.

    Ids are any texts; vectors have shape (dimension,) and are used as they are (give unit vectors
    for cosines).
    """

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._matrix = np.empty((16, dimension), dtype=np.float32)
        self._ids: list[str] = []
        self._row: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, id: object) -> bool:
        return id in self._row

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def vector(self, id: str) -> Vectors:
        """A copy of the vector of `id`, shape (dimension,). Raises KeyError."""
        row: Vectors = self._matrix[self._row[id]].copy()
        return row

    def add(self, id: str, vector: Vectors) -> None:
        """Add a new entry. Raises ValueError if the id is taken or the shape is wrong."""
        if id in self._row:
            raise ValueError(f"the index already holds {id!r}: use `replace`")
        checked = self._checked(id, vector)
        if len(self._ids) == len(self._matrix):
            larger = np.empty((2 * len(self._matrix), self.dimension), dtype=np.float32)
            larger[: len(self._ids)] = self._matrix
            self._matrix = larger
        self._row[id] = len(self._ids)
        self._matrix[len(self._ids)] = checked
        self._ids.append(id)

    def replace(self, id: str, vector: Vectors) -> None:
        """Give an entry another vector. Raises KeyError if there is no such entry, ValueError as `add`."""
        self._matrix[self._row[id]] = self._checked(id, vector)

    def remove(self, id: str) -> None:
        """Take an entry out: the last row moves into its place. Raises KeyError if there is none."""
        row = self._row.pop(id)
        last = self._ids.pop()
        if last != id:
            self._matrix[row] = self._matrix[len(self._ids)]
            self._ids[row] = last
            self._row[last] = row

    def search(
        self,
        query: Vectors,
        k: int | None = None,
        *,
        floor: float | None = None,
        without: Collection[str] = (),
    ) -> list[Hit]:
        """The `k` best entries (all for None) with a score of at least `floor`, none of `without`.

        Best first, equal scores in the order of their ids. `query` has shape (dimension,).
        """
        return self.search_many(
            np.asarray(query, dtype=np.float32)[None, :], k, floor=floor, without=without
        )[0]

    def search_many(
        self,
        queries: Vectors,
        k: int | None = None,
        *,
        floor: float | None = None,
        without: Collection[str] = (),
    ) -> list[list[Hit]]:
        """`search` for each row of `queries`, shape (n, dimension), by one product."""
        queries = np.ascontiguousarray(queries, dtype=np.float32)
        if queries.ndim != 2 or queries.shape[1] != self.dimension:
            raise ValueError(f"queries of shape {queries.shape} in an index of dimension {self.dimension}")
        if not self._ids or not len(queries) or (k is not None and k <= 0):
            return [[] for _ in queries]
        matrix = self._matrix[: len(self._ids)]
        products = matrix @ queries[0] if len(queries) == 1 else (matrix @ queries.T).T
        hidden = [self._row[id] for id in without if id in self._row]
        rows = products.reshape(len(queries), -1)
        return [self._best(q, scores, k, floor, hidden) for q, scores in zip(queries, rows, strict=True)]

    def _best(
        self, query: Vectors, scores: Vectors, k: int | None, floor: float | None, hidden: Sequence[int]
    ) -> list[Hit]:
        if hidden:
            scores = scores.copy()
            scores[hidden] = -np.inf
        least = np.float32(-np.inf if floor is None else floor)
        if k is not None and k < len(scores):
            least = max(least, np.partition(scores, len(scores) - k)[len(scores) - k])
        near = np.flatnonzero((scores >= least - _SLACK) & (scores > -np.inf))
        exact = np.round(self._matrix[near].astype(np.float64) @ query.astype(np.float64), 6) + 0.0
        hits = [(self._ids[row], float(score)) for row, score in zip(near, exact, strict=True)]
        if floor is not None:
            hits = [hit for hit in hits if hit[1] >= floor]
        hits.sort(key=lambda hit: (-hit[1], hit[0]))
        return hits if k is None else hits[:k]

    def _checked(self, id: str, vector: Vectors) -> Vectors:
        given = np.asarray(vector, dtype=np.float32)
        if given.shape != (self.dimension,) or not np.isfinite(given).all():
            raise ValueError(
                f"the vector of {id!r} has shape {given.shape}: needed are {self.dimension} finite numbers"
            )
        return given
