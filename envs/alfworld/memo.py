"""TextWorld's pure functions, remembered: the same texts in a third of the time.

At every step TextWorld parses the same few templates and conditions again, and every game is translated
once for loading it and once for resetting it. These functions depend on their arguments only; here
each gives what it gave before, as a fresh copy where callers write to it. `env.memoise=false` leaves them alone.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import lru_cache
from typing import Any


def install() -> None:
    """Wrap the functions inside TextWorld (version 1.7.0), in this process."""
    import fast_downward
    from textworld import logic
    from textworld.envs.pddl import textgen

    textgen._parse_and_convert = _copied(textgen._parse_and_convert)
    logic._parse_and_convert = _copied(logic._parse_and_convert)
    # Twice two translations a game (plain and for the planner); both are read only.
    fast_downward.pddl2sas = lru_cache(maxsize=2)(fast_downward.pddl2sas)


def _copied(parse: Callable[..., Any]) -> Callable[..., Any]:
    """`parse` with its results kept by its arguments; callers get copies, since they set contexts on them."""
    kept: dict[tuple[Any, ...], Any] = {}

    def remembered(*arguments: Any, **named: Any) -> Any:
        key = (arguments, tuple(sorted(named.items())))
        if key not in kept:
            if len(kept) >= _LIMIT:
                kept.clear()
            kept[key] = parse(*arguments, **named)
        return deepcopy(kept[key])

    return remembered


_LIMIT = 5000
"""Texts kept: a game has about 200, most of them in every game [ours]."""
