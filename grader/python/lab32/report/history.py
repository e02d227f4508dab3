"""Reads the student's attempts on this machine, a line of JSON each: DIR/.lab32/history.

`lab32 grade` writes them (grader/report/history.h); LAB32_HISTORY=off turns that off.
"""

import json
from pathlib import Path


def read(directory):
    """All attempts, oldest first. Invalid lines are skipped, because students may edit the file."""
    try:
        lines = (Path(directory) / ".lab32/history").read_text(errors="replace").splitlines()
    except OSError:
        return []
    attempts = []
    for line in lines:
        try:
            attempt = json.loads(line)
            attempt["lab"] + attempt["time"]
            attempt["score"] + attempt["max_score"]
            for check in attempt["checks"].values():
                check["measured"] + ""
        except (ValueError, TypeError, KeyError, AttributeError):
            continue
        attempts.append(attempt)
    return attempts
