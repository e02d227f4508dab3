"""Reads what lab32 grades and measures, and draws it: for the notebooks and the handouts."""

from pathlib import Path

# The top of the project: grader/python/lab32/__init__.py is three folders below it.
ROOT = Path(__file__).resolve().parents[3]
