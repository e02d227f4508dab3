# Fuzzes files of courses.
from datetime import UTC, datetime, timedelta

import atheris

with atheris.instrument_imports(include=["lab32.classroom", "lab32.course", "tomllib"]):
    from lab32.classroom.collect import SubmittedFile
    from lab32.classroom.late import late_deductions_by_lab, points_after_deduction
    from lab32.classroom.problem import UserError
    from lab32.course.reader import read_course
    from lab32.course.rubrics import adapted_rubric

from python_reader import fuzz


def fuzz_course(path):
    try:
        course = read_course(path)
        for lab in course.labs.values():
            adapted_rubric(course, lab)
    except UserError as problem:
        assert "\n" not in str(problem)
        return
    for days in (-1, 0, 1, 400):
        when = datetime(2026, 11, 24, tzinfo=UTC) + timedelta(days=days)
        files = {lab: SubmittedFile(b"", "x", time=when) for lab in course.labs}
        for taken, _ in late_deductions_by_lab(course, files, [("sid", "ada")]).values():
            assert 0 <= points_after_deduction(87.65, taken) <= 87.65


fuzz(fuzz_course)
