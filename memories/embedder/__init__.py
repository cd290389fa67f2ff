"""Embedders: `embedder=minilm` (bundled), `embedder=api` (any provider), `embedder=hashing` (tests)."""

from memories.embedder.api import Api
from memories.embedder.hashing import Hashing
from memories.embedder.minilm import MiniLM

__all__ = ["Api", "Hashing", "MiniLM"]
