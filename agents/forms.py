"""The three forms of acting: how a reply must look, and how one is read.

text: ReAct (Yao et al., 2023): a thought and one line `Action: ...`. code: the first ```python block.
page: one browser action, in a ``` block or on an `Action:` line. A memory's tool is called in every
form by the line `Tool: name(argument)`.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from envs.base import Form

ROLES: dict[Form, str] = {
    "text": "You act in a text world to complete one task. You cannot ask anyone for help.",
    "code": "You complete one task by writing python code, which is executed for you block by block.",
    "page": "You complete one task by operating a web browser, one action at a time.",
}

RULES: dict[Form, str] = {
    "text": (
        "Reply with exactly one thought and one action, in this form and with nothing after it:\n"
        "Thought: what you know now and what to do next, in one to three sentences\n"
        "Action: one action, on one line\n"
        "The world's answer comes with the next message. Never write it yourself."
    ),
    "code": (
        "Reply with a short thought, then exactly one block of code, and nothing after it:\n"
        "Thought: what you know now and what to do next, in one to three sentences\n"
        "```python\n"
        "the code to execute now\n"
        "```\n"
        "Its printed output, or its error, comes with the next message. Never write it yourself. Variables\n"
        "stay defined from block to block."
    ),
    "page": (
        "Reply with exactly one thought and one action, in this form and with nothing after it:\n"
        "Thought: what you know now and what to do next, in one to three sentences\n"
        "Action: one browser action, on one line\n"
        "The page as it is afterwards comes with the next message. Never write it yourself."
    ),
}

_LABEL = r"^[ \t>*_#-]*{name}[ \t]*[*_]*[ \t]*:[ \t]*[*_]*[ \t]*"
_ACTION = re.compile(_LABEL.format(name="action") + r"(.*)$", re.IGNORECASE | re.MULTILINE)
_TOOL = re.compile(_LABEL.format(name="tool") + r"(.*)$", re.IGNORECASE | re.MULTILINE)
_CALL = re.compile(r"^([A-Za-z_]+)\s*\((.*)\)\W*$", re.DOTALL)
_FENCE = re.compile(r"```[ \t]*([A-Za-z]*)[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)
_THOUGHT = re.compile(_LABEL.format(name="thought"), re.IGNORECASE | re.MULTILINE)
_CODE = ("python", "py", "")


@dataclass(frozen=True)
class Move:
    """A reply that could be read: an action for the world, or a call of a memory's tool."""

    thought: str
    action: str
    """The action, or the whole call `name(argument)`."""
    tool: str = ""
    """Name of the tool called, empty for an action."""
    argument: str = ""


@dataclass(frozen=True)
class Malformed:
    """A reply that could not be read, and what was wrong with it, worded for the one who wrote it."""

    text: str
    problem: str


def read(form: Form, reply: str, tools: Collection[str] = ()) -> Move | Malformed:
    """Read a reply in the given form. `tools`: the names that may be called.

    Of several actions the first counts: what a model writes after it (imagined answers) is dropped.
    """
    if not reply.strip():
        return Malformed(reply, "The reply held no text (if thinking used up its tokens, think less).")
    action = _action(form, reply)
    tool = _TOOL.search(reply)
    if tool and (action is None or tool.start() < action[0]):
        return _tool_call(reply, tool, tools)
    if action is None:
        return Malformed(reply, _missing(form, reply))
    start, text = action
    if not text:
        return Malformed(reply, "The action was empty.")
    return Move(_thought(reply[:start]), text)


def write(form: Form, move: Move) -> str:
    """A move as the assistant's message of the conversation: the form asked for, without anything after."""
    thought = f"Thought: {move.thought}\n" if move.thought else ""
    if move.tool:
        return f"{thought}Tool: {move.action}"
    if form == "code":
        return f"{thought}```python\n{move.action}\n```"
    return f"{thought}Action: {move.action}"


def _action(form: Form, reply: str) -> tuple[int, str] | None:
    """Where the action of a reply starts, and the action; None if there is none."""
    found: list[tuple[int, str]] = []
    if form != "text":
        fence = next((f for f in _FENCE.finditer(reply) if form == "page" or f[1].lower() in _CODE), None)
        if fence:
            found.append((fence.start(), fence[2].strip("\n") if form == "code" else fence[2].strip()))
    if form != "code":
        line = _ACTION.search(reply)
        if line and not (found and line.end() >= found[0][0] - 1 and not line[1].strip()):
            found.append((line.start(), _bare(line[1] or _next_line(reply, line.end()))))
    return min(found) if found else None


def _tool_call(reply: str, line: re.Match[str], tools: Collection[str]) -> Move | Malformed:
    names = ", ".join(sorted(tools))
    if not tools:
        return Malformed(reply, "There are no tools here: reply with an action.")
    call = _CALL.match(_bare(line[1]))
    if call is None:
        return Malformed(reply, f"A tool is called by one line `Tool: name(argument)`. The tools: {names}.")
    name, argument = call[1].lower(), _unquoted(call[2].strip())
    if name not in tools:
        return Malformed(reply, f"There is no tool named {name!r}. The tools: {names}.")
    return Move(_thought(reply[: line.start()]), f"{name}({argument})", name, argument)


def _missing(form: Form, reply: str) -> str:
    if form == "code":
        if "```" in reply:
            return "The code block could not be read: open it with ```python and close it with ```."
        return "There was no ```python block in the reply."
    return "There was no line that starts with `Action:` in the reply."


def _thought(text: str) -> str:
    """What stands before the action, without its label and on one line."""
    return " ".join(_THOUGHT.sub("", text, count=1).split()).strip("* ")


def _next_line(reply: str, start: int) -> str:
    return next((line for line in reply[start:].splitlines() if line.strip()), "")


def _bare(action: str) -> str:
    """An action without the marks that models put around it."""
    action = action.strip().strip("*").strip()
    if len(action) > 1 and action[0] == action[-1] == "`":
        action = action.strip("`").strip()
    return _unquoted(action)


def _unquoted(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" and text[0] not in text[1:-1]:
        return text[1:-1].strip()
    return text
