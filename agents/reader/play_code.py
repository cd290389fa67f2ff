"""Worlds of code: the documented minimum.

The reader does not program. In a world of code it runs what the memory holds of an earlier task that is worded
like this one, with the words exchanged in which the two differ; then it asks the look-ups that the action help
spells out, each once; then it says that it is done, if the help says how.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from agents.reader.player import Choice
from agents.reader.view import View
from agents.reader.words import overlap

_BLOCK = re.compile(r"```(?:python)?\n(.*?)\n```", re.DOTALL)
_TASK = re.compile(r"^Task: (.+)$", re.MULTILINE)
_FAILURE = re.compile(r"^Outcome: failure", re.MULTILINE)
_STEP = re.compile(
    r"^Action: (.*?)\nObservation: (.*?)(?=^\[(?:\d+|\.\.\. .*)\]$|\Z)", re.DOTALL | re.MULTILINE
)
_WORD = re.compile(r"'[^'\n]*'|\S+")
_MARKS = " .,;:?!'\"$~/"
_ERROR = "Execution failed"
_CALL = re.compile(r"(?:print\()?\b[a-z_]+(?:\.[a-z_]+)+\([^()\n]*\)\)?")
_DONE = re.compile(r"complete|finish|submit|stop|send_msg|report_infeasible")


def code(view: View, rng: random.Random) -> Choice:
    """The next block: from the memory, from the help, or the end."""
    done = {turn.action for turn in view.turns}
    failed = {turn.action for turn in view.turns if turn.observation.startswith(_ERROR)}
    calls = list(dict.fromkeys(call.group() for call in _CALL.finditer(view.help)))
    look_ups = [f"print({_bare(call)})" for call in calls if not _DONE.search(call)]
    for blocks in remembered(view.memory, view.task):
        work = [block for block in blocks if block not in look_ups]
        if all(_is_end(block) for block in work) or failed & set(work):
            continue
        for text in work:
            if text not in done:
                return Choice(text, "This was run in an earlier task like this one.")
    for text in look_ups:
        if text not in done:
            return Choice(text, "I look up what there is.")
    ends = [_bare(call) for call in calls if _DONE.search(call)]
    return Choice(ends[0] if ends else "print('done')", "I know no further step, so I end the task.")


@lru_cache(maxsize=64)
def remembered(memory: str, task: str) -> Sequence[Sequence[str]]:
    """Runs of blocks that the memory holds for a task like this one, the likest first.

    Of a kept episode those blocks that raised no error, unless it is said to have failed; else fenced blocks of
    python, each for itself.
    """
    kept = sorted(_episodes(memory), key=lambda pair: -overlap(task, pair[0]))
    fitting = [
        [exchanged(block, goal, task) for block in blocks]
        for goal, blocks in kept
        if overlap(task, goal) >= 0.5
    ]
    return [*fitting, *([block] for block in _BLOCK.findall(memory) if _is_python(block))]


def _episodes(memory: str) -> Iterator[tuple[str, list[str]]]:
    """Goal and blocks of every episode in a memory's text that is not said to have failed."""
    starts = [*_TASK.finditer(memory)]
    for start, end in zip(starts, [*starts[1:], None], strict=False):
        part = memory[start.end() : end.start() if end else len(memory)]
        blocks = [
            code for code, seen in _STEP.findall(part) if not seen.startswith(_ERROR) and _is_python(code)
        ]
        if blocks and not _FAILURE.search(part):
            yield start[1].strip(), blocks


def exchanged(block: str, goal: str, task: str) -> str:
    """A block of the task `goal` for the task `task`: where their words differ one by one, those are exchanged."""
    old, new = _WORD.findall(goal), _WORD.findall(task)
    if len(old) != len(new):
        return block
    pairs = {a.strip(_MARKS): b.strip(_MARKS) for a, b in zip(old, new, strict=True) if a != b}
    pairs.pop("", None)
    if not pairs:
        return block
    # Longest first, and all in one pass, so that no word is exchanged twice.
    names = "|".join(re.escape(word) for word in sorted(pairs, key=len, reverse=True))
    return re.sub(rf"(?<!\w)(?:{names})(?!\w)", lambda match: pairs[match[0]], block)


def _bare(call: str) -> str:
    """A call without the print around it."""
    if not call.startswith("print("):
        return call
    call = call.removeprefix("print(")
    return call[:-1] if call.endswith("))") else call


def _is_end(block: str) -> bool:
    """Whether a block is nothing but the call that ends a task."""
    return bool(re.fullmatch(r"\s*[\w.]*(?:complete|finish|submit)\w*\(.*\)\s*", block))


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return bool(text.strip())
