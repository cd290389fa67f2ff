"""Shared by all tests: what happens when an engine is missing, and one thread a process."""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import pytest  # noqa: E402


def require(found: bool, name: str, remedy: str, released: bool = False) -> None:
    """Skip the calling test if `name` is missing; fail instead where MEMTRIAL_REQUIRE names it or is `all`.

    `released`: data of a released benchmark, which no command of ours brings everywhere: failing only if named.
    """
    if found:
        return
    required = os.environ.get("MEMTRIAL_REQUIRE", "").replace(",", " ").split()
    message = f"{name} is missing here: {remedy}"
    if name in required or ("all" in required and not released):
        pytest.fail(message)
    pytest.skip(message)
