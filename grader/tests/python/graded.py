"""Results of gradings for several tests. Each is made once per run of the tests, by the process that needs
it first. The golden tests store theirs here, too."""

import copy
import fcntl
import functools
import json
import os
import tempfile
from pathlib import Path

import corpus

from lab32 import labs, results

LABS = sorted(labs.lab_names("core"))  # labs whose notebooks draw measurements
STATES = ["empty", "skeleton", "half-done", "solved"]
MORE = ["--pictures", "--device", "sim", "--seed", "1", "--time-limit", "600"]


# Without a folder from run_tests.py for all processes, the results end with this process.
OWN = tempfile.TemporaryDirectory(prefix="lab32-graded-")
FOLDER = Path(os.environ.get("LAB32_GRADED") or OWN.name)


def graded_json(lab, directory):
    """The output of `lab32 grade` for `labs` or `solutions`, with pictures."""
    file = FOLDER / f"{directory}-{lab}.json"
    with open(file.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not file.exists():
            whole = file.with_suffix(".new")
            whole.write_text(results.grade_to_json_text(lab, directory, more=MORE))
            whole.rename(file)
    return file.read_text()


@functools.cache
def graded(lab, directory):
    """The result of `labs` or `solutions`. It is shared: do not change it."""
    return results.parse_result(graded_json(lab, directory))


@functools.cache
def graded_text(lab, text, more=tuple(MORE)):
    """The result of a file with this text. The file is deleted afterwards."""
    with tempfile.TemporaryDirectory() as labs:
        corpus.written(Path(labs), lab, text)
        return results.parse_result(results.grade_to_json_text(lab, labs, more=more))


@functools.cache
def half_done(lab):
    """Every second check from the solution's result, the others from the skeleton's."""
    record, begun = (json.loads(graded_json(lab, directory)) for directory in ("solutions", "labs"))
    (part,), (skeleton,) = record["labs"], begun["labs"]
    part["tests"][::2] = skeleton["tests"][::2]
    part["score"] = record["score"] = sum(test["score"] for test in part["tests"])
    part["status"] = "failed"
    return results.parse_result(json.dumps(record))


def of_state(lab, state):
    """A new result for a state of a student's work, which the caller may change."""
    if state in ("skeleton", "solved"):
        return copy.deepcopy(graded(lab, "labs" if state == "skeleton" else "solutions"))
    return copy.deepcopy(graded_text(lab, corpus.empty(lab)) if state == "empty" else half_done(lab))
