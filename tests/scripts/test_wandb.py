"""The wandb logger: offline, beside the journal, and with no key in it."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from tests.conftest import require
from tests.scripts.commands import lamp, run_folder


def test_a_run_is_mirrored_offline(tmp_path: Path) -> None:
    require(find_spec("wandb") is not None, "wandb", "pip install -e '.[wandb]'")
    done = lamp(
        tmp_path, "memory=flat", "stream.limit=2", "logger=wandb", WANDB_SILENT="true", WANDB_API_KEY="k" * 40
    )
    assert done.returncode == 0, done.stderr
    (written,) = (run_folder(tmp_path) / "wandb").glob("offline-run-*/run-*.wandb")
    content = written.read_bytes()
    assert b"metric/success" in content and b"k" * 40 not in content
