"""STRATA: a typed graph of atomic, workflow and meta nodes that maintains itself."""

import memories.strata.answers  # noqa: F401  (registers the reader's rules)
from memories.strata.memory import Strata as Strata
