"""kill -9 at any moment, then the same run again: the record and the memory of an undisturbed run.

Moments are counted inside the process that is to die: before and after every statement that SQLite executes
(so also within a commit), inside every call, and at every step of the world.
"""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envs.null import NullEnvironment
from harness import database
from harness.stream import StreamOptions
from memories.base import Resources
from memories.flat import Flat
from tests.harness import rig


def flat(resources: Resources) -> Flat:
    return Flat(resources, k=2)


class Moments:
    """Counts moments; at number `fatal` the process dies as by kill -9."""

    def __init__(self, fatal: int = -1) -> None:
        self.count, self.fatal = 0, fatal
        self.names: list[str] = []

    def pass_(self, name: str) -> None:
        self.names.append(name)
        if self.count == self.fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        self.count += 1


class Bill(rig.Player):
    """A player who keeps the bill in a file, so that it outlives the process: a line a request that was sent."""

    def __init__(self, path: Path, moments: Moments) -> None:
        super().__init__(lambda n: moments.pass_("call sent"))
        self.path, self.moments = path, moments

    def send(self, request):  # type: ignore[no-untyped-def]
        reply = super().send(request)
        with self.path.open("a") as bill:
            bill.write(repr(self.sent[-1]) + "\n")
        self.moments.pass_("call answered")
        return reply


class Watched(NullEnvironment):
    """Passes a moment at every step."""

    moments: Moments

    def open(self, task):  # type: ignore[no-untyped-def]
        world = super().open(task)
        step = world.step

        def watched(action: str):  # type: ignore[no-untyped-def]
            self.moments.pass_("step")
            return step(action)

        world.step = watched  # type: ignore[method-assign]
        return world


def once(folder: Path, moments: Moments) -> None:
    """One process's work on the run."""
    connect = database.connect

    def watched(path, **options):  # type: ignore[no-untyped-def]
        connection = connect(path, **options)
        connection.set_trace_callback(lambda statement: moments.pass_("sql " + statement.split(" ")[0]))
        return connection

    environment = Watched(size=4, steps=5)
    environment.moments = moments
    database.connect = watched
    try:
        rig.run(folder, flat, Bill(folder.parent / f"{folder.name}.bill", moments), environment=environment)
    finally:
        database.connect = connect


def in_child(work: Callable[[], None]) -> int:
    """Run `work` in a forked process: 0, or the signal that killed it."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Moments, list[str]]:
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    moments = Moments()
    once(folder, moments)
    return folder, moments, (folder.parent / "run.bill").read_text().splitlines()


def fatal_moments(names: list[str]) -> list[int]:
    """At least 24 seeded moments, of every kind: within calls, at steps, within commits, anywhere."""
    luck = random.Random(20)
    kinds: dict[str, list[int]] = {}
    for number, name in enumerate(names):
        kinds.setdefault(name, []).append(number)
    chosen = {luck.choice(numbers) for numbers in kinds.values()}
    chosen |= set(luck.sample(kinds["sql COMMIT"], 4)) | set(luck.sample(kinds["call answered"], 4))
    while len(chosen) < 28:
        chosen.add(luck.randrange(len(names)))
    return sorted(chosen)


def test_kill_9_at_28_moments(tmp_path: Path, undisturbed: tuple[Path, Moments, list[str]]) -> None:
    whole, moments, bill = undisturbed
    for fatal in fatal_moments(moments.names):
        folder = tmp_path / str(fatal)
        killed = Moments(fatal)
        assert in_child(lambda f=folder, m=killed: once(f, m)) == signal.SIGKILL, moments.names[fatal]
        assert in_child(lambda f=folder: once(f, Moments())) == 0
        assert rig.record(folder) == rig.record(whole), (fatal, moments.names[fatal])
        paid = (tmp_path / f"{fatal}.bill").read_text().splitlines()
        twice = len(paid) - len(bill)
        # Only a reply on its way when the process died, before SQLite had it, can be asked for again.
        past = moments.names[: fatal + 1]
        unrecorded = past.count("call answered") - durable(past)
        assert twice <= unrecorded <= 1, (fatal, moments.names[fatal], twice)


def durable(names: list[str]) -> int:
    """Replies whose transaction had ended: after an answer, the next COMMIT that was followed by anything."""
    count, waiting, committing = 0, False, False
    for name in names:
        if committing:
            count, waiting, committing = count + 1, False, False
        if name == "call answered":
            waiting = True
        elif name == "sql COMMIT" and waiting:
            committing = True
    return count


def test_a_run_killed_again_and_again_still_ends_as_if_never_killed(
    tmp_path: Path, undisturbed: tuple[Path, Moments, list[str]]
) -> None:
    whole, moments, _ = undisturbed
    folder, luck = tmp_path / "run", random.Random(7)
    for _ in range(12):
        in_child(lambda: once(folder, Moments(luck.randrange(20, len(moments.names) // 2))))
    assert in_child(lambda: once(folder, Moments())) == 0
    assert rig.record(folder) == rig.record(whole)


@given(
    cuts=st.lists(st.integers(0, 25), max_size=5),
    size=st.integers(1, 5),
    freeze=st.none() | st.integers(0, 4),
    order=st.sampled_from(["release", "shuffled(1)", "shuffled(2)"]),
    k=st.integers(1, 3),
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_stream_cut_anywhere_ends_the_same(
    tmp_path_factory: pytest.TempPathFactory,
    cuts: list[int],
    size: int,
    freeze: int | None,
    order: str,
    k: int,
) -> None:
    folder = tmp_path_factory.mktemp("streams")
    options = StreamOptions(freeze_after=freeze, order=order)

    def go(name: str, player: rig.Player) -> None:
        rig.run(
            folder / name,
            lambda resources: Flat(resources, k=k),
            player,
            options,
            environment=NullEnvironment(size=size, steps=4),
        )

    whole, player = rig.Player(), rig.Player()
    go("whole", whole)
    for cut in cuts:
        player.trouble = rig.fail_at(len(player.sent) + cut, KeyboardInterrupt())
        try:
            go("cut", player)
        except KeyboardInterrupt:
            continue
    player.trouble = lambda n: None
    go("cut", player)
    assert rig.record(folder / "cut") == rig.record(folder / "whole")
    assert player.sent == whole.sent
