"""Results of gradings that several tests look at: each is made once per run of the tests."""

import copy
import functools
import tempfile
from pathlib import Path

import corpus

from lab32 import ROOT
from lab32.results import grade  # by its name: a test may replace results.grade

LABS = sorted(path.parent.name for path in ROOT.glob("labs/*/report.ipynb"))
STATES = ["empty", "skeleton", "half-done", "solved"]


@functools.cache
def graded(lab, directory):
    """Of `labs` or `solutions`. Shared: do not change it."""
    return grade(lab, directory=directory, more=["--pictures"])


@functools.cache
def graded_text(lab, text):
    """Of a file with that text. It is gone afterwards: nothing is read from it again."""
    with tempfile.TemporaryDirectory() as folder:
        return grade(lab, directory=str(corpus.written(Path(folder), lab, text)), more=["--pictures"])


def of_state(lab, state):
    """As a student's work goes on, each of them a graded file: a result that is the caller's own."""
    if state in ("skeleton", "solved"):
        return copy.deepcopy(graded(lab, "labs" if state == "skeleton" else "solutions"))
    return copy.deepcopy(graded_text(lab, corpus.empty(lab) if state == "empty" else corpus.half_done(lab)))
