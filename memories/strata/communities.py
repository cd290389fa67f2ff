"""Communities, conductance and cut vertices of the workflow graph W.

A graph is given as three arrays: the lower row, the higher row and the integer weight of each undirected
edge. Integer weights (millionths) add up exactly, so that equal sums are equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

UNIT = 1_000_000
"""A similarity of 1 as an integer weight."""


@dataclass(frozen=True)
class Edges:
    """An undirected graph over rows 0 .. size - 1, each pair once."""

    size: int
    low: Ints
    high: Ints
    weight: Ints
    """Millionths."""

    def same_as(self, other: Edges) -> bool:
        """Whether the two are one graph."""
        mine, theirs = ((e.low, e.high, e.weight) for e in (self, other))
        return self.size == other.size and all(map(np.array_equal, mine, theirs))

    def degrees(self) -> Ints:
        """Weighted degree of every row."""
        return _sums(self.low, self.weight, self.size) + _sums(self.high, self.weight, self.size)


def _sums(rows: Ints, values: Ints, size: int) -> Ints:
    total = np.zeros(size, dtype=np.int64)
    np.add.at(total, rows, values)
    return total


def louvain(edges: Edges, resolution: float, seed: int) -> list[list[int]]:
    """Communities of two rows or more, rows ascending, by their first row (Blondel et al. 2008; weighted)."""
    from scipy.sparse import coo_matrix
    from sknetwork.clustering import Louvain

    linked = np.unique(np.concatenate([edges.low, edges.high]))
    if not len(linked):
        return []
    low, high = np.searchsorted(linked, edges.low), np.searchsorted(linked, edges.high)
    weight = edges.weight / UNIT
    rows, columns = np.concatenate([low, high]), np.concatenate([high, low])
    adjacency = coo_matrix((np.concatenate([weight, weight]), (rows, columns)), shape=(len(linked),) * 2)
    labels = Louvain(resolution, shuffle_nodes=True, random_state=seed).fit_predict(adjacency.tocsr())
    found: dict[int, list[int]] = {}
    for row, label in zip(linked.tolist(), labels.tolist(), strict=True):
        found.setdefault(label, []).append(row)
    return sorted(members for members in found.values() if len(members) > 1)


def conductances(edges: Edges, communities: Sequence[Sequence[int]]) -> list[float]:
    """phi(C) = cut / min(vol C, vol of the rest) of each community (Shi and Malik 2000).

    0 where cut and volume are 0: a community with no edge outside is as tight as can be.
    """
    label = np.full(edges.size, -1, dtype=np.int64)
    for index, members in enumerate(communities):
        label[np.asarray(members, dtype=np.int64)] = index
    volume = np.zeros(len(communities), dtype=np.int64)
    cut = np.zeros(len(communities), dtype=np.int64)
    one, other = label[edges.low], label[edges.high]
    for side in (one, other):
        inside, leaves = side >= 0, (side >= 0) & (one != other)
        np.add.at(volume, side[inside], edges.weight[inside])
        np.add.at(cut, side[leaves], edges.weight[leaves])
    total = 2 * int(edges.weight.sum())
    smaller = np.minimum(volume, total - volume)
    return [int(c) / int(v) if v else 0.0 for c, v in zip(cut, smaller, strict=True)]


class Survivors:
    """W while rows are deleted from it: cut vertices and degrees on what is left."""

    def __init__(self, edges: Edges) -> None:
        import rustworkx

        self._cut = rustworkx.articulation_points
        self._graph = rustworkx.PyGraph(multigraph=False)
        self._graph.add_nodes_from(range(edges.size))
        pairs = zip(edges.low.tolist(), edges.high.tolist(), edges.weight.tolist(), strict=True)
        self._graph.add_edges_from(list(pairs))
        self._degree = edges.degrees()
        self.rows = list(range(edges.size))

    def degrees(self) -> list[int]:
        """Weighted degree among survivors, in the order of `rows`."""
        return [int(self._degree[row]) for row in self.rows]

    def cut_vertices(self) -> frozenset[int]:
        """Rows whose removal would split what is left (Tarjan 1972)."""
        return frozenset(self._cut(self._graph))

    def delete(self, row: int) -> None:
        """Take a row and its edges out."""
        for neighbour, weight in self._graph.adj(row).items():
            self._degree[neighbour] -= weight
        self._graph.remove_node(row)
        self.rows.remove(row)


def pairs(edges: Edges) -> Iterable[tuple[int, int, int]]:
    """The edges one by one: low row, high row, weight."""
    return zip(edges.low.tolist(), edges.high.tolist(), edges.weight.tolist(), strict=True)
