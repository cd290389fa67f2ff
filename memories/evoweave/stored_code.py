"""Stored functions and action macros: validated before they are published (section 3.3).

A macro is replayed: with its bindings put in, each line must be the action that the episode recorded.
So is a function that calls apis: its calls must be those of its rounds. A pure function runs its own test.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping, Sequence

from agents.base import Step
from memories.evoweave.abstraction import Rejected, abstract, description_form, leaked, plain
from memories.evoweave.capabilities import Code
from memories.evoweave.contracts import PLACEHOLDER
from memories.evoweave.invoked import Reading, python_calls
from memories.evoweave.prompts import ProposedCode
from memories.evoweave.sandbox import impurity, run_test


def validated(
    proposal: ProposedCode, steps: Sequence[Step], values: Collection[str], reading: Reading, task: int
) -> Code:
    """The code as it is published. Raises Rejected with the reason."""
    name = re.sub(r"\W+", "_", proposal.name.strip().lower()).strip("_")
    where = f"code {proposal.name!r}"
    wrong = [n for n in proposal.steps if not 1 <= n <= len(steps)]
    if not name or wrong:
        raise Rejected(f"{where}: there is no round {wrong[0]}" if wrong else f"{where}: it needs a name")
    own = [steps[n - 1] for n in proposal.steps]
    known = {*values, *(plain(value) for value in proposal.bindings.values())} - {""}
    summary = description_form(abstract(proposal.summary, proposal.bindings))
    found = leaked(summary, known) or leaked(name, known)
    if found:
        raise Rejected(f"{where}: its name or summary holds {found[0]!r}, a value of this episode")
    if proposal.kind == "macro":
        body, calls, how = _macro(proposal, own, known, reading, where)
        parameters = tuple(dict.fromkeys(PLACEHOLDER.findall(body)))
    else:
        body, calls, how, parameters = _function(proposal, own, known, reading, where)
        name = parameters[0]
        parameters = parameters[1:]
    return Code(
        f"{name}", proposal.kind, summary, body, parameters, calls, proposal.test.strip(), how, (task,)
    )


def filled(line: str, bindings: Mapping[str, str]) -> str:
    """A macro's line with its placeholders replaced by their values. Raises KeyError for one without a value."""
    return PLACEHOLDER.sub(lambda found: bindings[found[1]], line)


def _macro(
    proposal: ProposedCode, own: Sequence[Step], values: Collection[str], reading: Reading, where: str
) -> tuple[str, tuple[str, ...], str]:
    lines = [" ".join(line.split()) for line in proposal.body.splitlines() if line.strip()]
    if len(lines) != len(own) or len(lines) < 2:
        raise Rejected(
            f"{where}: a macro has a line for each of its rounds, at least two; {len(lines)} for {len(own)}"
        )
    if list(proposal.steps) != sorted(set(proposal.steps)):
        raise Rejected(f"{where}: its rounds must be in the order of the episode")
    for line, step, number in zip(lines, own, proposal.steps, strict=True):
        try:
            action = filled(line, proposal.bindings)
        except KeyError as error:
            raise Rejected(f"{where}: placeholder {{{error.args[0]}}} has no binding") from error
        if action != " ".join(step.action.split()):
            raise Rejected(f"{where}: line {line!r} gives {action!r}, but round {number} did {step.action!r}")
    body = "\n".join(lines)
    found = leaked(body, values)
    if found:
        raise Rejected(f"{where}: it holds {found[0]!r}, a value of this episode: make it a placeholder")
    used = tuple(dict.fromkeys(call.name for step in own for call in reading.calls(step.action)))
    return body, used, f"replayed on rounds {', '.join(map(str, proposal.steps))}"


def _function(
    proposal: ProposedCode, own: Sequence[Step], values: Collection[str], reading: Reading, where: str
) -> tuple[str, tuple[str, ...], str, tuple[str, ...]]:
    body = proposal.body.strip()
    try:
        tree = ast.parse(body)
    except (SyntaxError, ValueError) as error:
        raise Rejected(f"{where}: it does not parse: {error}") from error
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.FunctionDef):
        raise Rejected(f"{where}: wanted is one def and nothing beside it")
    function = tree.body[0]
    literals = {
        plain(node.value) if isinstance(node.value, str) else str(node.value)
        for node in ast.walk(function)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str | int | float)
        and not isinstance(node.value, bool)
    }
    texts = [f"{function.name} {' '.join(sorted(literals - _COUNTERS))}"]
    found = leaked(" ".join(texts), values)
    if found:
        raise Rejected(f"{where}: it holds {found[0]!r}, a value of this episode: make it a parameter")
    signature = (
        function.name,
        *(argument.arg for argument in (*function.args.args, *function.args.kwonlyargs)),
    )
    calls = tuple(dict.fromkeys(call.name for call in reading.calls(body)))
    if not calls:
        wrong = impurity(body) or run_test(body, proposal.test)
        if wrong:
            raise Rejected(f"{where}: {wrong}")
        return body, (), "its own test passed", signature
    _replay(function, proposal, own, reading, where)
    return body, calls, f"its calls are those of rounds {', '.join(map(str, proposal.steps))}", signature


_COUNTERS = {"0", "1", "-1", "2"}
"""Numbers that index and count: no values."""


def _replay(
    function: ast.FunctionDef, proposal: ProposedCode, own: Sequence[Step], reading: Reading, where: str
) -> None:
    bound = _Bound(proposal.bindings)
    replayed = reading.calls(ast.unparse(bound.visit(ast.parse(ast.unparse(function)))))
    recorded = [
        call
        for step in own
        if not step.observation.startswith(_ERRORS)
        for call in reading.calls(step.action)
    ]
    for call in replayed:
        same = [r for r in recorded if r.name == call.name and sorted(r.keywords) == sorted(call.keywords)]
        if not any(set(call.arguments) <= set(r.arguments) for r in same):
            given = ", ".join((*call.arguments, *call.keywords))
            raise Rejected(f"{where}: its rounds hold no successful call {call.name}({given})")


_ERRORS = ("Execution failed", "Traceback", "Error")


class _Bound(ast.NodeTransformer):
    """Puts the bindings in for the parameters."""

    def __init__(self, bindings: Mapping[str, str]) -> None:
        self.bindings = bindings

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and node.id in self.bindings:
            return ast.Constant(self.bindings[node.id])
        return node


def defines(code: str, names: Collection[str]) -> set[str]:
    """Which of `names` a piece of python defines itself."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError):
        return set()
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)} & set(names)


def functions_called(code: str, names: Collection[str]) -> list[str]:
    """Which of `names` a piece of python calls, in order."""
    return [call.name for call in python_calls(code) if call.name in names]
