"""One episode of a run, or its memory at any position of the stream.

python -m scripts.show RUN                     # the run and its tasks, a line each
python -m scripts.show RUN --task 3            # what was injected, every step, verdict, evaluation, tokens
python -m scripts.show RUN --task 3 --calls     # every prompt and reply of that task, as they were sent
python -m scripts.show RUN --memory [--at 3]   # the memory after the third task, and what that task changed
python -m scripts.show RUN --memory --task 12  # the same after the task whose number is 12
python -m scripts.show RUN --memory --dot      # its graph in Graphviz's language; --html FILE draws it
"""

from __future__ import annotations

import argparse
import difflib
import json
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from envs.base import SetupError
from harness import database
from harness.journal import FILE, documents_at


def open_run(run: str) -> sqlite3.Connection:
    """The record of a run, named by its folder or file. Raises SetupError."""
    path = Path(run)
    path = path / FILE if path.is_dir() else path
    if not path.is_file():
        raise SetupError(f"There is no {FILE} in {run}. `python -m scripts.status` lists the runs.")
    connection = database.open_existing(path, read_only=True)
    connection.row_factory = sqlite3.Row
    return connection


def overview(connection: sqlite3.Connection) -> Iterator[str]:
    """The run, and a line a task."""
    meta = dict(connection.execute("SELECT key, value FROM meta").fetchall())
    for key in ("setting", "backbone", "memory", "variant", "seed", "judge", "stream"):
        yield f"{key:9} {meta.get(key, '?')}"
    for session in connection.execute("SELECT * FROM sessions ORDER BY session"):
        notes = "; ".join(json.loads(session["notes"]))
        yield f"session {session['session']}: code {session['revision']}" + (f" ({notes})" if notes else "")
    yield ""
    for row in connection.execute("SELECT * FROM tasks ORDER BY position"):
        outcome = row["failure"] if row["failure"] != "none" else row["end"]
        yield (
            f"{row['position']:4}  task {row['number']:<4} {outcome:12} verdict {row['verdict'] or '-':10} "
            f"{_metrics(row)}  {row['steps']} steps  {_short(row['instruction'], 60)}"
        )


def task(connection: sqlite3.Connection, number: int) -> Iterator[str]:
    """One episode, whole. Raises SetupError if the run has no such task."""
    row = _row(connection, number)
    yield f"Task {number} (position {row['position']}, {row['id']})"
    yield row["instruction"]
    yield from _section("Injected at the start", row["injected"] or "(nothing)")
    items = ", ".join(f"{id_} ({kind})" for id_, kind in json.loads(row["items"]))
    yield f"Items: {items or 'none'}"
    yield from _section("Start", row["opening"])
    steps = connection.execute('SELECT * FROM steps WHERE task = ? ORDER BY attempt, "index"', (number,))
    attempt, acted = 0, 0
    for step in steps:
        if step["attempt"] != attempt:
            attempt, acted = step["attempt"], 0
            yield from _section(f"Attempt {attempt}", "")
        acted += step["kind"] == "act"
        yield f"[{acted if step['kind'] == 'act' else step['kind']}]"
        yield from (
            f"  {label}: {step[key]}"
            for label, key in (("thought", "thought"), ("action", "action"))
            if step[key]
        )
        yield "  " + step["observation"].replace("\n", "\n  ")
    yield from _section("Outcome", "")
    yield f"end:        {row['end'] or '-'}    failure: {row['failure']}" + (
        f" ({row['error']})" if row["error"] else ""
    )
    yield f"verdict:    {row['verdict'] or '-'}: {row['reason']}"
    yield f"evaluation: {row['evaluation']}: {_metrics(row)}"
    yield f"memory:     {'written' if row['written'] else 'not written'} {row['write_error']}".rstrip()
    yield (
        f"injected:   {row['injected_lines']} lines, {row['injected_tokens']} tokens, "
        f"{row['injected_tokens_calls']} summed over {row['rounds']} acting calls"
    )
    yield from _section("Events", "")
    yield from (" ".join(filter(None, event)) for event in json.loads(row["events"]))
    yield from _section("Calls", "")
    for call in connection.execute(
        "SELECT role, COUNT(*) n, SUM(input_tokens) i, SUM(cached_tokens) c, SUM(output_tokens) o, SUM(cost) usd, "
        "SUM(cost IS NULL) unknown, MAX(estimated) e FROM calls WHERE task = ? GROUP BY role ORDER BY role",
        (number,),
    ):
        cost = "cost unknown" if call["unknown"] else f"${call['usd'] or 0:.4f}"
        estimated = ", tokens estimated" if call["e"] else ""
        used = f"{call['i']} in ({call['c']} cached), {call['o']} out"
        yield f"{call['role']:9} {call['n']} calls, {used}, {cost}{estimated}"


def calls(connection: sqlite3.Connection, number: int) -> Iterator[str]:
    """Every prompt and reply of a task. Messages at the start that the call before it had too are only counted.

    Raises SetupError if the run has no such task.
    """
    _row(connection, number)
    query = 'SELECT * FROM calls WHERE task = ? ORDER BY attempt, "index", key'
    before: dict[str, list[str]] = {}
    for count, call in enumerate(connection.execute(query, (number,)), 1):
        retries = f", {call['retries']} retries" if call["retries"] else ""
        yield from _section(
            f"Call {count}: {call['role']}, attempt {call['attempt']}, {call['served']}, temperature "
            f"{call['temperature']:g}, {call['input_tokens']} tokens in, {call['output_tokens']} out, "
            f"{call['finish']}{retries}",
            "",
        )
        hashes, last = json.loads(call["messages"]), before.get(call["role"], [])
        same = next((n for n, pair in enumerate(zip(hashes, last, strict=False)) if pair[0] != pair[1]), None)
        shared = min(len(hashes), len(last)) if same is None else same
        if shared:
            yield f"({shared} messages as in the {call['role']} call before)"
        for hash_ in hashes[shared:]:
            message = connection.execute(
                "SELECT role, content FROM messages WHERE hash = ?", (hash_,)
            ).fetchone()
            yield f"[{message['role']}]\n{message['content']}"
        if call["reasoning"]:
            yield f"[reasoning]\n{call['reasoning']}"
        yield f"[reply]\n{call['text']}"
        before[call["role"]] = hashes


def memory(connection: sqlite3.Connection, at: int | None) -> Iterator[str]:
    """The memory after position `at` (None: the last), and what the task there changed."""
    position = _position(connection, at)
    now, before = documents_at(connection, position), documents_at(connection, position - 1)
    yield f"The memory after position {position}: {len(now)} documents"
    for name, text in now.items():
        yield from _section(name, text)
    changed = [name for name in sorted({*now, *before}) if now.get(name) != before.get(name)]
    yield from _section(f"What position {position} changed", "" if changed else "nothing")
    for name in changed:
        old, new = before.get(name), now.get(name)
        if old is None:
            yield f"new: {name}"
        elif new is None:
            yield f"gone: {name}"
        else:
            lines = difflib.unified_diff(old.splitlines(), new.splitlines(), name, name, lineterm="", n=1)
            yield from lines


def graph(connection: sqlite3.Connection, at: int | None) -> Any:
    """The memory's graph after position `at`. Raises SetupError for a memory that has none."""
    from harness.restore import restored

    found = restored(connection, documents_at(connection, _position(connection, at))).graph()
    if found is None:
        raise SetupError("This run's memory has no graph to draw; --memory alone prints its documents.")
    return found


def _row(connection: sqlite3.Connection, number: int) -> sqlite3.Row:
    row: sqlite3.Row | None = connection.execute("SELECT * FROM tasks WHERE number = ?", (number,)).fetchone()
    if row is None:
        known = [str(found[0]) for found in connection.execute("SELECT number FROM tasks ORDER BY position")]
        span = f"It holds {len(known)}: {_short(', '.join(known), 80)}" if known else "It holds none yet"
        raise SetupError(f"The run holds no task {number}. {span}.")
    return row


def _position(connection: sqlite3.Connection, at: int | None) -> int:
    last = int(connection.execute("SELECT IFNULL(MAX(position), 0) FROM tasks").fetchone()[0])
    if at is None:
        return last
    if not 0 <= at <= last:
        raise SetupError(f"--at {at} is out of range: the run holds positions 0 to {last}.")
    return at


def _place(connection: sqlite3.Connection, words: argparse.Namespace) -> int | None:
    """The position that --at or --task names, None for the last."""
    if words.task is None:
        at: int | None = words.at
        return at
    if words.at is not None:
        raise SetupError(f"--task {words.task} and --at {words.at} both name a place: give one of them.")
    return int(_row(connection, words.task)["position"])


def _section(title: str, text: str) -> Iterator[str]:
    yield f"\n== {title} =="
    if text:
        yield text


def _metrics(row: sqlite3.Row) -> str:
    return " ".join(f"{name}={value:g}" for name, value in json.loads(row["metrics"]).items()) or "no score"


def _short(text: str, limit: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def lines(words: argparse.Namespace) -> Iterator[str]:
    """What the command prints."""
    connection = open_run(words.run)
    try:
        if words.dot or words.html:
            from harness.drawing import dot, html

            drawn = graph(connection, _place(connection, words))
            if words.dot:
                yield dot(drawn)
            if words.html:
                words.html.write_text(html(drawn, words.run))
                yield str(words.html)
        elif words.memory:
            yield from memory(connection, _place(connection, words))
        elif words.calls:
            if words.task is None:
                raise SetupError("--calls shows the prompts and replies of one task: name it by --task N.")
            yield from calls(connection, words.task)
        elif words.task is not None:
            yield from task(connection, words.task)
        else:
            yield from overview(connection)
    finally:
        connection.close()


def main(words: list[str] | None = None) -> int:
    """Print what was asked for; exit code 1 with a message if it is not there."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.show",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("run", help="a run's folder")
    parser.add_argument(
        "--task", type=int, metavar="N", help="show the episode of task N; with --memory, the memory after it"
    )
    parser.add_argument("--calls", action="store_true", help="with --task: every prompt and reply of it")
    parser.add_argument("--memory", action="store_true", help="show the memory")
    parser.add_argument(
        "--at", type=int, metavar="N", help="the memory as it was after position N of the stream"
    )
    parser.add_argument("--dot", action="store_true", help="print the memory's graph in Graphviz's language")
    parser.add_argument("--html", type=Path, metavar="FILE", help="draw the memory's graph into a page")
    try:
        for line in lines(parser.parse_args(words)):
            # World text may hold terminal control characters: show them, do not obey them.
            print(line.translate({c: f"\\x{c:02x}" for c in range(32) if c not in (9, 10)}))
    except SetupError as error:
        print(f"memtrial: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        sys.stderr.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
