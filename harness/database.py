"""Opening a run's SQLite file safely: whose it is, whether it is whole, and where it lies."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from envs.base import SetupError

SCHEMA_VERSION = "1"
SCHEMA = Path(__file__).parent / "schema.sql"
NETWORK_FILE_SYSTEMS = ("nfs", "cifs", "smb", "fuse.sshfs", "lustre", "beegfs", "gpfs", "ceph", "9p", "afs")


class StorageFailed(SetupError):
    """The disk or the file refused a write. What was committed before stands."""


def create(path: Path) -> sqlite3.Connection:
    """A new, empty record at `path`. Raises StorageFailed if the folder cannot be written."""
    with storage(path):
        connection = connect(path)
        with transaction(connection):
            for statement in SCHEMA.read_text().split(";\n"):
                if statement.strip():
                    connection.execute(statement)
            connection.execute("INSERT INTO meta VALUES ('schema_version', ?)", (SCHEMA_VERSION,))
    return connection


def open_existing(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """The record at `path`. Raises SetupError if it is damaged, foreign or of another schema version."""
    remedy = "Move it away to start this run afresh, or restore it from a copy."
    try:
        connection = connect(path, read_only=read_only)
        row = connection.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()
    except sqlite3.DatabaseError as error:
        if "unable to open" in str(error) or "readonly" in str(error):
            raise StorageFailed(
                f"{path} cannot be opened ({error}). Check the folder's permissions."
            ) from None
        raise SetupError(f"{path} is not a record of a run, or is damaged ({error}). {remedy}") from None
    if row is None or row[0] != SCHEMA_VERSION:
        found = row[0] if row else "none"
        raise SetupError(
            f"{path} has schema version {found}; this memtrial reads version {SCHEMA_VERSION}. "
            "Use the memtrial that wrote it, or move it away to start afresh."
        )
    return connection


def connect(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """A connection in autocommit: transactions are explicit (see `transaction`)."""
    if read_only:
        # A reader beside a writer: the WAL file may be there or not, and nothing is created.
        return sqlite3.connect(
            f"{path.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None, timeout=10
        )
    connection = sqlite3.connect(path, isolation_level=None, timeout=10)
    connection.execute(f"PRAGMA journal_mode={'DELETE' if on_network(path) else 'WAL'}")
    connection.execute("PRAGMA synchronous=FULL")
    return connection


def on_network(path: Path, mounts: Path = Path("/proc/mounts")) -> bool:
    """Whether `path` lies on a network file system, where SQLite's WAL is unsafe."""
    try:
        rows = [line.split() for line in mounts.read_text().splitlines()]
    except OSError:
        return False
    target = str(path.resolve())
    best, kind = "", ""
    for _, mount, type_, *_ in rows:
        inside = target == mount or target.startswith(mount.rstrip("/") + "/")
        if inside and len(mount) >= len(best):
            best, kind = mount, type_
    return kind.startswith(NETWORK_FILE_SYSTEMS)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing, durable when it returns."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def storage(path: Path) -> Iterator[None]:
    """Turn a refusal of the disk into an error that a user can act on."""
    try:
        yield
    except (sqlite3.OperationalError, OSError) as error:
        raise StorageFailed(
            f"Writing {path} failed: {error}. What was committed before is safe: free space on the disk or "
            "mend the permissions, then start the same command again."
        ) from error
    except sqlite3.DatabaseError as error:
        raise StorageFailed(
            f"{path} is damaged ({error}). Restore it from a copy, or move it away to start this run afresh."
        ) from error
