"""One episode's side of EvoWeave: plan, opened cards, tools, the execution check and the events."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from agents.base import Step
from memories.base import Event, Recall
from memories.evoweave.invoked import Reading, defined_names, python_calls
from memories.evoweave.retrieval import Retrieval

OPERATION_ID = re.compile(r"\bop\d{5,}\b")


@dataclass
class EvoWeaveRecall(Recall):
    """A Recall that watches the episode. Everything that lives only during an episode lives here."""

    reading: Reading = field(default_factory=lambda: Reading({}, "text"))
    operations: Callable[[str], bool] = lambda id: False
    """Whether an operation of that id exists."""
    functions: Mapping[str, str] = field(default_factory=dict)
    """Stored functions: name -> body."""
    open_body: Callable[[str], str | None] = lambda id: None
    """The body of a capability, whose opening is logged by the caller."""
    retrieval: Retrieval | None = None
    bindings: Mapping[str, str] = field(default_factory=dict)
    """Values of this task for the plan's placeholders."""
    opened: set[str] = field(default_factory=set)
    """Capabilities whose definition this episode has shown."""
    retrieved: set[str] = field(default_factory=set)
    """Operations whose card was shown."""
    referenced: set[str] = field(default_factory=set)
    tally: Counter[str] = field(default_factory=Counter)
    """Counts of this episode, added to the memory's by `write`."""
    history: Sequence[Step] = ()
    """The rounds so far, as of the latest `before_step`."""
    searches_left: int | None = None
    """Searches and openings still allowed, None for no cap."""
    _counted: int = 0
    """Actions whose execution is logged."""

    def note(self, kind: str, item: str = "", detail: str = "") -> None:
        """Log an event and count it."""
        self.events.append(Event(kind, item, detail))
        self.tally[kind] += 1

    def show(self, operations: Sequence[str], by: str) -> None:
        """Log that cards were shown, each operation once an episode."""
        for id in operations:
            if id not in self.retrieved:
                self.retrieved.add(id)
                self.note("retrieved", id, by)

    def before_step(self, history: Sequence[Step]) -> str | None:
        """Take note of what was done since the last round; says nothing."""
        self.catch_up(history)
        return None

    def catch_up(self, history: Sequence[Step]) -> None:
        """Log references and executions in rounds not seen yet."""
        for step in history[len(self.history) :]:
            for id in OPERATION_ID.findall(f"{step.thought}\n{step.action}"):
                if id not in self.referenced and self.operations(id):
                    self.referenced.add(id)
                    self.note("referenced", id, "agent")
        self.history = tuple(history)
        acts = [step for step in history if step.kind == "act"]
        for step in acts[self._counted :]:
            self._executed(step.action)

    def used(self, action: str) -> list[str]:
        """Registered apis and stored functions that an action really calls, each once."""
        apis = [call.name for call in self.reading.calls(action)]
        called = [call.name for call in python_calls(action)] if self.functions else []
        return list(dict.fromkeys([*apis, *(name for name in called if name in self.functions)]))

    def check_action(self, action: str, history: Sequence[Step]) -> str | None:
        """The execution check (appendix B.2): code must not call what it has not read.

        A registered api or stored function whose definition was not opened in this episode, by a tool or by
        the environment's own look-ups, is opened and the code asked for again. An unknown name is left to the
        environment: nothing is created for it. Text and page actions need no such check, since their
        templates stand in the prompt [ours].
        """
        unread = self._unread(action, history) if self.reading.form == "code" else []
        if not unread:
            self.catch_up(history)
            self._executed(action)
            return None
        parts = []
        for id in unread:
            self.opened.add(id)
            self.note("opened", id, "execution check")
            parts.append(f"{id}:\n{self.open_body(id)}")
        self.tally["execution_checks"] += 1
        return (
            "This code calls definitions that were not read yet. Here they are; write the code again so that it "
            "fits them (a stored function must be defined in your code before it is called):\n\n"
            + "\n\n".join(parts)
        )

    def _unread(self, action: str, history: Sequence[Step]) -> list[str]:
        defined = self._defined(action, history)
        return [
            id
            for id in self.used(action)
            if id not in self.opened and id not in defined and not self.reading.opened_in(id, history)
        ]

    def _executed(self, action: str) -> None:
        for id in self.used(action):
            self.note("executed", id)
        self._counted += 1

    def _defined(self, action: str, history: Sequence[Step]) -> set[str]:
        if not self.functions:
            return set()
        codes = [action, *(step.action for step in history if step.kind == "act")]
        return {name for code in codes for name in defined_names(code)}
