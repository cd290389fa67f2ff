"""The embedder of tests: signed feature hashing of words (Weinberger et al. 2009). No model, no file."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from pydantic import PositiveInt

from memories.base import Vectors

_WORD = re.compile(r"\w+")


class Hashing:
    """Bags of lower-case words, hashed into `dimension` signed places. Texts that share words are near."""

    def __init__(self, dimension: PositiveInt = 256) -> None:
        self.name = f"hashing-{dimension}"
        self.dimension = dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), dimension); a text without words gets the first unit vector."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            counts: Counter[int] = Counter()
            for word in _WORD.findall(text.lower()):
                number = _number(word)
                counts[(number >> 1) % self.dimension] += 1 if number & 1 else -1
            # Whole numbers until the end: a BLAS norm may differ in its last bit from process to process.
            square = sum(count * count for count in counts.values())
            if square:
                length = math.sqrt(square)
                for place, count in counts.items():
                    row[place] = count / length
            else:
                row[0] = 1
        return vectors


@lru_cache(maxsize=16384)
def _number(word: str) -> int:
    digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")
