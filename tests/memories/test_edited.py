"""Documents that a person has edited: what is damaged is named by document and line, what is gone is forgotten."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from envs.base import Task
from memories.base import DocumentError
from memories.memevolve.tfidf import Tfidf
from tests.memories.helpers import HOSTILE, Axes, Rules, Scripted, build, experience

LESSON = "task: 1\noutcome: success\nsituation: In a kitchen.\nlesson: Look first.\n"
SKILL = "description: To boil.\ntext: Heat it.\n"
NODE = "kind: pattern\ntask: 1\nabout: boil\nsupport: 1\nsettled: no\nlinks:\ntext: Heat it.\n"


@pytest.mark.parametrize(
    ("memory", "documents", "told"),
    [
        ("mem0", {"facts/00001.txt": "task: 1\ntext:\n"}, r"facts/00001\.txt, line 2: 'text' is empty"),
        ("mem0", {"facts/00001.txt": "task: -1\ntext: a\n"}, r"line 1: 'task' is '-1', not a whole number of at"),
        ("mem0", {"state.txt": "facts: -3\n"}, r"state\.txt, line 1: 'facts' is '-3'"),
        ("memgen", {"lessons/00001.txt": LESSON.replace("Look first.", " ")}, "'lesson' is empty"),
        ("expel", {"insights.txt": "id: 1\ncount: 0\ntext: a\n"}, r"insights\.txt, line 2: .*give it 1 or more"),
        ("expel", {"insights.txt": "id: 1\ncount: 2\ntext: a\n---\nid: 1\ncount: 2\ntext: b\n"},
         r"insights\.txt, line 5: the id 1 is taken"),
        ("hermes", {"notes.txt": "number: 1\ntext: a\n---\nnumber: 1\ntext: b\n"},
         r"notes\.txt, line 4: the number 1 is taken"),
        ("hermes", {"skills/boil.txt": SKILL.replace("Heat it.", "")}, "'text' is empty"),
        ("awm", {"workflows.txt": "name: a\ndescription: b\nactions:\nreasons:\n"}, "at least one action"),
        ("memevolve", {"nodes/00001.txt": NODE.replace("links:\n", "links:\n  - 00000 similar used ² succeeded 0\n")},
         r"nodes/00001\.txt, line 6: .* is no `ID same_task"),
        ("memevolve", {"nodes/00001.txt": NODE.replace("support: 1", "support: -4")}, "'support' is '-4'"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_by_place(
    memory: str, documents: Mapping[str, str], told: str
) -> None:
    with pytest.raises(DocumentError, match=told):
        build(memory, Rules()).load(documents)


def test_a_node_that_others_link_to_may_be_deleted() -> None:
    """Of three nodes of one task the last links to both: the first is deleted, the other link stays."""
    encoded = {"success": "Boil it.", "pattern": "Heat helps.", "playbook": ["heat it"], "checklist": []}
    memory = build("memevolve", Scripted(encoded), embedder=Axes("boil", "heat"))
    memory.write(experience(1, "boil water"))
    documents = dict(memory.documents())
    assert "00001 same_task" in documents["nodes/00003.txt"]
    del documents["nodes/00001.txt"]
    memory.load(documents)
    assert "00001" not in memory.documents()["nodes/00003.txt"]
    assert "00002 same_task" in memory.documents()["nodes/00003.txt"]
    assert [item.id for item in memory.begin(Task(2, "boil tin"), "").items]


def test_texts_without_a_word_score_nothing() -> None:
    tfidf = Tfidf()
    tfidf.put("00001", "? !")
    tfidf.put("00002", "a b")
    assert tfidf.scores("boil water") == {"00001": 0.0, "00002": 0.0}
    tfidf.put("00003", "boil")
    assert tfidf.scores("boil") == {"00001": 0.0, "00002": 0.0, "00003": 1.0}


def test_keywords_that_say_nothing_leave_the_instruction_to_be_searched() -> None:
    analysis = {"keywords": ["a", "b", "c"], "context": "It boiled.", "tags": ["x", "y", "z"]}
    backbone = Scripted(analysis, analysis, {"decision": "none"}, {"keywords": ["", " "]})
    memory = build("amem", backbone, embedder=Axes("tin", "water"), k=1)
    memory.write(experience(1, "boil water"))
    memory.write(experience(2, "melt tin"))
    assert [item.id for item in memory.begin(Task(3, "find tin"), "").items] == ["00002"]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_stored_hostile_text_is_read_back(hostile: str) -> None:
    memory = build(
        "mem0", Scripted({"facts": [hostile]}, {"memory": [{"id": "0", "text": hostile, "event": "ADD"}]})
    )
    memory.write(experience(1, "boil water"))
    again = build("mem0", Rules())
    again.load(dict(memory.documents()))
    assert dict(again.documents()) == dict(memory.documents())
