# Fuzzes policies for late submissions.
from datetime import UTC, datetime, timedelta

import atheris

with atheris.instrument_imports(include=["lab32.classroom", "tomllib"]):
    from lab32.classroom.late import points_after_deduction, read_policy
    from lab32.classroom.problem import Problem

from python_reader import fuzz

LABS = ["reduction", "transpose"]


def read(path):
    try:
        policy = read_policy(path, LABS)
    except Problem as problem:
        assert "\n" not in str(problem)
        return
    for days in (-1, 0, 1, 400):
        when = datetime(2026, 11, 24, tzinfo=UTC) + timedelta(days=days)
        for lab in LABS:
            assert 0 <= points_after_deduction(87.65, policy.per_cent(lab, when)) <= 87.65


fuzz(read)
