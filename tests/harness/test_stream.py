"""The stream on a real journal: what is committed, what a failure leaves, what a resumed run repeats."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agents.base import BackboneFailed, BudgetExhausted, ContextOverflow, Refusal, Usage
from agents.client import RawReply, Request
from agents.loop import LoopOptions
from agents.prompts import user
from envs.base import EnvironmentFailed, Evaluation, SetupError, Task
from envs.null import NullEnvironment, NullWorld
from harness.budget import Caps
from harness.stream import StreamOptions, ordered
from memories.base import Experience, Recall, Resources
from memories.flat import Flat
from memories.none import NoMemory
from tests.harness import rig


def flat(resources: Resources) -> Flat:
    return Flat(resources, k=2)


class Brittle(NullEnvironment):
    """Breaks where it is told to: `when(task, attempt)`, at opening or within the episode."""

    def __init__(self, when: Callable[[int, int], str], **size: int) -> None:
        super().__init__(**size)
        self.when, self.opened = when, dict.fromkeys(range(1, 100), 0)

    def open(self, task: Task) -> NullWorld:
        self.opened[task.number] += 1
        where = self.when(task.number, self.opened[task.number])
        if where == "open":
            raise EnvironmentFailed("the lamp shop is closed")
        world = super().open(task)
        if where == "step":
            world.step = _broken  # type: ignore[method-assign]
        if where == "evaluate":
            world.evaluate = _broken_evaluation  # type: ignore[method-assign]
        return world


def _broken(action: str) -> None:
    raise EnvironmentFailed("the fuse blew")


def _broken_evaluation() -> Evaluation:
    raise RuntimeError("the scorer tripped")


def tasks(folder: Path, columns: str) -> list[tuple[object, ...]]:
    import sqlite3

    connection = sqlite3.connect(folder / "run.sqlite")
    rows = connection.execute(f"SELECT {columns} FROM tasks ORDER BY position").fetchall()
    connection.close()
    return rows


def test_every_task_is_visited_once_in_release_order_and_recorded_whole(tmp_path: Path) -> None:
    rig.run(tmp_path, flat)
    rows = tasks(tmp_path, 'number, position, id, verdict, metrics, written, failure, "end"')
    assert [(row[0], row[1], row[2]) for row in rows] == [(n, n, f"lamp-{n}") for n in range(1, 7)]
    for _, _, _, verdict, metrics, written, failure, end in rows:
        # The null world ends by itself only when the lamp is lit, and the player's judge sees that.
        assert (verdict == "success") == (json.loads(str(metrics))["success"] == 1) == (end == "finished")
        assert (written, failure) == (1, "none")


def test_the_same_run_twice_is_the_same_record(tmp_path: Path) -> None:
    rig.run(tmp_path / "a", flat)
    rig.run(tmp_path / "b", flat)
    assert rig.record(tmp_path / "a") == rig.record(tmp_path / "b")


@pytest.mark.parametrize("call", range(0, 40, 3))
def test_a_run_stopped_within_any_call_goes_on_and_pays_no_reply_twice(tmp_path: Path, call: int) -> None:
    undisturbed = rig.Player()
    rig.run(tmp_path / "whole", flat, undisturbed)
    player = rig.Player(rig.fail_at(call, KeyboardInterrupt()))
    if call < len(undisturbed.sent):
        with pytest.raises(KeyboardInterrupt):
            rig.run(tmp_path / "cut", flat, player)
    rig.run(tmp_path / "cut", flat, player)
    assert rig.record(tmp_path / "cut") == rig.record(tmp_path / "whole")
    assert player.sent == undisturbed.sent


def test_a_finished_run_does_nothing_more(tmp_path: Path) -> None:
    rig.run(tmp_path, flat)
    before = rig.record(tmp_path)
    again = rig.Player()
    progress = rig.run(tmp_path, flat, again)
    assert not again.sent and rig.record(tmp_path) == before
    assert "everything is done already" in progress.lines[0]


def test_raising_the_limit_continues_the_run_as_if_it_had_never_been_limited(tmp_path: Path) -> None:
    rig.run(tmp_path / "grown", flat, options=StreamOptions(limit=2))
    rig.run(tmp_path / "grown", flat, options=StreamOptions(limit=4))
    rig.run(tmp_path / "grown", flat)
    rig.run(tmp_path / "whole", flat)
    assert rig.record(tmp_path / "grown") == rig.record(tmp_path / "whole")


def test_a_frozen_memory_stops_changing(tmp_path: Path) -> None:
    rig.run(tmp_path, flat, options=StreamOptions(freeze_after=2))
    assert [row[0] for row in tasks(tmp_path, "written")] == [1, 1, 0, 0, 0, 0]
    assert {row[0] for row in rig.record(tmp_path, ("changes",))["changes"]} <= {0, 1, 2}


def test_a_memory_exported_from_one_run_starts_another(tmp_path: Path) -> None:
    rig.run(tmp_path / "first", flat)
    options = StreamOptions(memory_from=str(tmp_path / "first"), freeze_after=0)
    rig.run(tmp_path / "second", flat, options=options)
    assert all(injected for (injected,) in tasks(tmp_path / "second", "injected"))
    with pytest.raises(SetupError, match="nowhere"):
        rig.run(tmp_path / "third", flat, options=StreamOptions(memory_from="nowhere"))


def test_a_start_from_a_memory_that_learned_nothing_is_refused(tmp_path: Path) -> None:
    rig.run(tmp_path / "nothing", NoMemory)
    rig.run(tmp_path / "frozen", flat, options=StreamOptions(freeze_after=0))
    for name, memory in (("nothing", flat), ("frozen", flat), ("nothing", NoMemory)):
        options = StreamOptions(memory_from=str(tmp_path / name), freeze_after=0)
        with pytest.raises(SetupError, match=r"has learned nothing\. Name a run of notes"):
            rig.run(tmp_path / f"to_{name}_{memory.__name__}", memory, options=options)


def test_a_start_from_another_method_or_a_damaged_memory_says_which_it_is(tmp_path: Path) -> None:
    rig.run(tmp_path / "flat", flat)
    options = StreamOptions(memory_from=str(tmp_path / "flat"))
    with pytest.raises(SetupError, match=r"Name a run of other: this is one of notes"):
        rig.run(tmp_path / "a", NoMemory, options=options, meta={**rig.META, "memory": "other"})
    connection = sqlite3.connect(tmp_path / "flat" / "run.sqlite")
    connection.execute("UPDATE changes SET text = 'oops' WHERE document LIKE '%00001%'")
    connection.commit()
    connection.close()
    with pytest.raises(SetupError, match=r"00001\.txt, line 1: 'oops' .* Mend that document"):
        rig.run(tmp_path / "b", flat, options=options)


class Shouting(Flat):
    """Injects 50 lines of 2 tokens, whatever it knows."""

    def begin(self, task: Task, observation: str) -> Recall:
        return Recall("\n".join(["heat water"] * 50))


def test_the_memorys_text_leaves_room_for_the_episode(tmp_path: Path) -> None:
    """Of 100 tokens, half of the 80 percent that a conversation may fill: 40 tokens, 20 lines."""
    agent = LoopOptions(context_tokens=100)
    progress = rig.run(tmp_path, lambda resources: Shouting(resources, k=2), agent=agent)
    assert tasks(tmp_path, "injected, injected_tokens")[0] == ("\n".join(["heat water"] * 20), 40)
    assert any(
        "cut to 40 tokens, half of what agent.context_tokens leaves" in line for line in progress.lines
    )


def test_an_environment_that_fails_once_is_tried_again(tmp_path: Path) -> None:
    broken = Brittle(lambda task, attempt: "step" if (task, attempt) == (2, 1) else "", size=3, steps=6)
    rig.run(tmp_path, flat, environment=broken)
    assert tasks(tmp_path, "number, attempt, failure") == [(1, 1, "none"), (2, 2, "none"), (3, 1, "none")]
    attempts = rig.record(tmp_path, ("attempts",))["attempts"]
    assert (2, 1, "environment", "the fuse blew") in attempts


@pytest.mark.parametrize("where", ["open", "step"])
def test_an_environment_that_fails_for_good_is_no_zero_and_teaches_nothing(
    tmp_path: Path, where: str
) -> None:
    broken = Brittle(lambda task, attempt: where if task == 2 else "", size=3, steps=6)
    rig.run(tmp_path, flat, environment=broken)
    row = tasks(tmp_path, "failure, evaluation, metrics, written, verdict")[1]
    assert row == ("environment", "none", "{}", 0, None)
    assert 2 not in {change[0] for change in rig.record(tmp_path, ("changes",))["changes"]}


def test_an_evaluation_that_fails_keeps_the_episode(tmp_path: Path) -> None:
    broken = Brittle(lambda task, attempt: "evaluate" if task == 1 else "", size=2, steps=6)
    rig.run(tmp_path, flat, environment=broken)
    failure, evaluation, metrics, written, steps, error = tasks(
        tmp_path, "failure, evaluation, metrics, written, steps, error"
    )[0]
    assert (failure, evaluation, metrics, written) == ("none", "failed", "{}", 1)
    assert int(str(steps)) > 0 and "the scorer tripped" in str(error)


def test_a_dead_backbone_stops_the_run_and_loses_nothing(tmp_path: Path) -> None:
    whole = rig.Player()
    rig.run(tmp_path / "whole", flat, whole)
    player = rig.Player(rig.fail_at(len(whole.sent) // 2, rig.down()))
    with pytest.raises(BackboneFailed):
        rig.run(tmp_path / "cut", flat, player)
    rig.run(tmp_path / "cut", flat, player)
    assert rig.record(tmp_path / "cut") == rig.record(tmp_path / "whole")
    assert player.sent == whole.sent


def test_a_dead_backbone_can_be_recorded_instead(tmp_path: Path) -> None:
    player = rig.Player(rig.fail_at(0, rig.down()))
    rig.run(tmp_path, flat, player, StreamOptions(on_backbone_failure="record"))
    assert [row[0] for row in tasks(tmp_path, "failure")] == ["backbone"] + ["none"] * 5


class Fickle(rig.Player):
    """Fails at the first call of a role; `billed` is what unusable answers before the failure have cost."""

    def __init__(self, role: str, billed: Usage | None = None) -> None:
        super().__init__()
        self.role, self.billed, self.failed = role, billed, False

    def send(self, request: Request) -> RawReply:
        if request.role == self.role and not self.failed:
            self.failed = True
            error = rig.down()
            error.billed = self.billed
            raise error
        return super().send(request)


class Asking(Flat):
    """Asks the backbone when it writes."""

    def __init__(self, resources: Resources) -> None:
        super().__init__(resources, k=2)
        self.backbone = resources.backbone

    def write(self, experience: Experience) -> None:
        self.backbone.complete([user("What was learned?")], role="write")
        super().write(experience)


@pytest.mark.parametrize("role", ["judge", "write"])
def test_a_backbone_that_fails_after_the_episode_takes_no_evaluation_away(tmp_path: Path, role: str) -> None:
    record = StreamOptions(on_backbone_failure="record")
    progress = rig.run(tmp_path, Asking, Fickle(role), record)
    rows = tasks(tmp_path, "failure, evaluation, written, write_error, verdict")
    assert rows[0][:4] == ("none", "done", 0, "BackboneFailed: the endpoint does not answer")
    assert (rows[0][4] == "unreadable") is (role == "judge")
    assert [row[:3] for row in rows[1:]] == [("none", "done", 1)] * 5
    assert any("the memory learned nothing from it" in line for line in progress.lines)


@pytest.mark.parametrize("role", ["judge", "write"])
def test_a_world_that_keeps_changes_keeps_its_episode_where_the_run_stops_after_it(
    tmp_path: Path, role: str
) -> None:
    player = Fickle(role)
    with pytest.raises(BackboneFailed):
        rig.run(tmp_path, Asking, player, environment=Sites(size=3, steps=6))
    assert tasks(tmp_path, "failure, evaluation, written") == [("none", "done", 0)]
    rig.run(tmp_path, Asking, player, environment=Sites(size=3, steps=6))
    assert tasks(tmp_path, "failure, evaluation, written") == [
        ("none", "done", 0), ("none", "done", 1), ("none", "done", 1)
    ]  # fmt: skip


def test_answers_that_could_not_be_used_are_counted_and_never_given_again(tmp_path: Path) -> None:
    whole = rig.Player()
    rig.run(tmp_path / "whole", flat, whole)
    player = Fickle("judge", Usage(400, 100, cost=0.5))
    with pytest.raises(BackboneFailed):
        rig.run(tmp_path / "cut", flat, player)
    player.failed = False  # fails a second time at the same call
    with pytest.raises(BackboneFailed):
        rig.run(tmp_path / "cut", flat, player)
    with pytest.raises(BudgetExhausted, match=r"budget\.usd=1 is reached \(1\.0"):
        rig.run(tmp_path / "cut", flat, player, caps=Caps(usd=1.0))
    rig.run(tmp_path / "cut", flat, player)
    cut, plain = (rig.record(tmp_path / name, ("calls",))["calls"] for name in ("cut", "whole"))
    extra = [row for row in cut if row not in plain]
    assert len(extra) == 2 and len(cut) == len(plain) + 2
    connection = sqlite3.connect(tmp_path / "cut" / "run.sqlite")
    query = "SELECT role, task, finish, input_tokens, output_tokens, cost FROM calls WHERE finish != 'stop'"
    assert connection.execute(query).fetchall() == [("judge", 1, "unusable", 400, 100, 0.5)] * 2
    assert connection.execute("SELECT COUNT(*) FROM intents").fetchone() == (0,)
    assert player.sent == whole.sent


class Refusing(rig.Player):
    """Declines the judge's question of task 1, in a reply that is billed."""

    def send(self, request: Request) -> RawReply:
        reply = super().send(request)
        first = request.role == "judge" and sum(text.endswith("judge") for text in self.sent) == 1
        return replace(reply, text="I would rather not.", finish="refused") if first else reply


def test_a_refusal_that_was_billed_is_recorded_like_any_reply(tmp_path: Path) -> None:
    player = Refusing()
    rig.run(tmp_path / "recorded", flat, player)
    assert tasks(tmp_path / "recorded", "verdict, reason")[0] == (
        "unreadable", "refusal: refused by player: I would rather not."
    )  # fmt: skip
    assert len(rig.record(tmp_path / "recorded", ("calls",))["calls"]) == len(player.sent)
    silent = rig.Player(lambda n: pytest.fail("a call was made"))
    rig.run(
        tmp_path / "replayed", flat, silent, forbid_new=True, replies=tmp_path / "recorded" / "run.sqlite"
    )
    assert rig.record(tmp_path / "replayed") == rig.record(tmp_path / "recorded")


@pytest.mark.parametrize(
    ("error", "state"), [(ContextOverflow("too long"), "context_overflow"), (Refusal("no"), "refusal")]
)
def test_overflow_and_refusal_are_final_states_of_their_own(
    tmp_path: Path, error: Exception, state: str
) -> None:
    rig.run(tmp_path, flat, rig.Player(rig.fail_at(0, error)))
    assert [row[0] for row in tasks(tmp_path, "failure")] == [state] + ["none"] * 5
    assert [row[0] for row in tasks(tmp_path, "written")] == [0] + [1] * 5


def test_a_budget_stops_cleanly_and_a_higher_one_resumes(tmp_path: Path) -> None:
    whole = rig.Player()
    rig.run(tmp_path / "whole", flat, whole)
    player = rig.Player()
    with pytest.raises(BudgetExhausted, match=r"budget\.usd=0\.01 .*0\.01 spent"):
        rig.run(tmp_path / "cut", flat, player, caps=Caps(usd=0.01))
    assert len(player.sent) == 10  # a tenth of a cent a call
    with pytest.raises(BudgetExhausted, match=r"budget\.tokens=180"):
        rig.run(tmp_path / "cut", flat, player, caps=Caps(tokens=180))
    assert len(player.sent) == 12  # 15 tokens a call
    rig.run(tmp_path / "cut", flat, player, caps=Caps(usd=1000.0))
    assert rig.record(tmp_path / "cut") == rig.record(tmp_path / "whole")
    assert player.sent == whole.sent


class Clumsy(Flat):
    """Raises in its third write, after it has already changed its state."""

    writes = 0

    def write(self, experience: Experience) -> None:
        super().write(experience)
        self.writes += 1
        if self.writes == 3:
            raise ValueError("dropped the pen")


def test_a_write_that_raises_leaves_the_memory_as_it_was(tmp_path: Path) -> None:
    progress = rig.run(tmp_path, lambda resources: Clumsy(resources, k=2))
    assert [row[0] for row in tasks(tmp_path, "written")] == [1, 1, 0, 1, 1, 1]
    assert tasks(tmp_path, "write_error")[2][0] == "ValueError: dropped the pen"
    assert any("dropped the pen" in line for line in progress.lines)
    positions = {change[0] for change in rig.record(tmp_path, ("changes",))["changes"]}
    assert 3 not in positions and {4, 5, 6} <= positions


class Sites(NullEnvironment):
    """Keeps changes, as WebArena's sites do."""

    restartable = False


def test_a_task_cut_short_in_a_world_that_keeps_changes_is_marked_interrupted(tmp_path: Path) -> None:
    player = rig.Player(rig.fail_at(1, KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        rig.run(tmp_path, flat, player, environment=Sites(size=3, steps=6))
    rig.run(tmp_path, flat, player, environment=Sites(size=3, steps=6))
    assert [row[0] for row in tasks(tmp_path, "failure")] == ["interrupted", "none", "none"]


def test_failed_tasks_are_tried_again_only_where_the_protocol_allows_it(tmp_path: Path) -> None:
    def trouble(task: int, attempt: int) -> str:
        return "step" if task == 2 else ""

    retry = StreamOptions(retry_failed=True)
    for name, memory in (("none", NoMemory), ("flat", flat)):
        rig.run(tmp_path / name, memory, environment=Brittle(trouble, size=3, steps=6))
    rig.run(tmp_path / "none", NoMemory, options=retry, environment=NullEnvironment(size=3, steps=6))
    assert tasks(tmp_path / "none", "number, failure, attempt")[1] == (2, "none", 3)
    progress = rig.run(tmp_path / "flat", flat, options=retry, environment=NullEnvironment(size=3, steps=6))
    assert tasks(tmp_path / "flat", "number, failure")[1] == (2, "environment")
    assert any("position 2 failed and stays so" in line for line in progress.lines)


def test_a_recorded_run_replays_without_a_call(tmp_path: Path) -> None:
    rig.run(tmp_path / "recorded", flat)
    silent = rig.Player(lambda n: pytest.fail("a call was made"))
    rig.run(
        tmp_path / "replayed", flat, silent, forbid_new=True, replies=tmp_path / "recorded" / "run.sqlite"
    )
    assert rig.record(tmp_path / "replayed") == rig.record(tmp_path / "recorded")


def test_a_replay_that_lacks_a_reply_says_so(tmp_path: Path) -> None:
    rig.run(tmp_path / "recorded", NoMemory, options=StreamOptions(limit=1))
    with pytest.raises(SetupError, match=r"holds no reply for this act call of task 2"):
        rig.run(tmp_path / "b", NoMemory, forbid_new=True, replies=tmp_path / "recorded" / "run.sqlite")


def test_orders_and_ranges() -> None:
    all_tasks = NullEnvironment(size=5).tasks()
    assert [t.number for t in ordered(all_tasks, StreamOptions(tasks=[4, 2]))] == [2, 4]
    shuffled = [t.number for t in ordered(all_tasks, StreamOptions(order="shuffled(3)"))]
    assert sorted(shuffled) == [1, 2, 3, 4, 5] != shuffled
    assert shuffled == [t.number for t in ordered(all_tasks, StreamOptions(order="shuffled(3)"))]
    for options, words in (
        (StreamOptions(limit=0), "limit=0 is out of range"),
        (StreamOptions(limit=6), "limit=6 is out of range"),
        (StreamOptions(tasks=[3, 9]), r"names \[9\]"),
        (StreamOptions(order="random"), "order='random'"),
    ):
        with pytest.raises(SetupError, match=words):
            ordered(all_tasks, options)


def test_a_model_that_changes_during_a_run_is_warned_of(tmp_path: Path) -> None:
    class Swapped(rig.Player):
        def send(self, request):  # type: ignore[no-untyped-def]
            from dataclasses import replace

            return replace(super().send(request), model="player-2" if len(self.sent) > 5 else "player-1")

    progress = rig.run(tmp_path, NoMemory, Swapped())
    told = [line for line in progress.lines if "now serves" in line]
    assert told == ["the provider now serves 'player-2' for 'player' (before: 'player-1')"]
