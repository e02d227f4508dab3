"""Results of gradings that several tests look at: each is made once per run of the tests, whichever of
their processes needs it first. The golden tests leave theirs here, too."""

import copy
import fcntl
import functools
import json
import os
import tempfile
from pathlib import Path

import corpus

from lab32 import labs, results

LABS = sorted(labs.names("core"))  # whose notebooks have records to draw
STATES = ["empty", "skeleton", "half-done", "solved"]
MORE = ["--pictures", "--device", "sim", "--seed", "1", "--time-limit", "600"]


# Where run_tests.py names no folder for all processes, one that ends with this process.
OWN = tempfile.TemporaryDirectory(prefix="lab32-graded-")
FOLDER = Path(os.environ.get("LAB32_GRADED") or OWN.name)


def graded_json(lab, directory):
    """What `lab32 grade` prints of `labs` or `solutions`, pictures and all."""
    file = FOLDER / f"{directory}-{lab}.json"
    with open(file.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not file.exists():
            whole = file.with_suffix(".new")
            whole.write_text(results.grade_json(lab, directory, more=MORE))
            whole.rename(file)
    return file.read_text()


@functools.cache
def graded(lab, directory):
    """Of `labs` or `solutions`. Shared: do not change it."""
    return results.parse(graded_json(lab, directory))


@functools.cache
def graded_text(lab, text, more=tuple(MORE)):
    """Of a file with that text. It is gone afterwards: nothing is read from it again."""
    with tempfile.TemporaryDirectory() as labs:
        corpus.written(Path(labs), lab, text)
        return results.parse(results.grade_json(lab, labs, more=more))


@functools.cache
def half_done(lab):
    """Every other check as the solution has it, the others as the skeleton."""
    record, begun = (json.loads(graded_json(lab, directory)) for directory in ("solutions", "labs"))
    (part,), (skeleton,) = record["labs"], begun["labs"]
    part["tests"][::2] = skeleton["tests"][::2]
    part["score"] = record["score"] = sum(test["score"] for test in part["tests"])
    part["status"] = "failed"
    return results.parse(json.dumps(record))


def of_state(lab, state):
    """As a student's work goes on: a result that is the caller's own."""
    if state in ("skeleton", "solved"):
        return copy.deepcopy(graded(lab, "labs" if state == "skeleton" else "solutions"))
    return copy.deepcopy(graded_text(lab, corpus.empty(lab)) if state == "empty" else half_done(lab))
