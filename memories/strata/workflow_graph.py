"""W, the similarity graph over workflows, kept up to date row by row (STRATA, "Meta nodes").

Each workflow keeps the best of its scores within its group and across groups. Whatever the thresholds are in
a round, its 6 strongest admitted edges are among them, so that adding a workflow costs one row of scores and
no threshold ever needs the full matrix. The lists hold keys: score (millionths) and number in one integer,
larger for a higher score and, at equal scores, for the older workflow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from memories.strata.communities import UNIT, Edges, Ints
from memories.strata.similarity import Floats

DEGREE = 6
_BUFFER = 12
"""Length of the lists: twice the degree, so that most deletions need no new scores [ours]."""
_LOW = (1 << 32) - 1

RowScores = Callable[[int], Floats]
"""Number of a workflow -> its s_nn to all workflows, in the order of `WorkflowGraph.numbers`."""


def keys(scores: Floats, numbers: Ints) -> Ints:
    """Scores and numbers as keys."""
    packed: Ints = (np.rint(scores * UNIT).astype(np.int64) << 32) | (_LOW - numbers)
    return packed


class _Best:
    """For each row its best keys, descending, 0 where there is none, and the best key it had to drop."""

    def __init__(self) -> None:
        self.rows = 0
        self._keys = np.zeros((16, _BUFFER), dtype=np.int64)
        self._floor = np.zeros(16, dtype=np.int64)

    @property
    def keys(self) -> Ints:
        """Shape (rows, _BUFFER)."""
        return self._keys[: self.rows]

    def append(self, candidates: Ints) -> None:
        """Add a row with the best of `candidates`."""
        if self.rows == len(self._floor):
            self._keys = np.concatenate([self._keys, np.zeros_like(self._keys)])
            self._floor = np.concatenate([self._floor, np.zeros_like(self._floor)])
        self.rows += 1
        self.refill(self.rows - 1, candidates)

    def refill(self, row: int, candidates: Ints) -> None:
        """Fill a row anew."""
        if len(candidates) > 4 * _BUFFER:
            candidates = np.partition(candidates, len(candidates) - _BUFFER - 1)[-_BUFFER - 1 :]
        ordered = np.sort(candidates)[::-1]
        self._keys[row] = 0
        self._keys[row, : min(_BUFFER, len(ordered))] = ordered[:_BUFFER]
        self._floor[row] = ordered[_BUFFER] if len(ordered) > _BUFFER else 0

    def offer(self, rows: Ints, new: Ints) -> None:
        """Offer one new key to each of `rows`."""
        taken = (new > self._keys[rows, -1]) & (new > self._floor[rows])
        refused = rows[~taken]
        self._floor[refused] = np.maximum(self._floor[refused], new[~taken])
        rows, new = rows[taken], new[taken]
        block = np.concatenate([self._keys[rows], new[:, None]], axis=1)
        block = -np.sort(-block, axis=1)
        self._keys[rows] = block[:, :_BUFFER]
        self._floor[rows] = np.maximum(self._floor[rows], block[:, _BUFFER])

    def forget(self, kept: npt.NDArray[np.bool_], gone: Ints) -> Ints:
        """Drop rows and every key of a number in `gone`; gives the rows that may now lack a key."""
        left, floor = self.keys[kept], self._floor[: self.rows][kept]
        held = (left > 0) & ~np.isin(_LOW - (left & _LOW), gone)
        left = -np.sort(-np.where(held, left, 0), axis=1)
        self.rows = len(left)
        self._keys[: self.rows], self._floor[: self.rows] = left, floor
        return np.flatnonzero((left[:, DEGREE - 1] == 0) & (floor > 0))


class WorkflowGraph:
    """Numbers and groups of the live workflows, in creation order, with their best scores."""

    def __init__(self) -> None:
        self.numbers = np.zeros(0, dtype=np.int64)
        self.groups: list[str] = []
        self._code = np.zeros(0, dtype=np.int64)
        self._codes: dict[str, int] = {}
        self._near, self._far = _Best(), _Best()

    def __len__(self) -> int:
        return len(self.groups)

    def add(self, number: int, group: str, scores: Floats) -> list[float]:
        """Add a workflow newer than all others; `scores` is its s_nn to each of them, in order.

        Gives its at most 6 best scores within its group, best first: what R_g records of it.
        """
        code = self._codes.setdefault(group, len(self._codes))
        same = self._code == code
        theirs = keys(scores, self.numbers)
        mine = keys(scores, np.full(len(self), number, dtype=np.int64))
        for best, rows in ((self._near, np.flatnonzero(same)), (self._far, np.flatnonzero(~same))):
            best.offer(rows, mine[rows])
            best.append(theirs[rows])
        self.numbers = np.append(self.numbers, number)
        self.groups.append(group)
        self._code = np.append(self._code, code)
        row = self._near.keys[-1, :DEGREE]
        return [int(key >> 32) / UNIT for key in row if key]

    def build(self, numbers: Sequence[int], groups: Sequence[str], blocks: Iterable[Floats]) -> None:
        """Compute everything anew: `blocks` are the rows of the full matrix of s_nn, some at a time."""
        self._codes = {}
        self._near, self._far = _Best(), _Best()
        self.numbers = np.asarray(numbers, dtype=np.int64)
        self.groups = list(groups)
        self._code = np.array([self._codes.setdefault(g, len(self._codes)) for g in groups], dtype=np.int64)
        row = 0
        for block in blocks:
            for scores in block:
                same = self._code == self._code[row]
                theirs = keys(scores, self.numbers)
                self._far.append(theirs[~same])
                same[row] = False
                self._near.append(theirs[same])
                row += 1

    def remove(self, numbers: Sequence[int], scores: RowScores) -> None:
        """Forget workflows; `scores` gives the rows of those whose lists ran short."""
        gone = np.asarray(sorted(numbers), dtype=np.int64)
        kept = ~np.isin(self.numbers, gone)
        self.numbers, self._code = self.numbers[kept], self._code[kept]
        self.groups = [group for group, keep in zip(self.groups, kept, strict=True) if keep]
        short = [set(best.forget(kept, gone).tolist()) for best in (self._near, self._far)]
        for row in sorted(short[0] | short[1]):
            self._refill(row, scores(int(self.numbers[row])))

    def _refill(self, row: int, scores: Floats) -> None:
        theirs = keys(scores, self.numbers)
        same = self._code == self._code[row]
        same_others = same.copy()
        same_others[row] = False
        self._near.refill(row, theirs[same_others])
        self._far.refill(row, theirs[~same])

    def edges(self, within: Callable[[str], float], across: float) -> Edges:
        """W of this round: pairs above their threshold, then each workflow's 6 strongest edges.

        `within` is t_E(g) for each group. An edge stays if either end ranks it so.
        """
        size = len(self)
        by_code = np.array([within(group) for group in self._codes] or [0.0])
        least = by_code[self._code] if size else np.zeros(0)
        admitted = np.concatenate(
            [
                _above(self._near.keys, least[:, None]),
                _above(self._far.keys, np.full((size, 1), across)),
            ],
            axis=1,
        )
        strongest = -np.sort(-admitted, axis=1)[:, :DEGREE]
        rows, places = np.nonzero(strongest)
        chosen = strongest[rows, places]
        others = np.searchsorted(self.numbers, _LOW - (chosen & _LOW))
        low, high = np.minimum(rows, others), np.maximum(rows, others)
        _, first = np.unique(low * max(size, 1) + high, return_index=True)
        return Edges(size, low[first], high[first], (chosen >> 32)[first])


def _above(packed: Ints, least: Floats) -> Ints:
    """Keys whose score is above the threshold, 0 for the others."""
    admitted: Ints = np.where((packed >> 32) / UNIT > least, packed, 0)
    return admitted
