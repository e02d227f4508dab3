"""One's own attempts, a line of JSON each: DIR/.lab32/history. On this machine only.

`lab32 grade` writes it (grader/report/history.h); LAB32_HISTORY=off, and nobody does.
"""

import json
from pathlib import Path


def read(directory):
    """All attempts, oldest first. Lines that are none are left out: it is the student's own file."""
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
