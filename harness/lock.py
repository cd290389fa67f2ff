"""One process a run: an advisory lock that the kernel drops when its holder dies, however it dies."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import IO

from envs.base import SetupError


class RunLock:
    """Holds `folder`/run.lock from construction to `release` (or the end of the process)."""

    def __init__(self, folder: Path) -> None:
        path = folder / "run.lock"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file: IO[str] | None = path.open("a+")
        except OSError as error:
            raise SetupError(
                f"The run folder {folder} cannot be written ({error.strerror or error}). "
                "Choose another with results_dir=..., or mend its permissions."
            ) from None
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.seek(0)
            holder = self._file.read().strip() or "another process"
            self._file.close()
            raise SetupError(
                f"The run folder {folder} is in use by {holder}. Wait for it to end, stop it, or choose "
                "another seed, variant or results_dir=..."
            ) from None
        self._file.truncate(0)
        self._file.write(f"process {os.getpid()} on {os.uname().nodename}")
        self._file.flush()

    def release(self) -> None:
        """Let go. Idempotent."""
        if self._file is not None:
            self._file.close()
            self._file = None
