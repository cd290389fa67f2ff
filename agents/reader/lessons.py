"""What the reader takes from a memory's text, whatever memory wrote it.

Three things: where rooms and things were seen (any text that describes a room), what was done in earlier
tasks (lines `Action: ...`, actions in backquotes, numbered steps), and what to avoid (sentences that warn,
and the last action of a failed episode).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from agents.reader.scene import Room, rooms_in
from agents.reader.words import content_words, overlap, words

_TASK = re.compile(
    r"^\W*(?:earlier |the )?(?:task|instruction|goal|query)\W*?:\W*(.+)$", re.IGNORECASE | re.MULTILINE
)
_OUTCOME = re.compile(
    r"\b(?:verdict|outcome|result|judged)\b[^\n]{0,20}?\b(success|failure|failed|succeeded)\b", re.I
)
_ACTION = re.compile(r"^\W*(?:Action|Act)\s*:\s*(.+)$", re.IGNORECASE | re.MULTILINE)
_QUOTED = re.compile(r"`([^`\n]{3,80})`")
_NUMBERED = re.compile(r"^\s*(?:\d+[.)]|-|\*)\s+(.+)$", re.MULTILINE)
_WARNING = re.compile(
    r"\b(?:avoid|never|do not|don't|must not|should not|wrong|mistake|failed|ended the task|pitfall)\b", re.I
)


@dataclass(frozen=True)
class Procedure:
    """What was done in an earlier task, in order."""

    goal: str
    actions: tuple[str, ...]
    outcome: str = ""
    """success, failure, or empty if the memory does not say."""


@dataclass
class Lessons:
    """All that a memory's text says."""

    rooms: dict[str, Room] = field(default_factory=dict)
    procedures: list[Procedure] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    """Sentences that warn."""
    focused: dict[str, int] = field(default_factory=dict)
    """Name of what was focused on earlier -> +1 after a success, -1 after a failure, summed."""
    text: str = ""

    def mentions(self, name: str) -> int:
        """How often a name stands in the memory."""
        return self.text.count(name.lower()) if name else 0

    def warns_of(self, action: str) -> bool:
        """Whether a warning names this very action."""
        return any(action.lower() in warning for warning in self.warnings)

    def fitting(self, task: str, least: float = 0.5) -> list[Procedure]:
        """Procedures whose goal is like the task, the likeliest successes first."""
        scored = [(overlap(task, p.goal) - (p.outcome == "failure"), p) for p in self.procedures]
        return [p for score, p in sorted(scored, key=lambda pair: -pair[0]) if score >= least]


@lru_cache(maxsize=64)
def lessons_in(memory: str) -> Lessons:
    """Read a memory's text."""
    lessons = Lessons(text=memory.lower())
    for room in rooms_in(memory):
        known = lessons.rooms.setdefault(room.name, Room(room.name))
        known.items.extend(item for item in room.items if item not in known.items)
        known.doors.update(dict.fromkeys(room.doors, False))
    for goal, part in _parts(memory):
        state = _outcome(part)
        actions = _ACTION.findall(part) or _QUOTED.findall(part) or _NUMBERED.findall(part)
        if actions:
            lessons.procedures.append(Procedure(goal, tuple(a.strip() for a in actions), state))
        if state:
            for name in {a.removeprefix("focus on ").strip() for a in actions if a.startswith("focus on ")}:
                gain = 1 if state == "success" else -1
                lessons.focused[name] = lessons.focused.get(name, 0) + gain
    for sentence in re.split(r"(?<=[.!?])\s|\n", memory):
        if _WARNING.search(sentence):
            lessons.warnings.append(sentence.lower())
    return lessons


def _outcome(part: str) -> str:
    said = _OUTCOME.search(part)
    if said:
        return "success" if said[1].lower().startswith("succe") else "failure"
    return "success" if re.search(r"\bworked\b", part) else ""


def _parts(memory: str) -> list[tuple[str, str]]:
    """The memory by earlier task: (goal, text). Without such heads, paragraph by paragraph."""
    heads = list(_TASK.finditer(memory))
    if heads:
        ends = [*(head.start() for head in heads), len(memory)][1:]
        return [(head[1], memory[head.start() : end]) for head, end in zip(heads, ends, strict=True)]
    return [(_QUOTED.sub("", part)[:300], part) for part in re.split(r"\n\s*\n", memory) if part.strip()]


def adapted(action: str, goal: str, task: str) -> str:
    """An action of an earlier task in the words of this one.

    Where the two goals differ by one run of words in the same surrounding, the run is exchanged.
    """
    import difflib

    before, now = words(goal), words(task)
    matcher = difflib.SequenceMatcher(None, before, now, autojunk=False)
    text = f" {action} "
    for kind, a, b, c, d in matcher.get_opcodes():
        old, new = " ".join(before[a:b]), " ".join(now[c:d])
        if kind == "replace" and b - a <= 3 and d - c <= 3 and content_words(old):
            text = re.sub(rf"(?<=\s){re.escape(old)}(?=\s)", new, text)
    return text.strip()
