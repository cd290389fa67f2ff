"""Make the folder that envs.webarena.browser looks into; `make webarena` does.

python -m envs.webarena.prepare /usr/bin/chromium
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from envs.base import SetupError
from envs.webarena.browser import browser_version, executable, nltk_data, package_folder
from envs.webarena.tasks import INSTALL, require_installed

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def prepare(browser: Path) -> None:
    """Make the folder. Raises SetupError if the browser or the data are not where they should be."""
    require_installed()
    if not browser.exists():
        raise SetupError(f"{browser} does not exist. Give the path of a Chromium.")
    link = executable()
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(browser.resolve() if browser.is_symlink() else browser.absolute())
    brought = package_folder("llama_index") / "core" / "_static" / "nltk_cache" / "tokenizers" / "punkt_tab"
    if not brought.is_dir():
        raise SetupError(
            f"{brought} does not exist: this llama-index-core brings no punkt_tab. Remedy: {INSTALL}"
        )
    shutil.copytree(brought, nltk_data() / "tokenizers" / "punkt_tab", dirs_exist_ok=True)


def main(words: list[str]) -> int:
    """Prepare the folder for the browser given, or the first one on PATH."""
    found = words[0] if words else next(filter(None, map(shutil.which, NAMES)), "")
    try:
        if not found:
            raise SetupError(f"None of {', '.join(NAMES)} is on PATH. Give the path of a Chromium.")
        prepare(Path(found))
    except SetupError as error:
        print(f"memtrial: {error}", file=sys.stderr)
        return 1
    print(f"{executable()} -> {found}: {browser_version()}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
