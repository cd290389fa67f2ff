"""A-MEM: a worked stream with links and rewritten neighbours, entry by entry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agents.base import MalformedReply
from envs.base import Task
from tests.memories.helpers import Axes, Scripted, acts, build, experience, live


def analysis(word: str) -> dict[str, Any]:
    return {
        "keywords": [f"{word} k1", f"{word} k2", f"{word} k3"],
        "context": f"Context {word}.",
        "tags": ["t1", "t2", word],
    }


def evolution(
    decision: str, links: Sequence[str] = (), tags: Sequence[str] = (), updates: Sequence[Any] = ()
) -> dict[str, Any]:
    return {"decision": decision, "links": list(links), "tags": list(tags), "updates": list(updates)}


def document(task: int, instruction: str, word: str, context: str, tags: list[str], links: list[str]) -> str:
    """A note as it is to be written, by hand."""

    def lines(items: list[str]) -> str:
        return "".join(f"  - {one}\n" for one in items)

    keywords = [f"{word} k1", f"{word} k2", f"{word} k3"] if word else []
    return (
        f"task: {task}\n"
        + (f"context: {context}\n" if context else "context:\n")
        + f"keywords:\n{lines(keywords)}tags:\n{lines(tags)}links:\n{lines(links)}"
        + f"content:\n    Task: {instruction}\n    Verdict: success\n    End: ended by the world\n"
        "    [0]\n    Observation: You are in the kitchen.\n    [1]\n"
        "    Thought: next\n    Action: look around\n    Observation: You see a kitchen.\n"
    )


def test_a_worked_stream() -> None:
    query = {"keywords": ["boil"]}
    backbone = Scripted(
        analysis("alpha"),
        *(query, analysis("beta"), evolution("none", links=["00001"])),
        *(
            query,
            analysis("gamma"),
            evolution("strengthen", ["2", "00001", "00099", "00001"], ["new", "tags", "here"]),
        ),
        *(
            query,
            analysis("delta"),
            evolution(
                "update_neighbour",
                links=["00001"],
                updates=[
                    {"id": "00001", "context": "Find the kettle first.", "tags": ["kettle"]},
                    {"id": "00077", "context": "Nobody.", "tags": []},
                ],
            ),
        ),
        *(
            query,
            analysis("epsilon"),
            evolution("both", ["00004"], [], [{"id": "00003", "context": "", "tags": ["ice"]}]),
        ),
        *(query, analysis("zeta"), MalformedReply("no", "{")),
        *(MalformedReply("no", ""), MalformedReply("no", ""), evolution("strengthen", ["00004"], ["t"])),
    )
    memory = build("amem", backbone, Axes("boil", "melt", "find"))
    instructions = [
        "boil water",
        "boil tin",
        "melt ice",
        "find a plant",
        "boil milk",
        "melt tin",
        "find a cat",
    ]
    for number, instruction in enumerate(instructions, 1):
        live(memory, experience(number, instruction))
    assert not backbone.replies
    documents = memory.documents()
    assert documents == {
        "state.txt": "# numbers that this memory keeps\n"
        "notes: 7\nlinks: 4\nmalformed: 3\nrewritten: 2\nunknown_ids: 2\n",
        "notes/00001.txt": document(1, "boil water", "alpha", "Find the kettle first.", ["kettle"], []),
        "notes/00002.txt": document(2, "boil tin", "beta", "Context beta.", ["t1", "t2", "beta"], []),
        "notes/00003.txt": document(3, "melt ice", "gamma", "Context gamma.", ["ice"], ["00002", "00001"]),
        "notes/00004.txt": document(4, "find a plant", "delta", "Context delta.", ["t1", "t2", "delta"], []),
        "notes/00005.txt": document(
            5, "boil milk", "epsilon", "Context epsilon.", ["t1", "t2", "epsilon"], ["00004"]
        ),
        "notes/00006.txt": document(6, "melt tin", "zeta", "Context zeta.", ["t1", "t2", "zeta"], []),
        "notes/00007.txt": document(7, "find a cat", "", "", ["t"], ["00004"]),
    }
    graph = memory.graph()
    assert graph is not None
    assert [(e.source, e.target) for e in graph.edges] == [
        ("00003", "00002"),
        ("00003", "00001"),
        ("00005", "00004"),
        ("00007", "00004"),
    ]


def test_a_rewritten_neighbour_is_found_by_what_it_says_now() -> None:
    """The public code searches a stale index until every 100th evolution."""
    update = {"id": "00001", "context": "find find find find", "tags": ["x"]}
    backbone = Scripted(
        analysis("alpha"),
        {"keywords": ["x"]},
        analysis("beta"),
        evolution("update_neighbour", updates=[update]),
        {"keywords": ["find"]},
    )
    memory = build("amem", backbone, Axes("boil", "melt", "find"), k=1)
    live(memory, experience(1, "boil water"))
    live(memory, experience(2, "melt ice"))
    # note 1 is (1, 0, 4) / sqrt 17 now
    assert [(e.item, e.detail) for e in memory.begin(Task(3, "find"), "").events] == [
        ("00001", "cosine 0.970")
    ]


def test_neighbours_are_named_by_id_and_not_by_rank() -> None:
    """An earlier port took ranks for positions, so that the oldest notes were rewritten."""
    replies: list[Any] = [analysis("a")]
    for word in "bcdefg":
        replies += [analysis(word), evolution("none")]
    replies += [
        analysis("h"),
        evolution("update_neighbour", updates=[{"id": "00007", "context": "Newest.", "tags": ["n"]}]),
    ]
    backbone = Scripted(*replies)
    memory = build("amem", backbone, Axes("boil", "find"))
    for number in range(1, 7):
        memory.write(experience(number, "boil water"))
    memory.write(experience(7, "find a plant"))
    before = dict(memory.documents())
    memory.write(experience(8, "find a cat"))
    shown = backbone.prompts("Evolution")[-1]
    assert shown.index("id: 00007") < shown.index("id: 00001")
    assert shown.count("<neighbour>") == 5
    changed = [name for name, text in memory.documents().items() if before.get(name) != text]
    assert changed == ["state.txt", "notes/00007.txt", "notes/00008.txt"]


def test_each_hit_brings_its_links_without_duplicates() -> None:
    backbone = Scripted(
        analysis("a"),
        *(analysis("b"), evolution("none")),
        *(analysis("c"), evolution("strengthen", ["00001", "00002"], ["x"])),
        *(analysis("d"), evolution("strengthen", ["00003", "00001"], ["x"])),
        {"keywords": ["boil"]},
    )
    memory = build("amem", backbone, Axes("boil", "find"), k=2)
    for number, instruction in enumerate(["find one", "find two", "boil three", "boil four"], 1):
        memory.write(experience(number, instruction))
    recall = memory.begin(Task(5, "boil it"), "")
    assert [(i.id, i.kind) for i in recall.items] == [
        ("00003", "note"),
        ("00001", "linked"),
        ("00002", "linked"),
        ("00004", "note"),
    ]
    assert recall.text.count("## Note") == 4
    assert "Task: find one" in recall.text and "Context: Context c." in recall.text


def test_a_bad_query_falls_back_to_the_instruction_and_is_counted_at_the_write() -> None:
    backbone = Scripted(analysis("a"), MalformedReply("no", ""), analysis("b"), evolution("none"))
    memory = build("amem", backbone, Axes("boil", "find"))
    memory.write(experience(1, "boil water"))
    given = experience(2, "boil tin")
    recall = memory.begin(given.episode.task, "")
    assert [item.id for item in recall.items] == ["00001"]
    assert memory.counters()["malformed"] == 0
    memory.write(experience(2, "boil tin", recall=recall))
    assert memory.counters()["malformed"] == 1


def test_a_long_trajectory_stays_a_short_note_and_calls_keep_the_authors_temperature() -> None:
    backbone = Scripted(analysis("a"))
    memory = build("amem", backbone)
    memory.write(experience(1, "boil water", steps=acts(*[(f"step {n}", "word " * 200) for n in range(60)])))
    assert len(memory.documents()["notes/00001.txt"].split()) < 450
    assert [call[3] for call in backbone.calls] == [0.7]


def test_the_analysis_reads_the_episode_that_the_note_shortens() -> None:
    backbone = Scripted(analysis("a"))
    memory = build("amem", backbone)
    steps = acts(*[(f"step {n}", f"seen {n} " + "word " * 40) for n in range(30)])
    memory.write(experience(1, "boil water", steps=steps))
    (asked,) = backbone.prompts("Analysis")
    assert "seen 15" in asked and "seen 15" not in memory.documents()["notes/00001.txt"]


def test_what_evolves_moves_a_note_of_a_long_episode_for_the_real_embedder() -> None:
    """Of a text all-MiniLM reads 256 tokens: fields that stood behind such a content would be lost."""
    from memories.embedder.minilm import MiniLM

    steps = acts(
        *[(f"go to room {n}", "This room is called the room. You see a door. " * 3) for n in range(30)]
    )
    update = {"id": "00001", "context": "Melting ice on the stove.", "tags": ["melting", "ice", "stove"]}
    backbone = Scripted(
        analysis("alpha"),
        *(analysis("beta"), evolution("update_neighbour", updates=[update])),
        {"keywords": ["melting", "ice", "stove"]},
    )
    memory = build("amem", backbone, MiniLM())
    for number in (1, 2):
        memory.write(experience(number, "find a plant", steps=steps))
    recall = memory.begin(Task(3, "melt ice"), "")
    scores = {event.item: float(event.detail.removeprefix("cosine ")) for event in recall.events}
    assert [item.id for item in recall.items] == ["00001", "00002"]
    assert scores["00001"] > scores["00002"] + 0.1
