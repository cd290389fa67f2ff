"""STRATA's prompts: tags, routing, the sub-reflectors, the meta layer. Written for this port.

Every text from worlds, models and the memory stands in a marked block.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agents.base import Message
from agents.prompts import block, system, user
from memories.prompting import DATA
from memories.strata.graph import Node

NOTHING = "(none)"

_KEEPER = (
    "You keep the long-term memory of an agent that does tasks one after the other. What you write will be\n"
    "read by the agent before later tasks that are like this one but not the same, so write what transfers.\n"
    "State only what the record shows, not what you know besides."
)

TAGGING = f"""\
You label a task with structured tags, so that experience with the same operation on the same kind of
target can be found, and experience with the opposite operation be told apart.
Use a tag in use where it fits; make a new one only where none does. Tag what the task asks for, not every
thing it mentions. {DATA}"""

ROUTING = f"""\
{_KEEPER}
Decide which sub-reflectors this episode is worth:
- skill: one tool, API or command was used in a way worth knowing (its arguments, its quirks), or a lasting
  fact about the world was found.
- code: a snippet of code, or a fixed sequence of commands, to be kept with parameters; no single command.
- role: a sub-role with its own goal was needed (to search, to check, to plan).
- workflow: the way through the whole task, or the mistake that made it fail.
{DATA}"""

_ATOMIC = {
    "skill": "a skill: one tool, API, command or fact about the world, what it needs, what it gives, what to "
    "watch for",
    "code": "code: a snippet or command sequence with parameters for what varies, ready to use",
    "role": "a role: a specialised sub-role, its goal, how it works and when it is done",
}

WORKFLOW = f"""\
{_KEEPER}
The episode below solved its task. Write the procedure that would have solved it directly, for any task of
this kind: replace names that vary by <placeholders>, leave out detours. Keep the operation and its direction
(heat or cool, create or delete) in title and tags. {DATA}"""

DIFFERENCE = f"""\
{_KEEPER}
A procedure for this kind of task is kept already. The episode below solved its task in a way close to it.
Say in one remark only what differs: a condition, a place, an object or a step that the kept procedure and
its remarks do not cover. {DATA}"""

PITFALL = f"""\
{_KEEPER}
The episode below failed. Say in one remark the mistake that a reader of the kept procedure should avoid.
Do not write a procedure, and claim nothing that the episode does not show. {DATA}"""

META_CREATE = f"""\
{_KEEPER}
The procedures below were found to belong together. Abstract the paradigm behind them, and write a routing
table: for each procedure the condition under which it, and not another, is the one to follow. {DATA}"""

META_UPDATE = f"""\
{_KEEPER}
The procedures below join a family whose principle is kept. Write for each new procedure the line of the
family's routing table: the condition under which it, and not another, is the one to follow. {DATA}"""


def tag_task(instruction: str, vocabulary: Iterable[str]) -> list[Message]:
    """Ask for the tags of a task."""
    used = " ".join(sorted(vocabulary)) or NOTHING
    return [system(TAGGING), user(f"{block('task', instruction)}\n{block('tags_in_use', used)}")]


def route(record: str) -> list[Message]:
    """Ask which sub-reflectors to run. `record`: memories.prompting.episode_blocks, here and below."""
    return [system(ROUTING), user(record)]


def atomic(type: str, record: str, nearest: Sequence[Node], vocabulary: Iterable[str]) -> list[Message]:
    """Ask for the atomic nodes of one type that a solved episode gives."""
    instruction = (
        f"{_KEEPER}\nThe episode below solved its task. Keep what it shows as {_ATOMIC[type]}.\n"
        f"Prefer to refine a listed node over creating one that says nearly the same. {DATA}"
    )
    return [
        system(instruction),
        user(
            f"{record}\n{block('sub_reflector', type)}\n"
            f"{block('kept', cards(nearest))}\n{block('tags_in_use', ' '.join(sorted(vocabulary)) or NOTHING)}"
        ),
    ]


def workflow(record: str, skills: Sequence[Node], vocabulary: Iterable[str]) -> list[Message]:
    """Ask for the procedure of a solved episode."""
    return [
        system(WORKFLOW),
        user(
            f"{record}\n{block('skills', cards(skills))}\n"
            f"{block('tags_in_use', ' '.join(sorted(vocabulary)) or NOTHING)}"
        ),
    ]


def difference(record: str, kept: Node, draft: str) -> list[Message]:
    """Ask how a solved episode differs from the procedure nearest to its draft."""
    return [
        system(DIFFERENCE),
        user(f"{record}\n{block('kept', card(kept))}\n{block('draft', draft)}"),
    ]


def pitfall(record: str, kept: Node) -> list[Message]:
    """Ask for the mistake of a failed episode."""
    return [system(PITFALL), user(f"{record}\n{block('kept', card(kept))}")]


def create_meta(members: Sequence[Node]) -> list[Message]:
    """Ask for a paradigm over `members`."""
    return [system(META_CREATE), user(block("procedures", cards(members)))]


def update_meta(meta: Node, members: Sequence[Node]) -> list[Message]:
    """Ask for the routing lines of `members` that join `meta`."""
    return [
        system(META_UPDATE),
        user(f"{block('family', card(meta))}\n{block('procedures', cards(members))}"),
    ]


def card(node: Node) -> str:
    """A node as prompts show it."""
    lines = [f"id: {node.id}", f"title: {node.title}", f"when: {node.applicability}"]
    lines += [f"tags: {' '.join(node.tags) or NOTHING}", node.content]
    lines += [f"- {bullet.kind}: {bullet.text}" for bullet in node.bullets[-10:]]
    return "\n".join(lines)


def cards(nodes: Sequence[Node]) -> str:
    """Several nodes, divided by empty lines."""
    return "\n\n".join(map(card, nodes)) or NOTHING
