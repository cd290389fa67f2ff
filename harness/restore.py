"""A run's memory brought back to life from its record, to be looked at: it can be read, not run."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from agents.base import BackboneFailed
from envs.base import SetupError
from memories.base import Memory, Resources


class _NoBackbone:
    """Looking at a memory makes no call."""

    name = "none"

    def complete(self, messages: Sequence[Any], **options: Any) -> Any:
        raise BackboneFailed("a memory that is only looked at makes no call")


def restored(connection: sqlite3.Connection, documents: Mapping[str, str]) -> Memory:
    """The memory of a recorded run, holding `documents`. Raises SetupError, DocumentError."""
    import yaml

    from harness.assemble import build, for_setting

    row = connection.execute("SELECT value FROM meta WHERE key = 'config'").fetchone()
    setting = connection.execute("SELECT value FROM meta WHERE key = 'setting'").fetchone()
    if row is None or setting is None:
        raise SetupError("The record holds no configuration: the memory cannot be rebuilt from it.")
    config = yaml.safe_load(row[0])
    embedder = build(config["embedder"], "embedder")
    memory: Memory = build(
        for_setting(config["memory"], setting[0]),
        "memory",
        Resources(_NoBackbone(), embedder),
    )
    memory.load(documents)
    return memory
