"""Speed, as figures and ratios within one run, each beside its bound.

python -m scripts.bench               # everything that is set up here
python -m scripts.bench harness       # one part
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from importlib.util import find_spec

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

PARTS = ("harness", "scienceworld", "alfworld", "memories", "strata", "evoweave", "envs")
Row = tuple[str, float, str, float | None]
"""Name, value, unit, upper bound (None: a figure without one)."""


def main(words: list[str] | None = None) -> int:
    """Print a line a figure; exit code 1 if a bound is not kept."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.bench", description=(__doc__ or "").splitlines()[0]
    )
    known = [part for part in PARTS if find_spec(f"scripts.bench_{part}") is not None]
    parser.add_argument("part", nargs="*", choices=[*known, []], help="all if none is named")
    over = 0
    for part in parser.parse_args(words).part or known:
        print(f"== {part}", flush=True)
        for name, value, unit, bound in import_module(f"scripts.bench_{part}").measure():
            kept = bound is None or value <= bound
            over += not kept
            limit = "" if bound is None else f"  (bound {bound:g}{'' if kept else ', OVER'})"
            print(f"{name:62} {value:10.3f} {unit:6}{limit}", flush=True)
    print("all bounds kept" if not over else f"{over} bounds not kept")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
