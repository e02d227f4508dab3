"""python -m lab32.figures: draws handouts/figures/*.svg again, makes the tables in the handouts again,
and tells which figures in their sentences are no longer so."""

import sys

from lab32 import ROOT, handout, quoted
from lab32.drawings import (
    bank_conflicts,
    coalescing,
    model,
    overview,
    reduction,
    shuffle,
    swizzle,
    transpose,
)

FOLDER = ROOT / "handouts/figures"
FIGURES = (
    overview.FIGURES
    | coalescing.FIGURES
    | bank_conflicts.FIGURES
    | transpose.FIGURES
    | reduction.FIGURES
    | shuffle.FIGURES
    | swizzle.FIGURES
    | model.FIGURES
)


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, draw in FIGURES.items():
        (FOLDER / name).write_text(str(draw()))
        print(f"wrote {(FOLDER / name).relative_to(ROOT)}")
    return handout.main([]) or quoted.main([])


if __name__ == "__main__":
    sys.exit(main())
