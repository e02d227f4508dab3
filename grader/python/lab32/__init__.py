"""Reads what lab32 grades and measures, and draws it: for the notebooks and the handouts."""

from pathlib import Path

_HERE = Path(__file__).resolve().parent
# The top of the project: grader/python/lab32 is three folders below it. A wheel has it inside.
ROOT = _HERE / "tree" if (_HERE / "tree").is_dir() else _HERE.parents[2]
