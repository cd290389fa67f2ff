"""Which registered capabilities an action uses, and which definitions a history has shown."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from agents.base import Step

_SLOT = re.compile(r"<[^<>]+>|\{[^{}]+\}|\[[^\[\]]+\]|\b[A-Z]{2,}[0-9]*\b")


@dataclass(frozen=True)
class Call:
    """One use of something callable in an action."""

    name: str
    """As written: `apis.spotify.login`, or the id of an action template."""
    arguments: tuple[str, ...]
    """Literal arguments, or what fills the template's slots."""
    keywords: tuple[str, ...] = ()


@lru_cache(maxsize=512)
def python_calls(code: str) -> tuple[Call, ...]:
    """All calls in a piece of python, in order of appearance; none if it does not parse."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    calls = sorted(
        (node for node in ast.walk(tree) if isinstance(node, ast.Call)),
        key=lambda node: (node.lineno, node.col_offset, -(node.end_col_offset or 0)),
    )
    return tuple(
        Call(
            ast.unparse(node.func),
            tuple(str(v.value) for v in _values(node) if isinstance(v, ast.Constant)),
            tuple(keyword.arg or "**" for keyword in node.keywords),
        )
        for node in calls
        if isinstance(node.func, ast.Name | ast.Attribute)
    )


def _values(node: ast.Call) -> list[ast.expr]:
    return [*node.args, *(keyword.value for keyword in node.keywords)]


def defined_names(code: str) -> set[str]:
    """Names of the functions that a piece of python defines."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError):
        return set()
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


@lru_cache(maxsize=4096)
def template(text: str) -> re.Pattern[str] | None:
    """A pattern for an action template such as `pour OBJ into OBJ` or `go to {place}`; None if it is none.

    Slots are words in capitals, or names in <>, {} or [].
    """
    line = text.strip()
    if not line or "\n" in line or len(line) > 120:
        return None
    parts, end = [], 0
    for slot in _SLOT.finditer(line):
        parts += [re.escape(line[end : slot.start()]), r"(.+?)"]
        end = slot.end()
    parts.append(re.escape(line[end:]))
    return re.compile(re.sub(r"(\\?\s)+", r"\\s+", "".join(parts)), re.IGNORECASE)


class Reading:
    """Reads actions against the capabilities registered in an environment."""

    def __init__(self, definitions: Mapping[str, str], form: str) -> None:
        """`definitions`: capability id -> public definition."""
        self.definitions = dict(definitions)
        self.form = form
        self._templates = self._patterns() if form == "text" else []
        self.public = self._public()
        """Words of the public definitions, in lower case: no values of a task."""

    def _public(self) -> set[str]:
        """In text worlds the fixed words of the templates only, since their explanations hold examples."""
        texts: list[str] = [id.replace("_", " ") for id in self.definitions]
        for definition in self.definitions.values():
            line = definition.split("\n")[0].split(":")[0]
            texts.append(_SLOT.sub(" ", line) if self.form == "text" else definition)
        return {word.lower() for text in texts for word in re.findall(r"[^\W\d_]\w*", text)}

    def _patterns(self) -> list[tuple[str, re.Pattern[str]]]:
        """Templates, those with the most fixed text first."""
        found: list[tuple[int, str, re.Pattern[str]]] = []
        for id, definition in self.definitions.items():
            lines = [line.strip().strip("`") for line in (id, *definition.splitlines()[:1])]
            for line in dict.fromkeys(
                part for whole in lines for part in (whole, whole.split(":")[0].strip())
            ):
                pattern = template(line)
                if pattern is not None:
                    found.append((-len(_SLOT.sub("", line)), id, pattern))
        return [(id, pattern) for _, id, pattern in sorted(found, key=lambda entry: entry[:2])]

    def calls(self, action: str) -> list[Call]:
        """Uses of registered capabilities in an action, in order; their `name` is the capability's id."""
        if self.form != "text":
            calls = [(self._registered(call.name), call) for call in python_calls(action)]
            return [Call(id, call.arguments, call.keywords) for id, call in calls if id]
        line = " ".join(action.split())
        for id, pattern in self._templates:
            match = pattern.fullmatch(line)
            if match:
                return [Call(id, tuple(group.strip() for group in match.groups()))]
        return []

    def _registered(self, name: str) -> str:
        """The id that a called name stands for: itself, or what follows its first dot (`apis.` in AppWorld)."""
        for id in (name, name.partition(".")[2]):
            if id in self.definitions:
                return id
        return ""

    def opened_in(self, id: str, history: Iterable[Step]) -> bool:
        """Whether the environment's own look-ups in `history` have shown the definition of `id`.

        Either a call named every part of the id as text (`show_api_doc("spotify", "login")`), or an
        observation holds four fifths of the names in the definition [ours].
        """
        parts = set(id.split("."))
        names = set(re.findall(r"[A-Za-z_]\w{2,}", self.definitions.get(id, "")))
        for step in history:
            if step.kind not in ("act", "look_up"):
                continue
            if any(parts <= set(call.arguments) for call in python_calls(step.action)):
                return True
            if names and parts <= set(re.findall(r"\w+", step.observation)):
                seen = sum(1 for name in names if name in step.observation)
                if seen >= 0.8 * len(names):
                    return True
        return False


_QUOTED = re.compile(r"\"([^\"\n]{1,80})\"|(?<!\w)'([^'\n]{1,80})'(?!\w)")
_NUMBER = re.compile(r"(?<![\w.{])\d+(?:[.,:]\d+)*(?![\w}])")
_NAME = re.compile(r"(?<![.!?:\n] )(?<!^)\b[A-Z][a-z]+(?:\s+[A-Z][a-z]+)*\b")
_MAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+")


def concrete_values(instruction: str, actions: Sequence[str], reading: Reading) -> set[str]:
    """Values of one episode that must not stand in shared experience (section 3.1), in plain form.

    What the actions put into templates or gave as literal arguments, and what the instruction quotes,
    numbers and names; not the words of the public definitions. `cup in cupboard 3` is three values:
    itself, `cup` and `cupboard`.
    """
    found: set[str] = set()
    for action in actions:
        if reading.form == "text":
            found |= {value for call in reading.calls(action) for value in call.arguments}
        else:
            found |= {value for call in python_calls(action) for value in call.arguments}
    found |= {a or b for a, b in _QUOTED.findall(instruction)}
    for pattern in (_NUMBER, _NAME, _MAIL):
        found |= set(pattern.findall(instruction))
    normal = {" ".join(value.replace("_", " ").lower().split()) for value in found}
    if reading.form == "text":
        normal |= {part for value in normal for part in _RELATION.split(_LEADING.sub("", value))}
        normal |= {_COUNTED.sub("", value) for value in normal}
    return {value for value in normal if value and value not in reading.public and value not in _PLAIN}


_LEADING = re.compile(r"^(?:(?:to|in|into|on|onto|from|with|the|a|an)\s+)+")
_RELATION = re.compile(r"\s+(?:in|on|to|of|from|inside|containing)\s+(?:the\s+|a\s+|an\s+)?")
_COUNTED = re.compile(r"\s+\d+$")
_PLAIN = {"true", "false", "none", "null", "agent", "task", "start", "door", "room"}
"""Words that say nothing of a task: no value is one of them alone [ours]."""
