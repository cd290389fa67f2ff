"""Runs a pure function's test in a process of its own that can do next to nothing."""

from __future__ import annotations

import ast
import subprocess
import sys
import tempfile

_PURE_IMPORTS_WORDS = """
    math re datetime json collections itertools statistics string functools decimal typing
"""
PURE_IMPORTS = frozenset(_PURE_IMPORTS_WORDS.split())
_FORBIDDEN_WORDS = """
    open exec eval compile input breakpoint globals locals vars getattr setattr delattr __import__
    exit quit help
"""
_FORBIDDEN = frozenset(_FORBIDDEN_WORDS.split())

PATIENCE = 20
"""Seconds by the clock beyond the limit on processor time: a busy machine must not fail a good function [ours]."""

_LIMITS = """\
import resource, sys
cpu, memory = int(sys.argv[1]), int(sys.argv[2])
for limit, value in (("RLIMIT_CPU", cpu), ("RLIMIT_AS", memory), ("RLIMIT_FSIZE", 0), ("RLIMIT_NOFILE", 16),
                     ("RLIMIT_NPROC", 0), ("RLIMIT_CORE", 0)):
    if hasattr(resource, limit):
        resource.setrlimit(getattr(resource, limit), (value, value))
exec(compile(sys.stdin.read(), "<stored function>", "exec"), {"__name__": "stored_function"})
"""


def impurity(code: str) -> str:
    """What keeps a piece of python from being pure, or the empty text.

    Pure code imports only `PURE_IMPORTS` and neither reads files nor reaches into the interpreter.
    """
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError) as error:
        return f"it does not parse: {error}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = (
                [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else [alias.name for alias in node.names]
            )
            strange = [name for name in names if name.split(".")[0] not in PURE_IMPORTS]
            if strange or (isinstance(node, ast.ImportFrom) and node.level):
                return f"it imports {(strange or ['a relative module'])[0]}"
        elif isinstance(node, ast.Name) and node.id in _FORBIDDEN:
            return f"it uses {node.id}"
        elif isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            return f"it reaches for {node.attr}"
        elif isinstance(node, ast.Name) and node.id.startswith("__"):
            return f"it uses {node.id}"
    return ""


def run_test(function: str, test: str, seconds: int = 2, megabytes: int = 256) -> str:
    """Run `test` (assert lines) after `function`; gives what went wrong, or the empty text.

    The child has no environment variables (so no keys), no site packages, an empty working folder, and
    limits on time, memory, files and processes. Impure code is not run at all.
    """
    code = f"{function}\n\n{test}\n"
    wrong = impurity(code)
    if wrong:
        return wrong
    if not any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(test))):
        return "its test asserts nothing"
    with tempfile.TemporaryDirectory(prefix="memtrial-") as folder:
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-S", "-c", _LIMITS, str(seconds), str(megabytes << 20)],
                input=code,
                text=True,
                encoding="utf-8",
                errors="replace",
                capture_output=True,
                cwd=folder,
                env={},
                timeout=seconds + PATIENCE,
                start_new_session=True,
            )
        except subprocess.TimeoutExpired:
            return f"its test did not end within {seconds + PATIENCE} s"
    if done.returncode == 0:
        return ""
    last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    return f"its test failed: {last[:200]}"
