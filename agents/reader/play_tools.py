"""Calling a memory's tools: once an entry of the memory fits the task, its tool is asked for it."""

from __future__ import annotations

import re

from agents.reader.player import Choice
from agents.reader.view import View
from agents.reader.words import content_words

_USAGE = re.compile(r"^\W*([a-z_]+)\(([^)]*)\)")
_ENTRY = re.compile(r"^\W*([\w.-]{2,64})[ \t]*[:–—-][ \t]+(.+)$", re.MULTILINE)
_QUERIES = ("query", "words", "text", "question", "keywords", "request", "what")
CALLS = 2
"""Tool calls of one episode [ours]."""


def call_tool(view: View) -> Choice | None:
    """A tool call that promises something, or None.

    A tool that takes free words is asked the task; one that takes a name is given the entry of the memory
    (`name: description`) that has most words in common with the task.
    """
    if len(view.called) >= CALLS or view.turns:
        return None
    wanted = content_words(view.task)
    for line in view.tools:
        usage = _USAGE.match(line)
        if usage is None:
            continue
        name, argument = usage[1], usage[2].strip().lower()
        if any(word in argument for word in _QUERIES):
            argument = " ".join(sorted(wanted))[:200]
        else:
            entries = [
                (len(wanted & content_words(" ".join(entry))), entry[0])
                for entry in _ENTRY.findall(view.memory)
            ]
            shared, argument = max(entries, default=(0, ""))
            if shared < 1:
                continue
        call = f"{name}({argument})"
        if call not in view.called:
            return Choice(call, "The memory may know more about a task like this.")
    return None
