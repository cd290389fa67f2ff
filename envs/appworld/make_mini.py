"""Makes the data of appworld_mini beforehand: a run makes it when first needed in any case.

python -m envs.appworld.make_mini [ROOT]
"""

from __future__ import annotations

import sys

from envs.appworld import install, mini
from envs.base import SetupError


def main(words: list[str]) -> int:
    """Make the root, if it is not there, and say where it lies."""
    try:
        environment = install.venv(None)
        folder = mini.root(words[0] if words else None, environment)
        made = mini.ensure(install.python(environment), folder)
    except SetupError as error:
        print(f"memtrial: {error}", file=sys.stderr)
        return 2
    print(f"The data of appworld_mini {'was made in' if made else 'is there already:'} {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
