"""ReasoningBank: a worked stream, entry by entry."""

from __future__ import annotations

from agents.base import MalformedReply
from envs.base import Task
from tests.memories.helpers import Axes, Scripted, build, experience, live


def item(word: str) -> dict[str, str]:
    return {"title": f"Title {word}", "description": f"About {word}.", "content": f"Do {word}."}


def test_a_worked_stream() -> None:
    backbone = Scripted(
        {"items": [item("one"), item("two"), item("three")]},
        {"items": [item("four")]},
        {"items": []},
        MalformedReply("no", "{"),
        {"items": [item("five")]},
    )
    memory = build("reasoningbank", backbone, Axes("boil", "melt", "find"))
    recalls = [
        live(memory, experience(1, "boil water", "success", reason="it boiled")),
        live(memory, experience(2, "melt ice", "failure", reason="not a success")),
        live(memory, experience(3, "boil boil melt", "success")),
        live(memory, experience(4, "boil melt melt", "success")),
        live(memory, experience(5, "find a plant", "unreadable")),
        live(memory, experience(6, "find a cat", "failure")),
    ]
    documents = memory.documents()
    assert sorted(documents) == [*(f"rows/0000{n}.txt" for n in range(1, 6)), "state.txt"]
    assert documents["rows/00001.txt"] == (
        "task: 1\ninstruction: boil water\noutcome: success\n"
        "item1.title: Title one\nitem1.description: About one.\nitem1.content: Do one.\n"
        "item2.title: Title two\nitem2.description: About two.\nitem2.content: Do two.\n"
        "item3.title: Title three\nitem3.description: About three.\nitem3.content: Do three.\n"
    )
    assert documents["rows/00003.txt"] == "task: 3\ninstruction: boil boil melt\noutcome: success\n"
    assert documents["rows/00004.txt"] == "task: 4\ninstruction: boil melt melt\noutcome: success\n"
    assert "Title five" in documents["rows/00005.txt"]
    assert memory.counters() == {"rows": 5, "items": 5, "from_failures": 2, "malformed": 1, "unreadable": 1}
    # Task 1 met an empty bank: its own row joins only afterwards. No threshold: task 2 gets the only row.
    assert [[i.id for i in recall.items] for recall in recalls] == [
        [],
        ["00001.1", "00001.2", "00001.3"],
        ["00001.1", "00001.2", "00001.3"],  # cosines 0.894 and 0.447
        ["00002.1"],  # row 3 is nearest (0.8) but has no items; then row 2 (0.894 before it)
        ["00001.1", "00001.2", "00001.3"],  # all cosines 0: the first id
        ["00001.1", "00001.2", "00001.3"],
    ]


def test_one_is_an_episode_not_an_item_and_rows_without_items_are_passed_over() -> None:
    backbone = Scripted({"items": [item("far"), item("farther")]}, {"items": []}, {"items": []})
    memory = build("reasoningbank", backbone, Axes("boil", "melt"))
    memory.write(experience(1, "melt ice"))
    memory.write(experience(2, "boil water"))
    memory.write(experience(3, "boil tin"))
    recall = memory.begin(Task(4, "boil milk"), "")
    assert [i.id for i in recall.items] == ["00001.1", "00001.2"]
    assert "## Title far\nAbout far.\nDo far.\n\n## Title farther" in recall.text


def test_successes_and_failures_have_prompts_of_their_own_and_the_authors_temperature() -> None:
    backbone = Scripted({"items": []}, {"items": []})
    memory = build("reasoningbank", backbone)
    memory.write(experience(1, "boil water", "success", reason="not unsuccessful"))
    memory.write(experience(2, "boil tin", "failure", reason="success was claimed"))
    (role, _, first, temperature), (_, _, second, _) = backbone.calls
    assert (role, temperature) == ("write", 1.0)
    assert "why it succeeded" in first and "why it failed" not in first
    assert "why it failed" in second and "why it\nsucceeded" not in second
    assert "<verdict>\nfailure: success was claimed\n</verdict>" in second


def test_the_tasks_own_row_is_left_out_of_a_loaded_memory() -> None:
    memory = build("reasoningbank", Scripted({"items": [item("own")]}, {"items": [item("other")]}))
    memory.write(experience(1, "boil water"))
    memory.write(experience(2, "boil water"))
    assert [i.id for i in memory.begin(Task(1, "boil water"), "").items] == ["00002.1"]
