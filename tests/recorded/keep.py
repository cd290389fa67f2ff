"""Store a finished run as a recorded one: `python -m tests.recorded.keep RUN NAME`.

The address, the results folder and the embeddings stay out: a replay makes its own.
"""

from __future__ import annotations

import lzma
import shutil
import sqlite3
import sys
from pathlib import Path

import yaml

HERE = Path(__file__).parent


def keep(run: Path, name: str) -> Path:
    """Copy `run`'s record to this folder, without what only its machine knew. Gives the copy."""
    target = HERE / name / "run.sqlite"
    packed = target.with_suffix(".sqlite.xz")
    target.parent.mkdir(exist_ok=True)
    source = sqlite3.connect(run / "run.sqlite")
    source.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    source.close()
    shutil.copyfile(run / "run.sqlite", target)
    copy = sqlite3.connect(target, isolation_level=None)
    copy.execute("PRAGMA journal_mode=DELETE")
    config = yaml.safe_load(copy.execute("SELECT value FROM meta WHERE key = 'config'").fetchone()[0])
    config["results_dir"], config["recorded"] = "results/runs", None
    config["backbone"]["api_base"] = "http://127.0.0.1:8000/v1"
    text = yaml.safe_dump(config, sort_keys=True, allow_unicode=True)
    copy.execute("UPDATE meta SET value = ? WHERE key = 'config'", (text,))
    copy.execute("DELETE FROM embeddings")
    copy.execute("VACUUM")
    copy.close()
    packed.write_bytes(lzma.compress(target.read_bytes()))
    target.unlink()
    return packed


def unpack(name: str, target: Path) -> Path:
    """The recorded run `name` as a database at `target`."""
    target.write_bytes(lzma.decompress((HERE / name / "run.sqlite.xz").read_bytes()))
    return target


if __name__ == "__main__":
    print(keep(Path(sys.argv[1]), sys.argv[2]))
