"""Times of ALFWorld (alfworld_mini): what is TextWorld's and what is ours, transport to its process included."""

from __future__ import annotations

from statistics import median, quantiles
from time import perf_counter

GAMES = 5
LOOKS = 20
"""Commands that change nothing, beside each game's own [ours]."""


def measure() -> list[tuple[str, float, str, float | None]]:
    """Medians over a few games; the bound is on our share of a step, where no other program was in the way."""
    from envs.alfworld import AlfWorld, mini
    from envs.alfworld.logic import INSTALL, installed

    if not installed():
        return [(f"alfworld: not installed ({INSTALL})", 0.0, "", None)]
    environment = AlfWorld("alfworld_mini")
    opens, steps, ours, evaluations = [], [], [], []
    try:
        environment.open(environment.tasks()[0])
        for task, row in zip(environment.tasks()[:GAMES], mini.manifest(), strict=False):
            start = perf_counter()
            world = environment.open(task)
            opens.append(perf_counter() - start)
            for command in [*["look", "inventory"] * (LOOKS // 2), *row["walkthrough"]]:
                inside, start = environment.engine_seconds, perf_counter()
                world.step(command)
                whole = perf_counter() - start
                steps.append(whole)
                ours.append(whole - (environment.engine_seconds - inside))
            start = perf_counter()
            world.evaluate()
            evaluations.append(perf_counter() - start)
    finally:
        environment.close()
    return [
        ("alfworld_mini: open", median(opens), "s", None),
        ("alfworld_mini: step", 1e3 * median(steps), "ms", None),
        ("alfworld_mini: step, ours", 1e3 * median(ours), "ms", None),
        # Two processes take turns: on a busy machine most of the median is waiting for a core.
        ("alfworld_mini: step, ours, fastest tenth", 1e3 * quantiles(ours, n=10)[0], "ms", 2.0),
        ("alfworld_mini: evaluate", 1e3 * median(evaluations), "ms", 2.0),
    ]
