"""Worlds of code and of pages: the documented minimum.

The reader does not program. It runs what the memory holds for a task like this one, then asks the look-ups
that the action help spells out, each once, and then says that it is done, if the help says how.
"""

from __future__ import annotations

import random
import re

from agents.reader.lessons import lessons_in
from agents.reader.player import Choice
from agents.reader.view import View
from agents.reader.words import content_words

_BLOCK = re.compile(r"```(?:python)?\n(.*?)\n```", re.DOTALL)
_CALL = re.compile(r"(?:print\()?\b[a-z_]+(?:\.[a-z_]+)+\([^()\n]*\)\)?")
_DONE = re.compile(r"complete|finish|submit|stop|send_msg|report_infeasible")
_PAGE = re.compile(r"\[(\w+)\] (link|button|textbox|searchbox) '([^'\n]{1,80})'")


def code(view: View, rng: random.Random) -> Choice:
    """The next block: from the memory, from the help, or the end."""
    done = {turn.action for turn in view.turns}
    for text in _BLOCK.findall(view.memory):
        if text not in done:
            return Choice(text, "This was run in an earlier task.")
    calls = list(dict.fromkeys(call.group() for call in _CALL.finditer(view.help)))
    for call in calls:
        text = call if call.startswith("print(") else f"print({call})"
        if not _DONE.search(call) and text not in done:
            return Choice(text, "I look up what there is.")
    ends = [call.removeprefix("print(") for call in calls if _DONE.search(call)]
    return Choice(ends[0] if ends else "print('done')", "I know no further step, so I end the task.")


def page(view: View, rng: random.Random) -> Choice:
    """Click what the task names, each thing once, then say that it is done."""
    done = {turn.action for turn in view.turns}
    wanted = content_words(view.task)
    warned = lessons_in(view.memory)
    offered = [
        (len(wanted & content_words(name)), rng.random(), f"click('{mark}')")
        for mark, kind, name in _PAGE.findall(view.latest)
        if kind in ("link", "button")
    ]
    fresh = [
        entry for entry in offered if entry[2] not in done and not warned.warns_of(entry[2]) and entry[0]
    ]
    if fresh and len(view.turns) < 8:
        return Choice(max(fresh)[2], "The task speaks of this.")
    return Choice("send_msg_to_user('N/A')", "I know no further step, so I end the task.")
