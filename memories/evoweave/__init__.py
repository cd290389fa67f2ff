"""EvoWeave: composing reusable experience through operation-level graphs (arXiv 2610.19381)."""

from memories.evoweave.memory import EvoWeave

__all__ = ["EvoWeave"]
