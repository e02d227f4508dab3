"""Reads the student's attempts on this machine, a line of JSON each: DIR/.lab32/history.

`lab32 grade` writes them (grader/report/history.h); LAB32_HISTORY=off turns that off.
"""

import contextlib
from pathlib import Path

from lab32.classroom.problem import UserError
from lab32.inputs import LARGE, is_number, parse_json, read_bytes


def read_graded_attempts(directory):
    """All attempts, oldest first. Invalid lines are skipped, because students may edit the file. Raises UserError for a
    history that is no regular file, or too large."""
    path = Path(directory) / ".lab32/history"
    if not path.exists():
        return []
    attempts = []
    for line in read_bytes(path, LARGE).decode("utf-8", "replace").splitlines():
        with contextlib.suppress(UserError):
            attempt = parse_json(line, path)
            if is_valid_attempt_record(attempt):
                attempts.append(attempt)
    return attempts


def is_valid_attempt_record(value):
    if not isinstance(value, dict) or not isinstance(value.get("checks"), dict):
        return False
    if not is_dict_of_numbers(value.get("predictions", {})):
        return False
    texts = all(isinstance(value.get(key), str) for key in ("lab", "time"))
    return texts and all(is_number(value.get(key), 0) for key in ("score", "max_score")) and all(
        isinstance(check, dict) and isinstance(check.get("measured"), str) and is_dict_of_numbers(check.get("figures", {}))
        for check in value["checks"].values()
    )


def is_dict_of_numbers(value):
    return isinstance(value, dict) and all(map(is_number, value.values()))
