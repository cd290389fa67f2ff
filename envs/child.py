"""A child process that surely ends with us: also on kill -9, and with everything it started itself.

Between us and the command stands a guardian (this same file, run as a script, standard library only). It
holds one end of a socket whose other end only we hold: when that closes, however we died, the guardian
kills the command's whole tree. On Linux it is also the subreaper of that tree, so that what the command
started detached (browsers do that) is found and killed too, and the command dies if the guardian is killed.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

GRACE = 5.0
"""Seconds a killed tree gets to disappear before we stop waiting [ours]. SIGKILL takes milliseconds."""
_PARENT_CHECK = 1.0
"""Seconds between the guardian's looks at its parent: a fork of us may hold our end of the socket open."""
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


class Child:
    """A running command. `stdin`, `stdout` and `stderr` are as for `subprocess.Popen`, in bytes.

    Raises FileNotFoundError if the command cannot be started.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | Path | None = None,
        stdin: int | IO[Any] | None = subprocess.DEVNULL,
        stdout: int | IO[Any] | None = subprocess.DEVNULL,
        stderr: int | IO[Any] | None = subprocess.DEVNULL,
    ) -> None:
        ours, theirs = socket.socketpair()
        self._lifeline = ours
        guardian = [sys.executable, "-I", "-S", __file__, str(theirs.fileno()), str(os.getpid()), *command]
        with theirs:
            self.guardian = subprocess.Popen(
                guardian,
                env=env,
                cwd=cwd,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        self.stdin, self.stdout, self.stderr = (
            self.guardian.stdin,
            self.guardian.stdout,
            self.guardian.stderr,
        )
        answer = ours.makefile("r").readline().split(maxsplit=1)
        if len(answer) != 2 or answer[0] != "pid":
            self.kill()
            why = answer[-1].strip() if answer else "its guardian died"
            raise FileNotFoundError(f"cannot start {command[0]}: {why}")
        self.pid = int(answer[1])
        """Process id of the command itself."""

    def alive(self) -> bool:
        """Whether the command still runs (a stopped one does)."""
        return self.guardian.poll() is None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the command's end. Its exit code, negative for a signal. Raises TimeoutExpired."""
        code = self.guardian.wait(timeout)
        return 128 - code if code > 128 else code

    def kill(self) -> None:
        """End the whole tree at once and wait until it is gone. Idempotent."""
        self._lifeline.close()
        try:
            self.guardian.wait(GRACE)
        except subprocess.TimeoutExpired:
            self.guardian.kill()
            self.guardian.wait()
        for stream in (self.guardian.stdin, self.guardian.stdout, self.guardian.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


def _children(parent: int) -> list[int]:
    """Process ids whose parent is `parent`."""
    if not Path("/proc/self/stat").exists():
        listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=False)
        pairs = [line.split() for line in listed.stdout.splitlines()]
        return [int(pid) for pid, ppid in pairs if int(ppid) == parent]
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                if int((entry / "stat").read_text().rpartition(")")[2].split()[1]) == parent:
                    found.append(int(entry.name))
    return found


def _kill_tree(root: int) -> None:
    """Kill everything below `root`, deepest last: a stopped parent cannot start more."""
    for pid in _children(root):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGSTOP)
        _kill_tree(pid)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _guard(lifeline: socket.socket, parent: int, command: list[str]) -> int:
    """Run `command` until it ends or `parent` does; then leave nothing of it behind."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    wake, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken)
    signal.signal(signal.SIGCHLD, lambda *_: None)

    try:
        process = subprocess.Popen(
            command,
            start_new_session=True,
            preexec_fn=lambda: _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL),
        )
    except OSError as error:
        lifeline.sendall(f"error {error}\n".encode())
        return 127
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    lifeline.sendall(f"pid {process.pid}\n".encode())

    while process.poll() is None:
        ready, _, _ = select.select([lifeline.fileno(), wake], [], [], _PARENT_CHECK)
        if wake in ready:
            os.read(wake, 4096)
        if lifeline.fileno() in ready or os.getppid() != parent:
            break
    code = process.poll()
    while True:
        _kill_tree(os.getpid())
        try:
            while True:
                os.waitpid(-1, 0)
        except ChildProcessError:
            break
    return 0 if code is None else 128 - code if code < 0 else code


if __name__ == "__main__":
    sys.exit(_guard(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]), sys.argv[3:]))
