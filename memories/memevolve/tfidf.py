"""TF-IDF cosine over a changing set of texts: smoothed as is usual, idf(t) = ln((1 + N) / (1 + df(t))) + 1."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

_WORD = re.compile(r"\w\w+")


class Tfidf:
    """Texts by id. Scores depend on the texts alone, not on the order in which they came."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._terms: dict[str, tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]] = {}
        self._frequency: Counter[int] = Counter()
        self._arrays: tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], npt.NDArray[np.int64]] | None = (
            None
        )

    def put(self, id: str, text: str) -> None:
        """Add a text, or give `id` another."""
        self.remove(id)
        counts = Counter(_WORD.findall(text.casefold()))
        places = [self._places.setdefault(word, len(self._places)) for word in sorted(counts)]
        self._terms[id] = (
            np.array(places, np.int64),
            np.array([counts[w] for w in sorted(counts)], np.float64),
        )
        self._frequency.update(places)
        self._arrays = None

    def remove(self, id: str) -> None:
        """Forget a text, if there is one."""
        if id in self._terms:
            self._frequency.subtract(self._terms.pop(id)[0].tolist())
            self._arrays = None

    def scores(self, query: str) -> Mapping[str, float]:
        """Cosine of the query with each text, 0 to 1; rounded to 6 decimals. O(words of all texts)."""
        if not self._terms:
            return {}
        terms, counts, owners = self._all()
        frequency = np.zeros(len(self._places))
        frequency[list(self._frequency)] = list(self._frequency.values())
        idf = np.log((1 + len(self._terms)) / (1 + frequency)) + 1
        wanted = np.zeros(len(self._places))
        for word, count in Counter(_WORD.findall(query.casefold())).items():
            place = self._places.get(word)
            # A word that no text holds (any more) would lengthen the query and scale all scores alike.
            if place is not None and self._frequency[place]:
                wanted[place] = count
        wanted *= idf
        weights = counts * idf[terms]
        dots = np.bincount(owners, weights * wanted[terms], len(self._terms))
        lengths = np.sqrt(np.bincount(owners, weights**2, len(self._terms)) * (wanted @ wanted))
        cosines = np.divide(dots, lengths, out=np.zeros(len(dots)), where=lengths > 0)
        return dict(zip(self._terms, np.round(cosines, 6).tolist(), strict=True))

    def _all(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        if self._arrays is None:
            parts = list(self._terms.values())
            owners = np.repeat(np.arange(len(parts)), [len(places) for places, _ in parts])
            self._arrays = (
                np.concatenate([places for places, _ in parts]),
                np.concatenate([counts for _, counts in parts]),
                owners,
            )
        return self._arrays
