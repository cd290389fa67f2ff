"""An embedder whose vectors are kept in the journal, by the hash of the text."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from harness.journal import Journal
from memories.base import Embedder, Vectors


class JournalEmbedder:
    """Gives the same vectors as `inner`; each text is embedded once a run."""

    def __init__(self, inner: Embedder, journal: Journal) -> None:
        self.inner, self.name, self.dimension = inner, inner.name, inner.dimension
        self._journal = journal
        self._known: dict[str, Vectors] = {}

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), dimension). Raises EmbeddingFailed."""
        hashes = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for text in texts]
        missing = [h for h in dict.fromkeys(hashes) if h not in self._known]
        self._known.update(self._journal.vectors(self.name, missing))
        new = {h: text for h, text in zip(hashes, texts, strict=True) if h not in self._known}
        if new:
            for hash_, vector in zip(new, self.inner.embed(list(new.values())), strict=True):
                self._known[hash_] = vector
                self._journal.keep_vector(self.name, hash_, vector)
        if not hashes:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return np.stack([self._known[h] for h in hashes])
